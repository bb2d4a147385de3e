//! Whoever looks at content through these verbs is on record, where the store can be written.

use std::env;
use std::fs;
use std::process::Command;

use tempfile::TempDir;

use crate::history::story::*;
use crate::support::{Home, stderr, stdout};

const LOOKS: [(&[&str], &str); 9] = [
    (&["view", "--at", "2", "/memories/n"], "view_at"),
    (&["view", "--at", "2"], "view_at"),
    (&["show", "2"], "show"),
    (&["show", "1:/memories/n"], "show"),
    (&["diff", "1", "2"], "diff"),
    (&["diff"], "diff"),
    (&["blame", "/memories/n"], "blame"),
    (&["grep", "two"], "grep"),
    (&["log", "-p", "-n", "3"], "log"),
];

fn told() -> Story {
    let story = Story::new();
    story.told(&[
        ("A", create("n", "one\n")),
        ("A", replace("n", "one", "two")),
    ]);
    story
}

#[test]
fn a_look_says_who_why_at_what_and_when() {
    for (look, command) in LOOKS {
        let story = told();
        story.ok(&[look, &["--reason", "an audit"]].concat());
        let log = story.json(&["log", "-n", "1"]);
        assert_eq!(
            (&log["event"], &log["command"]),
            (&3.into(), &command.into()),
            "{look:?}"
        );
        assert_eq!(
            (&log["reason"], &log["actor"], &log["outcome"]),
            (&"an audit".into(), &"tester".into(), &"ok".into())
        );
        let touches = log["memories"].as_array().expect("a list");
        assert!(
            touches.iter().all(|touch| touch["change"] == "look"),
            "{look:?}"
        );
        let listing = look == ["view", "--at", "2"];
        assert_eq!(touches.is_empty(), listing, "{look:?}: {log}");
        if look.contains(&"1:/memories/n") {
            assert_eq!(
                (&log["at"][0]["event"], &touches[0]["version"]),
                (&1.into(), &1.into())
            );
            assert_eq!(log["path"], "/memories/n");
        }
        // The tree is what it was.
        let trees = stdout(&story.home.git(&["log", "-2", "--format=%T", "main"]));
        let trees: Vec<&str> = trees.lines().collect();
        assert_eq!(trees[0], trees[1]);
    }
}

#[test]
fn a_look_that_finds_nothing_and_a_log_leave_no_trace() {
    let story = told();
    for args in [
        &["view", "--at", "2", "/memories/none"][..],
        &["view", "--at", "99", "/memories/n"],
        &["view", "--at", "2", "-L", "7:9", "/memories/n"],
        &["show", "99"],
        &["show", "0:/memories/n"],
        &["diff", "99"],
        &["blame", "/memories/none"],
        &["grep", "nowhere"],
        &["grep", "("],
        &["log", "/memories/n"],
        &["access", "/memories/n"],
        &["status"],
    ] {
        story.run(args);
        assert_eq!(story.newest(), 2, "{args:?}");
    }
}

/// Every look works as it does with a note, and nothing is recorded.
fn looks_unrecorded(story: &Story, why: &str) {
    for (look, _) in LOOKS {
        let output = story.run(look);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{look:?}: {}",
            stderr(&output)
        );
        has(
            &stderr(&output),
            &["note: this look was not recorded: ", why],
        );
        assert!(!stdout(&output).is_empty(), "{look:?}");
        let output = story.run(&[look, &["--json"]].concat());
        assert_eq!(output.status.code(), Some(0), "{look:?}");
    }
    assert_eq!(story.newest(), 2);
}

#[test]
fn without_a_signing_key_a_look_works_and_says_so() {
    let story = told();
    fs::remove_file(story.home.signing_key()).expect("there");
    looks_unrecorded(&story, "there is no signing key");
    let object = story.run(&["show", "2", "--json"]);
    has(
        &stdout(&object),
        &["\"recorded\":{\"event\":null,\"why\":\"there is no signing key"],
    );
}

#[test]
fn with_a_strangers_signing_key_a_look_works_and_says_so() {
    let (story, stranger) = (told(), Home::with_store());
    fs::copy(stranger.signing_key(), story.home.signing_key()).expect("copies");
    looks_unrecorded(&story, "may not write to this store");
    // What writes is refused.
    story.fails(7, &["restore", "/memories/n", "--from", "1"]);
    story.fails(7, &["revert", "2"]);
}

const DISK: &str = "AGEKEEP_TEST_DISK";
const MOUNT: &str = "mount -t tmpfs -o size=8m agekeep-test \"$1\" && shift && exec \"$@\"";

#[test]
fn on_a_store_that_cannot_be_written_a_look_works_and_says_so() {
    let test = "history::looks::on_a_store_that_cannot_be_written_a_look_works_and_says_so";
    if env::var_os(DISK).is_none() {
        let folder = TempDir::new().expect("a temporary folder");
        let mounted = |program: &str, args: &[&str]| {
            Command::new("unshare")
                .args(["-rm", "sh", "-c", MOUNT, "sh"])
                .arg(folder.path())
                .arg(program)
                .args(args)
                .env(DISK, folder.path())
                .env("TMPDIR", folder.path())
                .output()
        };
        if !mounted("true", &[]).is_ok_and(|probe| probe.status.success()) {
            eprintln!("\n*** NOT TESTED: no disk can be mounted here: {test} ***\n");
            return;
        }
        let program = env::current_exe().expect("this test");
        let run = mounted(
            program.to_str().expect("UTF-8"),
            &["--exact", test, "--nocapture"],
        );
        let run = run.expect("runs again");
        let said = stdout(&run) + &stderr(&run);
        assert!(run.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let story = told();
    for timeline in [true, false] {
        if !timeline {
            fs::remove_file(story.home.store().join("timeline")).ok();
        }
        remount("ro");
        looks_unrecorded(&story, "Read-only file system");
        story.ok(&["revert", "2", "--dry-run"]);
        story.fails(16, &["revert", "2"]);
        remount("rw");
    }
}

fn remount(how: &str) {
    let done = Command::new("mount")
        .args(["-o", &format!("remount,{how}")])
        .arg(env::var_os(DISK).expect("on a disk of its own"))
        .output()
        .expect("mount runs");
    assert!(done.status.success(), "{}", stderr(&done));
}
