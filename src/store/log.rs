//! Reads the audit log: events newest first, one at a time, so that history of any length fits in
//! memory.

use std::collections::HashSet;

use chrono::{DateTime, Utc};

use crate::crypto::sign::{SignedBy, SignerEntry as Signer};
use crate::error::{Error, Result};
use crate::event::{Change, Event, HoldChange, HoldOn, Moment, Outcome, PathRef};
use crate::id::{MemoryId, ObjectId, StoreId};
use crate::memory_tool::path::{MemoryPath, PathFault};
use crate::repository::object::Commit;
use crate::state::timeline::VersionChange;
use crate::store::history::ConfigDiff;
use crate::store::history::diff::config_diff;
use crate::store::signers::signers_before;
use crate::store::timeline::{moment_of, timeline, with_lock, with_timeline};
use crate::store::{State, Store};

/// An event in history.
#[derive(Debug)]
#[non_exhaustive]
pub struct Entry {
    /// Its commit.
    pub commit: ObjectId,
    /// The name of the commit's signer; `None` if no signer of the store at that time signed it.
    pub signer: Option<String>,
    /// Its record.
    pub event: Event,
    /// Its change of the policy, the recipients or the signers; `None` also if one of the two texts
    /// cannot be read.
    pub config: Option<ConfigDiff>,
    /// What the hold that it lifts was on; `None` also if that event cannot be read, or is further
    /// back than is looked for.
    pub lifted: Option<HoldOn>,
}

/// A filter for events: those that meet every condition that is set.
#[derive(Debug, Default, Clone, PartialEq)]
#[non_exhaustive]
pub struct Filter {
    /// The event is about a memory that was ever at this path or below it, or asked for such a
    /// path.
    pub path: Option<MemoryPath>,
    /// The event touched this memory.
    pub memory: Option<MemoryId>,
    /// The event is by this actor, as the caller said.
    pub actor: Option<String>,
    /// The event is of this session.
    pub session: Option<String>,
    /// The event is of this command.
    pub command: Option<String>,
    /// The event has this outcome.
    pub outcome: Option<Outcome>,
    /// The event is from this time or later.
    pub since: Option<DateTime<Utc>>,
    /// The event is from before this time.
    pub until: Option<DateTime<Utc>>,
    /// The event wrote a version or removed a memory.
    pub altering: bool,
    /// The event has a lower number than this: for the next page of a long list.
    pub before: Option<u64>,
}

/// Most commits that are read to find the hold that an event lifts: a fraction of a second.
const LIFT_STEPS_MAX: u64 = 10_000;

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
        config: config_diff(&store.ledger, &event, id).ok().flatten(),
        lifted: lifted_by(store, &event, commit.parent),
        event,
    };
    Ok((entry, commit.parent))
}

/// Returns what the hold that an event lifts was on. Without the timeline it is only looked for
/// nearby.
fn lifted_by(store: &Store, event: &Event, parent: Option<ObjectId>) -> Option<HoldOn> {
    let Some(HoldChange::Lift(hold)) = event.hold else {
        return None;
    };
    let known = store.state.timeline.as_ref();
    let commit = if let Some(moment) = known.and_then(|timeline| timeline.moment(hold)) {
        moment.commit
    } else {
        let between = event.number.checked_sub(hold)?.checked_sub(1)?;
        if between > LIFT_STEPS_MAX {
            return None;
        }
        let repository = &store.ledger.repository;
        (0..between).try_fold(parent?, |at, _| repository.peek_parent(at).ok().flatten())?
    };
    let (commit, _) = store.ledger.repository.commit(commit).ok()?;
    let added = Event::from_message(&commit.message, &store.ledger.keyring).ok()?;
    match added.hold {
        Some(HoldChange::Add(on)) if added.number == hold => Some(on),
        _ => None,
    }
}

/// Returns the name of the commit's signer, if it was one of those before the commit.
fn signer_of(store: &Store, commit: &Commit) -> Result<Option<String>> {
    let Some(signed) = SignedBy::check(&commit.signed_bytes, &commit.signature) else {
        return Ok(None);
    };
    // Most are still signers, under the same name.
    let author = commit.author.split(' ').next();
    let name = store.state.config.signers.holder(&signed).map(Signer::name);
    if name.is_some() && name == author {
        return Ok(name.map(str::to_owned));
    }
    let then = signers_before(&store.ledger, commit)?;
    Ok(then.holder(&signed).map(|signer| signer.name().to_owned()))
}

/// See [`Store::parse_path`].
pub(super) fn parse_path(state: &State, text: &str) -> Result<MemoryPath> {
    MemoryPath::parse_kept(text, state.config.policy.limits.path_bytes).map_err(|fault| match fault
    {
        PathFault::Outside | PathFault::Escapes => Error::DeniedPath {
            why: "it is not /memories or below it",
        },
        PathFault::Forbidden(_) => Error::DeniedPath {
            why: "it holds a character that no path may",
        },
        PathFault::TooLong(why) => Error::invalid("the path", why),
    })
}

