//! The memory tool's contract through MCP: every case, by one tool for each command and by one for all.

use std::fs;
use std::path::{Path, PathBuf};

use fancy_regex::Regex;
use serde_json::{Map, Value, json};

use crate::mcp::client::{Server, text};
use crate::support::{Home, stdout};

/// Cases in the file, so that none is lost without a test noticing.
const CASES: usize = 108;
/// Their steps.
const STEPS: usize = 281;

fn cases() -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/conformance/cases.json");
    let file = fs::read_to_string(path).expect("the cases can be read");
    let file: Value = serde_json::from_str(&file).expect("JSON");
    file["cases"].as_array().expect("cases").clone()
}

fn fits(want: &Value, given: &str) -> bool {
    match want {
        Value::String(text) => text == given,
        Value::Object(fields) if fields.contains_key("re") => {
            let pattern = format!(r"\A(?s:{})\z", fields["re"].as_str().expect("a pattern"));
            let regex = Regex::new(&pattern).expect("the pattern parses");
            regex.is_match(given).expect("it is decidable")
        }
        other => {
            let any = other["any"].as_array().expect("alternatives");
            any.iter().any(|want| fits(want, given))
        }
    }
}

/// Why a value is not what a schema of the plain kind used here asks for.
fn misfit(schema: &Value, value: &Value) -> Option<String> {
    let fault = |why: &str| Some(format!("{why}: {value} for {schema}"));
    match schema["type"].as_str().expect("a type") {
        "string" if !value.is_string() => fault("no string"),
        "integer" if !value.is_i64() => fault("no integer"),
        "boolean" if !value.is_boolean() => fault("no flag"),
        "array" => {
            let Some(items) = value.as_array() else {
                return fault("no array");
            };
            items.iter().find_map(|item| misfit(&schema["items"], item))
        }
        "object" => {
            let Some(fields) = value.as_object() else {
                return fault("no object");
            };
            let required = schema["required"].as_array().into_iter().flatten();
            for name in required.map(|name| name.as_str().expect("a name")) {
                if !fields.contains_key(name) {
                    return fault(name);
                }
            }
            let known = schema["properties"].as_object();
            let known = known.into_iter().flatten();
            known
                .filter_map(|(name, schema)| Some((schema, fields.get(name)?)))
                .find_map(|(schema, value)| misfit(schema, value))
        }
        _ => None,
    }
}

#[test]
fn the_checker_of_schemas_finds_faults() {
    let schema = json!({"type": "object", "required": ["a"], "properties": {
        "a": {"type": "integer"}, "b": {"type": "array", "items": {"type": "object"}},
        "c": {"type": "string"}, "d": {"type": "boolean"},
    }});
    for good in [
        json!({"a": 1}),
        json!({"a": 1, "b": [{}], "c": "", "d": true, "e": null}),
    ] {
        assert_eq!(misfit(&schema, &good), None);
    }
    for bad in [
        json!(null),
        json!([]),
        json!({}),
        json!({"a": "1"}),
        json!({"a": 1.5}),
        json!({"a": 1, "b": {}}),
        json!({"a": 1, "b": [1]}),
        json!({"a": 1, "c": 1}),
        json!({"a": 1, "d": 0}),
    ] {
        assert!(misfit(&schema, &bad).is_some(), "{bad}");
    }
}

/// A store nothing was ever put in, copied for each case.
struct Empty {
    home: Home,
}

impl Empty {
    fn new() -> Self {
        let home = Home::with_store();
        Self { home }
    }

    fn copy(&self, index: usize) -> PathBuf {
        let to = self.home.path().join(format!("copy-{index}"));
        copy_folder(&self.home.store(), &to);
        to
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let beside = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy_folder(&path, &beside);
        } else {
            fs::copy(&path, &beside).expect("a copy");
        }
    }
}

/// The tools of a server by name, with what they say they answer.
fn answers_of(server: &mut Server) -> Map<String, Value> {
    let listed = server.result("tools/list", json!({}));
    let tools = listed["tools"].as_array().expect("tools");
    let one = |tool: &Value| {
        let name = tool["name"].as_str().expect("a name");
        (name.to_owned(), tool["outputSchema"].clone())
    };
    tools.iter().map(one).collect()
}

/// Runs every case and answers how many steps there were; `spell` makes a call of a step's input, or
/// none where there is no such tool.
fn every_case(options: &[&str], spell: fn(&Value) -> Option<(String, Value)>) -> usize {
    let empty = Empty::new();
    let (mut steps, mut faults) = (0, Vec::new());
    let all = cases();
    assert_eq!(all.len(), CASES);
    for (index, case) in all.iter().enumerate() {
        let store = empty.copy(index);
        let args = ["-C", store.to_str().expect("UTF-8"), "mcp"];
        let mut command = empty.home.command(&[&args[..], options].concat());
        command.env("USER", "tester");
        let mut server = Server::start(command).introduce();
        let schemas = answers_of(&mut server);
        for step in case["steps"].as_array().expect("steps") {
            steps += 1;
            let Some((tool, arguments)) = spell(&step["input"]) else {
                continue;
            };
            let result = server.call(&tool, arguments);
            let (said, is_error) = (text(&result), result["isError"] == true);
            let mut fault =
                |why: &str| faults.push(format!("{}: {why}: {step}\n  {result}", case["id"]));
            if !fits(&step["want"], &said) {
                fault("other words");
            }
            if step["err"].as_bool().is_some_and(|err| err != is_error) {
                fault("other isError");
            }
            if said.contains(empty.home.path().to_str().expect("UTF-8")) {
                fault("a path of the machine");
            }
            if let Some(why) = misfit(&schemas[&tool], &result["structuredContent"]) {
                fault(&why);
            }
        }
    }
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
    steps
}

