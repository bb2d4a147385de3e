//! `keys export`: what opens one memory with stock age.

use agekeep::error::Result;
use agekeep::memory_tool::path::MemoryPath;
use clap::{Args, Subcommand};
use serde_json::json;

use crate::args::Global;
use crate::output;

#[derive(Args)]
pub(crate) struct Keys {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Print the identities of one memory, which open every version of it with stock age; recorded
    Export {
        /// Its path, or its id, which also names one that was deleted
        #[arg(value_name = "PATH|ID")]
        memory: String,
    },
}

pub(crate) fn run(global: &Global, args: &Keys) -> Result<u8> {
    let Verb::Export { memory } = &args.verb;
    output::close_to_others()?;
    let mut store = global.open()?;
    let exported = store.export_keys(memory, &global.context())?;
    let path = exported.path.as_ref().map(MemoryPath::as_str);
    if global.json {
        output::json(&json!({
            "schema": "agekeep.keys_export/1",
            "memory": exported.id,
            "path": path,
            "identities": exported.identities.lines().collect::<Vec<_>>(),
            "event": exported.event,
        }))?;
    } else {
        // A path has no line end in it.
        let path = path.map_or_else(String::new, |path| format!(" {path}"));
        output::text(&format!(
            "# the memory {}{path}; the newest identity first\n{}",
            exported.id,
            exported.identities.as_str()
        ))?;
    }
    Ok(0)
}
