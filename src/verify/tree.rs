//! Parsed trees, foreign entries included, and the differences between two of them.

use std::cmp::Ordering;
use std::ops::Deref;

use crate::id::{MemoryId, ObjectId};

/// The kind that an entry states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryMode {
    File,
    Folder,
    /// An executable, a link, a module: nothing a store has.
    Foreign,
}

/// The name of an entry, stored inline unless it is longer than a store's names.
#[derive(Debug, Clone)]
pub(super) enum EntryName {
    Short([u8; SHORT_BYTES], u8),
    Long(Box<[u8]>),
}

/// Bytes of a memory id in hexadecimal digits.
const SHORT_BYTES: usize = 32;

impl From<&[u8]> for EntryName {
    fn from(name: &[u8]) -> Self {
        match u8::try_from(name.len()) {
            Ok(length) if name.len() <= SHORT_BYTES => {
                let mut short = [0; SHORT_BYTES];
                short[..name.len()].copy_from_slice(name);
                Self::Short(short, length)
            }
            _ => Self::Long(name.into()),
        }
    }
}

impl Deref for EntryName {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Short(name, length) => &name[..usize::from(*length)],
            Self::Long(name) => name,
        }
    }
}

impl PartialEq for EntryName {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for EntryName {}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct RawTreeEntry {
    pub(super) name: EntryName,
    pub(super) mode: EntryMode,
    pub(super) id: ObjectId,
}

/// A tree object, sorted by name.
#[derive(Default)]
pub(super) struct RawTree {
    entries: Vec<RawTreeEntry>,
    /// True if the object was sorted, with each name once.
    pub(super) ordered: bool,
}

/// The versions of a differing entry before and after.
pub(super) type EntryChange<'a> = (Option<&'a RawTreeEntry>, Option<&'a RawTreeEntry>);

impl RawTree {
    /// Parses a tree object; `None` if the bytes are no tree object.
    pub(super) fn parse(mut bytes: &[u8]) -> Option<Self> {
        let mut entries: Vec<RawTreeEntry> = Vec::with_capacity(bytes.len() / 30);
        while !bytes.is_empty() {
            let space = bytes.iter().position(|b| *b == b' ')?;
            let mode = match &bytes[..space] {
                b"40000" => EntryMode::Folder,
                b"100644" => EntryMode::File,
                _ => EntryMode::Foreign,
            };
            let rest = &bytes[space + 1..];
            let nul = rest.iter().position(|b| *b == 0)?;
            let id = rest.get(nul + 1..nul + 21)?.try_into().ok()?;
            entries.push(RawTreeEntry {
                name: rest[..nul].into(),
                mode,
                id: ObjectId(id),
            });
            bytes = &rest[nul + 21..];
        }
        let ordered = entries.windows(2).all(|two| *two[0].name < *two[1].name);
        if !ordered {
            entries.sort_by(|a, b| (*a.name).cmp(&b.name));
        }
        Some(Self { entries, ordered })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn find(&self, name: &[u8]) -> Option<&RawTreeEntry> {
        let at = self
            .entries
            .binary_search_by(|e| (*e.name).cmp(name))
            .ok()?;
        Some(&self.entries[at])
    }

    /// Returns the blob of a file at the root.
    pub(super) fn file(&self, name: &str) -> Option<ObjectId> {
        let entry = self.find(name.as_bytes())?;
        (entry.mode == EntryMode::File).then_some(entry.id)
    }

    /// Returns every entry that differs in `after`, in name order.
    pub(super) fn differences<'a>(&'a self, after: &'a Self) -> Vec<EntryChange<'a>> {
        let (mut old, mut new) = (
            self.entries.iter().peekable(),
            after.entries.iter().peekable(),
        );
        let mut found = Vec::new();
        loop {
            let order = match (old.peek(), new.peek()) {
                (None, None) => return found,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(a), Some(b)) => (*a.name).cmp(&b.name),
            };
            let pair = match order {
                Ordering::Less => (old.next(), None),
                Ordering::Greater => (None, new.next()),
                Ordering::Equal => (old.next(), new.next()),
            };
            if pair.0 != pair.1 {
                found.push(pair);
            }
        }
    }
}

/// Tells whether an entry of a root tree is a folder of memories.
pub(super) fn is_fan(entry: &RawTreeEntry) -> bool {
    let digit = |b: &u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
    entry.mode == EntryMode::Folder && entry.name.len() == 2 && entry.name.iter().all(digit)
}

/// Returns the memory of an entry in a folder, if it is one.
pub(super) fn memory_of(folder: &[u8], entry: &RawTreeEntry) -> Option<MemoryId> {
    let name = std::str::from_utf8(&entry.name).ok()?;
    let fits = entry.mode == EntryMode::File && entry.name.starts_with(folder);
    MemoryId::from_hex(name).filter(|_| fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tree(names: &[(&str, u8)]) -> RawTree {
        let mut bytes = Vec::new();
        for (name, id) in names {
            bytes.extend_from_slice(format!("100644 {name}\0").as_bytes());
            bytes.extend_from_slice(&[*id; 20]);
        }
        RawTree::parse(&bytes).expect("a tree")
    }

    #[test]
    fn what_differs_is_found_on_either_side() {
        let (old, new) = (
            tree(&[("a", 1), ("b", 2), ("d", 4)]),
            tree(&[("b", 3), ("c", 1), ("d", 4), ("e", 5)]),
        );
        let names: Vec<_> = old
            .differences(&new)
            .iter()
            .map(|(a, b)| (a.map(|e| e.id.0[0]), b.map(|e| e.id.0[0])))
            .collect();
        let expected = [
            (Some(1), None),
            (Some(2), Some(3)),
            (None, Some(1)),
            (None, Some(5)),
        ];
        assert_eq!(names, expected);
        assert!(old.differences(&old).is_empty());
    }

    #[test]
    fn disorder_is_seen_and_read_all_the_same() {
        let foul = tree(&[("b", 1), ("a", 2)]);
        assert!(!foul.ordered && foul.find(b"a").is_some());
        assert!(!tree(&[("a", 1), ("a", 2)]).ordered);
        assert!(tree(&[("a", 1), ("b", 2)]).ordered);
    }

    proptest! {
        #[test]
        fn no_bytes_break_the_parser(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = RawTree::parse(&bytes);
        }
    }
}
