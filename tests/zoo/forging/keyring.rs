//! Scenarios of keys: entries that are gone, forged or from another moment.

use std::fs;

use agekeep::store::Identity;
use sha2::{Digest, Sha256};

use super::{Forged, Memory, Zoo};
use crate::support::forge::{entry_bytes, header_bytes, unhex};
use crate::support::stderr;

pub(super) const ALL: &[Forged] = &[
    ("ring-entry-copied-from-another", |zoo| {
        let (from, to) = (
            zoo.memory("handover.md").id,
            zoo.memory("project/plan.md").id,
        );
        let secret = entry(zoo, "ring", &from)[16..].to_vec();
        replace(zoo, "ring", &to, &[&unhex(&to)[..], &secret].concat());
    }),
    ("ring-entry-of-random-bytes", |zoo| noise(zoo, "ring")),
    ("ring-entry-sealed-anew", |zoo| {
        let (from, to) = (
            zoo.memory("handover.md").id,
            zoo.memory("project/plan.md").id,
        );
        let identity = zoo.memory_identity(&from);
        let slot = slot(zoo, "ring", &to);
        let entry = zoo.entry("ring", slot, &to, identity.as_bytes());
        replace(zoo, "ring", &to, &entry);
    }),
    ("ring-entry-with-anothers-key", |zoo| {
        add_identity_of(zoo, "handover.md");
    }),
    ("control-ring-entry-with-its-own-key", |zoo| {
        add_identity_of(zoo, "project/plan.md");
    }),
    ("ring-entry-removed", |zoo| {
        remove(zoo, "ring", &zoo.memory("project/plan.md").id);
    }),
    ("names-entry-of-random-bytes", |zoo| noise(zoo, "names")),
    ("names-entry-sealed-anew", |zoo| {
        let id = zoo.memory("project/plan.md").id;
        let slot = slot(zoo, "names", &id);
        replace(zoo, "names", &id, &zoo.entry("names", slot, &id, &[9; 32]));
    }),
    ("names-entry-removed", |zoo| {
        remove(zoo, "names", &zoo.memory("project/plan.md").id);
    }),
    ("keyring-older-than-history", |zoo| {
        for table in ["ring", "names"] {
            remove(zoo, table, &zoo.memory("handover.md").id);
        }
    }),
    ("history-older-than-keyring", |zoo| {
        zoo.adopt(&zoo.commit_of(23));
    }),
    ("keyring-gone", |zoo| {
        fs::remove_dir_all(zoo.store().join("keyring")).expect("there");
    }),
    ("keyring-without-the-epoch-key", |zoo| {
        fs::remove_file(zoo.store().join("keyring/epoch.age")).expect("there");
    }),
    ("keyring-of-another-store", |zoo| {
        let other = zoo.home.path().join("other");
        let path = other.to_str().expect("UTF-8");
        let made = zoo.home.run(&["-C", path, "init"]);
        assert!(made.status.success(), "{}", stderr(&made));
        for name in ["epoch.age", "audit.age"] {
            let name = format!("keyring/{name}");
            let bytes = fs::read(other.join(&name)).expect("there");
            zoo.edit(&name, |file| *file = bytes);
        }
    }),
    ("keys-of-a-deleted-memory-destroyed", |zoo| {
        for table in ["ring", "names"] {
            remove(zoo, table, &zoo.memory("scratch.md").id);
        }
    }),
];

/// The keys of a memory that is not in history yet, at this path.
pub(super) fn new_memory(zoo: &Zoo, path: &str) -> Memory {
    let id: String = format!("{:x}", Sha256::digest(path))[..32].into();
    add_new_identity(zoo, &id);
    append(zoo, "names", &id, &[5; 32]);
    Memory {
        id,
        path: format!("/memories/{path}"),
        version: 0,
        bytes: 20,
        blob: String::new(),
    }
}

/// Gives a memory a new identity, behind those that it has.
pub(super) fn add_new_identity(zoo: &Zoo, id: &str) {
    let identity = Identity::generate().to_file();
    let identity = identity
        .lines()
        .find(|line| line.starts_with("AGE-SECRET-KEY-1"));
    append(zoo, "ring", id, identity.expect("an identity").as_bytes());
}

