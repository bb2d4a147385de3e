//! Completion of command lines: the scripts of the shells, and what fits at the end of an unfinished
//! line. Paths and names come from the store, which is only read: nothing is recorded, asked or said.
//!
//! A path of a memory is hostile. What has a control character is no candidate, and each shell gets a
//! candidate so that it stays one word: bash and PowerShell insert text as it comes, so it is quoted
//! here; zsh, fish and elvish quote it themselves.

mod line;

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use agekeep::error::Result;
use agekeep::event::Event;
use agekeep::memory_tool::path::ROOT;
use agekeep::policy::key::PolicyKey;
use agekeep::store::Store;
use agekeep::store::log::Entry;
use clap::{Arg, Args, Command, ValueEnum, ValueHint};
use clap_complete::engine::{self, ArgValueCompleter, CompletionCandidate};

use self::line::TypedLine;
use crate::args::{Global, command_line};
use crate::render::seconds;
use crate::{environment, output};

/// Longest wait for the store.
const WAIT: Duration = Duration::from_millis(1500);
/// Most candidates that the store gives for one word.
const CANDIDATES_MAX: usize = 100;
/// The number of newest events in which actors, sessions and revisions are looked for.
const EVENTS_MAX: usize = 300;
/// The number of newest events that are offered as revisions.
const REVISIONS_MAX: usize = 20;

#[derive(Args)]
pub(crate) struct Completions {
    /// The shell that is to complete commands
    shell: Shell,
}

#[derive(Args)]
pub(crate) struct Complete {
    shell: Shell,
    /// The words up to the cursor; for bash, the line up to the cursor and the characters that end a
    /// word
    #[arg(last = true)]
    words: Vec<OsString>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
    Elvish,
    Powershell,
}

/// Prints the script that a shell reads at its start.
pub(crate) fn print_script(args: &Completions) -> Result<u8> {
    output::text(match args.shell {
        Shell::Bash => include_str!("complete/bash.sh"),
        Shell::Zsh => include_str!("complete/zsh.sh"),
        Shell::Fish => include_str!("complete/fish.fish"),
        Shell::Elvish => include_str!("complete/elvish.elv"),
        Shell::Powershell => include_str!("complete/powershell.ps1"),
    })?;
    Ok(0)
}

/// Prints what fits at the end of a command line, a candidate a line. If the store does not answer in
/// time, only what does not come from it.
pub(crate) fn print_candidates(args: Complete) -> Result<u8> {
    let (shell, line) = (args.shell, TypedLine::parse(args.shell, args.words));
    let words = line.words.clone();
    let (done, answer) = mpsc::channel();
    // The thread ends with this process, wherever it hangs.
    thread::spawn(move || done.send(candidates(words, true)));
    let found = answer
        .recv_timeout(WAIT)
        .unwrap_or_else(|_| candidates(line.words.clone(), false));
    let mut text = String::new();
    for (value, help) in found {
        let Some(value) = line.inserted(&value) else {
            continue;
        };
        text += &value;
        if let (false, Some(help)) = (shell == Shell::Bash, help) {
            text.extend(["\t", &help]);
        }
        text.push('\n');
    }
    output::data(&text)?;
    Ok(0)
}

/// Returns what fits as the last of these words, each with a line of help.
fn candidates(words: Vec<OsString>, live: bool) -> Vec<(String, Option<String>)> {
    let last = words.len().saturating_sub(1);
    let mut command = command_line();
    if live && let Some(global) = Global::in_words(&words[..last]) {
        command = with_names(command, &[], &Arc::new(global));
    }
    let here = environment::here();
    let found =
        engine::complete(&mut command, words, last, Some(here.as_path())).unwrap_or_default();
    let plain = |text: &str| !text.contains(output::is_obeyed);
    let both = |candidate: &CompletionCandidate| {
        let value = candidate
            .get_value()
            .to_str()
            .filter(|value| plain(value))?;
        let help = candidate.get_help().map(ToString::to_string);
        let help = help.and_then(|help| help.lines().next().map(str::to_owned));
        Some((value.to_owned(), help.filter(|help| plain(help))))
    };
    found.iter().filter_map(both).collect()
}

/// A name, and what to say beside it.
type StoreName = (String, Option<String>);

/// Lists names of one kind that a store has, for what was typed.
type Lister = fn(&mut Store, &str) -> Vec<StoreName>;

