//! Numbers that a state gives to a person: their shapes, the words for them, their check digits.

use std::ops::Range;

use crate::checksum::{luhn, mod97};
use crate::personal::edge::{beside, closes, dashed, opens, run_end};

/// Most characters of a number without its gaps.
const LENGTH_MAX: usize = 16;

/// A number of one country in one spelling.
struct Number {
    kind: &'static str,
    /// The form of the number: `9` a digit, `A` an upper-case letter, `a` a letter of either case;
    /// any other character stands for itself.
    shape: &'static [u8],
    /// Number of bytes in the shape before its first digit.
    lead: usize,
    /// Number of digits in a row from there; a run of digits must have as many.
    run: usize,
    /// Words, one of which must stand near. None are needed if the shape and its proof are enough.
    words: &'static [&'static str],
    /// The check that the characters must pass.
    proof: fn(&[u8]) -> bool,
}

/// The kinds of these findings.
pub(super) const KINDS: &[&str] = &[
    "us-ssn",
    "uk-nino",
    "es-dni",
    "fr-nir",
    "de-tax-id",
    "it-codice-fiscale",
    "pl-pesel",
    "nl-bsn",
    "br-cpf",
    "in-aadhaar",
    "ca-sin",
];

const SSN: &[&str] = &["ssn", "ssns", "social security"];
const NINO: &[&str] = &["nino", "ni number", "ni no", "national insurance"];
const GERMAN_TAX: &[&str] = &[
    "steuer-id",
    "steuerid",
    "steueridentifikationsnummer",
    "steuerliche",
    "idnr",
    "id-nr",
    "tax id",
    "tin",
    "steuernummer",
];
const PESEL: &[&str] = &["pesel"];
const BSN: &[&str] = &["bsn", "burgerservicenummer", "sofinummer"];
const CPF: &[&str] = &["cpf"];
const AADHAAR: &[&str] = &["aadhaar", "aadhar", "adhaar", "uidai", "आधार"];
const SIN: &[&str] = &[
    "social insurance",
    "sin number",
    "canadian sin",
    "sin:",
    "nas:",
];

const fn number(
    kind: &'static str,
    shape: &'static [u8],
    words: &'static [&'static str],
    proof: fn(&[u8]) -> bool,
) -> Number {
    let mut lead = 0;
    while shape[lead] != b'9' {
        lead += 1;
    }
    let mut run = 0;
    while lead + run < shape.len() && shape[lead + run] == b'9' {
        run += 1;
    }
    Number {
        kind,
        shape,
        lead,
        run,
        words,
        proof,
    }
}

#[rustfmt::skip]
const NUMBERS: &[Number] = &[
    number("us-ssn", b"999-99-9999", &[], ssn),
    number("us-ssn", b"999 99 9999", SSN, ssn),
    number("us-ssn", b"999999999", SSN, ssn),
    number("uk-nino", b"AA 99 99 99 A", &[], nino),
    number("uk-nino", b"AA 999999 A", NINO, nino),
    number("uk-nino", b"aa999999a", NINO, nino),
    number("es-dni", b"99999999A", &[], dni),
    number("es-dni", b"99999999-A", &[], dni),
    number("es-dni", b"99.999.999-A", &[], dni),
    number("es-dni", b"A9999999A", &[], dni),
    number("es-dni", b"A-9999999-A", &[], dni),
    number("fr-nir", b"9 99 99 99 999 999 99", &[], nir),
    number("fr-nir", b"9 99 99 9A 999 999 99", &[], nir),
    number("fr-nir", b"9999999999999 99", &[], nir),
    number("fr-nir", b"999999999999999", &[], nir),
    number("fr-nir", b"999999A99999999", &[], nir),
    number("de-tax-id", b"99999999999", GERMAN_TAX, german_tax),
    number("de-tax-id", b"99 999 999 999", GERMAN_TAX, german_tax),
    number("it-codice-fiscale", b"aaaaaa99a99a999a", &[], codice_fiscale),
    number("pl-pesel", b"99999999999", PESEL, pesel),
    number("nl-bsn", b"999999999", BSN, bsn),
    number("nl-bsn", b"9999.99.999", BSN, bsn),
    number("nl-bsn", b"999 999 999", BSN, bsn),
    number("br-cpf", b"999.999.999-99", &[], cpf),
    number("br-cpf", b"99999999999", CPF, cpf),
    number("in-aadhaar", b"999999999999", AADHAAR, aadhaar),
    number("in-aadhaar", b"9999 9999 9999", AADHAAR, aadhaar),
    number("in-aadhaar", b"9999-9999-9999", AADHAAR, aadhaar),
    number("ca-sin", b"999999999", SIN, sin),
    number("ca-sin", b"999 999 999", SIN, sin),
    number("ca-sin", b"999-999-999", SIN, sin),
];

