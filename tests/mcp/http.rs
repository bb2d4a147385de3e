//! Over HTTP: who is let in, who is not, and what each is answered.

use std::io::{BufReader, Read, Write};
use std::net::TcpListener;
use std::process::Output;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::mcp::client::{NEWER, OLDER, PATIENCE, call, events, last_event, meta, request};
use crate::mcp::web::{Response, Web, newer_request, post_bytes, read_chunk, read_head};
use crate::support::{Home, feed, stderr, stdout};

/// A server that must not come to listen.
pub(crate) fn refused(home: &Home, args: &[&str]) -> Output {
    let command = home.command(&[&["mcp"], args].concat());
    let (send, ended) = mpsc::channel();
    thread::spawn(move || send.send(feed(command, b"")));
    let output = ended.recv_timeout(Duration::from_secs(20));
    let output = output.expect("it refuses, and does not wait or serve");
    assert!(!output.status.success() && output.stdout.is_empty());
    assert!(!stderr(&output).contains("serving"), "{}", stderr(&output));
    output
}

pub(crate) fn view() -> Value {
    json!({"name": "memory_view", "arguments": {"path": "/memories"}})
}

/// Asks for something any client may have.
pub(crate) fn knock(web: &Web, headers: &[(&str, &str)]) -> Response {
    web.ask(headers, "tools/list", json!({}))
}

// ---- both eras ----

#[test]
fn a_client_of_the_newer_era_needs_no_session() {
    let home = Home::with_store();
    let web = Web::start(&home, &["--actor", "agent"]);
    let arguments = json!({"path": "/memories/a.md", "file_text": "x\n"});
    let made = web.call("memory_create", arguments);
    assert_eq!(made["isError"], false, "{made}");
    assert_eq!(made["resultType"], "complete");
    let response = web.ask(&[], "tools/call", view());
    assert_eq!(response.header("content-type"), Some("application/json"));
    assert_eq!(response.header("mcp-session-id"), None);
    let event = last_event(&home);
    let said = ["actor", "session", "client", "door"].map(|name| &event[name]);
    assert_eq!(json!(said), json!(["agent", null, "plain/7", "mcp"]));
    // What the header and the body say must be the same.
    let body = newer_request(1, "tools/call", view()).to_string();
    for headers in [
        [
            ("MCP-Protocol-Version", OLDER),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", "memory_view"),
        ],
        [
            ("MCP-Protocol-Version", NEWER),
            ("Mcp-Method", "tools/list"),
            ("Mcp-Name", "memory_view"),
        ],
        [
            ("MCP-Protocol-Version", NEWER),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", "memory_erase"),
        ],
        [
            ("MCP-Protocol-Version", "1999-01-01"),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", "memory_view"),
        ],
    ] {
        let response = web.post(&headers, &body);
        assert_eq!(response.status, 400, "{headers:?}: {response:?}");
    }
    assert_eq!(events(&home).len(), 3);
}

#[test]
fn a_client_of_the_older_era_has_a_session_that_is_on_record() {
    let home = Home::with_store();
    let web = Web::start(&home, &[]);
    let (first, second) = (web.session(), web.session());
    assert_ne!(first, second);
    for session in [&first, &second] {
        let headers = [
            ("Mcp-Session-Id", session.as_str()),
            ("MCP-Protocol-Version", OLDER),
        ];
        let answer = web.post(&headers, &request(1, "tools/call", view()).to_string());
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(answer.json()["result"]["isError"], false);
        assert_eq!(answer.json()["result"].get("resultType"), None);
        assert_eq!(last_event(&home)["session"], **session);
        assert_eq!(last_event(&home)["client"], "plain/7");
    }
    // A session is over when its client says so.
    let bye = |session: &str| {
        let bytes = format!(
            "DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: {session}\r\n\
             MCP-Protocol-Version: {OLDER}\r\nConnection: close\r\n\r\n"
        );
        web.exchange(bytes.as_bytes()).status
    };
    assert!((200..300).contains(&bye(&first)));
    let headers = [
        ("Mcp-Session-Id", first.as_str()),
        ("MCP-Protocol-Version", OLDER),
    ];
    let body = request(1, "tools/call", view()).to_string();
    assert_eq!(web.post(&headers, &body).status, 404);
    let headers = [
        ("Mcp-Session-Id", second.as_str()),
        ("MCP-Protocol-Version", OLDER),
    ];
    assert_eq!(web.post(&headers, &body).status, 200);
    assert_eq!(events(&home).len(), 4);
}

