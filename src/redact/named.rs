//! The generic rule: a name that says password, token or key, and a value that could be one.
//!
//! The name and the value may stand in an assignment, a table, a pair of `name` and `value`, a
//! sentence in any of many languages, a call, an element, a flag, or on two lines.

mod behind;
mod below;
mod call;
mod endings;
mod identifier;
mod joint;
mod likely;
mod login;
mod mark;
pub(super) mod name;
mod name_words;
mod phrase;
mod place;
mod refers;
mod sentence;
mod sentence_words;
mod shape;
mod table;
mod value;
mod value_words;
mod words;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;

use std::ops::Range;

use self::joint::Lead;
use self::likely::Joint;
use self::name::Name;
pub(super) use self::name::Strength;
use self::value::{Frame, Value, line_end};
use super::span::{Kind, Rank, Span};

/// Longest bracket that is looked behind, in bytes.
const BRACKET_BYTES_MAX: usize = 80;
/// How far behind a name in a sentence its value may stand, in bytes.
const SENTENCE_REACH: usize = 140;
/// Schemes of a header that stand before a value.
const SCHEMES: &[&[u8]] = &[b"bearer ", b"token ", b"basic ", b"apikey "];

/// Whether a value could be a password.
pub(super) fn is_password(value: &[u8]) -> bool {
    let value = value.trim_ascii();
    value.iter().all(u8::is_ascii_graphic)
        && likely::secret(value, Strength::Password, Joint::Said, Frame::Quoted)
}

/// Whether a value is code, a path or points to where the secret is kept.
pub(super) fn refers(value: &[u8]) -> bool {
    !value.is_empty() && refers::refers(value)
}

/// Whether a text is a login and nothing else: `name:password`.
pub(super) fn is_login(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    let Some(colon) = memchr::memchr(b':', text) else {
        return false;
    };
    let (user, password) = (&text[..colon], &text[colon + 1..]);
    let part = |b: &u8| b.is_ascii_alphanumeric() || b"_.@-+".contains(b);
    // `010:Repository1518` is an id of GitHub's.
    user.iter().any(u8::is_ascii_alphabetic)
        && user.len() <= 64
        && user.iter().all(part)
        && password.len() >= 8
        && is_password(password)
}

/// Looks for the value that the word at `word` names. Answers where the value ends.
pub(super) fn at(
    text: &[u8],
    word: Range<usize>,
    opened: Strength,
    found: &mut Vec<Span>,
) -> Option<usize> {
    let name = name::read(text, word, opened)?;
    let seek = Seek { text, name: &name };
    let begun = found.len();
    seek.ahead(found);
    if found.len() == begun {
        seek.behind(found);
    }
    found[begun..].iter().map(|span| span.end).max()
}

/// A name whose value is looked for.
struct Seek<'a> {
    text: &'a [u8],
    name: &'a Name,
}

