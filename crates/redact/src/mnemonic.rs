//! Seed phrases of wallets: 12 to 24 words of BIP-39's English list.
//!
//! A phrase whose checksum holds is found wherever it stands; behind a label it needs no checksum.
//! The words may be numbered, quoted, on one line or on many.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use bip39::{Language, Mnemonic};

use crate::notes::hash::head;
use crate::span::{Rank, Span};

/// The numbers of words that a phrase may have, the largest first.
const LENGTHS: [usize; 5] = [24, 21, 18, 15, 12];
/// Distance between the places at which a text is probed for a word, in bytes: 12 words of 3
/// letters and the blanks between them are 47.
const STEP: usize = 40;
/// Most words of a run: a longer one is a list of words.
const RUN_WORDS_MAX: usize = 40;
/// Most bytes between two words of a phrase: a line break with an indent, a number, a bullet.
const BETWEEN_BYTES_MAX: usize = 24;
/// Longest distance between a label and the start of its phrase, in bytes.
const LABEL_BYTES_MAX: usize = 120;
/// Fewest different words of a real phrase.
const DISTINCT_MIN: usize = 4;
/// Shortest and longest word of the list, in bytes.
const WORD_BYTES: std::ops::RangeInclusive<usize> = 3..=8;
/// Shortest and longest word of a list in another language, in characters.
const PLAIN_CHARS: std::ops::RangeInclusive<usize> = 3..=12;

/// Finds phrases whose checksum holds.
pub(super) fn scan(text: &[u8], found: &mut Vec<Span>) {
    let mut at = 0;
    let mut words = Vec::new();
    while at < text.len() {
        let Some(word) = word_near(text, at) else {
            at += STEP;
            continue;
        };
        run(text, word, &mut words);
        let end = words.last().map_or(at, |word| word.end);
        if let Some(phrase) = proven(text, &words) {
            report(text, &words[phrase], found);
        }
        at = end.max(at + STEP);
    }
}

/// Finds the phrase behind a label, whether its checksum holds or not.
pub(super) fn labelled(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let mut read = at;
    if let Some(words) = listed(text, at, &mut read).or_else(|| unlisted(text, at)) {
        report(text, &words, found);
    } else if read > at {
        // A long run of listed words is read once, however many labels are in it.
        found.push(Span::new(read..read, "seed-phrase", Rank::Structural));
    }
}

/// Returns the phrase behind a label, if all its words are on the list. `read` becomes the end of a
/// run that is too long for a phrase.
fn listed(text: &[u8], at: usize, read: &mut usize) -> Option<Vec<Range<usize>>> {
    let limit = text.len().min(at + LABEL_BYTES_MAX);
    let mut from = at;
    while from < limit {
        let word = next_word(text, from, limit)?;
        from = word.end;
        if !is_listed(&text[word.clone()]) {
            continue;
        }
        let mut words = vec![word];
        forward(text, &mut words);
        from = words.last().map_or(from, |word| word.end);
        if words.len() < LENGTHS[LENGTHS.len() - 1] {
            continue;
        }
        // The sentence before a phrase may end in a listed word, and the sentence behind it may
        // begin with one.
        let begin = (0..words.len().min(4)).find(|begin| LENGTHS.contains(&(words.len() - begin)));
        let phrase = proven(text, &words)
            .or_else(|| whole_lines(text, &words))
            .or_else(|| {
                let begin = begin.unwrap_or(0);
                let count = LENGTHS
                    .iter()
                    .find(|length| **length <= words.len() - begin)?;
                (words.len() <= RUN_WORDS_MAX && is_real(text, &words[begin..begin + count]))
                    .then_some(begin..begin + count)
            });
        if words.len() > RUN_WORDS_MAX {
            *read = from;
        }
        return phrase.map(|phrase| words[phrase].to_vec());
    }
    None
}

/// Returns the words behind a label, from a mark or a line break on, if most of them are on the
/// list, or if a line ends behind them: people mistype, and wallets have lists of their own, in many
/// languages. The words must be as many as a phrase has, and on one line.
fn unlisted(text: &[u8], at: usize) -> Option<Vec<Range<usize>>> {
    let limit = text.len().min(at + LABEL_BYTES_MAX);
    let begins = |mark: &usize| b":=-)\"'\n".contains(&text[*mark]);
    (at..limit).filter(begins).find_map(|mark| {
        let (words, ends) = plain_words(text, mark + 1);
        let listed = words
            .iter()
            .filter(|word| is_listed(&text[(*word).clone()]));
        let most = listed.count() * 4 >= words.len() * 3;
        (LENGTHS.contains(&words.len()) && (most || ends) && is_real(text, &words)).then_some(words)
    })
}

