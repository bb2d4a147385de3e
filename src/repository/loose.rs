//! Loose object files: written whole, read with limits, and trusted only by their hash.
//!
//! libgit2 hangs on a truncated loose object and takes an empty file for a written one, so agekeep
//! reads and writes its loose files itself.

use std::io::{self, BufReader, Read, Write};

use flate2::bufread::ZlibDecoder;
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use zlib_rs::adler32::adler32;

use crate::disk::{self, Folder, Name};
use crate::id::{ObjectId, hex, hex_bytes};
use crate::repository::object::{Object, ObjectKind};
use crate::repository::pack::is_content_fault;

/// Largest object that is read, in bytes: room for the record of a directory of 100,000 memories.
const OBJECT_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Most retries of a write whose folder stock git has deleted meanwhile.
const SWEPT_TRIES_MAX: u32 = 20;

/// Most bytes that are salvaged from a damaged object: room for the headers of a commit.
const SALVAGE_BYTES_MAX: u64 = 64 * 1024;

/// Longest loose header, in bytes: kind, length, NUL.
const HEADER_BYTES_MAX: usize = 32;

/// Bytes that are first inflated of every object: its header, and the tree and parent of a commit.
const START_BYTES: usize = 256;

/// File bytes that always cover [`START_BYTES`], however badly they were deflated.
const PEEKED_FILE_BYTES: usize = 1024;

/// Files of this size or more, and objects over the other limit, are read as a stream. A root tree
/// has some 8 KiB, and few commits have as much.
const SMALL_FILE_BYTES_MAX: usize = 32 * 1024;
const SMALL_BYTES_MAX: usize = 64 * 1024;

/// An object larger than this is refused if it claims more than `SHRINK_MAX` times the length of
/// its file: ciphertext does not compress, and no tree of a store is that large.
const SHRUNK_BYTES_MIN: u64 = 4 * 1024 * 1024;
const SHRINK_MAX: u64 = 100;

/// Most bytes in one stored block of a zlib stream.
const STORED_BYTES_MAX: usize = 65_535;
/// The lowest zlib level with dynamic Huffman codes.
const DENSE_LEVEL: u32 = 2;

/// Room for the zlib overhead of a small object that does not compress.
const DEFLATED_ROOM_BYTES: usize = 128;

/// Most bytes that are reserved for an object before it is read.
const ROOM_BYTES: usize = 1 << 20;

/// The result of reading a loose file.
pub(super) enum Loose {
    Absent,
    Whole(ObjectKind, Vec<u8>),
    Damaged(&'static str),
}

/// Lists the objects whose names begin with these digits, at least two.
pub(super) fn named(objects: &Folder, digits: &str) -> io::Result<Vec<ObjectId>> {
    let (first, start) = digits.split_at(2);
    let Some([byte]) = hex_bytes(first) else {
        return Ok(Vec::new());
    };
    let folder = match objects.sub(&Name::fan(byte)) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        folder => folder?,
    };
    folder.list_of(|name| {
        let rest = Some(name).filter(|name| name.starts_with(start))?;
        ObjectId::from_hex(&format!("{first}{rest}"))
    })
}

/// Lists every object that has a loose file.
pub(super) fn all(objects: &Folder) -> io::Result<Vec<ObjectId>> {
    let mut found = Vec::new();
    for first in 0..=u8::MAX {
        found.extend(named(objects, &hex(&[first]))?);
    }
    Ok(found)
}

/// Removes the loose file of an object that is stored elsewhere too.
pub(super) fn remove(objects: &Folder, id: ObjectId) {
    drop(objects.remove(&Name::object(id)));
}

/// Removes fan-out folders without objects; a writer makes them again.
pub(super) fn remove_empty_folders(objects: &Folder) {
    for first in 0..=u8::MAX {
        drop(objects.remove_folder(&Name::fan(first)));
    }
}

/// Reads loose files with reused buffers: most are small, and allocating costs more than reading.
pub(super) struct Reader {
    inflater: Decompress,
    file: Vec<u8>,
    content: Vec<u8>,
}

impl Reader {
    pub(super) fn new() -> Self {
        Self {
            inflater: Decompress::new(true),
            file: vec![0; SMALL_FILE_BYTES_MAX],
            content: vec![0; SMALL_BYTES_MAX],
        }
    }

