//! The sweep: what has expired is removed, and what a sweep removed long enough ago is erased, by
//! one event that says of each why. It is planned and carried out under one hold of the lock, so
//! that whatever was read just before stays.

use std::collections::HashSet;

use chrono::{DateTime, Utc};

use crate::error::{Error, Result, RetentionFault};
use crate::event::{Because, Change, Context, EXPIRE_COMMAND, Event, Outcome, Redaction, Touch};
use crate::id::MemoryId;
use crate::state::catalog::ClockFault;
use crate::state::timeline::Version;
use crate::store::answer::Meta;
use crate::store::retention::{Due, LISTED_MAX, SweepOptions, SweepPlan, Swept};

use super::Store;
use super::commit::{Sealing, time_of};
use super::erase::{Erasing, gone};
use super::living::{due, expires};
use super::past::seconds;
use super::reseal::Progress;

impl Store {
    /// What a sweep would do now. Nothing is changed or recorded.
    ///
    /// # Errors
    /// [`RetentionFault::Clock`] if the clock cannot be believed and that is not accepted; otherwise
    /// when history does not check out.
    pub fn plan_sweep(&mut self, how: SweepOptions) -> Result<SweepPlan> {
        self.locked(|store| {
            store.check_clock(how)?;
            store.sweep_plan()
        })
    }

    /// Removes what has expired, and erases what a sweep removed before and is past its grace.
    ///
    /// It is recorded also when nothing was due. An auditor with a signing key can sweep too: what
    /// is to be erased is marked then, and the next reader destroys its keys.
    ///
    /// # Errors
    /// [`RetentionFault::SweepLimit`] if it is more than the policy lets one sweep take,
    /// [`RetentionFault::Clock`] if the clock cannot be believed; otherwise as for
    /// [`Store::execute`].
    pub fn sweep(
        &mut self,
        how: SweepOptions,
        context: &Context,
        progress: &mut Progress<'_>,
    ) -> Result<Swept> {
        let lock = self.lock()?;
        self.refresh()?;
        self.check_one_keyring()?;
        self.may_sign_now(EXPIRE_COMMAND)?;
        let believed = self.check_clock(how)?;
        let plan = self.sweep_plan()?;
        if let Some(fault) = over_limit(&plan).filter(|_| !how.beyond_limit) {
            self.record_refused(fault.code(), context)?;
            return Err(fault);
        }
        let accept = move |event: &mut Event| event.clock_accepted = !believed;
        let (meta, receipt) = if plan.erase.is_empty() || !self.keyring.is_reader() {
            let mut sealing = removals(&plan.expire, &HashSet::new());
            let marked = plan.erase.iter().map(|due| gone_touch(due, Change::Mark));
            sealing.touches.extend(marked);
            (
                self.record_plainly(EXPIRE_COMMAND, sealing, accept, context)?,
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
            let erased = self.erase_now(EXPIRE_COMMAND, erasing, accept, context, progress)?;
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
    fn check_clock(&self, how: SweepOptions) -> Result<bool> {
        let now = time_of(&self.clock)?;
        let Some(fault) = self.catalog.times.clock_fault(now) else {
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

    fn sweep_plan(&mut self) -> Result<SweepPlan> {
        let now = time_of(&self.clock)?;
        let (mut expire, mut next, mut held) = (Vec::new(), Vec::new(), 0);
        for memory in self.catalog.memories() {
            let Some((at, because)) = expires(&self.decisions.rules, memory) else {
                continue;
            };
            if self
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
        for version in &self.swept_before()? {
            let Some(due) = self.past_grace(version) else {
                continue;
            };
            pending += 1;
            if due.at > now {
                continue;
            }
            if self.hold_ever_on(due.id, Some(&due.path)).is_some() {
                held += 1;
            } else {
                erase.push(due);
            }
        }
        let at_once: Vec<Due> = expire
            .iter()
            .filter_map(|due| self.without_grace(due))
            .collect();
        pending += at_once.len();
        erase.extend(at_once);
        for due in [&mut expire, &mut erase] {
            due.sort_by(|a, b| (a.path.as_str(), a.id).cmp(&(b.path.as_str(), b.id)));
        }
        let living = self.catalog.len() - expire.len();
        Ok(SweepPlan {
            now,
            living,
            max: self.decisions.rules.sweep_max().of(self.catalog.len()),
            max_erase: self.decisions.rules.sweep_max().of(pending),
            expire,
            erase,
            next,
            held,
        })
    }

    /// What a sweep removed and nobody brought back, where anything of that is ever erased.
    fn swept_before(&mut self) -> Result<Vec<Version>> {
        if !self.decisions.rules.may_erase() {
            return Ok(Vec::new());
        }
        self.load_timeline()?;
        let mut swept = self.timeline().expired();
        swept.retain(|version| !self.catalog.marked.contains_key(&version.id));
        Ok(swept)
    }

    /// What is erased by the sweep that removes it: the policy gives it no grace.
    fn without_grace(&self, due: &Due) -> Option<Due> {
        let ruling = self.decisions.rules.ruling(due.id, &due.path, due.at);
        let at_once = ruling.erases() && ruling.grace.seconds() == 0;
        (at_once && self.hold_ever_on(due.id, Some(&due.path)).is_none()).then(|| Due {
            because: Because::GraceOver {
                removed: self.catalog.events,
                seconds: 0,
            },
            ..due.clone()
        })
    }

    /// When the grace of a memory is over that a sweep removed, if it is to be erased then.
    fn past_grace(&self, version: &Version) -> Option<Due> {
        let path = version.path.clone()?;
        let removed = self.timeline().time(version.event)?;
        let ruling = self.decisions.rules.ruling(version.id, &path, removed);
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
    pub(super) fn swept_away(&self, id: MemoryId) -> Option<DateTime<Utc>> {
        let event = self.timeline().swept_by(id)?;
        self.timeline().time(event)
    }

    /// Records a sweep that was not carried out.
    fn record_refused(&mut self, code: &str, context: &Context) -> Result<()> {
        let refuse = |event: &mut Event| {
            event.outcome = Outcome::Denied;
            event.error = Some(code.to_owned());
        };
        self.record_plainly(EXPIRE_COMMAND, Sealing::default(), refuse, context)
            .map(drop)
    }

    /// Records an event that seals nothing.
    pub(super) fn record_plainly(
        &mut self,
        command: &'static str,
        sealing: Sealing,
        adjust: impl FnOnce(&mut Event),
        context: &Context,
    ) -> Result<Meta> {
        let mut redactions: Vec<Redaction> = Vec::new();
        let mut event = self.event(command, context, &mut redactions)?;
        event.redactions.clone_from(&redactions);
        adjust(&mut event);
        let recorded = self.record(event, sealing);
        let (event, commit) = recorded.inspect_err(|_| self.trees.forget())?;
        Ok(Meta::of(&event, commit, redactions))
    }
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
