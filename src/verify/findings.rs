//! Findings of a verification: stable ids, a hint for each, and a bounded list.

use std::collections::HashSet;

use self::FindingClass::{Incomplete, Tampered, Untidy};
use crate::id::{MemoryId, ObjectId};

/// The most findings a report lists; the rest are only counted.
pub(super) const LISTED_MAX: usize = 1_000;

/// The class of a finding: what it means for whoever relies on the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FindingClass {
    /// A local setting or file that stock git goes by or nobody needs. History and keys are sound.
    Untidy,
    /// Something that this copy or this role does not have, so that not everything was checked.
    Incomplete,
    /// Something that is not as it was written, or not by who may.
    Tampered,
}

impl FindingClass {
    /// Returns its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Untidy => "untidy",
            Self::Incomplete => "incomplete",
            Self::Tampered => "tampered",
        }
    }
}

const RESTORE: &str = "keep a copy of the store, then restore it from a backup or a clone that \
                       verifies";
const WHO: &str = "find out who had access to the store and its signing keys; a backup or clone \
                   from before that event shows what was there";
const KEYS: &str = "restore the keyring folder from the backup that belongs to this repository";

const BACK: &str = "somebody replaced the store by an older copy or another history; restore the newest \
                    copy, or continue from here with `agekeep accept-rollback --reason TEXT`";

/// Every kind of finding: its id, its class and its hint.
pub const FINDINGS: &[(&str, FindingClass, &str)] = &[
    ("object-missing", Tampered, RESTORE),
    ("object-damaged", Tampered, RESTORE),
    ("commit-form", Tampered, WHO),
    (
        "merge",
        Tampered,
        "no agekeep of this version makes one: find out who did, or verify with a newer version",
    ),
    ("history-broken", Tampered, RESTORE),
    ("history-moved", Tampered, WHO),
    ("chain", Tampered, WHO),
    ("unsigned", Tampered, WHO),
    ("signature", Tampered, WHO),
    ("signer", Tampered, WHO),
    ("former-signer", Tampered, WHO),
    (
        "not-allowed",
        Tampered,
        "find out who has that signer's key, and remove the signer or give another role with \
         `agekeep signers role`; a backup or clone from before that event shows what was there",
    ),
    ("author", Tampered, WHO),
    (
        "head",
        Tampered,
        "find out what moved the branch; the journal has the last commit that agekeep acknowledged",
    ),
    (
        "journal",
        Tampered,
        "keep a copy of the file `journal`; without it, agekeep continues from the branch",
    ),
    (
        "refs",
        Untidy,
        "remove it with `git update-ref -d`, or set HEAD with `git symbolic-ref HEAD refs/heads/main`: \
         agekeep reads refs/heads/main alone",
    ),
    (
        "replace-refs",
        Tampered,
        "find out who made it; it deceives stock git alone, and `git replace -d` removes it",
    ),
    (
        "alternates",
        Tampered,
        "remove the file: objects of another folder are no part of a store",
    ),
    (
        "grafts",
        Tampered,
        "a shallow clone has such a file, and `git fetch --unshallow` completes it; otherwise remove \
         it: it deceives stock git about history",
    ),
    (
        "config",
        Untidy,
        "write the file again as docs/format.md shows it; only stock git reads it",
    ),
    ("hooks", Tampered, "remove the file: stock git would run it"),
    (
        "stray",
        Untidy,
        "see what it is, and remove it: it is no part of a store",
    ),
    ("policy-changed", Tampered, WHO),
    ("recipients-changed", Tampered, WHO),
    ("signers-changed", Tampered, WHO),
    ("tree-form", Tampered, WHO),
    ("tree-change", Tampered, WHO),
    ("record-closed", Tampered, WHO),
    ("record-malformed", Tampered, WHO),
    ("record-swapped", Tampered, WHO),
    ("record-mismatch", Tampered, WHO),
    ("event-number", Tampered, WHO),
    ("time-backwards", Tampered, WHO),
    ("time-author", Tampered, WHO),
    ("state", Tampered, WHO),
    ("blob-digest", Tampered, WHO),
    ("blob-form", Tampered, WHO),
    ("memory-closed", Tampered, KEYS),
    ("memory-misplaced", Tampered, WHO),
    ("memory-key", Tampered, KEYS),
    ("key-damaged", Tampered, KEYS),
    (
        "key-shared",
        Tampered,
        "a reader wrote it: find out who; an erasure takes the copy out if that memory has other keys, and \
         `agekeep keys replace` gives it one",
    ),
    (
        "key-left",
        Tampered,
        "a reader wrote it: find out who; write that memory anew, and `agekeep erase --history` of it destroys the key",
    ),
    (
        "erased-key",
        Tampered,
        "the keyring is an older copy: the next command of a reader who may write destroys that \
         key again; in a copy that `git fetch` brought up to date, put the keyring's files of the same \
         kit; otherwise find out where the copy came from, and who has other copies",
    ),
    (
        "keyring-ahead",
        Tampered,
        "find out whether history was rolled back or the keyring comes from another backup; \
         restore both from one backup",
    ),
    ("keyring", Tampered, KEYS),
    (
        "keyring-missing",
        Incomplete,
        "no clone has a keyring: name its folder with --keyring; where it should be, restore it from \
         the backup that belongs to this repository",
    ),
    (
        "catalog",
        Tampered,
        "remove the file `catalog`; agekeep builds it again from history",
    ),
    (
        "another-store",
        Tampered,
        "find out who put it there, and restore the store that was there; if you put it there \
         yourself, continue with `agekeep accept-rollback --reason TEXT`",
    ),
    ("pin-rolled-back", Tampered, BACK),
    (
        "pin-damaged",
        Tampered,
        "find out what damaged it; verify against a checkpoint, and then remove the file `pin`",
    ),
    ("checkpoint-rolled-back", Tampered, BACK),
    ("checkpoint-fork", Tampered, WHO),
    (
        "checkpoint-unsigned",
        Tampered,
        "do not rely on it; ask for a checkpoint that a signer made",
    ),
    (
        "checkpoint-foreign",
        Tampered,
        "name the store that it belongs to with --store",
    ),
];

