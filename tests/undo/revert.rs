//! `revert`: what chosen events changed is undone, and what others changed since stays.

use crate::history::story::*;

const LINES: &str = "one\ntwo\nthree\nfour\nfive\n";

#[test]
fn every_kind_of_change_of_a_session_is_undone() {
    let story = Story::new();
    story.told(&[
        ("B", create("edited.md", LINES)),
        ("B", create("deleted.md", "kept\n")),
        ("B", create("moved.md", "moved\n")),
        ("B", create("dir/x.md", "x\n")),
        ("B", create("dir/deep/y.md", "y\n")),
    ]);
    let before = story.state();
    story.told(&[
        ("A", replace("edited.md", "two", "TWO")),
        ("A", insert("edited.md", 0, "zero\n")),
        ("A", delete("deleted.md")),
        ("A", rename("moved.md", "chain/one.md")),
        ("A", rename("chain/one.md", "chain/two.md")),
        ("A", replace("chain/two.md", "moved", "changed")),
        ("A", rename("dir", "other")),
        ("A", create("new.md", "new\n")),
        ("A", create("brief.md", "brief\n")),
        ("A", delete("brief.md")),
    ]);
    let ruined = story.state();
    assert_ne!(ruined, before);
    let done = story.ok(&["revert", "--session", "A"]);
    has(
        &done,
        &["revert of events 6-15: 6 to change", "Done (event 16)."],
    );
    assert_eq!(story.state(), before);
    // The undo is an event like any other, and so is the undo of the undo, and of that.
    let log = story.json(&["log", "-n", "1"]);
    assert_eq!(log["command"], "revert");
    assert_eq!(log["undone"], serde_json::json!([[6, 15]]));
    assert_eq!(log["actor"], "tester", "who reverts is not who is reverted");
    assert!(log["session"].is_null());
    story.ok(&["revert", "16"]);
    assert_eq!(story.state(), ruined);
    story.ok(&["revert", "17"]);
    assert_eq!(story.state(), before);
    story.ok(&["revert", "HEAD"]);
    assert_eq!(story.state(), ruined);
}

#[test]
fn each_way_to_choose_events() {
    let told = || {
        let story = Story::new();
        story.told(&[("B", create("a", "1\n")), ("B", create("b", "1\n"))]); // 1 2, 09:01
        story.told(&[("A", create("c", "1\n"))]); // 3, 09:02
        story.told(&[("B", create("d", "1\n")), ("A", create("e", "1\n"))]); // 4 5, 09:03
        story
    };
    for (args, left) in [
        (&["revert", "3"][..], "abde"),
        (&["revert", "2..4"], "ae"),
        (&["revert", "HEAD~1"], "abce"),
        (&["revert", "HEAD~1..HEAD"], "abc"),
        (&["revert", "--session", "A"], "abd"),
        (&["revert", "--actor", "agent-B"], "ce"),
        (&["revert", "--since", "2026-11-01T09:03Z"], "abc"),
        (&["revert", "--since", "2026-11-01T09:02:00.001Z"], "abc"),
        (&["revert", "--since", "2m"], "ab"),
        (
            &["revert", "--session", "A", "--since", "2026-11-01T09:03Z"],
            "abcd",
        ),
        (&["revert", "1..4", "--actor", "agent-A"], "abde"),
        (
            &["revert", "@2026-11-01T09:02Z..HEAD", "--session", "B"],
            "abce",
        ),
        (
            &["revert", "3..3", "--session", "A", "--actor", "agent-A"],
            "abde",
        ),
    ] {
        let story = told();
        story.ok(args);
        let names: String = story.state().keys().map(|path| &path[10..]).collect();
        assert_eq!(names, left, "{args:?}");
    }
}

