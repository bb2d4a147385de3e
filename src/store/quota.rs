//! What agents may add to history: how much in all, and how many events a minute.

use crate::error::{Error, Result};
use crate::event::{Context, Said};
use crate::state::catalog::is_of_agents;
use crate::store::answer::Refusal;
use crate::store::{State, now, redactor};
use crate::version;

use super::Store;
use super::plan::{Plan, Planned};

/// What refusals and looks may add beyond the limit, before they go unrecorded too: a part of it,
/// within these bounds.
const RESERVE_PART: u64 = 16;
const RESERVE_BYTES_MIN: u64 = 1024 * 1024;
const RESERVE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Why these cannot be written, in words for a model, if history has no room for them.
pub(super) fn no_room_for(state: &State, steps: &[Planned]) -> Option<String> {
    let (bytes, bytes_max) = history_bytes(state)?;
    let texts = steps.iter().filter_map(|step| match step {
        Planned::Touch(_) => None,
        Planned::Add { text, .. } | Planned::Write(_, text) => Some(text.text().len() as u64),
    });
    let mut sizes = texts.map(version::history_bytes).peekable();
    sizes.peek()?;
    (bytes.saturating_add(sizes.sum()) > bytes_max).then(|| {
        format!(
            "Error: Nothing can be written now: the history of this memory takes {bytes} bytes, \
             and its limit is {bytes_max}. Deleting makes no room in it. Tell a person."
        )
    })
}

/// Refuses to write these, if history has no room for them.
///
/// # Errors
/// [`Error::HistoryFull`].
pub(super) fn check_room_for(state: &State, steps: &[Planned]) -> Result<()> {
    match no_room_for(state, steps) {
        Some(_) => Err(history_full(state)),
        None => Ok(()),
    }
}

/// Refuses to record anything more, if what is left for refusals and looks is used up too.
///
/// # Errors
/// [`Error::HistoryFull`].
pub(super) fn check_reserve(state: &State) -> Result<()> {
    let Some((bytes, bytes_max)) = history_bytes(state) else {
        return Ok(());
    };
    let reserve = (bytes_max / RESERVE_PART).clamp(RESERVE_BYTES_MIN, RESERVE_BYTES_MAX);
    if bytes < bytes_max.saturating_add(reserve) {
        return Ok(());
    }
    Err(history_full(state))
}

/// What history takes and may take; `None` where there is no limit.
fn history_bytes(state: &State) -> Option<(u64, u64)> {
    let max = state.decisions.policy.limits.history_bytes;
    (max > 0).then_some((state.catalog.history_bytes, max))
}

fn history_full(state: &State) -> Error {
    Error::HistoryFull {
        bytes: state.catalog.history_bytes,
        bytes_max: state.decisions.policy.limits.history_bytes,
    }
}

/// Refuses a look into the past by an agent whose session has recorded too many events. That
/// leaves no record.
pub(super) fn check_pace(store: &Store, context: &Context) -> Result<()> {
    let is_agents = context.door.is_some_and(is_of_agents);
    if is_agents && plan_too_many(store, context)?.is_some() {
        let events_max = store
            .state
            .decisions
            .policy
            .limits
            .session_events_per_minute as u64;
        return Err(Error::TooManyEvents { events_max });
    }
    Ok(())
}

/// The plan that records that a session's events are too many; `None` if they are not.
///
/// # Errors
/// [`Error::TooManyEvents`] if that was recorded within the last minute.
pub(super) fn plan_too_many(store: &Store, context: &Context) -> Result<Option<Plan>> {
    let max = store
        .state
        .decisions
        .policy
        .limits
        .session_events_per_minute as u64;
    if max == 0 {
        return Ok(None);
    }
    // The session as it is recorded.
    let said = Said::of(context, redactor(store)?, &mut Vec::new());
    let since = store.state.catalog.times.millis_to(now(&store.state));
    let lately = store
        .state
        .catalog
        .recent
        .of(said.session.as_deref(), since);
    if lately.refused {
        return Err(Error::TooManyEvents { events_max: max });
    }
    let too_many = || {
        let text = format!(
            "Error: Too many calls: this session has recorded {} events within a minute, and its \
             limit is {max}. Wait a minute.",
            lately.events
        );
        Plan::without_path(Refusal::Limit, text)
    };
    Ok((lately.events >= max).then(too_many))
}
