//! The figures of docs/performance.md: one table, ratios taken side by side in one run on one disk.
//!
//! `cargo bench` measures; `cargo test --benches` does the same work once, small, so that it
//! cannot rot.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
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
    sizes: [usize; 3],
    rounds: usize,
    processes: usize,
    /// Memories of one store that grows.
    growth: [usize; 4],
    endurance: usize,
}

const FULL: Scale = Scale {
    sizes: [100, 1_000, 10_000],
    rounds: 400,
    processes: 40,
    growth: [100, 1_000, 10_000, 100_000],
    endurance: 100_000,
};
const SMALL: Scale = Scale {
    sizes: [5, 10, 20],
    rounds: 3,
    processes: 1,
    growth: [5, 10, 20, 30],
    endurance: 50,
};

fn main() {
    let measuring = std::env::args().any(|argument| argument == "--bench");
    let folder = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let bench = Bench {
        folder: folder.path().to_owned(),
        scale: if measuring { FULL } else { SMALL },
    };
    bench.long_lived();
    bench.cold_open();
    bench.one_shot();
    bench.growth();
    bench.endurance();
}

struct Bench {
    folder: PathBuf,
    scale: Scale,
}

/// Median and 95th percentile of what was measured.
struct Spread {
    median: Duration,
    p95: Duration,
}

impl Spread {
    fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self {
            median: times[times.len() / 2],
            p95: times[times.len() * 95 / 100],
        }
    }

    fn over(&self, other: &Self) -> f64 {
        self.median.as_secs_f64() / other.median.as_secs_f64()
    }
}

fn row(name: &str, spread: &Spread, note: &str) {
    println!(
        "{name:<40} {:>9.3} ms  (p95 {:>8.3})  {note}",
        spread.median.as_secs_f64() * 1e3,
        spread.p95.as_secs_f64() * 1e3
    );
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

fn create(n: usize) -> Command {
    Command::Create {
        path: path(n),
        file_text: text(n).into(),
    }
}

fn run(store: &mut Store, command: &Command) {
    let answer = store.execute(command, &Context::default()).unwrap();
    assert!(!answer.is_error(), "{}", answer.content.as_str());
}

/// Bytes of blocks below a folder: what `du` shows.
fn disk_bytes(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries
        .map(|entry| match entry.metadata().unwrap() {
            meta if meta.is_dir() => disk_bytes(&entry.path()),
            meta => meta.blocks() * 512,
        })
        .sum()
}

/// Resident memory of this process, in KiB, where the system tells.
fn resident_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|kib| kib.trim().trim_end_matches(" kB").parse().ok())
        .unwrap_or(0)
}

impl Bench {
    fn keys(&self) -> Keys {
        let (identity, signing_key) = (self.folder.join("identity"), self.folder.join("key"));
        keyfile::make_identity(&identity).unwrap();
        keyfile::make_signing_key(&signing_key).unwrap();
        Keys {
            identity: keyfile::read_identity(&identity).unwrap(),
            signing_key: Some(keyfile::read_signing_key(&signing_key).unwrap()),
            state: Some(self.folder.join("state/agekeep")),
            keyring: None,
        }
    }

    fn store(&self, size: usize) -> PathBuf {
        self.folder.join(format!("store-{size}"))
    }

    fn make(&self, path: &Path) -> Store {
        let (policy, context) = (Policy::default(), Context::default());
        let clock = Box::new(chrono::Utc::now);
        Store::init(path, self.keys(), &policy, &context, clock).unwrap()
    }

    fn open(&self, path: &Path) -> Store {
        Store::open(path, self.keys(), Box::new(chrono::Utc::now)).unwrap()
    }

