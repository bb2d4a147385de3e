//! What changed, as lines for people and as JSON.

use agekeep::diff::{DiffHunk, DiffLine, LineKind, TextDiff};
use agekeep::event::Change;
use agekeep::memory_tool::path::MemoryPath;
use agekeep::store::past::{Changed, Recorded, Shown, Side};
use serde_json::{Value, json};

use crate::events;
use crate::output::{Line, Style, plain};

/// An event and what it changed.
pub(super) fn shown_to_lines(shown: &Shown) -> Vec<Line> {
    let mut lines = vec![vec![(Style::Heading, events::to_text(&shown.entry))]];
    lines.extend(shown.changes.iter().flat_map(to_lines));
    lines
}

/// An event and what it changed, as one object.
pub(super) fn shown_to_json(shown: &Shown) -> Value {
    let mut object = events::to_json(&shown.entry);
    object["schema"] = "agekeep.show/1".into();
    object["changes"] = shown.changes.iter().map(to_json).collect();
    object
}

/// One memory's part: a heading, and the hunks of a unified diff.
pub(super) fn to_lines(changed: &Changed) -> Vec<Line> {
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
    for hunk in changed.diff.iter().flat_map(TextDiff::hunks) {
        lines.push(vec![(Style::Place, place(hunk))]);
        lines.extend(hunk.lines.iter().flat_map(line));
    }
    lines
}

/// One line of `--stat`.
pub(super) fn to_stat(changed: &Changed) -> String {
    let (added, removed) = counts(changed);
    format!(
        "{:<8} {} | +{added} -{removed}",
        word(changed),
        moved(changed)
    )
}

/// The last line of `--stat`.
pub(super) fn total(changes: &[Changed]) -> String {
    let sum = counts_of(changes);
    let many = if changes.len() == 1 {
        "memory"
    } else {
        "memories"
    };
    format!("{} {many}, +{} -{} lines", changes.len(), sum.0, sum.1)
}

/// One memory's part as an object.
pub(super) fn to_json(changed: &Changed) -> Value {
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

/// One version as an object.
pub(super) fn side_to_json(side: &Side) -> Value {
    json!({
        "path": side.path.as_ref().map(MemoryPath::as_str),
        "version": side.version,
        "bytes": side.bytes,
        "event": side.event,
    })
}

/// Whether a look is on record, as the two fields every such answer has.
pub(super) fn recorded_to_json(recorded: &Recorded) -> Value {
    match recorded {
        Recorded::Event(event) => json!({"event": event}),
        Recorded::Not(why) => json!({"event": null, "why": why}),
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

/// Lines added and removed, all together.
pub(super) fn counts_of(changes: &[Changed]) -> (usize, usize) {
    let each = changes.iter().map(counts);
    each.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}

fn counts(changed: &Changed) -> (usize, usize) {
    let diff = changed.diff.as_ref();
    diff.map_or((0, 0), |diff| (diff.added(), diff.removed()))
}

fn word(changed: &Changed) -> &'static str {
    match changed.kind() {
        Change::Add => "add",
        Change::Edit => "edit",
        Change::Move => "move",
        Change::Remove => "remove",
        Change::Restore => "restore",
        _ => "-",
    }
}

fn moved(changed: &Changed) -> String {
    match (&changed.before, &changed.after) {
        (Some(before), Some(after)) if before.path != after.path => {
            format!("{} -> {}", shown_path(before), shown_path(after))
        }
        (_, Some(side)) | (Some(side), None) => shown_path(side),
        (None, None) => String::new(),
    }
}

/// A path that can be mistaken for nothing else.
pub(super) fn shown_path(side: &Side) -> String {
    side.path.as_ref().map_or_else(
        || format!("(erased {})", side.id),
        |path| events::quoted(path.as_str()),
    )
}

fn end(side: Option<&Side>) -> String {
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

/// A line of a diff, with the words that differ marked, and what follows where no newline does.
fn line(line: &DiffLine) -> Vec<Line> {
    let (sign, style, marked) = match line.kind {
        LineKind::Context => (" ", Style::Plain, Style::Plain),
        LineKind::Removed => ("-", Style::Removed, Style::RemovedWord),
        LineKind::Added => ("+", Style::Added, Style::AddedWord),
    };
    let text = line.text.as_str();
    let mut spans: Line = vec![(style, sign.to_owned())];
    let mut at = 0;
    for range in &line.emphasis {
        spans.push((style, text[at..range.start].to_owned()));
        spans.push((marked, text[range.clone()].to_owned()));
        at = range.end;
    }
    spans.push((style, text[at..].to_owned()));
    let mut lines = vec![spans];
    if line.unterminated {
        lines.push(plain("\\ No newline at end of file"));
    }
    lines
}