/// Returns the words in lower case from `at` on, with blanks or commas between them, and whether
/// their line ends there. A sentence of so many words has shorter ones, and is none of these.
fn plain_words(text: &[u8], at: usize) -> (Vec<Range<usize>>, bool) {
    let most = text.len().min(at + (LENGTHS[0] + 1) * BETWEEN_BYTES_MAX);
    let line = text[at..most].split(|b| *b == b'\n').next();
    let line = match std::str::from_utf8(line.unwrap_or_default()) {
        Ok(line) => line,
        // A character is cut in two where the reading ends.
        Err(fault) => std::str::from_utf8(&text[at..at + fault.valid_up_to()]).unwrap_or_default(),
    };
    let mut words = Vec::new();
    let mut from = line.len()
        - line
            .trim_start_matches([' ', '"', '\'', '«', '„', '“'])
            .len();
    loop {
        let word = &line[from..];
        let letters = word.find(|c: char| !c.is_lowercase()).unwrap_or(word.len());
        if !PLAIN_CHARS.contains(&word[..letters].chars().count()) || words.len() > LENGTHS[0] {
            return (words, false);
        }
        words.push(at + from..at + from + letters);
        let rest = &word[letters..];
        let next = rest.trim_start_matches([' ', ',']);
        if next
            .trim_start_matches(['.', '"', '\'', '»', '“', '”', '\r'])
            .is_empty()
        {
            return (words, true);
        }
        from = line.len() - next.len();
    }
}

/// Reports a phrase as one span for each of its lines.
fn report(text: &[u8], words: &[Range<usize>], found: &mut Vec<Span>) {
    let mut line: Option<Range<usize>> = None;
    for word in words {
        line = Some(match line {
            Some(line) if !text[line.end..word.start].contains(&b'\n') => line.start..word.end,
            done => {
                found.extend(done.map(|line| Span::new(line, "seed-phrase", Rank::Structural)));
                word.clone()
            }
        });
    }
    found.extend(line.map(|line| Span::new(line, "seed-phrase", Rank::Structural)));
}

/// Returns the first words of a run, if they end with a line and are as many as a phrase has.
fn whole_lines(text: &[u8], run: &[Range<usize>]) -> Option<Range<usize>> {
    let mut lengths = LENGTHS.iter();
    let length = lengths.find(|length| **length <= run.len() && is_edge(text, run, **length))?;
    is_real(text, &run[..*length]).then_some(0..*length)
}

/// Tells whether the place behind `count` words is an end of the run or a line break.
fn is_edge(text: &[u8], run: &[Range<usize>], count: usize) -> bool {
    count == 0 || count == run.len() || text[run[count - 1].end..run[count].start].contains(&b'\n')
}

/// Returns the words of a run that are a phrase whose checksum holds. A phrase over several lines
/// must fill them, because by chance a checksum holds for one in sixteen rows of words.
fn proven(text: &[u8], run: &[Range<usize>]) -> Option<Range<usize>> {
    if run.len() > RUN_WORDS_MAX {
        return None;
    }
    LENGTHS
        .iter()
        .filter(|length| **length <= run.len())
        .find_map(|length| {
            // Words of a label may be on the list, and stand before the phrase.
            (0..=run.len() - length).rev().find_map(|start| {
                let words = &run[start..start + length];
                let wraps = text[words[0].start..words[length - 1].end].contains(&b'\n');
                let whole = is_edge(text, run, start) && is_edge(text, run, start + length);
                ((whole || !wraps) && is_even(text, words) && holds(text, words))
                    .then_some(start..start + length)
            })
        })
}

/// Tells whether the checksum of these words holds.
fn holds(text: &[u8], words: &[Range<usize>]) -> bool {
    let words: Vec<String> = words
        .iter()
        .map(|word| String::from_utf8_lossy(&text[word.clone()]).to_ascii_lowercase())
        .collect();
    Mnemonic::parse_in_normalized(Language::English, &words.join(" ")).is_ok()
}

/// Tells whether words could be drawn by lot, with the same marks between all words of a line: one in sixteen
/// rows of sentences or of data has a checksum that holds.
fn is_even(text: &[u8], words: &[Range<usize>]) -> bool {
    let between = words.windows(2).map(|two| &text[two[0].end..two[1].start]);
    let mut marks = between
        .filter(|between| !between.contains(&b'\n'))
        .map(|between| between.iter().filter(|b| b.is_ascii_punctuation()));
    let first = marks.next();
    let same = first.is_none_or(|first| marks.all(|next| next.eq(first.clone())));
    same && distinct(text, words) * 4 >= words.len() * 3 && is_real(text, words)
}

