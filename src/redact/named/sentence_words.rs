//! Words of sentences that join a name to its value, introduce it or speak of something else.

use super::words::holds;

/// Verbs and marks that join a name to its value in a sentence.
const JOINING: &[&str] = &[
    "still",
    "is",
    "was",
    "are",
    "be",
    "to",
    "equals",
    "reads",
    "became",
    "becomes",
    "remains",
    "as",
    "ist",
    "lautet",
    "war",
    "wurde",
    "wird",
    "heißt",
    "es",
    "est",
    "era",
    "fue",
    "sera",
    "será",
    "è",
    "é",
    "sarà",
    "foi",
    "jest",
    "är",
    "er",
    "on",
    "это",
    "был",
    "изменён",
    "je",
    "bylo",
    "a",
    "az",
    "używaj",
    "-",
    "–",
    "—",
    "->",
    "→",
    "=>",
    "=",
    ":",
    "==",
    ":=",
    "~",
    "•",
    "»",
    "⇒",
    "➜",
    "using",
    "use",
    "by",
    "with",
    "con",
    "mit",
    "avec",
    "met",
    "com",
    "op",
    "enter",
    "type",
    "try",
    "set",
];

/// Words that say that what follows is the value, whatever stands before it.
const EQUATING: &[&str] = &[
    "is", "ist", "lautet", "es", "est", "è", "é", "jest", "är", "er", "on", "это", "je", "=", ":",
    "->", "→", "was", "equals", "reads", "—", "–", "still",
];

/// Words of what has ids and digests.
const IDENTIFYING: &[&str] = &[
    "commit",
    "digest",
    "hash",
    "sha",
    "sha1",
    "sha256",
    "checksum",
    "id",
    "ids",
    "fingerprint",
    "uuid",
    "guid",
    "version",
    "revision",
    "md5",
    "request",
    "trace",
    "thumbprint",
    "serial",
];

/// Words that may stand between a verb and the value without meaning.
const FILLING: &[&str] = &[
    "now",
    "still",
    "set",
    "to",
    "currently",
    "just",
    "always",
    "simply",
    "actually",
    "jetzt",
    "ahora",
    "ora",
    "maintenant",
    "again",
    "only",
    "currently:",
    "now:",
    "this:",
    "following:",
];

/// Verbs that tell the reader to use what is named.
const TELLING: &[&str] = &[
    "use", "using", "with", "via", "paste", "enter", "set", "send", "pass", "try", "add", "rotate",
    "revoke", "provide", "type", "export",
];

/// Words that may stand between such a verb and the name.
const BETWEEN: &[&str] = &[
    "the",
    "this",
    "our",
    "my",
    "your",
    "an",
    "a",
    "api",
    "access",
    "auth",
    "bearer",
    "server",
    "app",
    "application",
    "client",
    "user",
    "account",
    "project",
    "team",
    "workspace",
    "live",
    "prod",
    "staging",
    "internal",
    "new",
    "old",
    "secret",
    "service",
    "deploy",
    "admin",
    "test",
    "shared",
];

/// Words for what a secret opens.
const OPENED: &[&str] = &[
    "api",
    "access",
    "auth",
    "bearer",
    "bot",
    "deploy",
    "refresh",
    "personal",
    "service",
    "webhook",
    "session",
    "admin",
    "secret",
    "oauth",
    "integration",
    "registry",
];

/// Whether a word ends its sentence.
pub(super) fn ends_sentence(word: &[u8]) -> bool {
    matches!(word.last(), Some(b'.' | b';' | b'?' | b'!')) || word.ends_with("。".as_bytes())
}

/// Whether a word joins a name to a value.
pub(super) fn joins(word: &[u8]) -> bool {
    matches!(word.last(), Some(b':' | b'=')) || holds(JOINING, word)
}

/// Whether a word says that what follows is the value, whatever stands before it.
pub(super) fn equates(word: &[u8]) -> bool {
    word.ends_with(b":") || holds(EQUATING, word)
}

/// Whether a word speaks of what has ids and digests.
pub(super) fn identifies(word: &[u8]) -> bool {
    holds(IDENTIFYING, word.strip_suffix(b":").unwrap_or(word))
}

/// Whether a word may stand between a verb and the value without meaning.
pub(super) fn fills(word: &[u8]) -> bool {
    holds(FILLING, word)
}

/// Whether what stands before a name tells the reader to use it: `use the token …`.
pub(super) fn introduced(before: &[u8]) -> bool {
    let words = before.rsplit(u8::is_ascii_whitespace);
    for word in words.filter(|word| !word.is_empty()).take(6) {
        if holds(TELLING, word) {
            return true;
        }
        // A vendor's name, or one of the words that stand before a secret's.
        if !holds(BETWEEN, word) && !word[0].is_ascii_uppercase() {
            return false;
        }
    }
    false
}

/// Whether the word before a name says what the secret opens: `deploy token`.
pub(super) fn qualified(before: &[u8]) -> bool {
    before
        .rsplit(u8::is_ascii_whitespace)
        .find(|word| !word.is_empty())
        .is_some_and(|word| holds(OPENED, word))
}
