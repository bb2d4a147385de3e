//! `accept-rollback`: goes on from a history that was turned back, or with another store, as a recorded
//! decision.

use agekeep::error::Result;
use agekeep::store::Store;
use serde_json::json;

use super::{Global, output, place};

pub(super) fn run(global: &Global) -> Result<u8> {
    let path = global.existing_store()?;
    let keys = place::keys(global)?;
    let context = global.context();
    let (store, lost, meta) = Store::accept_rollback(&path, keys, global.clock(), &context)?;
    let moment = lost.moment;
    if global.json {
        output::json(&json!({
            "schema": "agekeep.accept_rollback/1",
            "store": lost.store,
            "lost": moment,
            "meta": meta,
        }))?;
    } else if lost.store == store.last_seen().0 {
        output::line(&format!(
            "The rollback is accepted (event {}). Lost: event {} ({}), and every event between it \
             and where history now goes on.",
            meta.event, moment.event, moment.commit
        ))?;
    } else {
        output::line(&format!(
            "The store {} is accepted at this place (event {}). Lost: the store {}, of which event \
             {} ({}) was seen last.",
            store.last_seen().0,
            meta.event,
            lost.store,
            moment.event,
            moment.commit
        ))?;
    }
    Ok(0)
}
