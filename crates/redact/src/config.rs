//! The `[redaction]` table of the policy: the treatment of secrets, the paths that it holds for,
//! and the kinds that are looked for. The owner decides it; nothing in a memory or a call can.

use std::collections::BTreeSet;

use serde::{Deserialize, Deserializer, Serialize};

use crate::gitleaks::{Checked, Gitleaks};
use crate::glob::Glob;
use crate::redactor::{Redactor, check_pattern, is_known, is_personal};
use crate::similar::nearest;
use crate::{Check, Fault, Kind, Tail, reading, rules};

/// Most rules of the owner.
pub const RULES_MAX: usize = 1_000;
/// Longest shape of an owner's rule, in bytes.
pub const SHAPE_BYTES_MAX: usize = 4_096;
/// Longest reach of an owner's rule behind its literal, in bytes.
pub const REACH_MAX: usize = 4_096;
/// Longest name that is compared with all kinds, in bytes.
const COMPARED_MAX: usize = 60;

/// The expected form of a pattern.
const PATTERN: &str = "a regular expression in quotes";

/// The settings of redaction.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Redaction {
    /// The mode where no glob says otherwise.
    pub mode: Mode,
    /// Turns on keyed fingerprints in the markers of random tokens, so that equal tokens can be
    /// recognized.
    pub fingerprints: bool,
    /// Built-in kinds that are switched off.
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
    /// Modes for certain paths; the first glob that fits decides.
    #[serde(deserialize_with = "any_tables", skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<PathMode>,
    /// Values that may stay.
    #[serde(deserialize_with = "any_tables", skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<Allow>,
    /// The owner's rules.
    #[serde(deserialize_with = "own_rules", skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<OwnRule>,
    /// The text of a `gitleaks.toml`, whose rules apply too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gitleaks: Option<String>,
}

/// A treatment of texts that hold a secret.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Mode {
    /// The secret is replaced by a marker.
    #[default]
    Redact,
    /// The write is refused.
    Reject,
    /// No secret is looked for.
    Off,
}

impl<'de> Deserialize<'de> for Mode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "\"redact\", \"reject\" or \"off\"";
        reading::text(deserializer, expected, |text| match text {
            "redact" => Ok(Self::Redact),
            "reject" => Ok(Self::Reject),
            "off" => Ok(Self::Off),
            other => Err(format!("mode = {other:?} is none of {expected}")),
        })
    }
}

/// A mode for the paths that a glob fits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PathMode {
    /// The glob. `*` and `?` do not cross a `/`, `**` does. It fits whole paths from `/memories`.
    #[serde(deserialize_with = "glob")]
    pub glob: String,
    /// The mode there.
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
    /// The only kind under which the value may stay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// A glob that fits the only paths in which the value may stay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub glob: Option<String>,
    /// The reason why it may stay.
    pub reason: String,
}

/// [`Allow`] as it is written, before it is checked as a whole.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AllowForm {
    #[serde(default, deserialize_with = "fingerprint")]
    fingerprint: Option<String>,
    #[serde(default, deserialize_with = "regex")]
    regex: Option<String>,
    kind: Option<String>,
    #[serde(default, deserialize_with = "some_glob")]
    glob: Option<String>,
    #[serde(deserialize_with = "reason")]
    reason: String,
}

impl TryFrom<AllowForm> for Allow {
    type Error = &'static str;

    fn try_from(form: AllowForm) -> Result<Self, &'static str> {
        if form.fingerprint.is_some() == form.regex.is_some() {
            return Err("an `allow` names either a `fingerprint` or a `regex`");
        }
        Ok(Self {
            fingerprint: form.fingerprint,
            regex: form.regex,
            kind: form.kind,
            glob: form.glob,
            reason: form.reason,
        })
    }
}

/// A rule of the owner, in the form of the built-in rules that begin with a literal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct OwnRule {
    /// The kind, as it stands in markers: 2 to 40 of `a-z`, `0-9` and `-`; not a built-in kind.
    #[serde(deserialize_with = "own_kind")]
    pub kind: String,
    /// A short description.
    #[serde(default)]
    pub what: String,
    /// A regular expression of the token, on bytes, with no boundaries at its ends; its first
    /// group, if it has one, is the secret.
    #[serde(deserialize_with = "shape")]
    pub shape: String,
    /// Byte strings. Every match begins with one of them, or holds one if `lead` says so.
    #[serde(deserialize_with = "literals")]
    pub literals: Vec<String>,
    /// Most bytes between the start of a match and its literal.
    #[serde(default, deserialize_with = "lead")]
    pub lead: usize,
    /// Most bytes after the start of the literal that a match needs.
    #[serde(default = "default_reach", deserialize_with = "reach")]
    pub reach: usize,
    /// The bytes with which the secret runs on after its shape.
    #[serde(default = "default_tail")]
    pub tail: Tail,
    /// Checks that a match must pass besides its shape.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// Texts in which the rule must find a secret: the text between `«` and `»` must vanish.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<String>,
    /// Texts that must stay as they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<String>,
}