#[test]
fn what_is_nothing_to_undo_is_refused_and_changes_nothing() {
    let story = Story::new();
    let newest = story.told(&[("A", create("a", "1\n")), ("V", view("a"))]);
    for (code, args, why) in [
        (2, &["revert"][..], "say what to undo"),
        (4, &["revert", "0"], "no such event changed a memory"),
        (4, &["revert", "2"], "no such event changed a memory"),
        (4, &["revert", "3"], "the newest event is 2"),
        (4, &["revert", "1..3"], "the newest event is 2"),
        (4, &["revert", "1.."], "none of the forms"),
        (4, &["revert", "..1"], "none of the forms"),
        (4, &["revert", ".."], "none of the forms"),
        (4, &["revert", "1...2"], "none of the forms"),
        (2, &["revert", "2..1"], "event 2 is after event 1"),
        (
            4,
            &["revert", "--session", "C"],
            "no such event changed a memory",
        ),
        (4, &["revert", "--session", "V"], "session V"),
        (4, &["revert", "--actor", "A"], "actor A"),
        (4, &["revert", "1", "--session", "V"], "no such event"),
        (
            4,
            &["revert", "--since", "2026-11-02"],
            "since 2026-11-02T00:00:00Z",
        ),
        (2, &["revert", "--since", "soon"], "is not an RFC 3339 time"),
        (4, &["revert", ""], "none of the forms"),
    ] {
        has(&story.fails(code, args), &[why]);
    }
    assert_eq!(story.newest(), newest);
    assert_eq!(story.state(), state(&[("a", "1\n")]));
}

#[test]
fn later_edits_of_others_are_kept_line_by_line() {
    let story = Story::new();
    story.told(&[
        ("B", create("n.md", LINES)),
        ("A", replace("n.md", "one", "ruined")),
        ("B", replace("n.md", "five", "FIVE")),
        ("A", replace("n.md", "three", "spoilt")),
        ("B", insert("n.md", 5, "six\n")),
        ("A", rename("n.md", "hidden.md")),
        ("B", replace("hidden.md", "four", "FOUR")),
    ]);
    let plan = story.json(&["revert", "--session", "A", "--dry-run"]);
    assert_eq!(plan["plan"]["steps"][0]["merged"], true);
    assert_eq!(plan["plan"]["steps"][0]["change"], "move");
    let done = story.ok(&["revert", "--session", "A"]);
    has(&done, &["merged with later changes"]);
    let want = "one\ntwo\nthree\nFOUR\nFIVE\nsix\n";
    assert_eq!(story.state(), state(&[("n.md", want)]));
}

#[test]
fn a_real_conflict_refuses_that_memory_and_names_who_is_on_top() {
    let story = Story::new();
    story.told(&[
        ("B", create("n.md", LINES)),
        ("B", create("free.md", LINES)),
        ("A", replace("n.md", "two", "ruined")),
        ("A", replace("free.md", "two", "ruined")),
        ("C", replace("n.md", "ruined", "RUINED")),
        ("D", replace("n.md", "RUINED", "Ruined")),
    ]);
    let before = story.state();
    let newest = story.newest();
    let said = story.fails(15, &["revert", "--session", "A"]);
    has(
        &said,
        &[
            "/memories/n.md: others have changed the same lines since",
            "on top: str_replace by agent-D in session D (event 6), str_replace by agent-C in session C (event 5)",
            "--partial",
        ],
    );
    assert!(!said.contains("free.md"), "{said}");
    assert_eq!((story.newest(), story.state()), (newest, before));
    let output = story.run(&["revert", "--session", "A", "--dry-run"]);
    assert_eq!(output.status.code(), Some(15));
    let partial = story.run(&["revert", "--session", "A", "--dry-run", "--partial"]);
    assert_eq!(partial.status.code(), Some(0));
    let done = story.ok(&["revert", "--session", "A", "--partial"]);
    has(&done, &["1 to change, 1 in conflict", "Done (event 7)."]);
    // The record names what was undone, and not what was left.
    let log = story.json(&["log", "-n", "1"]);
    assert_eq!(log["undone"], serde_json::json!([[4, 4]]));
    let want = state(&[
        ("n.md", &LINES.replace("two", "Ruined")),
        ("free.md", LINES),
    ]);
    assert_eq!(story.state(), want);
    // With the later events undone too there is nothing in the way.
    let done = story.ok(&["revert", "3..6", "--partial"]);
    has(&done, &[": 1 to change\n"]);
    assert_eq!(story.state(), state(&[("n.md", LINES), ("free.md", LINES)]));
    // Where nothing is left but the conflict, nothing is recorded.
    let story = Story::new();
    story.told(&[
        ("A", create("n.md", "a\n")),
        ("B", replace("n.md", "a", "b")),
    ]);
    has(
        &story.fails(15, &["revert", "1"]),
        &["the undo would remove it", "agent-B in session B (event 2)"],
    );
    has(
        &story.ok(&["revert", "1", "--partial"]),
        &["Nothing was changed."],
    );
    assert_eq!(story.newest(), 2);
}

