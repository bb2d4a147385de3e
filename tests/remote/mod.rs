//! Copies elsewhere: what is sent and taken, what is refused, and what a killed transfer leaves.

mod apart;
mod erasing;
mod hosts;
mod leaving;
mod policies;
mod replicas;
mod stops;
mod transports;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::support::{
    AFTER_ALL, Home, assert_verify_ended, every, feed, git, has_peer, json_lines, last_time,
    settle, stderr, stdout, strace,
};

pub(super) fn ok(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    stdout(output)
}

/// The code with which a command ended, and the code of its error.
fn refused(output: &Output) -> (Option<i32>, String) {
    let last = stderr(output);
    let error = last.lines().rev().find_map(|line| {
        let value: Value = serde_json::from_str(line).ok()?;
        Some(value["error"]["code"].as_str()?.to_owned())
    });
    (output.status.code(), error.unwrap_or(last))
}

/// A home with a store that has two memories, and an empty repository as its remote.
pub(super) fn home_with_host() -> (Home, PathBuf) {
    let home = Home::with_store();
    let host = home.path().join("host.git");
    bare(&host);
    ok(&home.run(&["create", "a.md", "--text", "one\n"]));
    ok(&home.run(&["create", "b.md", "--text", "two\n"]));
    ok(&home.run(&["remote", "add", "origin", path(&host)]));
    (home, host)
}

pub(super) fn bare(at: &Path) {
    let mut git = Command::new("git");
    // Without the examples of hooks, which are copied with it.
    git.args([
        "init",
        "-q",
        "--bare",
        "--initial-branch=main",
        "--template=",
    ]);
    ok(&git.arg(at).output().expect("git runs"));
}

pub(super) fn path(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// The commit at the end of a repository's history.
pub(super) fn head(store: &Path) -> String {
    settle(store);
    stdout(&git(store, &["rev-parse", "--verify", "-q", "main"]))
}

/// A command on the copy in a folder of this home.
pub(super) fn on(home: &Home, copy: &str, args: &[&str]) -> Output {
    let mut command = home.command(args);
    command.env("AGEKEEP_STORE", home.path().join(copy));
    feed(command, b"")
}

/// Verifies all of a copy, and returns the exit code.
pub(super) fn verified(home: &Home, copy: &str) -> Option<i32> {
    let output = on(home, copy, &["verify", "--full", "--json"]);
    let report = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_verify_ended(&output, &report);
    output.status.code()
}

/// Everything that a store's folder has, but for what a command may write at any time.
pub(super) fn contents(store: &Path) -> Vec<String> {
    settle(store);
    let mut names = Vec::new();
    let mut folders = vec![store.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let found = entry.expect("an entry").path();
            if found.is_dir() {
                folders.push(found.clone());
            }
            let name = found.strip_prefix(store).expect("below it");
            names.push(path(name).to_owned());
        }
    }
    names.retain(|name| !["lock", "main.before"].contains(&name.as_str()));
    names.sort();
    names
}

#[test]
fn what_is_there_is_sent_once_and_a_copy_without_keys_takes_what_comes() {
    let (home, host) = home_with_host();
    let sent = json_lines(&home.run(&["push", "--json"]).stdout);
    assert_eq!(
        (&sent[0]["sent"], &sent[0]["events"]),
        (&json!(3), &json!(3))
    );
    assert_eq!(head(&host), head(&home.store()));
    let again = json_lines(&home.run(&["push", "origin", "--json"]).stdout);
    assert_eq!(again[0]["sent"], 0);

    let made = ok(&home.run(&["clone", path(&host), "copy"]));
    assert!(made.contains("3 events, verified"), "{made}");
    assert!(made.contains("nobody can read it"), "{made}");
    assert_eq!(verified(&home, "copy"), Some(3));
    let read = on(&home, "copy", &["view", "a.md", "--json"]);
    assert_eq!(refused(&read), (Some(12), "no_keyring".into()));

    ok(&home.run(&["str-replace", "a.md", "--old", "one", "--new", "ONE"]));
    ok(&home.run(&["push"]));
    let left = home
        .path()
        .join("copy/objects/pack/tmp_agekeep_0123456789abcdef");
    fs::write(&left, "of a pull that was killed").expect("written");
    let came = json_lines(&on(&home, "copy", &["pull", "--json"]).stdout);
    assert_eq!(
        (&came[0]["received"], &came[0]["events"]),
        (&json!(1), &json!(4))
    );
    assert!(!left.exists());
    assert_eq!(head(&home.path().join("copy")), head(&home.store()));
    assert_eq!(verified(&home, "copy"), Some(3));
    let nothing = json_lines(&on(&home, "copy", &["pull", "--json"]).stdout);
    assert_eq!(
        (&nothing[0]["received"], &nothing[0]["missing"]),
        (&json!(0), &json!(0))
    );
    // A copy can send on what it has.
    let other = home.path().join("other.git");
    bare(&other);
    ok(&on(
        &home,
        "copy",
        &["remote", "add", "other", path(&other)],
    ));
    ok(&on(&home, "copy", &["push", "other"]));
    assert_eq!(head(&other), head(&home.store()));
    assert_eq!(verified(&home, "store"), Some(0));
    for copy in ["store", "copy"] {
        let left = contents(&home.path().join(copy));
        assert!(!left.iter().any(|name| name.contains("init-")), "{left:?}");
    }
}

