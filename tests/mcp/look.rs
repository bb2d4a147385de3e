//! Looking back and looking for: history, differences and search, each on record and no access.

use std::fs;

use serde_json::{Value, json};

use crate::mcp::client::{Server, events, last_event, text};
use crate::support::{Home, stderr, stdout};

fn ok(home: &Home, args: &[&str]) -> String {
    let output = home.run(args);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    stdout(&output)
}

/// A home with a little history.
fn home() -> Home {
    let home = Home::with_store();
    ok(
        &home,
        &["write", "a.md", "--text", "one\ntwo\n", "--actor", "writer"],
    );
    ok(&home, &["write", "d/b.md", "--text", "Two\nthree.\n"]);
    ok(&home, &["write", "a.md", "--text", "one\n2\n"]);
    ok(&home, &["rename", "/memories/d/b.md", "/memories/d/c.md"]);
    home
}

fn numbers(result: &Value) -> Vec<i64> {
    let events = result["structuredContent"]["events"]
        .as_array()
        .expect("events");
    events
        .iter()
        .map(|event| event["event"].as_i64().expect("a number"))
        .collect()
}

#[test]
fn history_lists_what_changed_newest_first() {
    let home = home();
    ok(&home, &["view", "/memories/a.md"]);
    let mut server = Server::older(&home, &[]);
    let all = server.call("memory_history", json!({}));
    assert_eq!(numbers(&all), [4, 3, 2, 1], "{all}");
    let said = text(&all);
    assert_eq!(said.lines().count(), 4);
    assert!(
        said.contains("writer") && said.contains("+1 -1 lines"),
        "{said}"
    );
    let of =
        |server: &mut Server, arguments: Value| numbers(&server.call("memory_history", arguments));
    assert_eq!(of(&mut server, json!({"path": "/memories/a.md"})), [3, 1]);
    assert_eq!(of(&mut server, json!({"path": "/memories/d"})), [4, 2]);
    assert_eq!(of(&mut server, json!({"path": "/memories/d/c.md"})), [4, 2]);
    assert_eq!(of(&mut server, json!({"path": "/memories"})), [4, 3, 2, 1]);
    assert_eq!(of(&mut server, json!({"limit": 1})), [4]);
    assert_eq!(of(&mut server, json!({"limit": 200})), [4, 3, 2, 1]);
    assert_eq!(
        of(&mut server, json!({"limit": null, "path": null})),
        [4, 3, 2, 1]
    );
    assert_eq!(
        of(&mut server, json!({"path": "/memories/none"})),
        [0_i64; 0]
    );
    let none = server.done("memory_history", json!({"path": "/memories/none"}));
    assert_eq!(none, "Nothing has changed a memory there.");
}

#[test]
fn a_difference_is_a_unified_diff() {
    let home = home();
    let mut server = Server::older(&home, &[]);
    let said = server.done(
        "memory_diff",
        json!({"from": "1", "to": "3", "path": "/memories/a.md"}),
    );
    assert!(said.contains("\n-two\n+2"), "{said}");
    let numbers = server.done(
        "memory_diff",
        json!({"from": 1, "to": 3, "path": "/memories/a.md"}),
    );
    assert_eq!(numbers, said);
    let last = server.done("memory_diff", json!({}));
    assert!(last.contains("d/c.md"), "{last}");
    let since = server.call("memory_diff", json!({"from": "1"}));
    assert_eq!(
        since["structuredContent"]["changes"]
            .as_array()
            .expect("changes")
            .len(),
        2
    );
    assert_eq!(
        server.done("memory_diff", json!({"from": "3", "to": "3"})),
        "Nothing differs."
    );
    for moment in ["HEAD~2", "@2020-01-01T00:00Z"] {
        server.call("memory_diff", json!({"from": moment}));
    }
}

