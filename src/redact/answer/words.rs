//! The words around answers, from `words.toml`, and how a text is asked for them.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use serde::Deserialize;

use crate::redact::window::is_joined;

/// The file of words.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    is: String,
    answer: String,
    speaks: String,
    and: String,
}

/// Lists of words, each for one question about what stands around an answer.
pub(super) struct Vocabulary {
    /// Words behind which a value stands.
    pub(super) is: List,
    /// Words that begin an answer.
    pub(super) answer: List,
    /// First words of a text that is no answer.
    pub(super) speaks: List,
    /// Words that join an answer and what is said besides.
    pub(super) and: List,
}

/// The words, read when first needed.
pub(super) static WORDS: LazyLock<Vocabulary> = LazyLock::new(|| {
    let file: File = toml::from_str(include_str!("words.toml")).expect("the file is a table");
    Vocabulary {
        is: List::new(&file.is),
        answer: List::new(&file.answer),
        speaks: List::new(&file.speaks),
        and: List::new(&file.and),
    }
});

/// How much of a word must be the entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The whole word.
    Whole,
    /// The beginning of a word.
    Stem,
    /// Any part of a word.
    Part,
}

/// A list of words in lower case.
pub(super) struct List {
    found: AhoCorasick,
    words: Vec<(String, Form)>,
}

impl List {
    fn new(text: &str) -> Self {
        let entries = text.split([',', '\n']).map(str::trim);
        let words: Vec<(String, Form)> = entries
            .filter(|entry| !entry.is_empty())
            .map(|entry| {
                if let Some(part) = entry.strip_prefix('~') {
                    let whole = part.strip_suffix('.').unwrap_or(part);
                    return (whole.to_owned(), Form::Part);
                }
                match entry.strip_suffix('.') {
                    // Scripts without blanks between words have no whole ones.
                    Some(word) if word.starts_with(is_joined) => (word.to_owned(), Form::Part),
                    Some(word) => (word.to_owned(), Form::Whole),
                    None => (entry.to_owned(), Form::Stem),
                }
            })
            .collect();
        let found = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::NoncontiguousNFA))
            .build(words.iter().map(|(word, _)| word))
            .expect("a few thousand bytes of words");
        Self { found, words }
    }

    /// Whether one of the words stands in a text, which is in lower case.
    pub(super) fn is_in(&self, lower: &str) -> bool {
        self.found.find_overlapping_iter(lower).any(|hit| {
            let begins = !lower[..hit.start()].ends_with(char::is_alphanumeric);
            let ends = !lower[hit.end()..].starts_with(char::is_alphanumeric);
            match self.words[hit.pattern().as_usize()].1 {
                Form::Whole => begins && ends,
                Form::Stem => begins,
                Form::Part => true,
            }
        })
    }

    /// Whether a word is one of them, without any other before it.
    pub(super) fn begins(&self, lower: &str) -> bool {
        self.words.iter().any(|(word, form)| {
            lower.strip_prefix(word.as_str()).is_some_and(|rest| {
                *form != Form::Whole || !rest.starts_with(char::is_alphanumeric)
            })
        })
    }

    /// Whether a word is one of them and nothing else.
    pub(super) fn holds(&self, lower: &str) -> bool {
        self.words.iter().any(|(word, _)| word == lower)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stands_as_its_form_says() {
        let list = List::new("gate., alarm, ~tür, 门.");
        for text in ["the gate is", "alarms", "haustürcode", "大门口"] {
            assert!(list.is_in(text), "{text}");
        }
        for text in ["gateway", "malarm", "investigate", ""] {
            assert!(!list.is_in(text), "{text}");
        }
    }
}
