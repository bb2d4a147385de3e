//! Help: the list of verbs, what each verb says of itself, and the topics. Every example in them is run.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::attack::plant::copy;
use crate::security::collect;
use crate::support::terminal::answered;
use crate::support::{Home, has_peer, json_lines, stderr, stdout};

const TOPICS: [&str; 7] = [
    "revisions",
    "paths",
    "policy",
    "environment",
    "exit-codes",
    "recovery",
    "options",
];

const GROUPS: [&str; 8] = [
    "Remember",
    "Look back",
    "Undo",
    "Forget",
    "Share",
    "Prove",
    "Connect",
    "Look after",
];

fn help(home: &Home, args: &[&str]) -> String {
    let output = home.run(args);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    stdout(&output)
}

/// The verbs that `agekeep --help` lists, with the sentence beside each.
fn listed(home: &Home) -> Vec<(String, String)> {
    let all = help(home, &["--help"]);
    let list = all.split_once("\nRemember\n").expect("groups").1;
    let list = list.split_once("\nMore help\n").expect("an end").0;
    let verbs = list.lines().filter_map(|line| line.strip_prefix("  "));
    verbs
        .map(|line| line.split_once(' ').expect("a name and a sentence"))
        .map(|(name, about)| (name.to_owned(), about.trim().to_owned()))
        .collect()
}

/// The names of the verbs that the program's source declares and does not hide.
fn declared() -> BTreeSet<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bin/agekeep/args.rs");
    let source = fs::read_to_string(source).expect("there");
    let body = source.split_once("enum Verb {").expect("verbs").1;
    let body = body.split_once("\n}").expect("an end").0;
    let mut hidden = false;
    let mut names = BTreeSet::new();
    for line in body.lines().map(str::trim) {
        hidden |= line.contains("hide = true") || line.contains("flatten");
        if line.starts_with(|c: char| c.is_ascii_uppercase()) {
            let name: String = line
                .chars()
                .take_while(char::is_ascii_alphanumeric)
                .collect();
            let kebab = name.char_indices().fold(String::new(), |mut out, (at, c)| {
                if c.is_ascii_uppercase() && at > 0 {
                    out.push('-');
                }
                out.push(c.to_ascii_lowercase());
                out
            });
            if !std::mem::take(&mut hidden) {
                names.insert(kebab);
            }
        }
    }
    names
}

#[test]
fn every_verb_is_in_one_group_on_one_line() {
    let home = Home::empty();
    let all = help(&home, &["--help"]);
    for group in GROUPS {
        assert!(all.contains(&format!("\n{group}\n")), "{group}: {all}");
    }
    for line in all.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    let verbs: Vec<_> = listed(&home).into_iter().map(|(name, _)| name).collect();
    let once: BTreeSet<_> = verbs.iter().cloned().collect();
    assert_eq!(once.len(), verbs.len(), "{verbs:?}");
    assert_eq!(once, declared());
    assert!(all.contains("agekeep help VERB") && all.contains("agekeep help TOPIC"));
    for topic in TOPICS {
        assert!(all.contains(topic), "{topic}: {all}");
    }
    let without = home.run(&[]);
    assert_eq!((without.status.code(), stderr(&without)), (Some(2), all));
}

#[test]
fn the_help_of_a_verb_says_what_it_records_and_is_the_same_everywhere() {
    let home = Home::empty();
    for (name, about) in listed(&home) {
        let long = help(&home, &["help", &name]);
        assert_eq!(
            long.strip_suffix(&format!("\n{}", topic_of(&home, &name)))
                .unwrap_or(&long),
            help(&home, &[&name, "--help"]),
            "{name}"
        );
        for text in [&long, &help(&home, &[&name, "-h"])] {
            assert!(text.starts_with(&about), "{name}: {text}");
            assert!(text.contains("\nUsage: agekeep "), "{name}: {text}");
            assert!(text.contains("\nRecords: "), "{name}: {text}");
            assert!(!text.contains("--no-pager"), "{name}: {text}");
            assert!(text.contains("agekeep help options"), "{name}: {text}");
            assert!(examples(text).len() >= 2, "{name} has two examples: {text}");
        }
    }
    let below = help(&home, &["help", "hold", "add"]);
    assert!(below.contains("Usage: agekeep hold add"), "{below}");
    assert!(help(&home, &["help"]).contains("\nLook after\n"));
    let options = help(&home, &["help", "options"]);
    for option in ["--store", "--no-pager", "--now", "--json"] {
        assert!(options.contains(option), "{option}: {options}");
    }
}