#[test]
fn one_session_that_touched_a_memory_many_times_between_anothers_edits() {
    let story = Story::new();
    let text: String = (0..20).map(|n| format!("line {n:02}\n")).collect();
    let mut calls = vec![("B", create("n.md", &text))];
    let (mut want, mut both) = (text.clone(), text.clone());
    for n in 0..20 {
        let session = ["A", "B"][n % 2];
        let (old, new) = (format!("line {n:02}"), format!("{session} was here {n:02}"));
        calls.push((session, replace("n.md", &old, &new)));
        both = both.replace(&old, &new);
        if session == "B" {
            want = want.replace(&old, &new);
        }
    }
    story.told(&calls);
    assert_eq!(story.state(), state(&[("n.md", &both)]));
    story.ok(&["revert", "--session", "A"]);
    assert_eq!(story.state(), state(&[("n.md", &want)]));
    story.ok(&["revert", "HEAD"]);
    assert_eq!(story.state(), state(&[("n.md", &both)]));
}

#[test]
fn what_others_did_between_has_the_last_word() {
    // Edited by A and deleted by B: it stays deleted.
    let story = Story::new();
    story.told(&[
        ("B", create("n.md", LINES)),
        ("A", replace("n.md", "two", "x")),
        ("B", delete("n.md")),
    ]);
    has(
        &story.ok(&["revert", "--session", "A"]),
        &["There is nothing to do."],
    );
    assert_eq!((story.state(), story.newest()), (state(&[]), 3));
    // Deleted by A, and another file made there by B: no place for it.
    let story = Story::new();
    story.told(&[
        ("B", create("n.md", LINES)),
        ("A", delete("n.md")),
        ("B", create("n.md", "mine\n")),
    ]);
    has(
        &story.fails(15, &["revert", "--session", "A"]),
        &[
            "/memories/n.md is in the way",
            "create by agent-B in session B (event 3)",
        ],
    );
    assert_eq!(story.state(), state(&[("n.md", "mine\n")]));
    // Deleted by A, and a directory there by B; and the other way round.
    let story = Story::new();
    story.told(&[
        ("B", create("n", LINES)),
        ("B", create("d/x", LINES)),
        ("A", delete("n")),
        ("A", delete("d")),
        ("B", create("n/below", "1\n")),
        ("B", create("d", "2\n")),
    ]);
    has(
        &story.fails(15, &["revert", "--session", "A"]),
        &[
            "/memories/n: /memories/n/below is in the way",
            "/memories/d/x: /memories/d is in the way",
        ],
    );
    // Moved by A and moved again by B.
    let story = Story::new();
    story.told(&[
        ("B", create("n", LINES)),
        ("A", rename("n", "m")),
        ("B", rename("m", "o")),
    ]);
    has(
        &story.fails(15, &["revert", "--session", "A"]),
        &["others have moved it since", "rename by agent-B"],
    );
    // Moved back by B: that is what it should be.
    let story = Story::new();
    story.told(&[
        ("B", create("n", LINES)),
        ("A", rename("n", "m")),
        ("B", rename("m", "n")),
    ]);
    has(
        &story.ok(&["revert", "--session", "A"]),
        &["There is nothing to do."],
    );
    // Created by A, changed and changed back by B: nobody's work is lost.
    let story = Story::new();
    story.told(&[
        ("A", create("n", LINES)),
        ("B", replace("n", "two", "x")),
        ("B", replace("n", "x", "two")),
    ]);
    story.ok(&["revert", "--session", "A"]);
    assert_eq!(story.state(), state(&[]));
    // An edit by others that was undone is in nobody's way.
    let story = Story::new();
    story.told(&[("A", create("n", LINES)), ("B", replace("n", "two", "x"))]);
    story.ok(&["revert", "2"]);
    story.ok(&["revert", "1"]);
    assert_eq!(story.state(), state(&[]));
}

