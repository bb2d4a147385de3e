//! `ring` and `names`: fixed-size sealed entries after a small header, in the order they were
//! added.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use zeroize::Zeroizing;

use crate::crypto::aead::{self, Key};
use crate::crypto::digest::Digest;
use crate::disk::{self, File, FileExt, Folder, KEY_ENTRIES_MAX, Name};
use crate::error::{Error, Result};
use crate::id::{MemoryId, StoreId};
use crate::keyring::index::{Entries, EntryIndex};
use crate::keyring::{ENTRY_OVERHEAD_BYTES, NAMES_SECRET_BYTES, RING_SECRET_BYTES, files};

/// Bytes of a header, and of a header of format 1.
const HEADER_BYTES: usize = 128;
const HEADER_BYTES_1: usize = 64;
/// Offset of the header's seal, which covers everything before it.
const SEAL_AT: usize = HEADER_BYTES - aead::OVERHEAD;
/// The generation of a table that was never rewritten.
const FIRST_GENERATION: u64 = 1;
/// The start of an age identity (age's specification, "The X25519 recipient type").
const IDENTITY_PREFIX: &[u8] = b"AGE-SECRET-KEY-1";
/// Bytes of the unencrypted id at the start of each entry.
const ID_BYTES: usize = 16;

/// The differences between the two tables.
pub(super) struct TableLayout {
    name: Name,
    /// The start of the file. The three digits of the format version follow.
    magic: &'static [u8; 13],
    /// The table's name in the labels of the associated data.
    word: &'static str,
    secret_bytes: usize,
}

pub(super) static RING: TableLayout = TableLayout {
    name: Name::RING,
    magic: b"agekeep-ring-",
    word: "ring",
    secret_bytes: RING_SECRET_BYTES,
};
pub(super) static NAMES: TableLayout = TableLayout {
    name: Name::NAMES,
    magic: b"agekeep-name-",
    word: "names",
    secret_bytes: NAMES_SECRET_BYTES,
};

/// The result of a look-up.
#[derive(PartialEq, Eq)]
pub(super) enum Lookup {
    Found(Zeroizing<Vec<u8>>),
    Absent,
    Damaged,
}

/// The header of a table. Entries are bound to all of it and to their slots, so that none can be
/// moved or copied from another file.
#[derive(Clone)]
struct Header {
    shape: &'static TableLayout,
    store: StoreId,
    epoch: u64,
    generation: u64,
    /// Entries before this slot are of an earlier epoch: somebody who left may know their secrets.
    fresh_from: u32,
    /// The header as stored in the file.
    bytes: Vec<u8>,
}

impl Header {
    /// Makes the header of a new file, sealed under the key of its entries.
    fn new(
        shape: &'static TableLayout,
        store: StoreId,
        (epoch, key): (u64, &Key),
        generation: u64,
        fresh_from: u32,
    ) -> Self {
        let mut bytes = vec![0; SEAL_AT];
        bytes[..13].copy_from_slice(shape.magic);
        bytes[13..16].copy_from_slice(b"002");
        bytes[16..32].copy_from_slice(&store.0);
        bytes[32..40].copy_from_slice(&epoch.to_le_bytes());
        bytes[40..48].copy_from_slice(&generation.to_le_bytes());
        bytes[48..56].copy_from_slice(&u64::from(fresh_from).to_le_bytes());
        let seal = key.seal(&[&shape.header_label(), &bytes[..]].concat(), b"");
        bytes.extend_from_slice(&seal);
        Self {
            shape,
            store,
            epoch,
            generation,
            fresh_from,
            bytes,
        }
    }

    /// Reads a header; the error says what is wrong with it.
    fn parse(shape: &'static TableLayout, start: &[u8], path: &Path) -> Result<Self> {
        let damaged = |why: &str| Error::damaged(path.display().to_string(), why);
        let length = match start
            .get(..16)
            .and_then(|magic| magic.strip_prefix(shape.magic))
        {
            Some(b"001") => HEADER_BYTES_1,
            Some(b"002") => HEADER_BYTES,
            Some(found) => {
                return Err(Error::UnknownFormat {
                    what: path.display().to_string(),
                    found: String::from_utf8_lossy(found).into_owned(),
                });
            }
            None if start.len() < HEADER_BYTES_1 => {
                return Err(damaged("it is shorter than its header"));
            }
            None => return Err(damaged("it is not such a file")),
        };
        let bytes = start.get(..length);
        let bytes = bytes.ok_or_else(|| damaged("it is shorter than its header"))?;
        let number = |at: usize| {
            let eight = bytes[at..at + 8].try_into().expect("eight bytes");
            u64::from_le_bytes(eight)
        };
        let fresh_from = u32::try_from(number(48)).ok();
        let zeros = &bytes[56..length.min(SEAL_AT)];
        let known = fresh_from.filter(|_| zeros.iter().all(|byte| *byte == 0));
        Ok(Self {
            shape,
            store: StoreId(bytes[16..32].try_into().expect("sixteen bytes")),
            epoch: number(32),
            generation: number(40),
            fresh_from: known.ok_or_else(|| damaged("its header holds something unknown"))?,
            bytes: bytes.to_vec(),
        })
    }

