//! `signers add`, `rm` and `list`: what is taken, what is refused, and what stays.

use std::fs;

use serde_json::{Value, json};

use crate::signers::team::{EVENING, MORNING, NIGHT, NOON, Team};
use crate::support::{stderr, stdout};

#[test]
fn a_key_is_given_as_a_line_a_file_or_on_standard_input() {
    let Some(team) = Team::new() else { return };
    for name in ["line", "file", "input"] {
        team.keygen(name, &[]);
    }
    let (line, file) = (team.public("line"), team.path("file.pub"));
    team.done(NOON, &["signers", "add", "line", &line]);
    let output = team.run(NOON, &["signers", "add", "file", &file]);
    assert!(stderr(&output).contains(&file), "{}", stderr(&output));
    let args = ["--now", NOON, "signers", "add", "input", "-"];
    let output = team.home.run_with_input(&args, &team.public("input"));
    assert!(output.status.success(), "{}", stderr(&output));
    for name in ["line", "file", "input"] {
        let public = team.public(name);
        let key = public.strip_suffix(" made for a test").expect("a comment");
        let line = format!("{name} namespaces=\"git\" {key} writer\n");
        assert!(team.signers().contains(&line), "{}", team.signers());
        team.done(
            NOON,
            &[
                "create",
                &format!("/memories/{name}.md"),
                "--text",
                "x",
                "--signing-key",
                &team.path(name),
            ],
        );
        assert_eq!(team.log("1")[0]["signer"], name);
    }
    assert!(team.findings().is_empty());
}

#[test]
fn each_change_is_an_event_that_says_who_and_why() {
    let Some(team) = Team::new() else { return };
    let before = team.signers();
    team.keygen("ana", &[]);
    let add = [
        "signers",
        "add",
        "ana",
        &team.public("ana"),
        "--actor",
        "it",
        "--session",
        "s1",
        "--reason",
        "new colleague",
    ];
    let said: Value =
        serde_json::from_str(&team.done(NOON, &[&add[..], &["--json"]].concat())).expect("JSON");
    assert_eq!(said["schema"], "agekeep.signers_add/1");
    assert_eq!(said["signer"]["name"], "ana");
    assert_eq!(said["meta"]["event"], 2);
    let ana = team.path("ana");
    team.done(
        NOON,
        &[
            "create",
            "/memories/b.md",
            "--text",
            "x",
            "--signing-key",
            &ana,
        ],
    );
    let text = team.done(NOON, &["signers", "rm", "ana", "--reason", "left"]);
    for words in ["may not write any more", "stay valid", "verify", "event 4"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!text.contains("your own signing key"), "{text}");
    assert_eq!(team.signers(), before);
    let log = team.log("3");
    let of = |at: usize, field: &str| log[at][field].clone();
    assert_eq!(
        [of(0, "command"), of(0, "reason"), of(0, "signer")],
        [json!("signers_rm"), json!("left"), json!("owner")]
    );
    assert_eq!(
        [of(1, "command"), of(1, "signer")],
        [json!("create"), json!("ana")]
    );
    assert_eq!(
        [of(2, "command"), of(2, "actor"), of(2, "session")],
        [json!("signers_add"), json!("it"), json!("s1")]
    );
    let text = team.done(EVENING, &["log"]);
    assert!(!text.contains("NOT SIGNED"), "{text}");
    let only = team.done(EVENING, &["log", "--command", "signers_add", "--json"]);
    assert_eq!(only.lines().count(), 1);
    assert!(team.findings().is_empty());
}

#[test]
fn a_key_that_was_anothers_shows_each_under_the_name_it_had() {
    let Some(team) = Team::new() else { return };
    let key = team.let_in("ana", &[]);
    team.done(NIGHT, &["view", "/memories/a.md", "--signing-key", &key]);
    team.done(NIGHT, &["signers", "rm", "ana"]);
    team.done(NIGHT, &["signers", "add", "ben", &team.public("ana")]);
    team.done(NIGHT, &["view", "/memories/a.md", "--signing-key", &key]);
    let signers: Vec<Value> = team
        .log("4")
        .iter()
        .map(|event| event["signer"].clone())
        .collect();
    assert_eq!(signers, ["ben", "owner", "owner", "ana"]);
    assert!(team.findings().is_empty());
}

#[test]
fn the_list_says_who_may_write_and_when() {
    let Some(team) = Team::new() else { return };
    team.let_in("ana", &["--valid-after", MORNING, "--valid-before", NOON]);
    let line = team.signers().lines().nth(1).expect("ana's").to_owned();
    let window = "ana namespaces=\"git\",valid-after=\"20251231080000Z\",valid-before=\"20251231120000Z\" ssh-ed25519 ";
    assert!(line.starts_with(window), "{line}");
    for (now, state) in [(NIGHT, "not yet"), (NOON, "valid"), (EVENING, "expired")] {
        let list: Value =
            serde_json::from_str(&team.done(now, &["signers", "list", "--json"])).expect("JSON");
        assert_eq!(list["schema"], "agekeep.signers/1");
        assert_eq!(list["signers"][0]["state"], "valid");
        let ana = &list["signers"][1];
        assert_eq!(
            [&ana["state"], &ana["valid_after"], &ana["valid_before"]],
            [state, MORNING, NOON]
        );
        let text = team.done(now, &["signers", "list"]);
        assert!(
            text.contains(ana["fingerprint"].as_str().expect("text")),
            "{text}"
        );
        assert_eq!(text.contains(state), state != "valid", "{text}");
    }
}