#[test]
fn without_a_session_that_is_there_a_client_of_the_older_era_is_refused() {
    let home = Home::with_store();
    let web = Web::start(&home, &[]);
    let body = call(1, "memory_view", json!({"path": "/memories"})).to_string();
    for (headers, status) in [
        (
            vec![("MCP-Protocol-Version", OLDER), ("Mcp-Session-Id", "none")],
            404,
        ),
        (
            vec![("MCP-Protocol-Version", OLDER), ("Mcp-Session-Id", "")],
            404,
        ),
        (vec![("Mcp-Session-Id", "../../etc/passwd")], 404),
    ] {
        let response = web.post(&headers, &body);
        assert_eq!(response.status, status, "{headers:?}: {response:?}");
    }
    for headers in [vec![("MCP-Protocol-Version", OLDER)], vec![]] {
        let response = web.post(&headers, &body);
        assert!(
            (400..500).contains(&response.status),
            "{headers:?}: {response:?}"
        );
    }
    for method in ["GET", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS", "TRACE"] {
        for more in [
            "",
            "Mcp-Session-Id: none\r\n",
            "MCP-Protocol-Version: 2026-07-28\r\n",
        ] {
            let bytes = format!(
                "{method} /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n{more}\
                 Connection: close\r\n\r\n"
            );
            let mut stream = web.connect();
            stream.write_all(bytes.as_bytes()).expect("it reads");
            let (status, _) = read_head(&mut BufReader::new(&mut stream));
            // To end what there is not is no failure.
            let is_done = method == "DELETE" && more.starts_with("Mcp-Session") && status == 202;
            assert!(
                is_done || (400..500).contains(&status),
                "{method} {more}: {status}"
            );
        }
    }
    assert_eq!(events(&home).len(), 1, "only init is on record");
}

// ---- what is no good request ----

#[test]
fn what_is_no_request_is_refused_over_http_too() {
    let home = Home::with_store();
    let web = Web::start(&home, &[]);
    let good = newer_request(1, "tools/call", view()).to_string();
    let about = [
        ("MCP-Protocol-Version", NEWER),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "memory_view"),
    ];
    let with = |more: &[(&'static str, &'static str)], body: &str| {
        web.post(&[&about[..], more].concat(), body).status
    };
    assert_eq!(with(&[], &good), 200);
    assert_eq!(with(&[("Accept", "application/xml")], &good), 406);
    assert_eq!(with(&[("Content-Type", "text/plain")], &good), 415);
    let deep = "[".repeat(200_000);
    let batch = format!("[{good}]");
    for body in [
        "",
        "x",
        "{",
        "[]",
        "null",
        "{}",
        deep.as_str(),
        batch.as_str(),
        "\u{0}",
    ] {
        let status = with(&[], body);
        let shown: String = body.chars().take(30).collect();
        assert!((400..500).contains(&status), "{shown:?}: {status}");
    }
    let unknown = web.ask(&[], "tools/destroy", json!({}));
    assert_eq!(
        (unknown.status, unknown.json()["error"]["code"].clone()),
        (404, json!(-32601))
    );
    let elsewhere = post_bytes(&about, &good).replace("POST /mcp ", "POST /elsewhere ");
    assert_eq!(web.exchange(elsewhere.as_bytes()).status, 404);
    for bytes in [
        &b"GARBAGE\r\n\r\n"[..],
        b"\x16\x03\x01\x02\x00\x01\x00\x01",
        b"POST /mcp\r\n\r\n",
    ] {
        let mut stream = web.connect();
        stream.write_all(bytes).expect("it reads");
        stream
            .shutdown(std::net::Shutdown::Write)
            .expect("it is open");
        let mut said = Vec::new();
        stream.read_to_end(&mut said).expect("it closes");
        let said = String::from_utf8_lossy(&said).into_owned();
        assert!(
            said.is_empty() || said.starts_with("HTTP/1.1 400"),
            "{said}"
        );
    }
    assert_eq!(knock(&web, &[]).status, 200);
    assert_eq!(events(&home).len(), 2);
}

