//! Nothing of an agent's can be read without the keys, and nothing forged is taken for its own.

use std::fs;
use std::io::Read;
use std::ops::Deref;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Output};

use agekeep::crypto::keyfile;
use agekeep::event::{Context, PathRef};
use agekeep::memory_tool::command::Command;
use agekeep::store::{Keys, Store};
use base64ct::{Base64, Base64Unpadded, Encoding};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::forge::{Means, entry_bytes, has_means, private};
use crate::support::{Home, feed, git, has_peer, stderr, stdout};

// ---- the canary ----

const CANARY: &str = "Canary7Qx9Zb2Lk4Wv";

/// The canary in every form a careless program might leave it in.
fn forms() -> Vec<(&'static str, Vec<u8>)> {
    let hex = CANARY.bytes().map(|b| format!("{b:02x}"));
    let hex: String = hex.collect();
    let mut forms = vec![
        ("plain", CANARY.into()),
        ("hex", hex.clone().into_bytes()),
        ("upper hex", hex.to_uppercase().into_bytes()),
        ("reversed", CANARY.bytes().rev().collect()),
        (
            "UTF-16 LE",
            CANARY.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        ),
        (
            "UTF-16 BE",
            CANARY.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        ),
    ];
    for (shift, name) in ["base64", "base64 after 1", "base64 after 2"]
        .into_iter()
        .enumerate()
    {
        forms.push((name, base64_inside(shift)));
    }
    forms
}

/// The characters of base64 that depend on the canary alone, when `shift` bytes stand before it.
fn base64_inside(shift: usize) -> Vec<u8> {
    let text = [&vec![0; shift][..], CANARY.as_bytes()].concat();
    let encoded = Base64Unpadded::encode_string(&text);
    let (first, whole) = ((shift * 8).div_ceil(6), text.len() * 8 / 6);
    encoded.as_bytes()[first..whole].to_vec()
}

fn contains(bytes: &[u8], needle: &[u8]) -> bool {
    bytes.windows(needle.len()).any(|window| window == needle)
}

/// A file's name and content, or a part of one that was inflated.
type Piece = (String, Vec<u8>);

fn sightings(pieces: &[Piece]) -> Vec<String> {
    let forms = forms();
    let mut found = Vec::new();
    for (name, bytes) in pieces {
        for (form, needle) in &forms {
            if contains(bytes, needle) || contains(name.as_bytes(), needle) {
                found.push(format!("{name}: {form}"));
            }
        }
    }
    found
}

/// Every file below a folder, as it is and, where it is zlib data, inflated too.
fn files(folder: &Path) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            pieces.push((path.display().to_string(), Vec::new()));
            pieces.extend(files(&path));
            continue;
        }
        let bytes = fs::read(&path).expect("readable");
        let mut inflated = Vec::new();
        let mut zlib = flate2::read::ZlibDecoder::new(&bytes[..]);
        if zlib.read_to_end(&mut inflated).is_ok() && !inflated.is_empty() {
            pieces.push((format!("{} inflated", path.display()), inflated));
        }
        pieces.push((path.display().to_string(), bytes));
    }
    pieces
}

/// Every object of a copy of the store that stock git has packed.
fn packed(home: &Home) -> Piece {
    let copy = crate::support::folder();
    let mut cp = Process::new("cp");
    cp.arg("-a").arg(home.store()).arg(copy.path());
    ok(&feed(cp, b""));
    let store = copy.path().join("store");
    ok(&git(&store, &["repack", "-adq"]));
    let all = git(&store, &["cat-file", "--batch-all-objects", "--batch"]);
    assert!(all.status.success() && all.stdout.len() > 10_000);
    ("packed objects".into(), all.stdout)
}

fn ok(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    stdout(output).trim_end().to_owned()
}

// ---- a session through every door ----

/// The canary in contents, paths, contexts, and in everything that fails.
fn session() -> Home {
    let home = Home::empty();
    ok(&home.run(&["init", "--reason", CANARY, "--actor", CANARY]));
    tool_calls(&home);
    verbs(&home);
    library_calls(&home);
    home
}

fn tool_calls(home: &Home) {
    let path = format!("/memories/{CANARY}/tool.md");
    let moved = format!("/memories/moved-{CANARY}.md");
    let inputs = [
        json!({"command": "create", "path": path, "file_text": format!("a {CANARY}\nb\n")}),
        json!({"command": "view", "path": path}),
        json!({"command": "view", "path": "/memories"}),
        json!({"command": "str_replace", "path": path, "old_str": "b", "new_str": CANARY}),
        json!({"command": "str_replace", "path": path, "old_str": CANARY, "new_str": "x"}),
        json!({"command": "str_replace", "path": path, "old_str": format!("{CANARY}?"), "new_str": ""}),
        json!({"command": "insert", "path": path, "insert_line": 0, "insert_text": CANARY}),
        json!({"command": "insert", "path": path, "insert_line": 99, "insert_text": CANARY}),
        json!({"command": "rename", "old_path": path, "new_path": moved}),
        json!({"command": "rename", "old_path": path, "new_path": format!("/{CANARY}")}),
        json!({"command": "delete", "path": moved}),
        json!({"command": "delete", "path": moved}),
        json!({"command": "create", "path": format!("/memories/../{CANARY}"), "file_text": CANARY}),
        json!({"command": "create", "path": format!("/memories/{CANARY}\u{202e}"), "file_text": CANARY}),
        json!({"command": CANARY}),
        json!({"command": "view", "path": {CANARY: CANARY}}),
        json!(CANARY),
    ];
    let context = json!({
        "actor": CANARY, "session": CANARY, "reason": CANARY, "client": CANARY,
        "tool_use_id": CANARY, "trace": CANARY,
    });
    let mut lines = String::new();
    for input in inputs {
        let call = json!({"id": CANARY, "input": input, "context": context});
        lines += &format!("{call}\n");
    }
    lines += &format!("{CANARY}\n{{\"{CANARY}\n[\"{CANARY}\"]\n");
    let block = json!({"type": "tool_use", "id": CANARY, "name": "memory",
        "input": {"command": "create", "path": format!("/memories/{CANARY}.md"), "file_text": CANARY}});
    lines += &format!("{block}\n");
    let wrong = json!({"input": {}, "context": {"base_sha256": CANARY}});
    lines += &format!("{wrong}\n");
    assert_eq!(home.tool(&lines).len(), 22);
}

