//! Joins several words that are one secret, and splits a word that is a label with its value.

use std::ops::Range;

use crate::notes::look::{Group, Look, is_digit};
use crate::notes::page::{Word, marks};
use crate::notes::vocabulary::{self, Classes, WordClass};
use crate::span::is_joined;

/// Most words of a phrase, and of a phrase without a mark before it.
const PHRASE_WORDS_MAX: usize = 7;
const SAID_WORDS_MAX: usize = 4;
/// Number of groups of digits from which on they are a row of a table.
const GROUPS_MAX: usize = 8;
/// Most words of a number that is said a digit at a time.
const SPOKEN_MAX: usize = 20;
/// Longest group of digits that goes on in the next word, in characters.
const GROUP_CHARS_MAX: usize = 5;
/// Longest distance between a label and its phrase, in words.
const LABEL_WORDS_MAX: usize = 8;
/// Particles that join a label to its value in a script without blanks, and endings of the
/// sentence.
const COPULAS: [&str; 4] = ["は", "是", "为", "為"];
const ENDINGS: [&str; 5] = ["です", "だよ", "でした", "哦", "了"];
/// Labels whose secrets are often phrases.
const PHRASED: Classes = Classes::of(&[
    WordClass::Password,
    WordClass::Recovery,
    WordClass::Secret,
    WordClass::Answer,
]);

/// Joins words of a line, from `begun` on, into one word where they are one secret.
pub(super) fn words<'a>(words: &mut Vec<Word<'a>>, begun: usize, line: &'a str, start: usize) {
    let text = JoinedText { line, start };
    let mut joined: Vec<(usize, usize, Group)> = Vec::new();
    let mut at = begun;
    while at < words.len() {
        let found = text.joins(&words[begun..at], &words[at..]);
        joined.extend(found.map(|(count, group)| (at, count, group)));
        at += found.map_or(1, |(count, _)| count);
    }
    for (at, count, group) in joined.into_iter().rev() {
        let several = &words[at..at + count];
        let (first, last) = (several[0].start, &several[count - 1]);
        let (end, behind) = (last.range().end, last.behind);
        let classes = several.iter().fold(0, |all, word| all | word.classes.0);
        let word = &mut words[at];
        word.text = &line[first - start..end - start];
        word.hash = 0;
        word.classes = Classes(classes);
        word.look = Look::of_several(group, word.text.chars().count());
        word.behind = behind;
        words.drain(at + 1..at + count);
    }
}

/// Returns the end of the label and the range of its value in a word of a script without blanks:
/// `答えはもなかです`.
pub(super) fn label(word: &str) -> Option<(usize, Range<usize>)> {
    if !word.starts_with(is_joined) {
        return None;
    }
    let (at, particle) = COPULAS
        .iter()
        .find_map(|one| Some((word.find(one)?, one)))?;
    let start = at + particle.len();
    let ending = ENDINGS.iter().find(|ending| word.ends_with(*ending));
    let end = word.len() - ending.map_or(0, |ending| ending.len());
    let label = vocabulary::classes(&word[..at]).0.meets(Classes::LABELS);
    (label && start < end).then_some((start, start..end))
}

/// A line and its start in the text.
#[derive(Clone, Copy)]
struct JoinedText<'a> {
    line: &'a str,
    start: usize,
}

impl<'a> JoinedText<'a> {
    /// Returns how many of the words are one secret, and their group.
    fn joins(self, before: &[Word], words: &[Word]) -> Option<(usize, Group)> {
        let as_group = |group| move |count| (count, group);
        let first = &words[0];
        // Both begin with a digit, a mark of a code or a digit in words.
        let counts = !first.is_plain() || first.classes.has(WordClass::Spoken);
        let number = || {
            let groups = self.groups(before.last(), words);
            let groups = groups.map(as_group(Group::DigitGroups));
            groups.or_else(|| self.spoken(words).map(as_group(Group::Spoken)))
        };
        let number = counts.then(number).flatten();
        number
            .or_else(|| self.quoted(words).map(as_group(Group::Phrase)))
            .or_else(|| self.labelled(before, words).map(as_group(Group::Phrase)))
    }

