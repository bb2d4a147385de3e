//! Secrets in every place where a client can put one: none is said, logged or kept.

use std::path::Path;
use std::process::Stdio;
use std::{fs, io::Read};

use serde_json::{Value, json};

use crate::mcp::client::{NEWER, OLDER, Server, introduced, introduction, meta};
use crate::support::{Home, json_lines, stdout};

/// Two secrets, each as it is written and as it must be nowhere.
fn secrets() -> [(String, String); 2] {
    let body = ["R7mQ2vX9bT4kZ8nL5w", "J3cF6hD1sG0pYaEuKi"].concat();
    let word = ["W1nt3r", "F0x_", "995"].concat();
    [
        (["gh", "p_", &body].concat(), body),
        (format!("DB_PASSWORD={word}"), word),
    ]
}

/// The forms a careless program might leave a value in.
fn forms(value: &str) -> [String; 3] {
    let hex: String = value.bytes().map(|b| format!("{b:02x}")).collect();
    [value.to_owned(), value.chars().rev().collect(), hex]
}

/// Where a secret stands.
fn sightings(pieces: &[(String, Vec<u8>)]) -> Vec<String> {
    let mut found = Vec::new();
    for (name, bytes) in pieces {
        let text = String::from_utf8_lossy(bytes);
        for (_, value) in secrets() {
            for form in forms(&value) {
                if let Some(at) = text.find(&form) {
                    let near: String = text[..at].chars().rev().take(80).collect();
                    let near: String = near.chars().rev().collect();
                    found.push(format!("{name}: after {near:?}"));
                }
            }
        }
    }
    found
}

/// Every file below a folder, as it is and inflated where it is zlib data.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut pieces = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.display().to_string();
        if path.is_dir() {
            pieces.push((name.clone(), name.into_bytes()));
            pieces.extend(files(&path));
            continue;
        }
        let bytes = fs::read(&path).expect("readable");
        let mut inflated = Vec::new();
        if flate2::read::ZlibDecoder::new(&bytes[..])
            .read_to_end(&mut inflated)
            .is_ok()
        {
            pieces.push((format!("{name} inflated"), inflated));
        }
        pieces.push((name, bytes));
    }
    pieces
}

/// Calls with a secret in every argument.
fn calls(secret: &str) -> Vec<(String, Value)> {
    let in_path = secret.replace('/', "_");
    let path = format!("/memories/{in_path}.md");
    let plain = "/memories/a.md";
    let inputs = vec![
        (
            "create",
            json!({"path": plain, "file_text": format!("a\n{secret}\nb\n")}),
        ),
        ("create", json!({"path": plain, "file_text": secret})),
        ("create", json!({"path": path, "file_text": "x"})),
        ("create", json!({"path": path, "file_text": [secret]})),
        ("view", json!({"path": plain})),
        ("view", json!({"path": path})),
        ("view", json!({"path": format!("/{secret}")})),
        ("view", json!({"path": {secret: secret}})),
        ("view", json!({"path": plain, "view_range": secret})),
        (
            "str_replace",
            json!({"path": plain, "old_str": secret, "new_str": "x"}),
        ),
        (
            "str_replace",
            json!({"path": plain, "old_str": "b", "new_str": secret}),
        ),
        (
            "insert",
            json!({"path": plain, "insert_line": 0, "insert_text": secret}),
        ),
        (
            "insert",
            json!({"path": plain, "insert_line": secret, "insert_text": secret}),
        ),
        ("rename", json!({"old_path": plain, "new_path": path})),
        ("rename", json!({"old_path": path, "new_path": path})),
        ("delete", json!({"path": path})),
        ("read", json!({"path": in_path})),
        ("write", json!({"path": "b.md", "content": secret})),
        ("write", json!({"path": in_path, "content": secret})),
        ("history", json!({"path": path})),
        ("history", json!({"path": plain, "limit": secret})),
        ("diff", json!({"path": path})),
        ("diff", json!({"from": secret})),
        ("diff", json!({"from": 1, "to": secret})),
        ("search", json!({"pattern": secret})),
        ("search", json!({"pattern": secret, "history": true})),
        (
            "search",
            json!({"pattern": format!("({secret}"), "regex": true}),
        ),
        ("search", json!({"pattern": "x", "path": path})),
        ("restore", json!({"path": path})),
        ("restore", json!({"path": plain, "from": secret})),
        ("redact", json!({"path": path})),
        ("erase", json!({"path": path})),
        ("erase", json!({"path": plain, "dry_run": secret})),
        ("expire", json!({"dry_run": secret})),
        (secret, json!({"path": plain})),
    ];
    let named = |(name, arguments): (&str, Value)| (format!("memory_{name}"), arguments);
    inputs.into_iter().map(named).collect()
}

