//! Signers with a role, and commits made by hand of which the command is theirs and the content is not.

use std::fs;

use base64ct::{Base64Unpadded, Encoding};
use ed25519_dalek::{Signer as _, SigningKey};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::attack::plant;
use crate::attack::probe;
use crate::support::forge::{Means, has_means, keyed, private, unhex};
use crate::support::{Home, git, json_lines, stderr, stdout};

// Every commit that is forged here is of 2026-01-01T00:00:00Z.
const BEFORE: &str = "2025-12-31T07:00:00Z";
const LATER: &str = "2026-02-01T00:00:00Z";

const PATH: &str = "/memories/b.md";
const TEXT: &str = "nut\n";

/// A store with somebody in each role, a memory, another that a hold keeps, and what is needed to make
/// commits for it by hand.
struct Scene {
    home: Home,
    means: Means,
    id: String,
    held: String,
    /// The event by which the hold began.
    hold: u64,
}

/// What a forged commit does to the memory's place in the tree.
#[derive(Clone, Copy)]
enum Tree<'a> {
    Same,
    Without,
    With(&'a str),
}

fn done(home: &Home, args: &[&str]) -> String {
    let output = home.run(&[&["--now", BEFORE], args].concat());
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    stdout(&output)
}

impl Scene {
    fn new() -> Option<Self> {
        has_means("records that hold what no command does").then_some(())?;
        let home = Home::empty();
        done(&home, &["init", "--trial"]);
        for role in ["writer", "sweeper", "auditor"] {
            let key = agekeep::store::SigningKey::generate();
            private(&home.path().join(role), &key.to_file());
            let add = ["signers", "add", role, &key.public_line(), "--role", role];
            done(&home, &add);
        }
        for path in ["/memories/held.md", PATH] {
            done(&home, &["create", path, "--text", TEXT]);
        }
        let log = json_lines(done(&home, &["log", "-n", "2", "--json"]).as_bytes());
        let id = |event: &Value| event["memories"][0]["memory"].as_str().map(str::to_owned);
        let hold = ["hold", "add", "/memories/held.md", "--reason", "a case"];
        done(&home, &hold);
        let newest = json_lines(done(&home, &["log", "-n", "1", "--json"]).as_bytes());
        Some(Self {
            means: Means::of(&home.store(), &home.identity(), home.path()),
            id: id(&log[0]).expect("an id"),
            held: id(&log[1]).expect("an id"),
            hold: newest[0]["event"].as_u64().expect("a number"),
            home,
        })
    }

    /// A touch of the memory as it is.
    fn touch(&self, change: &str) -> Value {
        let mut touch = json!({"id": self.id, "change": change, "version": 1, "bytes": TEXT.len()});
        if change != "erase" {
            touch["path"] = self.means.sealed_path(&self.id, PATH).into();
        }
        touch
    }

    /// Its path, as a record names what a command was about.
    fn place(&self) -> Value {
        json!({"of": [self.id, self.means.sealed_path(&self.id, PATH)]})
    }

    /// A record of these changes of the memory.
    fn record(&self, command: &str, changes: &[&str]) -> Value {
        let touches: Vec<Value> = changes.iter().map(|change| self.touch(change)).collect();
        json!({"command": command, "path": self.place(), "memories": touches})
    }

    /// A version that follows the present one, at a path: its blob, and the touch that writes it.
    fn next_version(&self, change: &str, path: &str) -> (String, Value) {
        let header = json!({"agekeep": 1, "id": self.id, "path": path, "version": 2, "pad": ""});
        let blob = self
            .means
            .seal_version(&self.id, &format!("{header}\n{TEXT}"));
        let bytes = git(&self.home.store(), &["cat-file", "blob", &blob]).stdout;
        let touch = json!({
            "id": self.id, "change": change, "version": 2, "bytes": TEXT.len(),
            "path": self.means.sealed_path(&self.id, path),
            "blob": blob, "sha256": format!("{:x}", Sha256::digest(bytes)),
        });
        (blob, touch)
    }

    /// Makes a commit by hand the head; what the head was is answered.
    fn put(&self, signer: &str, said: &Value, tree: Tree) -> String {
        let head = self.means.git(&["rev-parse", "main"]);
        let before = self.means.git(&["rev-parse", "main^{tree}"]);
        let tree = match tree {
            Tree::Same => before,
            Tree::Without => self.means.tree_with(&before, &self.id, None),
            Tree::With(blob) => self.means.tree_with(&before, &self.id, Some(blob)),
        };
        let key = match signer {
            "owner" => self.home.signing_key(),
            _ => self.home.path().join(signer),
        };
        let key = key.to_str().expect("UTF-8");
        self.means
            .adopt(&self.means.next_commit(signer, key, &tree, said));
        head
    }

