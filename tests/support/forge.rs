//! What somebody who holds the keys of a store could make of it: with stock git, age and
//! ssh-keygen, and code of its own written from docs/format.md.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command as Process;

use base64ct::{Base64Unpadded, Encoding};
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use hmac::{Hmac, Mac};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::{feed, git, has_peer, stderr, stdout};

/// The time of commits that git writes here, which is that of every record made with it.
const GIT_DATE: &str = "1767225600 +0000";

/// The same, as a record has it.
const RECORD_TIME: &str = "2026-01-01T00:00:00.000Z";

/// A store, its opened keys, and a folder for what is needed on the way.
pub(crate) struct Means {
    store: PathBuf,
    scratch: PathBuf,
    pub(crate) epoch: Value,
    pub(crate) audit: Value,
}

/// Whether the programs that forging takes are all here.
pub(crate) fn has_means(why: &str) -> bool {
    let programs = ["git", "age", "ssh-keygen"];
    programs.iter().all(|program| has_peer(program, why))
}

impl Means {
    /// Opens the keyring of a store with an identity, as stock age does.
    pub(crate) fn of(store: &Path, identity: &Path, scratch: &Path) -> Self {
        let open = |name: &str| {
            let mut age = Process::new("age");
            age.arg("-d").arg("-i").arg(identity);
            let sealed = fs::read(store.join("keyring").join(name)).expect("there");
            let plain = run(age, &sealed);
            serde_json::from_slice(&plain).expect("JSON")
        };
        Self {
            store: store.into(),
            scratch: scratch.into(),
            epoch: open("epoch.age"),
            audit: open("audit.age"),
        }
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        let output = git(&self.store, args);
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        stdout(&output).trim_end().to_owned()
    }

    pub(crate) fn git_fed(&self, args: &[&str], input: impl AsRef<[u8]>) -> String {
        let mut git = Process::new("git");
        git.env("GIT_CONFIG_GLOBAL", "/dev/null");
        git.env("GIT_AUTHOR_DATE", GIT_DATE);
        git.env("GIT_COMMITTER_DATE", GIT_DATE);
        git.arg("--git-dir").arg(&self.store).args(args);
        let out = run(git, input.as_ref());
        String::from_utf8(out).expect("UTF-8").trim_end().to_owned()
    }

    /// The tree with a line for `name`, or without one.
    pub(crate) fn tree_line(&self, tree: &str, name: &str, line: Option<&str>) -> String {
        let list = self.git(&["ls-tree", tree]);
        let mut lines: Vec<&str> = list.lines().collect();
        lines.retain(|line| !line.ends_with(&format!("\t{name}")));
        lines.extend(line);
        self.git_fed(
            &["mktree", "--missing"],
            lines
                .iter()
                .fold(String::new(), |all, line| all + line + "\n"),
        )
    }

    /// The tree with `blob` at the place of a memory, or nothing there.
    pub(crate) fn tree_with(&self, tree: &str, id: &str, blob: Option<&str>) -> String {
        let folder = &id[..2];
        let list = self.git(&["ls-tree", tree, folder]);
        let inner = if list.is_empty() {
            self.git_fed(&["mktree"], "")
        } else {
            self.git(&["rev-parse", &format!("{tree}:{folder}")])
        };
        let line = blob.map(|blob| format!("100644 blob {blob}\t{id}"));
        let inner = self.tree_line(&inner, id, line.as_deref());
        let there = !self.git(&["ls-tree", &inner]).is_empty();
        let line = there.then(|| format!("040000 tree {inner}\t{folder}"));
        self.tree_line(tree, folder, line.as_deref())
    }

    /// The tree with another text in one of its public files.
    pub(crate) fn tree_with_file(&self, tree: &str, name: &str, text: &str) -> String {
        let blob = self.git_fed(&["hash-object", "-w", "--stdin"], text);
        self.tree_line(tree, name, Some(&format!("100644 blob {blob}\t{name}")))
    }

