//! The record of an event as JSON, with every path sealed once more.

use std::cell::RefCell;
use std::collections::HashMap;

use chrono::DateTime;
use serde::{Deserialize, Serialize};

use crate::crypto::aead::Key;
use crate::crypto::base64;
use crate::crypto::digest::Digest;
use crate::error::{Error, Result};
use crate::event::{
    Change, Event, FORMAT, HoldChange, MemoryChange, Moment, Outcome, PathRef, Receipt, Redaction,
    RemovalReason, rfc3339,
};
use crate::id::{MemoryId, ObjectId, ReplicaId};
use crate::keyring::{KeyCommitment, Keyring};
use crate::memory_tool::path::{MemoryPath, PATH_BYTES_MAX};

/// Most bytes of text that a version may claim: no object is longer.
const TEXT_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Largest number of an event or a version: more than can occur, and far from overflow.
const NUMBER_MAX: u64 = 1 << 48;

/// The record as JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordJson {
    agekeep: u32,
    event: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<Digest>,
    tree: ObjectId,
    time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    clock_behind_ms: Option<u64>,
    command: String,
    outcome: Outcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    door: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    actor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_use_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trace: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<PathRefJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new_path: Option<PathRefJson>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    memories: Vec<MemoryChangeJson>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rules: Option<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    redactions: Vec<Redaction>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    at: Vec<Moment>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    undone: Vec<(u64, u64)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lost: Option<Moment>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    member: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hold: Option<HoldChange>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    receipt: Option<Receipt>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    clock_accepted: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    trial: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    replica: Option<ReplicaId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    keys: Option<KeyCommitment>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum PathRefJson {
    Root,
    Asked(String),
    Of(String, String),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MemoryChangeJson {
    id: String,
    change: Change,
    /// Empty for an erased memory, which has no key to seal it under.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    path: String,
    version: u64,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    blob: Option<ObjectId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<Digest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    because: Option<RemovalReason>,
}

/// Seals the paths in a record, each under its memory's name key.
pub(super) struct PathSealer<'a, F> {
    pub(super) keyring: &'a Keyring,
    pub(super) name_key: F,
}

impl<'a, F: Fn(MemoryId) -> Option<&'a Key>> PathSealer<'a, F> {
    fn seal(&self, id: MemoryId, path: Option<&MemoryPath>) -> Result<String> {
        let path = path.map_or("", MemoryPath::as_str);
        let sealed = match (self.name_key)(id) {
            Some(key) => self.keyring.seal_path(id, key, path),
            None => self
                .keyring
                .seal_path(id, &self.keyring.name_key(id)?, path),
        };
        Ok(base64::encode(&sealed))
    }

    fn place(&self, place: Option<&PathRef>) -> Result<Option<PathRefJson>> {
        Ok(match place {
            None => None,
            Some(PathRef::Root) => Some(PathRefJson::Root),
            Some(PathRef::Asked(text)) => Some(PathRefJson::Asked(text.clone())),
            Some(PathRef::Of(id, path)) => {
                let sealed = self.seal(*id, path.as_ref())?;
                Some(PathRefJson::Of(id.to_string(), sealed))
            }
        })
    }
}

