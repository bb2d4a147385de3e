//! The log as log collectors read it: cursors, following, forms, schemas, and a real collector.

mod cursor;
mod docs;
mod follow;
mod forms;
mod schemas;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::support::{Home, json_lines, stderr};

/// What `log` prints with these arguments, as objects.
fn log(home: &Home, args: &[&str]) -> Vec<Value> {
    let args: Vec<&str> = ["log", "--format", "jsonl"]
        .iter()
        .chain(args)
        .copied()
        .collect();
    let output = home.run(&args);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    json_lines(&output.stdout)
}

/// The numbers of events.
fn numbers(events: &[Value]) -> Vec<u64> {
    let number = |event: &Value| event["event"].as_u64().expect("a number");
    events.iter().map(number).collect()
}

/// A store with this many creates, edits and refusals after its first event.
fn store_with(events: usize) -> Home {
    let home = Home::with_store();
    let line = |n: usize| match n % 3 {
        0 => format!(
            "{{\"input\":{{\"command\":\"create\",\"path\":\"/memories/{n}.md\",\"file_text\":\"x\"}},\"context\":{{\"actor\":\"a{}\"}}}}\n",
            n % 2
        ),
        1 => "{\"command\":\"view\",\"path\":\"/memories\"}\n".to_owned(),
        _ => "{\"command\":\"view\",\"path\":\"/memories/none.md\"}\n".to_owned(),
    };
    let lines: String = (0..events).map(line).collect();
    home.tool(&lines);
    home
}

/// The home with `agekeep` in its folder `bin`.
fn with_program(home: Home) -> Home {
    let bin = home.path().join("bin");
    fs::create_dir(&bin).expect("made");
    symlink(env!("CARGO_BIN_EXE_agekeep"), bin.join("agekeep")).expect("linked");
    home
}

/// A program with the environment of a home, and `agekeep` to be found.
fn command(home: &Home, program: &str) -> Command {
    let environment = home.command(&[]);
    let mut command = Command::new(program);
    command
        .env_clear()
        .envs(
            environment
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .env(
            "PATH",
            format!(
                "{}/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin",
                home.path().display()
            ),
        )
        .current_dir(home.path());
    command
}

/// A copy of the store as it is now.
fn copy_of_store(home: &Home) -> PathBuf {
    let copy = home.path().join("copy");
    let copied = Command::new("cp")
        .arg("-a")
        .args([&home.store(), &copy])
        .status();
    assert!(copied.expect("cp runs").success());
    copy
}
