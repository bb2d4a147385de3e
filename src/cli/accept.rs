//! `accept-rollback`: goes on from a history that was turned back, as a recorded decision.

use agekeep::error::Result;
use agekeep::store::Store;
use serde_json::json;

use super::{Global, output, place};

pub(super) fn run(global: &Global) -> Result<u8> {
    let path = global.existing_store()?;
    let (_store, lost, meta) = Store::accept_rollback(
        &path,
        place::keys(global)?,
        global.clock(),
        &global.context(),
    )?;
    if global.json {
        output::json(&json!({"schema": "agekeep.accept_rollback/1", "lost": lost, "meta": meta}))?;
    } else {
        let lost = lost.map_or_else(
            || "The keyring is accepted".to_owned(),
            |lost| {
                format!(
                    "The rollback is accepted. Lost: event {} ({}), and every event between it and \
                     where history now goes on",
                    lost.event, lost.commit
                )
            },
        );
        output::line(&format!("{lost} (event {}).", meta.event))?;
    }
    Ok(0)
}
