//! The `tool` door: memory-tool calls as JSON lines, whatever comes in, each answered with one line.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use crate::support::{Home, feed, git, json_lines, settle, stderr, stdout};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// How long an answer may take before it counts as held back: far more than any machine needs.
const ANSWER_SECONDS_MAX: u64 = 30;

/// A running `tool` whose answers are read as they come.
struct Talk {
    child: Child,
    input: ChildStdin,
    answers: Receiver<String>,
    store: PathBuf,
}

impl Talk {
    fn start(home: &Home) -> Self {
        let mut child = home
            .command(&["tool"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let input = child.stdin.take().expect("piped");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let (sender, answers) = channel();
        thread::spawn(move || {
            for line in output.lines() {
                drop(sender.send(line.expect("UTF-8")));
            }
        });
        Self {
            child,
            input,
            answers,
            store: home.store(),
        }
    }

    /// Writes one call and waits for its answer before anything else is written.
    fn ask(&mut self, call: &Value) -> Value {
        self.write(&format!("{call}\n"));
        let answer = self.answer();
        settle(&self.store);
        answer
    }

    fn write(&mut self, bytes: &str) {
        let written = self.input.write_all(bytes.as_bytes());
        written.expect("the program reads");
    }

    fn answer(&mut self) -> Value {
        let wait = Duration::from_secs(ANSWER_SECONDS_MAX);
        let line = self.answers.recv_timeout(wait).expect("an answer at once");
        serde_json::from_str(&line).expect("an answer is JSON")
    }

    fn end(mut self) -> Option<i32> {
        drop(self.input);
        self.child.wait().expect("the program ends").code()
    }
}

fn view(path: &str) -> Value {
    json!({"command": "view", "path": path})
}

fn create(path: &str, text: &str) -> Value {
    json!({"command": "create", "path": path, "file_text": text})
}

/// An input that acts upon the text `base`.
fn upon(base: &str, input: &Value) -> Value {
    json!({"input": input, "context": {"base_sha256": sha256(base)}})
}

fn sha256(text: &str) -> String {
    use std::fmt::Write as _;
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

fn keys(answer: &Value) -> Vec<&str> {
    let fields = answer.as_object().expect("an object");
    fields.keys().map(String::as_str).collect()
}

fn lines(calls: &[Value]) -> String {
    calls
        .iter()
        .fold(String::new(), |text, call| text + &call.to_string() + "\n")
}

fn one(home: &Home, call: &Value) -> Value {
    let mut answers = home.tool(&lines(std::slice::from_ref(call)));
    assert_eq!(answers.len(), 1, "{call}");
    answers.remove(0)
}

/// The text of a memory as it is now.
fn text_of(home: &Home, path: &str) -> String {
    let answer = one(home, &json!({"command": "memory_read", "path": path}));
    assert_eq!(answer["is_error"], false, "{answer}");
    answer["content"].as_str().expect("a text").to_owned()
}

fn events(home: &Home) -> u64 {
    let newest = log(home, &["-n", "1"]);
    newest[0]["event"].as_u64().expect("a number") + 1
}

fn log(home: &Home, args: &[&str]) -> Vec<Value> {
    let output = home.run(&[&["log", "--json"], args].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    json_lines(&output.stdout)
}

fn mode(path: &Path) -> u32 {
    let meta = fs::metadata(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    meta.permissions().mode() & 0o7777
}

/// A home whose store has this policy.
fn with_policy(policy: &str) -> Home {
    let home = Home::empty();
    fs::write(home.path().join("policy.toml"), policy).expect("a policy file");
    let made = home.run(&["init", "--policy", "policy.toml"]);
    assert!(made.status.success(), "{}", stderr(&made));
    home
}

fn assert_fault(answer: &Value, code: &str) {
    assert_eq!(answer["is_error"], true, "{answer}");
    assert_eq!(answer["meta"]["error"], code, "{answer}");
    let content = answer["content"].as_str().expect("a text");
    assert!(content.starts_with("Error: "), "{answer}");
}

// Shapes.

#[test]
fn a_bare_input_is_answered_with_a_null_id() {
    let home = Home::with_store();
    for call in [create("/memories/a", "x"), view("/memories/none")] {
        let answer = one(&home, &call);
        assert_eq!(keys(&answer), ["id", "content", "is_error", "meta"]);
        assert_eq!(answer["id"], Value::Null);
    }
    let mut call = view("/memories");
    call["id"] = json!("one more unknown field");
    assert_eq!(one(&home, &call)["id"], Value::Null);
}

#[test]
fn a_number_is_echoed_as_its_caller_wrote_it() {
    let home = Home::with_store();
    let input = r#"{"command":"view","path":"/memories"}"#;
    for id in [
        "12345678901234567890123",
        "-9223372036854775809",
        "18446744073709551616",
        "1.10",
        "1E2",
        "-0",
        "0.1000000000000000055511151231257827",
        r#"[1,{"n": 12345678901234567890123}]"#,
    ] {
        let broken = r#"{"command":"view","path":"/memories/\ud800"}"#;
        for (line, begin) in [
            (
                format!(r#"{{"id":{id},"input":{input}}}"#),
                format!(r#"{{"id":{id},"#),
            ),
            (
                format!(r#"{{"input":{input},"id":3,"id": {id} }}"#),
                format!(r#"{{"id":{id},"#),
            ),
            (
                format!(r#"{{"id":{id},"input":{broken}}}"#),
                format!(r#"{{"id":{id},"#),
            ),
            (
                format!(r#"{{"type":"tool_use","id":{id},"name":"memory","input":{input}}}"#),
                format!(r#"{{"type":"tool_result","tool_use_id":{id},"#),
            ),
        ] {
            let said = stdout(&home.run_with_input(&["tool"], &format!("{line}\n")));
            assert!(said.starts_with(&begin), "{line}: {said}");
            assert_eq!(said.lines().count(), 1, "{line}: {said}");
        }
    }
}

#[test]
fn the_id_of_a_call_comes_back_as_it_was() {
    let home = Home::with_store();
    let ids = [
        json!("seven"),
        json!(""),
        json!("\u{2028}\"\\ é"),
        json!(7),
        json!(0),
        json!(-3),
        json!(1.5),
        json!(u64::MAX),
        json!(i64::MIN),
        Value::Null,
    ];
    let good = |id: &Value| json!({"id": id, "input": view("/memories")});
    let bad = |id: &Value| json!({"id": id, "input": view("/etc")});
    let broken = |id: &Value| json!({"id": id, "input": view("/memories"), "context": 3});
    for (call, is_error) in [
        (&good as &dyn Fn(&Value) -> Value, false),
        (&bad, true),
        (&broken, true),
    ] {
        let calls: Vec<_> = ids.iter().map(call).collect();
        let answers = home.tool(&lines(&calls));
        let echoed: Vec<_> = answers.iter().map(|answer| answer["id"].clone()).collect();
        assert_eq!(echoed, ids);
        assert!(answers.iter().all(|answer| answer["is_error"] == is_error));
    }
    let without = one(&home, &json!({"input": view("/memories")}));
    assert_eq!(without["id"], Value::Null);
}

#[test]
fn a_tool_use_block_is_answered_with_a_tool_result_and_no_field_more() {
    let home = Home::with_store();
    for (input, is_error) in [
        (view("/memories"), false),
        (view("/memories/none"), true),
        (view("/memories/../x"), true),
        (json!({"command": "undo_edit"}), true),
        (json!({}), true),
        (json!([]), true),
        (Value::Null, true),
    ] {
        let call = json!({"type": "tool_use", "id": "toolu_1", "name": "memory", "input": input});
        let answer = one(&home, &call);
        assert_eq!(
            keys(&answer),
            ["type", "tool_use_id", "content", "is_error"]
        );
        assert_eq!(answer["type"], "tool_result");
        assert_eq!(answer["tool_use_id"], "toolu_1");
        assert_eq!(answer["is_error"], is_error, "{call}");
    }
}

#[test]
fn a_tool_use_block_without_input_is_still_answered_as_a_block() {
    let home = Home::with_store();
    let answer = one(
        &home,
        &json!({"type": "tool_use", "id": "toolu_1", "name": "memory"}),
    );
    assert_eq!(answer["type"], "tool_result", "{answer}");
    assert_eq!(answer["tool_use_id"], "toolu_1", "{answer}");
    assert_eq!(answer["is_error"], true, "{answer}");
}

#[test]
fn a_tool_use_block_may_name_the_older_pair() {
    let home = Home::with_store();
    let block = |name: &str, input: Value| json!({"type": "tool_use", "id": "t", "name": name, "input": input});
    let answers = home.tool(&lines(&[
        block("memory_write", json!({"path": "a/b", "content": "x"})),
        block("memory_read", json!({"path": "a/b"})),
        block("memory_read", json!({})),
        block("memory_read", json!({"path": "none"})),
        block("memory_write", json!({"path": "a/b"})),
        block("bash", json!({"command": "view", "path": "/memories"})),
        block("create", json!({"path": "/memories/c", "file_text": "x"})),
    ]));
    let content = |i: usize| answers[i]["content"].as_str().expect("a text");
    assert_eq!(content(0), "Written to a/b");
    assert_eq!(content(1), "x");
    assert_eq!(content(2), "a/b");
    assert_eq!(
        content(3),
        "The path none does not exist. Please provide a valid path."
    );
    assert!(content(4).contains("memory_write") && content(4).contains("`content`"));
    let refused: Vec<_> = answers.iter().map(|a| a["is_error"] == true).collect();
    assert_eq!(refused, [false, false, false, true, true, true, true]);
    assert_eq!(text_of(&home, "a/b"), "x");
}

// The stream.

#[test]
fn each_answer_comes_before_the_next_call_is_written() {
    let home = Home::with_store();
    let mut talk = Talk::start(&home);
    let made = talk.ask(&create("/memories/a", "one"));
    assert_eq!(made["content"], "File created successfully at: /memories/a");
    let again = talk.ask(&json!({"id": 2, "input": create("/memories/a", "two")}));
    assert_eq!(again["content"], "Error: File /memories/a already exists");
    assert_fault(&talk.ask(&json!("no call")), "malformed_line");
    let block =
        json!({"type": "tool_use", "id": "t", "name": "memory", "input": view("/memories/a")});
    let seen = talk.ask(&block);
    assert_eq!(
        seen["content"],
        "Here's the content of /memories/a with line numbers:\n     1\tone"
    );
    assert_eq!(talk.end(), Some(0));
}

/// A call that is here by halves keeps nobody waiting, however long it is.
#[test]
fn a_call_is_answered_before_the_rest_of_the_next_one_is_written() {
    let home = Home::with_store();
    let mut talk = Talk::start(&home);
    for (n, length) in [10, 60_000, 70_000, 700_000].into_iter().enumerate() {
        let path = format!("/memories/{n}");
        let (first, second) = (view("/memories"), create(&path, &"x\n".repeat(length / 2)));
        let second = format!("{second}\n");
        let (begun, rest) = second.split_at(second.len() - 5);
        talk.write(&format!("{first}\n{}", &begun[..begun.len().min(20_000)]));
        assert_eq!(talk.answer()["is_error"], false);
        talk.write(&begun[begun.len().min(20_000)..]);
        talk.write(&format!("{rest}{first}\n"));
        let made = format!("File created successfully at: {path}");
        assert_eq!(talk.answer()["content"], made);
        assert_eq!(talk.answer()["is_error"], false);
    }
    assert_eq!(talk.end(), Some(0));
}

#[test]
fn an_answer_is_recorded_before_it_is_given() {
    let home = Home::with_store();
    let mut talk = Talk::start(&home);
    for text in ["a", "b", "c"] {
        let path = format!("/memories/{text}");
        let answer = talk.ask(&create(&path, text));
        let head = stdout(&home.git(&["rev-parse", "refs/heads/main"]));
        assert_eq!(answer["meta"]["commit"], head.trim());
    }
    assert_eq!(talk.end(), Some(0));
}

#[test]
fn calls_sent_all_at_once_are_carried_out_and_answered_in_order() {
    let home = Home::with_store();
    let mut calls = vec![json!({"id": 0, "input": create("/memories/list", "")})];
    for n in 1..40 {
        let text = format!("line {n}");
        let insert = json!({"command": "insert", "path": "/memories/list", "insert_line": n - 1, "insert_text": text});
        calls.push(json!({"id": n, "input": insert}));
    }
    let answers = home.tool(&lines(&calls));
    let ids: Vec<_> = answers.iter().filter_map(|a| a["id"].as_u64()).collect();
    assert_eq!(ids, (0..40).collect::<Vec<_>>());
    let events: Vec<_> = answers
        .iter()
        .filter_map(|a| a["meta"]["event"].as_u64())
        .collect();
    assert_eq!(events, (1..41).collect::<Vec<_>>());
    let want = (1..40).fold(String::new(), |text, n| format!("{text}line {n}\n"));
    assert_eq!(text_of(&home, "list"), want);
}

/// Lines of many kinds that are no call.
fn broken_lines() -> Vec<Vec<u8>> {
    let nested = |n: usize| "[".repeat(n) + "1" + &"]".repeat(n);
    let deep_field = format!(
        r#"{{"command":"view","path":"/memories","x":{}}}"#,
        nested(100_000)
    );
    let deep_objects = r#"{"a":"#.repeat(200) + "1" + &"}".repeat(200);
    let text = [
        "view /memories",
        "{",
        "}",
        "{}{}",
        r#"{"command":"view","path":"/memories"} trailing"#,
        r#"{"command":"view","path":"/memories",}"#,
        "{'command':'view','path':'/memories'}",
        r#"{"command":"view","path":"/memories"#,
        "{\"command\":\"view\",\"path\":\"a\tb\"}",
        r#"{"command":"view","path":"\x41"}"#,
        r#"{"command":"view","path":NaN}"#,
        "null",
        "true",
        "3",
        "-1e999",
        "\"view\"",
        "[]",
        r#"[{"command":"view","path":"/memories"}]"#,
        "\u{feff}{}",
        "\u{0}",
        "{\"command\":\"view\",\u{0}\"path\":\"/memories\"}",
        &nested(200),
        &deep_objects,
        &deep_field,
        r#"{"command":"view","path":"/memories/\ud800"}"#,
        r#"{"command":"view","path":"/memories/\udc00\ud800"}"#,
        r#"{"command":"create","path":"/memories/s","file_text":"\ud83d!"}"#,
        r#"{"command":"view","path":"/memories","\udfff":1}"#,
    ];
    let bytes: [&[u8]; 4] = [
        b"\xff",
        b"{\"command\":\"view\",\"path\":\"/memories/\xc3\"}",
        b"{\"command\":\"view\",\"path\":\"/memories/\xed\xa0\x80\"}",
        b"\x80\x81",
    ];
    let text = text.iter().map(|line| line.as_bytes());
    text.chain(bytes).map(<[u8]>::to_vec).collect()
}

#[test]
fn a_line_that_is_no_call_is_answered_and_the_stream_goes_on() {
    let home = Home::with_store();
    let broken = broken_lines();
    let call = view("/memories").to_string();
    let mut input = Vec::new();
    for line in &broken {
        input.extend_from_slice(&[line, &b"\n"[..], call.as_bytes(), b"\n"].concat());
    }
    let output = feed(home.command(&["tool"]), &input);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let answers = json_lines(&output.stdout);
    assert_eq!(answers.len(), 2 * broken.len());
    for (pair, line) in answers.chunks(2).zip(&broken) {
        let line = String::from_utf8_lossy(line);
        assert_eq!(pair[0]["is_error"], true, "{line:.80}");
        // Half a surrogate pair or a byte-order mark still leaves a call to refuse and record.
        let is_call = line.contains("\\ud") || line.starts_with('\u{feff}');
        let code = if is_call {
            "malformed"
        } else {
            "malformed_line"
        };
        assert_eq!(pair[0]["meta"]["error"], code, "{line:.80}");
        assert_eq!(pair[0]["id"], Value::Null, "{line:.80}");
        assert_eq!(pair[1]["is_error"], false, "after {line:.80}");
    }
    let content = answers[1]["content"].as_str().expect("a text");
    assert!(
        content.ends_with("node_modules:\n0B\t/memories"),
        "{content}"
    );
}

#[test]
fn half_a_surrogate_pair_is_an_error_that_finds_its_caller() {
    let home = Home::with_store();
    for text in [
        r"\ud800",
        r"x\udc00",
        r"\\\ud83d!",
        r"\ud800\ud800",
        r"\uDBFF\u0041",
    ] {
        let line = format!(
            r#"{{"id":"seven","input":{{"command":"create","path":"/memories/s","file_text":"{text}"}}}}"#
        );
        let answers = home.tool(&line);
        assert_fault(&answers[0], "malformed");
        assert_eq!(answers[0]["id"], "seven", "{line}");
        let block = format!(
            r#"{{"type":"tool_use","id":"toolu_1","name":"memory","input":{{"command":"view","path":"{text}"}}}}"#
        );
        let answers = home.tool(&block);
        assert_eq!(answers[0]["type"], "tool_result", "{block}");
        assert_eq!(answers[0]["tool_use_id"], "toolu_1", "{block}");
        assert_eq!(answers[0]["is_error"], true, "{block}");
    }
    let whole = r#"{"id":1,"input":{"command":"create","path":"/memories/s","file_text":"\ud83d\ude00 \\ud800"}}"#;
    assert_eq!(home.tool(whole)[0]["is_error"], false);
    assert_eq!(text_of(&home, "s"), "\u{1f600} \\ud800");
}

/// Inputs that fit no command, and the words that say so: the command's and the parameter's name.
fn unfit_inputs() -> Vec<(Value, &'static [&'static str])> {
    vec![
        (json!({}), &["`command`", "view", "memory_write"]),
        (json!({"command": null}), &["`command`"]),
        (json!({"command": 3}), &["`command`"]),
        (json!({"command": ["view"]}), &["`command`"]),
        (
            json!({"command": "View"}),
            &["unknown command", "view", "rename"],
        ),
        (
            json!({"command": "undo_edit"}),
            &[
                "view",
                "create",
                "str_replace",
                "insert",
                "delete",
                "rename",
            ],
        ),
        (json!({"command": "view"}), &["view", "`path`"]),
        (json!({"command": "view", "path": 1}), &["view", "`path`"]),
        (
            json!({"command": "view", "path": null}),
            &["view", "`path`"],
        ),
        (
            json!({"command": "view", "path": "/memories", "view_range": [1]}),
            &["view", "`view_range`"],
        ),
        (
            json!({"command": "view", "path": "/memories", "view_range": [1, 2, 3]}),
            &["view", "`view_range`"],
        ),
        (
            json!({"command": "view", "path": "/memories", "view_range": [1, "2"]}),
            &["view", "`view_range`"],
        ),
        (
            json!({"command": "view", "path": "/memories", "view_range": [0.5, 2]}),
            &["view", "`view_range`"],
        ),
        (
            json!({"command": "view", "path": "/memories", "view_range": {}}),
            &["view", "`view_range`"],
        ),
        (
            json!({"command": "create", "path": "/memories/x"}),
            &["create", "`file_text`"],
        ),
        (
            json!({"command": "create", "path": "/memories/x", "file_text": 3}),
            &["create", "`file_text`"],
        ),
        (
            json!({"command": "str_replace", "path": "/memories/x"}),
            &["str_replace", "`old_str`"],
        ),
        (
            json!({"command": "str_replace", "path": "/memories/x", "old_str": "a", "new_str": []}),
            &["str_replace", "`new_str`"],
        ),
        (
            json!({"command": "insert", "path": "/memories/x", "insert_text": "a"}),
            &["insert", "`insert_line`"],
        ),
        (
            json!({"command": "insert", "path": "/memories/x", "insert_line": "1", "insert_text": "a"}),
            &["insert", "`insert_line`"],
        ),
        (
            json!({"command": "insert", "path": "/memories/x", "insert_line": 1.5, "insert_text": "a"}),
            &["insert", "`insert_line`"],
        ),
        (
            json!({"command": "insert", "path": "/memories/x", "insert_line": 1}),
            &["insert", "`insert_text`"],
        ),
        (
            json!({"command": "rename", "old_path": "/memories/x"}),
            &["rename", "`new_path`"],
        ),
        (
            json!({"command": "memory_write", "path": "x"}),
            &["memory_write", "`content`"],
        ),
        (
            json!({"command": "memory_read", "path": 1}),
            &["memory_read", "`path`"],
        ),
    ]
}

#[test]
fn an_input_that_fits_no_command_is_refused_by_name_and_recorded() {
    let home = Home::with_store();
    for (input, words) in unfit_inputs() {
        let answer = one(&home, &input);
        assert_fault(&answer, "malformed");
        let content = answer["content"].as_str().expect("a text");
        for word in words {
            assert!(content.contains(word), "{input}: {content}");
        }
        assert_eq!(answer["meta"]["event"], events(&home) - 1, "{input}");
    }
    assert_eq!(
        one(&home, &json!({"command": "memory_read"}))["content"],
        ""
    );
}

#[test]
fn integral_floats_and_nulls_mean_what_they_look_like() {
    let home = Home::with_store();
    let answers = home.tool(&lines(&[
        create("/memories/a", "1\n2\n3"),
        json!({"command": "insert", "path": "/memories/a", "insert_line": 1.0, "insert_text": "x"}),
        json!({"command": "view", "path": "/memories/a", "view_range": [2.0, -1.0]}),
        json!({"command": "view", "path": "/memories/a", "view_range": null}),
        json!({"command": "str_replace", "path": "/memories/a", "old_str": "x\n", "new_str": null}),
    ]));
    assert!(
        answers.iter().all(|a| a["is_error"] == false),
        "{answers:?}"
    );
    assert_eq!(
        answers[2]["content"],
        "Here's the content of /memories/a with line numbers:\n     2\tx\n     3\t2\n     4\t3\n     5\t"
    );
    assert_eq!(text_of(&home, "a"), "1\n2\n3\n");
}

#[test]
fn extra_fields_of_a_bare_input_are_ignored_whatever_they_hold() {
    let home = Home::with_store();
    for (name, value) in [
        ("bogus", json!(1)),
        ("id", json!({"a": 1})),
        ("name", json!("bash")),
        ("type", json!("memory")),
        ("type", json!("tool_use")),
        ("context", json!("a free text")),
        ("context", json!({"actor": 3})),
    ] {
        let mut call = view("/memories");
        call[name] = value;
        assert_eq!(one(&home, &call)["is_error"], false, "{call}");
    }
}

#[test]
fn blank_lines_and_a_missing_last_newline_are_no_matter() {
    let home = Home::with_store();
    let call = view("/memories").to_string();
    let answers = home.tool(&format!("\n\n \t \n\r\n{call}\n\n\r\n{call}"));
    assert_eq!(answers.len(), 2);
    assert!(answers.iter().all(|answer| answer["is_error"] == false));
    for nothing in ["", "\n", " \r\n\t\n  "] {
        assert!(home.tool(nothing).is_empty());
    }
}

#[test]
fn windows_line_ends_are_harmless_and_stay_out_of_the_text() {
    let home = Home::with_store();
    let call = create("/memories/a", "x\r\ny").to_string();
    let answers = home.tool(&format!("{call}\r\nno call\r\n{}\r\n", view("/memories")));
    assert_eq!(answers.len(), 3);
    assert_eq!(answers[0]["is_error"], false);
    assert_fault(&answers[1], "malformed_line");
    assert_eq!(answers[2]["is_error"], false);
    assert_eq!(text_of(&home, "a"), "x\r\ny");
}

#[test]
fn other_line_separators_stand_inside_strings() {
    let home = Home::with_store();
    let text = "a\u{2028}b\u{2029}c\u{85}d\u{0}e\u{1f}\u{7f}";
    let escaped = create("/memories/escaped", text);
    let raw = r#"{"command":"create","path":"/memories/raw","file_text":"TEXT"}"#;
    let raw = raw.replace("TEXT", "a\u{2028}b\u{2029}c\u{85}d");
    let answers = home.tool(&format!("{escaped}\n{raw}\n"));
    assert_eq!(answers.len(), 2);
    assert_eq!(text_of(&home, "escaped"), text);
    assert_eq!(text_of(&home, "raw"), "a\u{2028}b\u{2029}c\u{85}d");
    for path in [
        "/memories/a\u{2028}b",
        "/memories/a\u{2029}b",
        "/memories/a\u{0}b",
    ] {
        assert_fault(&one(&home, &create(path, "x")), "denied");
    }
}

#[test]
fn a_line_over_the_limit_is_refused_unread_and_the_stream_goes_on() {
    let home = with_policy("[limits]\nrequest_bytes = 1024\n");
    let of_length = |length: usize| {
        let line = create("/memories/a", "").to_string();
        line.replace(r#""""#, &format!("\"{}\"", "x".repeat(length - line.len())))
    };
    assert_eq!(of_length(1024).len(), 1024);
    for (length, ends) in [
        (1025, "\n"),
        (5_000, "\n"),
        (100_000, "\r\n"),
        (1_000_000, "\n"),
    ] {
        let input = format!("{}{ends}{}\n", of_length(length), view("/memories"));
        let answers = home.tool(&input);
        assert_eq!(answers.len(), 2, "{length}");
        assert_fault(&answers[0], "limit_exceeded");
        assert_eq!(answers[0]["id"], Value::Null);
        assert!(
            answers[0]["content"]
                .as_str()
                .expect("a text")
                .contains("1024")
        );
        assert!(
            answers[1]["content"]
                .as_str()
                .expect("a text")
                .ends_with("0B\t/memories")
        );
    }
    let last = home.tool(&of_length(1025));
    assert_eq!(last.len(), 1);
    assert_fault(&last[0], "limit_exceeded");
    let answers = home.tool(&format!("{}\n{}", of_length(1024), view("/memories/a")));
    assert_eq!(answers[0]["is_error"], false, "{}", answers[0]);
}

// Where calls come from.

#[test]
fn calls_come_from_files_and_standard_input_in_the_order_named() {
    let home = Home::with_store();
    let file = |name: &str, n: u32| {
        let call = json!({"id": n, "input": view("/memories")});
        fs::write(home.path().join(name), call.to_string()).expect("a file");
    };
    file("1.jsonl", 1);
    file("3.jsonl", 3);
    let stdin = json!({"id": 2, "input": view("/memories")}).to_string();
    for (args, want) in [
        (&["tool", "1.jsonl", "-", "3.jsonl"][..], &[1, 2, 3][..]),
        (&["tool", "3.jsonl", "1.jsonl"], &[3, 1]),
        (&["tool", "-"], &[2]),
        (&["tool"], &[2]),
    ] {
        let output = home.run_with_input(args, &stdin);
        assert!(output.status.success(), "{}", stderr(&output));
        let answers = json_lines(&output.stdout);
        let ids: Vec<_> = answers.iter().filter_map(|a| a["id"].as_u64()).collect();
        assert_eq!(ids, want, "{args:?}");
    }
}

#[test]
fn a_file_of_calls_that_cannot_be_read_ends_the_run_after_what_came_before() {
    let home = Home::with_store();
    let call = json!({"id": 1, "input": view("/memories")}).to_string();
    for bad in ["none.jsonl", "/"] {
        let output = home.run_with_input(&["tool", "-", bad], &call);
        assert_eq!(output.status.code(), Some(16), "{bad}");
        assert_eq!(json_lines(&output.stdout).len(), 1, "{bad}");
        let words = stderr(&output);
        assert!(words.contains(bad), "{words}");
        assert!(
            words.starts_with("error: ") && words.contains("\nhint: "),
            "{words}"
        );
    }
}

#[test]
fn recorded_sessions_fail_only_where_they_mean_to() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sessions");
    for (name, count, meant) in [
        (
            "support-desk.jsonl",
            48,
            &["call-018", "call-024", "call-031", "call-034"][..],
        ),
        ("refactoring.jsonl", 46, &[]),
        ("multi-session.jsonl", 60, &[]),
    ] {
        let home = Home::with_store();
        let file = folder.join(name);
        let output = home.run(&["tool", file.to_str().expect("UTF-8")]);
        assert!(output.status.success(), "{}", stderr(&output));
        let answers = json_lines(&output.stdout);
        assert_eq!(answers.len(), count, "{name}");
        let failed = answers.iter().filter(|answer| answer["is_error"] == true);
        let failed: Vec<_> = failed.map(|answer| answer["id"].clone()).collect();
        assert_eq!(failed, meant, "{name}");
        assert_eq!(events(&home), 1 + count as u64, "{name}");
    }
}

// Making the store.

#[test]
fn init_makes_the_store_and_its_keys_for_their_owner_only() {
    let home = Home::empty();
    let output = home.run_with_input(&["tool", "--init"], &lines(&[create("/memories/a", "x")]));
    assert!(output.status.success(), "{}", stderr(&output));
    let answers = json_lines(&output.stdout);
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0]["meta"]["event"], 1);
    for (path, want) in [
        (home.identity(), 0o600),
        (home.signing_key(), 0o600),
        (
            home.identity().parent().expect("a folder").to_owned(),
            0o700,
        ),
        (home.store(), 0o700),
        (home.store().join("keyring"), 0o700),
        (home.store().join("keyring/epoch.age"), 0o600),
        (home.store().join("keyring/audit.age"), 0o600),
        (home.store().join("keyring/ring"), 0o600),
        (home.store().join("keyring/names"), 0o600),
        (home.store().join("journal"), 0o600),
        (home.store().join("lock"), 0o600),
    ] {
        assert_eq!(mode(&path), want, "{}", path.display());
    }
}

#[test]
fn init_is_harmless_where_there_is_a_store() {
    let home = Home::with_store();
    home.tool(&lines(&[create("/memories/a", "x")]));
    let keys = || [home.identity(), home.signing_key()].map(|key| fs::read(key).expect("a key"));
    let before = keys();
    let output = home.run_with_input(&["tool", "--init"], &lines(&[view("/memories/a")]));
    assert!(output.status.success(), "{}", stderr(&output));
    let answers = json_lines(&output.stdout);
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0]["is_error"], false);
    assert_eq!(answers[0]["meta"]["event"], 2);
    assert_eq!(keys(), before);
}

#[test]
fn init_takes_no_folder_that_holds_something_else() {
    let home = Home::empty();
    fs::create_dir(home.store()).expect("a folder");
    fs::write(home.store().join("diary.txt"), "mine").expect("a file");
    let output = home.run_with_input(&["tool", "--init"], &lines(&[view("/memories")]));
    assert_eq!(output.status.code(), Some(5));
    assert!(output.stdout.is_empty());
    let diary = fs::read_to_string(home.store().join("diary.txt")).expect("kept");
    assert_eq!(diary, "mine");
    assert_eq!(fs::read_dir(home.store()).expect("a folder").count(), 1);
}

#[test]
fn without_init_a_missing_store_is_an_error_and_stays_missing() {
    let home = Home::empty();
    let output = home.run_with_input(&["tool"], &lines(&[view("/memories")]));
    assert_eq!(output.status.code(), Some(10));
    assert!(output.stdout.is_empty());
    assert!(stderr(&output).contains("agekeep init"));
    assert_eq!(fs::read_dir(home.path()).expect("a folder").count(), 0);
}

// The context.

#[test]
fn the_context_of_a_call_is_recorded() {
    let home = Home::with_store();
    let context = json!({
        "actor": "desk agent", "session": "s-1", "tool_use_id": "toolu_9", "client": "desk/4.2",
        "trace": "4bf92f3577b34da6a3ce929d0e0e4736", "reason": "first\nlook", "unknown": [1, 2],
    });
    home.tool(&lines(&[
        json!({"id": 1, "input": view("/memories"), "context": context}),
        json!({"id": 2, "input": view("/memories/none"), "context": context}),
        json!({"id": 3, "input": {"command": "undo"}, "context": context}),
    ]));
    for (event, command) in log(&home, &["-n", "3"])
        .iter()
        .zip(["unknown", "view", "view"])
    {
        for name in [
            "actor",
            "session",
            "tool_use_id",
            "client",
            "trace",
            "reason",
        ] {
            assert_eq!(event[name], context[name], "{name}");
        }
        assert_eq!(event["door"], "tool");
        assert_eq!(event["command"], command);
    }
}

#[test]
fn the_user_at_the_machine_is_not_taken_for_the_agent() {
    let home = Home::with_store();
    home.tool(&lines(&[
        view("/memories"),
        json!({"input": view("/memories"), "context": null}),
        json!({"input": view("/memories"), "context": {"actor": null}}),
    ]));
    for event in log(&home, &["-n", "3"]) {
        assert_eq!(event["actor"], Value::Null);
    }
    assert_eq!(log(&home, &[])[3]["actor"], "tester", "init was the user's");
}

#[test]
fn options_fill_in_what_a_call_does_not_say() {
    let home = Home::with_store();
    let args = ["--actor", "a0", "--session", "s0", "--reason", "r0", "tool"];
    let calls = [
        json!({"input": view("/memories"), "context": {"actor": "a1"}}),
        json!({"type": "tool_use", "id": "toolu_1", "name": "memory", "input": view("/memories")}),
        json!({"type": "tool_use", "id": "toolu_2", "name": "memory", "input": view("/memories"),
            "context": {"session": "s1", "tool_use_id": "mine"}}),
    ];
    let output = home.run_with_input(&args, &lines(&calls));
    assert!(output.status.success(), "{}", stderr(&output));
    let mut found = log(&home, &["-n", "3"]);
    found.reverse();
    let facts = |event: &Value| {
        ["actor", "session", "reason", "tool_use_id"].map(|name| event[name].clone())
    };
    let null = Value::Null;
    assert_eq!(
        facts(&found[0]),
        [json!("a1"), json!("s0"), json!("r0"), null]
    );
    assert_eq!(facts(&found[1]), ["a0", "s0", "r0", "toolu_1"]);
    assert_eq!(facts(&found[2]), ["a0", "s1", "r0", "mine"]);
}

#[test]
fn a_context_that_does_not_fit_is_refused_and_nothing_is_done() {
    let home = Home::with_store();
    for context in [
        json!(3),
        json!("me"),
        json!([]),
        json!(true),
        json!({"actor": 3}),
        json!({"session": []}),
        json!({"tool_use_id": 1}),
        json!({"client": {}}),
        json!({"reason": false}),
        json!({"base_sha256": 1}),
        json!({"base_sha256": ""}),
        json!({"base_sha256": "ab"}),
        json!({"base_sha256": sha256("x").to_uppercase()}),
        json!({"base_sha256": format!("{}0", sha256("x"))}),
        json!({"base_sha256": "g".repeat(64)}),
    ] {
        let call = json!({"id": 1, "input": create("/memories/a", "x"), "context": context});
        let answer = one(&home, &call);
        assert_fault(&answer, "malformed");
        assert_eq!(answer["id"], 1);
        let content = answer["content"].as_str().expect("a text");
        assert!(content.contains("`context"), "{content}");
    }
    let done = log(&home, &["--command", "create", "--outcome", "ok"]);
    assert!(done.is_empty(), "none was recorded as done");
}

// The precondition.

/// Every command that changes one text: itself, and the text it makes of "one\n".
fn changes() -> Vec<(Value, &'static str)> {
    vec![
        (
            json!({"command": "str_replace", "path": "/memories/f", "old_str": "one", "new_str": "two"}),
            "two\n",
        ),
        (
            json!({"command": "insert", "path": "/memories/f", "insert_line": 1, "insert_text": "two"}),
            "one\ntwo\n",
        ),
        (
            json!({"command": "memory_write", "path": "f", "content": "two\n"}),
            "two\n",
        ),
    ]
}

fn with_memory(text: &str) -> Home {
    let home = Home::with_store();
    home.tool(&lines(&[create("/memories/f", text)]));
    home
}

#[test]
fn a_change_upon_the_present_text_proceeds() {
    for (input, want) in changes() {
        let home = with_memory("one\n");
        let answer = one(&home, &upon("one\n", &input));
        assert_eq!(answer["is_error"], false, "{answer}");
        assert_eq!(answer["meta"]["version"], 2, "{answer}");
        assert_eq!(answer["meta"]["sha256"], sha256(want), "{answer}");
        assert_eq!(text_of(&home, "f"), want);
    }
}

#[test]
fn a_change_upon_a_text_that_moved_on_is_refused() {
    for (input, _) in changes() {
        for (now, base) in [("one\nmore\n", "one\n"), ("one\n", ""), ("one\n", "One\n")] {
            let home = with_memory(now);
            let answer = one(&home, &upon(base, &input));
            assert_fault(&answer, "precondition_failed");
            assert_eq!(answer["meta"]["version"], 1, "{answer}");
            assert_eq!(text_of(&home, "f"), now, "{input}");
        }
    }
}

#[test]
fn a_change_sent_again_succeeds_and_changes_nothing() {
    for (input, want) in changes() {
        let home = with_memory("one\n");
        let call = upon("one\n", &input);
        let answers = home.tool(&lines(&[call.clone(), call.clone(), call]));
        for again in &answers[1..] {
            assert_eq!(again["is_error"], false, "{again}");
            assert_eq!(again["content"], answers[0]["content"]);
            assert_eq!(again["meta"]["version"], 2, "{again}");
            assert_eq!(again["meta"]["sha256"], sha256(want), "{again}");
        }
        assert_eq!(text_of(&home, "f"), want);
    }
}

#[test]
fn a_change_that_was_followed_by_another_is_refused_when_sent_again() {
    for (input, _) in changes() {
        let home = with_memory("one\n");
        let call = upon("one\n", &input);
        let other = json!({"command": "memory_write", "path": "f", "content": "other"});
        let answers = home.tool(&lines(&[call.clone(), other, call]));
        assert_fault(&answers[2], "precondition_failed");
        assert_eq!(text_of(&home, "f"), "other");
    }
}

#[test]
fn a_change_upon_the_text_before_that_makes_another_text_is_refused() {
    let home = with_memory("one\n");
    let other = json!({"command": "memory_write", "path": "f", "content": "other"});
    home.tool(&lines(&[other]));
    for (input, _) in changes() {
        let answer = one(&home, &upon("one\n", &input));
        assert_fault(&answer, "precondition_failed");
    }
    assert_eq!(text_of(&home, "f"), "other");
}

#[test]
fn a_change_after_a_rename_still_goes_by_the_text() {
    for (input, _) in changes() {
        let home = with_memory("one\n");
        let away =
            json!({"command": "rename", "old_path": "/memories/f", "new_path": "/memories/g"});
        let back =
            json!({"command": "rename", "old_path": "/memories/g", "new_path": "/memories/f"});
        home.tool(&lines(&[away, back]));
        assert_fault(&one(&home, &upon("stale", &input)), "precondition_failed");
        assert_eq!(one(&home, &upon("one\n", &input))["is_error"], false);
    }
}

#[test]
fn a_command_upon_a_memory_that_is_gone_is_refused() {
    let home = Home::with_store();
    let write = json!({"command": "memory_write", "path": "f", "content": "x"});
    for input in [create("/memories/f", "x"), write] {
        assert_fault(&one(&home, &upon("one", &input)), "precondition_failed");
    }
    let replace = json!({"command": "str_replace", "path": "/memories/f", "old_str": "a"});
    let insert =
        json!({"command": "insert", "path": "/memories/f", "insert_line": 0, "insert_text": "a"});
    for input in [replace, insert, view("/memories/f")] {
        assert_eq!(
            one(&home, &upon("one", &input))["meta"]["error"],
            "not_found"
        );
    }
    assert_eq!(
        one(&home, &json!({"command": "memory_read"}))["content"],
        ""
    );
}

#[test]
fn a_create_upon_a_text_is_refused_done_already_or_told_that_the_file_exists() {
    let home = with_memory("one");
    let again = |text: &str, base: &str| one(&home, &upon(base, &create("/memories/f", text)));
    assert_fault(&again("two", "stale"), "precondition_failed");
    let done = again("one", "before");
    assert_eq!(done["content"], "File created successfully at: /memories/f");
    assert_eq!(done["meta"]["version"], 1);
    assert_fault(&again("two", "one"), "already_exists");
    assert_eq!(text_of(&home, "f"), "one");
}

#[test]
fn a_create_upon_the_present_text_overwrites_where_the_policy_lets_it() {
    let home = with_policy("[tool]\ncreate_overwrites = true\n");
    home.tool(&lines(&[create("/memories/f", "one")]));
    let stale = one(&home, &upon("stale", &create("/memories/f", "two")));
    assert_fault(&stale, "precondition_failed");
    let done = one(&home, &upon("one", &create("/memories/f", "two")));
    assert_eq!(done["content"], "File created successfully at: /memories/f");
    assert_eq!(done["meta"]["version"], 2);
    let again = one(&home, &upon("one", &create("/memories/f", "two")));
    assert_eq!(
        (&again["is_error"], &again["meta"]["version"]),
        (&json!(false), &json!(2))
    );
    assert_eq!(text_of(&home, "f"), "two");
}

#[test]
fn a_delete_goes_by_the_text_and_may_be_sent_again() {
    let home = with_memory("one");
    let delete = json!({"command": "delete", "path": "/memories/f"});
    assert_fault(&one(&home, &upon("stale", &delete)), "precondition_failed");
    assert_eq!(text_of(&home, "f"), "one");
    for _ in 0..2 {
        let answer = one(&home, &upon("one", &delete));
        assert_eq!(answer["content"], "Successfully deleted /memories/f");
        assert_eq!(answer["is_error"], false);
    }
    assert_eq!(one(&home, &delete)["meta"]["error"], "not_found");
    home.tool(&lines(&[create("/memories/f", "new")]));
    assert_fault(&one(&home, &upon("one", &delete)), "precondition_failed");
    assert_eq!(text_of(&home, "f"), "new");
}

#[test]
fn a_rename_goes_by_the_text_and_may_be_sent_again() {
    let home = with_memory("one");
    let rename = json!({"command": "rename", "old_path": "/memories/f", "new_path": "/memories/g"});
    assert_fault(&one(&home, &upon("stale", &rename)), "precondition_failed");
    assert_eq!(text_of(&home, "f"), "one");
    for _ in 0..2 {
        let answer = one(&home, &upon("one", &rename));
        assert_eq!(
            answer["content"],
            "Successfully renamed /memories/f to /memories/g"
        );
        assert_eq!(answer["meta"]["version"], 2);
    }
    assert_fault(&one(&home, &upon("other", &rename)), "precondition_failed");
    home.tool(&lines(&[create("/memories/f", "one")]));
    assert_fault(&one(&home, &upon("one", &rename)), "already_exists");
}

#[test]
fn a_directory_has_no_text_to_go_by() {
    let home = Home::with_store();
    home.tool(&lines(&[create("/memories/d/f", "one")]));
    for input in [
        view("/memories/d"),
        view("/memories"),
        json!({"command": "delete", "path": "/memories/d"}),
        json!({"command": "rename", "old_path": "/memories/d", "new_path": "/memories/e"}),
    ] {
        assert_fault(&one(&home, &upon("one", &input)), "precondition_failed");
    }
    assert_eq!(text_of(&home, "d/f"), "one");
}

#[test]
fn a_read_goes_by_the_text_too() {
    let home = with_memory("one");
    for input in [
        view("/memories/f"),
        json!({"command": "memory_read", "path": "f"}),
    ] {
        assert_fault(&one(&home, &upon("two", &input)), "precondition_failed");
        assert_eq!(one(&home, &upon("one", &input))["is_error"], false);
    }
}

// Facts beside the answers.

#[test]
fn the_facts_beside_an_answer_are_true() {
    let home = Home::with_store();
    let mut talk = Talk::start(&home);
    let rename =
        json!({"command": "rename", "old_path": "/memories//f", "new_path": "/memories/e\u{301}"});
    let replace =
        json!({"command": "str_replace", "path": "/memories/f", "old_str": "n", "new_str": ""});
    let mut memory = None;
    for (number, (call, version, path, text)) in (1u64..).zip([
        (
            create("/memories/f", "one\r\n"),
            1,
            "/memories/f",
            "one\r\n",
        ),
        (view("/memories/./f"), 1, "/memories/f", "one\r\n"),
        (replace, 2, "/memories/f", "oe\r\n"),
        (rename, 3, "/memories/\u{e9}", "oe\r\n"),
        (
            json!({"command": "memory_read", "path": "\u{e9}"}),
            3,
            "/memories/\u{e9}",
            "oe\r\n",
        ),
    ]) {
        let answer = talk.ask(&call);
        let meta = &answer["meta"];
        let head = git(&home.store(), &["rev-parse", "main"]);
        assert_eq!(meta["event"], number, "{answer}");
        assert_eq!(meta["commit"], stdout(&head).trim(), "{answer}");
        assert_eq!(meta["outcome"], "ok", "{answer}");
        assert_eq!(meta.get("error"), None, "{answer}");
        assert_eq!(meta["version"], version, "{answer}");
        assert_eq!(meta["path"], path, "{answer}");
        assert_eq!(meta["bytes"], text.len(), "{answer}");
        assert_eq!(meta["sha256"], sha256(text), "{answer}");
        let id = meta["memory"].as_str().expect("an id").to_owned();
        assert_eq!(id.len(), 32);
        assert_eq!(*memory.get_or_insert(id.clone()), id, "lasting name");
    }
    let again = talk.ask(&create("/memories/f", "one\r\n"));
    assert_ne!(
        again["meta"]["memory"],
        memory.expect("an id"),
        "a new memory"
    );
    assert_eq!(talk.end(), Some(0));
}

#[test]
fn the_facts_beside_a_refusal_name_it_and_no_text() {
    let home = with_memory("one");
    for (call, error, outcome) in [
        (view("/memories/none"), "not_found", "error"),
        (create("/memories/f", "two"), "already_exists", "error"),
        (view("/etc/passwd"), "denied", "denied"),
        (view("/memories/../f"), "denied", "denied"),
        (
            json!({"command": "delete", "path": "/memories"}),
            "denied",
            "denied",
        ),
        (
            json!({"command": "rename", "old_path": "/memories", "new_path": "/memories/x"}),
            "denied",
            "denied",
        ),
        (
            json!({"command": "str_replace", "path": "/memories/f", "old_str": "two"}),
            "failed",
            "error",
        ),
        (
            json!({"command": "str_replace", "path": "/memories/f", "old_str": ""}),
            "failed",
            "error",
        ),
        (
            json!({"command": "view", "path": "/memories/f", "view_range": [9, 9]}),
            "failed",
            "error",
        ),
        (json!({"command": "nonsense"}), "malformed", "error"),
    ] {
        let answer = one(&home, &call);
        let meta = &answer["meta"];
        let head = git(&home.store(), &["rev-parse", "main"]);
        assert_eq!(answer["is_error"], true, "{answer}");
        assert_eq!(meta["error"], error, "{answer}");
        assert_eq!(meta["outcome"], outcome, "{answer}");
        assert_eq!(meta["commit"], stdout(&head).trim(), "{answer}");
        assert_eq!(meta.get("sha256"), None, "{answer}");
        assert_eq!(log(&home, &["-n", "1"])[0]["error"], error);
    }
}

#[test]
fn the_root_is_refused_before_the_destination_is_looked_at() {
    let home = with_memory("one");
    for to in [
        "/memories/x",
        "/memories/f",
        "/memories",
        "/etc/x",
        "/memories/../x",
    ] {
        let call = json!({"command": "rename", "old_path": "/memories/", "new_path": to});
        assert_eq!(
            one(&home, &call)["content"],
            "Error: Cannot rename the /memories directory itself",
            "{to}"
        );
    }
}

// When the store itself fails.

#[test]
fn a_store_deleted_meanwhile_gives_errors_without_a_path_of_the_machine() {
    let home = Home::with_store();
    let mut talk = Talk::start(&home);
    assert_eq!(talk.ask(&create("/memories/a", "x"))["is_error"], false);
    fs::remove_dir_all(home.store()).expect("deleted");
    for input in [
        view("/memories/a"),
        view("/memories"),
        create("/memories/b", "x"),
        json!({"command": "delete", "path": "/memories/a"}),
        json!({"command": "memory_read"}),
    ] {
        let answer = talk.ask(&json!({"id": 7, "input": input}));
        assert_fault(&answer, "io");
        assert_eq!(answer["id"], 7);
        assert_no_path(&home, &answer);
        let block = json!({"type": "tool_use", "id": "t", "name": "memory", "input": input});
        let answer = talk.ask(&block);
        assert_eq!(
            (&answer["type"], &answer["is_error"]),
            (&json!("tool_result"), &json!(true))
        );
        assert_no_path(&home, &answer);
    }
    assert_fault(&talk.ask(&json!("no call")), "malformed_line");
    assert_eq!(talk.end(), Some(16), "commands went unrecorded");
    assert!(!home.store().exists(), "nothing was made in its place");
}

fn assert_no_path(home: &Home, answer: &Value) {
    let content = answer["content"].as_str().expect("a text");
    let folder = home.path().display().to_string();
    assert!(!content.contains(&folder), "{content}");
    assert!(!content.contains("/store"), "{content}");
}

#[test]
fn a_damaged_memory_gives_an_error_without_a_path_of_the_machine() {
    let home = with_memory("one");
    let entry = log(&home, &["-n", "1"]).remove(0);
    let blob = entry["memories"][0]["blob"]
        .as_str()
        .expect("a blob")
        .to_owned();
    let object = home
        .store()
        .join("objects")
        .join(&blob[..2])
        .join(&blob[2..]);
    fs::remove_file(&object).expect("a loose object");
    fs::write(&object, b"damaged").expect("damaged");
    // The journal would bring it back.
    fs::remove_file(home.store().join("journal")).expect("there");
    let answers = home.tool(&lines(&[view("/memories/f"), view("/memories")]));
    assert_fault(&answers[0], "damaged");
    assert_no_path(&home, &answers[0]);
    assert_eq!(answers[1]["is_error"], false);
    assert_eq!(log(&home, &["-n", "2"])[1]["error"], "damaged");
}

#[test]
fn a_key_that_may_not_write_gives_errors_and_records_nothing() {
    let (home, other) = (with_memory("one"), Home::with_store());
    let before = events(&home);
    let mut tool = home.command(&["tool", "--signing-key"]);
    tool.arg(other.signing_key());
    let calls = [view("/memories/f"), create("/memories/g", "x")];
    let output = feed(tool, lines(&calls).as_bytes());
    assert_eq!(output.status.code(), Some(7));
    let answers = json_lines(&output.stdout);
    assert_eq!(answers.len(), 2);
    for answer in &answers {
        assert_fault(answer, "not_a_signer");
        assert_no_path(&home, answer);
        assert!(!answer["content"].as_str().expect("a text").contains("one"));
    }
    assert_eq!(events(&home), before);
}

#[test]
fn a_disk_that_takes_no_more_gives_errors_and_the_stream_goes_on() {
    let home = with_memory("one");
    let before = events(&home);
    // The limit on file sizes stands for a full disk; ignored, its signal becomes an error.
    let script = "trap '' XFSZ; ulimit -f 0; exec \"$0\" tool";
    let plain = home.command(&[]);
    let mut tool = shell_like(&plain, &["-c", script]);
    tool.arg(plain.get_program());
    let calls = [view("/memories/f"), view("/memories"), create("/g", "x")];
    let output = feed(tool, lines(&calls).as_bytes());
    assert_eq!(output.status.code(), Some(16), "{}", stderr(&output));
    let answers = json_lines(&output.stdout);
    assert_eq!(answers.len(), 3);
    for answer in &answers {
        assert_fault(answer, "io");
        assert_no_path(&home, answer);
    }
    assert_eq!(events(&home), before);
    assert_eq!(text_of(&home, "f"), "one");
}

/// A shell with the environment and folder of another command.
fn shell_like(command: &Command, args: &[&str]) -> Command {
    let mut shell = Command::new("/bin/sh");
    shell.env_clear().args(args);
    shell.envs(
        command
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    shell.current_dir(command.get_current_dir().expect("set by the home"));
    shell
}

#[test]
fn a_traversal_is_recorded_however_else_the_call_is_wrong() {
    let home = Home::with_store();
    let path = "/memories/../../etc/passwd";
    let answers = home.tool(&format!(
        r#"{{"command":"view","path":"{path}","view_range":"x"}}
{{"id":7,"input":{{"command":"view","path":"{path}"}},"context":5}}
{{"id":8,"input":{{"command":"view","path":"{path}\ud800"}}}}
"#
    ));
    assert!(answers.iter().all(|answer| answer["is_error"] == true));
    let log = json_lines(&home.run(&["log", "--json", "--outcome", "denied"]).stdout);
    assert_eq!(log.len(), 3, "{log:?}");
    assert!(
        log.iter()
            .all(|event| event["path"].as_str().is_some_and(|p| p.starts_with(path)))
    );
}

#[test]
fn a_rename_onto_itself_is_recorded_as_of_one_memory() {
    let home = Home::with_store();
    let answers = home.tool(
        r#"{"command":"create","path":"/memories/f","file_text":"seven b"}
{"command":"rename","old_path":"/memories/f","new_path":"/memories/f"}
"#,
    );
    assert_fault(&answers[1], "already_exists");
    let log = json_lines(&home.run(&["log", "--json", "-n", "1"]).stdout);
    let touched = log[0]["memories"].as_array().expect("a list");
    assert_eq!(touched.len(), 1, "{log:?}");
    assert_eq!(log[0]["new_path"], "/memories/f");
}
