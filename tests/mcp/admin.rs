//! Bringing back, sweeping, redacting and erasing through MCP.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::mcp::client::{Server, events, last_event, text};
use crate::support::{Home, stderr, stdout};

const SECRET: [&str; 2] = ["gh", "p_R7mQ2vX9bT4kZ8nL5wJ3cF6hD1sG0pYaEuKi"];

fn with_policy(policy: &str) -> Home {
    let home = Home::empty();
    fs::write(home.path().join("policy.toml"), policy).expect("a policy file");
    let made = home.run(&[
        "--now",
        "2026-09-01T00:00:00Z",
        "init",
        "--trial",
        "--policy",
        "policy.toml",
    ]);
    assert!(made.status.success(), "{}", stderr(&made));
    home
}

fn ok(home: &Home, args: &[&str]) -> String {
    let output = home.run(args);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    stdout(&output)
}

fn path(path: &str) -> Value {
    json!({"path": path})
}

fn asked(path: &str) -> Value {
    json!({"path": path, "reason": "request 4711"})
}

/// The tool destroys nothing without a reason, and says what it would destroy.
fn assert_only_with_a_reason(home: &Home, server: &mut Server, tool: &str, shown: &str) {
    let before = (events(home).len(), ok(home, &["read", "a.md"]));
    for reason in [json!(null), json!(""), json!("  "), json!(["x"])] {
        let said = server.failed(tool, json!({"path": "/memories/a.md", "reason": reason}));
        assert!(said.contains("reason"), "{tool} {reason}: {said}");
    }
    let plan = server.done(tool, json!({"path": "/memories/a.md", "dry_run": true}));
    assert!(
        plan.contains(shown) && plan.contains("Nothing was changed."),
        "{plan}"
    );
    // Each reading is an event.
    let after = (events(home).len(), ok(home, &["read", "a.md"]));
    assert_eq!((after.0, &after.1), (before.0 + 1, &before.1), "{tool}");
}

#[test]
fn what_was_deleted_comes_back() {
    let home = Home::with_store();
    let mut server = Server::older(&home, &["--tools", "restore"]);
    server.done(
        "memory_create",
        json!({"path": "/memories/d/a.md", "file_text": "one\n"}),
    );
    server.done(
        "memory_insert",
        json!({"path": "/memories/d/a.md", "insert_line": 1, "insert_text": "two"}),
    );
    server.done("memory_delete", path("/memories/d"));
    let back = server.call("memory_restore", path("/memories/d"));
    assert_eq!(back["isError"], false, "{back}");
    let event = last_event(&home);
    assert_eq!(ok(&home, &["read", "d/a.md"]), "one\ntwo\n");
    assert_eq!(
        (&event["command"], &event["door"]),
        (&json!("restore"), &json!("mcp"))
    );
    assert_eq!(back["structuredContent"]["meta"]["event"], event["event"]);
    // To an event, by its number as text or as a number.
    for from in [json!(1), json!("1")] {
        let back = server.call(
            "memory_restore",
            json!({"path": "/memories/d/a.md", "from": from}),
        );
        assert_eq!(back["isError"], false, "{back}");
        assert_eq!(ok(&home, &["read", "d/a.md"]), "one\n");
        server.done(
            "memory_insert",
            json!({"path": "/memories/d/a.md", "insert_line": 0, "insert_text": "x"}),
        );
    }
}

#[test]
fn what_the_signer_s_role_does_not_allow_is_an_error_of_the_tool() {
    let home = Home::with_store();
    ok(&home, &["write", "a.md", "--text", "x\n"]);
    let key = agekeep::store::SigningKey::generate();
    let file = home.path().join("ana");
    fs::write(&file, key.to_file().as_str()).expect("written");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("its owner's");
    let file = file.to_str().expect("UTF-8");
    let add = [
        "signers",
        "add",
        "ana",
        &key.public_line(),
        "--role",
        "auditor",
    ];
    ok(&home, &add);
    let mut server = Server::older(
        &home,
        &["--admin", "--tools", "restore", "--signing-key", file],
    );
    let before = events(&home).len();
    for (tool, arguments) in [
        ("memory_view", path("/memories/a.md")),
        (
            "memory_create",
            json!({"path": "/memories/b.md", "file_text": "x"}),
        ),
        (
            "memory_restore",
            json!({"path": "/memories/a.md", "from": "1"}),
        ),
        ("memory_expire", json!({"dry_run": false})),
        ("memory_erase", asked("/memories/a.md")),
        ("memory_redact", asked("/memories/a.md")),
    ] {
        let said = server.failed(tool, arguments);
        assert!(said.contains("ana has the role auditor"), "{tool}: {said}");
    }
    assert_eq!(events(&home).len(), before);
    // A look is an auditor's, and the server goes on.
    server.done("memory_search", json!({"pattern": "x"}));
    assert_eq!(events(&home).len(), before + 1);
}

