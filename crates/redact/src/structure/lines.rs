//! Lines of armour as they come through mail, logs, diffs, JSON strings and chats: with a prefix on
//! each, with line breaks of any spelling.

use std::ops::Range;

use super::near::{ahead, is_base64, is_blank, run, run_back, stands};

/// Longest prefix that a log or a listing puts before each line.
pub(super) const PREFIX_MAX: usize = 120;

/// What stands before a header on its line, if it is no more than a prefix.
pub(super) fn prefix_before(text: &[u8], at: usize) -> &[u8] {
    let start = run_back(text, at, PREFIX_MAX, |b| b != b'\n');
    let escaped = text[start..at]
        .windows(2)
        .rposition(|s| s == b"\\n" || s == b"\\r");
    let start = escaped.map_or(start, |i| start + i + 2);
    &text[start..at]
}

/// Breaks of a line as they are spelled: the length of the one that begins at `at`.
pub(super) fn break_at(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at)? {
        b'\n' | b'\r' => Some(break_real(text, at)),
        b'\\' => {
            let slashes = run(ahead(text, at, 9), 0, |b| b == b'\\');
            let next = at + slashes + 1;
            match text.get(next - 1)? {
                b'n' => Some(slashes + 1),
                b'r' => {
                    let more = run(ahead(text, next, 9), 0, |b| b == b'\\');
                    let both = more > 0 && text.get(next + more) == Some(&b'n');
                    Some(slashes + 1 + if both { more + 1 } else { 0 })
                }
                _ => None,
            }
        }
        b'<' if stands(text, at, b"<br") => {
            let end = run(ahead(text, at, 8), 3, |b| matches!(b, b' ' | b'/'));
            // The line may be broken in the source as well.
            let real = break_real(text, at + end + 1);
            (text.get(at + end) == Some(&b'>')).then_some(end + 1 + real)
        }
        b'%' if stands(text, at, b"%0a") || stands(text, at, b"%0d") => Some(3),
        b'&' if stands(text, at, b"&#10;") || stands(text, at, b"&#13;") => Some(5),
        b'&' if stands(text, at, b"&#xa;") || stands(text, at, b"&#xd;") => Some(5),
        _ => None,
    }
}

/// The length of the newline at `at`, if there is one.
fn break_real(text: &[u8], at: usize) -> usize {
    match text.get(at) {
        Some(b'\n') => 1,
        Some(b'\r') => 1 + usize::from(text.get(at + 1) == Some(&b'\n')),
        _ => 0,
    }
}

/// The end of the line before the break that ends at `at`.
pub(super) fn break_back(text: &[u8], at: usize) -> Option<usize> {
    let ends = |mark: &[u8]| text[..at].ends_with(mark);
    let mut end = match at.checked_sub(1).map(|i| text[i])? {
        b'\n' | b'\r' => at - 1,
        b'n' | b'r' if at > 1 && text[at - 2] == b'\\' => at - 2,
        b'a' | b'A' | b'd' | b'D' if at > 2 && break_at(text, at - 3) == Some(3) => at - 3,
        b'>' if ends(b"<br>") => at - 4,
        b'>' if ends(b"<br/>") => at - 5,
        _ => return None,
    };
    while end > 0 && matches!(text[end - 1], b'\r' | b'\\') {
        end -= 1;
    }
    if end > 1 && text[..end].ends_with(b"\\r") {
        end = run_back(text, end - 1, 8, |b| b == b'\\');
    }
    Some(end)
}

fn break_in(text: &[u8], from: usize, to: usize) -> Option<usize> {
    (from..to).find(|at| break_at(text, *at).is_some())
}

/// Blanks and breaks after a header: where the body begins.
pub(super) fn skip_break(text: &[u8], at: usize, limit: usize) -> usize {
    let mut at = at;
    while at < limit {
        if is_blank(text[at]) {
            at += 1;
        } else if let Some(length) = break_at(text, at) {
            at += length;
        } else {
            break;
        }
    }
    at.min(limit)
}

/// The line that begins at `at`, and where the next one does.
pub(super) fn line_at(text: &[u8], at: usize, limit: usize) -> (Range<usize>, usize) {
    let mut end = at;
    while end < limit {
        if let Some(length) = break_at(text, end) {
            return (at..end, (end + length).min(limit));
        }
        end += 1;
    }
    (at..limit, limit)
}

/// The line that ends at `end`: no more than what one scan of a body may read back.
pub(super) fn line_back(text: &[u8], end: usize) -> Range<usize> {
    let fits = |b: u8| is_base64(b) || is_blank(b);
    let mut start = run_back(text, end, end, fits);
    // An escape ends in a letter of base64.
    if start > 0 && text[start - 1] == b'\\' && matches!(text.get(start), Some(b'n' | b'r')) {
        start += 1;
        return start..end;
    }
    // So does a percent-encoded break.
    if start > 0 && break_at(text, start - 1) == Some(3) {
        return start + 2..end;
    }
    let real = run_back(text, start, PREFIX_MAX, |b| b != b'\n');
    if start - real < PREFIX_MAX && break_in(text, real, start).is_none() {
        start = real;
    }
    start..end
}

/// A line without what a mail, a diff, a listing or a log puts before it, nor the quotes and
/// commas that code puts around it.
pub(super) fn strip(text: &[u8], line: Range<usize>, prefix: &[u8]) -> Range<usize> {
    let (mut start, mut end) = (line.start, line.end);
    if !prefix.is_empty() && same_shape(&text[start..end], prefix) {
        start += prefix.len();
    } else {
        let number = start + run(&text[start..end], 0, |b| b.is_ascii_digit() || is_blank(b));
        if number > start
            && number < end
            && matches!(text[number], b':' | b'|' | b'.' | b')' | b'\t')
        {
            start = number + 1;
        } else if number > start && number < end && text[number - 1] == b'\t' {
            start = number;
        }
    }
    let mark = |b: u8| {
        is_blank(b)
            || matches!(
                b,
                b'>' | b'|' | b'#' | b'*' | b';' | b'"' | b'\'' | b'`' | b'-' | b'\r' | b'('
            )
    };
    while start < end && mark(text[start]) {
        start += 1;
    }
    let close = |b: u8| mark(b) || matches!(b, b',' | b'\\' | b')');
    while start < end && close(text[end - 1]) {
        end -= 1;
    }
    // A string continued with a plus: `"MII..." +`.
    if end > start + 2 && text[end - 1] == b'+' && is_blank(text[end - 2]) {
        end -= 1;
        while start < end && close(text[end - 1]) {
            end -= 1;
        }
    }
    start..end
}

/// Whether a line begins like the prefix: the same signs, digits for digits.
fn same_shape(line: &[u8], prefix: &[u8]) -> bool {
    line.len() >= prefix.len()
        && prefix.iter().zip(line).all(|(p, l)| {
            p == l
                || p.is_ascii_digit() && (l.is_ascii_digit() || is_blank(*l))
                || is_blank(*p) && l.is_ascii_digit()
        })
}