impl RecordJson {
    pub(super) fn new<'a, F: Fn(MemoryId) -> Option<&'a Key>>(
        event: &Event,
        sealer: &PathSealer<'a, F>,
    ) -> Result<Self> {
        let touch = |touch: &MemoryChange| {
            Ok::<_, Error>(MemoryChangeJson {
                id: touch.id.to_string(),
                change: touch.change,
                path: match (touch.change, &touch.path) {
                    (Change::Erase, _) | (Change::Remove | Change::Expire, None) => String::new(),
                    _ => sealer.seal(touch.id, touch.path.as_ref())?,
                },
                version: touch.version,
                bytes: touch.bytes,
                blob: touch.blob.map(|(blob, _)| blob),
                sha256: touch.blob.map(|(_, digest)| digest),
                from: touch.from,
                because: touch.because,
            })
        };
        Ok(Self {
            // A format 1 record stays one.
            agekeep: event.replica.map_or(1, |_| FORMAT),
            event: event.number,
            parent: event.parent,
            tree: event.tree,
            time: rfc3339(event.time),
            clock_behind_ms: event.clock_behind_ms,
            command: event.command.clone(),
            outcome: event.outcome,
            error: event.error.clone(),
            door: event.door.clone(),
            actor: event.actor.clone(),
            session: event.session.clone(),
            tool_use_id: event.tool_use_id.clone(),
            client: event.client.clone(),
            trace: event.trace.clone(),
            reason: event.reason.clone(),
            path: sealer.place(event.path.as_ref())?,
            new_path: sealer.place(event.new_path.as_ref())?,
            memories: event.memories.iter().map(touch).collect::<Result<_>>()?,
            rules: event.rules,
            redactions: event.redactions.clone(),
            at: event.at.clone(),
            undone: event.undone.clone(),
            lost: event.lost,
            member: event.member.clone(),
            hold: event.hold.clone(),
            receipt: event.receipt.clone(),
            clock_accepted: event.clock_accepted,
            trial: event.trial,
            replica: event.replica,
            keys: event.keys,
        })
    }

    pub(super) fn has_known_format(&self) -> bool {
        match self.agekeep {
            1 => self.replica.is_none() && self.keys.is_none(),
            FORMAT => self.replica.is_some(),
            _ => false,
        }
    }

    pub(super) fn open(self, opener: &PathOpener<'_>) -> Result<Event, &'static str> {
        let time = DateTime::parse_from_rfc3339(&self.time).map_err(|_| "its time is not one")?;
        if rfc3339(time.to_utc()) != self.time {
            return Err("its time is not in UTC and milliseconds");
        }
        if self.event > NUMBER_MAX {
            return Err("its number is larger than any");
        }
        let memories = self.memories.into_iter().map(|touch| {
            if touch.version > NUMBER_MAX || touch.bytes > TEXT_BYTES_MAX {
                return Err("a version or a size in it is larger than any");
            }
            let id = MemoryId::from_hex(&touch.id).ok_or("a memory id in it is not one")?;
            let blob = match (touch.blob, touch.sha256) {
                (Some(blob), Some(digest)) => Some((blob, digest)),
                (None, None) => None,
                _ => return Err("it names a blob without its digest, or the reverse"),
            };
            let path = match (touch.change, touch.path.is_empty()) {
                (Change::Erase | Change::Remove | Change::Expire, true) => None,
                (Change::Erase, false) => return Err("it has a path of an erased memory"),
                _ => opener.open(id, &touch.path)?,
            };
            if path.as_ref().is_some_and(MemoryPath::is_root) {
                return Err("a memory in it is /memories itself");
            }
            Ok(MemoryChange {
                id,
                change: touch.change,
                path,
                version: touch.version,
                bytes: touch.bytes,
                blob,
                from: touch.from,
                because: touch.because,
            })
        });
        Ok(Event {
            number: self.event,
            parent: self.parent,
            tree: self.tree,
            time: time.to_utc(),
            clock_behind_ms: self.clock_behind_ms,
            memories: memories.collect::<Result<_, &str>>()?,
            command: self.command,
            outcome: self.outcome,
            error: self.error,
            door: self.door,
            actor: self.actor,
            session: self.session,
            tool_use_id: self.tool_use_id,
            client: self.client,
            trace: self.trace,
            reason: self.reason,
            path: self.path.map(|place| place.open(opener)).transpose()?,
            new_path: self.new_path.map(|place| place.open(opener)).transpose()?,
            rules: self.rules,
            redactions: self.redactions,
            at: self.at,
            undone: self.undone,
            lost: self.lost,
            member: self.member,
            hold: self.hold,
            receipt: self.receipt,
            clock_accepted: self.clock_accepted,
            trial: self.trial,
            replica: self.replica,
            keys: self.keys,
        })
    }
}

impl PathRefJson {
    fn open(self, opener: &PathOpener<'_>) -> Result<PathRef, &'static str> {
        Ok(match self {
            Self::Root => PathRef::Root,
            Self::Asked(text) => PathRef::Asked(text),
            Self::Of(id, sealed) => {
                let id = MemoryId::from_hex(&id).ok_or("a memory id in it is not one")?;
                PathRef::Of(id, opener.open(id, &sealed)?)
            }
        })
    }
}

/// Opens the paths in a record.
pub(crate) struct PathOpener<'a> {
    pub(super) keyring: &'a Keyring,
    /// Collects the memories whose paths do not open, if reading should continue regardless.
    closed: Option<RefCell<Vec<MemoryId>>>,
    /// The cache of opened name keys, if enabled.
    known: Option<RefCell<NameKeys>>,
}

/// Boxed, so that keys stay in place: a growing table leaves copies behind.
type NameKeys = HashMap<MemoryId, Box<Key>>;

/// Most cached name keys: they take some hundred bytes each.
const NAME_KEYS_MAX: usize = 16_384;

impl<'a> PathOpener<'a> {
    /// Treats a path that does not open as a fault of the record.
    pub(super) fn strict(keyring: &'a Keyring) -> Self {
        Self {
            keyring,
            closed: None,
            known: None,
        }
    }

