//! Loose object files: written whole, read with bounds, and never trusted without their hash.
//!
//! libgit2 hangs on a loose object that is cut short and takes an empty file for a written one, so
//! it never sees a loose file of ours: they are read and written here.

use std::io::{self, BufReader, Read, Write};

use flate2::bufread::ZlibDecoder;
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use zlib_rs::adler32::adler32;

use super::object::{Kind, Object};
use crate::disk::{self, Folder, Name};
use crate::id::ObjectId;
use crate::id::{hex, hex_bytes};

/// Largest object that is read, in bytes: the record of a directory of 100,000 memories, with room.
const OBJECT_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// How often a write is tried again because its folder was swept away meanwhile.
const SWEPT_TRIES_MAX: u32 = 20;

/// Most that is looked at of an object that is not whole: the headers of a commit, with room.
const SALVAGE_BYTES_MAX: u64 = 64 * 1024;

/// Longest loose header: kind, length, NUL.
const HEADER_BYTES_MAX: usize = 32;

/// Read at once of every object: its header, and of a commit its tree and parent.
const START_BYTES: usize = 256;

/// What holds the beginning of an object, however badly it was deflated.
const PEEKED_FILE_BYTES: usize = 1024;

/// Files from this size on, and objects over the other one, are read as a stream. A root tree has
/// some 8 KiB, and few commits have as much.
const SMALL_FILE_BYTES_MAX: usize = 32 * 1024;
const SMALL_BYTES_MAX: usize = 64 * 1024;

/// An object of more than so many bytes is none of a store's if its file would have to swell to more
/// than so many times its length: ciphertext does not shrink, and no tree is that large.
const SHRUNK_BYTES_MIN: u64 = 4 * 1024 * 1024;
const SHRINK_MAX: u64 = 100;

/// Most that one stored block of a zlib stream holds.
const STORED_BYTES_MAX: usize = 65_535;
/// The lowest level of zlib with codes of its own for each text.
const DENSE_LEVEL: u32 = 2;

/// Room for what zlib adds to a small object that does not shrink.
const DEFLATED_ROOM_BYTES: usize = 128;

/// Most bytes that are reserved for an object before it is read.
const ROOM_BYTES: usize = 1 << 20;

/// What a loose file turned out to be.
pub(super) enum Loose {
    Absent,
    Whole(Kind, Vec<u8>),
    Damaged(&'static str),
}

/// The objects whose names begin with these digits, of which there are two at least.
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

/// Every file that has the place of an object.
pub(super) fn all(objects: &Folder) -> io::Result<Vec<ObjectId>> {
    let mut found = Vec::new();
    for first in 0..=u8::MAX {
        found.extend(named(objects, &hex(&[first]))?);
    }
    Ok(found)
}

/// Removes the file of an object, which is elsewhere too.
pub(super) fn remove(objects: &Folder, id: ObjectId) {
    drop(objects.remove(&Name::object(id)));
}

/// Removes folders that have no object left; a writer makes them again.
pub(super) fn remove_empty_folders(objects: &Folder) {
    for first in 0..=u8::MAX {
        drop(objects.remove_folder(&Name::fan(first)));
    }
}

/// Reads loose files one after the other through the same memory: most are small, and then making
/// room for each costs more than reading it.
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

    /// Reads a loose object and checks that it is all there.
    pub(super) fn read(&mut self, objects: &Folder, id: ObjectId) -> io::Result<Loose> {
        let mut file = match objects.open_read(&Name::object(id)) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Loose::Absent),
            // Another thing is in its place, which another copy of it may make good.
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
        // Whatever is large or not whole is read as a stream, which also tells what is wrong.
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

    /// Whether an object says that it has more bytes than a file of this length can hold of what a
    /// store keeps; of its file so much is in memory.
    fn promises_too_much(&mut self, length: usize, file_bytes: u64) -> bool {
        let promised = self.begin(length).map_or(0, |(_, bytes, _)| bytes);
        promised > SHRUNK_BYTES_MIN && promised / SHRINK_MAX > file_bytes
    }

    /// The kind of the object in memory and its length as its header says, and what follows that.
    fn begin(&mut self, length: usize) -> Option<(Kind, u64, &[u8])> {
        self.inflater.reset(true);
        let (file, start) = (&self.file[..length], &mut self.content[..START_BYTES]);
        // An error ends what can be had, and what was inflated before it is counted.
        let _ = self.inflater.decompress(file, start, FlushDecompress::None);
        let inflated = usize::try_from(self.inflater.total_out()).ok()?;
        let (header, begun) = split_header(&self.content[..inflated])?;
        let (kind, bytes) = parse_header(header)?;
        Some((kind, bytes, begun))
    }

