//! What destroys: `erase`, and `redact` of what is kept. Each shows what it would destroy, wants a
//! reason, and has a person confirm by name.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};

use crate::support::terminal::answered;
use crate::support::{Home, has_peer, json_lines, stderr, stdout};

/// Assembled here, so that no scanner of this project takes it for a secret.
const SECRET: [&str; 2] = ["gh", "p_R7mQ2vX9bT4kZ8nL5wJ3cF6hD1sG0pYaEuKi"];
const WHY: [&str; 2] = ["--reason", "request 4711"];

fn ok(home: &Home, args: &[&str]) -> String {
    let output = home.run(args);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    stdout(&output)
}

/// A store with two memories of `ana`, of which one once held a secret, and one of nobody's.
fn scene() -> Home {
    let home = Home::with_store();
    ok(&home, &["policy", "set", "redaction.mode", "off"]); // 1
    let with_secret = format!("key {}\n", SECRET.concat());
    for text in ["one\n", &with_secret, "three\n"] {
        ok(&home, &["write", "ana/a.md", "--text", text]); // 2 to 4
    }
    ok(&home, &["write", "ana/b.md", "--text", "two\n"]); // 5
    ok(&home, &["write", "c.md", "--text", "clean\n"]); // 6
    ok(&home, &["policy", "set", "redaction.mode", "redact"]); // 7
    home
}

/// Every byte of the store.
fn bytes(home: &Home) -> BTreeMap<PathBuf, Vec<u8>> {
    fn read(folder: &Path, into: &mut BTreeMap<PathBuf, Vec<u8>>) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                read(&path, into);
            } else {
                into.insert(path.clone(), fs::read(&path).expect("readable"));
            }
        }
    }
    let mut all = BTreeMap::new();
    read(&home.store(), &mut all);
    all
}

/// Runs what has to end so and may change no byte.
fn changes_nothing(home: &Home, code: i32, args: &[&str]) -> Output {
    // The caches are as a look leaves them.
    ok(home, &["log"]);
    let before = bytes(home);
    let output = home.run(args);
    let said = stdout(&output) + &stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
    assert!(bytes(home) == before, "{args:?}: something changed");
    output
}

/// Every way to destroy something.
const WAYS: [&[&str]; 6] = [
    &["erase", "/memories/ana/a.md"],
    &["erase", "/memories/ana/a.md", "--history"],
    &["erase", "/memories/ana"],
    &["erase", "--subject", "/memories/ana/*"],
    &["erase", "--actor", "tester"],
    &["redact", "HEAD:/memories/ana/a.md"],
];

#[test]
fn nothing_is_destroyed_without_a_reason() {
    let home = scene();
    for way in WAYS {
        for rest in [&["--yes"][..], &["--yes", "--reason", " "], &[]] {
            let refused = changes_nothing(&home, 2, &[way, rest].concat());
            let said = stderr(&refused);
            assert!(
                said.contains("without a reason") && said.contains("--reason"),
                "{said}"
            );
        }
    }
}

#[test]
fn where_nobody_can_be_asked_it_wants_yes() {
    let home = scene();
    for way in WAYS {
        let refused = changes_nothing(&home, 2, &[way, &WHY].concat());
        let said = stderr(&refused);
        for words in ["nobody confirms", "--dry-run", "--yes"] {
            assert!(said.contains(words), "{way:?}: {said}");
        }
        let refused = changes_nothing(&home, 2, &[way, &WHY, &["--json"]].concat());
        assert_eq!(stdout(&refused), "", "{way:?}");
        // An answer in a pipe is no person's.
        ok(&home, &["log"]);
        let before = bytes(&home);
        let piped = home.run_with_input(&[way, &WHY].concat(), "/memories/ana/a.md\n2 memories\n");
        assert_eq!(piped.status.code(), Some(2), "{way:?}");
        assert!(bytes(&home) == before, "{way:?}");
    }
}

