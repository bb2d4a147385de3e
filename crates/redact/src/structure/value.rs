//! Values that are no secrets: placeholders, references, and values that are masked already.

use crate::span::BLANK;
use crate::structure::near::{REACH, find};

/// Words of placeholders: a value of these alone is no secret.
const WORDS: &[&str] = crate::lists::VALUE_WORDS;

/// Words of [`WORDS`] that are likelier weak passwords than placeholders, alone or glued to another
/// word.
const WEAK_ALONE: &[&str] = &["root", "admin_password", "mysql", "test", "temp", "default"];

/// Prefixes of references to a secret kept elsewhere.
const REFERENCES: &[&str] = crate::lists::VALUE_REFERENCES;

/// Longest value that can be a placeholder, in bytes. Of longer ones, only variables are no
/// secrets.
const PLACEHOLDER_MAX: usize = 256;

/// Tells whether a value is no secret: empty, masked, a placeholder, a variable, a reference.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    let value = value.trim_ascii();
    if value.contains(&BLANK) {
        return true;
    }
    if value.len() > PLACEHOLDER_MAX {
        return value.len() <= REACH && is_variable(value);
    }
    if value.is_empty() || is_variable(value) {
        return true;
    }
    let mut decoded = Vec::new();
    let value = unescape(value, &mut decoded);
    value.is_empty()
        || is_masked(value)
        || is_variable(value)
        || is_reference(value)
        || is_made_of_words(value)
}

/// Tells whether a value looks random: long enough, with a digit and a letter.
pub(super) fn is_token(value: &[u8], least: usize) -> bool {
    value.len() >= least
        && value.iter().any(u8::is_ascii_digit)
        && value.iter().any(u8::is_ascii_alphabetic)
        && !is_placeholder(value)
}

/// Tells whether a value is no plain word: it has a digit, a punctuation mark, or both cases past
/// its start.
pub(super) fn is_opaque(value: &[u8], least: usize) -> bool {
    if value.len() < least || is_placeholder(value) {
        return false;
    }
    let inner = &value[1..];
    let sign = |b: &u8| b.is_ascii_punctuation() && !matches!(b, b'-' | b'_' | b'.' | b'/' | b'\'');
    let digit = value.iter().any(u8::is_ascii_digit);
    let mixed =
        inner.iter().any(u8::is_ascii_uppercase) && value.iter().any(u8::is_ascii_lowercase);
    digit || mixed || value.iter().any(sign) || value.len() >= 32
}

/// Decodes percent-encoding, if there is any.
fn unescape<'a>(value: &'a [u8], decoded: &'a mut Vec<u8>) -> &'a [u8] {
    if !value.contains(&b'%') {
        return value;
    }
    let hex = |b: u8| {
        char::from(b)
            .to_digit(16)
            .and_then(|d| u8::try_from(d).ok())
    };
    let mut at = 0;
    while at < value.len() {
        let pair = value.get(at + 1).zip(value.get(at + 2));
        let byte = pair.and_then(|(high, low)| Some(hex(*high)? << 4 | hex(*low)?));
        match byte.filter(|_| value[at] == b'%') {
            Some(byte) => decoded.push(byte),
            None => decoded.push(value[at]),
        }
        at += if value[at] == b'%' && byte.is_some() {
            3
        } else {
            1
        };
    }
    decoded
}

/// Tells whether a value is crossed out, cut off or one character over and over.
fn is_masked(value: &[u8]) -> bool {
    let first = value[0];
    let one = value.iter().all(|b| *b == first) || std::str::from_utf8(value).is_ok_and(one_char);
    let crossed = |b: &u8| matches!(b, b'x' | b'X' | b'*' | b'-' | b'.' | b'_' | b'#' | b'?');
    let has = |word: &str| find(value, word).is_some();
    one || value.iter().all(crossed)
        // The example keys in the manuals of AWS.
        || has("EXAMPLE")
        || has("xxxx")
        || has("****")
        || has("...")
        || has("\u{2026}")
        || has("\u{2022}\u{2022}")
}

fn one_char(value: &str) -> bool {
    let first = value.chars().next();
    value.chars().all(|c| Some(c) == first)
}

/// Tells whether a value is a variable of a shell, a template or a format string, or a text that
/// has one inside.
fn is_variable(value: &[u8]) -> bool {
    let (first, last) = (value[0], value[value.len() - 1]);
    let wrapped = matches!(
        (first, last),
        (b'<', b'>') | (b'{', b'}') | (b'[', b']') | (b'%', b'%') | (b'(', b')')
    ) && value.len() > 1;
    // `!NAME!` of a batch file; `<ask`, the first unquoted word of `<ask the team>`.
    let named =
        value.len() > 2 && first == b'!' && last == b'!' && is_name(&value[1..value.len() - 1]);
    let opened = value.len() > 1 && first == b'<' && is_name(&value[1..]);
    let inside = ["${", "$(", "{{", "<%", "#{", "%{", "%("];
    let sign = match first {
        b'$' => is_shell_name(&value[1..]) || value.starts_with(b"$__"),
        // A character class of a pattern.
        b'/' | b'^' => ["[a-z", "[0-9", "(?="]
            .iter()
            .any(|mark| find(value, mark).is_some()),
        b':' | b'@' => is_name(&value[1..]) && value.len() > 3,
        b'%' => matches!(&value[1..], b"s" | b"d" | b"v" | b"q" | b"r" | b"w" | b"@"),
        _ => false,
    };
    let angle = value.iter().position(|b| *b == b'<');
    let tag = angle.is_some_and(|at| value[at..].contains(&b'>'));
    wrapped
        || named
        || opened
        || sign
        || tag
        || inside.iter().any(|mark| find(value, mark).is_some())
}

