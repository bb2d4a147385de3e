//! The journal: one checksummed record for each command, durable before the answer goes out.
//!
//! A command's objects, keyring entries and new head form one record at the end of this file, and
//! one `fdatasync` makes it durable. That is the commit point. Only then are the keyring, the objects
//! and the ref written to their places, without a sync of their own; objects and ref perhaps later.
//! A checkpoint makes one durable pack of the objects, syncs the rest and starts a new journal. After
//! an unclean stop the records are replayed: everything they name is written anew, never trusted.
//!
//! The file is filled with zeros ahead of its end, so that a record changes no metadata of the file
//! system. Such a sync costs about half of one that also grows the file.

#[cfg(any(fuzzing, test))]
pub(crate) mod fuzzing;
mod record;

use std::cell::Cell;
use std::io;
use std::path::{Path, PathBuf};

use crate::crypto::digest::Digest;
use crate::disk::{self, File, FileExt, Folder, Name};
use crate::error::{Error, Result};
use crate::id::{self, ObjectId};
use crate::repository;
use crate::repository::object::{Object, ObjectKind};

pub(crate) use self::record::{JournalRecord, KeyEntry};

const MAGIC: &[u8; 16] = b"agekeep-journal1";
const HEADER_BYTES: usize = 128;
const RECORD_HEADER_BYTES: usize = 4 + 32;
/// The header of a record and the first bytes of its payload: its parent and its head.
const RECORD_START_BYTES: usize = RECORD_HEADER_BYTES + record::COMMITS_BYTES;
/// Bytes of zeros written ahead at a time.
const FILL_BYTES: u64 = 256 * 1024;
/// Past this size a checkpoint is due: small enough to read whole after a restart, large enough that a
/// checkpoint serves a hundred commands.
const CHECKPOINT_BYTES: u64 = 2 * 1024 * 1024;
/// Past this size no command goes on without a checkpoint. The next command makes it, and reports
/// whatever kept the background one from being made.
const CHECKPOINT_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// The most bytes of a record's payload: an undo writes 256 MiB of text, and a request has as much.
const RECORD_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// Records up to this size are read at once.
const PIECE_BYTES: u64 = 1024 * 1024;

/// The journal of an open store. Every method but [`Journal::has_news`] requires the store's lock.
pub(crate) struct Journal {
    folder: Folder,
    name: Name,
    /// `None` in a copy that git made, until a command is recorded there.
    file: Option<File>,
    /// The operating system's error number, if the file could only be opened for reading.
    read_only: Option<i32>,
    inode: u64,
    salt: [u8; 16],
    boot: [u8; 36],
    base: ObjectId,
    /// Every commit since the base, in order.
    commits: Vec<ObjectId>,
    end: u64,
    filled: u64,
    /// The offset of the last record, or of the header, and the first bytes there, which nobody
    /// changes.
    last: (u64, [u8; RECORD_HEADER_BYTES]),
    /// The first bytes after the last record at the last refresh: zeros, or a record that a killed
    /// process left torn.
    beyond: [u8; RECORD_HEADER_BYTES],
    /// The offset up to which this process knows the file to be durable.
    durable: Cell<u64>,
}

impl Journal {
    /// Starts a new, empty journal whose history ends at `base`, replacing any other.
    pub(crate) fn start(folder: &Folder, base: ObjectId) -> Result<Self> {
        Self::start_with(folder, base, &[])
    }

    /// Starts a new journal where this one ends. Everything in this one must be durable in its
    /// place.
    pub(crate) fn start_anew(&mut self) -> Result<()> {
        *self = Self::start(&self.folder, self.head())?;
        Ok(())
    }

    /// Starts a new journal at `base`, with the records after it. Everything up to `base` must be
    /// durable in its place.
    pub(crate) fn start_after(&mut self, base: ObjectId) -> Result<()> {
        // Whoever packed the records before has checked them.
        let mut at = HEADER_BYTES as u64;
        while at < self.end {
            let Some((frame, parent, _)) = self.record_start(at)? else {
                break;
            };
            if parent == base {
                break;
            }
            let next = self.stated_end(at, &frame)?;
            at = next.ok_or_else(|| self.damaged("a record changed"))?;
        }
        let kept = self.records_from(at)?;
        if kept.last().map_or(base, |record| record.head) != self.head() {
            return Err(self.damaged("its records do not follow one another"));
        }
        *self = Self::start_with(&self.folder, base, &kept)?;
        Ok(())
    }

    /// Returns the journal of a store that has none, whose branch ends at `base`. Only reading is
    /// possible until [`Self::start_anew`] makes the file, so that a copy may be read-only.
    pub(crate) fn absent(folder: &Folder, base: ObjectId) -> Self {
        Self {
            folder: folder.clone(),
            name: Name::JOURNAL,
            file: None,
            read_only: None,
            inode: 0,
            salt: [0; 16],
            boot: disk::boot().unwrap_or([0; 36]),
            base,
            commits: Vec::new(),
            end: HEADER_BYTES as u64,
            filled: 0,
            last: (0, [0; RECORD_HEADER_BYTES]),
            beyond: [0; RECORD_HEADER_BYTES],
            durable: Cell::new(HEADER_BYTES as u64),
        }
    }

