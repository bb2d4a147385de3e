//! What cannot be printed, and what would not work when nobody is there.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use crate::schedule::place::{Place, put};
use crate::support::{has_peer, json_lines, stderr, stdout};

const FORMS: [&str; 3] = ["systemd", "cron", "k8s"];

fn refused(place: &Place, args: &[&str], why: &str) {
    let output = place.command(args).output().expect("runs");
    assert_eq!(
        output.status.code(),
        Some(2),
        "{args:?}: {}",
        stderr(&output)
    );
    assert!(stdout(&output).is_empty(), "{args:?}");
    assert!(
        stderr(&output).contains(why),
        "{args:?}: {}",
        stderr(&output)
    );
}

#[test]
fn what_fits_in_no_line() {
    let place = Place::new("plain", "plain");
    for form in FORMS {
        for path in [
            "/a\nExecStart=/bin/sh",
            "/a\rb",
            "/a\u{7f}",
            "/a\u{85}b",
            "/a\u{2028}b",
            "/\tb",
        ] {
            for option in [
                "--store",
                "--identity",
                "--signing-key",
                "--keyring",
                "--reason",
                "--actor",
            ] {
                refused(
                    &place,
                    &["schedule", form, option, path],
                    "control character",
                );
            }
        }
        let mut command = place.command(&["schedule", form, "--store"]);
        let output = command
            .arg(OsStr::from_bytes(b"/a\xff"))
            .output()
            .expect("runs");
        assert_eq!(output.status.code(), Some(2));
        assert!(
            stderr(&output).contains("it is not UTF-8"),
            "{}",
            stderr(&output)
        );
        refused(
            &place,
            &["schedule", form, "--store", "no-such/../x"],
            "does not exist yet",
        );
    }
}

#[test]
fn a_step_back_is_taken_where_it_leads_somewhere() {
    let place = Place::new("plain", "plain");
    let text = place.ok(&[
        "schedule",
        "systemd",
        "--store",
        ".local/share/../share/agekeep/store",
    ]);
    assert_eq!(text, place.ok(&["schedule", "systemd"]));
}

#[test]
fn what_the_one_or_the_other_does_not_take() {
    let quoted = Place::new("plain", r#"a"b"#);
    refused(&quoted, &["schedule", "systemd"], "systemd starts nothing");
    let place = Place::new("a=b", "plain");
    refused(&place, &["schedule", "k8s"], "kubectl cannot make a secret");
    for image in ["", "a b", "a\nb"] {
        refused(&place, &["schedule", "k8s", "--image", image], "--image");
        refused(&place, &["schedule", "k8s", "--claim", image], "--claim");
    }
    refused(&place, &["schedule", "launchd"], "unrecognized subcommand");
    refused(&place, &["schedule", "systemd", "socket"], "invalid value");
    refused(
        &place,
        &["schedule", "cron", "--user"],
        "unexpected argument",
    );
}

#[test]
fn a_secret_in_the_place_of_a_path_is_not_shown() {
    let place = Place::new("plain", "plain");
    let secret = fs::read_to_string(place.identity()).expect("there");
    let secret = secret.lines().last().expect("a line");
    for form in FORMS {
        for option in ["--store", "--identity", "--signing-key", "--keyring"] {
            let output = place.command(&["schedule", form, option, secret]).output();
            let output = output.expect("runs");
            assert_eq!(output.status.code(), Some(2));
            let said = stdout(&output) + &stderr(&output);
            assert!(!said.contains("AGE-SECRET-KEY-"), "{option}");
        }
        let mut command = place.command(&["schedule", form]);
        let output = command
            .env("AGEKEEP_PASSPHRASE_FILE", "hunter2-canary")
            .output();
        let output = output.expect("runs");
        let said = stdout(&output) + &stderr(&output);
        assert!(
            output.status.success() && !said.contains("hunter2"),
            "{said}"
        );
        assert!(
            said.contains("AGEKEEP_PASSPHRASE_FILE names no file"),
            "{said}"
        );
    }
}

fn warned(place: &Place, args: &[&str]) -> String {
    let output = place.command(args).output().expect("runs");
    assert!(output.status.success(), "{}", stderr(&output));
    stderr(&output)
}

#[test]
fn nothing_is_said_where_all_is_well() {
    let place = Place::new("plain", "plain");
    assert_eq!(warned(&place, &["schedule", "cron"]), "");
    assert_eq!(warned(&place, &["schedule", "systemd", "--user"]), "");
    assert_eq!(warned(&place, &["schedule", "k8s", "--image", "x"]), "");
}

#[test]
fn what_is_not_there_is_said() {
    let place = Place::new("plain", "plain");
    let store = place.store();
    let elsewhere = place.root().join("elsewhere");
    fs::rename(store.join("keyring"), &elsewhere).expect("moves");
    let said = warned(&place, &["schedule", "cron"]);
    assert!(said.contains("name its folder with --keyring"), "{said}");
    let elsewhere = elsewhere.to_str().expect("UTF-8");
    assert_eq!(
        warned(&place, &["schedule", "cron", "--keyring", elsewhere]),
        ""
    );

    fs::remove_dir_all(&store).expect("there");
    fs::remove_dir_all(place.state_base()).expect("there");
    fs::remove_file(place.identity()).expect("there");
    let said = warned(&place, &["schedule", "systemd"]);
    assert!(
        said.contains(&format!("there is no store at {} yet", store.display())),
        "{said}"
    );
    assert!(said.contains("`agekeep status` creates it"), "{said}");
    assert!(said.contains("the sweep would fail"), "{said}");
    // Nothing was made by asking.
    assert!(!store.exists() && !place.state_base().exists());
    let said = warned(&place, &["schedule", "k8s"]);
    assert!(
        said.contains("name one with agekeep in it with --image"),
        "{said}"
    );
    assert!(!said.contains("no store"), "{said}");
}

/// A signing key behind a passphrase, which is an identity too.
fn lock_keys(place: &Place) {
    let key = place.root().join("locked");
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "hunter2-canary", "-f"])
        .arg(&key)
        .output();
    assert!(made.expect("runs").status.success());
    fs::copy(&key, place.signing_key()).expect("copies");
    fs::copy(&key, place.identity()).expect("copies");
}

