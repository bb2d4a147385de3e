//! The look of tokens, ids, words and names.

use crate::entropy::{self, Makeup};
use crate::named::words::{TECHNICAL, UNITS, holds};

/// Least unrest of random letters. No name in a program reaches it: `xmlSecKeysMngrGetKey` has 350,
/// random letters are near 790.
const LETTERS_UNREST: usize = 500;

/// Tells whether a value is a token: 16 or more random bytes.
pub(super) fn token(value: &[u8]) -> bool {
    let makeup = Makeup::of(value);
    let body = value
        .iter()
        .filter(|b| b.is_ascii_alphanumeric() || b"_-+/=.~:".contains(b))
        .count();
    if value.len() < 16 || body * 10 < value.len() * 9 || makeup.letters() == 0 {
        return false;
    }
    if uuid(value) || bare_hex(value) {
        return makeup.distinct >= 6;
    }
    if is_words(value) {
        return false;
    }
    if makeup.digits == 0 {
        return value.len() >= 20
            && makeup.lower > 0
            && makeup.upper > 0
            && entropy::unrest(value) >= LETTERS_UNREST
            && entropy::random(value);
    }
    let broken = entropy::words(value) * 2 < makeup.letters() && is_leet(value);
    entropy::random(value) || broken && entropy::entropy(value) >= 3.2 && makeup.symbols == 0
}

/// Tells whether a value is random over the whole keyboard: letters of both cases, digits, and more
/// marks between them than any pattern or code has.
pub(super) fn rolled(value: &[u8]) -> bool {
    let makeup = Makeup::of(value);
    let mut marks: Vec<u8> = value.to_vec();
    marks.retain(u8::is_ascii_punctuation);
    marks.sort_unstable();
    marks.dedup();
    let pattern = [&b"a-z"[..], b"A-Z", b"0-9", b"(?", b"\\"];
    (24..=128).contains(&value.len())
        && value.iter().all(|b| (b' '..=b'~').contains(b))
        && makeup.lower >= 4
        && makeup.upper >= 4
        && makeup.digits >= 3
        && marks.len() >= 8
        && entropy::unrest(value) >= 500
        && !pattern
            .iter()
            .any(|part| memchr::memmem::find(value, part).is_some())
}

/// Tells whether a value is an id or digest, unless a name straight beside it says otherwise.
pub(super) fn plain_id(value: &[u8]) -> bool {
    uuid(value) || bare_hex(value)
}

/// Tells whether a value is a fingerprint: pairs of hexadecimal digits between colons.
pub(super) fn fingerprint(value: &[u8]) -> bool {
    let upper = |b: &u8| b.is_ascii_digit() || (b'A'..=b'F').contains(b);
    // OpenPGP writes them as 40 upper-case digits (RFC 9580).
    if value.len() == 40 && value.iter().all(upper) {
        return true;
    }
    value.len() >= 8
        && value.iter().enumerate().all(|(i, b)| match i % 3 {
            2 => *b == b':',
            _ => b.is_ascii_hexdigit(),
        })
}

/// Tells whether a value is nothing but hexadecimal digits, at least 16.
pub(super) fn bare_hex(value: &[u8]) -> bool {
    value.len() >= 16 && value.iter().all(u8::is_ascii_hexdigit)
}

/// Tells whether a value has the form of a UUID (RFC 9562).
fn uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(i, b)| match i {
            8 | 13 | 18 | 23 => *b == b'-',
            _ => b.is_ascii_hexdigit(),
        })
}

/// Tells whether a value is a version, a size, a duration, an address or a date.
pub(super) fn is_version(value: &[u8]) -> bool {
    let digits = value
        .iter()
        .filter(|b| b.is_ascii_digit() || b".:-/TZv".contains(b))
        .count();
    digits + 2 >= value.len()
}