fn verbs(home: &Home) {
    let path = format!("/memories/cli-{CANARY}.md");
    let moved = format!("/memories/{CANARY}/cli.md");
    let context = ["--actor", CANARY, "--session", CANARY, "--reason", CANARY];
    for args in [
        &["create", &path, "--text", CANARY][..],
        &["create", &path, "--text", CANARY],
        &["write", CANARY, "--text", CANARY],
        &["write", CANARY, "--text", "short"],
        &["read", CANARY],
        &["read"],
        &["view", &path, "-L", "9:99"],
        &["str-replace", &path, "--old", CANARY, "--new", "x"],
        &["str-replace", &path, "--old", CANARY, "--new", "x"],
        &["insert", &path, "1", "--text", CANARY],
        &["rename", &path, &moved],
        &["view", &format!("/{CANARY}")],
        &["delete", &moved],
        &["log", &moved],
        &["view", CANARY, "--base-sha256", CANARY],
        &[CANARY],
    ] {
        home.run(&[args, &context[..]].concat());
        home.run(&[&["--json"], args, &context[..]].concat());
    }
    home.run_with_input(&["write", "stdin.md"], CANARY);
    home.run_with_input(&["write", "bad.md"], &format!("{CANARY}\0"));
}

fn open(home: &Home) -> Store {
    let keys = Keys {
        identity: keyfile::read_identity(&home.identity()).expect("an identity"),
        signing_key: Some(keyfile::read_signing_key(&home.signing_key()).expect("a key")),
        state: None,
        keyring: None,
    };
    let clock = Box::new(chrono::Utc::now);
    Store::open(&home.store(), keys, clock).expect("opens")
}

fn canary_context() -> Context {
    let mut context = Context::default();
    context.actor = Some(CANARY.into());
    context.session = Some(CANARY.into());
    context.tool_use_id = Some(CANARY.into());
    context.client = Some(CANARY.into());
    context.trace = Some(CANARY.into());
    context.reason = Some(CANARY.into());
    context
}

fn canary_commands() -> Vec<Command> {
    let path = format!("/memories/library/{CANARY}.md");
    vec![
        Command::Create {
            path: path.clone(),
            file_text: CANARY.into(),
        },
        Command::StrReplace {
            path: path.clone(),
            old_str: CANARY.into(),
            new_str: format!("{CANARY} {CANARY}").as_str().into(),
        },
        Command::Insert {
            path: path.clone(),
            insert_line: 0,
            insert_text: CANARY.into(),
        },
        Command::View {
            path: path.clone(),
            range: None,
        },
        Command::Rename {
            old_path: path,
            new_path: format!("/memories/{CANARY}-library.md"),
        },
        Command::Read { path: None },
        Command::Read {
            path: Some(CANARY.into()),
        },
        Command::Write {
            path: format!("{CANARY}-written"),
            content: CANARY.into(),
        },
        Command::Delete {
            path: format!("/memories/{CANARY}-library.md"),
        },
        Command::from_json(json!({"command": "view", "path": [CANARY]})),
    ]
}

fn library_calls(home: &Home) {
    let mut store = open(home);
    for command in canary_commands() {
        store
            .execute(&command, &canary_context())
            .expect("recorded");
    }
}

#[test]
fn no_form_of_what_an_agent_said_is_anywhere_outside_the_seals() {
    let home = session();
    let log = ok(&home.run(&["--json", "log"]));
    assert!(
        log.matches(CANARY).count() > 200,
        "the session was recorded"
    );
    assert_eq!(ok(&home.run(&["read", CANARY])), "short");
    let keys = home.identity();
    let keys = keys.parent().expect("a folder");
    let mut pieces = files(home.path());
    pieces.retain(|(name, _)| !name.starts_with(&keys.display().to_string()));
    let count = |wanted: &dyn Fn(&str) -> bool| pieces.iter().filter(|(n, _)| wanted(n)).count();
    let loose = count(&|name| is_object(name));
    let inflated = count(&|name| name.ends_with(" inflated"));
    assert!(loose > 100 && inflated == loose, "{inflated} of {loose}");
    if has_peer("git", "packed objects are searched too") {
        pieces.push(packed(&home));
    }
    assert_eq!(sightings(&pieces), Vec::<String>::new());
    let in_keys = files(keys);
    assert_eq!((in_keys.len(), sightings(&in_keys).len()), (3, 0));
}

/// Whether a path ends like that of a loose object: a folder of two digits, a name of 38.
fn is_object(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.len() == 38 && name.bytes().all(|b| b.is_ascii_hexdigit())
}

