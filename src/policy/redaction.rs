//! The `[redaction]` table of the policy: what is done with secrets, where, and which are looked
//! for. The owner decides it; nothing in a memory or a call can.

use std::collections::BTreeSet;

use serde::{Deserialize, Deserializer, Serialize};

use crate::glob::Glob;
use crate::redact::{Check, Kind, Tail};

/// Most rules of the owner's own.
pub const RULES_MAX: usize = 1_000;
/// Longest shape of one of them, in bytes.
pub const SHAPE_BYTES_MAX: usize = 4_096;
/// Longest reach of one of them behind its literal, in bytes.
pub const REACH_MAX: usize = 4_096;

/// What is done with secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Redaction {
    /// What is done where no glob says otherwise.
    pub mode: Mode,
    /// Whether markers of random tokens carry a keyed fingerprint, so that the same token is seen
    /// to be the same.
    pub fingerprints: bool,
    /// Built-in kinds that are not looked for.
    #[serde(
        deserialize_with = "known_kinds",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub off: Vec<String>,
    /// Kinds of personal data that are looked for besides cards and accounts.
    #[serde(
        deserialize_with = "personal_kinds",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub personal: Vec<String>,
    /// What is done below certain paths; the first glob that fits decides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<PathMode>,
    /// Values that may stay.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<Allow>,
    /// Rules of the owner's own.
    #[serde(deserialize_with = "own_rules", skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<OwnRule>,
    /// The text of a `gitleaks.toml`, whose rules apply besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gitleaks: Option<String>,
}

impl Redaction {
    /// Whether nothing in it differs from what holds without it.
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// What is done with a text that holds a secret.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Mode {
    /// The secret is replaced by a marker.
    #[default]
    Redact,
    /// The write is refused.
    Reject,
    /// Nothing is looked for.
    Off,
}

/// A mode for the paths that a glob fits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PathMode {
    /// `*` and `?` do not cross a `/`, `**` does; fits whole paths from `/memories`.
    #[serde(deserialize_with = "glob")]
    pub glob: String,
    /// What is done there.
    pub mode: Mode,
}

/// A value that may stay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "AllowForm")]
#[non_exhaustive]
pub struct Allow {
    /// The keyed fingerprint of the value: 16 hexadecimal digits, as `redact fingerprint` prints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// A regular expression that fits the whole value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regex: Option<String>,
    /// Only where it is found as this kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Only in the paths that this glob fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub glob: Option<String>,
    /// Why it may stay.
    pub reason: String,
}

/// [`Allow`] as it is written, before it is checked as a whole.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AllowForm {
    fingerprint: Option<String>,
    regex: Option<String>,
    kind: Option<String>,
    glob: Option<String>,
    reason: String,
}

impl TryFrom<AllowForm> for Allow {
    type Error = String;

    fn try_from(form: AllowForm) -> Result<Self, String> {
        let AllowForm {
            fingerprint,
            regex,
            kind,
            glob,
            reason,
        } = form;
        if fingerprint.is_some() == regex.is_some() {
            return Err("an `allow` names either a `fingerprint` or a `regex`".into());
        }
        if reason.trim().is_empty() {
            return Err("an `allow` says its `reason`".into());
        }
        let hex = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
        if fingerprint
            .as_ref()
            .is_some_and(|text| text.len() != 16 || !text.bytes().all(hex))
        {
            return Err("a `fingerprint` is 16 lowercase hexadecimal digits".into());
        }
        if let Some(regex) = &regex {
            crate::redact::check_pattern(regex).map_err(|why| format!("`regex`: {why}"))?;
        }
        if let Some(glob) = &glob {
            Glob::check(glob)?;
        }
        Ok(Self {
            fingerprint,
            regex,
            kind,
            glob,
            reason,
        })
    }
}

