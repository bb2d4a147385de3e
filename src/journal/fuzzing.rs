//! Fuzzed invariants of the journal file.
#![allow(clippy::missing_panics_doc)] // a law that is broken panics: that is what finds it

use std::fs;
use std::path::Path;

use crate::crypto::digest::Digest;
use crate::disk::Folder;
use crate::error::Error;
use crate::id::ObjectId;
use crate::journal::{HEADER_BYTES, Journal, JournalRecord, KeyEntry, MAGIC};
use crate::repository::object::{Object, ObjectKind};

/// The salt of the journals made here.
const SALT: [u8; 16] = *b"salt of a fuzzer";
/// The commit where their history begins.
const BASE: ObjectId = ObjectId([0xba; 20]);

/// Takes `bytes` as the journal in `folder` if they begin with its magic. Otherwise takes them as
/// payloads, each after its length in two bytes, and adds the header and checksums. Whole records
/// are read, the next one is appended, and all of them are read back.
pub fn journal(folder: &Path, bytes: &[u8]) {
    let whole = bytes.starts_with(&MAGIC[..8]);
    let (file, expected) = if whole {
        (bytes.to_vec(), None)
    } else {
        let (file, payloads) = made_of(bytes);
        (file, Some(payloads))
    };
    fs::write(folder.join("journal"), &file).expect("a place to write to");
    let folder = Folder::at(folder).expect("it is there");
    let mut journal = match Journal::open(&folder) {
        Ok(journal) => journal,
        Err(Error::UnknownFormat { .. }) => return assert!(whole),
        Err(Error::Damaged { .. }) => {
            let parses = |payloads: Vec<&[u8]>| {
                payloads
                    .into_iter()
                    .all(|p| JournalRecord::decode(p).is_some())
            };
            return assert!(!expected.is_some_and(parses), "whole, and refused");
        }
        Err(other) => panic!("{other}"),
    };
    let mut records = read(&journal);
    if let Some(expected) = expected {
        assert_eq!(records, expected, "not what was written");
    }
    journal.append(&next()).expect("a place to write to");
    records.push(next().encode());
    assert_eq!(journal.head(), next().head);
    assert_eq!(
        read(&Journal::open(&folder).expect("its own output")),
        records
    );
}

/// Returns the payloads of a journal's records.
fn read(journal: &Journal) -> Vec<Vec<u8>> {
    let records = journal.records().expect("they were read before");
    let head = records.last().map_or(journal.base, |record| record.head);
    assert_eq!(journal.head(), head);
    assert!(records.iter().all(|record| journal.knows(record.head)));
    records.iter().map(JournalRecord::encode).collect()
}

/// Makes a journal of the payloads in `bytes`, and returns the payloads too. Leftover bytes go at
/// the end, like a record that was cut short and whose checksum does not fit.
fn made_of(mut bytes: &[u8]) -> (Vec<u8>, Vec<&[u8]>) {
    let mut file = MAGIC.to_vec();
    file.extend_from_slice(&SALT);
    file.extend_from_slice(&BASE.0);
    file.resize(96, 0);
    let sum = Digest::of(&file).0;
    file.extend_from_slice(&sum);
    assert_eq!(file.len(), HEADER_BYTES);
    let mut payloads = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk() {
        let length = usize::from(u16::from_le_bytes(*length));
        let Some((payload, rest)) = rest.split_at_checked(length).filter(|_| length > 0) else {
            break;
        };
        let at = file.len() as u64;
        let sum = Digest::of_pieces(&[&SALT, &at.to_le_bytes(), payload]).0;
        file.extend_from_slice(&u32::from(u16::try_from(length).expect("two bytes")).to_le_bytes());
        file.extend_from_slice(&sum);
        file.extend_from_slice(payload);
        payloads.push(payload);
        bytes = rest;
    }
    file.extend_from_slice(bytes);
    (file, payloads)
}

fn next() -> JournalRecord {
    JournalRecord {
        parent: BASE,
        head: ObjectId([0xed; 20]),
        objects: vec![Object {
            id: ObjectId([0xb0; 20]),
            kind: ObjectKind::Blob,
            bytes: b"sealed".to_vec(),
        }],
        keys: vec![KeyEntry {
            table: 1,
            slot: 7,
            bytes: vec![0x5e; 88],
        }],
    }
}
