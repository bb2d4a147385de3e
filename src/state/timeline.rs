//! The timeline: every event in a few bytes, in order. It finds any moment in history at once, by
//! number, commit or time, and the state of every memory at that moment.
//!
//! Like the catalog it is computed by replaying events, and its file is a sealed copy that can be
//! deleted. It only says where to look: texts that are shown or undone are opened from history
//! itself.

mod block;
pub(crate) mod file;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use chrono::{DateTime, Utc};

use crate::event::{
    Change, ERASE_COMMAND, Event, MemoryChange, Moment, Outcome, PathRef, REDACT_COMMAND,
};
use crate::id::{MemoryId, ObjectId};
use crate::memory_tool::path::MemoryPath;

/// The index of an absent word.
const NONE: u32 = u32::MAX;

/// Every event of a store, oldest first.
#[derive(Default)]
pub(crate) struct Timeline {
    /// The number of the first event held: 0, or more for a piece of history.
    base: u64,
    rows: Vec<EventRow>,
    touches: Vec<TimelineChange>,
    /// What events redacted, in the order of rows.
    redacted: Vec<RedactedKind>,
    memories: Vec<MemoryId>,
    memory_at: HashMap<MemoryId, u32>,
    words: Vec<Box<str>>,
    word_at: HashMap<Box<str>, u32>,
    /// The touches of each memory, as indices of row and touch; built on first use.
    lives: OnceLock<Vec<Vec<(u32, u32)>>>,
}

/// An event.
struct EventRow {
    commit: ObjectId,
    millis: i64,
    touches_end: usize,
    command: u32,
    actor: u32,
    session: u32,
    /// The name of its signer.
    signer: u32,
    /// The texts of its first and second path, unless a touched memory has that path.
    named: [u32; 2],
    outcome: Outcome,
}

/// The number of secrets of one kind that an event redacted.
#[derive(Clone, Copy)]
struct RedactedKind {
    row: u32,
    kind: u32,
    count: u32,
}

/// A memory's part in an event.
#[derive(Clone, Copy)]
struct TimelineChange {
    memory: u32,
    path: u32,
    version: u64,
    bytes: u64,
    /// The earlier version it goes back to; 0 for none.
    from: u64,
    change: Change,
}

/// A version of a memory, and an event that names it: usually the one that wrote it.
#[allow(clippy::struct_field_names)] // a version's number is its version, as in every record
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Version {
    pub(crate) id: MemoryId,
    /// `None` if the key of its paths is gone.
    pub(crate) path: Option<MemoryPath>,
    pub(crate) version: u64,
    /// Bytes of text.
    pub(crate) bytes: u64,
    /// The number of that event.
    pub(crate) event: u64,
    /// The earlier version it goes back to.
    pub(crate) from: Option<u64>,
}

/// A memory's part in an event.
#[derive(Clone)]
pub(crate) struct VersionChange {
    pub(crate) change: Change,
    /// The event, with the memory's version after it or, for a removal, before it.
    pub(crate) of: Version,
}

impl Version {
    /// Tells whether its path is known, and is this one or below it.
    pub(crate) fn is_within(&self, path: &MemoryPath) -> bool {
        let own = self.path.as_ref();
        own.is_some_and(|own| is_within(own.as_str(), path))
    }
}

impl Timeline {
    /// Returns an empty piece that begins with event `base`.
    fn from(base: u64) -> Self {
        Self {
            base,
            ..Self::default()
        }
    }

    /// Tells whether it begins with the first event.
    pub(crate) fn is_whole(&self) -> bool {
        self.base == 0
    }

    /// Returns the number of events, those before a piece included.
    pub(crate) fn len(&self) -> u64 {
        self.base + self.rows.len() as u64
    }

    /// Returns the row index of an event.
    fn place(&self, event: u64) -> Option<usize> {
        let at = usize::try_from(event.checked_sub(self.base)?).ok()?;
        (at < self.rows.len()).then_some(at)
    }

    /// Returns the number of the event at a row index.
    fn number(&self, at: usize) -> u64 {
        self.base + at as u64
    }