    /// Tells whether it is of format 1, which binds entries to store, epoch and memory alone.
    fn is_format_1(&self) -> bool {
        self.bytes.len() == HEADER_BYTES_1
    }

    /// Tells whether a holder of the key wrote it.
    fn is_sealed_under(&self, key: &Key) -> bool {
        self.is_format_1() || {
            let (said, seal) = self.bytes.split_at(SEAL_AT);
            let context = [&self.shape.header_label(), said].concat();
            key.open(&context, seal).is_some()
        }
    }

    /// Returns the associated data of an entry in a slot.
    fn context(&self, slot: u32, id: MemoryId) -> Vec<u8> {
        let word = self.shape.word;
        if self.is_format_1() {
            let (label, epoch) = (format!("agekeep/1 {word} "), self.epoch.to_le_bytes());
            return [label.as_bytes(), &self.store.0, &epoch, &id.0].concat();
        }
        let (label, slot) = (format!("agekeep/2 {word} "), u64::from(slot).to_le_bytes());
        [label.as_bytes(), &self.bytes, &slot, &id.0].concat()
    }

    /// Seals an entry for a slot.
    fn seal(&self, key: &Key, slot: u32, id: MemoryId, secret: &[u8]) -> Vec<u8> {
        debug_assert_eq!(secret.len(), self.shape.secret_bytes);
        [&id.0[..], &key.seal(&self.context(slot, id), secret)].concat()
    }

    /// Opens an entry that [`Self::seal`] made for the same slot.
    fn open(&self, key: &Key, slot: u32, entry: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        key.open(&self.context(slot, id_of(entry)), &entry[ID_BYTES..])
    }

    fn offset(&self, slot: u32) -> u64 {
        self.bytes.len() as u64 + u64::from(slot) * self.shape.entry_bytes() as u64
    }
}

impl TableLayout {
    fn entry_bytes(&self) -> usize {
        ENTRY_OVERHEAD_BYTES + self.secret_bytes
    }

    fn header_label(&self) -> Vec<u8> {
        format!("agekeep/2 {} header ", self.word).into_bytes()
    }
}

/// A table file.
pub(super) struct Table {
    header: Header,
    folder: Folder,
    file: File,
    /// The operating system's error number, if the file could only be opened for reading.
    read_only: Option<i32>,
    inode: u64,
    /// The number of whole entries.
    count: u32,
    /// Bytes after the last whole entry.
    torn_bytes: u64,
    /// Entries after the last one that are not written yet.
    held: Vec<Vec<u8>>,
    index: Mutex<EntryIndex>,
}

/// The entries that a rewritten table omits. If `all_known`, the rest count as known to somebody
/// who left.
#[derive(Clone, Copy)]
pub(super) struct RewriteFilter<'a> {
    pub(super) without: Option<&'a HashSet<MemoryId>>,
    /// Entries of other memories that go too, by their slots.
    pub(super) slots: Option<&'a HashSet<u32>>,
    pub(super) all_known: bool,
}

impl Table {
    /// Writes an empty table, durably.
    pub(super) fn create(
        folder: &Folder,
        shape: &'static TableLayout,
        store: StoreId,
        epoch: (u64, &Key),
    ) -> Result<()> {
        let header = Header::new(shape, store, epoch, FIRST_GENERATION, 0);
        folder.replace_durably(&shape.name, &header.bytes, 0o600)
    }

