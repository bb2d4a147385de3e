//! A conversation with an MCP server over its standard input and output, with time limits.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::platform;
use crate::verbs::mcp_config::Launch;

/// The longest time for each answer, in seconds.
pub(super) const ANSWER_SECONDS_MAX: u64 = 10;
/// The longest time that a server may take to end after its input does.
const END_TIME_MAX: Duration = Duration::from_secs(2);
/// The longest wait for the last output of a program that has ended.
const LAST_WORDS_TIME_MAX: Duration = Duration::from_secs(1);
/// The longest line that is read from a server, in bytes.
const LINE_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Most bytes that are kept of a server's standard error.
const STDERR_BYTES_MAX: usize = 4 * 1024;
/// Most lines that may wait to be read; a server that writes more waits too.
const LINES_WAITING_MAX: usize = 64;
/// The `PATH` of a program that was not started from a shell.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/// A server that was started. However the conversation ends, the server does not outlive it.
pub(super) struct Session {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<ServerOutput>,
    stderr: StderrCapture,
    asked: u64,
    noise: Option<String>,
    ended: Option<ExitStatus>,
}

/// A line of a server's standard output.
enum ServerOutput {
    Said(Vec<u8>),
    TooLong,
}

/// The reason why there is no answer.
pub(super) enum Trouble {
    /// The time is up.
    Late,
    /// The server is gone.
    Ended,
    /// The server answered with an error of the protocol.
    Refused(String),
    /// A tool answered with an error, or with no text.
    Answered(String),
}

/// Makes a command as a client starts it that is no shell's child: few variables, and no folder.
pub(super) fn bare_command(launch: &Launch, home: Option<&OsStr>) -> Command {
    let mut command = Command::new(&launch.program);
    command.env_clear().env("PATH", PATH);
    if let Some(home) = home {
        command.env("HOME", home);
    }
    command
        .envs(&launch.env)
        .args(&launch.args)
        .current_dir("/");
    platform::in_own_group(&mut command);
    command
}

impl Session {
    /// Starts a server.
    pub(super) fn start(launch: &Launch, home: Option<&OsStr>) -> io::Result<Self> {
        let mut child = bare_command(launch, home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (sender, lines) = sync_channel(LINES_WAITING_MAX);
        let output = child.stdout.take().expect("it is piped");
        let errors = child.stderr.take().expect("it is piped");
        thread::spawn(move || pass_on(output, &sender));
        Ok(Self {
            input: child.stdin.take(),
            child,
            lines,
            stderr: StderrCapture::on(errors),
            asked: 0,
            noise: None,
            ended: None,
        })
    }

    /// Sends a request, and waits for its answer.
    pub(super) fn ask(&mut self, method: &str, params: &Value) -> Result<Value, Trouble> {
        self.asked += 1;
        let id = self.asked;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        let until = Instant::now() + Duration::from_secs(ANSWER_SECONDS_MAX);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let line = match self.lines.recv_timeout(left) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => return Err(Trouble::Late),
                Err(RecvTimeoutError::Disconnected) => return Err(Trouble::Ended),
            };
            let Some(message) = self.read(line) else {
                continue;
            };
            // A request or notification of the server's own has a method, and is no answer.
            if message.get("method").is_some() || message.get("id") != Some(&json!(id)) {
                continue;
            }
            return match (message.get("result"), message.get("error")) {
                (Some(result), _) => Ok(result.clone()),
                (None, error) => Err(Trouble::Refused(said_in(error))),
            };
        }
    }

    /// Sends a notification, which has no answer.
    pub(super) fn tell(&mut self, method: &str) -> Result<(), Trouble> {
        self.send(&json!({"jsonrpc": "2.0", "method": method}))
    }

    /// Returns the first thing on standard output that is no message of the protocol.
    pub(super) fn noise(&self) -> Option<&str> {
        self.noise.as_deref()
    }

    /// Ends the server. Returns its exit status, if it ended by itself, and its standard error.
    pub(super) fn end(mut self) -> (Option<ExitStatus>, String) {
        let by_itself = self.stop();
        let status = self.ended.filter(|_| by_itself);
        (status, self.stderr.all())
    }

    /// Closes the server's input, gives it a moment, and ends it and what it started. Tells whether
    /// it ended by itself.
    fn stop(&mut self) -> bool {
        drop(self.input.take());
        if self.ended.is_some() {
            return true;
        }
        let until = Instant::now() + END_TIME_MAX;
        while !platform::has_ended(&self.child) && Instant::now() < until {
            thread::sleep(Duration::from_millis(5));
        }
        let by_itself = platform::has_ended(&self.child);
        self.ended = platform::end_group(&mut self.child);
        by_itself
    }

    fn send(&mut self, message: &Value) -> Result<(), Trouble> {
        let input = self.input.as_mut().expect("it is open until the end");
        // A line is far shorter than what a pipe holds, so this does not block.
        writeln!(input, "{message}")
            .and_then(|()| input.flush())
            .map_err(|_| Trouble::Ended)
    }

    fn read(&mut self, line: ServerOutput) -> Option<Value> {
        let ServerOutput::Said(bytes) = line else {
            self.noise
                .get_or_insert_with(|| "a line without an end".into());
            return None;
        };
        let message: Option<Value> = serde_json::from_slice(&bytes).ok();
        let message = message.filter(|message| message.get("jsonrpc") == Some(&json!("2.0")));
        if message.is_none() && !bytes.iter().all(u8::is_ascii_whitespace) {
            let text = String::from_utf8_lossy(&bytes);
            self.noise.get_or_insert_with(|| text.trim_end().to_owned());
        }
        message
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.stop();
    }
}

