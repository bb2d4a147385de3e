//! The file `timeline`: sealed blocks of events, one after another. A block is trusted only if it
//! opens and continues the one before it. The file is never synced: history is the truth.
//!
//! A command adds a block of its one event. Many such blocks are joined into one.

use std::io;

use chrono::{DateTime, Utc};
use zeroize::Zeroizing;

use crate::crypto::aead::{self, Key};
use crate::disk::{self, File, FileExt, Folder, Name};
use crate::id::{self, ObjectId, StoreId};
use crate::state::timeline::Timeline;
use crate::state::timeline::block::Block;

const MAGIC: &[u8; 16] = b"agekeep-timelin3";
/// Bytes of the header: magic, store id, random file id, generation, and the start of the single
/// events: their offset, first number, and the commit before them.
const HEADER_BYTES: usize = 92;
/// Single events joined into one block: few enough to write at once, and enough that sealing and
/// the string table repeated in each block cost next to nothing per event.
const BLOCK_EVENTS: u64 = 2_048;
/// The most events in one block. A larger one would be read into newly allocated memory each time.
const BLOCK_EVENTS_MAX: u64 = 8_192;
/// The approximate bytes per event in a file of full blocks.
const EVENT_BYTES: u64 = 38;
/// Compact beyond this many partial blocks; each repeats its string table and memory ids.
const BLOCKS_MANY: u64 = 8;
/// The fewest bytes of a sealed block.
const BLOCK_BYTES_MIN: usize = aead::OVERHEAD + 8;
/// The most bytes of a block with its prefix: a full block whose events each name a hundred
/// memories.
const BLOCK_WHOLE_BYTES_MAX: u64 = 1 << 28;
/// Bytes read at once, unless a block is longer.
const READ_BYTES: u64 = 1 << 22;
/// The most events for which room is reserved before they are read.
const ROOM_EVENTS: u64 = 1 << 20;

/// The timeline file of an open store. Every method requires the store's lock.
pub(crate) struct TimelineFile {
    folder: Folder,
    name: Name,
    store: StoreId,
    open: Option<OpenTimeline>,
}

/// An open file and how far it was read.
struct OpenTimeline {
    file: File,
    inode: u64,
    header: TimelineHeader,
    /// The offset of the next block.
    end: u64,
    /// The number of events in the file.
    events: u64,
    /// The commit of the last event in the file.
    head: Option<ObjectId>,
    /// The number of multi-event blocks read.
    blocks: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct TimelineHeader {
    id: [u8; 16],
    /// A counter that rises each time single events become one block.
    generation: u64,
    singles_at: u64,
    singles_from: u64,
    /// The commit of the event before them; zeros if there is none.
    singles_after: [u8; 20],
}

/// The unencrypted prefix of a sealed block: its length, its number of events, and the commit and
/// time of the last, as in the commit. The sealed block repeats all but the length.
struct Prefix {
    length: usize,
    events: u64,
    head: ObjectId,
    /// Seconds after 1970.
    seconds: i64,
}

const PREFIX_BYTES: usize = 36;

/// The event that a piece of the timeline is searched for.
#[derive(Clone, Copy)]
pub(crate) enum TimelineQuery {
    Event(u64),
    /// The event with this number, if it has this commit.
    Commit(u64, ObjectId),
    /// The last event at or before a time, where no later event has an earlier time.
    Time(DateTime<Utc>),
}

impl Prefix {
    /// Splits a prefix off some bytes; `None` if they hold no valid one.
    fn split(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (length, rest) = bytes.split_first_chunk()?;
        let (events, rest) = rest.split_first_chunk()?;
        let (head, rest) = rest.split_first_chunk()?;
        let (seconds, rest) = rest.split_first_chunk()?;
        let prefix = Self {
            head: ObjectId(*head),
            seconds: i64::from_le_bytes(*seconds),
            length: u32::from_le_bytes(*length) as usize,
            events: u64::from(u32::from_le_bytes(*events)),
        };
        (prefix.length >= BLOCK_BYTES_MIN && prefix.events > 0).then_some((prefix, rest))
    }

    fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let length = u32::try_from(self.length).map_err(io::Error::other)?;
        let events = u32::try_from(self.events).map_err(io::Error::other)?;
        Ok([
            &length.to_le_bytes()[..],
            &events.to_le_bytes(),
            &self.head.0,
            &self.seconds.to_le_bytes(),
        ]
        .concat())
    }

    /// Returns the bytes of the block with its prefix.
    fn whole(&self) -> u64 {
        (PREFIX_BYTES + self.length) as u64
    }
}

impl TimelineFile {
    /// Returns the file in a store's folder.
    pub(crate) fn new(folder: &Folder, name: Name, store: StoreId) -> Self {
        Self {
            folder: folder.clone(),
            name,
            store,
            open: None,
        }
    }

    /// Moves to another folder and uses the file there.
    pub(crate) fn reopen_in(&mut self, folder: &Folder) {
        *self = Self::new(folder, self.name.clone(), self.store);
    }

    /// Reads the whole file, as far as its blocks open and follow one another.
    pub(crate) fn load(&mut self, key: &Key) -> Timeline {
        let mut timeline = Timeline::default();
        self.open = OpenTimeline::at(&self.folder, &self.name, self.store);
        if let Some(open) = &mut self.open {
            let events = disk::length(&open.file).unwrap_or(0) / EVENT_BYTES;
            timeline.reserve(usize::try_from(events.min(ROOM_EVENTS)).unwrap_or(0));
            open.read_to(u64::MAX, self.store, key, |block| timeline.extend(block));
        }
        timeline
    }

    /// Returns a piece of the timeline around an event, and the event's number, if the file is of
    /// the history that ends with event `newest` at `head`. A search by time uses the unencrypted
    /// prefixes to find the block, and the decrypted piece to confirm it.
    pub(crate) fn load_around(
        &self,
        sought: TimelineQuery,
        end: (u64, ObjectId),
        key: &Key,
    ) -> Option<(Timeline, u64)> {
        let newest = end.0;
        let mut open = self.open_at(end, key)?;
        // Include at least half a block before the event: most versions asked for were written
        // within it.
        let (from, to) = match sought {
            TimelineQuery::Event(event) | TimelineQuery::Commit(event, _) => (event, event),
            TimelineQuery::Time(time) => open.block_beyond(time)?,
        };
        let from = from.saturating_sub(BLOCK_EVENTS_MAX / 2);
        let piece = open.piece(from, to.min(newest), self.store, key)?;
        let event = match sought {
            TimelineQuery::Event(event) => Some(event),
            TimelineQuery::Commit(event, commit) => piece
                .moment(event)
                .filter(|at| at.commit == commit)
                .map(|_| event),
            // Unless the next event is in the piece too, a later event could be the right one.
            TimelineQuery::Time(time) => piece
                .at_time(time)
                .filter(|event| *event == newest || event + 1 < piece.len()),
        };
        event.map(|event| (piece, event))
    }

    /// Passes the whole file to `take`, a block at a time, and returns true, if it is of the history
    /// that ends with event `newest` at `head`. After `false` what was taken does not count.
    pub(crate) fn each_block(
        &self,
        end: (u64, ObjectId),
        key: &Key,
        mut take: impl FnMut(&Timeline),
    ) -> bool {
        let Some(mut open) = self.open_at(end, key) else {
            return false;
        };
        (open.end, open.events) = (HEADER_BYTES as u64, 0);
        open.read_to(u64::MAX, self.store, key, |block| {
            let mut piece = Timeline::from(block.first);
            let fits = piece.extend(block);
            if fits {
                take(&piece);
            }
            fits
        });
        open.events == end.0 + 1
    }

    /// Opens the file if it is of the history that ends with event `newest` at `head`.
    fn open_at(&self, (newest, head): (u64, ObjectId), key: &Key) -> Option<OpenTimeline> {
        let mut open = OpenTimeline::at(&self.folder, &self.name, self.store)?;
        let last = open.block_with(newest, self.store, key)?;
        (last.len() == newest + 1 && last.head() == Some(head)).then_some(open)
    }

    /// Tells whether the loaded file should be rewritten in fewer blocks.
    pub(crate) fn wants_joining(&self) -> bool {
        let open = self.open.as_ref();
        open.is_some_and(|open| open.blocks > open.events / BLOCK_EVENTS_MAX + BLOCKS_MANY)
    }

