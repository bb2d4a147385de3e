//! Separation of duties: who sweeps has no key to content, and who has one completes the erasure.

use crate::retention::scene::{Scene, day, has, list};
use crate::support::stderr;

const POLICY: &str = "[expiration]\nunaccessed_for = \"90d\"\nthen = \"erase\"\n";

/// A store with a sweeper: an auditor who may write.
fn scene() -> Scene {
    let scene = Scene::new(POLICY);
    scene.let_in(&day(1), "sue", "auditor", true);
    scene.create(&day(1), "/memories/a.md", "text of a\n");
    scene.create(&day(1), "/memories/b.md", "text of b\n");
    scene
}

#[test]
fn an_auditor_sweeps_and_marks_and_a_reader_completes() {
    let scene = scene();
    let id = scene.id("/memories/a.md");
    scene.done(&day(80), &["view", "/memories/b.md"]);
    scene.done_as("sue", &day(95), &["expire"]);
    assert!(!scene.is_there(&day(95), "/memories/a.md"));
    let said = scene.done_as("sue", &day(130), &["expire", "--reason", "nightly"]);
    has(&said, &["1 to erase", "are marked"]);
    let marked = scene.newest(&day(130));
    // Looking at the log was a reader's command: the keys are gone by now.
    assert_eq!(marked["command"], "erase");
    let receipt = scene.json(&day(131), &["receipt", "show"]);
    let memory = &list(&receipt["receipt"]["memories"])[0];
    assert_eq!(memory["memory"], id.as_str());
    let earlier = &list(&receipt["earlier"])[0];
    assert_eq!(memory["after"], earlier["event"]);
    assert_eq!(
        (&earlier["what"], &earlier["actor"]),
        (&"marked".into(), &"sue".into())
    );
    assert_eq!(earlier["reason"], "nightly");
    assert_ne!(earlier["event"], receipt["event"]);
    scene.assert_verified("after both");
}

/// Whether the keyring has a key of a memory.
fn has_key(scene: &Scene, id: &str) -> bool {
    let ring = std::fs::read(scene.keyring().join("ring")).expect("there");
    let id: Vec<u8> = (0..32)
        .step_by(2)
        .map(|at| u8::from_str_radix(&id[at..at + 2], 16).expect("hex"))
        .collect();
    ring[128..].chunks(130).any(|entry| entry.starts_with(&id))
}

/// Roles and identities are two things: all three here are readers.
#[test]
fn a_reader_who_writes_completes_an_erasure_and_one_who_only_audits_does_not() {
    let scene = scene();
    for (who, role) in [("wes", "writer"), ("ada", "auditor"), ("sid", "sweeper")] {
        scene.let_in(&day(2), who, "reader", true);
        if role != "writer" {
            scene.done(&day(2), &["signers", "role", who, role]);
        }
    }
    let id = scene.id("/memories/a.md");
    let old = scene.keep(&scene.keyring(), "old-keyring");
    scene.done_as(
        "sue",
        &day(3),
        &["erase", "/memories/a.md", "--yes", "--reason", "asked"],
    );
    for keyring in ["of today", "from before"] {
        let events = scene.events();
        scene.done_as("ada", &day(4), &["show", "4:/memories/b.md"]);
        assert!(has_key(&scene, &id), "{keyring}");
        scene.done_as("wes", &day(5), &["view", "/memories/b.md"]);
        assert!(!has_key(&scene, &id), "{keyring}");
        assert_eq!(scene.events(), events + 3, "{keyring}");
        let log = scene.log(&day(5), 2);
        assert_eq!([&log[0]["signer"], &log[1]["signer"]], ["wes", "wes"]);
        assert_eq!([&log[0]["command"], &log[1]["command"]], ["view", "erase"]);
        // History says so also to whoever reads all of it.
        std::fs::remove_file(scene.keyring().with_file_name("catalog")).expect("there");
        scene.assert_verified(keyring);
        if keyring == "of today" {
            crate::retention::scene::copy(&old, &scene.keyring());
        }
    }
    // To begin one is a sweeper's, who has what it takes here.
    let said = scene.fails_as(
        "wes",
        &day(6),
        7,
        &["erase", "/memories/b.md", "--yes", "--reason", "asked"],
    );
    has(
        &said,
        &["wes has the role writer, which may not record erase"],
    );
    let id = scene.id("/memories/b.md");
    scene.done_as(
        "sid",
        &day(6),
        &["erase", "/memories/b.md", "--yes", "--reason", "asked"],
    );
    assert!(!has_key(&scene, &id));
    scene.assert_verified("after a sweeper who reads");
}

#[test]
fn what_is_marked_is_closed_before_its_keys_are_gone() {
    let scene = scene();
    scene.let_in(&day(2), "rae", "reader", false);
    scene.done_as(
        "sue",
        &day(3),
        &["erase", "/memories/a.md", "--reason", "request", "--yes"],
    );
    // Rae reads everything and may not write: the erasure cannot be completed by her.
    for args in [
        &["read", "a.md"][..],
        &["show", "4:/memories/a.md"],
        &["view", "--at", "4", "/memories/a.md"],
        &["grep", "--history", "text of a"],
    ] {
        let output = scene.run_as("rae", &day(4), args);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(!said.contains("text of a"), "{args:?}: {said}");
    }
    let status = scene.run_as("rae", &day(4), &["status"]);
    has(
        &String::from_utf8_lossy(&status.stdout),
        &["marked for erasure"],
    );
    scene.refused_but_recorded("a reader completes it");
    let receipt = scene.json(&day(6), &["receipt", "show"]);
    assert_eq!(list(&receipt["earlier"])[0]["actor"], "sue");
    scene.assert_verified("after the owner came by");
}

