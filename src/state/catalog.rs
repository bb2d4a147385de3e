//! The catalog: the state of a store as a fold over its events — which memory is at which path.
//!
//! The file `catalog` holds a sealed copy, so that opening does not read all of history. It can
//! be thrown away: the same fold makes it again.

pub(crate) mod file;
#[cfg(any(fuzzing, test))]
pub(crate) mod fuzzing;
mod row;
mod rows;
pub(crate) mod step;
#[cfg(test)]
mod tests;
mod tree;

use std::collections::BTreeMap;
use std::ops::Bound;

use chrono::{DateTime, TimeDelta, Utc};

use self::rows::Rows;
pub(crate) use self::step::Step;
use self::step::{StepFault, TouchStep};
use crate::crypto::digest::Digest;
use crate::crypto::sign::AuthorityMark;
use crate::error::Result;
use crate::event::{Change, PublicFile};
use crate::id::{MemoryId, ObjectId};
use crate::keyring::KeyCommitment;
use crate::memory_tool::path::MemoryPath;
use crate::state::catalog::rows::Base;
pub(crate) use crate::state::catalog::rows::Refold;
pub(crate) use crate::state::catalog::step::Hold;
use crate::state::catalog::step::Recent;
use crate::state::catalog::step::Recorded;
pub(crate) use crate::state::catalog::step::is_of_agents;

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
    /// Bytes of what was ever written to history, as docs/format.md counts them (5.4).
    pub(crate) history_bytes: u64,
    /// What each session recorded lately.
    pub(crate) recent: Recent,
    pub(crate) times: Times,
    /// The blobs of `agekeep.toml`, `recipients` and `signers` that the store's owner decided on.
    pub(crate) decided: Option<Decided>,
    /// When a sweep last was carried out, and its event.
    pub(crate) swept: Option<(DateTime<Utc>, u64)>,
    /// The numbers of the epoch key and the names key since the last erasure: a keyring with lower
    /// ones is a copy from before it.
    pub(crate) erased: Option<(u64, u64)>,
    /// The keys in force, and how many entries their tables have at least; `None` in format 1.
    pub(crate) keys: Option<KeyCommitment>,
    /// What stood for the epoch keys before, as long as only erasures came since: a keyring from then
    /// is still used, to destroy again what it brings back.
    keys_before: Vec<AuthorityMark>,
    /// Memories whose keys are to be destroyed, each with the event that says so.
    pub(crate) marked: BTreeMap<MemoryId, u64>,
    /// What must not go away, by the number of the event the hold began with.
    pub(crate) holds: BTreeMap<u64, Hold>,
    rows: Rows,
    /// How many events there were before the last, and what `head` was.
    before: (u64, Option<ObjectId>),
    /// Whether the last event changed what is marked or held.
    retention_changed: bool,
    /// What the last event counts as for its session.
    recorded: Option<Recorded>,
}

/// The three blobs only a command that says so may change.
#[derive(Clone, Copy, PartialEq, Eq)]
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

impl Catalog {
    /// The state before the first event.
    pub(crate) fn empty() -> Self {
        Self {
            head: None,
            events: 0,
            versions: 0,
            history_bytes: 0,
            recent: Recent::default(),
            times: Times::default(),
            decided: None,
            swept: None,
            erased: None,
            keys: None,
            keys_before: Vec::new(),
            marked: BTreeMap::new(),
            holds: BTreeMap::new(),
            rows: Rows::default(),
            before: (0, None),
            retention_changed: false,
            recorded: None,
        }
    }

    /// Folds in the next event.
    pub(crate) fn apply(&mut self, step: &Step) -> std::result::Result<(), StepFault> {
        self.begin();
        if step.number != self.events {
            return Err("its event number is not the next");
        }
        let time = DateTime::from_timestamp_millis(step.millis).ok_or("its time is not one")?;
        if let Some(hold) = &step.hold {
            self.follow_hold(hold, step.number)?;
        }
        let keys = self.keys_after(step)?;
        self.fold(step, time)?;
        self.put_keys(keys, step);
        self.events += 1;
        self.pass(step, time);
        Ok(())
    }