    /// Tells whether the store has no journal.
    pub(crate) fn is_absent(&self) -> bool {
        self.file.is_none()
    }

    fn start_with(folder: &Folder, base: ObjectId, records: &[JournalRecord]) -> Result<Self> {
        let aside = Name::JOURNAL_NEW;
        let fault = || folder.fault("write", &aside);
        let mut start = vec![0; usize::try_from(FILL_BYTES).expect("small")];
        start[..HEADER_BYTES].copy_from_slice(&header(base));
        drop(folder.remove(&aside));
        let file = folder.create_new(&aside, 0o600).map_err(fault())?;
        file.write_all_at(&start, 0).map_err(fault())?;
        let mut journal = Self::open_named(folder, aside.clone())?;
        for record in records {
            let bytes = journal.framed(journal.end, record)?;
            let end = journal.end + bytes.len() as u64;
            journal.fill_to(end).map_err(fault())?;
            file.write_all_at(&bytes, journal.end).map_err(fault())?;
            journal.last = (journal.end, *bytes.first_chunk().expect("it has a header"));
            journal.learn(record);
            journal.end = end;
        }
        disk::sync_file(&file).map_err(fault())?;
        folder.rename(&aside, &Name::JOURNAL).map_err(fault())?;
        folder.sync()?;
        journal.name = Name::JOURNAL;
        journal.beyond = journal.bytes_beyond().map_err(journal.fault("read"))?;
        journal.durable.set(journal.end);
        Ok(journal)
    }

    /// Returns a copy of the journal as it is now, for a thread that only reads.
    pub(crate) fn as_now(&self) -> Result<Self> {
        let mut file = None;
        if let Some(open) = &self.file {
            file = Some(open.try_clone().map_err(self.fault("open"))?);
        }
        Ok(Self {
            folder: self.folder.clone(),
            name: self.name.clone(),
            file,
            commits: self.commits.clone(),
            durable: self.durable.clone(),
            ..*self
        })
    }

    /// Returns the inode of its file, which differs from the previous and the next journal's.
    pub(crate) fn inode(&self) -> u64 {
        self.inode
    }

    /// Opens the journal in a store's folder, and checks every record in it.
    pub(crate) fn open(folder: &Folder) -> Result<Self> {
        let mut journal = Self::open_named(folder, Name::JOURNAL)?;
        journal.catch_up()?;
        Ok(journal)
    }

    /// Opens the journal of a store whose branch is at `branch`, and checks the records from there
    /// on. Until the machine restarts, everything before is in its place, so nobody needs it from
    /// here but a checkpoint, which checks it.
    pub(crate) fn open_at(folder: &Folder, branch: ObjectId) -> Result<Self> {
        let mut journal = Self::open_named(folder, Name::JOURNAL)?;
        if disk::boot() == Some(journal.boot) {
            journal.skip_to(branch)?;
        }
        journal.catch_up()?;
        Ok(journal)
    }

    fn open_named(folder: &Folder, name: Name) -> Result<Self> {
        let path = &folder.path_of(&name);
        let opened = folder.open_write_or_read(&name);
        let (file, read_only) = opened.map_err(Error::io("open", path))?;
        let (inode, length) = disk::inode(&file)
            .and_then(|inode| Ok((inode, disk::length(&file)?)))
            .map_err(Error::io("read", path))?;
        let mut header = [0; HEADER_BYTES];
        let whole = file.read_exact_at(&mut header, 0);
        if whole.is_ok() && header[..16] != *MAGIC && header[..15] == MAGIC[..15] {
            return Err(Error::UnknownFormat {
                what: path.display().to_string(),
                found: String::from_utf8_lossy(&header[15..16]).into_owned(),
            });
        }
        let (salt, base, boot) = whole
            .ok()
            .and_then(|()| parse_header(&header))
            .ok_or_else(|| damaged(path, "its header is not whole"))?;
        Ok(Self {
            folder: folder.clone(),
            name,
            file: Some(file),
            read_only,
            inode,
            salt,
            boot,
            base,
            commits: Vec::new(),
            end: HEADER_BYTES as u64,
            filled: length,
            last: (0, *header.first_chunk().expect("a header is longer")),
            beyond: [0; RECORD_HEADER_BYTES],
            durable: Cell::new(HEADER_BYTES as u64),
        })
    }

    /// Passes over the records before the one whose head is `branch`, if each goes on where the one
    /// before it ends.
    fn skip_to(&mut self, branch: ObjectId) -> Result<()> {
        let (mut at, mut last, mut head) = (self.end, self.last, self.base);
        let mut commits = Vec::new();
        while let Some((frame, parent, next)) = self.record_start(at)? {
            if parent != head {
                break;
            }
            if next == branch {
                (self.commits, self.end, self.last) = (commits, at, last);
                break;
            }
            let Some(end) = self.stated_end(at, &frame)? else {
                break;
            };
            commits.push(next);
            (head, last, at) = (next, (at, frame), end);
        }
        Ok(())
    }

