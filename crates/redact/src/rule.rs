//! The form of a rule: what it looks for, and how it makes sure.

pub use super::rules::form::{Check, Class, Severity, Tail};
use super::span::Span;

/// One kind of secret and how it is found.
#[derive(Debug)]
pub struct Rule {
    /// The kind, as it stands in markers: 2 to 40 of `a-z`, `0-9` and `-`; unique.
    pub kind: &'static str,
    /// What it is, in a few words, with the vendor's name.
    pub what: &'static str,
    /// What gives it away.
    pub class: Class,
    /// What its loss would mean.
    pub severity: Severity,
    /// Byte strings, upper and lower case as written, one of which stands in every match.
    pub literals: &'static [&'static str],
    /// Words in any case: for [`Class::Keyed`] the vendor's names, one of which stands near.
    pub keywords: &'static [&'static str],
    /// How a match is found from a literal or keyword.
    pub finder: Finder,
    /// What a match must pass, or what lets it pass at once.
    pub checks: &'static [Check],
}

/// Finds secrets from the place where a literal of its rule stands.
///
/// It looks at no more than a bounded stretch around `at`, except where it returns a span over
/// what it read: so that a text of many literals costs no more than a fixed factor of its length.
pub(super) type Scanner = fn(text: &[u8], at: usize, found: &mut Vec<Span>);

/// How a match is found.
#[derive(Debug)]
pub enum Finder {
    /// A regular expression over bytes.
    Shape(Shape),
    /// Code of its own.
    Scan(ScanFn),
    /// The one scanner of values beside names that say password, token or key.
    Named,
    /// The one pass over a text that finds all personal data.
    Personal,
}

/// A [`Scanner`]; a type of its own so that it can be shown.
#[derive(Clone, Copy)]
pub struct ScanFn(pub(super) Scanner);

impl std::fmt::Debug for ScanFn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("scanner")
    }
}

/// The shape of a token.
#[derive(Debug)]
pub struct Shape {
    /// A regular expression of the core, on bytes, with no boundaries at its ends. If it has a
    /// group, the first group is the secret.
    pub core: &'static str,
    /// Most bytes before the literal at which the match begins; 0 if it begins with the literal.
    pub lead: usize,
    /// Most bytes after the start of the literal that the core needs.
    pub reach: usize,
    /// How far the secret runs on after the core.
    pub tail: Tail,
}

impl Rule {
    /// The regular expression of its core, where it has one.
    #[must_use]
    pub fn shape(&self) -> Option<&'static str> {
        match &self.finder {
            Finder::Shape(shape) => Some(shape.core),
            Finder::Scan(_) | Finder::Named | Finder::Personal => None,
        }
    }
}
