//! Reports as people read them: a page, a Markdown text, or JSON.

mod chart;
mod html;
mod markdown;

use std::borrow::Cow;

use agekeep::report::{AuditReport, ErasedInfo, NameCount, ReadCount};
use chrono::{DateTime, Utc};

use crate::output;

pub(crate) use self::html::report_page;
#[cfg(feature = "http")]
pub(crate) use self::html::style;

/// Longest text of somebody else's that a report shows, in characters.
const SHOWN_CHARACTERS_MAX: usize = 300;

/// The form of a report.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ReportFormat {
    /// One page with pictures, which needs no network and no script.
    Html,
    Markdown,
    Json,
}

/// Renders a report.
pub(crate) fn render(report: &AuditReport, format: ReportFormat) -> String {
    match format {
        ReportFormat::Html => report_page(report, None).into_string(),
        ReportFormat::Markdown => markdown::text(report),
        ReportFormat::Json => {
            let text = serde_json::to_string(report).expect("reports have a JSON form");
            text + "\n"
        }
    }
}

/// Makes a text of somebody else's safe to show: of bounded length, and with what a program would
/// obey escaped.
fn shown(text: &str) -> String {
    let cut = match text.char_indices().nth(SHOWN_CHARACTERS_MAX) {
        None => Cow::from(text),
        Some((at, _)) => format!("{}… ({} bytes)", &text[..at], text.len()).into(),
    };
    output::escaped(&cut).into_owned()
}

/// Formats a time to the second.
fn seconds(time: DateTime<Utc>) -> String {
    time.format("%Y-%m-%d %H:%M:%SZ").to_string()
}

/// Formats a step of a period.
fn step_name(step: &str, at: DateTime<Utc>) -> String {
    let form = match step {
        "hour" => "%Y-%m-%d %H:%M",
        "month" => "%Y-%m",
        "year" => "%Y",
        _ => "%Y-%m-%d",
    };
    at.format(form).to_string()
}

/// Formats a count with its thousands apart.
fn count(number: u64) -> String {
    let digits = number.to_string();
    let pieces: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .filter_map(|piece| std::str::from_utf8(piece).ok())
        .collect();
    pieces.join("\u{202f}")
}

/// Formats a count of things, with its thousands apart.
fn counted(number: u64, what: &str) -> String {
    format!("{} {}", count(number), output::plural(number, what))
}

/// Says what a receipt proves.
fn receipt(erased: &ErasedInfo) -> String {
    format!(
        "{}; {} and {} were tried and do not open; {} still {} a path that was asked for.",
        counted(erased.memories, "memory"),
        counted(erased.versions, "version"),
        counted(erased.records, "record"),
        counted(erased.asked, "record"),
        if erased.asked == 1 { "shows" } else { "show" },
    )
}

/// Formats bytes for people.
#[allow(clippy::cast_precision_loss)] // one digit after the point is shown
fn bytes(number: u64) -> String {
    let mut size = number as f64;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if size < 1024.0 {
            return match unit {
                "B" => format!("{number} B"),
                unit => format!("{size:.1} {unit}"),
            };
        }
        size /= 1024.0;
    }
    format!("{size:.1} TiB")
}

/// The name of an actor or signer, where one is known.
fn name(name: Option<&str>) -> String {
    name.map_or_else(|| "(nobody said)".into(), shown)
}

/// Says which events the period has.
fn range(report: &AuditReport) -> String {
    match (report.events.first, report.events.last) {
        (Some(first), Some(last)) => format!(
            "{}, number {} to {}; {} before",
            counted(report.events.count, "event"),
            first.event,
            last.event,
            count(report.events.before)
        ),
        _ => format!("none in the period; {} before", count(report.events.before)),
    }
}

/// Says who made the report.
fn maker(report: &AuditReport) -> String {
    let made = &report.made;
    match (&made.signer, &made.actor) {
        (Some(signer), Some(actor)) => {
            format!("{} (signer), as {} says", shown(signer), shown(actor))
        }
        (Some(signer), None) => format!("{} (signer)", shown(signer)),
        (None, actor) => format!("{}, without a signing key", name(actor.as_deref())),
    }
}

/// What all forms of a report say on top, a row each.
fn summary(report: &AuditReport) -> Vec<(&'static str, String)> {
    let (period, made) = (&report.period, &report.made);
    let mut rows = vec![
        (
            "Store",
            format!(
                "{} at {}",
                report.store,
                shown(&report.folder.to_string_lossy())
            ),
        ),
        (
            "Period",
            format!(
                "{} to before {}",
                seconds(period.since),
                seconds(period.until)
            ),
        ),
        ("Events", range(report)),
        (
            "Made",
            format!(
                "{} by {}, with an identity of role {}",
                seconds(made.time),
                maker(report),
                made.role
            ),
        ),
        ("Program", format!("agekeep {}", made.version)),
        (
            "Newest commit",
            format!(
                "{} (event {})",
                report.end.commit,
                report.end.events.saturating_sub(1)
            ),
        ),
        (
            "Checkpoint",
            format!(
                "{} events, SHA-256 {}, {}",
                report.end.events,
                report.end.sha256,
                seconds(report.end.time)
            ),
        ),
        ("Verified", verified(report)),
    ];
    if report.trial {
        rows.insert(0, ("Trial", crate::render::TRIAL.into()));
    }
    rows
}

