//! The lines of a policy on which things stand.

use serde::Deserialize;
use serde::de::IgnoredAny;
use toml::Spanned;

use crate::redact::Place;

/// What is looked for: only where it stands, and nothing of what it is.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Stands {
    redaction: RedactionStands,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct RedactionStands {
    gitleaks: Option<Spanned<IgnoredAny>>,
    rules: Vec<RuleStands>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct RuleStands {
    found: Vec<Spanned<IgnoredAny>>,
    kept: Vec<Spanned<IgnoredAny>>,
}

/// The line, counted from 1, on which a byte of the text stands.
pub(super) fn line_at(text: &str, at: usize) -> usize {
    let before = &text.as_bytes()[..at.min(text.len())];
    before.split(|byte| *byte == b'\n').count()
}

/// The line of a place in a policy.
pub(super) fn line_of(text: &str, place: Place) -> Option<usize> {
    let redaction = toml::from_str::<Stands>(text).ok()?.redaction;
    let rule = |at: usize| redaction.rules.get(at);
    let stands = match place {
        Place::Gitleaks(_) => redaction.gitleaks.as_ref(),
        Place::Found(at, number) => rule(at)?.found.get(number),
        Place::Kept(at, number) => rule(at)?.kept.get(number),
        Place::Redaction => None,
    };
    stands.map(|stands| line_at(text, stands.span().start))
}
