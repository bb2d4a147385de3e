//! A store in a folder of its own, and the binary run with nothing of this machine's environment.

pub(crate) mod cases;
pub(crate) mod chromium;
pub(crate) mod forge;
pub(crate) mod peers;
pub(crate) mod terminal;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use agekeep::event::Context;
use agekeep::jsonl::{self, Reply};
use agekeep::store::Store;
use serde_json::Value;
use tempfile::TempDir;

/// What `AGEKEEP_TESTS` asks of the tests that have more cases than a run has time for: `all` of
/// them. Without it, they try a sample.
pub(crate) fn tests_wanted() -> String {
    std::env::var("AGEKEEP_TESTS").unwrap_or_default()
}

/// Every how many of some cases is tried: every one where all of them are wanted.
pub(crate) fn every(usual: usize) -> usize {
    if tests_wanted() == "all" { 1 } else { usual }
}

/// Where homes are made: in memory, where a sync costs nothing, if there is room and programs may be run
/// there. Few tests depend on a real disk: what a loss of power leaves is made from a recording.
fn ground() -> PathBuf {
    const ROOM_BYTES: u64 = 4 << 30;
    let memory = Path::new("/dev/shm");
    let Ok(found) = rustix::fs::statvfs(memory) else {
        return std::env::temp_dir();
    };
    let is_set = std::env::var_os("TMPDIR").is_some();
    let runs = !found.f_flag.contains(rustix::fs::StatVfsMountFlags::NOEXEC);
    let has_room = found.f_bavail * found.f_frsize >= ROOM_BYTES;
    if !is_set && runs && has_room {
        memory.to_owned()
    } else {
        std::env::temp_dir()
    }
}

/// An empty folder for a store and what is beside it.
pub(crate) fn folder() -> TempDir {
    TempDir::new_in(ground()).expect("a temporary folder")
}

/// A fake home with a store in it.
pub(crate) struct Home {
    folder: TempDir,
}

impl Home {
    /// An empty home folder.
    pub(crate) fn empty() -> Self {
        Self { folder: folder() }
    }

    /// An empty home folder within another.
    pub(crate) fn empty_in(place: &Path) -> Self {
        let folder = TempDir::new_in(place).expect("a temporary folder");
        Self { folder }
    }

    /// Leaves the folder behind, for somebody to look into.
    pub(crate) fn keep(self) -> PathBuf {
        self.folder.keep()
    }

    /// A home folder with keys and a store.
    pub(crate) fn with_store() -> Self {
        Self::empty().made_by(&["init"])
    }

    /// As [`Self::with_store`], where a sync takes its time and files are no memory.
    pub(crate) fn with_store_on_disk() -> Self {
        Self::empty_in(&std::env::temp_dir()).made_by(&["init"])
    }

    /// A home folder with keys and a store for trials, which records the times of `--now`.
    pub(crate) fn with_trial_store() -> Self {
        Self::empty().made_by(&["init", "--trial"])
    }

    pub(crate) fn made_by(self, init: &[&str]) -> Self {
        let made = self.run(init);
        assert!(made.status.success(), "{}", stderr(&made));
        self
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Where [`Self::run`] has its store.
    pub(crate) fn store(&self) -> PathBuf {
        self.path().join("store")
    }

    pub(crate) fn identity(&self) -> PathBuf {
        self.path().join("config/agekeep/identity.txt")
    }

    pub(crate) fn signing_key(&self) -> PathBuf {
        self.path().join("config/agekeep/signing_key")
    }

    /// Where what was seen of stores is kept.
    pub(crate) fn state(&self) -> PathBuf {
        self.path().join(".local/state/agekeep")
    }

    /// The binary with this home's environment and no other.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agekeep"));
        command
            .env_clear()
            .env("HOME", self.path())
            .env("XDG_CONFIG_HOME", self.path().join("config"))
            .env("AGEKEEP_STORE", self.store())
            .env("USER", "tester")
            .current_dir(self.path())
            .args(args);
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.run_with_input(args, "")
    }

    pub(crate) fn run_with_input(&self, args: &[&str], input: &str) -> Output {
        feed(self.command(args), input.as_bytes())
    }

    /// Runs `tool` on these lines and reads its answers.
    pub(crate) fn tool(&self, lines: &str) -> Vec<Value> {
        let output = self.run_with_input(&["tool"], lines);
        assert!(output.status.success(), "{}", stderr(&output));
        json_lines(&output.stdout)
    }

    /// Stock git on the store, with no configuration but the store's.
    pub(crate) fn git(&self, args: &[&str]) -> Output {
        git(&self.store(), args)
    }
}