    /// Returns the newest event's commit.
    pub(crate) fn head(&self) -> Option<ObjectId> {
        self.rows.last().map(|row| row.commit)
    }

    /// Reserves room for `events` more events.
    pub(crate) fn reserve(&mut self, events: usize) {
        self.rows.reserve(events);
        self.touches.reserve(events);
    }

    /// Adds the next event, with the name of its signer.
    pub(crate) fn push(&mut self, event: &Event, commit: ObjectId, signer: &str) {
        for touch in &event.memories {
            self.push_touch(touch);
        }
        self.push_redactions(event);
        let row = EventRow {
            commit,
            millis: event.time.timestamp_millis(),
            touches_end: self.touches.len(),
            command: self.word(Some(&event.command)),
            actor: self.word(event.actor.as_deref()),
            session: self.word(event.session.as_deref()),
            signer: self.word(Some(signer)),
            named: self.named_words(event),
            outcome: event.outcome,
        };
        self.rows.push(row);
        self.lives = OnceLock::new();
    }

    fn push_redactions(&mut self, event: &Event) {
        let first = self.redacted.len();
        for redaction in &event.redactions {
            let kind = self.word(Some(&redaction.kind));
            let mut known = self.redacted[first..].iter_mut();
            match known.find(|known| known.kind == kind) {
                Some(known) => known.count += 1,
                None => self.redacted.push(RedactedKind {
                    row: index(self.rows.len()),
                    kind,
                    count: 1,
                }),
            }
        }
    }

    /// Returns the texts of its first and second path, unless a touched memory has that path.
    fn named_words(&mut self, event: &Event) -> [u32; 2] {
        [&event.path, &event.new_path].map(|place| {
            let text = place.as_ref().and_then(named);
            let touched = |text: &&str| {
                let mut touched = event
                    .memories
                    .iter()
                    .filter_map(|touch| touch.path.as_ref());
                touched.any(|path| path.as_str() == *text)
            };
            self.word(text.filter(|text| !touched(text)))
        })
    }

    fn push_touch(&mut self, touch: &MemoryChange) {
        let touched = TimelineChange {
            memory: self.memory(touch.id),
            path: self.word(touch.path.as_ref().map(MemoryPath::as_str)),
            version: touch.version,
            bytes: touch.bytes,
            from: touch.from.unwrap_or(0),
            change: touch.change,
        };
        self.touches.push(touched);
    }

    fn memory(&mut self, id: MemoryId) -> u32 {
        *self.memory_at.entry(id).or_insert_with(|| {
            self.memories.push(id);
            index(self.memories.len() - 1)
        })
    }

    fn word(&mut self, text: Option<&str>) -> u32 {
        let Some(text) = text else { return NONE };
        if let Some(at) = self.word_at.get(text) {
            return *at;
        }
        let at = index(self.words.len());
        self.words.push(text.into());
        self.word_at.insert(text.into(), at);
        at
    }

    fn text(&self, word: u32) -> Option<&str> {
        self.words.get(word as usize).map(|word| &**word)
    }

    fn path(&self, word: u32) -> Option<MemoryPath> {
        self.text(word)
            .map(|text| MemoryPath::from_canonical(text.to_owned()))
    }

    /// Returns the moment right after an event.
    pub(crate) fn moment(&self, event: u64) -> Option<Moment> {
        let row = self.row(event)?;
        Some(Moment {
            event,
            commit: row.commit,
        })
    }

    /// Returns the time of an event.
    pub(crate) fn time(&self, event: u64) -> Option<DateTime<Utc>> {
        DateTime::from_timestamp_millis(self.row(event)?.millis)
    }

    /// Returns the actor and the session of an event.
    pub(crate) fn who(&self, event: u64) -> Option<(Option<&str>, Option<&str>)> {
        let row = self.row(event)?;
        Some((self.text(row.actor), self.text(row.session)))
    }

