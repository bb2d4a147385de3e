//! Serialized rows of the catalog's files: numbers, memories, marks and holds.

use std::cmp::Ordering;

use chrono::{DateTime, Utc};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::crypto::digest::Digest;
use crate::crypto::sign::AuthorityMark;
use crate::id::{MemoryId, ObjectId};
use crate::keyring::{KeyCommitment, KeysRow};
use crate::memory_tool::path::MemoryPath;
use crate::state::catalog::step::HoldRow;
use crate::state::catalog::{Catalog, ConfigBlobs, Memory, Times, key};

/// The part of a state whose size does not depend on what the store holds.
#[derive(Serialize, Deserialize)]
pub(super) struct StateRow {
    /// Policy, recipients and signers.
    decided: [[u8; 20]; 3],
    head: [u8; 20],
    pub(super) events: u64,
    versions: u64,
    history_bytes: u64,
    times: TimesRow,
    swept: Option<(i64, u64)>,
    erased: Option<(u64, u64)>,
    keys: Option<KeysRow>,
}

/// Event times, all in milliseconds.
#[derive(Serialize, Deserialize)]
struct TimesRow {
    last: i64,
    latest: i64,
    uneven: Option<i64>,
    believed: i64,
    leap: Option<(i64, i64)>,
}

/// Memories marked for erasure, holds, and authorities of earlier epoch keys.
#[derive(Serialize, Deserialize)]
pub(super) struct RetentionRow {
    marked: Vec<([u8; 16], u64)>,
    holds: Vec<HoldRow>,
    keys_before: Vec<[u8; 32]>,
}

/// A memory as it is encoded.
#[derive(Serialize, Deserialize)]
pub(super) struct MemoryRow<'a> {
    id: [u8; 16],
    path: &'a str,
    version: u64,
    bytes: u64,
    blob: [u8; 20],
    sealed: [u8; 32],
    before: Option<[u8; 20]>,
    accessed: i64,
}

/// The path of a memory, found by its id.
#[derive(Clone)]
pub(super) struct IdIndexRow {
    pub(super) id: MemoryId,
    /// The path as a key.
    pub(super) key: String,
}

/// A row in a leaf of a tree. Rows are in the order of their keys.
pub(super) trait Row: Sized {
    type Key: Ord + Clone + Serialize + DeserializeOwned;

    fn key(&self) -> Self::Key;

    /// Compares its key to another.
    fn cmp_key(&self, key: &Self::Key) -> Ordering;

    /// Encodes the rows of a leaf, to be sealed.
    fn encode(rows: &[&Self]) -> Zeroizing<Vec<u8>>;

    fn decode(plain: &[u8]) -> Option<Vec<Self>>;
}

impl Row for Memory {
    type Key = String;

    fn key(&self) -> String {
        key(&self.path)
    }

    fn cmp_key(&self, key: &String) -> Ordering {
        let own = self.path.as_str().bytes();
        own.map(|byte| if byte == b'/' { 0 } else { byte })
            .cmp(key.bytes())
    }

    fn encode(rows: &[&Self]) -> Zeroizing<Vec<u8>> {
        let rows: Vec<MemoryRow> = rows.iter().copied().map(MemoryRow::of).collect();
        encode(&rows)
    }

    fn decode(plain: &[u8]) -> Option<Vec<Self>> {
        let rows: Vec<MemoryRow> = postcard::from_bytes(plain).ok()?;
        rows.into_iter().map(MemoryRow::restore).collect()
    }
}

impl Row for IdIndexRow {
    type Key = [u8; 16];

    fn key(&self) -> [u8; 16] {
        self.id.0
    }

    fn cmp_key(&self, key: &[u8; 16]) -> Ordering {
        self.id.0.cmp(key)
    }

    fn encode(rows: &[&Self]) -> Zeroizing<Vec<u8>> {
        let rows: Vec<([u8; 16], &str)> = rows.iter().map(|row| (row.id.0, &*row.key)).collect();
        encode(&rows)
    }

    fn decode(plain: &[u8]) -> Option<Vec<Self>> {
        let rows: Vec<([u8; 16], String)> = postcard::from_bytes(plain).ok()?;
        let rows = rows.into_iter().map(|(id, key)| Self {
            id: MemoryId(id),
            key,
        });
        Some(rows.collect())
    }
}

impl IdIndexRow {
    pub(super) fn of(memory: &Memory) -> Self {
        Self {
            id: memory.id,
            key: key(&memory.path),
        }
    }
}

pub(super) fn encode(what: &impl Serialize) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(postcard::to_stdvec(what).expect("memory to encode it in"))
}

