//! Erasure: a keyring without the keys of some memories takes the place of the one there is, under a
//! new epoch key, and the record of that has the receipt. History stays as it is, and does not open.
//!
//! ```text
//! target    which memories            closed    what is left is tried: nothing opens any more
//! complete  what others marked, or what an older keyring brought back
//! ```

mod closed;
mod complete;
mod target;

use std::collections::{HashMap, HashSet};

use crate::crypto::seal::SealKey;
use crate::error::{Error, Result, RetentionFault};
use crate::event::{Change, Context, ERASE_COMMAND, Erased, Event, NOT_REACHED, Receipt, Touch};
use crate::id::MemoryId;
use crate::keyring::Keyring;
use crate::memory_tool::path::MemoryPath;
use crate::store::answer::Meta;
use crate::store::retention::{EraseOf, Erasure, RECEIPT_VERSIONS_MAX, Target};

use super::Store;
use super::checkpoint::checkpoint;
use super::commit::Sealing;
use super::reseal::{Progress, reseal};

use self::closed::Closed;
pub(super) use self::closed::{keys_left, named_in};

/// What is erased by one event.
#[derive(Default)]
pub(super) struct Erasing {
    /// Memories of which nothing is left.
    pub(super) gone: HashSet<MemoryId>,
    /// What the event does besides, and before.
    pub(super) before: Sealing,
    /// What it says of the memories.
    pub(super) touches: Vec<Touch>,
    /// Memories of which an older keyring has brought back the key to a history that is erased.
    pub(super) with_history: HashSet<MemoryId>,
    /// The present versions of memories of which only what was before is gone, sealed anew.
    pub(super) fresh: Vec<(MemoryId, SealKey)>,
    /// The events that marked memories, or had erased them before.
    pub(super) after: HashMap<MemoryId, u64>,
}

impl Store {
    /// What an erasure would reach, in the order of paths. Nothing is changed or recorded.
    ///
    /// # Errors
    /// [`Error::NotThere`] if nothing is meant, [`Error::Policy`] for a glob that does not parse.
    pub fn plan_erasure(&mut self, what: &EraseOf, history_only: bool) -> Result<Vec<Target>> {
        self.in_history(|store| store.targets(what, history_only))
    }

    /// Erases memories: their keys are destroyed, so that no version and no path of theirs opens any
    /// more, here or in any copy of the repository. With `history_only` the present version stays,
    /// sealed to a fresh identity, and what was before it is erased.
    ///
    /// For an auditor, who has no key to the keyring, the memories are removed and marked, and the
    /// next reader who opens the store destroys their keys.
    ///
    /// # Errors
    /// [`RetentionFault::Held`] if a hold keeps one of them; otherwise as for
    /// [`Store::plan_erasure`] and [`Store::execute`].
    pub fn erase(
        &mut self,
        what: &EraseOf,
        history_only: bool,
        context: &Context,
        progress: &mut Progress<'_>,
    ) -> Result<Erasure> {
        let lock = self.lock()?;
        self.refresh()?;
        self.check_one_keyring()?;
        self.may_sign_now(ERASE_COMMAND)?;
        if history_only {
            self.as_reader()?;
        }
        self.load_timeline()?;
        let targets = self.targets(what, history_only);
        self.catalog.check()?;
        let targets = targets?;
        let each = targets.iter();
        self.check_not_held(each.map(|target| (target.id, target.path.as_ref())))?;
        let (meta, receipt) = if self.keyring.is_reader() {
            let erasing = if history_only {
                self.fresh_versions(&targets)?
            } else {
                Erasing {
                    gone: targets.iter().map(|target| target.id).collect(),
                    before: self.taken_away(&targets, Change::Erase),
                    ..Erasing::default()
                }
            };
            let (meta, receipt) =
                self.erase_now(ERASE_COMMAND, erasing, |_| {}, context, progress)?;
            (meta, Some(receipt))
        } else {
            let sealing = self.taken_away(&targets, Change::Mark);
            let marked = self.record_plainly(ERASE_COMMAND, sealing, |_| {}, context)?;
            (marked, None)
        };
        drop(lock);
        Ok(Erasure {
            targets,
            meta,
            receipt,
        })
    }

    /// Removes what is there of some memories, and says that they are erased, or marked for it.
    fn taken_away(&self, targets: &[Target], change: Change) -> Sealing {
        let mut sealing = Sealing::default();
        for target in targets {
            let sizes = self.last_sizes(target.id);
            if let Some(memory) = self.catalog.memory(target.id) {
                sealing.blobs.push((target.id, None));
                let mut touch = super::plan::touch(memory, Change::Remove);
                if change == Change::Erase {
                    // No key is left to seal it under.
                    touch.path = None;
                }
                sealing.touches.push(touch);
            }
            let path = target.path.as_ref();
            sealing.touches.push(gone(target.id, path, sizes, change));
        }
        sealing
    }

