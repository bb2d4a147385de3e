//! What was begun elsewhere: memories that somebody without keys has marked, and erased memories
//! whose keys an older copy of the keyring has brought back. Whoever can destroys those keys when
//! the store is next used.

use std::collections::{HashMap, HashSet};

use super::super::Store;
use super::super::history::check_all;
use super::{Erasing, gone};
use crate::error::Result;
use crate::event::Change;
use crate::event::Context;
use crate::event::ERASE_COMMAND;
use crate::event::command;
use crate::id::MemoryId;

/// Why, in the record.
const REASON: &str = "completes what was begun: the keys of memories marked for erasure, or those \
                      of erased memories that an older keyring had brought back";

impl Store {
    /// Destroys keys that should not be there any more, where this process can. Called with the lock
    /// held, before anything is read: until it is done those keys are not used.
    pub(in crate::store) fn complete_erasures(&mut self) -> Result<()> {
        let erased = self.catalog.erased;
        let is_old = erased.is_some_and(|numbers| self.keyring.is_before(numbers));
        if self.catalog.marked.is_empty() && !is_old {
            return Ok(());
        }
        self.load_timeline()?;
        let mut after: HashMap<MemoryId, u64> = HashMap::new();
        let mut with_history = HashSet::new();
        if is_old {
            for (id, event) in self.timeline().erased() {
                if self.keyring.still_has(id)? {
                    after.insert(id, event);
                }
            }
            with_history = self.with_old_history()?;
            let in_ring = with_history.iter().copied();
            self.keyring.shut(after.keys().copied(), in_ring);
        }
        let shut: HashSet<MemoryId> = after.keys().copied().collect();
        if self.may_complete().is_err() {
            return self.forget_paths(&shut);
        }
        for (id, event) in &self.catalog.marked {
            let is_gone = self.catalog.memory(*id).is_none();
            if is_gone && self.hold_ever_on(*id, None).is_none() {
                after.insert(*id, *event);
            }
        }
        if after.is_empty() && !is_old {
            return Ok(());
        }
        let mut ids: Vec<MemoryId> = after.keys().copied().collect();
        ids.sort();
        let touch = |id: &MemoryId| gone(*id, None, self.last_sizes(*id), Change::Erase);
        let erasing = Erasing {
            touches: ids.iter().map(touch).collect(),
            gone: ids.into_iter().collect(),
            with_history,
            after,
            ..Erasing::default()
        };
        let context = Context {
            reason: Some(REASON.into()),
            ..Context::default()
        };
        let done = self.erase_now(ERASE_COMMAND, erasing, |_| {}, &context, &mut |_, _| {});
        if done.is_err() {
            self.forget_paths(&shut)?;
        }
        done.map(drop)
    }

    /// Whether this process can: its role need not let it begin an erasure.
    fn may_complete(&self) -> Result<()> {
        self.as_reader()?;
        self.check_one_keyring()?;
        let (_, signer) = self.signer_now()?;
        if command::may_complete(signer.role()) {
            return Ok(());
        }
        self.may_sign_now(ERASE_COMMAND)
    }

    /// Memories whose history was erased after this keyring was made: the keys it has of them open
    /// that, and nothing since.
    fn with_old_history(&self) -> Result<HashSet<MemoryId>> {
        let (Some(epoch), _) = self.keyring.numbers() else {
            return Ok(HashSet::new());
        };
        let mut found = HashSet::new();
        for id in self.timeline().memories() {
            let Some((_, event)) = self.timeline().begins_with(id) else {
                continue;
            };
            let event = self.event_at(event)?;
            let receipt = event.receipt.as_ref();
            if receipt.is_some_and(|receipt| receipt.epoch.1 > epoch) && self.keyring.in_ring(id)? {
                found.insert(id);
            }
        }
        Ok(found)
    }

    /// Has the timeline at hand forget the paths of memories whose keys are taken for destroyed: it
    /// was read with them.
    fn forget_paths(&mut self, memories: &HashSet<MemoryId>) -> Result<()> {
        if memories.is_empty() {
            return Ok(());
        }
        self.load_timeline()?;
        let commits = self.commits_of(&self.timeline().naming(memories));
        let timeline = &mut self.timeline;
        check_all(&self.root, &self.keyring, &commits, |checked| {
            if let Some(timeline) = timeline {
                timeline.take_again(&checked.event);
            }
            Ok(())
        })?;
        // It was written down with them, too.
        if let Some(timeline) = &self.timeline {
            self.timeline_file
                .append(timeline, 0, self.keyring.cache_key());
        }
        Ok(())
    }
}