    /// Writes a table with this one's entries in order, re-encrypted for another epoch and their
    /// new slots, followed by `more`; durably.
    pub(super) fn rewrite(
        &self,
        folder: &Folder,
        key: &Key,
        (epoch, new_key): (u64, &Key),
        leaving: RewriteFilter<'_>,
        more: impl Iterator<Item = (MemoryId, Zeroizing<Vec<u8>>)>,
    ) -> Result<()> {
        let entries: Result<Vec<_>> = (0..self.count).map(|slot| self.entry(slot)).collect();
        let entries = entries?;
        let goes = |id: &MemoryId| leaving.without.is_some_and(|without| without.contains(id));
        let is_extra = |slot: u32| leaving.slots.is_some_and(|slots| slots.contains(&slot));
        let stays = |slot: u32, entry: &[u8]| !goes(&id_of(entry)) && !is_extra(slot);
        let known = (0..).zip(&entries).filter(|(slot, entry)| {
            stays(*slot, entry) && (leaving.all_known || *slot < self.header.fresh_from)
        });
        let known = u32::try_from(known.count()).expect("no more than there are");
        let old = &self.header;
        let new = Header::new(
            old.shape,
            old.store,
            (epoch, new_key),
            old.generation + 1,
            known,
        );
        let mut bytes = new.bytes.clone();
        bytes.reserve(entries.len() * old.shape.entry_bytes());
        let kept = (0..).zip(&entries);
        let kept = kept.filter(|(slot, entry)| stays(*slot, entry));
        for ((slot, entry), new_slot) in kept.zip(0..) {
            let plain = old.open(key, slot, entry);
            let resealed = plain.map(|plain| new.seal(new_key, new_slot, id_of(entry), &plain));
            // A damaged entry stays damaged.
            bytes.extend_from_slice(resealed.as_ref().unwrap_or(entry));
        }
        let stayed = u32::try_from((bytes.len() - new.bytes.len()) / old.shape.entry_bytes());
        for ((id, secret), slot) in more.zip(stayed.expect("no more than there were")..) {
            bytes.extend_from_slice(&new.seal(new_key, slot, id, &secret));
        }
        folder.replace_durably(&old.shape.name, &bytes, 0o600)
    }

    /// Opens a table. If `epoch` is given, checks that the table is of that epoch and sealed under
    /// its key.
    pub(super) fn open(
        folder: &Folder,
        shape: &'static TableLayout,
        store: StoreId,
        epoch: Option<(u64, &Key)>,
    ) -> Result<Self> {
        let path = &folder.path_of(&shape.name);
        // A table of a read-only store can still be read.
        let opened = folder.open_write_or_read(&shape.name);
        let (file, read_only) = opened.map_err(|e| files::missing(path, e))?;
        let damaged = |why: &str| Error::damaged(path.display().to_string(), why);
        let length = disk::length(&file).map_err(Error::io("read", path))?;
        let room = usize::try_from(length).map_or(HEADER_BYTES, |len| len.min(HEADER_BYTES));
        let mut start = [0; HEADER_BYTES];
        file.read_exact_at(&mut start[..room], 0)
            .map_err(Error::io("read", path))?;
        let header = Header::parse(shape, &start[..room], path)?;
        if header.store != store {
            return Err(damaged("it belongs to another store"));
        }
        if let Some((number, key)) = epoch {
            if number != header.epoch {
                return Err(damaged("it belongs to another epoch than its key"));
            }
            if !header.is_sealed_under(key) {
                return Err(damaged("its header was not written with its key"));
            }
        }
        let mut table = Self {
            header,
            folder: folder.clone(),
            inode: disk::inode(&file).map_err(Error::io("read", path))?,
            file,
            read_only,
            count: 0,
            torn_bytes: 0,
            held: Vec::new(),
            index: Mutex::default(),
        };
        table.refresh()?;
        Ok(table)
    }

    /// Counts the entries added since, by this process or another. Less than a whole entry at the
    /// end is a torn write: it is ignored, and the next entry takes its place.
    pub(super) fn refresh(&mut self) -> Result<()> {
        let found = self.folder.look(&self.header.shape.name);
        let found = found.map_err(self.fault("read"))?;
        let Some(found) = found.filter(|found| found.inode == self.inode) else {
            return Err(self.damaged("it was replaced while the store was open"));
        };
        let mut generation = [0; 8];
        self.file
            .read_exact_at(&mut generation, 40)
            .map_err(self.fault("read"))?;
        if u64::from_le_bytes(generation) != self.header.generation {
            return Err(self.damaged("its generation changed while the store was open"));
        }
        let bytes = found.bytes.saturating_sub(self.header.bytes.len() as u64);
        let entry_bytes = self.header.shape.entry_bytes() as u64;
        let count = u32::try_from(bytes / entry_bytes).unwrap_or(u32::MAX);
        if count < self.count {
            return Err(self.damaged("it became shorter while the store was open"));
        }
        if count > KEY_ENTRIES_MAX {
            return Err(self.damaged("it has more entries than any keyring"));
        }
        let zeros_from = self.zeros_from(count)?;
        if zeros_from < self.count {
            return Err(self.damaged("entries of it became zeros while the store was open"));
        }
        self.count = zeros_from;
        self.torn_bytes = bytes - u64::from(zeros_from) * entry_bytes;
        Ok(())
    }

