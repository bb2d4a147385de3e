//! Changes that clients are told of, whoever made them.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::mcp::client::{NEWER, Server, meta, request};
use crate::support::Home;

/// How long a change by another process may stay unseen, on a machine that has a lot to do.
const SEEN_WITHIN: Duration = Duration::from_secs(15);
/// How long nothing is to be heard.
const QUIET: Duration = Duration::from_millis(1_800);

/// What a client was told: URIs, and `list` where memories came or went.
fn told(server: &mut Server, until: &[&str]) -> BTreeSet<String> {
    let (began, mut heard) = (Instant::now(), BTreeSet::new());
    let mut waiting: Vec<Value> = server.notes.drain(..).collect();
    let wanted: BTreeSet<String> = until.iter().map(|one| (*one).to_owned()).collect();
    loop {
        for message in waiting.drain(..) {
            match message["method"].as_str() {
                Some("notifications/resources/updated") => {
                    heard.insert(message["params"]["uri"].as_str().expect("a URI").to_owned());
                }
                Some("notifications/resources/list_changed") => {
                    heard.insert("list".to_owned());
                }
                _ => panic!("{message}"),
            }
        }
        let time = if heard.is_superset(&wanted) {
            Duration::from_millis(300)
        } else {
            SEEN_WITHIN
        };
        assert!(began.elapsed() < SEEN_WITHIN * 3, "{heard:?} of {wanted:?}");
        match server.receive_within(time) {
            Some(message) => waiting.push(message),
            None => return heard,
        }
    }
}

fn names(expected: &[&str]) -> BTreeSet<String> {
    expected.iter().map(|one| (*one).to_owned()).collect()
}

/// Subscribes to these, in the way of the server's era.
fn subscribe(server: &mut Server, is_newer: bool, uris: &[&str]) {
    if is_newer {
        let wants = json!({"resourcesListChanged": true, "resourceSubscriptions": uris});
        let params = json!({"notifications": wants, "_meta": meta(NEWER)});
        server.send(&request("listen", "subscriptions/listen", params));
        let first = server.receive();
        assert_eq!(
            first["method"], "notifications/subscriptions/acknowledged",
            "{first}"
        );
        assert_eq!(first["params"]["notifications"], wants);
    } else {
        for uri in uris {
            server.result("resources/subscribe", json!({"uri": uri}));
        }
    }
    // What is there when the watch begins is not news.
    server.result(
        "tools/call",
        json!({"name": "memory_view", "arguments": {"path": "/memories"}}),
    );
}

fn both(home: &Home) -> [(Server, bool); 2] {
    [
        (Server::older(home, &[]), false),
        (Server::newer(home, &[]), true),
    ]
}

/// However a client spells a path, it is told by its own spelling.
#[test]
fn a_memory_is_one_in_every_spelling() {
    for is_newer in [false, true] {
        let home = Home::with_store();
        home.run(&["write", "d/a@b.md", "--text", "x\n"]);
        let [older, newer] = both(&home);
        let (mut server, _) = if is_newer { newer } else { older };
        let uris = [
            "memory:///d/a@b.md",
            "memory:///d/a%40b.md",
            "memory:///d//a@b.md",
            "memory:///d%2Fa@b.md",
        ];
        subscribe(&mut server, is_newer, &uris);
        server.done(
            "memory_insert",
            json!({"path": "/memories/d/a@b.md", "insert_line": 0, "insert_text": "y"}),
        );
        assert_eq!(told(&mut server, &uris), names(&uris));
    }
}

