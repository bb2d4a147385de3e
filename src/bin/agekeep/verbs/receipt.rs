//! `receipt`: shows proof of what was erased, and checks it against what is there now.

use agekeep::error::Result;
use agekeep::event::{Erased, Event};
use agekeep::remote::{self, Replica};
use agekeep::store::retention::{Proof, ReceiptCheck};
use clap::Subcommand;
use serde_json::{Value, json};

use crate::args::Global;
use crate::output;
use crate::render::{self, seconds};
use crate::table::{self, Pair};
use crate::verbs::history::revision;
use crate::verbs::replicas;

#[derive(Subcommand)]
pub(crate) enum ReceiptVerb {
    /// Show a receipt: what was erased, by whom, why, and what the erasure does not reach
    Show {
        /// The event that erased something [default: the newest]
        #[arg(value_name = "REV")]
        event: Option<String>,
    },
    /// Check receipts: try to decrypt the erased versions with every key there is now
    Verify {
        /// The event that erased something [default: every one]
        #[arg(value_name = "REV")]
        event: Option<String>,
    },
}

/// The exit code if a receipt does not hold.
const BROKEN: u8 = 13;
/// The exit code if nothing speaks against a receipt, and an auditor could try no version.
const NOT_TRIED: u8 = 3;

pub(crate) fn run(global: &Global, verb: &ReceiptVerb) -> Result<u8> {
    let mut store = global.open_for_reading()?;
    match verb {
        ReceiptVerb::Show { event } => {
            let event = event.as_deref().map(|text| revision(global, text));
            let proof = store.receipt(event.transpose()?.as_ref())?;
            let others = remote::replicas(&global.existing_store()?, &store);
            let mut others = others.unwrap_or_else(|error| {
                output::warn(&format!("other machines are not shown: {error}"));
                Vec::new()
            });
            others.retain(|replica| !replica.is_own);
            let each = others.into_iter().map(|replica| {
                let event = proof.event.number;
                let done = replicas::has_destroyed(global, &mut store, &replica, event)?;
                Ok((replica, done))
            });
            let others: Vec<(Replica, bool)> = each.collect::<Result<_>>()?;
            if global.json {
                output::json(&to_json(&proof, &others))?;
            } else {
                table::print_pairs(global, &to_pairs(&proof, &others))?;
            }
            Ok(0)
        }
        ReceiptVerb::Verify { event } => {
            let numbers = match event {
                Some(event) => {
                    let revision = revision(global, event)?;
                    vec![store.receipt(Some(&revision))?.event.number]
                }
                None => store.receipts()?,
            };
            let (mut all_hold, mut all_tried) = (true, true);
            let many = numbers.len();
            for number in numbers {
                let checked = output::with_bar("records tried", |progress| {
                    store.check_receipt(number, progress)
                })?;
                all_hold &= checked.holds();
                all_tried &= is_tried(&checked);
                print_checked(global, &checked)?;
            }
            if many == 0 && !global.json {
                output::line("Nothing has been erased yet.")?;
            }
            Ok(match (all_hold, all_tried) {
                (true, true) => 0,
                (true, false) => NOT_TRIED,
                (false, _) => BROKEN,
            })
        }
    }
}

fn to_pairs(proof: &Proof, others: &[(Replica, bool)]) -> Vec<Pair> {
    let (event, receipt) = (&proof.event, proof.receipt());
    let said = |text: &Option<String>| render::quoted(text.as_deref().unwrap_or("-"));
    let mut pairs = vec![
        (
            "receipt",
            format!("event {} ({})", event.number, event.command),
        ),
        ("commit", proof.commit.to_string()),
        ("signed by", proof.signer.clone()),
        ("time", seconds(event.time)),
        ("actor", said(&event.actor)),
        ("reason", said(&event.reason)),
    ];
    let earlier = proof.earlier.iter();
    pairs.extend(earlier.map(|earlier| (before(earlier), earlier_text(earlier))));
    pairs.push((
        "keys",
        format!(
            "epoch {} destroyed, {} in its place; names {} destroyed, {} in its place",
            receipt.epoch.0, receipt.epoch.1, receipt.names.0, receipt.names.1
        ),
    ));
    pairs.push((
        "tried",
        format!(
            "{} and {} with the keys that are left: none opens",
            output::counted(receipt.versions, "version"),
            output::counted(receipt.records, "record")
        ),
    ));
    for memory in &receipt.memories {
        pairs.push(("memory", memory_text(memory)));
        let blobs = memory.blobs.iter();
        pairs.extend(blobs.map(|blob| ("  version", blob.to_string())));
    }
    if receipt.asked > 0 {
        let said = "records of calls that asked for such a path when nothing was there";
        pairs.push(("still said", format!("{} {said}", receipt.asked)));
    }
    pairs.extend(others.iter().map(on_replica));
    let not_reached = receipt.not_reached.iter();
    pairs.extend(not_reached.map(|what| ("not reached", what.clone())));
    pairs
}

