//! Splitting long sequences at certain matches, so that only short pieces are searched.

use std::ops::Range;

/// The budget for searching pieces, each counted as its length squared, the worst case. It covers
/// one piece of 32,768 lines, or any number of shorter ones, in well under a second. A piece beyond
/// the budget counts as replaced, which is correct, if not minimal.
const WORK_MAX: usize = 1 << 30;

/// The rounds of splitting, each with the most occurrences of a line that may be an anchor. A line
/// that occurs once on both sides is the best anchor. The second round finds lines that are unique
/// between the anchors of the first; the last takes lines that occur equally often, in order.
const ROUNDS: [usize; 3] = [1, 1, usize::MAX];

/// Returns pairs of positions with equal numbers, increasing on both sides. `search` finds the
/// pairs of pieces that are short enough.
pub(super) fn pairs(
    before: &[u32],
    after: &[u32],
    search: impl Fn(&[u32], &[u32]) -> Vec<(usize, usize)>,
) -> Vec<(usize, usize)> {
    let mut cutter = DiffSplitter {
        before,
        after,
        search,
        work_left: WORK_MAX,
        pairs: Vec::new(),
    };
    cutter.cut(0..before.len(), 0..after.len(), &ROUNDS);
    cutter.pairs
}

struct DiffSplitter<'n, F> {
    before: &'n [u32],
    after: &'n [u32],
    search: F,
    work_left: usize,
    pairs: Vec<(usize, usize)>,
}

impl<F: Fn(&[u32], &[u32]) -> Vec<(usize, usize)>> DiffSplitter<'_, F> {
    /// Adds the pairs of a piece: its common ends directly, the rest between anchors.
    fn cut(&mut self, before: Range<usize>, after: Range<usize>, rounds: &[usize]) {
        let (head, tail) = common_ends(&self.before[before.clone()], &self.after[after.clone()]);
        self.pairs
            .extend((before.start..).zip(after.start..).take(head));
        let inner_before = before.start + head..before.end - tail;
        let inner_after = after.start + head..after.end - tail;
        if !inner_before.is_empty() && !inner_after.is_empty() {
            self.between_anchors(inner_before.clone(), inner_after.clone(), rounds);
        }
        self.pairs
            .extend((inner_before.end..before.end).zip(inner_after.end..));
    }

    fn between_anchors(&mut self, before: Range<usize>, after: Range<usize>, rounds: &[usize]) {
        let Some((occurrences_max, later)) = rounds.split_first() else {
            return self.search(&before, &after);
        };
        let anchors = anchors(
            &self.before[before.clone()],
            &self.after[after.clone()],
            *occurrences_max,
        );
        let (mut from, mut to) = (before.start, after.start);
        for (anchor_before, anchor_after) in anchors {
            let (anchor_before, anchor_after) =
                (before.start + anchor_before, after.start + anchor_after);
            self.cut(from..anchor_before, to..anchor_after, later);
            self.pairs.push((anchor_before, anchor_after));
            (from, to) = (anchor_before + 1, anchor_after + 1);
        }
        self.cut(from..before.end, to..after.end, later);
    }

    fn search(&mut self, before: &Range<usize>, after: &Range<usize>) {
        let lines = before.len() + after.len();
        let Some(left) = self.work_left.checked_sub(lines.saturating_mul(lines)) else {
            return;
        };
        self.work_left = left;
        let found = (self.search)(&self.before[before.clone()], &self.after[after.clone()]);
        self.pairs.extend(
            found
                .iter()
                .map(|(from, to)| (before.start + from, after.start + to)),
        );
    }
}

/// Counts the equal numbers at the start, and at the end of the rest.
fn common_ends(before: &[u32], after: &[u32]) -> (usize, usize) {
    let same = |(one, other): &(&u32, &u32)| one == other;
    let head = before.iter().zip(after).take_while(same).count();
    let rest = before[head..].iter().rev().zip(after[head..].iter().rev());
    (head, rest.take_while(same).count())
}

