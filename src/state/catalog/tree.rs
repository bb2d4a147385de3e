//! Rows in the order of their keys, in sealed leaves of a few dozen: what is looked up opens one
//! leaf, and what changes writes that leaf anew, at another place.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::crypto::aead::Key;
use crate::disk::{File, FileExt};
use crate::id;
use crate::id::StoreId;
use crate::state::catalog::file::BLOCK_BYTES_MAX;
use crate::state::catalog::row::{Row, Whereabouts};
use crate::state::catalog::rows::Base;
use crate::state::catalog::{Catalog, Memory, key};

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

// Writes blocks of the catalog file, one behind the other.

/// Bytes that are gathered before they are written.
const BUFFER_BYTES: usize = 1 << 20;
/// What stands before what is sealed in a leaf: its length and its id.
pub(super) const LEAF_PREFIX_BYTES: usize = 4 + 8;

/// Which store and files a block is bound to.
#[derive(Clone, Copy)]
pub(super) struct Names {
    pub(super) store: StoreId,
    /// Of this file: random.
    pub(super) file: [u8; 16],
    /// Of this file, and of those that leaves of it are copied to.
    pub(super) line: [u8; 16],
}

impl Names {
    /// A leaf is bound to its own id, so that it can be copied to another file.
    pub(super) fn of_leaf(&self, id: [u8; 8]) -> Vec<u8> {
        [
            &b"agekeep/1 catalog leaf "[..],
            &self.store.0,
            &self.line,
            &id,
        ]
        .concat()
    }

    /// A root is bound to its place.
    pub(super) fn of_root(&self, offset: u64) -> Vec<u8> {
        let label = &b"agekeep/1 catalog root "[..];
        let place = offset.to_le_bytes();
        [label, &self.store.0, &self.file, &self.line, &place].concat()
    }

    /// A step is bound to its root, and to the number of steps before it.
    pub(super) fn of_step(&self, root: u64, index: u64) -> Vec<u8> {
        let label = &b"agekeep/1 catalog step "[..];
        let (root, index) = (root.to_le_bytes(), index.to_le_bytes());
        [label, &self.store.0, &self.file, &root, &index].concat()
    }
}

/// A sealed block, with its length before it.
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

/// Which leaves stay as they are.
#[derive(Clone, Copy)]
pub(super) enum Kept<'a> {
    /// None: all are written.
    None,
    /// Those of the same file, where they are.
    Here,
    /// Those of another file: they are copied.
    In(&'a File),
}

/// Writes to a file from some place on.
pub(super) struct Writer<'a> {
    pub(super) file: &'a File,
    pub(super) names: Names,
    pub(super) key: &'a Key,
    pub(super) kept: Kept<'a>,
    /// Where what is in the buffer goes.
    pub(super) offset: u64,
    pub(super) buffer: Vec<u8>,
    /// Bytes of all leaves that were written or kept.
    pub(super) leaf_bytes: u64,
}

impl Writer<'_> {
    /// Where the next block goes.
    pub(super) fn end(&self) -> u64 {
        self.offset + self.buffer.len() as u64
    }

    pub(super) fn put_leaf(&mut self, plain: &[u8]) -> Option<Place> {
        let id = id::random();
        let sealed = self.key.seal(&self.names.of_leaf(id), plain);
        self.place(id, &with_length(&[&id, &sealed])?)
    }

    /// Keeps a leaf as it is.
    pub(super) fn keep(&mut self, leaf: Place) -> Option<Place> {
        match self.kept {
            Kept::None => None,
            Kept::Here => {
                self.leaf_bytes += u64::from(leaf.length);
                Some(leaf)
            }
            Kept::In(_) if leaf.length > BLOCK_BYTES_MAX => None,
            Kept::In(file) => {
                let mut bytes = vec![0; leaf.length as usize];
                file.read_exact_at(&mut bytes, leaf.offset).ok()?;
                self.place(leaf.id, &bytes)
            }
        }
    }

    fn place(&mut self, id: [u8; 8], bytes: &[u8]) -> Option<Place> {
        let place = Place {
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

// Which leaves a new root needs: all, or those of rows that changed since the last.

/// Writes what differs from the leaves that are kept: all, where none are. `None` if one of those
/// does not open, or cannot be written.
pub(super) fn write_leaves(
    catalog: &Catalog,
    writer: &mut Writer<'_>,
) -> Option<(Tree<Memory>, Tree<Whereabouts>)> {
    match (writer.kept, catalog.rows.base()) {
        (Kept::None, _) | (_, None) => write_all(catalog, writer),
        (_, Some(base)) => write_changed(catalog, base, writer),
    }
}

fn write_all(
    catalog: &Catalog,
    writer: &mut Writer<'_>,
) -> Option<(Tree<Memory>, Tree<Whereabouts>)> {
    let all = || catalog.rows.all();
    let paths: BTreeMap<_, _> = all().map(|m| (key(&m.path), Some(m))).collect();
    // Not so where a leaf does not open, and history does not tell what was in it.
    if paths.len() as u64 != catalog.rows.count() {
        return None;
    }
    let by_path = Tree::new(Vec::new()).rewritten(paths, |_| None, writer)?;
    let places: Vec<Whereabouts> = all().map(Whereabouts::of).collect();
    let ids = places.iter().map(|row| (row.id.0, Some(row)));
    let by_id = Tree::new(Vec::new()).rewritten(ids.collect(), |_| None, writer)?;
    Some((by_path, by_id))
}

fn write_changed(
    catalog: &Catalog,
    base: &Base,
    writer: &mut Writer<'_>,
) -> Option<(Tree<Memory>, Tree<Whereabouts>)> {
    let changed = catalog.rows.changed();
    let changed: Vec<_> = changed.map(|(id, now)| (base.get(id), now)).collect();
    let (mut paths, mut ids) = (BTreeMap::new(), BTreeMap::new());
    for was in changed.iter().filter_map(|(was, _)| *was) {
        paths.insert(key(&was.path), None);
    }
    for now in changed.iter().filter_map(|(_, now)| *now) {
        paths.insert(key(&now.path), Some(now));
    }
    // Where nothing moved, the leaf of its id stays.
    let path = |memory: Option<&Memory>| memory.map(|memory| memory.path.clone());
    let moved = changed.iter().filter(|(was, now)| path(*was) != path(*now));
    let moved: Vec<_> = moved.collect();
    let places = moved.iter().filter_map(|(_, now)| now.map(Whereabouts::of));
    let places: Vec<Whereabouts> = places.collect();
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
