//! `verify` through the binary: stores of every kind are clean, and each damage is one finding.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::support::{Home, assert_verify_ended, feed, stderr, stdout};
use age::x25519;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use ssh_key::rand_core::OsRng;
use ssh_key::{Algorithm, HashAlg, LineEnding, PrivateKey};

// ---- what verify says ----

/// The ids of the findings, once each and in order; the exit code has to fit.
fn findings(home: &Home, args: &[&str]) -> Vec<String> {
    let report = report(home, args);
    let mut ids: Vec<String> = report["findings"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|found| found["id"].as_str().expect("an id").to_owned())
        .collect();
    ids.sort();
    ids.dedup();
    ids
}

fn report(home: &Home, args: &[&str]) -> Value {
    let mut all = vec!["verify", "--json"];
    all.extend(args);
    let output = home.run(&all);
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", stderr(&output)));
    assert_eq!(report["schema"], "agekeep.verify/1");
    let clean = report["findings_total"] == 0;
    assert_eq!(report["ok"], clean);
    assert_verify_ended(&output, &report);
    report
}

/// Verifies in full, from the last point, and without a key: all clean.
fn assert_clean(home: &Home, when: &str) -> Value {
    let nobody = ["--identity", "/nowhere/identity.txt"];
    let keyless = report(home, &nobody);
    assert_eq!(keyless["findings"], json!([]), "{when}, keyless");
    assert!(
        !keyless["not_checked"]
            .as_array()
            .expect("a list")
            .is_empty()
    );
    let full = report(home, &["--full"]);
    assert_eq!(full["findings"], json!([]), "{when}");
    assert_eq!(full["events"], keyless["events"], "{when}");
    let again = report(home, &[]);
    assert_eq!(again["findings"], json!([]), "{when}, again");
    assert_eq!(again["from"], full["events"], "{when}: nothing is new");
    full
}

fn done(home: &Home, args: &[&str]) -> String {
    let output = home.run(args);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    stdout(&output)
}

/// A store with a memory that has three versions, one that has moved, one that is gone; the last
/// event is a view.
fn home() -> Home {
    let home = Home::with_store();
    done(&home, &["create", "/memories/a.md", "--text", "one\n"]);
    done(&home, &["create", "/memories/b.md", "--text", "two\n"]);
    done(&home, &["write", "a.md", "--text", "three\n"]);
    done(&home, &["rename", "/memories/b.md", "/memories/c.md"]);
    done(&home, &["create", "/memories/gone.md", "--text", "x\n"]);
    done(&home, &["delete", "/memories/gone.md"]);
    done(
        &home,
        &[
            "str-replace",
            "/memories/a.md",
            "--old",
            "three",
            "--new",
            "four",
        ],
    );
    done(&home, &["view", "/memories/a.md"]);
    home
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), &to).expect("copied");
        }
    }
}

/// Puts the store back to what it was, so that one home serves many damages.
struct Kept(PathBuf);

impl Kept {
    fn of(home: &Home) -> Self {
        let to = home.path().join("kept");
        copy(&home.store(), &to);
        Self(to)
    }

    fn put_back(&self, home: &Home) {
        fs::remove_dir_all(home.store()).expect("removed");
        copy(&self.0, &home.store());
        fs::remove_dir_all(home.path().join(".local")).ok();
    }
}

// ---- clean stores ----

#[test]
fn a_fresh_store_is_clean() {
    let home = Home::with_store();
    let report = assert_clean(&home, "fresh");
    assert_eq!(
        (&report["events"], &report["versions"]),
        (&json!(1), &json!(0))
    );
}

#[test]
fn a_used_store_is_clean_and_counted() {
    let home = home();
    let report = assert_clean(&home, "used");
    assert_eq!(report["events"], 9);
    assert_eq!(report["versions"], 6);
    assert_eq!(report["memories"], json!({"live": 2, "opened": 2}));
    let said = done(&home, &["verify", "--full"]);
    assert_eq!(said, "9 events, 2 memories and 6 versions check out\n");
    done(&home, &["write", "a.md", "--text", "five\n"]);
    let said = done(&home, &["verify"]);
    let expected =
        "1 event, 1 memory and 1 version check out; the 9 before were verified earlier\n";
    assert_eq!(said, expected);
}

#[test]
fn recorded_sessions_are_clean_packed_or_not() {
    for name in ["support-desk", "refactoring", "multi-session"] {
        let home = Home::with_store();
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/sessions");
        let file = Path::new(folder).join(name).with_extension("jsonl");
        home.tool(&fs::read_to_string(file).expect("a session"));
        assert_clean(&home, name);
        change_policy_and_pack(&home);
    }
}

fn change_policy_and_pack(home: &Home) {
    let policy = home.path().join("policy.toml");
    fs::write(&policy, "[limits]\nmemory_bytes = 50000\n").expect("written");
    done(
        home,
        &["policy", "set", "--policy", policy.to_str().expect("UTF-8")],
    );
    done(home, &["create", "/memories/last.md", "--text", "x"]);
    assert_clean(home, "sessions");
    assert!(home.git(&["gc", "--quiet"]).status.success());
    assert_clean(home, "gc");
    done(home, &["create", "/memories/later.md", "--text", "x"]);
    assert!(home.git(&["repack", "-a", "-d", "-q"]).status.success());
    assert!(home.git(&["pack-refs", "--all"]).status.success());
    assert_clean(home, "repack");
}

#[test]
fn the_store_of_format_version_1_is_clean() {
    let home = Home::empty();
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/format-v1");
    let tar = std::process::Command::new("tar")
        .args([
            "-xf",
            vectors.join("store.tar").to_str().expect("UTF-8"),
            "-C",
        ])
        .arg(home.path())
        .status();
    assert!(tar.expect("tar runs").success());
    fs::create_dir_all(home.identity().parent().expect("a folder")).expect("made");
    fs::copy(vectors.join("TEST-ONLY-identity.txt"), home.identity()).expect("copied");
    let private = fs::Permissions::from_mode(0o600);
    fs::set_permissions(home.identity(), private).expect("mode set");
    assert_clean(&home, "format version 1");
}

#[test]
fn a_store_that_was_cut_off_is_brought_to_its_place() {
    let home = home();
    let kept = Kept::of(&home);
    // As after a kill between the journal and everything else.
    let before = stdout(&home.git(&["rev-parse", "main~2"]));
    fs::write(home.store().join("refs/heads/main"), before).expect("written");
    assert_clean(&home, "the ref lags");
    kept.put_back(&home);
    fs::remove_file(home.store().join("refs/heads/main")).expect("there");
    assert_clean(&home, "the ref is gone");
    kept.put_back(&home);
    fs::remove_file(home.store().join("journal")).expect("there");
    assert_clean(&home, "the journal is gone");
    assert!(!home.store().join("journal").exists(), "verify makes none");
}

