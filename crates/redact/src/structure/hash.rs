//! Password hashes: crypt, bcrypt, Argon2, LDAP, Django, Windows. Passwords can be guessed from
//! them.

use crate::span::{Rank, Span};
use crate::structure::near::{ahead, is_base64, run, trim};

const KIND: &str = "password-hash";

/// Longest hash with its parameters and salt.
const HASH_MAX: usize = 512;
/// Longest hash of the crypt family.
const CRYPT_MAX: usize = 256;

/// Finds a hash from the name of its scheme.
pub(crate) fn any(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let end = match text[at] {
        b'{' => ldap(text, at),
        b':' => windows(text, at),
        _ => crypt(text, at),
    };
    let Some(end) = end else {
        return;
    };
    let start = if text[at] == b':' { at - 65 } else { at };
    found.push(Span::new(start..end, KIND, Rank::Structural));
}

/// Returns the end of `$scheme$parameters$salt$hash`.
fn crypt(text: &[u8], at: usize) -> Option<usize> {
    let fits = |b: u8| b.is_ascii_alphanumeric() || b"./$=,+_-".contains(&b);
    let whole = ahead(text, at, CRYPT_MAX);
    let whole = &whole[..run(whole, 0, fits)];
    let last = whole.iter().rposition(|b| *b == b'$')? + 1;
    let parts = whole[..last].split(|b| *b == b'$').count() - 1;
    let length = match whole.get(..4) {
        Some([b'$', b'2', _, b'$']) => 53,
        Some([b'$', b'1', b'$', _] | [b'$', b'a', b'p', _]) => 22,
        Some([b'$', b'5' | b'y', b'$', _]) => 43,
        Some([b'$', b'6', b'$', _]) => 86,
        _ => 0,
    };
    let shortest = if length == 0 { 20 } else { length };
    let tail = &whole[last..];
    if parts < 3 || tail.len() < shortest || whole.windows(3).any(|s| s == b"...") {
        return None;
    }
    let first = tail[0];
    if tail.iter().all(|b| *b == first || *b == b'.') {
        return None;
    }
    // The alphabets of these hashes have a full stop. Past the right length, it ends a sentence.
    let after = &tail[length.min(tail.len())..];
    let end = if length > 0 && after.iter().all(|b| matches!(b, b'.' | b',')) {
        last + length
    } else {
        trim(whole, 0, whole.len())
    };
    Some(at + end)
}

/// Returns the end of `{SCHEME}base64`.
fn ldap(text: &[u8], at: usize) -> Option<usize> {
    let name = run(ahead(text, at + 1, 24), 0, |b| {
        b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_')
    });
    let close = at + 1 + name + 1;
    if text.get(close - 1) != Some(&b'}') {
        return None;
    }
    let fits = |b: u8| is_base64(b) || matches!(b, b'$' | b'.' | b',' | b'-' | b'_');
    let end = trim(
        text,
        close,
        close + run(ahead(text, close, HASH_MAX), 0, fits),
    );
    let dots = text[close..end].windows(3).any(|s| s == b"...");
    let digit = text[close..end]
        .iter()
        .any(|b| b.is_ascii_digit() || b.is_ascii_uppercase());
    (end >= close + 16 && digit && !dots).then_some(end)
}

/// Returns the end of the two hashes before `:::` in a dump of Windows accounts.
fn windows(text: &[u8], at: usize) -> Option<usize> {
    let start = at.checked_sub(65)?;
    let pair = &text[start..at];
    let hex = |s: &[u8]| s.iter().all(u8::is_ascii_hexdigit);
    (hex(&pair[..32]) && pair[32] == b':' && hex(&pair[33..])).then_some(at)
}

#[cfg(test)]
mod tests {
    use crate::structure::harness::{finds, keeps};

    #[test]
    fn every_scheme() {
        finds(
            "password-hash",
            &[
                "bob:«$apr1$eWLkJ8hV$1f0v4n0kLW5oUQ2sXyT7b.»",
                "bob:«$2y$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy».",
                "root:«$6$saltsalt$qFmFH.bQmmtXzyBY0s9v7Oicd2z4XSIecDzlB5KiA2/jctKu9YterLp8wwnSq.qc.eoxqOmSuNp2xS0ktL3nh/»:19000:0:99999:7:::",
                "hash=«$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$RdescudvJCsgt3ub+b7dWRWJTmaaJObG»,",
                "{SSHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g="
                    .replace("{SSHA}", "«{SSHA}")
                    .as_str()
                    .trim_end_matches('=')
                    .to_owned()
                    .as_str()
                    .replace("mj9g", "mj9g=»")
                    .as_str(),
                "bob:«{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=»\n",
                "«pbkdf2_sha256$600000$salt1salt2$Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmE=»",
                "Administrator:500:«aad3b435b51404eeaad3b435b51404ee:31d6cfe0d16ae931b73c59d7e0c089c0»:::",
            ],
        );
    }

    #[test]
    fn no_hashes() {
        keeps(
            "password-hash",
            &[
                "$6$...",
                "costs $1$2 or $5$ more",
                "$2b$12$<salt and hash>",
                "echo $1$aB3dE5fG7hI9jK1lM3nO5pQ7",
                "bcrypt hashes begin with $2b$12$ and go on",
                "{SHA} is weak",
                "{SSHA}...",
                "a:::b",
                "awk '{print $1$2$3}'",
                "root:*:19000:0:99999:7:::",
            ],
        );
    }
}