/// Returns the number whose first digit stands at `at`, the first of a run of digits.
pub(super) fn find(text: &[u8], at: usize) -> Option<(Range<usize>, &'static str)> {
    let run = run_end(text, at) - at;
    let mut fitting = NUMBERS.iter().filter(|number| number.run == run);
    fitting.find_map(|number| {
        let range = number.find(text, at)?;
        Some((range, number.kind))
    })
}

impl Number {
    fn find(&self, text: &[u8], at: usize) -> Option<Range<usize>> {
        let start = at.checked_sub(self.lead)?;
        let place = text.get(start..start + self.shape.len())?;
        let mut characters = [0; LENGTH_MAX];
        let mut length = 0;
        for (shape, byte) in self.shape.iter().zip(place) {
            let fits = match shape {
                b'9' => byte.is_ascii_digit(),
                b'A' => byte.is_ascii_uppercase(),
                b'a' => byte.is_ascii_alphabetic(),
                _ => byte == shape,
            };
            if !fits {
                return None;
            }
            if byte.is_ascii_alphanumeric() {
                characters[length] = byte.to_ascii_uppercase();
                length += 1;
            }
        }
        let end = start + self.shape.len();
        let whole = opens(text, start) && closes(text, end) && !dashed(text, start, end);
        let named = || self.words.is_empty() || beside(text, start, end, self.words);
        (whole && (self.proof)(&characters[..length]) && named()).then_some(start..end)
    }
}

// The check digits and rules of identity numbers. Each function takes the upper-case letters and
// the digits of a number, without separators, in the length of its shape.

/// The letters of the Spanish number, by its remainder modulo 23.
const DNI_LETTERS: &[u8; 23] = b"TRWAGMYFPDXBNJZSQVHLCKE";

/// Checks a number of the United States: the area, group and serial numbers that the SSA gives to
/// nobody are refused.
pub(super) fn ssn(number: &[u8]) -> bool {
    !(number.starts_with(b"000")
        || number.starts_with(b"666")
        || number[0] == b'9'
        || number[3..5] == *b"00"
        || number[5..] == *b"0000")
}

/// Checks a number of the United Kingdom: the letters that HMRC uses for national insurance
/// numbers.
pub(super) fn nino(number: &[u8]) -> bool {
    let prefix = &number[..2];
    !number[..2].iter().any(|b| b"DFIQUV".contains(b))
        && number[1] != b'O'
        && ![b"BG", b"GB", b"NK", b"KN", b"TN", b"NT", b"ZZ"]
            .iter()
            .any(|p| prefix == *p)
        && (b'A'..=b'D').contains(&number[8])
}

/// Checks a number of Spain: DNI and NIE, remainder modulo 23 (Real Decreto 1553/2005).
pub(super) fn dni(number: &[u8]) -> bool {
    let (body, letter) = (&number[..8], number[8]);
    let first = match body[0] {
        letter @ b'X'..=b'Z' => u64::from(letter - b'X'),
        digit if digit.is_ascii_digit() => u64::from(digit - b'0'),
        _ => return false,
    };
    let rest = (first * 10_000_000 + value(&body[1..])) % 23;
    DNI_LETTERS.get(usize::try_from(rest).unwrap_or_default()) == Some(&letter)
}