    /// Returns the command of an event and its outcome.
    pub(crate) fn command(&self, event: u64) -> Option<(&str, Outcome)> {
        let row = self.row(event)?;
        Some((self.text(row.command)?, row.outcome))
    }

    /// Returns the name of an event's signer.
    pub(crate) fn signer(&self, event: u64) -> Option<&str> {
        self.text(self.row(event)?.signer)
    }

    /// Returns the kinds of secrets that an event redacted, and how many of each.
    pub(crate) fn redacted(&self, event: u64) -> impl Iterator<Item = (&str, u32)> {
        let row = self.place(event).map(index);
        let first = self.redacted.partition_point(|kind| Some(kind.row) < row);
        let own = self.redacted[first..].iter();
        own.take_while(move |kind| Some(kind.row) == row)
            .filter_map(|kind| Some((self.text(kind.kind)?, kind.count)))
    }

    /// Returns the numbers of the events that it holds.
    pub(crate) fn numbers(&self) -> std::ops::Range<u64> {
        self.base..self.len()
    }

    fn row(&self, event: u64) -> Option<&EventRow> {
        Some(&self.rows[self.place(event)?])
    }

    /// Returns the last event at or before a time; `None` if the store is younger.
    ///
    /// Clocks are set back and run ahead, so most events decide: the longest run of events whose
    /// times never fall. An event off that run counts as later than the run's event before it,
    /// which it was.
    pub(crate) fn at_time(&self, time: DateTime<Utc>) -> Option<u64> {
        let millis = time.timestamp_millis();
        let rising = self.rising();
        let known = rising.partition_point(|at| self.rows[*at].millis <= millis);
        let last = *rising.get(known.checked_sub(1)?)?;
        let next = rising.get(known).copied().unwrap_or(self.rows.len());
        let off_the_run = (last..next)
            .rev()
            .find(|at| self.rows[*at].millis <= millis);
        off_the_run.map(|at| self.number(at))
    }

    /// Returns the longest run of events whose times never fall, by patience sorting.
    fn rising(&self) -> Vec<usize> {
        if self.rows.is_sorted_by_key(|row| row.millis) {
            return (0..self.rows.len()).collect();
        }
        // The last event of the best run of each length, and the predecessor of each event in its
        // own run.
        let mut ends: Vec<usize> = Vec::new();
        let mut before: Vec<Option<usize>> = Vec::with_capacity(self.rows.len());
        for (at, row) in self.rows.iter().enumerate() {
            let length = ends.partition_point(|end| self.rows[*end].millis <= row.millis);
            before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
            if length == ends.len() {
                ends.push(at);
            } else {
                ends[length] = at;
            }
        }
        let mut run: Vec<usize> =
            std::iter::successors(ends.last().copied(), |at| before[*at]).collect();
        run.reverse();
        run
    }

