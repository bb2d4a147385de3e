//! Passwords in options and variables of a command: `--password x`, `PGPASSWORD=x`.

use super::near::{ahead, is_bare, is_blank, is_wide, is_word, line_before, report, run, value};
use super::value::{is_opaque, is_placeholder};
use crate::span::Span;

pub(super) const KIND: &str = "cli-password";

/// Whether a byte may stand in an unquoted word of a shell.
pub(super) fn is_shell(b: u8) -> bool {
    b > b' ' && b != 0x7f && !is_wide(b) && !matches!(b, b'"' | b'\'' | b'`' | b'|' | b';')
}

/// Finds the value of an option whose name says that it is one: two dashes or one.
pub(crate) fn long(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let name = run(ahead(text, at, 64), 0, |b| is_word(b) || b == b'-') + at;
    let first = at
        - line_before(text, at, 48)
            .iter()
            .rev()
            .take_while(|b| is_word(**b) || **b == b'-')
            .count();
    let option = &text[first..name];
    if !option.starts_with(b"-") || !is_secret_option(option) {
        return;
    }
    let (start, attached) = match text.get(name) {
        Some(b'=') => (name + 1, true),
        Some(b' ') => (name + run(ahead(text, name, 8), 0, is_blank), false),
        Some(b'"' | b'\'') => match list_item(text, name) {
            Some(item) => (item, true),
            None => return,
        },
        _ => return,
    };
    let (range, next) = value(text, start, is_shell);
    let bytes = &text[range.clone()];
    let quoted = range.start > start;
    // PowerShell makes a value in brackets: `-Password (Read-Host)`.
    let other = !attached && (bytes.starts_with(b"-") || !quoted && bytes.starts_with(b"("));
    if other || is_path(bytes) || is_mount(bytes) {
        return;
    }
    let password = is_password_option(option);
    let plain = password && ends_command(text, next) && bytes.len() >= 4;
    if is_opaque(bytes, 4) && (password || !is_name(bytes))
        || password && (attached || quoted)
        || plain && !in_sentence(text, first, bytes)
    {
        report(text, range, KIND, found);
    }
}

/// Whether an option takes a password, which may be a plain word.
fn is_password_option(option: &[u8]) -> bool {
    let name = option.to_ascii_lowercase();
    [&b"password"[..], b"passwd", b"passphrase", b"-pwd"]
        .iter()
        .any(|end| name.ends_with(end))
}

/// Whether a sentence is about the option: `the --user and --password options`.
fn in_sentence(text: &[u8], option: usize, value: &[u8]) -> bool {
    const ABOUT: &[&str] = &[
        "option",
        "options",
        "flag",
        "flags",
        "argument",
        "arguments",
        "parameter",
        "switch",
    ];
    const BEFORE: &[&str] = &[
        "and ", "or ", "the ", "with ", "via ", "using ", "use ", "a ", "by ", "pass ",
    ];
    let line = line_before(text, option, 16).to_ascii_lowercase();
    ABOUT
        .iter()
        .any(|word| value.eq_ignore_ascii_case(word.as_bytes()))
        || BEFORE.iter().any(|word| line.ends_with(word.as_bytes()))
}

/// Where the item after the closing quote of an option in a list begins: `["--password", "x"]`.
fn list_item(text: &[u8], at: usize) -> Option<usize> {
    let gap = run(ahead(text, at + 1, 8), 0, |b| {
        matches!(b, b',' | b' ' | b'\n')
    });
    (gap > 0).then_some(at + 1 + gap)
}

/// Whether an option's last word says that a secret follows.
fn is_secret_option(option: &[u8]) -> bool {
    let name = option.to_ascii_lowercase();
    let ends = [
        &b"password"[..],
        b"passwd",
        b"passphrase",
        b"-pass",
        b"-pwd",
        b"-secret",
        b"secret-key",
        b"client-secret",
        b"-token",
        b"-api-key",
        b"-apikey",
        b"-authkey",
        b"-auth-key",
        b"access-key",
        b"_password",
        b"_token",
        b"_secret",
        b"private-key",
        b"-pat",
    ];
    ends.iter().any(|end| name.ends_with(end))
}

/// Whether a value says where a secret is mounted from: `id=npm,src=.npmrc`.
fn is_mount(value: &[u8]) -> bool {
    [&b"id="[..], b"type=", b"source=", b"src=", b"env="]
        .iter()
        .any(|key| value.starts_with(key))
}

/// Whether a value is the name of a variable, with its sign or without: letters alone, and short.
fn is_name(value: &[u8]) -> bool {
    let name = value.strip_prefix(b"$").unwrap_or(value);
    name.len() < 20 && name.iter().all(|b| b.is_ascii_alphabetic() || *b == b'_')
}

/// Whether a value is a path, of which a file of a key may be one.
pub(super) fn is_path(value: &[u8]) -> bool {
    value.starts_with(b"/")
        || value.starts_with(b"./")
        || value.starts_with(b"~/")
        || value.starts_with(b"file:")
}

/// Whether a command ends or goes on with options, and no sentence does.
fn ends_command(text: &[u8], at: usize) -> bool {
    let rest = ahead(text, at, 16);
    let after = run(rest, 0, is_blank);
    match rest.get(after) {
        None => true,
        Some(b'-') => after > 0,
        Some(b) => matches!(
            b,
            b'\n' | b'\r' | b'`' | b'"' | b'\'' | b'|' | b'&' | b'\\' | b'<' | b'>'
        ),
    }
}

/// Finds the value of a variable that programs read a password from.
pub(crate) fn variable(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let start = run(ahead(text, at, 32), 0, |b| b != b'=') + at + 1;
    let (range, _) = value(text, start, |b| is_shell(b) && b != b')');
    if range.start <= text.len() && !is_placeholder(&text[range.clone()]) {
        report(text, range, KIND, found);
    }
}

/// The word of a shell that begins at `at`, which quotes may enclose.
pub(super) fn argument(text: &[u8], at: usize) -> (std::ops::Range<usize>, usize) {
    let start = at + run(ahead(text, at, 16), 0, is_blank);
    let (range, next) = value(text, start, |b| {
        is_bare(b) && is_shell(b) || matches!(b, b'<' | b'>')
    });
    (range, next)
}
