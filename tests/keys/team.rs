//! A store, and people with identities of their own who share it.

use std::path::PathBuf;
use std::process::Output;

use agekeep::store::Identity;
use serde_json::Value;

use crate::support::forge::private;
use crate::support::{Home, feed, json_lines, stderr, stdout};

pub(crate) struct Team {
    pub(crate) home: Home,
}

impl Team {
    /// A store whose owner is alone.
    pub(crate) fn new() -> Self {
        Self {
            home: Home::with_store(),
        }
    }

    /// The same in a store for trials, where times can be made up.
    pub(crate) fn trial() -> Self {
        Self {
            home: Home::empty().made_by(&["init", "--trial", "--now", "2031-01-01T00:00:00Z"]),
        }
    }

    /// The identity file of a person, made when first asked for.
    pub(crate) fn identity(&self, name: &str) -> PathBuf {
        if name == "owner" {
            return self.home.identity();
        }
        let path = self.home.path().join(format!("{name}.txt"));
        if !path.exists() {
            private(&path, &Identity::generate().to_file());
        }
        path
    }

    /// Their public key.
    pub(crate) fn recipient(&self, name: &str) -> String {
        let text = std::fs::read_to_string(self.identity(name)).expect("there");
        let identity = Identity::parse(&text).expect("an identity");
        identity.recipient().expect("X25519").to_string()
    }

    pub(crate) fn run_as(&self, name: &str, args: &[&str]) -> Output {
        let identity = self.identity(name);
        let mut all = vec!["-i", identity.to_str().expect("UTF-8")];
        all.extend(args);
        self.home.run(&all)
    }

    /// As the owner, with the plugin for tests at hand.
    pub(crate) fn run_with_plugins(&self, args: &[&str]) -> Output {
        let mut command = self.home.command(args);
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/plugin:/usr/bin:/bin");
        command.env("PATH", path);
        feed(command, b"")
    }

    /// What a command prints that succeeds.
    pub(crate) fn ok_as(&self, name: &str, args: &[&str]) -> String {
        let output = self.run_as(name, args);
        let said = stderr(&output);
        assert!(output.status.success(), "{name} {args:?}: {said}");
        assert_eq!(said, "", "{name} {args:?}");
        stdout(&output)
    }

    pub(crate) fn ok(&self, args: &[&str]) -> String {
        self.ok_as("owner", args)
    }

    /// What a command says that fails like this and prints nothing.
    pub(crate) fn fails_as(&self, name: &str, code: i32, args: &[&str]) -> String {
        let output = self.run_as(name, args);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{name} {args:?}: {said}");
        assert_eq!(stdout(&output), "", "{name} {args:?}");
        said
    }

    pub(crate) fn fails(&self, code: i32, args: &[&str]) -> String {
        self.fails_as("owner", code, args)
    }

    pub(crate) fn create(&self, name: &str, text: &str) {
        self.ok(&["create", &format!("/memories/{name}"), "--text", text]);
    }

    pub(crate) fn add(&self, name: &str, role: &str) {
        self.ok(&[
            "recipients",
            "add",
            name,
            &self.recipient(name),
            "--role",
            role,
        ]);
    }

    /// Names, with their roles, of everybody in the `recipients` file.
    pub(crate) fn members(&self) -> Vec<(String, String)> {
        let listed = json_lines(self.ok(&["recipients", "list", "--json"]).as_bytes());
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        listed
            .iter()
            .map(|member| (text(&member["name"]), text(&member["role"])))
            .collect()
    }

    pub(crate) fn newest(&self) -> Value {
        let listed = self.ok(&["log", "-n", "1", "--json"]);
        json_lines(listed.as_bytes()).remove(0)
    }

    /// Everything in order, nothing left out, and as much as `--full` checks.
    pub(crate) fn assert_verified(&self, when: &str) {
        for args in [&["verify", "--json"][..], &["verify", "--full", "--json"]] {
            let output = self.run_as("owner", args);
            let said = stdout(&output);
            assert!(output.status.success(), "{when}: {said}");
            assert!(said.contains("\"not_checked\":[]"), "{when}: {said}");
        }
    }
}
