//! SECURITY.md names a test for each claim; every one of them exists.

use std::fs;
use std::path::Path;

#[test]
fn every_claim_names_a_test_that_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("SECURITY.md")).expect("the page");
    let (table, _) = page
        .split_once("## What is not protected")
        .expect("two parts");
    let mut code = String::new();
    for folder in ["src", "crates", "tests"] {
        collect(&root.join(folder), &mut code);
    }
    let mut named = 0;
    for row in table.lines().filter(|line| line.starts_with("| ")) {
        let last = row
            .trim_end_matches(" |")
            .rsplit(" | ")
            .next()
            .expect("a cell");
        for test in last.split(", ").filter(|cell| cell.starts_with('`')) {
            let test = test.trim_matches('`');
            assert!(
                code.contains(&format!("fn {test}(")),
                "no test is called {test}"
            );
            named += 1;
        }
    }
    assert!(named > 25, "the table names its tests: {named}");
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
