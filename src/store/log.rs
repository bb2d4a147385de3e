//! Reading the audit log: events newest first, one at a time, so that history of any length fits.

use std::collections::HashSet;

use chrono::{DateTime, Utc};

use crate::crypto::sign::{Entry as Signer, SignedBy};
use crate::error::{Error, Result};
use crate::event::{Change, Event, Moment, Outcome, Place};
use crate::id::{ObjectId, StoreId};
use crate::memory_tool::path::{MemoryPath, PathFault};
use crate::repository::object::Commit;
use crate::state::timeline::Part;
use crate::store::past::{in_history, locked, timeline};
use crate::store::signers::signers_before;
use crate::store::{State, Store};

/// One event as history keeps it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Entry {
    /// Its commit.
    pub commit: ObjectId,
    /// Who signed the commit; `None` if nobody did who was a signer of the store then.
    pub signer: Option<String>,
    /// Its record.
    pub event: Event,
}

/// Which events to show: those that meet every condition that is set.
#[derive(Debug, Default, Clone)]
#[non_exhaustive]
pub struct Filter {
    /// Is about a memory that was ever at this path or below it, or asks for such a path.
    pub path: Option<MemoryPath>,
    /// Was done by this actor.
    pub actor: Option<String>,
    /// Belongs to this session.
    pub session: Option<String>,
    /// Is this command.
    pub command: Option<String>,
    /// Ended like this.
    pub outcome: Option<Outcome>,
    /// Happened then or later.
    pub since: Option<DateTime<Utc>>,
    /// Happened before then.
    pub until: Option<DateTime<Utc>>,
    /// Changed what there is: made a version, or removed a memory.
    pub altering: bool,
}

/// See [`Store::log`].
pub(super) fn log(store: &Store) -> impl Iterator<Item = Result<Entry>> + '_ {
    let mut next = Some(store.ledger.journal.head());
    std::iter::from_fn(move || {
        let id = next.take()?;
        Some(entry(store, id).map(|(entry, parent)| {
            next = parent;
            entry
        }))
    })
}

pub(crate) fn entry(store: &Store, id: ObjectId) -> Result<(Entry, Option<ObjectId>)> {
    let (commit, _) = store.ledger.repository.commit(id)?;
    let event = Event::from_message(&commit.message, &store.ledger.keyring)
        .map_err(|fault| fault.of(id))?;
    let entry = Entry {
        commit: id,
        signer: signer_of(store, &commit)?,
        event,
    };
    Ok((entry, commit.parent))
}

/// The name of the signer who signed a commit, if one did: of those there were before it.
fn signer_of(store: &Store, commit: &Commit) -> Result<Option<String>> {
    let Some(signed) = SignedBy::check(&commit.signed_bytes, &commit.signature) else {
        return Ok(None);
    };
    // Most are signers still, under the name they had.
    let author = commit.author.split(' ').next();
    let name = store
        .state
        .decisions
        .signers
        .holder(&signed)
        .map(Signer::name);
    if name.is_some() && name == author {
        return Ok(name.map(str::to_owned));
    }
    let then = signers_before(&store.ledger, commit)?;
    Ok(then.holder(&signed).map(|signer| signer.name().to_owned()))
}

/// See [`Store::parse_path`].
pub(super) fn parse_path(state: &State, text: &str) -> Result<MemoryPath> {
    MemoryPath::parse_kept(text, state.decisions.policy.limits.path_bytes).map_err(|fault| {
        match fault {
            PathFault::Outside | PathFault::Escapes => Error::DeniedPath {
                why: "it is not /memories or below it",
            },
            PathFault::Forbidden(_) => Error::DeniedPath {
                why: "it holds a character that no path may",
            },
            PathFault::TooLong(why) => Error::Invalid {
                what: "the path",
                why,
            },
        }
    })
}

// Which events are about something, and who read a memory.

/// See [`Store::events`].
pub(super) fn events<'a>(
    store: &'a mut Store,
    filter: &Filter,
) -> Result<impl Iterator<Item = Result<Entry>> + 'a> {
    let numbers = in_history(store, |store| Ok(numbers(&store.state, filter)))?;
    Ok(entries(store, numbers))
}

/// See [`Store::accesses`].
pub(super) fn accesses<'a>(
    store: &'a mut Store,
    path: &MemoryPath,
) -> Result<impl Iterator<Item = Result<Entry>> + 'a> {
    let numbers = in_history(store, |store| {
        let timeline = timeline(&store.state);
        let memories = timeline.ever_within(path);
        let mut numbers = timeline.about(path);
        numbers.retain(|event| {
            let reads = |change| matches!(change, Change::Read | Change::Look);
            let mut parts = timeline.parts_of(*event).into_iter();
            parts.any(|part| reads(part.change) && memories.contains(&part.of.id))
        });
        Ok(numbers)
    })?;
    Ok(entries(store, numbers))
}

