//! Check digits and checksums, which prove that a token or a number is what it looks like.

use bech32::Bech32;
use bech32::primitives::decode::CheckedHrpstring;

/// Length of a checksum in base 62, in characters.
const BASE62_LENGTH: usize = 6;
/// Length of the text that a checksum in base 62 covers, in characters.
const BASE62_BODY_LENGTH: usize = 30;
/// Length of a CRC-32 in hexadecimal, in characters.
const HEX_LENGTH: usize = 8;
/// The human-readable part of an age identity.
const AGE_IDENTITY: &str = "age-secret-key-";
/// Length of an X25519 key, in bytes.
const AGE_KEY_LENGTH: usize = 32;

/// Tells whether the last 6 characters are the CRC-32 of the 30 before them in base 62 (GitHub,
/// npm).
pub(super) fn crc32_base62(token: &[u8]) -> bool {
    let Some((head, sum)) = token.split_last_chunk::<BASE62_LENGTH>() else {
        return false;
    };
    let Some((_, body)) = head.split_last_chunk::<BASE62_BODY_LENGTH>() else {
        return false;
    };
    *sum == base62(crc32fast::hash(body))
}

/// Tells whether the last 8 characters are the CRC-32 of everything before them, in upper-case
/// hexadecimal (Atlassian).
pub(super) fn crc32_upper(token: &[u8]) -> bool {
    token
        .split_last_chunk::<HEX_LENGTH>()
        .is_some_and(|(body, sum)| *sum == hex(crc32fast::hash(body)).to_ascii_uppercase()[..])
}

/// Tells whether the last 8 characters are the CRC-32 of everything before the `_` in front of
/// them, in hexadecimal with the lowest byte first (Grafana).
pub(super) fn crc32_reversed(token: &[u8]) -> bool {
    let Some(([body @ .., b'_'], sum)) = token.split_last_chunk::<HEX_LENGTH>() else {
        return false;
    };
    *sum == hex(crc32fast::hash(body).swap_bytes())
}

/// Tells whether the last 8 characters are the CRC-32, in hexadecimal, of the text between the
/// first `_` and them; a second `_` in front of them belongs to neither (Cloudflare, Zuplo).
pub(super) fn crc32_body(token: &[u8]) -> bool {
    let Some((head, sum)) = token.split_last_chunk::<HEX_LENGTH>() else {
        return false;
    };
    let Some(prefix) = head.iter().position(|b| *b == b'_') else {
        return false;
    };
    let body = &head[prefix + 1..];
    *sum == hex(crc32fast::hash(body.strip_suffix(b"_").unwrap_or(body)))
}

/// Tells whether a token is a whole age identity: bech32 (BIP 173) over 32 bytes.
pub(super) fn age_identity(token: &[u8]) -> bool {
    std::str::from_utf8(token)
        .ok()
        .and_then(|text| CheckedHrpstring::new::<Bech32>(text).ok())
        .is_some_and(|key| {
            key.hrp().to_lowercase() == AGE_IDENTITY && key.byte_iter().len() == AGE_KEY_LENGTH
        })
}

/// Tells whether ASCII digits end with their Luhn check digit (ISO/IEC 7812-1, annex B).
pub(super) fn luhn(digits: &[u8]) -> bool {
    let doubled = |digit: u32| (digit * 2) / 10 + (digit * 2) % 10;
    let mut sum = 0;
    for (index, byte) in digits.iter().rev().enumerate() {
        let Some(digit) = char::from(*byte).to_digit(10) else {
            return false;
        };
        sum += if index % 2 == 1 {
            doubled(digit)
        } else {
            digit
        };
    }
    digits.len() > 1 && sum % 10 == 0
}

/// Returns a number's remainder modulo 97, where letters of either case stand for 10 to 35 (ISO/IEC
/// 7064, as ISO 13616 uses it). Returns `None` if there is any other character.
pub(super) fn mod97(characters: impl Iterator<Item = u8>) -> Option<u32> {
    let mut rest = 0;
    for byte in characters {
        let value = char::from(byte).to_digit(36)?;
        rest = (rest * if value < 10 { 10 } else { 100 } + value) % 97;
    }
    Some(rest)
}

fn base62(mut number: u32) -> [u8; BASE62_LENGTH] {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut out = [b'0'; BASE62_LENGTH];
    for place in out.iter_mut().rev() {
        *place = DIGITS[number as usize % DIGITS.len()];
        number /= 62;
    }
    out
}

