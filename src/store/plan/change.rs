//! Plans that write one text: `create`, `str_replace`, `insert` and `memory_write`.

use crate::Text;
use crate::crypto::digest::Digest;
use crate::event::Change;
use crate::memory_tool::edit::{self, ReplaceFault};
use crate::memory_tool::path::MemoryPath;
use crate::redact::Redacted;
use crate::state::catalog::Memory;
use crate::store::answer::Refusal;
use crate::store::living::living;
use crate::store::plan::{
    make_way_now, no_secret_in, not_below_a_file, path_named, redacted, relative_path,
};
use crate::store::versions::{text_before, text_of};
use crate::store::{Ledger, State, redactor};

use super::super::Store;
use super::{
    Call, Drafted, Fault, Plan, Planned, Target, VALID_PATH, already, check_base, does_not_exist,
    moved_on, noted, refuse, write_plan,
};

/// Most occurrences whose lines an answer names.
const LINES_NAMED_MAX: usize = 1_000;

const EDITED: &str =
    "The memory file has been edited. Here is the snippet showing the change (with line numbers):";

pub(super) fn create(store: &mut Store, call: &Call<'_>, text: &Text) -> Drafted {
    let path = path_named(store, call.shown)?;
    let done = format!("File created successfully at: {}", call.shown);
    if let Some(memory) = living(&store.state).at(&path).cloned() {
        if call.base.is_some() || store.state.decisions.policy.tool.create_overwrites {
            let text = keepable(store, call, &path, text)?;
            if is_done(&mut store.ledger, call, &memory, &text)? {
                return Ok(already(noted(&done, &text.kinds()), &memory, text.text()));
            }
            if store.state.decisions.policy.tool.create_overwrites {
                return Ok(overwrite(&memory, text, done));
            }
        }
    } else if call.base.is_some() {
        return refuse(Refusal::Precondition, moved_on(call.shown));
    }
    if living(&store.state).at(&path).is_some() || living(&store.state).is_directory(&path) {
        let text = format!("Error: File {} already exists", call.shown);
        return refuse(Refusal::Exists, text);
    }
    add(store, call, path, text, &done)
}

pub(super) fn write(store: &mut Store, call: &Call<'_>, text: &Text) -> Drafted {
    let path = relative_path(store, call.shown)?;
    let done = format!("Written to {}", call.shown);
    if let Some(memory) = living(&store.state).at(&path).cloned() {
        let text = keepable(store, call, &path, text)?;
        if is_done(&mut store.ledger, call, &memory, &text)? {
            return Ok(already(noted(&done, &text.kinds()), &memory, text.text()));
        }
        return Ok(overwrite(&memory, text, done));
    }
    if living(&store.state).is_directory(&path) {
        return refuse(
            Refusal::Exists,
            format!("Error: {} is a directory", call.shown),
        );
    }
    if call.base.is_some() {
        return refuse(Refusal::Precondition, moved_on(call.shown));
    }
    add(store, call, path, text, &done)
}

/// Whether a call that says what text it acts upon finds the text it would write.
fn is_done(
    ledger: &mut Ledger,
    call: &Call<'_>,
    memory: &Memory,
    text: &Redacted,
) -> Result<bool, Fault> {
    let Some(base) = call.base else {
        return Ok(false);
    };
    let text = text.text();
    let now = text_of(ledger, memory)?;
    if now != *text {
        check_base(base, &now, call.shown)?;
    }
    Ok(now == *text)
}

fn add(store: &Store, call: &Call<'_>, path: MemoryPath, text: &Text, done: &str) -> Drafted {
    no_secret_in(store, &path, call.shown)?;
    not_below_a_file(&store.state, &path, call.shown)?;
    let text = keepable(store, call, &path, text)?;
    let max = store.state.decisions.policy.limits.memories;
    if store.state.catalog.len() >= max && living(&store.state).len() >= max {
        let files = match living(&store.state).len() {
            1 => "1 file".to_owned(),
            count => format!("{count} files"),
        };
        return refuse(
            Refusal::Limit,
            format!("Error: The store holds {files}, and its limit is {max}. Delete some first."),
        );
    }
    let done = noted(done, &text.kinds());
    let kept = text.text().clone();
    let making_way = make_way_now(store, &path, call.shown)?;
    let step = Planned::Add {
        path: path.clone(),
        text,
    };
    let mut plan = Plan::about(done, Target::New(path), step, &kept);
    plan.steps.extend(making_way);
    Ok(plan)
}

/// A text as it may be kept, which is within the limit before and after.
fn keepable(
    store: &Store,
    call: &Call<'_>,
    path: &MemoryPath,
    text: &Text,
) -> std::result::Result<Redacted, Fault> {
    within_size(&store.state, call.shown, text)?;
    let redacted = redacted(store, path, call.shown, text)?;
    within_size(&store.state, call.shown, redacted.text())?;
    Ok(redacted)
}

