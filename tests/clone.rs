//! Clones that stock git made: what `verify` says of them, and what an auditor can do with one.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::keys::team::Team;
use crate::support::{Home, assert_verify_ended, complaints, git, stderr, stdout};
use crate::zoo::scenario::Scenario;

fn ok(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    stdout(output)
}

/// A clone by stock git, at a path of the home.
fn clone(home: &Home, how: &str, name: &str) -> PathBuf {
    let to = home.path().join(name);
    let mut git = Command::new("git");
    let cloned = git
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .args(["clone", "-q", how])
        .arg(home.store())
        .arg(&to);
    ok(&cloned.output().expect("git runs"));
    to
}

fn copy_keyring(home: &Home, to: &Path, names: &[&str]) {
    fs::create_dir_all(to).expect("made");
    for name in names {
        fs::copy(home.store().join("keyring").join(name), to.join(name)).expect("copied");
    }
}

const KEYRING: [&str; 4] = ["audit.age", "epoch.age", "names", "ring"];

/// Verifies a copy, and returns its exit code with the ids of its findings.
fn verified(home: &Home, store: &Path, args: &[&str]) -> (i32, Vec<String>) {
    let store = store.to_str().expect("UTF-8");
    let output = home.run(&[&["--store", store, "verify", "--json"], args].concat());
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", stderr(&output)));
    assert_verify_ended(&output, &report);
    let findings = report["findings"].as_array().expect("a list").iter();
    let mut ids: Vec<String> = findings
        .map(|finding| finding["id"].as_str().expect("an id").to_owned())
        .collect();
    ids.sort();
    ids.dedup();
    (output.status.code().expect("it ended"), ids)
}

fn none() -> Vec<String> {
    Vec::new()
}

fn home() -> Home {
    let home = Home::with_store();
    ok(&home.run(&["create", "/memories/a.md", "--text", "one\n"]));
    ok(&home.run(&["read", "a.md"]));
    home
}

const NOBODY: [&str; 2] = ["--identity", "/nowhere"];

#[test]
fn a_clone_with_its_keyring_and_an_identity_verifies_cleanly() {
    for how in ["--mirror", "--bare", "--no-single-branch"] {
        let home = home();
        let mut clone = clone(&home, how, "clone");
        if how == "--no-single-branch" {
            // Files are checked out, and verified is what git has of them.
            clone.push(".git");
        }
        copy_keyring(&home, &clone.join("keyring"), &KEYRING);
        assert_eq!(verified(&home, &clone, &["--full"]), (0, none()), "{how}");
        // A look leaves agekeep's own files in it, and a fetch leaves git's.
        let there = ["--store", clone.to_str().expect("UTF-8")];
        ok(&home.run(&[&there[..], &["-q", "log"]].concat()));
        if how == "--mirror" {
            ok(&home.run(&["read", "a.md"]));
            ok(&git(&clone, &["gc", "-q"]));
        }
        assert_eq!(verified(&home, &clone, &["--full"]), (0, none()), "{how}");
    }
}

#[test]
fn what_a_copy_does_not_have_is_incomplete_and_not_tampering() {
    let home = home();
    let clone = clone(&home, "--mirror", "clone");
    let missing = || vec!["keyring-missing".to_owned()];
    assert_eq!(verified(&home, &clone, &[]), (3, missing()));
    assert_eq!(verified(&home, &clone, &NOBODY), (3, missing()));
    copy_keyring(&home, &clone.join("keyring"), &KEYRING);
    assert_eq!(verified(&home, &clone, &NOBODY), (3, none()));
    for name in KEYRING {
        let file = clone.join("keyring").join(name);
        let kept = fs::read(&file).expect("there");
        fs::remove_file(&file).expect("removed");
        assert_eq!(verified(&home, &clone, &[]), (3, missing()), "{name}");
        fs::write(&file, kept).expect("written");
    }
    assert_eq!(verified(&home, &clone, &[]), (0, none()));
    // An object that is not there is damage: nothing tells it from a partial clone.
    let store = home.store();
    let head = ok(&git(&store, &["rev-parse", "main:agekeep.toml"]));
    let (fan, name) = head.trim().split_at(2);
    fs::remove_file(store.join("objects").join(fan).join(name)).expect("there");
    fs::remove_file(store.join("journal")).expect("there");
    let (code, found) = verified(&home, &store, &NOBODY);
    assert_eq!(code, 13, "{found:?}");
}

