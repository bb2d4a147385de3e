//! The counts of a report: one pass over all events, in memory that depends on what the store
//! holds.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use chrono::{DateTime, NaiveDate, Utc};
use serde::Serialize;

use crate::event::{
    ADMINISTRATIVE_COMMANDS, Change, EXPIRE_COMMAND, Moment, Outcome, REDACT_COMMAND, as_rfc3339,
};
use crate::id::MemoryId;
use crate::memory_tool::path::MemoryPath;
use crate::report::period::{Period, steps};
use crate::report::registers::{Candidates, RegisterKind};
use crate::report::{EventRange, TABLE_MAX};
use crate::state::timeline::{Timeline, VersionChange};

/// Most names that are counted apart: who writes can make up as many as there are events.
const NAMES_MAX: usize = 10_000;

/// The counts of a period.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Activity {
    /// The length of a step: `hour`, `day`, `week`, `month` or `year`.
    pub step: &'static str,
    /// The steps of the period, oldest first.
    pub over_time: Vec<Bucket>,
    /// The commands, most used first.
    pub commands: Vec<CommandCount>,
    /// The actors as callers said, most active first; at most 20.
    pub actors: Vec<NameCount>,
    /// The number of other actors, and their events.
    pub other_actors: (u64, u64),
    /// The signers, which is proof, most active first; at most 20.
    pub signers: Vec<NameCount>,
    /// The number of other signers, and their events.
    pub other_signers: (u64, u64),
    /// The secrets that were redacted before anything was stored, by kind.
    pub redactions: Vec<KindCount>,
    /// Reads of the memories that lived at the end of the period.
    pub reads: Reads,
}

/// A step of the period.
#[derive(Debug, Clone, Default, Serialize)]
#[non_exhaustive]
pub struct Bucket {
    /// Its beginning.
    #[serde(serialize_with = "as_rfc3339")]
    pub since: DateTime<Utc>,
    /// Commands of agents that read, and succeeded.
    pub read: u64,
    /// Commands of agents that wrote, and succeeded.
    pub write: u64,
    /// Commands of agents that deleted or renamed, and succeeded.
    pub remove: u64,
    /// Commands of those who look after the store, that succeeded.
    pub administer: u64,
    /// Commands that failed.
    pub failed: u64,
    /// Commands that were denied.
    pub denied: u64,
    /// Memories that lived at its end.
    pub memories: u64,
    /// Bytes of text in them.
    pub bytes: u64,
}

/// How often a command was given.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct CommandCount {
    /// The command.
    pub command: String,
    /// How often it succeeded.
    pub ok: u64,
    /// How often it failed.
    pub error: u64,
    /// How often it was denied.
    pub denied: u64,
}

/// How many events have a name.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct NameCount {
    /// The name; `None` if nobody said one.
    pub name: Option<String>,
    /// The events that succeeded.
    pub ok: u64,
    /// The events that failed.
    pub error: u64,
    /// The events that were denied.
    pub denied: u64,
}

/// How many secrets of a kind were redacted.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct KindCount {
    /// The kind.
    pub kind: String,
    /// How many.
    pub count: u64,
    /// In how many events.
    pub events: u64,
}

/// Reads of memories.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Reads {
    /// Memories that lived at the end of the period.
    pub memories: u64,
    /// Those that somebody read in it.
    pub read: u64,
    /// The most read, at most 20.
    pub most: Vec<ReadCount>,
    /// The largest that nobody read, at most 20.
    pub never: Vec<ReadCount>,
}

/// How often a memory was read.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ReadCount {
    /// The memory.
    pub memory: MemoryId,
    /// Its path; `None` if the key of its paths is destroyed.
    pub path: Option<String>,
    /// How often agents read it.
    pub reads: u64,
    /// Bytes of its text.
    pub bytes: u64,
}

/// Counts by outcome.
#[derive(Default, Clone, Copy)]
struct Outcomes {
    ok: u64,
    error: u64,
    denied: u64,
}

/// Counts by name.
#[derive(Default)]
struct NamedOutcomes {
    known: HashMap<String, Outcomes>,
    nameless: Outcomes,
    /// Events of names beyond [`NAMES_MAX`].
    beyond: u64,
}

/// A memory that lives.
#[derive(Default)]
struct LiveMemory {
    path: Option<MemoryPath>,
    bytes: u64,
    reads: u64,
}

/// The counts while events are added.
pub(super) struct Tally {
    period: Period,
    step: &'static str,
    buckets: Vec<Bucket>,
    /// The step of the newest event that counted.
    at: usize,
    first: Option<Moment>,
    last: Option<Moment>,
    /// The newest event until the end of the period.
    pub(super) newest: Option<Moment>,
    count: u64,
    before: u64,
    commands: BTreeMap<String, Outcomes>,
    actors: NamedOutcomes,
    signers: NamedOutcomes,
    redactions: BTreeMap<String, (u64, u64)>,
    live: HashMap<MemoryId, LiveMemory>,
    bytes: u64,
    nameless: HashSet<MemoryId>,
    /// The days of the period on which a sweep ran.
    pub(super) swept: BTreeSet<NaiveDate>,
    /// When the store began.
    pub(super) began: Option<DateTime<Utc>>,
    pub(super) candidates: Candidates,
}