#[test]
fn the_search_finds_what_is_there() {
    let home = Home::with_store();
    for (name, bytes) in forms() {
        let planted = vec![(String::new(), [b"\0xx", &bytes[..], b"yy"].concat())];
        assert_eq!(sightings(&planted).len(), 1, "{name}");
    }
    for shift in 0..3 {
        let text = format!("{}{CANARY} and more", "-".repeat(shift));
        let planted = vec![("file".into(), Base64::encode_string(text.as_bytes()).into())];
        assert_eq!(sightings(&planted).len(), 1, "base64 after {shift}");
    }
    assert_eq!(sightings(&[(CANARY.into(), Vec::new())]).len(), 1);
    let mut put = Process::new("git");
    put.arg("--git-dir").arg(home.store());
    put.args(["hash-object", "-w", "--stdin"]);
    let text = format!("{} {CANARY}", "some text ".repeat(20));
    ok(&feed(put, text.as_bytes()));
    let found = sightings(&files(&home.store()));
    assert_eq!(found.len(), 1);
    assert!(found[0].ends_with("inflated: plain"), "{found:?}");
}

#[test]
fn only_the_owner_can_enter_and_nothing_is_left_over() {
    let home = session();
    let mode = |name: &str| {
        let meta = fs::metadata(home.store().join(name)).expect("there");
        meta.permissions().mode() & 0o777
    };
    for folder in ["", "keyring"] {
        assert_eq!(mode(folder), 0o700, "{folder}");
    }
    for file in [
        "keyring/epoch.age",
        "keyring/audit.age",
        "keyring/ring",
        "keyring/names",
        "journal",
        "catalog",
        "lock",
    ] {
        assert_eq!(mode(file), 0o600, "{file}");
    }
    for key in [home.identity(), home.signing_key()] {
        let meta = fs::metadata(key).expect("there");
        assert_eq!(meta.permissions().mode() & 0o777, 0o600);
    }
    let left_over = |name: &str| {
        name.contains("tmp_agekeep_")
            || name.ends_with("journal.new")
            || name.contains(".agekeep-init-")
    };
    let mut names = files(home.path()).into_iter().map(|(name, _)| name);
    assert_eq!(names.find(|name| left_over(name)), None);
}

// ---- Debug ----

fn debugged_session() -> (Vec<String>, Vec<String>) {
    let home = Home::with_store();
    let mut store = open(&home);
    let quiet = Context::default();
    let (mut texts, mut paths) = (Vec::new(), Vec::new());
    for command in [
        Command::Create {
            path: "/memories/p4th.md".into(),
            file_text: CANARY.into(),
        },
        Command::StrReplace {
            path: "/memories/p4th.md".into(),
            old_str: CANARY.into(),
            new_str: CANARY.into(),
        },
        Command::Read {
            path: Some("p4th.md".into()),
        },
        Command::Rename {
            old_path: "/memories/p4th.md".into(),
            new_path: "/memories/p4th2.md".into(),
        },
    ] {
        let answer = store.execute(&command, &quiet).expect("recorded");
        for shown in [format!("{command:?}"), format!("{answer:?}")] {
            texts.push(shown.clone());
            paths.push(shown);
        }
    }
    for entry in store.log() {
        let shown = format!("{:?}", entry.expect("reads"));
        texts.push(shown.clone());
        paths.push(shown);
    }
    texts.push(format!("{:?}", agekeep::Text::from(CANARY)));
    paths.push(format!(
        "{:?}",
        store.parse_path("/memories/p4th.md").expect("a path")
    ));
    (texts, paths)
}

#[test]
fn debug_shows_no_text() {
    let (shown, _) = debugged_session();
    for shown in shown {
        assert!(!shown.contains(CANARY), "{shown}");
    }
}

#[test]
fn debug_shows_no_path_of_a_memory() {
    let (_, shown) = debugged_session();
    let showing: Vec<_> = shown.iter().filter(|s| s.contains("p4th")).collect();
    assert!(showing.is_empty(), "{showing:#?}");
}

#[test]
fn debug_shows_no_path_that_was_asked_for() {
    let place = PathRef::Asked("/memories/p4th.md".into());
    assert!(!format!("{place:?}").contains("p4th"));
}

// ---- forging ----

const A: &str = "/memories/a.md";
const B: &str = "/memories/b.md";

/// A store with two memories of two versions each, and what a thief of its keys could make.
struct Forge {
    home: Home,
    means: Means,
}

impl Deref for Forge {
    type Target = Means;

    fn deref(&self) -> &Means {
        &self.means
    }
}

fn forge() -> Option<Forge> {
    if !has_means("forged commits are refused") {
        return None;
    }
    let home = Home::with_store();
    for (path, text) in [
        ("a.md", "first of a"),
        ("b.md", "first of b"),
        ("a.md", "second of a"),
        ("b.md", "second of b"),
    ] {
        ok(&home.run(&["write", path, "--text", text]));
    }
    let means = Means::of(&home.store(), &home.identity(), home.path());
    Some(Forge { home, means })
}

impl Forge {
    fn events(&self) -> Vec<Value> {
        let mut log = crate::support::json_lines(&self.home.run(&["--json", "log"]).stdout);
        log.reverse();
        log
    }

    /// Facts of the newest write to a memory: its id, version and blob.
    fn touch(&self, path: &str) -> Value {
        let events = self.events();
        let mut touches = events.iter().rev().map(|event| &event["memories"][0]);
        let found = touches.find(|touch| touch["path"] == path && touch["blob"] != Value::Null);
        found.expect("a write").clone()
    }

