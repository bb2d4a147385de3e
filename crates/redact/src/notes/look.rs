//! The look of a word: a number, a plain word, or a word in a form that people give to passwords.

/// A group of words that are made of the same characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Group {
    Digits2,
    Digits3,
    Digits4,
    Digits6,
    Digits8,
    Digits9,
    /// Digits with marks that part them: `12-34-56`.
    DigitGroups,
    /// A date, a time or a version.
    Date,
    /// Letters in lower case, and digits: `mittens4ever`.
    LowerDigits,
    /// Letters in both cases, and digits: `Bramble2011`.
    MixedDigits,
    /// Letters in upper case, and digits: `C4829Y`.
    UpperDigits,
    /// A word with a mark that seldom stands inside one: `Rod&Serling`.
    Marked,
    /// Several words with joiners, and digits: `red-candle-138`.
    JoinedDigits,
    /// Several words with joiners: `clay-day-May`.
    Joined,
    /// Several words in camel case: `ThreeGreenBottles`.
    Camel,
    Lower,
    Capital,
    Upper,
    /// Letters of a script without cases.
    Foreign,
    /// Several words with slashes: `Zebra/Canyon/19`.
    Slashed,
    /// A URL, an address, code.
    Other,
    /// Seven or more hexadecimal digits.
    Hex,
    /// Several words with blanks, in quotes or behind a label.
    Phrase,
    /// A number said or turned a digit at a time: `four nine two`, `left 12, right 40`.
    Spoken,
}

/// Number of groups.
pub(super) const GROUPS: usize = Group::Spoken as usize + 1;

/// A coarser sort than [`Group`], for the features of the words around.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Sort {
    Number,
    Odd,
    Words,
    Plain,
    Other,
}

/// The look of a word.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    pub(super) group: Group,
    /// The bucket of its length.
    pub(super) length: u8,
    /// A bit for each trait, in the order of `Facts::traits`.
    pub(super) traits: u32,
}

/// Bits of [`Look::traits`] that not only the features use.
const UNDERSCORE: u32 = 1 << 10;
const YEAR: u32 = 1 << 22;
const CALL: u32 = 1 << 28;

impl Look {
    pub(super) fn sort(self) -> Sort {
        use Group::{
            Camel, Capital, Date, DigitGroups, Digits2, Digits3, Digits4, Digits6, Digits8,
            Digits9, Foreign, Hex, Joined, JoinedDigits, Lower, LowerDigits, Marked, MixedDigits,
            Other, Phrase, Slashed, Spoken, Upper, UpperDigits,
        };
        match self.group {
            Digits2 | Digits3 | Digits4 | Digits6 | Digits8 | Digits9 | DigitGroups | Date
            | Spoken => Sort::Number,
            LowerDigits | MixedDigits | UpperDigits | Marked | JoinedDigits | Hex => Sort::Odd,
            Joined | Camel | Phrase | Slashed => Sort::Words,
            Lower | Capital | Upper | Foreign => Sort::Plain,
            Other => Sort::Other,
        }
    }

    /// Returns the look of several words that are one.
    pub(super) fn of_several(group: Group, chars: usize) -> Self {
        Self {
            group,
            length: length(chars),
            traits: 0,
        }
    }

    pub(super) fn is_number(self) -> bool {
        self.sort() == Sort::Number
    }

    /// Tells whether it is a year of this century or the one before, or looks like it.
    pub(super) fn is_year(self) -> bool {
        self.traits & YEAR != 0
    }

    /// Tells whether code and paths are full of such words.
    pub(super) fn is_technical(self) -> bool {
        matches!(self.group, Group::Other | Group::Camel | Group::Slashed)
            || self.traits & (UNDERSCORE | CALL) != 0
    }
}

/// Tells whether a character is a digit of a script that people write codes in.
pub(super) fn is_digit(c: char) -> bool {
    matches!(c, '0'..='9' | '٠'..='٩' | '۰'..='۹' | '०'..='९' | '๐'..='๙' | '０'..='９')
}

