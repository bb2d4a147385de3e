//! Periods as people write them: `2026`, `2026-Q3`, `2026-09`, or two times.

use chrono::{DateTime, Datelike, Days, Months, NaiveDate, NaiveTime, SecondsFormat, Utc};
use serde::Serialize;

use crate::error::{Error, Result};
use crate::event::{as_rfc3339, bounded};

/// How many days a report goes back if nothing is said.
const DAYS: u64 = 90;
/// Longest text of a period that an error repeats, in characters.
const SHOWN_MAX: usize = 64;

/// A period: from a time to before another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Period {
    /// Its name, if it has one: `2026-Q3`.
    pub name: Option<String>,
    /// Its beginning.
    #[serde(serialize_with = "as_rfc3339")]
    pub since: DateTime<Utc>,
    /// Its end, which does not belong to it.
    #[serde(serialize_with = "as_rfc3339")]
    pub until: DateTime<Utc>,
}

impl Period {
    /// Parses a year, a quarter or a month, in UTC.
    ///
    /// # Errors
    /// [`Error::Invalid`] for anything else.
    pub fn parse(text: &str) -> Result<Self> {
        let named = calendar(text).map(|(since, until)| Self {
            name: Some(text.to_owned()),
            since,
            until,
        });
        named.ok_or_else(|| {
            let shown = bounded(text, SHOWN_MAX);
            invalid(format!(
                "{shown:?} is none of a year (2026), a quarter (2026-Q3) and a month (2026-09)"
            ))
        })
    }

    /// Returns the period between two times. Without `since` it begins at midnight 90 days before
    /// its end; without `until` it ends `now`.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it does not end after its beginning.
    pub fn between(
        since: Option<DateTime<Utc>>,
        until: Option<DateTime<Utc>>,
        now: DateTime<Utc>,
    ) -> Result<Self> {
        // What happens in this very moment belongs to a period that ends now.
        let until = until.unwrap_or(now + chrono::Duration::milliseconds(1));
        let before = || {
            let day = until.date_naive().checked_sub_days(Days::new(DAYS));
            day.map_or(DateTime::UNIX_EPOCH, midnight)
        };
        let since = since.unwrap_or_else(before);
        if until <= since {
            let (since, until) = (shown(since), shown(until));
            return Err(invalid(format!("it ends at {until} and begins at {since}")));
        }
        Ok(Self {
            name: None,
            since,
            until,
        })
    }

    /// Tells whether a time belongs to it.
    pub(super) fn has(&self, time: DateTime<Utc>) -> bool {
        self.since <= time && time < self.until
    }
}

fn invalid(why: String) -> Error {
    Error::invalid("the period", why)
}

/// Formats a time for people.
pub(super) fn shown(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

pub(super) fn midnight(day: NaiveDate) -> DateTime<Utc> {
    day.and_time(NaiveTime::MIN).and_utc()
}

fn calendar(text: &str) -> Option<(DateTime<Utc>, DateTime<Utc>)> {
    let (year, part) = match text.split_once('-') {
        Some((year, part)) => (year, Some(part)),
        None => (text, None),
    };
    let digits = |text: &str, count| {
        let plain = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| text.parse::<u32>().ok()).flatten()
    };
    let year = i32::try_from(digits(year, 4)?).ok()?;
    let (month, months) = match part {
        None => (1, 12),
        Some(part) => match part.strip_prefix(['Q', 'q']) {
            Some(quarter) => match digits(quarter, 1)? {
                quarter @ 1..=4 => (quarter * 3 - 2, 3),
                _ => return None,
            },
            None => (digits(part, 2)?, 1),
        },
    };
    let first = NaiveDate::from_ymd_opt(year, month, 1)?;
    let end = first.checked_add_months(Months::new(months))?;
    Some((midnight(first), midnight(end)))
}

// Steps in which a period is drawn.

