//! The live memories of a catalog: those changed since the last root of its file, layered over
//! those in the file.

use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, HashMap, btree_map};
use std::iter::Peekable;
use std::ops::Bound;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use zeroize::Zeroizing;

use crate::background::on_every_core;
use crate::crypto::aead::Key;
use crate::disk::{File, FileExt};
use crate::error::{Error, Result};
use crate::id::{MemoryId, ObjectId};
use crate::state::catalog::file::BLOCK_BYTES_MAX;
use crate::state::catalog::row::{IdIndexRow, MemoryRow, Row};
use crate::state::catalog::tree::{LEAF_PREFIX_BYTES, Leaf, LeafAddress, LeafTree, Names};
use crate::state::catalog::{Catalog, Memory, key};

#[derive(Default)]
pub(super) struct MemoryOverlay {
    base: Option<Box<CatalogReader>>,
    /// Memories that differ from the base; `None` for those removed.
    changed: HashMap<MemoryId, Option<Memory>>,
    /// The live ones among them, by path. Keys are paths with `/` replaced by NUL, which no path
    /// holds: this orders them by segment and makes everything below a directory one range.
    paths: BTreeMap<String, MemoryId>,
    count: u64,
    bytes: u64,
    /// Memories that the last event put in or took out.
    touched: Vec<MemoryId>,
}

impl MemoryOverlay {
    /// Returns the rows of a base with `count` memories of `bytes` bytes in all.
    pub(super) fn on(base: CatalogReader, count: u64, bytes: u64) -> Self {
        Self {
            base: Some(Box::new(base)),
            count,
            bytes,
            ..Self::default()
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn base(&self) -> Option<&CatalogReader> {
        self.base.as_deref()
    }

    /// Returns every memory that differs from the base.
    pub(super) fn changed(&self) -> impl Iterator<Item = (MemoryId, Option<&Memory>)> {
        let changed = self.changed.iter();
        changed.map(|(id, memory)| (*id, memory.as_ref()))
    }

    /// Returns the memories that the last event put in or took out, as they are now.
    pub(super) fn touched(&self) -> impl Iterator<Item = (MemoryId, Option<&Memory>)> {
        let touched = self.touched.iter();
        touched.map(|id| (*id, self.changed.get(id).and_then(Option::as_ref)))
    }

    /// Begins the next event.
    pub(super) fn begin(&mut self) {
        self.touched.clear();
        if let Some(base) = &mut self.base {
            base.close_many();
        }
    }

    /// Switches to a new base of the same state, and drops changed and opened rows.
    pub(super) fn rebase_on(&mut self, base: CatalogReader) {
        *self = Self::on(base, self.count, self.bytes);
    }

    /// Takes the error that kept the file's rows from being known, if any.
    pub(super) fn take_fault(&mut self) -> Option<Error> {
        self.base.as_mut().and_then(|base| base.take_fault())
    }

    pub(super) fn get(&self, id: MemoryId) -> Option<&Memory> {
        match self.changed.get(&id) {
            Some(changed) => changed.as_ref(),
            None => self.base.as_ref()?.get(id),
        }
    }

    /// Returns the memory at the path with this key.
    pub(super) fn at(&self, key: &String) -> Option<&Memory> {
        if let Some(id) = self.paths.get(key) {
            return self.changed.get(id)?.as_ref();
        }
        let found = self.base.as_ref()?.at(key);
        found.filter(|memory| !self.changed.contains_key(&memory.id))
    }

    /// Returns the memories between two keys, in order.
    pub(super) fn range(&self, from: Bound<String>, to: Bound<String>) -> Range<'_> {
        let base = self.base.as_ref();
        Range {
            rows: self,
            changed: self.paths_between(&from, &to).peekable(),
            base: base.map(|base| base.range(from, to).peekable()),
        }
    }

    /// Like `BTreeMap::range`, but empty where the bounds cross, which the map does not accept.
    fn paths_between(
        &self,
        from: &Bound<String>,
        to: &Bound<String>,
    ) -> btree_map::Range<'_, String, MemoryId> {
        let key = |bound: &Bound<String>| match bound {
            Bound::Included(key) | Bound::Excluded(key) => Some(key.clone()),
            Bound::Unbounded => None,
        };
        let is_empty = key(from).zip(key(to)).is_some_and(|(from, to)| from >= to);
        if is_empty {
            return btree_map::Range::default();
        }
        self.paths.range((from.clone(), to.clone()))
    }

