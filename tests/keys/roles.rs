//! What each role can do, verb by verb.

use std::fs;

use crate::support::{stderr, stdout};
use crate::team::Team;

/// Commands, and how each ends for a reader, an auditor and a stranger.
const VERBS: [(&[&str], [i32; 3]); 24] = [
    (&["status"], [0, 0, 12]),
    (&["log", "-n", "2"], [0, 0, 12]),
    (&["log", "/memories/a.md"], [0, 0, 12]),
    (&["access", "/memories/a.md"], [0, 0, 12]),
    (&["recipients", "list"], [0, 0, 12]),
    (&["policy", "show"], [0, 0, 12]),
    (&["verify"], [0, 0, 0]),
    (&["checkpoint"], [0, 0, 12]),
    (&["view", "/memories/a.md"], [0, 12, 12]),
    (&["view", "/memories"], [0, 12, 12]),
    (&["read", "/memories/a.md"], [0, 12, 12]),
    (&["create", "/memories/NEW.md", "--text", "x"], [0, 12, 12]),
    (
        &["insert", "/memories/a.md", "0", "--text", "x"],
        [0, 12, 12],
    ),
    (&["view", "--at", "1", "/memories/a.md"], [0, 12, 12]),
    (&["show", "1"], [0, 12, 12]),
    (&["show", "1:/memories/a.md"], [0, 12, 12]),
    (&["diff", "1"], [0, 12, 12]),
    (&["blame", "/memories/a.md"], [0, 12, 12]),
    (&["grep", "canary"], [0, 12, 12]),
    (&["log", "-p", "-n", "1"], [0, 12, 12]),
    (
        &["restore", "/memories/a.md", "--from", "1", "--dry-run"],
        [0, 12, 12],
    ),
    (&["rollback", "--to", "1"], [0, 12, 12]),
    (&["rekey"], [0, 12, 12]),
    (
        &["recipients", "add", "RECIPIENT", "RECIPIENT"],
        [0, 12, 12],
    ),
];

#[test]
fn each_role_can_do_what_it_is_for_and_no_more() {
    let team = Team::new();
    team.create("a.md", "a canary in here\n");
    team.add("bob", "reader");
    team.add("eve", "auditor");
    for (at, name) in ["bob", "eve", "stranger"].iter().enumerate() {
        for (number, (args, codes)) in VERBS.iter().enumerate() {
            let (recipient, path) = (
                team.recipient(&format!("new-{number}-{name}")),
                format!("/memories/new-{name}-{number}.md"),
            );
            let args: Vec<&str> = args
                .iter()
                .map(|arg| match *arg {
                    "RECIPIENT" => recipient.as_str(),
                    "/memories/NEW.md" => path.as_str(),
                    arg => arg,
                })
                .collect();
            let output = team.run_as(name, &args);
            let said = stdout(&output) + &stderr(&output);
            assert_eq!(
                output.status.code(),
                Some(codes[at]),
                "{name} {args:?}: {said}"
            );
            if *name != "bob" {
                assert!(!said.contains("canary"), "{name} {args:?}: {said}");
            }
            if *name == "eve" && codes[at] == 12 {
                assert!(said.contains("is an auditor's"), "{args:?}: {said}");
            }
        }
        team.assert_verified(name);
    }
}

#[test]
fn an_auditor_sees_who_did_what_to_which_path_and_verify_says_what_it_could_not() {
    let team = Team::new();
    team.create("people/zoe.md", "a canary in here\n");
    team.add("eve", "auditor");
    let log = team.ok_as("eve", &["log"]);
    assert!(
        log.contains("/memories/people/zoe.md") && log.contains("create"),
        "{log}"
    );
    let verified = team.run_as("eve", &["verify", "--full"]);
    let said = stdout(&verified) + &stderr(&verified);
    assert!(said.contains("your identity is an auditor's"), "{said}");
    // What an auditor verified is no reason for a reader to pass over contents.
    let kept = team.run_as("eve", &["verify"]);
    assert!(kept.status.success());
    let report = team.ok(&["verify", "--json"]);
    assert!(report.contains("\"opened\":1"), "{report}");
    // Nothing an auditor can open leads to a memory.
    let store = team.home.store();
    let identity = team.identity("eve");
    let mut age = std::process::Command::new("age");
    age.arg("-d")
        .arg("-i")
        .arg(identity)
        .arg(store.join("keyring/epoch.age"));
    if crate::support::has_peer("age", "that an auditor cannot open the epoch key") {
        assert!(!age.output().expect("age runs").status.success());
    }
    assert!(fs::metadata(store.join("keyring/ring")).is_ok());
}
