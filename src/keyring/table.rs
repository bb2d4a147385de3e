//! `ring` and `names`: fixed-size sealed entries behind a small header, in the order they came.

use std::collections::HashSet;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use zeroize::Zeroizing;

use super::files;
use super::index::{Entries, Index};
use super::{ENTRY_OVERHEAD_BYTES, NAMES_SECRET_BYTES, RING_SECRET_BYTES};
use crate::aead::Key;
use crate::digest::Digest;
use crate::disk::{self, File, FileExt, Folder, KEY_ENTRIES_MAX, Name};
use crate::error::{Error, Result};
use crate::id::{MemoryId, StoreId};

const HEADER_BYTES: usize = 64;
/// The generation of a table that was never rewritten.
const FIRST_GENERATION: u64 = 1;
/// The id, in the clear, at the start of each entry.
const ID_BYTES: usize = 16;

/// What tells the two tables apart.
pub(super) struct Shape {
    name: Name,
    magic: &'static [u8; 16],
    context: &'static [u8],
    secret_bytes: usize,
}

pub(super) const RING: Shape = Shape {
    name: Name::RING,
    magic: b"agekeep-ring-001",
    context: b"agekeep/1 ring ",
    secret_bytes: RING_SECRET_BYTES,
};
pub(super) const NAMES: Shape = Shape {
    name: Name::NAMES,
    magic: b"agekeep-name-001",
    context: b"agekeep/1 names ",
    secret_bytes: NAMES_SECRET_BYTES,
};

/// What a lookup finds.
pub(super) enum Lookup {
    Found(Zeroizing<Vec<u8>>),
    Absent,
    Damaged,
}

/// One table file.
pub(super) struct Table {
    shape: Shape,
    folder: Folder,
    store: StoreId,
    epoch: u64,
    generation: [u8; 8],
    /// Entries before this slot are of an earlier epoch: somebody who left may know what they hold.
    fresh_from: u32,
    file: File,
    /// Why the file could be opened for reading only, as the operating system's error number.
    read_only: Option<i32>,
    inode: u64,
    /// How many whole entries there are.
    count: u32,
    /// Bytes after the last whole entry.
    torn_bytes: u64,
    /// Entries behind the last one that are yet to be written.
    held: Vec<Vec<u8>>,
    index: Mutex<Index>,
}

impl Shape {
    fn entry_bytes(&self) -> usize {
        ENTRY_OVERHEAD_BYTES + self.secret_bytes
    }

    /// A sealed entry of a table of this shape.
    pub(super) fn seal(
        &self,
        store: StoreId,
        epoch: u64,
        key: &Key,
        id: MemoryId,
        secret: &[u8],
    ) -> Vec<u8> {
        debug_assert_eq!(secret.len(), self.secret_bytes);
        [
            &id.0[..],
            &key.seal(&self.context(store, epoch, id), secret),
        ]
        .concat()
    }

    /// Opens what [`Self::seal`] made.
    pub(super) fn open(
        &self,
        store: StoreId,
        epoch: u64,
        key: &Key,
        entry: &[u8],
    ) -> Option<Zeroizing<Vec<u8>>> {
        key.open(
            &self.context(store, epoch, id_of(entry)),
            &entry[ID_BYTES..],
        )
    }

    /// Entries are bound to store, epoch and memory.
    fn context(&self, store: StoreId, epoch: u64, id: MemoryId) -> Vec<u8> {
        [self.context, &store.0, &epoch.to_le_bytes(), &id.0].concat()
    }

    fn offset(&self, slot: u32) -> u64 {
        HEADER_BYTES as u64 + u64::from(slot) * self.entry_bytes() as u64
    }
}

impl Table {
    /// Writes an empty table, durably.
    pub(super) fn create(folder: &Folder, shape: &Shape, store: StoreId, epoch: u64) -> Result<()> {
        let header = header(shape, store, epoch, FIRST_GENERATION, 0);
        folder.replace_durably(&shape.name, &header, 0o600)
    }

