//! `policy get KEY` and `policy set KEY VALUE`.

use std::process::Stdio;

use serde_json::{Value, json as value};

use crate::policy::{events, fails, json, ok};
use crate::support::{Home, stderr, stdout};

#[test]
fn a_key_says_what_is_in_force_also_where_nobody_said_it() {
    let home = Home::with_store();
    for (key, said) in [
        ("limits.memory_bytes", "2097152\n"),
        ("tool.create_overwrites", "false\n"),
        ("redaction.mode", "redact\n"),
        ("redaction.off", "[]\n"),
        ("expiration.unaccessed_for", "never\n"),
        ("expiration.grace", "30d\n"),
        ("expiration.sweep_max", "25%\n"),
        ("expiration.rules", "[]\n"),
        ("tool", "[tool]\ncreate_overwrites = false\n"),
    ] {
        assert_eq!(ok(&home, &["policy", "get", key]), said, "{key}");
    }
    let unset = home.run(&["policy", "get", "keyring.folder"]);
    assert!(unset.status.success() && unset.stdout.is_empty());
    assert!(stderr(&unset).contains("does not set keyring.folder"));
    let whole = json(&home, &["policy", "get"]);
    assert_eq!(whole["schema"], "agekeep.policy/1");
    assert_eq!(whole["key"], Value::Null);
    assert_eq!(whole["value"]["expiration"]["then"], "delete");
    assert_eq!(whole["value"]["keyring"]["folder"], Value::Null);
    let one = json(&home, &["policy", "get", "limits.lines"]);
    assert_eq!(
        (&one["key"], &one["value"]),
        (&value!("limits.lines"), &value!(999_999))
    );
    // Nothing of it is an event.
    assert_eq!(events(&home), 1);
}

#[test]
fn one_key_is_set_and_all_else_stays() {
    let home = Home::with_store();
    let set = |key: &str, value: &str| ok(&home, &["policy", "set", key, value]);
    assert_eq!(
        set("expiration.unaccessed_for", "90d"),
        "expiration.unaccessed_for was \"never\" and is \"90d\" (event 1).\n"
    );
    assert_eq!(
        set("expiration.keep", "[\"/memories/a/**\"]"),
        "expiration.keep was [] and is [\"/memories/a/**\"] (event 2).\n"
    );
    let rule = "[{ path = \"/memories/tmp/**\", unaccessed_for = \"7d\", then = \"erase\" }]";
    set("expiration.rules", rule);
    set("limits.lines", "7");
    assert_eq!(
        ok(&home, &["policy", "get", "expiration"]),
        "[expiration]\nunaccessed_for = \"90d\"\ngrace = \"30d\"\nthen = \"delete\"\n\
         keep = [\"/memories/a/**\"]\nsweep_max = \"25%\"\n\n[[expiration.rules]]\n\
         path = \"/memories/tmp/**\"\nunaccessed_for = \"7d\"\nthen = \"erase\"\n"
    );
    assert_eq!(
        ok(&home, &["policy", "get", "expiration.rules"]),
        "[\n    { path = \"/memories/tmp/**\", unaccessed_for = \"7d\", then = \"erase\" },\n]\n"
    );
    assert_eq!(ok(&home, &["policy", "get", "limits.lines"]), "7\n");
    let log = json(&home, &["log", "-n", "1"]);
    assert_eq!(
        (&log["command"], &log["event"]),
        (&value!("policy_set"), &value!(4))
    );
    // What a key says is what sets it.
    let before = events(&home);
    for key in [
        "expiration.rules",
        "expiration.keep",
        "expiration.sweep_max",
        "limits.lines",
    ] {
        let said = ok(&home, &["policy", "get", key]);
        assert!(
            set(key, said.trim_end()).contains("nothing was recorded"),
            "{key}"
        );
    }
    assert_eq!(events(&home), before);
}

#[test]
fn what_is_so_already_is_not_recorded() {
    let home = Home::with_store();
    let said = ok(&home, &["policy", "set", "expiration.grace", "720h"]);
    assert_eq!(
        said,
        "expiration.grace is \"30d\" already; nothing was recorded.\n"
    );
    let said = json(&home, &["policy", "set", "expiration.then", "delete"]);
    assert_eq!(
        said,
        value!({
            "schema": "agekeep.policy_set/1", "key": "expiration.then",
            "before": "delete", "after": "delete", "meta": null,
        })
    );
    assert_eq!(events(&home), 1);
    let said = json(
        &home,
        &[
            "policy",
            "set",
            "expiration.then",
            "erase",
            "--reason",
            "law",
        ],
    );
    assert_eq!(
        (&said["before"], &said["after"]),
        (&value!("delete"), &value!("erase"))
    );
    assert_eq!(said["meta"]["event"], 1);
    assert_eq!(json(&home, &["log", "-n", "1"])["reason"], "law");
}

