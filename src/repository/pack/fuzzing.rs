//! Properties of reading packs from any writer.
#![allow(clippy::missing_panics_doc)] // a law that is broken panics: that is what finds it

use std::fs::{self, File};
use std::path::Path;

use crate::disk::{Folder, PackId};
use crate::id::ObjectId;
use crate::repository::loose;
use crate::repository::object::ObjectKind;
use crate::repository::pack::index::{self, Indexed};
use crate::repository::pack::set::is_content_fault;
use crate::repository::pack::{
    BY_NAME, BY_OFFSET, HEADER_BYTES, MAGIC, OBJECT_BYTES_MAX, Pack, PackReadContext, Packed,
    Packs, TRAILER_BYTES, Type, VERSION, delta, put_distance, put_start,
};

/// The name of the pack.
const PACK: PackId = PackId([0; 20]);

/// Builds a pack from `bytes`, then overwrites a piece of it and of its index. An object reads as
/// it was put in or not at all, and every lookup ends.
///
/// `folder` has to be empty, or one from an earlier call.
pub fn pack(folder: &Path, bytes: &[u8]) {
    let made = GeneratedPack::of(bytes);
    let folder = &Folder::at(folder).expect("it is there");
    let path = folder.path_of(&PACK.pack());
    let mut file = made.file.clone();
    file.extend_from_slice(&[0; TRAILER_BYTES]);
    let index_file = File::create(path.with_extension("idx")).expect("a place to write to");
    let mut entries = made.entries.iter().map(|entry| entry.0).collect::<Vec<_>>();
    index::write(&index_file, &mut entries, &[0; 20]).expect("written");
    fs::write(&path, &file).expect("written");
    made.check(folder);
    // Now with a piece of each overwritten.
    let mut index = fs::read(path.with_extension("idx")).expect("readable");
    for torn in [&mut file, &mut index] {
        let at = usize::from(made.at) % torn.len();
        let end = torn.len().min(at + made.piece.len());
        torn[at..end].copy_from_slice(&made.piece[..end - at]);
    }
    fs::write(&path, &file).expect("written");
    look_at_all(folder, &made.entries);
    fs::write(path.with_extension("idx"), &index).expect("written");
    look_at_all(folder, &made.entries);
}

/// The expected object of an entry, if it is readable.
type EntryContent = Option<(Type, Vec<u8>)>;

/// A pack without its trailer, with its expected entries.
struct GeneratedPack<'a> {
    file: Vec<u8>,
    entries: Vec<(Indexed, EntryContent)>,
    at: u16,
    piece: &'a [u8],
}

impl<'a> GeneratedPack<'a> {
    /// Builds entries one after the other. Each is a form byte, a byte that selects an earlier
    /// entry as base, a byte that is added to the size, a length byte and the content.
    fn of(mut bytes: &'a [u8]) -> Self {
        let mut file = MAGIC.to_vec();
        file.extend_from_slice(&VERSION.to_be_bytes());
        file.resize(HEADER_BYTES, 0);
        let mut entries: Vec<(Indexed, EntryContent)> = Vec::new();
        while let [form, base, more, length, rest @ ..] = bytes {
            let Some((content, rest)) = rest.split_at_checked(usize::from(*length)) else {
                break;
            };
            let begin = file.len();
            let size = content.len() + usize::from(*more);
            put_start(&mut file, form & 7, size);
            let base = entries.len().checked_sub(usize::from(*base));
            let base = base.and_then(|at| entries.get(at));
            match form & 7 {
                BY_OFFSET => {
                    let distance = base.map_or(0, |(base, _)| begin as u64 - base.offset);
                    put_distance(&mut file, distance);
                }
                BY_NAME => file.extend(base.map_or([0xff; 20], |(base, _)| base.id.0)),
                _ => {}
            }
            let deflated = loose::LooseWriter::new().deflate(ObjectKind::Tree, b"", content);
            file.extend(deflated.expect("written to memory"));
            let held = match form & 7 {
                _ if *more > 0 => None,
                BY_OFFSET | BY_NAME => base.and_then(|(_, held)| {
                    let (kind, base) = held.as_ref()?;
                    Some((*kind, delta::apply(base, content, OBJECT_BYTES_MAX)?))
                }),
                code => Type::of_code(code).map(|kind| (kind, content.to_vec())),
            };
            let mut id = [form >> 3; 20];
            id[19] = entries.len().to_le_bytes()[0];
            id[18] = entries.len().to_le_bytes()[1];
            let crc = crc32fast::hash(&file[begin..]);
            let offset = begin as u64;
            let id = ObjectId(id);
            entries.push((Indexed { id, crc, offset }, held));
            bytes = rest;
        }
        let (at, piece) = bytes.split_first_chunk().unwrap_or((&[0, 0], &[]));
        Self {
            file,
            entries,
            at: u16::from_le_bytes(*at),
            piece,
        }
    }

    fn check(&self, folder: &Folder) {
        let (pack, mut tools) = (Pack::at(folder, PACK), PackReadContext::new());
        let all = pack.entries().expect("its own index");
        assert_eq!(all.len(), self.entries.len());
        assert_eq!(pack.names().expect("its own index").len(), all.len());
        for (at, (entry, held)) in self.entries.iter().enumerate() {
            let found = pack.find(entry.id).expect("its own index");
            assert_eq!(found, Some(entry.offset));
            let digits = &entry.id.to_string()[..7];
            assert!(pack.named(digits).expect("its own").contains(&entry.id));
            let read = pack.read(entry.offset, &mut tools);
            match (held, read) {
                (Some((kind, bytes)), Ok(read)) => assert!(read == (*kind, bytes.clone().into())),
                (None, Err(error)) => assert!(is_content_fault(&error), "{error}"),
                (held, read) => panic!("{held:?}, and {read:?} is read"),
            }
            let next = self.entries.get(at + 1).map(|next| next.0.offset);
            let raw = pack.raw_blob(entry, next).ok().flatten();
            let raw_end = next.map_or(self.file.len(), |next| {
                usize::try_from(next).expect("small")
            });
            if let Some(raw) = raw {
                let begin = usize::try_from(entry.offset).expect("small");
                assert_eq!(raw, self.file[begin..raw_end]);
            }
        }
        assert!(pack.find(ObjectId([0xff; 20])).expect("its own").is_none());
    }
}

/// Reads all entries of a damaged pack: every read ends, and blames the file.
fn look_at_all(folder: &Folder, entries: &[(Indexed, EntryContent)]) {
    let (pack, mut tools) = (Pack::at(folder, PACK), PackReadContext::new());
    let mut packs = Packs::list(folder).expect("readable");
    for (entry, _) in entries {
        drop(pack.read(entry.offset, &mut tools));
        let found = packs.read(entry.id, |_, bytes| bytes.len().is_multiple_of(2));
        match found.expect("nothing is wrong with the disk") {
            Packed::Whole(_, bytes) => assert!(bytes.len().is_multiple_of(2), "it does not fit"),
            Packed::Absent | Packed::Damaged(_) => {}
        }
        assert!(packs.has(entry.id).is_ok());
    }
    for entry in pack.entries().into_iter().flatten() {
        drop(pack.read(entry.offset, &mut tools));
        drop(pack.raw_blob(&entry, None));
    }
}
