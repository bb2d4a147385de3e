//! Values that stand before their name: `X is the token`, `X as the password`, `X (password)`.

use std::ops::Range;

use super::decide::Joint;
use super::sentence::identifies;
use super::shape::plain_id;
use super::value::{Frame, Value, line_start};
use super::words::{ARTICLES, CLAUSES, COPULAS, DESCRIBED, FILLERS, LINKS, REMARKS, holds};
use super::{SENTENCE_REACH, Seek};
use crate::span::Span;

impl Seek<'_> {
    /// `… with X as the password`, `X is the token`, `X (password)`.
    pub(super) fn behind(&self, found: &mut Vec<Span>) {
        let line = line_start(self.text, self.name.range.start)
            .max(self.name.range.start.saturating_sub(SENTENCE_REACH));
        let name = self.name.range.start;
        // `X is the Snyk API token` says it of any value, an id too.
        let said = predicate(self.text, line, name).map(|end| (end, Joint::Near));
        let either = said.or_else(|| Some((before(self.text, line, name)?, Joint::Prose)));
        if let Some((end, joint)) = either
            && let Some(value) = value_before(self.text, line, end)
        {
            // Between quotes it is the value that is spoken of, an id too.
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
    /// Whether the name is a part of what is spoken of: `the token fix`, `the password reset request`.
    fn describes(&self) -> bool {
        let rest = &self.text[self.name.range.end..];
        let word = rest.strip_prefix(b" ").unwrap_or_default();
        let letters = word.iter().take_while(|b| b.is_ascii_alphabetic()).count();
        holds(DESCRIBED, &word[..letters])
    }
}

/// Where the value ends in `X is the Snyk API token`: the name closes a phrase of a few words that
/// an article opens.
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

/// Where a value would end that stands before a name, as in `X as the password`.
fn before(text: &[u8], line: usize, name: usize) -> Option<usize> {
    let mut end = name;
    for _ in 0..5 {
        let range = last_word(text, line, end);
        let word = &text[range.clone()];
        // What the brackets say is about what stands before them.
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

/// The last word before `end`, up to white space.
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

/// Where what stands before `end` ends without the white space behind it, if there is anything.
fn value_end(text: &[u8], line: usize, end: usize) -> Option<usize> {
    let end = line + text[line..end].trim_ascii_end().len();
    (end > line).then_some(end)
}

/// The word or quoted text that ends at `end`.
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
    // `bob:…` is a login, of which the name stays.
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
