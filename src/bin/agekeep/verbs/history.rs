//! The verbs that look at history: `show`, `diff`, `blame`, `search`, `view --at`, `log`
//! and `access`.

use std::collections::BTreeSet;

use agekeep::error::{Error, Result, nearest};
use agekeep::event::{ADMINISTRATIVE_COMMANDS, Event, Outcome};
use agekeep::id::MemoryId;
use agekeep::memory_tool::command::NAMES;
use agekeep::store::Store;
use agekeep::store::history::{
    Blame, BlamedLine, EventDiff, Match, Matches, MemoryDiff, Recorded, Search, View,
};
use agekeep::store::log::{Entry, Filter};
use agekeep::store::revision::{Revision, parse_time};
use clap::Args;
use serde_json::json;

use crate::args::{Global, memory_path, path_or_id};
use crate::output::{self, Style, StyledLine, plain};
use crate::siem::{self, StreamArgs};
use crate::{render, table};

/// Most events whose actors and sessions are compared with a mistyped one.
const RECENT: usize = 1_000;

#[derive(Args)]
pub(crate) struct Show {
    /// An event (REV), or a file as it was right after that event (REV:PATH)
    #[arg(default_value = "HEAD", value_name = "REV[:PATH]")]
    what: String,
}

#[derive(Args)]
pub(crate) struct Diff {
    /// The first revision [default: before the last change], the second revision [default: now],
    /// and a path
    #[arg(num_args = 0..=3, value_name = "A] [B] [PATH")]
    what: Vec<String>,
    /// Show only how many lines changed
    #[arg(long)]
    stat: bool,
}

#[derive(Args)]
pub(crate) struct BlameArgs {
    /// The file
    #[arg(value_parser = memory_path)]
    path: String,
    /// Show the file as it was at this revision
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    at: String,
}

#[derive(Args)]
pub(crate) struct SearchArgs {
    /// A regular expression
    #[arg(allow_hyphen_values = true)]
    pattern: String,
    /// Search only this path and everything below it
    #[arg(value_parser = memory_path)]
    path: Option<String>,
    /// Search every version there ever was; each line is shown once, with the events it lasted for
    #[arg(long)]
    history: bool,
    /// Search for the pattern as plain text, not as a regular expression
    #[arg(short = 'F', long)]
    fixed_strings: bool,
    /// Ignore upper and lower case
    #[arg(long)]
    ignore_case: bool,
}

/// The moments between which `diff` compares; what comes after them is a path.
const MOMENTS: usize = 2;

/// The exit code of a search that finds nothing.
const NOT_FOUND: u8 = 4;

/// Parses a revision as the command line takes it.
pub(crate) fn revision(global: &Global, text: &str) -> Result<Revision> {
    Revision::parse(text, (global.clock())())
}

/// Splits `REV:PATH`; `None` if it is not of that form. A time has colons of its own, and so may a
/// path: what stands before the last colon that leaves a revision is the revision.
pub(crate) fn revision_and_path(global: &Global, text: &str) -> Option<(Result<Revision>, String)> {
    // No form of a revision holds `:/`, so what stands before it is to be one.
    if let Some((at, path)) = text.split_once(":/") {
        return Some((revision(global, at), format!("/{path}")));
    }
    let mut colons = text.rmatch_indices(':').map(|(at, _)| at);
    let split = |at: usize| Some((revision(global, &text[..at]).ok()?, &text[at + 1..]));
    let (at, path) = colons.find_map(split)?;
    let Ok(path) = memory_path(path);
    Some((Ok(at), path))
}

pub(crate) fn view_at(
    global: &Global,
    path: &str,
    range: Option<(i64, i64)>,
    at: &str,
) -> Result<u8> {
    let mut store = global.open_to_look()?;
    let at = revision(global, at)?;
    let looked = store.view_at(path, range, &at, &global.context())?;
    show_view(global, &looked, looked.found.content.as_str())
}

