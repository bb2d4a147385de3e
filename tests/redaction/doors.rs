//! Secrets through every door and path: none is anywhere afterwards.

use std::fs;
use std::path::Path;
use std::process::{Command as Process, Output};

use agekeep::crypto::keyfile;
use agekeep::event::Context;
use agekeep::memory_tool::command::Command;
use agekeep::store::{Keys, Store};
use serde_json::{Value, json};

use crate::redaction::canary::{Canary, Piece, canaries, files, shown, sightings};
use crate::support::{Home, feed, json_lines, stderr, stdout};

pub(crate) fn lines(calls: &[Value]) -> String {
    calls.iter().map(|call| format!("{call}\n")).collect()
}

/// A home whose store has this policy.
pub(crate) fn with_policy(policy: &str) -> Home {
    let home = Home::empty();
    fs::write(home.path().join("policy.toml"), policy).expect("a policy file");
    let made = home.run(&["init", "--policy", "policy.toml"]);
    assert!(made.status.success(), "{}", stderr(&made));
    home
}

pub(crate) fn open(home: &Home) -> Store {
    let keys = Keys {
        identity: keyfile::read_identity(&home.identity()).expect("an identity"),
        signing_key: Some(keyfile::read_signing_key(&home.signing_key()).expect("a key")),
        state: None,
        keyring: None,
    };
    Store::open(&home.store(), keys, Box::new(chrono::Utc::now)).expect("opens")
}

/// Everything a store tells its owner: the events opened, and every text.
pub(crate) fn opened(home: &Home) -> Vec<Piece> {
    let log = home.run(&["log", "--json"]);
    assert!(log.status.success(), "{}", stderr(&log));
    let human = home.run(&["log"]);
    let mut pieces = vec![("log".into(), log.stdout), ("log".into(), human.stdout)];
    let list = home.run(&["read"]);
    pieces.push(("list".into(), list.stdout.clone()));
    let reads: Vec<Value> = stdout(&list)
        .lines()
        .map(|path| json!({"command": "memory_read", "path": path}))
        .collect();
    for answer in home.tool(&lines(&reads)) {
        pieces.push(("text".into(), answer.to_string().into_bytes()));
    }
    pieces
}

/// Nothing of the canaries is in what was said, in the files of the home, or in the store opened.
fn assert_clean(home: &Home, mut pieces: Vec<Piece>) {
    pieces.extend(files(home.path()));
    pieces.extend(opened(home));
    assert_eq!(sightings(&pieces), Vec::<String>::new());
}

/// Calls that write a canary, and calls that fail with one.
fn inputs(canary: &Canary) -> Vec<Value> {
    let Canary {
        name,
        text,
        in_path,
        ..
    } = canary;
    let path = format!("/memories/{name}/a.md");
    let whole = format!("before\n{text}\nbetween\n{text}\nafter\n");
    let named = format!("/memories/{in_path}/x.md");
    let coded = format!("/memories/{}", percent(in_path));
    vec![
        json!({"command": "create", "path": path, "file_text": whole}),
        json!({"command": "create", "path": path, "file_text": whole}),
        json!({"command": "view", "path": path}),
        json!({"command": "insert", "path": path, "insert_line": 1, "insert_text": text}),
        json!({"command": "insert", "path": path, "insert_line": 999, "insert_text": text}),
        json!({"command": "str_replace", "path": path, "old_str": "after", "new_str": text}),
        json!({"command": "str_replace", "path": path, "old_str": text, "new_str": "x"}),
        json!({"command": "str_replace", "path": path, "old_str": format!("no {text} no"), "new_str": text}),
        json!({"command": "str_replace", "path": path, "old_str": "absent", "new_str": text}),
        json!({"command": "str_replace", "path": path, "old_str": format!("{text}\nbetween"), "new_str": format!("{text}!")}),
        json!({"command": "memory_write", "path": format!("{name}/b.md"), "content": whole}),
        json!({"command": "memory_write", "path": in_path, "content": text}),
        json!({"command": "memory_read", "path": in_path}),
        json!({"command": "create", "path": named, "file_text": "plain"}),
        json!({"command": "create", "path": coded, "file_text": "plain"}),
        json!({"command": "view", "path": named}),
        json!({"command": "view", "path": coded}),
        json!({"command": "insert", "path": named, "insert_line": 0, "insert_text": "x"}),
        json!({"command": "str_replace", "path": named, "old_str": "x", "new_str": "y"}),
        json!({"command": "delete", "path": named}),
        json!({"command": "delete", "path": format!("/memories/../{in_path}")}),
        json!({"command": "view", "path": format!("/{in_path}")}),
        json!({"command": "view", "path": format!("{in_path}\u{202e}")}),
        json!({"command": "rename", "old_path": path, "new_path": named}),
        json!({"command": "rename", "old_path": path, "new_path": coded}),
        json!({"command": "rename", "old_path": format!("/memories/{name}"), "new_path": format!("/memories/{in_path}")}),
        json!({"command": "rename", "old_path": named, "new_path": path}),
        json!({"command": "rename", "old_path": named, "new_path": format!("{named}{in_path}")}),
        json!({"command": text}),
        json!({"command": "view", "path": {text: text}}),
        json!({"command": "view", "path": named, "view_range": text}),
        json!({"command": "insert", "path": named, "insert_line": text, "insert_text": text}),
        json!({"command": "create", "path": named}),
        json!({"command": "create", "path": path, "file_text": [text]}),
        json!(text),
        json!({text: text}),
    ]
}

