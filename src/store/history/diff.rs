//! Changes of an event, and differences between two moments.

use std::collections::HashSet;

use crate::Text;
use crate::diff::TextDiff;
use crate::error::{Error, Result};
use crate::event::{Context, Event, MemoryChange, Moment};
use crate::id::{MemoryId, ObjectId};
use crate::memory_tool::path::MemoryPath;
use crate::state::timeline::{Version, VersionChange};
use crate::store::history::read::{
    HistoryRead, is_hidden, look_change, path_ref_ever, record_history_read, resolve, side,
    text_then,
};
use crate::store::history::{
    ConfigDiff, Difference, EventDiff, MemoryDiff, RecordStatus, Recorded, VersionInfo,
};
use crate::store::log::{Entry, Filter, entry, numbers};
use crate::store::revision::Revision;
use crate::store::timeline::{moment_of, timeline, with_contents};
use crate::store::{Ledger, State, Store};

/// A memory before and after.
type Pair = (Option<Version>, Option<Version>);

/// See [`Store::show`].
pub(super) fn show(
    store: &mut Store,
    revision: &Revision,
    context: &Context,
) -> Result<Recorded<EventDiff>> {
    with_contents(store, |store| {
        let at = resolve(store, revision)?;
        let (changes, touches) = compare_all(store, &pairs_of(&store.state, at.event));
        let entry = entry_with_config(store, at.commit)?;
        let look = HistoryRead {
            command: "show",
            path: None,
            at: vec![at],
            touches,
        };
        let recorded = record_history_read(store, look, context)?;
        Ok(Recorded {
            found: EventDiff { entry, changes },
            recorded,
        })
    })
}

/// See [`Store::events_with_changes`].
pub(super) fn events_with_changes<'a>(
    store: &'a mut Store,
    filter: &Filter,
    limit: usize,
    context: &Context,
) -> Result<Recorded<impl Iterator<Item = Result<EventDiff>> + 'a>> {
    let (numbers, recorded) = with_contents(store, |store| {
        let is_shown = |event: &u64| {
            let pairs = pairs_of(&store.state, *event);
            pairs.is_empty() || pairs.iter().any(|pair| !hides(&store.state, pair, context))
        };
        let newest_first = numbers(&store.state, filter).into_iter().rev();
        let mut numbers: Vec<u64> = newest_first
            .filter(|event| !context.of_agent || is_shown(event))
            .take(limit)
            .collect();
        numbers.reverse();
        let look = HistoryRead {
            command: "log",
            path: match &filter.path {
                Some(path) => Some(path_ref_ever(store, path, u64::MAX)?),
                None => None,
            },
            at: Vec::new(),
            touches: newest_of(&store.state, &numbers),
        };
        // What agents ask is always recorded, because it counts against their limit.
        let recorded = if numbers.is_empty() && !context.of_agent {
            RecordStatus::NotNeeded
        } else {
            record_history_read(store, look, context)?
        };
        Ok((numbers, recorded))
    })?;
    let store = &*store;
    let looker = context.clone();
    let memories = filter.memories(&store.state);
    let found = numbers.into_iter().rev().map(move |number| {
        let moment = moment_of(&store.state, number);
        let mut pairs = pairs_of(&store.state, number);
        pairs.retain(|pair| !hides(&store.state, pair, &looker));
        pairs.retain(|(before, after)| {
            let either = after.as_ref().or(before.as_ref());
            let inside = |ids: &HashSet<MemoryId>| either.is_some_and(|v| ids.contains(&v.id));
            memories.as_ref().is_none_or(inside)
        });
        let (changes, _) = compare_all(store, &pairs);
        let entry = entry_with_config(store, moment.commit)?;
        Ok(EventDiff { entry, changes })
    });
    Ok(Recorded { found, recorded })
}

/// Reads an event whose change of the configuration has to be there.
pub(in crate::store) fn entry_with_config(store: &Store, commit: ObjectId) -> Result<Entry> {
    let (mut entry, _) = entry(store, commit)?;
    entry.config = config_diff(&store.ledger, &entry.event, commit)?;
    Ok(entry)
}

