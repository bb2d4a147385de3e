//! Reading a pack from any writer, with limits; an object is trusted only by its hash.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::{Decompress, FlushDecompress, Status};

use crate::disk::{self, File, FileExt, Folder, PackId};
use crate::id::ObjectId;
use crate::repository::pack::index::{Indexed, PackIndex, fault};
use crate::repository::pack::{
    BY_NAME, BY_OFFSET, CHAIN_BYTES_MAX, HEADER_BYTES, MAGIC, OBJECT_BYTES_MAX, TRAILER_BYTES,
    Type, VERSION, delta, parse_distance, parse_start,
};

/// Longest chain of deltas to a whole object; stock git makes none beyond 4095.
const DELTAS_MAX: usize = 5_000;
/// Longest start of an entry, in bytes: its size, and a distance or a name.
const START_BYTES: usize = 40;
/// Bytes of an entry that are first read; most entries are shorter.
const READ_BYTES: usize = 4096 + 512;
/// Most bytes that are reserved for an object before it is inflated.
const ROOM_BYTES: u64 = 1 << 20;
/// Cache size in bytes, for each of its two halves, and the largest object in it.
const RECENT_BYTES_MAX: usize = 4 * 1024 * 1024;
const RECENT_OBJECT_BYTES_MAX: usize = 256 * 1024;

/// The number of packs this process has opened.
static PACKS: AtomicU64 = AtomicU64::new(0);

/// A pack and its index, each opened on first use.
pub(in super::super) struct Pack {
    /// Unique in this process, even among packs of the same name.
    number: u64,
    folder: Folder,
    id: PackId,
    index: OnceCell<PackIndex>,
    file: OnceCell<(File, u64)>,
}

/// An object of a pack.
pub(in super::super) type PackedObject = (Type, Arc<Vec<u8>>);

/// The form of an entry: a whole object, or a delta.
enum EntryEncoding {
    Whole(Type),
    Delta { base: u64 },
}

/// The header of an entry, with the offset of its deflated bytes.
struct PackEntry {
    form: EntryEncoding,
    size: u64,
    data: u64,
}

impl Pack {
    pub(in super::super) fn at(folder: &Folder, id: PackId) -> Self {
        Self {
            number: PACKS.fetch_add(1, Ordering::Relaxed),
            folder: folder.clone(),
            id,
            index: OnceCell::new(),
            file: OnceCell::new(),
        }
    }

    fn index(&self) -> io::Result<&PackIndex> {
        if let Some(index) = self.index.get() {
            return Ok(index);
        }
        let index = PackIndex::open(&self.folder, self.id)?;
        Ok(self.index.get_or_init(|| index))
    }

    /// Returns the file and the end of its entries.
    fn file(&self) -> io::Result<(&File, u64)> {
        let (file, end) = if let Some(open) = self.file.get() {
            open
        } else {
            let open = open(&self.folder, self.id)?;
            self.file.get_or_init(|| open)
        };
        Ok((file, *end))
    }

    /// Reads the names of its objects, in order.
    pub(in super::super) fn names(&self) -> io::Result<Vec<ObjectId>> {
        self.index()?.names()
    }

    /// Reads its entries, in pack order.
    pub(in super::super) fn entries(&self) -> io::Result<Vec<Indexed>> {
        self.index()?.entries()
    }

    /// Reads the names that begin with these hexadecimal digits.
    pub(super) fn named(&self, digits: &str) -> io::Result<Vec<ObjectId>> {
        self.index()?.named(digits)
    }

    /// Finds the offset of an object.
    pub(in super::super) fn find(&self, id: ObjectId) -> io::Result<Option<u64>> {
        self.index()?.find(id)
    }

