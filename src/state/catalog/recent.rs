//! How many events each session recorded within the last minute: what the limit on them goes by.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::crypto::digest::Digest;
use crate::event::{Event, OWNER_COMMANDS};

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
