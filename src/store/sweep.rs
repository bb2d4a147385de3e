//! The sweep: what has expired is removed, and what a sweep removed long enough ago is erased, by
//! one event that says of each why. It is planned and carried out under one hold of the lock, so
//! that whatever was read just before stays.

use std::collections::HashSet;

use chrono::{DateTime, Utc};

use crate::error::{Error, Result, RetentionFault};
use crate::event::{Because, Change, Context, EXPIRE_COMMAND, Event, Outcome, Redaction, Touch};
use crate::id::MemoryId;
use crate::memory_tool::path::MemoryPath;
use crate::policy::expiration::{DecidedBy, Lifetime, RuleWhen, Rules, Ruling};
use crate::state::catalog::{Catalog, ClockFault, Memory};
use crate::state::timeline::Version;
use crate::store::answer::Meta;
use crate::store::commit::{Sealing, event, record, time_of};
use crate::store::erase::{Erasing, erase_now, gone};
use crate::store::history::refresh;
use crate::store::hold::hold_ever_on;
use crate::store::past::{load_timeline, locked, seconds, timeline};
use crate::store::place::check_one_keyring;
use crate::store::plan::{Planned, touch};
use crate::store::reseal::Progress;
use crate::store::retention::{Due, Fate, LISTED_MAX, SweepOptions, SweepPlan, Swept};
use crate::store::signers::may_sign_now;
use crate::store::{State, Store, lock, now};

/// See [`Store::plan_sweep`].
pub(super) fn plan_sweep(store: &mut Store, how: SweepOptions) -> Result<SweepPlan> {
    locked(store, |store| {
        check_clock(&store.state, how)?;
        sweep_plan(store)
    })
}

