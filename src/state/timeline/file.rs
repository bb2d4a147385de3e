//! The file `timeline`: sealed blocks of events, one behind the other. Nothing in it is trusted
//! unless it opens and follows on what is before it, and it is never synced: history is the truth.
//!
//! A command adds a block of its one event. When there are many such, they become one block.

use std::io;

use chrono::{DateTime, Utc};
use zeroize::Zeroizing;

use super::Timeline;
use super::block::Block;
use crate::crypto::aead::{self, Key};
use crate::disk::{self, File, FileExt, Folder, Name};
use crate::id::ObjectId;
use crate::id::{self, StoreId};

const MAGIC: &[u8; 16] = b"agekeep-timelin2";
/// Magic, store id, a random id of this file, its generation, and where its single events begin:
/// the byte, the number, and the commit before.
const HEADER_BYTES: usize = 92;
/// As many single events become one block: few enough to write at once, enough that what sealing
/// adds to each, and the words that are said again in each block, are next to nothing.
const BLOCK_EVENTS: u64 = 2_048;
/// Most events of one block: more would be read into memory that is new each time.
const BLOCK_EVENTS_MAX: u64 = 8_192;
/// Bytes that an event has in a file of full blocks, about.
const EVENT_BYTES: u64 = 38;
/// More blocks than this, beyond those that are full, are worth making few of them: each says the
/// words and memories anew that are in it.
const BLOCKS_MANY: u64 = 8;
/// Fewest bytes of a sealed block.
const BLOCK_BYTES_MIN: usize = aead::OVERHEAD + 8;
/// Most bytes of one block with its prefix: so many events that each name a hundred memories.
const BLOCK_WHOLE_BYTES_MAX: u64 = 1 << 28;
/// Bytes that are read at once, where a block is not longer.
const READ_BYTES: u64 = 1 << 22;
/// Most events that room is made for before they are read.
const ROOM_EVENTS: u64 = 1 << 20;

/// The timeline file of an open store. Every method is called with the store's lock held.
pub(crate) struct TimelineFile {
    folder: Folder,
    name: Name,
    store: StoreId,
    open: Option<Open>,
}

/// A file that was read, and how far.
struct Open {
    file: File,
    inode: u64,
    header: Header,
    /// Where the next block goes.
    end: u64,
    /// How many events are in the file.
    events: u64,
    /// The commit of the last of them.
    head: Option<ObjectId>,
    /// How many blocks of several events were read.
    blocks: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Header {
    id: [u8; 16],
    /// One more each time single events become one block.
    generation: u64,
    singles_at: u64,
    singles_from: u64,
    /// The commit of the event before them; zeros if there is none.
    singles_after: [u8; 20],
}

/// What stands before a sealed block, in the clear: its length, how many events are in it, and the
/// commit of the last with its time, as the commit has it. The block says the same.
struct Prefix {
    length: usize,
    events: u64,
    head: ObjectId,
    /// Seconds after 1970.
    seconds: i64,
}

const PREFIX_BYTES: usize = 36;

/// What event a piece of the timeline is asked for.
#[derive(Clone, Copy)]
pub(crate) enum Sought {
    Event(u64),
    /// An event that has this commit if it is of this history.
    Commit(u64, ObjectId),
    /// The last event at or before a time, after which none that is later has an earlier time.
    Time(DateTime<Utc>),
}

impl Prefix {
    /// Reads the prefix at the beginning of some bytes; `None` if it can be none.
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

    /// Bytes of the block with its prefix.
    fn whole(&self) -> u64 {
        (PREFIX_BYTES + self.length) as u64
    }
}

impl TimelineFile {
    /// The file in a store's folder.
    pub(crate) fn new(folder: &Folder, name: Name, store: StoreId) -> Self {
        Self {
            folder: folder.clone(),
            name,
            store,
            open: None,
        }
    }

    /// Goes on in another folder, with what is there.
    pub(crate) fn follow(&mut self, folder: &Folder) {
        *self = Self::new(folder, self.name.clone(), self.store);
    }

