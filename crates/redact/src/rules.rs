//! The built-in rules: `rules/*.toml`, as the build script makes a table of them.

pub(super) mod form;
#[cfg(test)]
pub(super) mod samples;
#[cfg(test)]
pub(super) mod tests;

use super::rule::{Check, Class, Finder, Rule, ScanFn, Severity, Shape, Tail};
use super::{code_list, mnemonic, named, structure};

/// The version of the rule set, which every event names. It grows with every change of what is
/// found.
pub const VERSION: u32 = 5;

/// The kind of the rule for vendors that have none of their own.
pub(super) const CATCH_ALL: &str = "vendor-marker-catchall";

include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// Every built-in rule. Where two have the same literal, the narrower stands first.
pub(super) fn all() -> impl Iterator<Item = &'static Rule> {
    RULES.iter()
}