    /// Returns all memories, in listing order.
    pub(super) fn all(&self) -> Range<'_> {
        self.range(Bound::Unbounded, Bound::Unbounded)
    }

    /// Returns the memories last accessed by a time, in no order.
    pub(super) fn accessed_by(&self, time: DateTime<Utc>) -> Vec<Memory> {
        let is_old = |memory: &&Memory| memory.accessed <= time;
        let of_base = match &self.base {
            None => Vec::new(),
            Some(base) => match base.accessed_by(time) {
                Some(memories) => memories,
                None => return self.all().filter(is_old).cloned().collect(),
            },
        };
        let mut old = of_base;
        old.retain(|memory| !self.changed.contains_key(&memory.id));
        let changed = self.changed.values().flatten();
        old.extend(changed.filter(is_old).cloned());
        old
    }

    /// Takes a memory out.
    pub(super) fn take(&mut self, id: MemoryId) -> Option<Memory> {
        let memory = match self.changed.get_mut(&id) {
            Some(changed) => changed.take()?,
            None => self.base.as_ref()?.get(id)?.clone(),
        };
        self.leave(&memory);
        if self.base.is_some() {
            self.changed.insert(id, None);
        } else {
            self.changed.remove(&id);
        }
        self.count -= 1;
        self.bytes = self.bytes.saturating_sub(memory.bytes);
        self.touched.push(id);
        Some(memory)
    }

    /// Puts in a memory that is not there yet, at a free path.
    pub(super) fn put(&mut self, memory: Memory) {
        self.count += 1;
        self.bytes = self.bytes.saturating_add(memory.bytes);
        self.touched.push(memory.id);
        self.paths.insert(key(&memory.path), memory.id);
        self.changed.insert(memory.id, Some(memory));
    }

    /// Notes an access; `None` if there is no such memory.
    pub(super) fn access(&mut self, id: MemoryId, time: DateTime<Utc>) -> Option<()> {
        if let Some(changed) = self.changed.get_mut(&id) {
            let memory = changed.as_mut()?;
            memory.accessed = memory.accessed.max(time);
            self.touched.push(id);
            return Some(());
        }
        let mut memory = self.take(id)?;
        memory.accessed = memory.accessed.max(time);
        self.put(memory);
        Some(())
    }

    /// Sets memories to what a step of the file says. Their earlier values do not matter, so no
    /// leaf is opened.
    pub(super) fn apply_step(
        &mut self,
        live: Vec<Memory>,
        gone: Vec<MemoryId>,
        counts: (u64, u64),
    ) {
        let ids = live.iter().map(|memory| memory.id).chain(gone);
        for id in ids.collect::<Vec<_>>() {
            if let Some(Some(before)) = self.changed.insert(id, None) {
                self.leave(&before);
            }
        }
        for memory in live {
            self.paths.insert(key(&memory.path), memory.id);
            self.changed.insert(memory.id, Some(memory));
        }
        (self.count, self.bytes) = counts;
        if self.base.is_none() {
            self.changed.retain(|_, memory| memory.is_some());
        }
    }

    fn leave(&mut self, memory: &Memory) {
        self.paths.remove(&key(&memory.path));
    }
}

/// An iterator over memories in the order of their paths.
pub(super) struct Range<'a> {
    rows: &'a MemoryOverlay,
    changed: Peekable<btree_map::Range<'a, String, MemoryId>>,
    base: Option<Peekable<BaseRange<'a>>>,
}

impl<'a> Iterator for Range<'a> {
    type Item = &'a Memory;

    fn next(&mut self) -> Option<&'a Memory> {
        let rows = self.rows;
        let unchanged = self.base.as_mut().and_then(|base| {
            // Skip rows of the base that have changed since.
            while base
                .next_if(|memory| rows.changed.contains_key(&memory.id))
                .is_some()
            {}
            base.peek().copied()
        });
        let changed = self.changed.peek().map(|(key, _)| *key);
        let base_is_first = match (unchanged, changed) {
            (Some(memory), Some(key)) => memory.cmp_key(key).is_lt(),
            (first, _) => first.is_some(),
        };
        if base_is_first {
            return self.base.as_mut()?.next();
        }
        let (_, id) = self.changed.next()?;
        rows.changed.get(id)?.as_ref()
    }
}

// Lazily decrypted leaves of the catalog file.
//
// If one fails to open, the whole state at the file's last root is rebuilt from history and used
// instead.

/// A function that rebuilds the state up to a commit from history.
pub(crate) type Rebuild = Arc<dyn Fn(ObjectId) -> Result<Catalog> + Send + Sync>;

/// The most leaves kept open from one command to the next: some megabytes.
const LEAVES_OPEN_MAX: usize = 256;

/// The leaves for each thread that reads many at once.
const LEAVES_EACH: usize = 64;

