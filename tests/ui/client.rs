//! A browser without a screen: it writes every byte of its requests itself.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::mcp::web::Response;
use crate::support::Home;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server of pages, and the session of who opened its address.
pub(crate) struct Ui {
    pub(crate) child: Child,
    /// The address that it printed.
    pub(crate) url: String,
    /// `127.0.0.1:PORT`.
    pub(crate) host: String,
    /// The path of the first page; empty before the address was opened.
    pub(crate) room: String,
    /// The cookie as the browser sends it; empty before that.
    pub(crate) cookie: String,
}

impl Ui {
    /// A server whose address nobody has opened.
    pub(crate) fn run(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
        let mut url = String::new();
        stdout.read_line(&mut url).expect("UTF-8");
        if url.starts_with('{') {
            let object: Value = serde_json::from_str(&url).expect("JSON");
            assert_eq!(object["schema"], "agekeep.ui/1");
            object["url"]
                .as_str()
                .expect("an address")
                .clone_into(&mut url);
        }
        let url = url.trim().to_owned();
        let rest = url.strip_prefix("http://").expect("an address");
        let (host, _) = rest.split_once('/').expect("a path");
        Self {
            child,
            host: host.to_owned(),
            url,
            room: String::new(),
            cookie: String::new(),
        }
    }

    /// A server whose address this client has opened.
    pub(crate) fn open(home: &Home, args: &[&str]) -> Self {
        Self::enter(home.command(&[&["ui"], args].concat()))
    }

    pub(crate) fn enter(command: Command) -> Self {
        let mut ui = Self::run(command);
        let entered = ui.ask("GET", &ui.first(), &[], "");
        assert_eq!(entered.status, 303, "{entered:?}");
        entered
            .header("location")
            .expect("a page")
            .clone_into(&mut ui.room);
        let cookie = entered.header("set-cookie").expect("a cookie");
        let (cookie, attributes) = cookie.split_once("; ").expect("attributes");
        let path = format!("Path={}", ui.room);
        assert_eq!(attributes, format!("HttpOnly; SameSite=Strict; {path}"));
        cookie.clone_into(&mut ui.cookie);
        ui
    }

    /// The path of the printed address, with its token.
    pub(crate) fn first(&self) -> String {
        self.url[self.url.find("/?").expect("a query")..].to_owned()
    }

    /// Sends a request with these headers; one of the same name takes the place of a needed one.
    pub(crate) fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Response {
        let mut stream = self.connect();
        let length = body.len().to_string();
        let mut needed = vec![("Host", self.host.as_str()), ("Connection", "close")];
        if !self.cookie.is_empty() {
            needed.push(("Cookie", &self.cookie));
        }
        if method == "POST" {
            needed.push(("Content-Type", "application/x-www-form-urlencoded"));
            needed.push(("Content-Length", &length));
        }
        let is_given = |name: &str| headers.iter().any(|(given, _)| *given == name);
        let kept = needed.iter().filter(|(name, _)| !is_given(name));
        let mut bytes = format!("{method} {path} HTTP/1.1\r\n");
        for (name, value) in kept.chain(headers).filter(|(_, value)| !value.is_empty()) {
            bytes += &format!("{name}: {value}\r\n");
        }
        // One that is refused by its head may be answered before it is read.
        let _ = stream.write_all((bytes + "\r\n" + body).as_bytes());
        Response::read(&mut stream)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.host).expect("it listens");
        let limit = Some(PATIENCE);
        stream.set_read_timeout(limit).expect("a time limit");
        stream
    }

    /// Asks for a page, as a link on another page does.
    pub(crate) fn page(&self, name: &str) -> Response {
        self.ask("GET", &format!("{}{name}", self.room), &[], "")
    }

    /// The text of a page that there is.
    pub(crate) fn text(&self, name: &str) -> String {
        let page = self.page(name);
        assert_eq!(page.status, 200, "{name}: {page:?}");
        page.body
    }

    /// Sends a form, as a page of this server does.
    pub(crate) fn send(&self, name: &str, headers: &[(&str, &str)], form: &str) -> Response {
        let origin = format!("http://{}", self.host);
        let own = [
            ("Origin", origin.as_str()),
            ("Sec-Fetch-Site", "same-origin"),
        ];
        let is_given = |name: &str| headers.iter().any(|(given, _)| *given == name);
        let kept = own.into_iter().filter(|(name, _)| !is_given(name));
        let all: Vec<(&str, &str)> = kept.chain(headers.iter().copied()).collect();
        self.ask("POST", &format!("{}{name}", self.room), &all, form)
    }
}

impl Drop for Ui {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The value of a hidden field of a page.
pub(crate) fn hidden(page: &str, name: &str) -> String {
    let field = format!(r#"name="{name}" value=""#);
    let (_, rest) = page.split_once(&field).expect("the field");
    rest.split('"').next().expect("a value").to_owned()
}