impl<'a> MemoryRow<'a> {
    pub(super) fn of(memory: &'a Memory) -> Self {
        Self {
            id: memory.id.0,
            path: memory.path.as_str(),
            version: memory.version,
            bytes: memory.bytes,
            blob: memory.blob.0,
            sealed: memory.sealed.0,
            before: memory.before.map(|blob| blob.0),
            accessed: memory.accessed.timestamp_millis(),
        }
    }

    /// Returns the memories of a leaf that were last accessed by a time.
    pub(super) fn accessed_by(plain: &[u8], time: DateTime<Utc>) -> Option<Vec<Memory>> {
        let rows: Vec<MemoryRow> = postcard::from_bytes(plain).ok()?;
        let time = time.timestamp_millis();
        let old = rows.into_iter().filter(|row| row.accessed <= time);
        old.map(MemoryRow::restore).collect()
    }

    pub(super) fn restore(self) -> Option<Memory> {
        Some(Memory {
            id: MemoryId(self.id),
            path: MemoryPath::from_canonical(self.path.to_owned()),
            version: self.version,
            bytes: self.bytes,
            blob: ObjectId(self.blob),
            sealed: Digest(self.sealed),
            before: self.before.map(ObjectId),
            accessed: DateTime::from_timestamp_millis(self.accessed)?,
        })
    }
}

impl StateRow {
    /// Encodes the state; `None` before the first event.
    pub(super) fn of(catalog: &Catalog) -> Option<Self> {
        let (decided, swept) = (catalog.decided?, catalog.swept);
        Some(Self {
            decided: [decided.policy.0, decided.recipients.0, decided.signers.0],
            head: catalog.head?.0,
            events: catalog.events,
            versions: catalog.versions,
            history_bytes: catalog.history_bytes,
            times: TimesRow::of(catalog.times)?,
            swept: swept.map(|(time, event)| (time.timestamp_millis(), event)),
            erased: catalog.erased,
            keys: catalog.keys.map(KeyCommitment::to_row),
        })
    }

    /// Returns the number of events and the commit of the last.
    pub(super) fn point(&self) -> (u64, Option<ObjectId>) {
        (self.events, Some(ObjectId(self.head)))
    }

    /// Replaces the catalog's values; `None` if a time is invalid.
    pub(super) fn restore(self, catalog: &mut Catalog) -> Option<()> {
        catalog.times = self.times.restore()?;
        catalog.swept = match self.swept {
            Some((millis, event)) => Some((DateTime::from_timestamp_millis(millis)?, event)),
            None => None,
        };
        let [policy, recipients, signers] = self.decided.map(ObjectId);
        catalog.decided = Some(ConfigBlobs {
            policy,
            recipients,
            signers,
        });
        catalog.head = Some(ObjectId(self.head));
        catalog.events = self.events;
        catalog.versions = self.versions;
        catalog.history_bytes = self.history_bytes;
        catalog.erased = self.erased;
        catalog.keys = self.keys.map(KeyCommitment::from_row);
        Some(())
    }
}

impl RetentionRow {
    pub(super) fn of(catalog: &Catalog) -> Self {
        let holds = catalog.holds.iter();
        Self {
            marked: catalog.marked.iter().map(|(id, at)| (id.0, *at)).collect(),
            holds: holds.map(|(number, hold)| hold.to_row(*number)).collect(),
            keys_before: catalog.keys_before.iter().map(|mark| mark.0).collect(),
        }
    }

    pub(super) fn restore(self, catalog: &mut Catalog) -> Option<()> {
        let marked = self.marked.into_iter();
        catalog.marked = marked.map(|(id, event)| (MemoryId(id), event)).collect();
        let holds = self.holds.into_iter().map(HoldRow::restore);
        catalog.holds = holds.collect::<Option<_>>()?;
        let before = self.keys_before.into_iter().map(AuthorityMark);
        catalog.keys_before = before.collect();
        Some(())
    }
}

impl TimesRow {
    fn of(times: Times) -> Option<Self> {
        let millis = |time: DateTime<Utc>| time.timestamp_millis();
        Some(Self {
            last: millis(times.last?),
            latest: millis(times.latest?),
            uneven: times.uneven.map(millis),
            believed: millis(times.believed?),
            leap: times.leap.map(|(from, to)| (millis(from), millis(to))),
        })
    }

    fn restore(self) -> Option<Times> {
        let time = |millis| DateTime::from_timestamp_millis(millis);
        Some(Times {
            last: Some(time(self.last)?),
            latest: Some(time(self.latest)?),
            uneven: match self.uneven {
                Some(millis) => Some(time(millis)?),
                None => None,
            },
            believed: Some(time(self.believed)?),
            leap: match self.leap {
                Some((from, to)) => Some((time(from)?, time(to)?)),
                None => None,
            },
        })
    }
}
