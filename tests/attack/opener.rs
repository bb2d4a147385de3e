//! What somebody opens with old keys, and with keys of their own, written from docs/format.md.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::str::FromStr;

use age::armor::ArmoredReader;
use age::x25519::Identity;
use base64ct::{Base64Unpadded, Encoding};
use serde_json::Value;

use crate::attack::keyring;
use crate::support::forge::{TABLE_HEADER_BYTES, entry_bytes, try_aead};

/// A journal is read up to here: what a case writes is far less.
const JOURNAL_BYTES: u64 = 16 << 20;

/// Every key that somebody has.
#[derive(Default, Clone)]
pub(crate) struct Opener {
    /// Their own, and those of memories and audit records that they found.
    identities: Vec<Identity>,
    epoch_keys: BTreeSet<Vec<u8>>,
}

impl Opener {
    /// Somebody with an identity file and copies of stores, and the keys that an attacker makes.
    pub(crate) fn of<'a>(identity: &Path, copies: impl IntoIterator<Item = &'a Path>) -> Self {
        let mut opener = Self::default();
        opener.add_identities(&fs::read_to_string(identity).expect("there"));
        opener.identities.push(keyring::forged_identity());
        opener.epoch_keys.insert(keyring::FORGED_KEY.to_vec());
        copies.into_iter().for_each(|store| opener.learn(store));
        opener
    }

    /// Learns what the keyring of a store tells somebody with these keys.
    pub(crate) fn learn(&mut self, store: &Path) {
        let folder = store.join("keyring");
        if let Some(epoch) = self.read_sealed(&folder.join("epoch.age")) {
            let key = Base64Unpadded::decode_vec(epoch["key"].as_str().unwrap_or_default());
            self.epoch_keys.extend(key);
        }
        if let Some(audit) = self.read_sealed(&folder.join("audit.age")) {
            let listed = audit["identities"].as_array().cloned().unwrap_or_default();
            for identity in listed.iter().filter_map(Value::as_str) {
                self.add_identities(identity);
            }
        }
        let ring = keyring::read(&folder.join("ring")).unwrap_or_default();
        self.identities.extend(self.identities_in(&ring));
    }

    fn add_identities(&mut self, text: &str) {
        let found = text
            .lines()
            .filter_map(|line| Identity::from_str(line.trim()).ok());
        self.identities.extend(found);
    }

    /// The JSON in a sealed file of a keyring, where it opens.
    pub(crate) fn read_sealed(&self, path: &Path) -> Option<Value> {
        let plain = self.open(&keyring::read(path)?)?;
        serde_json::from_slice(&plain).ok()
    }

    /// The identities of memories in a ring that a known epoch key opens.
    fn identities_in(&self, ring: &[u8]) -> Vec<Identity> {
        let Some((header, entries)) = ring.split_at_checked(TABLE_HEADER_BYTES) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        let entries = entries.chunks_exact(entry_bytes("ring"));
        for (slot, entry) in (0..).zip(entries) {
            let bound = keyring::bound_to("ring", header, slot, &entry[..16]);
            let mut keys = self.epoch_keys.iter();
            let opened = keys.find_map(|key| try_aead(key, &bound, &entry[16..]));
            let text = opened.and_then(|plain| String::from_utf8(plain).ok());
            found.extend(text.and_then(|text| Identity::from_str(&text).ok()));
        }
        found
    }

    /// What an age file holds, armored or not, where any of the keys opens it.
    pub(crate) fn open(&self, sealed: &[u8]) -> Option<Vec<u8>> {
        let decryptor = age::Decryptor::new_buffered(ArmoredReader::new(sealed)).ok()?;
        let keys = self.identities.iter().map(|key| key as &dyn age::Identity);
        let mut plain = Vec::new();
        let mut reader = decryptor.decrypt(keys).ok()?;
        reader.read_to_end(&mut plain).ok()?;
        Some(plain)
    }

    /// Which of the objects that a store's journal has, and that are not `known`, somebody with
    /// these keys opens, once they have seen the keyring as it is now.
    pub(crate) fn opened_since(&self, store: &Path, known: &BTreeSet<String>) -> Vec<String> {
        let mut knowing = self.clone();
        knowing.learn(store);
        let mut opened = Vec::new();
        for (kind, name, content) in journaled(store) {
            let sealed = match kind {
                b'b' => &content[..],
                b'c' => record(&content),
                _ => continue,
            };
            if !known.contains(&name) && knowing.open(sealed).is_some() {
                opened.push(format!("{} {name}", char::from(kind)));
            }
        }
        opened
    }
}

/// The armored record in a commit object.
fn record(commit: &[u8]) -> &[u8] {
    let begin = commit
        .windows(14)
        .position(|part| part == b"-----BEGIN AGE");
    let end = commit
        .windows(29)
        .position(|part| part == b"-----END AGE ENCRYPTED FILE--");
    match (begin, end) {
        (Some(begin), Some(end)) if begin < end => &commit[begin..commit.len().min(end + 33)],
        _ => &[],
    }
}

/// The objects in a store's journal (docs/format.md, 7.2): kind, name and content of each.
pub(crate) fn journaled(store: &Path) -> Vec<(u8, String, Vec<u8>)> {
    let mut all = Vec::new();
    let path = store.join("journal");
    if !fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file()) {
        return all;
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(&path).expect("opens");
    file.take(JOURNAL_BYTES)
        .read_to_end(&mut bytes)
        .expect("reads");
    let mut at = 128;
    while let Some(length) = number(&bytes, at).filter(|length| *length > 0) {
        let Some(payload) = bytes.get(at + 36..at + 36 + length) else {
            break;
        };
        objects_of(payload, &mut all);
        at += 36 + length;
    }
    all
}

fn objects_of(payload: &[u8], all: &mut Vec<(u8, String, Vec<u8>)>) -> Option<()> {
    let mut at = 44;
    for _ in 0..number(payload, 40)? {
        let (kind, name) = (*payload.get(at)?, payload.get(at + 1..at + 21)?);
        let length = number(payload, at + 21)?;
        let content = payload.get(at + 25..at + 25 + length)?;
        let name = name.iter().map(|byte| format!("{byte:02x}")).collect();
        all.push((kind, name, content.to_vec()));
        at += 25 + length;
    }
    Some(())
}

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let four = bytes.get(at..at + 4)?.try_into().expect("four bytes");
    Some(u32::from_le_bytes(four) as usize)
}
