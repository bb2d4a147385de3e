//! Which tools are offered, what each says of itself, and that no other can be called.

use serde_json::{Value, json};

use crate::mcp::client::{Server, last_event, text};
use crate::support::{Home, stderr, stdout};

const MEMORY: [&str; 9] = [
    "memory_view",
    "memory_create",
    "memory_str_replace",
    "memory_insert",
    "memory_delete",
    "memory_rename",
    "memory_history",
    "memory_diff",
    "memory_search",
];
const READING: [&str; 4] = [
    "memory_view",
    "memory_history",
    "memory_diff",
    "memory_search",
];
const ADMIN: [&str; 3] = ["memory_expire", "memory_redact", "memory_erase"];
const EVERY: [&str; 16] = [
    "memory_view",
    "memory_create",
    "memory_str_replace",
    "memory_insert",
    "memory_delete",
    "memory_rename",
    "memory_history",
    "memory_diff",
    "memory_search",
    "memory",
    "memory_read",
    "memory_write",
    "memory_restore",
    "memory_expire",
    "memory_redact",
    "memory_erase",
];

fn tools(home: &Home, options: &[&str]) -> Vec<Value> {
    let mut server = Server::older(home, options);
    let listed = server.result("tools/list", json!({}));
    assert_eq!(listed.get("nextCursor"), None);
    listed["tools"].as_array().expect("tools").clone()
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools
        .iter()
        .map(|tool| tool["name"].as_str().expect("a name"))
        .collect()
}