    /// Returns how the record at `at` begins: its header, its parent and its head; `None` if the
    /// file ends before.
    fn record_start(
        &self,
        at: u64,
    ) -> Result<Option<([u8; RECORD_HEADER_BYTES], ObjectId, ObjectId)>> {
        if at + RECORD_START_BYTES as u64 > self.filled {
            return Ok(None);
        }
        let mut start = [0; RECORD_START_BYTES];
        self.read_at(at, &mut start)?;
        let (frame, payload) = start.split_first_chunk().expect("it is longer");
        let (parent, head) = record::commits(payload.first_chunk().expect("it is as long"));
        Ok(Some((*frame, parent, head)))
    }

    /// Moves to another folder. The next refresh reads the journal there.
    pub(crate) fn reopen_in(&mut self, folder: &Folder) {
        self.folder = folder.clone();
    }

    /// Reads records that other processes added, or the journal they started anew.
    pub(crate) fn refresh(&mut self) -> Result<()> {
        let found = self.folder.look(&self.name).map_err(self.fault("read"))?;
        if found.is_none_or(|found| found.inode != self.inode) {
            *self = Self::open(&self.folder)?;
            return Ok(());
        }
        self.filled = self
            .file()
            .and_then(disk::length)
            .map_err(self.fault("read"))?;
        // Records added to a file that lost its earlier ones can never be read again.
        if self.filled < self.end || self.first_bytes_at(self.last.0)? != self.last.1 {
            return Err(self.damaged("somebody else changed it while the store was open"));
        }
        self.catch_up()
    }

    fn catch_up(&mut self) -> Result<()> {
        let (begun, mut at) = (self.end, self.last.0);
        while let Some((record, end)) = self.read_record(self.end)? {
            self.learn(&record);
            at = self.end;
            self.end = end;
        }
        if self.end > begun {
            self.last = (at, self.first_bytes_at(at)?);
        }
        self.beyond = self.bytes_beyond().map_err(self.fault("read"))?;
        self.check_nothing_follows()
    }

    /// Returns the first bytes after the last record, as far as the file goes.
    fn bytes_beyond(&self) -> io::Result<[u8; RECORD_HEADER_BYTES]> {
        let mut bytes = [0; RECORD_HEADER_BYTES];
        self.file()?.read_at(&mut bytes, self.end)?;
        Ok(bytes)
    }

    /// Tells whether somebody has written to it since the last refresh, or put another in its place.
    /// It needs no lock: a record that is still being written counts too, and whoever then takes the
    /// lock waits until it is durable.
    pub(crate) fn has_changed(&self) -> bool {
        let found = self.folder.inode(&self.name);
        if self.is_absent() {
            return found.is_some();
        }
        let is_same_file = found == Some(self.inode);
        let is_as_before = || {
            let last = self.first_bytes_at(self.last.0).ok();
            last == Some(self.last.1) && self.bytes_beyond().ok() == Some(self.beyond)
        };
        !(is_same_file && is_as_before())
    }

