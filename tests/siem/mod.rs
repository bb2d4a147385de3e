//! The log as log collectors read it: cursors, following, forms, schemas, and a real collector.

mod cursor;
mod docs;
mod follow;
mod forms;
mod schemas;

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
