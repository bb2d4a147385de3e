//! The memory commands as verbs.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::thread;

use agekeep::error::{Error, Result};
use agekeep::memory_tool::command::Command;
use agekeep::memory_tool::path::ROOT;
use agekeep::policy::Limits;
use agekeep::store::answer::Refusal;
use agekeep::{Digest, Text};
use clap::Args;
use serde_json::json;

use crate::args::{Global, memory_path};
use crate::output::Style;
use crate::table::{self, Column, ListRow, Screen, number};
use crate::verbs::history;
use crate::{output, terminal};

/// A verb that becomes one memory command.
pub(crate) trait MemoryVerb {
    fn command(&self, limits: &Limits) -> Result<Command>;

    /// Tells whether the answer is a file's own text.
    fn is_raw(&self) -> bool {
        false
    }
}

// A verb with the precondition that every memory command takes.
#[derive(Args)]
pub(crate) struct MemoryArgs<V: Args> {
    #[command(flatten)]
    verb: V,
    /// Change the file only if its text still has this SHA-256. If you repeat the command, it
    /// succeeds without a second change
    #[arg(long, value_name = "HEX", value_parser = parse_digest)]
    base_sha256: Option<Digest>,
}

fn parse_digest(text: &str) -> Result<Digest, String> {
    Digest::from_hex(text).ok_or_else(|| "not 64 lowercase hexadecimal digits".into())
}

pub(crate) fn run<V: MemoryVerb + Args>(global: &Global, args: &MemoryArgs<V>) -> Result<u8> {
    let verb = &args.verb;
    // What redaction needs is built while the store is opened.
    drop(thread::Builder::new().spawn(agekeep::redact::prepare));
    let mut store = global.open()?;
    let mut context = global.context();
    context.base_sha256 = args.base_sha256;
    let command = verb.command(store.limits())?;
    let answer = store.execute(&command, &context)?;
    let text = answer.content.as_str();
    if global.json {
        output::json(&json!({
            "schema": "agekeep.answer/1",
            "content": text,
            "is_error": answer.is_error(),
            "meta": answer.meta,
        }))?;
    } else if answer.is_error() {
        output::refusal(text, answer.refusal.and_then(hint));
    } else if verb.is_raw() {
        output::text(text)?;
    } else if let Some(screen) = Screen::of(global).filter(|_| is_listing(&command, text)) {
        list(global, &screen, text)?;
    } else {
        output::line(text)?;
    }
    Ok(answer.refusal.map_or(0, Refusal::exit_code))
}

/// Returns advice to a person whose command was refused. The refusal itself is worded for agents.
fn hint(refusal: Refusal) -> Option<&'static str> {
    Some(match refusal {
        Refusal::Failed => "`agekeep view` shows the file with its line numbers",
        Refusal::NotFound => {
            "`agekeep view` lists what is there, and `agekeep log` with the path what was there"
        }
        Refusal::Exists => {
            "`agekeep write` replaces a file, and `agekeep edit` changes a part of it"
        }
        Refusal::Precondition => "somebody changed the file: read it again, then repeat the change",
        Refusal::Denied => "`agekeep help paths` says what a path may be",
        Refusal::Secret => "leave the secret out; `agekeep rules test` shows what the rules find",
        Refusal::Limit => "`agekeep policy get` shows the limits",
        _ => return None,
    })
}

const ENTRIES: &[Column] = &[number("size"), table::main("path")];

/// Tells whether an answer lists a directory: a file's begins with other words.
fn is_listing(command: &Command, text: &str) -> bool {
    matches!(command, Command::View { .. }) && text.starts_with("Here're the files and directories")
}

/// Prints the listing of a directory on a terminal.
fn list(global: &Global, screen: &Screen, text: &str) -> Result<()> {
    let (heading, entries) = text.split_once('\n').unwrap_or((text, ""));
    let entries = entries.lines().map(|entry| {
        let (size, path) = entry.split_once('\t').unwrap_or(("", entry));
        Ok(ListRow::new(Style::Plain, vec![size.into(), path.into()]))
    });
    let heading = screen.sentence(heading).into_iter().map(Ok);
    output::pages(global, heading.chain(screen.list(ENTRIES, entries)))
}

// The source of a text.
#[derive(Args)]
pub(crate) struct TextSource {
    /// The text itself
    #[arg(long, conflicts_with = "file", allow_hyphen_values = true)]
    text: Option<String>,
    /// The file to read the text from; `-` means standard input, which is the default
    #[arg(long)]
    file: Option<PathBuf>,
}

impl TextSource {
    fn read(&self, limits: &Limits) -> Result<Text> {
        if let Some(text) = &self.text {
            return Ok(text.as_str().into());
        }
        match self.file.as_deref() {
            Some(path) if path != Path::new("-") => {
                let file = File::open(path).map_err(Error::io("read", path))?;
                read_all(path, file, limits)
            }
            _ => read_standard_input(limits),
        }
    }
}

/// Reads a text from standard input. Nothing there is more often a command that failed than a text
/// that is empty.
fn read_standard_input(limits: &Limits) -> Result<Text> {
    terminal::tell_what_is_awaited("the text");
    let text = read_all(Path::new("standard input"), io::stdin().lock(), limits)?;
    if text.is_empty() {
        return Err(Error::invalid(
            "standard input",
            "it is empty, and no text was given otherwise",
        ));
    }
    Ok(text)
}

