//! Stores for trials, whose times may be made up, and `--now`, which makes them up.

use std::fs;

use agekeep::event::Context;
use agekeep::policy::Policy;
use agekeep::store::{Identity, Keys, SigningKey, Store};
use serde_json::{Value, json};

use crate::support::{Home, feed, json_lines, stderr, stdout};

const NOW: &str = "2031-05-01T12:00:00Z";
const SAYS_SO: &str = "a store for trials: its times may be made up";

/// A time to come that a sweep believes.
fn in_days(days: i64) -> String {
    (chrono::Utc::now() + chrono::TimeDelta::days(days)).to_rfc3339()
}

fn ok(home: &Home, args: &[&str]) -> String {
    let output = home.run(args);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    stdout(&output)
}

fn object(home: &Home, args: &[&str]) -> Value {
    json_lines(ok(home, &[args, &["--json"]].concat()).as_bytes()).remove(0)
}

/// All that was ever recorded.
fn recorded(home: &Home) -> Vec<u8> {
    let mut bytes = fs::read(home.store().join("journal")).expect("a journal");
    bytes.extend(fs::read(home.store().join("refs/heads/main")).expect("a branch"));
    bytes
}

fn with_memory(home: Home) -> Home {
    ok(
        &home,
        &["policy", "set", "expiration.unaccessed_for", "90d"],
    );
    ok(&home, &["create", "/memories/a.md", "--text", "one\n"]);
    ok(&home, &["write", "a.md", "--text", "two\n"]);
    home
}

/// What is recorded under a name of its own, or signed.
const RECORDED: [&[&str]; 25] = [
    &["view", "/memories/a.md"],
    &["read", "a.md"],
    &["write", "a.md", "--text", "x"],
    &["create", "/memories/b.md", "--text", "x"],
    &["delete", "/memories/a.md"],
    &["show"],
    &["show", "2:/memories/a.md"],
    &["view", "/memories/a.md", "--at", "2"],
    &["diff"],
    &["blame", "/memories/a.md"],
    &["grep", "one"],
    &["log", "-p"],
    &["scan"],
    &["restore", "/memories/a.md", "--from", "2"],
    &["revert", "3"],
    &["expire"],
    &["erase", "/memories/a.md", "--yes", "--reason", "x"],
    &["redact", "HEAD:/memories/a.md", "--yes", "--reason", "x"],
    &["hold", "add", "/memories/a.md", "--reason", "x"],
    &["policy", "set", "limits.memories", "9"],
    &["rekey"],
    &["export", "--jsonl", "-"],
    &["checkpoint"],
    &["report"],
    &["ui"],
];

#[test]
fn a_made_up_time_is_recorded_only_in_a_store_for_trials() {
    let home = with_memory(Home::with_store());
    let before = recorded(&home);
    for args in RECORDED {
        let refused = home.run(&[args, &["--now", NOW]].concat());
        let said = stderr(&refused);
        assert_eq!(refused.status.code(), Some(7), "{args:?}: {said}");
        assert_eq!(stdout(&refused), "", "{args:?}");
        assert!(
            said.contains("only a store for trials") && said.contains("init --trial"),
            "{said}"
        );
        assert!(recorded(&home) == before, "{args:?} was recorded");
    }
    let json = home.run(&["--now", NOW, "--json", "view", "/memories"]);
    assert!(
        stderr(&json).contains("\"code\":\"not_a_trial\",\"exit\":7"),
        "{}",
        stderr(&json)
    );
    let call = b"{\"command\":\"view\",\"path\":\"/memories\"}\n";
    let tool = feed(home.command(&["tool", "--now", NOW]), call);
    assert_eq!(tool.status.code(), Some(7), "{}", stdout(&tool));
    let accepted = home.run(&["accept-rollback", "--now", NOW, "--reason", "x"]);
    assert_eq!(accepted.status.code(), Some(7), "{}", stderr(&accepted));
    assert!(recorded(&home) == before);
    // And no store is made at such a time, unless it says so.
    let other = Home::empty();
    for args in [
        &["init", "--now", NOW][..],
        &["tool", "--init", "--now", NOW],
    ] {
        let refused = other.run(args);
        assert!(!refused.status.success(), "{args:?}");
        assert!(!other.store().exists(), "{args:?}");
    }
}

