//! Unified diffs for people: hunks with three lines of context.

use std::fmt;
use std::ops::Range;

use crate::Text;
use crate::diff::emphasis::{Emphasis, Ranges};
use crate::diff::{Hunk, bare, hunks};

/// Lines of context before and after a change.
const CONTEXT_LINES: usize = 3;

/// The differences between two texts, line by line. `Debug` shows only counts.
#[derive(Clone, PartialEq, Eq)]
pub struct TextDiff {
    hunks: Vec<DiffHunk>,
}

/// A group of nearby changes, with up to three lines of context around each.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiffHunk {
    /// The range of lines in the text before, from 0, end excluded.
    pub before: Range<usize>,
    /// The range of lines in the text after, from 0, end excluded.
    pub after: Range<usize>,
    /// The lines in order; within a change, removed lines come before added ones.
    pub lines: Vec<DiffLine>,
}

/// A line of a [`DiffHunk`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiffLine {
    /// The kind: context, removed or added.
    pub kind: LineKind,
    /// Its number in the text before, from 1; `None` for an added line.
    pub before: Option<usize>,
    /// Its number in the text after, from 1; `None` for a removed line.
    pub after: Option<usize>,
    /// The line without its newline.
    pub text: Text,
    /// True if no newline follows it, which is possible at the end of a text.
    pub unterminated: bool,
    /// The byte ranges of `text` that differ from the corresponding line on the other side: whole
    /// words, increasing and disjoint. Empty if no line corresponds. Corresponding lines share at
    /// least half of their words by size; very long lines are not compared.
    pub emphasis: Vec<Range<usize>>,
}

/// The kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// It is in both texts.
    Context,
    /// It is only in the text before.
    Removed,
    /// It is only in the text after.
    Added,
}

impl TextDiff {
    /// Computes the diff from `before` to `after`. A missing newline at the end is a difference.
    pub(crate) fn of(before: &Text, after: &Text) -> Self {
        let (before, after) = (before.as_str(), after.as_str());
        let changes = hunks(before, after);
        let mut shown = HunkBuilder {
            before: before.split_inclusive('\n').collect(),
            after: after.split_inclusive('\n').collect(),
            emphasis: Emphasis::new(),
        };
        let near =
            |one: &Hunk, other: &Hunk| other.before.start - one.before.end <= 2 * CONTEXT_LINES;
        Self {
            hunks: changes
                .chunk_by(near)
                .map(|group| shown.hunk(group))
                .collect(),
        }
    }

    /// Returns the hunks, in the order of the text.
    #[must_use]
    pub fn hunks(&self) -> &[DiffHunk] {
        &self.hunks
    }

    /// Tells whether the texts are equal.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hunks.is_empty()
    }

    /// Returns the number of added lines.
    #[must_use]
    pub fn added(&self) -> usize {
        self.count(LineKind::Added)
    }

    /// Returns the number of removed lines.
    #[must_use]
    pub fn removed(&self) -> usize {
        self.count(LineKind::Removed)
    }

    fn count(&self, kind: LineKind) -> usize {
        let lines = self.hunks.iter().flat_map(|hunk| &hunk.lines);
        lines.filter(|line| line.kind == kind).count()
    }

    /// Formats the body of a unified diff, without the `---` and `+++` lines, for `patch` and `git
    /// apply`. Empty if the texts are equal.
    #[must_use]
    pub fn unified(&self) -> Text {
        // Allocates the full size: outgrown buffers would leave text behind in memory.
        let lines = self.hunks.iter().flat_map(|hunk| &hunk.lines);
        let room: usize = lines
            .map(|line| {
                2 + line.text.len()
                    + if line.unterminated {
                        NO_NEWLINE.len()
                    } else {
                        0
                    }
            })
            .sum();
        let mut out = String::with_capacity(room + self.hunks.len() * HEADER_BYTES_MAX);
        for hunk in &self.hunks {
            out.push_str(&hunk.header());
            for line in &hunk.lines {
                line.write(&mut out);
            }
        }
        out.into()
    }
}

