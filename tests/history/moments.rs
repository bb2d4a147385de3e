//! `view --at`, `show` and `diff`: files and directories as they were, and what changed.

use crate::history::story::*;
use crate::support::stdout;

fn told() -> Story {
    let story = Story::new();
    story.told(&[
        ("A", create("n.md", "one\ntwo\nthree\n")), // 1
        ("A", create("d/a.md", "a")),               // 2
        ("B", replace("n.md", "two", "2")),         // 3
        ("B", rename("n.md", "e/m.md")),            // 4
        ("A", create("n.md", "new memory\n")),      // 5
        ("B", delete("d")),                         // 6
        ("B", delete("n.md")),                      // 7
    ]);
    story
}

#[test]
fn a_view_of_then_is_what_view_answered_then() {
    let story = Story::new();
    let calls = [
        ("A", create("n.md", "one\ntwo\nthree\n")),
        ("A", create("d/e/f.md", "deep\n")),
        ("B", replace("n.md", "two", "2")),
        ("B", rename("d", "g")),
        ("B", delete("n.md")),
        ("A", create("n.md", "again")),
    ];
    let mut answers = Vec::new();
    for call in calls {
        let event = story.told(&[call]);
        for path in ["/memories", "/memories/n.md", "/memories/g", "/memories/d"] {
            let output = story.run(&["view", path]);
            answers.push((
                event,
                path,
                output.status.success().then(|| stdout(&output)),
            ));
        }
    }
    for (event, path, then) in answers {
        let args = ["view", "--at", &event.to_string(), path];
        match then {
            Some(text) => assert_eq!(story.ok(&args), text, "{event} {path}"),
            None => has(
                &story.fails(4, &args),
                &[&format!("nothing was at {path} after event {event} (2026-")],
            ),
        }
    }
}

#[test]
fn a_path_is_the_memory_that_was_there_then() {
    let story = told();
    let text = |at: &str, path: &str| story.ok(&["show", &format!("{at}:/memories/{path}")]);
    assert_eq!(text("1", "n.md"), "one\ntwo\nthree\n");
    assert_eq!(text("2", "d/a.md"), "a\n", "a last line ends in any case");
    assert_eq!(text("3", "n.md"), "one\n2\nthree\n");
    assert_eq!(text("4", "e/m.md"), "one\n2\nthree\n");
    assert_eq!(text("6", "n.md"), "new memory\n");
    for (at, path) in [
        ("0", "n.md"),
        ("4", "n.md"),
        ("7", "n.md"),
        ("3", "e/m.md"),
        ("6", "d/a.md"),
        ("3", "n.md/x"),
    ] {
        story.fails(4, &["show", &format!("{at}:/memories/{path}")]);
        story.fails(4, &["view", "--at", at, &format!("/memories/{path}")]);
        story.fails(4, &["blame", "--at", at, &format!("/memories/{path}")]);
    }
    let said = story.fails(4, &["view", "--at", "7", "/memories/n.md"]);
    has(&said, &["hint: something was there at another time"]);
    let said = story.fails(4, &["view", "--at", "7", "/memories/never"]);
    has(
        &said,
        &[
            "hint: `agekeep view --at 7 /memories` lists what was there",
            "`agekeep log --command erase` lists the erasures",
        ],
    );
    has(
        &story.ok(&["view", "--at", "1", "-L", "2:3", "/memories/n.md"]),
        &["     2\ttwo\n     3\tthree"],
    );
    has(
        &story.fails(2, &["view", "--at", "1", "-L", "9:12", "/memories/n.md"]),
        &["lines 1 to"],
    );
    story.fails(7, &["view", "--at", "1", "/etc/passwd"]);
    // The root is there always, and a directory as long as something is in it.
    has(&story.ok(&["view", "--at", "0"]), &["/memories"]);
    has(&story.ok(&["show", "5:/memories/d"]), &["a.md"]);
    story.fails(4, &["show", "6:/memories/d"]);
    let json = story.json(&["view", "--at", "3", "/memories/n.md"]);
    assert_eq!(json["version"]["version"], 2);
    assert_eq!(json["at"]["event"], 3);
    assert_eq!(json["at"]["commit"], story.commits()[3].as_str());
}

