//! International bank account numbers (ISO 13616): the form of each country, and the check digits
//! of ISO/IEC 7064.

use std::ops::Range;

use crate::checksum::mod97;
use crate::personal::edge::{Gap, closes, gap, opens, run_end};

/// The kind of these findings.
pub(super) const KIND: &str = "iban";
/// Most characters of an IBAN.
const LENGTH_MAX: usize = 34;
/// Characters in a printed group.
const GROUP_LENGTH: usize = 4;

/// A country and the form of its account numbers: `n` digits, `a` letters, `c` either.
pub(super) type Country = (&'static [u8; 2], &'static [(usize, u8)]);

/// The IBAN registry of SWIFT; below it, countries that use IBANs without an entry there.
#[rustfmt::skip]
pub(super) const COUNTRIES: &[Country] = &[
    (b"AD", &[(8, b'n'), (12, b'c')]),
    (b"AE", &[(19, b'n')]),
    (b"AL", &[(8, b'n'), (16, b'c')]),
    (b"AT", &[(16, b'n')]),
    (b"AZ", &[(4, b'a'), (20, b'c')]),
    (b"BA", &[(16, b'n')]),
    (b"BE", &[(12, b'n')]),
    (b"BG", &[(4, b'a'), (6, b'n'), (8, b'c')]),
    (b"BH", &[(4, b'a'), (14, b'c')]),
    (b"BI", &[(23, b'n')]),
    (b"BR", &[(23, b'n'), (1, b'a'), (1, b'c')]),
    (b"BY", &[(4, b'c'), (4, b'n'), (16, b'c')]),
    (b"CH", &[(5, b'n'), (12, b'c')]),
    (b"CR", &[(18, b'n')]),
    (b"CY", &[(8, b'n'), (16, b'c')]),
    (b"CZ", &[(20, b'n')]),
    (b"DE", &[(18, b'n')]),
    (b"DJ", &[(23, b'n')]),
    (b"DK", &[(14, b'n')]),
    (b"DO", &[(4, b'c'), (20, b'n')]),
    (b"EE", &[(16, b'n')]),
    (b"EG", &[(25, b'n')]),
    (b"ES", &[(20, b'n')]),
    (b"FI", &[(14, b'n')]),
    (b"FK", &[(2, b'a'), (12, b'n')]),
    (b"FO", &[(14, b'n')]),
    (b"FR", &[(10, b'n'), (11, b'c'), (2, b'n')]),
    (b"GB", &[(4, b'a'), (14, b'n')]),
    (b"GE", &[(2, b'a'), (16, b'n')]),
    (b"GI", &[(4, b'a'), (15, b'c')]),
    (b"GL", &[(14, b'n')]),
    (b"GR", &[(7, b'n'), (16, b'c')]),
    (b"GT", &[(24, b'c')]),
    (b"HN", &[(4, b'a'), (20, b'n')]),
    (b"HR", &[(17, b'n')]),
    (b"HU", &[(24, b'n')]),
    (b"IE", &[(4, b'a'), (14, b'n')]),
    (b"IL", &[(19, b'n')]),
    (b"IQ", &[(4, b'a'), (15, b'n')]),
    (b"IS", &[(22, b'n')]),
    (b"IT", &[(1, b'a'), (10, b'n'), (12, b'c')]),
    (b"JO", &[(4, b'a'), (4, b'n'), (18, b'c')]),
    (b"KW", &[(4, b'a'), (22, b'c')]),
    (b"KZ", &[(3, b'n'), (13, b'c')]),
    (b"LB", &[(4, b'n'), (20, b'c')]),
    (b"LC", &[(4, b'a'), (24, b'c')]),
    (b"LI", &[(5, b'n'), (12, b'c')]),
    (b"LT", &[(16, b'n')]),
    (b"LU", &[(3, b'n'), (13, b'c')]),
    (b"LV", &[(4, b'a'), (13, b'c')]),
    (b"LY", &[(21, b'n')]),
    (b"MC", &[(10, b'n'), (11, b'c'), (2, b'n')]),
    (b"MD", &[(20, b'c')]),
    (b"ME", &[(18, b'n')]),
    (b"MK", &[(3, b'n'), (10, b'c'), (2, b'n')]),
    (b"MN", &[(16, b'n')]),
    (b"MR", &[(23, b'n')]),
    (b"MT", &[(4, b'a'), (5, b'n'), (18, b'c')]),
    (b"MU", &[(4, b'a'), (19, b'n'), (3, b'a')]),
    (b"NI", &[(4, b'a'), (20, b'n')]),
    (b"NL", &[(4, b'a'), (10, b'n')]),
    (b"NO", &[(11, b'n')]),
    (b"OM", &[(3, b'n'), (16, b'c')]),
    (b"PK", &[(4, b'a'), (16, b'c')]),
    (b"PL", &[(24, b'n')]),
    (b"PS", &[(4, b'a'), (21, b'c')]),
    (b"PT", &[(21, b'n')]),
    (b"QA", &[(4, b'a'), (21, b'c')]),
    (b"RO", &[(4, b'a'), (16, b'c')]),
    (b"RS", &[(18, b'n')]),
    (b"RU", &[(14, b'n'), (15, b'c')]),
    (b"SA", &[(2, b'n'), (18, b'c')]),
    (b"SC", &[(4, b'a'), (20, b'n'), (3, b'a')]),
    (b"SD", &[(14, b'n')]),
    (b"SE", &[(20, b'n')]),
    (b"SI", &[(15, b'n')]),
    (b"SK", &[(20, b'n')]),
    (b"SM", &[(1, b'a'), (10, b'n'), (12, b'c')]),
    (b"SO", &[(19, b'n')]),
    (b"ST", &[(21, b'n')]),
    (b"SV", &[(4, b'a'), (20, b'n')]),
    (b"TL", &[(19, b'n')]),
    (b"TN", &[(20, b'n')]),
    (b"TR", &[(6, b'n'), (16, b'c')]),
    (b"UA", &[(6, b'n'), (19, b'c')]),
    (b"VA", &[(18, b'n')]),
    (b"VG", &[(4, b'a'), (16, b'n')]),
    (b"XK", &[(16, b'n')]),
    (b"YE", &[(4, b'a'), (4, b'n'), (18, b'c')]),
    // Not in the registry.
    (b"AO", &[(21, b'n')]),
    (b"BF", &[(2, b'c'), (22, b'n')]),
    (b"BJ", &[(2, b'c'), (22, b'n')]),
    (b"CF", &[(23, b'n')]),
    (b"CG", &[(23, b'n')]),
    (b"CI", &[(2, b'c'), (22, b'n')]),
    (b"CM", &[(23, b'n')]),
    (b"CV", &[(21, b'n')]),
    (b"DZ", &[(22, b'n')]),
    (b"GA", &[(23, b'n')]),
    (b"GQ", &[(23, b'n')]),
    (b"GW", &[(2, b'c'), (19, b'n')]),
    (b"IR", &[(22, b'n')]),
    (b"KM", &[(23, b'n')]),
    (b"MA", &[(24, b'n')]),
    (b"MG", &[(23, b'n')]),
    (b"ML", &[(2, b'c'), (22, b'n')]),
    (b"MZ", &[(21, b'n')]),
    (b"NE", &[(2, b'c'), (22, b'n')]),
    (b"SN", &[(2, b'c'), (22, b'n')]),
    (b"TD", &[(23, b'n')]),
    (b"TG", &[(2, b'c'), (22, b'n')]),
];

