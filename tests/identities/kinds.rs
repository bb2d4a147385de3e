//! Each kind of identity: a store is made, written, read and opened again; stock age opens what was
//! sealed.

use std::fs;

use serde_json::Value;

use crate::identities::{
    PASSPHRASE, PLUGIN_IDENTITY, PLUGIN_RECIPIENT, Person, QUICK, encrypted, keygen, private,
    stock_age,
};
use crate::support::{feed, json_lines, stderr, stdout};

/// What a store's life is with this identity.
fn lives(kind: &str, person: &Person, recipient: &str) {
    let made: Value = serde_json::from_str(&person.done(&["init", "--json"])).expect("JSON");
    assert_eq!(made["new_identity"], false, "{kind}");
    let got = made["recipient"].as_str().expect("a recipient");
    assert!(got.starts_with(recipient), "{kind}: {got}");
    person.done(&["create", "/memories/a.md", "--text", "hello"]);
    assert_eq!(person.done(&["read", "/memories/a.md"]), "hello", "{kind}");
    let lines = br#"{"command":"view","path":"/memories/a.md"}"#;
    let tool = feed(person.command(&["tool"]), lines);
    assert!(tool.status.success(), "{kind}: {}", stderr(&tool));
    assert_eq!(json_lines(&tool.stdout).len(), 1, "{kind}");
    let verified = person.done(&["verify"]);
    assert!(verified.contains("check out"), "{kind}: {verified}");
    let members: Value = serde_json::from_str(&person.done(&["status", "--json"])).expect("JSON");
    assert_eq!(members["recipients"][0]["recipient"], got, "{kind}");
}

/// The public half in the file beside an SSH key, without the comment.
fn public_half(person: &Person) -> String {
    let path = person.identity.with_extension("pub");
    let line = fs::read_to_string(path).expect("ssh-keygen wrote it");
    line.split(' ').take(2).collect::<Vec<_>>().join(" ")
}

#[test]
fn x25519_as_stock_age_makes_it() {
    let text = keygen();
    let recipient = text.split("public key: ").nth(1).expect("a comment");
    let recipient = recipient.lines().next().expect("a line").to_owned();
    let person = Person::with_identity(&text);
    lives("X25519", &person, &recipient);
    let opened = stock_age(&person.identity, &person.epoch_file());
    assert!(stdout(&opened).starts_with(r#"{"agekeep":2,"#));
}

#[test]
fn one_of_several_in_a_file_opens() {
    let (mine, other) = (keygen(), keygen());
    let mut person = Person::with_identity(&mine);
    lives("one", &person, "age1");
    person.identity = person.home.path().join("several");
    private(
        &person.identity,
        format!("{PLUGIN_IDENTITY}\n{other}\n\n# mine\n{mine}"),
    );
    assert_eq!(person.done(&["read", "/memories/a.md"]), "hello");
    private(&person.identity, &other);
    let said = person.refused(&["read", "/memories/a.md"], 12);
    assert!(said.contains("your identity cannot decrypt"), "{said}");
}

#[test]
fn encrypted_with_a_passphrase() {
    for armored in [false, true] {
        let text = keygen();
        let person = Person::with_identity(encrypted(&text, armored, QUICK)).passphrase(PASSPHRASE);
        lives("encrypted", &person, "age1");
        // What is in the file is an identity to stock age.
        let plain = person.home.path().join("plain");
        private(&plain, &text);
        let opened = stock_age(&plain, &person.epoch_file());
        assert!(opened.status.success(), "{}", stderr(&opened));
    }
}

#[test]
fn encrypted_with_what_a_plugin_opens_in_it() {
    let inside = format!("# Recipient: {PLUGIN_RECIPIENT}\n{PLUGIN_IDENTITY}\n");
    let person = Person::with_identity(encrypted(&inside, true, QUICK)).passphrase(PASSPHRASE);
    lives("encrypted plugin", &person, PLUGIN_RECIPIENT);
}

#[test]
fn ssh_keys_of_both_kinds_with_a_passphrase_and_without() {
    for args in [
        &["-t", "ed25519", "-N", ""][..],
        // With as much work as `ssh-keygen` asks for by itself.
        &["-t", "ed25519", "-a", "16", "-N", PASSPHRASE],
        &["-t", "rsa", "-b", "2048", "-N", ""],
        &["-t", "rsa", "-b", "3072", "-N", PASSPHRASE],
        &["-t", "rsa", "-b", "2048", "-m", "PEM", "-N", ""],
        &[
            "-t",
            "ed25519",
            "-Z",
            "aes256-gcm@openssh.com",
            "-N",
            PASSPHRASE,
        ],
    ] {
        let person = Person::with_ssh_key(args).passphrase(PASSPHRASE);
        let recipient = public_half(&person);
        lives(&args.join(" "), &person, &recipient);
        if args.ends_with(&[""]) {
            let opened = stock_age(&person.identity, &person.epoch_file());
            assert!(opened.status.success(), "{args:?}: {}", stderr(&opened));
        }
    }
}

#[test]
fn a_plugin_whose_recipient_stands_in_a_comment() {
    let text = format!("#    Recipient: {PLUGIN_RECIPIENT}\n{PLUGIN_IDENTITY}\n");
    let person = Person::with_identity(text);
    lives("plugin", &person, PLUGIN_RECIPIENT);
    let opened = stock_age(&person.identity, &person.epoch_file());
    assert!(opened.status.success(), "{}", stderr(&opened));
}
