//! Lengths of time in a policy.

use std::fmt;
use std::str::FromStr;

use chrono::TimeDelta;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::redact::reading;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const WEEK: i64 = 7 * DAY;
const YEAR: i64 = 365 * DAY;
/// The longest time in a policy: a hundred years.
const WINDOW_MAX: i64 = 100 * YEAR;
/// Most characters of an invalid length of time that a message shows.
const SHOWN_MAX: usize = 40;

/// The default time in which an expired memory can be restored: 30 days.
pub(super) const GRACE: TimeSpan = TimeSpan(30 * DAY);

/// A length of time, in whole seconds: `45s`, `30min`, `12h`, `90d`, `2w`, `1y` (365 days).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeSpan(i64);

/// A length of time, or `never`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Lifetime {
    /// A limited time.
    For(TimeSpan),
    /// An unlimited time.
    #[default]
    Never,
}

impl TimeSpan {
    /// Returns the length in seconds.
    #[must_use]
    pub fn seconds(self) -> i64 {
        self.0
    }

    /// Formats the length in its largest whole unit, such as `90 days`.
    #[must_use]
    pub fn in_words(self) -> String {
        let units = [(DAY, "day"), (HOUR, "hour"), (MINUTE, "minute")];
        let (number, unit) = self.in_units(&units, "second");
        let s = if number == 1 { "" } else { "s" };
        format!("{number} {unit}{s}")
    }

    pub(crate) fn delta(self) -> TimeDelta {
        TimeDelta::seconds(self.0)
    }

    /// Makes a length from seconds; `None` if it is out of bounds for a policy.
    pub(super) fn of_seconds(seconds: i64) -> Option<Self> {
        (0..=WINDOW_MAX).contains(&seconds).then_some(Self(seconds))
    }

    /// Makes a length from seconds, clamped to the bounds for a policy.
    #[must_use]
    pub fn of(seconds: i64) -> Self {
        Self(seconds.clamp(0, WINDOW_MAX))
    }

    /// Returns the length in the first unit that divides it.
    fn in_units<'a>(self, units: &[(i64, &'a str)], second: &'a str) -> (i64, &'a str) {
        let whole = units.iter().find(|(unit, _)| self.0 % unit == 0);
        let (unit, name) = whole.copied().unwrap_or((1, second));
        (self.0 / unit, name)
    }
}

impl FromStr for TimeSpan {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let shown = || crate::event::bounded(text, SHOWN_MAX);
        let fault = || {
            format!(
                "{:?} is no length of time; say 45s, 30min, 12h, 90d, 2w or 1y",
                shown()
            )
        };
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        if number.is_empty() {
            return Err(fault());
        }
        let unit = match unit {
            "s" => 1,
            "min" => MINUTE,
            "h" => HOUR,
            "d" => DAY,
            "w" => WEEK,
            "y" => YEAR,
            "m" => {
                return Err(format!(
                    "{:?}: is m minutes or months? Say min, or d",
                    shown()
                ));
            }
            _ => return Err(fault()),
        };
        let number: Option<i64> = number.parse().ok();
        number
            .and_then(|number| number.checked_mul(unit))
            .and_then(Self::of_seconds)
            .ok_or_else(|| format!("{:?} is longer than a hundred years", shown()))
    }
}

impl fmt::Display for TimeSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, unit) = self.in_units(&[(DAY, "d"), (HOUR, "h"), (MINUTE, "min")], "s");
        write!(f, "{number}{unit}")
    }
}

impl FromStr for Lifetime {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "never" => Ok(Self::Never),
            text => match text.parse()? {
                TimeSpan(0) => Err(format!(
                    "{text:?}: nothing could be read if it expired at once"
                )),
                window => Ok(Self::For(window)),
            },
        }
    }
}

impl Lifetime {
    pub(crate) fn is_never(&self) -> bool {
        *self == Self::Never
    }
}

impl fmt::Display for Lifetime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::For(window) => window.fmt(f),
            Self::Never => f.write_str("never"),
        }
    }
}

/// Reads and writes a type as TOML text.
macro_rules! as_text {
    ($name:ident, $expected:literal) => {
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                reading::text(deserializer, $expected, str::parse)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    };
}

as_text!(TimeSpan, "a length of time in quotes, such as \"30d\"");
as_text!(
    Lifetime,
    "a length of time in quotes, such as \"90d\", or \"never\""
);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lengths_of_time_are_read_and_written() {
        for (text, seconds, written, words) in [
            ("90d", 90 * DAY, "90d", "90 days"),
            ("2w", 14 * DAY, "14d", "14 days"),
            ("1y", 365 * DAY, "365d", "365 days"),
            ("24h", DAY, "1d", "1 day"),
            ("36h", 36 * HOUR, "36h", "36 hours"),
            ("90min", 90 * MINUTE, "90min", "90 minutes"),
            ("61s", 61, "61s", "61 seconds"),
            ("100y", WINDOW_MAX, "36500d", "36500 days"),
        ] {
            let window: TimeSpan = text.parse().expect("a length of time");
            assert_eq!(
                (window.seconds(), window.to_string()),
                (seconds, written.into())
            );
            assert_eq!(window.in_words(), words);
        }
        assert!("0d".parse::<Lifetime>().is_err() && "0d".parse::<TimeSpan>().is_ok());
    }

    #[test]
    fn what_is_no_length_of_time_says_why() {
        for (text, why) in [
            ("", "no length"),
            ("d", "no length"),
            ("m", "no length"),
            ("90", "no length"),
            ("90 d", "no length"),
            (" 90d", "no length"),
            ("-1d", "no length"),
            ("+1d", "no length"),
            ("1.5d", "no length"),
            ("90D", "no length"),
            ("3months", "no length"),
            ("٣d", "no length"),
            ("never", "no length"),
            ("3m", "minutes or months"),
            ("101y", "a hundred years"),
            ("36501d", "a hundred years"),
            ("99999999999999999999d", "a hundred years"),
        ] {
            let said = text.parse::<TimeSpan>().expect_err(text);
            assert!(said.contains(why), "{text}: {said}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(seconds in 0..=WINDOW_MAX) {
            let window = TimeSpan::of_seconds(seconds).expect("within bounds");
            prop_assert_eq!(window.to_string().parse(), Ok(window));
        }
    }
}