#[test]
fn two_and_three_memories_that_changed_places() {
    let story = Story::new();
    story.told(&[
        ("B", create("a", "a\n")),
        ("B", create("b", "b\n")),
        ("B", create("c", "c\n")),
    ]);
    let before = story.state();
    story.told(&[
        ("A", rename("a", "t")),
        ("A", rename("b", "a")),
        ("A", rename("t", "b")),
        ("A", rename("c", "t")),
        ("A", rename("b", "c")),
        ("A", rename("t", "b")),
    ]);
    let swapped = story.state();
    assert_eq!(swapped, state(&[("a", "b\n"), ("b", "c\n"), ("c", "a\n")]));
    story.ok(&["revert", "--session", "A"]);
    assert_eq!(story.state(), before);
    story.ok(&["revert", "HEAD"]);
    assert_eq!(story.state(), swapped);
    // Half of a swap cannot be undone; with --partial what needs its place stays too.
    let said = story.fails(15, &["revert", "8"]);
    has(&said, &["is in the way"]);
    // A file that became a directory, and back.
    let story = Story::new();
    story.told(&[("B", create("p", "file\n"))]);
    story.told(&[("A", rename("p", "q")), ("A", rename("q", "p/x"))]);
    story.ok(&["revert", "--session", "A"]);
    assert_eq!(story.state(), state(&[("p", "file\n")]));
    story.ok(&["revert", "HEAD"]);
    assert_eq!(story.state(), state(&[("p/x", "file\n")]));
}

#[test]
fn deleted_and_made_again_by_one_session() {
    let story = Story::new();
    story.told(&[("B", create("n", LINES))]);
    story.told(&[
        ("A", delete("n")),
        ("A", create("n", "other\n")),
        ("A", delete("n")),
        ("A", create("n/below", "third\n")),
    ]);
    let ruined = story.state();
    story.ok(&["revert", "--session", "A"]);
    assert_eq!(story.state(), state(&[("n", LINES)]));
    story.ok(&["revert", "HEAD"]);
    assert_eq!(story.state(), ruined);
    // What it made, where others deleted their own: both may not come back to one place.
    let story = Story::new();
    story.told(&[
        ("B", create("n", "1\n")),
        ("A", delete("n")),
        ("B", create("n", "2\n")),
        ("A", delete("n")),
    ]);
    has(
        &story.fails(15, &["revert", "--session", "A"]),
        &["is in the way"],
    );
    has(&story.ok(&["revert", "4"]), &["restore"]);
    assert_eq!(story.state(), state(&[("n", "2\n")]));
}

#[test]
fn names_of_others_cannot_forge_lines_of_a_refusal() {
    let story = Story::new();
    story.told(&[("A", create("n", "a\n"))]);
    let forger = "x\nDone (event 9).\n\u{1b}[31m";
    story.ok(&[
        "write",
        "n",
        "--text",
        "b",
        "--actor",
        forger,
        "--session",
        forger,
    ]);
    let said = story.fails(15, &["revert", "1"]);
    assert!(
        !said.contains("\nDone") && !said.contains('\u{1b}'),
        "{said}"
    );
    let output = story.run(&["revert", "1", "--dry-run"]);
    let said = crate::support::stdout(&output);
    assert!(
        !said.contains("\nDone") && !said.contains('\u{1b}'),
        "{said}"
    );
}
