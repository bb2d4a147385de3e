//! `verify`: checks whether everything is as it was written, and shows what is not.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use agekeep::error::{Error, Result};
use agekeep::remote;
use agekeep::store::signed_checkpoint::SignedCheckpoint;
use agekeep::verify::{self, CheckpointProof, Finding, FindingClass, Options, Report};
use clap::Args;
use serde_json::{Value, json};

use crate::args::Global;
use crate::output::{self, Bar};
use crate::verbs::policy;
use crate::verbs::remote::with_bar;
use crate::{environment, render};

/// The exit codes, by the gravest class of what was found.
pub(crate) const TAMPERED: u8 = 13;
const INCOMPLETE: u8 = 3;
const UNTIDY: u8 = 14;
const APART: u8 = 15;

#[derive(Args)]
pub(crate) struct Verify {
    /// Verify from the first event, also what an earlier run verified
    #[arg(long)]
    full: bool,
    /// Also check that history contains this checkpoint. Several checkpoints must agree with each
    /// other
    #[arg(long, value_name = "FILE")]
    checkpoint: Vec<PathBuf>,
    /// Verify what a remote serves, against this copy. Nothing of it is taken
    #[arg(long, value_name = "NAME", conflicts_with_all = ["full", "checkpoint"])]
    remote: Option<String>,
}

pub(crate) fn run(global: &Global, args: &Verify) -> Result<u8> {
    let store = global.existing_store()?;
    if let Some(name) = &args.remote {
        return remote(global, &store, name);
    }
    let options = Options {
        identity: environment::identity_if_any(global)?,
        full: args.full,
        state: environment::state(),
        keyring: global.keyring.clone(),
        checkpoints: args
            .checkpoint
            .iter()
            .map(|file| note(file))
            .collect::<Result<_>>()?,
        limit: None,
    };
    let report = verified(&store, &options)?;
    for gap in &report.not_checked {
        output::warn(&format!("not checked: {gap}"));
    }
    for note in &report.notes {
        output::note(&format!("note: {note}"));
    }
    output::answer(global, &to_json(&report), &to_text(&report))?;
    Ok(exit_code(&report))
}

/// Verifies a store, with a bar.
pub(crate) fn verified(store: &Path, options: &Options) -> Result<Report> {
    let mut bar = Bar::start("events verified");
    let report = verify::verify(store, options, &mut |progress| {
        bar.show(progress.done, progress.total);
    });
    bar.finish();
    report
}

/// Verifies what a remote serves.
fn remote(global: &Global, store: &Path, name: &str) -> Result<u8> {
    let inspected = with_bar(global, |transfer, verified| {
        remote::inspect(store, Some(name), transfer, verified)
    })?;
    let (report, is_apart) = (inspected.report.as_ref(), inspected.is_apart);
    let object = json!({
        "schema": "agekeep.verify_remote/1",
        "remote": inspected.remote,
        "head": inspected.head,
        "missing": inspected.missing,
        "apart": is_apart,
        "verification": report.map(to_json),
    });
    let (said, code) = match (report, inspected.missing.unwrap_or_default()) {
        (None, 0) => (format!("{name} serves this copy's history"), 0),
        (None, missing) => {
            let lacks = output::counted(missing, "event");
            let said = format!("{name} serves this copy's history and lacks {lacks} of it");
            (said, 0)
        }
        (Some(_), _) if is_apart => {
            let told = "both have events that the other lacks; those there are in order";
            (format!("{name}: {told}"), APART)
        }
        (Some(report), _) => (format!("{name}: {}", to_text(report)), exit_code(report)),
    };
    output::answer(global, &object, &said)?;
    Ok(code)
}

/// Returns the exit code for what was found.
pub(crate) fn exit_code(report: &Report) -> u8 {
    match report.worst {
        None => 0,
        Some(FindingClass::Untidy) => UNTIDY,
        Some(FindingClass::Incomplete) => INCOMPLETE,
        Some(_) => TAMPERED,
    }
}

/// Reads a checkpoint.
pub(crate) fn note(file: &Path) -> Result<SignedCheckpoint> {
    let text = policy::read(file)?;
    SignedCheckpoint::parse(&text)
        .map_err(|why| Error::invalid("the checkpoint", format!("{}: {why}", file.display())))
}

