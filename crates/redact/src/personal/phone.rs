//! Telephone numbers: international ones after `+` (ITU-T E.164), North American ones in their own
//! form (NANP), and any national form beside a word that says telephone.

use std::ops::Range;

use crate::personal::address::quad;
use crate::personal::edge::{
    closes, dashed, digit_at, digit_before, gap, gap_before, opens, run_end, starts_word,
};

/// The kind of these findings.
pub(super) const KIND: &str = "phone";

/// Fewest digits of an international number, country code included.
const INTERNATIONAL_DIGITS_MIN: usize = 8;
/// Fewest digits of an international number in one piece: shorter ones are sums and differences.
const UNGROUPED_DIGITS_MIN: usize = 9;
/// Fewest digits of a national number.
const NATIONAL_DIGITS_MIN: usize = 7;
/// Most digits of any number.
const DIGITS_MAX: usize = 15;
/// Most groups of a number.
const GROUPS_MAX: usize = 8;
/// Most bytes between two groups.
const JOINER_LENGTH_MAX: usize = 4;
/// Most bytes between a word and its number.
const REACH: usize = 24;

/// Most digits of numbers in the countries where the length is fixed, so that a number after it
/// stays.
#[rustfmt::skip]
const COUNTRY_DIGITS_MAX: &[(&str, usize)] = &[
    ("1", 11), ("7", 11), ("20", 12), ("27", 11), ("30", 12), ("31", 11), ("32", 11), ("33", 11),
    ("34", 11), ("39", 13), ("41", 11), ("44", 12), ("45", 10), ("46", 12), ("47", 10), ("48", 11),
    ("49", 13), ("52", 13), ("55", 13), ("60", 12), ("61", 11), ("62", 14), ("63", 12), ("64", 12),
    ("65", 10), ("66", 11), ("81", 12), ("82", 12), ("86", 13), ("90", 12), ("91", 12), ("92", 12),
    ("351", 12), ("353", 12), ("354", 10), ("358", 13), ("380", 12), ("420", 12), ("421", 12),
    ("852", 11), ("886", 12), ("966", 12), ("971", 12), ("972", 12),
];

/// Words for a telephone, in lower case, and in both cases where that matters.
const WORDS: &[&str] = crate::lists::PHONE_WORDS;

/// Words that may stand between a word for a telephone and its number.
const FILLERS: &[&str] = crate::lists::PHONE_FILLERS;

/// Groups of digits, with any separators of telephone numbers between them.
struct PhoneGroups {
    digits: [u8; DIGITS_MAX],
    /// The number of digits up to the end of each group.
    totals: [usize; GROUPS_MAX],
    /// The end of each group, behind its last byte.
    ends: [usize; GROUPS_MAX],
    count: usize,
    /// Set if nothing but single spaces stands between the groups.
    spaced: bool,
}

/// Returns the number whose first digit stands at `at`, the first of a run of digits.
pub(super) fn find(text: &[u8], at: usize) -> Option<Range<usize>> {
    let start = at - usize::from(text[..at].ends_with(b"("));
    let plus = start - usize::from(text[..start].ends_with(b"+"));
    if plus == start && !opens(text, start) {
        return None;
    }
    if quad(text, at).is_some_and(|(_, end)| closes(text, end)) {
        return None;
    }
    if plus < start {
        return international(text, plus, at);
    }
    let groups = read(text, start, at)?;
    american(text, start, &groups).or_else(|| national(text, start, &groups))
}

fn international(text: &[u8], plus: usize, at: usize) -> Option<Range<usize>> {
    let glued =
        plus > 0 && matches!(text[plus - 1], b if b.is_ascii_alphanumeric() || b"+_)".contains(&b));
    if glued || !assigned(&text[at..]) {
        return None;
    }
    let groups = read(text, plus, at)?;
    let most = COUNTRY_DIGITS_MAX
        .iter()
        .find(|(code, _)| groups.digits.starts_with(code.as_bytes()))
        .map_or(DIGITS_MAX, |(_, most)| *most);
    let count = (1..=groups.count)
        .rev()
        .find(|count| groups.totals[count - 1] <= most)?;
    let total = groups.totals[count - 1];
    let end = groups.ends[count - 1];
    let least = if count == 1 {
        UNGROUPED_DIGITS_MIN
    } else {
        INTERNATIONAL_DIGITS_MIN
    };
    let american = groups.digits[0] != b'1'
        || (total == 11 && groups.digits[1] >= b'2' && groups.digits[4] >= b'2');
    (total >= least
        && american
        && !groups.date(count)
        && !groups.thousands(count)
        && ends(text, end))
    .then_some(plus..end)
}

/// Tells whether a country code begins like this.
fn assigned(digits: &[u8]) -> bool {
    !matches!(
        digits,
        [b'0', ..]
            | [b'2', b'1', b'0' | b'4' | b'5' | b'7' | b'9', ..]
            | [b'2', b'8', ..]
            | [b'8', b'3' | b'9', ..]
    )
}

