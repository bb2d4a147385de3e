//! The `[expiration]` table of the policy: which memories expire, when, and how long they can be
//! restored.

mod evaluate;
mod time_span;

use std::fmt;

use chrono::{DateTime, Datelike, SubsecRound, Utc};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::event::rfc3339;
use crate::id::MemoryId;
use crate::memory_tool::path::MemoryPath;
use crate::policy::check_glob;
use crate::redact::{Glob, reading};

pub(crate) use self::evaluate::ExpirationRules;
pub use self::evaluate::{DecidedBy, ExpiryDecision};
pub use self::time_span::{Lifetime, TimeSpan};

/// Most rules, and most globs in `keep`.
pub const RULES_MAX: usize = 10_000;

/// Default for the largest share of a store's memories that one sweep removes without confirmation,
/// in percent.
const SHARE_MAX: u8 = 25;
/// The number of memories that a sweep may always remove if the policy sets a share: in a small
/// store, any number is a large share.
const SHARE_LEAST: usize = 10;

/// When memories expire, and what happens to them; the `[expiration]` table of the policy.
///
/// A memory that matches a `keep` glob never expires. Otherwise the first matching rule of `rules`
/// decides, in their order; if none matches, the table's own `unaccessed_for` does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Expiration {
    /// How long a memory may go without a read or write before it expires. Never, by default.
    #[serde(skip_serializing_if = "Lifetime::is_never")]
    pub unaccessed_for: Lifetime,
    /// How long a memory removed by a sweep can be restored before it may be erased, counted from
    /// the sweep. 30 days by default.
    pub grace: TimeSpan,
    /// The action when the grace period is over.
    pub then: Then,
    /// Globs over whole paths of memories that never expire.
    #[serde(deserialize_with = "keep", skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<String>,
    /// Most memories that one sweep may remove without `--yes`.
    pub sweep_max: SweepMax,
    /// The exceptions; the first that matches decides.
    #[serde(deserialize_with = "rules", skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<ExpirationRule>,
}

impl Default for Expiration {
    fn default() -> Self {
        Self {
            unaccessed_for: Lifetime::Never,
            grace: time_span::GRACE,
            then: Then::Delete,
            keep: Vec::new(),
            sweep_max: SweepMax::Share(SHARE_MAX),
            rules: Vec::new(),
        }
    }
}

/// The fate of an expired memory when its grace period is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Then {
    /// It stays deleted, but remains in history.
    Delete,
    /// Its key is destroyed: history no longer opens either.
    Erase,
}

/// Most memories that one sweep may remove: a number, or a share such as `"25%"` of all memories. A
/// share other than 0 % always allows 10.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SweepMax {
    /// A number of memories.
    Count(usize),
    /// A percentage of all memories.
    Share(u8),
}

impl Expiration {
    /// Returns the first glob in `keep` that matches a path: a memory there never expires.
    #[must_use]
    pub fn keeps(&self, path: &MemoryPath) -> Option<&str> {
        let fits = |glob: &&String| Glob::parse(glob).is_ok_and(|glob| glob.fits(path.as_str()));
        self.keep.iter().find(fits).map(String::as_str)
    }

    /// Sets or removes the expiry time of one memory, as the first of the rules. It replaces
    /// earlier rules that gave the memory a time, and keeps their `grace` and `then`.
    pub fn expire_at(&mut self, memory: MemoryId, at: Option<DateTime<Utc>>) {
        let gives_time =
            |rule: &ExpirationRule| rule.of == RuleFor::Memory(memory) && rule.when.is_a_time();
        let before = self.rules.iter().find(|rule| gives_time(rule)).cloned();
        self.rules.retain(|rule| !gives_time(rule));
        if let Some(at) = at {
            let rule = ExpirationRule {
                of: RuleFor::Memory(memory),
                when: RuleWhen::at(at),
                grace: before.as_ref().and_then(|rule| rule.grace),
                then: before.as_ref().and_then(|rule| rule.then),
            };
            self.rules.insert(0, rule);
        }
    }
}

impl<'de> Deserialize<'de> for Then {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "\"delete\" or \"erase\"";
        reading::text(deserializer, expected, |text| match text {
            "delete" => Ok(Self::Delete),
            "erase" => Ok(Self::Erase),
            other => Err(format!(
                "then = {other:?} is neither \"delete\" nor \"erase\""
            )),
        })
    }
}