#[test]
fn an_event_and_what_it_changed() {
    let story = told();
    let shown = story.ok(&["show", "3"]);
    let want = "--- /memories/n.md  v1 event 1\n+++ /memories/n.md  v2 event 3\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";
    has(
        &shown,
        &[
            "str_replace",
            "by=agent-B (claimed)  signed-by=owner  session=B",
            want,
        ],
    );
    let renamed = story.ok(&["show", "4"]);
    has(
        &renamed,
        &["--- /memories/n.md  v2 event 3\n+++ /memories/e/m.md  v3 event 4\n"],
    );
    assert!(!renamed.contains("@@"), "{renamed}");
    has(
        &story.ok(&["show", "6"]),
        &[
            "+++ (not there)",
            "@@ -1,1 +0,0 @@\n-a\n\\ No newline at end of file\n",
        ],
    );
    let object = story.json(&["show", "2"]);
    assert_eq!(object["changes"][0]["change"], "add");
    assert_eq!(
        object["changes"][0]["hunks"][0]["lines"][0]["unterminated"],
        true
    );
    assert_eq!(story.json(&["show", "0"])["changes"], serde_json::json!([]));
    // A show of a look says whose it was, and what it was at.
    let looked = story.json(&["log", "-n", "1", "--command", "show"])["event"].to_string();
    has(&story.ok(&["show", &looked]), &["show", "at=0"]);
}

#[test]
fn differences_between_any_two_moments() {
    let story = told();
    let changes = |args: &[&'static str]| {
        let all = [&["diff"], args].concat();
        let object = story.json(&all);
        let changes = object["changes"].as_array().expect("a list").clone();
        let one = |change: &serde_json::Value| {
            let path = |side: &str| {
                change[side]["path"]
                    .as_str()
                    .map_or("-", |path| &path[10..])
                    .to_owned()
            };
            format!(
                "{} {} {}",
                change["change"].as_str().expect("a word"),
                path("before"),
                path("after")
            )
        };
        changes.iter().map(one).collect::<Vec<_>>()
    };
    assert_eq!(changes(&[]), ["remove n.md -"], "the last change");
    assert_eq!(changes(&["0", "2"]), ["add - d/a.md", "add - n.md"]);
    assert_eq!(changes(&["2", "0"]), ["remove d/a.md -", "remove n.md -"]);
    assert_eq!(changes(&["2", "4"]), ["move n.md e/m.md"]);
    assert_eq!(changes(&["4", "5", "/memories/n.md"]), ["add - n.md"]);
    assert_eq!(changes(&["1"]), ["move n.md e/m.md"], "until now");
    assert_eq!(changes(&["3", "3"]), [""; 0]);
    assert_eq!(changes(&["/memories/d"]), ["remove d/a.md -"]);
    assert_eq!(changes(&["/memories/e"]), ["move n.md e/m.md"]);
    assert_eq!(changes(&["2", "/memories/d"]), ["remove d/a.md -"]);
    assert_eq!(changes(&["2", "3", "/memories/d"]), [""; 0]);
    let stat = story.ok(&["diff", "0", "3", "--stat"]);
    assert_eq!(
        stat,
        "add      /memories/d/a.md | +1 -0\nadd      /memories/n.md | +3 -0\n2 memories, +4 -0 lines\n"
    );
    let text = story.ok(&["diff", "1", "3"]);
    has(
        &text,
        &[
            "-two\n+2\n",
            "--- /memories/n.md  v1 event 1\n+++ /memories/n.md  v2 event 3",
        ],
    );
    for (code, args) in [
        (4, &["diff", "/memories/none"][..]),
        (4, &["diff", "x"]),
        (4, &["diff", "1", "99"]),
        (7, &["diff", "1", "2", "/etc"]),
    ] {
        story.fails(code, args);
    }
    // What moved away and changed there is no change of its old path.
    story.told(&[
        ("A", create("o.md", "1\n")),
        ("A", rename("o.md", "p.md")),
        ("A", replace("p.md", "1", "2")),
    ]);
    assert_eq!(changes(&["/memories/o.md"]), ["move o.md p.md"]);
    // What an undo brought back is no difference.
    story.ok(&["restore", "/memories/e/m.md", "--from", "3"]);
    assert_eq!(changes(&["8", "/memories/e"]), [""; 0]);
    // In an empty store nothing was ever changed.
    has(
        &Story::new().fails(4, &["diff"]),
        &["no event has changed a memory"],
    );
}
