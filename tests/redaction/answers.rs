//! What callers are told about what was stripped, and what the policy's modes do with a text.

use serde_json::{Value, json};

use crate::redaction::canary::{canaries, files, sightings};
use crate::redaction::doors::{lines, opened, with_policy};
use crate::support::{Home, json_lines, stderr, stdout};

fn one(home: &Home, call: &Value) -> Value {
    home.tool(&lines(std::slice::from_ref(call))).remove(0)
}

fn content(answer: &Value) -> Vec<&str> {
    let text = answer["content"].as_str().expect("a text");
    text.lines().collect()
}

fn read(home: &Home, path: &str) -> String {
    let answer = one(home, &json!({"command": "memory_read", "path": path}));
    assert_eq!(answer["is_error"], false, "{answer}");
    answer["content"].as_str().expect("a text").to_owned()
}

fn create(path: &str, text: &str) -> Value {
    json!({"command": "create", "path": path, "file_text": text})
}

fn newest(home: &Home) -> Value {
    let log = home.run(&["log", "--json", "-n", "1"]);
    assert!(log.status.success(), "{}", stderr(&log));
    json_lines(&log.stdout).remove(0)
}

const EDITED: &str =
    "The memory file has been edited. Here is the snippet showing the change (with line numbers):";

#[test]
fn an_answer_says_what_was_stripped_after_its_first_line() {
    let home = Home::with_store();
    for canary in canaries() {
        let (name, text, kind) = (canary.name, &canary.text, canary.kind);
        let path = format!("/memories/{name}.md");
        let other = format!("/memories/{name}-2.md");
        for (call, first) in [
            (
                create(&path, &format!("one\n{text}\nlast\n")),
                format!("File created successfully at: {path}"),
            ),
            (
                json!({"command": "memory_write", "path": format!("{name}-2.md"), "content": text}),
                format!("Written to {name}-2.md"),
            ),
            (
                json!({"command": "insert", "path": path, "insert_line": 3, "insert_text": text}),
                format!("The file {path} has been edited."),
            ),
            (
                json!({"command": "str_replace", "path": path, "old_str": "last", "new_str": text}),
                EDITED.to_owned(),
            ),
        ] {
            let answer = one(&home, &call);
            let redactions = answer["meta"]["redactions"].as_array().expect("a list");
            assert_eq!(redactions.len(), 1, "{answer}");
            let named = redactions[0]["kind"].as_str().expect("a kind");
            assert!(named.ends_with(kind), "{answer}");
            let note = format!(
                "1 secret value was removed and not stored ({named}); markers stand in the text. \
                 Do not write them again."
            );
            assert_eq!(content(&answer)[..2], [first, note], "{answer}");
            assert!(redactions[0]["line"].is_u64(), "{answer}");
            let event = newest(&home);
            assert_eq!(event["redactions"], answer["meta"]["redactions"]);
            assert!(event["rules"].is_u64(), "{event}");
        }
        assert!(read(&home, &other).contains(&format!("{kind}]")));
    }
    let plain = one(&home, &create("/memories/plain.md", "nothing\n"));
    assert_eq!(content(&plain).len(), 1);
    assert!(plain["meta"].get("redactions").is_none());
    assert_eq!(newest(&home)["redactions"], json!([]));
}

#[test]
fn several_values_are_counted_and_each_kind_is_named_once() {
    let home = Home::with_store();
    let [github, word, uri, _] = &canaries()[..] else {
        panic!("four");
    };
    let again = github.text.replace("R7m", "K4n");
    let text = format!(
        "- {}\n- {again}\n- db_password: {}\n- {}\n",
        github.text, word.value, uri.text
    );
    let answer = one(&home, &create("/memories/a.md", &text));
    let note = "4 secret values were removed and not stored (github-pat, password, uri-userinfo); \
                markers stand in the text. Do not write them again.";
    assert_eq!(content(&answer)[1], note);
    let lines = answer["meta"]["redactions"].as_array().expect("a list");
    let lines: Vec<&Value> = lines.iter().map(|found| &found["line"]).collect();
    assert_eq!(lines, [1, 2, 3, 4]);
    let kept = "- [REDACTED:github-pat]\n- [REDACTED:github-pat]\n- db_password: [REDACTED:password]\n\
                - postgres://dev:[REDACTED:uri-userinfo]@db.internal/app\n";
    assert_eq!(read(&home, "a.md"), kept);
}