#[test]
fn a_copy_with_its_keys_goes_on_and_the_first_takes_its_events_with_new_keys() {
    let (home, host) = home_with_host();
    ok(&home.run(&["push"]));
    ok(&home.run(&["keys", "backup", "keys.age"]));
    let made = ok(&home.run(&["clone", path(&host), "copy", "--keys", "keys.age"]));
    assert!(made.contains("Its keys are in place"), "{made}");
    assert_eq!(verified(&home, "copy"), Some(0));
    assert!(ok(&on(&home, "copy", &["view", "a.md"])).contains("one"));
    // Keys can come later than the history; some that do not fit leave nothing behind.
    ok(&home.run(&["clone", path(&host), "sealed"]));
    let other = Home::with_store();
    ok(&other.run(&["keys", "backup", path(&home.path().join("other.age"))]));
    let foreign = on(&home, "sealed", &["pull", "--keys", "other.age", "--json"]);
    assert_eq!(refused(&foreign), (Some(12), "not_a_recipient".into()));
    ok(&on(&home, "copy", &["view", "a.md"]));
    ok(&on(&home, "copy", &["push"]));
    let came = on(
        &home,
        "sealed",
        &["pull", "--identity", "/nowhere", "--json"],
    );
    // Both looks of the copy at a.md.
    assert_eq!(
        json_lines(&came.stdout)[0]["received"],
        2,
        "{}",
        stderr(&came)
    );
    let opened = on(&home, "sealed", &["pull", "--keys", "keys.age"]);
    assert!(ok(&opened).contains("keys are in place"));
    assert_eq!(verified(&home, "sealed"), Some(0));
    ok(&on(&home, "copy", &["create", "c.md", "--text", "three\n"]));
    ok(&on(&home, "copy", &["push"]));
    let (before, left) = (head(&home.store()), contents(&home.store()));
    let without = home.run(&["pull", "--json"]);
    assert_eq!(refused(&without), (Some(12), "keys_behind".into()));
    assert_eq!(head(&home.store()), before);
    assert_eq!(contents(&home.store()), left);

    ok(&on(&home, "copy", &["keys", "backup", "newer.age"]));
    // The older backup does not have the key either.
    let older = home.run(&["pull", "--keys", "keys.age", "--json"]);
    assert_eq!(refused(&older), (Some(12), "keys_behind".into()));
    ok(&home.run(&["pull", "--keys", "newer.age"]));
    assert!(ok(&home.run(&["view", "c.md"])).contains("three"));
    assert_eq!(verified(&home, "store"), Some(0));
    // And on from there.
    ok(&home.run(&["create", "d.md", "--text", "four\n"]));
    ok(&home.run(&["push"]));
    assert_eq!(verified(&home, "store"), Some(0));
}

/// What an erasure promises of copies: once each took it, all their keys together open nothing of the
/// memory in anything that was ever sent.
#[test]
fn an_erasure_reaches_the_keys_of_a_copy_with_the_pull_that_brings_it() {
    let (home, host) = home_with_host();
    ok(&home.run(&["push"]));
    ok(&home.run(&["keys", "backup", "keys.age"]));
    ok(&home.run(&["clone", path(&host), "copy", "--keys", "keys.age"]));
    fs::remove_file(home.path().join("keys.age")).expect("there");
    let archive = home.path().join("archive.git");
    let mut clone = Command::new("git");
    ok(&clone
        .args(["clone", "-q", "--mirror", path(&host)])
        .arg(&archive)
        .output()
        .expect("git"));
    let versions = || {
        // With the keys of the copy, over everything that the archivist has.
        let keyring = home.path().join("copy/keyring");
        let args = ["view", "a.md", "--at", "1", "--json"];
        let mut command = home.command(&args);
        command
            .env("AGEKEEP_STORE", &archive)
            .env("AGEKEEP_KEYRING", keyring);
        command.env("XDG_STATE_HOME", home.path().join("archivist"));
        feed(command, b"")
    };
    let opens = |output: &Output| ok(output).contains("one");
    // The control: before the erasure they open.
    assert!(opens(&versions()));
    ok(&home.run(&["erase", "a.md", "--yes", "--reason", "request 7"]));
    ok(&home.run(&["push"]));
    // The copy has not heard of it.
    assert!(opens(&versions()));
    ok(&home.run(&["keys", "backup", "newer.age"]));
    ok(&on(&home, "copy", &["pull", "--keys", "newer.age"]));
    let mut fetch = Command::new("git");
    let fetch = fetch
        .arg("--git-dir")
        .arg(&archive)
        .args(["fetch", "-q", "origin"]);
    ok(&fetch.output().expect("git"));
    let opened = versions();
    assert!(!opened.status.success(), "{}", stdout(&opened));
    let gone = on(&home, "copy", &["view", "a.md", "--at", "1", "--json"]);
    assert_eq!(refused(&gone), (Some(4), "not_found".into()));
    ok(&on(&home, "copy", &["receipt", "verify"]));
    assert_eq!(verified(&home, "copy"), Some(0));
    assert!(ok(&on(&home, "copy", &["view", "b.md"])).contains("two"));
}

