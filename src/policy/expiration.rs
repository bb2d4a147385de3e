//! The `[expiration]` table of the policy: what goes away by itself, when, and for how long it can
//! still be brought back.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::glob::Glob;
use crate::id::MemoryId;
use crate::path::MemoryPath;

/// How long an expired memory can be brought back, unless the policy says otherwise: 30 days.
const GRACE: Window = Window(30 * DAY);
/// The largest share of its memories that one sweep takes from a store unasked, in percent, unless
/// the policy says otherwise.
const SHARE_MAX: u8 = 25;
/// So many memories a sweep may always take where the policy gives a share: of a few, any is much.
const SHARE_LEAST: usize = 10;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const WEEK: i64 = 7 * DAY;
const YEAR: i64 = 365 * DAY;
/// The longest time a policy can give: a hundred years.
const WINDOW_MAX: i64 = 100 * YEAR;

/// When memories expire, and what becomes of them; the `[expiration]` table of the policy.
///
/// What a `keep` glob fits never expires. For all else the first of `rules` that fits decides, in
/// the order they are written; where none does, `unaccessed_for` of the table itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Expiration {
    /// A memory expires that was neither read nor written for so long. Never, unless said.
    #[serde(skip_serializing_if = "Lifetime::is_never")]
    pub unaccessed_for: Lifetime,
    /// How long a memory that a sweep removed can be brought back before it may be erased, counted
    /// from the sweep. 30 days unless said.
    pub grace: Window,
    /// What follows when the grace has passed.
    pub then: Then,
    /// Globs over whole paths that never expire.
    #[serde(deserialize_with = "globs", skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<String>,
    /// How many memories one sweep may remove unless it is told `--yes`.
    pub sweep_max: SweepMax,
    /// Exceptions, the first that fits first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<ExpirationRule>,
}

impl Default for Expiration {
    fn default() -> Self {
        Self {
            unaccessed_for: Lifetime::Never,
            grace: GRACE,
            then: Then::Delete,
            keep: Vec::new(),
            sweep_max: SweepMax::Share(SHARE_MAX),
            rules: Vec::new(),
        }
    }
}

/// One `[[expiration.rules]]`: which memories, and when they expire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RuleTable", into = "RuleTable")]
#[non_exhaustive]
pub struct ExpirationRule {
    /// What it is for.
    pub of: RuleFor,
    /// When that expires.
    pub when: RuleWhen,
    /// Its own `grace`.
    pub grace: Option<Window>,
    /// Its own `then`.
    pub then: Option<Then>,
}

/// Which memories a rule is for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuleFor {
    /// Those whose path a glob fits.
    Path(String),
    /// One memory, wherever it is.
    Memory(MemoryId),
}

/// When the memories of a rule expire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuleWhen {
    /// When neither read nor written for so long, or never.
    UnaccessedFor(Lifetime),
    /// At that time, whoever reads them.
    At(DateTime<Utc>),
}

/// What becomes of an expired memory when its grace has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Then {
    /// It stays deleted, and in history.
    Delete,
    /// Its key is destroyed: it is gone from history too.
    Erase,
}

/// A length of time, in whole seconds: `45s`, `30min`, `12h`, `90d`, `2w`, `1y` (365 days).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Window(i64);

/// A length of time, or `never`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifetime {
    /// So long.
    For(Window),
    /// Without end.
    Never,
}

/// The most memories one sweep may remove: a number, or a share such as `"25%"` of those there
/// are, of which 10 are always allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SweepMax {
    /// So many.
    Count(usize),
    /// So many of a hundred.
    Share(u8),
}

impl Expiration {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Window {
    /// In seconds.
    #[must_use]
    pub fn seconds(self) -> i64 {
        self.0
    }

    /// Of so many seconds; what no policy can say is cut to what one can.
    #[must_use]
    pub fn of(seconds: i64) -> Self {
        Self(seconds.clamp(0, WINDOW_MAX))
    }

    pub(crate) fn delta(self) -> TimeDelta {
        TimeDelta::seconds(self.0)
    }
}

impl FromStr for Window {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fault = || format!("{text:?} is no length of time; say 45s, 30min, 12h, 90d, 2w or 1y");
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        let unit = match unit {
            "s" => 1,
            "min" => MINUTE,
            "h" => HOUR,
            "d" => DAY,
            "w" => WEEK,
            "y" => YEAR,
            "m" => return Err(format!("{text:?}: is m minutes or months? Say min, or d")),
            _ => return Err(fault()),
        };
        let number: i64 = number.parse().map_err(|_| fault())?;
        number
            .checked_mul(unit)
            .filter(|seconds| *seconds <= WINDOW_MAX)
            .map(Self)
            .ok_or_else(|| format!("{text:?} is longer than a hundred years"))
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(DAY, "d"), (HOUR, "h"), (MINUTE, "min")];
        let whole = units.into_iter().find(|(unit, _)| self.0 % unit == 0);
        let (unit, name) = whole.unwrap_or((1, "s"));
        write!(f, "{}{name}", self.0 / unit)
    }
}

