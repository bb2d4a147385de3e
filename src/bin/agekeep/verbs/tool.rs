//! `tool`: memory-tool calls as JSON, one on each line, each answered with one line, in order.

use std::iter;
use std::path::{Path, PathBuf};

use agekeep::error::Result;
use agekeep::event::Context;
use agekeep::jsonl::{self, Reply};
use agekeep::store::Store;
use clap::Args;

use crate::args::Global;
use crate::lines::{Input, Line, next_line, reader};
use crate::output;
use crate::verbs::init;

/// Most calls that are answered together.
const LINES_MAX: usize = 64;

#[derive(Args)]
pub(crate) struct Tool {
    /// Make the store first if there is none
    #[arg(long)]
    init: bool,
    /// Files to read the calls from; `-` or none is standard input
    files: Vec<PathBuf>,
}

pub(crate) fn run(global: &Global, args: &Tool) -> Result<u8> {
    let mut store = init::open_or_make(global, args.init)?;
    let mut defaults = global.context();
    // The person at this machine is not the agent whose calls these are.
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

/// Answers the next line, and those that are here before its command is durable: calls that wait at
/// the same time become durable together. `None` behind the last one.
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