impl fmt::Debug for TextDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextDiff")
            .field("hunks", &self.hunks.len())
            .field("added", &self.added())
            .field("removed", &self.removed())
            .finish()
    }
}

/// The marker after a last line without a newline.
const NO_NEWLINE: &str = "\\ No newline at end of file\n";

/// Longest header, in bytes: four numbers of twenty digits and the characters around them.
const HEADER_BYTES_MAX: usize = 4 * 20 + 14;

impl DiffHunk {
    /// Formats the header of a unified diff, with its newline.
    #[must_use]
    pub fn header(&self) -> String {
        // An empty range has the number of the line before it.
        let start = |range: &Range<usize>| range.start + usize::from(!range.is_empty());
        format!(
            "@@ -{},{} +{},{} @@\n",
            start(&self.before),
            self.before.len(),
            start(&self.after),
            self.after.len()
        )
    }
}

impl DiffLine {
    fn new(kind: LineKind, line: &str, emphasis: Ranges) -> Self {
        let text = bare(line);
        Self {
            kind,
            before: None,
            after: None,
            text: text.into(),
            unterminated: text.len() == line.len(),
            emphasis,
        }
    }

    fn write(&self, out: &mut String) {
        out.push(match self.kind {
            LineKind::Context => ' ',
            LineKind::Removed => '-',
            LineKind::Added => '+',
        });
        out.push_str(self.text.as_str());
        out.push('\n');
        if self.unterminated {
            out.push_str(NO_NEWLINE);
        }
    }
}

/// Two texts in lines, newlines included, from which hunks are built.
struct HunkBuilder<'t> {
    before: Vec<&'t str>,
    after: Vec<&'t str>,
    emphasis: Emphasis,
}

impl HunkBuilder<'_> {
    /// Builds a hunk of nearby changes with their context.
    fn hunk(&mut self, changes: &[Hunk]) -> DiffHunk {
        let (first, last) = (&changes[0], &changes[changes.len() - 1]);
        let above = first.before.start.min(CONTEXT_LINES);
        let below = (self.before.len() - last.before.end).min(CONTEXT_LINES);
        let mut lines = Vec::new();
        let (mut old, mut new) = (first.before.start - above, first.after.start - above);
        for change in changes {
            self.context(old..change.before.start, new, &mut lines);
            self.change(change, &mut lines);
            (old, new) = (change.before.end, change.after.end);
        }
        self.context(old..last.before.end + below, new, &mut lines);
        DiffHunk {
            before: first.before.start - above..last.before.end + below,
            after: first.after.start - above..last.after.end + below,
            lines,
        }
    }

    fn context(&self, before: Range<usize>, after: usize, lines: &mut Vec<DiffLine>) {
        for (old, new) in before.zip(after..) {
            let mut line = DiffLine::new(LineKind::Context, self.before[old], Ranges::new());
            (line.before, line.after) = (Some(old + 1), Some(new + 1));
            lines.push(line);
        }
    }

    fn change(&mut self, change: &Hunk, lines: &mut Vec<DiffLine>) {
        let (removed, added) = self.emphasis.of(
            &all_bare(&self.before[change.before.clone()]),
            &all_bare(&self.after[change.after.clone()]),
        );
        for (old, emphasis) in change.before.clone().zip(removed) {
            let mut line = DiffLine::new(LineKind::Removed, self.before[old], emphasis);
            line.before = Some(old + 1);
            lines.push(line);
        }
        for (new, emphasis) in change.after.clone().zip(added) {
            let mut line = DiffLine::new(LineKind::Added, self.after[new], emphasis);
            line.after = Some(new + 1);
            lines.push(line);
        }
    }
}

