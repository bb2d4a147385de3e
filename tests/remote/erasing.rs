//! Erasures and other changes of keys among machines: one that meets what others wrote, one that comes together
//! with another, and what a receipt says of a machine without keys.

use std::fs;

use super::replicas::{asking, joined, receipt_on, verified};
use super::{head, home_with_host, ok, path, refused};
use crate::support::forge::{self, Means};
use crate::support::{Home, git, json_lines, stderr, stdout};

/// Each change of keys brings a memory's newer versions under other keys, and the erasure takes all of them: a
/// machine that knew the memory's path takes both in one sync, and so does an auditor's.
#[test]
fn a_memory_that_gets_new_keys_and_is_erased_comes_in_one_sync() {
    for change in [
        &["keys", "replace", "--memories", "m.md", "--reason", "x"][..],
        &["redact", "HEAD:m.md", "--yes", "--reason", "x"],
    ] {
        let (laptop, host) = home_with_host();
        ok(&laptop.run(&["sync"]));
        let ci = joined(&laptop, &host, "ci");
        let (sue, code) = asking(&host, "sue", &["--audit"]);
        let add = [
            "replicas", "add", "sue", "--role", "auditor", "--code", &code,
        ];
        ok(&laptop.run(&add));
        for machine in [&sue, &ci, &laptop] {
            ok(&machine.run(&["sync"]));
        }
        // A text with a secret, from before anybody redacted.
        ok(&laptop.run(&["policy", "set", "redaction.mode", "off"]));
        ok(&laptop.run(&["create", "m.md", "--text", "password: Gewitter#31"]));
        ok(&laptop.run(&["policy", "set", "redaction.mode", "redact"]));
        for machine in [&laptop, &ci, &sue, &laptop] {
            ok(&machine.run(&["sync"]));
        }
        ok(&laptop.run(change));
        ok(&laptop.run(&["erase", "m.md", "--yes", "--reason", "x"]));
        for machine in [&laptop, &ci, &sue, &laptop] {
            let sync = machine.run(&["sync"]);
            assert!(sync.status.success(), "{change:?}: {}", stderr(&sync));
        }
        let receipt = receipt_on(&laptop);
        assert_eq!(receipt.matches("destroyed by").count(), 2, "{receipt}");
        for machine in [&laptop, &ci] {
            assert_eq!(head(&machine.store()), head(&host));
            assert_eq!(verified(machine), Some(0), "{change:?}");
        }
        // A path that is another one is still named: the zoo's mirrors of both say so.
        assert_eq!(sue.run(&["verify", "--full"]).status.code(), Some(3));
    }
}

/// A machine that asked for keys, did not take them, and then saw the erasure pass may still open what was sent to
/// it: no receipt says that it has destroyed anything.
#[test]
fn a_machine_that_asks_for_keys_has_destroyed_nothing() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let (ci, code) = asking(&host, "ci", &[]);
    ok(&laptop.run(&["replicas", "add", "ci", "--code", &code]));
    ok(&laptop.run(&["erase", "a.md", "--yes", "--reason", "x"]));
    ok(&laptop.run(&["push"]));
    ok(&ci.run(&["pull"]));
    assert_eq!(refused(&ci.run(&["sync", "--json"])).1, "no_mail");
    ok(&laptop.run(&["sync"]));
    let receipt = receipt_on(&laptop);
    assert!(receipt.contains("not yet by ci"), "{receipt}");
    // With new keys, what was sent before opens no more.
    ok(&ci.run(&["sync"]));
    ok(&laptop.run(&["sync"]));
    let receipt = receipt_on(&laptop);
    assert!(receipt.contains("destroyed by ci"), "{receipt}");
}