    fn first_bytes_at(&self, at: u64) -> Result<[u8; RECORD_HEADER_BYTES]> {
        let mut bytes = [0; RECORD_HEADER_BYTES];
        self.read_at(at, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads all of a piece of the file.
    fn read_at(&self, at: u64, piece: &mut [u8]) -> Result<()> {
        let file = self.file();
        let read = file.and_then(|file| file.read_exact_at(piece, at));
        read.map_err(self.fault("read"))
    }

    /// Checks that an invalid record is the torn end of the journal. If a whole record follows, it
    /// was damaged after it was acknowledged.
    fn check_nothing_follows(&self) -> Result<()> {
        let next = self.record_end(self.end)?;
        if let Some(next) = next
            && self.read_record(next)?.is_some()
        {
            return Err(self.damaged("a record in it does not check out, and a whole one follows"));
        }
        Ok(())
    }

    fn learn(&mut self, record: &JournalRecord) {
        let commits = record
            .objects
            .iter()
            .filter(|o| o.kind == ObjectKind::Commit);
        let before = commits.map(|o| o.id).filter(|id| *id != record.head);
        self.commits.extend(before);
        self.commits.push(record.head);
    }

    /// Returns the newest commit.
    pub(crate) fn head(&self) -> ObjectId {
        self.commits.last().copied().unwrap_or(self.base)
    }

    /// Tells whether `id` is the base or a commit of a record.
    pub(crate) fn knows(&self, id: ObjectId) -> bool {
        id == self.base || self.commits.contains(&id)
    }

    /// Tells whether it has records and the machine was restarted since the journal was started.
    /// Then nothing unsynced can be trusted.
    pub(crate) fn is_from_another_boot(&self) -> bool {
        !self.commits.is_empty() && disk::boot() != Some(self.boot)
    }

    /// Tells whether it is empty and the machine is known to have been restarted since the journal
    /// was started. Then files removed before may be there again.
    pub(crate) fn is_left_from_another_boot(&self) -> bool {
        self.commits.is_empty() && disk::boot().is_some_and(|boot| boot != self.boot)
    }

    /// Tells whether the file could only be opened for reading.
    pub(crate) fn is_read_only(&self) -> bool {
        self.read_only.is_some()
    }

    /// Tells whether a checkpoint is due.
    pub(crate) fn is_full(&self) -> bool {
        self.end > CHECKPOINT_BYTES
    }

    /// Tells whether a command has to wait for a checkpoint.
    pub(crate) fn is_overfull(&self) -> bool {
        self.end > CHECKPOINT_BYTES_MAX
    }

    /// Returns the number of bytes written.
    pub(crate) fn bytes(&self) -> u64 {
        self.end
    }

    /// Returns every record, in order.
    pub(crate) fn records(&self) -> Result<Vec<JournalRecord>> {
        self.records_from(HEADER_BYTES as u64)
    }

    /// Returns the records from an offset on, at which one begins.
    fn records_from(&self, mut at: u64) -> Result<Vec<JournalRecord>> {
        let mut records = Vec::new();
        while at < self.end {
            let Some((record, end)) = self.read_record(at)? else {
                return Err(self.damaged("a record changed"));
            };
            records.push(record);
            at = end;
        }
        Ok(records)
    }

    /// Appends a record and makes it durable: the commit point of a command, or of several that
    /// waited together.
    ///
    /// If this fails, the command did not happen: the record's place is cleared again, and
    /// everything durable before stays durable.
    pub(crate) fn append(&mut self, record: &JournalRecord) -> Result<()> {
        if let Some(refused) = self.read_only {
            let source = io::Error::from_raw_os_error(refused);
            return Err(self.fault("write")(source));
        }
        let bytes = self.framed(self.end, record)?;
        let end = self.end + bytes.len() as u64;
        let written = self
            .fill_to(end)
            .and_then(|()| self.file()?.write_all_at(&bytes, self.end))
            .map_err(self.fault("write"))
            .and_then(|()| self.sync_record());
        if let Err(error) = written {
            let clear = [0; RECORD_HEADER_BYTES];
            drop(
                self.file()
                    .and_then(|file| file.write_all_at(&clear, self.end)),
            );
            drop(self.sync_record());
            return Err(error);
        }
        if self.durable.get() == self.end {
            self.durable.set(end);
        }
        self.learn(record);
        self.last = (self.end, *bytes.first_chunk().expect("its header"));
        self.beyond = [0; RECORD_HEADER_BYTES];
        self.end = end;
        Ok(())
    }

    /// Encodes a record for an offset in the file, with its length and checksum.
    fn framed(&self, at: u64, record: &JournalRecord) -> Result<Vec<u8>> {
        let payload = record.encode();
        let mut bytes = Vec::with_capacity(RECORD_HEADER_BYTES + payload.len());
        let too_much = || Error::invalid("the command", "it changes more than 512 MiB at once");
        let length = u32::try_from(payload.len()).map_err(|_| too_much())?;
        if u64::from(length) > RECORD_BYTES_MAX {
            return Err(too_much());
        }
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(&self.checksum(at, &payload));
        bytes.extend_from_slice(&payload);
        Ok(bytes)
    }

    /// Makes every readable record durable. A killed process may have left one that is not, or its
    /// sync may have failed. After that the kernel counts its cached bytes as written, so they are
    /// written anew.
    pub(crate) fn sync(&self) -> Result<()> {
        let (from, io) = (self.durable.get(), self.fault("write"));
        if from == self.end {
            return Ok(());
        }
        if self.read_only.is_some() {
            return self.sync_record();
        }
        let length = usize::try_from(self.end - from).expect("a journal in memory");
        let mut bytes = vec![0; length];
        self.file()
            .and_then(|file| {
                file.read_exact_at(&mut bytes, from)?;
                file.write_all_at(&bytes, from)
            })
            .map_err(io)?;
        self.sync_record()?;
        self.durable.set(self.end);
        Ok(())
    }

    /// Extends the file with zeros so that a record up to `end` only overwrites.
    fn fill_to(&mut self, end: u64) -> io::Result<()> {
        if end <= self.filled {
            return Ok(());
        }
        let target = end.next_multiple_of(FILL_BYTES);
        let zeros = vec![0; usize::try_from(target - self.filled).expect("a record in memory")];
        self.file()?.write_all_at(&zeros, self.filled)?;
        self.filled = target;
        Ok(())
    }

    /// Returns the whole record at `at` and the offset of the next; `None` where the journal ends.
    fn read_record(&self, at: u64) -> Result<Option<(JournalRecord, u64)>> {
        let Some(end) = self.record_end(at)? else {
            return Ok(None);
        };
        if end - at > PIECE_BYTES && !self.is_whole(at, end)? {
            return Ok(None);
        }
        let length = usize::try_from(end - at).map_err(|_| self.damaged("a record is too long"))?;
        let mut bytes = vec![0; length];
        self.read_at(at, &mut bytes)?;
        let (header, payload) = bytes.split_at(RECORD_HEADER_BYTES);
        if self.checksum(at, payload) != header[4..] {
            return Ok(None);
        }
        let record = JournalRecord::decode(payload)
            .ok_or_else(|| self.damaged("a record does not parse"))?;
        if !record.keys.iter().all(KeyEntry::names_no_path) {
            return Err(self.damaged("a record in it names a staged keyring that does not exist"));
        }
        Ok(Some((record, end)))
    }

    /// Returns the stated end of the record at `at`; `None` if there is no record, or not all of
    /// it.
    fn record_end(&self, at: u64) -> Result<Option<u64>> {
        if at + RECORD_HEADER_BYTES as u64 > self.filled {
            return Ok(None);
        }
        self.stated_end(at, &self.first_bytes_at(at)?)
    }

    /// Does the same for a record that begins with the bytes `frame`.
    fn stated_end(&self, at: u64, frame: &[u8; RECORD_HEADER_BYTES]) -> Result<Option<u64>> {
        let length = u64::from(u32::from_le_bytes(*frame.first_chunk().expect("a length")));
        let end = at + RECORD_HEADER_BYTES as u64 + length;
        if end <= self.filled && length > RECORD_BYTES_MAX {
            return Err(self.damaged("a record in it is longer than any"));
        }
        Ok((length != 0 && end <= self.filled).then_some(end))
    }

    /// Checks the checksum of a long record in pieces, so that no memory is reserved for one that
    /// is not valid.
    fn is_whole(&self, at: u64, end: u64) -> Result<bool> {
        let begin = at + RECORD_HEADER_BYTES as u64;
        let mut digest = Digest::begin();
        digest.add(&self.salt);
        digest.add(&at.to_le_bytes());
        let mut piece = vec![0; usize::try_from(PIECE_BYTES).expect("small")];
        for from in (begin..end).step_by(piece.len()) {
            let length = usize::try_from(PIECE_BYTES.min(end - from)).expect("small");
            self.read_at(from, &mut piece[..length])?;
            digest.add(&piece[..length]);
        }
        Ok(digest.end().0 == self.first_bytes_at(at)?[4..])
    }

    fn sync_record(&self) -> Result<()> {
        let file = self.file().map_err(self.fault("write"))?;
        disk::sync_contents(file, &self.path())
    }

    fn file(&self) -> io::Result<&File> {
        let missing = || io::ErrorKind::NotFound.into();
        self.file.as_ref().ok_or_else(missing)
    }

    /// Returns the path for messages.
    fn path(&self) -> PathBuf {
        self.folder.path_of(&self.name)
    }

    fn fault(&self, doing: &'static str) -> impl FnOnce(io::Error) -> Error + use<> {
        self.folder.fault(doing, &self.name)
    }

    fn damaged(&self, why: &str) -> Error {
        damaged(&self.path(), why)
    }

    /// Returns the checksum of a payload. Salt and offset are part of it, so that no record of an
    /// older journal, and no piece of a record, is ever taken for a record.
    fn checksum(&self, at: u64, payload: &[u8]) -> [u8; 32] {
        Digest::of_pieces(&[&self.salt, &at.to_le_bytes(), payload]).0
    }
}

/// Finds an object by its name in the journal of a store's folder. The name is checked against the
/// object, because a record's checksum keeps nobody from writing another object under that
/// name.
pub(crate) fn find(folder: &Folder, id: ObjectId) -> Result<Option<Object>> {
    if !folder.has(&Name::JOURNAL) {
        return Ok(None);
    }
    let records = Journal::open(folder)?.records()?;
    let mut objects = records.into_iter().flat_map(|record| record.objects);
    let has_its_name = |object: &Object| repository::name(object.kind, &object.bytes) == id;
    Ok(objects.find(|object| object.id == id && has_its_name(object)))
}

/// Returns the error for a damaged journal. Its contents are in their places too, unless the last
/// stop was unclean.
fn damaged(path: &Path, why: &str) -> Error {
    let hint = "keep a copy of the store; if `agekeep verify --full` finds nothing else, move the \
                file `journal` away and continue from the branch; otherwise restore the damaged \
                files from a backup";
    Error::damaged_with_hint(path.display().to_string(), why, hint)
}

fn header(base: ObjectId) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..16].copy_from_slice(MAGIC);
    header[16..32].copy_from_slice(&id::random::<16>());
    header[32..52].copy_from_slice(&base.0);
    header[52..88].copy_from_slice(&disk::boot().unwrap_or([0; 36]));
    let sum = Digest::of(&header[..96]).0;
    header[96..].copy_from_slice(&sum);
    header
}

