//! Holds: what must not go away, whatever the policy says and whoever asks.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::{Catalog, StepFault};
use crate::event::{
    Change, Event, HOLD_ADD_COMMAND, HOLD_RM_COMMAND, HoldChange, HoldOn, Outcome, Touch,
};
use crate::id::MemoryId;
use crate::memory_tool::path::MemoryPath;
use crate::redact::Glob;

/// A hold that is in force.
pub(crate) struct Hold {
    pub(crate) on: HoldOn,
    /// The same, ready to be tried.
    glob: Option<Glob>,
    /// Memories a glob fitted once, that have other paths by now.
    pub(super) bound: BTreeSet<MemoryId>,
    pub(crate) since: DateTime<Utc>,
    pub(crate) actor: Option<String>,
    pub(crate) reason: Option<String>,
}

/// What an event does about holds.
pub(super) struct HoldStep {
    pub(super) change: HoldChange,
    pub(super) millis: i64,
    pub(super) actor: Option<String>,
    pub(super) reason: Option<String>,
}

/// A hold as the catalog file keeps it.
#[derive(PartialEq, Serialize, Deserialize)]
pub(super) struct HoldRow {
    number: u64,
    on: HoldOn,
    bound: Vec<[u8; 16]>,
    millis: i64,
    actor: Option<String>,
    reason: Option<String>,
}

impl HoldStep {
    pub(super) fn of(event: &Event) -> Option<Self> {
        let change = event.hold.clone()?;
        let is_such = matches!(event.command.as_str(), HOLD_ADD_COMMAND | HOLD_RM_COMMAND);
        (is_such && event.outcome == Outcome::Ok).then(|| Self {
            change,
            millis: event.time.timestamp_millis(),
            actor: event.actor.clone(),
            reason: event.reason.clone(),
        })
    }
}

impl Hold {
    fn new(
        on: HoldOn,
        since: DateTime<Utc>,
        actor: Option<String>,
        reason: Option<String>,
    ) -> Result<Self, StepFault> {
        let glob = match &on {
            HoldOn::Memory(_) => None,
            HoldOn::Glob(glob) => {
                Some(Glob::parse(glob).map_err(|_| "the glob of its hold does not parse")?)
            }
        };
        Ok(Self {
            on,
            glob,
            bound: BTreeSet::new(),
            since,
            actor,
            reason,
        })
    }

    /// Whether it is on a memory that is, or was last, at a path.
    pub(crate) fn is_on(&self, id: MemoryId, path: Option<&MemoryPath>) -> bool {
        self.on == HoldOn::Memory(id) || self.bound.contains(&id) || self.fits(path)
    }

    fn fits(&self, path: Option<&MemoryPath>) -> bool {
        self.glob
            .as_ref()
            .zip(path)
            .is_some_and(|(glob, path)| glob.fits(path.as_str()))
    }

    pub(super) fn to_row(&self, number: u64) -> HoldRow {
        HoldRow {
            number,
            on: self.on.clone(),
            bound: self.bound.iter().map(|id| id.0).collect(),
            millis: self.since.timestamp_millis(),
            actor: self.actor.clone(),
            reason: self.reason.clone(),
        }
    }
}

impl HoldRow {
    pub(super) fn restore(self) -> Option<(u64, Hold)> {
        let since = DateTime::from_timestamp_millis(self.millis)?;
        let mut hold = Hold::new(self.on, since, self.actor, self.reason).ok()?;
        hold.bound = self.bound.into_iter().map(MemoryId).collect();
        Some((self.number, hold))
    }
}

impl Catalog {
    pub(super) fn follow_hold(&mut self, step: &HoldStep, number: u64) -> Result<(), StepFault> {
        self.retention_changed = true;
        match &step.change {
            HoldChange::Add(on) => {
                let since = DateTime::from_timestamp_millis(step.millis);
                let since = since.ok_or("its time is not one")?;
                let hold = Hold::new(on.clone(), since, step.actor.clone(), step.reason.clone())?;
                self.holds.insert(number, hold);
                Ok(())
            }
            HoldChange::Lift(hold) => {
                let lifted = self.holds.remove(hold);
                lifted.map(drop).ok_or("it lifts a hold that there is not")
            }
        }
    }

    /// Whether another catalog says the same of what is to go and what is to stay.
    pub(crate) fn retains_as(&self, other: &Self) -> bool {
        let holds = |catalog: &Self| -> Vec<HoldRow> {
            let holds = catalog.holds.iter();
            holds.map(|(number, hold)| hold.to_row(*number)).collect()
        };
        let rest = |catalog: &Self| (catalog.swept, catalog.erased, catalog.keys);
        rest(self) == rest(other) && self.marked == other.marked && holds(self) == holds(other)
    }

    /// A memory that leaves the paths of a hold stays held.
    pub(super) fn bind_moved(&mut self, id: MemoryId, from: &MemoryPath, to: &MemoryPath) {
        if from == to {
            return;
        }
        for hold in self.holds.values_mut() {
            if hold.fits(Some(from)) && !hold.fits(Some(to)) {
                hold.bound.insert(id);
                self.retention_changed = true;
            }
        }
    }

    /// Whether a touch takes away what a hold keeps, as far as can be told without all of history:
    /// by the memory's id, or by its path if it is there.
    pub(crate) fn takes_held(&self, touch: &Touch) -> bool {
        let takes = touch.change.removes() || matches!(touch.change, Change::Mark | Change::Erase);
        let path = || self.memory(touch.id).map(|memory| &memory.path);
        takes && !self.holds.is_empty() && self.hold_on(touch.id, path()).is_some()
    }

    /// The first hold that is on a memory.
    pub(crate) fn hold_on(&self, id: MemoryId, path: Option<&MemoryPath>) -> Option<u64> {
        let mut holds = self.holds.iter();
        holds
            .find(|(_, hold)| hold.is_on(id, path))
            .map(|(number, _)| *number)
    }
}
