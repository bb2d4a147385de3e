//! What an export takes out, by whom, and what is on record of it.

use std::fs;

use agekeep::crypto::keyfile;
use agekeep::error::Error;
use agekeep::event::Context;
use agekeep::memory_tool::command::Command;
use agekeep::store::export::ExportScope;
use agekeep::store::{Keys, Store, TextComparison};
use serde_json::json;

use crate::port::place::{Place, text, texts, tree};
use crate::retention::scene::{BEGIN, Scene, day, has, minute};
use crate::support::{json_lines, stderr, stdout};

#[test]
fn an_export_is_one_event_that_names_what_it_took() {
    let scene = Scene::new("");
    scene.create(&minute(1), "/memories/a.md", "a\n");
    scene.create(&minute(2), "/memories/sub/b.md", "b\n");
    scene.done(&minute(3), &["write", "a.md", "--text", "a2\n"]);
    let out = scene.home.path().join("out");
    let args = [
        "export",
        text(&out),
        "--actor",
        "ada",
        "--reason",
        "an audit",
    ];
    let output = scene.run(&minute(9), &args);
    assert!(output.status.success(), "{}", stderr(&output));
    let event = scene.newest(&minute(9));
    assert_eq!(event["event"], 4);
    assert_eq!(event["command"], "export");
    assert_eq!(event["actor"], "ada");
    assert_eq!(event["reason"], "an audit");
    assert_eq!(event["path"], "/memories");
    assert_eq!(event["at"][0]["event"], 3);
    let memories = event["memories"].as_array().expect("a list");
    let said: Vec<_> = memories
        .iter()
        .map(|one| {
            (
                one["change"].clone(),
                one["path"].clone(),
                one["version"].clone(),
            )
        })
        .collect();
    let row = |path: &str, version: u64| (json!("look"), json!(path), json!(version));
    assert_eq!(
        said,
        [row("/memories/a.md", 2), row("/memories/sub/b.md", 1)]
    );
    // Whoever asks who read a memory is told of it.
    let access = scene.done(&minute(9), &["access", "/memories/sub/b.md"]);
    has(&access, &["export", "by=ada"]);
    let below = scene.home.path().join("below");
    let args = ["export", text(&below), "--path", "/memories/sub", "--json"];
    let said = json_lines(&scene.run(&minute(10), &args).stdout);
    assert_eq!(said[0]["schema"], "agekeep.exported/1");
    assert_eq!(said[0]["written"], 1);
    assert_eq!(scene.newest(&minute(10))["path"], "/memories/sub");
    let two = scene.home.path().join("two");
    let args = [
        "export",
        text(&two),
        "--path",
        "/memories/sub",
        "--path",
        "/memories/a.md",
    ];
    assert!(scene.run(&minute(11), &args).status.success());
    assert_eq!(tree(&two).len(), 2);
    assert!(scene.newest(&minute(11))["path"].is_null());
    scene.assert_verified("after exports");
}

#[test]
fn the_state_is_that_of_the_moment() {
    let scene = Scene::new("");
    scene.create(&minute(1), "/memories/a.md", "a\n");
    scene.create(&minute(2), "/memories/b.md", "b\n");
    scene.done(&minute(3), &["rename", "/memories/a.md", "/memories/c.md"]);
    scene.done(&minute(4), &["delete", "/memories/b.md"]);
    let mut number = 0;
    let mut at = |at: &str| {
        number += 1;
        let out = scene.home.path().join(format!("out{number}"));
        let output = scene.run(&minute(9), &["export", text(&out), "--at", at]);
        assert!(output.status.success(), "{}", stderr(&output));
        tree(&out)
    };
    assert_eq!(at("0"), texts(&[]));
    assert_eq!(at("2"), texts(&[("a.md", "a\n"), ("b.md", "b\n")]));
    assert_eq!(at("3"), texts(&[("b.md", "b\n"), ("c.md", "a\n")]));
    assert_eq!(at("2026-01-01T00:04:30Z"), texts(&[("c.md", "a\n")]));
}