fn parse_header(header: &[u8; HEADER_BYTES]) -> Option<([u8; 16], ObjectId, [u8; 36])> {
    let sum = Digest::of(&header[..96]).0;
    if header[..16] != MAGIC[..] || header[96..] != sum {
        return None;
    }
    Some((
        header[16..32].try_into().ok()?,
        ObjectId(header[32..52].try_into().ok()?),
        header[52..88].try_into().ok()?,
    ))
}

#[cfg(test)]
mod tests {
    use super::record::tests::{id, record};
    use super::*;
    use std::fs;

    /// Makes a folder for a journal, and returns the journal's path.
    fn place() -> (tempfile::TempDir, Folder, PathBuf) {
        let temporary = tempfile::tempdir().expect("temporary folder");
        let folder = Folder::at(temporary.path()).expect("opens");
        let path = temporary.path().join("journal");
        (temporary, folder, path)
    }

    fn heads(folder: &Folder) -> Vec<u8> {
        let journal = Journal::open(folder).expect("opens");
        journal
            .records()
            .expect("reads")
            .iter()
            .map(|r| r.head.0[0])
            .collect()
    }

    #[test]
    fn a_record_is_whole_or_absent_wherever_the_file_is_cut() {
        let (_temporary, folder, path) = place();
        let mut journal = Journal::start(&folder, id(0)).expect("starts");
        journal.append(&record(1, 50)).expect("appends");
        let first_end = journal.end;
        journal.append(&record(2, 60)).expect("appends");
        let bytes = fs::read(&path).expect("reads");
        let end = usize::try_from(journal.end).expect("small");
        assert_eq!(heads(&folder), [1, 2]);
        for cut in usize::try_from(first_end).expect("small")..end {
            // Not yet written, as zeros and as an end of file; and one flipped bit.
            let mut zeroed = bytes.clone();
            zeroed[cut..end].fill(0);
            let mut flipped = bytes.clone();
            flipped[cut] ^= 1;
            // The last byte of a record is a key entry's, so a zeroed tail always shows.
            for torn in [zeroed, bytes[..cut].to_vec(), flipped] {
                fs::write(&path, torn).expect("writes");
                assert_eq!(heads(&folder), [1], "cut at {cut}");
            }
        }
    }

