//! The command line as a person uses it: stories through the binary, with nothing of this machine.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::support::{Home, complaints, feed, git, json_lines, stderr, stdout};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const MISSING: &str = "does not exist";

fn code(output: &Output) -> i32 {
    output.status.code().expect("no signal")
}

#[track_caller]
fn assert_ok(output: &Output) {
    assert_eq!(code(output), 0, "{}", stderr(output));
    assert_eq!(complaints(output), "");
}

/// A command that the memory tool refuses: these words exactly, on standard error only.
#[track_caller]
fn assert_refused(output: &Output, exit: i32, words: &str) {
    let mark = if words.starts_with("Error: ") {
        ""
    } else {
        "error: "
    };
    let said = stderr(output);
    let refusal = said.strip_suffix('\n').unwrap_or(&said);
    let refusal = refusal.split("\nhint: ").next();
    assert_eq!(refusal, Some(format!("{mark}{words}").as_str()));
    // Two refusals say themselves what to do: of arguments, and of the store.
    assert!(
        said.contains("\nhint: ") || [2, 13].contains(&exit),
        "{said}"
    );
    assert_eq!(stdout(output), "");
    assert_eq!(code(output), exit);
}

/// A failure of the store, the keys or the arguments: what happened, and what to do.
#[track_caller]
fn assert_failed(output: &Output, exit: i32, words: &str) {
    let text = stderr(output);
    assert_eq!(code(output), exit, "{text}");
    assert!(
        text.starts_with("error: ") && text.contains("\nhint: "),
        "{text}"
    );
    assert!(text.contains(words), "{text}");
    assert_eq!(stdout(output), "");
}

fn with_memory(text: &str) -> Home {
    let home = Home::with_store();
    assert_ok(&home.run_with_input(&["create", "/memories/f"], text));
    home
}

fn with_policy(policy: &str) -> Home {
    let home = Home::empty();
    assert_ok(&init_with(&home, policy));
    home
}

fn init_with(home: &Home, policy: &str) -> Output {
    fs::write(home.path().join("policy.toml"), policy).expect("a policy file");
    home.run(&["init", "--policy", "policy.toml"])
}

fn text_of(home: &Home, path: &str) -> String {
    let output = home.run(&["read", path]);
    assert_ok(&output);
    stdout(&output)
}

fn log(home: &Home, args: &[&str]) -> Vec<Value> {
    let output = home.run(&[&["log", "--json"], args].concat());
    let events = json_lines(&output.stdout);
    // A path, an actor or a session of which there is nothing is not found.
    let names = |arg: &&str| arg.starts_with('/') || ["--actor", "--session"].contains(arg);
    if events.is_empty() && args.iter().any(names) {
        assert_eq!(output.status.code(), Some(4), "{args:?}");
        assert_eq!(complaints(&output), "no events\n", "{args:?}");
    } else {
        assert_ok(&output);
    }
    events
}

fn numbers(events: &[Value]) -> Vec<u64> {
    let number = |event: &Value| event["event"].as_u64().expect("a number");
    events.iter().map(number).collect()
}

fn head(home: &Home) -> String {
    stdout(&home.git(&["rev-parse", "main"]))
}