/// Tells whether a value is a date with the time of day, as in RFC 3339, or as in ISO 8601 without
/// separators. Some of them look as random as a token.
pub(super) fn date_time(value: &[u8]) -> bool {
    let digits = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
    let Some(at) = value.iter().position(|b| matches!(b, b'T' | b't' | b'_')) else {
        return false;
    };
    let (day, time) = (&value[..at], &value[at + 1..]);
    let marked =
        |day: &[u8]| day[4] == b'-' && day[7] == b'-' && digits(&day[5..7]) && digits(&day[8..]);
    let dated = match day.len() {
        8 => digits(day),
        10 => digits(&day[..4]) && marked(day),
        _ => false,
    };
    dated
        && day.starts_with(if day[0] == b'1' { b"19" } else { b"20" })
        && (4..=24).contains(&time.len())
        && time[..2].iter().all(u8::is_ascii_digit)
        && time
            .iter()
            .all(|b| b.is_ascii_digit() || b":.,+-Zz".contains(b))
}

/// Tells whether a digit replaces a letter inside a word: `W1nt3rF0x`, `p4ssw0rd`.
pub(super) fn is_leet(value: &[u8]) -> bool {
    value
        .windows(3)
        .any(|w| w[0].is_ascii_alphabetic() && w[1].is_ascii_digit() && w[2].is_ascii_alphabetic())
}

/// Tells whether a value is made of words, numbers and technical terms, joined as in prose.
pub(super) fn is_words(value: &[u8]) -> bool {
    let mut pieces = value
        .split(|b| b"-_./,:'+&@#\\ ()[]{}=".contains(b))
        .filter(|piece| !piece.is_empty());
    pieces.all(|piece| {
        let lower = piece.to_ascii_lowercase();
        let trimmed = lower.strip_suffix(b"s").unwrap_or(&lower);
        piece.iter().all(u8::is_ascii_digit) && piece.len() <= 5
            || piece.iter().all(|b| b.is_ascii_alphabetic() || *b >= 0x80)
                && (piece.len() < 8 || entropy::unrest(piece) < 340)
            || holds(TECHNICAL, &lower)
            || holds(TECHNICAL, trimmed)
            || quantity(&lower)
    })
}

/// Tells whether a piece is a quantity or a version: `30min`, `90days`, `v2`, `16gb`, `1st`, `10x`.
fn quantity(piece: &[u8]) -> bool {
    let digits = piece.iter().take_while(|b| b.is_ascii_digit()).count();
    let unit = &piece[digits..];
    (digits > 0 && holds(UNITS, unit))
        || (piece.len() <= 4 && piece[0] == b'v' && piece[1..].iter().all(u8::is_ascii_digit))
}

/// Tells whether a value is several words in camel case, perhaps with a digit among them:
/// `OAuth2PasswordBearer`.
pub(super) fn camel(value: &[u8]) -> bool {
    let humps = value
        .windows(2)
        .filter(|w| !w[0].is_ascii_uppercase() && w[1].is_ascii_uppercase())
        .count();
    let digits = value.iter().filter(|b| b.is_ascii_digit()).count();
    value.iter().all(u8::is_ascii_alphanumeric)
        && digits <= 2
        && humps >= 1
        && value.len() >= (humps + 1) * 5
        && entropy::unrest(value) < 400
}

/// Tells whether a value is the name of a type with a number inside: `Ed25519PrivateKey`.
pub(super) fn type_name(value: &[u8]) -> bool {
    let word = |piece: &[u8]| piece.is_empty() || entropy::unrest(piece) < 400;
    let mut pieces = value
        .split(u8::is_ascii_digit)
        .filter(|piece| !piece.is_empty());
    value.iter().all(u8::is_ascii_alphanumeric)
        && value[0].is_ascii_uppercase()
        && value[value.len() - 1].is_ascii_lowercase()
        && pieces.clone().count() == 2
        && pieces.all(|piece| piece[0].is_ascii_uppercase() && word(piece))
}

/// Tells whether a value could be the name of a variable: words, then perhaps a number.
pub(super) fn name_like(value: &[u8]) -> bool {
    let stem = value
        .iter()
        .rposition(|b| !b.is_ascii_digit())
        .map_or(0, |last| last + 1);
    let identifier = value
        .iter()
        .all(|b| b.is_ascii_alphanumeric() || *b == b'_');
    identifier
        && value[0].is_ascii_alphabetic()
        && !value[..stem].iter().any(u8::is_ascii_digit)
        && entropy::unrest(&value[..stem]) < 340
}
