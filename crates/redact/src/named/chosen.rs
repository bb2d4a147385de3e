//! Passwords as people choose them: words with a number or a mark, several words, phrases.

use crate::entropy::Makeup;
use crate::named::decide::Joint;
use crate::named::shape::{is_leet, is_words};
use crate::named::value::Frame;
use crate::named::words::{NO_VALUE, OF_CODE, OF_SENTENCES, TECHNICAL, UNITS, holds};

/// Marks that seldom stand inside a word of a sentence or of code.
const MARKS: &[u8] = b"!@#^&*+=?~|";
/// Marks that join words.
const JOINERS: &[u8] = b"-_.";

/// Most words of a password without blanks: nobody chooses more.
const WORDS_MAX: usize = 16;

/// The makeup of a value without blanks.
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // each is asked alone
pub(super) struct Made {
    pub(super) letters: usize,
    pub(super) digits: usize,
    /// Runs of letters. Each hump of camel case is a run of its own.
    pub(super) words: usize,
    /// The value has a letter in upper case.
    pub(super) capital: bool,
    /// The value has a letter in upper case past its first byte.
    pub(super) inner_capital: bool,
    pub(super) marks: usize,
    /// The value has a mark that is neither its first byte nor its last.
    pub(super) inner_mark: bool,
    pub(super) joiners: usize,
    /// The value has a byte that is no letter, digit, mark or joiner, or too many words.
    pub(super) other: bool,
    /// The value has a word of code or of sentences, a format or a unit.
    pub(super) common: bool,
    /// Length of the shortest word, in bytes.
    pub(super) shortest: usize,
}

impl Made {
    pub(super) fn of(value: &[u8]) -> Self {
        let mut made = Self {
            shortest: usize::MAX,
            ..Self::default()
        };
        let letter = |b: u8| b.is_ascii_alphabetic() || b >= 0x80;
        let mut start = None;
        for at in 0..=value.len() {
            let ends = value.get(at).is_none_or(|b| {
                let hump = at > 0 && b.is_ascii_uppercase() && value[at - 1].is_ascii_lowercase();
                !letter(*b) || hump
            });
            if ends && let Some(from) = start.take() {
                made.word(&value[from..at]);
            }
            let Some(&b) = value.get(at) else { break };
            match b {
                _ if letter(b) => {
                    made.letters += 1;
                    start = start.or(Some(at));
                    made.capital |= b.is_ascii_uppercase();
                    made.inner_capital |= b.is_ascii_uppercase() && at > 0;
                }
                b'0'..=b'9' => made.digits += 1,
                _ if MARKS.contains(&b) => {
                    made.marks += 1;
                    made.inner_mark |= at > 0 && at + 1 < value.len();
                }
                _ if JOINERS.contains(&b) => made.joiners += 1,
                _ => made.other = true,
            }
        }
        let lower = value.to_ascii_lowercase();
        let pieces = lower.split(|b| b"-_.+=@#&".contains(b));
        made.common |= pieces
            .clone()
            .any(|piece| holds(TECHNICAL, piece) || is_quantity(piece));
        made
    }

    fn word(&mut self, word: &[u8]) {
        self.words += 1;
        self.other |= self.words > WORDS_MAX;
        if self.other {
            return;
        }
        self.shortest = self.shortest.min(word.len());
        // A small word among others means nothing: `Summer_Of_69`.
        let small = word.len() <= 3 && self.capital && self.words > 1;
        self.common |= holds(OF_CODE, word) || holds(NO_VALUE, word);
        self.common |= holds(OF_SENTENCES, word) && !small;
    }
}

/// Tells whether a piece is a number and what it counts: `30days`, `24hours`, `3attempts`.
fn is_quantity(piece: &[u8]) -> bool {
    let digits = piece.iter().take_while(|b| b.is_ascii_digit()).count();
    let unit = &piece[digits..];
    digits > 0
        && (holds(UNITS, unit) || digits <= 3 && unit.len() >= 4)
        && unit.iter().all(u8::is_ascii_lowercase)
}

