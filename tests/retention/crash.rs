//! Sweeps, erasures and redactions that are cut off: all of it counts or nothing, and the same
//! command goes on.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use agekeep::crypto::keyfile;
use agekeep::error::{Error, RetentionFault};
use agekeep::event::Context;
use agekeep::store::revision::Revision;
use agekeep::store::{Keys, Store};
use chrono::{DateTime, Utc};

use crate::retention::scene::{Scene, copy, day, text};
use crate::support::forge::unhex;
use crate::support::{has_peer, stderr, stdout, strace};

const CALLS: [&str; 11] = [
    "write",
    "pwrite64",
    "renameat",
    "renameat2",
    "unlinkat",
    "mkdirat",
    "fsync",
    "fdatasync",
    "syncfs",
    "ftruncate",
    "flock",
];
/// So many of the places where a command can be cut off are tried, unless the variable says all.
const CUTS: usize = 9;
const FAULTS: usize = 5;
const EVERY: &str = "AGEKEEP_TEST_EVERY_CALL";

/// A call of a process, by its name and its number among those of its thread.
type Cut = (String, usize);

/// What is cut off, and what it does when it is not.
struct Case {
    scene: Scene,
    now: String,
    args: Vec<String>,
    /// Memories whose keys it destroys.
    gone: Vec<String>,
    /// A memory of which it keeps the present version alone.
    kept: Option<String>,
    /// Memories that are not there any more afterwards.
    absent: Vec<String>,
    aside: PathBuf,
    events: u64,
}

