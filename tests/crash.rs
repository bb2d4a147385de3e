//! Stops of every kind: killed processes, lost power, torn objects, a clock that goes back.
#![allow(clippy::print_stderr)] // what could not be tested is said loudly
#![allow(clippy::format_collect)] // speed does not matter here

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use agekeep::Digest;
use agekeep::command::Command;
use agekeep::event::Context;
use agekeep::keyfile;
use agekeep::store::{Keys, Status, Store};
use serde_json::{Value, json};
use sha2::Digest as _;
use support::{Home, has_peer, json_lines, stderr, stdout};

/// Every test below is decided by this number, except for the moments at which processes die.
const SEED: u64 = 20_260_728;
const KILL_ROUNDS: usize = 200;
const CHECK_EVERY: usize = 20;
/// Opening a record is slow without optimization: so many are read at a time.
const LOG_EVENTS: u64 = 15;
const POWER_ROUNDS: usize = 25;
const APPLY_ROUNDS: usize = 20;
/// Longer than any command takes on a busy machine, shorter than a person waits for a hang.
const HANG: Duration = Duration::from_secs(30);

const JOURNAL_HEADER_BYTES: usize = 128;
const RECORD_HEADER_BYTES: usize = 36;
/// A command that finds a longer journal makes a checkpoint first.
const CHECKPOINT_BYTES: usize = 2 * 1024 * 1024;

/// Numbers that are the same on every run (splitmix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((z ^ (z >> 31)) % below as u64).expect("below a usize")
    }

    fn micros(&mut self, below: usize) -> Duration {
        Duration::from_micros(self.roll(below) as u64)
    }
}

const PATHS: [&str; 5] = [
    "/memories/a.md",
    "/memories/b.md",
    "/memories/d/a.md",
    "/memories/d/b.md",
    "/memories/e/a.md",
];

/// What a store must hold after the commands so far.
#[derive(Clone)]
struct Model {
    texts: BTreeMap<String, String>,
    events: u64,
    made: usize,
}

/// What a command must answer.
struct Want {
    content: Option<String>,
    is_error: bool,
    text: Option<String>,
}

impl Want {
    fn ok(content: String, text: Option<&String>) -> Self {
        Self {
            content: Some(content),
            is_error: false,
            text: text.cloned(),
        }
    }

    fn error(content: String) -> Self {
        Self {
            content: Some(content),
            is_error: true,
            text: None,
        }
    }

    fn check(&self, answer: &Value, call: &Value) {
        assert_eq!(answer["is_error"], self.is_error, "{call} → {answer}");
        if let Some(content) = &self.content {
            assert_eq!(answer["content"], content.as_str(), "{call} → {answer}");
        }
        if let Some(text) = &self.text {
            let digest = Digest::of(text.as_bytes()).to_string();
            assert_eq!(answer["meta"]["sha256"], digest, "{call} → {answer}");
        }
    }
}

impl Model {
    /// A store right after `init`.
    fn new() -> Self {
        Self {
            texts: BTreeMap::new(),
            events: 1,
            made: 0,
        }
    }

    /// The next command, whose result is known.
    fn next_call(&mut self, dice: &mut Dice) -> Value {
        self.made += 1;
        let path = PATHS[dice.roll(PATHS.len())];
        let mark = format!("mark {}", self.made);
        let first_line = self.texts.get(path).and_then(|text| text.lines().next());
        match dice.roll(12) {
            0..=3 => {
                let lines = if dice.roll(10) == 0 {
                    700
                } else {
                    dice.roll(5)
                };
                let text = format!("{mark}\n{}", "one more line\n".repeat(lines));
                json!({"command": "create", "path": path, "file_text": text})
            }
            4..=6 => json!({"command": "str_replace", "path": path,
                "old_str": first_line.unwrap_or("absent"), "new_str": mark}),
            7 => json!({"command": "insert", "path": path, "insert_line": 1, "insert_text": mark}),
            8 => json!({"command": "view", "path": path}),
            9 => json!({"command": "delete", "path": path}),
            10 => json!({"command": "rename", "old_path": path,
                "new_path": PATHS[dice.roll(PATHS.len())]}),
            _ => json!({"command": "rename", "old_path": "/memories/d", "new_path": "/memories/e"}),
        }
    }

    fn next_calls(&mut self, dice: &mut Dice, count: usize) -> (Vec<Value>, Vec<Want>, Vec<Self>) {
        let (mut calls, mut wants, mut after) = (Vec::new(), Vec::new(), vec![self.clone()]);
        for _ in 0..count {
            let call = self.next_call(dice);
            wants.push(self.carry_out(&call));
            calls.push(call);
            after.push(self.clone());
        }
        (calls, wants, after)
    }

    fn carry_out(&mut self, call: &Value) -> Want {
        self.events += 1;
        let part = |name: &str| call[name].as_str().unwrap_or_default().to_owned();
        let path = part("path");
        match part("command").as_str() {
            "create" => self.create(&path, part("file_text")),
            "str_replace" => self.str_replace(&path, &part("old_str"), &part("new_str")),
            "insert" => self.insert(&path, &part("insert_text")),
            "view" => self.view(&path),
            "delete" => match self.texts.remove(&path) {
                Some(_) => Want::ok(format!("Successfully deleted {path}"), None),
                None => Want::error(format!("Error: The path {path} does not exist")),
            },
            "rename" => self.rename(&part("old_path"), &part("new_path")),
            other => panic!("no such command in this model: {other}"),
        }
    }

    /// Has the store carry out a command too.
    fn answer(&mut self, home: &Home, call: &Value) {
        let answers = home.tool(&lines(std::slice::from_ref(call)));
        self.carry_out(call).check(&answers[0], call);
    }

    fn create(&mut self, path: &str, text: String) -> Want {
        if self.texts.contains_key(path) {
            return Want::error(format!("Error: File {path} already exists"));
        }
        let done = Want::ok(format!("File created successfully at: {path}"), Some(&text));
        self.texts.insert(path.to_owned(), text);
        done
    }

