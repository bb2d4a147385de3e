//! Passwords and codes in notes: each word near a label is weighed.
//!
//! People name a password and say it somewhere near, in any order and in any words, so no grammar
//! finds it. A linear model does: its features are the look of a word and the words around it, and
//! each feature gives some points for or against the word. The points are data, learnt from the
//! notes in `fixtures/redaction/notes`; docs/rules.md says how.
//!
//! ```text
//! labels (from the gate) ─▶ page: the lines near them, as words with their classes
//!                             └─▶ weigh: each word that could be a secret, in order ─▶ spans
//! ```
//!
//! Each line is read once and each word is weighed once, against a bounded number of others: the
//! time is linear in the text.

mod cache;
mod code;
pub(super) mod hash;
mod join;
mod look;
mod page;
#[cfg(test)]
#[path = "notes/tests/train.rs"]
mod train;
mod vocabulary;
mod weigh;

use self::page::{NotePage, Word};
use self::vocabulary::{Classes, WordClass};
use self::weigh::LinePoints;
use crate::named;
use crate::span::{Rank, Span};

/// Fewest points with which a word is a secret.
const ENOUGH: i32 = -11;

/// Most bytes of a placeholder before a word in it.
const TEMPLATE_BYTES_MAX: usize = 64;

/// Kinds of numbers, and of other words, by the labels near them: the first label that is there
/// decides.
const NUMBER_KINDS: [(WordClass, &str); 3] = [
    (WordClass::Otp, "one-time-code"),
    (WordClass::Card, "card-code"),
    (WordClass::Pin, "pin"),
];
const WORD_KINDS: [(WordClass, &str); 2] = [
    (WordClass::Password, "password"),
    (WordClass::Answer, "security-answer"),
];

/// Labels too short for the vocabulary, with the character that ends them.
const SHORT_LABELS: [&str; 4] = ["pw ", "pw:", "pw=", "pw,"];

/// The start of a word that announces a secret nearby, as the gate found it.
pub(super) type Label = usize;

/// Returns the words that the gate has to look for, because secrets stand near them.
pub(super) fn labels() -> impl Iterator<Item = &'static str> {
    vocabulary::LABELS.iter().chain(&SHORT_LABELS).copied()
}

/// Tells whether a value is itself a word for a secret in some language, as in the translation of a form.
pub(super) fn is_label(value: &[u8]) -> bool {
    let word = std::str::from_utf8(value).unwrap_or_default();
    if word.is_ascii() || !word.chars().all(char::is_alphabetic) {
        return false;
    }
    let (classes, _) = vocabulary::classes(&word.to_lowercase());
    classes.meets(Classes::of(&[WordClass::Password, WordClass::Secret]))
}

/// Weighs the words near the labels of a text. `found` holds the findings so far.
pub(super) fn scan(text: &[u8], labels: &[Label], found: &mut Vec<Span>) {
    if labels.is_empty() {
        return;
    }
    let page = NotePage::read(text, labels, found);
    let mut spans: Vec<Span> = Vec::new();
    let mut points = LinePoints::default();
    page.decide(|page, at, history| {
        let word = &page.words[at];
        let likely = points.with(page, at, history) >= ENOUGH;
        // A reference to the place of a secret is not a secret.
        let secret = likely
            && !named::is_reference(word.text.as_bytes())
            && !named::in_resource_name(text, word.range().start)
            && !in_template(text, word.range().start);
        if secret {
            let range = word.range();
            match spans
                .last_mut()
                .filter(|last| history.last && text.get(last.end..range.start) == Some(b" "))
            {
                Some(last) => last.end = range.end,
                None => spans.push(Span::new(range, kind(page, word), Rank::Named)),
            }
        }
        secret
    });
    found.append(&mut spans);
}

/// Tells whether a word stands in a placeholder of a template: `{{ upassword }}`.
fn in_template(text: &[u8], start: usize) -> bool {
    let before = &text[start.saturating_sub(TEMPLATE_BYTES_MAX)..start];
    let begun = before.windows(2).rposition(|two| two == b"{{");
    begun.is_some_and(|begun| !before[begun..].iter().any(|b| b"}\n".contains(b)))
}

/// Returns the kind of a secret, by the words around it.
fn kind(page: &NotePage, word: &Word) -> &'static str {
    let here = page.lines[word.line].classes;
    let above = page
        .above(word.line, 1)
        .map_or(Classes::default(), |line| line.classes);
    let (kinds, other): (&[_], _) = if word.look.is_number() {
        (&NUMBER_KINDS, "access-code")
    } else {
        (&WORD_KINDS, "password")
    };
    let said = |classes: Classes| kinds.iter().find(|(class, _)| classes.has(*class));
    said(here)
        .or_else(|| said(above))
        .map_or(other, |(_, kind)| kind)
}