    /// Reads the raw entry, which ends at the next, if it is a whole blob and matches its CRC.
    pub(super) fn raw_blob(
        &self,
        entry: &Indexed,
        next: Option<u64>,
    ) -> io::Result<Option<Vec<u8>>> {
        let (start, _) = self.entry(entry.offset, &mut [0; START_BYTES])?;
        if !matches!(start.form, EntryEncoding::Whole(Type::Blob)) {
            return Ok(None);
        }
        let (file, end) = self.file()?;
        let length = next.unwrap_or(end).checked_sub(entry.offset);
        let length = length.filter(|length| *length <= OBJECT_BYTES_MAX);
        let length = length.ok_or_else(|| fault("its pack entry has no end"))?;
        let mut raw = vec![0; usize::try_from(length).expect("below the limit")];
        file.read_exact_at(&mut raw, entry.offset)?;
        Ok((crc32fast::hash(&raw) == entry.crc).then_some(raw))
    }

    /// Reads the object at an offset.
    pub(in super::super) fn read(
        &self,
        offset: u64,
        tools: &mut PackReadContext,
    ) -> io::Result<PackedObject> {
        let (mut deltas, mut delta_bytes) = (Vec::new(), 0);
        let mut at = offset;
        let (kind, mut bytes) = loop {
            if let Some(known) = tools.recent.find((self.number, at)) {
                break known;
            }
            let (entry, begun) = self.entry(at, &mut tools.begun)?;
            let inflated = self.inflate(&entry, begun, &mut tools.inflater)?;
            match entry.form {
                EntryEncoding::Whole(kind) => {
                    let found = (kind, Arc::new(inflated));
                    tools.recent.keep((self.number, at), &found);
                    break found;
                }
                EntryEncoding::Delta { base } => {
                    delta_bytes += inflated.len() as u64;
                    deltas.push((at, inflated));
                    at = base;
                }
            }
            if deltas.len() > DELTAS_MAX || delta_bytes > OBJECT_BYTES_MAX {
                return Err(fault("its pack entry goes back through too many others"));
            }
        };
        let sizes = deltas.iter().map(|(_, delta)| delta::size(delta));
        if sizes.fold(0, u64::saturating_add) > CHAIN_BYTES_MAX {
            return Err(fault("its pack entry is made of more than any object is"));
        }
        while let Some((at, delta)) = deltas.pop() {
            let made = delta::apply(&bytes, &delta, OBJECT_BYTES_MAX);
            let made = made.ok_or_else(|| fault("its pack entry does not fit its base"))?;
            bytes = Arc::new(made);
            tools
                .recent
                .keep((self.number, at), &(kind, Arc::clone(&bytes)));
        }
        Ok((kind, bytes))
    }