    /// Writes a table into a folder with the entries of this one in their order, sealed anew for another epoch,
    /// without those of the memories in `without`, and behind them `more`; durably. With
    /// `all_known`, all but `more` count as known to somebody who left.
    pub(super) fn rewrite(
        &self,
        folder: &Folder,
        (key, new_key): (&Key, &Key),
        epoch: u64,
        (without, all_known): (&HashSet<MemoryId>, bool),
        more: impl Iterator<Item = Vec<u8>>,
    ) -> Result<()> {
        let mut bytes = vec![0; HEADER_BYTES];
        bytes.reserve(self.count as usize * self.shape.entry_bytes());
        let mut known = 0;
        for slot in 0..self.count {
            let entry = self.entry(slot)?;
            if without.contains(&id_of(&entry)) {
                continue;
            }
            known += u32::from(all_known || slot < self.fresh_from);
            let (store, shape) = (self.store, &self.shape);
            let resealed = shape
                .open(store, self.epoch, key, &entry)
                .map(|plain| shape.seal(store, epoch, new_key, id_of(&entry), &plain));
            // One that is damaged stays so.
            bytes.extend_from_slice(&resealed.unwrap_or(entry));
        }
        more.for_each(|entry| bytes.extend_from_slice(&entry));
        let generation = u64::from_le_bytes(self.generation) + 1;
        let header = header(&self.shape, self.store, epoch, generation, known);
        bytes[..HEADER_BYTES].copy_from_slice(&header);
        folder.replace_durably(&self.shape.name, &bytes, 0o600)
    }

    /// Opens a table: of this epoch, if it is said.
    pub(super) fn open(
        folder: &Folder,
        shape: Shape,
        store: StoreId,
        epoch: Option<u64>,
    ) -> Result<Self> {
        let path = &folder.path_of(&shape.name);
        // On a store that cannot be written the log can still be read.
        let opened = folder.open_write_or_read(&shape.name);
        let (file, read_only) = opened.map_err(|e| files::missing(path, e))?;
        let damaged = |why: &str| Error::damaged(path.display().to_string(), why);
        let mut header = [0; HEADER_BYTES];
        file.read_exact_at(&mut header, 0)
            .map_err(|_| damaged("it is shorter than its header"))?;
        if header[..16] != shape.magic[..] {
            return Err(if header[..13] == shape.magic[..13] {
                Error::UnknownFormat {
                    what: path.display().to_string(),
                    found: String::from_utf8_lossy(&header[13..16]).into_owned(),
                }
            } else {
                damaged("it is not such a file")
            });
        }
        if header[16..32] != store.0 {
            return Err(damaged("it belongs to another store"));
        }
        let number = |at: usize| {
            let eight = header[at..at + 8].try_into().expect("eight bytes");
            u64::from_le_bytes(eight)
        };
        if epoch.is_some_and(|epoch| epoch != number(32)) {
            return Err(damaged("it belongs to another epoch than its key"));
        }
        let Ok(fresh_from) = u32::try_from(number(48)) else {
            return Err(damaged("its header holds something unknown"));
        };
        if header[56..] != [0; 8] {
            return Err(damaged("its header holds something unknown"));
        }
        let inode = disk::inode(&file).map_err(Error::io("read", path))?;
        let mut table = Self {
            shape,
            folder: folder.clone(),
            store,
            epoch: number(32),
            fresh_from,
            generation: header[40..48].try_into().expect("eight bytes"),
            file,
            read_only,
            inode,
            count: 0,
            torn_bytes: 0,
            held: Vec::new(),
            index: Mutex::default(),
        };
        table.refresh()?;
        Ok(table)
    }

    /// Counts entries added since, by this process or another. What is less than a whole entry at
    /// the end is a torn write: it is left out, and the next entry takes its place.
    pub(super) fn refresh(&mut self) -> Result<()> {
        let found = self.folder.look(&self.shape.name);
        let found = found.map_err(self.fault("read"))?;
        let Some(found) = found.filter(|found| found.inode == self.inode) else {
            return Err(self.damaged("it was replaced while the store was open"));
        };
        let mut generation = [0; 8];
        self.file
            .read_exact_at(&mut generation, 40)
            .map_err(self.fault("read"))?;
        if generation != self.generation {
            return Err(self.damaged("its generation changed while the store was open"));
        }
        let bytes = found.bytes.saturating_sub(HEADER_BYTES as u64);
        let entry_bytes = self.shape.entry_bytes() as u64;
        let count = u32::try_from(bytes / entry_bytes).unwrap_or(u32::MAX);
        if count < self.count {
            return Err(self.damaged("it became shorter while the store was open"));
        }
        if count > KEY_ENTRIES_MAX {
            return Err(self.damaged("it has more entries than any keyring"));
        }
        self.count = count;
        self.torn_bytes = bytes % entry_bytes;
        Ok(())
    }

