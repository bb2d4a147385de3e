//! Legal holds: memories that must be kept, with the actor and reason. Holds are recorded as
//! events.

use crate::error::{Error, Result, RetentionFault};
use crate::event::{
    Context, Event, HOLD_ADD_COMMAND, HOLD_RM_COMMAND, HoldChange, HoldOn, PathRef,
};
use crate::id::MemoryId;
use crate::memory_tool::path::MemoryPath;
use crate::policy::check_glob;
use crate::store::answer::Meta;
use crate::store::commit::{SealedPlan, record_sealed};
use crate::store::config::require_reader;
use crate::store::history::read::erased;
use crate::store::log::parse_path;
use crate::store::recovery::refresh;
use crate::store::retention::{ActiveHold, HOLDS_MAX};
use crate::store::signers::check_role;
use crate::store::timeline::{load_timeline, timeline, with_lock};
use crate::store::{State, Store, lock, redactor};

/// See [`Store::hold`].
pub(super) fn hold(store: &mut Store, what: &str, context: &Context) -> Result<Meta> {
    if context.reason.as_deref().is_none_or(str::is_empty) {
        return Err(Error::invalid(
            "a hold without a reason",
            "give --reason: who asked for the hold, and why",
        ));
    }
    let lock = lock(&mut store.ledger)?;
    refresh(store)?;
    check_role(store, HOLD_ADD_COMMAND)?;
    if store.state.catalog.holds.len() >= HOLDS_MAX {
        let max = HOLDS_MAX;
        return Err(Error::Retention(RetentionFault::TooManyHolds { max }));
    }
    load_timeline(store)?;
    let (on, path) = hold_target(store, what)?;
    let change = HoldChange::Add(on);
    let meta = record_hold(store, HOLD_ADD_COMMAND, change, path, context)?;
    drop(lock);
    Ok(meta)
}

/// See [`Store::lift_hold`].
pub(super) fn lift_hold(store: &mut Store, hold: u64, context: &Context) -> Result<Meta> {
    let lock = lock(&mut store.ledger)?;
    refresh(store)?;
    // A hold keeps content, so only a reader may lift it.
    require_reader(&store.ledger)?;
    check_role(store, HOLD_RM_COMMAND)?;
    let Some(found) = store.state.catalog.holds.get(&hold) else {
        return Err(Error::Retention(RetentionFault::NoHold { hold }));
    };
    let path = place_held(&store.state, &found.on);
    let meta = record_hold(
        store,
        HOLD_RM_COMMAND,
        HoldChange::Lift(hold),
        path,
        context,
    )?;
    drop(lock);
    Ok(meta)
}

/// See [`Store::holds`].
pub(super) fn holds(store: &mut Store) -> Result<Vec<ActiveHold>> {
    with_lock(store, |store| {
        let holds = store.state.catalog.holds.iter().map(|(number, hold)| {
            let memories = store.state.catalog.memories();
            let kept = memories.filter(|memory| hold.is_on(memory.id, Some(&memory.path)));
            ActiveHold {
                hold: *number,
                on: hold.on.clone(),
                path: match hold.on {
                    HoldOn::Memory(id) => store.state.catalog.memory(id).map(|m| m.path.clone()),
                    HoldOn::Glob(_) => None,
                },
                since: hold.since,
                actor: hold.actor.clone(),
                reason: hold.reason.clone(),
                memories: kept.count(),
            }
        });
        Ok(holds.collect())
    })
}