impl Case {
    fn new(scene: Scene, now: &str, args: &[&str]) -> Self {
        let aside = scene.home.path().join("aside");
        fs::create_dir_all(&aside).expect("made");
        copy(&scene.home.store(), &aside.join("store"));
        copy(&scene.home.state(), &aside.join("state"));
        Self {
            now: now.to_owned(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            gone: Vec::new(),
            kept: None,
            absent: Vec::new(),
            aside,
            events: scene.events() as u64,
            scene,
        }
    }

    fn put_back(&self) {
        copy(&self.aside.join("store"), &self.scene.home.store());
        copy(&self.aside.join("state"), &self.scene.home.state());
    }

    fn command(&self) -> Command {
        let args: Vec<&str> = self.args.iter().map(String::as_str).collect();
        self.scene.command_as("owner", &self.now, &args)
    }

    /// The command under strace, with these options besides.
    fn traced(&self, options: &[&str]) -> Output {
        let traced = self.command();
        let mut strace = strace(&options.concat());
        strace
            .args(options)
            .arg(traced.get_program())
            .args(traced.get_args())
            .env_clear();
        let envs = traced.get_envs();
        strace.envs(envs.filter_map(|(name, value)| Some((name, value?))));
        strace.current_dir(self.scene.home.path());
        strace.output().expect("strace runs")
    }

    /// Every call that changes something, in the order in which they are made.
    fn cuts(&self) -> Vec<Cut> {
        let file = self.scene.home.path().join("trace");
        let calls = format!("trace={}", CALLS.join(","));
        let run = self.traced(&["-o", &text(&file), "-e", &calls]);
        assert!(run.status.success(), "{:?}: {}", self.args, stderr(&run));
        self.put_back();
        let trace = fs::read_to_string(file).expect("written");
        let (mut counts, mut cuts) = (BTreeMap::new(), Vec::new());
        for line in trace.lines().filter(|line| !line.contains("resumed>")) {
            let (thread, call) = line.split_once(' ').expect("a thread and its call");
            let Some((name, _)) = call.trim_start().split_once('(') else {
                continue;
            };
            let count = counts.entry((thread.to_owned(), name.to_owned()));
            let count = count.and_modify(|count| *count += 1).or_insert(1);
            let cut = (name.to_owned(), *count);
            if !cuts.contains(&cut) {
                cuts.push(cut);
            }
        }
        assert!(cuts.len() > 40, "{:?}: only {}", self.args, cuts.len());
        cuts
    }

    fn store(&self) -> Store {
        let home = &self.scene.home;
        let now: DateTime<Utc> = self.now.parse().expect("a time");
        let keys = Keys {
            identity: keyfile::read_identity(&home.identity()).expect("an identity"),
            signing_key: Some(keyfile::read_signing_key(&home.signing_key()).expect("a key")),
            state: Some(home.state()),
            keyring: None,
        };
        Store::open(&home.store(), keys, Box::new(move || now)).expect("opens")
    }

    /// All of it happened, or nothing did, and given again it happens.
    fn check(&self, run: &Output, when: &str) {
        assert!(!stderr(run).contains("panicked"), "{when}: {}", stderr(run));
        let status = self.store().status().expect("counts");
        let done = status.events == self.events + 1;
        assert!(done || status.events == self.events, "{when}: other events");
        assert!(done || !run.status.success(), "{when}: acknowledged");
        if done {
            self.check_done(when);
        } else {
            self.check_undone(when);
            self.scene.assert_verified(when);
            let again = self.command().output().expect("runs");
            assert!(again.status.success(), "{when}: {}", stderr(&again));
            self.check_done(when);
        }
        self.scene.assert_verified(when);
        let doctor = self.scene.run(&self.now, &["doctor", "--json"]);
        let said = stdout(&doctor);
        assert!(!said.contains("\"problem\""), "{when}: {said}");
        let left = fs::read_dir(self.scene.keyring()).expect("there");
        assert_eq!(left.count(), 4, "{when}: something is left in the keyring");
    }

    fn check_done(&self, when: &str) {
        // Whoever only looks leaves no event.
        let mut store = self.scene.store();
        let proof = store.receipt(None).expect("a receipt");
        assert_eq!(proof.event.number, self.events, "{when}");
        let erased = proof.receipt().memories.iter();
        let erased: BTreeSet<String> = erased.map(|erased| erased.memory.to_string()).collect();
        let wanted = self.gone.iter().chain(&self.kept).cloned().collect();
        assert_eq!(erased, wanted, "{when}: what the receipt lists");
        let tree = stdout(&self.scene.home.git(&["ls-tree", "-r", "main"]));
        for id in self.gone.iter().chain(&self.absent) {
            assert!(!tree.contains(id.as_str()), "{when}: {id} is in the tree");
        }
        for id in &self.gone {
            let found = with_bytes(&self.scene.home.store(), &unhex(id));
            assert_eq!(found, Vec::<PathBuf>::new(), "{when}: a key of {id}");
        }
        if let Some(id) = &self.kept {
            assert!(tree.contains(id.as_str()), "{when}: {id} is not there");
            let old = store.show_at(TARGET, &Revision::event(FIRST), &Context::default());
            let fault = old.map(drop).expect_err("an erased version");
            let is_erased = matches!(fault, Error::Retention(RetentionFault::Erased { .. }));
            assert!(is_erased, "{when}: {fault}");
            let now = store.show_at(TARGET, &Revision::head(), &Context::default());
            let now = now.expect("the present version is kept").found.content;
            assert!(now.as_str().contains("third"), "{when}");
        }
    }

    fn check_undone(&self, when: &str) {
        let mut store = self.scene.store();
        let tree = stdout(&self.scene.home.git(&["ls-tree", "-r", "main"]));
        for id in self.absent.iter().chain(&self.kept) {
            assert!(tree.contains(id.as_str()), "{when}: {id} is not there");
        }
        for id in self.gone.iter().chain(&self.absent).chain(&self.kept) {
            let ring = fs::read(self.scene.keyring().join("ring")).expect("there");
            let has = ring.windows(16).any(|bytes| bytes == unhex(id));
            assert!(has, "{when}: the key of {id} is lost");
        }
        let first = store.show_at(TARGET, &Revision::event(FIRST), &Context::default());
        let first = first.expect("it opens as before").found.content;
        assert!(first.as_str().starts_with("first"), "{when}");
    }

    /// Cuts the command off at some of its calls, or at all of them.
    fn cut_off(&self, wanted: usize, what: impl Fn(usize) -> String) {
        let cuts = self.cuts();
        let step = match env::var_os(EVERY) {
            Some(_) => 1,
            None => cuts.len().div_ceil(wanted),
        };
        // The last ones of each stretch: the first of all is before anything began.
        let chosen = cuts.iter().enumerate().skip(step - 1).step_by(step);
        for (at, (call, number)) in chosen {
            let what = what(at);
            let inject = format!("inject={call}:{what}:when={number}");
            let run = self.traced(&["-o", "/dev/null", "-e", &inject]);
            let when = format!("{:?}, {what} at {call} {number}", self.args);
            if what.starts_with("error") && !run.status.success() {
                let said = stderr(&run);
                assert_eq!(run.status.code(), Some(16), "{when}: {said}");
                assert!(said.contains("error: "), "{when}: {said}");
                assert!(said.contains("hint: "), "{when}: {said}");
            }
            self.check(&run, &when);
            self.put_back();
        }
    }

    fn killed(&self) {
        self.cut_off(CUTS, |_| "signal=KILL".into());
    }

    fn failed(&self) {
        self.cut_off(FAULTS, |at| format!("error={}", ["ENOSPC", "EIO"][at % 2]));
    }
}

/// Every file of a folder in which these bytes are.
fn with_bytes(folder: &Path, wanted: &[u8]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(with_bytes(&path, wanted));
        } else {
            let bytes = fs::read(&path).expect("a file");
            let has = bytes.windows(wanted.len()).any(|found| found == wanted);
            found.extend(has.then_some(path));
        }
    }
    found
}

