//! Rows in the order of their keys, in sealed leaves of a few dozen: what is looked up opens one
//! leaf, and what changes writes that leaf anew, at another place.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::row::Row;
use super::writer::Writer;

/// Most rows of a leaf: a look-up opens one, and a change writes one anew.
const LEAF_ROWS_MAX: usize = 64;
/// Rows of each part of a leaf that has too many, about: the parts have room for more.
const LEAF_ROWS: usize = 48;
/// Rows that are gathered before they are cut into leaves.
const RUN_ROWS: usize = 64 * LEAF_ROWS;

/// Where a leaf is in the file, and the name it is sealed under.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct Place {
    pub(super) id: [u8; 8],
    pub(super) offset: u64,
    /// Of the whole block.
    pub(super) length: u32,
}

/// A leaf; its rows once they were opened, and `None` if they do not open.
pub(super) struct Leaf<R: Row> {
    /// No row of it has a lesser key, except in the first leaf.
    first: R::Key,
    pub(super) place: Place,
    pub(super) rows: OnceCell<Option<Vec<R>>>,
}

/// All leaves, in order.
pub(super) struct Tree<R: Row> {
    leaves: Vec<Leaf<R>>,
}

impl<R: Row> Leaf<R> {
    fn new(first: R::Key, place: Place) -> Self {
        Self {
            first,
            place,
            rows: OnceCell::new(),
        }
    }
}

impl<R: Row> Tree<R> {
    pub(super) fn new(leaves: Vec<(R::Key, Place)>) -> Self {
        let leaves = leaves.into_iter();
        Self {
            leaves: leaves.map(|(first, at)| Leaf::new(first, at)).collect(),
        }
    }

    pub(super) fn directory(&self) -> Vec<(&R::Key, Place)> {
        let leaves = self.leaves.iter();
        leaves.map(|leaf| (&leaf.first, leaf.place)).collect()
    }

    pub(super) fn leaves(&self) -> &[Leaf<R>] {
        &self.leaves
    }

    /// The number of the leaf in which a key would be.
    pub(super) fn leaf_of(&self, key: &R::Key) -> usize {
        let after = self.leaves.partition_point(|leaf| leaf.first <= *key);
        after.saturating_sub(1)
    }

    /// Lets go of every row that was opened.
    pub(super) fn close(&mut self) {
        for leaf in &mut self.leaves {
            leaf.rows = OnceCell::new();
        }
    }

    /// The tree with some rows put in or taken out: leaves that change are written, the others kept
    /// as the writer keeps them. `None` if a leaf does not open or cannot be written.
    pub(super) fn rewritten<'a>(
        &'a self,
        changes: BTreeMap<R::Key, Option<&'a R>>,
        read: impl Fn(&'a Leaf<R>) -> Option<&'a [R]>,
        writer: &mut Writer<'_>,
    ) -> Option<Self> {
        let mut changes = changes.into_iter().peekable();
        let mut cut = Cutter {
            leaves: Vec::with_capacity(self.leaves.len() + 8),
            run: Vec::new(),
        };
        for (index, leaf) in self.leaves.iter().enumerate() {
            let next = self.leaves.get(index + 1).map(|next| &next.first);
            let is_here = |key: &R::Key| next.is_none_or(|next| key < next);
            let mut here = Vec::new();
            while let Some(change) = changes.next_if(|(key, _)| is_here(key)) {
                here.push(change);
            }
            if here.is_empty() {
                cut.finish_run(writer)?;
                let place = writer.keep(leaf.place)?;
                cut.leaves.push(Leaf::new(leaf.first.clone(), place));
            } else {
                merge(read(leaf)?, here, &mut cut.run);
                if cut.run.len() >= RUN_ROWS {
                    cut.finish_run(writer)?;
                }
            }
        }
        for (_, row) in changes {
            cut.run.extend(row);
            if cut.run.len() >= RUN_ROWS {
                cut.finish_run(writer)?;
            }
        }
        cut.finish_run(writer)?;
        Some(Self { leaves: cut.leaves })
    }
}

/// Rows with changes to some of them, both in the order of their keys.
fn merge<'a, R: Row>(
    rows: &'a [R],
    changes: Vec<(R::Key, Option<&'a R>)>,
    merged: &mut Vec<&'a R>,
) {
    let mut rows = rows.iter().peekable();
    for (key, row) in changes {
        while let Some(before) = rows.next_if(|row| row.cmp_key(&key).is_lt()) {
            merged.push(before);
        }
        rows.next_if(|row| row.cmp_key(&key).is_eq());
        merged.extend(row);
    }
    merged.extend(rows);
}

/// Cuts rows that come one after the other into leaves.
struct Cutter<'a, R: Row> {
    leaves: Vec<Leaf<R>>,
    run: Vec<&'a R>,
}

impl<R: Row> Cutter<'_, R> {
    fn finish_run(&mut self, writer: &mut Writer<'_>) -> Option<()> {
        let count = self.run.len();
        let parts = match count {
            0 => return Some(()),
            1..=LEAF_ROWS_MAX => 1,
            _ => count.div_ceil(LEAF_ROWS),
        };
        for rows in self.run.chunks(count.div_ceil(parts)) {
            let place = writer.put_leaf(&R::encode(rows))?;
            self.leaves.push(Leaf::new(rows[0].key(), place));
        }
        self.run.clear();
        Some(())
    }
}
