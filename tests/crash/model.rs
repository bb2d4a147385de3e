//! What a store must hold after a stop, and how to look.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agekeep::Digest;
use agekeep::crypto::keyfile;
use agekeep::event::Context;
use agekeep::memory_tool::command::Command;
use agekeep::store::{Keys, Status, Store};
use serde_json::{Value, json};
use sha2::Digest as _;

use crate::support::{Home, json_lines, settle, stderr, stdout};

/// Every test below is decided by this number, except for the moments at which processes die.
pub(crate) const SEED: u64 = 20_260_728;
pub(crate) const KILL_ROUNDS: usize = 200;
pub(crate) const CHECK_EVERY: usize = 20;
/// Opening a record is slow without optimization: so many are read at a time.
pub(crate) const LOG_EVENTS: u64 = 15;
pub(crate) const POWER_ROUNDS: usize = 25;
pub(crate) const APPLY_ROUNDS: usize = 20;
/// Longer than any command takes on a busy machine, shorter than a person waits for a hang.
pub(crate) const HANG: Duration = Duration::from_secs(30);

pub(crate) const JOURNAL_HEADER_BYTES: usize = 128;
pub(crate) const RECORD_HEADER_BYTES: usize = 36;
/// A command that finds a longer journal makes a checkpoint first.
pub(crate) const CHECKPOINT_BYTES: usize = 2 * 1024 * 1024;

/// Numbers that are the same on every run (splitmix64).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((z ^ (z >> 31)) % below as u64).expect("below a usize")
    }

    pub(crate) fn micros(&mut self, below: usize) -> Duration {
        Duration::from_micros(self.roll(below) as u64)
    }
}

pub(crate) const PATHS: [&str; 5] = [
    "/memories/a.md",
    "/memories/b.md",
    "/memories/d/a.md",
    "/memories/d/b.md",
    "/memories/e/a.md",
];

/// What a store must hold after the commands so far.
#[derive(Clone)]
pub(crate) struct Model {
    pub(crate) texts: BTreeMap<String, String>,
    pub(crate) events: u64,
    pub(crate) made: usize,
}

/// What a command must answer.
pub(crate) struct Want {
    pub(crate) content: Option<String>,
    pub(crate) is_error: bool,
    pub(crate) text: Option<String>,
}

impl Want {
    pub(crate) fn ok(content: String, text: Option<&String>) -> Self {
        Self {
            content: Some(content),
            is_error: false,
            text: text.cloned(),
        }
    }

    pub(crate) fn error(content: String) -> Self {
        Self {
            content: Some(content),
            is_error: true,
            text: None,
        }
    }

