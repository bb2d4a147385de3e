//! `restore`: one memory, or a directory, as it was.

use crate::history::story::*;

#[test]
fn an_edit_a_deletion_and_a_directory_are_brought_back() {
    let story = Story::new();
    story.told(&[
        ("B", create("n.md", "one\ntwo\n")),
        ("B", create("d/a.md", "a\n")),
        ("B", create("d/e/b.md", "no newline")),
        ("B", create("empty.md", "")),
        ("A", replace("n.md", "two", "ruined")),
        ("A", replace("d/a.md", "a", "ruined")),
        ("A", delete("d/e")),
        ("A", delete("empty.md")),
    ]);
    let before = story.state_at(4);
    let dry = story.ok(&["restore", "/memories/n.md", "--from", "4", "--dry-run"]);
    has(
        &dry,
        &[
            "restore to event 4",
            "edit",
            "/memories/n.md  v2 back to v1  +1 -1",
            "--plan ",
        ],
    );
    assert_eq!(story.newest(), 8, "a plan is no event");
    has(
        &story.ok(&["restore", "/memories/n.md", "--from", "4"]),
        &["Done (event 9)."],
    );
    let shown = story.ok(&["show", "HEAD"]);
    has(&shown, &["-ruined", "+two", "restore"]);
    story.ok(&["restore", "/memories/empty.md", "--from", "4"]);
    story.ok(&["restore", "/memories/d", "--from", "4"]);
    assert_eq!(story.state(), before);
    // To what it is already: nothing is done, and nothing recorded.
    let newest = story.newest();
    for path in [
        "/memories/n.md",
        "/memories/d",
        "/memories",
        "/memories/empty.md",
    ] {
        let done = story.ok(&["restore", path, "--from", "4"]);
        has(&done, &["There is nothing to do."]);
    }
    assert_eq!(story.newest(), newest);
    // It is the memory it was: its versions go on, and its history is one.
    let log = story.objects(&["log", "/memories/empty.md"]);
    let changes: Vec<&str> = log
        .iter()
        .filter_map(|event| event["memories"].as_array().expect("a list").first())
        .filter_map(|memory| memory["change"].as_str())
        .collect();
    assert_eq!(changes, ["restore", "remove", "add"]);
}

#[test]
fn what_moved_elsewhere_is_not_doubled() {
    let story = Story::new();
    story.told(&[
        ("B", create("n.md", "one\n")),
        ("A", rename("n.md", "away/m.md")),
        ("A", replace("away/m.md", "one", "two")),
    ]);
    let said = story.fails(4, &["restore", "/memories/n.md", "--from", "1"]);
    has(
        &said,
        &[
            "has moved to /memories/away/m.md",
            "hint: restore /memories/away/m.md instead",
        ],
    );
    assert_eq!(story.newest(), 3);
    // The hint works: where it is now, with the text it had then.
    story.ok(&["restore", "/memories/away/m.md", "--from", "1"]);
    assert_eq!(story.state(), state(&[("away/m.md", "one\n")]));
}

#[test]
fn what_moved_out_of_a_directory_is_left_and_the_rest_restored() {
    let story = Story::new();
    story.told(&[
        ("B", create("d/a", "a\n")),
        ("B", create("d/b", "b\n")),
        ("B", create("d/c", "c\n")),
        ("A", rename("d/a", "other")),
        ("A", delete("d/b")),
        ("A", replace("d/c", "c", "C")),
    ]);
    let restore = ["restore", "/memories/d", "--from", "3"];
    let said = story.fails(15, &restore);
    has(
        &said,
        &[
            "/memories/d/a: it has moved to /memories/other",
            "rename by agent-A in session A (event 4)",
            "with --partial they stay unchanged",
        ],
    );
    assert_eq!(story.newest(), 6);
    let done = story.ok(&[&restore[..], &["--partial"]].concat());
    has(&done, &["/memories/d/a: it has moved to /memories/other"]);
    has(
        &done,
        &["restore   /memories/d/b", "edit      /memories/d/c"],
    );
    assert_eq!(
        story.state(),
        state(&[("other", "a\n"), ("d/b", "b\n"), ("d/c", "c\n")])
    );
}

#[test]
fn a_path_that_a_new_memory_took() {
    let story = Story::new();
    story.told(&[
        ("B", create("n.md", "old\n")),
        ("B", delete("n.md")),
        ("A", create("n.md", "new\n")),
    ]);
    story.ok(&["restore", "/memories/n.md", "--from", "1"]);
    assert_eq!(story.state(), state(&[("n.md", "old\n")]));
    story.ok(&["revert", "HEAD"]);
    assert_eq!(story.state(), state(&[("n.md", "new\n")]));
    // A file where a directory was, and a directory where a file was, are in the way.
    story.told(&[("A", delete("n.md")), ("A", create("n.md/x", "x\n"))]);
    let said = story.fails(15, &["restore", "/memories/n.md", "--from", "1"]);
    has(&said, &["/memories/n.md/x is in the way"]);
    has(
        &said,
        &["with --partial they stay unchanged and the rest is undone"],
    );
    story.told(&[("A", delete("n.md")), ("A", create("n.md", "y\n"))]);
    let said = story.fails(15, &["restore", "/memories/n.md/x", "--from", "HEAD~2"]);
    has(&said, &["/memories/n.md is in the way"]);
}

#[test]
fn what_was_not_there_is_refused() {
    let story = Story::new();
    let newest = story.told(&[("B", create("n.md", "one\n"))]);
    for (code, args) in [
        (4, &["restore", "/memories/n.md", "--from", "0"][..]),
        (4, &["restore", "/memories/none", "--from", "1"]),
        (4, &["restore", "/memories/n.md/below", "--from", "1"]),
        (4, &["restore", "/memories", "--from", "0"]),
        (4, &["restore", "/memories/n.md", "--from", "2"]),
        (4, &["restore", "/memories/n.md", "--from", "yesterday"]),
        (4, &["restore", "/memories/n.md", "--from", "x"]),
        (7, &["restore", "/etc/passwd", "--from", "1"]),
        (7, &["restore", "/memories/../x", "--from", "1"]),
        (2, &["restore", "/memories/n.md"]),
        (
            2,
            &[
                "restore",
                "/memories/n.md",
                "--from",
                "1",
                "--dry-run",
                "--plan",
                "aa",
            ],
        ),
    ] {
        story.fails(code, args);
    }
    assert_eq!(story.newest(), newest);
}