fn entries(store: &Store, numbers: Vec<u64>) -> impl Iterator<Item = Result<Entry>> + '_ {
    let newest_first = numbers.into_iter().rev();
    newest_first.map(|number| {
        let moment = timeline(&store.state)
            .moment(number)
            .expect("an event of the timeline");
        Ok(entry(store, moment.commit)?.0)
    })
}

/// The numbers of the events that meet a filter, oldest first.
pub(in crate::store) fn numbers(state: &State, filter: &Filter) -> Vec<u64> {
    let timeline = timeline(state);
    let mut numbers = match &filter.path {
        Some(path) => timeline.about(path),
        None => (0..timeline.len()).collect(),
    };
    let alters = |part: &Part| part.change.alters();
    numbers.retain(|event| {
        let (actor, session) = timeline.who(*event).expect("an event of the timeline");
        let (command, outcome) = timeline.command(*event).expect("an event of the timeline");
        let time = timeline.time(*event).expect("an event of the timeline");
        let is = |want: &Option<String>, found: Option<&str>| {
            want.as_deref().is_none_or(|want| found == Some(want))
        };
        is(&filter.actor, actor)
            && is(&filter.session, session)
            && is(&filter.command, Some(command))
            && filter.outcome.is_none_or(|want| want == outcome)
            && filter.since.is_none_or(|since| time >= since)
            && filter.until.is_none_or(|until| time < until)
            && (!filter.altering || timeline.parts_of(*event).iter().any(alters))
    });
    numbers
}

// What has changed since a moment, for a door that tells its client so. It is not recorded: nothing is
// shown that the client did not name itself.

/// What has changed since a moment.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct News {
    /// How many events there are by now.
    pub events: u64,
    /// Whether a memory came, went or moved.
    pub list: bool,
    /// Where a text is another than it was, also where there is none any more.
    pub paths: HashSet<MemoryPath>,
    /// Whether more happened than was looked at, so that anything may have changed.
    pub more: bool,
}

/// See [`Store::last_seen`].
pub(super) fn last_seen(store: &Store) -> (StoreId, Moment) {
    let moment = Moment {
        event: store.state.catalog.events.saturating_sub(1),
        commit: store.ledger.journal.head(),
    };
    (store.state.id, moment)
}

/// See [`Store::count_events`].
pub(super) fn count_events(store: &mut Store) -> Result<u64> {
    locked(store, |store| Ok(store.state.catalog.events))
}

/// See [`Store::news`].
pub(super) fn news(store: &mut Store, since: u64, events_max: u64) -> Result<News> {
    locked(store, |store| {
        let mut news = News {
            events: store.state.catalog.events,
            ..News::default()
        };
        let first = news.events.saturating_sub(events_max).max(since);
        news.more = first > since;
        if first == news.events {
            return Ok(news);
        }
        for entry in log(store) {
            let event = entry?.event;
            if event.number < first {
                break;
            }
            news.add(&event);
            if event.number == 0 {
                break;
            }
        }
        Ok(news)
    })
}

impl News {
    fn add(&mut self, event: &Event) {
        let altered = event.memories.iter().filter(|touch| touch.change.alters());
        for touch in altered {
            let same_list = [Change::Edit, Change::Reseal, Change::Redact];
            self.list |= !same_list.contains(&touch.change);
            let Some(path) = &touch.path else {
                // Of what is erased by now nobody can say where it was.
                self.more = true;
                continue;
            };
            // Where it was before is only known of a rename.
            self.more |= touch.change == Change::Move && moved_from(event, path).is_none();
            self.paths.extend(moved_from(event, path));
            // The same text, sealed anew.
            if touch.change != Change::Reseal {
                self.paths.insert(path.clone());
            }
        }
    }
}

/// Where a memory was that a rename moved to a path.
fn moved_from(event: &Event, path: &MemoryPath) -> Option<MemoryPath> {
    let (Some(Place::Of(_, Some(from))), Some(Place::Of(_, Some(to)))) =
        (&event.path, &event.new_path)
    else {
        return None;
    };
    let rest = path.as_str().strip_prefix(to.as_str())?;
    Some(MemoryPath::from_canonical(format!(
        "{}{rest}",
        from.as_str()
    )))
}
