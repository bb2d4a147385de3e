//! A client on standard input and output, as plain as can be: lines out, lines in.

use std::io::{BufRead, BufReader, Read, Write};
use std::iter;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Home, settle, store_of};

/// How long an answer may take on a machine that has a lot to do.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The revision of the protocol in which a client introduces itself first.
pub(crate) const OLDER: &str = "2025-11-25";
/// The one in which every request says for itself who asks.
pub(crate) const NEWER: &str = "2026-07-28";

/// What a client of the newer era says of itself in each request.
pub(crate) fn meta(version: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": {"name": "plain", "version": "7"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// The first request of a client of the older era.
pub(crate) fn introduction(id: u64, version: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": {
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": "plain", "version": "7"},
    }})
}

/// What says that the client has read the answer to it.
pub(crate) fn introduced() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
}

/// A request.
pub(crate) fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})
}

/// A tool call.
pub(crate) fn call(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments});
    request(id, "tools/call", params)
}

/// A call that makes a memory.
pub(crate) fn create(id: impl Into<Value>, name: &str, text: &str) -> Value {
    let path = format!("/memories/{name}");
    call(
        id,
        "memory_create",
        json!({"path": path, "file_text": text}),
    )
}

/// A server that is running.
pub(crate) struct Server {
    pub(crate) child: Child,
    input: Option<ChildStdin>,
    lines: mpsc::Receiver<String>,
    stderr: Arc<Mutex<Vec<u8>>>,
    stderr_reader: Option<JoinHandle<()>>,
    asked: u64,
    is_newer: bool,
    store: PathBuf,
    /// What came without being asked for, in order.
    pub(crate) notes: Vec<Value>,
}

/// What a server left behind.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    /// What it said and nobody had read yet.
    pub(crate) rest: Vec<Value>,
    pub(crate) stderr: String,
    /// From the end of its input to its own.
    pub(crate) took: Duration,
}

