//! What one event does to the catalog.

use std::collections::{BTreeSet, VecDeque};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::crypto::digest::Digest;
use crate::event::{
    ACCEPT_COMMAND, Change, EXPIRE_COMMAND, Event, HOLD_ADD_COMMAND, HOLD_RM_COMMAND, HoldChange,
    HoldOn, OWNER_COMMANDS, Outcome, Touch,
};
use crate::id::{MemoryId, ObjectId};
use crate::keyring::KeyCommitment;
use crate::memory_tool::path::MemoryPath;
use crate::redact::Glob;
use crate::state::catalog::row::{MemoryRow, RetentionRow, StateRow};
use crate::state::catalog::{Catalog, row};
use crate::version;

/// What one event does to the catalog.
pub(crate) struct Step {
    pub(super) head: ObjectId,
    pub(super) number: u64,
    pub(super) millis: i64,
    pub(super) touches: Vec<TouchStep>,
    pub(super) swept: bool,
    pub(super) erased: Option<(u64, u64)>,
    pub(super) hold: Option<HoldStep>,
    /// The commit before it, which a proof of new keys names.
    pub(super) parent: Option<Digest>,
    pub(super) keys: Option<KeyCommitment>,
    pub(super) may_change_keys: bool,
    pub(super) accepts_keys: bool,
    pub(super) recorded: Option<Recorded>,
    pub(super) commit_bytes: u64,
}

/// What it does to one memory.
pub(super) struct TouchStep {
    pub(super) id: MemoryId,
    pub(super) change: Change,
    /// In canonical form; absent if the memory's name key is gone.
    pub(super) path: Option<String>,
    pub(super) version: u64,
    pub(super) bytes: u64,
    pub(super) blob: Option<(ObjectId, Digest)>,
}

/// Why an event does not fit the state it comes after.
pub(crate) type StepFault = &'static str;

impl Step {
    /// What an event does whose commit object has so many bytes.
    pub(crate) fn of(event: &Event, head: ObjectId, commit_bytes: u64) -> Self {
        let touch = |touch: &Touch| TouchStep {
            id: touch.id,
            change: match touch.change {
                // Only what erases says so.
                Change::Mark | Change::Erase if !event.erases() => Change::None,
                change => change,
            },
            path: touch.path.as_ref().map(|path| path.as_str().to_owned()),
            version: touch.version,
            bytes: touch.bytes,
            blob: touch.blob,
        };
        Self {
            head,
            number: event.number,
            millis: event.time.timestamp_millis(),
            touches: event.memories.iter().map(touch).collect(),
            swept: event.command == EXPIRE_COMMAND && event.outcome == Outcome::Ok,
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
            recorded: Recorded::of(event),
            commit_bytes,
        }
    }

    /// What it adds to history: its commit, and the versions it writes.
    pub(super) fn history_bytes(&self) -> u64 {
        let written = self.touches.iter().filter(|touch| touch.change.writes());
        let versions = written.map(|touch| version::history_bytes(touch.bytes));
        versions.fold(self.commit_bytes, u64::saturating_add)
    }
}

// Holds: what must not go away, whatever the policy says and whoever asks.

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

// How many events each session recorded within the last minute: what the limit on them goes by.

/// Milliseconds that are counted together.
const SECOND: u64 = 1_000;
/// How long an event counts: a minute, and what was left of the second it was in.
const SECONDS: u64 = 61;
/// Most counts that are kept, one for each session and second: some seventy sessions that never
/// pause. Beyond that the oldest go first.
const COUNTS_MAX: usize = 4_096;

/// The agents' events of the last minute.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Recent {
    /// Milliseconds from each event to the next, all together. Where the clock ran back it is as if
    /// none had passed.
    pub(super) passed: u64,
    counts: VecDeque<Count>,
}

/// What one session recorded within one second.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Count {
    second: u64,
    session: u64,
    events: u64,
    refused: bool,
}

/// An event of an agent's command.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Recorded {
    session: u64,
    /// Whether it says that the session's events were too many.
    refused: bool,
}

/// What a session recorded within the last minute.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Lately {
    pub(crate) events: u64,
    /// Whether it was told that they are too many.
    pub(crate) refused: bool,
}

/// Whether what comes through a door is an agent's, also what looks into the past.
pub(crate) fn is_of_agents(door: &str) -> bool {
    matches!(door, "mcp" | "tool")
}

impl Recorded {
    #[cfg(test)]
    pub(super) fn by(session: u64, refused: bool) -> Self {
        Self { session, refused }
    }

    /// `None` for what an owner's command recorded, unless an agent gave it.
    pub(super) fn of(event: &Event) -> Option<Self> {
        let is_owners = OWNER_COMMANDS.contains(&event.command.as_str());
        (!is_owners || is_of_agents(&event.door)).then(|| Self {
            session: name(event.session.as_deref()),
            refused: event.refuses_too_many(),
        })
    }
}

impl Recent {
    /// Lets time pass until the next event.
    pub(super) fn pass(&mut self, millis: u64) {
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
    pub(super) fn add(&mut self, recorded: Recorded) {
        let second = self.passed / SECOND;
        let mut newest =
            { self.counts.iter_mut().rev() }.take_while(|count| count.second == second);
        let Recorded { session, refused } = recorded;
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

    /// What a session has recorded within a minute, so many milliseconds after the last event.
    pub(crate) fn of(&self, session: Option<&str>, millis: u64) -> Lately {
        let (session, now) = (name(session), self.passed.saturating_add(millis) / SECOND);
        let counts = self.counts.iter();
        let own = counts.filter(|count| count.session == session && count.counts_at(now));
        own.fold(
            Lately {
                events: 0,
                refused: false,
            },
            |all, count| Lately {
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

/// What a session goes by here. Events without one are those of one session.
fn name(session: Option<&str>) -> u64 {
    let digest = Digest::of(session.unwrap_or_default().as_bytes());
    u64::from_le_bytes(*digest.0.first_chunk().expect("long enough"))
}

// A whole catalog in one piece, for what is kept outside the store.

#[derive(Serialize, Deserialize)]
struct Snapshot<'a> {
    state: StateRow,
    retention: RetentionRow,
    recent: Recent,
    /// In the order of a listing.
    #[serde(borrow)]
    memories: Vec<MemoryRow<'a>>,
}

/// A catalog as bytes that [`from_snapshot`] reads; to be sealed. `None` before the first event.
pub(crate) fn to_snapshot(catalog: &Catalog) -> Option<Zeroizing<Vec<u8>>> {
    let snapshot = Snapshot {
        state: StateRow::of(catalog)?,
        retention: RetentionRow::of(catalog),
        recent: catalog.recent.clone(),
        memories: catalog.memories().map(MemoryRow::of).collect(),
    };
    Some(row::encode(&snapshot))
}

/// The catalog that [`to_snapshot`] wrote.
pub(crate) fn from_snapshot(plain: &[u8]) -> Option<Catalog> {
    let snapshot: Snapshot = postcard::from_bytes(plain).ok()?;
    let mut catalog = Catalog::empty();
    snapshot.state.restore(&mut catalog)?;
    snapshot.retention.restore(&mut catalog)?;
    catalog.recent = snapshot.recent;
    for row in snapshot.memories {
        catalog.rows.put(row.restore()?);
    }
    Some(catalog)
}