    fn first_blob(&self, path: &str) -> String {
        let events = self.events();
        let mut touches = events.iter().map(|event| &event["memories"][0]);
        let found = touches
            .find(|touch| touch["path"] == path)
            .expect("a write");
        found["blob"].as_str().expect("a blob").to_owned()
    }

    /// A record that fits on top of history, with `changes` made to it.
    fn message(&self, tree: &str, changes: &Value) -> String {
        let parent = self.home.git(&["cat-file", "commit", "main"]).stdout;
        let mut record = json!({
            "agekeep": 1,
            "event": self.events().len(),
            "parent": format!("{:x}", Sha256::digest(&parent)),
            "tree": tree,
            "time": "2026-01-01T00:00:00.000Z",
            "command": "view",
            "outcome": "ok",
            "door": "cli",
        });
        for (name, value) in changes.as_object().expect("an object") {
            record[name] = value.clone();
        }
        let trailers: String = record["memories"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|touch| format!("Memory: {}\n", touch["id"].as_str().expect("an id")))
            .collect();
        let chain = record["parent"].as_str().expect("a digest");
        format!(
            "{} {}\n\n{}\n\n{trailers}Chain: sha256:{chain}\n",
            record["command"].as_str().expect("a name"),
            record["outcome"].as_str().expect("a word"),
            self.seal_record(&record),
        )
    }

    /// What a record says that deletes a memory: under it a tree may change.
    fn removing(&self, path: &str) -> Value {
        let touch = self.touch(path);
        let id = touch["memory"].as_str().expect("an id");
        json!({"command": "delete", "memories": [{
            "id": id,
            "change": "remove",
            "path": self.sealed_path(id, path),
            "version": touch["version"],
            "bytes": touch["bytes"],
        }]})
    }

    /// A commit on top of history; `None` is no signature.
    fn commit(&self, tree: &str, message: &str, key: Option<&Path>) -> String {
        let signer = key.unwrap_or(Path::new("none")).display();
        let signer = format!("user.signingkey={signer}");
        let mut args = vec!["-c", "gpg.format=ssh", "-c", &signer];
        args.extend(["-c", "user.name=owner", "-c", "user.email=owner@agekeep"]);
        args.push("commit-tree");
        args.extend(key.map(|_| "-S"));
        args.extend(["-p", "main", tree]);
        self.git_fed(&args, message)
    }

    /// Adopts a commit by the real signer whose record says `changes`.
    fn adopt_signed(&self, tree: &str, changes: &Value) {
        let message = self.message(tree, changes);
        let key = self.home.signing_key();
        self.adopt(&self.commit(tree, &message, Some(&key)));
    }

    fn assert_refused(&self, args: &[&str], code: &str, exit: i32, words: &str) {
        assert_refused(&self.home, args, code, exit, words);
    }

    /// A touch that says that a memory got this blob as its next version.
    fn edit(&self, path: &str, blob: &str) -> Value {
        let touch = self.touch(path);
        let id = touch["memory"].as_str().expect("an id");
        let bytes = self.home.git(&["cat-file", "blob", blob]).stdout;
        json!({
            "id": id,
            "change": "edit",
            "path": self.sealed_path(id, path),
            "version": touch["version"].as_u64().expect("a number") + 1,
            "bytes": 11,
            "blob": blob,
            "sha256": format!("{:x}", Sha256::digest(bytes)),
        })
    }

    /// Adopts a real signer's commit that makes `blob` the next version of a memory.
    fn adopt_edit(&self, path: &str, blob: &str) {
        let edit = self.edit(path, blob);
        let tree = self.tree_with("main", edit["id"].as_str().expect("an id"), Some(blob));
        self.adopt_signed(
            &tree,
            &json!({"command": "memory_write", "memories": [edit]}),
        );
    }
}

/// The command fails like this, and shows nothing of any memory.
fn assert_refused(home: &Home, args: &[&str], code: &str, exit: i32, words: &str) {
    let output = home.run(&[&["--json"], args].concat());
    let said = stdout(&output) + &stderr(&output);
    assert_eq!(output.status.code(), Some(exit), "{said}");
    let code = format!("\"{code}\"");
    assert!(said.contains(&code) && said.contains(words), "{said}");
    for text in ["text of", "first of", "second of"] {
        assert!(!said.contains(text), "{said}");
    }
}

#[test]
fn a_forged_commit_that_is_right_in_everything_is_taken() {
    // The control: what the tests below refuse, they refuse for the one thing that is wrong.
    let Some(forge) = forge() else { return };
    let touch = forge.touch(A);
    let id = touch["memory"].as_str().expect("an id");
    let plain = format!(
        "{}\nforged text",
        json!({"agekeep": 1, "id": id, "path": A, "version": 3, "pad": ""})
    );
    let blob = forge.seal_version(id, &plain);
    forge.adopt_edit(A, &blob);
    assert_eq!(ok(&forge.home.run(&["read", "a.md"])), "forged text");
}

#[test]
fn a_moved_branch_is_refused() {
    let Some(forge) = forge() else { return };
    forge.git(&["update-ref", "refs/heads/main", "main~1"]);
    // One the journal knows is an unclean stop; it is brought forward.
    assert_eq!(ok(&forge.home.run(&["read", "b.md"])), "second of b");
    let message = forge.message("main^{tree}", &json!({}));
    let commit = forge.commit("main^{tree}", &message, Some(&forge.home.signing_key()));
    forge.git(&["update-ref", "refs/heads/main", &commit]);
    forge.assert_refused(&["read", "a.md"], "head_moved", 13, &commit);
}

