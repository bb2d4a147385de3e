//! Revisions and times as people write them.
//!
//! | written | means the state right after |
//! |---|---|
//! | `48` | event number 48 |
//! | `9f2c61`, or all 40 digits | that commit, by four or more of its first hexadecimal digits |
//! | `HEAD`, `HEAD~3` | the newest event, or the third before it |
//! | `@2026-11-01T09:00Z`, `@2026-11-01`, `2h ago`, `yesterday` | the last event at or before then |
//!
//! Decimal digits are an event number if there is such an event, otherwise the prefix of a commit
//! id. All times are UTC unless they have an offset.

use chrono::{DateTime, Duration, NaiveDate, NaiveDateTime, NaiveTime, Utc};

use crate::error::{Error, Result};

/// Fewest hexadecimal digits that name a commit.
pub(crate) const DIGITS_MIN: usize = 4;
/// Longest revision that is parsed, in bytes.
const BYTES_MAX: usize = 128;

/// A revision: a moment in history, as named by a caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision {
    text: String,
    pub(crate) kind: RevisionKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RevisionKind {
    /// This many events before the newest.
    Head(u64),
    /// An event's number, or a commit id prefix of decimal digits.
    Number(Option<u64>),
    /// The prefix of a commit id.
    Commit,
    /// The last event at or before this time.
    Time(DateTime<Utc>),
}

impl Revision {
    /// Parses a revision; ages count from `now`.
    ///
    /// # Errors
    /// [`Error::NoRevision`] if it has none of the forms.
    pub fn parse(text: &str, now: DateTime<Utc>) -> Result<Self> {
        let kind = kind(text, now).ok_or_else(|| Error::NoRevision {
            revision: crate::event::bounded(text, BYTES_MAX),
            why: "it is none of the forms of a revision".into(),
        })?;
        Ok(Self {
            text: text.to_owned(),
            kind,
        })
    }

    /// Returns the newest moment.
    #[must_use]
    pub fn head() -> Self {
        Self {
            text: "HEAD".into(),
            kind: RevisionKind::Head(0),
        }
    }

    /// Returns the moment right after an event.
    #[must_use]
    pub fn event(number: u64) -> Self {
        Self {
            text: number.to_string(),
            kind: RevisionKind::Number(Some(number)),
        }
    }

    /// Returns the revision as the caller wrote it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn missing(&self, why: impl Into<String>) -> Error {
        Error::NoRevision {
            revision: self.text.clone(),
            why: why.into(),
        }
    }
}

fn kind(text: &str, now: DateTime<Utc>) -> Option<RevisionKind> {
    if text.is_empty() || text.len() > BYTES_MAX {
        return None;
    }
    if let Some(time) = text.strip_prefix('@') {
        return calendar(time).map(RevisionKind::Time);
    }
    if let Some(rest) = text.strip_prefix("HEAD") {
        return back(rest).map(RevisionKind::Head);
    }
    let digits = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    if text.bytes().all(|b| b.is_ascii_digit()) {
        return Some(RevisionKind::Number(text.parse().ok()));
    }
    if text.chars().all(digits) && (DIGITS_MIN..=40).contains(&text.len()) {
        return Some(RevisionKind::Commit);
    }
    // An age of hexadecimal digits needs "ago" here: `12d` is too close to a commit like `2dad`.
    let said = text.ends_with(" ago") || !text.chars().all(digits);
    said.then(|| time(text, now))
        .flatten()
        .map(RevisionKind::Time)
}

/// Parses the suffix of `HEAD`.
fn back(rest: &str) -> Option<u64> {
    match rest {
        "" => Some(0),
        "~" | "^" => Some(1),
        _ => {
            let digits = rest.strip_prefix('~')?;
            let number = digits.bytes().all(|b| b.is_ascii_digit());
            number.then(|| digits.parse().ok()).flatten()
        }
    }
}

/// Parses a time: RFC 3339, with or without seconds; a date (its first moment); an age such as
/// `30m`, `2h ago` or `3 days ago`; `now`, `today`, `yesterday`. UTC unless it has an offset.
///
/// # Errors
/// [`Error::Invalid`] if it has none of these forms.
pub fn parse_time(text: &str, now: DateTime<Utc>) -> Result<DateTime<Utc>> {
    let bare = text.strip_prefix('@').unwrap_or(text);
    time(bare, now).ok_or_else(|| {
        Error::invalid(
            "the time",
            format!(
                "{:?} is not an RFC 3339 time, a date, or an age such as 2h",
                crate::event::bounded(text, BYTES_MAX)
            ),
        )
    })
}

fn time(text: &str, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let midnight = |days| {
        let date = now.date_naive().checked_sub_signed(Duration::days(days))?;
        Some(date.and_time(NaiveTime::MIN).and_utc())
    };
    match text {
        "now" => Some(now),
        "today" => midnight(0),
        "yesterday" => midnight(1),
        _ => calendar(text).or_else(|| now.checked_sub_signed(age(text)?)),
    }
}

