//! Files that are no identity, and recipients that are none: refused by name, never repeated.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use base64ct::{Base64, Encoding};

use crate::identities::{PASSPHRASE, Person, QUICK, encrypted, keygen, private};
use crate::support::stderr;

/// A person whose store was made with another identity, which `content` now stands in place of.
fn with(content: impl AsRef<[u8]>) -> Person {
    let person = Person::with_identity(keygen());
    person.done(&["init"]);
    private(&person.identity, content);
    person
}

fn is_refused(content: impl AsRef<[u8]>, why: &str) {
    let person = with(content).passphrase(PASSPHRASE);
    for args in [&["view"][..], &["status"], &["verify"], &["tool"]] {
        let said = person.refused(args, 12);
        assert!(said.contains("is not a usable identity: "), "{said}");
        assert!(said.contains(why), "{said}");
    }
    // Nor is it overwritten.
    fs::remove_dir_all(person.home.store()).expect("it was there");
    let before = fs::read(&person.identity).expect("readable");
    person.refused(&["init"], 12);
    assert_eq!(fs::read(&person.identity).expect("readable"), before);
}

#[test]
fn what_is_no_identity() {
    let key = keygen();
    let secret = key.lines().last().expect("a key");
    let recipient = key.split("public key: ").nth(1).expect("a comment");
    let recipient = recipient.lines().next().expect("a line");
    is_refused("", "it holds no identity");
    is_refused("# only this\n\n", "it holds no identity");
    is_refused("\nhunter2-canary\n", "line 2 is not an age identity");
    is_refused([0xff, 0xfe, 0], "it is not text");
    is_refused(
        &secret[..secret.len() - 3],
        "line 1 is an age identity that was cut short",
    );
    is_refused(recipient, "line 1 is a recipient");
    is_refused(
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA me",
        "line 1 is a recipient",
    );
    is_refused(
        "AGE-PLUGIN-AGEKEEPTEST-1DAHX2XT6EAQ",
        "cut short or changed",
    );
    is_refused(vec![b'#'; 70_000], "it is no small file");
    is_refused(
        "-----BEGIN PRIVATE KEY-----\nAAAA\n",
        "it is not an SSH private key",
    );
}

#[test]
fn a_key_file_has_64_kib_at_most() {
    let (person, key) = (Person::with_identity(""), keygen());
    let fault = |bytes: usize| {
        let note = "x".repeat(bytes - key.len() - 2);
        private(&person.identity, format!("#{note}\n{key}"));
        let read = agekeep::crypto::keyfile::read_identity(&person.identity);
        read.err().map(|error| error.to_string())
    };
    assert_eq!(fault(65_536), None);
    let said = fault(65_537).expect("too long");
    assert!(said.contains("it is no small file"), "{said}");
}

#[test]
fn encrypted_files_that_are_not_whole() {
    let whole = encrypted(&keygen(), false, QUICK);
    for cut in [22, 60, whole.len() - 200, whole.len() - 1] {
        is_refused(&whole[..cut], "cut short or changed");
    }
    let armored = encrypted(&keygen(), true, QUICK);
    is_refused(&armored[..armored.len() - 40], "cut short or changed");
    let mut changed = whole.clone();
    *changed.last_mut().expect("some") ^= 1;
    is_refused(changed, "cut short or changed");
    is_refused(
        encrypted("nothing of use", false, QUICK),
        "line 1 is not an age identity",
    );
    is_refused(encrypted("", true, QUICK), "it holds no identity");
    let nested = String::from_utf8(encrypted(&keygen(), true, QUICK)).expect("armor");
    is_refused(
        encrypted(&nested, true, QUICK),
        "it is not an SSH private key",
    );
}

#[test]
fn a_file_encrypted_to_a_key() {
    let key = age::x25519::Identity::generate().to_public();
    let sealed = age::encrypt(&key, keygen().as_bytes()).expect("memory");
    is_refused(sealed, "it is encrypted to a key");
}