/// The topic that is printed below the help of the verb with its name.
fn topic_of(home: &Home, verb: &str) -> String {
    let printed = help(home, &["help", verb]);
    let topic = printed.split_once("\nThe policy: ").map(|(_, text)| text);
    topic.map_or("no topic".into(), |text| format!("The policy: {text}"))
}

/// The commands in a text, each with the exit code it claims; `None` if it serves until it is ended.
fn examples(text: &str) -> Vec<(String, Option<i32>)> {
    let after = text.split("Examples:\n").skip(1);
    let lines = after.flat_map(|text| text.lines().take_while(|line| line.starts_with("  ")));
    lines
        .map(|line| {
            let (command, claim) = line.split_once("  # ").unwrap_or((line, "exits 0"));
            let code = match claim {
                "serves until Ctrl-C" => None,
                claim => {
                    let code = claim.strip_prefix("exits ").map(str::parse);
                    Some(code.expect("a claim").expect("a code"))
                }
            };
            (command.trim().to_owned(), code)
        })
        .collect()
}

/// A home folder with the store and the files that the examples speak of.
fn small_store() -> Home {
    let home = Home::with_store();
    let other = Home::with_store();
    fs::create_dir(home.path().join("notes")).expect("makes");
    for (name, text) in [
        ("notes/a.md", "a note\n"),
        ("limits.toml", "[limits]\nmemories = 500\n"),
        (
            "calls.jsonl",
            "{\"command\":\"view\",\"path\":\"/memories\"}\n",
        ),
    ] {
        fs::write(home.path().join(name), text).expect("writes");
    }
    let key = other.signing_key().with_extension("pub");
    fs::copy(key, home.path().join("ben.pub")).expect("the public key");
    for args in [
        &[
            "create",
            "customers/weber.md",
            "--text",
            "Mrs Weber prefers mornings.\n",
        ][..],
        &[
            "edit",
            "customers/weber.md",
            "--old",
            "mornings",
            "--new",
            "evenings",
        ],
        &["create", "todo.md", "--text", "call back\norder coffee\n"],
        &["create", "old.md", "--text", "old\n"],
        &["delete", "old.md"],
        &["create", "gone.md", "--text", "gone\n"],
        &["erase", "gone.md", "--yes", "--reason", "request 1"],
        &["members", "add", "ana", "--new", "--role", "auditor"],
        &["checkpoint", "--out", "then.note"],
        &["policy", "set", "redaction.mode", "off"],
        &[
            "create",
            "keys.md",
            "--text",
            "postgres://app:S3cur3Pl4n_526@db.internal/app\n",
        ],
        &["policy", "set", "redaction.mode", "redact"],
    ] {
        help(&home, args);
    }
    home
}

/// Runs the examples of a text in order, in a copy of a small store that is their own.
fn run_examples(small: &Home, name: &str, text: &str) {
    let home = Home::empty();
    copy(small.path(), home.path());
    let bin = home.path().join("bin");
    fs::create_dir(&bin).expect("makes");
    symlink(env!("CARGO_BIN_EXE_agekeep"), bin.join("agekeep")).expect("links");
    for (command, code) in examples(text) {
        let script = match code {
            Some(_) => command.clone(),
            None => format!("timeout --signal=INT 2 {command}"),
        };
        let mut shell = Command::new(crate::support::program("sh"));
        for (name, value) in home.command(&[]).get_envs() {
            shell.env(name, value.unwrap_or_default());
        }
        let path = format!("{}:/usr/bin:/bin", home.path().join("bin").display());
        let output = shell
            .args(["-c", &script])
            .env("PATH", path)
            .current_dir(home.path())
            .output()
            .expect("sh runs");
        let (found, said) = (output.status.code(), stderr(&output));
        match code {
            Some(code) => assert_eq!(found, Some(code), "{name}: {command}\n{said}"),
            None => assert!(
                matches!(found, Some(0 | 124)),
                "{name}: {command} serves: {found:?}\n{said}"
            ),
        }
    }
}

#[test]
fn every_example_of_a_verb_ends_as_it_says() {
    let small = small_store();
    let verbs = listed(&small);
    std::thread::scope(|scope| {
        for half in verbs.chunks(verbs.len() / 2 + 1) {
            let small = &small;
            scope.spawn(move || {
                for (name, _) in half {
                    run_examples(small, name, &help(small, &[name, "--help"]));
                }
            });
        }
    });
}