fn read_all(path: &Path, input: impl io::Read, limits: &Limits) -> Result<Text> {
    let max = limits.request_bytes;
    let mut text = String::new();
    match input.take(max as u64 + 1).read_to_string(&mut text) {
        Err(e) if e.kind() == io::ErrorKind::InvalidData => {
            Err(Error::invalid("the text", "it is not UTF-8"))
        }
        Err(e) => Err(Error::io("read", path)(e)),
        Ok(length) if length > max => Err(Error::TooLong {
            what: "the text",
            bytes_max: max,
        }),
        Ok(_) => Ok(text.into()),
    }
}

#[derive(Args)]
pub(crate) struct ViewArgs {
    /// A file or directory below /memories [default: /memories]
    #[arg(value_parser = memory_path)]
    path: Option<String>,
    /// Show only these lines, counted from 1: START:END, START: or START
    #[arg(short = 'L', long, value_name = "RANGE", value_parser = parse_lines, allow_hyphen_values = true)]
    lines: Option<(i64, i64)>,
    /// Show the state at this revision: an event, a commit, HEAD~N or a time. This is a look, not
    /// an access
    #[arg(long, value_name = "REV", conflicts_with = "base_sha256")]
    at: Option<String>,
    /// Print the file unchanged, byte for byte; without a path, print every path
    #[arg(long, conflicts_with_all = ["lines", "at"])]
    raw: bool,
}

/// Runs `view`, now or at another moment.
pub(crate) fn view(global: &Global, args: &MemoryArgs<ViewArgs>) -> Result<u8> {
    let verb = &args.verb;
    match &verb.at {
        Some(at) => history::view_at(global, verb.path(), verb.lines, at),
        None => run(global, args),
    }
}

fn parse_lines(text: &str) -> Result<(i64, i64), String> {
    let number = |text: &str, absent| match text {
        "" => Ok(absent),
        text => text
            .parse::<i64>()
            .map_err(|_| format!("`{text}` is not a line number")),
    };
    match text.split_once(':') {
        Some((start, end)) => Ok((number(start, 1)?, number(end, -1)?)),
        None => number(text, 1).map(|line| (line, line)),
    }
}

impl ViewArgs {
    fn path(&self) -> &str {
        self.path.as_deref().unwrap_or(ROOT)
    }
}

impl MemoryVerb for ViewArgs {
    fn command(&self, _: &Limits) -> Result<Command> {
        if self.raw {
            let path = self.path.clone();
            return Ok(Command::Read { path });
        }
        Ok(Command::View {
            path: self.path().to_owned(),
            range: self.lines,
        })
    }

    fn is_raw(&self) -> bool {
        self.raw && self.path.is_some()
    }
}

#[derive(Args)]
pub(crate) struct Create {
    /// The new file
    #[arg(value_parser = memory_path)]
    path: String,
    #[command(flatten)]
    source: TextSource,
}

impl MemoryVerb for Create {
    fn command(&self, limits: &Limits) -> Result<Command> {
        Ok(Command::Create {
            path: self.path.clone(),
            file_text: self.source.read(limits)?,
        })
    }
}

#[derive(Args)]
pub(crate) struct Edit {
    /// The file
    #[arg(value_parser = memory_path)]
    path: String,
    /// The text that occurs exactly once
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    old: String,
    /// The text to put in its place
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        allow_hyphen_values = true
    )]
    new: String,
}

impl MemoryVerb for Edit {
    fn command(&self, _: &Limits) -> Result<Command> {
        Ok(Command::StrReplace {
            path: self.path.clone(),
            old_str: self.old.as_str().into(),
            new_str: self.new.as_str().into(),
        })
    }
}

#[derive(Args)]
pub(crate) struct Insert {
    /// The file
    #[arg(value_parser = memory_path)]
    path: String,
    /// The line to put the text after; 0 is the start
    #[arg(allow_negative_numbers = true)]
    line: i64,
    #[command(flatten)]
    source: TextSource,
}

impl MemoryVerb for Insert {
    fn command(&self, limits: &Limits) -> Result<Command> {
        Ok(Command::Insert {
            path: self.path.clone(),
            insert_line: self.line,
            insert_text: self.source.read(limits)?,
        })
    }
}

#[derive(Args)]
pub(crate) struct Delete {
    /// The file or directory
    #[arg(value_parser = memory_path)]
    path: String,
}

impl MemoryVerb for Delete {
    fn command(&self, _: &Limits) -> Result<Command> {
        Ok(Command::Delete {
            path: self.path.clone(),
        })
    }
}

#[derive(Args)]
pub(crate) struct Rename {
    /// The file or directory
    #[arg(value_parser = memory_path)]
    old_path: String,
    /// The new path
    #[arg(value_parser = memory_path)]
    new_path: String,
}

impl MemoryVerb for Rename {
    fn command(&self, _: &Limits) -> Result<Command> {
        Ok(Command::Rename {
            old_path: self.old_path.clone(),
            new_path: self.new_path.clone(),
        })
    }
}

#[derive(Args)]
pub(crate) struct Read {
    /// The file, relative to /memories; without one, every path is listed
    path: Option<String>,
}

impl MemoryVerb for Read {
    fn command(&self, _: &Limits) -> Result<Command> {
        Ok(Command::Read {
            path: self.path.clone(),
        })
    }

    fn is_raw(&self) -> bool {
        self.path.is_some()
    }
}

#[derive(Args)]
pub(crate) struct Write {
    /// The file, relative to /memories
    path: String,
    #[command(flatten)]
    source: TextSource,
}

impl MemoryVerb for Write {
    fn command(&self, limits: &Limits) -> Result<Command> {
        Ok(Command::Write {
            path: self.path.clone(),
            content: self.source.read(limits)?,
        })
    }
}