#[test]
fn a_store_is_verified_without_changing_it() {
    let home = home();
    let seen = |folder: &Path| {
        let mut seen = BTreeMap::new();
        snapshot(folder, &mut seen);
        seen
    };
    let before = seen(&home.store());
    assert_clean(&home, "as it is");
    fs::remove_file(home.signing_key()).expect("there");
    report(&home, &["--full"]);
    assert!(
        before == seen(&home.store()),
        "verify has changed the store"
    );
}

fn snapshot(folder: &Path, seen: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            snapshot(&path, seen);
        } else {
            seen.insert(path.clone(), fs::read(&path).expect("read"));
        }
    }
}

/// Writes and looks from a `tool` of its own, 20 calls at a time, until `over`; returns how many
/// calls were answered.
fn keep_writing(home: &Home, over: Arc<AtomicBool>) -> thread::JoinHandle<usize> {
    let mut tool = home.command(&["tool"]);
    tool.stdin(Stdio::piped()).stdout(Stdio::piped());
    thread::spawn(move || {
        let mut child = tool.spawn().expect("the program starts");
        let mut calls = child.stdin.take().expect("piped");
        let mut answers = BufReader::new(child.stdout.take().expect("piped")).lines();
        let mut answered = 0;
        while !over.load(Ordering::Relaxed) {
            for n in 0..20 {
                let path = format!("/memories/{}", n % 9);
                let call = if n % 3 == 0 {
                    json!({"command": "view", "path": path})
                } else {
                    json!({"command": "memory_write", "path": path, "content": answered.to_string()})
                };
                writeln!(calls, "{call}").expect("it listens");
            }
            answered += answers.by_ref().take(20).map(Result::unwrap).count();
        }
        drop(calls);
        assert!(child.wait().expect("it ends").success());
        answered
    })
}

#[test]
fn writers_meanwhile_give_no_findings() {
    let home = home();
    let before = report(&home, &[])["events"].as_u64().expect("a number");
    let over = Arc::new(AtomicBool::new(false));
    let writers = [0, 1].map(|_| keep_writing(&home, over.clone()));
    let mut seen = before;
    let mut met = 0;
    // Each report that has more events than the one before was made beside a writer.
    for round in 0.. {
        let report = report(&home, if round % 2 == 0 { &["--full"] } else { &[] });
        assert_eq!(report["findings"], json!([]), "round {round}");
        let events = report["events"].as_u64().expect("a number");
        met += u32::from(events > seen);
        seen = events;
        if met == 6 {
            break;
        }
        assert!(writers.iter().all(|writer| !writer.is_finished()));
    }
    over.store(true, Ordering::Relaxed);
    let answered: usize = writers
        .map(|writer| writer.join().expect("it ends"))
        .iter()
        .sum();
    let after = report(&home, &["--full"])["events"]
        .as_u64()
        .expect("a number");
    assert_eq!(after - before, answered as u64);
}

#[test]
fn what_is_no_store_is_an_error() {
    // An empty repository was never one, and nobody tampered with it.
    let empty = self::home();
    let path = empty.path().join("empty.git");
    let path = path.to_str().expect("UTF-8");
    let made = std::process::Command::new("git")
        .args(["init", "-q", "--bare", path])
        .status();
    assert!(made.expect("git runs").success());
    for args in [&["verify"][..], &["log"]] {
        let refused = empty.run(&[args, &["--store", path]].concat());
        assert_eq!(refused.status.code(), Some(10), "{}", stderr(&refused));
    }
    let home = Home::empty();
    let output = home.run(&["verify"]);
    assert_eq!(output.status.code(), Some(10));
    let home = self::home();
    fs::write(home.identity(), "nonsense\n").expect("written");
    assert_eq!(home.run(&["verify"]).status.code(), Some(12));
}

// ---- forging commits, with the owner's keys or a stranger's ----

/// A commit taken apart; put together again it is the branch's head.
struct Forged {
    tree: String,
    parent: Option<String>,
    author: String,
    subject: String,
    record: Value,
    memories: Vec<String>,
    chain: String,
    key: Option<PrivateKey>,
    audit: x25519::Recipient,
    /// Added to the bytes that are signed.
    noise: &'static str,
}

fn owner_key(home: &Home) -> PrivateKey {
    let file = fs::read_to_string(home.signing_key()).expect("a key");
    PrivateKey::from_openssh(file).expect("a key")
}

fn stranger() -> PrivateKey {
    PrivateKey::random(&mut OsRng, Algorithm::Ed25519).expect("a key")
}

fn open_age(input: impl Read, identity: &x25519::Identity) -> Vec<u8> {
    let decryptor = age::Decryptor::new(age::armor::ArmoredReader::new(input)).expect("age");
    let mut plain = Vec::new();
    decryptor
        .decrypt(std::iter::once(identity as &dyn age::Identity))
        .and_then(|mut reader| Ok(reader.read_to_end(&mut plain)?))
        .expect("opens");
    plain
}

fn audit(home: &Home) -> x25519::Identity {
    let text = fs::read_to_string(home.identity()).expect("an identity");
    let identity = x25519::Identity::from_str(text.lines().last().expect("a key")).expect("one");
    let sealed = fs::read(home.store().join("keyring/audit.age")).expect("there");
    let audit: Value = serde_json::from_slice(&open_age(&sealed[..], &identity)).expect("JSON");
    x25519::Identity::from_str(audit["identities"][0].as_str().expect("text")).expect("one")
}

fn git(home: &Home, args: &[&str]) -> String {
    let output = home.git(args);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    stdout(&output).trim_end_matches('\n').to_owned()
}

fn write_object(home: &Home, kind: &str, bytes: &[u8]) -> String {
    let mut command = std::process::Command::new("git");
    command.arg("--git-dir").arg(home.store());
    command.args(["hash-object", "-t", kind, "-w", "--stdin", "--literally"]);
    let output = feed(command, bytes);
    assert!(output.status.success(), "{}", stderr(&output));
    stdout(&output).trim().to_owned()
}

fn make_tree(home: &Home, listing: &str) -> String {
    let mut command = std::process::Command::new("git");
    command.arg("--git-dir").arg(home.store()).arg("mktree");
    let output = feed(command, listing.as_bytes());
    assert!(output.status.success(), "{}", stderr(&output));
    stdout(&output).trim().to_owned()
}

fn commit_bytes(home: &Home, commit: &str) -> Vec<u8> {
    home.git(&["cat-file", "commit", commit]).stdout
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect()
}

