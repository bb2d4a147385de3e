//! Every version opens the stores of all format versions, and their bytes are what `docs/format.md` says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::str::FromStr;

use crate::support::{Home, json_lines, stderr, stdout};
use age::x25519;
use base64ct::{Base64Unpadded, Encoding};
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use hmac::{Hmac, Mac};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

// ---- the vectors ----

/// A format version, and the vectors of it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Vectors(u64);

const ALL: [Vectors; 2] = [Vectors(1), Vectors(2)];
/// What is written today.
const NEWEST: Vectors = Vectors(2);

impl Vectors {
    fn file(self, name: &str) -> Vec<u8> {
        let folder = format!("fixtures/format-v{}", self.0);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        fs::read(path.join(name)).expect("a file of the vectors")
    }

    fn expected(self) -> Value {
        serde_json::from_slice(&self.file("expected.json")).expect("JSON")
    }

    /// A home folder with the store of the vectors and the keys to it.
    fn home(self) -> Home {
        let home = Home::empty();
        unpack(&self.file("store.tar"), home.path());
        let keys = home.identity();
        fs::create_dir_all(keys.parent().expect("a folder")).expect("made");
        write_private(&home.identity(), &self.file("TEST-ONLY-identity.txt"));
        write_private(&home.signing_key(), &self.file("TEST-ONLY-signing_key"));
        home
    }
}

fn home() -> Home {
    NEWEST.home()
}

fn write_private(path: &Path, bytes: &[u8]) {
    let mut options = fs::OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .expect("made");
    std::io::Write::write_all(&mut file, bytes).expect("written");
}

/// Unpacks a ustar archive of files and folders (POSIX.1-1988 pax(1), "ustar interchange format").
fn unpack(mut tar: &[u8], into: &Path) {
    while tar.len() >= 512 && tar[0] != 0 {
        let (header, rest) = tar.split_at(512);
        let text = |range: std::ops::Range<usize>| {
            let field = header[range].split(|b| *b == 0).next().unwrap_or_default();
            std::str::from_utf8(field).expect("ASCII").trim().to_owned()
        };
        let octal = |range| u32::from_str_radix(&text(range), 8).expect("octal");
        let (path, size) = (into.join(text(0..100)), octal(124..136) as usize);
        match header[156] {
            b'5' => fs::create_dir_all(&path).expect("made"),
            b'0' => fs::write(&path, &rest[..size]).expect("written"),
            kind => panic!("entry of type {kind}"),
        }
        let mode = fs::Permissions::from_mode(octal(100..108));
        fs::set_permissions(&path, mode).expect("set");
        tar = &rest[size.next_multiple_of(512)..];
    }
}

/// Whether `actual` has everything `expected` has; later versions may say more.
fn assert_says(actual: &Value, expected: &Value, place: &str) {
    match (actual, expected) {
        (Value::Object(actual), Value::Object(expected)) => {
            for (name, value) in expected {
                let found = actual.get(name).unwrap_or(&Value::Null);
                assert_says(found, value, &format!("{place}.{name}"));
            }
        }
        (Value::Array(actual), Value::Array(expected)) => {
            assert_eq!(actual.len(), expected.len(), "{place}");
            for (index, value) in expected.iter().enumerate() {
                assert_says(&actual[index], value, &format!("{place}[{index}]"));
            }
        }
        _ => assert_eq!(actual, expected, "{place}"),
    }
}

// ---- a second implementation, as small as docs/format.md allows ----

/// The store of the vectors as this file's own decoder reads it.
struct Decoded {
    vectors: Vectors,
    home: Home,
    epoch: Value,
    audit: Value,
    store: [u8; 16],
}

/// A commit taken apart.
struct Commit {
    id: String,
    bytes: Vec<u8>,
    tree: String,
    subject: String,
    record: Value,
    record_bytes: usize,
    trailers: Vec<String>,
}

fn decode(vectors: Vectors) -> Decoded {
    decode_home(vectors, vectors.home())
}

fn decode_home(vectors: Vectors, home: Home) -> Decoded {
    let identity = vectors.file("TEST-ONLY-identity.txt");
    let identity = String::from_utf8(identity).expect("text");
    let identity = identity.lines().last().expect("a key").to_owned();
    let open = |name: &str| {
        let sealed = fs::read(home.store().join("keyring").join(name)).expect("there");
        serde_json::from_slice::<Value>(&open_age(&sealed, &identity)).expect("JSON")
    };
    let (epoch, audit) = (open("epoch.age"), open("audit.age"));
    let store = unhex(str_of(&epoch["store"])).try_into().expect("16 bytes");
    Decoded {
        vectors,
        home,
        epoch,
        audit,
        store,
    }
}

fn open_age(sealed: &[u8], identity: &str) -> Vec<u8> {
    let identity = x25519::Identity::from_str(identity).expect("an identity");
    let armored = age::armor::ArmoredReader::new(sealed);
    let decryptor = age::Decryptor::new_buffered(std::io::BufReader::new(armored)).expect("age");
    let mut plain = Vec::new();
    decryptor
        .decrypt(std::iter::once(&identity as &dyn age::Identity))
        .expect("its key")
        .read_to_end(&mut plain)
        .expect("whole");
    plain
}

