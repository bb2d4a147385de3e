//! Helpers over bytes that all scanners share.

use std::ops::Range;

use aho_corasick::AhoCorasick;

use crate::decode::decode_any;
use crate::span::{BLANK, Rank, Span};
use crate::structure::value::is_placeholder;

/// Longest distance from its literal at which a scanner looks for context, in bytes.
pub(super) const REACH: usize = 4096;

/// Longest distance from an opening quote to its closing quote, in bytes.
const QUOTED_MAX: usize = 1024;

/// Reports a value in a place that the scanner knows, unless it is a placeholder or empty.
pub(super) fn report(
    text: &[u8],
    value: Range<usize>,
    kind: &'static str,
    found: &mut Vec<Span>,
) -> bool {
    let real = !is_placeholder(&text[value.clone()]);
    if real {
        found.push(Span::new(value, kind, Rank::Structural));
    }
    real
}

/// Returns the end of the run of fitting bytes that begins at `at`.
pub(super) fn run(text: &[u8], at: usize, fits: impl Fn(u8) -> bool) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest.iter().position(|b| !fits(*b)).unwrap_or(rest.len())
}

/// Returns the start of the run of fitting bytes that ends before `at`, at most `most` bytes back.
pub(super) fn run_back(text: &[u8], at: usize, most: usize, fits: impl Fn(u8) -> bool) -> usize {
    let floor = at.saturating_sub(most);
    text[floor..at]
        .iter()
        .rposition(|b| !fits(*b))
        .map_or(floor, |i| floor + i + 1)
}

/// Returns up to `most` bytes from `at` on.
pub(super) fn ahead(text: &[u8], at: usize, most: usize) -> &[u8] {
    let at = at.min(text.len());
    &text[at..text.len().min(at + most)]
}

/// Returns up to `most` bytes before `at`.
pub(super) fn behind(text: &[u8], at: usize, most: usize) -> &[u8] {
    &text[at.saturating_sub(most)..at]
}

/// Returns the text before `at` on its line, up to `most` bytes.
pub(super) fn line_before(text: &[u8], at: usize, most: usize) -> &[u8] {
    let start = run_back(text, at, most, |b| b != b'\n');
    &text[start..at]
}

/// Returns the end of the line that `at` stands on, at most `most` bytes ahead.
pub(super) fn line_end(text: &[u8], at: usize, most: usize) -> usize {
    let rest = ahead(text, at, most);
    at + rest
        .iter()
        .position(|b| matches!(b, b'\n' | b'\r'))
        .unwrap_or(rest.len())
}

/// Tells whether `word` stands at `at`, ignoring case.
pub(super) fn stands(text: &[u8], at: usize, word: &[u8]) -> bool {
    text.get(at..at + word.len())
        .is_some_and(|s| s.eq_ignore_ascii_case(word))
}

/// Returns the position after the first of `words` that stands at `at`, ignoring case.
pub(super) fn after_any(text: &[u8], at: usize, words: &[&str]) -> Option<usize> {
    words
        .iter()
        .find(|w| stands(text, at, w.as_bytes()))
        .map(|w| at + w.len())
}

/// Finds `word` in `text`, ignoring case.
pub(super) fn find(text: &[u8], word: &str) -> Option<usize> {
    let word = word.as_bytes();
    let (lower, upper) = (word[0].to_ascii_lowercase(), word[0].to_ascii_uppercase());
    let last = text.len().checked_sub(word.len())?;
    memchr::memchr2_iter(lower, upper, &text[..=last])
        .find(|at| text[*at..at + word.len()].eq_ignore_ascii_case(word))
}

/// Builds a matcher that searches for all words in one pass, ignoring case.
pub(super) fn words(words: &[&str]) -> AhoCorasick {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(words)
        .expect("a few words")
}

/// Tells whether one of `words` stands in `text`, not inside a longer word.
pub(super) fn has_any_word(text: &[u8], words: &AhoCorasick) -> bool {
    words.find_overlapping_iter(text).any(|found| {
        !ends_in_word(text, found.start()) && !text.get(found.end()).copied().is_some_and(is_word)
    })
}

/// Marks all up to `end` as read: the scanner need not be asked about it again.
pub(super) fn read_to(end: usize, kind: &'static str, found: &mut Vec<Span>) {
    found.push(Span::new(end..end, kind, Rank::Structural));
}

/// Tells whether one of `words` stands in `text`, ignoring case, not inside a longer word.
pub(super) fn has_word(text: &[u8], words: &[&str]) -> bool {
    words.iter().any(|word| {
        let mut from = 0;
        while let Some(at) = find(&text[from..], word) {
            let (start, end) = (from + at, from + at + word.len());
            if !ends_in_word(text, start) && !text.get(end).copied().is_some_and(is_word) {
                return true;
            }
            from = start + 1;
        }
        false
    })
}

/// Tells whether a letter, a digit or `_` stands before `at`.
pub(super) fn ends_in_word(text: &[u8], at: usize) -> bool {
    at > 0 && is_word(text[at - 1])
}

pub(super) fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

pub(super) fn is_base64(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=')
}

pub(super) fn is_base64url(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')
}

