//! The file `catalog`: a sealed state in leaves and a root, followed by one small sealed step for
//! each later event. Only blocks that open are trusted; history is the truth.
//!
//! When there are many steps, the leaves they change are rewritten after them, followed by a root
//! that names these and the unchanged leaves. So a process opens only the root, the steps and the
//! leaves it looks into, and writes only the leaves that changed. Once most of the file is unused,
//! the leaves are copied to a new one: by a thread, if the process goes on ([`NextFile`]).

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::crypto::aead::Key;
use crate::disk::{self, File, FileExt, Folder, Name};
use crate::id::{self, MemoryId, ObjectId, StoreId};
use crate::state::catalog::next::{LeafCopy, NextFile};
use crate::state::catalog::row::{self, IdIndexRow, MemoryRow, RetentionRow, StateRow};
use crate::state::catalog::rows::{CatalogReader, MemoryOverlay, ReadState, Rebuild};
use crate::state::catalog::step::{AgentEvent, RateCounter};
use crate::state::catalog::tree::{
    LeafAddress, LeafTree, LeafWriter, Names, ReusedLeaves, block, write_leaves,
};
use crate::state::catalog::{Catalog, Memory};

pub(super) const MAGIC: &[u8; 16] = b"agekeep-catalog6";
/// Bytes of the header: magic, store id, file id, line id, and the offsets of the last two roots.
pub(super) const HEADER_BYTES: usize = 80;
/// A new file is written once the bytes that no root needs exceed those in use by this much.
const UNUSED_BYTES_MAX: u64 = 1 << 20;
/// Events to wait before writing the file is tried again after a failure.
const RETRY_EVENTS: u64 = 512;

/// The catalog file of an open store. Every method requires the store's lock.
pub(crate) struct CatalogFile {
    /// `None` if nothing is kept on disk.
    folder: Option<Folder>,
    name: Name,
    store: StoreId,
    rebuild: Option<Rebuild>,
    open: Option<OpenCatalog>,
    /// The event count at which writing is tried again.
    retry_at: u64,
    /// True once it has written a root: then the process goes on.
    has_written: bool,
    /// The thread that makes the next file.
    pub(super) copy: Option<LeafCopy>,
}

impl CatalogFile {
    /// Returns the file in a store's folder.
    pub(crate) fn new(folder: &Folder, name: Name, store: StoreId) -> Self {
        Self {
            folder: Some(folder.clone()),
            name,
            ..Self::nowhere(store)
        }
    }

    /// Returns a catalog file that is neither read nor written.
    pub(crate) fn nowhere(store: StoreId) -> Self {
        Self {
            folder: None,
            name: Name::CATALOG,
            store,
            rebuild: None,
            open: None,
            retry_at: 0,
            has_written: false,
            copy: None,
        }
    }

    /// Moves to another folder and uses the file there.
    pub(crate) fn reopen_in(&mut self, folder: &Folder) {
        self.folder = Some(folder.clone());
        self.open = None;
    }

    /// Sets how to rebuild a state when part of the file does not open.
    pub(crate) fn with_rebuild(mut self, rebuild: Rebuild) -> Self {
        self.rebuild = Some(rebuild);
        self
    }

    /// Brings `catalog` up to the state in the file, as far as its blocks open and fit. History
    /// supplies the rest.
    pub(crate) fn load(&mut self, catalog: &mut Catalog, key: &Key) {
        let inode = self
            .folder
            .as_ref()
            .and_then(|folder| folder.inode(&self.name));
        let Some(inode) = inode else {
            self.open = None;
            return;
        };
        let known = self
            .open
            .as_ref()
            .is_some_and(|open| open.inode == inode && open.key.is(key) && open.is_at_its_root());
        if !known {
            self.open = self.read_root(catalog, key);
        }
        if let Some(open) = &mut self.open {
            open.read_new_steps(catalog);
        }
    }

    fn read_root(&self, catalog: &mut Catalog, key: &Key) -> Option<OpenCatalog> {
        let folder = self.folder.as_ref()?;
        let (file, _) = folder.open_write_or_read(&self.name).ok()?;
        let mut header = [0; HEADER_BYTES];
        file.read_exact_at(&mut header, 0).ok()?;
        let sixteen = |at: usize| header[at..at + 16].try_into().expect("sixteen bytes");
        if header[..16] != MAGIC[..] || header[16..32] != self.store.0 {
            return None;
        }
        let names = Names {
            store: self.store,
            file: sixteen(32),
            line: sixteen(48),
        };
        let file = Arc::new(file);
        // Fall back to the previous root if the last was cut off.
        for at in [ROOTS_AT, ROOTS_AT + 8] {
            let root = u64_at(&header, usize::try_from(at).expect("small"));
            let open = OpenCatalog::at(Arc::clone(&file), names, key.again(), root);
            if let Some((open, row)) = open.and_then(OpenCatalog::read_root) {
                return self.adopt(open, row, catalog);
            }
        }
        None
    }