fn show_view(global: &Global, looked: &Recorded<View>, text: &str) -> Result<u8> {
    output::unless_recorded(&looked.recorded);
    let view = &looked.found;
    let object = json!({
        "schema": "agekeep.view/1",
        "at": view.at,
        "time": render::rfc3339(view.time),
        "content": view.content.as_str(),
        "version": view.version.as_ref().map(render::side_to_json),
        "recorded": render::recorded_to_json(&looked.recorded),
    });
    output::answer(global, &object, text)?;
    Ok(0)
}

pub(crate) fn show(global: &Global, args: &Show) -> Result<u8> {
    let mut store = global.open_to_look()?;
    // A time, such as @2026-11-01T09:00Z, could be taken apart too.
    let whole = revision(global, &args.what);
    let of_file = revision_and_path(global, &args.what).filter(|_| whole.is_err());
    if let Some((at, path)) = of_file {
        let looked = store.show_at(&path, &at?, &global.context())?;
        let content = looked.found.content.as_str();
        let text = content.strip_suffix('\n').unwrap_or(content);
        return show_view(global, &looked, text);
    }
    let looked = store.show(&whole?, &global.context())?;
    output::unless_recorded(&looked.recorded);
    if global.json {
        let mut object = render::shown_to_json(&looked.found, store.is_trial());
        object["recorded"] = render::recorded_to_json(&looked.recorded);
        output::json(&object)?;
        return Ok(0);
    }
    pages(global, render::shown_to_lines(&looked.found))
}

pub(crate) fn diff(global: &Global, args: &Diff) -> Result<u8> {
    let mut store = global.open_to_look()?;
    let (moments, path) = match args.what.split_last() {
        // What has no form of a revision is a path.
        Some((path, moments)) if moments.len() == MOMENTS || revision(global, path).is_err() => {
            let Ok(path) = memory_path(path);
            (moments, Some(store.parse_path(&path)?))
        }
        _ => (&args.what[..], None),
    };
    let moments: Vec<Revision> = moments
        .iter()
        .map(|text| revision(global, text))
        .collect::<Result<_>>()?;
    let (from, to) = (moments.first(), moments.get(1));
    let looked = store.diff(from, to, path.as_ref(), &global.context())?;
    output::unless_recorded(&looked.recorded);
    let found = &looked.found;
    if global.json {
        output::json(&json!({
            "schema": "agekeep.diff/1",
            "from": found.from,
            "to": found.to,
            "changes": found.changes.iter().map(render::changes_to_json).collect::<Vec<_>>(),
            "recorded": render::recorded_to_json(&looked.recorded),
        }))?;
        return Ok(0);
    }
    let lines = if args.stat {
        stat(&found.changes)
    } else {
        found.changes.iter().flat_map(render::to_lines).collect()
    };
    pages(global, lines)
}

fn stat(changed: &[MemoryDiff]) -> Vec<StyledLine> {
    let lines = changed.iter().map(|one| plain(&render::to_stat(one)));
    lines.chain([plain(&render::total(changed))]).collect()
}

pub(crate) fn blame(global: &Global, args: &BlameArgs) -> Result<u8> {
    let mut store = global.open_to_look()?;
    let (path, at) = (store.parse_path(&args.path)?, revision(global, &args.at)?);
    let looked = store.blame(&path, &at, &global.context())?;
    output::unless_recorded(&looked.recorded);
    let found = &looked.found;
    if global.json {
        output::json(&blame_to_json(found, &looked))?;
        return Ok(0);
    }
    pages(global, blame_to_lines(found))
}

fn blame_to_json(found: &Blame, looked: &Recorded<Blame>) -> serde_json::Value {
    let origins = found.origins.iter().map(|origin| {
        json!({
            "version": render::side_to_json(&origin.version),
            "commit": origin.commit,
            "time": render::rfc3339(origin.time),
            "command": origin.command,
            "actor": origin.actor,
            "session": origin.session,
            "or_before": origin.or_before,
        })
    });
    let lines = found.lines.iter().map(
        |line| json!({"number": line.number, "text": line.text.as_str(), "origin": line.origin}),
    );
    json!({
        "schema": "agekeep.blame/1",
        "of": render::side_to_json(&found.of),
        "origins": origins.collect::<Vec<_>>(),
        "lines": lines.collect::<Vec<_>>(),
        "recorded": render::recorded_to_json(&looked.recorded),
    })
}

