//! The owner's policy: every key of `[redaction]`, its faults, and the verbs that try it out.

use std::fs;

use serde_json::{Value, json};

use crate::redaction::canary::canaries;
use crate::redaction::doors::{lines, with_policy};
use crate::support::{Home, json_lines, stderr, stdout};

/// What `redact test` makes of a text under a policy.
fn tested(home: &Home, policy: &str, text: &str) -> String {
    fs::write(home.path().join("try.toml"), policy).expect("a policy file");
    let output = home.run_with_input(&["redact", "test", "--policy", "try.toml"], text);
    assert!(output.status.success(), "{policy}: {}", stderr(&output));
    stdout(&output)
}

fn kept(home: &Home, text: &str) -> String {
    let create = json!({"command": "memory_write", "path": "t.md", "content": text});
    let read = json!({"command": "memory_read", "path": "t.md"});
    let answers = home.tool(&lines(&[create, read]));
    answers[1]["content"].as_str().expect("a text").to_owned()
}

const OWN: &str = r#"
[[redaction.rules]]
kind = "acme-badge"
what = "badge of Acme"
shape = "ACME-[0-9]{6}"
literals = ["ACME-"]
found = ["«ACME-740913» at the door"]
kept = ["ACME-x"]
"#;

#[test]
fn a_fault_is_refused_with_its_line() {
    let home = Home::empty();
    let allow = "[[redaction.allow]]\nreason = \"r\"\n";
    let rule = |kind: &str, shape: &str| {
        format!(
            "[redaction]\n\n[[redaction.rules]]\nkind = \"{kind}\"\nshape = '{shape}'\nliterals = [\"ACME-\"]\n"
        )
    };
    for (policy, line) in [
        ("[redaction]\n\nmode = \"maybe\"".to_owned(), 3),
        ("[redaction]\nfingerprints = 1".into(), 2),
        (
            "[redaction]\nmode = \"redact\"\noff = [\"no-such-kind\"]".into(),
            3,
        ),
        ("[redaction]\npersonal = [\"github-pat\"]".into(), 2),
        ("[redaction]\nunknown = 1".into(), 2),
        (
            "[[redaction.paths]]\nglob = \"/memories/[\"\nmode = \"off\"".into(),
            2,
        ),
        (
            "[[redaction.paths]]\nglob = \"/memories/*\"\nmode = \"of\"".into(),
            3,
        ),
        (format!("{allow}regex = \"(\""), 3),
        (format!("{allow}regex = \"a*\""), 3),
        (allow.to_owned(), 1),
        (format!("{allow}fingerprint = \"xyz\""), 3),
        (
            format!("{allow}regex = \"a\"\nfingerprint = \"0123456789abcdef\""),
            1,
        ),
        (format!("{allow}regex = \"a\"\nglob = \"{{\""), 4),
        (
            "[[redaction.allow]]\nregex = \"a\"\nreason = \" \"".into(),
            3,
        ),
        (rule("github-pat", "ACME-[0-9]+"), 4),
        (rule("Acme", "ACME-[0-9]+"), 4),
        (rule("acme-badge", "ACME-("), 5),
        (rule("acme-badge", "(ACME-)?"), 5),
    ] {
        fs::write(home.path().join("p.toml"), &policy).expect("a policy file");
        for args in [
            &["init", "--policy", "p.toml"][..],
            &["redact", "test", "--policy", "p.toml"],
        ] {
            let output = home.run(args);
            let said = stderr(&output);
            assert!(!output.status.success(), "{policy}");
            assert!(said.contains(&format!("line {line}")), "{policy}: {said}");
        }
        assert!(!home.store().exists(), "{policy}");
    }
}

