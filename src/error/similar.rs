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
pub(crate) fn steps_max(text: &str) -> usize {
    1 + text.len() / 5
}

/// Computes the edit distance of two texts, in letters changed, added or dropped.
pub(crate) fn steps(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (done, c) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], done + 1);
        for (at, d) in other.iter().enumerate() {
            let changed = diagonal + usize::from(c != *d);
            diagonal = row[at + 1];
            row[at + 1] = changed.min(diagonal + 1).min(row[at] + 1);
        }
    }
    row[other.len()]
}
