//! `recipients add`, `rm` and `list`, and `rekey`.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::thread;

use crate::keys::team::Team;
use crate::support::{json_lines, settle, stderr, stdout};

#[test]
fn a_member_is_let_in_and_out_and_each_is_on_record() {
    let team = Team::new();
    team.create("a.md", "first\n");
    team.fails_as("bob", 12, &["read", "/memories/a.md"]);
    team.add("bob", "reader");
    team.add("eve", "auditor");
    assert_eq!(team.ok_as("bob", &["read", "/memories/a.md"]), "first\n");
    let newest = team.newest();
    assert_eq!(newest["command"], "memory_read");
    let log = team.ok(&["log", "--command", "recipients-add", "--json"]);
    let log = json_lines(log.as_bytes());
    let who: Vec<_> = log.iter().map(|event| event["member"].clone()).collect();
    assert_eq!(who, ["eve", "bob"]);
    assert!(
        team.ok(&["log", "--command", "recipients-add"])
            .contains("bob")
    );
    let listed = team.ok(&["recipients", "list"]);
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[2].starts_with("auditor  eve  age1"), "{listed}");
    team.assert_verified("with members");
    let said = team.ok(&["recipients", "rm", "bob", "--reason", "left the team"]);
    for words in [
        "bob cannot read anything that is written from now on",
        "copied the keyring",
    ] {
        assert!(said.contains(words), "{said}");
    }
    let newest = team.newest();
    assert_eq!(
        (&newest["command"], &newest["member"], &newest["reason"]),
        (
            &"recipients_rm".into(),
            &"bob".into(),
            &"left the team".into()
        )
    );
    assert_eq!(newest["memories"][0]["change"], "reseal");
    team.fails_as("bob", 12, &["read", "/memories/a.md"]);
    team.fails_as("bob", 12, &["log"]);
    assert_eq!(team.ok(&["read", "/memories/a.md"]), "first\n");
    team.ok_as("eve", &["log"]);
    team.assert_verified("without bob");
    team.ok(&["recipients", "rm", "eve"]);
    team.fails_as("eve", 12, &["log"]);
    team.assert_verified("without eve");
    assert_eq!(team.members(), [("owner".into(), "reader".into())]);
    // And somebody who left can come back, to all of it.
    team.add("bob", "reader");
    assert_eq!(
        team.ok_as("bob", &["view", "--at", "1", "/memories/a.md"])
            .lines()
            .nth(1),
        Some("     1\tfirst")
    );
}

#[test]
fn what_cannot_be_a_member_is_refused_and_nothing_is_recorded() {
    let team = Team::new();
    team.add("bob", "reader");
    let before = team.newest()["event"].clone();
    let (bob, eve) = (team.recipient("bob"), team.recipient("eve"));
    let long = "n".repeat(101);
    for (code, args) in [
        (5, &["add", "bob", &eve][..]),
        (5, &["add", "other", &bob]),
        (2, &["add", "", &eve]),
        (2, &["add", "two words", &eve]),
        (2, &["add", "line\nbreak", &eve]),
        (2, &["add", "esc\u{1b}[31m", &eve]),
        (2, &["add", &long, &eve]),
        (2, &["add", "eve", "age1nonsense"]),
        (2, &["add", "eve", ""]),
        (2, &["add", "eve", &eve, "--role", "king"]),
        (4, &["rm", "nobody"]),
        (4, &["rm", ""]),
        (6, &["rm", "owner"]),
    ] {
        team.fails(code, &[&["recipients"], args].concat());
    }
    team.ok(&["recipients", "rm", "bob"]);
    let said = team.fails(6, &["recipients", "rm", "owner"]);
    assert!(said.contains("the last reader"), "{said}");
    // An auditor does not make a last reader one of two.
    team.add("eve", "auditor");
    team.fails(6, &["recipients", "rm", "owner"]);
    let events = team.newest()["event"].as_u64().expect("a number");
    assert_eq!(events, before.as_u64().expect("a number") + 2);
    team.assert_verified("after refusals");
}

#[test]
fn an_identity_in_the_place_of_a_recipient_is_not_echoed() {
    let team = Team::new();
    let text = fs::read_to_string(team.identity("bob")).expect("there");
    let secret = text.lines().last().expect("an identity").to_owned();
    let file = team.identity("bob");
    for given in [secret.as_str(), file.to_str().expect("UTF-8")] {
        let output = team.run_as("owner", &["recipients", "add", "bob", given]);
        let said = stdout(&output) + &stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(!said.contains(&secret[..30]), "it shows the identity");
    }
    assert_eq!(team.members().len(), 1);
}

