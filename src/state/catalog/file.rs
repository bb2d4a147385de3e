//! The file `catalog`: a sealed state in leaves and a root, and behind it one small sealed step for
//! each later event. Nothing in it is trusted unless it opens: history is the truth.
//!
//! When there are many steps, the leaves they change are written anew behind them, and a root that
//! names these and the leaves that stay. So a process opens the root, the steps and the leaves it
//! looks into, and writes what changed.

use std::sync::Arc;

use super::base::{Base, Reading, Refold};
use super::leaves::write_leaves;
pub(crate) use super::open::Made;
use super::open::{Open, ROOTS_AT, RootRow, STEPS_BYTES_MAX};
use super::row::{self, RetentionRow, StateRow, Whereabouts};
use super::rows::Rows;
use super::tree::{Place, Tree};
use super::writer::{Kept, Names, Writer, block};
use super::{Catalog, Memory};
use crate::crypto::aead::Key;
use crate::disk::{File, FileExt, Folder, Name};
use crate::id::{self, StoreId};

pub(super) const MAGIC: &[u8; 16] = b"agekeep-catalog5";
/// Magic, store id, ids of this file and of its line, and where its last two roots are.
pub(super) const HEADER_BYTES: usize = 80;
/// The file may have this much, and as much again as is in use, that no root needs any more.
const UNUSED_BYTES_MAX: u64 = 1 << 20;
/// After a file could not be written it is tried again when so many events have come.
const RETRY_EVENTS: u64 = 512;

/// The catalog file of an open store. Every method is called with the store's lock held.
pub(crate) struct CatalogFile {
    /// `None` where nothing is kept.
    folder: Option<Folder>,
    name: Name,
    store: StoreId,
    refold: Option<Refold>,
    open: Option<Open>,
    /// The number of events before which writing is not tried again.
    retry_at: u64,
}

impl CatalogFile {
    /// The file in a store's folder.
    pub(crate) fn new(folder: &Folder, name: Name, store: StoreId) -> Self {
        Self {
            folder: Some(folder.clone()),
            name,
            ..Self::nowhere(store)
        }
    }

    /// No file: nothing is read, and nothing written.
    pub(crate) fn nowhere(store: StoreId) -> Self {
        Self {
            folder: None,
            name: Name::CATALOG,
            store,
            refold: None,
            open: None,
            retry_at: 0,
        }
    }

    /// Goes on in another folder, with what is there.
    pub(crate) fn follow(&mut self, folder: &Folder) {
        self.folder = Some(folder.clone());
        self.open = None;
    }

    /// Says how to make a state again of which a part does not open.
    pub(crate) fn refolded_by(mut self, refold: Refold) -> Self {
        self.refold = Some(refold);
        self
    }