    /// Commands in one process, at three sizes of store, each beside a plain durable file write.
    fn long_lived(&self) {
        println!("\nin a long-lived process, memories of 2 KB");
        let mut smallest: Option<[Spread; 3]> = None;
        for size in self.scale.sizes {
            let mut store = self.make(&self.store(size));
            (0..size).for_each(|n| run(&mut store, &create(n)));
            let before = disk_bytes(&self.store(size));
            let (plain, ours) = self.measure(&mut store, size);
            let each = (disk_bytes(&self.store(size)) - before) / (3 * self.scale.rounds) as u64;
            row("plain durable write", &plain, "");
            for (index, verb) in ["create", "str_replace", "view"].into_iter().enumerate() {
                let to_plain = ours[index].over(&plain);
                let to_smallest = smallest
                    .as_ref()
                    .map_or(1.0, |s| ours[index].over(&s[index]));
                let note = format!(
                    "{to_plain:.2}x the plain write, {to_smallest:.2}x its time at {}",
                    self.scale.sizes[0]
                );
                row(&format!("{verb} at {size} memories"), &ours[index], &note);
            }
            println!("on disk for each command at {size}: {each} bytes of blocks");
            smallest.get_or_insert(ours);
        }
    }

    fn measure(&self, store: &mut Store, size: usize) -> (Spread, [Spread; 3]) {
        let mut times: [Vec<Duration>; 4] = Default::default();
        for n in size..size + self.scale.rounds {
            times[0].push(timed(|| self.plain_write(n)));
            times[1].push(timed(|| run(store, &create(n))));
            let replace = Command::StrReplace {
                path: path(n),
                old_str: "   7: customer".into(),
                new_str: "   7: regular customer".into(),
            };
            times[2].push(timed(|| run(store, &replace)));
            let view = Command::View {
                path: path(n),
                range: None,
            };
            times[3].push(timed(|| run(store, &view)));
        }
        let [plain, create, replace, view] = times.map(Spread::of);
        (plain, [create, replace, view])
    }

    /// What any program has to do to keep a file: write, fsync, rename, fsync the folder.
    fn plain_write(&self, n: usize) {
        let folder = self.folder.join("plain");
        fs::create_dir_all(&folder).unwrap();
        let aside = folder.join("aside");
        let mut file = File::create(&aside).unwrap();
        file.write_all(text(n).as_bytes()).unwrap();
        file.sync_all().unwrap();
        fs::rename(&aside, folder.join(format!("{n}.md"))).unwrap();
        File::open(&folder).unwrap().sync_all().unwrap();
    }

    /// Opening the largest store: with its catalog, and without.
    fn cold_open(&self) {
        let size = self.scale.sizes[2];
        let path = self.store(size);
        println!("\ncold open of {size} memories");
        let with = timed(|| self.open(&path));
        fs::remove_file(path.join("catalog")).unwrap();
        let without = timed(|| self.open(&path));
        println!("with the catalog     {:>8.0} ms", with.as_secs_f64() * 1e3);
        println!(
            "without              {:>8.0} ms",
            without.as_secs_f64() * 1e3
        );
    }

    /// One process for each command, beside the shell's way of keeping an encrypted history.
    fn one_shot(&self) {
        println!("\none process for each command");
        let (smallest, largest) = (self.scale.sizes[0], self.scale.sizes[2]);
        let mut times: [Vec<Duration>; 3] = Default::default();
        let shell = self.shell_repository();
        for n in 1_000_000..1_000_000 + self.scale.processes {
            times[0].push(timed(|| self.one_shot_create(&self.store(smallest), n)));
            times[1].push(timed(|| self.one_shot_create(&self.store(largest), n)));
            if shell {
                times[2].push(timed(|| self.shell_create(n)));
            }
        }
        if !shell {
            println!("NOT MEASURED: `age` or `git` is not installed for the shell pipeline");
            times[2].push(Duration::MAX);
        }
        let [small, large, pipeline] = times.map(Spread::of);
        row("age | git add | git commit", &pipeline, "");
        for (size, ours) in [(smallest, small), (largest, large)] {
            let note = format!("{:.1}x faster than the shell", pipeline.over(&ours));
            row(&format!("agekeep create at {size} memories"), &ours, &note);
        }
    }