fn seal_age(plain: &[u8], recipient: &str) -> Vec<u8> {
    let recipient = x25519::Recipient::from_str(recipient).expect("a recipient");
    age::encrypt(&recipient, plain).expect("sealed")
}

fn open_aead(key: &[u8], associated: &[&[u8]], sealed: &[u8]) -> Option<Vec<u8>> {
    let cipher = XChaCha20Poly1305::new_from_slice(key).expect("32 bytes");
    let payload = Payload {
        msg: &sealed[24..],
        aad: &associated.concat(),
    };
    cipher
        .decrypt(XNonce::from_slice(&sealed[..24]), payload)
        .ok()
}

fn str_of(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

fn unbase64(value: &Value) -> Vec<u8> {
    Base64Unpadded::decode_vec(str_of(value)).expect("unpadded base64")
}

fn unhex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks_exact(2);
    let byte = |pair: &[u8]| {
        u8::from_str_radix(std::str::from_utf8(pair).expect("ASCII"), 16).expect("hex")
    };
    digits.map(byte).collect()
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut out, b| {
        write!(out, "{b:02x}").expect("a string");
        out
    })
}

fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect()
}

/// PADMÉ in 64-bit integers, as docs/format.md words it.
fn padme(length: u64, min: u64) -> u64 {
    let length = length.max(min);
    let e = 63 - u64::from(length.leading_zeros());
    let s = 64 - u64::from(e.leading_zeros());
    let low = (1u64 << (e - s)) - 1;
    (length + low) & !low
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"))
}

fn u32_at(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes")) as usize
}

impl Decoded {
    fn file(&self, name: &str) -> Vec<u8> {
        fs::read(self.home.store().join(name)).expect("a file of the store")
    }

    /// An object from wherever git keeps it.
    fn object(&self, id: &str) -> Vec<u8> {
        let repository = git2::Repository::open_bare(self.home.store()).expect("a repository");
        let id = git2::Oid::from_str(id).expect("an id");
        let odb = repository.odb().expect("objects");
        odb.read(id).expect("an object").data().to_vec()
    }

    /// Opens `ring` or `names`: memory id → secret.
    fn table(&self, name: &str) -> BTreeMap<String, Vec<u8>> {
        let (magic, key, number, secret) = match name {
            "ring" => (
                "agekeep-ring-",
                &self.epoch["key"],
                &self.epoch["epoch"],
                74,
            ),
            _ => (
                "agekeep-name-",
                &self.audit["names_key"],
                &self.audit["epoch"],
                32,
            ),
        };
        let bytes = self.file(&format!("keyring/{name}"));
        let version = std::str::from_utf8(&bytes[13..16]).expect("digits");
        assert_eq!(bytes[..13], *magic.as_bytes());
        let (header, entries) = bytes.split_at(if version == "001" { 64 } else { 128 });
        let key = unbase64(key);
        let epoch = number.as_u64().expect("a number").to_le_bytes();
        assert_eq!(header[16..32], self.store);
        assert_eq!(header[32..40], epoch);
        assert!(u64_at(header, 40) >= 1);
        assert!(header[56..header.len().min(88)].iter().all(|b| *b == 0));
        if version == "002" {
            let label = format!("agekeep/2 {name} header ");
            let sealed = open_aead(&key, &[label.as_bytes(), &header[..88]], &header[88..]);
            assert_eq!(sealed, Some(Vec::new()));
        }
        let size = 16 + 24 + secret + 16;
        assert_eq!(entries.len() % size, 0);
        let open = |(slot, entry): (u64, &[u8])| {
            let (id, sealed) = entry.split_at(16);
            let plain = if version == "001" {
                let label = format!("agekeep/1 {name} ");
                open_aead(&key, &[label.as_bytes(), &self.store, &epoch, id], sealed)
            } else {
                let (label, slot) = (format!("agekeep/2 {name} "), slot.to_le_bytes());
                open_aead(&key, &[label.as_bytes(), header, &slot, id], sealed)
            };
            let plain = plain.expect("opens");
            assert_eq!(plain.len(), secret);
            (hex(id), plain)
        };
        (0..).zip(entries.chunks_exact(size)).map(open).collect()
    }

    fn path(&self, names: &BTreeMap<String, Vec<u8>>, id: &str, sealed: &Value) -> String {
        let associated = [b"agekeep/1 path ".as_slice(), &self.store, &unhex(id)];
        let plain = open_aead(&names[id], &associated, &unbase64(sealed)).expect("opens");
        assert_eq!(plain.len() % 32, 0);
        let path = String::from_utf8(plain).expect("UTF-8");
        path.trim_end_matches('\0').to_owned()
    }