    /// The keys in force after an event: others only if who held those before put them there, and with
    /// the entries that new memories have.
    fn keys_after(&self, step: &Step) -> std::result::Result<Option<KeyCommitment>, StepFault> {
        let Some(new) = &step.keys else {
            if self.keys.is_some() && step.erased.is_some() {
                return Err("it erases, and does not say which keys are in force then");
            }
            let added = step.touches.iter();
            let added = added.filter(|touch| touch.change == Change::Add).count() as u64;
            return Ok(self.keys.map(|keys| keys.with_more_entries(added)));
        };
        if !step.may_change_keys {
            return Err("it puts other keys in force, and its command never does");
        }
        // Only by accepting a keyring can one come that does not follow the one before.
        let newest = self.keys.iter().map(|keys| &keys.epoch.1);
        let mut before = newest.chain(&self.keys_before);
        let follows = before.any(|before| new.follows(before, step.parent));
        if step.accepts_keys || self.keys.is_none() || follows {
            return Ok(Some(new.without_proof()));
        }
        Err("it puts other keys in force, and no holder of those before did")
    }

    fn put_keys(&mut self, keys: Option<KeyCommitment>, step: &Step) {
        if step.keys.is_some() {
            self.retention_changed = true;
            let was = self.keys.map(|keys| keys.epoch.1);
            match was.filter(|_| step.erased.is_some()) {
                Some(was) => self.keys_before.push(was),
                None => self.keys_before.clear(),
            }
            let surplus = self.keys_before.len().saturating_sub(KEYS_BEFORE_MAX);
            self.keys_before.drain(..surplus);
        }
        self.keys = keys;
    }

    /// What an event does that is about no memory.
    fn pass(&mut self, step: &Step, time: DateTime<Utc>) {
        self.head = Some(step.head);
        self.history_bytes = self.history_bytes.saturating_add(step.history_bytes());
        self.recent.pass(self.times.millis_to(time));
        self.recorded = step.recorded;
        if let Some(recorded) = step.recorded {
            self.recent.add(recorded);
        }
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
    fn fold(&mut self, step: &Step, time: DateTime<Utc>) -> std::result::Result<(), StepFault> {
        const UNKNOWN: StepFault = "it touches a memory that is not there";
        let mut written = Vec::new();
        for touch in &step.touches {
            match touch.change {
                Change::None | Change::Look => {}
                Change::Read => {
                    self.rows.access(touch.id, time).ok_or(UNKNOWN)?;
                }
                Change::Remove | Change::Expire => drop(self.rows.take(touch.id).ok_or(UNKNOWN)?),
                Change::Mark | Change::Erase if self.rows.get(touch.id).is_some() => {
                    return Err("it erases a memory that is there");
                }
                Change::Mark | Change::Erase => self.follow_erasure(touch, step.number),
                change if change.writes() => written.push((touch, self.rows.take(touch.id))),
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
    ) -> std::result::Result<(), StepFault> {
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
        if self.rows.get(touch.id).is_some() {
            return Err("it writes one memory twice");
        }
        if self.rows.at(&key(&path)).is_some() {
            return Err("it writes to a path that is taken");
        }
        if self.stands_in_the_way(&path) {
            return Err("it writes to a path above or below another memory");
        }
        self.put(touch, old, path, (blob, sealed), time);
        Ok(())
    }

    /// Whether a memory is above a path or below it: where there is a file, there is no directory.
    fn stands_in_the_way(&self, path: &MemoryPath) -> bool {
        let mut above = path.ancestors();
        above.any(|path| self.rows.at(&key(&path)).is_some()) || self.below(path).next().is_some()
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
        self.rows.put(memory);
    }

    /// Takes an event at its word that does not fit the state, so that later ones can be followed.
    pub(crate) fn assume(&mut self, step: &Step) {
        self.begin();
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
                    // One that is not there is no reason not to go on.
                    let _ = self.rows.access(touch.id, time);
                }
                Change::Remove | Change::Expire => self.forget(touch.id),
                Change::Mark | Change::Erase => {
                    self.forget(touch.id);
                    self.follow_erasure(touch, step.number);
                }
                change if change.writes() => {
                    let old = self.rows.take(touch.id);
                    self.assume_written(touch, old, time);
                }
                _ => unreachable!("what neither reads, removes nor erases writes"),
            }
        }
        // Keys that may not be in force are no reason not to go on, and do not count.
        if let Ok(keys) = self.keys_after(step) {
            self.put_keys(keys, step);
        }
        self.events = step.number.saturating_add(1);
        self.pass(step, time);
    }