impl Forged {
    /// The newest commit, to be replaced.
    fn newest(home: &Home) -> Self {
        let bytes = String::from_utf8(commit_bytes(home, "main")).expect("text");
        let line = |name: &str| {
            let found = bytes.lines().find_map(|line| line.strip_prefix(name));
            found.map(str::to_owned)
        };
        let (_, message) = bytes.split_once("\n\n").expect("a message");
        let (subject, rest) = message.split_once("\n\n").expect("a record");
        let (armored, trailers) = rest.split_once("\n\n").expect("trailers");
        let identity = audit(home);
        let record = open_age(armored.as_bytes(), &identity);
        let of = |name: &str| {
            trailers
                .lines()
                .filter_map(|l| l.strip_prefix(name))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        Self {
            tree: line("tree ").expect("a tree"),
            parent: line("parent "),
            author: line("author ").expect("an author"),
            subject: subject.into(),
            record: serde_json::from_slice(&record).expect("JSON"),
            memories: of("Memory: "),
            chain: of("Chain: ").pop().expect("a chain"),
            key: Some(owner_key(home)),
            audit: identity.to_public(),
            noise: "",
        }
    }

    /// One more commit after the newest, which does nothing yet.
    fn next(home: &Home, command: &str) -> Self {
        let mut next = Self::newest(home);
        let parent = digest(&commit_bytes(home, "main"));
        next.parent = Some(git(home, &["rev-parse", "main"]));
        next.chain = format!("sha256:{parent}");
        next.memories.clear();
        next.subject = format!("{command} ok");
        let fields = next.record.as_object_mut().expect("an object");
        for name in ["memories", "path", "new_path", "error"] {
            fields.remove(name);
        }
        let event = fields["event"].as_u64().expect("a number") + 1;
        fields.insert("event".into(), event.into());
        fields.insert("command".into(), command.into());
        fields.insert("outcome".into(), "ok".into());
        fields.insert("parent".into(), parent.into());
        next
    }

    fn set_tree(&mut self, tree: &str) {
        self.tree = tree.into();
        self.record["tree"] = tree.into();
    }

    fn message(&self) -> String {
        let mut sealed = Vec::new();
        let armor =
            age::armor::ArmoredWriter::wrap_output(&mut sealed, age::armor::Format::AsciiArmor);
        let recipient = std::iter::once(&self.audit as &dyn age::Recipient);
        let mut writer = age::Encryptor::with_recipients(recipient)
            .expect("one")
            .wrap_output(armor.expect("memory"))
            .expect("memory");
        writer
            .write_all(self.record.to_string().as_bytes())
            .expect("memory");
        writer
            .finish()
            .and_then(age::armor::ArmoredWriter::finish)
            .expect("memory");
        let sealed = String::from_utf8(sealed).expect("ASCII");
        let memories: String = self
            .memories
            .iter()
            .map(|id| format!("Memory: {id}\n"))
            .collect();
        format!(
            "{}\n\n{}\n\n{memories}Chain: {}\n",
            self.subject,
            sealed.trim_end(),
            self.chain
        )
    }

    fn bytes(&self) -> String {
        let parent = self
            .parent
            .as_ref()
            .map(|p| format!("parent {p}\n"))
            .unwrap_or_default();
        let headers = format!(
            "tree {}\n{parent}author {a}\ncommitter {a}\n",
            self.tree,
            a = self.author
        );
        let message = self.message();
        let Some(key) = &self.key else {
            return format!("{headers}\n{message}");
        };
        let signed = format!("{headers}\n{message}{}", self.noise);
        let signature = key
            .sign("git", HashAlg::Sha512, signed.as_bytes())
            .expect("signs");
        let pem = signature.to_pem(LineEnding::LF).expect("text");
        format!(
            "{headers}gpgsig {}\n\n{message}",
            pem.trim_end().replace('\n', "\n ")
        )
    }

    /// Puts it in place, and takes away what would tell on it: the journal and the catalog.
    fn put(&self, home: &Home) -> String {
        put_commit(home, self.bytes().as_bytes())
    }
}

fn put_commit(home: &Home, bytes: &[u8]) -> String {
    let id = write_object(home, "commit", bytes);
    fs::write(home.store().join("refs/heads/main"), format!("{id}\n")).expect("written");
    fs::remove_file(home.store().join("journal")).ok();
    fs::remove_file(home.store().join("catalog")).ok();
    forget(home);
    id
}

/// Forgets what was seen of the store, as on a machine that never saw it: the pin would tell on
/// every history but the last, and what else does is the question.
fn forget(home: &Home) {
    for place in fs::read_dir(home.state().join("places"))
        .into_iter()
        .flatten()
    {
        fs::remove_file(place.expect("an entry").path().join("pin")).ok();
    }
}

/// Forges the newest commit and compares what is found.
fn assert_forgery(edit: impl FnOnce(&Home, &mut Forged), expected: &[&str], keyless: &[&str]) {
    let home = home();
    let mut forged = Forged::newest(&home);
    edit(&home, &mut forged);
    forged.put(&home);
    assert_eq!(findings(&home, &["--full"]), expected);
    assert_eq!(
        findings(&home, &["--identity", "/nowhere"]),
        keyless,
        "keyless"
    );
}

#[test]
fn a_forgery_that_changes_nothing_is_clean() {
    assert_forgery(|_, _| {}, &[], &[]);
    let home = home();
    Forged::next(&home, "view").put(&home);
    assert_clean(&home, "one more view");
}

#[test]
fn signatures() {
    assert_forgery(|_, f| f.key = None, &["unsigned"], &["unsigned"]);
    assert_forgery(|_, f| f.key = Some(stranger()), &["signer"], &["signer"]);
    assert_forgery(|_, f| f.noise = " ", &["signature"], &["signature"]);
    let other = |_: &Home, f: &mut Forged| f.author = f.author.replace("owner", "mallory");
    assert_forgery(other, &["author"], &["author"]);
}

#[test]
fn a_signer_who_is_none_any_more() {
    let home = home();
    let (old, new) = (owner_key(&home), stranger());
    let name = |key: &PrivateKey| {
        let is_old = key.public_key() == old.public_key();
        if is_old { "owner" } else { "deputy" }
    };
    let signers = |keys: &[&PrivateKey]| -> String {
        let line = |key: &&PrivateKey| {
            let mut public = key.public_key().clone();
            public.set_comment("");
            let line = public.to_openssh().expect("text");
            format!("{} namespaces=\"git\" {}\n", name(key), line.trim_end())
        };
        keys.iter().map(line).collect()
    };
    let put = |command: &str, file: &str, key: &PrivateKey| {
        let blob = write_object(&home, "blob", file.as_bytes());
        let listing = git(&home, &["ls-tree", "main"]);
        let known = git(&home, &["rev-parse", "main:signers"]);
        let tree = make_tree(&home, &listing.replace(&known, &blob));
        let mut next = Forged::next(&home, command);
        next.set_tree(&tree);
        next.key = Some(key.clone());
        let (_, time) = next.author.split_once("> ").expect("an author's form");
        next.author = format!("{0} <{0}@agekeep> {time}", name(key));
        next.put(&home);
    };
    put("signers_add", &signers(&[&old, &new]), &old);
    put("signers_rm", &signers(&[&new]), &new);
    assert_clean(&home, "the signers changed as they may");
    let kept = Kept::of(&home);
    let mut next = Forged::next(&home, "view");
    next.key = Some(old.clone());
    next.put(&home);
    assert_eq!(findings(&home, &["--full"]), ["former-signer"]);
    kept.put_back(&home);
    // One who was no signer before cannot sign himself in.
    put("signers_add", &signers(&[&new, &old]), &old);
    assert_eq!(findings(&home, &["--full"]), ["former-signer"]);
    kept.put_back(&home);
    put("view", &signers(&[&new, &old]), &new);
    put("view", &signers(&[&new]), &new);
    let report = report(&home, &["--full"]);
    assert_eq!(report["findings_total"], 2, "{report}");
    assert_eq!(findings(&home, &["--full"]), ["signers-changed"]);
}

#[test]
fn records_that_say_something_else() {
    let swapped = |_: &Home, f: &mut Forged| f.record["parent"] = "0".repeat(64).into();
    assert_forgery(swapped, &["record-swapped"], &[]);
    let tree = |_: &Home, f: &mut Forged| f.record["tree"] = "0".repeat(40).into();
    assert_forgery(tree, &["record-swapped"], &[]);
    let field = |_: &Home, f: &mut Forged| f.record["surprise"] = 1.into();
    assert_forgery(field, &["record-malformed"], &[]);
    let format = |_: &Home, f: &mut Forged| f.record["agekeep"] = 3.into();
    assert_forgery(format, &["record-malformed"], &[]);
    let closed = |_: &Home, f: &mut Forged| f.audit = x25519::Identity::generate().to_public();
    assert_forgery(closed, &["record-closed"], &[]);
    let subject = |_: &Home, f: &mut Forged| f.subject = "view error".into();
    assert_forgery(subject, &["record-mismatch"], &[]);
    let trailer = |_: &Home, f: &mut Forged| f.memories.clear();
    assert_forgery(trailer, &["record-mismatch"], &[]);
    let number = |_: &Home, f: &mut Forged| f.record["event"] = 7.into();
    assert_forgery(number, &["event-number"], &[]);
    let version = |_: &Home, f: &mut Forged| f.record["memories"][0]["version"] = 2.into();
    assert_forgery(version, &["state"], &[]);
    let blob = |_: &Home, f: &mut Forged| {
        f.record["memories"][0]["blob"] = "0".repeat(40).into();
        f.record["memories"][0]["sha256"] = "0".repeat(64).into();
    };
    assert_forgery(blob, &["record-malformed"], &[]);
    let chain = |_: &Home, f: &mut Forged| f.chain = format!("sha256:{}", "0".repeat(64));
    assert_forgery(chain, &["chain"], &["chain"]);
    let none = |_: &Home, f: &mut Forged| f.chain = "none".into();
    assert_forgery(none, &["chain"], &["chain"]);
}

#[test]
fn times_that_run_backwards() {
    let back = |_: &Home, f: &mut Forged| {
        f.record["time"] = "2001-09-09T01:46:40.000Z".into();
        f.author = "owner <owner@agekeep> 1000000000 +0000".into();
    };
    assert_forgery(back, &["time-backwards"], &[]);
    let flagged = |_: &Home, f: &mut Forged| f.record["clock_behind_ms"] = 5.into();
    assert_forgery(flagged, &["time-backwards"], &[]);
    let author =
        |_: &Home, f: &mut Forged| f.author = "owner <owner@agekeep> 1000000000 +0000".into();
    assert_forgery(author, &["time-author"], &[]);
    // The owner's clock may be wrong, if the record says so.
    let home = Home::with_trial_store();
    done(
        &home,
        &["--now", "2001-09-09T01:46:40Z", "view", "/memories"],
    );
    done(&home, &["view", "/memories"]);
    assert_clean(&home, "a clock that was behind");
}

#[test]
fn trees_that_changed_by_themselves() {
    let without = |home: &Home, f: &mut Forged| {
        let listing = git(home, &["ls-tree", "main"]);
        let kept: Vec<_> = listing.lines().filter(|l| !l.contains(" tree ")).collect();
        f.set_tree(&make_tree(home, &kept.join("\n")));
    };
    assert_forgery(without, &["tree-change"], &["tree-change"]);
    let file = |name: &'static str| {
        move |home: &Home, f: &mut Forged| {
            let text = git(home, &["cat-file", "blob", &format!("main:{name}")]);
            // What it is stays: a comment, another member, or another signer.
            let more = match name {
                "recipients" => {
                    format!("reader other {}", x25519::Identity::generate().to_public())
                }
                "signers" => {
                    let mut key = stranger().public_key().clone();
                    key.set_comment("");
                    let line = key.to_openssh().expect("text");
                    format!("guest namespaces=\"git\" {}", line.trim_end())
                }
                _ => "# more".into(),
            };
            let blob = write_object(home, "blob", format!("{text}\n{more}\n").as_bytes());
            let known = git(home, &["rev-parse", &format!("main:{name}")]);
            let listing = git(home, &["ls-tree", "main"]).replace(&known, &blob);
            f.set_tree(&make_tree(home, &listing));
        }
    };
    assert_forgery(
        file("agekeep.toml"),
        &["policy-changed"],
        &["policy-changed"],
    );
    assert_forgery(
        file("recipients"),
        &["recipients-changed"],
        &["recipients-changed"],
    );
    assert_forgery(file("signers"), &["signers-changed"], &["signers-changed"]);
    let guest = |home: &Home, f: &mut Forged| {
        let blob = write_object(home, "blob", b"guest");
        let listing = git(home, &["ls-tree", "main"]);
        f.set_tree(&make_tree(
            home,
            &format!("{listing}\n100644 blob {blob}\tguest.txt\n"),
        ));
    };
    assert_forgery(guest, &["tree-form"], &["tree-form"]);
    // What came in once is said once.
    let home = home();
    let mut forged = Forged::newest(&home);
    guest(&home, &mut forged);
    forged.put(&home);
    Forged::next(&home, "view").put(&home);
    let report = report(&home, &["--full"]);
    assert_eq!(report["findings_total"], 1, "{report}");
}