/// A copy with keys that nobody can open, or that an erasure made old, takes nothing.
#[test]
fn a_copy_takes_nothing_without_the_keys_to_it() {
    let (home, host) = home_with_host();
    ok(&home.run(&["push"]));
    ok(&home.run(&["keys", "backup", "keys.age"]));
    ok(&home.run(&["clone", path(&host), "copy", "--keys", "keys.age"]));
    let other = Home::with_store();
    let copy = home.path().join("copy");
    let (before, left) = (head(&copy), contents(&copy));
    let stays = |what: &str, args: &[&str], code: &str| {
        let pull = on(&home, "copy", &[&["pull", "--json"], args].concat());
        assert_eq!(refused(&pull), (Some(12), code.into()), "{what}");
        assert_eq!(
            (head(&copy), contents(&copy)),
            (before.clone(), left.clone()),
            "{what}"
        );
    };
    let strangers = other.identity();
    for deed in [
        &["create", "c.md", "--text", "three\n"][..],
        &["keys", "replace", "--reason", "x"],
        &["erase", "a.md", "--yes", "--reason", "x"],
        &["members", "add", "eva", "--new", "--role", "auditor"],
        &["members", "rm", "eva"],
    ] {
        ok(&home.run(deed));
        ok(&home.run(&["push"]));
        stays(
            deed[0],
            &["--identity", path(&strangers)],
            "not_a_recipient",
        );
        stays(deed[0], &["--identity", "/nowhere"], "not_a_recipient");
        stays(deed[0], &[], "keys_behind");
        stays(deed[0], &["--keys", "keys.age"], "keys_behind");
    }
    assert_eq!(verified(&home, "copy"), Some(0));
    ok(&home.run(&["keys", "backup", "newer.age"]));
    ok(&on(&home, "copy", &["pull", "--keys", "newer.age"]));
    assert_eq!(verified(&home, "copy"), Some(0));
}

/// An auditor elsewhere: her copy has the keys of records, and comes up to date with the next backup.
#[test]
fn an_auditor_has_a_copy_of_her_own_that_comes_up_to_date() {
    let (home, host) = home_with_host();
    let none = home.run(&["keys", "backup", "none.age", "--for-auditors", "--json"]);
    assert_eq!(none.status.code(), Some(4), "{}", stderr(&none));
    let identity = ok(&home.run(&["members", "add", "olga", "--new", "--role", "auditor"]));
    fs::write(home.path().join("olga.txt"), identity).expect("written");
    let mut chmod = Command::new("chmod");
    ok(&chmod
        .arg("600")
        .arg(home.path().join("olga.txt"))
        .output()
        .expect("runs"));
    ok(&home.run(&["push"]));
    ok(&home.run(&["keys", "backup", "olga.age", "--for-auditors"]));
    let as_olga = |args: &[&str]| {
        let olga = ["--identity", "olga.txt", "--signing-key", "none", "-q"];
        on(&home, "olga", &[&olga, args].concat())
    };
    ok(&home.run(&[
        "clone",
        path(&host),
        "olga",
        "--keys",
        "olga.age",
        "-i",
        "olga.txt",
    ]));
    assert_eq!(as_olga(&["verify", "--full"]).status.code(), Some(3));
    assert!(ok(&as_olga(&["log"])).contains("/memories/a.md"));
    assert_eq!(as_olga(&["view", "a.md"]).status.code(), Some(12));
    // Her keys open no reader's copy, and a reader's backup does not open for her.
    ok(&home.run(&["keys", "backup", "keys.age"]));
    let readers = home.run(&[
        "clone",
        path(&host),
        "made",
        "--keys",
        "keys.age",
        "-i",
        "olga.txt",
        "--json",
    ]);
    assert_eq!(refused(&readers), (Some(12), "not_a_recipient".into()));
    ok(&home.run(&["create", "later/c.md", "--text", "three\n"]));
    ok(&home.run(&["erase", "b.md", "--yes", "--reason", "request 9"]));
    ok(&home.run(&["push"]));
    let behind = as_olga(&["pull", "--json"]);
    assert_eq!(refused(&behind), (Some(12), "keys_behind".into()));
    ok(&home.run(&["keys", "backup", "newer.age", "--for-auditors"]));
    ok(&as_olga(&["pull", "--keys", "newer.age"]));
    assert_eq!(as_olga(&["verify", "--full"]).status.code(), Some(3));
    let log = ok(&as_olga(&["log"]));
    assert!(log.contains("later/c.md") && log.contains("erase"), "{log}");
    assert!(!log.contains("b.md"), "the path of an erased memory: {log}");
    ok(&as_olga(&[
        "report", "--format", "markdown", "--out", "seen.md",
    ]));
    let keyring = home.path().join("olga/keyring");
    let mut files: Vec<_> = fs::read_dir(keyring)
        .expect("there")
        .map(|e| e.expect("an entry").file_name())
        .collect();
    files.sort();
    assert_eq!(files, ["audit.age", "names"]);
}