#[test]
fn what_cannot_come_back_is_told() {
    let home = Home::with_store();
    ok(&home, &["write", "a.md", "--text", "x\n"]);
    let mut server = Server::older(&home, &["--tools", "restore"]);
    for arguments in [path("/elsewhere"), path("/memories/../a.md")] {
        let said = server.failed("memory_restore", arguments);
        assert!(said.starts_with("Error: "), "{said}");
        let event = last_event(&home);
        let recorded = (&event["command"], &event["outcome"]);
        assert_eq!(recorded, (&json!("restore"), &json!("denied")));
    }
    let before = events(&home).len();
    for arguments in [
        json!({}),
        json!({"path": 5}),
        path("/memories/none"),
        json!({"path": "/memories/a.md", "from": "99"}),
        json!({"path": "/memories/a.md", "from": "HEAD~99"}),
        json!({"path": "/memories/a.md", "from": "someday"}),
        json!({"path": "/memories/a.md", "from": ""}),
        json!({"path": "/memories/a.md", "from": true}),
        json!({"path": "/memories/a.md", "from": ["1"]}),
    ] {
        let said = server.failed("memory_restore", arguments.clone());
        assert!(said.starts_with("Error: "), "{arguments}: {said}");
        assert!(
            !said.contains(home.path().to_str().expect("UTF-8")),
            "{said}"
        );
    }
    assert_eq!(events(&home).len(), before);
    assert_eq!(ok(&home, &["read", "a.md"]), "x\n");
}

#[test]
fn a_sweep_only_says_what_it_would_do_unless_told() {
    let home = with_policy("[expiration]\nunaccessed_for = \"30d\"\n");
    ok(
        &home,
        &[
            "--now",
            "2026-09-02T00:00:00Z",
            "write",
            "old.md",
            "--text",
            "x\n",
        ],
    );
    ok(&home, &["write", "new.md", "--text", "x\n"]);
    let mut server = Server::older(&home, &["--admin"]);
    let before = events(&home).len();
    for arguments in [
        json!({}),
        json!({"dry_run": true}),
        json!({"dry_run": null}),
    ] {
        let plan = server.call("memory_expire", arguments);
        assert_eq!(plan["isError"], false, "{plan}");
        assert!(text(&plan).ends_with("Nothing was changed."), "{plan}");
        let removed = plan["structuredContent"]["sweep"]["expire"].as_array();
        let removed = removed.expect("what would go");
        assert_eq!(
            (removed.len(), &removed[0]["path"]),
            (1, &json!("/memories/old.md"))
        );
    }
    assert_eq!(events(&home).len(), before, "nothing was done");
    for arguments in [
        json!({"dry_run": "false"}),
        json!({"dry_run": 0}),
        json!({"dry_run": []}),
    ] {
        let said = server.failed("memory_expire", arguments);
        assert!(said.contains("`dry_run`"), "{said}");
    }
    assert_eq!(events(&home).len(), before, "nothing was done");
    let done = server.call("memory_expire", json!({"dry_run": false}));
    assert_eq!(done["isError"], false, "{done}");
    let event = last_event(&home);
    assert_eq!(
        (&event["command"], &event["door"]),
        (&json!("expire"), &json!("mcp"))
    );
    assert_eq!(ok(&home, &["read"]), "new.md\n");
}

#[test]
fn a_secret_that_got_in_is_taken_out() {
    let home = with_policy("[redaction]\nmode = \"off\"\n");
    let secret = SECRET.concat();
    ok(
        &home,
        &["write", "a.md", "--text", &format!("before\n{secret}\n")],
    );
    ok(&home, &["policy", "set", "redaction.mode", "redact"]);
    let mut server = Server::older(&home, &["--admin"]);
    for arguments in [
        json!({}),
        asked("/memories/none"),
        asked("/elsewhere"),
        json!({"path": [1], "reason": "asked"}),
    ] {
        server.failed("memory_redact", arguments);
    }
    assert_only_with_a_reason(&home, &mut server, "memory_redact", "v1");
    let done = server.call("memory_redact", asked("/memories/a.md"));
    assert_eq!(done["isError"], false, "{done}");
    assert!(!done.to_string().contains(&secret));
    let kept = ok(&home, &["read", "a.md"]);
    assert!(
        kept.starts_with("before\n[REDACTED") && !kept.contains(&secret),
        "{kept}"
    );
    ok(&home, &["verify"]);
}