#[test]
fn a_key_that_wants_a_person_is_said() {
    if !has_peer("ssh-keygen", "keys behind a passphrase") {
        return;
    }
    let place = Place::new("plain", "plain");
    lock_keys(&place);
    for form in FORMS {
        let said = warned(&place, &["schedule", form]);
        let times = said.matches("has a passphrase").count();
        assert_eq!(times, 2, "{said}");
        let file = put(&place.root(), "passphrase", "hunter2-canary\n");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("ours");
        let mut command = place.command(&["schedule", form]);
        let output: Output = command
            .env("AGEKEEP_PASSPHRASE_FILE", &file)
            .output()
            .expect("runs");
        assert!(
            !stderr(&output).contains("passphrase"),
            "{}",
            stderr(&output)
        );
        let printed = stdout(&output);
        assert!(printed.contains("AGEKEEP_PASSPHRASE_FILE") && !printed.contains("hunter2"));
        let mut command = place.command(&["schedule", form]);
        let output = command
            .env("AGEKEEP_PASSPHRASE_COMMAND", "echo hunter2")
            .output();
        let said = stderr(&output.expect("runs"));
        assert!(
            said.contains("AGEKEEP_PASSPHRASE_COMMAND is left out"),
            "{said}"
        );
    }
    // The agent of this session is not there at night.
    let public = place.root().join("locked.pub");
    let said = warned(
        &place,
        &[
            "schedule",
            "cron",
            "--signing-key",
            public.to_str().expect("UTF-8"),
        ],
    );
    assert!(said.contains("there is no ssh-agent to sign"), "{said}");
}

#[test]
fn a_key_that_others_can_read_is_said() {
    let place = Place::new("plain", "plain");
    fs::set_permissions(place.identity(), fs::Permissions::from_mode(0o640)).expect("ours");
    let said = warned(&place, &["schedule", "cron"]);
    assert!(
        said.contains("the sweep would fail")
            && said.contains("other accounts can access the identity"),
        "{said}"
    );
}

#[test]
fn json_has_each_file_on_its_own() {
    let place = Place::new("with space", "plain");
    for (form, more, names) in [
        ("systemd", "timer", 1),
        ("systemd", "--user", 2),
        ("cron", "--json", 1),
        ("k8s", "--json", 1),
    ] {
        let mut args = vec!["schedule", form, more];
        args.extend((more != "--json").then_some("--json"));
        let printed = place.ok(&args);
        let [answer] = &json_lines(printed.as_bytes())[..] else {
            panic!("{printed}");
        };
        assert_eq!(answer["schema"], "agekeep.schedule/1");
        assert_eq!(answer["form"], form);
        let files = answer["files"].as_array().expect("a list");
        assert_eq!(files.len(), names);
        args.pop();
        let text = place.ok(&if more == "--json" {
            vec!["schedule", form]
        } else {
            args
        });
        for file in files {
            let (name, body) = (file["name"].as_str(), file["text"].as_str());
            let piece = format!("# {}\n{}", name.expect("a text"), body.expect("a text"));
            assert!(text.contains(&piece), "{piece}");
        }
    }
}
