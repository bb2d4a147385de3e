//! The file with a person's defaults: what wins over what, and which files are refused.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::support::{Home, feed, json_lines, stderr, stdout};

fn file(home: &Home) -> PathBuf {
    home.path().join("config/agekeep/config.toml")
}

fn with_file(text: &str) -> Home {
    let home = Home::with_store();
    fs::write(file(&home), text).expect("written");
    home
}

fn setting(home: &Home, name: &str, args: &[&str], env: &[(&str, &str)]) -> Value {
    let mut command = home.command(&[&["config", "--json"], args].concat());
    command.envs(env.iter().copied());
    let output = feed(command, b"");
    assert!(output.status.success(), "{}", stderr(&output));
    let shown = json_lines(&output.stdout).remove(0);
    assert_eq!(shown["schema"], "agekeep.config/1");
    let settings = shown["settings"].as_array().expect("a list");
    let found = settings.iter().find(|setting| setting["name"] == name);
    found.expect("a setting").clone()
}

#[test]
fn an_option_wins_over_the_environment_and_that_over_the_file() {
    let home = with_file("# mine\nactor = \"ada\"\nidentity = \"~/id\"\ncolor = \"always\"\n");
    let actor = |args: &[&str], env: &[(&str, &str)]| setting(&home, "actor", args, env);
    assert_eq!(actor(&[], &[])["value"], "ada");
    assert_eq!(actor(&[], &[])["line"], 2);
    let env = [("AGEKEEP_ACTOR", "eve")];
    assert_eq!(actor(&[], &env)["value"], "eve");
    assert_eq!(actor(&[], &env)["variable"], "AGEKEEP_ACTOR");
    assert_eq!(actor(&["--actor", "bob"], &env)["value"], "bob");
    assert_eq!(actor(&["--actor", "bob"], &env)["from"], "option");
    let identity = setting(&home, "identity", &[], &[]);
    assert_eq!(
        identity["value"],
        home.path().join("id").to_str().expect("UTF-8")
    );
    let store = setting(&home, "store", &[], &[]);
    assert_eq!(
        (&store["from"], &store["variable"]),
        (&"environment".into(), &"AGEKEEP_STORE".into())
    );
    assert_eq!(setting(&home, "color", &[], &[])["value"], "always");
    let plain = setting(&home, "color", &[], &[("NO_COLOR", "1")]);
    assert_eq!(
        (&plain["value"], &plain["variable"]),
        (&"never".into(), &"NO_COLOR".into())
    );
    let asked = setting(&home, "color", &["--color", "auto"], &[]);
    assert_eq!(
        (&asked["value"], &asked["from"]),
        (&"auto".into(), &"option".into())
    );
    let key = setting(&home, "signing_key", &[], &[]);
    assert_eq!(key["from"], "default", "{key}");
}

#[test]
fn the_actor_of_the_file_is_recorded_and_does_not_narrow_the_log() {
    let home = with_file("actor = \"ada\"\n");
    assert!(home.run(&["create", "a", "--text", "one"]).status.success());
    let log = json_lines(&home.run(&["log", "--json"]).stdout);
    assert_eq!(log[0]["actor"], "ada", "{}", log[0]);
    assert_eq!(log.len(), 2, "the event of `init` is by somebody else");
    let call = "{\"command\":\"create\",\"path\":\"/memories/b\",\"file_text\":\"b\"}\n";
    assert!(home.run_with_input(&["tool"], call).status.success());
    let log = json_lines(&home.run(&["log", "--json"]).stdout);
    assert_ne!(log[0]["actor"], "ada", "no agent passes for the person");
}