#[test]
fn what_this_server_changes_is_told() {
    for is_newer in [false, true] {
        let home = Home::with_store();
        home.run(&["write", "a.md", "--text", "x\n"]);
        let [older, newer] = both(&home);
        let (mut server, _) = if is_newer { newer } else { older };
        let uris = [
            "memory:///a.md",
            "memory:///b%20%25.md",
            "memory:///none.md",
        ];
        subscribe(&mut server, is_newer, &uris);
        server.done(
            "memory_insert",
            json!({"path": "/memories/a.md", "insert_line": 0, "insert_text": "y"}),
        );
        assert_eq!(told(&mut server, &uris[..1]), names(&uris[..1]));
        server.done(
            "memory_create",
            json!({"path": "/memories/b %.md", "file_text": "x"}),
        );
        assert_eq!(
            told(&mut server, &["list", uris[1]]),
            names(&["list", uris[1]])
        );
        server.done(
            "memory_rename",
            json!({"old_path": "/memories/a.md", "new_path": "/memories/c.md"}),
        );
        assert_eq!(
            told(&mut server, &["list", uris[0]]),
            names(&["list", uris[0]])
        );
        server.done("memory_delete", json!({"path": "/memories/b %.md"}));
        assert_eq!(
            told(&mut server, &["list", uris[1]]),
            names(&["list", uris[1]])
        );
        // Nobody asked about this one.
        server.done(
            "memory_insert",
            json!({"path": "/memories/c.md", "insert_line": 0, "insert_text": "y"}),
        );
        assert!(server.receive_within(QUIET).is_none());
        let end = server.end();
        assert!(
            end.status.success() && end.took < Duration::from_secs(1),
            "{:?}",
            end.took
        );
    }
}

#[test]
fn what_other_processes_change_is_told_in_both_eras() {
    let home = Home::with_store();
    home.run(&["write", "a.md", "--text", "x\n"]);
    let mut other = Server::older(&home, &[]);
    let mut servers = both(&home);
    for (server, is_newer) in &mut servers {
        subscribe(server, *is_newer, &["memory:///a.md", "memory:///b.md"]);
    }
    let mut expect = |expected: &[&str]| {
        for (server, _) in &mut servers {
            assert_eq!(told(server, expected), names(expected));
        }
    };
    home.run(&["write", "a.md", "--text", "y\n"]);
    expect(&["memory:///a.md"]);
    other.done(
        "memory_create",
        json!({"path": "/memories/b.md", "file_text": "x"}),
    );
    expect(&["list", "memory:///b.md"]);
    home.tool("{\"command\":\"delete\",\"path\":\"/memories/a.md\"}\n");
    expect(&["list", "memory:///a.md"]);
    assert!(home.run(&["restore", "/memories/a.md"]).status.success());
    expect(&["list", "memory:///a.md"]);
}

#[test]
fn what_changes_nothing_is_not_told() {
    let home = Home::with_store();
    home.run(&["write", "a.md", "--text", "x\n"]);
    for (mut server, is_newer) in both(&home) {
        subscribe(&mut server, is_newer, &["memory:///a.md"]);
        server.done("memory_view", json!({"path": "/memories/a.md"}));
        server.done("memory_search", json!({"pattern": "x"}));
        server.failed(
            "memory_create",
            json!({"path": "/memories/a.md", "file_text": "x"}),
        );
        server.failed("memory_delete", json!({"path": "/memories/none"}));
        server.failed(
            "memory_create",
            json!({"path": "/memories/../b", "file_text": "x"}),
        );
        home.run(&["view", "/memories/a.md"]);
        home.run(&["log"]);
        assert!(server.notes.is_empty(), "{:?}", server.notes);
        assert_eq!(server.receive_within(QUIET), None);
    }
}