    /// Every commit, oldest first, with its record opened.
    fn commits(&self) -> Vec<Commit> {
        let mut next = Some(
            String::from_utf8(self.file("refs/heads/main"))
                .expect("text")
                .trim()
                .to_owned(),
        );
        let mut commits = Vec::new();
        while let Some(id) = next {
            let bytes = self.object(&id);
            let text = String::from_utf8(bytes.clone()).expect("UTF-8");
            let (headers, message) = text.split_once("\n\n").expect("a message");
            let header = |name: &str| {
                let line = headers.lines().find(|line| line.starts_with(name));
                line.map(|line| line[name.len()..].to_owned())
            };
            let parts: Vec<&str> = message.split("\n\n").collect();
            let [subject, armored, trailers] = parts[..] else {
                panic!("{message}");
            };
            let plain = open_age(armored.as_bytes(), str_of(&self.audit["identities"][0]));
            next = header("parent ");
            commits.push(Commit {
                id,
                tree: header("tree ").expect("a tree"),
                subject: subject.to_owned(),
                record: serde_json::from_slice(&plain).expect("JSON"),
                record_bytes: plain.len(),
                trailers: trailers.lines().map(str::to_owned).collect(),
                bytes,
            });
        }
        commits.reverse();
        commits
    }

    /// The memories in a tree: id → blob.
    fn tree(&self, id: &str) -> BTreeMap<String, String> {
        let entries = |id: &str| {
            let (bytes, mut at, mut found) = (self.object(id), 0, Vec::new());
            while at < bytes.len() {
                let nul = at + bytes[at..].iter().position(|b| *b == 0).expect("a name");
                let head = std::str::from_utf8(&bytes[at..nul]).expect("ASCII");
                let (mode, name) = head.split_once(' ').expect("a mode");
                found.push((
                    mode.to_owned(),
                    name.to_owned(),
                    hex(&bytes[nul + 1..nul + 21]),
                ));
                at = nul + 21;
            }
            found
        };
        let mut memories = BTreeMap::new();
        let mut files = Vec::new();
        for (mode, name, id) in entries(id) {
            if mode == "100644" {
                files.push(name);
                continue;
            }
            assert_eq!((mode.as_str(), name.len()), ("40000", 2));
            for (mode, memory, blob) in entries(&id) {
                assert_eq!(mode, "100644");
                assert!(memory.starts_with(&name) && memory.len() == 32);
                memories.insert(memory, blob);
            }
        }
        assert_eq!(files, ["agekeep.toml", "recipients", "signers"]);
        memories
    }
}

// ---- tests ----

#[test]
fn every_version_reads_the_stores_of_all_before() {
    for vectors in ALL {
        reads_the_store(&vectors.home(), &vectors.expected());
    }
}

fn reads_the_store(home: &Home, expected: &Value) {
    let list = stdout(&home.run(&["read"]));
    let listing: Vec<&str> = list.lines().collect();
    assert_says(&json!(listing), &expected["listing"], "listing");
    for memory in expected["memories"].as_array().expect("a list") {
        let read = home.run(&["--json", "read", str_of(&memory["path"])]);
        let answer = &json_lines(&read.stdout)[0];
        let text = str_of(&answer["content"]);
        assert_eq!(sha256(text.as_bytes()), str_of(&memory["sha256"]));
        if let Some(expected) = memory["text"].as_str() {
            assert_eq!(text, expected);
        }
        let mut facts = memory.clone();
        facts.as_object_mut().expect("an object").remove("text");
        assert_says(&answer["meta"], &facts, "meta");
    }
}

#[test]
fn every_version_reads_the_histories_of_all_before() {
    for vectors in ALL {
        let (home, expected) = (vectors.home(), vectors.expected());
        let status = &json_lines(&home.run(&["--json", "status"]).stdout)[0];
        assert_eq!(status["id"], expected["store"]);
        assert_eq!(status["head"], expected["head"]);
        assert_eq!(status["versions"], expected["versions"]);
        let mut log = json_lines(&home.run(&["--json", "log"]).stdout);
        log.reverse();
        log.truncate(expected["events"].as_array().expect("a list").len());
        assert_says(&json!(log), &expected["events"], "events");
    }
}

#[test]
fn a_store_of_version_1_is_moved_on_by_the_first_command_and_keeps_all_it_had() {
    let home = Vectors(1).home();
    let expected = Vectors(1).expected();
    let path = "/memories/notes.md";
    let edit = home.run(&["str-replace", path, "--old", "2nd", "--new", "third"]);
    assert!(edit.status.success(), "{}", stderr(&edit));
    assert_eq!(
        stdout(&home.run(&["read", "notes.md"])),
        "# Notes\nfirst line\nthird line\n"
    );
    let log = json_lines(&home.run(&["--json", "log"]).stdout);
    let upgrades = log.iter().filter(|event| event["command"] == "upgrade");
    let upgrades: Vec<&Value> = upgrades.collect();
    let before = expected["events"].as_array().expect("a list").len();
    assert_eq!(upgrades.len(), 1);
    assert_eq!(upgrades[0]["event"], json!(before));
    let policy = stdout(&home.git(&["show", "main:agekeep.toml"]));
    assert!(policy.starts_with("format = 2\n"), "{policy}");
    let old = home.run(&["view", path, "--at", &format!("{}", before - 1)]);
    assert!(stdout(&old).contains("2nd"), "{}", stderr(&old));
    let verified = home.run(&["verify", "--full"]);
    // The vectors were made with configuration of another day; nothing else is to be said.
    let said = stdout(&verified);
    assert!(
        !said.contains("keyring") && !said.contains("memory-"),
        "{said}"
    );
    let store = decode_home(Vectors(1), home);
    assert_eq!(
        (store.table("ring").len(), store.table("names").len()),
        (6, 6)
    );
}

