//! The sweep: a single event removes expired memories, and erases memories that an earlier sweep
//! removed long enough ago. It records the reason for each. The sweep is planned and carried out
//! under a single hold of the lock, so that a memory read just before it stays.

use std::collections::HashSet;

use chrono::{DateTime, Utc};

use crate::error::{Error, Result, RetentionFault};
use crate::event::{Change, Context, EXPIRE_COMMAND, Event, MemoryChange, Outcome, RemovalReason};
use crate::id::MemoryId;
use crate::memory_tool::path::MemoryPath;
use crate::policy::expiration::{DecidedBy, ExpirationRules, ExpiryDecision, Lifetime, RuleWhen};
use crate::state::catalog::{Catalog, ClockFault, Memory};
use crate::state::timeline::Version;
use crate::store::commit::{SealedPlan, record_sealed, time_of};
use crate::store::erase::{ErasurePlan, erase_now, erased_change};
use crate::store::history::read::seconds;
use crate::store::hold::hold_ever_on;
use crate::store::keyring_location::check_one_keyring;
use crate::store::plan::{PlannedChange, touch};
use crate::store::recovery::refresh;
use crate::store::rekey::ProgressFn;
use crate::store::retention::{
    ExpiredMemory, ExpiryStatus, LISTED_MAX, SweepOptions, SweepPlan, Swept,
};
use crate::store::signers::may_sign_now;
use crate::store::timeline::{load_timeline, timeline, with_lock};
use crate::store::{State, Store, lock, now};

/// See [`Store::plan_sweep`].
pub(super) fn plan_sweep(store: &mut Store, how: SweepOptions) -> Result<SweepPlan> {
    with_lock(store, |store| {
        check_clock(&store.state, how)?;
        sweep_plan(store)
    })
}

/// See [`Store::sweep`].
pub(super) fn sweep(
    store: &mut Store,
    how: SweepOptions,
    context: &Context,
    progress: &mut ProgressFn<'_>,
) -> Result<Swept> {
    let lock = lock(&mut store.ledger)?;
    refresh(store)?;
    check_one_keyring(store)?;
    may_sign_now(store, EXPIRE_COMMAND)?;
    let believed = check_clock(&store.state, how)?;
    let plan = sweep_plan(store)?;
    if let Some(fault) = over_limit(&plan).filter(|_| !how.beyond_limit) {
        record_refused(store, fault.code(), context)?;
        return Err(fault);
    }
    let accept = move |event: &mut Event| event.clock_accepted = !believed;
    let (meta, receipt) = if plan.erase.is_empty() || !store.ledger.keyring.is_reader() {
        let mut sealed_plan = removals(&plan.expire, &HashSet::new());
        let marked = plan
            .erase
            .iter()
            .map(|due| removal_change(due, Change::Mark));
        sealed_plan.touches.extend(marked);
        (
            record_sealed(store, EXPIRE_COMMAND, sealed_plan, accept, context)?,
            None,
        )
    } else {
        let gone: HashSet<MemoryId> = plan.erase.iter().map(|due| due.id).collect();
        let erasing = ErasurePlan {
            before: removals(&plan.expire, &gone),
            gone,
            touches: plan
                .erase
                .iter()
                .map(|due| removal_change(due, Change::Erase))
                .collect(),
            ..ErasurePlan::default()
        };
        let erased = erase_now(store, EXPIRE_COMMAND, erasing, accept, context, progress)?;
        (erased.0, Some(erased.1))
    };
    drop(lock);
    Ok(Swept {
        plan,
        meta,
        receipt,
    })
}

/// Checks that the clock is plausible. Returns false if it is not, and `how` accepts it.
fn check_clock(state: &State, how: SweepOptions) -> Result<bool> {
    let now = time_of(&state.clock)?;
    let Some(fault) = state.catalog.times.clock_fault(now) else {
        return Ok(true);
    };
    if how.accept_clock {
        return Ok(false);
    }
    let why = match fault {
        ClockFault::Behind(latest) => format!(
            "it says {}, but an earlier event has the time {}",
            seconds(now),
            seconds(latest)
        ),
        ClockFault::Leapt(from, to) if to < from => format!(
            "after an event at {} came one at {}",
            seconds(from),
            seconds(to)
        ),
        ClockFault::Leapt(from, to) => format!(
            "after {} came {}, more than a year without an event",
            seconds(from),
            seconds(to)
        ),
    };
    Err(Error::Retention(RetentionFault::Clock { why }))
}