/// Checks a number of France: the NIR of INSEE, with sex, year, month, department, and 97 less the
/// remainder modulo 97.
pub(super) fn nir(number: &[u8]) -> bool {
    let month = value(&number[3..5]);
    // In Corsica 2A and 2B count as 19 and 18.
    let mut digits = [0; 13];
    digits.copy_from_slice(&number[..13]);
    if let [b'2', letter @ (b'A' | b'B')] = number[5..7] {
        digits[5] = b'1';
        digits[6] = if letter == b'A' { b'9' } else { b'8' };
    }
    matches!(number[0], b'1' | b'2')
        && !digits[5..].starts_with(b"00")
        && matches!(month, 1..=12 | 20 | 30..=42 | 50..=99)
        && digits.iter().all(u8::is_ascii_digit)
        && mod97(digits.into_iter())
            .is_some_and(|rest| u64::from(97 - rest) == value(&number[13..]))
}

/// Checks a number of Germany: the tax number of a person, with one digit more than once, ISO/IEC
/// 7064 MOD 11,10.
pub(super) fn german_tax(number: &[u8]) -> bool {
    let mut counts = [0; 10];
    let mut product = 10;
    for byte in &number[..10] {
        counts[usize::from(byte - b'0')] += 1;
        let sum = (u32::from(byte - b'0') + product) % 10;
        product = (if sum == 0 { 10 } else { sum }) * 2 % 11;
    }
    let check = (11 - product) % 10;
    let repeated = counts.iter().filter(|count| **count > 1).count();
    let often = counts.iter().any(|count| *count > 3);
    number[0] != b'0' && repeated == 1 && !often && check == u32::from(number[10] - b'0')
}

/// Checks a number of Italy: the control character of the codice fiscale (Decreto 23 dicembre
/// 1976).
pub(super) fn codice_fiscale(number: &[u8]) -> bool {
    /// The values of the characters `0` to `9` and `A` to `Z` at odd places; digits count as `A` to
    /// `J`.
    const ODD: [u32; 26] = [
        1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24,
        23,
    ];
    let rank = |b: u8| {
        usize::from(if b.is_ascii_digit() {
            b - b'0'
        } else {
            b - b'A'
        })
    };
    let sum: u32 = number[..15]
        .iter()
        .enumerate()
        .map(|(place, b)| {
            let rank = rank(*b);
            if place % 2 == 0 {
                ODD[rank]
            } else {
                u32::try_from(rank).unwrap_or_default()
            }
        })
        .sum();
    b"ABCDEHLMPRST".contains(&number[8]) && sum % 26 == u32::from(number[15] - b'A')
}

/// Checks a number of Poland: PESEL, with weights 1, 3, 7, 9, and the month with its century.
pub(super) fn pesel(number: &[u8]) -> bool {
    let month = value(&number[2..4]) % 20;
    let day = value(&number[4..6]);
    let sum = weighted(&number[..10], &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3]);
    let check = (10 - sum % 10) % 10;
    (1..=12).contains(&month) && (1..=31).contains(&day) && check == digit(number[10])
}

/// Checks a number of the Netherlands: the eleven test of the BSN.
pub(super) fn bsn(number: &[u8]) -> bool {
    let sum = weighted(&number[..8], &[9, 8, 7, 6, 5, 4, 3, 2]);
    sum > 0 && sum % 11 == digit(number[8])
}

/// Checks a number of Brazil: the two check digits of the CPF. Numbers of one digit alone are given
/// to nobody.
pub(super) fn cpf(number: &[u8]) -> bool {
    let check = |count: usize| {
        let weights = (2..=11).rev().skip(10 - count);
        let sum: u64 = number[..count]
            .iter()
            .zip(weights)
            .map(|(b, w)| digit(*b) * w)
            .sum();
        (sum * 10 % 11) % 10 == digit(number[count])
    };
    number.iter().any(|b| *b != number[0]) && check(9) && check(10)
}

/// Checks a number of India: Aadhaar, with the check digit of Verhoeff. The first digit is 2 or
/// more.
pub(super) fn aadhaar(number: &[u8]) -> bool {
    number[0] >= b'2' && verhoeff(number)
}

