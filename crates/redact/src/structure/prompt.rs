//! What a script types where a program asks for a password: `send "X\r"` of expect, `sendline('X')`.

use super::near::{ahead, find, is_blank, report, run, value};
use super::option::{KIND, is_shell};
use crate::span::Span;

/// How far before it the prompt stands that a script answers, in bytes.
const PROMPT_MAX: usize = 160;
/// What a prompt for a password ends in.
const PROMPTS: &[&str] = &["assword", "assphrase", "asscode", "PIN"];
/// The line ends that a script types, as they are written.
const ENDS: &[&[u8]] = &[b"\\r\\n", b"\\r", b"\\n"];

/// Finds what the call of `send` at `at` types.
pub(super) fn answer(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let name = at + run(ahead(text, at, 16), 0, |b| b.is_ascii_alphabetic());
    let mut start = name + run(ahead(text, name, 8), 0, |b| is_blank(b) || b == b'(');
    for option in [&b"-- "[..], b"-s ", b"-h "] {
        if ahead(text, start, option.len()) == option {
            start += option.len();
        }
    }
    let (range, _) = value(text, start, is_shell);
    if range.start == start || range.is_empty() || !asks(text, at) {
        return;
    }
    let typed = &text[range.clone()];
    let end = ENDS.iter().find(|end| typed.ends_with(end));
    // `send` types no line end of its own.
    let line = end.is_some() || &text[at..name] == b"sendline";
    let end = range.end - end.map_or(0, |end| end.len());
    if line && range.start < end && typed[0] != b'$' {
        report(text, range.start..end, KIND, found);
    }
}

/// Whether a script waits for the prompt of a password on the line before or on the same line.
fn asks(text: &[u8], at: usize) -> bool {
    let before = &text[at.saturating_sub(PROMPT_MAX)..at];
    let mut lines = before
        .rsplit(|b| *b == b'\n')
        .filter(|line| !line.trim_ascii().is_empty());
    let asks = |line: &[u8]| PROMPTS.iter().any(|prompt| find(line, prompt).is_some());
    let waits =
        |line: &[u8]| asks(line) && (find(line, "expect").is_some() || line.contains(&b'"'));
    lines.by_ref().take(2).any(waits)
}
