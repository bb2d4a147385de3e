//! A compiled set of rules: the gate, and the scanners that run where its literals stand.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use crate::config::OwnRule;
use crate::named::name::openers;
use crate::notes::{self, Label};
use crate::prefilter::{Hit, Prefilter, Trigger};
use crate::rule::{Class, Finder, Rule, ScanFn};
use crate::scan::{Budget, OverBudget};
use crate::span::Span;
use crate::token::Token;
use crate::{named, rules, structure};

/// A set of rules, ready to scan.
pub(super) struct Engine {
    gate: Prefilter,
    tokens: Vec<Token>,
    scanners: Vec<ReadyScanner>,
}

/// A scanner, and the length of text behind a literal that it sees at first.
struct ReadyScanner {
    scan: ScanFn,
    window: Option<usize>,
}

/// The built-in rules. They are built when first needed; each shape is compiled when a text first
/// holds its literal.
pub(super) static BUILT_IN: LazyLock<Engine> = LazyLock::new(|| Engine::new(rules::all()));

/// Returns a non-ASCII word with its first letter, and with all letters, in upper case, because the
/// gate folds only the case of ASCII. Returns nothing for a word without case.
fn capitals(word: &str) -> impl Iterator<Item = String> + use<> {
    let mut both = Vec::new();
    if !word.is_ascii() {
        let mut letters = word.chars();
        let first = letters.next().into_iter().flat_map(char::to_uppercase);
        let first = first.collect::<String>() + letters.as_str();
        let all = word.to_uppercase();
        both.extend((first != word).then(|| first.clone()));
        both.extend((all != word && all != first).then_some(all));
    }
    both.into_iter()
}

impl Engine {
    /// Builds an engine from the owner's rules.
    pub(super) fn own(rules: &[OwnRule]) -> Self {
        let number = |at: usize| u16::try_from(at).expect("the policy bounds them");
        let literals = rules.iter().enumerate().flat_map(|(at, rule)| {
            let literals = rule.literals.iter();
            literals.map(move |literal| (literal.as_str(), true, Trigger::Token(number(at))))
        });
        Self {
            gate: Prefilter::new(literals),
            tokens: rules.iter().map(Token::own).collect(),
            scanners: Vec::new(),
        }
    }

    /// Builds an engine from the built-in rules, the generic rule among them.
    pub(super) fn new(rules: impl Iterator<Item = &'static Rule>) -> Self {
        let mut literals: Vec<(&str, bool, Trigger)> = Vec::new();
        let mut tokens = Vec::new();
        let mut scanners = Vec::new();
        for rule in rules {
            let trigger = match (&rule.finder, rule.class) {
                (Finder::Shape(_), class) => {
                    tokens.extend(Token::of(rule));
                    let number = u16::try_from(tokens.len() - 1).expect("fewer than 65,536 rules");
                    if class == Class::Keyed {
                        Trigger::Keyed(number)
                    } else {
                        Trigger::Token(number)
                    }
                }
                (Finder::Scan(scan), _) => {
                    scanners.push(ReadyScanner {
                        scan: *scan,
                        window: structure::window(rule.kind),
                    });
                    let number = scanners.len() - 1;
                    Trigger::Scan(u16::try_from(number).expect("fewer than 65,536 rules"))
                }
                (Finder::Named | Finder::Personal, _) => continue,
            };
            literals.extend(
                rule.literals
                    .iter()
                    .map(|literal| (*literal, true, trigger)),
            );
            literals.extend(rule.keywords.iter().map(|word| (*word, false, trigger)));
        }
        literals.extend(notes::labels().map(|word| (word, false, Trigger::Label)));
        literals.extend(openers().map(|(word, opener)| (word, false, Trigger::Name(opener))));
        let folded = literals.iter().filter(|(_, exact, _)| !exact);
        let upper: Vec<(String, Trigger)> = folded
            .flat_map(|(word, _, trigger)| capitals(word).map(|word| (word, *trigger)))
            .collect();
        let upper = upper
            .iter()
            .map(|(word, trigger)| (&**word, false, *trigger));
        Self {
            gate: Prefilter::new(literals.iter().copied().chain(upper)),
            tokens,
            scanners,
        }
    }

    /// Returns the positions of words that announce a secret nearby.
    #[cfg(test)]
    pub(super) fn labels(&self, text: &[u8]) -> Vec<usize> {
        let hits = self.gate.hits(text);
        let labels = hits.filter(|hit| hit.trigger == Trigger::Label);
        labels.map(|hit| hit.start).collect()
    }

