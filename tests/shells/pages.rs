//! `man`: pages that man itself finds no fault with.

use std::collections::BTreeSet;
use std::fs;

use crate::support::{Home, feed, has_peer, stderr, stdout};

#[test]
fn every_verb_of_the_help_has_a_page_that_mandoc_accepts() {
    let home = Home::empty();
    let made = home.run(&["man", "--out", "man1"]);
    assert!(made.status.success(), "{}", stderr(&made));
    let pages: BTreeSet<String> = fs::read_dir(home.path().join("man1"))
        .expect("a folder")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .into_string()
                .expect("UTF-8")
        })
        .collect();
    for page in [
        "agekeep.1",
        "agekeep-log.1",
        "agekeep-hold-add.1",
        "agekeep-man.1",
    ] {
        assert!(pages.contains(page), "{pages:?}");
    }
    assert!(
        !pages.contains("agekeep-complete.1"),
        "hidden verbs have none: {pages:?}"
    );
    assert!(!pages.contains("agekeep-help.1"), "{pages:?}");
    assert!(pages.len() > 50, "{}", pages.len());
    if !has_peer("mandoc", "the pages are not checked") {
        return;
    }
    for page in &pages {
        let mut mandoc = std::process::Command::new("mandoc");
        mandoc
            .args(["-T", "lint", "-W", "warning"])
            .arg(home.path().join("man1").join(page));
        let found = feed(mandoc, b"");
        // A page is of a version, not of a day.
        let faults: Vec<String> = stdout(&found)
            .lines()
            .filter(|line| !line.contains("missing date"))
            .map(str::to_owned)
            .collect();
        assert!(faults.is_empty(), "{faults:#?}");
    }
}

#[test]
fn one_page_says_what_the_help_says_and_needs_no_store() {
    let home = Home::empty();
    let page = home.run(&["man", "hold", "add"]);
    assert!(page.status.success(), "{}", stderr(&page));
    let text = stdout(&page);
    assert!(text.contains(".TH AGEKEEP-HOLD-ADD 1"), "{text}");
    assert!(stdout(&home.run(&["man"])).contains(".TH AGEKEEP 1"));
    let same = fs::read_dir(home.path()).expect("a folder").count();
    assert_eq!(same, 0, "nothing is written");
}

#[test]
fn a_page_of_no_verb_and_a_folder_that_cannot_be_are_refused() {
    let home = Home::empty();
    let none = home.run(&["man", "lok"]);
    assert_ne!(none.status.code(), Some(0));
    assert!(
        stderr(&none).contains("\"lok\" is not a verb of agekeep; a similar one is log"),
        "{}",
        stderr(&none)
    );
    fs::write(home.path().join("file"), "mine").expect("written");
    let taken = home.run(&["man", "--out", "file"]);
    assert_eq!(taken.status.code(), Some(16), "{}", stderr(&taken));
    assert_eq!(
        fs::read_to_string(home.path().join("file")).expect("there"),
        "mine"
    );
    assert_eq!(
        home.run(&["man", "log", "--out", "x"]).status.code(),
        Some(2)
    );
}
