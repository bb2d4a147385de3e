//! Packs: many objects in one file with an index beside it (gitformat-pack(5)).
//!
//! Stock git reads the packs written here, and packs of stock git are read here. libgit2 is used
//! for neither: it searches ciphertext for deltas too, hangs on a torn loose file beside a pack,
//! and caches hundreds of megabytes.

mod delta;
#[cfg(any(fuzzing, test))]
pub(super) mod fuzzing;
mod index;
mod reader;
mod set;
mod writer;

use crate::repository::object::ObjectKind;

pub(super) use self::reader::{Pack, PackReadContext};
pub(super) use self::set::{
    PackFile, Packed, Packs, files, indexed, is_content_fault, merge_small, remove, remove_orphans,
    without_index,
};
pub(super) use self::writer::{PackWriter, keep, release};

/// Largest object that is read, in bytes.
const OBJECT_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Most bytes that a chain of deltas may produce in total on the way to one object.
const CHAIN_BYTES_MAX: u64 = 2 * OBJECT_BYTES_MAX;

const MAGIC: &[u8; 4] = b"PACK";
const VERSION: u32 = 2;
const HEADER_BYTES: usize = 12;
const TRAILER_BYTES: usize = 20;

/// The entry types of deltas: the base is given by its distance back in the pack, or by its name.
const BY_OFFSET: u8 = 6;
const BY_NAME: u8 = 7;

/// The object kinds of git. A store has no tags, but a user of stock git may add some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Commit = 1,
    Tree = 2,
    Blob = 3,
    Tag = 4,
}

impl Type {
    fn of_code(code: u8) -> Option<Self> {
        let all = [Self::Commit, Self::Tree, Self::Blob, Self::Tag];
        all.into_iter().find(|kind| *kind as u8 == code)
    }

    /// Returns the kind, if stores have it.
    pub(super) fn kind(self) -> Option<ObjectKind> {
        match self {
            Self::Commit => Some(ObjectKind::Commit),
            Self::Tree => Some(ObjectKind::Tree),
            Self::Blob => Some(ObjectKind::Blob),
            Self::Tag => None,
        }
    }
}

impl From<ObjectKind> for Type {
    fn from(kind: ObjectKind) -> Self {
        match kind {
            ObjectKind::Blob => Self::Blob,
            ObjectKind::Tree => Self::Tree,
            ObjectKind::Commit => Self::Commit,
        }
    }
}

/// Writes the start of an entry: its type and inflated size.
fn put_start(out: &mut Vec<u8>, code: u8, size: usize) {
    let mut rest = size >> 4;
    let mut byte = (code << 4) | (low(size) & 0x0f);
    while rest > 0 {
        out.push(byte | 0x80);
        byte = low(rest) & 0x7f;
        rest >>= 7;
    }
    out.push(byte);
}

/// Returns the lowest byte of a number.
fn low(number: usize) -> u8 {
    number.to_le_bytes()[0]
}

/// Parses the start of an entry: its type, its inflated size, and the bytes consumed.
fn parse_start(bytes: &[u8]) -> Option<(u8, u64, usize)> {
    let first = *bytes.first()?;
    let (mut size, mut shift, mut at) = (u64::from(first & 0x0f), 4, 1);
    let mut more = first & 0x80 != 0;
    while more {
        let byte = *bytes.get(at)?;
        if shift > 56 {
            return None;
        }
        size |= u64::from(byte & 0x7f) << shift;
        (shift, at, more) = (shift + 7, at + 1, byte & 0x80 != 0);
    }
    Some(((first >> 4) & 0x07, size, at))
}

/// Writes the distance from an entry back to its base.
fn put_distance(out: &mut Vec<u8>, distance: u64) {
    let mut bytes = vec![distance.to_le_bytes()[0] & 0x7f];
    let mut rest = distance >> 7;
    while rest > 0 {
        rest -= 1;
        bytes.push(rest.to_le_bytes()[0] | 0x80);
        rest >>= 7;
    }
    bytes.reverse();
    out.extend_from_slice(&bytes);
}

