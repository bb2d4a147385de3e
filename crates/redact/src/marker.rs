//! Markers: what stands where a secret stood. `[REDACTED:kind]`, or with a fingerprint
//! `[REDACTED:kind#0123abcd]`.
//!
//! The grammar is exact, and the kind must be one that is known. Anything looser is scanned like
//! any other text, so that nothing hides in a marker.

use std::ops::Range;

use super::span::Kind;

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
