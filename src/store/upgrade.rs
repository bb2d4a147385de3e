//! A store of format 1 is moved on by the first command of an owner who can read it.
//!
//! Entries of its keyring are bound to less, and no record names its keys. So all of it is sealed anew
//! under a new epoch key and a new names key, and the event of that names them.

use std::collections::HashSet;

use crate::error::Result;
use crate::event::{Context, PublicFile, UPGRADE_COMMAND};
use crate::policy::FORMAT;
use crate::repository::object::Object;
use crate::store::decide::{check_permitted, record_decision};
use crate::store::past::load_timeline;
use crate::store::reseal::in_new_keyring;

use super::Store;
use super::checkpoint::checkpoint;
use super::commit::Sealing;
use super::decide::Decision;

/// Why, in the record.
const REASON: &str =
    "the store had format 1: its keyring was sealed anew, and history names its keys";

/// Moves the store on, if it has an earlier format and this process may. Called with the lock
/// held.
pub(super) fn upgrade(store: &mut Store) -> Result<()> {
    if store.state.decisions.format == FORMAT && !store.ledger.keyring.is_loose() {
        return Ok(());
    }
    check_permitted(store, UPGRADE_COMMAND)?;
    let none = HashSet::new();
    let (members, least) = (
        store.state.decisions.members.clone(),
        store.state.catalog.erased.unwrap_or_default(),
    );
    let next = store
        .ledger
        .keyring
        .prepare_erasure(&members, (&none, &none), &[], least)?;
    let head = store.ledger.journal.head();
    record_upgrade(store, &next).inspect_err(|_| {
        if store.ledger.journal.head() == head {
            next.give_up();
        }
    })
}

fn record_upgrade(store: &mut Store, next: &crate::keyring::Next) -> Result<()> {
    // No entry for a table that goes may be left in the journal.
    store.ledger.repository.sync()?;
    checkpoint(
        &store.ledger.repository,
        &store.ledger.keyring,
        &mut store.ledger.journal,
    )?;
    // It is sealed under a key that goes.
    load_timeline(store)?;
    let prepared = store.ledger.keyring.after(next)?;
    let file = Object::public(&store.state.decisions.policy.to_file(store.state.id)?);
    let decision = Decision {
        command: UPGRADE_COMMAND,
        member: None,
        file: Some((PublicFile::Policy, file.id)),
    };
    let context = Context {
        reason: Some(REASON.into()),
        ..Context::default()
    };
    let done = in_new_keyring(store, prepared, |store| {
        let root = store
            .ledger
            .trees
            .put_public(PublicFile::Policy.name(), file.id);
        let sealing = Sealing {
            next: Some(next.entry()),
            objects: vec![file, root],
            ..Sealing::default()
        };
        record_decision(store, &decision, sealing, &context)
    });
    done.map(drop)
}