#[test]
fn what_is_erased_is_gone_and_there_is_a_receipt() {
    let home = Home::with_store();
    ok(&home, &["write", "a.md", "--text", "CanaryText\n"]);
    ok(&home, &["write", "b.md", "--text", "x\n"]);
    let mut server = Server::older(&home, &["--admin"]);
    let before = events(&home).len();
    let plan = server.call(
        "memory_erase",
        json!({"path": "/memories/a.md", "dry_run": true}),
    );
    assert_eq!(plan["isError"], false, "{plan}");
    assert_eq!(events(&home).len(), before);
    for arguments in [
        json!({}),
        asked("/memories/none"),
        asked("/elsewhere"),
        json!({"path": "/memories/a.md", "reason": "asked", "dry_run": "yes"}),
        json!({"path": "/memories/a.md", "reason": "asked", "history": 1}),
    ] {
        server.failed("memory_erase", arguments);
    }
    assert_only_with_a_reason(&home, &mut server, "memory_erase", "1 version");
    assert_eq!(ok(&home, &["read", "a.md"]), "CanaryText\n");
    let done = server.call("memory_erase", asked("/memories/a.md"));
    assert_eq!(done["isError"], false, "{done}");
    let event = last_event(&home);
    assert_eq!(
        (&event["command"], &event["door"]),
        (&json!("erase"), &json!("mcp"))
    );
    assert!(!event["receipt"].is_null(), "{event}");
    assert!(done["structuredContent"]["erasure"].is_object());
    server.failed("memory_view", path("/memories/a.md"));
    let found = server.done(
        "memory_search",
        json!({"pattern": "CanaryText", "history": true}),
    );
    assert!(
        !found.contains("CanaryText\n") && !found.contains(": CanaryText"),
        "{found}"
    );
    assert_eq!(ok(&home, &["read"]), "b.md\n");
    ok(&home, &["verify"]);
}

#[test]
fn a_hold_keeps_a_memory_from_all_of_it() {
    let home = with_policy("[expiration]\nunaccessed_for = \"30d\"\n");
    ok(
        &home,
        &[
            "--now",
            "2026-09-02T00:00:00Z",
            "write",
            "a.md",
            "--text",
            "x\n",
        ],
    );
    ok(
        &home,
        &[
            "--now",
            "2026-09-03T00:00:00Z",
            "hold",
            "add",
            "/memories/a.md",
            "--reason",
            "case 7",
        ],
    );
    let mut server = Server::older(&home, &["--admin", "--tools", "restore"]);
    let said = server.failed("memory_erase", asked("/memories/a.md"));
    assert!(said.contains("hold"), "{said}");
    let said = server.failed("memory_redact", asked("/memories/a.md"));
    assert!(said.contains("hold"), "{said}");
    let said = server.failed("memory_delete", path("/memories/a.md"));
    assert!(said.contains("hold"), "{said}");
    server.done("memory_expire", json!({"dry_run": false}));
    assert_eq!(ok(&home, &["read", "a.md"]), "x\n");
}

#[test]
fn an_agent_without_these_tools_cannot_do_it_another_way() {
    let home = Home::with_store();
    ok(&home, &["write", "a.md", "--text", "x\n"]);
    let mut server = Server::older(&home, &[]);
    for tool in [
        "memory_restore",
        "memory_expire",
        "memory_redact",
        "memory_erase",
    ] {
        let params =
            json!({"name": tool, "arguments": {"path": "/memories/a.md", "dry_run": false}});
        assert_eq!(server.refusal("tools/call", params)["code"], -32602);
    }
    let mut server = Server::older(&home, &["--single-tool"]);
    for command in [
        "erase",
        "expire",
        "redact",
        "restore",
        "memory_erase",
        "rollback",
        "hold add",
    ] {
        let said = server.failed(
            "memory",
            json!({"command": command, "path": "/memories/a.md"}),
        );
        assert!(said.contains("unknown command"), "{said}");
    }
    assert_eq!(ok(&home, &["read", "a.md"]), "x\n");
}
