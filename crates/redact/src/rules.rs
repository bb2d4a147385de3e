//! The built-in rules: the build script makes a table of `rules/*.toml`.

pub(super) mod form;
#[cfg(test)]
pub(super) mod samples;
#[cfg(test)]
pub(super) mod tests;

use crate::rule::{Check, Class, Finder, Rule, ScanFn, Severity, Shape, Tail};
use crate::{code_list, mnemonic, named, structure};

/// The version of the rule set, which every event names. It grows with every change to what the
/// rules find.
pub const VERSION: u32 = 8;

/// The kind of the rule for vendors without a rule of their own.
pub(super) const CATCH_ALL: &str = "vendor-marker-catchall";

include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// Returns every built-in rule. Of two with the same literal, the narrower comes first.
pub(super) fn all() -> impl Iterator<Item = &'static Rule> {
    RULES.iter()
}
