//! The literal gate: one pass over the text that finds the literals of all rules.
//!
//! The gate is a hash table of the first bytes of literals, and not an automaton: a process that is
//! started for one command needs it once, and an automaton takes longer to build than all the rest
//! of that command.

use std::ops::Range;

/// The rule to try where a literal stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trigger {
    /// The shape of this number.
    Token(u16),
    /// The bare shape of this number, beside its vendor's name.
    Keyed(u16),
    /// The scanner of this number.
    Scan(u16),
    /// None: the literal is a word that announces a secret nearby.
    Label,
    /// A word that names a secret.
    Name(crate::named::Opener),
}

/// Bits of the hash of three bytes: enough that a text seldom has the hash of a literal without its
/// bytes, and few enough that the filter fits the nearest cache.
const HASH_BITS: u32 = 14;
/// Number of hashes that share a bucket.
const SHARED: usize = 2;
/// The bucket of literals too short for a hash, behind the buckets of all hashes.
const SHORT: usize = (1 << HASH_BITS) / SHARED;

/// Number of integers with one bit for each pair of bytes.
const PAIRS: usize = (1 << 16) / 64;

/// A literal, with the bytes and the case by which it is compared.
#[derive(Clone)]
struct Literal {
    /// The literal's first eight bytes in the form of [`folded`], and the mask of those that it has.
    head: u64,
    mask: u64,
    bytes: Range<usize>,
    exact: bool,
    trigger: Trigger,
}

/// All literals of all rules.
pub(super) struct Prefilter {
    /// The bytes of all literals.
    bytes: Vec<u8>,
    /// The literals by bucket, and in each bucket in the order given.
    literals: Vec<Literal>,
    /// The start of each bucket in `literals`, and the end of the last.
    buckets: Vec<u32>,
    /// For each hash of three bytes, the kinds of fourth byte with which some literal goes on.
    filter: Box<[u8; 1 << HASH_BITS]>,
    /// A bit for each pair of bytes that begins a literal too short for a hash, and one of 64 for the first of them.
    pairs: Box<[u64; PAIRS]>,
    firsts: u64,
}

/// A literal found in a text, and the rule to try there.
pub(super) struct Hit {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) trigger: Trigger,
}

impl Prefilter {
    /// Builds the gate. The case of a literal counts where `exact` is set; otherwise the case of
    /// ASCII letters does not.
    pub(super) fn new<'a>(literals: impl Iterator<Item = (&'a str, bool, Trigger)>) -> Self {
        let mut gate = Self {
            bytes: Vec::new(),
            literals: Vec::new(),
            buckets: vec![0; SHORT + 2],
            filter: Box::new([0; 1 << HASH_BITS]),
            pairs: Box::new([0; PAIRS]),
            firsts: 0,
        };
        for (literal, exact, trigger) in literals {
            gate.add(literal.as_bytes(), exact, trigger);
        }
        for literal in &gate.literals {
            gate.buckets[literal.bucket() + 1] += 1;
        }
        let mut before = 0;
        for bucket in &mut gate.buckets {
            before += *bucket;
            *bucket = before;
        }
        // The literals of one bucket keep the order given.
        let mut next = gate.buckets.clone();
        let mut order = vec![0; gate.literals.len()];
        for (number, literal) in gate.literals.iter().enumerate() {
            let place = &mut next[literal.bucket()];
            order[*place as usize] = number;
            *place += 1;
        }
        gate.literals = order.iter().map(|at| gate.literals[*at].clone()).collect();
        gate
    }

    fn add(&mut self, literal: &[u8], exact: bool, trigger: Trigger) {
        let mut first = [0; 8];
        for (to, from) in first.iter_mut().zip(literal) {
            *to = *from;
        }
        let mask = match literal.len() {
            0 => return,
            known @ 1..8 => !(u64::MAX >> (8 * known)),
            _ => u64::MAX,
        };
        let head = folded(first) & mask;
        let window = first_four(head);
        if literal.len() < 3 {
            self.firsts |= 1 << (window >> 24 & 63);
        }
        match literal.len() {
            1 => (0..256).for_each(|second| set_pair(&mut self.pairs, window | second << 16)),
            2 => set_pair(&mut self.pairs, window),
            3 => self.filter[hash(window)] = u8::MAX,
            _ => self.filter[hash(window)] |= kind_of_fourth(window),
        }
        let begin = self.bytes.len();
        self.bytes.extend_from_slice(literal);
        self.literals.push(Literal {
            head,
            mask,
            bytes: begin..self.bytes.len(),
            exact,
            trigger,
        });
    }

    /// Returns every literal in the text, ordered by its end, and of those that end together the
    /// longest first.
    pub(super) fn hits(&self, text: &[u8]) -> impl Iterator<Item = Hit> + use<> {
        let mut hits = Vec::new();
        for (start, four) in text.windows(4).enumerate() {
            let window = fold(u32::from_be_bytes([four[0], four[1], four[2], four[3]]));
            if self.may_begin(window) {
                self.try_at(text, start, &mut hits);
            }
        }
        for start in text.len().saturating_sub(3)..text.len() {
            let last = text[start..].iter().chain(&[0; 3]).take(4);
            let window = last.fold(0, |all, byte| all << 8 | u32::from(*byte));
            if self.may_begin(fold(window)) {
                self.try_at(text, start, &mut hits);
            }
        }
        // The sort is stable: the longest literal began first, and those that differ only in case
        // keep the order given.
        hits.sort_by_key(|hit| hit.end);
        hits.into_iter()
    }

    /// Tells whether some literal may begin with these four bytes.
    fn may_begin(&self, window: u32) -> bool {
        self.is_long(window)
            || self.firsts >> (window >> 24 & 63) & 1 != 0 && is_pair(&self.pairs, window)
    }

    /// Tells whether some literal of three bytes or more may begin with these four.
    fn is_long(&self, window: u32) -> bool {
        self.filter[hash(window)] & kind_of_fourth(window) != 0
    }

    /// Tries the literals that may begin at one position.
    #[inline(never)] // keeps the loop over all positions small
    fn try_at(&self, text: &[u8], start: usize, hits: &mut Vec<Hit>) {
        let rest = &text[start..];
        let window = rest.first_chunk().copied().unwrap_or_else(|| {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            last
        });
        let window = folded(window);
        if self.is_long(first_four(window)) {
            self.try_bucket(bucket(first_four(window)), window, rest, start, hits);
        }
        if is_pair(&self.pairs, first_four(window)) {
            self.try_bucket(SHORT, window, rest, start, hits);
        }
    }

    /// Tries the literals of one bucket at the start of `rest`.
    fn try_bucket(
        &self,
        bucket: usize,
        window: u64,
        rest: &[u8],
        start: usize,
        hits: &mut Vec<Hit>,
    ) {
        let those = self.buckets[bucket] as usize..self.buckets[bucket + 1] as usize;
        for literal in &self.literals[those] {
            if (window ^ literal.head) & literal.mask != 0 {
                continue;
            }
            let bytes = &self.bytes[literal.bytes.clone()];
            let fits = rest.get(..bytes.len()).is_some_and(|there| {
                if literal.exact {
                    there == bytes
                } else {
                    there.eq_ignore_ascii_case(bytes)
                }
            });
            if fits {
                hits.push(Hit {
                    start,
                    end: start + bytes.len(),
                    trigger: literal.trigger,
                });
            }
        }
    }
}

