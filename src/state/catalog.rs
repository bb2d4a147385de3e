//! The catalog: the state of a store, computed by replaying its events; mainly which memory is at
//! which path.
//!
//! The file `catalog` holds a sealed copy, so that opening a store does not read all of history. It
//! can be deleted: a replay rebuilds it.

pub(crate) mod file;
#[cfg(any(fuzzing, test))]
pub(crate) mod fuzzing;
mod next;
mod row;
mod rows;
pub(crate) mod step;
#[cfg(test)]
mod tests;
mod tree;

use std::collections::BTreeMap;
use std::ops::Bound;

use chrono::{DateTime, TimeDelta, Utc};

use self::rows::{CatalogReader, MemoryOverlay};
use self::step::{AgentEvent, RateCounter, StepFault};
use crate::crypto::digest::Digest;
use crate::crypto::sign::AuthorityMark;
use crate::error::Result;
use crate::event::{Change, MemoryChange, PublicFile};
use crate::id::{MemoryId, ObjectId};
use crate::keyring::KeyCommitment;
use crate::memory_tool::path::MemoryPath;

pub(crate) use self::rows::Rebuild;
pub(crate) use self::step::{Hold, Step, is_of_agents};

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
    /// The blob of the previous version, if that had the same path.
    pub(crate) before: Option<ObjectId>,
    /// The latest time of any event that read or wrote its text. A clock that runs back does not
    /// lower it.
    pub(crate) accessed: DateTime<Utc>,
}

impl Memory {
    /// Tells whether no key opens its path.
    pub(crate) fn is_nameless(&self) -> bool {
        self.path.as_str().starts_with(NAMELESS)
    }
}

/// Every live memory, as of one commit.
#[derive(Default)]
pub(crate) struct Catalog {
    /// The last commit applied; `None` before the first event.
    pub(crate) head: Option<ObjectId>,
    /// The number of events applied.
    pub(crate) events: u64,
    /// The number of versions ever written.
    pub(crate) versions: u64,
    /// Bytes ever written to history, as docs/format.md counts them (5.5).
    pub(crate) history_bytes: u64,
    /// The recent events of each session.
    pub(crate) recent: RateCounter,
    pub(crate) times: Times,
    /// The blobs of `agekeep.toml`, `recipients` and `signers` that the store's owner decided on.
    pub(crate) decided: Option<ConfigBlobs>,
    /// True if the first event says that the store is for trials.
    pub(crate) is_trial: bool,
    /// The time and event number of the last completed sweep.
    pub(crate) swept: Option<(DateTime<Utc>, u64)>,
    /// The numbers of the epoch key and the names key since the last erasure. A keyring with lower
    /// ones is a copy from before it.
    pub(crate) erased: Option<(u64, u64)>,
    /// The keys in force and the minimum number of entries in their tables; `None` in format 1.
    pub(crate) keys: Option<KeyCommitment>,
    /// The authorities of earlier epoch keys, kept as long as only erasures came since. A keyring
    /// with one of them is still used, to destroy again the keys it brings back.
    keys_before: Vec<AuthorityMark>,
    /// Memories whose keys are to be destroyed, each with the event that marked it.
    pub(crate) marked: BTreeMap<MemoryId, u64>,
    /// Holds in force, by the number of the event that added each.
    pub(crate) holds: BTreeMap<u64, Hold>,
    rows: MemoryOverlay,
    /// The number of events before the last one, and `head` at that point.
    before: (u64, Option<ObjectId>),
    /// True if the last event changed the marks, the holds or the keys.
    retention_changed: bool,
    /// How the last event counts for its session.
    recorded: Option<AgentEvent>,
}

/// The blobs of the three public files. Only a command that names a file may change its blob.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct ConfigBlobs {
    pub(crate) policy: ObjectId,
    pub(crate) recipients: ObjectId,
    pub(crate) signers: ObjectId,
}