/// Tells whether a value without blanks is a password that a person chose. The less its joint says
/// that it is one, the more the value itself must show.
pub(super) fn is_chosen(value: &[u8], joint: Joint, frame: Frame) -> bool {
    if frame != Frame::Bare && is_plain_phrase(value, b'-') {
        return true;
    }
    let made = Made::of(value);
    if made.other || made.letters < 3 || versioned(value) || ticket(value) {
        return false;
    }
    if made.marks > 0 {
        return marked(value, &made, joint, frame);
    }
    if made.common {
        return false;
    }
    if made.digits == 0 {
        return joined(value, &made, joint, frame);
    }
    let telling = made.capital || made.digits >= 3 || made.words >= 2 && made.digits >= 2;
    let alone = frame != Frame::Bare;
    match joint {
        Joint::Said | Joint::Tight => telling || alone || made.digits >= 2,
        // Names in code may end in a digit.
        Joint::Assigned => {
            frame == Frame::Quoted
                || alone && (made.digits >= 2 || made.capital && made.joiners > 0)
        }
        Joint::Near => telling || made.letters >= 5 && (alone || made.digits >= 2),
        Joint::Prose => false,
    }
}

/// Tells whether words with a mark are a password: `Admin@123`, `Gewitter#31`, `Taube+Brief`.
fn marked(value: &[u8], made: &Made, joint: Joint, frame: Frame) -> bool {
    if refers_to_place(value) || value.starts_with(b"*") || value.starts_with(b"#") {
        return false;
    }
    let query = memchr::memchr(b'?', value).is_some_and(|at| at + 1 < value.len());
    if query || memchr::memmem::find(value, b"==").is_some() {
        return false;
    }
    if made.digits == 0 {
        let mark = made.inner_mark || made.inner_capital && frame != Frame::Bare;
        return mark && !made.common && !joint.is_sentence() && frame != Frame::Bare;
    }
    let telling = made.capital || made.digits >= 2;
    match joint {
        Joint::Prose => telling && !made.common,
        Joint::Near => telling || !made.common,
        Joint::Assigned => {
            frame != Frame::Bare && !(made.common && memchr::memchr(b'+', value).is_some())
        }
        Joint::Tight | Joint::Said => true,
    }
}

/// Tells whether a value has an `@` that no number of two or more digits follows: `user@host`,
/// `package@4`, `name@1.2`.
fn refers_to_place(value: &[u8]) -> bool {
    memchr::memchr(b'@', value).is_some_and(|at| {
        let rest = &value[at + 1..];
        let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        digits < 2 || rest.get(digits) == Some(&b'.')
    })
}

/// Tells whether several words without a number are a password: `gast-Zugang`, `Router-Neu-Start`,
/// `feucht-und-warm`.
fn joined(value: &[u8], made: &Made, joint: Joint, frame: Frame) -> bool {
    let fits = made.joiners > 0 && made.joiners < made.words && made.shortest >= 3;
    // In lower case they could be the name of something.
    let small = made.words >= 3 && made.letters >= 12 && !value.contains(&b'_');
    let said = matches!(joint, Joint::Tight | Joint::Said) && frame != Frame::Bare;
    let quoted = matches!(joint, Joint::Assigned | Joint::Near) && frame == Frame::Quoted;
    fits && (made.inner_capital && (said || quoted) || small && said)
}

/// Tells whether a value has a version or a date with dots: a digit, a dot and a digit.
fn versioned(value: &[u8]) -> bool {
    let dotted = |w: &[u8]| w[0].is_ascii_digit() && w[1] == b'.' && w[2].is_ascii_digit();
    value.windows(3).any(dotted)
}

/// Tells whether a value is the number of an issue: `OPS-1234`.
fn ticket(value: &[u8]) -> bool {
    let Some(dash) = memchr::memchr(b'-', value) else {
        return false;
    };
    let (project, number) = (&value[..dash], &value[dash + 1..]);
    project.iter().all(u8::is_ascii_uppercase) && number.iter().all(u8::is_ascii_digit)
}

