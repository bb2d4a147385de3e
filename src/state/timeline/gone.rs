//! What is gone: expired, erased, and what of history still speaks of it.

use std::collections::{HashMap, HashSet};

use super::{NONE, Timeline, Touched, Version};
use crate::event::{Change, ERASE_COMMAND, Event, REDACT_COMMAND};
use crate::id::MemoryId;
use crate::memory_tool::path::MemoryPath;

impl Timeline {
    /// The last thing that happened to each memory, of all that can end it.
    fn ends(&self) -> Vec<Option<(u64, &Touched)>> {
        let mut last: Vec<Option<(u64, &Touched)>> = vec![None; self.memories.len()];
        for (event, touched) in self.parts(u64::MAX) {
            let ends = matches!(touched.change, Change::Mark | Change::Erase);
            if ends || touched.change.alters() {
                last[touched.memory as usize] = Some((event, touched));
            }
        }
        last
    }

    /// Memories that a sweep removed and nobody brought back, as they were last; the event of each
    /// is the one that removed it.
    pub(crate) fn expired(&self) -> Vec<Version> {
        let ends = self.ends().into_iter().flatten();
        ends.filter(|(_, touched)| touched.change == Change::Expire)
            .map(|(event, touched)| self.version(event, touched))
            .collect()
    }

    /// The event by which a sweep removed a memory, if that is the last thing that happened to it.
    pub(crate) fn swept_by(&self, id: MemoryId) -> Option<u64> {
        let (event, last) = self.touches_with(id).rfind(|(_, touched)| {
            touched.change.alters() || matches!(touched.change, Change::Mark | Change::Erase)
        })?;
        (last.change == Change::Expire).then_some(event)
    }

    /// Memories whose keys are destroyed.
    pub(crate) fn erased(&self) -> Vec<(MemoryId, u64)> {
        let ends = self.ends().into_iter().flatten();
        ends.filter(|(_, touched)| touched.change == Change::Erase)
            .map(|(event, touched)| (self.memories[touched.memory as usize], event))
            .collect()
    }

    /// The event after which a memory does not open any more, or is not to.
    pub(crate) fn erased_by(&self, id: MemoryId) -> Option<u64> {
        self.touches_with(id)
            .rfind(|(_, touched)| matches!(touched.change, Change::Mark | Change::Erase))
            .map(|(event, _)| event)
    }

    /// The last version of a memory before which all are erased, and the event that did it.
    pub(crate) fn begins_with(&self, id: MemoryId) -> Option<(u64, u64)> {
        let (event, touched) = self.touches_with(id).rfind(|(event, touched)| {
            let command = self.command(*event).map(|(command, _)| command);
            matches!(touched.change, Change::Reseal | Change::Redact)
                && matches!(command, Some(ERASE_COMMAND | REDACT_COMMAND))
        })?;
        Some((touched.version, event))
    }

    /// The event that erased a version.
    pub(crate) fn erased_at(&self, version: &Version) -> Option<u64> {
        self.erased_by(version.id).or_else(|| {
            let (first, event) = self.begins_with(version.id)?;
            (version.version < first).then_some(event)
        })
    }

    /// Memories of which some events wrote a version.
    pub(crate) fn written_by(&self, events: &[u64]) -> HashSet<MemoryId> {
        let parts = events.iter().flat_map(|event| self.parts_of(*event));
        parts
            .filter(|part| part.change.writes())
            .map(|part| part.of.id)
            .collect()
    }

    /// Every path each memory ever had.
    pub(crate) fn paths(&self) -> HashMap<MemoryId, Vec<MemoryPath>> {
        let mut words: HashMap<u32, HashSet<u32>> = HashMap::new();
        for touched in &self.touches {
            if touched.path != NONE {
                words
                    .entry(touched.memory)
                    .or_default()
                    .insert(touched.path);
            }
        }
        words
            .into_iter()
            .map(|(memory, words)| {
                let paths = words.into_iter().filter_map(|word| self.path(word));
                (self.memories[memory as usize], paths.collect())
            })
            .collect()
    }

    /// Every event that touches one of some memories, or whose record names a path one of them had,
    /// or a directory that was in; oldest first.
    pub(crate) fn naming(&self, memories: &HashSet<MemoryId>) -> Vec<u64> {
        let gone: HashSet<u32> = memories
            .iter()
            .filter_map(|id| self.memory_at.get(id).copied())
            .collect();
        let mut words: HashSet<u32> = HashSet::new();
        for touched in self.touches.iter().filter(|t| gone.contains(&t.memory)) {
            if words.insert(touched.path)
                && let Some(path) = self.path(touched.path)
            {
                let above = path.ancestors();
                words.extend(above.filter_map(|above| self.word_at.get(above.as_str())));
            }
        }
        words.remove(&NONE);
        let names = |at: &usize| {
            let touches = self.touches_of(*at);
            let is_touched = touches.iter().any(|part| gone.contains(&part.memory));
            is_touched || self.rows[*at].named.iter().any(|word| words.contains(word))
        };
        (0..self.rows.len())
            .filter(names)
            .map(|at| self.number(at))
            .collect()
    }

    /// Takes an event again, of which fewer paths open than before.
    pub(crate) fn take_again(&mut self, event: &Event) {
        let Some(at) = self.place(event.number) else {
            return;
        };
        let named = self.named_words(event);
        self.rows[at].named = named;
        let end = self.rows[at].touches_end;
        let begin = end - self.touches_of(at).len();
        for (place, touch) in (begin..end).zip(&event.memories) {
            self.touches[place].path = self.word(touch.path.as_ref().map(MemoryPath::as_str));
        }
    }
}
