//! Word emphasis: the words that differ between a removed line and its corresponding added line.

use std::ops::Range;

use crate::diff::{Hunk, changed_words};

/// Byte ranges of a line, increasing and disjoint.
pub(super) type Ranges = Vec<Range<usize>>;

/// The budget for the words of one diff: the words compared when lines are matched, and the square
/// of the words when two lines are compared. It covers hunks of some hundred lines on each side or
/// lines of a thousand words, in some hundredths of a second. Anything beyond gets no emphasis,
/// which is only a visual aid.
const WORK_MAX: usize = 1 << 22;

/// Smallest share of two lines that must be common for emphasis, in percent. Below that, nearly
/// everything would be emphasized.
const SHARED_PERCENT_MIN: usize = 50;

/// Finds differing words until the budget of one diff is spent.
pub(super) struct Emphasis {
    work_left: usize,
}

impl Emphasis {
    pub(super) fn new() -> Self {
        Self {
            work_left: WORK_MAX,
        }
    }

    /// Finds, for each removed and each added line of a hunk, the ranges that differ from its
    /// corresponding line. Lines come without newlines; one without a similar counterpart has no
    /// ranges.
    pub(super) fn of(&mut self, removed: &[&str], added: &[&str]) -> (Vec<Ranges>, Vec<Ranges>) {
        let mut old = vec![Ranges::new(); removed.len()];
        let mut new = vec![Ranges::new(); added.len()];
        let removed: Vec<_> = removed
            .iter()
            .map(|line| TokenizedLine::new(line))
            .collect();
        let added: Vec<_> = added.iter().map(|line| TokenizedLine::new(line)).collect();
        for (from, to) in self.correspondence(&removed, &added) {
            let (one, other) = (&removed[from], &added[to]);
            if !self.affords(square(one.words.len() + other.words.len())) {
                continue;
            }
            if let Some((differs, differs_too)) = differences(one, other) {
                old[from] = differs;
                new[to] = differs_too;
            }
        }
        (old, new)
    }

    /// Pairs similar lines, in order on both sides, so that the pairs share as much as possible.
    fn correspondence(
        &mut self,
        removed: &[TokenizedLine],
        added: &[TokenizedLine],
    ) -> Vec<(usize, usize)> {
        let words =
            |lines: &[TokenizedLine]| lines.iter().map(|line| line.words.len() + 1).sum::<usize>();
        let work = words(removed)
            .saturating_mul(added.len())
            .saturating_add(words(added).saturating_mul(removed.len()));
        if !self.affords(work) {
            return Vec::new();
        }
        // The most bytes that the lines from two positions on can share, for every pair of
        // positions.
        let width = added.len() + 1;
        let mut most = vec![0; (removed.len() + 1) * width];
        let mut shared = vec![0; removed.len() * width];
        for from in (0..removed.len()).rev() {
            for to in (0..added.len()).rev() {
                let at = from * width + to;
                shared[at] = similarity(&removed[from], &added[to]);
                let skipped = most[at + width].max(most[at + 1]);
                most[at] = skipped.max(shared[at] + most[at + width + 1]);
            }
        }
        let mut pairs = Vec::new();
        let (mut from, mut to) = (0, 0);
        while from < removed.len() && to < added.len() {
            let at = from * width + to;
            if shared[at] > 0 && most[at] == shared[at] + most[at + width + 1] {
                pairs.push((from, to));
                (from, to) = (from + 1, to + 1);
            } else if most[at] == most[at + width] {
                from += 1;
            } else {
                to += 1;
            }
        }
        pairs
    }

    fn affords(&mut self, work: usize) -> bool {
        let left = self.work_left.checked_sub(work);
        self.work_left = left.unwrap_or(self.work_left);
        left.is_some()
    }
}

fn square(words: usize) -> usize {
    words.saturating_mul(words)
}

/// A line split into words.
struct TokenizedLine<'t> {
    /// The words in order; together they are the line.
    words: Vec<&'t str>,
    /// The words other than spaces, sorted.
    sorted: Vec<&'t str>,
    /// The number of bytes in them.
    weight: usize,
}