/// The state at the last root of a catalog file.
pub(super) struct CatalogReader {
    pub(super) file: Arc<File>,
    pub(super) inode: u64,
    pub(super) names: Names,
    pub(super) key: Key,
    /// The commit of that state.
    pub(super) head: ObjectId,
    pub(super) by_path: LeafTree<Memory>,
    pub(super) by_id: LeafTree<IdIndexRow>,
    pub(super) rebuild: Option<Rebuild>,
    pub(super) reading: ReadState,
}

/// The results of reading so far.
#[derive(Default)]
pub(super) struct ReadState {
    leaves_open: Cell<usize>,
    /// The rows rebuilt from history after a leaf failed to open.
    instead: OnceCell<Box<MemoryOverlay>>,
    /// The error if rebuilding failed too.
    fault: OnceCell<Error>,
}

/// A leaf does not open.
struct CorruptLeaf;

/// Reads and decrypts a leaf.
fn decrypted(
    file: &File,
    names: &Names,
    key: &Key,
    place: LeafAddress,
) -> Option<Zeroizing<Vec<u8>>> {
    if place.length > BLOCK_BYTES_MAX {
        return None;
    }
    let mut bytes = vec![0; place.length as usize];
    file.read_exact_at(&mut bytes, place.offset).ok()?;
    let sealed = bytes.get(LEAF_PREFIX_BYTES..)?;
    key.open(&names.of_leaf(place.id), sealed)
}

impl CatalogReader {
    pub(super) fn get(&self, id: MemoryId) -> Option<&Memory> {
        self.or_fallback(|base| base.find(id), |rows| rows.get(id))
    }

    /// Returns the memory at the path with this key.
    pub(super) fn at(&self, key: &String) -> Option<&Memory> {
        self.or_fallback(|base| base.find_at(key), |rows| rows.at(key))
    }

    fn or_fallback<'a>(
        &'a self,
        look: impl FnOnce(&'a Self) -> Result<Option<&'a Memory>, CorruptLeaf>,
        look_instead: impl FnOnce(&'a MemoryOverlay) -> Option<&'a Memory>,
    ) -> Option<&'a Memory> {
        if self.reading.instead.get().is_none()
            && let Ok(found) = look(self)
        {
            return found;
        }
        look_instead(self.fallback())
    }

    fn find(&self, id: MemoryId) -> Result<Option<&Memory>, CorruptLeaf> {
        let Some(row) = self.find_in(&self.by_id, &id.0)? else {
            return Ok(None);
        };
        let found = self.find_at(&row.key)?;
        found
            .filter(|memory| memory.id == id)
            .map(Some)
            .ok_or(CorruptLeaf)
    }

    fn find_at(&self, key: &String) -> Result<Option<&Memory>, CorruptLeaf> {
        self.find_in(&self.by_path, key)
    }

