//! Plans of the memory commands: first those that write one text, then `delete` and `rename`, then
//! `view` and `memory_read`.

use crate::Text;
use crate::crypto::digest::Digest;
use crate::event::{Change, PathRef};
use crate::memory_tool::edit::{self, ReplaceFault};
use crate::memory_tool::listing;
use crate::memory_tool::path::MemoryPath;
use crate::policy::MOVE_BYTES;
use crate::redact::Redacted;
use crate::state::catalog::Memory;
use crate::store::answer::Refusal;
use crate::store::plan::{
    Drafted, Plan, PlanFault, PlanInput, PlanTarget, PlannedChange, Subject, VALID_PATH,
    VersionWrite, already, asked, check_base, does_not_exist, evict_expired_checked, moved_on,
    needs_file, no_secret_in, not_below_a_file, noted, path_named, place, read_plan, redacted,
    refuse, refuse_path, relative_path, text_at_base, text_now, touch, write_plan,
};
use crate::store::sweep::unexpired;
use crate::store::versions::{text_before, text_of};
use crate::store::{Ledger, State, Store, redactor};

/// Most occurrences whose lines an answer lists.
const LINES_NAMED_MAX: usize = 1_000;

const EDITED: &str =
    "The memory file has been edited. Here is the snippet showing the change (with line numbers):";

pub(super) fn create(store: &mut Store, call: &PlanInput<'_>, text: &Text) -> Drafted {
    let path = path_named(store, call.shown)?;
    let done = format!("File created successfully at: {}", call.shown);
    if let Some(memory) = unexpired(&store.state).at(&path).cloned() {
        if call.base.is_some() || store.state.config.policy.tool.create_overwrites {
            let text = keepable(store, call, &path, text)?;
            if is_done(&mut store.ledger, call, &memory, &text)? {
                return Ok(already(noted(&done, &text.kinds()), &memory, text.text()));
            }
            if store.state.config.policy.tool.create_overwrites {
                return Ok(overwrite(&memory, text, done));
            }
        }
    } else if call.base.is_some() {
        return refuse(Refusal::Precondition, moved_on(call.shown));
    }
    if unexpired(&store.state).at(&path).is_some() || unexpired(&store.state).is_directory(&path) {
        let text = format!("Error: File {} already exists", call.shown);
        return refuse(Refusal::Exists, text);
    }
    add(store, call, path, text, &done)
}

