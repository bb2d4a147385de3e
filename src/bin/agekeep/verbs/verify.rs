//! `verify`: checks whether everything is as it was written, and shows what is not.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use agekeep::error::{Error, Result};
use agekeep::store::signed_checkpoint::SignedCheckpoint;
use agekeep::verify::{self, Finding, Options, Report};
use clap::Args;
use serde_json::{Value, json};

use crate::args::Global;
use crate::output::{self, Bar};
use crate::verbs::policy;
use crate::{environment, render};

/// The exit code if something is not as it should be.
const FINDINGS_PRESENT: u8 = 13;

#[derive(Args)]
pub(crate) struct Verify {
    /// Begin with the first event, whatever was verified before
    #[arg(long)]
    full: bool,
    /// Also prove that history contains what this checkpoint says; more than one also have to fit
    /// each other
    #[arg(long, value_name = "FILE")]
    checkpoint: Vec<PathBuf>,
}

pub(crate) fn run(global: &Global, args: &Verify) -> Result<u8> {
    let store = global.existing_store()?;
    let identity = match environment::identity_alone(global) {
        Err(Error::NoKeyFile { .. }) => None,
        read => Some(read?),
    };
    let options = Options {
        identity,
        full: args.full,
        state: environment::state(),
        keyring: global.keyring.clone(),
        checkpoints: args
            .checkpoint
            .iter()
            .map(|file| note(file))
            .collect::<Result<_>>()?,
    };
    let mut bar = Bar::start("events verified");
    let report = verify::verify(&store, &options, &mut |progress| {
        bar.show(progress.done, progress.total);
    })?;
    bar.finish();
    for gap in &report.not_checked {
        output::warn(&format!("not checked: {gap}"));
    }
    if global.json {
        output::json(&to_json(&report))?;
    } else {
        output::line(&to_text(&report))?;
    }
    let clean = report.findings_total == 0;
    Ok(if clean { 0 } else { FINDINGS_PRESENT })
}

/// Reads a checkpoint.
fn note(file: &Path) -> Result<SignedCheckpoint> {
    let text = policy::read(file)?;
    SignedCheckpoint::parse(&text).map_err(|why| Error::Invalid {
        what: "the checkpoint",
        why: format!("{}: {why}", file.display()),
    })
}

fn to_text(report: &Report) -> String {
    let trial = match report.trial {
        Some(true) => format!("\n{}", render::TRIAL),
        _ => String::new(),
    };
    if report.findings_total == 0 {
        return summary(report) + &trial;
    }
    let mut text = String::new();
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
    text + &trial
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
    format!("{}  {}: {}", finding.id, place.join(" "), finding.what)
}

fn to_json(report: &Report) -> Value {
    let finding = |finding: &Finding| {
        json!({
            "id": finding.id,
            "event": finding.event,
            "commit": finding.commit,
            "memory": finding.memory,
            "what": finding.what,
            "hint": finding.hint,
        })
    };
    json!({
        "schema": "agekeep.verify/1",
        "ok": report.findings_total == 0,
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
        "not_checked": report.not_checked,
    })
}
