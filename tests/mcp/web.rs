//! A client over HTTP that writes every byte of its requests itself.

use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::mcp::client::{NEWER, OLDER, PATIENCE, ended, introduction, meta, signal};
use crate::support::Home;

/// A server that listens.
pub(crate) struct Web {
    pub(crate) child: Child,
    pub(crate) address: SocketAddr,
    stderr: BufReader<ChildStderr>,
    /// What it said before it listened.
    pub(crate) said: String,
}

/// What came back.
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Web {
    /// A server on a free port of this machine.
    pub(crate) fn start(home: &Home, args: &[&str]) -> Self {
        Self::start_at(home, "127.0.0.1:0", args)
    }

    pub(crate) fn start_at(home: &Home, address: &str, args: &[&str]) -> Self {
        Self::run(home.command(&[&["mcp", "--http", address], args].concat()))
    }

    pub(crate) fn run(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut stderr = BufReader::new(child.stderr.take().expect("piped"));
        let mut said = String::new();
        let address = loop {
            let mut line = String::new();
            let count = stderr.read_line(&mut line).expect("UTF-8");
            said.push_str(&line);
            assert!(count > 0, "the server does not listen: {said}");
            if let Some((_, url)) = line.split_once("serving MCP at http://") {
                let address = url.trim().strip_suffix("/mcp").expect("its path");
                break address.parse().expect("an address");
            }
        };
        Self {
            child,
            address,
            stderr,
            said,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip([127, 0, 0, 1].into());
        }
        let stream = TcpStream::connect(address).expect("it listens");
        stream
            .set_read_timeout(Some(PATIENCE))
            .expect("a time limit");
        stream
    }

    /// Sends these bytes and reads one response.
    pub(crate) fn exchange(&self, bytes: &[u8]) -> Response {
        let mut stream = self.connect();
        stream.write_all(bytes).expect("it reads");
        Response::read(&mut stream)
    }

    /// A POST with these headers besides the needed ones; one of the same name takes the place of a
    /// needed one.
    pub(crate) fn post(&self, headers: &[(&str, &str)], body: &str) -> Response {
        let mut stream = self.connect();
        // One that is refused by its header may be answered before it is read.
        let _ = stream.write_all(post_bytes(headers, body).as_bytes());
        Response::read(&mut stream)
    }

    /// A request of the newer era.
    pub(crate) fn ask(&self, headers: &[(&str, &str)], method: &str, params: Value) -> Response {
        let body = newer_request(1, method, params);
        let name = body["params"]["name"].as_str().unwrap_or_default();
        let mut all = vec![("MCP-Protocol-Version", NEWER), ("Mcp-Method", method)];
        if !name.is_empty() {
            all.push(("Mcp-Name", name));
        }
        all.extend(headers);
        self.post(&all, &body.to_string())
    }

    /// A tool call of the newer era.
    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        let response = self.ask(&[], "tools/call", params);
        assert_eq!(response.status, 200, "{response:?}");
        response.json()["result"].clone()
    }

    /// Begins a session of the older era and answers its id.
    pub(crate) fn session(&self) -> String {
        let response = self.post(&[], &introduction(0, OLDER).to_string());
        assert_eq!(response.status, 200, "{response:?}");
        let session = response.header("mcp-session-id").expect("a session");
        let headers = [("Mcp-Session-Id", session), ("MCP-Protocol-Version", OLDER)];
        let told = crate::mcp::client::introduced().to_string();
        assert_eq!(self.post(&headers, &told).status, 202);
        session.to_owned()
    }

    /// Tells the server to end and waits until it has.
    pub(crate) fn terminate(mut self) -> (ExitStatus, String, Duration) {
        signal(&self.child, "TERM");
        let began = Instant::now();
        let status = ended(&mut self.child);
        let took = began.elapsed();
        let mut said = std::mem::take(&mut self.said);
        self.stderr.read_to_string(&mut said).expect("UTF-8");
        (status, said, took)
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A request of the newer era as a message.
pub(crate) fn newer_request(id: u64, method: &str, mut params: Value) -> Value {
    if params.get("_meta").is_none() {
        params["_meta"] = meta(NEWER);
    }
    crate::mcp::client::request(id, method, params)
}

/// A POST as it goes over the wire.
pub(crate) fn post_bytes(headers: &[(&str, &str)], body: &str) -> String {
    let length = body.len().to_string();
    let needed = [
        ("Host", "localhost"),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("Content-Length", length.as_str()),
        ("Connection", "close"),
    ];
    let is_given = |name: &str| {
        headers
            .iter()
            .any(|(given, _)| given.eq_ignore_ascii_case(name))
    };
    let mut bytes = String::from("POST /mcp HTTP/1.1\r\n");
    for (name, value) in needed
        .iter()
        .filter(|(name, _)| !is_given(name))
        .chain(headers)
    {
        bytes += &format!("{name}: {value}\r\n");
    }
    bytes + "\r\n" + body
}

/// Short, also where every tool is described in it.
impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let body: String = self.body.chars().take(300).collect();
        write!(f, "{} {:?} {body}", self.status, self.headers)
    }
}

impl Response {
    /// Reads one response to its end.
    pub(crate) fn read(stream: &mut TcpStream) -> Self {
        let mut reader = BufReader::new(stream);
        let (status, headers) = read_head(&mut reader);
        let mut response = Self {
            status,
            headers,
            body: String::new(),
        };
        response.body = response.read_body(&mut reader);
        response
    }

    fn read_body(&self, reader: &mut impl BufRead) -> String {
        let mut body = Vec::new();
        if self.header("transfer-encoding") == Some("chunked") {
            while let Some(chunk) = read_chunk(reader) {
                body.extend(chunk);
            }
        } else if let Some(length) = self.header("content-length") {
            body.resize(length.parse().expect("a number"), 0);
            reader.read_exact(&mut body).expect("the whole body");
        } else {
            reader.read_to_end(&mut body).expect("the body");
        }
        String::from_utf8(body).expect("UTF-8")
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The message in a body of JSON, or the last one in a stream of events.
    pub(crate) fn json(&self) -> Value {
        let data = |line: &str| {
            line.strip_prefix("data:")
                .map(|data| data.trim().to_owned())
        };
        let is_stream = self.header("content-type") == Some("text/event-stream");
        let text = if is_stream {
            let mut messages = self.body.lines().filter_map(data);
            messages.rfind(|data| !data.is_empty())
        } else {
            Some(self.body.clone())
        };
        let text = text.unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }
}

/// The status and the headers, their names in lower case.
pub(crate) fn read_head(reader: &mut impl BufRead) -> (u16, Vec<(String, String)>) {
    let mut line = String::new();
    reader.read_line(&mut line).expect("a response");
    let status = line.split(' ').nth(1).and_then(|code| code.parse().ok());
    let status = status.unwrap_or_else(|| panic!("no status: {line:?}"));
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a header");
        let Some((name, value)) = line.trim_end().split_once(':') else {
            return (status, headers);
        };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
}

/// One chunk of a body whose length is not known before; `None` at its end.
pub(crate) fn read_chunk(reader: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut size = String::new();
    reader.read_line(&mut size).expect("a chunk");
    let size = usize::from_str_radix(size.trim(), 16).ok()?;
    let mut chunk = vec![0; size + 2];
    reader.read_exact(&mut chunk).expect("the whole chunk");
    chunk.truncate(size);
    (size > 0).then_some(chunk)
}
