//! Events as comma-separated values (RFC 4180), safe to open in a spreadsheet.

use agekeep::store::log::Entry;
use serde_json::Value;

use crate::render;
use crate::siem::Source;

/// The columns: the fields of `agekeep.event/1` that are one value, and counts of the others.
const COLUMNS: [&str; 20] = [
    "event",
    "time",
    "commit",
    "signer",
    "actor",
    "session",
    "client",
    "door",
    "command",
    "outcome",
    "error",
    "path",
    "new_path",
    "memories",
    "redactions",
    "member",
    "reason",
    "tool_use_id",
    "trace",
    "trial",
];

/// Returns the row of the columns' names.
pub(super) fn header() -> String {
    row(COLUMNS.iter().map(|name| (*name).to_owned()))
}

/// Renders an event as a row.
pub(super) fn to_line(entry: &Entry, source: Source) -> String {
    let event = render::to_json(entry, source.trial);
    row(COLUMNS.iter().map(|name| text(&event[*name])))
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(all) => all.len().to_string(),
        other => other.to_string(),
    }
}

fn row(cells: impl Iterator<Item = String>) -> String {
    let cells: Vec<String> = cells.map(|text| cell(&text)).collect();
    format!("{}\r\n", cells.join(","))
}

/// Renders a cell: quoted where it must be, and never a formula.
pub(super) fn cell(text: &str) -> String {
    let text = defused(text);
    if text.contains(['"', ',', '\r', '\n']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text
}

/// Puts an apostrophe before what a spreadsheet would calculate.
pub(super) fn defused(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        return format!("'{text}");
    }
    text.to_owned()
}
