//! Erasure seen from outside: what stock git and age can do with a copy of the repository, with the
//! keyring of today and with that of the day before.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use base64ct::{Base64Unpadded, Encoding};
use serde_json::Value;

use crate::retention::scene::{Scene, copy, list, minute};
use crate::support::forge::{Means, has_means, private};
use crate::support::{feed, git, json_lines, stdout};

const TEXT: &str = "Mrs Weber lives at Linden Street 4";
const PATH: &str = "/memories/people/weber.md";

/// A repository and a keyring, and what stock programs open of it.
struct Outside<'a> {
    scene: &'a Scene,
    store: &'a Path,
    means: Means,
}

impl<'a> Outside<'a> {
    fn of(scene: &'a Scene, store: &'a Path) -> Self {
        let means = Means::of(store, &scene.home.identity(), scene.home.path());
        Self {
            scene,
            store,
            means,
        }
    }

    /// What stock age opens of some bytes with an identity.
    fn open(&self, identity: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        let file = self.scene.home.path().join("outside.key");
        private(&file, identity);
        let mut age = Command::new("age");
        age.arg("-d").arg("-i").arg(file);
        let opened = feed(age, sealed);
        opened.status.success().then_some(opened.stdout)
    }

    /// Every identity that the keyring gives to who opens it: of memories, and of records.
    fn identities(&self) -> Vec<String> {
        let ring = fs::read(self.store.join("keyring/ring")).expect("there");
        let entries = ring[128..].chunks_exact(130);
        let ids: BTreeSet<String> = entries.map(|entry| hex(&entry[..16])).collect();
        let memories = ids.iter().map(|id| self.means.memory_identity(id));
        let audit = list(&self.means.audit["identities"]).iter();
        let audit = audit.map(|key| key.as_str().expect("text").to_owned());
        memories.chain(audit).collect()
    }

    /// Everything that can be opened at all: each object of the repository as it is, and what any
    /// identity opens of it.
    fn everything(&self) -> Vec<Vec<u8>> {
        let identities = self.identities();
        let listed = stdout(&git(
            self.store,
            &["cat-file", "--batch-all-objects", "--batch-check"],
        ));
        let mut all = Vec::new();
        for line in listed.lines() {
            let mut words = line.split(' ');
            let (name, kind) = (words.next().expect("a name"), words.next().expect("a kind"));
            let bytes = git(self.store, &["cat-file", kind, name]).stdout;
            let sealed = match find(&bytes, b"-----BEGIN AGE") {
                Some(at) => {
                    let end = b"-----END AGE ENCRYPTED FILE-----\n";
                    let end = at + find(&bytes[at..], end).expect("it ends") + end.len();
                    Some(bytes[at..end].to_vec())
                }
                None => {
                    (kind == "blob" && bytes.starts_with(b"age-encryption")).then(|| bytes.clone())
                }
            };
            if let Some(sealed) = sealed {
                all.extend(identities.iter().filter_map(|key| self.open(key, &sealed)));
            }
            all.push(bytes);
        }
        all.push(self.means.epoch.to_string().into_bytes());
        all.push(self.means.audit.to_string().into_bytes());
        all
    }

    fn shows(&self, what: &str) -> bool {
        let all = self.everything();
        all.iter()
            .any(|bytes| find(bytes, what.as_bytes()).is_some())
    }

