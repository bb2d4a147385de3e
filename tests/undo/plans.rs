//! Plans: printed before, carried out exactly or not at all; and redaction on the way back.

use std::fs;

use serde_json::Value;

use crate::history::story::*;

fn digest(plan: &Value) -> String {
    plan["plan"]["digest"]
        .as_str()
        .expect("a digest")
        .to_owned()
}

fn told() -> Story {
    let story = Story::new();
    story.told(&[
        ("B", create("a", "one\n")),
        ("B", create("b", "one\n")),
        ("A", replace("a", "one", "two")),
        ("A", delete("b")),
    ]);
    story
}

#[test]
fn a_plan_is_carried_out_exactly_or_refused() {
    for args in [
        &["revert", "--session", "A"][..],
        &["rollback", "--to", "2"],
        &["restore", "/memories", "--from", "2"],
    ] {
        let story = told();
        let with = |more: &[&'static str]| [args, more].concat();
        let plan = story.json(&with(&["--dry-run"]));
        assert_eq!(
            (&plan["dry_run"], &plan["meta"]),
            (&true.into(), &Value::Null)
        );
        let (steps, digest) = (plan["plan"]["steps"].clone(), digest(&plan));
        assert_eq!(steps.as_array().expect("a list").len(), 2);
        assert_eq!(self::digest(&story.json(&with(&["--dry-run"]))), digest);
        assert_eq!(story.newest(), 4);
        for bad in [
            "",
            "0",
            &digest[..15],
            &digest[1..],
            &format!("{digest}0"),
            "sha256:",
        ] {
            let said = story.fails(6, &[args, &["--plan", bad]].concat());
            has(&said, &["the plan has changed from", &digest]);
        }
        assert_eq!(story.newest(), 4);
        let short = digest[..16].to_owned();
        let text = story.ok(&with(&["--dry-run"]));
        has(&text, &[&format!("--plan {short} instead of --dry-run")]);
        let done = story.json(&[args, &["--plan", &short]].concat());
        assert_eq!(done["plan"]["steps"], steps, "{args:?}");
        assert_eq!(done["meta"]["event"], 5);
        assert_eq!(story.state(), story.state_at(2));
        // Done once, it is not what would be done again.
        story.fails(6, &[args, &["--plan", &digest]].concat());
    }
}

#[test]
fn any_change_in_between_is_another_plan() {
    let changes = [
        ("C", replace("a", "two", "three")),
        ("C", create("b", "taken\n")),
    ];
    for change in changes {
        let story = told();
        let plan = digest(&story.json(&["rollback", "--to", "2", "--dry-run"]));
        story.told(&[change]);
        let before = story.state();
        story.fails(6, &["rollback", "--to", "2", "--plan", &plan]);
        assert_eq!(story.state(), before);
    }
    // What has nothing to do with it is none: a read, and another file for a revert.
    let story = told();
    let plan = digest(&story.json(&["revert", "--session", "A", "--dry-run"]));
    story.told(&[("C", view("a")), ("C", create("c", "mine\n"))]);
    story.ok(&["revert", "--session", "A", "--plan", &plan]);
    let want = state(&[("a", "one\n"), ("b", "one\n"), ("c", "mine\n")]);
    assert_eq!(story.state(), want);
    // One more event of the session is another plan.
    let story = told();
    let plan = digest(&story.json(&["revert", "--session", "A", "--dry-run"]));
    story.told(&[("A", create("c", "more\n"))]);
    story.fails(6, &["revert", "--session", "A", "--plan", &plan]);
}

#[test]
fn the_same_lines_with_another_text_are_another_plan() {
    let plan = |text: &str| {
        let story = Story::new();
        story.told(&[("B", create("a", text)), ("A", replace("a", "x", "y"))]);
        story.json(&["revert", "2", "--dry-run"])["plan"]["steps"][0]["sha256"].clone()
    };
    assert_ne!(plan("x 1\n"), plan("x 2\n"));
}

const SECRET: &str = "correct-horse-battery";

fn policy(story: &Story, redaction: &str) {
    let shown = story.ok(&["policy", "get"]);
    let kept = shown.split("[redaction").next().expect("a beginning");
    let file = story.home.path().join("policy.toml");
    fs::write(&file, format!("{kept}{redaction}")).expect("a file");
    story.ok(&["policy", "set", "--policy", file.to_str().expect("a path")]);
}

const RULE: &str = "kind = \"house-word\"\nwhat = \"a word of the house\"\nshape = \"correct-horse-[a-z]+\"\nliterals = [\"correct-horse\"]\n";

#[test]
fn what_a_newer_rule_finds_is_stripped_on_the_way_back() {
    for args in [
        &["restore", "/memories/a", "--from", "2"][..],
        &["revert", "3"],
        &["rollback", "--to", "2"],
    ] {
        let story = Story::new();
        story.told(&[
            ("B", create("a", &format!("word {SECRET}\n"))),
            ("B", create("b", "plain\n")),
            ("A", delete("a")),
        ]);
        policy(&story, &format!("[[redaction.rules]]\n{RULE}"));
        let dry = story.ok(&[args, &["--dry-run"]].concat());
        has(&dry, &["stripped: house-word"]);
        assert!(!dry.contains(SECRET), "{dry}");
        let done = story.json(args);
        assert_eq!(done["plan"]["steps"][0]["stripped"][0], "house-word");
        assert_eq!(done["meta"]["redactions"][0]["kind"], "house-word");
        let want = state(&[("a", "word [REDACTED:house-word]\n"), ("b", "plain\n")]);
        assert_eq!(story.state(), want, "{args:?}");
        // What is there already is what would be brought back.
        let again = story.ok(&["restore", "/memories/a", "--from", "2"]);
        has(&again, &["There is nothing to do."]);
    }
}

#[test]
fn a_policy_that_refuses_secrets_refuses_that_memory() {
    let story = Story::new();
    story.told(&[
        ("B", create("a", &format!("word {SECRET}\n"))),
        ("B", create("b", "plain\n")),
        ("A", delete("a")),
        ("A", delete("b")),
    ]);
    policy(
        &story,
        &format!("[redaction]\nmode = \"reject\"\n[[redaction.rules]]\n{RULE}"),
    );
    let newest = story.newest();
    for args in [
        &["restore", "/memories/a", "--from", "2"][..],
        &["revert", "--session", "A"],
        &["rollback", "--to", "2"],
    ] {
        let said = story.fails(15, args);
        has(&said, &["/memories/a", "the policy refuses them"]);
        assert!(
            !said.contains(SECRET) && !said.contains("/memories/b"),
            "{said}"
        );
    }
    assert_eq!(story.newest(), newest);
    story.ok(&["revert", "--session", "A", "--partial"]);
    assert_eq!(story.state(), state(&[("b", "plain\n")]));
}

#[test]
fn redaction_that_was_off_for_a_while() {
    let story = Story::new();
    policy(&story, "[redaction]\nmode = \"off\"\n");
    story.told(&[(
        "B",
        create(
            "a",
            &format!(
                "{SECRET}
"
            ),
        ),
    )]);
    story.told(&[("B", delete("a"))]);
    policy(&story, &format!("[redaction]\n[[redaction.rules]]\n{RULE}"));
    story.ok(&["rollback", "--to", "2"]);
    let text = story.state()["/memories/a"].clone();
    assert!(!text.contains(SECRET), "{text}");
    has(&text, &["[REDACTED:house-word]"]);
}

#[test]
fn a_plan_needs_no_signing_key_and_carrying_it_out_does() {
    let story = told();
    fs::remove_file(story.home.signing_key()).expect("there");
    let dry = story.ok(&["rollback", "--to", "2", "--dry-run"]);
    has(&dry, &["2 to change"]);
    story.fails(12, &["rollback", "--to", "2"]);
    assert_eq!(story.newest(), 4);
}