#[test]
fn what_does_not_fit_names_its_key_and_changes_nothing() {
    let home = Home::with_store();
    for (key, given, word) in [
        ("expiration.unaccessed_for", "3m", "minutes or months"),
        ("expiration.unaccessed_for", "90", "integer `90`"),
        ("expiration.keep", "/memories/a", "array of globs"),
        ("expiration.keep", "[\"a\"]", "fits no memory"),
        (
            "expiration.rules",
            "[{ path = \"/memories/a\" }]",
            "needs unaccessed_for",
        ),
        ("expiration.sweep_max", "101%", "no share"),
        ("expiration.sweep_max", "-1", "less than 0"),
        ("expiration", "{ unaccesed_for = \"1d\" }", "unknown field"),
        (
            "limits.lines",
            "1\n[tool]\ncreate_overwrites = true",
            "a whole number",
        ),
        ("limits.path_bytes", "8", "outside 32 to 4096"),
        ("tool", "[true]", "expected a table"),
        ("keyring.folder", "/no/such/folder", "each machine's own"),
        ("redaction.mode", "never", "\"never\""),
        ("redaction.gitleaks", "[[rules]", "gitleaks.toml"),
        (
            "redaction.rules",
            "[{ kind = \"own\", shape = \"own_\", literals = [\"own_\"], found = [\"x\"] }]",
            "does not find its example 1",
        ),
    ] {
        let said = fails(&home, 2, &["policy", "set", key, given]);
        assert!(said.contains(&format!("not valid: `{key}`: ")), "{said}");
        assert!(said.contains(word), "{key} {given}: {said}");
    }
}

#[test]
fn what_is_no_key_is_told_the_nearest() {
    let home = Home::with_store();
    for args in [
        &["policy", "get", "expiration.unacessed_for"][..],
        &["policy", "get", "unaccessed_for"],
        &["policy", "set", "expiration.unaccessed_fro", "90d"],
    ] {
        let said = fails(&home, 2, args);
        assert!(
            said.contains("the nearest is expiration.unaccessed_for"),
            "{said}"
        );
    }
    for (key, typed, meant) in [
        ("redaction.off", "[\"githbu-pat\"]", "github-pat"),
        ("redaction.personal", "[\"e-mail\"]", "email"),
    ] {
        let said = fails(&home, 2, &["policy", "set", key, typed]);
        assert!(
            said.contains(&format!("; the nearest is {meant}; ")),
            "{said}"
        );
    }
    let long = format!("[\"{}\"]", "x".repeat(10_000));
    let said = fails(&home, 2, &["policy", "set", "redaction.off", &long]);
    assert!(!said.contains("the nearest"), "{said}");
    let said = fails(&home, 2, &["policy", "get", "something"]);
    assert!(said.contains("limits, limits.memory_bytes, "), "{said}");
}

#[test]
fn a_key_and_a_file_are_not_both_given_nor_neither() {
    let home = Home::with_store();
    for args in [
        &["policy", "set"][..],
        &["policy", "set", "expiration.grace"],
        &[
            "policy",
            "set",
            "expiration.grace",
            "1d",
            "--policy",
            "/dev/null",
        ],
        &[
            "policy",
            "set",
            "expiration.grace",
            "1d",
            "--gitleaks",
            "/dev/null",
        ],
        &["policy", "set", "expiration.grace", "1d", "2d"],
        &["policy", "show"],
    ] {
        let output = home.run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
    }
    assert_eq!(events(&home), 1);
}

#[test]
fn of_many_who_set_keys_at_once_nobody_is_lost() {
    let home = Home::with_store();
    let sets = [
        ("limits.lines", "11"),
        ("limits.memories", "12"),
        ("limits.view_characters", "13"),
        ("tool.create_overwrites", "true"),
        ("redaction.fingerprints", "true"),
        ("expiration.unaccessed_for", "14d"),
        ("expiration.grace", "15d"),
        ("expiration.then", "erase"),
        ("expiration.sweep_max", "16"),
        ("expiration.keep", "[\"/memories/a\"]"),
    ];
    let start = |(key, value): &(&str, &str)| {
        let mut command = home.command(&["policy", "set", key, value]);
        command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starts")
    };
    let running: Vec<_> = sets.iter().map(start).collect();
    for child in running {
        let output = child.wait_with_output().expect("ends");
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(stdout(&output).contains("(event "), "{}", stdout(&output));
    }
    for (key, value) in sets {
        assert_eq!(
            ok(&home, &["policy", "get", key]).trim_end(),
            value,
            "{key}"
        );
    }
    assert_eq!(events(&home), 1 + sets.len() as u64);
    ok(&home, &["verify"]);
}
