//! Who is not let in, and what is not done for who is.

use std::io::{Read, Write};
use std::thread;
use std::time::{Duration, Instant};

use crate::mcp::client::{ended, signal};
use crate::mcp::web::Response;
use crate::support::{Home, stderr};
use crate::ui::client::Ui;

const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; \
                      frame-ancestors 'none'; base-uri 'none'";

/// An answer that tells nothing about the store.
fn assert_tells_nothing(answer: &Response, status: u16, what: &str) {
    assert_eq!(answer.status, status, "{what}: {answer:?}");
    for word in ["canary", "/memories", "Timeline", "tester", "set-cookie"] {
        assert!(!answer.body.contains(word), "{what}: {}", answer.body);
    }
    assert_eq!(answer.header("set-cookie"), None, "{what}");
    assert_has_headers(answer, what);
}

/// The headers that let a browser do nothing but show the answer.
fn assert_has_headers(answer: &Response, what: &str) {
    for (name, value) in [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "same-origin"),
        ("cache-control", "no-store"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        assert_eq!(answer.header(name), Some(value), "{what}: {answer:?}");
    }
}

fn with_canary() -> Home {
    let home = Home::with_store();
    let made = home.run(&["create", "/memories/canary.md", "--text", "canary\n"]);
    assert!(made.status.success(), "{}", stderr(&made));
    home
}

fn events(home: &Home) -> usize {
    let log = home.run(&["log", "--json"]);
    log.stdout.split(|byte| *byte == b'\n').count()
}

#[test]
fn the_printed_address_lets_one_browser_in_once() {
    let home = with_canary();
    let mut ui = Ui::run(home.command(&["ui"]));
    let first = ui.first();
    assert_eq!(first.len(), "/?token=".len() + 64);
    let wrong = format!("/?token={}", "0".repeat(64));
    let short = &first[..first.len() - 1];
    let twice = format!("/?x=1&{}&token=", &wrong[2..]);
    for path in [
        "/",
        "/?token=",
        &wrong,
        short,
        &twice,
        "/timeline",
        "/0/",
        "//",
        "/?token",
    ] {
        assert_tells_nothing(&ui.ask("GET", path, &[], ""), 401, path);
    }
    // Only then is it spent.
    let entered = ui.ask("GET", &first, &[], "");
    assert_eq!(entered.status, 303, "{entered:?}");
    assert_has_headers(&entered, "the redirect");
    ui.room = entered.header("location").expect("a page").to_owned();
    assert!(!ui.room.contains(&first[8..]), "{}", ui.room);
    assert_tells_nothing(&ui.ask("GET", &first, &[], ""), 401, "the token again");
    // Without the cookie the page's own address opens nothing, and neither does half a cookie.
    let cookie = entered.header("set-cookie").expect("a cookie");
    let value = cookie.split(';').next().expect("a value").to_owned();
    let half = value[..value.len() - 1].to_owned();
    for cookie in ["", "agekeep=", "other=1", &half, &format!("x{value}")] {
        let page = ui.ask("GET", &ui.room, &[("Cookie", cookie)], "");
        assert_tells_nothing(&page, 401, cookie);
    }
    ui.cookie = value;
    let page = ui.page("");
    assert_eq!(page.status, 200, "{page:?}");
    assert!(page.body.contains("canary.md") && !page.body.contains(&first[8..]));
    assert_has_headers(&page, "the first page");
    // The cookie is worth nothing anywhere else, where other servers of this machine get none.
    for path in ["/", "/timeline", &ui.room[..8]] {
        assert_ne!(ui.ask("GET", path, &[], "").status, 200, "{path}");
    }
}

#[test]
fn a_race_for_the_address_has_one_winner() {
    let home = with_canary();
    let ui = Ui::run(home.command(&["ui"]));
    let won: usize = thread::scope(|scope| {
        let tries: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| ui.ask("GET", &ui.first(), &[], "").status))
            .collect();
        let tries = tries.into_iter().map(|one| one.join().expect("an answer"));
        tries.filter(|status| *status == 303).count()
    });
    assert_eq!(won, 1);
}

