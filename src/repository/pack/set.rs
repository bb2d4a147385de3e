//! All packs of a store: finding objects, merging packs and removing them.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::disk::{FileKind, Folder, Name, PackId};
use crate::id::ObjectId;
use crate::repository::name_of;
use crate::repository::pack::Type;
use crate::repository::pack::index::{Indexed, PackIndex, fault};
use crate::repository::pack::reader::{Pack, PackReadContext, PackedObject};
use crate::repository::pack::writer::PackWriter;

/// Age beyond the newest pack at which a pack without an index is abandoned.
const ORPHAN_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// A pack file and its metadata.
pub(in super::super) struct PackFile {
    pub(in super::super) id: PackId,
    pub(in super::super) bytes: u64,
    pub(in super::super) time: SystemTime,
    /// True if a `.keep` file protects the pack.
    pub(in super::super) kept: bool,
}

/// Lists the packs that have an index.
pub(in super::super) fn indexed(folder: &Folder) -> io::Result<Vec<PackId>> {
    folder.list_of(|found| PackId::of_file(found, "idx"))
}

/// Lists the packs that have an index, newest first.
pub(in super::super) fn files(folder: &Folder) -> io::Result<Vec<PackFile>> {
    let mut files = Vec::new();
    for id in indexed(folder)? {
        // Another process may just have merged it into a larger one.
        let Ok(Some(pack)) = folder.look(&id.pack()) else {
            continue;
        };
        files.push(PackFile {
            bytes: pack.bytes,
            time: pack.changed,
            kept: folder.has(&id.keep()),
            id,
        });
    }
    files.sort_by_key(|file| std::cmp::Reverse((file.time, file.id)));
    Ok(files)
}

/// Finds a pack whose index is missing or torn, so that none of its objects is found.
pub(in super::super) fn without_index(folder: &Folder) -> io::Result<Option<PackId>> {
    let packs = folder.list_of(|found| PackId::of_file(found, "pack"))?;
    Ok(packs
        .into_iter()
        .find(|id| match PackIndex::open(folder, *id) {
            Err(e) => e.kind() == io::ErrorKind::NotFound || is_content_fault(&e),
            Ok(_) => false,
        }))
}

/// Removes a pack whose objects are all in another, if the other still exists. Stock git may have
/// moved them to a third meanwhile, which can be this very pack, made again.
pub(in super::super) fn remove(folder: &Folder, id: PackId, other: PackId) {
    if id == other || !folder.has(&other.index()) || !folder.has(&other.pack()) {
        return;
    }
    // Stock git trusts a multi-pack index: the packs it names have to exist.
    drop(folder.remove(&Name::INDEX_OF_ALL));
    for beside in id.beside() {
        drop(folder.remove(&beside));
    }
    drop(folder.remove(&id.pack()));
}

/// Removes packs without an index, left by a process that was killed before the index was in place
/// or after it was removed. Stock git may be between those two steps right now, so only packs much
/// older than the newest are removed.
pub(in super::super) fn remove_orphans(folder: &Folder, newest: PackId) -> io::Result<()> {
    let newest = folder.look(&newest.pack())?;
    let before = newest.and_then(|newest| newest.changed.checked_sub(ORPHAN_AGE));
    for id in folder.list_of(|found| PackId::of_file(found, "pack"))? {
        let pack = folder.look(&id.pack())?;
        let is_old = |pack: crate::disk::FileStat| {
            pack.kind == FileKind::File && before > Some(pack.changed)
        };
        if !folder.has(&id.index()) && pack.is_some_and(is_old) {
            folder.remove(&id.pack())?;
        }
    }
    Ok(())
}

/// The result of looking up an object in packs.
pub(in super::super) enum Packed {
    Absent,
    Whole(Type, Vec<u8>),
    Damaged(String),
}

/// The packs at the time of listing.
pub(in super::super) struct Packs {
    packs: Vec<Pack>,
    tools: PackReadContext,
}

impl Packs {
    pub(in super::super) fn list(folder: &Folder) -> io::Result<Self> {
        let files = files(folder)?.into_iter();
        Ok(Self {
            packs: files.map(|file| Pack::at(folder, file.id)).collect(),
            tools: PackReadContext::new(),
        })
    }

    pub(in super::super) fn none() -> Self {
        Self {
            packs: Vec::new(),
            tools: PackReadContext::new(),
        }
    }