    /// Replaces the catalog by a root's state, unless the catalog is ahead of it.
    fn adopt(&self, open: OpenCatalog, row: RootRow, catalog: &mut Catalog) -> Option<OpenCatalog> {
        if catalog.events > row.state.events {
            return Some(open);
        }
        let mut state = Catalog::empty();
        row.state.restore(&mut state)?;
        row.retention.restore(&mut state)?;
        state.recent = row.recent;
        state.is_trial = row.is_trial;
        let base = self.base(
            &open,
            &state,
            LeafTree::new(row.by_path),
            LeafTree::new(row.by_id),
        )?;
        state.rows = MemoryOverlay::on(base, row.count, row.bytes);
        if catalog.events < state.events || catalog.head == state.head {
            *catalog = state;
        }
        Some(open)
    }

    fn base(
        &self,
        open: &OpenCatalog,
        state: &Catalog,
        by_path: LeafTree<Memory>,
        by_id: LeafTree<IdIndexRow>,
    ) -> Option<CatalogReader> {
        Some(CatalogReader {
            file: Arc::clone(&open.file),
            inode: open.inode,
            names: open.names,
            key: open.key.again(),
            head: state.head?,
            by_path,
            by_id,
            rebuild: self.rebuild.clone(),
            reading: ReadState::default(),
        })
    }

    /// Drops everything read from the file.
    pub(crate) fn forget(&mut self) {
        self.open = None;
    }

    /// Appends the last event's step. If the file lacks an event before it or cannot be written, it
    /// is left alone: history supplies the rest, and the next root repairs it.
    pub(crate) fn append(&mut self, catalog: &Catalog, key: &Key) {
        // While many events are folded in a row, there is usually no file yet.
        if self.open.is_some() {
            self.add(CatalogUpdate::by_last(catalog).as_ref(), key);
        }
    }

    /// Appends the step that an event made when it was the last.
    pub(crate) fn add(&mut self, made: Option<&CatalogUpdate>, key: &Key) {
        let (Some(open), Some(made)) = (&mut self.open, made) else {
            return;
        };
        let is_behind = open.events > made.before.0;
        if is_behind || !open.key.is(key) || !open.is_at_its_root() {
            self.open = None;
        } else {
            open.add(made);
        }
    }

    /// Tells whether a new root is due, or there is no usable file.
    pub(crate) fn wants_root(&self, catalog: &Catalog) -> bool {
        let is_due = self.open.as_ref().is_none_or(|open| {
            (open.events, open.head) != (catalog.events, catalog.head)
                || open.end - open.steps_at > STEPS_BYTES_MAX
                || self.copy.as_ref().is_some_and(LeafCopy::is_done)
        });
        catalog.events >= self.retry_at && (is_due || catalog.is_torn())
    }

    /// Writes a root of the whole state, in this file or in a new one.
    pub(crate) fn write_root(&mut self, catalog: &mut Catalog, key: &Key) {
        if self.try_write_root(catalog, key).is_none() {
            self.open = None;
            self.retry_at = catalog.events + RETRY_EVENTS;
        }
    }

    fn try_write_root(&mut self, catalog: &mut Catalog, key: &Key) -> Option<()> {
        let base = catalog.rows.base().filter(|base| base.key.is(key));
        let here = self.open.as_ref().filter(|open| {
            base.is_some_and(|base| base.inode == open.inode) && open.is_at_its_root()
        });
        let is_full =
            |times| here.is_none_or(|open| open.end >= times * open.leaf_bytes + UNUSED_BYTES_MAX);
        let is_copied = self.copy.as_ref().is_some_and(LeafCopy::is_done);
        let may_wait = self.has_written && !is_full(3);
        let begins_copy = is_full(2) && may_wait && self.copy.is_none();
        let stays = here.filter(|_| !is_copied && (!is_full(2) || may_wait));
        let in_file = stays.and_then(|open| {
            let file = Arc::clone(&open.file);
            let roots = [open.end, open.root];
            Self::put_root(catalog, key, &file, open.names, ReusedLeaves::Here, roots)
        });
        // Copy the sealed leaves unless their key is being replaced or one of them cannot be read.
        let base = base.filter(|base| !base.is_torn());
        let copy = if in_file.is_none() {
            self.copy.take()
        } else {
            None
        };
        let from_thread = || {
            let (aside, next) = copy?.finish(base?)?;
            self.put_file(catalog, key, base, &aside, &next)
        };
        let new_file = |base: Option<&CatalogReader>| {
            let (folder, aside) = (self.folder.as_ref()?, Name::new_temporary());
            let line = base.map_or_else(id::random, |base| base.names.line);
            let next = NextFile::begin(folder, &aside, self.store, line)?;
            self.put_file(catalog, key, base, &aside, &next)
        };
        let written = in_file
            .or_else(from_thread)
            .or_else(|| new_file(Some(base?)))
            .or_else(|| new_file(None))?;
        let (open, by_path, by_id) = written;
        let base = self.base(&open, catalog, by_path, by_id)?;
        if begins_copy {
            let folder = self.folder.as_ref()?;
            self.copy = LeafCopy::begin(folder, &base);
        }
        catalog.rows.rebase_on(base);
        (self.open, self.has_written) = (Some(open), true);
        Some(())
    }

