//! A store whose owner lets others write, with keys that stock ssh-keygen made.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::{Home, has_peer, json_lines, settle, stderr, stdout};

pub(crate) const NIGHT: &str = "2025-12-31T07:00:00Z";
pub(crate) const MORNING: &str = "2025-12-31T08:00:00Z";
pub(crate) const NOON: &str = "2025-12-31T12:00:00Z";
pub(crate) const EVENING: &str = "2025-12-31T18:00:00Z";

pub(crate) struct Team {
    pub(crate) home: Home,
}

impl Team {
    /// A store with one memory, made at night; `None`, and said loudly, without ssh-keygen.
    pub(crate) fn new() -> Option<Self> {
        if !has_peer("ssh-keygen", "keys of signers") || !has_peer("git", "signers and git") {
            return None;
        }
        let team = Self {
            home: Home::empty(),
        };
        team.done(NIGHT, &["init", "--trial"]);
        team.done(NIGHT, &["create", "/memories/a.md", "--text", "squirrel\n"]);
        Some(team)
    }

    /// The command at a time.
    pub(crate) fn command(&self, now: &str, args: &[&str]) -> Command {
        self.home.command(&[&["--now", now], args].concat())
    }

    pub(crate) fn run(&self, now: &str, args: &[&str]) -> Output {
        self.home.run(&[&["--now", now], args].concat())
    }

    pub(crate) fn done(&self, now: &str, args: &[&str]) -> String {
        let output = self.run(now, args);
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        stdout(&output)
    }

    /// Runs a command that is refused with this exit code and error, records nothing, and does not
    /// change the file `signers`; answers what it said.
    pub(crate) fn refused(&self, now: &str, args: &[&str], exit: i32, code: &str) -> String {
        let before = (self.events(), self.signers());
        let output = self.run(now, &[&["--json"], args].concat());
        let said = stdout(&output) + &stderr(&output);
        assert_eq!(output.status.code(), Some(exit), "{args:?}: {said}");
        assert!(
            said.contains(&format!("\"code\":\"{code}\"")),
            "{args:?}: {said}"
        );
        assert_eq!((self.events(), self.signers()), before, "{args:?}");
        said
    }

    /// A path in the home folder, as text.
    pub(crate) fn path(&self, name: &str) -> String {
        let path = self.home.path().join(name);
        path.to_str().expect("UTF-8").to_owned()
    }

    /// Makes a key with ssh-keygen; the path of the private half.
    pub(crate) fn keygen(&self, name: &str, args: &[&str]) -> String {
        let path = self.path(name);
        let mut keygen = Command::new("ssh-keygen");
        keygen.args(["-q", "-C", "made for a test", "-f", &path]);
        let defaults: &[&str] = if args.contains(&"-t") {
            &[]
        } else {
            &["-t", "ed25519"]
        };
        let passphrase: &[&str] = if args.contains(&"-N") {
            &[]
        } else {
            &["-N", ""]
        };
        let made = keygen.args([args, defaults, passphrase].concat()).output();
        let made = made.expect("ssh-keygen runs");
        assert!(made.status.success(), "{}", stderr(&made));
        path
    }

    /// The public line of a key, as ssh-keygen wrote it.
    pub(crate) fn public(&self, name: &str) -> String {
        let path = self.path(&format!("{name}.pub"));
        let text = fs::read_to_string(path).expect("made by ssh-keygen");
        text.trim_end().to_owned()
    }

    /// Makes a key and lets its holder write from then on; the path of the private half.
    pub(crate) fn let_in(&self, name: &str, args: &[&str]) -> String {
        let key = self.keygen(name, &[]);
        let public = format!("{key}.pub");
        self.done(NIGHT, &[&["signers", "add", name, &public], args].concat());
        key
    }

    /// The file `signers` of the newest commit, or of another.
    pub(crate) fn signers(&self) -> String {
        stdout(&self.home.git(&["show", "main:signers"]))
    }

    pub(crate) fn events(&self) -> usize {
        settle(&self.home.store());
        let count = stdout(&self.home.git(&["rev-list", "--count", "main"]));
        count.trim().parse().expect("a number")
    }

    /// The newest events, as `log` tells them.
    pub(crate) fn log(&self, count: &str) -> Vec<Value> {
        json_lines(
            self.done(EVENING, &["log", "--json", "-n", count])
                .as_bytes(),
        )
    }

    /// The ids of what a full verification finds.
    pub(crate) fn findings(&self) -> Vec<String> {
        let output = self.run(EVENING, &["verify", "--full", "--json"]);
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let found = report["findings"].as_array().expect("a list").iter();
        found
            .map(|found| found["id"].as_str().expect("an id").to_owned())
            .collect()
    }

    /// What stock git says of a commit's signature, going by the newest `signers`, in a time zone.
    pub(crate) fn git_verifies(&self, commit: &str, zone: &str) -> bool {
        let allowed = self.path("allowed_signers");
        fs::write(&allowed, self.signers()).expect("written");
        let mut git = Command::new("git");
        git.env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("TZ", zone)
            .arg("--git-dir")
            .arg(self.home.store())
            .args(["-c", &format!("gpg.ssh.allowedSignersFile={allowed}")])
            .args(["verify-commit", commit]);
        git.output().expect("git runs").status.success()
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.home.store()
    }
}