fn blame_to_lines(found: &Blame) -> Vec<StyledLine> {
    let who: Vec<[String; 4]> = found
        .origins
        .iter()
        .map(|origin| {
            // Nobody can tell who wrote a line that may be older.
            let said = |text: &Option<String>| {
                let text = text.as_deref().filter(|_| !origin.or_before);
                text.map_or("-".into(), render::quoted)
            };
            let before = if origin.or_before { "<=" } else { "" };
            [
                format!("{before}{}", origin.version.event),
                render::seconds(origin.time),
                said(&origin.actor),
                said(&origin.session),
            ]
        })
        .collect();
    let width = |column: usize| {
        let widths = who.iter().map(|row| row[column].chars().count());
        widths.max().unwrap_or(0)
    };
    let widths = [width(0), width(1), width(2), width(3)];
    let digits = found.lines.len().to_string().len();
    let line = |line: &BlamedLine| {
        let [event, time, actor, session] = &who[line.origin];
        let (e, t, a, s) = (widths[0], widths[1], widths[2], widths[3]);
        let origin = format!(
            "{event:>e$}  {time:<t$}  {actor:<a$}  {session:<s$}  {:>digits$} | ",
            line.number
        );
        vec![
            (Style::Place, origin),
            (Style::Plain, line.text.as_str().to_owned()),
        ]
    };
    found.lines.iter().map(line).collect()
}

pub(crate) fn search(global: &Global, args: &SearchArgs) -> Result<u8> {
    let mut store = global.open_to_look()?;
    let search = wanted(&store, args)?;
    let looked = store.grep(&search, &global.context())?;
    output::unless_recorded(&looked.recorded);
    let Matches {
        lines, problems, ..
    } = &looked.found;
    for problem in problems {
        output::warn(&format!("not searched: {problem}"));
    }
    let line = |found: &Match| {
        if global.json {
            plain(&match_to_json(found).to_string())
        } else {
            match_to_line(found, args.history)
        }
    };
    output::pages(global, lines.iter().map(|found| Ok(line(found))))?;
    Ok(if lines.is_empty() { NOT_FOUND } else { 0 })
}

fn wanted(store: &Store, args: &SearchArgs) -> Result<Search> {
    let mut search = Search::new(&args.pattern);
    search.fixed = args.fixed_strings;
    search.ignore_case = args.ignore_case;
    search.history = args.history;
    let path = args.path.as_deref();
    search.within = path.map(|path| store.parse_path(path)).transpose()?;
    Ok(search)
}

/// Renders a line that was found, as an object.
pub(crate) fn match_to_json(found: &Match) -> serde_json::Value {
    json!({
        "schema": "agekeep.match/1",
        "memory": found.version.id,
        "version": render::side_to_json(&found.version),
        "line": found.number,
        "text": found.text.as_str(),
        "gone": found.gone,
    })
}

/// Renders a line that was found.
pub(crate) fn match_to_line(found: &Match, history: bool) -> StyledLine {
    let path = render::shown_path(&found.version);
    let place = if history {
        let (first, version) = (found.version.event, found.version.version);
        let lasted = found.gone.map_or_else(
            || format!("since event {first}"),
            |gone| format!("event {first} until {gone}"),
        );
        format!("{path} v{version} ({lasted}):{}: ", found.number)
    } else {
        format!("{path}:{}: ", found.number)
    };
    vec![
        (Style::Place, place),
        (Style::Plain, found.text.as_str().to_owned()),
    ]
}

fn pages(global: &Global, lines: Vec<StyledLine>) -> Result<u8> {
    output::pages(global, lines.into_iter().map(Ok))?;
    Ok(0)
}

// `log`: who did what and when, newest first; and `access`: who read a memory.

