//! JSON Lines: what is in them, and what is taken from them.

use serde_json::{Value, json};

use crate::port::place::{Place, texts};
use crate::retention::scene::{BEGIN, Scene, day, minute};
use crate::support::{json_lines, stderr, stdout};

/// The SHA-256 of `one\n`.
const ONE: &str = "2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806";

fn line(path: &str, text: &str, sha256: &str) -> Value {
    json!({"memory": "0".repeat(32), "path": path, "version": 1, "present": true,
           "text": text, "sha256": sha256, "bytes": text.len()})
}

fn header(lines: usize) -> Value {
    json!({"schema": "agekeep.export/1", "store": "ab".repeat(16), "lines": lines})
}

fn file(lines: &[Value]) -> String {
    lines.iter().map(|line| line.to_string() + "\n").collect()
}

#[test]
fn a_line_says_all_there_is_to_say_of_a_version() {
    let scene = Scene::new("");
    let write = |at: i64, text: &str| {
        let args = [
            "write",
            "a.md",
            "--text",
            text,
            "--actor",
            "agent",
            "--session",
            "s",
        ];
        scene.done(&minute(at), &args);
    };
    write(1, "zero\n");
    write(2, "one\n");
    scene.create(&minute(3), "/memories/b \u{e9}.md", "\u{2028}\"\\\u{1f600}");
    let output = scene.run(&minute(9), &["export", "--jsonl", "-"]);
    let lines = json_lines(&output.stdout);
    assert_eq!(lines.len(), 3);
    let newest = scene.newest(&minute(10));
    let store = &scene.json(&minute(10), &["status"])["id"];
    assert_eq!(newest["command"], "export");
    assert_eq!(
        lines[0],
        json!({"schema": "agekeep.export/1", "store": store,
               "head": {"event": 3, "commit": newest["at"][0]["commit"]},
               "time": "2026-01-01T00:03:00.000Z", "event": 4, "history": false,
               "paths": [], "memories": 2, "lines": 2})
    );
    assert_eq!(
        lines[1],
        json!({"memory": scene.id("/memories/a.md"), "path": "/memories/a.md", "version": 2,
               "present": true, "created": "2026-01-01T00:01:00.000Z",
               "time": "2026-01-01T00:02:00.000Z", "event": 2, "command": "memory_write",
               "actor": "agent", "session": "s", "bytes": 4, "sha256": ONE, "text": "one\n"})
    );
    assert_eq!(lines[2]["path"], "/memories/b \u{e9}.md");
    assert_eq!(lines[2]["text"], "\u{2028}\"\\\u{1f600}");
    // Everything that is not data went to the other side.
    assert!(stderr(&output).contains("plaintext"));
    assert!(stderr(&output).contains("Exported 2 memories"));
}

