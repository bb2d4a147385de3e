//! The rows of a state that are in the file, opened when they are looked for.
//!
//! What does not open is no answer: then the whole state is folded from history again, as far as
//! this one went, and taken instead.

use std::cell::{Cell, OnceCell};
use std::ops::Bound;
use std::sync::Arc;

use super::open::BLOCK_BYTES_MAX;
use super::row::{Row, Whereabouts};
use super::rows::{Range, Rows};
use super::tree::{Leaf, Tree};
use super::writer::{LEAF_PREFIX_BYTES, Names};
use super::{Catalog, Memory};
use crate::crypto::aead::Key;
use crate::disk::{File, FileExt};
use crate::error::{Error, Result};
use crate::id::MemoryId;
use crate::id::ObjectId;

/// Makes the state up to a commit again from history.
pub(crate) type Refold = Arc<dyn Fn(ObjectId) -> Result<Catalog> + Send + Sync>;

/// Leaves that may stay open from one command to the next: some megabytes.
const LEAVES_OPEN_MAX: usize = 256;

/// Everything there was at the last root of a catalog file.
pub(super) struct Base {
    pub(super) file: Arc<File>,
    pub(super) inode: u64,
    pub(super) names: Names,
    pub(super) key: Key,
    /// The commit up to which this is true.
    pub(super) head: ObjectId,
    pub(super) by_path: Tree<Memory>,
    pub(super) by_id: Tree<Whereabouts>,
    pub(super) refold: Option<Refold>,
    pub(super) reading: Reading,
}

/// What reading has come to.
#[derive(Default)]
pub(super) struct Reading {
    leaves_open: Cell<usize>,
    /// What is true if a leaf did not open.
    instead: OnceCell<Box<Rows>>,
    /// Why that is not known either.
    fault: OnceCell<Error>,
}

/// A leaf does not open.
struct Torn;

impl Base {
    pub(super) fn get(&self, id: MemoryId) -> Option<&Memory> {
        self.or_instead(|base| base.find(id), |rows| rows.get(id))
    }

    /// The memory at the path with this key.
    pub(super) fn at(&self, key: &String) -> Option<&Memory> {
        self.or_instead(|base| base.find_at(key), |rows| rows.at(key))
    }

    fn or_instead<'a>(
        &'a self,
        look: impl FnOnce(&'a Self) -> std::result::Result<Option<&'a Memory>, Torn>,
        look_instead: impl FnOnce(&'a Rows) -> Option<&'a Memory>,
    ) -> Option<&'a Memory> {
        if self.reading.instead.get().is_none()
            && let Ok(found) = look(self)
        {
            return found;
        }
        look_instead(self.instead())
    }

    fn find(&self, id: MemoryId) -> std::result::Result<Option<&Memory>, Torn> {
        let Some(row) = self.find_in(&self.by_id, &id.0)? else {
            return Ok(None);
        };
        let found = self.find_at(&row.key)?;
        found.filter(|memory| memory.id == id).map(Some).ok_or(Torn)
    }

    fn find_at(&self, key: &String) -> std::result::Result<Option<&Memory>, Torn> {
        self.find_in(&self.by_path, key)
    }

    fn find_in<'a, R: Row>(
        &'a self,
        tree: &'a Tree<R>,
        key: &R::Key,
    ) -> std::result::Result<Option<&'a R>, Torn> {
        let Some(leaf) = tree.leaves().get(tree.leaf_of(key)) else {
            return Ok(None);
        };
        let rows = self.open(leaf).ok_or(Torn)?;
        let found = rows.binary_search_by(|row| row.cmp_key(key)).ok();
        Ok(found.map(|index| &rows[index]))
    }

    /// The rows of a leaf; `None` if it does not open.
    pub(super) fn open<'a, R: Row>(&self, leaf: &'a Leaf<R>) -> Option<&'a [R]> {
        let rows = leaf.rows.get_or_init(|| {
            self.reading.leaves_open.update(|open| open + 1);
            let place = leaf.place;
            if place.length > BLOCK_BYTES_MAX {
                return None;
            }
            let mut bytes = vec![0; place.length as usize];
            self.file.read_exact_at(&mut bytes, place.offset).ok()?;
            let sealed = bytes.get(LEAF_PREFIX_BYTES..)?;
            let plain = self.key.open(&self.names.of_leaf(place.id), sealed)?;
            R::decode(&plain)
        });
        rows.as_deref()
    }

    /// What history says there was.
    fn instead(&self) -> &Rows {
        let fold = || match &self.refold {
            Some(refold) => refold(self.head).map(|catalog| catalog.rows),
            None => Err(Error::damaged("the catalog", "a part of it does not open")),
        };
        self.reading.instead.get_or_init(|| {
            let rows = fold().unwrap_or_else(|fault| {
                // The first is kept: there is no second, as this is done once.
                drop(self.reading.fault.set(fault));
                Rows::default()
            });
            Box::new(rows)
        })
    }

    /// Whether something did not open.
    pub(super) fn is_torn(&self) -> bool {
        self.reading.instead.get().is_some()
    }

    /// Why nothing is known, where that is so.
    pub(super) fn take_fault(&mut self) -> Option<Error> {
        self.reading.fault.take()
    }

    /// Whether every leaf opens.
    pub(super) fn is_whole(&self) -> bool {
        let by_path = self.by_path.leaves().iter();
        let mut by_id = self.by_id.leaves().iter();
        by_path.map(|leaf| self.open(leaf)).all(|it| it.is_some())
            && by_id.all(|leaf| self.open(leaf).is_some())
    }

    /// Lets go of rows that were opened, if they are many.
    pub(super) fn close_many(&mut self) {
        if self.reading.leaves_open.get() > LEAVES_OPEN_MAX {
            self.by_path.close();
            self.by_id.close();
            self.reading.leaves_open.set(0);
        }
    }

    /// The memories from one key to another, in order.
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

/// Memories of a base, in the order of their paths.
pub(super) struct BaseRange<'a> {
    base: &'a Base,
    /// Nothing from here on was answered yet.
    from: Bound<String>,
    to: Bound<String>,
    /// The leaf that is opened next.
    leaf: usize,
    rows: std::slice::Iter<'a, Memory>,
    instead: Option<Box<Range<'a>>>,
    is_done: bool,
}

impl<'a> BaseRange<'a> {
    /// Opens the next leaf; `None` behind the last.
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
            self.instead = Some(Box::new(self.base.instead().range(from, to)));
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