/// Returns the IBAN whose check digits stand at `at`, the first of a run of digits.
pub(super) fn find(text: &[u8], at: usize) -> Option<Range<usize>> {
    let start = at.checked_sub(2)?;
    let (_, form) = country([text[start], text[start + 1]])?;
    if run_end(text, at) < at + 2 || !opens(text, start) {
        return None;
    }
    let length = 4 + form.iter().map(|(count, _)| count).sum::<usize>();
    let mut characters = [0; LENGTH_MAX];
    let end = read(text, start, &mut characters[..length])?;
    let (head, body) = characters[..length].split_at(4);
    let rearranged = body.iter().chain(head).copied();
    (follows(body, form) && one_case(head, body) && mod97(rearranged) == Some(1))
        .then_some(start..end)
        .filter(|_| closes(text, end))
}

fn country(code: [u8; 2]) -> Option<&'static Country> {
    if !code.iter().all(u8::is_ascii_alphabetic) {
        return None;
    }
    let upper = code.map(|b| b.to_ascii_uppercase());
    COUNTRIES.iter().find(|(name, _)| **name == upper)
}

/// Fills `out` with the characters from `start`, which stand in one piece or in groups of a
/// multiple of four with gaps of one sort. Returns their end.
fn read(text: &[u8], start: usize, out: &mut [u8]) -> Option<usize> {
    let (mut at, mut sort): (usize, Option<Gap>) = (start, None);
    for (index, character) in out.iter_mut().enumerate() {
        if index > 0
            && index % GROUP_LENGTH == 0
            && let Some((gap, length)) = gap(text, at)
        {
            if sort.is_some_and(|sort| sort != gap) {
                return None;
            }
            sort = Some(gap);
            at += length;
        }
        *character = *text.get(at).filter(|b| b.is_ascii_alphanumeric())?;
        at += 1;
    }
    let grouped_lower = sort.is_some() && out[0].is_ascii_lowercase();
    (!grouped_lower).then_some(at)
}

fn follows(body: &[u8], form: &[(usize, u8)]) -> bool {
    let mut rest = body;
    form.iter().all(|(count, sort)| {
        let (part, after) = rest.split_at(*count);
        rest = after;
        part.iter().all(|b| match sort {
            b'n' => b.is_ascii_digit(),
            b'a' => b.is_ascii_alphabetic(),
            _ => true,
        })
    })
}

fn one_case(head: &[u8], body: &[u8]) -> bool {
    let mut letters = head.iter().chain(body).filter(|b| b.is_ascii_alphabetic());
    let upper = head[0].is_ascii_uppercase();
    letters.all(|b| b.is_ascii_uppercase() == upper)
}
