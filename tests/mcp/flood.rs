//! Over HTTP, while somebody without the token does what they can to keep others out.
//!
//! All of it stays on loopback, where whoever attacks has the same address as who is attacked, and
//! ends by itself. The times printed are what a client waited; what is asserted is that it was let
//! in at all, on a machine that has a lot to do.
#![allow(clippy::print_stdout)] // the times are the figures
#![allow(clippy::similar_names)] // `began`, and what is begun

use std::io::{BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit, setrlimit};
use serde_json::{Value, json};

use crate::mcp::client::{Held, NEWER, OLDER, PATIENCE, call, events, introduction, meta, request};
use crate::mcp::gate::{TOKEN, token_file};
use crate::mcp::http::{knock, view};
use crate::mcp::web::{Response, Web, newer_request, post_bytes, read_chunk, read_head};
use crate::support::Home;

/// What a client that is not kept out is answered in, also on a slow machine.
const SERVED_WITHIN: Duration = Duration::from_secs(5);
/// What most systems let a process have open, and all that the server gets: half for new connections.
const FEW: &str = "ulimit -n 1024";
/// The same, which it may raise.
const USUAL: &str = "ulimit -S -n 1024";
/// Begun, and not ended.
const HALF_A_HEAD: &[u8] = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-";
const HALF_A_BODY: &[u8] =
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
    Accept: application/json, text/event-stream\r\nContent-Length: 99\r\n\r\n{";

// ---- the server and an honest client ----

/// A server under these limits of the machine.
fn start(home: &Home, limits: &str, args: &[&str]) -> Web {
    let plain = home.command(&[&["mcp", "--http", "127.0.0.1:0"], args].concat());
    let mut limited = Command::new(crate::support::program("sh"));
    limited
        .args(["-c", &format!("{limits}; exec \"$0\" \"$@\"")])
        .arg(plain.get_program())
        .args(plain.get_args())
        .env_clear()
        .envs(
            plain
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .current_dir(home.path());
    Web::run(limited)
}

fn with_token(home: &Home, limits: &str) -> Web {
    let file = token_file(home, TOKEN, 0o600);
    start(home, limits, &["--token-file", &file])
}

fn bearer() -> (&'static str, &'static str) {
    ("Authorization", "Bearer correct-horse-battery-staple")
}

/// What an honest client went through.
#[derive(Default)]
struct Served {
    /// How long the slowest answer took.
    slowest: Duration,
    /// How often the client had to ask again, because its connection was closed unanswered.
    again: usize,
}

impl Served {
    /// Begins a session, calls a tool in it, and calls one without a session.
    fn by(web: &Web) -> Self {
        let mut served = Self::default();
        let begun = served.ask(web, &[], &introduction(0, OLDER));
        let session = begun.header("mcp-session-id").expect("a session");
        let older = [("Mcp-Session-Id", session), ("MCP-Protocol-Version", OLDER)];
        let answer = served.ask(web, &older, &request(1, "tools/call", view()));
        assert_eq!(answer.json()["result"]["isError"], false, "{answer:?}");
        let answer = served.ask(web, &NEWER_CALL, &newer_request(1, "tools/call", view()));
        assert_eq!(answer.json()["result"]["isError"], false, "{answer:?}");
        served
    }

    fn ask(&mut self, web: &Web, headers: &[(&str, &str)], body: &Value) -> Response {
        let headers = [&[bearer()], headers].concat();
        let began = Instant::now();
        let response = loop {
            let post = AssertUnwindSafe(|| web.post(&headers, &body.to_string()));
            match catch_unwind(post) {
                Ok(response) => break response,
                Err(_) => self.again += 1,
            }
            assert!(began.elapsed() < SERVED_WITHIN, "it is kept out");
        };
        self.slowest = self.slowest.max(began.elapsed());
        assert_eq!(response.status, 200, "{response:?}");
        response
    }
}

const NEWER_CALL: [(&str, &str); 3] = [
    ("MCP-Protocol-Version", NEWER),
    ("Mcp-Method", "tools/call"),
    ("Mcp-Name", "memory_view"),
];

/// Asserts that a client is served, and says how fast.
fn assert_served(web: &Web, under: &str) {
    let Served { slowest, again } = Served::by(web);
    println!("{under}: the slowest answer took {slowest:?}");
    assert!(slowest < SERVED_WITHIN, "{under}: {slowest:?}");
    assert_eq!(again, 0, "{under}");
}

/// A call on a connection that is there to stay.
fn call_bytes() -> String {
    let body = newer_request(1, "tools/call", view()).to_string();
    let headers = [&NEWER_CALL[..], &[bearer(), ("Connection", "keep-alive")]].concat();
    post_bytes(&headers, &body)
}

/// A request that is answered with a stream of what changes.
fn listen_bytes() -> String {
    let wants = json!({"notifications": {"resourcesListChanged": true}, "_meta": meta(NEWER)});
    let headers = [
        ("MCP-Protocol-Version", NEWER),
        ("Mcp-Method", "subscriptions/listen"),
        bearer(),
    ];
    post_bytes(
        &headers,
        &request(5, "subscriptions/listen", wants).to_string(),
    )
}

// ---- who attacks ----

/// So many connections as this process may have besides those of the other tests.
fn many(wanted: usize) -> usize {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    let _ = setrlimit(Resource::Nofile, raised);
    let most = limit.maximum.unwrap_or(u64::MAX) / 4;
    wanted.min(usize::try_from(most).unwrap_or(usize::MAX))
}

/// A connection on which so much was sent.
fn begun(address: SocketAddr, bytes: &[u8]) -> std::io::Result<TcpStream> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    // One that is closed already does not take it.
    let _ = stream.write_all(bytes);
    Ok(stream)
}

fn all_begun(web: &Web, count: usize, bytes: &[u8]) -> Vec<TcpStream> {
    let begin = |_| begun(web.address, bytes).expect("it listens");
    (0..many(count)).map(begin).collect()
}

/// Whether the server has not closed it.
fn is_open(stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).expect("it is open here");
    let seen = stream.peek(&mut [0]);
    stream.set_nonblocking(false).expect("it is open here");
    matches!(seen, Err(why) if why.kind() == ErrorKind::WouldBlock)
}

