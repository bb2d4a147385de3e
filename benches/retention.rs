//! The figures of docs/performance.md about what goes away: a sweep with and without the catalog, and an
//! erasure, in a store of many memories and events.
//!
//! `cargo bench` measures; `cargo test --benches` does the same work once, small, so that it
//! cannot rot.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::format_collect)]

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Bytes of a memory, about.
const TEXT_BYTES: usize = 2_048;
/// Memories are in so many folders.
const FOLDERS: usize = 50;

const MADE: &str = "2026-01-01T00:00:00Z";
const READ: &str = "2026-02-01T00:00:00Z";
/// Nothing has expired then.
const EARLY: &str = "2026-03-01T00:00:00Z";
/// What nobody has read has expired then.
const DUE: &str = "2026-04-15T00:00:00Z";

const POLICY: &str = "[expiration]\nunaccessed_for = \"90d\"\n[limits]\nview_characters = 0\n";

/// How much is measured.
struct Scale {
    memories: usize,
    events: usize,
    rounds: usize,
    /// Folders that are erased in each round.
    erased: usize,
}

const FULL: Scale = Scale {
    memories: 10_000,
    events: 100_000,
    rounds: 3,
    erased: 5,
};
const SMALL: Scale = Scale {
    memories: 100,
    events: 300,
    rounds: 1,
    erased: 2,
};

fn main() {
    let measuring = std::env::args().any(|argument| argument == "--bench");
    let folder = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let bench = Bench {
        home: folder.path().to_owned(),
        scale: if measuring { FULL } else { SMALL },
    };
    bench.make();
    bench.sweep();
    bench.erase();
}

struct Bench {
    home: PathBuf,
    scale: Scale,
}

/// What a process took, and the most resident memory it was seen with, in KiB.
type Took = (Duration, u64);

impl Bench {
    fn command(&self, now: &str, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agekeep"));
        command
            .env_clear()
            .env("HOME", &self.home)
            .env("PATH", "/usr/bin:/bin")
            .env("AGEKEEP_STORE", self.home.join("store"))
            .args(["--now", now])
            .args(args)
            .stdout(Stdio::null());
        command
    }

    /// A process from start to end.
    fn run(&self, now: &str, args: &[&str]) -> Took {
        let start = Instant::now();
        let mut child = self.command(now, args).spawn().unwrap();
        let most = watch(&mut child);
        (start.elapsed(), most)
    }

    fn tool(&self, now: &str, calls: impl Iterator<Item = String>) {
        let mut child = self
            .command(now, &["tool"])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        calls.for_each(|call| input.write_all(call.as_bytes()).unwrap());
        drop(input);
        assert!(child.wait().unwrap().success());
    }

    /// Every memory is made, and then all but those of the first quarter are read, many times.
    fn make(&self) {
        let policy = self.home.join("policy.toml");
        fs::write(&policy, POLICY).unwrap();
        self.run(
            MADE,
            &["init", "--trial", "--policy", policy.to_str().unwrap()],
        );
        let text = "customers ask about their orders\\n".repeat(TEXT_BYTES / 34);
        let path = |n: usize| format!("/memories/d{}/{n}.md", n % FOLDERS);
        let create = |n| {
            let path = path(n);
            format!("{{\"command\":\"create\",\"path\":\"{path}\",\"file_text\":\"{text}\"}}\n")
        };
        self.tool(MADE, (0..self.scale.memories).map(create));
        let read = (0..self.scale.memories).filter(|n| n % 4 > 0).cycle();
        let view = |n| format!("{{\"command\":\"view\",\"path\":\"{}\"}}\n", path(n));
        let views = self.scale.events - self.scale.memories - 1;
        self.tool(READ, read.take(views).map(view));
    }

    fn sweep(&self) {
        println!(
            "a store of {} memories and {} events",
            self.scale.memories, self.scale.events
        );
        let catalog = self.home.join("store/catalog");
        let without = |now, args: &[&str]| {
            fs::remove_file(&catalog).unwrap();
            self.run(now, args)
        };
        let rounds = 0..self.scale.rounds;
        let nothing = rounds.clone().map(|_| self.run(EARLY, &["expire"]));
        show("expire, nothing due", nothing.collect());
        let planned = rounds.clone().map(|_| self.run(DUE, &["expire", "-n"]));
        show("expire --dry-run", planned.collect());
        let rebuilt = rounds.map(|_| without(DUE, &["expire", "-n"]));
        show("the same, no catalog", rebuilt.collect());
        show(
            "expire, a quarter",
            vec![self.run(DUE, &["expire", "--yes"])],
        );
        show("expire, no catalog", vec![without(DUE, &["expire"])]);
    }

    fn erase(&self) {
        let each = self.scale.memories / FOLDERS * self.scale.erased;
        let erased = (0..self.scale.rounds).map(|round| {
            let folders = round * self.scale.erased..(round + 1) * self.scale.erased;
            let folders: Vec<String> = folders.map(|n| format!("d{n}")).collect();
            let glob = format!("/memories/{{{}}}/*", folders.join(","));
            self.run(
                DUE,
                &["erase", "--yes", "--subject", &glob, "--reason", "asked"],
            )
        });
        show(&format!("{each} memories erased"), erased.collect());
        let verified = self.run(DUE, &["receipt", "verify"]);
        show("receipt verify", vec![verified]);
    }
}

fn show(what: &str, mut took: Vec<Took>) {
    took.sort();
    let (time, _) = took[took.len() / 2];
    let most = took.iter().map(|(_, most)| most / 1024).max().unwrap();
    println!(
        "{what:<21} {:>9.0} ms, {most} MiB at most",
        time.as_secs_f64() * 1e3
    );
}

/// Waits for a process to end; the most resident memory it was seen with, in KiB.
fn watch(child: &mut Child) -> u64 {
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    loop {
        if let Ok(text) = fs::read_to_string(&status) {
            let line = text.lines().find(|line| line.starts_with("VmHWM:"));
            let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
            most = most.max(kib.unwrap_or(0));
        }
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success());
            return most;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
