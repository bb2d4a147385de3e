//! Tests of one table: its slots, its end, and what a rewrite keeps.

use super::*;
use crate::disk::File;

const STORE: StoreId = StoreId([7; 16]);

/// A folder with an empty table, and the key of its entries.
struct Place {
    _temporary: tempfile::TempDir,
    folder: Folder,
    key: Key,
}

impl Place {
    fn new() -> Self {
        let temporary = tempfile::tempdir().expect("a temporary folder");
        let folder = Folder::at(temporary.path()).expect("opens");
        let key = Key::random();
        Table::create(&folder, &NAMES, STORE, (1, &key)).expect("creates");
        Self {
            _temporary: temporary,
            folder,
            key,
        }
    }

    fn open(&self) -> Table {
        Table::open(&self.folder, &NAMES, STORE, Some((1, &self.key))).expect("opens")
    }

    fn entry(&self, table: &Table, slot: u32, n: u8) -> Vec<u8> {
        table.seal(&self.key, slot, id(n), &[n; NAMES_SECRET_BYTES])
    }

    /// Writes entries of these memories after the others.
    fn add(&self, table: &mut Table, memories: std::ops::Range<u8>) {
        for n in memories {
            let entry = self.entry(table, table.next_slot(), n);
            table.write(table.next_slot(), &entry).expect("writes");
        }
    }

    fn file(&self) -> File {
        let (file, _) = self.folder.open_write_or_read(&Name::NAMES).expect("opens");
        file
    }
}

fn id(n: u8) -> MemoryId {
    MemoryId([n; 16])
}

/// Returns the first byte of the secret of a memory, if its newest entry opens.
fn secret(table: &Table, key: &Key, n: u8) -> Option<u8> {
    match table.open_entry(key, id(n)).expect("reads") {
        Lookup::Found(secret) => Some(secret[0]),
        Lookup::Absent | Lookup::Damaged => None,
    }
}

#[test]
fn zeros_at_the_end_are_no_entries_wherever_they_begin() {
    let entry_bytes = NAMES.entry_bytes() as u64;
    for (known, more, empty) in [
        (0_u8, 0_u8, 1_u32),
        (0, 3, 4),
        (2, 0, 3),
        (2, 1, 6),
        (3, 4, 2),
        (5, 2, 7),
    ] {
        let place = Place::new();
        let mut mine = place.open();
        place.add(&mut mine, 1..1 + known);
        let mut theirs = place.open();
        place.add(&mut theirs, 1 + known..1 + known + more);
        let written = u32::from(known + more);
        let end = theirs.header.offset(written) + u64::from(empty) * entry_bytes;
        place.file().set_len(end).expect("grows");
        mine.refresh().expect("refreshes");
        assert_eq!(mine.next_slot(), written, "{known} {more} {empty}");
        assert!(mine.problem().is_some(), "{known} {more} {empty}");
        // The next entry takes the place of the zeros.
        place.add(&mut mine, 100..101);
        assert_eq!(secret(&place.open(), &place.key, 100), Some(100));
    }
}

#[test]
fn an_entry_fits_the_next_slot_alone() {
    let place = Place::new();
    let mut table = place.open();
    let entry = place.entry(&table, 0, 1);
    for (slot, bytes) in [(1, &entry[..]), (0, &entry[1..]), (1, &entry[1..])] {
        assert!(table.stage(slot, bytes).is_err(), "staged in {slot}");
        assert!(table.write(slot, bytes).is_err(), "written to {slot}");
    }
    table.stage(0, &entry).expect("fits");
    assert!(table.stage(0, &entry).is_err(), "the slot is taken");
    assert_eq!((table.next_slot(), table.count), (1, 0));
    table.unstage();
    assert_eq!(table.next_slot(), 0);
    assert!(!table.has(id(1)).expect("reads"));
}

