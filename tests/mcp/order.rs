//! Calls that a client sends all at once: in order, each answered once, to the end.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{fs, iter};

use serde_json::{Value, json};

use crate::mcp::client::{
    Held, NEWER, PATIENCE, Server, call, create, ended, events, introduced, introduction, meta,
};
use crate::support::{Home, journal_records, stdout};

/// Calls that are in order or not.
const PIPELINED: usize = 500;
/// Calls before the end of input.
const BEFORE_THE_END: usize = 5_000;

/// One of a few calls, with its number as the reason that is recorded.
fn numbered(number: usize) -> Value {
    let path = format!("/memories/{}.md", number % 7);
    let mut call = match number % 5 {
        0 => create(number, &format!("{}.md", number % 7), &"x\n".repeat(number)),
        1 => call(number, "memory_view", json!({"path": path})),
        2 => call(
            number,
            "memory_insert",
            json!({"path": path, "insert_line": 0, "insert_text": "y"}),
        ),
        3 => call(number, "memory_view", json!({"path": "/memories"})),
        _ => call(
            number,
            "memory_view",
            json!({"path": format!("/elsewhere/{number}")}),
        ),
    };
    let mut about = meta(NEWER);
    about["agekeep/context"] = json!({"reason": number.to_string()});
    call["params"]["_meta"] = about;
    call
}

fn bytes(messages: impl IntoIterator<Item = Value>) -> Vec<u8> {
    let lines = messages.into_iter().map(|message| format!("{message}\n"));
    lines.collect::<String>().into_bytes()
}

/// Writes all of it, as fast as it is read.
fn write(mut input: ChildStdin, bytes: Vec<u8>) -> JoinHandle<ChildStdin> {
    thread::spawn(move || {
        input.write_all(&bytes).expect("the server reads");
        input
    })
}

/// How often each id was answered.
fn answered(messages: &[Value]) -> BTreeMap<u64, usize> {
    let mut counts = BTreeMap::new();
    let ids = messages
        .iter()
        .filter(|message| message.get("method").is_none());
    for message in ids {
        let id = message["id"].as_u64();
        *counts
            .entry(id.unwrap_or_else(|| panic!("{message}")))
            .or_default() += 1;
    }
    counts
}

fn once_each(count: usize) -> BTreeMap<u64, usize> {
    (0..count as u64).map(|id| (id, 1)).collect()
}

fn pipeline(home: &Home, mut server: Server) {
    let input = write(server.take_input(), bytes((0..PIPELINED).map(numbered)));
    let answers: Vec<Value> = iter::repeat_with(|| server.receive())
        .filter(|message| message.get("method").is_none())
        .take(PIPELINED)
        .collect();
    assert_eq!(answered(&answers), once_each(PIPELINED));
    drop(input.join().expect("all is written"));
    let end = server.end_of_output();
    assert!(
        end.status.success() && end.stderr.is_empty(),
        "{}",
        end.stderr
    );
    let reason = |event: &Value| event["reason"].as_str().map(str::to_owned);
    let recorded: Vec<String> = events(home).iter().filter_map(reason).collect();
    let sent: Vec<String> = (0..PIPELINED).map(|number| number.to_string()).collect();
    assert_eq!(recorded, sent);
    // Those that wait become durable together.
    let records = journal_records(&home.store());
    assert!(records < PIPELINED / 2, "{records} records");
}

#[test]
fn pipelined_calls_are_carried_out_in_the_order_they_came() {
    let home = Home::with_store();
    pipeline(&home, Server::older(&home, &[]));
    let home = Home::with_store();
    pipeline(&home, Server::newer(&home, &[]));
}

#[test]
fn what_came_before_the_end_of_input_is_answered() {
    let home = Home::with_store();
    let mut server = Server::older(&home, &[]);
    // Most record nothing, so that there can be many; what they wait behind does.
    let one = |number: usize| match number % 100 {
        0 => create(number, &format!("{number}.md"), "x\n"),
        1 => call(number, "memory_view", json!({"path": "/memories"})),
        _ => call(number, "memory_history", json!({"limit": 0})),
    };
    let input = write(server.take_input(), bytes((0..BEFORE_THE_END).map(one)));
    let closing = thread::spawn(move || drop(input.join().expect("all is written")));
    let end = server.end_of_output();
    closing.join().expect("the input ends");
    assert_eq!(end.status.code(), Some(0), "{}", end.stderr);
    assert_eq!(answered(&end.rest), once_each(BEFORE_THE_END));
    let listed = stdout(&home.run(&["read"]));
    assert_eq!(listed.lines().count(), BEFORE_THE_END / 100);
}