/// A clone with files checked out is what its `.git` is; its folder can be named, too.
#[test]
fn a_clone_with_files_checked_out_is_verified_and_read() {
    let home = home();
    let clone = clone(&home, "--no-single-branch", "clone");
    let missing = || vec!["keyring-missing".to_owned()];
    assert_eq!(verified(&home, &clone, &[]), (3, missing()));
    let keyring = home.store().join("keyring");
    let keyring = ["--keyring", keyring.to_str().expect("UTF-8")];
    let with_keys = [&keyring[..], &["--full"]].concat();
    assert_eq!(verified(&home, &clone, &with_keys), (0, none()));
    let there = ["--store", clone.to_str().expect("UTF-8")];
    let log = ok(&home.run(&[&there[..], &keyring, &["log"]].concat()));
    assert!(log.contains("a.md"), "{log}");
    let name = |name: &str| clone.join(".git").join(name);
    // What was checked out is no part of it.
    fs::write(clone.join("signers"), "x").expect("written");
    assert_eq!(verified(&home, &clone, &with_keys), (0, none()));
    // A branch of a machine's, of which stock git keeps where it is at the host.
    let refs = name("refs/remotes/origin/agekeep/lines");
    fs::create_dir_all(&refs).expect("made");
    let head = ok(&git(&clone.join(".git"), &["rev-parse", "main"]));
    for (line, code) in [
        ("00112233445566778899", 14),
        ("0011223344556677-99", 14),
        ("0011223344556677-8899aabb", 0),
        ("0011223344556677", 0),
    ] {
        fs::write(refs.join(line), &head).expect("written");
        assert_eq!(verified(&home, &clone, &with_keys).0, code, "{line}");
        fs::remove_file(refs.join(line)).expect("there");
    }
    // Named from within, or by a link, it is the same.
    let link = home.path().join("link");
    std::os::unix::fs::symlink(name(""), &link).expect("made");
    assert_eq!(verified(&home, &link, &with_keys), (0, none()));
    let mut inside = home.command(&["--store", ".", "verify", "--json", "--keyring", keyring[1]]);
    inside.current_dir(name(""));
    assert_eq!(inside.output().expect("runs").status.code(), Some(0));
    // Git would follow a link in the place of the index.
    fs::remove_file(name("index")).expect("there");
    std::os::unix::fs::symlink("/dev/null", name("index")).expect("made");
    assert_eq!(verified(&home, &clone, &with_keys).0, 14);
    fs::remove_file(name("index")).expect("there");
    // A bare one has no such files.
    ok(&git(&clone.join(".git"), &["config", "core.bare", "true"]));
    assert_eq!(verified(&home, &clone, &with_keys).0, 14);
}

/// A host whose first branch has another name is cloned without a branch.
#[test]
fn a_clone_of_a_host_with_another_first_branch_verifies() {
    let home = Home::with_store();
    ok(&home.run(&["create", "a.md", "--text", "one"]));
    let host = home.path().join("host.git");
    let mut clone = Command::new("git");
    ok(&clone
        .args(["clone", "-q", "--bare"])
        .args([&home.store(), &host])
        .output()
        .expect("git"));
    ok(&git(&host, &["symbolic-ref", "HEAD", "refs/heads/master"]));
    let copy = home.path().join("copy");
    let mut clone = Command::new("git");
    ok(&clone
        .args(["clone", "-q"])
        .args([&host, &copy])
        .output()
        .expect("git"));
    assert!(!copy.join(".git/refs/heads/main").exists());
    let keyring = home.store().join("keyring");
    let with_keys = ["--keyring", keyring.to_str().expect("UTF-8")];
    assert_eq!(verified(&home, &copy, &with_keys), (0, Vec::new()));
    assert_eq!(verified(&home, &copy.join(".git"), &with_keys).0, 0);
    // No other branch is taken for it.
    let text = fs::read_to_string(copy.join(".git/packed-refs")).expect("read");
    let lost = text.replace("refs/remotes/origin/main", "refs/remotes/origin/other");
    fs::write(copy.join(".git/packed-refs"), lost).expect("written");
    let verify = home.run(&["--store", copy.to_str().expect("UTF-8"), "verify"]);
    assert_eq!(verify.status.code(), Some(10), "{}", stderr(&verify));
}

/// Stock git reads the one, and others may read the other.
#[test]
fn a_branch_that_is_packed_twice_is_tampering() {
    let home = home();
    let clone = clone(&home, "--mirror", "clone");
    copy_keyring(&home, &clone.join("keyring"), &KEYRING);
    let packed = fs::read_to_string(clone.join("packed-refs")).expect("there");
    let line = packed.lines().last().expect("a ref");
    fs::write(clone.join("packed-refs"), format!("{packed}{line}\n")).expect("written");
    let (code, found) = verified(&home, &clone, &["--full"]);
    assert_eq!((code, found), (13, vec!["head".to_owned()]));
}