fn count_open(streams: &[TcpStream]) -> usize {
    streams.iter().filter(|stream| is_open(stream)).count()
}

/// How long until the server has closed them all.
fn closed_after(streams: &[TcpStream], began: Instant) -> Duration {
    while count_open(streams) > 0 {
        assert!(began.elapsed() < PATIENCE, "{} stay", count_open(streams));
        thread::sleep(Duration::from_millis(50));
    }
    began.elapsed()
}

// ---- half of what a request is ----

#[test]
fn unfinished_heads_keep_nobody_out() {
    let home = Home::with_store();
    let web = with_token(&home, FEW);
    let mut kept = begun(web.address, call_bytes().as_bytes()).expect("it listens");
    assert_eq!(Response::read(&mut kept).status, 200);
    let began = Instant::now();
    let heads = all_begun(&web, 1_100, HALF_A_HEAD);
    assert_served(&web, "1,100 unfinished heads");
    assert!(count_open(&heads) < heads.len(), "there is room for others");
    // Those that are left have had their time soon.
    let took = closed_after(&heads, began);
    println!("all of them were closed after {took:?}");
    assert!(took < Duration::from_secs(30), "{took:?}");
    // Who has shown the token has more time between two requests.
    kept.write_all(call_bytes().as_bytes()).expect("it is open");
    assert_eq!(Response::read(&mut kept).status, 200);
}