fn said_in(error: Option<&Value>) -> String {
    let message = error.and_then(|error| error.get("message"));
    let message = message.and_then(Value::as_str);
    message.unwrap_or("an error without a message").to_owned()
}

fn pass_on(output: impl Read, to: &SyncSender<ServerOutput>) {
    let mut output = BufReader::new(output);
    loop {
        let mut line = Vec::new();
        let read = output
            .by_ref()
            .take(LINE_BYTES_MAX)
            .read_until(b'\n', &mut line);
        let ended = !line.ends_with(b"\n");
        let line = match read {
            Ok(0) | Err(_) => return,
            Ok(_) if ended && line.len() as u64 == LINE_BYTES_MAX => ServerOutput::TooLong,
            Ok(_) => ServerOutput::Said(line),
        };
        // Nobody listens any more when the conversation is over.
        if to.send(line).is_err() {
            return;
        }
    }
}

/// The beginning of a program's standard error.
pub(super) struct StderrCapture {
    kept: Arc<Mutex<Vec<u8>>>,
    ended: Receiver<()>,
}

impl StderrCapture {
    /// Starts to read it.
    pub(super) fn on(mut errors: impl Read + Send + 'static) -> Self {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let (sender, ended) = sync_channel(1);
        let mine = Arc::clone(&kept);
        thread::spawn(move || {
            let mut piece = [0; 1024];
            while let Ok(read @ 1..) = errors.read(&mut piece) {
                let mut kept = mine.lock().expect("nobody panics while holding it");
                let room = STDERR_BYTES_MAX.saturating_sub(kept.len());
                kept.extend_from_slice(&piece[..read.min(room)]);
            }
            drop(sender);
        });
        Self { kept, ended }
    }

    /// Returns what was read, once the program has ended. Processes that the program left behind
    /// may still write, and are not waited for.
    pub(super) fn all(&self) -> String {
        let _ = self.ended.recv_timeout(LAST_WORDS_TIME_MAX);
        let kept = self.kept.lock().expect("nobody panics while holding it");
        String::from_utf8_lossy(&kept).into_owned()
    }
}
