//! Line blame: the version of a text that wrote each line.

use std::collections::BTreeMap;

use crate::Text;
use crate::diff::{bare_lines, changed_lines, unchanged};

/// The lines of a text with the versions that wrote them, carried forward version by version.
///
/// An unchanged line keeps its origin. A version that goes back to an earlier one (a restore, a
/// revert, a rollback) did not write the lines it brings back: they keep the origin they had there.
/// A newline at the end of a line makes no difference, so appending a note does not rewrite the
/// line before it.
///
/// It holds the newest text, and of the versions that will be gone back to only the origins, in
/// runs, until their last use.
pub(crate) struct BlameTracker {
    text: Text,
    origins: Vec<u32>,
    version: u32,
    remembered: BTreeMap<u32, Remembered>,
}

/// An earlier version that a later one goes back to.
#[derive(Clone, Copy)]
pub(crate) struct Earlier<'t> {
    /// Its position among the versions, from 0.
    pub(crate) version: u32,
    /// Its text.
    pub(crate) text: &'t Text,
}

/// The origins of a version's lines, for versions that go back to it.
#[derive(Default)]
struct Remembered {
    /// The number of remaining uses.
    uses: usize,
    /// An origin, and the number of consecutive lines that have it.
    runs: Vec<(u32, usize)>,
}

impl Remembered {
    /// Returns the origin of each line.
    fn origins(&self) -> Vec<u32> {
        let runs = self.runs.iter();
        runs.flat_map(|(origin, lines)| std::iter::repeat_n(*origin, *lines))
            .collect()
    }
}

impl BlameTracker {
    /// Starts with version 0. `gone_back_to` lists the earlier version for each version that goes
    /// back to one; only listed versions are remembered.
    pub(crate) fn new(first: Text, gone_back_to: impl IntoIterator<Item = u32>) -> Self {
        let mut remembered = BTreeMap::<u32, Remembered>::new();
        for version in gone_back_to {
            remembered.entry(version).or_default().uses += 1;
        }
        let mut blame = Self {
            origins: vec![0; bare_lines(first.as_str()).len()],
            text: first,
            version: 0,
            remembered,
        };
        blame.remember();
        blame
    }

    /// Advances to the next version. New lines that also occur in `earlier` get their origins from
    /// there, if that version was listed at the start.
    pub(crate) fn step(&mut self, text: Text, earlier: Option<Earlier>) {
        self.version += 1;
        let lines = bare_lines(text.as_str());
        let mut origins = vec![None; lines.len()];
        inherit(
            &mut origins,
            &lines,
            &bare_lines(self.text.as_str()),
            &self.origins,
        );
        if let Some(earlier) = earlier {
            let known = self.recall(earlier.version);
            inherit(
                &mut origins,
                &lines,
                &bare_lines(earlier.text.as_str()),
                &known,
            );
        }
        let written = |origin: Option<u32>| origin.unwrap_or(self.version);
        self.origins = origins.into_iter().map(written).collect();
        self.text = text;
        self.remember();
    }

    /// Tells whether the newest version has a line that it wrote itself, as far as known.
    pub(crate) fn has_new(&self) -> bool {
        self.origins.contains(&self.version)
    }

    /// Attributes seemingly new lines to another earlier version that has them. After a merge, the
    /// lines that an undo brought back may come from any version it undid.
    pub(crate) fn attribute(&mut self, earlier: Earlier) {
        let lines = bare_lines(self.text.as_str());
        let known = |origin: &u32| Some(*origin).filter(|origin| *origin != self.version);
        let mut origins: Vec<Option<u32>> = self.origins.iter().map(known).collect();
        let remembered = self.remembered.get(&earlier.version);
        let theirs = remembered.map_or_else(Vec::new, Remembered::origins);
        let text = bare_lines(earlier.text.as_str());
        if theirs.len() == text.len() {
            inherit(&mut origins, &lines, &text, &theirs);
        }
        let written = |origin: Option<u32>| origin.unwrap_or(self.version);
        self.origins = origins.into_iter().map(written).collect();
        self.remember();
    }

    /// Releases one use of a listed version.
    pub(crate) fn forget(&mut self, version: u32) {
        drop(self.recall(version));
    }

    /// Returns, for each line of the newest text, the version that wrote it, from 0.
    pub(crate) fn origins(&self) -> &[u32] {
        &self.origins
    }

    /// Returns the newest text.
    pub(crate) fn text(&self) -> &Text {
        &self.text
    }

    fn remember(&mut self) {
        if let Some(remembered) = self.remembered.get_mut(&self.version) {
            let runs = self.origins.chunk_by(|one, next| one == next);
            remembered.runs = runs.map(|run| (run[0], run.len())).collect();
        }
    }

    /// Takes the origins of an earlier version's lines, and drops them on the last use.
    fn recall(&mut self, version: u32) -> Vec<u32> {
        let Some(remembered) = self.remembered.get_mut(&version) else {
            return Vec::new();
        };
        remembered.uses -= 1;
        let origins = remembered.origins();
        if remembered.uses == 0 {
            self.remembered.remove(&version);
        }
        origins
    }
}