    /// The commit that comes after the head, signed with the key file of a signer: an event right in
    /// everything, with what is said put into its record.
    pub(crate) fn next_commit(&self, signer: &str, key: &str, tree: &str, said: &Value) -> String {
        let head = self.git(&["rev-parse", "main"]);
        let parent = git(&self.store, &["cat-file", "commit", &head]).stdout;
        let chain = format!("{:x}", Sha256::digest(parent));
        let number: u64 = self
            .git(&["rev-list", "--count", "main"])
            .parse()
            .expect("a number");
        let mut record = json!({
            "agekeep": 1, "event": number, "parent": chain, "tree": tree, "time": RECORD_TIME,
            "command": "view", "outcome": "ok", "door": "cli", "path": "root", "rules": 1,
        });
        for (field, value) in said.as_object().expect("an object") {
            record[field] = value.clone();
        }
        let word = |field: &str| record[field].as_str().expect("a word");
        let subject = format!("{} {}", word("command"), word("outcome"));
        let touches = record["memories"].as_array().into_iter().flatten();
        let named: String = touches
            .map(|touch| format!("Memory: {}\n", touch["id"].as_str().expect("an id")))
            .collect();
        let sealed = self.seal_record(&record);
        let message = format!("{subject}\n\n{sealed}\n\n{named}Chain: sha256:{chain}\n");
        let key = format!("user.signingkey={key}");
        let author = [
            format!("user.name={signer}"),
            format!("user.email={signer}@agekeep"),
        ];
        let mut args = vec!["-c", "gpg.format=ssh", "-c", &key];
        args.extend(["-c", &author[0], "-c", &author[1]]);
        args.extend(["commit-tree", "-S", "-p", &head, tree]);
        self.git_fed(&args, message)
    }

    /// Makes a commit the head, in the ref and in the journal.
    pub(crate) fn adopt(&self, commit: &str) {
        self.git(&["update-ref", "refs/heads/main", commit]);
        let path = self.store.join("journal");
        let mut header = fs::read(&path).expect("there")[..128].to_vec();
        header[32..52].copy_from_slice(&unhex(commit));
        let sum = Sha256::digest(&header[..96]);
        header[96..].copy_from_slice(&sum);
        fs::write(path, header).expect("written");
    }

    /// The armored age file of a record, sealed to the audit identity.
    pub(crate) fn seal_record(&self, record: &Value) -> String {
        let identity = self.audit["identities"][0].as_str().expect("an identity");
        let sealed = self.seal(&["-a"], identity, record.to_string().as_bytes());
        String::from_utf8(sealed).expect("armor").trim_end().into()
    }

    /// The record of a commit, opened with stock age.
    pub(crate) fn record(&self, commit: &str) -> Value {
        let message = self.git(&["log", "-1", "--format=%B", commit]);
        let begin = message.find("-----BEGIN AGE").expect("a record");
        let end = "-----END AGE ENCRYPTED FILE-----";
        let until = message.find(end).expect("its end") + end.len();
        let key = self.scratch.join("opening.key");
        let identity = self.audit["identities"][0].as_str().expect("an identity");
        private(&key, identity);
        let mut age = Process::new("age");
        age.arg("-d").arg("-i").arg(&key);
        let plain = run(age, &message.as_bytes()[begin..until]);
        serde_json::from_slice(&plain).expect("JSON")
    }

    /// Seals a plaintext to a memory's own key, as only a reader can; the name of the blob.
    pub(crate) fn seal_version(&self, id: &str, plain: &str) -> String {
        let identity = self.memory_identity(id);
        let sealed = self.seal(&[], &identity, plain.as_bytes());
        self.git_fed(&["hash-object", "-w", "--stdin"], sealed)
    }

    /// Seals to the recipient of an identity.
    pub(crate) fn seal(&self, args: &[&str], identity: &str, plain: &[u8]) -> Vec<u8> {
        let key = self.scratch.join("sealing.key");
        private(&key, identity);
        let mut age = Process::new("age");
        age.arg("-e").args(args).arg("-i").arg(&key);
        run(age, plain)
    }

