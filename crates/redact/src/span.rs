//! Where a secret stands in a text, and what it is.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// The name of what a rule finds, as it stands in markers: 2 to 40 of `a-z`, `0-9` and `-`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Kind(Cow<'static, str>);

impl Kind {
    /// A kind of the built-in rules.
    pub(super) const fn known(name: &'static str) -> Self {
        Self(Cow::Borrowed(name))
    }

    /// Reads a kind of the owner's: `None` unless it has the form of one.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        let valid = (2..=40).contains(&name.len()) && name.bytes().all(fits);
        valid.then(|| Self(Cow::Owned(name.to_owned())))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How sure a finding is of its kind: where findings overlap, the surer one names the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// A name says that a value is secret; the value says nothing of its own.
    Named,
    /// Personal data, proven by its check digits or asked for by the owner.
    Personal,
    /// A vendor's name stands beside a value of that vendor's shape.
    Keyed,
    /// The place says that it is secret: a header, a URI, a file format.
    Structural,
    /// The token says what it is by its own prefix or marker.
    Marked,
    /// A block with an armour of its own.
    Armour,
}

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    /// First byte.
    pub(super) start: usize,
    /// One after the last byte.
    pub(super) end: usize,
    pub(super) kind: Kind,
    pub(super) rank: Rank,
}

impl Span {
    pub(super) fn new(range: Range<usize>, kind: &'static str, rank: Rank) -> Self {
        Self {
            start: range.start,
            end: range.end,
            kind: Kind::known(kind),
            rank,
        }
    }
}
