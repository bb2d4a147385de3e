//! Three-way merge of texts, line by line, as far as the order is certain.

use std::ops::Range;

use crate::diff::{Hunk, bare_lines, changed_lines};

/// Lines of ours that conflict with a change of theirs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Clash {
    /// The lines in the text of ours, from 1, end excluded. If ours has no lines there, the range
    /// is empty, and the conflict is before the line of that number.
    pub(crate) lines: Range<usize>,
}

/// Merges the changes that `ours` and `theirs` each made to `base`, or returns their conflicts.
///
/// Lines that one side changed are taken from it; the same change on both sides is taken once;
/// different changes of the same lines conflict. Adjacent changes are both made, which is finer
/// than stock git: memories are lists of notes, one on each line, and a note after the undone one
/// is no conflict. Two different insertions at the same place conflict. So do adjacent changes that
/// bring in the same line, because one of them may belong to the other.
///
/// The newline at the end of the text is merged separately: a line is the same with and without it.
/// So "a, b" with c appended merges with "a", whatever the endings are.
pub(crate) fn merge(base: &str, ours: &str, theirs: &str) -> Result<String, Vec<Clash>> {
    let newline = ends_with_newline(base, ours, theirs);
    let base = bare_lines(base);
    let sides = [Side::new(&base, ours), Side::new(&base, theirs)];
    let merge = Merge { base, sides };
    let (mut lines, mut clashes) = (Vec::new(), Vec::new());
    let mut at = 0;
    for group in merge.regions().chunk_by(Region::touches) {
        let whole = Region::all(group);
        lines.extend_from_slice(&merge.base[at..whole.base.start]);
        at = whole.base.end;
        if let Some(agreed) = merge.agreed(&whole) {
            lines.extend_from_slice(agreed);
            continue;
        }
        for region in group {
            match merge.agreed(region) {
                Some(agreed) => lines.extend_from_slice(agreed),
                None => clashes.push(merge.clash(region)),
            }
        }
    }
    lines.extend_from_slice(&merge.base[at..]);
    if clashes.is_empty() {
        Ok(joined(&lines, newline))
    } else {
        Err(clashes)
    }
}

/// The indices of the two sides in arrays.
const OURS: usize = 0;
const THEIRS: usize = 1;

/// The base text in lines, and the two changed texts.
struct Merge<'t> {
    base: Vec<&'t str>,
    sides: [Side<'t>; 2],
}

/// A changed text.
struct Side<'t> {
    lines: Vec<&'t str>,
    hunks: Vec<Hunk>,
}

/// Lines of the base, with the index ranges of the hunks of each side that change them.
#[derive(Clone)]
struct Region {
    base: Range<usize>,
    hunks: [Range<usize>; 2],
}

impl<'t> Side<'t> {
    fn new(base: &[&str], text: &'t str) -> Self {
        let lines = bare_lines(text);
        let hunks = changed_lines(base, &lines);
        Self { lines, hunks }
    }
}

impl Region {
    /// Joins consecutive regions.
    fn all(regions: &[Self]) -> Self {
        let (first, last) = (&regions[0], &regions[regions.len() - 1]);
        let hunks = |side: usize| first.hunks[side].start..last.hunks[side].end;
        Self {
            base: first.base.start..last.base.end,
            hunks: [hunks(OURS), hunks(THEIRS)],
        }
    }

    /// Tells whether no unchanged line separates the two.
    fn touches(&self, next: &Self) -> bool {
        next.base.start <= self.base.end
    }

    /// Tells whether the two change the same line, or both insert at the same place.
    fn overlaps(&self, next: &Self) -> bool {
        next.base.start < self.base.end || next.base == self.base
    }
}

impl<'t> Merge<'t> {
    /// Lists the changed regions in order, joining those that must be decided together.
    fn regions(&self) -> Vec<Region> {
        let mut regions: Vec<Region> = Vec::new();
        for change in self.changes() {
            match regions.last_mut() {
                Some(last) if last.overlaps(&change) => {
                    last.base.end = last.base.end.max(change.base.end);
                    last.hunks[OURS].end = change.hunks[OURS].end;
                    last.hunks[THEIRS].end = change.hunks[THEIRS].end;
                }
                _ => regions.push(change),
            }
        }
        regions
            .chunk_by(|one, next| one.touches(next) && self.bring_the_same(one, next))
            .map(Region::all)
            .collect()
    }

