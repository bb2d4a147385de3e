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
use crate::store::history::read::{look_change, seconds, text_then};
use crate::store::hold::hold_ever_on;
use crate::store::plan::{PlannedChange, VersionWrite};
use crate::store::sweep::{evict_expired, swept_at, unexpired};
use crate::store::timeline::timeline;
use crate::store::undo::{Conflict, DesiredState, UndoPlan, UndoStep, UndoTarget, later_changes};
use crate::store::versions::if_open;
use crate::store::{State, Store, now, redactor};

/// Most bytes of text that an undo writes. The text is held in memory three times.
const UNDO_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// A plan with the steps that carry it out.
pub(super) struct UndoTransaction {
    pub(super) plan: UndoPlan,
    pub(super) steps: Vec<PlannedChange>,
}

/// A memory's part in an undo.
struct PlannedStep {
    step: UndoStep,
    planned: PlannedChange,
}

pub(super) fn plan_undo_steps(
    store: &Store,
    command: &'static str,
    aim: UndoTarget,
) -> Result<UndoTransaction> {
    let newest = timeline(&store.state).len() - 1;
    let (mut parts, mut conflicts) = (Vec::new(), aim.conflicts);
    let mut bytes = 0;
    for (id, wanted) in aim.wanted {
        let now = timeline(&store.state).version_at(id, newest);
        match plan_step(store, id, now, wanted)? {
            Ok(Some(part)) => {
                bytes += written_bytes(&part.planned);
                parts.push(part);
            }
            Ok(None) => {}
            Err(conflict) => conflicts.push(conflict),
        }
        if bytes > UNDO_BYTES_MAX {
            return Err(Error::invalid(
                "so large an undo",
                format!(
                    "it would write more than {UNDO_BYTES_MAX} bytes at once; undo fewer \
                              events"
                ),
            ));
        }
    }
    drop_path_conflicts(&store.state, &mut parts, &mut conflicts);
    let making_way = evict_expired_for(&store.state, &parts);
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
    let plan = UndoPlan {
        digest: Digest::of(b""),
        command,
        at: aim.at,
        undone: aim.undone,
        steps,
        conflicts,
    };
    Ok(UndoTransaction {
        plan: plan.sealed(),
        steps: planned,
    })
}