/// One more commit that puts `blob` in the place of the present version of `a.md`, with a record
/// that says so.
fn edit_a(home: &Home, blob: &str) -> Forged {
    let viewed: Value =
        serde_json::from_str(&done(home, &["view", "/memories/a.md", "--json"])).expect("JSON");
    let id = viewed["meta"]["memory"].as_str().expect("an id").to_owned();
    let touch = Forged::newest(home).record["memories"][0].clone();
    let folder = &id[..2];
    let known = git(home, &["rev-parse", &format!("main:{folder}/{id}")]);
    let inner = git(home, &["ls-tree", &format!("main:{folder}")]).replace(&known, blob);
    let outer = git(home, &["rev-parse", &format!("main:{folder}")]);
    let root = git(home, &["ls-tree", "main"]).replace(&outer, &make_tree(home, &inner));
    let mut next = Forged::next(home, "str_replace");
    next.set_tree(&make_tree(home, &root));
    let bytes = home.git(&["cat-file", "blob", blob]).stdout;
    let mut touch = touch;
    touch["change"] = "edit".into();
    touch["version"] = 4.into();
    touch["blob"] = blob.into();
    touch["sha256"] = digest(&bytes).into();
    next.record["memories"] = json!([touch]);
    next.memories = vec![id];
    next
}