/// A store that was put back from an old backup takes what it lost from its remote.
#[test]
fn a_store_from_an_old_backup_gets_its_events_back() {
    let (home, _) = home_with_host();
    let mut cp = Command::new("cp");
    settle(&home.store());
    ok(&cp
        .arg("-a")
        .arg(home.store())
        .arg(home.path().join("old"))
        .output()
        .expect("cp runs"));
    ok(&home.run(&["str-replace", "a.md", "--old", "one", "--new", "ONE"]));
    ok(&home.run(&["push"]));
    fs::remove_dir_all(home.store()).expect("removes");
    fs::rename(home.path().join("old"), home.store()).expect("moves");
    let turned_back = home.run(&["view", "a.md", "--json"]);
    assert_eq!(refused(&turned_back), (Some(13), "rolled_back".into()));
    ok(&home.run(&["pull"]));
    assert!(ok(&home.run(&["view", "a.md"])).contains("ONE"));
    assert_eq!(verified(&home, "store"), Some(0));
}

/// A write or a sync that fails at any moment leaves a store that verifies.
#[test]
fn a_pull_whose_system_call_fails_leaves_a_store_that_verifies() {
    if !has_peer("strace", "a pull whose system calls fail does no harm") {
        return;
    }
    let (home, host) = home_with_host();
    ok(&home.run(&["push"]));
    ok(&home.run(&["keys", "backup", "keys.age"]));
    ok(&home.run(&["clone", path(&host), "fresh", "--keys", "keys.age"]));
    ok(&home.run(&["create", "c.md", "--text", "three\n"]));
    ok(&home.run(&["push"]));
    ok(&home.run(&["keys", "backup", "newer.age"]));
    let mut failures = 0;
    for fault in [
        "fsync:error=EIO",
        "fdatasync:error=EIO",
        "renameat:error=ENOSPC",
        "pwrite64:error=ENOSPC",
    ] {
        for number in (1..).step_by(every(4)) {
            let run = traced_pull(&home, &format!("{fault}:when={number}"));
            failures += usize::from(!run.status.success());
            assert_eq!(
                verified(&home, "copy"),
                Some(0),
                "{fault} {number}: {}",
                stderr(&run)
            );
            assert!(ok(&on(&home, "copy", &["view", "b.md"])).contains("two"));
            // Past the last call of its kind nothing fails any more.
            if run.status.success() && number > 12 {
                break;
            }
        }
    }
    assert!(failures > 3, "{failures}");
}

/// Runs a pull of the copy of `fresh`, with what strace does to its system calls.
fn traced_pull(home: &Home, fault: &str) -> Output {
    let (fresh, copy) = (home.path().join("fresh"), home.path().join("copy"));
    traced(
        home,
        &["pull", "--keys", "newer.age"],
        (&fresh, &copy),
        fault,
    )
}

/// Runs a command on a new copy of a store, with what strace does to its system calls.
pub(crate) fn traced(
    home: &Home,
    args: &[&str],
    (fresh, copy): (&Path, &Path),
    fault: &str,
) -> Output {
    copy_folder(fresh, copy);
    // A copy that is put back is no rollback here.
    drop(fs::remove_dir_all(home.path().join(".local/state")));
    let call = fault.split(':').next().expect("a call");
    let mut strace = strace(fault);
    strace
        .arg("-o")
        .arg(home.path().join("calls"))
        .args(["-e", &format!("trace={call}")])
        .args(["-e", &format!("inject={fault}")]);
    within(strace, home, &home.command(args))
        .env("AGEKEEP_STORE", copy)
        .output()
        .expect("strace runs")
}

/// Has another program run a command, with the variables of that alone, in its home.
pub(super) fn within(mut outer: Command, home: &Home, command: &Command) -> Command {
    let set = command.get_envs();
    outer
        .arg(command.get_program())
        .args(command.get_args())
        .env_clear()
        .envs(set.filter_map(|(name, value)| Some((name, value?))))
        .current_dir(home.path());
    outer
}

