//! `/health` and `/metrics` of the HTTP server, as a monitoring system asks for them.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::mcp::client::events;
use crate::mcp::gate::{TOKEN, token_file};
use crate::mcp::web::{Response, Web};
use crate::support::{Home, feed, json_lines, peers, stderr};

fn ask(web: &Web, method: &str, path: &str, headers: &[(&str, &str)]) -> Response {
    let host = headers.iter().any(|(name, _)| *name == "Host");
    let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    if !host {
        request += "Host: localhost\r\n";
    }
    for (name, value) in headers {
        request += &format!("{name}: {value}\r\n");
    }
    web.exchange((request + "\r\n").as_bytes())
}

/// The value of a sample, named with its labels.
fn sample(page: &str, name: &str) -> Option<f64> {
    let mut lines = page.lines();
    let line = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
    Some(line.parse().expect("a number"))
}

#[test]
fn health_is_told_to_everybody_and_tells_nothing_of_the_store() {
    let home = Home::with_store();
    let file = token_file(&home, TOKEN, 0o600);
    let web = Web::start(&home, &["--token-file", &file]);
    let well = ask(&web, "GET", "/health", &[]);
    assert_eq!((well.status, well.body.as_str()), (200, "ok\n"), "{well:?}");
    assert_eq!(well.header("cache-control"), Some("no-store"));
    assert_eq!(well.header("connection"), Some("close"));
    for path in ["/health/", "/healthz", "/health/x", "/HEALTH", "//health"] {
        assert_eq!(ask(&web, "GET", path, &[]).status, 401, "{path}");
    }
    let moved = home.path().join("moved");
    std::fs::rename(home.store(), moved).expect("it moves");
    let still = ask(&web, "GET", "/health", &[]);
    assert_eq!((still.status, still.body.as_str()), (200, "ok\n"));
}

#[test]
fn metrics_are_for_those_who_have_the_token() {
    let home = Home::with_store();
    let file = token_file(&home, TOKEN, 0o600);
    let web = Web::start(&home, &["--token-file", &file]);
    let right = format!("Bearer {TOKEN}");
    for wrong in ["", "Bearer", "Bearer wrong-horse-battery-staple", TOKEN] {
        let refused = ask(&web, "GET", "/metrics", &[("Authorization", wrong)]);
        assert_eq!(refused.status, 401, "{wrong:?}: {refused:?}");
        assert_eq!(refused.header("www-authenticate"), Some("Bearer"));
        assert!(!refused.body.contains("agekeep_"), "{refused:?}");
    }
    let in_query = format!("/metrics?access_token={TOKEN}");
    assert_eq!(ask(&web, "GET", &in_query, &[]).status, 401);
    let let_in = ask(&web, "GET", "/metrics", &[("Authorization", &right)]);
    assert_eq!(let_in.status, 200, "{let_in:?}");
    let format = Some("text/plain; version=0.0.4; charset=utf-8");
    assert_eq!(let_in.header("content-type"), format);
    assert_eq!(sample(&let_in.body, "agekeep_store_up"), Some(1.0));
}

