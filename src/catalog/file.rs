//! The file `catalog`: a sealed snapshot and, behind it, one small sealed step for each later
//! event. Nothing in it is trusted unless it opens, and it is never synced: history is the truth.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::hold::HoldRow;
use super::{Catalog, Decided, Memory, Step, Times, key};
use crate::aead::{self, Key};
use crate::digest::Digest;
use crate::disk;
use crate::id::{MemoryId, StoreId};
use crate::path::MemoryPath;
use crate::repository::object::ObjectId;

const MAGIC: &[u8; 16] = b"agekeep-catalog3";
/// Magic, store id, and a random id of this file that every block is bound to.
const HEADER_BYTES: usize = 48;
/// Steps may take up this much, or an eighth of the snapshot, before a new snapshot is due.
const STEPS_BYTES_MIN: u64 = 128 * 1024;
/// Largest piece of the file that is read at once, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 30;

/// The catalog file of an open store.
pub(crate) struct CatalogFile {
    path: PathBuf,
    store: StoreId,
    open: Option<Open>,
}

/// A file that was read, and how far.
struct Open {
    file: File,
    inode: u64,
    id: [u8; 16],
    blocks: u64,
    snapshot_end: u64,
    end: u64,
    /// How many events the file holds.
    events: u64,
}

#[derive(Serialize, Deserialize)]
struct Snapshot<'a> {
    decided: Decided,
    head: ObjectId,
    events: u64,
    versions: u64,
    times: TimesRow,
    swept: Option<(i64, u64)>,
    erased: Option<(u64, u64)>,
    marked: Vec<([u8; 16], u64)>,
    holds: Vec<HoldRow>,
    /// In the order of a listing.
    #[serde(borrow)]
    memories: Vec<MemoryRow<'a>>,
}

/// All in milliseconds.
#[derive(Serialize, Deserialize)]
struct TimesRow {
    last: i64,
    latest: i64,
    uneven: Option<i64>,
    believed: i64,
    leap: Option<(i64, i64)>,
}

#[derive(Serialize, Deserialize)]
struct MemoryRow<'a> {
    id: [u8; 16],
    path: &'a str,
    version: u64,
    bytes: u64,
    blob: [u8; 20],
    sealed: [u8; 32],
    before: Option<[u8; 20]>,
    accessed: i64,
}

impl CatalogFile {
    pub(crate) fn new(path: PathBuf, store: StoreId) -> Self {
        Self {
            path,
            store,
            open: None,
        }
    }

    /// Brings `catalog` up to what the file holds, as far as its blocks open and fit. What does
    /// not is left for history to tell.
    pub(crate) fn load(&mut self, catalog: &mut Catalog, names_key: &Key) {
        let replaced = match (fs::metadata(&self.path), &self.open) {
            (Ok(meta), Some(open)) => meta.ino() != open.inode,
            (Ok(_), None) => true,
            (Err(_), _) => {
                self.open = None;
                return;
            }
        };
        if replaced {
            self.open = self.read_snapshot(catalog, names_key);
        }
        if let Some(open) = &mut self.open {
            open.read_steps(self.store, catalog, names_key);
        }
    }