    /// What [`inflate`] answers for the file in memory, if that is all of it, it is small, and
    /// nothing is wrong with it.
    fn inflate_small(&mut self, length: usize) -> Option<(Kind, &[u8])> {
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

    /// The beginning of an object, of which nothing is checked: `None` if its file is not there or
    /// does not begin like one.
    pub(super) fn peek(&mut self, objects: &Folder, id: ObjectId) -> Option<(Kind, Vec<u8>)> {
        let mut file = objects.open_read(&Name::object(id)).ok()?;
        let length = file.read(&mut self.file[..PEEKED_FILE_BYTES]).ok()?;
        let (kind, _, begun) = self.begin(length)?;
        Some((kind, begun.to_vec()))
    }
}

/// What a torn or changed file still holds behind its header, as far as it inflates.
pub(super) fn salvage(objects: &Folder, id: ObjectId) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Ok(file) = objects.open_read(&Name::object(id)) {
        let mut inflated = ZlibDecoder::new(BufReader::new(file)).take(SALVAGE_BYTES_MAX);
        // An error ends what can be had.
        let _ = inflated.read_to_end(&mut bytes);
    }
    let header = bytes.iter().take(HEADER_BYTES_MAX).position(|b| *b == 0);
    header.map_or_else(Vec::new, |end| bytes.split_off(end + 1))
}

fn is_content_fault(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData
    )
}

/// Inflates `kind length NUL bytes` and no more; `None` if it is anything else.
pub(super) fn inflate(file: impl io::BufRead) -> io::Result<Option<(Kind, Vec<u8>)>> {
    let mut inflated = ZlibDecoder::new(file);
    let mut start = [0; START_BYTES];
    let read = read_most(&mut inflated, &mut start)?;
    let Some((header, begun)) = split_header(&start[..read]) else {
        return Ok(None);
    };
    let Some((kind, length)) = parse_header(header) else {
        return Ok(None);
    };
    // What a header promises is not reserved beyond what most objects have.
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0).min(ROOM_BYTES) + 1);
    bytes.extend_from_slice(begun);
    let rest = (length + 1).saturating_sub(begun.len() as u64);
    inflated.by_ref().take(rest).read_to_end(&mut bytes)?;
    let after = inflated.into_inner().read(&mut [0])?;
    Ok((bytes.len() as u64 == length && after == 0).then_some((kind, bytes)))
}

/// Reads until the buffer is full or there is no more.
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

/// The header before the first NUL, and what follows it.
fn split_header(start: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = start.iter().take(HEADER_BYTES_MAX).position(|b| *b == 0)?;
    Some((&start[..end], &start[end + 1..]))
}

fn parse_header(header: &[u8]) -> Option<(Kind, u64)> {
    let (name, length) = std::str::from_utf8(header).ok()?.split_once(' ')?;
    let kind = Kind::ALL.into_iter().find(|kind| kind.name() == name)?;
    let bytes: u64 = length.parse().ok().filter(|n| *n <= OBJECT_BYTES_MAX)?;
    // One spelling only: no sign and no zeros before it.
    (bytes.to_string() == length).then_some((kind, bytes))
}

/// Writes an object over whatever stands in its place. Not yet durable.
pub(super) fn write(objects: &Folder, object: &Object) -> io::Result<()> {
    let header = format!("{} {}\0", object.kind.name(), object.bytes.len());
    let file = stored(&[header.as_bytes(), &object.bytes].concat());
    let mut tries = 0;
    loop {
        // Stock git sweeps away empty folders, and on request files that are not in their place.
        match put(objects, object.id, &file) {
            Err(e) if e.kind() == io::ErrorKind::NotFound && tries < SWEPT_TRIES_MAX => tries += 1,
            done => return done,
        }
    }
}

/// A zlib stream (RFC 1950) of stored blocks (RFC 1951, 3.2.4): a loose object soon becomes part of
/// a pack, and until then deflating it costs more than it saves. Ciphertext does not shrink at all.
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

/// Deflates objects one after the other with the same memory: most are small, and then making room
/// for the tables of zlib costs more than the work.
pub(super) struct Writer {
    /// Ciphertext does not shrink.
    stored: Compress,
    /// Trees and commits do a little.
    fast: Compress,
}

impl Writer {
    pub(super) fn new() -> Self {
        Self {
            stored: Compress::new(Compression::none(), true),
            fast: Compress::new(Compression::fast(), true),
        }
    }

    /// As [`Self::new`], for what is kept for long: fitting what stands for each byte to a text saves a
    /// quarter of all base64, of which commits mostly are, and takes twice the time.
    pub(super) fn dense() -> Self {
        Self {
            fast: Compress::new(Compression::new(DENSE_LEVEL), true),
            ..Self::new()
        }
    }

    pub(super) fn deflate(
        &mut self,
        kind: Kind,
        header: &[u8],
        bytes: &[u8],
    ) -> io::Result<Vec<u8>> {
        let zlib = match kind {
            Kind::Blob => &mut self.stored,
            Kind::Tree | Kind::Commit => &mut self.fast,
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
    let (aside, name) = (Name::new_aside(), Name::object(id));
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
            id: super::super::name(Kind::Blob, bytes),
            kind: Kind::Blob,
            bytes: bytes.to_vec(),
        }
    }

    fn is_whole(objects: &Folder, id: ObjectId) -> bool {
        let found = Reader::new().read(objects, id).expect("readable");
        matches!(found, Loose::Whole(..))
    }

    /// A flipped bit may fall on one that zlib does not use; what must not be is another content.
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
            for kind in [Kind::Blob, Kind::Tree, Kind::Commit] {
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
