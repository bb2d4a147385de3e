//! Values among the words of a sentence, behind their name or before it.

use std::ops::Range;

use crate::named::decide::Joint;
use crate::named::name::Strength;
use crate::named::shape::plain_id;
use crate::named::value::{self, Frame, Value, line_end, line_start};
use crate::named::words::{
    ARTICLES, BETWEEN, CLAUSES, COPULAS, DESCRIBED, EQUATING, FILLERS, FILLING, IDENTIFYING,
    JOINING, LINKS, OPENED, REMARKS, TELLING, holds,
};
use crate::named::{SENTENCE_REACH, Seek};
use crate::span::Span;

/// Most words that are tried behind the verb of a sentence.
const WORDS_TRIED: usize = 5;

/// The distance from a name to a word, by the words between them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SentenceDistance {
    /// Only a verb stands between.
    Near,
    /// Other words stand between.
    Far,
    /// A word between them names something with ids or digests, and the value is one of these.
    Elsewhere,
}

/// The state of the search after the words read so far.
struct Said {
    /// A verb or a mark joins the name to what follows.
    joined: bool,
    distance: SentenceDistance,
    /// No word has been read yet.
    first: bool,
}

impl Said {
    fn joint(&self, frame: Frame) -> Joint {
        if self.distance == SentenceDistance::Near || (self.first && frame == Frame::Quoted) {
            Joint::Near
        } else {
            Joint::Prose
        }
    }

    fn bracket(&mut self) {
        self.joined = true;
        self.distance = SentenceDistance::Near;
    }

    fn word(&mut self, word: &[u8]) {
        if self.distance == SentenceDistance::Elsewhere || identifies(word) {
            self.distance = SentenceDistance::Elsewhere;
            return;
        }
        let near = self.distance == SentenceDistance::Near;
        self.distance = if equates(word) || near && (joins(word) || fills(word)) {
            SentenceDistance::Near
        } else {
            SentenceDistance::Far
        };
    }
}

impl Seek<'_> {
    /// Finds the value among the words of a sentence behind the name.
    pub(super) fn sentence(&self, at: usize, joined: bool, found: &mut Vec<Span>) {
        let end = line_end(self.text, at).min(at + SENTENCE_REACH);
        let end = at + self.text[at..end].trim_ascii_end().len();
        let mut said = self.said(joined);
        let mut tried = 0;
        let mut place = at;
        while place < end && tried < WORDS_TRIED {
            let gap = self.text[place..end]
                .iter()
                .take_while(|b| b" \t(,[".contains(b))
                .count();
            place += gap;
            // A wide gap begins the next column of a listing.
            if place >= end || (gap > 3 && !said.joined) {
                return;
            }
            // Brackets straight behind a name hold its value.
            if said.first && matches!(self.text[place - 1], b'(' | b'[') {
                said.bracket();
            }
            let word = word(self.text, place, end);
            let bytes = &self.text[word.clone()];
            // A skipped word is read as a value only where it may open a quotation.
            let opens = matches!(self.text[place], b'"' | b'\'' | b'`' | 0x80..);
            let read = (said.joined || said.first || opens).then(|| value::read(self.text, place));
            let value = read.flatten().filter(|value| value.range.start < end);
            if let Some(value) = &value
                && (said.joined || said.first)
                && self.accept(value, said.joint(value.frame), found)
            {
                return;
            }
            said.word(bytes);
            if ends_sentence(bytes) {
                return;
            }
            if said.joined {
                tried += 1;
            } else {
                said.joined = joins(bytes);
                if self.name.verb && !said.joined {
                    return;
                }
            }
            said.first = false;
            let line = line_end(self.text, end);
            if said.joined && word.end == end && line < self.text.len() && bytes.ends_with(b":") {
                return self.below(line + 1, Joint::Said, found);
            }
            place = match value {
                Some(value) if value.frame == Frame::Quoted => value.after.max(word.end),
                _ => word.end.max(place + 1),
            };
        }
    }

    /// Returns the state that the name and the words before it give the search.
    fn said(&self, joined: bool) -> Said {
        let name = self.name.range.start;
        let before = &self.text[name.saturating_sub(80)..name];
        let near = matches!(self.name.strength, Strength::Password | Strength::Pin)
            || matches!(self.name.kind, "api-key" | "secret")
            || joined
            || introduced(before)
            || qualified(before);
        Said {
            joined,
            distance: if near {
                SentenceDistance::Near
            } else {
                SentenceDistance::Far
            },
            first: !self.name.verb,
        }
    }

    /// Finds the value in a sentence without spaces, among its first runs of ASCII.
    pub(super) fn spaceless(&self, at: usize, end: usize, found: &mut Vec<Span>) {
        let graphic = |b: &u8| b.is_ascii_graphic() && !b":=,;".contains(b);
        let stop = memchr::memmem::find(&self.text[at..end], "。".as_bytes());
        let end = stop.map_or(end, |stop| at + stop);
        let mut place = at;
        for _ in 0..4 {
            let Some(gap) = self.text[place..end].iter().position(graphic) else {
                return;
            };
            place += gap;
            let Some(value) = value::read(self.text, place) else {
                place += 1;
                continue;
            };
            let value = value.alone();
            if value.range.end > end {
                return;
            }
            self.accept(&value, Joint::Near, found);
            place = value.after.max(place + 1).min(end);
        }
    }
}

