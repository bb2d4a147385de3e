//! `checkpoint`: a signed note that says where history ends now.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use agekeep::error::{Error, Result};
use clap::Args;
use serde_json::json;

use crate::args::Global;
use crate::output;

#[derive(Args)]
pub(crate) struct CheckpointArgs {
    /// Write the checkpoint to this new file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(crate) fn checkpoint(global: &Global, args: &CheckpointArgs) -> Result<u8> {
    let (checkpoint, note) = global.open()?.checkpoint()?;
    if let Some(path) = &args.out {
        write_new(path, &note)?;
    }
    if global.json {
        output::json(&json!({
            "schema": "agekeep.checkpoint/1",
            "store": checkpoint.store,
            "events": checkpoint.events,
            "sha256": checkpoint.digest,
            "commit": checkpoint.commit,
            "note": note,
        }))?;
    } else if args.out.is_none() {
        output::text(&note)?;
    }
    Ok(0)
}

/// Writes the note to a new file, and never over another note, which may be the proof of what is
/// missing today.
fn write_new(path: &Path, note: &str) -> Result<()> {
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    file.and_then(|mut file| file.write_all(note.as_bytes()))
        .map_err(|source| Error::Io {
            doing: "write",
            path: path.into(),
            source,
        })
}