    /// Returns the heads of the journal that a process finds whose branch is at `branch`, and the
    /// commits that it knows.
    fn opened_at(folder: &Folder, branch: u8) -> (ObjectId, Vec<ObjectId>) {
        let journal = Journal::open_at(folder, id(branch)).expect("opens");
        (journal.head(), journal.commits.clone())
    }

    #[test]
    fn records_that_the_branch_has_are_not_read_and_those_after_it_are() {
        let (_temporary, folder, path) = place();
        let mut journal = Journal::start(&folder, id(0)).expect("starts");
        let mut begins = Vec::new();
        for number in 1..=4 {
            begins.push(usize::try_from(journal.end).expect("small"));
            let (before, now) = (id(number - 1), record(number, 50));
            let record = JournalRecord {
                parent: before,
                ..now
            };
            journal.append(&record).expect("appends");
        }
        let bytes = fs::read(&path).expect("reads");
        let all = [1, 2, 3, 4].map(id);
        for branch in 0..=5 {
            assert_eq!(opened_at(&folder, branch), (id(4), all.to_vec()));
            let mut mine = Journal::open_at(&folder, id(branch)).expect("opens");
            assert_eq!(mine.end, journal.end);
            assert!(!mine.has_changed());
            mine.refresh().expect("as before");
            assert_eq!(heads(&folder), [1, 2, 3, 4]);
        }
        let with = |at: usize| {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            fs::write(&path, changed).expect("writes");
        };
        // Damage before the branch shows once all is read; from the branch on it shows at once.
        for (number, begin) in begins.iter().enumerate() {
            with(begin + RECORD_START_BYTES);
            for branch in 1..=4u8 {
                let shows = usize::from(branch) <= number + 1;
                let opened = Journal::open_at(&folder, id(branch));
                let is_whole = opened.as_ref().is_ok_and(|journal| journal.head() == id(4));
                assert_eq!(is_whole, !shows, "record {number}, branch {branch}");
                if let Ok(journal) = opened.as_ref() {
                    assert_eq!(journal.records().is_ok(), shows && !is_whole);
                }
            }
        }
        // A length, a parent or a head that does not fit makes it read everything.
        let head_of = |journal: Result<Journal>| journal.ok().map(|journal| journal.head());
        for at in [0, RECORD_HEADER_BYTES, RECORD_HEADER_BYTES + 20] {
            with(begins[1] + at);
            let whole = head_of(Journal::open(&folder));
            assert_ne!(whole, Some(id(4)));
            assert_eq!(head_of(Journal::open_at(&folder, id(4))), whole, "{at}");
        }
    }

    #[test]
    fn after_a_restart_every_record_is_read() {
        let (_temporary, folder, path) = place();
        let mut journal = Journal::start(&folder, id(0)).expect("starts");
        for number in 1..=3 {
            let (before, now) = (id(number - 1), record(number, 50));
            let record = JournalRecord {
                parent: before,
                ..now
            };
            journal.append(&record).expect("appends");
        }
        let mut bytes = fs::read(&path).expect("reads");
        bytes[HEADER_BYTES + RECORD_START_BYTES] ^= 1;
        fs::write(&path, &bytes).expect("writes");
        assert_eq!(opened_at(&folder, 3).0, id(3));
        // Another boot, and no boot id at all.
        for boot in [[b'0'; 36], [0; 36]] {
            bytes[52..88].copy_from_slice(&boot);
            let sum = Digest::of(&bytes[..96]).0;
            bytes[96..HEADER_BYTES].copy_from_slice(&sum);
            fs::write(&path, &bytes).expect("writes");
            assert!(Journal::open_at(&folder, id(3)).is_err());
        }
    }

