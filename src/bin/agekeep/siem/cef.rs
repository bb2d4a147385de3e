//! Events in the Common Event Format, version 0.

use std::fmt::Write as _;

use agekeep::event::Event;
use agekeep::store::log::Entry;
use serde_json::Value;

use crate::render;
use crate::siem::Source;
use crate::siem::ocsf::severity;

/// Renders an event as a line, without its end.
pub(super) fn to_line(entry: &Entry, source: Source) -> String {
    let event = &entry.event;
    let name = format!("{} {}", event.command, event.outcome.as_str());
    let mut line = "CEF:0".to_owned();
    for field in [
        "agekeep",
        "agekeep",
        env!("CARGO_PKG_VERSION"),
        &event.command,
        &name,
        severity(entry).cef,
    ] {
        line.push('|');
        line.push_str(&header(field));
    }
    line.push('|');
    line.push_str(&extension(&fields(entry, event, source)));
    line
}

/// Lists the extension's fields that the event has, by the names of CEF's dictionary.
fn fields(entry: &Entry, event: &Event, source: Source) -> Vec<(&'static str, String)> {
    let json = render::to_json(entry, source.trial);
    let text = |name: &str| match &json[name] {
        Value::String(text) => Some(text.clone()),
        _ => None,
    };
    let count = |name: &str| json[name].as_array().map(|all| all.len().to_string());
    let (path, old_path) = match text("new_path") {
        Some(new) => (Some(new), text("path")),
        None => (text("path"), None),
    };
    let said = |value: Option<String>, key, label, meaning: &str| {
        let label = value.as_ref().map(|_| (label, meaning.to_owned()));
        [value.map(|value| (key, value)), label]
    };
    let plain = [
        ("rt", Some(event.time.timestamp_millis().to_string())),
        ("externalId", Some(event.number.to_string())),
        ("deviceExternalId", Some(source.store.to_string())),
        ("act", Some(event.command.clone())),
        ("outcome", Some(event.outcome.as_str().to_owned())),
        ("reason", text("error")),
        ("sourceServiceName", Some(event.door.clone())),
        ("suser", text("signer")),
        ("duser", text("member")),
        ("filePath", path),
        ("oldFilePath", old_path),
        ("requestClientApplication", text("client")),
        ("msg", text("reason")),
    ];
    let labelled = [
        said(text("actor"), "cs1", "cs1Label", "claimedActor"),
        said(text("session"), "cs2", "cs2Label", "claimedSession"),
        said(text("tool_use_id"), "cs3", "cs3Label", "toolUseId"),
        said(text("trace"), "cs4", "cs4Label", "trace"),
        said(
            text("commit").or_else(|| Some(entry.commit.to_string())),
            "cs5",
            "cs5Label",
            "commit",
        ),
        said(
            source.trial.then(|| "true".into()),
            "cs6",
            "cs6Label",
            "trial",
        ),
        said(count("memories"), "cn1", "cn1Label", "memories"),
        said(count("redactions"), "cn2", "cn2Label", "redactions"),
    ];
    let plain = plain
        .into_iter()
        .filter_map(|(key, value)| Some((key, value?)));
    plain
        .chain(labelled.into_iter().flatten().flatten())
        .collect()
}

/// Renders the extension: `key=value` with a space between two.
pub(super) fn extension(fields: &[(&'static str, String)]) -> String {
    let mut text = String::new();
    for (key, value) in fields {
        let space = if text.is_empty() { "" } else { " " };
        let _ = write!(text, "{space}{key}={}", escaped(value));
    }
    text
}

/// Escapes a field of the header, in which a line cannot end.
pub(super) fn header(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('|', "\\|");
    text.replace(['\r', '\n'], " ")
}

/// Escapes a value of the extension.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('=', "\\=");
    text.replace('\r', "\\r").replace('\n', "\\n")
}
