//! Which events are about something, and who read a memory.

use crate::error::Result;
use crate::event::Change;
use crate::memory_tool::path::MemoryPath;
use crate::state::timeline::Part;
use crate::store::State;
use crate::store::log::{Entry, Filter, entry};
use crate::store::past::{in_history, timeline};

use super::super::Store;

/// See [`Store::events`].
pub(super) fn events<'a>(
    store: &'a mut Store,
    filter: &Filter,
) -> Result<impl Iterator<Item = Result<Entry>> + 'a> {
    let numbers = in_history(store, |store| Ok(numbers(&store.state, filter)))?;
    Ok(entries(store, numbers))
}

/// See [`Store::accesses`].
pub(super) fn accesses<'a>(
    store: &'a mut Store,
    path: &MemoryPath,
) -> Result<impl Iterator<Item = Result<Entry>> + 'a> {
    let numbers = in_history(store, |store| {
        let timeline = timeline(&store.state);
        let memories = timeline.ever_within(path);
        let mut numbers = timeline.about(path);
        numbers.retain(|event| {
            let reads = |change| matches!(change, Change::Read | Change::Look);
            let mut parts = timeline.parts_of(*event).into_iter();
            parts.any(|part| reads(part.change) && memories.contains(&part.of.id))
        });
        Ok(numbers)
    })?;
    Ok(entries(store, numbers))
}

fn entries(store: &Store, numbers: Vec<u64>) -> impl Iterator<Item = Result<Entry>> + '_ {
    let newest_first = numbers.into_iter().rev();
    newest_first.map(|number| {
        let moment = timeline(&store.state)
            .moment(number)
            .expect("an event of the timeline");
        Ok(entry(store, moment.commit)?.0)
    })
}

/// The numbers of the events that meet a filter, oldest first.
pub(in crate::store) fn numbers(state: &State, filter: &Filter) -> Vec<u64> {
    let timeline = timeline(state);
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