impl<'t> TokenizedLine<'t> {
    fn new(text: &'t str) -> Self {
        let words = words(text);
        let mut sorted: Vec<_> = words.iter().copied().filter(|word| !blank(word)).collect();
        sorted.sort_unstable();
        Self {
            weight: sorted.iter().map(|word| word.len()).sum(),
            words,
            sorted,
        }
    }

    /// Tells whether this number of shared bytes makes the two lines similar.
    fn is_like(&self, other: &Self, shared: usize) -> bool {
        shared * 100 >= SHARED_PERCENT_MIN * self.weight.max(other.weight)
    }
}

fn blank(word: &str) -> bool {
    word.starts_with(char::is_whitespace)
}

/// Splits a line into runs of letters and digits, runs of spaces, and single other characters. In
/// scripts without spaces between words, each character is a word.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match class(first) {
            LetterClass::Single => first.len_utf8(),
            class_of_first => rest
                .find(|c| class(c) != class_of_first)
                .unwrap_or(rest.len()),
        };
        let (word, later) = rest.split_at(length);
        words.push(word);
        rest = later;
    }
    words
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LetterClass {
    Word,
    Space,
    Single,
}

fn class(c: char) -> LetterClass {
    match c {
        // Han, kana and their extensions.
        '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' => {
            LetterClass::Single
        }
        '_' => LetterClass::Word,
        _ if c.is_alphanumeric() => LetterClass::Word,
        _ if c.is_whitespace() => LetterClass::Space,
        _ => LetterClass::Single,
    }
}

/// Counts the bytes of the words that two lines share in any order; 0 if they are too few.
fn similarity(one: &TokenizedLine, other: &TokenizedLine) -> usize {
    let mut shared = 0;
    let mut others = other.sorted.iter().peekable();
    for word in &one.sorted {
        while others.next_if(|other| *other < word).is_some() {}
        if others.next_if(|other| *other == word).is_some() {
            shared += word.len();
        }
    }
    if one.is_like(other, shared) {
        shared
    } else {
        0
    }
}

/// Finds the differing ranges of two lines; `None` if they share too few words in the same order.
fn differences(one: &TokenizedLine, other: &TokenizedLine) -> Option<(Ranges, Ranges)> {
    let hunks = changed_words(&one.words, &other.words);
    let changed: usize = hunks
        .iter()
        .flat_map(|hunk| &one.words[hunk.before.clone()])
        .filter(|word| !blank(word))
        .map(|word| word.len())
        .sum();
    let side = |line: &TokenizedLine, range: fn(&Hunk) -> Range<usize>| {
        joined(&line.words, hunks.iter().map(range))
    };
    one.is_like(other, one.weight - changed).then(|| {
        (
            side(one, |hunk| hunk.before.clone()),
            side(other, |hunk| hunk.after.clone()),
        )
    })
}

/// Converts runs of words to byte ranges. Runs separated only by spaces are joined, because a
/// changed phrase reads as one.
fn joined(words: &[&str], runs: impl Iterator<Item = Range<usize>>) -> Ranges {
    let mut ranges = Ranges::new();
    let (mut place, mut byte) = (0, 0);
    for run in runs.filter(|run| !run.is_empty()) {
        let gap = &words[place..run.start];
        let start = byte + bytes(gap);
        let end = start + bytes(&words[run.clone()]);
        match ranges.last_mut() {
            Some(last) if gap.iter().all(|word| blank(word)) => last.end = end,
            _ => ranges.push(start..end),
        }
        (place, byte) = (run.end, end);
    }
    ranges
}

