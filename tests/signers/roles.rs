//! What each role may do through the doors, and how roles change.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::signers::live::Tool;
use crate::signers::team::{EVENING, MORNING, NIGHT, NOON, Team};
use crate::support::{feed, stderr, stdout};

/// A verb, and which roles may use it: `w`riter, `s`weeper, `a`uditor.
const VERBS: [(&[&str], &str); 31] = [
    (&["view", "/memories/a.md"], "w"),
    (&["view", "/memories/../a.md"], "w"),
    (&["create", "/memories/ROLE.md", "--text", "x"], "w"),
    (&["insert", "/memories/a.md", "0", "--text", "x"], "w"),
    (&["read", "a.md"], "w"),
    (&["write", "b.md", "--text", "x"], "w"),
    (&["restore", "/memories/a.md", "--from", "1"], "w"),
    (&["rollback", "--to", "HEAD~0"], "w"),
    (&["export", "--jsonl", "-"], "w"),
    (&["show", "1:/memories/a.md"], "wsa"),
    (&["view", "--at", "1", "/memories/a.md"], "wsa"),
    (&["diff", "1"], "wsa"),
    (&["blame", "/memories/a.md"], "wsa"),
    (&["grep", "squirrel"], "wsa"),
    (&["log", "-p", "-n", "1"], "wsa"),
    (&["scan"], "wsa"),
    (&["checkpoint"], "wsa"),
    (&["hold", "add", "/memories/a.md", "--reason", "x"], "s"),
    (&["expire"], "s"),
    (
        &["erase", "/memories/x.md", "--yes", "--reason", "asked"],
        "s",
    ),
    (&["hold", "rm", "HOLD"], ""),
    (
        &[
            "redact",
            "HEAD~0:/memories/x.md",
            "--yes",
            "--reason",
            "asked",
        ],
        "",
    ),
    (&["policy", "set", "limits.memories", "9"], ""),
    (&["signers", "add", "zoe", "KEY"], ""),
    (&["signers", "add", "zoe", "KEY", "--role", "owner"], ""),
    (&["signers", "rm", "owner"], ""),
    (&["signers", "role", "NAME", "owner"], ""),
    (&["signers", "role", "owner", "auditor"], ""),
    (&["recipients", "rm", "eve"], ""),
    (&["rekey"], ""),
    (&["keys", "export", "/memories/a.md"], ""),
];

/// A store with memories, a member who can be removed, and a hold; the number of that hold.
fn scene(team: &Team) -> String {
    let eve = agekeep::store::Identity::generate();
    let eve = eve.recipient().expect("X25519").to_string();
    team.done(
        NIGHT,
        &["recipients", "add", "eve", &eve, "--role", "auditor"],
    );
    for path in ["/memories/x.md", "/memories/y.md"] {
        team.done(NIGHT, &["create", path, "--text", "nut\n"]);
    }
    team.keygen("zoe", &[]);
    let hold = ["hold", "add", "/memories/y.md", "--reason", "a case"];
    team.done(NIGHT, &hold);
    team.log("1")[0]["event"].to_string()
}

#[test]
fn each_role_does_what_it_is_for_and_is_refused_the_rest() {
    for role in ["writer", "sweeper", "auditor"] {
        let Some(team) = Team::new() else { return };
        let hold = scene(&team);
        let key = team.let_in("ana", &["--role", role]);
        let (zoe, path) = (team.public("zoe"), format!("/memories/{role}.md"));
        for (args, allowed) in VERBS {
            let args = args.iter().map(|arg| match *arg {
                "NAME" => "ana",
                "KEY" => zoe.as_str(),
                "HOLD" => hold.as_str(),
                "/memories/ROLE.md" => path.as_str(),
                arg => arg,
            });
            let args: Vec<&str> = args.chain(["--signing-key", &key]).collect();
            if allowed.contains(&role[..1]) {
                let output = team.run(NOON, &args);
                // A path that leaves `/memories` is refused to whoever may ask, and on record.
                let ok = output.status.success() || args[1].contains("..");
                assert!(ok, "{role} {args:?}: {}", stderr(&output));
                continue;
            }
            let said = team.refused(NOON, &args, 7, "not_allowed");
            let words = format!("ana has the role {role}, which may not record ");
            assert!(said.contains(&words), "{args:?}: {said}");
            assert!(
                said.contains("agekeep signers role ana ROLE"),
                "{args:?}: {said}"
            );
        }
        assert!(team.findings().is_empty(), "{role}");
    }
}