/// A host names its own first branch, and keeps refs of its own.
#[test]
fn what_a_host_adds_is_untidy_and_a_branch_in_the_place_of_ours_is_tampering() {
    let home = home();
    let clone = clone(&home, "--mirror", "clone");
    copy_keyring(&home, &clone.join("keyring"), &KEYRING);
    let refs = || vec!["refs".to_owned()];
    fs::write(clone.join("HEAD"), "ref: refs/heads/master\n").expect("written");
    assert_eq!(verified(&home, &clone, &["--full"]), (0, none()));
    ok(&git(
        &clone,
        &["update-ref", "refs/remotes/origin/main", "main"],
    ));
    assert_eq!(
        verified(&home, &clone, &["--full"]),
        (14, refs()),
        "it is bare"
    );
    ok(&git(
        &clone,
        &["update-ref", "-d", "refs/remotes/origin/main"],
    ));
    ok(&git(&clone, &["update-ref", "refs/pull/1/head", "main"]));
    assert_eq!(verified(&home, &clone, &["--full"]), (14, refs()));
    // Now stock git would show another history than agekeep.
    ok(&git(&clone, &["update-ref", "refs/heads/master", "main~1"]));
    let (code, found) = verified(&home, &clone, &["--full"]);
    assert_eq!(code, 13);
    assert!(found.contains(&"head".to_owned()), "{found:?}");
}

#[test]
fn settings_of_git_are_untidy_and_what_git_would_run_or_follow_is_tampering() {
    let home = home();
    let clone = clone(&home, "--mirror", "clone");
    copy_keyring(&home, &clone.join("keyring"), &KEYRING);
    let path = clone.join("config");
    let whole = fs::read_to_string(&path).expect("there");
    for setting in [
        "[core]\n\thooksPath = /tmp/hooks\n",
        "[core]\n\tfsmonitor = /tmp/x\n",
        "[include]\n\tpath = /tmp/x\n",
        "[alias]\n\tlog = !sh\n",
        "[diff \"x\"]\n\tcommand = sh\n",
    ] {
        fs::write(&path, format!("{whole}{setting}")).expect("written");
        let expected = (14, vec!["config".to_owned()]);
        assert_eq!(verified(&home, &clone, &[]), expected, "{setting}");
    }
    fs::write(&path, &whole).expect("written");
    fs::write(clone.join("notes.txt"), "").expect("written");
    let stray = (14, vec!["stray".to_owned()]);
    assert_eq!(verified(&home, &clone, &[]), stray);
    let store = clone.to_str().expect("UTF-8");
    let said = stdout(&home.run(&["--store", store, "verify"]));
    assert!(said.starts_with("stray (untidy)  store: "), "{said}");
    assert!(said.ends_with(", none of them tampering\n"), "{said}");
    // What is worse than untidy counts.
    assert_eq!(verified(&home, &clone, &NOBODY).0, 3);
    let hook = clone.join("hooks/post-update");
    fs::write(&hook, "#!/bin/sh\n").expect("written");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).expect("set");
    let (code, found) = verified(&home, &clone, &[]);
    assert_eq!((code, found), (13, vec!["hooks".into(), "stray".into()]));
}

/// The forgery is in history, so that whoever clones the store has it too.
#[test]
fn a_forgery_in_history_is_found_in_a_clone_by_the_same_findings() {
    for name in [
        "commit-unsigned",
        "commit-by-a-stranger",
        "edit-that-was-not-made",
        "record-of-another-commit",
        "view-that-drops-a-memory",
        "recipient-added-under-a-view",
        "chain-trailer-wrong",
    ] {
        let scenario = Scenario::read(name);
        let home = scenario.home();
        let clone = clone(&home, "--mirror", "clone");
        copy_keyring(&home, &clone.join("keyring"), &KEYRING);
        let expected: Vec<String> = scenario.expect.into_iter().collect();
        assert_eq!(
            verified(&home, &clone, &["--full"]),
            (13, expected),
            "{name}"
        );
        let expected: Vec<String> = scenario.expect_keyless.into_iter().collect();
        let code = if expected.is_empty() { 3 } else { 13 };
        assert_eq!(verified(&home, &clone, &NOBODY), (code, expected), "{name}");
    }
}

/// Every file of a folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let listed = fs::read_dir(folder).expect("a folder").flatten();
    listed
        .map(|file| {
            let bytes = fs::read(file.path()).expect("a file");
            (file.file_name().into_string().expect("UTF-8"), bytes)
        })
        .collect()
}

/// A team's store with an erasure in it, and what its auditor olga gets: a clone, and the two files
/// of the keyring that her identity opens.
fn kit() -> (Team, PathBuf, PathBuf) {
    let team = Team::new();
    team.create("people/zoe.md", "a canary in here\n");
    team.create("plan.md", "another canary\n");
    team.add("olga", "auditor");
    team.ok(&["read", "/memories/plan.md"]);
    team.ok(&[
        "erase",
        "/memories/people/zoe.md",
        "--reason",
        "she asked",
        "--yes",
    ]);
    let clone = clone(&team.home, "--mirror", "kit");
    let keyring = team.home.path().join("kit-keyring");
    copy_keyring(&team.home, &keyring, &["audit.age", "names"]);
    (team, clone, keyring)
}