/// Who reads and may not sign looks at a store of version 1 as it is.
#[test]
fn a_store_of_version_1_is_read_by_who_cannot_move_it_on() {
    let home = Vectors(1).home();
    fs::remove_file(home.signing_key()).expect("there");
    drop(fs::remove_file(home.signing_key().with_extension("pub")));
    let status = home.run(&["--json", "status"]);
    assert!(status.status.success(), "{}", stderr(&status));
    let policy = stdout(&home.git(&["show", "main:agekeep.toml"]));
    assert!(policy.starts_with("format = 1\n"), "{policy}");
}

#[test]
fn the_catalog_is_made_again_from_history() {
    let home = home();
    let expected = NEWEST.expected();
    fs::remove_file(home.store().join("catalog")).expect("there");
    let list = stdout(&home.run(&["read"]));
    let listing: Vec<&str> = list.lines().collect();
    assert_says(&json!(listing), &expected["listing"], "listing");
    assert!(home.store().join("catalog").is_file());
}

#[test]
fn the_keyring_is_as_documented() {
    for vectors in ALL {
        check_keyring(&decode(vectors));
    }
}

fn check_keyring(store: &Decoded) {
    let version = store.vectors.0;
    assert_eq!(keys(&store.epoch), ["agekeep", "store", "epoch", "key"]);
    let of_audit = [
        "agekeep",
        "store",
        "epoch",
        "identities",
        "names_key",
        "replica",
    ];
    let many = if version == 1 { 5 } else { 6 };
    assert_eq!(keys(&store.audit), of_audit[..many]);
    for file in [&store.epoch, &store.audit] {
        assert_eq!(file["agekeep"], json!(version));
        assert_eq!(file["epoch"], json!(1));
        assert_eq!(file["store"], store.vectors.expected()["store"]);
    }
    assert_eq!(unbase64(&store.epoch["key"]).len(), 32);
    let (ring, names) = (store.table("ring"), store.table("names"));
    let touched: BTreeSet<String> = store
        .commits()
        .iter()
        .filter_map(|commit| commit.record["memories"].as_array().cloned())
        .flatten()
        .map(|touch| str_of(&touch["id"]).to_owned())
        .collect();
    // A deleted memory keeps its keys: only erasing takes them away.
    assert!(ring.keys().eq(&touched) && names.keys().eq(&touched));
    for identity in ring.values() {
        let text = std::str::from_utf8(identity).expect("ASCII");
        assert!(text.starts_with("AGE-SECRET-KEY-1"));
        x25519::Identity::from_str(text).expect("an identity");
    }
}

#[test]
fn a_version_is_as_documented() {
    for vectors in ALL {
        let memories = vectors.expected()["memories"].clone();
        check_versions(&decode(vectors), memories.as_array().expect("a list"));
    }
}

fn check_versions(store: &Decoded, memories: &[Value]) {
    let ring = store.table("ring");
    let head = store.commits().pop().expect("a commit");
    let tree = store.tree(&head.tree);
    assert_eq!(tree.len(), memories.len());
    for memory in memories {
        let id = str_of(&memory["memory"]);
        let sealed = store.object(&tree[id]);
        assert!(sealed.starts_with(b"age-encryption.org/v1\n-> X25519 "));
        let identity = String::from_utf8(ring[id].clone()).expect("ASCII");
        check_version(&open_age(&sealed, &identity), memory);
    }
}

fn check_version(plain: &[u8], memory: &Value) {
    let end = plain.iter().position(|b| *b == b'\n').expect("a line");
    let header: Value = serde_json::from_slice(&plain[..end]).expect("JSON");
    assert_eq!(keys(&header), ["agekeep", "id", "path", "version", "pad"]);
    assert_eq!(header["agekeep"], 1);
    assert_eq!(header["id"], memory["memory"]);
    assert_eq!(header["path"], memory["path"]);
    assert_eq!(header["version"], memory["version"]);
    let pad = str_of(&header["pad"]);
    assert!(pad.bytes().all(|b| b == b' '));
    assert_eq!(sha256(&plain[end + 1..]), str_of(&memory["sha256"]));
    let (whole, bare) = (plain.len() as u64, (plain.len() - pad.len()) as u64);
    assert_eq!(whole, padme(bare, 256));
}