    /// The slot of a memory's newest entry.
    fn slot(&self, id: MemoryId) -> Result<Option<u32>> {
        Ok(self.slots(id, true)?.first().copied())
    }

    /// The slots of a memory's entries, newest first; or of the newest alone.
    fn slots(&self, id: MemoryId, only_newest: bool) -> Result<Vec<u32>> {
        let mut slots: Vec<u32> = self.held_slots(id).collect();
        if slots.is_empty() || !only_newest {
            slots.extend(self.written_slots(id, only_newest)?);
        }
        Ok(slots)
    }

    /// The slots of a memory's entries that are yet to be written, newest first.
    fn held_slots(&self, id: MemoryId) -> impl Iterator<Item = u32> {
        let held = self.held.iter().enumerate().rev();
        held.filter(move |(_, entry)| id_of(entry) == id)
            .map(|(at, _)| self.count + u32::try_from(at).expect("a batch is small"))
    }

    /// The slots of those that are in the file.
    fn written_slots(&self, id: MemoryId, only_newest: bool) -> Result<Vec<u32>> {
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        let slots = index.slots(&self.entries(), id, only_newest);
        slots.map_err(self.fault("read"))
    }

    fn entries(&self) -> Entries<'_> {
        Entries {
            file: &self.file,
            header_bytes: self.shape.offset(0),
            entry_bytes: self.shape.entry_bytes(),
            count: self.count,
        }
    }

    /// What is wrong with the file as a whole, where something is.
    pub(super) fn problem(&self) -> Option<String> {
        (self.torn_bytes > 0).then(|| {
            format!(
                "{} ends in {} bytes that are no whole entry; they are ignored",
                self.path().display(),
                self.torn_bytes
            )
        })
    }

    /// The memories that have an entry in this slot or a later one.
    pub(super) fn ids_from(&self, first: u32) -> Result<Vec<MemoryId>> {
        let ids = self.entries().ids_from(first);
        let ids = ids.map_err(self.fault("read"))?;
        Ok(ids.into_iter().collect())
    }

    /// SHA-256 of the header and the first `count` entries; `None` if there are fewer.
    pub(super) fn digest_of_first(&self, count: u32) -> Result<Option<Digest>> {
        if count > self.count {
            return Ok(None);
        }
        let length = usize::try_from(self.shape.offset(count)).expect("a table in memory");
        let mut bytes = vec![0; length];
        self.file
            .read_exact_at(&mut bytes, 0)
            .map_err(self.fault("read"))?;
        Ok(Some(Digest::of(&bytes)))
    }

    pub(super) fn next_slot(&self) -> u32 {
        self.count + u32::try_from(self.held.len()).expect("a batch is small")
    }

    /// Takes the next entry into account before it is written.
    pub(super) fn hold(&mut self, slot: u32, entry: &[u8]) -> Result<()> {
        if entry.len() != self.shape.entry_bytes() || slot != self.next_slot() {
            return Err(does_not_fit());
        }
        self.held.push(entry.to_vec());
        Ok(())
    }

    /// Forgets the entries that were held and not written.
    pub(super) fn let_go(&mut self) {
        self.held.clear();
    }

    pub(super) fn has(&self, id: MemoryId) -> Result<bool> {
        Ok(self.slot(id)?.is_some())
    }

    /// A sealed entry.
    pub(super) fn seal(&self, key: &Key, id: MemoryId, secret: &[u8]) -> Vec<u8> {
        self.shape.seal(self.store, self.epoch, key, id, secret)
    }

    /// Makes sure that so many entries can be added, before anything is durable that needs them.
    pub(super) fn check_room(&self, more: usize) -> Result<()> {
        self.check_writable()?;
        if self.next_slot() as usize + more > KEY_ENTRIES_MAX as usize {
            return Err(Error::Invalid {
                what: "the keyring",
                why: format!("it has no room for more than {KEY_ENTRIES_MAX} keys"),
            });
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
        let fits = entry.len() == self.shape.entry_bytes() && slot <= self.count;
        if !fits {
            return Err(does_not_fit());
        }
        self.check_writable()?;
        self.file
            .write_all_at(entry, self.shape.offset(slot))
            .map_err(self.fault("write"))?;
        let index = self.index.get_mut().unwrap_or_else(PoisonError::into_inner);
        if slot < index.count {
            // An entry written anew after an unclean stop: what stood there before is gone, and an
            // earlier or later entry of either id may be the one that counts.
            *index = Index::default();
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

    fn open_slot(&self, key: &Key, id: MemoryId, slot: u32) -> Result<Lookup> {
        let entry = self.entry(slot)?;
        let plain = self.shape.open(self.store, self.epoch, key, &entry);
        let plain = plain.filter(|_| id_of(&entry) == id);
        Ok(plain.map_or(Lookup::Damaged, Lookup::Found))
    }

    fn entry(&self, slot: u32) -> Result<Vec<u8>> {
        if let Some(held) = slot.checked_sub(self.count) {
            return Ok(self.held[held as usize].clone());
        }
        let mut entry = vec![0; self.shape.entry_bytes()];
        self.file
            .read_exact_at(&mut entry, self.shape.offset(slot))
            .map_err(self.fault("read"))?;
        Ok(entry)
    }

    /// Whether the newest entry of a memory is of an earlier epoch.
    pub(super) fn is_stale(&self, id: MemoryId) -> Result<bool> {
        Ok(self.slot(id)?.is_some_and(|slot| slot < self.fresh_from))
    }

    /// Whether an entry opens with the key of this table's epoch.
    pub(super) fn is_own(&self, key: &Key, entry: &[u8]) -> bool {
        entry.len() == self.shape.entry_bytes()
            && self
                .shape
                .open(self.store, self.epoch, key, entry)
                .is_some()
    }

    /// Whether a slot has an entry of the same memory as this one.
    pub(super) fn has_in_slot(&self, slot: u32, entry: &[u8]) -> Result<bool> {
        let whole = slot < self.count && entry.len() >= ID_BYTES;
        Ok(whole && id_of(&self.entry(slot)?) == id_of(entry))
    }

    /// Whether there is such a file in a folder, and it is another.
    pub(super) fn is_another_in(&self, folder: &Folder) -> bool {
        let found = folder.look(&self.shape.name).ok().flatten();
        found.is_some_and(|found| found.inode != self.inode)
    }

    /// Whether another file is in its place.
    pub(super) fn is_replaced(&self) -> bool {
        self.is_another_in(&self.folder)
    }

    /// Whether it is in this folder.
    pub(super) fn is_in(&self, folder: &Folder) -> bool {
        self.folder.is(folder).unwrap_or(false)
    }

    /// Goes by another folder, where the file is in that now.
    pub(super) fn is_now_in(&mut self, folder: &Folder) {
        if folder.inode(&self.shape.name) == Some(self.inode) {
            self.folder = folder.clone();
        }
    }

    /// For messages.
    fn path(&self) -> PathBuf {
        self.folder.path_of(&self.shape.name)
    }

    fn fault(&self, doing: &'static str) -> impl FnOnce(io::Error) -> Error + use<> {
        self.folder.fault(doing, &self.shape.name)
    }

    fn damaged(&self, why: &str) -> Error {
        Error::damaged(self.path().display().to_string(), why)
    }
}

fn does_not_fit() -> Error {
    Error::damaged("the journal", "a key entry does not fit its table")
}

fn header(
    shape: &Shape,
    store: StoreId,
    epoch: u64,
    generation: u64,
    fresh_from: u32,
) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..16].copy_from_slice(shape.magic);
    header[16..32].copy_from_slice(&store.0);
    header[32..40].copy_from_slice(&epoch.to_le_bytes());
    header[40..48].copy_from_slice(&generation.to_le_bytes());
    header[48..56].copy_from_slice(&u64::from(fresh_from).to_le_bytes());
    header
}

/// The id at the start of an entry.
pub(super) fn id_of(entry: &[u8]) -> MemoryId {
    MemoryId(entry[..ID_BYTES].try_into().expect("sixteen bytes"))
}