/// Returns the target of a new hold, and the path reference in its record.
fn hold_target(store: &Store, what: &str) -> Result<(HoldOn, Option<PathRef>)> {
    if let Some(id) = MemoryId::from_hex(what) {
        let on = HoldOn::Memory(id);
        let known = timeline(&store.state)
            .versions(id, u64::MAX)
            .next()
            .is_some();
        if !known {
            return Err(nothing(what));
        }
        // A memory that is only marked can still be kept.
        if let Some(event) = timeline(&store.state).erased_by(id)
            && !store.state.catalog.marked.contains_key(&id)
        {
            return Err(erased(id, event));
        }
        let place = place_held(&store.state, &on);
        return Ok((on, place));
    }
    let was_there = parse_path(&store.state, what).is_ok_and(|path| {
        store.state.catalog.is_directory(&path)
            || !timeline(&store.state).ever_within(&path).is_empty()
    });
    if what.contains(['*', '?', '[', '{']) && !was_there {
        check_glob(what).map_err(|why| Error::Policy { line: None, why })?;
        let (said, found) = redactor(store)?.line(what);
        if !found.is_empty() {
            return Err(Error::invalid(
                "the glob",
                format!("it holds what looks like a secret: {said}"),
            ));
        }
        return Ok((HoldOn::Glob(what.to_owned()), None));
    }
    let path = parse_path(&store.state, what)?;
    if let Some(memory) = store.state.catalog.at(&path) {
        let place = PathRef::Of(memory.id, Some(path));
        return Ok((HoldOn::Memory(memory.id), Some(place)));
    }
    if store.state.catalog.is_directory(&path) {
        return Ok((HoldOn::Glob(format!("{}/**", escaped(&path))), None));
    }
    // Nothing is there now: the last memory that was there can still be kept from erasure.
    let newest = timeline(&store.state).len() - 1;
    let ever = timeline(&store.state).ever_within(&path);
    let last = ever
        .into_iter()
        .filter_map(|id| timeline(&store.state).versions(id, newest).next_back())
        .filter(|version| version.path.as_ref() == Some(&path))
        .max_by_key(|version| version.event);
    match last {
        Some(version) => Ok((
            HoldOn::Memory(version.id),
            Some(PathRef::Of(version.id, Some(path))),
        )),
        None => Err(nothing(what)),
    }
}

/// Returns the place that a record names for a hold, if it is on one memory that is there.
fn place_held(state: &State, on: &HoldOn) -> Option<PathRef> {
    let HoldOn::Memory(id) = on else { return None };
    let memory = state.catalog.memory(*id)?;
    Some(PathRef::Of(*id, Some(memory.path.clone())))
}

fn record_hold(
    store: &mut Store,
    command: &'static str,
    change: HoldChange,
    path: Option<PathRef>,
    context: &Context,
) -> Result<Meta> {
    let says = |event: &mut Event| {
        event.path = path;
        event.hold = Some(change);
    };
    record_sealed(store, command, SealedPlan::default(), says, context)
}

/// Refuses memories that a hold keeps. They are given with their paths, if known.
pub(super) fn check_not_held<'a>(
    store: &Store,
    memories: impl Iterator<Item = (MemoryId, Option<&'a MemoryPath>)>,
) -> Result<()> {
    let mut held = memories.filter_map(|(id, path)| {
        let hold = hold_ever_on(&store.state, id, path)?;
        let name = path.map_or_else(|| id.to_string(), |path| path.as_str().to_owned());
        Some((name, hold))
    });
    let Some((first, by)) = held.next() else {
        return Ok(());
    };
    let mut memories = vec![first];
    let mut total = 1;
    for (name, _) in held {
        total += 1;
        if memories.len() < crate::store::retention::LISTED_MAX {
            memories.push(name);
        }
    }
    Err(Error::Retention(RetentionFault::Held {
        memories,
        total,
        hold: by,
    }))
}

/// Returns the hold on a memory by its id or any path it ever had. Requires a loaded timeline.
pub(super) fn hold_ever_on(state: &State, id: MemoryId, path: Option<&MemoryPath>) -> Option<u64> {
    if state.catalog.holds.is_empty() {
        return None;
    }
    state.catalog.hold_on(id, path).or_else(|| {
        let mut versions = timeline(state).versions(id, u64::MAX);
        versions.find_map(|version| state.catalog.hold_on(id, version.path.as_ref()))
    })
}

/// Escapes a path into a glob that matches it alone.
fn escaped(path: &MemoryPath) -> String {
    let mut glob = String::with_capacity(path.as_str().len());
    for c in path.as_str().chars() {
        if "*?[]{}\\!".contains(c) {
            glob.push('\\');
        }
        glob.push(c);
    }
    glob
}

fn nothing(what: &str) -> Error {
    Error::NotThere {
        path: what.to_owned(),
        when: "ever".into(),
        hint: "name a memory by its path or its id, or write a glob over whole paths, such as \
               /memories/people/**"
            .into(),
    }
}
