//! What the tests here stand on: versions that are pinned, and no silence where they are missing.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::peers;
use crate::support::stderr;

fn pins(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/peers")
        .join(name)
}

fn pinned(name: &str) -> Value {
    let text = fs::read_to_string(pins(name)).expect("the pins");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn every_version_is_exact_and_no_registry_is_named() {
    let requirements = fs::read_to_string(pins("requirements.txt")).expect("the pins");
    let lines = requirements
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    assert!(lines.clone().count() > 20);
    for line in lines {
        let (_, version) = line.split_once("==").expect(line);
        assert!(version.starts_with(|c: char| c.is_ascii_digit()), "{line}");
    }
    let package = pinned("package.json");
    for kind in ["dependencies", "optionalDependencies"] {
        for (name, version) in package[kind].as_object().expect("packages") {
            let version = version.as_str().expect("a version");
            assert!(
                version.starts_with(|c: char| c.is_ascii_digit()),
                "{name} {version}"
            );
        }
    }
    let lock = pinned("package-lock.json");
    let packages = lock["packages"].as_object().expect("packages");
    assert!(packages.len() > 200);
    for (name, locked) in packages.iter().filter(|(name, _)| !name.is_empty()) {
        assert!(locked["integrity"].is_string(), "{name} has no hash");
        assert!(
            locked["resolved"].is_null(),
            "{name} names where it came from"
        );
    }
}

#[test]
fn what_is_missing_is_said_and_what_is_stale_counts_as_missing() {
    let folder = TempDir::new().expect("a temporary folder");
    let texts = || -> Vec<String> {
        let reasons = peers::reasons(folder.path());
        reasons.into_iter().map(|reason| reason.text).collect()
    };
    assert_eq!(texts(), ["python: not installed", "node: not installed"]);
    let node = folder.path().join("node");
    fs::create_dir(&node).expect("makes a folder");
    fs::write(node.join("stamp"), "0\n").expect("writes");
    assert_eq!(
        texts()[1],
        "node: installed in other versions than are pinned now"
    );
    fs::write(
        node.join("stamp"),
        stamp(&["package.json", "package-lock.json"]),
    )
    .expect("writes");
    assert_eq!(texts()[1], "node: its program is gone");
    fs::write(node.join("unfit"), "no Node of 22.19 or later\n").expect("writes");
    assert_eq!(texts()[1], "node: no Node of 22.19 or later");
}

#[test]
fn only_a_node_that_cannot_be_had_excuses_ci() {
    let reason = |final_here| peers::Reason {
        text: String::new(),
        final_here,
    };
    assert!(peers::is_excused(&[reason(true)]));
    assert!(!peers::is_excused(&[reason(true), reason(false)]));
    assert!(!peers::is_excused(&[reason(false)]));
    assert!(!peers::is_excused(&[]));
}

/// What `tests/peers/install` writes when it is done with these.
fn stamp(names: &[&str]) -> String {
    let files = names.iter().map(|name| pins(name));
    let script = "cat \"$@\" | { sha256sum 2>/dev/null || shasum -a 256; } | cut -d' ' -f1";
    let output = Command::new("sh")
        .args(["-c", script, "sh"])
        .args(files)
        .output();
    String::from_utf8(output.expect("sh runs").stdout).expect("text")
}

#[test]
fn the_installer_says_what_is_missing_and_goes_on() {
    let output = install_with(&[]);
    assert!(output.status.success(), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(
        said.contains("python3 is not installed: the Python SDKs are left out"),
        "{said}"
    );
    assert!(
        said.contains("npm is not installed: the npm packages are left out"),
        "{said}"
    );
}

#[test]
fn the_installer_refuses_a_python_that_is_too_old_or_has_no_pip() {
    let old = install_with(&[("python3", "[ \"$1\" != -c ] && echo Python 3.8.1")]);
    assert!(old.status.success(), "{}", stderr(&old));
    assert!(
        stderr(&old).contains("Python 3.8.1 is older than 3.11"),
        "{}",
        stderr(&old)
    );
    let bare = install_with(&[("python3", "[ \"$1\" = -c ]")]);
    assert!(!bare.status.success());
    assert!(
        stderr(&bare).contains("install python3-venv"),
        "{}",
        stderr(&bare)
    );
}

/// Runs the installer on a machine that has these programs, and what every machine has.
fn install_with(programs: &[(&str, &str)]) -> Output {
    let folder = TempDir::new().expect("a temporary folder");
    let bin = folder.path().join("bin");
    fs::create_dir(&bin).expect("makes a folder");
    for name in [
        "bash",
        "sh",
        "cat",
        "cut",
        "dirname",
        "flock",
        "mkdir",
        "rm",
        "sha256sum",
    ] {
        let places = ["/usr/bin", "/bin"].map(|place| Path::new(place).join(name));
        if let Some(found) = places.into_iter().find(|place| place.exists()) {
            symlink(found, bin.join(name)).expect("links");
        }
    }
    for (name, script) in programs {
        let program = bin.join(name);
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("writes");
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(program, executable).expect("sets the mode");
    }
    Command::new(pins("install"))
        .env_clear()
        .env("PATH", &bin)
        .env("AGEKEEP_PEERS", folder.path().join("peers"))
        .output()
        .expect("the installer starts")
}
