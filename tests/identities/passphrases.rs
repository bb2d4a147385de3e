//! Where passphrases come from, in which order, how often, and what is refused.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::identities::{PASSPHRASE, Person, QUICK, creations, encrypted, keygen, private};
use crate::support::terminal::answered;
use crate::support::{Home, feed, json_lines, stderr};

const NONE: &str = "there is no passphrase for ";

/// A person whose identity needs the passphrase and whose store is made.
fn locked() -> Person {
    let mut person =
        Person::with_identity(encrypted(&keygen(), true, QUICK)).passphrase(PASSPHRASE);
    person.done(&["init"]);
    person.forget("AGEKEEP_PASSPHRASE_FILE");
    person
}

/// A shell that runs the binary with `redirection`.
fn through_shell(person: &Person, args: &str, redirection: &str) -> std::process::Output {
    let plain = person.command(&[]);
    let words: Vec<_> = plain
        .get_args()
        .map(|a| a.to_str().expect("UTF-8"))
        .collect();
    let line = format!("exec setsid {} {args} {redirection}", words.join(" "));
    let mut shell = std::process::Command::new(crate::support::program("bash"));
    shell.args(["-c", &line]).env_clear();
    shell.envs(
        plain
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    feed(shell, b"")
}

#[test]
fn without_terminal_and_source_it_is_refused_at_once() {
    for person in [locked(), {
        let mut ssh =
            Person::with_ssh_key(&["-t", "ed25519", "-N", PASSPHRASE]).passphrase(PASSPHRASE);
        ssh.done(&["init"]);
        ssh.forget("AGEKEEP_PASSPHRASE_FILE");
        ssh
    }] {
        for args in [&["view"][..], &["tool"], &["verify"], &["log"]] {
            let said = person.refused(args, 12);
            assert!(said.contains(NONE), "{said}");
            assert!(said.contains("there is no terminal to ask on"), "{said}");
            for source in ["--passphrase-fd", "PASSPHRASE_FILE", "PASSPHRASE_COMMAND"] {
                assert!(said.contains(source), "{said}");
            }
        }
    }
}

#[test]
fn an_open_pipe_as_standard_input_is_not_waited_for() {
    let person = locked();
    let mut child = person
        .command(&["tool"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let pipe = child.stdin.take();
    let begun = Instant::now();
    let ended = loop {
        match child.try_wait().expect("a child") {
            Some(status) => break status,
            None if begun.elapsed() > Duration::from_secs(20) => panic!("it waits"),
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    assert_eq!(ended.code(), Some(12));
    drop(pipe);
}

#[test]
fn a_plain_variable_is_ignored_and_said_so() {
    let person = locked().env("AGEKEEP_PASSPHRASE", PASSPHRASE);
    let said = person.refused(&["view"], 12);
    assert!(
        said.starts_with("warning: AGEKEEP_PASSPHRASE is ignored"),
        "{said}"
    );
    assert!(said.contains(NONE), "{said}");
}

#[test]
fn a_descriptor_a_file_and_a_command_each_unlock() {
    let person = locked();
    let secret = person.home.path().join("secret");
    // What stands behind the first line belongs to somebody else.
    private(&secret, format!("{PASSPHRASE}\nnot this\n"));
    let path = secret.display();
    for (args, redirection) in [
        ("--passphrase-fd 3 view", format!("3<{path}")),
        ("--passphrase-fd 7 view", format!("7< <(cat {path})")),
        ("view --passphrase-fd 0", format!("<{path}")),
    ] {
        let output = through_shell(&person, args, &redirection);
        assert!(output.status.success(), "{args}: {}", stderr(&output));
    }
    let person = person.env("AGEKEEP_PASSPHRASE_FD", "3");
    let output = through_shell(&person, "view", &format!("3<{path}"));
    assert!(output.status.success(), "{}", stderr(&output));

    let person = locked().env(
        "AGEKEEP_PASSPHRASE_COMMAND",
        format!("echo '{PASSPHRASE}'; echo more"),
    );
    person.done(&["view"]);
    let person = locked().passphrase(PASSPHRASE);
    person.done(&["view"]);
    // A line may end as on other systems, or not at all.
    for end in ["", "\r\n", "\n\n"] {
        private(
            &person.home.path().join("passphrase"),
            format!("{PASSPHRASE}{end}"),
        );
        person.done(&["view"]);
    }
}

#[test]
fn the_first_source_counts_and_nothing_is_tried_behind_it() {
    let person = locked()
        .passphrase("wrong")
        .env("AGEKEEP_PASSPHRASE_COMMAND", format!("echo '{PASSPHRASE}'"));
    let said = person.refused(&["view"], 12);
    assert!(said.contains("the passphrase is wrong for "), "{said}");
    let secret = person.home.path().join("secret");
    private(&secret, format!("{PASSPHRASE}\n"));
    let output = through_shell(
        &person,
        "--passphrase-fd 3 view",
        &format!("3<{}", secret.display()),
    );
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn a_wrong_passphrase_is_told_and_not_repeated() {
    for person in [locked(), {
        let mut ssh =
            Person::with_ssh_key(&["-t", "ed25519", "-N", PASSPHRASE]).passphrase(PASSPHRASE);
        ssh.done(&["init"]);
        ssh.forget("AGEKEEP_PASSPHRASE_FILE");
        ssh
    }] {
        let person = person.passphrase("wrong-canary");
        for args in [&["view"][..], &["tool"], &["status", "--json"]] {
            let output = person.run(args);
            let said = stderr(&output);
            assert_eq!(output.status.code(), Some(12), "{said}");
            assert!(said.contains("the passphrase is wrong for "), "{said}");
            assert!(!said.contains("canary"), "{said}");
        }
    }
}

#[test]
fn sources_that_give_nothing_of_use() {
    let long = "x".repeat(2000);
    for (command, why) in [
        ("exit 3", "failed (exit status: 3)"),
        ("echo right; exit 1", "failed (exit status: 1)"),
        ("true", "it is empty"),
        ("echo", "it is empty"),
        (&format!("echo {long}"), "longer than 1024 bytes"),
        ("yes canary | tr -d '\\n'", "failed ("),
        ("printf '\\377\\376'", "it is not UTF-8"),
        (
            "no-such-program-canary 2>/dev/null",
            "failed (exit status: 127)",
        ),
    ] {
        let person = locked().env("AGEKEEP_PASSPHRASE_COMMAND", command);
        let said = person.refused(&["view"], 12);
        assert!(
            said.contains(NONE) && said.contains(why),
            "{command}: {said}"
        );
        assert!(!said.contains("canary"), "{said}");
    }
    let person = locked().env("AGEKEEP_PASSPHRASE_FD", "77");
    assert!(
        person
            .refused(&["view"], 12)
            .contains("--passphrase-fd cannot be read")
    );
    let person = locked().env("AGEKEEP_PASSPHRASE_FILE", "/nowhere/at/all");
    assert!(
        person
            .refused(&["view"], 12)
            .contains("AGEKEEP_PASSPHRASE_FILE cannot be read")
    );
    let person = locked().env("AGEKEEP_PASSPHRASE_FILE", "/");
    assert!(!person.run(&["view"]).status.success());
}

#[test]
fn a_passphrase_file_for_others_is_refused() {
    for bits in [0o640, 0o604, 0o602] {
        let person = locked().passphrase(PASSPHRASE);
        let path = person.home.path().join("passphrase");
        fs::set_permissions(&path, fs::Permissions::from_mode(bits)).expect("mode set");
        let said = person.refused(&["view"], 12);
        assert!(
            said.contains("other accounts can access the passphrase at "),
            "{said}"
        );
    }
}

#[test]
fn a_process_unlocks_once_whatever_it_does() {
    let person = locked();
    let count = person.home.path().join("count");
    let command = format!("echo >>{}; echo '{PASSPHRASE}'", count.display());
    let person = person.env("AGEKEEP_PASSPHRASE_COMMAND", command);
    let lines = creations(20);
    let output = feed(person.command(&["tool"]), lines.as_bytes());
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(json_lines(&output.stdout).len(), 20);
    assert_eq!(fs::read(&count).expect("counted"), b"\n");
}

/// `script` gives the binary a terminal, and types.
#[test]
fn at_a_terminal_it_asks_and_shows_nothing() {
    let person = locked();
    let plain = person.home.command(&[]);
    let line = format!(
        "{} -i {} view",
        plain.get_program().display(),
        person.identity.display()
    );
    for (typed, code) in [
        (format!("{PASSPHRASE}\r"), 0),
        (format!("nonsense\u{15}{PASSPHRASE}x\u{7f}\n"), 0),
        ("wrong-canary\n".into(), 12),
        ("canary\u{3}".into(), 12),
        ("\n".into(), 12),
    ] {
        let (status, shown) = answered(&plain, &line, "identity: ", || typed.clone());
        assert_eq!(status, Some(code), "{typed:?}: {shown}");
        assert!(shown.starts_with("Passphrase for "), "{shown}");
        for secret in [PASSPHRASE, "canary", "nonsense"] {
            assert!(!shown.contains(secret), "{shown}");
        }
    }
}

#[test]
fn the_library_alone_asks_nobody() {
    let home = Home::empty();
    let path = home.path().join("identity");
    private(&path, encrypted(&keygen(), true, QUICK));
    let error = agekeep::crypto::keyfile::read_identity(&path)
        .err()
        .expect("locked");
    assert_eq!(error.code(), "no_passphrase");
    assert_eq!(error.exit_code(), 12);
}