    fn read_snapshot(&self, catalog: &mut Catalog, names_key: &Key) -> Option<Open> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(&self.path)
            .or_else(|_| File::open(&self.path))
            .ok()?;
        let mut header = [0; HEADER_BYTES];
        file.read_exact_at(&mut header, 0).ok()?;
        if header[..16] != MAGIC[..] || header[16..32] != self.store.0 {
            return None;
        }
        let mut open = Open {
            inode: file.metadata().ok()?.ino(),
            id: header[32..].try_into().ok()?,
            file,
            blocks: 0,
            snapshot_end: 0,
            end: HEADER_BYTES as u64,
            events: 0,
        };
        let bytes = open.rest()?;
        let plain = open.next_block(&mut &bytes[..], self.store, names_key)?;
        open.snapshot_end = open.end;
        let snapshot: Snapshot = postcard::from_bytes(&plain).ok()?;
        open.events = snapshot.events;
        // A process that is ahead of the file keeps what it has.
        if snapshot.events > catalog.events {
            *catalog = snapshot.restore()?;
        }
        Some(open)
    }

    /// Adds what one event did. If the file misses an event before it or cannot be written, it is
    /// left alone: history tells the rest, and the next snapshot mends it.
    pub(crate) fn append(&mut self, step: &Step, names_key: &Key) {
        let store = self.store;
        let Some(open) = &mut self.open else { return };
        if open.events != step.number {
            self.open = None;
            return;
        }
        let plain = Zeroizing::new(postcard::to_stdvec(step).expect("memory to encode it in"));
        let block = block(names_key, &context(store, &open.id, open.blocks), &plain);
        if open.file.write_all_at(&block, open.end).is_ok() {
            open.end += block.len() as u64;
            open.blocks += 1;
            open.events += 1;
        }
    }

    /// Whether the steps have outgrown the snapshot, or there is no usable file.
    pub(crate) fn wants_snapshot(&self) -> bool {
        self.open.as_ref().is_none_or(|open| {
            open.end - open.snapshot_end > STEPS_BYTES_MIN.max(open.snapshot_end / 8)
        })
    }

    /// Writes a new file with everything in one snapshot.
    pub(crate) fn write_snapshot(&mut self, catalog: &Catalog, names_key: &Key) {
        self.open = self.try_write_snapshot(catalog, names_key).ok().flatten();
    }

    fn try_write_snapshot(&self, catalog: &Catalog, names_key: &Key) -> io::Result<Option<Open>> {
        let Some(plain) = to_snapshot(catalog) else {
            return Ok(None);
        };
        let id: [u8; 16] = aead::random();
        let mut bytes = [&MAGIC[..], &self.store.0, &id].concat();
        bytes.extend(block(names_key, &context(self.store, &id, 0), &plain));
        disk::replace(&self.path, &bytes, 0o600).map_err(io::Error::other)?;
        let file = OpenOptions::new().read(true).write(true).open(&self.path)?;
        Ok(Some(Open {
            inode: file.metadata()?.ino(),
            file,
            id,
            blocks: 1,
            snapshot_end: bytes.len() as u64,
            end: bytes.len() as u64,
            events: catalog.events,
        }))
    }
}

impl Open {
    /// Reads the steps that were added since, and folds in those the catalog does not have yet.
    fn read_steps(&mut self, store: StoreId, catalog: &mut Catalog, names_key: &Key) {
        let Some(bytes) = self.rest() else { return };
        let mut rest = &bytes[..];
        loop {
            let (end, blocks) = (self.end, self.blocks);
            let step = self
                .next_block(&mut rest, store, names_key)
                .and_then(|plain| postcard::from_bytes::<Step>(&plain).ok());
            let fits = step.is_some_and(|step| {
                step.number == self.events
                    && (step.number < catalog.events || catalog.apply(&step).is_ok())
            });
            if !fits {
                (self.end, self.blocks) = (end, blocks);
                return;
            }
            self.events += 1;
        }
    }

    /// Everything after what was read.
    fn rest(&self) -> Option<Vec<u8>> {
        let length = self.file.metadata().ok()?.len().checked_sub(self.end)?;
        let mut bytes = vec![0; usize::try_from(length.min(FILE_BYTES_MAX)).ok()?];
        self.file.read_exact_at(&mut bytes, self.end).ok()?;
        Some(bytes)
    }

    /// The next block; `None` where none opens.
    fn next_block(
        &mut self,
        rest: &mut &[u8],
        store: StoreId,
        names_key: &Key,
    ) -> Option<Zeroizing<Vec<u8>>> {
        let (length, tail) = rest.split_first_chunk()?;
        let length = u32::from_le_bytes(*length);
        let (sealed, tail) = tail.split_at_checked(length as usize)?;
        let plain = names_key.open(&context(store, &self.id, self.blocks), sealed)?;
        self.end += 4 + u64::from(length);
        self.blocks += 1;
        *rest = tail;
        Some(plain)
    }
}