/// See [`Store::sweep`].
pub(super) fn sweep(
    store: &mut Store,
    how: SweepOptions,
    context: &Context,
    progress: &mut Progress<'_>,
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
        let mut sealing = removals(&plan.expire, &HashSet::new());
        let marked = plan.erase.iter().map(|due| gone_touch(due, Change::Mark));
        sealing.touches.extend(marked);
        (
            record_plainly(store, EXPIRE_COMMAND, sealing, accept, context)?,
            None,
        )
    } else {
        let gone: HashSet<MemoryId> = plan.erase.iter().map(|due| due.id).collect();
        let erasing = Erasing {
            before: removals(&plan.expire, &gone),
            gone,
            touches: plan
                .erase
                .iter()
                .map(|due| gone_touch(due, Change::Erase))
                .collect(),
            ..Erasing::default()
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

/// Whether the clock can be believed; `false` if it cannot, and that is accepted.
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
            "it says {}, and an event was at {} already",
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
        let Some((at, because)) = expires(&store.state.decisions.rules, memory) else {
            continue;
        };
        if store
            .state
            .catalog
            .hold_on(memory.id, Some(&memory.path))
            .is_some()
        {
            held += usize::from(at <= now);
        } else if at <= now {
            expire.push(due(memory, (at, because)));
        } else {
            soonest(&mut next, due(memory, (at, because)));
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
    let at_once: Vec<Due> = expire
        .iter()
        .filter_map(|due| without_grace(&store.state, due))
        .collect();
    pending += at_once.len();
    erase.extend(at_once);
    for due in [&mut expire, &mut erase] {
        due.sort_by(|a, b| (a.path.as_str(), a.id).cmp(&(b.path.as_str(), b.id)));
    }
    let living = store.state.catalog.len() - expire.len();
    Ok(SweepPlan {
        now,
        living,
        max: store
            .state
            .decisions
            .rules
            .sweep_max()
            .of(store.state.catalog.len()),
        max_erase: store.state.decisions.rules.sweep_max().of(pending),
        expire,
        erase,
        next,
        held,
    })
}

/// What a sweep removed and nobody brought back, where anything of that is ever erased.
fn swept_before(store: &mut Store) -> Result<Vec<Version>> {
    if !store.state.decisions.rules.may_erase() {
        return Ok(Vec::new());
    }
    load_timeline(store)?;
    let mut swept = timeline(&store.state).expired();
    swept.retain(|version| !store.state.catalog.marked.contains_key(&version.id));
    Ok(swept)
}

/// What is erased by the sweep that removes it: the policy gives it no grace.
fn without_grace(state: &State, due: &Due) -> Option<Due> {
    let ruling = state.decisions.rules.ruling(due.id, &due.path, due.at);
    let at_once = ruling.erases() && ruling.grace.seconds() == 0;
    (at_once && hold_ever_on(state, due.id, Some(&due.path)).is_none()).then(|| Due {
        because: Because::GraceOver {
            removed: state.catalog.events,
            seconds: 0,
        },
        ..due.clone()
    })
}

/// When the grace of a memory is over that a sweep removed, if it is to be erased then.
fn past_grace(state: &State, version: &Version) -> Option<Due> {
    let path = version.path.clone()?;
    let removed = timeline(state).time(version.event)?;
    let ruling = state.decisions.rules.ruling(version.id, &path, removed);
    let at = removed.checked_add_signed(ruling.grace.delta())?;
    ruling.erases().then_some(Due {
        id: version.id,
        path,
        version: version.version,
        bytes: version.bytes,
        at,
        because: Because::GraceOver {
            removed: version.event,
            seconds: ruling.grace.seconds(),
        },
    })
}

/// When a sweep removed a memory, if that is the last that happened to it; with the timeline at
/// hand.
pub(super) fn swept_away(state: &State, id: MemoryId) -> Option<DateTime<Utc>> {
    let event = timeline(state).swept_by(id)?;
    timeline(state).time(event)
}

/// Records a sweep that was not carried out.
fn record_refused(store: &mut Store, code: &str, context: &Context) -> Result<()> {
    let refuse = |event: &mut Event| {
        event.outcome = Outcome::Denied;
        event.error = Some(code.to_owned());
    };
    record_plainly(store, EXPIRE_COMMAND, Sealing::default(), refuse, context).map(drop)
}

/// Records an event that seals nothing.
pub(super) fn record_plainly(
    store: &mut Store,
    command: &'static str,
    sealing: Sealing,
    adjust: impl FnOnce(&mut Event),
    context: &Context,
) -> Result<Meta> {
    let mut redactions: Vec<Redaction> = Vec::new();
    let mut event = event(store, command, context, &mut redactions)?;
    event.redactions.clone_from(&redactions);
    adjust(&mut event);
    let recorded = record(store, event, sealing);
    let (event, commit) = recorded.inspect_err(|_| store.ledger.trees.forget())?;
    Ok(Meta::of(&event, commit, redactions))
}

/// Refuses what is more than the policy lets one sweep take.
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

/// Takes expired memories out of the present; of those that are erased at once, no key is left to
/// seal their paths under.
fn removals(expire: &[Due], erased: &HashSet<MemoryId>) -> Sealing {
    let mut sealing = Sealing::default();
    for due in expire {
        sealing.blobs.push((due.id, None));
        let mut touch = gone_touch(due, Change::Expire);
        touch.path = touch.path.filter(|_| !erased.contains(&due.id));
        sealing.touches.push(touch);
    }
    sealing
}

fn gone_touch(due: &Due, change: Change) -> Touch {
    Touch {
        because: Some(due.because),
        ..gone(due.id, Some(&due.path), (due.version, due.bytes), change)
    }
}

/// Keeps the few that come first.
fn soonest(next: &mut Vec<Due>, due: Due) {
    let at = next.partition_point(|known| known.at <= due.at);
    if at < LISTED_MAX {
        next.insert(at, due);
        next.truncate(LISTED_MAX);
    }
}

// What an agent finds: what there is, without what has expired. A memory is absent from the moment
// it expires, before any sweep, and no read brings it back.

/// The memories that have not expired.
pub(super) struct Living<'a> {
    catalog: &'a Catalog,
    rules: &'a Rules,
    now: DateTime<Utc>,
}

impl Living<'_> {
    /// The memory at a path.
    pub(super) fn at(&self, path: &MemoryPath) -> Option<&Memory> {
        self.catalog.at(path).filter(|memory| self.has(memory))
    }

    /// Every memory below a directory, in the order of a listing.
    pub(super) fn below(&self, directory: &MemoryPath) -> impl Iterator<Item = &Memory> {
        let all = self.catalog.below(directory);
        all.filter(|memory| self.has(memory))
    }

    /// Whether something is below this path; `/memories` always exists.
    pub(super) fn is_directory(&self, path: &MemoryPath) -> bool {
        path.is_root() || self.below(path).next().is_some()
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        if self.rules.is_empty() {
            return self.catalog.len();
        }
        let all = self.catalog.memories();
        all.filter(|memory| self.has(memory)).count()
    }

    /// Whether a memory has not expired.
    pub(super) fn has(&self, memory: &Memory) -> bool {
        self.expired(memory).is_none()
    }

    /// Since when and why a memory is not there for an agent any more.
    pub(super) fn expired(&self, memory: &Memory) -> Option<(DateTime<Utc>, Because)> {
        if self.rules.is_empty() {
            return None;
        }
        let (at, because) = expires(self.rules, memory)?;
        let held = || self.catalog.hold_on(memory.id, Some(&memory.path));
        (at <= self.now && held().is_none()).then_some((at, because))
    }
}

