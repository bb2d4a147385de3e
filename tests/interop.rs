//! What stock git, age and OpenSSH make of a store: they recover, open and check all of it.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{Home, feed, has_peer, stderr, stdout};
use base64ct::{Base64Unpadded, Encoding};
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const WHY: &str = "docs/format.md promises recovery with stock programs";

fn have(programs: &[&str]) -> bool {
    programs.iter().all(|program| has_peer(program, WHY))
}

// ---- a store with some history ----

const PATH: &str = "/memories/projects/plan.md";
const TEXT: &str = "A plan – with ünicode,\r\n\ttabs, \"quotes\"\n\nand no newline at the end";

/// Commands whose commits the tests look at: written, read, refused, moved, deleted.
const COMMANDS: [&[&str]; 8] = [
    &["create", PATH, "--text", "a first version\n"],
    &["write", PATH, "--text", TEXT],
    &["write", "other.md", "--text", "another memory\n"],
    &["view", "/memories"],
    &["view", "/memories/../etc/passwd"],
    &["rename", "/memories/other.md", "/memories/moved.md"],
    &["delete", "/memories/moved.md"],
    &["--actor", "agent", "--reason", "to check", "view", PATH],
];

fn home() -> Home {
    let home = Home::with_store();
    for command in COMMANDS {
        home.run(command);
    }
    home
}

fn ok(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    stdout(output).trim_end().to_owned()
}

fn git(home: &Home, args: &[&str]) -> String {
    ok(&home.git(args))
}

/// Every commit, oldest first.
fn commits(home: &Home) -> Vec<String> {
    let list = git(home, &["rev-list", "--reverse", "main"]);
    list.lines().map(str::to_owned).collect()
}

// ---- stock age ----

fn private_file(home: &Home, name: &str, text: &str) -> PathBuf {
    let path = home.path().join(name);
    let mut options = fs::OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o600).open(&path);
    let mut file = file.expect("made");
    file.write_all(text.as_bytes()).expect("written");
    path
}

fn age_open(identity: &Path, sealed: &[u8]) -> Vec<u8> {
    let mut age = Command::new("age");
    age.arg("-d").arg("-i").arg(identity);
    let opened = feed(age, sealed);
    assert!(opened.status.success(), "{}", stderr(&opened));
    opened.stdout
}

fn keyring(home: &Home, name: &str) -> Vec<u8> {
    fs::read(home.store().join("keyring").join(name)).expect("a keyring file")
}

fn key_file(home: &Home, name: &str) -> Value {
    let plain = age_open(&home.identity(), &keyring(home, name));
    serde_json::from_slice(&plain).expect("JSON")
}

fn audit_identity(home: &Home) -> (PathBuf, Value) {
    let audit = key_file(home, "audit.age");
    let newest = audit["identities"].as_array().and_then(|list| list.last());
    let newest = newest.and_then(Value::as_str).expect("an identity");
    (private_file(home, "audit.key", newest), audit)
}

fn record(home: &Home, audit: &Path, commit: &str) -> Value {
    let body = git(home, &["log", "-1", "--format=%b", commit]);
    let (armored, _) = body.split_once("\n\n").expect("trailers");
    serde_json::from_slice(&age_open(audit, armored.as_bytes())).expect("JSON")
}

// ---- the tables, as documented ----

fn unbase64(value: &Value) -> Vec<u8> {
    Base64Unpadded::decode_vec(value.as_str().expect("text")).expect("base64")
}

fn unhex(text: &str) -> Vec<u8> {
    let digits = (0..text.len()).step_by(2);
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).expect("hex");
    digits.map(byte).collect()
}

fn open_aead(key: &[u8], associated: &[u8], sealed: &[u8]) -> Vec<u8> {
    let payload = Payload {
        msg: &sealed[24..],
        aad: associated,
    };
    XChaCha20Poly1305::new_from_slice(key)
        .expect("32 bytes")
        .decrypt(XNonce::from_slice(&sealed[..24]), payload)
        .expect("opens")
}