#[test]
fn every_example_of_a_topic_ends_as_it_says() {
    let small = small_store();
    for topic in TOPICS {
        let text = help(&small, &["help", topic]);
        let text = match topic {
            "policy" => &text[text.find("\nThe policy: ").expect("the topic")..],
            _ => &text[..],
        };
        assert!(text.lines().count() <= 40, "{topic} is a screen and a half");
        for line in text.lines().filter(|_| topic != "options") {
            assert!(line.chars().count() <= 80, "{topic}: {line}");
        }
        if topic != "options" {
            assert!(examples(text).len() >= 2, "{topic}");
            run_examples(&small, topic, text);
        }
    }
}

#[test]
fn the_topic_of_the_environment_names_every_variable() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bin/agekeep");
    let mut source = String::new();
    collect(&root, &mut source);
    let topic = help(&Home::empty(), &["help", "environment"]);
    let named: BTreeSet<_> = topic
        .lines()
        .filter_map(|line| line.strip_prefix("  "))
        .filter(|line| !line.contains('='))
        .flat_map(|line| line.split("  ").next().unwrap_or_default().split(", "))
        .collect();
    let environment = fs::read_to_string(root.join("environment.rs")).expect("there");
    // Whatever is written like a variable in the only file that reads the environment.
    let mut read: BTreeSet<&str> = environment
        .split('"')
        .skip(1)
        .step_by(2)
        .filter(|word| word.len() > 3)
        .filter(|word| word.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
        .collect();
    read.extend(
        source
            .split("env = \"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next()),
    );
    let missing: Vec<_> = read.difference(&named).collect();
    assert!(read.len() > 15 && missing.is_empty(), "{missing:?}");
    // Read by the standard library alone.
    let extra: Vec<_> = named.difference(&read).copied().collect();
    assert_eq!(extra, ["TMPDIR"]);
}

#[test]
fn the_topic_of_exit_codes_has_each_one_of_the_page() {
    let topic = help(&Home::empty(), &["help", "exit-codes"]);
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/troubleshooting.md");
    let page = fs::read_to_string(page).expect("there");
    let of_page: Vec<u8> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(' ').next()?.parse().ok())
        .collect();
    let of_topic: Vec<u8> = topic
        .lines()
        .filter_map(|line| {
            line.strip_prefix("  ")?
                .split_whitespace()
                .next()?
                .parse()
                .ok()
        })
        .collect();
    assert!(of_page.len() > 14);
    assert_eq!(of_topic, of_page);
    // Those that errors of the library have.
    let errors = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/error.rs");
    let errors = fs::read_to_string(errors).expect("there");
    let body = errors.split_once("pub fn exit_code").expect("codes").1;
    let body = body.split_once("\n    }\n").expect("an end").0;
    for code in body.split("=> ").skip(1).filter_map(|rest| {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    }) {
        assert!(of_topic.contains(&code), "{code}");
    }
}

#[test]
fn a_mistyped_word_is_told_the_nearest() {
    let home = Home::with_store();
    for (args, word) in [
        (&["serach", "x"][..], "'search'"),
        (&["help", "revison"], "'revisions'"),
        (&["help", "enviroment"], "'environment'"),
        (&["help", "serach"], "'search'"),
        (&["help", "hold", "ad"], "'add'"),
        (&["log", "--sesion", "x"], "'--session'"),
        (
            &["policy", "set", "expiration.unacessed_for", "9d"],
            "expiration.unaccessed_for",
        ),
    ] {
        let output = home.run(args);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(word), "{args:?}: {said}");
        assert_eq!(stdout(&output), "", "{args:?}");
    }
    let output = home.run(&["help", "xyzzy"]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains("topics: revisions paths policy"), "{said}");
    help(&home, &["view", "--actor", "olga", "--session", "s-night"]);
    for (args, word) in [
        (["log", "--actor", "olg"], "olga"),
        (["log", "--session", "s-nihgt"], "s-night"),
    ] {
        let output = home.run(&args);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(4), "{args:?}: {said}");
        assert!(said.contains(&format!("did you mean {word}?")), "{said}");
    }
    for args in [
        &["help", "qqqqqqqq"][..],
        &["help", "--", "--json"],
        &["help", "view", "x", "--", "--"],
    ] {
        let output = home.run(args);
        assert!(matches!(output.status.code(), Some(0 | 2)), "{args:?}");
    }
    let output = home.run(&["help", "revison", "--json"]);
    let error = &json_lines(&output.stderr)[0]["error"];
    assert_eq!(
        (&error["code"], &error["exit"]),
        (&"usage".into(), &2.into())
    );
}

