//! `log PATH`, `log -p`, `grep` and `access`.

use std::fs;

use crate::history::story::*;
use crate::support::{complaints, stderr, stdout};

fn numbers(story: &Story, args: &[&str]) -> Vec<u64> {
    let objects = story.objects(args);
    objects
        .iter()
        .map(|event| event["event"].as_u64().expect("a number"))
        .collect()
}

/// There is nothing of what was named, which is said, and the exit code says it too.
pub(crate) fn finds_nothing(story: &Story, args: &[&str]) {
    let output = story.run(args);
    assert_eq!(output.status.code(), Some(4), "{args:?}");
    let said = (stdout(&output), complaints(&output));
    assert_eq!(said, (String::new(), "no events\n".into()), "{args:?}");
}

#[test]
fn a_log_follows_a_memory_through_renames_and_re_creation() {
    let story = Story::new();
    story.told(&[
        ("A", create("n", "1\n")),         // 1
        ("A", create("other", "1\n")),     // 2
        ("B", rename("n", "d/m")),         // 3
        ("B", replace("d/m", "1", "2")),   // 4
        ("B", rename("d", "e")),           // 5
        ("A", create("n", "again\n")),     // 6
        ("A", delete("n")),                // 7
        ("A", view("e/m")),                // 8
        ("A", replace("other", "1", "2")), // 9
    ]);
    let refused = story.run(&["view", "/memories/n"]); // 10
    assert!(!refused.status.success());
    assert_eq!(
        numbers(&story, &["log", "/memories/n"]),
        [10, 8, 7, 6, 5, 4, 3, 1]
    );
    assert_eq!(numbers(&story, &["log", "/memories/e/m"]), [8, 5, 4, 3, 1]);
    assert_eq!(numbers(&story, &["log", "/memories/d"]), [8, 5, 4, 3, 1]);
    assert_eq!(numbers(&story, &["log", "/memories/other"]), [9, 2]);
    finds_nothing(&story, &["log", "/memories/never"]);
    assert_eq!(
        numbers(&story, &["log", "/memories/n", "--session", "B"]),
        [5, 4, 3]
    );
    assert_eq!(numbers(&story, &["log", "/memories/n", "-n", "2"]), [10, 8]);
    assert_eq!(
        numbers(
            &story,
            &["log", "--actor", "agent-B", "--command", "rename"]
        ),
        [5, 3]
    );
    assert_eq!(story.newest(), 10, "a log is no event");
}

#[test]
fn a_log_with_patches_is_one_look() {
    let story = Story::new();
    story.told(&[
        ("A", create("n", "1\n")),
        ("A", create("m", "1\n")),
        ("B", replace("n", "1", "2")),
        ("B", delete("m")),
    ]);
    let text = story.ok(&["log", "-p", "/memories/n"]);
    has(
        &text,
        &[
            "str_replace",
            "-1\n+2\n",
            "--- (not there)\n+++ /memories/n",
        ],
    );
    assert!(!text.contains("/memories/m"), "{text}");
    let log = story.json(&["log", "-n", "1"]);
    assert_eq!(
        (&log["command"], &log["event"], &log["path"]),
        (&"log".into(), &5.into(), &"/memories/n".into())
    );
    assert_eq!(log["memories"].as_array().expect("a list").len(), 1);
    assert_eq!(log["memories"][0]["change"], "look");
    let shown = story.objects(&["log", "-p", "-n", "3"]);
    assert_eq!(shown.len(), 3);
    assert_eq!(shown[1]["changes"][0]["change"], "remove");
}

/// Whoever asks for the changes of nothing has looked at nothing.
#[test]
fn a_log_with_patches_of_nothing_is_no_look() {
    let story = Story::new();
    story.told(&[("A", create("n", "1\n"))]);
    let before = story.newest();
    for args in [
        &["log", "-p", "/memories/none"][..],
        &["log", "-p", "--since", "2999-01-01"],
        &["log", "-p", "--actor", "nobody"],
    ] {
        let output = story.home.run(args);
        let code = output.status.code();
        assert!(code == Some(4) || args.contains(&"--since"), "{args:?}");
        assert_eq!(complaints(&output), "no events\n", "{args:?}");
        assert_eq!(story.newest(), before, "{args:?}");
    }
}

