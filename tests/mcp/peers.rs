//! Other people's clients: the official conformance runner, the inspector, and the Python SDK.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::mcp::client::{NEWER, OLDER, last_event};
use crate::mcp::web::Web;
use crate::support::peers::{node, node_module, python, skipped};
use crate::support::{Home, feed, stderr, stdout};

const PROGRAM: &str = env!("CARGO_BIN_EXE_agekeep");

fn beside(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/mcp")
        .join(name)
}

/// A program with this home's environment, and with the Node of the peers on its path.
fn peer(home: &Home, program: &Path) -> Command {
    let mut command = Command::new(program);
    let folder = program.parent().expect("a folder").display().to_string();
    command
        .env_clear()
        .env("PATH", format!("{folder}:/usr/bin:/bin"))
        .env("HOME", home.path())
        .env("XDG_CONFIG_HOME", home.path().join("config"))
        .env("AGEKEEP_STORE", home.store())
        .current_dir(home.path());
    command
}

/// A script of an npm package, run by the Node of the peers.
fn script(home: &Home, package: &str, name: &str) -> Option<Command> {
    let folder = node_module(package)?;
    let about = fs::read_to_string(folder.join("package.json")).expect("a package");
    let about: Value = serde_json::from_str(&about).expect("JSON");
    let bin = about["bin"][name].as_str().or(about["bin"].as_str());
    let mut command = peer(home, &node()?);
    command.arg(folder.join(bin.expect("a program")));
    Some(command)
}

// ---- the conformance runner ----

/// Runs every scenario of a revision; `None` where the runner is not installed.
fn conformance(version: &str, expected: &Path) -> Option<Output> {
    let home = Home::with_store();
    let mut runner = script(&home, "@modelcontextprotocol/conformance", "conformance")?;
    let web = Web::start(&home, &[]);
    runner.args(["server", "--suite", "all", "--spec-version", version]);
    runner
        .args(["--url", &web.url(), "--expected-failures"])
        .arg(expected);
    Some(feed(runner, b""))
}

const CONFORMANCE: &str = "the official runner says whether the server speaks the protocol";

#[test]
fn the_conformance_runner_finds_what_is_expected() {
    for version in [OLDER, NEWER] {
        let Some(output) = conformance(version, &beside("expected-failures.yml")) else {
            return skipped("conformance", CONFORMANCE);
        };
        let said = stdout(&output) + &stderr(&output);
        assert!(output.status.success(), "{version}: {said}");
        let scenarios = said
            .lines()
            .filter(|line| line.starts_with("=== Running scenario"));
        assert!(scenarios.count() >= 33, "{version}: {said}");
    }
}

#[test]
fn the_conformance_runner_notices_what_is_not_expected() {
    let entries = fs::read_to_string(beside("expected-failures.yml")).expect("the list");
    let home = Home::empty();
    let changed = home.path().join("changed.yml");
    // A failure that is not on the list, and a success that is.
    let less = entries.replace("  - tools-call-image:tools-call-image ", "  # ");
    let more = format!("{entries}  - tools-list:tools-list # it works\n");
    for content in [less, more] {
        assert_ne!(content, entries);
        fs::write(&changed, content).expect("a file");
        let Some(output) = conformance(OLDER, &changed) else {
            return skipped("conformance", CONFORMANCE);
        };
        assert!(!output.status.success(), "{}", stdout(&output));
    }
}

#[test]
fn every_expected_failure_has_a_reason() {
    let entries = fs::read_to_string(beside("expected-failures.yml")).expect("the list");
    let entries = entries.lines().filter_map(|line| line.strip_prefix("  - "));
    let mut count = 0;
    for entry in entries {
        let (check, reason) = entry.split_once(" # ").unwrap_or_default();
        assert!(check.contains(':') && reason.len() > 20, "{entry}");
        count += 1;
    }
    assert!(count > 30, "{count}");
}

// ---- the inspector ----

const INSPECTOR: &str = "the inspector is what people try a server with";

fn inspector(home: &Home, target: &[&str], args: &[&str]) -> Option<Output> {
    let mut command = script(home, "@modelcontextprotocol/inspector", "mcp-inspector")?;
    command.arg("--cli").args(target).args(args);
    Some(feed(command, b""))
}

fn on_stdio(home: &Home, options: &[&str], args: &[&str]) -> Option<Output> {
    // The inspector gives a server an environment of its own.
    let store = home.store().display().to_string();
    let identity = home.identity().display().to_string();
    let key = home.signing_key().display().to_string();
    let keys = ["-C", &store, "-i", &identity, "--signing-key", &key];
    let target = [&[PROGRAM][..], &keys, &["mcp"], options].concat();
    inspector(home, &[], &[args, &["--"], &target].concat())
}

