//! Somebody with old keys, or with keys of their own, writes to the keyring's folder.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use age::secrecy::ExposeSecret;
use base64ct::{Base64Unpadded, Encoding};
use serde_json::{Value, json};

use crate::attack::keyring::{self, FORGED_KEY, Table};
use crate::attack::opener::{Opener, journaled};
use crate::attack::plant;
use crate::attack::probe;
use crate::attack::scene::{Scene, recipient, run};
use crate::support::forge::{has_means, private};
use crate::support::{Home, feed, git, json_lines, stderr, stdout};

/// A store that a reader has left, with everything they could copy.
struct Left {
    home: Home,
    copy: PathBuf,
    leaver: PathBuf,
}

impl Left {
    fn new() -> Self {
        let home = Home::with_store();
        for n in 0..11 {
            run(&home, &["create", &path(n), "--text", "first\n"]);
        }
        let leaver = home.path().join("leaver.txt");
        private(&leaver, &agekeep::store::Identity::generate().to_file());
        run(&home, &["recipients", "add", "leaver", &recipient(&leaver)]);
        let copy = home.path().join("copy");
        plant::copy(&home.store(), &copy);
        run(&home, &["recipients", "rm", "leaver"]);
        Self { home, copy, leaver }
    }

    /// The owner goes on; the leaver opens nothing of it, and the owner is told.
    fn goes_on(&self, what: &str) {
        let known = objects(&self.home);
        let mut refused = false;
        for n in 0..13 {
            let text = format!("written after {n}\n");
            let path = path(n);
            let args = [
                "write",
                path.trim_start_matches("/memories/"),
                "--text",
                &text,
            ];
            let ran = probe::run_in(&self.home, &args, "");
            assert_eq!(ran.fault(), None, "{what}");
            refused |= !ran.is_ok();
        }
        let opener = Opener::of(&self.leaver, [self.copy.as_path()]);
        let opened = opener.opened_since(&self.home.store(), &known);
        assert_eq!(
            opened,
            Vec::<String>::new(),
            "{what}: opens for who has left"
        );
        let full = probe::run_in(&self.home, &["verify", "--full"], "");
        assert!(refused || full.code == Some(13), "{what}: nobody says so");
    }
}

fn path(n: usize) -> String {
    format!("/memories/m{n}.md")
}

fn objects(home: &Home) -> BTreeSet<String> {
    let args = [
        "cat-file",
        "--batch-all-objects",
        "--batch-check=%(objectname)",
    ];
    stdout(&home.git(&args))
        .lines()
        .map(str::to_owned)
        .collect()
}

/// Without this, that nothing opens would say nothing.
#[test]
fn the_control_old_keys_open_what_they_did() {
    let scene = Scene::shared();
    let store = scene.moment("with the leaver");
    let listed = stdout(&git(store, &["ls-tree", "-r", "main"]));
    let is_memory = |line: &&str| line.contains('/');
    let blobs = listed
        .lines()
        .filter(is_memory)
        .filter_map(|line| line.split_whitespace().nth(2));
    let opened = blobs.filter(|blob| {
        let sealed = git(store, &["cat-file", "blob", blob]).stdout;
        scene.outsiders.open(&sealed).is_some()
    });
    assert_eq!(opened.count(), 14);
    // And `opened_since` finds what a journal has.
    let left = Left::new();
    let opener = Opener::of(&left.leaver, [left.copy.as_path()]);
    assert!(!journaled(&left.copy).is_empty());
    let opened = opener.opened_since(&left.copy, &BTreeSet::new());
    let blobs = opened.iter().filter(|what| what.starts_with('b'));
    assert_eq!(blobs.count(), 11);
}

#[test]
fn who_has_left_gains_nothing_by_another_order_of_the_entries() {
    let left = Left::new();
    let mut ring = Table::read(&left.home.store(), "ring");
    let half = ring.entries.len() / 2;
    ring.entries.rotate_left(half);
    ring.write(&left.home.store());
    left.goes_on("entries in another order");
}