impl SweepMax {
    /// Returns how many of `memories` one sweep may remove.
    #[must_use]
    pub fn of(self, memories: usize) -> usize {
        match self {
            Self::Count(count) => count,
            Self::Share(0) => 0,
            Self::Share(percent) => SHARE_LEAST.max(memories * usize::from(percent) / 100),
        }
    }
}

impl fmt::Display for SweepMax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => count.fmt(f),
            Self::Share(percent) => write!(f, "{percent}%"),
        }
    }
}

impl Serialize for SweepMax {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Count(count) => serializer.serialize_u64(*count as u64),
            Self::Share(_) => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for SweepMax {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SweepMaxForm)
    }
}

/// The visitor that reads a [`SweepMax`].
struct SweepMaxForm;

impl Visitor<'_> for SweepMaxForm {
    type Value = SweepMax;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of memories, or a share such as \"25%\"")
    }

    fn visit_i64<E: Error>(self, count: i64) -> Result<SweepMax, E> {
        let fault = |_| E::custom(format!("sweep_max = {count} is less than 0"));
        usize::try_from(count).map(SweepMax::Count).map_err(fault)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<SweepMax, E> {
        let digits = text.strip_suffix('%').unwrap_or_default();
        let digits = Some(digits).filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()));
        let percent = digits.and_then(|digits| digits.parse().ok());
        let percent = percent.filter(|percent| *percent <= 100);
        percent.map(SweepMax::Share).ok_or_else(|| {
            let text = crate::event::bounded(text, 40);
            let what = "is no share; say \"0%\" to \"100%\", or a number of memories";
            E::custom(format!("sweep_max = {text:?} {what}"))
        })
    }
}

fn keep<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let mut count = 0;
    let expected = "globs such as [\"/memories/team/**\"]";
    reading::texts(deserializer, expected, |glob| {
        within_max(&mut count, "globs in keep")?;
        check_glob(glob)
    })
}

fn rules<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ExpirationRule>, D::Error> {
    let mut count = 0;
    reading::tables(deserializer, |_| within_max(&mut count, "rules"))
}

/// Counts one more, up to [`RULES_MAX`].
fn within_max(count: &mut usize, what: &str) -> Result<(), String> {
    *count += 1;
    if *count > RULES_MAX {
        return Err(format!("there are more than {RULES_MAX} {what}"));
    }
    Ok(())
}

// Expiration rules.

/// An `[[expiration.rules]]` entry: a set of memories, and when they expire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RuleTable", into = "RuleTable")]
#[non_exhaustive]
pub struct ExpirationRule {
    /// The memories it applies to.
    pub of: RuleFor,
    /// When they expire.
    pub when: RuleWhen,
    /// Its own `grace`, if any.
    pub grace: Option<TimeSpan>,
    /// Its own `then`, if any.
    pub then: Option<Then>,
}

/// The memories that a rule applies to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuleFor {
    /// All memories whose path matches a glob.
    Path(String),
    /// A memory, whatever its path.
    Memory(MemoryId),
}

/// When the memories of a rule expire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuleWhen {
    /// After this time without a read or write, or never.
    UnaccessedFor(Lifetime),
    /// At this time, whether or not they are read. A policy keeps milliseconds.
    At(DateTime<Utc>),
}

impl RuleWhen {
    /// Cuts a time to the precision of a policy.
    fn at(time: DateTime<Utc>) -> Self {
        Self::At(time.trunc_subsecs(3))
    }

    fn is_a_time(self) -> bool {
        matches!(self, Self::At(_))
    }
}

/// A rule in the form of the file.
#[derive(Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[derive(Default)]
struct RuleTable {
    #[serde(deserialize_with = "path", skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(deserialize_with = "memory", skip_serializing_if = "Option::is_none")]
    memory: Option<MemoryId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unaccessed_for: Option<Lifetime>,
    #[serde(
        deserialize_with = "time",
        serialize_with = "write_time",
        skip_serializing_if = "Option::is_none"
    )]
    expires_at: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    grace: Option<TimeSpan>,
    #[serde(skip_serializing_if = "Option::is_none")]
    then: Option<Then>,
}

fn path<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let expected = "a glob in quotes, such as \"/memories/tmp/**\"";
    reading::text(deserializer, expected, |glob| {
        check_glob(glob).map(|()| Some(glob.to_owned()))
    })
}

