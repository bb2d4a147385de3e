//! Payment card numbers (ISO/IEC 7812): the ranges and lengths of the networks, the Luhn check
//! digit, the groups in print.

use std::ops::Range;

use crate::checksum::luhn;
use crate::personal::edge::{
    Gap, beside, closes, dashed, digit_at, gap, gap_before, opens, run_end,
};

/// The kind of these findings.
pub(super) const KIND: &str = "credit-card";
/// Most digits of a card number.
const DIGITS_MAX: usize = 19;
/// Most groups of a card number.
const GROUPS_MAX: usize = 5;
/// Digits of an issuer identification number, as the ranges below give it.
const ISSUER_LENGTH: usize = 6;
/// Digits of old Visa numbers, and also of bar codes (EAN-13). In one piece they count only beside
/// a word for a card.
const BARCODE_LENGTH: usize = 13;
/// The usual length of a card number. Longer ones in one piece count only beside a word for a card.
const LONGEST_IN_ONE_PIECE: usize = 16;
/// Most digits of a telephone number after `+` (E.164).
const PHONE_DIGITS_MAX: usize = 15;

/// Words for a card.
const WORDS: &[&str] = crate::lists::CARD_WORDS;

/// A range of issuer identification numbers and the lengths of card numbers in it.
pub(super) struct Network {
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) lengths: &'static [usize],
}

const fn network(first: u32, last: u32, lengths: &'static [usize]) -> Network {
    Network {
        first,
        last,
        lengths,
    }
}

const SIXTEEN: &[usize] = &[16];
const SIXTEEN_UP: &[usize] = &[16, 17, 18, 19];
const FOURTEEN_UP: &[usize] = &[14, 15, 16, 17, 18, 19];
const THIRTEEN_UP: &[usize] = &[13, 14, 15, 16, 17, 18, 19];

/// The networks, as each publishes them for those who accept its cards.
#[rustfmt::skip]
pub(super) const NETWORKS: &[Network] = &[
    network(400_000, 499_999, &[13, 16, 19]),  // Visa; Elo and Dankort use some of it too
    network(510_000, 559_999, SIXTEEN),        // Mastercard
    network(222_100, 272_099, SIXTEEN),        // Mastercard, the 2-series
    network(340_000, 349_999, &[15]),          // American Express
    network(370_000, 379_999, &[15]),          // American Express
    network(601_100, 601_199, SIXTEEN_UP),     // Discover
    network(644_000, 649_999, SIXTEEN_UP),     // Discover
    network(650_000, 659_999, SIXTEEN_UP),     // Discover, RuPay, Troy, Elo, Verve
    network(352_800, 358_999, SIXTEEN_UP),     // JCB; RuPay uses 353 and 356 too
    network(300_000, 305_999, FOURTEEN_UP),    // Diners Club
    network(309_500, 309_599, FOURTEEN_UP),    // Diners Club
    network(360_000, 369_999, FOURTEEN_UP),    // Diners Club
    network(380_000, 399_999, FOURTEEN_UP),    // Diners Club; Hipercard uses 3841
    network(620_000, 629_999, SIXTEEN_UP),     // UnionPay
    network(810_000, 817_199, SIXTEEN_UP),     // UnionPay, RuPay
    network(220_000, 220_499, SIXTEEN_UP),     // Mir
    network(220_500, 220_599, SIXTEEN),        // Borica
    network(501_800, 501_899, THIRTEEN_UP),    // Maestro
    network(501_900, 501_999, SIXTEEN),        // Dankort
    network(502_000, 502_099, THIRTEEN_UP),    // Maestro
    network(503_800, 503_899, THIRTEEN_UP),    // Maestro
    network(506_000, 506_098, SIXTEEN),        // Carnet
    network(506_099, 506_198, &[16, 18, 19]),  // Verve
    network(506_199, 506_499, SIXTEEN),        // Carnet
    network(506_699, 506_778, SIXTEEN),        // Elo
    network(507_803, 507_964, &[16, 18, 19]),  // Meeza, Verve
    network(508_000, 508_999, SIXTEEN),        // RuPay
    network(509_000, 509_999, SIXTEEN),        // Elo
    network(561_200, 561_499, SIXTEEN),        // UzCard
    network(589_300, 589_399, THIRTEEN_UP),    // Maestro
    network(589_562, 589_562, SIXTEEN),        // Naranja
    network(600_000, 601_099, SIXTEEN),        // RuPay
    network(601_200, 609_999, SIXTEEN),        // RuPay, Ukrcart, Cabal, Hipercard
    network(630_400, 630_499, THIRTEEN_UP),    // Maestro
    network(636_000, 636_999, SIXTEEN_UP),     // Elo, InterPayment
    network(637_000, 639_999, SIXTEEN),        // InstaPayment, Hipercard
    network(670_600, 670_999, SIXTEEN_UP),     // Laser
    network(675_900, 675_999, THIRTEEN_UP),    // Maestro
    network(676_100, 676_399, THIRTEEN_UP),    // Maestro
    network(676_770, 676_774, THIRTEEN_UP),    // Maestro in the United Kingdom
    network(817_200, 829_999, SIXTEEN),        // RuPay
    network(860_000, 860_099, SIXTEEN),        // UzCard
    network(979_200, 979_299, SIXTEEN),        // Troy
    network(986_000, 986_099, SIXTEEN),        // Humo
];