    /// Reads a loose object and verifies its length and hash.
    pub(super) fn read(&mut self, objects: &Folder, id: ObjectId) -> io::Result<Loose> {
        let mut file = match objects.open_read(&Name::object(id)) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Loose::Absent),
            // Another kind of file is in its place; a whole copy may be elsewhere.
            Err(e) if is_content_fault(&e) => {
                return Ok(Loose::Damaged("it has no file of its own"));
            }
            Err(e) => return Err(e),
        };
        let length = read_most(&mut file, &mut self.file)?;
        if let Some((kind, bytes)) = self.inflate_small(length)
            && super::name(kind, bytes) == id
        {
            return Ok(Loose::Whole(kind, bytes.to_vec()));
        }
        if self.promises_too_much(length, disk::length(&file)?) {
            return Ok(Loose::Damaged(
                "it says that it is far longer than its file",
            ));
        }
        // Streams a large or damaged file, which also finds the fault.
        let found = match inflate(BufReader::new(self.file[..length].chain(file))) {
            Ok(found) => found,
            Err(e) if is_content_fault(&e) => None,
            Err(e) => return Err(e),
        };
        Ok(match found {
            None => Loose::Damaged("its file is torn or is no git object"),
            Some((kind, bytes)) if super::name(kind, &bytes) == id => Loose::Whole(kind, bytes),
            Some(_) => Loose::Damaged("its file does not hash to its name"),
        })
    }

    /// Tells whether an object claims more bytes than a file of `file_bytes` can hold of a store's
    /// data. The first `length` bytes of the file are in the buffer.
    fn promises_too_much(&mut self, length: usize, file_bytes: u64) -> bool {
        let promised = self.begin(length).map_or(0, |(_, bytes, _)| bytes);
        promised > SHRUNK_BYTES_MIN && promised / SHRINK_MAX > file_bytes
    }

    /// Inflates the start of the object in the buffer: its kind, its claimed length, and its first
    /// bytes.
    fn begin(&mut self, length: usize) -> Option<(ObjectKind, u64, &[u8])> {
        self.inflater.reset(true);
        let (file, start) = (&self.file[..length], &mut self.content[..START_BYTES]);
        // A corrupt stream ends here; bytes inflated before that count.
        let _ = self.inflater.decompress(file, start, FlushDecompress::None);
        let inflated = usize::try_from(self.inflater.total_out()).ok()?;
        let (header, begun) = split_header(&self.content[..inflated])?;
        let (kind, bytes) = parse_header(header)?;
        Some((kind, bytes, begun))
    }

    /// Inflates the file in the buffer like [`inflate`], if it is complete, small and intact.
    fn inflate_small(&mut self, length: usize) -> Option<(ObjectKind, &[u8])> {
        let file = self
            .file
            .get(..length)
            .filter(|_| length < self.file.len())?;
        self.inflater.reset(true);
        let done = self
            .inflater
            .decompress(file, &mut self.content, FlushDecompress::Finish);
        let whole =
            matches!(done, Ok(Status::StreamEnd)) && self.inflater.total_in() == length as u64;
        let inflated = usize::try_from(self.inflater.total_out()).ok()?;
        let (header, bytes) = split_header(self.content.get(..inflated)?)?;
        let (kind, promised) = parse_header(header)?;
        (whole && bytes.len() as u64 == promised).then_some((kind, bytes))
    }

    /// Reads the beginning of an object, unchecked. `None` if its file is missing or does not begin
    /// like an object.
    pub(super) fn peek(&mut self, objects: &Folder, id: ObjectId) -> Option<(ObjectKind, Vec<u8>)> {
        let mut file = objects.open_read(&Name::object(id)).ok()?;
        let length = file.read(&mut self.file[..PEEKED_FILE_BYTES]).ok()?;
        let (kind, _, begun) = self.begin(length)?;
        Some((kind, begun.to_vec()))
    }
}

/// Inflates the bytes after the header that a torn or changed file still yields.
pub(super) fn recover_bytes(objects: &Folder, id: ObjectId) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Ok(file) = objects.open_read(&Name::object(id)) {
        let mut inflated = ZlibDecoder::new(BufReader::new(file)).take(SALVAGE_BYTES_MAX);
        // A corrupt stream ends here.
        let _ = inflated.read_to_end(&mut bytes);
    }
    let header = bytes.iter().take(HEADER_BYTES_MAX).position(|b| *b == 0);
    header.map_or_else(Vec::new, |end| bytes.split_off(end + 1))
}

/// Inflates `kind length NUL bytes`; `None` for any other form, or for bytes beyond that.
pub(super) fn inflate(file: impl io::BufRead) -> io::Result<Option<(ObjectKind, Vec<u8>)>> {
    let mut inflated = ZlibDecoder::new(file);
    let mut start = [0; START_BYTES];
    let read = read_most(&mut inflated, &mut start)?;
    let Some((header, begun)) = split_header(&start[..read]) else {
        return Ok(None);
    };
    let Some((kind, length)) = parse_header(header) else {
        return Ok(None);
    };
    // Caps the allocation: the header may claim any length.
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0).min(ROOM_BYTES) + 1);
    bytes.extend_from_slice(begun);
    let rest = (length + 1).saturating_sub(begun.len() as u64);
    inflated.by_ref().take(rest).read_to_end(&mut bytes)?;
    let after = inflated.into_inner().read(&mut [0])?;
    Ok((bytes.len() as u64 == length && after == 0).then_some((kind, bytes)))
}

