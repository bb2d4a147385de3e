//! Receipts: finding them in history, and checking them against the present keyring and repository.

use std::collections::{BTreeMap, HashSet};

use crate::error::{Error, Result, RetentionFault};
use crate::event::{ERASE_COMMAND, EXPIRE_COMMAND, Erased, Outcome, REDACT_COMMAND, Receipt};
use crate::id::{MemoryId, ObjectId};
use crate::store::erase::unreadable::{commits_of, opens};
use crate::store::erase::{keys_left, named_in};
use crate::store::history::read::{event_at, resolve};
use crate::store::log::entry;
use crate::store::recovery::check_all;
use crate::store::rekey::ProgressFn;
use crate::store::retention::{Proof, ReceiptCheck};
use crate::store::revision::Revision;
use crate::store::timeline::{timeline, with_timeline};
use crate::store::{Ledger, State, Store};

/// See [`Store::receipt`].
pub(super) fn receipt(store: &mut Store, revision: Option<&Revision>) -> Result<Proof> {
    with_timeline(store, |store| {
        let event = match revision {
            Some(revision) => Some(resolve(store, revision)?.event),
            None => events_that_erased(&store.state).last().copied(),
        };
        let event = event.ok_or_else(|| no_receipt("the store"))?;
        proof(store, event)?.ok_or_else(|| no_receipt(&format!("event {event}")))
    })
}

/// See [`Store::receipts`].
pub(super) fn receipts(store: &mut Store) -> Result<Vec<u64>> {
    with_timeline(store, |store| Ok(events_that_erased(&store.state)))
}

/// See [`Store::check_receipt`].
pub(super) fn check_receipt(
    store: &mut Store,
    event: u64,
    progress: &mut ProgressFn<'_>,
) -> Result<ReceiptCheck> {
    with_timeline(store, |store| {
        let proof = proof(store, event)?;
        let proof = proof.ok_or_else(|| no_receipt(&format!("event {event}")))?;
        checked(store, proof, progress)
    })
}

fn events_that_erased(state: &State) -> Vec<u64> {
    let timeline = timeline(state);
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

fn proof(store: &Store, number: u64) -> Result<Option<Proof>> {
    let Some(moment) = timeline(&store.state).moment(number) else {
        return Ok(None);
    };
    let (entry, _) = entry(store, moment.commit)?;
    let Some(receipt) = &entry.event.receipt else {
        return Ok(None);
    };
    let earlier: HashSet<u64> = receipt.memories.iter().filter_map(|m| m.after).collect();
    let mut earlier: Vec<u64> = earlier.into_iter().collect();
    earlier.sort_unstable();
    let earlier = earlier.into_iter().map(|event| {
        let event = event_at(store, event)?;
        Ok((*event).clone())
    });
    Ok(Some(Proof {
        earlier: earlier.collect::<Result<_>>()?,
        commit: moment.commit,
        signer: entry.signer.unwrap_or_default(),
        event: entry.event,
    }))
}

fn checked(store: &Store, proof: Proof, progress: &mut ProgressFn<'_>) -> Result<ReceiptCheck> {
    let mut found = ReceiptCheck {
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
        try_versions_of(&store.ledger, memory, &mut found)?;
    }
    try_records_of(store, &receipt, &mut found, progress)?;
    Ok(found)
}

fn try_versions_of(ledger: &Ledger, memory: &Erased, found: &mut ReceiptCheck) -> Result<()> {
    let id = memory.memory;
    if memory.kept.is_none() && ledger.keyring.still_has(id)? {
        found.keys.push(id);
    }
    // An auditor has no key to try.
    if !ledger.keyring.is_reader() {
        return Ok(());
    }
    let keys = keys_left(&ledger.keyring, id)?;
    for blob in &memory.blobs {
        found.versions += 1;
        if opens(ledger, &keys, *blob)? {
            found.opened.push((id, *blob));
        }
    }
    Ok(())
}

/// Opens every record that named an erased memory, and compares the versions written with those
/// listed in the receipt.
fn try_records_of(
    store: &Store,
    receipt: &Receipt,
    found: &mut ReceiptCheck,
    progress: &mut ProgressFn<'_>,
) -> Result<()> {
    let timeline = timeline(&store.state);
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
    let commits = commits_of(&store.state, &events);
    let (mut done, total) = (0, commits.len() as u64);
    check_all(
        &store.ledger.root,
        &store.ledger.keyring,
        &commits,
        |checked| {
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
        },
    )?;
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

fn no_receipt(what: &str) -> Error {
    Error::Retention(RetentionFault::NoReceipt { what: what.into() })
}