impl FromStr for Lifetime {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "never" => Ok(Self::Never),
            text => match text.parse()? {
                Window(0) => Err("nothing could be read if it expired at once".into()),
                window => Ok(Self::For(window)),
            },
        }
    }
}

impl Lifetime {
    fn is_never(&self) -> bool {
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

/// Reads and writes a type as the text it is in TOML.
macro_rules! as_text {
    ($name:ident) => {
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    };
}

as_text!(Window);
as_text!(Lifetime);

impl SweepMax {
    /// How many of `memories` one sweep may remove.
    #[must_use]
    pub fn of(self, memories: usize) -> usize {
        match self {
            Self::Count(count) => count,
            Self::Share(percent) => SHARE_LEAST.max(memories * usize::from(percent) / 100),
        }
    }
}

impl<'de> Deserialize<'de> for SweepMax {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fault = "sweep_max is a number of memories, or a share such as \"25%\"";
        let fault = || serde::de::Error::custom(fault);
        match toml::Value::deserialize(deserializer)? {
            toml::Value::Integer(count) => {
                usize::try_from(count).map(Self::Count).map_err(|_| fault())
            }
            toml::Value::String(share) => {
                let percent = share.strip_suffix('%').and_then(|n| n.parse().ok());
                let percent = percent.filter(|percent| *percent <= 100);
                percent.map(Self::Share).ok_or_else(fault)
            }
            _ => Err(fault()),
        }
    }
}

impl Serialize for SweepMax {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Count(count) => serializer.serialize_u64(*count as u64),
            Self::Share(percent) => serializer.collect_str(&format_args!("{percent}%")),
        }
    }
}

fn globs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let globs = Vec::<String>::deserialize(deserializer)?;
    let mut checked = globs.iter().map(|glob| check_glob(glob));
    checked
        .find_map(Result::err)
        .map_or(Ok(()), |why| Err(serde::de::Error::custom(why)))?;
    Ok(globs)
}

/// A glob over whole paths; one that can fit none is a mistake.
fn check_glob(glob: &str) -> Result<(), String> {
    Glob::check(glob)?;
    let first = glob.strip_prefix('/').unwrap_or(glob);
    let root = first.split('/').next().unwrap_or_default();
    let can_fit = glob.starts_with("**")
        || (glob.starts_with('/') && (root == "memories" || root.contains(['*', '?', '[', '{'])));
    if can_fit {
        return Ok(());
    }
    Err(format!(
        "the glob {glob:?} can fit no path: paths begin with /memories/"
    ))
}

/// A rule as it stands in the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleTable {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    memory: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unaccessed_for: Option<Lifetime>,
    #[serde(
        default,
        deserialize_with = "time",
        skip_serializing_if = "Option::is_none"
    )]
    expires_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    grace: Option<Window>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    then: Option<Then>,
}

/// A time with its offset, as TOML writes one or as text.
fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = match toml::Value::deserialize(deserializer)? {
        toml::Value::Datetime(time) => time.to_string(),
        toml::Value::String(text) => text,
        other => other.to_string(),
    };
    match DateTime::parse_from_rfc3339(&text) {
        Ok(_) => Ok(Some(text)),
        Err(_) => Err(serde::de::Error::custom(format!(
            "expires_at = {text} is no time with its offset, such as 2027-01-31T00:00:00Z"
        ))),
    }
}

impl TryFrom<RuleTable> for ExpirationRule {
    type Error = String;

    fn try_from(table: RuleTable) -> Result<Self, String> {
        let of = match (table.path, table.memory) {
            (Some(glob), None) => {
                check_glob(&glob)?;
                RuleFor::Path(glob)
            }
            (None, Some(id)) => RuleFor::Memory(
                MemoryId::from_hex(&id)
                    .ok_or("memory is not a memory id of 32 lowercase hexadecimal digits")?,
            ),
            _ => return Err("a rule has either path, a glob, or memory, a memory id".into()),
        };
        let when = match (table.unaccessed_for, table.expires_at) {
            (Some(lifetime), None) => RuleWhen::UnaccessedFor(lifetime),
            (None, Some(text)) => {
                let time = DateTime::parse_from_rfc3339(&text).map_err(|e| e.to_string())?;
                RuleWhen::At(time.to_utc())
            }
            _ => return Err("a rule has either unaccessed_for or expires_at".into()),
        };
        Ok(Self {
            of,
            when,
            grace: table.grace,
            then: table.then,
        })
    }
}

impl From<ExpirationRule> for RuleTable {
    fn from(rule: ExpirationRule) -> Self {
        let (path, memory) = match rule.of {
            RuleFor::Path(glob) => (Some(glob), None),
            RuleFor::Memory(id) => (None, Some(id.to_string())),
        };
        let (unaccessed_for, expires_at) = match rule.when {
            RuleWhen::UnaccessedFor(lifetime) => (Some(lifetime), None),
            RuleWhen::At(time) => (None, Some(crate::event::rfc3339(time))),
        };
        Self {
            path,
            memory,
            unaccessed_for,
            expires_at,
            grace: rule.grace,
            then: rule.then,
        }
    }
}