fn hex(number: u32) -> [u8; HEX_LENGTH] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut out = [b'0'; HEX_LENGTH];
    for (place, byte) in out.chunks_exact_mut(2).zip(number.to_be_bytes()) {
        place[0] = DIGITS[usize::from(byte >> 4)];
        place[1] = DIGITS[usize::from(byte & 15)];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    // Python's zlib.crc32 computed every sum below, and the reference code of BIP 173 the identity,
    // over the bytes 0 to 31.
    const BASE62: [&str; 3] = [
        "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",
        "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",
        "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",
    ];
    const GRAFANA: &str = "glsa_agekeepVector0123456789ABCDEFGHa_02e45990";
    const CLOUDFLARE: &str = "cfut_agekeepVector0123456789ABCDEFGHIJKLMNOPQc94efd99";
    const ZUPLO: &str = "zpka_0123456789abcdef0123456789abcdef_7759b50e";
    const IDENTITY: &str =
        "AGE-SECRET-KEY-1QQQSYQCYQ5RQWZQFPG9SCRGWPUGPZYSNZS23V9CCRYDPK8QARC0SWRYDWG";

    fn atlassian() -> String {
        format!("ATATT3xFfGF0agekeepvector{}=CF775221", "Zk4Qw9".repeat(10))
    }

    /// Returns every text that differs from `token` in one of its last `count` characters.
    fn damaged(token: &str, count: usize) -> Vec<String> {
        let from = token.len() - count;
        (from..token.len())
            .map(|at| {
                let other = if &token[at..=at] == "7" { "3" } else { "7" };
                format!("{}{other}{}", &token[..at], &token[at + 1..])
            })
            .collect()
    }

    fn holds_and_breaks(check: fn(&[u8]) -> bool, token: &str, covered: usize) {
        assert!(check(token.as_bytes()), "{token}");
        for other in damaged(token, covered) {
            assert!(!check(other.as_bytes()), "{other}");
        }
        assert!(!check(b""));
        assert!(!check(b"_1234567"));
        assert!(!check(&token.as_bytes()[..token.len() - 1]));
    }

    #[test]
    fn vectors_hold_and_any_change_breaks_them() {
        for token in BASE62 {
            holds_and_breaks(crc32_base62, token, 36);
        }
        holds_and_breaks(crc32_upper, &atlassian(), 90);
        holds_and_breaks(crc32_reversed, GRAFANA, GRAFANA.len());
        holds_and_breaks(crc32_body, CLOUDFLARE, 48);
        holds_and_breaks(crc32_body, ZUPLO, 41);
        holds_and_breaks(age_identity, IDENTITY, IDENTITY.len());
    }

    #[test]
    fn the_case_of_a_checksum_counts() {
        let lower = atlassian().replace("CF775221", "cf775221");
        assert!(!crc32_upper(lower.as_bytes()));
        assert!(!crc32_reversed(
            GRAFANA.replace("02e45990", "02E45990").as_bytes()
        ));
        assert!(!crc32_body(
            CLOUDFLARE.replace("c94efd99", "C94EFD99").as_bytes()
        ));
        assert!(age_identity(IDENTITY.to_lowercase().as_bytes()));
        assert!(!age_identity(IDENTITY.replace("AGE", "age").as_bytes()));
    }

    #[test]
    fn luhn_refuses_any_one_wrong_digit() {
        // The example of ISO/IEC 7812-1, annex B, and two numbers from payment test pages.
        for number in ["79927398713", "4111111111111111", "378282246310005"] {
            assert!(luhn(number.as_bytes()), "{number}");
            for other in damaged(number, number.len()) {
                assert!(!luhn(other.as_bytes()), "{other}");
            }
        }
        assert!(!luhn(b"") && !luhn(b"0") && !luhn(b"4111-1111"));
    }

    #[test]
    fn mod97_reads_letters_as_numbers() {
        // `bc <<< "3214282912345698765432161182 % 97"`
        let rearranged = "WEST12345698765432GB82";
        assert_eq!(mod97(rearranged.bytes()), Some(1));
        assert_eq!(mod97(rearranged.to_lowercase().bytes()), Some(1));
        assert_eq!(mod97("3214282912345698765432161182".bytes()), Some(1));
        assert_eq!(mod97("97".bytes()), Some(0));
        assert_eq!(mod97("9-7".bytes()), None);
    }
}