    /// Writes the rest of a new file, reusing the leaves of `base` if given, and puts it in place.
    fn put_file(
        &self,
        catalog: &Catalog,
        key: &Key,
        base: Option<&CatalogReader>,
        aside: &Name,
        next: &NextFile,
    ) -> Option<WrittenCatalog> {
        let folder = self.folder.as_ref()?;
        let kept = base.map_or(ReusedLeaves::None, |base| {
            ReusedLeaves::In(&base.file, &next.copied)
        });
        let written = Self::put_root(catalog, key, &next.file, next.names, kept, [next.end, 0]);
        let written = written.filter(|_| folder.rename(aside, &self.name).is_ok());
        if written.is_none() {
            drop(folder.remove(aside));
        }
        written
    }

    /// Writes leaves and a root at the end of a file, then stores the offsets of that root and of
    /// the previous one in the header.
    fn put_root(
        catalog: &Catalog,
        key: &Key,
        file: &Arc<File>,
        names: Names,
        kept: ReusedLeaves<'_>,
        [offset, before]: [u64; 2],
    ) -> Option<WrittenCatalog> {
        let mut writer = LeafWriter {
            file,
            names,
            key,
            kept,
            offset,
            buffer: Vec::new(),
            leaf_bytes: 0,
        };
        let (by_path, by_id) = write_leaves(catalog, &mut writer)?;
        let root = writer.end();
        let row = row::encode(&RootRow {
            state: StateRow::of(catalog)?,
            retention: RetentionRow::of(catalog),
            recent: catalog.recent.clone(),
            count: catalog.rows.count(),
            bytes: catalog.rows.bytes(),
            by_path: by_path.directory(),
            by_id: by_id.directory(),
            is_trial: catalog.is_trial,
        });
        let bytes = block(key, &names.of_root(root), &row)?;
        writer.put(&bytes)?;
        writer.flush()?;
        let leaf_bytes = writer.leaf_bytes;
        // If the header reaches the disk before the root, readers fall back to the previous root.
        let roots = [root.to_le_bytes(), before.to_le_bytes()].concat();
        file.write_all_at(&roots, ROOTS_AT).ok()?;
        let mut open = OpenCatalog::at(Arc::clone(file), names, key.again(), root)?;
        let state = (catalog.events, catalog.head);
        open.begin_at(root + bytes.len() as u64, state, leaf_bytes);
        Some((open, by_path, by_id))
    }
}

/// A written file and its two trees.
type WrittenCatalog = (OpenCatalog, LeafTree<Memory>, LeafTree<IdIndexRow>);

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

// An open catalog file: its last root, and the steps after it as far as they were read.

/// Offset in the header of the offsets of the last two roots.
pub(super) const ROOTS_AT: u64 = 64;
/// Bytes of steps after which a new root is due: some 60 steps, which every process reads.
pub(super) const STEPS_BYTES_MAX: u64 = 16 * 1024;
/// The most bytes of one block: a root that names the leaves of about sixteen million memories.
pub(super) const BLOCK_BYTES_MAX: u32 = 1 << 28;
/// Bytes of steps read at once.
const READ_BYTES: u64 = 192 * 1024;

/// An open file and how far it was read.
pub(super) struct OpenCatalog {
    pub(super) file: Arc<File>,
    pub(super) inode: u64,
    pub(super) names: Names,
    pub(super) key: Key,
    pub(super) root: u64,
    /// Offset of the first step.
    pub(super) steps_at: u64,
    pub(super) end: u64,
    steps: u64,
    /// The number of events in the file. `head` is the commit of the last.
    pub(super) events: u64,
    pub(super) head: Option<ObjectId>,
    /// Bytes of the leaves that the root names.
    pub(super) leaf_bytes: u64,
}

/// A point in history: the number of events and the commit of the last.
pub(super) type HistoryPoint = (u64, Option<ObjectId>);

/// The encoded step of one event, to be added to the catalog file.
pub(crate) struct CatalogUpdate {
    pub(super) before: HistoryPoint,
    after: HistoryPoint,
    plain: Zeroizing<Vec<u8>>,
}