    /// One process for each command while a store grows, and the longest that a caller in the
    /// long-lived process waited on the way there.
    fn growth(&self) {
        println!("\none process for each command, in a store that grows");
        let path = self.folder.join("growth");
        let mut store = self.make(&path);
        let (mut made, mut smallest) = (0, None);
        for size in self.scale.growth {
            let creates = (made..size).map(|n| timed(|| run(&mut store, &create(n))));
            let longest = creates.max().unwrap_or_default();
            made = size;
            let mut times: [Vec<Duration>; 2] = Default::default();
            for n in 0..self.scale.processes {
                let new = 1_000_000 + size * 10 + n;
                times[0].push(timed(|| self.one_shot_create(&path, new)));
                let old = n * 7_919 % size;
                times[1].push(timed(|| {
                    self.one_shot_process(&path, &["view", &self::path(old)], "");
                }));
            }
            let ours = times.map(Spread::of);
            for (index, verb) in ["create", "view"].into_iter().enumerate() {
                let first: &[Spread; 2] = smallest.as_ref().unwrap_or(&ours);
                let to_smallest = ours[index].over(&first[index]);
                let note = format!("{to_smallest:.2}x its time at {}", self.scale.growth[0]);
                row(&format!("{verb} at {size} memories"), &ours[index], &note);
            }
            println!(
                "longest create in a long-lived process up to {size}: {:.1} ms; {} KiB resident",
                longest.as_secs_f64() * 1e3,
                resident_kib()
            );
            smallest.get_or_insert(ours);
        }
    }

    fn one_shot_create(&self, store: &Path, n: usize) {
        self.one_shot_process(store, &["create", &path(n)], &text(n));
    }

    fn one_shot_process(&self, store: &Path, command: &[&str], input: &str) {
        let mut child = Process::new(env!("CARGO_BIN_EXE_agekeep"))
            .env_clear()
            .env("XDG_STATE_HOME", self.folder.join("state"))
            .args(command)
            .arg("--store")
            .arg(store)
            .arg("--identity")
            .arg(self.folder.join("identity"))
            .arg("--signing-key")
            .arg(self.folder.join("key"))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut pipe = child.stdin.take().unwrap();
        // A view does not read its input, and may be gone already.
        drop(pipe.write_all(input.as_bytes()));
        drop(pipe);
        assert!(child.wait().unwrap().success());
    }

    /// A repository for the shell, with git's defaults; `false` if a program is missing.
    fn shell_repository(&self) -> bool {
        let folder = self.folder.join("shell");
        fs::create_dir_all(&folder).unwrap();
        let script = "age --version && git init -q . && age-keygen -y ../identity > recipients";
        self.shell(script, "").success()
    }

    fn shell_create(&self, n: usize) {
        let script = format!(
            "age -R recipients > {n}.age && git add {n}.age && git -c user.name=o -c user.email=o commit -qm {n}"
        );
        assert!(self.shell(&script, &text(n)).success());
    }

    fn shell(&self, script: &str, input: &str) -> std::process::ExitStatus {
        let mut child = Process::new("sh")
            .args(["-c", script])
            .current_dir(self.folder.join("shell"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut pipe = child.stdin.take().unwrap();
        // A script that does not read its input may be gone already.
        drop(pipe.write_all(input.as_bytes()));
        drop(pipe);
        child.wait().unwrap()
    }

    /// Resident memory over many commands on a store that does not grow.
    fn endurance(&self) {
        let mut store = self.make(&self.folder.join("endurance"));
        run(&mut store, &create(0));
        let warm = self.scale.endurance / 10;
        let mut at_warm = 0;
        for n in 0..self.scale.endurance {
            let command = match n % 2 {
                0 => Command::View {
                    path: path(0),
                    range: None,
                },
                _ => Command::Write {
                    path: path(0)["/memories/".len()..].into(),
                    content: text(n).into(),
                },
            };
            run(&mut store, &command);
            if n == warm {
                at_warm = resident_kib();
            }
        }
        println!("\nresident memory over {} commands", self.scale.endurance);
        println!(
            "after {warm}: {at_warm} KiB, at the end: {} KiB",
            resident_kib()
        );
    }
}