    #[test]
    fn a_damaged_header_is_an_error_not_an_empty_journal() {
        let (_temporary, folder, path) = place();
        Journal::start(&folder, id(0)).expect("starts");
        let bytes = fs::read(&path).expect("reads");
        for at in 0..HEADER_BYTES {
            let mut bad = bytes.clone();
            bad[at] ^= 1;
            fs::write(&path, bad).expect("writes");
            let refused = Journal::open(&folder).err();
            let fits = match refused {
                // The digit of the format version.
                Some(Error::UnknownFormat { .. }) => at == 15,
                Some(Error::Damaged { .. }) => at != 15,
                _ => false,
            };
            assert!(fits, "byte {at}");
        }
    }

    #[test]
    fn another_process_is_followed_through_a_new_journal() {
        let (_temporary, folder, _) = place();
        let mut mine = Journal::start(&folder, id(0)).expect("starts");
        let mut theirs = Journal::open(&folder).expect("opens");
        theirs
            .append(&record(1, 300_000))
            .expect("appends past the filled part");
        mine.refresh().expect("refreshes");
        assert_eq!(mine.head(), id(1));
        let mut theirs = Journal::start(&folder, id(1)).expect("starts anew");
        theirs.append(&record(2, 5)).expect("appends");
        mine.refresh().expect("refreshes");
        assert_eq!((mine.head(), mine.base), (id(2), id(1)));
        assert!(!mine.knows(id(0)) && mine.knows(id(1)));
    }

    /// Opens a journal whose second record states another length.
    fn with_length(length: u32, file_bytes: u64) -> Result<Journal> {
        let (_temporary, folder, path) = place();
        let mut journal = Journal::start(&folder, id(0)).expect("starts");
        journal.append(&record(1, 50)).expect("appends");
        let file = fs::OpenOptions::new().write(true).open(&path);
        let file = file.expect("opens");
        file.set_len(file_bytes).expect("is sparse");
        let written = file.write_all_at(&length.to_le_bytes(), journal.end);
        written.expect("writes");
        Journal::open(&folder)
    }

    #[test]
    fn a_length_that_no_record_has_is_refused_before_room_is_made_for_it() {
        let found = |length, file_bytes| match with_length(length, file_bytes) {
            Ok(journal) => format!("up to {}", journal.head()),
            Err(error) => error.to_string(),
        };
        let whole = format!("up to {}", id(1));
        // Past the end of the file, it was never completely written.
        assert_eq!(found(u32::MAX, FILL_BYTES), whole);
        // Within the file no checksum fits, and no memory was reserved for it.
        assert_eq!(found(300 << 20, 400 << 20), whole);
        let longest = u32::try_from(RECORD_BYTES_MAX).expect("small") + 1;
        assert!(found(longest, 1 << 30).ends_with("a record in it is longer than any"));
        assert!(found(1, (1 << 30) + 1).ends_with("it is longer than 1073741824 bytes"));
        assert!(found(u32::MAX, 60 << 30).ends_with("it is longer than 1073741824 bytes"));
    }

    #[test]
    fn a_changed_record_before_a_whole_one_is_damage_and_no_torn_end() {
        let (_temporary, folder, path) = place();
        let mut journal = Journal::start(&folder, id(0)).expect("starts");
        journal.append(&record(1, 50)).expect("appends");
        let first_end = usize::try_from(journal.end).expect("small");
        journal.append(&record(2, 60)).expect("appends");
        let mut bytes = fs::read(&path).expect("reads");
        bytes[first_end - 1] ^= 1;
        fs::write(&path, bytes).expect("writes");
        let refused = Journal::open(&folder).err().expect("refused").to_string();
        assert!(refused.ends_with("and a whole one follows"), "{refused}");
        assert!(refused.contains(&*path.to_string_lossy()), "{refused}");
        assert!(journal.refresh().is_ok(), "it has read both before");
        assert!(journal.records().is_err());
    }

    #[test]
    fn a_journal_that_lost_its_last_record_is_not_written_on() {
        for is_cut in [true, false] {
            let (_temporary, folder, path) = place();
            let mut journal = Journal::start(&folder, id(0)).expect("starts");
            journal.append(&record(1, 50)).expect("appends");
            let mut bytes = fs::read(&path).expect("reads");
            if is_cut {
                bytes.truncate(usize::try_from(journal.end).expect("small") - 1);
            } else {
                bytes[HEADER_BYTES + 5] ^= 1;
            }
            fs::write(&path, bytes).expect("writes");
            let refused = journal.refresh().expect_err("refused").to_string();
            let why = "somebody else changed it while the store was open";
            assert!(refused.ends_with(why), "{refused}");
        }
    }