/// Stock git on a repository, with no configuration of the user's or the machine's.
pub(crate) fn git(repository: &Path, args: &[&str]) -> Output {
    let mut git = Command::new("git");
    if args.first() == Some(&"fsck") {
        // Else it starts two more of itself, for files that no store has.
        git.args(["-c", "core.commitGraph=false"]);
        git.args(["-c", "core.multiPackIndex=false"]);
    }
    git.env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .arg("--git-dir")
        .arg(repository)
        .args(args)
        .output()
        .expect("git runs")
}

/// The library's answer to one call.
pub(crate) fn reply(store: &mut Store, call: &Value) -> Reply {
    let mut replies = Vec::new();
    let line = [call.to_string()];
    jsonl::answer(store, &line, &Context::default(), |reply| {
        replies.push(reply);
    });
    replies.pop().expect("one answer")
}

/// Where a program is. Of a program with a mere name and an emptied environment the standard library makes
/// a copy of this whole process first, which takes longer than many a command.
pub(crate) fn program(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&path).map(|folder| folder.join(name));
    places
        .find(|place| place.is_file())
        .unwrap_or_else(|| name.into())
}

/// `strace` of a program with all its threads and children, which is to be asked for this.
pub(crate) fn strace(asked: &str) -> Command {
    let mut strace = Command::new(program("strace"));
    strace.args(["-f", "-qq"]);
    // Then only the calls that are asked for stop the program; but it cannot be killed at one.
    if !asked.contains("signal=KILL") {
        strace.arg("--seccomp-bpf");
    }
    strace
}

/// A time of a call that no command comes to: with it strace sees all calls, and has nothing to do.
pub(crate) const AFTER_ALL: usize = 65_535;

/// The last time of a call at which a sample of cases stops a command, by what `strace -f` saw of one that
/// nothing stopped: as often as one thread made it. Where all cases are wanted they go on until nothing is
/// stopped any more.
pub(crate) fn last_time(trace: &Path, call: &str) -> usize {
    if every(2) == 1 {
        return usize::MAX;
    }
    let trace = std::fs::read_to_string(trace).expect("traced");
    let mut made = std::collections::BTreeMap::new();
    for (thread, line) in trace.lines().filter_map(|line| line.split_once(' ')) {
        let rest = line.trim_start().strip_prefix(call);
        if rest.is_some_and(|rest| rest.starts_with('(')) {
            *made.entry(thread).or_insert(0) += 1;
        }
    }
    made.into_values().max().unwrap_or_default()
}

/// Runs a program on these bytes as standard input.
pub(crate) fn feed(mut command: Command, input: &[u8]) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut pipe = child.stdin.take().expect("piped");
    if input.len() <= PIPE_BYTES {
        drop(pipe.write_all(input));
        drop(pipe);
        return child.wait_with_output().expect("the program ends");
    }
    let input = input.to_vec();
    let writer = std::thread::spawn(move || drop(pipe.write_all(&input)));
    let output = child.wait_with_output().expect("the program ends");
    writer.join().expect("the writer ends");
    output
}

/// As much as a pipe takes whether anybody reads it or not: such input needs no thread that writes it.
const PIPE_BYTES: usize = 4_096;

/// The class of a finding of `verify`, by its id.
fn class_of(id: &str) -> &'static str {
    match id {
        "config" | "refs" | "stray" => "untidy",
        "keyring-missing" => "incomplete",
        _ => "tampered",
    }
}

/// What a report of `verify` has to say in all, and with which exit code: by the gravest class of
/// its findings, each of which has to say its own, and by what was not checked.
pub(crate) fn verify_result(report: &Value) -> (&'static str, i32) {
    let findings = report["findings"].as_array().expect("a list");
    let classes: Vec<&str> = findings
        .iter()
        .map(|finding| {
            let class = class_of(finding["id"].as_str().expect("an id"));
            assert_eq!(finding["class"], class, "{finding}");
            class
        })
        .collect();
    let gaps = report["not_checked"].as_array().expect("a list");
    if classes.contains(&"tampered") {
        ("tampered", 13)
    } else if classes.contains(&"incomplete") || !gaps.is_empty() {
        ("incomplete", 3)
    } else if classes.contains(&"untidy") {
        ("untidy", 14)
    } else {
        ("ok", 0)
    }
}

/// Asserts that a run of `verify --json` ended as its report has to.
pub(crate) fn assert_verify_ended(output: &Output, report: &Value) {
    let (result, code) = verify_result(report);
    assert_eq!(report["result"], result, "{report}");
    assert_eq!(output.status.code(), Some(code), "{report}");
}

