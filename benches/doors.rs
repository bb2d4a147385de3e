//! The figures of docs/performance.md about doors: what a call costs through JSON lines and through MCP
//! beside the same call of the library, and how soon an MCP server answers.
//!
//! `cargo bench` measures; `cargo test --benches` does the same work once, small, so that it
//! cannot rot.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use agekeep::event::Context;
use agekeep::memory_tool::command::Command as MemoryCommand;
use agekeep::policy::Policy;
use agekeep::store::{Identity, Keys, SigningKey, Store};
use serde_json::{Value, json};

/// Bytes of a memory, about.
const TEXT_BYTES: usize = 2_048;

/// How much is measured.
struct Scale {
    memories: usize,
    rounds: usize,
    starts: usize,
}

const FULL: Scale = Scale {
    memories: 100,
    rounds: 1_000,
    starts: 21,
};
const SMALL: Scale = Scale {
    memories: 2,
    rounds: 2,
    starts: 1,
};

fn main() {
    let measuring = std::env::args().any(|argument| argument == "--bench");
    let scale = if measuring { FULL } else { SMALL };
    let folder = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    calls(folder.path(), &scale);
    starts(folder.path(), &scale);
}

/// The same call through each door, one after the other, each on a store of its own with the same
/// contents.
fn calls(folder: &Path, scale: &Scale) {
    let mut library = Library::new(&folder.join("library"));
    let mut lines = Server::start(&folder.join("lines"), &["tool", "--init"]);
    let mut mcp = Server::start(&folder.join("mcp"), &["mcp", "--init"]);
    mcp.initialize();
    let text = "customers ask about their orders\n".repeat(TEXT_BYTES / 34);
    for number in 0..scale.memories {
        let input = json!({"path": path(number), "file_text": text});
        library.call("create", &input);
        lines.call_line("create", &input);
        mcp.call_tool("create", &input);
    }
    for (name, input) in [
        ("view", json!({"path": path(0)})),
        ("create", json!({"path": "", "file_text": text})),
    ] {
        let mut times = [Vec::new(), Vec::new(), Vec::new()];
        for round in 0..scale.rounds {
            let mut input = input.clone();
            if name == "create" {
                input["path"] = path(scale.memories + round).into();
            }
            times[0].push(timed(|| library.call(name, &input)));
            times[1].push(timed(|| lines.call_line(name, &input)));
            times[2].push(timed(|| mcp.call_tool(name, &input)));
        }
        let [library, lines, mcp] = times.map(|mut times| median(&mut times));
        println!(
            "{name:<7} library {library:.3} ms, JSON lines {lines:.3} ms ({:+.3}), MCP {mcp:.3} ms ({:+.3})",
            lines - library,
            mcp - library
        );
    }
}

/// From the start of a server's process to its answers.
fn starts(folder: &Path, scale: &Scale) {
    let home = folder.join("mcp");
    let (mut first, mut listed, mut viewed) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..scale.starts {
        let start = Instant::now();
        let mut server = Server::start(&home, &["mcp"]);
        server.initialize();
        first.push(start.elapsed());
        server.request("tools/list", &json!({}));
        listed.push(start.elapsed());
        server.call_tool("view", &json!({"path": path(0)}));
        viewed.push(start.elapsed());
    }
    println!(
        "MCP from the start: first answer {:.1} ms, tools listed {:.1} ms, a memory viewed {:.1} ms",
        median(&mut first),
        median(&mut listed),
        median(&mut viewed)
    );
}

fn path(number: usize) -> String {
    format!("/memories/d{}/{number}.md", number % 50)
}

fn timed(act: impl FnOnce()) -> Duration {
    let start = Instant::now();
    act();
    start.elapsed()
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e3
}

/// A store used by this process.
struct Library {
    store: Store,
}

impl Library {
    fn new(root: &Path) -> Self {
        let keys = Keys {
            identity: Identity::generate(),
            signing_key: Some(SigningKey::generate()),
            state: Some(root.with_extension("state")),
            keyring: None,
        };
        let (policy, clock) = (Policy::default(), Box::new(chrono::Utc::now));
        let store = Store::init(root, keys, &policy, &Context::default(), clock).unwrap();
        Self { store }
    }

    fn call(&mut self, name: &str, input: &Value) {
        let fields = input.as_object().unwrap().clone();
        let command = MemoryCommand::from_fields(name, fields);
        let answer = self.store.execute(&command, &Context::default()).unwrap();
        assert!(!answer.is_error());
    }
}

/// A process that answers one line with one line.
struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    asked: u64,
}

impl Server {
    fn start(home: &Path, args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_agekeep"))
            .env_clear()
            .env("HOME", home)
            .env("PATH", "/usr/bin:/bin")
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self {
            input: child.stdin.take(),
            output,
            child,
            asked: 0,
        }
    }

    fn exchange(&mut self, message: &Value) -> Value {
        self.send(message);
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_bytes()).unwrap();
    }

    fn call_line(&mut self, name: &str, input: &Value) {
        let mut input = input.clone();
        input["command"] = name.into();
        let answer = self.exchange(&input);
        assert_eq!(answer["is_error"], false, "{answer}");
    }

    fn initialize(&mut self) {
        let client = json!({"name": "bench", "version": "1"});
        let params =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        self.request("initialize", &params);
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        let request =
            json!({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params});
        let mut answer = self.exchange(&request);
        // Notifications stand between answers.
        while answer["id"] != self.asked {
            let mut line = String::new();
            self.output.read_line(&mut line).unwrap();
            answer = serde_json::from_str(&line).unwrap();
        }
        answer
    }

    fn call_tool(&mut self, name: &str, input: &Value) {
        let params = json!({"name": format!("memory_{name}"), "arguments": input});
        let answer = self.request("tools/call", &params);
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}
