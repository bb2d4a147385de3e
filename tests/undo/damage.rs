//! Undo where a version does not open: it is the way out of damage, and one memory's is no other's.

use std::fs;

use crate::history::story::*;

/// Spoils the version that an event wrote, where no copy of it is left to mend it from.
fn spoil(story: &Story, event: u64) {
    let events = story.objects(&["log"]);
    let wrote = events.iter().find(|found| found["event"] == event);
    let blob = wrote.expect("an event")["memories"][0]["blob"].clone();
    let blob = blob.as_str().expect("it wrote a version");
    let kept_in = story.home.store();
    let file = kept_in.join("objects").join(&blob[..2]).join(&blob[2..]);
    fs::remove_file(&file).expect("a loose object");
    fs::write(&file, "spoiled").expect("written");
    fs::remove_file(kept_in.join("journal")).expect("a journal");
}

#[test]
fn a_memory_whose_present_version_is_damaged_is_brought_back() {
    for args in [
        &["restore", "/memories/a", "--from", "1"][..],
        &["restore", "/memories", "--from", "1"],
        &["rollback", "--to", "1"],
    ] {
        let story = Story::new();
        story.told(&[
            ("A", create("a", "one\n")),
            ("A", replace("a", "one", "two")),
        ]);
        spoil(&story, 2);
        let said = story.fails(13, &["read", "/memories/a"]);
        has(&said, &["is damaged"]);
        let plan = story.ok(&[args, &["--dry-run"]].concat());
        has(&plan, &["edit", "back to v1", "+1 -0"]);
        story.ok(args);
        assert_eq!(story.ok(&["read", "/memories/a"]), "one\n", "{args:?}");
    }
}

#[test]
fn a_damaged_version_of_then_is_a_conflict_of_that_memory_alone() {
    for args in [
        &["restore", "/memories", "--from", "2"][..],
        &["rollback", "--to", "2"],
        &["revert", "--session", "B"],
    ] {
        let story = Story::new();
        story.told(&[
            ("A", create("a", "one\n")),
            ("A", create("b", "one\n")),
            ("B", replace("a", "one", "two")),
            ("B", replace("b", "one", "two")),
        ]);
        spoil(&story, 1);
        let newest = story.newest();
        let said = story.fails(15, args);
        has(&said, &["/memories/a: ", "is damaged", "--partial"]);
        assert!(!said.contains("/memories/b"), "{said}");
        assert_eq!(story.newest(), newest, "{args:?}");
        let done = story.ok(&[args, &["--partial"]].concat());
        has(&done, &["1 to change, 1 in conflict", "/memories/b"]);
        assert_eq!(story.state(), state(&[("a", "two\n"), ("b", "one\n")]));
    }
}

#[test]
fn the_one_version_asked_for_is_its_own_error() {
    let story = Story::new();
    story.told(&[
        ("A", create("a", "one\n")),
        ("A", replace("a", "one", "two")),
    ]);
    spoil(&story, 1);
    let args = ["restore", "/memories/a", "--from", "1"];
    has(&story.fails(13, &args), &["is damaged"]);
    assert_eq!(story.state(), state(&[("a", "two\n")]));
}