pub(super) fn str_replace(store: &mut Store, call: &Call<'_>, old: &Text, new: &Text) -> Drafted {
    let memory = existing(
        store,
        call,
        &format!("Error: {}", does_not_exist(call.shown, VALID_PATH)),
    )?;
    let max = store.state.decisions.policy.limits.view_characters;
    let path = memory.path.clone();
    // The old text may be one whose secrets were stripped when it was written.
    let redactor = redactor(store)?.clone();
    let edit = |text: &str| match edit::replace(text, old.as_str(), new.as_str()) {
        Err(ReplaceFault::NotFound) => {
            let stripped = Text::from(redactor.line(old.as_str()).0);
            edit::replace(text, stripped.as_str(), new.as_str())
        }
        done => done,
    };
    let answer = |text: &Redacted, line| {
        edit::snippet(EDITED, text.text().as_str(), text.line_now(line), max)
    };
    let text = text_of(&mut store.ledger, &memory)?;
    if let Some(base) = call.base
        && Digest::of(text.as_str().as_bytes()) != base
    {
        let before = text_before(&store.ledger, &memory, base)?;
        if let Some(Ok((done, line))) = before.map(|before| edit(before.as_str())) {
            let done = keepable(store, call, &path, &done)?;
            if *done.text() == text {
                let content = noted(answer(&done, line).as_str(), &done.kinds());
                return Ok(already(content, &memory, &text));
            }
        }
        return refuse(Refusal::Precondition, moved_on(call.shown));
    }
    let (text, line) = edit(text.as_str())
        .or_else(|fault| refuse(Refusal::Failed, replace_fault(call.shown, old, &fault)))?;
    let text = keepable(store, call, &path, &text)?;
    let content = answer(&text, line);
    Ok(write_plan(content, &memory, Change::Edit, path, text))
}

pub(super) fn insert(store: &mut Store, call: &Call<'_>, line: i64, insert: &Text) -> Drafted {
    let memory = existing(
        store,
        call,
        &format!("Error: {}", does_not_exist(call.shown, "")),
    )?;
    let done = format!("The file {} has been edited.", call.shown);
    let edit = |text: &str| edit::insert(text, line, insert.as_str());
    let text = text_of(&mut store.ledger, &memory)?;
    if let Some(base) = call.base
        && Digest::of(text.as_str().as_bytes()) != base
    {
        let before = text_before(&store.ledger, &memory, base)?;
        if let Some(Ok(edited)) = before.map(|before| edit(before.as_str())) {
            let edited = keepable(store, call, &memory.path, &edited)?;
            if *edited.text() == text {
                return Ok(already(noted(&done, &edited.kinds()), &memory, &text));
            }
        }
        return refuse(Refusal::Precondition, moved_on(call.shown));
    }
    let text = edit(text.as_str()).or_else(|fault| {
        refuse(
            Refusal::Failed,
            format!(
                "Error: Invalid `insert_line` parameter: {line}. It should be within the range \
                 of lines of the file: [0, {}]",
                fault.lines
            ),
        )
    })?;
    let text = keepable(store, call, &memory.path, &text)?;
    let path = memory.path.clone();
    Ok(write_plan(done, &memory, Change::Edit, path, text))
}

/// The memory at the call's path, or a refusal with these words.
fn existing(store: &Store, call: &Call<'_>, missing: &str) -> std::result::Result<Memory, Fault> {
    let path = path_named(store, call.shown)?;
    match living(&store.state).at(&path) {
        Some(memory) => Ok(memory.clone()),
        None => refuse(Refusal::NotFound, missing),
    }
}

fn within_size(state: &State, shown: &str, text: &Text) -> std::result::Result<(), Fault> {
    let max = state.decisions.policy.limits.memory_bytes;
    if text.len() <= max {
        return Ok(());
    }
    let size = text.len();
    refuse(
        Refusal::Limit,
        format!(
            "Error: {shown} would have {size} bytes, and a file has at most {max}. \
             Split it into several files."
        ),
    )
}

fn overwrite(memory: &Memory, text: Redacted, done: String) -> Plan {
    write_plan(done, memory, Change::Edit, memory.path.clone(), text)
}

fn replace_fault(shown: &str, old: &Text, fault: &ReplaceFault) -> String {
    let old = old.as_str();
    match fault {
        ReplaceFault::Empty => {
            "Error: No replacement was performed. `old_str` must not be empty".into()
        }
        ReplaceFault::NotFound => format!(
            "No replacement was performed, old_str `{old}` did not appear verbatim in {shown}."
        ),
        ReplaceFault::Several(lines) => {
            let all = lines.len();
            let lines: Vec<_> = lines
                .iter()
                .take(LINES_NAMED_MAX)
                .map(ToString::to_string)
                .collect();
            let more = if all > lines.len() {
                format!(", … ({all} in all)")
            } else {
                String::new()
            };
            format!(
                "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: \
                 {}{more}. Please ensure it is unique",
                lines.join(", ")
            )
        }
    }
}