/// Pairs numbers that occur equally often on both sides, at most `occurrences_max` times, in order.
/// Returns the longest increasing subsequence of these pairs.
fn anchors(before: &[u32], after: &[u32], occurrences_max: usize) -> Vec<(usize, usize)> {
    let (before, after) = (by_number(before), by_number(after));
    let mut candidates = Vec::new();
    let mut others = after.chunk_by(|one, other| one.0 == other.0).peekable();
    for group in before.chunk_by(|one, other| one.0 == other.0) {
        while others.next_if(|other| other[0].0 < group[0].0).is_some() {}
        let Some(other) = others.next_if(|other| other[0].0 == group[0].0) else {
            continue;
        };
        if group.len() == other.len() && group.len() <= occurrences_max {
            let places = group.iter().zip(other);
            candidates.extend(places.map(|(from, to)| (from.1, to.1)));
        }
    }
    candidates.sort_unstable();
    longest_rise(&candidates)
}

/// Lists the numbers with their positions, sorted by both.
fn by_number(sequence: &[u32]) -> Vec<(u32, usize)> {
    let mut places: Vec<_> = sequence.iter().copied().zip(0..).collect();
    places.sort_unstable();
    places
}

/// Finds the longest subsequence increasing in the second member, among pairs that increase in the
/// first.
fn longest_rise(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For every length, the pair that ends such a subsequence with the lowest second member; and
    // for every pair, its predecessor.
    let mut ends: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].1 < pair.1);
        previous.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        if length == ends.len() {
            ends.push(at);
        } else {
            ends[length] = at;
        }
    }
    let mut row = Vec::with_capacity(ends.len());
    let mut at = ends.last().copied();
    while let Some(pair) = at {
        row.push(pairs[pair]);
        at = previous[pair];
    }
    row.reverse();
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn nothing(_: &[u32], _: &[u32]) -> Vec<(usize, usize)> {
        Vec::new()
    }

    #[test]
    fn lines_that_occur_once_are_anchors() {
        let places = pairs(&[9, 1, 8, 2, 7, 3], &[1, 5, 2, 6, 3, 4], nothing);
        assert_eq!(places, [(1, 0), (3, 2), (5, 4)]);
    }

    #[test]
    fn lines_that_moved_are_not_all_anchors() {
        let places = pairs(&[5, 1, 2, 3, 0], &[6, 3, 1, 2, 7], nothing);
        assert_eq!(places, [(1, 2), (2, 3)]);
    }

    #[test]
    fn lines_that_occur_equally_often_are_anchors_of_last_resort() {
        let places = pairs(&[9, 1, 8, 1, 7], &[1, 5, 1, 6], nothing);
        assert_eq!(places, [(1, 0), (3, 2)]);
        assert_eq!(pairs(&[9, 1, 8, 1, 7], &[4, 1, 5], nothing), []);
    }

    #[test]
    fn a_piece_that_would_cost_too_much_counts_as_replaced() {
        let asked = std::cell::Cell::new(0);
        let search = |_: &[u32], _: &[u32]| {
            asked.set(asked.get() + 1);
            Vec::new()
        };
        let short = vec![1; 100];
        let other = [1, 2].repeat(60);
        pairs(&[&[3], &short[..]].concat(), &other, search);
        assert_eq!(asked.get(), 1);
        let long = vec![1; 40_000];
        assert_eq!(pairs(&[&[3], &long[..]].concat(), &other, search), []);
        assert_eq!(asked.get(), 1);
    }

    proptest! {
        #[test]
        fn pairs_are_equal_and_rise(
            before in prop::collection::vec(0u32..12, 0..40),
            after in prop::collection::vec(0u32..12, 0..40),
        ) {
            let found = pairs(&before, &after, crate::diff::closest);
            prop_assert!(found.iter().all(|(from, to)| before[*from] == after[*to]));
            prop_assert!(found.is_sorted_by(|one, other| one.0 < other.0 && one.1 < other.1));
        }
    }
}
