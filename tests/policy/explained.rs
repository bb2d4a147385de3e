//! `policy explain`, and `policy expire-at`.

use std::fs;

use serde_json::{Value, json as value};

use crate::policy::{events, fails, json, ok};
use crate::support::{Home, stderr};

const NOW: &str = "2026-11-21T12:00:00Z";

fn set(home: &Home, policy: &str) {
    let file = home.path().join("policy.toml");
    fs::write(&file, policy).expect("written");
    ok(
        home,
        &["policy", "set", "--policy", file.to_str().expect("UTF-8")],
    );
}

#[test]
fn nothing_expires_unless_somebody_says_so() {
    let home = Home::with_store();
    assert_eq!(
        ok(&home, &["policy", "explain"]),
        "Every memory: never expires\n\
         So nothing expires. With `agekeep policy set expiration.unaccessed_for 90d`, memories \
         expire that nobody has read or written for 90 days.\n\
         A sweep that would remove more than 25% of all memories, and more than 10 of them, stops \
         unless you give --yes.\n"
    );
    assert_eq!(events(&home), 1);
}

#[test]
fn each_rule_is_said_in_a_sentence() {
    let home = Home::with_store();
    set(
        &home,
        r#"
[expiration]
unaccessed_for = "90d"
keep = ["/memories/team/**", "**/README.md"]
sweep_max = 100

[[expiration.rules]]
path = "/memories/tmp/**"
unaccessed_for = "7d"
then = "erase"

[[expiration.rules]]
memory = "00112233445566778899aabbccddeeff"
expires_at = 2027-01-31T00:00:00+01:00
grace = "36h"

[[expiration.rules]]
path = "/memories/log/*"
unaccessed_for = "1h"
grace = "0d"
then = "erase"

[[expiration.rules]]
path = "/memories/law/**"
unaccessed_for = "never"
"#,
    );
    assert_eq!(
        ok(&home, &["policy", "explain"]),
        "Memories that match one of these globs never expire:\n  /memories/team/**\n  **/README.md\n\
         The first of these rules that matches a memory decides:\n  \
         1. /memories/tmp/**: expires when nobody has read or written it for 7 days; erased 30 days \
         after the sweep that removed it\n  \
         2. the memory 00112233445566778899aabbccddeeff: expires at 2027-01-30T23:00:00Z, whether \
         or not it is read until then; the next sweep removes it, and history \
         keeps it\n  \
         3. /memories/log/*: expires when nobody has read or written it for 1 hour; erased when a sweep \
         removes it\n  \
         4. /memories/law/**: never expires\n\
         Every other memory: expires when nobody has read or written it for 90 days; the next sweep removes it, and history keeps it\n\
         A sweep that would remove more than 100 memories stops unless you give --yes.\n"
    );
    let said = json(&home, &["policy", "explain"]);
    assert_eq!(said["schema"], "agekeep.policy_explain/1");
    assert_eq!(said["keep"], value!(["/memories/team/**", "**/README.md"]));
    assert_eq!(
        said["rules"][1],
        value!({
            "rule": 2, "path": null, "memory": "00112233445566778899aabbccddeeff",
            "unaccessed_for": null, "expires_at": "2027-01-30T23:00:00.000Z",
            "grace": "36h", "then": "delete",
            "means": "expires at 2027-01-30T23:00:00Z, whether or not it is read until then; the next sweep removes it, and history keeps it",
        })
    );
    assert_eq!(said["otherwise"]["unaccessed_for"], "90d");
    assert_eq!(said["sweep_max"], 100);
}

/// A home with one memory, and its id.
fn with_memory() -> (Home, String) {
    let home = Home::with_trial_store();
    let made = json(&home, &["create", "/memories/a.md", "--text", "one\n"]);
    let id = made["meta"]["memory"].as_str().expect("an id").to_owned();
    (home, id)
}

fn rules(home: &Home) -> Value {
    json(home, &["policy", "get", "expiration.rules"])["value"].clone()
}

fn expire_at(home: &Home, memory: &str, time: &str) -> String {
    ok(home, &["policy", "expire-at", memory, time, "--now", NOW])
}