fn offers() -> Vec<(Vec<&'static str>, Vec<&'static str>)> {
    let with = |more: &[&'static str]| [&MEMORY[..], more].concat();
    vec![
        (vec![], with(&[])),
        (
            vec!["--tools", "read-write"],
            with(&["memory_read", "memory_write"]),
        ),
        (vec!["--tools", "restore"], with(&["memory_restore"])),
        (
            vec!["--tools", "restore,read-write"],
            with(&["memory_read", "memory_write", "memory_restore"]),
        ),
        (
            vec!["--tools", "restore", "--tools", "restore"],
            with(&["memory_restore"]),
        ),
        (vec!["--admin"], with(&ADMIN)),
        (
            vec!["--admin", "--tools", "restore"],
            with(&[
                "memory_restore",
                "memory_expire",
                "memory_redact",
                "memory_erase",
            ]),
        ),
        (vec!["--read-only"], READING.to_vec()),
        (
            vec!["--read-only", "--tools", "read-write,restore"],
            [&READING[..], &["memory_read"]].concat(),
        ),
        (vec!["--single-tool"], vec!["memory"]),
        (vec!["--single-tool", "--read-only"], vec!["memory"]),
        (vec!["--annotations", "strict"], with(&[])),
    ]
}

#[test]
fn what_is_asked_for_is_offered_in_one_order() {
    let home = Home::empty();
    for (options, wanted) in offers() {
        assert_eq!(names(&tools(&home, &options)), wanted, "{options:?}");
    }
}

#[test]
fn what_is_not_offered_cannot_be_called() {
    let home = Home::with_store();
    for (options, offered) in offers() {
        let mut server = Server::older(&home, &options);
        for name in EVERY.iter().filter(|name| !offered.contains(name)) {
            let arguments = json!({"command": "view", "path": "/memories", "dry_run": false});
            let error = server.refusal("tools/call", json!({"name": name, "arguments": arguments}));
            assert_eq!(error["code"], -32602, "{options:?} {name}: {error}");
        }
    }
    assert_eq!(last_event(&home)["command"], "init");
}

/// readOnly, destructive, idempotent and openWorld.
fn hints(tool: &Value) -> [bool; 4] {
    let about = &tool["annotations"];
    let hint = |name: &str| {
        about[name]
            .as_bool()
            .unwrap_or_else(|| panic!("no {name}: {tool}"))
    };
    [
        "readOnlyHint",
        "destructiveHint",
        "idempotentHint",
        "openWorldHint",
    ]
    .map(hint)
}

#[test]
fn every_hint_is_given_and_true() {
    let home = Home::empty();
    let wanted = |name: &str, strict: bool| match name {
        "memory_view" | "memory_history" | "memory_diff" | "memory_search" | "memory_read" => {
            [true, false, true, false]
        }
        "memory_create" | "memory_insert" => [false, false, false, false],
        "memory_str_replace" | "memory_rename" => [false, strict, false, false],
        "memory_write" | "memory_restore" => [false, strict, true, false],
        "memory_delete" | "memory_expire" => [false, true, true, false],
        _ => [false, true, false, false],
    };
    let all = ["--admin", "--tools", "read-write,restore"];
    for strict in [false, true] {
        let how = if strict { "strict" } else { "recoverable" };
        let options = [&all[..], &["--annotations", how]].concat();
        let mut offered = tools(&home, &options);
        assert_eq!(offered.len(), 15);
        offered.extend(tools(&home, &["--single-tool", "--annotations", how]));
        for tool in &offered {
            let name = tool["name"].as_str().expect("a name");
            assert_eq!(hints(tool), wanted(name, strict), "{how} {name}");
        }
    }
    for options in [&["--read-only"][..], &["--read-only", "--single-tool"]] {
        for tool in tools(&home, options) {
            assert_eq!(hints(&tool), [true, false, true, false], "{tool}");
        }
    }
}

/// What clients know who know little of JSON Schema.
const KNOWN: [&str; 8] = [
    "type",
    "properties",
    "required",
    "description",
    "items",
    "minItems",
    "maxItems",
    "enum",
];

/// What is wrong with a schema for such clients that know little of JSON Schema.
fn strange(schema: &Value) -> Option<String> {
    let fields = schema.as_object()?;
    if let Some(name) = fields.keys().find(|name| !KNOWN.contains(&name.as_str())) {
        return Some(format!("{name} in {schema}"));
    }
    if !schema["type"].is_string() {
        return Some(format!("the type of {schema}"));
    }
    let inside = schema["properties"]
        .as_object()
        .into_iter()
        .flat_map(|all| all.values());
    inside.chain(schema.get("items")).find_map(strange)
}

#[test]
fn every_tool_says_what_it_is_in_plain_words_and_schemas() {
    let home = Home::empty();
    let mut all = tools(&home, &["--admin", "--tools", "read-write,restore"]);
    all.extend(tools(&home, &["--single-tool"]));
    for tool in &all {
        let name = &tool["name"];
        assert!(
            tool["title"].as_str().is_some_and(|title| title.len() > 3),
            "{name}"
        );
        assert_eq!(tool["annotations"]["title"], tool["title"], "{name}");
        let what = tool["description"].as_str().unwrap_or_default();
        assert!((20..600).contains(&what.len()), "{name}: {what}");
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[schema]["type"], "object", "{name}");
            assert_eq!(strange(&tool[schema]), None, "{name}");
            let required = tool[schema]["required"].as_array().expect("a list");
            for field in required {
                let field = field.as_str().expect("a name");
                assert!(
                    tool[schema]["properties"][field].is_object(),
                    "{name} {field}"
                );
            }
        }
        let inputs = tool["inputSchema"]["properties"]
            .as_object()
            .expect("parameters");
        for (input, schema) in inputs {
            assert!(schema["description"].is_string(), "{name} {input}");
        }
    }
    let named = |name: &str| {
        all.iter()
            .find(|tool| tool["name"] == name)
            .expect("it is there")
    };
    for name in ["memory_view", "memory"] {
        let range = &named(name)["inputSchema"]["properties"]["view_range"];
        assert_eq!(range["type"], "array");
        assert_eq!(range["items"], json!({"type": "integer"}));
        assert_eq!(
            (&range["minItems"], &range["maxItems"]),
            (&json!(2), &json!(2))
        );
        let required = named(name)["inputSchema"]["required"]
            .as_array()
            .expect("a list");
        assert!(!required.contains(&json!("view_range")));
    }
    let required = |name: &str| named(name)["inputSchema"]["required"].clone();
    assert_eq!(required("memory_create"), json!(["path", "file_text"]));
    assert_eq!(required("memory_str_replace"), json!(["path", "old_str"]));
    assert_eq!(
        required("memory_insert"),
        json!(["path", "insert_line", "insert_text"])
    );
    assert_eq!(required("memory_rename"), json!(["old_path", "new_path"]));
    assert_eq!(required("memory"), json!(["command"]));
    assert_eq!(required("memory_history"), json!([]));
    let commands = |options: &[&str]| {
        tools(&home, options)[0]["inputSchema"]["properties"]["command"]["enum"].clone()
    };
    let six = json!([
        "view",
        "create",
        "str_replace",
        "insert",
        "delete",
        "rename"
    ]);
    assert_eq!(commands(&["--single-tool"]), six);
    assert_eq!(commands(&["--single-tool", "--read-only"]), json!(["view"]));
}

