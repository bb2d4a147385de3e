//! `log`: who did what and when, newest first; and `access`: who read a memory.

use agekeep::error::{Error, Result};
use agekeep::event::{OWNER_COMMANDS, Outcome};
use agekeep::memory_tool::command::NAMES;
use agekeep::store::Store;
use agekeep::store::log::{Entry, Filter};
use agekeep::store::past::Shown;
use agekeep::store::revision::parse_time;
use clap::{Args, ValueEnum};

use crate::args::Global;
use crate::output::Pages;
use crate::{changes, events, output};

#[derive(Args)]
pub(crate) struct Log {
    /// Only events about what was ever at this path or below it, through renames
    path: Option<String>,
    /// Also show what each event changed; that is a look, and recorded
    #[arg(short, long)]
    patch: bool,
    /// Only this command: view, create, … or init
    #[arg(long, value_name = "NAME")]
    command: Option<String>,
    /// Only events that ended like this
    #[arg(long)]
    outcome: Option<Ended>,
    /// Only events then or later: an RFC 3339 time, a date, `yesterday`, or an age such as 30m, 2h,
    /// 7d
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only events before then
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// At most this many events
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
}

#[derive(Args)]
pub(crate) struct Access {
    /// What was ever at this path or below it, through renames
    path: String,
    /// At most this many events
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Ended {
    Ok,
    Error,
    Denied,
}

pub(crate) fn run(global: &Global, args: &Log) -> Result<u8> {
    let mut store = global.open_to_look()?;
    let filter = filter(global, args, &store)?;
    let limit = args.limit.unwrap_or(usize::MAX);
    let pages = Pages::start(!global.no_pager && !global.json, global.color);
    if args.patch {
        return with_changes(global, pages, &mut store, &filter, limit);
    }
    if is_empty(&filter) {
        // The newest events are found without the rest of history.
        return print(global, pages, store.log().take(limit));
    }
    print(global, pages, store.events(&filter)?.take(limit))
}

pub(crate) fn access(global: &Global, args: &Access) -> Result<u8> {
    let mut store = global.open_to_look()?;
    let path = store.parse_path(&args.path)?;
    let pages = Pages::start(!global.no_pager && !global.json, global.color);
    let entries = store.accesses(&path)?;
    print(
        global,
        pages,
        entries.take(args.limit.unwrap_or(usize::MAX)),
    )
}

fn print(
    global: &Global,
    mut pages: Pages,
    entries: impl Iterator<Item = Result<Entry>>,
) -> Result<u8> {
    for entry in entries {
        let entry = entry?;
        let line = if global.json {
            events::to_json(&entry).to_string()
        } else {
            events::to_text(&entry)
        };
        if !pages.line(&line)? {
            break;
        }
    }
    pages.finish();
    Ok(0)
}

fn with_changes(
    global: &Global,
    mut pages: Pages,
    store: &mut Store,
    filter: &Filter,
    limit: usize,
) -> Result<u8> {
    let looked = store.events_with_changes(filter, limit, &global.onlooker())?;
    output::unless_recorded(&looked.recorded);
    for shown in looked.found {
        let shown: Shown = shown?;
        let lines = if global.json {
            vec![output::plain(&changes::shown_to_json(&shown).to_string())]
        } else {
            changes::shown_to_lines(&shown)
        };
        for line in lines {
            if !pages.styled(&line)? {
                pages.finish();
                return Ok(0);
            }
        }
    }
    pages.finish();
    Ok(0)
}

fn filter(global: &Global, args: &Log, store: &Store) -> Result<Filter> {
    let now = (global.clock())();
    let time = |text: &Option<String>| text.as_deref().map(|t| parse_time(t, now)).transpose();
    let mut filter = Filter::default();
    filter.path = args
        .path
        .as_deref()
        .map(|path| store.parse_path(path))
        .transpose()?;
    filter.actor.clone_from(&global.actor);
    filter.session.clone_from(&global.session);
    filter.command = args.command.as_deref().map(command_name).transpose()?;
    filter.outcome = args.outcome.map(|ended| match ended {
        Ended::Ok => Outcome::Ok,
        Ended::Error => Outcome::Error,
        Ended::Denied => Outcome::Denied,
    });
    filter.since = time(&args.since)?;
    filter.until = time(&args.until)?;
    Ok(filter)
}

fn is_empty(filter: &Filter) -> bool {
    filter.path.is_none()
        && filter.actor.is_none()
        && filter.session.is_none()
        && filter.command.is_none()
        && filter.outcome.is_none()
        && filter.since.is_none()
        && filter.until.is_none()
}

/// A command as records name it.
fn command_name(text: &str) -> Result<String> {
    let name = text.replace('-', "_");
    let known = NAMES.iter().chain(&OWNER_COMMANDS).chain(&["unknown"]);
    if known.clone().any(|known| *known == name) {
        return Ok(name);
    }
    let known: Vec<&str> = known.copied().collect();
    Err(Error::Invalid {
        what: "the command",
        why: format!("it is none of {}", known.join(", ")),
    })
}
