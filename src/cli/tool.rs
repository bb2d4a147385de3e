//! `tool`: memory-tool calls as JSON, one on each line, each answered with one line, in order.

use std::path::{Path, PathBuf};

use agekeep::error::Result;
use agekeep::wire;
use clap::Args;
use zeroize::Zeroizing;

use super::lines::{Input, Line, is_line_ready, next_line, reader};
use super::{Global, init, output};

/// Most calls that are answered together.
const LINES_MAX: usize = 64;

/// A line, which may hold what an agent wrote.
type Call = Zeroizing<Vec<u8>>;

/// Arguments of `tool`.
#[derive(Args)]
pub(super) struct Tool {
    /// Make the store first if there is none
    #[arg(long)]
    init: bool,
    /// Files to read the calls from; `-` or none is standard input
    files: Vec<PathBuf>,
}

pub(super) fn run(global: &Global, args: &Tool) -> Result<u8> {
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
    let mut failed = false;
    for path in files {
        let mut input = reader(path)?;
        loop {
            let (lines, after) = waiting_lines(&mut input, path, store.limits().request_bytes)?;
            if lines.is_empty() && after.is_none() {
                break;
            }
            let mut replies = wire::answer(&mut store, &lines, &defaults);
            replies.extend(after.map(wire::too_long));
            for reply in replies {
                failed |= reply.unrecorded;
                if !output::json(&reply.json)? {
                    return Ok(u8::from(failed));
                }
            }
        }
    }
    Ok(u8::from(failed))
}

/// The next line, and those that came with it: calls that wait at the same time are made durable
/// together. Behind them may be one that is longer than so many bytes.
fn waiting_lines(
    input: &mut Input,
    path: &Path,
    bytes_max: usize,
) -> Result<(Vec<Call>, Option<usize>)> {
    let mut lines = Vec::new();
    while lines.is_empty() || (lines.len() < LINES_MAX && is_line_ready(input)) {
        match next_line(input, path, bytes_max)? {
            Some(Line::Whole(line)) => lines.push(line),
            Some(Line::TooLong(max)) => return Ok((lines, Some(max))),
            None => break,
        }
    }
    Ok((lines, None))
}
