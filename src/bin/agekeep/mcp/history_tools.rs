//! The tools that read history: `memory_history`, `memory_diff` and `memory_search`. Each call is
//! recorded, and does not count as an access. Then the tools that restore memories, and those of an
//! administrator.

use agekeep::event::Context;
use agekeep::memory_tool::path::MemoryPath;
use agekeep::store::history::{Match, Matches, MemoryDiff, Search};
use agekeep::store::log::Filter;
use agekeep::store::retention::{EraseOf, SweepOptions, check_reason};
use agekeep::store::undo::Undo;
use serde_json::{Value, json};

use crate::mcp::call::{CallFault, StoreCall, ToolReply};
use crate::output::StyledLine;
use crate::render;
use crate::verbs::{erase, history, redact, retention, undo};

/// The number of changes that `memory_history` lists by default.
const CHANGES: usize = 20;
/// Most changes that it lists.
const CHANGES_MAX: usize = 200;
/// Most lines that `memory_search` answers.
const LINES_MAX: usize = 200;
/// Most characters of such a line.
const LINE_CHARACTERS_MAX: usize = 1_000;

/// Carries out a call of one of these tools.
pub(super) fn answer(tool: &str, call: &mut StoreCall<'_>) -> Result<ToolReply, CallFault> {
    match tool {
        "memory_history" => looked(call, changes_of),
        "memory_diff" => looked(call, difference),
        "memory_search" => looked(call, search),
        "memory_restore" => restored(call),
        "memory_expire" => swept(call),
        "memory_redact" => redacted(call),
        "memory_erase" => erased(call),
        other => Err(CallFault::Misused(format!("no such tool: {other}"))),
    }
}

