//! The catalog: the state of a store as a fold over its events — which memory is at which path.
//!
//! The file `catalog` holds a sealed copy, so that opening does not read all of history. It can
//! be thrown away: the same fold makes it again.

pub(crate) mod file;
mod hold;

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

pub(crate) use self::hold::Hold;
use self::hold::HoldStep;
use crate::digest::Digest;
use crate::event::{Change, EXPIRE_COMMAND, Event, Outcome, PublicFile, Touch};
use crate::id::MemoryId;
use crate::path::MemoryPath;
use crate::repository::object::ObjectId;

/// A live memory.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Memory {
    pub(crate) id: MemoryId,
    pub(crate) path: MemoryPath,
    pub(crate) version: u64,
    /// Bytes of text.
    pub(crate) bytes: u64,
    pub(crate) blob: ObjectId,
    /// SHA-256 of that blob.
    pub(crate) sealed: Digest,
    /// The version before this one, where it had the same path.
    pub(crate) before: Option<ObjectId>,
    /// When its text was last read or written by somebody whose clock was the latest.
    pub(crate) accessed: DateTime<Utc>,
}

impl Memory {
    /// Whether no key opens its path.
    pub(crate) fn is_nameless(&self) -> bool {
        self.path.as_str().starts_with(NAMELESS)
    }
}

/// Every live memory, and where in history this is true.
pub(crate) struct Catalog {
    /// The commit up to which events are folded in; `None` before the first.
    pub(crate) head: Option<ObjectId>,
    /// How many events there were.
    pub(crate) events: u64,
    /// How many versions were ever written.
    pub(crate) versions: u64,
    pub(crate) times: Times,
    /// The blobs of `agekeep.toml`, `recipients` and `signers` that the store's owner decided on.
    pub(crate) decided: Option<Decided>,
    /// When a sweep last was carried out, and its event.
    pub(crate) swept: Option<(DateTime<Utc>, u64)>,
    /// The numbers of the epoch key and the names key since the last erasure: a keyring with lower
    /// ones is a copy from before it.
    pub(crate) erased: Option<(u64, u64)>,
    /// Memories whose keys are to be destroyed, each with the event that says so.
    pub(crate) marked: BTreeMap<MemoryId, u64>,
    /// What must not go away, by the number of the event the hold began with.
    pub(crate) holds: BTreeMap<u64, Hold>,
    memories: HashMap<MemoryId, Memory>,
    /// Keys are paths with `/` as NUL, which no path holds: so order is by segment, and what is
    /// below a directory is one range.
    paths: BTreeMap<String, MemoryId>,
    bytes: u64,
}

/// How far a clock may be behind the latest event before a sweep does not go by it: what setting
/// it right now and then can come to.
const CLOCK_BEHIND_MAX: TimeDelta = TimeDelta::seconds(60);
/// The longest time without an event after which a sweep still believes the clock: a year. A store
/// that is swept daily has events daily.
const CLOCK_AHEAD_MAX: TimeDelta = TimeDelta::days(366);

/// Why a sweep does not go by the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClockFault {
    /// It is behind an event of this time.
    Behind(DateTime<Utc>),
    /// It leapt from the first time to the second, ahead or back.
    Leapt(DateTime<Utc>, DateTime<Utc>),
}

/// When events were.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Times {
    /// The time of the last event.
    pub(crate) last: Option<DateTime<Utc>>,
    /// The latest time of any event.
    latest: Option<DateTime<Utc>>,
    /// Up to here events are not in the order of their times: the latest time of one that another
    /// followed whose clock was behind.
    uneven: Option<DateTime<Utc>>,
    /// The latest time of any event since a sweep last went by the clock.
    believed: Option<DateTime<Utc>>,
    /// The first leap since then, ahead or back: from when to when.
    leap: Option<(DateTime<Utc>, DateTime<Utc>)>,
}