#[test]
fn a_commit_without_a_signature_is_refused() {
    let Some(forge) = forge() else { return };
    let tree = forge.git(&["rev-parse", "main^{tree}"]);
    let message = forge.message(&tree, &json!({}));
    forge.adopt(&forge.commit(&tree, &message, None));
    forge.assert_refused(&["read", "a.md"], "damaged", 13, "signed");
}

#[test]
fn a_commit_signed_by_a_stranger_is_refused() {
    let Some(forge) = forge() else { return };
    let stranger = forge.home.path().join("stranger");
    private(&stranger, &agekeep::store::SigningKey::generate().to_file());
    let tree = forge.git(&["rev-parse", "main^{tree}"]);
    let message = forge.message(&tree, &json!({}));
    forge.adopt(&forge.commit(&tree, &message, Some(&stranger)));
    forge.assert_refused(&["read", "a.md"], "damaged", 13, "signed by a signer");
}

#[test]
fn a_stranger_who_signs_himself_in_is_refused() {
    let Some(forge) = forge() else { return };
    let key = agekeep::store::SigningKey::generate();
    let stranger = forge.home.path().join("stranger");
    private(&stranger, &key.to_file());
    let line = format!("mallory namespaces=\"git\" {}\n", key.public_line());
    let signers = forge.git(&["show", "main:signers"]) + "\n" + &line;
    let tree = forge.tree_with_file("main", "signers", &signers);
    let message = forge.message(&tree, &forge.removing(B));
    forge.adopt(&forge.commit(&tree, &message, Some(&stranger)));
    for without_catalog in [false, true] {
        if without_catalog {
            fs::remove_file(forge.home.store().join("catalog")).expect("there");
        }
        forge.assert_refused(&["read", "a.md"], "damaged", 13, "not signed by a signer");
    }
}

#[test]
fn a_record_copied_from_another_commit_is_refused() {
    let Some(forge) = forge() else { return };
    let (tree, key) = (
        forge.git(&["rev-parse", "main^{tree}"]),
        forge.home.signing_key(),
    );
    let message = forge.git(&["log", "-1", "--format=%B", "main"]) + "\n";
    forge.adopt(&forge.commit(&tree, &message, Some(&key)));
    forge.assert_refused(
        &["read", "a.md"],
        "damaged",
        13,
        "belongs after another commit",
    );
}

#[test]
fn a_record_over_another_tree_is_refused() {
    let Some(forge) = forge() else { return };
    let message = forge.message(&forge.git(&["rev-parse", "main^{tree}"]), &json!({}));
    let other = forge.git(&["rev-parse", "main~1^{tree}"]);
    forge.adopt(&forge.commit(&other, &message, Some(&forge.home.signing_key())));
    forge.assert_refused(&["read", "a.md"], "damaged", 13, "another tree");
}

#[test]
fn a_subject_or_trailer_that_says_something_else_is_refused() {
    for (from, to, words) in [
        ("view ok", "delete ok", "subject"),
        (
            "\nChain: ",
            "\nMemory: 00000000000000000000000000000000\nChain: ",
            "trailers",
        ),
        ("\nChain: ", "\nSigned-off-by: x\nChain: ", "trailers"),
    ] {
        let Some(forge) = forge() else { return };
        let tree = forge.git(&["rev-parse", "main^{tree}"]);
        let message = forge.message(&tree, &json!({})).replacen(from, to, 1);
        forge.adopt(&forge.commit(&tree, &message, Some(&forge.home.signing_key())));
        forge.assert_refused(&["read", "a.md"], "damaged", 13, words);
    }
}

#[test]
fn a_record_that_does_not_fit_the_state_is_refused() {
    for (changes, words) in [
        (json!({"parent": "0".repeat(64)}), "after another commit"),
        (
            json!({"time": "2026-01-01T00:00:01.000Z"}),
            "author or time",
        ),
        (json!({"event": 3}), "not the next"),
        (json!({"extra": 3}), "does not parse"),
        (json!({"time": "yesterday"}), "time"),
    ] {
        let Some(forge) = forge() else { return };
        let tree = forge.git(&["rev-parse", "main^{tree}"]);
        forge.adopt_signed(&tree, &changes);
        forge.assert_refused(&["read", "a.md"], "damaged", 13, words);
    }
}

#[test]
fn a_record_of_another_format_version_is_its_own_error() {
    for changes in [json!({"agekeep": 3}), json!({"agekeep": 3, "new": true})] {
        let Some(forge) = forge() else { return };
        let tree = forge.git(&["rev-parse", "main^{tree}"]);
        forge.adopt_signed(&tree, &changes);
        forge.assert_refused(&["read", "a.md"], "unknown_format", 1, "version 3");
    }
}

#[test]
fn a_policy_of_another_format_version_is_its_own_error() {
    for more in ["", "\n[new]\nthing = 1\n"] {
        let Some(forge) = forge() else { return };
        let policy = forge.git(&["show", "main:agekeep.toml"]);
        let policy = policy.replacen("format = 2", "format = 3", 1) + more;
        forge.adopt_signed(
            &forge.tree_with_file("main", "agekeep.toml", &policy),
            &json!({}),
        );
        forge.assert_refused(&["read", "a.md"], "unknown_format", 1, "version 3");
    }
}