#[test]
fn half_bodies_without_the_token_are_not_waited_for() {
    let home = Home::with_store();
    let web = with_token(&home, FEW);
    let bodies = all_begun(&web, 300, HALF_A_BODY);
    assert_served(&web, "300 half bodies without the token");
    for mut stream in bodies {
        let began = Instant::now();
        let mut said = String::new();
        stream.read_to_string(&mut said).expect("it closes");
        assert!(said.starts_with("HTTP/1.1 401 "), "{said}");
        assert!(began.elapsed() < SERVED_WITHIN, "{:?}", began.elapsed());
    }
    // Nor is one asked for that waits to be told to go on.
    let wants = post_bytes(&[("Expect", "100-continue"), ("Content-Length", "99")], "");
    let mut stream = begun(web.address, wants.as_bytes()).expect("it listens");
    let mut said = String::new();
    stream.read_to_string(&mut said).expect("it closes");
    assert!(said.starts_with("HTTP/1.1 401 "), "{said}");
    assert_eq!(events(&home).len(), 1 + 2, "init and two calls");
}

#[test]
fn half_bodies_keep_nobody_out_where_there_is_no_token() {
    // More than there may be requests, and more than there may be connections.
    for limits in [USUAL, "ulimit -n 64"] {
        let home = Home::with_store();
        let web = start(&home, limits, &[]);
        let bodies = all_begun(&web, 300, HALF_A_BODY);
        assert_served(&web, "300 half bodies where no token is set");
        let open = count_open(&bodies);
        assert!((1..bodies.len()).contains(&open), "{open} stay");
    }
}

#[test]
fn what_drips_is_not_waited_for() {
    let home = Home::with_store();
    let web = with_token(&home, FEW);
    let with_token = [&NEWER_CALL[..], &[bearer(), ("Content-Length", "99")]].concat();
    let body = post_bytes(&with_token, "{");
    let began = Instant::now();
    let mut heads = all_begun(&web, 100, HALF_A_HEAD);
    let mut bodies = all_begun(&web, 20, body.as_bytes());
    let (mut head_took, mut body_took) = (None, None);
    while head_took.is_none() || body_took.is_none() {
        assert!(began.elapsed() < PATIENCE, "they stay");
        for stream in heads.iter_mut().chain(&mut bodies) {
            let _ = stream.write_all(b"x");
        }
        assert_served(&web, "drips");
        thread::sleep(Duration::from_secs(1));
        let all_closed =
            |streams: &[TcpStream]| (count_open(streams) == 0).then(|| began.elapsed());
        head_took = head_took.or_else(|| all_closed(&heads));
        body_took = body_took.or_else(|| all_closed(&bodies));
    }
    println!("heads were closed after {head_took:?}, bodies after {body_took:?}");
    assert!(head_took < body_took, "each has its own time");
    assert!(body_took < Some(Duration::from_secs(30)), "{body_took:?}");
    // Who brought the token is told why.
    let said = Response::read(&mut bodies.remove(0));
    assert_eq!(said.status, 408, "{said:?}");
    assert_eq!(said.header("connection"), Some("close"));
}

#[test]
fn a_head_without_end_is_not_read() {
    let home = Home::with_store();
    let web = with_token(&home, FEW);
    let mut stream = begun(web.address, HALF_A_HEAD).expect("it listens");
    for _ in 0..100 {
        if stream.write_all(&[b'x'; 1_024]).is_err() {
            break;
        }
    }
    let mut said = Vec::new();
    let began = Instant::now();
    // What it said may be lost where it was still being written to.
    let _ = stream.read_to_end(&mut said);
    let said = String::from_utf8_lossy(&said);
    assert!(
        said.is_empty() || said.starts_with("HTTP/1.1 431 "),
        "{said}"
    );
    assert!(
        began.elapsed() < Duration::from_secs(2),
        "unread, and not late"
    );
    assert_served(&web, "nothing");
}

// ---- the token ----

