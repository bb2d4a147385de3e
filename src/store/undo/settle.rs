//! The plan of an undo: turns the wanted states of memories into steps and conflicts.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::Text;
use crate::crypto::digest::Digest;
use crate::diff::TextDiff;
use crate::error::{Error, Result};
use crate::event::Change;
use crate::id::MemoryId;
use crate::memory_tool::path::MemoryPath;
use crate::policy::expiration::RuleWhen;
use crate::redact::{Redacted, Withheld};
use crate::state::timeline::Version;
use crate::store::hold::hold_ever_on;
use crate::store::past::{text_then, timeline};
use crate::store::sweep::living;
use crate::store::sweep::make_way;
use crate::store::sweep::swept_away;
use crate::store::undo::Plan;
use crate::store::undo::Step;
use crate::store::undo::{Conflict, on_top};
use crate::store::{State, now, redactor};

use super::super::Store;
use super::super::past::{looked_at, seconds};
use super::super::plan::{Planned, Written};
use super::{Aim, Wanted};

/// Most bytes of text that an undo writes. The text is held in memory three times.
const UNDO_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// A plan with the steps that carry it out.
pub(super) struct Settled {
    pub(super) plan: Plan,
    pub(super) steps: Vec<Planned>,
}

/// A memory's part in an undo.
struct Part {
    step: Step,
    planned: Planned,
}

pub(super) fn settle(store: &Store, command: &'static str, aim: Aim) -> Result<Settled> {
    let newest = timeline(&store.state).len() - 1;
    let (mut parts, mut conflicts) = (Vec::new(), aim.conflicts);
    let mut bytes = 0;
    for (id, wanted) in aim.wanted {
        let now = timeline(&store.state).version_at(id, newest);
        match part(store, id, now, wanted)? {
            Ok(Some(part)) => {
                bytes += written_bytes(&part.planned);
                parts.push(part);
            }
            Ok(None) => {}
            Err(conflict) => conflicts.push(conflict),
        }
        if bytes > UNDO_BYTES_MAX {
            return Err(Error::Invalid {
                what: "so large an undo",
                why: format!("it would write more than {UNDO_BYTES_MAX} bytes at once"),
            });
        }
    }
    keep_apart(&store.state, &mut parts, &mut conflicts);
    let making_way = make_way_for(&store.state, &parts);
    parts.sort_by_cached_key(|part| {
        let path = part.step.path.as_ref().or(part.step.path_now.as_ref());
        path.map(|path| path.as_str().to_owned())
    });
    conflicts.sort_by_cached_key(Conflict::sentence);
    let (steps, mut planned): (Vec<_>, Vec<_>) = parts
        .into_iter()
        .map(|part| (part.step, part.planned))
        .unzip();
    planned.extend(making_way);
    let plan = Plan {
        digest: Digest::of(b""),
        command,
        at: aim.at,
        undone: aim.undone,
        steps,
        conflicts,
    };
    Ok(Settled {
        plan: plan.sealed(),
        steps: planned,
    })
}

