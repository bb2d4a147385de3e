//! Events in the Common Event Format, version 0.

use std::fmt::Write as _;

use agekeep::event::Event;
use agekeep::store::log::Entry;
use serde_json::Value;

use crate::render;
use crate::siem::EventSource;
use crate::siem::ocsf::severity;

/// Renders an event as a line, without its end.
pub(super) fn to_line(entry: &Entry, source: EventSource) -> String {
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
    line.push_str(&extension(entry, event, source));
    line
}

/// Renders the extension: `key=value` with a space between two, by the names of CEF's dictionary.
fn extension(entry: &Entry, event: &Event, source: EventSource) -> String {
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
        ("cs1", "claimedActor", text("actor")),
        ("cs2", "claimedSession", text("session")),
        ("cs3", "toolUseId", text("tool_use_id")),
        ("cs4", "trace", text("trace")),
        ("cs5", "commit", Some(entry.commit.to_string())),
        ("cs6", "trial", source.trial.then(|| "true".into())),
        ("cn1", "memories", count("memories")),
        ("cn2", "redactions", count("redactions")),
    ];
    let mut text = String::new();
    let mut add = |key: &str, value: &str| {
        let space = if text.is_empty() { "" } else { " " };
        let _ = write!(text, "{space}{key}={}", escaped(value));
    };
    for (key, value) in plain {
        value.inspect(|value| add(key, value));
    }
    for (key, label, value) in labelled {
        if let Some(value) = value {
            add(key, &value);
            add(&format!("{key}Label"), label);
        }
    }
    text
}

/// Escapes a field of the header, in which a line cannot end.
fn header(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('|', "\\|");
    text.replace(['\r', '\n'], " ")
}

/// Escapes a value of the extension.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('=', "\\=");
    text.replace('\r', "\\r").replace('\n', "\\n")
}
