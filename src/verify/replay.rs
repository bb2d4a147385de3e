//! The state that history gives, event by event, and the events that do not fit it.

use std::collections::{HashMap, HashSet};

use crate::crypto::sign::{SignedBy, Untimely};
use crate::error::{Result, not_allowed};
use crate::event::command::{may_complete, may_record, named, not_permitted};
use crate::event::{Change, ERASE_COMMAND, Erased, Event, MemoryChange, RecordViolation};
use crate::id::{MemoryId, ObjectId};
use crate::repository::Repository;
use crate::state::catalog::{Catalog, Memory, Step};
use crate::verify::commit::{CheckedCommitFacts, RoleQuestion, ValidityQuestion, read_signers};
use crate::verify::findings::{Fault, FindingLocation, Findings};

/// The state that later events are checked against.
pub(super) struct ReplayState {
    pub(super) catalog: Catalog,
    /// The last version of each removed memory.
    pub(super) removed: HashMap<MemoryId, u64>,
    /// Memories whose keys a receipt says are destroyed.
    pub(super) erased: HashSet<MemoryId>,
    /// The versions that receipts say are destroyed, of memories that stayed.
    pub(super) destroyed: HashMap<MemoryId, Vec<ObjectId>>,
    /// These memories, as far as their receipts are in the part of history that was read.
    pub(super) in_receipts: HashSet<MemoryId>,
    /// Every `signers` file so far, oldest first.
    pub(super) signer_files: Vec<ObjectId>,
    /// Memories whose state no trustworthy event gives.
    pub(super) unsure: HashSet<MemoryId>,
    /// Live memories written in the part of history that was read.
    pub(super) written: HashSet<MemoryId>,
    /// The number of versions read.
    pub(super) versions: u64,
    /// Versions that no key opens and no receipt explains.
    pub(super) shut: HashMap<ObjectId, MemoryId>,
    /// The keys that opened versions, of memories that have several: by their places, newest first.
    pub(super) used: HashMap<MemoryId, HashSet<usize>>,
    /// True if the state before the first event is not known.
    pub(super) blind: bool,
    /// True if all events so far fit: then a reader of this history has this state.
    pub(super) fits: bool,
    /// True if the number and time of the previous event are known.
    follows: bool,
    /// Memories with a path that does not open, each reported once.
    closed: HashSet<MemoryId>,
}

impl ReplayState {
    /// Continues from a known state, or from nothing.
    pub(super) fn new(catalog: Catalog, blind: bool) -> Self {
        Self {
            catalog,
            removed: HashMap::new(),
            erased: HashSet::new(),
            destroyed: HashMap::new(),
            in_receipts: HashSet::new(),
            signer_files: Vec::new(),
            unsure: HashSet::new(),
            written: HashSet::new(),
            versions: 0,
            shut: HashMap::new(),
            used: HashMap::new(),
            blind,
            fits: !blind,
            follows: !blind,
            closed: HashSet::new(),
        }
    }

    /// Replays the next commit.
    pub(super) fn apply_commit(
        &mut self,
        repository: &Repository,
        commit: ObjectId,
        number: Option<u64>,
        examined: CheckedCommitFacts,
        findings: &mut Findings,
    ) -> Result<()> {
        let event = examined.event.as_ref();
        let spot = FindingLocation {
            event: number.or(event.map(|event| event.number)),
            commit: Some(commit),
        };
        if let Some(stranger) = &examined.stranger {
            findings.add(self.signer_fault(repository, stranger)?, spot);
        }
        if let Some(limited) = &examined.limited
            && let Some(fault) = self.untimely(limited, event)
        {
            findings.add(fault, spot);
        }
        if let Some(beyond) = &examined.beyond
            && let Some(fault) = self.not_allowed(beyond, &examined)?
        {
            findings.add(fault, spot);
        }
        self.signer_files.extend(examined.signers);
        self.versions += examined.versions;
        let shut = examined.shut.iter().map(|(id, blob)| (*blob, *id));
        self.shut.extend(shut);
        for &(id, at) in &examined.used {
            self.used.entry(id).or_default().insert(at);
        }
        for id in &examined.closed {
            if self.closed.insert(*id) {
                let what = "a path of the memory does not open with its name key";
                findings.add(Fault::of_memory("record-malformed", *id, what), spot);
            }
        }
        match event {
            Some(event) => self.apply_event(event, commit, &examined, findings, spot),
            None => self.skip(&examined),
        }
        for fault in examined.faults {
            findings.add(fault, spot);
        }
        Ok(())
    }