#[test]
fn versions_that_are_none() {
    let home = home();
    let kept = Kept::of(&home);
    let log: Vec<Value> = crate::support::json_lines(done(&home, &["log", "--json"]).as_bytes());
    let first = log.iter().find(|event| event["event"] == 1).expect("there");
    let old = first["memories"][0]["blob"]
        .as_str()
        .expect("an id")
        .to_owned();
    let other = log.iter().find(|event| event["event"] == 4).expect("there");
    let other = other["memories"][0]["blob"]
        .as_str()
        .expect("an id")
        .to_owned();
    edit_a(&home, &old).put(&home);
    assert_eq!(
        findings(&home, &["--full"]),
        ["memory-misplaced"],
        "replayed"
    );
    kept.put_back(&home);
    edit_a(&home, &other).put(&home);
    assert_eq!(
        findings(&home, &["--full"]),
        ["memory-closed"],
        "another memory's"
    );
    kept.put_back(&home);
    let plain = write_object(&home, "blob", b"plain text");
    edit_a(&home, &plain).put(&home);
    assert_eq!(findings(&home, &["--full"]), ["blob-form"]);
    kept.put_back(&home);
    let mut forged = edit_a(&home, &old);
    forged.record["memories"][0]["sha256"] = "0".repeat(64).into();
    forged.put(&home);
    assert_eq!(findings(&home, &["--full"]), ["blob-digest"]);
    kept.put_back(&home);
    let mut forged = edit_a(&home, &old);
    forged.memories.clear();
    forged.record["memories"] = json!([]);
    forged.put(&home);
    assert_eq!(findings(&home, &["--full"]), ["tree-change"]);
    assert_eq!(
        findings(&home, &["--identity", "/nowhere"]),
        ["tree-change"]
    );
    kept.put_back(&home);
    let mut forged = edit_a(&home, &old);
    forged.record["memories"][0]["change"] = "add".into();
    forged.put(&home);
    assert_eq!(findings(&home, &["--full"]), ["tree-change"]);
}

/// The tree is as the record says, and no such command does that. The blob is another memory's or an
/// older one, so that it does not open at its place either.
#[test]
fn records_of_what_a_command_never_does() {
    let home = home();
    let kept = Kept::of(&home);
    let log: Vec<Value> = crate::support::json_lines(done(&home, &["log", "--json"]).as_bytes());
    let first = log.iter().find(|event| event["event"] == 1).expect("there");
    let old = first["memories"][0]["blob"].as_str().expect("an id");
    for (command, change) in [
        ("rekey", "edit"),
        ("rekey", "move"),
        ("recipients_rm", "edit"),
        ("recipients_add", "reseal"),
        ("create", "move"),
        ("str_replace", "reseal"),
        ("str_replace", "move"),
        ("memory_write", "reseal"),
        ("delete", "edit"),
        ("rename", "edit"),
        ("restore", "reseal"),
        ("policy_set", "edit"),
        ("view", "edit"),
        ("log", "edit"),
    ] {
        let mut forged = edit_a(&home, old);
        forged.subject = format!("{command} ok");
        forged.record["command"] = command.into();
        forged.record["memories"][0]["change"] = change.into();
        forged.put(&home);
        let found = findings(&home, &["--full"]);
        assert!(
            found.contains(&"state".into()),
            "{command} {change}: {found:?}"
        );
        kept.put_back(&home);
    }
    // What is sealed anew keeps its length.
    let mut forged = edit_a(&home, old);
    forged.subject = "rekey ok".into();
    forged.record["command"] = "rekey".into();
    forged.record["memories"][0]["change"] = "reseal".into();
    forged.record["memories"][0]["bytes"] = 99_999.into();
    forged.put(&home);
    let found = findings(&home, &["--full"]);
    assert!(found.contains(&"state".into()), "{found:?}");
}

#[test]
fn commits_of_other_forms() {
    let home = home();
    let kept = Kept::of(&home);
    let bytes = Forged::newest(&home).bytes();
    let first = git(&home, &["rev-parse", "main~3"]);
    put_commit(
        &home,
        bytes
            .replacen("author ", &format!("parent {first}\nauthor "), 1)
            .as_bytes(),
    );
    assert_eq!(findings(&home, &["--full"]), ["merge"]);
    kept.put_back(&home);
    put_commit(
        &home,
        bytes
            .replacen("gpgsig ", "encoding x\ngpgsig ", 1)
            .as_bytes(),
    );
    assert_eq!(findings(&home, &["--full"]), ["commit-form"], "a header");
    kept.put_back(&home);
    let mut forged = Forged::newest(&home);
    forged.parent = None;
    forged.put(&home);
    let found = findings(&home, &["--full"]);
    assert!(found.contains(&"history-broken".into()), "{found:?}");
    kept.put_back(&home);
    // Stock git's own commit on the branch, which the journal does not know.
    let tree = git(&home, &["rev-parse", "main^{tree}"]);
    let id = git(
        &home,
        &[
            "-c",
            "user.name=x",
            "-c",
            "user.email=x@y",
            "commit-tree",
            "-p",
            "main",
            "-m",
            "hello",
            &tree,
        ],
    );
    fs::write(home.store().join("refs/heads/main"), format!("{id}\n")).expect("written");
    let found = findings(&home, &["--full"]);
    assert!(
        found.contains(&"head".into()) && found.contains(&"unsigned".into()),
        "{found:?}"
    );
}

// ---- damage in files ----