/// The secret of a memory's entry in `ring` (74 bytes each) or `names` (32).
fn entry(table: &[u8], label: &str, key: &[u8], id: &str, secret: usize) -> Vec<u8> {
    let id = unhex(id);
    let (header, entries) = table.split_at(128);
    let mut entries = (0u64..).zip(entries.chunks_exact(16 + 24 + secret + 16));
    let found = entries.find(|(_, entry)| entry[..16] == id);
    let (slot, found) = found.expect("an entry");
    let associated = [label.as_bytes(), header, &slot.to_le_bytes(), &id].concat();
    open_aead(key, &associated, &found[16..])
}

/// The id of the one memory in the newest tree.
fn only_memory(home: &Home) -> String {
    let files = git(home, &["ls-tree", "-r", "--name-only", "main"]);
    let mut ids = files.lines().filter_map(|name| name.split_once('/'));
    let (folder, id) = ids.next().expect("a memory");
    assert!(ids.next().is_none() && id.starts_with(folder));
    id.to_owned()
}

#[test]
fn git_and_age_recover_a_memory() {
    if !have(&["git", "age"]) {
        return;
    }
    let home = home();
    let epoch = key_file(&home, "epoch.age");
    let id = only_memory(&home);
    let ring = keyring(&home, "ring");
    let identity = entry(&ring, "agekeep/2 ring ", &unbase64(&epoch["key"]), &id, 74);
    let identity = String::from_utf8(identity).expect("text");
    let key = private_file(&home, "memory.key", &identity);
    let place = format!("main:{}/{id}", &id[..2]);
    let blob = home.git(&["cat-file", "blob", &place]).stdout;
    let plain = String::from_utf8(age_open(&key, &blob)).expect("UTF-8");
    let (header, text) = plain.split_once('\n').expect("a header line");
    assert_eq!(text, TEXT);
    let header: Value = serde_json::from_str(header).expect("JSON");
    assert_eq!(header["id"], json!(id));
    assert_eq!(header["path"], json!(PATH));
    assert_eq!(
        (&header["agekeep"], &header["version"]),
        (&json!(1), &json!(2))
    );
}

#[test]
fn git_and_age_open_the_record_of_an_event() {
    if !have(&["git", "age"]) {
        return;
    }
    let home = home();
    let (key, audit) = audit_identity(&home);
    let said = record(&home, &key, "main");
    for (name, value) in [
        ("agekeep", json!(2)),
        ("event", json!(COMMANDS.len())),
        ("command", json!("view")),
        ("outcome", json!("ok")),
        ("actor", json!("agent")),
        ("reason", json!("to check")),
        ("door", json!("cli")),
        ("tree", json!(git(&home, &["rev-parse", "main^{tree}"]))),
    ] {
        assert_eq!(said[name], value, "{name}");
    }
    let id = only_memory(&home);
    assert_eq!(said["path"]["of"][0], json!(id));
    let names = keyring(&home, "names");
    let table_key = unbase64(&audit["names_key"]);
    let name_key = entry(&names, "agekeep/2 names ", &table_key, &id, 32);
    let associated = [b"agekeep/1 path ", &names[16..32], &unhex(&id)].concat();
    for sealed in [&said["path"]["of"][1], &said["memories"][0]["path"]] {
        let path = open_aead(&name_key, &associated, &unbase64(sealed));
        let path = String::from_utf8(path).expect("UTF-8");
        assert_eq!(path.trim_end_matches('\0'), PATH);
    }
}