fn percent(text: &str) -> String {
    let code = |b: u8| match b {
        b if b.is_ascii_alphanumeric() => char::from(b).to_string(),
        b => format!("%{b:02X}"),
    };
    text.bytes().map(code).collect()
}

/// The inputs in all three shapes, with the canary in every part of the context.
fn calls(canary: &Canary) -> String {
    let text = &canary.text;
    let context = json!({
        "actor": text, "session": text, "reason": text, "client": text, "tool_use_id": text,
        "trace": text,
    });
    let mut calls = Vec::new();
    for input in inputs(canary) {
        calls.push(json!({"id": text, "input": input, "context": context}));
        if input.get("command").is_some() {
            calls.push(input.clone());
        }
        calls.push(json!({"type": "tool_use", "id": text, "name": "memory", "input": input}));
    }
    let view = json!({"command": "view", "path": "/memories"});
    calls.push(json!({"type": "tool_use", "id": text, "name": text, "input": view}));
    calls.push(json!({"id": text, "input": view, "context": text}));
    calls.push(json!({"id": text, "input": view, "context": {"base_sha256": text}}));
    calls.push(json!({"id": text, "input": view, "context": {"reason": [text]}}));
    let broken = format!("{}\n{{\"{}\n", json!(text), text.replace('\n', " "));
    lines(&calls) + &broken + &text.replace('\n', " ") + "\n"
}

/// What a process said, without the ids that are the caller's own.
fn said(output: &Output) -> Vec<Piece> {
    let mut pieces = vec![("standard error".to_owned(), output.stderr.clone())];
    for mut answer in json_lines(&output.stdout) {
        let fields = answer.as_object_mut().expect("an object");
        fields.remove("id");
        fields.remove("tool_use_id");
        pieces.push(("answer".into(), answer.to_string().into_bytes()));
    }
    pieces
}

#[test]
fn the_tool_lets_no_secret_through() {
    let home = with_policy("[limits]\nrequest_bytes = 4096\n");
    let mut pieces = Vec::new();
    for canary in canaries() {
        let mut command = home.command(&["tool"]);
        command.env("RUST_BACKTRACE", "1");
        let long = json!({"id": canary.text, "input": canary.text.repeat(200)});
        let output = feed(command, format!("{}{long}\n", calls(&canary)).as_bytes());
        assert!(output.status.success(), "{}", stderr(&output));
        let answers = json_lines(&output.stdout);
        assert!(answers.len() > 100);
        assert!(
            answers
                .iter()
                .all(|answer| !answer.to_string().contains("not kept"))
        );
        pieces.extend(said(&output));
    }
    assert_clean(&home, pieces);
}

#[test]
fn the_command_line_lets_no_secret_through() {
    let home = Home::empty();
    let all = canaries();
    let first = &all[0].text;
    let mut pieces = shown(&home.run(&["init", "--reason", first, "--actor", first]));
    for canary in &all[..2] {
        let Canary { name, text, .. } = canary;
        let path = format!("/memories/{name}.md");
        let named = format!("/memories/{text}.md");
        let context = ["--actor", text, "--session", text, "--reason", text];
        for args in [
            &["create", &path, "--text", text][..],
            &["create", &path, "--text", text],
            &["create", &named, "--text", "x"],
            &["write", text, "--text", "x"],
            &["write", name, "--text", text],
            &["read", text],
            &["read", name],
            &["view", &named],
            &["str-replace", &path, "--old", "none", "--new", text],
            &[
                "str-replace",
                &path,
                "--old",
                &format!("{text}?"),
                "--new",
                "x",
            ],
            &[
                "str-replace",
                &path,
                "--old",
                text,
                "--new",
                &format!("{text} {text}"),
            ],
            &["insert", &path, "0", "--text", text],
            &["insert", &path, "99", "--text", text],
            &["rename", &path, &named],
            &["rename", &path, &format!("{path}.moved")],
            &["delete", &named],
        ] {
            let mut command = home.command(&[args, &context[..]].concat());
            command.env("RUST_BACKTRACE", "1");
            pieces.extend(shown(&feed(command, b"")));
        }
        pieces.extend(shown(
            &home.run(&["--json", "view", &named, "--reason", text]),
        ));
        let mut command = home.command(&["write", "stdin.md"]);
        command.env("AGEKEEP_ACTOR", text);
        pieces.extend(shown(&feed(command, text.as_bytes())));
    }
    assert_clean(&home, pieces);
}

