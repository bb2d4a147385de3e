//! The targets of undos: of `revert`, which undoes the changes of some events and keeps later
//! changes by others; then of `restore` and `rollback`.

use std::collections::{HashMap, HashSet};

use crate::Text;
use crate::diff::merge;
use crate::error::{Error, Result};
use crate::event::Change;
use crate::id::MemoryId;
use crate::memory_tool::path::MemoryPath;
use crate::state::timeline::{Version, VersionChange};
use crate::store::history::read::{nameless, not_there, path_ref_ever, resolve, text_then};
use crate::store::log::{Filter, numbers};
use crate::store::revision::Revision;
use crate::store::timeline::timeline;
use crate::store::undo::{Conflict, DesiredState, Selection, UndoTarget, later_changes};
use crate::store::{State, Store};

/// One memory during a revert: its state once the newer events are undone.
struct RevertPath<'a> {
    store: &'a Store,
    /// All its changes, oldest first.
    life: Vec<VersionChange>,
    /// Its state; `None` while it does not exist.
    state: Option<MemoryState>,
    texts: HashMap<u64, Text>,
    /// The reason for a conflict, if any.
    conflict: Option<&'static str>,
}

#[derive(Clone)]
struct MemoryState {
    path: MemoryPath,
    text: Text,
    from: Option<u64>,
    merged: bool,
}

