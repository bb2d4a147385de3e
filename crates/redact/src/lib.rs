//! Finds secrets in texts and replaces them by markers: text in, findings and a harmless text out.
//!
//! # Example
//!
//! ```
//! use agekeep_redact::{Redactor, Text};
//!
//! let redactor = Redactor::default();
//! let text = Text::from("staging\npassword: Admin@123\n");
//! // The path tells nothing here; an owner's policy may have other rules for some paths.
//! let found = redactor.find("notes.md", &text).expect("it is short");
//! assert_eq!(found[0].kind.as_str(), "password");
//! assert_eq!((found[0].line, found[0].start), (2, 11));
//! assert_eq!(&text.as_str()[found[0].bytes.clone()], "Admin@123");
//! let harmless = redactor.redact("notes.md", &text).expect("it is short");
//! assert_eq!(harmless.text().as_str(), "staging\npassword: [REDACTED:password]\n");
//! ```
//!
//! # The path of a text
//!
//! ```text
//! text ─ marker ─▶ blanked ─ scan ─▶ spans ─ redactor ─▶ Redacted, and again until nothing is found
//!                             │
//!   prefilter: one pass for the literals of all rules ──▶ token: a shape in a window, then neighbours,
//!                             │                     checksums, placeholders, entropy
//!                             ├──▶ structure: blocks, URIs, headers, files, command lines
//!                             ├──▶ code_list, mnemonic: lists of codes, seed phrases
//!                             ├──▶ named: a name that says password, token or key, and its value
//!                             ├──▶ notes: words near a label, weighed by how they look and what is around
//!                             ├──▶ personal: numbers with check digits, addresses
//!                             ├──▶ gitleaks: the owner's rules in that form
//!                             └──▶ view, decode: the same again on what is escaped, split, encoded
//! ```
//!
//! Rules are data, in `rules`. All work is on bytes and in bounded windows, so that its cost is a
//! fixed factor of the text's length. A scan that exceeds its budget fails, and the text is not
//! kept. The code decides on boundaries, never a pattern: any mark may follow a token.

mod checksum;
mod code_list;
pub mod config;
mod decode;
mod engine;
mod entropy;
mod gitleaks;
mod glob;
/// Words and phrases from `lists.toml`.
mod lists {
    include!(concat!(env!("OUT_DIR"), "/lists.rs"));
}
mod mnemonic;
mod named;
mod notes;
mod personal;
mod prefilter;
pub mod reading;
mod redactor;
mod rule;
mod rules;
mod scan;
pub mod similar;
mod span;
mod structure;
mod text;
mod token;
mod view;

pub use self::config::{Broken, Place, check_gitleaks, check_policy, try_policy};
pub use self::gitleaks::{Checked, Fault, Verdict};
pub use self::glob::Glob;
pub use self::redactor::{
    Finding, FingerprintKey, Redacted, Redactor, Withheld, is_known, is_personal,
};
pub use self::rule::{Check, Class, Finder, Rule, Severity, Shape, Tail};
pub use self::rules::VERSION;
pub use self::span::Kind;
pub use self::text::Text;

/// Builds the tables of the built-in rules, which the first text needs otherwise: about a
/// millisecond. A program that has something else to do first can call this on another thread.
pub fn prepare() {
    std::sync::LazyLock::force(&engine::BUILT_IN);
}

/// Returns the built-in rules.
pub fn built_in() -> impl Iterator<Item = &'static Rule> {
    rules::all()
}