#[test]
fn what_the_journal_still_holds_is_mended_as_the_hint_says() {
    let home = home();
    let versions = git(&home, &["log", "--format=", "--raw", "--no-abbrev", "-r"]);
    let blobs: Vec<&str> = versions
        .lines()
        .filter_map(|line| line.split(' ').nth(3))
        .filter(|id| id.bytes().any(|digit| digit != b'0'))
        .collect();
    let old = blobs[blobs.len() - 4];
    for gone in [false, true] {
        let file = object_file(&home, old);
        let kept = Kept::of(&home);
        if gone {
            fs::remove_file(&file).expect("there");
        } else {
            flip(&file, 25);
        }
        let report = report(&home, &["--full"]);
        let hint = report["findings"][0]["hint"].as_str().expect("text");
        assert!(hint.contains("`agekeep compact` repairs it"), "{report}");
        done(&home, &["compact"]);
        assert_clean(&home, "compacted");
        kept.put_back(&home);
        fs::remove_dir_all(kept.0).expect("there");
    }
}

fn object_file(home: &Home, id: &str) -> PathBuf {
    home.store().join("objects").join(&id[..2]).join(&id[2..])
}

fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).expect("there");
    let at = at.min(bytes.len() - 1);
    bytes[at] ^= 0x20;
    fs::remove_file(path).expect("removed");
    fs::write(path, bytes).expect("written");
}

#[test]
fn each_object_that_is_damaged_or_gone_is_one_finding() {
    let home = home();
    let kept = Kept::of(&home);
    let listed = git(&home, &["rev-list", "--objects", "main"]);
    let ids: Vec<&str> = listed.lines().filter_map(|l| l.split(' ').next()).collect();
    assert!(ids.len() > 25, "{listed}");
    for id in ids {
        for (what, expected) in [("flipped", "object-damaged"), ("gone", "object-missing")] {
            let file = object_file(&home, id);
            if what == "gone" {
                fs::remove_file(&file).expect("there");
            } else {
                flip(&file, 25);
            }
            let report = report(&home, &["--full"]);
            let list = report["findings"].as_array().expect("a list");
            assert!(
                list.iter().any(|found| found["id"] == expected),
                "{id} {what}: {report}"
            );
            let others = list.iter().filter(|found| found["id"] != expected).count();
            assert!(others == 0 && list.len() == 1, "{id} {what}: {report:#}");
            let hint = list[0]["hint"].as_str().expect("text");
            let mended = fs::read(home.store().join("journal")).expect("there");
            let raw: Vec<u8> = (0..20)
                .map(|i| u8::from_str_radix(&id[2 * i..2 * i + 2], 16).expect("hex"))
                .collect();
            let held = mended.windows(20).any(|w| w == raw);
            assert!(!hint.contains("mends") || held, "{hint}");
            kept.put_back(&home);
        }
    }
}

#[test]
fn keys_that_are_damaged_gone_or_too_many() {
    let home = home();
    let kept = Kept::of(&home);
    let ring = home.store().join("keyring/ring");
    let names = home.store().join("keyring/names");
    for (file, at) in [(&ring, 128 + 50), (&names, 128 + 50)] {
        let mut bytes = fs::read(file).expect("there");
        bytes[at] ^= 1;
        fs::write(file, bytes).expect("written");
        assert!(findings(&home, &["--full"]).contains(&"key-damaged".into()));
        kept.put_back(&home);
    }
    let bytes = fs::read(&ring).expect("there");
    fs::write(&ring, &bytes[..128 + 130]).expect("written");
    assert_eq!(
        findings(&home, &["--full"]),
        ["memory-key"],
        "an older ring"
    );
    kept.put_back(&home);
    fs::write(&ring, &bytes[..bytes.len() - 7]).expect("written");
    let found = findings(&home, &["--full"]);
    assert!(found.contains(&"keyring".into()), "a torn ring: {found:?}");
    kept.put_back(&home);
    for name in ["ring", "names", "epoch.age", "audit.age"] {
        fs::remove_file(home.store().join("keyring").join(name)).expect("there");
        assert_eq!(findings(&home, &["--full"]), ["keyring-missing"], "{name}");
        assert_eq!(
            findings(&home, &["--identity", "/nowhere"]),
            ["keyring-missing"],
            "{name}"
        );
        kept.put_back(&home);
    }
    // History of an earlier moment, with today's keys.
    let earlier = git(&home, &["rev-parse", "main~5"]);
    fs::write(home.store().join("refs/heads/main"), format!("{earlier}\n")).expect("written");
    fs::remove_file(home.store().join("journal")).expect("there");
    fs::remove_file(home.store().join("catalog")).expect("there");
    forget(&home);
    assert_eq!(findings(&home, &["--full"]), ["keyring-ahead"]);
    kept.put_back(&home);
    let other = self::home();
    fs::copy(other.store().join("keyring/ring"), &ring).expect("copied");
    assert_eq!(findings(&home, &["--full"]), ["keyring"], "another store's");
}

#[test]
fn an_erased_memory_is_erased_and_not_damaged() {
    let home = home();
    // The third memory is the one that was deleted.
    let ring = fs::read(home.store().join("keyring/ring")).expect("there");
    let deleted: String = ring[128 + 2 * 130..][..16]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    done(&home, &["erase", &deleted, "--yes", "--reason", "asked"]);
    let report = report(&home, &["--full"]);
    assert_eq!(report["findings"], json!([]), "{report:#}");
    assert_eq!(report["erased"].as_array().expect("a list").len(), 1);
    assert!(done(&home, &["verify", "--full"]).contains("1 memory erased"));
}

