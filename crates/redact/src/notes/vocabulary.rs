//! The vocabulary: the build script makes a table of the lists in `vocabulary.txt`.
//!
//! The table has hashes of 32 bits and no text: two words are mistaken for each other once in a
//! million.

use crate::notes::hash;

/// A class of words that the code depends on, and not only the points. Its value is the number of
/// the class in `vocabulary.txt`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum WordClass {
    Password = 0,
    Secret = 1,
    Code = 2,
    /// Actions with a code.
    Act = 3,
    /// Things that a code opens.
    Thing = 4,
    Pin = 5,
    Otp = 6,
    Card = 7,
    Answer = 9,
    Recovery = 10,
    Opens = 11,
    /// Things that one logs in to.
    Account = 12,
    Login = 13,
    Equals = 16,
    Fill = 18,
    /// Words beside a number that opens nothing: pins of a board, places to deliver to.
    Elsewhere = 22,
    /// Digits in words, and ways to turn a dial.
    Spoken = 28,
}

/// Number of classes.
pub(super) const CLASSES: usize = 29;

/// A set of classes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Classes(pub(super) u32);

impl Classes {
    /// Classes of words that announce a secret nearby.
    pub(super) const LABELS: Self = Self::of(&[
        WordClass::Password,
        WordClass::Pin,
        WordClass::Code,
        WordClass::Otp,
        WordClass::Card,
        WordClass::Answer,
        WordClass::Recovery,
        WordClass::Login,
        WordClass::Secret,
        WordClass::Act,
        WordClass::Thing,
        WordClass::Opens,
        WordClass::Account,
    ]);
    /// Labels that announce a secret by themselves.
    pub(super) const STRONG: Self =
        Self(Self::LABELS.0 & !Self::of(&[WordClass::Thing, WordClass::Account]).0);
    /// Words between a label and its value that say nothing.
    pub(super) const EMPTY: Self = Self::of(&[WordClass::Fill, WordClass::Equals]);

    pub(super) const fn of(classes: &[WordClass]) -> Self {
        let (mut bits, mut at) = (0, 0);
        while at < classes.len() {
            bits |= 1 << classes[at] as u8;
            at += 1;
        }
        Self(bits)
    }

    pub(super) const fn has(self, class: WordClass) -> bool {
        self.0 >> class as u8 & 1 != 0
    }

    pub(super) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the number of each class in the set.
    pub(super) fn numbers(self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let next = (left != 0).then(|| left.trailing_zeros() as usize);
            left &= left.wrapping_sub(1);
            next
        })
    }
}

/// A table of numbers and what belongs to each. The seed of its bucket gives every number a place
/// of its own, so one look tells whether it is there.
pub(super) struct NumberTable<T: 'static> {
    pub(super) seeds: &'static [u8],
    /// The number at each place, and 0 where there is none.
    pub(super) places: &'static [(u32, T)],
}

impl<T: Copy + Default> NumberTable<T> {
    /// Returns what belongs to a number, which is not 0.
    pub(super) fn get(&self, number: u32) -> T {
        let seed = self.seeds[hash::place(number, self.seeds.len())];
        let (there, value) = self.places[hash::place_with(number, seed, self.places.len())];
        if there == number { value } else { T::default() }
    }
}

/// Longest ending of a word behind its stem, in characters.
const ENDING_CHARS_MAX: usize = 6;
/// Longest entry that stands inside a word, in characters.
const PART_CHARS_MAX: usize = 16;
/// Number of characters of a long word at which entries inside it are looked up.
const WORD_CHARS_MAX: usize = 40;

/// The forms of an entry in a word. The number goes into the hash of the entry.
const WHOLE: u32 = 0;
const STEM: u32 = 1;
const LAST_PART: u32 = 2;
const PART: u32 = 3;

include!(concat!(env!("OUT_DIR"), "/vocabulary.rs"));

/// Returns the classes of an entry.
fn look_up(hash: u32, form: u32) -> u32 {
    let number = hash::feature(0, hash, form, 0).max(1);
    if is_set(&ENTRY_BITS, number) {
        ENTRIES.get(number)
    } else {
        0
    }
}