fn all_bare<'t>(lines: &[&'t str]) -> Vec<&'t str> {
    lines.iter().map(|line| bare(line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    fn diff(before: &str, after: &str) -> TextDiff {
        TextDiff::of(&before.into(), &after.into())
    }

    fn unified(before: &str, after: &str) -> String {
        diff(before, after).unified().as_str().to_owned()
    }

    #[test]
    fn a_change_with_the_lines_around_it() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n";
        let after = "1\n2\n3\n4\nfive\n6\n7\n8\n";
        assert_eq!(
            unified(before, after),
            "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
        );
        let numbers = |line: &DiffLine| (line.before, line.after);
        let diff = diff(before, after);
        let lines = &diff.hunks()[0].lines;
        assert_eq!(numbers(&lines[2]), (Some(4), Some(4)));
        assert_eq!(numbers(&lines[3]), (Some(5), None));
        assert_eq!(numbers(&lines[4]), (None, Some(5)));
    }

    #[test]
    fn changes_are_apart_only_with_seven_lines_between() {
        let text = |between: usize| format!("a\n{}b\n", "x\n".repeat(between));
        let other = |between: usize| format!("A\n{}B\n", "x\n".repeat(between));
        assert_eq!(diff(&text(6), &other(6)).hunks().len(), 1);
        assert_eq!(diff(&text(7), &other(7)).hunks().len(), 2);
    }

    #[test]
    fn a_newline_at_the_end_is_a_difference() {
        assert_eq!(
            unified("a\nb", "a\nb\n"),
            "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"
        );
        assert_eq!(
            unified("a\nb", "c\nb"),
            "@@ -1,2 +1,2 @@\n-a\n+c\n b\n\\ No newline at end of file\n"
        );
        let diff = diff("b", "b\n");
        let lines = &diff.hunks()[0].lines;
        assert_eq!(
            (lines[0].unterminated, lines[1].unterminated),
            (true, false)
        );
        assert!(lines[0].emphasis.is_empty());
    }

    #[test]
    fn a_text_that_comes_or_goes() {
        assert_eq!(unified("", "a\n"), "@@ -0,0 +1,1 @@\n+a\n");
        assert_eq!(unified("\n", ""), "@@ -1,1 +0,0 @@\n-\n");
        assert!(diff("same", "same").is_empty());
        assert_eq!(unified("same", "same"), "");
    }

    #[test]
    fn counts_and_no_text_in_debug() {
        let diff = diff("secret one\nx\n", "secret two\nx\nsecret\n");
        assert_eq!((diff.added(), diff.removed()), (2, 1));
        assert_eq!(
            format!("{diff:?}"),
            "TextDiff { hunks: 1, added: 2, removed: 1 }"
        );
        assert!(!format!("{:?}", diff.hunks()).contains("secret"));
        assert_eq!(diff.hunks()[0].lines[0].emphasis.first(), Some(&(7..10)));
    }

    /// Applies the diff with stock git in a folder that is no repository.
    fn applied(folder: &Path, before: &str, diff: &TextDiff) -> String {
        fs::write(folder.join("text"), before).expect("a file");
        let header = "diff --git a/text b/text\n--- a/text\n+++ b/text\n";
        let patch = format!("{header}{}", diff.unified().as_str());
        fs::write(folder.join("patch"), patch).expect("a file");
        let output = Command::new("git")
            .args(["apply", "--whitespace=nowarn", "patch"])
            .current_dir(folder)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env(
                "GIT_CEILING_DIRECTORIES",
                folder.parent().expect("a parent"),
            )
            .env("HOME", folder)
            .output()
            .expect("git runs");
        assert!(output.status.success(), "{output:?}");
        fs::read_to_string(folder.join("text")).expect("a file")
    }

    fn text() -> impl Strategy<Value = String> {
        let line = prop::sample::select(vec![
            "a",
            "b",
            "c",
            "",
            " a",
            "\t",
            "é\r",
            "-",
            "+",
            "@@ -1,1 +1,1 @@",
        ]);
        (prop::collection::vec(line, 0..30), any::<bool>()).prop_map(|(lines, ended)| {
            let text = lines.join("\n");
            if ended && !lines.is_empty() {
                text + "\n"
            } else {
                text
            }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn stock_git_applies_it(before in text(), after in text()) {
            let diff = diff(&before, &after);
            prop_assert_eq!(diff.is_empty(), before == after);
            if before != after {
                let folder = tempfile::tempdir().expect("a temporary folder");
                prop_assert_eq!(applied(folder.path(), &before, &diff), after);
            }
        }
    }
}
