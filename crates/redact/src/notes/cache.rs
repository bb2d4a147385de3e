//! The facts about words, and the words read last.

use crate::notes::look::{Look, Sort, look};
use crate::notes::vocabulary::{self, Classes};
use crate::notes::weigh;

/// Shortest part of a joined word that is looked up, in bytes.
const PART_BYTES_MIN: usize = 2;

/// The facts about a word that its text alone decides.
#[derive(Clone, Copy)]
pub(super) struct WordFacts<'a> {
    text: &'a str,
    /// The first bytes of the word and the last ones, which are all that a word of up to 16 bytes has.
    ends: (u64, u64),
    pub(super) look: Look,
    pub(super) classes: Classes,
    pub(super) hash: u32,
    pub(super) phrase: u16,
    pub(super) term: u16,
}

/// The words read last, because most words of a text come again.
pub(super) struct WordCache<'a> {
    /// The facts at the place of each word. The text of a place without a word is empty.
    facts: Vec<WordFacts<'a>>,
    /// A word in lower case, kept to reuse its memory.
    lower: String,
}

impl<'a> WordCache<'a> {
    /// Most words that are kept: a power of two.
    const WORDS_MAX: usize = 2048;

    /// Makes a cache for a text of so many bytes.
    pub(super) fn new(bytes: usize) -> Self {
        let words = (bytes / 8).next_power_of_two().clamp(1, Self::WORDS_MAX);
        let nothing = WordFacts {
            text: "",
            ends: (0, 0),
            look: look(""),
            classes: Classes::default(),
            hash: 0,
            phrase: u16::MAX,
            term: 0,
        };
        Self {
            facts: vec![nothing; words],
            lower: String::new(),
        }
    }

    /// Returns the facts about a word.
    pub(super) fn facts(&mut self, word: &'a str) -> &WordFacts<'a> {
        let ends = ends(word.as_bytes());
        let mixed = ends.0 ^ ends.1.rotate_left(29) ^ word.len() as u64;
        let mixed = mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let place = (mixed >> 32) as usize & (self.facts.len() - 1);
        let facts = &self.facts[place];
        let known = facts.ends == ends
            && facts.text.len() == word.len()
            && (word.len() <= 16 || facts.text == word);
        if !known {
            self.facts[place] = self.read(word, ends);
        }
        &self.facts[place]
    }

    #[inline(never)] // keeps small what most words need
    fn read(&mut self, word: &'a str, ends: (u64, u64)) -> WordFacts<'a> {
        let look = look(word);
        self.lower.clear();
        let bare = word.trim_end_matches(['!', '?', '=']);
        if bare.is_ascii() {
            self.lower.push_str(bare);
            self.lower.make_ascii_lowercase();
        } else {
            let plain = bare.chars().flat_map(char::to_lowercase);
            self.lower
                .extend(plain.map(|c| if c == '’' { '\'' } else { c }));
        }
        let (mut classes, hash) = vocabulary::classes(&self.lower);
        if look.sort() == Sort::Words {
            for part in self.lower.split(['-', '_', '.', '\'', '/']) {
                if part.len() >= PART_BYTES_MIN && part.len() < self.lower.len() {
                    classes.0 |= vocabulary::classes(part).0.0 & Classes::LABELS.0;
                }
            }
        }
        WordFacts {
            text: word,
            ends,
            look,
            classes,
            hash,
            phrase: vocabulary::first_phrase(hash),
            term: weigh::term(hash),
        }
    }
}

/// Returns the first eight bytes of a word and the last eight, which may overlap, or all bytes of a shorter one.
fn ends(word: &[u8]) -> (u64, u64) {
    if let (Some(first), Some(last)) = (word.first_chunk(), word.last_chunk()) {
        return (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
    }
    if let (Some(first), Some(last)) = (word.first_chunk(), word.last_chunk()) {
        let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
        return (u64::from(first) | u64::from(last) << 32, 0);
    }
    (word.iter().fold(0, |all, b| all << 8 | u64::from(*b)), 0)
}
