//! Events as text and as JSON, for every verb that shows one.

use std::collections::BTreeSet;
use std::fmt::Write;

use agekeep::diff::{DiffHunk, DiffLine, LineKind, TextDiff};
use agekeep::event::{
    Change, Event, HoldChange, HoldOn, MemoryChange, Moment, Outcome, PathRef, RemovalReason,
};
use agekeep::memory_tool::path::MemoryPath;
use agekeep::store::history::{EventDiff, MemoryDiff, RecordStatus, VersionInfo};
use agekeep::store::log::Entry;
use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Value, json};

use crate::output::{Style, StyledLine, counted, plain};
use crate::table::{Column, ListRow, Screen, extra, main, number, whole};

/// The columns of events on a terminal.
pub(super) const EVENTS: &[Column] = &[
    number("event"),
    whole("when"),
    whole("command"),
    whole("outcome"),
    main("path"),
    // The last goes first on a narrow terminal, and the signature is the proof.
    extra("signed by"),
    extra("by (claimed)"),
    extra("what"),
];

/// Renders an event as a row of [`EVENTS`].
pub(super) fn to_row(entry: &Entry, screen: &Screen) -> ListRow {
    let event = &entry.event;
    let said = |text: &Option<String>| text.as_deref().map_or_else(String::new, quoted);
    let mut what = details(entry);
    if let Some(error) = event
        .error
        .as_ref()
        .filter(|error| *error != event.outcome.as_str())
    {
        what = format!("({error})  {what}");
    }
    let cells = vec![
        event.number.to_string(),
        screen.time(event.time),
        event.command.clone(),
        event.outcome.as_str().to_owned(),
        shown_paths(event),
        said(&entry.signer),
        said(&event.actor),
        with_short_ids(&what),
    ];
    let mut below = Vec::new();
    if screen.is_verbose() {
        below.extend([
            ("time", seconds(event.time)),
            ("commit", entry.commit.to_string()),
            ("what", what),
            ("by", said(&event.actor)),
            ("signed by", said(&entry.signer)),
        ]);
        below.extend(of_caller(event).map(|(name, value)| (name, said(value))));
        below.retain(|(_, value)| !value.is_empty());
    }
    if entry.signer.is_none() {
        below.push(("warning", UNSIGNED.to_owned()));
    }
    ListRow::new(style(event), cells).with_details(below)
}

/// Returns a text with only the first digits of each id in it.
fn with_short_ids(text: &str) -> String {
    let is_id = |word: &str| word.len() >= 32 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let words = text
        .split(' ')
        .map(|word| if is_id(word) { &word[..8] } else { word });
    words.collect::<Vec<_>>().join(" ")
}

/// What is said of an event that anybody may have written.
const UNSIGNED: &str = "NOT SIGNED BY A SIGNER OF THIS STORE";