/// Returns the step that brings a memory to its wanted state; `None` if there is nothing to do.
fn part(
    store: &Store,
    id: MemoryId,
    now: Option<Version>,
    wanted: Wanted,
) -> Result<Result<Option<Part>, Conflict>> {
    let last = timeline(&store.state).versions(id, u64::MAX).next_back();
    let last =
        last.ok_or_else(|| Error::damaged(format!("the memory {id}"), "it has no version"))?;
    match (now, wanted) {
        (None, Wanted::Gone) => Ok(Ok(None)),
        (Some(now), Wanted::Gone) => match hold_ever_on(&store.state, id, now.path.as_ref()) {
            None => Ok(Ok(Some(removal(store, now)))),
            Some(hold) => {
                let why = format!("hold {hold} keeps it");
                Ok(Err(Conflict::alone(id, now.path, why)))
            }
        },
        (
            now,
            Wanted::There {
                path,
                text,
                from,
                merged,
            },
        ) => {
            if let Some(why) = gone_for_good(&store.state, id, &path, now.is_none()) {
                return Ok(Err(Conflict::alone(id, Some(path), why)));
            }
            let text = match allowed(store, &path, &text)? {
                Ok(text) => text,
                Err(why) => return Ok(Err(Conflict::alone(id, Some(path), why))),
            };
            let before = now
                .as_ref()
                .map(|now| text_if_whole(store, now))
                .transpose()?;
            let before = before.flatten();
            let change = match &now {
                None => Change::Restore,
                Some(now) if now.path.as_ref() != Some(&path) => Change::Move,
                Some(_)
                    if before.as_ref() == Some(text.text()) && !has_expired(&store.state, id) =>
                {
                    return Ok(Ok(None));
                }
                Some(_) => Change::Edit,
            };
            let nothing = Text::from("");
            let diff = TextDiff::of(before.as_ref().unwrap_or(&nothing), text.text());
            let step = Step {
                id,
                change,
                path_now: now.and_then(|now| now.path),
                path: Some(path.clone()),
                version_now: last.version,
                from,
                lines_added: diff.added(),
                lines_removed: diff.removed(),
                merged,
                stripped: text.kinds().into_iter().map(str::to_owned).collect(),
                sha256: Some(Digest::of(text.text().as_str().as_bytes())),
            };
            let written = Written {
                id,
                path,
                version: last.version + 1,
                change,
                from,
            };
            let planned = Planned::Write(written, text);
            Ok(Ok(Some(Part { step, planned })))
        }
    }
}

/// Tells whether a memory exists but is hidden because it has expired.
fn has_expired(state: &State, id: MemoryId) -> bool {
    let memory = state.catalog.memory(id);
    memory.is_some_and(|memory| !living(state).has(memory))
}

/// Returns why a memory cannot be restored to a path, or would expire again at once.
fn gone_for_good(state: &State, id: MemoryId, path: &MemoryPath, is_gone: bool) -> Option<String> {
    let now = now(state);
    let held = hold_ever_on(state, id, Some(path)).is_some();
    let ruling = state.decisions.rules.ruling(id, path, now);
    if let (Some((RuleWhen::At(at), _)), false) = (ruling.expires, held)
        && at <= now
    {
        let at = seconds(at);
        return Some(format!(
            "the policy has it expire at {at}, so it would be gone again; change that first"
        ));
    }
    let swept = swept_away(state, id).filter(|_| is_gone && !held)?;
    let over = swept.checked_add_signed(ruling.grace.delta())?;
    (ruling.erases() && over <= now).then(|| {
        let over = seconds(over);
        format!("a sweep removed it, and it could be brought back until {over}")
    })
}

/// Evicts expired memories in the way of the undo, other than those it writes.
fn make_way_for(state: &State, parts: &[Part]) -> Vec<Planned> {
    let mut known: HashSet<MemoryId> = parts.iter().map(|part| part.step.id).collect();
    let paths = parts.iter().filter_map(|part| part.step.path.as_ref());
    let mut steps: Vec<Planned> = paths.flat_map(|path| make_way(state, path)).collect();
    steps.retain(|step| match step {
        Planned::Touch(touch) => known.insert(touch.id),
        _ => true,
    });
    steps
}

fn removal(store: &Store, now: Version) -> Part {
    let removed = text_then(store, &now).map(|text| text.as_str().lines().count());
    let mut touch = looked_at(&now);
    touch.change = Change::Remove;
    Part {
        step: Step {
            id: now.id,
            change: Change::Remove,
            path_now: now.path,
            path: None,
            version_now: now.version,
            from: None,
            lines_added: 0,
            // A memory that does not open can still be removed.
            lines_removed: removed.unwrap_or(0),
            merged: false,
            stripped: Vec::new(),
            sha256: None,
        },
        planned: Planned::Touch(touch),
    }
}