impl ConfigBlobs {
    /// Tells whether `next` may follow these: only the file that the command names may differ.
    pub(crate) fn may_become(self, next: Self, said: Option<PublicFile>) -> bool {
        let same = [
            (PublicFile::Policy, self.policy == next.policy),
            (PublicFile::Recipients, self.recipients == next.recipients),
            (PublicFile::Signers, self.signers == next.signers),
        ];
        same.into_iter()
            .all(|(file, is_same)| is_same || said == Some(file))
    }

    /// Replaces the blob of a file.
    pub(crate) fn put(&mut self, file: PublicFile, blob: ObjectId) {
        match file {
            PublicFile::Policy => self.policy = blob,
            PublicFile::Recipients => self.recipients = blob,
            PublicFile::Signers => self.signers = blob,
        }
    }
}

impl Catalog {
    /// Returns the state before the first event.
    pub(crate) fn empty() -> Self {
        Self::default()
    }

    /// Applies the next event.
    pub(crate) fn apply(&mut self, step: &Step) -> Result<(), StepFault> {
        self.begin();
        if step.number != self.events {
            return Err("its event number is not the next");
        }
        self.follow_hold(step)?;
        let keys = self.keys_after(step)?;
        self.apply_changes(step)?;
        self.put_keys(keys, step);
        self.events += 1;
        self.advance_clock(step);
        Ok(())
    }

