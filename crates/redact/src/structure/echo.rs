//! Passwords that a shell writes to a command that reads one, or to a file that keeps one.

use std::ops::Range;

use crate::span::Span;
use crate::structure::command::{KIND, argument, is_shell};
use crate::structure::flags::{FlagInput, pair, reads_input};
use crate::structure::near::{
    ahead, ends_in_word, find, is_blank, line_before, report, run, stands, value,
};

/// Longest part of the command behind `|` that is read, in bytes.
const COMMAND_MAX: usize = 256;
/// Most commands in a pipeline that are read.
const PIPES_MAX: usize = 4;
/// Options and formats of `echo` and `printf`.
const OPTIONS: &[&str] = &[
    "-n ",
    "-e ",
    "-ne ",
    "-en ",
    "-- ",
    "'%s' ",
    "\"%s\" ",
    "'%s\\n' ",
    "\"%s\\n\" ",
    "%s ",
];
/// Words in the names of files that keep a password or a token.
const FILES: &[&str] = &[
    "pass",
    "passwd",
    "password",
    "passphrase",
    "pgpass",
    "pw",
    "pwd",
    "secret",
    "token",
    "apikey",
    "credential",
    "vaultpass",
];
/// Extensions of files that speak about secrets instead of keeping one.
const ABOUT: &[&str] = &[
    "md", "rst", "html", "log", "py", "js", "ts", "go", "rs", "rb", "sh", "c", "h", "java", "csv",
    "json", "yaml", "yml", "toml", "xml", "php", "sql", "service", "diff", "patch",
];

/// Finds the password that `echo` or `printf` at `at` writes.
pub(super) fn written(text: &[u8], at: usize, found: &mut Vec<Span>) {
    if ends_in_word(text, at) || at > 0 && matches!(text[at - 1], b'-' | b'.' | b'/') {
        return;
    }
    let mut start = at + run(ahead(text, at, 16), 0, |b| !is_blank(b));
    start += run(ahead(text, start, 8), 0, is_blank);
    while let Some(option) = OPTIONS.iter().find(|o| stands(text, start, o.as_bytes())) {
        start += option.len();
    }
    let (value, next) = argument(text, start);
    let next = next + run(ahead(text, next, 8), 0, is_blank);
    match ahead(text, next, 2) {
        [b'|', b'|'] => {}
        [b'|', ..] => piped(text, value, next + 1, found),
        [b'>', ..] => {
            let name = next + run(ahead(text, next, 2), 0, |b| b == b'>');
            let file = argument(text, name).0;
            kept(text, value, &text[file], found);
        }
        _ => {}
    }
}

/// Finds the password that `<<<` at `at` sends to the command before it.
pub(super) fn here(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let line = line_before(text, at, COMMAND_MAX);
    if let Some(input) = reads_input(line) {
        let (value, _) = argument(text, at + "<<<".len());
        send(text, value, input, found);
    }
}

/// Reports a value that is piped to the command at `at`, if that command reads or keeps a password.
fn piped(text: &[u8], value: Range<usize>, at: usize, found: &mut Vec<Span>) {
    let rest = ahead(text, at, COMMAND_MAX);
    let line = &rest[..run(rest, 0, |b| !matches!(b, b'\n' | b'`'))];
    for command in line.split(|b| matches!(b, b'|' | b';')).take(PIPES_MAX) {
        if let Some(input) = reads_input(command) {
            return send(text, value, input, found);
        }
        let mut words = command
            .split(|b| is_blank(*b) || matches!(b, b'"' | b'\''))
            .filter(|word| !word.is_empty() && *word != b"sudo" && !word.starts_with(b"-"));
        if words.next() == Some(b"tee") {
            return kept(text, value, words.next().unwrap_or_default(), found);
        }
    }
}

/// Reports a value that a command reads: a password alone, or one behind its user.
fn send(text: &[u8], value: Range<usize>, input: FlagInput, found: &mut Vec<Span>) {
    let bytes = &text[value.clone()];
    match input {
        // The user stays, even where a marker has taken the password's place.
        FlagInput::Login if bytes.contains(&b':') => pair(text, value, b':', found),
        FlagInput::Password if !bytes.starts_with(b"-") => {
            report(text, value, KIND, found);
        }
        FlagInput::Login | FlagInput::Password => {}
    }
}

/// Reports a value that is written to a file whose name says that it keeps a secret.
fn kept(text: &[u8], value: Range<usize>, file: &[u8], found: &mut Vec<Span>) {
    let bytes = &text[value.clone()];
    let name = file.rsplit(|b| *b == b'/').next().unwrap_or_default();
    let name = name.to_ascii_lowercase();
    let mut parts = name.split(|b| !b.is_ascii_alphanumeric());
    let says = |part: &[u8]| {
        let part = part
            .strip_suffix(b"s")
            .filter(|p| !p.ends_with(b"s"))
            .unwrap_or(part);
        FILES.iter().any(|word| part == word.as_bytes())
    };
    let last = name.rsplit(|b| *b == b'.').next().unwrap_or_default();
    let about = ABOUT.iter().any(|end| last == end.as_bytes()) && last.len() < name.len();
    // Settings and account lines have rules of their own.
    let lines = bytes.contains(&b'=') && bytes.first().is_some_and(u8::is_ascii_alphabetic)
        || memchr::memchr_iter(b':', bytes).count() > 1
        || bytes.windows(2).any(|s| s == b": ");
    if about || lines || !parts.any(says) {
        return;
    }
    let has_user = memchr::memchr(b':', bytes).is_some_and(|colon| {
        let part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'@' | b'-');
        colon > 0 && bytes[..colon].iter().all(part)
    });
    let input = if has_user {
        FlagInput::Login
    } else {
        FlagInput::Password
    };
    send(text, value, input, found);
}

// Passwords that a script types when a program asks for one: `send "X\r"` of expect,
// `sendline('X')`.

/// Longest distance from a prompt to the answer of a script, in bytes.
const PROMPT_MAX: usize = 160;
/// Parts of the prompt for a password.
const PROMPTS: &[&str] = &["assword", "assphrase", "asscode", "PIN"];
/// Line ends that a script types, as they are spelled.
const ENDS: &[&[u8]] = &[b"\\r\\n", b"\\r", b"\\n"];

/// Finds the password that the call of `send` at `at` types.
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

/// Tells whether a script waits for the prompt of a password on the line before or on the same
/// line.
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