    /// Tells whether the file's next event is `event`, whose commit comes after `parent`. After a
    /// rollback, the file can be of another history of the same length. Counts events that other
    /// processes added.
    pub(crate) fn is_next(&mut self, event: u64, parent: ObjectId) -> bool {
        let same = match (&self.open, self.folder.inode(&self.name)) {
            (Some(open), Some(inode)) => {
                open.inode == inode
                    && TimelineHeader::read(&open.file, self.store)
                        .is_some_and(|now| now == open.header)
            }
            _ => false,
        };
        if !same {
            self.open = OpenTimeline::at(&self.folder, &self.name, self.store);
            if let Some(open) = &mut self.open {
                open.skip_blocks();
            }
        }
        let Some(open) = &mut self.open else {
            return false;
        };
        if open.events < event {
            open.count_on();
        }
        open.events == event && open.head == Some(parent)
    }

    /// Adds the newest events of a timeline from number `from` on, which must be the file's next.
    /// History supplies what cannot be written.
    pub(crate) fn append(&mut self, timeline: &Timeline, from: u64, key: &Key) {
        if from == 0 {
            self.open = OpenTimeline::create(&self.folder, &self.name, self.store).ok();
        }
        let Some(open) = &mut self.open else { return };
        if open.events != from || open.append(self.store, timeline, key).is_err() {
            self.open = None;
        }
    }

    /// Adds an event that was just recorded, and joins the single events if there are many.
    pub(crate) fn append_one(&mut self, single: &Timeline, number: u64, key: &Key) {
        let Some(open) = &mut self.open else { return };
        let added = open.append_block(self.store, &Block::of(single, 0, number), key);
        let joined = added.and_then(|()| {
            if open.events - open.header.singles_from < BLOCK_EVENTS {
                return Ok(());
            }
            open.join_singles(self.store, key)
        });
        if joined.is_err() {
            self.open = None;
        }
    }
}

impl TimelineHeader {
    fn read(file: &File, store: StoreId) -> Option<Self> {
        let mut bytes = [0; HEADER_BYTES];
        file.read_exact_at(&mut bytes, 0).ok()?;
        if bytes[..16] != MAGIC[..] || bytes[16..32] != store.0 {
            return None;
        }
        let number = |at: usize| {
            let eight = bytes[at..at + 8].try_into().expect("eight bytes");
            u64::from_le_bytes(eight)
        };
        Some(Self {
            id: bytes[32..48].try_into().expect("sixteen bytes"),
            generation: number(48),
            singles_at: number(56),
            singles_from: number(64),
            singles_after: bytes[72..].try_into().expect("twenty bytes"),
        })
    }

    fn write(&self, file: &File, store: StoreId) -> io::Result<()> {
        let bytes = [
            &MAGIC[..],
            &store.0,
            &self.id,
            &self.generation.to_le_bytes(),
            &self.singles_at.to_le_bytes(),
            &self.singles_from.to_le_bytes(),
            &self.singles_after,
        ]
        .concat();
        file.write_all_at(&bytes, 0)
    }

    /// Returns a block's associated data: store, file, offset and first event, so that no block can
    /// be swapped or moved.
    fn context(&self, store: StoreId, at: u64, first: u64) -> Vec<u8> {
        [
            b"agekeep/1 timeline ".as_slice(),
            &store.0,
            &self.id,
            &at.to_le_bytes(),
            &first.to_le_bytes(),
        ]
        .concat()
    }
}

impl OpenTimeline {
    fn at(folder: &Folder, name: &Name, store: StoreId) -> Option<Self> {
        let (file, _) = folder.open_write_or_read(name).ok()?;
        let header = TimelineHeader::read(&file, store)?;
        Self::new(file, header).ok()
    }

    fn new(file: File, header: TimelineHeader) -> io::Result<Self> {
        Ok(Self {
            inode: disk::inode(&file)?,
            file,
            header,
            end: HEADER_BYTES as u64,
            events: 0,
            head: None,
            blocks: 0,
        })
    }