    /// Returns the first slot from which the table is all zeros, as after a file was extended and
    /// not written; `count` if the last slot holds an entry. No entry begins with zeros, so this
    /// reads the last slot only, and a few more if it is empty.
    fn zeros_from(&self, count: u32) -> Result<u32> {
        let is_entry = |slot: u32| {
            let mut id = [0; ID_BYTES];
            let read = self.file.read_exact_at(&mut id, self.header.offset(slot));
            read.map(|()| id != [0; ID_BYTES])
                .map_err(self.fault("read"))
        };
        if count <= self.count || is_entry(count - 1)? {
            return Ok(count);
        }
        let (mut first, mut end) = (self.count, count - 1);
        while first < end {
            let middle = first + (end - first) / 2;
            if is_entry(middle)? {
                first = middle + 1;
            } else {
                end = middle;
            }
        }
        Ok(first)
    }

    /// Returns the slot of a memory's newest entry.
    fn slot(&self, id: MemoryId) -> Result<Option<u32>> {
        Ok(self.slots(id, true)?.first().copied())
    }

    /// Returns the slots of a memory's entries, newest first, or of the newest alone.
    pub(super) fn slots(&self, id: MemoryId, only_newest: bool) -> Result<Vec<u32>> {
        let mut slots: Vec<u32> = self.staged_slots(id).collect();
        if slots.is_empty() || !only_newest {
            slots.extend(self.written_slots(id, only_newest)?);
        }
        Ok(slots)
    }

    /// Returns the slots of a memory's staged entries, newest first.
    fn staged_slots(&self, id: MemoryId) -> impl Iterator<Item = u32> {
        let held = self.held.iter().enumerate().rev();
        held.filter(move |(_, entry)| id_of(entry) == id)
            .map(|(at, _)| self.count + u32::try_from(at).expect("a batch is small"))
    }

    /// Returns the slots of a memory's entries in the file.
    fn written_slots(&self, id: MemoryId, only_newest: bool) -> Result<Vec<u32>> {
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        let slots = index.slots(&self.entries(), id, only_newest);
        slots.map_err(self.fault("read"))
    }