/// Counts of the kinds of characters in a word.
#[derive(Default)]
struct CharCount {
    chars: usize,
    digits: usize,
    lower: usize,
    upper: usize,
    /// Letters of scripts without cases.
    caseless: usize,
    marks: usize,
    joiners: usize,
    other: usize,
    /// A bit for each ASCII character that is there, except letters.
    ascii: u128,
}

impl CharCount {
    fn of(word: &str) -> Self {
        let mut count = Self::default();
        for c in word.chars() {
            count.chars += 1;
            match c {
                'a'..='z' => count.lower += 1,
                'A'..='Z' => count.upper += 1,
                _ if is_digit(c) => count.digits += 1,
                '-' | '_' | '.' | '\'' | '’' => count.joiners += 1,
                '!' | '@' | '#' | '$' | '%' | '&' | '*' | '+' | '?' | '~' | '^' | '=' => {
                    count.marks += 1;
                }
                _ if c.is_lowercase() => count.lower += 1,
                _ if c.is_uppercase() => count.upper += 1,
                _ if c.is_alphabetic() => count.caseless += 1,
                _ => count.other += 1,
            }
            if c.is_ascii() && !c.is_ascii_alphabetic() {
                count.ascii |= 1 << u32::from(c);
            }
        }
        count
    }

    /// Tells whether one of these ASCII characters is there.
    fn has(&self, any: &[u8]) -> bool {
        any.iter().any(|b| self.ascii >> b & 1 != 0)
    }

    fn letters(&self) -> usize {
        self.lower + self.upper + self.caseless
    }
}

/// Tells whether a word is an e-mail address: its host begins with a letter.
fn is_address(word: &str) -> bool {
    word.split_once('@').is_some_and(|(name, host)| {
        let part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-');
        !name.is_empty()
            && host.contains('.')
            && host.chars().all(part)
            && host.starts_with(char::is_alphabetic)
    })
}

/// Tells whether a word is a date: numbers, and the marks that separate them.
fn is_date(word: &str, count: &CharCount) -> bool {
    if count.letters() > 0 || count.marks > 0 || count.digits < 3 {
        return false;
    }
    let parts = || word.split(['/', '.', '-']);
    let marks = |mark| word.matches(mark).count();
    let parted = marks('/') >= 1 && count.other <= 2 || marks('.') == 2 || marks('-') == 2;
    // `41-07-63` may be the combination of a lock.
    let combination = marks('-') > 0 && parts().all(|part| part.len() <= 3);
    parted
        && !combination
        && parts().all(|part| part.len() <= 4 && part.bytes().all(|b| b.is_ascii_digit()))
}

/// Returns the bucket of a length in characters.
fn length(chars: usize) -> u8 {
    match chars {
        0..=3 => 0,
        4..=5 => 1,
        6..=7 => 2,
        8..=9 => 3,
        10..=12 => 4,
        13..=16 => 5,
        17..=24 => 6,
        _ => 7,
    }
}

/// Tells whether a word is a date with its time: `20210509T004242Z`, `2021-05-09T00:42`.
fn is_date_time(bytes: &[u8]) -> bool {
    bytes.iter().position(|b| *b == b'T').is_some_and(|at| {
        let digits = bytes[..at].iter().filter(|b| b.is_ascii_digit()).count();
        digits == 8
            && bytes[..at].iter().all(|b| b.is_ascii_digit() || *b == b'-')
            && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)
    })
}

/// Returns the look of a word.
pub(super) fn look(word: &str) -> Look {
    let bytes = word.as_bytes();
    // For most words the bytes alone tell.
    let (first, rest) = bytes.split_first().unwrap_or((&b' ', &[]));
    if first.is_ascii_alphabetic() && rest.iter().all(u8::is_ascii_lowercase) {
        let capital = first.is_ascii_uppercase();
        let traits = u32::from(capital)
            | u32::from(capital && rest.is_empty()) << 26
            | u32::from(bytes.len() >= 8) << 31;
        let group = if capital {
            Group::Capital
        } else {
            Group::Lower
        };
        return Look {
            group,
            length: length(bytes.len()),
            traits,
        };
    }
    let facts = Facts::of(word);
    Look {
        group: facts.group(),
        length: length(facts.count.chars),
        traits: facts.traits(),
    }
}