/// The groups in which card numbers are printed and typed. Numbers of one group are not listed.
#[rustfmt::skip]
pub(super) const GROUPINGS: &[&[usize]] = &[
    &[4, 3, 3, 3], &[4, 4, 5],                                           // 13
    &[4, 6, 4], &[4, 4, 4, 2],                                           // 14
    &[4, 6, 5], &[4, 4, 4, 3], &[5, 5, 5],                               // 15
    &[4, 4, 4, 4], &[8, 8], &[6, 10], &[4, 4, 8],                        // 16
    &[4, 4, 4, 5], &[4, 4, 4, 4, 1],                                     // 17
    &[4, 4, 4, 6], &[4, 4, 4, 4, 2], &[6, 6, 6],                         // 18
    &[4, 4, 4, 4, 3], &[4, 4, 4, 7], &[6, 13],                           // 19
];

/// Groups of digits with gaps of one sort between them.
struct CardGroups {
    digits: [u8; DIGITS_MAX],
    lengths: [usize; GROUPS_MAX],
    /// The end of each group, behind its last byte.
    ends: [usize; GROUPS_MAX],
    count: usize,
    gap: Option<Gap>,
}

/// Returns the card number whose first digit stands at `at`, the first of a run of digits.
pub(super) fn find(text: &[u8], at: usize) -> Option<Range<usize>> {
    if text[at] == b'0' || !(opens(text, at) || on_track(text, at)) {
        return None;
    }
    // A fraction: `.4207057519934676`.
    let before = text[..at].strip_suffix(b".");
    if before.is_some_and(|before| !before.last().is_some_and(u8::is_ascii_alphabetic)) {
        return None;
    }
    if !matches!(run_end(text, at) - at, 4..=6 | 8 | 13..=DIGITS_MAX) {
        return None;
    }
    let groups = read(text, at);
    (1..=groups.count)
        .rev()
        .find(|count| groups.form_card(text, at, *count))
        .map(|count| at..groups.ends[count - 1])
}

/// Tells whether the number follows `%B`, as on the first track of a magnetic stripe (ISO/IEC
/// 7813).
fn on_track(text: &[u8], at: usize) -> bool {
    text[..at].ends_with(b"%B") && text.get(run_end(text, at)) == Some(&b'^')
}

fn read(text: &[u8], start: usize) -> CardGroups {
    let mut groups = CardGroups {
        digits: [0; DIGITS_MAX],
        lengths: [0; GROUPS_MAX],
        ends: [0; GROUPS_MAX],
        count: 0,
        gap: None,
    };
    let (mut at, mut total) = (start, 0);
    while groups.count < GROUPS_MAX {
        let end = run_end(text, at);
        let length = end - at;
        if total + length > DIGITS_MAX {
            break;
        }
        groups.digits[total..total + length].copy_from_slice(&text[at..end]);
        total += length;
        groups.lengths[groups.count] = length;
        groups.ends[groups.count] = end;
        groups.count += 1;
        match gap(text, end) {
            Some((gap, length))
                if digit_at(text, end + length) && groups.gap.is_none_or(|g| g == gap) =>
            {
                groups.gap = Some(gap);
                at = end + length;
            }
            _ => break,
        }
    }
    groups
}

