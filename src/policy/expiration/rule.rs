//! One `[[expiration.rules]]`: which memories, and when they expire.

use chrono::{DateTime, Datelike, SubsecRound, Utc};
use serde::{Deserialize, Deserializer, Serialize};

use super::{Lifetime, Then, Window};
use crate::event::rfc3339;
use crate::id::MemoryId;
use crate::policy::check_glob;
use crate::redact::reading;

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
    /// At that time, whoever reads them. A policy keeps milliseconds.
    At(DateTime<Utc>),
}

impl RuleWhen {
    /// At a time, as exact as a policy keeps it.
    pub(super) fn at(time: DateTime<Utc>) -> Self {
        Self::At(time.trunc_subsecs(3))
    }

    pub(super) fn is_a_time(self) -> bool {
        matches!(self, Self::At(_))
    }
}

/// A rule as it stands in the file.
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
    grace: Option<Window>,
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

/// A time with its offset, as TOML writes one or as text.
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
