//! What a client says beside the arguments of a call: on record where it can be, and a fault where it
//! cannot.

use serde_json::{Value, json};

use crate::mcp::client::{NEWER, Server, events, last_event, meta, text};
use crate::support::{Home, stdout};

#[test]
fn what_a_client_says_of_a_call_is_on_record() {
    let home = Home::with_store();
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let context = json!({
        "actor": "reviewer", "session": "s-1", "reason": "asked to", "client": "other/1",
        "tool_use_id": "toolu_2",
    });
    let mut server = Server::newer(&home, &["--actor", "agent", "--session", "s-0"]);
    let view = json!({"path": "/memories"});
    let beside = json!({
        "traceparent": format!("00-{trace}-00f067aa0ba902b7-01"),
        "claudecode/toolUseId": "toolu_1",
    });
    server.call_with("memory_view", view.clone(), beside);
    let event = last_event(&home);
    let said =
        ["actor", "session", "tool_use_id", "client", "trace", "door"].map(|name| &event[name]);
    assert_eq!(
        json!(said),
        json!(["agent", "s-0", "toolu_1", "plain/7", trace, "mcp"])
    );
    server.call_with(
        "memory_view",
        view.clone(),
        json!({"agekeep/context": context}),
    );
    let event = last_event(&home);
    for (name, value) in context.as_object().expect("an object") {
        assert_eq!(event[name], *value, "{name}");
    }
    // It was said of one call only.
    server.call_with("memory_view", view, json!({}));
    let event = last_event(&home);
    let said = ["actor", "session", "reason", "client", "trace"].map(|name| &event[name]);
    assert_eq!(json!(said), json!(["agent", "s-0", null, "plain/7", null]));
}

#[test]
fn what_is_no_trace_or_id_is_not_taken_for_one() {
    let home = Home::with_store();
    let mut server = Server::newer(&home, &[]);
    let id = "4bf92f3577b34da6a3ce929d0e0e4736";
    for beside in [
        json!({"traceparent": 5}),
        json!({"traceparent": null}),
        json!({"traceparent": [id]}),
        json!({"traceparent": ""}),
        json!({"traceparent": id}),
        json!({"traceparent": format!("00-{}-00f067aa0ba902b7-01", "0".repeat(32))}),
        json!({"traceparent": format!("00-{}-00f067aa0ba902b7-01", id.to_uppercase())}),
        json!({"traceparent": format!("00-{}x-00f067aa0ba902b7-01", &id[1..])}),
        json!({"claudecode/toolUseId": 7}),
        json!({"toolUseId": "toolu_1"}),
        json!({"claudecode/toolUseIds": "toolu_1"}),
        json!({"agekeep/context": null}),
        json!({"agekeep/contexts": {"actor": "x"}}),
        json!({"agekeep/context": {"further": 5}}),
    ] {
        let result = server.call_with("memory_view", json!({"path": "/memories"}), beside.clone());
        assert_eq!(result["isError"], false, "{beside}: {result}");
        let event = last_event(&home);
        let said = ["actor", "trace", "tool_use_id"].map(|name| &event[name]);
        assert_eq!(json!(said), json!([null, null, null]), "{beside}");
    }
}

#[test]
fn a_context_that_is_none_spoils_the_call_and_is_on_record() {
    let home = Home::with_store();
    let mut server = Server::newer(&home, &["--admin", "--tools", "restore,read-write"]);
    let contexts = [
        (json!(5), "`context` must be an object"),
        (json!("actor"), "`context` must be an object"),
        (json!([{"actor": "x"}]), "`context` must be an object"),
        (json!({"actor": 5}), "`context.actor` must be a string"),
        (
            json!({"session": ["s"]}),
            "`context.session` must be a string",
        ),
        (json!({"reason": {}}), "`context.reason` must be a string"),
        (
            json!({"tool_use_id": true}),
            "`context.tool_use_id` must be a string",
        ),
        (json!({"base_sha256": 5}), "`context.base_sha256` must be"),
        (json!({"base_sha256": "x"}), "`context.base_sha256` must be"),
        (
            json!({"base_sha256": "A".repeat(64)}),
            "`context.base_sha256` must be",
        ),
        (
            json!({"base_sha256": "a".repeat(63)}),
            "`context.base_sha256` must be",
        ),
    ];
    let path =
        json!({"path": "/memories/a.md", "file_text": "x\n", "content": "x\n", "pattern": "x"});
    for (context, why) in &contexts {
        let beside = json!({"agekeep/context": context});
        for tool in [
            "memory_create",
            "memory_view",
            "memory_write",
            "memory_delete",
        ] {
            let result = server.call_with(tool, path.clone(), beside.clone());
            assert_eq!(result["isError"], true, "{tool} {context}: {result}");
            assert!(text(&result).contains(why), "{tool} {context}: {result}");
            let event = last_event(&home);
            assert_eq!(
                (&event["error"], &event["outcome"]),
                (&json!("malformed"), &json!("error"))
            );
        }
        let before = events(&home).len();
        for tool in [
            "memory_search",
            "memory_history",
            "memory_diff",
            "memory_restore",
            "memory_expire",
            "memory_redact",
            "memory_erase",
        ] {
            let result = server.call_with(tool, path.clone(), beside.clone());
            assert_eq!(result["isError"], true, "{tool} {context}: {result}");
            assert!(text(&result).contains(why), "{tool} {context}: {result}");
        }
        let mut about = meta(NEWER);
        about["agekeep/context"] = context.clone();
        for (method, params) in [
            ("resources/list", json!({"_meta": about})),
            (
                "resources/read",
                json!({"uri": "memory:///a.md", "_meta": about}),
            ),
            (
                "completion/complete",
                json!({"_meta": about,
                "ref": {"type": "ref/resource", "uri": "memory:///{+path}"},
                "argument": {"name": "path", "value": ""}}),
            ),
        ] {
            let error = server.refusal(method, params);
            assert_eq!(error["code"], -32602, "{method} {context}: {error}");
        }
        assert_eq!(events(&home).len(), before);
    }
    assert_eq!(stdout(&home.run(&["read"])).trim(), "");
}

#[test]
fn a_change_of_what_has_changed_meanwhile_is_refused() {
    let home = Home::with_store();
    let mut server = Server::newer(&home, &[]);
    let made = json!({"path": "/memories/a.md", "file_text": "one\n"});
    let made = server.call("memory_create", made);
    let base = made["structuredContent"]["sha256"].clone();
    let insert = json!({"path": "/memories/a.md", "insert_line": 0, "insert_text": "zero"});
    let based = |base: &Value| json!({"agekeep/context": {"base_sha256": base}});
    let first = server.call_with("memory_insert", insert.clone(), based(&base));
    assert_eq!(first["isError"], false, "{first}");
    let other = json!({"path": "/memories/a.md", "insert_line": 0, "insert_text": "other"});
    let second = server.call_with("memory_insert", other, based(&base));
    assert_eq!(second["isError"], true);
    assert_eq!(second["structuredContent"]["error"], "precondition_failed");
    let now = &first["structuredContent"]["sha256"];
    assert_ne!(*now, base);
    let third = server.call_with("memory_insert", insert, based(now));
    assert_eq!(third["isError"], false, "{third}");
    assert_eq!(stdout(&home.run(&["read", "a.md"])), "zero\nzero\none\n");
}