#[test]
fn a_body_over_the_limit_is_not_read() {
    let home = Home::with_store();
    let web = Web::start(&home, &[]);
    let long = "x".repeat(17 * 1024 * 1024);
    let params = json!({"name": "memory_create", "arguments": {"path": "/memories/a.md", "file_text": long}});
    let response = web.ask(&[], "tools/call", params);
    assert_eq!(response.status, 413, "{}", response.body);
    // One that does not say so is read to the limit.
    let chunked = post_bytes(
        &[("Transfer-Encoding", "chunked"), ("content-length", "")],
        "",
    );
    let chunked = chunked.replace("content-length: \r\n", "");
    let mut stream = web.connect();
    stream.write_all(chunked.as_bytes()).expect("it reads");
    let chunk = format!("{:x}\r\n{}\r\n", 1 << 20, "x".repeat(1 << 20));
    let sent = (0..20).take_while(|_| stream.write_all(chunk.as_bytes()).is_ok());
    assert!(sent.count() >= 15);
    // A text that fits into a request and not into a memory is refused in words.
    let arguments = json!({"path": "/memories/a.md", "file_text": "x".repeat(10_000_000)});
    let result = web.call("memory_create", arguments);
    assert_eq!(result["structuredContent"]["error"], "limit_exceeded");
    assert_eq!(stdout(&home.run(&["read"])).trim(), "");
}

// ---- several at once ----

#[test]
fn slow_clients_keep_nobody_waiting() {
    let home = Home::with_store();
    let web = Web::start(&home, &[]);
    let body = newer_request(1, "tools/call", view()).to_string();
    let whole = post_bytes(
        &[
            ("MCP-Protocol-Version", NEWER),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", "memory_view"),
        ],
        &body,
    );
    let mut slow: Vec<_> = (0..20).map(|_| web.connect()).collect();
    let cut = whole.len() - 10;
    for (number, stream) in slow.iter_mut().enumerate() {
        let end = cut * number / 20;
        stream
            .write_all(&whole.as_bytes()[..end])
            .expect("it reads");
    }
    let began = Instant::now();
    assert_eq!(knock(&web, &[]).status, 200);
    assert_eq!(
        web.call("memory_view", json!({"path": "/memories"}))["isError"],
        false
    );
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "{:?}",
        began.elapsed()
    );
    let mut last = slow.pop().expect("twenty");
    last.write_all(&whole.as_bytes()[cut * 19 / 20..])
        .expect("it reads");
    assert_eq!(Response::read(&mut last).status, 200);
    // A client that is gone before its answer leaves nothing behind.
    drop(slow);
    assert_eq!(
        web.call("memory_view", json!({"path": "/memories"}))["isError"],
        false
    );
    let (status, _, _) = web.terminate();
    assert_eq!(status.code(), Some(0));
}

#[test]
fn clients_of_both_eras_write_at_once() {
    const EACH: usize = 25;
    let home = Home::with_store();
    let web = Web::start(&home, &[]);
    let session = web.session();
    thread::scope(|scope| {
        for era in [OLDER, NEWER] {
            let (web, session) = (&web, &session);
            scope.spawn(move || {
                for number in 0..EACH {
                    let arguments =
                        json!({"path": format!("/memories/{era}/{number}.md"), "file_text": "x\n"});
                    let result = if era == NEWER {
                        web.call("memory_create", arguments)
                    } else {
                        let headers = [
                            ("Mcp-Session-Id", session.as_str()),
                            ("MCP-Protocol-Version", OLDER),
                        ];
                        let body = call(number as u64, "memory_create", arguments).to_string();
                        let answer = web.post(&headers, &body).json();
                        assert_eq!(answer["id"], number);
                        answer["result"].clone()
                    };
                    assert_eq!(result["isError"], false, "{result}");
                }
            });
        }
    });
    assert_eq!(stdout(&home.run(&["read"])).lines().count(), 2 * EACH);
}

