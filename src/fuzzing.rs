//! Properties of every parser of outside bytes: one function for each target in `fuzz/`.
//!
//! A function feeds arbitrary bytes to its parser, and panics if a property is violated: accepted
//! input is written back the same, limits hold, nothing is lost. It is compiled for `cargo fuzz`,
//! and for the tests, which run the seeds, including all earlier findings.
#![allow(clippy::missing_panics_doc)] // a violated property panics, which is how it is found

use std::collections::BTreeSet;

use crate::Text;
use crate::crypto::recipients;
use crate::crypto::sign::Signers;
use crate::error::Error;
use crate::policy::{self, Policy};
use crate::redact::{Redactor, config};

pub use crate::event::fuzzing::{FuzzKeys, message, record};
pub use crate::journal::fuzzing::journal;
pub use crate::jsonl::fuzzing::wire;
pub use crate::keyring::backup::fuzz as backup;
pub use crate::keyring::fuzzing::table;
pub use crate::remote::fuzz_card as card;
pub use crate::repository::fuzzing::{loose, object, pack};
pub use crate::state::catalog::fuzzing::catalog;
pub use crate::version::fuzzing::version;

/// Redacts `text` as a memory's: redaction ends, is idempotent, and leaves everything but findings
/// unchanged.
pub fn redact(text: &str) {
    let redactor = Redactor::default();
    let Ok(once) = redactor.redact("/memories/a.md", &Text::from(text)) else {
        return;
    };
    let twice = redactor.redact("/memories/a.md", once.text());
    let twice = twice.expect("shorter than before");
    assert!(once.text() == twice.text() && twice.findings().is_empty());
    if once.findings().is_empty() {
        assert_eq!(once.text().as_str(), text);
    }
}

/// Reads `text` as a policy, with and without the lines that name the store. An accepted policy is
/// within its bounds, is written back the same, and can be applied.
pub fn policy(text: &str) {
    match Policy::parse_file(text) {
        Ok((store, policy)) => {
            let file = policy.to_file(store).expect("what was read can be written");
            let again = Policy::parse_file(&file).expect("its own output");
            assert_eq!(again, (store, policy));
        }
        Err(error) => assert_names_a_line(&error, text),
    }
    match Policy::parse(text) {
        Ok(policy) => {
            let again = Policy::parse(&policy.to_toml()).expect("its own output");
            assert_eq!(again, policy);
            assert_within_bounds(&policy);
            assert_can_be_followed(&policy);
        }
        Err(error) => assert_names_a_line(&error, text),
    }
}

fn assert_names_a_line(error: &Error, text: &str) {
    match error {
        Error::Policy { line: None, .. } | Error::UnknownFormat { .. } => {}
        Error::Policy {
            line: Some(line), ..
        } => assert!((1..=1 + text.matches('\n').count()).contains(line)),
        other => panic!("{other}"),
    }
}

fn assert_within_bounds(policy: &Policy) {
    let limits = &policy.limits;
    assert!((1..=crate::memory_tool::MEMORY_BYTES_MAX).contains(&limits.memory_bytes));
    assert!((1..=policy::LINES).contains(&limits.lines));
    assert!(limits.memories >= 1);
    assert!(
        (policy::PATH_BYTES_MIN..=crate::memory_tool::path::PATH_BYTES_MAX)
            .contains(&limits.path_bytes)
    );
    let request_bytes = policy::REQUEST_BYTES_MIN..=policy::REQUEST_BYTES_MAX;
    assert!(request_bytes.contains(&limits.request_bytes));
    assert!(policy.redaction.rules.len() <= config::RULES_MAX);
}

/// Asserts that redaction by its own rules is idempotent, on a text with each of their literals.
fn assert_can_be_followed(policy: &Policy) {
    let redaction = &policy.redaction;
    if *redaction == config::Redaction::default() {
        return;
    }
    let Ok(redactor) = Redactor::of_policy(redaction) else {
        assert!(redaction.gitleaks.is_some(), "accepted, and of no use");
        return;
    };
    for literal in redaction.rules.iter().flat_map(|rule| &rule.literals) {
        let (once, _) = redactor.line(&format!("{literal} {literal}0a{literal}\n"));
        assert_eq!(redactor.line(&once).0, once, "twice is not as once");
    }
}