#[test]
fn strangers_files_in_the_folder() {
    let home = home();
    let kept = Kept::of(&home);
    let head = git(&home, &["rev-parse", "main"]);
    let cases: &[(&str, &str, &str)] = &[
        ("objects/info/alternates", "/nowhere\n", "alternates"),
        ("objects/info/http-alternates", "/nowhere\n", "alternates"),
        ("info/grafts", "", "grafts"),
        ("shallow", "", "grafts"),
        ("HEAD", "ref: refs/heads/other\n", "refs"),
        ("refs/heads/other", "HEAD", "refs"),
        ("refs/tags/v1", "HEAD", "refs"),
        (
            "refs/replace/0000000000000000000000000000000000000001",
            "HEAD",
            "replace-refs",
        ),
        (
            "packed-refs",
            "HEAD refs/replace/0000000000000000000000000000000000000001\n",
            "replace-refs",
        ),
        ("packed-refs", "# pack-refs\nHEAD refs/notes/x\n", "refs"),
        ("config", "[core]\n\tfsmonitor = /bin/true\n", "config"),
        ("config.worktree", "", "config"),
        ("commondir", "/nowhere\n", "stray"),
        ("notes.txt", "", "stray"),
    ];
    for (file, text, expected) in cases {
        let path = home.store().join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(&path, text.replace("HEAD", &head)).expect("written");
        assert_eq!(findings(&home, &["--full"]), [*expected], "{file}");
        assert_eq!(
            findings(&home, &["--identity", "/nowhere"]),
            [*expected],
            "{file}"
        );
        kept.put_back(&home);
    }
    let hooks = home.store().join("hooks");
    fs::create_dir(&hooks).expect("made");
    fs::write(hooks.join("post-update"), "#!/bin/sh\n").expect("written");
    assert_clean(&home, "a hook that cannot be run");
    symlink("/bin/true", hooks.join("pre-receive")).expect("linked");
    assert_eq!(findings(&home, &["--full"]), ["hooks"]);
    fs::remove_file(hooks.join("pre-receive")).expect("removed");
    let run = fs::Permissions::from_mode(0o755);
    fs::set_permissions(hooks.join("post-update"), run).expect("set");
    assert_eq!(findings(&home, &["--full"]), ["hooks"]);
}

#[test]
fn alternates_hide_nothing_of_a_packed_store() {
    let home = home();
    git(&home, &["repack", "-a", "-d", "-q"]);
    fs::write(home.store().join("objects/info/alternates"), "/nowhere\n").expect("written");
    let report = report(&home, &["--full"]);
    assert_eq!(report["findings"][0]["id"], "alternates");
    assert!(
        !report["not_checked"].as_array().expect("a list").is_empty(),
        "{report}"
    );
}

#[test]
fn a_branch_or_journal_that_was_changed() {
    let home = home();
    let kept = Kept::of(&home);
    let unknown = Forged::newest(&home).put(&home);
    kept.put_back(&home);
    let bytes = Forged::newest(&home).bytes();
    let other = write_object(&home, "commit", bytes.as_bytes());
    assert_ne!(other, unknown, "a signature of its own");
    fs::write(home.store().join("refs/heads/main"), format!("{other}\n")).expect("written");
    assert!(findings(&home, &["--full"]).contains(&"head".into()));
    kept.put_back(&home);
    let journal = home.store().join("journal");
    let mut bytes = fs::read(&journal).expect("there");
    bytes[20] ^= 1;
    fs::write(&journal, &bytes).expect("written");
    assert_eq!(findings(&home, &["--full"]), ["journal"], "header");
    bytes[20] ^= 1;
    // Of a record that the branch has already, an ordinary command reads where it leads.
    bytes[128 + 36] ^= 1;
    fs::write(&journal, &bytes).expect("written");
    assert_eq!(
        findings(&home, &["--full"]),
        ["journal"],
        "where a record begins"
    );
    for args in [
        &["view", "/memories/a.md"][..],
        &["create", "/memories/n.md", "--text", "x"],
        &["status"],
    ] {
        let refused = home.run(args);
        let said = stderr(&refused);
        assert_eq!(refused.status.code(), Some(13), "{args:?}: {said}");
        assert!(said.contains("journal"), "{args:?}: {said}");
    }
    bytes[128 + 36] ^= 1;
    bytes[128 + 100] ^= 1;
    fs::write(&journal, &bytes).expect("written");
    assert_eq!(findings(&home, &["--full"]), ["journal"], "a record");
    for args in [&["doctor"][..], &["compact"]] {
        let refused = home.run(args);
        let said = stderr(&refused);
        assert_eq!(refused.status.code(), Some(13), "{args:?}: {said}");
        assert!(
            said.contains("move the file `journal` away"),
            "{args:?}: {said}"
        );
    }
    fs::rename(&journal, home.path().join("journal")).expect("moved");
    assert_clean(&home, "without the damaged journal");
    done(&home, &["view", "/memories/a.md"]);
    assert_clean(&home, "and with a new one");
}

#[test]
fn a_catalog_that_claims_another_state() {
    let home = home();
    let kept = Kept::of(&home);
    let catalog = home.store().join("catalog");
    // A whole catalog of a history that is not this one.
    done(
        &home,
        &["write", "a.md", "--text", "a text that is undone\n"],
    );
    let later = fs::read(&catalog).expect("there");
    kept.put_back(&home);
    fs::write(&catalog, &later).expect("written");
    assert_eq!(findings(&home, &["--full"]), ["catalog"]);
    // One that does not open is made anew by the next command.
    fs::write(&catalog, &later[..60]).expect("written");
    assert_clean(&home, "a torn catalog");
}

// ---- the last verified point ----

#[test]
fn history_that_moved_is_found_by_the_next_run() {
    let home = home();
    assert_clean(&home, "before");
    let fork = Kept(home.path().join("fork"));
    copy(&home.store(), &fork.0);
    done(&home, &["write", "a.md", "--text", "here\n"]);
    assert_clean(&home, "later");
    // As the store was before, with another event after it.
    fs::remove_dir_all(home.store()).expect("removed");
    copy(&fork.0, &home.store());
    assert_eq!(findings(&home, &[]), ["history-moved", "pin-rolled-back"]);
    forget(&home);
    done(&home, &["write", "a.md", "--text", "there\n"]);
    let report = report(&home, &[]);
    assert_eq!(report["findings"][0]["id"], "history-moved", "{report}");
    assert_eq!(report["from"], 0, "then everything is read");
    assert_eq!(findings(&home, &[]), ["history-moved"], "it is said again");
}

#[test]
fn a_point_is_kept_only_where_all_is_well_and_opens_for_its_store_alone() {
    let home = home();
    let state = home.state().join("places");
    let kept = || {
        let mut places = fs::read_dir(&state).into_iter().flatten().flatten();
        places.any(|place| place.path().join("verified").exists())
    };
    report(&home, &["--identity", "/nowhere"]);
    assert!(!kept(), "not without a key");
    fs::write(home.store().join("shallow"), "").expect("written");
    report(&home, &[]);
    assert!(!kept(), "not with a finding");
    fs::remove_file(home.store().join("shallow")).expect("there");
    assert_eq!(report(&home, &[])["from"], 0);
    let folder = fs::read_dir(&state)
        .expect("made")
        .next()
        .expect("one")
        .expect("read")
        .path();
    let file = folder.join("verified");
    let bytes = fs::read(&file).expect("kept");
    assert!(
        !bytes.windows(9).any(|w| w == b"/memories"),
        "paths are sealed"
    );
    let mode = fs::metadata(&file).expect("there").permissions().mode();
    assert_eq!(mode & 0o077, 0);
    assert_eq!(report(&home, &[])["from"], 9);
    let mut bad = bytes.clone();
    bad[60] ^= 1;
    fs::write(&file, bad).expect("written");
    assert_eq!(report(&home, &[])["from"], 0, "as good as none");
}

