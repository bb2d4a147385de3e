//! The form of a rule: what it looks for, how it makes sure, and texts that show both.

use serde::{Deserialize, Serialize};

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
    /// At least three texts in which it is found. What must vanish stands between `«` and `»`, all
    /// else must stay; without them everything must vanish. `¦` is dropped: it keeps scanners of
    /// this file from taking an example for a live token.
    pub found: &'static [&'static str],
    /// At least three texts that must stay as they are. `¦` is dropped.
    pub kept: &'static [&'static str],
}

/// What gives a secret away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Its own prefix or inner marker.
    Marked,
    /// The vendor's name beside a bare shape.
    Keyed,
    /// The place it stands in: a header, a URI, a file format.
    Structural,
    /// A name that says password, token or key, beside any value.
    Named,
    /// Personal data.
    Personal,
}

/// What the loss of a secret would mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Names an account or opens a test environment.
    Low,
    /// Opens one thing, for reading or for a short time.
    Medium,
    /// Opens an account or a service.
    High,
    /// Opens many: cloud root keys, signing keys, organisation tokens.
    Critical,
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

/// Which bytes carry on a token after its core, so that a longer variant goes whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tail {
    /// None: the core has a fixed length, and a letter or digit after it means that it is
    /// something else.
    Exact,
    /// `A-Z a-z 0-9 _ -`
    Word,
    /// `A-Z a-z 0-9 _ - + / =`
    Base64,
    /// `A-Z a-z 0-9 _ - .`, but no full stop at the end.
    Dotted,
    /// Everything up to white space, a quote or a bracket.
    Url,
}

/// What a match must pass besides its shape. Checksums accept a match at once, whatever the rest
/// says; they never refuse one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// The last 6 characters are the CRC-32 of the 30 before them in base 62 (GitHub, npm).
    Crc32Base62,
    /// The last 8 are the CRC-32 of everything before, in upper-case hexadecimal (Atlassian).
    Crc32Upper,
    /// The last 8 are the CRC-32 of everything before `_`, bytes reversed (Grafana).
    Crc32Reversed,
    /// The last 8 are the CRC-32 of what stands between the `_` and them (Cloudflare, Zuplo).
    Crc32Body,
    /// The checksum of Bech32 (BIP 173) holds (age identities).
    Bech32,
    /// It must look random: digits among letters, no words, no runs.
    Random,
    /// It must hold a digit.
    Digit,
    /// It must hold letters of both cases.
    MixedCase,
    /// The parts between full stops must decode from base64url to JSON objects, the first two.
    JsonParts,
    /// The first part must decode from base64url to decimal digits (Discord).
    NumberPart,
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