#[test]
fn what_is_no_ed25519_key_is_refused_and_never_echoed() {
    let Some(team) = Team::new() else { return };
    for (name, kind) in [("rsa", "rsa"), ("ecdsa", "ecdsa")] {
        let path = team.keygen(name, &["-t", kind]) + ".pub";
        let said = team.refused(NOON, &["signers", "add", "ana", &path], 2, "invalid");
        assert!(
            said.contains(kind) && said.contains("ssh-ed25519"),
            "{said}"
        );
        team.refused(
            NOON,
            &["signers", "add", "ana", &team.public(name)],
            2,
            "invalid",
        );
    }
    let private = team.keygen("ana", &[]);
    let text = fs::read_to_string(&private).expect("there");
    let body: String = text.lines().filter(|line| !line.starts_with('-')).collect();
    let identity = fs::read_to_string(team.home.identity()).expect("there");
    let identity = identity.lines().last().expect("a line").to_owned();
    for given in [
        private,
        text.clone(),
        body.clone(),
        identity.clone(),
        team.path("config/agekeep/identity.txt"),
    ] {
        let said = team.refused(NOON, &["signers", "add", "ana", &given], 2, "invalid");
        assert!(said.contains("private key"), "{said}");
        for secret in [&body[40..100], &identity[20..]] {
            assert!(!said.contains(secret), "{said}");
        }
        let said = team.refused(
            NOON,
            &["signers", "add", &given, &team.public("ana")],
            2,
            "invalid",
        );
        assert!(
            !said.contains(&body[40..100]) && !said.contains(&identity[20..]),
            "{said}"
        );
    }
    let output = team
        .home
        .run_with_input(&["signers", "add", "ana", "-"], &text);
    assert_eq!(output.status.code(), Some(2));
    assert!(!(stdout(&output) + &stderr(&output)).contains(&body[40..100]));
}

#[test]
fn what_cannot_be_a_signer_is_refused() {
    let Some(team) = Team::new() else { return };
    team.keygen("ana", &[]);
    let (good, two) = (team.public("ana"), team.path("two.pub"));
    fs::write(&two, format!("{good}\n{good}\n")).expect("written");
    for given in [
        two.as_str(),
        "ssh-ed25519 AAAA",
        "ssh-ed25519 ",
        &good[..60],
        &format!("restrict {good}"),
    ] {
        let output = team.run(NOON, &["signers", "add", "ana", given]);
        assert!(
            matches!(output.status.code(), Some(2 | 16)),
            "{given}: {}",
            stderr(&output)
        );
    }
    team.refused(
        NOON,
        &["signers", "add", "ana", &team.path("nobody.pub")],
        16,
        "io",
    );
    for name in [
        "",
        "a b",
        "*",
        "a,b",
        "!a",
        "#a",
        "-a",
        "a\"",
        "a<b>",
        "a\nb",
        "\u{e9}va",
        &"n".repeat(65),
    ] {
        team.refused(NOON, &["signers", "add", name, &good], 2, "invalid");
    }
    for window in [
        &["--valid-after", NOON, "--valid-before", MORNING][..],
        &["--valid-after", NOON, "--valid-before", NOON],
        &["--valid-before", NIGHT],
        &["--valid-before", "1969-01-01"],
        &["--valid-after", "whenever"],
    ] {
        team.refused(
            NOON,
            &[&["signers", "add", "ana", &good], window].concat(),
            2,
            "invalid",
        );
    }
    assert_eq!(team.events(), 2);
}

#[test]
fn a_name_and_a_key_stand_there_once() {
    let Some(team) = Team::new() else { return };
    team.let_in("ana", &[]);
    team.keygen("ben", &[]);
    let said = team.refused(
        NOON,
        &["signers", "add", "ana", &team.public("ben")],
        5,
        "signer_exists",
    );
    assert!(said.contains("with the name ana"), "{said}");
    let said = team.refused(
        NOON,
        &["signers", "add", "ben", &team.public("ana")],
        5,
        "signer_exists",
    );
    assert!(said.contains("is ana's"), "{said}");
    team.refused(
        NOON,
        &["signers", "add", "ana", &team.public("ana")],
        5,
        "signer_exists",
    );
    team.refused(NOON, &["signers", "rm", "ben"], 4, "no_such_signer");
    team.refused(NOON, &["signers", "rm", ""], 4, "no_such_signer");
    team.refused(NOON, &["signers", "rm", "-owner"], 4, "no_such_signer");
}

#[test]
fn an_owner_who_can_write_now_always_stays() {
    let Some(team) = Team::new() else { return };
    team.refused(NOON, &["signers", "rm", "owner"], 6, "last_signer");
    let window = ["--valid-after", MORNING, "--valid-before", NOON];
    let key = team.let_in("ana", &[&window[..], &["--role", "owner"]].concat());
    team.let_in("joe", &[]);
    team.refused(NIGHT, &["signers", "rm", "owner"], 6, "last_signer");
    team.refused(EVENING, &["signers", "rm", "owner"], 6, "last_signer");
    // Her time ends, and only an owner lets another in.
    team.refused(NOON, &["signers", "rm", "owner"], 6, "last_signer");
    let ben = team.let_in("ben", &["--role", "owner"]);
    let text = team.done(NOON, &["signers", "rm", "owner"]);
    assert!(text.contains("you cannot write with it any more"), "{text}");
    let last = ["signers", "rm", "ben", "--signing-key", &key];
    team.refused(NOON, &last, 6, "last_signer");
    team.done(NOON, &["signers", "rm", "ana", "--signing-key", &ben]);
    let public = format!("{key}.pub");
    let add = ["signers", "add", "ana", &public, "--valid-before", EVENING];
    team.done(NOON, &[&add[..], &["--signing-key", &ben]].concat());
    team.refused(NOON, &["delete", "/memories/a.md"], 7, "not_a_signer");
    team.done(NOON, &["delete", "/memories/a.md", "--signing-key", &key]);
    assert!(team.findings().is_empty());
}
