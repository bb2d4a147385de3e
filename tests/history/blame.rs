//! `blame`: who wrote each line, when, in which event and session.

use serde_json::Value;

use crate::history::story::*;

/// The event of each line's origin.
fn origins(story: &Story, path: &str, at: &str) -> Vec<u64> {
    let object = story.json(&["blame", path, "--at", at]);
    let lines = object["lines"].as_array().expect("a list");
    let event = |line: &serde_json::Value| {
        let origin = usize::try_from(line["origin"].as_u64().expect("a number")).expect("small");
        object["origins"][origin]["version"]["event"]
            .as_u64()
            .expect("a number")
    };
    lines.iter().map(event).collect()
}

#[test]
fn lines_keep_their_writer_through_renames_and_edits_of_others() {
    let story = Story::new();
    story.told(&[
        ("A", create("d/n", "one\ntwo\nthree")), // 1
        ("B", replace("d/n", "two", "2")),       // 2
        ("C", rename("d/n", "d/m")),             // 3
        ("C", rename("d", "e")),                 // 4
        ("D", insert("e/m", 0, "zero\n")),       // 5
        ("E", insert("e/m", 4, "four\n")),       // 6
    ]);
    assert_eq!(origins(&story, "/memories/e/m", "6"), [5, 1, 2, 1, 6]);
    assert_eq!(origins(&story, "/memories/d/n", "2"), [1, 2, 1]);
    assert_eq!(origins(&story, "/memories/d/m", "3"), [1, 2, 1]);
    let text = story.ok(&["blame", "/memories/e/m"]);
    let line = text.lines().nth(2).expect("a third line");
    assert_eq!(line, "2  2026-11-01T09:01:00Z  agent-B  B  3 | 2");
    let object = story.json(&["blame", "/memories/e/m"]);
    let origin = &object["origins"][1];
    assert_eq!(
        (&origin["actor"], &origin["session"], &origin["command"]),
        (&"agent-B".into(), &"B".into(), &"str_replace".into())
    );
    assert_eq!(origin["version"]["path"], "/memories/d/n");
    assert_eq!(origin["commit"], story.commits()[2].as_str());
    assert_eq!(origin["time"], "2026-11-01T09:01:00.000Z");
    for directory in ["/memories/e", "/memories"] {
        let said = story.fails(4, &["blame", directory]);
        let was = format!("nothing was at {directory} but a directory after event ");
        assert!(said.contains(&was), "{said}");
    }
    story.fails(4, &["blame", "/memories/d/n"]);
}

#[test]
fn lines_that_an_undo_brought_back_are_theirs_who_wrote_them() {
    for undo in [
        &["restore", "/memories/n", "--from", "2"][..],
        &["revert", "3"],
        &["rollback", "--to", "2"],
    ] {
        for ruin in [replace("n", "one\nTWO", "ruined"), delete("n")] {
            let story = Story::new();
            story.told(&[
                ("A", create("n", "one\ntwo\nthree\n")),
                ("B", replace("n", "two", "TWO")),
                ("C", ruin),
            ]);
            story.ok(undo);
            assert_eq!(origins(&story, "/memories/n", "4"), [1, 2, 1], "{undo:?}");
        }
    }
}

#[test]
fn a_merged_revert_keeps_writers_too() {
    let story = Story::new();
    story.told(&[
        ("A", create("n", "one\ntwo\nthree\nfour\nfive\n")),
        ("C", replace("n", "two", "ruined")),
        ("B", replace("n", "five", "FIVE")),
    ]);
    story.ok(&["revert", "--session", "C"]);
    assert_eq!(origins(&story, "/memories/n", "4"), [1, 1, 1, 1, 3]);
    // What one session ruined in many events, others' lines between.
    let story = Story::new();
    story.told(&[
        ("A", create("n", "one\ntwo\nthree\nfour\nfive\n")),
        ("C", replace("n", "two", "ruined")),
        ("B", replace("n", "five", "FIVE\nsix")),
        ("C", replace("n", "FIVE\nsix", "spoilt")),
    ]);
    story.ok(&["revert", "--session", "C"]);
    assert_eq!(
        story.state(),
        state(&[("n", "one\ntwo\nthree\nfour\nFIVE\nsix\n")])
    );
    assert_eq!(origins(&story, "/memories/n", "5"), [1, 1, 1, 1, 3, 3]);
}

#[test]
fn a_file_made_again_is_a_new_memory() {
    let story = Story::new();
    story.told(&[
        ("A", create("n", "one\n")),
        ("A", delete("n")),
        ("B", create("n", "one\n")),
    ]);
    assert_eq!(origins(&story, "/memories/n", "3"), [3]);
    assert_eq!(origins(&story, "/memories/n", "1"), [1]);
    story.fails(4, &["blame", "/memories/n", "--at", "2"]);
    // An empty file has no lines.
    story.told(&[("B", create("empty", ""))]);
    assert_eq!(story.ok(&["blame", "/memories/empty"]), "");
}

#[test]
fn what_was_before_an_erasure_is_said_to_be_at_or_before_it() {
    let story = Story::new();
    story.ok(&["policy", "set", "redaction.mode", "off"]); // 1
    let secret = ["ghp_", "XcwM0kYq2RvTn7LbPz4HsJd9UfGe3A1CmK5s"].concat();
    story.told(&[
        ("A", create("n", "one\ntwo\n")),           // 2
        ("B", replace("n", "two", "2")),            // 3
        ("C", insert("n", 2, "three\n")),           // 4
        ("A", create("s", &format!("{secret}\n"))), // 5
        ("B", insert("s", 1, "after\n")),           // 6
    ]);
    story.ok(&["policy", "set", "redaction.mode", "redact"]); // 7
    story.ok(&[
        "erase",
        "/memories/n",
        "--history",
        "--reason",
        "r",
        "--yes",
    ]); // 8
    story.ok(&["redact", "HEAD:/memories/s", "--yes", "--reason", "asked"]); // 9
    assert_eq!(origins(&story, "/memories/n", "HEAD"), [8; 3]);
    assert_eq!(origins(&story, "/memories/s", "HEAD"), [9; 2]);
    let text = story.ok(&["blame", "/memories/s"]);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("<=9  "), "{text}");
    assert!(
        lines[0].ends_with("  -  -  1 | [REDACTED:github-pat]"),
        "{text}"
    );
    let next = story.told(&[
        ("D", insert("n", 1, "new\n")),
        ("D", replace("n", "three", "3")),
    ]);
    assert_eq!(
        origins(&story, "/memories/n", "HEAD"),
        [8, next - 1, 8, next]
    );
    let object = story.json(&["blame", "/memories/n"]);
    let of = |name: &str| -> Vec<&Value> {
        let all = object["origins"].as_array().expect("a list");
        all.iter().map(|origin| &origin[name]).collect()
    };
    assert_eq!(of("or_before"), [true, false, false]);
    let text = story.ok(&["blame", "/memories/n"]);
    let number = |line: &str| line.split_whitespace().next().map(str::to_owned);
    let numbers: Vec<String> = text.lines().filter_map(number).collect();
    let want = [
        "<=8".to_owned(),
        (next - 1).to_string(),
        "<=8".to_owned(),
        next.to_string(),
    ];
    assert_eq!(numbers, want);
    // What is erased is not there to be looked at.
    let said = story.fails(4, &["blame", "/memories/n", "--at", "4"]);
    assert!(said.contains("was erased by event 8"), "{said}");
}