/// Returns the range of the word at `at`, up to whitespace.
fn word(text: &[u8], at: usize, end: usize) -> Range<usize> {
    let width = text[at..end]
        .iter()
        .take_while(|b| !b.is_ascii_whitespace())
        .count();
    at..at + width
}

/// Tells whether a word ends its sentence.
fn ends_sentence(word: &[u8]) -> bool {
    matches!(word.last(), Some(b'.' | b';' | b'?' | b'!')) || word.ends_with("。".as_bytes())
}

/// Tells whether a word joins a name to a value.
fn joins(word: &[u8]) -> bool {
    matches!(word.last(), Some(b':' | b'=')) || holds(JOINING, word)
}

/// Tells whether a word announces the value, whatever stands before it.
fn equates(word: &[u8]) -> bool {
    word.ends_with(b":") || holds(EQUATING, word)
}

/// Tells whether a word names something that has ids and digests.
pub(super) fn identifies(word: &[u8]) -> bool {
    holds(IDENTIFYING, word.strip_suffix(b":").unwrap_or(word))
}

/// Tells whether a word may stand between a verb and the value without meaning.
fn fills(word: &[u8]) -> bool {
    holds(FILLING, word)
}

/// Tells whether the words before a name tell the reader to use it: `use the token …`.
fn introduced(before: &[u8]) -> bool {
    let words = before.rsplit(u8::is_ascii_whitespace);
    for word in words.filter(|word| !word.is_empty()).take(6) {
        if holds(TELLING, word) {
            return true;
        }
        // A vendor's name, or a word that may stand before the name of a secret.
        if !holds(BETWEEN, word) && !word[0].is_ascii_uppercase() {
            return false;
        }
    }
    false
}

/// Tells whether the word before a name says what the secret opens: `deploy token`.
fn qualified(before: &[u8]) -> bool {
    before
        .rsplit(u8::is_ascii_whitespace)
        .find(|word| !word.is_empty())
        .is_some_and(|word| holds(OPENED, word))
}

// Values that stand before their name: `X is the token`, `X as the password`, `X (password)`.

impl Seek<'_> {
    /// Finds the value before its name: `… with X as the password`, `X is the token`,
    /// `X (password)`.
    pub(super) fn behind(&self, found: &mut Vec<Span>) {
        let line = line_start(self.text, self.name.range.start)
            .max(self.name.range.start.saturating_sub(SENTENCE_REACH));
        let name = self.name.range.start;
        // `X is the Snyk API token` calls any value a token, even an id.
        let said = predicate(self.text, line, name).map(|end| (end, Joint::Near));
        let either = said.or_else(|| Some((before(self.text, line, name)?, Joint::Prose)));
        if let Some((end, joint)) = either
            && let Some(value) = value_before(self.text, line, end)
        {
            // A value in quotes is meant itself, even if it is an id.
            let quoted = value.frame == Frame::Quoted;
            if !quoted && self.describes() && plain_id(&self.text[value.range.clone()]) {
                return;
            }
            let starts = self.text[line..value.range.start]
                .iter()
                .all(|b| b" \t>*-".contains(b));
            let joint = if quoted || starts { Joint::Near } else { joint };
            self.accept(&value, joint, found);
        }
    }
}

