//! The slots of each memory's entries in a table.
//!
//! Ids are unencrypted and at a fixed stride. The first few look-ups read the table backwards from
//! its end; later ones use an index of ids and slots.

use std::collections::HashSet;
use std::io;

use crate::disk::{File, FileExt};
use crate::id::MemoryId;
use crate::keyring::table::id_of;

/// Look-ups that read the table; the next one builds an index.
const SCANS_MAX: u32 = 8;
/// Entries read at once.
const PIECE_ENTRIES: u32 = 1_024;
/// Entries kept unsorted before they are merged into the others.
const RECENT_MAX: usize = 512;

/// The whole entries of a table file.
pub(super) struct Entries<'a> {
    pub(super) file: &'a File,
    pub(super) header_bytes: u64,
    pub(super) entry_bytes: usize,
    pub(super) count: u32,
}

impl Entries<'_> {
    /// Calls `each` for the entries from `from` to before `to`, last first, until it returns false.
    fn backwards(
        &self,
        (from, to): (u32, u32),
        mut each: impl FnMut(MemoryId, u32) -> bool,
    ) -> io::Result<()> {
        let mut end = to;
        let mut piece = Vec::new();
        while end > from {
            let begin = end.saturating_sub(PIECE_ENTRIES).max(from);
            piece.resize((end - begin) as usize * self.entry_bytes, 0);
            let offset = self.header_bytes + u64::from(begin) * self.entry_bytes as u64;
            self.file.read_exact_at(&mut piece, offset)?;
            let entries = piece.chunks_exact(self.entry_bytes).rev();
            for (entry, slot) in entries.zip((begin..end).rev()) {
                if !each(id_of(entry), slot) {
                    return Ok(());
                }
            }
            end = begin;
        }
        Ok(())
    }

    /// Returns the memories that have an entry in this slot or a later one.
    pub(super) fn ids_from(&self, first: u32) -> io::Result<HashSet<MemoryId>> {
        let mut ids = HashSet::new();
        self.backwards((first, self.count), |id, _| {
            ids.insert(id);
            true
        })?;
        Ok(ids)
    }

    fn scan(&self, id: MemoryId, only_last: bool) -> io::Result<Vec<u32>> {
        let mut slots = Vec::new();
        self.backwards((0, self.count), |found, slot| {
            if found == id {
                slots.push(slot);
            }
            slots.is_empty() || !only_last
        })?;
        Ok(slots)
    }
}

/// An index of the entries' slots, built when it pays off.
#[derive(Default)]
pub(super) struct EntryIndex {
    scans: u32,
    /// Ids and slots, sorted.
    sorted: Vec<(MemoryId, u32)>,
    /// Later ones, in the order they were added.
    recent: Vec<(MemoryId, u32)>,
    /// The number of entries indexed.
    pub(super) count: u32,
}

impl EntryIndex {
    /// Returns the slots of a memory's entries, last first, or the last alone.
    pub(super) fn slots(
        &mut self,
        entries: &Entries<'_>,
        id: MemoryId,
        only_last: bool,
    ) -> io::Result<Vec<u32>> {
        if self.count == 0 && self.scans < SCANS_MAX {
            self.scans += 1;
            return entries.scan(id, only_last);
        }
        self.catch_up(entries)?;
        let first = self.sorted.partition_point(|(of, _)| *of < id);
        let all = self.sorted[first..].iter().take_while(|(of, _)| *of == id);
        let recent = self.recent.iter().filter(|(of, _)| *of == id);
        let mut slots: Vec<u32> = all.chain(recent).map(|(_, slot)| *slot).collect();
        slots.reverse();
        if only_last {
            slots.truncate(1);
        }
        Ok(slots)
    }

    fn catch_up(&mut self, entries: &Entries<'_>) -> io::Result<()> {
        if self.count >= entries.count {
            return Ok(());
        }
        let mut new = Vec::with_capacity((entries.count - self.count) as usize);
        entries.backwards((self.count, entries.count), |id, slot| {
            new.push((id, slot));
            true
        })?;
        self.recent.extend(new.into_iter().rev());
        self.count = entries.count;
        if self.recent.len() > RECENT_MAX {
            self.sorted.append(&mut self.recent);
            // Most are in order already, which a stable sort exploits.
            self.sorted.sort();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// Makes a file with a header of 3 bytes and an entry of 20 bytes for each of these ids.
    fn file_of(ids: &[MemoryId]) -> File {
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.write_all(b"abc").expect("written");
        for id in ids {
            file.write_all(&[&id.0[..], b"...."].concat())
                .expect("written");
        }
        file
    }

    fn entries(file: &File, count: usize) -> Entries<'_> {
        Entries {
            file,
            header_bytes: 3,
            entry_bytes: 20,
            count: u32::try_from(count).expect("few"),
        }
    }

    #[test]
    fn every_entry_is_found_by_reading_and_by_index() {
        let mut ids: Vec<MemoryId> = (0..3_000).map(|_| MemoryId::random()).collect();
        // Nearly the same id, and the same one again, near and far.
        let mut twin = ids[7];
        twin.0[15] ^= 1;
        ids.extend([ids[3], twin, ids[2_999], ids[3]]);
        let file = file_of(&ids);
        let mut index = EntryIndex::default();
        // The file grows as a table does.
        for count in [ids.len() - 600, ids.len() - 2, ids.len()] {
            let entries = entries(&file, count);
            for round in 0..2 {
                for id in [ids[3], ids[7], twin, ids[2_999], MemoryId::random()] {
                    let there = (0u32..).zip(&ids[..count]).filter(|(_, of)| **of == id);
                    let mut all: Vec<u32> = there.map(|(slot, _)| slot).collect();
                    all.reverse();
                    let found = index.slots(&entries, id, false).expect("read");
                    assert_eq!(found, all, "{count} entries, round {round}");
                    let last = index.slots(&entries, id, true).expect("read");
                    assert_eq!(last, all[..all.len().min(1)], "{count} entries, {round}");
                }
            }
            assert_eq!(index.count as usize, count, "an index was made");
        }
    }

    #[test]
    fn a_few_look_ups_make_no_index() {
        let ids: Vec<MemoryId> = (0..2_000).map(|_| MemoryId::random()).collect();
        let file = file_of(&ids);
        let (entries, mut index) = (entries(&file, ids.len()), EntryIndex::default());
        for id in &ids[..SCANS_MAX as usize] {
            assert_eq!(index.slots(&entries, *id, true).expect("read").len(), 1);
        }
        assert_eq!((index.count, index.sorted.len()), (0, 0));
        assert!(entries.ids_from(1_999).expect("read").contains(&ids[1_999]));
        assert_eq!(entries.ids_from(1_990).expect("read").len(), 10);
    }
}