/// Facts about a word that are asked for more than once.
#[allow(clippy::struct_excessive_bools)] // each is asked alone
struct Facts<'a> {
    word: &'a str,
    count: CharCount,
    humps: bool,
    is_url: bool,
    is_mail: bool,
    is_time: bool,
    is_date: bool,
    is_version: bool,
    is_hex: bool,
    has_path: bool,
    has_call: bool,
}

impl<'a> Facts<'a> {
    fn of(word: &'a str) -> Self {
        let bytes = word.as_bytes();
        let count = CharCount::of(word);
        let version = word.trim_start_matches(['v', 'V']);
        Self {
            humps: count.lower > 0
                && count.upper > 0
                && (word.chars().zip(word.chars().skip(1)))
                    .any(|(one, next)| one.is_lowercase() && next.is_uppercase()),
            is_url: count.has(b":") && word.contains("://")
                || word.starts_with("www.")
                || word.starts_with("http"),
            is_mail: count.has(b"@") && is_address(word),
            is_time: count.digits >= 2
                && count.has(b":")
                && bytes.iter().all(|b| b.is_ascii_digit() || *b == b':'),
            is_date: is_date(word, &count) || count.upper > 0 && is_date_time(bytes),
            is_version: count.digits > 0
                && count.has(b".")
                && version.bytes().all(|b| b.is_ascii_digit() || b == b'.'),
            is_hex: count.chars >= 7
                && count.letters() > 0
                && count.digits > 0
                && bytes.iter().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')),
            has_path: count.has(b"/\\"),
            has_call: count.has(b"({<[]"),
            word,
            count,
        }
    }

    fn parts(&self) -> impl DoubleEndedIterator<Item = &'a str> + use<'a> {
        self.word.split(['-', '_', '.', '\''])
    }

    fn traits(&self) -> u32 {
        let (word, count, bytes) = (self.word, &self.count, self.word.as_bytes());
        let letters = count.letters();
        let last = bytes.last().copied().unwrap_or(0);
        let digits_last = bytes
            .iter()
            .rev()
            .take_while(|b| b.is_ascii_digit())
            .count();
        let digits_first = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
        let end = || self.parts().next_back().unwrap_or_default();
        let parts = if count.joiners > 0 {
            self.parts().count()
        } else {
            1
        };
        let is_host = count.marks == 0
            && count.upper == 0
            && count.has(b".")
            && (2..=5).contains(&end().len())
            && end().bytes().all(|b| b.is_ascii_alphabetic())
            && self.parts().all(|part| !part.is_empty());
        let is_leet = count.digits > 0
            && count.lower > 0
            && bytes.windows(3).any(|w| {
                w[0].is_ascii_alphabetic() && w[1].is_ascii_digit() && w[2].is_ascii_lowercase()
            });
        let few = (1..=3).contains(&letters);
        let year = word.starts_with("19") || word.starts_with("20");
        let traits = [
            word.starts_with(char::is_uppercase),
            self.humps,
            digits_last >= 1 && letters > 0,
            digits_last >= 2,
            digits_last == 4,
            is_leet,
            count.marks > 0,
            count.marks > 0 && matches!(last, b'!' | b'?'),
            count.joiners > 0,
            count.has(b"-"),
            count.has(b"_"),
            count.has(b"."),
            self.is_url,
            self.is_mail,
            is_host,
            count.has(b".") && (1..=4).contains(&end().len()),
            self.is_version,
            self.is_time,
            self.is_date,
            // A number with its unit, and a model number.
            digits_first > 0 && few && digits_first + letters == count.chars,
            digits_last > 0 && few && letters + digits_last == count.chars,
            self.is_hex,
            count.chars == 4 && count.digits == 4 && year,
            count.other > 0,
            self.has_path,
            bytes.first().is_some_and(|b| b"#@$+-~.".contains(b)),
            count.upper > 0 && count.lower == 0,
            letters >= 3 && count.digits > 0 && count.marks > 0,
            self.has_call,
            parts >= 3,
            parts >= 2
                && self
                    .parts()
                    .all(|part| part.starts_with(char::is_uppercase)),
            letters >= 8,
        ];
        let traits = traits.iter().enumerate();
        traits.fold(0, |bits, (at, has)| bits | u32::from(*has) << at)
    }