    /// Everything the file holds, as far as its blocks open and follow one another.
    pub(crate) fn load(&mut self, key: &Key) -> Timeline {
        let mut timeline = Timeline::default();
        self.open = Open::at(&self.folder, &self.name, self.store)
            .ok()
            .flatten();
        if let Some(open) = &mut self.open {
            let events = disk::length(&open.file).unwrap_or(0) / EVENT_BYTES;
            timeline.reserve(usize::try_from(events.min(ROOM_EVENTS)).unwrap_or(0));
            open.read_on(self.store, key, |block| timeline.extend(block));
        }
        timeline
    }

    /// A piece of the timeline around an event, and the event's number, if the file is of the
    /// history that ends with event `newest` at `head`. Where it is sought by its time, the clear
    /// parts of the file say where to look, and the piece shows whether that is so.
    pub(crate) fn around(
        &self,
        sought: Sought,
        (newest, head): (u64, ObjectId),
        key: &Key,
    ) -> Option<(Timeline, u64)> {
        let mut open = Open::at(&self.folder, &self.name, self.store)
            .ok()
            .flatten()?;
        let last = open.block_with(newest, self.store, key)?;
        if last.len() != newest + 1 || last.head() != Some(head) {
            return None;
        }
        // Half a block before it at least: most of what is asked for was written within that.
        let (from, to) = match sought {
            Sought::Event(event) | Sought::Commit(event, _) => (event, event),
            Sought::Time(time) => open.block_beyond(time)?,
        };
        let from = from.saturating_sub(BLOCK_EVENTS_MAX / 2);
        let piece = open.piece(from, to.min(newest), self.store, key)?;
        let event = match sought {
            Sought::Event(event) => Some(event),
            Sought::Commit(event, commit) => piece
                .moment(event)
                .filter(|at| at.commit == commit)
                .map(|_| event),
            // Without the event after it, it could be a later one.
            Sought::Time(time) => piece
                .at_time(time)
                .filter(|event| *event == newest || event + 1 < piece.len()),
        };
        event.map(|event| (piece, event))
    }

    /// Whether what was loaded is worth being written anew, in fewer blocks.
    pub(crate) fn wants_joining(&self) -> bool {
        let open = self.open.as_ref();
        open.is_some_and(|open| open.blocks > open.events / BLOCK_EVENTS_MAX + BLOCKS_MANY)
    }