#[test]
fn grep_of_now_and_of_all_there_ever_was() {
    let story = Story::new();
    let long = format!("{}needle.{}\n", "x".repeat(300_000), "y".repeat(300_000));
    story.told(&[
        ("A", create("n", "a needle.\nhay\n")), // 1
        ("A", create("d/m", "Needle two\n")),   // 2
        ("B", replace("n", "a needle.\n", "")), // 3
        ("B", create("gone", "needle gone\n")), // 4
        ("B", delete("gone")),                  // 5
        ("A", create("long", &long)),           // 6
    ]);
    let find = |args: &[&str]| {
        let found = story.objects(args);
        let one = |found: &serde_json::Value| {
            let path = found["version"]["path"].as_str().expect("a path")[10..].to_owned();
            (
                path,
                found["line"].as_u64().expect("a number"),
                found["version"]["event"].as_u64().expect("a number"),
                found["gone"].as_u64(),
            )
        };
        found.iter().map(one).collect::<Vec<_>>()
    };
    let line = |path: &str, event, gone| (path.to_owned(), 1, event, gone);
    assert_eq!(find(&["grep", "needle"]), [line("long", 6, None)]);
    assert_eq!(
        find(&["grep", "needle", "--ignore-case"]),
        [line("d/m", 2, None), line("long", 6, None)]
    );
    assert_eq!(
        find(&["grep", "needle", "--history"]),
        [
            line("gone", 4, Some(5)),
            line("long", 6, None),
            line("n", 1, Some(3))
        ]
    );
    assert_eq!(
        find(&["grep", "needle.", "-F", "--history"]),
        [line("long", 6, None), line("n", 1, Some(3))]
    );
    assert_eq!(
        find(&["grep", "^a n.*\\.$", "/memories/n", "--history"]),
        [line("n", 1, Some(3))]
    );
    assert_eq!(
        find(&["grep", "Needle", "/memories/d"]),
        [line("d/m", 2, None)]
    );
    has(
        &story.ok(&["grep", "gone", "--history"]),
        &["/memories/gone v1 (event 4 until 5):1: needle gone\n"],
    );
    assert_eq!(story.ok(&["grep", "hay"]), "/memories/n:1: hay\n");
    // Restored, it is there again.
    story.ok(&["restore", "/memories/gone", "--from", "4"]);
    assert_eq!(find(&["grep", "needle gone", "--history"])[0].3, None);
    let newest = story.newest();
    for args in [
        &["grep", "nowhere"][..],
        &["grep", "a needle", "/memories/n"],
        &["grep", "Needle", "/memories/n", "--history"],
    ] {
        let output = story.run(args);
        assert_eq!(
            (output.status.code(), stdout(&output)),
            (Some(4), String::new())
        );
    }
    for bad in ["(", "[", "a{99999999}", "\\"] {
        has(
            &story.fails(2, &["grep", bad]),
            &["it is not a regular expression"],
        );
    }
    assert_eq!(story.newest(), newest, "nothing shown, nothing recorded");
    // Nothing it holds reaches the record.
    let output = story.home.run(&["log", "--json"]);
    assert!(!stdout(&output).contains("needle"), "{}", stderr(&output));
}

