//! Rows in key order, in sealed leaves of a few dozen. A look-up opens one leaf; a change rewrites
//! one leaf at another place.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use crate::crypto::aead::Key;
use crate::disk::{File, FileExt};
use crate::id::{self, StoreId};
use crate::state::catalog::file::BLOCK_BYTES_MAX;
use crate::state::catalog::row::{IdIndexRow, Row};
use crate::state::catalog::rows::CatalogReader;
use crate::state::catalog::{Catalog, Memory, key};

/// The most rows in a leaf: a look-up opens one leaf, and a change rewrites one.
const LEAF_ROWS_MAX: usize = 64;
/// The approximate rows of each part when a leaf is split, which leaves room for more.
const LEAF_ROWS: usize = 48;
/// Rows collected before they are cut into leaves.
const RUN_ROWS: usize = 64 * LEAF_ROWS;

/// The location of a leaf in the file, and the id it is sealed under.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct LeafAddress {
    pub(super) id: [u8; 8],
    pub(super) offset: u64,
    /// Length of the whole block.
    pub(super) length: u32,
}

/// A leaf. `rows` is set once it was opened, to `None` if it does not open.
pub(super) struct Leaf<R: Row> {
    /// A lower bound for the keys of its rows, except in the first leaf.
    first: R::Key,
    pub(super) place: LeafAddress,
    pub(super) rows: OnceCell<Option<Vec<R>>>,
}

/// All leaves, in order.
pub(super) struct LeafTree<R: Row> {
    leaves: Vec<Leaf<R>>,
}

impl<R: Row> Leaf<R> {
    fn new(first: R::Key, place: LeafAddress) -> Self {
        Self {
            first,
            place,
            rows: OnceCell::new(),
        }
    }
}

impl<R: Row> LeafTree<R> {
    pub(super) fn new(leaves: Vec<(R::Key, LeafAddress)>) -> Self {
        let leaves = leaves.into_iter();
        Self {
            leaves: leaves.map(|(first, at)| Leaf::new(first, at)).collect(),
        }
    }

    pub(super) fn directory(&self) -> Vec<(R::Key, LeafAddress)> {
        let leaves = self.leaves.iter();
        leaves
            .map(|leaf| (leaf.first.clone(), leaf.place))
            .collect()
    }

    pub(super) fn leaves(&self) -> &[Leaf<R>] {
        &self.leaves
    }

    /// Returns the index of the leaf that would hold a key.
    pub(super) fn leaf_of(&self, key: &R::Key) -> usize {
        let after = self.leaves.partition_point(|leaf| leaf.first <= *key);
        after.saturating_sub(1)
    }

    /// Drops all opened rows.
    pub(super) fn close(&mut self) {
        for leaf in &mut self.leaves {
            leaf.rows = OnceCell::new();
        }
    }