#[test]
fn an_edit_by_the_text_as_it_was_written_still_works() {
    let home = Home::with_store();
    for canary in canaries() {
        let (name, text) = (canary.name, &canary.text);
        let path = format!("/memories/{name}.md");
        one(
            &home,
            &create(&path, &format!("one\nuse {text} here\nlast\n")),
        );
        let old = format!("use {text} here");
        let edit =
            json!({"command": "str_replace", "path": path, "old_str": old, "new_str": "gone"});
        let answer = one(&home, &edit);
        assert_eq!(answer["is_error"], false, "{answer}");
        assert_eq!(read(&home, &format!("{name}.md")), "one\ngone\nlast\n");
        let again = one(&home, &edit);
        assert_eq!(again["is_error"], true);
        let said = again["content"].as_str().expect("a text");
        assert!(
            said.starts_with("No replacement was performed, old_str `use "),
            "{said}"
        );
        assert!(
            !said.contains(&canary.value) && said.contains("[REDACTED:"),
            "{said}"
        );
        one(
            &home,
            &create(&format!("{path}.2"), &format!("{text}\n\n{text}\n")),
        );
        let twice = json!({"command": "str_replace", "path": format!("{path}.2"), "old_str": text, "new_str": "x"});
        let answer = one(&home, &twice);
        let said = answer["content"].as_str().expect("a text");
        assert!(
            said.starts_with("No replacement was performed. Multiple occurrences"),
            "{said}"
        );
        assert!(
            !said.contains(&canary.value) && said.contains("in lines: 1, "),
            "{said}"
        );
    }
}

#[test]
fn a_secret_put_together_by_edits_is_stripped() {
    let home = Home::with_store();
    let canary = &canaries()[0];
    let (start, end) = canary.text.split_at(20);
    one(
        &home,
        &create("/memories/a.md", &format!("x {start}@@ y\n")),
    );
    let edit = json!({"command": "str_replace", "path": "/memories/a.md", "old_str": "@@", "new_str": end});
    let answer = one(&home, &edit);
    assert!(content(&answer)[1].contains("(github-pat)"), "{answer}");
    assert_eq!(read(&home, "a.md"), "x [REDACTED:github-pat] y\n");
}

#[test]
fn no_path_with_a_secret_is_made() {
    let home = Home::with_store();
    one(&home, &create("/memories/d/a.md", "text\n"));
    for canary in &canaries()[..3] {
        let to = format!("/memories/{}/b.md", canary.text);
        for call in [
            json!({"command": "rename", "old_path": "/memories/d/a.md", "new_path": to}),
            json!({"command": "rename", "old_path": "/memories/d", "new_path": to}),
            create(&to, "x"),
            json!({"command": "memory_write", "path": to, "content": "x"}),
        ] {
            let answer = one(&home, &call);
            assert_eq!(answer["is_error"], true, "{answer}");
            assert_eq!(answer["meta"]["error"], "secret", "{answer}");
            assert_eq!(answer["meta"]["outcome"], "denied", "{answer}");
            assert!(!answer.to_string().contains(&canary.value), "{answer}");
        }
    }
    assert_eq!(read(&home, "d/a.md"), "text\n");
    assert_eq!(stdout(&home.run(&["read"])).trim(), "d/a.md");
    let refused = home.run(&[
        "rename",
        "/memories/d/a.md",
        &format!("/memories/{}", canaries()[0].text),
    ]);
    assert_eq!(refused.status.code(), Some(7));
}

#[test]
fn where_the_policy_rejects_everything_stays_as_it_was() {
    let home = with_policy("[redaction]\nmode = \"reject\"\n");
    one(&home, &create("/memories/a.md", "one\ntwo\n"));
    for canary in canaries() {
        let text = &canary.text;
        for call in [
            create("/memories/b.md", text),
            json!({"command": "memory_write", "path": "a.md", "content": text}),
            json!({"command": "insert", "path": "/memories/a.md", "insert_line": 0, "insert_text": text}),
            json!({"command": "str_replace", "path": "/memories/a.md", "old_str": "two", "new_str": text}),
        ] {
            let answer = one(&home, &call);
            assert_eq!(answer["meta"]["error"], "secret", "{answer}");
            let said = answer["content"].as_str().expect("a text");
            assert!(
                said.starts_with("Error: ") && said.contains(canary.kind),
                "{said}"
            );
            assert_eq!(read(&home, "a.md"), "one\ntwo\n");
        }
    }
    assert_eq!(stdout(&home.run(&["read"])).trim(), "a.md");
    let mut pieces = files(home.path());
    pieces.extend(opened(&home));
    assert_eq!(sightings(&pieces), Vec::<String>::new());
}