#[test]
fn search_finds_lines() {
    let home = home();
    let mut server = Server::older(&home, &[]);
    let mut found = |arguments: Value| server.done("memory_search", arguments);
    assert_eq!(
        found(json!({"pattern": "e"})),
        "/memories/a.md:1: one\n/memories/d/c.md:2: three."
    );
    assert_eq!(
        found(json!({"pattern": "e", "path": "/memories/d"})),
        "/memories/d/c.md:2: three."
    );
    assert_eq!(found(json!({"pattern": "two"})), "Nothing was found.");
    assert_eq!(
        found(json!({"pattern": "two", "ignore_case": true})),
        "/memories/d/c.md:1: Two"
    );
    // As it is, unless it is asked for as a pattern.
    assert_eq!(
        found(json!({"pattern": "e."})),
        "/memories/d/c.md:2: three."
    );
    assert_eq!(found(json!({"pattern": "^o.e$"})), "Nothing was found.");
    assert_eq!(
        found(json!({"pattern": "^o.e$", "regex": true})),
        "/memories/a.md:1: one"
    );
    let ever = found(json!({"pattern": "two", "history": true}));
    assert!(
        ever.contains("two") && ever.contains("/memories/a.md"),
        "{ever}"
    );
    assert_eq!(
        found(json!({"pattern": "one", "path": "/memories/none"})),
        "Nothing was found."
    );
}

#[test]
fn what_does_not_fit_is_told_and_leaves_no_trace() {
    let home = home();
    let before = events(&home).len();
    let mut server = Server::older(&home, &[]);
    for (tool, arguments, words) in [
        (
            "memory_history",
            json!({"limit": 0}),
            "an integer from 1 to 200",
        ),
        (
            "memory_history",
            json!({"limit": 201}),
            "an integer from 1 to 200",
        ),
        (
            "memory_history",
            json!({"limit": -1}),
            "an integer from 1 to 200",
        ),
        (
            "memory_history",
            json!({"limit": 1.5}),
            "an integer from 1 to 200",
        ),
        (
            "memory_history",
            json!({"limit": "5"}),
            "an integer from 1 to 200",
        ),
        (
            "memory_history",
            json!({"limit": [5]}),
            "an integer from 1 to 200",
        ),
        (
            "memory_history",
            json!({"limit": 1e300}),
            "an integer from 1 to 200",
        ),
        ("memory_history", json!({"path": 5}), "`path`"),
        ("memory_diff", json!({"to": "3"}), "`from`"),
        ("memory_diff", json!({"from": "99"}), "99"),
        ("memory_diff", json!({"from": "1", "to": "HEAD~99"}), ""),
        ("memory_diff", json!({"from": "soon"}), ""),
        ("memory_diff", json!({"from": ""}), ""),
        ("memory_diff", json!({"from": {"event": 1}}), "`from`"),
        ("memory_diff", json!({"from": true}), "`from`"),
        ("memory_search", json!({}), "`pattern`"),
        ("memory_search", json!({"pattern": ""}), "`pattern`"),
        ("memory_search", json!({"pattern": null}), "`pattern`"),
        ("memory_search", json!({"pattern": ["x"]}), "`pattern`"),
        ("memory_search", json!({"pattern": "(", "regex": true}), ""),
        (
            "memory_search",
            json!({"pattern": "a{1,99999}{1,99999}", "regex": true}),
            "",
        ),
        (
            "memory_search",
            json!({"pattern": "x", "regex": "yes"}),
            "`regex`",
        ),
        (
            "memory_search",
            json!({"pattern": "x", "ignore_case": 1}),
            "`ignore_case`",
        ),
        (
            "memory_search",
            json!({"pattern": "x", "history": []}),
            "`history`",
        ),
    ] {
        let said = server.failed(tool, arguments.clone());
        assert!(
            said.starts_with("Error: ") && said.contains(words),
            "{tool} {arguments}: {said}"
        );
        assert!(said.len() < 600, "{tool} {arguments}: {said}");
    }
    assert_eq!(events(&home).len(), before);
}