    fn is_slashed(&self) -> bool {
        self.count.has(b"/")
            && self.word.matches('/').count() == self.count.other
            && self.count.marks == 0
            && self.word.split('/').all(|part| !part.is_empty())
    }

    fn group(&self) -> Group {
        let (count, letters) = (&self.count, self.count.letters());
        let several = || self.parts().filter(|part| !part.is_empty()).count() > 1;
        if self.is_url || self.is_mail || count.digits == 0 && letters == 0 {
            Group::Other
        } else if self.is_time || self.is_date || self.is_version {
            Group::Date
        } else if letters == 0 {
            number(count, self.word.as_bytes())
        } else if self.is_slashed() {
            Group::Slashed
        } else if count.other > 0 && (self.has_path || self.has_call) && count.marks == 0 {
            Group::Other
        } else if self.is_hex {
            Group::Hex
        } else if count.marks > 0 || count.other > 0 {
            Group::Marked
        } else if count.joiners > 0 && count.digits > 0 {
            Group::JoinedDigits
        } else if count.joiners > 0 && several() {
            Group::Joined
        } else if count.digits > 0 {
            match (count.lower + count.caseless, count.upper) {
                (0, _) => Group::UpperDigits,
                (_, 0) => Group::LowerDigits,
                _ => Group::MixedDigits,
            }
        } else if count.lower + count.upper == 0 {
            Group::Foreign
        } else if self.humps {
            Group::Camel
        } else if count.lower == 0 && count.chars > 1 {
            Group::Upper
        } else if self.word.starts_with(char::is_uppercase) {
            Group::Capital
        } else {
            Group::Lower
        }
    }
}

/// Returns the group of a word without letters.
fn number(count: &CharCount, bytes: &[u8]) -> Group {
    let plain = count.joiners == 0
        && count.other == 0
        && (count.marks == 0
            || bytes
                .iter()
                .all(|b| b.is_ascii_digit() || b"#*".contains(b)));
    if plain {
        match count.digits {
            1 | 2 => Group::Digits2,
            3 => Group::Digits3,
            4 => Group::Digits4,
            5 | 6 => Group::Digits6,
            7 | 8 => Group::Digits8,
            _ => Group::Digits9,
        }
    } else if count.joiners > 0 && count.marks == 0 && count.other == 0 {
        Group::DigitGroups
    } else if count.other > 0 {
        Group::Other
    } else {
        Group::Marked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_of_the_group_that_its_characters_make() {
        for (word, group) in [
            ("4471", Group::Digits4),
            ("#4490", Group::Digits4),
            ("41-07-63", Group::DigitGroups),
            ("2026-11-25", Group::Date),
            ("mittens4ever", Group::LowerDigits),
            ("C4829Y", Group::UpperDigits),
            ("Rod&Serling", Group::Marked),
            ("red-candle-138", Group::JoinedDigits),
            ("clayday-May", Group::Joined),
            ("ThreeGreenBottles", Group::Camel),
            ("a1b2c3d4e5", Group::Hex),
            ("jo@example.org", Group::Other),
            ("src/main.rs", Group::Slashed),
            ("/etc/hosts", Group::Other),
            ("密码", Group::Foreign),
        ] {
            assert_eq!(look(word).group, group, "{word}");
        }
    }
}
