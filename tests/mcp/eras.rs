//! Both eras of the protocol on standard input and output.

use std::time::Duration;

use serde_json::{Value, json};

use crate::mcp::client::{
    NEWER, OLDER, Server, create, introduced, introduction, last_event, meta, request,
};
use crate::support::Home;

/// Revisions in which a client introduces itself.
const INTRODUCED: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", OLDER];

/// Requests that change nothing, and are answered in both eras.
fn harmless() -> Vec<(&'static str, Value)> {
    vec![
        ("tools/list", json!({})),
        (
            "tools/call",
            json!({"name": "memory_view", "arguments": {"path": "/memories"}}),
        ),
        (
            "tools/call",
            json!({"name": "memory_view", "arguments": {"path": "/none"}}),
        ),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({"uri": "memory:///a.md"})),
        ("prompts/list", json!({})),
        ("prompts/get", json!({"name": "memory-guidance"})),
        (
            "completion/complete",
            json!({
                "ref": {"type": "ref/resource", "uri": "memory:///{+path}"},
                "argument": {"name": "path", "value": ""},
            }),
        ),
    ]
}

/// A home with one memory in it.
fn home() -> Home {
    let home = Home::with_store();
    home.run(&["write", "a.md", "--text", "x\n"]);
    home
}

#[test]
fn a_client_introduces_itself_in_any_older_revision() {
    let home = home();
    for version in INTRODUCED {
        let mut server = Server::silent(&home, &[]);
        server.send(&introduction(0, version));
        let answer = server.receive();
        let result = &answer["result"];
        assert_eq!(result["protocolVersion"], version, "{answer}");
        assert_eq!(result["serverInfo"]["name"], "agekeep");
        assert_eq!(result["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
        let about = result["instructions"].as_str().expect("instructions");
        assert!(about.contains("memory_view") && about.contains("/memories"));
        let can = result["capabilities"].as_object().expect("an object");
        let names: Vec<&str> = can.keys().map(String::as_str).collect();
        assert_eq!(names, ["completions", "prompts", "resources", "tools"]);
        assert_eq!(
            can["resources"],
            json!({"subscribe": true, "listChanged": true})
        );
        server.send(&introduced());
        assert_eq!(server.result("ping", json!({})), json!({}));
        for (method, params) in harmless() {
            let result = server.result(method, params);
            assert!(
                result.get("resultType").is_none(),
                "{version} {method}: {result}"
            );
        }
        assert_eq!(last_event(&home)["client"], "plain/7");
        let end = server.end();
        assert!(
            end.status.success() && end.stderr.is_empty(),
            "{}",
            end.stderr
        );
    }
}

#[test]
fn a_client_of_an_unknown_revision_is_offered_a_known_one() {
    let home = home();
    for version in ["1999-01-01", "2099-01-01", "x", "", NEWER] {
        let mut server = Server::silent(&home, &[]);
        server.send(&introduction(0, version));
        let answer = server.receive();
        assert_eq!(
            answer["result"]["protocolVersion"], OLDER,
            "{version}: {answer}"
        );
        assert!(server.end().status.success());
    }
    for version in [json!(5), json!(null), json!({})] {
        let mut server = Server::silent(&home, &[]);
        let mut hello = introduction(0, OLDER);
        hello["params"]["protocolVersion"] = version.clone();
        server.send(&hello);
        let answer = server.receive();
        assert!(answer["error"]["code"].is_i64(), "{version}: {answer}");
        // The next try is as good as a first one.
        assert!(server.introduce().end().status.success());
    }
}

#[test]
fn a_client_of_the_newer_era_introduces_itself_in_every_request() {
    let home = home();
    let mut server = Server::newer(&home, &[]);
    let found = server.result("server/discover", json!({}));
    let versions = found["supportedVersions"].as_array().expect("versions");
    for version in INTRODUCED.iter().chain([&NEWER]) {
        assert!(versions.contains(&json!(version)), "{found}");
    }
    assert_eq!(
        found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
        "agekeep"
    );
    assert!(
        found["instructions"]
            .as_str()
            .expect("a text")
            .contains("memory_view")
    );
    for (method, params) in harmless() {
        let result = server.result(method, params);
        assert_eq!(result["resultType"], "complete", "{method}: {result}");
    }
    assert_eq!(last_event(&home)["client"], "plain/7");
    // There is nothing to introduce, to ping or to subscribe to any more.
    for (method, params) in [
        ("ping", json!({})),
        ("resources/subscribe", json!({"uri": "memory:///a.md"})),
        ("resources/unsubscribe", json!({"uri": "memory:///a.md"})),
    ] {
        let error = server.refusal(method, params);
        assert_eq!(error["code"], -32601, "{method}: {error}");
    }
    // Another client on the same line is another client.
    let mut about = meta(NEWER);
    about["io.modelcontextprotocol/clientInfo"] = json!({"name": "other", "version": "1"});
    let view = json!({"name": "memory_view", "arguments": {"path": "/memories"}, "_meta": about});
    server.result("tools/call", view);
    assert_eq!(last_event(&home)["client"], "other/1");
}

#[test]
fn what_a_request_of_the_newer_era_lacks_is_named() {
    let home = home();
    let mut server = Server::newer(&home, &[]);
    let view = json!({"name": "memory_view", "arguments": {"path": "/memories"}});
    let before = last_event(&home)["event"].clone();
    for (field, value) in [
        ("protocolVersion", None),
        ("clientCapabilities", None),
        ("protocolVersion", Some(json!(5))),
        ("clientCapabilities", Some(json!("x"))),
    ] {
        let mut params = view.clone();
        params["_meta"] = meta(NEWER);
        let name = format!("io.modelcontextprotocol/{field}");
        let about = params["_meta"].as_object_mut().expect("an object");
        about.remove(&name);
        about.extend(value.clone().map(|value| (name.clone(), value)));
        let error = server.refusal("tools/call", params);
        assert_eq!(error["code"], -32602, "{field} {value:?}: {error}");
        assert!(
            error["message"].as_str().expect("a text").contains(&name),
            "{error}"
        );
    }
    for version in ["1999-01-01", "2099-01-01", "x", ""] {
        let mut params = view.clone();
        params["_meta"] = meta(version);
        let error = server.refusal("tools/call", params);
        assert_eq!(error["code"], -32022, "{version}: {error}");
        assert_eq!(error["data"]["requested"], version);
        assert!(
            error["data"]["supported"]
                .as_array()
                .expect("a list")
                .contains(&json!(NEWER))
        );
    }
    assert_eq!(
        last_event(&home)["event"],
        before,
        "nothing was carried out"
    );
    // Once the newer era has begun, a request cannot leave out what it has to say.
    server.result("tools/call", view.clone());
    server.send(&request("bare", "tools/call", view));
    let error = &server.answer(&"bare".into())["error"];
    assert_eq!(error["code"], -32602, "{error}");
}

#[test]
fn nothing_that_is_listed_or_read_may_be_kept() {
    let home = home();
    for mut server in [Server::older(&home, &[]), Server::newer(&home, &[])] {
        for (method, params) in harmless() {
            let listing = method.ends_with("/list") || method == "resources/read";
            let result = server.result(method, params);
            if listing {
                assert_eq!(result["ttlMs"], 0, "{method}: {result}");
                assert_eq!(result["cacheScope"], "private", "{method}: {result}");
            }
        }
    }
}

#[test]
fn what_is_written_in_one_era_is_read_in_the_other() {
    let home = home();
    let mut older = Server::older(&home, &[]);
    let mut newer = Server::newer(&home, &[]);
    older.done(
        "memory_create",
        json!({"path": "/memories/b.md", "file_text": "one\n"}),
    );
    let text = newer.done("memory_view", json!({"path": "/memories/b.md"}));
    assert!(text.ends_with("     1\tone\n     2\t"), "{text}");
    newer.done("memory_delete", json!({"path": "/memories/b.md"}));
    older.failed("memory_view", json!({"path": "/memories/b.md"}));
    // Each is a session of its own.
    let session = |home: &Home| last_event(home)["session"].as_str().map(str::to_owned);
    older.done("memory_view", json!({"path": "/memories"}));
    let first = session(&home).expect("a session");
    newer.done("memory_view", json!({"path": "/memories"}));
    let second = session(&home).expect("a session");
    assert!(first.starts_with("mcp-") && second.starts_with("mcp-") && first != second);
}

#[test]
fn a_first_request_is_answered_soon() {
    let home = home();
    let mut server = Server::silent(&home, &[]);
    server.send(&create(1, "b.md", "x\n"));
    // It has not said who it is, and is told so at once.
    let answer = server
        .receive_within(Duration::from_secs(5))
        .expect("an answer");
    assert_eq!(answer["error"]["code"], -32602);
}