/// What else a client can ask for.
fn requests(secret: &str) -> Vec<(&'static str, Value)> {
    let coded: String = secret.bytes().map(|b| format!("%{b:02X}")).collect();
    vec![
        (
            "resources/read",
            json!({"uri": format!("memory:///{secret}")}),
        ),
        (
            "resources/read",
            json!({"uri": format!("memory:///{coded}")}),
        ),
        (
            "resources/read",
            json!({"uri": format!("memory+at:///1/{secret}")}),
        ),
        (
            "resources/read",
            json!({"uri": format!("memory+at:///{secret}/a.md")}),
        ),
        ("resources/read", json!({"uri": secret})),
        ("resources/list", json!({"cursor": secret})),
        (
            "resources/subscribe",
            json!({"uri": format!("memory:///{secret}")}),
        ),
        ("prompts/get", json!({"name": secret})),
        (
            "prompts/get",
            json!({"name": "memory-guidance", "arguments": {secret: secret}}),
        ),
        (
            "completion/complete",
            json!({
                "ref": {"type": "ref/resource", "uri": "memory:///{+path}"},
                "argument": {"name": "path", "value": secret},
            }),
        ),
        (
            "completion/complete",
            json!({
                "ref": {"type": "ref/resource", "uri": secret},
                "argument": {"name": secret, "value": secret},
            }),
        ),
    ]
}

/// All of it to one server; what it said.
fn session(home: &Home, secret: &str, is_newer: bool) -> Vec<(String, Vec<u8>)> {
    let options = [
        "--admin",
        "--tools",
        "read-write,restore",
        "--actor",
        secret,
        "--session",
        secret,
    ];
    let mut command = home.command(&[&["mcp"], &options[..]].concat());
    command.env("RUST_BACKTRACE", "1").stdin(Stdio::piped());
    let mut server = Server::start(command);
    let mut said = Vec::new();
    let version = if is_newer { NEWER } else { OLDER };
    if !is_newer {
        let mut hello = introduction(0, OLDER);
        hello["params"]["clientInfo"] = json!({"name": secret, "version": secret, "title": secret});
        server.send(&hello);
        said.push(server.receive());
        server.send(&introduced());
    }
    let mut about = meta(version);
    about["io.modelcontextprotocol/clientInfo"] = json!({"name": secret, "version": secret});
    for beside in [
        json!({}),
        json!({"traceparent": secret, "x/toolUseId": secret, secret: secret}),
        json!({"agekeep/context": {"actor": secret, "session": secret, "reason": secret, "client": secret, "trace": secret}}),
        json!({"agekeep/context": {"base_sha256": secret}}),
        json!({"agekeep/context": {"reason": [secret]}}),
        json!({"agekeep/context": secret}),
    ] {
        let mut about = about.clone();
        about
            .as_object_mut()
            .expect("one")
            .extend(beside.as_object().expect("one").clone());
        for (tool, arguments) in calls(secret) {
            let params = json!({"name": tool, "arguments": arguments, "_meta": about});
            said.push(server.ask("tools/call", params));
        }
        for (method, mut params) in requests(secret) {
            params["_meta"] = about.clone();
            said.push(server.ask(method, params));
        }
    }
    said.append(&mut server.notes);
    server.send_raw(format!("{secret}\n{{\"{secret}\n[\"{secret}\"]\n").as_bytes());
    let end = server.end();
    assert!(end.status.success(), "{}", end.stderr);
    said.extend(end.rest);
    let answers = said
        .iter()
        .map(|answer| ("answer".to_owned(), answer.to_string().into_bytes()));
    answers
        .chain([("standard error".to_owned(), end.stderr.into_bytes())])
        .collect()
}

#[test]
fn no_secret_is_said_logged_or_kept() {
    let home = Home::with_store();
    let mut pieces = Vec::new();
    for (secret, _) in secrets() {
        for is_newer in [false, true] {
            pieces.extend(session(&home, &secret, is_newer));
        }
    }
    let log = home.run(&["log", "--json"]);
    assert!(
        json_lines(&log.stdout).len() > 200,
        "the sessions are on record"
    );
    pieces.push(("log".into(), log.stdout));
    for path in stdout(&home.run(&["read"])).lines() {
        pieces.push((path.to_owned(), home.run(&["read", path]).stdout));
    }
    pieces.extend(files(home.path()));
    assert_eq!(sightings(&pieces), Vec::<String>::new());
}

#[test]
fn the_search_finds_what_is_there() {
    for (_, value) in secrets() {
        for form in forms(&value) {
            let planted = vec![("x".to_owned(), [b"\xff\0", form.as_bytes()].concat())];
            assert_eq!(sightings(&planted).len(), 1, "{form}");
        }
    }
}