pub(super) fn is_blank(b: u8) -> bool {
    matches!(b, b' ' | b'\t')
}

/// Tells whether a byte begins a character that no password has and that no blank sets off:
/// Chinese, Japanese and Korean script, typographic quotes, full-width punctuation.
pub(super) fn is_wide(b: u8) -> bool {
    b >= 0xe2
}

/// Tells whether a byte may stand in an unquoted value.
pub(super) fn is_bare(b: u8) -> bool {
    !(b <= b' ' || b == 0x7f || is_wide(b) || matches!(b, b'"' | b'\'' | b'`' | b'<' | b'>'))
}

/// Returns the end of `from..end` without the punctuation of a sentence there. A bracket that was
/// opened inside stays, and so do `!` and `?`, on which many passwords end.
pub(super) fn trim(text: &[u8], from: usize, end: usize) -> usize {
    let mut end = end;
    let value = ahead(text, from, REACH.min(end.saturating_sub(from)));
    let opened = |mark| memchr::memchr(mark, value).map_or(usize::MAX, |first| from + first);
    let mut brackets: Option<[usize; 3]> = None;
    while end > from {
        let mut opens_inside = |which: usize| {
            let first = brackets.get_or_insert_with(|| [b'(', b'[', b'{'].map(opened))[which];
            first < end
        };
        let closes = match text[end - 1] {
            b')' => !opens_inside(0),
            b']' => !opens_inside(1),
            b'}' => !opens_inside(2),
            b => b".,;:|*\"'`\\".contains(&b),
        };
        if !closes {
            break;
        }
        end -= 1;
    }
    end
}

/// Returns the opening quote at `at`, with the backslashes that escape it: the same bytes close it.
pub(super) fn quote(text: &[u8], at: usize) -> Option<&[u8]> {
    let slashes = run(ahead(text, at, 8), 0, |b| b == b'\\');
    let mark = *text.get(at + slashes)?;
    let quoted = matches!(mark, b'"' | b'\'') || (mark == b'`' && slashes == 0);
    quoted.then(|| &text[at..=at + slashes])
}

/// Reads the value that begins at `at`: up to the closing quote if a quote opens it, otherwise the
/// run of bytes that `bare` allows, without the punctuation of a sentence. Returns its range, and
/// the position where reading can go on.
pub(super) fn value(text: &[u8], at: usize, bare: impl Fn(u8) -> bool) -> (Range<usize>, usize) {
    let at = at.min(text.len());
    let Some(mark) = quote(text, at) else {
        let end = trim(text, at, run(text, at, bare));
        return (at..end, end);
    };
    let start = at + mark.len();
    let last = mark[mark.len() - 1];
    let mut end = start;
    let mut doubled = false;
    for b in ahead(text, start, QUOTED_MAX) {
        // A doubled quote belongs to the value: `'it''s'`.
        let twice = text.get(end + 1) == Some(&last)
            && text.get(end + 2).is_some_and(u8::is_ascii_alphanumeric)
            && text[end - 1].is_ascii_alphanumeric();
        if *b == last && mark.len() == 1 && last != b'`' && (doubled || twice) {
            doubled = !doubled;
            end += 1;
            continue;
        }
        if matches!(*b, b'\n' | b'\r' | BLANK) {
            break;
        }
        if *b == last && (mark.len() > 1 || text[end - 1] != b'\\' || end == start) {
            let close = (end + 1).saturating_sub(mark.len()).max(start);
            return (start..close, end + 1);
        }
        end += 1;
    }
    // Without a closing quote, only the first word is surely meant.
    let limit = if end == start + QUOTED_MAX {
        text.len()
    } else {
        end
    };
    let end = trim(text, start, run(&text[..limit], start, is_bare));
    (start..end, end)
}

/// Tells whether a text is base64 of `user:password` in printable characters.
pub(super) fn is_encoded_pair(text: &[u8]) -> bool {
    text.len() >= 4
        && decode_any(text).is_some_and(|pair| {
            let plain = std::str::from_utf8(&pair).is_ok_and(|s| !s.contains(char::is_control));
            let colon = pair.iter().position(|b| *b == b':');
            plain && colon.is_some_and(|at| pair.len() > at + 1 || at >= 8)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_end_where_they_are_closed() {
        for (text, want) in [
            ("abc1", "abc1"),
            ("abc1. Next", "abc1"),
            ("\"a b c\" d", "a b c"),
            ("'it\\'s' x", "it\\'s"),
            ("'it''s' x", "it''s"),
            ("'it''", "it"),
            (r#"\"abc\", \"d\""#, "abc"),
            (r#"\\"abc\\", x"#, "abc"),
            ("\"open end", "open"),
            ("abc**", "abc"),
            ("abc\u{3002}", "abc"),
            ("`abc`", "abc"),
        ] {
            let (got, _) = value(text.as_bytes(), 0, is_bare);
            assert_eq!(&text[got], want, "{text}");
        }
    }

    #[test]
    fn base64_of_either_alphabet() {
        assert!(is_encoded_pair(b"aGk6eW91"));
        assert!(!is_encoded_pair(b"authentication"));
    }
}