/// What asks for something by its path, and finds nothing there.
fn asked_for(path: &str) -> Vec<Vec<String>> {
    let (at, redact) = (format!("HEAD:{path}"), format!("1:{path}"));
    let verbs: &[&[&str]] = &[
        &["show", &at],
        &["restore", path],
        &["restore", path, "--from", "1", "--dry-run"],
        &["blame", path],
        &["diff", "1", "HEAD", path],
        &["view", path, "--at", "1"],
        &["keys", "export", path],
        &["policy", "explain", path],
        &["policy", "expire-at", path, "2100-01-01"],
        &["access", path],
        &["log", path],
        &["grep", "x", path],
        &["scan", path],
        &["export", "out", "--path", path],
        &["hold", "add", path, "--reason", "why"],
        &["erase", path, "--reason", "why", "--yes"],
        &["redact", &redact, "--yes", "--reason", "asked"],
        &["show", path],
        &["log", "--since", path],
        &["policy", "get", path],
        &["policy", "set", path, "1"],
        &["recipients", "rm", path],
        &["signers", "rm", path],
    ];
    let words = |verb: &&[&str]| verb.iter().map(|&word| word.to_owned()).collect();
    verbs.iter().map(words).collect()
}

#[test]
fn an_error_of_the_command_line_repeats_no_secret() {
    let home = Home::with_store();
    let mut pieces = Vec::new();
    for canary in &canaries()[..2] {
        let path = format!("/memories/{}.md", canary.in_path);
        for args in asked_for(&path) {
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let said = home.run(&args);
            if matches!(args[0], "show" | "blame" | "keys") {
                assert!(
                    stderr(&said).contains("[REDACTED:"),
                    "{args:?}: {}",
                    stderr(&said)
                );
            }
            pieces.extend(shown(&said));
            pieces.extend(shown(&home.run(&[&args[..], &["--json"]].concat())));
        }
        // What does not even parse.
        let option = format!("--{}", canary.in_path);
        for args in [
            &[canary.in_path.as_str()][..],
            &[&option],
            &["view", "a.md", &path],
            &["view", "a.md", &option],
            &["log", "--limit", &path],
            &["--color", &path, "status"],
            &["policy", &path],
        ] {
            let said = home.run(args);
            assert_eq!(said.status.code(), Some(2), "{args:?}");
            // Of `--NAME=VALUE` only the name is repeated.
            let stripped = stderr(&said).contains("[REDACTED:");
            assert!(
                stripped || args.contains(&option.as_str()),
                "{args:?}: {}",
                stderr(&said)
            );
            pieces.extend(shown(&said));
            pieces.extend(shown(&home.run(&[&["--json"], args].concat())));
        }
    }
    assert_clean(&home, pieces);
    // All else is shown as it was typed, markers too.
    for path in [
        "/memories/[REDACTED:github-pat].md",
        "/memories/a b/passwords and keys of 2026.md",
        "/memories/3f0c00000000000000000000000000aa.md",
        "/memories/日本 é/token.md",
    ] {
        let said = stderr(&home.run(&["blame", path]));
        assert!(
            said.contains(&format!("nothing was at {path} after")),
            "{said}"
        );
    }
}

