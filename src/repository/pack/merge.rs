//! Small packs made into larger ones, so that there are never many.

use std::collections::HashSet;
use std::io;

use super::super::name_of;
use super::index::{Indexed, fault};
use super::reader::{Pack, Tools};
use super::set::{PackFile, files, remove};
use super::writer::Writer;
use crate::disk::{Folder, PackId};

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
