//! `rollback`: the whole store as it was, and forward again.

use crate::history::story::*;

#[test]
fn the_whole_store_goes_back_to_any_moment_and_forward_again() {
    let story = Story::new();
    story.told(&[
        ("A", create("a", "1\n")),
        ("B", create("b", "2\n")),
        ("A", replace("a", "1", "one")),
        ("A", delete("b")),
        ("B", create("b", "another\n")),
        ("B", rename("a", "d/a")),
        ("A", delete("b")),
        ("A", create("b/below", "3\n")),
        ("B", delete("d")),
        ("B", create("d", "a file now\n")),
    ]);
    let states: Vec<State> = (0..=10).map(|event| story.state_at(event)).collect();
    assert_eq!(
        states[10],
        state(&[("b/below", "3\n"), ("d", "a file now\n")])
    );
    for to in [3, 0, 10, 5, 8, 2, 9, 1, 6, 4, 7, 10] {
        story.ok(&["rollback", "--to", &to.to_string()]);
        assert_eq!(story.state(), states[to], "to {to}");
        // What was is still what it was.
        assert_eq!(story.state_at(4), states[4]);
    }
    let newest = story.newest();
    has(
        &story.ok(&["rollback", "--to", "10"]),
        &["There is nothing to do."],
    );
    has(
        &story.ok(&["rollback", "--to", "HEAD"]),
        &["There is nothing to do."],
    );
    assert_eq!(story.newest(), newest);
    let log = story.json(&["log", "-n", "1"]);
    assert_eq!(
        (&log["command"], &log["at"][0]["event"]),
        (&"rollback".into(), &10.into())
    );
    // The undo of a rollback is a revert like any other.
    story.ok(&["rollback", "--to", "2"]);
    story.ok(&["revert", "HEAD"]);
    assert_eq!(story.state(), states[10]);
}

#[test]
fn to_a_time_and_to_no_moment() {
    let story = Story::new();
    story.told(&[("A", create("a", "1\n"))]); // 09:01
    story.told(&[("A", create("b", "2\n"))]); // 09:02
    story.ok(&["rollback", "--to", "@2026-11-01T09:01:59Z"]);
    assert_eq!(story.state(), state(&[("a", "1\n")]));
    for (code, to) in [
        (4, "@2026-11-01T08:59:59Z"),
        (4, "yesterday"),
        (4, "99"),
        (4, ""),
        (4, "x"),
    ] {
        story.fails(code, &["rollback", "--to", to]);
    }
    story.fails(2, &["rollback"]);
    assert_eq!(story.newest(), 3);
}
