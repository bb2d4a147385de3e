//! `compact`: everything the store holds in one pack.

use agekeep::error::{Error, Result};
use agekeep::store::{Compacted, Kept};
use clap::Args;
use serde_json::{Value, json};

use crate::args::Global;
use crate::output::{self, Bar, counted};

/// The exit code where something is not whole: that of `verify`.
const FINDINGS_PRESENT: u8 = 13;

#[derive(Args)]
pub(crate) struct Compact {
    /// Print what the store is kept in, and change nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
}

pub(crate) fn run(global: &Global, args: &Compact) -> Result<u8> {
    if global.quiet && global.json {
        return Err(Error::Invalid {
            what: "--quiet",
            why: "with --json there is nothing that it could leave out".into(),
        });
    }
    let mut store = global.open_to_look()?;
    if args.dry_run {
        let kept = store.kept()?;
        if global.json {
            output::json(&json!({"schema": "agekeep.compact/1", "before": to_json(kept)}))?;
        } else if !global.quiet {
            let now = in_words(kept);
            output::line(&format!("now {now}\nNothing was changed."))?;
        }
        return Ok(0);
    }
    let mut bar = Bar::start("objects packed and checked");
    let compacted = store.compact(&mut |done, total| bar.show(done, Some(total)));
    bar.finish();
    print(global, &compacted?)
}

fn print(global: &Global, compacted: &Compacted) -> Result<u8> {
    let (before, after) = (compacted.before, compacted.after);
    if global.json {
        output::json(&json!({
            "schema": "agekeep.compact/1",
            "before": to_json(before),
            "after": to_json(after),
            "torn": compacted.torn,
        }))?;
    } else if !global.quiet {
        let (before, after) = (in_words(before), in_words(after));
        output::line(&format!("before {before}\nafter  {after}"))?;
    }
    if compacted.torn.is_empty() {
        return Ok(0);
    }
    for id in &compacted.torn {
        output::warn(&format!("object {id} is torn, and stays where it is"));
    }
    output::note("hint: `agekeep verify` says what needs it");
    Ok(FINDINGS_PRESENT)
}

fn in_words(kept: Kept) -> String {
    let (packs, loose) = (
        counted(kept.packs, "pack"),
        counted(kept.loose, "loose object"),
    );
    format!("{packs}, {loose}, {} bytes", kept.bytes)
}

fn to_json(kept: Kept) -> Value {
    json!({"packs": kept.packs, "loose": kept.loose, "bytes": kept.bytes})
}