/// Tells whether words are neither a part of the list itself nor one word again and again.
fn is_real(text: &[u8], words: &[Range<usize>]) -> bool {
    let is_list = words.iter().is_sorted_by_key(|word| &text[(*word).clone()]);
    !is_list && distinct(text, words) >= DISTINCT_MIN
}

/// Counts different words.
fn distinct(text: &[u8], words: &[Range<usize>]) -> usize {
    let words = words.iter().map(|word| &text[word.clone()]);
    words.collect::<BTreeSet<_>>().len()
}

/// Returns the word at `at`, or the one that begins next, if it is on the list.
fn word_near(text: &[u8], at: usize) -> Option<Range<usize>> {
    let most = *WORD_BYTES.end();
    let word = if text[at].is_ascii_alphabetic() {
        let back = text[at.saturating_sub(most)..at].iter().rev();
        let start = at - back.take_while(|b| b.is_ascii_alphabetic()).count();
        word_at(text, start)
    } else {
        next_word(text, at, text.len().min(at + BETWEEN_BYTES_MAX))?
    };
    is_listed(&text[word.clone()]).then_some(word)
}

/// Returns the next run of letters that begins before `limit`.
fn next_word(text: &[u8], at: usize, limit: usize) -> Option<Range<usize>> {
    let skip = text[at..limit].iter().position(u8::is_ascii_alphabetic)?;
    Some(word_at(text, at + skip))
}

/// Returns the letters at `start`, only as many as tell a listed word from a longer one.
fn word_at(text: &[u8], start: usize) -> Range<usize> {
    let most = text.len().min(start + WORD_BYTES.end() + 1);
    let length = text[start..most]
        .iter()
        .take_while(|b| b.is_ascii_alphabetic())
        .count();
    start..start + length
}

/// Tells whether a word is on the list, in any case.
fn is_listed(word: &[u8]) -> bool {
    if !WORD_BYTES.contains(&word.len()) {
        return false;
    }
    let word = head(word);
    let mut there = LISTED[place(word)..].iter();
    there.find(|there| **there == word || **there == 0) == Some(&word)
}

/// Number of places for the words of the list, a power of two.
const PLACES: usize = 1 << 13;

/// The words of the list, each as a number at its place or behind it, and 0 where none is.
static LISTED: LazyLock<Vec<u64>> = LazyLock::new(|| {
    let mut listed = vec![0; PLACES + PLACES / 8];
    for word in Language::English.word_list() {
        let word = head(word.as_bytes());
        let free = listed[place(word)..].iter().position(|there| *there == 0);
        listed[place(word) + free.expect("a few words share a place")] = word;
    }
    listed
});

/// Returns the place of a word.
fn place(word: u64) -> usize {
    (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 51) as usize
}

/// Tells whether the text between two words keeps them in one phrase. A word with a colon behind it is a label.
fn joins(between: &[u8]) -> bool {
    let fits = |b: &u8| {
        b.is_ascii_whitespace() || b.is_ascii_digit() || b",.;:)(\"'`|>-*#[]/\\".contains(b)
    };
    between.first().is_some_and(|b| *b != b':')
        && between.len() <= BETWEEN_BYTES_MAX
        && between.iter().all(fits)
}

/// Sets `words` to all listed words around this one, with nothing but marks and numbers between them.
fn run(text: &[u8], word: Range<usize>, words: &mut Vec<Range<usize>>) {
    words.clear();
    let mut first = word.start;
    while words.len() <= RUN_WORDS_MAX {
        let floor = first.saturating_sub(BETWEEN_BYTES_MAX);
        let Some(end) = text[floor..first].iter().rposition(u8::is_ascii_alphabetic) else {
            break;
        };
        let end = floor + end + 1;
        let back = text[end.saturating_sub(WORD_BYTES.end() + 1)..end]
            .iter()
            .rev();
        let start = end - back.take_while(|b| b.is_ascii_alphabetic()).count();
        if !joins(&text[end..first]) || !is_listed(&text[start..end]) {
            break;
        }
        words.push(start..end);
        first = start;
    }
    words.reverse();
    words.push(word);
    forward(text, words);
}

