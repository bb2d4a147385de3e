//! `report`: what happened in a period, for somebody who has to answer for it; and proof that such
//! a file is as it was signed.

use std::path::{Path, PathBuf};

use agekeep::error::{Error, Result};
use agekeep::event::Context;
use agekeep::report::{self, AuditReport, Period};
use agekeep::store::revision::parse_time;
use agekeep::store::signed_checkpoint::{FileDigest, NOTE_BYTES_MAX, SignedFile};
use agekeep::store::{Identity, Store};
use agekeep::verify::{self, Finding, Limit};
use chrono::{DateTime, Utc};
use clap::{Args, Subcommand};
use serde_json::json;

use crate::args::Global;
use crate::environment;
use crate::render;
use crate::report::{ReportFormat, render as rendered};
use crate::verbs::export::writer::ExportTarget;
use crate::verbs::verify::{TAMPERED, exit_code, verified};
use crate::{input, output};

/// Most bytes of a report that is proved: more than any has.
const REPORT_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Most unverified events that a report which nobody signs waits for: some two seconds.
pub(crate) const UNVERIFIED_MAX: u64 = 20_000;

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ReportArgs {
    #[command(subcommand)]
    verb: Option<ReportVerb>,
    /// A year, a quarter or a month, in UTC: 2026, 2026-Q3, 2026-09 [default: the last 90 days]
    #[arg(value_name = "PERIOD", conflicts_with_all = ["since", "until"])]
    period: Option<String>,
    /// Events then or later: an RFC 3339 time, a date, `yesterday`, or an age such as 7d
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Events before then
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// What to write; `--json` is the same as `--format json`
    #[arg(long, value_name = "FORMAT", default_value = "html")]
    format: ReportFormat,
    /// A new file to write to instead of standard output; others cannot read it
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Put a signed note beside the file, FILE.note: its SHA-256, and where history ends
    #[arg(long, requires = "out")]
    sign: bool,
}

#[derive(Subcommand)]
enum ReportVerb {
    /// Prove that a report is as it was signed, and that its history is in this store's of today
    Verify {
        /// The report; its note is beside it, as FILE.note
        file: PathBuf,
    },
}

pub(crate) fn run(global: &Global, args: &ReportArgs) -> Result<u8> {
    match &args.verb {
        Some(ReportVerb::Verify { file }) => prove(global, file),
        None => make(global, args),
    }
}

fn make(global: &Global, args: &ReportArgs) -> Result<u8> {
    let (since, until) = (args.since.as_deref(), args.until.as_deref());
    let period = parse_period(args.period.as_deref(), since, until, (global.clock())())?;
    let store_path = global.existing_store()?;
    // What is in the way is told before anything is read or recorded.
    let free = |path: &Path| ExportTarget::check(path, false, true, &store_path);
    let target = args.out.as_deref().map(free).transpose()?;
    let note_path = args.out.as_deref().map(note_of);
    let note_target = note_path.as_deref().filter(|_| args.sign);
    let note_target = note_target.map(free).transpose()?;
    global.refuse_made_up_time()?;
    let mut store = global.open_for_reading()?;
    // What somebody signs is verified, however long that takes.
    let events_max = if args.sign { u64::MAX } else { UNVERIFIED_MAX };
    let found = verify_and_report(global, &mut store, &period, &global.context(), events_max)?;
    output::unless_recorded(&found.recorded);
    let format = if global.json {
        ReportFormat::Json
    } else {
        args.format
    };
    let text = rendered(&found, format);
    let Some(target) = target else {
        output::text(&text)?;
        return Ok(exit_code_of(&found));
    };
    // Signed before the file is there, so that no report stays without the note that was asked for.
    let note = note_target.map(|target| {
        let (_, note) = store.sign_file(&FileDigest::of(text.as_bytes()))?;
        Ok::<_, Error>((target, note))
    });
    let note = note.transpose()?;
    target.write_bytes(text.as_bytes())?;
    if let Some((target, note)) = note {
        target.write_bytes(note.as_bytes())?;
    }
    say_written(args, &found);
    Ok(exit_code_of(&found))
}

/// Returns the exit code of a report that was made: whoever reads only that has to notice
/// tampering. Gaps and untidy settings stand in the report.
fn exit_code_of(found: &AuditReport) -> u8 {
    if found.verified.worst != Some(verify::FindingClass::Tampered.as_str()) {
        return 0;
    }
    output::warn("the store does not verify; the report says why, and so does `agekeep verify`");
    TAMPERED
}

/// Parses a period: a name, or two times of which either may be missing.
pub(crate) fn parse_period(
    name: Option<&str>,
    since: Option<&str>,
    until: Option<&str>,
    now: DateTime<Utc>,
) -> Result<Period> {
    let time = |text: Option<&str>| text.map(|text| parse_time(text, now)).transpose();
    match (name, since, until) {
        (Some(name), None, None) => Period::parse(name),
        (Some(_), _, _) => Err(Error::invalid(
            "the period",
            "it is either a name, such as 2026-Q3, or two times",
        )),
        (None, since, until) => Period::between(time(since)?, time(until)?, now),
    }
}

