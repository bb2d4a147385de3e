//! Where a secret stands in a text, and what it is.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// The name of what a rule finds, as it stands in markers: 2 to 40 of `a-z`, `0-9` and `-`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Kind(Cow<'static, str>);

impl Kind {
    /// A kind of the built-in rules.
    pub(super) const fn known(name: &'static str) -> Self {
        Self(Cow::Borrowed(name))
    }

    /// Reads a kind of the owner's: `None` unless it has the form of one.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        let valid = (2..=40).contains(&name.len()) && name.bytes().all(fits);
        valid.then(|| Self(Cow::Owned(name.to_owned())))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How sure a finding is of its kind: where findings overlap, the surer one names the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// A name says that a value is secret; the value says nothing of its own.
    Named,
    /// Personal data, proven by its check digits or asked for by the owner.
    Personal,
    /// A vendor's name stands beside a value of that vendor's shape.
    Keyed,
    /// The place says that it is secret: a header, a URI, a file format.
    Structural,
    /// The token says what it is by its own prefix or marker.
    Marked,
    /// A block with an armour of its own.
    Armour,
}

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    /// First byte.
    pub(super) start: usize,
    /// One after the last byte.
    pub(super) end: usize,
    pub(super) kind: Kind,
    pub(super) rank: Rank,
}

impl Span {
    pub(super) fn new(range: Range<usize>, kind: &'static str, rank: Rank) -> Self {
        Self {
            start: range.start,
            end: range.end,
            kind: Kind::known(kind),
            rank,
        }
    }
}

// Markers: what stands where a secret stood. `[REDACTED:kind]`, or with a fingerprint
// `[REDACTED:kind#0123abcd]`.
//
// The grammar is exact, and the kind must be one that is known. Anything looser is scanned like
// any other text, so that nothing hides in a marker.

const OPEN: &[u8] = b"[REDACTED:";

/// What markers are blanked with before a scan: a byte that no rule matches and that ends values.
pub(super) const BLANK: u8 = 0x01;

/// The marker of a kind.
pub(super) fn write(kind: &Kind, fingerprint: Option<u32>) -> String {
    match fingerprint {
        None => format!("[REDACTED:{}]", kind.as_str()),
        Some(fingerprint) => format!("[REDACTED:{}#{fingerprint:08x}]", kind.as_str()),
    }
}

/// Where exact markers of known kinds stand.
pub(super) fn find(text: &[u8], known: impl Fn(&str) -> bool) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for start in memchr::memmem::find_iter(text, OPEN) {
        if let Some(end) = read(text, start, &known) {
            found.push(start..end);
        }
    }
    found
}

fn read(text: &[u8], start: usize, known: impl Fn(&str) -> bool) -> Option<usize> {
    let body = &text[start + OPEN.len()..];
    let fits = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-';
    let width = body.iter().take(41).take_while(|b| fits(b)).count();
    let kind = std::str::from_utf8(&body[..width]).ok()?;
    if !(2..=40).contains(&width) || !known(kind) {
        return None;
    }
    let hex = |b: &u8| b.is_ascii_digit() || matches!(b, b'a'..=b'f');
    let end = match body.get(width)? {
        b']' => width + 1,
        b'#' => {
            let digits = body.get(width + 1..width + 9)?;
            let closed = digits.iter().all(hex) && body.get(width + 9) == Some(&b']');
            closed.then_some(width + 10)?
        }
        _ => return None,
    };
    Some(start + OPEN.len() + end)
}

// Pieces of a text around a place, as whole characters.

/// Whether a letter is of a script that sets no blanks between words: Thai, Chinese, Japanese, and
/// Korean, whose particles stand close.
pub(super) fn is_joined(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{d7ff}')
        || matches!(c, '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffdc}')
}

/// The text from `at` on, no more than `most` bytes, up to what is no UTF-8.
pub(super) fn ahead(text: &[u8], at: usize, most: usize) -> &str {
    let at = at.min(text.len());
    let there = &text[at..text.len().min(at.saturating_add(most))];
    match std::str::from_utf8(there) {
        Ok(there) => there,
        Err(e) => std::str::from_utf8(&there[..e.valid_up_to()]).unwrap_or_default(),
    }
}

/// The text before `at`, no more than `most` bytes, from what is UTF-8 on.
pub(super) fn behind(text: &[u8], at: usize, most: usize) -> &str {
    let mut there = &text[at.saturating_sub(most)..at];
    loop {
        match std::str::from_utf8(there) {
            Ok(there) => return there,
            Err(e) => {
                there = &there
                    [e.valid_up_to() + e.error_len().unwrap_or(there.len() - e.valid_up_to())..];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_hold_whole_characters() {
        let text = "aüb".as_bytes();
        assert_eq!((ahead(text, 0, 2), behind(text, 4, 2)), ("a", "b"));
        assert_eq!(behind(b"\xff\xffab", 4, 9), "ab");
    }
}
