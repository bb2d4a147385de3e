//! When events were, and whether a clock can be believed after them.

use chrono::{DateTime, TimeDelta, Utc};

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
    pub(super) latest: Option<DateTime<Utc>>,
    /// Up to here events are not in the order of their times: the latest time of one that another
    /// followed whose clock was behind.
    pub(super) uneven: Option<DateTime<Utc>>,
    /// The latest time of any event since a sweep last went by the clock.
    pub(super) believed: Option<DateTime<Utc>>,
    /// The first leap since then, ahead or back: from when to when.
    pub(super) leap: Option<(DateTime<Utc>, DateTime<Utc>)>,
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