    fn create(folder: &Folder, name: &Name, store: StoreId) -> io::Result<Self> {
        let header = TimelineHeader {
            id: id::random(),
            generation: 0,
            singles_at: HEADER_BYTES as u64,
            singles_from: 0,
            singles_after: [0; 20],
        };
        let aside = Name::new_temporary();
        let file = folder.create_new(&aside, 0o600)?;
        header
            .write(&file, store)
            .and_then(|()| folder.rename(&aside, name))
            .inspect_err(|_| drop(folder.remove(&aside)))?;
        Self::new(file, header)
    }

    /// Moves to where the header says the single events begin. If the header is wrong, nothing from
    /// there on opens, and the file is read from its beginning the next time history is needed.
    fn skip_blocks(&mut self) {
        self.end = self.header.singles_at;
        self.events = self.header.singles_from;
        self.head = (self.events > 0).then_some(ObjectId(self.header.singles_after));
    }

    /// Records in the header that single events begin here.
    fn begin_singles(&mut self, store: StoreId) -> io::Result<()> {
        self.header.generation += 1;
        self.header.singles_at = self.end;
        self.header.singles_from = self.events;
        self.header.singles_after = self.head.map_or([0; 20], |head| head.0);
        self.header.write(&self.file, store)
    }

    /// Moves past a block.
    fn advance(&mut self, prefix: &Prefix) {
        self.end += prefix.whole();
        self.events += prefix.events;
        self.head = Some(prefix.head);
    }

    /// Counts the single events from where reading ended, without opening them. If one does not
    /// open later, reading stops there and history supplies the rest.
    fn count_on(&mut self) {
        while let Some(bytes) = self.read_ahead(u64::MAX) {
            let mut rest = &bytes[..];
            while let Some((prefix, tail)) = Prefix::split(rest)
                && let Some(tail) = tail.get(prefix.length..)
            {
                self.advance(&prefix);
                rest = tail;
            }
        }
    }

    /// Returns the piece of the timeline from the block with event `from` to the block with `to`.
    /// The single events count as one block.
    fn piece(&mut self, from: u64, to: u64, store: StoreId, key: &Key) -> Option<Timeline> {
        let (begin, first) = self.block_of(from)?;
        let end = if to >= self.header.singles_from {
            u64::MAX
        } else {
            let (last, _) = self.block_of(to)?;
            last + self.prefix_at(last)?.whole()
        };
        (self.end, self.events) = (begin, first);
        let mut piece = Timeline::from(first);
        self.read_to(end, store, key, |block| piece.extend(block));
        piece.row(to).is_some().then_some(piece)
    }

    /// Returns the block with an event, also if it is a single event.
    fn block_with(&mut self, event: u64, store: StoreId, key: &Key) -> Option<Timeline> {
        (self.end, self.events) = self.block_of(event)?;
        loop {
            let bytes = self.read_ahead(u64::MAX)?;
            let mut rest = &bytes[..];
            while let Some((prefix, tail)) = Prefix::split(rest)
                && let Some(tail) = tail.get(prefix.length..)
            {
                if event < self.events + prefix.events {
                    let mut found = Timeline::from(self.events);
                    let end = self.end + prefix.whole();
                    self.read_to(end, store, key, |block| found.extend(block));
                    return found.row(event).is_some().then_some(found);
                }
                self.advance(&prefix);
                rest = tail;
            }
        }
    }

    /// Reads ahead up to `end`: `READ_BYTES`, or one longer block. `None` if there is no whole
    /// block.
    fn read_ahead(&self, end: u64) -> Option<Vec<u8>> {
        let whole = self.prefix_at(self.end)?.whole();
        let left = disk::length(&self.file)
            .ok()?
            .min(end)
            .checked_sub(self.end)?;
        if whole > left.min(BLOCK_WHOLE_BYTES_MAX) {
            return None;
        }
        let length = whole.max(READ_BYTES).min(left);
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        self.file.read_exact_at(&mut bytes, self.end).ok()?;
        Some(bytes)
    }

    /// Returns the offset and first event of the block with an event. The single events count as
    /// one block.
    fn block_of(&self, event: u64) -> Option<(u64, u64)> {
        if event >= self.header.singles_from {
            return Some((self.header.singles_at, self.header.singles_from));
        }
        let (mut at, mut first) = (HEADER_BYTES as u64, 0);
        loop {
            let prefix = self.prefix_at(at)?;
            if event < first + prefix.events {
                return Some((at, first));
            }
            at += prefix.whole();
            first += prefix.events;
        }
    }

