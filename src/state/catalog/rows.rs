//! The live memories of a catalog: those that changed since its file's last root, over those that
//! are in the file.

use std::collections::{BTreeMap, HashMap, btree_map};
use std::iter::Peekable;
use std::ops::Bound;

use chrono::{DateTime, Utc};

use super::base::{Base, BaseRange};
use super::row::Row;
use super::{Memory, key};
use crate::error::Error;
use crate::id::MemoryId;

#[derive(Default)]
pub(super) struct Rows {
    base: Option<Box<Base>>,
    /// Memories that are not as the base has them; `None` for those that are gone.
    changed: HashMap<MemoryId, Option<Memory>>,
    /// Where the live ones of them are. Keys are paths with `/` as NUL, which no path holds: so
    /// order is by segment, and what is below a directory is one range.
    paths: BTreeMap<String, MemoryId>,
    count: u64,
    bytes: u64,
    /// What the last event put in or took out.
    touched: Vec<MemoryId>,
}

impl Rows {
    /// So many memories, of so many bytes, as a base has them.
    pub(super) fn on(base: Base, count: u64, bytes: u64) -> Self {
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

    pub(super) fn base(&self) -> Option<&Base> {
        self.base.as_deref()
    }

    /// Every memory that is not as the base has it.
    pub(super) fn changed(&self) -> impl Iterator<Item = (MemoryId, Option<&Memory>)> {
        let changed = self.changed.iter();
        changed.map(|(id, memory)| (*id, memory.as_ref()))
    }

    /// What the last event put in or took out, as it is now.
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

    /// Takes the place of the rows of the same state that were changed or opened so far.
    pub(super) fn rest_on(&mut self, base: Base) {
        *self = Self::on(base, self.count, self.bytes);
    }

    /// Why nothing is known of what is in the file, where that is so.
    pub(super) fn take_fault(&mut self) -> Option<Error> {
        self.base.as_mut().and_then(|base| base.take_fault())
    }

    pub(super) fn get(&self, id: MemoryId) -> Option<&Memory> {
        match self.changed.get(&id) {
            Some(changed) => changed.as_ref(),
            None => self.base.as_ref()?.get(id),
        }
    }

    /// The memory at the path with this key.
    pub(super) fn at(&self, key: &String) -> Option<&Memory> {
        if let Some(id) = self.paths.get(key) {
            return self.changed.get(id)?.as_ref();
        }
        let found = self.base.as_ref()?.at(key);
        found.filter(|memory| !self.changed.contains_key(&memory.id))
    }

    /// The memories from one key to another, in order.
    pub(super) fn range(&self, from: Bound<String>, to: Bound<String>) -> Range<'_> {
        let base = self.base.as_ref();
        Range {
            rows: self,
            changed: self.paths_between(&from, &to).peekable(),
            base: base.map(|base| base.range(from, to).peekable()),
        }
    }

    /// As the map's own, where the two do not cross: it accepts no others.
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

    /// All of them, in the order of a listing.
    pub(super) fn all(&self) -> Range<'_> {
        self.range(Bound::Unbounded, Bound::Unbounded)
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

    /// Puts in a memory that is not there, at a path that is free.
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

    /// Has memories be as a step of the file says; what they were does not matter, so that nothing
    /// is opened for it.
    pub(super) fn follow(&mut self, live: Vec<Memory>, gone: Vec<MemoryId>, counts: (u64, u64)) {
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

/// Memories in the order of their paths.
pub(super) struct Range<'a> {
    rows: &'a Rows,
    changed: Peekable<btree_map::Range<'a, String, MemoryId>>,
    base: Option<Peekable<BaseRange<'a>>>,
}

impl<'a> Iterator for Range<'a> {
    type Item = &'a Memory;

    fn next(&mut self) -> Option<&'a Memory> {
        let rows = self.rows;
        let unchanged = self.base.as_mut().and_then(|base| {
            // What changed is not as the base has it.
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