impl Tally {
    pub(super) fn of(period: &Period) -> Self {
        let (step, begins) = steps(period);
        Self {
            period: period.clone(),
            step,
            buckets: begins.into_iter().map(Bucket::at).collect(),
            at: 0,
            first: None,
            last: None,
            newest: None,
            count: 0,
            before: 0,
            commands: BTreeMap::new(),
            actors: NamedOutcomes::default(),
            signers: NamedOutcomes::default(),
            redactions: BTreeMap::new(),
            live: HashMap::new(),
            bytes: 0,
            nameless: HashSet::new(),
            swept: BTreeSet::new(),
            began: None,
            candidates: Candidates::default(),
        }
    }

    /// Adds an event of a piece of the timeline. What lives is told by all events up to the end of
    /// the period, and everything else by those in it.
    pub(super) fn add(&mut self, piece: &Timeline, event: u64) {
        let (Some(time), Some(moment)) = (piece.time(event), piece.moment(event)) else {
            return;
        };
        self.began.get_or_insert(time);
        if time >= self.period.until {
            return;
        }
        self.newest = Some(moment);
        let parts = piece.parts_of(event);
        let counts = self.period.has(time);
        if counts {
            self.count_event(piece, moment, time, &parts);
        } else {
            self.before += 1;
        }
        for part in parts {
            self.live_on(part, counts);
        }
        if let Some(bucket) = self.buckets.get_mut(self.at) {
            (bucket.memories, bucket.bytes) = (self.live.len() as u64, self.bytes);
        }
    }

    fn count_event(
        &mut self,
        piece: &Timeline,
        moment: Moment,
        time: DateTime<Utc>,
        parts: &[VersionChange],
    ) {
        let event = moment.event;
        let (command, outcome) = piece.command(event).unwrap_or(("unknown", Outcome::Error));
        self.step_to(time);
        self.count += 1;
        self.first.get_or_insert(moment);
        self.last = Some(moment);
        count_in(&mut self.commands, command, |count| count.add(outcome));
        self.actors
            .add(piece.who(event).and_then(|(actor, _)| actor), outcome);
        self.signers.add(piece.signer(event), outcome);
        // What `redact` takes out of history had been stored.
        let stored = command == REDACT_COMMAND;
        for (kind, count) in piece.redacted(event).filter(|_| !stored) {
            count_in(&mut self.redactions, kind, |(all, events)| {
                *all += u64::from(count);
                *events += 1;
            });
        }
        if let Some(bucket) = self.buckets.get_mut(self.at) {
            *bucket.group(command, outcome) += 1;
        }
        if command == EXPIRE_COMMAND && outcome == Outcome::Ok {
            self.swept.insert(time.date_naive());
        }
        for kind in RegisterKind::of(command, outcome, parts) {
            self.candidates.add(kind, moment);
        }
    }

    /// Moves on to the step of a time. A clock that was set back counts in the newest step, so that
    /// what lives goes forward only.
    fn step_to(&mut self, time: DateTime<Utc>) {
        let known = self.buckets.partition_point(|bucket| bucket.since <= time);
        let to = known.saturating_sub(1).max(self.at);
        let lives = (self.live.len() as u64, self.bytes);
        for bucket in self.buckets.iter_mut().take(to + 1).skip(self.at) {
            (bucket.memories, bucket.bytes) = lives;
        }
        self.at = to;
    }

    fn live_on(&mut self, part: VersionChange, counts: bool) {
        let id = part.of.id;
        if part.of.path.is_none() && counts {
            self.nameless.insert(id);
        }
        match part.change {
            change if change.writes() => {
                let live = self.live.entry(id).or_default();
                self.bytes = self.bytes - live.bytes + part.of.bytes;
                (live.path, live.bytes) = (part.of.path, part.of.bytes);
            }
            change if change.removes() || matches!(change, Change::Mark | Change::Erase) => {
                let gone = self.live.remove(&id);
                self.bytes -= gone.map_or(0, |gone| gone.bytes);
            }
            Change::Read if counts => {
                if let Some(live) = self.live.get_mut(&id) {
                    live.reads += 1;
                }
            }
            _ => {}
        }
    }

    pub(super) fn range(&self) -> EventRange {
        EventRange {
            first: self.first,
            last: self.last,
            count: self.count,
            before: self.before,
        }
    }

    /// Returns the number of memories whose paths do not open, of those that events touched.
    pub(super) fn nameless(&self) -> usize {
        self.nameless.len()
    }

