//! A store of format 1 is moved on by the first command of an owner who can read it.
//!
//! Entries of its keyring are bound to less, and no record names its keys. So all of it is sealed anew
//! under a new epoch key and a new names key, and the event of that names them.

use std::collections::HashSet;

use crate::error::Result;
use crate::event::{Context, PublicFile, UPGRADE_COMMAND};
use crate::policy::FORMAT;
use crate::repository::object::Object;

use super::Store;
use super::checkpoint::checkpoint;
use super::commit::Sealing;
use super::decide::Decision;

/// Why, in the record.
const REASON: &str =
    "the store had format 1: its keyring was sealed anew, and history names its keys";

impl Store {
    /// Moves the store on, if it has an earlier format and this process may. Called with the lock
    /// held.
    pub(super) fn upgrade(&mut self) -> Result<()> {
        if self.decisions.format == FORMAT && !self.keyring.is_loose() {
            return Ok(());
        }
        self.may_record(UPGRADE_COMMAND)?;
        let none = HashSet::new();
        let (members, least) = (
            self.decisions.members.clone(),
            self.catalog.erased.unwrap_or_default(),
        );
        let next = self
            .keyring
            .prepare_erasure(&members, (&none, &none), &[], least)?;
        let head = self.journal.head();
        self.record_upgrade(&next).inspect_err(|_| {
            if self.journal.head() == head {
                next.give_up();
            }
        })
    }

    fn record_upgrade(&mut self, next: &crate::keyring::Next) -> Result<()> {
        // No entry for a table that goes may be left in the journal.
        self.repository.sync()?;
        checkpoint(&self.repository, &self.keyring, &mut self.journal)?;
        // It is sealed under a key that goes.
        self.load_timeline()?;
        let prepared = self.keyring.after(next)?;
        let file = Object::public(&self.policy().to_file(self.id)?);
        let decision = Decision {
            command: UPGRADE_COMMAND,
            member: None,
            file: Some((PublicFile::Policy, file.id)),
        };
        let context = Context {
            reason: Some(REASON.into()),
            ..Context::default()
        };
        let done = self.in_new_keyring(prepared, |store| {
            let root = store.trees.put_public(PublicFile::Policy.name(), file.id);
            let sealing = Sealing {
                next: Some(next.entry()),
                objects: vec![file, root],
                ..Sealing::default()
            };
            store.record_decision(&decision, sealing, &context)
        });
        done.map(drop)
    }
}