#[test]
fn an_auditor_reads_nothing_and_destroys_no_key() {
    let scene = scene();
    for args in [
        &["read", "a.md"][..],
        &["create", "/memories/c.md", "--text", "c"],
    ] {
        scene.fails_as("sue", &day(2), 12, args);
    }
    scene.done(&day(2), &["write", "a.md", "--text", "another"]);
    let ring = std::fs::read(scene.keyring().join("ring")).expect("there");
    scene.fails_as(
        "sue",
        &day(2),
        12,
        &[
            "erase",
            "/memories/a.md",
            "--history",
            "--yes",
            "--reason",
            "asked",
        ],
    );
    scene.done_as(
        "sue",
        &day(2),
        &["erase", "/memories/a.md", "--yes", "--reason", "asked"],
    );
    let after = std::fs::read(scene.keyring().join("ring")).expect("there");
    assert!(ring == after, "the ring is another");
}

/// To sweep, to mark and to begin a hold is all that a signing key gives an auditor.
#[test]
fn an_auditor_who_may_write_decides_nothing_else() {
    let scene = scene();
    scene.done(&day(2), &["hold", "add", "/memories/b.md", "--reason", "x"]);
    let hold = scene.json(&day(2), &["hold", "list"])["hold"].to_string();
    let events = scene.events();
    for args in [
        &["hold", "rm", &hold][..],
        &["delete", "/memories/a.md"],
        &["rename", "/memories/a.md", "/memories/c.md"],
        &[
            "redact",
            "HEAD:/memories/a.md",
            "--yes",
            "--reason",
            "asked",
        ],
        &["restore", "/memories/a.md", "--from", "1"],
        &["rollback", "--to", "1"],
        &["policy", "set", "limits.memories", "9"],
        &["signers", "rm", "sue"],
        &["rekey"],
        &["export", "out"],
        &["keys", "export", "/memories/a.md"],
    ] {
        scene.fails_as("sue", &day(2), 12, args);
    }
    scene.fails_as(
        "sue",
        &day(2),
        7,
        &["erase", "/memories/b.md", "--yes", "--reason", "asked"],
    );
    assert_eq!(scene.events(), events);
    scene.done_as(
        "sue",
        &day(2),
        &["erase", "/memories/a.md", "--yes", "--reason", "asked"],
    );
    scene.done_as(
        "sue",
        &day(2),
        &["hold", "add", "/memories/**", "--reason", "y"],
    );
    assert_eq!(scene.events(), events + 2);
    assert!(!scene.is_there(&day(3), "/memories/a.md"));
    assert!(scene.is_there(&day(3), "/memories/b.md"));
}

#[test]
fn a_hold_on_what_is_marked_keeps_its_keys() {
    let scene = scene();
    let id = scene.id("/memories/a.md");
    scene.done(&day(2), &["hold", "add", &id, "--reason", "case 7"]);
    scene.fails_as(
        "sue",
        &day(3),
        7,
        &["erase", "/memories/a.md", "--yes", "--reason", "asked"],
    );
    scene.done(&day(4), &["hold", "rm", "5"]);
    scene.done_as(
        "sue",
        &day(5),
        &["erase", "/memories/a.md", "--yes", "--reason", "asked"],
    );
    // The hold comes from one who has no key either, before any reader came by.
    scene.done_as("sue", &day(6), &["hold", "add", &id, "--reason", "case 8"]);
    scene.done(&day(7), &["view", "/memories/b.md"]);
    let receipt = scene.fails(&day(7), 4, &["receipt", "show"]);
    has(&receipt, &["no receipt"]);
    let lifted = scene.json(&day(8), &["hold", "list"]);
    let hold = lifted["hold"].to_string();
    scene.done(&day(8), &["hold", "rm", &hold]);
    scene.done(&day(9), &["view", "/memories/b.md"]);
    scene.done(&day(9), &["receipt", "verify"]);
    assert_eq!(
        scene.json(&day(9), &["receipt", "show"])["receipt"]["memories"][0]["memory"],
        id.as_str()
    );
    scene.assert_verified("after the hold was lifted");
}

impl Scene {
    /// The next command of a reader who may write completes what is marked.
    fn refused_but_recorded(&self, why: &str) {
        let before = self.events();
        let output = self.run_as("owner", &day(5), &["view", "/memories/b.md"]);
        assert!(output.status.success(), "{why}");
        assert_eq!(self.events(), before + 2, "{why}");
        // Whoever completes it is told.
        let note = format!("note: event {before} finished an erasure");
        assert!(
            stderr(&output).contains(&note),
            "{why}: {}",
            stderr(&output)
        );
    }
}