#[test]
fn without_the_token_there_is_no_session_and_no_connection() {
    let home = Home::with_store();
    let web = with_token(&home, FEW);
    let kept = [("Connection", "keep-alive")];
    let introduction = post_bytes(&kept, &introduction(0, OLDER).to_string());
    let began = Instant::now();
    for number in 0..1_000 {
        let mut stream = begun(web.address, introduction.as_bytes()).expect("it listens");
        let mut said = String::new();
        stream.read_to_string(&mut said).expect("it closes");
        assert!(said.starts_with("HTTP/1.1 401 "), "{said}");
        let said = said.to_ascii_lowercase();
        assert!(!said.contains("mcp-session-id"), "{said}");
        assert!(said.contains("connection: close"), "{said}");
        if number % 250 == 0 {
            assert_served(&web, "introductions without the token");
        }
    }
    println!("1,000 introductions were refused in {:?}", began.elapsed());
    assert_served(&web, "1,000 introductions without the token");
    // A session is of no use without the token.
    let begun = web.post(
        &[bearer()],
        &crate::mcp::client::introduction(0, OLDER).to_string(),
    );
    let session = begun.header("mcp-session-id").expect("a session");
    let older = [("Mcp-Session-Id", session), ("MCP-Protocol-Version", OLDER)];
    let asked = call(1, "memory_view", json!({"path": "/memories"})).to_string();
    assert_eq!(web.post(&older, &asked).status, 401);
    let bye = post_bytes(&older, "").replacen("POST", "DELETE", 1);
    assert_eq!(web.exchange(bye.as_bytes()).status, 401);
    let older = [&older[..], &[bearer()]].concat();
    assert_eq!(web.post(&older, &asked).status, 200, "it is still there");
}

#[test]
fn a_session_that_is_used_outlives_a_thousand_that_are_not() {
    let home = Home::with_store();
    let web = start(&home, FEW, &[]);
    let (first, used) = (web.session(), web.session());
    let status = |session: &str| {
        let older = [("Mcp-Session-Id", session), ("MCP-Protocol-Version", OLDER)];
        let asked = call(1, "memory_view", json!({"path": "/memories"})).to_string();
        web.post(&older, &asked).status
    };
    let introduction = introduction(0, OLDER).to_string();
    // Neither is the limit got around by a header that other requests have.
    let said = [("MCP-Protocol-Version", OLDER)];
    for number in 0..1_010 {
        let headers = if number % 2 == 0 { &said[..] } else { &[] };
        let begun = web.post(headers, &introduction);
        assert_eq!(begun.status, 200, "{number}: {begun:?}");
        if number % 200 == 0 {
            assert_eq!(status(&used), 200);
        }
    }
    assert_eq!(status(&first), 404, "the oldest made room");
    assert_eq!(status(&used), 200, "the one that is used stays");
    assert_served(&web, "1,000 sessions where no token is set");
}

// ---- all at once, again and again ----

/// Keeps so many connections on which half a head was sent, each opened again as soon as it is
/// closed.
fn come_back(address: SocketAddr, count: usize, over: &AtomicBool, opened: &AtomicUsize) {
    let mut streams: Vec<TcpStream> = Vec::new();
    while !over.load(Ordering::Relaxed) {
        streams.retain(is_open);
        thread::sleep(Duration::from_millis(1));
        while streams.len() < count && !over.load(Ordering::Relaxed) {
            if let Ok(stream) = begun(address, HALF_A_HEAD) {
                opened.fetch_add(1, Ordering::Relaxed);
                streams.push(stream);
            }
        }
    }
}

#[test]
fn who_comes_back_as_soon_as_they_are_cut_off_keeps_nobody_out() {
    // A server that has to close one connection for each that comes, and one on a usual machine.
    for limits in [FEW, USUAL] {
        let home = Home::with_store();
        let web = with_token(&home, limits);
        let (over, opened) = (AtomicBool::new(false), AtomicUsize::new(0));
        let all = many(1_100);
        let done = thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| come_back(web.address, all / 2, &over, &opened));
            }
            let done = catch_unwind(|| {
                let began = Instant::now();
                while opened.load(Ordering::Relaxed) < all * 9 / 10 {
                    assert!(began.elapsed() < PATIENCE, "they are not let in either");
                    thread::sleep(Duration::from_millis(10));
                }
                [(); 5].map(|()| Served::by(&web))
            });
            over.store(true, Ordering::Relaxed);
            done
        });
        let served = done.expect("a client is served");
        let slowest = served.iter().map(|one| one.slowest).max().expect("five");
        let again: usize = served.iter().map(|one| one.again).sum();
        println!(
            "{limits}: {opened:?} connections opened; the slowest answer took {slowest:?}, \
             {again} of fifteen were asked for again"
        );
        assert!(slowest < SERVED_WITHIN, "{slowest:?}");
    }
}