#[test]
fn dry_runs_and_explanations_go_by_it_in_every_store() {
    let home = with_memory(Home::with_store());
    ok(&home, &["log"]);
    let later = in_days(100);
    let before = recorded(&home);
    for (args, words) in [
        (&["expire", "--dry-run"][..], "1 to remove"),
        (&["policy", "explain", "/memories/a.md"], "expired"),
        (&["policy", "explain"], "90 days"),
        (&["erase", "/memories/a.md", "--dry-run"], "/memories/a.md"),
        (
            &["restore", "/memories/a.md", "--from", "2", "--dry-run"],
            "/memories/a.md",
        ),
        (&["log", "--since", "400d"], ""),
        (&["status"], "1 expired"),
        (&["access", "/memories/a.md"], ""),
        (&["verify"], "check out"),
    ] {
        let said = ok(&home, &[args, &["--now", &later]].concat());
        assert!(said.contains(words), "{args:?}: {said}");
        assert!(recorded(&home) == before, "{args:?} was recorded");
    }
    // A look of somebody who cannot record it is none that has a time.
    fs::remove_file(home.signing_key()).expect("there");
    ok(&home, &["diff", "--now", &later]);
    assert!(recorded(&home) == before);
}

/// Opening a store finishes an erasure that was begun, which is recorded.
#[test]
fn opening_at_a_made_up_time_finishes_nothing() {
    let home = with_memory(Home::with_store());
    let sue = Identity::generate();
    let own = home.path().join("sue");
    fs::create_dir(&own).expect("made");
    let (identity, key) = (own.join("identity"), SigningKey::generate());
    private(&identity, sue.to_file().as_bytes());
    private(&own.join("signing"), key.to_file().as_bytes());
    let recipient = sue.recipient().expect("X25519").to_string();
    ok(
        &home,
        &["recipients", "add", "sue", &recipient, "--role", "auditor"],
    );
    ok(
        &home,
        &[
            "signers",
            "add",
            "sue",
            &key.public_line(),
            "--role",
            "sweeper",
        ],
    );
    let mut erase = home.command(&["erase", "/memories/a.md", "--yes", "--reason", "asked"]);
    erase.env("AGEKEEP_IDENTITY", &identity);
    erase.env("AGEKEEP_SIGNING_KEY", own.join("signing"));
    erase.env("XDG_STATE_HOME", own.join("state"));
    let marked = feed(erase, b"");
    assert!(marked.status.success(), "{}", stderr(&marked));
    let later = in_days(100);
    let before = recorded(&home);
    for args in [&["expire", "--dry-run"][..], &["status"], &["log"]] {
        ok(&home, &[args, &["--now", &later]].concat());
        assert!(recorded(&home) == before, "{args:?}: it was finished");
    }
    assert_eq!(
        home.run(&["expire", "--now", &later]).status.code(),
        Some(7)
    );
    assert!(recorded(&home) == before);
    let newest = json_lines(ok(&home, &["log", "--json", "-n", "1"]).as_bytes()).remove(0);
    assert!(newest["receipt"].is_object(), "{newest}");
}

fn private(path: &std::path::Path, bytes: &[u8]) {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, bytes).expect("written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).expect("mode set");
}

