//! Secrets that their place gives away: armoured keys, URIs, headers, files, webhooks, commands.

mod files;
mod keys;
mod web;
mod webhooks;

use crate::redact::rule::{Class, Finder, Rule, ScanFn, Scanner, Severity};

/// Every rule of this family.
pub(in crate::redact) fn all() -> impl Iterator<Item = &'static Rule> {
    [keys::RULES, web::RULES, webhooks::RULES, files::RULES]
        .into_iter()
        .flatten()
}

/// A secret that its place gives away; the rest is said by each rule.
const STRUCTURAL: Rule = Rule {
    kind: "",
    what: "",
    class: Class::Structural,
    severity: Severity::High,
    literals: &[],
    keywords: &[],
    finder: scan(|_, _, _| {}),
    checks: &[],
    found: &[],
    kept: &[],
};

/// Code of its own.
const fn scan(scanner: Scanner) -> Finder {
    Finder::Scan(ScanFn(scanner))
}
