//! Memories as resources: listed, read, read as they were, and completed.

use std::collections::BTreeSet;

use agekeep::crypto::keyfile;
use agekeep::event::Context;
use agekeep::memory_tool::command::Command;
use agekeep::store::{Keys, Store};
use serde_json::{Value, json};

use crate::mcp::client::{Server, events, last_event};
use crate::support::{Home, stderr};

/// Names that a careless URI would not carry.
const ODD: [(&str, &str); 9] = [
    ("a b.md", "a%20b.md"),
    ("100%.md", "100%25.md"),
    ("a#b.md", "a%23b.md"),
    ("a?b=c&d.md", "a%3Fb%3Dc%26d.md"),
    ("ü/日本.md", "%C3%BC/%E6%97%A5%E6%9C%AC.md"),
    ("a+b.md", "a%2Bb.md"),
    ("[x]{y}.md", "%5Bx%5D%7By%7D.md"),
    (".hidden/~a_b-c.md", ".hidden/~a_b-c.md"),
    (
        "a:b@c;d,e!f'g(h)*.md",
        "a%3Ab%40c%3Bd%2Ce%21f%27g%28h%29%2A.md",
    ),
];

fn open(home: &Home) -> Store {
    let keys = Keys {
        identity: keyfile::read_identity(&home.identity()).expect("an identity"),
        signing_key: Some(keyfile::read_signing_key(&home.signing_key()).expect("a key")),
        state: None,
        keyring: None,
    };
    Store::open(&home.store(), keys, Box::new(chrono::Utc::now)).expect("opens")
}

/// Writes memories at once.
fn write(home: &Home, names: impl IntoIterator<Item = String>) {
    let mut store = open(home);
    for path in names {
        let content = format!("text of {path}\n").as_str().into();
        let answer = store.execute(&Command::Write { path, content }, &Context::default());
        assert!(!answer.expect("recorded").is_error());
    }
}

fn uris(listed: &Value) -> Vec<String> {
    let resources = listed["resources"].as_array().expect("resources");
    let uri = |resource: &Value| resource["uri"].as_str().expect("a URI").to_owned();
    resources.iter().map(uri).collect()
}

fn read(server: &mut Server, uri: &str) -> Option<String> {
    let mut answer = server.ask("resources/read", json!({"uri": uri}));
    if answer.get("error").is_some() {
        return None;
    }
    let contents = answer["result"]["contents"].take();
    let contents = contents.as_array().expect("contents");
    assert_eq!((contents.len(), &contents[0]["uri"]), (1, &json!(uri)));
    assert_eq!(contents[0]["mimeType"], "text/plain");
    Some(contents[0]["text"].as_str().expect("a text").to_owned())
}

fn both(home: &Home) -> [Server; 2] {
    [Server::older(home, &[]), Server::newer(home, &[])]
}

fn ok(home: &Home, args: &[&str]) {
    let output = home.run(args);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
}

#[test]
fn every_name_is_carried_by_its_uri() {
    let home = Home::with_store();
    write(&home, ODD.map(|(name, _)| name.to_owned()));
    for mut server in both(&home) {
        let listed = server.result("resources/list", json!({}));
        let wanted: BTreeSet<String> = ODD.map(|(_, uri)| format!("memory:///{uri}")).into();
        assert_eq!(uris(&listed).into_iter().collect::<BTreeSet<_>>(), wanted);
        for (name, uri) in ODD {
            let text = read(&mut server, &format!("memory:///{uri}"));
            assert_eq!(text, Some(format!("text of {name}\n")), "{uri}");
            let found = listed["resources"]
                .as_array()
                .expect("resources")
                .iter()
                .find(|one| one["title"] == format!("/memories/{name}"))
                .expect("its title");
            assert_eq!(found["name"], name.rsplit('/').next().expect("a name"));
            assert_eq!(found["mimeType"], "text/plain");
        }
    }
}

