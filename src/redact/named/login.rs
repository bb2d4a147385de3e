//! The second half of a login: `admin / hunter2!`, `admin:hunter2!`.

use super::likely::Joint;
use super::value::{self, line_end};
use super::{SENTENCE_REACH, Seek};
use crate::redact::span::Span;

/// What stands between a user and a password, and whether the user may be two words before it.
const SEPARATORS: &[(&[u8], bool)] = &[
    (b" / ", true),
    (b" : ", true),
    (b": ", true),
    (b" | ", true),
    (b" - ", true),
    (b", ", true),
    (b" with ", true),
    (b" and ", true),
    (b"/", false),
    (b":", false),
    (b" ", true),
];

/// Longest name of a user, in bytes.
const USER_BYTES_MAX: usize = 64;

impl Seek<'_> {
    /// `admin / hunter2!`, `admin:hunter2!`: the second half of a login.
    pub(super) fn login(&self, at: usize, found: &mut Vec<Span>) {
        let end = line_end(self.text, at).min(at + SENTENCE_REACH);
        let line = &self.text[at..end];
        for (separator, open) in SEPARATORS {
            let Some(place) = memchr::memmem::find(line, separator) else {
                continue;
            };
            // What stands before the separator is one name, not a sentence.
            let user = line[..place].trim_ascii();
            if user.is_empty()
                || user.len() > USER_BYTES_MAX
                || memchr::memchr_iter(b' ', user).count() > 1
            {
                continue;
            }
            if !*open && user.contains(&b' ') {
                continue;
            }
            let next = at + place + separator.len();
            // The rest of `https://` is no password.
            if self.text.get(next) == Some(&b'/') {
                continue;
            }
            if let Some(value) = self
                .text
                .get(next)
                .and_then(|_| value::read(self.text, next))
                && self.accept(&value, Joint::Prose, found)
            {
                return;
            }
        }
    }
}
