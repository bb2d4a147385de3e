//! `fixtures/policies`: a policy for each kind of mistake, and what is said of it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::policy::{fails, ok, recorded};
use crate::support::{Home, stderr};

/// The files of a folder, by name.
fn zoo(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/policies");
    let entries = fs::read_dir(root.join(folder)).expect("the fixtures");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    paths
}

/// What the first line of a file expects: the line, if there is one, and a word.
fn expected(path: &Path) -> (Option<usize>, String) {
    let bytes = fs::read(path).expect("a fixture");
    let first = bytes.split(|byte| *byte == b'\n').next().expect("a line");
    let first = String::from_utf8_lossy(first);
    let said = first
        .strip_prefix("# ")
        .and_then(|said| said.split_once(": "));
    let (place, word) = said.unwrap_or_else(|| panic!("{}: {first}", path.display()));
    let line = place
        .strip_prefix("line ")
        .map(|line| line.parse().expect("a line"));
    assert!(line.is_some() || place == "no line", "{}", path.display());
    (line, word.to_owned())
}

fn assert_refused(output: &Output, path: &Path) {
    let ((line, word), said) = (expected(path), stderr(output));
    let name = path.display();
    assert_eq!(output.status.code(), Some(2), "{name}: {said}");
    let place = line.map_or("not valid: ".into(), |line| {
        format!("not valid at line {line}: ")
    });
    assert!(said.contains(&place), "{name}: not {place:?}: {said}");
    assert!(said.contains(&word), "{name}: not {word:?}: {said}");
    assert!(
        said.contains("\nhint: ") && output.stdout.is_empty(),
        "{name}: {said}"
    );
    assert!(!said.contains("$__"), "{name}: {said}");
}

#[test]
fn every_mistake_is_said_with_its_line_and_changes_nothing() {
    let zoo = zoo("refused");
    assert!(zoo.len() > 200, "the zoo is there");
    let (owner, nobody) = (Home::with_store(), Home::empty());
    let before = (recorded(&owner), ok(&owner, &["policy", "get"]));
    for path in &zoo {
        let file = path.to_str().expect("UTF-8");
        assert_refused(&owner.run(&["policy", "set", "--policy", file]), path);
        assert_refused(&nobody.run(&["init", "--policy", file]), path);
        let left = fs::read_dir(nobody.path()).expect("a home").count();
        assert_eq!(left, 0, "{file}: init left something");
    }
    assert!(before == (recorded(&owner), ok(&owner, &["policy", "get"])));
}

#[test]
fn what_is_no_mistake_is_accepted_and_stays_as_it_is() {
    let zoo = zoo("accepted");
    assert!(zoo.len() > 10, "the zoo is there");
    let home = Home::with_store();
    let mut seen = BTreeMap::new();
    for path in &zoo {
        let file = path.to_str().expect("UTF-8");
        ok(&home, &["policy", "set", "--policy", file]);
        let whole = ok(&home, &["policy", "get"]);
        let again = home.path().join("again.toml");
        fs::write(&again, &whole).expect("written");
        ok(
            &home,
            &["policy", "set", "--policy", again.to_str().expect("UTF-8")],
        );
        assert_eq!(ok(&home, &["policy", "get"]), whole, "{file}");
        ok(&home, &["policy", "explain"]);
        let other = Home::empty();
        ok(&other, &["init", "--policy", file]);
        assert_eq!(ok(&other, &["policy", "get"]), whole, "{file}");
        seen.insert(path.file_stem().and_then(OsStr::to_str), whole);
    }
    let whole = |name| seen.get(&Some(name)).expect("a fixture");
    // A text of several lines keeps their ends, and nothing else does.
    let crlf = whole("full-crlf");
    assert_eq!(whole("full"), &crlf.replace("\\r", ""));
    assert_eq!(whole("empty"), whole("comments"));
    assert_ne!(whole("empty"), whole("full"));
}

#[test]
fn what_is_no_text_of_a_policy_at_all() {
    let home = Home::with_store();
    let file = home.path().join("huge.toml");
    let path = file.to_str().expect("UTF-8");
    fs::write(&file, "# a comment\n".repeat(1_500_000)).expect("written");
    let said = fails(&home, 2, &["policy", "set", "--policy", path]);
    assert!(
        said.contains("huge.toml has more than 16777216 bytes"),
        "{said}"
    );
    // A file without end is not read to its end.
    let said = fails(&home, 2, &["policy", "set", "--policy", "/dev/zero"]);
    assert!(said.contains("more than"), "{said}");
    for gone in ["no-such-file.toml", "."] {
        let said = fails(&home, 16, &["policy", "set", "--policy", gone]);
        assert!(said.contains(gone), "{said}");
    }
    let many = "[[expiration.rules]]\npath = \"/memories/a\"\nunaccessed_for = \"1d\"\n";
    fs::write(&file, many.repeat(10_001)).expect("written");
    let said = fails(&home, 2, &["policy", "set", "--policy", path]);
    assert!(
        said.contains("at line 30001: there are more than 10000 rules"),
        "{said}"
    );
}

#[test]
fn what_is_wrong_with_a_gitleaks_file_is_said_with_its_own_line() {
    let home = Home::with_store();
    let set = [
        "policy",
        "set",
        "--gitleaks",
        "rules.toml",
        "--policy",
        "p.toml",
    ];
    let (rules, policy) = (home.path().join("rules.toml"), home.path().join("p.toml"));
    fs::write(policy, "[limits]\n\n\n\n\n\nlines = 5\n").expect("written");
    let bad = "title = \"ours\"\n\n[[rules]]\nid = \"acme\"\nregex = \'\'\'a(?=b)\'\'\'\n";
    fs::write(&rules, bad).expect("written");
    for args in [&set[..], &set[..4]] {
        let said = fails(&home, 2, args);
        assert!(
            said.contains("not valid at line 5: gitleaks.toml: "),
            "{said}"
        );
    }
    fs::write(&rules, b"title = \"ours\"\n# \xff\n").expect("written");
    let said = fails(&home, 2, &set);
    assert!(
        said.contains("at line 2: rules.toml is not UTF-8"),
        "{said}"
    );
}
