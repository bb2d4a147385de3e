//! The identifier around a word, and the words it is made of.

use std::ops::Range;

/// Longest name that is looked at, in bytes to either side of the word.
const NAME_REACH: usize = 64;

/// The identifier around a word: letters, digits and what joins words.
pub(super) fn around(text: &[u8], word: Range<usize>) -> Range<usize> {
    let part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    let low = word.start.saturating_sub(NAME_REACH);
    let mut start = word.start;
    while start > low && part(text[start - 1]) {
        start -= 1;
    }
    let high = text.len().min(word.end + NAME_REACH);
    let mut end = word.end;
    while end < high && part(text[end]) {
        end += 1;
    }
    // The end of an escape (`\n`) or a full stop is not part of a name.
    if start > 0 && text[start - 1] == b'\\' && b"nrt".contains(&text[start]) && start < word.start
    {
        start += 1;
    }
    while end > word.end && matches!(text[end - 1], b'.' | b'-') {
        end -= 1;
    }
    while start < word.start && matches!(text[start], b'.' | b'-') {
        start += 1;
    }
    start..end
}

/// Whether a name stands inside `arn:…` or `urn:…`, where it says what follows is called.
pub(super) fn in_resource_name(text: &[u8], start: usize) -> bool {
    let before = &text[start.saturating_sub(160)..start];
    let run = before
        .iter()
        .rev()
        .take_while(|b| b.is_ascii_graphic() && !b"\"'`(<=".contains(b))
        .count();
    let run = &before[before.len() - run..];
    run.starts_with(b"arn:") || run.starts_with(b"urn:")
}

/// The words of a name: between joining characters, at camel humps, and between letters and digits.
pub(super) fn split(name: &[u8]) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut start = 0;
    for i in 0..=name.len() {
        let joins = |b: u8| !b.is_ascii_alphanumeric();
        let ends = i == name.len() || joins(name[i]) || (i > start && breaks(name, i));
        if ends {
            if i > start {
                words.push(start..i);
            }
            start = if i < name.len() && joins(name[i]) {
                i + 1
            } else {
                i
            };
        }
    }
    words
}

/// Whether a new word begins at `i` inside a run of letters and digits.
fn breaks(name: &[u8], i: usize) -> bool {
    let (before, this) = (name[i - 1], name[i]);
    let next = name.get(i + 1);
    (before.is_ascii_lowercase() && this.is_ascii_uppercase())
        || (before.is_ascii_digit() != this.is_ascii_digit())
        || (before.is_ascii_uppercase()
            && this.is_ascii_uppercase()
            && next.is_some_and(u8::is_ascii_lowercase))
}

/// The word that stands before a name after one space, in lower case.
pub(super) fn word_before(text: &[u8], start: usize) -> Option<Vec<u8>> {
    let before = text[start.saturating_sub(24)..start].strip_suffix(b" ")?;
    let letters = before.iter().rev();
    let letters = letters.take_while(|b| b.is_ascii_alphanumeric()).count();
    let word = &before[before.len() - letters..];
    (!word.is_empty()).then(|| word.to_ascii_lowercase())
}