/// The vectors say what was written once; this says that the same is written still.
#[test]
fn what_is_written_today_is_as_documented() {
    let home = home();
    let text = "words and more words\n".repeat(60);
    let calls = [
        json!({"command": "delete", "path": "/memories/archive"}),
        json!({"command": "create", "path": "/memories/short", "file_text": "x"}),
        json!({"command": "create", "path": "/memories/d/long", "file_text": text}),
        json!({"command": "insert", "path": "/memories/short", "insert_line": 0, "insert_text": "y"}),
        json!({"command": "rename", "old_path": "/memories/d", "new_path": "/memories/e"}),
        json!({"command": "view", "path": "/memories/none"}),
        json!({"command": "view", "path": "/memories/e/long"}),
    ];
    let lines: Vec<String> = calls.iter().map(|call| call.to_string() + "\n").collect();
    home.tool(&lines.concat());
    let list = stdout(&home.run(&["read"]));
    let facts =
        |path: &str| json_lines(&home.run(&["--json", "read", path]).stdout)[0]["meta"].clone();
    let memories: Vec<Value> = list.lines().map(facts).collect();
    assert_eq!(memories.len(), 6);
    let mut events = json_lines(&home.run(&["--json", "log"]).stdout);
    events.reverse();
    let store = decode_home(NEWEST, home);
    check_versions(&store, &memories);
    check_commits(&store, &events);
    check_journal(&store);
}

#[test]
fn a_commit_and_its_record_are_as_documented() {
    for vectors in ALL {
        let events = vectors.expected()["events"].clone();
        check_commits(&decode(vectors), events.as_array().expect("a list"));
    }
}

#[test]
fn the_first_record_of_a_store_for_trials_says_so() {
    let home = Home::empty();
    fs::create_dir_all(home.identity().parent().expect("a folder")).expect("made");
    write_private(&home.identity(), &NEWEST.file("TEST-ONLY-identity.txt"));
    assert!(home.run(&["init", "--trial"]).status.success());
    assert!(home.run(&["write", "a.md", "--text", "x"]).status.success());
    let commits = decode_home(NEWEST, home).commits();
    assert_eq!(commits[0].record["trial"], true);
    assert!(commits[1].record.get("trial").is_none());
    // No store of before there were any is one.
    for vectors in ALL {
        let home = vectors.home();
        let status = json_lines(&home.run(&["status", "--json"]).stdout).remove(0);
        assert_eq!(status["trial"], false);
    }
}

/// The keys that the first event names are those in the keyring, by the words of docs/format.md.
#[test]
fn the_keys_in_force_are_as_documented() {
    let store = decode(NEWEST);
    let commits = store.commits();
    let named: Vec<&Value> = commits
        .iter()
        .filter_map(|c| c.record.get("keys"))
        .collect();
    assert_eq!(named.len(), 1, "of init alone");
    let keys = named[0];
    let hmac = |key: &Value, label: &str| {
        let mut mac = <Hmac<Sha256> as Mac>::new_from_slice(&unbase64(key)).expect("any length");
        mac.update(&(label.len() as u64).to_le_bytes());
        mac.update(label.as_bytes());
        mac.finalize().into_bytes().to_vec()
    };
    let seed = hmac(&store.epoch["key"], "agekeep/2 epoch authority");
    let authority = ed25519_dalek::SigningKey::from_bytes(&seed.try_into().expect("32 bytes"));
    let mark = authority.verifying_key().to_bytes();
    assert_eq!(keys["epoch"][0], store.epoch["epoch"]);
    assert_eq!(unbase64(&keys["epoch"][1]), mark);
    assert_eq!(keys["names"][0], store.audit["epoch"]);
    let of_names_key = hmac(&store.audit["names_key"], "agekeep/2 names commitment");
    assert_eq!(keys["names"][1], json!(hex(&of_names_key)));
    let identities = store.audit["identities"].as_array().expect("a list");
    let public: Vec<String> = identities
        .iter()
        .map(|text| x25519::Identity::from_str(str_of(text)).expect("one"))
        .map(|identity| identity.to_public().to_string())
        .collect();
    let said = format!("agekeep/2 audit commitment {}", public.join("\n"));
    assert_eq!(keys["audit"], json!(sha256(said.as_bytes())));
    assert_eq!(
        (&keys["entries"], keys.get("proof")),
        (&json!([0, 0]), None)
    );
}

fn check_commits(store: &Decoded, events: &[Value]) {
    let names = store.table("names");
    let mut chain = None;
    let commits = store.commits();
    assert_eq!(commits.len(), events.len());
    for (commit, event) in commits.iter().zip(events) {
        let event = &without_nulls(event);
        let record = &commit.record;
        let words = [str_of(&event["command"]), str_of(&event["outcome"])];
        assert_eq!(commit.subject, words.join(" "));
        assert_eq!(json!(commit.id), event["commit"]);
        assert_eq!(record["agekeep"], store.vectors.0);
        let replica = (store.vectors.0 > 1).then_some(&store.audit["replica"]);
        assert_eq!(record.get("replica"), replica);
        assert_eq!(record["tree"], json!(commit.tree));
        assert_eq!(
            record.get("parent"),
            chain.clone().map(Value::String).as_ref()
        );
        for name in [
            "event",
            "time",
            "command",
            "outcome",
            "error",
            "door",
            "actor",
            "session",
            "tool_use_id",
            "client",
            "trace",
            "reason",
            "clock_behind_ms",
        ] {
            assert_eq!(record.get(name), event.get(name), "{name}");
        }
        for name in ["path", "new_path"] {
            let place = record.get(name).map(|place| match place {
                Value::String(root) if root == "root" => "/memories".to_owned(),
                place if place.get("asked").is_some() => str_of(&place["asked"]).to_owned(),
                place => store.path(&names, str_of(&place["of"][0]), &place["of"][1]),
            });
            assert_eq!(place.as_deref(), event.get(name).map(str_of), "{name}");
        }
        let bare = serde_json::to_vec(record).expect("JSON").len() as u64;
        assert_eq!(commit.record_bytes as u64, padme(bare, 512));
        let touches = record["memories"].as_array().cloned().unwrap_or_default();
        let read: Vec<Value> = touches.iter().map(|t| touch_of(store, &names, t)).collect();
        assert_eq!(json!(read), event["memories"]);
        let mut trailers: Vec<String> = touches
            .iter()
            .map(|touch| format!("Memory: {}", str_of(&touch["id"])))
            .collect();
        trailers.push(chain.map_or("Chain: none".into(), |c| format!("Chain: sha256:{c}")));
        assert_eq!(commit.trailers, trailers);
        chain = Some(sha256(&commit.bytes));
    }
}

