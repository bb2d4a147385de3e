//! Over HTTP: who is let in, and who is not.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::attack::plant;
use crate::mcp::client::{OLDER, events, introduction};
use crate::mcp::http::{knock, refused, view};
use crate::mcp::web::{Web, post_bytes};
use crate::support::{Home, stderr};

pub(crate) const TOKEN: &str = "correct-horse-battery-staple";

pub(crate) fn token_file(home: &Home, content: &str, mode: u32) -> String {
    let path = home.path().join("token");
    fs::write(&path, content).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("its owner's");
    path.to_str().expect("UTF-8").to_owned()
}

fn with_token(home: &Home) -> Web {
    let file = token_file(home, TOKEN, 0o600);
    Web::start(home, &["--token-file", &file])
}

#[test]
fn an_address_for_others_needs_a_token() {
    let home = Home::with_store();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "[2001:db8::1]:0"] {
        let output = refused(&home, &["--http", address]);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(
            stderr(&output).contains("--token-file"),
            "{}",
            stderr(&output)
        );
    }
    let file = token_file(&home, TOKEN, 0o600);
    let web = Web::start_at(&home, "0.0.0.0:0", &["--token-file", &file]);
    assert_eq!(knock(&web, &[]).status, 401);
    let right = format!("Bearer {TOKEN}");
    assert_eq!(knock(&web, &[("Authorization", &right)]).status, 200);
    let (status, said, _) = web.terminate();
    assert!(status.success());
    assert!(said.contains("TLS") && !said.contains(TOKEN), "{said}");
}

