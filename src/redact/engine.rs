//! A set of rules made ready: the gate, and what is tried where its literals stand.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use super::budget::{Budget, OverBudget};
use super::gate::{Gate, Trigger};
use super::named;
use super::named::name::{WORDS, foreign_words};
use super::notes::{self, Label};
use super::rule::{Class, Finder, Rule, ScanFn};
use super::rules;
use super::span::Span;
use super::structure;
use super::token::Token;
use crate::policy::redaction::OwnRule;

/// A set of rules, ready to scan.
pub(super) struct Engine {
    gate: Gate,
    tokens: Vec<Token>,
    scanners: Vec<Scanner>,
}

/// A scanner, and how much of a text behind a literal it is shown at first.
struct Scanner {
    scan: ScanFn,
    window: Option<usize>,
}

/// The built-in rules. Built when first needed; each shape is compiled when its literal first
/// stands in a text.
pub(super) static BUILT_IN: LazyLock<Engine> = LazyLock::new(|| Engine::new(rules::all()));

/// A word beyond ASCII with its first letter, and with all letters, in upper case: the gate folds the
/// case of ASCII alone. None for one that has no case.
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
    /// Makes ready rules of the owner's own.
    pub(super) fn own(rules: &[OwnRule]) -> Self {
        let number = |at: usize| u16::try_from(at).expect("the policy bounds them");
        let literals = rules.iter().enumerate().flat_map(|(at, rule)| {
            let literals = rule.literals.iter();
            literals.map(move |literal| (literal.as_str(), true, Trigger::Token(number(at))))
        });
        Self {
            gate: Gate::new(literals),
            tokens: rules.iter().map(Token::own).collect(),
            scanners: Vec::new(),
        }
    }

    /// Makes ready the built-in rules, the generic one among them.
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
                    scanners.push(Scanner {
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
        let words = WORDS.iter().copied().chain(foreign_words());
        literals.extend(words.map(|(word, strength)| (word, false, Trigger::Name(strength))));
        let folded = literals.iter().filter(|(_, exact, _)| !exact);
        let upper: Vec<(String, Trigger)> = folded
            .flat_map(|(word, _, trigger)| capitals(word).map(|word| (word, *trigger)))
            .collect();
        let upper = upper
            .iter()
            .map(|(word, trigger)| (&**word, false, *trigger));
        Self {
            gate: Gate::new(literals.iter().copied().chain(upper)),
            tokens,
            scanners,
        }
    }

    /// Where words stand that say that a secret is near.
    #[cfg(test)]
    pub(super) fn labels(&self, text: &[u8]) -> Vec<usize> {
        let hits = self.gate.hits(text);
        let labels = hits.filter(|hit| hit.trigger == Trigger::Label);
        labels.map(|hit| hit.start).collect()
    }

    /// What stands plainly in a text, and where words stand that say that a secret is near.
    pub(super) fn plain(
        &self,
        text: &[u8],
        budget: &mut Budget,
        labels: &mut Vec<Label>,
        found: &mut Vec<Span>,
    ) -> Result<(), OverBudget> {
        budget.read(text.len())?;
        // Up to where each scanner and shape has found what there is.
        let mut done: BTreeMap<(u8, u16), usize> = BTreeMap::new();
        let mut named_until = 0;
        let mut columns = named::Columns::default();
        for hit in self.gate.hits(text) {
            let (group, number) = match hit.trigger {
                Trigger::Token(number) => (0, number),
                Trigger::Keyed(number) => (1, number),
                Trigger::Scan(number) => (2, number),
                Trigger::Label => {
                    labels.push(hit.start);
                    continue;
                }
                Trigger::Name(strength) => {
                    if hit.start >= named_until
                        && let Some(end) =
                            named::at(text, hit.start..hit.end, strength, &mut columns, found)
                    {
                        budget.found()?;
                        named_until = end;
                    }
                    continue;
                }
            };
            if done
                .get(&(group, number))
                .is_some_and(|done| hit.start < *done)
            {
                continue;
            }
            let begun = found.len();
            match hit.trigger {
                Trigger::Token(_) => self.tokens[usize::from(number)].at(text, hit.start, found),
                Trigger::Keyed(_) => {
                    if stands_alone(text, &(hit.start..hit.end)) {
                        self.tokens[usize::from(number)].beside(text, hit.start..hit.end, found);
                    }
                }
                Trigger::Scan(_) => self.scanners[usize::from(number)].at(text, hit.start, found),
                Trigger::Name(_) | Trigger::Label => {}
            }
            if let Some(end) = found[begun..].iter().map(|span| span.end).max() {
                done.insert((group, number), end);
                // What is empty only says how far a scanner has read.
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

/// How near the end of its window a finding stands that may go on behind it.
const EDGE: usize = 8;

impl Scanner {
    /// Finds what the literal at `at` announces. A scanner reads as far as it is let: so it is let
    /// further only for what it has found up to the end of its window.
    fn at(&self, text: &[u8], at: usize, found: &mut Vec<Span>) {
        let begun = found.len();
        let mut window = self.window.unwrap_or(text.len());
        loop {
            let end = text.len().min(at.saturating_add(window));
            (self.scan.0)(&text[..end], at, found);
            let cut = |span: &Span| span.start < span.end && span.end + EDGE >= end;
            if end == text.len() || !found[begun..].iter().any(cut) {
                return;
            }
            found.truncate(begun);
            window = window.saturating_mul(8);
        }
    }
}

/// Whether a vendor's name is no part of a longer word.
fn stands_alone(text: &[u8], name: &Range<usize>) -> bool {
    let inside = name.start > 0
        && text[name.start - 1].is_ascii_lowercase()
        && text[name.start].is_ascii_lowercase();
    let runs_on = text[name.end - 1].is_ascii_lowercase()
        && text.get(name.end).is_some_and(u8::is_ascii_lowercase);
    !inside && !runs_on
}
