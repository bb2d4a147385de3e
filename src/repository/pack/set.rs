//! All packs of a store: where an object is, and what becomes of a pack that is no longer needed.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::disk::{Folder, Kind, Name, PackId};
use crate::id::ObjectId;
use crate::repository::name_of;
use crate::repository::pack::Type;
use crate::repository::pack::index::{Index, Indexed, fault};
use crate::repository::pack::reader::{Found, Pack, Tools};
use crate::repository::pack::writer::Writer;

/// How much older than a new pack one without an index is that nobody waits for.
const ORPHAN_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// A pack file, and what is known of it without opening it.
pub(in super::super) struct PackFile {
    pub(in super::super) id: PackId,
    pub(in super::super) bytes: u64,
    pub(in super::super) time: SystemTime,
    /// Whether somebody wants it to stay as it is.
    pub(in super::super) kept: bool,
}

/// The packs of which there is an index.
pub(in super::super) fn indexed(folder: &Folder) -> io::Result<Vec<PackId>> {
    folder.list_of(|found| PackId::of_file(found, "idx"))
}

/// The packs that have an index, newest first.
pub(in super::super) fn files(folder: &Folder) -> io::Result<Vec<PackFile>> {
    let mut files = Vec::new();
    for id in indexed(folder)? {
        // Another process may have put a larger one in its place meanwhile.
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

/// A pack beside which there is no index, or a torn one: nothing in it is found.
pub(in super::super) fn without_index(folder: &Folder) -> io::Result<Option<PackId>> {
    let packs = folder.list_of(|found| PackId::of_file(found, "pack"))?;
    Ok(packs.into_iter().find(|id| match Index::open(folder, *id) {
        Err(e) => e.kind() == io::ErrorKind::NotFound || is_content_fault(&e),
        Ok(_) => false,
    }))
}

/// Removes a pack whose objects are all in another, if that is still there: stock git may have put
/// them into a third meanwhile, which can be this one, made again.
pub(in super::super) fn remove(folder: &Folder, id: PackId, other: PackId) {
    if id == other || !folder.has(&other.index()) || !folder.has(&other.pack()) {
        return;
    }
    // Stock git takes what an index over several packs names for there.
    drop(folder.remove(&Name::INDEX_OF_ALL));
    for beside in id.beside() {
        drop(folder.remove(&beside));
    }
    drop(folder.remove(&id.pack()));
}

/// Removes packs that a process was killed over before their indexes were in place, or once those
/// were gone. Stock git may be between the two just now: only those go that are much older than the
/// newest pack.
pub(in super::super) fn remove_orphans(folder: &Folder, newest: PackId) -> io::Result<()> {
    let newest = folder.look(&newest.pack())?;
    let before = newest.and_then(|newest| newest.changed.checked_sub(ORPHAN_AGE));
    for id in folder.list_of(|found| PackId::of_file(found, "pack"))? {
        let pack = folder.look(&id.pack())?;
        let is_old =
            |pack: crate::disk::Look| pack.kind == Kind::File && before > Some(pack.changed);
        if !folder.has(&id.index()) && pack.is_some_and(is_old) {
            folder.remove(&id.pack())?;
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
    pub(in super::super) fn list(folder: &Folder) -> io::Result<Self> {
        let files = files(folder)?.into_iter();
        Ok(Self {
            packs: files.map(|file| Pack::at(folder, file.id)).collect(),
            tools: Tools::new(),
        })
    }

    pub(in super::super) fn none() -> Self {
        Self {
            packs: Vec::new(),
            tools: Tools::new(),
        }
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

// Small packs made into larger ones, so that there are never many.

/// So many packs of one size class become one.
const CLASS_PACKS: usize = 8;
/// Packs up to this size are of the smallest class; each further one is eight times as wide.
const CLASS_BYTES: u64 = 256 * 1024;

/// Merges packs of one size class as long as some has too many of them, the smallest first, and
/// none that makes more than so many bytes. How many that is may change: a merge that has become
/// too much ends.
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

/// The class of a pack.
fn class(bytes: u64) -> u32 {
    (bytes / CLASS_BYTES).max(1).ilog(CLASS_PACKS as u64)
}

/// The packs of the smallest class that has too many.
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

/// Makes one pack of several, newest first, and then removes them; nothing if it was stopped.
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
    let mut writer = Writer::begin(folder, wanted.len())?;
    for pack in &packs {
        let mut tools = Tools::new();
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
    let placed = writer.finish()?;
    for part in parts {
        remove(folder, part.id, placed);
    }
    Ok(Some(placed))
}

fn copy(
    pack: &Pack,
    entry: &Indexed,
    end: Option<u64>,
    writer: &mut Writer,
    tools: &mut Tools,
) -> io::Result<()> {
    // Ciphertext goes over as it is, if it is what it was.
    if let Some(raw) = pack.raw_blob(entry, end)? {
        return writer.copy(entry.id, &raw, entry.crc);
    }
    let (kind, bytes) = pack.read(entry.offset, tools)?;
    if name_of(kind, &bytes) != entry.id {
        return Err(fault("its pack entry does not hash to its name"));
    }
    writer.add(kind, entry.id, &bytes)
}