#[test]
fn who_has_left_gains_nothing_by_a_header_that_says_nothing_is_fresh() {
    let left = Left::new();
    let mut ring = Table::read(&left.home.store(), "ring");
    assert_ne!(ring.number(48), 0, "the control");
    ring.set_number(48, 0);
    ring.entries.truncate(ring.entries.len() / 2);
    ring.write(&left.home.store());
    left.goes_on("a header with a zero at byte 48, and the entries from before");
}

#[test]
fn who_has_left_gains_nothing_by_the_old_ring_beside_new_records() {
    let left = Left::new();
    for name in ["ring", "epoch.age"] {
        let old = left.copy.join("keyring").join(name);
        fs::copy(old, left.home.store().join("keyring").join(name)).expect("copied");
    }
    left.goes_on("the old ring and epoch key beside the new audit identity and names");
}

#[test]
fn who_has_left_gains_nothing_by_taking_the_new_entries_away() {
    let left = Left::new();
    let mut ring = Table::read(&left.home.store(), "ring");
    ring.entries.truncate(ring.entries.len() / 2);
    ring.write(&left.home.store());
    left.goes_on("only the entries from before");
}

/// By stock age, to recipients that stand in the clear.
#[test]
fn an_epoch_key_of_a_stranger_s_is_not_believed() {
    if !has_means("an epoch key is sealed with stock age") {
        return;
    }
    let home = Home::with_store();
    let store = home.store();
    let known = objects(&home);
    let ring = Table::read(&store, "ring");
    let id: String = ring.header[16..32]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let said = json!({"agekeep": 2, "store": id, "epoch": ring.number(32),
        "key": Base64Unpadded::encode_string(&FORGED_KEY)});
    let listed = stdout(&home.git(&["show", "main:recipients"]));
    let readers = listed.lines().filter(|line| line.starts_with("reader "));
    let mut age = Command::new("age");
    for line in readers {
        age.args(["-r", line.rsplit(' ').next().expect("a key")]);
    }
    let sealed = feed(age, said.to_string().as_bytes());
    assert!(sealed.status.success(), "{}", stderr(&sealed));
    keyring::put(&store, "epoch.age", &sealed.stdout);

    let args = [
        "create",
        "/memories/a.md",
        "--text",
        "for the owner alone\n",
    ];
    let ran = probe::run_in(&home, &args, "");
    assert_eq!(ran.fault(), None);
    let stranger = home.path().join("stranger.txt");
    private(&stranger, &agekeep::store::Identity::generate().to_file());
    let opened = Opener::of(&stranger, []).opened_since(&store, &known);
    assert_eq!(
        opened,
        Vec::<String>::new(),
        "opens with a key that a stranger chose"
    );
    assert_eq!(ran.code, Some(13), "{}", ran.stderr);

    // With a table that is right under the same key, so that only history can tell.
    keyring::forge_epoch(&store);
    keyring::forge_table(&store, "ring", |_| Vec::new());
    let ran = probe::run_in(&home, &args, "");
    assert_eq!((ran.fault(), ran.code), (None, Some(13)), "{}", ran.stderr);
    let words = "its keys are not those that history names";
    assert!(ran.stderr.contains(words), "{}", ran.stderr);
    let full = probe::run_in(&home, &["verify", "--full", "--json"], "");
    assert_eq!(full.code, Some(13), "{}", full.stdout);
    assert!(full.stdout.contains("\"keyring\""), "{}", full.stdout);
}

