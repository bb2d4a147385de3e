//! The catalog: the state of a store as a fold over its events — which memory is at which path.
//!
//! The file `catalog` holds a sealed copy, so that opening does not read all of history. It can
//! be thrown away: the same fold makes it again.

pub(crate) mod file;

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::event::{Change, Event, PublicFile, Touch};
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
    /// When its text was last read or written.
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
    memories: HashMap<MemoryId, Memory>,
    /// Keys are paths with `/` as NUL, which no path holds: so order is by segment, and what is
    /// below a directory is one range.
    paths: BTreeMap<String, MemoryId>,
    bytes: u64,
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
}

impl Times {
    /// Takes the time of the next event.
    pub(crate) fn pass(&mut self, time: DateTime<Utc>) {
        if self.latest.is_some_and(|latest| time < latest) {
            self.uneven = self.latest;
        }
        self.last = Some(time);
        self.latest = self.latest.max(self.last);
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
            change: touch.change,
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
        self.fold(&step.touches, time)?;
        self.events += 1;
        self.head = Some(step.head);
        self.times.pass(time);
        Ok(())
    }

    /// Folds in what one event did, as one change: whatever it writes leaves its old path before
    /// anything takes a new one, so that two memories can change places.
    fn fold(&mut self, touches: &[TouchStep], time: DateTime<Utc>) -> Result<(), StepFault> {
        const UNKNOWN: StepFault = "it touches a memory that is not there";
        let mut written = Vec::new();
        for touch in touches {
            match touch.change {
                Change::None | Change::Look => {}
                Change::Read => {
                    self.memories.get_mut(&touch.id).ok_or(UNKNOWN)?.accessed = time;
                }
                Change::Remove => drop(self.take(touch.id).ok_or(UNKNOWN)?),
                Change::Add | Change::Edit | Change::Move | Change::Restore | Change::Reseal => {
                    written.push((touch, self.take(touch.id)));
                }
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
            (Change::Restore, None) => touch.version > 1,
            (Change::Edit | Change::Move | Change::Reseal, Some(old)) => {
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
            Some(old) if touch.change == Change::Reseal => old.accessed,
            _ => time,
        };
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
        for touch in &step.touches {
            match touch.change {
                Change::None | Change::Look => {}
                Change::Read => {
                    if let Some(memory) = self.memories.get_mut(&touch.id) {
                        memory.accessed = time;
                    }
                }
                Change::Remove => self.forget(touch.id),
                Change::Add | Change::Edit | Change::Move | Change::Restore | Change::Reseal => {
                    let old = self.take(touch.id);
                    self.assume_written(touch, old, time);
                }
            }
        }
        self.events = step.number.saturating_add(1);
        self.head = Some(step.head);
        self.times.pass(time);
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