impl Times {
    /// Takes the time of the next event, which may be that of a sweep: its clock was believed.
    pub(crate) fn pass(&mut self, time: DateTime<Utc>, swept: bool) {
        if swept {
            (self.believed, self.leap) = (Some(time), None);
        } else {
            if self.leap.is_none() {
                let before = self
                    .believed
                    .filter(|before| *before - time > CLOCK_BEHIND_MAX);
                let back = before.map(|before| (before, time));
                self.leap = self.leap_to(time).or(back);
            }
            self.believed = self.believed.max(Some(time));
        }
        if self.latest.is_some_and(|latest| time < latest) {
            self.uneven = self.latest;
        }
        self.last = Some(time);
        self.latest = self.latest.max(self.last);
    }

    fn leap_to(&self, time: DateTime<Utc>) -> Option<(DateTime<Utc>, DateTime<Utc>)> {
        let before = self.believed?;
        (time - before > CLOCK_AHEAD_MAX).then_some((before, time))
    }

    /// What is wrong with a clock that says it is now.
    pub(crate) fn clock_fault(&self, now: DateTime<Utc>) -> Option<ClockFault> {
        let behind = self
            .believed
            .filter(|latest| *latest - now > CLOCK_BEHIND_MAX);
        let leap = self.leap.or_else(|| self.leap_to(now));
        behind
            .map(ClockFault::Behind)
            .or(leap.map(|(from, to)| ClockFault::Leapt(from, to)))
    }

    /// Whether all that was later than this also came behind what was not.
    pub(crate) fn part_at(&self, time: DateTime<Utc>) -> bool {
        self.uneven <= Some(time)
    }
}

/// The three blobs only a command that says so may change.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Decided {
    pub(crate) policy: ObjectId,
    pub(crate) recipients: ObjectId,
    pub(crate) signers: ObjectId,
}

impl Decided {
    /// Whether these may be followed by `next`: nothing differs but what the command says.
    pub(crate) fn may_become(self, next: Self, said: Option<PublicFile>) -> bool {
        PublicFile::ALL
            .into_iter()
            .all(|file| said == Some(file) || self.blob(file) == next.blob(file))
    }

    /// Takes another blob for a file.
    pub(crate) fn put(&mut self, file: PublicFile, blob: ObjectId) {
        match file {
            PublicFile::Policy => self.policy = blob,
            PublicFile::Recipients => self.recipients = blob,
            PublicFile::Signers => self.signers = blob,
        }
    }

    fn blob(self, file: PublicFile) -> ObjectId {
        match file {
            PublicFile::Policy => self.policy,
            PublicFile::Recipients => self.recipients,
            PublicFile::Signers => self.signers,
        }
    }
}

/// What one event does to the catalog; the part of it that the catalog file keeps.
#[derive(Serialize, Deserialize)]
pub(crate) struct Step {
    head: ObjectId,
    number: u64,
    millis: i64,
    touches: Vec<TouchStep>,
    swept: bool,
    erased: Option<(u64, u64)>,
    hold: Option<HoldStep>,
}

#[derive(Serialize, Deserialize)]
struct TouchStep {
    id: MemoryId,
    change: Change,
    /// In canonical form; absent if the memory's name key is gone.
    path: Option<String>,
    version: u64,
    bytes: u64,
    blob: Option<(ObjectId, Digest)>,
}

/// Why an event does not fit the state it comes after.
pub(crate) type StepFault = &'static str;

impl Step {
    pub(crate) fn of(event: &Event, head: ObjectId) -> Self {
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
        }
    }
}

impl Catalog {
    /// The state before the first event.
    pub(crate) fn empty() -> Self {
        Self {
            head: None,
            events: 0,
            versions: 0,
            times: Times::default(),
            decided: None,
            swept: None,
            erased: None,
            marked: BTreeMap::new(),
            holds: BTreeMap::new(),
            memories: HashMap::new(),
            paths: BTreeMap::new(),
            bytes: 0,
        }
    }

    /// Folds in the next event.
    pub(crate) fn apply(&mut self, step: &Step) -> Result<(), StepFault> {
        if step.number != self.events {
            return Err("its event number is not the next");
        }
        let time = DateTime::from_timestamp_millis(step.millis).ok_or("its time is not one")?;
        if let Some(hold) = &step.hold {
            self.follow_hold(hold, step.number)?;
        }
        self.fold(step, time)?;
        self.events += 1;
        self.pass(step, time);
        Ok(())
    }

