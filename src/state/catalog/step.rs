//! What one event does to the catalog.

use super::hold::HoldStep;
use super::recent::Recorded;
use crate::crypto::digest::Digest;
use crate::event::{ACCEPT_COMMAND, Change, EXPIRE_COMMAND, Event, Outcome, Touch};
use crate::id::MemoryId;
use crate::id::ObjectId;
use crate::keyring::KeyCommitment;
use crate::version;

/// What one event does to the catalog.
pub(crate) struct Step {
    pub(super) head: ObjectId,
    pub(super) number: u64,
    pub(super) millis: i64,
    pub(super) touches: Vec<TouchStep>,
    pub(super) swept: bool,
    pub(super) erased: Option<(u64, u64)>,
    pub(super) hold: Option<HoldStep>,
    /// The commit before it, which a proof of new keys names.
    pub(super) parent: Option<Digest>,
    pub(super) keys: Option<KeyCommitment>,
    pub(super) may_change_keys: bool,
    pub(super) accepts_keys: bool,
    pub(super) recorded: Option<Recorded>,
    pub(super) commit_bytes: u64,
}

/// What it does to one memory.
pub(super) struct TouchStep {
    pub(super) id: MemoryId,
    pub(super) change: Change,
    /// In canonical form; absent if the memory's name key is gone.
    pub(super) path: Option<String>,
    pub(super) version: u64,
    pub(super) bytes: u64,
    pub(super) blob: Option<(ObjectId, Digest)>,
}

/// Why an event does not fit the state it comes after.
pub(crate) type StepFault = &'static str;

impl Step {
    /// What an event does whose commit object has so many bytes.
    pub(crate) fn of(event: &Event, head: ObjectId, commit_bytes: u64) -> Self {
        let touch = |touch: &Touch| TouchStep {
            id: touch.id,
            change: match touch.change {
                // Only what erases says so.
                Change::Mark | Change::Erase if !event.erases() => Change::None,
                change => change,
            },
            path: touch.path.as_ref().map(|path| path.as_str().to_owned()),
            version: touch.version,
            bytes: touch.bytes,
            blob: touch.blob,
        };
        Self {
            head,
            number: event.number,
            millis: event.time.timestamp_millis(),
            touches: event.memories.iter().map(touch).collect(),
            swept: event.command == EXPIRE_COMMAND && event.outcome == Outcome::Ok,
            erased: event
                .receipt
                .as_ref()
                .filter(|_| event.erases())
                .map(|receipt| (receipt.epoch.1, receipt.names.1)),
            hold: HoldStep::of(event),
            parent: event.parent,
            keys: event.keys,
            may_change_keys: event.may_change_keys(),
            accepts_keys: event.command == ACCEPT_COMMAND,
            recorded: Recorded::of(event),
            commit_bytes,
        }
    }

    /// What it adds to history: its commit, and the versions it writes.
    pub(super) fn history_bytes(&self) -> u64 {
        let written = self.touches.iter().filter(|touch| touch.change.writes());
        let versions = written.map(|touch| version::history_bytes(touch.bytes));
        versions.fold(self.commit_bytes, u64::saturating_add)
    }
}