/// Returns what a caller says of its call, and why, each by its name.
fn of_caller(event: &Event) -> [(&'static str, &Option<String>); 5] {
    [
        ("session", &event.session),
        ("client", &event.client),
        ("tool-use", &event.tool_use_id),
        ("trace", &event.trace),
        ("reason", &event.reason),
    ]
}

/// Returns the style of an event, by its outcome.
fn style(event: &Event) -> Style {
    match event.outcome {
        Outcome::Denied => Style::Denied,
        Outcome::Error => Style::Failed,
        _ => Style::Plain,
    }
}

/// Renders an event as one line, in the style of its outcome.
pub(super) fn to_line(entry: &Entry) -> StyledLine {
    vec![(style(&entry.event), to_text(entry))]
}

/// Renders an event as one line.
pub(super) fn to_text(entry: &Entry) -> String {
    let event = &entry.event;
    let mut line = format!(
        "{:>6}  {}  {:<12} {:<6}  {}",
        event.number,
        seconds(event.time),
        event.command,
        event.outcome.as_str(),
        shown_paths(event),
    );
    if let Some(error) = &event.error {
        let _ = write!(line, "  ({error})");
    }
    let details = details(entry);
    if !details.is_empty() {
        let _ = write!(line, "  {details}");
    }
    line.push_str(&who(entry));
    for (name, value) in of_caller(event) {
        if let Some(value) = value {
            let _ = write!(line, "  {name}={}", quoted(value));
        }
    }
    if entry.signer.is_none() {
        let _ = write!(line, "  {UNSIGNED}");
    }
    line
}

/// Renders who acted, which is a claim, and who signed, which is proof.
fn who(entry: &Entry) -> String {
    let mut out = String::new();
    if let Some(actor) = &entry.event.actor {
        let _ = write!(out, "  by={} (claimed)", quoted(actor));
    }
    if let Some(signer) = &entry.signer {
        let _ = write!(out, "  signed-by={}", quoted(signer));
    }
    out
}

/// Renders what a sweep, a hold, an erasure or a redaction of history decided: rules, the hold's
/// number and what it is on, how many versions no longer open, and the event of the receipt.
fn decided(entry: &Entry) -> String {
    let event = &entry.event;
    let mut out = String::new();
    if event.command == "expire" && event.memories.is_empty() && event.outcome == Outcome::Ok {
        out.push_str("  nothing had expired");
    }
    let rules = event
        .memories
        .iter()
        .filter_map(|touch| match touch.because? {
            RemovalReason::Unaccessed { rule, .. } => rule,
            RemovalReason::ExpiresAt { rule, .. } => Some(rule),
            _ => None,
        });
    let rules: BTreeSet<usize> = rules.collect();
    if !rules.is_empty() {
        let rules: Vec<String> = rules.iter().map(usize::to_string).collect();
        let _ = write!(out, "  rule={}", rules.join(","));
    }
    match &event.hold {
        Some(HoldChange::Add(on)) => {
            let _ = write!(out, "  hold={} on {}", event.number, held(on));
        }
        Some(HoldChange::Lift(hold)) => {
            let _ = write!(out, "  ends hold={hold}");
            if let Some(on) = &entry.lifted {
                let _ = write!(out, " on {}", held(on));
            }
        }
        _ => {}
    }
    if let Some(receipt) = &event.receipt {
        let closed: usize = receipt.memories.iter().map(|one| one.blobs.len()).sum();
        let closed = counted(closed as u64, "version");
        let _ = write!(out, "  {closed} destroyed  receipt={}", event.number);
    }
    out
}

/// Renders what a hold is on.
fn held(on: &HoldOn) -> String {
    match on {
        HoldOn::Glob(glob) => quoted(glob),
        HoldOn::Memory(id) => format!("memory {id}"),
        _ => "?".into(),
    }
}

/// Renders what an event did, besides its command, outcome and paths.
pub(super) fn details(entry: &Entry) -> String {
    let event = &entry.event;
    let parts = [
        sizes(event),
        stripped(event),
        decided(entry),
        moments(event),
    ]
    .concat();
    parts.trim_start().to_owned()
}

/// Renders what an event is about besides paths: moments, undone events, a member, lost events.
fn moments(event: &Event) -> String {
    let mut out = String::new();
    let at: Vec<String> = event.at.iter().map(|at| at.event.to_string()).collect();
    if !at.is_empty() {
        let _ = write!(out, "  at={}", at.join(".."));
    }
    if !event.undone.is_empty() {
        let _ = write!(out, "  undone={}", runs(&event.undone));
    }
    if let Some(member) = &event.member {
        let _ = write!(out, "  {}", quoted(member));
    }
    if let Some(Moment { event, commit }) = &event.lost {
        let _ = write!(out, "  lost event {event} ({commit})");
    }
    out
}

/// Formats a time for text.
pub(super) fn seconds(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Formats a time for JSON.
pub(super) fn rfc3339(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Formats runs of event numbers: `3,5-9`.
pub(super) fn runs(runs: &[(u64, u64)]) -> String {
    let one = |(first, last): &(u64, u64)| {
        if first == last {
            return first.to_string();
        }
        format!("{first}-{last}")
    };
    let all: Vec<String> = runs.iter().map(one).collect();
    all.join(",")
}

/// Says where secrets were found: `line 3`, or `lines 5,9-11`. The numbers come in order.
pub(super) fn in_lines(numbers: impl Iterator<Item = usize>) -> String {
    let mut found: Vec<(u64, u64)> = Vec::new();
    for number in numbers {
        let number = number as u64;
        match found.last_mut() {
            Some((_, last)) if number == *last || number == *last + 1 => *last = number,
            _ => found.push((number, number)),
        }
    }
    let many = match found[..] {
        [(first, last)] if first == last => "",
        _ => "s",
    };
    format!("line{many} {}", runs(&found))
}

/// Returns a caller's word as it is, or in quotes if it could be mistaken for more than one.
pub(super) fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "._-:@/+".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("{text:?}")
    }
}

fn shown_paths(event: &Event) -> String {
    match (&event.path, &event.new_path) {
        // The one memory whose history was redacted.
        (None, _) if event.command == "redact" => match &event.memories[..] {
            [
                MemoryChange {
                    path: Some(path), ..
                },
            ] => quoted(path.as_str()),
            _ => "-".into(),
        },
        (None, _) => "-".into(),
        (Some(path), None) => quoted(&shown(path)),
        (Some(path), Some(new)) => format!("{} -> {}", quoted(&shown(path)), quoted(&shown(new))),
    }
}

fn shown(place: &PathRef) -> String {
    match place {
        PathRef::Root => "/memories".into(),
        PathRef::Of(_, Some(path)) => path.as_str().into(),
        PathRef::Of(id, None) => format!("(erased {id})"),
        PathRef::Asked(text) => text.clone(),
        _ => "?".into(),
    }
}

/// Renders how many secrets were stripped, and of which kinds.
fn stripped(event: &Event) -> String {
    let mut kinds: Vec<&str> = Vec::new();
    for redaction in &event.redactions {
        if !kinds.contains(&redaction.kind.as_str()) {
            kinds.push(&redaction.kind);
        }
    }
    match event.redactions.len() {
        0 => String::new(),
        count => format!("  {count} redacted: {}", kinds.join(", ")),
    }
}

fn sizes(event: &Event) -> String {
    let of = |change| event.memories.iter().filter(|t| t.change == change).count();
    let gone = [
        (of(Change::Expire), "expired"),
        (of(Change::Mark), "marked for erasure"),
        (of(Change::Erase), "erased"),
    ];
    let gone = gone.iter().filter(|(count, _)| *count > 0);
    let gone: Vec<String> = gone
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    if !gone.is_empty() && event.memories.iter().all(|touch| !touch.change.writes()) {
        return format!("  {}", gone.join(", "));
    }
    match &event.memories[..] {
        [] => String::new(),
        [touch] if touch.change == Change::None => String::new(),
        touches if touches.iter().all(|touch| touch.change == Change::Look) => {
            format!("  {}", counted(touches.len() as u64, "version"))
        }
        [touch] => format!("  v{} {} bytes", touch.version, touch.bytes),
        touches => {
            let bytes: u64 = touches.iter().map(|touch| touch.bytes).sum();
            format!("  {} memories {bytes} bytes", touches.len())
        }
    }
}

/// What is said of a store for trials.
pub(super) const TRIAL: &str = "a store for trials: its times may be made up";

/// Renders an event as one object. `trial` tells whether its store is for trials.
pub(super) fn to_json(entry: &Entry, trial: bool) -> Value {
    let event = &entry.event;
    let memories: Vec<_> = event
        .memories
        .iter()
        .map(|touch| {
            json!({
                "memory": touch.id,
                "change": touch.change,
                "path": touch.path.as_ref().map(MemoryPath::as_str),
                "version": touch.version,
                "bytes": touch.bytes,
                "blob": touch.blob.map(|(blob, _)| blob),
                "sealed_sha256": touch.blob.map(|(_, digest)| digest),
                "from": touch.from,
                "because": touch.because,
            })
        })
        .collect();
    let mut object = json!({
        "schema": "agekeep.event/1",
        "event": event.number,
        "commit": entry.commit,
        "signer": entry.signer,
        "signed_by": entry.signer,
        "time": rfc3339(event.time),
        "clock_behind_ms": event.clock_behind_ms,
        "command": event.command,
        "outcome": event.outcome,
        "error": event.error,
        "door": event.door,
        "actor": event.actor,
        "claimed_actor": event.actor,
        "session": event.session,
        "tool_use_id": event.tool_use_id,
        "client": event.client,
        "trace": event.trace,
        "reason": event.reason,
        "path": event.path.as_ref().map(shown),
        "new_path": event.new_path.as_ref().map(shown),
        "memories": memories,
        "rules": event.rules,
        "redactions": event.redactions,
        "at": event.at,
        "undone": event.undone,
        "lost": event.lost,
        "member": event.member,
        "hold": event.hold,
        "receipt": event.receipt,
        "clock_accepted": event.clock_accepted,
        "trial": trial,
    });
    if let Some(on) = &entry.lifted {
        object["lifted"] = json!(on);
    }
    if let Some(config) = &entry.config {
        object["config"] = json!({
            "file": config.file,
            "hunks": config.diff.hunks().iter().map(hunk_to_json).collect::<Vec<_>>(),
        });
    }
    object
}

// Changes, as lines for people and as JSON.

/// Renders an event and its changes as lines.
pub(super) fn shown_to_lines(shown: &EventDiff) -> Vec<StyledLine> {
    let mut lines = vec![vec![(Style::Heading, to_text(&shown.entry))]];
    lines.extend(shown.changes.iter().flat_map(to_lines));
    if let Some(config) = &shown.entry.config {
        lines.push(vec![(Style::Heading, format!("--- {}", config.file))]);
        lines.push(vec![(Style::Heading, format!("+++ {}", config.file))]);
        lines.extend(config.diff.hunks().iter().flat_map(hunk_lines));
    }
    lines
}

/// Renders an event and its changes as one object.
pub(super) fn shown_to_json(shown: &EventDiff, trial: bool) -> Value {
    let mut object = to_json(&shown.entry, trial);
    object["schema"] = "agekeep.show/1".into();
    object["changes"] = shown.changes.iter().map(changes_to_json).collect();
    object
}

/// Renders the change of one memory: a heading, and the hunks of a unified diff.
pub(super) fn to_lines(changed: &MemoryDiff) -> Vec<StyledLine> {
    let mut lines = vec![
        vec![(
            Style::Heading,
            format!("--- {}", end(changed.before.as_ref())),
        )],
        vec![(
            Style::Heading,
            format!("+++ {}", end(changed.after.as_ref())),
        )],
    ];
    if let Some(problem) = &changed.problem {
        lines.push(plain(&format!("(its text cannot be shown: {problem})")));
    }
    let hunks = changed.diff.iter().flat_map(TextDiff::hunks);
    lines.extend(hunks.flat_map(hunk_lines));
    lines
}

/// Renders a hunk: its place, and its lines.
fn hunk_lines(hunk: &DiffHunk) -> Vec<StyledLine> {
    let place = vec![(Style::Place, place(hunk))];
    let lines = hunk.lines.iter().flat_map(line);
    std::iter::once(place).chain(lines).collect()
}

/// Renders one line of `--stat`.
pub(super) fn to_stat(changed: &MemoryDiff) -> String {
    let (added, removed) = counts(changed);
    format!(
        "{:<8} {} | +{added} -{removed}",
        word(changed),
        moved(changed)
    )
}

/// Renders the last line of `--stat`.
pub(super) fn total(changes: &[MemoryDiff]) -> String {
    let (added, removed) = counts_of(changes);
    let memories = counted(changes.len() as u64, "memory");
    format!("{memories}, +{added} -{removed} lines")
}

/// Renders the change of one memory as an object.
pub(super) fn changes_to_json(changed: &MemoryDiff) -> Value {
    let (added, removed) = counts(changed);
    let either = changed.after.as_ref().or(changed.before.as_ref());
    let hunks = changed.diff.as_ref().map(TextDiff::hunks);
    json!({
        "memory": either.map(|side| side.id),
        "change": changed.kind(),
        "before": changed.before.as_ref().map(side_to_json),
        "after": changed.after.as_ref().map(side_to_json),
        "lines_added": added,
        "lines_removed": removed,
        "hunks": hunks.unwrap_or_default().iter().map(hunk_to_json).collect::<Vec<_>>(),
        "problem": changed.problem,
    })
}

/// Renders one version as an object.
pub(super) fn side_to_json(side: &VersionInfo) -> Value {
    json!({
        "path": side.path.as_ref().map(MemoryPath::as_str),
        "version": side.version,
        "bytes": side.bytes,
        "event": side.event,
    })
}

/// Renders whether a look was recorded: its event, or the reason why there is none.
pub(super) fn recorded_to_json(recorded: &RecordStatus) -> Value {
    match recorded {
        RecordStatus::Event(event) => json!({"event": event}),
        RecordStatus::Not(why) => json!({"event": null, "why": why}),
        _ => Value::Null,
    }
}

fn hunk_to_json(hunk: &DiffHunk) -> Value {
    let lines = hunk.lines.iter().map(|line| {
        json!({
            "kind": match line.kind {
                LineKind::Context => "context",
                LineKind::Removed => "removed",
                LineKind::Added => "added",
            },
            "before": line.before,
            "after": line.after,
            "text": line.text.as_str(),
            "unterminated": line.unterminated,
            "emphasis": line.emphasis.iter().map(|range| [range.start, range.end]).collect::<Vec<_>>(),
        })
    });
    json!({"place": place(hunk), "lines": lines.collect::<Vec<_>>()})
}

/// Counts the lines added and removed, all together.
pub(super) fn counts_of(changes: &[MemoryDiff]) -> (usize, usize) {
    let each = changes.iter().map(counts);
    each.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}

fn counts(changed: &MemoryDiff) -> (usize, usize) {
    let diff = changed.diff.as_ref();
    diff.map_or((0, 0), |diff| (diff.added(), diff.removed()))
}

fn word(changed: &MemoryDiff) -> &'static str {
    match changed.kind() {
        Change::Add => "add",
        Change::Edit => "edit",
        Change::Move => "move",
        Change::Remove => "remove",
        Change::Restore => "restore",
        _ => "-",
    }
}