    /// What an event does that is about no memory.
    fn pass(&mut self, step: &Step, time: DateTime<Utc>) {
        self.head = Some(step.head);
        self.times.pass(time, step.swept);
        if step.swept {
            self.swept = Some((time, step.number));
        }
        // They only rise: a keyring that was known for a copy stays one.
        let (epoch, names) = self.erased.unwrap_or_default();
        self.erased = step
            .erased
            .map(|new| (new.0.max(epoch), new.1.max(names)))
            .or(self.erased);
    }

    /// Folds in what one event did, as one change: whatever it writes leaves its old path before
    /// anything takes a new one, so that two memories can change places.
    fn fold(&mut self, step: &Step, time: DateTime<Utc>) -> Result<(), StepFault> {
        const UNKNOWN: StepFault = "it touches a memory that is not there";
        let mut written = Vec::new();
        for touch in &step.touches {
            match touch.change {
                Change::None | Change::Look => {}
                Change::Read => {
                    let memory = self.memories.get_mut(&touch.id).ok_or(UNKNOWN)?;
                    memory.accessed = memory.accessed.max(time);
                }
                Change::Remove | Change::Expire => drop(self.take(touch.id).ok_or(UNKNOWN)?),
                Change::Mark | Change::Erase if self.memories.contains_key(&touch.id) => {
                    return Err("it erases a memory that is there");
                }
                Change::Mark | Change::Erase => self.follow_erasure(touch, step.number),
                change if change.writes() => written.push((touch, self.take(touch.id))),
                _ => unreachable!("what neither reads, removes nor erases writes"),
            }
        }
        for (touch, old) in written {
            self.write(touch, old, time)?;
        }
        Ok(())
    }

    fn write(
        &mut self,
        touch: &TouchStep,
        old: Option<Memory>,
        time: DateTime<Utc>,
    ) -> Result<(), StepFault> {
        let path = match &touch.path {
            Some(path) => MemoryPath::from_canonical(path.clone()),
            None => MemoryPath::from_canonical(format!("{NAMELESS}{}", touch.id)),
        };
        let (blob, sealed) = touch.blob.ok_or("it writes a version and names no blob")?;
        let fits = match (touch.change, &old) {
            (Change::Add, None) => touch.version == 1,
            // Which version a memory had that is gone, only its history says.
            (Change::Restore, None) => touch.version > 1 && !self.marked.contains_key(&touch.id),
            (Change::Edit | Change::Move | Change::Reseal | Change::Redact, Some(old)) => {
                old.version + 1 == touch.version
            }
            _ => false,
        };
        if !fits {
            return Err("the version it writes is not the next");
        }
        if self.memories.contains_key(&touch.id) {
            return Err("it writes one memory twice");
        }
        if self.paths.contains_key(&key(&path)) {
            return Err("it writes to a path that is taken");
        }
        self.put(touch, old, path, (blob, sealed), time);
        Ok(())
    }

    /// Puts a memory at a path that is free, in the version a touch wrote.
    fn put(
        &mut self,
        touch: &TouchStep,
        old: Option<Memory>,
        path: MemoryPath,
        (blob, sealed): (ObjectId, Digest),
        time: DateTime<Utc>,
    ) {
        self.versions += 1;
        self.bytes = self.bytes.saturating_add(touch.bytes);
        self.paths.insert(key(&path), touch.id);
        let accessed = match &old {
            Some(old) if matches!(touch.change, Change::Reseal | Change::Redact) => old.accessed,
            Some(old) => old.accessed.max(time),
            None => time,
        };
        if let Some(old) = &old {
            self.bind_moved(touch.id, &old.path, &path);
        }
        let memory = Memory {
            id: touch.id,
            before: old.filter(|old| old.path == path).map(|old| old.blob),
            path,
            version: touch.version,
            bytes: touch.bytes,
            blob,
            sealed,
            accessed,
        };
        self.memories.insert(touch.id, memory);
    }

