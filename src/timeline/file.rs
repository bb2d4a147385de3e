//! The file `timeline`: sealed blocks of events, one behind the other. Nothing in it is trusted
//! unless it opens and follows on what is before it, and it is never synced: history is the truth.
//!
//! A command adds a block of its one event. When there are many such, they become one block.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::{NONE, Row, Timeline, Touched};
use crate::aead::{self, Key};
use crate::disk;
use crate::event::{Change, Outcome};
use crate::id::{MemoryId, StoreId};
use crate::repository::object::ObjectId;

const MAGIC: &[u8; 16] = b"agekeep-timelin1";
/// Magic, store id, a random id of this file, its generation, and where its single events begin:
/// the byte and the number.
const HEADER_BYTES: usize = 72;
/// As many single events become one block: few enough to write at once, enough that what sealing
/// adds to each is nothing.
const BLOCK_EVENTS: u64 = 256;
/// Largest file that is read, in bytes: some thirty million events.
const FILE_BYTES_MAX: u64 = 1 << 31;

/// The timeline file of an open store. Every method is called with the store's lock held.
pub(crate) struct TimelineFile {
    path: PathBuf,
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
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Header {
    id: [u8; 16],
    /// One more each time single events become one block.
    generation: u64,
    singles_at: u64,
    singles_from: u64,
}

/// Events that follow one another. Words and memories are named by their place in the lists,
/// counted from 1; 0 is none.
#[derive(Serialize, Deserialize)]
struct Block<'a> {
    first: u64,
    #[serde(borrow)]
    words: Vec<&'a str>,
    memories: Vec<[u8; 16]>,
    rows: Vec<BlockRow>,
}

#[derive(Serialize, Deserialize)]
struct BlockRow {
    commit: [u8; 20],
    millis: i64,
    command: u32,
    actor: u32,
    session: u32,
    named: [u32; 2],
    outcome: Outcome,
    touches: Vec<BlockTouch>,
}

#[derive(Serialize, Deserialize)]
struct BlockTouch {
    memory: u32,
    path: u32,
    version: u64,
    bytes: u64,
    from: u64,
    change: Change,
}

impl TimelineFile {
    pub(crate) fn new(path: PathBuf, store: StoreId) -> Self {
        Self {
            path,
            store,
            open: None,
        }
    }

    /// Everything the file holds, as far as its blocks open and follow one another.
    pub(crate) fn load(&mut self, key: &Key) -> Timeline {
        let mut timeline = Timeline::default();
        self.open = Open::at(&self.path, self.store).ok().flatten();
        if let Some(open) = &mut self.open {
            open.read_on(self.store, key, |block| timeline.extend(block));
        }
        timeline
    }

    /// Whether the next event the file takes is this one. Follows what other processes added.
    pub(crate) fn is_next(&mut self, event: u64, key: &Key) -> bool {
        let same = match (&self.open, fs::metadata(&self.path)) {
            (Some(open), Ok(meta)) => {
                open.inode == meta.ino()
                    && Header::read(&open.file, self.store).is_some_and(|now| now == open.header)
            }
            _ => false,
        };
        if !same {
            self.open = Open::at(&self.path, self.store).ok().flatten();
            if let Some(open) = &mut self.open {
                open.skip_blocks();
            }
        }
        let Some(open) = &mut self.open else {
            return false;
        };
        if open.events < event {
            open.read_on(self.store, key, |_| true);
        }
        open.events == event
    }