/// Parses a date, or a date with a time.
fn calendar(text: &str) -> Option<DateTime<Utc>> {
    if let Ok(date) = text.parse::<NaiveDate>() {
        return Some(date.and_time(NaiveTime::MIN).and_utc());
    }
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Some(time.to_utc());
    }
    for form in ["%Y-%m-%dT%H:%M%:z", "%Y-%m-%d %H:%M%:z"] {
        // `%:z` parses only numeric offsets.
        let offset = text
            .strip_suffix(['Z', 'z'])
            .map(|bare| format!("{bare}+00:00"));
        if let Ok(time) = DateTime::parse_from_str(offset.as_deref().unwrap_or(text), form) {
            return Some(time.to_utc());
        }
    }
    let forms = [
        "%Y-%m-%dT%H:%M:%S%.f",
        "%Y-%m-%d %H:%M:%S%.f",
        "%Y-%m-%dT%H:%M",
        "%Y-%m-%d %H:%M",
    ];
    let local = |form: &str| NaiveDateTime::parse_from_str(text, form).ok();
    forms.into_iter().find_map(local).map(|time| time.and_utc())
}

/// Parses an age: `2h`, `2h ago`, `2 hours ago`.
fn age(text: &str) -> Option<Duration> {
    let text = text.strip_suffix(" ago").unwrap_or(text);
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let number: i64 = text[..end].parse().ok()?;
    let unit = text[end..].trim_start();
    match unit
        .strip_suffix('s')
        .filter(|one| one.len() > 2)
        .unwrap_or(unit)
    {
        "s" | "sec" | "second" => Duration::try_seconds(number),
        "m" | "min" | "minute" => Duration::try_minutes(number),
        "h" | "hour" => Duration::try_hours(number),
        "d" | "day" => Duration::try_days(number),
        "w" | "week" => Duration::try_weeks(number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn now() -> DateTime<Utc> {
        DateTime::parse_from_rfc3339("2026-11-21T14:30:00.250Z")
            .expect("a time")
            .to_utc()
    }

    #[test]
    fn every_documented_form() {
        let kind = |text: &str| {
            Revision::parse(text, now())
                .map(|revision| revision.kind)
                .ok()
        };
        let time = |text: &str| {
            let time = DateTime::parse_from_rfc3339(text).expect("a time").to_utc();
            Some(RevisionKind::Time(time))
        };
        assert_eq!(kind("48"), Some(RevisionKind::Number(Some(48))));
        assert_eq!(kind("9f2c"), Some(RevisionKind::Commit));
        assert_eq!(kind(&"a".repeat(40)), Some(RevisionKind::Commit));
        assert_eq!(kind("HEAD"), Some(RevisionKind::Head(0)));
        assert_eq!(kind("HEAD~"), Some(RevisionKind::Head(1)));
        assert_eq!(kind("HEAD~12"), Some(RevisionKind::Head(12)));
        assert_eq!(kind("@2026-11-01T09:00Z"), time("2026-11-01T09:00:00Z"));
        assert_eq!(
            kind("@2026-11-01T09:00+02:00"),
            time("2026-11-01T07:00:00Z")
        );
        assert_eq!(
            kind("@2026-11-01T09:00:01.5Z"),
            time("2026-11-01T09:00:01.500Z")
        );
        assert_eq!(kind("@2026-11-01 09:00"), time("2026-11-01T09:00:00Z"));
        assert_eq!(kind("@2026-11-01"), time("2026-11-01T00:00:00Z"));
        assert_eq!(kind("2026-11-01"), time("2026-11-01T00:00:00Z"));
        assert_eq!(kind("2h ago"), time("2026-11-21T12:30:00.250Z"));
        assert_eq!(kind("2 hours ago"), time("2026-11-21T12:30:00.250Z"));
        assert_eq!(kind("3 days ago"), time("2026-11-18T14:30:00.250Z"));
        assert_eq!(kind("1 week ago"), time("2026-11-14T14:30:00.250Z"));
        assert_eq!(kind("90m"), time("2026-11-21T13:00:00.250Z"));
        assert_eq!(kind("yesterday"), time("2026-11-20T00:00:00Z"));
        assert_eq!(kind("today"), time("2026-11-21T00:00:00Z"));
    }

    #[test]
    fn what_is_no_revision() {
        for bad in [
            "",
            " ",
            "HEAD~x",
            "HEAD~-1",
            "HEAD@{1}",
            "head",
            "abc",
            "12d",
            "-1",
            "+1",
            "@",
            "@2h",
            "@2026-13-01",
            "@2026-11-31",
            "2026-11-01T25:00Z",
            "ago",
            "h ago",
            "99999999999999999999999 days ago",
            "9223372036854775807d ago",
            "main",
            "9F2C61",
            &"a".repeat(41),
            &"1".repeat(200),
            "2h  ago x",
            "\u{1b}[31m",
        ] {
            let found = Revision::parse(bad, now());
            assert!(
                matches!(found, Err(Error::NoRevision { .. })),
                "{bad:?} is {found:?}"
            );
        }
    }

    #[test]
    fn ages_for_since_and_until() {
        let two_hours = now() - Duration::hours(2);
        for text in ["2h", "2h ago", "2 hours ago", "120m", "7200s"] {
            assert_eq!(
                parse_time(text, now()).expect("an age"),
                two_hours,
                "{text}"
            );
        }
        assert!(parse_time("12", now()).is_err());
        assert!(parse_time("-2h", now()).is_err());
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_parsers(text in "(HEAD|~|@|[0-9]{1,20}| ago|[a-z]{1,6}|[ -~]|é|T|:|-){0,6}") {
            let _ = Revision::parse(&text, now());
            let _ = parse_time(&text, now());
        }
    }
}
