//! The limit on what history takes.

use agekeep::error::Error;
use agekeep::event::Context;
use agekeep::store::{Identity, Keys, SigningKey, Store};
use serde_json::{Value, json};
use std::fs;

use crate::limits::{mcp, ok, refused, status, with_policy};
use crate::support::{Home, json_lines, stderr, stdout};

/// A limit that a few memories reach, and a text of which a few do.
const LIMIT: &str = "[limits]\nhistory_bytes = 60000\n";

fn text() -> String {
    "a line of eighty characters, or as good as eighty, as there are in memories...\n".repeat(100)
}

fn history_bytes(home: &Home, more: &[&str]) -> u64 {
    let status = status(home, more);
    status["history_bytes"].as_u64().expect("a number")
}

/// A store in which an agent wrote until it was refused; the answer then.
fn full() -> (Home, Value) {
    let home = with_policy(LIMIT);
    let create = |n| {
        let path = format!("/memories/m{n}.md");
        json!({"command": "create", "path": path, "file_text": text()}).to_string() + "\n"
    };
    let calls: String = (0..20).map(create).collect();
    let answers = home.tool(&calls);
    let first = answers.iter().find(|answer| answer["is_error"] == true);
    (home, first.cloned().expect("a limit"))
}

/// The size class of docs/format.md, section 4.
fn size_class(n: u64) -> u64 {
    let n = n.max(256);
    let e = n.ilog2();
    let s = e.ilog2() + 1;
    let m = (1_u64 << (e - s)) - 1;
    (n + m) & !m
}

#[test]
fn an_agent_over_its_quota_is_told_and_the_disk_is_spared() {
    let (home, told) = full();
    let words = told["content"].as_str().expect("words");
    assert!(
        words.starts_with("Error: Nothing can be written now"),
        "{words}"
    );
    assert!(words.contains("limit is 60000"), "{words}");
    assert_eq!(told["meta"]["error"], "limit_exceeded");
    let log =
        json_lines(ok(&home, &["log", "--json", "-n", "1", "--command", "create"]).as_bytes());
    assert_eq!(log[0]["error"], "limit_exceeded");
    assert!(
        log[0]["path"]
            .as_str()
            .expect("asked")
            .starts_with("/memories/m")
    );
    // Five versions of some eight thousand bytes, and the commits.
    let held = status(&home, &[])["memories"].as_u64().expect("a number");
    assert!((3..=6).contains(&held), "{held}");
    // Nothing that writes goes on, by any door.
    let big = text();
    for args in [
        &["create", "/memories/new.md", "--text", &big][..],
        &["write", "new.md", "--text", &big],
        &["insert", "/memories/m0.md", "0", "--text", &big],
        &[
            "str-replace",
            "/memories/m0.md",
            "--old",
            "no such",
            "--new",
            "x",
        ],
        &["rename", "/memories/m0.md", "/memories/moved.md"],
    ] {
        if args[0] == "str-replace" {
            // What could not be done anyway is told as always.
            assert_eq!(home.run(args).status.code(), Some(1));
        } else {
            let said = refused(&home, args, 1);
            assert!(said.contains("Nothing can be written now"), "{said}");
        }
    }
    let create = json!({"path": "/memories/new.md", "file_text": big});
    let answer = &mcp(&home, &[], "memory_create", &[create])[0];
    assert_eq!(answer["isError"], true, "{answer}");
    assert_eq!(answer["structuredContent"]["error"], "limit_exceeded");
    // Everything else does.
    ok(&home, &["view", "/memories/m0.md"]);
    assert_eq!(ok(&home, &["read", "m0.md"]), text());
    let before = history_bytes(&home, &[]);
    ok(&home, &["delete", "/memories/m1.md"]);
    assert!(history_bytes(&home, &[]) > before, "deleting makes no room");
    refused(&home, &["create", "/memories/m1.md", "--text", &big], 1);
    let restore = ["restore", "/memories/m1.md"];
    assert!(refused(&home, &restore, 0).contains("limits.history_bytes is 60000"));
    ok(&home, &["expire"]);
    ok(
        &home,
        &["erase", "/memories/m2.md", "--reason", "asked to", "--yes"],
    );
    ok(&home, &["compact"]);
    ok(&home, &["verify", "--full"]);
    ok(&home, &["policy", "set", "limits.history_bytes", "0"]);
    ok(&home, &["create", "/memories/m1.md", "--text", &big]);
    assert!(ok(&home, &["status"]).contains("bytes, without a limit"));
}