    /// Finds the secrets that stand plainly in a text, and the words that announce a secret nearby.
    pub(super) fn plain(
        &self,
        text: &[u8],
        budget: &mut Budget,
        labels: &mut Vec<Label>,
        found: &mut Vec<Span>,
    ) -> Result<(), OverBudget> {
        budget.read(text.len())?;
        // The position up to which each scanner and shape has found everything.
        let mut done: BTreeMap<(u8, u16), usize> = BTreeMap::new();
        let mut crowds: BTreeMap<(u8, u16), Crowd> = BTreeMap::new();
        let mut columns = named::Columns::default();
        let hits: Vec<Hit> = self.gate.hits(text).collect();
        for (number, hit) in hits.iter().enumerate() {
            let behind = hits[number + 1..].iter().map(|next| next.start);
            let next = || behind.clone().find(|next| *next >= hit.end);
            let finder = match hit.trigger {
                Trigger::Token(number) => (0, number),
                Trigger::Keyed(number) => (1, number),
                Trigger::Scan(number) => (2, number),
                Trigger::Label => {
                    labels.push(hit.start);
                    continue;
                }
                Trigger::Name(_) => (3, 0),
            };
            if done.get(&finder).is_some_and(|done| hit.start < *done) {
                continue;
            }
            let begun = found.len();
            let place = hit.start..hit.end;
            match hit.trigger {
                Trigger::Token(number) => {
                    self.tokens[usize::from(number)].at(text, hit.start, found);
                }
                Trigger::Keyed(number) => {
                    if stands_alone(text, &place) {
                        self.tokens[usize::from(number)].beside(text, place, found);
                    }
                }
                Trigger::Scan(number) => {
                    let crowd = crowds.entry(finder).or_default();
                    self.scanners[usize::from(number)].at(text, hit.start, next(), crowd, found);
                }
                Trigger::Name(opener) => {
                    let crowd = crowds.entry(finder).or_default();
                    crowd.look(text, &place, next(), text.len(), found, |text, found| {
                        named::at(text, place.clone(), opener, &mut columns, found);
                    });
                }
                Trigger::Label => {}
            }
            if let Some(end) = found[begun..].iter().map(|span| span.end).max() {
                done.insert(finder, end);
                // An empty span only says how far a scanner has read.
                let tail = found.split_off(begun);
                found.extend(tail.into_iter().filter(|span| span.start < span.end));
                if found.len() > begun {
                    budget.found()?;
                }
            }
        }
        Ok(())
    }
}

/// A measure of how crowded the places are at which one scanner is called: in lists of words, and
/// in texts made to keep it busy. In a crowd the scanner sees only a little of the text, and more
/// where it finds something that goes on there.
#[derive(Default)]
struct Crowd {
    /// The number of places so far, less one for every [`Self::BYTES`] bytes between them.
    level: usize,
    last: usize,
    /// The position before which the scanner gets no wider look, because the last one found
    /// nothing.
    near_until: usize,
    /// The last places in a crowd where nothing was found.
    misses: [usize; Self::MISSES],
    next_miss: usize,
}

impl Crowd {
    /// The level above which places are a crowd.
    const LEVEL: usize = 32;
    /// Longest distance between places of a crowd, in bytes.
    const BYTES: usize = 32;
    /// Length of the text that a scanner sees behind a place in a crowd, in bytes.
    const REACH: usize = 128;
    const MISSES: usize = 4;
    /// Number of bytes behind a wider look that found nothing in which there is no other.
    const FAR: usize = 2048;

    /// Counts a place, and tells whether it stands in a crowd.
    fn count(&mut self, place: usize) -> bool {
        let gap = place.saturating_sub(self.last) / Self::BYTES;
        self.level = self.level.saturating_sub(gap) + 1;
        self.last = place;
        self.level > Self::LEVEL
    }

    /// Tells whether the text around a place is the same as around a place where nothing was found.
    fn is_miss(&self, text: &[u8], place: usize) -> bool {
        let around = |place: usize| text.get(place.checked_sub(Self::REACH)?..place + Self::REACH);
        let here = around(place);
        here.is_some() && self.misses.iter().any(|before| around(*before) == here)
    }