#[test]
fn an_error_of_a_role_is_an_answer_like_another() {
    let Some(team) = Team::new() else { return };
    let key = team.let_in("ana", &["--role", "auditor"]);
    let mut tool = Tool::start(&team, &key, None);
    let before = team.events();
    for _ in 0..2 {
        let answer = tool.create("/memories/b.md");
        assert_eq!(answer["is_error"], true, "{answer}");
        assert!(answer.to_string().contains("not_allowed"), "{answer}");
    }
    assert_eq!(team.events(), before);
    // And a role counts from the next event on, for a process that runs too.
    let set = |role| team.home.run(&["signers", "role", "ana", role]);
    assert!(set("writer").status.success());
    assert_eq!(tool.create("/memories/b.md")["is_error"], false);
    assert!(set("sweeper").status.success());
    let answer = tool.create("/memories/c.md");
    assert!(answer.to_string().contains("not_allowed"), "{answer}");
    tool.end();
    assert_eq!(team.events(), before + 3);
    assert!(team.findings().is_empty());
}

#[test]
fn who_is_let_in_writes_and_no_more_unless_a_role_is_said() {
    let Some(team) = Team::new() else { return };
    team.let_in("ana", &[]);
    team.let_in(
        "sue",
        &["--role", "sweeper", "--valid-before", "2100-01-01"],
    );
    let roles: Vec<String> = team
        .signers()
        .lines()
        .map(|line| line.rsplit(' ').next().expect("a word").to_owned())
        .collect();
    assert_eq!(roles, ["owner", "writer", "sweeper"]);
    let text = team.done(NOON, &["signers", "list"]);
    for (line, role) in text.lines().zip(roles) {
        assert!(line.starts_with(&role), "{text}");
    }
    for args in [["signers", "list"].as_slice(), &["status"]] {
        let said = team.done(NOON, &[args, &["--json"]].concat());
        let said: Value = serde_json::from_str(&said).expect("JSON");
        let signers = said["signers"].as_array().expect("a list");
        let roles: Vec<&Value> = signers.iter().map(|signer| &signer["role"]).collect();
        assert_eq!(roles, ["owner", "writer", "sweeper"], "{args:?}");
    }
    let status = team.done(NOON, &["status"]);
    assert!(
        status.contains("signer      ana (writer) ssh-ed25519 "),
        "{status}"
    );
    assert!(!status.contains("no role"), "{status}");
    assert!(status.contains("problems    none found"), "{status}");
    for bad in ["", "reader", "Owner", "owner,writer"] {
        let public = team.public("ana");
        let output = team.run(NOON, &["signers", "add", "joe", &public, "--role", bad]);
        assert_eq!(output.status.code(), Some(2), "{bad}: {}", stderr(&output));
        let output = team.run(NOON, &["signers", "role", "ana", bad]);
        assert_eq!(output.status.code(), Some(2), "{bad}: {}", stderr(&output));
    }
}

#[test]
fn another_role_is_an_event_that_says_who_and_why() {
    let Some(team) = Team::new() else { return };
    let key = team.let_in("ana", &[]);
    let view = ["view", "/memories/a.md", "--signing-key", &key];
    team.done(NOON, &view);
    let before = team.events();
    let set = [
        "signers", "role", "ana", "auditor", "--reason", "moved on", "--json",
    ];
    let said: Value = serde_json::from_str(&team.done(NOON, &set)).expect("JSON");
    assert_eq!(said["schema"], "agekeep.signers_role/1");
    assert_eq!(
        [&said["signer"]["name"], &said["signer"]["role"]],
        ["ana", "auditor"]
    );
    assert_eq!(team.events(), before + 1);
    let event = &team.log("1")[0];
    let of = |field: &str| event[field].clone();
    assert_eq!(
        [of("command"), of("reason"), of("signer")],
        [json!("signers_set"), json!("moved on"), json!("owner")]
    );
    team.refused(NOON, &view, 7, "not_allowed");
    assert!(
        team.findings().is_empty(),
        "what she did before stays valid"
    );
    for (name, role, exit, code) in [
        ("ana", "auditor", 5, "signer_exists"),
        ("zoe", "auditor", 4, "no_such_signer"),
        ("", "auditor", 4, "no_such_signer"),
        ("owner", "owner", 5, "signer_exists"),
    ] {
        team.refused(NOON, &["signers", "role", name, role], exit, code);
    }
}

