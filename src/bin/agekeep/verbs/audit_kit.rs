//! `audit-kit`: a folder with all that an auditor needs on a machine of her own.

use std::path::PathBuf;

use agekeep::error::Result;
use clap::Args;
use serde_json::json;

use crate::args::Global;
use crate::output::{self, Bar};

#[derive(Args)]
pub(crate) struct AuditKitArgs {
    /// The auditor's name, from `agekeep members list`
    #[arg(long = "for", value_name = "NAME")]
    auditor: String,
    /// The folder to write; it must be empty or not exist yet
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(crate) fn run(global: &Global, args: &AuditKitArgs) -> Result<u8> {
    let mut store = global.open()?;
    let mut bar = Bar::start("objects copied");
    let mut progress = |done, total| bar.show(done, Some(total));
    let made = store.audit_kit(&args.auditor, &args.out, &mut progress);
    bar.finish();
    let checkpoint = made?;
    if global.json {
        output::json(&json!({
            "schema": "agekeep.audit_kit/1",
            "auditor": args.auditor,
            "folder": args.out,
            "store": checkpoint.store,
            "events": checkpoint.events,
            "sha256": checkpoint.digest,
            "commit": checkpoint.commit,
        }))?;
    } else {
        output::line(&format!(
            "The kit for {} is in {folder}: {} and a signed checkpoint. README.md in it has the \
             commands for {}, and says what it does not contain: no key to a text is in it.",
            args.auditor,
            output::counted(checkpoint.events, "event"),
            args.auditor,
            folder = args.out.display(),
        ))?;
    }
    Ok(0)
}
