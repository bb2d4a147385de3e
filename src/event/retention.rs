//! Retention in events: the reasons of sweeps, holds, and erasures.

use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::id::{MemoryId, ObjectId};

/// The limits of every erasure, one sentence each, as in every receipt.
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

/// The reasons why a sweep took a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum RemovalReason {
    /// It was neither read nor written for the time that the policy sets.
    Unaccessed {
        /// Its last access.
        #[serde(with = "text")]
        since: DateTime<Utc>,
        /// The time that the policy set, in seconds.
        seconds: i64,
        /// The rule, counted from 1; `None` for the window of the table itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<usize>,
    },
    /// The policy set an expiry time.
    ExpiresAt {
        /// That time.
        #[serde(with = "text")]
        at: DateTime<Utc>,
        /// The rule, counted from 1.
        rule: usize,
    },
    /// A sweep had removed it, and the grace period is over.
    GraceOver {
        /// The event that removed it.
        removed: u64,
        /// The grace period of the policy, in seconds.
        seconds: i64,
    },
}

/// The scope of a hold.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
#[non_exhaustive]
pub enum HoldOn {
    /// A memory, whatever its path.
    Memory(MemoryId),
    /// Every memory whose path matches the glob, or did when the hold began or since.
    Glob(String),
}

/// Shows the kind only: a glob can reveal as much as a path.
impl fmt::Debug for HoldOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(id) => write!(f, "Memory({id})"),
            Self::Glob(_) => f.write_str("Glob(…)"),
        }
    }
}

/// The change that an event makes to holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
#[non_exhaustive]
pub enum HoldChange {
    /// Adds a hold, which is numbered like this event.
    Add(HoldOn),
    /// Lifts the hold of that number.
    Lift(u64),
}

/// The proof of an erasure, in the signed record of its event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Receipt {
    /// The number of the epoch key before and after; the former is destroyed.
    pub epoch: (u64, u64),
    /// The number of the names key before and after.
    pub names: (u64, u64),
    /// The memories, and what is gone of each.
    pub memories: Vec<Erased>,
    /// The number of versions that were tried with the remaining keys, and did not open.
    pub versions: u64,
    /// The number of records naming the erased memories that were tried likewise; no path in them
    /// opens.
    pub records: u64,
    /// The number of records that still show such a path, requested when no memory was there.
    pub asked: u64,
    /// The limits of the erasure, one sentence each.
    pub not_reached: Vec<String>,
}

/// The erased part of a memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Erased {
    /// The memory.
    pub memory: MemoryId,
    /// The blobs of the versions that no longer open, oldest first.
    pub blobs: Vec<ObjectId>,
    /// The version that is kept, sealed to a fresh identity, if only its predecessors are gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<u64>,
    /// The event that marked it for erasure, or that erased it before its keys came back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
}

/// The form of a time in records.
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