pub(super) fn revert_target(store: &Store, selection: &Selection) -> Result<UndoTarget> {
    let events = selected(store, selection)?;
    let timeline = timeline(&store.state);
    let mut memories: Vec<MemoryId> = Vec::new();
    let mut known = HashSet::new();
    let mut undone = Vec::new();
    for event in &events {
        let parts = timeline.parts_of(*event);
        // Re-encryption does not change a memory.
        let changed = parts
            .iter()
            .filter(|part| part.change.alters() && part.change != Change::Reseal);
        let ids: Vec<MemoryId> = changed.map(|part| part.of.id).collect();
        if !ids.is_empty() {
            undone.push(*event);
        }
        memories.extend(ids.into_iter().filter(|id| known.insert(*id)));
    }
    if undone.is_empty() {
        return Err(Error::NothingToUndo {
            selection: described(selection),
        });
    }
    let chosen: HashSet<u64> = undone.iter().copied().collect();
    let mut aim = UndoTarget {
        undone: runs(&undone),
        ..UndoTarget::default()
    };
    for id in memories {
        match reverted_state(store, id, &chosen) {
            Ok(Ok(wanted)) => drop(aim.wanted.insert(id, wanted)),
            Ok(Err(conflict)) => aim.conflicts.push(conflict),
            Err(error) if error.is_of_one_memory() => {
                let path = timeline
                    .life(id)
                    .iter()
                    .rev()
                    .find_map(|part| part.of.path.clone());
                aim.conflicts
                    .push(Conflict::alone(id, path, error.to_string()));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(aim)
}

/// Returns the events of a selection, oldest first.
fn selected(store: &Store, selection: &Selection) -> Result<Vec<u64>> {
    let filter = Filter {
        session: selection.session.clone(),
        actor: selection.actor.clone(),
        since: selection.since,
        ..Filter::default()
    };
    let mut events = numbers(&store.state, &filter);
    if let Some((first, last)) = &selection.range {
        let (first, last) = (resolve(store, first)?.event, resolve(store, last)?.event);
        if first > last {
            return Err(Error::invalid(
                "the range of events",
                format!("event {first} is after event {last}"),
            ));
        }
        events.retain(|event| (first..=last).contains(event));
    }
    Ok(events)
}

/// Determines the state of a memory after the chosen events are undone.
fn reverted_state(
    store: &Store,
    id: MemoryId,
    chosen: &HashSet<u64>,
) -> Result<Result<DesiredState, Conflict>> {
    let timeline = timeline(&store.state);
    let mut way = RevertPath {
        store,
        life: timeline.life(id),
        state: None,
        texts: HashMap::new(),
        conflict: None,
    };
    way.state = way.state_after(way.life.len())?;
    for at in (0..way.life.len()).rev() {
        if chosen.contains(&way.life[at].of.event) {
            way.undo(at, chosen)?;
        }
        if let Some(why) = way.conflict {
            let later = way.life[at + 1..].iter().rev().map(|part| part.of.event);
            let kept = later.filter(|event| !chosen.contains(event));
            return Ok(Err(Conflict {
                id,
                path: way.life.iter().rev().find_map(|part| part.of.path.clone()),
                why: why.to_owned(),
                on_top: later_changes(&store.state, kept),
            }));
        }
    }
    Ok(Ok(match way.state {
        None => DesiredState::Gone,
        Some(state) => DesiredState::There {
            path: state.path,
            text: state.text,
            from: state.from,
            merged: state.merged,
        },
    }))
}

impl RevertPath<'_> {
    /// Undoes a single change in the memory's life.
    fn undo(&mut self, at: usize, chosen: &HashSet<u64>) -> Result<()> {
        let later = &self.life[at + 1..];
        let touched_since = later.iter().any(|part| !chosen.contains(&part.of.event));
        match self.life[at].change {
            Change::Add | Change::Restore => {
                if touched_since && self.differs_from_after(at)? {
                    self.conflict =
                        Some("others have changed it since, and the undo would remove it");
                } else {
                    self.state = None;
                }
            }
            Change::Remove | Change::Expire => {
                // If somebody restored the memory or removed it again since, that change stands.
                if !touched_since {
                    self.state = self.state_after(at)?;
                }
            }
            _ => self.undo_write(at)?,
        }
        Ok(())
    }

    /// Tells whether removing the memory would lose later changes by others.
    fn differs_from_after(&mut self, at: usize) -> Result<bool> {
        let Some(now) = self.state.clone() else {
            return Ok(false);
        };
        let after = self.state_after(at + 1)?;
        Ok(after.is_none_or(|after| now.text != after.text || now.path != after.path))
    }

    fn undo_write(&mut self, at: usize) -> Result<()> {
        // Others have removed the memory since, so there is nothing to undo.
        let Some(now) = self.state.clone() else {
            return Ok(());
        };
        let (Some(before), Some(after)) = (self.state_after(at)?, self.state_after(at + 1)?) else {
            return Ok(());
        };
        let text = if now.text == after.text || before.text == after.text {
            let back = now.text == after.text;
            Ok((if back { &before.text } else { &now.text }).clone())
        } else {
            merge::merge(after.text.as_str(), now.text.as_str(), before.text.as_str())
                .map(Text::from)
        };
        let Ok(text) = text else {
            self.conflict = Some("others have changed the same lines since");
            return Ok(());
        };
        let path = if before.path == after.path || now.path == before.path {
            now.path
        } else if now.path == after.path {
            before.path.clone()
        } else {
            self.conflict = Some("others have moved it since");
            return Ok(());
        };
        let merged = now.merged || (text != before.text && text != now.text);
        self.state = Some(MemoryState {
            path,
            text,
            from: before.from,
            merged,
        });
        Ok(())
    }

    /// Returns the state of the memory after the first `parts` changes of its life.
    fn state_after(&mut self, parts: usize) -> Result<Option<MemoryState>> {
        let Some(VersionChange { change, of }) =
            parts.checked_sub(1).map(|at| self.life[at].clone())
        else {
            return Ok(None);
        };
        if change.removes() {
            return Ok(None);
        }
        let text = if let Some(text) = self.texts.get(&of.version) {
            text.clone()
        } else {
            let text = text_then(self.store, &of)?;
            self.texts.insert(of.version, text.clone());
            text
        };
        let path = of.path.ok_or_else(|| nameless(&self.store.state, of.id))?;
        Ok(Some(MemoryState {
            path,
            text,
            from: Some(of.version),
            merged: false,
        }))
    }
}

/// Combines sorted numbers into inclusive ranges.
pub(super) fn runs(numbers: &[u64]) -> Vec<(u64, u64)> {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, end)) if *end + 1 == *number => *end = *number,
            _ => runs.push((*number, *number)),
        }
    }
    runs
}

/// Describes a selection, for an error.
fn described(selection: &Selection) -> String {
    let mut words = Vec::new();
    if let Some((first, last)) = &selection.range {
        words.push(if first == last {
            first.as_str().to_owned()
        } else {
            format!("{}..{}", first.as_str(), last.as_str())
        });
    }
    let named = [("session", &selection.session), ("actor", &selection.actor)];
    for (name, value) in named {
        words.extend(value.as_ref().map(|value| format!("{name} {value}")));
    }
    if let Some(since) = selection.since {
        words.push(format!(
            "since {}",
            crate::store::history::read::seconds(since)
        ));
    }
    words.join(", ")
}

// The targets of `restore` and `rollback`: memories as they were at a moment.

