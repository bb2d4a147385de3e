//! `accept-rollback`: goes on from a history that was rolled back, or with another store, as a
//! recorded decision.

use agekeep::error::{Error, Result};
use agekeep::store::{LostMoment, Store};
use serde_json::json;

use crate::args::Global;
use crate::{environment, output};

pub(crate) fn accept_rollback(global: &Global) -> Result<u8> {
    let path = global.existing_store()?;
    let keys = environment::keys(global)?;
    // What was seen at this place is what is refused, so the store alone says which it is.
    if global.now.is_some() && !global.is_trial(&path, &keys, None).unwrap_or(false) {
        return Err(Error::NotATrial);
    }
    let context = global.context();
    let (store, lost, meta) = Store::accept_rollback(&path, keys, global.clock(), &context)?;
    if global.json {
        output::json(&json!({
            "schema": "agekeep.accept_rollback/1",
            "store": lost.map(|lost| lost.store),
            "lost": lost.map(|lost| lost.moment),
            "meta": meta,
        }))?;
    } else {
        output::line(&said(&store, lost, meta.event))?;
    }
    Ok(0)
}

/// Describes what was accepted.
fn said(store: &Store, lost: Option<LostMoment>, event: u64) -> String {
    let here = store.last_seen().0;
    let Some(LostMoment {
        store: known,
        moment,
        ..
    }) = lost
    else {
        return format!("The keyring is accepted (event {event}).");
    };
    if known == here {
        return format!(
            "The rollback is accepted (event {event}). Lost: every event after the one where \
             history now continues, up to event {} ({}).",
            moment.event, moment.commit
        );
    }
    format!(
        "The store {here} is accepted at this place (event {event}). Lost: the store {known}, last \
         seen at event {} ({}).",
        moment.event, moment.commit
    )
}