    pub(super) fn into_activity(mut self) -> Activity {
        let lives = (self.live.len() as u64, self.bytes);
        for bucket in self.buckets.iter_mut().skip(self.at) {
            (bucket.memories, bucket.bytes) = lives;
        }
        let mut commands: Vec<CommandCount> =
            self.commands.into_iter().map(CommandCount::of).collect();
        commands.sort_by_key(|count| std::cmp::Reverse(count.ok + count.error + count.denied));
        let redactions = self.redactions.into_iter();
        let mut redactions: Vec<KindCount> = redactions
            .map(|(kind, (count, events))| KindCount {
                kind,
                count,
                events,
            })
            .collect();
        redactions.sort_by_key(|kind| std::cmp::Reverse(kind.count));
        let (actors, other_actors) = self.actors.most();
        let (signers, other_signers) = self.signers.most();
        Activity {
            step: self.step,
            over_time: self.buckets,
            commands,
            actors,
            other_actors,
            signers,
            other_signers,
            redactions,
            reads: reads(self.live),
        }
    }
}

fn reads(live: HashMap<MemoryId, LiveMemory>) -> Reads {
    let memories = live.len() as u64;
    let all = live.into_iter().map(|(memory, live)| ReadCount {
        memory,
        path: live.path.map(|path| path.as_str().to_owned()),
        reads: live.reads,
        bytes: live.bytes,
    });
    let (mut most, mut never): (Vec<_>, Vec<_>) = all.partition(|count| count.reads > 0);
    let read = most.len() as u64;
    most.sort_by(|a, b| (b.reads, &a.path, a.memory).cmp(&(a.reads, &b.path, b.memory)));
    never.sort_by(|a, b| (b.bytes, &a.path, a.memory).cmp(&(a.bytes, &b.path, b.memory)));
    most.truncate(TABLE_MAX);
    never.truncate(TABLE_MAX);
    Reads {
        memories,
        read,
        most,
        never,
    }
}

/// Changes the count of a key. Only a new key is copied.
fn count_in<V: Default>(counts: &mut BTreeMap<String, V>, key: &str, change: impl FnOnce(&mut V)) {
    if let Some(count) = counts.get_mut(key) {
        change(count);
    } else {
        change(counts.entry(key.to_owned()).or_default());
    }
}

impl Outcomes {
    fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Ok => self.ok += 1,
            Outcome::Error => self.error += 1,
            Outcome::Denied => self.denied += 1,
        }
    }

    fn all(self) -> u64 {
        self.ok + self.error + self.denied
    }
}

impl NamedOutcomes {
    fn add(&mut self, name: Option<&str>, outcome: Outcome) {
        let Some(name) = name else {
            self.nameless.add(outcome);
            return;
        };
        if let Some(known) = self.known.get_mut(name) {
            known.add(outcome);
        } else if self.known.len() < NAMES_MAX {
            self.known.entry(name.to_owned()).or_default().add(outcome);
        } else {
            self.beyond += 1;
        }
    }

    /// Returns the most active, and the number of the others with their events.
    fn most(self) -> (Vec<NameCount>, (u64, u64)) {
        let named = self
            .known
            .into_iter()
            .map(|(name, count)| (Some(name), count));
        let nameless = (self.nameless.all() > 0).then_some((None, self.nameless));
        let mut all: Vec<_> = named.chain(nameless).collect();
        all.sort_by(|(a, one), (b, other)| (other.all(), a).cmp(&(one.all(), b)));
        let others = all.iter().skip(TABLE_MAX);
        let events: u64 = others.clone().map(|(_, count)| count.all()).sum();
        let others = (others.count() as u64, events + self.beyond);
        let most = all
            .into_iter()
            .take(TABLE_MAX)
            .map(|(name, count)| NameCount {
                name,
                ok: count.ok,
                error: count.error,
                denied: count.denied,
            });
        (most.collect(), others)
    }
}

impl CommandCount {
    fn of((command, count): (String, Outcomes)) -> Self {
        Self {
            command,
            ok: count.ok,
            error: count.error,
            denied: count.denied,
        }
    }
}

impl Bucket {
    fn at(since: DateTime<Utc>) -> Self {
        Self {
            since,
            ..Self::default()
        }
    }

    /// Returns the count that an event belongs to.
    fn group(&mut self, command: &str, outcome: Outcome) -> &mut u64 {
        match (outcome, command) {
            (Outcome::Error, _) => &mut self.failed,
            (Outcome::Denied, _) => &mut self.denied,
            (_, "view" | "memory_read") => &mut self.read,
            (_, "delete" | "rename") => &mut self.remove,
            (_, command) if ADMINISTRATIVE_COMMANDS.contains(&command) => &mut self.administer,
            _ => &mut self.write,
        }
    }
}