    /// Reads an object, verifying only that it is complete. A copy that is damaged in one pack may
    /// be whole in another; `fits` recognizes the whole one.
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
                    // The next object is often in the same pack.
                    self.packs[..=at].rotate_right(1);
                    return Ok(Packed::Whole(kind, Arc::unwrap_or_clone(bytes)));
                }
                Ok(Some(_)) => "its pack entry does not hash to its name".into(),
                // The pack was merged into another meanwhile.
                Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
                Err(e) if is_content_fault(&e) => e.to_string(),
                Err(e) => return Err(e),
            };
            damaged = Packed::Damaged(why);
        }
        Ok(damaged)
    }

    fn read_from(&mut self, at: usize, id: ObjectId) -> io::Result<Option<PackedObject>> {
        let pack = &self.packs[at];
        match pack.find(id)? {
            Some(offset) => pack.read(offset, &mut self.tools).map(Some),
            None => Ok(None),
        }
    }

    /// Tells whether a pack has an object, whole or not.
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

    /// Lists the objects whose names begin with these hexadecimal digits.
    pub(in super::super) fn named(&self, digits: &str) -> io::Result<Vec<ObjectId>> {
        let mut found = Vec::new();
        for pack in &self.packs {
            found.extend(pack.named(digits)?);
        }
        Ok(found)
    }
}

/// Tells whether an error is about the content of a file, as opposed to the disk or permissions.
pub(in super::super) fn is_content_fault(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData
    )
}

// Merging small packs, so that there are never many.

/// The number of packs of one size class that are merged into one.
const CLASS_PACKS: usize = 8;
/// Largest pack of the smallest class, in bytes; each further class is eight times as wide.
const CLASS_BYTES: u64 = 256 * 1024;

/// Merges packs of one size class while any class has too many, smallest class first. No merge
/// exceeds `bytes_max`, which may change meanwhile: a merge that has become too large stops.
pub(in super::super) fn merge_small(
    folder: &Folder,
    bytes_max: impl Fn() -> u64,
) -> io::Result<()> {
    while let Some(many) = too_many(files(folder)?, bytes_max()) {
        let bytes: u64 = many.iter().map(|part| part.bytes).sum();
        if merge(folder, &many, || bytes > bytes_max())?.is_none() {
            return Ok(());
        }
    }
    Ok(())
}

/// Returns the size class of a pack.
fn class(bytes: u64) -> u32 {
    (bytes / CLASS_BYTES).max(1).ilog(CLASS_PACKS as u64)
}

/// Finds the packs of the smallest class that has too many.
fn too_many(mut files: Vec<PackFile>, bytes_max: u64) -> Option<Vec<PackFile>> {
    files.retain(|file| !file.kept);
    let mut classes: Vec<u32> = files.iter().map(|file| class(file.bytes)).collect();
    classes.sort_unstable();
    classes.dedup();
    let counts = classes.into_iter().find(|wanted| {
        let of_class = files.iter().filter(|file| class(file.bytes) == *wanted);
        let bytes: u64 = of_class.clone().map(|file| file.bytes).sum();
        of_class.count() >= CLASS_PACKS && bytes <= bytes_max
    })?;
    files.retain(|file| class(file.bytes) == counts);
    Some(files)
}

/// Merges packs, newest first, into one and removes them; `None` if it was stopped.
fn merge(
    folder: &Folder,
    parts: &[PackFile],
    stopped: impl Fn() -> bool,
) -> io::Result<Option<PackId>> {
    let packs: Vec<Pack> = parts.iter().map(|part| Pack::at(folder, part.id)).collect();
    let mut wanted = HashSet::new();
    for pack in &packs {
        wanted.extend(pack.names()?);
    }
    let mut writer = PackWriter::begin(folder, wanted.len())?;
    for pack in &packs {
        let mut tools = PackReadContext::new();
        let entries = pack.entries()?;
        let ends = entries.iter().skip(1).map(|entry| Some(entry.offset));
        for (entry, end) in entries.iter().zip(ends.chain([None])) {
            if stopped() {
                return Ok(None);
            }
            if wanted.remove(&entry.id) {
                copy(pack, entry, end, &mut writer, &mut tools)?;
            }
        }
    }
    let placed = writer.finish(false)?;
    for part in parts {
        remove(folder, part.id, placed);
    }
    Ok(Some(placed))
}

fn copy(
    pack: &Pack,
    entry: &Indexed,
    end: Option<u64>,
    writer: &mut PackWriter,
    tools: &mut PackReadContext,
) -> io::Result<()> {
    // Copies a blob's raw entry if its CRC matches.
    if let Some(raw) = pack.raw_blob(entry, end)? {
        return writer.copy(entry.id, &raw, entry.crc);
    }
    let (kind, bytes) = pack.read(entry.offset, tools)?;
    if name_of(kind, &bytes) != entry.id {
        return Err(fault("its pack entry does not hash to its name"));
    }
    writer.add(kind, entry.id, &bytes)
}