    /// Returns the tree with some rows put in or taken out. Changed leaves are written, the others
    /// kept as the writer says. `None` if a leaf does not open or cannot be written.
    pub(super) fn rewritten<'a>(
        &'a self,
        changes: BTreeMap<R::Key, Option<&'a R>>,
        read: impl Fn(&'a Leaf<R>) -> Option<&'a [R]>,
        writer: &mut LeafWriter<'_>,
    ) -> Option<Self> {
        let mut changes = changes.into_iter().peekable();
        let mut cut = LeafSplitter {
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

/// Merges changes into rows, both in key order.
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

/// Cuts a sequence of rows into leaves.
struct LeafSplitter<'a, R: Row> {
    leaves: Vec<Leaf<R>>,
    run: Vec<&'a R>,
}

impl<R: Row> LeafSplitter<'_, R> {
    fn finish_run(&mut self, writer: &mut LeafWriter<'_>) -> Option<()> {
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

// A writer of consecutive blocks of the catalog file.

/// Bytes buffered before they are written.
const BUFFER_BYTES: usize = 1 << 20;
/// Bytes before the sealed part of a leaf: its length and its id.
pub(super) const LEAF_PREFIX_BYTES: usize = 4 + 8;

/// The store and file ids that a block is bound to.
#[derive(Clone, Copy)]
pub(super) struct Names {
    pub(super) store: StoreId,
    /// The random id of this file.
    pub(super) file: [u8; 16],
    /// The id shared by this file and those that its leaves are copied to.
    pub(super) line: [u8; 16],
}

impl Names {
    /// Returns the associated data of a leaf: its own id, so that it can be copied to another file.
    pub(super) fn of_leaf(&self, id: [u8; 8]) -> Vec<u8> {
        [
            &b"agekeep/1 catalog leaf "[..],
            &self.store.0,
            &self.line,
            &id,
        ]
        .concat()
    }

    /// Returns the associated data of a root: its offset.
    pub(super) fn of_root(&self, offset: u64) -> Vec<u8> {
        let label = &b"agekeep/1 catalog root "[..];
        let place = offset.to_le_bytes();
        [label, &self.store.0, &self.file, &self.line, &place].concat()
    }

    /// Returns the associated data of a step: its root, and the number of steps before it.
    pub(super) fn of_step(&self, root: u64, index: u64) -> Vec<u8> {
        let label = &b"agekeep/1 catalog step "[..];
        let (root, index) = (root.to_le_bytes(), index.to_le_bytes());
        [label, &self.store.0, &self.file, &root, &index].concat()
    }
}

/// Seals a block, with its length before it.
pub(super) fn block(key: &Key, context: &[u8], plain: &[u8]) -> Option<Vec<u8>> {
    with_length(&[&key.seal(context, plain)])
}

fn with_length(parts: &[&[u8]]) -> Option<Vec<u8>> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let mut bytes = u32::try_from(length).ok()?.to_le_bytes().to_vec();
    for part in parts {
        bytes.extend_from_slice(part);
    }
    Some(bytes)
}

/// The leaves that are kept as they are.
#[derive(Clone, Copy)]
pub(super) enum ReusedLeaves<'a> {
    /// None: all are written.
    None,
    /// Leaves of the same file, kept in place.
    Here,
    /// Leaves of another file, copied now unless they were copied before.
    In(&'a File, &'a CopiedLeaves),
}

/// The places of leaves in the file that they were copied to, by their ids.
pub(super) type CopiedLeaves = HashMap<[u8; 8], LeafAddress>;

/// A buffered writer that starts at an offset of a file.
pub(super) struct LeafWriter<'a> {
    pub(super) file: &'a File,
    pub(super) names: Names,
    pub(super) key: &'a Key,
    pub(super) kept: ReusedLeaves<'a>,
    /// The offset at which the buffer is written.
    pub(super) offset: u64,
    pub(super) buffer: Vec<u8>,
    /// Bytes of all leaves written or kept.
    pub(super) leaf_bytes: u64,
}

impl LeafWriter<'_> {
    /// Returns the offset of the next block.
    pub(super) fn end(&self) -> u64 {
        self.offset + self.buffer.len() as u64
    }

    pub(super) fn put_leaf(&mut self, plain: &[u8]) -> Option<LeafAddress> {
        let id = id::random();
        let sealed = self.key.seal(&self.names.of_leaf(id), plain);
        self.place(id, &with_length(&[&id, &sealed])?)
    }

    /// Keeps a leaf as it is.
    pub(super) fn keep(&mut self, leaf: LeafAddress) -> Option<LeafAddress> {
        match self.kept {
            ReusedLeaves::None => None,
            ReusedLeaves::Here => Some(self.kept_at(leaf)),
            ReusedLeaves::In(..) if leaf.length > BLOCK_BYTES_MAX => None,
            ReusedLeaves::In(file, copied) => {
                if let Some(place) = copied.get(&leaf.id) {
                    return Some(self.kept_at(*place));
                }
                let mut bytes = vec![0; leaf.length as usize];
                file.read_exact_at(&mut bytes, leaf.offset).ok()?;
                self.place(leaf.id, &bytes)
            }
        }
    }

    fn kept_at(&mut self, place: LeafAddress) -> LeafAddress {
        self.leaf_bytes += u64::from(place.length);
        place
    }

    fn place(&mut self, id: [u8; 8], bytes: &[u8]) -> Option<LeafAddress> {
        let place = LeafAddress {
            id,
            offset: self.end(),
            length: u32::try_from(bytes.len()).ok()?,
        };
        self.leaf_bytes += bytes.len() as u64;
        self.put(bytes)?;
        Some(place)
    }

    pub(super) fn put(&mut self, bytes: &[u8]) -> Option<()> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BUFFER_BYTES {
            self.flush()?;
        }
        Some(())
    }

    pub(super) fn flush(&mut self) -> Option<()> {
        self.file.write_all_at(&self.buffer, self.offset).ok()?;
        self.offset = self.end();
        self.buffer.clear();
        Some(())
    }
}

