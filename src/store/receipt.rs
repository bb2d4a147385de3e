//! Receipts: found in history, and held against what the keyring and the repository are now.

use std::collections::{BTreeMap, HashSet};

use crate::error::{Error, Result, RetentionFault};
use crate::event::{ERASE_COMMAND, EXPIRE_COMMAND, Erased, Outcome, REDACT_COMMAND, Receipt};
use crate::id::MemoryId;
use crate::id::ObjectId;
use crate::store::retention::{Checked, Proof};
use crate::store::revision::Revision;

use super::Store;
use super::erase::{keys_left, named_in};
use super::history::check_all;
use super::reseal::Progress;

impl Store {
    /// The receipt of the event a revision names; without one, the newest there is.
    ///
    /// # Errors
    /// [`RetentionFault::NoReceipt`] if it has none; [`Error::NoRevision`] or [`Error::Ambiguous`];
    /// otherwise when history does not check out.
    pub fn receipt(&mut self, revision: Option<&Revision>) -> Result<Proof> {
        self.in_history(|store| {
            let event = match revision {
                Some(revision) => Some(store.resolve(revision)?.event),
                None => store.events_that_erased().last().copied(),
            };
            let event = event.ok_or_else(|| no_receipt("the store"))?;
            store
                .proof(event)?
                .ok_or_else(|| no_receipt(&format!("event {event}")))
        })
    }

    /// The events that erased something, oldest first.
    ///
    /// # Errors
    /// When history does not check out.
    pub fn receipts(&mut self) -> Result<Vec<u64>> {
        self.in_history(|store| Ok(store.events_that_erased()))
    }

    /// Holds a receipt against what is there now: no key of what it erased is left, no version it
    /// lists opens, no record shows a path.
    ///
    /// # Errors
    /// As for [`Store::receipt`].
    pub fn check_receipt(&mut self, event: u64, progress: &mut Progress<'_>) -> Result<Checked> {
        self.in_history(|store| {
            let proof = store.proof(event)?;
            let proof = proof.ok_or_else(|| no_receipt(&format!("event {event}")))?;
            store.checked(proof, progress)
        })
    }

    fn events_that_erased(&self) -> Vec<u64> {
        let timeline = self.timeline();
        let erased = |event: &u64| {
            let (command, outcome) = timeline.command(*event).expect("an event of the timeline");
            let parts = || timeline.parts_of(*event);
            outcome == Outcome::Ok
                && match command {
                    ERASE_COMMAND | REDACT_COMMAND | EXPIRE_COMMAND => parts().iter().any(|part| {
                        use crate::event::Change::{Erase, Redact, Reseal};
                        matches!(part.change, Erase | Redact | Reseal)
                    }),
                    _ => false,
                }
        };
        (0..timeline.len()).filter(erased).collect()
    }

    fn proof(&self, number: u64) -> Result<Option<Proof>> {
        let Some(moment) = self.timeline().moment(number) else {
            return Ok(None);
        };
        let (entry, _) = self.entry(moment.commit)?;
        let Some(receipt) = &entry.event.receipt else {
            return Ok(None);
        };
        let earlier: HashSet<u64> = receipt.memories.iter().filter_map(|m| m.after).collect();
        let mut earlier: Vec<u64> = earlier.into_iter().collect();
        earlier.sort_unstable();
        let earlier = earlier.into_iter().map(|event| {
            let event = self.event_at(event)?;
            Ok((*event).clone())
        });
        Ok(Some(Proof {
            earlier: earlier.collect::<Result<_>>()?,
            commit: moment.commit,
            signer: entry.signer.unwrap_or_default(),
            event: entry.event,
        }))
    }

    fn checked(&self, proof: Proof, progress: &mut Progress<'_>) -> Result<Checked> {
        let mut found = Checked {
            keys: Vec::new(),
            opened: Vec::new(),
            unlisted: Vec::new(),
            named: Vec::new(),
            versions: 0,
            records: 0,
            proof,
        };
        let receipt: Receipt = found.proof.receipt().clone();
        for memory in &receipt.memories {
            self.try_versions_of(memory, &mut found)?;
        }
        self.try_records_of(&receipt, &mut found, progress)?;
        Ok(found)
    }

    fn try_versions_of(&self, memory: &Erased, found: &mut Checked) -> Result<()> {
        let id = memory.memory;
        if memory.kept.is_none() && self.keyring.still_has(id)? {
            found.keys.push(id);
        }
        // An auditor has no key to try.
        if !self.keyring.is_reader() {
            return Ok(());
        }
        let keys = keys_left(&self.keyring, id)?;
        for blob in &memory.blobs {
            found.versions += 1;
            if self.opens(&keys, *blob)? {
                found.opened.push((id, *blob));
            }
        }
        Ok(())
    }

    /// Opens every record that named what is gone, and compares the versions it wrote with those the
    /// receipt lists.
    fn try_records_of(
        &self,
        receipt: &Receipt,
        found: &mut Checked,
        progress: &mut Progress<'_>,
    ) -> Result<()> {
        let timeline = self.timeline();
        let number = found.proof.event.number;
        let gone = receipt.memories.iter().filter(|m| m.kept.is_none());
        let gone: HashSet<MemoryId> = gone.map(|memory| memory.memory).collect();
        let mut events = timeline.naming(&gone);
        for memory in &receipt.memories {
            let versions = timeline.versions(memory.memory, number.saturating_sub(1));
            events.extend(versions.map(|version| version.event));
        }
        events.sort_unstable();
        events.dedup();
        let mut written: BTreeMap<MemoryId, HashSet<ObjectId>> = BTreeMap::new();
        let commits = self.commits_of(&events);
        let (mut done, total) = (0, commits.len() as u64);
        check_all(&self.root, &self.keyring, &commits, |checked| {
            let (is_named, shown) = named_in(&checked.event, &gone);
            found.records += u64::from(is_named);
            found.named.extend(shown);
            for touch in &checked.event.memories {
                let blob = touch.blob.filter(|_| checked.event.number < number);
                let blob = blob.map(|(blob, _)| blob);
                written.entry(touch.id).or_default().extend(blob);
            }
            done += 1;
            progress(done, total);
            Ok(())
        })?;
        for memory in &receipt.memories {
            let listed: HashSet<ObjectId> = memory.blobs.iter().copied().collect();
            if written.remove(&memory.memory).unwrap_or_default() != listed {
                found.unlisted.push(memory.memory);
            }
        }
        found.named.sort();
        found.named.dedup();
        Ok(())
    }
}

fn no_receipt(what: &str) -> Error {
    Error::Retention(RetentionFault::NoReceipt { what: what.into() })
}
