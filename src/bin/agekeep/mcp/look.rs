//! Looking back and looking for: `memory_history`, `memory_diff` and `memory_search`. Each is on
//! record as a look, which is no access to a memory.

use agekeep::event::Context;
use agekeep::memory_tool::path::MemoryPath;
use agekeep::store::log::Filter;
use agekeep::store::past::{Changed, Match, Matches, Search};
use serde_json::{Value, json};

use crate::mcp::call::{Arguments, Fault, Reply};
use crate::mcp::keeper::Kept;
use crate::output::Line;
use crate::verbs::history;
use crate::{changes, events};

/// Changes that `memory_history` lists unless it is told how many.
const CHANGES: usize = 20;
/// Changes that it lists at most.
const CHANGES_MAX: usize = 200;
/// Lines that `memory_search` answers at most.
const LINES_MAX: usize = 200;
/// Characters of such a line.
const LINE_CHARACTERS_MAX: usize = 1_000;

pub(super) fn answer(
    kept: &mut Kept,
    tool: &str,
    arguments: &mut Arguments,
    context: &Context,
) -> Result<Reply, Fault> {
    let path = arguments.text("path")?;
    let store = kept.store()?;
    let within = path.map(|path| store.parse_path(&path)).transpose()?;
    let within = within.filter(|path| !path.is_root());
    let characters_max = store.limits().view_characters;
    let reply = match tool {
        "memory_history" => changes_of(kept, arguments, within, context)?,
        "memory_diff" => difference(kept, arguments, within.as_ref(), context)?,
        _ => search(kept, arguments, within, context)?,
    };
    Ok(Reply {
        text: bounded(reply.text, characters_max),
        ..reply
    })
}

fn changes_of(
    kept: &mut Kept,
    arguments: &mut Arguments,
    within: Option<MemoryPath>,
    context: &Context,
) -> Result<Reply, Fault> {
    let limit = arguments.count("limit", CHANGES_MAX)?.unwrap_or(CHANGES);
    let mut filter = Filter::default();
    filter.path = within;
    filter.altering = true;
    let (mut lines, mut found) = (Vec::new(), Vec::new());
    kept.with(|store| {
        let looked = store.events_with_changes(&filter, limit, context)?;
        for shown in looked.found {
            let shown = shown?;
            let line = events::to_text(&shown.entry);
            let mut event = events::to_json(&shown.entry);
            // Of what is erased nobody can tell how many lines there were.
            if shown.changes.iter().all(|one| one.problem.is_none()) {
                let (added, removed) = changes::counts_of(&shown.changes);
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
    Ok(Reply::found(text, json!({"events": found})))
}

fn difference(
    kept: &mut Kept,
    arguments: &mut Arguments,
    within: Option<&MemoryPath>,
    context: &Context,
) -> Result<Reply, Fault> {
    let mut moment = |name: &str| {
        let text = arguments.text(name)?;
        let revision = text.map(|text| kept.revision(&text)).transpose();
        Ok::<_, Fault>(revision?)
    };
    let (from, to) = (moment("from")?, moment("to")?);
    if from.is_none() && to.is_some() {
        let why = "memory_diff needs the parameter `from` where it is given `to`";
        return Err(Fault::Misused(why.into()));
    }
    let looked = kept.with(|store| store.diff(from.as_ref(), to.as_ref(), within, context))?;
    let found = &looked.found;
    let lines: Vec<Line> = found.changes.iter().flat_map(changes::to_lines).collect();
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
    Ok(Reply::found(text, structured))
}

fn search(
    kept: &mut Kept,
    arguments: &mut Arguments,
    within: Option<MemoryPath>,
    context: &Context,
) -> Result<Reply, Fault> {
    let mut search = Search::new(arguments.needed_text("pattern")?);
    if search.pattern.is_empty() {
        let why = "memory_search needs the parameter `pattern`: a text that is not empty";
        return Err(Fault::Misused(why.into()));
    }
    search.fixed = !arguments.flag("regex")?.unwrap_or(false);
    search.ignore_case = arguments.flag("ignore_case")?.unwrap_or(false);
    search.history = arguments.flag("history")?.unwrap_or(false);
    search.within = within;
    let looked = kept.with(|store| store.grep(&search, context))?;
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
    Ok(Reply::found(text.join("\n"), structured))
}

/// A change as an object; what differs in it stands in the text, as far as there is room.
fn without_hunks(changed: &Changed) -> Value {
    let mut object = changes::to_json(changed);
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

fn plain(line: &Line) -> String {
    line.iter().map(|(_, text)| text.as_str()).collect()
}

/// Cuts an answer at a line's end, as a view is cut.
fn bounded(text: String, characters_max: usize) -> String {
    let Some((at, _)) = text
        .char_indices()
        .nth(characters_max)
        .filter(|_| characters_max > 0)
    else {
        return text;
    };
    let kept = text[..at]
        .rfind('\n')
        .map_or(&text[..at], |end| &text[..end]);
    let (some, all) = (kept.lines().count(), text.lines().count());
    format!("{kept}\n[Truncated: {some} of {all} lines shown.]")
}