/// When and why a memory expires, held or not.
pub(super) fn expires(rules: &Rules, memory: &Memory) -> Option<(DateTime<Utc>, Because)> {
    let ruling = rules.ruling(memory.id, &memory.path, memory.accessed);
    let (when, at) = ruling.expires?;
    Some((at, because(&ruling, when, memory.accessed)))
}

fn because(ruling: &Ruling, when: RuleWhen, accessed: DateTime<Utc>) -> Because {
    let rule = match ruling.by {
        DecidedBy::Rule(rule) => Some(rule),
        DecidedBy::Keep(_) | DecidedBy::Table => None,
    };
    match when {
        RuleWhen::UnaccessedFor(lifetime) => Because::Unaccessed {
            since: accessed,
            seconds: match lifetime {
                Lifetime::For(window) => window.seconds(),
                Lifetime::Never => i64::MAX,
            },
            rule,
        },
        RuleWhen::At(at) => Because::ExpiresAt {
            at,
            rule: rule.unwrap_or_default(),
        },
    }
}

/// An expired memory, for a plan.
pub(super) fn due(memory: &Memory, (at, because): (DateTime<Utc>, Because)) -> Due {
    Due {
        id: memory.id,
        path: memory.path.clone(),
        version: memory.version,
        bytes: memory.bytes,
        at,
        because,
    }
}

pub(super) fn living(state: &State) -> Living<'_> {
    Living {
        catalog: &state.catalog,
        rules: &state.decisions.rules,
        now: now(state),
    }
}

/// Whether the clock is one that no sweep would go by: then nothing expired is removed either
/// because something new is to be where it was.
pub(super) fn has_wrong_clock(state: &State) -> bool {
    state.catalog.times.clock_fault(now(state)).is_some()
}

/// Removes what has expired and stands in the way of something new at a path: at it, above it
/// or below.
pub(super) fn make_way(state: &State, path: &MemoryPath) -> Vec<Planned> {
    if state.decisions.rules.is_empty() {
        return Vec::new();
    }
    let living = living(state);
    let above = path.ancestors();
    let above: Vec<&Memory> = above.filter_map(|path| state.catalog.at(&path)).collect();
    let below = state.catalog.below(path);
    let in_the_way = above.into_iter().chain(state.catalog.at(path)).chain(below);
    in_the_way
        .filter_map(|memory| {
            let (_, because) = living.expired(memory)?;
            let mut touch = touch(memory, Change::Expire);
            touch.because = Some(because);
            Some(Planned::Touch(touch))
        })
        .collect()
}

/// See [`Store::fate`].
pub(super) fn fate(store: &mut Store, path: &MemoryPath) -> Result<Option<Fate>> {
    locked(store, |store| {
        let Some(memory) = store.state.catalog.at(path) else {
            return Ok(None);
        };
        let rules = &store.state.decisions.rules;
        Ok(Some(Fate {
            id: memory.id,
            accessed: memory.accessed,
            ruling: rules.ruling(memory.id, &memory.path, memory.accessed),
            expired: !living(&store.state).has(memory),
            hold: store.state.catalog.hold_on(memory.id, Some(&memory.path)),
        }))
    })
}