impl Seek<'_> {
    /// Tells whether the name only describes the next word: `the token fix`,
    /// `the password reset request`.
    fn describes(&self) -> bool {
        let rest = &self.text[self.name.range.end..];
        let word = rest.strip_prefix(b" ").unwrap_or_default();
        let letters = word.iter().take_while(|b| b.is_ascii_alphabetic()).count();
        holds(DESCRIBED, &word[..letters])
    }
}

/// Returns the end of the value in `X is the Snyk API token`: an article opens a phrase of a few
/// words, and the name closes it.
fn predicate(text: &[u8], line: usize, name: usize) -> Option<usize> {
    let mut end = name;
    let mut article = false;
    for _ in 0..6 {
        let range = last_word(text, line, end);
        let word = &text[range.clone()];
        end = range.start;
        if article {
            return value_end(text, line, end).filter(|_| holds(COPULAS, word));
        }
        article = holds(ARTICLES, word);
        let plain = word
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'&'));
        if word.is_empty() || !plain || holds(CLAUSES, word) || identifies(word) {
            return None;
        }
    }
    None
}

/// Returns the end of a value that may stand before its name, as in `X as the password`.
fn before(text: &[u8], line: usize, name: usize) -> Option<usize> {
    let mut end = name;
    for _ in 0..5 {
        let range = last_word(text, line, end);
        let word = &text[range.clone()];
        // A remark in brackets is about the text before them.
        let bracket = word
            .strip_prefix(b"(")
            .is_some_and(|inside| inside.is_empty() || holds(FILLERS, inside));
        if bracket || holds(REMARKS, word) || holds(LINKS, word) {
            return value_end(text, line, range.start);
        }
        // A vendor's name may stand before the word: `as Acme Cloud secret key`.
        let vendor = word.first().is_some_and(u8::is_ascii_uppercase);
        if !holds(FILLERS, word) && !vendor {
            return None;
        }
        end = range.start;
    }
    None
}

/// Returns the range of the last word before `end`, up to whitespace.
fn last_word(text: &[u8], line: usize, end: usize) -> Range<usize> {
    let head = text[line..end].trim_ascii_end();
    let width = head
        .iter()
        .rev()
        .take_while(|b| !b.is_ascii_whitespace())
        .count();
    let end = line + head.len();
    end - width..end
}

/// Returns the end of the text before `end` without the whitespace behind it, if there is any text.
fn value_end(text: &[u8], line: usize, end: usize) -> Option<usize> {
    let end = line + text[line..end].trim_ascii_end().len();
    (end > line).then_some(end)
}

/// Returns the word or quoted text that ends at `end`.
fn value_before(text: &[u8], line: usize, end: usize) -> Option<Value> {
    let mut end = end;
    while end > line && matches!(text[end - 1], b',' | b')' | b'*') {
        end -= 1;
    }
    let quote = *text[line..end].last()?;
    if matches!(quote, b'"' | b'\'' | b'`') {
        let open = memchr::memrchr(quote, &text[line..end - 1])?;
        return Some(Value {
            range: line + open + 1..end - 1,
            frame: Frame::Quoted,
            after: end,
        });
    }
    let word = text[line..end]
        .iter()
        .rev()
        .take_while(|b| !b.is_ascii_whitespace() && !b"\"'`(<>|\x01".contains(b))
        .count();
    let mut word = word;
    while word > 0 && text[end - 1] >= 0x80 {
        end -= 1;
        word -= 1;
    }
    while word > 0 && text[end - word] >= 0x80 {
        word -= 1;
    }
    // `bob:…` is a login. Its user name stays.
    let login = &text[end - word..end];
    if let Some(colon) = memchr::memchr(b':', login)
        && colon > 0
        && login.get(colon + 1).is_some_and(|b| *b != b'/')
    {
        word -= colon + 1;
    }
    (word > 0).then(|| Value {
        range: end - word..end,
        frame: Frame::Bare,
        after: end,
    })
}