/// Copies a folder to another place, and removes what was there.
pub(super) fn copy_folder(from: &Path, to: &Path) {
    drop(fs::remove_dir_all(to));
    let mut cp = Command::new("cp");
    cp.arg("-a").arg(from).arg(to);
    ok(&feed(cp, b""));
}

#[test]
fn two_that_were_both_written_to_stay_as_they_are() {
    let (home, host) = home_with_host();
    ok(&home.run(&["push"]));
    ok(&home.run(&["keys", "backup", "keys.age"]));
    ok(&home.run(&["clone", path(&host), "copy", "--keys", "keys.age"]));
    ok(&on(
        &home,
        "copy",
        &["str-replace", "a.md", "--old", "one", "--new", "copy"],
    ));
    ok(&on(&home, "copy", &["push"]));
    ok(&home.run(&["str-replace", "a.md", "--old", "one", "--new", "store"]));
    let (here, there, left) = (head(&home.store()), head(&host), contents(&home.store()));
    let push = home.run(&["push", "--json"]);
    assert_eq!(refused(&push), (Some(15), "remote_ahead".into()));
    let pull = home.run(&["pull", "--json"]);
    assert_eq!(refused(&pull), (Some(15), "diverged".into()));
    assert_eq!((head(&home.store()), head(&host)), (here, there));
    assert_eq!(contents(&home.store()), left);
    for (copy, text) in [("store", "store"), ("copy", "copy")] {
        assert_eq!(verified(&home, copy), Some(0));
        assert!(ok(&on(&home, copy, &["view", "a.md"])).contains(text));
    }
}

#[test]
fn a_push_has_everything_that_a_running_server_has_answered() {
    let (home, host) = home_with_host();
    let mut tool = home.command(&["tool"]);
    let mut tool = tool
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut calls = tool.stdin.take().expect("piped");
    let mut answers = BufReader::new(tool.stdout.take().expect("piped"));
    let mut events = 3;
    for round in 0..6 {
        for number in 0..5 {
            let file = format!("/memories/{round}-{number}.md");
            let call = json!({"command": "create", "path": file, "file_text": "x"});
            writeln!(calls, "{call}").expect("taken");
            answers.read_line(&mut String::new()).expect("answered");
            events += 1;
        }
        let sent = json_lines(&home.run(&["push", "--json"]).stdout);
        assert_eq!(sent[0]["events"], events, "round {round}");
    }
    drop(calls);
    assert!(tool.wait().expect("ends").success());
    assert_eq!(head(&host), head(&home.store()));
    assert_eq!(verified(&home, "store"), Some(0));
}

/// One takes what came; the others find nothing new, or come too late, and nothing is lost.
#[test]
fn several_pulls_and_a_server_at_once_do_no_harm() {
    let (home, host) = home_with_host();
    ok(&home.run(&["push"]));
    ok(&home.run(&["clone", path(&host), "copy"]));
    for number in 0..20 {
        ok(&home.run(&["create", &format!("{number}.md"), "--text", "x"]));
    }
    ok(&home.run(&["push"]));
    let start = || {
        let mut pull = home.command(&["pull"]);
        pull.env("AGEKEEP_STORE", home.path().join("copy"));
        pull.stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starts")
    };
    let pulls: Vec<_> = (0..4).map(|_| start()).collect();
    for pull in pulls {
        ok(&pull.wait_with_output().expect("ends"));
    }
    assert_eq!(head(&home.path().join("copy")), head(&home.store()));
    assert_eq!(verified(&home, "copy"), Some(3));
    let packs = fs::read_dir(home.path().join("copy/objects/pack")).expect("there");
    let kept = packs.filter(|entry| {
        let name = entry.as_ref().expect("an entry").file_name();
        Path::new(&name)
            .extension()
            .is_some_and(|ending| ending == "keep")
    });
    assert_eq!(kept.count(), 0);
}

/// What the store recorded while a pull verified is not lost: the pull begins again.
#[test]
fn a_store_that_goes_on_meanwhile_keeps_its_events() {
    let (home, host) = home_with_host();
    ok(&home.run(&["push"]));
    ok(&home.run(&["keys", "backup", "keys.age"]));
    ok(&home.run(&["clone", path(&host), "copy", "--keys", "keys.age"]));
    ok(&home.run(&["str-replace", "a.md", "--old", "one", "--new", "ONE"]));
    ok(&home.run(&["push"]));
    // A git that lets somebody read a memory of the copy once the events are fetched.
    let tools = home.path().join("tools");
    fs::create_dir(&tools).expect("made");
    let (fake, program) = (tools.join("git"), env!("CARGO_BIN_EXE_agekeep"));
    let script = format!(
        "#!/bin/sh\n/usr/bin/git \"$@\"; code=$?\n\
         case \"$*\" in *' fetch '*) mkdir {0}/once 2> /dev/null && {program} view b.md > /dev/null;; esac\n\
         exit $code\n",
        path(&tools)
    );
    fs::write(&fake, script).expect("written");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    fs::set_permissions(&fake, mode).expect("set");
    let mut pull = home.command(&["pull", "--json"]);
    pull.env("AGEKEEP_STORE", home.path().join("copy"));
    pull.env("PATH", format!("{}:/usr/bin:/bin", path(&tools)));
    let output = feed(pull, b"");
    assert!(tools.join("once").exists());
    assert_eq!(refused(&output), (Some(15), "diverged".into()));
    let log = ok(&on(&home, "copy", &["log", "-n", "1"]));
    assert!(log.contains("view") && log.contains("b.md"), "{log}");
    assert_eq!(verified(&home, "copy"), Some(0));
}