/// The hint for a damaged object that the journal still holds.
const REPAIRED: &str = "the journal still has it, and `agekeep compact` repairs it; then find out \
                      what damaged it";

/// A problem found by a check.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The check that found it: one of [`FINDINGS`].
    pub id: &'static str,
    /// Its class.
    pub class: FindingClass,
    /// The number of the event it is about, by its place in history.
    pub event: Option<u64>,
    /// The commit it is about.
    pub commit: Option<ObjectId>,
    /// The memory it is about.
    pub memory: Option<MemoryId>,
    /// A sentence; never a path or content.
    pub what: String,
    /// A hint on what to do about it.
    pub hint: String,
}

/// A finding whose spot in history is not known yet.
pub(super) struct Fault {
    pub(super) id: &'static str,
    pub(super) memory: Option<MemoryId>,
    /// The object at fault, which is reported once, wherever it is met.
    pub(super) object: Option<ObjectId>,
    pub(super) what: String,
}

impl Fault {
    pub(super) fn new(id: &'static str, what: impl Into<String>) -> Self {
        Self {
            id,
            memory: None,
            object: None,
            what: what.into(),
        }
    }

    pub(super) fn of_memory(id: &'static str, memory: MemoryId, what: impl Into<String>) -> Self {
        Self {
            memory: Some(memory),
            ..Self::new(id, what)
        }
    }

    pub(super) fn of_object(id: &'static str, object: ObjectId, what: impl Into<String>) -> Self {
        Self {
            object: Some(object),
            ..Self::new(id, what)
        }
    }
}

/// The place of a fault in history.
#[derive(Clone, Copy, Default)]
pub(super) struct FindingLocation {
    pub(super) event: Option<u64>,
    pub(super) commit: Option<ObjectId>,
}

/// All findings so far.
#[derive(Default)]
pub(super) struct Findings {
    pub(super) listed: Vec<Finding>,
    pub(super) total: u64,
    /// The gravest class so far.
    pub(super) worst: Option<FindingClass>,
    objects: HashSet<ObjectId>,
    /// Objects that the journal can still repair.
    pub(super) journaled: HashSet<ObjectId>,
}

impl Findings {
    /// Adds a fault, unless its object was reported already.
    pub(super) fn add(&mut self, fault: Fault, spot: FindingLocation) {
        let repaired = fault
            .object
            .is_some_and(|object| self.journaled.contains(&object));
        if fault
            .object
            .is_some_and(|object| !self.objects.insert(object))
        {
            return;
        }
        let (class, hint) = of_id(fault.id);
        self.total += 1;
        self.worst = self.worst.max(Some(class));
        if self.listed.len() == LISTED_MAX {
            return;
        }
        let hint = if repaired { REPAIRED } else { hint };
        self.listed.push(Finding {
            id: fault.id,
            class,
            event: spot.event,
            commit: spot.commit,
            memory: fault.memory,
            what: fault.what,
            hint: hint.into(),
        });
    }

    /// Adds a fault that is in no commit.
    pub(super) fn add_outside(&mut self, fault: Fault) {
        self.add(fault, FindingLocation::default());
    }

    /// Tells whether a check has found something.
    pub(super) fn has_found(&self, id: &str) -> bool {
        self.listed.iter().any(|found| found.id == id)
    }

    /// Tells whether an object was reported.
    pub(super) fn has(&self, object: ObjectId) -> bool {
        self.objects.contains(&object)
    }
}

/// Returns the class and the hint of a finding.
fn of_id(id: &str) -> (FindingClass, &'static str) {
    let found = FINDINGS.iter().find(|(known, ..)| *known == id);
    let (_, class, hint) = found.expect("every finding is in the table");
    (*class, hint)
}
