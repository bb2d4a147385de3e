//! Identities that a plugin opens: how often it runs, what it asks, and how it fails.

use std::fs;

use crate::identities::{PLUGIN_IDENTITY, PLUGIN_RECIPIENT, Person, creations, keygen};
use crate::support::{feed, stderr};

/// 1234 as the plugin for tests wants it.
const PIN: &str = "MTIzNA";

/// A person with a plugin's identity, whose store is made.
fn with_plugin() -> Person {
    let person = Person::with_identity(format!("{PLUGIN_IDENTITY}\n"));
    person.done(&["init", "--recipient", PLUGIN_RECIPIENT]);
    person.done(&["create", "/memories/a.md", "--text", "hello"]);
    person
}

#[test]
fn the_recipient_has_to_be_given_where_nothing_says_it() {
    let person = Person::with_identity(format!("# for tests: nothing\n{PLUGIN_IDENTITY}\n"));
    let said = person.refused(&["init"], 2);
    assert!(said.contains("only age-plugin-agekeeptest knows"), "{said}");
    assert!(said.contains("--recipient"), "{said}");
    assert!(!person.home.store().exists());
    // The recipient of another identity of the plugin.
    let said = person.refused(&["init", "--recipient", "age1agekeeptest1w3mk7vpfzj6"], 2);
    assert!(said.contains("your identity cannot decrypt"), "{said}");
    assert!(!person.home.store().exists());
    person.done(&["init", "--recipient", PLUGIN_RECIPIENT]);
}

#[test]
fn a_process_runs_it_once_for_each_file_of_the_keyring() {
    let person = with_plugin();
    let log = person.home.path().join("runs");
    let person = person.env("AGEKEEPTEST_LOG", log.display().to_string());
    let lines = creations(100);
    let output = feed(person.command(&["tool"]), lines.as_bytes());
    assert!(output.status.success(), "{}", stderr(&output));
    let runs = fs::read_to_string(&log).expect("logged");
    assert_eq!(runs, "identity-v1\nidentity-v1\n");
}

#[test]
fn a_plugin_that_is_not_there_is_named() {
    let person = with_plugin().env("PATH", "/usr/bin:/bin");
    for args in [&["view"][..], &["tool"], &["verify"]] {
        let said = person.refused(args, 12);
        assert!(said.contains("age-plugin-agekeeptest"), "{said}");
        assert!(said.contains("PATH"), "{said}");
    }
    let person = Person::with_identity("AGE-PLUGIN-AGEKEEPNONE-1DAHX29EVS6T\n");
    let said = person.refused(&["init", "--recipient", "age1agekeepnone1dahx2wnhgus"], 12);
    assert!(said.contains("age-plugin-agekeepnone"), "{said}");
    assert!(!person.home.store().exists());
}

#[test]
fn a_plugin_that_dies_or_fails_is_named_and_nothing_hangs() {
    for (mode, why) in [("die", "it stopped"), ("fail", "the key is not plugged in")] {
        let person = with_plugin().env("AGEKEEPTEST_MODE", mode);
        for args in [&["view"][..], &["tool"]] {
            let said = person.refused(args, 12);
            assert!(said.contains("age-plugin-agekeeptest failed"), "{said}");
            assert!(said.contains(why), "{said}");
        }
        let sealing = Person::with_identity(PLUGIN_IDENTITY).env("AGEKEEPTEST_MODE", mode);
        let said = sealing.refused(&["init", "--recipient", PLUGIN_RECIPIENT], 12);
        assert!(said.contains(why), "{said}");
        assert!(!sealing.home.store().exists());
    }
}

#[test]
fn what_it_says_is_shown_and_escaped() {
    let person = with_plugin().env("AGEKEEPTEST_MODE", "touch");
    let output = person.run(&["read", "/memories/a.md"]);
    assert_eq!(output.stdout, b"hello");
    let said = stderr(&output);
    assert!(
        said.contains("age-plugin-agekeeptest: please touch\\u001b[31m the key"),
        "{said}"
    );
}

#[test]
fn a_pin_comes_from_the_sources_of_passphrases() {
    let person = with_plugin().env("AGEKEEPTEST_PIN", PIN);
    let said = person.refused(&["view"], 12);
    assert!(
        said.contains("there is no passphrase for age-plugin-agekeeptest"),
        "{said}"
    );
    let person = person.passphrase("1234");
    person.done(&["view"]);
    // A descriptor is read once, and the plugin asks for each file.
    let line = "printf '1234\\nmore' | setsid -w \"$0\" \"$@\" --passphrase-fd 0";
    let plain = person.command(&["view"]);
    let mut shell = std::process::Command::new(crate::support::program("bash"));
    shell
        .args(["-c", line])
        .args(plain.get_args().skip(1))
        .env_clear();
    shell.envs(
        plain
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    let output = feed(shell, b"");
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn a_wrong_pin_is_given_once_and_never_again() {
    let person = with_plugin().env("AGEKEEPTEST_PIN", PIN);
    let count = person.home.path().join("count");
    let command = format!("echo >>{}; echo 4321", count.display());
    let person = person.env("AGEKEEP_PASSPHRASE_COMMAND", command);
    let said = person.refused(&["view"], 12);
    assert!(said.contains("the given one is wrong"), "{said}");
    assert!(!said.contains("4321"), "{said}");
    assert_eq!(fs::read(&count).expect("counted"), b"\n");
}

#[test]
fn an_identity_of_ones_own_is_tried_before_any_plugin() {
    let person = Person::with_identity(format!("{}\n{PLUGIN_IDENTITY}\n", keygen()));
    let log = person.home.path().join("runs");
    let person = person.env("AGEKEEPTEST_LOG", log.display().to_string());
    person.done(&["init"]);
    person.done(&["view"]);
    assert!(!log.exists());
}