/// A rule of the owner's own, in the form of the built-in ones that begin with a literal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "OwnRuleForm")]
#[non_exhaustive]
pub struct OwnRule {
    /// The kind, as it stands in markers: 2 to 40 of `a-z`, `0-9` and `-`; no built-in one.
    pub kind: String,
    /// What it is.
    pub what: String,
    /// A regular expression of the token, on bytes, with no boundaries at its ends; its first
    /// group, if it has one, is the secret.
    pub shape: String,
    /// Byte strings, one of which every match begins with, or holds if `lead` says so.
    pub literals: Vec<String>,
    /// Most bytes before the literal at which a match begins.
    pub lead: usize,
    /// Most bytes after the start of the literal that a match needs.
    pub reach: usize,
    /// How far the secret runs on after its shape.
    pub tail: Tail,
    /// What a match must pass besides its shape.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// Texts in which it must be found; what must vanish stands between `«` and `»`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<String>,
    /// Texts that must stay as they are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<String>,
}

/// [`OwnRule`] as it is written, before it is checked as a whole.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnRuleForm {
    kind: String,
    #[serde(default)]
    what: String,
    shape: String,
    literals: Vec<String>,
    #[serde(default)]
    lead: usize,
    #[serde(default = "default_reach")]
    reach: usize,
    #[serde(default = "default_tail")]
    tail: Tail,
    #[serde(default)]
    checks: Vec<Check>,
    #[serde(default)]
    found: Vec<String>,
    #[serde(default)]
    kept: Vec<String>,
}

fn default_reach() -> usize {
    512
}

fn default_tail() -> Tail {
    Tail::Word
}

impl TryFrom<OwnRuleForm> for OwnRule {
    type Error = String;

    fn try_from(form: OwnRuleForm) -> Result<Self, String> {
        let kind = &form.kind;
        let fault = |why: String| Err(format!("rule `{kind}`: {why}"));
        if Kind::parse(kind).is_none() {
            return Err("a `kind` is 2 to 40 of `a-z`, `0-9` and `-`".into());
        }
        if crate::redact::is_known(kind) {
            return fault("a built-in rule has this kind".into());
        }
        if form.shape.len() > SHAPE_BYTES_MAX {
            return fault(format!("`shape` has more than {SHAPE_BYTES_MAX} bytes"));
        }
        if form.lead > REACH_MAX || form.reach > REACH_MAX {
            return fault(format!("`lead` and `reach` are at most {REACH_MAX}"));
        }
        let short = |literal: &String| literal.len() < 2 || literal.len() > 256;
        if form.literals.is_empty() || form.literals.iter().any(short) {
            return fault("`literals` names at least one text of 2 to 256 bytes".into());
        }
        if let Err(why) = crate::redact::check_pattern(&form.shape) {
            return fault(format!("`shape`: {why}"));
        }
        Ok(Self {
            kind: form.kind,
            what: form.what,
            shape: form.shape,
            literals: form.literals,
            lead: form.lead,
            reach: form.reach,
            tail: form.tail,
            checks: form.checks,
            found: form.found,
            kept: form.kept,
        })
    }
}

/// Reads names of built-in kinds; a fault is the value's, so that it is reported with its line.
fn known_kinds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let names = Vec::<String>::deserialize(deserializer)?;
    match names.iter().find(|name| !crate::redact::is_known(name)) {
        None => Ok(names),
        Some(name) => Err(serde::de::Error::custom(format!(
            "`{name}` is no kind that is looked for; `agekeep redact rules` lists them"
        ))),
    }
}

fn personal_kinds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let names = Vec::<String>::deserialize(deserializer)?;
    match names.iter().find(|name| !crate::redact::is_personal(name)) {
        None => Ok(names),
        Some(name) => Err(serde::de::Error::custom(format!(
            "`{name}` is no kind of personal data; `agekeep redact rules` lists them"
        ))),
    }
}

/// Reads the owner's rules: so many at most, and no kind twice.
fn own_rules<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<OwnRule>, D::Error> {
    let rules = Vec::<OwnRule>::deserialize(deserializer)?;
    if rules.len() > RULES_MAX {
        let why = format!("{} rules are more than {RULES_MAX}", rules.len());
        return Err(serde::de::Error::custom(why));
    }
    let mut kinds = BTreeSet::new();
    match rules.iter().find(|rule| !kinds.insert(&rule.kind)) {
        None => Ok(rules),
        Some(rule) => Err(serde::de::Error::custom(format!(
            "two rules have the kind `{}`",
            rule.kind
        ))),
    }
}

fn glob<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let glob = String::deserialize(deserializer)?;
    Glob::check(&glob).map_err(serde::de::Error::custom)?;
    Ok(glob)
}