    /// Like [`Self::strict`], for many records in a row. It caches opened keys, so the keyring must
    /// not change meanwhile.
    pub(crate) fn remembering(keyring: &'a Keyring) -> Self {
        Self {
            known: Some(RefCell::default()),
            ..Self::strict(keyring)
        }
    }

    /// Like [`Self::remembering`], but skips a path that does not open, and notes the memory.
    pub(crate) fn noting(keyring: &'a Keyring) -> Self {
        Self {
            closed: Some(RefCell::default()),
            ..Self::remembering(keyring)
        }
    }

    /// Takes the memories that were noted since the last call.
    pub(crate) fn take_closed(&self) -> Vec<MemoryId> {
        self.closed.as_ref().map(RefCell::take).unwrap_or_default()
    }

    /// Opens a path; `None` if the memory's name key is gone, an error if the path does not open.
    fn open(&self, id: MemoryId, sealed: &str) -> Result<Option<MemoryPath>, &'static str> {
        match (self.open_path(id, sealed), &self.closed) {
            (Err(why), Some(closed)) => {
                // A damaged entry is a fault of the keyring, and reported by its own check.
                if why != ENTRY_FAULT {
                    closed.borrow_mut().push(id);
                }
                Ok(None)
            }
            (opened, _) => opened,
        }
    }

    fn open_path(&self, id: MemoryId, sealed: &str) -> Result<Option<MemoryPath>, &'static str> {
        let mut known = self.known.as_ref().map(RefCell::borrow_mut);
        if let Some(key) = known.as_ref().and_then(|known| known.get(&id)) {
            return open_path(self.keyring, id, key, sealed).map(Some);
        }
        let key = match self.keyring.name_key(id) {
            Ok(key) => Box::new(key),
            Err(Error::MissingKey { .. }) => return Ok(None),
            Err(_) => return Err(ENTRY_FAULT),
        };
        let path = open_path(self.keyring, id, &key, sealed)?;
        if let Some(known) = &mut known {
            if known.len() >= NAME_KEYS_MAX {
                known.clear();
            }
            known.insert(id, key);
        }
        Ok(Some(path))
    }
}

const ENTRY_FAULT: &str = "the keyring's entry for a memory in it is damaged";

/// Opens a path under its memory's name key.
fn open_path(
    keyring: &Keyring,
    id: MemoryId,
    key: &Key,
    sealed: &str,
) -> Result<MemoryPath, &'static str> {
    const FAULT: &str = "a path in its record does not open";
    let sealed = base64::decode(sealed).ok_or(FAULT)?;
    let path = keyring.open_path(id, key, &sealed).ok_or(FAULT)?;
    MemoryPath::parse_kept(&path, PATH_BYTES_MAX).map_err(|_| FAULT)
}