    fn entries(&self) -> Entries<'_> {
        Entries {
            file: &self.file,
            header_bytes: self.header.offset(0),
            entry_bytes: self.header.shape.entry_bytes(),
            count: self.count,
        }
    }

    /// Returns the problem of the file as a whole, if there is one.
    pub(super) fn problem(&self) -> Option<String> {
        (self.torn_bytes > 0).then(|| {
            format!(
                "{} ends in {} bytes that are no whole entry; they are ignored",
                self.path().display(),
                self.torn_bytes
            )
        })
    }

    /// Returns the memories that have an entry in this slot or a later one.
    pub(super) fn ids_from(&self, first: u32) -> Result<Vec<MemoryId>> {
        let ids = self.entries().ids_from(first);
        let ids = ids.map_err(self.fault("read"))?;
        Ok(ids.into_iter().collect())
    }

    /// Returns the SHA-256 of the header and the first `count` entries; `None` if there are fewer.
    pub(super) fn digest_of_first(&self, count: u32) -> Result<Option<Digest>> {
        if count > self.count {
            return Ok(None);
        }
        let length = usize::try_from(self.header.offset(count)).expect("a table in memory");
        let mut bytes = vec![0; length];
        self.file
            .read_exact_at(&mut bytes, 0)
            .map_err(self.fault("read"))?;
        Ok(Some(Digest::of(&bytes)))
    }

    /// Returns the length of the file with the first `count` entries alone.
    pub(super) fn bytes_of_first(&self, count: u32) -> u64 {
        self.header.offset(count)
    }

    pub(super) fn next_slot(&self) -> u32 {
        self.count + u32::try_from(self.held.len()).expect("a batch is small")
    }

    /// Stages the next entry until it is written.
    pub(super) fn stage(&mut self, slot: u32, entry: &[u8]) -> Result<()> {
        if entry.len() != self.header.shape.entry_bytes() || slot != self.next_slot() {
            return Err(does_not_fit());
        }
        self.held.push(entry.to_vec());
        Ok(())
    }

    /// Drops staged entries.
    pub(super) fn unstage(&mut self) {
        self.held.clear();
    }

    pub(super) fn has(&self, id: MemoryId) -> Result<bool> {
        Ok(self.slot(id)?.is_some())
    }

    /// Seals an entry for a slot.
    pub(super) fn seal(&self, key: &Key, slot: u32, id: MemoryId, secret: &[u8]) -> Vec<u8> {
        self.header.seal(key, slot, id, secret)
    }

    /// Tells whether entries are bound to store, epoch and memory alone, as in format 1.
    pub(super) fn is_format_1(&self) -> bool {
        self.header.is_format_1()
    }

    /// Checks that `more` entries can be added, before anything that needs them is durable.
    pub(super) fn check_room(&self, more: usize) -> Result<()> {
        self.check_writable()?;
        if self.next_slot() as usize + more > KEY_ENTRIES_MAX as usize {
            return Err(Error::invalid(
                "the keyring",
                format!("it has no room for more than {KEY_ENTRIES_MAX} keys"),
            ));
        }
        Ok(())
    }

    fn check_writable(&self) -> Result<()> {
        self.read_only.map_or(Ok(()), |refused| {
            let source = io::Error::from_raw_os_error(refused);
            Err(self.fault("write")(source))
        })
    }

    /// Writes an entry to its slot. Not yet durable.
    pub(super) fn write(&mut self, slot: u32, entry: &[u8]) -> Result<()> {
        let fits = entry.len() == self.header.shape.entry_bytes() && slot <= self.count;
        if !fits {
            return Err(does_not_fit());
        }
        self.check_writable()?;
        self.file
            .write_all_at(entry, self.header.offset(slot))
            .map_err(self.fault("write"))?;
        let index = self.index.get_mut().unwrap_or_else(PoisonError::into_inner);
        if slot < index.count {
            // Rewritten after an unclean stop: the old entry of the slot is gone, and another entry
            // of either id may be the newest now.
            *index = EntryIndex::default();
        }
        if slot == self.count && !self.held.is_empty() {
            self.held.remove(0);
        }
        self.count = self.count.max(slot + 1);
        Ok(())
    }

    pub(super) fn sync(&self) -> Result<()> {
        disk::sync_file(&self.file).map_err(self.fault("sync"))
    }

    /// Opens the newest entry of a memory.
    pub(super) fn open_entry(&self, key: &Key, id: MemoryId) -> Result<Lookup> {
        match self.slot(id)? {
            Some(slot) => self.open_slot(key, id, slot),
            None => Ok(Lookup::Absent),
        }
    }

    /// Opens every entry of a memory, newest first.
    pub(super) fn open_entries(&self, key: &Key, id: MemoryId) -> Result<Vec<Lookup>> {
        let slots = self.slots(id, false)?;
        let open = |slot| self.open_slot(key, id, slot);
        slots.into_iter().map(open).collect()
    }

    /// Tells whether it has the same entries as another table for each memory that has some in both.
    pub(super) fn keeps_entries_of(&self, before: &Self, keys: (&Key, &Key)) -> Result<bool> {
        for id in before.ids_from(0)? {
            let there = self.open_entries(keys.0, id)?;
            if there.is_empty() {
                continue;
            }
            let were = before.open_entries(keys.1, id)?;
            if were.contains(&Lookup::Damaged) || there != were {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns digests of the secrets, each with its memory and its slot; none of damaged entries.
    pub(super) fn digests(&self, key: &Key) -> Result<Vec<(MemoryId, u32, Digest)>> {
        let mut found = Vec::new();
        for slot in 0..self.count {
            let entry = self.entry(slot)?;
            if let Some(plain) = self.header.open(key, slot, &entry) {
                found.push((id_of(&entry), slot, digest_of_secret(&plain)));
            }
        }
        Ok(found)
    }

    fn open_slot(&self, key: &Key, id: MemoryId, slot: u32) -> Result<Lookup> {
        let entry = self.entry(slot)?;
        let plain = self.header.open(key, slot, &entry);
        let plain = plain.filter(|_| id_of(&entry) == id);
        Ok(plain.map_or(Lookup::Damaged, Lookup::Found))
    }

    fn entry(&self, slot: u32) -> Result<Vec<u8>> {
        if let Some(held) = slot.checked_sub(self.count) {
            return Ok(self.held[held as usize].clone());
        }
        let mut entry = vec![0; self.header.shape.entry_bytes()];
        self.file
            .read_exact_at(&mut entry, self.header.offset(slot))
            .map_err(self.fault("read"))?;
        Ok(entry)
    }

    /// Tells whether the newest entry of a memory is of an earlier epoch.
    pub(super) fn is_stale(&self, id: MemoryId) -> Result<bool> {
        Ok(self
            .slot(id)?
            .is_some_and(|slot| slot < self.header.fresh_from))
    }

    /// Tells whether an entry opens in a slot with the key of this table's epoch.
    pub(super) fn is_own(&self, key: &Key, slot: u32, entry: &[u8]) -> bool {
        entry.len() == self.header.shape.entry_bytes()
            && self.header.open(key, slot, entry).is_some()
    }

    /// Tells whether a slot has an entry of the same memory as this one.
    pub(super) fn has_in_slot(&self, slot: u32, entry: &[u8]) -> Result<bool> {
        let whole = slot < self.count && entry.len() >= ID_BYTES;
        Ok(whole && id_of(&self.entry(slot)?) == id_of(entry))
    }

    /// Tells whether a folder has another such file than this.
    pub(super) fn is_another_in(&self, folder: &Folder) -> bool {
        let found = folder.look(&self.header.shape.name).ok().flatten();
        found.is_some_and(|found| found.inode != self.inode)
    }

    /// Tells whether another file has taken its place.
    pub(super) fn is_replaced(&self) -> bool {
        self.is_another_in(&self.folder)
    }

    /// Tells whether it is in this folder.
    pub(super) fn is_in(&self, folder: &Folder) -> bool {
        self.folder.is(folder).unwrap_or(false)
    }

    /// Switches to `folder` if the file is there now.
    pub(super) fn is_now_in(&mut self, folder: &Folder) {
        if folder.inode(&self.header.shape.name) == Some(self.inode) {
            self.folder = folder.clone();
        }
    }

    /// Returns the path for messages.
    fn path(&self) -> PathBuf {
        self.folder.path_of(&self.header.shape.name)
    }

    fn fault(&self, doing: &'static str) -> impl FnOnce(io::Error) -> Error + use<> {
        self.folder.fault(doing, &self.header.shape.name)
    }

    fn damaged(&self, why: &str) -> Error {
        Error::damaged(self.path().display().to_string(), why)
    }
}

/// Returns the memories that have an entry in the bytes of a table file, from some byte on.
pub(super) fn ids_in(shape: &'static TableLayout, bytes: &[u8], from: usize) -> Vec<MemoryId> {
    let header = match bytes.get(13..16) {
        Some(b"001") => HEADER_BYTES_1,
        _ => HEADER_BYTES,
    };
    let entries = bytes.get(from.max(header)..).unwrap_or_default();
    let entries = entries.chunks_exact(shape.entry_bytes());
    entries.map(id_of).collect()
}

/// Returns a digest that two secrets have in common if one opens what the other does: an identity in Bech32,
/// in capitals or not, and its bytes. Five bits of an identity do not count: X25519 sets them itself
/// (RFC 7748, section 5).
pub(super) fn digest_of_secret(secret: &[u8]) -> Digest {
    let mut bytes = identity_bytes(secret).unwrap_or_else(|| Zeroizing::new(secret.to_vec()));
    if let [first, .., last] = &mut bytes[..] {
        *first &= 0xf8;
        *last |= 0xc0;
    }
    Digest::of(&bytes)
}

/// Decodes the 32 bytes of an identity, whose checksum is not looked at.
fn identity_bytes(text: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    const LETTERS: &[u8; 32] = b"QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L";
    let text = Zeroizing::new(text.to_ascii_uppercase());
    let data = text.strip_prefix(IDENTITY_PREFIX)?.get(..52)?;
    let mut bytes = Zeroizing::new(Vec::with_capacity(32));
    let (mut held, mut bits) = (0_u16, 0);
    for letter in data {
        let five = LETTERS.iter().position(|known| known == letter)?;
        held = (held << 5) | u16::try_from(five).ok()?;
        bits += 5;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits).to_le_bytes()[0]);
        }
    }
    Some(bytes)
}

fn does_not_fit() -> Error {
    Error::damaged("the journal", "a key entry does not fit its table")
}

/// Returns the id at the start of an entry.
pub(super) fn id_of(entry: &[u8]) -> MemoryId {
    MemoryId(entry[..ID_BYTES].try_into().expect("sixteen bytes"))
}

#[cfg(test)]
mod tests;