    /// Returns the keys in force after an event. Only holders of the previous keys may replace
    /// them. Each added memory adds an entry to the tables.
    fn keys_after(&self, step: &Step) -> Result<Option<KeyCommitment>, StepFault> {
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
        // Only an accepted keyring may fail to follow the previous one.
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

    /// Applies the parts of an event that concern no memory.
    fn advance_clock(&mut self, step: &Step) {
        self.head = Some(step.head);
        self.history_bytes = self.history_bytes.saturating_add(step.history_bytes());
        self.recent.advance(self.times.millis_to(step.time));
        self.recorded = step.recorded;
        if let Some(recorded) = step.recorded {
            self.recent.add(recorded);
        }
        self.times.advance(step.time, step.swept);
        self.is_trial |= step.trial;
        if step.swept {
            self.swept = Some((step.time, step.number));
        }
        // The numbers only rise, so a keyring once recognized as a copy stays one.
        let (epoch, names) = self.erased.unwrap_or_default();
        self.erased = step
            .erased
            .map(|new| (new.0.max(epoch), new.1.max(names)))
            .or(self.erased);
    }

    /// Applies an event's changes as one change: every memory it writes leaves its old path before
    /// any takes a new one, so two memories can swap places.
    fn apply_changes(&mut self, step: &Step) -> Result<(), StepFault> {
        const UNKNOWN: StepFault = "it touches a memory that is not there";
        let mut written = Vec::new();
        for touch in &step.touches {
            match touch.change {
                Change::None | Change::Look => {}
                Change::Read => {
                    self.rows.access(touch.id, step.time).ok_or(UNKNOWN)?;
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
            self.write(touch, old, step.time)?;
        }
        Ok(())
    }

    fn write(
        &mut self,
        touch: &MemoryChange,
        old: Option<Memory>,
        time: DateTime<Utc>,
    ) -> Result<(), StepFault> {
        let path = touch.path.clone().unwrap_or_else(|| nameless(touch.id));
        let (blob, sealed) = touch.blob.ok_or("it writes a version and names no blob")?;
        let fits = match (touch.change, &old) {
            (Change::Add, None) => touch.version == 1,
            // The last version number of a removed memory is known only from its history.
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

    /// Tells whether a memory is above or below a path. A file and a directory cannot share a path.
    fn stands_in_the_way(&self, path: &MemoryPath) -> bool {
        let mut above = path.ancestors();
        above.any(|path| self.rows.at(&key(&path)).is_some()) || self.below(path).next().is_some()
    }

    /// Puts the version a touch wrote at a free path.
    fn put(
        &mut self,
        touch: &MemoryChange,
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

    /// Accepts an event that does not fit the state, so that later ones can be followed.
    pub(crate) fn assume(&mut self, step: &Step) {
        self.begin();
        // The check of this event reports a hold that cannot be followed.
        let _ = self.follow_hold(step);
        for touch in &step.touches {
            match touch.change {
                Change::None | Change::Look => {}
                Change::Read => {
                    // A read of a missing memory does not stop the replay.
                    let _ = self.rows.access(touch.id, step.time);
                }
                Change::Remove | Change::Expire => self.forget(touch.id),
                Change::Mark | Change::Erase => {
                    self.forget(touch.id);
                    self.follow_erasure(touch, step.number);
                }
                change if change.writes() => {
                    let old = self.rows.take(touch.id);
                    self.assume_written(touch, old, step.time);
                }
                _ => unreachable!("what neither reads, removes nor erases writes"),
            }
        }
        // Keys that may not be in force are ignored, and do not stop the replay.
        if let Ok(keys) = self.keys_after(step) {
            self.put_keys(keys, step);
        }
        self.events = step.number.saturating_add(1);
        self.advance_clock(step);
    }

    /// Records that a memory is marked for erasure, or erased.
    fn follow_erasure(&mut self, touch: &MemoryChange, event: u64) {
        self.retention_changed = true;
        if touch.change == Change::Mark {
            self.marked.insert(touch.id, event);
        } else {
            self.marked.remove(&touch.id);
        }
    }

    fn assume_written(&mut self, touch: &MemoryChange, old: Option<Memory>, time: DateTime<Utc>) {
        let Some(written) = touch.blob else {
            return;
        };
        let said = touch.path.clone();
        let path = said
            .filter(|path| self.rows.at(&key(path)).is_none())
            .unwrap_or_else(|| nameless(touch.id));
        self.put(touch, old, path, written, time);
    }

    /// Drops a memory whose state is no longer known.
    pub(crate) fn forget(&mut self, id: MemoryId) {
        drop(self.rows.take(id));
    }

    /// Returns a live memory by its id.
    pub(crate) fn memory(&self, id: MemoryId) -> Option<&Memory> {
        self.rows.get(id)
    }

    /// Returns the memory at a path.
    pub(crate) fn at(&self, path: &MemoryPath) -> Option<&Memory> {
        self.rows.at(&key(path))
    }

    /// Returns every memory below a directory, in listing order.
    pub(crate) fn below(&self, directory: &MemoryPath) -> impl Iterator<Item = &Memory> {
        let first = key(directory) + "\0";
        let end = key(directory) + "\u{1}";
        self.rows
            .range(Bound::Included(first), Bound::Excluded(end))
    }

    /// Tells whether anything is below this path; `/memories` always exists.
    pub(crate) fn is_directory(&self, path: &MemoryPath) -> bool {
        path.is_root() || self.below(path).next().is_some()
    }

    /// Returns a live memory whose path no key opens, if there is one.
    pub(crate) fn nameless(&self) -> Option<MemoryId> {
        let first = NAMELESS.replace('/', "\0");
        let mut from = self.rows.range(Bound::Included(first), Bound::Unbounded);
        let first = from.next().filter(|memory| memory.is_nameless());
        first.map(|memory| memory.id)
    }

    /// Returns every live memory, in listing order.
    pub(crate) fn memories(&self) -> impl Iterator<Item = &Memory> {
        self.rows.all()
    }

    /// Returns the live memories that nobody accessed after a time, in no order. Others take neither
    /// time nor memory to speak of.
    pub(crate) fn accessed_by(&self, time: DateTime<Utc>) -> Vec<Memory> {
        self.rows.accessed_by(time)
    }

    /// Returns the number of live memories.
    pub(crate) fn len(&self) -> usize {
        usize::try_from(self.rows.count()).unwrap_or(usize::MAX)
    }

    /// Returns the bytes of text in all live memories.
    pub(crate) fn bytes(&self) -> u64 {
        self.rows.bytes()
    }

    fn begin(&mut self) {
        self.rows.begin();
        self.before = (self.events, self.head);
        self.retention_changed = false;
    }

    /// Tells whether part of the underlying file failed to open. Its contents were read from
    /// history instead.
    pub(crate) fn is_torn(&self) -> bool {
        self.rows.base().is_some_and(CatalogReader::is_torn)
    }

    /// Tells whether every part of the underlying file opens.
    pub(crate) fn is_whole(&self) -> bool {
        self.rows.base().is_none_or(CatalogReader::is_whole)
    }

    /// Checks that every answer so far came from the file or from history. If part of the file
    /// failed to open and history could not replace it, empties the catalog.
    ///
    /// # Errors
    /// The error that kept history from being read.
    pub(crate) fn check(&mut self) -> Result<()> {
        let Some(fault) = self.rows.take_fault() else {
            return Ok(());
        };
        *self = Self::empty();
        Err(fault)
    }
}

/// The most earlier epoch keys that are remembered.
const KEYS_BEFORE_MAX: usize = 256;

/// Prefix of the placeholder path of a memory whose name key is gone. Its control character keeps
/// requests from naming it. The memory id follows, so that the fold can go on to the event that
/// removes the memory.
const NAMELESS: &str = "/memories/\u{1}";

fn nameless(id: MemoryId) -> MemoryPath {
    MemoryPath::from_canonical(format!("{NAMELESS}{id}"))
}

fn key(path: &MemoryPath) -> String {
    path.as_str().replace('/', "\0")
}

// Event times, and whether a clock can be trusted after them.

/// A sweep refuses a clock further than this behind the latest event. Routine clock corrections
/// stay below it.
const CLOCK_BEHIND_MAX: TimeDelta = TimeDelta::seconds(60);
/// A sweep refuses a clock further than this past the latest event: a year. A store that is swept
/// daily has events daily.
const CLOCK_AHEAD_MAX: TimeDelta = TimeDelta::days(366);

/// The reason a sweep refuses the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClockFault {
    /// The clock is behind an event of this time.
    Behind(DateTime<Utc>),
    /// The clock leapt from the first time to the second, ahead or back.
    Leapt(DateTime<Utc>, DateTime<Utc>),
}

/// The times of events.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Times {
    /// The time of the last event.
    pub(crate) last: Option<DateTime<Utc>>,
    /// The latest time of any event.
    latest: Option<DateTime<Utc>>,
    /// Events up to this time may be out of time order. It is the latest time that some later
    /// event's clock was behind.
    uneven: Option<DateTime<Utc>>,
    /// The latest time of any event since the last sweep that trusted the clock.
    believed: Option<DateTime<Utc>>,
    /// The first leap since then, ahead or back, from the first time to the second.
    leap: Option<(DateTime<Utc>, DateTime<Utc>)>,
}

impl Times {
    /// Takes the time of the next event. If `swept`, the event is a sweep and trusted the clock.
    pub(crate) fn advance(&mut self, time: DateTime<Utc>, swept: bool) {
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

    /// Returns the milliseconds since the last event; 0 where the clock has run back.
    pub(crate) fn millis_to(&self, now: DateTime<Utc>) -> u64 {
        let since = self.last.map(|last| (now - last).num_milliseconds());
        u64::try_from(since.unwrap_or_default()).unwrap_or_default()
    }

    /// Returns the fault of a clock that shows `now`.
    pub(crate) fn clock_fault(&self, now: DateTime<Utc>) -> Option<ClockFault> {
        let behind = self
            .believed
            .filter(|latest| *latest - now > CLOCK_BEHIND_MAX);
        let leap = self.leap.or_else(|| self.leap_to(now));
        behind
            .map(ClockFault::Behind)
            .or(leap.map(|(from, to)| ClockFault::Leapt(from, to)))
    }

    /// Tells whether `time` splits history: every event with a later time also comes after all
    /// others.
    pub(crate) fn part_at(&self, time: DateTime<Utc>) -> bool {
        self.uneven <= Some(time)
    }
}