#[test]
fn one_tool_for_each_command_keeps_the_contract() {
    let spell = |input: &Value| {
        let tool = format!("memory_{}", input["command"].as_str()?);
        let mut arguments = input.clone();
        arguments
            .as_object_mut()
            .expect("an object")
            .remove("command");
        // A tool that is not there is no case of a command.
        (tool != "memory_undo_edit").then_some((tool, arguments))
    };
    assert_eq!(every_case(&[], spell), STEPS);
}

#[test]
fn one_tool_for_all_commands_keeps_the_contract() {
    let spell = |input: &Value| Some(("memory".to_owned(), input.clone()));
    assert_eq!(every_case(&["--single-tool"], spell), STEPS);
}

#[test]
fn the_older_pair_of_commands_keeps_the_contract() {
    let home = Home::with_store();
    let mut server = Server::older(&home, &["--tools", "read-write"]);
    let said = server.done("memory_write", json!({"path": "d/a.md", "content": "one"}));
    assert_eq!(said, "Written to d/a.md");
    assert_eq!(
        server.done("memory_read", json!({"path": "/memories/d/a.md"})),
        "one"
    );
    server.done("memory_write", json!({"path": "/.hidden", "content": ""}));
    assert_eq!(server.done("memory_read", json!({})), ".hidden\nd/a.md");
    assert_eq!(
        server.done("memory_read", json!({"path": null})),
        ".hidden\nd/a.md"
    );
    for (tool, arguments) in [
        ("memory_read", json!({"path": "none"})),
        ("memory_read", json!({"path": "../a"})),
        ("memory_read", json!({"path": "d"})),
        ("memory_read", json!({"path": 5})),
        ("memory_write", json!({"path": "d", "content": "x"})),
        ("memory_write", json!({"path": "d/a.md/b", "content": "x"})),
        ("memory_write", json!({"path": "x"})),
        ("memory_write", json!({"content": "x"})),
        ("memory_write", json!({"path": "a\u{0}b", "content": "x"})),
    ] {
        server.failed(tool, arguments);
    }
    assert_eq!(stdout(&home.run(&["read", "d/a.md"])), "one");
}

#[test]
fn what_stands_beside_an_answer_is_right() {
    use sha2::{Digest, Sha256};
    let home = Home::with_store();
    let mut server = Server::newer(&home, &[]);
    let secret = ["gh", "p_R7mQ2vX9bT4kZ8nL5w", "J3cF6hD1sG0pYaEuKi"].concat();
    let path = "/memories/a.md";
    let made = server.call(
        "memory_create",
        json!({"path": "/memories//./a.md", "file_text": format!("ü\n{secret}\n")}),
    );
    let about = &made["structuredContent"];
    let kept = stdout(&home.run(&["read", "a.md"]));
    assert!(
        kept.starts_with("ü\n[REDACTED") && !kept.contains(&secret),
        "{kept}"
    );
    assert_eq!(about["sha256"], format!("{:x}", Sha256::digest(&kept)));
    assert_eq!(about["bytes"], kept.len());
    let said = ["path", "version", "outcome", "event"].map(|name| &about[name]);
    assert_eq!(json!(said), json!([path, 1, "ok", 1]));
    assert_eq!(
        about["redactions"],
        json!([{"kind": "github-pat", "line": 2}])
    );
    assert!(text(&made).contains("1 secret value was removed"), "{made}");
    assert!(!made.to_string().contains(&secret));
    let edited = server.call(
        "memory_insert",
        json!({"path": path, "insert_line": 0, "insert_text": "first"}),
    );
    assert_eq!(edited["structuredContent"]["version"], 2);
    assert_eq!(edited["structuredContent"].get("redactions"), None);
    let viewed = server.call("memory_view", json!({"path": path}));
    assert_eq!(viewed["structuredContent"]["version"], 2);
    assert_eq!(
        viewed["structuredContent"]["sha256"],
        edited["structuredContent"]["sha256"]
    );
    let moved = server.call(
        "memory_rename",
        json!({"old_path": path, "new_path": "/memories/b.md"}),
    );
    assert_eq!(moved["structuredContent"]["path"], "/memories/b.md");
    assert_eq!(moved["structuredContent"]["memory"], about["memory"]);
    // Where nothing was done there is no memory that it was done to.
    let failed = server.call("memory_view", json!({"path": path}));
    let about = &failed["structuredContent"];
    assert_eq!(
        (&about["error"], &about["outcome"]),
        (&json!("not_found"), &json!("error"))
    );
    assert!(about.get("version").is_none() && about.get("sha256").is_none());
    let denied = server.call(
        "memory_create",
        json!({"path": "/memories/../x", "file_text": ""}),
    );
    assert_eq!(denied["structuredContent"]["outcome"], "denied");
}
