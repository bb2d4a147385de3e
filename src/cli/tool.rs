//! `tool`: memory-tool calls as JSON, one on each line, each answered with one line, in order.

use std::path::PathBuf;

use agekeep::error::Result;
use agekeep::wire;
use clap::Args;

use super::lines::{Line, next_line, reader};
use super::{Global, init, output};

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
        while let Some(line) = next_line(&mut input, path, store.limits().request_bytes)? {
            let reply = match line {
                Line::Whole(line) => wire::answer(&mut store, &line, &defaults),
                Line::TooLong(max) => wire::too_long(max),
            };
            failed |= reply.unrecorded;
            if !output::json(&reply.json)? {
                return Ok(u8::from(failed));
            }
        }
    }
    Ok(u8::from(failed))
}