// Selects the leaves a new root needs: all, or those whose rows changed since the last root.

/// Writes the leaves that differ from those kept, or all if none are kept. `None` if a kept leaf
/// does not open, or a leaf cannot be written.
pub(super) fn write_leaves(
    catalog: &Catalog,
    writer: &mut LeafWriter<'_>,
) -> Option<(LeafTree<Memory>, LeafTree<IdIndexRow>)> {
    match (writer.kept, catalog.rows.base()) {
        (ReusedLeaves::None, _) | (_, None) => write_all(catalog, writer),
        (_, Some(base)) => write_changed(catalog, base, writer),
    }
}

fn write_all(
    catalog: &Catalog,
    writer: &mut LeafWriter<'_>,
) -> Option<(LeafTree<Memory>, LeafTree<IdIndexRow>)> {
    let all = || catalog.rows.all();
    let paths: BTreeMap<_, _> = all().map(|m| (key(&m.path), Some(m))).collect();
    // They differ if a leaf does not open and history cannot replace it.
    if paths.len() as u64 != catalog.rows.count() {
        return None;
    }
    let by_path = LeafTree::new(Vec::new()).rewritten(paths, |_| None, writer)?;
    let places: Vec<IdIndexRow> = all().map(IdIndexRow::of).collect();
    let ids = places.iter().map(|row| (row.id.0, Some(row)));
    let by_id = LeafTree::new(Vec::new()).rewritten(ids.collect(), |_| None, writer)?;
    Some((by_path, by_id))
}

fn write_changed(
    catalog: &Catalog,
    base: &CatalogReader,
    writer: &mut LeafWriter<'_>,
) -> Option<(LeafTree<Memory>, LeafTree<IdIndexRow>)> {
    let changed = catalog.rows.changed();
    let changed: Vec<_> = changed.map(|(id, now)| (base.get(id), now)).collect();
    let (mut paths, mut ids) = (BTreeMap::new(), BTreeMap::new());
    for was in changed.iter().filter_map(|(was, _)| *was) {
        paths.insert(key(&was.path), None);
    }
    for now in changed.iter().filter_map(|(_, now)| *now) {
        paths.insert(key(&now.path), Some(now));
    }
    // The id leaf changes only if the path changed.
    let path = |memory: Option<&Memory>| memory.map(|memory| memory.path.clone());
    let moved = changed.iter().filter(|(was, now)| path(*was) != path(*now));
    let moved: Vec<_> = moved.collect();
    let places = moved.iter().filter_map(|(_, now)| now.map(IdIndexRow::of));
    let places: Vec<IdIndexRow> = places.collect();
    for was in moved.iter().filter_map(|(was, _)| *was) {
        ids.insert(was.id.0, None);
    }
    for row in &places {
        ids.insert(row.id.0, Some(row));
    }
    if base.is_torn() {
        return None;
    }
    let by_path = base
        .by_path
        .rewritten(paths, |leaf| base.open(leaf), writer)?;
    let by_id = base.by_id.rewritten(ids, |leaf| base.open(leaf), writer)?;
    Some((by_path, by_id))
}