#[test]
fn with_yes_and_a_reason_it_is_done_and_the_reason_is_on_record() {
    for way in WAYS {
        let home = scene();
        ok(&home, &[way, &WHY, &["--yes"]].concat());
        let event = json_lines(ok(&home, &["log", "--json", "-n", "1"]).as_bytes()).remove(0);
        assert_eq!(event["reason"], "request 4711", "{way:?}");
        assert!(event["receipt"].is_object(), "{way:?}: {event}");
        ok(&home, &["verify", "--full"]);
    }
}

#[test]
fn a_dry_run_shows_what_would_be_destroyed_and_changes_no_byte() {
    let home = scene();
    for way in WAYS {
        for rest in [&["-n"][..], &["--dry-run", "--json"], &["-n", "--yes"]] {
            let said = stdout(&changes_nothing(&home, 0, &[way, rest].concat()));
            assert!(said.contains("/memories/ana/a.md"), "{way:?}: {said}");
            let is_said =
                said.contains("Nothing was changed.") || said.contains("\"dry_run\":true");
            assert!(is_said, "{way:?}: {said}");
        }
    }
    // Who cannot record anything can look at what would be destroyed.
    fs::remove_file(home.signing_key()).expect("there");
    for way in WAYS {
        changes_nothing(&home, 0, &[way, &["-n"]].concat());
    }
}

