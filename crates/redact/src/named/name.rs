//! Names of secrets: `DB_PASSWORD`, `api key`, `contraseña`.

use std::ops::Range;

use crate::named::words::{
    ABOUT, API_KEYS, CHOSEN_KEYS, COMPOUNDS, FOREIGN, KEY_OF, LOGIN_CALLS, LOGINS, List, NOT_OF,
    ONE_TIME, PASSWORDS, SECRETS, STILL, TOKENS, VAGUE, VERBS, WHOLE, holds,
};

use crate::named::words::{WORDS, foreign_words};

/// Openers of a shell command or variable.
const EXPANSIONS: &[&[u8]] = &[b"$(", b"$", b"${", b"`"];

/// Prefixes of the markers of other tools.
const MARKERS: &[&str] = &[
    "redacted_",
    "masked_",
    "filtered_",
    "removed_",
    "hidden_",
    "scrubbed_",
    "censored_",
];

/// The strength of the hint that a name gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strength {
    /// Password and its synonyms, in any language. Any value that is no word may be one.
    Password,
    /// A personal identification number.
    Pin,
    /// Token, secret, API key, credential.
    Secret,
    /// `key` or `auth` alone, or a strong name with an unknown ending.
    Weak,
    /// A login or credentials: a user name and then a password.
    Login,
}

/// The name of a secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) range: Range<usize>,
    pub(super) strength: Strength,
    pub(super) kind: &'static str,
    /// The name is in a script that writes sentences without spaces.
    pub(super) spaceless: bool,
    /// The name is a verb as well: it needs a mark or a verb behind it.
    pub(super) verb: bool,
}

/// A word of the gate: the strength of its hint, and whether it is a name by itself, not a part of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Opener {
    pub(super) strength: Strength,
    pub(super) is_whole: bool,
}

impl Opener {
    pub(super) fn of(word: &str, strength: Strength) -> Self {
        Self {
            strength,
            is_whole: !word.is_ascii() || whole_word(word.as_bytes()),
        }
    }
}

/// Returns the words that open the gate to names.
pub(crate) fn openers() -> impl Iterator<Item = (&'static str, Opener)> {
    let words = WORDS.iter();
    let words = words.map(|(word, strength)| (*word, Opener::of(word, *strength)));
    let foreign = foreign_words().map(|(word, strength)| {
        let is_whole = true;
        (word, Opener { strength, is_whole })
    });
    words.chain(foreign)
}

/// Reads the name that contains the word at `word`.
pub(super) fn read(text: &[u8], word: Range<usize>, opener: Opener) -> Option<Name> {
    let range = around(text, word.clone());
    if asks_for_itself(text, &range) {
        return None;
    }
    if opener.is_whole {
        return foreign(text, word, opener.strength);
    }
    if in_resource_name(text, range.start) {
        return None;
    }
    let name = &text[range.clone()];
    let lower_name = name.to_ascii_lowercase();
    if names_other(text, range.start, &lower_name) {
        return None;
    }
    let words = split(name);
    // The place of the word among the words of the name.
    let at = word.start - range.start;
    let place = words.iter().position(|w| w.contains(&at))?;
    let lower = |word: &Range<usize>| &lower_name[word.clone()];
    let this = lower(&words[place]);
    let before_name = (place == 0).then(|| word_before(text, range.start));
    let before = match before_name.as_ref() {
        Some(word) => word.as_deref(),
        None => Some(lower(&words[place - 1])),
    };
    if text.get(range.end) == Some(&b'(') && logs_in(&lower_name) {
        return Some(Name {
            range,
            strength: Strength::Login,
            kind: "credential",
            spaceless: false,
            verb: false,
        });
    }
    let (strength, kind) = classify(this, before, name == b"PAT")?;
    let strength = ended(strength, words[place + 1..].iter().map(lower))?;
    let chosen = CHOSEN_KEYS
        .iter()
        .any(|key| lower_name.ends_with(key.as_bytes()));
    let (strength, kind) = if chosen {
        (Strength::Password, "password")
    } else {
        (strength, kind)
    };
    let range_start = range.start;
    Some(Name {
        range,
        strength,
        kind,
        spaceless: false,
        verb: words.len() == 1
            && holds(VERBS, this)
            && name != b"PIN"
            && !beside_user(text, range_start),
    })
}

/// Tells whether a name is a shell variable with a message or a replacement:
/// `${NAME:?message if unset}`, `${NAME:+text if set}`.
fn asks_for_itself(text: &[u8], name: &Range<usize>) -> bool {
    let behind = &text[name.end..];
    let marks = [&b":?"[..], b"?", b":+", b"+"];
    text[..name.start].ends_with(b"${") && marks.iter().any(|mark| behind.starts_with(mark))
}

