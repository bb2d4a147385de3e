//! Line diffs between two texts, computed in bounded time for any input.

mod anchor;
pub(crate) mod blame;
mod emphasis;
pub(crate) mod merge;
mod unified;

use std::ops::Range;

use imara_diff::{Algorithm, Diff, IndentHeuristic, IndentLevel, Interner, Token};

pub use self::unified::{DiffHunk, DiffLine, LineKind, TextDiff};

/// Most lines of both texts together that are compared as a whole, as in stock git. The search is
/// quadratic if every other line changed, which is fast enough at this size.
const WHOLE_LINES_MAX: usize = 4096;

/// Bytes of a line that are examined for its indentation; no heuristic needs more.
const INDENT_BYTES_MAX: usize = 256;

/// A run of lines in one text that replaced a run of lines in another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// The lines in the text before, from 0, end excluded.
    pub(crate) before: Range<usize>,
    /// The lines in the text after, from 0, end excluded.
    pub(crate) after: Range<usize>,
}

/// Computes the hunks that turn `before` into `after`, in order, separated by at least one
/// unchanged line. A last line without a newline differs from the same line with one.
pub(crate) fn hunks(before: &str, after: &str) -> Vec<Hunk> {
    changed_lines(
        &before.split_inclusive('\n').collect::<Vec<_>>(),
        &after.split_inclusive('\n').collect::<Vec<_>>(),
    )
}

/// Splits a text into lines without their newlines; an empty text has none.
pub(crate) fn bare_lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').map(bare).collect()
}

/// Strips the newline from a line.
fn bare(line: &str) -> &str {
    line.strip_suffix('\n').unwrap_or(line)
}

/// Computes the hunks between two texts that are split into lines. The splitting decides whether a
/// missing newline at the end is a difference.
pub(crate) fn changed_lines(before: &[&str], after: &[&str]) -> Vec<Hunk> {
    let mut interner = Interner::new(0);
    let before = interned(&mut interner, before);
    let after = interned(&mut interner, after);
    let mut diff = Diff::default();
    if before.len() + after.len() <= WHOLE_LINES_MAX {
        diff.compute_with(Algorithm::Histogram, &before, &after, interner.num_tokens());
    } else {
        let pairs = anchor::pairs(&numbers(&before), &numbers(&after), closest);
        diff = with_pairs(&pairs, before.len(), after.len());
    }
    // If a run of lines can slide, it goes where people expect it.
    let indent = |line| {
        let line: &str = interner[line];
        IndentLevel::for_ascii_line(line.bytes().take(INDENT_BYTES_MAX), 8)
    };
    diff.postprocess_with(&before, &after, IndentHeuristic::new(indent));
    found(&diff)
}

/// Computes the hunks between two lines that are split into words.
fn changed_words(before: &[&str], after: &[&str]) -> Vec<Hunk> {
    let mut interner = Interner::new(0);
    let before = interned(&mut interner, before);
    let after = interned(&mut interner, after);
    let mut diff = Diff::default();
    diff.compute_with(Algorithm::Myers, &before, &after, interner.num_tokens());
    diff.postprocess_with(&before, &after, imara_diff::NoSliderHeuristic);
    found(&diff)
}

fn interned<'t>(interner: &mut Interner<&'t str>, pieces: &[&'t str]) -> Vec<Token> {
    pieces.iter().map(|piece| interner.intern(piece)).collect()
}

fn numbers(tokens: &[Token]) -> Vec<u32> {
    tokens.iter().map(|token| token.0).collect()
}

fn found(diff: &Diff) -> Vec<Hunk> {
    let lines = |range: Range<u32>| range.start as usize..range.end as usize;
    diff.hunks()
        .map(|hunk| Hunk {
            before: lines(hunk.before),
            after: lines(hunk.after),
        })
        .collect()
}

/// Finds the matching positions in two short sequences with a histogram diff.
fn closest(before: &[u32], after: &[u32]) -> Vec<(usize, usize)> {
    // The diff allocates for every possible number, so they are renumbered here.
    let mut distinct: Vec<u32> = before.iter().chain(after).copied().collect();
    distinct.sort_unstable();
    distinct.dedup();
    let renumber = |sequence: &[u32]| -> Vec<Token> {
        let place = |number| distinct.partition_point(|known| known < number);
        sequence.iter().map(|number| token(place(number))).collect()
    };
    let mut diff = Diff::default();
    diff.compute_with(
        Algorithm::Histogram,
        &renumber(before),
        &renumber(after),
        token(distinct.len()).0,
    );
    unchanged(&found(&diff), before.len()).collect()
}

