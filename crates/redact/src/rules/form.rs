//! The vocabulary of rules, which the build script reads rules by too.

use serde::{Deserialize, Serialize};

/// The trait that gives a secret away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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

/// The damage that the loss of a secret would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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

/// The bytes that carry on a token after its core, so that a longer variant is removed whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tail {
    /// No bytes: the core has a fixed length, and a letter or digit after it means that it is
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

/// A check on a match besides its shape. A checksum that holds accepts a match at once, whatever
/// the other checks say; a checksum never refuses a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// The last 6 characters are the CRC-32 of the 30 before them in base 62 (GitHub, npm).
    Crc32Base62,
    /// The last 8 are the CRC-32 of everything before, in upper-case hexadecimal (Atlassian).
    Crc32Upper,
    /// The last 8 are the CRC-32 of everything before `_`, bytes reversed (Grafana).
    Crc32Reversed,
    /// The last 8 are the CRC-32 of the text between the `_` and them (Cloudflare, Zuplo).
    Crc32Body,
    /// The checksum of Bech32 (BIP 173) holds (age identities).
    Bech32,
    /// It must look random: digits among letters, no words, no runs.
    Random,
    /// It must hold a digit.
    Digit,
    /// It must hold letters of both cases.
    MixedCase,
    /// The first two parts between full stops must decode from base64url to JSON objects.
    JsonParts,
    /// The first part must decode from base64url to decimal digits (Discord).
    NumberPart,
}

/// The place of a password among the arguments of a command: the sections of `flags.toml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Form {
    /// The next word, or the text behind `=`.
    Word,
    /// The text right behind the option.
    Attached,
    /// [`Form::Word`] or [`Form::Attached`].
    Either,
    /// `user:password`.
    Colon,
    /// `user%password`.
    Percent,
    /// `user,password`.
    Comma,
    /// `pass:password`.
    Prefixed,
    /// `name=password`.
    Item,
    /// `name=value,password=value`.
    Field,
    /// A word behind the program that is not an option.
    Argument,
    /// As [`Form::Argument`], but only where the program begins its line.
    Line,
    /// Standard input.
    Input,
    /// Something else.
    Other,
}
