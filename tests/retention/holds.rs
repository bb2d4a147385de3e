//! Holds: what they keep, from whom, and who put them on.

use crate::retention::scene::{Scene, day, has, list};
use crate::support::json_lines;

const POLICY: &str = "[expiration]\nunaccessed_for = \"90d\"\nthen = \"erase\"\ngrace = \"0d\"\n";

fn scene() -> Scene {
    let scene = Scene::new(POLICY);
    for path in [
        "/memories/a.md",
        "/memories/team/b.md",
        "/memories/team/c.md",
    ] {
        scene.create(&day(1), path, "text");
    }
    scene
}

fn hold(scene: &Scene, now: &str, what: &str) -> String {
    let said = scene.json(now, &["hold", "add", what, "--reason", "case 7"]);
    said["hold"].to_string()
}

#[test]
fn a_hold_beats_expiry_erasure_and_deletion() {
    let scene = scene();
    let number = hold(&scene, &day(2), "/memories/team");
    let said = scene.done(&day(200), &["expire"]);
    has(&said, &["1 to remove", "2 due and held"]);
    assert!(
        scene.is_there(&day(200), "/memories/team/b.md"),
        "it is not absent either"
    );
    assert!(!scene.is_there(&day(200), "/memories/a.md"));
    for args in [
        &["erase", "/memories/team/b.md", "--yes", "--reason", "asked"][..],
        &["erase", "/memories/team", "--yes", "--reason", "asked"],
        &[
            "erase",
            "--subject",
            "/memories/**",
            "--yes",
            "--reason",
            "asked",
        ],
        &[
            "erase",
            "/memories/team/b.md",
            "--history",
            "--yes",
            "--reason",
            "asked",
        ],
        &[
            "redact",
            "HEAD:/memories/team/b.md",
            "--yes",
            "--reason",
            "asked",
        ],
    ] {
        // Some have no history to erase, which is said first.
        let output = scene.run(&day(201), args);
        assert!(matches!(output.status.code(), Some(7 | 4)), "{args:?}");
    }
    has(
        &scene.refused(
            &day(201),
            7,
            &["erase", "/memories/team/b.md", "--yes", "--reason", "asked"],
        ),
        &[&format!("hold {number} keeps")],
    );
    for path in ["/memories/team/b.md", "/memories/team"] {
        let said = scene.fails(&day(201), 7, &["delete", path]);
        has(&said, &["is kept under a hold and cannot be deleted"]);
    }
    scene.done(&day(202), &["hold", "rm", &number]);
    let swept = scene.json(&day(203), &["expire"]);
    assert_eq!(list(&swept["expire"]).len(), 2);
    assert_eq!(list(&swept["erase"]).len(), 2, "there is no grace");
    scene.assert_verified("after all");
}

#[test]
fn a_hold_goes_along_with_what_leaves_its_paths() {
    let scene = scene();
    let number = hold(&scene, &day(2), "/memories/team/*");
    scene.done(
        &day(3),
        &["rename", "/memories/team/b.md", "/memories/away.md"],
    );
    scene.fails(&day(4), 7, &["delete", "/memories/away.md"]);
    scene.refused(
        &day(4),
        7,
        &["erase", "/memories/away.md", "--yes", "--reason", "asked"],
    );
    // Also where the catalog has to be made from history.
    std::fs::remove_file(scene.home.store().join("catalog")).expect("there");
    scene.fails(&day(4), 7, &["delete", "/memories/away.md"]);
    scene.done(&day(5), &["expire"]);
    scene.done(&day(6), &["hold", "rm", &number]);
    scene.done(
        &day(7),
        &["erase", "/memories/away.md", "--yes", "--reason", "asked"],
    );
    scene.assert_verified("after all");
}

