//! Undoing: first what every memory should be, then how that differs from what it is, then one
//! event that brings it about.

mod restore;
mod revert;
mod settle;

use std::collections::{BTreeMap, HashSet};

use crate::Text;
use crate::answer::Meta;
use crate::error::{Error, Result};
use crate::event::{Context, Moment, Place, UNDONE_RUNS_MAX};
use crate::id::MemoryId;
use crate::path::MemoryPath;
use crate::revision::Revision;
use crate::undo::{Conflict, OnTop, Plan, Undo};

use self::settle::Settled;
use super::Store;
use super::past::not_there;
use super::plan;

/// Most later changes that a conflict names.
const ON_TOP_MAX: usize = 5;

/// What a memory should be.
pub(super) enum Wanted {
    /// Not there.
    Gone,
    /// There, with this text.
    There {
        path: MemoryPath,
        text: Text,
        /// The earlier version this is, or, after a merge, goes back to.
        from: Option<u64>,
        merged: bool,
    },
}

/// What an undo wants.
#[derive(Default)]
pub(super) struct Aim {
    pub(super) path: Option<Place>,
    pub(super) at: Option<Moment>,
    pub(super) undone: Vec<(u64, u64)>,
    pub(super) wanted: BTreeMap<MemoryId, Wanted>,
    pub(super) conflicts: Vec<Conflict>,
}

impl Store {
    /// What an undo would do now. Nothing is changed or recorded, and no text is shown.
    ///
    /// # Errors
    /// [`Error::NoRevision`], [`Error::Ambiguous`], [`Error::NotThere`] or
    /// [`Error::NothingToUndo`] if there is nothing like that to undo.
    pub fn plan_undo(&mut self, undo: &Undo) -> Result<Plan> {
        self.in_contents(|store| Ok(store.settled(undo)?.0.plan))
    }

    /// Undoes, by one new event. `wanted` is the digest of the plan that must be carried out, if
    /// it must be a certain one; `partial` says to do what can be done and to leave the rest.
    ///
    /// With nothing to do, nothing is recorded.
    ///
    /// # Errors
    /// [`Error::PlanChanged`] if the plan is another one by now, [`Error::Conflict`] if others have
    /// changed the same since, [`Error::HistoryFull`]; otherwise as for [`Store::plan_undo`] and
    /// [`Store::execute`].
    pub fn undo(
        &mut self,
        undo: &Undo,
        wanted: Option<&str>,
        partial: bool,
        context: &Context,
    ) -> Result<(Plan, Option<Meta>)> {
        self.in_contents(|store| {
            store.check_role(undo.command())?;
            let (Settled { plan, steps }, path) = store.settled(undo)?;
            if let Some(wanted) = wanted.filter(|wanted| !plan.is(wanted)) {
                return Err(Error::PlanChanged {
                    wanted: crate::event::bounded(wanted, 80),
                    found: plan.digest.to_string(),
                });
            }
            if !plan.conflicts.is_empty() && !partial {
                return Err(Error::Conflict {
                    conflicts: plan.conflicts.iter().map(Conflict::sentence).collect(),
                });
            }
            if steps.is_empty() {
                return Ok((plan, None));
            }
            store.check_room_for(&steps)?;
            let mut undone = store.undone_by(&plan);
            undone.truncate(UNDONE_RUNS_MAX);
            let draft = plan::Plan {
                at: plan.at.into_iter().collect(),
                undone,
                ..plan::Plan::of_owner(path, steps)
            };
            let answer = store.commit(draft, undo.command(), context)?;
            Ok((plan, Some(answer.meta)))
        })
    }

    /// The last moment at which something was at a path that is not there now, or has expired.
    ///
    /// # Errors
    /// [`Error::NotThere`] if nothing like that is or was at the path.
    ///
    /// # Panics
    /// Never: history has a newest event.
    pub fn before_it_went(&mut self, path: &MemoryPath) -> Result<Revision> {
        self.in_history(|store| {
            let living = store.living();
            if living.at(path).is_some() || living.is_directory(path) {
                return Err(Error::Invalid {
                    what: "a restore without a moment",
                    why: "it is there: say which moment it is to be brought back to, with --from"
                        .into(),
                });
            }
            let newest = store.timeline().len() - 1;
            if store.catalog.at(path).is_some() {
                return Ok(Revision::event(newest));
            }
            let ever = store.timeline().ever_within(path).into_iter();
            let removed = ever.filter_map(|id| store.timeline().removed(id)).max();
            removed
                .and_then(|event| event.checked_sub(1))
                .map(Revision::event)
                .ok_or_else(|| {
                    let moment = store.timeline().moment(newest).expect("the newest event");
                    not_there(path, moment, store.timeline())
                })
        })
    }

    /// The events of a plan that changed a memory which is not left as it is.
    fn undone_by(&self, plan: &Plan) -> Vec<(u64, u64)> {
        let left: HashSet<MemoryId> = plan.conflicts.iter().map(|found| found.id).collect();
        let is_undone = |event: &u64| {
            let mut parts = self.timeline().parts_of(*event).into_iter();
            parts.any(|part| part.change.alters() && !left.contains(&part.of.id))
        };
        let all = plan.undone.iter().flat_map(|(first, last)| *first..=*last);
        let undone: Vec<u64> = all.filter(is_undone).collect();
        revert::runs(&undone)
    }

    fn settled(&mut self, undo: &Undo) -> Result<(Settled, Option<Place>)> {
        let mut aim = match undo {
            Undo::Restore { path, from } => self.aim_restore(path, from)?,
            Undo::Revert(selection) => self.aim_revert(selection)?,
            Undo::Rollback { to } => self.aim_rollback(to)?,
        };
        let path = aim.path.take();
        Ok((self.settle(undo.command(), aim)?, path))
    }

    /// The later changes of a memory that nobody undoes, newest first.
    pub(super) fn on_top(&self, events: impl Iterator<Item = u64>) -> Vec<OnTop> {
        let timeline = self.timeline();
        let known = |event: u64| {
            let (actor, session) = timeline.who(event)?;
            Some(OnTop {
                event,
                time: timeline.time(event)?,
                actor: actor.map(str::to_owned),
                session: session.map(str::to_owned),
                command: timeline.command(event)?.0.to_owned(),
            })
        };
        events.take(ON_TOP_MAX).filter_map(known).collect()
    }
}