#[test]
fn who_has_shown_the_token_keeps_their_connection() {
    let home = Home::with_store();
    let web = with_token(&home, FEW);
    let mut kept = begun(web.address, call_bytes().as_bytes()).expect("it listens");
    assert_eq!(Response::read(&mut kept).status, 200);
    let mut listener = begun(web.address, listen_bytes().as_bytes()).expect("it listens");
    let mut reader = BufReader::new(&mut listener);
    assert_eq!(read_head(&mut reader).0, 200);
    let told = |chunk: Option<Vec<u8>>| String::from_utf8(chunk.expect("a chunk")).expect("UTF-8");
    while !told(read_chunk(&mut reader)).contains("acknowledged") {}
    let _heads = all_begun(&web, 1_100, HALF_A_HEAD);
    thread::sleep(Duration::from_millis(200));
    let asked = Instant::now();
    kept.write_all(call_bytes().as_bytes()).expect("it is open");
    assert_eq!(Response::read(&mut kept).status, 200);
    println!("on the connection there was: {:?}", asked.elapsed());
    home.run(&["write", "a.md", "--text", "x\n"]);
    while !told(read_chunk(&mut reader)).contains("list_changed") {}
}

#[test]
fn a_connection_that_is_not_used_makes_room_for_one_that_is() {
    let home = Home::with_store();
    // A quarter of them may be connections with the token.
    let web = with_token(&home, "ulimit -n 64");
    let mut kept: Vec<TcpStream> = Vec::new();
    for _ in 0..100 {
        let mut stream = begun(web.address, call_bytes().as_bytes()).expect("it listens");
        assert_eq!(Response::read(&mut stream).status, 200);
        kept.push(stream);
        // The first is used all the time.
        kept[0]
            .write_all(call_bytes().as_bytes())
            .expect("it is open");
        assert_eq!(Response::read(&mut kept[0]).status, 200);
    }
    let open = count_open(&kept);
    assert!((8..=16).contains(&open), "{open} are open");
    assert!(!is_open(&kept[1]) && is_open(&kept[99]), "the oldest goes");
}

#[test]
fn the_oldest_stream_makes_room_where_every_connection_has_one() {
    let home = Home::with_store();
    let web = with_token(&home, "ulimit -n 64");
    let mut streams: Vec<TcpStream> = Vec::new();
    for _ in 0..20 {
        let mut stream = begun(web.address, listen_bytes().as_bytes()).expect("it listens");
        let mut reader = BufReader::new(&mut stream);
        assert_eq!(read_head(&mut reader).0, 200);
        streams.push(stream);
    }
    assert_served(&web, "as many streams as connections");
    let ended = |stream: &mut TcpStream| {
        stream.set_nonblocking(true).expect("it is open here");
        let read = stream.read_to_end(&mut Vec::new());
        !matches!(read, Err(why) if why.kind() == ErrorKind::WouldBlock)
    };
    assert!(ended(&mut streams[0]) && !ended(&mut streams[19]));
}

