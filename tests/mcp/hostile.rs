//! Lines and fields that no honest client sends: each is refused or dropped, and the next request is
//! answered.

use std::time::Duration;

use serde_json::{Value, json};

use crate::mcp::client::{
    NEWER, OLDER, Server, call, create, events, introduced, meta, request, text,
};
use crate::support::{Home, stderr, stdout};

/// The server answers, and has nothing else to say but that a line was no request.
fn still_there(server: &mut Server, after: &str) {
    server.notes.clear();
    let answer = server.ask("tools/list", json!({}));
    assert!(answer["result"]["tools"].is_array(), "{after}: {answer}");
    for note in &server.notes {
        assert_eq!(note["error"]["code"], -32600, "{after}: {note}");
        assert!(note.get("id").is_none(), "{after}: {note}");
    }
}

/// Servers of both eras on one store.
fn both(home: &Home) -> [Server; 2] {
    [Server::older(home, &[]), Server::newer(home, &[])]
}

#[test]
fn a_text_of_ten_megabytes_is_refused_in_words() {
    let home = Home::with_store();
    let long = "0123456789".repeat(1_000_000);
    for mut server in both(&home) {
        let arguments = json!({"path": "/memories/long.md", "file_text": long});
        let result = server.call("memory_create", arguments);
        assert_eq!(result["isError"], true);
        assert_eq!(result["structuredContent"]["error"], "limit_exceeded");
        let said = text(&result);
        assert!(said.contains("2097152"), "{said}");
        assert!(said.len() < 500, "{said}");
        still_there(&mut server, "a long text");
        assert!(server.end().stderr.is_empty());
    }
    let recorded = events(&home);
    assert_eq!(recorded.len(), 3);
    assert!(
        recorded[1..]
            .iter()
            .all(|event| event["error"] == "limit_exceeded")
    );
}

#[test]
fn a_line_over_the_limit_is_dropped_whole() {
    let home = Home::with_store();
    for mut server in both(&home) {
        still_there(&mut server, "nothing");
        let long = "x".repeat(17 * 1024 * 1024);
        server.send(&create(77, "long.md", &long));
        still_there(&mut server, "a line of 17 MiB");
        server.send_raw(long.as_bytes());
        server.send_raw(b"\n");
        still_there(&mut server, "a line of 17 MiB that is no JSON");
        // What stands behind such a line in the same write is not taken for a part of it.
        let last = request(78, "tools/list", json!({"_meta": meta(NEWER)}));
        server.send_raw(format!("{long}\n{last}\n").as_bytes());
        let answer = server.answer(&78.into());
        assert!(answer["result"]["tools"].is_array());
        assert!(!server.notes.iter().any(|note| note["id"] == 77));
    }
    assert_eq!(stdout(&home.run(&["read"])).trim(), "");
}

#[test]
fn a_line_of_ten_megabytes_that_is_no_request_is_dropped() {
    let home = Home::with_store();
    let mut server = Server::older(&home, &[]);
    for piece in ["x", "[", "{\"a\":", "\"", "\u{2028}", "\\ud800", "\0"] {
        let line = piece.repeat(10_000_000 / piece.len());
        server.send_raw(line.as_bytes());
        server.send_raw(b"\n");
        still_there(&mut server, piece);
    }
}

/// Some languages send such strings, and wait for the answer.
#[test]
fn half_a_surrogate_pair_is_refused_with_the_right_id_and_on_record() {
    let home = Home::with_store();
    for (mut server, version) in both(&home).into_iter().zip([None, Some(NEWER)]) {
        for (id, text) in [
            (71, "\\ud800"),
            (72, "\\udc00\\ud800 x"),
            (73, "a\\\\\\uD83D!"),
        ] {
            let mut message = create(id, "never.md", "TEXT");
            if let Some(version) = version {
                message["params"]["_meta"] = meta(version);
            }
            let line = message.to_string().replace("TEXT", text);
            server.send_raw(format!("{line}\n").as_bytes());
            let answer = server.answer(&id.into());
            assert_eq!(answer["result"]["isError"], true, "{answer}");
            let said = answer["result"]["content"][0]["text"]
                .as_str()
                .expect("a text");
            assert!(said.contains("half a surrogate pair"), "{said}");
        }
    }
    let events = events(&home);
    assert_eq!(events.len(), 7, "each is on record, and init");
    assert!(
        events
            .iter()
            .filter(|event| event["error"] == "malformed")
            .count()
            == 6
    );
}

