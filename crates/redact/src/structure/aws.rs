//! Secret access keys of AWS, which have no prefix, beside the key id, which has one.

use std::ops::Range;

use super::near::{ahead, behind, ends_in_word, report, run};
use crate::judge::{self, Makeup};
use crate::span::Span;

/// Length of a key id, its prefix included.
const ID_BYTES: usize = 20;
/// Length of a secret access key.
const SECRET_BYTES: usize = 40;
/// How far from its id a secret is looked for: the rest of the line and the next.
const NEAR: usize = 140;

/// Finds the secret key that stands with the key id at `at`: behind it, or else before it.
pub(crate) fn pair(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let end = at
        + run(ahead(text, at, ID_BYTES + 1), 0, |b| {
            b.is_ascii_uppercase() || b.is_ascii_digit()
        });
    if end != at + ID_BYTES || ends_in_word(text, at) {
        return;
    }
    let reach = NEAR + SECRET_BYTES;
    let after = end..end + ahead(text, end, reach).len();
    let before = at - behind(text, at, reach).len()..at;
    if let Some(secret) = secret_in(text, after).or_else(|| secret_in(text, before))
        && report(text, secret, "aws-key-pair", found)
    {
        report(text, at..end, "aws-key-pair", found);
    }
}

/// The first run of exactly the length of a secret that a machine has rolled.
fn secret_in(text: &[u8], window: Range<usize>) -> Option<Range<usize>> {
    let mut at = window.start;
    while at < window.end {
        let end = run(&text[..window.end], at, is_key_byte);
        let whole = end - at == SECRET_BYTES
            && !text.get(end).is_some_and(|b| is_key_byte(*b) || *b == b'=')
            && (at == 0 || !is_key_byte(text[at - 1]));
        if whole && is_rolled(&text[at..end]) {
            return Some(at..end);
        }
        at = end + 1;
    }
    None
}

/// Whether a run has what 40 random characters of base64 have and no path or digest does.
fn is_rolled(value: &[u8]) -> bool {
    let makeup = Makeup::of(value);
    makeup.lower > 0
        && makeup.upper > 0
        && makeup.digits > 0
        && judge::random(value)
        && !judge::placeholder_token(value)
}

/// The alphabet of secret keys.
fn is_key_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'/' | b'+')
}

#[cfg(test)]
mod tests {
    use crate::structure::harness::{finds, keeps};

    #[test]
    fn pairs() {
        finds(
            "aws-key-pair",
            &[
                "«AK¦IAQYLPMN5HFIQR7XYA»:«Zq8Wn3Lx0Vb5Tc7Yr2Mk9Pd4Hs6Jf1Gu/Ae+Ri4N»",
                "keys: «AK¦IAQYLPMN5HFIQR7XYA» / «Zq8Wn3Lx0Vb5Tc7Yr2Mk9Pd4Hs6Jf1Gu/Ae+Ri4N».",
                "«AS¦IAQYLPMN5HFIQR7XYA»\n«Zq8Wn3Lx0Vb5Tc7Yr2Mk9Pd4Hs6Jf1Gu/Ae+Ri4N»\n",
                "bob,«AK¦IAQYLPMN5HFIQR7XYA»,«Zq8Wn3Lx0Vb5Tc7Yr2Mk9Pd4Hs6Jf1Gu/Ae+Ri4N»",
                "connect(\"«AK¦IAQYLPMN5HFIQR7XYA»\", \"«Zq8Wn3Lx0Vb5Tc7Yr2Mk9Pd4Hs6Jf1Gu/Ae+Ri4N»\")",
                "«Zq8Wn3Lx0Vb5Tc7Yr2Mk9Pd4Hs6Jf1Gu/Ae+Ri4N» belongs to «AK¦IAQYLPMN5HFIQR7XYA»",
            ],
        );
    }

    #[test]
    fn no_pairs() {
        keeps(
            "aws-key-pair",
            &[
                "AK¦IAQYLPMN5HFIQR7XYA was rotated in da39a3ee5e6b4b0d3255bfef95601890afd80709",
                "AK¦IAQYLPMN5HFIQR7XYA lives in src/module/handlers/authentication/tokenB",
                "AK¦IAQYLPMN5HFIQR7XYA: Zq8Wn3Lx0Vb5Tc7Yr2Mk9Pd4Hs6Jf1Gu/Ae+Ri4N8x",
                "AK¦IAQYLPMN5HFIQR7XYA: \x01\x01\x01",
                "AK¦IAQYLPMN Zq8Wn3Lx0Vb5Tc7Yr2Mk9Pd4Hs6Jf1Gu/Ae+Ri4N",
                "the ids begin with AKIA or ASIA",
            ],
        );
    }
}