#[test]
fn each_command_is_one_commit_that_says_only_what_and_how_it_ended() {
    if !have(&["git"]) {
        return;
    }
    let home = home();
    let subjects = git(&home, &["log", "--reverse", "--format=%s", "main"]);
    let expected = [
        "init ok",
        "create ok",
        "memory_write ok",
        "memory_write ok",
        "view ok",
        "view denied",
        "rename ok",
        "delete ok",
        "view ok",
    ];
    assert_eq!(subjects.lines().collect::<Vec<_>>(), expected);
    let authors = git(&home, &["log", "--format=%an <%ae> %cn <%ce>", "main"]);
    let owner = "owner <owner@agekeep> owner <owner@agekeep>";
    assert!(authors.lines().all(|line| line == owner));
}

#[test]
fn git_finds_nothing_wrong() {
    if !have(&["git"]) {
        return;
    }
    let home = home();
    for _ in 0..2 {
        let checked = home.git(&["fsck", "--full", "--strict", "--no-dangling"]);
        ok(&checked);
        assert_eq!((stdout(&checked), stderr(&checked)), <_>::default());
        ok(&home.git(&["gc", "--quiet"]));
    }
    // What stock git has packed is read like before, and written on.
    assert_eq!(stdout(&home.run(&["read", "projects/plan.md"])), TEXT);
    ok(&home.run(&["delete", PATH]));
    ok(&home.git(&["fsck", "--full", "--strict"]));
}

#[test]
fn a_clone_holds_the_same_history() {
    if !have(&["git"]) {
        return;
    }
    let home = home();
    let copy = home.path().join("copy.git");
    let (from, to) = (home.store(), copy.to_str().expect("UTF-8").to_owned());
    let from = format!("file://{}", from.display());
    git(&home, &["clone", "--quiet", "--bare", &from, &to]);
    let args = ["rev-parse", "main"];
    assert_eq!(ok(&crate::support::git(&copy, &args)), git(&home, &args));
    ok(&crate::support::git(&copy, &["fsck", "--full", "--strict"]));
}

// ---- signatures ----

fn allow(home: &Home, signers: &str) -> String {
    let path = home.path().join("allowed_signers");
    fs::write(&path, signers).expect("written");
    format!("gpg.ssh.allowedSignersFile={}", path.display())
}

#[test]
fn git_accepts_the_signature_of_every_commit() {
    if !have(&["git", "ssh-keygen"]) {
        return;
    }
    let home = home();
    let allowed = allow(&home, &stdout(&home.git(&["show", "main:signers"])));
    for commit in commits(&home) {
        ok(&home.git(&["-c", &allowed, "verify-commit", &commit]));
    }
    let states = git(&home, &["-c", &allowed, "log", "--format=%G? %GS", "main"]);
    assert_eq!(states.lines().count(), COMMANDS.len() + 1);
    assert!(states.lines().all(|line| line == "G owner"), "{states}");
    let shown = home.git(&["-c", &allowed, "log", "--show-signature", "main"]);
    let good = stdout(&shown)
        .matches("Good \"git\" signature for owner")
        .count();
    assert_eq!(good, COMMANDS.len() + 1);
}

#[test]
fn git_does_not_accept_a_stranger() {
    if !have(&["git", "ssh-keygen"]) {
        return;
    }
    let home = home();
    let stranger = agekeep::store::SigningKey::generate().public_line();
    let allowed = allow(&home, &format!("owner namespaces=\"git\" {stranger}\n"));
    let states = git(&home, &["-c", &allowed, "log", "--format=%G?", "main"]);
    assert!(states.lines().all(|line| line != "G"), "{states}");
    let verified = home.git(&["-c", &allowed, "verify-commit", "main"]);
    assert!(!verified.status.success());
}

