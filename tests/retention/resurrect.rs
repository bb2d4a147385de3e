//! Keys that come back: an older keyring in the place of today's opens nothing that a receipt says
//! is erased, and does not stay.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use crate::retention::scene::{Scene, copy, has, list, minute};
use crate::support::{stderr, stdout};

const PATH: &str = "/memories/weber.md";
const TEXT: &str = "Linden Street 4";

/// A store in which one memory was erased, and the keyring from before.
fn scene() -> (Scene, std::path::PathBuf) {
    let scene = Scene::new("");
    scene.create(&minute(1), PATH, TEXT);
    scene.create(&minute(1), "/memories/other.md", "something else");
    let old = scene.keep(&scene.keyring(), "old-keyring");
    scene.done(&minute(2), &["erase", PATH, "--yes", "--reason", "asked"]);
    (scene, old)
}

#[test]
fn an_older_keyring_brings_nothing_back() {
    let (scene, old) = scene();
    scene.let_in(&minute(3), "rae", "reader", false);
    copy(&old, &scene.keyring());
    // The owner's identity opens the old keyring; without a signing key nothing can be destroyed.
    let unsigned = |args: &[&str]| {
        let mut command = scene.home.command(args);
        command.env("AGEKEEP_SIGNING_KEY", scene.home.path().join("none"));
        command.output().expect("runs")
    };
    for args in [
        &["show", "1:/memories/weber.md"][..],
        &["view", "--at", "1", PATH],
        &["grep", "--history", "Linden"],
        &["log", "-p"],
        &["log"],
        &["show", "1"],
        &["diff", "1", "HEAD"],
        &["restore", PATH, "--from", "1", "--dry-run"],
        &["rollback", "--to", "1", "--dry-run"],
    ] {
        let output = unsigned(args);
        let said = stdout(&output) + &stderr(&output);
        assert!(!said.contains(TEXT), "{args:?}: {said}");
        let asked = args.contains(&PATH) || args.iter().any(|arg| arg.contains("weber"));
        assert!(asked || !said.contains("weber"), "{args:?}: {said}");
    }
    has(
        &stdout(&unsigned(&["status"])),
        &["a copy from before an erasure"],
    );
}

#[test]
fn the_next_command_of_who_may_write_destroys_the_keys_again() {
    let (scene, old) = scene();
    let first = scene.json(&minute(3), &["receipt", "show"]);
    copy(&old, &scene.keyring());
    let verified = scene.home.run(&["verify", "--full"]);
    has(&stdout(&verified), &["erased-key"]);
    scene.done(&minute(4), &["view", "/memories/other.md"]);
    let second = scene.json(&minute(4), &["receipt", "show"]);
    assert_ne!(first["event"], second["event"]);
    assert_eq!(second["receipt"]["memories"][0]["after"], first["event"]);
    assert_eq!(list(&second["earlier"])[0]["what"], "erased");
    let number = |receipt: &serde_json::Value| receipt["receipt"]["epoch"][1].as_u64();
    assert!(number(&second) > number(&first), "{second}");
    scene.assert_verified("once they are destroyed again");
    // And once only.
    let events = scene.events();
    scene.done(&minute(5), &["view", "/memories/other.md"]);
    assert_eq!(scene.events(), events + 1);
}

#[test]
fn a_running_process_sees_an_erasure_at_its_next_command() {
    let scene = Scene::new("");
    scene.create(&minute(1), PATH, TEXT);
    let mut tool = scene
        .home
        .command(&["--now", &minute(2), "tool"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut input = tool.stdin.take().expect("piped");
    let mut answers = BufReader::new(tool.stdout.take().expect("piped")).lines();
    let mut view = || {
        let call = format!("{{\"command\":\"view\",\"path\":\"{PATH}\"}}\n");
        input.write_all(call.as_bytes()).expect("written");
        answers.next().expect("an answer").expect("text")
    };
    has(&view(), &[TEXT]);
    scene.done(&minute(2), &["erase", PATH, "--yes", "--reason", "asked"]);
    has(&view(), &["does not exist"]);
    drop(input);
    assert!(tool.wait().expect("ends").success());
    scene.assert_verified("after both");
}

/// What was erased stays so whatever is undone.
#[test]
fn no_undo_brings_it_back() {
    let (scene, _) = scene();
    for args in [
        &["restore", PATH][..],
        &["restore", PATH, "--from", "1"],
        &["revert", "3"],
        &["rollback", "--to", "1"],
    ] {
        let output = scene.run(&minute(4), args);
        assert!(!output.status.success(), "{args:?}: {}", stdout(&output));
        assert!(!scene.is_there(&minute(4), PATH), "{args:?}");
    }
    has(
        &scene.fails(&minute(4), 15, &["revert", "3"]),
        &["was erased by event 3"],
    );
}

/// The key to an erased history comes back, and goes again.
#[test]
fn an_older_keyring_brings_no_history_back() {
    let scene = Scene::new("");
    scene.create(&minute(1), PATH, TEXT);
    scene.done(&minute(1), &["write", "weber.md", "--text", "Moved away"]);
    scene.create(&minute(1), "/memories/other.md", "something else");
    let old = scene.keep(&scene.keyring(), "old-keyring");
    scene.done(
        &minute(2),
        &["erase", PATH, "--history", "--yes", "--reason", "asked"],
    );
    let now = scene.keep(&scene.keyring(), "new-keyring");
    copy(&old, &scene.keyring());
    scene.done(&minute(3), &["view", "/memories/other.md"]);
    scene.fails(&minute(4), 12, &["keys", "export", PATH]);
    let checked = scene.run(&minute(4), &["receipt", "verify"]);
    assert!(checked.status.success(), "{}", stdout(&checked));
    assert!(now.is_dir());
}

/// What can be shown of an event whose memory is erased is shown.
#[test]
fn the_events_of_an_erased_memory_can_be_looked_at() {
    let (scene, _) = scene();
    for args in [
        &["show", "1"][..],
        &["show", "3"],
        &["diff", "0", "HEAD"],
        &["log", "-p"],
        &["log"],
    ] {
        let said = scene.done(&minute(4), args);
        assert!(
            !said.contains(TEXT) && !said.contains("weber"),
            "{args:?}: {said}"
        );
    }
}
