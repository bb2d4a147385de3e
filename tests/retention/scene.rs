//! A store whose clock the test moves, and the people who use it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use agekeep::crypto::keyfile;
use agekeep::store::{Identity, Keys, SigningKey, Store};
use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use serde_json::Value;

use crate::support::forge::private;
use crate::support::{Home, complaints, feed, json_lines, stderr, stdout};

/// The first time there is.
pub(crate) const BEGIN: &str = "2026-01-01T00:00:00Z";

/// So many minutes after the beginning.
pub(crate) fn minute(minutes: i64) -> String {
    let begin: DateTime<Utc> = BEGIN.parse().expect("a time");
    let time = begin + TimeDelta::minutes(minutes);
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// So many days after the beginning.
pub(crate) fn day(days: i64) -> String {
    minute(days * 24 * 60)
}

/// A store, and everybody's keys in one home folder. Its owner is `owner`.
pub(crate) struct Scene {
    pub(crate) home: Home,
}

impl Scene {
    /// A store that begins with this policy.
    pub(crate) fn new(policy: &str) -> Self {
        let scene = Self {
            home: Home::empty(),
        };
        let file = scene.policy_file(policy);
        scene.done(BEGIN, &["init", "--trial", "--policy", &file]);
        scene
    }

    fn policy_file(&self, policy: &str) -> String {
        let file = self.home.path().join("policy.toml");
        fs::write(&file, policy).expect("written");
        text(&file)
    }

    /// Puts another policy in place.
    pub(crate) fn policy(&self, now: &str, policy: &str) {
        let file = self.policy_file(policy);
        self.done(now, &["policy", "set", "--policy", &file]);
    }

    /// A file of somebody's.
    fn own(&self, who: &str, name: &str) -> PathBuf {
        self.home.path().join(format!("{who}-{name}"))
    }

    /// The binary, run by somebody at a time. What each has seen of the store is their own.
    pub(crate) fn command_as(&self, who: &str, now: &str, args: &[&str]) -> Command {
        let mut all = vec!["--now", now];
        all.extend(args);
        let mut command = self.home.command(&all);
        if who != "owner" {
            command.env("AGEKEEP_IDENTITY", self.own(who, "identity"));
            command.env("AGEKEEP_SIGNING_KEY", self.own(who, "signing"));
            command.env("XDG_STATE_HOME", self.own(who, "state"));
            command.env("USER", who);
        }
        command
    }

    pub(crate) fn run_as(&self, who: &str, now: &str, args: &[&str]) -> Output {
        feed(self.command_as(who, now, args), b"")
    }

    pub(crate) fn run(&self, now: &str, args: &[&str]) -> Output {
        self.run_as("owner", now, args)
    }

    /// What a command prints that succeeds and has nothing to complain of.
    pub(crate) fn done_as(&self, who: &str, now: &str, args: &[&str]) -> String {
        let output = self.run_as(who, now, args);
        let said = stderr(&output);
        assert!(output.status.success(), "{who} {now} {args:?}: {said}");
        assert_eq!(complaints(&output), "", "{who} {now} {args:?}");
        stdout(&output)
    }

    pub(crate) fn done(&self, now: &str, args: &[&str]) -> String {
        self.done_as("owner", now, args)
    }

    /// The one object that a command prints with `--json`.
    pub(crate) fn json_as(&self, who: &str, now: &str, args: &[&str]) -> Value {
        let said = self.done_as(who, now, &[args, &["--json"]].concat());
        let mut lines = json_lines(said.as_bytes());
        assert_eq!(lines.len(), 1, "{args:?}: {said}");
        lines.remove(0)
    }

    pub(crate) fn json(&self, now: &str, args: &[&str]) -> Value {
        self.json_as("owner", now, args)
    }

    /// What a command says that ends with this code.
    pub(crate) fn fails_as(&self, who: &str, now: &str, code: i32, args: &[&str]) -> String {
        let output = self.run_as(who, now, args);
        let said = stdout(&output) + &stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{who} {args:?}: {said}");
        said
    }

    pub(crate) fn fails(&self, now: &str, code: i32, args: &[&str]) -> String {
        self.fails_as("owner", now, code, args)
    }

    /// What a command says that is refused and records nothing at all.
    pub(crate) fn refused(&self, now: &str, code: i32, args: &[&str]) -> String {
        let before = self.events();
        let said = self.fails(now, code, args);
        assert_eq!(self.events(), before, "{args:?} was recorded");
        said
    }

    pub(crate) fn create(&self, now: &str, path: &str, text: &str) {
        self.done(now, &["create", path, "--text", text]);
    }

    pub(crate) fn is_there(&self, now: &str, path: &str) -> bool {
        let list = self.done(now, &["read"]);
        let path = path.strip_prefix("/memories/").expect("a path");
        list.lines().any(|line| line == path)
    }

    /// The store, opened by somebody whose looks are not recorded.
    pub(crate) fn store(&self) -> Store {
        let keys = Keys {
            identity: keyfile::read_identity(&self.home.identity()).expect("an identity"),
            signing_key: None,
            state: None,
            keyring: None,
        };
        let opened = Store::open(&self.home.store(), keys, Box::new(chrono::Utc::now));
        opened.expect("opens")
    }

    /// The id of the memory that is at a path; looking it up is no access.
    pub(crate) fn id(&self, path: &str) -> String {
        let mut store = self.store();
        let path = store.parse_path(path).expect("a path");
        let fate = store.expiry_status(&path).expect("history is whole");
        fate.expect("something is there").id.to_string()
    }

    /// How many events there are, as stock git counts commits.
    pub(crate) fn events(&self) -> usize {
        let count = stdout(&self.home.git(&["rev-list", "--count", "main"]));
        count.trim().parse().expect("a number")
    }

    /// The newest events, newest first, as `log` tells them.
    pub(crate) fn log(&self, now: &str, count: usize) -> Vec<Value> {
        let said = self.done(now, &["log", "--json", "-n", &count.to_string()]);
        json_lines(said.as_bytes())
    }

    pub(crate) fn newest(&self, now: &str) -> Value {
        self.log(now, 1).remove(0)
    }

    /// Everything in order from the first event on, with nothing left out; receipts too.
    pub(crate) fn assert_verified(&self, when: &str) {
        let output = self.home.run(&["verify", "--full", "--json"]);
        let said = stdout(&output);
        assert!(output.status.success(), "{when}: {said}");
        assert!(said.contains("\"not_checked\":[]"), "{when}: {said}");
        let mut store = self.store();
        for event in store.receipts().expect("history is whole") {
            let checked = store.check_receipt(event, &mut |_, _| {});
            let checked = checked.expect("it can be checked");
            assert!(checked.holds(), "{when}: the receipt of event {event}");
        }
    }

    pub(crate) fn keyring(&self) -> PathBuf {
        self.home.store().join("keyring")
    }

    /// Puts a folder aside under a name.
    pub(crate) fn keep(&self, folder: &Path, name: &str) -> PathBuf {
        let aside = self.home.path().join(name);
        copy(folder, &aside);
        aside
    }

    /// Makes keys for somebody: an identity, and with `signs` a key to sign with.
    fn make_keys(&self, who: &str, signs: bool) -> String {
        let identity = Identity::generate();
        private(&self.own(who, "identity"), &identity.to_file());
        if signs {
            let key = SigningKey::generate();
            private(&self.own(who, "signing"), &key.to_file());
            let public = self.own(who, "signing.pub");
            fs::write(public, key.public_line() + "\n").expect("written");
        }
        identity.recipient().expect("X25519").to_string()
    }

    /// Lets somebody in, as `reader` or `auditor`; with `signs` they may write too, or sweep.
    pub(crate) fn let_in(&self, now: &str, who: &str, role: &str, signs: bool) {
        let recipient = self.make_keys(who, signs);
        self.done(now, &["recipients", "add", who, &recipient, "--role", role]);
        if signs {
            let public = text(&self.own(who, "signing.pub"));
            let role = if role == "auditor" {
                "sweeper"
            } else {
                "writer"
            };
            let added = self.run(now, &["signers", "add", who, &public, "--role", role]);
            assert!(added.status.success(), "{}", stderr(&added));
        }
    }
}

pub(crate) fn text(path: &Path) -> String {
    path.to_str().expect("UTF-8").to_owned()
}

/// Copies a folder, whatever was there before.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::remove_dir_all(to).ok();
    let copied = Command::new("cp").arg("-a").arg(from).arg(to).status();
    assert!(copied.expect("cp runs").success());
}

pub(crate) fn list(value: &Value) -> &[Value] {
    let found = value.as_array().map(Vec::as_slice);
    found.unwrap_or_else(|| panic!("no list: {value}"))
}

/// Every piece is in the text.
#[track_caller]
pub(crate) fn has(text: &str, pieces: &[&str]) {
    for piece in pieces {
        assert!(text.contains(piece), "no {piece:?} in:\n{text}");
    }
}
