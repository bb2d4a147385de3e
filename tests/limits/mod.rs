//! Limits on what agents add to history: how much in all, and how many events a minute.

mod history;
mod pace;

use std::fs;
use std::process::Output;

use serde_json::{Value, json};

use crate::support::{Home, feed, json_lines, stderr, stdout};

/// A store with this policy.
fn with_policy(policy: &str) -> Home {
    let home = Home::empty();
    fs::write(home.path().join("policy.toml"), policy).expect("written");
    ok(&home, &["init", "--trial", "--policy", "policy.toml"]);
    home
}

/// What a command prints, which must not fail.
fn ok(home: &Home, args: &[&str]) -> String {
    let output = home.run(args);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    stdout(&output)
}

/// What the store says of itself, also to somebody else.
fn status(home: &Home, more: &[&str]) -> Value {
    json_lines(ok(home, &[&["status", "--json"], more].concat()).as_bytes()).remove(0)
}

fn events(home: &Home) -> u64 {
    status(home, &[])["events"].as_u64().expect("a number")
}

/// A command is refused by its exit code, and this many events are recorded.
fn refused(home: &Home, args: &[&str], recorded: u64) -> String {
    let before = events(home);
    let output = home.run(args);
    let said = stdout(&output) + &stderr(&output);
    assert_eq!(output.status.code(), Some(9), "{args:?}: {said}");
    assert_eq!(events(home) - before, recorded, "{args:?}: {said}");
    said
}

/// Calls of a tool over MCP: the answers to them, in order.
fn mcp(home: &Home, args: &[&str], tool: &str, calls: &[Value]) -> Vec<Value> {
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "plain", "version": "7"},
    }});
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let mut lines = format!("{hello}\n{ready}\n");
    for (at, call) in calls.iter().enumerate() {
        let params = json!({"name": tool, "arguments": call});
        let request = json!({
            "jsonrpc": "2.0", "id": at + 1, "method": "tools/call", "params": params,
        });
        lines.extend([request.to_string(), "\n".into()]);
    }
    let output = feed(home.command(&[&["mcp"], args].concat()), lines.as_bytes());
    let mut answers = json_lines(&output.stdout);
    answers.retain(|answer| answer["id"].as_u64().is_some_and(|id| id > 0));
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!(answers.len(), calls.len(), "{}", stderr(&output));
    answers
        .iter()
        .map(|answer| answer["result"].clone())
        .collect()
}

/// Runs the binary at a time.
fn at(home: &Home, now: &str, args: &[&str]) -> Output {
    home.run(&[&["--now", now], args].concat())
}

/// Writes a file that only its owner can use.
fn private(path: &std::path::Path, text: &str) {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = fs::OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o600).open(path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.expect("written");
}