/// Returns what lists the names that an argument takes, by the name of its value in help.
fn lister(verbs: &[String], arg: &Arg) -> Option<Lister> {
    // A path of this machine.
    if arg.get_value_hint() != ValueHint::Unknown {
        return None;
    }
    let id = arg.get_id().as_str();
    let named = arg.get_value_names().and_then(<[_]>::first);
    let name = named.map_or_else(|| id.to_uppercase(), ToString::to_string);
    let group = verbs.first().map_or("", String::as_str);
    let lister: Lister = match (group, name.as_str()) {
        (_, "NAME") if id == "actor" => |store, _| newest(store, |event| event.actor.clone()),
        (_, "ID") if id == "session" => |store, _| newest(store, |event| event.session.clone()),
        (_, "PATH" | "PATHS" | "OLD_PATH" | "NEW_PATH" | "PATH|ID" | "PATH|GLOB|ID" | "GLOB") => {
            |store, typed| paths(store, "", typed)
        }
        (_, "REV" | "REV|TIME" | "REV[..REV]") => |store, _| revisions(store),
        (_, "REV[:PATH]" | "REV:PATH") => |store, typed| match typed.split_once(':') {
            Some((revision, path)) => paths(store, &format!("{revision}:"), path),
            None => revisions(store),
        },
        (_, "A] [B] [PATH") => |store, typed| [revisions(store), paths(store, "", typed)].concat(),
        (_, "HOLD") => |store, _| {
            let holds = store.holds().unwrap_or_default().into_iter();
            holds
                .map(|hold| (hold.hold.to_string(), hold.reason))
                .collect()
        },
        ("policy", "KEY") => |_, _| {
            PolicyKey::all()
                .map(|key| (key.to_string(), None))
                .collect()
        },
        ("members" | "recipients" | "audit-kit", "NAME") => |store, _| {
            let members = store.members().iter();
            members.map(|member| (member.name.clone(), None)).collect()
        },
        ("signers", "NAME") => |store, _| {
            let signers = store.signer_list().into_iter();
            signers.map(|signer| (signer.name, None)).collect()
        },
        _ => return None,
    };
    Some(lister)
}

/// Lets each argument that takes a name of the store be completed with such names.
fn with_names(command: Command, verbs: &[String], global: &Arc<Global>) -> Command {
    let command = command.mut_args(|arg| match lister(verbs, &arg) {
        Some(list) => {
            let global = Arc::clone(global);
            arg.add(ArgValueCompleter::new(move |typed: &OsStr| {
                fitting(&global, list, typed.to_str().unwrap_or_default())
            }))
        }
        None => arg,
    });
    command.mut_subcommands(|verb| {
        let mut verbs = verbs.to_vec();
        verbs.push(verb.get_name().to_owned());
        with_names(verb, &verbs, global)
    })
}

/// Returns the names that begin with what was typed. A store that cannot be read has none.
fn fitting(global: &Global, list: Lister, typed: &str) -> Vec<CompletionCandidate> {
    let store = global.open_silently();
    let found = store.map(|mut store| list(&mut store, typed));
    let fitting = found
        .unwrap_or_default()
        .into_iter()
        .filter(|(name, _)| name.starts_with(typed));
    fitting
        .take(CANDIDATES_MAX)
        .enumerate()
        .map(|(at, (name, help))| {
            CompletionCandidate::new(name)
                .help(help.map(Into::into))
                .display_order(Some(at))
        })
        .collect()
}

/// Returns the paths that begin with what was typed, up to the next folder in which they differ.
fn paths(store: &Store, before: &str, typed: &str) -> Vec<StoreName> {
    let below_root = !typed.is_empty() && !typed.starts_with('/');
    let shown = |path: &str| {
        let path = if below_root {
            path.strip_prefix(ROOT)?.strip_prefix('/')?
        } else {
            path
        };
        path.starts_with(typed).then(|| path.to_owned())
    };
    let all: Vec<String> = store
        .paths()
        .filter_map(|path| shown(path.as_str()))
        .collect();
    let mut typed = typed.to_owned();
    loop {
        let step = |path: &String| {
            let rest = path.get(typed.len()..)?;
            let end = rest.find('/').map_or(path.len(), |at| typed.len() + at + 1);
            path.get(..end).map(str::to_owned)
        };
        let steps: BTreeSet<String> = all.iter().filter_map(step).collect();
        match (steps.len(), steps.first()) {
            (1, Some(only)) if only.ends_with('/') => typed.clone_from(only),
            _ => {
                return steps
                    .iter()
                    .map(|path| (format!("{before}{path}"), None))
                    .collect();
            }
        }
    }
}

/// Returns the newest events, by number, with what happened.
fn revisions(store: &Store) -> Vec<StoreName> {
    let events = store.log().take(REVISIONS_MAX).filter_map(Result::ok);
    let number = |entry: Entry| {
        let event = entry.event;
        let what = format!("{} {}", seconds(event.time), event.command);
        (event.number.to_string(), Some(what))
    };
    let newest = ("HEAD".to_owned(), Some("the newest event".to_owned()));
    std::iter::once(newest).chain(events.map(number)).collect()
}

/// Returns what the newest events have in a field, each once.
fn newest(store: &Store, field: impl Fn(&Event) -> Option<String>) -> Vec<StoreName> {
    let events = store.log().take(EVENTS_MAX).filter_map(Result::ok);
    let names: BTreeSet<String> = events.filter_map(|entry| field(&entry.event)).collect();
    names.into_iter().map(|name| (name, None)).collect()
}