#[test]
fn erased_memories_are_named_and_are_nothing_wrong() {
    let scene = Scene::new("");
    scene.create(BEGIN, "/memories/a.md", "a\n");
    scene.create(BEGIN, "/memories/b.md", "b\n");
    scene.done(
        BEGIN,
        &["erase", "/memories/b.md", "--yes", "--reason", "asked"],
    );
    let out = scene.home.path().join("out");
    let output = scene.run(BEGIN, &["export", text(&out), "--at", "2"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    has(
        &stdout(&output),
        &["1 version not exported", "erased", "Exported 1 memory"],
    );
    assert_eq!(tree(&out), texts(&[("a.md", "a\n")]));
}

#[test]
fn what_is_damaged_is_named_and_the_rest_is_written() {
    let place = Place::new();
    place.ok(&["create", "/memories/a.md", "--text", "a\n"]);
    let listed = stdout(&place.home.git(&["ls-tree", "-r", "main"]));
    let entry = listed.lines().find(|line| line.contains('/')).expect("one");
    let blob = entry.split_whitespace().nth(2).expect("a name").to_owned();
    place.ok(&["create", "/memories/b.md", "--text", "b\n"]);
    let path = place
        .home
        .store()
        .join(format!("objects/{}/{}", &blob[..2], &blob[2..]));
    fs::remove_file(place.home.store().join("journal")).expect("it would be mended from it");
    fs::remove_file(path).expect("there");
    let said = place.fails(13, &["export", "out"]);
    has(
        &said,
        &[
            "/memories/a.md  1 version not exported",
            "Exported 1 memory",
        ],
    );
    assert_eq!(tree(&place.path("out")), texts(&[("b.md", "b\n")]));
    let lines = place.fails(13, &["export", "--jsonl", "out.jsonl"]);
    has(&lines, &["not exported"]);
}

#[test]
fn what_has_expired_is_absent_and_what_is_held_is_not() {
    let scene = Scene::new("[expiration]\nunaccessed_for = \"10d\"\n");
    scene.create(BEGIN, "/memories/old.md", "old\n");
    scene.create(BEGIN, "/memories/held.md", "held\n");
    scene.done(
        BEGIN,
        &["hold", "add", "/memories/held.md", "--reason", "a case"],
    );
    scene.create(&day(5), "/memories/new.md", "new\n");
    let out = scene.home.path().join("out");
    assert!(
        scene
            .run(&day(12), &["export", text(&out)])
            .status
            .success()
    );
    assert_eq!(
        tree(&out),
        texts(&[("held.md", "held\n"), ("new.md", "new\n")])
    );
    let all: Vec<_> = scene.newest(&day(12))["memories"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| one["path"].clone())
        .collect();
    assert_eq!(all, ["/memories/held.md", "/memories/new.md"]);
    // An export is no access: what it took expires as if nobody had.
    assert!(scene.is_there(&day(14), "/memories/new.md"));
    assert!(!scene.is_there(&day(16), "/memories/new.md"));
    // A comparison is none either.
    scene.create(&day(20), "/memories/again.md", "again\n");
    let folder = scene.home.path().join("in");
    fs::create_dir(&folder).expect("made");
    fs::write(folder.join("again.md"), "again\n").expect("written");
    let said = scene.run(&day(28), &["import", text(&folder)]);
    has(&stdout(&said), &["1 there already"]);
    assert!(!scene.is_there(&day(31), "/memories/again.md"));
    // What has expired is not there for an import either, which makes it anew.
    let said = scene.run(&day(31), &["import", text(&folder)]);
    has(&stdout(&said), &["Imported 1 memory"]);
}

#[test]
fn whoever_cannot_read_or_cannot_record_takes_nothing_out() {
    let scene = Scene::new("");
    scene.create(BEGIN, "/memories/a.md", "a\n");
    scene.let_in(BEGIN, "carol", "auditor", true);
    scene.let_in(BEGIN, "dave", "auditor", false);
    scene.let_in(BEGIN, "erin", "reader", false);
    scene.let_in(BEGIN, "frank", "reader", true);
    let folder = scene.home.path().join("in");
    fs::create_dir(&folder).expect("made");
    fs::write(folder.join("b.md"), "b\n").expect("written");
    let out = scene.home.path().join("out");
    let before = scene.events();
    for who in ["carol", "dave", "erin"] {
        for args in [&["export", text(&out)][..], &["export", "--jsonl", "-"]] {
            let output = scene.run_as(who, BEGIN, args);
            assert_eq!(output.status.code(), Some(12), "{who}: {}", stderr(&output));
            assert_eq!(stdout(&output), "", "{who}");
        }
    }
    for who in ["carol", "dave"] {
        for args in [
            &["import", text(&folder)][..],
            &["import", text(&folder), "-n"],
        ] {
            let output = scene.run_as(who, BEGIN, args);
            assert_eq!(output.status.code(), Some(12), "{who}: {}", stderr(&output));
        }
    }
    assert_eq!(scene.events(), before);
    assert!(!out.exists());
    let output = scene.run_as("frank", BEGIN, &["export", text(&out)]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(scene.newest(BEGIN)["actor"], "frank");
}

/// The store of a scene, opened by its owner in this process.
fn opened(scene: &Scene) -> Store {
    let key = keyfile::read_signing_key(&scene.home.signing_key());
    let keys = Keys {
        identity: keyfile::read_identity(&scene.home.identity()).expect("an identity"),
        signing_key: Some(key.expect("a signing key")),
        state: None,
        keyring: None,
    };
    let began = BEGIN.parse().expect("a time");
    Store::open(&scene.home.store(), keys, Box::new(move || began)).expect("opens")
}

#[test]
fn what_is_erased_while_an_export_is_under_way_is_not_in_it() {
    let scene = Scene::new("");
    scene.create(BEGIN, "/memories/a.md", "a\n");
    scene.create(BEGIN, "/memories/b.md", "b\n");
    let mut store = opened(&scene);
    let export = store.export(&ExportScope::default(), &Context::default());
    let export = export.expect("it is recorded");
    assert_eq!((export.head().versions, export.head().event), (2, 3));
    // Agents and people go on meanwhile.
    scene.done(
        BEGIN,
        &["erase", "/memories/a.md", "--yes", "--reason", "asked"],
    );
    scene.done(BEGIN, &["write", "b.md", "--text", "later\n"]);
    let taken: Vec<_> = export
        .map(|taken| taken.expect("the store is read"))
        .collect();
    assert!(taken[0].is_erased());
    assert!(taken[0].sha256().is_none());
    let text = taken[1].text.as_ref().expect("it opens");
    assert_eq!(text.as_str(), "b\n", "as it was when the export began");
}

#[test]
fn what_is_asked_beforehand_is_recorded_nowhere_and_shows_nothing() {
    let scene = Scene::new("");
    scene.create(BEGIN, "/memories/a.md", "a\n");
    let before = scene.events();
    let mut store = scene.store();
    let context = Context::default();
    let mut foresee = |command: Command| store.preview(&command, &context);
    let create = |path: &str, text: &str| Command::Create {
        path: path.into(),
        file_text: text.into(),
    };
    let done = foresee(create("/memories/b.md", "PASSWORD=Zk9vTq2Lm4x\n")).expect("foreseen");
    assert!(done.refusal.is_none());
    assert_eq!(done.redactions.len(), 1);
    assert!(
        done.content
            .as_str()
            .starts_with("File created successfully")
    );
    let refused = foresee(create("/memories/a.md", "b\n")).expect("foreseen");
    assert_eq!(
        refused
            .refusal
            .map(agekeep::store::answer::Refusal::exit_code),
        Some(5)
    );
    for look in [
        Command::View {
            path: "/memories/a.md".into(),
            range: None,
        },
        Command::Read { path: None },
    ] {
        assert!(matches!(foresee(look), Err(Error::Invalid { .. })));
    }
    let mut compare = |path: &str, text: &str| store.compare_with_stored(path, &text.into());
    assert!(matches!(
        compare("/memories/a.md", "a\n"),
        Ok(TextComparison::Same)
    ));
    assert!(matches!(
        compare("/memories/a.md", "b\n"),
        Ok(TextComparison::Other(_))
    ));
    assert!(matches!(
        compare("/memories/b.md", "b\n"),
        Ok(TextComparison::Free)
    ));
    assert!(matches!(
        compare("/elsewhere", "b\n"),
        Ok(TextComparison::Free)
    ));
    assert!(matches!(
        store.export(&ExportScope::default(), &Context::default()),
        Err(Error::NoSigningKey)
    ));
    assert_eq!(scene.events(), before);
}
