//! `scan`: looks for secrets in what is kept, by the rules in force now.

use agekeep::Text;
use agekeep::error::Result;
use agekeep::store::history::Recorded;
use agekeep::store::scan::{
    Exposed, ExposedVersion, Problem, Remedy, ScanScope, Scanned, SecretFinding,
};
use clap::Args;
use serde_json::{Value, json};

use crate::args::{Global, memory_path};
use crate::output::{self, Style, StyledLine, plain};
use crate::render;

/// The exit code if secrets were found, or if a text could not be scanned to its end and may hold
/// some.
const FINDINGS_PRESENT: u8 = 14;
/// The exit code if no secret was found but not everything opened: that is no clean store.
const NOT_ALL_OPENED: u8 = 13;

#[derive(Args)]
pub(crate) struct Scan {
    /// Scan only memories that were ever at this path or below it
    #[arg(value_parser = memory_path)]
    path: Option<String>,
    /// Scan only the present versions of live memories
    #[arg(long)]
    present: bool,
}

pub(crate) fn run(global: &Global, args: &Scan) -> Result<u8> {
    let mut store = global.open_to_look()?;
    let mut scope = ScanScope::default();
    let path = args.path.as_deref();
    scope.within = path.map(|path| store.parse_path(path)).transpose()?;
    scope.present = args.present;
    let looked = output::with_bar("versions scanned", |progress| {
        store.scan(&scope, &global.context(), progress)
    })?;
    output::unless_recorded(&looked.recorded);
    let lines: Box<dyn Iterator<Item = StyledLine>> = if global.json {
        let objects = looked.found.memories.iter().flat_map(to_json);
        let objects = objects.chain([summary_to_json(&looked)]);
        Box::new(objects.map(|object| plain(&object.to_string())))
    } else {
        let lines = looked.found.memories.iter().flat_map(to_lines);
        Box::new(lines.chain([plain(&summary(&looked.found))]))
    };
    output::pages(global, lines.map(Ok))?;
    Ok(exit_code(&looked.found))
}

fn exit_code(found: &Scanned) -> u8 {
    if found.findings + found.unfinished > 0 {
        FINDINGS_PRESENT
    } else if found.closed > 0 {
        NOT_ALL_OPENED
    } else {
        0
    }
}

/// Renders a memory: a heading, its versions, newest first, and a hint.
fn to_lines(memory: &Exposed) -> Vec<StyledLine> {
    let path = memory.path.as_ref().map(Text::as_str);
    let path = path.map_or_else(|| "(no path)".into(), render::quoted);
    let state = if memory.is_there { "" } else { ", deleted" };
    let mut lines = vec![vec![
        (Style::Heading, path),
        (Style::Plain, format!("  {}{state}", memory.id)),
    ]];
    let rows = memory.versions.chunk_by(says_the_same);
    lines.extend(rows.map(|row| vec![(Style::Place, place(memory, row)), said(&row[0])]));
    lines.push(plain(&format!("  hint: {}", hint(memory))));
    lines
}

/// Tells whether a version and the one before it can share a line.
fn says_the_same(newer: &ExposedVersion, older: &ExposedVersion) -> bool {
    let same = newer.findings == older.findings && newer.problem == older.problem;
    same && newer.version == older.version + 1
        && newer.findings_total == older.findings_total
        && newer.path == older.path
        && !newer.present
}

/// Renders the place of a row of versions.
///
/// `v3, event 7, there now: ` or `v1-2, events 3 to 5, as /memories/old.md: `
fn place(memory: &Exposed, row: &[ExposedVersion]) -> String {
    let (newest, oldest) = (&row[0], &row[row.len() - 1]);
    let mut text = if row.len() == 1 {
        format!("  v{}, event {}", newest.version, newest.event)
    } else {
        format!(
            "  v{}-{}, events {} to {}",
            oldest.version, newest.version, oldest.event, newest.event
        )
    };
    if newest.present {
        text.push_str(", there now");
    }
    if let Some(path) = newest.path.as_ref().filter(|_| newest.path != memory.path) {
        text.push_str(", as ");
        text.push_str(&render::quoted(path.as_str()));
    }
    text + ": "
}

/// Renders the findings of a version: `github-pat in its path; password in lines 2,5-9`
fn said(version: &ExposedVersion) -> (Style, String) {
    let mut kinds: Vec<(String, Vec<Option<usize>>)> = Vec::new();
    for finding in &version.findings {
        let name = name(finding);
        match kinds.iter_mut().find(|(known, _)| *known == name) {
            Some((_, lines)) => lines.push(finding.line),
            None => kinds.push((name, vec![finding.line])),
        }
    }
    let mut parts: Vec<String> = kinds.iter().map(|(name, at)| named(name, at)).collect();
    let rest = version.findings_total - version.findings.len() as u64;
    if rest > 0 {
        parts.push(format!("{rest} more"));
    }
    match &version.problem {
        None => {}
        Some(Problem::Unreadable(why)) => parts.push(format!("not scanned: {why}")),
        Some(_) => parts.push(UNFINISHED.into()),
    }
    (Style::Plain, parts.join("; "))
}