/// Runs a command as olga does, on another machine: without the owner's keys and memory.
fn as_olga(team: &Team, clone: &Path, keyring: &Path, args: &[&str]) -> Output {
    let mut all = vec!["--store", clone.to_str().expect("UTF-8")];
    all.extend(["--keyring", keyring.to_str().expect("UTF-8")]);
    all.extend(args);
    let identity = team.identity("olga");
    let mut command = team.home.command(&all);
    command
        .env("AGEKEEP_IDENTITY", identity)
        .env("XDG_CONFIG_HOME", team.home.path().join("olga"))
        .env("XDG_STATE_HOME", team.home.path().join("olga-state"));
    command.output().expect("runs")
}

#[test]
fn an_auditor_needs_only_the_two_files_that_open_for_her() {
    let (team, clone, keyring) = kit();
    let before = files(&keyring);
    let run = |args: &[&str]| as_olga(&team, &clone, &keyring, args);
    for turn in ["first", "again"] {
        let log = run(&["log"]);
        assert!(ok(&log).contains("/memories/plan.md"), "{turn}");
        let access = ok(&run(&["access", "/memories/plan.md"]));
        assert!(access.contains("read"), "{turn}: {access}");
        let receipt = ok(&run(&["receipt", "show"]));
        assert!(receipt.contains("she asked"), "{turn}: {receipt}");
        let tried = run(&["receipt", "verify"]);
        assert_eq!(tried.status.code(), Some(3), "{turn}: {}", stderr(&tried));
        let proof = stdout(&tried);
        assert!(!proof.contains("people/zoe.md"), "{turn}: {proof}");
        let verify = run(&["verify", "--json"]);
        assert_eq!(verify.status.code(), Some(3), "{}", stdout(&verify));
        let report: Value = serde_json::from_slice(&verify.stdout).expect("a report");
        assert_verify_ended(&verify, &report);
        assert_eq!(report["findings"], serde_json::json!([]), "{turn}");
        let gaps = report["not_checked"].to_string();
        assert!(gaps.contains("has no ring"), "{turn}: {gaps}");
        assert!(ok(&run(&["status"])).contains("auditor"), "{turn}");
    }
    for args in [&["diff", "1"][..], &["grep", "canary"], &["show", "1"]] {
        let refused = run(args);
        assert_eq!(refused.status.code(), Some(12), "{}", stderr(&refused));
        let said = complaints(&refused) + &stdout(&refused);
        assert!(said.contains("is an auditor's"), "{said}");
        assert!(!said.contains("canary"), "{said}");
    }
    assert_eq!(files(&keyring), before, "nothing was written there");
}

/// Whoever is a reader needs all four files: fewer are a loss and no role.
#[test]
fn a_reader_is_told_which_file_is_missing_instead_of_being_an_auditor() {
    let (team, clone, keyring) = kit();
    let place = keyring.to_str().expect("UTF-8");
    let there = [
        "--store",
        clone.to_str().expect("UTF-8"),
        "--keyring",
        place,
    ];
    for (with, missing) in [(None, "epoch.age"), (Some("epoch.age"), "ring")] {
        if let Some(name) = with {
            copy_keyring(&team.home, &keyring, &[name]);
        }
        for args in [&["log"][..], &["read", "/memories/plan.md"]] {
            let refused = team.home.run(&[&there[..], args].concat());
            assert_eq!(refused.status.code(), Some(12), "{}", stderr(&refused));
            let said = stderr(&refused);
            assert!(said.contains(missing) && said.contains("missing"), "{said}");
        }
    }
}

/// An auditor's role hides no damage in what the role opens.
#[test]
fn an_auditor_s_two_files_are_held_to_history() {
    let (team, clone, keyring) = kit();
    let names = keyring.join("names");
    let mut bytes = fs::read(&names).expect("there");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&names, &bytes).expect("written");
    let verify = as_olga(&team, &clone, &keyring, &["verify"]);
    assert_eq!(verify.status.code(), Some(13), "{}", stdout(&verify));
    assert!(
        stdout(&verify).contains("key-damaged"),
        "{}",
        stdout(&verify)
    );
    // Fewer names than history added.
    fs::write(&names, &bytes[..128]).expect("written");
    let log = as_olga(&team, &clone, &keyring, &["log"]);
    assert_eq!(log.status.code(), Some(12), "{}", stderr(&log));
}