    fn str_replace(&mut self, path: &str, old: &str, new: &str) -> Want {
        let Some(text) = self.texts.get_mut(path) else {
            return Want::error(format!(
                "Error: The path {path} does not exist. Please provide a valid path."
            ));
        };
        *text = text.replacen(old, new, 1);
        Want {
            content: None,
            is_error: false,
            text: Some(text.clone()),
        }
    }

    fn insert(&mut self, path: &str, line: &str) -> Want {
        let Some(text) = self.texts.get_mut(path) else {
            return Want::error(format!("Error: The path {path} does not exist"));
        };
        let (first, rest) = text.split_once('\n').expect("every text has a line");
        *text = format!("{first}\n{line}\n{rest}");
        Want::ok(format!("The file {path} has been edited."), Some(text))
    }

    fn view(&self, path: &str) -> Want {
        match self.texts.get(path) {
            None => Want::error(format!(
                "The path {path} does not exist. Please provide a valid path."
            )),
            Some(text) => Want {
                content: None,
                is_error: false,
                text: Some(text.clone()),
            },
        }
    }

    fn rename(&mut self, from: &str, to: &str) -> Want {
        let below = |path: &str, folder: &str| path.starts_with(&format!("{folder}/"));
        if self.texts.keys().any(|path| path == to || below(path, to)) {
            return Want::error(format!("Error: The destination {to} already exists"));
        }
        let moved: Vec<String> = self
            .texts
            .keys()
            .filter(|path| *path == from || below(path, from))
            .cloned()
            .collect();
        if moved.is_empty() {
            return Want::error(format!("Error: The path {from} does not exist"));
        }
        let mut last = None;
        for path in moved {
            let text = self.texts.remove(&path).expect("listed");
            last = (path == from).then(|| text.clone());
            self.texts.insert(path.replacen(from, to, 1), text);
        }
        Want::ok(
            format!("Successfully renamed {from} to {to}"),
            last.as_ref(),
        )
    }

    /// Opens the store and compares all of it; every reading is one more event.
    fn check(&mut self, home: &Home, when: &str) {
        let mut store = open(home, when);
        self.check_numbers(&store.status().expect("counts"), when);
        self.check_open(&mut store, when);
    }

    /// Compares the numbers, which is no event.
    fn check_numbers(&self, status: &Status, when: &str) {
        assert_eq!(status.events, self.events, "{when}: events");
        assert_eq!(status.memories, self.texts.len(), "{when}: memories");
        let bytes: usize = self.texts.values().map(String::len).sum();
        assert_eq!(status.text_bytes, bytes as u64, "{when}: bytes");
    }

    fn check_open(&mut self, store: &mut Store, when: &str) {
        for (path, text) in &self.texts {
            assert!(read(store, Some(path), when) == *text, "{when}: {path}");
        }
        let mut list: Vec<_> = self
            .texts
            .keys()
            .map(|path| &path["/memories/".len()..])
            .collect();
        list.sort_unstable();
        assert_eq!(read(store, None, when), list.join("\n"), "{when}: the list");
        self.events += 1 + self.texts.len() as u64;
    }
}

fn open(home: &Home, when: &str) -> Store {
    let keys = Keys {
        identity: keyfile::read_identity(&home.identity()).expect("made by init"),
        signing_key: keyfile::read_signing_key(&home.signing_key()).expect("made by init"),
    };
    Store::open(&home.store(), keys, Box::new(chrono::Utc::now))
        .unwrap_or_else(|error| panic!("{when}: the store does not open: {error}"))
}

fn read(store: &mut Store, path: Option<&str>, when: &str) -> String {
    let command = Command::Read {
        path: path.map(str::to_owned),
    };
    let answer = store
        .execute(&command, &Context::default())
        .unwrap_or_else(|error| panic!("{when}: {path:?}: {error}"));
    assert!(!answer.is_error(), "{when}: {}", answer.content.as_str());
    answer.content.as_str().to_owned()
}

fn lines(calls: &[Value]) -> String {
    calls.iter().map(|call| format!("{call}\n")).collect()
}

/// Stock git finds nothing wrong and nothing left over.
fn check_git(home: &Home, when: &str) {
    let checked = home.git(&["fsck", "--full", "--strict", "--no-progress"]);
    let said = stdout(&checked) + &stderr(&checked);
    assert!(
        checked.status.success() && said.is_empty(),
        "{when}: fsck: {said}"
    );
    for entry in fs::read_dir(home.store().join("refs/heads")).expect("lists") {
        let name = entry.expect("lists").file_name();
        assert_eq!(name, "main", "{when}: another branch");
    }
}

/// The newest events are numbered without a gap, and there are as many as commits.
fn check_log(home: &Home, events: u64, when: &str) {
    let count = LOG_EVENTS.min(events);
    let log = home.run(&["log", "--json", "-n", &count.to_string()]);
    assert!(log.status.success(), "{when}: {}", stderr(&log));
    let numbers: Vec<_> = json_lines(&log.stdout)
        .iter()
        .map(|event| event["event"].as_u64().expect("a number"))
        .collect();
    let expected: Vec<_> = (events - count..events).rev().collect();
    assert_eq!(numbers, expected, "{when}: event numbers");
    let commits = stdout(&home.git(&["rev-list", "--count", "main"]));
    assert_eq!(commits.trim(), events.to_string(), "{when}: commits");
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("makes a folder");
    for entry in fs::read_dir(from).expect("lists") {
        let path = entry.expect("lists").path();
        let copy = to.join(path.file_name().expect("has a name"));
        if path.is_dir() {
            copy_folder(&path, &copy);
        } else {
            fs::copy(&path, &copy).expect("copies");
        }
    }
}

fn put_back(from: &Path, home: &Home) {
    fs::remove_dir_all(home.store()).expect("there");
    copy_folder(from, &home.store());
}

/// Keeps a copy of the store in the home folder.
fn keep(home: &Home, name: &str) -> PathBuf {
    let copy = home.path().join(name);
    copy_folder(&home.store(), &copy);
    copy
}