/// A memory with keys of several epochs: each opens versions that nothing else does.
#[test]
fn verify_tries_every_key_there_is() {
    let exchange = |ring: &mut Table, old: &[usize; 2]| {
        let (one, other) = (
            ring.entries[old[0]][16..].to_vec(),
            ring.entries[old[1]][16..].to_vec(),
        );
        ring.entries[old[0]][16..].copy_from_slice(&other);
        ring.entries[old[1]][16..].copy_from_slice(&one);
    };
    let destroy = |ring: &mut Table, old: &[usize; 2]| ring.entries[old[0]][60] ^= 1;
    let deeds: [(&str, &dyn Fn(&mut Table, &[usize; 2])); 2] =
        [("destroyed", &destroy), ("exchanged", &exchange)];
    for (what, deed) in deeds {
        let home = Home::with_store();
        for name in ["a.md", "b.md"] {
            run(&home, &["write", name, "--text", "first\n"]);
        }
        run(&home, &["rekey"]);
        run(&home, &["write", "a.md", "--text", "second\n"]);
        run(&home, &["verify", "--full"]);
        let mut ring = Table::read(&home.store(), "ring");
        deed(&mut ring, &[0, 1]);
        ring.write(&home.store());
        let export = ["export", "--history", "--jsonl", "-"];
        let export = probe::run_in(&home, &export, "");
        assert!(!export.is_ok(), "the control: {what}");
        let full = probe::run_in(&home, &["verify", "--full"], "");
        assert_eq!(full.code, Some(13), "older entries {what}: {}", full.stdout);
    }
}

/// The age files go with each other, or nothing is written.
#[test]
fn files_of_several_moments_stop_writes() {
    let home = Home::with_store();
    run(&home, &["write", "a.md", "--text", "first\n"]);
    let before: &Path = &home.path().join("before");
    plant::copy(&home.store().join("keyring"), before);
    run(&home, &["rekey"]);
    let after: &Path = &home.path().join("after");
    plant::copy(&home.store().join("keyring"), after);
    for number in 1..15_u32 {
        let mut from = Vec::new();
        for (bit, name) in ["epoch.age", "audit.age", "ring", "names"]
            .iter()
            .enumerate()
        {
            let is_old = number >> bit & 1 == 1;
            let folder = if is_old { before } else { after };
            fs::copy(folder.join(name), home.store().join("keyring").join(name)).expect("copied");
            from.push((name, if is_old { "old" } else { "new" }));
        }
        let ran = probe::run_in(&home, &["write", "b.md", "--text", "x\n"], "");
        assert_eq!(ran.fault(), None, "{from:?}");
        assert_eq!(ran.code, Some(13), "{from:?}: {}", ran.stderr);
    }
}

/// Entries vouch for the header they stand behind; where there are none, its seal does.
#[test]
fn a_header_with_nothing_behind_it_is_believed_only_under_its_seal() {
    for name in ["ring", "names"] {
        for (at, value) in [(40, 7), (48, 1)] {
            let home = Home::with_store();
            let mut table = Table::read(&home.store(), name);
            assert!(table.entries.is_empty(), "the control");
            assert_ne!(table.number(at), value, "the control");
            table.set_number(at, value);
            table.write(&home.store());
            let ran = probe::run_in(&home, &["write", "a.md", "--text", "x"], "");
            assert_eq!(ran.code, Some(13), "{name}, byte {at}: {}", ran.stderr);
            assert!(ran.stderr.contains(name), "{name}: {}", ran.stderr);
        }
    }
}

/// All four files, right and of one moment, of which an owner has said that others take their place.
#[test]
fn keys_that_were_given_up_do_not_come_back() {
    for changed_by in ["rekey", "erase"] {
        given_up(changed_by);
    }
}

/// After an erasure the audit identities are the same: records open with the keys from before it too.
fn given_up(changed_by: &str) {
    let home = Home::with_store();
    for name in ["a.md", "gone.md"] {
        run(&home, &["write", name, "--text", "first\n"]);
    }
    run(&home, &["delete", "/memories/gone.md"]);
    let log = json_lines(run(&home, &["log", "-n", "1", "--json"]).as_bytes());
    let gone = log[0]["memories"][0]["memory"].as_str().expect("an id");
    let (store, old, new) = (
        home.store(),
        home.path().join("old"),
        home.path().join("new"),
    );
    plant::copy(&store, &old);
    match changed_by {
        "erase" => run(&home, &["erase", gone, "--yes", "--reason", "asked"]),
        verb => run(&home, &[verb]),
    };
    plant::copy(&store.join("keyring"), &new);
    let write = |text: &str| probe::run_in(&home, &["write", "a.md", "--text", text], "");
    // A backup of the repository alone.
    plant::clear(&store);
    plant::copy(&old, &store);
    let keys = |from: &Path| {
        plant::clear(&store.join("keyring"));
        plant::copy(from, &store.join("keyring"));
    };
    keys(&new);
    assert_eq!(write("second\n").code, Some(13), "the control");
    run(&home, &["accept-rollback", "--reason", "a backup"]);
    assert!(write("second\n").is_ok());
    plant::clear(&new);
    plant::copy(&store.join("keyring"), &new);
    keys(&old.join("keyring"));
    let ran = write("third\n");
    assert_eq!((ran.fault(), ran.code), (None, Some(13)), "{}", ran.stderr);
    keys(&new);
    assert!(write("third\n").is_ok());
}