impl CardGroups {
    /// Tells whether the first `count` groups are a card number.
    fn form_card(&self, text: &[u8], start: usize, count: usize) -> bool {
        let lengths = &self.lengths[..count];
        let digits = &self.digits[..lengths.iter().sum()];
        let end = self.ends[count - 1];
        (count == 1 || GROUPINGS.contains(&lengths))
            && issued(digits)
            && digits.iter().any(|d| *d != digits[0])
            && luhn(digits)
            && closes(text, end)
            && !dashed(text, start, end)
            && !(digits.len() <= PHONE_DIGITS_MAX && text[..start].ends_with(b"+"))
            && !(count > 1 && in_a_row(text, start, end) && !named(text, start, end))
            && (count > 1 || !doubtful(digits.len()) || named(text, start, end))
            && !(count == 1 && in_an_array(text, start, end) && !named(text, start, end))
            && (!ends_name(text, start) || named(text, start, end))
    }
}

/// Tells whether a number is the end of a name: `Object-2423529879879875`.
fn ends_name(text: &[u8], start: usize) -> bool {
    matches!(text[..start], [.., before, b'-'] if before.is_ascii_alphabetic())
}

/// Tells whether so many digits in one piece are more often something else: a bar code, or a number
/// of 64 bits, of which one in ten passes for a card.
fn doubtful(digits: usize) -> bool {
    digits == BARCODE_LENGTH || digits > LONGEST_IN_ONE_PIECE
}

/// Tells whether a network issues numbers of this length in this range.
fn issued(digits: &[u8]) -> bool {
    let Some(issuer) = digits.first_chunk::<ISSUER_LENGTH>() else {
        return false;
    };
    let issuer = issuer.iter().fold(0, |n, d| n * 10 + u32::from(d - b'0'));
    NETWORKS.iter().any(|network| {
        (network.first..=network.last).contains(&issuer) && network.lengths.contains(&digits.len())
    })
}

fn named(text: &[u8], start: usize, end: usize) -> bool {
    beside(text, start, end, WORDS)
}

/// Tells whether a number stands alone on its line, with a comma, next to such a line with a number
/// of no card, as in an array of a program.
fn in_an_array(text: &[u8], start: usize, end: usize) -> bool {
    let item = |line: &[u8]| {
        let digits = line.trim_ascii().strip_suffix(b",")?;
        let number = digits.len() >= BARCODE_LENGTH && digits.iter().all(u8::is_ascii_digit);
        number.then(|| !(issued(digits) && luhn(digits)))
    };
    let begin = memchr::memrchr(b'\n', &text[..start]).map_or(0, |at| at + 1);
    let stop = memchr::memchr(b'\n', &text[end..]).map_or(text.len(), |at| end + at);
    if item(&text[begin..stop]).is_none() {
        return false;
    }
    let above = text[..begin.saturating_sub(1)]
        .rsplit(|b| *b == b'\n')
        .next();
    let below = text
        .get(stop + 1..)
        .and_then(|rest| rest.split(|b| *b == b'\n').next());
    [above, below]
        .into_iter()
        .flatten()
        .filter_map(item)
        .any(|other| other)
}

/// Tells whether groups of four decimal or hexadecimal digits go on after a space on either side,
/// as in a table of numbers.
fn in_a_row(text: &[u8], start: usize, end: usize) -> bool {
    let cell = |group: &[u8]| {
        group.len() == 4
            && group.iter().all(u8::is_ascii_hexdigit)
            && group.iter().any(u8::is_ascii_digit)
    };
    let left = gap_before(text, start).is_some_and(|(_, length)| {
        let end = start - length;
        end >= 4 && cell(&text[end - 4..end]) && opens(text, end - 4)
    });
    let right = gap(text, end).is_some_and(|(_, length)| {
        let start = end + length;
        text.get(start..start + 4).is_some_and(cell) && closes(text, start + 4)
    });
    left || right
}