#[test]
fn a_rule_whose_example_is_not_found_is_refused() {
    let home = Home::empty();
    for (wrong, right) in [
        ("«ACME-740913» at", "«ACME-74091» at"),
        ("kept = [\"ACME-x\"]", "kept = [\"ACME-295186\"]"),
    ] {
        fs::write(home.path().join("p.toml"), OWN.replace(wrong, right)).expect("a file");
        let output = home.run(&["init", "--policy", "p.toml"]);
        assert!(!output.status.success());
        let said = stderr(&output);
        assert!(
            said.contains("acme-badge") && said.contains("example 1"),
            "{said}"
        );
        assert!(!home.store().exists());
    }
}

#[test]
fn a_gitleaks_text_that_cannot_be_followed_is_refused() {
    let home = Home::empty();
    for bad in [
        "[[rules]]\nid = \"x\"\nregex = '''a(?=b)'''\n",
        "[[rules]]\nid = \"x\"\nregex = '''(a)\\1'''\n",
        "[[rules]]\nid = \"x\"\nregex = '''('''\n",
        "[[rules]\n",
    ] {
        fs::write(home.path().join("g.toml"), bad).expect("a file");
        let policy = format!(
            "[redaction]\ngitleaks = \"\"\"\n{}\"\"\"\n",
            bad.replace('\\', "\\\\")
        );
        fs::write(home.path().join("p.toml"), policy).expect("a file");
        for args in [
            &["init", "--policy", "p.toml"][..],
            &["redact", "test", "--gitleaks", "g.toml"],
        ] {
            let output = home.run(args);
            assert!(!output.status.success(), "{bad}");
            assert!(
                stderr(&output).contains("gitleaks.toml"),
                "{bad}: {}",
                stderr(&output)
            );
        }
        let checked = home.run(&["redact", "check", "g.toml"]);
        assert_eq!(
            checked.status.code(),
            Some(2),
            "{bad}: {}",
            stderr(&checked)
        );
    }
    assert!(!home.store().exists());
}

#[test]
fn check_gives_each_rule_its_verdict() {
    let home = Home::empty();
    let text = "[[rules]]\nid = \"plain\"\nregex = '''acme_[0-9]{8}'''\nkeywords = [\"acme_\"]\n\n\
                [[rules]]\nid = \"brace\"\nregex = '''acme\\{x{2}y{'''\n\n\
                [[rules]]\nid = \"look\"\nregex = '''acme(?=x)'''\n";
    fs::write(home.path().join("g.toml"), text).expect("a file");
    let checked = home.run(&["redact", "check", "g.toml", "--json"]);
    assert_eq!(checked.status.code(), Some(2));
    let verdicts: Vec<(Value, Value, Value)> = json_lines(&checked.stdout)
        .iter()
        .map(|rule| {
            (
                rule["id"].clone(),
                rule["verdict"].clone(),
                rule["line"].clone(),
            )
        })
        .collect();
    let want = [
        ("plain", "loaded", 1),
        ("brace", "rewritten", 6),
        ("look", "refused", 10),
    ];
    let want = want.map(|(id, verdict, line)| (json!(id), json!(verdict), json!(line)));
    assert_eq!(verdicts, want);
    let human = stdout(&home.run(&["redact", "check", "g.toml"]));
    assert!(
        human.starts_with("loaded ") && human.contains("refused "),
        "{human}"
    );
    fs::write(
        home.path().join("g.toml"),
        text.split("\n\n").next().expect("one"),
    )
    .expect("a file");
    let good = home.run(&["redact", "check", "g.toml"]);
    assert_eq!(good.status.code(), Some(0));
    let found = home.run_with_input(
        &["redact", "test", "--gitleaks", "g.toml"],
        "is acme_12345678.\n",
    );
    assert_eq!(stdout(&found), "is [REDACTED:plain].\n");
}

#[test]
fn the_owners_rules_find_what_they_say() {
    let home = Home::empty();
    let text = "ACME-740913 and ACME-99 and ACME-295186.\n";
    let want = "[REDACTED:acme-badge] and ACME-99 and [REDACTED:acme-badge].\n";
    assert_eq!(tested(&home, OWN, text), want);
    let store = with_policy(OWN);
    assert_eq!(kept(&store, text), want);
    assert_eq!(kept(&store, want), want);
    // Where nobody has that rule, its marker is a text like any other.
    let github = &canaries()[0];
    let loose = format!(
        "[REDACTED:acme-badge] [REDACTED:acme-badge {}]\n",
        github.text
    );
    assert!(!tested(&home, "", &loose).contains(&github.value));
}