/// A killed transfer leaves a store that verifies, and the next try does the rest.
#[test]
fn killed_at_any_system_call_a_pull_is_whole_or_did_not_happen() {
    if !has_peer(
        "strace",
        "a pull is whole after a kill at every system call",
    ) {
        return;
    }
    let (home, host) = home_with_host();
    ok(&home.run(&["push"]));
    ok(&home.run(&["keys", "backup", "keys.age"]));
    ok(&home.run(&["clone", path(&host), "copy", "--keys", "keys.age"]));
    ok(&home.run(&["create", "c.md", "--text", "three\n"]));
    ok(&home.run(&["erase", "a.md", "--yes", "--reason", "x"]));
    ok(&home.run(&["push"]));
    ok(&home.run(&["keys", "backup", "newer.age"]));
    fs::rename(home.path().join("copy"), home.path().join("fresh")).expect("moves");
    let (mut kills, mut whole) = (0, 0);
    let calls = [
        "renameat",
        "renameat2",
        "unlinkat",
        "mkdirat",
        "fsync",
        "fdatasync",
        "pwrite64",
    ];
    traced_pull(
        &home,
        &format!("{}:error=EIO:when={AFTER_ALL}", calls.join(",")),
    );
    let trace = home.path().join("calls");
    let last = calls.map(|call| last_time(&trace, call));
    for (call, last) in calls.into_iter().zip(last) {
        for number in (1..=last).step_by(every(8)) {
            let run = traced_pull(&home, &format!("{call}:signal=KILL:when={number}"));
            let is_killed = !run.status.success();
            kills += usize::from(is_killed);
            // Before any other command, so that it is the pull that goes on from where it was.
            let seen = on(&home, "copy", &["view", "b.md"]);
            assert!(ok(&seen).contains("two"), "{call} {number}");
            let code = verified(&home, "copy");
            assert_eq!(code, Some(0), "{call} {number}: {}", stderr(&run));
            let again = on(&home, "copy", &["pull", "--keys", "newer.age", "--json"]);
            let pulled = json_lines(&again.stdout);
            // The look at b.md is an event of its own, so that the two have parted if it came first.
            if pulled.is_empty() {
                assert_eq!(refused(&again).1, "diverged", "{call} {number}");
            } else {
                whole += 1;
                assert!(ok(&on(&home, "copy", &["view", "c.md"])).contains("three"));
                let gone = on(&home, "copy", &["view", "a.md", "--at", "1", "--json"]);
                assert_eq!(refused(&gone).1, "not_found", "{call} {number}");
            }
            assert_eq!(verified(&home, "copy"), Some(0), "{call} {number}");
            if !is_killed {
                break;
            }
        }
    }
    assert!(kills > 8 && whole > 3, "{kills} kills, {whole} whole");
}

#[test]
fn doctor_names_a_remote_that_has_lacked_events_for_long() {
    let home = Home::empty().made_by(&["init", "--trial", "--now", "2026-01-01"]);
    let host = home.path().join("host.git");
    bare(&host);
    ok(&home.run(&["remote", "add", "off-site", path(&host)]));
    let named = |now: &str| {
        let output = home.run(&["doctor", "--json", "--now", now]);
        let found = json_lines(&output.stdout);
        found.iter().any(|advice| advice["id"] == "remote-behind")
    };
    assert!(named("2026-03-01"), "it was never seen");
    ok(&home.run(&["create", "a.md", "--text", "x", "--now", "2026-03-01"]));
    ok(&home.run(&["push", "--now", "2026-03-02"]));
    assert!(!named("2026-04-01"), "it has everything");
    ok(&home.run(&["create", "b.md", "--text", "x", "--now", "2026-03-03"]));
    assert!(!named("2026-03-09") && named("2026-03-10"));
    let status = ok(&home.run(&["status", "--now", "2026-03-10"]));
    assert!(
        status.contains("lacks 1 event since 2026-03-02"),
        "{status}"
    );
}

