//! Quotas of agents: the size of history, and the number of events per minute.

use crate::error::{Error, Result};
use crate::event::{CallerClaims, Context};
use crate::state::catalog::is_of_agents;
use crate::store::answer::Refusal;
use crate::store::plan::{Plan, PlannedChange};
use crate::store::{State, Store, now, redactor};
use crate::version;

/// Extra room beyond the limit for recording refusals and looks: a fraction of the limit, within
/// these bounds. When it is used up, they are no longer recorded.
const RESERVE_PART: u64 = 16;
const RESERVE_BYTES_MIN: u64 = 1024 * 1024;
const RESERVE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Returns the refusal for a model if history has no room for these steps.
pub(super) fn no_room_for(state: &State, steps: &[PlannedChange]) -> Option<String> {
    let (bytes, bytes_max) = history_bytes(state)?;
    let texts = steps.iter().filter_map(|step| match step {
        PlannedChange::Touch(_) => None,
        PlannedChange::Add { text, .. } | PlannedChange::Write(_, text) => {
            Some(text.text().len() as u64)
        }
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

/// Refuses steps for which history has no room.
///
/// # Errors
/// [`Error::HistoryFull`].
pub(super) fn check_room_for(state: &State, steps: &[PlannedChange]) -> Result<()> {
    match no_room_for(state, steps) {
        Some(_) => Err(history_full(state)),
        None => Ok(()),
    }
}

/// Refuses to record anything more once the extra room for refusals and looks is used up too.
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

/// Returns the size of history and its limit, in bytes; `None` if there is no limit.
fn history_bytes(state: &State) -> Option<(u64, u64)> {
    let max = state.config.policy.limits.history_bytes;
    (max > 0).then_some((state.catalog.history_bytes, max))
}

fn history_full(state: &State) -> Error {
    Error::HistoryFull {
        bytes: state.catalog.history_bytes,
        bytes_max: state.config.policy.limits.history_bytes,
    }
}

/// Refuses a look into the past by an agent whose session has recorded too many events. This
/// refusal is not recorded.
pub(super) fn check_pace(store: &Store, context: &Context) -> Result<()> {
    let is_agents = context.door.is_some_and(is_of_agents);
    if is_agents && plan_too_many(store, context)?.is_some() {
        let events_max = store.state.config.policy.limits.session_events_per_minute as u64;
        return Err(Error::TooManyEvents { events_max });
    }
    Ok(())
}

/// Returns the plan that records that a session has recorded too many events; `None` if it has not.
///
/// # Errors
/// [`Error::TooManyEvents`] if such a refusal was recorded within the last minute.
pub(super) fn plan_too_many(store: &Store, context: &Context) -> Result<Option<Plan>> {
    let max = store.state.config.policy.limits.session_events_per_minute as u64;
    if max == 0 {
        return Ok(None);
    }
    // The session as it is recorded, after redaction.
    let said = CallerClaims::of(context, redactor(store)?, &mut Vec::new());
    let since = store.state.catalog.times.millis_to(now(&store.state));
    let recent = &store.state.catalog.recent;
    let lately = recent.of(said.session.as_deref(), since);
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