/// Returns the classes of a word in lower case, and its hash.
pub(super) fn classes(lower: &str) -> (Classes, u32) {
    let bytes = lower.as_bytes();
    let mut left = lower.chars().count();
    let (mut bits, mut hash) = (0, hash::SEED);
    let ends = |at: usize| bytes.get(at).is_none_or(|b| is_first(*b));
    let whole = left;
    for (at, byte) in bytes.iter().enumerate() {
        hash = hash::add(hash, *byte);
        if ends(at + 1) {
            left -= 1;
            if left <= ENDING_CHARS_MAX && left + 2 <= whole {
                bits |= look_up(hash, STEM);
            }
        }
    }
    bits |= look_up(hash, WHOLE);
    let firsts = (0..bytes.len()).filter(|at| is_first(bytes[*at]));
    for at in firsts.take(WORD_CHARS_MAX) {
        if !is_head(&bytes[at..]) {
            continue;
        }
        let (mut hash, mut chars) = (hash::SEED, 0);
        for (at, byte) in bytes.iter().enumerate().skip(at) {
            hash = hash::add(hash, *byte);
            if ends(at + 1) {
                bits |= look_up(hash, PART);
                if at + 1 == bytes.len() {
                    bits |= look_up(hash, LAST_PART);
                }
                chars += 1;
                if chars == PART_CHARS_MAX {
                    break;
                }
            }
        }
    }
    (Classes(bits), hash)
}

/// Tells whether a byte is the first of a character.
fn is_first(byte: u8) -> bool {
    byte & 0xC0 != 0x80
}

/// Tells whether the bit of a hash is set.
fn is_set(bits: &[u64], hash: u32) -> bool {
    let bit = hash::place(hash, bits.len() * 64);
    bits[bit / 64] >> (bit % 64) & 1 != 0
}

/// Tells whether an entry may begin as a text does, by its first bytes.
fn is_head(text: &[u8]) -> bool {
    let (head, fourth) = match text {
        [one, two, three, four, ..] => ([*one, *two, *three], 1 << (four & 7)),
        [one, two, three] => ([*one, *two, *three], u8::MAX),
        [one, two] => ([*one, *two, 0], u8::MAX),
        _ => return false,
    };
    PART_HEADS[hash::part_head(head)] & fourth != 0
}

/// Returns the number of the first phrase that begins with a word, or `u16::MAX` for none.
pub(super) fn first_phrase(word: u32) -> u16 {
    let begins = is_set(&PHRASE_HEADS, word);
    let first = || PHRASES.partition_point(|phrase| phrase.first < word);
    let first = begins
        .then(first)
        .filter(|at| PHRASES.get(*at).is_some_and(|phrase| phrase.first == word));
    first.map_or(u16::MAX, |at| u16::try_from(at).expect("some thousands"))
}

/// Returns the phrases that begin with a word, from the first one on. Each has the hashes of the
/// words behind it, and the classes of the whole. The last word may have an ending where it is a
/// stem.
pub(super) fn phrases(first: u16, word: u32) -> impl Iterator<Item = &'static Phrase> {
    let phrases = PHRASES.iter().skip(usize::from(first));
    phrases.take_while(move |phrase| phrase.first == word)
}

/// Several words that mean something together.
pub(super) struct Phrase {
    first: u32,
    pub(super) rest: &'static [u32],
    pub(super) classes: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_has_the_classes_of_its_entries() {
        for (word, class) in [
            ("passwords", WordClass::Password),
            ("routerkennwort", WordClass::Password),
            ("padlock", WordClass::Thing),
            ("密码是", WordClass::Password),
            ("лозинке", WordClass::Password),
        ] {
            assert!(classes(word).0.has(class), "{word}");
        }
        // A part of a word that means something else is no label.
        for word in [
            "passenger",
            "director",
            "report",
            "clock",
            "mapping",
            "decoder",
            "nobody",
            "unsafe",
            "einfach",
            "selskap",
            "trauma",
            "gateway",
        ] {
            assert!(!classes(word).0.meets(Classes::LABELS), "{word}");
        }
        // An entry that ends a word is none in the middle of one.
        assert!(classes("aktenschrank").0.has(WordClass::Thing));
        assert!(!classes("schranken").0.has(WordClass::Thing));
    }

    #[test]
    fn the_file_has_the_classes_in_their_order() {
        let file = include_str!("vocabulary.txt");
        let named = file
            .lines()
            .filter_map(|line| line.strip_prefix('[')?.strip_suffix(']'));
        let order: Vec<&str> = named.collect();
        assert_eq!(order.len(), CLASSES);
        for (name, class) in [
            ("password", WordClass::Password),
            ("secret", WordClass::Secret),
            ("code", WordClass::Code),
            ("act", WordClass::Act),
            ("thing", WordClass::Thing),
            ("pin", WordClass::Pin),
            ("otp", WordClass::Otp),
            ("card", WordClass::Card),
            ("answer", WordClass::Answer),
            ("recovery", WordClass::Recovery),
            ("opens", WordClass::Opens),
            ("account", WordClass::Account),
            ("login", WordClass::Login),
            ("equals", WordClass::Equals),
            ("fill", WordClass::Fill),
            ("elsewhere", WordClass::Elsewhere),
            ("spoken", WordClass::Spoken),
        ] {
            assert_eq!(order[class as usize], name);
        }
    }
}
