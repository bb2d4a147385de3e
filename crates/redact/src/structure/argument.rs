//! Passwords and keys among the arguments of well-known calls.

use std::ops::Range;

use crate::named::refers;
use crate::span::Span;
use crate::structure::near::{ahead, report, run, stands, value};

const KIND: &str = "call-argument";

/// Longest call that is read, in bytes.
const CALL_BYTES_MAX: usize = 512;
/// Shortest literal that is reported, in bytes.
const VALUE_BYTES_MIN: usize = 4;
/// Calls, and the number of their secret argument, counted from 1.
const CALLS: &[(&str, usize)] = &[
    ("hash_hmac(", 3),
    ("createhmac(", 2),
    ("jwt.sign(", 2),
    ("jwt.verify(", 2),
    ("jwt.encode(", 2),
    ("jwt.decode(", 2),
    ("new pdo(", 3),
    ("new mysqli(", 3),
    ("odbc_connect(", 3),
    ("oci_connect(", 2),
    ("wifi.begin(", 2),
    ("ldap_bind(", 3),
    ("ftp_login(", 3),
    ("imap_open(", 3),
    ("ssh2_auth_password(", 3),
    ("dbi->connect(", 3),
    (".open ", 3),
];

/// Finds the secret argument of the call at `at`.
pub(crate) fn any(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let call = CALLS
        .iter()
        .find(|(call, _)| stands(text, at, call.as_bytes()));
    let Some((call, number)) = call else { return };
    let limit = text.len().min(at + CALL_BYTES_MAX);
    let mut next = at + call.len();
    // `conn.Open "Provider=…", "user", "password"` has no bracket.
    if call.ends_with(' ') && text.get(next) != Some(&b'"') {
        return;
    }
    for count in 1..=*number {
        next += run(ahead(text, next, 64), 0, |b| b.is_ascii_whitespace());
        let Some((literal, after)) = argument(text, next, limit) else {
            return;
        };
        if count == *number
            && let Some(literal) = literal
            && literal.len() >= VALUE_BYTES_MIN
            && !refers(&text[literal.clone()])
        {
            report(text, literal, KIND, found);
        }
        if text.get(after) != Some(&b',') {
            return;
        }
        next = after + 1;
    }
}

/// Reads the argument at `at`. Returns the text in its quotes, if it is a literal, and the end of
/// the argument.
fn argument(text: &[u8], at: usize, limit: usize) -> Option<(Option<Range<usize>>, usize)> {
    let quoted = matches!(text.get(at), Some(b'"' | b'\'' | b'`'));
    if quoted {
        let (literal, after) = value(text, at, |_| false);
        return (after <= limit && after > literal.end).then_some((Some(literal), after));
    }
    let mut depth = 0_usize;
    for (width, b) in text[at..limit].iter().enumerate() {
        match b {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth > 0 => depth -= 1,
            b',' | b')' if depth == 0 => return Some((None, at + width)),
            b'\n' if depth == 0 => return None,
            _ => {}
        }
    }
    None
}
