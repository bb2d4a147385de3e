//! Blocks of the timeline before sealing: consecutive events, readable without anything outside the
//! block.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::event::{Change, Outcome};
use crate::id::{MemoryId, ObjectId};
use crate::state::timeline::{EventRow, NONE, RedactedKind, Timeline, TimelineChange};

/// Consecutive events. Words and memories are named by their index in the lists, counted from 1; 0
/// is none.
#[derive(Serialize, Deserialize)]
pub(super) struct Block<'a> {
    pub(super) first: u64,
    #[serde(borrow)]
    words: Vec<&'a str>,
    /// Ids of 16 bytes each, concatenated.
    #[serde(borrow, with = "as_bytes")]
    memories: Cow<'a, [u8]>,
    /// Ids of 20 bytes each, concatenated.
    #[serde(borrow, with = "as_bytes")]
    commits: Cow<'a, [u8]>,
    pub(super) rows: Vec<BlockRow>,
    /// The touches of all rows, concatenated.
    touches: Vec<BlockChange>,
    /// The rows that redacted secrets, each with a kind of them and how many.
    redacted: Vec<(u32, u32, u32)>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct BlockRow {
    /// Milliseconds after the row before; in the first row, after 1970.
    after: i64,
    command: u32,
    actor: u32,
    session: u32,
    signer: u32,
    named: [u32; 2],
    outcome: Outcome,
    touches: u32,
}

#[derive(Serialize, Deserialize)]
struct BlockChange {
    memory: u32,
    path: u32,
    version: u64,
    bytes: u64,
    from: u64,
    change: Change,
}

impl<'a> Block<'a> {
    /// Returns the commit of its last event, and the event's time in seconds after 1970.
    pub(super) fn end(&self) -> Option<(ObjectId, i64)> {
        let head = self.commits.last_chunk().copied().map(ObjectId)?;
        let times = self.rows.iter().map(|row| row.after);
        let millis = times.fold(0, i64::wrapping_add);
        Some((head, millis.div_euclid(1000)))
    }

    /// Returns the block of all rows from index `from` on, which is event number `first`.
    pub(super) fn of(timeline: &'a Timeline, from: usize, first: u64) -> Self {
        Self::of_rows(timeline, from, timeline.rows.len(), first)
    }

    pub(super) fn of_range(timeline: &'a Timeline, from: u64, to: u64) -> Self {
        let at = |event: u64| usize::try_from(event).expect("an event that is in memory");
        Self::of_rows(timeline, at(from), at(to), from)
    }

    fn of_rows(timeline: &'a Timeline, from: usize, to: usize, first: u64) -> Self {
        let mut words = Local::new(timeline.words.len());
        let mut memories = Local::new(timeline.memories.len());
        let (mut rows, mut touches) = (Vec::with_capacity(to - from), Vec::new());
        let mut before = 0;
        for (at, row) in timeline.rows.iter().enumerate().take(to).skip(from) {
            let parts = timeline.touches_of(at);
            touches.extend(parts.iter().map(|touched| BlockChange {
                memory: memories.of(touched.memory),
                path: words.of(touched.path),
                version: touched.version,
                bytes: touched.bytes,
                from: touched.from,
                change: touched.change,
            }));
            rows.push(BlockRow {
                after: row.millis.wrapping_sub(before),
                command: words.of(row.command),
                actor: words.of(row.actor),
                session: words.of(row.session),
                signer: words.of(row.signer),
                named: row.named.map(|word| words.of(word)),
                outcome: row.outcome,
                touches: super::index(parts.len()),
            });
            before = row.millis;
        }
        let (begin, end) = (super::index(from), super::index(to));
        let redacted = timeline.redacted.iter();
        let redacted = redacted
            .filter(|kind| (begin..end).contains(&kind.row))
            .map(|kind| (kind.row - begin, words.of(kind.kind), kind.count))
            .collect();
        let word = |at: &u32| &*timeline.words[*at as usize];
        let memory = |at: &u32| timeline.memories[*at as usize].0;
        let commit = |row: &EventRow| row.commit.0;
        Self {
            first,
            words: words.order.iter().map(word).collect(),
            memories: memories.order.iter().flat_map(memory).collect(),
            commits: timeline.rows[from..to].iter().flat_map(commit).collect(),
            rows,
            touches,
            redacted,
        }
    }
}

/// Block-local numbers of words or memories.
struct Local {
    known: Vec<u32>,
    order: Vec<u32>,
}

impl Local {
    fn new(count: usize) -> Self {
        Self {
            known: vec![0; count],
            order: Vec::new(),
        }
    }

    fn of(&mut self, at: u32) -> u32 {
        let Some(known) = self.known.get_mut(at as usize) else {
            return 0;
        };
        if *known == 0 {
            self.order.push(at);
            *known = super::index(self.order.len());
        }
        *known
    }
}

impl Timeline {
    /// Adds the next block; `false` if it does not fit.
    pub(super) fn extend(&mut self, block: &Block<'_>) -> bool {
        if block.first != self.len() {
            return false;
        }
        let words: Vec<u32> = block
            .words
            .iter()
            .map(|word| self.word(Some(word)))
            .collect();
        let (ids, _) = block.memories.as_chunks();
        let memories: Vec<u32> = ids.iter().map(|id| self.memory(MemoryId(*id))).collect();
        let (commits, _) = block.commits.as_chunks();
        let place = |at: u32| (at as usize).checked_sub(1);
        let word = |at: u32| {
            place(at)
                .and_then(|at| words.get(at))
                .copied()
                .unwrap_or(NONE)
        };
        let (mut touches, mut millis) = (block.touches.iter(), 0_i64);
        let first = super::index(self.rows.len());
        for (row, kind, count) in &block.redacted {
            if *row as usize >= block.rows.len() {
                return false;
            }
            self.redacted.push(RedactedKind {
                row: first + row,
                kind: word(*kind),
                count: *count,
            });
        }
        for (row, commit) in block.rows.iter().zip(commits) {
            for touch in touches.by_ref().take(row.touches as usize) {
                let Some(memory) = place(touch.memory).and_then(|at| memories.get(at)) else {
                    return false;
                };
                self.touches.push(TimelineChange {
                    memory: *memory,
                    path: word(touch.path),
                    version: touch.version,
                    bytes: touch.bytes,
                    from: touch.from,
                    change: touch.change,
                });
            }
            millis = millis.wrapping_add(row.after);
            self.rows.push(EventRow {
                commit: ObjectId(*commit),
                millis,
                touches_end: self.touches.len(),
                command: word(row.command),
                actor: word(row.actor),
                session: word(row.session),
                signer: word(row.signer),
                named: row.named.map(word),
                outcome: row.outcome,
            });
        }
        self.lives = std::sync::OnceLock::new();
        true
    }
}

/// Serializes bytes in one piece, and reads them without a copy.
mod as_bytes {
    use std::borrow::Cow;

    use serde::{Deserialize, Deserializer, Serializer};

    #[allow(clippy::ptr_arg)] // serde passes the field as it is
    pub(super) fn serialize<S: Serializer>(
        bytes: &Cow<'_, [u8]>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(bytes)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Cow<'de, [u8]>, D::Error> {
        <&'de [u8]>::deserialize(deserializer).map(Cow::Borrowed)
    }
}