impl<'a> Snapshot<'a> {
    fn of(catalog: &'a Catalog) -> Option<Self> {
        let row = |id: &MemoryId| {
            let memory = &catalog.memories[id];
            MemoryRow {
                id: id.0,
                path: memory.path.as_str(),
                version: memory.version,
                bytes: memory.bytes,
                blob: memory.blob.0,
                sealed: memory.sealed.0,
                before: memory.before.map(|blob| blob.0),
                accessed: memory.accessed.timestamp_millis(),
            }
        };
        Some(Self {
            decided: catalog.decided?,
            head: catalog.head?,
            events: catalog.events,
            versions: catalog.versions,
            times: catalog.times.to_row()?,
            swept: catalog
                .swept
                .map(|(time, event)| (time.timestamp_millis(), event)),
            erased: catalog.erased,
            marked: catalog.marked.iter().map(|(id, at)| (id.0, *at)).collect(),
            holds: catalog
                .holds
                .iter()
                .map(|(number, hold)| hold.to_row(*number))
                .collect(),
            memories: catalog.paths.values().map(row).collect(),
        })
    }

    fn restore(self) -> Option<Catalog> {
        let mut paths = Vec::with_capacity(self.memories.len());
        let mut memories = HashMap::with_capacity(self.memories.len());
        let mut bytes = 0;
        for row in self.memories {
            let memory = row.restore()?;
            bytes += memory.bytes;
            paths.push((key(&memory.path), memory.id));
            memories.insert(memory.id, memory);
        }
        let marked = self.marked.into_iter();
        let marked = marked.map(|(id, event)| (MemoryId(id), event));
        let holds = self.holds.into_iter().map(HoldRow::restore);
        Some(Catalog {
            head: Some(self.head),
            events: self.events,
            versions: self.versions,
            times: Times::from_row(&self.times)?,
            decided: Some(self.decided),
            swept: match self.swept {
                Some((millis, event)) => Some((DateTime::from_timestamp_millis(millis)?, event)),
                None => None,
            },
            erased: self.erased,
            marked: marked.collect(),
            holds: holds.collect::<Option<_>>()?,
            memories,
            paths: paths.into_iter().collect(),
            bytes,
        })
    }
}

impl Times {
    fn to_row(self) -> Option<TimesRow> {
        let millis = |time: DateTime<Utc>| time.timestamp_millis();
        Some(TimesRow {
            last: millis(self.last?),
            latest: millis(self.latest?),
            uneven: self.uneven.map(millis),
            believed: millis(self.believed?),
            leap: self.leap.map(|(from, to)| (millis(from), millis(to))),
        })
    }

    fn from_row(row: &TimesRow) -> Option<Self> {
        let time = |millis| DateTime::from_timestamp_millis(millis);
        Some(Self {
            last: Some(time(row.last)?),
            latest: Some(time(row.latest)?),
            uneven: match row.uneven {
                Some(millis) => Some(time(millis)?),
                None => None,
            },
            believed: Some(time(row.believed)?),
            leap: match row.leap {
                Some((from, to)) => Some((time(from)?, time(to)?)),
                None => None,
            },
        })
    }
}

impl MemoryRow<'_> {
    fn restore(self) -> Option<Memory> {
        Some(Memory {
            id: MemoryId(self.id),
            path: MemoryPath::from_canonical(self.path.to_owned()),
            version: self.version,
            bytes: self.bytes,
            blob: ObjectId(self.blob),
            sealed: Digest(self.sealed),
            before: self.before.map(ObjectId),
            accessed: DateTime::from_timestamp_millis(self.accessed)?,
        })
    }
}

/// A catalog as bytes that [`from_snapshot`] reads; to be sealed. `None` before the first event.
pub(crate) fn to_snapshot(catalog: &Catalog) -> Option<Zeroizing<Vec<u8>>> {
    let snapshot = Snapshot::of(catalog)?;
    let plain = postcard::to_stdvec(&snapshot).expect("memory to encode it in");
    Some(Zeroizing::new(plain))
}

/// The catalog that [`to_snapshot`] wrote.
pub(crate) fn from_snapshot(plain: &[u8]) -> Option<Catalog> {
    postcard::from_bytes::<Snapshot>(plain).ok()?.restore()
}

/// Blocks are bound to store, file and position: none can be swapped, repeated or moved.
fn context(store: StoreId, file: &[u8; 16], index: u64) -> Vec<u8> {
    [
        b"agekeep/1 catalog ".as_slice(),
        &store.0,
        file,
        &index.to_le_bytes(),
    ]
    .concat()
}

fn block(key: &Key, context: &[u8], plain: &[u8]) -> Vec<u8> {
    let sealed = key.seal(context, plain);
    let length = u32::try_from(sealed.len()).expect("far below 4 GiB");
    [&length.to_le_bytes()[..], &sealed].concat()
}
