//! What a report reads of a store at one moment: history a block at a time, single records, and
//! what is in force.

use std::path::Path;

use chrono::{DateTime, Utc};

use crate::crypto::recipients::Member;
use crate::error::Result;
use crate::event::{Context, Moment, REPORT_COMMAND};
use crate::id::ObjectId;
use crate::memory_tool::path::MemoryPath;
use crate::state::timeline::Timeline;
use crate::store::commit::time_of;
use crate::store::config::StoreConfig;
use crate::store::history::RecordStatus;
use crate::store::history::diff::entry_with_config;
use crate::store::history::read::{HistoryRead, record_history_read};
use crate::store::log::Entry;
use crate::store::recovery::config_blobs_at;
use crate::store::rollback_check::newest_checkpoint;
use crate::store::signed_checkpoint::Checkpoint;
use crate::store::signers::{Signer, signer_now, signers_in};
use crate::store::sweep::expiry_of;
use crate::store::timeline::{load_timeline, timeline, with_lock};
use crate::store::{Store, log};

/// A store that stays as it is while a report is made of it.
pub(crate) struct StoreSurvey<'a>(&'a mut Store);

/// When a memory expires under the policy in force.
pub(crate) struct Expiry<'a> {
    pub(crate) path: &'a MemoryPath,
    pub(crate) bytes: u64,
    /// `None` is never.
    pub(crate) at: Option<DateTime<Utc>>,
    /// True if a hold keeps it.
    pub(crate) held: bool,
}

/// Runs `act` on a store, with the lock held.
pub(crate) fn survey<T>(
    store: &mut Store,
    act: impl FnOnce(&mut StoreSurvey<'_>) -> Result<T>,
) -> Result<T> {
    with_lock(store, |store| act(&mut StoreSurvey(store)))
}

impl StoreSurvey<'_> {
    /// Returns where history ends.
    pub(crate) fn end(&self) -> Result<Checkpoint> {
        newest_checkpoint(self.0)
    }

    /// Returns the store's folder.
    pub(crate) fn folder(&self) -> &Path {
        self.0.ledger.root.path()
    }

    pub(crate) fn now(&self) -> Result<DateTime<Utc>> {
        time_of(&self.0.state.clock)
    }

    /// Tells whether the identity opens the texts of memories.
    pub(crate) fn is_reader(&self) -> bool {
        self.0.ledger.keyring.is_reader()
    }

    /// Tells whether the store is for trials, so that its times may be made up.
    pub(crate) fn is_trial(&self) -> bool {
        self.0.is_trial()
    }

    /// Returns the signer whose key is at hand and may sign now.
    pub(crate) fn signer(&self) -> Option<&str> {
        signer_now(self.0).ok().map(|(_, signer)| signer.name())
    }

    /// Strips secrets from what the caller said.
    pub(crate) fn without_secrets(&self, said: &str) -> Result<String> {
        self.0.without_secrets(said)
    }

    /// Returns the members and signers in force after a commit.
    pub(crate) fn members_at(&self, commit: ObjectId) -> Result<(Vec<Member>, Vec<Signer>)> {
        let repository = &self.0.ledger.repository;
        let blobs = config_blobs_at(repository, commit)?;
        let config = StoreConfig::read(repository, blobs)?;
        Ok((config.members, signers_in(&config.signers)))
    }

    /// Tells whether the policy in force lets anything expire.
    pub(crate) fn expires_anything(&self) -> bool {
        !self.0.state.config.rules.is_empty()
    }

    /// Returns when each live memory expires.
    pub(crate) fn expiries(&self) -> impl Iterator<Item = Expiry<'_>> {
        let state = &self.0.state;
        state.catalog.memories().map(|memory| Expiry {
            path: &memory.path,
            bytes: memory.bytes,
            at: expiry_of(&state.config.rules, memory).map(|(at, _)| at),
            held: state
                .catalog
                .hold_on(memory.id, Some(&memory.path))
                .is_some(),
        })
    }

    /// Adds every event to what `begin` returns, oldest first, with the piece of the timeline that
    /// holds it. Only one piece is in memory at a time, where the file of the timeline is whole.
    pub(crate) fn fold<T>(
        &mut self,
        begin: impl Fn() -> T,
        mut add: impl FnMut(&mut T, &Timeline, u64),
    ) -> Result<T> {
        let (_, newest) = log::last_seen(self.0);
        let ledger = &self.0.ledger;
        let mut sum = begin();
        let mut take = |sum: &mut T, piece: &Timeline| {
            piece.numbers().for_each(|event| add(sum, piece, event));
        };
        let end = (newest.event, newest.commit);
        let key = ledger.keyring.cache_key();
        if ledger
            .timeline_file
            .each_block(end, key, |piece| take(&mut sum, piece))
        {
            return Ok(sum);
        }
        load_timeline(self.0)?;
        let mut sum = begin();
        take(&mut sum, timeline(&self.0.state));
        Ok(sum)
    }

    /// Opens the record of a commit, with its change of the configuration.
    pub(crate) fn entry(&self, commit: ObjectId) -> Result<Entry> {
        entry_with_config(self.0, commit)
    }

    /// Records that somebody reported on the events between two moments.
    pub(crate) fn record(&mut self, at: Vec<Moment>, context: &Context) -> Result<RecordStatus> {
        let look = HistoryRead {
            command: REPORT_COMMAND,
            path: None,
            at,
            touches: Vec::new(),
        };
        record_history_read(self.0, look, context)
    }
}
