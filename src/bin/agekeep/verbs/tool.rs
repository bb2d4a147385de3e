//! `tool`: memory-tool calls as JSON, one on each line, each answered with one line, in order.

use std::iter;
use std::path::{Path, PathBuf};

use agekeep::error::{Error, Result};
use agekeep::event::Context;
use agekeep::jsonl::{self, Reply};
use agekeep::store::Store;
use clap::Args;

use crate::args::Global;
use crate::input::{Input, Line, next_line, reader};
use crate::verbs::init;
use crate::{environment, output, terminal};

/// Most calls that are answered together.
const LINES_MAX: usize = 64;

/// Most characters of an answer that a line on a terminal shows.
const LINE_MAX: usize = 70;

#[derive(Args)]
pub(crate) struct ToolArgs {
    /// Make the store first if there is none
    #[arg(long)]
    init: bool,
    /// Files to read the calls from; `-` or none is standard input
    files: Vec<PathBuf>,
}

pub(crate) fn run(global: &Global, args: &ToolArgs) -> Result<u8> {
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
    let mut printer = Printer {
        shown: (!global.json && output::is_terminal()).then(Shown::default),
        ..Printer::default()
    };
    for path in files {
        if path == Path::new("-") {
            terminal::tell_what_is_awaited("memory-tool calls, a JSON object on each line");
        }
        let mut input = reader(path)?;
        while answer_waiting(&mut store, &mut input, path, &defaults, &mut printer)? {
            if !printer.print_rest()? {
                return Ok(printer.failed.unwrap_or(0));
            }
        }
    }
    if let Some(shown) = printer.shown {
        shown.finish(global)?;
    }
    Ok(printer.failed.unwrap_or(0))
}

/// The printer of answers. The store is locked while they come, so it never waits for the reader of
/// standard output then.
#[derive(Default)]
struct Printer {
    shown: Option<Shown>,
    /// The exit code of the first command that could not be recorded.
    failed: Option<u8>,
    /// The lines that standard output did not take at once.
    rest: String,
    /// True once the reader of standard output is gone.
    is_gone: bool,
    /// What kept a line from being printed.
    error: Option<Error>,
}

impl Printer {
    fn answer(&mut self, reply: &Reply) {
        self.failed = self.failed.or(reply.unrecorded);
        let line = match &mut self.shown {
            Some(shown) => shown.add(reply),
            None => serde_json::to_string(reply).expect("answers have a JSON form"),
        };
        self.rest.push_str(&line);
        self.rest.push('\n');
        if output::takes_at_once(self.rest.len()) {
            self.print();
        }
    }

    fn print(&mut self) {
        match output::data(&std::mem::take(&mut self.rest)) {
            Ok(is_read) => self.is_gone |= !is_read,
            Err(error) => self.error = self.error.take().or(Some(error)),
        }
    }

    /// Prints what is left; `false` if nobody reads it.
    fn print_rest(&mut self) -> Result<bool> {
        if !self.rest.is_empty() {
            self.print();
        }
        self.error.take().map_or(Ok(!self.is_gone), Err)
    }
}

/// What a person at a terminal sees instead of JSON: a line for each call, and what to look at next.
#[derive(Default)]
struct Shown {
    done: u64,
    refused: u64,
}

impl Shown {
    /// Counts an answer, and returns the first line of its text.
    fn add(&mut self, reply: &Reply) -> String {
        let (content, is_error) = (&reply.json["content"], &reply.json["is_error"]);
        let refused = is_error.as_bool().unwrap_or_default();
        *(if refused {
            &mut self.refused
        } else {
            &mut self.done
        }) += 1;
        let said = content.as_str().unwrap_or_default();
        let first = said.lines().next().unwrap_or_default();
        let mut line: String = first.chars().take(LINE_MAX).collect();
        if line.len() < first.len() {
            line.push('…');
        }
        let outcome = if refused { "refused" } else { "ok" };
        format!("{outcome:<7} {line}")
    }

    fn finish(&self, global: &Global) -> Result<()> {
        let calls = self.done + self.refused;
        if calls == 0 {
            return Ok(());
        }
        let mut agekeep = terminal::quoted(&environment::called());
        if let Some(store) = &global.store {
            agekeep.push_str(" -C ");
            agekeep.push_str(&terminal::quoted(&store.display().to_string()));
        }
        output::line(&format!(
            "\n{}: {} done, {} refused. Look at them next:\n  {agekeep} log\n  {agekeep} \
             view\n  {agekeep} verify\nIn a pipe, and with --json, the answers are JSON lines.",
            output::counted(calls, "call"),
            self.done,
            self.refused
        ))
    }
}

/// Answers the next line, and those that arrive before its command is durable: calls that wait at
/// the same time become durable together. `false` after the last line.
fn answer_waiting(
    store: &mut Store,
    input: &mut Input,
    path: &Path,
    defaults: &Context,
    printer: &mut Printer,
) -> Result<bool> {
    let bytes_max = store.limits().request_bytes;
    let mut first = next_line(input, path, bytes_max)?;
    if first.is_none() {
        return Ok(false);
    }
    let mut too_long = None;
    let lines = iter::from_fn(|| {
        if too_long.is_some() {
            return None;
        }
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
    let lines = lines.take(LINES_MAX);
    jsonl::answer(store, lines, defaults, |reply| printer.answer(&reply));
    if let Some(max) = too_long {
        printer.answer(&jsonl::too_long(max));
    }
    Ok(true)
}