/// The store and both keys are where only the file says.
#[test]
fn every_verb_takes_the_store_and_the_keys_from_the_file() {
    let home = Home::with_store();
    for (key, name) in [(home.identity(), "id"), (home.signing_key(), "sign")] {
        fs::rename(key, home.path().join(name)).expect("moved");
    }
    let text = format!(
        "store = '{}'\nidentity = '~/id'\nsigning_key = '~/sign'\n",
        home.store().display()
    );
    fs::write(file(&home), text).expect("written");
    for args in [
        &["create", "a.md", "--text", "one"][..],
        &["view", "a.md"],
        &["search", "one"],
        &["status"],
        &["verify"],
        &["policy", "set", "limits.memories", "50"],
        &["insert", "a.md", "1", "--text", "two"],
        &["revert", "HEAD"],
        &["expire", "--dry-run"],
        &["hold", "add", "a.md", "--reason", "case 1"],
        &["checkpoint"],
        &["export", "out"],
        &["report", "--format", "json"],
        &["tool", "/dev/null"],
        &["mcp"],
    ] {
        let mut command = home.command(args);
        command.env_remove("AGEKEEP_STORE");
        let output = feed(command, b"");
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    }
    for args in [
        &["schedule", "cron"][..],
        &["mcp-config", "--client", "cursor"],
    ] {
        let mut command = home.command(args);
        command.env_remove("AGEKEEP_STORE");
        let printed = stdout(&feed(command, b""));
        for path in [
            home.store(),
            home.path().join("id"),
            home.path().join("sign"),
        ] {
            let path = path.display().to_string();
            assert!(printed.contains(&path), "{args:?}: {printed}");
        }
    }
    let mut command = home.command(&["complete", "zsh", "--", "agekeep", "view", "a"]);
    command.env_remove("AGEKEEP_STORE");
    assert!(stdout(&feed(command, b"")).contains("a.md"));
    let other = home.run(&["-C", "elsewhere", "status"]);
    assert_eq!(other.status.code(), Some(10), "an option wins");
}

#[track_caller]
fn assert_refused(home: &Home, words: &str) {
    for verb in ["config", "status"] {
        let output = home.run(&[verb]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(
            said.contains("the configuration file cannot be used: "),
            "{said}"
        );
        assert!(
            said.contains("config.toml: ") && said.contains(words),
            "{said}"
        );
        assert!(
            said.contains("\nhint: correct it or move it away"),
            "{said}"
        );
        assert_eq!(stdout(&output), "");
    }
    assert!(
        home.run(&["man", "log"]).status.success(),
        "what needs no store is not kept back"
    );
}

#[test]
fn a_faulty_file_is_refused_with_its_line() {
    for (text, words) in [
        ("\nshop = \"x\"\n", "line 2: unknown field `shop`"),
        ("store = 3\n", "line 1: invalid type"),
        ("actor = \"\"\n", "line 1: it is empty"),
        (
            "\n\nactor = \"a\\u001b[2Jb\"\n",
            "line 3: it is empty, or has a control character",
        ),
        ("store = \"here\"\n", "line 1: the path does not begin"),
        ("color = \"blue\"\n", "line 1: it is none of"),
        ("actor = \"a\"\nactor = \"b\"\n", "line 2: "),
        ("actor", "line 1: "),
    ] {
        assert_refused(&with_file(text), words);
    }
}

#[test]
fn a_secret_in_the_wrong_place_is_not_shown() {
    const SECRET: &str = "AGE-SECRET-KEY-1QQQQ";
    for key in ["passphrase", "identity", "store", "color", "actor"] {
        let output = with_file(&format!("{key} = \"{SECRET}\"\n")).run(&["config"]);
        assert_eq!(output.status.code(), Some(2), "{key}");
        assert!(!stderr(&output).contains(SECRET), "{}", stderr(&output));
        assert_eq!(stdout(&output), "", "{key}");
    }
}

#[test]
fn a_file_that_others_could_have_written_is_refused() {
    let home = with_file("actor = \"ada\"\n");
    for mode in [0o620, 0o602] {
        fs::set_permissions(file(&home), fs::Permissions::from_mode(mode)).expect("a mode");
        assert_refused(&home, "other accounts can write it");
    }
    fs::set_permissions(file(&home), fs::Permissions::from_mode(0o600)).expect("a mode");
    // Only root can give a file away.
    if chown(file(&home), Some(65534), None).is_ok() {
        assert_refused(&home, "it belongs to another account");
        fs::remove_file(file(&home)).expect("removed");
    }
    fs::write(file(&home), vec![b'#'; 70_000]).expect("written");
    fs::set_permissions(file(&home), fs::Permissions::from_mode(0o600)).expect("a mode");
    assert_refused(&home, "it is longer than 65536 bytes");
    fs::rename(file(&home), home.path().join("real")).expect("moved");
    symlink(home.path().join("real"), file(&home)).expect("a link");
    assert_refused(&home, "it is a link");
    fs::remove_file(file(&home)).expect("removed");
    let made = Command::new("mkfifo").arg(file(&home)).status();
    assert!(made.expect("mkfifo runs").success());
    assert_refused(&home, "it is not a regular file");
    fs::remove_file(file(&home)).expect("removed");
    fs::write(file(&home), [0xff, 0xfe]).expect("written");
    assert_refused(&home, "it is not UTF-8");
}