#[test]
fn a_passphrase_that_costs_too_much_is_not_tried() {
    let text = encrypted(&keygen(), false, QUICK);
    let at = text
        .windows(4)
        .position(|w| w == b" 10\n")
        .expect("the work factor");
    let mut costly = text;
    costly[at + 1..at + 3].copy_from_slice(b"40");
    is_refused(costly, "2^40 steps of work");

    let key = Person::with_ssh_key(&["-t", "ed25519", "-N", PASSPHRASE]);
    let pem = fs::read_to_string(&key.identity).expect("readable");
    let lines: Vec<&str> = pem.lines().collect();
    let body = lines[1..lines.len() - 1].concat();
    let mut binary = Base64::decode_vec(&body).expect("base64");
    // Behind the names of cipher and derivation: options of 24 bytes, a salt of 16, the rounds.
    let at = binary
        .windows(8)
        .position(|w| w == b"\0\0\0\x18\0\0\0\x10")
        .expect("options");
    binary[at + 24..at + 28].copy_from_slice(&u32::MAX.to_be_bytes());
    let body = Base64::encode_string(&binary);
    let wrapped: Vec<&str> = (0..body.len())
        .step_by(70)
        .map(|i| &body[i..body.len().min(i + 70)])
        .collect();
    let first = lines[0];
    let last = lines[lines.len() - 1];
    is_refused(
        format!("{first}\n{}\n{last}\n", wrapped.join("\n")),
        "rounds of work",
    );
}

#[test]
fn ssh_keys_that_age_does_not_take() {
    for (args, why) in [
        (&["-t", "ecdsa", "-N", ""][..], "ecdsa-sha2-nistp256"),
        (&["-t", "ecdsa", "-N", PASSPHRASE], "ecdsa-sha2-nistp256"),
        (
            &["-t", "rsa", "-b", "1024", "-N", ""],
            "fewer than 2048 bits",
        ),
        (
            &["-t", "rsa", "-b", "2048", "-m", "PEM", "-N", PASSPHRASE],
            "ssh-keygen -p",
        ),
    ] {
        let key = Person::with_ssh_key(args);
        is_refused(fs::read(&key.identity).expect("readable"), why);
    }
    let key = Person::with_ssh_key(&["-t", "ed25519", "-N", ""]);
    let whole = fs::read(&key.identity).expect("readable");
    is_refused(&whole[..whole.len() / 2], "cut short");
}

#[test]
fn a_folder_and_a_file_for_others_are_no_identity() {
    let mut person = with("");
    person.identity = person.home.path().join("folder");
    fs::create_dir(&person.identity).expect("made");
    let said = person.refused(&["view"], 12);
    assert!(said.contains("it is no small file"), "{said}");

    let person = with(keygen());
    let open = fs::Permissions::from_mode(0o644);
    fs::set_permissions(&person.identity, open).expect("mode set");
    let said = person.refused(&["view"], 12);
    assert!(said.contains("so agekeep does not use it"), "{said}");
    assert!(said.contains("chmod go= "), "{said}");
}

#[test]
fn what_is_no_recipient_is_not_repeated() {
    let key = keygen();
    let secret = key.lines().last().expect("a key");
    let ecdsa = Person::with_ssh_key(&["-t", "ecdsa", "-N", ""]);
    let ecdsa = fs::read_to_string(ecdsa.identity.with_extension("pub")).expect("readable");
    let weak = Person::with_ssh_key(&["-t", "rsa", "-b", "1024", "-N", ""]);
    let weak = fs::read_to_string(weak.identity.with_extension("pub")).expect("readable");
    let pem = "-----BEGIN OPENSSH PRIVATE KEY-----\ncanary\n";
    for (text, why) in [
        (secret, "it is an identity"),
        (&secret.to_lowercase(), "it is an identity"),
        ("AGE-PLUGIN-AGEKEEPTEST-1DAHX2XT6EAH", "it is an identity"),
        (pem, "it is an identity"),
        ("age1agekeeptest1dahx2hxxx5q", "checksum"),
        ("AGE1AGEKEEPTEST1DAHX2HXXX5P", "it is not a recipient"),
        ("age1", "checksum"),
        ("canary", "it is not a recipient"),
        ("", "it is not a recipient"),
        (&ecdsa, "SSH key of another kind"),
        (&weak, "too weak"),
        ("ssh-ed25519 canary", "cut short or changed"),
        ("ssh-dss AAAAB3NzaC1kc3M canary", "SSH key of another kind"),
        (&"age1".repeat(2000), "too long"),
    ] {
        let person = Person::with_identity(&key);
        let said = person.refused(&["init", "--recipient", text], 2);
        assert!(said.contains(why), "{text}: {said}");
        assert!(!said.contains("canary"), "{said}");
        assert!(!person.home.store().exists());
        assert!(
            !person.home.signing_key().exists(),
            "said before any key is made"
        );
    }
}

#[test]
fn a_recipient_that_the_identity_does_not_open() {
    let other = age::x25519::Identity::generate().to_public().to_string();
    let person = Person::with_identity(keygen());
    let said = person.refused(&["init", "--recipient", &other], 2);
    assert!(
        said.contains("your identity cannot decrypt what is encrypted to it"),
        "{said}"
    );
    assert!(!person.home.store().exists());
    let output = person.run(&["init"]);
    assert!(output.status.success(), "{}", stderr(&output));
}
