//! The figures of copies elsewhere, beside stock git over the same history: push, pull, clone, and a
//! transfer with nothing new.
//!
//! `cargo bench --bench remote` measures; `cargo test --benches` does the same work once, small, so
//! that it cannot rot. `AGEKEEP_EVENTS` sets another number of events.
#![allow(clippy::cast_precision_loss, clippy::print_stdout, clippy::unwrap_used)]

use std::fmt::Write;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const FULL: usize = 10_000;
const SMALL: usize = 30;
const MEMORIES: usize = 1_000;
const TEXT_BYTES: usize = 2_048;

fn main() {
    let measuring = std::env::args().any(|argument| argument == "--bench");
    let asked = std::env::var("AGEKEEP_EVENTS").ok();
    let asked = asked.and_then(|events| events.parse().ok());
    let events = if measuring {
        asked.unwrap_or(FULL)
    } else {
        SMALL
    };
    let folder = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let home = Home(folder.path().to_owned());
    home.ok(&home.agekeep("store", &["init"]));
    home.fill(0..events);
    println!("{events} events");
    // Both turn about, so that the disk is as warm for one as for the other.
    for round in 0..if measuring { 3 } else { 1 } {
        let (git, ours) = (format!("git{round}.git"), format!("ours{round}.git"));
        for host in [&git, &ours] {
            home.ok(home
                .git()
                .args(["init", "-q", "--bare", "-b", "main"])
                .arg(home.0.join(host)));
            home.ok(&home.agekeep("store", &["remote", "add", host, home.at(host)]));
        }
        let mut push = home.git();
        push.arg("--git-dir").arg(home.0.join("store"));
        let stock = home.time(push.args(["push", "-q", home.at(&git), "main:main"]));
        let own = home.time(&home.agekeep("store", &["push", &ours]));
        compare("push to an empty host", own, stock);
        let stock = home.time(
            home.git()
                .args(["clone", "-q", "--no-local", "--mirror", home.at(&git)])
                .arg(home.0.join(format!("mirror{round}"))),
        );
        let place = format!("copy{round}");
        let own = home.time(&home.agekeep("store", &["clone", home.at(&ours), home.at(&place)]));
        compare("clone, verified", own, stock);
    }
    home.ok(&home.agekeep("store", &["keys", "backup", home.at("keys")]));
    let mut with_keys = home.agekeep("store", &["clone", home.at("ours0.git"), home.at("second")]);
    println!(
        "{:<28} {:>8.2} s",
        "clone with keys, verified",
        seconds(home.time(with_keys.args(["--keys", home.at("keys")])))
    );
    for (what, verb) in [("push, nothing new", "push"), ("pull, nothing new", "pull")] {
        println!(
            "{what:<28} {:>8.3} s",
            seconds(home.time(&home.agekeep("store", &[verb, "ours0.git"])))
        );
    }
    home.fill(events..events + 1);
    let push = home.time(&home.agekeep("store", &["push", "ours0.git"]));
    let pull = home.time(&home.agekeep("copy0", &["pull"]));
    println!(
        "{:<28} {:>8.3} s",
        "one event, push and pull",
        seconds(push + pull)
    );
    home.fill(events + 1..2 * events);
    home.ok(&home.agekeep("store", &["push", "ours0.git"]));
    let pull = home.time(&home.agekeep("copy0", &["pull"]));
    println!(
        "{:<28} {:>8.2} s",
        format!("pull of {} events", events - 1),
        seconds(pull)
    );
    home.ok(&home.agekeep("store", &["keys", "backup", home.at("newer")]));
    let pull = home.time(&home.agekeep("second", &["pull", "--keys", home.at("newer")]));
    println!("{:<28} {:>8.2} s", "the same, with keys", seconds(pull));
    home.machines(2 * events);
}

fn compare(what: &str, own: Duration, stock: Duration) {
    let (own, stock) = (seconds(own), seconds(stock));
    println!(
        "{what:<28} {own:>8.2} s, stock git {stock:>6.2} s: {:>5.2} ×",
        own / stock
    );
}