    pub(crate) fn check(&self, answer: &Value, call: &Value) {
        let shown = call.to_string().chars().take(300).collect::<String>();
        assert_eq!(answer["is_error"], self.is_error, "{shown} → {answer}");
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
    pub(crate) fn new() -> Self {
        Self {
            texts: BTreeMap::new(),
            events: 1,
            made: 0,
        }
    }

    /// The next command, whose result is known.
    pub(crate) fn next_call(&mut self, dice: &mut Dice) -> Value {
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

    pub(crate) fn next_calls(
        &mut self,
        dice: &mut Dice,
        count: usize,
    ) -> (Vec<Value>, Vec<Want>, Vec<Self>) {
        let (mut calls, mut wants, mut after) = (Vec::new(), Vec::new(), vec![self.clone()]);
        for _ in 0..count {
            let call = self.next_call(dice);
            wants.push(self.carry_out(&call));
            calls.push(call);
            after.push(self.clone());
        }
        (calls, wants, after)
    }

    pub(crate) fn carry_out(&mut self, call: &Value) -> Want {
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
    pub(crate) fn answer(&mut self, home: &Home, call: &Value) {
        let answers = home.tool(&lines(std::slice::from_ref(call)));
        self.carry_out(call).check(&answers[0], call);
    }

    pub(crate) fn create(&mut self, path: &str, text: String) -> Want {
        if self.texts.contains_key(path) {
            return Want::error(format!("Error: File {path} already exists"));
        }
        let done = Want::ok(format!("File created successfully at: {path}"), Some(&text));
        self.texts.insert(path.to_owned(), text);
        done
    }

    pub(crate) fn str_replace(&mut self, path: &str, old: &str, new: &str) -> Want {
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

    pub(crate) fn insert(&mut self, path: &str, line: &str) -> Want {
        let Some(text) = self.texts.get_mut(path) else {
            return Want::error(format!("Error: The path {path} does not exist"));
        };
        let (first, rest) = text.split_once('\n').expect("every text has a line");
        *text = format!("{first}\n{line}\n{rest}");
        Want::ok(format!("The file {path} has been edited."), Some(text))
    }

    pub(crate) fn view(&self, path: &str) -> Want {
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

    pub(crate) fn rename(&mut self, from: &str, to: &str) -> Want {
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
    pub(crate) fn check(&mut self, home: &Home, when: &str) {
        let mut store = open(home, when);
        self.check_numbers(&store.status().expect("counts"), when);
        self.check_open(&mut store, when);
    }

    /// Compares the numbers, which is no event.
    pub(crate) fn check_numbers(&self, status: &Status, when: &str) {
        assert_eq!(status.events, self.events, "{when}: events");
        assert_eq!(status.memories, self.texts.len(), "{when}: memories");
        let bytes: usize = self.texts.values().map(String::len).sum();
        assert_eq!(status.text_bytes, bytes as u64, "{when}: bytes");
    }

    pub(crate) fn check_open(&mut self, store: &mut Store, when: &str) {
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

pub(crate) fn open(home: &Home, when: &str) -> Store {
    let keys = Keys {
        identity: keyfile::read_identity(&home.identity()).expect("made by init"),
        signing_key: Some(keyfile::read_signing_key(&home.signing_key()).expect("made by init")),
        state: Some(home.state()),
        keyring: None,
    };
    Store::open(&home.store(), keys, Box::new(chrono::Utc::now))
        .unwrap_or_else(|error| panic!("{when}: the store does not open: {error}"))
}

pub(crate) fn read(store: &mut Store, path: Option<&str>, when: &str) -> String {
    let command = Command::Read {
        path: path.map(str::to_owned),
    };
    let answer = store
        .execute(&command, &Context::default())
        .unwrap_or_else(|error| panic!("{when}: {path:?}: {error}"));
    assert!(!answer.is_error(), "{when}: {}", answer.content.as_str());
    answer.content.as_str().to_owned()
}

pub(crate) fn lines(calls: &[Value]) -> String {
    calls.iter().map(|call| format!("{call}\n")).collect()
}

/// Stock git finds nothing wrong and nothing left over.
pub(crate) fn check_git(home: &Home, when: &str) {
    settle(&home.store());
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
pub(crate) fn check_log(home: &Home, events: u64, when: &str) {
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

pub(crate) fn copy_folder(from: &Path, to: &Path) {
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
    // As private as it was; last, because a folder need not be open to its owner for writing.
    let mode = fs::metadata(from).expect("there").permissions();
    fs::set_permissions(to, mode).expect("sets the mode");
}

/// Puts the store back as it was when it was kept, and what was seen of it until then: this is no
/// rollback, but another try from the same moment.
pub(crate) fn put_back(from: &Path, home: &Home) {
    for (kept, place) in [(from, home.store()), (&seen_until(from), home.state())] {
        fs::remove_dir_all(&place).expect("there");
        copy_folder(kept, &place);
    }
}

/// Keeps a copy of the store in the home folder, and of what was seen of it.
pub(crate) fn keep(home: &Home, name: &str) -> PathBuf {
    let copy = home.path().join(name);
    copy_folder(&home.store(), &copy);
    copy_folder(&home.state(), &seen_until(&copy));
    copy
}

fn seen_until(copy: &Path) -> PathBuf {
    copy.with_extension("state")
}

// Killed processes.

/// Makes the journal look like one of an earlier boot.
pub(crate) fn of_another_boot(home: &Home) {
    let path = home.store().join("journal");
    let mut bytes = fs::read(&path).expect("reads");
    bytes[52..88].copy_from_slice(b"00000000-dead-4bee-8000-000000000000");
    let sum = sha2::Sha256::digest(&bytes[..96]);
    bytes[96..JOURNAL_HEADER_BYTES].copy_from_slice(&sum);
    fs::write(&path, bytes).expect("writes");
}

/// Makes everything durable and starts a new journal, as opening after a power loss does.
pub(crate) fn checkpoint(home: &Home) {
    of_another_boot(home);
    drop(open(home, "for a checkpoint"));
    assert!(record_ends(home).is_empty(), "there was a checkpoint");
}

/// Calls that do not wait together: each has a record of its own.
pub(crate) fn spaced(calls: &[Value]) -> String {
    calls.iter().map(|call| format!("{call}\n\n")).collect()
}

pub(crate) fn answer_all(home: &Home, calls: &[Value], wants: &[Want]) {
    let answers = home.tool(&spaced(calls));
    assert_eq!(answers.len(), calls.len());
    for ((answer, want), call) in answers.iter().zip(wants).zip(calls) {
        want.check(answer, call);
    }
}

/// A store with some history, all of it durable, and an empty journal.
pub(crate) fn with_a_new_journal() -> (Home, Model) {
    let home = Home::with_store();
    let mut model = Model::new();
    let (calls, wants, _) = model.next_calls(&mut Dice(SEED), 12);
    answer_all(&home, &calls, &wants);
    checkpoint(&home);
    assert!(!model.texts.is_empty(), "the seed leaves memories");
    (home, model)
}

/// Where each record of the journal ends.
pub(crate) fn record_ends(home: &Home) -> Vec<usize> {
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

pub(crate) fn overwrite(path: &Path, bytes: &[u8]) {
    fs::remove_file(path).expect("there"); // object files are read-only
    fs::write(path, bytes).expect("writes");
}