#[test]
fn one_memory_gets_a_time_of_its_own() {
    let (home, id) = with_memory();
    let other = "[{ path = \"/memories/**\", unaccessed_for = \"1d\" }]";
    ok(&home, &["policy", "set", "expiration.rules", other]);
    assert_eq!(
        expire_at(&home, "/memories/a.md", "2027-01-31"),
        "/memories/a.md expires at 2027-01-31T00:00:00Z (event 3).\n"
    );
    let own = |time: &str| value!({"memory": id, "expires_at": time});
    let other = value!({"path": "/memories/**", "unaccessed_for": "1d"});
    assert_eq!(
        rules(&home),
        value!([own("2027-01-31T00:00:00.000Z"), other])
    );
    // By its id as well; another time in place of the one before.
    expire_at(&home, &id, "2027-02-01T12:30:00+02:00");
    assert_eq!(
        rules(&home),
        value!([own("2027-02-01T10:30:00.000Z"), other])
    );
    let said = expire_at(&home, &id, "2027-02-01T10:30Z");
    assert!(said.contains("already; nothing was recorded"), "{said}");
    assert_eq!(events(&home), 5);
    // A length of time counts from now.
    let said = expire_at(&home, "/memories/a.md", "2w");
    assert!(said.contains("expires at 2026-12-05T12:00:00Z"), "{said}");
    expire_at(&home, &id, "2027-02-01T10:30Z");
    let said = expire_at(&home, "/memories/a.md", "never");
    assert_eq!(
        said,
        "/memories/a.md has no expiry time of its own (event 7).\n"
    );
    assert_eq!(rules(&home), value!([other]));
    let said = expire_at(&home, "/memories/a.md", "never");
    assert!(said.contains("nothing was recorded"), "{said}");
}

#[test]
fn a_time_goes_with_the_memory_and_is_taken_away_when_that_is_gone() {
    let (home, id) = with_memory();
    let said = json(
        &home,
        &[
            "policy",
            "expire-at",
            "/memories/a.md",
            "2027-01-31",
            "--now",
            NOW,
        ],
    );
    assert_eq!(
        (&said["memory"], &said["path"], &said["expires_at"]),
        (
            &value!(id),
            &value!("/memories/a.md"),
            &value!("2027-01-31T00:00:00.000Z")
        )
    );
    ok(&home, &["rename", "/memories/a.md", "/memories/b.md"]);
    expire_at(&home, "/memories/b.md", "2027-03-01");
    assert_eq!(rules(&home).as_array().map(Vec::len), Some(1));
    ok(&home, &["delete", "/memories/b.md"]);
    expire_at(&home, &id, "never");
    assert_eq!(rules(&home), value!([]));
}

#[test]
fn what_is_kept_never_expires_all_the_same() {
    let (home, _) = with_memory();
    ok(
        &home,
        &["policy", "set", "expiration.keep", "[\"/memories/*.md\"]"],
    );
    let args = [
        "policy",
        "expire-at",
        "/memories/a.md",
        "2027-01-31",
        "--now",
        NOW,
    ];
    let output = home.run(&args);
    assert!(output.status.success());
    let said = stderr(&output);
    assert!(
        said.contains("warning: the glob /memories/*.md in expiration.keep"),
        "{said}"
    );
}

#[test]
fn what_cannot_be_given_a_time() {
    let (home, id) = with_memory();
    let unknown = "00112233445566778899aabbccddeeff";
    for (memory, time, code, word) in [
        (
            "/memories/b.md",
            "2027-01-31",
            4,
            "nothing was at /memories/b.md",
        ),
        ("/memories", "2027-01-31", 4, "nothing was at /memories now"),
        (unknown, "2027-01-31", 4, unknown),
        ("/memories/b.md", "never", 4, "nothing was at"),
        ("/etc/a.md", "2027-01-31", 7, "the path"),
        ("/etc/passwd", "2027-01-31", 7, "the path"),
        (&id, "2026-11-20", 2, "which is in the past"),
        (
            &id,
            "30d ago",
            2,
            "which is in the past; give a future time, such as 2026-12-21",
        ),
        (&id, "now", 2, "which is in the past"),
        (&id, "yesterday", 2, "which is in the past"),
        (&id, "soon", 2, "the time"),
        (&id, "", 2, "the time"),
        (&id, "2027-02-31", 2, "the time"),
    ] {
        let args = ["policy", "expire-at", memory, time, "--now", NOW];
        let said = fails(&home, code, &args);
        assert!(said.contains(word), "{memory} {time}: {said}");
    }
    assert_eq!(rules(&home), value!([]));
}