/// Parses the distance to a base, and the bytes consumed.
fn parse_distance(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut byte = *bytes.first()?;
    let (mut distance, mut at) = (u64::from(byte & 0x7f), 1);
    while byte & 0x80 != 0 {
        byte = *bytes.get(at)?;
        at += 1;
        distance = distance.checked_add(1).filter(|d| d.leading_zeros() > 7)? << 7;
        distance |= u64::from(byte & 0x7f);
    }
    Some((distance, at))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

    use proptest::prelude::*;

    use super::*;
    use crate::disk::{Folder, PackId};
    use crate::id::ObjectId;
    use crate::repository::{loose, name_of};

    type TestObject = (Type, Vec<u8>);

    fn noise(bytes: usize, seed: usize) -> Vec<u8> {
        let mut state = seed as u64 + 1;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            state.to_le_bytes()[5]
        };
        (0..bytes).map(|_| next()).collect()
    }

    /// Builds the objects of so many commands, oldest first: each writes a version of one of a few
    /// memories, its folder, the root, and a commit.
    fn history(commands: usize) -> Vec<TestObject> {
        let mut objects = Vec::new();
        let mut folders: BTreeMap<u8, BTreeMap<String, Vec<u8>>> = BTreeMap::new();
        let mut roots: BTreeMap<u8, ObjectId> = BTreeMap::new();
        for n in 0..commands {
            let blob = noise(300 + n % 50, n);
            let folder = low(n % 3);
            let entries = folders.entry(folder).or_default();
            let id = name_of(Type::Blob, &blob);
            entries.insert(format!("{folder:02x}{:030x}", n % 70), id.0.to_vec());
            let tree: Vec<u8> = entries
                .iter()
                .flat_map(|(name, id)| [b"100644 ", name.as_bytes(), b"\0", id].concat())
                .collect();
            roots.insert(folder, name_of(Type::Tree, &tree));
            let root: Vec<u8> = roots
                .iter()
                .flat_map(|(name, id)| [format!("40000 {name:02x}\0").as_bytes(), &id.0].concat())
                .collect();
            let head = name_of(Type::Tree, &root);
            let commit = format!(
                "tree {head}\nauthor owner <owner@agekeep> {n} +0000\ncommitter owner \
                 <owner@agekeep> {n} +0000\n\ncreate ok\n\n{}\n",
                crate::crypto::base64::encode(&noise(400, n))
            );
            objects.extend([(Type::Blob, blob), (Type::Tree, tree), (Type::Tree, root)]);
            objects.push((Type::Commit, commit.into_bytes()));
        }
        objects
    }

    fn write(folder: &Folder, objects: &[TestObject]) -> std::path::PathBuf {
        let mut writer = PackWriter::begin(folder, objects.len()).expect("begins");
        let mut seen = std::collections::HashSet::new();
        for (kind, bytes) in objects.iter().rev() {
            let id = name_of(*kind, bytes);
            if seen.insert(id) {
                writer.add(*kind, id, bytes).expect("adds");
            }
        }
        let placed = writer.finish(false).expect("puts in place");
        folder.path_of(&placed.pack())
    }

    fn read(packs: &mut Packs, id: ObjectId) -> Packed {
        let fits = |kind, bytes: &[u8]| name_of(kind, bytes) == id;
        packs.read(id, fits).expect("reads")
    }

    fn assert_all_there(folder: &Folder, objects: &[TestObject]) {
        let mut packs = Packs::list(folder).expect("lists");
        for (kind, bytes) in objects {
            let found = read(&mut packs, name_of(*kind, bytes));
            assert!(matches!(found, Packed::Whole(k, b) if k == *kind && b == *bytes));
        }
        let absent = read(&mut packs, ObjectId([7; 20]));
        assert!(matches!(absent, Packed::Absent));
    }

    /// Asserts that libgit2 reads the same objects.
    fn assert_known_to_another(objects_folder: &std::path::Path, objects: &[TestObject]) {
        let odb = git2::Odb::new().expect("makes one");
        let folder = objects_folder.to_str().expect("UTF-8");
        odb.add_disk_alternate(folder).expect("opens");
        for (kind, bytes) in objects {
            let id = git2::Oid::from_bytes(&name_of(*kind, bytes).0).expect("a name");
            assert_eq!(odb.read(id).expect("reads").data(), bytes);
        }
    }

    fn folders() -> (tempfile::TempDir, Folder) {
        let root = tempfile::tempdir().expect("a folder");
        let folder = root.path().join("pack");
        fs::create_dir(&folder).expect("makes");
        (root, Folder::at(&folder).expect("opens"))
    }

    #[test]
    fn a_history_comes_out_as_it_went_in_and_is_much_smaller() {
        let (root, folder) = folders();
        let objects = history(700);
        let path = write(&folder, &objects);
        assert_all_there(&folder, &objects);
        assert_known_to_another(root.path(), &objects);
        let trees = |kind| {
            let of_kind = objects.iter().filter(move |(found, _)| *found == kind);
            of_kind.map(|(_, bytes)| bytes.len() as u64).sum::<u64>()
        };
        let others = trees(Type::Blob) + trees(Type::Commit);
        let taken = fs::metadata(path).expect("there").len();
        assert!(
            taken < others + trees(Type::Tree) / 15,
            "{taken} of {others} and trees"
        );
        let left = fs::read_dir(folder.path()).expect("lists").count();
        assert_eq!(left, 2, "nothing is left aside");
    }

    #[test]
    fn fewer_objects_than_were_promised_are_a_whole_pack_too() {
        let (root, folder) = folders();
        let objects = history(3);
        let mut writer = PackWriter::begin(&folder, 1000).expect("begins");
        for (kind, bytes) in &objects {
            let added = writer.add(*kind, name_of(*kind, bytes), bytes);
            added.expect("adds");
        }
        writer.finish(false).expect("puts in place");
        assert_all_there(&folder, &objects);
        assert_known_to_another(root.path(), &objects);
    }

    #[test]
    fn a_pack_stays_where_the_one_that_replaces_it_is_gone() {
        let (_root, folder) = folders();
        let objects = history(3);
        write(&folder, &objects);
        let old = files(&folder).expect("lists")[0].id;
        remove(&folder, old, PackId([9; 20]));
        remove(&folder, old, old);
        assert_all_there(&folder, &objects);
        write(&folder, &objects);
        let both = files(&folder).expect("lists");
        let new = both.iter().find(|file| file.id != old).expect("another");
        remove(&folder, old, new.id);
        assert_eq!(files(&folder).expect("lists").len(), 1);
        assert_all_there(&folder, &objects);
    }

    #[test]
    fn a_pack_that_was_given_up_leaves_nothing() {
        let (_root, folder) = folders();
        drop(PackWriter::begin(&folder, 1).expect("begins"));
        assert_eq!(fs::read_dir(folder.path()).expect("lists").count(), 0);
    }

    #[test]
    fn a_torn_or_changed_pack_never_has_another_object() {
        let (_root, folder) = folders();
        let objects = history(6);
        let path = write(&folder, &objects);
        let whole = fs::read(&path).expect("reads");
        let put = |bytes: &[u8]| {
            fs::remove_file(&path).expect("there");
            fs::write(&path, bytes).expect("writes");
            let mut packs = Packs::list(&folder).expect("lists");
            let mut damaged = 0;
            for (kind, bytes) in &objects {
                match read(&mut packs, name_of(*kind, bytes)) {
                    Packed::Whole(k, b) => assert!(k == *kind && b == *bytes),
                    Packed::Damaged(_) => damaged += 1,
                    Packed::Absent => panic!("the index says that it is there"),
                }
            }
            damaged
        };
        for cut in (0..whole.len() - 20).step_by(13) {
            assert!(put(&whole[..cut]) > 0, "cut at {cut}");
        }
        let mut found = 0;
        for at in (0..whole.len()).step_by(7) {
            let mut bad = whole.clone();
            bad[at] ^= 0x14;
            found += put(&bad);
        }
        assert!(found > whole.len() / 7 / 2, "{found} of {}", whole.len());
        assert_eq!(put(&whole), 0);
        fs::remove_file(path.with_extension("idx")).expect("there");
        let mut packs = Packs::list(&folder).expect("lists");
        let found = read(&mut packs, name_of(objects[0].0, &objects[0].1));
        assert!(matches!(found, Packed::Absent), "no index, no pack");
    }

    /// The object that [`refusal`] reads.
    const REFUSED: ObjectId = ObjectId([7; 20]);

    /// Returns the reason why the object at an offset of a malformed pack is refused.
    fn refusal(mut file: Vec<u8>, offset: usize) -> String {
        let (_root, folder) = folders();
        file.extend_from_slice(&[0; TRAILER_BYTES]);
        let path = |name| folder.path_of(&name);
        fs::write(path(PackId([0; 20]).pack()), &file).expect("writes");
        let (id, crc, offset) = (REFUSED, 0, offset as u64);
        let index = fs::File::create(path(PackId([0; 20]).index())).expect("makes");
        index::write(&index, &mut [index::Indexed { id, crc, offset }], &[0; 20]).expect("writes");
        match read(&mut Packs::list(&folder).expect("lists"), id) {
            Packed::Damaged(why) => why,
            _ => panic!("no store has such an object"),
        }
    }

    /// Such a chain would need memory for its length and for each of its inflated deltas.
    #[test]
    fn deltas_that_never_come_to_an_end_are_refused() {
        for bytes in [1, 64 << 20] {
            let mut file = [&MAGIC[..], &VERSION.to_be_bytes(), &[0; 4]].concat();
            put_start(&mut file, BY_NAME, bytes);
            file.extend_from_slice(&REFUSED.0);
            let delta = loose::LooseWriter::new().deflate(ObjectKind::Tree, b"", &vec![0; bytes]);
            file.extend(delta.expect("to memory"));
            let why = refusal(file, HEADER_BYTES);
            assert!(why.contains("through too many others"), "{why}");
        }
    }

    /// Each object is within the size limit; all together would take minutes.
    #[test]
    fn deltas_that_make_far_too_much_are_refused_before_they_are_applied() {
        let deflate =
            |bytes: &[u8]| loose::LooseWriter::new().deflate(ObjectKind::Blob, b"", bytes);
        let mut file = [&MAGIC[..], &VERSION.to_be_bytes(), &[0; 4]].concat();
        let mut last = file.len();
        put_start(&mut file, Type::Tree as u8, 4);
        file.extend(deflate(b"base").expect("to memory"));
        let size = [0x80, 0x80, 0x80, 0x7d];
        let delta = [&size[..], &size].concat();
        assert_eq!(delta::size(&delta), 250 << 20);
        for _ in 0..3 {
            let at = file.len();
            put_start(&mut file, BY_OFFSET, delta.len());
            put_distance(&mut file, (at - last) as u64);
            file.extend(deflate(&delta).expect("to memory"));
            last = at;
        }
        let why = refusal(file, last);
        assert!(why.contains("made of more than any"), "{why}");
    }

    #[test]
    fn an_entry_larger_than_any_object_is_refused_before_it_is_read() {
        let bytes = usize::try_from(OBJECT_BYTES_MAX).expect("small") + 1;
        let mut file = [&MAGIC[..], &VERSION.to_be_bytes(), &[0; 4]].concat();
        put_start(&mut file, Type::Blob as u8, bytes);
        let why = refusal(file, HEADER_BYTES);
        assert!(why.contains("larger than any"), "{why}");
    }

    #[test]
    fn an_object_that_one_pack_has_torn_is_read_from_another() {
        let (_root, folder) = folders();
        let objects = history(20);
        let first = write(&folder, &objects);
        write(&folder, &objects[4..]);
        let whole = fs::read(&first).expect("reads");
        fs::remove_file(&first).expect("there");
        fs::write(&first, &whole[..40]).expect("writes");
        assert_all_there(&folder, &objects[4..]);
    }

    #[test]
    fn many_packs_become_few_and_nothing_is_lost() {
        let (root, folder) = folders();
        let objects = history(400);
        for piece in objects.chunks(20) {
            write(&folder, piece);
            // Packs are ordered by file time.
            std::thread::sleep(std::time::Duration::from_millis(2));
            merge_small(&folder, || u64::MAX).expect("merges");
            assert!(files(&folder).expect("lists").len() <= 8);
        }
        assert_all_there(&folder, &objects);
        assert_known_to_another(root.path(), &objects);
    }

    #[test]
    fn no_merge_is_larger_than_it_may_be_and_one_that_becomes_so_ends() {
        let (_root, folder) = folders();
        let objects = history(80);
        for piece in objects.chunks(20) {
            write(&folder, piece);
        }
        let many = files(&folder).expect("lists").len();
        assert!(many > 8);
        merge_small(&folder, || 1000).expect("merges nothing");
        assert_eq!(files(&folder).expect("lists").len(), many);
        let asked = std::cell::Cell::new(0);
        let fewer = || {
            asked.set(asked.get() + 1);
            if asked.get() < 30 { u64::MAX } else { 1000 }
        };
        merge_small(&folder, fewer).expect("ends");
        assert_eq!(
            fs::read_dir(folder.path()).expect("lists").count(),
            2 * many
        );
        assert_all_there(&folder, &objects);
    }

    #[test]
    fn a_pack_that_somebody_keeps_is_not_merged() {
        let (_root, folder) = folders();
        let objects = history(80);
        let kept = write(&folder, &objects[..20]);
        fs::write(kept.with_extension("keep"), "").expect("writes");
        for piece in objects.chunks(20) {
            write(&folder, piece);
        }
        merge_small(&folder, || u64::MAX).expect("merges");
        assert!(kept.exists());
        assert!(files(&folder).expect("lists").len() < 10);
    }

    proptest! {
        #[test]
        fn any_objects_come_out_as_they_went_in(
            pieces in prop::collection::vec((1u8..5, prop::collection::vec(any::<u8>(), 0..400), 0usize..70_000), 1..12),
        ) {
            let (_root, folder) = folders();
            let objects: Vec<TestObject> = pieces
                .into_iter()
                .map(|(code, bytes, more)| (Type::of_code(code).expect("four"), [bytes, vec![0; more]].concat()))
                .collect();
            write(&folder, &objects);
            assert_all_there(&folder, &objects);
        }

        #[test]
        fn how_an_entry_begins_reads_back(code in 1u8..8, size in 0usize..1 << 40, distance in 1u64..1 << 60) {
            let mut bytes = Vec::new();
            put_start(&mut bytes, code, size);
            prop_assert_eq!(parse_start(&bytes), Some((code, size as u64, bytes.len())));
            prop_assert_eq!(parse_start(&bytes[..bytes.len() - 1]), None);
            let mut bytes = Vec::new();
            put_distance(&mut bytes, distance);
            prop_assert_eq!(parse_distance(&bytes), Some((distance, bytes.len())));
            prop_assert_eq!(parse_distance(&bytes[..bytes.len() - 1]), None);
        }

        #[test]
        fn no_bytes_break_the_parsers(bytes in prop::collection::vec(any::<u8>(), 0..20)) {
            let _ = (parse_start(&bytes), parse_distance(&bytes));
        }
    }
}
