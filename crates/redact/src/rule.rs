//! The form of a rule: the secret that it looks for, and the checks on a match.

use crate::span::Span;

pub use crate::rules::form::{Check, Class, Severity, Tail};

/// A kind of secret and how it is found.
#[derive(Debug)]
pub struct Rule {
    /// The kind, as it stands in markers: 2 to 40 of `a-z`, `0-9` and `-`; unique.
    pub kind: &'static str,
    /// A short description, with the vendor's name.
    pub what: &'static str,
    /// The trait that gives the secret away.
    pub class: Class,
    /// The damage that its loss would do.
    pub severity: Severity,
    /// Byte strings, upper and lower case as written. Every match holds one of them.
    pub literals: &'static [&'static str],
    /// Words in any case. For [`Class::Keyed`] they are the vendor's names, one of which stands
    /// near.
    pub keywords: &'static [&'static str],
    /// The way from a literal or keyword to a match.
    pub finder: Finder,
    /// Checks that a match must pass, or that let it pass at once.
    pub checks: &'static [Check],
}

/// A function that finds secrets from the place where a literal of its rule stands.
///
/// It reads only a bounded stretch around `at`, except where it returns a span over the text that
/// it read. So a text of many literals costs no more than a fixed factor of its length.
pub(super) type Scanner = fn(text: &[u8], at: usize, found: &mut Vec<Span>);

/// A way to find a match.
#[derive(Debug)]
pub enum Finder {
    /// A regular expression over bytes.
    Shape(Shape),
    /// A scanner function.
    Scan(ScanFn),
    /// The scanner of values beside names that say password, token or key.
    Named,
    /// The pass over a text that finds all personal data.
    Personal,
}

/// A [`Scanner`] in a type of its own, so that `Debug` can show it.
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
    /// The regular expression of the core, on bytes, with no boundaries at its ends. Its first
    /// group, if it has one, is the secret.
    pub core: &'static str,
    /// Most bytes between the start of the match and its literal; 0 if the match begins with the
    /// literal.
    pub lead: usize,
    /// Most bytes after the start of the literal that the core needs.
    pub reach: usize,
    /// The bytes with which the secret runs on after the core.
    pub tail: Tail,
}

impl Rule {
    /// Returns the regular expression of the rule's core, if it has one.
    #[must_use]
    pub fn shape(&self) -> Option<&'static str> {
        match &self.finder {
            Finder::Shape(shape) => Some(shape.core),
            Finder::Scan(_) | Finder::Named | Finder::Personal => None,
        }
    }
}