#[test]
fn a_store_for_trials_records_it_and_says_so_everywhere() {
    let home = with_memory(Home::with_trial_store());
    ok(&home, &["view", "/memories", "--now", NOW]);
    let log = home.run(&["log"]);
    assert!(
        stdout(&log)
            .lines()
            .next()
            .expect("a line")
            .contains("2031-05-01")
    );
    assert_eq!(stderr(&log), format!("note: {SAYS_SO}\n"));
    assert_eq!(stderr(&home.run(&["log", "--quiet"])), "");
    assert!(stderr(&home.run(&["access", "/memories/a.md"])).contains(SAYS_SO));
    for args in [
        &["log", "--json"][..],
        &["access", "/memories/a.md", "--json"],
    ] {
        let output = home.run(args);
        assert_eq!(stderr(&output), "", "{args:?}");
        let lines = json_lines(&output.stdout);
        assert!(lines.iter().all(|line| line["trial"] == true), "{args:?}");
    }
    assert_eq!(object(&home, &["show", "1"])["trial"], true);
    let rows = ok(&home, &["log", "--format", "csv"]);
    let mut rows = rows.lines();
    assert!(rows.next().expect("a header").ends_with(",trial"));
    assert!(rows.all(|row| row.ends_with(",true")));
    let lines = ok(&home, &["log", "--format", "cef"]);
    assert!(
        lines
            .lines()
            .all(|line| line.contains("cs6=true cs6Label=trial")),
        "{lines}"
    );
    // So does the proof of what was signed there.
    ok(&home, &["report", "--out", "report.html", "--sign"]);
    let proof = ok(&home, &["report", "verify", "report.html"]);
    assert!(proof.ends_with(&format!("{SAYS_SO}\n")), "{proof}");
    assert_eq!(
        object(&home, &["report", "verify", "report.html"])["trial"],
        true
    );
    // However it comes to be known: from a cache, from history, from the point verified last.
    for at in 0..3 {
        if at == 2 {
            fs::remove_file(home.store().join("catalog")).expect("there");
        }
        assert!(ok(&home, &["status"]).contains(&format!("trial       {SAYS_SO}\n")));
        assert_eq!(object(&home, &["status"])["trial"], true);
        assert!(ok(&home, &["verify"]).ends_with(&format!("\n{SAYS_SO}\n")));
        assert_eq!(object(&home, &["verify"])["trial"], true);
        assert_eq!(object(&home, &["verify", "--full"])["trial"], true);
        ok(
            &home,
            &["write", &format!("{at}.md"), "--text", "x", "--now", NOW],
        );
    }
    // Whoever has no key to history cannot tell.
    fs::remove_file(home.identity()).expect("there");
    let blind = home.run(&["verify", "--json"]);
    assert_eq!(json_lines(&blind.stdout)[0]["trial"], Value::Null);
}

#[test]
fn an_ordinary_store_is_none() {
    let home = with_memory(Home::with_store());
    for args in [
        &["status"][..],
        &["verify"],
        &["verify", "--full"],
        &["show", "1"],
    ] {
        assert_eq!(object(&home, args)["trial"], false, "{args:?}");
    }
    for event in json_lines(ok(&home, &["log", "--json"]).as_bytes()) {
        assert_eq!(event["trial"], false);
    }
    for args in [&["status"][..], &["verify"], &["log"]] {
        let output = home.run(args);
        let said = stdout(&output) + &stderr(&output);
        assert!(!said.contains("trial"), "{args:?}: {said}");
    }
}

#[test]
fn the_library_tells_which_it_is() {
    let folder = crate::support::folder();
    let keys = || Keys {
        identity: Identity::generate(),
        signing_key: Some(SigningKey::generate()),
        state: None,
        keyring: None,
    };
    let (policy, context) = (Policy::default(), Context::default());
    let clock = || Box::new(chrono::Utc::now);
    let plain = folder.path().join("plain");
    let plain = Store::init(&plain, keys(), &policy, &context, clock()).expect("made");
    let trial = folder.path().join("trial");
    let trial = Store::init_trial(&trial, keys(), &policy, &context, clock()).expect("made");
    assert_eq!((plain.is_trial(), trial.is_trial()), (false, true));
    assert!(trial.status().expect("readable").trial);
}

#[test]
fn help_says_what_it_does() {
    let home = Home::empty();
    let said = ok(&home, &["help", "options"]);
    let said: Vec<_> = said.split_whitespace().collect();
    let said = said.join(" ");
    assert!(said.contains("--now <TIME>"), "{said}");
    assert!(said.contains("init --trial"), "{said}");
    assert!(ok(&home, &["init", "--help"]).contains("--trial"));
    let made = Home::empty();
    assert_eq!(object(&made, &["init", "--trial"])["trial"], json!(true));
}