#[test]
fn a_look_is_on_record() {
    let home = home();
    let before = events(&home).len();
    let mut server = Server::older(&home, &["--actor", "agent"]);
    let looks = [
        ("memory_history", json!({"path": "/memories/a.md"})),
        ("memory_diff", json!({"from": "1"})),
        ("memory_search", json!({"pattern": "one"})),
        ("memory_search", json!({"pattern": "one", "history": true})),
    ];
    for (count, (tool, arguments)) in looks.iter().enumerate() {
        server.done(tool, arguments.clone());
        let event = last_event(&home);
        assert_eq!(events(&home).len(), before + count + 1, "{tool}");
        let said = ["actor", "door", "outcome", "client"].map(|name| &event[name]);
        assert_eq!(
            json!(said),
            json!(["agent", "mcp", "ok", "plain/7"]),
            "{tool}: {event}"
        );
        assert!(
            !event.to_string().contains("\"one\""),
            "what was looked for is not on record"
        );
    }
}

#[test]
fn a_look_keeps_nothing_from_expiring_and_a_view_does() {
    let home = Home::empty();
    let policy = "[expiration]\nunaccessed_for = \"30d\"\n";
    fs::write(home.path().join("policy.toml"), policy).expect("a file");
    let first = ["--now", "2026-10-01T00:00:00Z"];
    ok(
        &home,
        &[&first[..], &["init", "--trial", "--policy", "policy.toml"]].concat(),
    );
    for name in ["looked.md", "viewed.md"] {
        ok(
            &home,
            &[&first[..], &["write", name, "--text", "x\n"]].concat(),
        );
    }
    let mut server =
        Server::start(home.command(&["--now", "2026-10-20T00:00:00Z", "mcp"])).introduce();
    for (tool, arguments) in [
        ("memory_history", json!({"path": "/memories/looked.md"})),
        (
            "memory_diff",
            json!({"from": "1", "path": "/memories/looked.md"}),
        ),
        ("memory_search", json!({"pattern": "x"})),
        ("memory_search", json!({"pattern": "x", "history": true})),
        ("memory_view", json!({"path": "/memories/viewed.md"})),
    ] {
        server.done(tool, arguments);
    }
    let at = server.result("resources/read", json!({"uri": "memory+at:///1/looked.md"}));
    assert_eq!(at["contents"][0]["text"], "x\n");
    drop(server);
    let mut server =
        Server::start(home.command(&["--now", "2026-11-05T00:00:00Z", "mcp"])).introduce();
    let listed = server.done("memory_view", json!({"path": "/memories"}));
    assert!(
        listed.contains("viewed.md") && !listed.contains("looked.md"),
        "{listed}"
    );
    let found = server.done("memory_search", json!({"pattern": "x"}));
    assert_eq!(found, "/memories/viewed.md:1: x");
    server.failed("memory_view", json!({"path": "/memories/looked.md"}));
}

#[test]
fn long_answers_are_cut_at_a_line_and_say_so() {
    let home = Home::empty();
    fs::write(
        home.path().join("policy.toml"),
        "[limits]\nview_characters = 500\n",
    )
    .expect("a file");
    ok(&home, &["init", "--trial", "--policy", "policy.toml"]);
    let lines: String = (0..300).map(|n| format!("line {n} has an x\n")).collect();
    ok(&home, &["write", "a.md", "--text", &lines]);
    ok(
        &home,
        &["write", "a.md", "--text", &lines.replace('x', "y")],
    );
    let mut server = Server::older(&home, &[]);
    let found = server.call("memory_search", json!({"pattern": "y"}));
    assert_eq!(found["structuredContent"]["found"], 300);
    assert_eq!(
        found["structuredContent"]["lines"]
            .as_array()
            .expect("lines")
            .len(),
        200
    );
    for (tool, arguments) in [
        ("memory_search", json!({"pattern": "y"})),
        ("memory_diff", json!({"from": "1"})),
    ] {
        let said = server.done(tool, arguments);
        let last = said.lines().last().expect("a line");
        assert!(said.chars().count() < 600, "{tool}: {}", said.len());
        assert!(
            last.starts_with("[Truncated: ") && last.ends_with(" lines shown.]"),
            "{said}"
        );
        let whole = said.lines().rev().nth(1).expect("a line");
        assert!(whole.ends_with(['x', 'y']), "{tool}: {whole}");
    }
}

