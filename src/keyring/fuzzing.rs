//! Fuzzed invariants of the table files `ring` and `names`.
#![allow(clippy::missing_panics_doc)] // a law that is broken panics: that is what finds it

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::crypto::aead::Key;
use crate::disk::Folder;
use crate::error::Error;
use crate::id::{MemoryId, StoreId};
use crate::keyring::table::{self, Lookup, Table, TableLayout};
use crate::keyring::{ENTRY_OVERHEAD_BYTES, NAMES_SECRET_BYTES, RING_SECRET_BYTES};

const STORE: StoreId = StoreId([0x57; 16]);
const EPOCH: u64 = 1;

/// A description of one of the two tables.
struct TableKind {
    name: &'static str,
    shape: &'static TableLayout,
    secret_bytes: usize,
}

const KINDS: [TableKind; 2] = [
    TableKind {
        name: "ring",
        shape: &table::RING,
        secret_bytes: RING_SECRET_BYTES,
    },
    TableKind {
        name: "names",
        shape: &table::NAMES,
        secret_bytes: NAMES_SECRET_BYTES,
    },
];

impl TableKind {
    fn open(&self, folder: &Path) -> Result<Table, Error> {
        // No key is given: a check of the header's seal would be the same for all inputs.
        Table::open(&at(folder), self.shape, STORE, None)
    }

    /// Returns the path of its file.
    fn path(&self, folder: &Path) -> PathBuf {
        folder.join(self.name)
    }

    fn entry_bytes(&self) -> usize {
        ENTRY_OVERHEAD_BYTES + self.secret_bytes
    }
}

fn at(folder: &Path) -> Folder {
    Folder::at(folder).expect("it is there")
}

fn key() -> Key {
    Key::from_slice(&[0x4b; 32]).expect("32 bytes")
}

/// Takes `bytes` as a table in `folder` if they begin with a magic, otherwise as steps on a table.
pub fn table(folder: &Path, bytes: &[u8]) {
    let file = bytes.strip_prefix(b"agekeep-");
    match file.and_then(|rest| rest.first()) {
        Some(b'r') => as_file(folder, &KINDS[0], bytes),
        Some(_) => as_file(folder, &KINDS[1], bytes),
        None => as_steps(folder, bytes),
    }
}

/// Checks that every whole entry is found or reported as damaged, that the last entry of an id
/// counts, and that the next entry replaces a torn one.
fn as_file(folder: &Path, kind: &TableKind, bytes: &[u8]) {
    fs::write(kind.path(folder), bytes).expect("a place to write to");
    let mut table = match kind.open(folder) {
        Ok(table) => table,
        Err(Error::Damaged { .. } | Error::UnknownFormat { .. }) => return,
        Err(other) => panic!("{other}"),
    };
    let header_bytes = if bytes[13..16] == *b"001" { 64 } else { 128 };
    let entries = bytes[header_bytes..].chunks_exact(kind.entry_bytes());
    assert_eq!(table.next_slot() as usize, entries.len());
    assert_eq!(table.problem().is_some(), !entries.remainder().is_empty());
    let count = entries.len();
    for entry in entries {
        let id = MemoryId(entry[..16].try_into().expect("sixteen bytes"));
        assert!(table.has(id).expect("readable"));
        let found = table.open_entry(&key(), id).expect("readable");
        assert!(!matches!(found, Lookup::Absent), "an entry without a key");
    }
    let (id, secret) = (MemoryId([0xaa; 16]), vec![0x5e; kind.secret_bytes]);
    let entry = table.seal(&key(), table.next_slot(), id, &secret);
    table.write(table.next_slot(), &entry).expect("written");
    let again = kind.open(folder).expect("its own output");
    assert_eq!(again.next_slot() as usize, count + 1);
    assert!(again.problem().is_none(), "it is still torn");
    assert_eq!(look_up(&again, id), Ok(secret));
}

/// The secret of an id, or the reason there is none.
type Secret = Result<Vec<u8>, &'static str>;

const DAMAGED: Secret = Err("damaged");
const ABSENT: Secret = Err("absent");

fn look_up(table: &Table, id: MemoryId) -> Secret {
    match table.open_entry(&key(), id).expect("readable") {
        Lookup::Found(secret) => Ok(secret.to_vec()),
        Lookup::Damaged => DAMAGED,
        Lookup::Absent => ABSENT,
    }
}

/// The expected contents of a table, slot by slot.
type Model = Vec<(MemoryId, Secret)>;

/// The most steps on one table.
const STEPS_MAX: u8 = 48;

/// Runs steps of two bytes each, an action and an entry; a table and a list must agree after each.
fn as_steps(folder: &Path, bytes: &[u8]) {
    let kind = &KINDS[usize::from(bytes.first().is_some_and(|b| b & 1 == 1))];
    let path = &kind.path(folder);
    drop(fs::remove_file(path));
    Table::create(&at(folder), kind.shape, STORE, (EPOCH, &key())).expect("a place to write to");
    let mut table = kind.open(folder).expect("its own output");
    let mut model = Model::new();
    for (step, number) in bytes.chunks_exact(2).skip(1).zip(0..STEPS_MAX) {
        match step[0] % 8 {
            0 => table = kind.open(folder).expect("its own output"),
            1 => tear(path, &mut table, step[1], kind.entry_bytes()),
            2 => put(&mut table, &mut model, kind, step[1], None),
            3..6 => put(&mut table, &mut model, kind, step[1], Some(number)),
            _ => {}
        }
        // The index is built on demand: at some steps nothing is looked up.
        if step[0] & 0x80 == 0 {
            assert_agrees(&table, &model);
        }
    }
    assert_agrees(&table, &model);
    assert_agrees(&kind.open(folder).expect("its own output"), &model);
}

fn assert_agrees(table: &Table, model: &Model) {
    assert_eq!(table.next_slot() as usize, model.len());
    for id in (0..8).map(id_of) {
        let entry = model.iter().rev().find(|(other, _)| *other == id);
        let expected = entry.map_or(ABSENT, |(_, secret)| secret.clone());
        assert_eq!(look_up(table, id), expected, "{id} of {}", model.len());
    }
}

fn id_of(n: u8) -> MemoryId {
    MemoryId([n; 16])
}

/// Writes an entry to the slot named by the high bits of `which`, for the id named by its low bits.
/// An entry without a secret is damaged.
fn put(table: &mut Table, model: &mut Model, kind: &TableKind, which: u8, secret: Option<u8>) {
    let (id, slot) = (id_of(which & 7), usize::from(which >> 3).min(model.len()));
    let plain = vec![secret.unwrap_or(0); kind.secret_bytes];
    let slot = u32::try_from(slot).expect("small");
    let mut entry = table.seal(&key(), slot, id, &plain);
    if secret.is_none() {
        *entry.last_mut().expect("not empty") ^= 1;
    }
    let written = table.write(slot, &entry);
    written.expect("an entry of its size, in or behind the table");
    let expected = secret.map_or(DAMAGED, |_| Ok(plain));
    if slot as usize == model.len() {
        model.push((id, expected));
    } else {
        model[slot as usize] = (id, expected);
    }
}

/// Appends less than a whole entry, like a write that was cut short.
fn tear(path: &Path, table: &mut Table, bytes: u8, entry_bytes: usize) {
    if table.problem().is_none() {
        let torn = vec![0xee; usize::from(bytes) % entry_bytes];
        let file = fs::OpenOptions::new().append(true).open(path);
        let written = file.and_then(|mut file| file.write_all(&torn));
        written.expect("a place to write to");
    }
    table.refresh().expect("nothing else changed");
}
