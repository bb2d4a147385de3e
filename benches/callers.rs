//! Eight callers of one store beside one: how many creates become durable in a second, on this disk
//! and on slower ones. Each caller waits for its answer before it calls again.
//!
//! `cargo bench` measures; `cargo test --benches` does the same work once, small, so that it
//! cannot rot.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::collections::HashMap;
use std::env;
use std::io::{BufRead, BufReader, Write};
use std::iter;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use agekeep::event::Context;
use agekeep::memory_tool::command::Command as MemoryCommand;
use agekeep::policy::Policy;
use agekeep::store::{Identity, Keys, Queue, SigningKey, Store};
use serde_json::{Value, json};

/// Bytes of a memory.
const TEXT_BYTES: usize = 4_096;
/// Callers at once.
const CALLERS: usize = 8;

/// How much is measured.
struct Scale {
    memories: usize,
    rounds: usize,
    calls: usize,
    /// Milliseconds that each flush of a slower disk takes longer.
    slow_ms: &'static [&'static str],
}

const FULL: Scale = Scale {
    memories: 100,
    rounds: 11,
    calls: 16,
    slow_ms: &["1", "5", "10"],
};
const SMALL: Scale = Scale {
    memories: 1,
    rounds: 1,
    calls: 2,
    slow_ms: &["1"],
};

fn main() {
    let measuring = env::args().any(|argument| argument == "--bench");
    let scale = if measuring { FULL } else { SMALL };
    let folder = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    if let Ok(ms) = env::var("SLOW_MS") {
        return measure(folder.path(), &scale, &format!("flush + {ms} ms"));
    }
    println!(
        "durable creates of 4 KB in a second, median and quartiles of {} rounds",
        scale.rounds
    );
    measure(folder.path(), &scale, "this disk");
    let Some(slow) = slow_disk(folder.path()) else {
        println!("NOT MEASURED: slower disks, which need Linux and `cc`");
        return;
    };
    for ms in scale.slow_ms {
        let mut again = Command::new(env::current_exe().unwrap());
        again
            .args(env::args_os().skip(1))
            .env("LD_PRELOAD", &slow)
            .env("SLOW_MS", ms);
        assert!(again.status().unwrap().success());
    }
}

/// What makes flushes slower once it is preloaded.
fn slow_disk(folder: &Path) -> Option<PathBuf> {
    let made = folder.join("slow.so");
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&made);
    cc.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/benches/slow.c"))
        .arg("-ldl");
    let compiled = cfg!(target_os = "linux") && cc.status().is_ok_and(|status| status.success());
    compiled.then_some(made)
}

/// The doors, one after the other, each on a store of its own.
fn measure(folder: &Path, scale: &Scale, disk: &str) {
    let queue = Queue::new(make_store(&folder.join("queue")));
    compare(&queue, scale, disk, "library's Queue");
    drop(queue);
    let one = [Tool::start(&folder.join("one"))];
    compare(&one[..], scale, disk, "one `tool` process");
    drop(one);
    let home = folder.join("each");
    let first = Tool::start(&home);
    first.create("/memories/first.md", "which makes the store\n");
    let others = (1..CALLERS).map(|_| Tool::start(&home));
    let each: Vec<_> = iter::once(first).chain(others).collect();
    compare(&each[..], scale, disk, "a `tool` for each");
}

