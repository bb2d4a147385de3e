//! The literal gate: one pass over the text for everything that any rule begins with.
//!
//! A table of hashes of how literals begin, and not an automaton: a process that is started for one
//! command needs it once, and an automaton takes longer to build than all the rest of that command.

use std::ops::Range;

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

/// How many bytes of a literal its hash is made of; one that is shorter is tried wherever its first
/// byte stands.
const HASHED: usize = 3;
/// Bits of a hash: some places more than there are built-in literals, and few enough for the
/// nearest cache.
const HASH_BITS: u32 = 12;
/// No literal.
const NONE: u32 = u32::MAX;

/// A literal, whether its case counts, and the next one of the same hash.
struct Literal {
    bytes: Range<usize>,
    exact: bool,
    trigger: Trigger,
    next: u32,
}

/// All literals of all rules.
pub(super) struct Gate {
    /// The bytes of all literals.
    bytes: Vec<u8>,
    literals: Vec<Literal>,
    /// The first literal of each hash.
    by_hash: Vec<u32>,
    /// The first literal, of those too short for a hash, that begins with each byte in lower case.
    by_byte: Vec<u32>,
}

/// A literal found: where it stands, and what to try.
pub(super) struct Hit {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) trigger: Trigger,
}

impl Gate {
    /// Makes the table. Case counts where `exact` says so, else that of ASCII letters does not.
    pub(super) fn new<'a>(literals: impl Iterator<Item = (&'a str, bool, Trigger)>) -> Self {
        let mut gate = Self {
            bytes: Vec::new(),
            literals: Vec::new(),
            by_hash: vec![NONE; 1 << HASH_BITS],
            by_byte: vec![NONE; 256],
        };
        for (literal, exact, trigger) in literals {
            let begin = gate.bytes.len();
            gate.bytes.extend_from_slice(literal.as_bytes());
            gate.literals.push(Literal {
                bytes: begin..gate.bytes.len(),
                exact,
                trigger,
                next: NONE,
            });
        }
        // From the last to the first: then those of one hash follow one another as they were given.
        for number in (0..gate.literals.len()).rev() {
            let literal = &mut gate.literals[number];
            let bytes = &gate.bytes[literal.bytes.clone()];
            let first = match bytes {
                [a, b, c, ..] => &mut gate.by_hash[hash(window(window(window(0, *a), *b), *c))],
                [a, ..] => &mut gate.by_byte[usize::from(a.to_ascii_lowercase())],
                [] => continue,
            };
            literal.next = *first;
            *first = u32::try_from(number).expect("fewer than 2^32 literals");
        }
        gate
    }

    /// Every literal in the text, by where it ends, and of those that end together the longest first.
    pub(super) fn hits(&self, text: &[u8]) -> impl Iterator<Item = Hit> + use<> {
        let mut hits = Vec::new();
        let mut ahead = text
            .iter()
            .take(HASHED - 1)
            .fold(0, |all, byte| window(all, *byte));
        for start in 0..text.len() {
            self.try_from(
                self.by_byte[usize::from(text[start].to_ascii_lowercase())],
                text,
                start,
                &mut hits,
            );
            if let Some(byte) = text.get(start + HASHED - 1) {
                ahead = window(ahead, *byte);
                self.try_from(self.by_hash[hash(ahead)], text, start, &mut hits);
            }
        }
        // A stable sort: the longest began first, and those that are the same but for their case stay as
        // they were given.
        hits.sort_by_key(|hit| hit.end);
        hits.into_iter()
    }

    /// Tries the literals of one chain where they would begin.
    fn try_from(&self, mut number: u32, text: &[u8], start: usize, hits: &mut Vec<Hit>) {
        while number != NONE {
            let literal = &self.literals[number as usize];
            let bytes = &self.bytes[literal.bytes.clone()];
            let end = start + bytes.len();
            let fits = text.get(start..end).is_some_and(|there| {
                there == bytes || !literal.exact && there.eq_ignore_ascii_case(bytes)
            });
            if fits {
                hits.push(Hit {
                    start,
                    end,
                    trigger: literal.trigger,
                });
            }
            number = literal.next;
        }
    }
}

/// The last bytes that were read, in lower case, with one more.
fn window(before: u32, byte: u8) -> u32 {
    (before << 8 | u32::from(byte.to_ascii_lowercase())) & 0x00ff_ffff
}

/// Where the literals are that begin so (multiplicative hashing: Knuth, TAOCP 6.4).
fn hash(window: u32) -> usize {
    (window.wrapping_mul(0x9e37_79b1) >> (32 - HASH_BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use aho_corasick::{AhoCorasickBuilder, MatchKind};
    use proptest::prelude::*;

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

    /// What an automaton finds, in its order.
    fn by_automaton(literals: &[(String, bool)], text: &str) -> Vec<(usize, usize, u16)> {
        let mut patterns: Vec<_> = literals
            .iter()
            .map(|(literal, _)| literal.to_ascii_lowercase())
            .collect();
        patterns.sort();
        patterns.dedup();
        let automaton = AhoCorasickBuilder::new()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .build(&patterns)
            .expect("builds");
        let found = automaton.find_overlapping_iter(text);
        let of_one = |found: aho_corasick::Match| {
            let there = &text[found.range()];
            let fits = literals
                .iter()
                .enumerate()
                .filter(move |(_, (literal, exact))| {
                    if *exact {
                        there == literal
                    } else {
                        there.eq_ignore_ascii_case(literal)
                    }
                });
            fits.map(move |(at, _)| (found.start(), found.end(), u16::try_from(at).expect("few")))
                .collect::<Vec<_>>()
        };
        found.flat_map(of_one).collect()
    }

    proptest! {
        #[test]
        fn it_finds_what_an_automaton_finds_and_in_that_order(
            literals in prop::collection::vec(("[abA_é]{2,5}", any::<bool>()), 1..12),
            text in "[abABé_\u{212a}]{0,60}",
        ) {
            let triggered = literals.iter().enumerate().map(|(at, (literal, exact))| {
                (literal.as_str(), *exact, Trigger::Token(u16::try_from(at).expect("few")))
            });
            let found = Gate::new(triggered).hits(text.as_bytes()).map(|hit| match hit.trigger {
                Trigger::Token(number) => (hit.start, hit.end, number),
                _ => unreachable!("no other was given"),
            });
            prop_assert_eq!(found.collect::<Vec<_>>(), by_automaton(&literals, &text));
        }
    }
}
