//! A catalog file that is open: its last root, and the steps behind it as far as they were read.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::recent::{Recent, Recorded};
use super::row::{self, MemoryRow, RetentionRow, StateRow};
use super::tree::Place;
use super::writer::{Names, block};
use super::{Catalog, Memory};
use crate::crypto::aead::Key;
use crate::disk::{self, File, FileExt};
use crate::id::MemoryId;
use crate::id::ObjectId;

/// Where the header says where its last two roots are.
pub(super) const ROOTS_AT: u64 = 64;
/// Steps may take up this much before a new root is due: some two hundred and fifty, which
/// every process reads.
pub(super) const STEPS_BYTES_MAX: u64 = 64 * 1024;
/// Most bytes of one block: a root that names the leaves of some sixteen million memories.
pub(super) const BLOCK_BYTES_MAX: u32 = 1 << 28;
/// Bytes of steps that are read at once.
const READ_BYTES: u64 = 192 * 1024;

/// A file that was read, and how far.
pub(super) struct Open {
    pub(super) file: Arc<File>,
    pub(super) inode: u64,
    pub(super) names: Names,
    pub(super) key: Key,
    pub(super) root: u64,
    /// Where its steps begin.
    pub(super) steps_at: u64,
    pub(super) end: u64,
    steps: u64,
    /// How many events the file holds, and the commit of the last.
    pub(super) events: u64,
    pub(super) head: Option<ObjectId>,
    /// Bytes of the leaves that the root names.
    pub(super) leaf_bytes: u64,
}

/// A place in history: how many events there were, and the commit of the last.
pub(super) type Point = (u64, Option<ObjectId>);

/// What an event made of a catalog, to be added to its file.
pub(crate) struct Made {
    pub(super) before: Point,
    after: Point,
    plain: Zeroizing<Vec<u8>>,
}

impl Made {
    /// What came of a catalog since it was at a place; `None` before the first event.
    pub(super) fn since(before: Point, catalog: &Catalog) -> Option<Self> {
        let step = StepRow::of(before, catalog)?;
        Some(Self {
            before,
            after: (catalog.events, catalog.head),
            plain: row::encode(&step),
        })
    }

    /// What the last event made of a catalog.
    pub(crate) fn by_last(catalog: &Catalog) -> Option<Self> {
        Self::since(catalog.before, catalog)
    }
}

/// A root.
#[derive(Serialize, Deserialize)]
pub(super) struct RootRow {
    pub(super) state: StateRow,
    pub(super) retention: RetentionRow,
    pub(super) recent: Recent,
    pub(super) count: u64,
    pub(super) bytes: u64,
    pub(super) by_path: Vec<(String, Place)>,
    pub(super) by_id: Vec<([u8; 16], Place)>,
}

/// What an event made of the state, or nothing but what the owner decided with the one before.
#[derive(Serialize, Deserialize)]
pub(super) struct StepRow<'a> {
    /// How many events there were before it, and the commit of the last: a step goes on from no other.
    before: (u64, [u8; 20]),
    pub(super) state: StateRow,
    /// Where it changed.
    retention: Option<RetentionRow>,
    /// What had passed until then, in milliseconds, and what its event counts as.
    passed: u64,
    recorded: Option<Recorded>,
    pub(super) count: u64,
    pub(super) bytes: u64,
    #[serde(borrow)]
    live: Vec<MemoryRow<'a>>,
    gone: Vec<[u8; 16]>,
}

impl Open {
    /// A file as of a root, of which nothing was read yet.
    pub(super) fn at(file: Arc<File>, names: Names, key: Key, root: u64) -> Option<Self> {
        Some(Self {
            inode: disk::inode(&file).ok()?,
            file,
            names,
            key,
            root,
            steps_at: 0,
            end: 0,
            steps: 0,
            events: 0,
            head: None,
            leaf_bytes: 0,
        })
    }

    /// Begins behind its root, which is of a state.
    pub(super) fn begin_at(&mut self, steps_at: u64, state: Point, leaf_bytes: u64) {
        (self.steps_at, self.end) = (steps_at, steps_at);
        ((self.events, self.head), self.leaf_bytes) = (state, leaf_bytes);
    }

    /// Whether nobody has written another root since.
    pub(super) fn is_at_its_root(&self) -> bool {
        let mut root = [0; 8];
        let read = self.file.read_exact_at(&mut root, ROOTS_AT);
        read.is_ok() && u64::from_le_bytes(root) == self.root
    }

    pub(super) fn read_root(mut self) -> Option<(Self, RootRow)> {
        let mut ahead = Ahead::of(&self.file)?;
        let block = ahead.block_at(&self.file, self.root)?;
        let length = block.len() as u64;
        let plain = self.key.open(&self.names.of_root(self.root), &block[4..])?;
        let row: RootRow = postcard::from_bytes(&plain).ok()?;
        let by_path = row.by_path.iter().map(|(_, at)| at);
        let leaves = by_path.chain(row.by_id.iter().map(|(_, at)| at));
        let leaf_bytes = leaves.map(|leaf| u64::from(leaf.length)).sum();
        self.begin_at(self.root + length, row.state.point(), leaf_bytes);
        Some((self, row))
    }