/// Tells whether a user is named just before, so that `pass` is no verb: `user bob, pass …`.
fn beside_user(text: &[u8], start: usize) -> bool {
    const USERS: &[&[u8]] = &[
        b"user ",
        b"user: ",
        b"user=",
        b"username ",
        b"login ",
        b"uid ",
        b"u: ",
    ];
    let before = text[start.saturating_sub(48)..start].to_ascii_lowercase();
    let line = memchr::memrchr(b'\n', &before).map_or(&before[..], |n| &before[n + 1..]);
    let parted = line
        .trim_ascii_end()
        .last()
        .is_some_and(|b| matches!(b, b',' | b'/' | b';' | b'|'));
    parted
        && USERS
            .iter()
            .any(|user| memchr::memmem::find(line, user).is_some())
}

/// Tells whether a name is the command or variable of the working directory, a country's domain, or
/// the marker of another tool: `[REDACTED_SECRET:…]`.
fn names_other(text: &[u8], start: usize, lower: &[u8]) -> bool {
    // `${NAME:?message if unset}`, `${NAME:+text if set}`.
    let behind = &text[start + lower.len()..];
    let spoken = text[..start].ends_with(b"${")
        && [&b":?"[..], b"?", b":+", b"+"]
            .iter()
            .any(|mark| behind.starts_with(mark));
    if spoken {
        return true;
    }
    let command = EXPANSIONS.iter().any(|mark| text[..start].ends_with(mark));
    let marker = matches!(text[..start].last(), Some(b'[' | b'<' | b'{' | b'*'))
        && MARKERS
            .iter()
            .any(|word| lower.starts_with(word.as_bytes()));
    (command && lower == b"pwd") || lower.ends_with(b".pw") || marker
}

/// Returns the strength of a name after the words behind the telling one: `secretKey` and
/// `tokenSecret` are judged at their last word.
fn ended<'a>(said: Strength, words: impl Iterator<Item = &'a [u8]>) -> Option<Strength> {
    let mut strength = said;
    for word in words {
        if word.iter().all(u8::is_ascii_digit) || holds(STILL, word) {
            continue;
        }
        if holds(ABOUT, word) || word.last() == Some(&b's') {
            return None;
        }
        strength = match strength {
            Strength::Weak | Strength::Login | Strength::Pin => return None,
            _ => Strength::Weak,
        };
    }
    Some(strength)
}

/// Tells whether a call of this name takes a login.
fn logs_in(name: &[u8]) -> bool {
    LOGIN_CALLS.iter().any(|call| {
        name.strip_suffix(call.as_bytes())
            .is_some_and(|rest| rest.last().is_none_or(|b| !b.is_ascii_alphanumeric()))
    })
}

/// Tells whether a word of the gate is a name by itself, not a part of one.
fn whole_word(word: &[u8]) -> bool {
    holds(WHOLE, word) || FOREIGN.iter().any(|(list, _)| holds(*list, word))
}

/// Reads a word of another language. Such a word is a name by itself, not inside a longer word,
/// unless its script has no spaces.
fn foreign(text: &[u8], word: Range<usize>, opened: Strength) -> Option<Name> {
    let spaceless = text[word.start] >= 0xE0;
    let joined = |b: &u8| b.is_ascii_alphanumeric();
    let this = text[word.clone()].to_ascii_lowercase();
    let compound = COMPOUNDS.iter().any(|end| this == end.as_bytes());
    let inside = text[..word.start].last().is_some_and(joined) && !compound
        || text.get(word.end).is_some_and(joined)
        // Letters beyond ASCII that continue the same script.
        || (!spaceless && matches!(text.get(word.end), Some(0xC3..=0xD4)));
    if inside && !spaceless {
        return None;
    }
    let kind = match opened {
        Strength::Password | Strength::Login => "password",
        Strength::Pin => "pin",
        Strength::Secret => "secret",
        Strength::Weak => "assignment",
    };
    Some(Name {
        range: word,
        strength: opened,
        kind,
        spaceless,
        verb: false,
    })
}

