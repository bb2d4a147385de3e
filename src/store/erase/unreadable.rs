//! Verifies an erasure before it is recorded: no remaining key opens an erased version, and no
//! record of an erased memory still shows a path of it. Also finishes pending erasures.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::crypto::seal::SealKey;
use crate::error::{Error, Result};
use crate::event::{Change, Context, ERASE_COMMAND, Event, PathRef, command};
use crate::id::{MemoryId, ObjectId};
use crate::keyring::Keyring;
use crate::store::config::require_reader;
use crate::store::erase::{ErasurePlan, erase_now, erased_change, last_sizes};
use crate::store::history::read::event_at;
use crate::store::hold::hold_ever_on;
use crate::store::keyring_location::check_one_keyring;
use crate::store::recovery::check_all;
use crate::store::rekey::ProgressFn;
use crate::store::signers::{may_sign_now, signer_now};
use crate::store::timeline::{load_timeline, timeline};
use crate::store::versions::if_open;
use crate::store::{Ledger, State, Store};

/// The result of the verification: everything in it was tried and did not open.
#[derive(Default)]
pub(super) struct UnreadableProof {
    /// The erased versions of each memory, oldest first.
    pub(super) blobs: BTreeMap<MemoryId, Vec<ObjectId>>,
    /// The number of versions that were tried.
    pub(super) versions: u64,
    /// The number of records that named an erased memory.
    pub(super) records: u64,
    /// The number of records that still show a path of an erased memory, because somebody asked for
    /// it when nothing was there.
    pub(super) asked: u64,
}

/// The memories and paths to look for in records.
struct ErasedPaths<'a> {
    gone: &'a HashSet<MemoryId>,
    fresh: HashSet<MemoryId>,
    /// Every path of the memories in `gone`.
    paths: HashSet<String>,
}

/// Verifies an erasure: no version to be erased opens with the remaining keys, and no record shows
/// a path of an erased memory. Also drops the paths that no longer open from the loaded timeline.
///
/// # Errors
/// [`Error::Damaged`] if anything opens. Then nothing may be recorded.
pub(super) fn verify_unreadable(
    store: &mut Store,
    left: &Keyring,
    erasing: &ErasurePlan,
    progress: &mut ProgressFn<'_>,
) -> Result<UnreadableProof> {
    let timeline = timeline(&store.state);
    let mut paths = timeline.paths();
    let own = erasing.gone.iter().filter_map(|id| paths.remove(id));
    let sought = ErasedPaths {
        gone: &erasing.gone,
        fresh: erasing.fresh.iter().map(|(id, _)| *id).collect(),
        paths: own.flatten().map(|path| path.as_str().to_owned()).collect(),
    };
    let mut events = timeline.naming(&erasing.gone);
    for id in &sought.fresh {
        let versions = timeline.versions(*id, u64::MAX);
        events.extend(versions.map(|version| version.event));
    }
    events.sort_unstable();
    events.dedup();
    let mut closed = UnreadableProof::default();
    for id in sought.gone.iter().chain(&sought.fresh) {
        closed.blobs.insert(*id, Vec::new());
    }
    let commits = commits_of(&store.state, &events);
    let (mut done, total) = (0, commits.len() as u64);
    let timeline = &mut store.state.timeline;
    check_all(&store.ledger.root, left, &commits, |checked| {
        closed.count_record(&checked.event, &sought)?;
        if let Some(timeline) = timeline {
            timeline.take_again(&checked.event);
        }
        done += 1;
        progress(done, total);
        Ok(())
    })?;
    try_versions(&store.ledger, left, &mut closed)?;
    Ok(closed)
}

/// Returns the commits of some events, in their order. Requires a loaded timeline.
pub(in crate::store) fn commits_of(state: &State, events: &[u64]) -> Vec<ObjectId> {
    let moments = events
        .iter()
        .filter_map(|event| timeline(state).moment(*event));
    moments.map(|moment| moment.commit).collect()
}

/// Tries every version with the remaining keys of its memory.
fn try_versions(ledger: &Ledger, left: &Keyring, closed: &mut UnreadableProof) -> Result<()> {
    for (id, blobs) in &closed.blobs {
        let keys = keys_left(left, *id)?;
        for blob in blobs {
            closed.versions += 1;
            if opens(ledger, &keys, *blob)? {
                return Err(still_readable(*id, "a version of it still opens"));
            }
        }
    }
    Ok(())
}

/// Tells whether a version opens with one of these keys. A damaged version does not.
pub(in crate::store) fn opens(ledger: &Ledger, keys: &[SealKey], blob: ObjectId) -> Result<bool> {
    if keys.is_empty() {
        return Ok(false);
    }
    let sealed = if_open(ledger.repository.sealed(blob))?;
    Ok(sealed.is_some_and(|sealed| SealKey::open_with_any(keys, &sealed).is_ok()))
}