/// Tells whether a value is ordinary words and a number, as people join them to passwords:
/// `red_candle_138`, `desert-glacier-tiger-57`. None of the words speaks of formats or of code.
pub(super) fn numbered_words(value: &[u8]) -> bool {
    let mut pieces: Vec<&[u8]> = value.split(|b| matches!(b, b'-' | b'_')).collect();
    let Some(number) = pieces.pop() else {
        return false;
    };
    let humps = value
        .windows(2)
        .filter(|w| w[0].is_ascii_lowercase() && w[1].is_ascii_uppercase())
        .count();
    (2..=4).contains(&number.len())
        && number.iter().all(u8::is_ascii_digit)
        && (pieces.len() >= 2 || (pieces.len() == 1 && humps >= 1))
        && pieces.iter().all(|piece| {
            piece.len() >= 3 && piece.iter().all(u8::is_ascii_alphabetic) && !holds(OF_CODE, piece)
        })
}

/// Tells whether words between blanks, in quotes or to the end of their line, are a passphrase:
/// they have digits or marks, or are no sentence.
pub(super) fn phrase(value: &[u8], spaces: usize, frame: Frame) -> bool {
    if frame != Frame::Quoted || spaces > 8 || matches!(value.last(), Some(b'.' | b':' | b'?')) {
        return false;
    }
    if is_plain_phrase(value, b' ') {
        return true;
    }
    if Makeup::of(value).digits == 0 {
        return false;
    }
    let telling = |word: &[u8]| {
        is_leet(word)
            || (word.len() >= 2
                && !is_words(word)
                && Makeup::of(word).classes() >= 2
                && word.iter().any(u8::is_ascii_digit))
    };
    let mut words = value.split(u8::is_ascii_whitespace);
    // `select 1` is a word and a number, no passphrase.
    let long = words
        .clone()
        .filter(|word| word.len() >= 3 && !word[0].is_ascii_digit());
    let several = long.clone().count() >= 2 || long.clone().any(|word| word.contains(&b'-'));
    value.len() >= 10 && words.clone().any(telling)
        || several && value.len() >= 8 && words.all(is_phrase_word)
}

/// Tells whether a word or number may be part of a phrase: no sentence or label would hold it.
fn is_phrase_word(word: &[u8]) -> bool {
    let letters = |b: &u8| b.is_ascii_alphabetic() || *b >= 0x80 || matches!(b, b'-' | b'\'');
    let number = word.iter().all(u8::is_ascii_digit) && word.len() <= 4;
    number
        || word.iter().all(letters)
            && word.len() >= 3
            && !holds(OF_SENTENCES, word)
            && !holds(OF_CODE, word)
            && !holds(UNITS, word)
}

/// Tells whether a value is four or more short words, none of which a sentence would hold.
pub(super) fn is_plain_phrase(value: &[u8], separator: u8) -> bool {
    let words: Vec<&[u8]> = value.split(|b| *b == separator).collect();
    (4..=12).contains(&words.len())
        && words.iter().all(|word| {
            (3..=10).contains(&word.len())
                && word.iter().all(u8::is_ascii_lowercase)
                && !holds(OF_SENTENCES, word)
        })
}

/// Tells whether a value is a phrase that its label promises, whatever its words: three or more,
/// none of which says where the phrase is or what it must be like.
pub(super) fn is_promised_phrase(value: &[u8]) -> bool {
    let mut words = value.split(u8::is_ascii_whitespace);
    let part = |b: &u8| b.is_ascii_alphanumeric() || *b >= 0x80 || b"-'!?.,".contains(b);
    let count = words.clone().count();
    (3..=16).contains(&count)
        && value.len() >= 12
        && words.all(|word| {
            !word.is_empty()
                && word.iter().all(part)
                && !holds(OF_SENTENCES, word)
                && !holds(OF_CODE, word)
        })
}