#[test]
fn a_policy_that_was_changed_in_passing_is_refused() {
    let Some(forge) = forge() else { return };
    let policy = forge.git(&["show", "main:agekeep.toml"]);
    let policy = policy.replacen("lines = 999999", "lines = 9", 1);
    let tree = forge.tree_with_file("main", "agekeep.toml", &policy);
    forge.adopt_signed(&tree, &forge.removing(B));
    forge.assert_refused(&["read", "a.md"], "damaged", 13, "without saying so");
}

#[test]
fn a_tree_that_changes_under_a_view_is_refused() {
    let Some(forge) = forge() else { return };
    let id = forge.touch(A)["memory"].as_str().expect("an id").to_owned();
    let tree = forge.tree_with("main", &id, Some(&forge.first_blob(A)));
    forge.adopt_signed(&tree, &json!({}));
    forge.assert_refused(
        &["read", B],
        "damaged",
        13,
        "changes nothing, and its tree does",
    );
}

#[test]
fn two_memories_swapped_in_the_tree_are_refused() {
    let Some(forge) = forge() else { return };
    ok(&forge.home.run(&["write", "c.md", "--text", "first of c"]));
    let (a, b) = (forge.touch(A), forge.touch(B));
    let text = |touch: &Value, name: &str| touch[name].as_str().expect("text").to_owned();
    let tree = forge.tree_with("main", &text(&a, "memory"), Some(&text(&b, "blob")));
    let tree = forge.tree_with(&tree, &text(&b, "memory"), Some(&text(&a, "blob")));
    forge.adopt_signed(&tree, &forge.removing("/memories/c.md"));
    for path in [A, B] {
        forge.assert_refused(&["read", path], "damaged", 13, "another version");
        forge.assert_refused(&["view", path], "damaged", 13, "another version");
    }
}

#[test]
fn the_blob_of_another_memory_is_refused_also_with_a_record() {
    let Some(forge) = forge() else { return };
    let b = forge.touch(B);
    forge.adopt_edit(A, b["blob"].as_str().expect("a blob"));
    forge.assert_refused(&["read", A], "damaged", 13, "does not open with its key");
}

#[test]
fn an_older_version_is_refused_also_with_a_record() {
    let Some(forge) = forge() else { return };
    forge.adopt_edit(A, &forge.first_blob(A));
    forge.assert_refused(&["read", A], "damaged", 13, "belongs to another");
}

#[test]
fn an_older_version_in_the_tree_is_refused() {
    let Some(forge) = forge() else { return };
    let a = forge.touch(A);
    let id = a["memory"].as_str().expect("an id");
    let tree = forge.tree_with("main", id, Some(&forge.first_blob(A)));
    forge.adopt_signed(&tree, &forge.removing(B));
    forge.assert_refused(&["read", A], "damaged", 13, "another version");
}

#[test]
fn a_version_of_another_format_is_its_own_error() {
    let Some(forge) = forge() else { return };
    let a = forge.touch(A);
    let id = a["memory"].as_str().expect("an id");
    let blob = forge.seal_version(id, "{\"agekeep\":2,\"new\":true}\nwhatever");
    forge.adopt_edit(A, &blob);
    forge.assert_refused(&["read", A], "unknown_format", 1, "version 3");
}

#[test]
fn plaintext_in_the_place_of_a_version_is_refused() {
    let Some(forge) = forge() else { return };
    let plain = forge.git_fed(&["hash-object", "-w", "--stdin"], "plain");
    forge.adopt_edit(A, &plain);
    forge.assert_refused(&["read", A], "damaged", 13, "not an age file");
}

// ---- damage to files ----

fn edit_file(home: &Home, name: &str, edit: impl FnOnce(&mut Vec<u8>)) {
    let path = home.store().join(name);
    let mut bytes = fs::read(&path).expect("there");
    edit(&mut bytes);
    let mode = fs::Permissions::from_mode(0o600);
    fs::set_permissions(&path, mode).expect("set");
    fs::write(path, bytes).expect("written");
}

/// A store with the memories A and B, whose entries have the slots 0 and 1.
fn two_memories() -> Home {
    let home = Home::with_store();
    ok(&home.run(&["write", "a.md", "--text", "text of a"]));
    ok(&home.run(&["write", "b.md", "--text", "text of b"]));
    home
}

fn slot(table: &str, slot: usize) -> std::ops::Range<usize> {
    let size = entry_bytes(table);
    128 + slot * size..128 + (slot + 1) * size
}

#[test]
fn the_key_entry_of_another_memory_is_refused() {
    for table in ["ring", "names"] {
        let home = two_memories();
        edit_file(&home, &format!("keyring/{table}"), |bytes| {
            bytes.copy_within(slot(table, 0), slot(table, 1).start);
        });
        assert_refused(&home, &["read", "b.md"], "missing_key", 12, "no key");
        if table == "ring" {
            assert_eq!(ok(&home.run(&["read", "a.md"])), "text of a");
        }
        let home = two_memories();
        edit_file(&home, &format!("keyring/{table}"), |bytes| {
            let from = slot(table, 0).start + 16..slot(table, 0).end;
            bytes.copy_within(from, slot(table, 1).start + 16);
        });
        assert_refused(&home, &["read", "b.md"], "damaged", 13, table);
    }
}

#[test]
fn a_key_entry_with_a_flipped_bit_is_damage() {
    for table in ["ring", "names"] {
        for at in [16, 40, entry_bytes(table) - 1] {
            let home = two_memories();
            edit_file(&home, &format!("keyring/{table}"), |bytes| {
                bytes[slot(table, 1).start + at] ^= 1;
            });
            assert_refused(&home, &["read", "b.md"], "damaged", 13, table);
        }
    }
}

