//! What was begun elsewhere: memories that somebody without keys has marked, and erased memories
//! whose keys an older copy of the keyring has brought back. Whoever can destroys those keys when
//! the store is next used.

use std::collections::{HashMap, HashSet};

use super::super::Store;
use super::super::history::FOLD_CHUNK;
use super::{Erasing, gone};
use crate::error::Result;
use crate::event::{Change, Context, ERASE_COMMAND};
use crate::id::MemoryId;
use crate::repository::object::ObjectId;

/// Why, in the record.
const REASON: &str = "completes what was begun: the keys of memories marked for erasure, or those \
                      of erased memories that an older keyring had brought back";

impl Store {
    /// Takes the paths of memories out of the timeline, which was made with keys that count as
    /// destroyed.
    fn forget_paths(&mut self, memories: &HashSet<MemoryId>) -> Result<()> {
        let events = self.timeline().naming(memories);
        for chunk in events.chunks(FOLD_CHUNK) {
            let moments = chunk
                .iter()
                .filter_map(|event| self.timeline().moment(*event));
            let commits: Vec<ObjectId> = moments.map(|moment| moment.commit).collect();
            for checked in self.check_all(&self.keyring, &commits)? {
                if let Some(timeline) = &mut self.timeline {
                    timeline.take_again(&checked.event);
                }
            }
        }
        if let Some(timeline) = &self.timeline {
            self.timeline_file
                .append(timeline, 0, self.keyring.names_key());
        }
        Ok(())
    }

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
        if is_old {
            for (id, event) in self.timeline().erased() {
                if self.keyring.still_has(id)? {
                    after.insert(id, event);
                }
            }
            self.keyring.shut(after.keys().copied());
            self.forget_paths(&after.keys().copied().collect())?;
        }
        if self.may_record().is_err() {
            return Ok(());
        }
        for (id, event) in &self.catalog.marked {
            if self.hold_ever_on(*id, None).is_none() {
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
            after,
            ..Erasing::default()
        };
        let context = Context {
            reason: Some(REASON.into()),
            ..Context::default()
        };
        let done = self.erase_now(ERASE_COMMAND, erasing, |_| {}, &context, &mut |_, _| {});
        done.map(drop)
    }
}
