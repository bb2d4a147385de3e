//! What a scan tells: to whom, in which words, what it leaves on record; and never a secret.

use std::fs;

use agekeep::store::Identity;
use serde_json::Value;

use crate::redaction::canary::{canaries, files, shown, sightings};
use crate::scan::kept::*;
use crate::support::{Home, stderr, stdout};

#[test]
fn the_text_says_where_and_what_to_do_memory_by_memory() {
    let token = token();
    let kept = Kept::given(&[
        create("it's.md", &token),
        insert("it's.md", 1, "more\n"),
        insert("it's.md", 2, &format!("{token}\n{}\n", password())),
        create("b.md", &token),
        rename("b.md", "a.md"),
        create("c.md", &token),
        delete("c.md"),
    ])
    .policy("");
    let (its, a, c) = (kept.id_at(1), kept.id_at(4), kept.id_at(6));
    let want = format!(
        "/memories/a.md  {a}\n  \
         v2, event 5, there now: github-pat in line 1\n  \
         v1, event 4, as /memories/b.md: github-pat in line 1\n  \
         hint: agekeep redact HEAD:/memories/a.md --reason 'a secret is in it' (what it was before is erased)\n\
         /memories/c.md  {c}, deleted\n  \
         v1, event 6: github-pat in line 1\n  \
         hint: agekeep erase {c} --reason 'a secret is in it'\n\
         \"/memories/it's.md\"  {its}\n  \
         v3, event 3, there now: github-pat in lines 1,3; password in line 4\n  \
         v1-2, events 1 to 2: github-pat in line 1\n  \
         hint: agekeep redact 'HEAD:/memories/it'\\''s.md' --reason 'a secret is in it' (what it was before is erased)\n\
         8 findings: 6 versions of 3 memories scanned, up to event 8\n"
    );
    assert_eq!(kept.ends(14, &["scan"]), want);
}

#[test]
fn a_hint_with_a_path_is_one_word_to_a_shell() {
    let path = "$(touch x) 'y' `z` \"q\" .md";
    let kept = Kept::given(&[create(path, &token())]).policy("");
    let text = kept.ends(14, &["scan"]);
    let hint = text
        .lines()
        .find_map(|line| line.strip_prefix("  hint: agekeep redact "));
    let word = hint
        .expect("a hint")
        .rsplit_once(" --reason ")
        .expect("more")
        .0;
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &format!("printf %s {word}")]);
    let printed = shell.current_dir(kept.home.path()).output().expect("runs");
    assert_eq!(stdout(&printed), format!("HEAD:/memories/{path}"));
    assert!(!kept.home.path().join("x").exists());
}

#[test]
fn a_scan_is_one_event_that_names_no_memory() {
    let kept = Kept::given(&[create("d/a.md", &token()), create("b.md", "x\n")]).policy("");
    let accesses = kept.ok(&["access", "/memories", "--json"]);
    for (args, code, path, at) in [
        (&["scan", "--reason", "an audit"][..], 14, "/memories", 3),
        (
            &["scan", "/memories/d", "--reason", "an audit"],
            14,
            "/memories/d",
            4,
        ),
        (
            &["scan", "/memories/b.md", "--reason", "an audit"],
            0,
            "/memories/b.md",
            5,
        ),
    ] {
        let said = Said::read(&kept.home.run(&[args, &["--json"]].concat()), code);
        assert_eq!(said.summary["recorded"]["event"], at + 1);
        let event = &kept.log("1")[0];
        let of = |name: &str| event[name].clone();
        assert_eq!(
            [
                of("event"),
                of("command"),
                of("outcome"),
                of("path"),
                of("memories")
            ],
            [
                (at + 1).into(),
                "scan".into(),
                "ok".into(),
                path.into(),
                Value::Array(vec![])
            ]
        );
        assert_eq!(
            (of("reason"), of("actor")),
            ("an audit".into(), "tester".into())
        );
        assert_eq!(event["at"][0]["event"], at, "the state it looked at");
        assert_eq!(event["redactions"], Value::Array(vec![]));
    }
    assert_eq!(
        kept.ok(&["access", "/memories", "--json"]),
        accesses,
        "it is no access"
    );
    let trees = stdout(&kept.home.git(&["log", "-2", "--format=%T", "main"]));
    let trees: Vec<&str> = trees.lines().collect();
    assert_eq!(trees[0], trees[1]);
    kept.ok(&["verify", "--full"]);
}

