//! `tool`: memory-tool calls as JSON, one on each line, each answered with one line, in order.

use std::iter;
use std::path::{Path, PathBuf};

use agekeep::error::Result;
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
    let mut shown = (!global.json && output::is_terminal()).then(Shown::default);
    let mut failed = None;
    for path in files {
        if path == Path::new("-") {
            terminal::tell_what_is_awaited("memory-tool calls, a JSON object on each line");
        }
        let mut input = reader(path)?;
        while let Some(replies) = answer_waiting(&mut store, &mut input, path, &defaults)? {
            for reply in replies {
                failed = failed.or(reply.unrecorded);
                let is_read = match &mut shown {
                    Some(shown) => shown.add(&reply)?,
                    None => output::json(&reply)?,
                };
                if !is_read {
                    return Ok(failed.unwrap_or(0));
                }
            }
        }
    }
    if let Some(shown) = shown {
        shown.finish(global)?;
    }
    Ok(failed.unwrap_or(0))
}

/// What a person at a terminal sees instead of JSON: a line for each call, and what to look at next.
#[derive(Default)]
struct Shown {
    done: u64,
    refused: u64,
}

impl Shown {
    /// Shows an answer by the first line of its text.
    fn add(&mut self, reply: &Reply) -> Result<bool> {
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
        output::data(&format!("{outcome:<7} {line}\n"))
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