    /// Adds the newest events of a timeline, from number `from` on, which is the file's next. What
    /// cannot be written is left for history to tell.
    pub(crate) fn append(&mut self, timeline: &Timeline, from: u64, key: &Key) {
        if from == 0 {
            self.open = Open::create(&self.path, self.store).ok();
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
    fn at(path: &PathBuf, store: StoreId) -> io::Result<Option<Self>> {
        let writable = OpenOptions::new().read(true).write(true).open(path);
        let file = writable.or_else(|_| File::open(path))?;
        let inode = file.metadata()?.ino();
        Ok(Header::read(&file, store).map(|header| Self {
            file,
            inode,
            header,
            end: HEADER_BYTES as u64,
            events: 0,
        }))
    }

    fn create(path: &PathBuf, store: StoreId) -> io::Result<Self> {
        let header = Header {
            id: aead::random(),
            generation: 0,
            singles_at: HEADER_BYTES as u64,
            singles_from: 0,
        };
        disk::replace(path, &[], 0o600).map_err(io::Error::other)?;
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        header.write(&file, store)?;
        Ok(Self {
            inode: file.metadata()?.ino(),
            file,
            header,
            end: HEADER_BYTES as u64,
            events: 0,
        })
    }

    /// Goes to where the single events begin, as the header says. If that is not so, nothing from
    /// there on opens, and the file is read from its beginning the next time history is asked for.
    fn skip_blocks(&mut self) {
        self.end = self.header.singles_at;
        self.events = self.header.singles_from;
    }

    /// Reads blocks from where reading ended, and hands each to `take` until one does not fit.
    fn read_on(&mut self, store: StoreId, key: &Key, mut take: impl FnMut(&Block<'_>) -> bool) {
        let length = self.file.metadata().map_or(0, |meta| meta.len());
        let length = length.min(FILE_BYTES_MAX).saturating_sub(self.end);
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
        if self.file.read_exact_at(&mut bytes, self.end).is_err() {
            return;
        }
        let mut rest = &bytes[..];
        while let Some((length, tail)) = rest.split_first_chunk() {
            let length = u32::from_le_bytes(*length) as usize;
            let Some((sealed, tail)) = tail.split_at_checked(length) else {
                return;
            };
            let context = self.header.context(store, self.end, self.events);
            let Some(plain) = key.open(&context, sealed) else {
                return;
            };
            let Ok(block) = postcard::from_bytes::<Block<'_>>(&plain) else {
                return;
            };
            if block.first != self.events || !take(&block) {
                return;
            }
            self.end += 4 + length as u64;
            self.events += block.rows.len() as u64;
            rest = tail;
        }
    }

    /// Adds what a timeline has beyond the file's events, in blocks of many.
    fn append(&mut self, store: StoreId, timeline: &Timeline, key: &Key) -> io::Result<()> {
        while self.events < timeline.len() {
            let to = (self.events + BLOCK_EVENTS).min(timeline.len());
            let block = Block::of_range(timeline, self.events, to);
            self.append_block(store, &block, key)?;
            if to.is_multiple_of(BLOCK_EVENTS) {
                self.header.generation += 1;
                self.header.singles_at = self.end;
                self.header.singles_from = self.events;
            }
        }
        self.header.write(&self.file, store)
    }

    fn append_block(&mut self, store: StoreId, block: &Block<'_>, key: &Key) -> io::Result<()> {
        let plain = Zeroizing::new(postcard::to_stdvec(block).expect("memory to encode it in"));
        let sealed = key.seal(&self.header.context(store, self.end, block.first), &plain);
        let length = u32::try_from(sealed.len()).map_err(io::Error::other)?;
        let bytes = [&length.to_le_bytes()[..], &sealed].concat();
        // What a process that was killed left behind here would be taken for the next block.
        if self.file.metadata()?.len() > self.end {
            self.file.set_len(self.end)?;
        }
        self.file.write_all_at(&bytes, self.end)?;
        self.end += bytes.len() as u64;
        self.events += block.rows.len() as u64;
        Ok(())
    }

    /// Makes one block of the single events. A crash within leaves blocks that do not open, and
    /// what they held is read from history.
    fn join_singles(&mut self, store: StoreId, key: &Key) -> io::Result<()> {
        let (header, mut joined) = (self.header, Timeline::default());
        self.skip_blocks();
        self.read_on(store, key, |block| {
            joined.extend_from(block, header.singles_from)
        });
        self.skip_blocks();
        let block = Block::of(&joined, 0, header.singles_from);
        self.append_block(store, &block, key)?;
        self.header = Header {
            generation: header.generation + 1,
            singles_at: self.end,
            singles_from: self.events,
            ..header
        };
        self.header.write(&self.file, store)
    }
}

impl<'a> Block<'a> {
    /// Everything a timeline holds from one of its rows on, which is event number `first`.
    fn of(timeline: &'a Timeline, from: usize, first: u64) -> Self {
        Self::of_rows(timeline, from, timeline.rows.len(), first)
    }

    fn of_range(timeline: &'a Timeline, from: u64, to: u64) -> Self {
        let at = |event: u64| usize::try_from(event).expect("an event that is in memory");
        Self::of_rows(timeline, at(from), at(to), from)
    }

    fn of_rows(timeline: &'a Timeline, from: usize, to: usize, first: u64) -> Self {
        let mut words = Local::new(timeline.words.len());
        let mut memories = Local::new(timeline.memories.len());
        let rows = (from..to)
            .map(|at| {
                let row = &timeline.rows[at];
                let touches = timeline.touches_of(at).iter().map(|touched| BlockTouch {
                    memory: memories.of(touched.memory),
                    path: words.of(touched.path),
                    version: touched.version,
                    bytes: touched.bytes,
                    from: touched.from,
                    change: touched.change,
                });
                BlockRow {
                    touches: touches.collect(),
                    commit: row.commit.0,
                    millis: row.millis,
                    command: words.of(row.command),
                    actor: words.of(row.actor),
                    session: words.of(row.session),
                    named: row.named.map(|word| words.of(word)),
                    outcome: row.outcome,
                }
            })
            .collect();
        let memory = |at: &u32| timeline.memories[*at as usize].0;
        Self {
            first,
            words: words
                .order
                .iter()
                .map(|at| &*timeline.words[*at as usize])
                .collect(),
            memories: memories.order.iter().map(memory).collect(),
            rows,
        }
    }
}

/// The numbers of words or memories within one block.
struct Local {
    known: Vec<u32>,
    order: Vec<u32>,
}

impl Local {
    fn new(count: usize) -> Self {
        Self {
            known: vec![0; count],
            order: Vec::new(),
        }
    }

    fn of(&mut self, at: u32) -> u32 {
        let Some(known) = self.known.get_mut(at as usize) else {
            return 0;
        };
        if *known == 0 {
            self.order.push(at);
            *known = super::index(self.order.len());
        }
        *known
    }
}

impl Timeline {
    /// Adds a block that comes next; `false` if it does not fit.
    fn extend(&mut self, block: &Block<'_>) -> bool {
        self.extend_from(block, 0)
    }

    /// As [`Self::extend`], where this timeline began at event number `origin`.
    fn extend_from(&mut self, block: &Block<'_>, origin: u64) -> bool {
        if block.first != origin + self.len() {
            return false;
        }
        let words: Vec<u32> = block
            .words
            .iter()
            .map(|word| self.word(Some(word)))
            .collect();
        let memories = block.memories.iter().map(|id| self.memory(MemoryId(*id)));
        let memories: Vec<u32> = memories.collect();
        let place = |at: u32| (at as usize).checked_sub(1);
        let word = |at: u32| {
            let known = place(at).and_then(|at| words.get(at));
            known.copied().unwrap_or(NONE)
        };
        for row in &block.rows {
            for touch in &row.touches {
                let Some(memory) = place(touch.memory).and_then(|at| memories.get(at)) else {
                    return false;
                };
                self.touches.push(Touched {
                    memory: *memory,
                    path: word(touch.path),
                    version: touch.version,
                    bytes: touch.bytes,
                    from: touch.from,
                    change: touch.change,
                });
            }
            self.push_row(Row {
                commit: ObjectId(row.commit),
                millis: row.millis,
                latest: 0,
                touches_end: self.touches.len(),
                command: word(row.command),
                actor: word(row.actor),
                session: word(row.session),
                named: row.named.map(word),
                outcome: row.outcome,
            });
        }
        true
    }
}