#[test]
fn what_is_gone_is_not_found() {
    let home = Home::empty();
    let policy = "[expiration]\nunaccessed_for = \"30d\"\n";
    fs::write(home.path().join("policy.toml"), policy).expect("a file");
    ok(&home, &["init", "--trial", "--policy", "policy.toml"]);
    ok(
        &home,
        &[
            "--now",
            "2026-01-01T00:00:00Z",
            "write",
            "expired.md",
            "--text",
            "canary one\n",
        ],
    );
    ok(&home, &["write", "erased.md", "--text", "canary two\n"]);
    ok(
        &home,
        &[
            "erase",
            "/memories/erased.md",
            "--yes",
            "--reason",
            "asked to",
        ],
    );
    let mut server = Server::older(&home, &[]);
    let found = server.done("memory_search", json!({"pattern": "canary"}));
    assert!(!found.contains("one") && !found.contains("two"), "{found}");
    let ever = server.call(
        "memory_search",
        json!({"pattern": "canary", "history": true}),
    );
    assert!(!ever.to_string().contains("canary two"), "{ever}");
    let diff = server.call("memory_diff", json!({"from": "1"}));
    assert!(!diff.to_string().contains("canary two"), "{diff}");
    server.failed("memory_view", json!({"path": "/memories/expired.md"}));
    assert!(
        !server
            .done("memory_view", json!({"path": "/memories"}))
            .contains("expired")
    );
}

#[test]
fn an_auditor_is_told_that_content_is_not_for_him() {
    let home = home();
    let auditor = Home::with_store();
    let recipient = fs::read_to_string(auditor.identity()).expect("an identity");
    let recipient = recipient
        .lines()
        .find_map(|line| line.split_once("public key: "));
    let recipient = recipient.expect("its public half").1;
    ok(
        &home,
        &["recipients", "add", "eve", recipient, "--role", "auditor"],
    );
    let identity = auditor.identity().display().to_string();
    let mut server = Server::older(&home, &["-i", &identity]);
    for (tool, arguments) in [
        ("memory_search", json!({"pattern": "one"})),
        ("memory_diff", json!({"from": "1"})),
        ("memory_view", json!({"path": "/memories/a.md"})),
    ] {
        let said = server.failed(tool, arguments);
        assert!(!said.contains("one\n"), "{tool}: {said}");
        assert!(
            said.starts_with("Error: ") && said.contains('('),
            "{tool}: {said}"
        );
    }
    assert!(server.result("tools/list", json!({}))["tools"].is_array());
}

/// What has expired is not there for an agent, however it looks; a person can still look back.
#[test]
fn no_look_finds_what_has_expired() {
    let home = Home::with_store();
    home.run(&["create", "/memories/w.md", "--text", "4 Linden Street\n"]);
    home.run(&["create", "/memories/stays.md", "--text", "Linden stays\n"]);
    home.run(&["policy", "set", "expiration.unaccessed_for", "1s"]);
    home.run(&["hold", "add", "/memories/stays.md", "--reason", "a test"]);
    std::thread::sleep(std::time::Duration::from_millis(1_200));
    for swept in [false, true] {
        if swept {
            let done = home.run(&["expire", "--yes"]);
            assert!(done.status.success(), "{}", stderr(&done));
        }
        let mut server = Server::older(&home, &[]);
        let found = server.done(
            "memory_search",
            json!({"pattern": "Linden", "history": true}),
        );
        assert!(
            found.contains("stays.md") && !found.contains("w.md"),
            "{found}"
        );
        for (tool, arguments) in [
            ("memory_history", json!({})),
            ("memory_history", json!({"path": "/memories/w.md"})),
            ("memory_diff", json!({"path": "/memories/w.md"})),
            ("memory_diff", json!({"from": 0})),
            ("memory_diff", json!({"from": 0, "to": 1})),
        ] {
            let result = server.call(tool, arguments.clone());
            let all = result.to_string();
            assert!(
                !all.contains("w.md") && !all.contains("4 Linden"),
                "{tool} {arguments}: {all}"
            );
        }
        let uri = json!({"uri": "memory+at:///1/w.md"});
        server.refusal("resources/read", uri);
    }
    let person = home.run(&["grep", "--history", "Linden"]);
    assert!(stdout(&person).contains("/memories/w.md"));
}

