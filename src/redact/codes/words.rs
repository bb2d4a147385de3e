//! The words around codes, from `words.toml`, and how a text is asked for them.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use serde::Deserialize;

/// The file of words.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    thing: String,
    opens: String,
    once: String,
    message: String,
    card: String,
    other: String,
    wiring: String,
    is: String,
    lead: String,
    still: String,
    joint: String,
    unit: String,
    asks: String,
    becomes: String,
    answer: String,
    speaks: String,
    and: String,
    act: String,
}

/// Lists of words, each for one question about what stands around a code.
pub(in crate::redact) struct Vocabulary {
    /// Things that a code opens.
    pub(in crate::redact) thing: List,
    /// Words of a label that say that a code opens something.
    pub(in crate::redact) opens: List,
    /// Words of a label that say that a code is for one login.
    pub(super) once: List,
    /// What stands near the code of a message.
    pub(super) message: List,
    /// Payment cards and banks.
    pub(in crate::redact) card: List,
    /// Words that make something else of a word for code.
    pub(in crate::redact) other: List,
    /// Sentences in which a pin is a part of a device.
    pub(in crate::redact) wiring: List,
    /// Words behind which a value stands.
    pub(super) is: List,
    /// Words that stand only before a value that follows at once.
    pub(super) lead: List,
    /// Words that may stand between those and the value.
    pub(super) still: List,
    /// Words that join the numbers of a flat and of its key.
    pub(super) joint: List,
    /// Words that make a measure of a number.
    pub(super) unit: List,
    /// Words that end a question without its mark.
    pub(super) asks: List,
    /// Words that put one code in place of another.
    pub(super) becomes: List,
    /// Words that begin an answer.
    pub(super) answer: List,
    /// First words of a text that is no answer.
    pub(super) speaks: List,
    /// Words that join an answer and what is said besides.
    pub(super) and: List,
    /// What is done with a code.
    pub(in crate::redact) act: List,
}

/// The words, read when first needed.
pub(in crate::redact) static WORDS: LazyLock<Vocabulary> = LazyLock::new(|| {
    let file: File = toml::from_str(include_str!("words.toml")).expect("the file is a table");
    Vocabulary {
        thing: List::new(&file.thing),
        opens: List::new(&file.opens),
        once: List::new(&file.once),
        message: List::new(&file.message),
        card: List::new(&file.card),
        other: List::new(&file.other),
        wiring: List::new(&file.wiring),
        is: List::new(&file.is),
        lead: List::new(&file.lead),
        still: List::new(&file.still),
        joint: List::new(&file.joint),
        unit: List::new(&file.unit),
        asks: List::new(&file.asks),
        becomes: List::new(&file.becomes),
        answer: List::new(&file.answer),
        speaks: List::new(&file.speaks),
        and: List::new(&file.and),
        act: List::new(&file.act),
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
pub(in crate::redact) struct List {
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
    pub(in crate::redact) fn is_in(&self, lower: &str) -> bool {
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
    pub(in crate::redact) fn begins(&self, lower: &str) -> bool {
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

    /// A word without those of scripts without blanks that end it.
    pub(super) fn without_end<'a>(&self, lower: &'a str) -> &'a str {
        let ends = self.words.iter().filter(|(_, form)| *form == Form::Part);
        ends.filter_map(|(word, _)| lower.strip_suffix(word.as_str()))
            .min_by_key(|rest| rest.len())
            .unwrap_or(lower)
    }
}

/// Whether a letter is of a script that sets no blanks between words: Thai, Chinese, Japanese, and
/// Korean, whose particles stand close.
pub(in crate::redact) fn is_joined(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{d7ff}')
        || matches!(c, '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffdc}')
}

/// The text from `at` on, no more than `most` bytes, up to what is no UTF-8.
pub(in crate::redact) fn ahead(text: &[u8], at: usize, most: usize) -> &str {
    let at = at.min(text.len());
    let there = &text[at..text.len().min(at.saturating_add(most))];
    match std::str::from_utf8(there) {
        Ok(there) => there,
        Err(e) => std::str::from_utf8(&there[..e.valid_up_to()]).unwrap_or_default(),
    }
}

/// The text before `at`, no more than `most` bytes, from what is UTF-8 on.
pub(in crate::redact) fn behind(text: &[u8], at: usize, most: usize) -> &str {
    let mut there = &text[at.saturating_sub(most)..at];
    loop {
        match std::str::from_utf8(there) {
            Ok(there) => return there,
            Err(e) => {
                there = &there
                    [e.valid_up_to() + e.error_len().unwrap_or(there.len() - e.valid_up_to())..];
            }
        }
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

    #[test]
    fn windows_hold_whole_characters() {
        let text = "aüb".as_bytes();
        assert_eq!((ahead(text, 0, 2), behind(text, 4, 2)), ("a", "b"));
        assert_eq!(behind(b"\xff\xffab", 4, 9), "ab");
    }
}