// Killed processes.

/// When a process is killed.
#[derive(Debug)]
enum Moment {
    AfterStart(Duration),
    AfterAnswers(usize, Duration),
}

impl Moment {
    fn random(dice: &mut Dice) -> Self {
        match dice.roll(8) {
            0 => Self::AfterStart(dice.micros(500)),
            1 => Self::AfterStart(dice.micros(60_000)),
            2 => Self::AfterAnswers(1, Duration::ZERO),
            _ => Self::AfterAnswers(dice.roll(6), dice.micros(9_000)),
        }
    }
}

fn wait_exactly(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// Runs `tool`, kills it, and answers what it had acknowledged.
fn run_and_kill(home: &Home, input: String, moment: &Moment) -> Vec<Value> {
    let mut child = home
        .command(&["tool"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut pipe = child.stdin.take().expect("piped");
    let feeder = thread::spawn(move || drop(pipe.write_all(input.as_bytes())));
    let mut output = BufReader::new(child.stdout.take().expect("piped"));
    let mut said = Vec::new();
    let time = match moment {
        Moment::AfterStart(time) => time,
        Moment::AfterAnswers(count, time) => {
            for _ in 0..*count {
                output.read_until(b'\n', &mut said).expect("reads");
            }
            time
        }
    };
    wait_exactly(*time);
    child.kill().expect("kills");
    output.read_to_end(&mut said).expect("reads");
    let complaint = child.wait_with_output().expect("ends");
    feeder.join().expect("ends");
    assert_eq!(stderr(&complaint), "", "a killed process says nothing");
    let whole = said
        .iter()
        .rposition(|b| *b == b'\n')
        .map_or(0, |at| at + 1);
    json_lines(&said[..whole])
}

#[test]
fn killed_at_any_moment_a_store_keeps_what_it_acknowledged() {
    let home = Home::with_store();
    let (mut model, mut dice) = (Model::new(), Dice(SEED));
    let mut in_flight = 0;
    for round in 1..=KILL_ROUNDS {
        let moment = Moment::random(&mut dice);
        let when = format!("seed {SEED}, round {round}, killed {moment:?}");
        let (calls, wants, after) = model.clone().next_calls(&mut dice, 10);
        let answers = run_and_kill(&home, lines(&calls), &moment);
        for ((answer, want), call) in answers.iter().zip(&wants).zip(&calls) {
            want.check(answer, call);
        }
        let mut store = open(&home, &when);
        let status = store.status().expect("counts");
        let done = usize::try_from(status.events - model.events).expect("small");
        assert!(
            done == answers.len() || done == answers.len() + 1,
            "{when}: {} acknowledged, {done} there",
            answers.len()
        );
        in_flight += done - answers.len();
        model = after[done].clone();
        model.check_numbers(&status, &when);
        if round % 8 == 0 || done > answers.len() && round % 2 == 0 {
            model.check_open(&mut store, &when);
        }
        if round % CHECK_EVERY == 0 {
            check_git(&home, &when);
            check_log(&home, model.events, &when);
            let packed = home.git(&["gc", "-q"]);
            assert!(packed.status.success(), "{when}: {}", stderr(&packed));
        }
    }
    assert!(
        in_flight > 0,
        "no process was killed between commit and answer: kill later"
    );
}

const CHANGING_CALLS: [&str; 12] = [
    "write",
    "pwrite64",
    "rename",
    "renameat",
    "renameat2",
    "unlink",
    "mkdir",
    "fsync",
    "fdatasync",
    "syncfs",
    "ftruncate",
    "flock",
];

/// Runs the binary and has the kernel do `what` when it makes a system call for the `number`th
/// time.
fn run_injected(home: &Home, args: &[&str], what: &str, call: &str, number: usize) -> Output {
    let traced = home.command(args);
    Process::new("strace")
        .args(["-qq", "-o", "/dev/null", "-e", &format!("trace={call}")])
        .args(["-e", &format!("inject={call}:{what}:when={number}")])
        .arg(traced.get_program())
        .args(traced.get_args())
        .env_clear()
        .envs(
            traced
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .current_dir(home.path())
        .output()
        .expect("strace runs")
}

/// Kills a command at each of its changing system calls in turn and checks what is there then.
fn kill_at_each(calls: &[&str], home: &Home, args: &[&str], before: &Model, after: &Model) {
    let start = keep(home, "start");
    let mut kills = 0;
    for call in calls {
        for number in 1.. {
            let run = run_injected(home, args, "signal=KILL", call, number);
            let when = format!("{args:?} killed at {call} {number}");
            check_killed(home, &run, before, after, &when);
            put_back(&start, home);
            if run.status.success() {
                break;
            }
            kills += 1;
        }
    }
    assert!(kills > 8, "{args:?}: only {kills} changing calls");
    fs::remove_dir_all(start).expect("there");
}

fn check_killed(home: &Home, run: &Output, before: &Model, after: &Model, when: &str) {
    assert!(!stderr(run).contains("panicked"), "{when}: {}", stderr(run));
    let acknowledged = stdout(run).ends_with('\n');
    let mut store = open(home, when);
    let status = store.status().expect("counts");
    let events = status.events;
    let happened = events == after.events;
    assert!(
        happened || events == before.events,
        "{when}: {events} events"
    );
    assert!(happened || !acknowledged, "{when}: acknowledged and gone");
    let mut state = if happened { after } else { before }.clone();
    state.check_numbers(&status, when);
    state.check_open(&mut store, when);
    check_git(home, when);
}

fn has_strace() -> bool {
    has_peer("strace", "kills at every system call")
}

#[test]
fn killed_at_every_system_call_a_command_is_whole_or_absent() {
    if !has_strace() {
        return;
    }
    let home = Home::with_store();
    let mut model = Model::new();
    for path in ["/memories/a.md", "/memories/d/a.md", "/memories/d/b.md"] {
        let call = json!({"command": "create", "path": path, "file_text": "one\ntwo\n"});
        model.answer(&home, &call);
    }
    for (args, call) in [
        (
            &["create", "/memories/b.md", "--text", "new\n"][..],
            json!({"command": "create", "path": "/memories/b.md", "file_text": "new\n"}),
        ),
        (
            &["rename", "/memories/d", "/memories/e"],
            json!({"command": "rename", "old_path": "/memories/d", "new_path": "/memories/e"}),
        ),
    ] {
        let start = keep(&home, "scenario");
        let mut after = model.clone();
        after.carry_out(&call);
        kill_at_each(&CHANGING_CALLS, &home, args, &model, &after);
        put_back(&start, &home);
        fs::remove_dir_all(start).expect("there");
    }
}

#[test]
fn a_command_whose_system_call_fails_happened_if_and_only_if_it_says_so() {
    if !has_strace() {
        return;
    }
    let home = Home::with_store();
    let mut before = Model::new();
    let call = |path: &str| json!({"command": "create", "path": path, "file_text": "new\n"});
    before.answer(&home, &call("/memories/a.md"));
    let mut after = before.clone();
    after.carry_out(&call("/memories/b.md"));
    let args = ["create", "/memories/b.md", "--text", "new\n"];
    let start = keep(&home, "start");
    for (name, error) in CHANGING_CALLS
        .into_iter()
        .zip(["EIO", "ENOSPC"].iter().cycle())
    {
        let count = calls_of(&home, &args, name).len();
        put_back(&start, &home);
        for number in 1..=count {
            let run = run_injected(&home, &args, &format!("error={error}"), name, number);
            let when = format!("{error} from {name} {number}");
            let (code, complaint) = (run.status.code(), stderr(&run));
            let mut store = open(&home, &when);
            let events = store.status().expect("counts").events;
            if complaint.contains("standard output") {
                assert_eq!((code, events), (Some(16), after.events), "{when}");
            } else if complaint.is_empty() {
                assert_eq!((code, events), (Some(0), after.events), "{when}");
            } else {
                assert_eq!(
                    (code, events),
                    (Some(16), before.events),
                    "{when}: {complaint}"
                );
                assert!(complaint.contains("\nhint: "), "{when}: {complaint}");
            }
            let mut state = if events == after.events {
                &after
            } else {
                &before
            }
            .clone();
            state.check_open(&mut store, &when);
            check_git(&home, &when);
            put_back(&start, &home);
        }
    }
}

#[test]
fn killed_at_every_system_call_a_checkpoint_loses_nothing() {
    if !has_strace() {
        return;
    }
    let home = Home::with_store();
    let mut model = Model::new();
    let big = "fill the journal.\n".repeat(55_000);
    for path in ["/memories/a.md", "/memories/b.md"] {
        let create = json!({"command": "create", "path": path, "file_text": big});
        model.answer(&home, &create);
        model.answer(&home, &json!({"command": "delete", "path": path}));
    }
    while record_ends(&home).last() <= Some(&CHECKPOINT_BYTES) {
        model.answer(&home, &json!({"command": "view", "path": "/memories/b.md"}));
    }
    let call = json!({"command": "create", "path": "/memories/a.md", "file_text": "new\n"});
    let mut after = model.clone();
    after.carry_out(&call);
    // What comes after the checkpoint is killed in the test above.
    let calls = [
        "unlink",
        "pwrite64",
        "fsync",
        "fdatasync",
        "syncfs",
        "rename",
    ];
    kill_at_each(
        &calls,
        &home,
        &["create", "/memories/a.md", "--text", "new\n"],
        &model,
        &after,
    );
}

#[test]
fn killed_at_every_system_call_a_recovery_starts_over() {
    if !has_strace() {
        return;
    }
    let (home, mut model) = with_a_new_journal();
    let base = keep(&home, "base");
    let (calls, wants, _) = model.next_calls(&mut Dice(SEED), 3);
    answer_all(&home, &calls, &wants);
    let journal = fs::read(home.store().join("journal")).expect("reads");
    put_back(&base, &home);
    fs::write(home.store().join("journal"), journal).expect("writes");
    of_another_boot(&home);
    kill_at_each(&CHANGING_CALLS, &home, &["status"], &model, &model);
}

/// What a command asks of the kernel, in order: name, first argument, and the line as it is.
fn calls_of(home: &Home, args: &[&str], names: &str) -> Vec<(String, String, String)> {
    let traced = home.command(args);
    let trace = home.path().join("trace");
    let run = Process::new("strace")
        .args(["-qq", "-y", "-s", "4096", "-e", &format!("trace={names}")])
        .arg("-o")
        .arg(&trace)
        .arg(traced.get_program())
        .args(args)
        .env_clear()
        .envs(
            traced
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .output()
        .expect("strace runs");
    assert!(run.status.success(), "{}", stderr(&run));
    fs::read_to_string(trace)
        .expect("traced")
        .lines()
        .filter_map(|line| {
            let (name, rest) = line.split_once('(')?;
            let first = rest.split([',', ')']).next()?;
            Some((name.to_owned(), first.to_owned(), line.to_owned()))
        })
        .collect()
}

/// A killed process loses nothing the kernel has. That the disk has it too shows in the order of
/// calls.
#[test]
fn the_answer_goes_out_only_after_the_record_is_durable() {
    if !has_strace() {
        return;
    }
    let home = Home::with_store();
    for n in 0..2 {
        let path = format!("/memories/{n}");
        let args = ["create", &path, "--text", "text"];
        let calls = calls_of(&home, &args, "pwrite64,fdatasync,fsync,write,rename");
        let at = |what: &str, found: &dyn Fn(&(String, String, String)) -> bool| {
            let at = calls.iter().position(found);
            at.unwrap_or_else(|| panic!("{what} is not among {calls:#?}"))
        };
        let recorded = calls
            .iter()
            .rposition(|(name, file, _)| name == "pwrite64" && file.ends_with("/journal>"));
        let durable = at("the sync", &|(name, file, _)| {
            name == "fdatasync" && file.ends_with("/journal>")
        });
        let object = at("an object", &|(_, _, line)| line.contains("/objects/"));
        let head = at("the ref", &|(name, _, line)| {
            name == "rename" && line.contains("refs/heads/main")
        });
        let answered = at("the answer", &|(_, _, line)| {
            line.contains("File created successfully")
        });
        let order = [recorded.expect("a record"), durable, object, head, answered];
        assert!(order.is_sorted(), "{order:?}: {calls:#?}");
    }
}

#[test]
fn a_new_journal_begins_only_after_all_it_replaces_is_durable() {
    if !has_strace() {
        return;
    }
    let home = Home::with_store();
    let made = home.run(&["create", "/memories/a", "--text", "text"]);
    assert!(made.status.success(), "{}", stderr(&made));
    of_another_boot(&home);
    let calls = calls_of(&home, &["status"], "fsync,fdatasync,syncfs,rename");
    let lines: Vec<_> = calls.iter().map(|(_, _, line)| line.as_str()).collect();
    let renames = |part: &str| {
        let is = |line: &&str| line.starts_with("rename(") && line.contains(part);
        lines.iter().rposition(is).expect("renamed")
    };
    let sync = |name: &str, file: &str| {
        let is = |line: &&str| line.starts_with(name) && line.contains(file);
        lines
            .iter()
            .rposition(is)
            .unwrap_or_else(|| panic!("no {name} of {file} in {lines:#?}"))
    };
    let (written, new) = (renames("refs/heads/main"), renames("journal.new"));
    let all = sync("syncfs", "");
    for at in [all, sync("fsync", "/ring>"), sync("fsync", "/names>")] {
        assert!(written < at && at < new, "{lines:#?}");
    }
    assert!(sync("fsync", "/journal.new>") < new, "{lines:#?}");
    assert!(sync("fsync", "/store>") > new, "{lines:#?}");
}

#[test]
fn a_process_that_slept_through_a_checkpoint_follows_another_that_was_killed() {
    let home = Home::with_store();
    let mut sleeper = open(&home, "before everything");
    let create = |name: &str| {
        let made = home.run(&["create", &format!("/memories/{name}"), "--text", name]);
        assert!(made.status.success(), "{}", stderr(&made));
    };
    ["one", "two", "three"].into_iter().for_each(create);
    checkpoint(&home);
    let head = home.store().join("refs/heads/main");
    let before = fs::read(&head).expect("there");
    create("four");
    // As if that process was killed after its record, before the ref.
    fs::write(&head, before).expect("writes");
    let list = read(&mut sleeper, None, "after the other was killed");
    assert_eq!(list, "four\none\nthree\ntwo");
    for name in ["one", "four"] {
        assert_eq!(
            read(&mut sleeper, Some(name), "after the other was killed"),
            name
        );
    }
}

// Lost power.

/// Makes the journal look like one of an earlier boot.
fn of_another_boot(home: &Home) {
    let path = home.store().join("journal");
    let mut bytes = fs::read(&path).expect("reads");
    bytes[52..88].copy_from_slice(b"00000000-dead-4bee-8000-000000000000");
    let sum = sha2::Sha256::digest(&bytes[..96]);
    bytes[96..JOURNAL_HEADER_BYTES].copy_from_slice(&sum);
    fs::write(&path, bytes).expect("writes");
}

/// Where each record of the journal ends.
fn record_ends(home: &Home) -> Vec<usize> {
    let bytes = fs::read(home.store().join("journal")).expect("reads");
    let (mut at, mut ends) = (JOURNAL_HEADER_BYTES, Vec::new());
    while let Some(length) = bytes.get(at..at + 4) {
        let length = u32::from_le_bytes(length.try_into().expect("four bytes")) as usize;
        if length == 0 {
            break;
        }
        at += RECORD_HEADER_BYTES + length;
        ends.push(at);
    }
    ends
}

/// Makes everything durable and starts a new journal, as opening after a power loss does.
fn checkpoint(home: &Home) {
    of_another_boot(home);
    drop(open(home, "for a checkpoint"));
    assert!(record_ends(home).is_empty(), "there was a checkpoint");
}

fn answer_all(home: &Home, calls: &[Value], wants: &[Want]) {
    let answers = home.tool(&lines(calls));
    assert_eq!(answers.len(), calls.len());
    for ((answer, want), call) in answers.iter().zip(wants).zip(calls) {
        want.check(answer, call);
    }
}

/// A store with some history, all of it durable, and an empty journal.
fn with_a_new_journal() -> (Home, Model) {
    let home = Home::with_store();
    let mut model = Model::new();
    let (calls, wants, _) = model.next_calls(&mut Dice(SEED), 12);
    answer_all(&home, &calls, &wants);
    checkpoint(&home);
    assert!(!model.texts.is_empty(), "the seed leaves memories");
    (home, model)
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("lists") {
        let path = entry.expect("lists").path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// The files of the store that differ from those in `base`, except for the journal.
fn changed_since(base: &Path, store: &Path) -> Vec<PathBuf> {
    files_below(store)
        .into_iter()
        .map(|path| path.strip_prefix(store).expect("below").to_owned())
        .filter(|path| path != Path::new("journal"))
        .filter(|path| fs::read(store.join(path)).ok() != fs::read(base.join(path)).ok())
        .collect()
}

fn overwrite(path: &Path, bytes: &[u8]) {
    fs::remove_file(path).expect("there"); // object files are read-only
    fs::write(path, bytes).expect("writes");
}

/// Treats one file that was never synced as a disk without power may.
fn lose(path: &Path, base: Option<Vec<u8>>, dice: &mut Dice) {
    let bytes = fs::read(path).expect("there");
    let grows = path.ends_with("ring") || path.ends_with("names");
    let kept = if grows {
        base.as_ref().map_or(0, Vec::len)
    } else {
        0
    };
    let cut = kept + dice.roll(bytes.len() - kept + 1);
    match dice.roll(6) {
        0 => {}
        1 => overwrite(path, &bytes[..cut]),
        2 => overwrite(path, &[&bytes[..cut], &vec![0; bytes.len() - cut]].concat()),
        3 => overwrite(
            path,
            &[&bytes[..kept], &vec![0; bytes.len() - kept]].concat(),
        ),
        _ => match base {
            Some(base) => overwrite(path, &base),
            None => fs::remove_file(path).expect("there"),
        },
    }
}

#[test]
fn power_loss_takes_nothing_that_was_acknowledged() {
    let (home, mut model) = with_a_new_journal();
    let base = keep(&home, "base");
    let (calls, wants, _) = model.next_calls(&mut Dice(SEED + 1), 10);
    answer_all(&home, &calls, &wants);
    let left = keep(&home, "left");
    let changed = changed_since(&base, &left);
    for path in [
        "refs/heads/main",
        "catalog",
        "keyring/ring",
        "keyring/names",
    ] {
        assert!(changed.contains(&path.into()), "{path}: {changed:?}");
    }
    for round in 0..POWER_ROUNDS {
        let when = format!("seed {SEED}, power lost in round {round}");
        let mut dice = Dice(SEED + round as u64);
        put_back(&left, &home);
        of_another_boot(&home);
        for path in &changed {
            lose(
                &home.store().join(path),
                fs::read(base.join(path)).ok(),
                &mut dice,
            );
        }
        if round % 5 == 0 {
            // Folders that were made are gone too.
            for folder in fs::read_dir(home.store().join("objects")).expect("lists") {
                let folder = folder.expect("lists");
                if !base.join("objects").join(folder.file_name()).exists() {
                    fs::remove_dir_all(folder.path()).expect("there");
                }
            }
        }
        let mut state = model.clone();
        state.check(&home, &when);
        check_git(&home, &when);
        if round % 8 == 0 {
            state.check(&home, &format!("{when}, opened again"));
        }
    }
}

#[test]
fn a_journal_cut_anywhere_holds_exactly_its_whole_records() {
    let (home, model) = with_a_new_journal();
    let base = keep(&home, "base");
    let mut dice = Dice(SEED + 2);
    let (calls, wants, after) = model.clone().next_calls(&mut dice, 5);
    answer_all(&home, &calls, &wants);
    let journal = fs::read(home.store().join("journal")).expect("reads");
    let ends = record_ends(&home);
    assert_eq!(ends.len(), calls.len());
    let starts = || std::iter::once(JOURNAL_HEADER_BYTES).chain(ends.iter().copied());
    let mut cuts: Vec<(usize, usize)> = starts().enumerate().map(|(n, at)| (at, n)).collect();
    let (last, end) = (ends[ends.len() - 2], ends[ends.len() - 1]);
    let inside = [1, 4, 20, 36, 37, (end - last) / 2, end - last - 1].map(|at| last + at);
    let anywhere: Vec<_> = (0..4)
        .map(|_| last + 1 + dice.roll(end - last - 1))
        .collect();
    cuts.extend(
        inside
            .into_iter()
            .chain(anywhere)
            .map(|at| (at, ends.len() - 1)),
    );
    for (at, whole) in cuts {
        let zeroed = [&journal[..at], &vec![0; journal.len() - at]].concat();
        for (how, bytes) in [("zeroed", &zeroed[..]), ("cut", &journal[..at])] {
            if bytes == journal {
                continue; // a record may end in zeros
            }
            let when = format!("seed {SEED}, journal {how} from byte {at}");
            put_back(&base, &home);
            fs::write(home.store().join("journal"), bytes).expect("writes");
            after[whole].clone().check(&home, &when);
            check_git(&home, &when);
        }
    }
}

#[test]
fn a_recorded_command_survives_whatever_part_of_it_reached_its_place() {
    let (home, mut model) = with_a_new_journal();
    let mut dice = Dice(SEED + 3);
    let mut steps = vec![keep(&home, "step0")];
    let mut after = Vec::new();
    for n in 1..=8 {
        let (calls, wants, _) = model.next_calls(&mut dice, 1);
        answer_all(&home, &calls, &wants);
        after.push(model.clone());
        steps.push(keep(&home, &format!("step{n}")));
    }
    for round in 0..APPLY_ROUNDS {
        let n = round % after.len();
        let when = format!("seed {SEED}, round {round}, command {n}");
        put_back(&steps[n], &home);
        for path in changed_since(&steps[n], &steps[n + 1]) {
            let (from, to) = (steps[n + 1].join(&path), home.store().join(&path));
            let bytes = fs::read(from).expect("reads");
            // The ref comes last; of a key table, any part may have been written.
            let part = match path.file_name().and_then(|name| name.to_str()) {
                Some("main") => continue,
                Some("ring" | "names") => {
                    let old = fs::read(&to).expect("reads").len();
                    old + dice.roll(bytes.len() - old + 1)
                }
                _ if dice.roll(2) == 0 => continue,
                _ => bytes.len(),
            };
            fs::create_dir_all(to.parent().expect("in a folder")).expect("makes");
            drop(fs::remove_file(&to));
            fs::write(&to, &bytes[..part]).expect("writes");
        }
        fs::copy(steps[n + 1].join("journal"), home.store().join("journal")).expect("copies");
        after[n].clone().check(&home, &when);
        check_git(&home, &when);
    }
}

// Torn objects.

/// A store with two memories in different folders, one of them with an older version.
struct Torn {
    home: Home,
    whole: PathBuf,
    /// `(role, object id)`
    objects: Vec<(&'static str, String)>,
}

const OLD: &str = "canary one\n";
const NEW: &str = "canary two\n";
const OTHER: &str = "another text\n";

impl Torn {
    fn new() -> Self {
        let home = Home::with_store();
        let run = |args: &[&str]| {
            let done = home.run(args);
            assert!(done.status.success(), "{args:?}: {}", stderr(&done));
            stdout(&done)
        };
        run(&["create", "/memories/a", "--text", OLD]);
        run(&["str-replace", "/memories/a", "--old", "one", "--new", "two"]);
        let folder = |output: String| {
            let answer: Value = serde_json::from_str(&output).expect("JSON");
            answer["meta"]["memory"].as_str().expect("an id")[..2].to_owned()
        };
        let folder_a = folder(run(&["view", "/memories/a", "--json"]));
        loop {
            if folder(run(&["create", "/memories/b", "--text", OTHER, "--json"])) != folder_a {
                break;
            }
            run(&["delete", "/memories/b"]);
        }
        let git = |what: &str| {
            let name = home.git(&["rev-parse", what]);
            assert!(name.status.success(), "{what}");
            stdout(&name).trim().to_owned()
        };
        // A new journal holds none of these objects, so that none comes back from it.
        fs::remove_file(home.store().join("journal")).expect("there");
        let log = json_lines(run(&["log", "--json"]).as_bytes());
        let blob = |command: &str| {
            let event = log.iter().find(|event| event["command"] == command);
            event.expect("done")["memories"][0]["blob"]
                .as_str()
                .expect("an id")
                .to_owned()
        };
        let first = log
            .iter()
            .find(|event| event["event"] == 1)
            .expect("the first create");
        let old_blob = first["memories"][0]["blob"]
            .as_str()
            .expect("an id")
            .to_owned();
        let objects = vec![
            ("text", blob("str_replace")),
            ("old text", old_blob),
            ("folder", git(&format!("main:{folder_a}"))),
            ("old folder", git(&format!("main~3:{folder_a}"))),
            ("head", git("main")),
            ("head tree", git("main^{tree}")),
            ("old commit", git("main~2")),
            ("old tree", git("main~3^{tree}")),
            ("policy", git("main:agekeep.toml")),
            ("recipients", git("main:recipients")),
            ("signers", git("main:signers")),
        ];
        let whole = keep(&home, "whole");
        Self {
            home,
            whole,
            objects,
        }
    }

    fn file(&self, id: &str) -> PathBuf {
        self.home
            .store()
            .join("objects")
            .join(&id[..2])
            .join(&id[2..])
    }

    /// Runs a command that must end, and never show anything but a text that was written.
    fn run(&self, args: &[&str], when: &str) -> (i32, String, String) {
        let mut child = self
            .home
            .command(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starts");
        let start = Instant::now();
        while child.try_wait().expect("waits").is_none() {
            if start.elapsed() > HANG {
                child.kill().expect("kills");
                panic!("{when}: {args:?} hangs");
            }
            thread::sleep(Duration::from_millis(1));
        }
        let output = child.wait_with_output().expect("ends");
        let (said, complaint) = (stdout(&output), stderr(&output));
        assert!(
            !complaint.contains("panicked"),
            "{when}: {args:?}: {complaint}"
        );
        assert!(
            !complaint.contains("canary"),
            "{when}: {args:?}: {complaint}"
        );
        (output.status.code().expect("no signal"), said, complaint)
    }

    fn works(&self, args: &[&str], want: &str, when: &str) {
        let (code, said, complaint) = self.run(args, when);
        assert_eq!((code, &*complaint), (0, ""), "{when}: {args:?}");
        assert!(said.contains(want), "{when}: {args:?}: {said}");
    }

    fn is_damaged(&self, args: &[&str], when: &str) {
        let (code, said, complaint) = self.run(args, when);
        assert_eq!(code, 13, "{when}: {args:?}: {complaint}");
        assert!(
            complaint.contains(" is damaged: "),
            "{when}: {args:?}: {complaint}"
        );
        assert!(!said.contains("canary"), "{when}: {args:?}: {said}");
    }

    /// Makes a file. Its id is random, and may fall into the damaged folder once.
    fn creates(&self, when: &str) {
        let codes: Vec<_> = ["c", "d", "e", "f"]
            .iter()
            .map(|name| {
                self.run(
                    &["create", &format!("/memories/{name}"), "--text", "x"],
                    when,
                )
                .0
            })
            .collect();
        let made = codes.iter().filter(|code| **code == 0).count();
        assert!(
            made >= 3 && codes.iter().all(|code| [0, 13].contains(code)),
            "{when}: {codes:?}"
        );
    }

    fn others_work(&self, when: &str) {
        self.works(&["read", "b"], OTHER, when);
        self.works(
            &[
                "str-replace",
                "/memories/b",
                "--old",
                "another",
                "--new",
                "a new",
            ],
            "",
            when,
        );
        self.works(&["read", "b"], "a new text\n", when);
        self.creates(when);
        self.works(&["view", "/memories"], "/memories/a", when);
        self.works(&["status"], "memories ", when);
    }

    fn everything_works(&self, when: &str) {
        self.works(&["read", "a"], NEW, when);
        self.works(
            &["insert", "/memories/a", "0", "--text", "top"],
            "edited",
            when,
        );
        self.others_work(when);
    }

    fn nothing_works(&self, when: &str) {
        for args in [
            &["status"][..],
            &["log"],
            &["read", "a"],
            &["view", "/memories"],
            &["create", "/memories/c", "--text", "x"],
        ] {
            self.is_damaged(args, when);
            let complaint = self.run(args, when).2;
            assert!(
                complaint.contains("hint: "),
                "{when}: {args:?}: {complaint}"
            );
        }
    }

    /// The one command that shows whether the damage was noticed.
    fn probe(&self, role: &str, when: &str) {
        match role {
            "text" | "folder" => self.is_damaged(&["read", "a"], when),
            "old text" | "old folder" => self.works(&["read", "a"], NEW, when),
            "old commit" => self.is_damaged(&["log"], when),
            "old tree" => {
                fs::remove_file(self.home.store().join("catalog")).expect("there");
                self.is_damaged(&["status"], when);
            }
            _ => self.is_damaged(&["status"], when),
        }
    }

    fn check(&self, role: &str, when: &str) {
        match role {
            "text" => {
                for args in [
                    &["read", "a"][..],
                    &["view", "/memories/a"],
                    &["str-replace", "/memories/a", "--old", "two", "--new", "x"],
                    &["insert", "/memories/a", "0", "--text", "x"],
                    &["rename", "/memories/a", "/memories/z"],
                ] {
                    self.is_damaged(args, when);
                }
                self.others_work(when);
                self.works(&["log", "-n", "2"], "", when);
                self.works(&["delete", "/memories/a"], "deleted", when);
            }
            "folder" => {
                self.is_damaged(&["read", "a"], when);
                self.is_damaged(&["insert", "/memories/a", "0", "--text", "x"], when);
                self.is_damaged(&["delete", "/memories/a"], when);
                self.others_work(when);
                self.works(&["log", "-n", "2"], "", when);
            }
            "old text" | "old folder" => {
                self.everything_works(when);
                self.works(&["log", "-n", "2"], "", when);
            }
            "old tree" => {
                self.everything_works(when);
                self.works(&["log", "-n", "2"], "", when);
                self.without_catalog_nothing_works(when);
            }
            "old commit" => {
                self.everything_works(when);
                self.is_damaged(&["log"], when);
                self.works(&["log", "-n", "1"], "view", when);
                self.without_catalog_nothing_works(when);
            }
            _ => self.nothing_works(when),
        }
    }

    fn without_catalog_nothing_works(&self, when: &str) {
        fs::remove_file(self.home.store().join("catalog")).expect("there");
        self.nothing_works(&format!("{when}, no catalog"));
    }

    /// The file of an object that would do in its place, were it not for its name.
    fn other_of_its_kind(&self, role: &str) -> Vec<u8> {
        let other = match role {
            "text" => "old text",
            "old text" => "text",
            "folder" => "old folder",
            "old folder" => "folder",
            "head" => "old commit",
            "old commit" => "head",
            "head tree" => "old tree",
            "old tree" => "head tree",
            "policy" => "signers",
            _ => "policy",
        };
        let other = self.objects.iter().find(|(role, _)| *role == other);
        fs::read(self.file(&other.expect("a role").1)).expect("there")
    }

    fn damages(&self, role: &str, id: &str) -> Vec<(&'static str, Option<Vec<u8>>)> {
        let file = fs::read(self.file(id)).expect("there");
        let half = file.len() / 2;
        let mut flipped = file.clone();
        flipped[half] ^= 0x20;
        let mut head = file.clone();
        head[2] ^= 0xff;
        vec![
            ("empty", Some(Vec::new())),
            ("one byte", Some(file[..1].to_vec())),
            ("half", Some(file[..half].to_vec())),
            ("but its last byte", Some(file[..file.len() - 1].to_vec())),
            ("flipped in the middle", Some(flipped)),
            ("changed at its start", Some(head)),
            ("zeros", Some(vec![0; file.len()])),
            ("with a tail", Some([&file[..], b"tail"].concat())),
            ("another object", Some(self.other_of_its_kind(role))),
            ("gone", None),
        ]
    }
}

#[test]
fn a_torn_object_stops_only_what_needs_it_and_nothing_hangs() {
    let torn = Torn::new();
    for (role, id) in &torn.objects {
        for (how, bytes) in torn.damages(role, id) {
            let file = torn.file(id);
            match bytes {
                Some(bytes) => overwrite(&file, &bytes),
                None => fs::remove_file(&file).expect("there"),
            }
            let when = format!("{role} {how}");
            if ["half", "gone"].contains(&how) {
                torn.check(role, &when);
            } else {
                torn.probe(role, &when);
            }
            put_back(&torn.whole, &torn.home);
        }
    }
}

#[test]
fn a_long_lived_process_goes_on_after_it_met_a_torn_object() {
    let torn = Torn::new();
    for (role, id) in &torn.objects[..3] {
        overwrite(&torn.file(id), b"");
        let call = |command: &str, path: &str| {
            json!({"command": command, "path": path, "file_text": "x", "insert_line": 0,
                "insert_text": "x"})
        };
        let calls = [
            call("insert", "/memories/a"),
            call("delete", "/memories/a"),
            call("view", "/memories/b"),
            call("insert", "/memories/b"),
            call("view", "/memories/b"),
        ];
        let run = torn.home.run_with_input(&["tool"], &lines(&calls));
        assert!(
            !stderr(&run).contains("panicked"),
            "{role}: {}",
            stderr(&run)
        );
        let answers = json_lines(&run.stdout);
        assert_eq!(answers.len(), calls.len(), "{role}: {answers:?}");
        for answer in &answers[2..] {
            assert_eq!(answer["is_error"], false, "{role}: {answer}");
        }
        torn.works(&["read", "b"], &format!("x\n{OTHER}"), role);
        put_back(&torn.whole, &torn.home);
    }
}

// A clock that goes back.

#[test]
fn a_clock_that_goes_back_is_recorded_and_stops_nothing() {
    let home = Home::with_store();
    let at = |now: &str, args: &[&str]| {
        let done = home.run(&[&["--now", now][..], args].concat());
        assert!(done.status.success(), "{args:?}: {}", stderr(&done));
        stdout(&done)
    };
    at(
        "2126-05-01T12:00:00Z",
        &["create", "/memories/a", "--text", "one\n"],
    );
    at(
        "2126-05-01T11:59:58.500Z",
        &["insert", "/memories/a", "1", "--text", "two"],
    );
    at("2026-05-01T12:00:00Z", &["view", "/memories/a"]);
    at("2026-05-01T12:00:01Z", &["read", "a"]);
    let log = json_lines(at("2026-05-01T12:00:02Z", &["log", "--json"]).as_bytes());
    let behind = |event: usize| &log[log.len() - 1 - event]["clock_behind_ms"];
    let century = chrono::TimeDelta::days(36_524).num_milliseconds() - 1_500;
    assert_eq!(*behind(1), Value::Null);
    assert_eq!(*behind(2), 1_500);
    assert_eq!(*behind(3), century);
    assert_eq!(*behind(4), Value::Null);
    let status = at("2020-01-01T00:00:00Z", &["status"]);
    assert!(status.contains("in the future"), "{status}");
    check_git(&home, "after the clock went back");
}