fn mode(path: &Path) -> u32 {
    let meta = fs::metadata(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    meta.permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("mode set");
}

fn sha256(text: &str) -> String {
    use std::fmt::Write as _;
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

// init

#[test]
fn init_prints_the_recipient_and_makes_keys_for_their_owner_only() {
    let home = Home::empty();
    let output = home.run(&["init"]);
    assert_ok(&output);
    let text = stdout(&output);
    let recipient = text
        .split_whitespace()
        .find(|word| word.starts_with("age1"));
    let identity = fs::read_to_string(home.identity()).expect("an identity");
    assert!(identity.contains(recipient.expect("a recipient")), "{text}");
    assert!(!text.contains("AGE-SECRET-KEY"), "{text}");
    assert!(
        text.contains("(new)") && text.contains("Back these up"),
        "{text}"
    );
    assert_eq!(mode(&home.identity()), 0o600);
    assert_eq!(mode(&home.signing_key()), 0o600);
    assert_eq!(mode(&home.store()), 0o700);
    assert_eq!(mode(&home.store().join("keyring")), 0o700);
}

#[test]
fn init_as_json_is_one_object() {
    let home = Home::empty();
    let output = home.run(&["init", "--json"]);
    assert_ok(&output);
    let lines = json_lines(&output.stdout);
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["schema"], "agekeep.init/1");
    assert_eq!(lines[0]["new_identity"], true);
    assert!(
        lines[0]["recipient"]
            .as_str()
            .expect("a text")
            .starts_with("age1")
    );
}

#[test]
fn a_second_init_refuses_and_changes_nothing() {
    let home = with_memory("one");
    let (before, key) = (head(&home), fs::read(home.identity()).expect("a key"));
    assert_failed(&home.run(&["init"]), 5, "there is already a store at");
    assert_eq!(head(&home), before);
    assert_eq!(fs::read(home.identity()).expect("a key"), key);
    assert_eq!(text_of(&home, "f"), "one");
}

#[test]
fn init_refuses_a_folder_that_holds_something_else() {
    let home = Home::empty();
    fs::create_dir(home.store()).expect("a folder");
    fs::write(home.store().join("diary.txt"), "mine").expect("a file");
    assert_failed(&home.run(&["init"]), 5, "is not empty and is not a store");
    assert_eq!(fs::read_dir(home.store()).expect("a folder").count(), 1);
    assert_eq!(
        fs::read_dir(home.path()).expect("a folder").count(),
        1,
        "no keys either"
    );
}

#[test]
fn init_does_not_take_another_repository_for_a_store() {
    let home = Home::with_store();
    let other = home.path().join("other.git");
    let made = git(&other, &["init", "--bare", "--quiet"]);
    assert!(made.status.success(), "{}", stderr(&made));
    let there = |verb: &str| home.run(&["-C", "other.git", verb]);
    set_mode(&other, 0o755);
    assert_failed(&there("status"), 10, "no store at");
    assert_eq!(mode(&other), 0o755, "what is no store is left alone");
    assert_failed(&there("init"), 5, "is not empty and is not a store");
}

#[test]
fn init_takes_an_empty_folder_and_keys_that_are_there() {
    let (home, other) = (Home::empty(), Home::with_store());
    fs::create_dir(home.store()).expect("a folder");
    let mut init = home.command(&["init", "--json", "--identity"]);
    init.arg(other.identity());
    let output = feed(init, b"");
    assert_ok(&output);
    let made = &json_lines(&output.stdout)[0];
    assert_eq!(made["new_identity"], false);
    assert_eq!(made["new_signing_key"], true);
    assert!(!home.identity().exists());
}

#[test]
fn init_refuses_a_key_file_that_holds_no_key() {
    for (bytes, words) in [
        (&b"no key"[..], "identity"),
        (b"", "identity"),
        (b"\xff\xfe", "text"),
    ] {
        let home = Home::empty();
        fs::create_dir_all(home.identity().parent().expect("a folder")).expect("a folder");
        fs::write(home.identity(), bytes).expect("a file");
        set_mode(&home.identity(), 0o600);
        assert_failed(&home.run(&["init"]), 12, words);
        assert!(!home.store().exists());
        assert_eq!(fs::read(home.identity()).expect("kept"), bytes);
    }
}

#[test]
fn an_invalid_policy_names_its_line_and_nothing_is_made() {
    for (policy, line) in [
        ("[limits]\nmemory_byte = 3\n", "line 2"),
        ("[limits]\n\nlines = \"many\"\n", "line 3"),
        ("[limits]\nlines = -1\n", "line 2"),
        ("[limits]\nlines = 1.5\n", "line 2"),
        ("\n\n[limit]\n", "line 3"),
        ("[limits\n", "line 1"),
        ("[tool]\ncreate_overwrites = 1\n", "line 2"),
        ("format = 1\n", "line 1"),
    ] {
        let home = Home::empty();
        assert_failed(&init_with(&home, policy), 2, line);
        assert_eq!(fs::read_dir(home.path()).expect("a folder").count(), 1);
    }
}

#[test]
fn a_policy_value_out_of_bounds_names_its_line() {
    for (policy, line) in [
        ("[limits]\nmemory_bytes = 0\n", "line 2"),
        ("[limits]\n# few\nlines = 1000000\n", "line 3"),
        ("[limits]\nview_characters = 0\npath_bytes = 8\n", "line 3"),
        ("[limits]\nrequest_bytes = 1\n", "line 2"),
    ] {
        let output = init_with(&Home::empty(), policy);
        assert_failed(&output, 2, "is outside");
        assert_failed(&output, 2, line);
    }
}

#[test]
fn a_policy_file_that_is_missing_is_named() {
    let home = Home::empty();
    let output = home.run(&["init", "--policy", "none.toml"]);
    assert_failed(&output, 16, "none.toml");
    assert!(!home.store().exists());
}

// status

#[test]
fn status_says_what_is_in_the_store_and_who_can_open_it() {
    let home = with_memory("héllo");
    assert_ok(&home.run(&["write", "f", "--text", "one"]));
    assert_ok(&home.run(&["create", "/memories/g", "--text", "two!"]));
    let output = home.run(&["status"]);
    assert_ok(&output);
    let text = stdout(&output);
    let has = |words: &str| assert!(text.contains(words), "{words}: {text}");
    has(&home.store().display().to_string());
    has(head(&home).trim());
    has("2 (7 bytes of text), 3 versions in history");
    has("events      4,");
    has("reader      owner age1");
    has("signer      owner ");
    has("problems    none found");
}

#[test]
fn status_as_json_is_one_object_and_leaves_no_trace() {
    let home = with_memory("one");
    let before = head(&home);
    let output = home.run(&["--json", "status"]);
    assert_ok(&output);
    let lines = json_lines(&output.stdout);
    assert_eq!(lines.len(), 1);
    let status = &lines[0];
    assert_eq!(status["schema"], "agekeep.status/1");
    assert_eq!(status["head"], before.trim());
    for (name, want) in [
        ("memories", 1),
        ("versions", 1),
        ("events", 2),
        ("text_bytes", 3),
    ] {
        assert_eq!(status[name], want, "{name}");
    }
    assert_eq!(status["problems"], json!([]));
    assert_eq!(status["recipients"][0]["role"], "reader");
    assert_eq!(head(&home), before);
}

#[test]
fn keys_that_others_can_use_are_refused() {
    for bits in [0o640, 0o604, 0o620, 0o601] {
        let home = Home::with_store();
        for path in [home.identity(), home.signing_key()] {
            set_mode(&path, bits);
            let output = home.run(&["view"]);
            assert_eq!(code(&output), 12, "{bits:o}");
            assert_eq!(stdout(&output), "");
            let said = stderr(&output);
            assert!(
                said.starts_with("error: other accounts can access the "),
                "{said}"
            );
            let fix = format!("hint: run `chmod go= {}`", path.display());
            assert!(said.contains(&fix), "{said}");
            set_mode(&path, 0o600);
            assert_ok(&home.run(&["view"]));
        }
    }
}

#[test]
fn a_store_that_others_can_use_is_closed_and_said_so_once() {
    for (name, opened) in [
        ("", 0o750),
        ("keyring", 0o701),
        ("keyring/ring", 0o640),
        ("keyring/epoch.age", 0o602),
    ] {
        let home = Home::with_store();
        let path = home.store().join(name);
        let before = mode(&path);
        set_mode(&path, opened);
        let output = home.run(&["status"]);
        assert_eq!(code(&output), 0, "{name}");
        let path_text = path.display().to_string();
        let path_text = path_text.trim_end_matches('/');
        let said = stderr(&output);
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(
            said.starts_with("warning: other accounts could access "),
            "{said}"
        );
        assert!(said.contains(path_text), "{said}");
        assert!(!stdout(&output).contains("other accounts"), "{name}");
        assert_eq!(mode(&path), before, "{name}");
        let output = home.run(&["status"]);
        assert_eq!(stderr(&output), "", "{name}");
    }
}

#[test]
fn a_link_in_the_keyring_closes_nothing_elsewhere() {
    let home = Home::with_store();
    let target = home.path().join("elsewhere");
    fs::write(&target, "").expect("written");
    set_mode(&target, 0o644);
    std::os::unix::fs::symlink(&target, home.store().join("keyring/extra")).expect("linked");
    assert_ok(&home.run(&["view"]));
    assert_eq!(mode(&target), 0o644);
}

// log

/// Seven events with their own time, actor and session, told through several verbs.
fn with_history() -> Home {
    let home = Home::empty();
    for (day, args) in [
        (1, &["init", "--trial", "--actor", "owner"][..]),
        (
            2,
            &[
                "create",
                "/memories/a/x.md",
                "--text",
                "x",
                "--actor",
                "ann",
                "--session",
                "s1",
            ],
        ),
        (
            3,
            &[
                "create",
                "/memories/b.md",
                "--text",
                "b",
                "--actor",
                "bob",
                "--session",
                "s2",
            ],
        ),
        (
            4,
            &[
                "view",
                "/memories/none",
                "--actor",
                "ann",
                "--session",
                "s2",
            ],
        ),
        (5, &["view", "/etc/passwd", "--actor", "bob"]),
        (
            6,
            &[
                "str-replace",
                "/memories/b.md",
                "--old",
                "b",
                "--new",
                "c",
                "--actor",
                "ann",
            ],
        ),
        (
            7,
            &[
                "rename",
                "/memories/b.md",
                "/memories/c.md",
                "--actor",
                "ann",
                "--reason",
                "tidy up",
            ],
        ),
        (
            8,
            &["rename", "/memories/a", "/memories/d", "--actor", "ann"],
        ),
        (9, &["delete", "/memories/d", "--actor", "ann"]),
    ] {
        let now = format!("2030-01-0{day}T12:00:00Z");
        home.run(&[&["--now", now.as_str()], args].concat());
    }
    home
}

#[test]
fn log_shows_who_did_what_newest_first() {
    let home = with_history();
    let output = home.run(&["log"]);
    assert_ok(&output);
    let text = stdout(&output);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 9, "{text}");
    for (number, line) in (0..9).rev().zip(&lines) {
        assert!(line.trim_start().starts_with(&number.to_string()), "{line}");
    }
    let has = |index: usize, words: &[&str]| {
        for word in words {
            assert!(lines[index].contains(word), "{word}: {}", lines[index]);
        }
    };
    has(
        0,
        &[
            "2030-01-09T12:00:00Z",
            "delete",
            "ok",
            "/memories/d",
            "by=ann",
        ],
    );
    has(
        2,
        &["/memories/b.md -> /memories/c.md", "reason=\"tidy up\""],
    );
    has(4, &["denied", "/etc/passwd", "(denied)", "by=bob"]);
    has(5, &["error", "/memories/none", "(not_found)", "session=s2"]);
    has(8, &["init", "by=owner"]);
}