// Events by filter, and accesses to a memory.

/// See [`Store::events`].
pub(super) fn events<'a>(
    store: &'a mut Store,
    filter: &Filter,
) -> Result<impl Iterator<Item = Result<Entry>> + 'a> {
    let numbers = with_timeline(store, |store| Ok(numbers(&store.state, filter)))?;
    Ok(entries(store, numbers))
}

/// See [`Store::accesses`].
pub(super) fn accesses<'a>(
    store: &'a mut Store,
    filter: &Filter,
) -> Result<impl Iterator<Item = Result<Entry>> + 'a> {
    let numbers = with_timeline(store, |store| {
        let timeline = timeline(&store.state);
        let memories = filter.memories(&store.state);
        let is_wanted = |id| memories.as_ref().is_none_or(|all| all.contains(&id));
        let mut numbers = numbers(&store.state, filter);
        numbers.retain(|event| {
            let reads = |change| matches!(change, Change::Read | Change::Look);
            let mut parts = timeline.parts_of(*event).into_iter();
            parts.any(|part| reads(part.change) && is_wanted(part.of.id))
        });
        Ok(numbers)
    })?;
    Ok(entries(store, numbers))
}

impl Filter {
    /// Returns the memories that it selects; `None` if it selects none in particular. The timeline
    /// must be loaded.
    pub(in crate::store) fn memories(&self, state: &State) -> Option<HashSet<MemoryId>> {
        let by_path = self
            .path
            .as_ref()
            .map(|path| timeline(state).ever_within(path));
        match (by_path, self.memory) {
            (Some(mut memories), Some(id)) => {
                memories.retain(|found| *found == id);
                Some(memories)
            }
            (by_path, id) => by_path.or_else(|| id.map(|id| HashSet::from([id]))),
        }
    }
}

fn entries(store: &Store, numbers: Vec<u64>) -> impl Iterator<Item = Result<Entry>> + '_ {
    let newest_first = numbers.into_iter().rev();
    newest_first.map(|number| {
        let moment = moment_of(&store.state, number);
        Ok(entry(store, moment.commit)?.0)
    })
}

/// Returns the numbers of the events that meet a filter, oldest first.
pub(in crate::store) fn numbers(state: &State, filter: &Filter) -> Vec<u64> {
    let timeline = timeline(state);
    let mut numbers = match (&filter.path, filter.memory) {
        (Some(path), _) => timeline.about(path),
        (None, Some(id)) => timeline.about_memory(id),
        (None, None) => (0..timeline.len()).collect(),
    };
    if let (Some(_), Some(id)) = (&filter.path, filter.memory) {
        let touched = timeline.about_memory(id);
        numbers.retain(|event| touched.binary_search(event).is_ok());
    }
    numbers.retain(|event| filter.before.is_none_or(|before| *event < before));
    let alters = |part: &VersionChange| part.change.alters();
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

// Changes since an event, for MCP notifications. Not recorded: they show nothing that the client
// did not name itself.

/// Changes since an event.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct ChangeSet {
    /// The number of events by now.
    pub events: u64,
    /// True if a memory was added, removed or moved.
    pub list: bool,
    /// The paths whose text has changed, or is gone.
    pub paths: HashSet<MemoryPath>,
    /// True if there were more events than were looked at, so that anything may have changed.
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

/// See [`Store::changes_since`].
pub(super) fn changes_since(store: &mut Store, since: u64, events_max: u64) -> Result<ChangeSet> {
    with_lock(store, |store| {
        let mut news = ChangeSet {
            events: store.state.catalog.events,
            ..ChangeSet::default()
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

impl ChangeSet {
    fn add(&mut self, event: &Event) {
        let altered = event.memories.iter().filter(|touch| touch.change.alters());
        for touch in altered {
            let same_list = [Change::Edit, Change::Reseal, Change::Redact];
            self.list |= !same_list.contains(&touch.change);
            let Some(path) = &touch.path else {
                // The path of a memory that has since been erased is unknown.
                self.more = true;
                continue;
            };
            // The earlier path is only known of a rename.
            self.more |= touch.change == Change::Move && moved_from(event, path).is_none();
            self.paths.extend(moved_from(event, path));
            // A resealed memory has the same text.
            if touch.change != Change::Reseal {
                self.paths.insert(path.clone());
            }
        }
    }
}

/// Returns the earlier path of a memory that a rename moved to a path.
fn moved_from(event: &Event, path: &MemoryPath) -> Option<MemoryPath> {
    let (Some(PathRef::Of(_, Some(from))), Some(PathRef::Of(_, Some(to)))) =
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
