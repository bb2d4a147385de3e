//! `init --template`: the memories that work over many sessions begins with.

use std::fs;

use serde_json::Value;

use crate::support::{Home, json_lines, stderr, stdout};

const STARTUP: &str = include_str!("../../src/bin/agekeep/verbs/init/template/startup.md");
const FEATURES: &str = include_str!("../../src/bin/agekeep/verbs/init/template/features.json");
const PROGRESS: &str = include_str!("../../src/bin/agekeep/verbs/init/template/progress.md");

/// Each memory, and the text it begins with.
const PAGES: [(&str, &str); 3] = [
    ("/memories/features.json", FEATURES),
    ("/memories/progress.md", PROGRESS),
    ("/memories/startup.md", STARTUP),
];

fn ok(home: &Home, args: &[&str]) -> String {
    let output = home.run(args);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    stdout(&output)
}

fn with_template() -> (Home, String) {
    let home = Home::empty();
    let said = ok(&home, &["init", "--template", "software-project"]);
    (home, said)
}

#[test]
fn the_memories_are_there_byte_for_byte() {
    let (home, said) = with_template();
    for (path, text) in PAGES {
        let name = path.strip_prefix("/memories/").expect("below it");
        assert_eq!(ok(&home, &["read", name]), text, "{path}");
        assert!(said.contains(path), "{said}");
    }
    let listed = ok(&home, &["read"]);
    assert_eq!(listed.lines().count(), PAGES.len(), "{listed}");
}

#[test]
fn they_are_made_by_commands_like_any_other() {
    let (home, _) = with_template();
    let events = json_lines(ok(&home, &["log", "--json"]).as_bytes());
    let made: Vec<&Value> = events.iter().filter(|e| e["command"] == "create").collect();
    assert_eq!(made.len(), PAGES.len());
    for event in made {
        assert_eq!(event["actor"], "tester", "{event}");
        assert_eq!(event["reason"], "template", "{event}");
        assert_eq!(event["outcome"], "ok", "{event}");
        let redactions = event["redactions"].as_array();
        assert!(
            redactions.is_none_or(Vec::is_empty),
            "nothing was taken out: {event}"
        );
    }
    ok(&home, &["verify"]);
}

#[test]
fn who_makes_them_and_why_can_be_said() {
    let home = Home::empty();
    let said = ["--actor", "Mei", "--reason", "pilot", "--session", "s1"];
    let mut args = vec!["init", "--template", "software-project"];
    args.extend(said);
    ok(&home, &args);
    let events = json_lines(ok(&home, &["log", "--json", "--command", "create"]).as_bytes());
    assert_eq!(events.len(), PAGES.len());
    for event in events {
        assert_eq!(event["actor"], "Mei");
        assert_eq!(event["reason"], "pilot");
        assert_eq!(event["session"], "s1");
    }
}

#[test]
fn the_checklist_is_for_programs_and_a_line_of_it_can_be_replaced() {
    let (home, _) = with_template();
    let read =
        || -> Value { serde_json::from_str(&ok(&home, &["read", "features.json"])).expect("JSON") };
    let features = read();
    for feature in features["features"].as_array().expect("a list") {
        assert_eq!(feature["passes"], false);
        let keys: Vec<_> = feature.as_object().expect("an object").keys().collect();
        assert_eq!(keys, ["id", "feature", "check", "passes"]);
    }
    let line = FEATURES.lines().find(|line| line.contains("\"id\": 1,"));
    let line = line.expect("the example").trim();
    let done = line.replace("false", "true");
    let replace = [
        "str-replace",
        "/memories/features.json",
        "--old",
        line,
        "--new",
        &done,
    ];
    ok(&home, &replace);
    assert_eq!(read()["features"][0]["passes"], true);
}

#[test]
fn what_they_tell_a_model_to_read_is_there() {
    let (home, _) = with_template();
    for (from, text) in PAGES {
        let words = text.split(|c: char| c.is_whitespace() || ",;)\"".contains(c));
        let named = words.filter(|word| word.starts_with("/memories/"));
        for path in named.map(|path| path.trim_end_matches('.')) {
            ok(&home, &["view", path]);
            assert_ne!(path, from);
        }
    }
    assert!(
        STARTUP.contains("/memories/progress.md") && STARTUP.contains("/memories/features.json")
    );
    // The sections that the log's own instructions speak of.
    for section in ["Now", "Log", "Earlier"] {
        assert!(PROGRESS.contains(&format!("\n## {section}\n")), "{section}");
        assert!(PROGRESS.contains(&format!("\"{section}\"")), "{section}");
    }
}

#[test]
fn as_json_it_says_what_was_made() {
    let home = Home::empty();
    let said = ok(&home, &["init", "--json", "--template", "software-project"]);
    let said: Value = serde_json::from_str(&said).expect("one object");
    let mut paths: Vec<_> = said["memories"].as_array().expect("paths").iter().collect();
    paths.sort_by_key(|path| path.as_str());
    assert_eq!(paths, PAGES.map(|(path, _)| path));
    let plain = ok(&Home::empty(), &["init", "--json"]);
    let plain: Value = serde_json::from_str(&plain).expect("one object");
    assert_eq!(plain["memories"], serde_json::json!([]));
}

#[test]
fn without_being_asked_for_nothing_is_in_a_new_store() {
    let home = Home::empty();
    let view = r#"{"command":"memory_read"}"#;
    let output = home.run_with_input(&["tool", "--init"], view);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(ok(&home, &["read"]), "\n");
    let with = home.run_with_input(&["tool", "--init", "--template", "software-project"], "");
    assert_eq!(with.status.code(), Some(2));
}

#[test]
fn an_unknown_template_makes_nothing_and_the_known_ones_are_named() {
    let home = Home::empty();
    for name in ["", "software", "../software-project", "Software-Project"] {
        let output = home.run(&["init", "--template", name]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(
            stderr(&output).contains("software-project"),
            "{}",
            stderr(&output)
        );
        let left: Vec<_> = fs::read_dir(home.path()).expect("a folder").collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn a_store_that_is_there_gets_no_template() {
    let home = Home::with_store();
    let output = home.run(&["init", "--template", "software-project"]);
    assert_eq!(output.status.code(), Some(5), "{}", stderr(&output));
    assert_eq!(ok(&home, &["read"]), "\n");
}

#[test]
fn where_a_policy_lets_them_not_in_the_store_is_made_and_it_is_said() {
    for json in [false, true] {
        let home = Home::empty();
        let policy = home.path().join("policy.toml");
        fs::write(&policy, "[limits]\nmemory_bytes = 600\n").expect("writes");
        let policy = policy.to_str().expect("UTF-8");
        let mut args = vec!["init", "--template", "software-project", "--policy", policy];
        args.extend(json.then_some("--json"));
        let output = home.run(&args);
        assert_eq!(output.status.code(), Some(9), "{}", stderr(&output));
        let said = stderr(&output);
        assert!(
            said.contains("The store was created and can be used"),
            "{said}"
        );
        assert!(said.contains("/memories/startup.md"), "which one: {said}");
        assert!(
            !stdout(&output).contains("/memories/"),
            "{}",
            stdout(&output)
        );
        assert!(stdout(&output).contains("identity"), "{}", stdout(&output));
        ok(&home, &["create", "/memories/a", "--text", "x"]);
        ok(&home, &["verify"]);
    }
}