/// An event as expected.json has it.
fn without_nulls(event: &Value) -> Value {
    match event {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(_, value)| !value.is_null());
            let kept = kept.map(|(name, value)| (name.clone(), without_nulls(value)));
            Value::Object(kept.collect())
        }
        Value::Array(list) => list.iter().map(without_nulls).collect(),
        value => value.clone(),
    }
}

/// A touch in the words of `log --json`; checks the digest of what it wrote.
fn touch_of(store: &Decoded, names: &BTreeMap<String, Vec<u8>>, touch: &Value) -> Value {
    let id = str_of(&touch["id"]);
    let path = store.path(names, id, &touch["path"]);
    let mut seen = json!({
        "memory": id, "change": touch["change"], "path": path,
        "version": touch["version"], "bytes": touch["bytes"],
    });
    if let Some(blob) = touch.get("blob") {
        assert_eq!(
            sha256(&store.object(str_of(blob))),
            str_of(&touch["sha256"])
        );
        seen["blob"] = blob.clone();
        seen["sealed_sha256"] = touch["sha256"].clone();
    }
    seen
}

#[test]
fn the_journal_is_as_documented() {
    for vectors in ALL {
        let store = decode(vectors);
        assert_eq!(check_journal(&store), store.commits().len() - 1);
    }
}

/// Checks a journal; how many records it has.
fn check_journal(store: &Decoded) -> usize {
    let journal = store.file("journal");
    let commits = store.commits();
    assert_eq!(journal[..16], b"agekeep-journal1"[..]);
    assert_eq!(journal[96..128], Sha256::digest(&journal[..96])[..]);
    let (salt, mut parent) = (&journal[16..32], hex(&journal[32..52]));
    let base = commits.iter().position(|commit| commit.id == parent);
    let base = base.expect("a commit");
    let added = |commit: &Commit| {
        let touches = commit.record["memories"].as_array().cloned();
        let touches = touches.unwrap_or_default();
        touches.iter().filter(|t| t["change"] == "add").count()
    };
    let before = commits[..=base].iter().map(added).sum();
    assert!(journal[88..96].iter().all(|b| *b == 0));
    let (mut at, mut slots) = (128, [before; 2]);
    let mut rest = &commits[base + 1..];
    while !rest.is_empty() {
        let length = u32_at(&journal, at);
        let payload = &journal[at + 36..at + 36 + length];
        let sum = Sha256::new()
            .chain_update(salt)
            .chain_update((at as u64).to_le_bytes())
            .chain_update(payload)
            .finalize();
        assert_eq!(journal[at + 4..at + 36], sum[..]);
        assert_eq!(hex(&payload[..20]), parent);
        // Of one command, or of several that waited together.
        let head = hex(&payload[20..40]);
        let last = rest.iter().position(|commit| commit.id == head);
        let (of_it, behind) = rest.split_at(last.expect("a commit") + 1);
        let (commits, keys) = journal_objects(store, payload);
        assert!(commits.iter().eq(of_it.iter().map(|commit| &commit.id)));
        journal_keys(store, &payload[keys..], &mut slots);
        (parent, rest) = (head, behind);
        at += 36 + length;
    }
    assert!(journal[at..].iter().all(|b| *b == 0));
    assert_eq!(journal.len() % (256 * 1024), 0);
    assert_eq!(
        slots,
        [store.table("ring").len(), store.table("names").len()]
    );
    commits.len() - 1 - base
}

/// Checks the objects of a record: the commits among them, and where its key entries begin.
fn journal_objects(store: &Decoded, payload: &[u8]) -> (Vec<String>, usize) {
    let (mut at, mut commits) = (44, Vec::new());
    for _ in 0..u32_at(payload, 40) {
        assert!(b"btc".contains(&payload[at]));
        if payload[at] == b'c' {
            commits.push(hex(&payload[at + 1..at + 21]));
        }
        let (id, length) = (hex(&payload[at + 1..at + 21]), u32_at(payload, at + 21));
        assert_eq!(store.object(&id), payload[at + 25..at + 25 + length]);
        at += 25 + length;
    }
    (commits, at)
}