/// A store in which an auditor can look, and what `audit.age` says there.
fn audited() -> (Home, PathBuf, Value) {
    let home = Home::with_store();
    run(&home, &["write", "a.md", "--text", "first\n"]);
    let auditor = home.path().join("auditor.txt");
    private(&auditor, &agekeep::store::Identity::generate().to_file());
    let key = recipient(&auditor);
    let add = ["recipients", "add", "auditor", &key, "--role", "auditor"];
    run(&home, &add);
    let opener = Opener::of(&home.identity(), []);
    let audit = opener.read_sealed(&home.store().join("keyring/audit.age"));
    let audit = audit.expect("the owner opens it");
    (home, auditor, audit)
}

/// By what is in the clear alone: the recipients.
#[test]
fn an_auditor_believes_no_names_key_of_a_stranger_s() {
    let (home, auditor, _) = audited();
    let log = ["log", "-i", auditor.to_str().expect("UTF-8")];
    assert!(probe::run_in(&home, &log, "").is_ok(), "the control");
    keyring::forge_audit(&home.store());
    keyring::forge_table(&home.store(), "names", |_| vec![9; 32]);
    let ran = probe::run_in(&home, &log, "");
    assert_eq!((ran.fault(), ran.code), (None, Some(13)), "{}", ran.stderr);
}

/// An auditor has what `audit.age` says, and seals it anew with one thing changed.
#[test]
fn an_auditor_changes_neither_the_names_key_nor_the_identities() {
    let write = ["write", "b.md", "--text", "x\n"];
    for deed in ["none", "another names key", "one more identity"] {
        let (home, auditor, mut audit) = audited();
        if deed == "another names key" {
            let key = Base64Unpadded::encode_string(&FORGED_KEY);
            audit["names_key"] = key.into();
            keyring::forge_table(&home.store(), "names", |_| vec![9; 32]);
        } else if deed == "one more identity" {
            let more = keyring::forged_identity().to_string();
            let identities = audit["identities"].as_array_mut().expect("a list");
            identities.push(more.expose_secret().into());
        }
        keyring::put_audit(&home.store(), &audit);
        let code = if deed == "none" { 0 } else { 13 };
        // Nor in the eyes of another auditor.
        let log = ["log", "-i", auditor.to_str().expect("UTF-8")];
        for args in [&log[..], &write] {
            let ran = probe::run_in(&home, args, "");
            assert_eq!(ran.fault(), None, "{deed}");
            assert_eq!(ran.code, Some(code), "{deed} {args:?}: {}", ran.stderr);
        }
    }
}

#[test]
fn a_keyring_that_names_no_replica_is_found() {
    let (home, _, mut audit) = audited();
    let fields = audit.as_object_mut().expect("an object");
    fields.remove("replica").expect("it names one");
    keyring::put_audit(&home.store(), &audit);
    let ran = probe::run_in(&home, &["verify"], "");
    assert_eq!((ran.fault(), ran.code), (None, Some(13)), "{}", ran.stdout);
    assert!(ran.stdout.contains("names no replica"), "{}", ran.stdout);
    let ran = probe::run_in(&home, &["write", "b.md", "--text", "x\n"], "");
    assert!(ran.fault().is_none() && !ran.is_ok(), "{}", ran.stderr);
}