#[test]
fn what_still_waits_for_the_store_at_the_end_of_input_is_answered() {
    const CALLS: usize = 10;
    let home = Home::with_store();
    let mut server = Server::older(&home, &[]);
    let held = Held::of(&home);
    let calls = (0..CALLS).map(|number| create(number, &format!("{number}.md"), "x\n"));
    let mut input = server.take_input();
    input.write_all(&bytes(calls)).expect("the server reads");
    drop(input);
    // Longer than the protocol's library waits for what it has begun.
    thread::sleep(Duration::from_millis(6_500));
    held.release();
    let end = server.end_of_output();
    assert_eq!(end.status.code(), Some(0), "{}", end.stderr);
    assert_eq!(answered(&end.rest), once_each(CALLS));
    assert_eq!(stdout(&home.run(&["read"])).lines().count(), CALLS);
}

#[test]
fn a_line_that_the_end_cuts_off_is_not_carried_out() {
    let home = Home::with_store();
    let mut server = Server::older(&home, &[]);
    let cut = create(2, "cut.md", "x\n").to_string();
    server.send(&create(1, "whole.md", "x\n"));
    server.send_raw(cut.as_bytes());
    let end = server.end();
    assert!(end.status.success(), "{}", end.stderr);
    assert_eq!(answered(&end.rest), BTreeMap::from([(1, 1)]));
    assert_eq!(stdout(&home.run(&["read"])), "whole.md\n");
}

#[test]
fn a_server_told_to_end_has_answered_all_it_carried_out() {
    for name in ["TERM", "INT"] {
        let home = Home::with_store();
        let mut server = Server::older(&home, &[]);
        let calls = (1..=300).map(|n| create(n, &format!("{n}.md"), "x\n"));
        let calls = bytes(calls);
        let mut input = server.take_input();
        // What is not read any more when the server ends is not written either.
        let writer = thread::spawn(move || drop(input.write_all(&calls)));
        let mut answers: Vec<Value> = (0..20).map(|_| server.receive()).collect();
        crate::mcp::client::signal(&server.child, name);
        let end = server.wait();
        writer.join().expect("the writer ends");
        assert_eq!(end.status.code(), Some(0), "{name}: {}", end.stderr);
        answers.extend(end.rest);
        let counts = answered(&answers);
        assert!(counts.values().all(|count| *count == 1), "{counts:?}");
        let named = |line: &str| line.trim_end_matches(".md").parse().expect("a number");
        let kept: BTreeSet<u64> = stdout(&home.run(&["read"])).lines().map(named).collect();
        assert_eq!(kept, counts.into_keys().collect());
        let checked = home.run(&["verify"]);
        assert!(checked.status.success(), "{}", stdout(&checked));
    }
}