    fn run(&self, args: &[&str]) -> probe::Ran {
        let ran = probe::run_in(&self.home, &[&["--now", LATER], args].concat(), "");
        assert_eq!(ran.fault(), None, "{args:?}");
        ran
    }

    /// The commit is refused by every open, with these words, and named by verify; then the store is as
    /// before.
    fn refused(&self, signer: &str, said: &Value, tree: Tree, words: &str) {
        let head = self.put(signer, said, tree);
        let commit = self.means.git(&["rev-parse", "main"]);
        for without_catalog in [false, true] {
            if without_catalog {
                self.forget_caches();
            }
            for args in [&["view"][..], &["read", "b.md"], &["log"]] {
                let ran = self.run(args);
                let what = format!("{signer} {said} {args:?}: {}{}", ran.stdout, ran.stderr);
                assert_eq!(ran.code, Some(13), "{what}");
                assert!(ran.stderr.contains(words), "{words}: {what}");
                assert!(ran.stderr.contains(&commit), "{what}");
            }
        }
        let ran = self.run(&["verify", "--full"]);
        assert_eq!(ran.code, Some(13), "{signer} {said}: {}", ran.stdout);
        assert!(
            ran.stdout.contains(&commit[..12]),
            "{commit}: {}",
            ran.stdout
        );
        self.means.adopt(&head);
        self.forget_caches();
    }

    /// The control: such a commit is accepted by every open, and by verify; then the store is as before.
    fn accepted(&self, signer: &str, said: &Value, tree: Tree) {
        let head = self.put(signer, said, tree);
        for args in [&["view"][..], &["verify", "--full"]] {
            let ran = self.run(args);
            let what = format!("{signer} {said} {args:?}: {}{}", ran.stdout, ran.stderr);
            assert!(ran.is_ok(), "{what}");
        }
        self.means.adopt(&head);
        self.forget_caches();
    }

    fn forget_caches(&self) {
        for name in ["catalog", "timeline"] {
            plant::clear(&self.home.store().join(name));
        }
        drop(fs::remove_dir_all(self.home.state()));
    }
}

const NEVER_CHANGES: &str = "it changes memories as its command never does";

#[test]
fn a_hold_ends_by_no_other_command() {
    let Some(scene) = Scene::new() else { return };
    let lift = |command: &str, outcome: &str| {
        let hold = json!({"lift": scene.hold});
        json!({"command": command, "outcome": outcome, "hold": hold})
    };
    let never = "it is about a hold, and its command never is";
    scene.refused("sweeper", &lift("hold_add", "ok"), Tree::Same, never);
    scene.refused("owner", &lift("hold_add", "ok"), Tree::Same, never);
    scene.refused("auditor", &lift("log", "ok"), Tree::Same, never);
    for outcome in ["error", "denied"] {
        let said = lift("hold_add", outcome);
        scene.refused("sweeper", &said, Tree::Same, "it was not carried out");
    }
    let add = json!({"command": "hold_add", "hold": {"add": {"memory": scene.held}}});
    scene.accepted("sweeper", &add, Tree::Same);
    scene.accepted("owner", &lift("hold_rm", "ok"), Tree::Same);
}

#[test]
fn a_memory_goes_away_by_no_other_command() {
    let Some(scene) = Scene::new() else { return };
    for (signer, command, change) in [
        ("auditor", "log", "remove"),
        ("auditor", "accept_rollback", "remove"),
        ("auditor", "log", "expire"),
        ("sweeper", "hold_add", "remove"),
        ("sweeper", "expire", "remove"),
        ("writer", "view", "remove"),
        ("writer", "str_replace", "remove"),
        ("writer", "create", "expire"),
    ] {
        let said = scene.record(command, &[change]);
        scene.refused(signer, &said, Tree::Without, NEVER_CHANGES);
    }
    // Nor by an erasure that does not erase it, which nobody would know for one.
    let said = scene.record("erase", &["remove"]);
    let words = "it removes a memory, and does not erase it";
    scene.refused("sweeper", &said, Tree::Without, words);
    for signer in ["writer", "owner"] {
        scene.accepted(signer, &scene.record("delete", &["remove"]), Tree::Without);
    }
}

