//! What a code looks like, and what beside it shows that it is something else.

use super::words::{WORDS, is_joined};

/// Most digits of a code.
const DIGITS_MAX: usize = 8;
/// Longest word that is read behind a code, in bytes.
const WORD_BYTES_MAX: usize = 48;

/// A code as it stands in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::redact) struct Value {
    /// Where it ends.
    pub(in crate::redact) end: usize,
    pub(in crate::redact) digits: usize,
    pub(in crate::redact) letters: usize,
    /// Whether `#` or `*` stands around it.
    pub(in crate::redact) marked: bool,
    /// How many groups of digits or letters it has.
    pub(in crate::redact) groups: usize,
}

/// The value of a decimal digit of any script that has its own.
pub(super) fn digit(c: char) -> Option<u32> {
    const ZEROS: [u32; 8] = [0x30, 0x660, 0x6f0, 0x966, 0x9e6, 0xe50, 0xe66, 0xff10];
    let code = u32::from(c);
    ZEROS
        .iter()
        .find_map(|zero| code.checked_sub(*zero).filter(|value| *value < 10))
}

/// The end of the run of fitting characters at `at`, and how many they are.
fn run(text: &str, at: usize, fits: impl Fn(char) -> bool) -> (usize, usize) {
    let mut count = 0;
    for (i, c) in text[at..].char_indices() {
        if !fits(c) {
            return (at + i, count);
        }
        count += 1;
    }
    (text.len(), count)
}

/// Reads digits, perhaps in groups, perhaps between `#` and `*`, at `at`.
pub(in crate::redact) fn digits(text: &str, at: usize) -> Option<Value> {
    let is_digit = |c: char| digit(c).is_some();
    let is_mark = |c: char| matches!(c, '#' | '*');
    let (start, marks) = run(text, at, is_mark);
    let (mut end, first) = run(text, start, is_digit);
    if marks > 2 || !(1..=DIGITS_MAX).contains(&first) {
        return None;
    }
    let mut value = Value {
        end,
        digits: first,
        letters: 0,
        marked: marks > 0,
        groups: 1,
    };
    // The flat, the key, its code.
    if first <= 3
        && let Some(joined) = joint(text, end)
    {
        let (after, count) = run(text, joined, is_digit);
        if (3..=6).contains(&count) {
            return Some(Value {
                end: after,
                digits: first + count,
                groups: 2,
                ..value
            });
        }
    }
    for separator in [' ', '-'] {
        while text[end..].starts_with(separator) {
            let (after, count) = run(text, end + 1, is_digit);
            let fits = match separator {
                // Two numbers beside one another are one code if they are alike.
                ' ' => count == first && (1..=4).contains(&count),
                _ => (1..=4).contains(&count),
            };
            if !fits || value.digits + count > DIGITS_MAX {
                break;
            }
            (end, value.digits, value.groups) = (after, value.digits + count, value.groups + 1);
        }
        // Digits one by one are four and more: `4 0 7 1`.
        if first == 1 && separator == ' ' && (2..4).contains(&value.groups) {
            return None;
        }
        if value.groups > 1 {
            break;
        }
    }
    let (after, marks) = run(text, end, is_mark);
    if marks <= 2 {
        (end, value.marked) = (after, value.marked || marks > 0);
    }
    value.end = end;
    (!is_date(&text[start..end], value.groups)).then_some(value)
}

/// The place of the number behind a word that joins two.
fn joint(text: &str, at: usize) -> Option<usize> {
    let rest = text[at..].strip_prefix(' ')?;
    let (word, number) = rest.split_once(' ')?;
    let known = word.len() <= WORD_BYTES_MAX && WORDS.joint.holds(word);
    known.then(|| text.len() - number.len())
}

/// Whether three groups are a day with its year of four digits.
fn is_date(text: &str, groups: usize) -> bool {
    let mut lengths = text.split('-').map(str::len);
    let first = lengths.next().unwrap_or(0);
    groups == 3 && (first == 4 || lengths.next_back() == Some(4))
}

/// Reads letters and digits of ASCII, in one group or two, with at least one of each.
pub(in crate::redact) fn mixed(text: &str, at: usize) -> Option<Value> {
    let part = |c: char| c.is_ascii_alphanumeric();
    let (mut end, first) = run(text, at, part);
    let mut groups = 1;
    if (2..=4).contains(&first) && text[end..].starts_with('-') {
        let (after, count) = run(text, end + 1, part);
        if !(2..=4).contains(&count) {
            return None;
        }
        (end, groups) = (after, 2);
    } else if !(4..=DIGITS_MAX).contains(&first) {
        return None;
    }
    let whole = &text[at..end];
    let count = |fits: fn(&u8) -> bool| whole.bytes().filter(fits).count();
    let (digits, letters) = (count(u8::is_ascii_digit), count(u8::is_ascii_alphabetic));
    let (lower, upper) = (count(u8::is_ascii_lowercase), count(u8::is_ascii_uppercase));
    // `1200px`
    let number = whole.trim_start_matches(|c: char| c.is_ascii_digit());
    if number.len() == letters && number.len() <= 3 && lower > 0 {
        return None;
    }
    let plain = digits > 0 && letters > 0 && (lower == 0 || upper == 0) && digits + letters >= 5;
    plain.then_some(Value {
        end,
        digits,
        letters,
        marked: false,
        groups,
    })
}

