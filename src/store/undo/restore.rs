//! What `restore` and `rollback` want: memories as they were at a moment.

use crate::error::{Error, Result};
use crate::id::MemoryId;
use crate::memory_tool::path::MemoryPath;
use crate::state::timeline::Version;
use crate::store::State;
use crate::store::past::{nameless, place_ever, resolve, text_then, timeline};
use crate::store::revision::Revision;
use crate::store::undo::{Conflict, on_top};

use super::super::Store;
use super::super::past::not_there;
use super::{Aim, Wanted};

/// One memory, or every memory of a directory, as it was at a moment.
///
/// What `view --at` shows at the path is what is restored; only if nothing was there then is
/// it the memory that is there now, as it was wherever it was.
pub(super) fn aim_restore(store: &Store, path: &MemoryPath, from: &Revision) -> Result<Aim> {
    let at = resolve(store, from)?;
    let (timeline, newest) = (timeline(&store.state), timeline(&store.state).len() - 1);
    let mut aim = Aim {
        at: Some(at),
        path: Some(place_ever(store, path, newest)?),
        ..Aim::default()
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
                .push(moved_on_top(&store.state, &then, &elsewhere)),
        }
    }
    if aim.wanted.is_empty() && aim.conflicts.is_empty() {
        return Err(not_there(path, at, timeline));
    }
    Ok(aim)
}

/// Which memory gets the text that was at a path: the one that is there now, or, where nothing
/// is, the one that was there then. If that is elsewhere now, neither, but where it is.
fn restored_as(
    state: &State,
    then: &Version,
    now: Option<&Version>,
) -> std::result::Result<MemoryId, MemoryPath> {
    if let Some(now) = now {
        return Ok(now.id);
    }
    let (timeline, newest) = (timeline(state), timeline(state).len() - 1);
    let elsewhere = timeline
        .version_at(then.id, newest)
        .and_then(|now| now.path);
    elsewhere.map_or(Ok(then.id), Err)
}

/// Why one memory of many is left where it is: it has moved since.
fn moved_on_top(state: &State, then: &Version, elsewhere: &MemoryPath) -> Conflict {
    let newest = timeline(state).versions(then.id, u64::MAX).next_back();
    Conflict {
        id: then.id,
        path: then.path.clone(),
        why: format!("it has moved to {}", elsewhere.as_str()),
        on_top: on_top(state, newest.map(|version| version.event).into_iter()),
    }
}

fn wanted_as(store: &Store, then: &Version, path: &MemoryPath, id: MemoryId) -> Result<Wanted> {
    Ok(Wanted::There {
        path: path.clone(),
        text: text_then(store, then)?,
        from: (id == then.id).then_some(then.version),
        merged: false,
    })
}

/// Wants one memory of many as it was; where that does not open, the others do not wait for it.
fn want_if_whole(store: &Store, aim: &mut Aim, then: &Version, id: MemoryId) -> Result<()> {
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

/// Every memory as it was at a moment.
pub(super) fn aim_rollback(store: &Store, to: &Revision) -> Result<Aim> {
    let at = resolve(store, to)?;
    let (timeline, newest) = (timeline(&store.state), timeline(&store.state).len() - 1);
    let mut aim = Aim {
        at: Some(at),
        ..Aim::default()
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
        .extend(now.into_keys().map(|id| (id, Wanted::Gone)));
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