#[test]
fn the_last_owner_is_neither_removed_nor_given_another_role() {
    let Some(team) = Team::new() else { return };
    let demote = ["signers", "role", "owner", "writer"];
    let remove = ["signers", "rm", "owner"];
    let refused = |team: &Team, now| {
        for args in [&demote[..], &remove] {
            let said = team.refused(now, args, 6, "last_signer");
            assert!(said.contains("--role owner"), "{said}");
        }
    };
    refused(&team, NOON);
    // Whoever is no owner does not count, and one whose time ends does not either.
    for role in ["writer", "sweeper", "auditor"] {
        team.let_in(role, &["--role", role]);
    }
    let ends = ["--valid-after", MORNING, "--valid-before", EVENING];
    team.let_in("ana", &[&ends[..], &["--role", "owner"]].concat());
    refused(&team, NOON);
    let ben = team.let_in("ben", &["--role", "owner", "--valid-after", NOON]);
    refused(&team, MORNING.replace("08", "07").as_str());
    team.done(NOON, &demote);
    team.refused(
        NOON,
        &["policy", "set", "limits.memories", "9"],
        7,
        "not_allowed",
    );
    team.done(NOON, &["create", "/memories/b.md", "--text", "x"]);
    let with_ben = |args: &[&str]| -> Vec<String> {
        let args = [args, &["--signing-key", &ben]].concat();
        args.into_iter().map(str::to_owned).collect()
    };
    let back = with_ben(&["signers", "role", "owner", "owner"]);
    team.done(NOON, &back.iter().map(String::as_str).collect::<Vec<_>>());
    team.done(NOON, &["policy", "set", "limits.memories", "9"]);
    assert!(team.findings().is_empty());
}

/// Stock git and OpenSSH read a role as the comment of a key.
#[test]
fn stock_programs_go_on_reading_the_file() {
    let Some(team) = Team::new() else { return };
    let mut keys = vec![("owner", team.home.signing_key())];
    for role in ["writer", "sweeper", "auditor"] {
        let window = ["--valid-after", NIGHT, "--valid-before", "2100-01-01"];
        let key = team.let_in(role, &[&window[..], &["--role", role]].concat());
        keys.push((role, key.into()));
    }
    let allowed = team.path("allowed");
    fs::write(&allowed, team.signers()).expect("written");
    for (name, key) in keys {
        let key = key.to_str().expect("UTF-8");
        team.done(NOON, &["show", "1:/memories/a.md", "--signing-key", key]);
        assert_eq!(team.log("1")[0]["signer"], name);
        assert!(team.git_verifies("main", "UTC"), "{name}");
        let mut sign = Command::new("ssh-keygen");
        sign.args(["-Y", "sign", "-n", "git", "-f", key]);
        let signature = team.path(&format!("{name}.sig"));
        fs::write(&signature, feed(sign, b"text").stdout).expect("written");
        let keygen = |args: &[&str], input: &[u8]| {
            let mut keygen = Command::new("ssh-keygen");
            keygen.args(args).args(["-f", &allowed, "-s", &signature]);
            feed(keygen, input)
        };
        let verify = ["-Y", "verify", "-n", "git", "-I", name];
        let verified = keygen(&verify, b"text");
        assert!(verified.status.success(), "{name}: {}", stderr(&verified));
        assert!(!keygen(&verify, b"other").status.success(), "{name}");
        let found = keygen(&["-Y", "find-principals"], b"");
        assert_eq!(stdout(&found).trim(), name, "{}", stderr(&found));
    }
}