    /// Checks a valid signature by a signer whose time may not have begun, or may be over.
    fn untimely(&self, limited: &ValidityQuestion, event: Option<&Event>) -> Option<Fault> {
        let time = event.map_or(limited.time, |event| event.time);
        let checked = limited.validity.check(time, self.catalog.times.last);
        let untimely = checked.err()?;
        let what = format!("the key of {}, who signed it, {untimely}", limited.name);
        Some(match untimely {
            Untimely::NotYet(_) => Fault::new("signer", what),
            Untimely::Over(_) => Fault::new("former-signer", what),
        })
    }

    /// Checks a valid signature by a signer whose role may not allow the command. Without the
    /// record only the command's name is known, so an erasure that changes no tree is allowed: it
    /// may complete an earlier one.
    fn not_allowed(
        &self,
        beyond: &RoleQuestion,
        examined: &CheckedCommitFacts,
    ) -> Result<Option<Fault>> {
        let (role, command) = (beyond.role, beyond.command.as_str());
        let what = if let Some(event) = &examined.event {
            let is_held = |touch: &_| self.catalog.takes_held(touch);
            let is_begun = |erased: &Erased| {
                let id = erased.memory;
                let is_known = self.catalog.marked.contains_key(&id);
                is_known || self.erased.contains(&id) || self.is_unsure(id)
            };
            not_permitted(role, event, is_held, |all| Ok(all.iter().all(is_begun)))?
        } else {
            let may_complete =
                may_complete(role) && command == ERASE_COMMAND && examined.changed.is_empty();
            let is_allowed = may_record(role, command) || may_complete;
            (!is_allowed).then(|| named(command).into())
        };
        let fault = |what: String| {
            let what = format!(
                "its signer {}",
                not_allowed(&beyond.name, role.as_str(), &what)
            );
            Fault::new("not-allowed", what)
        };
        Ok(what.map(fault))
    }

    /// Returns the fault of a valid signature by somebody who was no signer at that point.
    fn signer_fault(&self, repository: &Repository, stranger: &SignedBy) -> Result<Fault> {
        let key = stranger.fingerprint();
        for file in &self.signer_files {
            let signers = read_signers(repository, *file)?;
            if signers.is_some_and(|signers| signers.holder(stranger).is_some()) {
                let what = format!("{key}, which signed it, was no signer any more");
                return Ok(Fault::new("former-signer", what));
            }
        }
        let what = format!("{key}, which signed it, belongs to no signer");
        Ok(Fault::new("signer", what))
    }

    fn apply_event(
        &mut self,
        event: &Event,
        commit: ObjectId,
        examined: &CheckedCommitFacts,
        findings: &mut Findings,
        spot: FindingLocation,
    ) {
        if self.follows && examined.linked {
            let faults = [self.number_fault(event), self.time_fault(event)];
            for fault in faults.into_iter().flatten() {
                self.fits = false;
                findings.add(fault, spot);
            }
        }
        self.follows = true;
        self.catalog.events = event.number;
        let misfit = event.violation();
        let is_told = examined
            .faults
            .iter()
            .any(|fault| fault.id == "tree-change");
        if let Some((memory, what)) = misfit.filter(|_| !is_told) {
            self.state_fault(memory, what, findings, spot);
        }
        let step = Step::of(event, commit, examined.bytes);
        if !examined.sound {
            self.mark_unsure(examined);
            self.catalog.assume(&step);
            let touched = event.memories.iter().filter(|touch| touch.change.alters());
            self.unsure.extend(touched.map(|touch| touch.id));
            return;
        }
        let unsure = event.memories.iter().any(|touch| self.is_unsure(touch.id));
        let fault = if unsure || misfit.is_some() {
            self.catalog.assume(&step);
            None
        } else {
            match self.violation(event) {
                Some(misfit) => {
                    self.catalog.assume(&step);
                    Some(misfit)
                }
                None => self.catalog.apply(&step).err().map(|why| {
                    self.catalog.assume(&step);
                    (event.memories.first().map(|touch| touch.id), why)
                }),
            }
        };
        if let Some((memory, what)) = fault {
            self.state_fault(memory, what, findings, spot);
        }
        self.note(event);
    }

    /// Reports that an event does not fit the state, or its own command.
    fn state_fault(
        &mut self,
        memory: Option<MemoryId>,
        what: &str,
        findings: &mut Findings,
        spot: FindingLocation,
    ) {
        self.fits = false;
        let fault = Fault {
            memory,
            ..Fault::new("state", what)
        };
        findings.add(fault, spot);
    }