#[test]
fn what_is_no_memory_is_not_read() {
    let home = Home::with_store();
    write(&home, ["a.md".to_owned(), "d/b.md".to_owned()]);
    for (mut server, code) in both(&home).into_iter().zip([-32002, -32602]) {
        for uri in [
            "memory:///none.md",
            "memory:///d",
            "memory:///d/",
            "memory:///",
            "memory://a.md",
            "memory:a.md",
            "memory:///%2e%2e/a.md",
            "memory:///../memories/a.md",
            "memory:///d/..%2fa.md",
            "memory:///d/%2e%2e/a.md",
            "memory:///d%2f%2e%2e%2fa.md",
            "memory:///%252e%252e/a.md",
            "memory:///..",
            "memory:///%00",
            "memory:///a.md%00",
            "memory:///%ff",
            "memory:///a.md%E2%80%AE",
            "memory:///d\\b.md",
            "memory:///A.md",
            "memory+at:///a.md",
            "memory+at:///0/a.md",
            "memory+at:///2/a.md",
            "memory+at:///-1/a.md",
            "memory+at:///1/none.md",
            "memory+at:///1/../a.md",
            "memory+at:///1/%2e%2e/a.md",
            "memory+at:///99999999999999999999/a.md",
            "file:///etc/passwd",
            "http://localhost/a.md",
            "",
            "a.md",
            "/memories/a.md",
        ] {
            let error = server.refusal("resources/read", json!({"uri": uri}));
            assert_eq!(error["code"], code, "{uri}: {error}");
            assert_eq!(error["data"]["uri"], uri);
            assert!(!error.to_string().contains("text of"), "{uri}: {error}");
        }
    }
}

#[test]
fn a_memory_is_read_as_it_was() {
    let home = Home::with_store();
    ok(&home, &["write", "a.md", "--text", "one\n"]);
    ok(&home, &["write", "a.md", "--text", "two\n"]);
    ok(&home, &["rename", "/memories/a.md", "/memories/b c.md"]);
    ok(&home, &["write", "gone.md", "--text", "gone\n"]);
    ok(&home, &["write", "erased.md", "--text", "erased\n"]);
    ok(&home, &["delete", "/memories/gone.md"]);
    ok(
        &home,
        &[
            "erase",
            "/memories/erased.md",
            "--yes",
            "--reason",
            "asked to",
        ],
    );
    for mut server in both(&home) {
        let mut text = |uri: &str| read(&mut server, uri);
        assert_eq!(text("memory:///b%20c.md").as_deref(), Some("two\n"));
        assert_eq!(text("memory+at:///1/b%20c.md").as_deref(), Some("one\n"));
        assert_eq!(text("memory+at:///2/b%20c.md").as_deref(), Some("two\n"));
        assert_eq!(text("memory:///a.md"), None);
        assert_eq!(text("memory:///gone.md"), None);
        assert_eq!(text("memory:///erased.md"), None);
        assert_eq!(text("memory+at:///1/erased.md"), None);
    }
}

#[test]
fn reading_is_an_access_and_looking_at_a_version_is_a_look() {
    let home = Home::with_store();
    ok(&home, &["write", "a.md", "--text", "one\n"]);
    let mut server = Server::older(&home, &[]);
    read(&mut server, "memory:///a.md").expect("a text");
    let event = last_event(&home);
    assert_eq!(
        (&event["command"], &event["path"]),
        (&json!("memory_read"), &json!("/memories/a.md"))
    );
    read(&mut server, "memory+at:///1/a.md").expect("a text");
    let event = last_event(&home);
    assert_ne!(event["command"], "memory_read");
    assert_eq!(
        (&event["outcome"], &event["door"]),
        (&json!("ok"), &json!("mcp"))
    );
    let before = events(&home).len();
    server.refusal("resources/read", json!({"uri": "memory:///none.md"}));
    assert_eq!(last_event(&home)["error"], "not_found");
    server.refusal("resources/read", json!({"uri": "file:///etc/passwd"}));
    assert_eq!(events(&home).len(), before + 1);
}