#[test]
fn a_table_that_was_cut_is_refused() {
    for table in ["ring", "names"] {
        let home = two_memories();
        edit_file(&home, &format!("keyring/{table}"), |bytes| {
            bytes.truncate(slot(table, 1).start + 50);
        });
        assert_refused(&home, &["read", "b.md"], "damaged", 13, "history added 2");
    }
}

#[test]
fn a_keyring_file_that_is_gone_is_named() {
    for file in ["epoch.age", "audit.age", "ring", "names"] {
        let home = two_memories();
        fs::remove_file(home.store().join("keyring").join(file)).expect("there");
        assert_refused(&home, &["read", "b.md"], "no_keyring", 12, file);
    }
}

#[test]
fn the_keyring_of_another_store_is_refused() {
    for file in ["epoch.age", "audit.age", "ring", "names"] {
        let home = two_memories();
        let other = home.path().join("other");
        ok(&home.run(&["-C", other.to_str().expect("UTF-8"), "init"]));
        let from = other.join("keyring").join(file);
        fs::copy(from, home.store().join("keyring").join(file)).expect("copied");
        assert_refused(&home, &["read", "b.md"], "damaged", 13, "another store");
    }
}

#[test]
fn a_stranger_opens_nothing() {
    let home = two_memories();
    let key = home.path().join("stranger.txt");
    private(&key, &agekeep::store::Identity::generate().to_file());
    let key = key.to_str().expect("UTF-8");
    assert_refused(
        &home,
        &["-i", key, "read", "b.md"],
        "not_a_recipient",
        12,
        "audit.age",
    );
}

/// Returns the offset in the journal where the newest record begins.
fn newest_record(home: &Home) -> usize {
    let journal = fs::read(home.store().join("journal")).expect("there");
    let length = |at: usize| {
        let bytes = journal[at..at + 4].try_into().expect("four bytes");
        usize::try_from(u32::from_le_bytes(bytes)).expect("small")
    };
    let ends = std::iter::successors(Some(128), |at| Some(at + 36 + length(*at)));
    let begins: Vec<usize> = ends.take_while(|at| length(*at) > 0).collect();
    *begins.last().expect("a record")
}

#[test]
fn a_flipped_byte_in_the_journal_is_noticed() {
    // The magic, the sum; a record's length, sum, parent and head, and its objects. The newest
    // record is read by every command, and of those before it where they lead.
    let in_first = [0, 97, 128, 164, 186].map(|at| (false, at));
    let in_newest = [0, 4, 36, 58, 272].map(|at| (true, at));
    for (is_newest, at) in in_first.into_iter().chain(in_newest) {
        let home = two_memories();
        let at = at + if is_newest { newest_record(&home) } else { 0 };
        edit_file(&home, "journal", |bytes| bytes[at] ^= 1);
        let output = home.run(&["--json", "read", "b.md"]);
        let said = stdout(&output) + &stderr(&output);
        assert_eq!(output.status.code(), Some(13), "byte {at}: {said}");
    }
}

/// What the branch leads to is in its place, and no command needs it from the journal before the
/// machine restarts.
#[test]
fn a_flipped_byte_in_an_older_record_harms_nobody_and_is_found() {
    for at in [132, 400] {
        let home = two_memories();
        edit_file(&home, "journal", |bytes| bytes[at] ^= 1);
        assert_eq!(ok(&home.run(&["read", "a.md"])), "text of a");
        ok(&home.run(&["create", "c.md", "--text", "text of c"]));
        for args in [&["doctor"][..], &["verify"], &["compact"]] {
            let output = home.run(args);
            let said = stdout(&output) + &stderr(&output);
            assert_eq!(output.status.code(), Some(13), "{args:?}: {said}");
            assert!(said.contains("journal"), "{args:?}: {said}");
        }
        // After a restart the journal alone tells what is durable.
        edit_file(&home, "journal", |bytes| {
            bytes[52..88].fill(b'0');
            let sum = sha2::Sha256::digest(&bytes[..96]);
            bytes[96..128].copy_from_slice(&sum);
        });
        assert_refused(&home, &["read", "b.md"], "damaged", 13, "journal");
    }
}

fn loose_path(home: &Home, id: &str) -> PathBuf {
    home.store().join("objects").join(&id[..2]).join(&id[2..])
}

#[test]
fn an_object_under_the_name_of_another_is_damage() {
    let home = two_memories();
    let log = crate::support::json_lines(&home.run(&["--json", "log"]).stdout);
    let blob = |at: usize| log[at]["memories"][0]["blob"].as_str().expect("a blob");
    let (b, a) = (loose_path(&home, blob(0)), loose_path(&home, blob(1)));
    // What is gone or torn comes back from the journal, as long as that has it.
    for put in [true, false] {
        fs::remove_file(&b).expect("there");
        if put {
            fs::copy(&a, &b).expect("copied");
        }
        assert_eq!(ok(&home.run(&["read", "b.md"])), "text of b");
    }
    fs::remove_file(home.store().join("journal")).expect("there");
    fs::remove_file(&b).expect("written anew");
    fs::copy(&a, &b).expect("copied");
    assert_refused(&home, &["read", "b.md"], "damaged", 13, "hash");
    fs::remove_file(&b).expect("there");
    assert_refused(&home, &["read", "b.md"], "damaged", 13, "missing");
}