/// One caller and eight take turns on the same store.
fn compare<D: Door + ?Sized>(door: &D, scale: &Scale, disk: &str, name: &str) {
    let next = AtomicUsize::new(0);
    throughput(door, &next, 1, scale.memories);
    let (mut one, mut eight, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..scale.rounds {
        // Neither always follows the other's leavings.
        let mut turns = [(1, &mut one), (CALLERS, &mut eight)];
        turns.rotate_left(round % 2);
        for (callers, rates) in turns {
            rates.push(throughput(door, &next, callers, scale.calls));
        }
        ratios.push(eight[round] / one[round]);
    }
    let (one, eight) = (spread(&mut one, 0), spread(&mut eight, 0));
    let ratios = spread(&mut ratios, 2);
    println!(
        "{disk:<14} {name:<19} 1 caller {one:<20} {CALLERS} callers {eight:<20} ratio {ratios}"
    );
}

/// Creates in a second, by so many callers with so many calls each.
fn throughput<D: Door + ?Sized>(door: &D, next: &AtomicUsize, callers: usize, calls: usize) -> f64 {
    let start = Instant::now();
    thread::scope(|scope| {
        for caller in 0..callers {
            scope.spawn(move || {
                for _ in 0..calls {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let path = format!("/memories/d{}/{number}.md", number % 50);
                    door.create(caller, path, text(number));
                }
            });
        }
    });
    #[allow(clippy::cast_precision_loss)]
    let all = (callers * calls) as f64;
    all / start.elapsed().as_secs_f64()
}

fn text(number: usize) -> String {
    let line = format!("customer {number} asked about order {}\n", number * 7_919);
    let mut text = line.repeat(TEXT_BYTES / line.len() + 1);
    text.truncate(TEXT_BYTES);
    text
}

/// Median and quartiles.
fn spread(values: &mut [f64], digits: usize) -> String {
    values.sort_by(f64::total_cmp);
    let at = |quarter: usize| values[(values.len() - 1) * quarter / 4];
    format!(
        "{:.digits$} ({:.digits$} to {:.digits$})",
        at(2),
        at(1),
        at(3)
    )
}

/// A way to a store that several threads share. When it returns, the memory is durable.
trait Door: Sync {
    fn create(&self, caller: usize, path: String, text: String);
}

fn make_store(root: &Path) -> Store {
    let keys = Keys {
        identity: Identity::generate(),
        signing_key: Some(SigningKey::generate()),
        state: Some(root.with_extension("state")),
        keyring: None,
    };
    let (policy, clock) = (Policy::default(), Box::new(chrono::Utc::now));
    Store::init(root, keys, &policy, &Context::default(), clock).unwrap()
}

impl Door for Queue {
    fn create(&self, _: usize, path: String, text: String) {
        let file_text = text.into();
        let answer = self.execute(
            MemoryCommand::Create { path, file_text },
            Context::default(),
        );
        assert!(!answer.unwrap().is_error());
    }
}

/// Each caller has a process of its own, or as many as there are share them.
impl Door for [Tool] {
    fn create(&self, caller: usize, path: String, text: String) {
        self[caller % self.len()].create(&path, &text);
    }
}

/// An `agekeep tool` process. Its callers write a line each, and a thread gives each its answer.
struct Tool {
    child: Child,
    asking: Mutex<Option<Asking>>,
    waiting: Arc<Mutex<HashMap<u64, Sender<Value>>>>,
    reader: Option<thread::JoinHandle<()>>,
}

struct Asking {
    input: ChildStdin,
    asked: u64,
}

impl Tool {
    fn start(home: &Path) -> Self {
        let preloaded =
            env::vars_os().filter(|(name, _)| name == "LD_PRELOAD" || name == "SLOW_MS");
        let mut child = Command::new(env!("CARGO_BIN_EXE_agekeep"))
            .env_clear()
            .envs(preloaded)
            .env("HOME", home)
            .args(["tool", "--init"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let waiting = Arc::<Mutex<HashMap<u64, Sender<Value>>>>::default();
        let answered = Arc::clone(&waiting);
        let reader = thread::spawn(move || {
            for line in output.lines() {
                let answer: Value = serde_json::from_str(&line.unwrap()).unwrap();
                let id = answer["id"].as_u64().unwrap();
                let caller = answered.lock().unwrap().remove(&id).unwrap();
                caller.send(answer).unwrap();
            }
        });
        Self {
            child,
            asking: Mutex::new(Some(Asking { input, asked: 0 })),
            waiting,
            reader: Some(reader),
        }
    }

    fn create(&self, path: &str, text: &str) {
        let (sender, answer) = channel();
        let input = json!({"command": "create", "path": path, "file_text": text});
        {
            let mut asking = self.asking.lock().unwrap();
            let asking = asking.as_mut().unwrap();
            asking.asked += 1;
            self.waiting.lock().unwrap().insert(asking.asked, sender);
            let line = format!("{}\n", json!({"id": asking.asked, "input": input}));
            asking.input.write_all(line.as_bytes()).unwrap();
        }
        let answer = answer.recv().unwrap();
        assert_eq!(answer["is_error"], false, "{answer}");
    }
}

impl Drop for Tool {
    fn drop(&mut self) {
        drop(self.asking.lock().unwrap().take());
        let _ = self.child.wait();
        let _ = self.reader.take().unwrap().join();
    }
}