    /// Returns every event whose commit id begins with these hexadecimal digits.
    pub(crate) fn with_prefix<'a>(&'a self, digits: &'a str) -> impl Iterator<Item = Moment> + 'a {
        let whole: Vec<u8> = digits
            .as_bytes()
            .chunks_exact(2)
            .map_while(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
            .collect();
        let rows = (self.base..).zip(&self.rows);
        rows.filter(move |(_, row)| {
            row.commit.0.starts_with(&whole) && row.commit.to_string().starts_with(digits)
        })
        .map(|(event, row)| Moment {
            event,
            commit: row.commit,
        })
    }

    fn touches_of(&self, at: usize) -> &[TimelineChange] {
        let begin = at
            .checked_sub(1)
            .map_or(0, |before| self.rows[before].touches_end);
        &self.touches[begin..self.rows[at].touches_end]
    }

    /// Returns every part of every event before number `to`, oldest first.
    fn parts(&self, to: u64) -> impl DoubleEndedIterator<Item = (u64, &TimelineChange)> {
        let end = usize::try_from(to.saturating_sub(self.base)).unwrap_or(usize::MAX);
        (0..end.min(self.rows.len())).flat_map(move |at| {
            self.touches_of(at)
                .iter()
                .map(move |touched| (self.number(at), touched))
        })
    }

    /// Returns the effects of an event, memory by memory.
    pub(crate) fn parts_of(&self, event: u64) -> Vec<VersionChange> {
        let touches = self.place(event).map_or(&[][..], |at| self.touches_of(at));
        let part = |touched| self.part(event, touched);
        touches.iter().map(part).collect()
    }

    fn part(&self, event: u64, touched: &TimelineChange) -> VersionChange {
        VersionChange {
            change: touched.change,
            of: self.version(event, touched),
        }
    }

    /// Returns everything that events did to one memory, reads included, oldest first.
    fn touches_with(
        &self,
        id: MemoryId,
    ) -> impl DoubleEndedIterator<Item = (u64, &TimelineChange)> {
        let lives = self.lives.get_or_init(|| {
            let mut lives = vec![Vec::new(); self.memories.len()];
            for at in 0..self.rows.len() {
                let end = self.rows[at].touches_end;
                for touch in end - self.touches_of(at).len()..end {
                    let life: &mut Vec<_> = &mut lives[self.touches[touch].memory as usize];
                    life.push((index(at), index(touch)));
                }
            }
            lives
        });
        let life = self
            .memory_at
            .get(&id)
            .map(|memory| &lives[*memory as usize]);
        let places = life.map_or(&[][..], Vec::as_slice).iter();
        places.map(|(at, touch)| (self.number(*at as usize), &self.touches[*touch as usize]))
    }

    /// Returns every change to one memory, oldest first.
    pub(crate) fn life(&self, id: MemoryId) -> Vec<VersionChange> {
        self.touches_with(id)
            .filter(|(_, touched)| touched.change.alters())
            .map(|(event, touched)| self.part(event, touched))
            .collect()
    }

    /// Returns every version a memory had up to an event, oldest first.
    pub(crate) fn versions(
        &self,
        id: MemoryId,
        to: u64,
    ) -> impl DoubleEndedIterator<Item = Version> + '_ {
        self.touches_with(id)
            .filter(move |(event, touched)| *event <= to && touched.change.writes())
            .map(|(event, touched)| self.version(event, touched))
    }

    /// Returns the event that removed a memory, if it is not live now.
    pub(crate) fn removed(&self, id: MemoryId) -> Option<u64> {
        let (event, last) = self
            .touches_with(id)
            .rfind(|(_, touched)| touched.change.alters())?;
        last.change.removes().then_some(event)
    }

    /// Returns every memory that lived right after an event, each with its version.
    pub(crate) fn state(&self, event: u64) -> HashMap<MemoryId, Version> {
        let mut last: Vec<Option<(u64, &TimelineChange)>> = vec![None; self.memories.len()];
        for (event, touched) in self.parts(event.saturating_add(1)) {
            if touched.change.writes() {
                last[touched.memory as usize] = Some((event, touched));
            } else if touched.change.removes() {
                last[touched.memory as usize] = None;
            }
        }
        let live = last.into_iter().flatten();
        live.map(|(event, touched)| {
            let version = self.version(event, touched);
            (version.id, version)
        })
        .collect()
    }

    fn version(&self, event: u64, touched: &TimelineChange) -> Version {
        Version {
            id: self.memories[touched.memory as usize],
            path: self.path(touched.path),
            version: touched.version,
            bytes: touched.bytes,
            event,
            from: Some(touched.from).filter(|from| *from > 0),
        }
    }

    /// Returns the version a memory had right after an event, if it lived then.
    pub(crate) fn version_at(&self, id: MemoryId, event: u64) -> Option<Version> {
        let (event, touched) = self
            .touches_with(id)
            .rfind(|(at, touched)| *at <= event && touched.change.alters())?;
        (!touched.change.removes()).then(|| self.version(event, touched))
    }

    /// Returns the memory that was at a path right after an event.
    pub(crate) fn at(&self, path: &MemoryPath, event: u64) -> Option<Version> {
        let word = *self.word_at.get(path.as_str())?;
        let mut decided = HashSet::new();
        // Newest first: the last change to a memory decides where it is.
        for (event, touched) in self.parts(event.saturating_add(1)).rev() {
            if touched.change.alters()
                && decided.insert(touched.memory)
                && touched.path == word
                && !touched.change.removes()
            {
                return Some(self.version(event, touched));
            }
        }
        None
    }