/// One `view` elsewhere is an event. An erasure that did not take it first would be lost with its history.
#[test]
fn an_erasure_takes_what_others_wrote_first() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let ci = joined(&laptop, &host, "ci");
    ok(&laptop.run(&["sync"]));
    for change in [
        &["erase", "a.md", "--yes", "--reason", "x"][..],
        &["keys", "replace", "--reason", "x"],
        &["erase", "b.md", "--history", "--yes", "--reason", "x"],
    ] {
        ok(&ci.run(&["view", "b.md"]));
        ok(&ci.run(&["sync"]));
        ok(&laptop.run(change));
        for machine in [&laptop, &ci] {
            let sync = machine.run(&["sync"]);
            assert!(sync.status.success(), "{change:?}: {}", stderr(&sync));
        }
    }
    ok(&laptop.run(&["sync"]));
    assert!(receipt_on(&laptop).contains("destroyed by ci"));
}

/// Where the host is away, the erasure is made all the same. If it is on the losing side then, the machine says
/// which it was, and the new copy can erase it again.
#[test]
fn an_erasure_on_a_copy_that_is_apart_is_named() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let ci = joined(&laptop, &host, "ci");
    ok(&laptop.run(&["sync"]));
    ok(&ci.run(&["sync"]));
    ok(&ci.run(&["view", "b.md"]));
    ok(&ci.run(&["sync"]));
    let away = host.with_extension("away");
    fs::rename(&host, &away).expect("renamed");
    let erase = laptop.run(&["erase", "a.md", "--yes", "--reason", "x"]);
    let told = stderr(&erase);
    assert!(
        erase.status.success() && told.contains("was not taken from origin first"),
        "{told}"
    );
    fs::rename(&away, &host).expect("renamed");
    let events = stdout(&git(&laptop.store(), &["rev-list", "--count", "main"]));
    let erased: u64 = events.trim().parse::<u64>().expect("a number") - 1;
    let apart = laptop.run(&["sync"]);
    assert_eq!(apart.status.code(), Some(15), "{}", stderr(&apart));
    let again = format!("Erase there again what event {erased} erased here");
    assert!(stderr(&apart).contains(&again), "{}", stderr(&apart));
    // What it says can be done.
    let new = laptop.path().join("new");
    let on_new = |args: &[&str]| {
        let mut command = laptop.command(args);
        command
            .env("AGEKEEP_STORE", path(&new))
            .output()
            .expect("it runs")
    };
    drop(laptop.run(&["clone", path(&host), path(&new), "--name", "owner"]));
    ok(&ci.run(&["sync"]));
    ok(&on_new(&["sync"]));
    ok(&on_new(&["erase", "a.md", "--yes", "--reason", "x"]));
    ok(&on_new(&["sync"]));
    ok(&ci.run(&["sync"]));
    assert_eq!(ci.run(&["view", "a.md"]).status.code(), Some(4));
}

/// A machine that was removed while it had events of its own, and has left, can ask again with the same keys: the
/// host is not blamed for those events.
#[test]
fn a_machine_that_left_with_events_of_its_own_can_ask_again() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let ci = joined(&laptop, &host, "ci");
    ok(&laptop.run(&["sync"]));
    ok(&ci.run(&["create", "c.md", "--text", "three"]));
    ok(&laptop.run(&["replicas", "rm", "ci"]));
    let removed = ci.run(&["sync", "--json"]);
    assert_eq!(refused(&removed), (Some(7), "removed".into()));
    assert!(stderr(&ci.run(&["sync"])).contains("replicas leave --destroy"));
    ok(&ci.run(&["replicas", "leave", "--destroy"]));
    let again = ci.path().join("again");
    let asked = ci.run(&["clone", path(&host), path(&again), "--name", "ci", "--json"]);
    let asked: serde_json::Value = serde_json::from_str(&ok(&asked)).expect("JSON");
    let code = asked["code"].as_str().expect("a code");
    ok(&laptop.run(&["replicas", "add", "ci", "--code", code]));
    let mut sync = ci.command(&["sync"]);
    ok(&sync
        .env("AGEKEEP_STORE", path(&again))
        .output()
        .expect("it runs"));
}