#[test]
fn a_path_that_no_memory_may_have_is_told_and_on_record() {
    let home = home();
    let before = events(&home).len();
    let mut server = Server::older(&home, &[]);
    let paths = [
        ("memory_history", "/elsewhere"),
        ("memory_history", "/memories/../x"),
        ("memory_history", "a.md"),
        ("memory_history", ""),
        ("memory_diff", "/memories/%2e%2e/x"),
        ("memory_search", "/"),
    ];
    for (tool, path) in paths {
        let said = server.failed(tool, json!({"path": path, "pattern": "x"}));
        assert!(said.contains("/memories"), "{tool} {path}: {said}");
    }
    let of = |event: &Value| (event["path"].clone(), event["outcome"].clone());
    let recorded: Vec<_> = events(&home)[before..].iter().map(of).collect();
    assert_eq!(
        recorded,
        paths.map(|(_, path)| (json!(path), json!("denied")))
    );
}

#[test]
fn a_path_that_leaves_memories_is_on_record_whatever_asked() {
    let home = home();
    let mut server = Server::newer(&home, &["--tools", "restore", "--admin"]);
    let before = events(&home).len();
    let tools = [
        ("memory_history", "log"),
        ("memory_diff", "diff"),
        ("memory_search", "grep"),
        ("memory_restore", "restore"),
        ("memory_redact", "redact"),
        ("memory_erase", "erase"),
    ];
    let paths = ["/memories/../../etc/passwd", "/etc/passwd"];
    let mut want = Vec::new();
    for (tool, command) in tools {
        for path in paths {
            let said = server.failed(tool, json!({"path": path, "pattern": "root"}));
            let why = "Error: the path cannot be used: it is not /memories or below it";
            assert_eq!(said, why, "{tool}");
            want.push((command.to_owned(), path.to_owned()));
        }
        // However else the call is wrong.
        let wrong = json!({"path": paths[0], "limit": "x", "from": [], "history": 7});
        server.failed(tool, wrong.clone());
        let beside = json!({"agekeep/context": 5});
        let result = server.call_with(tool, wrong, beside);
        assert_eq!(result["isError"], true, "{tool}");
        let other = (command.to_owned(), paths[0].to_owned());
        want.extend([other.clone(), other]);
    }
    let uri = "memory+at:///1/../../etc/passwd";
    server.refusal("resources/read", json!({"uri": uri}));
    want.push(("show".to_owned(), paths[0].to_owned()));
    let recorded = &events(&home)[before..];
    let text = |event: &Value, name: &str| event[name].as_str().unwrap_or_default().to_owned();
    let found: Vec<_> = recorded
        .iter()
        .map(|event| (text(event, "command"), text(event, "path")))
        .collect();
    assert_eq!(found, want);
    for event in recorded {
        let of = (&event["outcome"], &event["error"], &event["door"]);
        assert_eq!(of, (&json!("denied"), &json!("denied"), &json!("mcp")));
    }
    ok(&home, &["verify", "--full"]);
}

#[test]
fn of_what_is_erased_no_lines_are_counted() {
    let home = home();
    ok(
        &home,
        &[
            "erase",
            "/memories/a.md",
            "--history",
            "--reason",
            "r",
            "--yes",
        ],
    );
    let path = json!({"path": "/memories/a.md"});
    let mut server = Server::older(&home, &[]);
    server.done(
        "memory_insert",
        json!({"path": "/memories/a.md", "insert_line": 0, "insert_text": "x"}),
    );
    let found = server.call("memory_history", path);
    let said = text(&found);
    let counted: Vec<bool> = said.lines().map(|line| line.ends_with(" lines")).collect();
    assert_eq!(counted, [true, false, false, false], "{said}");
    let listed = found["structuredContent"]["events"]
        .as_array()
        .expect("events");
    let added: Vec<Option<i64>> = listed
        .iter()
        .map(|event| event["lines_added"].as_i64())
        .collect();
    assert_eq!(added, [Some(1), None, None, None], "{found}");
}