fn bytes(words: &[&str]) -> usize {
    words.iter().map(|word| word.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Puts the emphasized parts of lines in brackets.
    fn marked(lines: &[&str], ranges: &[Ranges]) -> Vec<String> {
        let mark = |(line, ranges): (&&str, &Ranges)| {
            let mut out = (*line).to_owned();
            for range in ranges.iter().rev() {
                out.insert(range.end, ']');
                out.insert(range.start, '[');
            }
            out
        };
        lines.iter().zip(ranges).map(mark).collect()
    }

    fn emphasis(removed: &[&str], added: &[&str]) -> (Vec<String>, Vec<String>) {
        let (old, new) = Emphasis::new().of(removed, added);
        (marked(removed, &old), marked(added, &new))
    }

    fn pair(removed: &str, added: &str) -> (String, String) {
        let (mut old, mut new) = emphasis(&[removed], &[added]);
        (old.remove(0), new.remove(0))
    }

    #[test]
    fn words_are_runs_of_letters_of_spaces_and_single_others() {
        assert_eq!(
            words("naïve_x2  —(日本)\t٣"),
            ["naïve_x2", "  ", "—", "(", "日", "本", ")", "\t", "٣"]
        );
        assert_eq!(words(""), [""; 0]);
    }

    #[test]
    fn the_words_that_differ() {
        for (removed, added, want, want_too) in [
            (
                "port is 80 now",
                "port is 8080 now",
                "port is [80] now",
                "port is [8080] now",
            ),
            (
                "a long line of words",
                "a long line of new words",
                "a long line of words",
                "a long line of [new ]words",
            ),
            (
                "call the red fox today please",
                "call the old hen today please",
                "call the [red fox] today please",
                "call the [old hen] today please",
            ),
            ("état: vu", "état: lu", "état: [vu]", "état: [lu]"),
            (
                "東京は雨です",
                "京都は雨です",
                "[東]京は雨です",
                "京[都]は雨です",
            ),
        ] {
            assert_eq!(pair(removed, added), (want.into(), want_too.into()));
        }
    }

    #[test]
    fn lines_that_share_too_little_have_no_emphasis() {
        for (removed, added) in [
            ("one two three", "four five six"),
            ("the cat sat", "the dog ran away"),
            ("", "new"),
            ("   ", "  x"),
            // The same words in another order: similar, but nothing would be left to read.
            ("alpha beta gamma delta", "delta gamma beta alpha"),
        ] {
            assert_eq!(pair(removed, added), (removed.into(), added.into()));
        }
    }

    #[test]
    fn lines_correspond_to_what_they_are_most_like() {
        let (old, new) = emphasis(
            &["first line here", "owner is Ann Lee", "gone for good"],
            &["an added line", "owner is Bob Lee", "first line there"],
        );
        assert_eq!(
            old,
            ["first line here", "owner is [Ann] Lee", "gone for good"]
        );
        assert_eq!(
            new,
            ["an added line", "owner is [Bob] Lee", "first line there"]
        );
    }

    #[test]
    fn what_costs_too_much_has_no_emphasis() {
        let long = "word ".repeat(5000);
        let (removed, added) = (format!("{long}a"), format!("{long}b"));
        assert_eq!(pair(&removed, &added), (removed.clone(), added.clone()));
        let lines = vec!["a b c d"; 3000];
        let others = vec!["a b c e"; 3000];
        let (old, _) = Emphasis::new().of(&lines, &others);
        assert!(old.iter().all(Vec::is_empty));
        let (old, _) = Emphasis::new().of(&lines[..300], &others[..300]);
        assert!(
            old.iter()
                .all(|ranges| ranges.len() == 1 && ranges[0] == (6..7))
        );
    }

    proptest! {
        #[test]
        fn without_what_differs_the_lines_are_the_same(
            removed in "[ab東é., ]{0,12}", added in "[ab東é., ]{0,12}",
        ) {
            let (old, new) = Emphasis::new().of(&[&removed], &[&added]);
            let rest = |line: &str, ranges: &Ranges| {
                let mut out = line.to_owned();
                for range in ranges.iter().rev() {
                    out.replace_range(range.clone(), "");
                }
                out.retain(|c| c != ' ');
                out
            };
            if old[0].is_empty() && new[0].is_empty() {
                return Ok(());
            }
            prop_assert_eq!(rest(&removed, &old[0]), rest(&added, &new[0]));
        }
    }
}