fn sweep_plan(store: &mut Store) -> Result<SweepPlan> {
    let now = time_of(&store.state.clock)?;
    let (mut expire, mut next, mut held) = (Vec::new(), Vec::new(), 0);
    for memory in store.state.catalog.memories() {
        let Some((at, because)) = expiry_of(&store.state.config.rules, memory) else {
            continue;
        };
        let kept_by = store.state.catalog.hold_on(memory.id, Some(&memory.path));
        if kept_by.is_some() {
            held += usize::from(at <= now);
        } else if at <= now {
            expire.push(expired_memory(memory, (at, because)));
        } else {
            soonest(&mut next, expired_memory(memory, (at, because)));
        }
    }
    let (mut erase, mut pending) = (Vec::new(), 0);
    for version in &swept_before(store)? {
        let Some(due) = past_grace(&store.state, version) else {
            continue;
        };
        pending += 1;
        if due.at > now {
            continue;
        }
        if hold_ever_on(&store.state, due.id, Some(&due.path)).is_some() {
            held += 1;
        } else {
            erase.push(due);
        }
    }
    let at_once: Vec<ExpiredMemory> = expire
        .iter()
        .filter_map(|due| without_grace(&store.state, due))
        .collect();
    pending += at_once.len();
    erase.extend(at_once);
    for due in [&mut expire, &mut erase] {
        due.sort_by(|a, b| (a.path.as_str(), a.id).cmp(&(b.path.as_str(), b.id)));
    }
    let (all, max) = (
        store.state.catalog.len(),
        store.state.config.rules.sweep_max(),
    );
    Ok(SweepPlan {
        now,
        unexpired: all - expire.len(),
        max: max.of(all),
        max_erase: max.of(pending),
        expire,
        erase,
        next,
        held,
    })
}

/// Returns the memories that a sweep removed and nobody restored; none if the policy never erases.
fn swept_before(store: &mut Store) -> Result<Vec<Version>> {
    if !store.state.config.rules.may_erase() {
        return Ok(Vec::new());
    }
    load_timeline(store)?;
    let mut swept = timeline(&store.state).expired();
    swept.retain(|version| !store.state.catalog.marked.contains_key(&version.id));
    Ok(swept)
}

/// Returns the erasure of a memory by the sweep that removes it, if the policy gives it no grace
/// period.
fn without_grace(state: &State, due: &ExpiredMemory) -> Option<ExpiredMemory> {
    let ruling = state.config.rules.evaluate(due.id, &due.path, due.at);
    let at_once = ruling.erases() && ruling.grace.seconds() == 0;
    (at_once && hold_ever_on(state, due.id, Some(&due.path)).is_none()).then(|| ExpiredMemory {
        because: RemovalReason::GraceOver {
            removed: state.catalog.events,
            seconds: 0,
        },
        ..due.clone()
    })
}

/// Returns when the grace period of a memory removed by a sweep ends, if it is to be erased then.
fn past_grace(state: &State, version: &Version) -> Option<ExpiredMemory> {
    let path = version.path.clone()?;
    let removed = timeline(state).time(version.event)?;
    let ruling = state.config.rules.evaluate(version.id, &path, removed);
    let at = removed.checked_add_signed(ruling.grace.delta())?;
    ruling.erases().then_some(ExpiredMemory {
        id: version.id,
        path,
        version: version.version,
        bytes: version.bytes,
        at,
        because: RemovalReason::GraceOver {
            removed: version.event,
            seconds: ruling.grace.seconds(),
        },
    })
}

