//! Numbers that a state gives to a person: their shapes, the words for them, their check digits.

use std::ops::Range;

use super::edge::{beside, closes, dashed, opens, run_end};
use super::proof;

/// Most characters of a number without its gaps.
const LENGTH_MAX: usize = 16;

/// A number of one country in one spelling.
struct Number {
    kind: &'static str,
    /// `9` a digit, `A` an upper-case letter, `a` a letter of either case; all else is itself.
    shape: &'static [u8],
    /// Bytes of the shape before its first digit.
    lead: usize,
    /// Digits that follow each other from there: a run of digits must have just as many.
    run: usize,
    /// Words, one of which must stand near; none if the shape and its proof are enough.
    words: &'static [&'static str],
    /// What the characters must pass.
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
    number("us-ssn", b"999-99-9999", &[], proof::ssn),
    number("us-ssn", b"999 99 9999", SSN, proof::ssn),
    number("us-ssn", b"999999999", SSN, proof::ssn),
    number("uk-nino", b"AA 99 99 99 A", &[], proof::nino),
    number("uk-nino", b"AA 999999 A", NINO, proof::nino),
    number("uk-nino", b"aa999999a", NINO, proof::nino),
    number("es-dni", b"99999999A", &[], proof::dni),
    number("es-dni", b"99999999-A", &[], proof::dni),
    number("es-dni", b"99.999.999-A", &[], proof::dni),
    number("es-dni", b"A9999999A", &[], proof::dni),
    number("es-dni", b"A-9999999-A", &[], proof::dni),
    number("fr-nir", b"9 99 99 99 999 999 99", &[], proof::nir),
    number("fr-nir", b"9 99 99 9A 999 999 99", &[], proof::nir),
    number("fr-nir", b"9999999999999 99", &[], proof::nir),
    number("fr-nir", b"999999999999999", &[], proof::nir),
    number("fr-nir", b"999999A99999999", &[], proof::nir),
    number("de-tax-id", b"99999999999", GERMAN_TAX, proof::german_tax),
    number("de-tax-id", b"99 999 999 999", GERMAN_TAX, proof::german_tax),
    number("it-codice-fiscale", b"aaaaaa99a99a999a", &[], proof::codice_fiscale),
    number("pl-pesel", b"99999999999", PESEL, proof::pesel),
    number("nl-bsn", b"999999999", BSN, proof::bsn),
    number("nl-bsn", b"9999.99.999", BSN, proof::bsn),
    number("nl-bsn", b"999 999 999", BSN, proof::bsn),
    number("br-cpf", b"999.999.999-99", &[], proof::cpf),
    number("br-cpf", b"99999999999", CPF, proof::cpf),
    number("in-aadhaar", b"999999999999", AADHAAR, proof::aadhaar),
    number("in-aadhaar", b"9999 9999 9999", AADHAAR, proof::aadhaar),
    number("in-aadhaar", b"9999-9999-9999", AADHAAR, proof::aadhaar),
    number("ca-sin", b"999999999", SIN, proof::sin),
    number("ca-sin", b"999 999 999", SIN, proof::sin),
    number("ca-sin", b"999-999-999", SIN, proof::sin),
];

/// The number whose first digit stands at `at`, the first of a run of digits.
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