#[test]
fn whoever_leaves_is_not_who_makes_the_new_keys() {
    let team = Team::new();
    team.add("bob", "reader");
    let said = team.fails_as("bob", 6, &["recipients", "rm", "bob"]);
    assert!(said.contains("ask another reader to do it"), "{said}");
    let removed = team.run_as("bob", &["recipients", "rm", "owner"]);
    assert!(removed.status.success(), "{}", stderr(&removed));
    assert_eq!(team.members_as("bob"), ["bob"]);
    team.fails(12, &["status"]);
}

impl Team {
    fn members_as(&self, name: &str) -> Vec<String> {
        let listed = self.ok_as(name, &["recipients", "list", "--json"]);
        let names = json_lines(listed.as_bytes());
        names
            .iter()
            .map(|m| m["name"].as_str().expect("text").to_owned())
            .collect()
    }
}

#[test]
fn new_keys_change_nothing_that_can_be_seen() {
    let team = Team::new();
    team.create("a.md", "one\n");
    team.ok(&[
        "str-replace",
        "/memories/a.md",
        "--old",
        "one",
        "--new",
        "two",
    ]);
    team.ok(&["rename", "/memories/a.md", "/memories/b.md"]);
    team.create("gone.md", "gone\n");
    team.ok(&["rm", "/memories/gone.md"]);
    let policy = team.home.path().join("policy.toml");
    fs::write(&policy, "[redaction]\nfingerprints = true\n").expect("written");
    team.ok(&["policy", "set", "--policy", policy.to_str().expect("UTF-8")]);
    let fingerprint = || {
        let output = team
            .home
            .run_with_input(&["redact", "fingerprint"], "a value");
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    let asked = [
        &["read", "/memories/b.md"][..],
        &["view", "/memories"],
        &["view", "--at", "1", "/memories/a.md"],
        &["view", "--at", "2", "/memories/a.md"],
        &["view", "--at", "4", "/memories/gone.md"],
        &["diff", "1", "3"],
        &["access", "/memories/b.md", "--json"],
    ];
    let answers = || asked.map(|args| team.ok(args));
    let (before, print) = (answers(), fingerprint());
    let blame = |team: &Team| {
        let told = team.ok(&["blame", "/memories/b.md", "--json"]);
        json_lines(told.as_bytes())[0]["lines"].clone()
    };
    let blamed = blame(&team);
    for command in [
        &["rekey"][..],
        &["rekey", "--memories", "/memories/*.md"],
        &["rekey"],
    ] {
        team.ok(command);
        let after = answers();
        // Each reading is an access itself: the newest two of the list are new.
        assert_eq!(after[..6], before[..6], "{command:?}");
        assert_eq!(fingerprint(), print);
        assert_eq!(blame(&team), blamed);
        team.assert_verified("after new keys");
    }
    team.ok(&["restore", "/memories/gone.md", "--from", "4"]);
    assert_eq!(team.ok(&["read", "/memories/gone.md"]), "gone\n");
    // The new keys undo nothing, and are not undone.
    let rekeyed = team.ok(&["log", "--command", "rekey", "-n", "1", "--json"]);
    let event = json_lines(rekeyed.as_bytes())[0]["event"].to_string();
    team.fails(4, &["revert", &event]);
    let said = team.fails(4, &["rekey", "--memories", "/memories/none*"]);
    assert!(said.contains("fits no memory"), "{said}");
    team.fails(2, &["rekey", "--memories", "/memories/[b"]);
}

#[test]
fn a_process_that_runs_on_follows_new_keys_and_new_members() {
    let team = Team::new();
    team.create("a.md", "one\n");
    team.add("bob", "reader");
    let mut talks = ["owner", "bob"].map(|name| Talk::with(&team, name));
    for round in 0..3 {
        for talk in &mut talks {
            let answer = talk.read();
            assert!(answer.contains("one"), "{round}: {answer}");
        }
        team.ok([
            &["rekey"][..],
            &["rekey", "--memories", "/memories/**"],
            &["recipients", "list"],
        ][round]);
    }
    team.ok(&["recipients", "rm", "bob"]);
    let [mut owner, mut bob] = talks;
    let events = team.newest()["event"].clone();
    let refused = bob.read();
    assert!(
        refused.contains("\"is_error\":true") && refused.contains("not_a_recipient"),
        "{refused}"
    );
    assert!(!refused.contains("one"), "{refused}");
    assert_eq!(team.newest()["event"], events, "nothing is recorded");
    assert!(owner.read().contains("one"));
    team.assert_verified("after all that");
}

/// A `tool` process that is asked one thing after the other.
pub(crate) struct Talk {
    child: std::process::Child,
    input: std::process::ChildStdin,
    output: BufReader<std::process::ChildStdout>,
    store: std::path::PathBuf,
}

impl Talk {
    pub(crate) fn with(team: &Team, name: &str) -> Self {
        let identity = team.identity(name);
        let mut command = team
            .home
            .command(&["-i", identity.to_str().expect("UTF-8"), "tool"]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("starts");
        Self {
            input: child.stdin.take().expect("piped"),
            output: BufReader::new(child.stdout.take().expect("piped")),
            child,
            store: team.home.store(),
        }
    }

    pub(crate) fn read(&mut self) -> String {
        writeln!(
            self.input,
            r#"{{"command":"view","path":"/memories/a.md"}}"#
        )
        .expect("written");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("answered");
        settle(&self.store);
        line
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

#[test]
fn while_keys_change_others_write_and_nothing_is_lost() {
    let team = Team::new();
    team.add("bob", "reader");
    let some: String = (0..700)
        .map(|n| format!("{{\"command\":\"create\",\"path\":\"/memories/m/{n}.md\",\"file_text\":\"text {n}\\n\"}}\n"))
        .collect();
    assert_eq!(team.home.tool(&some).len(), 700);
    let team = &team;
    let writer = |name: &'static str| {
        move || {
            let calls: String = (0..150)
                .map(|n| match n % 3 {
                    0 => format!("{{\"command\":\"create\",\"path\":\"/memories/{name}/{n}.md\",\"file_text\":\"new {n}\\n\"}}\n"),
                    1 => format!("{{\"command\":\"insert\",\"path\":\"/memories/m/{n}.md\",\"insert_line\":0,\"insert_text\":\"by {name}\"}}\n"),
                    _ => format!("{{\"command\":\"view\",\"path\":\"/memories/m/{n}.md\"}}\n"),
                })
                .collect();
            let answers = team.home.tool(&calls);
            assert_eq!(answers.len(), 150);
            for answer in answers {
                assert_eq!(answer["is_error"], false, "{answer}");
            }
        }
    };
    thread::scope(|scope| {
        scope.spawn(writer("x"));
        scope.spawn(writer("y"));
        team.ok(&["rekey"]);
        team.ok(&["recipients", "rm", "bob"]);
        team.ok(&["rekey", "--memories", "/memories/m/1*"]);
    });
    let reads: String = (1..150)
        .step_by(3)
        .map(|n| format!("{{\"command\":\"memory_read\",\"path\":\"/memories/m/{n}.md\"}}\n"))
        .collect();
    let answers = team.home.tool(&reads);
    assert_eq!(answers.len(), 50);
    for answer in answers {
        let text = answer["content"].as_str().expect("a text");
        for name in ["x", "y"] {
            assert!(text.contains(&format!("by {name}\n")), "{answer}");
        }
    }
    team.assert_verified("after all of it");
}

/// BIP 173 without its bound on the length, as age has it.
enum Long {}

impl bech32::Checksum for Long {
    type MidstateRepr = u32;
    const CHECKSUM_LENGTH: usize = bech32::Bech32::CHECKSUM_LENGTH;
    const CODE_LENGTH: usize = usize::MAX;
    const GENERATOR_SH: [u32; 5] = bech32::Bech32::GENERATOR_SH;
    const TARGET_RESIDUE: u32 = bech32::Bech32::TARGET_RESIDUE;
}

/// A recipient of age's tagged hybrid type: ML-KEM-768 and P-256, whose base point it is.
fn post_quantum() -> String {
    let mut key = vec![0; 1184];
    key.push(4);
    for half in [
        "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296",
        "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5",
    ] {
        key.extend(crate::support::forge::unhex(half));
    }
    let prefix = bech32::Hrp::parse("age1tagpq").expect("a prefix");
    bech32::encode::<Long>(prefix, &key).expect("encodes")
}

#[test]
fn classic_and_post_quantum_are_never_in_one_file() {
    let team = Team::new();
    let before = team.newest()["event"].clone();
    for role in ["reader", "auditor"] {
        let add = ["recipients", "add", "pq", &post_quantum(), "--role", role];
        let said = team.fails(2, &add);
        assert!(said.contains("post-quantum"), "{said}");
    }
    assert_eq!(team.newest()["event"], before);
    let files = fs::read_dir(team.home.store().join("keyring")).expect("there");
    assert_eq!(files.count(), 4, "nothing is left of the attempt");
    assert!(!team.ok(&["status"]).contains("not finished"));
}