#[test]
fn one_who_listens_is_told_and_does_not_keep_the_server() {
    let home = Home::with_store();
    let web = Web::start(&home, &[]);
    let wants = json!({"notifications": {"resourcesListChanged": true}, "_meta": meta(NEWER)});
    let body = request(5, "subscriptions/listen", wants).to_string();
    let headers = [
        ("MCP-Protocol-Version", NEWER),
        ("Mcp-Method", "subscriptions/listen"),
    ];
    let mut stream = web.connect();
    stream
        .write_all(post_bytes(&headers, &body).as_bytes())
        .expect("it reads");
    let mut reader = BufReader::new(stream);
    let (status, head) = read_head(&mut reader);
    assert_eq!(status, 200, "{head:?}");
    let mut until = |word: &str| {
        let (began, mut said) = (Instant::now(), String::new());
        while !said.contains(word) {
            assert!(began.elapsed() < PATIENCE, "no {word}: {said}");
            let chunk = read_chunk(&mut reader).unwrap_or_else(|| panic!("no {word}: {said}"));
            said += std::str::from_utf8(&chunk).expect("UTF-8");
        }
    };
    until("notifications/subscriptions/acknowledged");
    // What is there when the watch begins is not news, and by this answer it has begun.
    web.call("memory_view", json!({"path": "/memories"}));
    home.run(&["write", "a.md", "--text", "x\n"]);
    until("notifications/resources/list_changed");
    let (status, said, took) = web.terminate();
    assert_eq!(status.code(), Some(0), "{said}");
    // It gives open requests 5 seconds.
    assert!(took < Duration::from_secs(4), "{took:?}");
}

// ---- the process ----

#[test]
fn a_port_in_use_is_said() {
    let home = Home::with_store();
    let other = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = other.local_addr().expect("its address").to_string();
    let output = refused(&home, &["--http", &address]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(16), "{said}");
    assert!(said.contains(&address) && said.contains("in use"), "{said}");
    let hint = said.lines().find(|line| line.starts_with("hint: "));
    let hint = hint.unwrap_or_default();
    assert!(hint.contains("port") && !hint.contains("disk"), "{said}");
}

/// It needs no token to send half a request.
#[test]
fn half_a_request_does_not_keep_a_server_that_is_told_to_end() {
    let home = Home::with_store();
    let web = Web::start(&home, &[]);
    let mut streams = Vec::new();
    for begun in [
        "",
        "POST /mcp HTTP/1.1\r\nHost: local",
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{",
    ] {
        let mut stream = web.connect();
        stream.write_all(begun.as_bytes()).expect("it reads");
        streams.push(stream);
    }
    thread::sleep(Duration::from_millis(200));
    let (status, said, took) = web.terminate();
    assert_eq!(status.code(), Some(0), "{said}");
    assert!(took < Duration::from_secs(8), "{took:?}");
}

#[test]
fn a_server_told_to_end_answers_what_it_has_begun() {
    let home = Home::with_store();
    let web = Web::start(&home, &[]);
    let session = web.session();
    let mut streams = Vec::new();
    for number in 0..20_u64 {
        let arguments = json!({"path": format!("/memories/{number}.md"), "file_text": "x\n"});
        let params = json!({"name": "memory_create", "arguments": arguments});
        let older = [
            ("Mcp-Session-Id", session.as_str()),
            ("MCP-Protocol-Version", OLDER),
        ];
        let newer = [
            ("MCP-Protocol-Version", NEWER),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", "memory_create"),
        ];
        let bytes = if number % 2 == 0 {
            let body = newer_request(number, "tools/call", params);
            post_bytes(&newer, &body.to_string())
        } else {
            post_bytes(&older, &request(number, "tools/call", params).to_string())
        };
        let mut stream = web.connect();
        stream.write_all(bytes.as_bytes()).expect("it reads");
        streams.push(stream);
    }
    // The first answer says that there is work under way.
    streams[0].peek(&mut [0]).expect("an answer");
    let (status, said, _) = web.terminate();
    assert_eq!(status.code(), Some(0), "{said}");
    let mut answered = 0;
    for mut stream in streams {
        let mut said = Vec::new();
        let _ = stream.read_to_end(&mut said);
        let said = String::from_utf8_lossy(&said);
        answered += said.matches("File created successfully").count();
    }
    let listed = stdout(&home.run(&["read"]));
    let kept = listed.lines().filter(|line| !line.is_empty());
    assert_eq!(answered, kept.count(), "what is kept is answered");
    assert!(answered > 0);
}