fn memory<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<MemoryId>, D::Error> {
    let expected = "a memory id in quotes, of 32 lowercase hexadecimal digits";
    reading::text(deserializer, expected, |id| match MemoryId::from_hex(id) {
        None => Err("memory is not a memory id of 32 lowercase hexadecimal digits".into()),
        id => Ok(id),
    })
}

/// Reads a time with its offset, as a TOML date or as text.
fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<DateTime<Utc>>, D::Error> {
    let text = match toml::Value::deserialize(deserializer)? {
        toml::Value::Datetime(time) => time.to_string(),
        toml::Value::String(text) => text,
        other => other.to_string(),
    };
    let fault = |why: &str| {
        let text = crate::event::bounded(&text, 40);
        Err(serde::de::Error::custom(format!(
            "expires_at = {text} {why}"
        )))
    };
    match DateTime::parse_from_rfc3339(&text) {
        Ok(time) if (1970..=9999).contains(&time.to_utc().year()) => {
            Ok(Some(time.to_utc().trunc_subsecs(3)))
        }
        Ok(_) => fault("is not in the years from 1970 to 9999"),
        Err(_) => fault("is no time with its offset, such as 2027-01-31T00:00:00Z"),
    }
}

#[expect(clippy::ref_option, reason = "serde calls it")]
fn write_time<S: serde::Serializer>(
    time: &Option<DateTime<Utc>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let time = time.expect("what is not there is not written");
    serializer.serialize_str(&rfc3339(time))
}

impl TryFrom<RuleTable> for ExpirationRule {
    type Error = &'static str;

    fn try_from(table: RuleTable) -> Result<Self, &'static str> {
        let of = match (table.path, table.memory) {
            (Some(glob), None) => RuleFor::Path(glob),
            (None, Some(id)) => RuleFor::Memory(id),
            (None, None) => return Err("a rule needs path, a glob, or memory, a memory id"),
            _ => return Err("a rule has either path or memory, not both"),
        };
        let when = match (table.unaccessed_for, table.expires_at) {
            (Some(lifetime), None) => RuleWhen::UnaccessedFor(lifetime),
            (None, Some(time)) => RuleWhen::At(time),
            (None, None) => return Err("a rule needs unaccessed_for or expires_at"),
            _ => return Err("a rule has either unaccessed_for or expires_at, not both"),
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
            RuleFor::Memory(id) => (None, Some(id)),
        };
        let (unaccessed_for, expires_at) = match rule.when {
            RuleWhen::UnaccessedFor(lifetime) => (Some(lifetime), None),
            RuleWhen::At(time) => (None, Some(time)),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_a_few_is_still_some() {
        assert_eq!(SweepMax::Share(25).of(3), 10);
        assert_eq!(SweepMax::Share(25).of(1_000), 250);
        assert_eq!(SweepMax::Count(0).of(1_000), 0);
        assert_eq!(SweepMax::Share(0).of(1_000), 0);
    }

    #[test]
    fn one_memory_has_one_time() {
        let time = |text: &str| text.parse::<DateTime<Utc>>().expect("a time");
        let (own, other) = (MemoryId([1; 16]), MemoryId([2; 16]));
        let mut table = Expiration::default();
        table.expire_at(other, Some(time("2027-01-01T00:00:00Z")));
        table.expire_at(own, Some(time("2027-01-02T00:00:00Z")));
        table.rules[0].then = Some(Then::Erase);
        table.expire_at(other, Some(time("2027-01-03T00:00:00.000123Z")));
        table.expire_at(own, Some(time("2027-01-04T00:00:00Z")));
        let rules: Vec<_> = table
            .rules
            .iter()
            .map(|rule| (&rule.of, rule.then))
            .collect();
        let (own_rule, other_rule) = (RuleFor::Memory(own), RuleFor::Memory(other));
        assert_eq!(rules, [(&own_rule, Some(Then::Erase)), (&other_rule, None)]);
        assert_eq!(
            table.rules[1].when,
            RuleWhen::At(time("2027-01-03T00:00:00Z"))
        );
        // A rule without a time is the owner's own.
        table.rules[1].when = RuleWhen::UnaccessedFor(Lifetime::Never);
        table.expire_at(own, None);
        table.expire_at(other, None);
        assert_eq!(table.rules.len(), 1);
    }
}