/// Adds an entry at the end of a table.
fn append(zoo: &Zoo, table: &str, id: &str, secret: &[u8]) {
    let bytes = fs::read(zoo.store().join("keyring").join(table)).expect("there");
    let slot = (bytes.len() - header_bytes(&bytes)) / entry_bytes(table);
    let entry = zoo.entry(table, slot as u64, id, secret);
    zoo.edit(&format!("keyring/{table}"), |bytes| bytes.extend(entry));
}

/// Adds an entry before that of the plan which holds the identity of another memory, and seals the rest for
/// their new slots: the plan still opens with its newest entry.
fn add_identity_of(zoo: &Zoo, path: &str) {
    let plan = zoo.memory("project/plan.md").id;
    let hidden = zoo.memory_identity(&zoo.memory(path).id);
    let bytes = fs::read(zoo.store().join("keyring/ring")).expect("there");
    let header = header_bytes(&bytes);
    let ids = bytes[header..].chunks_exact(entry_bytes("ring"));
    let ids: Vec<String> = ids.map(|entry| hex(&entry[..16])).collect();
    let secrets = ids.iter().map(|id| (id, zoo.secret("ring", &unhex(id))));
    let all = std::iter::once((&plan, hidden.into_bytes())).chain(secrets);
    let entries = (0..)
        .zip(all)
        .map(|(slot, (id, secret))| zoo.entry("ring", slot, id, &secret));
    let entries: Vec<u8> = entries.collect::<Vec<_>>().concat();
    zoo.edit("keyring/ring", |bytes| {
        bytes.truncate(header);
        bytes.extend(entries);
    });
}

/// Where a memory's entry is.
fn place(zoo: &Zoo, table: &str, id: &str) -> usize {
    let slot = usize::try_from(slot(zoo, table, id)).expect("small");
    let bytes = fs::read(zoo.store().join("keyring").join(table)).expect("there");
    header_bytes(&bytes) + slot * entry_bytes(table)
}

fn slot(zoo: &Zoo, table: &str, id: &str) -> u64 {
    let bytes = fs::read(zoo.store().join("keyring").join(table)).expect("there");
    let entries = bytes[header_bytes(&bytes)..].chunks_exact(entry_bytes(table));
    let found = (0..)
        .zip(entries)
        .find(|(_, entry)| entry[..16] == unhex(id));
    found.expect("an entry").0
}

fn entry(zoo: &Zoo, table: &str, id: &str) -> Vec<u8> {
    let bytes = fs::read(zoo.store().join("keyring").join(table)).expect("there");
    let at = place(zoo, table, id);
    bytes[at..at + entry_bytes(table)].to_vec()
}

fn replace(zoo: &Zoo, table: &str, id: &str, entry: &[u8]) {
    let at = place(zoo, table, id);
    zoo.edit(&format!("keyring/{table}"), |bytes| {
        bytes[at..at + entry.len()].copy_from_slice(entry);
    });
}

/// Takes an entry out as only a holder of the key can: those behind it are sealed for new slots.
fn remove(zoo: &Zoo, table: &str, id: &str) {
    let bytes = fs::read(zoo.store().join("keyring").join(table)).expect("there");
    let header = header_bytes(&bytes);
    let all = bytes[header..].chunks_exact(entry_bytes(table));
    let others = all
        .map(|entry| hex(&entry[..16]))
        .filter(|other| other != id);
    let entries = (0..).zip(others).map(|(slot, other)| {
        let secret = zoo.secret(table, &unhex(&other));
        zoo.entry(table, slot, &other, &secret)
    });
    let entries: Vec<u8> = entries.collect::<Vec<_>>().concat();
    zoo.edit(&format!("keyring/{table}"), |bytes| {
        bytes.truncate(header);
        bytes.extend(entries);
    });
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// Bytes that look as random as any entry, under the id of the plan.
fn noise(zoo: &Zoo, table: &str) {
    let id = zoo.memory("project/plan.md").id;
    let mut entry = unhex(&id);
    let pieces = (0u8..).flat_map(|n| Sha256::digest([n]).to_vec());
    entry.extend(pieces.take(entry_bytes(table) - 16));
    replace(zoo, table, &id, &entry);
}