fn default_reach() -> usize {
    512
}

fn default_tail() -> Tail {
    Tail::Word
}

/// Reads the names of built-in kinds.
fn known_kinds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    reading::texts(deserializer, "kinds", |name| {
        if is_known(name) {
            return Ok(());
        }
        Err(no_kind(name, "that is looked for", |_| true))
    })
}

fn personal_kinds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    reading::texts(deserializer, "kinds of personal data", |name| {
        if is_personal(name) {
            return Ok(());
        }
        Err(no_kind(name, "of personal data", is_personal))
    })
}

/// Explains that a name is no kind of these rules, and names the most similar ones.
fn no_kind(name: &str, of: &str, rules: impl Fn(&str) -> bool) -> String {
    let kinds: BTreeSet<_> = rules::all().map(|rule| rule.kind).collect();
    let near = match name.len() {
        0..=COMPARED_MAX => nearest(name, kinds.into_iter().filter(|kind| rules(kind))),
        _ => Vec::new(),
    };
    let near = match near[..] {
        [] => String::new(),
        _ => format!("; the nearest is {}", near.join(" or ")),
    };
    format!("`{name}` is no kind {of}{near}; `agekeep rules list` lists them")
}

fn any_tables<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    reading::tables(deserializer, |_| Ok(()))
}

/// Reads the owner's rules. Refuses too many of them, and a kind that comes twice.
fn own_rules<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<OwnRule>, D::Error> {
    let mut kinds = BTreeSet::new();
    reading::tables(deserializer, |rule: &OwnRule| {
        if !kinds.insert(rule.kind.clone()) {
            return Err(format!("two rules have the kind `{}`", rule.kind));
        }
        if kinds.len() > RULES_MAX {
            return Err(format!("there are more than {RULES_MAX} rules"));
        }
        Ok(())
    })
}

fn own_kind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    reading::text(deserializer, "a kind in quotes", |kind| {
        if Kind::parse(kind).is_none() {
            return Err("a `kind` is 2 to 40 of `a-z`, `0-9` and `-`".into());
        }
        if is_known(kind) {
            return Err(format!("a built-in rule has the kind `{kind}`"));
        }
        Ok(kind.to_owned())
    })
}

fn shape<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    reading::text(deserializer, PATTERN, |shape| {
        if shape.len() > SHAPE_BYTES_MAX {
            return Err(format!("`shape` has more than {SHAPE_BYTES_MAX} bytes"));
        }
        check_pattern(shape).map_err(|why| format!("`shape`: {why}"))?;
        Ok(shape.to_owned())
    })
}

fn literals<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let why = "`literals` names at least one text of 2 to 256 bytes";
    let literals = reading::texts(deserializer, "texts", |literal| {
        let fits = (2..=256).contains(&literal.len());
        fits.then_some(()).ok_or_else(|| why.to_owned())
    })?;
    if literals.is_empty() {
        return Err(serde::de::Error::custom(why));
    }
    Ok(literals)
}

fn lead<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    reading::number(deserializer, "lead", (0, REACH_MAX))
}

fn reach<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    reading::number(deserializer, "reach", (0, REACH_MAX))
}

fn fingerprint<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let hex = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
    reading::text(deserializer, "a fingerprint in quotes", |text| {
        if text.len() == 16 && text.bytes().all(hex) {
            return Ok(Some(text.to_owned()));
        }
        Err("a `fingerprint` is 16 lowercase hexadecimal digits".into())
    })
}

fn regex<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    reading::text(deserializer, PATTERN, |regex| {
        check_pattern(regex).map_err(|why| format!("`regex`: {why}"))?;
        Ok(Some(regex.to_owned()))
    })
}

fn reason<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    reading::text(deserializer, "a reason in quotes", |reason| {
        if reason.trim().is_empty() {
            return Err("an `allow` says its `reason`".into());
        }
        Ok(reason.to_owned())
    })
}

fn some_glob<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    glob(deserializer).map(Some)
}

