//! Spans: the place of a secret in a text, and its kind.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// The name of a kind of secret, as it stands in markers: 2 to 40 of `a-z`, `0-9` and `-`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Kind(Cow<'static, str>);

impl Kind {
    /// Makes a kind of a built-in rule.
    pub(super) const fn known(name: &'static str) -> Self {
        Self(Cow::Borrowed(name))
    }

    /// Reads a kind of the owner's. Returns `None` unless the name has the form of a kind.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        let valid = (2..=40).contains(&name.len()) && name.bytes().all(fits);
        valid.then(|| Self(Cow::Owned(name.to_owned())))
    }

    /// Returns the name.
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

/// The certainty of a finding. Where findings overlap, the surest one names the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// A value beside a name that says it is secret; the value itself shows nothing.
    Named,
    /// Personal data, proven by its check digits or asked for by the owner.
    Personal,
    /// A value of a vendor's shape beside that vendor's name.
    Keyed,
    /// A value in a place for secrets: a header, a URI, a file format.
    Structural,
    /// A token with a prefix or marker of its own.
    Marked,
    /// A block with an armour of its own.
    Armour,
}

/// A span of a secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    /// The first byte.
    pub(super) start: usize,
    /// The position behind the last byte.
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

// Markers, which take the place of secrets: `[REDACTED:kind]`, or with a fingerprint
// `[REDACTED:kind#0123abcd]`.
//
// The grammar is exact, and the kind must be known. Anything looser is scanned like any other text,
// so that nothing hides in a marker.

const OPEN: &[u8] = b"[REDACTED:";

/// The byte that blanks markers before a scan. No rule matches it, and it ends values.
pub(super) const BLANK: u8 = 0x01;

/// Writes the marker of a kind.
pub(super) fn write(kind: &Kind, fingerprint: Option<u32>) -> String {
    match fingerprint {
        None => format!("[REDACTED:{}]", kind.as_str()),
        Some(fingerprint) => format!("[REDACTED:{}#{fingerprint:08x}]", kind.as_str()),
    }
}

/// Finds the exact markers of known kinds.
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

// Windows around a place in a text, in whole characters.

/// Tells whether a letter belongs to a script without blanks between words: Thai, Chinese,
/// Japanese, and Korean, whose particles follow a word without a blank.
pub(super) fn is_joined(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{d7ff}')
        || matches!(c, '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffdc}')
}

/// Returns the text from `at` on, at most `most` bytes, up to the first invalid UTF-8.
pub(super) fn ahead(text: &[u8], at: usize, most: usize) -> &str {
    let at = at.min(text.len());
    let there = &text[at..text.len().min(at.saturating_add(most))];
    match std::str::from_utf8(there) {
        Ok(there) => there,
        Err(e) => std::str::from_utf8(&there[..e.valid_up_to()]).unwrap_or_default(),
    }
}

/// Returns the text before `at`, at most `most` bytes, from behind the last invalid UTF-8.
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