/// The advice for a moved branch must not be one that loses commands when it is the journal that
/// is damaged.
#[test]
fn a_damaged_journal_is_not_blamed_on_the_branch() {
    let home = two_memories();
    edit_file(&home, "journal", |bytes| bytes[128] ^= 1);
    let said = stderr(&home.run(&["read", "b.md"]));
    assert!(said.contains("journal"), "{said}");
    assert!(!said.contains("update-ref"), "{said}");
}

// ---- a hostile place ----

fn executable(path: &Path, marker: &Path) {
    let script = format!("#!/bin/sh\ntouch {}\n", marker.display());
    fs::write(path, script).expect("written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("set");
}

/// Configuration and hooks that would take over a git program.
fn make_hostile(home: &Home, marker: &Path) {
    let evil = home.path().join("evil");
    executable(&evil, marker);
    let config = format!(
        "[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tfsmonitor = {evil}\n\
         \thooksPath = {hooks}\n\tpager = {evil}\n\teditor = {evil}\n\tsshCommand = {evil}\n\
         [gpg]\n\tprogram = {evil}\n[gpg \"ssh\"]\n\tprogram = {evil}\n\
         [filter \"x\"]\n\tclean = {evil}\n[include]\n\tpath = {user}\n",
        evil = evil.display(),
        hooks = home.store().join("hooks").display(),
        user = home.path().join(".gitconfig").display(),
    );
    fs::write(home.path().join(".gitconfig"), "[user]\n\tname = x\n").expect("written");
    fs::write(home.store().join("config"), config).expect("written");
    let hooks = home.store().join("hooks");
    fs::create_dir_all(&hooks).expect("made");
    for hook in [
        "pre-commit",
        "post-commit",
        "reference-transaction",
        "update",
        "post-update",
        "pre-receive",
        "fsmonitor-watchman",
    ] {
        executable(&hooks.join(hook), marker);
    }
}

/// Configuration that stops every git program.
fn make_broken(home: &Home) {
    let xdg = home.path().join("config/git");
    fs::create_dir_all(&xdg).expect("made");
    for file in [home.path().join(".gitconfig"), xdg.join("config")] {
        fs::write(file, "[core\nbroken").expect("written");
    }
    let config = "[core]\n\trepositoryformatversion = 99\n\tbare = false\n\tworktree = /\n\
                  [extensions]\n\tobjectFormat = sha256\n[broken";
    fs::write(home.store().join("config"), config).expect("written");
}

fn run_hostile(home: &Home, broken: bool, args: &[&str]) -> String {
    let mut command = home.command(args);
    for name in ["GIT_DIR", "GIT_OBJECT_DIRECTORY", "GIT_CONFIG_GLOBAL"] {
        if broken {
            command.env(name, "/nonexistent");
        }
    }
    for name in ["GIT_SSH_COMMAND", "PAGER", "EDITOR"] {
        command.env(name, home.path().join("evil"));
    }
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    ok(&feed(command, b""))
}

#[test]
fn nothing_of_a_hostile_place_is_run_or_believed() {
    let home = two_memories();
    let marker = home.path().join("was-run");
    make_hostile(&home, &marker);
    if has_peer("git", "the hooks are real ones") {
        let update = ["update-ref", "refs/heads/control", "main"];
        ok(&home.git(&update));
        fs::remove_file(&marker).expect("stock git runs the hook");
    }
    for broken in [false, true] {
        if broken {
            make_broken(&home);
        }
        assert_eq!(run_hostile(&home, broken, &["read", "a.md"]), "text of a");
        run_hostile(&home, broken, &["write", "c.md", "--text", "text of c"]);
        assert_eq!(run_hostile(&home, broken, &["read", "c.md"]), "text of c");
        let log = run_hostile(&home, broken, &["--json", "log"]);
        assert_eq!(log.lines().count(), if broken { 9 } else { 6 });
        run_hostile(&home, broken, &["status"]);
        assert!(!marker.exists());
    }
}

#[test]
fn a_replace_ref_replaces_nothing() {
    let home = two_memories();
    let log = crate::support::json_lines(&home.run(&["--json", "log"]).stdout);
    let blob = |at: usize| log[at]["memories"][0]["blob"].as_str().expect("a blob");
    let folder = home.store().join("refs/replace");
    fs::create_dir_all(&folder).expect("made");
    fs::write(folder.join(blob(0)), format!("{}\n", blob(1))).expect("written");
    for packed in [false, true] {
        if packed {
            ok(&git(&home.store(), &["repack", "-adq"]));
        }
        assert_eq!(ok(&home.run(&["read", "a.md"])), "text of a");
        assert_eq!(ok(&home.run(&["read", "b.md"])), "text of b");
    }
}

#[test]
fn objects_of_another_folder_are_not_borrowed() {
    let home = two_memories();
    let log = crate::support::json_lines(&home.run(&["--json", "log"]).stdout);
    let blob = log[0]["memories"][0]["blob"].as_str().expect("a blob");
    let elsewhere = home.path().join("elsewhere");
    let to = elsewhere.join(&blob[..2]);
    fs::create_dir_all(&to).expect("made");
    fs::create_dir_all(elsewhere.join("pack")).expect("made");
    fs::rename(loose_path(&home, blob), to.join(&blob[2..])).expect("moved");
    let alternates = home.store().join("objects/info/alternates");
    fs::write(alternates, format!("{}\n", elsewhere.display())).expect("written");
    let output = home.run(&["--json", "read", "b.md"]);
    let said = stdout(&output) + &stderr(&output);
    assert_eq!(output.status.code(), Some(13), "{said}");
}