/// Returns the strength and the kind that a word gives its name. `access` is true for the `PAT` of
/// a personal access token.
fn classify(this: &[u8], before: Option<&[u8]>, access: bool) -> Option<(Strength, &'static str)> {
    if before == Some(b"hashed") {
        return None;
    }
    // The locales of Palau: `en_PW`.
    if this == b"pw" && before.is_some_and(|before| matches!(before, b"en" | b"pau")) {
        return None;
    }
    let denied = before.is_some_and(|before| holds(NOT_OF, before));
    let before_is = |list: List| before.is_some_and(|before| holds(list, before));
    let says = |list: List| holds(list, this);
    let compound = |end: &str| this.ends_with(end.as_bytes());
    let said = if says(PASSWORDS) || COMPOUNDS.iter().any(compound) {
        (Strength::Password, "password")
    } else if says(SECRETS) {
        (Strength::Secret, "secret")
    } else if says(TOKENS) && !denied || this == b"pat" && (access || before.is_some()) {
        (Strength::Secret, "token")
    } else if says(API_KEYS) {
        (Strength::Secret, "api-key")
    } else if this == b"seed" && before_is(ONE_TIME)
        || this == b"key" && matches!(before, Some(b"csrf" | b"xsrf"))
        || this == b"cookie" && before == Some(b"erlang")
    {
        (Strength::Secret, "secret")
    } else if this == b"key" && !denied {
        match before {
            Some(before) if holds(KEY_OF, before) => (Strength::Secret, "api-key"),
            _ => (Strength::Weak, "assignment"),
        }
    } else if says(LOGINS) {
        (Strength::Login, "credential")
    } else if says(VAGUE) {
        (Strength::Weak, "assignment")
    } else if this == b"pin" {
        (Strength::Pin, "pin")
    } else {
        return None;
    };
    Some(said)
}

// The identifier around a word, and the words it is made of.

/// Longest part of a name that is read on either side of the word, in bytes.
const NAME_REACH: usize = 64;

/// Returns the identifier around a word: letters, digits and joining characters.
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

/// Tells whether a name stands inside `arn:…` or `urn:…`, where it only labels the next part.
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

/// Splits a name into words: at joining characters, at camel humps, and between letters and digits.
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

/// Tells whether a new word begins at `i` inside a run of letters and digits.
fn breaks(name: &[u8], i: usize) -> bool {
    let (before, this) = (name[i - 1], name[i]);
    let next = name.get(i + 1);
    (before.is_ascii_lowercase() && this.is_ascii_uppercase())
        || (before.is_ascii_digit() != this.is_ascii_digit())
        || (before.is_ascii_uppercase()
            && this.is_ascii_uppercase()
            && next.is_some_and(u8::is_ascii_lowercase))
}

/// Returns the word before a name and one space, in lower case.
pub(super) fn word_before(text: &[u8], start: usize) -> Option<Vec<u8>> {
    let before = text[start.saturating_sub(24)..start].strip_suffix(b" ")?;
    let letters = before.iter().rev();
    let letters = letters.take_while(|b| b.is_ascii_alphanumeric()).count();
    let word = &before[before.len() - letters..];
    (!word.is_empty()).then(|| word.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the name around the first place of `word` in a text.
    fn said(text: &str, word: &str) -> Option<(String, Strength)> {
        let start = text.to_ascii_lowercase().find(word).expect(text);
        let (_, opener) = openers().find(|(known, _)| *known == word).expect(word);
        let name = read(text.as_bytes(), start..start + word.len(), opener)?;
        Some((text[name.range].to_owned(), name.strength))
    }

    #[test]
    fn names_are_read_whole() {
        for (text, word, name, strength) in [
            ("DB_PASSWORD=", "pass", "DB_PASSWORD", Strength::Password),
            (
                "app.dbPassword: ",
                "pass",
                "app.dbPassword",
                Strength::Password,
            ),
            ("api key", "key", "key", Strength::Secret),
            ("clientSecret", "secret", "clientSecret", Strength::Secret),
            (
                "github_token_prod",
                "token",
                "github_token_prod",
                Strength::Secret,
            ),
            ("my_key", "key", "my_key", Strength::Weak),
            ("token_blue", "token", "token_blue", Strength::Weak),
            ("GITHUB_PAT", "pat", "GITHUB_PAT", Strength::Secret),
            ("totp seed", "seed", "seed", Strength::Secret),
            ("PIN", "pin", "PIN", Strength::Pin),
            ("basicAuth(", "auth", "basicAuth", Strength::Login),
            ("密码是", "密码", "密码", Strength::Password),
            ("heslo:", "heslo", "heslo", Strength::Password),
        ] {
            assert_eq!(
                said(text, word),
                Some((name.to_owned(), strength)),
                "{text}"
            );
        }
    }

    #[test]
    fn names_about_secrets_are_none() {
        for (text, word) in [
            ("password_hash", "pass"),
            ("passwordResetUrl", "pass"),
            ("tokenizer", "token"),
            ("max_tokens", "token"),
            ("csrf_token", "token"),
            ("next page token", "token"),
            ("primary_key", "key"),
            ("public key", "key"),
            ("keyboard", "key"),
            ("monkey", "key"),
            ("key_blue", "key"),
            ("secret_name", "secret"),
            ("compass", "pass"),
            ("path", "pat"),
            ("pat", "pat"),
            ("random seed", "seed"),
            ("pinned", "pin"),
            ("author", "auth"),
            ("$(pwd)", "pwd"),
            ("example.pw", "pw"),
            ("arn:aws:secretsmanager:eu:1:secret:x", "secret"),
            ("heslo1", "heslo"),
        ] {
            assert_eq!(said(text, word), None, "{text}");
        }
    }
}
