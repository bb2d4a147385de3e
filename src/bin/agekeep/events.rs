//! Events as text and as JSON, for every verb that shows one.

use std::fmt::Write;

use agekeep::event::{Change, Event, Moment, Place};
use agekeep::memory_tool::path::MemoryPath;
use agekeep::store::log::Entry;
use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Value, json};

/// One line.
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
    line.push_str(&sizes(event));
    line.push_str(&stripped(event));
    line.push_str(&moments(event));
    for (name, value) in [
        ("by", &event.actor),
        ("session", &event.session),
        ("client", &event.client),
        ("tool-use", &event.tool_use_id),
        ("trace", &event.trace),
        ("reason", &event.reason),
    ] {
        if let Some(value) = value {
            let _ = write!(line, "  {name}={}", quoted(value));
        }
    }
    if entry.signer.is_none() {
        line.push_str("  NOT SIGNED BY A SIGNER OF THIS STORE");
    }
    line
}

/// What an undo or a look was about, besides paths.
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

/// A time in text.
pub(super) fn seconds(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// A time in JSON.
pub(super) fn rfc3339(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Runs of event numbers: `3,5-9`.
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

/// A caller's word as it is, or in quotes if it could be mistaken for more than one.
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
        (None, _) => "-".into(),
        (Some(path), None) => quoted(&shown(path)),
        (Some(path), Some(new)) => format!("{} -> {}", quoted(&shown(path)), quoted(&shown(new))),
    }
}

fn shown(place: &Place) -> String {
    match place {
        Place::Root => "/memories".into(),
        Place::Of(_, Some(path)) => path.as_str().into(),
        Place::Of(id, None) => format!("(erased {id})"),
        Place::Asked(text) => text.clone(),
        _ => "?".into(),
    }
}

/// How many secrets were stripped, and of which kinds.
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
            let many = if touches.len() == 1 { "" } else { "s" };
            format!("  {} version{many}", touches.len())
        }
        [touch] => format!("  v{} {} bytes", touch.version, touch.bytes),
        touches => {
            let bytes: u64 = touches.iter().map(|touch| touch.bytes).sum();
            format!("  {} memories {bytes} bytes", touches.len())
        }
    }
}

/// One object.
pub(super) fn to_json(entry: &Entry) -> Value {
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
    json!({
        "schema": "agekeep.event/1",
        "event": event.number,
        "commit": entry.commit,
        "signer": entry.signer,
        "time": rfc3339(event.time),
        "clock_behind_ms": event.clock_behind_ms,
        "command": event.command,
        "outcome": event.outcome,
        "error": event.error,
        "door": event.door,
        "actor": event.actor,
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
    })
}
