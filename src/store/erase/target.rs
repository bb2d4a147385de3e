//! Which memories an erasure is about.

use std::collections::HashSet;

use super::super::past::erased;
use crate::error::{Error, Result};
use crate::id::MemoryId;
use crate::memory_tool::path::MemoryPath;
use crate::redact::Glob;
use crate::store::State;
use crate::store::hold::hold_ever_on;
use crate::store::log::Filter;
use crate::store::past::access::numbers;
use crate::store::past::timeline;
use crate::store::retention::{EraseOf, Target};

pub(super) fn targets(state: &State, what: &EraseOf, history_only: bool) -> Result<Vec<Target>> {
    let timeline = timeline(state);
    let ids = match what {
        EraseOf::Memory(id) => HashSet::from([*id]),
        EraseOf::Path(path) => last_within(state, path),
        EraseOf::Session(session) => {
            let filter = Filter {
                session: Some(session.clone()),
                ..Filter::default()
            };
            timeline.written_by(&numbers(state, &filter))
        }
        EraseOf::Actor(actor) => {
            let filter = Filter {
                actor: Some(actor.clone()),
                ..Filter::default()
            };
            timeline.written_by(&numbers(state, &filter))
        }
        EraseOf::Subject(glob) => {
            let glob = Glob::parse(glob)?;
            let paths = timeline.paths().into_iter();
            paths
                .filter(|(_, paths)| paths.iter().any(|path| glob.fits(path.as_str())))
                .map(|(id, _)| id)
                .collect()
        }
    };
    let targets = ids.into_iter();
    let mut targets: Vec<Target> = targets
        .filter_map(|id| target(state, id, history_only))
        .collect();
    if targets.is_empty() {
        return Err(nothing_to_erase(state, what, history_only));
    }
    targets.sort_by_cached_key(|target| {
        let path = target.path.as_ref().map(|path| path.as_str().to_owned());
        (path, target.id)
    });
    Ok(targets)
}

/// Memories that are at a path or below it, and those that are gone and were there last.
fn last_within(state: &State, path: &MemoryPath) -> HashSet<MemoryId> {
    let ever = timeline(state).ever_within(path).into_iter();
    ever.filter(|id| {
        let last = last_path(state, *id);
        last.is_some_and(|last| last == *path || last.is_below(path))
    })
    .collect()
}

/// The path of a memory, or the last it had.
fn last_path(state: &State, id: MemoryId) -> Option<MemoryPath> {
    match state.catalog.memory(id) {
        Some(memory) => Some(memory.path.clone()),
        None => timeline(state).life(id).pop()?.of.path,
    }
}

/// A memory as a target; `None` if there is nothing of it left to erase.
fn target(state: &State, id: MemoryId, history_only: bool) -> Option<Target> {
    let timeline = timeline(state);
    let is_there = state.catalog.memory(id).is_some();
    if !is_there && (history_only || timeline.erased_by(id).is_some()) {
        return None;
    }
    let first = timeline.begins_with(id).map_or(0, |(first, _)| first);
    let versions = timeline.versions(id, u64::MAX);
    let versions = versions.filter(|version| version.version >= first).count();
    let least = if history_only { 2 } else { 1 };
    let path = last_path(state, id);
    (versions >= least).then(|| Target {
        id,
        hold: hold_ever_on(state, id, path.as_ref()),
        path,
        is_there,
        versions,
    })
}

fn nothing_to_erase(state: &State, what: &EraseOf, history_only: bool) -> Error {
    let path = match what {
        EraseOf::Memory(id) => match timeline(state).erased_by(*id) {
            Some(event) => return erased(*id, event),
            None => format!("the memory {id}"),
        },
        EraseOf::Path(path) => path.as_str().to_owned(),
        EraseOf::Session(session) => format!("what the session {session} wrote"),
        EraseOf::Actor(actor) => format!("what {actor} wrote"),
        EraseOf::Subject(glob) => glob.clone(),
    };
    let (when, hint) = if history_only {
        (
            "with a version before its present one",
            "--history keeps the present version of memories that are there; without it a \
             memory is erased whole",
        )
    } else {
        (
            "that is not erased already",
            "`agekeep log` with a path shows what was there; a memory that has moved is named \
             by its new path or its id",
        )
    };
    Error::NotThere {
        path,
        when: when.into(),
        hint: hint.into(),
    }
}