    /// Calls a scanner with the text up to `reach` bytes behind a place. In a crowd, with the
    /// `next` place of any scanner near, the scanner sees less text. It is called again with more
    /// text if it finds something that may go on behind the end.
    fn look(
        &mut self,
        text: &[u8],
        place: &Range<usize>,
        next: Option<usize>,
        mut reach: usize,
        found: &mut Vec<Span>,
        mut scan: impl FnMut(&[u8], &mut Vec<Span>),
    ) {
        let begun = found.len();
        // The last place of a crowd gets the whole text.
        let crowded = self.count(place.start)
            && next.is_some_and(|next| next.saturating_sub(place.start) <= Self::BYTES);
        let mut far = reach;
        if crowded {
            if self.is_miss(text, place.start) {
                return;
            }
            reach = reach.min(Self::REACH);
        }
        loop {
            let end = text.len().min(place.end.saturating_add(reach));
            scan(&text[..end], found);
            let cut = |span: &Span| span.start < span.end && span.end + EDGE >= end;
            if end == text.len() || !found[begun..].iter().any(cut) {
                if crowded && found.len() == begun {
                    self.misses[self.next_miss] = place.start;
                    self.next_miss = (self.next_miss + 1) % Self::MISSES;
                    if reach > Self::REACH {
                        self.near_until = place.end + Self::FAR;
                    }
                }
                return;
            }
            found.truncate(begun);
            if crowded && place.start < self.near_until {
                return;
            }
            (reach, far) = (far, far.saturating_mul(8));
        }
    }
}

/// Longest distance between a finding that may go on and the end of its window, in bytes.
const EDGE: usize = 8;

impl ReadyScanner {
    /// Finds the secret that the literal at `at` announces. A scanner reads as far as it may, so it
    /// gets more text only for a finding that reaches the end of its window.
    fn at(
        &self,
        text: &[u8],
        at: usize,
        next: Option<usize>,
        crowd: &mut Crowd,
        found: &mut Vec<Span>,
    ) {
        match self.window {
            // A block is read once, however many blocks begin inside it.
            None => (self.scan.0)(text, at, found),
            Some(window) => {
                let scan = |text: &[u8], found: &mut Vec<Span>| (self.scan.0)(text, at, found);
                crowd.look(text, &(at..at), next, window, found, scan);
            }
        }
    }
}

/// Tells whether a vendor's name stands alone, and not inside a longer word.
fn stands_alone(text: &[u8], name: &Range<usize>) -> bool {
    let inside = name.start > 0
        && text[name.start - 1].is_ascii_lowercase()
        && text[name.start].is_ascii_lowercase();
    let runs_on = text[name.end - 1].is_ascii_lowercase()
        && text.get(name.end).is_some_and(u8::is_ascii_lowercase);
    !inside && !runs_on
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how often the scanner is called over a text, and how many bytes it sees in all.
    fn looks(text: &[u8], step: usize) -> (usize, usize) {
        let (mut crowd, mut count, mut bytes) = (Crowd::default(), 0, 0);
        for place in (0..text.len()).step_by(step) {
            crowd.look(
                text,
                &(place..place + 1),
                Some(place + step),
                text.len(),
                &mut Vec::new(),
                |text, _| {
                    count += 1;
                    bytes += text.len() - place;
                },
            );
        }
        (count, bytes)
    }

    #[test]
    fn in_a_crowd_little_is_seen_and_the_same_not_twice() {
        let same = b"pw=".repeat(4_000);
        let (count, _) = looks(&same, 3);
        assert!(count < 120, "{count}");
        let mut dice = 1u32;
        let other: Vec<u8> = (0..12_000)
            .map(|_| {
                dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                b'a' + u8::try_from(dice >> 28).expect("four bits")
            })
            .collect();
        let (count, bytes) = looks(&other, 3);
        assert_eq!(count, 4_000);
        assert!(bytes < 4_000 * 129 + 40 * other.len(), "{bytes}");
        // Without a crowd the scanner sees the whole text.
        let (count, bytes) = looks(&other, 400);
        assert_eq!((count, bytes > 100_000), (30, true));
    }

    #[test]
    fn what_is_secret_is_found_in_a_crowd_and_behind_one() {
        let long = "kT9vLm2Xq7".repeat(40);
        for (before, secret) in [
            ("pw=".repeat(900) + "\npassword: ", "Admin@123"),
            ("pwd token ".repeat(90) + "token=", "9f8Kq2Lm7Zx4Vb1N"),
            ("password=( ".repeat(90) + "api_key=\"", long.as_str()),
        ] {
            let text = format!("{before}{secret}\"\n");
            let mut found = Vec::new();
            let mut budget = Budget::new(u64::MAX, u64::MAX);
            let all = BUILT_IN.plain(text.as_bytes(), &mut budget, &mut Vec::new(), &mut found);
            assert_eq!(all, Ok(()));
            let place = before.len()..before.len() + secret.len();
            let whole = |span: &Span| span.start <= place.start && span.end >= place.end;
            assert!(found.iter().any(whole), "{secret}: {found:?}");
        }
    }
}
