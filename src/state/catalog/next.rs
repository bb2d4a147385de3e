//! The file that follows a catalog file most of which is unused. In a process that goes on, a thread
//! copies the leaves while commands add steps to the old file; then only leaves that have changed
//! meanwhile are left to write. Before it is put in place nobody reads it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use crate::disk::{File, FileExt, Folder, Name};
use crate::id::{self, StoreId};
use crate::state::catalog::file::{HEADER_BYTES, MAGIC};
use crate::state::catalog::rows::CatalogReader;
use crate::state::catalog::tree::{CopiedLeaves, LeafAddress, LeafWriter, Names, ReusedLeaves};

/// A new file, which is not in its place yet.
pub(super) struct NextFile {
    pub(super) file: Arc<File>,
    pub(super) names: Names,
    pub(super) copied: CopiedLeaves,
    pub(super) end: u64,
}

impl NextFile {
    /// Makes a file without leaves. `line` is that of the file whose leaves it gets.
    pub(super) fn begin(
        folder: &Folder,
        aside: &Name,
        store: StoreId,
        line: [u8; 16],
    ) -> Option<Self> {
        let file = folder.create_new(aside, 0o600).ok().map(Arc::new)?;
        let names = Names {
            store,
            file: id::random(),
            line,
        };
        let start = [&MAGIC[..], &store.0, &names.file, &line].concat();
        if file.write_all_at(&start, 0).is_err() {
            drop(folder.remove(aside));
            return None;
        }
        Some(Self {
            file,
            names,
            copied: CopiedLeaves::new(),
            end: HEADER_BYTES as u64,
        })
    }
}

/// A thread that copies leaves into a new file. Dropping this ends it, and removes the file unless it
/// was put in place.
pub(super) struct LeafCopy {
    folder: Folder,
    aside: Name,
    /// The inode of the file with the leaves.
    from: u64,
    gives_up: Arc<AtomicBool>,
    thread: Option<JoinHandle<Option<NextFile>>>,
}

impl LeafCopy {
    /// Begins to copy the leaves of a file, which never change.
    pub(super) fn begin(folder: &Folder, base: &CatalogReader) -> Option<Self> {
        let aside = Name::new_temporary();
        let mut next = NextFile::begin(folder, &aside, base.names.store, base.names.line)?;
        let by_path = base.by_path.leaves().iter().map(|leaf| leaf.place);
        let by_id = base.by_id.leaves().iter().map(|leaf| leaf.place);
        let leaves: Vec<LeafAddress> = by_path.chain(by_id).collect();
        let (from, key) = (Arc::clone(&base.file), base.key.again());
        let gives_up = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&gives_up);
        let copy = move || {
            let (mut copied, none) = (CopiedLeaves::new(), CopiedLeaves::new());
            let file = Arc::clone(&next.file);
            let mut writer = LeafWriter {
                file: &file,
                names: next.names,
                key: &key,
                kept: ReusedLeaves::In(&from, &none),
                offset: next.end,
                buffer: Vec::new(),
                leaf_bytes: 0,
            };
            for leaf in leaves {
                if stop.load(Ordering::Relaxed) {
                    return None;
                }
                copied.insert(leaf.id, writer.keep(leaf)?);
            }
            writer.flush()?;
            (next.end, next.copied) = (writer.end(), copied);
            Some(next)
        };
        let thread = thread::Builder::new().name("catalog".into()).spawn(copy);
        Some(Self {
            folder: folder.clone(),
            aside,
            from: base.inode,
            gives_up,
            thread: thread.ok(),
        })
    }

    /// Tells whether waiting longer is of no use.
    pub(super) fn is_done(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Returns the new file and its name, if its leaves are those of `base`.
    pub(super) fn finish(mut self, base: &CatalogReader) -> Option<(Name, NextFile)> {
        if !self.is_done() || self.from != base.inode {
            return None;
        }
        let next = self.thread.take()?.join().ok()??;
        Some((
            std::mem::replace(&mut self.aside, Name::new_temporary()),
            next,
        ))
    }
}

impl Drop for LeafCopy {
    fn drop(&mut self) {
        self.gives_up.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
        drop(self.folder.remove(&self.aside));
    }
}
