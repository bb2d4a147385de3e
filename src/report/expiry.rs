//! What expires when, under the policy in force.

use chrono::{DateTime, Duration, Utc};
use serde::Serialize;

use crate::event::as_rfc3339;
use crate::report::TABLE_MAX;
use crate::store::survey::StoreSurvey;

/// The number of weeks in the calendar.
const WEEKS: usize = 26;

/// What expires when.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Expiring {
    /// Memories that have expired, and that no sweep has removed yet.
    pub overdue: u64,
    /// The number that expire in each of the next 26 weeks, the first of which begins now.
    pub weeks: Vec<u64>,
    /// When the first of these weeks begins.
    #[serde(serialize_with = "as_rfc3339")]
    pub since: DateTime<Utc>,
    /// Memories that expire later.
    pub later: u64,
    /// Memories that never expire.
    pub never: u64,
    /// Memories that would expire in time and that a hold keeps; they are counted here alone.
    pub held: u64,
    /// The next to expire, soonest first; at most 20.
    pub next: Vec<Expected>,
}

/// A memory that expires.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Expected {
    /// Its path.
    pub path: String,
    /// Bytes of its text.
    pub bytes: u64,
    /// When it expires.
    #[serde(serialize_with = "as_rfc3339")]
    pub at: DateTime<Utc>,
}

pub(super) fn expiring(survey: &StoreSurvey<'_>, now: DateTime<Utc>) -> Expiring {
    let mut calendar = Expiring {
        overdue: 0,
        weeks: vec![0; WEEKS],
        since: now,
        later: 0,
        never: 0,
        held: 0,
        next: Vec::new(),
    };
    for expiry in survey.expiries() {
        match expiry.at {
            None => calendar.never += 1,
            Some(_) if expiry.held => calendar.held += 1,
            Some(at) => {
                *calendar.place(at) += 1;
                let soon = calendar.next.len() < TABLE_MAX
                    || calendar.next.last().is_some_and(|last| at < last.at);
                if soon {
                    calendar.list(Expected {
                        path: expiry.path.as_str().to_owned(),
                        bytes: expiry.bytes,
                        at,
                    });
                }
            }
        }
    }
    calendar
}

impl Expiring {
    /// Returns the count that a time belongs to.
    fn place(&mut self, at: DateTime<Utc>) -> &mut u64 {
        if at <= self.since {
            return &mut self.overdue;
        }
        let weeks = (at - self.since).num_seconds() / Duration::weeks(1).num_seconds();
        let week = usize::try_from(weeks).unwrap_or(usize::MAX);
        self.weeks.get_mut(week).unwrap_or(&mut self.later)
    }

    fn list(&mut self, expected: Expected) {
        let after = |known: &Expected| (known.at, &known.path) <= (expected.at, &expected.path);
        let at = self.next.partition_point(after);
        self.next.insert(at, expected);
        self.next.truncate(TABLE_MAX);
    }
}
