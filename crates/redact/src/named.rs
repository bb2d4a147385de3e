//! The generic rule: a name that says password, token or key, and a value that could be one.
//!
//! The name and the value may stand in an assignment, a table, a pair of `name` and `value`, a
//! sentence in any of many languages, a call, an element, a flag, or on two lines.

mod chosen;
mod decide;
#[cfg(test)]
mod laws;
pub(super) mod name;
mod refers;
mod sentence;
mod separator;
mod setting;
mod shape;
mod table;
#[cfg(test)]
mod tests;
mod value;
mod words;

use std::ops::Range;

use self::decide::Joint;
use self::name::{Name, Strength};
use self::separator::{Lead, joiner, spaces};
use self::value::{Frame, Value, line_end};
use crate::span::{Rank, Span};

pub(super) use self::name::Opener;
pub(super) use self::table::{Columns, login_pair};

/// Longest bracket behind which a value is read, in bytes.
const BRACKET_BYTES_MAX: usize = 80;
/// Longest distance from a name to its value in a sentence, in bytes.
const SENTENCE_REACH: usize = 140;
/// Parts of names for passphrases, in lower case.
const PHRASES: &[&str] = &["phrase", "passfras", "salalause", "frase", "cümle"];
/// Schemes of a header before a value.
const SCHEMES: &[&[u8]] = &[b"bearer ", b"token ", b"basic ", b"apikey "];

/// Tells whether a value could be a password.
pub(super) fn is_password(value: &[u8]) -> bool {
    let value = value.trim_ascii();
    value.iter().all(u8::is_ascii_graphic)
        && decide::secret(value, Strength::Password, Joint::Said, Frame::Quoted)
}

/// Tells whether a value is words that somebody chose for a password, not words of code.
pub(super) fn is_chosen(value: &[u8]) -> bool {
    setting::is_chosen(value)
}

/// Tells whether a value is code, a path or a reference to a secret kept elsewhere.
pub(super) fn refers(value: &[u8]) -> bool {
    !value.is_empty() && refers::refers(value)
}

/// Tells whether a value is code or a reference to a secret kept elsewhere. Paths and names with
/// dots do not count: people make passwords like that too.
pub(super) fn is_reference(value: &[u8]) -> bool {
    !value.is_empty() && refers::is_reference(value)
}

/// Tells whether a text stands inside a resource's name (`arn:…`, `urn:…`): it says where a secret
/// is kept.
pub(super) fn in_resource_name(text: &[u8], start: usize) -> bool {
    name::in_resource_name(text, start)
}

/// Tells whether a text is a login and nothing else: `name:password`.
pub(super) fn is_login(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    let Some(colon) = memchr::memchr(b':', text) else {
        return false;
    };
    let (user, password) = (&text[..colon], &text[colon + 1..]);
    let part = |b: &u8| b.is_ascii_alphanumeric() || b"_.@-+".contains(b);
    // `010:Repository1518` is a GitHub id.
    user.iter().any(u8::is_ascii_alphabetic)
        && user.len() <= 64
        && user.iter().all(part)
        && password.len() >= 8
        && is_password(password)
}

/// Finds the value that the word at `word` names. `columns` belongs to this text, and is empty
/// before the first word of it.
pub(super) fn at(
    text: &[u8],
    word: Range<usize>,
    opener: Opener,
    columns: &mut Columns,
    found: &mut Vec<Span>,
) {
    let Some(name) = name::read(text, word, opener) else {
        return;
    };
    if is_user_of_uri(text, &name.range) || is_verdict(text, &name.range) {
        return;
    }
    let seek = Seek { text, name: &name };
    let begun = found.len();
    seek.ahead(columns, found);
    if found.len() == begun {
        seek.behind(found);
    }
}

/// Tells whether a name is the user before the host of a URI. The password behind its colon ends at
/// the `@`, and has a rule of its own.
fn is_user_of_uri(text: &[u8], name: &Range<usize>) -> bool {
    text[..name.start].ends_with(b"://") && text.get(name.end) == Some(&b':')
}

/// Tells whether a name is the verdict on a test, with the path of the test behind it:
/// `PASS: dir/test-2a`.
fn is_verdict(text: &[u8], name: &Range<usize>) -> bool {
    let starts_line = name.start == 0 || text[name.start - 1] == b'\n';
    let rest = &text[name.end..line_end(text, name.end)];
    starts_line && &text[name.clone()] == b"PASS" && rest.starts_with(b": ") && rest.contains(&b'/')
}

/// The search for the value of a name.
struct Seek<'a> {
    text: &'a [u8],
    name: &'a Name,
}