/// Verifies the store, from where it was verified last, and reports on a period. The report is
/// recorded. If more than `events_max` events are unverified, the report only says so.
pub(crate) fn verify_and_report(
    global: &Global,
    store: &mut Store,
    period: &Period,
    context: &Context,
    events_max: u64,
) -> Result<AuditReport> {
    let identity = Some(store.identity().clone());
    let events = store.count_events()?;
    let limit = Some(Limit { events, events_max });
    let mut options = since_the_last(global, identity);
    options.limit = limit;
    let verified = verified(&global.existing_store()?, &options)?;
    if events - verified.from.min(events) > events_max {
        output::warn(
            "most events are not verified, and the report says so; run `agekeep verify` and make \
             it again",
        );
    }
    report::make(store, period, &verified, context)
}

/// The options to verify the store, from where it was verified last.
fn since_the_last(global: &Global, identity: Option<Identity>) -> verify::Options {
    verify::Options {
        identity,
        full: false,
        state: environment::state(),
        keyring: global.keyring.clone(),
        checkpoints: Vec::new(),
        limit: None,
    }
}

fn say_written(args: &ReportArgs, found: &AuditReport) {
    let Some(path) = &args.out else { return };
    let note = if args.sign { ", signed beside it" } else { "" };
    output::note(&format!(
        "wrote {}{note}: {} in the period",
        path.display(),
        output::counted(found.events.count, "event")
    ));
}

fn note_of(report: &Path) -> PathBuf {
    let mut name = report.as_os_str().to_owned();
    name.push(".note");
    name.into()
}

// Proof.

/// Proves a report: its hash, the signature over it, and that history contains its checkpoint.
fn prove(global: &Global, file: &Path) -> Result<u8> {
    let note_path = note_of(file);
    let bytes = read(file, "the report", REPORT_BYTES_MAX)?;
    let note = read(&note_path, "the note", NOTE_BYTES_MAX)?;
    let refused = |what: &Path, why: String| Error::Damaged {
        what: what.display().to_string(),
        why,
        hint: Some(
            "ask whoever gave it to you for the report and its note as they were signed".into(),
        ),
    };
    let note = String::from_utf8(note).map_err(|_| "it is not UTF-8".to_owned());
    let signed = note.and_then(|note| SignedFile::parse(&note));
    let signed = signed.map_err(|why| refused(&note_path, why))?;
    let found = FileDigest::of(&bytes);
    if found != signed.file {
        let why = format!(
            "it has SHA-256 {} and {} bytes, and its note was signed for {} and {}",
            found.sha256, found.bytes, signed.file.sha256, signed.file.bytes
        );
        return Err(refused(file, why));
    }
    let store = global.existing_store()?;
    let mut options = since_the_last(global, environment::identity_if_any(global)?);
    options.checkpoints.push(signed.checkpoint.clone());
    let proof = verified(&store, &options)?;
    let is_of_note = |finding: &&Finding| finding.id.starts_with("checkpoint-");
    if let Some(finding) = proof.findings.iter().find(is_of_note) {
        return Err(refused(&note_path, in_words(finding.id).into()));
    }
    show_proof(global, file, &signed, &proof)
}

/// Says what keeps a note from proving anything.
fn in_words(finding: &str) -> &'static str {
    match finding {
        "checkpoint-foreign" => "it was signed for another store",
        "checkpoint-unsigned" => "nobody who was a signer of this store then has signed it",
        "checkpoint-rolled-back" => {
            "this store's history ends before the event that it was signed after: the newest events \
             were taken away"
        }
        _ => "this store's history has another commit at the event that it was signed after",
    }
}

fn show_proof(
    global: &Global,
    file: &Path,
    signed: &SignedFile,
    proof: &verify::Report,
) -> Result<u8> {
    let checkpoint = signed.checkpoint.checkpoint();
    let event = checkpoint.events - 1;
    let told = proof.checkpoints.first();
    let maker = told.and_then(|told| told.signer.as_deref());
    let is_proved = told.is_some_and(|told| told.is_proved);
    for gap in &proof.not_checked {
        output::warn(&format!("not checked: {gap}"));
    }
    let object = json!({
        "schema": "agekeep.report_proof/1",
        "ok": is_proved,
        "file": file.display().to_string(),
        "sha256": signed.file.sha256,
        "bytes": signed.file.bytes,
        "store": checkpoint.store,
        "signer": maker,
        "event": event,
        "commit": checkpoint.commit,
        "time": render::rfc3339(checkpoint.time),
        "trial": proof.trial,
        "findings_total": proof.findings_total,
        "not_checked": proof.not_checked,
    });
    let history = if is_proved {
        "today's history, unbroken"
    } else {
        "today's history, which is not in order: `agekeep verify` says why"
    };
    let mut said = format!(
        "{} is as {} signed it, of the store {}\nevent {event} of {} is in {history}; {} came after it",
        file.display(),
        maker.map_or("nobody".into(), render::quoted),
        checkpoint.store,
        render::seconds(checkpoint.time),
        output::counted(proof.events.saturating_sub(checkpoint.events), "event"),
    );
    if proof.trial == Some(true) {
        said.extend(["\n", render::TRIAL]);
    }
    output::answer(global, &object, &said)?;
    Ok(match (is_proved, exit_code(proof)) {
        (false, 0) => TAMPERED,
        (_, code) => code,
    })
}

/// Reads a file of bounded length.
fn read(path: &Path, what: &'static str, bytes_max: usize) -> Result<Vec<u8>> {
    // Nobody waits for a pipe that nothing comes through.
    let about = std::fs::metadata(path).map_err(Error::io("read", path))?;
    if !about.is_file() {
        return Err(Error::invalid(
            what,
            format!("{} is no file", path.display()),
        ));
    }
    input::bounded(path, what, bytes_max)
}
