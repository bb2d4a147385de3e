//! The pack index, version 2: the offset of each object by its name.

use std::cmp::Ordering;
use std::io::{self, BufWriter, Write};

use sha1::{Digest, Sha1};

use crate::disk::{self, File, FileExt, Folder, PACK_OBJECTS_MAX, PackId};
use crate::id::ObjectId;

const MAGIC: &[u8; 8] = b"\xfftOc\0\0\0\x02";
const FANOUT: usize = 256;
const NAMES_AT: u64 = 8 + 4 * FANOUT as u64;
const NAME_BYTES: u64 = 20;
/// The checksums of the pack and of the index itself.
const TRAILER_BYTES: u64 = 40;
/// The smallest offset that goes into the table of large offsets.
const LARGE_OFFSET: u64 = 1 << 31;
/// Largest index that is read into memory whole, in bytes; larger ones are read on demand.
const WHOLE_BYTES_MAX: u64 = 256 * 1024;
/// Remaining names that are read in one piece at the end of a binary search.
const NAMES_AT_ONCE: u64 = 256;

/// The place of an object in a pack.
#[derive(Clone, Copy)]
pub(in super::super) struct Indexed {
    pub(in super::super) id: ObjectId,
    /// CRC-32 of the raw entry.
    pub(super) crc: u32,
    pub(in super::super) offset: u64,
}

/// Writes the index of a pack with the checksum `trailer`.
pub(super) fn write(file: &File, entries: &mut [Indexed], trailer: &[u8; 20]) -> io::Result<()> {
    entries.sort_unstable_by_key(|entry| entry.id);
    let mut out = Hashed {
        out: BufWriter::new(file),
        sha: Sha1::new(),
    };
    out.put(MAGIC)?;
    let mut below = 0;
    for first in 0..=u8::MAX {
        let more = entries[below..].iter();
        below += more.take_while(|entry| entry.id.0[0] == first).count();
        out.put(&number(below as u64)?)?;
    }
    for entry in &*entries {
        out.put(&entry.id.0)?;
    }
    for entry in &*entries {
        out.put(&entry.crc.to_be_bytes())?;
    }
    let mut large = Vec::new();
    for entry in &*entries {
        let mut offset = entry.offset;
        if offset >= LARGE_OFFSET {
            offset = LARGE_OFFSET + large.len() as u64;
            large.push(entry.offset);
        }
        out.put(&number(offset)?)?;
    }
    for offset in large {
        out.put(&offset.to_be_bytes())?;
    }
    out.put(trailer)?;
    let sum = out.sha.finalize_reset();
    out.put(&sum)?;
    out.out.flush()
}

fn number(n: u64) -> io::Result<[u8; 4]> {
    let n = u32::try_from(n).map_err(|_| io::ErrorKind::FileTooLarge)?;
    Ok(n.to_be_bytes())
}

struct Hashed<'a> {
    out: BufWriter<&'a File>,
    sha: Sha1,
}

impl Hashed<'_> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sha.update(bytes);
        self.out.write_all(bytes)
    }
}

/// An open index.
pub(super) struct PackIndex {
    source: IndexSource,
    /// For each first byte, the number of names that begin with it or a lower one.
    fanout: Vec<u32>,
    length: u64,
}

enum IndexSource {
    Bytes(Vec<u8>),
    File(File),
}

impl PackIndex {
    pub(super) fn open(folder: &Folder, pack: PackId) -> io::Result<Self> {
        let file = folder.open_read(&pack.index())?;
        let length = disk::length(&file)?;
        let source = if length <= WHOLE_BYTES_MAX {
            let mut bytes = vec![0; usize::try_from(length).expect("not much")];
            file.read_exact_at(&mut bytes, 0)?;
            IndexSource::Bytes(bytes)
        } else {
            IndexSource::File(file)
        };
        let mut index = Self {
            source,
            fanout: Vec::new(),
            length,
        };
        let mut start = [0; 8 + 4 * FANOUT];
        index.read(0, &mut start)?;
        let (magic, fanout) = start.split_at(8);
        let numbers = fanout.chunks_exact(4).map(big_endian);
        index.fanout = numbers.collect();
        let fits = magic == MAGIC
            && index.fanout.is_sorted()
            && index.count() <= PACK_OBJECTS_MAX
            && index.table(4) <= length;
        fits.then_some(index)
            .ok_or_else(|| fault("it is no index of a pack, or is torn"))
    }