/// Settings of the person's own git do no harm to an honest host, and its name is free only if nobody has it.
#[test]
fn a_clone_asks_under_a_free_name_whatever_git_is_told() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let settings = "[pack]\n\tindexVersion = 1\n[push]\n\tpushOption = ci.skip\n";
    fs::write(laptop.path().join(".gitconfig"), settings).expect("written");
    ok(&laptop.run(&["create", "c.md", "--text", "three"]));
    ok(&laptop.run(&["sync"]));
    ok(&laptop.run(&["clone", path(&host), "sealed"]));
    let asks = |url: &str, name: &str| {
        let machine = Home::empty();
        let store = machine.store();
        let refusal = machine.run(&["clone", url, path(&store), "--name", name, "--json"]);
        assert_eq!(refused(&refusal), (Some(2), "invalid".into()));
        assert!(!store.exists());
        stderr(&refusal)
    };
    assert!(asks(path(&host), "owner").contains("choose another one"));
    assert!(asks(path(&laptop.store()), "ci").contains("a store that somebody uses"));
}

/// A reader keeps a key of what is erased, under the memory's own id or another's. No machine takes it from her.
#[test]
fn a_key_that_a_reader_puts_back_after_an_erasure_is_found_and_reaches_no_machine() {
    if !forge::has_means("a key of what is erased") {
        return;
    }
    for (erase, hidden_in) in [
        (&["erase", "a.md", "--history"][..], "a.md"),
        (&["erase", "a.md"], "b.md"),
    ] {
        let (home, host) = home_with_host();
        ok(&home.run(&["sync"]));
        let insider = joined(&home, &host, "insider");
        ok(&home.run(&["signers", "role", "insider", "owner"]));
        ok(&home.run(&["write", "a.md", "--text", "two\n"]));
        ok(&home.run(&["sync"]));
        ok(&insider.run(&["sync"]));
        let id_of = |path: &str| {
            let log = insider.run(&["log", path, "--command", "create", "--json"]);
            let id = &json_lines(&log.stdout)[0]["memories"][0]["memory"];
            id.as_str().expect("an id").to_owned()
        };
        let (erased, place) = (id_of("a.md"), id_of(hidden_in));
        let scratch = insider.path().join("scratch");
        fs::create_dir(&scratch).expect("made");
        let forger = || Means::of(&insider.store(), &insider.identity(), &scratch);
        let before = forger().memory_identity(&erased);
        let because = ["--reason", "x", "--yes"];
        ok(&insider.run(&[erase, &because].concat()));
        assert_eq!(verified(&insider), Some(0));
        ok(&insider.run(&["create", "c.md", "--text", "three\n"]));
        // A run that goes on from here finds it too.
        ok(&insider.run(&["verify"]));
        let ring = insider.store().join("keyring/ring");
        let mut bytes = fs::read(&ring).expect("there");
        let slot = (bytes.len() - forge::header_bytes(&bytes)) / forge::entry_bytes("ring");
        bytes.extend(forger().entry("ring", slot as u64, &place, before.as_bytes()));
        fs::write(&ring, bytes).expect("written");

        for verify in [&["verify"][..], &["verify", "--full"]] {
            let found = insider.run(verify);
            let said = stdout(&found);
            assert_eq!(found.status.code(), Some(13), "{erase:?}: {said}");
            assert!(said.contains("key-left"), "{said}");
        }
        ok(&insider.run(&["sync"]));
        let at = head(&home.store());
        let sync = home.run(&["sync", "--json"]);
        assert_eq!(refused(&sync), (Some(13), "wrong_keys".into()), "{erase:?}");
        let said = stderr(&sync);
        let names_both = said.contains("key-left") && said.contains("the machine insider");
        assert!(names_both, "{said}");
        assert_eq!(head(&home.store()), at);
        assert_eq!(verified(&home), Some(0));
        // As the hint says.
        ok(&insider.run(&["write", hidden_in, "--text", "four\n"]));
        ok(&insider.run(&[&["erase", hidden_in, "--history"][..], &because].concat()));
        assert_eq!(verified(&insider), Some(0));
        ok(&insider.run(&["sync"]));
        let came = ok(&home.run(&["sync"]));
        assert!(came.contains("erased elsewhere: 4 versions of "), "{came}");
        assert_eq!(verified(&home), Some(0));
        assert_eq!(ok(&home.run(&["view", "--raw", hidden_in])), "four\n");
    }
}
