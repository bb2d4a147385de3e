//! What has expired is absent at once: for every command, before any sweep, and no read revives it.

use serde_json::{Value, json};

use crate::retention::scene::{Scene, day, has, minute};
use crate::support::{feed, json_lines, stdout};

const POLICY: &str = "[expiration]\nunaccessed_for = \"30d\"\n";
const PATH: &str = "/memories/a.md";

fn scene() -> Scene {
    let scene = Scene::new(POLICY);
    scene.create(&day(1), PATH, "old text\n");
    scene
}

#[test]
fn no_command_finds_it_and_none_revives_it() {
    let scene = scene();
    for args in [
        &["view", PATH][..],
        &["read", "a.md"],
        &["str-replace", PATH, "--old", "old", "--new", "new"],
        &["insert", PATH, "0", "--text", "x"],
        &["delete", PATH],
        &["rename", PATH, "/memories/b.md"],
    ] {
        let said = scene.fails(&day(40), 4, args);
        has(&said, &["does not exist"]);
    }
    assert_eq!(scene.done(&day(40), &["read"]).trim(), "");
    assert!(!scene.done(&day(40), &["view"]).contains("a.md"));
    scene.fails(&day(40), 4, &["grep", "old"]);
    let status = scene.json(&day(40), &["status"]);
    assert_eq!(
        (&status["memories"], &status["expired"]),
        (&0.into(), &1.into())
    );
    // Nobody's asking was an access: it expired when it did.
    let plan = scene.json(&day(41), &["expire", "--dry-run"]);
    let due = &plan["expire"][0];
    assert_eq!((&due["path"], &due["at"]), (&PATH.into(), &day(31).into()));
}

/// What each memory command answers of a path, in words and for programs, without what differs
/// between any two calls.
fn answers_of(scene: &Scene, path: &str) -> Vec<Value> {
    let other = "/memories/other.md";
    let calls = [
        json!({"command": "view", "path": path}),
        json!({"command": "str_replace", "path": path, "old_str": "old", "new_str": "new"}),
        json!({"command": "insert", "path": path, "insert_line": 0, "insert_text": "x"}),
        json!({"command": "delete", "path": path}),
        json!({"command": "rename", "old_path": path, "new_path": "/memories/c.md"}),
        json!({"command": "rename", "old_path": path, "new_path": other}),
        json!({"command": "rename", "old_path": "/memories/none", "new_path": path}),
        json!({"command": "create", "path": format!("{path}/.."), "file_text": "x"}),
        json!({"command": "memory_read", "path": path}),
        json!({"command": "create", "path": path, "file_text": "x".repeat(99)}),
        json!({"command": "memory_write", "path": path, "content": "x".repeat(99)}),
    ];
    let lines: Vec<String> = calls.iter().map(Value::to_string).collect();
    let command = scene.command_as("owner", &day(40), &["tool"]);
    let output = feed(command, lines.join("\n").as_bytes());
    let mut answers = json_lines(&output.stdout);
    assert_eq!(answers.len(), calls.len());
    for answer in &mut answers {
        assert_eq!(answer["is_error"], true, "{answer}");
        let content = answer["content"].as_str().expect("a text");
        answer["content"] = content.replace(path, "PATH").into();
        let meta = answer["meta"].as_object_mut().expect("facts");
        for name in ["event", "commit"] {
            assert!(meta.remove(name).is_some());
        }
    }
    answers
}

#[test]
fn an_answer_of_it_is_as_if_it_had_never_been() {
    let scene = Scene::new(&format!("{POLICY}[limits]\nmemory_bytes = 50\n"));
    scene.create(&day(1), PATH, "old text\n");
    scene.create(&day(35), "/memories/other.md", "other\n");
    let of_it = answers_of(&scene, PATH);
    let of_none = answers_of(&scene, "/memories/n.md");
    for (of_it, of_none) in of_it.iter().zip(&of_none) {
        assert_eq!(of_it, of_none);
    }
    // Who audits sees what was asked for.
    let first = scene.log(&day(41), 2 * of_it.len() + 1);
    let viewed = first.iter().rfind(|event| event["command"] == "view");
    let viewed = viewed.expect("on record");
    assert_eq!(viewed["memories"][0]["memory"], scene.id(PATH), "{viewed}");
}

#[test]
fn to_the_second_it_is_there_and_then_it_is_not() {
    let scene = scene();
    let minute_of_day = 24 * 60;
    assert!(scene.is_there(&minute(31 * minute_of_day - 1), PATH));
    assert!(!scene.is_there(&day(31), PATH));
    scene.done(&minute(31 * minute_of_day - 1), &["view", PATH]);
    assert!(scene.is_there(&day(31), PATH), "a read in time keeps it");
}