/// A clone that is killed leaves a copy with its keys, and the next one beside it removes that.
#[test]
fn what_a_killed_clone_left_is_removed_by_the_next_one() {
    if !has_peer("strace", "a clone is killed at its last sync") {
        return;
    }
    let (home, host) = home_with_host();
    ok(&home.run(&["push"]));
    ok(&home.run(&["keys", "backup", "keys.age"]));
    let clone = |to: &str| home.command(&["clone", path(&host), to, "--keys", "keys.age"]);
    let mut killed = strace("signal=KILL");
    killed.args(["-e", "trace=syncfs", "-e", "inject=syncfs:signal=KILL"]);
    let killed = within(killed, &home, &clone("copy")).output();
    assert!(!killed.expect("strace runs").status.success());
    let left = || {
        let entries = fs::read_dir(home.path()).expect("a folder").flatten();
        let names = entries.map(|entry| entry.file_name().into_string().expect("UTF-8"));
        let mut left: Vec<_> = names
            .filter(|name| name.starts_with(".agekeep-init-"))
            .collect();
        left.sort();
        left
    };
    let [name] = &left()[..] else {
        panic!("{:?}", left());
    };
    let inner = home.path().join(name).join(name);
    assert!(inner.join("keyring/ring").exists());
    // A store that is being made is in such a folder itself, and another copy in a locked one.
    let made = home.path().join(".agekeep-init-0000000000000000");
    fs::create_dir(&made).expect("made");
    fs::write(made.join("HEAD"), "ref: refs/heads/main\n").expect("written");
    let locked = ".agekeep-init-0000000000000001";
    fs::create_dir_all(home.path().join(locked).join(locked)).expect("made");
    let lock = fs::File::open(home.path().join(locked)).expect("opens");
    lock.lock().expect("locks");
    ok(&clone("other").output().expect("it runs"));
    assert_eq!(left().len(), 2, "{:?}", left());
    drop(lock);
    ok(&clone("third").output().expect("it runs"));
    assert_eq!(left(), [".agekeep-init-0000000000000000"]);
}

#[test]
fn a_copy_is_made_in_no_repository() {
    let (home, host) = home_with_host();
    ok(&home.run(&["push"]));
    for place in ["store/x", "store/objects/x", "host.git/refs/heads/x"] {
        let made = home.run(&["clone", path(&host), place, "--json"]);
        assert_eq!(refused(&made), (Some(5), "in_the_way".into()), "{place}");
    }
    assert_eq!(verified(&home, "store"), Some(0));
}

#[test]
fn urls_and_names_that_lead_elsewhere_are_refused() {
    let home = Home::with_store();
    for url in [
        "",
        "-oProxyCommand=x",
        "--upload-pack=x",
        "ext::sh -c x",
        "ext::x",
        "a::b",
        "https://user:secret@host/x.git",
        "https://ghp-token@host/x.git",
        "ssh://git:secret@host/x.git",
        "ftp://host/x.git",
        "https://host/\u{1b}[31m",
        "host.git\nother",
        "https://host/x?token=secret",
    ] {
        let added = home.run(&["remote", "add", "x", "--json", "--", url]);
        assert_eq!(added.status.code(), Some(2), "{url:?}: {}", stderr(&added));
        assert!(!stderr(&added).contains("secret"), "{}", stderr(&added));
        let cloned = home.run(&["clone", "--json", "--", url, "made"]);
        assert_eq!(
            cloned.status.code(),
            Some(2),
            "{url:?}: {}",
            stderr(&cloned)
        );
        assert!(!home.path().join("made").exists());
    }
    for name in ["", "-x", "../x", "a b", "a/b", &"x".repeat(65)] {
        let added = home.run(&["remote", "add", "--json", "--", name, "/x"]);
        assert_eq!(added.status.code(), Some(2), "{name:?}: {}", stderr(&added));
    }
    for url in [
        "git@host:team/memory.git",
        "ssh://git@host/x",
        "https://host/x",
        "file:///x",
        "/x",
    ] {
        ok(&home.run(&["remote", "add", "good", url]));
        let again = home.run(&["remote", "add", "good", url, "--json"]);
        assert_eq!(refused(&again), (Some(5), "remote_exists".into()));
        assert!(ok(&home.run(&["remote", "list"])).contains(url));
        ok(&home.run(&["remote", "rm", "good"]));
    }
    for verb in ["push", "pull"] {
        let none = home.run(&[verb, "nowhere", "--json"]);
        assert_eq!(refused(&none), (Some(4), "no_remote".into()));
    }
}

