//! What others can check a history by: `checkpoint`, `audit-kit`; and `accept-rollback`, where a check
//! of this machine refused it.

use std::path::PathBuf;

use agekeep::error::{Error, Result};
use agekeep::store::{LostMoment, Store};
use clap::Args;
use serde_json::json;

use crate::args::Global;
use crate::environment;
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
        target.write_bytes(note.as_bytes())?;
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

#[derive(Args)]
pub(crate) struct AuditKitArgs {
    /// The auditor's name, from `agekeep members list`
    #[arg(long = "for", value_name = "NAME")]
    auditor: String,
    /// The folder to write; it must be empty or not exist yet
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(crate) fn audit_kit(global: &Global, args: &AuditKitArgs) -> Result<u8> {
    let mut store = global.open()?;
    let checkpoint = output::with_bar("objects copied", |progress| {
        store.audit_kit(&args.auditor, &args.out, progress)
    })?;
    let object = json!({
        "schema": "agekeep.audit_kit/1",
        "auditor": args.auditor,
        "folder": args.out,
        "store": checkpoint.store,
        "events": checkpoint.events,
        "sha256": checkpoint.digest,
        "commit": checkpoint.commit,
    });
    let said = format!(
        "The kit for {auditor} is in {folder}: {events} and a signed checkpoint. README.md in it has \
         the commands for {auditor}, and says what it does not contain: no key to a text is in it.",
        auditor = args.auditor,
        folder = args.out.display(),
        events = output::counted(checkpoint.events, "event"),
    );
    output::answer(global, &object, &said)?;
    Ok(0)
}

pub(crate) fn accept_rollback(global: &Global) -> Result<u8> {
    let path = global.existing_store()?;
    let keys = environment::keys(global)?;
    // What was seen at this place is what is refused, so the store alone says which it is.
    if global.now.is_some() && !global.is_trial(&path, &keys, None).unwrap_or(false) {
        return Err(Error::NotATrial);
    }
    let context = global.context();
    let (store, lost, meta) = Store::accept_rollback(&path, keys, global.clock(), &context)?;
    let object = json!({
        "schema": "agekeep.accept_rollback/1",
        "store": lost.map(|lost| lost.store),
        "lost": lost.map(|lost| lost.moment),
        "meta": meta,
    });
    output::answer(global, &object, &accepted(&store, lost, meta.event))?;
    Ok(0)
}

/// Describes what was accepted.
fn accepted(store: &Store, lost: Option<LostMoment>, event: u64) -> String {
    let here = store.last_seen().0;
    let Some(LostMoment {
        store: known,
        moment,
        ..
    }) = lost
    else {
        return format!("The keyring is accepted (event {event}).");
    };
    if known == here {
        return format!(
            "The rollback is accepted (event {event}). Lost: every event after the one where \
             history now continues, up to event {} ({}).",
            moment.event, moment.commit
        );
    }
    format!(
        "The store {here} is accepted at this place (event {event}). Lost: the store {known}, last \
         seen at event {} ({}).",
        moment.event, moment.commit
    )
}