fn is_name(value: &[u8]) -> bool {
    value.iter().all(|b| b.is_ascii_alphabetic() || *b == b'_')
}

/// Tells whether a value is a name as shells have it. A name that mixes cases and digits is
/// likelier a password.
fn is_shell_name(value: &[u8]) -> bool {
    let upper = |b: &u8| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_';
    let lower = |b: &u8| b.is_ascii_lowercase() || *b == b'_';
    let env = value
        .get(..4)
        .is_some_and(|start| start.eq_ignore_ascii_case(b"env:"));
    env || value.iter().all(upper) || value.iter().all(lower) || is_made_of_words(value)
}

/// Tells whether a value is code or a path into a store of secrets.
fn is_reference(value: &[u8]) -> bool {
    let starts = |word: &&str| {
        value
            .get(..word.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
    };
    let quoted = find(value, "(\"").is_some() || find(value, "('").is_some();
    quoted || is_code(value) || REFERENCES.iter().any(starts)
}

/// Tells whether a value is a call, an item of a list or a member of something: `f(x)`, `list[0]`,
/// `auth[1].encode(`.
fn is_code(value: &[u8]) -> bool {
    let first = value[0].is_ascii_alphabetic() || value[0] == b'_';
    let name = value
        .iter()
        .position(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.')));
    let Some(open) = name.filter(|at| first && *at > 1) else {
        return false;
    };
    // `summer(972)` is a password that ends in a number in brackets.
    let inside = &value[open + 1..];
    let inside = inside.strip_suffix(b")").unwrap_or(inside);
    let number = !inside.is_empty() && inside.iter().all(u8::is_ascii_digit);
    match value[open] {
        b'(' => matches!(value.last(), Some(b'(' | b')')) && !number,
        b'[' => matches!(value.last(), Some(b'(' | b')' | b']')),
        _ => false,
    }
}

/// Prefixes of placeholders that say "your".
const YOURS: [&str; 8] = [
    "your", "votre-", "votre_", "dein-", "dein_", "deine-", "ihr-", "jouw-",
];

/// Tells whether a value is made of nothing but the words of placeholders: `your_password`,
/// `mySecretToken`, `API_KEY`.
fn is_made_of_words(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    let name = |b: &u8| b.is_ascii_alphabetic() || matches!(b, b'_' | b'-' | b' ' | b'.');
    if YOURS.iter().any(|word| lower.starts_with(word.as_bytes())) && value.iter().all(name) {
        return true;
    }
    if WEAK_ALONE.iter().any(|word| lower == word.as_bytes()) {
        return false;
    }
    // reachable[i]: the first i bytes are words and joining marks.
    let mut reachable = vec![false; lower.len() + 1];
    reachable[0] = true;
    let mut letters = false;
    for at in 0..lower.len() {
        if !reachable[at] {
            continue;
        }
        let rest = &lower[at..];
        if matches!(rest[0], b'_' | b'-' | b'.' | b' ' | b'/') {
            reachable[at + 1] = true;
            continue;
        }
        for word in WORDS
            .iter()
            .filter(|word| rest.starts_with(word.as_bytes()))
        {
            let end = at + word.len();
            let joint = |at: Option<&u8>| at.is_none_or(|b| !b.is_ascii_alphanumeric());
            let apart = joint(at.checked_sub(1).map(|i| &lower[i])) && joint(lower.get(end));
            let glued = (word.len() > 2 || *word == "my") && !WEAK_ALONE.contains(word);
            if glued || apart {
                letters |= word.len() > 1;
                reachable[end] = true;
            }
        }
    }
    reachable[lower.len()] && letters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn these_are_no_secrets() {
        for value in [
            "",
            " ",
            "***",
            "****",
            "xxxx",
            "XX-XX-XX",
            "xxx-xxx",
            "<password>",
            "${VAR}",
            "$VAR",
            "$PG_PASS1",
            "$password",
            "{{ x }}",
            "%s",
            "%VAR%",
            "{password}",
            ":password",
            "password",
            "pass",
            "pwd",
            "user",
            "secret",
            "token",
            "changeme",
            "change_me",
            "YOUR_API_KEY",
            "your-password",
            "...",
            "abc...",
            "aaaa",
            "0000",
            "a\x01b",
            "\x01",
            "mySecretToken",
            "my_secret_password",
            "mysecretpassword",
            "DB_ROOT_PASSWORD",
            "API_KEY",
            "process.env.X",
            "os.getenv(\"X\")",
            "getpass()",
            "op://vault/item",
            "%3Cpassword%3E",
            "%(password)s",
            "changeit_please_${ENV}",
            "[password]",
            "\u{2022}\u{2022}\u{2022}\u{2022}",
            "$1",
            "TOKEN",
            "REDACTED",
            "null",
            "None",
            "insert_token_here",
            "env:PASS",
            "auth[1].encode(",
            "typing.Optional[bytes]",
            "base64.decode(x)",
            "$(cat x)",
        ] {
            assert!(is_placeholder(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn these_are() {
        for value in [
            "hunter2",
            "S3cr3t!",
            "$3cret",
            "p@ss",
            "W1nt3rF0x_995",
            "letmein",
            "a:b",
            "correct horse",
            "password1",
            "100%sure",
            "p%40ss",
            "root",
            "tr0ub4dor&3",
            "Pa$$w0rd",
            "swordfish",
            "toor",
            "rootpass",
            "1234",
            "K8sD%",
            "%7Bq9",
            "x7",
            "user1",
            "RtPq(972)",
            "aB",
            "test",
        ] {
            assert!(!is_placeholder(value.as_bytes()), "{value}");
        }
    }
}