#[test]
fn of_a_history_the_present_state_is_taken() {
    let scene = Scene::new("");
    scene.create(BEGIN, "/memories/a.md", "v1\n");
    scene.done(BEGIN, &["write", "a.md", "--text", "v2\n"]);
    scene.done(BEGIN, &["rename", "/memories/a.md", "/memories/b.md"]);
    scene.create(BEGIN, "/memories/a.md", "another\n");
    scene.create(BEGIN, "/memories/gone.md", "deleted\n");
    scene.done(BEGIN, &["delete", "/memories/gone.md"]);
    scene.create(BEGIN, "/memories/secret.md", "erased\n");
    scene.done(
        BEGIN,
        &["erase", "/memories/secret.md", "--yes", "--reason", "asked"],
    );
    let file = scene.home.path().join("h.jsonl");
    let path = file.to_str().expect("UTF-8");
    let output = scene.run(BEGIN, &["export", "--jsonl", path, "--history"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        stdout(&output).contains("1 version not exported: "),
        "{}",
        stdout(&output)
    );
    assert_eq!(scene.newest(BEGIN)["command"], "export_history");
    let lines = json_lines(&std::fs::read(&file).expect("written"));
    let said: Vec<_> = lines[1..]
        .iter()
        .map(|line| {
            let text = |field: &str| line[field].as_str().unwrap_or("-").to_owned();
            (
                text("path"),
                text("text"),
                line["present"].as_bool().expect("said"),
            )
        })
        .collect();
    let row = |path: &str, text: &str, present| (path.into(), text.into(), present);
    assert_eq!(
        said,
        [
            row("-", "-", false),
            row("/memories/a.md", "another\n", true),
            row("/memories/a.md", "v1\n", false),
            row("/memories/a.md", "v2\n", false),
            row("/memories/b.md", "v2\n", true),
            row("/memories/gone.md", "deleted\n", false),
        ]
    );
    assert!(
        lines[1]["why"].as_str().expect("why").contains("erased"),
        "{}",
        lines[1]
    );
    assert!(lines[1].get("text").is_none());
    let other = Place::new();
    let said = other.import(&[path]);
    assert_eq!(said.counts(), [("imported", 2), ("older", 4)].into());
    assert_eq!(
        other.kept(),
        texts(&[("a.md", "another\n"), ("b.md", "v2\n")])
    );
    let reason = other.log()[1]["reason"].to_string();
    let store = scene.json(BEGIN, &["status"])["id"].to_string();
    assert!(reason.contains(store.trim_matches('"')), "{reason}");
    // Up to a moment there is nothing of what came later.
    let earlier = scene.run(BEGIN, &["export", "--jsonl", "-", "--history", "--at", "2"]);
    assert_eq!(json_lines(&earlier.stdout).len(), 3);
}

#[test]
fn what_was_changed_or_cut_off_is_refused_line_by_line() {
    let place = Place::new();
    let lines = [
        header(9),
        line("/memories/good.md", "one\n", ONE),
        line("/memories/changed.md", "two\n", ONE),
        line("/elsewhere/a.md", "one\n", ONE),
        line("/memories", "one\n", ONE),
        line("/memoriesx/a.md", "one\n", ONE),
        line("/memories/../a.md", "one\n", ONE),
        json!({"path": "/memories/closed.md", "present": true, "why": "it is damaged\n\u{1b}[2J"}),
        json!({"path": "/memories/old.md", "present": false, "text": "x", "sha256": ONE}),
        json!(["no", "line"]),
    ];
    place.write("tampered.jsonl", file(&lines));
    let said = place.import(&["tampered.jsonl"]);
    assert_eq!(said.sum["from"], "jsonl");
    assert_eq!(said.of("line 2").0, "imported");
    said.refuses("line 3", "SHA-256");
    said.refuses("line 4", "not below /memories");
    said.refuses("line 5", "not below /memories");
    said.refuses("line 6", "not below /memories");
    said.refuses("line 7", "escape");
    said.refuses("line 8", "it is damaged\\n\\u{1b}[2J");
    said.refuses("line 10", "not a line of an export");
    let want = [("imported", 1), ("older", 1), ("refused", 7)];
    assert_eq!((said.code, said.counts()), (1, want.into()));
    let cut = file(&lines[..2]);
    place.write("cut.jsonl", &cut[..cut.len() - 20]);
    let said = place.import(&["cut.jsonl"]);
    said.refuses("line 2", "not a line");
    said.refuses("line 3", "cut off");
    place.write(
        "fewer.jsonl",
        file(&[header(2), line("/memories/good.md", "one\n", ONE)]),
    );
    let said = place.import(&["fewer.jsonl"]);
    assert_eq!(said.of("line 2").0, "same");
    said.refuses("line 3", "cut off");
    assert_eq!(place.kept(), texts(&[("good.md", "one\n")]));
}

#[test]
fn lines_with_one_path_and_lines_without_end_are_refused() {
    let place = Place::new();
    let long = "x".repeat(6 * 2_097_152 + 70_000);
    let lines = [
        header(5),
        line("/memories/caf\u{e9}", "one\n", ONE),
        line("/memories/cafe\u{301}", "one\n", ONE),
        line("/memories/long", &long, ONE),
        line("/memories/dir", "one\n", ONE),
        line("/memories/dir/below", "one\n", ONE),
    ];
    place.write("odd.jsonl", file(&lines));
    let said = place.import(&["odd.jsonl", "--to", "/memories/here"]);
    said.refuses("line 2", "that of line 3");
    said.refuses("line 3", "that of line 2");
    said.refuses("line 4", "more than");
    said.refuses("line 5", "below it");
    assert_eq!(place.kept(), texts(&[("here/dir/below", "one\n")]));
    // A text over the limit in a line that is not is refused like any other.
    let large = "x".repeat(2_097_153);
    place.write(
        "large.jsonl",
        file(&[header(1), line("/memories/large", &large, &digest(&large))]),
    );
    place
        .import(&["large.jsonl"])
        .refuses("line 2", "at most 2097152");
}

fn digest(text: &str) -> String {
    agekeep::Digest::of(text.as_bytes()).to_string()
}

#[test]
fn a_text_with_a_nul_in_it_is_one_where_that_is_certain() {
    let place = Place::new();
    let text = "a\0b\n";
    place.write(
        "nul.jsonl",
        file(&[header(1), line("/memories/nul", text, &digest(text))]),
    );
    assert_eq!(place.import(&["nul.jsonl"]).of("line 2").0, "imported");
    assert_eq!(place.kept(), texts(&[("nul", text)]));
}

#[test]
fn nothing_of_a_memory_that_has_expired_comes_back_by_way_of_a_file() {
    let scene = Scene::new("[expiration]\nunaccessed_for = \"10d\"\n");
    scene.create(BEGIN, "/memories/old.md", "old\n");
    scene.create(&day(8), "/memories/new.md", "new\n");
    for args in [
        &["export", "--jsonl", "-"][..],
        &["export", "--jsonl", "-", "--history"],
    ] {
        let output = scene.run(&day(12), args);
        let lines = json_lines(&output.stdout);
        let present = lines[1..].iter().filter(|line| line["present"] == true);
        let paths: Vec<_> = present.map(|line| line["path"].clone()).collect();
        assert_eq!(paths, ["/memories/new.md"]);
    }
}