#[test]
fn what_is_no_request_is_not_carried_out() {
    let home = Home::with_store();
    let made = |change: &dyn Fn(&mut Value)| {
        let mut message = create(5, "never.md", "x\n");
        message["params"]["_meta"] = meta(NEWER);
        change(&mut message);
        message.to_string()
    };
    let batch = format!("[{}]", made(&|_| {}));
    let lines: Vec<Vec<u8>> = vec![
        b"garbage".to_vec(),
        b"{".to_vec(),
        b"{}".to_vec(),
        b"[]".to_vec(),
        b"null".to_vec(),
        b"5".to_vec(),
        b"\"tools/list\"".to_vec(),
        b"\xff\xfe\xfd".to_vec(),
        b"   ".to_vec(),
        b"\0\0\0".to_vec(),
        made(&|_| {}).replace("never", "\u{fffd}").into_bytes()[..60].to_vec(),
        [made(&|_| {}).as_bytes(), b"\xc3\x28"].concat(),
        format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)).into_bytes(),
        made(&|m| m["params"]["arguments"] = json!({"path": "DEEP"}))
            .replace("\"DEEP\"", &"[".repeat(100_000))
            .into_bytes(),
        batch.clone().into_bytes(),
        format!("[{batch}]").into_bytes(),
        made(&|m| m["jsonrpc"] = "1.0".into()).into_bytes(),
        made(&|m| m["jsonrpc"] = 2.into()).into_bytes(),
        made(&|m| drop(m.as_object_mut().expect("one").remove("jsonrpc"))).into_bytes(),
        made(&|m| m["id"] = json!(1.5)).into_bytes(),
        made(&|m| m["id"] = json!({"a": 1})).into_bytes(),
        made(&|m| m["id"] = json!([1])).into_bytes(),
        made(&|m| m["id"] = json!(true)).into_bytes(),
        made(&|m| m["id"] = json!(5))
            .replace("\"id\":5", "\"id\":99999999999999999999")
            .into_bytes(),
        made(&|m| m["id"] = json!(5))
            .replace("\"id\":5", "\"id\":1e400")
            .into_bytes(),
        made(&|m| m["method"] = 5.into()).into_bytes(),
        made(&|m| m["method"] = Value::Null).into_bytes(),
        made(&|m| drop(m.as_object_mut().expect("one").remove("method"))).into_bytes(),
        made(&|m| m["params"]["_meta"] = 5.into()).into_bytes(),
        made(&|m| m["params"]["_meta"] = json!("x")).into_bytes(),
        made(&|m| m["params"]["_meta"] = json!([meta(NEWER)])).into_bytes(),
    ];
    for mut server in both(&home) {
        still_there(&mut server, "nothing");
        for line in &lines {
            server.send_raw(line);
            server.send_raw(b"\n");
            let shown = String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned();
            still_there(&mut server, &shown);
        }
        let end = server.end();
        assert!(end.status.success() && end.rest.is_empty());
        assert!(end.stderr.is_empty(), "{}", end.stderr);
    }
    assert_eq!(events(&home).len(), 1, "only init is on record");
}

#[test]
fn without_an_id_there_is_no_call() {
    let home = Home::with_store();
    for mut server in both(&home) {
        still_there(&mut server, "nothing");
        for id in [None, Some(Value::Null)] {
            let mut message = create(5, "never.md", "x\n");
            message["params"]["_meta"] = meta(NEWER);
            let fields = message.as_object_mut().expect("an object");
            fields.remove("id");
            fields.extend(id.map(|id| ("id".to_owned(), id)));
            server.send(&message);
            still_there(&mut server, "a call without an id");
        }
    }
    assert_eq!(events(&home).len(), 1, "only init is on record");
}

#[test]
fn an_answer_carries_the_id_that_the_request_had() {
    let home = Home::with_store();
    for mut server in both(&home) {
        still_there(&mut server, "nothing");
        for id in [
            json!("text"),
            json!(""),
            json!("7"),
            json!("ü\u{202e}\u{0}\"\\"),
            json!("x".repeat(100_000)),
            json!(0),
            json!(-1),
            json!(i64::MAX),
            json!(i64::MIN),
        ] {
            let mut view = call(id.clone(), "memory_view", json!({"path": "/memories"}));
            view["params"]["_meta"] = meta(NEWER);
            server.send(&view);
            let answer = server.receive();
            assert_eq!(answer["id"], id);
            assert_eq!(answer["result"]["isError"], false);
        }
    }
}

