//! The samples of the rules, from `fixtures/redaction/samples.jsonl`: texts in which a rule finds
//! something, and texts that stay as they are.
//!
//! The text between `«` and `»` must vanish, all else must stay. `¦` is dropped: it keeps the
//! scanners of this repository from taking a sample for a live token.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::rule::Rule;

const FIXTURE: &str = include_str!("../../../../fixtures/redaction/samples.jsonl");

/// The samples of one rule.
#[derive(Default)]
pub(crate) struct Samples {
    pub(crate) found: Vec<String>,
    pub(crate) kept: Vec<String>,
}

#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum SampleLine {
    Found { kind: String, text: String },
    Kept { kind: String, clean: String },
}

static SAMPLES: LazyLock<BTreeMap<String, Samples>> = LazyLock::new(|| {
    let mut all: BTreeMap<String, Samples> = BTreeMap::new();
    for (number, line) in (1..).zip(FIXTURE.lines()) {
        match serde_json::from_str(line) {
            Ok(SampleLine::Found { kind, text }) => all.entry(kind).or_default().found.push(text),
            Ok(SampleLine::Kept { kind, clean }) => all.entry(kind).or_default().kept.push(clean),
            Err(e) => panic!("samples.jsonl:{number}: {e}"),
        }
    }
    all
});

/// Returns the kinds that have samples, in order.
pub(crate) fn kinds() -> impl Iterator<Item = &'static str> {
    SAMPLES.keys().map(String::as_str)
}

/// Returns the samples of a kind.
pub(crate) fn of_kind(kind: &str) -> &'static Samples {
    &SAMPLES[kind]
}

/// Returns the samples of a rule: at least three in which it finds something, and three that stay.
pub(crate) fn of(rule: &Rule) -> &'static Samples {
    let samples = SAMPLES.get(rule.kind);
    let samples = samples.unwrap_or_else(|| panic!("{} has no samples", rule.kind));
    let counts = (samples.found.len(), samples.kept.len());
    assert!(counts.0 >= 3 && counts.1 >= 3, "{}: {counts:?}", rule.kind);
    samples
}