fn journal_keys(store: &Decoded, bytes: &[u8], slots: &mut [usize; 2]) {
    let mut at = 4;
    for _ in 0..u32_at(bytes, 0) {
        let (table, slot, length) = (
            usize::from(bytes[at]),
            u32_at(bytes, at + 1),
            u32_at(bytes, at + 5),
        );
        assert_eq!((slot, length), (slots[table], [130, 88][table]));
        let file = store.file(["keyring/ring", "keyring/names"][table]);
        let entry = &bytes[at + 9..at + 9 + length];
        let header = if file[13..16] == *b"001" { 64 } else { 128 };
        assert_eq!(entry, &file[header + slot * length..][..length]);
        slots[table] += 1;
        at += 9 + length;
    }
    assert_eq!(at, bytes.len());
}

#[test]
fn the_catalog_is_as_documented() {
    let store = decode(NEWEST);
    // The first makes it anew.
    fs::remove_file(store.home.store().join("catalog")).expect("there");
    for _ in 0..2 {
        assert!(store.home.run(&["read"]).status.success());
    }
    let file = store.file("catalog");
    assert_eq!(file[..16], b"agekeep-catalog6"[..]);
    assert_eq!(file[16..32], store.store);
    let epoch_key = unbase64(&store.epoch["key"]);
    let mut key = <Hmac<Sha256> as Mac>::new_from_slice(&epoch_key).expect("any length");
    key.update(&19u64.to_le_bytes());
    key.update(b"agekeep/2 cache key");
    let key = key.finalize().into_bytes();
    let (file_id, line_id) = (&file[32..48], &file[48..64]);
    let root = usize::try_from(u64_at(&file, 64)).expect("small");
    let place = |at: usize| (at as u64).to_le_bytes();
    let opens = |at: usize, label: &[u8], bound: &[&[u8]], from: usize| {
        let end = at + 4 + u32_at(&file, at);
        let associated = [&[label, &store.store], bound].concat();
        open_aead(&key, &associated, &file[at + from..end]).expect("opens");
        end
    };
    // In a new file leaves stand before the root: one by path and one by id.
    let mut at = 80;
    for _ in 0..2 {
        let id = &file[at + 4..at + 12];
        at = opens(at, b"agekeep/1 catalog leaf ", &[line_id, id], 12);
    }
    assert_eq!((at, u64_at(&file, 72)), (root, 0));
    let bound = [file_id, line_id, &place(root)];
    at = opens(root, b"agekeep/1 catalog root ", &bound, 4);
    // What is inside is a copy of what history says, in a form of this program's own: a state, and
    // what each event after it made of that.
    let mut steps = 0;
    while at < file.len() {
        let bound = [file_id, &place(root), &place(steps)];
        at = opens(at, b"agekeep/1 catalog step ", &bound, 4);
        steps += 1;
    }
    assert!((1..store.commits().len()).contains(&steps));
}

// ---- versions that are not known ----

fn assert_unknown_format(home: &Home, what: &str) {
    let output = home.run(&["--json", "status"]);
    let text = stderr(&output);
    let error: Value = serde_json::from_str(text.trim()).unwrap_or_else(|e| panic!("{e}: {text}"));
    assert_eq!(error["error"]["code"], "unknown_format", "{what}: {text}");
    assert_eq!(output.status.code(), Some(1), "{what}");
}

fn patch(home: &Home, file: &str, at: usize, bytes: &[u8]) {
    let path = home.store().join(file);
    let mut all = fs::read(&path).expect("there");
    all[at..at + bytes.len()].copy_from_slice(bytes);
    fs::write(path, all).expect("written");
}

#[test]
fn a_table_of_another_format_version_is_its_own_error() {
    for (file, version) in [("keyring/ring", "003"), ("keyring/names", "-02")] {
        let home = home();
        patch(&home, file, 13, version.as_bytes());
        assert_unknown_format(&home, file);
    }
}

#[test]
fn a_file_that_is_no_table_is_damage() {
    let home = home();
    patch(&home, "keyring/ring", 0, b"AGEKEEP-ring-002");
    assert_eq!(home.run(&["status"]).status.code(), Some(13));
}

fn reseal(home: &Home, file: &str, change: impl Fn(&mut Value)) {
    let identity = String::from_utf8(NEWEST.file("TEST-ONLY-identity.txt")).expect("text");
    let mut lines = identity.lines();
    let recipient = lines
        .next()
        .expect("a comment")
        .replace("# public key: ", "");
    let path = home.store().join("keyring").join(file);
    let plain = open_age(
        &fs::read(&path).expect("there"),
        lines.next().expect("a key"),
    );
    let mut value: Value = serde_json::from_slice(&plain).expect("JSON");
    change(&mut value);
    let sealed = seal_age(value.to_string().as_bytes(), &recipient);
    fs::write(path, sealed).expect("written");
}

#[test]
fn a_key_file_of_another_format_version_is_its_own_error() {
    for file in ["epoch.age", "audit.age"] {
        let home = home();
        reseal(&home, file, |value| value["agekeep"] = json!(3));
        assert_unknown_format(&home, file);
    }
}