#[test]
fn kinds_can_be_turned_off_and_values_allowed() {
    let home = Home::empty();
    let [github, word, uri, _] = &canaries()[..] else {
        panic!("four");
    };
    let text = format!("{}\n{}\n{}\n", github.text, word.text, uri.text);
    let plain = tested(&home, "", &text);
    assert!(
        canaries()
            .iter()
            .all(|canary| !plain.contains(&canary.value))
    );
    let off = tested(&home, "[redaction]\noff = [\"uri-userinfo\"]\n", &text);
    assert!(off.contains(&uri.value) && !off.contains(&github.value) && !off.contains(&word.value));
    let allow = |rest: &str| format!("[[redaction.allow]]\nreason = \"a sample\"\n{rest}\n");
    let by_regex = allow("regex = \"W1nt3r.*\"");
    assert!(tested(&home, &by_regex, &text).contains(&word.value));
    let part = allow("regex = \"W1nt3r\"");
    assert_eq!(
        tested(&home, &part, &text),
        plain,
        "a regex fits the whole value"
    );
    let other = allow("regex = \"W1nt3r.*\"\nkind = \"token\"");
    assert_eq!(tested(&home, &other, &text), plain);
    let elsewhere = allow("regex = \"W1nt3r.*\"\nglob = \"/memories/x/*\"");
    assert_eq!(tested(&home, &elsewhere, &text), plain);
    let rejects = home.path().join("r.toml");
    fs::write(rejects, "[redaction]\nmode = \"reject\"\n").expect("a file");
    let output = home.run_with_input(&["redact", "test", "--policy", "r.toml"], &text);
    assert!(!output.status.success() && output.stdout.is_empty());
    assert!(!stderr(&output).contains(&word.value) && stderr(&output).contains("password"));
}

#[test]
fn personal_kinds_are_found_where_they_are_asked_for() {
    let home = Home::empty();
    let text = "Write to jo.miller@company-mail.com or call +49 30 901820-15.\n";
    assert_eq!(tested(&home, "", text), text);
    let email = tested(&home, "[redaction]\npersonal = [\"email\"]\n", text);
    assert!(
        email.contains("[REDACTED:email]") && email.contains("+49 30"),
        "{email}"
    );
    let both = tested(
        &home,
        "[redaction]\npersonal = [\"email\", \"phone\"]\n",
        text,
    );
    assert!(
        both.contains("[REDACTED:email]") && both.contains("[REDACTED:phone]"),
        "{both}"
    );
    let card = "card 4556 7375 8689 9855\n";
    assert_eq!(tested(&home, "", card), "card [REDACTED:credit-card]\n");
    let off = "[redaction]\noff = [\"credit-card\"]\n";
    assert_eq!(tested(&home, off, card), card);
}

/// The fingerprints in the markers of a text.
fn fingerprints(text: &str) -> Vec<String> {
    let markers = text.split("[REDACTED:").skip(1);
    let bodies = markers.map(|rest| rest.split(']').next().expect("closed"));
    bodies
        .map(|body| {
            body.split_once('#')
                .map_or(String::new(), |(_, print)| print.to_owned())
        })
        .collect()
}