pub(super) fn write(store: &mut Store, call: &PlanInput<'_>, text: &Text) -> Drafted {
    let path = relative_path(store, call.shown)?;
    let done = format!("Written to {}", call.shown);
    if let Some(memory) = unexpired(&store.state).at(&path).cloned() {
        let text = keepable(store, call, &path, text)?;
        if is_done(&mut store.ledger, call, &memory, &text)? {
            return Ok(already(noted(&done, &text.kinds()), &memory, text.text()));
        }
        return Ok(overwrite(&memory, text, done));
    }
    if unexpired(&store.state).is_directory(&path) {
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

/// Tells whether a call with a base finds the text it would write already in place.
fn is_done(
    ledger: &mut Ledger,
    call: &PlanInput<'_>,
    memory: &Memory,
    text: &Redacted,
) -> Result<bool, PlanFault> {
    let Some(base) = call.base else {
        return Ok(false);
    };
    let text = text.text();
    let now = text_now(ledger, memory, call)?;
    if now != *text {
        check_base(base, &now, call.shown)?;
    }
    Ok(now == *text)
}

fn add(store: &Store, call: &PlanInput<'_>, path: MemoryPath, text: &Text, done: &str) -> Drafted {
    no_secret_in(store, &path, call.shown)?;
    not_below_a_file(&store.state, &path, call.shown)?;
    let text = keepable(store, call, &path, text)?;
    let max = store.state.config.policy.limits.memories;
    if store.state.catalog.len() >= max && unexpired(&store.state).len() >= max {
        let files = match unexpired(&store.state).len() {
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
    let making_way = evict_expired_checked(store, &path, call.shown)?;
    let step = PlannedChange::Add {
        path: path.clone(),
        text,
    };
    let mut plan = Plan::about(done, PlanTarget::New(path), step, &kept);
    plan.steps.extend(making_way);
    Ok(plan)
}

/// Redacts a text, and checks that it is within the size limit before and after.
fn keepable(
    store: &Store,
    call: &PlanInput<'_>,
    path: &MemoryPath,
    text: &Text,
) -> Result<Redacted, PlanFault> {
    within_size(&store.state, call.shown, text)?;
    let redacted = redacted(store, path, call.shown, text, call.ahead)?;
    within_size(&store.state, call.shown, redacted.text())?;
    Ok(redacted)
}

pub(super) fn str_replace(
    store: &mut Store,
    call: &PlanInput<'_>,
    old: &Text,
    new: &Text,
) -> Drafted {
    let memory = existing(
        store,
        call,
        &format!("Error: {}", does_not_exist(call.shown, VALID_PATH)),
    )?;
    let max = store.state.config.policy.limits.view_characters;
    let path = memory.path.clone();
    // The old text may contain a secret that was stripped when the memory was written.
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
    let text = text_now(&mut store.ledger, &memory, call)?;
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

pub(super) fn insert(store: &mut Store, call: &PlanInput<'_>, line: i64, insert: &Text) -> Drafted {
    let memory = existing(
        store,
        call,
        &format!("Error: {}", does_not_exist(call.shown, "")),
    )?;
    let done = format!("The file {} has been edited.", call.shown);
    let edit = |text: &str| edit::insert(text, line, insert.as_str());
    let text = text_now(&mut store.ledger, &memory, call)?;
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

/// Returns the memory at the call's path, or refuses with the text `missing`.
fn existing(store: &Store, call: &PlanInput<'_>, missing: &str) -> Result<Memory, PlanFault> {
    let path = path_named(store, call.shown)?;
    match unexpired(&store.state).at(&path) {
        Some(memory) => Ok(memory.clone()),
        None => refuse(Refusal::NotFound, missing),
    }
}

fn within_size(state: &State, shown: &str, text: &Text) -> Result<(), PlanFault> {
    let max = state.config.policy.limits.memory_bytes;
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

// Plans that remove or move memories: `delete` and `rename`.

pub(super) fn delete(store: &mut Store, call: &PlanInput<'_>) -> Drafted {
    let path = path_named(store, call.shown)?;
    if path.is_root() {
        return refuse(
            Refusal::Denied,
            "Error: Cannot delete the /memories directory itself",
        );
    }
    let done = format!("Successfully deleted {}", call.shown);
    let place = PlanTarget::At(place(&store.state, &path));
    if let Some(memory) = unexpired(&store.state).at(&path).cloned() {
        if let Some(base) = call.base {
            let text = text_now(&mut store.ledger, &memory, call)?;
            check_base(base, &text, call.shown)?;
        }
        no_hold_on(&store.state, &memory)?;
        let step = PlannedChange::Touch(touch(&memory, Change::Remove));
        return Ok(Plan {
            subject: Some(Subject { sha256: None }),
            ..Plan::answer(done, place, vec![step])
        });
    }
    if !unexpired(&store.state).is_directory(&path) {
        return match call.base {
            Some(_) => Ok(Plan::answer(done, place, Vec::new())),
            None => refuse(
                Refusal::NotFound,
                format!("Error: {}", does_not_exist(call.shown, "")),
            ),
        };
    }
    needs_file(call)?;
    let memories: Vec<Memory> = unexpired(&store.state).below(&path).cloned().collect();
    memories
        .iter()
        .try_for_each(|memory| no_hold_on(&store.state, memory))?;
    let remove = |memory| PlannedChange::Touch(touch(memory, Change::Remove));
    let steps = memories.iter().map(remove).collect();
    Ok(Plan::answer(done, place, steps))
}

/// Refuses to delete a memory under a hold.
fn no_hold_on(state: &State, memory: &Memory) -> Result<(), PlanFault> {
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

pub(super) fn rename(store: &mut Store, call: &PlanInput<'_>, shown_to: &str) -> Drafted {
    let from = path_named(store, call.shown)?;
    if from.is_root() {
        return refuse(
            Refusal::Denied,
            "Error: Cannot rename the /memories directory itself",
        );
    }
    let to = path_named(store, shown_to)?;
    let done = format!("Successfully renamed {} to {shown_to}", call.shown);
    let source = unexpired(&store.state).at(&from).cloned();
    let taken = unexpired(&store.state).at(&to).cloned();
    if let (Some(base), None, Some(there)) = (call.base, &source, &taken) {
        let text = text_now(&mut store.ledger, there, call)?;
        check_base(base, &text, shown_to)?;
        return Ok(Plan {
            path: Some(PlanTarget::At(asked(store, &from)?)),
            new_path: Some(PathRef::Of(there.id, Some(to))),
            ..already(done, there, &text)
        });
    }
    if taken.is_some() || unexpired(&store.state).is_directory(&to) {
        let text = format!("Error: The destination {shown_to} already exists");
        return refuse(Refusal::Exists, text);
    }
    if source.is_none() && !unexpired(&store.state).is_directory(&from) {
        let text = format!("Error: {}", does_not_exist(call.shown, ""));
        return refuse(Refusal::NotFound, text);
    }
    if to.is_below(&from) {
        let text = format!("Error: Cannot move {} into itself: {shown_to}", call.shown);
        return refuse(Refusal::Failed, text);
    }
    no_secret_in(store, &to, shown_to)?;
    not_below_a_file(&store.state, &to, shown_to)?;
    let making_way = evict_expired_checked(store, &to, shown_to)?;
    let mut plan = match source {
        Some(memory) => rename_file(store, call, &memory, to, done),
        None => rename_directory(store, call, &from, &to, &done),
    }?;
    plan.steps.extend(making_way);
    Ok(plan)
}

fn rename_file(
    store: &mut Store,
    call: &PlanInput<'_>,
    memory: &Memory,
    to: MemoryPath,
    done: String,
) -> Drafted {
    let text = text_at_base(&mut store.ledger, memory, call)?;
    let text = redacted(store, &to, to.as_str(), &text, None)?;
    let from = PathRef::Of(memory.id, Some(memory.path.clone()));
    let plan = write_plan(done, memory, Change::Move, to.clone(), text);
    Ok(Plan {
        path: Some(PlanTarget::At(from)),
        new_path: Some(PathRef::Of(memory.id, Some(to))),
        ..plan
    })
}

fn rename_directory(
    store: &mut Store,
    call: &PlanInput<'_>,
    from: &MemoryPath,
    to: &MemoryPath,
    done: &str,
) -> Drafted {
    needs_file(call)?;
    let memories: Vec<Memory> = unexpired(&store.state).below(from).cloned().collect();
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
        let max = store.state.config.policy.limits.path_bytes;
        let path = memory.path.moved(from, to, max);
        let path = path.or_else(|fault| refuse_path(store, memory.path.as_str(), &fault))?;
        let text = text_of(&mut store.ledger, memory)?;
        let text = redacted(store, &path, path.as_str(), &text, None)?;
        steps.push(PlannedChange::Write(
            VersionWrite {
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
        PlannedChange::Write(_, text) => Some(text),
        _ => None,
    });
    let kinds: Vec<&str> = texts.flat_map(Redacted::kinds).collect();
    let done = noted(done, &kinds);
    Ok(Plan {
        new_path: Some(PathRef::Of(first, Some(to.clone()))),
        ..Plan::answer(done, PlanTarget::At(place(&store.state, from)), steps)
    })
}

// Plans that change no text: `view` and `memory_read`.

pub(super) fn view(store: &mut Store, call: &PlanInput<'_>, range: Option<(i64, i64)>) -> Drafted {
    let path = path_named(store, call.shown)?;
    let Some(memory) = unexpired(&store.state).at(&path).cloned() else {
        return view_directory(&store.state, call, &path);
    };
    let text = text_at_base(&mut store.ledger, &memory, call)?;
    let limits = &store.state.config.policy.limits;
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

fn view_directory(state: &State, call: &PlanInput<'_>, path: &MemoryPath) -> Drafted {
    let unexpired = unexpired(state);
    if !unexpired.is_directory(path) {
        return refuse(Refusal::NotFound, does_not_exist(call.shown, VALID_PATH));
    }
    needs_file(call)?;
    let memories = unexpired.below(path).map(|m| (&m.path, m.bytes));
    let content = listing::render(call.shown, path, memories);
    Ok(Plan::answer(
        content,
        PlanTarget::At(place(state, path)),
        Vec::new(),
    ))
}

pub(super) fn read_all(state: &State) -> Plan {
    let root = MemoryPath::root();
    let unexpired = unexpired(state);
    let mut list: Vec<&str> = unexpired.below(&root).map(|m| m.path.relative()).collect();
    list.sort_unstable();
    Plan::answer(list.join("\n"), PlanTarget::At(PathRef::Root), Vec::new())
}

pub(super) fn read(store: &mut Store, call: &PlanInput<'_>) -> Drafted {
    let path = relative_path(store, call.shown)?;
    match unexpired(&store.state).at(&path).cloned() {
        Some(memory) => {
            let text = text_at_base(&mut store.ledger, &memory, call)?;
            Ok(read_plan(text.clone(), &memory, &text))
        }
        None if unexpired(&store.state).is_directory(&path) => refuse(
            Refusal::Failed,
            format!("Error: {} is a directory; read one file in it", call.shown),
        ),
        None => refuse(Refusal::NotFound, does_not_exist(call.shown, VALID_PATH)),
    }
}

/// Formats a number with thousands separators, as the contract writes the line limit.
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