/// Returns the time at which a sweep removed a memory, if nothing happened to it since. The
/// timeline must be loaded.
pub(super) fn swept_at(state: &State, id: MemoryId) -> Option<DateTime<Utc>> {
    let event = timeline(state).swept_by(id)?;
    timeline(state).time(event)
}

/// Records a sweep that was refused.
fn record_refused(store: &mut Store, code: &str, context: &Context) -> Result<()> {
    let refuse = |event: &mut Event| {
        event.outcome = Outcome::Denied;
        event.error = Some(code.to_owned());
    };
    record_sealed(
        store,
        EXPIRE_COMMAND,
        SealedPlan::default(),
        refuse,
        context,
    )
    .map(drop)
}

/// Returns the refusal of a sweep that takes more memories than the policy allows.
fn over_limit(plan: &SweepPlan) -> Option<Error> {
    let (expire, erase) = (plan.expire.len(), plan.erase.len());
    let max = if expire > plan.max {
        plan.max
    } else if erase > plan.max_erase {
        plan.max_erase
    } else {
        return None;
    };
    let fault = RetentionFault::SweepLimit { expire, erase, max };
    Some(Error::Retention(fault))
}

/// Removes expired memories from the present. Those that are erased at once get no path: they have
/// no key left to seal it.
fn removals(expire: &[ExpiredMemory], erased: &HashSet<MemoryId>) -> SealedPlan {
    let mut sealed_plan = SealedPlan::default();
    for due in expire {
        sealed_plan.blobs.push((due.id, None));
        let mut touch = removal_change(due, Change::Expire);
        touch.path = touch.path.filter(|_| !erased.contains(&due.id));
        sealed_plan.touches.push(touch);
    }
    sealed_plan
}

fn removal_change(due: &ExpiredMemory, change: Change) -> MemoryChange {
    MemoryChange {
        because: Some(due.because),
        ..erased_change(due.id, Some(&due.path), (due.version, due.bytes), change)
    }
}

/// Inserts a memory into the list, which keeps only those that expire first.
fn soonest(next: &mut Vec<ExpiredMemory>, due: ExpiredMemory) {
    let at = next.partition_point(|known| known.at <= due.at);
    if at < LISTED_MAX {
        next.insert(at, due);
        next.truncate(LISTED_MAX);
    }
}

// The agent's view: all memories except expired ones. A memory is hidden as soon as it expires,
// before any sweep, and reads do not bring it back.

/// The memories that have not expired.
pub(super) struct UnexpiredView<'a> {
    catalog: &'a Catalog,
    rules: &'a ExpirationRules,
    now: DateTime<Utc>,
}

impl UnexpiredView<'_> {
    /// Returns the memory at a path.
    pub(super) fn at(&self, path: &MemoryPath) -> Option<&Memory> {
        self.catalog.at(path).filter(|memory| self.has(memory))
    }

    /// Iterates over the memories below a directory, in the order of a listing.
    pub(super) fn below(&self, directory: &MemoryPath) -> impl Iterator<Item = &Memory> {
        let all = self.catalog.below(directory);
        all.filter(|memory| self.has(memory))
    }

    /// Tells whether a memory is below this path; `/memories` always exists.
    pub(super) fn is_directory(&self, path: &MemoryPath) -> bool {
        path.is_root() || self.below(path).next().is_some()
    }

    /// Returns the number of unexpired memories.
    pub(super) fn len(&self) -> usize {
        let mut expired = 0;
        self.for_expired(|_| expired += 1);
        self.catalog.len() - expired
    }

    /// Calls `see` with the time at which each expired memory expired.
    pub(super) fn for_expired(&self, mut see: impl FnMut(DateTime<Utc>)) {
        if self.rules.is_empty() {
            return;
        }
        let look = |memory: &Memory| {
            if let Some((at, _)) = self.expired(memory) {
                see(at);
            }
        };
        match self.rules.accessed_if_expired(self.now) {
            Some(time) => self.catalog.accessed_by(time).iter().for_each(look),
            None => self.catalog.memories().for_each(look),
        }
    }

    /// Tells whether a memory has not expired.
    pub(super) fn has(&self, memory: &Memory) -> bool {
        self.expired(memory).is_none()
    }

    /// Returns when and why a memory expired; `None` if agents still see it.
    pub(super) fn expired(&self, memory: &Memory) -> Option<(DateTime<Utc>, RemovalReason)> {
        if self.rules.is_empty() {
            return None;
        }
        let (at, because) = expiry_of(self.rules, memory)?;
        let held = || self.catalog.hold_on(memory.id, Some(&memory.path));
        (at <= self.now && held().is_none()).then_some((at, because))
    }
}