/// Which part of the policy decides about a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecidedBy {
    /// A glob in `keep`, by its place in the list, counted from 1.
    Keep(usize),
    /// A rule, by its place among `[[expiration.rules]]`, counted from 1.
    Rule(usize),
    /// The table itself.
    Table,
}

/// What the policy says of one memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ruling {
    /// The part of the policy that decides.
    pub by: DecidedBy,
    /// When the memory expires: how, and the time that comes to; `None` is never.
    pub expires: Option<(RuleWhen, DateTime<Utc>)>,
    /// How long it can be brought back once a sweep has removed it.
    pub grace: Window,
    /// What follows then.
    pub then: Then,
}

/// The table with its globs ready to be tried.
pub(crate) struct Rules {
    table: Expiration,
    keep: Vec<Glob>,
    /// One for each rule; `None` for a rule about one memory.
    globs: Vec<Option<Glob>>,
}

impl Rules {
    pub(crate) fn of(table: &Expiration) -> crate::error::Result<Self> {
        let glob = |rule: &ExpirationRule| match &rule.of {
            RuleFor::Path(glob) => Glob::parse(glob).map(Some),
            RuleFor::Memory(_) => Ok(None),
        };
        let keep = table.keep.iter().map(|glob| Glob::parse(glob));
        Ok(Self {
            keep: keep.collect::<Result<_, _>>()?,
            globs: table.rules.iter().map(glob).collect::<Result<_, _>>()?,
            table: table.clone(),
        })
    }

    /// Whether nothing ever expires by it.
    pub(crate) fn is_empty(&self) -> bool {
        self.table.rules.is_empty() && self.table.unaccessed_for.is_never()
    }

    /// Whether anything is erased by it.
    pub(crate) fn may_erase(&self) -> bool {
        let mut own = self.table.rules.iter().filter_map(|rule| rule.then);
        self.table.then == Then::Erase || own.any(|then| then == Then::Erase)
    }

    pub(crate) fn sweep_max(&self) -> SweepMax {
        self.table.sweep_max
    }

    /// What is said of a memory that was last accessed then.
    pub(crate) fn ruling(
        &self,
        id: MemoryId,
        path: &MemoryPath,
        accessed: DateTime<Utc>,
    ) -> Ruling {
        let table = &self.table;
        let ruling = |by, when, grace: Option<Window>, then: Option<Then>| Ruling {
            by,
            expires: match when {
                RuleWhen::UnaccessedFor(Lifetime::Never) => None,
                // What would be beyond all dates never comes.
                RuleWhen::UnaccessedFor(Lifetime::For(window)) => accessed
                    .checked_add_signed(window.delta())
                    .map(|at| (when, at)),
                RuleWhen::At(at) => Some((when, at)),
            },
            grace: grace.unwrap_or(table.grace),
            then: then.unwrap_or(table.then),
        };
        let never = RuleWhen::UnaccessedFor(Lifetime::Never);
        if let Some(kept) = self.keep.iter().position(|glob| glob.fits(path)) {
            return ruling(DecidedBy::Keep(kept + 1), never, None, None);
        }
        let fits = |(rule, glob): &(&ExpirationRule, &Option<Glob>)| match (&rule.of, glob) {
            (RuleFor::Memory(own), _) => *own == id,
            (RuleFor::Path(_), glob) => glob.as_ref().is_some_and(|glob| glob.fits(path)),
        };
        let mut rules = table.rules.iter().zip(&self.globs).enumerate();
        match rules.find(|(_, rule)| fits(rule)) {
            Some((at, (rule, _))) => {
                ruling(DecidedBy::Rule(at + 1), rule.when, rule.grace, rule.then)
            }
            None => ruling(
                DecidedBy::Table,
                RuleWhen::UnaccessedFor(table.unaccessed_for),
                None,
                None,
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_are_read_and_written() {
        for (text, seconds, written) in [
            ("90d", 90 * DAY, "90d"),
            ("2w", 14 * DAY, "14d"),
            ("1y", 365 * DAY, "365d"),
            ("36h", 36 * HOUR, "36h"),
            ("90min", 90 * MINUTE, "90min"),
            ("61s", 61, "61s"),
        ] {
            let window: Window = text.parse().expect("a length of time");
            assert_eq!(
                (window.seconds(), window.to_string()),
                (seconds, written.into())
            );
        }
        for text in [
            "",
            "d",
            "90",
            "90 d",
            "-1d",
            "1.5d",
            "90D",
            "3m",
            "101y",
            "99999999999999999999d",
        ] {
            assert!(text.parse::<Window>().is_err(), "{text}");
        }
        assert!("0d".parse::<Lifetime>().is_err() && "0d".parse::<Window>().is_ok());
    }

    #[test]
    fn a_share_of_a_few_is_still_some() {
        assert_eq!(SweepMax::Share(25).of(3), 10);
        assert_eq!(SweepMax::Share(25).of(1_000), 250);
        assert_eq!(SweepMax::Count(0).of(1_000), 0);
    }
}