    /// Whether the path of a touch of an event opens with a name key of the keyring.
    fn opens_path(&self, id: &str, sealed: &str) -> bool {
        let names = fs::read(self.store.join("keyring/names")).expect("there");
        let mut entries = names[128..].chunks_exact(88);
        if !entries.any(|entry| hex(&entry[..16]) == id) {
            return false;
        }
        let sealed = Base64Unpadded::decode_vec(sealed).expect("base64");
        self.means.open_path(id, &sealed).is_some()
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The sealed path of the memory in the record of an event.
fn sealed_path(outside: &Outside<'_>, event: &Value, id: &str) -> Option<String> {
    let commit = event["commit"].as_str().expect("an id");
    let bytes = git(outside.store, &["cat-file", "commit", commit]).stdout;
    let at = find(&bytes, b"-----BEGIN AGE").expect("a record");
    let keys = list(&outside.means.audit["identities"]).iter();
    let mut keys = keys.map(|key| key.as_str().expect("text"));
    let end = b"-----END AGE ENCRYPTED FILE-----\n";
    let end = at + find(&bytes[at..], end).expect("it ends") + end.len();
    let record = keys.find_map(|key| outside.open(key, &bytes[at..end]))?;
    let record: Value = serde_json::from_slice(&record).expect("JSON");
    let touch = list(&record["memories"]).iter().find(|t| t["id"] == id)?;
    touch["path"].as_str().map(str::to_owned)
}

fn scene() -> Scene {
    let scene = Scene::new("");
    scene.create(&minute(1), PATH, &format!("{TEXT}\n"));
    scene.create(&minute(1), "/memories/other.md", "something else\n");
    scene.done(
        &minute(2),
        &["insert", PATH, "1", "--text", "and has a cat"],
    );
    scene.done(&minute(3), &["view", PATH]);
    scene
}

#[test]
fn a_copy_from_before_with_todays_keyring_does_not_open() {
    if !has_means("that an erased memory opens nowhere") {
        return;
    }
    let scene = scene();
    let id = scene.id(PATH);
    let before = scene.keep(&scene.home.store(), "before");
    let events = scene.log(&minute(3), 4);
    scene.done(
        &minute(4),
        &["erase", PATH, "--reason", "request 4711", "--yes"],
    );
    // The same repository, with the keyring of today.
    let mixed = scene.keep(&before, "mixed");
    copy(&scene.keyring(), &mixed.join("keyring"));

    let then = Outside::of(&scene, &before);
    assert!(
        then.shows(TEXT) && then.shows(PATH),
        "the control: it opened that day"
    );
    let identity = then.means.memory_identity(&id);
    assert!(then.identities().contains(&identity), "the control");
    let sealed = events.iter().filter_map(|e| sealed_path(&then, e, &id));
    let sealed: Vec<String> = sealed.collect();
    assert!(sealed.len() >= 3, "{events:?}");
    for path in &sealed {
        assert!(then.opens_path(&id, path), "the control: the path opened");
    }
    for now in [&mixed, &scene.home.store()] {
        let now = Outside::of(&scene, now);
        for what in [TEXT, "has a cat", PATH, &identity] {
            assert!(!now.shows(what), "{what} in {}", now.store.display());
        }
        assert!(
            now.shows("something else"),
            "the control: others still open"
        );
        for path in &sealed {
            assert!(!now.opens_path(&id, path));
        }
    }
    scene.assert_verified("after the erasure");
}

/// The files beside the repository are sealed under keys that are gone, or say nothing of it.
#[test]
fn no_file_of_the_store_keeps_a_path_or_a_key() {
    if !has_means("that no file keeps an erased path") {
        return;
    }
    let scene = scene();
    let before = scene.keep(&scene.home.store(), "before");
    scene.done(&minute(4), &["verify"]);
    scene.done(&minute(4), &["erase", PATH, "--yes", "--reason", "asked"]);
    let old = Means::of(&before, &scene.home.identity(), scene.home.path());
    let new = Means::of(
        &scene.home.store(),
        &scene.home.identity(),
        scene.home.path(),
    );
    assert_ne!(old.epoch["key"], new.epoch["key"]);
    assert_ne!(old.audit["names_key"], new.audit["names_key"]);
    assert_eq!(
        old.audit["identities"], new.audit["identities"],
        "records stay readable"
    );
    let cached = |name: &str| fs::read(scene.home.store().join(name)).expect("there");
    assert!(!old.opens_timeline(&cached("timeline")));
    assert!(new.opens_timeline(&cached("timeline")), "the control");
    let (opened, all) = new.opened_in_catalog(&cached("catalog"));
    assert!(opened == all && all > 2, "the control: {opened} of {all}");
    assert_eq!(old.opened_in_catalog(&cached("catalog")), (0, all));
    let left = fs::read_dir(scene.keyring()).expect("a folder").flatten();
    let left: BTreeSet<_> = left.map(|entry| entry.file_name()).collect();
    let four = ["audit.age", "epoch.age", "names", "ring"];
    assert_eq!(left, four.iter().map(Into::into).collect());
}

/// With `--history` the present version stays, and opens with the new identity alone.
#[test]
fn an_older_version_does_not_open_with_what_opens_the_present_one() {
    if !has_means("that erased history opens nowhere") {
        return;
    }
    let scene = scene();
    let before = scene.keep(&scene.home.store(), "before");
    scene.done(
        &minute(4),
        &["str-replace", PATH, "--old", TEXT, "--new", "Moved away"],
    );
    scene.done(
        &minute(5),
        &["erase", PATH, "--history", "--yes", "--reason", "asked"],
    );
    let now = scene.home.store();
    let (then, now) = (Outside::of(&scene, &before), Outside::of(&scene, &now));
    assert!(then.shows(TEXT), "the control");
    assert!(!now.shows(TEXT));
    assert!(now.shows("Moved away"), "the present version stays");
    assert_eq!(
        scene.done(&minute(6), &["read", PATH]),
        "Moved away\nand has a cat\n"
    );
    scene.fails(&minute(6), 4, &["show", &format!("1:{PATH}")]);
    let shown = json_lines(
        scene
            .done(&minute(6), &["receipt", "show", "--json"])
            .as_bytes(),
    );
    assert_eq!(shown[0]["receipt"]["memories"][0]["kept"], 4);
    scene.assert_verified("after the erasure of history");
}

/// Redacting what is kept: the secret opens nowhere any more.
#[test]
fn a_secret_that_was_kept_is_redacted_and_gone() {
    if !has_means("that a redacted secret opens nowhere") {
        return;
    }
    let scene = Scene::new("[redaction]\nmode = \"off\"\n");
    let secret = ["ghp_", "XcwM0kYq2RvTn7LbPz4HsJd9UfGe3A1CmK5s"].concat();
    scene.create(&minute(1), PATH, &format!("CI pushes with {secret}.\n"));
    scene.done(&minute(2), &["insert", PATH, "1", "--text", "second"]);
    scene.policy(&minute(3), "");
    let before = scene.keep(&scene.home.store(), "before");
    let said = scene.json(
        &minute(4),
        &[
            "redact",
            &format!("HEAD:{PATH}"),
            "--yes",
            "--reason",
            "asked",
        ],
    );
    assert_eq!(said["stripped"], serde_json::json!(["github-pat"]));
    assert!(Outside::of(&scene, &before).shows(&secret), "the control");
    assert!(!Outside::of(&scene, &scene.home.store()).shows(&secret));
    let text = scene.done(&minute(5), &["read", PATH]);
    assert_eq!(text, "CI pushes with [REDACTED:github-pat].\nsecond\n");
    scene.fails(&minute(5), 4, &["show", &format!("1:{PATH}")]);
    scene.assert_verified("after the redaction");
}