impl UnreadableProof {
    fn count_record(&mut self, event: &Event, sought: &ErasedPaths<'_>) -> Result<()> {
        let (is_named, shown) = named_in(event, sought.gone);
        if let Some(id) = shown {
            return Err(still_readable(id, "a record still shows a path of it"));
        }
        self.records += u64::from(is_named);
        let mut places = event.path.iter().chain(&event.new_path);
        let asked = places
            .any(|place| matches!(place, PathRef::Asked(text) if sought.paths.contains(text)));
        self.asked += u64::from(asked);
        for touch in &event.memories {
            if let (Some(blobs), Some((blob, _))) = (self.blobs.get_mut(&touch.id), touch.blob) {
                blobs.push(blob);
            }
        }
        Ok(())
    }
}

/// Returns the keys of a memory in a keyring, or none.
pub(in crate::store) fn keys_left(keyring: &Keyring, id: MemoryId) -> Result<Vec<SealKey>> {
    match keyring.memory_keys(id) {
        Err(Error::MissingKey { .. }) => Ok(Vec::new()),
        found => found,
    }
}

/// Tells whether a record names any of these memories, and returns the first whose path it shows.
pub(in crate::store) fn named_in(
    event: &Event,
    memories: &HashSet<MemoryId>,
) -> (bool, Option<MemoryId>) {
    let places = event.path.iter().chain(&event.new_path);
    let places = places.filter_map(|place| match place {
        PathRef::Of(id, path) => Some((*id, path.is_some())),
        _ => None,
    });
    let touches = event.memories.iter();
    let touches = touches.map(|touch| (touch.id, touch.path.is_some()));
    let (mut named, mut shown) = (false, None);
    for (id, is_shown) in places.chain(touches) {
        if memories.contains(&id) {
            named = true;
            shown = shown.or(is_shown.then_some(id));
        }
    }
    (named, shown)
}

fn still_readable(id: MemoryId, why: &str) -> Error {
    Error::damaged(
        format!("the erasure of the memory {id}"),
        format!("{why}; nothing was recorded"),
    )
}

// Finishes pending erasures: memories that a process without keys marked, and keys of erased
// memories that an older copy of the keyring brought back. The next use of the store by a process
// that may do so destroys those keys.

/// The reason in the record.
const REASON: &str = "completes what was begun: the keys of memories marked for erasure, or those \
                      of erased memories that an older keyring had brought back";

/// Finishes pending erasures, if this process may. Until that is done, keys that an older keyring
/// brought back are not used. Requires the store's lock, before anything is read. Returns the event
/// and the number of memories, if there were any.
pub(in crate::store) fn finish_pending_erasures(store: &mut Store) -> Result<Option<(u64, usize)>> {
    let erased = store.state.catalog.erased;
    let is_old = erased.is_some_and(|numbers| store.ledger.keyring.is_before(numbers));
    if store.state.catalog.marked.is_empty() && !is_old {
        return Ok(None);
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
        let (keyring, in_ring) = (&mut store.ledger.keyring, with_history.iter().copied());
        keyring.exclude_erased(after.keys().copied(), in_ring);
    }
    let shut: HashSet<MemoryId> = after.keys().copied().collect();
    if may_finish_erasures(store).is_err() {
        return forget_paths(store, &shut).map(|()| None);
    }
    for (id, event) in &store.state.catalog.marked {
        let is_gone = store.state.catalog.memory(*id).is_none();
        if is_gone && hold_ever_on(&store.state, *id, None).is_none() {
            after.insert(*id, *event);
        }
    }
    if after.is_empty() && !is_old {
        return Ok(None);
    }
    let count = after.len();
    let mut ids: Vec<MemoryId> = after.keys().copied().collect();
    ids.sort();
    let touch =
        |id: &MemoryId| erased_change(*id, None, last_sizes(&store.state, *id), Change::Erase);
    let erasing = ErasurePlan {
        touches: ids.iter().map(touch).collect(),
        gone: ids.into_iter().collect(),
        with_history,
        after,
        ..ErasurePlan::default()
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
    done.map(|done| Some((done.0.event, count)))
}

/// Checks that this process may finish an erasure. A role that may not begin one may still suffice.
fn may_finish_erasures(store: &Store) -> Result<()> {
    require_reader(&store.ledger)?;
    check_one_keyring(store)?;
    let (_, signer) = signer_now(store)?;
    if command::may_complete(signer.role()) {
        return Ok(());
    }
    may_sign_now(store, ERASE_COMMAND)
}

/// Finds memories whose history was erased after this keyring was made. Its keys of them open that
/// history, and no version since.
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

/// Drops the paths of memories from the loaded timeline when their keys are treated as destroyed:
/// it was read with those keys.
fn forget_paths(store: &mut Store, memories: &HashSet<MemoryId>) -> Result<()> {
    if memories.is_empty() {
        return Ok(());
    }
    load_timeline(store)?;
    let commits = commits_of(&store.state, &timeline(&store.state).naming(memories));
    let (ledger, timeline) = (&mut store.ledger, &mut store.state.timeline);
    check_all(&ledger.root, &ledger.keyring, &commits, |checked| {
        if let Some(timeline) = timeline {
            timeline.take_again(&checked.event);
        }
        Ok(())
    })?;
    // The timeline file was written with those keys, too.
    if let Some(timeline) = timeline {
        let key = ledger.keyring.cache_key();
        ledger.timeline_file.append(timeline, 0, key);
    }
    Ok(())
}