impl Seek<'_> {
    fn ahead(&self, columns: &mut Columns, found: &mut Vec<Span>) {
        let begun = found.len();
        let lead = separator::after(self.text, self.name);
        match lead {
            Lead::Value { at, joint } => {
                if self.takes_login() && matches!(self.text.get(at), Some(b'(' | b'[')) {
                    return self.call(at + 1, true, found);
                }
                if self.setting(at, joint, found) {
                    return;
                }
                if self.name.strength == Strength::Login {
                    return;
                }
                let taken = self.take(at, joint, found) || self.promised(at, joint, found);
                if !taken && matches!(joint, Joint::Said | Joint::Assigned) {
                    self.fallback(at, found);
                }
            }
            Lead::Cell { at } => {
                if !self.take(at, Joint::Said, found) {
                    self.column(columns, found);
                }
            }
            Lead::Call { at, second } => self.call(at, second, found),
            Lead::Below { at, joint } => self.below(at, joint, found),
            Lead::Pair { at } => {
                if !self.setting(at, Joint::Said, found) {
                    self.take(at, Joint::Said, found);
                }
            }
            Lead::Sentence { at, joined } => {
                let joint = if joined { Joint::Said } else { Joint::Prose };
                let setting = self.setting(at, joint, found);
                if !setting && !self.promised(at, joint, found) {
                    self.sentence(at, joined, found);
                }
            }
            Lead::Spaceless { .. } if self.name.strength == Strength::Login => {}
            Lead::Spaceless { at } => {
                if let Some(width) = joiner(&self.text[at..])
                    && self.take(spaces(self.text, at + width), Joint::Said, found)
                {
                    return;
                }
                let end = line_end(self.text, at).min(at + SENTENCE_REACH);
                self.spaceless(at, end, found);
            }
            Lead::Nothing => {}
        }
        if found.len() == begun {
            self.column(columns, found);
            self.csv(columns, found);
            self.aligned(columns, found);
        }
    }

    /// Reports the value at `at` if it is likely a secret.
    fn take(&self, at: usize, joint: Joint, found: &mut Vec<Span>) -> bool {
        // A name with a value of its own is no value. This check comes before the rest is read.
        if refers::names(&self.text[at.min(self.text.len())..]) {
            return false;
        }
        let read = value::read(self.text, at);
        read.is_some_and(|value| {
            !value::is_called(self.text, &value) && self.accept(&value, joint, found)
        }) || self.take_behind_a_bracket(at, joint, found)
    }

    /// Reports the rest of the line if the name promises several words: `passphrase: …`,
    /// `DB_PASSWORD=…`.
    fn promised(&self, at: usize, joint: Joint, found: &mut Vec<Span>) -> bool {
        let name = &self.text[self.name.range.clone()];
        let phrase = self.is_phrase_name();
        let setting = joint == Joint::Tight && name.contains(&b'_');
        if joint.is_sentence() || self.name.strength != Strength::Password || !(phrase || setting) {
            return false;
        }
        let line = &self.text[at..line_end(self.text, at)];
        let end = [&b" #"[..], b" //", b" ("]
            .iter()
            .filter_map(|mark| memchr::memmem::find(line, mark))
            .min();
        let value = line[..end.unwrap_or(line.len())].trim_ascii_end();
        let spaces = memchr::memchr_iter(b' ', value).count();
        let is_phrase = phrase && chosen::is_promised_phrase(value)
            || setting && spaces > 0 && chosen::phrase(value, spaces, Frame::Quoted);
        // Marks of code are no part of a phrase.
        let part = |b: &u8| b.is_ascii_alphanumeric() || *b >= 0x80 || b" -'!?.&#@*+".contains(b);
        let words = value.iter().all(part) && !value.starts_with(b"'");
        let is_phrase = is_phrase && words && !decide::stands_for_value(value);
        if is_phrase {
            found.push(self.span(at..at + value.len()));
        }
        is_phrase
    }

    /// Tells whether the name promises several words.
    fn is_phrase_name(&self) -> bool {
        let lower = self.text[self.name.range.clone()].to_ascii_lowercase();
        let holds = |word: &&str| memchr::memmem::find(&lower, word.as_bytes()).is_some();
        PHRASES.iter().any(holds)
    }

    /// Reports the value glued to a bracket of several words. The bracket is no marker, and hides
    /// nothing.
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

    /// Reports a value inside brackets, or behind a bracket that is no marker: neither hides it.
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
            let telling = bytes.len() >= 8 && decide::tells(bytes);
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
        if !decide::secret(bytes, strength, joint, frame) {
            return false;
        }
        found.push(self.span(range));
        true
    }

    fn span(&self, range: Range<usize>) -> Span {
        Span::new(range, self.name.kind, Rank::Named)
    }

    /// Returns the range of a value without the whitespace at its ends and the scheme of a header
    /// before it.
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