    /// Lists every hunk as a region, in the order of the base. An insertion comes before a change
    /// of the line after it.
    fn changes(&self) -> Vec<Region> {
        let side = |side: usize| {
            let hunks = self.sides[side].hunks.iter();
            hunks.map(move |hunk| (hunk.before.start, hunk.before.end, side))
        };
        let mut changes: Vec<_> = side(OURS).chain(side(THEIRS)).collect();
        changes.sort_unstable();
        let mut next = [0, 0];
        let region = |(start, end, side): (usize, usize, usize)| {
            let from = next;
            next[side] += 1;
            Region {
                base: start..end,
                hunks: [from[OURS]..next[OURS], from[THEIRS]..next[THEIRS]],
            }
        };
        changes.into_iter().map(region).collect()
    }

    /// Tells whether two regions bring in a common line that is not blank.
    fn bring_the_same(&self, one: &Region, other: &Region) -> bool {
        let mut known = self.brought(one);
        known.sort_unstable();
        let mut lines = self.brought(other).into_iter();
        lines.any(|line| known.binary_search(&line).is_ok())
    }

    /// Lists the lines that the hunks of a region bring in, except blank ones.
    fn brought(&self, region: &Region) -> Vec<&'t str> {
        let sides = self.sides.iter().zip(&region.hunks);
        sides
            .flat_map(|(side, hunks)| {
                let hunks = side.hunks[hunks.clone()].iter();
                hunks.flat_map(|hunk| &side.lines[hunk.after.clone()])
            })
            .copied()
            .filter(|line| !line.trim().is_empty())
            .collect()
    }

    /// Returns the lines of a region, if only one side changed it or both changed it alike.
    fn agreed(&self, region: &Region) -> Option<&[&'t str]> {
        let lines = |side: usize| &self.sides[side].lines[self.places(side, region)];
        let (ours, theirs) = (lines(OURS), lines(THEIRS));
        if region.hunks[THEIRS].is_empty() || ours == theirs {
            Some(ours)
        } else {
            region.hunks[OURS].is_empty().then_some(theirs)
        }
    }

    fn clash(&self, region: &Region) -> Clash {
        let places = self.places(OURS, region);
        Clash {
            lines: places.start + 1..places.end + 1,
        }
    }

    /// Finds the lines of a side that correspond to a region of the base.
    fn places(&self, side: usize, region: &Region) -> Range<usize> {
        let Side { lines, hunks } = &self.sides[side];
        // Up to its next hunk a side equals the base, so the distances to the hunk are equal.
        let place = |line: usize, next: usize| match hunks.get(next) {
            Some(hunk) => hunk.after.start - (hunk.before.start - line),
            None => lines.len() - (self.base.len() - line),
        };
        place(region.base.start, region.hunks[side].start)
            ..place(region.base.end, region.hunks[side].end)
    }
}

/// Tells whether the merged text ends with a newline: as in the side that changed it. An empty text
/// does not count. If an empty base has sides that differ, it does.
fn ends_with_newline(base: &str, ours: &str, theirs: &str) -> bool {
    let ending = |text: &str| (!text.is_empty()).then(|| text.ends_with('\n'));
    let base = ending(base);
    let (ours, theirs) = (ending(ours).or(base), ending(theirs).or(base));
    let ending = match (ours == base, theirs == base) {
        (false, false) if ours != theirs => None,
        (false, _) => ours,
        (true, _) => theirs,
    };
    ending.unwrap_or(true)
}

