//! The words that open the gate to names, and the word lists by which names and values are
//! recognised.

use std::ops::Range;

use crate::named::name::Strength;
use crate::notes::hash::head;

/// The words that open this gate, in lower case: whole names, or parts of names.
pub(crate) const WORDS: &[(&str, Strength)] = &[
    ("pass", Strength::Password),
    ("pwd", Strength::Password),
    ("pw", Strength::Password),
    ("psw", Strength::Password),
    ("mdp", Strength::Password),
    ("identified by", Strength::Password),
    ("secret", Strength::Secret),
    ("token", Strength::Secret),
    ("pat", Strength::Secret),
    ("key", Strength::Weak),
    ("cred", Strength::Login),
    ("auth", Strength::Weak),
    ("bearer", Strength::Weak),
    ("dsn", Strength::Weak),
    ("salt", Strength::Weak),
    ("getconnection", Strength::Login),
    ("log in", Strength::Login),
    ("logs in", Strength::Login),
    ("convertto-securestring", Strength::Password),
    ("mysqli_connect", Strength::Login),
    ("mysql_connect", Strength::Login),
    ("signin", Strength::Login),
    ("sign_in", Strength::Login),
    ("login", Strength::Login),
    ("logon", Strength::Login),
    ("zugang", Strength::Login),
    ("pin", Strength::Pin),
    ("psk", Strength::Password),
    ("seed", Strength::Weak),
    ("encrypt", Strength::Weak),
    ("session", Strength::Weak),
    ("cookie", Strength::Weak),
];

/// Lists of whole words of other languages, and the strength of each list.
pub(super) const FOREIGN: [(List, Strength); 4] = [
    (FOREIGN_LOGIN, Strength::Login),
    (FOREIGN_PASSWORD, Strength::Password),
    (FOREIGN_SECRET, Strength::Secret),
    (FOREIGN_WEAK, Strength::Weak),
];

/// Returns the words of [`FOREIGN`], and the strength of each.
pub(crate) fn foreign_words() -> impl Iterator<Item = (&'static str, Strength)> {
    let words = |(list, strength): (List, _)| list.iter().map(move |word| (word, strength));
    FOREIGN.into_iter().flat_map(words)
}

/// A sorted list of words in lower case. The build script makes it from `words.txt`.
#[derive(Debug, Clone, Copy)]
pub(super) struct List {
    /// All words, without separators.
    text: &'static str,
    /// The end of each word.
    ends: &'static [u16],
    /// The [`head`] of each word.
    heads: &'static [u64],
}

include!(concat!(env!("OUT_DIR"), "/words.rs"));

impl List {
    fn range(self, at: usize) -> Range<usize> {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        usize::from(start)..usize::from(self.ends[at])
    }

    fn bytes(self, at: usize) -> &'static [u8] {
        &self.text.as_bytes()[self.range(at)]
    }

    pub(super) fn iter(self) -> impl Iterator<Item = &'static str> {
        (0..self.ends.len()).map(move |at| &self.text[self.range(at)])
    }
}

/// Tells whether a list holds a word, ignoring case.
pub(super) fn holds(list: List, word: &[u8]) -> bool {
    let head = head(word);
    let first = list.heads.partition_point(|there| *there < head);
    let alike = list.heads[first..]
        .iter()
        .take_while(|there| **there == head);
    let mut places = first..first + alike.count();
    places.any(|at| list.bytes(at).eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_holds_its_words_and_no_others() {
        for word in OF_SENTENCES.iter() {
            assert!(
                holds(OF_SENTENCES, word.to_uppercase().as_bytes()),
                "{word}"
            );
            assert!(
                !holds(OF_SENTENCES, format!("{word}~").as_bytes()),
                "{word}"
            );
        }
        assert!(!holds(UNITS, b""));
        assert!(holds(FILLERS, b"The") && !holds(FILLERS, b"th"));
    }
}