/// Returns the text of a version; `None` if it does not open, since an undo may be the way to
/// repair that.
fn text_if_whole(store: &Store, version: &Version) -> Result<Option<Text>> {
    match text_then(store, version) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.is_of_one_memory() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Redacts a text by the present rules, which may know more than those of its time.
fn allowed(store: &Store, path: &MemoryPath, text: &Text) -> Result<Result<Redacted, String>> {
    let redactor = redactor(store)?;
    if !matches!(redactor.in_path(path.as_str()), Ok(None)) {
        let why = "its path holds what looks like a secret, and paths are kept as they are";
        return Ok(Err(why.into()));
    }
    Ok(redactor
        .redact(path.as_str(), text)
        .map_err(|withheld| match withheld {
            Withheld::Found(_) => "its text holds secrets, and the policy refuses them".into(),
            Withheld::Unfinished => "looking for secrets in its text would take too long".into(),
        }))
}

/// Turns steps into conflicts if they would end at a path in use, or above or below a file.
fn keep_apart(state: &State, parts: &mut Vec<Part>, conflicts: &mut Vec<Conflict>) {
    loop {
        let places = places_after(state, parts);
        let known = parts.len();
        // A memory that is taken out stays at its present path, and may then be in the way of
        // others.
        parts.retain(|part| {
            let Some(path) = &part.step.path else {
                return true;
            };
            let Some((other, taken)) = rival(&places, path, part.step.id) else {
                return true;
            };
            conflicts.push(in_the_way(state, part, path, other, &taken));
            false
        });
        if parts.len() == known {
            return;
        }
    }
}

fn in_the_way(
    state: &State,
    part: &Part,
    path: &MemoryPath,
    other: MemoryId,
    taken: &MemoryPath,
) -> Conflict {
    let timeline = timeline(state);
    let newest = timeline.version_at(other, timeline.len() - 1);
    Conflict {
        id: part.step.id,
        path: Some(path.clone()),
        why: format!("{} is in the way", taken.as_str()),
        on_top: on_top(state, newest.map(|version| version.event).into_iter()),
    }
}

/// Returns every path after the undo, with its memories.
fn places_after(state: &State, parts: &[Part]) -> BTreeMap<String, Vec<MemoryId>> {
    let moved: HashMap<MemoryId, Option<&MemoryPath>> = parts
        .iter()
        .map(|part| (part.step.id, part.step.path.as_ref()))
        .collect();
    let mut places: BTreeMap<String, Vec<MemoryId>> = BTreeMap::new();
    let mut put = |path: &MemoryPath, id| {
        places.entry(path.as_str().to_owned()).or_default().push(id);
    };
    let living = living(state);
    for memory in state.catalog.memories() {
        if !moved.contains_key(&memory.id) && living.has(memory) {
            put(&memory.path, memory.id);
        }
    }
    for (id, path) in moved {
        if let Some(path) = path {
            put(path, id);
        }
    }
    places
}

/// Returns another memory that is at the path, or above or below it.
fn rival(
    places: &BTreeMap<String, Vec<MemoryId>>,
    path: &MemoryPath,
    id: MemoryId,
) -> Option<(MemoryId, MemoryPath)> {
    let other = |path: &str| {
        let ids = places.get(path)?;
        ids.iter().copied().find(|found| *found != id)
    };
    let above = path
        .ancestors()
        .find_map(|above| Some((other(above.as_str())?, above)));
    let same = || Some((other(path.as_str())?, path.clone()));
    let below = || {
        let begin = format!("{}/", path.as_str());
        let (found, ids) = places.range(begin.clone()..).next()?;
        let found = found.starts_with(&begin).then(|| found.clone())?;
        Some((*ids.first()?, MemoryPath::from_canonical(found)))
    };
    above.or_else(same).or_else(below)
}

fn written_bytes(planned: &Planned) -> u64 {
    match planned {
        Planned::Write(_, text) => text.text().len() as u64,
        _ => 0,
    }
}