impl Literal {
    fn bucket(&self) -> usize {
        if self.bytes.len() < 3 {
            SHORT
        } else {
            bucket(first_four(self.head))
        }
    }
}

/// Sets in each of four bytes the bit in which the case of letters differs; the comparison of a literal tells
/// apart other bytes that become the same.
fn fold(window: u32) -> u32 {
    window | 0x2020_2020
}

/// Returns eight bytes as one number, with the same bits set.
fn folded(eight: [u8; 8]) -> u64 {
    u64::from_be_bytes(eight) | 0x2020_2020_2020_2020
}

/// Returns the first four of eight bytes.
fn first_four(eight: u64) -> u32 {
    (eight >> 32) as u32
}

/// Returns the hash of the first three of four bytes (multiplicative hashing: Knuth, TAOCP 6.4).
fn hash(window: u32) -> usize {
    ((window >> 8).wrapping_mul(0x9e37_79b1) >> (32 - HASH_BITS)) as usize
}

/// Returns the bucket of the literals that begin with the first three of four bytes.
fn bucket(window: u32) -> usize {
    hash(window) / SHARED
}

/// Returns one bit of eight for the last of four bytes.
fn kind_of_fourth(window: u32) -> u8 {
    1 << (window & 7)
}

fn set_pair(pairs: &mut [u64; PAIRS], window: u32) {
    pairs[(window >> 22) as usize] |= 1 << (window >> 16 & 63);
}

fn is_pair(pairs: &[u64; PAIRS], window: u32) -> bool {
    pairs[(window >> 22) as usize] >> (window >> 16 & 63) & 1 != 0
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
        let gate = Prefilter::new(literals.into_iter());
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

    /// Returns the hits of an automaton, in its order.
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
            literals in prop::collection::vec(("[abA_?é]{1,6}", any::<bool>()), 1..12),
            text in "[abABé_?\u{1f}\u{7f}\u{212a}]{0,60}",
        ) {
            let triggered = literals.iter().enumerate().map(|(at, (literal, exact))| {
                (literal.as_str(), *exact, Trigger::Token(u16::try_from(at).expect("few")))
            });
            let found = Prefilter::new(triggered).hits(text.as_bytes()).map(|hit| match hit.trigger {
                Trigger::Token(number) => (hit.start, hit.end, number),
                _ => unreachable!("no other was given"),
            });
            prop_assert_eq!(found.collect::<Vec<_>>(), by_automaton(&literals, &text));
        }
    }
}
