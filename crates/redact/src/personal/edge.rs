//! The edges of a number: its start and end, the gaps between its groups, and the words beside it.

use memchr::memmem;

/// Bytes before and after a number in which its keyword is searched.
const BESIDE_LENGTH: usize = 48;

/// A separator between two groups of digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gap {
    /// A space of any width, also percent-encoded or as an HTML entity.
    Space,
    /// A hyphen or dash of any width.
    Dash,
}

/// Every spelling of a gap besides ASCII space and hyphen.
const WIDE: &[(&[u8], Gap)] = &[
    ("\u{a0}".as_bytes(), Gap::Space),
    ("\u{2007}".as_bytes(), Gap::Space),
    ("\u{2009}".as_bytes(), Gap::Space),
    ("\u{202f}".as_bytes(), Gap::Space),
    (b"%20", Gap::Space),
    (b"&nbsp;", Gap::Space),
    ("\u{2010}".as_bytes(), Gap::Dash),
    ("\u{2011}".as_bytes(), Gap::Dash),
    ("\u{2012}".as_bytes(), Gap::Dash),
    ("\u{2013}".as_bytes(), Gap::Dash),
    ("\u{2212}".as_bytes(), Gap::Dash),
];

/// Returns the gap that begins at `at`, and its length in bytes.
pub(super) fn gap(text: &[u8], at: usize) -> Option<(Gap, usize)> {
    let rest = text.get(at..)?;
    match rest.first()? {
        b' ' => Some((Gap::Space, 1)),
        b'-' => Some((Gap::Dash, 1)),
        0xc2 | 0xe2 | b'%' | b'&' => WIDE
            .iter()
            .find(|(spelling, _)| rest.starts_with(spelling))
            .map(|(spelling, gap)| (*gap, spelling.len())),
        _ => None,
    }
}

/// Returns the gap that ends at `at`, and its length in bytes.
pub(super) fn gap_before(text: &[u8], at: usize) -> Option<(Gap, usize)> {
    let head = &text[..at];
    match head.last()? {
        b' ' => Some((Gap::Space, 1)),
        b'-' => Some((Gap::Dash, 1)),
        b'0' | b';' | 0x80.. => WIDE
            .iter()
            .find(|(spelling, _)| head.ends_with(spelling))
            .map(|(spelling, gap)| (*gap, spelling.len())),
        _ => None,
    }
}

/// Tells whether the byte at `at` is an ASCII digit.
pub(super) fn digit_at(text: &[u8], at: usize) -> bool {
    text.get(at).is_some_and(u8::is_ascii_digit)
}

/// Tells whether a digit ends at `at`.
pub(super) fn digit_before(text: &[u8], at: usize) -> bool {
    at > 0 && text[at - 1].is_ascii_digit()
}

/// Returns the end of the run of digits that begins at `at`.
pub(super) fn run_end(text: &[u8], at: usize) -> usize {
    let run = text[at..].iter().take_while(|b| b.is_ascii_digit()).count();
    at + run
}

/// Tells whether a number may begin at `at`: it is not glued to a word, an identifier or the digits
/// before a full stop. The letter of `\n` and the digits of `%3D` are not part of a word.
pub(super) fn opens(text: &[u8], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).map(|i| text[i]);
    let Some(last) = before(1) else { return true };
    match last {
        b'_' => !before(2).is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_'),
        b'.' => before(2).is_some_and(|b| !b.is_ascii_digit() && !b.is_ascii_whitespace()),
        b'n' | b'r' | b't' if before(2) == Some(b'\\') => true,
        _ if last.is_ascii_alphanumeric() => {
            last.is_ascii_hexdigit()
                && before(3) == Some(b'%')
                && before(2).is_some_and(|b| b.is_ascii_hexdigit())
        }
        _ => true,
    }
}

/// Tells whether a number may end at `at`, as [`opens`] does for its start.
pub(super) fn closes(text: &[u8], at: usize) -> bool {
    let after = |on: usize| text.get(at + on).copied();
    match after(0) {
        Some(b'_') => !after(1).is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_'),
        Some(b'.') => !after(1).is_some_and(|b| b.is_ascii_digit()),
        Some(b) => !b.is_ascii_alphanumeric(),
        None => true,
    }
}

/// Tells whether digits go on beyond a dash on either side, as in longer numbers and UUIDs.
pub(super) fn dashed(text: &[u8], start: usize, end: usize) -> bool {
    let left = matches!(gap_before(text, start), Some((Gap::Dash, length))
        if digit_before(text, start - length));
    let right = matches!(gap(text, end), Some((Gap::Dash, length))
        if digit_at(text, end + length));
    left || right
}

/// Tells whether one of `words`, all in lower case, stands on the same line close before `start` or
/// after `end`, in any case. The word must not be the end or the beginning of a longer one.
pub(super) fn beside(text: &[u8], start: usize, end: usize, words: &[&str]) -> bool {
    let from = start.saturating_sub(BESIDE_LENGTH);
    let to = text.len().min(end + BESIDE_LENGTH);
    let line = |b: &u8| matches!(b, b'\n' | b'\r' | 1);
    let head = text[from..start].rsplit(line).next().unwrap_or_default();
    let tail = text[end..to].split(line).next().unwrap_or_default();
    holds(head, words) || holds(tail, words)
}

fn holds(text: &[u8], words: &[&str]) -> bool {
    if text.len() < 2 {
        return false;
    }
    let mut lower = [0; BESIDE_LENGTH];
    let lower = &mut lower[..text.len()];
    lower.copy_from_slice(text);
    lower.make_ascii_lowercase();
    words.iter().any(|word| {
        memmem::find_iter(lower, word).any(|at| {
            let end = at + word.len();
            let runs_on = word.is_ascii() && text.get(end).is_some_and(u8::is_ascii_lowercase);
            starts_word(text, at) && !runs_on
        })
    })
}

/// Tells whether a word may begin at `at`: no ASCII letter stands before it, unless the case
/// changes as in `userPhone`.
pub(super) fn starts_word(text: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|i| text[i]) else {
        return true;
    };
    !before.is_ascii_alphabetic()
        || (before.is_ascii_lowercase() && text[at].is_ascii_uppercase())
        || !text[at].is_ascii()
}