fn seconds(time: Duration) -> f64 {
    time.as_secs_f64()
}

struct Home(PathBuf);

impl Home {
    fn at(&self, name: &str) -> &'static str {
        // A bench ends before its names matter.
        let path = self.0.join(name).to_str().unwrap().to_owned();
        Box::leak(path.into_boxed_str())
    }

    fn agekeep(&self, store: &str, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agekeep"));
        command
            .env_clear()
            .env("HOME", &self.0)
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("AGEKEEP_STORE", self.0.join(store))
            .args(args);
        command
    }

    fn git(&self) -> Command {
        let mut git = Command::new("git");
        git.env("HOME", &self.0).env("GIT_CONFIG_NOSYSTEM", "1");
        git
    }

    fn ok(&self, command: &Command) {
        self.time(command);
    }

    fn time(&self, command: &Command) -> Duration {
        let mut again = Command::new(command.get_program());
        again.args(command.get_args()).stdin(Stdio::null());
        if command.get_envs().any(|(name, _)| name == "AGEKEEP_STORE") {
            again.env_clear();
        }
        again.envs(
            command
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        again.current_dir(&self.0);
        let start = Instant::now();
        let output = again.output().unwrap();
        let took = start.elapsed();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{:?}: {said}", again.get_args());
        took
    }

    /// A second machine, which gets its keys by mail, and an erasure that reaches it.
    fn machines(&self, events: usize) {
        let own = [
            "--identity",
            self.at("ci.txt"),
            "--signing-key",
            self.at("ci.key"),
        ];
        let ci = |args: &[&str]| self.agekeep("ci", &[args, &own].concat());
        let sync = |what: &str| {
            let first = self.time(&self.agekeep("store", &["sync", "ours0.git"]));
            let second = self.time(&ci(&["sync"]));
            let both = seconds(first + second);
            println!(
                "{what:<28} {both:>8.3} s, {:.3} of it there",
                seconds(second)
            );
        };
        let (host, place) = (self.at("ours0.git"), self.at("ci"));
        self.ok(&self.agekeep("store", &["push", "ours0.git"]));
        let cloned = ci(&["clone", host, place, "--name", "ci"])
            .current_dir(&self.0)
            .output();
        let said = String::from_utf8(cloned.unwrap().stdout).unwrap();
        let code = said
            .split("--code ")
            .nth(1)
            .unwrap()
            .split('`')
            .next()
            .unwrap();
        let add = [
            "replicas",
            "add",
            "ci",
            "--remote",
            "ours0.git",
            "--code",
            code,
        ];
        self.ok(&self.agekeep("store", &add));
        sync("a new machine's keys");
        sync("sync, nothing new");
        self.fill(events..events + 1);
        sync("one event to it");
        self.fill(events + 1..events + 1 + events / 2);
        sync(&format!("{} events to it", events / 2));
        let erase = ["erase", "/memories", "--yes", "--reason", "a figure"];
        self.ok(&self.agekeep("store", &erase));
        sync("an erasure of all memories");
    }

    /// Carries out calls: a third of them reads, as in `benches/history.rs`.
    fn fill(&self, events: std::ops::Range<usize>) {
        let text = "customers ask about their orders\\n".repeat(TEXT_BYTES / 34);
        let mut calls = String::new();
        for n in events {
            let path = format!("/memories/d{}/{}.md", n % 50, n % MEMORIES);
            let call = match n {
                n if n < MEMORIES => {
                    format!(r#"{{"command":"create","path":"{path}","file_text":"{text}{n}"}}"#)
                }
                n if n % 3 == 0 => format!(r#"{{"command":"view","path":"{path}"}}"#),
                n => format!(
                    r#"{{"command":"insert","path":"{path}","insert_line":0,"insert_text":"{n}\n"}}"#
                ),
            };
            writeln!(calls, "{call}").unwrap();
        }
        let mut tool = self.agekeep("store", &["tool"]);
        let mut tool = tool
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut input = tool.stdin.take().unwrap();
        input.write_all(calls.as_bytes()).unwrap();
        drop(input);
        assert!(tool.wait().unwrap().success());
    }
}