/// Whether what stands before a code leaves it one: no sign of money, no path, no part of a number.
pub(in crate::redact) fn begins(before: &str) -> bool {
    let mut back = before.chars().rev();
    match back.next() {
        None => true,
        Some(':') => back.next().is_none_or(|c| digit(c).is_none()),
        // `G-482913`
        Some('-') => match (back.next(), back.next()) {
            (Some(' ' | '-'), _) => true,
            (Some('G'), before) => before.is_none_or(|c| !c.is_alphanumeric()),
            _ => false,
        },
        Some(c) if c.is_alphanumeric() => is_joined(c) && digit(c).is_none(),
        Some(c) => !"._,/$€£¥₹₽+@\\%&#*<{[~^\u{1}".contains(c),
    }
}

/// Whether what stands behind a code leaves it one: no unit, no part of a longer number.
pub(in crate::redact) fn ends(after: &str) -> bool {
    let mut ahead = after.chars();
    let (first, second) = (ahead.next(), ahead.next());
    let number = second.is_some_and(|c| digit(c).is_some());
    match first {
        None => return true,
        Some('.' | ',' | ':' | '/' | '\'' | '’') if number => return false,
        Some(
            '-' | '/' | '@' | '_' | '=' | '\\' | '(' | '[' | '{' | '+' | '~' | '^' | '>' | '%'
            | '€' | '$' | '£' | '₽' | '₴' | '°',
        ) => return false,
        Some('.') if second.is_some_and(char::is_alphabetic) => return false,
        Some(c) if c.is_alphanumeric() && !is_joined(c) => return false,
        _ => {}
    }
    let rest = after.trim_start_matches([' ', '\u{a0}']);
    let mut end = rest.len().min(WORD_BYTES_MAX);
    while !rest.is_char_boundary(end) {
        end -= 1;
    }
    let word = rest[..end].to_lowercase();
    let sign = word.starts_with(['%', '€', '$', '£', '×', '₽', '₴', '=', '+']);
    // A decimal digit or `x` makes a sum or a size of it.
    !sign && !WORDS.unit.begins(&word)
}

/// Whether digits could be a year.
pub(in crate::redact) fn is_year(text: &str) -> bool {
    text.len() == 4 && (text.starts_with("19") || text.starts_with("20"))
}

/// Whether digits stand in for a code: all the same, or one climb.
pub(in crate::redact) fn stands_in(text: &str) -> bool {
    let all: Vec<u32> = text.chars().filter_map(digit).collect();
    let letters = text.bytes().any(|b| b.is_ascii_alphabetic());
    let same = all.windows(2).all(|pair| pair[0] == pair[1]);
    let climbs = all.windows(2).all(|pair| (pair[0] + 1) % 10 == pair[1]);
    !letters && all.len() >= 4 && (same || climbs)
        || text.bytes().all(|b| matches!(b, b'X' | b'x' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_read_whole() {
        for (text, code) in [
            ("2580, then", "2580"),
            ("#1975* x", "#1975*"),
            ("418 520", "418 520"),
            ("70-14-52.", "70-14-52"),
            ("4471 30 days", "4471"),
            ("٥٨١٣ فقط", "٥٨١٣"),
            ("29 kulcs 4471", "29 kulcs 4471"),
            ("４４７１", "４４７１"),
        ] {
            let value = digits(text, 0).expect(text);
            assert_eq!(&text[..value.end], code);
        }
        for text in ["2024-05-12", "12-05-2024", "123456789", "###1", "a"] {
            let read = digits(text, 0).filter(|value| ends(&text[value.end..]));
            assert_eq!(read, None, "{text}");
        }
    }

    #[test]
    fn letters_and_digits_are_one_code() {
        let read = |text: &str| mixed(text, 0).map(|value| value.end);
        assert_eq!(read("XKW-9PD hurry"), Some(7));
        assert_eq!(read("7KX92Q."), Some(6));
        for text in ["login", "482913", "Ab3dE", "AUTH-19321", "a1"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn what_stands_beside_a_number_tells() {
        for after in [
            " seconds",
            "%",
            ".5",
            ":30",
            " 円",
            "円です",
            "-x",
            "px",
            " €",
            "/12",
        ] {
            assert!(!ends(after), "{after}");
        }
        for after in ["", ".", ", then", "'tür", "です", " and"] {
            assert!(ends(after), "{after}");
        }
        for before in ["$", "v1.", "+", "Q-", "ab", "10:"] {
            assert!(!begins(before), "{before}");
        }
        for before in ["", " ", "G-", "は", ": "] {
            assert!(begins(before), "{before}");
        }
    }
}