/// Copies the origins of lines unchanged since `before`, unless a line has one already.
fn inherit(origins: &mut [Option<u32>], lines: &[&str], before: &[&str], known: &[u32]) {
    let hunks = changed_lines(before, lines);
    for (from, to) in unchanged(&hunks, before.len()) {
        origins[to] = origins[to].or(known.get(from).copied());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Instant;

    /// Computes the blame of versions, given as texts with the version each goes back to.
    fn blamed(versions: &[(&str, Option<u32>)]) -> Vec<u32> {
        let texts: Vec<Text> = versions.iter().map(|(text, _)| (*text).into()).collect();
        let mut blame = BlameTracker::new(
            texts[0].clone(),
            versions.iter().filter_map(|version| version.1),
        );
        for (text, (_, back)) in texts.iter().zip(versions).skip(1) {
            let earlier = back.map(|version| Earlier {
                version,
                text: &texts[version as usize],
            });
            blame.step(text.clone(), earlier);
        }
        assert!(blame.remembered.is_empty(), "nothing is kept for later");
        blame.origins().to_vec()
    }

    #[test]
    fn lines_keep_the_version_that_wrote_them() {
        assert_eq!(blamed(&[("a\nb\n", None)]), [0, 0]);
        assert_eq!(
            blamed(&[("a\nb\n", None), ("x\na\nb\n", None), ("x\na\nB\n", None)]),
            [1, 0, 2]
        );
        assert_eq!(blamed(&[("a\n", None), ("", None), ("a\n", None)]), [2]);
        assert_eq!(blamed(&[("", None)]), [0; 0]);
        // The moved line counts as new.
        assert_eq!(
            blamed(&[("a\nb\nc\n", None), ("b\nc\na\n", None)]),
            [0, 0, 1]
        );
    }

    #[test]
    fn what_a_version_brings_back_was_written_before() {
        let ruined = [("a\nb\n", None), ("a\nb\nc\n", None), ("gone\n", None)];
        let with = |last| blamed(&[&ruined[..], &[last]].concat());
        assert_eq!(with(("a\nb\nc\n", Some(1))), [0, 0, 1]);
        assert_eq!(with(("a\nb\nc\n", None)), [3, 3, 3]);
        assert_eq!(with(("a\nnew\nc\ngone\n", Some(1))), [0, 3, 1, 2]);
        // Back to a version that had itself gone back.
        let twice = [
            ("a\n", None),
            ("b\n", None),
            ("a\nc\n", Some(0)),
            ("", None),
            ("a\nc\n", Some(2)),
        ];
        assert_eq!(blamed(&twice), [0, 2]);
    }

    #[test]
    fn a_newline_added_at_the_end_writes_no_line() {
        assert_eq!(blamed(&[("a\nb", None), ("a\nb\nc", None)]), [0, 0, 1]);
        assert_eq!(blamed(&[("a\nb", None), ("a\nb\n", None)]), [0, 0]);
        assert_eq!(
            blamed(&[("a\nb", None), ("", None), ("a\nb\n", Some(0))]),
            [0, 0]
        );
    }

    #[test]
    fn a_version_that_was_not_named_is_not_remembered() {
        let text = |text: &str| Text::from(text);
        let mut blame = BlameTracker::new(text("a\n"), []);
        blame.step(text(""), None);
        blame.step(
            text("a\n"),
            Some(Earlier {
                version: 0,
                text: &text("a\n"),
            }),
        );
        assert_eq!(blame.origins(), [2]);
    }

    /// Finds the origin of a line recursively, by comparing versions anew.
    fn naive(versions: &[(String, Option<usize>)], version: usize, line: usize) -> usize {
        let stayed_from = |earlier: usize| {
            let (before, after) = (
                bare_lines(&versions[earlier].0),
                bare_lines(&versions[version].0),
            );
            let hunks = changed_lines(&before, &after);
            let found = unchanged(&hunks, before.len()).find(|(_, to)| *to == line);
            found.map(|(from, _)| naive(versions, earlier, from))
        };
        let Some(before) = version.checked_sub(1) else {
            return 0;
        };
        stayed_from(before)
            .or_else(|| versions[version].1.and_then(stayed_from))
            .unwrap_or(version)
    }

    proptest! {
        #[test]
        fn as_if_every_version_were_asked(
            drawn in prop::collection::vec(("([a-d]\n){0,6}[a-d]{0,1}", any::<Option<prop::sample::Index>>()), 1..9),
        ) {
            let versions: Vec<_> = drawn
                .into_iter()
                .enumerate()
                .map(|(at, (text, back))| (text, back.filter(|_| at > 0).map(|back| back.index(at))))
                .collect();
            let last = versions.len() - 1;
            let lines = bare_lines(&versions[last].0).len();
            let want: Vec<_> = (0..lines).map(|line| naive(&versions, last, line)).collect();
            let given: Vec<_> = versions
                .iter()
                .map(|(text, back)| (text.as_str(), back.map(|back| u32::try_from(back).expect("few"))))
                .collect();
            let got: Vec<_> = blamed(&given).into_iter().map(|origin| origin as usize).collect();
            prop_assert_eq!(got, want);
        }
    }

    #[test]
    fn five_hundred_versions_of_five_hundred_lines() {
        let mut lines: Vec<String> = (0..500)
            .map(|line| format!("note {line} as it was written"))
            .collect();
        let whole = |lines: &[String]| Text::from(lines.join("\n") + "\n");
        let mut blame = BlameTracker::new(whole(&lines), []);
        let start = Instant::now();
        for version in 1..=500 {
            lines[version * 7 % 500] = format!("note of version {version}");
            blame.step(whole(&lines), None);
        }
        // The goal is a tenth of a second with optimization; test builds are slower.
        assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
        for version in 1..=500usize {
            assert_eq!(blame.origins()[version * 7 % 500] as usize, version);
        }
    }
}