impl Seek<'_> {
    fn ahead(&self, found: &mut Vec<Span>) {
        let begun = found.len();
        let lead = joint::after(self.text, self.name);
        match lead {
            Lead::Value { at, joint } => {
                if self.takes_login() && matches!(self.text.get(at), Some(b'(' | b'[')) {
                    return self.call(at + 1, true, found);
                }
                if self.name.strength == Strength::Login {
                    return self.login(at, found);
                }
                let taken = self.take(at, joint, found);
                if !taken && matches!(joint, Joint::Said | Joint::Assigned) {
                    self.fallback(at, found);
                }
            }
            Lead::Cell { at } => {
                if !self.take(at, Joint::Said, found) {
                    self.column(found);
                }
            }
            Lead::Call { at, second } => self.call(at, second, found),
            Lead::Below { at, joint } => self.below(at, joint, found),
            Lead::Pair { at } => {
                self.take(at, Joint::Said, found);
            }
            Lead::Sentence { at, joined } => {
                self.sentence(at, joined, found);
            }
            Lead::Spaceless { at } => {
                let end = line_end(self.text, at).min(at + SENTENCE_REACH);
                self.spaceless(at, end, found);
            }
            Lead::Nothing => {}
        }
        if found.len() == begun {
            self.column(found);
            self.csv(found);
        }
    }

    /// Takes the value at `at` if it is likely.
    fn take(&self, at: usize, joint: Joint, found: &mut Vec<Span>) -> bool {
        // A name with its own value is no value: told before all of it is read.
        if refers::names(&self.text[at.min(self.text.len())..]) {
            return false;
        }
        let read = value::read(self.text, at);
        read.is_some_and(|value| self.accept(&value, joint, found))
            || self.take_behind_a_bracket(at, joint, found)
    }

    /// What is glued to a bracket that holds several words: a marker that is none hides nothing.
    fn take_behind_a_bracket(&self, at: usize, joint: Joint, found: &mut Vec<Span>) -> bool {
        if self.text.get(at) != Some(&b'[') {
            return false;
        }
        let line = &self.text[at..line_end(self.text, at).min(at + BRACKET_BYTES_MAX)];
        let Some(close) = memchr::memchr(b']', line) else {
            return false;
        };
        let next = at + close + 1;
        let glued = self.text.get(next).is_some_and(u8::is_ascii_alphanumeric);
        let value = glued.then(|| value::read(self.text, next)).flatten();
        value.is_some_and(|value| self.accept(&value, joint, found))
    }

    fn accept(&self, value: &Value, joint: Joint, found: &mut Vec<Span>) -> bool {
        let range = self.trimmed(value);
        if range.is_empty() {
            return false;
        }
        let strength = match self.name.strength {
            Strength::Login => Strength::Password,
            strength => strength,
        };
        self.accept_as(range.clone(), strength, joint, value.frame, found)
            || self.accept_bracketed(range, strength, found)
    }

    /// A value inside brackets, or behind a marker that is none: neither hides it.
    fn accept_bracketed(
        &self,
        range: Range<usize>,
        strength: Strength,
        found: &mut Vec<Span>,
    ) -> bool {
        let bytes = &self.text[range.clone()];
        let close = match bytes.first() {
            Some(b'[') => b']',
            Some(b'<') => b'>',
            _ => return false,
        };
        let Some(end) = memchr::memchr(close, bytes) else {
            return false;
        };
        let start = range.start + memchr::memrchr(b':', &bytes[..end]).map_or(1, |colon| colon + 1);
        let inside = start..range.start + end;
        let behind = range.start + end + 1..range.end;
        [inside, behind].into_iter().any(|part| {
            let bytes = self.text[part.clone()].trim_ascii();
            let start = part.end - self.text[part.clone()].trim_ascii_start().len();
            let telling = bytes.len() >= 8 && likely::tells(bytes);
            let part = start..start + bytes.len();
            telling && self.accept_as(part, strength, Joint::Near, Frame::Bare, found)
        })
    }

    fn accept_as(
        &self,
        range: Range<usize>,
        strength: Strength,
        joint: Joint,
        frame: Frame,
        found: &mut Vec<Span>,
    ) -> bool {
        let bytes = &self.text[range.clone()];
        if !likely::secret(bytes, strength, joint, frame) {
            return false;
        }
        found.push(Span {
            start: range.start,
            end: range.end,
            kind: Kind::known(self.name.kind),
            rank: Rank::Named,
        });
        true
    }

    /// A value without the white space at its ends and the scheme of a header before it.
    fn trimmed(&self, value: &Value) -> Range<usize> {
        let bytes = &self.text[value.range.clone()];
        let front = bytes.len() - bytes.trim_ascii_start().len();
        let mut start = value.range.start + front;
        let end = start + bytes.trim_ascii().len();
        for scheme in SCHEMES {
            let head = &self.text[start..end.min(start + scheme.len())];
            if head.eq_ignore_ascii_case(scheme) {
                start += scheme.len();
            }
        }
        start..end
    }
}