#[test]
fn access_tells_who_read_and_who_looked() {
    let story = Story::new();
    story.told(&[
        ("A", create("n", "1\n")), // 1
        ("R", view("n")),          // 2
        ("A", rename("n", "m")),   // 3
        ("R", view("m")),          // 4
        (
            "R",
            serde_json::json!({"command": "view", "path": "/memories"}),
        ), // 5
        ("A", create("o", "1\n")), // 6
        ("R", view("o")),          // 7
    ]);
    story.ok(&["read", "m"]); // 8
    story.ok(&["show", "1:/memories/n"]); // 9
    story.ok(&["view", "--at", "3"]); // 10: a listing
    story.ok(&["blame", "/memories/m"]); // 11
    story.ok(&["grep", "1"]); // 12
    let read = [12, 11, 9, 8, 4, 2];
    assert_eq!(numbers(&story, &["access", "/memories/m"]), read);
    assert_eq!(numbers(&story, &["access", "/memories/n"]), read);
    assert_eq!(numbers(&story, &["access", "/memories/o"]), [12, 7]);
    assert_eq!(numbers(&story, &["access", "/memories/m", "-n", "1"]), [12]);
    finds_nothing(&story, &["access", "/memories/never"]);
    assert_eq!(story.newest(), 12, "to ask who read is no access");
}

#[test]
fn a_change_of_the_policy_shows_what_it_was_and_what_it_is() {
    let story = Story::new();
    story.ok(&["policy", "set", "limits.memories", "7"]); // 1
    story.ok(&["policy", "set", "limits.memories", "9", "--reason", "more"]); // 2
    let shown = story.ok(&["show", "2"]);
    let lines: Vec<&str> = shown.lines().collect();
    for line in [
        "--- agekeep.toml",
        "+++ agekeep.toml",
        "-memories = 7",
        "+memories = 9",
    ] {
        assert!(lines.contains(&line), "{line}: {shown}");
    }
    let log = story.ok(&["log", "-p", "--command", "policy_set"]);
    assert!(
        log.contains("+memories = 7\n") && log.contains("-memories = 7\n"),
        "{log}"
    );
    let object = story.json(&["show", "2"]);
    assert_eq!(object["config"]["file"], "agekeep.toml");
    let hunk = &object["config"]["hunks"][0]["lines"];
    let lines = hunk.as_array().expect("lines").iter();
    let changed: Vec<(&str, &str)> = lines
        .map(|line| {
            let said = |key: &str| line[key].as_str().expect("a text");
            (said("kind"), said("text"))
        })
        .filter(|(kind, _)| *kind != "context")
        .collect();
    assert_eq!(
        changed,
        [("removed", "memories = 7"), ("added", "memories = 9")]
    );
    // Members and signers too; what changes no such file has none.
    let ana = agekeep::store::Identity::generate();
    let key = ana.recipient().expect("X25519").to_string();
    story.ok(&["recipients", "add", "ana", &key]);
    let added = story.newest();
    let shown = story.ok(&["show", &added.to_string()]);
    assert!(
        shown.contains("+++ recipients\n") && shown.contains(&key),
        "{shown}"
    );
    story.told(&[("A", create("n", "1\n"))]);
    let object = story.json(&["show", "HEAD"]);
    assert!(object.get("config").is_none(), "{object}");
}

#[test]
fn a_log_says_who_claims_to_have_acted_and_whose_key_signed() {
    let story = Story::new();
    story.told(&[("A", create("n", "1\n"))]);
    let line = story.ok(&["log", "-n", "1"]);
    has(&line, &["by=agent-A (claimed)  signed-by=owner  session=A"]);
    let event = story.json(&["log", "-n", "1"]);
    for (name, value) in [
        ("actor", "agent-A"),
        ("claimed_actor", "agent-A"),
        ("signer", "owner"),
        ("signed_by", "owner"),
    ] {
        assert_eq!(event[name], value, "{event}");
    }
    // A name that claims to be more stays one name.
    let rogue = "x (claimed)  signed-by=ana";
    story.ok(&["read", "n", "--actor", rogue]);
    let line = story.ok(&["log", "-n", "1"]);
    let quoted = format!("by=\"{rogue}\" (claimed)  signed-by=owner\n");
    assert!(line.ends_with(&quoted), "{line}");
}