    fn take(&mut self, id: MemoryId) -> Option<Memory> {
        let memory = self.memories.remove(&id)?;
        self.paths.remove(&key(&memory.path));
        self.bytes = self.bytes.saturating_sub(memory.bytes);
        Some(memory)
    }

    /// Takes an event at its word that does not fit the state, so that later ones can be followed.
    pub(crate) fn assume(&mut self, step: &Step) {
        let time = DateTime::from_timestamp_millis(step.millis);
        let time = time.or(self.times.last).unwrap_or_default();
        if let Some(hold) = &step.hold {
            // One that cannot be followed is said where the event is checked.
            let _ = self.follow_hold(hold, step.number);
        }
        for touch in &step.touches {
            match touch.change {
                Change::None | Change::Look => {}
                Change::Read => {
                    if let Some(memory) = self.memories.get_mut(&touch.id) {
                        memory.accessed = memory.accessed.max(time);
                    }
                }
                Change::Remove | Change::Expire => self.forget(touch.id),
                Change::Mark | Change::Erase => {
                    self.forget(touch.id);
                    self.follow_erasure(touch, step.number);
                }
                change if change.writes() => {
                    let old = self.take(touch.id);
                    self.assume_written(touch, old, time);
                }
                _ => unreachable!("what neither reads, removes nor erases writes"),
            }
        }
        self.events = step.number.saturating_add(1);
        self.pass(step, time);
    }

    /// A memory that is to be erased, or is.
    fn follow_erasure(&mut self, touch: &TouchStep, event: u64) {
        if touch.change == Change::Mark {
            self.marked.insert(touch.id, event);
        } else {
            self.marked.remove(&touch.id);
        }
    }

    fn assume_written(&mut self, touch: &TouchStep, old: Option<Memory>, time: DateTime<Utc>) {
        let Some(written) = touch.blob else {
            return;
        };
        let said = touch.path.clone().map(MemoryPath::from_canonical);
        let path = said
            .filter(|path| !self.paths.contains_key(&key(path)))
            .unwrap_or_else(|| MemoryPath::from_canonical(format!("{NAMELESS}{}", touch.id)));
        self.put(touch, old, path, written, time);
    }

    /// Lets go of a memory whose state is not known any more.
    pub(crate) fn forget(&mut self, id: MemoryId) {
        drop(self.take(id));
    }

    /// A live memory by its id.
    pub(crate) fn memory(&self, id: MemoryId) -> Option<&Memory> {
        self.memories.get(&id)
    }

    /// The memory at a path.
    pub(crate) fn at(&self, path: &MemoryPath) -> Option<&Memory> {
        self.paths.get(&key(path)).map(|id| &self.memories[id])
    }

    /// Every memory below a directory, in the order of a listing.
    pub(crate) fn below(&self, directory: &MemoryPath) -> impl Iterator<Item = &Memory> {
        let first = key(directory) + "\0";
        let end = key(directory) + "\u{1}";
        self.paths
            .range::<String, _>((Bound::Included(first), Bound::Excluded(end)))
            .map(|(_, id)| &self.memories[id])
    }

    /// Whether something is below this path; `/memories` always exists.
    pub(crate) fn is_directory(&self, path: &MemoryPath) -> bool {
        path.is_root() || self.below(path).next().is_some()
    }

    /// A live memory whose path no key opens, if there is one.
    pub(crate) fn nameless(&self) -> Option<MemoryId> {
        self.memories
            .values()
            .find(|memory| memory.is_nameless())
            .map(|memory| memory.id)
    }

    /// Every live memory, in no order.
    pub(crate) fn memories(&self) -> impl Iterator<Item = &Memory> {
        self.memories.values()
    }

    /// How many memories there are.
    pub(crate) fn len(&self) -> usize {
        self.memories.len()
    }

    /// Bytes of text in all of them.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// Begins what stands for a path whose name key is gone. It holds a control character, so nothing
/// can ask for it, and goes on with the memory id, so that history folds on to the event that
/// removes the memory.
const NAMELESS: &str = "/memories/\u{1}";

fn key(path: &MemoryPath) -> String {
    path.as_str().replace('/', "\0")
}
