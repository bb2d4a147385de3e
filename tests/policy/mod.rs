//! The policy as its owner meets it: read, set as a whole and key by key, edited, explained; and
//! every mistake that can be made in it.

mod edit;
mod explained;
mod keys;
mod whole;
mod zoo;

use std::fs;

use serde_json::Value;

use crate::support::{Home, json_lines, stderr, stdout};

/// What a command prints, which must not fail.
fn ok(home: &Home, args: &[&str]) -> String {
    let output = home.run(args);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    stdout(&output)
}

/// What a command prints as JSON.
fn json(home: &Home, args: &[&str]) -> Value {
    let output = home.run(&[args, &["--json"]].concat());
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    json_lines(&output.stdout).remove(0)
}

/// What a command says, which must fail like this and change nothing.
fn fails(home: &Home, code: i32, args: &[&str]) -> String {
    let before = recorded(home);
    let output = home.run(args);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
    assert!(said.contains("\nhint: "), "{args:?}: {said}");
    assert_eq!(stdout(&output), "", "{args:?}");
    assert!(recorded(home) == before, "{args:?}: something was recorded");
    said
}

/// All that was ever recorded.
fn recorded(home: &Home) -> Vec<u8> {
    let mut bytes = fs::read(home.store().join("journal")).expect("a journal");
    bytes.extend(fs::read(home.store().join("refs/heads/main")).expect("a branch"));
    bytes
}

/// How many events there are.
fn events(home: &Home) -> u64 {
    json(home, &["status"])["events"]
        .as_u64()
        .expect("a number")
}