    /// Whether the next event the file takes is this one, whose commit comes after `parent`: where
    /// history was turned back, the file can be of another one that is as long. Follows what other
    /// processes added.
    pub(crate) fn is_next(&mut self, event: u64, parent: ObjectId) -> bool {
        let same = match (&self.open, self.folder.inode(&self.name)) {
            (Some(open), Some(inode)) => {
                open.inode == inode
                    && Header::read(&open.file, self.store).is_some_and(|now| now == open.header)
            }
            _ => false,
        };
        if !same {
            self.open = Open::at(&self.folder, &self.name, self.store)
                .ok()
                .flatten();
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

    /// Adds the newest events of a timeline, from number `from` on, which is the file's next. What
    /// cannot be written is left for history to tell.
    pub(crate) fn append(&mut self, timeline: &Timeline, from: u64, key: &Key) {
        if from == 0 {
            self.open = Open::create(&self.folder, &self.name, self.store).ok();
        }
        let Some(open) = &mut self.open else { return };
        if open.events != from || open.append(self.store, timeline, key).is_err() {
            self.open = None;
        }
    }

    /// Adds one event that was just recorded, and now and then makes one block of many.
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

impl Header {
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

    /// Blocks are bound to store, file, position and first event: none can be swapped or moved.
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

impl Open {
    fn at(folder: &Folder, name: &Name, store: StoreId) -> io::Result<Option<Self>> {
        let (file, _) = folder.open_write_or_read(name)?;
        let inode = disk::inode(&file)?;
        Ok(Header::read(&file, store).map(|header| Self {
            file,
            inode,
            header,
            end: HEADER_BYTES as u64,
            events: 0,
            head: None,
            blocks: 0,
        }))
    }

    fn create(folder: &Folder, name: &Name, store: StoreId) -> io::Result<Self> {
        let header = Header {
            id: id::random(),
            generation: 0,
            singles_at: HEADER_BYTES as u64,
            singles_from: 0,
            singles_after: [0; 20],
        };
        let aside = Name::new_aside();
        let file = folder.create_new(&aside, 0o600)?;
        header
            .write(&file, store)
            .and_then(|()| folder.rename(&aside, name))
            .inspect_err(|_| drop(folder.remove(&aside)))?;
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

    /// Goes to where the single events begin, as the header says. If that is not so, nothing from
    /// there on opens, and the file is read from its beginning the next time history is asked for.
    fn skip_blocks(&mut self) {
        self.end = self.header.singles_at;
        self.events = self.header.singles_from;
        self.head = (self.events > 0).then_some(ObjectId(self.header.singles_after));
    }

    /// Makes what follows single events.
    fn begin_singles(&mut self, store: StoreId) -> io::Result<()> {
        self.header.generation += 1;
        self.header.singles_at = self.end;
        self.header.singles_from = self.events;
        self.header.singles_after = self.head.map_or([0; 20], |head| head.0);
        self.header.write(&self.file, store)
    }

    /// Goes on behind a block.
    fn pass(&mut self, prefix: &Prefix) {
        self.end += prefix.whole();
        self.events += prefix.events;
        self.head = Some(prefix.head);
    }

    /// Counts the single events from where reading ended, without opening them: one that turns out
    /// not to open ends what is read of the file, and history tells the rest.
    fn count_on(&mut self) {
        while let Some(bytes) = self.ahead(u64::MAX) {
            let mut rest = &bytes[..];
            while let Some((prefix, tail)) = Prefix::split(rest)
                && let Some(tail) = tail.get(prefix.length..)
            {
                self.pass(&prefix);
                rest = tail;
            }
        }
    }

    /// The piece of the timeline from the block that has the event `from` to the one that has `to`;
    /// the single events are taken all together.
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

    /// The one block that has an event, be it a single one.
    fn block_with(&mut self, event: u64, store: StoreId, key: &Key) -> Option<Timeline> {
        (self.end, self.events) = self.block_of(event)?;
        loop {
            let bytes = self.ahead(u64::MAX)?;
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
                self.pass(&prefix);
                rest = tail;
            }
        }
    }

    /// What comes next in the file up to a place: as much as is read at once, or the one block that
    /// is longer than that. `None` if there is no whole block.
    fn ahead(&self, end: u64) -> Option<Vec<u8>> {
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

    /// Where the block that has an event begins, and with which event; the single events count as
    /// one.
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

    /// The first event and the last of the first block that goes beyond a time.
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

    /// Reads blocks from where reading ended, and hands each to `take` until one does not fit.
    fn read_on(&mut self, store: StoreId, key: &Key, take: impl FnMut(&Block<'_>) -> bool) {
        self.read_to(u64::MAX, store, key, take);
    }

    /// The same up to a place.
    fn read_to(
        &mut self,
        end: u64,
        store: StoreId,
        key: &Key,
        mut take: impl FnMut(&Block<'_>) -> bool,
    ) {
        let mut before = None;
        while before != Some(self.end)
            && let Some(bytes) = self.ahead(end)
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
            self.pass(&prefix);
            self.blocks += u64::from(prefix.events > 1);
            rest = tail;
        }
    }

    /// Adds what a timeline has beyond the file's events, in blocks of many.
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
        // What a process that was killed left behind here would be taken for the next block.
        if disk::length(&self.file)? > self.end {
            self.file.set_len(self.end)?;
        }
        self.file.write_all_at(&bytes, self.end)?;
        self.pass(&prefix);
        Ok(())
    }

    /// Makes one block of the single events. A crash within leaves blocks that do not open, and
    /// what they held is read from history.
    fn join_singles(&mut self, store: StoreId, key: &Key) -> io::Result<()> {
        let first = self.header.singles_from;
        let mut joined = Timeline::from(first);
        self.skip_blocks();
        self.read_on(store, key, |block| joined.extend(block));
        self.skip_blocks();
        let block = Block::of(&joined, 0, first);
        self.append_block(store, &block, key)?;
        self.begin_singles(store)
    }
}