    /// Brings `catalog` up to what the file holds, as far as its blocks open and fit. What does
    /// not is left for history to tell.
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
            open.follow(catalog);
        }
    }

    fn read_root(&self, catalog: &mut Catalog, key: &Key) -> Option<Open> {
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
        // The one before, if the last was cut off.
        for at in [ROOTS_AT, ROOTS_AT + 8] {
            let root = u64_at(&header, usize::try_from(at).expect("small"));
            let open = Open::at(Arc::clone(&file), names, key.again(), root);
            if let Some((open, row)) = open.and_then(Open::read_root) {
                return self.adopt(open, row, catalog);
            }
        }
        None
    }

    /// Takes the state of a root for a catalog that is not ahead of it.
    fn adopt(&self, open: Open, row: RootRow, catalog: &mut Catalog) -> Option<Open> {
        if catalog.events > row.state.events {
            return Some(open);
        }
        let mut state = Catalog::empty();
        row.state.restore(&mut state)?;
        row.retention.restore(&mut state)?;
        state.recent = row.recent;
        let base = self.base(&open, &state, Tree::new(row.by_path), Tree::new(row.by_id))?;
        state.rows = Rows::on(base, row.count, row.bytes);
        if catalog.events < state.events || catalog.head == state.head {
            *catalog = state;
        }
        Some(open)
    }

    fn base(
        &self,
        open: &Open,
        state: &Catalog,
        by_path: Tree<Memory>,
        by_id: Tree<Whereabouts>,
    ) -> Option<Base> {
        Some(Base {
            file: Arc::clone(&open.file),
            inode: open.inode,
            names: open.names,
            key: open.key.again(),
            head: state.head?,
            by_path,
            by_id,
            refold: self.refold.clone(),
            reading: Reading::default(),
        })
    }

    /// Lets go of what was read of the file.
    pub(crate) fn forget(&mut self) {
        self.open = None;
    }

    /// Adds what the last event made of the catalog. If the file misses an event before it or cannot
    /// be written, it is left alone: history tells the rest, and the next root mends it.
    pub(crate) fn append(&mut self, catalog: &Catalog, key: &Key) {
        // Most often, where many events follow one another, there is no file yet.
        if self.open.is_some() {
            self.add(Made::by_last(catalog).as_ref(), key);
        }
    }

    /// Adds what an event made of the catalog when it was the last.
    pub(crate) fn add(&mut self, made: Option<&Made>, key: &Key) {
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

    /// Adds what the owner decided with the last event.
    pub(crate) fn append_decision(&mut self, catalog: &Catalog, key: &Key) {
        let made = Made::since((catalog.events, catalog.head), catalog);
        self.add(made.as_ref(), key);
    }

    /// Whether a new root is due, or there is no usable file.
    pub(crate) fn wants_root(&self, catalog: &Catalog) -> bool {
        let is_due = self.open.as_ref().is_none_or(|open| {
            (open.events, open.head) != (catalog.events, catalog.head)
                || open.end - open.steps_at > STEPS_BYTES_MAX
        });
        catalog.events >= self.retry_at && (is_due || catalog.is_torn())
    }

    /// Writes a root with everything: in the file, or in a new one.
    pub(crate) fn write_root(&mut self, catalog: &mut Catalog, key: &Key) {
        if self.try_write_root(catalog, key).is_none() {
            self.open = None;
            self.retry_at = catalog.events + RETRY_EVENTS;
        }
    }

    fn try_write_root(&mut self, catalog: &mut Catalog, key: &Key) -> Option<()> {
        let stays = self.open.as_ref().filter(|open| {
            let base = catalog.rows.base();
            base.is_some_and(|base| base.inode == open.inode && base.key.is(key))
                && open.is_at_its_root()
                && open.end < 2 * open.leaf_bytes + UNUSED_BYTES_MAX
        });
        let in_file = stays.and_then(|open| {
            let file = Arc::clone(&open.file);
            let roots = [open.end, open.root];
            Self::put_root(catalog, key, &file, open.names, Kept::Here, roots)
        });
        // Leaves go on as they are, sealed: unless under a key that goes, or if one cannot be read.
        let base = catalog.rows.base();
        let base = base.filter(|base| base.key.is(key) && !base.is_torn());
        let copied = || self.put_file(catalog, key, Some(base?));
        let anew = || self.put_file(catalog, key, None);
        let written = in_file.or_else(copied).or_else(anew)?;
        let (open, by_path, by_id) = written;
        let base = self.base(&open, catalog, by_path, by_id)?;
        catalog.rows.rest_on(base);
        self.open = Some(open);
        Some(())
    }

    /// Writes a new file, with the leaves of a base or without, and puts it in place.
    fn put_file(&self, catalog: &Catalog, key: &Key, base: Option<&Base>) -> Option<Written> {
        let (folder, aside) = (self.folder.as_ref()?, Name::new_aside());
        let file = folder.create_new(&aside, 0o600).ok().map(Arc::new)?;
        let written = self.put_aside(&file, catalog, key, base);
        let written = written.filter(|_| folder.rename(&aside, &self.name).is_ok());
        if written.is_none() {
            drop(folder.remove(&aside));
        }
        written
    }

    fn put_aside(
        &self,
        file: &Arc<File>,
        catalog: &Catalog,
        key: &Key,
        base: Option<&Base>,
    ) -> Option<Written> {
        let names = Names {
            store: self.store,
            file: id::random(),
            line: base.map_or_else(id::random, |base| base.names.line),
        };
        let start = [&MAGIC[..], &self.store.0, &names.file, &names.line].concat();
        file.write_all_at(&start, 0).ok()?;
        let kept = base.map_or(Kept::None, |base| Kept::In(&base.file));
        let roots = [HEADER_BYTES as u64, 0];
        Self::put_root(catalog, key, file, names, kept, roots)
    }

    /// Writes leaves and a root behind what is in a file, and then says in its header where that
    /// root is, and the one before.
    fn put_root(
        catalog: &Catalog,
        key: &Key,
        file: &Arc<File>,
        names: Names,
        kept: Kept<'_>,
        [offset, before]: [u64; 2],
    ) -> Option<Written> {
        let mut writer = Writer {
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
            by_path: owned(by_path.directory()),
            by_id: owned(by_id.directory()),
        });
        let bytes = block(key, &names.of_root(root), &row)?;
        writer.put(&bytes)?;
        writer.flush()?;
        let leaf_bytes = writer.leaf_bytes;
        // Where this comes to the disk first, the root before is found in its place.
        let roots = [root.to_le_bytes(), before.to_le_bytes()].concat();
        file.write_all_at(&roots, ROOTS_AT).ok()?;
        let mut open = Open::at(Arc::clone(file), names, key.again(), root)?;
        let state = (catalog.events, catalog.head);
        open.begin_at(root + bytes.len() as u64, state, leaf_bytes);
        Some((open, by_path, by_id))
    }
}

/// What was written: the file, and what is in it.
type Written = (Open, Tree<Memory>, Tree<Whereabouts>);

fn owned<K: Clone>(directory: Vec<(&K, Place)>) -> Vec<(K, Place)> {
    let leaves = directory.into_iter();
    leaves.map(|(key, at)| (key.clone(), at)).collect()
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}
