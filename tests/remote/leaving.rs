//! Machines that leave: their keys go only where another machine has them, and the others are told.

use std::fs;
use std::path::Path;
use std::thread;

use super::replicas::{card_of, joined, receipt_on};
use super::transports::{daemon, free_port};
use super::{home_with_host, ok, path, refused};
use crate::support::{Home, git, json_lines, stderr, stdout};

const LEAVE: [&str; 4] = ["replicas", "leave", "--destroy", "--json"];

/// A machine that cannot say that it leaves keeps its keys.
#[test]
fn nothing_is_destroyed_where_nobody_can_be_told() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let ci = joined(&laptop, &host, "ci");
    for machine in [&laptop, &ci, &laptop] {
        ok(&machine.run(&["sync"]));
    }
    let lock = host.join(format!("{}.lock", card_of(&host, "ci")));
    fs::write(&lock, "").expect("written");
    assert_eq!(refused(&ci.run(&LEAVE)), (Some(16), "unreachable".into()));
    assert!(ok(&ci.run(&["view", "a.md"])).contains("one"));
    fs::remove_file(&lock).expect("there");
    for machine in [&ci, &laptop, &ci, &laptop] {
        ok(&machine.run(&["sync"]));
    }
    ok(&ci.run(&LEAVE));
    let receipt = || {
        ok(&laptop.run(&["sync"]));
        receipt_on(&laptop)
    };
    ok(&laptop.run(&["erase", "b.md", "--yes", "--reason", "x"]));
    assert!(receipt().contains("destroyed by ci"));
}

/// The host takes the first word of a machine that leaves, and not the last: nobody counts on its keys, and it
/// knows what is left to do.
#[test]
fn a_host_that_fails_while_a_machine_leaves_is_told_the_next_time() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let ci = joined(&laptop, &host, "ci");
    for machine in [&laptop, &ci, &laptop] {
        ok(&machine.run(&["sync"]));
    }
    let port = free_port();
    let _server = daemon(laptop.path(), port);
    let url = format!("git://127.0.0.1:{port}/host.git");
    ok(&ci.run(&["remote", "rm", "origin"]));
    ok(&ci.run(&["remote", "add", "origin", &url]));
    ok(&ci.run(&["sync"]));
    // A server runs its hooks, and this one has the card locked once it has changed.
    let lock = host.join(format!("{}.lock", card_of(&host, "ci")));
    let hook = host.join("hooks/post-receive");
    fs::create_dir_all(host.join("hooks")).expect("made");
    fs::write(&hook, format!("#!/bin/sh\ntouch {}\n", path(&lock))).expect("written");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&hook, mode).expect("set");
    assert_eq!(refused(&ci.run(&LEAVE)), (Some(16), "remote_untold".into()));
    assert!(!ci.store().join("keyring/ring").exists());
    fs::remove_file(&hook).expect("there");
    fs::remove_file(&lock).expect("there");
    ok(&laptop.run(&["sync"]));
    let other = laptop.run(&LEAVE);
    assert_eq!(refused(&other), (Some(6), "only_here".into()));
    ok(&laptop.run(&["erase", "b.md", "--yes", "--reason", "x"]));
    ok(&laptop.run(&["sync"]));
    assert!(receipt_on(&laptop).contains("not yet by ci"));
    ok(&ci.run(&LEAVE));
    ok(&laptop.run(&["sync"]));
    assert!(receipt_on(&laptop).contains("destroyed by ci"));
    assert!(ok(&laptop.run(&["view", "a.md"])).contains("one"));
}

/// Of two machines that leave at once, one keeps its keys.
#[test]
fn two_that_leave_at_once_do_not_destroy_all_keys() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let ci = joined(&laptop, &host, "ci");
    for machine in [&laptop, &ci, &laptop] {
        ok(&machine.run(&["sync"]));
    }
    let reads = thread::scope(|scope| {
        let both = [&laptop, &ci].map(|machine| scope.spawn(|| machine.run(&LEAVE)));
        both.map(|left| left.join().expect("ends"))
    });
    let left = reads.iter().filter(|left| left.status.success()).count();
    assert!(left < 2, "{}{}", stdout(&reads[0]), stdout(&reads[1]));
    let machines = [&laptop, &ci].into_iter();
    let have = machines.filter(|machine| machine.store().join("keyring/ring").exists());
    assert_eq!(have.count(), 2 - left);
    // Whoever stayed goes on.
    for machine in [&laptop, &ci, &laptop] {
        if machine.store().join("keyring/ring").exists() {
            drop(machine.run(&["sync"]));
        }
    }
    let stays = [&laptop, &ci]
        .into_iter()
        .find(|machine| machine.store().join("keyring/ring").exists());
    assert!(ok(&stays.expect("one").run(&["view", "a.md"])).contains("one"));
}

