//! The effect of one event on the catalog.

use std::collections::{BTreeSet, VecDeque};

use chrono::{DateTime, SubsecRound, Utc};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::crypto::digest::Digest;
use crate::event::{
    ACCEPT_COMMAND, ADMINISTRATIVE_COMMANDS, Change, EXPIRE_COMMAND, Event, HOLD_ADD_COMMAND,
    HOLD_RM_COMMAND, HoldChange, HoldOn, MemoryChange, Outcome,
};
use crate::id::{MemoryId, ObjectId};
use crate::keyring::KeyCommitment;
use crate::memory_tool::path::MemoryPath;
use crate::redact::Glob;
use crate::state::catalog::Catalog;
use crate::state::catalog::row::{self, MemoryRow, RetentionRow, StateRow};
use crate::version;

/// The effect of one event on the catalog.
#[allow(clippy::struct_excessive_bools)] // each is a fact of its own
pub(crate) struct Step {
    pub(super) head: ObjectId,
    pub(super) number: u64,
    /// The time of the event, to the millisecond.
    pub(super) time: DateTime<Utc>,
    pub(super) touches: Vec<MemoryChange>,
    pub(super) swept: bool,
    pub(super) trial: bool,
    pub(super) erased: Option<(u64, u64)>,
    pub(super) hold: Option<HoldStep>,
    /// The digest of the previous commit, which a proof of new keys names.
    pub(super) parent: Option<Digest>,
    pub(super) keys: Option<KeyCommitment>,
    pub(super) may_change_keys: bool,
    pub(super) accepts_keys: bool,
    pub(super) recorded: Option<AgentEvent>,
    pub(super) commit_bytes: u64,
}

/// The reason an event does not fit the state before it.
pub(crate) type StepFault = &'static str;

impl Step {
    /// Returns the effect of an event whose commit object has `commit_bytes` bytes.
    pub(crate) fn of(event: &Event, head: ObjectId, commit_bytes: u64) -> Self {
        let touch = |touch: &MemoryChange| MemoryChange {
            change: match touch.change {
                // Marks and erasures count only in an event that erases.
                Change::Mark | Change::Erase if !event.erases() => Change::None,
                change => change,
            },
            ..touch.clone()
        };
        Self {
            head,
            number: event.number,
            time: event.time.trunc_subsecs(3),
            touches: event.memories.iter().map(touch).collect(),
            swept: event.command == EXPIRE_COMMAND && event.outcome == Outcome::Ok,
            trial: event.trial && event.number == 0,
            erased: event
                .receipt
                .as_ref()
                .filter(|_| event.erases())
                .map(|receipt| (receipt.epoch.1, receipt.names.1)),
            hold: HoldStep::of(event),
            parent: event.parent,
            keys: event.keys,
            may_change_keys: event.may_change_keys(),
            accepts_keys: event.command == ACCEPT_COMMAND,
            recorded: AgentEvent::of(event),
            commit_bytes,
        }
    }

    /// Returns the bytes it adds to history: its commit and the versions it writes.
    pub(super) fn history_bytes(&self) -> u64 {
        let written = self.touches.iter().filter(|touch| touch.change.writes());
        let versions = written.map(|touch| version::history_bytes(touch.bytes));
        versions.fold(self.commit_bytes, u64::saturating_add)
    }
}

// Holds: memories that must not be removed, whatever the policy says and whoever asks.

/// A hold in force.
pub(crate) struct Hold {
    pub(crate) on: HoldOn,
    /// The parsed glob of `on`.
    glob: Option<Glob>,
    /// Memories that the glob once fitted and that have moved elsewhere since.
    pub(super) bound: BTreeSet<MemoryId>,
    pub(crate) since: DateTime<Utc>,
    pub(crate) actor: Option<String>,
    pub(crate) reason: Option<String>,
}

/// The effect of an event on holds.
pub(super) struct HoldStep {
    pub(super) change: HoldChange,
    pub(super) actor: Option<String>,
    pub(super) reason: Option<String>,
}

/// A hold as the catalog file stores it.
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

    /// Tells whether the hold covers a memory whose present or last path is `path`.
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
    pub(super) fn follow_hold(&mut self, step: &Step) -> Result<(), StepFault> {
        let Some(hold) = &step.hold else {
            return Ok(());
        };
        self.retention_changed = true;
        match &hold.change {
            HoldChange::Add(on) => {
                let (actor, reason) = (hold.actor.clone(), hold.reason.clone());
                let hold = Hold::new(on.clone(), step.time, actor, reason)?;
                self.holds.insert(step.number, hold);
                Ok(())
            }
            HoldChange::Lift(hold) => {
                let lifted = self.holds.remove(hold);
                lifted.map(drop).ok_or("it lifts a hold that there is not")
            }
        }
    }

    /// Tells whether another catalog agrees on marks, holds, the last sweep, the last erasure, the
    /// keys, and whether the store is for trials.
    pub(crate) fn retains_as(&self, other: &Self) -> bool {
        let holds = |catalog: &Self| -> Vec<HoldRow> {
            let holds = catalog.holds.iter();
            holds.map(|(number, hold)| hold.to_row(*number)).collect()
        };
        let rest = |catalog: &Self| {
            let sweeps = (catalog.swept, catalog.erased);
            (sweeps, catalog.keys, catalog.is_trial)
        };
        rest(self) == rest(other) && self.marked == other.marked && holds(self) == holds(other)
    }

    /// Keeps a memory held when it leaves the paths of a hold.
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

    /// Tells whether a touch removes or erases a held memory. Without all of history, only the
    /// memory's id and, if it is live, its path are checked.
    pub(crate) fn takes_held(&self, touch: &MemoryChange) -> bool {
        let takes = touch.change.removes() || matches!(touch.change, Change::Mark | Change::Erase);
        let path = || self.memory(touch.id).map(|memory| &memory.path);
        takes && !self.holds.is_empty() && self.hold_on(touch.id, path()).is_some()
    }

    /// Returns the first hold that covers a memory.
    pub(crate) fn hold_on(&self, id: MemoryId, path: Option<&MemoryPath>) -> Option<u64> {
        let mut holds = self.holds.iter();
        holds
            .find(|(_, hold)| hold.is_on(id, path))
            .map(|(number, _)| *number)
    }
}

