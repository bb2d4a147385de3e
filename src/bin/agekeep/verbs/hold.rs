//! `hold`: what must not go away, by whose word and why.

use agekeep::error::Result;
use agekeep::event::HoldOn;
use agekeep::memory_tool::path::MemoryPath;
use agekeep::store::retention::Held;
use clap::{Args, Subcommand};
use serde_json::json;

use crate::args::Global;
use crate::events::seconds;
use crate::{events, output};

#[derive(Args)]
pub(crate) struct HoldArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Keep memories from expiring, from erasure, and from deletion by agents; needs --reason
    Add {
        /// A file or directory, a glob over whole paths (quoted), or a memory id
        #[arg(value_name = "PATH|GLOB|ID")]
        what: String,
    },
    /// List the holds in force
    List,
    /// End a hold
    Rm {
        /// Its number, as `hold list` shows it
        #[arg(value_name = "HOLD")]
        hold: u64,
    },
}

pub(crate) fn run(global: &Global, args: &HoldArgs) -> Result<u8> {
    match &args.verb {
        Verb::Add { what } => {
            let mut store = global.open()?;
            let meta = store.hold(what, &global.context())?;
            let holds = store.holds()?;
            let held = holds.iter().find(|held| held.hold == meta.event);
            let memories = held.map_or(0, |held| held.memories);
            if global.json {
                output::json(&json!({
                    "schema": "agekeep.hold_add/1",
                    "hold": meta.event,
                    "memories": memories,
                    "meta": meta,
                }))?;
            } else {
                let memories = output::counted(memories as u64, "memory");
                output::line(&format!(
                    "Hold {} is in force; of what is there it keeps {memories}.",
                    meta.event
                ))?;
            }
        }
        Verb::List => list(global, &global.open_to_look()?.holds()?)?,
        Verb::Rm { hold } => {
            let meta = global.open()?.lift_hold(*hold, &global.context())?;
            if global.json {
                output::json(&json!({
                    "schema": "agekeep.hold_rm/1", "hold": hold, "meta": meta,
                }))?;
            } else {
                let event = meta.event;
                output::line(&format!("Hold {hold} is over (event {event})."))?;
            }
        }
    }
    Ok(0)
}

fn list(global: &Global, holds: &[Held]) -> Result<()> {
    for held in holds {
        if global.json {
            output::json(&json!({
                "schema": "agekeep.hold/1",
                "hold": held.hold,
                "on": held.on,
                "path": held.path.as_ref().map(MemoryPath::as_str),
                "since": seconds(held.since),
                "actor": held.actor,
                "reason": held.reason,
                "memories": held.memories,
            }))?;
            continue;
        }
        let on = match (&held.on, &held.path) {
            (HoldOn::Glob(glob), _) => glob.clone(),
            (_, Some(path)) => path.as_str().to_owned(),
            (HoldOn::Memory(id), None) => format!("(gone {id})"),
            _ => "?".into(),
        };
        output::line(&format!(
            "{:<6} {}  {}  by {}, keeps {}: {}",
            held.hold,
            seconds(held.since),
            events::quoted(&on),
            events::quoted(held.actor.as_deref().unwrap_or("-")),
            held.memories,
            events::quoted(held.reason.as_deref().unwrap_or("-"))
        ))?;
    }
    Ok(())
}