const UNFINISHED: &str = "scanned only in part, because a full scan would take too long; it may \
                          hold secrets";

/// Returns the kind of a finding as it stands in markers.
fn name(finding: &SecretFinding) -> String {
    let kind = finding.kind.as_str();
    fingerprint(finding).map_or_else(|| kind.into(), |print| format!("{kind}#{print}"))
}

fn fingerprint(finding: &SecretFinding) -> Option<String> {
    finding.fingerprint.map(|bits| format!("{bits:08x}"))
}

fn named(name: &str, at: &[Option<usize>]) -> String {
    let lines = render::in_lines(at.iter().copied().flatten());
    let is_in_text = at.iter().any(Option::is_some);
    match (at.contains(&None), is_in_text) {
        (true, false) => format!("{name} in its path"),
        (true, true) => format!("{name} in its path and {lines}"),
        (false, _) => format!("{name} in {lines}"),
    }
}

/// The reason in the hints, for who copies one and knows no better.
const REASON: &str = "--reason 'a secret is in it'";

fn hint(memory: &Exposed) -> String {
    match (memory.remedy, &memory.path) {
        (Remedy::Redact, Some(path)) => format!(
            "agekeep redact {} {REASON} (what it was before is erased)",
            for_shell(&format!("HEAD:{}", path.as_str()))
        ),
        (Remedy::Verify, _) => "agekeep verify --full says what is wrong with it".into(),
        _ if memory.is_there => format!(
            "agekeep erase {} {REASON} (no redaction reaches this; keep what is not secret under another path)",
            memory.id
        ),
        _ => format!("agekeep erase {} {REASON}", memory.id),
    }
}

/// Quotes a word for the shell, because an agent chose the path in it, and somebody will copy it.
fn for_shell(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-:@/+".contains(c);
    if word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn summary(found: &Scanned) -> String {
    let scope = format!(
        "{} of {} scanned, up to event {}",
        output::counted(found.versions_total, "version"),
        output::counted(found.memories_total, "memory"),
        found.at.event
    );
    let mut parts = match found.findings {
        0 => vec!["No secret was found".to_owned()],
        count => vec![output::counted(count, "finding")],
    };
    for (count, what) in [
        (found.unfinished, "not scanned to the end"),
        (found.closed, "not opened"),
    ] {
        if count > 0 {
            parts.push(format!("{} {what}", output::counted(count, "version")));
        }
    }
    format!("{}: {scope}", parts.join(", "))
}

/// Renders an object for each finding of a memory, and for each version that was not scanned.
fn to_json(memory: &Exposed) -> impl Iterator<Item = Value> {
    memory.versions.iter().flat_map(|version| {
        let findings = version.findings.iter();
        let findings = findings.map(|finding| {
            let mut object = part(memory, version, "agekeep.scan_finding/1");
            object["kind"] = finding.kind.as_str().into();
            object["line"] = finding.line.into();
            object["in"] = if finding.line.is_some() {
                "text"
            } else {
                "path"
            }
            .into();
            object["fingerprint"] = fingerprint(finding).into();
            object["remedy"] = remedy(memory).into();
            object
        });
        let problem = version.problem.iter().map(|problem| {
            let mut object = part(memory, version, "agekeep.scan_problem/1");
            let (what, why) = match problem {
                Problem::Unreadable(why) => ("closed", why.as_str()),
                _ => ("unfinished", UNFINISHED),
            };
            object["problem"] = what.into();
            object["why"] = why.into();
            object["remedy"] = remedy(memory).into();
            object
        });
        findings.chain(problem)
    })
}

fn part(memory: &Exposed, version: &ExposedVersion, schema: &str) -> Value {
    json!({
        "schema": schema,
        "memory": memory.id,
        "path": version.path.as_ref().map(Text::as_str),
        "version": version.version,
        "event": version.event,
        "present": version.present,
    })
}

fn remedy(memory: &Exposed) -> &'static str {
    match memory.remedy {
        Remedy::Redact => "redact",
        Remedy::Verify => "verify",
        _ => "erase",
    }
}

fn summary_to_json(looked: &Recorded<Scanned>) -> Value {
    let found = &looked.found;
    json!({
        "schema": "agekeep.scan/1",
        "ok": exit_code(found) == 0,
        "at": found.at,
        "memories": found.memories_total,
        "versions": found.versions_total,
        "findings": found.findings,
        "unfinished": found.unfinished,
        "closed": found.closed,
        "recorded": render::recorded_to_json(&looked.recorded),
    })
}
