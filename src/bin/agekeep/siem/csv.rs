//! Events as comma-separated values (RFC 4180), safe to open in a spreadsheet.

use agekeep::store::log::Entry;
use serde_json::Value;

use crate::render;
use crate::siem::EventSource;

/// The row of the columns' names: the fields of `agekeep.event/1` that are one value, and counts of
/// others.
pub(super) const HEADER: &str = "event,time,commit,signer,actor,session,client,door,command,outcome,\
    error,path,new_path,memories,redactions,member,reason,tool_use_id,trace,trial\r\n";

/// Renders an event as a row.
pub(super) fn to_line(entry: &Entry, source: EventSource) -> String {
    let event = render::to_json(entry, source.trial);
    let names = HEADER.trim_end().split(',');
    let cells: Vec<String> = names.map(|name| cell(&text(&event[name]))).collect();
    format!("{}\r\n", cells.join(","))
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(all) => all.len().to_string(),
        other => other.to_string(),
    }
}

/// Renders a cell: quoted where it must be, and never a formula.
fn cell(text: &str) -> String {
    let text = defused(text);
    if text.contains(['"', ',', '\r', '\n']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text
}

/// Puts an apostrophe before what a spreadsheet would calculate.
fn defused(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        return format!("'{text}");
    }
    text.to_owned()
}