#[test]
fn git_does_not_accept_a_commit_that_was_changed() {
    if !have(&["git", "ssh-keygen"]) {
        return;
    }
    let home = home();
    let allowed = allow(&home, &stdout(&home.git(&["show", "main:signers"])));
    let commit = home.git(&["cat-file", "commit", "main"]).stdout;
    let changed = String::from_utf8(commit)
        .expect("text")
        .replace("view ok", "view no");
    let mut put = Command::new("git");
    put.arg("--git-dir").arg(home.store());
    put.args(["hash-object", "-t", "commit", "-w", "--stdin"]);
    let id = ok(&feed(put, changed.as_bytes()));
    let verified = home.git(&["-c", &allowed, "verify-commit", &id]);
    assert!(!verified.status.success());
}

#[test]
fn the_trailers_are_git_trailers_and_the_chain_is_the_sha_256_of_the_parent() {
    if !have(&["git", "age"]) {
        return;
    }
    let home = home();
    // Several commands of one process, too: it keeps the chain in memory.
    home.tool(&"{\"command\":\"view\",\"path\":\"/memories\"}\n".repeat(3));
    let (audit, _) = audit_identity(&home);
    let mut chain = "none".to_owned();
    for commit in commits(&home) {
        let message = home.git(&["log", "-1", "--format=%B", &commit]).stdout;
        let mut parse = Command::new("git");
        parse.args(["interpret-trailers", "--parse"]);
        let trailers = ok(&feed(parse, &message));
        let record = record(&home, &audit, &commit);
        let touched = record["memories"].as_array().cloned().unwrap_or_default();
        let mut expected: Vec<String> = touched
            .iter()
            .map(|touch| format!("Memory: {}", touch["id"].as_str().expect("an id")))
            .collect();
        expected.push(format!("Chain: {chain}"));
        assert_eq!(trailers.lines().collect::<Vec<_>>(), expected);
        let object = home.git(&["cat-file", "commit", &commit]).stdout;
        chain = format!("sha256:{:x}", Sha256::digest(object));
    }
}

// ---- key files ----

#[test]
fn ssh_keygen_reads_the_signing_key() {
    if !have(&["ssh-keygen"]) {
        return;
    }
    let home = Home::with_store();
    let mut keygen = Command::new("ssh-keygen");
    keygen.args(["-y", "-f"]).arg(home.signing_key());
    let public = ok(&feed(keygen, b""));
    let beside = fs::read_to_string(home.signing_key().with_extension("pub")).expect("there");
    assert_eq!(public, beside.trim_end());
    let signers = git(&home, &["show", "main:signers"]);
    assert_eq!(signers, format!("owner namespaces=\"git\" {public} owner"));
}

#[test]
fn age_keygen_reads_the_identity() {
    if !have(&["age-keygen", "git"]) {
        return;
    }
    let home = Home::with_store();
    let mut keygen = Command::new("age-keygen");
    keygen.arg("-y").arg(home.identity());
    let recipient = ok(&feed(keygen, b""));
    let members = git(&home, &["show", "main:recipients"]);
    assert_eq!(members, format!("reader owner {recipient}"));
}

/// Keys made by the stock programs serve as well as agekeep's own.
#[test]
fn keys_of_stock_programs_make_a_store() {
    if !have(&["age-keygen", "ssh-keygen", "git"]) {
        return;
    }
    let home = Home::empty();
    let identity = home.identity();
    fs::create_dir_all(identity.parent().expect("a folder")).expect("made");
    let mut age = Command::new("age-keygen");
    age.arg("-o").arg(&identity);
    ok(&feed(age, b""));
    let mut ssh = Command::new("ssh-keygen");
    ssh.args(["-q", "-t", "ed25519", "-N", "", "-C", "a comment", "-f"]);
    ok(&feed(
        {
            ssh.arg(home.signing_key());
            ssh
        },
        b"",
    ));
    ok(&home.run(&["init"]));
    ok(&home.run(&["write", "a.md", "--text", "a"]));
    assert_eq!(stdout(&home.run(&["read", "a.md"])), "a");
    let allowed = allow(&home, &stdout(&home.git(&["show", "main:signers"])));
    ok(&home.git(&["-c", &allowed, "verify-commit", "main"]));
}