#[test]
fn what_is_being_carried_out_makes_no_room() {
    let home = Home::with_store();
    let web = with_token(&home, "ulimit -n 64");
    assert_served(&web, "nothing");
    let held = Held::of(&home);
    let call = call_bytes();
    let mut waiting: Vec<TcpStream> = Vec::new();
    // Sixteen have a place, and wait for the store.
    let refused = loop {
        let mut one_more = begun(web.address, call.as_bytes()).expect("it listens");
        let soon = Some(Duration::from_millis(300));
        one_more.set_read_timeout(soon).expect("a time limit");
        if one_more.peek(&mut [0]).is_ok() {
            break Response::read(&mut one_more);
        }
        one_more.set_read_timeout(Some(PATIENCE)).expect("one");
        waiting.push(one_more);
        assert!(waiting.len() <= 16, "there is room for all");
    };
    assert_eq!(refused.status, 503, "{refused:?}");
    assert_eq!(refused.header("connection"), Some("close"));
    held.release();
    assert_eq!(waiting.len(), 16);
    for mut stream in waiting {
        assert_eq!(Response::read(&mut stream).status, 200);
    }
}

// ---- what the machine gives ----

#[test]
fn one_address_does_not_take_the_places_of_another() {
    let home = Home::with_store();
    let web = with_token(&home, FEW);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .expect("a runtime");
    // Another address of this machine; not every system has it.
    let other = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4()?;
        socket.bind(([127, 0, 0, 2], 0).into())?;
        socket.connect(web.address).await?.into_std()
    });
    let Ok(mut other) = other else {
        return;
    };
    other.set_nonblocking(false).expect("it is open");
    let call = call_bytes();
    let (first, rest) = call.as_bytes().split_at(40);
    other.write_all(first).expect("it is open");
    let heads = all_begun(&web, 1_100, HALF_A_HEAD);
    assert_served(&web, "1,100 unfinished heads from one address");
    assert!(!is_open(&heads[0]), "some had to go");
    other.write_all(rest).expect("it is open");
    assert_eq!(Response::read(&mut other).status, 200);
}

#[test]
fn a_machine_that_gives_few_files_is_enough() {
    let home = Home::with_store();
    let web = with_token(&home, "ulimit -n 64");
    let heads = all_begun(&web, 500, HALF_A_HEAD);
    assert_served(&web, "64 files and 500 unfinished heads");
    assert!(count_open(&heads) <= 32, "{} are open", count_open(&heads));
}

#[test]
fn a_server_takes_the_files_that_the_machine_would_give() {
    let home = Home::with_store();
    let web = with_token(&home, USUAL);
    let heads = all_begun(&web, 700, HALF_A_HEAD);
    assert_served(&web, "700 unfinished heads");
    assert_eq!(
        count_open(&heads),
        heads.len(),
        "there is room for them all"
    );
}

/// What a process has used of the processor, in the kernel's ticks of a hundredth of a second.
#[cfg(target_os = "linux")]
fn ticks(web: &Web) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", web.child.id()));
    let stat = stat.expect("a process");
    let (_, fields) = stat.rsplit_once(") ").expect("its name in brackets");
    let fields: Vec<&str> = fields.split(' ').collect();
    let number = |at: usize| fields[at].parse::<u64>().expect("a number");
    number(11) + number(12)
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_without_a_file_to_open_waits_and_goes_on() {
    let home = Home::with_store();
    let web = with_token(&home, FEW);
    assert_served(&web, "nothing");
    let limit = |files| {
        let files = Rlimit {
            current: Some(files),
            maximum: Some(1_024),
        };
        let pid = Pid::from_child(&web.child);
        prlimit(Some(pid), Resource::Nofile, files).expect("a process of this user's");
    };
    limit(3);
    let _waiting = all_begun(&web, 20, HALF_A_HEAD);
    let before = ticks(&web);
    thread::sleep(Duration::from_secs(2));
    let used = ticks(&web) - before;
    println!("in two seconds without a file to open it used {used} ticks");
    assert!(used < 60, "it spins: {used}");
    // Where new connections have all there are, one of them goes.
    limit(40);
    let _heads = all_begun(&web, 50, HALF_A_HEAD);
    let began = Instant::now();
    assert_eq!(knock(&web, &[bearer()]).status, 200);
    println!("without a file to open: {:?}", began.elapsed());
    assert!(began.elapsed() < SERVED_WITHIN, "{:?}", began.elapsed());
    limit(1_024);
    assert_served(&web, "files again");
}