#[test]
fn a_request_that_does_not_fit_its_method_is_an_error_with_its_id() {
    let home = Home::with_store();
    let requests = [
        ("tools/call", json!({})),
        ("tools/call", json!({"arguments": {}})),
        ("tools/call", json!({"name": 5})),
        ("tools/call", json!({"name": null})),
        (
            "tools/call",
            json!({"name": "memory_view", "arguments": []}),
        ),
        (
            "tools/call",
            json!({"name": "memory_view", "arguments": "x"}),
        ),
        ("tools/call", json!({"name": "memory_view", "arguments": 5})),
        ("tools/call", json!({"name": ""})),
        ("tools/call", json!({"name": "memory"})),
        (
            "tools/call",
            json!({"name": "memory_erase", "arguments": {"path": "/memories/a.md"}}),
        ),
        (
            "tools/call",
            json!({"name": "Memory_View", "arguments": {"path": "/memories"}}),
        ),
        (
            "tools/call",
            json!({"name": "memory_view ", "arguments": {"path": "/memories"}}),
        ),
        ("resources/read", json!({})),
        ("resources/read", json!({"uri": 5})),
        ("resources/read", json!({"uri": ["memory:///a.md"]})),
        ("completion/complete", json!({})),
        (
            "completion/complete",
            json!({"ref": {"type": "ref/other"}, "argument": {}}),
        ),
        ("prompts/get", json!({})),
        ("prompts/get", json!({"name": "none"})),
        ("tools/delete", json!({})),
        ("", json!({})),
        ("memory_view", json!({"path": "/memories"})),
        ("sampling/createMessage", json!({})),
        ("roots/list", json!({})),
        ("logging/setLevel", json!({"level": "debug"})),
    ];
    for mut server in both(&home) {
        for (method, params) in &requests {
            let error = server.refusal(method, params.clone());
            let code = error["code"].as_i64().expect("a code");
            let fits = [-32600, -32601, -32602].contains(&code);
            assert!(fits, "{method} {params}: {error}");
            assert!(error["message"].as_str().expect("a text").len() < 200);
        }
        still_there(&mut server, "what does not fit");
    }
    assert_eq!(events(&home).len(), 1, "only init is on record");
}

#[test]
fn arguments_of_other_types_are_told_and_recorded() {
    let home = Home::with_store();
    home.run(&["write", "a.md", "--text", "x\n"]);
    let calls = [
        ("memory_view", json!({}), "`path`"),
        ("memory_view", json!({"path": 7}), "`path`"),
        ("memory_view", json!({"path": ["/memories"]}), "`path`"),
        (
            "memory_view",
            json!({"path": "/memories/a.md", "view_range": "1-2"}),
            "`view_range`",
        ),
        (
            "memory_view",
            json!({"path": "/memories/a.md", "view_range": [1]}),
            "`view_range`",
        ),
        (
            "memory_view",
            json!({"path": "/memories/a.md", "view_range": [1, 2, 3]}),
            "`view_range`",
        ),
        (
            "memory_view",
            json!({"path": "/memories/a.md", "view_range": [1.5, 2]}),
            "`view_range`",
        ),
        (
            "memory_create",
            json!({"path": "/memories/b.md"}),
            "`file_text`",
        ),
        (
            "memory_create",
            json!({"path": "/memories/b.md", "file_text": null}),
            "`file_text`",
        ),
        (
            "memory_create",
            json!({"path": "/memories/b.md", "file_text": {"a": 1}}),
            "`file_text`",
        ),
        (
            "memory_str_replace",
            json!({"path": "/memories/a.md"}),
            "`old_str`",
        ),
        (
            "memory_str_replace",
            json!({"path": "/memories/a.md", "old_str": "x", "new_str": 5}),
            "`new_str`",
        ),
        (
            "memory_insert",
            json!({"path": "/memories/a.md", "insert_text": "y"}),
            "`insert_line`",
        ),
        (
            "memory_insert",
            json!({"path": "/memories/a.md", "insert_line": "0", "insert_text": "y"}),
            "`insert_line`",
        ),
        (
            "memory_insert",
            json!({"path": "/memories/a.md", "insert_line": 0.5, "insert_text": "y"}),
            "`insert_line`",
        ),
        (
            "memory_insert",
            json!({"path": "/memories/a.md", "insert_line": 0}),
            "`insert_text`",
        ),
        ("memory_delete", json!({"path": null}), "`path`"),
        (
            "memory_rename",
            json!({"old_path": "/memories/a.md"}),
            "`new_path`",
        ),
        (
            "memory_rename",
            json!({"new_path": "/memories/b.md"}),
            "`old_path`",
        ),
    ];
    let before = events(&home).len();
    let mut server = Server::older(&home, &[]);
    for (tool, arguments, named) in &calls {
        let result = server.call(tool, arguments.clone());
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        assert_eq!(result["structuredContent"]["error"], "malformed");
        let said = text(&result);
        assert!(said.contains(named), "{tool} {arguments}: {said}");
    }
    // What a tool does not know is no fault.
    server.done(
        "memory_view",
        json!({"path": "/memories/a.md", "further": {"a": [1]}}),
    );
    let recorded = events(&home);
    assert_eq!(recorded.len(), before + calls.len() + 1);
    assert_eq!(stdout(&home.run(&["read", "a.md"])), "x\n");
}