#[test]
fn what_sweeps_holds_and_erasures_did_is_in_one_line() {
    let story = Story::new();
    let policy = story.home.path().join("policy.toml");
    let text = "[expiration]\nunaccessed_for = \"30d\"\n\n[[expiration.rules]]\n\
                path = \"/memories/scratch/**\"\nunaccessed_for = \"7d\"\n";
    fs::write(&policy, text).expect("written");
    story.ok(&["policy", "set", "--policy", policy.to_str().expect("UTF-8")]); // 1
    story.told(&[
        ("A", create("scratch/a", "1\n")),  // 2
        ("A", create("scratch/b", "1\n")),  // 3
        ("A", create("team/c", "1\n")),     // 4
        ("A", replace("team/c", "1", "2")), // 5
    ]);
    let line = |args: &[&str], now: &str| {
        let done = story.run_at(now, args);
        assert!(done.status.success(), "{args:?}: {}", stderr(&done));
        let listed = stdout(&story.run_at(now, &["log", "-n", "1"]));
        assert_eq!(listed.lines().count(), 1, "{listed}");
        listed
    };
    let soon = "2026-11-02T00:00:00Z";
    let hold = [
        "hold",
        "add",
        "team/**",
        "--reason",
        "a letter of 2 November",
    ];
    has(
        &line(&hold, soon),
        &["hold_add", "hold=6 on \"/memories/team/**\""],
    );
    has(
        &line(&["hold", "rm", "6", "--reason", "settled"], soon),
        &["hold_rm", "ends hold=6"],
    );
    let later = "2026-11-12T00:00:00Z";
    has(
        &line(&["expire", "--yes"], later),
        &["expire", "2 expired", "rule=1"],
    );
    has(
        &line(&["expire", "--yes"], later),
        &["expire", "nothing had expired"],
    );
    let id = story.json(&["log", "/memories/team/c", "-n", "1"])["memories"][0]["memory"].clone();
    let id = id.as_str().expect("an id");
    let erase = ["erase", id, "--reason", "asked to", "--yes"];
    has(
        &line(&erase, later),
        &["erase", "1 erased", "2 versions destroyed  receipt=10"],
    );

    // What is erased is found by its id, as the log prints it, and no more by its old name.
    let by_id = numbers(&story, &["log", id]);
    assert_eq!(by_id, [10, 5, 4]);
    let shown = story.ok(&["log", id]);
    assert!(shown.contains(&format!("(erased {id})")), "{shown}");
    assert!(!shown.contains("team/c"), "{shown}");
    for verb in ["log", "access"] {
        finds_nothing(&story, &[verb, "/memories/team/c"]);
    }
}

#[test]
fn a_memory_is_selected_by_its_id_through_everything() {
    let story = Story::new();
    story.told(&[
        ("A", create("n", "1\n")),       // 1
        ("A", create("other", "1\n")),   // 2
        ("B", rename("n", "m")),         // 3
        ("B", view("m")),                // 4
        ("A", create("n", "another\n")), // 5
        ("B", view("n")),                // 6
    ]);
    let id = story.json(&["log", "/memories/m", "-n", "1"])["memories"][0]["memory"].clone();
    let id = id.as_str().expect("an id");
    assert_eq!(numbers(&story, &["log", id]), [4, 3, 1]);
    assert_eq!(numbers(&story, &["log", id, "--actor", "agent-B"]), [4, 3]);
    assert_eq!(numbers(&story, &["access", id]), [4]);
    let patch = story.ok(&["log", "-p", id]);
    assert!(
        patch.contains("+1\n") && !patch.contains("another"),
        "{patch}"
    );
    let nobody = "0123456789abcdef0123456789abcdef";
    for args in [
        &["log", nobody][..],
        &["access", nobody],
        &["log", "--actor", "nobody"],
        &["log", "--session", "none"],
        &["log", "-p", "--session", "none"],
        &["log", id, "--actor", "nobody"],
        &["log", "/memories/never", "--json"],
    ] {
        finds_nothing(&story, args);
    }
    // Where nobody was named, there is nothing that was not found.
    let none = story.run(&["log", "--outcome", "denied"]);
    assert_eq!(none.status.code(), Some(0));
    assert_eq!(
        (stdout(&none), complaints(&none)),
        (String::new(), "no events\n".to_owned())
    );
}