// Event counts of each session for the last minute, which the rate limit goes by.

/// Milliseconds counted together.
const SECOND: u64 = 1_000;
/// Seconds for which an event counts: a minute, and the rest of the second it was in.
const SECONDS: u64 = 61;
/// The most counts kept, one for each session and second: some seventy sessions that never pause.
/// Beyond that the oldest are dropped first.
const COUNTS_MAX: usize = 4_096;

/// The agents' events of the last minute.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RateCounter {
    /// The sum of milliseconds from each event to the next. A clock that runs back adds none.
    pub(super) passed: u64,
    counts: VecDeque<Count>,
}

/// The events of one session within one second.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Count {
    second: u64,
    session: u64,
    events: u64,
    refused: bool,
}

/// An event of an agent's command.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AgentEvent {
    session: u64,
    /// True if the event says that the session had too many events.
    refused: bool,
}

/// The events of a session within the last minute.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SessionRate {
    pub(crate) events: u64,
    /// True if the session was told that they are too many.
    pub(crate) refused: bool,
}

/// Tells whether commands through a door are an agent's, looks into the past included.
pub(crate) fn is_of_agents(door: &str) -> bool {
    matches!(door, "mcp" | "tool")
}

impl AgentEvent {
    #[cfg(test)]
    pub(super) fn by(session: u64, refused: bool) -> Self {
        Self { session, refused }
    }

    /// Returns how an event counts; `None` for an owner's command, unless an agent gave it.
    pub(super) fn of(event: &Event) -> Option<Self> {
        let is_owners = ADMINISTRATIVE_COMMANDS.contains(&event.command.as_str());
        (!is_owners || is_of_agents(&event.door)).then(|| Self {
            session: name(event.session.as_deref()),
            refused: event.refuses_too_many(),
        })
    }
}

impl RateCounter {
    /// Lets time pass until the next event.
    pub(super) fn advance(&mut self, millis: u64) {
        self.passed = self.passed.saturating_add(millis);
        let now = self.passed / SECOND;
        while let Some(oldest) = self.counts.front() {
            if oldest.counts_at(now) && self.counts.len() <= COUNTS_MAX {
                return;
            }
            self.counts.pop_front();
        }
    }

    /// Counts an event.
    pub(super) fn add(&mut self, recorded: AgentEvent) {
        let second = self.passed / SECOND;
        let mut newest =
            { self.counts.iter_mut().rev() }.take_while(|count| count.second == second);
        let AgentEvent { session, refused } = recorded;
        if let Some(count) = newest.find(|count| count.session == session) {
            count.events = count.events.saturating_add(1);
            count.refused |= refused;
        } else {
            self.counts.push_back(Count {
                second,
                session,
                events: 1,
                refused,
            });
        }
    }

    /// Returns the last minute's events of a session, `millis` milliseconds after the last event.
    pub(crate) fn of(&self, session: Option<&str>, millis: u64) -> SessionRate {
        let (session, now) = (name(session), self.passed.saturating_add(millis) / SECOND);
        let counts = self.counts.iter();
        let own = counts.filter(|count| count.session == session && count.counts_at(now));
        own.fold(
            SessionRate {
                events: 0,
                refused: false,
            },
            |all, count| SessionRate {
                events: all.events.saturating_add(count.events),
                refused: all.refused || count.refused,
            },
        )
    }
}

impl Count {
    fn counts_at(&self, second: u64) -> bool {
        second < self.second.saturating_add(SECONDS)
    }
}

/// Hashes a session's name to a number. All events without a session count as one session.
fn name(session: Option<&str>) -> u64 {
    let digest = Digest::of(session.unwrap_or_default().as_bytes());
    u64::from_le_bytes(*digest.0.first_chunk().expect("long enough"))
}

// Snapshots: a whole catalog in one piece, to keep outside the store.

#[derive(Serialize, Deserialize)]
struct Snapshot<'a> {
    state: StateRow,
    retention: RetentionRow,
    recent: RateCounter,
    /// In listing order.
    #[serde(borrow)]
    memories: Vec<MemoryRow<'a>>,
    is_trial: bool,
}

/// Encodes a catalog for [`from_snapshot`]; the bytes are to be sealed. `None` before the first
/// event.
pub(crate) fn to_snapshot(catalog: &Catalog) -> Option<Zeroizing<Vec<u8>>> {
    let snapshot = Snapshot {
        state: StateRow::of(catalog)?,
        retention: RetentionRow::of(catalog),
        recent: catalog.recent.clone(),
        memories: catalog.memories().map(MemoryRow::of).collect(),
        is_trial: catalog.is_trial,
    };
    Some(row::encode(&snapshot))
}

/// Decodes a catalog that [`to_snapshot`] encoded.
pub(crate) fn from_snapshot(plain: &[u8]) -> Option<Catalog> {
    let snapshot: Snapshot = postcard::from_bytes(plain).ok()?;
    let mut catalog = Catalog::empty();
    snapshot.state.restore(&mut catalog)?;
    snapshot.retention.restore(&mut catalog)?;
    catalog.recent = snapshot.recent;
    catalog.is_trial = snapshot.is_trial;
    for row in snapshot.memories {
        catalog.rows.put(row.restore()?);
    }
    Some(catalog)
}