#[test]
fn other_names_of_this_machine_open_no_page() {
    let home = with_canary();
    let ui = Ui::open(&home, &[]);
    let port = ui.host.split_once(':').expect("a port").1;
    let rebound = format!("evil.example:{port}");
    let other_port = "127.0.0.1:1";
    let tail = format!("127.0.0.1:{port}.evil.example");
    let user = format!("evil@127.0.0.1:{port}");
    for host in [
        "127.0.0.1",
        "localhost",
        "",
        &rebound,
        other_port,
        &tail,
        &user,
        "[::1]:80",
    ] {
        let answer = ui.ask("GET", &ui.room, &[("Host", host)], "");
        if host.is_empty() {
            // Without the header it is no request of this protocol.
            assert!([400, 403].contains(&answer.status), "{answer:?}");
            continue;
        }
        assert_tells_nothing(&answer, 403, host);
    }
    let absolute = format!("http://evil.example{}", ui.room);
    assert_tells_nothing(&ui.ask("GET", &absolute, &[], ""), 403, &absolute);
    let both = [("Host", "evil.example"), ("Host", ui.host.as_str())];
    assert!([400, 403].contains(&ui.ask("GET", &ui.room, &both, "").status));
    let by_name = format!("localhost:{port}");
    assert_eq!(
        ui.ask("GET", &ui.room, &[("Host", &by_name)], "").status,
        200
    );
}

#[test]
fn other_pages_in_the_browser_get_nothing() {
    let home = with_canary();
    let ui = Ui::open(&home, &["--allow-undo"]);
    let before = events(&home);
    for site in ["cross-site", "same-site", "anything", "same-origin, none"] {
        let got = ui.ask("GET", &ui.room, &[("Sec-Fetch-Site", site)], "");
        assert_tells_nothing(&got, 403, site);
        let sent = ui.send("undo", &[("Sec-Fetch-Site", site)], "do=revert");
        assert_tells_nothing(&sent, 403, site);
    }
    let port = ui.host.split_once(':').expect("a port").1;
    let secure = format!("https://{}", ui.host);
    let other_port = "http://127.0.0.1:1".to_owned();
    let by_name = format!("http://localhost:{port}");
    for origin in [
        "null",
        "http://evil.example",
        &secure,
        &other_port,
        &by_name,
        "",
    ] {
        let sent = ui.send("undo", &[("Origin", origin)], "do=revert");
        assert_tells_nothing(&sent, 403, origin);
        if !origin.is_empty() {
            let got = ui.ask("GET", &ui.room, &[("Origin", origin)], "");
            assert_tells_nothing(&got, 403, origin);
        }
    }
    assert_eq!(events(&home), before, "and none of it was carried out");
    let own = format!("http://{}", ui.host);
    assert_eq!(ui.ask("GET", &ui.room, &[("Origin", &own)], "").status, 200);
    for site in ["same-origin", "none", ""] {
        let got = ui.ask("GET", &ui.room, &[("Sec-Fetch-Site", site)], "");
        assert_eq!(got.status, 200, "{site}");
    }
}

#[test]
fn what_is_no_page_is_not_found_and_no_other_method_works() {
    let home = with_canary();
    let ui = Ui::open(&home, &[]);
    for name in [
        "nothing",
        "Timeline",
        "timeline/",
        "../../../etc/passwd",
        "..%2f..%2fetc%2fpasswd",
        "%2e%2e/",
        "style.css",
        "memory/../timeline",
        "%00",
        "report/../../x",
    ] {
        assert_tells_nothing(&ui.page(name), 404, name);
    }
    for path in ["/etc/passwd", "/../etc/passwd", "/icon.svg/x"] {
        assert_tells_nothing(&ui.ask("GET", path, &[], ""), 404, path);
    }
    for method in ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "HEAD", "BREW"] {
        let mut stream = ui.connect();
        let request = format!(
            "{method} {} HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\nConnection: close\r\n\r\n",
            ui.room, ui.host, ui.cookie
        );
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 405 "), "{method}: {answer}");
        assert!(
            answer.to_lowercase().contains("allow: get, post"),
            "{answer}"
        );
    }
    // A page is not sent to, and an undo is not asked for.
    assert_tells_nothing(&ui.send("timeline", &[], ""), 405, "timeline");
    assert_tells_nothing(&ui.page("undo"), 405, "undo");
    assert_tells_nothing(&ui.page("undo?do=revert&events=1&plan=x"), 405, "undo");
    assert_tells_nothing(&ui.send("nothing", &[], ""), 404, "nothing");
}