/// Checks a number of Canada: the social insurance number, with a Luhn check digit. No number
/// begins with 0 or 8.
pub(super) fn sin(number: &[u8]) -> bool {
    !matches!(number[0], b'0' | b'8') && luhn(number)
}

/// Checks Verhoeff's check digit: a multiplication in the dihedral group of order 10, where each
/// place is turned by one more application of a permutation.
fn verhoeff(digits: &[u8]) -> bool {
    const TURN: [u8; 10] = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];
    let product = |a: u8, b: u8| match (a < 5, b < 5) {
        (true, true) => (a + b) % 5,
        (true, false) => (a + b - 5) % 5 + 5,
        (false, true) => (a - b) % 5 + 5,
        (false, false) => (a + 5 - b) % 5,
    };
    let turned = |digit: u8, times: usize| (0..times % 8).fold(digit, |d, _| TURN[usize::from(d)]);
    let places = digits.iter().rev().enumerate();
    0 == places.fold(0, |sum, (place, b)| product(sum, turned(b - b'0', place)))
}

fn weighted(digits: &[u8], weights: &[u64]) -> u64 {
    digits
        .iter()
        .zip(weights)
        .map(|(b, weight)| digit(*b) * weight)
        .sum()
}

fn digit(byte: u8) -> u64 {
    u64::from(byte - b'0')
}

fn value(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |n, b| n * 10 + digit(*b))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Proof = fn(&[u8]) -> bool;

    /// Valid numbers, made by a Python program from the same public rules, and Verhoeff's from its
    /// printed tables.
    const VALID: [(Proof, &str); 17] = [
        (dni, "48213579J"),
        (dni, "X4821357M"),
        (dni, "Y7019482B"),
        (nir, "185057800608491"),
        (nir, "185052A00608435"),
        (german_tax, "86095742719"),
        (german_tax, "47036892816"),
        (codice_fiscale, "RSSMRA85T10A562S"),
        (codice_fiscale, "BNCLCU92D55F205V"),
        (pesel, "44051401359"),
        (pesel, "02270803624"),
        (bsn, "111222333"),
        (bsn, "123456782"),
        (cpf, "52998224725"),
        (cpf, "38492017597"),
        (aadhaar, "299487630216"),
        (sin, "130692544"),
    ];

    #[test]
    fn any_other_digit_is_refused() {
        for (proof, number) in VALID {
            assert!(proof(number.as_bytes()), "{number}");
            let digits = (0..number.len()).filter(|at| number.as_bytes()[*at].is_ascii_digit());
            for at in digits {
                for digit in (b'0'..=b'9').filter(|d| *d != number.as_bytes()[at]) {
                    let mut other = number.as_bytes().to_vec();
                    other[at] = digit;
                    assert!(!proof(&other), "{}", String::from_utf8_lossy(&other));
                }
            }
        }
    }

    #[test]
    fn verhoeff_refuses_digits_that_changed_places() {
        assert!(verhoeff(b"2363") && verhoeff(b"548620173945"));
        for other in ["3263", "2633", "2336", "458620173945", "548620173954"] {
            assert!(!verhoeff(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn numbers_that_are_given_to_nobody_are_refused() {
        assert!(ssn(b"536228726") && nino(b"AB123456C"));
        for number in [
            "000228726",
            "666228726",
            "900228726",
            "536008726",
            "536220000",
        ] {
            assert!(!ssn(number.as_bytes()), "{number}");
        }
        for number in [
            "BG123456C",
            "DA123456C",
            "AO123456C",
            "ZZ123456C",
            "AB123456E",
        ] {
            assert!(!nino(number.as_bytes()), "{number}");
        }
        for (proof, number) in [
            (german_tax as Proof, "00000000000"),
            (bsn, "000000000"),
            (cpf, "11111111111"),
            (sin, "000000000"),
            (aadhaar, "000000000000"),
        ] {
            assert!(!proof(number.as_bytes()), "{number}");
        }
    }
}