impl CatalogUpdate {
    /// Returns the step from `before` to the catalog's state; `None` before the first event.
    pub(super) fn since(before: HistoryPoint, catalog: &Catalog) -> Option<Self> {
        let step = StepRow::of(before, catalog)?;
        Some(Self {
            before,
            after: (catalog.events, catalog.head),
            plain: row::encode(&step),
        })
    }

    /// Returns the step of the last event.
    pub(crate) fn by_last(catalog: &Catalog) -> Option<Self> {
        Self::since(catalog.before, catalog)
    }
}

/// A root as it is encoded.
#[derive(Serialize, Deserialize)]
pub(super) struct RootRow {
    pub(super) state: StateRow,
    pub(super) retention: RetentionRow,
    pub(super) recent: RateCounter,
    pub(super) count: u64,
    pub(super) bytes: u64,
    pub(super) by_path: Vec<(String, LeafAddress)>,
    pub(super) by_id: Vec<([u8; 16], LeafAddress)>,
    /// The same in every later state.
    pub(super) is_trial: bool,
}

/// The state after an event.
#[derive(Serialize, Deserialize)]
pub(super) struct StepRow<'a> {
    /// The number of events before this step and the commit of the last. The step applies to no
    /// other state.
    before: (u64, [u8; 20]),
    pub(super) state: StateRow,
    /// Set if the event changed it.
    retention: Option<RetentionRow>,
    /// Milliseconds in [`RateCounter`] up to this event. `recorded` is how the event counts for its
    /// session.
    passed: u64,
    recorded: Option<AgentEvent>,
    pub(super) count: u64,
    pub(super) bytes: u64,
    #[serde(borrow)]
    live: Vec<MemoryRow<'a>>,
    gone: Vec<[u8; 16]>,
}

impl OpenCatalog {
    /// Returns a file as of a root, with nothing read yet.
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

    /// Begins after the root, which holds the state at `state`.
    pub(super) fn begin_at(&mut self, steps_at: u64, state: HistoryPoint, leaf_bytes: u64) {
        (self.steps_at, self.end) = (steps_at, steps_at);
        ((self.events, self.head), self.leaf_bytes) = (state, leaf_bytes);
    }

    /// Tells whether no other process has written a newer root.
    pub(super) fn is_at_its_root(&self) -> bool {
        let mut root = [0; 8];
        let read = self.file.read_exact_at(&mut root, ROOTS_AT);
        read.is_ok() && u64::from_le_bytes(root) == self.root
    }

    pub(super) fn read_root(mut self) -> Option<(Self, RootRow)> {
        let mut ahead = ReadAhead::of(&self.file)?;
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

    /// Reads the steps added since, and applies those the catalog does not have yet.
    pub(super) fn read_new_steps(&mut self, catalog: &mut Catalog) {
        let file = Arc::clone(&self.file);
        let Some(mut ahead) = ReadAhead::of(&file) else {
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
            if is_next && step.apply_to(catalog).is_none() {
                return;
            }
            self.end += block.len() as u64;
            self.steps += 1;
            (self.events, self.head) = after;
        }
    }

    /// Appends a step. A large one is left to the next root.
    pub(super) fn add(&mut self, step: &CatalogUpdate) {
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

/// A read-ahead buffer over a file.
struct ReadAhead {
    bytes: Vec<u8>,
    at: u64,
    length: u64,
}

impl ReadAhead {
    fn of(file: &File) -> Option<Self> {
        Some(Self {
            bytes: Vec::new(),
            at: 0,
            length: disk::length(file).ok()?,
        })
    }

    /// Returns the block at an offset, its length included; `None` if the block is incomplete.
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
    fn of((events, head): HistoryPoint, catalog: &'a Catalog) -> Option<Self> {
        // A map, so that each memory appears once.
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

    fn comes_after(&self, (events, head): HistoryPoint) -> bool {
        self.before.0 == events && head == Some(ObjectId(self.before.1))
    }

    fn apply_to(self, catalog: &mut Catalog) -> Option<()> {
        let live = self.live.into_iter().map(MemoryRow::restore);
        let live = live.collect::<Option<Vec<Memory>>>()?;
        let gone = self.gone.into_iter().map(MemoryId).collect();
        if let Some(retention) = self.retention {
            retention.restore(catalog)?;
        }
        self.state.restore(catalog)?;
        let recent = &mut catalog.recent;
        recent.advance(self.passed.saturating_sub(recent.passed));
        if let Some(recorded) = self.recorded {
            recent.add(recorded);
        }
        catalog
            .rows
            .apply_step(live, gone, (self.count, self.bytes));
        Some(())
    }
}