#[test]
fn an_erasure_begins_by_no_other_command() {
    let Some(scene) = Scene::new() else { return };
    for (signer, command) in [
        ("writer", "delete"),
        ("writer", "revert"),
        ("auditor", "log"),
        ("sweeper", "hold_add"),
    ] {
        let said = scene.record(command, &["remove", "mark"]);
        scene.refused(signer, &said, Tree::Without, NEVER_CHANGES);
    }
    let receipt = json!({
        "epoch": [1, 2], "names": [1, 2], "memories": [{"memory": scene.id, "blobs": []}],
        "versions": 0, "records": 0, "asked": 0, "not_reached": [],
    });
    for (signer, command) in [
        ("auditor", "log"),
        ("sweeper", "hold_add"),
        ("writer", "view"),
    ] {
        scene.refused(
            signer,
            &scene.record(command, &["mark"]),
            Tree::Same,
            NEVER_CHANGES,
        );
        let mut said = scene.record(command, &["erase"]);
        said["receipt"] = receipt.clone();
        scene.refused(signer, &said, Tree::Same, NEVER_CHANGES);
        let mut said = scene.record(command, &[]);
        said["receipt"] = receipt.clone();
        let words = "it erases memories, and its command never does";
        scene.refused(signer, &said, Tree::Same, words);
    }
    let mut said = scene.record("expire", &["expire", "erase"]);
    said["memories"][0]
        .as_object_mut()
        .expect("one")
        .remove("path");
    let words = "it erases a memory without a receipt";
    scene.refused("sweeper", &said, Tree::Without, words);
    // Last of all, because the next open destroys the keys.
    scene.put(
        "sweeper",
        &scene.record("erase", &["remove", "mark"]),
        Tree::Without,
    );
    assert!(scene.run(&["view"]).is_ok() && scene.run(&["verify", "--full"]).is_ok());
}

#[test]
fn an_access_is_what_an_agent_reads_and_nothing_else() {
    let Some(scene) = Scene::new() else { return };
    for (signer, command) in [
        ("auditor", "log"),
        ("auditor", "show"),
        ("sweeper", "hold_add"),
        ("writer", "export"),
        ("writer", "create"),
    ] {
        let said = scene.record(command, &["read"]);
        scene.refused(signer, &said, Tree::Same, NEVER_CHANGES);
    }
    scene.accepted("auditor", &scene.record("log", &["look"]), Tree::Same);
    for signer in ["writer", "owner"] {
        for command in ["view", "memory_read"] {
            scene.accepted(signer, &scene.record(command, &["read"]), Tree::Same);
        }
    }
}

#[test]
fn what_was_refused_or_failed_changes_nothing() {
    let Some(scene) = Scene::new() else { return };
    let words = "it was not carried out";
    for outcome in ["denied", "error"] {
        let mut said = scene.record("delete", &["remove"]);
        said["outcome"] = outcome.into();
        scene.refused("writer", &said, Tree::Without, words);
        let mut said = scene.record("view", &["read"]);
        said["outcome"] = outcome.into();
        scene.refused("writer", &said, Tree::Same, words);
        let mut said = scene.record("delete", &["none"]);
        said["outcome"] = outcome.into();
        scene.accepted("writer", &said, Tree::Same);
    }
    scene.accepted(
        "writer",
        &scene.record("delete", &["remove"]),
        Tree::Without,
    );
}

#[test]
fn nothing_deletes_the_root() {
    let Some(scene) = Scene::new() else { return };
    let mut said = scene.record("delete", &["remove"]);
    said["path"] = "root".into();
    let words = "it takes away /memories itself";
    scene.refused("writer", &said, Tree::Without, words);
    scene.accepted(
        "writer",
        &scene.record("delete", &["remove"]),
        Tree::Without,
    );
}

#[test]
fn a_size_that_no_text_has_crashes_nobody() {
    let Some(scene) = Scene::new() else { return };
    let (blob, touch) = scene.next_version("edit", PATH);
    let edit = |touch: &Value| json!({"command": "memory_write", "memories": [touch]});
    for (field, number) in [
        ("bytes", u64::MAX),
        ("bytes", 1 << 40),
        ("version", u64::MAX),
    ] {
        let mut touch = touch.clone();
        touch[field] = number.into();
        let words = "a version or a size in it is larger than any";
        scene.refused("writer", &edit(&touch), Tree::With(&blob), words);
    }
    scene.accepted("writer", &edit(&touch), Tree::With(&blob));
}