/// Aims to restore a memory, or every memory of a directory, to its state at a moment.
///
/// It restores what `view --at` shows at the path. Only if nothing was there at that moment, it
/// restores the memory that is there now, from wherever it was then.
pub(super) fn restore_target(
    store: &Store,
    path: &MemoryPath,
    from: &Revision,
) -> Result<UndoTarget> {
    let at = resolve(store, from)?;
    let (timeline, newest) = (timeline(&store.state), timeline(&store.state).len() - 1);
    let mut aim = UndoTarget {
        at: Some(at),
        path: Some(path_ref_ever(store, path, newest)?),
        ..UndoTarget::default()
    };
    let now = timeline.at(path, newest);
    if let Some(then) = timeline.at(path, at.event) {
        let id = restored_as(&store.state, &then, now.as_ref());
        let id = id.map_err(|elsewhere| moved_away(path, &elsewhere))?;
        aim.wanted.insert(id, wanted_as(store, &then, path, id)?);
        return Ok(aim);
    }
    let same = now.and_then(|now| timeline.version_at(now.id, at.event));
    if let Some(then) = same {
        aim.wanted
            .insert(then.id, wanted_as(store, &then, path, then.id)?);
        return Ok(aim);
    }
    for then in timeline.state(at.event).into_values() {
        let Some(at_path) = then.path.clone().filter(|found| found.is_below(path)) else {
            continue;
        };
        let now = timeline.at(&at_path, newest);
        match restored_as(&store.state, &then, now.as_ref()) {
            Ok(id) => want_if_whole(store, &mut aim, &then, id)?,
            Err(elsewhere) => aim
                .conflicts
                .push(moved_conflict(&store.state, &then, &elsewhere)),
        }
    }
    if aim.wanted.is_empty() && aim.conflicts.is_empty() {
        return Err(not_there(path, at, timeline));
    }
    Ok(aim)
}

/// Returns the memory that gets the text that was at a path: the memory that is there now,
/// otherwise the one that was there then. If the latter has moved, returns its present path as an
/// error.
fn restored_as(
    state: &State,
    then: &Version,
    now: Option<&Version>,
) -> Result<MemoryId, MemoryPath> {
    if let Some(now) = now {
        return Ok(now.id);
    }
    let (timeline, newest) = (timeline(state), timeline(state).len() - 1);
    let elsewhere = timeline
        .version_at(then.id, newest)
        .and_then(|now| now.path);
    elsewhere.map_or(Ok(then.id), Err)
}

/// Returns the conflict of a memory in a directory that has moved since.
fn moved_conflict(state: &State, then: &Version, elsewhere: &MemoryPath) -> Conflict {
    let newest = timeline(state).versions(then.id, u64::MAX).next_back();
    Conflict {
        id: then.id,
        path: then.path.clone(),
        why: format!("it has moved to {}", elsewhere.as_str()),
        on_top: later_changes(state, newest.map(|version| version.event).into_iter()),
    }
}

fn wanted_as(
    store: &Store,
    then: &Version,
    path: &MemoryPath,
    id: MemoryId,
) -> Result<DesiredState> {
    Ok(DesiredState::There {
        path: path.clone(),
        text: text_then(store, then)?,
        from: (id == then.id).then_some(then.version),
        merged: false,
    })
}

/// Adds a memory to the target. If its version does not open, adds a conflict, so that the other
/// memories are not held up.
fn want_if_whole(store: &Store, aim: &mut UndoTarget, then: &Version, id: MemoryId) -> Result<()> {
    let path = then.path.clone();
    let path = path.ok_or_else(|| nameless(&store.state, then.id));
    match path.and_then(|path| wanted_as(store, then, &path, id)) {
        Ok(wanted) => drop(aim.wanted.insert(id, wanted)),
        Err(error) if error.is_of_one_memory() => {
            let conflict = Conflict::alone(id, then.path.clone(), error.to_string());
            aim.conflicts.push(conflict);
        }
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Aims to restore every memory to its state at a moment.
pub(super) fn rollback_target(store: &Store, to: &Revision) -> Result<UndoTarget> {
    let at = resolve(store, to)?;
    let (timeline, newest) = (timeline(&store.state), timeline(&store.state).len() - 1);
    let mut aim = UndoTarget {
        at: Some(at),
        ..UndoTarget::default()
    };
    let mut now = timeline.state(newest);
    for then in timeline.state(at.event).into_values() {
        let present = now.remove(&then.id);
        if present.is_some_and(|present| present.version == then.version) {
            continue;
        }
        want_if_whole(store, &mut aim, &then, then.id)?;
    }
    aim.wanted
        .extend(now.into_keys().map(|id| (id, DesiredState::Gone)));
    Ok(aim)
}

fn moved_away(path: &MemoryPath, elsewhere: &MemoryPath) -> Error {
    let elsewhere = elsewhere.as_str();
    Error::NotThere {
        path: path.as_str().to_owned(),
        when: format!("now: what was there has moved to {elsewhere}"),
        hint: format!("restore {elsewhere} instead, or rename it back first"),
    }
}