    fn find_in<'a, R: Row>(
        &'a self,
        tree: &'a LeafTree<R>,
        key: &R::Key,
    ) -> Result<Option<&'a R>, CorruptLeaf> {
        let Some(leaf) = tree.leaves().get(tree.leaf_of(key)) else {
            return Ok(None);
        };
        let rows = self.open(leaf).ok_or(CorruptLeaf)?;
        let found = rows.binary_search_by(|row| row.cmp_key(key)).ok();
        Ok(found.map(|index| &rows[index]))
    }

    /// Returns the rows of a leaf; `None` if it does not open.
    pub(super) fn open<'a, R: Row>(&self, leaf: &'a Leaf<R>) -> Option<&'a [R]> {
        let rows = leaf.rows.get_or_init(|| {
            self.reading.leaves_open.update(|open| open + 1);
            R::decode(&decrypted(&self.file, &self.names, &self.key, leaf.place)?)
        });
        rows.as_deref()
    }

    /// Returns the memories last accessed by a time; `None` if a leaf does not open. No leaf stays
    /// open for it.
    fn accessed_by(&self, time: DateTime<Utc>) -> Option<Vec<Memory>> {
        let (mut old, mut closed) = (Vec::new(), Vec::new());
        for leaf in self.by_path.leaves() {
            match leaf.rows.get() {
                Some(rows) => {
                    let rows = rows.as_ref()?.iter();
                    old.extend(rows.filter(|memory| memory.accessed <= time).cloned());
                }
                None => closed.push(leaf.place),
            }
        }
        let (file, names, key) = (&*self.file, &self.names, &self.key);
        let read = on_every_core(
            &closed,
            LEAVES_EACH,
            || Ok(()),
            |(), place| {
                let plain = decrypted(file, names, key, *place).ok_or(CorruptLeaf)?;
                MemoryRow::accessed_by(&plain, time).ok_or(CorruptLeaf)
            },
        );
        old.extend(read.ok()?.into_iter().flatten());
        Some(old)
    }

    /// Returns the rows rebuilt from history.
    fn fallback(&self) -> &MemoryOverlay {
        let fold = || match &self.rebuild {
            Some(rebuild) => rebuild(self.head).map(|catalog| catalog.rows),
            None => Err(Error::damaged("the catalog", "a part of it does not open")),
        };
        self.reading.instead.get_or_init(|| {
            let rows = fold().unwrap_or_else(|fault| {
                // The cell is still empty: this runs only once.
                drop(self.reading.fault.set(fault));
                MemoryOverlay::default()
            });
            Box::new(rows)
        })
    }

    /// Tells whether a leaf failed to open.
    pub(super) fn is_torn(&self) -> bool {
        self.reading.instead.get().is_some()
    }

    /// Takes the error that kept the rows from being known, if any.
    pub(super) fn take_fault(&mut self) -> Option<Error> {
        self.reading.fault.take()
    }

    /// Tells whether every leaf opens.
    pub(super) fn is_whole(&self) -> bool {
        let by_path = self.by_path.leaves().iter();
        let mut by_id = self.by_id.leaves().iter();
        by_path.map(|leaf| self.open(leaf)).all(|it| it.is_some())
            && by_id.all(|leaf| self.open(leaf).is_some())
    }

    /// Drops opened rows if there are many.
    pub(super) fn close_many(&mut self) {
        if self.reading.leaves_open.get() > LEAVES_OPEN_MAX {
            self.by_path.close();
            self.by_id.close();
            self.reading.leaves_open.set(0);
        }
    }

    /// Returns the memories between two keys, in order.
    pub(super) fn range(&self, from: Bound<String>, to: Bound<String>) -> BaseRange<'_> {
        let leaf = match &from {
            Bound::Included(key) | Bound::Excluded(key) => self.by_path.leaf_of(key),
            Bound::Unbounded => 0,
        };
        BaseRange {
            base: self,
            from,
            to,
            leaf,
            rows: [].iter(),
            instead: None,
            is_done: false,
        }
    }
}

/// An iterator over the memories of a base, in the order of their paths.
pub(super) struct BaseRange<'a> {
    base: &'a CatalogReader,
    /// The lower bound of the rows not returned yet.
    from: Bound<String>,
    to: Bound<String>,
    /// The index of the leaf to open next.
    leaf: usize,
    rows: std::slice::Iter<'a, Memory>,
    instead: Option<Box<Range<'a>>>,
    is_done: bool,
}

impl<'a> BaseRange<'a> {
    /// Opens the next leaf; `None` after the last.
    fn open_next(&mut self) -> Option<()> {
        let leaf = self.base.by_path.leaves().get(self.leaf);
        let is_torn = self.base.is_torn();
        let rows = match leaf {
            None if !is_torn => return None,
            Some(leaf) if !is_torn => self.base.open(leaf),
            _ => None,
        };
        let Some(rows) = rows else {
            let (from, to) = (self.from.clone(), self.to.clone());
            self.instead = Some(Box::new(self.base.fallback().range(from, to)));
            return Some(());
        };
        let first = match &self.from {
            Bound::Included(key) => rows.partition_point(|row| row.cmp_key(key).is_lt()),
            Bound::Excluded(key) => rows.partition_point(|row| row.cmp_key(key).is_le()),
            Bound::Unbounded => 0,
        };
        if let Some(last) = rows.last() {
            self.from = Bound::Excluded(last.key());
        }
        self.rows = rows[first..].iter();
        self.leaf += 1;
        Some(())
    }

    fn is_past(&self, memory: &Memory) -> bool {
        match &self.to {
            Bound::Included(key) => memory.cmp_key(key).is_gt(),
            Bound::Excluded(key) => memory.cmp_key(key).is_ge(),
            Bound::Unbounded => false,
        }
    }

    fn next_in_order(&mut self) -> Option<&'a Memory> {
        loop {
            if let Some(instead) = &mut self.instead {
                return instead.next();
            }
            match self.rows.next() {
                Some(memory) => return Some(memory),
                None => self.open_next()?,
            }
        }
    }
}

impl<'a> Iterator for BaseRange<'a> {
    type Item = &'a Memory;

    fn next(&mut self) -> Option<&'a Memory> {
        if self.is_done {
            return None;
        }
        let next = self.next_in_order().filter(|next| !self.is_past(next));
        self.is_done = next.is_none();
        next
    }
}
