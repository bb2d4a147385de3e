//! Secrets in elements: `<key>Password</key><string>X</string>` of a property list, and elements
//! whose name or attribute marks a secret.

use crate::named::{self, refers};
use crate::span::{Rank, Span};
use crate::structure::near::{ahead, run, run_back};
use crate::structure::title::{NAME_BYTES_MAX, says_secret};
use crate::structure::value::{is_opaque, is_placeholder};

const KIND: &str = "xml-secret";

/// Longest element that is read, in bytes.
const ELEMENT_BYTES_MAX: usize = 512;
/// Shortest value that is reported, in bytes.
const VALUE_BYTES_MIN: usize = 4;

/// Finds the secret in the element whose closing tag, `<string>` or `<value>` stands at `at`.
pub(crate) fn any(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let opens = |tag: &&&str| ahead(text, at, tag.len()).eq_ignore_ascii_case(tag.as_bytes());
    if let Some(tag) = ["<string>", "<value>"].iter().find(opens) {
        listed(text, at, tag.len(), found);
    } else {
        element(text, at, found);
    }
}

/// Returns the name of the value in the tag at `end`: from the element before it,
/// `<key>Name</key>`, or from the element around it.
fn name_before(text: &[u8], end: usize) -> Option<&[u8]> {
    let inner = |b: u8| !matches!(b, b'<' | b'>' | b'\n');
    let around = text[..end].strip_suffix(b">")?;
    let tag = run_back(text, around.len(), NAME_BYTES_MAX, inner);
    match &text[tag..around.len()] {
        close @ (b"/key" | b"/name") => {
            let end = tag.checked_sub(1)?;
            let start = run_back(text, end, NAME_BYTES_MAX, inner);
            let open = [b"<", &close[1..], b">"].concat();
            text[..start].ends_with(&open).then_some(&text[start..end])
        }
        open => text[..tag].ends_with(b"<").then_some(open),
    }
}

/// Reports the value of the tag at `at`, if its name marks a secret.
fn listed(text: &[u8], at: usize, width: usize, found: &mut Vec<Span>) {
    let end = run_back(text, at, 64, |b| b.is_ascii_whitespace());
    if name_before(text, end).is_some_and(says_secret) {
        let start = at + width;
        let end = start + run(ahead(text, start, ELEMENT_BYTES_MAX), 0, is_text);
        if ahead(text, end, 2) == b"</" {
            let chosen = named::is_chosen(text[start..end].trim_ascii());
            take(text, start, end, chosen, found);
        }
    }
}

fn is_text(b: u8) -> bool {
    !matches!(b, b'<' | b'>' | b'\n' | b'\r')
}

/// Reports the value of the element whose closing tag holds `at`, if its opening tag has
/// attributes. The generic rule finds elements without attributes.
fn element(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let tag_end = at
        + run(ahead(text, at, NAME_BYTES_MAX), 0, |b| {
            b != b'>' && b != b'\n'
        });
    let slash = run_back(text, at, NAME_BYTES_MAX, |b| {
        b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b':')
    });
    if text.get(tag_end) != Some(&b'>') || !text[..slash].ends_with(b"</") {
        return;
    }
    let name = &text[slash..tag_end];
    let end = slash - "</".len();
    let start = run_back(text, end, ELEMENT_BYTES_MAX, is_text);
    let Some(open) = start.checked_sub(1).filter(|open| text[*open] == b'>') else {
        return;
    };
    let tag = run_back(text, open, ELEMENT_BYTES_MAX, is_text);
    let Some(attributes) = text[tag..open].strip_prefix(name) else {
        return;
    };
    if !attributes.starts_with(b" ") || attributes.ends_with(b"/") {
        return;
    }
    let local = name.rsplit(|b| *b == b':').next().unwrap_or(name);
    let sure = attributes.windows(12).any(|s| s == b"PasswordText");
    // The `<string>` elements of a form are texts for people.
    let sure = sure || local != b"string" && named::is_chosen(text[start..end].trim_ascii());
    if says_secret(local) || attribute(attributes) {
        take(text, start, end, sure, found);
    }
}

/// Tells whether an attribute marks the value as a secret: `<entry key="db.password">`.
fn attribute(attributes: &[u8]) -> bool {
    attributes.split(|b| *b == b' ').any(|part| {
        let names = [&b"name="[..], b"key=", b"id=", b"Name=", b"Key="];
        let value = names.iter().find_map(|name| part.strip_prefix(*name));
        value.is_some_and(|value| says_secret(value.trim_ascii()))
    })
}

/// Reports a value that is no label of a form: `<string name="password">Passwort</string>`.
fn take(text: &[u8], start: usize, end: usize, sure: bool, found: &mut Vec<Span>) {
    let value = text[start..end].trim_ascii();
    let start = end - text[start..end].trim_ascii_start().len();
    let opaque = is_opaque(value, VALUE_BYTES_MIN) && !value.contains(&b' ');
    let real = !is_placeholder(value) && !refers(value);
    if real && (sure || opaque) {
        found.push(Span::new(
            start..start + value.len(),
            KIND,
            Rank::Structural,
        ));
    }
}
