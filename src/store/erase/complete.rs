//! What was begun elsewhere: memories that somebody without keys has marked, and erased memories
//! whose keys an older copy of the keyring has brought back. Whoever can destroys those keys when
//! the store is next used.

use std::collections::{HashMap, HashSet};

use super::super::Store;
use super::super::history::check_all;
use super::{Erasing, gone};
use crate::error::Result;
use crate::event::Change;
use crate::event::Context;
use crate::event::ERASE_COMMAND;
use crate::event::command;
use crate::id::MemoryId;
use crate::store::decide::as_reader;
use crate::store::erase::closed::commits_of;
use crate::store::erase::{erase_now, last_sizes};
use crate::store::hold::hold_ever_on;
use crate::store::past::{event_at, load_timeline, timeline};
use crate::store::place::check_one_keyring;
use crate::store::signers::{may_sign_now, signer_now};

/// Why, in the record.
const REASON: &str = "completes what was begun: the keys of memories marked for erasure, or those \
                      of erased memories that an older keyring had brought back";

/// Destroys keys that should not be there any more, where this process can. Called with the lock
/// held, before anything is read: until it is done those keys are not used.
pub(in crate::store) fn complete_erasures(store: &mut Store) -> Result<()> {
    let erased = store.state.catalog.erased;
    let is_old = erased.is_some_and(|numbers| store.ledger.keyring.is_before(numbers));
    if store.state.catalog.marked.is_empty() && !is_old {
        return Ok(());
    }
    load_timeline(store)?;
    let mut after: HashMap<MemoryId, u64> = HashMap::new();
    let mut with_history = HashSet::new();
    if is_old {
        for (id, event) in timeline(&store.state).erased() {
            if store.ledger.keyring.still_has(id)? {
                after.insert(id, event);
            }
        }
        with_history = with_old_history(store)?;
        let in_ring = with_history.iter().copied();
        store.ledger.keyring.shut(after.keys().copied(), in_ring);
    }
    let shut: HashSet<MemoryId> = after.keys().copied().collect();
    if may_complete(store).is_err() {
        return forget_paths(store, &shut);
    }
    for (id, event) in &store.state.catalog.marked {
        let is_gone = store.state.catalog.memory(*id).is_none();
        if is_gone && hold_ever_on(&store.state, *id, None).is_none() {
            after.insert(*id, *event);
        }
    }
    if after.is_empty() && !is_old {
        return Ok(());
    }
    let mut ids: Vec<MemoryId> = after.keys().copied().collect();
    ids.sort();
    let touch = |id: &MemoryId| gone(*id, None, last_sizes(&store.state, *id), Change::Erase);
    let erasing = Erasing {
        touches: ids.iter().map(touch).collect(),
        gone: ids.into_iter().collect(),
        with_history,
        after,
        ..Erasing::default()
    };
    let context = Context {
        reason: Some(REASON.into()),
        ..Context::default()
    };
    let done = erase_now(
        store,
        ERASE_COMMAND,
        erasing,
        |_| {},
        &context,
        &mut |_, _| {},
    );
    if done.is_err() {
        forget_paths(store, &shut)?;
    }
    done.map(drop)
}

/// Whether this process can: its role need not let it begin an erasure.
fn may_complete(store: &Store) -> Result<()> {
    as_reader(&store.ledger)?;
    check_one_keyring(store)?;
    let (_, signer) = signer_now(store)?;
    if command::may_complete(signer.role()) {
        return Ok(());
    }
    may_sign_now(store, ERASE_COMMAND)
}

/// Memories whose history was erased after this keyring was made: the keys it has of them open
/// that, and nothing since.
fn with_old_history(store: &Store) -> Result<HashSet<MemoryId>> {
    let (Some(epoch), _) = store.ledger.keyring.numbers() else {
        return Ok(HashSet::new());
    };
    let mut found = HashSet::new();
    for id in timeline(&store.state).memories() {
        let Some((_, event)) = timeline(&store.state).begins_with(id) else {
            continue;
        };
        let event = event_at(store, event)?;
        let receipt = event.receipt.as_ref();
        if receipt.is_some_and(|receipt| receipt.epoch.1 > epoch)
            && store.ledger.keyring.in_ring(id)?
        {
            found.insert(id);
        }
    }
    Ok(found)
}

/// Has the timeline at hand forget the paths of memories whose keys are taken for destroyed: it
/// was read with them.
fn forget_paths(store: &mut Store, memories: &HashSet<MemoryId>) -> Result<()> {
    if memories.is_empty() {
        return Ok(());
    }
    load_timeline(store)?;
    let commits = commits_of(&store.state, &timeline(&store.state).naming(memories));
    let timeline = &mut store.state.timeline;
    check_all(
        &store.ledger.root,
        &store.ledger.keyring,
        &commits,
        |checked| {
            if let Some(timeline) = timeline {
                timeline.take_again(&checked.event);
            }
            Ok(())
        },
    )?;
    // It was written down with them, too.
    if let Some(timeline) = &store.state.timeline {
        store
            .ledger
            .timeline_file
            .append(timeline, 0, store.ledger.keyring.cache_key());
    }
    Ok(())
}