/// Reads `text` as the `signers` file. An accepted file is written back to the same bytes, and its
/// signers can sign and are unique.
pub fn signers(text: &str) {
    let Ok(signers) = Signers::parse(text) else {
        return;
    };
    assert_eq!(signers.to_file(), text);
    let (mut names, mut keys) = (BTreeSet::new(), BTreeSet::new());
    for entry in signers.entries() {
        assert!(!entry.name().contains(char::is_whitespace));
        assert!(entry.key().bytes().is_some(), "a key that cannot sign");
        assert!(names.insert(entry.name()), "a name twice");
        assert!(keys.insert(entry.key().public_line()), "a key twice");
    }
    assert!(!names.is_empty(), "nobody may write");
}

/// Reads `text` as the `recipients` file. An accepted file is written back to the same bytes.
pub fn recipients(text: &str) {
    if let Ok(members) = recipients::parse(text) {
        assert_eq!(recipients::to_file(&members), text);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::store::Identity;

    fn root() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR"))
    }

    fn names(folder: &str) -> Vec<String> {
        let entries = fs::read_dir(root().join(folder)).expect("a folder of fuzz/");
        let path = |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry").path();
        let stem = |path: PathBuf| Some(path.file_stem()?.to_str()?.to_owned());
        let mut names: Vec<_> = entries.map(path).filter_map(stem).collect();
        names.sort();
        names
    }

    /// Opens the keys for the records among the seeds.
    fn keys() -> FuzzKeys {
        let file = root().join("fixtures/format-v1/TEST-ONLY-identity.txt");
        let identity = Identity::parse(&fs::read_to_string(file).expect("readable"));
        FuzzKeys::open(
            &root().join("fuzz/keyring"),
            &identity.expect("an identity"),
        )
        .expect("opens")
    }

    #[test]
    fn every_seed_keeps_its_law() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let keys = keys();
        for target in names("fuzz/seeds") {
            let seeds = fs::read_dir(root().join("fuzz/seeds").join(&target)).expect("a folder");
            let seeds: Vec<_> = seeds.map(|seed| seed.expect("an entry").path()).collect();
            assert!(seeds.len() >= 3, "{target} has too few seeds");
            for seed in seeds {
                let bytes = fs::read(&seed).expect("readable");
                let text = String::from_utf8_lossy(&bytes);
                match target.as_str() {
                    "backup" => backup(&bytes),
                    "card" => card(&bytes),
                    "catalog" => catalog(folder.path(), &bytes),
                    "journal" => journal(folder.path(), &bytes),
                    "loose" => loose(&bytes),
                    "message" => message(&keys, &text),
                    "object" => object(&bytes),
                    "pack" => pack(folder.path(), &bytes),
                    "policy" => policy(&text),
                    "recipients" => recipients(&text),
                    "record" => record(&keys, &bytes),
                    "redact" => redact(&text),
                    "signers" => signers(&text),
                    "table" => table(folder.path(), &bytes),
                    "version" => version(&bytes),
                    "wire" => wire(&bytes),
                    other => panic!("nobody knows the law of {other}"),
                }
            }
        }
    }

    #[test]
    fn every_target_has_seeds_and_is_built() {
        let targets = names("fuzz/fuzz_targets");
        assert_eq!(targets, names("fuzz/seeds"));
        let manifest = fs::read_to_string(root().join("fuzz/Cargo.toml")).expect("readable");
        for target in targets {
            let named = manifest.contains(&format!("name = \"{target}\""));
            assert!(named, "{target} is not built");
            let file = root().join(format!("fuzz/fuzz_targets/{target}.rs"));
            let source = fs::read_to_string(file).expect("readable");
            assert!(source.contains(&format!("fuzzing::{target}(")), "{target}");
            let words = root().join(format!("fuzz/dictionaries/{target}.dict"));
            assert!(words.is_file(), "{target} has no dictionary");
        }
    }
}