#[test]
fn who_cannot_write_can_scan_and_is_told_that_it_is_not_on_record() {
    let kept = Kept::given(&[create("a.md", &token())]).policy("");
    let stranger = Home::with_store();
    let newest = kept.log("1");
    for (key, why) in [
        (Some(stranger.signing_key()), "may not write to this store"),
        (None, "there is no signing key"),
    ] {
        match key {
            Some(key) => drop(fs::copy(key, kept.home.signing_key()).expect("copies")),
            None => fs::remove_file(kept.home.signing_key()).expect("there"),
        }
        let output = kept.home.run(&["scan"]);
        assert_eq!(output.status.code(), Some(14));
        let said = stderr(&output);
        assert!(
            said.starts_with("note: this look was not recorded: "),
            "{said}"
        );
        assert!(said.contains(why), "{said}");
        assert!(stdout(&output).contains("github-pat in line 1"));
        let json = stdout(&kept.home.run(&["scan", "--json"]));
        assert!(
            json.contains("\"recorded\":{\"event\":null,\"why\":"),
            "{json}"
        );
    }
    assert_eq!(kept.log("1"), newest);
}

#[test]
fn an_auditor_and_a_stranger_are_refused() {
    let kept = Kept::given(&[create("a.md", &token())]).policy("");
    let newest = kept.log("1");
    for name in ["auditor", "stranger"] {
        let identity = Identity::generate();
        let file = kept.home.path().join(name);
        fs::write(&file, identity.to_file().as_str()).expect("written");
        restrict(&file);
        let file = file.to_str().expect("UTF-8");
        if name == "auditor" {
            let recipient = identity.recipient().expect("X25519").to_string();
            kept.ok(&["recipients", "add", name, &recipient, "--role", name]);
        }
        for args in [
            &["-i", file, "scan"][..],
            &["-i", file, "scan", "--present", "--json"],
        ] {
            let said = kept.fails(12, args);
            assert!(!said.contains("github"), "{said}");
        }
    }
    assert_eq!(kept.log("2")[1], newest[0], "only the auditor was added");
}

fn restrict(file: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(file, fs::Permissions::from_mode(0o600)).expect("its mode is set");
}

#[test]
fn no_secret_is_anywhere_after_a_scan() {
    let mut calls = Vec::new();
    for canary in canaries() {
        let name = canary.name;
        calls.push(create(
            &format!("{name}.md"),
            &format!("x\n{}\n", canary.text),
        ));
        calls.push(create(&format!("old-{name}.md"), &canary.text));
        calls.push(replace(&format!("old-{name}.md"), &canary.text, "gone"));
        calls.push(create(&format!("gone-{name}.md"), &canary.text));
        calls.push(delete(&format!("gone-{name}.md")));
    }
    let kept = Kept::given(&calls).policy("[redaction]\nfingerprints = true\n");
    let mut pieces = Vec::new();
    for args in [
        &["scan"][..],
        &["scan", "--json"],
        &["scan", "--present", "--color", "always"],
    ] {
        let output = kept.home.run(args);
        assert_eq!(output.status.code(), Some(14), "{}", stderr(&output));
        for canary in canaries() {
            let found = stdout(&output).contains(canary.kind);
            assert!(found, "{} is not found: {}", canary.name, stdout(&output));
        }
        pieces.extend(shown(&output));
    }
    let log = kept.home.run(&["log", "-n", "3", "--json"]);
    assert!(stdout(&log).contains("\"command\":\"scan\""));
    pieces.extend(shown(&log));
    pieces.extend(files(kept.home.path()));
    let found = sightings(&pieces);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn what_the_caller_says_is_stripped_before_it_is_kept_or_shown() {
    let kept = Kept::given(&[create("a.md", "x\n")]).policy("");
    let secret = &canaries()[0];
    kept.ok(&["scan", "--reason", &secret.text]);
    let path = format!("/memories/{}", secret.in_path);
    let said = kept.fails(4, &["scan", &path]);
    let log = kept.ok(&["log", "-n", "2", "--json"]);
    assert!(log.contains("[REDACTED:github-pat]"), "{log}");
    assert!(!(said + &log).contains(&secret.value));
}
