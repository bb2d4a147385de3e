//! A listing of what exists, with times, expiry and holds.

use chrono::{DateTime, Utc};

use crate::error::Result;
use crate::event::Context;
use crate::memory_tool::path::MemoryPath;
use crate::state::catalog::Memory;
use crate::store::history::read::{HistoryRead, path_ref_ever, record_history_read};
use crate::store::history::{ListedMemory, Recorded};
use crate::store::sweep::{expiry_of, unexpired};
use crate::store::timeline::{newest_moment, timeline, with_timeline};
use crate::store::{State, Store};

/// See [`Store::list`].
pub(super) fn list(
    store: &mut Store,
    within: &MemoryPath,
    context: &Context,
) -> Result<Recorded<Vec<ListedMemory>>> {
    with_timeline(store, |store| {
        let found = listed(&store.state, within);
        let at = newest_moment(&store.state);
        let look = HistoryRead {
            command: "view_at",
            path: Some(path_ref_ever(store, within, at.event)?),
            at: vec![at],
            touches: Vec::new(),
        };
        let recorded = record_history_read(store, look, context)?;
        Ok(Recorded { found, recorded })
    })
}

fn listed(state: &State, within: &MemoryPath) -> Vec<ListedMemory> {
    let unexpired = unexpired(state);
    let rules = &state.config.rules;
    let one = |memory: &Memory| ListedMemory {
        id: memory.id,
        path: Some(memory.path.clone()).filter(|_| !memory.is_nameless()),
        version: memory.version,
        bytes: memory.bytes,
        written: written(state, memory),
        accessed: memory.accessed,
        expires: if rules.is_empty() {
            None
        } else {
            expiry_of(rules, memory).map(|(at, _)| at)
        },
        expired: !unexpired.has(memory),
        hold: state.catalog.hold_on(memory.id, Some(&memory.path)),
    };
    let itself = state.catalog.at(within).into_iter();
    let below = state.catalog.below(within);
    itself.chain(below).map(one).collect()
}

/// Returns the time when the present version was written.
fn written(state: &State, memory: &Memory) -> DateTime<Utc> {
    let timeline = timeline(state);
    let mut versions = timeline.versions(memory.id, u64::MAX);
    let newest = versions.next_back();
    let time = newest.and_then(|version| timeline.time(version.event));
    time.unwrap_or(memory.accessed)
}