fn verified(report: &AuditReport) -> String {
    let verified = &report.verified;
    let scope = match verified.from {
        0 => format!("{} events", count(verified.events)),
        from => format!(
            "{} events, the first {} of them earlier",
            count(verified.events),
            count(from)
        ),
    };
    match (verified.worst, verified.findings_total) {
        (None, _) => format!("nothing is wrong in {scope}"),
        (Some(worst), 0) => format!("{worst}: not everything was checked of {scope}"),
        (Some(worst), findings) => format!(
            "{worst}: {} in {scope}",
            output::counted(findings, "finding")
        ),
    }
}

/// The registers, each with its title and what it says if it is empty.
fn registers(
    report: &AuditReport,
) -> Vec<(&'static str, &'static str, &agekeep::report::Register)> {
    let all = &report.registers;
    vec![
        ("Denied", "Nothing was denied.", &all.denied),
        ("Failed", "Nothing failed.", &all.failed),
        (
            "Policy, old and new",
            "The policy did not change.",
            &all.policy,
        ),
        (
            "Members, signers and keys",
            "Nobody came or went.",
            &all.members,
        ),
        ("Holds", "No hold was placed or lifted.", &all.holds),
        ("Sweeps", "No sweep ran.", &all.sweeps),
        (
            "Erasures and receipts",
            "Nothing was erased.",
            &all.erasures,
        ),
        (
            "Redactions of what was stored",
            "Nothing stored was redacted.",
            &all.redactions,
        ),
        (
            "Undo, and rollbacks that were accepted",
            "Nothing was undone.",
            &all.undo,
        ),
        (
            "Looks, exports and reports",
            "Nobody looked at history.",
            &all.looks,
        ),
    ]
}

/// A table: its headings and its rows. The first column names the row; of the others, all after
/// `words` hold numbers.
struct ReportTable {
    headings: Vec<&'static str>,
    words: usize,
    rows: Vec<Vec<String>>,
}

fn table<const N: usize>(
    headings: [&'static str; N],
    words: usize,
    rows: impl Iterator<Item = Vec<String>>,
) -> ReportTable {
    ReportTable {
        headings: headings.into(),
        words,
        rows: rows.collect(),
    }
}

fn members(report: &AuditReport) -> ReportTable {
    let members = report.members.iter();
    let rows = members.map(|one| vec![shown(&one.name), one.role.into(), shown(&one.recipient)]);
    table(["Member", "Role", "Public key"], 3, rows)
}

fn signers(report: &AuditReport) -> ReportTable {
    let signers = report.signers.iter();
    let rows = signers.map(|one| vec![shown(&one.name), one.role.into(), shown(&one.fingerprint)]);
    table(["Signer", "Role", "Fingerprint"], 3, rows)
}

fn redactions(report: &AuditReport) -> ReportTable {
    let kinds = report.activity.redactions.iter();
    let rows = kinds.map(|one| vec![shown(&one.kind), count(one.count), count(one.events)]);
    table(["Kind", "Secrets", "Events"], 1, rows)
}

fn reads(report: &AuditReport) -> ReportTable {
    let reads = &report.activity.reads;
    let all = reads.most.iter().chain(&reads.never);
    let rows = all.map(|read| vec![path_of(read), count(read.reads), bytes(read.bytes)]);
    table(["Memory", "Reads", "Text"], 1, rows)
}

fn path_of(read: &ReadCount) -> String {
    let path = read.path.as_deref().map(shown);
    path.unwrap_or_else(|| format!("(erased {})", read.memory))
}

fn next_to_expire(report: &AuditReport) -> ReportTable {
    let next = report.expiring.next.iter();
    let rows = next.map(|next| vec![shown(&next.path), seconds(next.at), bytes(next.bytes)]);
    table(["Next to expire", "When", "Text"], 2, rows)
}

/// A name, and how many of its events ended well, failed and were denied.
type OutcomeRow = (String, [u64; 3]);

fn of_commands(report: &AuditReport) -> Vec<OutcomeRow> {
    let commands = report.activity.commands.iter();
    let rows = commands.map(|one| (shown(&one.command), [one.ok, one.error, one.denied]));
    rows.collect()
}

fn of_names(found: &[NameCount]) -> Vec<OutcomeRow> {
    let row = |one: &NameCount| (name(one.name.as_deref()), [one.ok, one.error, one.denied]);
    found.iter().map(row).collect()
}

fn outcome_table(first: &'static str, rows: &[OutcomeRow]) -> ReportTable {
    let rows = rows.iter().map(|(label, values)| {
        let values = values.iter().map(|value| count(*value));
        std::iter::once(label.clone()).chain(values).collect()
    });
    table([first, "ok", "failed", "denied"], 1, rows)
}

/// Says how many events of a register are not listed.
fn more(register: &agekeep::report::Register) -> Option<String> {
    let left_out = register.total - register.rows.len() as u64;
    (left_out > 0).then(|| {
        format!(
            "and {} more before these; `agekeep log` lists them",
            count(left_out)
        )
    })
}
