//! Runs the scanner of a rule over a text as the engine does, for tests.

use crate::rule::{Class, Finder, Rule};
use crate::rules::{self, samples};
use crate::span::Span;

/// Returns every rule with a scanner of its own.
fn structural() -> impl Iterator<Item = &'static Rule> {
    rules::all().filter(|rule| rule.class == Class::Structural)
}

/// Returns the rule of a kind.
pub(super) fn rule(kind: &str) -> &'static Rule {
    structural()
        .find(|rule| rule.kind == kind)
        .unwrap_or_else(|| panic!("a rule of the kind {kind}"))
}

/// Returns the findings of a rule in a text, with the form of every span checked.
pub(super) fn spans(rule: &Rule, text: &[u8]) -> Vec<Span> {
    let Finder::Scan(scan) = rule.finder else {
        panic!("{} has a scanner", rule.kind);
    };
    let hits = |at: usize| {
        let rest = &text[at..];
        let literal = rule.literals.iter().any(|l| rest.starts_with(l.as_bytes()));
        let head = |k: &str| {
            rest.get(..k.len())
                .is_some_and(|s| s.eq_ignore_ascii_case(k.as_bytes()))
        };
        literal || rule.keywords.iter().any(|k| head(k))
    };
    let mut found: Vec<Span> = Vec::new();
    for at in 0..text.len() {
        if hits(at) && !found.iter().any(|s| (s.start..s.end).contains(&at)) {
            scan.0(text, at, &mut found);
            found.retain(|span| span.start < span.end);
        }
    }
    for span in &found {
        assert!(span.start < span.end && span.end <= text.len(), "{span:?}");
        assert!(!text[span.start..span.end].contains(&1), "{span:?}");
    }
    found.sort_by_key(|s| s.start);
    found
}

/// Returns the text with `«` and `»` around each finding of the rule.
fn marked(rule: &Rule, text: &str) -> String {
    let (mut out, mut done) = (Vec::new(), 0);
    for span in spans(rule, text.as_bytes()) {
        if span.end <= done {
            continue;
        }
        if span.start < done {
            // The span overlaps the one before: both are one.
            out.truncate(out.len() - "»".len());
        } else {
            out.extend_from_slice(&text.as_bytes()[done..span.start]);
            out.extend_from_slice("«".as_bytes());
        }
        out.extend_from_slice(&text.as_bytes()[done.max(span.start)..span.end]);
        out.extend_from_slice("»".as_bytes());
        done = span.end;
    }
    out.extend_from_slice(&text.as_bytes()[done..]);
    String::from_utf8_lossy(&out).into_owned()
}

/// Asserts that a rule finds exactly the text between `«` and `»`. `¦` is dropped.
pub(super) fn check(kind: &str, wanted: &str) {
    check_rule(rule(kind), wanted);
}

/// Asserts that a rule finds nothing in each of the texts.
pub(super) fn keeps(kind: &str, texts: &[&str]) {
    for text in texts {
        assert!(!text.contains('«'), "{text}");
        check(kind, text);
    }
}

/// Asserts that a rule finds exactly the marked text in each of the texts.
pub(super) fn finds(kind: &str, texts: &[&str]) {
    for text in texts {
        assert!(text.contains('«'), "{text}");
        check(kind, text);
    }
}

fn check_rule(rule: &Rule, wanted: &str) {
    let wanted = wanted.replace('¦', "");
    let text = wanted.replace(['«', '»'], "");
    assert_eq!(marked(rule, &text), wanted, "{}", rule.kind);
}

#[test]
fn examples_of_the_rules_hold() {
    for rule in structural() {
        for text in &samples::of(rule).found {
            check_rule(rule, text);
        }
        for text in &samples::of(rule).kept {
            check_rule(rule, text);
        }
    }
}

/// Lines of every kind around an example change nothing: the rule finds no more and no less.
#[test]
fn examples_hold_between_other_lines() {
    let frames = [
        ("", "\n"),
        ("- Uses Python 3.12.\n", "\nMore text."),
        ("注意\n", "\n完了。"),
        ("a\r\n", "\r\nb"),
    ];
    for rule in structural() {
        for text in &samples::of(rule).found {
            for (before, after) in frames {
                check_rule(rule, &format!("{before}{text}{after}"));
            }
        }
    }
}

/// A finding is not found again once a marker stands in its place.
#[test]
fn markers_are_left_alone() {
    for rule in structural() {
        for text in &samples::of(rule).found {
            let mut bytes = text.replace(['«', '»', '¦'], "").into_bytes();
            for span in spans(rule, &bytes.clone()) {
                bytes[span.start..span.end].fill(1);
            }
            let again = spans(rule, &bytes);
            assert!(again.is_empty(), "{} {text:?} {again:?}", rule.kind);
        }
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(300))]

    /// No bytes break a scanner: each gets every rule's own words in random order.
    #[test]
    fn no_text_breaks_a_scanner(
        pieces in proptest::collection::vec((0usize..4096, "[\\x01 -~\\n\\r\u{e9}\u{5bc6}]{0,12}"), 0..12),
    ) {
        for rule in structural() {
            let own = rule.literals.iter().chain(rule.keywords).copied();
            let words: Vec<&str> = own.chain(samples::of(rule).found.iter().map(String::as_str)).collect();
            let mut text = String::new();
            for (pick, filler) in &pieces {
                let word = words[pick % words.len()].replace(['«', '»', '¦'], "");
                let cut = (0..=word.len()).rev().find(|i| *i <= pick / 3 && word.is_char_boundary(*i));
                text.push_str(&word[..cut.unwrap_or(0)]);
                text.push_str(filler);
            }
            let _ = marked(rule, &text);
        }
    }
}