    /// The identity that opens every version of a memory.
    pub(crate) fn memory_identity(&self, id: &str) -> String {
        let identity = self.secret("ring", &unhex(id));
        String::from_utf8(identity).expect("text")
    }

    /// The path of a memory, sealed as in a record.
    pub(crate) fn sealed_path(&self, id: &str, path: &str) -> String {
        let id = unhex(id);
        let store = unhex(self.audit["store"].as_str().expect("an id"));
        let key = self.secret("names", &id);
        let associated = [b"agekeep/1 path ".as_slice(), &store, &id].concat();
        Base64Unpadded::encode_string(&aead(&key, &associated, path.as_bytes(), true))
    }

    /// The path that was sealed for a record, where the memory's name key opens it.
    pub(crate) fn open_path(&self, id: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        let id = unhex(id);
        let store = unhex(self.audit["store"].as_str().expect("an id"));
        let key = self.secret("names", &id);
        let associated = [b"agekeep/1 path ".as_slice(), &store, &id].concat();
        try_aead(&key, &associated, sealed)
    }

    /// Whether the first block of a `timeline` opens with the cache key.
    pub(crate) fn opens_timeline(&self, bytes: &[u8]) -> bool {
        let length = bytes[92..96].try_into().expect("four bytes");
        let end = 128 + u32::from_le_bytes(length) as usize;
        // Docs/format.md, 8.1: what a block is bound to, and what stands before it.
        let bound = [&bytes[32..48], &92_u64.to_le_bytes(), &[0; 8]];
        self.opens_cached("agekeep/1 timeline ", &bound, &bytes[128..end])
    }

    /// How many blocks of a `catalog` open with the cache key, and how many there are.
    pub(crate) fn opened_in_catalog(&self, bytes: &[u8]) -> (usize, usize) {
        let (file, line, root) = (&bytes[32..48], &bytes[48..64], &bytes[64..72]);
        let (mut at, mut opened, mut all, mut steps) = (80, 0, 0, 0_u64);
        // Docs/format.md, 8: what blocks are bound to.
        while at < bytes.len() {
            let length = bytes[at..at + 4].try_into().expect("four bytes");
            let end = at + 4 + u32::from_le_bytes(length) as usize;
            let (place, block) = ((at as u64).to_le_bytes(), &bytes[at + 4..end]);
            let opens = |label: &str, bound: &[&[u8]], from: usize| {
                self.opens_cached(
                    &format!("agekeep/1 catalog {label} "),
                    bound,
                    &block[from..],
                )
            };
            let is_step = opens("step", &[file, root, &steps.to_le_bytes()], 0);
            let is_other =
                opens("leaf", &[line, &block[..8]], 8) || opens("root", &[file, line, &place], 0);
            steps += u64::from(is_step);
            opened += usize::from(is_step || is_other);
            (at, all) = (end, all + 1);
        }
        (opened, all)
    }

    /// What a reader's caches are sealed under (docs/format.md, 8).
    pub(crate) fn cache_key(&self) -> Vec<u8> {
        let key = self.epoch["key"].as_str().expect("text");
        let key = Base64Unpadded::decode_vec(key).expect("base64");
        keyed(&key, "agekeep/2 cache key")
    }

    /// Whether what is cached opens with the cache key.
    fn opens_cached(&self, label: &str, bound: &[&[u8]], sealed: &[u8]) -> bool {
        let store = unhex(self.audit["store"].as_str().expect("an id"));
        let key = self.cache_key();
        let associated = [&[label.as_bytes(), &store[..]], bound].concat().concat();
        try_aead(&key, &associated, sealed).is_some()
    }

    /// The secret in a memory's entry of a table.
    pub(crate) fn secret(&self, table: &str, id: &[u8]) -> Vec<u8> {
        let bytes = fs::read(self.store.join("keyring").join(table)).expect("there");
        let entries = bytes[header_bytes(&bytes)..].chunks_exact(entry_bytes(table));
        let mut entries = (0..).zip(entries);
        let found = entries.find(|(_, entry)| entry[..16] == *id);
        let (slot, entry) = found.expect("an entry");
        let (key, associated) = self.table_seal(table, &bytes, slot, id);
        aead(&key, &associated, &entry[16..], false)
    }

