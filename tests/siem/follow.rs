//! `log --follow`: every event once, whatever happens to the store meanwhile, and at no cost to others.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{copy_of_store, log, numbers};
use crate::support::{Home, has_peer, stderr};

/// Longer than anything takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running `log --follow`.
struct Follower {
    child: Child,
    lines: Receiver<String>,
}

impl Follower {
    fn start(home: &Home, args: &[&str]) -> Self {
        let args = [&["log", "--follow", "--format", "jsonl"], args].concat();
        let mut child = home
            .command(&args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let lines = read(child.stdout.take().expect("piped"));
        Self { child, lines }
    }

    /// The next events.
    fn take(&self, count: usize) -> Vec<Value> {
        let line = |_| self.lines.recv_timeout(PATIENCE).expect("another event");
        let lines = (0..count).map(line);
        lines
            .map(|line| serde_json::from_str(&line).expect("JSON"))
            .collect()
    }

    /// Its exit code and complaints, once it has ended by itself.
    fn end(mut self) -> (Option<i32>, String) {
        let since = Instant::now();
        while self
            .child
            .try_wait()
            .expect("it can be waited for")
            .is_none()
        {
            assert!(since.elapsed() < PATIENCE, "it goes on");
            thread::sleep(Duration::from_millis(5));
        }
        let output = self.child.wait_with_output().expect("it ended");
        (output.status.code(), stderr(&output))
    }

    fn stop(mut self) {
        assert!(
            self.child
                .try_wait()
                .expect("it can be waited for")
                .is_none(),
            "it runs"
        );
        self.child.kill().expect("it is killed");
        self.child.wait().expect("it ends");
        assert!(self.lines.try_recv().is_err(), "nothing more was printed");
    }
}

fn read(out: ChildStdout) -> Receiver<String> {
    let (sender, lines) = channel();
    thread::spawn(move || {
        for line in BufReader::new(out).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

fn ok(home: &Home, args: &[&str]) {
    let output = home.run(args);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
}

#[test]
fn it_survives_compaction_rekey_a_killed_writer_and_new_caches() {
    let home = Home::with_store();
    let follower = Follower::start(&home, &[]);
    assert_eq!(numbers(&follower.take(1)), [0]);
    ok(&home, &["create", "/memories/a.md", "--text", "a"]);
    assert_eq!(follower.take(1)[0]["command"], "create");
    ok(&home, &["compact"]);
    ok(&home, &["view", "/memories/a.md"]);
    assert_eq!(follower.take(1)[0]["command"], "view");
    ok(&home, &["rekey"]);
    ok(&home, &["create", "/memories/b.md", "--text", "b"]);
    assert_eq!(numbers(&follower.take(2)), [3, 4]);
    for cache in ["catalog", "timeline"] {
        fs::remove_file(home.store().join(cache)).expect("it was there");
        ok(&home, &["view", "/memories"]);
    }
    assert_eq!(numbers(&follower.take(2)), [5, 6]);
    ok(
        &home,
        &["erase", "/memories/b.md", "--yes", "--reason", "asked"],
    );
    // A journal that is full is replaced by another file.
    let text = "x".repeat(700_000);
    for n in 0..5 {
        let path = format!("/memories/big{n}.md");
        let made = home.run_with_input(&["create", &path], &text);
        assert!(made.status.success(), "{}", stderr(&made));
    }
    assert_eq!(numbers(&follower.take(6)), (7..13).collect::<Vec<u64>>());
    // A writer is killed in the middle of its work; what it did until then is whole.
    let mut writer = home
        .command(&["tool"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut pipe = writer.stdin.take().expect("piped");
    let feeding = thread::spawn(move || {
        let line = b"{\"command\":\"view\",\"path\":\"/memories\"}\n";
        while std::io::Write::write_all(&mut pipe, line).is_ok() {}
    });
    let answers = read(writer.stdout.take().expect("piped"));
    for _ in 0..20 {
        answers.recv_timeout(PATIENCE).expect("an answer");
    }
    writer.kill().expect("kill -9");
    writer.wait().expect("it ended");
    feeding.join().expect("it ended");
    ok(&home, &["create", "/memories/last.md", "--text", "last"]);
    let whole = log(&home, &["--order", "asc"]);
    let rest = follower.take(whole.len() - 13);
    assert_eq!(rest[..], whole[13..]);
    assert_eq!(rest.last().expect("one")["command"], "create");
    follower.stop();
}

#[test]
fn two_hundred_writers_and_each_event_once() {
    let home = Home::with_store();
    let follower = Follower::start(&home, &["--after", "0"]);
    let write = |n: usize| {
        let path = format!("/memories/{n}.md");
        ok(&home, &["create", &path, "--text", "x"]);
    };
    thread::scope(|scope| {
        for first in 0..8 {
            scope.spawn(move || (first..200).step_by(8).for_each(write));
        }
    });
    let found = follower.take(200);
    assert_eq!(numbers(&found), (1..=200).collect::<Vec<u64>>());
    assert_eq!(found, log(&home, &["--after", "0"]));
    follower.stop();
}

#[test]
fn it_filters_stops_at_a_limit_and_records_no_look_of_its_own() {
    let home = Home::with_store();
    ok(&home, &["create", "/memories/a.md", "--text", "a"]);
    let follower = Follower::start(&home, &["/memories/b", "--limit", "3"]);
    ok(&home, &["create", "/memories/c.md", "--text", "c"]);
    ok(&home, &["create", "/memories/b/x.md", "--text", "x"]);
    ok(&home, &["rename", "/memories/b/x.md", "/memories/y.md"]);
    ok(&home, &["rekey"]);
    ok(&home, &["view", "/memories/y.md"]);
    let found = follower.take(3);
    let commands = found.iter().map(|event| event["command"].as_str());
    assert_eq!(
        commands.flatten().collect::<Vec<_>>(),
        ["create", "rename", "rekey"]
    );
    assert_eq!(follower.end(), (Some(0), String::new()));
    assert_eq!(
        log(&home, &[]).len(),
        7,
        "nothing but what was done here is on record"
    );
}

#[test]
fn it_ends_when_its_reader_is_gone_or_by_a_signal() {
    let home = Home::with_store();
    let mut idle = home
        .command(&["log", "--follow", "--after", "0"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    thread::sleep(Duration::from_millis(200));
    assert!(
        idle.try_wait().expect("it can be waited for").is_none(),
        "it waits"
    );
    drop(idle.stdout.take());
    let ended = idle.wait().expect("it ends, though nothing happens");
    assert_eq!(ended.code(), Some(0));

    let follower = Follower::start(&home, &[]);
    follower.take(1);
    let id = follower.child.id().to_string();
    // Not the signal of Ctrl-C, which jobs in the background of a shell ignore.
    assert!(
        Command::new("kill")
            .args(["-TERM", &id])
            .status()
            .expect("kill runs")
            .success()
    );
    assert_eq!(follower.end().0, None, "ended by the signal");
    ok(&home, &["view", "/memories"]);
}

#[test]
fn a_store_that_is_turned_back_ends_it_with_an_integrity_failure() {
    let home = Home::with_store();
    let copy = copy_of_store(&home);
    let follower = Follower::start(&home, &[]);
    ok(&home, &["create", "/memories/a.md", "--text", "a"]);
    assert_eq!(numbers(&follower.take(2)), [0, 1]);
    fs::rename(home.store(), home.path().join("newer")).expect("moved away");
    fs::rename(copy, home.store()).expect("the older copy in its place");
    let (code, said) = follower.end();
    assert_eq!(code, Some(13), "{said}");
    assert!(said.contains("history was rolled back: event 1"), "{said}");
}

#[test]
fn it_takes_no_lock_while_nothing_happens() {
    if !has_peer(
        "strace",
        "that a waiting --follow takes no lock is seen in its system calls",
    ) {
        return;
    }
    let home = Home::with_store();
    let trace = home.path().join("trace");
    let follow = home.command(&["log", "--follow", "--after", "0"]);
    let mut strace = Command::new(crate::support::program("strace"));
    strace
        .args(["-f", "-e", "trace=flock,poll,ppoll", "-o"])
        .arg(&trace);
    strace
        .arg(follow.get_program())
        .args(follow.get_args())
        .env_clear();
    strace.envs(
        follow
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    let mut running = strace.stdout(Stdio::piped()).spawn().expect("strace runs");
    let calls = || fs::read_to_string(&trace).unwrap_or_default();
    let waits_since_a_lock = || {
        let calls = calls();
        let (_, later) = calls.rsplit_once("flock(").unwrap_or_default();
        later.matches("poll(").count()
    };
    let since = Instant::now();
    while waits_since_a_lock() < 20 {
        assert!(since.elapsed() < PATIENCE, "it took the lock: {}", calls());
        thread::sleep(Duration::from_millis(20));
    }
    drop(running.stdout.take());
    running.wait().expect("it ends");
}
