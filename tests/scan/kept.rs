//! A store that kept whatever it was given, and whose policy is another since; what a scan of it
//! says.

use std::fs;
use std::path::PathBuf;
use std::process::Output;

use agekeep::crypto::keyfile;
use agekeep::store::{Keys, Store};
use serde_json::{Value, json};

use crate::redaction::canary::canaries;
use crate::support::{Home, complaints, json_lines, stderr, stdout};

/// A policy under which everything is kept as it is given.
pub(crate) const OFF: &str = "[redaction]\nmode = \"off\"\n";

/// A rule that a store can get later than what it finds; no built-in one finds it.
pub(crate) const BADGES: &str = "[[redaction.rules]]\nkind = \"acme-badge\"\nwhat = \"badge\"\n\
                                 shape = \"ACME-[0-9]{6}\"\nliterals = [\"ACME-\"]\n";

pub(crate) struct Kept {
    pub(crate) home: Home,
}

/// A token of GitHub's.
pub(crate) fn token() -> String {
    canaries().swap_remove(0).text
}

/// A line with a password.
pub(crate) fn password() -> String {
    format!("password: {}", canaries().swap_remove(1).value)
}

impl Kept {
    /// A store that was given these calls by an agent, one event each, the first being event 1.
    pub(crate) fn given(calls: &[Value]) -> Self {
        let home = Home::empty();
        fs::write(home.path().join("policy.toml"), OFF).expect("a policy file");
        let made = home.run(&["init", "--trial", "--policy", "policy.toml"]);
        assert!(made.status.success(), "{}", stderr(&made));
        let kept = Self { home };
        kept.tell(calls);
        kept
    }

    pub(crate) fn tell(&self, calls: &[Value]) {
        let lines: String = calls.iter().map(|call| format!("{call}\n")).collect();
        let answers = self.home.tool(&lines);
        assert_eq!(answers.len(), calls.len());
        for (answer, call) in answers.iter().zip(calls) {
            assert_eq!(answer["is_error"], false, "{call}: {answer}");
        }
    }

    /// Puts another policy in place.
    pub(crate) fn policy(self, policy: &str) -> Self {
        fs::write(self.home.path().join("policy.toml"), policy).expect("a policy file");
        self.ok(&["policy", "set", "--policy", "policy.toml"]);
        self
    }

    /// What a command prints that succeeds and has nothing to complain of.
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        self.ends(0, args)
    }

    /// What a command prints that ends with this code and complains of nothing.
    #[track_caller]
    pub(crate) fn ends(&self, code: i32, args: &[&str]) -> String {
        let output = self.home.run(args);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        assert_eq!(complaints(&output), "", "{args:?}");
        stdout(&output)
    }

    /// What a command says that fails with this code and prints nothing.
    #[track_caller]
    pub(crate) fn fails(&self, code: i32, args: &[&str]) -> String {
        let output = self.home.run(args);
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        assert_eq!(stdout(&output), "", "{args:?}");
        stderr(&output)
    }

    /// A scan that ends with this code.
    #[track_caller]
    pub(crate) fn scan(&self, code: i32, args: &[&str]) -> Said {
        let all = [&["scan", "--json"], args].concat();
        Said::read(&self.home.run(&all), code)
    }

    /// The newest events, newest first.
    pub(crate) fn log(&self, count: &str) -> Vec<Value> {
        json_lines(self.ok(&["log", "--json", "-n", count]).as_bytes())
    }

    /// An event by its number.
    fn event(&self, number: u64) -> Value {
        let mut log = self.log("9999").into_iter();
        let event = log.find(|event| event["event"] == number);
        event.expect("an event")
    }

    /// The id of the memory that an event is about.
    pub(crate) fn id_at(&self, event: u64) -> String {
        let id = &self.event(event)["memories"][0]["memory"];
        id.as_str().expect("an id").to_owned()
    }

    /// The store opened in this process.
    pub(crate) fn open(&self) -> Store {
        let keys = Keys {
            identity: keyfile::read_identity(&self.home.identity()).expect("an identity"),
            signing_key: Some(keyfile::read_signing_key(&self.home.signing_key()).expect("a key")),
            state: None,
            keyring: None,
        };
        Store::open(&self.home.store(), keys, Box::new(chrono::Utc::now)).expect("opens")
    }

    /// The file of the blob that an event wrote.
    pub(crate) fn blob_of(&self, event: u64) -> PathBuf {
        let blob = self.event(event)["memories"][0]["blob"].clone();
        let blob = blob.as_str().expect("a blob");
        let objects = self.home.store().join("objects");
        objects.join(&blob[..2]).join(&blob[2..])
    }
}

/// What a scan says with `--json`.
pub(crate) struct Said {
    pub(crate) findings: Vec<Value>,
    pub(crate) problems: Vec<Value>,
    pub(crate) summary: Value,
}

/// A finding as the tests write it: kind, path, line (0 is the path), version, event, and whether
/// it is there now.
pub(crate) type Row = (String, String, u64, u64, u64, bool);

pub(crate) fn row(kind: &str, name: &str, line: u64, at: (u64, u64), present: bool) -> Row {
    let path = format!("/memories/{name}");
    (kind.to_owned(), path, line, at.0, at.1, present)
}

impl Said {
    #[track_caller]
    pub(crate) fn read(output: &Output, code: i32) -> Self {
        let said = stderr(output);
        assert_eq!(output.status.code(), Some(code), "{said}{}", stdout(output));
        assert_eq!(said, "");
        let mut objects = json_lines(&output.stdout);
        let summary = objects.pop().expect("a summary");
        assert_eq!(summary["schema"], "agekeep.scan/1");
        let is = |object: &Value, schema: &str| object["schema"] == schema;
        let (findings, problems): (Vec<Value>, Vec<Value>) = objects
            .into_iter()
            .partition(|object| is(object, "agekeep.scan_finding/1"));
        assert!(problems.iter().all(|p| is(p, "agekeep.scan_problem/1")));
        assert_eq!(summary["findings"], findings.len());
        assert_eq!(summary["ok"], code == 0);
        Self {
            findings,
            problems,
            summary,
        }
    }

    pub(crate) fn rows(&self) -> Vec<Row> {
        let number = |value: &Value| value.as_u64().unwrap_or_default();
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let row = |found: &Value| {
            let place = if found["line"].is_null() {
                "path"
            } else {
                "text"
            };
            assert_eq!(found["in"], place, "{found}");
            (
                text(&found["kind"]),
                text(&found["path"]),
                number(&found["line"]),
                number(&found["version"]),
                number(&found["event"]),
                found["present"].as_bool().expect("a truth"),
            )
        };
        self.findings.iter().map(row).collect()
    }
}

pub(crate) fn create(name: &str, text: &str) -> Value {
    json!({"command": "create", "path": format!("/memories/{name}"), "file_text": text})
}

pub(crate) fn replace(name: &str, old: &str, new: &str) -> Value {
    let path = format!("/memories/{name}");
    json!({"command": "str_replace", "path": path, "old_str": old, "new_str": new})
}

pub(crate) fn insert(name: &str, line: u64, text: &str) -> Value {
    let path = format!("/memories/{name}");
    json!({"command": "insert", "path": path, "insert_line": line, "insert_text": text})
}

pub(crate) fn delete(name: &str) -> Value {
    json!({"command": "delete", "path": format!("/memories/{name}")})
}

pub(crate) fn rename(from: &str, to: &str) -> Value {
    let (from, to) = (format!("/memories/{from}"), format!("/memories/{to}"));
    json!({"command": "rename", "old_path": from, "new_path": to})
}
