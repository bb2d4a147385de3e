//! The figures of history: finding, showing, blaming and verifying in a store of many events.
//!
//! `cargo bench --bench history` measures; `cargo test --benches` does the same work once, small,
//! so that it cannot rot.
#![allow(clippy::cast_precision_loss, clippy::print_stdout, clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use agekeep::crypto::keyfile;
use agekeep::event::Context;
use agekeep::memory_tool::command::Command;
use agekeep::policy::Policy;
use agekeep::store::{Keys, Store};

/// Bytes of a memory, about.
const TEXT_BYTES: usize = 2_048;

/// How much is measured.
struct Scale {
    events: usize,
    memories: usize,
    lines: usize,
    versions: usize,
    rounds: usize,
}

const FULL: Scale = Scale {
    events: 100_000,
    memories: 1_000,
    lines: 500,
    versions: 500,
    rounds: 40,
};
const SMALL: Scale = Scale {
    events: 60,
    memories: 10,
    lines: 20,
    versions: 10,
    rounds: 1,
};

fn main() {
    let measuring = std::env::args().any(|argument| argument == "--bench");
    let scale = if measuring { FULL } else { SMALL };
    let folder = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let bench = Bench::new(folder.path().to_owned(), scale);
    bench.fill();
    bench.one_shot("log, first 50 events", |_| words(&["log", "-n", "50"]));
    bench.one_shot("log of one file, first 50 events", |n| {
        words(&["log", &path(n % bench.scale.memories), "-n", "50"])
    });
    bench.one_shot("view --at any event", |n| {
        // Spread over all of history, in an order of its own.
        let at = bench.scale.memories + n * 7_919 % (bench.scale.events - bench.scale.memories);
        words(&[
            "view",
            &path(n % bench.scale.memories),
            "--at",
            &at.to_string(),
        ])
    });
    bench.one_shot("view --at a time", |n| {
        words(&["view", &path(n % bench.scale.memories), "--at", "now"])
    });
    bench.one_shot("blame of the long file", |_| words(&["blame", LONG]));
    bench.verify();
}

/// The file that has many versions of many lines.
const LONG: &str = "/memories/long.md";

struct Bench {
    folder: PathBuf,
    scale: Scale,
}

impl Bench {
    fn new(folder: PathBuf, scale: Scale) -> Self {
        Self { folder, scale }
    }

    fn store(&self) -> PathBuf {
        self.folder.join("store")
    }

    /// A store with its history: one command in three reads.
    fn fill(&self) {
        let keys = self.keys();
        let (store, policy) = (self.store(), Policy::default());
        let clock = Box::new(chrono::Utc::now);
        let context = Context::default();
        let mut store = Store::init(&store, keys, &policy, &context, clock).unwrap();
        let mut run = |command: &Command| {
            let answer = store.execute(command, &context).unwrap();
            assert!(!answer.is_error(), "{}", answer.content.as_str());
        };
        for n in 0..self.scale.memories {
            run(&Command::Create {
                path: path(n),
                file_text: text(n).into(),
            });
        }
        let line = |n: usize| format!("{n:>4}: what the file says of order {n}\n");
        let long: String = (0..self.scale.lines).map(line).collect();
        run(&Command::Create {
            path: LONG.into(),
            file_text: long.into(),
        });
        for n in 1..self.scale.versions {
            let at = n * 31 % self.scale.lines;
            run(&Command::Insert {
                path: LONG.into(),
                insert_line: i64::try_from(at).unwrap(),
                insert_text: format!("added as number {n}").into(),
            });
        }
        let done = 1 + self.scale.memories + self.scale.versions;
        for n in done..self.scale.events {
            let path = path(n * 13 % self.scale.memories);
            run(&match n % 3 {
                0 => Command::View { path, range: None },
                1 => Command::Insert {
                    path,
                    insert_line: 0,
                    insert_text: format!("note {n}").into(),
                },
                // Keeps files from growing for ever.
                _ => Command::Write {
                    path,
                    content: text(n).into(),
                },
            });
        }
    }

    fn keys(&self) -> Keys {
        let (identity, signing_key) = (self.folder.join("identity"), self.folder.join("key"));
        keyfile::make_identity(&identity).unwrap();
        keyfile::make_signing_key(&signing_key).unwrap();
        Keys {
            identity: keyfile::read_identity(&identity).unwrap(),
            signing_key: Some(keyfile::read_signing_key(&signing_key).unwrap()),
            state: Some(self.folder.join(".local/state/agekeep")),
            keyring: None,
        }
    }

    fn process(&self, arguments: &[String]) -> Process {
        let mut process = Process::new(env!("CARGO_BIN_EXE_agekeep"));
        process
            .env_clear()
            .env("HOME", &self.folder)
            .args(arguments)
            .arg("--store")
            .arg(self.store())
            .arg("--identity")
            .arg(self.folder.join("identity"))
            .arg("--signing-key")
            .arg(self.folder.join("key"))
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        process
    }

    /// One process for each time, from its start to its end.
    fn one_shot(&self, name: &str, arguments: impl Fn(usize) -> Vec<String>) {
        let times = (0..self.scale.rounds).map(|n| {
            let mut process = self.process(&arguments(n));
            timed(|| assert!(process.status().unwrap().success(), "{name}"))
        });
        let mut times: Vec<Duration> = times.collect();
        times.sort_unstable();
        let (median, p95) = (times[times.len() / 2], times[times.len() * 95 / 100]);
        println!(
            "{name:<40} {:>9.1} ms  (p95 {:>8.1})",
            median.as_secs_f64() * 1e3,
            p95.as_secs_f64() * 1e3
        );
    }

    fn verify(&self) {
        let full = self.timed_verify(&["--full"]);
        let again = self.timed_verify(&[]);
        println!(
            "{:<40} {:>9.0} events/s  ({} events, {:.1} s, {} MiB at most)",
            "verify --full",
            self.scale.events as f64 / full.0.as_secs_f64(),
            self.scale.events,
            full.0.as_secs_f64(),
            full.1 / 1024,
        );
        println!(
            "{:<40} {:>9.1} ms",
            "verify, nothing new",
            again.0.as_secs_f64() * 1e3
        );
    }

    /// Time and peak resident memory, in KiB.
    fn timed_verify(&self, arguments: &[&str]) -> (Duration, u64) {
        let mut process = self.process(&[&words(&["verify"])[..], &words(arguments)].concat());
        let mut child = process.spawn().unwrap();
        let (start, mut peak) = (Instant::now(), 0);
        while child.try_wait().unwrap().is_none() {
            peak = peak.max(resident_kib(child.id()));
            std::thread::sleep(Duration::from_millis(2));
        }
        assert!(child.wait().unwrap().success(), "verify");
        (start.elapsed(), peak)
    }
}

/// The peak resident memory of a process so far, where the system tells.
fn resident_kib(id: u32) -> u64 {
    let path = Path::new("/proc").join(id.to_string()).join("status");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok())
        .unwrap_or(0)
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    std::hint::black_box(work());
    start.elapsed()
}

/// A text of numbered lines that differs from every other.
fn text(n: usize) -> String {
    let line = |i| format!("{i:>4}: customer {n} asked about order {}\n", n * 7_919 + i);
    (0..TEXT_BYTES / line(0).len()).map(line).collect()
}

fn path(n: usize) -> String {
    format!("/memories/d{}/f{n}.md", n % 50)
}