/// Joins the lines. A blank last line always gets its newline: it would vanish without.
fn joined(lines: &[&str], newline: bool) -> String {
    let mut text = String::with_capacity(lines.iter().map(|line| line.len() + 1).sum());
    for line in lines {
        text.push_str(line);
        text.push('\n');
    }
    if !newline && lines.last().is_some_and(|line| !line.is_empty()) {
        text.pop();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;
    use std::process::Command;

    fn clashes(base: &str, ours: &str, theirs: &str) -> Vec<(usize, usize)> {
        let clashes = merge(base, ours, theirs).expect_err("a clash").into_iter();
        clashes
            .map(|clash| (clash.lines.start, clash.lines.end))
            .collect()
    }

    #[test]
    fn changes_apart_and_changes_that_touch_are_both_made() {
        for (base, ours, theirs, want) in [
            ("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", "A\nb\nC\n"),
            ("a\nb\n", "A\nb\n", "a\nB\n", "A\nB\n"),
            ("a\nb\n", "b\n", "a\n", ""),
            // Undoing a note after which another was added, and one in the middle.
            ("a\nb\n", "a\nb\nc\n", "a\n", "a\nc\n"),
            ("a\nb\nc\n", "a\nb\nx\nc\ny\n", "a\nc\n", "a\nx\nc\ny\n"),
            // An insertion before, after, and on both sides of a line the other replaced.
            ("a\nb\n", "x\na\nb\n", "A\nb\n", "x\nA\nb\n"),
            ("a\nb\n", "a\nx\nb\n", "A\nb\n", "A\nx\nb\n"),
            ("a\nb\n", "x\na\ny\nb\n", "A\nb\n", "x\nA\ny\nb\n"),
            // The same change on both sides, alone and beside another change.
            ("a\n", "a\nx\n", "a\nx\n", "a\nx\n"),
            ("a\nb\nc\n", "A\nb\nc\n", "A\nb\nC\n", "A\nb\nC\n"),
        ] {
            let merged = merge(base, ours, theirs);
            assert_eq!(merged.as_deref(), Ok(want), "{base:?} {ours:?} {theirs:?}");
        }
    }

    #[test]
    fn different_changes_of_a_line_clash() {
        for (base, ours, theirs, want) in [
            ("a\nb\n", "x\nb\n", "y\nb\n", vec![(1, 2)]),
            ("a\nb\n", "b\n", "y\nb\n", vec![(1, 1)]),
            ("a\nb\n", "x\nx\nb\n", "b\n", vec![(1, 3)]),
            // Two insertions at one place.
            ("a\n", "a\nx\n", "a\ny\n", vec![(2, 3)]),
            ("", "x\n", "y\n", vec![(1, 2)]),
            // An insertion inside the lines that the other side replaced.
            ("a\nb\n", "a\nx\nb\n", "c\n", vec![(1, 4)]),
            // The same change, of an uncertain number of lines: theirs may be one change or two.
            ("a\nb\nc\n", "A\nb\nc\n", "A\nB\nc\n", vec![(1, 3)]),
            // Two conflicts, and a change between them without a conflict.
            (
                "a\nm\nn\no\nb\n",
                "1\nm\nN\no\n2\n",
                "3\nm\nn\no\n4\n",
                vec![(1, 2), (5, 6)],
            ),
            // The line that one side inserted may be part of the other side's change.
            ("a\nb\n", "new\na\nb\n", "new\nA\nb\n", vec![(1, 3)]),
            ("a\nb\n", "a\nb\nnew\n", "a\nB\nnew\n", vec![(2, 4)]),
        ] {
            assert_eq!(
                clashes(base, ours, theirs),
                want,
                "{base:?} {ours:?} {theirs:?}"
            );
            assert!(merge(base, theirs, ours).is_err());
        }
    }

    #[test]
    fn the_newline_at_the_end_is_merged_for_itself() {
        for (base, ours, theirs, want) in [
            ("a\nb", "a\nb\nc", "a", "a\nc"),
            ("a\nb", "a\nb\nc\n", "a", "a\nc\n"),
            ("a\nb", "a\nb\nc", "a\n", "a\nc\n"),
            ("a\nb", "a\nb\n", "a\nb\nc", "a\nb\nc\n"),
            ("a\nb\n", "a\nb", "A\nb\n", "A\nb"),
            ("a\nb\n", "a\nb\nc", "a\n", "a\nc"),
            ("a", "", "a\nb", "b"),
            ("a", "", "a\nb\n", "b\n"),
            ("", "a", "a\n", "a\n"),
            ("\nb", "\nb", "\n", "\n"),
            ("a\n\nb\n", "a\n\nb", "a\n\n", "a\n\n"),
        ] {
            for (one, other) in [(ours, theirs), (theirs, ours)] {
                let merged = merge(base, one, other);
                assert_eq!(merged.as_deref(), Ok(want), "{base:?} {one:?} {other:?}");
            }
        }
    }

    /// Merges with stock git; `None` on a conflict.
    fn merged_by_git(base: &str, ours: &str, theirs: &str) -> Option<String> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (name, text) in [("base", base), ("ours", ours), ("theirs", theirs)] {
            fs::write(folder.path().join(name), text).expect("a file");
        }
        let output = Command::new("git")
            .args(["merge-file", "-p", "ours", "base", "theirs"])
            .current_dir(folder.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CEILING_DIRECTORIES", folder.path())
            .env("HOME", folder.path())
            .output()
            .expect("git runs");
        let code = output.status.code().expect("git ends");
        assert!(code < 128, "{output:?}");
        (code == 0).then(|| String::from_utf8(output.stdout).expect("text"))
    }

    /// Tells whether the shortest edit between two texts is unique, and equals our diff.
    fn is_certain(before: &[&str], after: &[&str]) -> bool {
        // The length of the longest common subsequence from each pair of positions on, and the
        // number of subsequences that have it. A subsequence is identified by its pairs.
        let width = after.len() + 1;
        let mut rows = vec![(0usize, 1u64); (before.len() + 1) * width];
        for from in (0..before.len()).rev() {
            for to in (0..after.len()).rev() {
                let at = from * width + to;
                let (down, right, both) = (rows[at + width], rows[at + 1], rows[at + width + 1]);
                let skipped = down.0.max(right.0);
                let mut ways = 0;
                ways += if down.0 == skipped { down.1 } else { 0 };
                ways += if right.0 == skipped { right.1 } else { 0 };
                // Subsequences that take neither position were counted twice.
                ways -= if both.0 == skipped { both.1 } else { 0 };
                rows[at] = (skipped, ways);
                if before[from] == after[to] {
                    let taken = (both.0 + 1, both.1);
                    rows[at] = match taken.0.cmp(&skipped) {
                        std::cmp::Ordering::Less => (skipped, ways),
                        std::cmp::Ordering::Equal => (skipped, ways + taken.1),
                        std::cmp::Ordering::Greater => taken,
                    };
                }
            }
        }
        let stayed: usize = before.len()
            - changed_lines(before, after)
                .iter()
                .map(|hunk| hunk.before.len())
                .sum::<usize>();
        rows[0] == (stayed, 1)
    }

    fn text() -> impl Strategy<Value = String> {
        (prop::collection::vec("[a-e]{0,1}", 0..9), any::<bool>()).prop_map(|(lines, ended)| {
            let text = lines.join("\n");
            if ended && !text.is_empty() {
                text + "\n"
            } else {
                text
            }
        })
    }

    /// Generates a text of distinct lines, and two edited versions of it.
    fn edits() -> impl Strategy<Value = (String, String, String)> {
        let edit = || prop::collection::vec((0usize..12, 0u8..6), 0..4);
        (0usize..12, edit(), edit(), any::<[bool; 3]>()).prop_map(|(lines, ours, theirs, ended)| {
            let base: Vec<String> = (0..lines).map(|line| format!("line {line}")).collect();
            let edited = |edits: &[(usize, u8)]| {
                let mut lines = base.clone();
                for (place, what) in edits {
                    let place = place % (lines.len() + 1);
                    match what {
                        0 | 1 if place < lines.len() => drop(lines.remove(place)),
                        2 | 3 if place < lines.len() => lines[place] = format!("changed {what}"),
                        _ => lines.insert(place, format!("new {what}")),
                    }
                }
                lines
            };
            let whole = |lines: &[String], ended: bool| {
                let text = lines.join("\n");
                if ended && !lines.is_empty() {
                    text + "\n"
                } else {
                    text
                }
            };
            (
                whole(&base, ended[0] || ended[1]),
                whole(&edited(&ours), ended[0] || ended[2]),
                whole(&edited(&theirs), ended[0]),
            )
        })
    }

    proptest! {
        #[test]
        fn one_change_is_that_change(base in text(), other in text()) {
            prop_assert_eq!(merge(&base, &other, &base), Ok(other.clone()));
            prop_assert_eq!(merge(&base, &base, &other), Ok(other.clone()));
            prop_assert_eq!(merge(&base, &other, &other), Ok(other.clone()));
        }

        #[test]
        fn the_sides_are_equal_and_no_line_is_invented(base in text(), ours in text(), theirs in text()) {
            match (merge(&base, &ours, &theirs), merge(&base, &theirs, &ours)) {
                (Ok(one), Ok(other)) => {
                    prop_assert_eq!(&one, &other);
                    let known = [bare_lines(&base), bare_lines(&ours), bare_lines(&theirs)].concat();
                    prop_assert!(bare_lines(&one).iter().all(|line| known.contains(line)));
                }
                (Err(one), Err(other)) => {
                    prop_assert_eq!(one.len(), other.len());
                    let lines = bare_lines(&ours).len();
                    prop_assert!(one.iter().all(|clash| clash.lines.start >= 1
                        && clash.lines.start <= clash.lines.end && clash.lines.end <= lines + 1));
                    prop_assert!(one.is_sorted_by_key(|clash| clash.lines.start));
                }
                (one, other) => prop_assert!(false, "{one:?} {other:?}"),
            }
        }

        // If git merges, the result is the same here, provided that the unchanged lines are
        // certain. If a repeated line makes them uncertain, git may match other lines than the
        // histogram diff does, and the merges may differ.
        #[test]
        fn what_git_merges_is_merged_to_the_same((base, ours, theirs) in prop_oneof![
            edits(), (text(), text(), text()),
        ]) {
            for side in [&ours, &theirs] {
                prop_assume!(is_certain(&bare_lines(&base), &bare_lines(side)));
                let (before, after): (Vec<_>, Vec<_>) =
                    (base.split_inclusive('\n').collect(), side.split_inclusive('\n').collect());
                prop_assume!(is_certain(&before, &after));
            }
            if let Some(want) = merged_by_git(&base, &ours, &theirs) {
                prop_assert_eq!(merge(&base, &ours, &theirs), Ok(want));
            }
        }
    }
}
