//! What holders of keys that may not sign could make with stock git, age and ssh-keygen.

use std::fs;

use serde_json::{Value, json};

use crate::signers::team::{EVENING, MORNING, NIGHT, NOON, Team};
use crate::support::forge::{Means, has_means};
use crate::support::{stderr, stdout};

// Every commit that is forged here is of 2026-01-01T00:00:00Z.
const BEFORE_IT: &str = "2025-12-31T23:59:59Z";
const AFTER_IT: &str = "2026-01-02T00:00:00Z";
const LATER: &str = "2026-02-01T00:00:00Z";

/// Adopts a look at the store that a key signed, right in everything else; `said` is put into its
/// record.
fn forge(team: &Team, name: &str, said: &Value) {
    let means = Means::of(&team.store(), &team.home.identity(), team.home.path());
    let tree = means.git(&["rev-parse", "main^{tree}"]);
    means.adopt(&means.next_commit(name, &team.path(name), &tree, said));
}

/// The store opens and verifies, or neither, with these words and this finding.
fn judged(team: &Team, expected: Option<(&str, &str)>) {
    for without_catalog in [false, true] {
        if without_catalog {
            drop(fs::remove_file(team.store().join("catalog")));
        }
        let output = team.run(LATER, &["signers", "list", "--json"]);
        match expected {
            None => assert!(output.status.success(), "{}", stderr(&output)),
            Some((words, _)) => {
                assert_eq!(output.status.code(), Some(13), "{}", stdout(&output));
                assert!(stderr(&output).contains(words), "{}", stderr(&output));
            }
        }
    }
    let finding: Vec<_> = expected.map(|(_, id)| id.to_owned()).into_iter().collect();
    assert_eq!(team.findings(), finding);
    let keyless = ["verify", "--full", "--json", "--identity", "/nowhere"];
    let report: Value = serde_json::from_slice(&team.run(LATER, &keyless).stdout).expect("JSON");
    let found = report["findings"].as_array().expect("a list").len();
    // Without the records, a time that was turned back is not known to be one.
    assert!(found <= finding.len(), "{report}");
}

fn team() -> Option<Team> {
    has_means("forged commits of signers")
        .then(Team::new)
        .flatten()
}

#[test]
fn a_key_signs_within_its_window_and_git_agrees() {
    let far = "2026-06-01T00:00:00Z";
    let ended = Some(("was valid until", "former-signer"));
    let early = Some(("is valid from", "signer"));
    for (window, expected) in [
        (["--valid-after", NIGHT, "--valid-before", far], None),
        (
            ["--valid-after", NIGHT, "--valid-before", "2026-01-01"],
            None,
        ),
        (["--valid-after", "2026-01-01", "--valid-before", far], None),
        (["--valid-after", NIGHT, "--valid-before", BEFORE_IT], ended),
        (
            [
                "--valid-after",
                "2026-01-01T00:00:01Z",
                "--valid-before",
                far,
            ],
            early,
        ),
        (["--valid-after", AFTER_IT, "--valid-before", far], early),
    ] {
        let Some(team) = team() else { return };
        team.let_in("ana", &window);
        forge(&team, "ana", &json!({}));
        // Where it is summer time ssh-keygen takes git's local time for one an hour later.
        for zone in ["UTC", "Asia/Tokyo", "America/New_York"] {
            assert_eq!(
                team.git_verifies("main", zone),
                expected.is_none(),
                "{window:?} {zone}"
            );
        }
        judged(&team, expected);
    }
}

#[test]
fn a_removed_key_dated_back_is_refused() {
    for said in [json!({}), json!({"clock_behind_ms": 86_400_000})] {
        let Some(team) = team() else { return };
        let key = team.let_in("ana", &[]);
        team.done(NOON, &["view", "/memories/a.md", "--signing-key", &key]);
        team.done(AFTER_IT, &["signers", "rm", "ana"]);
        forge(&team, "ana", &said);
        let output = team.run(LATER, &["view", "/memories"]);
        assert_eq!(output.status.code(), Some(13), "{}", stderr(&output));
        assert!(stderr(&output).contains("not signed by a signer"));
        assert!(team.findings().contains(&"former-signer".to_owned()));
    }
}

#[test]
fn an_expired_key_dated_back_is_refused() {
    let Some(team) = team() else { return };
    team.let_in("ana", &["--valid-before", "2026-01-01T12:00:00Z"]);
    team.done(AFTER_IT, &["view", "/memories/a.md"]);
    // The record flags that the clock went back, as an honest one would.
    forge(&team, "ana", &json!({"clock_behind_ms": 86_400_000}));
    judged(&team, Some(("was valid until", "former-signer")));
}

#[test]
fn one_who_was_never_let_in_is_refused() {
    let Some(team) = team() else { return };
    team.keygen("ana", &[]);
    forge(&team, "ana", &json!({}));
    assert!(!team.git_verifies("main", "UTC"));
    judged(&team, Some(("not signed by a signer", "signer")));
}

#[test]
fn what_a_removed_signer_wrote_stays_valid_for_git_by_the_signers_of_its_time() {
    let Some(team) = team() else { return };
    let key = team.let_in("ana", &["--valid-before", EVENING]);
    team.done(MORNING, &["view", "/memories/a.md", "--signing-key", &key]);
    let hers = stdout(&team.home.git(&["rev-parse", "main"]))
        .trim()
        .to_owned();
    assert!(team.git_verifies(&hers, "UTC"));
    team.done(NOON, &["signers", "rm", "ana"]);
    assert!(!team.git_verifies(&hers, "UTC"), "she is no signer today");
    assert!(team.findings().is_empty(), "and was one then");
}