/// Adds the listed words that follow the last one.
fn forward(text: &[u8], words: &mut Vec<Range<usize>>) {
    while words.len() <= 2 * RUN_WORDS_MAX {
        let Some(end) = words.last().map(|word| word.end) else {
            return;
        };
        let limit = text.len().min(end + BETWEEN_BYTES_MAX + 1);
        let Some(next) = next_word(text, end, limit) else {
            return;
        };
        if !joins(&text[end..next.start]) || !is_listed(&text[next.clone()]) {
            return;
        }
        words.push(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PHRASE: &str =
        "wink error alone electric fresh cruel kit anxiety focus fence mirror sample";

    fn found(text: &str) -> Vec<String> {
        let mut spans = Vec::new();
        scan(text.as_bytes(), &mut spans);
        spans
            .iter()
            .map(|span| text[span.start..span.end].to_owned())
            .collect()
    }

    fn behind(text: &str) -> Vec<String> {
        let mut spans = Vec::new();
        labelled(text.as_bytes(), 0, &mut spans);
        spans
            .iter()
            .map(|span| text[span.start..span.end].to_owned())
            .collect()
    }

    #[test]
    fn a_phrase_that_proves_itself_needs_no_label() {
        for (before, after) in [
            ("", ""),
            ("Note: ", "."),
            ("so it reads ", ", he says"),
            ("\"", "\""),
        ] {
            assert_eq!(
                found(&format!("{before}{PHRASE}{after}")),
                [PHRASE],
                "{before}{after}"
            );
        }
        let upper = PHRASE.to_uppercase();
        assert_eq!(found(&upper), std::slice::from_ref(&upper));
        let other = PHRASE.replace("wink", "zoo");
        assert!(found(&other).is_empty());
    }

    #[test]
    fn wherever_it_stands_it_is_probed() {
        for lead in 0..2 * STEP {
            let text = format!("{}\n{PHRASE}\n{}", ".".repeat(lead), "x y ".repeat(20));
            assert_eq!(found(&text), [PHRASE], "{lead}");
        }
    }

    #[test]
    fn each_line_is_a_span_of_its_own() {
        let wrapped = PHRASE.replacen(" kit", "\n  kit", 1);
        let (first, second) = PHRASE.split_once(" kit").expect("it holds the word");
        assert_eq!(found(&wrapped), [first.to_owned(), format!("kit{second}")]);
        let numbered: Vec<String> = PHRASE
            .split(' ')
            .zip(1..)
            .map(|(word, n)| format!("{n}. {word}"))
            .collect();
        assert_eq!(found(&numbered.join("\n")).len(), 12);
        assert_eq!(found(&numbered.join(" ")), [&numbered.join(" ")[3..]]);
        assert_eq!(
            found(&PHRASE.replace(' ', ", ")),
            [PHRASE.replace(' ', ", ")]
        );
    }

    #[test]
    fn a_label_does_without_the_checksum() {
        let other = PHRASE.replace("wink", "zoo");
        assert_eq!(
            behind(&format!("seed phrase ledger: {other}")),
            std::slice::from_ref(&other)
        );
        assert!(
            behind("seed phrase is written on paper only, twelve words, in the bank").is_empty()
        );
        assert!(behind("mnemonic: abandon ability able about above absent absorb abstract absurd abuse access accident").is_empty());
    }

    #[test]
    fn behind_a_label_some_words_may_be_of_another_list() {
        let other = PHRASE.replace("wink", "tulips").replace("cruel", "mellow");
        assert_eq!(behind(&format!("seed: {other}.")), [other]);
        let prose = "seed phrase must never be stored here because other people can read this file";
        assert!(behind(prose).is_empty());
        // Words of a list in another language end their line, and are as many as a phrase has.
        let french = "cactus rivière olive tambour neige poivre lundi falaise voisin sucre tunnel";
        let whole = format!("{french} horloge");
        assert_eq!(
            behind(&format!("seed (vieille clé) :\n{whole}\n")),
            std::slice::from_ref(&whole)
        );
        for text in [
            french.to_owned(),
            format!("{whole} et"),
            format!("{whole} (ancien)"),
        ] {
            assert!(behind(&format!("seed : {text}\n")).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_long_run_of_words_is_read_once() {
        let text = "seed ".repeat(200);
        let mut spans = Vec::new();
        labelled(text.as_bytes(), 0, &mut spans);
        let read: Vec<_> = spans.iter().map(|span| (span.start, span.end)).collect();
        assert!(
            matches!(read[..], [(start, end)] if start == end && start > 300),
            "{read:?}"
        );
    }

    #[test]
    fn the_list_and_test_vectors_stay() {
        let list = Language::English.word_list();
        assert!(found(&list.join("\n")).is_empty());
        assert!(found(&format!("{}about", "abandon ".repeat(11))).is_empty());
    }
}
