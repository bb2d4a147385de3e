//! The lock and the timeline: how a verb gets the newest state, and all events where it needs them.

use crate::error::{Error, Result};
use crate::event::{Event, Moment};
use crate::id::ObjectId;
use crate::memory_tool::path::MemoryPath;
use crate::state::timeline::Timeline;
use crate::state::timeline::file::TimelineQuery;
use crate::store::config::require_reader;
use crate::store::log::entry;
use crate::store::recovery::replay::{CheckedCommit, check_catalog};
use crate::store::recovery::{check_all, commits_since, refresh};
use crate::store::revision::{DIGITS_MIN, Revision, RevisionKind};
use crate::store::{State, Store, at_one_time, lock};

/// Runs `act` on the refreshed state, with the lock held.
pub(super) fn with_lock<T>(
    store: &mut Store,
    act: impl FnOnce(&mut Store) -> Result<T>,
) -> Result<T> {
    let lock = lock(&mut store.ledger)?;
    refresh(store)?;
    // Keys may have been destroyed since the store was opened.
    store.state.opened.replace(None);
    let done = at_one_time(store, act);
    check_catalog(store)?;
    drop(lock);
    done
}

/// Runs `act` as [`with_lock`] does, with the timeline loaded.
pub(super) fn with_timeline<T>(
    store: &mut Store,
    act: impl FnOnce(&mut Store) -> Result<T>,
) -> Result<T> {
    with_lock(store, |store| {
        load_timeline(store)?;
        act(store)
    })
}

/// Runs `act` as [`with_timeline`] does, for commands that show contents. Auditors are refused.
pub(super) fn with_contents<T>(
    store: &mut Store,
    act: impl FnOnce(&mut Store) -> Result<T>,
) -> Result<T> {
    require_reader(&store.ledger)?;
    with_timeline(store, act)
}

/// Loads the timeline up to the newest event: first from its file, then the rest from history.
pub(super) fn load_timeline(store: &mut Store) -> Result<()> {
    let head = Some(store.ledger.journal.head());
    let is_known = |known: &Timeline| known.is_whole() && known.head() == head;
    if store.state.timeline.as_ref().is_some_and(is_known) {
        return Ok(());
    }
    if extend_timeline(store)? {
        return Ok(());
    }
    let ledger = &mut store.ledger;
    let mut timeline = ledger.timeline_file.load(ledger.keyring.cache_key());
    let missing = if let Some(missing) = commits_since(ledger, timeline.head())? {
        missing
    } else {
        timeline = Timeline::default();
        commits_since(ledger, None)?.unwrap_or_default()
    };
    let from = timeline.len();
    check_all(&ledger.root, &ledger.keyring, &missing, |checked| {
        push(&mut timeline, &checked)
    })?;
    let key = ledger.keyring.cache_key();
    if ledger.timeline_file.wants_joining() {
        ledger.timeline_file.append(&timeline, 0, key);
    } else if timeline.len() > from {
        ledger.timeline_file.append(&timeline, from, key);
    }
    store.state.timeline = Some(timeline);
    Ok(())
}

/// Adds what is new to the timeline in memory. Returns false if it has to be loaded anew: there is
/// none, or keys were destroyed since, and it may hold paths that are erased.
fn extend_timeline(store: &mut Store) -> Result<bool> {
    let known = store.state.timeline.take();
    let Some(mut timeline) = known.filter(Timeline::is_whole) else {
        return Ok(false);
    };
    let ledger = &store.ledger;
    let Some(missing) = commits_since(ledger, timeline.head())? else {
        return Ok(false);
    };
    let mut keys_changed = false;
    check_all(&ledger.root, &ledger.keyring, &missing, |checked| {
        keys_changed |= checked.event.may_change_keys();
        push(&mut timeline, &checked)
    })?;
    if !keys_changed {
        store.state.timeline = Some(timeline);
    }
    Ok(!keys_changed)
}

/// Adds a commit that was checked to a timeline.
fn push(timeline: &mut Timeline, checked: &CheckedCommit) -> Result<()> {
    checked.comes_after(timeline.head())?;
    if checked.event.number != timeline.len() {
        let what = format!("commit {}", checked.id);
        return Err(Error::damaged(what, "its event number is not the next"));
    }
    timeline.push(&checked.event, checked.id, checked.signer());
    Ok(())
}

/// Loads only the part of the timeline around a moment, and returns true if that part has the
/// memory at the path. It usually does, as most memories were written shortly before.
pub(super) fn load_piece(store: &mut Store, path: &MemoryPath, revision: &Revision) -> bool {
    let Some(newest) = store.state.catalog.events.checked_sub(1) else {
        return false;
    };
    let (Some(sought), None) = (sought(store, revision, newest), &store.state.timeline) else {
        return false;
    };
    let ledger = &mut store.ledger;
    let (end, key) = ((newest, ledger.journal.head()), ledger.keyring.cache_key());
    let piece = ledger.timeline_file.load_around(sought, end, key);
    store.state.timeline = piece
        .filter(|(piece, event)| piece.at(path, *event).is_some())
        .map(|(piece, _)| piece);
    store.state.timeline.is_some()
}

/// Returns the search key for the timeline, if it can be determined without the whole timeline.
pub(super) fn sought(store: &Store, revision: &Revision, newest: u64) -> Option<TimelineQuery> {
    match revision.kind {
        RevisionKind::Head(back) => newest.checked_sub(back).map(TimelineQuery::Event),
        RevisionKind::Number(Some(number)) if number <= newest => {
            Some(TimelineQuery::Event(number))
        }
        RevisionKind::Number(_) | RevisionKind::Commit => {
            let digits = Some(revision.as_str()).filter(|text| text.len() >= DIGITS_MIN);
            let commit = store.ledger.repository.only_one_named(digits?)?;
            let event = entry(store, commit).ok()?.0.event.number;
            Some(TimelineQuery::Commit(event, commit))
        }
        RevisionKind::Time(time) => {
            let times = &store.state.catalog.times;
            times.part_at(time).then_some(TimelineQuery::Time(time))
        }
    }
}

/// Appends an event that was just recorded to the timeline and its file, unless they lag behind.
pub(super) fn follow_in_timeline(
    store: &mut Store,
    event: &Event,
    signer: &str,
    parent: ObjectId,
    commit: ObjectId,
) {
    let known = store.state.timeline.take();
    store.state.timeline = known
        .filter(|known| known.head() == Some(parent))
        .map(|mut known| {
            known.push(event, commit, signer);
            known
        });
    let ledger = &mut store.ledger;
    if ledger.timeline_file.is_next(event.number, parent) {
        let mut single = Timeline::default();
        single.push(event, commit, signer);
        let key = ledger.keyring.cache_key();
        ledger.timeline_file.append_one(&single, event.number, key);
    }
}

pub(super) fn timeline(state: &State) -> &Timeline {
    state.timeline.as_ref().expect("loaded by with_timeline")
}

/// Returns the moment right after an event that the timeline has.
pub(super) fn moment_of(state: &State, event: u64) -> Moment {
    let moment = timeline(state).moment(event);
    moment.expect("an event of the timeline")
}

/// Returns the newest moment of the timeline.
pub(super) fn newest_moment(state: &State) -> Moment {
    moment_of(state, timeline(state).len() - 1)
}