#[test]
fn who_no_longer_wants_to_know_is_not_told() {
    let home = Home::with_store();
    home.run(&["write", "a.md", "--text", "x\n"]);
    home.run(&["write", "b.md", "--text", "x\n"]);
    let mut server = Server::older(&home, &[]);
    subscribe(&mut server, false, &["memory:///a.md", "memory:///b.md"]);
    server.result("resources/unsubscribe", json!({"uri": "memory:///a.md"}));
    server.result(
        "resources/unsubscribe",
        json!({"uri": "memory:///never.md"}),
    );
    home.run(&["write", "a.md", "--text", "y\n"]);
    home.run(&["write", "b.md", "--text", "y\n"]);
    assert_eq!(
        told(&mut server, &["memory:///b.md"]),
        names(&["memory:///b.md"])
    );
    // In the newer era the request is taken back.
    let mut server = Server::newer(&home, &[]);
    subscribe(&mut server, true, &["memory:///a.md"]);
    let gone = json!({"requestId": "listen"});
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": gone}));
    server.result("tools/list", json!({}));
    home.run(&["write", "a.md", "--text", "z\n"]);
    assert_eq!(server.receive_within(QUIET), None);
}

#[test]
fn a_listener_is_told_only_what_it_asked_for() {
    let home = Home::with_store();
    home.run(&["write", "a.md", "--text", "x\n"]);
    let mut server = Server::newer(&home, &[]);
    let wants = json!({"notifications": {"toolsListChanged": true, "promptsListChanged": true,
        "resourceSubscriptions": ["memory:///a.md"]}, "_meta": meta(NEWER)});
    server.send(&request("listen", "subscriptions/listen", wants));
    let first = server.receive();
    let accepted = &first["params"]["notifications"];
    assert_eq!(
        *accepted,
        json!({"resourceSubscriptions": ["memory:///a.md"]}),
        "{first}"
    );
    server.done("memory_view", json!({"path": "/memories"}));
    server.done(
        "memory_create",
        json!({"path": "/memories/b.md", "file_text": "x"}),
    );
    assert_eq!(server.receive_within(QUIET), None);
    server.done("memory_delete", json!({"path": "/memories/a.md"}));
    assert_eq!(
        told(&mut server, &["memory:///a.md"]),
        names(&["memory:///a.md"])
    );
}

#[test]
fn a_server_with_listeners_ends_with_its_input() {
    let home = Home::with_store();
    let mut server = Server::newer(&home, &[]);
    for number in 0..20 {
        let wants = json!({"notifications": {"resourcesListChanged": true}, "_meta": meta(NEWER)});
        server.send(&request(number, "subscriptions/listen", wants));
        assert_eq!(
            server.receive()["method"],
            "notifications/subscriptions/acknowledged"
        );
    }
    let end = server.end();
    assert!(end.status.success(), "{}", end.stderr);
    // It waits 3 seconds for input that does not end.
    assert!(end.took < Duration::from_millis(2_500), "{:?}", end.took);
    let ids: BTreeSet<i64> = end
        .rest
        .iter()
        .filter_map(|message| message["id"].as_i64())
        .collect();
    assert_eq!(ids.len(), 20, "each request is answered at its end");
}

#[test]
fn a_server_without_a_store_tells_of_one_that_comes() {
    let home = Home::empty();
    let mut server = Server::older(&home, &[]);
    server.result("resources/subscribe", json!({"uri": "memory:///a.md"}));
    server.failed("memory_view", json!({"path": "/memories"}));
    assert!(home.run(&["init"]).status.success());
    // What was written before this server had the store counts too.
    home.run(&["write", "a.md", "--text", "x\n"]);
    server.done("memory_view", json!({"path": "/memories"}));
    let heard = told(&mut server, &["list", "memory:///a.md"]);
    assert_eq!(heard, names(&["list", "memory:///a.md"]));
    server.done("memory_delete", json!({"path": "/memories/a.md"}));
    let heard = told(&mut server, &["list", "memory:///a.md"]);
    assert_eq!(heard, names(&["list", "memory:///a.md"]));
    server.done(
        "memory_create",
        json!({"path": "/memories/a.md", "file_text": "x"}),
    );
    let heard = told(&mut server, &["list", "memory:///a.md"]);
    assert_eq!(heard, names(&["list", "memory:///a.md"]));
    // Watching a store that is not there is quiet.
    assert_eq!(server.end().stderr.matches("error: ").count(), 1);
}