#[test]
fn what_stands_in_the_clear_takes_no_secret() {
    let home = Home::with_store();
    let before = home.git(&["rev-parse", "main"]).stdout;
    let token = &canaries()[0].text;
    let (glob, list) = (
        format!("/memories/{token}/**"),
        format!("[\"/memories/{token}/**\"]"),
    );
    let rules = format!("[{{ path = \"{glob}\", unaccessed_for = \"14d\" }}]");
    let paths = format!("[{{ glob = \"{glob}\", mode = \"off\" }}]");
    let allow = format!("[{{ regex = \"a{{9}}\", reason = \"not {token}\" }}]");
    fs::write(
        home.path().join("policy.toml"),
        format!("[expiration]\nkeep = {list}\n"),
    )
    .expect("a policy file");
    let key = String::from_utf8(
        Process::new("ssh-keygen")
            .args(["-y", "-f"])
            .arg(home.signing_key())
            .output()
            .expect("ssh-keygen runs")
            .stdout,
    )
    .expect("UTF-8");
    fs::write(home.path().join("key.pub"), key).expect("a public key");
    let made = home.path().join("made");
    let made = made.to_str().expect("UTF-8");
    let mut pieces = Vec::new();
    for args in [
        &["policy", "set", "expiration.keep", &list][..],
        &["policy", "set", "expiration.rules", &rules],
        &["policy", "set", "redaction.paths", &paths],
        &["policy", "set", "redaction.allow", &allow],
        &["policy", "set", "keyring.folder", &format!("/srv/{token}")],
        &["policy", "set", "--policy", "policy.toml"],
        &["init", "--store", made, "--policy", "policy.toml"],
        &["recipients", "add", token, "--new"],
        &["signers", "add", token, "key.pub"],
        &["hold", "add", &glob, "--reason", "why"],
    ] {
        let output = home.run(args);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains("looks like a secret: "), "{args:?}: {said}");
        pieces.extend(shown(&output));
    }
    assert_eq!(
        home.git(&["rev-parse", "main"]).stdout,
        before,
        "nothing is recorded"
    );
    assert!(!Path::new(made).exists());
    fs::remove_file(home.path().join("policy.toml")).expect("the file of the one who typed it");
    assert_clean(&home, pieces);
}

/// What describes secrets looks like them, and an address is a name.
#[test]
fn what_a_rule_is_tried_with_is_taken() {
    let home = Home::with_store();
    let token = &canaries()[0].text;
    let rule = format!(
        "[redaction]\npersonal = [\"email\"]\n[[redaction.allow]]\nregex = \"{token}\"\nreason = \"revoked\"\n\
         [[redaction.rules]]\nkind = \"own-kind\"\nshape = \"own_[a-z]{{4}}\"\nliterals = [\"own_\"]\n\
         found = [\"own_abcd {token}\"]\n"
    );
    fs::write(home.path().join("policy.toml"), rule).expect("a policy file");
    for args in [
        &["policy", "set", "--policy", "policy.toml"][..],
        &["policy", "set", "limits.lines", "5"],
        &["recipients", "add", "ana@example.org", "--new"],
    ] {
        let output = home.run(args);
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    }
}

fn context(text: &str) -> Context {
    let mut context = Context::default();
    context.actor = Some(text.to_owned());
    context.session = Some(text.to_owned());
    context.tool_use_id = Some(text.to_owned());
    context.client = Some(text.to_owned());
    context.trace = Some(text.to_owned());
    context.reason = Some(text.to_owned());
    context
}

#[test]
fn the_library_lets_no_secret_through() {
    let home = Home::with_store();
    let mut pieces = Vec::new();
    let mut store = open(&home);
    for canary in canaries() {
        for input in inputs(&canary) {
            let command = Command::from_json(input);
            let context = context(&canary.text);
            let answer = store.execute(&command, &context).expect("recorded");
            let debug = format!("{answer:?} {command:?} {context:?}");
            pieces.push(("debug".to_owned(), debug.into_bytes()));
            pieces.push(("answer".into(), answer.content.as_str().into()));
        }
    }
    for event in store.log() {
        pieces.push((
            "event".into(),
            format!("{:?}", event.expect("an event")).into(),
        ));
    }
    assert_clean(&home, pieces);
}

#[test]
fn a_path_whose_slashes_were_dropped_keeps_no_secret() {
    let home = Home::with_store();
    let uri = canaries().remove(2);
    let path = format!("/memories/{}/x.md", uri.text);
    let calls = [
        json!({"command": "create", "path": "/memories/a.md", "file_text": "x"}),
        json!({"command": "create", "path": path, "file_text": "x"}),
        json!({"command": "create", "path": path}),
        json!({"command": "view", "path": path}),
        json!({"command": "memory_read", "path": path}),
        json!({"command": "delete", "path": path}),
        json!({"command": "rename", "old_path": "/memories/a.md", "new_path": path}),
    ];
    let output = home.run_with_input(&["tool"], &lines(&calls));
    assert_clean(&home, said(&output));
}