impl Server {
    /// Starts a program and says nothing to it yet.
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in output.lines() {
                let line = line.expect("the server speaks UTF-8");
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let mut errors = child.stderr.take().expect("piped");
        let stderr = Arc::new(Mutex::new(Vec::new()));
        let said = stderr.clone();
        let stderr_reader = thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = errors.read(&mut bytes) {
                said.lock().expect("nobody panics").extend(&bytes[..count]);
            }
        });
        Self {
            input: child.stdin.take(),
            child,
            lines,
            stderr,
            stderr_reader: Some(stderr_reader),
            asked: 0,
            is_newer: false,
            store: store_of(&command),
            notes: Vec::new(),
        }
    }

    /// A server with these options that has said nothing yet.
    pub(crate) fn silent(home: &Home, args: &[&str]) -> Self {
        Self::start(home.command(&[&["mcp"], args].concat()))
    }

    /// A server and a client of the older era that have introduced themselves.
    pub(crate) fn older(home: &Home, args: &[&str]) -> Self {
        Self::silent(home, args).introduce()
    }

    /// Says what a client of the older era says first.
    pub(crate) fn introduce(mut self) -> Self {
        self.send(&introduction(0, OLDER));
        let answer = self.receive();
        assert_eq!(answer["result"]["protocolVersion"], OLDER, "{answer}");
        self.send(&introduced());
        self
    }

    /// A server and a client of the newer era.
    pub(crate) fn newer(home: &Home, args: &[&str]) -> Self {
        let mut server = Self::silent(home, args);
        server.is_newer = true;
        server
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_raw(format!("{message}\n").as_bytes());
    }

    pub(crate) fn send_raw(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("the input is open");
        input.write_all(bytes).expect("the server reads");
    }

    /// Takes the input away, for a thread of its own to write to.
    pub(crate) fn take_input(&mut self) -> ChildStdin {
        self.input.take().expect("the input is open")
    }

    /// The next message; it must come.
    pub(crate) fn receive(&mut self) -> Value {
        self.receive_within(PATIENCE)
            .unwrap_or_else(|| panic!("no answer; standard error: {}", self.stderr()))
    }

    /// The next message, if one comes in this time.
    pub(crate) fn receive_within(&mut self, time: Duration) -> Option<Value> {
        match self.lines.recv_timeout(time) {
            Ok(line) => Some(parsed(&line)),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => None,
        }
    }

    /// What was said on standard error until now.
    fn stderr(&self) -> String {
        let said = self.stderr.lock().expect("nobody panics");
        String::from_utf8_lossy(&said).into_owned()
    }

    /// Asks and waits for the answer; what else comes is kept in `notes`.
    pub(crate) fn ask(&mut self, method: &str, mut params: Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        if self.is_newer && params.get("_meta").is_none() {
            params["_meta"] = meta(NEWER);
        }
        self.send(&request(id, method, params));
        self.answer(&id.into())
    }

    /// The answer with this id.
    pub(crate) fn answer(&mut self, id: &Value) -> Value {
        loop {
            let message = self.receive();
            if message["id"] == *id && message.get("method").is_none() {
                settle(&self.store);
                return message;
            }
            self.notes.push(message);
        }
    }

    /// The result of a request that must have one.
    pub(crate) fn result(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.ask(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].take()
    }

    /// The error of a request that must be refused.
    pub(crate) fn refusal(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.ask(method, params);
        assert!(answer.get("result").is_none(), "{method}: {answer}");
        answer["error"].take()
    }

    /// The result of a tool call, carried out or not.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.result("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// A tool call with something beside its arguments.
    pub(crate) fn call_with(&mut self, tool: &str, arguments: Value, beside: Value) -> Value {
        let mut about = meta(NEWER);
        let fields = about.as_object_mut().expect("an object");
        match beside {
            Value::Object(beside) => fields.extend(beside),
            other => panic!("{other} is not an object"),
        }
        let params = json!({"name": tool, "arguments": arguments, "_meta": about});
        self.result("tools/call", params)
    }

    /// The text of a call that must be carried out.
    pub(crate) fn done(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{tool}: {result}");
        text(&result)
    }

    /// The text of a call that must fail.
    pub(crate) fn failed(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool}: {result}");
        text(&result)
    }

    /// Ends the input and waits for the end of the server.
    pub(crate) fn end(mut self) -> Ended {
        drop(self.input.take());
        self.wait()
    }

    /// Reads until the server closes its output, and waits for its end.
    pub(crate) fn end_of_output(mut self) -> Ended {
        let rest: Vec<Value> = iter::from_fn(|| self.receive_within(PATIENCE)).collect();
        let mut end = self.wait();
        end.rest.splice(0..0, rest);
        end
    }

    /// Waits for the end of the server.
    pub(crate) fn wait(mut self) -> Ended {
        let began = Instant::now();
        let status = ended(&mut self.child);
        let took = began.elapsed();
        let rest = self.lines.iter().map(|line| parsed(&line)).collect();
        let reader = self.stderr_reader.take().expect("it is waited for once");
        reader.join().expect("the reader ends");
        Ended {
            status,
            rest,
            stderr: self.stderr(),
            took,
        }
    }

    /// Tells the server to end.
    pub(crate) fn terminate(&self) {
        signal(&self.child, "TERM");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A test that failed leaves nothing running.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for the end of a process that has to end.
pub(crate) fn ended(child: &mut Child) -> ExitStatus {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("a process of this one's") {
            return status;
        }
        assert!(began.elapsed() < PATIENCE, "the server does not end");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Sends a signal to a process.
pub(crate) fn signal(child: &Child, name: &str) {
    let mut kill = Command::new("kill");
    let sent = kill.args(["-s", name, &child.id().to_string()]).status();
    assert!(sent.expect("kill runs").success());
}

fn parsed(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))
}

/// The text of a tool's answer.
pub(crate) fn text(result: &Value) -> String {
    let content = result["content"].as_array().expect("content");
    assert_eq!(content.len(), 1, "{result}");
    assert_eq!(content[0]["type"], "text");
    content[0]["text"].as_str().expect("a text").to_owned()
}

/// The events of a home's store, oldest first.
pub(crate) fn events(home: &Home) -> Vec<Value> {
    let log = home.run(&["log", "--json"]);
    assert!(log.status.success(), "{}", crate::support::stderr(&log));
    let mut events = crate::support::json_lines(&log.stdout);
    events.reverse();
    events
}

/// The last event of a home's store.
pub(crate) fn last_event(home: &Home) -> Value {
    let log = home.run(&["log", "--json", "--limit", "1"]);
    assert!(log.status.success(), "{}", crate::support::stderr(&log));
    crate::support::json_lines(&log.stdout).remove(0)
}

/// A store's lock in the hands of another process.
pub(crate) struct Held(Child);

impl Held {
    pub(crate) fn of(home: &Home) -> Self {
        let mut holder = Command::new("flock");
        holder.arg(home.store().join("lock"));
        holder.args(["sh", "-c", "echo held; read _"]);
        holder.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut holder = holder.spawn().expect("flock runs");
        let output = holder.stdout.as_mut().expect("piped");
        output.read_exact(&mut [0; 5]).expect("it is held");
        Self(holder)
    }

    pub(crate) fn release(mut self) {
        drop(self.0.stdin.take());
        ended(&mut self.0);
    }
}