    /// An entry of a table with this secret, for a slot.
    pub(crate) fn entry(&self, table: &str, slot: u64, id: &str, secret: &[u8]) -> Vec<u8> {
        let bytes = fs::read(self.store.join("keyring").join(table)).expect("there");
        let id = unhex(id);
        let (key, associated) = self.table_seal(table, &bytes, slot, &id);
        [&id[..], &aead(&key, &associated, secret, true)].concat()
    }

    /// The key of a table, and what its entries are bound to.
    fn table_seal(&self, table: &str, file: &[u8], slot: u64, id: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let key = match table {
            "ring" => &self.epoch["key"],
            _ => &self.audit["names_key"],
        };
        let key = Base64Unpadded::decode_vec(key.as_str().expect("text")).expect("base64");
        let header = &file[..header_bytes(file)];
        let bound = if header.len() == TABLE_HEADER_BYTES {
            let label = format!("agekeep/2 {table} ");
            [label.as_bytes(), header, &slot.to_le_bytes(), id].concat()
        } else {
            [
                format!("agekeep/1 {table} ").as_bytes(),
                &header[16..40],
                id,
            ]
            .concat()
        };
        (key, bound)
    }
}

/// Bytes of the header of `ring` and of `names`.
pub(crate) const TABLE_HEADER_BYTES: usize = 128;

/// The same of a file of whatever format.
pub(crate) fn header_bytes(file: &[u8]) -> usize {
    match &file[13..16] {
        b"001" => 64,
        _ => TABLE_HEADER_BYTES,
    }
}

/// HMAC-SHA-256 over a label, with its length before it.
pub(crate) fn keyed(key: &[u8], label: &str) -> Vec<u8> {
    let mut mac = <Hmac<Sha256> as Mac>::new_from_slice(key).expect("a key of any length");
    mac.update(&(label.len() as u64).to_le_bytes());
    mac.update(label.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

fn run(program: Process, input: &[u8]) -> Vec<u8> {
    let name = format!("{program:?}");
    let output = feed(program, input);
    assert!(output.status.success(), "{name}: {}", stderr(&output));
    output.stdout
}

/// Writes a file that only its owner can read.
pub(crate) fn private(path: &Path, text: &str) {
    let mut options = fs::OpenOptions::new();
    let file = options.write(true).create(true).truncate(true).mode(0o600);
    let mut file = file.open(path).expect("made");
    file.write_all(text.as_bytes()).expect("written");
}

pub(crate) fn unhex(text: &str) -> Vec<u8> {
    let digits = (0..text.len()).step_by(2);
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).expect("hex");
    digits.map(byte).collect()
}

/// Seals or opens as docs/format.md says; the nonce of what is sealed here does not matter.
pub(crate) fn aead(key: &[u8], aad: &[u8], msg: &[u8], seal: bool) -> Vec<u8> {
    let cipher = XChaCha20Poly1305::new_from_slice(key).expect("32 bytes");
    if seal {
        let nonce = [7; 24];
        let sealed = cipher.encrypt(XNonce::from_slice(&nonce), Payload { msg, aad });
        return [&nonce[..], &sealed.expect("short")].concat();
    }
    let (nonce, msg) = msg.split_at(24);
    let opened = cipher.decrypt(XNonce::from_slice(nonce), Payload { msg, aad });
    opened.expect("opens")
}

/// Opens as docs/format.md says, where it opens.
pub(crate) fn try_aead(key: &[u8], aad: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
    let cipher = XChaCha20Poly1305::new_from_slice(key).expect("32 bytes");
    let (nonce, msg) = sealed.split_at(24);
    cipher
        .decrypt(XNonce::from_slice(nonce), Payload { msg, aad })
        .ok()
}

/// Bytes of one entry of a key table.
pub(crate) fn entry_bytes(table: &str) -> usize {
    match table {
        "ring" => 130,
        _ => 88,
    }
}
