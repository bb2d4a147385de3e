//! `policy expire-at`: a rule of its own for one memory, as the first of all.

use agekeep::error::{Error, Result};
use agekeep::id::MemoryId;
use agekeep::memory_tool::path::MemoryPath;
use agekeep::policy::Policy;
use agekeep::store::revision::parse_time;
use agekeep::store::{PolicyChange, Store};
use chrono::{DateTime, Utc};
use clap::Args;
use serde_json::json;

use crate::args::Global;
use crate::{events, output};

#[derive(Args)]
pub(super) struct ExpireAt {
    /// The memory, by its path or its memory id
    #[arg(value_name = "PATH|ID")]
    memory: String,
    /// When: RFC 3339 or a date, in UTC unless it says otherwise; `never` takes the time away
    time: String,
}

pub(super) fn run(global: &Global, args: &ExpireAt) -> Result<()> {
    let at = time(&args.time, (global.clock())())?;
    let mut store = global.open()?;
    let (id, path) = find(&mut store, &args.memory, at.is_some())?;
    let change = |policy: &Policy| {
        let mut policy = policy.clone();
        policy.expiration.expire_at(id, at);
        Ok(policy)
    };
    let change = store.change_policy(change, &global.context())?;
    let kept = path
        .as_ref()
        .and_then(|path| change.after.expiration.keeps(path));
    if let (Some(_), Some(glob)) = (at, kept) {
        output::warn(&format!(
            "the glob {glob} in expiration.keep fits it, so it never expires all the same"
        ));
    }
    if global.json {
        let body = json!({
            "schema": "agekeep.policy_expire_at/1",
            "memory": id.to_string(),
            "path": path.as_ref().map(MemoryPath::as_str),
            "expires_at": at.map(events::rfc3339),
            "meta": change.meta,
        });
        return output::json(&body).map(drop);
    }
    output::line(&sentence(&args.memory, at, &change))
}

/// Reads a time that is still to come.
fn time(text: &str, now: DateTime<Utc>) -> Result<Option<DateTime<Utc>>> {
    if text == "never" {
        return Ok(None);
    }
    let time = parse_time(text, now)?;
    if time > now {
        return Ok(Some(time));
    }
    Err(Error::Invalid {
        what: "the time",
        why: format!(
            "{text:?} is {}, which is past; give a time to come, such as {}, or `agekeep delete` \
             the memory now",
            events::seconds(time),
            (now + chrono::TimeDelta::days(30)).date_naive()
        ),
    })
}

/// The memory that is named. One that is gone can still be in the policy, by its id.
fn find(
    store: &mut Store,
    memory: &str,
    must_be_there: bool,
) -> Result<(MemoryId, Option<MemoryPath>)> {
    match MemoryId::from_hex(memory) {
        Some(id) if !must_be_there => Ok((id, None)),
        _ => store.find_memory(memory).map(|(id, path)| (id, Some(path))),
    }
}

fn sentence(memory: &str, at: Option<DateTime<Utc>>, change: &PolicyChange) -> String {
    let says = match at {
        Some(at) => format!("{memory} expires at {}", events::seconds(at)),
        None => format!("{memory} has no time of its own to expire at"),
    };
    match &change.meta {
        Some(meta) => format!("{says} (event {}).", meta.event),
        None => format!("{says} already; nothing was recorded."),
    }
}