    /// Reads the steps that were added since, and follows those the catalog does not have yet.
    pub(super) fn follow(&mut self, catalog: &mut Catalog) {
        let file = Arc::clone(&self.file);
        let Some(mut ahead) = Ahead::of(&file) else {
            return;
        };
        while let Some(block) = ahead.block_at(&file, self.end) {
            let context = self.names.of_step(self.root, self.steps);
            let Some(plain) = self.key.open(&context, &block[4..]) else {
                return;
            };
            let step = postcard::from_bytes::<StepRow>(&plain).ok();
            let before = (self.events, self.head);
            let Some(step) = step.filter(|step| step.comes_after(before)) else {
                return;
            };
            let after = step.state.point();
            let is_next = (catalog.events, catalog.head) == before;
            if is_next && step.follow(catalog).is_none() {
                return;
            }
            self.end += block.len() as u64;
            self.steps += 1;
            (self.events, self.head) = after;
        }
    }

    /// Adds a step. One that is large is left to a root.
    pub(super) fn add(&mut self, step: &Made) {
        if step.before != (self.events, self.head) {
            return;
        }
        let context = self.names.of_step(self.root, self.steps);
        let Some(bytes) = block(&self.key, &context, &step.plain) else {
            return;
        };
        let is_small = bytes.len() as u64 <= STEPS_BYTES_MAX;
        if is_small && self.file.write_all_at(&bytes, self.end).is_ok() {
            self.end += bytes.len() as u64;
            self.steps += 1;
            (self.events, self.head) = step.after;
        }
    }
}

/// What was read of a file ahead of what is asked for.
struct Ahead {
    bytes: Vec<u8>,
    at: u64,
    length: u64,
}

impl Ahead {
    fn of(file: &File) -> Option<Self> {
        Some(Self {
            bytes: Vec::new(),
            at: 0,
            length: disk::length(file).ok()?,
        })
    }

    /// The block at a place with its length before it; `None` if there is no whole one.
    fn block_at(&mut self, file: &File, at: u64) -> Option<&[u8]> {
        let length = self.range(file, at, 4)?;
        let length = u32::from_le_bytes(length.try_into().expect("four bytes"));
        if length > BLOCK_BYTES_MAX {
            return None;
        }
        self.range(file, at, 4 + u64::from(length))
    }

    fn range(&mut self, file: &File, at: u64, length: u64) -> Option<&[u8]> {
        let left = self.length.checked_sub(at)?;
        let is_here = at >= self.at && at + length <= self.at + self.bytes.len() as u64;
        if !is_here {
            if length > left {
                return None;
            }
            let wanted = length.max(READ_BYTES).min(left);
            self.bytes.resize(usize::try_from(wanted).ok()?, 0);
            self.at = at;
            file.read_exact_at(&mut self.bytes, at).ok()?;
        }
        let from = usize::try_from(at - self.at).ok()?;
        self.bytes.get(from..from + usize::try_from(length).ok()?)
    }
}

impl<'a> StepRow<'a> {
    fn of((events, head): Point, catalog: &'a Catalog) -> Option<Self> {
        // Each once.
        let touched: BTreeMap<MemoryId, Option<&Memory>> = catalog.rows.touched().collect();
        let live = touched
            .values()
            .filter_map(|memory| memory.map(MemoryRow::of));
        let gone = touched.iter().filter(|(_, memory)| memory.is_none());
        let changed = catalog.retention_changed;
        Some(Self {
            before: (events, head?.0),
            state: StateRow::of(catalog)?,
            retention: changed.then(|| RetentionRow::of(catalog)),
            passed: catalog.recent.passed,
            recorded: catalog.recorded,
            count: catalog.rows.count(),
            bytes: catalog.rows.bytes(),
            live: live.collect(),
            gone: gone.map(|(id, _)| id.0).collect(),
        })
    }

    fn comes_after(&self, (events, head): Point) -> bool {
        self.before.0 == events && head == Some(ObjectId(self.before.1))
    }

    fn follow(self, catalog: &mut Catalog) -> Option<()> {
        let live = self.live.into_iter().map(MemoryRow::restore);
        let live = live.collect::<Option<Vec<Memory>>>()?;
        let gone = self.gone.into_iter().map(MemoryId).collect();
        if let Some(retention) = self.retention {
            retention.restore(catalog)?;
        }
        self.state.restore(catalog)?;
        let recent = &mut catalog.recent;
        recent.pass(self.passed.saturating_sub(recent.passed));
        if let Some(recorded) = self.recorded {
            recent.add(recorded);
        }
        catalog.rows.follow(live, gone, (self.count, self.bytes));
        Some(())
    }
}