const TARGET: &str = "/memories/target.md";
/// The event that made it.
const FIRST: u64 = 1;
const POLICY: &str = "\
    [redaction]\npaths = [{ glob = \"/memories/target.md\", mode = \"off\" }]\n\
    [expiration]\nunaccessed_for = \"10d\"\ngrace = \"5d\"\nthen = \"erase\"\n";

/// A memory with three versions, each with a secret, two that a sweep removed, and two that are due.
fn scene() -> Scene {
    let scene = Scene::new(POLICY);
    let secret = ["ghp_", "XcwM0kYq2RvTn7LbPz4HsJd9UfGe3A1CmK5s"].concat();
    scene.create(&day(0), TARGET, &format!("first\n{secret}\n"));
    scene.create(&day(0), "/memories/swept/one.md", "one\n");
    scene.create(&day(0), "/memories/swept/two.md", "two\n");
    let edit = |at: i64, old: &str, new: &str| {
        let args = ["str-replace", TARGET, "--old", old, "--new", new];
        scene.done(&day(at), &args);
    };
    edit(7, "first", "second");
    scene.create(&day(7), "/memories/due/three.md", "three\n");
    scene.create(&day(7), "/memories/due/four.md", "four\n");
    scene.done(&day(11), &["expire"]);
    edit(16, "second", "third");
    scene
}

fn sweep() -> Case {
    let scene = scene();
    let ids = |names: [&str; 2]| -> Vec<String> {
        let mut store = scene.store();
        let newest = Revision::event(6);
        let ids = names.iter().map(|name| {
            let shown = store.show_at(name, &newest, &Context::default());
            let version = shown.expect("it was there").found.version;
            version.expect("a file").id.to_string()
        });
        ids.collect()
    };
    let gone = ids(["/memories/swept/one.md", "/memories/swept/two.md"]);
    let absent = ids(["/memories/due/three.md", "/memories/due/four.md"]);
    let mut case = Case::new(scene, &day(18), &["expire"]);
    (case.gone, case.absent) = (gone, absent);
    case
}

fn whole() -> Case {
    let scene = scene();
    let id = scene.id(TARGET);
    let mut case = Case::new(
        scene,
        &day(16),
        &["erase", TARGET, "--reason", "asked", "--yes"],
    );
    (case.gone, case.absent) = (vec![id.clone()], vec![id]);
    case
}

fn history() -> Case {
    let scene = scene();
    let id = scene.id(TARGET);
    let mut case = Case::new(
        scene,
        &day(16),
        &["erase", TARGET, "--history", "--yes", "--reason", "asked"],
    );
    case.kept = Some(id);
    case
}

fn redaction() -> Case {
    let scene = scene();
    let id = scene.id(TARGET);
    let mut case = Case::new(
        scene,
        &day(16),
        &[
            "redact",
            "HEAD:/memories/target.md",
            "--yes",
            "--reason",
            "asked",
        ],
    );
    case.kept = Some(id);
    case
}

#[test]
fn killed_at_the_calls_of_a_sweep_that_removes_and_erases() {
    if has_peer("strace", "kills during a sweep") {
        sweep().killed();
    }
}

#[test]
fn killed_at_the_calls_of_an_erasure() {
    if has_peer("strace", "kills during an erasure") {
        whole().killed();
    }
}

#[test]
fn killed_at_the_calls_of_an_erasure_of_history() {
    if has_peer("strace", "kills during an erasure of history") {
        history().killed();
    }
}

#[test]
fn killed_at_the_calls_of_a_redaction() {
    if has_peer("strace", "kills during a redaction") {
        redaction().killed();
    }
}

#[test]
fn calls_that_fail_during_a_sweep_or_an_erasure_are_errors_and_lose_nothing() {
    if !has_peer("strace", "failing calls during sweeps and erasures") {
        return;
    }
    for case in [sweep(), whole(), history()] {
        case.failed();
    }
}