#[test]
fn a_dry_run_of_a_redaction_shows_the_versions_that_it_would_reach() {
    let home = scene();
    let dry = ["redact", "HEAD:/memories/ana/a.md", "--dry-run"];
    let said = ok(&home, &dry);
    for line in [
        "/memories/ana/a.md  ",
        "its present text has no secret and stays",
        "  destroy v1  event 2  4 bytes  holds no secret\n",
        "  destroy v2  event 3  45 bytes  holds github-pat\n",
        "  destroy v3  event 4  6 bytes  holds no secret\n",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    assert!(!said.contains(&SECRET.concat()));
    let plan = json_lines(ok(&home, &[&dry[..], &["--json"]].concat()).as_bytes()).remove(0);
    assert_eq!(
        (&plan["schema"], &plan["dry_run"], &plan["versions_erased"]),
        (&json!("agekeep.redact/1"), &json!(true), &json!(3))
    );
    assert_eq!(
        plan["versions"],
        json!([
            {"version": 1, "event": 2, "bytes": 4, "kinds": []},
            {"version": 2, "event": 3, "bytes": 45, "kinds": ["github-pat"]},
            {"version": 3, "event": 4, "bytes": 6, "kinds": []},
        ])
    );
    // What it says is what is done.
    let args = [&dry[..2], &WHY, &["--yes", "--json"]].concat();
    let done = json_lines(ok(&home, &args).as_bytes()).remove(0);
    assert_eq!(done["dry_run"], false);
    assert_eq!(
        (&done["memory"], &done["stripped"], &done["versions_erased"]),
        (&plan["memory"], &plan["stripped"], &plan["versions_erased"])
    );
    // What holds no secret is left alone, and so is what is not there.
    for (what, code) in [
        ("HEAD:/memories/ana/a.md", 4),
        ("HEAD:/memories/c.md", 4),
        ("HEAD:/memories/none.md", 4),
        ("/memories/c.md", 2),
    ] {
        for rest in [&["--dry-run"][..], &[WHY[0], WHY[1], "--yes"]] {
            changes_nothing(&home, code, &[&["redact", what], rest].concat());
        }
    }
}

/// Answers at a terminal what a command asks there.
fn at_a_terminal(home: &Home, args: &[&str], answer: impl FnOnce() -> String) -> (i32, String) {
    let plain = home.command(args);
    let words = plain.get_args().map(|word| word.to_str().expect("UTF-8"));
    let words: Vec<String> = words.map(|word| format!("'{word}'")).collect();
    let line = format!("{} {}", plain.get_program().display(), words.join(" "));
    let (code, shown) = answered(&plain, &line, "or nothing to leave it: ", answer);
    (code.expect("it ends"), shown)
}

#[test]
fn at_a_terminal_it_is_confirmed_by_name() {
    if !has_peer("script", "what `erase` and `redact` ask at a terminal") {
        return;
    }
    let names = [
        "/memories/ana/a.md",
        "/memories/ana/a.md",
        "2 memories",
        "2 memories",
        "3 memories",
        "/memories/ana/a.md",
    ];
    for (way, name) in WAYS.iter().zip(names) {
        let home = scene();
        let args = [way, &WHY[..]].concat();
        ok(&home, &["log"]);
        let before = bytes(&home);
        for typed in [
            "",
            "y",
            "yes",
            "a.md",
            "memories",
            "4 memories",
            "/memories/ana/b.md",
        ] {
            let (code, shown) = at_a_terminal(&home, &args, || format!("{typed}\n"));
            assert_eq!(code, 7, "{way:?} {typed:?}: {shown}");
            let words = format!("you did not type {name}");
            for words in [&words, "nothing was changed", "/memories/ana/a.md"] {
                assert!(shown.contains(words), "{way:?} {typed:?}: {shown}");
            }
            assert!(bytes(&home) == before, "{way:?} {typed:?}");
        }
        let (code, shown) = at_a_terminal(&home, &args, || format!("{name}\n"));
        assert_eq!(code, 0, "{way:?}: {shown}");
        let event = json_lines(ok(&home, &["log", "--json", "-n", "1"]).as_bytes()).remove(0);
        assert!(event["receipt"].is_object(), "{way:?}: {event}");
    }
}

#[test]
fn what_fits_since_it_was_shown_is_not_destroyed() {
    if !has_peer("script", "what `erase` asks at a terminal") {
        return;
    }
    let home = scene();
    let args = [&["erase", "--subject", "/memories/ana/*"], &WHY[..]].concat();
    let (code, shown) = at_a_terminal(&home, &args, || {
        ok(&home, &["write", "ana/new.md", "--text", "new\n"]);
        "2 memories\n".into()
    });
    assert_eq!(code, 0, "{shown}");
    assert_eq!(ok(&home, &["read"]), "ana/new.md\nc.md\n");
    let left: Value = json_lines(ok(&home, &["read", "ana/new.md", "--json"]).as_bytes()).remove(0);
    assert_eq!(left["content"], "new\n", "{left}");
}

#[test]
fn the_library_destroys_nothing_without_a_reason_either() {
    use agekeep::error::Error;
    use agekeep::event::Context;
    use agekeep::store::retention::EraseOf;
    use agekeep::store::revision::Revision;

    let home = scene();
    let keys = agekeep::store::Keys {
        identity: agekeep::crypto::keyfile::read_identity(&home.identity()).expect("a key"),
        signing_key: Some(
            agekeep::crypto::keyfile::read_signing_key(&home.signing_key()).expect("a key"),
        ),
        state: None,
        keyring: None,
    };
    let clock = Box::new(chrono::Utc::now);
    let mut store = agekeep::store::Store::open(&home.store(), keys, clock).expect("opens");
    let path = store.parse_path("/memories/ana/a.md").expect("a path");
    let before = store.log().count();
    for reason in [None, Some(String::new()), Some(" \t".into())] {
        let mut context = Context::default();
        context.reason = reason;
        let what = EraseOf::Path(path.clone());
        let erased = store.erase(&what, false, &context, &mut |_, _| {});
        assert!(matches!(erased, Err(Error::Invalid { .. })));
        let now = Revision::parse("HEAD", chrono::Utc::now()).expect("a revision");
        let redacted = store.redact(&path, &now, &context, &mut |_, _| {});
        assert!(matches!(redacted, Err(Error::Invalid { .. })));
    }
    assert_eq!(store.log().count(), before);
}

/// What `redact` takes out of history had been stored, so that a report must not count it among what
/// never was. The log names the memory.
#[test]
fn a_report_does_not_say_that_what_was_stored_never_was() {
    let home = scene();
    ok(
        &home,
        &[&["redact", "HEAD:/memories/ana/a.md", "--yes"][..], &WHY].concat(),
    );
    let report: Value =
        serde_json::from_str(&ok(&home, &["report", "--json"])).expect("one object");
    assert_eq!(report["activity"]["redactions"], json!([]));
    assert_eq!(report["registers"]["redactions"]["total"], 1);
    let log = ok(&home, &["log", "--command", "redact"]);
    assert!(
        log.contains("redact       ok      /memories/ana/a.md  "),
        "{log}"
    );
}
