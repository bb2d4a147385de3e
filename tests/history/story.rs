//! A store with a history that is told call by call, each with its session, and what it holds then.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::process::Output;

use agekeep::crypto::keyfile;
use agekeep::diff::TextDiff;
use agekeep::event::Context;
use agekeep::store::revision::Revision;
use agekeep::store::{Keys, Store};
use serde_json::{Value, json};

use crate::support::{Home, complaints, feed, json_lines, stderr, stdout};

/// A store, and the time there: a minute later for each process.
pub(crate) struct Story {
    pub(crate) home: Home,
    minutes: Cell<u32>,
}

/// Texts by path.
pub(crate) type State = BTreeMap<String, String>;

impl Story {
    /// A store that began on 1 November 2026 at nine o'clock.
    pub(crate) fn new() -> Self {
        let story = Self {
            home: Home::empty(),
            minutes: Cell::new(0),
        };
        story.ok(&["init", "--trial"]);
        story
    }

    /// The next minute.
    pub(crate) fn now(&self) -> String {
        let minutes = self.minutes.get();
        self.minutes.set(minutes + 1);
        format!("2026-11-01T{:02}:{:02}:00Z", 9 + minutes / 60, minutes % 60)
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.run_at(&self.now(), args)
    }

    pub(crate) fn run_at(&self, now: &str, args: &[&str]) -> Output {
        let mut all = args.to_vec();
        all.extend(["--now", now]);
        self.home.run(&all)
    }

    /// What a command prints that succeeds and has nothing to complain of.
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        assert_eq!(complaints(&output), "", "{args:?}");
        stdout(&output)
    }

    /// What a command says that ends with this code and prints nothing.
    pub(crate) fn fails(&self, code: i32, args: &[&str]) -> String {
        let output = self.run(args);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        assert_eq!(stdout(&output), "", "{args:?}");
        said
    }

    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let objects = self.objects(args);
        assert_eq!(objects.len(), 1, "{args:?}");
        objects.into_iter().next().expect("counted")
    }

    pub(crate) fn objects(&self, args: &[&str]) -> Vec<Value> {
        let mut all = args.to_vec();
        all.push("--json");
        json_lines(self.ok(&all).as_bytes())
    }

    /// Has sessions call the memory tool, one after the other, in one process; answers the number
    /// of the last event. The actor of session `A` is `agent-A`.
    pub(crate) fn told(&self, calls: &[(&str, Value)]) -> u64 {
        let now = self.now();
        let lines: Vec<String> = calls.iter().map(envelope).collect();
        let output = feed(
            self.home.command(&["tool", "--now", &now]),
            lines.join("").as_bytes(),
        );
        assert!(output.status.success(), "{}", stderr(&output));
        let answers = json_lines(&output.stdout);
        assert_eq!(answers.len(), calls.len());
        for (answer, call) in answers.iter().zip(calls) {
            assert_eq!(answer["is_error"], false, "{call:?}: {answer}");
        }
        let last = answers.last().expect("at least one call");
        last["meta"]["event"].as_u64().expect("a number")
    }

    /// The store, opened by somebody whose looks are not recorded.
    pub(crate) fn store(&self) -> Store {
        let identity = keyfile::read_identity(&self.home.identity()).expect("an identity");
        let keys = Keys {
            identity,
            signing_key: None,
            state: None,
            keyring: None,
        };
        let opened = Store::open(&self.home.store(), keys, Box::new(chrono::Utc::now));
        opened.expect("opens")
    }

    /// What there is now, read without a trace.
    pub(crate) fn state(&self) -> State {
        let mut store = self.store();
        let newest = newest(&mut store);
        state_at(&mut store, newest)
    }

    /// What there was after an event.
    pub(crate) fn state_at(&self, event: u64) -> State {
        state_at(&mut self.store(), event)
    }

    /// The number of the newest event.
    pub(crate) fn newest(&self) -> u64 {
        newest(&mut self.store())
    }

    /// The commits of all events, oldest first, as stock git has them.
    pub(crate) fn commits(&self) -> Vec<String> {
        let listed = self.home.git(&["log", "--format=%H", "--reverse", "main"]);
        stdout(&listed).lines().map(str::to_owned).collect()
    }
}

fn envelope((session, input): &(&str, Value)) -> String {
    let context = json!({"actor": format!("agent-{session}"), "session": session});
    format!("{}\n", json!({"id": 1, "input": input, "context": context}))
}

pub(crate) fn newest(store: &mut Store) -> u64 {
    store.moment(&Revision::head()).expect("a moment").event
}

/// Every text after an event: all that differs from the empty store.
pub(crate) fn state_at(store: &mut Store, event: u64) -> State {
    let (begin, at) = (Revision::event(0), Revision::event(event));
    let looked = store.diff(Some(&begin), Some(&at), None, &Context::default());
    let changes = looked.expect("a difference").found.changes;
    let mut state = State::new();
    for changed in changes {
        assert!(changed.problem.is_none(), "{:?}", changed.problem);
        let path = changed.after.and_then(|side| side.path).expect("a path");
        // From nothing, the difference is the text.
        let hunks = changed.diff.iter().flat_map(TextDiff::hunks);
        let mut text = String::new();
        for line in hunks.flat_map(|hunk| &hunk.lines) {
            text.push_str(line.text.as_str());
            text.push_str(if line.unterminated { "" } else { "\n" });
        }
        state.insert(path.as_str().to_owned(), text);
    }
    state
}

/// A state as tests write it: names below `/memories`, and texts.
pub(crate) fn state(files: &[(&str, &str)]) -> State {
    let files = files.iter();
    files
        .map(|(name, text)| (at(name), (*text).to_owned()))
        .collect()
}

pub(crate) fn at(name: &str) -> String {
    format!("/memories/{name}")
}

pub(crate) fn create(name: &str, text: &str) -> Value {
    json!({"command": "create", "path": at(name), "file_text": text})
}

pub(crate) fn replace(name: &str, old: &str, new: &str) -> Value {
    json!({"command": "str_replace", "path": at(name), "old_str": old, "new_str": new})
}

pub(crate) fn insert(name: &str, line: u64, text: &str) -> Value {
    json!({"command": "insert", "path": at(name), "insert_line": line, "insert_text": text})
}

pub(crate) fn delete(name: &str) -> Value {
    json!({"command": "delete", "path": at(name)})
}

pub(crate) fn rename(from: &str, to: &str) -> Value {
    json!({"command": "rename", "old_path": at(from), "new_path": at(to)})
}

pub(crate) fn view(name: &str) -> Value {
    json!({"command": "view", "path": at(name)})
}

/// Every field with its place, for messages that name what is missing.
#[track_caller]
pub(crate) fn has(text: &str, pieces: &[&str]) {
    for piece in pieces {
        assert!(text.contains(piece), "no {piece:?} in:\n{text}");
    }
}