fn moved(changed: &MemoryDiff) -> String {
    match (&changed.before, &changed.after) {
        (Some(before), Some(after)) if before.path != after.path => {
            format!("{} -> {}", shown_path(before), shown_path(after))
        }
        (_, Some(side)) | (Some(side), None) => shown_path(side),
        (None, None) => String::new(),
    }
}

/// Renders a path so that it can be mistaken for nothing else.
pub(super) fn shown_path(side: &VersionInfo) -> String {
    side.path.as_ref().map_or_else(
        || format!("(erased {})", side.id),
        |path| quoted(path.as_str()),
    )
}

fn end(side: Option<&VersionInfo>) -> String {
    side.map_or_else(
        || "(not there)".into(),
        |side| {
            format!(
                "{}  v{} event {}",
                shown_path(side),
                side.version,
                side.event
            )
        },
    )
}

fn place(hunk: &DiffHunk) -> String {
    hunk.header().trim_end().to_owned()
}

/// Splits a line of a diff into pieces, and tells of each whether its words changed.
pub(super) fn spans(line: &DiffLine) -> Vec<(bool, &str)> {
    let text = line.text.as_str();
    let (mut spans, mut at) = (Vec::new(), 0);
    for range in &line.emphasis {
        spans.push((false, &text[at..range.start]));
        spans.push((true, &text[range.clone()]));
        at = range.end;
    }
    spans.push((false, &text[at..]));
    spans
}

/// Renders a line of a diff with the changed words marked, and a note below it if it has no
/// newline.
fn line(line: &DiffLine) -> Vec<StyledLine> {
    let (sign, style, marked) = match line.kind {
        LineKind::Context => (" ", Style::Plain, Style::Plain),
        LineKind::Removed => ("-", Style::Removed, Style::RemovedWord),
        LineKind::Added => ("+", Style::Added, Style::AddedWord),
    };
    let mut shown: StyledLine = vec![(style, sign.to_owned())];
    let styled = |(is_marked, span): (bool, &str)| {
        let style = if is_marked { marked } else { style };
        (style, span.to_owned())
    };
    shown.extend(spans(line).into_iter().map(styled));
    let mut lines = vec![shown];
    if line.unterminated {
        lines.push(plain("\\ No newline at end of file"));
    }
    lines
}