#[test]
fn staged_entries_are_newer_than_written_ones() {
    let place = Place::new();
    let mut table = place.open();
    place.add(&mut table, 1..3);
    for n in [2, 1, 2] {
        let entry = place.entry(&table, table.next_slot(), n);
        table.stage(table.next_slot(), &entry).expect("fits");
    }
    assert_eq!(table.slots(id(2), false).expect("reads"), [4, 2, 1]);
    assert_eq!(table.slot(id(2)).expect("reads"), Some(4));
    assert_eq!(table.slots(id(1), false).expect("reads"), [3, 0]);
    let entry = table.entry(2).expect("staged");
    table.write(2, &entry).expect("writes");
    assert_eq!(
        (table.next_slot(), table.count),
        (5, 3),
        "one is staged less"
    );
    assert_eq!(table.slots(id(2), false).expect("reads"), [4, 2, 1]);
}

#[test]
fn an_entry_in_a_slot_that_was_read_before_is_found_anew() {
    let place = Place::new();
    let mut table = place.open();
    place.add(&mut table, 1..4);
    for _ in 0..20 {
        assert_eq!(secret(&table, &place.key, 1), Some(1));
    }
    for slot in [0, 2] {
        let entry = place.entry(&table, slot, 9);
        table.write(slot, &entry).expect("writes");
        assert_eq!(secret(&table, &place.key, 9), Some(9), "slot {slot}");
    }
    assert!(!table.has(id(1)).expect("reads") && !table.has(id(3)).expect("reads"));
    assert_eq!(secret(&table, &place.key, 2), Some(2));
}

#[test]
fn there_is_room_for_so_many_entries_and_for_no_more() {
    let place = Place::new();
    let mut table = place.open();
    table.count = KEY_ENTRIES_MAX - 3;
    table.held.push(Vec::new());
    assert!(table.check_room(2).is_ok());
    assert!(table.check_room(3).is_err());
}

#[test]
fn a_digest_is_of_the_entries_that_are_there() {
    let place = Place::new();
    let mut table = place.open();
    let digest = |table: &Table, count| table.digest_of_first(count).expect("reads");
    let (none, one) = (digest(&table, 0), digest(&table, 1));
    assert!(none.is_some() && one.is_none());
    place.add(&mut table, 1..3);
    assert_eq!(digest(&table, 0), none);
    let two = digest(&table, 2);
    assert!(two.is_some() && digest(&table, 1) != two && digest(&table, 3).is_none());
    place.add(&mut table, 3..4);
    assert_eq!(digest(&table, 2), two);
}

#[test]
fn what_was_known_before_stays_known_through_a_rewrite() {
    let place = Place::new();
    let mut table = place.open();
    place.add(&mut table, 1..5);
    assert!(!table.is_stale(id(1)).expect("reads"));
    let rewritten = |table: &Table, (from, to): ((u64, &Key), (u64, &Key)), filter, more: &[u8]| {
        let more = more.iter().map(|n| (id(*n), Zeroizing::new(vec![*n; 32])));
        assert_eq!(table.header.epoch, from.0);
        table
            .rewrite(&place.folder, from.1, to, filter, more)
            .expect("rewrites");
        Table::open(&place.folder, &NAMES, STORE, Some(to)).expect("opens")
    };
    let stale = |table: &Table| -> Vec<u8> {
        let is_stale = |n: &u8| table.is_stale(id(*n)).expect("reads");
        (1..9).filter(is_stale).collect()
    };
    let (second, third) = (Key::random(), Key::random());
    let all_known = RewriteFilter {
        without: None,
        slots: None,
        all_known: true,
    };
    let mut table = rewritten(&table, ((1, &place.key), (2, &second)), all_known, &[5]);
    assert_eq!(stale(&table), [1, 2, 3, 4]);
    assert_eq!(table.header.generation, FIRST_GENERATION + 1);
    // An entry of the new epoch takes the place of one that is known.
    let slot = table.next_slot();
    let fresh = table.seal(&second, slot, id(2), &[2; 32]);
    table.write(slot, &fresh).expect("writes");
    assert_eq!(stale(&table), [1, 3, 4]);
    let without = HashSet::from([id(1)]);
    let leaving = RewriteFilter {
        without: Some(&without),
        slots: None,
        all_known: false,
    };
    let table = rewritten(&table, ((2, &second), (3, &third)), leaving, &[6]);
    assert_eq!(stale(&table), [3, 4]);
    let found: Vec<Option<u8>> = (1..7).map(|n| secret(&table, &third, n)).collect();
    assert_eq!(found, [None, Some(2), Some(3), Some(4), Some(5), Some(6)]);
    assert_eq!(table.next_slot(), 6);
    let under_another = Table::open(&place.folder, &NAMES, STORE, Some((3, &second)));
    assert!(under_another.is_err());
}