#[test]
fn long_lists_come_in_pages() {
    const MEMORIES: usize = 2_050;
    let home = Home::with_store();
    write(&home, (0..MEMORIES).map(|n| format!("d {}/{n}.md", n % 7)));
    let count = || last_event(&home)["event"].as_u64().expect("a number");
    let before = count();
    for (number, mut server) in (1..).zip(both(&home)) {
        let mut cursor = None;
        let mut seen = Vec::new();
        for size in [1_000, 1_000, 50] {
            let params = cursor
                .take()
                .map_or(json!({}), |cursor: Value| json!({"cursor": cursor}));
            let page = server.result("resources/list", params);
            assert_eq!(uris(&page).len(), size);
            seen.extend(uris(&page));
            cursor = page.get("nextCursor").cloned();
        }
        assert_eq!(cursor, None);
        assert_eq!(seen.len(), MEMORIES);
        assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), MEMORIES);
        assert_eq!(count(), before + number, "one listing is one event");
        // One that went meanwhile is passed over, and what is no cursor begins or ends the list.
        let page = server.result("resources/list", json!({"cursor": "d 0/0.mdx"}));
        assert_eq!(uris(&page).len(), 1_000);
        let page = server.result("resources/list", json!({"cursor": "zzz"}));
        assert_eq!((uris(&page).len(), page.get("nextCursor")), (0, None));
    }
}

#[test]
fn there_are_two_templates() {
    let home = Home::empty();
    for mut server in both(&home) {
        let listed = server.result("resources/templates/list", json!({}));
        let templates = listed["resourceTemplates"].as_array().expect("templates");
        let uris: Vec<&Value> = templates.iter().map(|one| &one["uriTemplate"]).collect();
        assert_eq!(
            json!(uris),
            json!(["memory:///{+path}", "memory+at:///{version}/{+path}"])
        );
        assert!(templates.iter().all(|one| one["mimeType"] == "text/plain"));
    }
}

fn complete(server: &mut Server, template: &str, name: &str, value: &str) -> Value {
    let params = json!({
        "ref": {"type": "ref/resource", "uri": template},
        "argument": {"name": name, "value": value},
    });
    server.result("completion/complete", params)["completion"].clone()
}

#[test]
fn paths_are_completed() {
    let home = Home::with_store();
    write(
        &home,
        (0..150)
            .map(|n| format!("many/{n}.md"))
            .chain(ODD.map(|(name, _)| name.to_owned())),
    );
    let before = events(&home).len();
    for (number, mut server) in both(&home).into_iter().enumerate() {
        let (now, at) = ("memory:///{+path}", "memory+at:///{version}/{+path}");
        let found = complete(&mut server, now, "path", "many/14");
        let wanted: Vec<String> = ["many/14.md".into()]
            .into_iter()
            .chain((140..150).map(|n| format!("many/{n}.md")))
            .collect();
        assert_eq!(found["values"], json!(wanted));
        assert_eq!(
            (&found["total"], &found["hasMore"]),
            (&json!(11), &json!(false))
        );
        for name in ["path", "+path"] {
            let all = complete(&mut server, at, name, "");
            assert_eq!(all["values"].as_array().expect("values").len(), 100);
            assert_eq!(
                (&all["total"], &all["hasMore"]),
                (&json!(159), &json!(true))
            );
        }
        assert_eq!(
            complete(&mut server, now, "path", "ü/")["values"],
            json!(["ü/日本.md"])
        );
        for typed in ["many/15.", "MANY", "../", "/memories/", "%", "\u{0}"] {
            let none = complete(&mut server, now, "path", typed);
            let is_odd = typed == "many/15.";
            assert_eq!(
                none["values"].as_array().expect("values").len(),
                usize::from(is_odd),
                "{typed}"
            );
        }
        assert_eq!(
            events(&home).len(),
            before + number * 6 + 1,
            "a burst is one event"
        );
        for (template, name) in [
            (at, "version"),
            (now, "other"),
            ("memory:///{path}", "path"),
            ("", "path"),
        ] {
            assert_eq!(
                complete(&mut server, template, name, "")["values"],
                json!([]),
                "{template} {name}"
            );
        }
        // After a change the list is another.
        let path = format!("/memories/many/14x{number}.md");
        server.done("memory_create", json!({"path": path, "file_text": "x"}));
        let again = complete(&mut server, now, "path", &format!("many/14x{number}"));
        assert_eq!(again["total"], 1);
        server.done("memory_delete", json!({"path": path}));
        assert_eq!(
            complete(&mut server, now, "path", &format!("many/14x{number}"))["total"],
            0
        );
        ok(&home, &["read"]);
        let recorded = events(&home).len();
        assert_eq!(recorded, before + (number + 1) * 6);
    }
}