#[test]
fn the_inspector_finds_no_fault_with_the_tools() {
    let home = Home::with_store();
    for (options, count) in [
        (&[][..], 9),
        (&["--admin", "--tools", "restore,read-write"], 15),
        (&["--single-tool"], 1),
        (&["--read-only"], 4),
    ] {
        let args = ["--method", "tools/list", "--strict", "--format", "json"];
        let Some(output) = on_stdio(&home, options, &args) else {
            return skipped("inspector", INSPECTOR);
        };
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(0), "{options:?}: {said}");
        let listed: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let tools = listed.pointer("/tools").or(listed.pointer("/result/tools"));
        let tools = tools.and_then(Value::as_array).expect("tools");
        assert_eq!(tools.len(), count, "{options:?}");
        let lower = said.to_lowercase();
        assert!(
            !lower.contains("warn") && !lower.contains("portab"),
            "{options:?}: {said}"
        );
    }
}

#[test]
fn the_inspector_calls_and_reads() {
    let home = Home::with_store();
    let web = Web::start(&home, &[]);
    for era in ["legacy", "modern"] {
        for over_http in [false, true] {
            let run = |args: &[&str]| {
                let common = ["--format", "json", "--protocol-era", era];
                let args = [args, &common].concat();
                if over_http {
                    inspector(&home, &[&web.url()], &args)
                } else {
                    on_stdio(&home, &[], &args)
                }
            };
            let path = format!("/memories/{era}-{over_http}.md");
            let call = |tool: &str, arguments: Value| {
                let arguments = arguments.to_string();
                run(&[
                    "--method",
                    "tools/call",
                    "--tool-name",
                    tool,
                    "--tool-args-json",
                    &arguments,
                ])
            };
            let made = call(
                "memory_create",
                json!({"path": path, "file_text": "hello\n"}),
            );
            let Some(made) = made else {
                return skipped("inspector", INSPECTOR);
            };
            assert_eq!(made.status.code(), Some(0), "{era}: {}", stderr(&made));
            assert!(stdout(&made).contains(&path), "{}", stdout(&made));
            assert_eq!(last_event(&home)["path"], path);
            // A program of Node for each: in each era and over each transport, but not in all four ways.
            if over_http == (era == "modern") {
                let view = json!({"path": "/elsewhere"});
                let failed = call("memory_view", view).expect("it was there before");
                assert_eq!(failed.status.code(), Some(5), "{era}: {}", stderr(&failed));
                continue;
            }
            let uri = format!("memory:///{era}-{over_http}.md");
            let read = run(&["--method", "resources/read", "--uri", &uri]).expect("it is there");
            assert!(
                read.status.success() && stdout(&read).contains("hello"),
                "{}",
                stderr(&read)
            );
        }
    }
    for (args, code) in [
        (
            &["--method", "tools/call", "--tool-name", "memory_erase"][..],
            5,
        ),
        (&["--method", "resources/list"], 0),
        (&["--method", "resources/templates/list"], 0),
    ] {
        let output = on_stdio(&home, &[], args).expect("it is there");
        assert_eq!(
            output.status.code(),
            Some(code),
            "{args:?}: {}",
            stderr(&output)
        );
    }
    let args = ["--method", "resources/read", "--uri", "memory:///none"];
    let none = on_stdio(&home, &[], &args).expect("it is there");
    assert!(!none.status.success(), "{}", stdout(&none));
}

// ---- the Python SDK ----

const PYTHON: &str = "agents in Python use this client";

#[test]
fn the_python_client_works_in_both_eras_over_both_transports() {
    for era in ["auto", "legacy"] {
        for over_http in [false, true] {
            let home = Home::with_store();
            let Some(python) = python() else {
                return skipped("the Python client", PYTHON);
            };
            let mut command = peer(&home, &python);
            command.arg(beside("client.py")).args([era, PROGRAM]);
            command.arg(home.path()).arg(home.store());
            let web = over_http.then(|| Web::start(&home, &[]));
            command.args(web.iter().map(Web::url));
            let output = feed(command, b"");
            let said = stdout(&output) + &stderr(&output);
            assert!(output.status.success(), "{era} {over_http}: {said}");
            assert!(said.contains("all is well"), "{era} {over_http}: {said}");
        }
    }
}