/// Compares the public file that an event replaced with the one before it.
pub(in crate::store) fn config_diff(
    ledger: &Ledger,
    event: &Event,
    commit: ObjectId,
) -> Result<Option<ConfigDiff>> {
    let Some(file) = event.decides() else {
        return Ok(None);
    };
    let repository = &ledger.repository;
    let (commit, _) = repository.commit(commit)?;
    let text_in = |tree: ObjectId| {
        let [blob] = repository.files_in(tree, [file.name()])?;
        let text = blob.map_or_else(|| Ok(String::new()), |blob| repository.public(blob))?;
        Ok::<Text, Error>(text.into())
    };
    let before = match commit.parent {
        Some(parent) => text_in(repository.commit(parent)?.0.tree)?,
        None => Text::from(""),
    };
    let diff = TextDiff::of(&before, &text_in(commit.tree)?);
    let file = file.name();
    Ok(Some(ConfigDiff { file, diff }))
}

/// See [`Store::diff`].
pub(super) fn diff(
    store: &mut Store,
    from: Option<&Revision>,
    to: Option<&Revision>,
    within: Option<&MemoryPath>,
    context: &Context,
) -> Result<Recorded<Difference>> {
    with_contents(store, |store| {
        let (from, to) = ends(store, from, to, within)?;
        let mut pairs = pairs_between(&store.state, from, to, within);
        pairs.retain(|pair| !hides(&store.state, pair, context));
        let (mut changes, touches) = compare_all(store, &pairs);
        // Between two moments, a new memory may also have been edited.
        let lived = |id| {
            from.is_some_and(|from| {
                timeline(&store.state)
                    .versions(id, from.event)
                    .next()
                    .is_some()
            })
        };
        for changed in changes.iter_mut().filter(|changed| changed.revived) {
            changed.revived = changed.after.as_ref().is_some_and(|side| lived(side.id));
        }
        // A memory that an undo brought back has a new version number but the same text.
        changes.retain(|changed| {
            let moved = || side_path(changed.before.as_ref()) != side_path(changed.after.as_ref());
            changed.diff.is_some() || changed.problem.is_some() || moved()
        });
        let look = HistoryRead {
            command: "diff",
            path: match within {
                Some(path) => Some(path_ref_ever(store, path, to.event)?),
                None => None,
            },
            at: from.into_iter().chain([to]).collect(),
            touches,
        };
        let recorded = record_history_read(store, look, context)?;
        Ok(Recorded {
            found: Difference { from, to, changes },
            recorded,
        })
    })
}

fn ends(
    store: &Store,
    from: Option<&Revision>,
    to: Option<&Revision>,
    within: Option<&MemoryPath>,
) -> Result<(Option<Moment>, Moment)> {
    let head = Revision::head();
    let Some(from) = from else {
        let to = moment_of_last_change(&store.state, within)?;
        let before = to.event.checked_sub(1);
        return Ok((
            before.and_then(|event| timeline(&store.state).moment(event)),
            to,
        ));
    };
    let (from, to) = (resolve(store, from)?, resolve(store, to.unwrap_or(&head))?);
    Ok((Some(from), to))
}

/// Returns the newest event that changed a memory within a path.
fn moment_of_last_change(state: &State, within: Option<&MemoryPath>) -> Result<Moment> {
    let timeline = timeline(state);
    let memories = within.map(|path| timeline.ever_within(path));
    let changed = |event: &u64| {
        let candidate = timeline.parts_of(*event).iter().any(|part| {
            part.change.alters()
                && memories
                    .as_ref()
                    .is_none_or(|ids| ids.contains(&part.of.id))
        });
        // Changes of a memory after it moved away are not changes within the path.
        let inside = |path: &MemoryPath| {
            let pairs = pairs_of(state, *event);
            let sides = pairs.iter().flat_map(|(before, after)| [before, after]);
            sides.flatten().any(|side| side.is_within(path))
        };
        candidate && within.is_none_or(inside)
    };
    let event = (0..timeline.len()).rev().find(changed);
    event
        .and_then(|event| timeline.moment(event))
        .ok_or_else(|| Error::NoRevision {
            revision: "the last change".into(),
            why: "no event has changed a memory there".into(),
        })
}