    fn last_sizes(&self, id: MemoryId) -> (u64, u64) {
        let last = self.timeline().versions(id, u64::MAX).next_back();
        last.map_or((0, 0), |last| (last.version, last.bytes))
    }

    /// Seals the present versions of memories to fresh identities, so that what was before them can
    /// go.
    fn fresh_versions(&mut self, targets: &[Target]) -> Result<Erasing> {
        let mut erasing = Erasing::default();
        for target in targets {
            let memory = self.catalog.memory(target.id).cloned();
            let memory = memory.expect("only what is there has a present version");
            let (key, blob, digest) = reseal(&self.repository, &self.keyring, &memory)?;
            erasing.before.take(&memory, (blob, digest));
            erasing.fresh.push((memory.id, key));
        }
        Ok(erasing)
    }

    /// Erases, by one event with its receipt. Called with the lock held and the timeline at hand.
    pub(super) fn erase_now(
        &mut self,
        command: &'static str,
        erasing: Erasing,
        adjust: impl FnOnce(&mut Event),
        context: &Context,
        progress: &mut Progress<'_>,
    ) -> Result<(Meta, Receipt)> {
        self.as_reader()?;
        let head = self.journal.head();
        let members = self.decisions.members.clone();
        let least = self.catalog.erased.unwrap_or_default();
        let gone = (&erasing.gone, &erasing.with_history);
        let next = self
            .keyring
            .prepare_erasure(&members, gone, &erasing.fresh, least)?;
        let done = self.erase_with(&next, command, erasing, adjust, context, progress);
        done.inspect_err(|_| {
            // It may have forgotten paths that are still to be read.
            self.timeline = None;
            if self.journal.head() == head {
                next.give_up();
            }
        })
    }

    fn erase_with(
        &mut self,
        next: &crate::keyring::Next,
        command: &'static str,
        erasing: Erasing,
        adjust: impl FnOnce(&mut Event),
        context: &Context,
        progress: &mut Progress<'_>,
    ) -> Result<(Meta, Receipt)> {
        // What is sealed anew is too much for the journal: it is durable before the record is. And
        // no entry for a table that goes may be left in it.
        self.repository.sync()?;
        checkpoint(&self.repository, &self.keyring, &mut self.journal)?;
        self.load_timeline()?;
        let prepared = self.keyring.after(next)?;
        let closed = self.try_all(&prepared, &erasing, progress)?;
        let receipt = self.receipt_of(&prepared, &erasing, &closed)?;
        let mut sealing = erasing.before;
        sealing.touches.extend(erasing.touches);
        sealing.next = Some(next.entry());
        let meta = self.in_new_keyring(prepared, |store| {
            let adjust = |event: &mut Event| {
                event.receipt = Some(receipt.clone());
                adjust(event);
            };
            store.record_plainly(command, sealing, adjust, context)
        })?;
        Ok((meta, receipt))
    }

    fn receipt_of(
        &self,
        prepared: &Keyring,
        erasing: &Erasing,
        closed: &Closed,
    ) -> Result<Receipt> {
        let (before, after) = (self.keyring.numbers(), prepared.numbers());
        let epoch = |number: Option<u64>| number.ok_or(Error::NotAReader);
        let mut memories: Vec<Erased> = Vec::new();
        for (id, blobs) in &closed.blobs {
            let fresh = erasing.fresh.iter().any(|(fresh, _)| fresh == id);
            let kept = fresh.then(|| {
                let touches = erasing.before.touches.iter().chain(&erasing.touches);
                let touches = touches.filter(|touch| touch.change.writes());
                touches.filter(|t| t.id == *id).map(|t| t.version).max()
            });
            memories.push(Erased {
                kept: kept.flatten(),
                after: erasing.after.get(id).copied(),
                ..Erased::of(*id, blobs.clone())
            });
        }
        let versions = memories.iter().map(|memory| memory.blobs.len()).sum();
        if versions > RECEIPT_VERSIONS_MAX {
            let max = RECEIPT_VERSIONS_MAX;
            return Err(Error::Retention(RetentionFault::TooMuch { versions, max }));
        }
        Ok(Receipt {
            epoch: (epoch(before.0)?, epoch(after.0)?),
            names: (before.1, after.1),
            memories,
            versions: closed.versions,
            records: closed.records,
            asked: closed.asked,
            not_reached: NOT_REACHED.map(str::to_owned).to_vec(),
        })
    }
}

/// The part of an event that says a memory is gone.
pub(super) fn gone(
    id: MemoryId,
    path: Option<&MemoryPath>,
    (version, bytes): (u64, u64),
    change: Change,
) -> Touch {
    Touch {
        id,
        change,
        path: path.filter(|_| change != Change::Erase).cloned(),
        version,
        bytes,
        blob: None,
        from: None,
        because: None,
    }
}