    fn between(self, one: &Word, next: &Word) -> &'a str {
        let (from, to) = (one.range().end - self.start, next.start - self.start);
        self.line.get(from..to).unwrap_or_default()
    }

    /// Returns how many of the words go on, each from the one before it.
    fn run(self, words: &[Word], most: usize, goes_on: impl Fn(&Word, &str) -> bool) -> usize {
        let pairs = words.iter().zip(words.iter().skip(1)).take(most - 1);
        let goes_on = |(one, next): &(&Word, &Word)| goes_on(next, self.between(one, next));
        1 + pairs.take_while(goes_on).count()
    }

    /// Counts the words of a number in groups: `448 193`, `33 / 8 / 21`. A line of many numbers is
    /// a table.
    fn groups(self, before: Option<&Word>, words: &[Word]) -> Option<usize> {
        let group = |word: &Word| {
            let (mut count, mut digit) = (0, false);
            for c in word.text.chars() {
                count += 1;
                digit |= is_digit(c);
                if count > GROUP_CHARS_MAX || !is_digit(c) && !matches!(c, '#' | '*') {
                    return false;
                }
            }
            digit
        };
        let goes_on =
            |next: &Word, gap: &str| group(next) && matches!(gap, " " | " - " | " – " | " / ");
        let first = &words[0];
        let begun =
            || before.is_some_and(|word| group(word) && goes_on(first, self.between(word, first)));
        let count = (group(first) && !begun()).then(|| self.run(words, GROUPS_MAX, goes_on))?;
        (2..GROUPS_MAX).contains(&count).then_some(count)
    }

    /// Counts the words of a number that is said or turned a digit at a time: `star four nine two`,
    /// `22 left, 9 right`.
    fn spoken(self, words: &[Word]) -> Option<usize> {
        let said = |word: &Word| word.classes.has(WordClass::Spoken);
        let number = |word: &Word| word.text.chars().all(is_digit) && word.text.len() <= 3;
        let goes_on = |next: &Word, gap: &str| {
            (said(next) || number(next))
                && gap
                    .trim()
                    .chars()
                    .all(|c| matches!(c, ',' | '-' | '–' | '→'))
                && gap.chars().count() <= 3
        };
        let first = &words[0];
        let count = (said(first) || number(first)).then(|| self.run(words, SPOKEN_MAX, goes_on))?;
        let spoken = words[..count].iter().filter(|word| said(word)).count();
        let all = spoken >= 3 && spoken == count;
        let turned = spoken >= 2 && count >= 4;
        (all || turned).then_some(count)
    }

    /// Counts the words of a phrase in quotation marks that names nothing:
    /// `"breathe in, breathe out"`.
    fn quoted(self, words: &[Word]) -> Option<usize> {
        let quote = |c: char| marks::of(c) & marks::QUOTE != 0;
        let at = words[0].start - self.start;
        // Most words stand behind a blank.
        if self.line.as_bytes()[..at].last().is_none_or(|b| *b == b' ') {
            return None;
        }
        let mut before = self.line[..at].chars().rev();
        let opened =
            before.next().is_some_and(quote) && before.next().is_none_or(|c| !c.is_alphanumeric());
        if !opened {
            return None;
        }
        let goes_on = |_: &Word, gap: &str| !gap.contains(quote) && gap.len() <= 3;
        let count = self.run(words, PHRASE_WORDS_MAX, goes_on);
        let closed = self.line[words[count - 1].range().end - self.start..]
            .trim_start_matches(['!', '?', '.'])
            .starts_with(quote);
        (count >= 2 && closed && !says(&words[..count])).then_some(count)
    }

    /// Counts the words of a phrase behind a label, to the end of the line:
    /// `passphrase: the heron stands still`.
    fn labelled(self, before: &[Word], words: &[Word]) -> Option<usize> {
        let marked = words[0].before & (marks::COLON | marks::EQUALS | marks::ARROW) != 0;
        let joins = Classes::of(&[WordClass::Equals, WordClass::Answer]);
        let said = before.last().is_some_and(|word| word.classes.meets(joins));
        // Without a mark, the sentence may go on behind the phrase.
        let most = if marked {
            PHRASE_WORDS_MAX
        } else {
            SAID_WORDS_MAX
        };
        let label = |word: &Word| word.classes.meets(PHRASED);
        if !(marked || said)
            || !words[0].is_plain()
            || !before.iter().rev().take(LABEL_WORDS_MAX).any(label)
        {
            return None;
        }
        let count = self.run(words, most + 1, |_, gap| gap == " ");
        let end = &self.line[words[count - 1].range().end - self.start..];
        let end = end.trim_start_matches(['.', '!', '"', '\r']).trim_start();
        let ended = end.is_empty() || end.starts_with('(');
        let fits = (2..=most).contains(&count);
        (fits && ended && !says(&words[..count])).then_some(count)
    }
}

/// Tells whether words name a secret, rather than being one.
fn says(words: &[Word]) -> bool {
    words
        .iter()
        .any(|word| word.taken || word.classes.meets(Classes::STRONG))
}

#[cfg(test)]
mod tests {
    use crate::notes::page::NotePage;

    fn read(text: &str) -> Vec<&str> {
        let page = NotePage::read(text.as_bytes(), &[0], &[]);
        page.words.iter().map(|word| word.text).collect()
    }

    #[test]
    fn several_words_are_one_where_people_write_them_so() {
        for (text, one) in [
            ("the code is 448 193, he says", "448 193"),
            ("33 / 8 / 21 opens it", "33 / 8 / 21"),
            ("press star four nine two seven", "star four nine two seven"),
            (
                "safe: 22 left, 9 right, 41 left",
                "22 left, 9 right, 41 left",
            ),
            (
                "the word is \"breathe in, breathe out\" there",
                "breathe in, breathe out",
            ),
            (
                "passphrase for it: the heron stands still.",
                "the heron stands still",
            ),
        ] {
            assert!(read(text).contains(&one), "{:?}", read(text));
        }
        for text in [
            "passphrase: hunter22, for the portal",
            "he said \"the password is wrong\"",
            "rows 1 2 3 4 5 6 7 8 9",
            "two or three",
        ] {
            let joined = read(text).iter().any(|word| word.contains(' '));
            assert!(!joined, "{:?}", read(text));
        }
    }

    #[test]
    fn a_label_and_its_value_are_two_words_where_no_blank_parts_them() {
        assert_eq!(read("答えはもなかです"), ["答えは", "もなか"]);
        assert_eq!(read("密码是西瓜太郎了"), ["密码是", "西瓜太郎"]);
        assert_eq!(read("これは答えです"), ["これは答えです"]);
    }
}