#[test]
fn no_memory_is_where_a_folder_is_or_below_another() {
    let Some(scene) = Scene::new() else { return };
    let moved = |path: &str| {
        let (blob, touch) = scene.next_version("move", path);
        (
            blob,
            json!({"command": "rename", "path": scene.place(), "memories": [touch]}),
        )
    };
    let (blob, said) = moved("/memories");
    let words = "a memory in it is /memories itself";
    scene.refused("writer", &said, Tree::With(&blob), words);
    let (blob, said) = moved("/memories/held.md/x");
    let words = "it writes to a path above or below another memory";
    scene.refused("writer", &said, Tree::With(&blob), words);
    for path in ["/memories/c.md", "/memories/b.md/x", "/memories/held.md2"] {
        let (blob, said) = moved(path);
        scene.accepted("writer", &said, Tree::With(&blob));
    }
}

#[test]
fn a_record_that_is_far_too_long_is_refused_before_it_is_read() {
    let Some(scene) = Scene::new() else { return };
    let said = |bytes: usize| json!({"command": "log", "reason": "x".repeat(bytes)});
    let head = scene.put("auditor", &said(14 * 1024 * 1024), Tree::Same);
    let ran = scene.run(&["view"]);
    assert_eq!(ran.code, Some(13), "{}", ran.stdout);
    assert!(ran.stderr.contains("longer than any"), "{}", ran.stderr);
    scene.means.adopt(&head);
    scene.accepted("auditor", &said(64 * 1024), Tree::Same);
}

/// As a file is after a crash, or in the hands of somebody who makes it as long as it may be.
#[test]
fn a_table_of_keys_that_goes_on_with_zeros_ends_before_them() {
    let Some(scene) = Scene::new() else { return };
    for (name, entry_bytes) in [("ring", 130), ("names", 88)] {
        let file = scene.home.store().join("keyring").join(name);
        let file = fs::OpenOptions::new().write(true).open(file);
        let file = file.expect("there");
        file.set_len(128 + entry_bytes * (1 << 24)).expect("longer");
    }
    let ran = scene.run(&["read", "b.md"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(0), TEXT),
        "{}",
        ran.stderr
    );
    for path in ["/memories/c.md", "/memories/d.md"] {
        let ran = scene.run(&["create", path, "--text", TEXT]);
        assert!(ran.is_ok(), "{}", ran.stderr);
        let ran = scene.run(&["view", path]);
        assert!(ran.is_ok(), "{}", ran.stderr);
    }
}

/// The keys in force, as the first record names them, with a proof by an epoch key that they follow
/// those before, behind the head.
fn keys(scene: &Scene, by: Option<&[u8]>) -> Value {
    let first = scene
        .means
        .git(&["rev-list", "--max-parents=0", "refs/heads/main"]);
    let mut keys = scene.means.record(&first)["keys"].clone();
    let Some(epoch_key) = by else { return keys };
    let seed = keyed(epoch_key, "agekeep/2 epoch authority");
    let authority = SigningKey::from_bytes(&seed.try_into().expect("32 bytes"));
    let head = git(&scene.home.store(), &["cat-file", "commit", "main"]).stdout;
    let number = |value: &Value| value.as_u64().expect("a number").to_le_bytes();
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let base64 = |value: &Value| Base64Unpadded::decode_vec(&text(value)).expect("base64");
    let said = [
        b"agekeep/2 keys ".to_vec(),
        Sha256::digest(head).to_vec(),
        number(&keys["epoch"][0]).to_vec(),
        base64(&keys["epoch"][1]),
        number(&keys["names"][0]).to_vec(),
        unhex(&text(&keys["names"][1])),
        unhex(&text(&keys["audit"])),
        number(&keys["entries"][0]).to_vec(),
        number(&keys["entries"][1]).to_vec(),
    ]
    .concat();
    let proof = authority.sign(&said).to_bytes();
    keys["proof"] = Base64Unpadded::encode_string(&proof).into();
    keys
}

/// A record of today's format, which alone has keys.
fn with_keys(scene: &Scene, command: &str, keys: &Value) -> Value {
    let replica = &scene.means.audit["replica"];
    json!({"agekeep": 2, "replica": replica, "command": command, "keys": keys})
}

#[test]
fn keys_are_accepted_by_an_owner_alone() {
    let Some(scene) = Scene::new() else { return };
    let said = with_keys(&scene, "accept_rollback", &keys(&scene, None));
    for signer in ["writer", "sweeper", "auditor"] {
        scene.refused(signer, &said, Tree::Same, "the acceptance of other keys");
        let without = json!({"command": "accept_rollback"});
        scene.accepted(signer, &without, Tree::Same);
    }
    scene.accepted("owner", &said, Tree::Same);
}

