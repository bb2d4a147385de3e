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
        .split_once("## How erasure works")
        .expect("the tables come first");
    let mut code = String::new();
    for folder in ["src", "crates", "tests"] {
        collect(&root().join(folder), &mut code);
    }
    let mut named = 0;
    let rows = tables.lines().filter(|line| line.starts_with("| "));
    for row in rows.filter(|row| !row.ends_with("| shown by |")) {
        let last = row
            .trim_end_matches(" |")
            .rsplit(" | ")
            .next()
            .expect("a cell");
        for test in last.split(", ") {
            let test = test.trim_matches('`');
            assert!(
                code.contains(&format!("fn {test}(")),
                "no test is called {test}, in the row\n{row}"
            );
            named += 1;
        }
    }
    assert!(named > 150, "the tables name their tests: {named}");
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

fn collect(folder: &Path, code: &mut String) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, code);
        } else {
            code.push_str(&fs::read_to_string(&path).unwrap_or_default());
        }
    }
}