#[test]
fn what_history_takes_is_the_same_for_everybody_and_what_git_and_the_log_say() {
    let (home, _) = full();
    ok(&home, &["delete", "/memories/m1.md"]);
    ok(&home, &["policy", "set", "limits.history_bytes", "0"]);
    ok(&home, &["rekey"]);
    ok(
        &home,
        &["erase", "/memories/m0.md", "--reason", "asked to", "--yes"],
    );
    ok(&home, &["create", "/memories/after.md", "--text", "x\n"]);
    let auditor = Identity::generate();
    let file = home.path().join("auditor.txt");
    crate::limits::private(&file, &auditor.to_file());
    let recipient = auditor.recipient().expect("X25519").to_string();
    let add = ["recipients", "add", "eve", &recipient, "--role", "auditor"];
    ok(&home, &add);
    let counted = history_bytes(&home, &[]);
    let as_auditor = ["-i", file.to_str().expect("UTF-8")];
    assert_eq!(history_bytes(&home, &as_auditor), counted);
    for more in [&[][..], &as_auditor] {
        fs::remove_file(home.store().join("catalog")).expect("there");
        assert_eq!(history_bytes(&home, more), counted, "folded anew");
    }
    // From docs/format.md, with git and the log.
    let ids = stdout(&home.git(&["rev-list", "main"]));
    let size = |id: &str| -> u64 {
        let size = stdout(&home.git(&["cat-file", "-s", id]));
        size.trim().parse().expect("a number")
    };
    let commits: u64 = ids.lines().map(size).sum();
    let mut versions = 0;
    for event in json_lines(ok(&home, &["log", "--json"]).as_bytes()) {
        let touches = event["memories"].as_array().cloned().unwrap_or_default();
        let written = touches.iter().filter(|touch| touch["blob"].is_string());
        let bytes = written.map(|touch| touch["bytes"].as_u64().expect("a number"));
        versions += bytes.map(|bytes| size_class(bytes + 512)).sum::<u64>();
    }
    assert_eq!(commits + versions, counted);
}

#[test]
fn past_the_reserve_an_agent_records_nothing_and_the_owner_goes_on() {
    let (home, _) = full();
    // Refusals and looks, each with as much said of it as there can be.
    let said = "s".repeat(1024);
    let context = json!({"actor": said, "session": said, "client": said, "trace": said,
        "reason": said});
    let call = |n: usize| {
        let input = json!({"command": "view", "path": format!("/memories/no{n}.md")});
        json!({"id": n, "input": input, "context": context}).to_string() + "\n"
    };
    let calls: String = (0..400).map(call).collect();
    let output = home.run_with_input(&["tool"], &calls);
    assert_eq!(output.status.code(), Some(9), "{}", stderr(&output));
    let answers = json_lines(&output.stdout);
    assert_eq!(answers.len(), 400);
    let last = &answers[399];
    assert!(
        last["content"]
            .as_str()
            .expect("words")
            .contains("history takes"),
        "{last}"
    );
    assert_eq!(last["meta"], json!({"error": "limit_exceeded"}));
    let taken = history_bytes(&home, &[]);
    assert!(
        (60_000 + (1 << 20)..60_000 + (1 << 20) + 20_000).contains(&taken),
        "{taken}"
    );
    // By every door: and what is read by others counts too.
    for args in [
        &["view", "/memories/m0.md"][..],
        &["read", "m0.md"],
        &["delete", "/memories/m0.md"],
        &["create", "/memories/n.md", "--text", "x"],
        &["show", "HEAD:/memories/m0.md"],
        &["diff", "HEAD~1", "HEAD"],
        &["keys", "export", "/memories/m0.md"],
        &["export", "out"],
        &["grep", "eighty"],
        &["blame", "/memories/m0.md"],
        &["rollback", "--to", "1"],
    ] {
        let said = refused(&home, args, 0);
        assert!(!said.contains("a line of eighty"), "{args:?}");
    }
    let view = json!({"path": "/memories/m0.md"});
    let answer = &mcp(&home, &[], "memory_view", &[view])[0];
    assert_eq!(answer["isError"], true, "{answer}");
    assert!(
        answer
            .to_string()
            .contains("a person has to raise the limit"),
        "{answer}"
    );
    assert_eq!(history_bytes(&home, &[]), taken);
    // What the owner does to it goes on, and then everything.
    ok(&home, &["expire"]);
    ok(
        &home,
        &["erase", "/memories/m2.md", "--reason", "asked to", "--yes"],
    );
    ok(
        &home,
        &["hold", "add", "/memories/m0.md", "--reason", "a case"],
    );
    ok(&home, &["compact"]);
    ok(&home, &["verify", "--full"]);
    ok(&home, &["policy", "set", "limits.history_bytes", "2000000"]);
    assert_eq!(ok(&home, &["read", "m0.md"]), text());
    ok(&home, &["create", "/memories/n.md", "--text", "x"]);
}

#[test]
fn the_library_says_what_the_limit_is_about() {
    let folder = crate::support::folder();
    let keys = Keys {
        identity: Identity::generate(),
        signing_key: Some(SigningKey::generate()),
        state: None,
        keyring: None,
    };
    let policy = agekeep::policy::Policy::parse("[limits]\nhistory_bytes = 1\n").expect("valid");
    let (root, context) = (folder.path().join("store"), Context::default());
    let clock = Box::new(chrono::Utc::now);
    let mut store = Store::init(&root, keys, &policy, &context, clock).expect("made");
    let create = agekeep::memory_tool::command::Command::Create {
        path: "/memories/a.md".into(),
        file_text: "x\n".into(),
    };
    let answer = store.execute(&create, &context).expect("recorded");
    assert_eq!(answer.meta.error, Some("limit_exceeded"));
    assert_eq!(answer.refusal.expect("refused").exit_code(), 9);
    let foreseen = store.preview(&create, &context).expect("foreseen");
    assert_eq!(foreseen.content.as_str().split(':').next(), Some("Error"));
    let status = store.status().expect("status");
    assert_eq!(status.history_bytes_max, 1);
    assert!(status.history_bytes > 1_000, "{}", status.history_bytes);
    let error = Error::HistoryFull {
        bytes: 2,
        bytes_max: 1,
    };
    assert_eq!((error.code(), error.exit_code()), ("limit_exceeded", 9));
}