    /// Returns every memory that was ever at a path or below it.
    pub(crate) fn ever_within(&self, path: &MemoryPath) -> HashSet<MemoryId> {
        let words = self.words_within(path);
        let touched = self.touches.iter();
        touched
            .filter(|touched| words.contains(&touched.path))
            .map(|touched| self.memories[touched.memory as usize])
            .collect()
    }

    fn words_within(&self, path: &MemoryPath) -> HashSet<u32> {
        let words = (0u32..).zip(&self.words);
        words
            .filter(|(_, word)| is_within(word, path))
            .map(|(at, _)| at)
            .collect()
    }

    /// Returns every event that names a path, something below it, or a memory that was ever there;
    /// oldest first.
    pub(crate) fn about(&self, path: &MemoryPath) -> Vec<u64> {
        let words = self.words_within(path);
        let memories = self.ever_within(path);
        let about = |at: &usize| {
            let row = &self.rows[*at];
            row.named.iter().any(|word| words.contains(word))
                || self
                    .touches_of(*at)
                    .iter()
                    .any(|touched| memories.contains(&self.memories[touched.memory as usize]))
        };
        (0..self.rows.len())
            .filter(about)
            .map(|at| self.number(at))
            .collect()
    }

    /// Returns every event that touched a memory, oldest first.
    pub(crate) fn about_memory(&self, id: MemoryId) -> Vec<u64> {
        let mut events: Vec<u64> = self.touches_with(id).map(|(event, _)| event).collect();
        events.dedup();
        events
    }

    /// Returns every memory that ever lived, in order of creation.
    pub(crate) fn memories(&self) -> impl Iterator<Item = MemoryId> + '_ {
        self.memories.iter().copied()
    }
}

