//! The figures of reports: time and memory, in stores of many events.
//!
//! `cargo bench --bench report` measures; `cargo test --benches` does the same work once, small, so
//! that it cannot rot. `AGEKEEP_EVENTS=1000000` makes the largest store as large as that.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const MEMORIES: usize = 1_000;
const ROUNDS: usize = 3;

fn main() {
    let measuring = std::env::args().any(|argument| argument == "--bench");
    let largest = std::env::var("AGEKEEP_EVENTS").ok();
    let largest = largest.map_or(200_000, |events| events.parse().unwrap());
    let folder = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut bench = Bench {
        home: folder.path().to_owned(),
        events: 0,
    };
    for events in if measuring {
        [100_000, largest]
    } else {
        [300, 600]
    } {
        bench.grow(events);
        bench.measure();
    }
}

struct Bench {
    home: PathBuf,
    events: usize,
}

impl Bench {
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agekeep"));
        command
            .env_clear()
            .env("HOME", &self.home)
            .env("PATH", "/usr/bin:/bin")
            .env("AGEKEEP_STORE", self.home.join("store"))
            .args(args)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Adds events until there are so many: one in five writes, one in fifty is denied.
    fn grow(&mut self, events: usize) {
        if self.events == 0 {
            assert!(self.command(&["init"]).status().unwrap().success());
            self.events = 1;
        }
        let mut tool = self
            .command(&["tool"])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = std::io::BufWriter::new(tool.stdin.take().unwrap());
        for n in self.events..events {
            let path = format!("/memories/d{}/f{}.md", n % 50, n % MEMORIES);
            let call = match n {
                _ if n <= MEMORIES || n % 5 == 0 => {
                    format!(r#"{{"command":"memory_write","path":"{path}","content":"note {n}"}}"#)
                }
                _ if n % 50 == 1 => r#"{"command":"view","path":"/memories/../x"}"#.into(),
                _ => format!(r#"{{"command":"view","path":"{path}"}}"#),
            };
            writeln!(input, "{call}").unwrap();
        }
        drop(input);
        assert!(tool.wait().unwrap().success());
        self.events = events;
    }

    fn measure(&self) {
        // The first one verifies what is new.
        let first = self.run(&["report"]);
        let mut took: Vec<_> = (0..ROUNDS).map(|_| self.run(&["report"])).collect();
        took.sort();
        show(&format!("{} events, first report", self.events), first);
        show(&format!("{} events, report", self.events), took[ROUNDS / 2]);
        show("the same, JSON", self.run(&["report", "--json"]));
    }

    fn run(&self, args: &[&str]) -> (Duration, u64) {
        let start = Instant::now();
        let mut child = self.command(args).spawn().unwrap();
        let most = watch(&mut child);
        (start.elapsed(), most)
    }
}

fn show(what: &str, (time, most): (Duration, u64)) {
    let (millis, mib) = (time.as_secs_f64() * 1e3, most / 1024);
    println!("{what:<32} {millis:>9.0} ms, {mib} MiB at most");
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
