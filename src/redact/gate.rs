//! The literal gate: one pass over the text for everything that any rule begins with.

use std::collections::BTreeMap;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind, MatchKind};

/// What to try where a literal stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trigger {
    /// The shape of this number.
    Token(u16),
    /// The bare shape of this number, beside its vendor's name.
    Keyed(u16),
    /// The scanner of this number.
    Scan(u16),
    /// A word of this strength that names a secret.
    Name(super::named::Strength),
}

/// A literal, and whether its case counts.
struct Entry {
    trigger: Trigger,
    exact: Option<Box<[u8]>>,
}

/// All literals of all rules in one automaton.
pub(super) struct Gate {
    automaton: AhoCorasick,
    entries: Vec<Vec<Entry>>,
}

/// A literal found: where it stands, and what to try.
pub(super) struct Hit {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) trigger: Trigger,
}

impl Gate {
    /// Builds the automaton. Case counts where `exact` says so.
    pub(super) fn new<'a>(literals: impl Iterator<Item = (&'a str, bool, Trigger)>) -> Self {
        let mut patterns: BTreeMap<String, Vec<Entry>> = BTreeMap::new();
        for (literal, exact, trigger) in literals {
            let exact = exact.then(|| literal.as_bytes().into());
            let entries = patterns.entry(literal.to_ascii_lowercase()).or_default();
            entries.push(Entry { trigger, exact });
        }
        let automaton = AhoCorasickBuilder::new()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            // The full automaton would take ten times as long to build as most texts take to scan.
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(patterns.keys())
            .expect("a few thousand short literals fit an automaton");
        Self {
            automaton,
            entries: patterns.into_values().collect(),
        }
    }

    /// Every literal in the text, by where it ends.
    pub(super) fn hits<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = Hit> + 'a {
        let found = self.automaton.find_overlapping_iter(text);
        found.flat_map(move |found| {
            let range = found.start()..found.end();
            let entries = self.entries[found.pattern().as_usize()].iter();
            entries
                .filter(move |entry| match &entry.exact {
                    Some(exact) => text[range.clone()] == **exact,
                    None => true,
                })
                .map(move |entry| Hit {
                    start: found.start(),
                    end: found.end(),
                    trigger: entry.trigger,
                })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(text: &str) -> Vec<(usize, usize, Trigger)> {
        let literals = [
            ("ghp_", true, Trigger::Token(0)),
            ("GHP_", true, Trigger::Token(1)),
            ("hp", false, Trigger::Keyed(2)),
            ("ghp_", false, Trigger::Scan(3)),
        ];
        let gate = Gate::new(literals.into_iter());
        let hits = gate.hits(text.as_bytes());
        hits.map(|hit| (hit.start, hit.end, hit.trigger)).collect()
    }

    #[test]
    fn every_literal_is_a_hit_and_may_overlap() {
        let expected = [
            (1, 3, Trigger::Keyed(2)),
            (0, 4, Trigger::Token(0)),
            (0, 4, Trigger::Scan(3)),
        ];
        assert_eq!(hits("ghp_x"), expected);
    }

    #[test]
    fn case_counts_where_it_is_said_to() {
        let triggers = |text| hits(text).into_iter().map(|hit| hit.2).collect::<Vec<_>>();
        assert_eq!(
            triggers("GHP_"),
            [Trigger::Keyed(2), Trigger::Token(1), Trigger::Scan(3)]
        );
        assert_eq!(triggers("Ghp_"), [Trigger::Keyed(2), Trigger::Scan(3)]);
        assert!(triggers("g-p_ \u{212a}").is_empty());
    }
}
