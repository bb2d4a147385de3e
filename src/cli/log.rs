//! `log`: who did what and when, newest first.

use std::fmt::Write;

use agekeep::command::NAMES;
use agekeep::error::{Error, Result};
use agekeep::event::{Change, Event, Outcome, Place};
use agekeep::log::{Entry, Filter};
use agekeep::path::MemoryPath;
use agekeep::store::Store;
use chrono::{DateTime, Duration, NaiveDate, NaiveTime, SecondsFormat, Utc};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::Global;
use super::output::Pages;

/// Arguments of `log`.
#[derive(Args)]
pub(super) struct Log {
    /// Only events that name this path or one below it
    path: Option<String>,
    /// Only this command: view, create, … or init
    #[arg(long, value_name = "NAME")]
    command: Option<String>,
    /// Only events that ended like this
    #[arg(long)]
    outcome: Option<Ended>,
    /// Only events then or later: an RFC 3339 time, a date, or an age such as 30m, 2h, 7d
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only events before then
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// At most this many events
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
    /// Do not start a pager
    #[arg(long)]
    no_pager: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Ended {
    Ok,
    Error,
    Denied,
}

pub(super) fn run(global: &Global, args: &Log) -> Result<u8> {
    let store = global.open_to_look()?;
    let filter = filter(global, args, &store)?;
    let mut pages = Pages::start(!args.no_pager && !global.json);
    let mut left = args.limit.unwrap_or(usize::MAX);
    for entry in store.log() {
        if left == 0 {
            break;
        }
        let entry = entry?;
        if !filter.admits(&entry.event) {
            continue;
        }
        left -= 1;
        let line = if global.json {
            to_json(&entry).to_string()
        } else {
            to_text(&entry)
        };
        if !pages.line(&line)? {
            break;
        }
    }
    pages.finish();
    Ok(0)
}

fn filter(global: &Global, args: &Log, store: &Store) -> Result<Filter> {
    let now = (global.clock())();
    let time = |text: &Option<String>| text.as_deref().map(|t| parse_time(t, now)).transpose();
    let mut filter = Filter::default();
    filter.path = args
        .path
        .as_deref()
        .map(|path| store.parse_path(path))
        .transpose()?;
    filter.actor.clone_from(&global.actor);
    filter.session.clone_from(&global.session);
    filter.command = args.command.as_deref().map(command_name).transpose()?;
    filter.outcome = args.outcome.map(|ended| match ended {
        Ended::Ok => Outcome::Ok,
        Ended::Error => Outcome::Error,
        Ended::Denied => Outcome::Denied,
    });
    filter.since = time(&args.since)?;
    filter.until = time(&args.until)?;
    Ok(filter)
}

/// A command as records name it.
fn command_name(text: &str) -> Result<String> {
    let name = text.replace('-', "_");
    if NAMES.contains(&name.as_str()) || ["init", "unknown"].contains(&name.as_str()) {
        return Ok(name);
    }
    Err(Error::Invalid {
        what: "the command",
        why: format!("it is none of init, {}, unknown", NAMES.join(", ")),
    })
}

/// An RFC 3339 time, a date (its start, in UTC), or an age.
fn parse_time(text: &str, now: DateTime<Utc>) -> Result<DateTime<Utc>> {
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Ok(time.to_utc());
    }
    if let Ok(date) = text.parse::<NaiveDate>() {
        return Ok(date.and_time(NaiveTime::MIN).and_utc());
    }
    let age = || {
        let (at, unit) = text.char_indices().last()?;
        let n: i64 = text[..at].parse().ok().filter(|n| *n >= 0)?;
        match unit {
            's' => Duration::try_seconds(n),
            'm' => Duration::try_minutes(n),
            'h' => Duration::try_hours(n),
            'd' => Duration::try_days(n),
            _ => None,
        }
    };
    age()
        .and_then(|age| now.checked_sub_signed(age))
        .ok_or_else(|| Error::Invalid {
            what: "the time",
            why: format!("{text} is not an RFC 3339 time, a date, or an age such as 2h"),
        })
}

fn to_text(entry: &Entry) -> String {
    let event = &entry.event;
    let mut line = format!(
        "{:>6}  {}  {:<12} {:<6}  {}",
        event.number,
        event.time.to_rfc3339_opts(SecondsFormat::Secs, true),
        event.command,
        event.outcome.as_str(),
        shown_paths(event),
    );
    if let Some(error) = &event.error {
        let _ = write!(line, "  ({error})");
    }
    line.push_str(&sizes(event));
    line.push_str(&stripped(event));
    for (name, value) in [
        ("by", &event.actor),
        ("session", &event.session),
        ("client", &event.client),
        ("tool-use", &event.tool_use_id),
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

/// A caller's word as it is, or in quotes if it could be mistaken for more than one.
fn quoted(text: &str) -> String {
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
    match &event.memories[..] {
        [] => String::new(),
        [touch] if touch.change == Change::None => String::new(),
        [touch] => format!("  v{} {} bytes", touch.version, touch.bytes),
        touches => {
            let bytes: u64 = touches.iter().map(|touch| touch.bytes).sum();
            format!("  {} memories {bytes} bytes", touches.len())
        }
    }
}

fn to_json(entry: &Entry) -> Value {
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
            })
        })
        .collect();
    json!({
        "schema": "agekeep.event/1",
        "event": event.number,
        "commit": entry.commit,
        "signer": entry.signer,
        "time": event.time.to_rfc3339_opts(SecondsFormat::Millis, true),
        "clock_behind_ms": event.clock_behind_ms,
        "command": event.command,
        "outcome": event.outcome,
        "error": event.error,
        "door": event.door,
        "actor": event.actor,
        "session": event.session,
        "tool_use_id": event.tool_use_id,
        "client": event.client,
        "reason": event.reason,
        "path": event.path.as_ref().map(shown),
        "new_path": event.new_path.as_ref().map(shown),
        "memories": memories,
        "rules": event.rules,
        "redactions": event.redactions,
    })
}