pub(crate) fn json_lines(bytes: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(bytes).expect("UTF-8");
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
        .collect()
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Standard error, but for what is said of a copy that is used for the first time, and of a store
/// for trials.
pub(crate) fn complaints(output: &Output) -> String {
    let said = stderr(output);
    let lines = said.split_inclusive('\n');
    lines
        .filter(|line| !line.starts_with("note: first use of the store "))
        .filter(|line| !line.starts_with("note: a store for trials"))
        .filter(|line| !line.contains(" finished an erasure that was begun before"))
        .collect()
}

/// The system calls that `strace -f` saw, without the thread's number, in the order in which they
/// returned: one that another thread's interrupted is put together again.
pub(crate) fn returned_calls(trace: &str) -> Vec<String> {
    let mut unfinished = std::collections::BTreeMap::new();
    let mut calls = Vec::new();
    for line in trace.lines() {
        let Some((thread, call)) = line.split_once(' ') else {
            continue;
        };
        let call = call.trim_start();
        if let Some(begun) = call.strip_suffix("<unfinished ...>") {
            unfinished.insert(thread, begun.trim_end().to_owned());
        } else if let Some((_, end)) = call.split_once(" resumed>") {
            let begun = unfinished.remove(thread).unwrap_or_default();
            calls.push(begun + end);
        } else {
            calls.push(call.to_owned());
        }
    }
    calls
}

/// How many records the journal has, each of what became durable with one sync (docs/format.md,
/// 7.2).
pub(crate) fn journal_records(store: &Path) -> usize {
    records_of(&std::fs::read(store.join("journal")).expect("there")).count()
}

/// The records of a journal, each from its length on.
fn records_of(journal: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut at = 128;
    std::iter::from_fn(move || {
        let length = journal.get(at..at + 4)?.try_into().expect("four");
        let length = u32::from_le_bytes(length) as usize;
        let record = journal.get(at..at + 36 + length)?;
        at += 36 + length;
        (length > 0).then_some(record)
    })
}

/// Whether a program can be run; says loudly if not, so that nobody takes silence for a pass.
pub(crate) fn has_peer(program: &str, why: &str) -> bool {
    let found = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .output()
        .is_ok();
    if !found {
        // Past the test harness, which keeps the output of a test that passes to itself.
        let loud = format!("\n*** NOT TESTED: `{program}` is not installed: {why} ***\n");
        std::io::stderr()
            .write_all(loud.as_bytes())
            .expect("standard error is open");
    }
    found
}

/// The store that a command works on.
pub(crate) fn store_of(command: &Command) -> PathBuf {
    let store = command
        .get_envs()
        .find(|(name, _)| *name == "AGEKEEP_STORE");
    let store = store.and_then(|(_, value)| value);
    store.expect("a home names its store").into()
}

/// Waits until a server has put everything in place that it has answered, and until nothing moves
/// objects into a pack: it locks the store and the packs until then. A test that holds a lock itself,
/// or a disk that is full, waits in vain, but not for long.
pub(crate) fn settle(store: &Path) {
    let patience = Instant::now() + Duration::from_secs(2);
    wait_for(patience, || {
        is_free(&store.join("lock")) && is_placed(store)
    });
    wait_for(patience, || is_free(&store.join("objects/pack")));
}

fn wait_for(patience: Instant, happens: impl Fn() -> bool) {
    while !happens() && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Whether nobody holds a lock on this file or folder.
pub(crate) fn is_free(path: &Path) -> bool {
    !is_plain(path) || std::fs::File::open(path).map_or(true, |lock| lock.try_lock().is_ok())
}

/// Whether it can be opened: a pipe that a test has put there would wait for a writer.
fn is_plain(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|is| is.is_file() || is.is_dir())
}

/// Whether the branch points at the last commit in the journal (docs/format.md, 7.2), or one of the two
/// cannot be read.
fn is_placed(store: &Path) -> bool {
    let [branch, journal] = ["refs/heads/main", "journal"].map(|name| {
        let path = Some(store.join(name)).filter(|path| is_plain(path));
        path.and_then(|path| std::fs::read(path).ok())
    });
    let (Some(branch), Some(journal)) = (branch, journal) else {
        return true;
    };
    let last = records_of(&journal).last();
    last.and_then(|record| record.get(36 + 20..36 + 40))
        .is_none_or(|head| {
            let head: String = head.iter().map(|byte| format!("{byte:02x}")).collect();
            branch.trim_ascii() == head.as_bytes()
        })
}