#[test]
fn looks_lists_and_audits_are_no_access() {
    let scene = scene();
    for args in [
        &["view"][..],
        &["read"],
        &["grep", "old"],
        &["log"],
        &["show", "1:/memories/a.md"],
        &["blame", PATH],
        &["access", PATH],
        &["verify"],
        &["scan"],
        &["policy", "explain", PATH],
        &["keys", "export", PATH],
        &["hold", "list"],
    ] {
        scene.done(&day(25), args);
    }
    assert!(!scene.is_there(&day(31), PATH));
}

#[test]
fn what_is_new_takes_its_place_in_one_event() {
    for (args, at) in [
        (&["create", PATH, "--text", "new"][..], PATH),
        (&["write", "a.md", "--text", "new"], PATH),
        (
            &["create", "/memories/a.md/below.md", "--text", "new"],
            "/memories/a.md/below.md",
        ),
        (&["rename", "/memories/b.md", PATH], PATH),
    ] {
        let scene = scene();
        let old = scene.id(PATH);
        scene.create(&day(35), "/memories/b.md", "new");
        let events = scene.events();
        scene.done(&day(40), args);
        assert_eq!(scene.events(), events + 1, "{args:?}");
        assert_eq!(scene.done(&day(40), &["read", at]), "new", "{args:?}");
        let event = scene.log(&day(40), 2).remove(1);
        let touches = event["memories"].as_array().expect("a list");
        let expired: Vec<_> = touches.iter().filter(|t| t["change"] == "expire").collect();
        assert_eq!(expired.len(), 1, "{event}");
        assert_eq!(expired[0]["memory"], old.as_str());
        assert!(
            expired[0]["because"]["unaccessed"]["since"].is_string(),
            "{event}"
        );
        assert_eq!(
            scene.done(&day(41), &["show", "1:/memories/a.md"]),
            "old text\n"
        );
        scene.assert_verified("after it made way");
    }
}

#[test]
fn a_person_brings_it_back() {
    let scene = scene();
    has(&scene.done(&day(40), &["restore", PATH]), &["Done (event"]);
    assert!(scene.is_there(&day(40), PATH), "before any sweep");
    assert!(scene.is_there(&day(69), PATH), "for another window");
    scene.done(&day(75), &["expire"]);
    has(&scene.done(&day(80), &["restore", PATH]), &["restore"]);
    assert_eq!(scene.done(&day(80), &["read", "a.md"]), "old text\n");
    has(
        &scene.refused(&day(80), 2, &["restore", PATH]),
        &["a memory is there now"],
    );
    scene.done(&day(200), &["expire"]);
    let event = scene.newest(&day(200))["event"].to_string();
    scene.done(&day(201), &["revert", &event]);
    assert!(
        scene.is_there(&day(201), PATH),
        "a sweep can be reverted as a whole"
    );
    scene.assert_verified("after all");
}

#[test]
fn the_first_rule_that_fits_decides() {
    let scene = Scene::new(
        "[expiration]\nunaccessed_for = \"30d\"\nkeep = [\"/memories/keep/**\"]\n\
         [[expiration.rules]]\npath = \"/memories/tmp/long.md\"\nunaccessed_for = \"never\"\n\
         [[expiration.rules]]\npath = \"/memories/tmp/**\"\nunaccessed_for = \"1d\"\n\
         [[expiration.rules]]\npath = \"/memories/{tmp,keep}/**\"\nexpires_at = 2026-01-10T00:00:00Z\n",
    );
    let all = [
        "/memories/keep/a.md",
        "/memories/tmp/long.md",
        "/memories/tmp/a.md",
        "/memories/b.md",
    ];
    for path in all {
        scene.create(&minute(1), path, "text");
    }
    let there = |now: &str| -> Vec<bool> { all.iter().map(|p| scene.is_there(now, p)).collect() };
    assert_eq!(there(&minute(2)), [true; 4]);
    assert_eq!(there(&day(2)), [true, true, false, true]);
    assert_eq!(there(&day(400)), [true, true, false, false]);
    let said = scene.done(&day(2), &["policy", "explain", "/memories/tmp/a.md"]);
    has(&said, &["rule 2", "expired"]);
    let id = scene.id("/memories/b.md");
    scene.done(
        &day(2),
        &["policy", "expire-at", "/memories/b.md", "2026-01-05"],
    );
    assert!(scene.is_there(&day(3), "/memories/b.md"));
    let later = scene.run(&day(5), &["read", "b.md"]);
    assert_eq!(later.status.code(), Some(4), "{}", stdout(&later));
    // What the policy names a time for is gone at once again.
    let said = scene.fails(&day(6), 15, &["restore", "/memories/b.md"]);
    has(&said, &["change the policy first"]);
    scene.done(&day(6), &["policy", "expire-at", &id, "never"]);
    assert!(scene.is_there(&day(6), "/memories/b.md"));
}