    /// Reads the start of an entry, and in the same buffer the first of its deflated bytes.
    fn entry<'a>(&self, at: u64, buffer: &'a mut [u8]) -> io::Result<(PackEntry, &'a [u8])> {
        let (file, end) = self.file()?;
        let torn = || fault("its pack entry is torn");
        let room = end
            .checked_sub(at)
            .filter(|room| *room > 0)
            .ok_or_else(torn)?;
        let room = usize::try_from(room).map_or(buffer.len(), |room| room.min(buffer.len()));
        let start = &mut buffer[..room];
        file.read_exact_at(start, at)?;
        let (code, size, used) = parse_start(start).ok_or_else(torn)?;
        let rest = &start[used..];
        let (form, used) = match code {
            BY_OFFSET => {
                let (distance, more) = parse_distance(rest).ok_or_else(torn)?;
                let base = at.checked_sub(distance).filter(|_| distance > 0);
                let base = base.ok_or_else(torn)?;
                (EntryEncoding::Delta { base }, used + more)
            }
            BY_NAME => {
                let name = rest.first_chunk().ok_or_else(torn)?;
                let base = self.find(ObjectId(*name))?;
                let base = base.ok_or_else(|| fault("the base of its pack entry is missing"))?;
                (EntryEncoding::Delta { base }, used + 20)
            }
            code => (
                EntryEncoding::Whole(Type::of_code(code).ok_or_else(torn)?),
                used,
            ),
        };
        let data = at + used as u64;
        Ok((PackEntry { form, size, data }, &start[used..]))
    }

    /// Inflates an entry whose first bytes were read.
    fn inflate(
        &self,
        entry: &PackEntry,
        begun: &[u8],
        inflater: &mut Decompress,
    ) -> io::Result<Vec<u8>> {
        if entry.size > OBJECT_BYTES_MAX {
            return Err(fault("its pack entry is larger than any object of a store"));
        }
        let (file, end) = self.file()?;
        inflater.reset(true);
        // One byte more: zlib reports the end of a stream only if there is room for more output.
        let room = entry.size.min(ROOM_BYTES) + 1;
        let mut out = Vec::with_capacity(usize::try_from(room).expect("not much"));
        let (mut more, mut piece) = (Vec::new(), begun);
        let mut at = entry.data;
        loop {
            let (read, made) = (inflater.total_in(), inflater.total_out());
            let done = inflater.decompress_vec(piece, &mut out, FlushDecompress::None);
            if done.map_err(|_| not_inflated())? == Status::StreamEnd {
                let whole = inflater.total_out() == entry.size;
                return whole.then_some(out).ok_or_else(not_inflated);
            }
            let used = inflater.total_in() - read;
            at += used;
            let stuck = used == 0 && inflater.total_out() == made;
            if inflater.total_out() > entry.size || (stuck && out.len() < out.capacity()) {
                return Err(not_inflated());
            }
            if out.len() == out.capacity() {
                let missing = entry.size + 1 - inflater.total_out().min(entry.size);
                let more = missing.min(out.len() as u64 + 1);
                out.reserve(usize::try_from(more).expect("below the limit"));
            }
            let room = usize::try_from(end.saturating_sub(at)).unwrap_or(usize::MAX);
            more.resize(room.min(16 * READ_BYTES), 0);
            file.read_exact_at(&mut more, at)?;
            piece = &more;
        }
    }
}

fn not_inflated() -> io::Error {
    fault("its pack entry does not inflate to its size")
}

fn open(folder: &Folder, id: PackId) -> io::Result<(File, u64)> {
    let file = folder.open_read(&id.pack())?;
    let length = disk::length(&file)?;
    let mut header = [0; HEADER_BYTES];
    file.read_exact_at(&mut header, 0)?;
    let end = length.checked_sub(TRAILER_BYTES as u64);
    let end = end.filter(|_| header[..4] == *MAGIC && header[4..8] == VERSION.to_be_bytes());
    let end = end.ok_or_else(|| fault("it is no pack"))?;
    Ok((file, end))
}

/// Reusable state for reading packs.
pub(in super::super) struct PackReadContext {
    inflater: Decompress,
    /// Holds the first bytes of an entry.
    begun: Vec<u8>,
    recent: ObjectCache,
}

impl PackReadContext {
    pub(in super::super) fn new() -> Self {
        Self {
            inflater: Decompress::new(true),
            begun: vec![0; READ_BYTES],
            recent: ObjectCache::default(),
        }
    }
}

/// The number of an open pack, and the offset of an object in it.
type PackOffset = (u64, u64);

/// A cache of recently read trees and commits, which are bases of others. It has a newer and an
/// older half; an object of the older half stays only if it is read again.
#[derive(Default)]
struct ObjectCache {
    newer: HashMap<PackOffset, PackedObject>,
    older: HashMap<PackOffset, PackedObject>,
    newer_bytes: usize,
}

impl ObjectCache {
    fn find(&mut self, place: PackOffset) -> Option<PackedObject> {
        if let Some(found) = self.newer.get(&place) {
            return Some(found.clone());
        }
        let found = self.older.remove(&place)?;
        self.keep(place, &found);
        Some(found)
    }

    fn keep(&mut self, place: PackOffset, found: &PackedObject) {
        let bytes = found.1.len();
        if found.0 == Type::Blob || bytes > RECENT_OBJECT_BYTES_MAX {
            return;
        }
        if self.newer_bytes + bytes > RECENT_BYTES_MAX {
            self.older = std::mem::take(&mut self.newer);
            self.newer_bytes = 0;
        }
        self.newer_bytes += bytes;
        self.newer.insert(place, found.clone());
    }
}