/// Every file is hostile until it is authenticated, also that of this machine.
#[test]
fn a_file_of_remotes_that_agekeep_did_not_write_is_refused_and_nobody_is_asked() {
    let (home, _) = home_with_host();
    let file = home.store().join("local.toml");
    let good = fs::read_to_string(&file).expect("there");
    for text in [
        good.replace("url", "urls"),
        good.replace(path(&home.path().join("host.git")), "ext::touch pwned"),
        good.replace("origin", "\"../x\""),
        "[remotes.origin]\nurl = \"/x\"\nseen = { commit = \"x\", events = 1, time = \"x\" }\n"
            .into(),
        "[remotes.origin]\nurl = \"/x\"\n[remotes.\"../y\"]\nurl = \"/y\"\n".into(),
        "\u{0}".into(),
        "a".repeat(70_000),
    ] {
        fs::write(&file, &text).expect("written");
        for args in [["push", "--json"], ["pull", "--json"]] {
            let output = home.run(&args);
            assert_eq!(refused(&output), (Some(13), "damaged".into()), "{text:.80}");
        }
        // Who only wants to know how the store is hears of it, and of all else.
        assert!(
            ok(&home.run(&["status"])).contains("local.toml"),
            "{text:.80}"
        );
        assert_eq!(home.run(&["doctor"]).status.code(), Some(14));
    }
    // Numbers are believed, and break nothing.
    ok(&{
        fs::write(&file, &good).expect("written");
        home.run(&["push"])
    });
    let seen = fs::read_to_string(&file).expect("there");
    for events in ["0", "9223372036854775807"] {
        fs::write(
            &file,
            seen.replace("events = 3", &format!("events = {events}")),
        )
        .expect("written");
        ok(&home.run(&["push"]));
        ok(&home.run(&["pull"]));
    }
    fs::remove_file(&file).expect("there");
    std::os::unix::fs::symlink("/etc/passwd", &file).expect("made");
    assert_eq!(refused(&home.run(&["push", "--json"])).0, Some(13));
    // Nobody needs it for anything else.
    ok(&home.run(&["view", "a.md"]));
}

#[test]
fn a_backup_of_keys_that_is_not_this_store_s_makes_no_copy() {
    let (home, host) = home_with_host();
    ok(&home.run(&["push"]));
    ok(&home.run(&["keys", "backup", "keys.age"]));
    let taken = home.run(&["keys", "backup", "keys.age", "--json"]);
    assert_eq!(taken.status.code(), Some(5), "{}", stderr(&taken));
    let good = fs::read(home.path().join("keys.age")).expect("there");
    let other = Home::with_store();
    ok(&other.run(&["keys", "backup", "keys.age"]));
    let recipient = ok(&home.run(&["members", "list"]));
    let recipient = recipient
        .split_whitespace()
        .last()
        .expect("a recipient")
        .to_owned();
    let sealed = |plain: &[u8]| {
        let mut age = Command::new("age");
        age.args(["-r", &recipient]);
        feed(age, plain).stdout
    };
    let opened = {
        let mut age = Command::new("age");
        age.arg("-d").arg("-i").arg(home.identity());
        feed(age, &good).stdout
    };
    let line_end = opened
        .iter()
        .position(|byte| *byte == b'\n')
        .expect("a line");
    let line = String::from_utf8(opened[..line_end].to_vec()).expect("UTF-8");
    let with_line = |line: String| sealed(&[line.as_bytes(), &opened[line_end..]].concat());
    let mut flipped = good.clone();
    *flipped.last_mut().expect("bytes") ^= 1;
    for (what, bytes, code) in [
        (
            "another store's",
            fs::read(other.path().join("keys.age")).expect("there"),
            12,
        ),
        ("cut", good[..good.len() / 2].to_vec(), 13),
        ("flipped", flipped, 13),
        ("no age file", b"hello\n".to_vec(), 13),
        ("empty", Vec::new(), 13),
        (
            "another schema",
            with_line(line.replace("keyring/1", "keyring/2")),
            1,
        ),
        (
            "another store",
            with_line(line.replace("\"store\":\"", "\"store\":\"0")),
            13,
        ),
        (
            "a path",
            with_line(line.replace("\"ring\"", "\"../x\"")),
            13,
        ),
        (
            "a length",
            with_line(line.replace("\"bytes\":", "\"bytes\":9")),
            13,
        ),
        ("more", sealed(&[&opened[..], b"x"].concat()), 13),
    ] {
        fs::write(home.path().join("bad.age"), bytes).expect("written");
        let made = home.run(&["clone", path(&host), "copy", "--keys", "bad.age", "--json"]);
        assert_eq!(made.status.code(), Some(code), "{what}: {}", stderr(&made));
        assert!(!home.path().join("copy").exists(), "{what}");
    }
    // Keys of an earlier moment lack those of later memories.
    ok(&home.run(&["create", "c.md", "--text", "three\n"]));
    ok(&home.run(&["push"]));
    let stale = home.run(&["clone", path(&host), "copy", "--keys", "keys.age", "--json"]);
    assert_eq!(refused(&stale), (Some(12), "keys_behind".into()));
    let names = fs::read_dir(home.path())
        .expect("there")
        .map(|e| e.expect("an entry").file_name());
    let left: Vec<_> = names
        .filter(|name| name.to_string_lossy().contains("init-"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    // An auditor has no backup to make.
    ok(&home.run(&["keys", "backup", "now.age"]));
    ok(&home.run(&["clone", path(&host), "copy", "--keys", "now.age"]));
}
