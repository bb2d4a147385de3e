//! All packs of a store: where an object is, and what becomes of a pack that is no longer needed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::super::object::ObjectId;
use super::Type;
use super::index::Index;
use super::reader::{Found, Pack, Tools};

/// What stock git keeps beside a pack. The index comes first: without it a pack is not looked at.
const BESIDE: [&str; 5] = ["idx", "rev", "bitmap", "mtimes", "promisor"];
/// An index over several packs, of stock git's.
const INDEX_OF_ALL: &str = "multi-pack-index";

/// How much older than a new pack one without an index is that nobody waits for.
const ORPHAN_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// A pack file, and what is known of it without opening it.
pub(in super::super) struct PackFile {
    pub(in super::super) path: PathBuf,
    pub(in super::super) bytes: u64,
    pub(in super::super) time: SystemTime,
    /// Whether somebody wants it to stay as it is.
    pub(in super::super) kept: bool,
}

/// The packs that have an index, newest first.
pub(in super::super) fn files(folder: &Path) -> io::Result<Vec<PackFile>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(e),
    };
    let mut files = Vec::new();
    for entry in entries {
        let index = entry?.path();
        if index.extension().is_none_or(|end| end != "idx") {
            continue;
        }
        let path = index.with_extension("pack");
        // Another process may have put a larger one in its place meanwhile.
        let Ok(meta) = fs::metadata(&path) else {
            continue;
        };
        files.push(PackFile {
            bytes: meta.len(),
            time: meta.modified()?,
            kept: path.with_extension("keep").exists(),
            path,
        });
    }
    files.sort_by(|a, b| (b.time, &b.path).cmp(&(a.time, &a.path)));
    Ok(files)
}

/// A pack beside which there is no index, or a torn one: nothing in it is found.
pub(in super::super) fn without_index(folder: &Path) -> io::Result<Option<PathBuf>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_none_or(|end| end != "pack") {
            continue;
        }
        match Index::open(&path.with_extension("idx")) {
            Err(e) if e.kind() == io::ErrorKind::NotFound || is_content_fault(&e) => {
                return Ok(Some(path));
            }
            Ok(_) | Err(_) => {}
        }
    }
    Ok(None)
}

/// Removes a pack whose objects are all in another.
pub(in super::super) fn remove(path: &Path) {
    // Stock git takes what an index over several packs names for there.
    if let Some(folder) = path.parent() {
        drop(fs::remove_file(folder.join(INDEX_OF_ALL)));
    }
    for end in BESIDE {
        drop(fs::remove_file(path.with_extension(end)));
    }
    drop(fs::remove_file(path));
}

/// Removes packs that a process was killed over before their indexes were in place, or once those
/// were gone. Stock git may be between the two just now: only those go that are much older than the
/// pack at `newest`.
pub(in super::super) fn remove_orphans(folder: &Path, newest: &Path) -> io::Result<()> {
    let before = fs::metadata(newest)?.modified()?.checked_sub(ORPHAN_AGE);
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_orphan = path.extension().is_some_and(|end| end == "pack")
            && !path.with_extension("idx").exists()
            && before > Some(fs::metadata(&path)?.modified()?);
        if is_orphan {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// What is found of an object in packs.
pub(in super::super) enum Packed {
    Absent,
    Whole(Type, Vec<u8>),
    Damaged(String),
}

/// The packs that were there when it was looked.
pub(in super::super) struct Packs {
    packs: Vec<Pack>,
    tools: Tools,
}

impl Packs {
    pub(in super::super) fn list(folder: &Path) -> io::Result<Self> {
        let files = files(folder)?.into_iter();
        Ok(Self {
            packs: files.map(|file| Pack::at(file.path)).collect(),
            tools: Tools::new(),
        })
    }

    /// Looks for an object, checking of what it finds only that it is all there. Where one pack has
    /// it damaged, another may have it whole; `fits` says which that is.
    pub(in super::super) fn read(
        &mut self,
        id: ObjectId,
        fits: impl Fn(Type, &[u8]) -> bool,
    ) -> io::Result<Packed> {
        let mut damaged = Packed::Absent;
        for at in 0..self.packs.len() {
            let why = match self.read_from(at, id) {
                Ok(None) => continue,
                Ok(Some((kind, bytes))) if fits(kind, &bytes) => {
                    // What is asked for next is often beside it.
                    self.packs[..=at].rotate_right(1);
                    return Ok(Packed::Whole(kind, Arc::unwrap_or_clone(bytes)));
                }
                Ok(Some(_)) => "its pack entry does not hash to its name".into(),
                // Gone since, with its objects in another.
                Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
                Err(e) if is_content_fault(&e) => e.to_string(),
                Err(e) => return Err(e),
            };
            damaged = Packed::Damaged(why);
        }
        Ok(damaged)
    }

    fn read_from(&mut self, at: usize, id: ObjectId) -> io::Result<Option<Found>> {
        let pack = &self.packs[at];
        match pack.find(id)? {
            Some(offset) => pack.read(offset, &mut self.tools).map(Some),
            None => Ok(None),
        }
    }

    /// Whether a pack has an object, whole or not.
    pub(in super::super) fn has(&self, id: ObjectId) -> io::Result<bool> {
        for pack in &self.packs {
            match pack.find(id) {
                Ok(Some(_)) => return Ok(true),
                Err(e) if e.kind() != io::ErrorKind::NotFound && !is_content_fault(&e) => {
                    return Err(e);
                }
                Ok(None) | Err(_) => {}
            }
        }
        Ok(false)
    }

    /// The objects whose names begin with these hexadecimal digits.
    pub(in super::super) fn named(&self, digits: &str) -> io::Result<Vec<ObjectId>> {
        let mut found = Vec::new();
        for pack in &self.packs {
            found.extend(pack.named(digits)?);
        }
        Ok(found)
    }
}

/// Whether the bytes of a file are wrong, and not the disk or the right to read it.
pub(in super::super) fn is_content_fault(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData
    )
}
