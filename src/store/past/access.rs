//! Which events are about something, and who read a memory.

use crate::error::Result;
use crate::event::Change;
use crate::memory_tool::path::MemoryPath;
use crate::state::timeline::Part;
use crate::store::log::{Entry, Filter};

use super::super::Store;

impl Store {
    /// The events that meet a filter, newest first. Reading them is no access to any memory.
    ///
    /// A path stands for every memory that was ever there or below it: its events are found
    /// through renames, before and after, and so are those that only asked for the path.
    ///
    /// # Errors
    /// When history does not check out; each entry is opened only when it is asked for.
    pub fn events(&mut self, filter: &Filter) -> Result<impl Iterator<Item = Result<Entry>> + '_> {
        let numbers = self.in_history(|store| Ok(store.numbers(filter)))?;
        Ok(self.entries(numbers))
    }

    /// Who read a memory, or looked at it without that counting as a read, newest first. A path
    /// stands for every memory that was ever there or below it.
    ///
    /// # Errors
    /// As for [`Store::events`].
    pub fn accesses(
        &mut self,
        path: &MemoryPath,
    ) -> Result<impl Iterator<Item = Result<Entry>> + '_> {
        let numbers = self.in_history(|store| {
            let timeline = store.timeline();
            let memories = timeline.ever_within(path);
            let mut numbers = timeline.about(path);
            numbers.retain(|event| {
                let reads = |change| matches!(change, Change::Read | Change::Look);
                let mut parts = timeline.parts_of(*event).into_iter();
                parts.any(|part| reads(part.change) && memories.contains(&part.of.id))
            });
            Ok(numbers)
        })?;
        Ok(self.entries(numbers))
    }

    fn entries(&self, numbers: Vec<u64>) -> impl Iterator<Item = Result<Entry>> + '_ {
        let newest_first = numbers.into_iter().rev();
        newest_first.map(|number| {
            let moment = self
                .timeline()
                .moment(number)
                .expect("an event of the timeline");
            Ok(self.entry(moment.commit)?.0)
        })
    }

    /// The numbers of the events that meet a filter, oldest first.
    pub(in crate::store) fn numbers(&self, filter: &Filter) -> Vec<u64> {
        let timeline = self.timeline();
        let mut numbers = match &filter.path {
            Some(path) => timeline.about(path),
            None => (0..timeline.len()).collect(),
        };
        let alters = |part: &Part| part.change.alters();
        numbers.retain(|event| {
            let (actor, session) = timeline.who(*event).expect("an event of the timeline");
            let (command, outcome) = timeline.command(*event).expect("an event of the timeline");
            let time = timeline.time(*event).expect("an event of the timeline");
            let is = |want: &Option<String>, found: Option<&str>| {
                want.as_deref().is_none_or(|want| found == Some(want))
            };
            is(&filter.actor, actor)
                && is(&filter.session, session)
                && is(&filter.command, Some(command))
                && filter.outcome.is_none_or(|want| want == outcome)
                && filter.since.is_none_or(|since| time >= since)
                && filter.until.is_none_or(|until| time < until)
                && (!filter.altering || timeline.parts_of(*event).iter().any(alters))
        });
        numbers
    }
}