    /// Notes what the catalog does not keep: removed and erased memories, and those new or changed.
    fn note(&mut self, event: &Event) {
        for touch in &event.memories {
            if touch.change == Change::Erase {
                self.erased.insert(touch.id);
                // No key of it may be there at all.
                self.destroyed.remove(&touch.id);
            }
        }
        for erased in event.receipt.iter().flat_map(|receipt| &receipt.memories) {
            for blob in &erased.blobs {
                self.shut.remove(blob);
            }
            if erased.kept.is_some() {
                self.in_receipts.insert(erased.memory);
                let destroyed = self.destroyed.entry(erased.memory).or_default();
                destroyed.extend(&erased.blobs);
            }
        }
        for touch in event.memories.iter().filter(|touch| touch.change.alters()) {
            self.unsure.remove(&touch.id);
            if touch.change.removes() {
                self.removed.insert(touch.id, touch.version);
                self.written.remove(&touch.id);
            } else {
                self.removed.remove(&touch.id);
                self.written.insert(touch.id);
            }
        }
    }

    /// Passes over a commit without a usable record.
    fn skip(&mut self, examined: &CheckedCommitFacts) {
        self.mark_unsure(examined);
        self.catalog.events += 1;
        self.follows = false;
    }

    /// Marks the state of memories as unknown that the tree changed without a trustworthy record.
    fn mark_unsure(&mut self, examined: &CheckedCommitFacts) {
        self.fits = false;
        for changed in &examined.changed {
            self.unsure.insert(changed.id);
            if changed.new.is_none() {
                self.catalog.forget(changed.id);
            }
        }
        self.unsure.extend(&examined.named);
    }

    fn is_unsure(&self, id: MemoryId) -> bool {
        self.unsure.contains(&id) || (self.blind && !self.knows(id))
    }

    /// Tells whether an event has added the memory.
    pub(super) fn knows(&self, id: MemoryId) -> bool {
        self.catalog.memory(id).is_some()
            || self.removed.contains_key(&id)
            || self.unsure.contains(&id)
    }

    fn number_fault(&self, event: &Event) -> Option<Fault> {
        let next = self.catalog.events;
        (event.number != next).then(|| {
            let what = format!("its record has the number {}, not {next}", event.number);
            Fault::new("event-number", what)
        })
    }

    fn time_fault(&self, event: &Event) -> Option<Fault> {
        let behind = self
            .catalog
            .times
            .last
            .map_or(0, |last| (last - event.time).num_milliseconds());
        let behind = u64::try_from(behind).unwrap_or(0);
        let said = event.clock_behind_ms.unwrap_or(0);
        // A clock finer than a millisecond may have recorded one less.
        let fits = said == behind || (behind > 0 && said == behind - 1);
        (!fits).then(|| {
            let what = format!(
                "its time is {behind} ms before the event before, and its record says {said} ms"
            );
            Fault::new("time-backwards", what)
        })
    }

    /// Makes the checks that the catalog does not make by itself.
    fn violation(&self, event: &Event) -> Option<RecordViolation> {
        let why = |touch: &MemoryChange| {
            let live = self.catalog.memory(touch.id);
            let gone = self.removed.get(&touch.id);
            let present = live.is_some_and(|memory| memory.version == touch.version);
            let from_later = touch
                .from
                .is_some_and(|from| from == 0 || from >= touch.version);
            match touch.change {
                Change::Read | Change::Remove | Change::Expire if !present => {
                    Some("it reads or removes a memory that is not there in that version")
                }
                Change::Mark | Change::Erase if live.is_none() && gone.is_none() => {
                    Some("it erases a memory that never was")
                }
                Change::Restore if self.erased.contains(&touch.id) => {
                    Some("it restores a memory that was erased")
                }
                Change::Look if live.is_none() && gone.is_none() => {
                    Some("it looks at a memory that never was")
                }
                Change::Add if gone.is_some() => Some("it adds a memory that was there before"),
                Change::Restore if gone.map(|last| last + 1) != Some(touch.version) => {
                    Some("it restores a memory that was not removed, or not in its next version")
                }
                Change::Redact if live.is_none_or(|memory| is_elsewhere(memory, touch)) => {
                    Some("it redacts a memory, and its path is another")
                }
                Change::Reseal
                    if live.is_none_or(|memory| {
                        is_elsewhere(memory, touch) || memory.bytes != touch.bytes
                    }) =>
                {
                    Some("it re-encrypts a memory, but changes its path or length")
                }
                _ if from_later => Some("it goes back to a version that was not before it"),
                _ => None,
            }
        };
        let mut touches = event.memories.iter();
        touches.find_map(|touch| Some((Some(touch.id), why(touch)?)))
    }
}

/// Tells whether a touch has another path than the memory. Without the key of its paths it has none, though
/// the memory may have one from before: an erasure that comes later took the key.
fn is_elsewhere(memory: &Memory, touch: &MemoryChange) -> bool {
    touch.path.as_ref().is_some_and(|path| *path != memory.path)
}