    #[test]
    fn every_commit_of_a_record_is_known_and_no_other_object() {
        let (_temporary, folder, _) = place();
        let mut journal = Journal::start(&folder, id(0)).expect("starts");
        let mut several = record(5, 10);
        for (name, kind) in [(3, ObjectKind::Commit), (4, ObjectKind::Tree)] {
            several.objects.push(Object {
                id: id(name),
                kind,
                bytes: vec![name],
            });
        }
        several.objects[0].kind = ObjectKind::Commit;
        journal.append(&several).expect("appends");
        let known: Vec<u8> = (0..8).filter(|n| journal.knows(id(*n))).collect();
        assert_eq!((known, journal.head()), (vec![0, 3, 5], id(5)));
        assert_eq!(journal.commits, [id(3), id(5)]);
    }

    #[test]
    fn a_new_journal_keeps_the_records_after_its_base() {
        for (base, kept) in [(0, vec![1, 2, 3]), (1, vec![2, 3]), (3, vec![])] {
            let (_temporary, folder, _) = place();
            let mut journal = Journal::start(&folder, id(0)).expect("starts");
            for n in 1..4 {
                journal.append(&record(n, 50)).expect("appends");
            }
            journal.start_after(id(base)).expect("follows");
            assert_eq!((heads(&folder), journal.head()), (kept, id(3)));
            assert!(journal.knows(id(base)) && !journal.knows(id(9)));
            assert!(journal.start_after(id(9)).is_err(), "no record follows it");
        }
    }

    #[test]
    fn a_long_record_is_whole_or_absent_in_each_of_its_pieces() {
        let (_temporary, folder, path) = place();
        let mut journal = Journal::start(&folder, id(0)).expect("starts");
        journal.append(&record(1, 2_500_000)).expect("appends");
        let bytes = fs::read(&path).expect("reads");
        assert_eq!(heads(&folder), [1]);
        assert_eq!(journal.records().expect("its own").len(), 1);
        for changed in [140, 1_000_000, 1_500_000, 2_400_000, 2_500_000] {
            let mut bad = bytes.clone();
            bad[changed] ^= 1;
            fs::write(&path, bad).expect("writes");
            assert!(heads(&folder).is_empty(), "byte {changed}");
        }
    }

    #[test]
    fn news_is_what_another_wrote_or_put_in_its_place() {
        let (_temporary, folder, path) = place();
        let mut mine = Journal::start(&folder, id(0)).expect("starts");
        assert!(!mine.has_changed());
        mine.append(&record(1, 50)).expect("appends");
        assert!(!mine.has_changed());
        let mut theirs = Journal::open(&folder).expect("opens");
        let last = mine.end;
        theirs.append(&record(2, 50)).expect("appends");
        assert!(mine.has_changed());
        mine.refresh().expect("refreshes");
        assert!(!mine.has_changed());
        let file = fs::OpenOptions::new().write(true).open(&path);
        let file = file.expect("opens");
        // The beginning of a record that is still being written.
        file.write_all_at(&[1], mine.end).expect("writes");
        assert!(mine.has_changed());
        mine.refresh().expect("refreshes");
        assert!(!mine.has_changed());
        let first = theirs.last.1;
        file.write_all_at(&[!first[4]], last + 4).expect("writes");
        assert!(mine.has_changed(), "the last record was changed");
        file.write_all_at(&first, last).expect("writes");
        assert!(!mine.has_changed());
        let next = Journal::start(&folder, id(2)).expect("starts anew");
        assert!(mine.has_changed());
        assert_ne!(next.inode(), mine.inode());
        assert_eq!(next.as_now().expect("copies").inode(), next.inode());
    }

    #[test]
    fn a_checkpoint_is_due_past_a_size_and_waited_for_past_another() {
        let (_temporary, folder, _) = place();
        let mut journal = Journal::start(&folder, id(0)).expect("starts");
        for (end, expected) in [
            (HEADER_BYTES as u64, (false, false)),
            (CHECKPOINT_BYTES, (false, false)),
            (CHECKPOINT_BYTES + 1, (true, false)),
            (CHECKPOINT_BYTES_MAX, (true, false)),
            (CHECKPOINT_BYTES_MAX + 1, (true, true)),
        ] {
            journal.end = end;
            assert_eq!((journal.is_full(), journal.is_overfull()), expected);
        }
        assert_eq!(CHECKPOINT_BYTES, 2 << 20);
        assert_eq!(CHECKPOINT_BYTES_MAX, 16 << 20);
    }

    #[test]
    fn a_record_that_names_a_path_is_refused_as_damage_of_the_journal() {
        for named in ["x/../../../home/Documents", "", "..", "X", &"A".repeat(32)] {
            let (_temporary, folder, _) = place();
            let mut journal = Journal::start(&folder, id(0)).expect("starts");
            let mut astray = record(1, 5);
            astray.keys[0].table = KeyEntry::NEXT;
            astray.keys[0].bytes = named.into();
            journal.append(&astray).expect("appends");
            let refused = Journal::open(&folder).err().expect("refused");
            assert!(matches!(refused, Error::Damaged { .. }), "{named}");
        }
    }
}
