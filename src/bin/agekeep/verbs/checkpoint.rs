//! `checkpoint`: a signed note that says where history ends now.

use std::path::PathBuf;

use agekeep::error::Result;
use clap::Args;
use serde_json::json;

use crate::args::Global;
use crate::output;
use crate::verbs::export::writer::ExportTarget;

#[derive(Args)]
pub(crate) struct CheckpointArgs {
    /// Write the checkpoint to this new file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(crate) fn checkpoint(global: &Global, args: &CheckpointArgs) -> Result<u8> {
    let store = global.existing_store()?;
    let free = |path: &PathBuf| ExportTarget::check(path, false, true, &store);
    let target = args.out.as_ref().map(free).transpose()?;
    let (checkpoint, note) = global.open()?.checkpoint()?;
    if let Some(target) = target {
        target.write_text(&note)?;
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