/// Returns the step that brings a memory to its wanted state; `None` if there is nothing to do.
fn plan_step(
    store: &Store,
    id: MemoryId,
    now: Option<Version>,
    wanted: DesiredState,
) -> Result<Result<Option<PlannedStep>, Conflict>> {
    let last = timeline(&store.state).versions(id, u64::MAX).next_back();
    let last =
        last.ok_or_else(|| Error::damaged(format!("the memory {id}"), "it has no version"))?;
    match (now, wanted) {
        (None, DesiredState::Gone) => Ok(Ok(None)),
        (Some(now), DesiredState::Gone) => {
            match hold_ever_on(&store.state, id, now.path.as_ref()) {
                None => Ok(Ok(Some(removal(store, now)))),
                Some(hold) => {
                    let why = format!("hold {hold} keeps it");
                    Ok(Err(Conflict::alone(id, now.path, why)))
                }
            }
        }
        (
            now,
            DesiredState::There {
                path,
                text,
                from,
                merged,
            },
        ) => {
            if let Some(why) = gone_for_good(&store.state, id, &path, now.is_none()) {
                return Ok(Err(Conflict::alone(id, Some(path), why)));
            }
            let text = match redacted_for_undo(store, &path, &text)? {
                Ok(text) => text,
                Err(why) => return Ok(Err(Conflict::alone(id, Some(path), why))),
            };
            // An undo may be the way to repair a version that does not open.
            let text_now = |now| if_open(text_then(store, now));
            let before = now.as_ref().map(text_now).transpose()?.flatten();
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
            let step = UndoStep {
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
            let written = VersionWrite {
                id,
                path,
                version: last.version + 1,
                change,
                from,
            };
            let planned = PlannedChange::Write(written, text);
            Ok(Ok(Some(PlannedStep { step, planned })))
        }
    }
}

/// Tells whether a memory exists but is hidden because it has expired.
fn has_expired(state: &State, id: MemoryId) -> bool {
    let memory = state.catalog.memory(id);
    memory.is_some_and(|memory| !unexpired(state).has(memory))
}

/// Returns why a memory cannot be restored to a path, or would expire again at once.
fn gone_for_good(state: &State, id: MemoryId, path: &MemoryPath, is_gone: bool) -> Option<String> {
    let now = now(state);
    let held = hold_ever_on(state, id, Some(path)).is_some();
    let ruling = state.config.rules.evaluate(id, path, now);
    if let (Some((RuleWhen::At(at), _)), false) = (ruling.expires, held)
        && at <= now
    {
        let at = seconds(at);
        return Some(format!(
            "by the policy it expires at {at}, so it would expire again at once; change the policy \
             first"
        ));
    }
    let swept = swept_at(state, id).filter(|_| is_gone && !held)?;
    let over = swept.checked_add_signed(ruling.grace.delta())?;
    (ruling.erases() && over <= now).then(|| {
        let over = seconds(over);
        format!("a sweep removed it, and it could be restored until {over}")
    })
}

/// Evicts expired memories in the way of the undo, other than those it writes.
fn evict_expired_for(state: &State, parts: &[PlannedStep]) -> Vec<PlannedChange> {
    let mut known: HashSet<MemoryId> = parts.iter().map(|part| part.step.id).collect();
    let paths = parts.iter().filter_map(|part| part.step.path.as_ref());
    let mut steps: Vec<PlannedChange> = paths.flat_map(|path| evict_expired(state, path)).collect();
    steps.retain(|step| match step {
        PlannedChange::Touch(touch) => known.insert(touch.id),
        _ => true,
    });
    steps
}

fn removal(store: &Store, now: Version) -> PlannedStep {
    let removed = text_then(store, &now).map(|text| text.as_str().lines().count());
    let mut touch = look_change(&now);
    touch.change = Change::Remove;
    PlannedStep {
        step: UndoStep {
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
        planned: PlannedChange::Touch(touch),
    }
}

/// Redacts a text by the present rules, which may know more than those of its time.
fn redacted_for_undo(
    store: &Store,
    path: &MemoryPath,
    text: &Text,
) -> Result<Result<Redacted, String>> {
    let redactor = redactor(store)?;
    if !matches!(redactor.in_path(path.as_str()), Ok(None)) {
        let why = "its path contains what looks like a secret, and agekeep cannot redact paths";
        return Ok(Err(why.into()));
    }
    Ok(redactor
        .redact(path.as_str(), text)
        .map_err(|withheld| match withheld {
            Withheld::Found(_) => "its text contains secrets, and the policy refuses them".into(),
            Withheld::Unfinished => "scanning its text for secrets would take too long".into(),
        }))
}

/// Turns steps into conflicts if they would end at a path in use, or above or below a file.
fn drop_path_conflicts(state: &State, parts: &mut Vec<PlannedStep>, conflicts: &mut Vec<Conflict>) {
    loop {
        let places = places_after(state, parts);
        let known = parts.len();
        // A memory that is taken out stays at its present path, and may then be in the way of
        // others.
        parts.retain(|part| {
            let Some(path) = &part.step.path else {
                return true;
            };
            let Some((other, taken)) = path_conflict(&places, path, part.step.id) else {
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
    part: &PlannedStep,
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
        on_top: later_changes(state, newest.map(|version| version.event).into_iter()),
    }
}

/// Returns every path after the undo, with its memories.
fn places_after(state: &State, parts: &[PlannedStep]) -> BTreeMap<String, Vec<MemoryId>> {
    let moved: HashMap<MemoryId, Option<&MemoryPath>> = parts
        .iter()
        .map(|part| (part.step.id, part.step.path.as_ref()))
        .collect();
    let mut places: BTreeMap<String, Vec<MemoryId>> = BTreeMap::new();
    let mut put = |path: &MemoryPath, id| {
        places.entry(path.as_str().to_owned()).or_default().push(id);
    };
    let unexpired = unexpired(state);
    for memory in state.catalog.memories() {
        if !moved.contains_key(&memory.id) && unexpired.has(memory) {
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
fn path_conflict(
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

fn written_bytes(planned: &PlannedChange) -> u64 {
    match planned {
        PlannedChange::Write(_, text) => text.text().len() as u64,
        _ => 0,
    }
}