#[test]
fn a_page_takes_only_what_it_knows() {
    let home = with_canary();
    let ui = Ui::open(&home, &[]);
    for (name, status) in [
        ("timeline?who=me", 400),
        ("timeline?actor=a&actor=b", 400),
        ("timeline?since=soon", 400),
        ("timeline?outcome=fine", 400),
        ("timeline?before=-1", 400),
        ("event?n=1e3", 400),
        ("event?n=99999999999999999999999", 400),
        ("event?n=4711", 404),
        ("event?n=18446744073709551615", 404),
        ("memory", 400),
        ("memory?path=/etc/passwd", 403),
        ("memory?path=/memories/../x", 403),
        ("memory?path=/memories/%2e%2e/x", 403),
        ("memory?path=/memories/nothing", 404),
        ("?at=/", 403),
        ("version?path=/memories/canary.md&version=9", 404),
        ("diff?path=/memories/canary.md", 400),
        ("search?q=(&regex=1", 400),
        ("plan?do=everything", 400),
        ("plan?do=revert", 400),
        ("plan?do=revert&events=4711", 404),
        ("plan?do=restore", 400),
        ("plan?do=rollback&to=never", 404),
    ] {
        let page = ui.page(name);
        assert_eq!(page.status, status, "{name}: {}", page.body);
        assert!(page.body.contains("What to do: "), "{name}: {}", page.body);
        assert_has_headers(&page, name);
    }
}

#[test]
fn heads_and_forms_are_bounded_in_size_and_time() {
    let home = with_canary();
    let ui = Ui::open(&home, &["--allow-undo"]);
    let long = "x".repeat(20_000);
    assert_eq!(
        ui.ask("GET", &ui.room, &[("X-Long", &long)], "").status,
        431
    );
    let form = format!("reason={long}");
    assert_tells_nothing(&ui.send("undo", &[], &form), 413, "a long form");
    let json = [("Content-Type", "application/json")];
    assert_tells_nothing(&ui.send("undo", &json, "{}"), 415, "JSON");
    assert_tells_nothing(
        &ui.send("undo", &[("Content-Type", "")], ""),
        415,
        "nothing",
    );
    // Two clients that do not end what they began: a head, and a form.
    let began = Instant::now();
    let mut head = ui.connect();
    head.write_all(b"GET / HTTP/1.1\r\nHost").expect("it reads");
    let mut body = ui.connect();
    let request = format!(
        "POST {}undo HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nCookie: {}\r\nContent-Type: \
         application/x-www-form-urlencoded\r\nContent-Length: 9\r\n\r\nx",
        ui.room,
        ui.cookie,
        host = ui.host
    );
    body.write_all(request.as_bytes()).expect("it reads");
    // Meanwhile others are answered.
    assert_eq!(ui.page("").status, 200);
    let mut said = Vec::new();
    let _ = head.read_to_end(&mut said);
    assert!(
        said.is_empty() || said.starts_with(b"HTTP/1.1 408"),
        "{said:?}"
    );
    assert_tells_nothing(&Response::read(&mut body), 408, "a slow form");
    assert!(began.elapsed() < Duration::from_secs(40));
}

#[test]
fn it_listens_on_this_machine_alone_and_says_what_keeps_it_from_starting() {
    let home = Home::empty();
    let none = home.run(&["ui"]);
    assert_eq!(none.status.code(), Some(10), "{}", stderr(&none));
    let home = Home::with_store();
    let mut ui = Ui::open(&home, &[]);
    assert!(ui.host.starts_with("127.0.0.1:"), "{}", ui.host);
    let port = ui.host.split_once(':').expect("a port").1.to_owned();
    let taken = home.run(&["ui", "--port", &port]);
    assert_eq!(taken.status.code(), Some(16), "{}", stderr(&taken));
    for address in listening(&ui) {
        assert_eq!(address, "0100007F", "127.0.0.1 and no other address");
    }
    signal(&ui.child, "INT");
    assert!(ended(&mut ui.child).success());
    let json = Ui::run(home.command(&["--json", "ui"]));
    assert!(json.url.starts_with("http://127.0.0.1:"), "{}", json.url);
}

/// The addresses at which the port of a server is listened on, as the kernel writes them.
fn listening(ui: &Ui) -> Vec<String> {
    let port: u16 = ui
        .host
        .split_once(':')
        .expect("a port")
        .1
        .parse()
        .expect("one");
    let sockets = std::fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    let end = format!(":{port:04X}");
    let rows = sockets.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let local = words.nth(1)?.to_owned();
        let is_listening = words.nth(1)? == "0A";
        is_listening.then(|| local.strip_suffix(&end).map(str::to_owned))?
    });
    rows.collect()
}