fn american(text: &[u8], start: usize, groups: &PhoneGroups) -> Option<Range<usize>> {
    let (count, area, exchange) = match groups.totals[..groups.count] {
        [3, 6, 10, ..] => (3, 0, 3),
        [1, 4, 7, 11, ..] if groups.digits[0] == b'1' => (4, 1, 4),
        _ => return None,
    };
    let end = groups.ends[count - 1];
    let valid = groups.digits[area] >= b'2' && groups.digits[exchange] >= b'2';
    let part = gap_before(text, start)
        .is_some_and(|(_, length)| digit_before(text, start - length) && text[start] != b'(');
    // `512/768/1024` is a list of three numbers.
    let listed = text[groups.ends[count - 2]] == b'/';
    (valid && !listed && !groups.spaced && !part && !dashed(text, start, end) && ends(text, end))
        .then_some(start..end)
}

fn national(text: &[u8], start: usize, groups: &PhoneGroups) -> Option<Range<usize>> {
    if groups.totals[groups.count - 1] < NATIONAL_DIGITS_MIN || !introduced(text, start) {
        return None;
    }
    (1..=groups.count)
        .rev()
        .find(|count| {
            groups.totals[count - 1] >= NATIONAL_DIGITS_MIN
                && !groups.date(*count)
                && ends(text, groups.ends[count - 1])
        })
        .map(|count| start..groups.ends[count - 1])
}

/// Tells whether a number may end at `at`. An extension after `x` may follow.
fn ends(text: &[u8], at: usize) -> bool {
    closes(text, at) || (text.get(at) == Some(&b'x') && digit_at(text, at + 1))
}

/// Reads the groups of the text at `start`, from its first digit at `at`.
fn read(text: &[u8], start: usize, at: usize) -> Option<PhoneGroups> {
    let mut groups = PhoneGroups {
        digits: [0; DIGITS_MAX],
        totals: [0; GROUPS_MAX],
        ends: [0; GROUPS_MAX],
        count: 0,
        spaced: start == at,
    };
    let (mut at, mut total) = (at, 0);
    while groups.count < GROUPS_MAX {
        let end = run_end(text, at);
        if total + (end - at) > DIGITS_MAX {
            break;
        }
        groups.digits[total..total + (end - at)].copy_from_slice(&text[at..end]);
        total += end - at;
        groups.totals[groups.count] = total;
        groups.ends[groups.count] = end;
        groups.count += 1;
        let Some(next) = join(text, end) else { break };
        groups.spaced &= next == end + 1 && text[end] == b' ';
        at = next;
    }
    (groups.count > 0).then_some(groups)
}

/// Returns the start of the next group behind the joiner at `at`: a few gaps, full stops, slashes
/// and brackets.
fn join(text: &[u8], at: usize) -> Option<usize> {
    let mut next = at;
    while next - at < JOINER_LENGTH_MAX && !digit_at(text, next) {
        next += match text.get(next)? {
            b'.' | b'/' | b'(' | b')' => 1,
            _ => gap(text, next)?.1,
        };
    }
    let doubled = matches!(&text[at..next], [a, b, ..] if a == b && *a != b'(' && a.is_ascii());
    (next > at && digit_at(text, next) && !doubled).then_some(next)
}

impl PhoneGroups {
    fn lengths(&self, count: usize) -> impl Iterator<Item = usize> {
        let before = std::iter::once(0).chain(self.totals);
        self.totals
            .into_iter()
            .zip(before)
            .take(count)
            .map(|(to, from)| to - from)
    }

    /// Tells whether the first `count` groups are a date, with or without a time after it.
    fn date(&self, count: usize) -> bool {
        let century = |at: usize| matches!(self.digits[at..at + 2], [b'1', b'9'] | [b'2', b'0']);
        let mut lengths = [0; 3];
        for (place, length) in lengths.iter_mut().zip(self.lengths(count)) {
            *place = length;
        }
        match lengths {
            [4, 1 | 2, 1 | 2] => century(0) || self.digits[0] == b'9',
            [5 | 6, 2, 2] => count <= 4 && self.digits[self.totals[0]] <= b'1',
            [1 | 2, 1 | 2, 4] => century(self.totals[1]),
            [8, ..] => century(0) && self.digits[4] <= b'1' && self.digits[6] <= b'3',
            _ => false,
        }
    }

    /// Tells whether the first `count` groups are a small number with separated thousands.
    fn thousands(&self, count: usize) -> bool {
        count > 1
            && self.totals[count - 1] <= 9
            && self.lengths(count).skip(1).all(|length| length == 3)
    }
}

/// Tells whether a word for a telephone stands before `start`, with only fillers between them.
fn introduced(text: &[u8], start: usize) -> bool {
    let mut head = &text[start.saturating_sub(REACH)..start];
    for _ in 0..4 {
        let joiners = head
            .iter()
            .rev()
            .take_while(|b| b" \t:=\"'`*_.-()|>,/".contains(b))
            .count();
        let wide = head.ends_with("：".as_bytes());
        head = &head[..head.len() - if wide { "：".len() } else { joiners }];
        if head.last().is_none_or(u8::is_ascii_digit) {
            return false;
        }
        if WORDS.iter().any(|word| ends_with_word(head, word)) {
            return true;
        }
        match FILLERS.iter().find(|word| ends_with_word(head, word)) {
            Some(word) => head = &head[..head.len() - word.len()],
            None if joiners == 0 && !wide => return false,
            None => {}
        }
    }
    false
}

fn ends_with_word(head: &[u8], word: &str) -> bool {
    let Some(at) = head.len().checked_sub(word.len()) else {
        return false;
    };
    let same = head[at..].eq_ignore_ascii_case(word.as_bytes());
    same && (starts_word(head, at) || ["number", "nummer", "num"].contains(&word))
}
