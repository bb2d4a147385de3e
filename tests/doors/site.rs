//! A home folder of any name with keys and a store, and the program under any name, as somebody has
//! them who installed it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{stderr, stdout};

/// The clients there are.
pub(crate) const CLIENTS: [&str; 5] =
    ["claude-code", "claude-desktop", "cursor", "codex", "vscode"];

/// Names with everything in them that a shell, JSON or TOML makes something of.
pub(crate) const NAMES: [&str; 4] = [
    "plain",
    "with space",
    r#"a $HOME `b` "c" 'd' ü; #e: [g] {h} *?!&|<> \i"#,
    "日本 '''\"\"\" \\u0041 %20 =",
];

pub(crate) struct Site {
    folder: TempDir,
    pub(crate) home: PathBuf,
    pub(crate) program: PathBuf,
}

impl Site {
    /// With keys and a store.
    pub(crate) fn new(name: &str) -> Self {
        let site = Self::empty(name);
        site.ok(&["init"]);
        site
    }

    /// With nothing in its home.
    pub(crate) fn empty(name: &str) -> Self {
        let folder = crate::support::folder();
        let root = folder.path().canonicalize().expect("there");
        let (home, bin) = (root.join("home").join(name), root.join("bin").join(name));
        fs::create_dir_all(&home).expect("makes a folder");
        fs::create_dir_all(&bin).expect("makes a folder");
        let program = bin.join("agekeep");
        symlink(env!("CARGO_BIN_EXE_agekeep"), &program).expect("links");
        Self {
            folder,
            home,
            program,
        }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("there")
    }

    /// A folder to work in that is not the home folder.
    pub(crate) fn project(&self) -> PathBuf {
        let project = self.root().join("project");
        fs::create_dir_all(&project).expect("makes a folder");
        project
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .env_clear()
            .env("HOME", &self.home)
            .env("USER", "tester")
            .current_dir(self.project())
            .args(args);
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("runs")
    }

    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        stdout(&output)
    }

    /// Runs what has to be refused as a mistake of the caller's.
    pub(crate) fn misused(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert_eq!(stdout(&output), "", "{args:?}");
        stderr(&output)
    }

    /// What `mcp-config` prints, read as the client reads it.
    pub(crate) fn block(&self, client: &str, args: &[&str]) -> Value {
        let mut all = vec!["mcp-config", "--client", client];
        all.extend(args);
        parse(client, &self.ok(&all))
    }

    /// What a trial of a client's server says, and the exit code.
    pub(crate) fn diagnosis(&self, client: &str, args: &[&str]) -> (Value, i32) {
        let mut all = vec!["mcp-config", "--client", client, "--diagnose", "--json"];
        all.extend(args);
        let output = self.run(&all);
        let said = serde_json::from_slice(&output.stdout);
        let said: Value = said.unwrap_or_else(|e| panic!("{e}: {}", stderr(&output)));
        assert_eq!(said["schema"], "agekeep.mcp-diagnosis/1");
        (said, output.status.code().expect("it ends by itself"))
    }

    pub(crate) fn path(&self, below_home: &str) -> String {
        let path = self.home.join(below_home);
        path.to_str().expect("UTF-8").to_owned()
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.home.join(".local/share/agekeep/store")
    }

    /// The words after the program, for a client.
    pub(crate) fn words(&self, client: &str) -> Vec<String> {
        let mut words = vec!["mcp".to_owned()];
        for (option, path) in [
            ("--store", ".local/share/agekeep/store"),
            ("--identity", ".config/agekeep/identity.txt"),
            ("--signing-key", ".config/agekeep/signing_key"),
        ] {
            words.extend([option.to_owned(), self.path(path)]);
        }
        words.push(format!("--actor={client}"));
        words
    }

    /// Puts an entry into Cursor's own file: this program with these words.
    pub(crate) fn enter(&self, program: &Path, args: &[&str]) -> PathBuf {
        let entry = serde_json::json!({"command": program, "args": args});
        self.put(
            ".cursor/mcp.json",
            &serde_json::json!({"mcpServers": {"agekeep": entry}}).to_string(),
        )
    }

    /// Writes a file below the home folder.
    pub(crate) fn put(&self, below_home: &str, text: &str) -> PathBuf {
        let path = self.home.join(below_home);
        fs::create_dir_all(path.parent().expect("a folder")).expect("makes a folder");
        fs::write(&path, text).expect("writes");
        path
    }

    /// Writes a script that can be run.
    pub(crate) fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.root().join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}")).expect("writes");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("ours");
        path
    }

    /// Every file below the root, with its content.
    pub(crate) fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        let mut folders = vec![self.root()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let content = fs::read(&path).expect("a file");
                    found.push((path, content));
                }
            }
        }
        found.sort();
        found
    }
}

/// Reads a block by the parser of its language.
pub(crate) fn parse(client: &str, text: &str) -> Value {
    if client == "codex" {
        let table: toml::Table = toml::from_str(text).expect("TOML");
        return serde_json::to_value(table).expect("a JSON form");
    }
    serde_json::from_str(text).expect("JSON")
}

/// The table of servers in a block.
pub(crate) fn table(client: &str) -> &'static str {
    match client {
        "codex" => "mcp_servers",
        "vscode" => "servers",
        _ => "mcpServers",
    }
}

/// The checks of a step.
pub(crate) fn of_step<'a>(said: &'a Value, step: &str) -> Vec<&'a Value> {
    let checks = said["checks"].as_array().expect("checks");
    checks
        .iter()
        .filter(|check| check["step"] == step)
        .collect()
}

/// The only fault of a step.
pub(crate) fn fault<'a>(said: &'a Value, step: &str) -> &'a Value {
    let mut faults = of_step(said, step);
    faults.retain(|check| check["state"] == "fault");
    assert_eq!(faults.len(), 1, "{step}: {said:#}");
    assert!(faults[0]["fix"].as_str().is_some_and(|fix| !fix.is_empty()));
    faults[0]
}
