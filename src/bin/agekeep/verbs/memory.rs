//! The memory commands as verbs.

use std::fs::File;
use std::io::{self, Read as _};
use std::iter;
use std::path::{Path, PathBuf};

use agekeep::error::{Error, Result};
use agekeep::event::Context;
use agekeep::jsonl::{self, Reply};
use agekeep::memory_tool::command::Command;
use agekeep::policy::Limits;
use agekeep::store::Store;
use agekeep::store::answer::Refusal;
use agekeep::{Digest, Text};
use clap::Args;
use serde_json::json;

use crate::args::{Global, memory_path};
use crate::input::{Input, Line, next_line, reader};
use crate::verbs::{history, init};
use crate::{output, terminal};

/// A verb that becomes one memory command.
pub(crate) trait MemoryVerb {
    fn command(&self, limits: &Limits) -> Result<Command>;

    fn base(&self) -> &Precondition;

    /// Tells whether the answer is a file's own text.
    fn is_raw(&self) -> bool {
        false
    }
}

pub(crate) fn run(global: &Global, verb: &impl MemoryVerb) -> Result<u8> {
    let mut store = global.open()?;
    let mut context = global.context();
    context.base_sha256 = verb.base().base_sha256;
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
        output::refusal(text);
    } else if verb.is_raw() {
        output::text(text)?;
    } else {
        output::line(text)?;
    }
    Ok(answer.refusal.map_or(0, Refusal::exit_code))
}

// The precondition every memory command takes.
#[derive(Args)]
pub(crate) struct Precondition {
    /// Change the file only if its text still has this SHA-256. If you repeat the command, it
    /// succeeds without a second change
    #[arg(long, value_name = "HEX", value_parser = parse_digest)]
    base_sha256: Option<Digest>,
}

fn parse_digest(text: &str) -> Result<Digest, String> {
    Digest::from_hex(text).ok_or_else(|| "not 64 lowercase hexadecimal digits".into())
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
            None => read_standard_input(limits),
            Some(path) if path == Path::new("-") => read_standard_input(limits),
            Some(path) => {
                let file = File::open(path).map_err(|e| read_error(path, e))?;
                read_all(path, file, limits)
            }
        }
    }
}

/// Reads a text from standard input. Nothing there is more often a command that failed than a text
/// that is empty.
fn read_standard_input(limits: &Limits) -> Result<Text> {
    terminal::tell_what_is_awaited("the text");
    let text = read_all(Path::new("-"), io::stdin().lock(), limits)?;
    if text.is_empty() {
        return Err(Error::Invalid {
            what: "standard input",
            why: "it is empty, and no text was given otherwise".into(),
        });
    }
    Ok(text)
}

fn read_all(path: &Path, input: impl io::Read, limits: &Limits) -> Result<Text> {
    let max = limits.request_bytes;
    let mut text = String::new();
    match input.take(max as u64 + 1).read_to_string(&mut text) {
        Err(e) if e.kind() == io::ErrorKind::InvalidData => Err(Error::Invalid {
            what: "the text",
            why: "it is not UTF-8".into(),
        }),
        Err(e) => Err(read_error(path, e)),
        Ok(length) if length > max => Err(Error::TooLong {
            what: "the text",
            bytes_max: max,
        }),
        Ok(_) => Ok(text.into()),
    }
}

fn read_error(path: &Path, source: io::Error) -> Error {
    let stdin = path == Path::new("-");
    Error::Io {
        doing: "read",
        path: if stdin {
            "standard input".into()
        } else {
            path.into()
        },
        source,
    }
}

#[derive(Args)]
pub(crate) struct ViewArgs {
    /// A file or directory below /memories
    #[arg(default_value = "/memories", value_parser = memory_path)]
    path: String,
    /// Show only these lines, counted from 1: START:END, START: or START
    #[arg(short = 'L', long, value_name = "RANGE", value_parser = parse_lines, allow_hyphen_values = true)]
    lines: Option<(i64, i64)>,
    /// Show the state at this revision: an event, a commit, HEAD~N or a time. This is a look, not
    /// an access
    #[arg(long, value_name = "REV", conflicts_with = "base_sha256")]
    at: Option<String>,
    #[command(flatten)]
    base: Precondition,
}

