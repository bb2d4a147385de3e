//! Findings of a verification: stable ids, a hint for each, and a bounded list.

use std::collections::HashSet;

use crate::id::{MemoryId, ObjectId};

/// The most findings a report lists; the rest are only counted.
pub(super) const LISTED_MAX: usize = 1_000;

const RESTORE: &str = "keep a copy of the store as it is, and restore from a backup or a clone that \
                       verifies";
const WHO: &str = "find out who had access to the store and its signing keys; a backup or clone \
                   from before that event shows what was there";
const KEYS: &str = "restore the keyring folder from the backup that belongs to this repository";

const BACK: &str = "somebody put an older copy of the store in its place, or another history; restore \
                    the newest copy, or go on from here with `agekeep accept-rollback --reason TEXT`";

/// Every kind of finding: its id and its hint.
pub const FINDINGS: &[(&str, &str)] = &[
    ("object-missing", RESTORE),
    ("object-damaged", RESTORE),
    ("commit-form", WHO),
    ("history-broken", RESTORE),
    ("history-moved", WHO),
    ("chain", WHO),
    ("unsigned", WHO),
    ("signature", WHO),
    ("signer", WHO),
    ("former-signer", WHO),
    (
        "not-allowed",
        "find out who has that signer's key, and remove the signer or give another role with \
         `agekeep signers role`; a backup or clone from before that event shows what was there",
    ),
    ("author", WHO),
    (
        "head",
        "find out what moved the branch; the journal has the commit that agekeep acknowledged last",
    ),
    (
        "journal",
        "keep a copy of it; without the file `journal` history is what the branch says",
    ),
    (
        "refs",
        "find out who made it; agekeep ignores it, and `git update-ref -d` removes it",
    ),
    (
        "replace-refs",
        "find out who made it; it deceives stock git alone, and `git replace -d` removes it",
    ),
    (
        "alternates",
        "remove the file: objects of another folder are no part of a store",
    ),
    (
        "grafts",
        "remove the file: it deceives stock git about history",
    ),
    (
        "config",
        "write the file anew as docs/format.md has it; only stock git reads it",
    ),
    ("hooks", "remove the file: stock git would run it"),
    (
        "stray",
        "see what it is, and remove it: it is no part of a store",
    ),
    ("policy-changed", WHO),
    ("recipients-changed", WHO),
    ("signers-changed", WHO),
    ("tree-form", WHO),
    ("tree-change", WHO),
    ("record-closed", WHO),
    ("record-malformed", WHO),
    ("record-swapped", WHO),
    ("record-mismatch", WHO),
    ("event-number", WHO),
    ("time-backwards", WHO),
    ("time-author", WHO),
    ("state", WHO),
    ("blob-digest", WHO),
    ("blob-form", WHO),
    ("memory-closed", KEYS),
    ("memory-misplaced", WHO),
    ("memory-key", KEYS),
    ("key-damaged", KEYS),
    (
        "erased-key",
        "an older copy of the keyring is in its place: any command of a reader who may write destroys \
         that key again; find out where the copy came from, and who has more of it",
    ),
    (
        "keyring-ahead",
        "find out whether history was turned back, or the keyring comes from another moment; \
         restore both from one backup",
    ),
    ("keyring", KEYS),
    (
        "catalog",
        "remove the file `catalog`: it is made anew from history",
    ),
    (
        "another-store",
        "find out who put it there, and restore the store that was there; if you put it there \
         yourself, go on with it by `agekeep accept-rollback --reason TEXT`",
    ),
    ("pin-rolled-back", BACK),
    (
        "pin-damaged",
        "find out what damaged it; verify against a checkpoint, and then remove the file `pin`",
    ),
    ("checkpoint-rolled-back", BACK),
    ("checkpoint-fork", WHO),
    (
        "checkpoint-unsigned",
        "do not rely on it; ask for one that a signer made",
    ),
    (
        "checkpoint-foreign",
        "name the store it belongs to with --store",
    ),
];

/// The hint for a damaged object that the journal still holds.
const MENDED: &str = "the journal still holds it: `agekeep compact` mends it; then find out what \
                      damaged it";

/// A problem found by a check.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The check that found it: one of [`FINDINGS`].
    pub id: &'static str,
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
    objects: HashSet<ObjectId>,
    /// Objects that the journal can still repair.
    pub(super) journaled: HashSet<ObjectId>,
}

impl Findings {
    /// Adds a fault, unless its object was reported already.
    pub(super) fn add(&mut self, fault: Fault, spot: FindingLocation) {
        let mended = fault
            .object
            .is_some_and(|object| self.journaled.contains(&object));
        if fault
            .object
            .is_some_and(|object| !self.objects.insert(object))
        {
            return;
        }
        self.total += 1;
        if self.listed.len() == LISTED_MAX {
            return;
        }
        let hint = if mended { MENDED } else { hint(fault.id) };
        self.listed.push(Finding {
            id: fault.id,
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

fn hint(id: &str) -> &'static str {
    let found = FINDINGS.iter().find(|(known, _)| *known == id);
    found.expect("every finding is in the table").1
}
