//! What somebody who was removed can do with everything they could copy before.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::keys::team::Team;
use crate::support::forge::{Means, has_means, private};
use crate::support::{Home, git, json_lines, stdout};

fn copy(from: &std::path::Path, to: &std::path::Path) {
    let copied = Command::new("cp").arg("-a").arg(from).arg(to).status();
    assert!(copied.expect("cp runs").success());
}

/// Every blob that stock git finds in the newest history.
fn blobs(home: &Home) -> BTreeSet<String> {
    let listed = home.git(&["rev-list", "--objects", "main"]);
    let listed = stdout(&listed);
    let names = listed.lines().filter_map(|line| line.split(' ').next());
    let is_blob = |name: &&str| stdout(&home.git(&["cat-file", "-t", name])).trim() == "blob";
    names.filter(is_blob).map(str::to_owned).collect()
}

#[test]
fn old_keys_open_what_they_did_and_nothing_that_came_after() {
    if !has_means("that old keys open nothing new") {
        return;
    }
    let team = Team::new();
    team.create("a.md", "text of a\n");
    team.create("gone.md", "text of gone\n");
    team.ok(&["rm", "/memories/gone.md"]);
    team.add("bob", "reader");
    let old = team.home.path().join("copy");
    copy(&team.home.store(), &old);
    let before = blobs(&team.home);
    let known: Vec<String> = json_lines(team.ok(&["log", "--json"]).as_bytes())
        .iter()
        .flat_map(|event| event["memories"].as_array().expect("a list").clone())
        .map(|touch| touch["memory"].as_str().expect("an id").to_owned())
        .collect();

    team.ok(&["recipients", "rm", "bob"]);
    team.ok(&[
        "str-replace",
        "/memories/a.md",
        "--old",
        "text",
        "--new",
        "more",
    ]);
    team.create("new.md", "text of new\n");
    // A memory that was deleted before, and is brought back, is sealed to a key of its own too.
    team.ok(&["restore", "/memories/gone.md", "--from", "2"]);
    team.assert_verified("after bob left");

    // In the old copy everything is as it was.
    let identity = team.identity("bob");
    let bob = Means::of(&old, &identity, team.home.path());
    let opens = |key: &str, sealed: &[u8]| {
        let file = team.home.path().join("key");
        private(&file, key);
        let mut age = Command::new("age");
        age.arg("-d").arg("-i").arg(&file);
        crate::support::feed(age, sealed).status.success()
    };
    let keys: Vec<String> = known.iter().map(|id| bob.memory_identity(id)).collect();
    let audit: Vec<String> = bob.audit["identities"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|key| key.as_str().expect("text").to_owned())
        .collect();
    let content = |blob: &str| {
        let shown = team.home.git(&["cat-file", "blob", blob]);
        shown.stdout
    };
    let opened = before.iter().filter(|blob| {
        let sealed = content(blob);
        keys.iter().any(|key| opens(key, &sealed))
    });
    assert!(opened.count() >= 2, "the control: old versions open");
    for blob in blobs(&team.home).difference(&before) {
        let sealed = content(blob);
        let own = keys.iter().chain(&audit).any(|key| opens(key, &sealed));
        assert!(!own, "{blob} opens with a key that bob had");
    }
    // Nor any record from the removal on.
    let events = json_lines(team.ok(&["log", "--json"]).as_bytes());
    let removal = events
        .iter()
        .find(|event| event["command"] == "recipients_rm");
    let removal = removal.expect("on record")["event"]
        .as_u64()
        .expect("a number");
    for event in &events {
        let commit = event["commit"].as_str().expect("an id");
        let message = stdout(&git(&team.home.store(), &["cat-file", "commit", commit]));
        let begin = message.find("-----BEGIN AGE").expect("a record");
        let end = "-----END AGE ENCRYPTED FILE-----\n";
        let end = message.find(end).expect("a record") + end.len();
        let record = &message.as_bytes()[begin..end];
        let known = audit.iter().any(|key| opens(key, record));
        let old = event["event"].as_u64().expect("a number") < removal;
        assert_eq!(known, old, "event {}", event["event"]);
    }
}

/// Bob puts the keyring he copied in the place of the new one, in a copy of the store.
#[test]
fn an_old_keyring_does_not_go_with_the_new_history() {
    let team = Team::new();
    team.create("a.md", "text of a\n");
    team.add("bob", "reader");
    let old = team.home.path().join("old-keyring");
    copy(&team.home.store().join("keyring"), &old);
    team.ok(&["recipients", "rm", "bob"]);
    team.create("b.md", "text of b\n");
    fs::remove_dir_all(team.home.store().join("keyring")).expect("there");
    copy(&old, &team.home.store().join("keyring"));
    for cached in ["catalog", "timeline", "journal"] {
        fs::remove_file(team.home.store().join(cached)).ok();
    }
    for args in [
        &["read", "/memories/b.md"][..],
        &["read", "/memories/a.md"],
        &["log", "-n", "1"],
    ] {
        let output = team.run_as("bob", args);
        let said = stdout(&output);
        assert_eq!(output.status.code(), Some(13), "{args:?}: {said}");
        assert!(!said.contains("text of"), "{args:?}: {said}");
    }
}

/// The catalog, the timeline and the verified point are sealed under a key that changed too.
#[test]
fn what_is_cached_is_closed_to_old_keys() {
    if !has_means("that caches are closed to old keys") {
        return;
    }
    let team = Team::new();
    team.create("a.md", "text of a\n");
    team.add("bob", "reader");
    let old = team.home.path().join("copy");
    copy(&team.home.store(), &old);
    let bob = Means::of(&old, &team.identity("bob"), team.home.path());
    team.ok(&["recipients", "rm", "bob"]);
    team.create("b.md", "text of b\n");
    team.ok(&["verify"]);
    let owner = Means::of(&team.home.store(), &team.home.identity(), team.home.path());
    let names = |means: &Means| means.audit["names_key"].clone();
    let epoch = |means: &Means| means.epoch["key"].clone();
    assert_ne!(names(&bob), names(&owner));
    assert_ne!(epoch(&bob), epoch(&owner));
    let identities = |means: &Means| {
        means.audit["identities"]
            .as_array()
            .expect("a list")
            .clone()
    };
    let (old, new): (Vec<Value>, Vec<Value>) = (identities(&bob), identities(&owner));
    assert_eq!(new[..old.len()], old[..], "older records still open");
    assert_eq!(new.len(), old.len() + 1);
    let catalog = fs::read(team.home.store().join("catalog")).expect("there");
    let (opened, all) = owner.opened_in_catalog(&catalog);
    assert!(opened == all && all > 2, "the control: {opened} of {all}");
    assert_eq!(bob.opened_in_catalog(&catalog), (0, all));
}