/// Runs `view`, now or at another moment.
pub(crate) fn view(global: &Global, args: &ViewArgs) -> Result<u8> {
    match &args.at {
        Some(at) => history::view_at(global, &args.path, args.lines, at),
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

impl MemoryVerb for ViewArgs {
    fn command(&self, _: &Limits) -> Result<Command> {
        Ok(Command::View {
            path: self.path.clone(),
            range: self.lines,
        })
    }

    fn base(&self) -> &Precondition {
        &self.base
    }
}

#[derive(Args)]
pub(crate) struct Create {
    /// The new file
    #[arg(value_parser = memory_path)]
    path: String,
    #[command(flatten)]
    source: TextSource,
    #[command(flatten)]
    base: Precondition,
}

impl MemoryVerb for Create {
    fn command(&self, limits: &Limits) -> Result<Command> {
        Ok(Command::Create {
            path: self.path.clone(),
            file_text: self.source.read(limits)?,
        })
    }

    fn base(&self) -> &Precondition {
        &self.base
    }
}

#[derive(Args)]
pub(crate) struct StrReplace {
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
    #[command(flatten)]
    base: Precondition,
}

impl MemoryVerb for StrReplace {
    fn command(&self, _: &Limits) -> Result<Command> {
        Ok(Command::StrReplace {
            path: self.path.clone(),
            old_str: self.old.as_str().into(),
            new_str: self.new.as_str().into(),
        })
    }

    fn base(&self) -> &Precondition {
        &self.base
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
    #[command(flatten)]
    base: Precondition,
}

impl MemoryVerb for Insert {
    fn command(&self, limits: &Limits) -> Result<Command> {
        Ok(Command::Insert {
            path: self.path.clone(),
            insert_line: self.line,
            insert_text: self.source.read(limits)?,
        })
    }

    fn base(&self) -> &Precondition {
        &self.base
    }
}

#[derive(Args)]
pub(crate) struct Delete {
    /// The file or directory
    #[arg(value_parser = memory_path)]
    path: String,
    #[command(flatten)]
    base: Precondition,
}

impl MemoryVerb for Delete {
    fn command(&self, _: &Limits) -> Result<Command> {
        Ok(Command::Delete {
            path: self.path.clone(),
        })
    }

    fn base(&self) -> &Precondition {
        &self.base
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
    #[command(flatten)]
    base: Precondition,
}

impl MemoryVerb for Rename {
    fn command(&self, _: &Limits) -> Result<Command> {
        Ok(Command::Rename {
            old_path: self.old_path.clone(),
            new_path: self.new_path.clone(),
        })
    }

    fn base(&self) -> &Precondition {
        &self.base
    }
}

#[derive(Args)]
pub(crate) struct Read {
    /// The file, relative to /memories; without one, every path is listed
    path: Option<String>,
    #[command(flatten)]
    base: Precondition,
}

impl MemoryVerb for Read {
    fn command(&self, _: &Limits) -> Result<Command> {
        Ok(Command::Read {
            path: self.path.clone(),
        })
    }

    fn base(&self) -> &Precondition {
        &self.base
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
    #[command(flatten)]
    base: Precondition,
}

impl MemoryVerb for Write {
    fn command(&self, limits: &Limits) -> Result<Command> {
        Ok(Command::Write {
            path: self.path.clone(),
            content: self.source.read(limits)?,
        })
    }

    fn base(&self) -> &Precondition {
        &self.base
    }
}

// `tool`: memory-tool calls as JSON, one on each line, each answered with one line, in order.

/// Most calls that are answered together.
const LINES_MAX: usize = 64;

#[derive(Args)]
pub(crate) struct ToolArgs {
    /// Make the store first if there is none
    #[arg(long)]
    init: bool,
    /// Files to read the calls from; `-` or none is standard input
    files: Vec<PathBuf>,
}

pub(crate) fn tool(global: &Global, args: &ToolArgs) -> Result<u8> {
    let mut store = init::open_or_make(global, args.init)?;
    let mut defaults = global.context();
    // These are the calls of an agent, and not of the person at this machine.
    defaults.actor = global.agent();
    defaults.door = Some("tool");
    let stdin = [PathBuf::from("-")];
    let files = if args.files.is_empty() {
        &stdin[..]
    } else {
        &args.files
    };
    let mut failed = None;
    for path in files {
        if path == Path::new("-") {
            terminal::tell_what_is_awaited("memory-tool calls, a JSON object on each line");
        }
        let mut input = reader(path)?;
        while let Some(replies) = answer_waiting(&mut store, &mut input, path, &defaults)? {
            for reply in replies {
                failed = failed.or(reply.unrecorded);
                if !output::json(&reply)? {
                    return Ok(failed.unwrap_or(0));
                }
            }
        }
    }
    Ok(failed.unwrap_or(0))
}

/// Answers the next line, and those that arrive before its command is durable: calls that wait at
/// the same time become durable together. `None` after the last line.
fn answer_waiting(
    store: &mut Store,
    input: &mut Input,
    path: &Path,
    defaults: &Context,
) -> Result<Option<Vec<Reply>>> {
    let bytes_max = store.limits().request_bytes;
    let mut first = next_line(input, path, bytes_max)?;
    if first.is_none() {
        return Ok(None);
    }
    let mut too_long = None;
    let lines = iter::from_fn(|| {
        let line = match first.take() {
            None if input.is_line_ready() => {
                next_line(input, path, bytes_max).expect("a line that is ready is in memory")
            }
            first => first,
        };
        match line? {
            Line::Whole(line) => Some(line),
            Line::TooLong(max) => {
                too_long = Some(max);
                None
            }
        }
    });
    let mut replies = jsonl::answer(store, lines.fuse().take(LINES_MAX), defaults);
    replies.extend(too_long.map(jsonl::too_long));
    Ok(Some(replies))
}