#[test]
fn what_a_hold_keeps_can_be_edited_and_keeps_its_history() {
    let scene = scene();
    hold(&scene, &day(2), "/memories/a.md");
    scene.done(&day(3), &["write", "a.md", "--text", "another"]);
    assert_eq!(scene.done(&day(3), &["show", "1:/memories/a.md"]), "text\n");
    let undone = scene.fails(&day(4), 15, &["rollback", "--to", "0"]);
    has(&undone, &["/memories/a.md: hold 4 keeps it"]);
}

#[test]
fn a_hold_is_on_record_with_who_and_why() {
    let scene = scene();
    scene.refused(&day(2), 2, &["hold", "add", "/memories/a.md"]);
    scene.refused(
        &day(2),
        4,
        &["hold", "add", "/memories/none.md", "--reason", "r"],
    );
    scene.refused(
        &day(2),
        4,
        &["hold", "add", &"0".repeat(32), "--reason", "r"],
    );
    scene.refused(&day(2), 2, &["hold", "add", "/memories/[", "--reason", "r"]);
    scene.refused(&day(2), 2, &["hold", "add", "/legal/**", "--reason", "r"]);
    scene.refused(&day(2), 4, &["hold", "rm", "99"]);
    let id = scene.id("/memories/a.md");
    scene.done(&day(2), &["hold", "add", &id, "--reason", "one"]);
    scene.done(
        &day(3),
        &["hold", "add", "/memories/{a,b}.md", "--reason", "two"],
    );
    let listed = json_lines(scene.done(&day(4), &["hold", "list", "--json"]).as_bytes());
    assert_eq!(listed.len(), 2);
    assert_eq!(
        (&listed[0]["path"], &listed[0]["reason"]),
        (&"/memories/a.md".into(), &"one".into())
    );
    assert_eq!(listed[1]["on"]["glob"], "/memories/{a,b}.md");
    assert_eq!(
        (&listed[1]["actor"], &listed[1]["memories"]),
        (&"tester".into(), &1.into())
    );
    let event = scene.newest(&day(4));
    assert_eq!(
        (&event["command"], &event["reason"]),
        (&"hold_add".into(), &"two".into())
    );
    // A memory that is gone can be held by the path it had, or its id.
    scene.done(&day(5), &["hold", "rm", "4"]);
    scene.done(&day(5), &["hold", "rm", "5"]);
    // What is no longer held stands in the line of whoever ended it, with history read or not.
    for args in [&["log", "-n", "2"][..], &["log", "--command", "hold_rm"]] {
        let log = scene.done(&day(5), args);
        let lines: Vec<&str> = log.lines().collect();
        has(lines[0], &["ends hold=5 on \"/memories/{a,b}.md\""]);
        has(lines[1], &[&format!("ends hold=4 on memory {id}")]);
    }
    let ended = scene.newest(&day(5));
    assert_eq!(ended["lifted"]["glob"], "/memories/{a,b}.md");
    scene.done(&day(5), &["delete", "/memories/a.md"]);
    scene.done(
        &day(6),
        &["hold", "add", "/memories/a.md", "--reason", "three"],
    );
    scene.refused(&day(7), 7, &["erase", &id, "--yes", "--reason", "asked"]);
    scene.assert_verified("with holds");
}

#[test]
fn a_directory_is_held_whatever_its_name_looks_like() {
    let scene = scene();
    scene.create(&day(1), "/memories/a[b]/x.md", "text");
    hold(&scene, &day(2), "/memories/a[b]");
    scene.fails(&day(3), 7, &["delete", "/memories/a[b]"]);
    let refused = scene.refused(
        &day(3),
        2,
        &["hold", "add", "/legal/**", "--reason", "case 8"],
    );
    has(&refused, &["it fits no memory"]);
}

#[test]
fn who_sweeps_lifts_no_hold() {
    let scene = scene();
    scene.let_in(&day(1), "sue", "auditor", true);
    let number = hold(&scene, &day(2), "/memories/a.md");
    scene.fails_as("sue", &day(3), 12, &["hold", "rm", &number]);
    scene.fails_as(
        "sue",
        &day(3),
        7,
        &["erase", "/memories/a.md", "--yes", "--reason", "asked"],
    );
}