/// A later format has fields that this one does not know; the number must be looked at first.
#[test]
fn a_key_file_of_another_format_version_may_have_other_fields() {
    for file in ["epoch.age", "audit.age"] {
        let home = home();
        reseal(&home, file, |value| {
            value["agekeep"] = json!(3);
            value["generation"] = json!(7);
        });
        assert_unknown_format(&home, file);
    }
}

#[test]
fn a_key_file_with_an_unknown_field_is_damage() {
    let home = home();
    reseal(&home, "epoch.age", |value| value["generation"] = json!(7));
    assert_eq!(home.run(&["status"]).status.code(), Some(13));
}

#[test]
fn a_journal_of_another_format_version_is_its_own_error() {
    let home = home();
    patch(&home, "journal", 15, b"2");
    let header = fs::read(home.store().join("journal")).expect("there");
    patch(&home, "journal", 96, &Sha256::digest(&header[..96]));
    assert_unknown_format(&home, "journal");
}

/// The cache of another version is as good as none.
#[test]
fn a_catalog_of_another_format_version_is_made_again() {
    let home = home();
    patch(&home, "catalog", 15, b"9");
    assert_eq!(stdout(&home.run(&["read"])).lines().count(), 5);
    let catalog = fs::read(home.store().join("catalog")).expect("there");
    assert_eq!(catalog[..16], b"agekeep-catalog6"[..]);
}

// ---- recovery ----

/// Puts the store back to the moment after a command's record was durable in the journal and
/// before anything else was written.
fn crash_after_the_journal(home: &Home, command: &[&str]) {
    let files = [
        "refs/heads/main",
        "keyring/ring",
        "keyring/names",
        "catalog",
    ];
    let paths = files.map(|file| home.store().join(file));
    let before = paths.clone().map(|path| fs::read(path).expect("there"));
    assert!(home.run(command).status.success());
    for (path, bytes) in paths.iter().zip(before) {
        fs::write(path, bytes).expect("written");
    }
}

#[test]
fn what_is_only_in_the_journal_is_brought_to_its_place() {
    let home = home();
    assert!(home.run(&["status"]).status.success());
    crash_after_the_journal(&home, &["write", "late.md", "--text", "late"]);
    let read = home.run(&["read", "late.md"]);
    assert_eq!(stdout(&read), "late", "{}", stderr(&read));
}

/// The ref must not say that all is done before the keys are written: whoever opens the store
/// with the wrong identity in between would lose them.
#[test]
fn a_failed_open_does_not_lose_what_is_only_in_the_journal() {
    let home = home();
    assert!(home.run(&["status"]).status.success());
    crash_after_the_journal(&home, &["write", "late.md", "--text", "late"]);
    let wrong = home.path().join("wrong.txt");
    let other = agekeep::store::Identity::generate().to_file();
    write_private(&wrong, other.as_bytes());
    let refused = home.run(&["--identity", wrong.to_str().expect("UTF-8"), "status"]);
    assert_eq!(refused.status.code(), Some(12));
    let read = home.run(&["read", "late.md"]);
    assert_eq!(stdout(&read), "late", "{}", stderr(&read));
}

#[test]
fn a_long_reason_is_cut_in_every_event() {
    let home = Home::empty();
    let long = "r".repeat(3_000);
    assert!(home.run(&["init", "--reason", &long]).status.success());
    assert!(home.run(&["--reason", &long, "read"]).status.success());
    let expected = format!("{}… (3000 bytes)", "r".repeat(1_024));
    for event in json_lines(&home.run(&["--json", "log"]).stdout) {
        assert_eq!(event["reason"], json!(expected), "{}", event["command"]);
    }
}

/// A process that was idle while another went through a checkpoint and then stopped in the middle
/// of a command has to read the keyring before it applies what is left.
#[test]
fn a_long_lived_process_applies_what_another_left_in_a_new_journal() {
    let home = home();
    let keys = agekeep::store::Keys {
        identity: agekeep::crypto::keyfile::read_identity(&home.identity()).expect("a key"),
        signing_key: Some(
            agekeep::crypto::keyfile::read_signing_key(&home.signing_key()).expect("a key"),
        ),
        state: None,
        keyring: None,
    };
    let clock = Box::new(chrono::Utc::now);
    let mut mine = agekeep::store::Store::open(&home.store(), keys, clock).expect("opens");
    let base =
        |home: &Home| fs::read(home.store().join("journal")).expect("there")[32..52].to_vec();
    let before = base(&home);
    let big = "x".repeat(1_500_000);
    for name in ["1", "2", "3"] {
        assert!(home.run_with_input(&["write", name], &big).status.success());
    }
    assert_ne!(base(&home), before, "there was a checkpoint");
    crash_after_the_journal(&home, &["write", "late.md", "--text", "late"]);
    let read = agekeep::memory_tool::command::Command::Read {
        path: Some("late.md".into()),
    };
    let answer = mine.execute(&read, &agekeep::event::Context::default());
    assert_eq!(answer.expect("recorded").content.as_str(), "late");
}
