//! Plans that remove or move memories: `delete` and `rename`.

use crate::event::{Change, Place};
use crate::memory_tool::path::MemoryPath;
use crate::policy::MOVE_BYTES;
use crate::redact::Redacted;
use crate::state::catalog::Memory;
use crate::store::State;
use crate::store::answer::Refusal;
use crate::store::living::living;
use crate::store::plan::{
    asked, make_way_now, no_secret_in, not_below_a_file, path_named, place, redacted, refuse_path,
    text_at_base,
};
use crate::store::versions::text_of;

use super::super::Store;
use super::{
    Call, Drafted, Fault, Plan, Planned, Subject, Target, Written, already, check_base,
    does_not_exist, needs_file, noted, refuse, touch, write_plan,
};

pub(super) fn delete(store: &mut Store, call: &Call<'_>) -> Drafted {
    let path = path_named(store, call.shown)?;
    if path.is_root() {
        return refuse(
            Refusal::Denied,
            "Error: Cannot delete the /memories directory itself",
        );
    }
    let done = format!("Successfully deleted {}", call.shown);
    let place = Target::At(place(&store.state, &path));
    if let Some(memory) = living(&store.state).at(&path).cloned() {
        if let Some(base) = call.base {
            check_base(base, &text_of(&mut store.ledger, &memory)?, call.shown)?;
        }
        no_hold_on(&store.state, &memory)?;
        let step = Planned::Touch(touch(&memory, Change::Remove));
        return Ok(Plan {
            subject: Some(Subject { sha256: None }),
            ..Plan::answer(done, place, vec![step])
        });
    }
    if !living(&store.state).is_directory(&path) {
        return match call.base {
            Some(_) => Ok(Plan::answer(done, place, Vec::new())),
            None => refuse(
                Refusal::NotFound,
                format!("Error: {}", does_not_exist(call.shown, "")),
            ),
        };
    }
    needs_file(call)?;
    let memories: Vec<Memory> = living(&store.state).below(&path).cloned().collect();
    memories
        .iter()
        .try_for_each(|memory| no_hold_on(&store.state, memory))?;
    let remove = |memory| Planned::Touch(touch(memory, Change::Remove));
    let steps = memories.iter().map(remove).collect();
    Ok(Plan::answer(done, place, steps))
}

/// Refuses to delete what a hold keeps.
fn no_hold_on(state: &State, memory: &Memory) -> Result<(), Fault> {
    match state.catalog.hold_on(memory.id, Some(&memory.path)) {
        None => Ok(()),
        Some(_) => refuse(
            Refusal::Denied,
            format!(
                "Error: {} is kept under a hold and cannot be deleted",
                memory.path.as_str()
            ),
        ),
    }
}

pub(super) fn rename(store: &mut Store, call: &Call<'_>, shown_to: &str) -> Drafted {
    let from = path_named(store, call.shown)?;
    if from.is_root() {
        return refuse(
            Refusal::Denied,
            "Error: Cannot rename the /memories directory itself",
        );
    }
    let to = path_named(store, shown_to)?;
    let done = format!("Successfully renamed {} to {shown_to}", call.shown);
    let source = living(&store.state).at(&from).cloned();
    let taken = living(&store.state).at(&to).cloned();
    if let (Some(base), None, Some(there)) = (call.base, &source, &taken) {
        let text = text_of(&mut store.ledger, there)?;
        check_base(base, &text, shown_to)?;
        return Ok(Plan {
            path: Some(Target::At(asked(store, &from)?)),
            new_path: Some(Place::Of(there.id, Some(to))),
            ..already(done, there, &text)
        });
    }
    if taken.is_some() || living(&store.state).is_directory(&to) {
        let text = format!("Error: The destination {shown_to} already exists");
        return refuse(Refusal::Exists, text);
    }
    if source.is_none() && !living(&store.state).is_directory(&from) {
        let text = format!("Error: {}", does_not_exist(call.shown, ""));
        return refuse(Refusal::NotFound, text);
    }
    if to.is_below(&from) {
        let text = format!("Error: Cannot move {} into itself: {shown_to}", call.shown);
        return refuse(Refusal::Failed, text);
    }
    no_secret_in(store, &to, shown_to)?;
    not_below_a_file(&store.state, &to, shown_to)?;
    let making_way = make_way_now(store, &to, shown_to)?;
    let mut plan = match source {
        Some(memory) => rename_file(store, call, &memory, to, done),
        None => rename_directory(store, call, &from, &to, &done),
    }?;
    plan.steps.extend(making_way);
    Ok(plan)
}

fn rename_file(
    store: &mut Store,
    call: &Call<'_>,
    memory: &Memory,
    to: MemoryPath,
    done: String,
) -> Drafted {
    let text = text_at_base(&mut store.ledger, memory, call)?;
    let text = redacted(store, &to, to.as_str(), &text)?;
    let from = Place::Of(memory.id, Some(memory.path.clone()));
    let plan = write_plan(done, memory, Change::Move, to.clone(), text);
    Ok(Plan {
        path: Some(Target::At(from)),
        new_path: Some(Place::Of(memory.id, Some(to))),
        ..plan
    })
}

fn rename_directory(
    store: &mut Store,
    call: &Call<'_>,
    from: &MemoryPath,
    to: &MemoryPath,
    done: &str,
) -> Drafted {
    needs_file(call)?;
    let memories: Vec<Memory> = living(&store.state).below(from).cloned().collect();
    let Some(first) = memories.first().map(|memory| memory.id) else {
        let text = format!("Error: {}", does_not_exist(call.shown, ""));
        return refuse(Refusal::NotFound, text);
    };
    let bytes: u64 = memories.iter().map(|memory| memory.bytes).sum();
    if bytes > MOVE_BYTES {
        let text = format!(
            "Error: {} holds {bytes} bytes, and at most {MOVE_BYTES} move at once. Move what is \
             in it one by one.",
            call.shown
        );
        return refuse(Refusal::Limit, text);
    }
    let mut steps = Vec::with_capacity(memories.len());
    for memory in &memories {
        let max = store.state.decisions.policy.limits.path_bytes;
        let path = memory.path.moved(from, to, max);
        let path = path.or_else(|fault| refuse_path(store, memory.path.as_str(), &fault))?;
        let text = text_of(&mut store.ledger, memory)?;
        let text = redacted(store, &path, path.as_str(), &text)?;
        steps.push(Planned::Write(
            Written {
                id: memory.id,
                path,
                version: memory.version + 1,
                change: Change::Move,
                from: None,
            },
            text,
        ));
    }
    let texts = steps.iter().filter_map(|step| match step {
        Planned::Write(_, text) => Some(text),
        _ => None,
    });
    let kinds: Vec<&str> = texts.flat_map(Redacted::kinds).collect();
    let done = noted(done, &kinds);
    Ok(Plan {
        new_path: Some(Place::Of(first, Some(to.clone()))),
        ..Plan::answer(done, Target::At(place(&store.state, from)), steps)
    })
}
