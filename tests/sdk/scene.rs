//! A new user's folder: a home with a store, an example and what it imports, and the programs on
//! the path.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};

use serde_json::{Value, json};

use crate::support::peers;
use crate::support::{Home, json_lines, stderr, stdout};

/// What every reply of the fake API ends with, once its script is through.
const LAST_WORDS: &str = "That is all I wanted to remember. ✓";

/// A kind of program that talks to agekeep.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Language {
    Python,
    TypeScript,
}

/// A home, and a folder `work` in it for programs.
pub(crate) struct Scene {
    pub(crate) home: Home,
    interpreter: PathBuf,
}

impl Scene {
    /// A home with a store, and the programs in `work`. `None`, and loudly, where the packages of
    /// the language are not installed.
    pub(crate) fn new(language: Language, test: &str) -> Option<Self> {
        let scene = Self::bare(language, test)?;
        assert_ok("init", &scene.home.run(&["init"]));
        scene.furnish(language);
        Some(scene)
    }

    /// The same with no store and nothing in `work`.
    pub(crate) fn bare(language: Language, test: &str) -> Option<Self> {
        let found = match language {
            Language::Python => peers::python(),
            Language::TypeScript => peers::node(),
        };
        // The fake API is a Python program, whatever talks to it.
        let (Some(interpreter), Some(_)) = (found, peers::python()) else {
            peers::skipped(test, "the adapters are promised to work with the real SDKs");
            return None;
        };
        let home = Home::empty();
        let scene = Self { home, interpreter };
        let bin = scene.home.path().join("bin");
        fs::create_dir(&bin).expect("makes a folder");
        symlink(env!("CARGO_BIN_EXE_agekeep"), bin.join("agekeep")).expect("links");
        fs::create_dir(scene.work()).expect("makes a folder");
        Some(scene)
    }

    fn furnish(&self, language: Language) {
        let folders: &[&str] = match language {
            Language::Python => &["examples/python", "examples/raw-http", "tests/sdk"],
            Language::TypeScript => &["examples/typescript", "tests/sdk"],
        };
        for folder in folders {
            copy_files(folder, &self.work());
        }
        self.install(language);
    }

    /// Puts the adapter into `work`, where `agekeep` is its name in both languages. Without the
    /// program in it, it starts the one on the path.
    pub(crate) fn install(&self, language: Language) {
        match language {
            Language::Python => {
                copy_files("packaging/python/agekeep", &self.work().join("agekeep"));
            }
            Language::TypeScript => {
                copy_files("packaging/npm", &self.work().join("agekeep"));
                symlink(peers::node_modules(), self.work().join("node_modules")).expect("links");
                // A package may import itself by its name.
                let package =
                    json!({"name": "agekeep", "type": "module", "exports": "./agekeep/index.ts"});
                fs::write(self.work().join("package.json"), package.to_string()).expect("writes");
            }
        }
    }

    /// Where the programs are.
    pub(crate) fn work(&self) -> PathBuf {
        self.home.path().join("work")
    }

    /// A program in `work`, to be run as a new user would.
    pub(crate) fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(&self.interpreter);
        command.arg(program).args(args);
        self.at_home(&mut command);
        command
    }

    /// Gives a command this home's environment and no other.
    pub(crate) fn at_home(&self, command: &mut Command) {
        let bin = self.home.path().join("bin");
        command
            .env_clear()
            .env("HOME", self.home.path())
            .env("XDG_CONFIG_HOME", self.home.path().join("config"))
            .env("AGEKEEP_STORE", self.home.store())
            .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .current_dir(self.work());
    }

    /// Runs a program whose model says what the script says. What it was sent back, request by
    /// request.
    pub(crate) fn talk(&self, program: &str, args: &[&str], script: &Value) -> Vec<Value> {
        self.talk_through(self.command(program, args), program, script)
    }

    /// The same with any command.
    pub(crate) fn talk_through(
        &self,
        mut command: Command,
        name: &str,
        script: &Value,
    ) -> Vec<Value> {
        let api = FakeApi::start(self, script);
        command.env("ANTHROPIC_API_KEY", "test-key").env(
            "ANTHROPIC_BASE_URL",
            format!("http://127.0.0.1:{}", api.port),
        );
        let output = command.output().expect("the program starts");
        assert_ok(name, &output);
        assert!(stdout(&output).ends_with(&format!("{LAST_WORDS}\n")));
        json_lines(&fs::read(api.record()).expect("the record"))
    }

    /// The events after the one that made the store, oldest first.
    pub(crate) fn events(&self) -> Vec<Value> {
        let output = self.home.run(&["log", "--json"]);
        assert_ok("log", &output);
        let mut events = json_lines(&output.stdout);
        events.reverse();
        events.split_off(1)
    }

    /// Nothing was left behind that does not check out.
    pub(crate) fn verify(&self) {
        assert_ok("verify", &self.home.run(&["verify", "--full"]));
    }
}

pub(crate) fn assert_ok(program: &str, output: &Output) {
    let (said, complained) = (stdout(output), stderr(output));
    assert!(
        output.status.success(),
        "{program}: {}\n{said}\n{complained}",
        output.status
    );
}

/// Copies the files of a folder of the project, without the folders in it.
fn copy_files(folder: &str, to: &Path) {
    fs::create_dir_all(to).expect("makes a folder");
    for entry in fs::read_dir(project().join(folder)).expect("a folder") {
        let from = entry.expect("an entry").path();
        if from.is_file() {
            let name = from.file_name().expect("a file has a name");
            fs::copy(&from, to.join(name)).expect("a copy");
        }
    }
}

fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The Messages API, as far as a tool runner can tell; it ends when this is dropped.
struct FakeApi {
    child: Child,
    _input: ChildStdin,
    port: u16,
    folder: PathBuf,
}

impl FakeApi {
    fn start(scene: &Scene, script: &Value) -> Self {
        let folder = scene.home.path().join("api");
        fs::create_dir_all(&folder).expect("makes a folder");
        let said = folder.join("script.json");
        fs::write(&said, script.to_string()).expect("writes");
        let mut child = Command::new(peers::python().expect("it was looked for"))
            .arg(project().join("tests/sdk/fake_api.py"))
            .args([&said, &folder.join("record.jsonl")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the fake API starts");
        let mut first = String::new();
        let mut lines = BufReader::new(child.stdout.take().expect("piped"));
        lines.read_line(&mut first).expect("it says its port");
        let input = child.stdin.take().expect("piped");
        let port = first.trim().parse().expect("a port");
        Self {
            child,
            _input: input,
            port,
            folder,
        }
    }

    fn record(&self) -> PathBuf {
        self.folder.join("record.jsonl")
    }
}

impl Drop for FakeApi {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