/// A server whose output nobody has begun to read.
fn unread(home: &Home) -> Child {
    let mut command = home.command(&["mcp"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.stderr(Stdio::null()).spawn().expect("it starts")
}

/// Introduces a client and reads the answer to that.
fn introduce(child: &mut Child) -> BufReader<std::process::ChildStdout> {
    let input = child.stdin.as_mut().expect("piped");
    let hello = bytes([introduction(0, "2025-11-25"), introduced()]);
    input.write_all(&hello).expect("the server reads");
    let mut output = BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    output.read_line(&mut line).expect("an answer");
    assert!(line.contains("serverInfo"), "{line}");
    output
}

#[test]
fn what_a_client_asked_for_before_it_vanished_is_done() {
    let home = Home::with_store();
    let mut child = unread(&home);
    let output = introduce(&mut child);
    let calls = bytes([create(1, "a.md", "x\n")]);
    let mut input = child.stdin.take().expect("piped");
    input.write_all(&calls).expect("the server reads");
    drop((input, output));
    assert!(ended(&mut child).success());
    assert_eq!(stdout(&home.run(&["read"])), "a.md\n");
}

#[test]
fn a_server_whose_answers_nobody_can_read_ends() {
    let home = Home::with_store();
    let mut child = unread(&home);
    drop(introduce(&mut child));
    let input = child.stdin.as_mut().expect("piped");
    let calls = bytes([create(1, "a.md", "x\n")]);
    input.write_all(&calls).expect("the server reads");
    // The input stays open.
    assert!(ended(&mut child).success());
    assert_eq!(stdout(&home.run(&["read"])), "a.md\n");
}

#[test]
fn a_client_that_says_nothing_at_all_is_no_failure() {
    let home = Home::with_store();
    let end = Server::silent(&home, &[]).end();
    assert_eq!(end.status.code(), Some(0));
    assert!(
        end.rest.is_empty() && end.stderr.is_empty(),
        "{}",
        end.stderr
    );
    assert!(end.took < Duration::from_secs(5), "{:?}", end.took);
    let waiting = Server::silent(&home, &[]);
    thread::sleep(Duration::from_millis(200));
    waiting.terminate();
    assert_eq!(waiting.wait().status.code(), Some(0));
}

/// Kilobytes of memory that a process has at the moment.
#[cfg(target_os = "linux")]
fn resident(child: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).expect("it runs");
    let line = status.lines().find(|line| line.starts_with("VmRSS"));
    let digits = line.and_then(|line| line.split_whitespace().nth(1));
    digits
        .and_then(|digits| digits.parse().ok())
        .expect("a number")
}

/// Waits until nothing more is written for a while, and answers how much was.
#[cfg(target_os = "linux")]
fn stalled(written: &AtomicUsize) -> usize {
    let began = Instant::now();
    let mut last = usize::MAX;
    loop {
        let now = written.load(Ordering::SeqCst);
        if now == last {
            return now;
        }
        assert!(began.elapsed() < PATIENCE, "{now} calls are written");
        last = now;
        thread::sleep(Duration::from_millis(1_500));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_client_that_does_not_read_is_not_read_either() {
    const CALLS: usize = 600;
    let home = Home::with_store();
    let long = ["x".repeat(99), "\n".into()].concat().repeat(200);
    home.run(&["write", "long.md", "--text", &long]);
    let mut child = unread(&home);
    let output = introduce(&mut child);
    let mut input = child.stdin.take().expect("piped");
    let written = Arc::new(AtomicUsize::new(0));
    let counter = written.clone();
    // Long enough for the pipe to hold few of them.
    let beside = "-".repeat(2_000);
    let writer = thread::spawn(move || {
        for number in 0..CALLS {
            let mut call = call(number, "memory_view", json!({"path": "/memories/long.md"}));
            call["params"]["_meta"] = json!({"beside": beside});
            input.write_all(&bytes([call])).expect("the server reads");
            counter.fetch_add(1, Ordering::SeqCst);
        }
        input
    });
    let count = stalled(&written);
    assert!(count < 300, "{count} calls were read while no answer was");
    let before = resident(&child);
    thread::sleep(Duration::from_millis(500));
    let after = resident(&child);
    assert!(after <= before + 2_048, "{before} kB became {after} kB");
    assert!(after < 160_000, "{after} kB");
    // It was all only late.
    let lines = output.lines().map(|line| line.expect("UTF-8"));
    let messages = lines.map(|line| serde_json::from_str::<Value>(&line).expect("JSON"));
    let answers: Vec<Value> = messages
        .filter(|message| message.get("method").is_none())
        .take(CALLS)
        .collect();
    assert_eq!(answered(&answers), once_each(CALLS));
    drop(writer.join().expect("all is written"));
    assert!(ended(&mut child).success());
}

#[test]
fn a_client_that_never_reads_does_not_keep_the_server() {
    let home = Home::with_store();
    let long = ["x".repeat(99), "\n".into()].concat().repeat(150);
    home.run(&["write", "long.md", "--text", &long]);
    let mut child = unread(&home);
    let _output = introduce(&mut child);
    let view = |number| call(number, "memory_view", json!({"path": "/memories/long.md"}));
    let mut input = child.stdin.take().expect("piped");
    input
        .write_all(&bytes((0..20).map(view)))
        .expect("the server reads");
    drop(input);
    let began = Instant::now();
    assert!(ended(&mut child).success());
    // It was waited for, and not for ever.
    assert!(
        began.elapsed() > Duration::from_secs(3),
        "{:?}",
        began.elapsed()
    );
}
