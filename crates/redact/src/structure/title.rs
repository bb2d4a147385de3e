//! Names of elements and settings that mark their value as a secret.

/// Words at the end of a name that mean a secret.
const SECRETS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "pass",
    "secret",
    "token",
    "psk",
    "apikey",
];
/// Words that make the word `key` behind them mean a secret.
const KEYS: &[&str] = &[
    "access",
    "api",
    "app",
    "auth",
    "encryption",
    "license",
    "master",
    "private",
    "secret",
    "shared",
    "signing",
];
/// Longest name that is read, in bytes.
pub(super) const NAME_BYTES_MAX: usize = 64;

/// Returns the words of a name in lower case: `dbPassword`, `db_password` and `db.password` have
/// the same.
fn words(name: &[u8]) -> Vec<Vec<u8>> {
    let mut words: Vec<Vec<u8>> = vec![Vec::new()];
    let mut lower = false;
    for b in name.iter().take(NAME_BYTES_MAX) {
        if !b.is_ascii_alphanumeric() || lower && b.is_ascii_uppercase() {
            words.push(Vec::new());
        }
        lower = b.is_ascii_lowercase();
        if b.is_ascii_alphanumeric() {
            words
                .last_mut()
                .expect("one at least")
                .push(b.to_ascii_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Tells whether words end as the name of a secret does.
fn ends(words: &[Vec<u8>]) -> bool {
    let is = |word: &[u8], known: &[&str]| known.iter().any(|k| word == k.as_bytes());
    match words {
        [.., before, last] if last == b"key" => is(before, KEYS),
        [.., last] => is(last, SECRETS),
        [] => false,
    }
}

/// Tells whether a name says that its value is a secret.
pub(super) fn says_secret(name: &[u8]) -> bool {
    ends(&words(name))
}

/// Tells whether a name says that its values are secrets: `api_keys`.
pub(super) fn says_secrets(name: &[u8]) -> bool {
    let mut words = words(name);
    let plural = words
        .last_mut()
        .is_some_and(|last| last.pop() == Some(b's'));
    plural && ends(&words)
}

/// Tells whether a name says that its value is a secret, or the number that opens a lock.
pub(super) fn says_code(name: &[u8]) -> bool {
    let words = words(name);
    ends(&words)
        || words
            .last()
            .is_some_and(|last| last == b"code" || last == b"pin")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for name in [
            "Password",
            "dbPassword",
            "db_password",
            "api.key",
            "API_TOKEN",
            "clientSecret",
        ] {
            assert!(says_secret(name.as_bytes()), "{name}");
        }
        for name in [
            "",
            "key",
            "PasswordPolicy",
            "primary_key",
            "compass",
            "token_type",
            "keys",
        ] {
            assert!(!says_secret(name.as_bytes()), "{name}");
        }
        assert!(says_secrets(b"api_keys") && says_secrets(b"tokens") && !says_secrets(b"keys"));
        assert!(says_code(b"alarm_code") && !says_code(b"zipcode"));
    }
}