#[derive(Args)]
pub(crate) struct Log {
    /// Only events about what was ever at this path or below it, through renames, or about the
    /// memory of this id
    #[arg(value_name = "PATH|ID", value_parser = path_or_id)]
    path: Option<String>,
    /// Also show what each event changed; recorded as a look
    #[arg(short, long)]
    patch: bool,
    /// Show only events of this command, such as view, create or init
    #[arg(long, value_name = "NAME")]
    command: Option<String>,
    /// Show only events with this outcome
    #[arg(long, value_parser = OUTCOMES.map(Outcome::as_str))]
    outcome: Option<String>,
    /// Show only events at or after this time: RFC 3339, a date, `yesterday`, or an age such as
    /// 30m, 2h, 7d
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Show only events before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// At most this many events
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
    #[command(flatten)]
    stream: StreamArgs,
}

#[derive(Args)]
pub(crate) struct Access {
    /// What was ever at this path or below it, through renames, or the id of a memory
    #[arg(value_name = "PATH|ID", value_parser = path_or_id)]
    path: String,
    /// At most this many events
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
}

/// The outcomes that events can be selected by.
pub(crate) const OUTCOMES: [Outcome; 3] = [Outcome::Ok, Outcome::Error, Outcome::Denied];

/// Finds an outcome by its name.
pub(crate) fn outcome(text: &str) -> Result<Outcome> {
    let found = OUTCOMES
        .into_iter()
        .find(|outcome| outcome.as_str() == text);
    found.ok_or_else(|| Error::invalid("the outcome", "it is none of ok, error and denied"))
}

pub(crate) fn log(global: &Global, args: &Log) -> Result<u8> {
    let mut store = if args.patch {
        global.open_to_look()?
    } else {
        global.open_for_reading()?
    };
    let filter = filter(global, args, &store)?;
    let limit = args.limit.unwrap_or(usize::MAX);
    let trial = said_trial(global, &store);
    if args.stream.is_asked() {
        let shown = siem::run(global, &args.stream, &mut store, &filter, limit)?;
        let is_text = !global.json && !args.stream.has_format();
        return Ok(unless_shown(is_text, shown, &filter));
    }
    let shown = if args.patch {
        with_changes(global, &mut store, &filter, limit)?
    } else if filter == Filter::default() {
        // The newest events are found without the rest of history.
        print(global, trial, store.log().take(limit))?
    } else {
        print(global, trial, store.events(&filter)?.take(limit))?
    };
    let shown = shown || args.limit == Some(0);
    if !shown && !global.json {
        suggest(&mut store, &filter)?;
    }
    Ok(unless_shown(!global.json, shown, &filter))
}

/// Names the actors and sessions of recent events that a mistyped one may have meant.
fn suggest(store: &mut Store, filter: &Filter) -> Result<()> {
    if filter.actor.is_none() && filter.session.is_none() {
        return Ok(());
    }
    let recent = store.events(&Filter::default())?.take(RECENT);
    let recent: Vec<Event> = recent
        .map(|entry| entry.map(|entry| entry.event))
        .collect::<Result<_>>()?;
    let actors = recent.iter().filter_map(|event| event.actor.as_deref());
    let sessions = recent.iter().filter_map(|event| event.session.as_deref());
    for (asked, known) in [
        (&filter.actor, actors.collect::<BTreeSet<_>>()),
        (&filter.session, sessions.collect()),
    ] {
        let asked = asked.as_deref().filter(|asked| !known.contains(asked));
        let near = asked.map(|asked| nearest(asked, known.iter().copied()));
        if let Some(near) = near.as_deref().and_then(<[_]>::first) {
            output::note(&format!("did you mean {}?", render::quoted(near)));
        }
    }
    Ok(())
}

pub(crate) fn access(global: &Global, args: &Access) -> Result<u8> {
    let mut store = global.open_for_reading()?;
    let mut filter = Filter::default();
    select(&mut filter, &store, &args.path)?;
    let trial = said_trial(global, &store);
    let entries = store.accesses(&filter)?;
    let entries = entries.take(args.limit.unwrap_or(usize::MAX));
    let shown = print(global, trial, entries)?;
    if shown || args.limit == Some(0) {
        return Ok(0);
    }
    // A memory that nobody has read is known all the same.
    if store.events(&filter)?.next().is_some() {
        if !global.json {
            output::note("nobody has read it");
        }
        return Ok(0);
    }
    Ok(unless_shown(!global.json, false, &filter))
}