/// An auditor, or who has left, can have every key of the store that the point is sealed under.
#[test]
fn a_point_that_somebody_else_made_with_the_keys_of_the_store_is_not_believed() {
    let home = home();
    let file = |state: &Path| {
        let mut places = fs::read_dir(state.join("agekeep/places")).expect("made");
        places
            .next()
            .expect("one")
            .expect("read")
            .path()
            .join("verified")
    };
    let mine = home.path().join(".local/state");
    let theirs = home.path().join("theirs");
    report(&home, &[]);
    assert_eq!(report(&home, &[])["from"], 9);
    let made = feed(
        {
            let mut verify = home.command(&["verify"]);
            verify.env("XDG_STATE_HOME", &theirs);
            verify
        },
        b"",
    );
    assert!(made.status.success(), "{}", stderr(&made));
    fs::copy(file(&theirs), file(&mine)).expect("copied");
    assert_eq!(report(&home, &[])["from"], 0, "as good as none");
    fs::copy(file(&theirs), file(&mine)).expect("copied");
    // The key of who made it is all that was wrong with it; nobody else can read that.
    let key = "agekeep/key";
    let found = fs::metadata(mine.join(key)).expect("there");
    assert_eq!(found.permissions().mode() & 0o777, 0o600);
    fs::copy(theirs.join(key), mine.join(key)).expect("copied");
    assert_eq!(report(&home, &[])["from"], 9);
    fs::remove_file(mine.join(key)).expect("there");
    assert_eq!(report(&home, &[])["from"], 0, "without the key all is read");
    assert_eq!(report(&home, &[])["from"], 9, "and a new one is made");
}

/// Whoever could name others in the first commit could make a store in their name.
#[test]
fn history_that_begins_with_more_signers_than_its_maker_is_refused() {
    let home = Home::with_store();
    let mut first = Forged::newest(&home);
    let line = stranger().public_key().to_openssh();
    let signers = format!(
        "{}other namespaces=\"git\" {}\n",
        stdout(&home.git(&["show", "main:signers"])),
        line.expect("text").trim_end()
    );
    let blob = write_object(&home, "blob", signers.as_bytes());
    let list = git(&home, &["ls-tree", "main"]);
    let lines = list.lines().filter(|line| !line.ends_with("\tsigners"));
    let others: String = lines.map(|line| format!("{line}\n")).collect();
    let tree = make_tree(&home, &format!("{others}100644 blob {blob}\tsigners\n"));
    first.set_tree(&tree);
    first.put(&home);
    assert_eq!(findings(&home, &["--full"]), ["signer"]);
    assert_eq!(findings(&home, &["--identity", "/nowhere"]), ["signer"]);
    // With a place to keep what is seen and without.
    for variable in ["USER", "HOME"] {
        let mut status = home.command(&["status"]);
        status.env_remove(variable);
        let output = status.output().expect("runs");
        assert_eq!(output.status.code(), Some(13), "{}", stderr(&output));
        let said = stderr(&output);
        assert!(said.contains("more signers than its maker"), "{said}");
    }
}

#[test]
fn what_is_new_is_read_and_what_is_old_is_not() {
    let home = home();
    assert_clean(&home, "before");
    let old = git(&home, &["rev-parse", "main~7"]);
    done(&home, &["view", "/memories/a.md"]);
    flip(&object_file(&home, &old), 25);
    assert_eq!(report(&home, &[])["findings"], json!([]));
    assert_eq!(findings(&home, &["--full"]), ["object-damaged"]);
    // A ring that was changed is not new history, and is seen all the same.
    let ring = home.store().join("keyring/ring");
    let mut bytes = fs::read(&ring).expect("there");
    bytes[128 + 50] ^= 1;
    fs::write(&ring, bytes).expect("written");
    assert_eq!(findings(&home, &[]), ["key-damaged"]);
    let home = self::home();
    assert_clean(&home, "before");
    let mut next = Forged::next(&home, "view");
    next.record["event"] = 12.into();
    next.put(&home);
    let report = report(&home, &[]);
    assert_eq!(report["from"], 9);
    assert_eq!(report["findings"][0]["id"], "event-number");
    assert_eq!(report["findings"][0]["event"], 9);
}

/// Runs a program with the folder before it mounted for reading only.
const READ_ONLY: &str = "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\" && shift && \
                         exec \"$@\"";

#[test]
fn a_store_that_cannot_be_written_is_verified() {
    let home = home();
    let mounted = |args: &[&str]| {
        let program = home.command(args);
        let mut command = std::process::Command::new(crate::support::program("unshare"));
        command.args(["-rm", "sh", "-c", READ_ONLY, "sh"]);
        command.arg(home.store()).arg(program.get_program());
        command
            .args(args)
            .env_clear()
            .env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin");
        let set = program.get_envs();
        command.envs(set.filter_map(|(name, value)| Some((name, value?))));
        command.output().expect("unshare runs")
    };
    let refused = mounted(&["create", "/memories/x", "--text", "x"]);
    if refused.status.code() != Some(16) {
        eprintln!("\n*** NOT TESTED: nothing can be mounted for reading only here ***\n");
        return;
    }
    let output = mounted(&["verify", "--full"]);
    assert!(
        output.status.success(),
        "{}{}",
        stdout(&output),
        stderr(&output)
    );
    let again = mounted(&["verify"]);
    assert!(
        stdout(&again).contains("the 9 before"),
        "{}",
        stdout(&again)
    );
}

// ---- what a person reads ----

fn said(output: &Output) -> String {
    stdout(output)
}

#[test]
fn findings_are_lines_with_their_place_and_no_content() {
    let home = home();
    Forged {
        chain: format!("sha256:{}", "0".repeat(64)),
        ..Forged::newest(&home)
    }
    .put(&home);
    let commit = git(&home, &["rev-parse", "main"]);
    let output = home.run(&["verify"]);
    assert_eq!(output.status.code(), Some(13));
    let text = said(&output);
    let line = format!("chain  event 8 commit {}: its Chain trailer", &commit[..12]);
    assert!(text.starts_with(&line), "{text}");
    assert!(
        text.contains("\nhint: ") && text.ends_with("1 finding in 9 events\n"),
        "{text}"
    );
    assert!(!text.contains("a.md") && !text.contains("four"), "{text}");
    assert!(
        stderr(&output).contains("there is no journal"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn no_bar_where_there_is_no_terminal() {
    let home = home();
    let mut command = home.command(&["verify", "--full"]);
    let output = command.stdin(Stdio::null()).output().expect("runs");
    assert_eq!(stderr(&output), "");
}