/// Reads until the buffer is full or the input ends.
fn read_most(inflated: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut read = 0;
    while read < buffer.len() {
        match inflated.read(&mut buffer[read..])? {
            0 => break,
            more => read += more,
        }
    }
    Ok(read)
}

/// Splits the header, which ends at the first NUL, from the rest.
fn split_header(start: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = start.iter().take(HEADER_BYTES_MAX).position(|b| *b == 0)?;
    Some((&start[..end], &start[end + 1..]))
}

fn parse_header(header: &[u8]) -> Option<(ObjectKind, u64)> {
    let (name, length) = std::str::from_utf8(header).ok()?.split_once(' ')?;
    let kind = ObjectKind::ALL
        .into_iter()
        .find(|kind| kind.name() == name)?;
    let bytes: u64 = length.parse().ok().filter(|n| *n <= OBJECT_BYTES_MAX)?;
    // One spelling only: no sign, no leading zeros.
    (bytes.to_string() == length).then_some((kind, bytes))
}

/// Writes an object, replacing any file in its place. Not yet durable.
pub(super) fn write(objects: &Folder, object: &Object) -> io::Result<()> {
    let header = format!("{} {}\0", object.kind.name(), object.bytes.len());
    let file = stored(&[header.as_bytes(), &object.bytes].concat());
    let mut tries = 0;
    loop {
        // Stock git deletes empty folders, and stray files on request.
        match put(objects, object.id, &file) {
            Err(e) if e.kind() == io::ErrorKind::NotFound && tries < SWEPT_TRIES_MAX => tries += 1,
            done => return done,
        }
    }
}

/// Wraps bytes in a zlib stream (RFC 1950) of stored blocks (RFC 1951, 3.2.4). A loose object soon
/// moves to a pack, and until then deflating costs more than it saves. Ciphertext does not compress
/// at all.
pub(super) fn stored(bytes: &[u8]) -> Vec<u8> {
    let blocks = bytes.len().div_ceil(STORED_BYTES_MAX).max(1);
    let mut out = Vec::with_capacity(bytes.len() + 5 * blocks + 6);
    // Deflate with a window of 32 KiB, at the fastest level.
    out.extend_from_slice(&[0x78, 0x01]);
    for index in 0..blocks {
        let from = index * STORED_BYTES_MAX;
        let block = &bytes[from..bytes.len().min(from + STORED_BYTES_MAX)];
        let length = u16::try_from(block.len()).expect("at most the largest there is");
        out.push(u8::from(index + 1 == blocks));
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&(!length).to_le_bytes());
        out.extend_from_slice(block);
    }
    out.extend_from_slice(&adler32(1, bytes).to_be_bytes());
    out
}

/// Deflates objects with reused zlib state: most are small, and allocating the tables of zlib costs
/// more than the work.
pub(super) struct LooseWriter {
    /// For blobs: ciphertext does not compress.
    stored: Compress,
    /// For trees and commits, which compress a little.
    fast: Compress,
}

impl LooseWriter {
    pub(super) fn new() -> Self {
        Self {
            stored: Compress::new(Compression::none(), true),
            fast: Compress::new(Compression::fast(), true),
        }
    }

    /// Like [`Self::new`], for objects that are kept long. Dynamic Huffman codes save a quarter of
    /// all base64, which is most of a commit, and take twice the time.
    pub(super) fn dense() -> Self {
        Self {
            fast: Compress::new(Compression::new(DENSE_LEVEL), true),
            ..Self::new()
        }
    }

