//! What a mistyped name may have meant.

/// Returns the names nearest to a text, if they are near enough to be what was meant.
#[must_use]
pub fn nearest<'a>(text: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let near: Vec<_> = names
        .into_iter()
        .map(|name| (steps(text, name), name))
        .collect();
    let least = near.iter().map(|(steps, _)| *steps).min();
    let least = least.filter(|steps| *steps <= steps_max(text));
    let meant = near.iter().filter(|(steps, _)| Some(*steps) == least);
    meant.map(|(_, name)| *name).collect()
}

/// Returns the most letters that may be wrong in a text.
#[must_use]
pub fn steps_max(text: &str) -> usize {
    1 + text.len() / 5
}

/// Computes the edit distance of two texts, in letters changed, added, dropped, or swapped with the
/// next one.
#[must_use]
pub fn steps(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut before = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (i, c) in one.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, d) in other.iter().enumerate() {
            let changed = last[j] + usize::from(c != d);
            let mut fewest = changed.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *c == other[j - 1] && one[i - 1] == *d {
                fewest = fewest.min(before[j - 1] + 1);
            }
            row.push(fewest);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[other.len()]
}
