//! What an event says of retention: why a sweep took a memory, what is held, and what was erased.

use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::id::MemoryId;
use crate::id::ObjectId;

/// What no erasure reaches, one sentence each: every receipt says it.
pub const NOT_REACHED: [&str; 6] = [
    "copies of the keyring made before this, also by a backup, a snapshot or the disk itself: with \
     one of them and a reader's identity of that time, content and paths open in any copy of the \
     repository",
    "what was read before this: what a model was told, what somebody wrote down, exported or printed",
    "who did what and when: commands, times, sizes, version counts, kinds of stripped secrets, actors, \
     sessions, reasons and the globs of holds and of the policy stay",
    "the paths, now and before, of a memory of which the present version was kept",
    "paths that were asked for when no memory was there: records of such calls show them to whoever \
     holds the audit identity",
    "text in other memories that says the same",
];

/// Why a sweep took a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Because {
    /// It was neither read nor written for the time the policy gives.
    Unaccessed {
        /// When it was last read or written.
        #[serde(with = "text")]
        since: DateTime<Utc>,
        /// The time the policy gave, in seconds.
        seconds: i64,
        /// The rule that says so, counted from 1; `None` for the table's own window.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<usize>,
    },
    /// The policy named the time.
    ExpiresAt {
        /// That time.
        #[serde(with = "text")]
        at: DateTime<Utc>,
        /// The rule that says so, counted from 1.
        rule: usize,
    },
    /// A sweep had removed it, and the time in which it could be brought back is over.
    GraceOver {
        /// The event that removed it.
        removed: u64,
        /// The time the policy gave, in seconds.
        seconds: i64,
    },
}

/// What a hold is on.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
#[non_exhaustive]
pub enum HoldOn {
    /// One memory, wherever it is.
    Memory(MemoryId),
    /// Every memory whose path a glob fits, or did when the hold began or since.
    Glob(String),
}

/// Shows which kind it is: a glob can say what paths do.
impl fmt::Debug for HoldOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(id) => write!(f, "Memory({id})"),
            Self::Glob(_) => f.write_str("Glob(…)"),
        }
    }
}

/// What an event does about holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
#[non_exhaustive]
pub enum HoldChange {
    /// A hold begins; it goes by the number of this event.
    Add(HoldOn),
    /// The hold of that number ends.
    Lift(u64),
}

/// Proof of an erasure, in the signed record of the event that did it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Receipt {
    /// The number of the epoch key before and after: the one before is destroyed.
    pub epoch: (u64, u64),
    /// The number of the names key before and after.
    pub names: (u64, u64),
    /// Each memory, and what of it is gone.
    pub memories: Vec<Erased>,
    /// Versions that were tried with the keys that are left, and did not open.
    pub versions: u64,
    /// Records that named the erased memories, tried likewise: no path in them opens.
    pub records: u64,
    /// Records of calls that asked for such a path when no memory was there: they still show it.
    pub asked: u64,
    /// What this does not reach, one sentence each.
    pub not_reached: Vec<String>,
}

/// What is gone of one memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Erased {
    /// The memory.
    pub memory: MemoryId,
    /// The blobs of the versions that do not open any more, oldest first.
    pub blobs: Vec<ObjectId>,
    /// The version that is kept, sealed to a fresh identity, where only what was before it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<u64>,
    /// The event that marked it for erasure, or that had erased it before its keys came back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
}

/// A time as records keep it.
mod text {
    use super::{DateTime, Utc};
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(
        time: &DateTime<Utc>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&super::super::rfc3339(*time))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<DateTime<Utc>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let time = DateTime::parse_from_rfc3339(&text).map_err(serde::de::Error::custom)?;
        Ok(time.to_utc())
    }
}