/// Of a server that syncs, its monitoring sees when that last succeeded.
#[test]
fn a_server_that_syncs_says_when_it_last_did() {
    let home = Home::with_store();
    let last = |web: &Web| {
        let page = ask(web, "GET", "/metrics", &[]).body;
        sample(&page, "agekeep_last_sync_timestamp_seconds")
    };
    assert_eq!(last(&Web::start(&home, &[])), None);
    let host = home.path().join("host.git");
    let add = home.run(&["remote", "add", "origin", host.to_str().expect("UTF-8")]);
    assert!(add.status.success(), "{}", stderr(&add));
    let web = Web::start(&home, &["--sync", "1s"]);
    assert_eq!(last(&web), Some(0.0), "there is no host yet");
    let mut git = Command::new("git");
    git.args(["init", "-q", "--bare"]).arg(&host);
    assert!(feed(git, b"").status.success());
    let begun = std::time::Instant::now();
    while last(&web) == Some(0.0) {
        assert!(begun.elapsed().as_secs() < 60, "it never synced");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(last(&web) > Some(1_700_000_000.0));
}

#[test]
fn neither_is_told_to_pages_nor_by_other_methods() {
    let home = Home::with_store();
    let web = Web::start(&home, &[]);
    for path in ["/health", "/metrics"] {
        for (name, value) in [
            ("Host", "evil.example.com"),
            ("Host", "localhost.evil.com"),
            ("Origin", "https://evil.example.com"),
            ("Origin", "null"),
        ] {
            let refused = ask(&web, "GET", path, &[(name, value)]);
            assert_eq!(refused.status, 403, "{path} {name} {value}: {refused:?}");
            assert!(!refused.body.contains("agekeep_"), "{refused:?}");
        }
        for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "BREW"] {
            let refused = ask(&web, method, path, &[("Content-Length", "0")]);
            assert_eq!(refused.status, 405, "{method} {path}: {refused:?}");
            assert_eq!(refused.header("allow"), Some("GET, HEAD"), "{method}");
        }
        let bodied = ask(&web, "GET", path, &[("Content-Length", "5")]);
        assert_eq!(bodied.status, 400, "{path}: {bodied:?}");
        assert_eq!(ask(&web, "GET", path, &[]).status, 200, "{path}");
    }
    assert_eq!(events(&home).len(), 1, "only init is on record");
}

/// A server that wrote, read, was refused and redacted; and what its metrics are then.
fn metrics_of_a_day(home: &Home) -> (Web, String) {
    let web = Web::start(home, &["--actor", "night-shift", "--sync", "1h"]);
    let secret = ["gh", "p_", "R7mQ2vX9bT4kZ8nL5w", "J3cF6hD1sG0pYaEuKi"].concat();
    let text = format!("the token is {secret}\n");
    let path = "/memories/customers/weber.md";
    web.call("memory_create", json!({"path": path, "file_text": text}));
    web.call(
        "memory_create",
        json!({"path": path, "file_text": "again\n"}),
    );
    web.call("memory_view", json!({"path": path}));
    web.call("memory_view", json!({"path": "/memories/../../etc/passwd"}));
    web.call("memory_view", json!({"path": "/memories/none.md"}));
    let asked = Instant::now();
    loop {
        let answer = ask(&web, "GET", "/metrics", &[]);
        assert_eq!(answer.status, 200, "{answer:?}");
        // Where much else is done, the last call counts as one that waits for a moment after its answer.
        let waits = sample(&answer.body, "agekeep_calls_waiting") != Some(0.0);
        if !waits || asked.elapsed() > Duration::from_secs(10) {
            return (web, answer.body);
        }
    }
}

