//! `erase`: removes memories from history too, with a receipt.

use agekeep::error::{Error, Result};
use agekeep::id::MemoryId;
use agekeep::memory_tool::path::MemoryPath;
use agekeep::store::Store;
use agekeep::store::retention::{EraseOf, EraseTarget, Erasure, check_reason};
use clap::Args;
use serde_json::{Value, json};

use crate::args::{Global, memory_glob, memory_path, path_or_id};
use crate::output;
use crate::terminal::Terminal;
use crate::verbs::replicas;
use crate::{input, platform, render};

#[derive(Args)]
pub(crate) struct Erase {
    /// A file, a directory or a memory id. Alternatively use --session, --actor or --subject
    #[arg(value_name = "PATH|ID", value_parser = path_or_id)]
    what: Option<String>,
    /// Keep the present version, and erase only the older ones
    #[arg(long)]
    history: bool,
    /// Erase every memory whose path ever matched this glob
    #[arg(long, value_name = "GLOB", value_parser = memory_glob)]
    subject: Option<String>,
    /// Print what would be erased, without changing anything
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Do not ask for confirmation; required if there is no terminal
    #[arg(short = 'y', long)]
    yes: bool,
}

pub(crate) fn erase(global: &Global, args: &Erase) -> Result<u8> {
    // Without a path or id, the actor and session select memories, and do not say who erases them.
    let context = match args.what {
        Some(_) => global.context(),
        None => global.reader_context(),
    };
    if !args.dry_run {
        check_reason(&context)?;
        replicas::take_from_others(global)?;
    }
    let mut store = global.open_unless(args.dry_run)?;
    let what = wanted(global, args, &store)?;
    let targets = store.plan_erasure(&what, args.history)?;
    if args.dry_run {
        print(global, args, &targets, None)?;
        return Ok(0);
    }
    if !args.yes {
        let of = if args.history { "the history of " } else { "" };
        let shown: Vec<String> = targets.iter().map(to_text).collect();
        confirm(&shown, &format!("Erase {of}"), &name_of(&targets))?;
    }
    // What was shown, and nothing that fits the selection since.
    let what = EraseOf::Memories(targets.iter().map(|target| target.id).collect());
    let done = output::with_bar("records tried", |progress| {
        store.erase(&what, args.history, &context, progress)
    })?;
    print(global, args, &done.targets, Some(&done))?;
    if done.receipt.is_some()
        && let Some(others) = replicas::yet_to_erase(global, &store)
    {
        output::note(&others);
    }
    Ok(0)
}

fn wanted(global: &Global, args: &Erase, store: &Store) -> Result<EraseOf> {
    let by_person = [&global.session, &global.actor];
    // With a path or id these options say who erases, as everywhere.
    let by_person = by_person.map(|option| option.as_ref().filter(|_| args.what.is_none()));
    match (&args.what, &args.subject, by_person) {
        (Some(what), None, _) => Ok(match MemoryId::from_hex(what) {
            Some(id) => EraseOf::Memories(vec![id]),
            None => EraseOf::Path(store.parse_path(what)?),
        }),
        (None, Some(glob), [None, None]) => Ok(EraseOf::Subject(glob.clone())),
        (None, None, [Some(session), None]) => Ok(EraseOf::Session(session.clone())),
        (None, None, [None, Some(actor)]) => Ok(EraseOf::Actor(actor.clone())),
        _ => Err(Error::invalid(
            "the selection",
            "name exactly one: a path or an id, --session, --actor or --subject",
        )),
    }
}

/// Returns what a person types to confirm an erasure: the path or id of the one memory, or how many
/// there are.
fn name_of(targets: &[EraseTarget]) -> String {
    match targets {
        [one] => match &one.path {
            Some(path) => path.as_str().to_owned(),
            None => one.id.to_string(),
        },
        all => output::counted(all.len() as u64, "memory"),
    }
}

/// Has the person at the terminal confirm by its name what cannot be undone. A program that feeds
/// standard input cannot.
pub(crate) fn confirm(shown: &[String], what: &str, name: &str) -> Result<()> {
    let terminal = input::is_terminal().then(Terminal::open).flatten();
    let terminal = terminal.ok_or_else(|| Error::invalid("an erasure that nobody confirms", "there is no terminal to ask at; look at what it destroys with --dry-run, and say --yes"
                ))?;
    let question = format!(
        "{}\n{what}{name} for good? Nothing brings it back. Type `{name}`, or nothing to leave it:",
        shown.join("\n")
    );
    let typed = terminal.ask(&question);
    let typed = typed.map_err(Error::io("ask at", platform::TERMINAL.as_ref()))?;
    // A path is below /memories, as everywhere.
    let Ok(path) = memory_path(&typed);
    if typed == name || (name.starts_with('/') && path == name) {
        return Ok(());
    }
    let name = name.to_owned();
    Err(Error::NotConfirmed { name })
}

fn print(
    global: &Global,
    args: &Erase,
    targets: &[EraseTarget],
    done: Option<&Erasure>,
) -> Result<()> {
    let object = all_to_json(targets, args.history, done);
    output::answer(global, &object, &lines(targets, done).join("\n"))
}

/// Renders what was erased, or would be, as an object.
pub(crate) fn all_to_json(
    targets: &[EraseTarget],
    history_only: bool,
    done: Option<&Erasure>,
) -> Value {
    json!({
        "schema": "agekeep.erase/1",
        "dry_run": done.is_none(),
        "history_only": history_only,
        "memories": targets.iter().map(to_json).collect::<Vec<_>>(),
        "marked": done.is_some_and(|done| done.receipt.is_none()),
        "meta": done.map(|done| &done.meta),
        "receipt": done.and_then(|done| done.receipt.as_ref()),
    })
}

/// Renders what was erased, or would be, as lines.
pub(crate) fn lines(targets: &[EraseTarget], done: Option<&Erasure>) -> Vec<String> {
    let mut lines: Vec<String> = targets.iter().map(to_text).collect();
    lines.push(match done {
        None => "Nothing was changed.".into(),
        Some(done) if done.receipt.is_none() => format!(
            "Marked (event {}). You are no reader, so the next reader who uses the store destroys \
             the keys.",
            done.meta.event
        ),
        Some(done) => format!(
            "Erased (event {event}). To see what this does not reach, run `agekeep receipt show \
             {event}`.",
            event = done.meta.event
        ),
    });
    lines
}

fn to_text(target: &EraseTarget) -> String {
    let path = target.path.as_ref();
    let path = path.map_or_else(|| "(no path)".into(), |path| render::quoted(path.as_str()));
    let state = if target.is_there { "" } else { ", deleted" };
    let held = target
        .hold
        .map_or_else(String::new, |hold| format!(", kept by hold {hold}"));
    let versions = output::counted(target.versions as u64, "version");
    format!("  {}  {path}  {versions}{state}{held}", target.id)
}

fn to_json(target: &EraseTarget) -> Value {
    json!({
        "memory": target.id,
        "path": target.path.as_ref().map(MemoryPath::as_str),
        "is_there": target.is_there,
        "versions": target.versions,
        "hold": target.hold,
    })
}