/// Returns the changes of an event, one pair for each memory.
fn pairs_of(state: &State, event: u64) -> Vec<Pair> {
    let timeline = timeline(state);
    let parts = timeline.parts_of(event).into_iter();
    let before = event.checked_sub(1);
    parts
        .filter(|part| part.change.alters())
        .map(|VersionChange { change, of }| {
            let before = before.and_then(|before| timeline.version_at(of.id, before));
            (before, change.writes().then_some(of))
        })
        .collect()
}

fn pairs_between(
    state: &State,
    from: Option<Moment>,
    to: Moment,
    within: Option<&MemoryPath>,
) -> Vec<Pair> {
    let timeline = timeline(state);
    let mut before = from.map_or_else(Default::default, |from| timeline.state(from.event));
    let after = timeline.state(to.event);
    let mut pairs: Vec<Pair> = after
        .into_iter()
        .map(|(id, after)| (before.remove(&id), Some(after)))
        .collect();
    pairs.extend(before.into_values().map(|before| (Some(before), None)));
    pairs.retain(|(before, after)| {
        let version = |side: &Option<Version>| side.as_ref().map(|side| side.version);
        version(before) != version(after)
            && within.is_none_or(|path| {
                let mut sides = before.iter().chain(after);
                sides.any(|side| side.is_within(path))
            })
    });
    pairs.sort_by_cached_key(sort_key);
    pairs
}

/// Opens and compares the texts of pairs. Also returns the touches for the look's record.
fn compare_all(store: &Store, pairs: &[Pair]) -> (Vec<MemoryDiff>, Vec<MemoryChange>) {
    let changes = pairs.iter().map(|pair| compare(store, pair)).collect();
    let sides = pairs.iter().flat_map(|(before, after)| [before, after]);
    // Nothing of an erased version was seen.
    let seen = sides.flatten().filter(|side| side.path.is_some());
    (changes, seen.map(look_change).collect())
}

fn hides(state: &State, (before, after): &Pair, context: &Context) -> bool {
    let either = after.as_ref().or(before.as_ref());
    either.is_some_and(|version| is_hidden(state, version.id, context))
}

fn compare(store: &Store, (before, after): &Pair) -> MemoryDiff {
    let text = |version: &Option<Version>| match version {
        Some(version) => text_then(store, version),
        None => Ok(Text::from("")),
    };
    let texts = text(before).and_then(|before| Ok((before, text(after)?)));
    let (diff, problem) = match texts {
        Ok((before, after)) if before == after => (None, None),
        Ok((before, after)) => (Some(TextDiff::of(&before, &after)), None),
        Err(error) => (None, Some(error.to_string())),
    };
    MemoryDiff {
        before: before.as_ref().map(side),
        after: after.as_ref().map(side),
        diff,
        problem,
        // An event that creates a memory writes version 1; one that restores it writes a later
        // version.
        revived: before.is_none() && after.as_ref().is_some_and(|after| after.version > 1),
    }
}

/// Returns the newest version of every memory that the given events changed.
fn newest_of(state: &State, numbers: &[u64]) -> Vec<MemoryChange> {
    let mut seen: HashSet<MemoryId> = HashSet::new();
    let newest_first = numbers
        .iter()
        .rev()
        .flat_map(|event| pairs_of(state, *event));
    newest_first
        .filter_map(|(before, after)| after.or(before))
        .filter(|version| version.path.is_some() && seen.insert(version.id))
        .map(|version| look_change(&version))
        .collect()
}

fn side_path(side: Option<&VersionInfo>) -> Option<&MemoryPath> {
    side.and_then(|side| side.path.as_ref())
}

/// Sorts by the later path, so that a diff has the order of a listing.
fn sort_key((before, after): &Pair) -> Option<String> {
    let version = after.as_ref().or(before.as_ref())?;
    version.path.as_ref().map(|path| path.as_str().to_owned())
}