#[test]
fn every_filter_of_the_log_leaves_the_rest_out() {
    let home = with_history();
    let now = ["--now", "2030-01-09T13:00:00Z"];
    for (args, want) in [
        (&["--actor", "bob"][..], &[4, 2][..]),
        (&["--actor", "nobody"], &[]),
        (&["--session", "s2"], &[3, 2]),
        (&["--session", "S2"], &[]),
        (&["--command", "create"], &[2, 1]),
        (&["--command", "str-replace"], &[5]),
        (&["--command", "str_replace"], &[5]),
        (&["--command", "init"], &[0]),
        (&["--outcome", "error"], &[3]),
        (&["--outcome", "denied"], &[4]),
        (&["--outcome", "ok", "--command", "view"], &[]),
        (&["--since", "2030-01-08T12:00:00Z"], &[8, 7]),
        (&["--since", "2030-01-08T13:00:00+01:00"], &[8, 7]),
        (&["--since", "2030-01-09"], &[8]),
        (&["--since", "1h"], &[8]),
        (&["--since", "3599s"], &[]),
        (&["--since", "2d"], &[8, 7]),
        (&["--until", "2030-01-02T12:00:00Z"], &[0]),
        (&["--until", "2030-01-01"], &[]),
        (&["--since", "2030-01-03", "--until", "2030-01-05"], &[3, 2]),
        (&["-n", "2"], &[8, 7]),
        (&["-n", "0"], &[]),
        (&["-n", "1", "--actor", "bob"], &[4]),
        (&["-n", "100", "--command", "init"], &[0]),
    ] {
        assert_eq!(
            numbers(&log(&home, &[&now, args].concat())),
            want,
            "{args:?}"
        );
    }
}

#[test]
fn a_path_of_the_log_stands_for_what_is_below_it_and_for_what_was_renamed() {
    let home = with_history();
    for (path, want) in [
        ("/memories/b.md", &[6, 5, 2][..]),
        ("/memories/c.md", &[6, 5, 2]),
        ("/memories/a", &[8, 7, 1]),
        ("/memories/a/", &[8, 7, 1]),
        ("/memories/./a//x.md", &[8, 7, 1]),
        ("/memories/d", &[8, 7, 1]),
        ("/memories/d/x.md", &[8, 7, 1]),
        ("/memories/none", &[3]),
        ("/memories/b", &[]),
        ("/memories/a/x.m", &[]),
        ("/memories", &[8, 7, 6, 5, 3, 2, 1]),
    ] {
        assert_eq!(numbers(&log(&home, &[path])), want, "{path}");
    }
}

#[test]
fn the_log_as_json_is_one_object_on_each_line() {
    let home = with_history();
    let events = log(&home, &[]);
    assert_eq!(numbers(&events), (0..9).rev().collect::<Vec<_>>());
    for event in &events {
        assert_eq!(event["schema"], "agekeep.event/1");
        assert_eq!(event["signer"], "owner");
        assert_eq!(event["door"], "cli");
    }
    let moved = &events[2];
    assert_eq!(moved["time"], "2030-01-07T12:00:00.000Z");
    assert_eq!(moved["path"], "/memories/b.md");
    assert_eq!(moved["new_path"], "/memories/c.md");
    assert_eq!(moved["memories"][0]["change"], "move");
    assert_eq!(moved["memories"][0]["version"], 3);
    assert_eq!(events[0]["commit"], head(&home).trim());
    assert_eq!(events[3]["error"], Value::Null);
    assert_eq!(events[4]["error"], "denied");
}

#[test]
fn the_log_itself_leaves_no_trace() {
    let home = with_history();
    let before = head(&home);
    assert_ok(&home.run(&["log"]));
    assert_ok(&home.run(&["log", "/memories/c.md", "--json"]));
    assert_eq!(head(&home), before);
}

#[test]
fn a_filter_of_the_log_that_makes_no_sense_is_refused() {
    let home = with_history();
    for args in [
        &["--since", "tomorrow"][..],
        &["--since", ""],
        &["--since", "-3d"],
        &["--until", "3y"],
        &["--until", "99999999999999999d"],
        &["--since", "2030-13-01"],
    ] {
        let output = home.run(&[&["log"], args].concat());
        assert_eq!(code(&output), 2, "{args:?}");
        assert!(stderr(&output).starts_with("error: "), "{args:?}");
        assert_eq!(stdout(&output), "", "{args:?}");
    }
    for args in [
        &["--outcome", "fine"][..],
        &["-n", "-1"],
        &["-n", "few"],
        &["a", "b"],
    ] {
        assert_eq!(code(&home.run(&[&["log"], args].concat())), 2, "{args:?}");
    }
}