/// Iterates over the unchanged lines, as pairs of positions before and after. `lines` is the number
/// of lines before.
pub(crate) fn unchanged(hunks: &[Hunk], lines: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
    let starts =
        std::iter::once((0, 0)).chain(hunks.iter().map(|hunk| (hunk.before.end, hunk.after.end)));
    let ends = hunks
        .iter()
        .map(|hunk| hunk.before.start)
        .chain(std::iter::once(lines));
    starts
        .zip(ends)
        .flat_map(|((before, after), end)| (before..end).zip(after..))
}

/// Makes a diff in which exactly these pairs are unchanged. Both members of a pair get one number,
/// and every other position a number of its own, so the common part is found in one pass.
fn with_pairs(pairs: &[(usize, usize)], before: usize, after: usize) -> Diff {
    let old: Vec<Token> = (0..before).map(token).collect();
    let mut new: Vec<Token> = (before..before + after).map(token).collect();
    for (from, to) in pairs {
        new[*to] = old[*from];
    }
    let mut diff = Diff::default();
    diff.compute_with(Algorithm::Myers, &old, &new, token(before + after).0);
    diff
}

fn token(number: usize) -> Token {
    Token(u32::try_from(number).expect("a text has fewer than 2^31 lines"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Instant;

    fn ranges(before: &str, after: &str) -> Vec<(Range<usize>, Range<usize>)> {
        let hunks = hunks(before, after).into_iter();
        hunks.map(|hunk| (hunk.before, hunk.after)).collect()
    }

    #[test]
    fn lines_that_changed() {
        assert_eq!(ranges("a\nb\nc\n", "a\nc\n"), [(1..2, 1..1)]);
        assert_eq!(ranges("a\nc\n", "a\nb\nc\n"), [(1..1, 1..2)]);
        assert_eq!(
            ranges("a\nb\nc\n", "x\nb\nz\n"),
            [(0..1, 0..1), (2..3, 2..3)]
        );
        assert_eq!(ranges("", ""), []);
        assert_eq!(ranges("", "a"), [(0..0, 0..1)]);
        assert_eq!(ranges("a\nb", "a\nb\n"), [(1..2, 1..2)]);
        assert_eq!(ranges("a\n", "a\r\n"), [(0..1, 0..1)]);
    }

    #[test]
    fn a_run_of_lines_is_put_where_people_would() {
        // A new block slides to its own blank line, not to that of the next block.
        let before = "one:\n  a\n\nthree:\n  a\n";
        let after = "one:\n  a\n\ntwo:\n  a\n\nthree:\n  a\n";
        assert_eq!(ranges(before, after), [(3..3, 3..6)]);
    }

    proptest! {
        #[test]
        fn lines_outside_of_hunks_stayed(
            before in "([a-d]{0,1}\n){0,60}[a-d]{0,1}",
            after in "([a-e]{0,1}\n){0,60}[a-e]{0,1}",
        ) {
            check(&before, &after)?;
        }

        // The algorithm treats frequent lines differently.
        #[test]
        fn lines_outside_of_hunks_stayed_where_they_repeat(
            before in prop::collection::vec("[a-c]\n", 0..400),
            after in prop::collection::vec("[a-d]\n", 0..400),
        ) {
            check(&before.concat(), &after.concat())?;
        }

        #[test]
        fn a_diff_has_exactly_the_pairs_it_is_made_of(
            before in prop::collection::vec(0u32..5, 0..30),
            after in prop::collection::vec(0u32..5, 0..30),
        ) {
            let pairs = closest(&before, &after);
            let diff = with_pairs(&pairs, before.len(), after.len());
            let hunks = found(&diff);
            prop_assert_eq!(unchanged(&hunks, before.len()).collect::<Vec<_>>(), pairs);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn lines_outside_of_hunks_stayed_in_long_texts(
            kinds in prop::sample::select(vec![2u32, 100, 5000]),
            seeds in any::<[u64; 2]>(),
            lines in WHOLE_LINES_MAX / 2 + 1..WHOLE_LINES_MAX,
        ) {
            let [before, after] = seeds.map(|seed| drawn(seed, lines, kinds));
            check(&before, &after)?;
            check(&before, &format!("new\n{}{after}", before.replace("\n7", "\nseven")))?;
        }

        #[test]
        fn every_edit_of_a_long_text_of_different_lines_is_found(
            edits in prop::collection::btree_set(0..WHOLE_LINES_MAX, 0..40),
        ) {
            let before = text_of(0..WHOLE_LINES_MAX, |line| format!("{line}\n"));
            let after = text_of(0..WHOLE_LINES_MAX, |line| match (edits.contains(&line), line % 3) {
                (true, 0) => String::new(),
                (true, 1) => format!("changed\n{line}\n"),
                (true, _) => "changed\n".to_owned(),
                (false, _) => format!("{line}\n"),
            });
            check(&before, &after)?;
            let hunks = hunks(&before, &after);
            let removed: usize = hunks.iter().map(|hunk| hunk.before.len()).sum();
            prop_assert_eq!(removed, edits.iter().filter(|line| *line % 3 != 1).count());
            let added: usize = hunks.iter().map(|hunk| hunk.after.len()).sum();
            prop_assert_eq!(added, edits.iter().filter(|line| *line % 3 != 0).count());
        }
    }

    /// Checks that the hunks are in order, apart, and cover all differences.
    fn check(before: &str, after: &str) -> Result<(), TestCaseError> {
        let old: Vec<_> = before.split_inclusive('\n').collect();
        let new: Vec<_> = after.split_inclusive('\n').collect();
        let hunks = hunks(before, after);
        prop_assert!(
            hunks
                .iter()
                .all(|hunk| !hunk.before.is_empty() || !hunk.after.is_empty())
        );
        let apart = |one: &Hunk, next: &Hunk| {
            one.before.end < next.before.start && one.after.end < next.after.start
        };
        prop_assert!(hunks.is_sorted_by(apart));
        let stayed: Vec<_> = unchanged(&hunks, old.len()).collect();
        prop_assert!(stayed.iter().all(|(from, to)| old[*from] == new[*to]));
        let added: usize = hunks.iter().map(|hunk| hunk.after.len()).sum();
        prop_assert_eq!(stayed.len() + added, new.len());
        Ok(())
    }

    fn text_of(lines: impl Iterator<Item = usize>, line: impl Fn(usize) -> String) -> String {
        lines.map(line).collect::<Vec<_>>().concat()
    }

    /// Draws so many lines from so many kinds.
    fn drawn(seed: u64, lines: usize, kinds: u32) -> String {
        let mut state = seed;
        let mut draw = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % u64::from(kinds)
        };
        (0..lines)
            .flat_map(|_| [draw().to_string(), "\n".to_owned()])
            .collect()
    }

    /// Builds texts that make naive searches explode, large enough to notice.
    fn hard_cases() -> Vec<(&'static str, String, String)> {
        let named = |lines: usize, name: &str| text_of(0..lines, |line| format!("{line}{name}\n"));
        let every_second = |name: &str, kinds: usize| {
            text_of(0..40_000, |at| format!("k{}\n{name}{at}\n", at % kinds))
        };
        let equal = |lines: usize| "a\n".repeat(lines);
        let returns = "\r".repeat(1 << 21);
        vec![
            ("all different", named(60_000, "a"), named(60_000, "b")),
            ("all equal", equal(80_000), equal(40_000)),
            (
                "equal but the ends",
                format!("x\n{}y\n", equal(80_000)),
                equal(40_000) + "z\n",
            ),
            ("two kinds", drawn(1, 80_000, 2), drawn(2, 80_000, 2)),
            (
                "two kinds, searched",
                drawn(8, 5_000, 2),
                drawn(9, 5_000, 2),
            ),
            (
                "two kinds and others",
                drawn(8, 80_000, 2),
                drawn(9, 80_000, 4),
            ),
            (
                "many kinds",
                drawn(5, 60_000, 20_000),
                drawn(6, 60_000, 20_000),
            ),
            ("one giant line", "a".repeat(1 << 21), "b".repeat(1 << 21)),
            (
                "every second",
                every_second("x", 40_000),
                every_second("y", 40_000),
            ),
            (
                "every second, in pairs",
                every_second("x", 20_000),
                every_second("y", 20_000),
            ),
            (
                "every second, repeating",
                every_second("x", 100),
                every_second("y", 100),
            ),
            (
                "indented by returns",
                format!("{returns}\na\n"),
                format!("{returns}\na\na\n"),
            ),
            (
                "backwards",
                named(60_000, ""),
                text_of((0..60_000).rev(), |line| format!("{line}\n")),
            ),
        ]
    }

    // With optimization each takes some hundredths of a second; a search that is quadratic in these
    // texts takes minutes.
    #[test]
    fn texts_that_are_hard_to_compare_end_quickly() {
        for (name, before, after) in hard_cases() {
            for (one, other) in [(&before, &after), (&after, &before)] {
                let start = Instant::now();
                check(one, other).expect(name);
                let took = start.elapsed();
                assert!(took.as_secs() < 10, "{name}: {took:?}");
            }
        }
    }
}