#[test]
fn a_path_cut_short_keeps_no_part_of_a_secret() {
    let home = Home::with_store();
    let canary = &canaries()[0];
    let mut calls = Vec::new();
    for length in [256, 512, 1_000, 1_024, 2_000, 2_048, 4_096] {
        for cut in [20, 30, 39] {
            let before = "/memories/".to_owned() + &"a b/".repeat(length / 4 + 1);
            let path = format!("{}/{}", &before[..length - cut - 1], canary.text);
            calls.push(json!({"command": "view", "path": path}));
            let outside = format!("{}/{}", &before[1..length - cut], canary.text);
            calls.push(json!({"command": "view", "path": outside}));
        }
    }
    let output = home.run_with_input(&["tool"], &lines(&calls));
    let mut pieces = said(&output);
    pieces.extend(opened(&home));
    let starts: Vec<&str> = [16, 24, 35].iter().map(|n| &canary.text[..*n]).collect();
    let mut found = Vec::new();
    for (name, bytes) in &pieces {
        let text = String::from_utf8_lossy(bytes);
        let left = starts.iter().rev().find(|start| text.contains(**start));
        found.extend(left.map(|start| format!("{name}: {} characters", start.len())));
    }
    assert_eq!(found, Vec::<String>::new());
}

// ---- a store that fails ----

/// Runs `tool` with the store's folder made unfit by a shell command, in a namespace of its own:
/// what it says, and then every file. `None` where that is not possible.
fn in_a_namespace(home: &Home, prepare: &str, input: &str) -> Option<Output> {
    let script = format!(
        "{prepare} && shift && {{ \"$@\"; find \"$AGEKEEP_STORE\" -type f -exec cat {{}} + >&2; }}"
    );
    let run = |program: &[&str], input: &str| {
        let mut process = Process::new("unshare");
        process
            .args(["-rm", "sh", "-c", &script, "sh"])
            .arg(home.store())
            .args(program);
        process.env("AGEKEEP_STORE", home.store());
        process.env("XDG_CONFIG_HOME", home.path().join("config"));
        process.env("HOME", home.path()).env("RUST_BACKTRACE", "1");
        feed(process, input.as_bytes())
    };
    let probe = run(&["echo", "ready"], "");
    if !stdout(&probe).contains("ready") {
        eprintln!(
            "\n*** NOT TESTED: no namespace here: {prepare}: {} ***\n",
            stderr(&probe)
        );
        return None;
    }
    Some(run(&[env!("CARGO_BIN_EXE_agekeep"), "tool"], input))
}

const READ_ONLY: &str = "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\"";
const FULL: &str = "cp -a \"$1\" \"$1.copy\" && mount -t tmpfs -o size=1m agekeep-test \"$1\" \
    && cp -a \"$1.copy/.\" \"$1\" && rm -r \"$1.copy\" \
    && { dd if=/dev/zero of=\"$1/ballast\" bs=512 2>/dev/null; true; }";

#[test]
fn a_store_that_cannot_be_written_keeps_no_secret() {
    for prepare in [READ_ONLY, FULL] {
        let home = Home::with_store();
        for canary in &canaries()[..2] {
            let Some(output) = in_a_namespace(&home, prepare, &calls(canary)) else {
                return;
            };
            let answers = json_lines(&output.stdout);
            let failed = answers
                .iter()
                .filter(|a| a["meta"]["error"] == "io")
                .count();
            let tried = stdout(&output).contains("cannot") || stderr(&output).contains("error");
            assert!(failed > 0 || tried, "{}", stderr(&output));
            assert_eq!(sightings(&said(&output)), Vec::<String>::new());
        }
        // What was done to the copy in the namespace was seen, and is gone with it.
        drop(fs::remove_dir_all(home.state()));
        assert_clean(&home, Vec::new());
    }
}

#[test]
fn a_damaged_store_repeats_no_secret() {
    for damage in ["keyring", "objects"] {
        let home = Home::with_store();
        let create =
            json!({"command": "create", "path": "/memories/github/a.md", "file_text": "x"});
        home.tool(&lines(&[create]));
        spoil(&home.store().join(damage));
        let mut pieces = Vec::new();
        for canary in &canaries()[..2] {
            let output = home.run_with_input(&["tool"], &calls(canary));
            pieces.extend(said(&output));
            let verbs = home.run(&["create", "/memories/github/a.md", "--text", &canary.text]);
            pieces.extend(shown(&verbs));
        }
        pieces.extend(files(home.path()));
        assert_eq!(sightings(&pieces), Vec::<String>::new());
    }
}

/// Empties every file below a folder.
fn spoil(folder: &Path) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            spoil(&path);
            continue;
        }
        fs::remove_file(&path).expect("removed");
        fs::write(&path, b"").expect("emptied");
    }
}