/// A keyring on a disk that is not mounted is not destroyed, and nobody is told that it was.
#[test]
fn a_machine_whose_keyring_is_not_there_does_not_leave() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let ci = joined(&laptop, &host, "ci");
    let volume = ci.path().join("volume");
    ok(&ci.run(&["keys", "move", path(&volume)]));
    for machine in [&laptop, &ci, &laptop] {
        ok(&machine.run(&["sync"]));
    }
    let away = ci.path().join("away");
    fs::rename(&volume, &away).expect("moves");
    fs::create_dir(&volume).expect("an empty mount point");
    // A sync does not ask for other keys meanwhile: others would count these as destroyed.
    let card = git(&host, &["rev-parse", &card_of(&host, "ci")]).stdout;
    ok(&ci.run(&["push"]));
    for args in [&["sync", "--json"][..], &LEAVE] {
        assert_eq!(refused(&ci.run(args)), (Some(12), "no_keyring".into()));
    }
    assert_eq!(
        git(&host, &["rev-parse", &card_of(&host, "ci")]).stdout,
        card
    );
    fs::remove_dir_all(&volume).expect("there");
    assert_eq!(refused(&ci.run(&["sync", "--json"])).0, Some(12));
    fs::rename(&away, &volume).expect("moves");
    ok(&laptop.run(&["erase", "b.md", "--yes", "--reason", "x"]));
    ok(&laptop.run(&["sync"]));
    let receipt = receipt_on(&laptop);
    assert!(receipt.contains("not yet by ci"), "{receipt}");
    ok(&ci.run(&["sync"]));
    ok(&laptop.run(&["sync"]));
    ok(&ci.run(&["sync"]));
    ok(&laptop.run(&["sync"]));
    ok(&ci.run(&LEAVE));
    assert!(!volume.join("ring").exists());
    // Stopped after its keys were gone, it tells the host the next time.
    ok(&ci.run(&LEAVE));
}

/// Whoever forgets to name the folder of the keyring gets no other keys, and whoever lost it names another folder.
#[test]
fn a_sync_without_the_option_for_the_keyring_asks_for_nothing() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let ci = Home::empty();
    let stick = ci.path().join("stick");
    let at = |folder: &Path, args: &[&str]| ci.run(&[&["--keyring", path(folder)], args].concat());
    // The folder is made with the copy.
    let store = ci.store();
    let clone = ["clone", path(&host), path(&store), "--name", "ci", "--json"];
    let cloned = json_lines(&at(&stick, &clone).stdout);
    let code = cloned[0]["code"].as_str().expect("a code").to_owned();
    // However somebody spells the code.
    let code = code.to_uppercase().replace('-', " ");
    ok(&laptop.run(&["replicas", "add", "ci", "--code", &code]));
    ok(&at(&stick, &["sync"]));
    for args in [&["sync", "--json"][..], &["pull", "--json"], &LEAVE] {
        let run = ci.run(args);
        assert_eq!(refused(&run), (Some(12), "no_keyring".into()), "{args:?}");
        assert!(stderr(&run).contains(path(&stick)), "{}", stderr(&run));
    }
    ok(&laptop.run(&["erase", "b.md", "--yes", "--reason", "x"]));
    ok(&laptop.run(&["sync"]));
    assert_eq!(ci.run(&["sync"]).status.code(), Some(12));
    ok(&laptop.run(&["sync"]));
    let receipt = receipt_on(&laptop);
    assert!(receipt.contains("not yet by ci"), "{receipt}");
    // The stick is lost.
    let other = ci.path().join("other");
    fs::create_dir(&other).expect("made");
    assert_eq!(refused(&at(&other, &["sync", "--json"])).1, "no_mail");
    assert_eq!(refused(&at(&other, &LEAVE)).1, "no_keyring");
    ok(&laptop.run(&["sync"]));
    ok(&at(&other, &["sync"]));
    assert_eq!(ok(&at(&other, &["view", "--raw", "a.md"])), "one\n");
    ok(&at(&other, &["sync"]));
    ok(&laptop.run(&["sync"]));
    ok(&at(&other, &LEAVE[..LEAVE.len() - 1]));
    assert!(!other.join("ring").exists());
}

/// Keys of another copy in the named folder are not taken for those of a new one.
#[test]
fn a_clone_takes_no_keyring_that_is_another_copy_s() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let ci = joined(&laptop, &host, "ci");
    let volume = ci.path().join("volume");
    ok(&ci.run(&["keys", "move", path(&volume)]));
    ok(&ci.run(&["sync"]));
    let new = ci.path().join("new");
    let clone = [
        "--keyring",
        path(&volume),
        "clone",
        path(&host),
        path(&new),
        "--name",
        "ci",
        "--json",
    ];
    assert_eq!(refused(&ci.run(&clone)), (Some(2), "invalid".into()));
    assert!(!new.exists());
    ok(&ci.run(&clone[2..]));
}
