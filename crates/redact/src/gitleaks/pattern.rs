//! A pattern of the owner's: translated when it is read, compiled when it is first needed.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use regex::bytes::{Regex, RegexBuilder};

use super::go::{self, Change};

/// Most memory the patterns of one file may take, compiled.
const ROOM: usize = 64 * 1024 * 1024;
/// The steps in which a pattern's size is measured; the last is the most one may take.
const SIZES: [usize; 5] = [
    16 * 1024,
    64 * 1024,
    256 * 1024,
    1024 * 1024,
    4 * 1024 * 1024,
];

/// The memory that is left for patterns.
#[derive(Debug)]
pub(super) struct Room(AtomicUsize);

impl Room {
    /// Room for the patterns of one file.
    pub(super) const fn new() -> Self {
        Self(AtomicUsize::new(ROOM))
    }

    fn take(&self, size: usize) -> bool {
        let spend = |left: usize| left.checked_sub(size);
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend)
            .is_ok()
    }
}

/// A pattern.
#[derive(Debug)]
pub(super) struct Pattern {
    text: String,
    /// How many groups it captures.
    pub(super) groups: usize,
    /// What was written another way than in the file.
    pub(super) changes: BTreeSet<Change>,
    built: OnceLock<Result<Regex, String>>,
}

impl Pattern {
    /// Translates a pattern in Go's syntax.
    pub(super) fn new(go: &str) -> Result<Self, go::Refusal> {
        let translated = go::translate(go)?;
        Ok(Self {
            text: translated.pattern,
            groups: translated.groups,
            changes: translated.changes,
            built: OnceLock::new(),
        })
    }

    /// The compiled pattern, or why it cannot be compiled.
    pub(super) fn regex(&self, room: &Room) -> Result<&Regex, &str> {
        let built = self.built.get_or_init(|| compile(&self.text, room));
        built.as_ref().map_err(String::as_str)
    }

    /// Where a group of this pattern stands in a text: group `wanted`, or with 0 the first that
    /// is not empty.
    pub(super) fn group(regex: &Regex, text: &[u8], wanted: usize) -> Option<Range<usize>> {
        let groups = regex.captures(text)?;
        let group = match wanted {
            0 => groups
                .iter()
                .skip(1)
                .flatten()
                .find(|group| !group.is_empty()),
            _ => groups.get(wanted).filter(|group| !group.is_empty()),
        };
        group.map(|group| group.range())
    }
}

/// Compiles a pattern in the smallest size it fits, which is what it takes of the room.
fn compile(text: &str, room: &Room) -> Result<Regex, String> {
    for size in SIZES {
        let built = RegexBuilder::new(text)
            .unicode(false)
            .size_limit(size)
            .build();
        match built {
            Ok(_) if !room.take(size) => {
                return Err("the patterns of the file take more than 64 MiB".into());
            }
            Ok(regex) => return Ok(regex),
            Err(regex::Error::CompiledTooBig(_)) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    Err("the pattern takes more than 4 MiB".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_takes_room_once() {
        let room = Room::new();
        let pattern = Pattern::new("ab{3}c").expect("a pattern");
        assert!(pattern.regex(&room).is_ok());
        assert!(pattern.regex(&room).is_ok());
        assert_eq!(room.0.load(Ordering::Relaxed), ROOM - SIZES[0]);
    }

    #[test]
    fn too_large_a_pattern_is_refused() {
        let room = Room::new();
        let pattern = Pattern::new("(?:[a-z]{10}\\pL){100}").expect("within Go's limit");
        assert_eq!(
            pattern.regex(&room).err(),
            Some("the pattern takes more than 4 MiB")
        );
    }

    #[test]
    fn all_patterns_together_have_a_limit() {
        let room = Room(AtomicUsize::new(SIZES[0]));
        let first = Pattern::new("a").expect("a pattern");
        let second = Pattern::new("b").expect("a pattern");
        assert!(first.regex(&room).is_ok());
        assert_eq!(
            second.regex(&room).err(),
            Some("the patterns of the file take more than 64 MiB")
        );
    }
}