fn glob<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let expected = "a glob in quotes, such as \"/memories/public/**\"";
    reading::text(deserializer, expected, |glob| {
        Glob::check(glob).map(|()| glob.to_owned())
    })
}

// The check of the owner's rules: each one is tried before a policy is accepted.

/// Returns the verdict on each rule of a `gitleaks.toml`, and remarks on the parts of the file that
/// have no bearing here.
///
/// # Errors
/// A [`Fault`], with its line, if the file cannot be read at all.
pub fn check_gitleaks(text: &str) -> Result<(Vec<Checked>, Vec<String>), Fault> {
    let report = Gitleaks::check(text).map_err(|fault| policy_fault(&fault))?;
    if let Some(fault) = report.faults.into_iter().next() {
        return Err(policy_fault(&fault));
    }
    Ok((report.rules, report.remarks))
}

/// A part of a policy that does not do what it says.
pub struct Broken {
    /// The place of the part.
    pub place: Place,
    why: String,
}

/// A place in a policy.
#[derive(Clone, Copy)]
pub enum Place {
    /// The `gitleaks.toml` in it, at a line of that file.
    Gitleaks(Option<usize>),
    /// An example in `found` of a rule; rule and example are counted from 0.
    Found(usize, usize),
    /// An example in `kept` of a rule; both are counted from 0.
    Kept(usize, usize),
    /// No place in particular.
    Redaction,
}

impl Broken {
    /// Returns the reason, for a policy that holds the `gitleaks.toml` as a value with lines of its
    /// own.
    #[must_use]
    pub fn why_in_policy(&self) -> String {
        match self.place {
            Place::Gitleaks(Some(line)) => {
                format!("gitleaks.toml, line {line} of it: {}", self.why)
            }
            Place::Gitleaks(None) => format!("gitleaks.toml: {}", self.why),
            _ => self.why.clone(),
        }
    }
}

/// Tries a policy: compiles every rule of the owner, and runs its examples.
///
/// # Errors
/// A [`Fault`] that names the first rule that does not do what it says.
pub fn check_policy(policy: &Redaction) -> Result<(), Fault> {
    try_policy(policy).map_err(|broken| match broken.place {
        Place::Gitleaks(line) => policy_fault(&Fault {
            line,
            why: broken.why,
        }),
        _ => Fault {
            line: None,
            why: broken.why,
        },
    })
}

/// Tries a policy as [`check_policy`] does, and names the place of the rule.
///
/// # Errors
/// The first rule that does not do what it says.
pub fn try_policy(policy: &Redaction) -> Result<(), Broken> {
    let in_gitleaks = |fault: &Fault| Broken {
        place: Place::Gitleaks(fault.line),
        why: fault.why.clone(),
    };
    if let Some(text) = &policy.gitleaks {
        let report = Gitleaks::check(text).map_err(|fault| in_gitleaks(&fault))?;
        if let Some(fault) = report.fault() {
            return Err(in_gitleaks(fault));
        }
    }
    let redactor = Redactor::of_policy(policy).map_err(|fault| Broken {
        place: Place::Redaction,
        why: fault.why,
    })?;
    let mut rules = policy.rules.iter().enumerate();
    rules.try_for_each(|(at, rule)| check_rule(&redactor, at, rule))
}

fn policy_fault(fault: &Fault) -> Fault {
    Fault {
        line: fault.line,
        why: format!("gitleaks.toml: {}", fault.why),
    }
}

fn check_rule(redactor: &Redactor, at: usize, rule: &OwnRule) -> Result<(), Broken> {
    let fault = |what: &str, number: usize, place: fn(usize, usize) -> Place| {
        Err(Broken {
            place: place(at, number),
            why: format!("rule `{}`: {what} its example {}", rule.kind, number + 1),
        })
    };
    for (number, example) in rule.found.iter().enumerate() {
        let text = example.replace(['«', '»', '¦'], "");
        let (redacted, _) = redactor.line(&text);
        let secrets = example.split('«').skip(1);
        let mut secrets = secrets.map(|rest| rest.split('»').next().unwrap_or(rest));
        let left = secrets.any(|secret| redacted.contains(&secret.replace('¦', "")));
        if left || redacted == text {
            return fault("it does not find", number, Place::Found);
        }
    }
    for (number, example) in rule.kept.iter().enumerate() {
        let text = example.replace('¦', "");
        if redactor.line(&text).0 != text {
            return fault("it does not keep", number, Place::Kept);
        }
    }
    Ok(())
}