    /// A memory that is to be erased, or is.
    fn follow_erasure(&mut self, touch: &TouchStep, event: u64) {
        self.retention_changed = true;
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
            .filter(|path| self.rows.at(&key(path)).is_none())
            .unwrap_or_else(|| MemoryPath::from_canonical(format!("{NAMELESS}{}", touch.id)));
        self.put(touch, old, path, written, time);
    }

    /// Lets go of a memory whose state is not known any more.
    pub(crate) fn forget(&mut self, id: MemoryId) {
        drop(self.rows.take(id));
    }

    /// A live memory by its id.
    pub(crate) fn memory(&self, id: MemoryId) -> Option<&Memory> {
        self.rows.get(id)
    }

    /// The memory at a path.
    pub(crate) fn at(&self, path: &MemoryPath) -> Option<&Memory> {
        self.rows.at(&key(path))
    }

    /// Every memory below a directory, in the order of a listing.
    pub(crate) fn below(&self, directory: &MemoryPath) -> impl Iterator<Item = &Memory> {
        let first = key(directory) + "\0";
        let end = key(directory) + "\u{1}";
        self.rows
            .range(Bound::Included(first), Bound::Excluded(end))
    }

    /// Whether something is below this path; `/memories` always exists.
    pub(crate) fn is_directory(&self, path: &MemoryPath) -> bool {
        path.is_root() || self.below(path).next().is_some()
    }

    /// A live memory whose path no key opens, if there is one.
    pub(crate) fn nameless(&self) -> Option<MemoryId> {
        let first = NAMELESS.replace('/', "\0");
        let mut from = self.rows.range(Bound::Included(first), Bound::Unbounded);
        let first = from.next().filter(|memory| memory.is_nameless());
        first.map(|memory| memory.id)
    }

    /// Every live memory, in the order of a listing.
    pub(crate) fn memories(&self) -> impl Iterator<Item = &Memory> {
        self.rows.all()
    }

    /// How many memories there are.
    pub(crate) fn len(&self) -> usize {
        usize::try_from(self.rows.count()).unwrap_or(usize::MAX)
    }

    /// Bytes of text in all of them.
    pub(crate) fn bytes(&self) -> u64 {
        self.rows.bytes()
    }

    fn begin(&mut self) {
        self.rows.begin();
        self.before = (self.events, self.head);
        self.retention_changed = false;
    }

    /// Whether a part of the file did not open that this rests on. What it held was read from
    /// history instead.
    pub(crate) fn is_torn(&self) -> bool {
        self.rows.base().is_some_and(Base::is_torn)
    }

    /// Whether every part of the file opens that this rests on.
    pub(crate) fn is_whole(&self) -> bool {
        self.rows.base().is_none_or(Base::is_whole)
    }

    /// Checks that nothing was answered from a part of the file that did not open, and that history
    /// could not tell either. If so, nothing of this catalog holds.
    ///
    /// # Errors
    /// What history could not be read for.
    pub(crate) fn check(&mut self) -> Result<()> {
        let Some(fault) = self.rows.take_fault() else {
            return Ok(());
        };
        *self = Self::empty();
        Err(fault)
    }
}

/// Most epoch keys of before that are remembered.
const KEYS_BEFORE_MAX: usize = 256;

/// Begins what stands for a path whose name key is gone. It holds a control character, so nothing
/// can ask for it, and goes on with the memory id, so that history folds on to the event that
/// removes the memory.
const NAMELESS: &str = "/memories/\u{1}";

fn key(path: &MemoryPath) -> String {
    path.as_str().replace('/', "\0")
}

// When events were, and whether a clock can be believed after them.

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

    /// Milliseconds since the last event; none where the clock has run back.
    pub(crate) fn millis_to(&self, now: DateTime<Utc>) -> u64 {
        let since = self.last.map(|last| (now - last).num_milliseconds());
        u64::try_from(since.unwrap_or_default()).unwrap_or_default()
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
