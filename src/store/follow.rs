//! The log oldest first, from any event on, and whether more was recorded since: for programs that
//! collect events.
//!
//! Numbers of events are the cursor. History is append-only, and every refresh checks that it still
//! contains the newest moment that this process has seen: so what is after a number is the same at
//! every reading, and an older copy in the place of the store is an error.

use crate::error::{Error, Result};
use crate::event::Moment;
use crate::id::ObjectId;
use crate::store::Store;
use crate::store::log::{Entry, Filter, entry, numbers};
use crate::store::recovery::commits_since;
use crate::store::timeline::{timeline, with_lock, with_timeline};

/// See [`Store::parse_cursor`].
pub(super) fn parse_cursor(store: &mut Store, text: &str) -> Result<u64> {
    with_lock(store, |_| Ok(()))?;
    let newest = newest(store);
    let found = if let Some(commit) = ObjectId::from_hex(text) {
        let later = commits_since(&store.ledger, Some(commit))?;
        later.and_then(|later| newest.checked_sub(later.len() as u64))
    } else {
        let number: u64 = number(text).ok_or_else(|| {
            Error::invalid(
                "the cursor",
                "it is an event number, or a commit of 40 hexadecimal digits",
            )
        })?;
        (number <= newest).then_some(number)
    };
    let cursor = text.to_owned();
    found.ok_or(Error::CursorLost { cursor, newest })
}

/// Parses a number of digits only.
fn number(text: &str) -> Option<u64> {
    let is_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_digits)
}

fn newest(store: &Store) -> u64 {
    store.state.catalog.events.saturating_sub(1)
}

/// See [`Store::events_after`].
pub(super) fn events_after<'a>(
    store: &'a mut Store,
    after: Option<u64>,
    filter: &Filter,
) -> Result<impl Iterator<Item = Result<Entry>> + 'a> {
    let first = after.map_or(0, |after| after.saturating_add(1));
    let (mut all, mut some) = (Vec::new(), Vec::new());
    if *filter == Filter::default() {
        with_lock(store, |_| Ok(()))?;
        // Nothing up to the newest commit known here changes any more, so the lock is free again.
        all = commits_from(store, first)?;
    } else {
        with_timeline(store, |store| {
            some = numbers(&store.state, filter);
            some.retain(|number| *number >= first);
            Ok(())
        })?;
    }
    let store = &*store;
    let moment = |event| timeline(&store.state).moment(event);
    let some = some.into_iter().filter_map(moment);
    let all = (first..).zip(all);
    let all = all.map(|(event, commit)| Moment { event, commit });
    Ok(all.chain(some).map(|moment| open(store, moment)))
}

/// Finds the commits of all events from a number on, oldest first.
fn commits_from(store: &Store, first: u64) -> Result<Vec<ObjectId>> {
    let repository = &store.ledger.repository;
    let count = store.state.catalog.events.saturating_sub(first);
    let mut commits = Vec::new();
    let mut next = Some(store.ledger.journal.head());
    for _ in 0..count {
        let id = next.ok_or_else(|| Error::damaged("history", "it begins too late"))?;
        commits.push(id);
        next = match repository.peek_parent(id) {
            Ok(parent) => parent,
            Err(_) => repository.commit(id)?.0.parent,
        };
    }
    commits.reverse();
    Ok(commits)
}

/// Opens the event of a moment. Its hash is checked, and so its number is that of the moment.
fn open(store: &Store, moment: Moment) -> Result<Entry> {
    let (entry, _) = entry(store, moment.commit)?;
    if entry.event.number != moment.event {
        let what = format!("commit {}", moment.commit);
        return Err(Error::damaged(what, "its event number is not the next"));
    }
    Ok(entry)
}

/// See [`Store::has_news`].
pub(super) fn has_changed(store: &Store) -> bool {
    let (journal, root) = (&store.ledger.journal, &store.ledger.root);
    // Only `git fetch` brings events to a store without a journal.
    let is_fetched = || {
        let head = store.ledger.repository.head();
        journal.is_absent() && head.is_ok_and(|head| head != Some(journal.head()))
    };
    journal.has_changed() || is_fetched() || !root.is_at_its_path()
}