/// Tells whether a text is a path, or one below it.
fn is_within(text: &str, path: &MemoryPath) -> bool {
    text.strip_prefix(path.as_str())
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns the text of a place, where its path is known.
fn named(place: &PathRef) -> Option<&str> {
    match place {
        PathRef::Root => Some(crate::memory_tool::path::ROOT),
        PathRef::Of(_, path) => path.as_ref().map(MemoryPath::as_str),
        PathRef::Asked(text) => Some(text),
    }
}

fn index(at: usize) -> u32 {
    u32::try_from(at).expect("fewer than four thousand million of them fit in memory")
}

// Expired and erased memories, and the history that still names them.

impl Timeline {
    /// Returns the last change to each memory, marks and erasures included.
    fn ends(&self) -> Vec<Option<(u64, &TimelineChange)>> {
        let mut last: Vec<Option<(u64, &TimelineChange)>> = vec![None; self.memories.len()];
        for (event, touched) in self.parts(u64::MAX) {
            let ends = matches!(touched.change, Change::Mark | Change::Erase);
            if ends || touched.change.alters() {
                last[touched.memory as usize] = Some((event, touched));
            }
        }
        last
    }

    /// Returns the memories that a sweep removed and nobody restored, in their last version. The
    /// event of each is the one that removed it.
    pub(crate) fn expired(&self) -> Vec<Version> {
        let ends = self.ends().into_iter().flatten();
        ends.filter(|(_, touched)| touched.change == Change::Expire)
            .map(|(event, touched)| self.version(event, touched))
            .collect()
    }

    /// Returns the event by which a sweep removed a memory, if nothing happened to it since.
    pub(crate) fn swept_by(&self, id: MemoryId) -> Option<u64> {
        let (event, last) = self.touches_with(id).rfind(|(_, touched)| {
            touched.change.alters() || matches!(touched.change, Change::Mark | Change::Erase)
        })?;
        (last.change == Change::Expire).then_some(event)
    }

    /// Returns the memories whose keys are destroyed, each with the event that did it.
    pub(crate) fn erased(&self) -> Vec<(MemoryId, u64)> {
        let ends = self.ends().into_iter().flatten();
        ends.filter(|(_, touched)| touched.change == Change::Erase)
            .map(|(event, touched)| (self.memories[touched.memory as usize], event))
            .collect()
    }

    /// Returns the event that last marked or erased a memory.
    pub(crate) fn erased_by(&self, id: MemoryId) -> Option<u64> {
        self.touches_with(id)
            .rfind(|(_, touched)| matches!(touched.change, Change::Mark | Change::Erase))
            .map(|(event, _)| event)
    }

    /// Returns the oldest version of a memory left by a partial erasure, and the event that erased
    /// those before it.
    pub(crate) fn begins_with(&self, id: MemoryId) -> Option<(u64, u64)> {
        let (event, touched) = self.touches_with(id).rfind(|(event, touched)| {
            let command = self.command(*event).map(|(command, _)| command);
            matches!(touched.change, Change::Reseal | Change::Redact)
                && matches!(command, Some(ERASE_COMMAND | REDACT_COMMAND))
        })?;
        Some((touched.version, event))
    }

    /// Returns the event that erased a version.
    pub(crate) fn erased_at(&self, version: &Version) -> Option<u64> {
        self.erased_by(version.id).or_else(|| {
            let (first, event) = self.begins_with(version.id)?;
            (version.version < first).then_some(event)
        })
    }

    /// Returns the memories of which any of these events wrote a version.
    pub(crate) fn written_by(&self, events: &[u64]) -> HashSet<MemoryId> {
        let parts = events.iter().flat_map(|event| self.parts_of(*event));
        parts
            .filter(|part| part.change.writes())
            .map(|part| part.of.id)
            .collect()
    }

    /// Returns every path each memory ever had.
    pub(crate) fn paths(&self) -> HashMap<MemoryId, Vec<MemoryPath>> {
        let mut words: HashMap<u32, HashSet<u32>> = HashMap::new();
        for touched in &self.touches {
            if touched.path != NONE {
                words
                    .entry(touched.memory)
                    .or_default()
                    .insert(touched.path);
            }
        }
        words
            .into_iter()
            .map(|(memory, words)| {
                let paths = words.into_iter().filter_map(|word| self.path(word));
                (self.memories[memory as usize], paths.collect())
            })
            .collect()
    }

    /// Returns every event that touches one of some memories, or whose record names a path that one
    /// of them had or a directory above it; oldest first.
    pub(crate) fn naming(&self, memories: &HashSet<MemoryId>) -> Vec<u64> {
        let gone: HashSet<u32> = memories
            .iter()
            .filter_map(|id| self.memory_at.get(id).copied())
            .collect();
        let mut words: HashSet<u32> = HashSet::new();
        for touched in self.touches.iter().filter(|t| gone.contains(&t.memory)) {
            if words.insert(touched.path)
                && let Some(path) = self.path(touched.path)
            {
                let above = path.ancestors();
                words.extend(above.filter_map(|above| self.word_at.get(above.as_str())));
            }
        }
        words.remove(&NONE);
        let names = |at: &usize| {
            let touches = self.touches_of(*at);
            let is_touched = touches.iter().any(|part| gone.contains(&part.memory));
            is_touched || self.rows[*at].named.iter().any(|word| words.contains(word))
        };
        (0..self.rows.len())
            .filter(names)
            .map(|at| self.number(at))
            .collect()
    }

    /// Replaces the paths of an event after keys were destroyed, because fewer of them open then.
    pub(crate) fn take_again(&mut self, event: &Event) {
        let Some(at) = self.place(event.number) else {
            return;
        };
        let named = self.named_words(event);
        self.rows[at].named = named;
        let end = self.rows[at].touches_end;
        let begin = end - self.touches_of(at).len();
        for (place, touch) in (begin..end).zip(&event.memories) {
            self.touches[place].path = self.word(touch.path.as_ref().map(MemoryPath::as_str));
        }
    }
}
