//! Values among the arguments of calls, and in code that falls back to them.

use super::Seek;
use super::decide::Joint;
use super::name::Strength;
use super::setting::{is_chosen, is_literal};
use super::value::{self, Frame, line_end};
use super::words::{WRAPPERS, holds};
use crate::span::Span;

/// A type of YAML, and the mark of a string of wide characters in SQL.
const PREFIXES: &[&[u8]] = &[b"!!str ", b"N"];
/// What stands between code that reads a value and the value it falls back to.
const FALLBACKS: &[&[u8]] = &[b"|| ", b" or ", b"?? ", b", ", b"?: "];
/// How far behind a name such a value may stand, in bytes.
const FALLBACK_REACH: usize = 200;
/// How many arguments of a call are looked at.
const ARGUMENTS_MAX: usize = 5;

impl Seek<'_> {
    /// Whether a pair in brackets behind the name is a login: `auth=("bob", "…")`.
    pub(super) fn takes_login(&self) -> bool {
        let name = &self.text[self.name.range.clone()];
        let auth = name.len() >= 4 && name[name.len() - 4..].eq_ignore_ascii_case(b"auth");
        self.name.strength == Strength::Login || auth
    }

    /// Whether the call is one of a client of Redis, which takes a password alone: `redis:auth("…")`.
    fn is_of_redis(&self) -> bool {
        let before = &self.text[..self.name.range.start];
        let name = &self.text[self.name.range.clone()];
        let name = name.to_ascii_lowercase();
        let object = name.strip_suffix(b".auth").unwrap_or(b"");
        let arrow = [&b":"[..], b"->"].iter().any(|mark| {
            before.strip_suffix(*mark).is_some_and(|before| {
                let low = before.len().saturating_sub(8);
                let object = before[low..].to_ascii_lowercase();
                object.ends_with(b"red") || object.ends_with(b"redis")
            })
        });
        object.ends_with(b"red") || object.ends_with(b"redis") || name == b"auth" && arrow
    }

    /// Code that reads the value from elsewhere may still hold one in case there is none there.
    pub(super) fn fallback(&self, at: usize, found: &mut Vec<Span>) {
        if let Some(quote) = wrapped(&self.text[at..])
            && let Some(value) = value::quoted(self.text, at + quote)
            && self.accept(&value, Joint::Assigned, found)
        {
            return;
        }
        let end = line_end(self.text, at).min(at + FALLBACK_REACH);
        let line = &self.text[at..end];
        for join in FALLBACKS {
            let Some(place) = memchr::memmem::find(line, join) else {
                continue;
            };
            let next = at + place + join.len();
            if matches!(self.text.get(next), Some(b'"' | b'\'' | b'`'))
                && let Some(value) = value::quoted(self.text, next)
                && self.accept(&value, Joint::Assigned, found)
            {
                return;
            }
        }
    }

    /// `login("user", "value")`, `set_password("value")`.
    pub(super) fn call(&self, at: usize, second: bool, found: &mut Vec<Span>) {
        if !second {
            if let Some(first) = value::quoted(self.text, at) {
                let sets = self.text[self.name.range.clone()]
                    .split(|b| *b == b'.')
                    .next_back();
                let sets = sets.is_some_and(|name| name.eq_ignore_ascii_case(b"setPassword"));
                if sets && is_chosen(&self.text[first.range.clone()]) {
                    found.push(self.span(first.range));
                } else {
                    self.accept(&first, Joint::Assigned, found);
                }
            }
            return;
        }
        // The password is the last of a few arguments between quotes, and never the first.
        let mut place = at;
        let mut last = None;
        for number in 0..ARGUMENTS_MAX {
            let value = value::quoted(self.text, place);
            let after = match &value {
                Some(value) => value.after + turned(&self.text[value.after..]),
                None => place + expression(&self.text[place..]),
            };
            last = value.filter(|_| number > 0).or(last);
            let rest = &self.text[after..];
            let gap = rest.iter().take(40);
            let gap = gap.take_while(|b| b", \n\r\t".contains(b)).count();
            if after == place || !rest[..gap].contains(&b',') {
                break;
            }
            place = after + gap;
        }
        let redis = last.is_none() && self.is_of_redis();
        if redis {
            last = value::quoted(self.text, at);
        }
        if let Some(value) = last {
            let range = self.trimmed(&value);
            let strength = match self.name.strength {
                Strength::Login | Strength::Weak => Strength::Password,
                strength => strength,
            };
            let bytes = &self.text[range.clone()];
            // `auth=('bob', '…')` is a login, and so is a client of Redis alone.
            let pair = self.text.get(self.name.range.end) != Some(&b'(');
            let chosen = is_literal(bytes) || (redis || pair) && is_chosen(bytes);
            if chosen && strength == Strength::Password {
                found.push(self.span(range));
            } else {
                self.accept_as(range, strength, Joint::Assigned, Frame::Quoted, found);
            }
        }
    }
}

/// The width of a call that only turns the literal before it into another type: `.to_owned()`.
fn turned(rest: &[u8]) -> usize {
    let name = expression(rest);
    let call = rest.starts_with(b".") && rest[name..].starts_with(b"()");
    if call { name + 2 } else { 0 }
}

/// The width of an argument without quotes: a name, a number, a member.
fn expression(rest: &[u8]) -> usize {
    let part = |b: &&u8| b.is_ascii_alphanumeric() || b"_.$@&*?".contains(b);
    rest.iter().take(64).take_while(part).count()
}

/// Where the quoted argument begins of a call that does no more than hold it.
fn wrapped(rest: &[u8]) -> Option<usize> {
    for mark in PREFIXES {
        if rest.starts_with(mark) && matches!(rest.get(mark.len()), Some(b'"' | b'\'')) {
            return Some(mark.len());
        }
    }
    let part = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b':' | b'.');
    let name = rest.iter().take(48).take_while(part).count();
    let last = rest[..name].rsplit(|b| matches!(b, b':' | b'.')).next()?;
    let known = holds(WRAPPERS, last);
    let quote = matches!(rest.get(name + 1), Some(b'"' | b'\''));
    (known && rest.get(name) == Some(&b'(') && quote).then_some(name + 1)
}