#[test]
fn an_old_name_works_as_it_did_and_a_person_is_told_the_new_one() {
    let home = small_store();
    let same = |old: &[&str], new: &[&str], input: &str| {
        let (old_output, new_output) = (
            home.run_with_input(old, input),
            home.run_with_input(new, input),
        );
        assert!(
            new_output.status.success(),
            "{new:?}: {}",
            stderr(&new_output)
        );
        assert_eq!(
            old_output.status.code(),
            new_output.status.code(),
            "{old:?}"
        );
        assert_eq!(stdout(&old_output), stdout(&new_output), "{old:?}");
        assert_eq!(stderr(&old_output), stderr(&new_output), "{old:?}");
    };
    same(&["grep", "Weber"], &["search", "Weber"], "");
    same(&["read", "todo.md"], &["view", "--raw", "todo.md"], "");
    same(&["read"], &["view", "--raw"], "");
    same(&["recipients", "list"], &["members", "list"], "");
    same(&["redact", "rules"], &["rules", "list"], "");
    same(&["redact", "test"], &["rules", "test"], "ghp_abc\n");
    same(
        &["redact", "fingerprint"],
        &["rules", "fingerprint"],
        "value\n",
    );
    for (args, command) in [
        (
            &["str-replace", "todo.md", "--old", "call", "--new", "write"][..],
            "str_replace",
        ),
        (
            &["edit", "todo.md", "--old", "write", "--new", "call"],
            "str_replace",
        ),
        (&["view", "--raw", "todo.md"], "memory_read"),
        (&["rekey"], "rekey"),
        (&["keys", "replace"], "rekey"),
    ] {
        help(&home, args);
        let newest = json_lines(&home.run(&["log", "-n", "1", "--json"]).stdout);
        assert_eq!(newest[0]["command"], command, "{args:?}");
    }
    let all = help(&home, &["--help"]);
    for old in ["grep", "str-replace", "recipients", "rekey", "  read "] {
        assert!(!all.contains(old), "{old}: {all}");
    }
    let redact = help(&home, &["redact", "--help"]);
    assert!(!redact.contains("fingerprint"), "{redact}");
    if !has_peer("script", "a person is told the new name of a verb") {
        return;
    }
    let agekeep = env!("CARGO_BIN_EXE_agekeep");
    for (line, note) in [
        ("grep Weber", "`grep` is called `search` now"),
        ("redact rules", "`redact rules` is called `rules list` now"),
    ] {
        let line = format!("{agekeep} {line} | cat");
        let (status, shown) = answered(&home.command(&[]), &line, "now", String::new);
        assert_eq!(status, Some(0), "{shown}");
        assert!(shown.contains(note), "{shown}");
    }
}

#[test]
fn tool_shows_a_person_lines_and_what_to_look_at_next() {
    if !has_peer("script", "`tool` on a terminal shows a line a call") {
        return;
    }
    let home = Home::empty();
    let session =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sessions/support-desk.jsonl");
    let calls = fs::read_to_string(&session).expect("there").lines().count();
    let agekeep = env!("CARGO_BIN_EXE_agekeep");
    let run = format!("{agekeep} tool --init {}", session.display());
    let (status, shown) = answered(&home.command(&[]), &run, "JSON lines.", String::new);
    assert_eq!(status, Some(0), "{shown}");
    assert!(
        shown.len() < 5_000 && !shown.contains("\"content\""),
        "{shown}"
    );
    let count = format!("{calls} calls: ");
    for words in [&count[..], "refused ", "ok ", " log", " verify"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    // With --json, and in a pipe, the answers are what they always were.
    let json = format!("{agekeep} --json tool {}", session.display());
    let (status, shown) = answered(&home.command(&[]), &json, "\"content\"", String::new);
    assert_eq!(status, Some(0), "{shown}");
    assert_eq!(
        shown
            .lines()
            .filter(|line| line.starts_with("{\"id\""))
            .count(),
        calls
    );
    let piped = home.run(&["tool", session.to_str().expect("UTF-8")]);
    assert_eq!(json_lines(&piped.stdout).len(), calls);
}
