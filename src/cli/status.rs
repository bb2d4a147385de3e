//! `status`: what the store says about itself.

use agekeep::error::Result;
use agekeep::store::Status;
use chrono::SecondsFormat;
use serde_json::json;

use super::{Global, output};

pub(super) fn run(global: &Global) -> Result<u8> {
    let status = global.open_unrecorded()?.status()?;
    if global.json {
        output::json(&to_json(&status))?;
    } else {
        output::line(&to_text(&status))?;
    }
    Ok(0)
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
        format!("on disk     {} bytes", status.file_bytes),
    ];
    for member in &status.recipients {
        let role = member.role.as_str();
        lines.push(format!("{role:<11} {} {}", member.name, member.recipient));
    }
    for signer in &status.signers {
        lines.push(format!("signer      {} {}", signer.name, signer.key));
    }
    if status.problems.is_empty() {
        lines.push("problems    none found".into());
    }
    for problem in &status.problems {
        lines.push(format!("problem     {problem}"));
    }
    lines.join("\n")
}

fn last_event(status: &Status) -> String {
    status.last_event.map_or_else(
        || "never".into(),
        |time| time.to_rfc3339_opts(SecondsFormat::Secs, true),
    )
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
        .map(|signer| json!({"name": signer.name, "key": signer.key}))
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
        "file_bytes": status.file_bytes,
        "last_event": last_event(status),
        "recipients": recipients,
        "signers": signers,
        "problems": status.problems,
    })
}