/// Says of a store for trials that it is one: with --json each line does. Returns whether it is one.
fn said_trial(global: &Global, store: &Store) -> bool {
    let trial = store.is_trial();
    if trial && !global.json && !global.quiet {
        output::note(&format!("note: {}", render::TRIAL));
    }
    trial
}

/// Selects the events about a path, or about the memory of an id.
fn select(filter: &mut Filter, store: &Store, what: &str) -> Result<()> {
    match MemoryId::from_hex(what) {
        Some(id) => filter.memory = Some(id),
        None => filter.path = Some(store.parse_path(what)?),
    }
    Ok(())
}

/// Says if no event was shown, and returns the exit code: a path, memory, actor or session without
/// any is not found. A program that asks for something else learns it from the empty output.
fn unless_shown(is_text: bool, shown: bool, filter: &Filter) -> u8 {
    let names = [&filter.actor, &filter.session];
    let is_named =
        filter.path.is_some() || filter.memory.is_some() || names.iter().any(|name| name.is_some());
    if shown {
        return 0;
    }
    if is_named || is_text {
        output::note("no events");
    }
    if is_named { NOT_FOUND } else { 0 }
}

/// Prints events, and tells whether there was any.
fn print(
    global: &Global,
    trial: bool,
    entries: impl Iterator<Item = Result<Entry>>,
) -> Result<bool> {
    let line = |entry: &Entry| {
        if global.json {
            plain(&render::to_json(entry, trial).to_string())
        } else {
            render::to_line(entry)
        }
    };
    table::print(global, render::EVENTS, entries, line, render::to_row)
}

/// Prints events with what they changed, and tells whether there was any.
fn with_changes(global: &Global, store: &mut Store, filter: &Filter, limit: usize) -> Result<bool> {
    let trial = store.is_trial();
    let looked = store.events_with_changes(filter, limit, &global.reader_context())?;
    output::unless_recorded(&looked.recorded);
    let mut any = false;
    let lines = looked.found.flat_map(|shown| {
        any = true;
        let lines = shown.map(|shown: EventDiff| {
            if global.json {
                vec![plain(&render::shown_to_json(&shown, trial).to_string())]
            } else {
                render::shown_to_lines(&shown)
            }
        });
        match lines {
            Ok(lines) => lines.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        }
    });
    output::pages(global, lines)?;
    Ok(any)
}

fn filter(global: &Global, args: &Log, store: &Store) -> Result<Filter> {
    let now = (global.clock())();
    let time = |text: &Option<String>| text.as_deref().map(|t| parse_time(t, now)).transpose();
    let mut filter = Filter::default();
    if let Some(what) = &args.path {
        select(&mut filter, store, what)?;
    }
    filter.actor.clone_from(&global.actor);
    filter.session.clone_from(&global.session);
    filter.command = args.command.as_deref().map(command_name).transpose()?;
    filter.outcome = args.outcome.as_deref().map(outcome).transpose()?;
    filter.since = time(&args.since)?;
    filter.until = time(&args.until)?;
    Ok(filter)
}

/// Returns a command's name as records spell it.
fn command_name(text: &str) -> Result<String> {
    let name = text.replace('-', "_");
    let known = NAMES
        .iter()
        .chain(&ADMINISTRATIVE_COMMANDS)
        .chain(&["unknown"]);
    if known.clone().any(|known| *known == name) {
        return Ok(name);
    }
    let known: Vec<&str> = known.copied().collect();
    let why = match nearest(&name, known.iter().copied())[..] {
        [near, ..] => format!("no command is called {name:?}; the nearest is {near}"),
        [] => format!("it is not one of {}", known.join(", ")),
    };
    Err(Error::invalid("the command's name", why))
}