#[test]
fn closing_the_log_early_is_no_failure() {
    let home = Home::with_store();
    let reason = "r".repeat(1_000);
    let call =
        json!({"input": {"command": "view", "path": "/memories"}, "context": {"reason": reason}});
    home.tool(&format!("{call}\n").repeat(150));
    for args in [&["log"][..], &["log", "--json"]] {
        let mut child = home
            .command(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut first = String::new();
        let mut output = BufReader::new(child.stdout.take().expect("piped"));
        output.read_line(&mut first).expect("a line");
        assert!(first.contains("150"), "{first:.40}");
        drop(output);
        let ended = child.wait_with_output().expect("the program ends");
        assert_eq!(code(&ended), 0, "{}", stderr(&ended));
        assert_eq!(stderr(&ended), "");
    }
}

// The memory verbs.

#[test]
fn a_memory_from_its_making_to_its_end() {
    let home = Home::with_store();
    for (args, want) in [
        (
            &["create", "/memories/a/f", "--text", "one\ntwo\n"][..],
            "File created successfully at: /memories/a/f\n",
        ),
        (
            &["view", "/memories/a/f"],
            "Here's the content of /memories/a/f with line numbers:\n     1\tone\n     2\ttwo\n     3\t\n",
        ),
        (
            &["cat", "/memories/a/f", "-L", "2:2"],
            "Here's the content of /memories/a/f with line numbers:\n     2\ttwo\n",
        ),
        (
            &["view", "/memories/a/f", "--lines", "2"],
            "Here's the content of /memories/a/f with line numbers:\n     2\ttwo\n",
        ),
        (
            &["view", "/memories/a/f", "--lines", "2:"],
            "Here's the content of /memories/a/f with line numbers:\n     2\ttwo\n     3\t\n",
        ),
        (
            &["view", "/memories/a/f", "--lines", "3:-1"],
            "Here's the content of /memories/a/f with line numbers:\n     3\t\n",
        ),
        (
            &["str-replace", "/memories/a/f", "--old", "two", "--new", "2"],
            "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     1\tone\n     2\t2\n     3\t\n",
        ),
        (
            &["insert", "/memories/a/f", "0", "--text", "zero"],
            "The file /memories/a/f has been edited.\n",
        ),
        (&["read", "a/f"], "zero\none\n2\n"),
        (
            &["rename", "/memories/a/f", "/memories/g"],
            "Successfully renamed /memories/a/f to /memories/g\n",
        ),
        (&["write", "g", "--text", "whole"], "Written to g\n"),
        (&["read", "/memories/g"], "whole"),
        (&["write", "h/i", "--text", ""], "Written to h/i\n"),
        (&["read"], "g\nh/i\n"),
        (
            &["ls"],
            "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:\n5B\t/memories\n5B\t/memories/g\n0B\t/memories/h/\n0B\t/memories/h/i\n",
        ),
        (
            &["mv", "/memories/g", "/memories/k"],
            "Successfully renamed /memories/g to /memories/k\n",
        ),
        (&["rm", "/memories/h"], "Successfully deleted /memories/h\n"),
        (
            &["delete", "/memories/k"],
            "Successfully deleted /memories/k\n",
        ),
        (
            &["view"],
            "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:\n0B\t/memories\n",
        ),
    ] {
        let output = home.run(args);
        assert_ok(&output);
        assert_eq!(stdout(&output), want, "{args:?}");
    }
}

#[test]
fn an_answer_as_json_has_the_contract_s_words_whatever_it_is() {
    let home = with_memory("one");
    let output = home.run(&["--json", "view", "/memories/none"]);
    assert_eq!(code(&output), 4);
    assert_eq!(stderr(&output), "");
    let answer = &json_lines(&output.stdout)[0];
    assert_eq!(answer["schema"], "agekeep.answer/1");
    assert_eq!(
        answer["content"],
        "The path /memories/none does not exist. Please provide a valid path."
    );
    assert_eq!(answer["is_error"], true);
    assert_eq!(answer["meta"]["error"], "not_found");
    let output = home.run(&["read", "f", "--json"]);
    assert_ok(&output);
    let answer = &json_lines(&output.stdout)[0];
    assert_eq!(
        (&answer["content"], &answer["is_error"]),
        (&json!("one"), &json!(false))
    );
    assert_eq!(answer["meta"]["sha256"], sha256("one"));
}

#[test]
fn what_is_not_there_is_said_in_the_contract_s_words_with_exit_code_4() {
    let home = with_memory("one");
    let valid = "Please provide a valid path.";
    for path in ["/memories/none", "/memories/f/y", "/memories/F"] {
        let missing = format!("The path {path} {MISSING}");
        for (args, words) in [
            (&["view", path][..], format!("{missing}. {valid}")),
            (
                &["str-replace", path, "--old", "a"],
                format!("Error: {missing}. {valid}"),
            ),
            (
                &["insert", path, "0", "--text", "a"],
                format!("Error: {missing}"),
            ),
            (&["delete", path], format!("Error: {missing}")),
            (
                &["rename", path, "/memories/new"],
                format!("Error: {missing}"),
            ),
            (&["read", path], format!("{missing}. {valid}")),
        ] {
            assert_refused(&home.run(args), 4, &words);
        }
    }
    assert_eq!(stdout(&home.run(&["read"])), "f\n");
}

#[test]
fn what_is_there_already_is_said_with_exit_code_5() {
    let home = with_memory("one");
    assert_ok(&home.run(&["create", "/memories/d/x", "--text", "x"]));
    for path in ["/memories/f", "/memories/d", "/memories", "/memories/./f"] {
        let words = format!("Error: File {path} already exists");
        assert_refused(&home.run(&["create", path, "--text", "new"]), 5, &words);
        let words = format!("Error: The destination {path} already exists");
        assert_refused(&home.run(&["rename", "/memories/d/x", path]), 5, &words);
    }
    assert_eq!(code(&home.run(&["write", "d", "--text", "x"])), 5);
    assert_eq!(text_of(&home, "f"), "one");
    assert_eq!(text_of(&home, "d/x"), "x");
}

#[test]
fn a_text_that_moved_on_is_said_with_exit_code_6() {
    let home = with_memory("one");
    let stale = sha256("stale");
    for args in [
        &["view", "/memories/f"][..],
        &["read", "f"],
        &["create", "/memories/f", "--text", "two"],
        &["create", "/memories/new", "--text", "two"],
        &["str-replace", "/memories/f", "--old", "one"],
        &["insert", "/memories/f", "0", "--text", "x"],
        &["write", "f", "--text", "two"],
        &["delete", "/memories/f"],
        &["rename", "/memories/f", "/memories/g"],
        &["view", "/memories"],
    ] {
        let output = home.run(&[args, &["--base-sha256", &stale]].concat());
        assert_eq!(code(&output), 6, "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("base_sha256"), "{args:?}");
        assert_eq!(stdout(&output), "");
    }
    let now = sha256("one");
    assert_ok(&home.run(&["write", "f", "--text", "two", "--base-sha256", &now]));
    assert_ok(&home.run(&["write", "f", "--text", "two", "--base-sha256", &now]));
    assert_eq!(text_of(&home, "f"), "two");
}

#[test]
fn a_path_that_leaves_memories_is_denied_in_the_contract_s_words_with_exit_code_7() {
    let home = with_memory("one");
    for path in [
        "",
        "/",
        "/etc/passwd",
        "/memoriesx",
        "//memories/f",
        "/MEMORIES/f",
    ] {
        let words = format!("Error: Path must start with /memories, got: {path}");
        assert_refused(&home.run(&["view", path]), 7, &words);
        assert_refused(&home.run(&["create", path, "--text", "x"]), 7, &words);
        assert_refused(&home.run(&["rename", "/memories/f", path]), 7, &words);
    }
    for path in [
        "/memories/..",
        "/memories/a/../f",
        "/memories/../memories/f",
        "/memories/%2e%2e/f",
        "/memories/..%2ff",
        "/memories/%252e%252e/f",
        "/memories/a%2fb",
    ] {
        let words = format!("Error: Path {path} would escape /memories directory");
        assert_refused(&home.run(&["view", path]), 7, &words);
        assert_refused(&home.run(&["delete", path]), 7, &words);
    }
    for path in [
        "/memories/a\\b",
        "/memories/a\u{202e}b",
        "/memories/a\u{200b}b",
        "/memories/a\nb",
        "/memories/a\u{1b}[2Jb",
        "/memories/a%00b",
        "/memories/a\u{2028}b",
    ] {
        let output = home.run(&["create", path, "--text", "x"]);
        assert_eq!(
            (code(&output), stdout(&output).as_str()),
            (7, ""),
            "{path:?}"
        );
        // The refusal and its hint: no line more, whatever is in the path.
        assert_eq!(stderr(&output).lines().count(), 2, "{path:?}");
    }
    assert_eq!(stdout(&home.run(&["read"])), "f\n");
}

#[test]
fn every_verb_that_takes_a_path_denies_one_that_leaves_memories() {
    let home = with_memory("one");
    let before = home.git(&["rev-parse", "main"]).stdout;
    for path in [
        "/etc/passwd",
        "/memoriesx",
        "/memories/../etc",
        "/memories/a\u{202e}b",
    ] {
        let (at, to) = (format!("HEAD:{path}"), home.path().join("out"));
        let to = to.to_str().expect("UTF-8");
        for args in [
            &["show", &at][..],
            &["restore", path],
            &["restore", path, "--from", "1"],
            &["log", path],
            &["diff", path],
            &["diff", "0", "HEAD", path],
            &["blame", path],
            &["access", path],
            &["export", to, "--path", path],
            &["view", path, "--at", "1"],
            &["keys", "export", path],
            &["grep", "one", path],
            &["policy", "explain", path],
            &["policy", "expire-at", path, "2100-01-01"],
            &["scan", path],
            &["import", "config", "--to", path],
            &["erase", path, "--reason", "why", "--yes"],
            &["redact", &at, "--yes", "--reason", "asked"],
            &["hold", "add", path, "--reason", "why"],
        ] {
            let output = home.run(args);
            assert_eq!(code(&output), 7, "{args:?}: {}", stderr(&output));
            assert_eq!(stdout(&output), "", "{args:?}");
            let output = home.run(&[args, &["--json"]].concat());
            let said: Value = serde_json::from_str(&stderr(&output)).expect("an object");
            assert_eq!(
                (&said["error"]["code"], &said["error"]["exit"]),
                (&json!("denied"), &json!(7))
            );
        }
    }
    // What is no revision, and what is too long, is no path that leads anywhere.
    assert_eq!(code(&home.run(&["diff", "a", "b", "c"])), 4);
    let long = format!("/memories/{}", "n".repeat(300));
    assert_eq!(code(&home.run(&["blame", &long])), 2);
    assert_eq!(home.git(&["rev-parse", "main"]).stdout, before);
}

#[test]
fn the_root_stays_where_it_is_with_exit_code_7() {
    let home = with_memory("one");
    for root in ["/memories", "/memories/", "/memories/.", "/memories//./"] {
        let words = "Error: Cannot delete the /memories directory itself";
        assert_refused(&home.run(&["delete", root]), 7, words);
        let words = "Error: Cannot rename the /memories directory itself";
        assert_refused(&home.run(&["rename", root, "/memories/new"]), 7, words);
    }
    assert_eq!(text_of(&home, "f"), "one");
}

#[test]
fn an_edit_that_cannot_be_made_is_said_with_exit_code_1() {
    let home = with_memory("a\nb a\nc");
    let f = "/memories/f";
    for (args, words) in [
        (
            &["str-replace", f, "--old", "z"][..],
            "No replacement was performed, old_str `z` did not appear verbatim in /memories/f.",
        ),
        (
            &["str-replace", f, "--old", "a"],
            "No replacement was performed. Multiple occurrences of old_str `a` in lines: 1, 2. Please ensure it is unique",
        ),
        (
            &["insert", f, "4", "--text", "x"],
            "Error: Invalid `insert_line` parameter: 4. It should be within the range of lines of the file: [0, 3]",
        ),
        (
            &["insert", f, "-1", "--text", "x"],
            "Error: Invalid `insert_line` parameter: -1. It should be within the range of lines of the file: [0, 3]",
        ),
    ] {
        assert_refused(&home.run(args), 1, words);
    }
    for args in [
        &["view", f, "--lines", "4:5"][..],
        &["view", f, "--lines", "2:1"],
        &["view", f, "--lines", "1:-2"],
    ] {
        let output = home.run(args);
        assert_eq!(code(&output), 1, "{args:?}");
        let words = stderr(&output);
        assert!(
            words.contains("view_range") && words.contains("[1, 3]"),
            "{words}"
        );
    }
    for args in [
        &["str-replace", f, "--old", "", "--new", "x"][..],
        &["rename", f, "/memories/f/g"],
        &["create", "/memories/f/g", "--text", "x"],
        &["write", "f/g", "--text", "x"],
    ] {
        let output = home.run(args);
        assert_eq!(
            (code(&output), stdout(&output).as_str()),
            (1, ""),
            "{args:?}"
        );
    }
    assert_eq!(text_of(&home, "f"), "a\nb a\nc");
    assert_eq!(stdout(&home.run(&["read"])), "f\n");
}

#[test]
fn arguments_that_make_no_sense_are_a_usage_error() {
    let home = with_memory("one");
    let before = head(&home);
    for args in [
        &[][..],
        &["undo-edit", "/memories/f"],
        &["view", "/memories/f", "--nonsense"],
        &["view", "/memories/f", "/memories/g"],
        &["view", "/memories/f", "--lines", "a:b"],
        &["view", "/memories/f", "--lines", "1-2"],
        &["view", "/memories/f", "--base-sha256", "abc"],
        &["view", "/memories/f", "--base-sha256", &"A".repeat(64)],
        &["create"],
        &["create", "/memories/g", "--text", "a", "--file", "b"],
        &["str-replace", "/memories/f"],
        &["str-replace", "/memories/f", "--new", "x"],
        &["insert", "/memories/f", "--text", "x"],
        &["insert", "/memories/f", "1.5", "--text", "x"],
        &["delete"],
        &["rename", "/memories/f"],
        &["write", "--text", "x"],
        &["--now", "today", "view"],
    ] {
        let output = home.run(args);
        assert_eq!(code(&output), 2, "{args:?}: {}", stdout(&output));
        assert_eq!(stdout(&output), "", "{args:?}");
        assert!(!stderr(&output).is_empty(), "{args:?}");
    }
    assert_eq!(head(&home), before, "none was a command");
}

// Where a text comes from.

#[test]
fn a_text_comes_from_the_argument_a_file_or_standard_input_byte_for_byte() {
    let home = Home::with_store();
    let text = "a\r\n\tb \u{0}\u{2028}é\n\n";
    fs::write(home.path().join("text"), text).expect("a file");
    for (args, input) in [
        (&["create", "/memories/1"][..], text),
        (&["create", "/memories/2", "--file", "-"], text),
        (&["create", "/memories/3", "--file", "text"], "not this"),
        (&["write", "4"], text),
        (&["write", "5", "--file", "text"], ""),
    ] {
        assert_ok(&home.run_with_input(args, input));
        let name = args[1].trim_start_matches("/memories/");
        assert_eq!(text_of(&home, name), text, "{args:?}");
    }
    for (path, text) in [("a", ""), ("b", "-x"), ("c", "--file"), ("d", " \n")] {
        assert_ok(&home.run_with_input(&["write", path, "--text", text], "not this"));
        assert_eq!(text_of(&home, path), text);
    }
    assert_ok(&home.run_with_input(&["insert", "/memories/b", "1"], "é"));
    assert_eq!(text_of(&home, "b"), "-x\né\n");
}

#[test]
fn a_text_that_cannot_be_read_is_refused_and_nothing_is_done() {
    let home = Home::with_store();
    fs::write(home.path().join("bytes"), b"a\xff\n").expect("a file");
    let before = head(&home);
    let create = ["create", "/memories/f"];
    for input in [&b"a\xff\n"[..], b"\xc3", b"\xed\xa0\x80", b"\xff\xfea\0"] {
        assert_failed(&feed(home.command(&create), input), 2, "UTF-8");
    }
    let from = |file: &str| home.run(&[&create[..], &["--file", file]].concat());
    assert_failed(&from("bytes"), 2, "UTF-8");
    assert_failed(&from("none"), 16, "none");
    assert_failed(&from("/"), 16, "/");
    assert_eq!(head(&home), before);
}

// Stores and keys that are not there or not right.

#[test]
fn a_missing_store_is_said_with_exit_code_10_and_the_verb_that_makes_one() {
    let home = Home::empty();
    for args in [
        &["status"][..],
        &["log"],
        &["view"],
        &["write", "f", "--text", "x"],
        &["tool"],
    ] {
        let output = home.run(args);
        assert_failed(&output, 10, "no store at");
        assert!(stderr(&output).contains("agekeep init"), "{args:?}");
    }
    assert_eq!(fs::read_dir(home.path()).expect("a folder").count(), 0);
    let home = Home::with_store();
    assert_failed(&home.run(&["-C", "elsewhere", "view"]), 10, "elsewhere");
}

#[test]
fn a_failure_as_json_is_one_object_on_standard_error() {
    let home = Home::empty();
    let output = home.run(&["--json", "view"]);
    assert_eq!((code(&output), stdout(&output).as_str()), (10, ""));
    let lines = json_lines(&output.stderr);
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["schema"], "agekeep.error/1");
    assert_eq!(lines[0]["error"]["code"], "no_store");
    assert_eq!(lines[0]["error"]["exit"], 10);
    for name in ["message", "hint"] {
        assert!(lines[0]["error"][name].is_string(), "{name}");
    }
}

#[test]
fn a_command_line_that_does_not_parse_is_told_what_is_wrong_as_asked() {
    let home = Home::empty();
    for (args, words) in [
        (
            &["--json", "frobnicate"][..],
            "unrecognized subcommand 'frobnicate'",
        ),
        (&["create", "--json"], "<PATH>"),
        (&["view", "a.md", "b.md", "--json"], "unexpected argument"),
        (&["log", "--limit", "few", "--json"], "invalid value 'few'"),
    ] {
        let output = home.run(args);
        assert_eq!(
            (code(&output), stdout(&output).as_str()),
            (2, ""),
            "{args:?}"
        );
        let lines = json_lines(&output.stderr);
        assert_eq!(lines.len(), 1, "{args:?}");
        assert_eq!(lines[0]["schema"], "agekeep.error/1");
        let error = &lines[0]["error"];
        assert_eq!(
            (&error["code"], &error["exit"]),
            (&"usage".into(), &2.into())
        );
        let message = error["message"].as_str().expect("a message");
        assert!(message.contains(words), "{args:?}: {message}");
        assert!(!message.starts_with("error"), "{message}");
        assert!(
            error["hint"].as_str().expect("a hint").contains("--help"),
            "{error}"
        );
    }
    for args in [
        &["frobnicate"][..],
        &["frobnicate", "--", "--json"],
        &["frobnicate", "--jsonl"],
    ] {
        let output = home.run(args);
        assert_eq!(
            (code(&output), stdout(&output).as_str()),
            (2, ""),
            "{args:?}"
        );
        let said = stderr(&output);
        assert!(
            said.starts_with("error: unrecognized subcommand 'frobnicate'"),
            "{said}"
        );
        assert!(
            said.contains("agekeep --help") || said.contains("'--help'"),
            "{said}"
        );
    }
    assert_eq!(code(&home.run(&[])), 2);
    assert!(stderr(&home.run(&[])).contains("Usage: agekeep"));
    for asked in ["--help", "--version"] {
        let output = home.run(&[asked, "--json"]);
        assert_eq!(
            (code(&output), stderr(&output).as_str()),
            (0, ""),
            "{asked}"
        );
        assert!(stdout(&output).contains("agekeep"), "{asked}");
    }
}

#[test]
fn a_missing_key_is_said_with_exit_code_12_and_its_option() {
    for (key, option) in [
        (Home::identity as fn(&Home) -> _, "--identity"),
        (Home::signing_key, "--signing-key"),
    ] {
        let home = with_memory("one");
        fs::remove_file(key(&home)).expect("removed");
        let looks = [&["status"][..], &["log"]];
        let needs_it = if option == "--identity" {
            &looks[..]
        } else {
            &[]
        };
        for args in needs_it.iter().chain(&[&["view"][..]]) {
            let output = home.run(args);
            assert_failed(&output, 12, option);
            assert_failed(&output, 12, &key(&home).display().to_string());
        }
        assert!(!key(&home).exists(), "none is made in its place");
    }
}

#[test]
fn without_a_signing_key_a_store_can_be_looked_at() {
    let home = with_memory("one");
    fs::remove_file(home.signing_key()).expect("removed");
    let status = home.run(&["status"]);
    assert!(status.status.success());
    assert!(stdout(&status).contains("you have no signing key"));
    assert!(stdout(&home.run(&["log"])).contains("create"));
}

#[test]
fn a_log_line_cannot_be_forged_by_a_path() {
    let home = Home::with_store();
    let forged = "/memories/a  v7 12 bytes  by=ana.lead  reason=approved";
    assert!(
        home.run(&["create", forged, "--text", "x", "--actor", "rogue"])
            .status
            .success()
    );
    let log = stdout(&home.run(&["log", "-n", "1"]));
    assert!(log.contains(&format!("\"{forged}\"")), "{log}");
    assert!(
        log.ends_with("  by=rogue (claimed)  signed-by=owner\n"),
        "{log}"
    );
}

#[test]
fn a_time_that_git_cannot_write_down_is_refused() {
    let home = Home::with_trial_store();
    for now in ["+10000-01-01T00:00:00Z", "1969-12-31T23:59:59Z"] {
        let refused = home.run(&["--now", now, "write", "a", "--text", "x"]);
        assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
        assert!(
            stderr(&refused).contains("the clock"),
            "{}",
            stderr(&refused)
        );
    }
    assert!(home.run(&["read"]).status.success());
}

#[test]
fn an_identity_of_someone_else_opens_nothing() {
    let (home, other) = (with_memory("one"), Home::with_store());
    let before = head(&home);
    let identity = other.identity();
    let identity = identity.to_str().expect("UTF-8");
    for args in [
        &["view", "/memories/f"][..],
        &["status"],
        &["log"],
        &["read"],
        &["write", "f", "--text", "x"],
    ] {
        assert_failed(
            &home.run(&[args, &["-i", identity]].concat()),
            12,
            "cannot decrypt",
        );
    }
    assert_eq!(head(&home), before);
    fs::write(home.identity(), "AGE-SECRET-KEY-1NONSENSE").expect("a file");
    let output = home.run(&["view"]);
    assert_failed(&output, 12, "is not a usable identity");
    assert!(
        !stderr(&output).contains("NONSENSE"),
        "a key is never shown"
    );
}

#[test]
fn a_signing_key_of_someone_else_may_look_and_not_act() {
    let (home, other) = (with_memory("one"), Home::with_store());
    let before = head(&home);
    let key = other.signing_key();
    let with_key = |args: &[&str]| {
        home.run(&[args, &["--signing-key", key.to_str().expect("UTF-8")]].concat())
    };
    for args in [
        &["view"][..],
        &["view", "/memories/f"],
        &["read", "f"],
        &["create", "/memories/g", "--text", "x"],
        &["write", "f", "--text", "x"],
        &["delete", "/memories/f"],
        &["view", "/etc"],
    ] {
        let output = with_key(args);
        assert_failed(&output, 7, "may not write to this store");
        assert!(stderr(&output).contains("--signing-key"), "{args:?}");
    }
    assert_eq!(head(&home), before);
    assert_ok(&with_key(&["log"]));
    let status = with_key(&["status"]);
    assert_ok(&status);
    assert!(
        stdout(&status).contains("problem     your signing key SHA256:"),
        "{}",
        stdout(&status)
    );
    assert_eq!(text_of(&home, "f"), "one");
}

#[test]
fn without_a_home_everything_has_to_be_named() {
    let home = with_memory("one");
    let bare = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agekeep"));
        command.env_clear().current_dir(home.path()).args(args);
        feed(command, b"")
    };
    for args in [
        &["view"][..],
        &["status"],
        &["init"],
        &["tool", "--init"],
        &["view", "-C", "store"],
    ] {
        assert_failed(&bare(args), 2, "HOME");
    }
    let keys = [
        "-C",
        "store",
        "-i",
        "config/agekeep/identity.txt",
        "--signing-key",
        "config/agekeep/signing_key",
    ];
    let output = bare(&[&keys[..], &["read", "f"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stdout(&output), "one");
    let warned = stderr(&output);
    assert_eq!(warned.matches("warning: ").count(), 1, "{warned}");
    assert!(
        warned.contains("would not notice an older copy"),
        "{warned}"
    );
    assert_eq!(log(&home, &["-n", "1"])[0]["actor"], Value::Null);
}

#[test]
fn the_usual_folders_are_those_of_the_xdg_specification() {
    let home = Home::empty();
    let run = |variables: &[(&str, &str)], args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agekeep"));
        command
            .env_clear()
            .env("HOME", home.path())
            .current_dir(home.path());
        command.envs(variables.iter().copied()).args(args);
        feed(command, b"")
    };
    let relative = [("XDG_DATA_HOME", "data"), ("XDG_CONFIG_HOME", "conf")];
    assert_ok(&run(&relative, &["init"]));
    assert!(
        home.path()
            .join(".local/share/agekeep/store/HEAD")
            .is_file()
    );
    assert!(home.path().join(".config/agekeep/identity.txt").is_file());
    assert_ok(&run(&[], &["status"]));
    let elsewhere = home.path().join("elsewhere");
    let elsewhere = elsewhere.to_str().expect("UTF-8");
    let moved = [("XDG_DATA_HOME", elsewhere)];
    assert_failed(&run(&moved, &["status"]), 10, "elsewhere/agekeep/store");
}

#[test]
fn the_time_can_be_given_and_a_clock_that_went_back_is_a_problem() {
    let home = Home::empty();
    assert_ok(&home.run(&["init", "--trial", "--now", "2030-01-02T03:04:05.678+01:00"]));
    assert_eq!(log(&home, &[])[0]["time"], "2030-01-02T02:04:05.678Z");
    let early = ["--now", "2030-01-02T02:04:05Z"];
    let status = stdout(&home.run(&[&early[..], &["status"]].concat()));
    assert!(status.contains("in the future"), "{status}");
    assert_ok(&home.run(&[&early[..], &["view"]].concat()));
    assert_eq!(log(&home, &["-n", "1"])[0]["clock_behind_ms"], 678);
}

// Limits.

#[test]
fn a_text_over_the_limit_is_refused_with_exit_code_9() {
    let home = with_policy("[limits]\nmemory_bytes = 10\n");
    assert_ok(&home.run(&["create", "/memories/f", "--text", "123456789\n"]));
    for args in [
        &["create", "/memories/g", "--text", "12345678901"][..],
        &["create", "/memories/h", "--text", "123456789é"],
        &["write", "f", "--text", "12345678901"],
        &["str-replace", "/memories/f", "--old", "9", "--new", "90"],
        &["insert", "/memories/f", "0", "--text", ""],
    ] {
        let output = home.run(args);
        assert_eq!(
            (code(&output), stdout(&output).as_str()),
            (9, ""),
            "{args:?}"
        );
        assert!(stderr(&output).contains("10"), "{}", stderr(&output));
    }
    assert_eq!(text_of(&home, "f"), "123456789\n");
    assert_eq!(stdout(&home.run(&["read"])), "f\n");
}

#[test]
fn a_store_that_is_full_takes_no_more_memories() {
    let home = with_policy("[limits]\nmemories = 2\n");
    assert_ok(&home.run(&["write", "a", "--text", "x"]));
    assert_ok(&home.run(&["write", "b", "--text", "x"]));
    for args in [
        &["create", "/memories/c", "--text", "x"][..],
        &["write", "d/e", "--text", "x"],
    ] {
        let output = home.run(args);
        assert_eq!(
            (code(&output), stdout(&output).as_str()),
            (9, ""),
            "{args:?}"
        );
    }
    assert_ok(&home.run(&["write", "a", "--text", "y"]));
    assert_ok(&home.run(&["rename", "/memories/a", "/memories/c"]));
    assert_ok(&home.run(&["delete", "/memories/b"]));
    assert_ok(&home.run(&["write", "d/e", "--text", "x"]));
    // The limit can come later than the memories.
    assert_ok(&home.run(&["policy", "set", "limits.memories", "1"]));
    let says = |words: &str| {
        let said = stderr(&home.run(&["write", "g", "--text", "x"]));
        assert!(said.contains(words), "{said}");
    };
    says("The store holds 2 files, and its limit is 1.");
    assert_ok(&home.run(&["delete", "/memories/c"]));
    says("The store holds 1 file, and its limit is 1.");
}

#[test]
fn a_path_over_a_limit_is_refused_with_exit_code_9() {
    let home = with_policy("[limits]\npath_bytes = 32\n");
    let of = |n: usize| format!("/memories/{}", "n".repeat(n - "/memories/".len()));
    assert_ok(&home.run(&["create", &of(32), "--text", "x"]));
    assert_ok(&home.run(&["view", &format!("{}/./", of(32))]));
    let home_default = Home::with_store();
    let deep = |n: usize| format!("/memories{}", "/d".repeat(n));
    assert_ok(&home_default.run(&["create", &deep(19), "--text", "x"]));
    assert_ok(&home_default.run(&["create", &of(10 + 255), "--text", "x"]));
    for (home, path) in [
        (&home, of(33)),
        (&home, of(200)),
        (&home, format!("{}é", of(31))),
        (&home_default, deep(20)),
        (&home_default, of(10 + 256)),
        (
            &home_default,
            format!("/memories{}", format!("/{}", "x".repeat(200)).repeat(6)),
        ),
    ] {
        for args in [&["create", &path, "--text", "x"][..], &["view", &path]] {
            let output = home.run(args);
            assert_eq!((code(&output), stdout(&output).as_str()), (9, ""), "{path}");
        }
    }
}

#[test]
fn a_directory_does_not_move_where_a_path_in_it_would_be_too_long() {
    let home = with_policy("[limits]\npath_bytes = 32\n");
    assert_ok(&home.run(&["create", "/memories/d/a", "--text", "x"]));
    assert_ok(&home.run(&["create", "/memories/d/1234567890", "--text", "x"]));
    let output = home.run(&["rename", "/memories/d", "/memories/abcdefghijkl"]);
    assert_eq!((code(&output), stdout(&output).as_str()), (9, ""));
    assert_eq!(stdout(&home.run(&["read"])), "d/1234567890\nd/a\n");
}

#[test]
fn a_view_over_the_limit_is_cut_at_a_line_end_and_says_so() {
    let home = with_policy("[limits]\nview_characters = 200\n");
    let text = (1..=50).fold(String::new(), |text, n| format!("{text}line {n}\n"));
    assert_ok(&home.run_with_input(&["create", "/memories/f"], &text));
    let output = home.run(&["view", "/memories/f", "--lines", "3:"]);
    assert_ok(&output);
    let shown = stdout(&output);
    let (body, mark) = shown.trim_end().rsplit_once('\n').expect("a mark");
    let last = 2 + body.lines().skip(1).count();
    assert_eq!(
        mark,
        format!("[Truncated: lines 3-{last} of 51 shown. Use view_range to see more.]")
    );
    for (n, line) in (3..=last).zip(body.lines().skip(1)) {
        assert_eq!(line, format!("{n:>6}\tline {n}"));
    }
    let characters = body.chars().count();
    let next = format!("\n{:>6}\tline {}", last + 1, last + 1)
        .chars()
        .count();
    assert!(characters <= 200 && characters + next > 200, "{characters}");
    assert_ok(&home.run_with_input(&["create", "/memories/wide"], &"é".repeat(300)));
    let wide = stdout(&home.run(&["view", "/memories/wide"]));
    let (body, mark) = wide.trim_end().rsplit_once('\n').expect("a mark");
    assert!(
        mark.starts_with("[Truncated: ") && mark.contains("cut"),
        "{mark}"
    );
    assert_eq!(body.chars().count(), 200);
    assert_eq!(
        text_of(&home, "f"),
        text,
        "memory_read gives the text as it is"
    );
}

#[test]
fn a_view_limit_of_zero_is_none() {
    let home = with_policy("[limits]\nview_characters = 0\n");
    let text = "x".repeat(20_000);
    assert_ok(&home.run_with_input(&["create", "/memories/f"], &text));
    assert!(stdout(&home.run(&["view", "/memories/f"])).ends_with(&format!("\t{text}\n")));
    let home = Home::with_store();
    assert_ok(&home.run_with_input(&["create", "/memories/f"], &text));
    assert!(stdout(&home.run(&["view", "/memories/f"])).contains("[Truncated: "));
}

#[test]
fn a_file_with_too_many_lines_is_not_shown() {
    let home = with_policy("[limits]\nlines = 3\n");
    assert_ok(&home.run_with_input(&["create", "/memories/f"], "1\n2\n3"));
    assert_ok(&home.run(&["view", "/memories/f"]));
    assert_ok(&home.run(&["insert", "/memories/f", "3", "--text", "4"]));
    for args in [
        &["view", "/memories/f"][..],
        &["view", "/memories/f", "--lines", "1:1"],
    ] {
        let words = "File /memories/f exceeds maximum line limit of 3 lines.";
        assert_refused(&home.run(args), 9, words);
    }
    assert_eq!(text_of(&home, "f"), "1\n2\n3\n4\n");
}

#[test]
fn a_million_lines_are_one_too_many() {
    let home = with_memory(&"\n".repeat(999_999));
    let words = "File /memories/f exceeds maximum line limit of 999,999 lines.";
    assert_refused(&home.run(&["view", "/memories/f"]), 9, words);
    assert_ok(&home.run(&["insert", "/memories/f", "999999", "--text", "last"]));
    assert!(text_of(&home, "f").ends_with("\nlast\n"));
}

#[test]
fn a_text_over_the_request_limit_is_refused_with_exit_code_9() {
    let home = with_policy("[limits]\nrequest_bytes = 1024\n");
    let create = ["create", "/memories/f"];
    assert_failed(&home.run_with_input(&create, &"x".repeat(1_025)), 9, "1024");
    assert_ok(&home.run_with_input(&create, &"x".repeat(1_024)));
}

/// Runs the binary on a pseudo-terminal of util-linux's `script`.
fn on_a_terminal(home: &Home, line: &str) -> String {
    let mut command = std::process::Command::new(crate::support::program("script"));
    command
        .args(["-qec", line, "/dev/null"])
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", home.path())
        .env("XDG_CONFIG_HOME", home.path().join("config"))
        .env("AGEKEEP_STORE", home.store())
        .env("NO_COLOR", "1") // or the program's own colours would be found
        .env("AGEKEEP_PAGER", "cat");
    stdout(&crate::support::feed(command, b""))
}

#[test]
fn a_terminal_obeys_nothing_that_came_from_an_agent() {
    if !crate::support::has_peer("script", "what a terminal would be sent") {
        return;
    }
    let home = Home::with_store();
    let text = "a\u{1b}[31mred\u{1b}]0;title\u{7}\u{9b}1m\u{202e}b\r\n";
    let made = home.run_with_input(&["create", "/memories/x", "--reason", "\u{1b}[2J"], text);
    assert!(made.status.success());
    home.run(&["view", "/memories/\u{1b}[2J"]);
    let binary = env!("CARGO_BIN_EXE_agekeep");
    for verb in [
        "view /memories/x",
        "read x",
        "log",
        "log --json",
        "--json read x",
    ] {
        let shown = on_a_terminal(&home, &format!("{binary} {verb}"));
        let spelled = ["\\u001b[", "\\u{1b}["]
            .iter()
            .any(|way| shown.contains(way));
        assert!(spelled, "{verb}: {shown:?}");
        let obeyed = |c: char| (c.is_control() && !"\r\n\t".contains(c)) || c == '\u{202e}';
        assert!(!shown.contains(obeyed), "{verb}: {shown:?}");
    }
    // A pipe gets the bytes as they are.
    assert_eq!(stdout(&home.run(&["read", "x"])), text);
}

#[test]
fn what_people_read_is_escaped_before_a_pipe_as_on_a_terminal() {
    let home = Home::with_store();
    let text = "a\u{1b}[31mred\u{1b}]0;title\u{7}\u{7f}\u{9b}1m\u{202e}b\r\n\tc\n";
    for (verb, text) in [("create", text), ("insert", "\u{1b}[2J\n")] {
        let args = [verb, "/memories/x", "--reason", "\u{1b}[2J", "0"];
        let made = home.run_with_input(&args[..if verb == "insert" { 5 } else { 4 }], text);
        assert!(made.status.success(), "{}", stderr(&made));
    }
    let obeyed = |c: char| (c.is_control() && !"\n\t".contains(c)) || c == '\u{202e}';
    for verb in [
        "view /memories/x",
        "view /memories/x --at HEAD",
        "show HEAD:/memories/x",
        "show 1",
        "diff 0 HEAD",
        "diff 0 HEAD --color always",
        "blame /memories/x",
        "log",
        "log --patch",
        "grep red",
    ] {
        let output = home.run(&verb.split(' ').collect::<Vec<_>>());
        assert!(output.status.success(), "{verb}: {}", stderr(&output));
        let mut shown = stdout(&output);
        for ours in ["\u{1b}[m", "\u{1b}[1m", "\u{1b}[36m", "\u{1b}[32m"] {
            shown = shown.replace(ours, "");
        }
        let spelled = shown.contains("\\u001b[") || shown.contains("\\u{1b}[");
        assert!(spelled, "{verb}: {shown:?}");
        assert!(!shown.contains(obeyed), "{verb}: {shown:?}");
    }
    // Standard error has no terminal either.
    let refused = home.run(&["str-replace", "/memories/x", "--old", "\u{1b}[2Jno\u{9b}"]);
    let told = stderr(&refused);
    assert!(
        told.contains("\\u001b[2Jno\\u009b") && !told.contains(obeyed),
        "{told:?}"
    );
    // What is data is data: a program gets every byte.
    let whole = format!("\u{1b}[2J\n{text}");
    assert_eq!(stdout(&home.run(&["read", "x"])), whole);
    for args in [
        ["--json", "read", "x"],
        ["--json", "show", "HEAD:/memories/x"],
    ] {
        let answer: Value = serde_json::from_slice(&home.run(&args).stdout).expect("JSON");
        assert_eq!(answer["content"], *whole);
    }
    let read = r#"{"command": "memory_read", "path": "x"}"#;
    assert_eq!(home.tool(read)[0]["content"], *whole);
    let exported = home.run(&["export", "out"]);
    assert!(exported.status.success(), "{}", stderr(&exported));
    let file = std::fs::read_to_string(home.path().join("out/x"));
    assert_eq!(file.expect("there"), whole);
}

#[test]
fn the_help_of_a_command_begins_as_it_is_listed() {
    let home = Home::empty();
    let all = stdout(&home.run(&["--help"]));
    let listed = all.split_once("\nRemember\n").expect("groups").1;
    let listed = listed.split_once("\nMore help\n").expect("an end").0;
    let lines = listed.lines().filter_map(|line| line.strip_prefix("  "));
    let commands: Vec<_> = lines.filter_map(|line| line.split_once(' ')).collect();
    assert!(commands.len() > 30, "{all}");
    for (name, what) in commands {
        let what = what.trim();
        for args in [[name, "--help"], [name, "-h"], ["help", name]] {
            let help = stdout(&home.run(&args));
            assert!(help.starts_with(what), "{args:?}: {help}");
        }
    }
}