/// Describes what another machine says of the erased keys.
fn on_replica((replica, is_done): &(Replica, bool)) -> Pair {
    let (name, at) = (&replica.name, seconds(replica.time));
    if replica.has_left() {
        return (
            "destroyed by",
            format!("{name}, which says at {at} that it has no keys"),
        );
    }
    if *is_done {
        return ("destroyed by", format!("{name}, which says so at {at}"));
    }
    let removed = match replica.role {
        Some(_) => "",
        None => ", which was removed and has the keys of then",
    };
    let events = output::counted(replica.events, "event");
    let apart = if replica.is_apart {
        ", some of them its own"
    } else {
        ""
    };
    (
        "not yet by",
        format!("{name}{removed}: it was at {events}{apart} at {at}"),
    )
}

fn memory_text(memory: &Erased) -> String {
    let kept = match memory.kept {
        Some(kept) => format!("; version {kept} is kept"),
        None => ", all there were".into(),
    };
    let versions = output::counted(memory.blobs.len() as u64, "version");
    format!("{}  {versions}{kept}", memory.memory)
}

/// Names what an earlier event did to the memories that this one erased.
fn before(earlier: &Event) -> &'static str {
    match earlier.receipt {
        Some(_) => "erased",
        None => "marked",
    }
}

fn earlier_text(earlier: &Event) -> String {
    format!(
        "event {} at {} by {}: {}",
        earlier.number,
        seconds(earlier.time),
        render::quoted(earlier.actor.as_deref().unwrap_or("-")),
        render::quoted(earlier.reason.as_deref().unwrap_or("-"))
    )
}

fn to_json(proof: &Proof, others: &[(Replica, bool)]) -> Value {
    let event = &proof.event;
    let earlier = proof.earlier.iter().map(|earlier| {
        json!({
            "event": earlier.number,
            "what": before(earlier),
            "time": seconds(earlier.time),
            "actor": earlier.actor,
            "reason": earlier.reason,
        })
    });
    let replicas = others.iter().map(|(replica, is_done)| {
        json!({
            "name": replica.name,
            "destroyed": is_done,
            "removed": replica.role.is_none(),
            "events": replica.events,
            "time": seconds(replica.time),
        })
    });
    let replicas: Vec<Value> = replicas.collect();
    json!({
        "schema": "agekeep.receipt/1",
        "event": event.number,
        "command": event.command,
        "commit": proof.commit,
        "signer": proof.signer,
        "time": seconds(event.time),
        "actor": event.actor,
        "session": event.session,
        "reason": event.reason,
        "earlier": earlier.collect::<Vec<_>>(),
        "receipt": proof.receipt(),
        "replicas": replicas,
    })
}

/// Tells whether versions were tried, which takes a reader, unless the erasure lists none.
fn is_tried(checked: &ReceiptCheck) -> bool {
    checked.versions > 0 || checked.proof.receipt().versions == 0
}

fn print_checked(global: &Global, checked: &ReceiptCheck) -> Result<()> {
    let event = checked.proof.event.number;
    if global.json {
        output::json(&json!({
            "schema": "agekeep.receipt_verify/1",
            "event": event,
            "holds": checked.holds(),
            "keys": checked.keys,
            "opened": checked.opened,
            "unlisted": checked.unlisted,
            "named": checked.named,
            "versions_tried": checked.versions,
            "records_tried": checked.records,
        }))?;
        return Ok(());
    }
    if !is_tried(checked) {
        output::warn("no version was tried: your identity is an auditor's");
    }
    let mut lines = vec![format!(
        "receipt of event {event}: {} ({} and {} tried)",
        match (checked.holds(), is_tried(checked)) {
            (true, true) => "holds",
            (true, false) => "holds as far as an auditor can tell",
            (false, _) => "does not hold",
        },
        output::counted(checked.versions, "version"),
        output::counted(checked.records, "record")
    )];
    let each = |ids: &[agekeep::id::MemoryId], what: &str| -> Vec<String> {
        ids.iter().map(|id| format!("  {id}  {what}")).collect()
    };
    lines.extend(each(&checked.keys, "has a key in the keyring"));
    let opened = checked.opened.iter();
    lines.extend(opened.map(|(id, blob)| format!("  {id}  version {blob} opens")));
    lines.extend(each(&checked.named, "has a path that a record shows"));
    lines.extend(each(&checked.unlisted, "has other versions in history"));
    output::line(&lines.join("\n"))
}