#[test]
fn a_token_that_others_could_know_or_guess_is_none() {
    let home = Home::with_store();
    let long = "x".repeat(4_097);
    for (content, mode, code, words) in [
        (TOKEN, 0o644, 12, "chmod go="),
        (TOKEN, 0o640, 12, "chmod go="),
        (TOKEN, 0o602, 12, "chmod go="),
        ("", 0o600, 12, "shorter than 16 bytes"),
        ("\n", 0o600, 12, "shorter than 16 bytes"),
        ("fifteen-letters\n", 0o600, 12, "shorter than 16 bytes"),
        (
            "                                 ",
            0o600,
            12,
            "shorter than 16 bytes",
        ),
        ("two words of a token", 0o600, 12, "printable ASCII"),
        (
            "two-lines-of-a-token\ntwo-lines-of-a-token",
            0o600,
            12,
            "printable ASCII",
        ),
        ("a-token-with-an-ü-in-it", 0o600, 12, "printable ASCII"),
        (&long, 0o600, 12, "too long"),
    ] {
        let file = token_file(&home, content, mode);
        let output = refused(&home, &["--http", "127.0.0.1:0", "--token-file", &file]);
        let said = stderr(&output);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{content:?} {mode:o}: {said}"
        );
        assert!(said.contains(words), "{content:?} {mode:o}: {said}");
        assert!(
            content.trim().len() < 3 || !said.contains(content.trim()),
            "{said}"
        );
    }
    let folder = home.path().display().to_string();
    plant::fifo(&home.path().join("pipe"));
    let no_file = "not a regular file";
    for (file, code, words) in [
        ("none", 16, "none"),
        (folder.as_str(), 12, no_file),
        ("pipe", 12, no_file),
        ("/dev/zero", 12, no_file),
    ] {
        let output = refused(&home, &["--http", "127.0.0.1:0", "--token-file", file]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{file}: {said}");
        assert!(said.contains(words) && said.contains(file), "{said}");
    }
    // Without HTTP a token protects nothing.
    let file = token_file(&home, TOKEN, 0o600);
    for args in [
        &["--token-file", file.as_str()][..],
        &["--allow-host", "example.com"],
        &["--allow-origin", "https://example.com"],
        &["--http", "localhost:8700"],
        &["--http", "8700"],
        &["--http", ""],
    ] {
        assert_eq!(refused(&home, args).status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn only_who_brings_the_token_is_let_in() {
    let home = Home::with_store();
    let web = with_token(&home);
    let right = format!("Bearer {TOKEN}");
    for wrong in [
        None,
        Some(String::new()),
        Some("Bearer".into()),
        Some("Bearer ".into()),
        Some(TOKEN.to_owned()),
        Some(format!("Basic {TOKEN}")),
        Some(format!("Bearer {}", &TOKEN[..TOKEN.len() - 1])),
        Some(format!("Bearer {TOKEN}x")),
        Some(format!("Bearer {}", TOKEN.to_uppercase())),
        Some(format!("Bearer Bearer {TOKEN}")),
        Some(format!("Bearer x {TOKEN}")),
        Some(format!("Bearer\t{TOKEN}")),
        Some(format!("Bearer={TOKEN}")),
        Some(format!("Bearer \"{TOKEN}\"")),
        Some(format!("Bearer {TOKEN}, Bearer {TOKEN}")),
        Some(format!("Bearer {}", "x".repeat(5_000))),
        Some("Bearer \u{fc}".into()),
    ] {
        let headers: Vec<(&str, &str)> = wrong
            .iter()
            .map(|wrong| ("Authorization", wrong.as_str()))
            .collect();
        let response = web.ask(&headers, "tools/call", view());
        assert_eq!(response.status, 401, "{wrong:?}: {response:?}");
        assert_eq!(response.header("www-authenticate"), Some("Bearer"));
        assert!(!response.body.contains(TOKEN));
    }
    // The first of two is the one that counts.
    let two = [
        ("Authorization", "Bearer wrong"),
        ("Authorization", right.as_str()),
    ];
    assert_eq!(web.ask(&two, "tools/call", view()).status, 401);
    // In no other place.
    let in_query = post_bytes(&[], "{}").replace("/mcp", &format!("/mcp?access_token={TOKEN}"));
    assert_eq!(web.exchange(in_query.as_bytes()).status, 401);
    for path in ["/", "/mcp/", "/elsewhere"] {
        let bytes = post_bytes(&[], "{}").replace("/mcp", path);
        assert_eq!(web.exchange(bytes.as_bytes()).status, 401, "{path}");
    }
    let get = "GET /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    assert_eq!(web.exchange(get.as_bytes()).status, 401);
    assert_eq!(
        web.post(&[], &introduction(0, OLDER).to_string()).status,
        401
    );
    assert_eq!(events(&home).len(), 1, "only init is on record");
    for scheme in ["Bearer", "bearer", "BEARER"] {
        let header = format!("{scheme} {TOKEN}");
        let response = web.ask(&[("Authorization", &header)], "tools/call", view());
        assert_eq!(response.status, 200, "{scheme}: {response:?}");
    }
    let (status, said, _) = web.terminate();
    assert!(status.success() && !said.contains(TOKEN), "{said}");
    assert!(!String::from_utf8_lossy(&home.run(&["log", "--json"]).stdout).contains(TOKEN));
}

#[test]
fn pages_of_other_origins_are_kept_out() {
    let home = Home::with_store();
    let web = Web::start(&home, &["--allow-origin", "https://tools.example.com"]);
    for origin in [
        "https://evil.example.com",
        "https://tools.example.com.evil.com",
        "https://tools.example.com:8443",
        "http://tools.example.com",
        "https://localhost.evil.com",
        "http://127.0.0.1.nip.io",
        "http://192.168.0.1",
        "null",
        "file://",
        "x",
    ] {
        let response = knock(&web, &[("Origin", origin)]);
        assert_eq!(response.status, 403, "{origin}: {response:?}");
        assert_eq!(response.header("access-control-allow-origin"), None);
    }
    for origin in [
        "http://localhost",
        "http://localhost:5173",
        "http://127.0.0.1:6274",
        "http://[::1]:80",
        "https://tools.example.com",
    ] {
        assert_eq!(knock(&web, &[("Origin", origin)]).status, 200, "{origin}");
    }
    assert_eq!(events(&home).len(), 1, "only init is on record");
}

#[test]
fn other_names_of_this_machine_are_not_answered_to() {
    let home = Home::with_store();
    let web = Web::start(&home, &["--allow-host", "memory.example.com"]);
    let port = web.address.port();
    for host in [
        "evil.example.com".to_owned(),
        format!("evil.example.com:{port}"),
        "localhost.evil.com".into(),
        "memory.example.com.evil.com".into(),
        "127.0.0.2".into(),
        "0.0.0.0".into(),
        "169.254.169.254".into(),
        "localhost@evil.com".into(),
        String::new(),
    ] {
        let response = knock(&web, &[("Host", &host)]);
        assert!(
            [400, 403].contains(&response.status),
            "{host:?}: {response:?}"
        );
    }
    let none = post_bytes(&[], "{}").replace("Host: localhost\r\n", "");
    assert!([400, 403].contains(&web.exchange(none.as_bytes()).status));
    for host in [
        "localhost".to_owned(),
        format!("localhost:{port}"),
        format!("127.0.0.1:{port}"),
        format!("[::1]:{port}"),
        "memory.example.com".into(),
        "memory.example.com:443".into(),
    ] {
        let response = knock(&web, &[("Host", &host)]);
        assert_eq!(response.status, 200, "{host}: {response:?}");
    }
}