/// Returns when and why a memory expires, regardless of holds.
pub(super) fn expiry_of(
    rules: &ExpirationRules,
    memory: &Memory,
) -> Option<(DateTime<Utc>, RemovalReason)> {
    let ruling = rules.evaluate(memory.id, &memory.path, memory.accessed);
    let (when, at) = ruling.expires?;
    Some((at, removal_reason(&ruling, when, memory.accessed)))
}

fn removal_reason(
    ruling: &ExpiryDecision,
    when: RuleWhen,
    accessed: DateTime<Utc>,
) -> RemovalReason {
    let rule = match ruling.by {
        DecidedBy::Rule(rule) => Some(rule),
        DecidedBy::Keep(_) | DecidedBy::Table => None,
    };
    match when {
        RuleWhen::UnaccessedFor(lifetime) => RemovalReason::Unaccessed {
            since: accessed,
            seconds: match lifetime {
                Lifetime::For(window) => window.seconds(),
                Lifetime::Never => i64::MAX,
            },
            rule,
        },
        RuleWhen::At(at) => RemovalReason::ExpiresAt {
            at,
            rule: rule.unwrap_or_default(),
        },
    }
}

/// Lists an expired memory for a plan.
pub(super) fn expired_memory(
    memory: &Memory,
    (at, because): (DateTime<Utc>, RemovalReason),
) -> ExpiredMemory {
    ExpiredMemory {
        id: memory.id,
        path: memory.path.clone(),
        version: memory.version,
        bytes: memory.bytes,
        at,
        because,
    }
}

pub(super) fn unexpired(state: &State) -> UnexpiredView<'_> {
    UnexpiredView {
        catalog: &state.catalog,
        rules: &state.config.rules,
        now: now(state),
    }
}

/// Tells whether the clock is implausible. Then expired memories are not evicted to make room.
pub(super) fn is_clock_implausible(state: &State) -> bool {
    state.catalog.times.clock_fault(now(state)).is_some()
}

/// Evicts expired memories in the way of a new one: at its path, above or below.
pub(super) fn evict_expired(state: &State, path: &MemoryPath) -> Vec<PlannedChange> {
    if state.config.rules.is_empty() {
        return Vec::new();
    }
    let unexpired = unexpired(state);
    let above = path.ancestors();
    let above: Vec<&Memory> = above.filter_map(|path| state.catalog.at(&path)).collect();
    let below = state.catalog.below(path);
    let in_the_way = above.into_iter().chain(state.catalog.at(path)).chain(below);
    in_the_way
        .filter_map(|memory| {
            let (_, because) = unexpired.expired(memory)?;
            let mut touch = touch(memory, Change::Expire);
            touch.because = Some(because);
            Some(PlannedChange::Touch(touch))
        })
        .collect()
}

/// See [`Store::expiry_status`].
pub(super) fn expiry_status(store: &mut Store, path: &MemoryPath) -> Result<Option<ExpiryStatus>> {
    with_lock(store, |store| {
        let Some(memory) = store.state.catalog.at(path) else {
            return Ok(None);
        };
        let rules = &store.state.config.rules;
        Ok(Some(ExpiryStatus {
            id: memory.id,
            accessed: memory.accessed,
            ruling: rules.evaluate(memory.id, &memory.path, memory.accessed),
            expired: !unexpired(&store.state).has(memory),
            hold: store.state.catalog.hold_on(memory.id, Some(&memory.path)),
        }))
    })
}
