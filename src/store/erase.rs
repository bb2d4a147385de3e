//! Erasure: a keyring without the keys of some memories takes the place of the one there is, under a
//! new epoch key, and the record of that has the receipt. History stays as it is, and does not open.
//!
//! ```text
//! target    which memories            closed    what is left is tried: nothing opens any more
//! complete  what others marked, or what an older keyring brought back
//! ```

pub(super) mod closed;
pub(super) mod complete;
pub(super) mod target;

use std::collections::{HashMap, HashSet};

use crate::crypto::seal::SealKey;
use crate::error::{Error, Result, RetentionFault};
use crate::event::{Change, Context, ERASE_COMMAND, Erased, Event, NOT_REACHED, Receipt, Touch};
use crate::id::MemoryId;
use crate::keyring::Keyring;
use crate::memory_tool::path::MemoryPath;
use crate::store::answer::Meta;
use crate::store::decide::as_reader;
use crate::store::erase::closed::try_all;
use crate::store::erase::target::targets;
use crate::store::history::refresh;
use crate::store::hold::check_not_held;
use crate::store::past::{in_history, load_timeline, timeline};
use crate::store::place::check_one_keyring;
use crate::store::reseal::in_new_keyring;
use crate::store::retention::{EraseOf, Erasure, RECEIPT_VERSIONS_MAX, Target};
use crate::store::signers::may_sign_now;
use crate::store::sweep::record_plainly;
use crate::store::{Ledger, State, lock};

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

/// See [`Store::plan_erasure`].
pub(super) fn plan_erasure(
    store: &mut Store,
    what: &EraseOf,
    history_only: bool,
) -> Result<Vec<Target>> {
    in_history(store, |store| targets(&store.state, what, history_only))
}

/// See [`Store::erase`].
pub(super) fn erase(
    store: &mut Store,
    what: &EraseOf,
    history_only: bool,
    context: &Context,
    progress: &mut Progress<'_>,
) -> Result<Erasure> {
    let lock = lock(&mut store.ledger)?;
    refresh(store)?;
    check_one_keyring(store)?;
    may_sign_now(store, ERASE_COMMAND)?;
    if history_only {
        as_reader(&store.ledger)?;
    }
    load_timeline(store)?;
    let targets = targets(&store.state, what, history_only);
    store.state.catalog.check()?;
    let targets = targets?;
    let each = targets.iter();
    check_not_held(store, each.map(|target| (target.id, target.path.as_ref())))?;
    let (meta, receipt) = if store.ledger.keyring.is_reader() {
        let erasing = if history_only {
            fresh_versions(store, &targets)?
        } else {
            Erasing {
                gone: targets.iter().map(|target| target.id).collect(),
                before: taken_away(&store.state, &targets, Change::Erase),
                ..Erasing::default()
            }
        };
        let (meta, receipt) = erase_now(store, ERASE_COMMAND, erasing, |_| {}, context, progress)?;
        (meta, Some(receipt))
    } else {
        let sealing = taken_away(&store.state, &targets, Change::Mark);
        let marked = record_plainly(store, ERASE_COMMAND, sealing, |_| {}, context)?;
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
fn taken_away(state: &State, targets: &[Target], change: Change) -> Sealing {
    let mut sealing = Sealing::default();
    for target in targets {
        let sizes = last_sizes(state, target.id);
        if let Some(memory) = state.catalog.memory(target.id) {
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

fn last_sizes(state: &State, id: MemoryId) -> (u64, u64) {
    let last = timeline(state).versions(id, u64::MAX).next_back();
    last.map_or((0, 0), |last| (last.version, last.bytes))
}

/// Seals the present versions of memories to fresh identities, so that what was before them can
/// go.
fn fresh_versions(store: &mut Store, targets: &[Target]) -> Result<Erasing> {
    let mut erasing = Erasing::default();
    for target in targets {
        let memory = store.state.catalog.memory(target.id).cloned();
        let memory = memory.expect("only what is there has a present version");
        let (key, blob, digest) = reseal(&store.ledger.repository, &store.ledger.keyring, &memory)?;
        erasing.before.take(&memory, (blob, digest));
        erasing.fresh.push((memory.id, key));
    }
    Ok(erasing)
}

/// Erases, by one event with its receipt. Called with the lock held and the timeline at hand.
pub(super) fn erase_now(
    store: &mut Store,
    command: &'static str,
    erasing: Erasing,
    adjust: impl FnOnce(&mut Event),
    context: &Context,
    progress: &mut Progress<'_>,
) -> Result<(Meta, Receipt)> {
    as_reader(&store.ledger)?;
    let head = store.ledger.journal.head();
    let members = store.state.decisions.members.clone();
    let least = store.state.catalog.erased.unwrap_or_default();
    let gone = (&erasing.gone, &erasing.with_history);
    let next = store
        .ledger
        .keyring
        .prepare_erasure(&members, gone, &erasing.fresh, least)?;
    let done = erase_with(store, &next, command, erasing, adjust, context, progress);
    done.inspect_err(|_| {
        // It may have forgotten paths that are still to be read.
        store.state.timeline = None;
        if store.ledger.journal.head() == head {
            next.give_up();
        }
    })
}

fn erase_with(
    store: &mut Store,
    next: &crate::keyring::Next,
    command: &'static str,
    erasing: Erasing,
    adjust: impl FnOnce(&mut Event),
    context: &Context,
    progress: &mut Progress<'_>,
) -> Result<(Meta, Receipt)> {
    // What is sealed anew is too much for the journal: it is durable before the record is. And
    // no entry for a table that goes may be left in it.
    store.ledger.repository.sync()?;
    checkpoint(
        &store.ledger.repository,
        &store.ledger.keyring,
        &mut store.ledger.journal,
    )?;
    load_timeline(store)?;
    let prepared = store.ledger.keyring.after(next)?;
    let closed = try_all(store, &prepared, &erasing, progress)?;
    let receipt = receipt_of(&store.ledger, &prepared, &erasing, &closed)?;
    let mut sealing = erasing.before;
    sealing.touches.extend(erasing.touches);
    sealing.next = Some(next.entry());
    let meta = in_new_keyring(store, prepared, |store| {
        let adjust = |event: &mut Event| {
            event.receipt = Some(receipt.clone());
            adjust(event);
        };
        record_plainly(store, command, sealing, adjust, context)
    })?;
    Ok((meta, receipt))
}

fn receipt_of(
    ledger: &Ledger,
    prepared: &Keyring,
    erasing: &Erasing,
    closed: &Closed,
) -> Result<Receipt> {
    let (before, after) = (ledger.keyring.numbers(), prepared.numbers());
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