#[test]
fn a_flood_of_notifications_keeps_nobody_waiting() {
    let home = Home::with_store();
    let mut server = Server::older(&home, &[]);
    let mut flood = String::new();
    for number in 0..1_000 {
        for (method, params) in [
            (
                "notifications/cancelled",
                json!({"requestId": number, "reason": "x"}),
            ),
            (
                "notifications/cancelled",
                json!({"requestId": "x".repeat(100)}),
            ),
            ("notifications/cancelled", json!({})),
            (
                "notifications/progress",
                json!({"progressToken": number, "progress": 1}),
            ),
            ("notifications/roots/list_changed", json!({})),
            ("notifications/initialized", json!({})),
            ("notifications/unheard_of", json!({"a": [1]})),
            ("$/cancelRequest", json!({"id": number})),
        ] {
            flood += &json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string();
            flood.push('\n');
        }
        flood += &json!({"jsonrpc": "2.0", "id": number, "result": {}}).to_string();
        flood.push('\n');
    }
    server.send_raw(flood.as_bytes());
    still_there(&mut server, "a flood");
    // One who said a thousand times that it is there is told of a change once.
    server.send(&create(5, "a.md", "x\n"));
    let mut told = 0;
    while let Some(message) = server.receive_within(Duration::from_millis(700)) {
        told += usize::from(message["method"] == "notifications/resources/list_changed");
    }
    assert_eq!(told, 1);
}

#[test]
fn a_call_that_is_taken_back_keeps_no_other_from_its_answer() {
    let home = Home::with_store();
    let mut server = Server::older(&home, &[]);
    let mut lines = String::new();
    for number in 0..20_u64 {
        lines += &format!("{}\n", create(number, &format!("{number}.md"), "x\n"));
        let gone = json!({"requestId": number, "reason": "enough"});
        if number % 2 == 0 {
            let taken =
                json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": gone});
            lines += &format!("{taken}\n");
        }
    }
    server.send_raw(lines.as_bytes());
    for number in (1..20_u64).step_by(2) {
        let answer = server.answer(&number.into());
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
    assert!(server.end().status.success());
    // All was handed to the store by then, and none is half done.
    let checked = home.run(&["verify"]);
    assert!(checked.status.success(), "{}", stderr(&checked));
}

#[test]
fn before_a_client_has_introduced_itself_nothing_is_carried_out() {
    let home = Home::with_store();
    let mut server = Server::silent(&home, &[]);
    server.send(&create(1, "a.md", "x\n"));
    let answer = server.receive();
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!(1), &json!(-32602))
    );
    server.send_raw(b"garbage\n\xff\n[]\n\n");
    server.send(&request(2, "ping", json!({})));
    assert_eq!(server.answer(&2.into())["result"], json!({}));
    // It can still introduce itself.
    let mut server = server.introduce();
    assert_eq!(
        server.call("memory_view", json!({"path": "/memories"}))["isError"],
        false
    );
    // Doing so again changes nothing.
    let again = server.ask(
        "initialize",
        json!({"protocolVersion": OLDER, "capabilities": {},
        "clientInfo": {"name": "another", "version": "9"}}),
    );
    assert_eq!(again["id"], 2 - 1 + 1, "{again}");
    server.send(&introduced());
    still_there(&mut server, "a second introduction");
    assert_eq!(events(&home).len(), 2);
}
