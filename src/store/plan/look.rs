//! Plans that change no text: `view` and `memory_read`.

use crate::event::Place;
use crate::memory_tool::edit;
use crate::memory_tool::listing;
use crate::memory_tool::path::MemoryPath;
use crate::store::State;
use crate::store::answer::Refusal;
use crate::store::living::living;
use crate::store::plan::{path_named, place, relative_path, text_at_base};

use super::super::Store;
use super::{
    Call, Drafted, Plan, Target, VALID_PATH, does_not_exist, needs_file, read_plan, refuse,
};

pub(super) fn view(store: &mut Store, call: &Call<'_>, range: Option<(i64, i64)>) -> Drafted {
    let path = path_named(store, call.shown)?;
    let Some(memory) = living(&store.state).at(&path).cloned() else {
        return view_directory(&store.state, call, &path);
    };
    let text = text_at_base(&mut store.ledger, &memory, call)?;
    let limits = &store.state.decisions.policy.limits;
    let lines = edit::line_count(text.as_str());
    if lines > limits.lines {
        let max = grouped(limits.lines);
        return refuse(
            Refusal::Limit,
            format!(
                "File {} exceeds maximum line limit of {max} lines.",
                call.shown
            ),
        );
    }
    let (from, to) = edit::resolve_range(text.as_str(), range).or_else(|fault| {
        refuse(
            Refusal::Failed,
            format!(
                "Error: Invalid `view_range` parameter: {:?}. It should be within the range of \
                 lines of the file: [1, {}]",
                range.map_or([1, -1], |(start, end)| [start, end]),
                fault.lines
            ),
        )
    })?;
    let heading = format!("Here's the content of {} with line numbers:", call.shown);
    let content = edit::number_lines(heading, text.as_str(), from, to, limits.view_characters);
    Ok(read_plan(content, &memory, &text))
}

fn view_directory(state: &State, call: &Call<'_>, path: &MemoryPath) -> Drafted {
    let living = living(state);
    if !living.is_directory(path) {
        return refuse(Refusal::NotFound, does_not_exist(call.shown, VALID_PATH));
    }
    needs_file(call)?;
    let memories = living.below(path).map(|m| (&m.path, m.bytes));
    let content = listing::render(call.shown, path, memories);
    Ok(Plan::answer(
        content,
        Target::At(place(state, path)),
        Vec::new(),
    ))
}

pub(super) fn read_all(state: &State) -> Plan {
    let root = MemoryPath::root();
    let living = living(state);
    let mut list: Vec<&str> = living.below(&root).map(|m| m.path.relative()).collect();
    list.sort_unstable();
    Plan::answer(list.join("\n"), Target::At(Place::Root), Vec::new())
}

pub(super) fn read(store: &mut Store, call: &Call<'_>) -> Drafted {
    let path = relative_path(store, call.shown)?;
    match living(&store.state).at(&path).cloned() {
        Some(memory) => {
            let text = text_at_base(&mut store.ledger, &memory, call)?;
            Ok(read_plan(text.clone(), &memory, &text))
        }
        None if living(&store.state).is_directory(&path) => refuse(
            Refusal::Failed,
            format!("Error: {} is a directory; read one file in it", call.shown),
        ),
        None => refuse(Refusal::NotFound, does_not_exist(call.shown, VALID_PATH)),
    }
}

/// A number with its thousands apart, as the contract spells the line limit.
fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