#[test]
fn fingerprints_tell_the_same_token_from_another() {
    let policy = "[redaction]\nfingerprints = true\n";
    let (home, other) = (with_policy(policy), with_policy(policy));
    let [github, word, ..] = &canaries()[..] else {
        panic!("four");
    };
    let second = github.text.replace("R7m", "K4n");
    let text = format!("- {0}\n- {0}\n- {second}\n- {1}\n", github.text, word.text);
    let prints = fingerprints(&kept(&home, &text));
    let [a, again, b, none] = &prints[..] else {
        panic!("{prints:?}");
    };
    assert!(a == again && a != b, "{prints:?}");
    assert!(none.is_empty(), "a password has no fingerprint");
    let hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    assert!(a.len() == 8 && a.chars().all(hex), "{a}");
    let stored = kept(&home, &text);
    assert_eq!(kept(&home, &stored), stored, "markers stay");
    assert_eq!(
        fingerprints(&kept(&home, &github.text)),
        std::slice::from_ref(a)
    );
    assert_ne!(
        fingerprints(&kept(&other, &github.text)),
        std::slice::from_ref(a)
    );
    let plain = Home::with_store();
    assert_eq!(fingerprints(&kept(&plain, &github.text)), [String::new()]);
}

#[test]
fn a_value_is_allowed_by_its_fingerprint() {
    let home = Home::with_store();
    let word = &canaries()[1];
    let print = |home: &Home| {
        let output = home.run_with_input(&["redact", "fingerprint"], &format!("{}\n", word.value));
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output).trim().to_owned()
    };
    let first = print(&home);
    assert_eq!(first.len(), 16);
    assert!(first.chars().all(|c| c.is_ascii_hexdigit()));
    assert_eq!(print(&home), first);
    assert_ne!(
        print(&Home::with_store()),
        first,
        "another store, another fingerprint"
    );
    let other = home.run_with_input(&["redact", "fingerprint"], "something else");
    assert_ne!(stdout(&other).trim(), first);
    let without = Home::empty().run_with_input(&["redact", "fingerprint"], "x");
    assert_eq!(without.status.code(), Some(10));
}

#[test]
fn an_answer_about_texts_names_places_and_no_values() {
    let home = Home::empty();
    let github = &canaries()[0];
    let text = format!("one\nuse {} here\n", github.text);
    let output = home.run_with_input(&["redact", "test", "--json"], &text);
    let answer = &json_lines(&output.stdout)[0];
    let columns = json!([5, 5 + github.text.len()]);
    let want = json!([{"kind": "github-pat", "line": 2, "columns": columns}]);
    assert_eq!(answer["findings"], want);
    assert_eq!(answer["text"], "one\nuse [REDACTED:github-pat] here\n");
    let human = home.run_with_input(&["redact", "test"], &text);
    assert!(stderr(&human).contains("github-pat: line 2, columns 5 to "));
    let bad = format!(
        "{{\"id\": 1, \"text\": \"{}\"\nnot json {}\n",
        github.text, github.text
    );
    let output = home.run_with_input(&["redact", "test", "--jsonl"], &bad);
    assert_eq!(output.status.code(), Some(1));
    assert!(!stdout(&output).contains(&github.value) && !stderr(&output).contains(&github.value));
}

#[test]
fn every_object_about_redaction_names_its_schema() {
    let home = Home::with_store();
    let rule = "[[rules]]\nid = \"x\"\nregex = '''x{9}'''\n";
    fs::write(home.path().join("g.toml"), rule).expect("a file");
    for (args, schema) in [
        (&["redact", "rules", "--json"][..], "agekeep.redact_rule/2"),
        (&["redact", "test", "--json"], "agekeep.redact_test/1"),
        (
            &["redact", "check", "g.toml", "--json"],
            "agekeep.redact_check/1",
        ),
        (
            &["redact", "fingerprint", "--json"],
            "agekeep.redact_fingerprint/1",
        ),
    ] {
        let output = home.run_with_input(args, "a text");
        let objects = json_lines(&output.stdout);
        assert!(!objects.is_empty(), "{args:?}: {}", stderr(&output));
        assert!(
            objects.iter().all(|object| object["schema"] == schema),
            "{args:?}"
        );
    }
    let plain = stdout(&home.run_with_input(&["redact", "fingerprint"], "a text"));
    let said = home.run_with_input(&["redact", "fingerprint", "--json"], "a text");
    assert_eq!(json_lines(&said.stdout)[0]["fingerprint"], plain.trim_end());
}
