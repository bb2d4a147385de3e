//! A headless Chromium, driven over a pipe of its own by the `DevTools` protocol: each message is a
//! JSON text that ends with a zero byte. No port is opened, and no other program is needed.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::peers;

/// How long a page may take to load.
const LOAD_SECONDS_MAX: u64 = 60;

/// A browser with one page.
pub(crate) struct Chromium {
    process: Child,
    commands: File,
    answers: BufReader<File>,
    page: String,
    sent: u64,
    /// The URLs that the page asked for, in order, its own included.
    requests: Vec<String>,
    /// What the page wrote to its console, and what the browser complained of.
    complaints: Vec<String>,
    loaded: bool,
    /// The browser's profile; removed at the end.
    _folder: TempDir,
}

impl Chromium {
    /// Starts a browser; without one, says loudly that a test is left out.
    pub(crate) fn start(test: &str, why: &str) -> Option<Self> {
        let Some(program) = peers::chromium() else {
            peers::skipped_without_chromium(test, why);
            return None;
        };
        let folder = TempDir::new().expect("a temporary folder");
        let pipes = [
            folder.path().join("commands"),
            folder.path().join("answers"),
        ];
        let made = Command::new("mkfifo").args(&pipes).status();
        assert!(made.expect("mkfifo runs").success());
        // The browser reads commands from descriptor 3 and writes answers to descriptor 4.
        let process = Command::new("sh")
            .arg("-c")
            .arg(r#"commands=$1 answers=$2; shift 2; exec "$@" 3<"$commands" 4>"$answers""#)
            .arg("sh")
            .args(&pipes)
            .arg(program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
            ])
            .args(["--disable-dev-shm-usage", "--disable-background-networking"])
            .arg(format!(
                "--user-data-dir={}",
                folder.path().join("profile").display()
            ))
            .args(["--remote-debugging-pipe", "about:blank"])
            .env("HOME", folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the browser starts");
        let [commands, answers] = pipes;
        let mut browser = Self {
            process,
            commands: File::options().write(true).open(commands).expect("a pipe"),
            answers: BufReader::new(File::open(answers).expect("a pipe")),
            page: String::new(),
            sent: 0,
            requests: Vec::new(),
            complaints: Vec::new(),
            loaded: false,
            _folder: folder,
        };
        browser.attach();
        Some(browser)
    }

    /// Makes a page, and asks to be told what happens in it.
    fn attach(&mut self) {
        let made = self.call("Target.createTarget", &json!({"url": "about:blank"}));
        let target = json!({"targetId": made["targetId"], "flatten": true});
        let page = self.call("Target.attachToTarget", &target);
        page["sessionId"]
            .as_str()
            .expect("a session")
            .clone_into(&mut self.page);
        for domain in ["Page", "Network", "Runtime", "Log"] {
            self.call(&format!("{domain}.enable"), &json!({}));
        }
        self.requests.clear();
    }

    /// Carries out a command of the protocol and returns its result.
    pub(crate) fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.sent += 1;
        let mut message = json!({"id": self.sent, "method": method, "params": parameters});
        if !self.page.is_empty() && !method.starts_with("Browser.") {
            message["sessionId"] = self.page.clone().into();
        }
        let message = format!("{message}\0");
        self.commands
            .write_all(message.as_bytes())
            .expect("the browser listens");
        loop {
            let answer = self.next();
            if answer["id"] == self.sent {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
        }
    }

    /// Reads the next message, and notes what an event says.
    fn next(&mut self) -> Value {
        let mut message = Vec::new();
        self.answers
            .read_until(0, &mut message)
            .expect("the browser answers");
        assert_eq!(message.pop(), Some(0), "the browser ended");
        let message: Value = serde_json::from_slice(&message).expect("JSON");
        let said = &message["params"];
        match message["method"].as_str() {
            Some("Network.requestWillBeSent") => {
                let url = said["request"]["url"].as_str().expect("a URL");
                self.requests.push(url.to_owned());
            }
            Some("Page.loadEventFired") => self.loaded = true,
            Some("Log.entryAdded") => self.complaints.push(said["entry"].to_string()),
            Some(
                "Runtime.consoleAPICalled"
                | "Runtime.exceptionThrown"
                | "Page.javascriptDialogOpening",
            ) => {
                self.complaints.push(said.to_string());
            }
            _ => {}
        }
        message
    }

    /// Sets the width and height of the window, in CSS pixels.
    pub(crate) fn resize(&mut self, width: u32, height: u32) {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Opens a URL and waits until it is loaded.
    pub(crate) fn open(&mut self, url: &str) {
        self.loaded = false;
        self.call("Page.navigate", &json!({"url": url}));
        self.wait_until_loaded();
    }

    /// Opens a file from disk.
    pub(crate) fn open_file(&mut self, file: &Path) {
        self.open(&format!("file://{}", file.display()));
    }

    /// Waits for the page that is loading, after a link was followed or a form was sent.
    pub(crate) fn wait_until_loaded(&mut self) {
        let begun = Instant::now();
        while !self.loaded {
            // What is asked of the page itself fails if that goes away meanwhile.
            self.call("Browser.getVersion", &json!({}));
            std::thread::sleep(Duration::from_millis(5));
            assert!(
                begun.elapsed() < Duration::from_secs(LOAD_SECONDS_MAX),
                "it does not load"
            );
        }
        self.loaded = false;
    }

    /// Evaluates an expression in the page, also where the page itself may run no script.
    pub(crate) fn eval(&mut self, expression: &str) -> Value {
        let asked = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let done = self.call("Runtime.evaluate", &asked);
        assert!(done["exceptionDetails"].is_null(), "{expression}: {done}");
        done["result"]["value"].clone()
    }

    /// Returns how many pixels the page is wider than its window.
    pub(crate) fn overflow(&mut self) -> i64 {
        let wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
        self.eval(wider).as_i64().expect("a number")
    }

    /// Returns the URLs that were asked for, the page's own included.
    pub(crate) fn requests(&self) -> &[String] {
        &self.requests
    }

    /// Returns what the page or the browser complained of.
    pub(crate) fn complaints(&self) -> &[String] {
        &self.complaints
    }

    /// Prints the page and returns the bytes of the PDF.
    pub(crate) fn pdf(&mut self) -> Vec<u8> {
        let printed = self.call("Page.printToPDF", &json!({"printBackground": true}));
        decoded(&printed["data"])
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn decoded(data: &Value) -> Vec<u8> {
    use base64ct::{Base64, Encoding};
    Base64::decode_vec(data.as_str().expect("base64")).expect("base64")
}