#[test]
fn keys_follow_keys_only_by_who_held_those_before() {
    let Some(scene) = Scene::new() else { return };
    let own = scene.means.epoch["key"].as_str().expect("text");
    let own = Base64Unpadded::decode_vec(own).expect("base64");
    let rekey = |keys: &Value| with_keys(&scene, "rekey", keys);
    let proven = keys(&scene, Some(&own));
    let mut of_another_moment = proven.clone();
    of_another_moment["entries"] = json!([1, 1]);
    for wrong in [
        keys(&scene, None),
        keys(&scene, Some(&[7; 32])),
        of_another_moment,
    ] {
        let words = "it puts other keys in force, and no holder of those before did";
        scene.refused("owner", &rekey(&wrong), Tree::Same, words);
    }
    scene.accepted("owner", &rekey(&proven), Tree::Same);
    // Behind the next commit, the same proof proves nothing.
    scene.put("owner", &rekey(&proven), Tree::Same);
    let words = "it puts other keys in force, and no holder of those before did";
    scene.refused("owner", &rekey(&proven), Tree::Same, words);
}

#[test]
fn keys_come_into_force_by_no_other_command() {
    let Some(scene) = Scene::new() else { return };
    let own = scene.means.epoch["key"].as_str().expect("text");
    let own = Base64Unpadded::decode_vec(own).expect("base64");
    let proven = keys(&scene, Some(&own));
    for (signer, command) in [
        ("writer", "view"),
        ("sweeper", "hold_add"),
        // Without a receipt, nothing was erased.
        ("sweeper", "erase"),
        ("sweeper", "expire"),
        ("auditor", "log"),
        ("owner", "signers_add"),
    ] {
        let said = with_keys(&scene, command, &proven);
        let words = "it puts other keys in force, and its command never does";
        scene.refused(signer, &said, Tree::Same, words);
    }
}

#[test]
fn nothing_else_is_said_under_a_name_that_never_says_it() {
    let Some(scene) = Scene::new() else { return };
    let head = scene.means.git(&["rev-parse", "main"]);
    for (field, value, words) in [
        ("member", json!("eve"), "it is about a reader or a signer"),
        (
            "lost",
            json!({"event": 1, "commit": head}),
            "it accepts another history",
        ),
        ("undone", json!([[1, 1]]), "it undoes events"),
        ("clock_accepted", json!(true), "it accepts a clock"),
    ] {
        let words = format!("{words}, and its command never");
        for (signer, command) in [("auditor", "log"), ("writer", "view"), ("owner", "scan")] {
            let mut said = json!({"command": command});
            said[field] = value.clone();
            scene.refused(signer, &said, Tree::Same, &words);
        }
    }
    // Nor can a store become one for trials, whose times may be made up.
    for (signer, command) in [("writer", "view"), ("owner", "scan"), ("owner", "init")] {
        let said = json!({"command": command, "trial": true});
        let words = "it makes the store one for trials, and only the first event does";
        scene.refused(signer, &said, Tree::Same, words);
    }
    let said = json!({"command": "expire", "clock_accepted": true});
    scene.accepted("sweeper", &said, Tree::Same);
}

#[test]
fn what_is_there_is_not_marked() {
    let Some(scene) = Scene::new() else { return };
    let words = "it erases a memory that is there";
    for signer in ["sweeper", "owner"] {
        let said = scene.record("erase", &["mark"]);
        scene.refused(signer, &said, Tree::Same, words);
    }
    scene.accepted("sweeper", &json!({"command": "erase"}), Tree::Same);
}

#[test]
fn what_is_marked_is_not_restored() {
    let Some(scene) = Scene::new() else { return };
    let (blob, touch) = scene.next_version("restore", PATH);
    let restore = json!({"command": "restore", "memories": [touch]});
    // The control: what was only deleted comes back.
    let head = scene.put("owner", &scene.record("delete", &["remove"]), Tree::Without);
    scene.accepted("owner", &restore, Tree::With(&blob));
    scene.means.adopt(&head);
    scene.forget_caches();
    let marked = scene.record("erase", &["remove", "mark"]);
    scene.put("owner", &marked, Tree::Without);
    let words = "the version it writes is not the next";
    scene.refused("owner", &restore, Tree::With(&blob), words);
}