/// Longest period that is drawn by hours, days, weeks and months, in days; a longer one by years.
const HOURS_DAYS: i64 = 2;
const DAYS_DAYS: i64 = 93;
const WEEKS_DAYS: i64 = 400;
const MONTHS_DAYS: i64 = 3_700;
/// Most steps of a period.
const STEPS_MAX: usize = 500;

/// Returns the name of the steps of a period, and where each begins.
pub(super) fn steps(period: &Period) -> (&'static str, Vec<DateTime<Utc>>) {
    let days = (period.until - period.since).num_days();
    let first = period.since.date_naive();
    let of_month = |month| NaiveDate::from_ymd_opt(first.year(), month, 1).unwrap_or(first);
    let (name, begin) = match days {
        _ if days <= HOURS_DAYS => ("hour", first),
        _ if days <= DAYS_DAYS => ("day", first),
        _ if days <= WEEKS_DAYS => {
            let since_monday = first.weekday().num_days_from_monday();
            let monday = first.checked_sub_days(Days::new(since_monday.into()));
            ("week", monday.unwrap_or(first))
        }
        ..=MONTHS_DAYS => ("month", of_month(first.month())),
        _ => ("year", of_month(1)),
    };
    let next = |at: DateTime<Utc>| match name {
        "hour" => at.checked_add_signed(chrono::Duration::hours(1)),
        "day" => at.checked_add_days(Days::new(1)),
        "week" => at.checked_add_days(Days::new(7)),
        "month" => at.checked_add_months(Months::new(1)),
        _ => at.checked_add_months(Months::new(12)),
    };
    let all = std::iter::successors(Some(midnight(begin)), |at| next(*at));
    let inside = all.take_while(|at| *at < period.until).take(STEPS_MAX);
    let begins_late = |at: &DateTime<Utc>| next(*at).is_none_or(|end| end > period.since);
    (name, inside.filter(begins_late).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(text: &str) -> Option<(String, String)> {
        let period = Period::parse(text).ok()?;
        Some((shown(period.since), shown(period.until)))
    }

    #[test]
    fn a_period_is_a_year_a_quarter_or_a_month() {
        let day = |text: &str| format!("{text}T00:00:00Z");
        for (text, since, until) in [
            ("2026", "2026-01-01", "2027-01-01"),
            ("2026-Q3", "2026-07-01", "2026-10-01"),
            ("2026-q4", "2026-10-01", "2027-01-01"),
            ("2026-09", "2026-09-01", "2026-10-01"),
            ("2026-12", "2026-12-01", "2027-01-01"),
            ("2024-02", "2024-02-01", "2024-03-01"),
        ] {
            assert_eq!(bounds(text), Some((day(since), day(until))), "{text}");
        }
        for text in [
            "",
            "26",
            "20266",
            "2026-",
            "2026-0",
            "2026-13",
            "2026-00",
            "2026-Q0",
            "2026-Q5",
            "2026-Q33",
            "2026-9",
            "2026-09-01",
            "Q3",
            "+026",
            "２０２６",
            "2026 ",
            "\u{1b}[2J",
        ] {
            assert_eq!(bounds(text), None, "{text:?}");
        }
    }

    #[test]
    fn the_steps_of_a_period_cover_it() {
        for (since, until, name) in [
            ("2026-07-01", "2026-07-02", "hour"),
            ("2026-07-01", "2026-10-01", "day"),
            ("2026-01-01", "2027-01-01", "week"),
            ("2020-05-17", "2026-01-01", "month"),
            ("1970-01-01", "2026-01-01", "year"),
        ] {
            let time = |text: &str| midnight(text.parse().expect("a date"));
            let (since, until) = (time(since), time(until));
            let period = Period::between(Some(since), Some(until), until).expect("in order");
            let (found, steps) = steps(&period);
            assert_eq!(found, name);
            assert!(steps[0] <= since && steps[1] > since, "{steps:?}");
            assert!(*steps.last().expect("one") < until && steps.len() <= 130);
        }
    }
}
