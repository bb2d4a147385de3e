//! `status`: what the store says about itself.

use agekeep::error::{Error, Result};
use agekeep::policy::expiration::Window;
use agekeep::store::{CopyOf, Distance, Status};
use chrono::{DateTime, SecondsFormat, Utc};
use clap::Args;
use serde_json::json;

use crate::args::Global;
use crate::output;

#[derive(Args)]
pub(crate) struct StatusArgs {
    /// End with code 14 if the last sweep was longer ago, such as 26h: for monitoring
    #[arg(long, value_name = "TIME")]
    max_age: Option<String>,
}

/// The exit code of a sweep that is overdue.
const OVERDUE: u8 = 14;

pub(crate) fn run(global: &Global, args: &StatusArgs) -> Result<u8> {
    let max_age = args.max_age.as_deref().map(str::parse::<Window>);
    let max_age = max_age.transpose().map_err(|why| Error::Invalid {
        what: "--max-age",
        why,
    })?;
    let mut status = global.open_to_look()?.status()?;
    let overdue = max_age.and_then(|max| overdue(&status, (global.clock())(), max));
    let code = if overdue.is_some() { OVERDUE } else { 0 };
    status.problems.extend(overdue);
    if global.json {
        output::json(&to_json(&status))?;
    } else {
        output::line(&to_text(&status))?;
    }
    Ok(code)
}

/// Says that no sweep was carried out for too long.
fn overdue(status: &Status, now: DateTime<Utc>, max: Window) -> Option<String> {
    let Some((last, _)) = status.last_sweep else {
        return Some("no sweep was ever carried out; `agekeep expire` is one".into());
    };
    // A sweep in the future is no proof that one ran lately.
    let age = (now - last).num_seconds();
    (age > max.seconds() || age < -60).then(|| {
        let last = last.to_rfc3339_opts(SecondsFormat::Secs, true);
        format!("the last sweep was at {last}, and {max} is the longest it may be ago")
    })
}

fn to_text(status: &Status) -> String {
    let mut lines = vec![
        format!("store       {}", status.path.display()),
        format!("id          {}", status.id),
        format!("head        {}", status.head),
        format!(
            "memories    {} ({} bytes of text), {} versions in history",
            status.memories, status.text_bytes, status.versions
        ),
        format!(
            "events      {}, the last {}",
            status.events,
            last_event(status)
        ),
        format!("history     {}", history(status)),
        format!("on disk     {} bytes", status.file_bytes),
        format!(
            "sweep       {}, {} expired since, {} holds",
            last_sweep(status).unwrap_or_else(|| "never".into()),
            status.expired,
            status.holds
        ),
    ];
    if let Some(copy) = &status.copy_of {
        lines.push(format!("place       {copy}"));
    }
    for member in &status.recipients {
        let role = member.role.as_str();
        lines.push(format!("{role:<11} {} {}", member.name, member.recipient));
    }
    for signer in &status.signers {
        let (name, role, key) = (&signer.name, signer.role, &signer.key);
        lines.push(format!("signer      {name} ({role}) {key}"));
    }
    if status.problems.is_empty() {
        lines.push("problems    none found".into());
    }
    for problem in &status.problems {
        lines.push(format!("problem     {problem}"));
    }
    lines.join("\n")
}

fn history(status: &Status) -> String {
    let bytes = status.history_bytes;
    match status.history_bytes_max {
        0 => format!("{bytes} bytes, without a limit"),
        max => format!("{bytes} bytes of {max}"),
    }
}

fn last_event(status: &Status) -> String {
    status.last_event.map_or_else(
        || "never".into(),
        |time| time.to_rfc3339_opts(SecondsFormat::Secs, true),
    )
}

fn last_sweep(status: &Status) -> Option<String> {
    let (time, _) = status.last_sweep?;
    Some(time.to_rfc3339_opts(SecondsFormat::Secs, true))
}

fn to_json(status: &Status) -> serde_json::Value {
    let recipients: Vec<_> = status
        .recipients
        .iter()
        .map(|m| json!({"role": m.role.as_str(), "name": m.name, "recipient": m.recipient.to_string()}))
        .collect();
    let signers: Vec<_> = status
        .signers
        .iter()
        .map(|signer| json!({"name": signer.name, "role": signer.role.as_str(), "key": signer.key}))
        .collect();
    json!({
        "schema": "agekeep.status/1",
        "store": status.path,
        "id": status.id,
        "head": status.head,
        "memories": status.memories,
        "versions": status.versions,
        "events": status.events,
        "text_bytes": status.text_bytes,
        "history_bytes": status.history_bytes,
        "history_bytes_max": status.history_bytes_max,
        "file_bytes": status.file_bytes,
        "last_event": last_event(status),
        "last_sweep": last_sweep(status),
        "last_sweep_event": status.last_sweep.map(|(_, event)| event),
        "expired": status.expired,
        "holds": status.holds,
        "marked": status.marked,
        "copy_of": status.copy_of.as_ref().map(copy_to_json),
        "recipients": recipients,
        "signers": signers,
        "problems": status.problems,
    })
}

/// Which store this is a copy of; `events` is how many it has less, or more, than were seen there.
fn copy_to_json(copy: &CopyOf) -> serde_json::Value {
    let (compared, events) = match copy.distance {
        Distance::Behind(events) => ("behind", events),
        Distance::Even => ("even", 0),
        Distance::Ahead(events) => ("ahead", events),
        Distance::Apart => ("apart", 0),
    };
    json!({
        "path": copy.path,
        "is_there": copy.is_there,
        "compared": compared,
        "events": events,
    })
}