#[test]
fn where_a_glob_turns_it_off_texts_stay_until_they_move_away() {
    let home = with_policy(
        "[redaction]\n[[redaction.paths]]\nglob = \"/memories/vault/**\"\nmode = \"off\"\n\
         [[redaction.paths]]\nglob = \"/memories/strict/*\"\nmode = \"reject\"\n",
    );
    for canary in canaries() {
        let text = format!("x\n{}\ny\n", canary.text);
        let path = format!("/memories/vault/{}.md", canary.name);
        let made = one(&home, &create(&path, &text));
        assert_eq!(
            (content(&made).len(), &made["is_error"]),
            (1, &json!(false))
        );
        assert_eq!(read(&home, &path), text);
        let strict = format!("/memories/strict/{}.md", canary.name);
        let refused = one(
            &home,
            &json!({"command": "rename", "old_path": path, "new_path": strict}),
        );
        assert_eq!(refused["meta"]["error"], "secret", "{refused}");
        assert_eq!(read(&home, &path), text);
        let open = format!("/memories/open/{}.md", canary.name);
        let moved = one(
            &home,
            &json!({"command": "rename", "old_path": path, "new_path": open}),
        );
        assert_eq!(
            content(&moved)[0],
            format!("Successfully renamed {path} to {open}")
        );
        assert!(content(&moved)[1].contains(canary.kind), "{moved}");
        assert!(!read(&home, &open).contains(&canary.value));
        let outside = one(
            &home,
            &create(&format!("/memories/{}.md", canary.name), &text),
        );
        assert!(content(&outside)[1].contains(canary.kind));
    }
}

#[test]
fn a_moved_directory_is_redacted_and_the_answer_says_so() {
    let home = with_policy("[[redaction.paths]]\nglob = \"/memories/vault/**\"\nmode = \"off\"\n");
    let text = format!("{}\n", canaries()[0].text);
    one(&home, &create("/memories/vault/in/a.md", &text));
    let call =
        json!({"command": "rename", "old_path": "/memories/vault/in", "new_path": "/memories/out"});
    let moved = one(&home, &call);
    assert_eq!(moved["is_error"], false, "{moved}");
    assert_eq!(
        moved["meta"]["redactions"][0]["kind"], "github-pat",
        "{moved}"
    );
    assert_eq!(newest(&home)["redactions"], moved["meta"]["redactions"]);
    assert_eq!(read(&home, "out/a.md"), "[REDACTED:github-pat]\n");
    let said = content(&moved);
    assert!(said.len() == 2 && said[1].contains("github-pat"), "{moved}");
}

#[test]
fn tokens_on_lines_of_their_own_keep_their_lines() {
    let home = Home::with_store();
    let github = &canaries()[0].text;
    let text = format!("{github}\n{}\n", github.replace("R7m", "K4n"));
    one(&home, &create("/memories/a.md", &text));
    assert_eq!(
        read(&home, "a.md"),
        "[REDACTED:github-pat]\n[REDACTED:github-pat]\n"
    );
}

#[test]
fn what_a_caller_says_of_itself_is_recorded_without_its_secrets() {
    let home = Home::with_store();
    let canary = &canaries()[0];
    let context =
        json!({"actor": canary.text, "session": "s", "reason": format!("for {}", canary.text)});
    let call =
        json!({"id": 1, "input": {"command": "view", "path": "/memories"}, "context": context});
    let answer = one(&home, &call);
    let event = newest(&home);
    assert_eq!(event["actor"], "[REDACTED:github-pat]");
    assert_eq!(event["reason"], "for [REDACTED:github-pat]");
    assert_eq!(event["session"], "s");
    let places: Vec<&Value> = event["redactions"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|found| &found["in"])
        .collect();
    assert_eq!(places, ["actor", "reason"]);
    assert_eq!(answer["meta"]["redactions"], event["redactions"]);
}