    /// Returns the number of objects.
    pub(super) fn count(&self) -> u32 {
        self.fanout.last().copied().unwrap_or(0)
    }

    /// Returns the offset of a table: names, checksums, offsets, large offsets. A higher number
    /// gives the shortest possible length of the index.
    fn table(&self, number: u64) -> u64 {
        let count = u64::from(self.count());
        let widths = [0, NAME_BYTES, NAME_BYTES + 4, NAME_BYTES + 8];
        match usize::try_from(number).ok().and_then(|n| widths.get(n)) {
            Some(width) => NAMES_AT + width * count,
            None => NAMES_AT + (NAME_BYTES + 8) * count + TRAILER_BYTES,
        }
    }

    fn read(&self, at: u64, buffer: &mut [u8]) -> io::Result<()> {
        let torn = || fault("the index of a pack is torn");
        match &self.source {
            IndexSource::Bytes(bytes) => {
                let at = usize::try_from(at).map_err(|_| torn())?;
                let end = at.checked_add(buffer.len()).ok_or_else(torn)?;
                buffer.copy_from_slice(bytes.get(at..end).ok_or_else(torn)?);
                Ok(())
            }
            IndexSource::File(file) => file.read_exact_at(buffer, at),
        }
    }

    fn name(&self, at: u64) -> io::Result<ObjectId> {
        let mut name = [0; 20];
        self.read(NAMES_AT + NAME_BYTES * at, &mut name)?;
        Ok(ObjectId(name))
    }

    /// Finds the offset of an object in the pack.
    pub(super) fn find(&self, id: ObjectId) -> io::Result<Option<u64>> {
        let first = usize::from(id.0[0]);
        let below = first.checked_sub(1).map_or(0, |below| self.fanout[below]);
        let (mut low, mut high) = (u64::from(below), u64::from(self.fanout[first]));
        while high - low > NAMES_AT_ONCE {
            let middle = low.midpoint(high);
            match self.name(middle)?.cmp(&id) {
                Ordering::Equal => return self.offset(middle).map(Some),
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
            }
        }
        let bytes = usize::try_from((high - low) * NAME_BYTES).expect("not many");
        let mut names = vec![0; bytes];
        self.read(NAMES_AT + NAME_BYTES * low, &mut names)?;
        match names.as_chunks().0.binary_search(&id.0) {
            Ok(at) => self.offset(low + at as u64).map(Some),
            Err(_) => Ok(None),
        }
    }

    fn offset(&self, at: u64) -> io::Result<u64> {
        let mut four = [0; 4];
        self.read(self.table(2) + 4 * at, &mut four)?;
        self.large_offset(big_endian(&four))
    }

    /// Resolves a four-byte offset, through the table of large offsets if necessary.
    fn large_offset(&self, offset: u32) -> io::Result<u64> {
        let offset = u64::from(offset);
        if offset < LARGE_OFFSET {
            return Ok(offset);
        }
        let at = self.table(3) + 8 * (offset - LARGE_OFFSET);
        if at + 8 + TRAILER_BYTES > self.length {
            return Err(fault("the index of a pack names no offset"));
        }
        let mut eight = [0; 8];
        self.read(at, &mut eight)?;
        Ok(u64::from_be_bytes(eight))
    }

    /// Reads all names, in order.
    pub(super) fn names(&self) -> io::Result<Vec<ObjectId>> {
        self.names_between(0, self.count())
    }

    fn names_between(&self, first: u32, end: u32) -> io::Result<Vec<ObjectId>> {
        let mut bytes = vec![0; (end - first) as usize * 20];
        self.read(NAMES_AT + NAME_BYTES * u64::from(first), &mut bytes)?;
        let (names, _) = bytes.as_chunks();
        Ok(names.iter().copied().map(ObjectId).collect())
    }

    /// Reads the names that begin with these hexadecimal digits, at least two.
    pub(super) fn named(&self, digits: &str) -> io::Result<Vec<ObjectId>> {
        let Some(first) = digits
            .get(..2)
            .and_then(|two| usize::from_str_radix(two, 16).ok())
        else {
            return Ok(Vec::new());
        };
        let below = first.checked_sub(1).map_or(0, |below| self.fanout[below]);
        let mut names = self.names_between(below, self.fanout[first])?;
        names.retain(|name| name.to_string().starts_with(digits));
        Ok(names)
    }