fn to_text(report: &Report) -> String {
    let trial = match report.trial {
        Some(true) => format!("\n{}", render::TRIAL),
        _ => String::new(),
    };
    let mut text = String::new();
    for checkpoint in &report.checkpoints {
        let _ = writeln!(text, "{}", checkpoint_line(checkpoint));
    }
    if report.findings_total == 0 {
        return text + &summary(report) + &trial;
    }
    let mut hints: Vec<&str> = Vec::new();
    for finding in &report.findings {
        let _ = writeln!(text, "{}", finding_line(finding));
        if !hints.contains(&finding.hint.as_str()) {
            hints.push(&finding.hint);
        }
    }
    let rest = report.findings_total - report.findings.len() as u64;
    if rest > 0 {
        let _ = writeln!(text, "and {rest} more");
    }
    for hint in hints {
        let _ = writeln!(text, "hint: {hint}");
    }
    let total = report.findings_total;
    let _ = write!(
        text,
        "{} in {}",
        output::counted(total, "finding"),
        scope(report)
    );
    if report.worst != Some(FindingClass::Tampered) {
        text.push_str(", none of them tampering");
    }
    text + &trial
}

/// Renders what a checkpoint proves.
fn checkpoint_line(checkpoint: &CheckpointProof) -> String {
    let (event, time) = (checkpoint.event, render::rfc3339(checkpoint.time));
    let signer = checkpoint.signer.as_deref();
    let signer = signer.map_or("no signer".into(), render::quoted);
    let told = match (checkpoint.is_proved, checkpoint.is_contained) {
        (true, _) => "is in today's history, unbroken",
        (false, true) => "is in today's history, which is not in order",
        (false, false) => "is not proved to be in today's history",
    };
    format!("checkpoint signed by {signer}: event {event} of {time} {told}")
}

fn summary(report: &Report) -> String {
    let versions = output::counted(report.versions, "version");
    // Without a key nothing is known of memories.
    let memories = if report.memories.live == 0 && !report.not_checked.is_empty() {
        String::new()
    } else {
        format!(", {}", output::counted(report.memories.opened, "memory"))
    };
    let mut text = format!("{}{memories} and {versions} check out", scope(report));
    if report.from > 0 {
        let _ = write!(text, "; the {} before were verified earlier", report.from);
    }
    if !report.erased.is_empty() {
        let erased = report.erased.len() as u64;
        let _ = write!(text, "; {} erased", output::counted(erased, "memory"));
    }
    if report.worst == Some(FindingClass::Incomplete) {
        text.push_str("; not everything was checked");
    }
    text
}

fn scope(report: &Report) -> String {
    output::counted(report.events.saturating_sub(report.from), "event")
}

/// Renders a finding as a line.
///
/// `chain  event 4 commit 0123456789ab memory 3f…: its Chain trailer is not …`
fn finding_line(finding: &Finding) -> String {
    let mut place = Vec::new();
    if let Some(event) = finding.event {
        place.push(format!("event {event}"));
    }
    if let Some(commit) = finding.commit {
        place.push(format!("commit {}", &commit.to_string()[..12]));
    }
    if let Some(memory) = finding.memory {
        place.push(format!("memory {memory}"));
    }
    if place.is_empty() {
        place.push("store".into());
    }
    let class = match finding.class {
        FindingClass::Tampered => String::new(),
        class => format!(" ({})", class.as_str()),
    };
    let place = place.join(" ");
    format!("{}{class}  {place}: {}", finding.id, finding.what)
}

fn to_json(report: &Report) -> Value {
    let finding = |finding: &Finding| {
        json!({
            "id": finding.id,
            "class": finding.class.as_str(),
            "event": finding.event,
            "commit": finding.commit,
            "memory": finding.memory,
            "what": finding.what,
            "hint": finding.hint,
        })
    };
    let checkpoint = |checkpoint: &CheckpointProof| {
        json!({
            "event": checkpoint.event,
            "time": render::rfc3339(checkpoint.time),
            "commit": checkpoint.commit,
            "signer": checkpoint.signer,
            "proved": checkpoint.is_proved,
        })
    };
    json!({
        "schema": "agekeep.verify/1",
        "ok": report.findings_total == 0,
        "result": report.worst.map_or("ok", FindingClass::as_str),
        "store": report.store,
        "trial": report.trial,
        "head": report.head,
        "events": report.events,
        "from": report.from,
        "versions": report.versions,
        "memories": {"live": report.memories.live, "opened": report.memories.opened},
        "erased": report.erased,
        "findings": report.findings.iter().map(finding).collect::<Vec<_>>(),
        "findings_total": report.findings_total,
        "checkpoints": report.checkpoints.iter().map(checkpoint).collect::<Vec<_>>(),
        "not_checked": report.not_checked,
        "notes": report.notes,
    })
}
