//! Signed notes that say where history ends: what stands in them, and that a stranger's tools agree.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::{Home, assert_verify_ended, has_peer, json_lines, stderr, stdout};
use agekeep::store::signed_checkpoint::SignedCheckpoint;
use base64ct::{Base64, Encoding};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

fn ok(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    stdout(output)
}

fn with_events() -> Home {
    let home = Home::with_store();
    for name in ["a", "b", "c"] {
        ok(&home.run(&["create", &format!("/memories/{name}"), "--text", name]));
    }
    home
}

fn refused(home: &Home, args: &[&str], code: &str, exit: i32) {
    let output = home.run(&[args, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(exit), "{}", stderr(&output));
    assert_eq!(stdout(&output), "");
    let said: Value = serde_json::from_str(&stderr(&output)).expect("one object");
    assert_eq!(said["error"]["code"], code, "{said}");
}

/// A note taken apart by the rules of docs/format.md alone.
struct Taken {
    text: String,
    name: String,
    key_id: Vec<u8>,
    signature: Vec<u8>,
}

fn take_apart(note: &str) -> Taken {
    let (text, signatures) = note.rsplit_once("\n\n").expect("an empty line");
    let line = signatures.strip_suffix('\n').expect("one line");
    let words: Vec<_> = line.split(' ').collect();
    assert_eq!((words.len(), words[0]), (3, "\u{2014}"), "{line}");
    let bytes = Base64::decode_vec(words[2]).expect("base64");
    assert_eq!(bytes.len(), 4 + 64);
    Taken {
        text: format!("{text}\n"),
        name: words[1].to_owned(),
        key_id: bytes[..4].to_vec(),
        signature: bytes[4..].to_vec(),
    }
}

/// The 32 bytes of the store's only signer, from its OpenSSH line.
fn public_key(home: &Home) -> Vec<u8> {
    let status = ok(&home.run(&["status", "--json"]));
    let line = json_lines(status.as_bytes())[0]["signers"][0]["key"].clone();
    let line = line.as_str().expect("a line").to_owned();
    let blob = line.split(' ').nth(1).expect("a key");
    let bytes = Base64::decode_vec(blob).expect("base64");
    assert_eq!(bytes.len(), 4 + 11 + 4 + 32);
    bytes[19..].to_vec()
}

#[test]
fn a_note_says_where_history_ends_and_is_no_event() {
    let home = with_events();
    let before = ok(&home.git(&["rev-parse", "main"]));
    let note = ok(&home.run(&["checkpoint"]));
    let note_again = ok(&home.run(&["checkpoint"]));
    assert_eq!(note, note_again, "nothing happened in between");
    assert_eq!(ok(&home.git(&["rev-parse", "main"])), before);

    let status = &json_lines(ok(&home.run(&["status", "--json"])).as_bytes())[0];
    let last = &json_lines(ok(&home.run(&["log", "--json", "-n", "1"])).as_bytes())[0];
    let object = home.git(&["cat-file", "commit", "main"]).stdout;
    let digest: String = Sha256::digest(&object)
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let expected = format!(
        "agekeep/{}\nevents 4\nsha256 {digest}\ncommit {}\ntime {}\n",
        text(&status["id"]),
        before.trim(),
        text(&last["time"]),
    );
    let taken = take_apart(&note);
    assert_eq!((taken.text, &*taken.name), (expected, "owner"));
    let hashed = [b"owner\n\x01".as_slice(), &public_key(&home)].concat();
    assert_eq!(taken.key_id, Sha256::digest(hashed)[..4]);

    let read = SignedCheckpoint::parse(&note).expect("our own");
    assert_eq!(read.checkpoint().events, 4);
    assert_eq!(read.checkpoint().digest.to_string(), digest);
    ok(&home.run(&["read", "a"]));
    let later = ok(&home.run(&["checkpoint"]));
    assert!(later.contains("\nevents 5\n"), "{later}");
}

#[test]
fn openssl_finds_the_signature_right_and_any_other_text_s_wrong() {
    if !has_peer("openssl", "the signature of a checkpoint") {
        return;
    }
    let home = with_events();
    let taken = take_apart(&ok(&home.run(&["checkpoint"])));
    let file = |name: &str, bytes: &[u8]| {
        let path = home.path().join(name);
        fs::write(&path, bytes).expect("writes");
        path
    };
    // SubjectPublicKeyInfo of an Ed25519 key (RFC 8410).
    let prefix = [
        0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
    ];
    let key = file("key.der", &[&prefix[..], &public_key(&home)].concat());
    let signature = file("signature", &taken.signature);
    let verifies = |text: &Path| {
        let mut openssl = Command::new("openssl");
        openssl.args([
            "pkeyutl", "-verify", "-rawin", "-pubin", "-keyform", "DER", "-inkey",
        ]);
        openssl
            .arg(&key)
            .arg("-sigfile")
            .arg(&signature)
            .arg("-in")
            .arg(text);
        let said = openssl.output().expect("runs");
        let words = stdout(&said) + &stderr(&said);
        assert!(words.contains("Signature Verifi"), "it did look: {words}");
        said.status.success()
    };
    assert!(verifies(&file("text", taken.text.as_bytes())));
    assert!(!verifies(&file(
        "other",
        taken.text.replace("events 4", "events 5").as_bytes()
    )));
    assert!(!verifies(&file(
        "more",
        format!("{}\n", taken.text).as_bytes()
    )));
}

#[test]
fn a_note_goes_into_a_new_file_and_never_over_another() {
    let home = with_events();
    assert_eq!(ok(&home.run(&["checkpoint", "--out", "note"])), "");
    let note = fs::read_to_string(home.path().join("note")).expect("written");
    assert_eq!(note, ok(&home.run(&["checkpoint"])));
    ok(&home.run(&["read", "a"]));
    refused(&home, &["checkpoint", "--out", "note"], "in_the_way", 5);
    refused(&home, &["checkpoint", "--out", "no/such/folder"], "io", 16);
    assert_eq!(
        fs::read_to_string(home.path().join("note")).expect("there"),
        note
    );

    let said = ok(&home.run(&["checkpoint", "--json"]));
    let said: Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!(
        (&said["schema"], &said["events"]),
        (&json!("agekeep.checkpoint/1"), &json!(5))
    );
    assert_eq!(said["note"], json!(ok(&home.run(&["checkpoint"]))));
}

#[test]
fn only_a_signer_makes_one() {
    let (home, stranger) = (with_events(), Home::with_store());
    let key = stranger.signing_key();
    let key = key.to_str().expect("UTF-8");
    refused(
        &home,
        &["checkpoint", "--signing-key", key],
        "not_a_signer",
        7,
    );
    refused(
        &home,
        &["checkpoint", "--signing-key", "none"],
        "no_key_file",
        12,
    );
    refused(&home, &["checkpoint", "--store", "none"], "no_store", 10);
}

/// The finding ids of a full verification against checkpoints.
fn verified(home: &Home, notes: &[&str]) -> Vec<String> {
    let given = notes.iter().flat_map(|note| ["--checkpoint", note]);
    let all: Vec<&str> = ["verify", "--json"].into_iter().chain(given).collect();
    let output = home.run(&all);
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", stderr(&output)));
    let findings = report["findings"].as_array().expect("a list");
    let ids = findings
        .iter()
        .map(|found| found["id"].as_str().expect("an id"));
    let mut ids: Vec<String> = ids.map(str::to_owned).collect();
    ids.sort();
    assert_verify_ended(&output, &report);
    ids
}

fn checkpoint(home: &Home, name: &str) {
    ok(&home.run(&["checkpoint", "--out", name]));
}

/// Puts a copy of the store in its place, as a machine finds it that never saw another.
fn put_back(home: &Home, copy: &Path) {
    drop(fs::remove_dir_all(home.store()));
    drop(fs::remove_dir_all(home.state()));
    copy_folder(copy, &home.store());
}

fn copy_folder(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").arg(from).arg(to).status();
    assert!(copied.expect("cp runs").success());
}

#[test]
fn todays_history_contains_that_days() {
    let home = with_events();
    checkpoint(&home, "first");
    ok(&home.run(&["write", "a", "--text", "later"]));
    checkpoint(&home, "second");
    ok(&home.run(&["delete", "/memories/b"]));
    assert_eq!(verified(&home, &["first"]), [""; 0]);
    assert_eq!(verified(&home, &["first", "second"]), [""; 0]);
    // From the last verified point on, checkpoints of before it are found too.
    ok(&home.run(&["read", "a"]));
    assert_eq!(verified(&home, &["second", "first"]), [""; 0]);
}

#[test]
fn what_history_does_not_contain_is_a_fork_or_a_rollback() {
    let home = with_events();
    let copy = home.path().join("copy");
    copy_folder(&home.store(), &copy);
    ok(&home.run(&["write", "a", "--text", "here"]));
    checkpoint(&home, "here");
    put_back(&home, &copy);
    assert_eq!(verified(&home, &["here"]), ["checkpoint-rolled-back"]);
    ok(&home.run(&["write", "a", "--text", "there"]));
    assert_eq!(verified(&home, &["here"]), ["checkpoint-fork"]);
    // Two that cannot both be true, whichever history is there.
    checkpoint(&home, "there");
    let both = ["checkpoint-fork", "checkpoint-fork"];
    assert_eq!(verified(&home, &["here", "there"]), both);
    put_back(&home, &copy);
    assert_eq!(
        verified(&home, &["here", "there"]),
        [
            "checkpoint-fork",
            "checkpoint-rolled-back",
            "checkpoint-rolled-back"
        ]
    );
}

#[test]
fn what_no_signer_said_of_this_store_proves_nothing() {
    let (home, other) = (with_events(), with_events());
    checkpoint(&other, "note");
    let foreign = other.path().join("note");
    let foreign = foreign.to_str().expect("UTF-8");
    assert_eq!(verified(&home, &[foreign]), ["checkpoint-foreign"]);
    checkpoint(&home, "note");
    let note = fs::read_to_string(home.path().join("note")).expect("written");
    let theirs = fs::read_to_string(foreign).expect("written");
    let signature = |note: &str| note.rsplit_once("\n\n").expect("two parts").1.to_owned();
    let forged = note.replace(&signature(&note), &signature(&theirs));
    fs::write(home.path().join("forged"), forged).expect("written");
    assert_eq!(verified(&home, &["forged"]), ["checkpoint-unsigned"]);
    fs::write(
        home.path().join("more"),
        note.replace("events 4", "events 9"),
    )
    .expect("written");
    assert_eq!(verified(&home, &["more"]), ["checkpoint-unsigned"]);
    for bad in [
        "",
        "no note\n",
        &note[..note.len() - 1],
        &note.replace("sha256", "sha1"),
    ] {
        fs::write(home.path().join("bad"), bad).expect("written");
        refused(&home, &["verify", "--checkpoint", "bad"], "invalid", 2);
    }
    refused(&home, &["verify", "--checkpoint", "none"], "io", 16);
}

#[test]
fn what_was_seen_counts_for_verification_too() {
    let home = with_events();
    let copy = home.path().join("copy");
    copy_folder(&home.store(), &copy);
    ok(&home.run(&["read", "a"]));
    let state = home.path().join("state");
    copy_folder(&home.state(), &state);
    put_back(&home, &copy);
    assert_eq!(verified(&home, &[]), [""; 0], "by who never saw it");
    drop(fs::remove_dir_all(home.state()));
    copy_folder(&state, &home.state());
    assert_eq!(verified(&home, &[]), ["pin-rolled-back"]);
    let places = fs::read_dir(home.state().join("places")).expect("a folder");
    for place in places {
        fs::write(place.expect("an entry").path().join("pin"), [7; 8192]).expect("written");
    }
    assert_eq!(verified(&home, &[]), ["pin-damaged"]);
}

/// What a checkpoint proves is said, and what it does not is not said to be proved.
#[test]
fn verify_says_what_a_checkpoint_proved() {
    let home = with_events();
    checkpoint(&home, "that-day");
    ok(&home.run(&["write", "a", "--text", "later"]));
    checkpoint(&home, "later");
    let args = [
        "verify",
        "--checkpoint",
        "that-day",
        "--checkpoint",
        "later",
    ];
    let said = ok(&home.run(&args));
    let lines: Vec<&str> = said.lines().collect();
    for (line, event) in lines.iter().zip([3, 4]) {
        let begin = format!("checkpoint signed by owner: event {event} of 20");
        assert!(line.starts_with(&begin), "{said}");
        assert!(
            line.ends_with("Z is in today's history, unbroken"),
            "{said}"
        );
    }
    assert_eq!(lines.len(), 3, "{said}");
    let report = |args: &[&str]| -> Value {
        let output = home.run(&[args, &["--json"]].concat());
        serde_json::from_slice(&output.stdout).expect("a report")
    };
    let log = json_lines(ok(&home.run(&["log", "--json"])).as_bytes());
    let expected = |at: usize, proved: bool| {
        json!({"event": log[at]["event"], "time": log[at]["time"], "commit": log[at]["commit"],
            "signer": "owner", "proved": proved})
    };
    let shown = report(&args)["checkpoints"].clone();
    assert_eq!(shown, json!([expected(1, true), expected(0, true)]));

    // History that is not in order proves nothing, though it contains the commit.
    let object = ok(&home.git(&["rev-parse", "main~2"]));
    let (fan, name) = object.trim().split_at(2);
    let path = home.store().join("objects").join(fan).join(name);
    let store = home.path().join("kept");
    copy_folder(&home.store(), &store);
    fs::remove_file(&path).expect("there");
    fs::remove_file(home.store().join("journal")).expect("there");
    let broken = report(&["verify", "--full", "--checkpoint", "later"]);
    assert_ne!(broken["checkpoints"][0]["proved"], true, "{broken}");

    // Nor does a history that ends before it.
    put_back(&home, &store);
    for name in ["journal", "catalog"] {
        fs::remove_file(home.store().join(name)).expect("there");
    }
    ok(&home.git(&["update-ref", "refs/heads/main", "main~1"]));
    drop(fs::remove_dir_all(home.state()));
    let turned_back = report(&["verify", "--checkpoint", "later"]);
    let shown = &turned_back["checkpoints"];
    assert_eq!(*shown, json!([expected(0, false)]), "{turned_back}");
    let text = stdout(&home.run(&["verify", "--checkpoint", "later"]));
    assert!(text.contains("event 4 of 20"), "{text}");
    assert!(
        text.contains("is not proved to be in today's history"),
        "{text}"
    );
}