#[test]
fn the_one_tool_has_six_commands_and_no_more() {
    let home = Home::with_store();
    for options in [&["--single-tool"][..], &["--single-tool", "--read-only"]] {
        let mut server = Server::older(&home, options);
        for input in [
            json!({"command": "memory_write", "path": "a.md", "content": "y"}),
            json!({"command": "memory_read"}),
            json!({"command": "memory_read", "path": "/memories/../x"}),
            json!({"command": "undo_edit"}),
        ] {
            let result = server.call("memory", input.clone());
            assert_eq!(result["isError"], true, "{input}: {result}");
            let said = "Error: unknown command; the commands are view, create, str_replace, \
                        insert, delete, rename";
            assert_eq!(text(&result), said);
            assert_eq!(last_event(&home)["error"], "malformed");
        }
    }
}

#[test]
fn a_read_only_server_changes_nothing_and_says_so() {
    let home = Home::with_store();
    home.run(&["write", "a.md", "--text", "x\n"]);
    let mut server = Server::older(&home, &["--read-only", "--single-tool"]);
    let path = "/memories/a.md";
    for input in [
        json!({"command": "create", "path": "/memories/b.md", "file_text": "x"}),
        json!({"command": "str_replace", "path": path, "old_str": "x", "new_str": "y"}),
        json!({"command": "insert", "path": path, "insert_line": 0, "insert_text": "y"}),
        json!({"command": "delete", "path": path}),
        json!({"command": "rename", "old_path": path, "new_path": "/memories/b.md"}),
    ] {
        let result = server.call("memory", input.clone());
        assert_eq!(result["isError"], true, "{input}: {result}");
        assert!(
            text(&result).contains("this memory is read-only here"),
            "{input}: {result}"
        );
        let event = last_event(&home);
        assert_eq!(event["command"], input["command"]);
        assert_eq!(event["outcome"], "error", "{event}");
        let touched = event["memories"].as_array().expect("memories");
        assert!(
            touched.iter().all(|memory| memory["change"] == "none"),
            "{event}"
        );
    }
    assert!(
        server
            .done("memory", json!({"command": "view", "path": path}))
            .contains('x')
    );
    assert_eq!(stdout(&home.run(&["read"])), "a.md\n");
    assert_eq!(stdout(&home.run(&["read", "a.md"])), "x\n");
    // Its guidance does not ask a model to write.
    let about = server.result("prompts/get", json!({"name": "memory-guidance"}));
    assert!(!about.to_string().contains("memory_create"), "{about}");
}

#[test]
fn options_that_do_not_go_together_are_misuse() {
    let home = Home::with_store();
    for options in [
        &["--single-tool", "--admin"][..],
        &["--single-tool", "--tools", "restore"],
        &["--read-only", "--admin"],
        &["--tools", "erase"],
        &["--tools", ""],
        &["--tools"],
        &["--annotations", "none"],
        &["--namespace", "x"],
        &["positional"],
    ] {
        let output = home.run(&[&["mcp"], options].concat());
        assert_eq!(
            output.status.code(),
            Some(2),
            "{options:?}: {}",
            stderr(&output)
        );
        assert!(output.stdout.is_empty(), "{options:?}");
    }
}