/// A look at history, below a path if one is given.
type HistoryQuery = fn(&mut StoreCall<'_>, Option<&MemoryPath>) -> Result<ToolReply, CallFault>;

fn looked(call: &mut StoreCall<'_>, look: HistoryQuery) -> Result<ToolReply, CallFault> {
    let path = call.arguments.text("path")?;
    let store = call.state.store()?;
    let within = path.map(|path| store.parse_path(&path)).transpose()?;
    let within = within.filter(|path| !path.is_root());
    let characters_max = store.limits().view_characters;
    let reply = look(call, within.as_ref())?;
    Ok(ToolReply {
        text: bounded(reply.text, characters_max),
        ..reply
    })
}

fn changes_of(
    call: &mut StoreCall<'_>,
    within: Option<&MemoryPath>,
) -> Result<ToolReply, CallFault> {
    let limit = call
        .arguments
        .count("limit", CHANGES_MAX)?
        .unwrap_or(CHANGES);
    let mut filter = Filter::default();
    filter.path = within.cloned();
    filter.altering = true;
    let (mut lines, mut found) = (Vec::new(), Vec::new());
    call.state.with(|store| {
        let trial = store.is_trial();
        let looked = store.events_with_changes(&filter, limit, &call.context)?;
        for shown in looked.found {
            let shown = shown?;
            let line = render::to_text(&shown.entry);
            let mut event = render::to_json(&shown.entry, trial);
            // Nobody can count the lines of an erased text.
            if shown.changes.iter().all(|one| one.problem.is_none()) {
                let (added, removed) = render::counts_of(&shown.changes);
                lines.push(format!("{line}  +{added} -{removed} lines"));
                event["lines_added"] = added.into();
                event["lines_removed"] = removed.into();
            } else {
                lines.push(line);
            }
            found.push(event);
        }
        Ok(())
    })?;
    let text = if lines.is_empty() {
        "Nothing has changed a memory there.".into()
    } else {
        lines.join("\n")
    };
    Ok(ToolReply::found(text, json!({"events": found})))
}

fn difference(
    call: &mut StoreCall<'_>,
    within: Option<&MemoryPath>,
) -> Result<ToolReply, CallFault> {
    let mut moment = |name: &str| {
        let text = call.arguments.text(name)?;
        let revision = text.map(|text| call.state.revision(&text)).transpose();
        Ok::<_, CallFault>(revision?)
    };
    let (from, to) = (moment("from")?, moment("to")?);
    if from.is_none() && to.is_some() {
        let why = "memory_diff needs the parameter `from` where it is given `to`";
        return Err(CallFault::Misused(why.into()));
    }
    let looked = call
        .state
        .with(|store| store.diff(from.as_ref(), to.as_ref(), within, &call.context))?;
    let found = &looked.found;
    let lines: Vec<StyledLine> = found.changes.iter().flat_map(render::to_lines).collect();
    let text = if lines.is_empty() {
        "Nothing differs.".into()
    } else {
        lines.iter().map(plain).collect::<Vec<_>>().join("\n")
    };
    let structured = json!({
        "from": found.from,
        "to": found.to,
        "changes": found.changes.iter().take(CHANGES_MAX).map(without_hunks).collect::<Vec<_>>(),
        "found": found.changes.len(),
    });
    Ok(ToolReply::found(text, structured))
}

fn search(call: &mut StoreCall<'_>, within: Option<&MemoryPath>) -> Result<ToolReply, CallFault> {
    let mut search = Search::new(call.arguments.needed_text("pattern")?);
    if search.pattern.is_empty() {
        let why = "memory_search needs the parameter `pattern`: a text that is not empty";
        return Err(CallFault::Misused(why.into()));
    }
    search.fixed = !call.arguments.flag("regex")?.unwrap_or(false);
    search.ignore_case = call.arguments.flag("ignore_case")?.unwrap_or(false);
    search.history = call.arguments.flag("history")?.unwrap_or(false);
    search.within = within.cloned();
    let looked = call
        .state
        .with(|store| store.grep(&search, &call.context))?;
    let Matches {
        lines, problems, ..
    } = &looked.found;
    let shown = &lines[..lines.len().min(LINES_MAX)];
    let mut text: Vec<String> = shown
        .iter()
        .map(|found| cut(&plain(&history::match_to_line(found, search.history))))
        .collect();
    if lines.is_empty() {
        text.push("Nothing was found.".into());
    }
    if lines.len() > shown.len() {
        let (some, all) = (shown.len(), lines.len());
        text.push(format!(
            "[{some} of {all} lines shown. Search for something rarer.]"
        ));
    }
    text.extend(
        problems
            .iter()
            .map(|problem| format!("[Not searched: {problem}]")),
    );
    let structured = json!({
        "lines": shown.iter().map(with_a_short_line).collect::<Vec<_>>(),
        "found": lines.len(),
    });
    Ok(ToolReply::found(text.join("\n"), structured))
}

/// Makes a change an object without its hunks, which stand in the text as far as there is room.
fn without_hunks(changed: &MemoryDiff) -> Value {
    let mut object = render::changes_to_json(changed);
    object.as_object_mut().map(|object| object.remove("hunks"));
    object
}

fn with_a_short_line(found: &Match) -> Value {
    let mut object = history::match_to_json(found);
    object["text"] = cut(found.text.as_str()).into();
    object
}

/// Cuts a line that is longer than anybody reads.
fn cut(line: &str) -> String {
    match line.char_indices().nth(LINE_CHARACTERS_MAX) {
        None => line.to_owned(),
        Some((at, _)) => format!("{}… [{} bytes]", &line[..at], line.len()),
    }
}

fn plain(line: &StyledLine) -> String {
    line.iter().map(|(_, text)| text.as_str()).collect()
}

/// Cuts an answer at a line's end, in the way a view is cut.
fn bounded(text: String, characters_max: usize) -> String {
    let Some((at, _)) = text
        .char_indices()
        .nth(characters_max)
        .filter(|_| characters_max > 0)
    else {
        return text;
    };
    let shown = text[..at]
        .rfind('\n')
        .map_or(&text[..at], |end| &text[..end]);
    let (some, all) = (shown.lines().count(), text.lines().count());
    format!("{shown}\n[Truncated: {some} of {all} lines shown.]")
}

// The tools that restore memories, and those of an administrator.

fn restored(call: &mut StoreCall<'_>) -> Result<ToolReply, CallFault> {
    let path = call.arguments.needed_text("path")?;
    let path = call.state.store()?.parse_path(&path)?;
    let from = match call.arguments.text("from")? {
        Some(from) => call.state.revision(&from)?,
        None => call.state.with(|store| store.last_revision_of(&path))?,
    };
    let restore = Undo::Restore { path, from };
    let (plan, meta) = call
        .state
        .with(|store| store.undo(&restore, None, false, &call.context))?;
    let text = undo::to_text(&plan, false, meta.as_ref());
    Ok(ToolReply::found(text, json!({"plan": plan, "meta": meta})))
}

fn swept(call: &mut StoreCall<'_>) -> Result<ToolReply, CallFault> {
    let how = SweepOptions::default();
    if call.arguments.flag("dry_run")?.unwrap_or(true) {
        let plan = call.state.with(|store| store.plan_sweep(how))?;
        let text = retention::to_text(&plan, None);
        return Ok(ToolReply::found(
            text,
            json!({"sweep": retention::to_json(&plan, None)}),
        ));
    }
    let swept = call
        .state
        .with(|store| store.sweep(how, &call.context, &mut |_, _| {}))?;
    let text = retention::to_text(&swept.plan, Some(&swept));
    let structured = retention::to_json(&swept.plan, Some(&swept));
    Ok(ToolReply::found(text, json!({"sweep": structured})))
}

/// Returns the context with the reason that the call gives. What destroys needs one, whoever has
/// confirmed it.
fn with_reason(call: &mut StoreCall<'_>) -> Result<Context, CallFault> {
    let mut context = call.context.clone();
    context.reason = Some(call.arguments.needed_text("reason")?);
    check_reason(&context)?;
    Ok(context)
}

fn redacted(call: &mut StoreCall<'_>) -> Result<ToolReply, CallFault> {
    let path = call.arguments.needed_text("path")?;
    let path = call.state.store()?.parse_path(&path)?;
    let now = call.state.revision("HEAD")?;
    if call.arguments.flag("dry_run")?.unwrap_or(false) {
        let plan = call.state.with(|store| store.plan_redaction(&path, &now))?;
        let text = redact::plan_lines(&plan).join("\n") + "\nNothing was changed.";
        let structured = redact::plan_to_json(&plan);
        return Ok(ToolReply::found(text, json!({"redaction": structured})));
    }
    let context = &with_reason(call)?;
    let done = call
        .state
        .with(|store| store.redact(&path, &now, context, &mut |_, _| {}))?;
    let structured = redact::kept_to_json(&done);
    Ok(ToolReply::found(
        redact::kept_to_text(&done),
        json!({"redaction": structured}),
    ))
}

fn erased(call: &mut StoreCall<'_>) -> Result<ToolReply, CallFault> {
    let path = call.arguments.needed_text("path")?;
    let what = EraseOf::Path(call.state.store()?.parse_path(&path)?);
    let history = call.arguments.flag("history")?.unwrap_or(false);
    if call.arguments.flag("dry_run")?.unwrap_or(false) {
        let targets = call
            .state
            .with(|store| store.plan_erasure(&what, history))?;
        let text = erase::lines(&targets, None).join("\n");
        let structured = erase::all_to_json(&targets, history, None);
        return Ok(ToolReply::found(text, json!({"erasure": structured})));
    }
    let context = &with_reason(call)?;
    let done = call
        .state
        .with(|store| store.erase(&what, history, context, &mut |_, _| {}))?;
    let text = erase::lines(&done.targets, Some(&done)).join("\n");
    let structured = erase::all_to_json(&done.targets, history, Some(&done));
    Ok(ToolReply::found(text, json!({"erasure": structured})))
}