    /// Reads all entries, in pack order.
    pub(super) fn entries(&self) -> io::Result<Vec<Indexed>> {
        let names = self.names()?;
        let mut crcs = vec![0; names.len() * 4];
        self.read(self.table(1), &mut crcs)?;
        let mut offsets = vec![0; names.len() * 4];
        self.read(self.table(2), &mut offsets)?;
        let mut entries = Vec::with_capacity(names.len());
        let numbers = crcs.chunks_exact(4).zip(offsets.chunks_exact(4));
        for (id, (crc, offset)) in names.into_iter().zip(numbers) {
            entries.push(Indexed {
                id,
                crc: big_endian(crc),
                offset: self.large_offset(big_endian(offset))?,
            });
        }
        entries.sort_unstable_by_key(|entry| entry.offset);
        Ok(entries)
    }
}

fn big_endian(four: &[u8]) -> u32 {
    u32::from_be_bytes(four.try_into().expect("four bytes"))
}

/// Builds an error about the content of a file, as opposed to a failed read.
pub(super) fn fault(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(first: u8, n: u32) -> ObjectId {
        let mut id = [first; 20];
        id[16..].copy_from_slice(&n.to_be_bytes());
        ObjectId(id)
    }

    /// Builds entries with many names in one fan-out slot, so that binary search and reading in one
    /// piece both happen, and with offsets on both sides of the four-byte limit.
    fn entries(count: u32) -> Vec<Indexed> {
        let entry = |n: u32| Indexed {
            id: id(if n.is_multiple_of(3) { 0xff } else { 7 }, n),
            crc: n ^ 0x55,
            offset: LARGE_OFFSET - 500 + u64::from(n),
        };
        (0..count).map(entry).collect()
    }

    const PACK: PackId = PackId([9; 20]);

    /// Writes the index of a pack to a temporary folder and opens it.
    fn written(count: u32) -> (tempfile::TempDir, Folder, PackIndex) {
        let temporary = tempfile::tempdir().expect("a folder");
        let folder = Folder::at(temporary.path()).expect("opens");
        let file = folder.create_new(&PACK.index(), 0o600).expect("makes");
        write(&file, &mut entries(count), &[9; 20]).expect("writes");
        let index = PackIndex::open(&folder, PACK).expect("opens");
        (temporary, folder, index)
    }

    #[test]
    fn what_is_in_it_is_found_and_nothing_else() {
        for count in [0, 1, 2, 300, 12_000] {
            let (_temporary, _, index) = written(count);
            assert_eq!(index.count(), count);
            for entry in entries(count) {
                assert_eq!(index.find(entry.id).expect("reads"), Some(entry.offset));
            }
            for other in [id(0, 0), id(7, count + 1), id(7, 0), id(8, 1), id(0xff, 1)] {
                assert_eq!(index.find(other).expect("reads"), None, "{count}: {other}");
            }
            let listed = index.entries().expect("reads");
            let same = listed
                .iter()
                .zip(entries(count))
                .all(|(a, b)| (a.id, a.crc, a.offset) == (b.id, b.crc, b.offset));
            assert!(same && listed.len() == count as usize, "{count}");
        }
        let (_temporary, _, index) = written(300);
        let digits = id(7, 4).to_string();
        assert_eq!(index.named(&digits).expect("reads"), [id(7, 4)]);
        assert_eq!(index.named("ff").expect("reads").len(), 100);
        assert_eq!(index.named("00").expect("reads"), []);
    }

    #[test]
    fn what_is_torn_or_of_another_form_is_no_index() {
        for count in [40, 12_000] {
            let (_temporary, folder, _) = written(count);
            let path = folder.path_of(&PACK.index());
            let bytes = std::fs::read(&path).expect("reads");
            let refused = |bytes: &[u8]| {
                std::fs::write(&path, bytes).expect("writes");
                PackIndex::open(&folder, PACK).is_err()
            };
            for cut in [0, 7, 8, 1031, 1032, bytes.len() / 2] {
                assert!(refused(&bytes[..cut]), "cut at {cut}");
            }
            for at in [0, 7, 8 + 4 * 100, 8 + 4 * 255] {
                let mut bad = bytes.clone();
                bad[at] ^= 0x40;
                assert!(refused(&bad), "byte {at}");
            }
            // An offset beyond the table of large offsets.
            let mut bad = bytes.clone();
            let at = 1032 + 24 * count as usize;
            bad[at..at + 4].copy_from_slice(&[0xff; 4]);
            std::fs::write(&path, &bad).expect("writes");
            assert!(
                PackIndex::open(&folder, PACK)
                    .expect("opens")
                    .entries()
                    .is_err()
            );
        }
    }
}
