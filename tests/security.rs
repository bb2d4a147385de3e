//! docs/threat-model.md names a test for each claim, and every one of them exists; SECURITY.md is
//! one page and names the advisory of each dependency that has one.

use std::fs;
use std::path::Path;

/// Most words of SECURITY.md: more than that nobody reads before reporting.
const WORDS_MAX: usize = 900;

#[test]
fn every_claim_names_a_test_that_exists() {
    let page = read("docs/threat-model.md");
    let (tables, _) = page
        .split_once("## What `verify` reports")
        .expect("the tables come first");
    for row in tables.lines().filter(|line| line.starts_with("| ")) {
        let shown = row.ends_with("` |") || row.ends_with("| shown by |");
        assert!(shown, "no test shows the claim in the row\n{row}");
    }
    let mut code = String::new();
    for folder in ["src", "crates", "tests"] {
        collect(&root().join(folder), &mut code);
    }
    let spans = page.split('`').skip(1).step_by(2);
    let named: Vec<&str> = spans.filter(|span| is_test(span)).collect();
    for test in &named {
        let function = format!("fn {test}(");
        assert!(code.contains(&function), "no test is called {test}");
    }
    assert!(named.len() > 150, "the tables name their tests: {named:?}");
}

/// Tells whether a code span is the name of a test: a sentence of at least four words.
fn is_test(span: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    span.chars().all(plain) && span.split('_').count() >= 4
}

#[test]
fn the_summary_is_one_page_and_promises_no_compliance() {
    let page = read("SECURITY.md");
    let words = page.split_whitespace().count();
    assert!(words <= WORDS_MAX, "{words} words are more than a page");
    for page in [page, read("docs/threat-model.md")] {
        let said = page.to_lowercase();
        assert!(!said.contains("gdpr"), "no law is named as kept");
        for claim in ["is compliant", "are compliant", "ensures compliance"] {
            assert!(!said.contains(claim), "the page says {claim:?}");
        }
    }
}

/// The dependencies in `Cargo.lock` with an advisory that has no fixed version, and its id.
const ADVISORIES: [(&str, &str); 1] = [("rsa", "RUSTSEC-2023-0071")];

#[test]
fn an_advisory_is_named_as_long_as_its_dependency_is_there() {
    let (page, lock) = (read("SECURITY.md"), read("Cargo.lock"));
    for (dependency, advisory) in ADVISORIES {
        let is_there = lock.contains(&format!("name = \"{dependency}\"\n"));
        assert_eq!(page.contains(advisory), is_there, "{advisory}");
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(page: &str) -> String {
    fs::read_to_string(root().join(page)).expect("the page")
}

/// Adds the text of every file below a folder.
pub(crate) fn collect(folder: &Path, code: &mut String) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, code);
        } else {
            code.push_str(&fs::read_to_string(&path).unwrap_or_default());
        }
    }
}
