//! The figures of docs/performance.md about who can open a store: letting a reader in, removing one, and an
//! identity behind a passphrase.
//!
//! `cargo bench` measures; `cargo test --benches` does the same work once, small, so that it
//! cannot rot.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::format_collect)]

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use age::secrecy::SecretString;
use agekeep::store::Identity;

/// Bytes of a memory, about.
const TEXT_BYTES: usize = 2_048;

/// How much is measured.
struct Scale {
    memories: usize,
    rounds: usize,
    commands: usize,
    work_factor: u8,
}

const FULL: Scale = Scale {
    memories: 10_000,
    rounds: 5,
    commands: 500,
    work_factor: 18,
};
const SMALL: Scale = Scale {
    memories: 20,
    rounds: 1,
    commands: 3,
    work_factor: 2,
};

fn main() {
    let measuring = std::env::args().any(|argument| argument == "--bench");
    let folder = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let bench = Bench {
        home: folder.path().to_owned(),
        scale: if measuring { FULL } else { SMALL },
    };
    bench.members();
    bench.passphrase();
}

struct Bench {
    home: PathBuf,
    scale: Scale,
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
            .stdout(Stdio::null());
        command
    }

    fn run(&self, args: &[&str]) -> Duration {
        let start = Instant::now();
        assert!(self.command(args).status().unwrap().success(), "{args:?}");
        start.elapsed()
    }

    /// A process for each: from start to end.
    fn members(&self) {
        self.run(&["init"]);
        let text = "customers ask about their orders\\n".repeat(TEXT_BYTES / 34);
        let create = |n| {
            let path = format!("/memories/d{}/{n}.md", n % 50);
            format!("{{\"command\":\"create\",\"path\":\"{path}\",\"file_text\":\"{text}\"}}\n")
        };
        let calls: String = (0..self.scale.memories).map(create).collect();
        carry_out(self.command(&["tool"]), &calls);
        let recipient = Identity::generate().recipient().unwrap().to_string();
        let (mut added, mut removed) = (Vec::new(), Vec::new());
        let mut most = 0;
        for _ in 0..self.scale.rounds {
            // The command after a change of keys reads its large record; this is any other.
            self.run(&["view", "/memories/d0/0.md"]);
            added.push(self.run(&["recipients", "add", "bob", &recipient]));
            let start = Instant::now();
            let mut child = self.command(&["recipients", "rm", "bob"]).spawn().unwrap();
            most = most.max(watch(&mut child));
            removed.push(start.elapsed());
        }
        println!("a store of {} memories", self.scale.memories);
        println!("a reader is let in   {:>9.0} ms", median(&mut added));
        println!(
            "a reader is removed  {:>9.0} ms, {} MiB at most",
            median(&mut removed),
            most / 1024
        );
    }

    /// What the work of a passphrase adds to a process, whatever it is asked to do.
    fn passphrase(&self) {
        let file = self.home.join(".config/agekeep/identity.txt");
        let plain = fs::read(&file).unwrap();
        let locked = self.home.join("locked.txt");
        lock(&locked, &plain, self.scale.work_factor);
        let views = |count| "{\"command\":\"view\",\"path\":\"/memories/d0/0.md\"}\n".repeat(count);
        for (name, identity) in [("without", &file), ("with", &locked)] {
            let time = |count| {
                let mut command = self.command(&["-i", identity.to_str().unwrap(), "tool"]);
                command.env("AGEKEEP_PASSPHRASE_COMMAND", "echo passphrase");
                carry_out(command, &views(count)).as_secs_f64() * 1e3
            };
            let (one, many) = (time(1), time(self.scale.commands));
            println!(
                "{name:<7} a passphrase: one command {one:>6.0} ms, {} in one process {many:>6.0} ms",
                self.scale.commands
            );
        }
    }
}

/// Has a process carry out calls, one on each line; the time from its start to its end.
fn carry_out(mut command: Command, calls: &str) -> Duration {
    let start = Instant::now();
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(calls.as_bytes()).unwrap();
    drop(input);
    assert!(child.wait().unwrap().success());
    start.elapsed()
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

/// Seals an identity file with a passphrase.
fn lock(path: &Path, plain: &[u8], work_factor: u8) {
    let mut recipient = age::scrypt::Recipient::new(SecretString::from("passphrase".to_owned()));
    recipient.set_work_factor(work_factor);
    let recipients = std::iter::once(&recipient as &dyn age::Recipient);
    let mut out = Vec::new();
    let encryptor = age::Encryptor::with_recipients(recipients).unwrap();
    let mut writer = encryptor.wrap_output(&mut out).unwrap();
    writer.write_all(plain).unwrap();
    writer.finish().unwrap();
    fs::write(path, out).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e3
}