    pub(super) fn deflate(
        &mut self,
        kind: ObjectKind,
        header: &[u8],
        bytes: &[u8],
    ) -> io::Result<Vec<u8>> {
        let zlib = match kind {
            ObjectKind::Blob => &mut self.stored,
            ObjectKind::Tree | ObjectKind::Commit => &mut self.fast,
        };
        zlib.reset();
        let mut deflated = Vec::with_capacity(header.len() + bytes.len() + DEFLATED_ROOM_BYTES);
        for (piece, flush) in [
            (header, FlushCompress::None),
            (bytes, FlushCompress::Finish),
        ] {
            let before = zlib.total_in();
            loop {
                let read = usize::try_from(zlib.total_in() - before).expect("of this piece");
                let done = zlib.compress_vec(&piece[read..], &mut deflated, flush)?;
                let is_read = zlib.total_in() - before == piece.len() as u64;
                match (flush, done) {
                    (_, Status::StreamEnd) => return Ok(deflated),
                    (FlushCompress::None, _) if is_read => break,
                    _ => deflated.reserve(DEFLATED_ROOM_BYTES.max(piece.len() / 2)),
                }
            }
        }
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

fn put(objects: &Folder, id: ObjectId, file: &[u8]) -> io::Result<()> {
    let (aside, name) = (Name::new_temporary(), Name::object(id));
    let put = || {
        objects.create_new(&aside, 0o444)?.write_all(file)?;
        match objects.rename(&aside, &name) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                objects.make_folder(&Name::fan(id.0[0]), 0o777)?;
                objects.rename(&aside, &name)
            }
            done => done,
        }
    };
    put().inspect_err(|_| drop(objects.remove(&aside)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn object(bytes: &[u8]) -> Object {
        Object {
            id: super::super::name(ObjectKind::Blob, bytes),
            kind: ObjectKind::Blob,
            bytes: bytes.to_vec(),
        }
    }

    fn is_whole(objects: &Folder, id: ObjectId) -> bool {
        let found = Reader::new().read(objects, id).expect("readable");
        matches!(found, Loose::Whole(..))
    }

    /// Tells whether a damaged file reads as another object. A flipped bit may be one that zlib
    /// ignores.
    fn is_another(objects: &Folder, object: &Object) -> bool {
        match Reader::new().read(objects, object.id).expect("readable") {
            Loose::Whole(kind, bytes) => kind != object.kind || bytes != object.bytes,
            Loose::Absent | Loose::Damaged(_) => false,
        }
    }

    #[test]
    fn no_torn_or_changed_file_is_whole() {
        let temporary = tempfile::tempdir().expect("temporary folder");
        let folder = &Folder::at(temporary.path()).expect("opens");
        let object = object(&[7; 300]);
        write(folder, &object).expect("writes");
        let path = folder.path_of(&Name::object(object.id));
        let file = fs::read(&path).expect("written");
        assert!(is_whole(folder, object.id));
        let put = |bytes: &[u8]| {
            fs::remove_file(&path).expect("there");
            fs::write(&path, bytes).expect("writes");
        };
        for cut in 0..file.len() {
            put(&file[..cut]);
            assert!(!is_whole(folder, object.id), "cut at {cut}");
        }
        for at in 0..file.len() {
            let mut bad = file.clone();
            bad[at] ^= 0x10;
            put(&bad);
            assert!(!is_another(folder, &object), "byte {at}");
        }
        put(&[&file[..], b"tail"].concat());
        assert!(!is_whole(folder, object.id), "garbage after the end");
        write(folder, &object).expect("writes over it");
        assert!(is_whole(folder, object.id));
    }

    #[test]
    fn what_is_stored_inflates() {
        let noise: Vec<u8> = (0..300_000u32)
            .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
            .collect();
        let most = STORED_BYTES_MAX;
        for length in [
            0,
            1,
            70_000,
            most - 8,
            most,
            2 * most,
            2 * most + 1,
            300_000,
        ] {
            for kind in [ObjectKind::Blob, ObjectKind::Tree, ObjectKind::Commit] {
                let header = format!("{} {length}\0", kind.name());
                let file = stored(&[header.as_bytes(), &noise[..length]].concat());
                let found = inflate(&file[..]).expect("in memory").expect("whole");
                assert!(found == (kind, noise[..length].to_vec()), "{length}");
            }
        }
    }

    #[test]
    fn what_would_swell_beyond_all_measure_is_not_inflated() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let objects = Folder::at(folder.path()).expect("opens");
        let dense = |bytes: &[u8]| {
            let mut file = flate2::write::ZlibEncoder::new(Vec::new(), Compression::best());
            file.write_all(bytes).expect("in memory");
            file.finish().expect("in memory")
        };
        for (bytes, is_read) in [(1 << 20, true), (8 << 20, false)] {
            let object = object(&vec![0; bytes]);
            let header = format!("blob {bytes}\0");
            let file = dense(&[header.as_bytes(), &object.bytes].concat());
            put(&objects, object.id, &file).expect("written");
            let found = Reader::new().read(&objects, object.id).expect("readable");
            assert_eq!(matches!(found, Loose::Whole(..)), is_read, "{bytes}");
        }
    }

    #[test]
    fn a_header_that_promises_too_much_is_refused() {
        for header in [
            &b"blob 999999999999"[..],
            b"blob -1",
            b"blob",
            b"tag 3",
            b"blob 0x3",
            b"blob +3",
            b"blob 03",
        ] {
            assert!(parse_header(header).is_none());
        }
    }
}
