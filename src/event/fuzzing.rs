//! Properties of event records: as JSON once opened, and in commit messages.
#![allow(clippy::missing_panics_doc)] // a law that is broken panics: that is what finds it

use std::fs;
use std::path::Path;

use crate::disk::Folder;
use crate::error::{Error, Result};
use crate::event::record::{PathOpener, RecordJson};
use crate::event::{Event, PathRef};
use crate::id::StoreId;
use crate::keyring::Keyring;
use crate::store::Identity;

/// The keys that open records.
pub struct FuzzKeys(Keyring);

impl FuzzKeys {
    /// Opens a keyring, of any store.
    ///
    /// # Errors
    /// The same as for opening the store itself.
    pub fn open(keyring: &Path, identity: &Identity) -> Result<Self> {
        let ring = fs::read(keyring.join("ring")).map_err(Error::io("read", keyring))?;
        let store = ring.get(16..32).and_then(|id| id.try_into().ok());
        let store = StoreId(store.expect("a ring with a header"));
        let folder = Folder::at(keyring).map_err(Error::io("read", keyring))?;
        Keyring::open(&folder, store, identity).map(Self)
    }
}

/// Reads `json` as an opened record. An accepted record is written back the same, as JSON and, if
/// every path in it opened, as a commit message.
pub fn record(keys: &FuzzKeys, json: &[u8]) {
    let Ok(record) = serde_json::from_slice::<RecordJson>(json) else {
        return;
    };
    let written = serde_json::to_string(&record).expect("a record has a JSON form");
    let again: RecordJson = serde_json::from_str(&written).expect("its own output");
    let again = serde_json::to_string(&again).expect("a record has a JSON form");
    assert_eq!(written, again, "it is not written back as it was read");
    let Ok(event) = record.open(&PathOpener::strict(&keys.0)) else {
        return;
    };
    if !every_path_opened(&event) {
        return;
    }
    let message = event
        .to_message(&keys.0, |_| None)
        .expect("every key is there");
    match Event::from_message(&message, &keys.0) {
        Ok(again) => assert!(again == event, "another event was read back"),
        // A message cannot hold a command with an empty line in it.
        Err(_) => assert!(event.command.contains('\n'), "its own message is not read"),
    }
}

fn every_path_opened(event: &Event) -> bool {
    let opened = |place: &PathRef| !matches!(place, PathRef::Of(_, None));
    event.memories.iter().all(|touch| touch.path.is_some())
        && event.path.iter().chain(&event.new_path).all(opened)
}

/// Reads `text` as a commit message. An accepted message matches its record byte for byte.
pub fn message(keys: &FuzzKeys, text: &str) {
    let Ok(event) = Event::from_message(text, &keys.0) else {
        return;
    };
    let mut trailers: Vec<String> = event
        .memories
        .iter()
        .map(|t| format!("Memory: {}", t.id))
        .collect();
    trailers.push(match event.parent {
        Some(parent) => format!("Chain: sha256:{parent}"),
        None => "Chain: none".to_owned(),
    });
    let before = format!(
        "{}\n\n-----BEGIN AGE ENCRYPTED FILE-----\n",
        event.subject()
    );
    let after = format!(
        "\n-----END AGE ENCRYPTED FILE-----\n\n{}\n",
        trailers.join("\n")
    );
    assert!(text.starts_with(&before), "another subject");
    assert!(text.ends_with(&after), "other trailers");
    let armored = &text[before.len()..text.len() - after.len()];
    assert!(!armored.contains(['\r', ' ']), "another armour");
}