#[test]
fn metrics_count_what_happened_and_name_nobody() {
    let home = Home::with_store();
    let (web, page) = metrics_of_a_day(&home);
    let version = format!(r#"build_info{{version="{}"}}"#, env!("CARGO_PKG_VERSION"));
    for (name, value) in [
        (version.as_str(), 1.0),
        (r#"calls_total{tool="memory_create",outcome="ok"}"#, 1.0),
        (r#"calls_total{tool="memory_create",outcome="error"}"#, 1.0),
        (r#"calls_total{tool="memory_view",outcome="ok"}"#, 1.0),
        (r#"calls_total{tool="memory_view",outcome="denied"}"#, 1.0),
        (r#"calls_total{tool="memory_view",outcome="error"}"#, 1.0),
        (r#"calls_total{tool="memory_delete",outcome="ok"}"#, 0.0),
        (r#"refusals_total{code="already_exists"}"#, 1.0),
        (r#"refusals_total{code="denied"}"#, 1.0),
        (r#"call_duration_seconds_bucket{le="+Inf"}"#, 5.0),
        ("call_duration_seconds_count", 5.0),
        ("redactions_total", 1.0),
        ("store_up", 1.0),
        ("events", 6.0),
        ("memories", 1.0),
        ("memories_expired", 0.0),
        ("oldest_expired_timestamp_seconds", 0.0),
        ("last_sweep_timestamp_seconds", 0.0),
        ("erasures_pending", 0.0),
        ("calls_waiting", 0.0),
    ] {
        let name = format!("agekeep_{name}");
        assert_eq!(sample(&page, &name), Some(value), "{name}\n{page}");
    }
    for hidden in [
        "weber",
        "customers",
        "passwd",
        "night-shift",
        "plain/7",
        "tester",
        "/mem",
    ] {
        assert!(!page.contains(hidden), "{hidden}: {page}");
    }
    assert_eq!(events(&home).len(), 6, "asking is not recorded");
    // What others record is counted too, and a store that is gone is no reason to make another.
    let made = home.run(&["create", "b.md", "--text", "x"]);
    assert!(made.status.success(), "{}", stderr(&made));
    let later = ask(&web, "GET", "/metrics", &[]).body;
    assert_eq!(sample(&later, "agekeep_memories"), Some(2.0), "{later}");
    std::fs::rename(home.store(), home.path().join("moved")).expect("it moves");
    for _ in 0..2 {
        let gone = ask(&web, "GET", "/metrics", &[]).body;
        assert_eq!(sample(&gone, "agekeep_store_up"), Some(0.0), "{gone}");
        assert_eq!(sample(&gone, "agekeep_events"), None, "{gone}");
    }
    assert!(!home.store().exists());
}

#[test]
fn head_has_no_body() {
    let home = Home::with_store();
    let web = Web::start(&home, &[]);
    let mut stream = web.connect();
    let request = "HEAD /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    std::io::Write::write_all(&mut stream, request.as_bytes()).expect("it reads");
    let said = std::io::read_to_string(stream).expect("UTF-8");
    assert!(said.starts_with("HTTP/1.1 200 "), "{said}");
    assert!(said.ends_with("\r\n\r\n"), "{said}");
}

/// The page lists every metric there is, and no other.
#[test]
fn the_docs_list_the_metrics() {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/monitoring.md");
    let docs = std::fs::read_to_string(docs).expect("a page");
    let (_, section) = docs.split_once("## Health and metrics").expect("a section");
    let section = section.split("\n## ").next().expect("a section");
    let rows = section
        .lines()
        .filter_map(|row| row.strip_prefix("| `agekeep_"));
    let mut listed: Vec<&str> = rows
        .filter_map(|row| row.split(['`', '{']).next())
        .collect();
    let page = metrics_of_a_day(&Home::with_store()).1;
    let families = page
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE agekeep_"));
    let mut there: Vec<&str> = families.filter_map(|line| line.split(' ').next()).collect();
    listed.sort_unstable();
    there.sort_unstable();
    assert_eq!(listed, there);
}

#[test]
fn prometheus_parses_the_metrics() {
    let Some(python) = peers::python() else {
        let why = "a scraper drops a page that it cannot parse";
        return peers::skipped("metrics against Prometheus' parser", why);
    };
    let (_web, page) = metrics_of_a_day(&Home::with_store());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp/monitoring.py");
    let mut command = Command::new(python);
    command.arg(script);
    let output = feed(command, page.as_bytes());
    assert!(output.status.success(), "{}", stderr(&output));
    let samples = json_lines(&output.stdout);
    let lines = page.lines().filter(|line| !line.starts_with('#'));
    assert_eq!(samples.len(), lines.count(), "{samples:?}");
    let denied = json!({
        "name": "agekeep_calls_total",
        "labels": [["outcome", "denied"], ["tool", "memory_view"]],
        "value": 1,
        "type": "counter",
    });
    assert!(samples.contains(&denied), "{samples:?}");
    assert!(samples.iter().any(|sample| sample["type"] == "histogram"));
}