#[test]
fn a_table_that_was_replaced_is_noticed() {
    let place = Place::new();
    let mut table = place.open();
    assert!(!table.is_replaced() && table.is_in(&place.folder));
    Table::create(&place.folder, &NAMES, STORE, (1, &place.key)).expect("creates");
    assert!(table.is_replaced() && table.refresh().is_err());
    let other = Place::new();
    assert!(!table.is_in(&other.folder));
    table.is_now_in(&other.folder);
    assert!(table.is_in(&place.folder), "another file is there");
}

#[test]
fn too_short_a_file_and_another_file_are_told_apart() {
    let place = Place::new();
    let header = place.open().header.bytes;
    let fault = |bytes: &[u8]| {
        let parsed = Header::parse(&NAMES, bytes, Path::new("names"));
        parsed
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    };
    assert_eq!(fault(&header), "");
    for length in [0, 15, 16, 63, 64, HEADER_BYTES - 1] {
        let said = fault(&header[..length]);
        assert!(
            said.ends_with("shorter than its header"),
            "{length}: {said}"
        );
    }
    for length in [HEADER_BYTES_1, HEADER_BYTES] {
        let said = fault(&vec![b'x'; length]);
        assert!(said.ends_with("it is not such a file"), "{length}: {said}");
    }
    let said = fault(&[b'x'; HEADER_BYTES_1 - 1]);
    assert!(said.ends_with("shorter than its header"), "{said}");
}

#[test]
fn entries_that_are_named_by_their_slots_go_too() {
    let place = Place::new();
    let mut table = place.open();
    place.add(&mut table, 1..5);
    let (without, slots) = (HashSet::from([id(1)]), HashSet::from([2]));
    let leaving = RewriteFilter {
        without: Some(&without),
        slots: Some(&slots),
        all_known: true,
    };
    let under = (2, &Key::random());
    let none = std::iter::empty();
    table
        .rewrite(&place.folder, &place.key, under, leaving, none)
        .expect("rewrites");
    let table = Table::open(&place.folder, &NAMES, STORE, Some(under)).expect("opens");
    let found: Vec<Option<u8>> = (1..5).map(|n| secret(&table, under.1, n)).collect();
    assert_eq!(found, [None, Some(2), None, Some(4)]);
    assert!(table.is_stale(id(2)).expect("reads") && table.is_stale(id(4)).expect("reads"));
}

#[test]
fn identities_that_open_the_same_have_one_digest() {
    let key = crate::crypto::seal::SealKey::generate();
    let text = key.to_text();
    let digest = digest_of_secret(text.as_bytes());
    assert_eq!(digest, digest_of_secret(text.to_lowercase().as_bytes()));
    let bytes = identity_bytes(text.as_bytes()).expect("an identity");
    assert_eq!((bytes.len(), digest_of_secret(&bytes)), (32, digest));
    // The five bits that do not count, four of padding, and the checksum.
    let data = IDENTITY_PREFIX.len();
    for at in 0..text.len() {
        let mut changed = text.as_bytes().to_vec();
        changed[at] = if changed[at] == b'Q' { b'P' } else { b'Q' };
        let is_checksum = at >= data + 52;
        let is_same = digest_of_secret(&changed) == digest;
        assert!(
            is_same == is_checksum || [data + 1, data + 49, data + 51].contains(&at),
            "{at}"
        );
    }
    for (byte, bit) in (0..32).flat_map(|byte| (0..8).map(move |bit| (byte, bit))) {
        let mut changed = bytes.to_vec();
        changed[byte] ^= 1 << bit;
        let is_ignored = (byte == 0 && bit < 3) || (byte == 31 && bit > 5);
        assert_eq!(
            digest_of_secret(&changed) == digest,
            is_ignored,
            "{byte} {bit}"
        );
    }
}