    /// Returns the first and last event of the first block that goes beyond a time.
    fn block_beyond(&self, time: DateTime<Utc>) -> Option<(u64, u64)> {
        let (mut at, mut first) = (HEADER_BYTES as u64, 0);
        while at < self.header.singles_at {
            let prefix = self.prefix_at(at)?;
            if prefix.seconds > time.timestamp() {
                return Some((first, first + prefix.events - 1));
            }
            at += prefix.whole();
            first += prefix.events;
        }
        Some((first, u64::MAX))
    }

    fn prefix_at(&self, at: u64) -> Option<Prefix> {
        let mut bytes = [0; PREFIX_BYTES];
        self.file.read_exact_at(&mut bytes, at).ok()?;
        Some(Prefix::split(&bytes)?.0)
    }

    /// Reads blocks from where reading ended up to offset `end`, and hands each to `take` until one
    /// does not fit.
    fn read_to(
        &mut self,
        end: u64,
        store: StoreId,
        key: &Key,
        mut take: impl FnMut(&Block<'_>) -> bool,
    ) {
        let mut before = None;
        while before != Some(self.end)
            && let Some(bytes) = self.read_ahead(end)
        {
            before = Some(self.end);
            self.read_blocks(&bytes, store, key, &mut take);
        }
    }

    fn read_blocks(
        &mut self,
        bytes: &[u8],
        store: StoreId,
        key: &Key,
        mut take: impl FnMut(&Block<'_>) -> bool,
    ) {
        let mut rest = bytes;
        while let Some((prefix, tail)) = Prefix::split(rest) {
            let Some((sealed, tail)) = tail.split_at_checked(prefix.length) else {
                return;
            };
            let context = self.header.context(store, self.end, self.events);
            let Some(plain) = key.open(&context, sealed) else {
                return;
            };
            let Ok(block) = postcard::from_bytes::<Block<'_>>(&plain) else {
                return;
            };
            let fits = block.first == self.events
                && block.rows.len() as u64 == prefix.events
                && block.end() == Some((prefix.head, prefix.seconds));
            if !fits || !take(&block) {
                return;
            }
            self.advance(&prefix);
            self.blocks += u64::from(prefix.events > 1);
            rest = tail;
        }
    }

    /// Adds the events of a timeline that the file lacks, in large blocks.
    fn append(&mut self, store: StoreId, timeline: &Timeline, key: &Key) -> io::Result<()> {
        while self.events < timeline.len() {
            let to = (self.events + BLOCK_EVENTS_MAX).min(timeline.len());
            let block = Block::of_range(timeline, self.events, to);
            self.append_block(store, &block, key)?;
        }
        self.begin_singles(store)
    }

    fn append_block(&mut self, store: StoreId, block: &Block<'_>, key: &Key) -> io::Result<()> {
        let plain = Zeroizing::new(postcard::to_stdvec(block).expect("memory to encode it in"));
        let sealed = key.seal(&self.header.context(store, self.end, block.first), &plain);
        let (head, seconds) = block.end().ok_or(io::ErrorKind::InvalidInput)?;
        let prefix = Prefix {
            length: sealed.len(),
            events: block.rows.len() as u64,
            head,
            seconds,
        };
        let bytes = [&prefix.to_bytes()?[..], &sealed].concat();
        // Cut off a killed process's leftovers, which would be taken for the next block.
        if disk::length(&self.file)? > self.end {
            self.file.set_len(self.end)?;
        }
        self.file.write_all_at(&bytes, self.end)?;
        self.advance(&prefix);
        Ok(())
    }

    /// Joins the single events into one block. A crash midway leaves blocks that do not open; their
    /// events are read from history.
    fn join_singles(&mut self, store: StoreId, key: &Key) -> io::Result<()> {
        let first = self.header.singles_from;
        let mut joined = Timeline::from(first);
        self.skip_blocks();
        self.read_to(u64::MAX, store, key, |block| joined.extend(block));
        self.skip_blocks();
        let block = Block::of(&joined, 0, first);
        self.append_block(store, &block, key)?;
        self.begin_singles(store)
    }
}
