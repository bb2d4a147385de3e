//! A store that was turned back to an earlier moment is refused, until somebody accepts that.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

use crate::support::{
    Home, assert_verify_ended, has_peer, json_lines, returned_calls, settle, stderr, stdout,
    store_of, strace,
};
use agekeep::crypto::keyfile;
use agekeep::error::Error;
use agekeep::event::Context;
use agekeep::memory_tool::command::Command as MemoryCommand;
use agekeep::store::{Keys, Store};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// Every verb that opens a store, with what it needs.
const VERBS: [&[&str]; 16] = [
    &["status"],
    &["log"],
    &["view", "/memories"],
    &["view", "/memories/1"],
    &["read"],
    &["read", "1"],
    &["create", "/memories/new", "--text", "x"],
    &["str-replace", "/memories/1", "--old", "1", "--new", "x"],
    &["insert", "/memories/1", "0", "--text", "x"],
    &["delete", "/memories/1"],
    &["rename", "/memories/1", "/memories/new"],
    &["write", "new", "--text", "x"],
    &["policy", "get"],
    &["policy", "set", "limits.lines", "9"],
    &["checkpoint"],
    &["tool"],
];

fn ok(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    stdout(output)
}

fn create(home: &Home, names: &[&str]) {
    for name in names {
        ok(&home.run(&["create", &format!("/memories/{name}"), "--text", name]));
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("makes a folder");
    let mode = fs::metadata(from).expect("there").permissions();
    fs::set_permissions(to, mode).expect("mode set");
    for entry in fs::read_dir(from).expect("lists") {
        let path = entry.expect("lists").path();
        let copy = to.join(path.file_name().expect("has a name"));
        if path.is_dir() {
            copy_folder(&path, &copy);
        } else {
            fs::copy(&path, &copy).expect("copies");
        }
    }
}

/// A copy of the store as it is now.
fn keep(home: &Home, name: &str) -> PathBuf {
    let copy = home.path().join(name);
    copy_folder(&home.store(), &copy);
    copy
}

fn put_back(home: &Home, copy: &Path) {
    fs::remove_dir_all(home.store()).expect("there");
    copy_folder(copy, &home.store());
}

/// Puts back where history ended, and no keys: those may be more than history needs.
fn put_history_back(home: &Home, copy: &Path) {
    for file in ["refs/heads/main", "journal", "catalog"] {
        let place = home.store().join(file);
        drop(fs::remove_file(&place));
        fs::copy(copy.join(file), place).expect("copies");
    }
}

fn head(home: &Home) -> String {
    ok(&home.git(&["rev-parse", "main"])).trim().to_owned()
}

/// A home whose store has events 1 to 4, with copies of it after each.
fn with_copies() -> (Home, Vec<PathBuf>) {
    let home = Home::with_store();
    let copies = ["1", "2", "3", "4"].map(|name| {
        create(&home, &[name]);
        keep(&home, &format!("copy-{name}"))
    });
    (home, copies.to_vec())
}

/// The command is refused, with its own code and words, and shows nothing.
fn refused(home: &Home, args: &[&str], code: &str, exit: i32) -> String {
    let output = home.run(&[args, &["--json"]].concat());
    let complaint = stderr(&output);
    assert_eq!(output.status.code(), Some(exit), "{args:?}: {complaint}");
    assert_eq!(stdout(&output), "", "{args:?}");
    let said: Value = serde_json::from_str(&complaint).expect("one object");
    assert_eq!(said["error"]["code"], code, "{args:?}: {said}");
    assert_ne!(said["error"]["hint"], "", "{args:?}");
    said["error"]["message"].as_str().expect("words").to_owned()
}

fn rolled_back(home: &Home, args: &[&str]) -> String {
    refused(home, args, "rolled_back", 13)
}

// ---- the file, as docs/format.md has it ----

struct Slot {
    turn: u64,
    event: u64,
    commit: String,
}

/// The folder of a place: the first half of the SHA-256 of its path.
fn place_in(state: &Path, path: &Path) -> PathBuf {
    let path = path.canonicalize().expect("there");
    let digest = Sha256::digest(path.as_os_str().as_encoded_bytes());
    let id: String = digest[..16].iter().map(|b| format!("{b:02x}")).collect();
    state.join("places").join(id)
}

fn pin(home: &Home) -> PathBuf {
    place_in(&home.state(), &home.store()).join("pin")
}

fn unhex(text: &str) -> Vec<u8> {
    let pair = |at| u8::from_str_radix(&text[at..at + 2], 16).expect("hexadecimal");
    (0..text.len()).step_by(2).map(pair).collect()
}

/// The store's id, as its policy says it.
fn store_id(home: &Home) -> String {
    store_id_of(&home.store())
}

fn store_id_of(store: &Path) -> String {
    let policy = ok(&crate::support::git(store, &["show", "main:agekeep.toml"]));
    let line = policy
        .lines()
        .find_map(|line| line.strip_prefix("store = "));
    line.expect("an id").trim_matches('"').to_owned()
}

fn slot_bytes(home: &Home, slot: &Slot) -> Vec<u8> {
    let object = |commit: &str| home.git(&["cat-file", "commit", commit]).stdout;
    let first = ok(&home.git(&["rev-list", "--max-parents=0", "main"]));
    let mut bytes = [
        b"agekeep-pin-0002",
        &unhex(&store_id(home))[..],
        &slot.turn.to_le_bytes(),
        &slot.event.to_le_bytes(),
        &unhex(&slot.commit),
        &Sha256::digest(object(&slot.commit)),
        &u32::to_le_bytes(2),
        &unhex(first.trim()),
        &Sha256::digest(object(first.trim())),
    ]
    .concat();
    bytes.extend_from_slice(&Sha256::digest(&bytes));
    bytes
}

fn write_pin(home: &Home, slots: [&Slot; 2]) {
    let mut bytes = vec![0; 8192];
    for (at, slot) in [0, 4096].into_iter().zip(slots) {
        let slot = slot_bytes(home, slot);
        bytes[at..at + slot.len()].copy_from_slice(&slot);
    }
    fs::write(pin(home), bytes).expect("writes");
}

/// The slots of the file, the newer first.
fn read_pin(home: &Home) -> Vec<Slot> {
    let bytes = fs::read(pin(home)).expect("reads");
    assert_eq!(bytes.len(), 8192);
    let mut slots: Vec<_> = [0, 4096]
        .into_iter()
        .map(|at| {
            let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8"));
            let slot = Slot {
                turn: number(at + 32),
                event: number(at + 40),
                commit: bytes[at + 48..at + 68]
                    .iter()
                    .map(|b| format!("{b:02x}"))
                    .collect(),
            };
            // What never became durable has no object to take the digest of.
            if home.git(&["cat-file", "-e", &slot.commit]).status.success() {
                let written = slot_bytes(home, &slot);
                assert_eq!(bytes[at..at + 188], written, "as documented");
            }
            slot
        })
        .collect();
    slots.sort_by_key(|slot| std::cmp::Reverse(slot.turn));
    slots
}

/// The commit of each event, oldest first.
fn commits(home: &Home) -> Vec<String> {
    let list = ok(&home.git(&["rev-list", "--reverse", "main"]));
    list.lines().map(str::to_owned).collect()
}

// ---- a running process ----

/// A running `tool`.
struct Session {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    store: PathBuf,
}

impl Session {
    fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("starts");
        Self {
            input: child.stdin.take().expect("piped"),
            output: BufReader::new(child.stdout.take().expect("piped")),
            child,
            store: store_of(&command),
        }
    }

    fn ask(&mut self, path: &str) -> Value {
        let call = json!({"command": "memory_read", "path": path});
        writeln!(self.input, "{call}").expect("listens");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("answers");
        settle(&self.store);
        serde_json::from_str(&line).expect("JSON")
    }

    fn reads(&mut self, path: &str) {
        let answer = self.ask(path);
        assert_eq!(
            (&answer["is_error"], &answer["content"]),
            (&json!(false), &json!(path))
        );
    }

    fn is_refused(&mut self, path: &str) {
        let answer = self.ask(path);
        assert_eq!(answer["is_error"], true, "{answer}");
        assert_eq!(answer["meta"], json!({"error": "rolled_back"}), "{answer}");
        let said = answer["content"].as_str().expect("words");
        assert_eq!(said, "Error: the store's history was rolled back");
    }

    fn end(self) -> Option<i32> {
        let Self {
            mut child,
            input,
            output,
            ..
        } = self;
        drop((input, output));
        child.wait().expect("ends").code()
    }
}

// ---- what is refused ----

#[test]
fn an_older_copy_in_its_place_is_refused_by_every_verb() {
    let (home, copies) = with_copies();
    let newest = head(&home);
    for lost in [&[][..], &["catalog"], &["journal"], &["catalog", "journal"]] {
        put_back(&home, &copies[1]);
        for file in lost {
            fs::remove_file(home.store().join(file)).expect("there");
        }
        let older = head(&home);
        for args in VERBS {
            let said = rolled_back(&home, args);
            assert!(said.contains("event 4 "), "{said}");
            assert!(said.contains(&newest) && said.contains(&older), "{said}");
        }
        assert_eq!(head(&home), older, "nothing was recorded");
        put_back(&home, &copies[3]);
        assert_eq!(
            ok(&home.run(&["read", "4"])),
            "4",
            "the newest copy is good"
        );
        put_back(&home, &copies[3]);
        let said = rolled_back(&home, &["status"]);
        assert!(
            said.contains("event 5 "),
            "now the read is the newest: {said}"
        );
        fs::remove_file(pin(&home)).expect("there");
        ok(&home.run(&["status"]));
    }
}

#[test]
fn one_command_that_is_missing_is_enough() {
    let (home, copies) = with_copies();
    put_back(&home, &copies[2]);
    rolled_back(&home, &["read", "1"]);
    put_back(&home, &copies[3]);
    ok(&home.run(&["status"]));
}

#[test]
fn a_branch_moved_back_without_its_journal_is_refused() {
    let (home, _) = with_copies();
    let newest = head(&home);
    ok(&home.git(&["update-ref", "refs/heads/main", "main~1"]));
    fs::remove_file(home.store().join("journal")).expect("there");
    for args in VERBS {
        rolled_back(&home, args);
    }
    ok(&home.git(&["update-ref", "refs/heads/main", &newest]));
    assert_eq!(ok(&home.run(&["read", "4"])), "4");
}

#[test]
fn a_journal_cut_by_one_record_is_refused() {
    let (home, copies) = with_copies();
    let cut = fs::read(copies[2].join("journal")).expect("reads");
    let head = fs::read(copies[2].join("refs/heads/main")).expect("reads");
    fs::write(home.store().join("journal"), cut).expect("writes");
    fs::write(home.store().join("refs/heads/main"), head).expect("writes");
    rolled_back(&home, &["status"]);
}

#[test]
fn another_history_as_long_or_longer_is_refused() {
    let (home, copies) = with_copies();
    let seen = fs::read(pin(&home)).expect("reads");
    // What somebody with all keys makes elsewhere of an older copy.
    put_back(&home, &copies[2]);
    fs::remove_file(pin(&home)).expect("there");
    for name in ["other", "longer", "longer still"] {
        create(&home, &[name]);
        let here = fs::read(pin(&home)).expect("reads");
        fs::write(pin(&home), &seen).expect("writes");
        for args in VERBS {
            rolled_back(&home, args);
        }
        fs::write(pin(&home), here).expect("writes");
    }
}

#[test]
fn a_commit_of_the_same_name_and_other_bytes_is_another() {
    let (home, _) = with_copies();
    let mut bytes = fs::read(pin(&home)).expect("reads");
    for at in [0, 4096] {
        bytes[at + 68] ^= 1;
        let sum = Sha256::digest(&bytes[at..at + 156]);
        bytes[at + 156..at + 188].copy_from_slice(&sum);
    }
    fs::write(pin(&home), bytes).expect("writes");
    rolled_back(&home, &["status"]);
}

#[test]
fn a_running_process_notices_at_its_next_command() {
    let (home, copies) = with_copies();
    let mut session = Session::start(home.command(&["tool"]));
    session.reads("4");
    let newest = keep(&home, "newest");
    for older in &copies {
        put_history_back(&home, older);
        session.is_refused("1");
        fs::remove_file(home.store().join("catalog")).expect("there");
        session.is_refused("1");
        drop(fs::remove_dir_all(home.state()));
        session.is_refused("1");
    }
    put_history_back(&home, &newest);
    session.reads("4");
    for older in &copies {
        put_back(&home, older);
        session.is_refused("1");
    }
    assert_eq!(session.end(), Some(13), "history was turned back");
}

#[test]
fn a_running_process_notices_also_without_a_place_to_keep_what_it_saw() {
    let (home, copies) = with_copies();
    let keys = Keys {
        identity: keyfile::read_identity(&home.identity()).expect("made by init"),
        signing_key: Some(keyfile::read_signing_key(&home.signing_key()).expect("made by init")),
        state: None,
        keyring: None,
    };
    let clock = Box::new(chrono::Utc::now);
    let mut store = Store::open(&home.store(), keys, clock).expect("opens");
    put_history_back(&home, &copies[2]);
    let read = MemoryCommand::Read {
        path: Some("1".into()),
    };
    for _ in 0..2 {
        let refused = store.execute(&read, &Context::default());
        assert!(matches!(refused, Err(Error::RolledBack { event: 4, .. })));
    }
    assert!(matches!(store.checkpoint(), Err(Error::RolledBack { .. })));
    put_history_back(&home, &copies[3]);
    let read = store.execute(&read, &Context::default());
    assert_eq!(read.expect("the newest copy is good").content.as_str(), "1");
}

#[test]
fn a_running_process_knows_what_others_have_seen() {
    let home = Home::with_store();
    create(&home, &["1"]);
    let mut session = Session::start(home.command(&["tool"]));
    session.reads("1");
    let older = keep(&home, "older");
    create(&home, &["2"]);
    // The session has seen nothing that this copy lacks.
    put_back(&home, &older);
    session.is_refused("1");
    session.end();
}

#[test]
fn what_was_only_looked_at_was_seen() {
    let (home, copies) = with_copies();
    let as_other = |args: &[&str]| {
        let mut command = home.command(args);
        command.env("XDG_STATE_HOME", home.path().join("other"));
        command.output().expect("runs")
    };
    put_back(&home, &copies[0]);
    ok(&as_other(&["status"]));
    put_back(&home, &copies[3]);
    ok(&as_other(&["log"]));
    put_back(&home, &copies[2]);
    let refused = as_other(&["status"]);
    assert_eq!(refused.status.code(), Some(13), "{}", stderr(&refused));
    assert!(
        stderr(&refused).contains("event 4 "),
        "{}",
        stderr(&refused)
    );
}

#[test]
fn init_keeps_what_it_made_where_only_its_owner_looks() {
    let home = Home::with_store();
    let mode = |path: &Path| {
        let mode = fs::metadata(path).expect("there").permissions().mode();
        mode & 0o777
    };
    let pin = pin(&home);
    assert_eq!(mode(&pin), 0o600);
    assert_eq!(mode(pin.parent().expect("a folder")), 0o700);
    assert_eq!(mode(&home.state()), 0o700);
    for slot in read_pin(&home) {
        assert_eq!((slot.event, slot.commit), (0, head(&home)));
    }
}

// ---- commands that never became durable ----

#[test]
fn the_newer_slot_decides() {
    let (home, copies) = with_copies();
    let commits = commits(&home);
    let slot = |event: usize, turn: u64| Slot {
        turn,
        event: event as u64,
        commit: commits[event].clone(),
    };
    for swapped in [false, true] {
        let write = |newer: Slot, older: Slot| {
            let slots = if swapped {
                [&older, &newer]
            } else {
                [&newer, &older]
            };
            write_pin(&home, slots);
        };
        // The objects of what is missing stay, so that the slots can name them.
        let end_at = |event: usize| {
            put_back(&home, &copies[3]);
            ok(&home.git(&["update-ref", "refs/heads/main", &commits[event]]));
            fs::remove_file(home.store().join("journal")).expect("there");
        };
        // The last command was durable and not yet pinned, or its pin was lost with the power.
        end_at(4);
        write(slot(3, 9), slot(2, 8));
        ok(&home.run(&["status"]));
        assert_eq!(read_pin(&home)[0].event, 4, "found at the next look");
        // What is recorded next takes the older slot.
        end_at(3);
        write(slot(3, 9), slot(2, 8));
        ok(&home.run(&["read", "1"]));
        let slots = read_pin(&home);
        assert_eq!((slots[0].event, &slots[0].commit), (4, &head(&home)));
        assert_eq!((slots[1].event, slots[1].turn), (3, 9));
        // It was seen, whatever the older one says.
        end_at(3);
        write(slot(4, 9), slot(3, 8));
        let said = rolled_back(&home, &["status"]);
        assert!(said.contains("event 4 "), "{said}");
        end_at(3);
        write(slot(3, 9), slot(4, 8));
        ok(&home.run(&["status"]));
    }
}

/// Runs a command that may write no file past so many blocks of 512 bytes.
fn with_short_files(home: &Home, args: &[&str], blocks: usize) -> Output {
    let inner = home.command(args);
    let limited = format!("trap '' XFSZ && ulimit -f {blocks} && exec \"$@\"");
    Command::new(crate::support::program("sh"))
        .args(["-c", &limited, "sh"])
        .arg(inner.get_program())
        .args(args)
        .env_clear()
        .envs(
            inner
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .current_dir(home.path())
        .output()
        .expect("sh runs")
}

#[test]
fn a_command_that_could_not_be_recorded_leaves_the_one_before_seen() {
    let home = Home::with_store();
    create(&home, &["1"]);
    let older = keep(&home, "older");
    create(&home, &["2"]);
    fs::write(home.path().join("big"), "x".repeat(300_000)).expect("writes");
    for _ in 0..3 {
        let failed = with_short_files(&home, &["create", "/memories/big", "--file", "big"], 400);
        assert_eq!(failed.status.code(), Some(16), "{}", stderr(&failed));
        let slots = read_pin(&home);
        assert_eq!((slots[0].event, &slots[0].commit), (2, &head(&home)));
    }
    let newest = keep(&home, "newest");
    put_back(&home, &older);
    rolled_back(&home, &["status"]);
    put_back(&home, &newest);
    create(&home, &["3"]);
    let slots = read_pin(&home);
    assert_eq!(slots[0].event, 3);
}

/// What a command asks of the kernel, in order.
fn traced(inner: &Command, home: &Home) -> String {
    traced_with(&["-e", "trace=pwrite64,fdatasync,write"], inner, home)
}

fn traced_with(how: &[&str], inner: &Command, home: &Home) -> String {
    let trace = home.path().join("trace");
    let mut traced = strace(&how.concat());
    traced.arg("-y").args(how).arg("-o");
    traced
        .arg(&trace)
        .arg(inner.get_program())
        .args(inner.get_args())
        .env_clear();
    traced.envs(
        inner
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    ok(&traced.output().expect("runs"));
    returned_calls(&fs::read_to_string(trace).expect("traced")).join("\n")
}

/// A file of calls for `tool`, with blank lines between them: the next is not there when one is
/// read, so that each has a record of its own.
fn calls(home: &Home, count: usize) -> String {
    let path = home.path().join("calls");
    let call = |n| json!({"command": "create", "path": format!("/memories/{n}"), "file_text": "x"});
    let lines = (0..count).map(|n| format!("{}\n\n", call(n)));
    fs::write(&path, lines.collect::<String>()).expect("writes");
    path.display().to_string()
}

/// A process that was killed may have left a record that is not yet on the disk.
#[test]
fn what_others_did_is_pinned_only_once_it_is_durable() {
    if !has_peer("strace", "the order of writes to the pin") {
        return;
    }
    let (home, _) = with_copies();
    let with_other_state = |args: &[&str]| {
        let mut command = home.command(args);
        command.env("XDG_STATE_HOME", home.path().join("other"));
        command
    };
    ok(&with_other_state(&["status"]).output().expect("runs"));
    create(&home, &["5"]);
    let trace = traced(&with_other_state(&["status"]), &home);
    let at = |call: &str, file: &str| {
        let mut lines = trace.lines();
        let found = lines.position(|line| line.contains(call) && line.contains(file));
        found.unwrap_or_else(|| panic!("no {call} of {file} in {trace}"))
    };
    let order = [
        at("fdatasync(", "/journal>"),
        at("pwrite64(", "/other/agekeep/"),
        at("fdatasync(", "/other/agekeep/"),
        at("write(1<", "\"store "),
    ];
    assert!(order.is_sorted(), "{trace}");
}

/// One sync before the answer; the pin's own is done while the process goes on, and in the end.
#[test]
fn a_command_is_answered_once_it_is_durable_and_pinned() {
    if !has_peer("strace", "the order of writes to the pin") {
        return;
    }
    let home = Home::with_store();
    let calls = calls(&home, 2);
    let trace = traced(&home.command(&["tool", &calls]), &home);
    let lines: Vec<_> = trace.lines().collect();
    let at = |from: usize, call: &str, file: &str| {
        let found = lines[from..]
            .iter()
            .position(|line| line.contains(call) && line.contains(file));
        from + found.unwrap_or_else(|| panic!("no {call} of {file} in {trace}"))
    };
    let mut from = 0;
    for _ in 0..2 {
        let recorded = at(from, "pwrite64(", "/journal>");
        let durable = at(recorded, "fdatasync(", "/journal>");
        let pinned = at(durable, "pwrite64(", "/pin>");
        let answered = at(from, "write(1", "File creat");
        assert!(pinned < answered, "{trace}");
        at(pinned, "fdatasync(", "/pin>");
        from = answered + 1;
    }
    let syncs = |file: &str| {
        let of_file =
            { lines.iter() }.filter(|line| line.contains("fdatasync(") && line.contains(file));
        of_file.count()
    };
    assert_eq!(syncs("/journal>"), 2, "one for each command: {trace}");
    // The pin's goes on beside the next command, and can be that of both.
    assert!([1, 2].contains(&syncs("/pin>")), "{trace}");
    assert_eq!(syncs(""), syncs("/journal>") + syncs("/pin>"), "{trace}");
}

/// Of two slots that are both on their way to the disk, the power can take both.
#[test]
fn one_slot_of_the_pin_is_durable_before_the_other_is_written() {
    if !has_peer("strace", "the order of writes to the pin") {
        return;
    }
    let home = Home::with_store();
    let (calls, pin) = (calls(&home, 100), pin(&home).display().to_string());
    // Some commands with time between them, then all others at once.
    let slowly = "{ for n in 1 2 3 4; do read -r call; read -r blank; printf '%s\\n' \"$call\"; sleep 0.3; \
                  done; cat; } <\"$1\" | \"$0\" tool";
    let tool = home.command(&[]);
    let mut inner = Command::new("/bin/sh");
    inner
        .args(["-c", slowly])
        .arg(tool.get_program())
        .arg(&calls);
    inner.envs(
        tool.get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    // Only the pin's sync takes long: many records are durable before it is.
    let how = ["-P", &pin, "-e", "trace=pwrite64,fdatasync"];
    let delayed = ["-e", "inject=fdatasync:delay_enter=60000"];
    let trace = traced_with(&[&how[..], &delayed].concat(), &inner, &home);
    let (mut last, mut synced, mut switches) = (None, true, 0);
    for line in trace.lines().filter(|line| !line.starts_with("---")) {
        if line.starts_with("fdatasync(") {
            synced = true;
            continue;
        }
        // 188 bytes at an offset; a call that another one interrupts has more blanks before its result.
        let slot = line.rsplit_once(", 188, ");
        let slot = slot.and_then(|(_, rest)| Some(rest.split_once(')')?.0.to_owned()));
        assert!(slot.is_some(), "{line}");
        if last.replace(slot.clone()).is_some_and(|last| last != slot) {
            switches += 1;
            assert!(synced, "neither slot is durable: {trace}");
        }
        synced = false;
    }
    assert!(switches > 2, "{trace}");
    assert!(synced, "the last is durable in the end: {trace}");
}

// ---- a pin that is damaged, or cannot be written ----

#[test]
fn a_half_that_is_torn_leaves_the_other() {
    let (home, copies) = with_copies();
    let whole = fs::read(pin(&home)).expect("reads");
    for torn in [0, 4096] {
        let was_newest = whole[torn + 40] == 4;
        for byte in [0, 20, 35, 41, 50, 70, 100, 110, 130, 187] {
            let mut bytes = whole.clone();
            bytes[torn + byte] ^= 1;
            fs::write(pin(&home), &bytes).expect("writes");
            ok(&home.run(&["status"]));
            if was_newest {
                assert_eq!(read_pin(&home)[0].event, 4, "it is whole again");
            }
            fs::write(pin(&home), &bytes).expect("writes");
            put_back(&home, &copies[1]);
            rolled_back(&home, &["status"]);
            put_back(&home, &copies[3]);
        }
    }
}

#[test]
fn a_pin_that_cannot_be_read_is_never_taken_for_none() {
    let (home, _) = with_copies();
    let whole = fs::read(pin(&home)).expect("reads");
    let mut torn = whole.clone();
    torn[50] ^= 1;
    torn[4096 + 50] ^= 1;
    for bytes in [&torn[..], b"", b"garbage", &vec![0; 8192], &whole[..100]] {
        fs::write(pin(&home), bytes).expect("writes");
        let before = head(&home);
        for args in VERBS {
            let said = refused(&home, args, "bad_pin", 13);
            assert!(said.contains(&pin(&home).display().to_string()), "{said}");
        }
        refused(
            &home,
            &["accept-rollback", "--reason", "it is damaged"],
            "bad_pin",
            13,
        );
        assert_eq!(head(&home), before, "nothing was recorded");
        assert_eq!(fs::read(pin(&home)).expect("there"), bytes, "nor pinned");
    }
    fs::remove_file(pin(&home)).expect("there");
    assert_eq!(ok(&home.run(&["read", "4"])), "4");
    assert_eq!(read_pin(&home)[0].event, 5);
}

#[test]
fn a_pin_of_a_later_format_is_refused_as_that() {
    let (home, _) = with_copies();
    let mut bytes = fs::read(pin(&home)).expect("reads");
    for at in [0, 4096] {
        bytes[at + 15] = b'3';
        let sum = Sha256::digest(&bytes[at..at + 156]);
        bytes[at + 156..at + 188].copy_from_slice(&sum);
    }
    fs::write(pin(&home), bytes).expect("writes");
    refused(&home, &["status"], "unknown_format", 1);
}

#[test]
fn a_state_folder_that_is_no_folder_is_an_error() {
    let home = Home::with_store();
    create(&home, &["1"]);
    let before = head(&home);
    fs::remove_dir_all(home.state()).expect("there");
    fs::write(home.state(), "in the way").expect("writes");
    for args in VERBS {
        refused(&home, args, "io", 16);
    }
    assert_eq!(head(&home), before, "nothing was recorded");
}

/// Runs the binary in a mount namespace of its own, after `mount` there; `None` where that cannot
/// be.
fn mounted(home: &Home, mount: &str, args: &[&str]) -> Option<Output> {
    let run = |program: &std::ffi::OsStr, args: &[&str]| {
        let inner = home.command(args);
        Command::new(crate::support::program("unshare"))
            .args(["-rm", "sh", "-c", &format!("{mount} && exec \"$@\""), "sh"])
            .arg(program)
            .args(args)
            .env_clear()
            .envs(
                inner
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .env("STATE", home.path().join(".local/state"))
            .current_dir(home.path())
            .output()
    };
    let works = run("true".as_ref(), &[]).is_ok_and(|probe| probe.status.success());
    if !works {
        eprintln!("\n*** NOT TESTED: nothing can be mounted here: {mount} ***\n");
        return None;
    }
    let program = home.command(&[]).get_program().to_owned();
    Some(run(&program, args).expect("runs"))
}

const READ_ONLY: &str = "mount --bind \"$STATE\" \"$STATE\" && mount -o remount,bind,ro \"$STATE\"";
const EMPTY_AND_READ_ONLY: &str = "mount -t tmpfs -o size=1m,ro agekeep-test \"$STATE\"";
const EMPTY_AND_FULL: &str = "mount -t tmpfs -o size=32k agekeep-test \"$STATE\" && \
     { dd if=/dev/zero of=\"$STATE/filler\" bs=1k 2>/dev/null || true; }";

#[test]
fn a_state_folder_that_cannot_be_written_refuses_commands_and_no_looks() {
    let (home, copies) = with_copies();
    for (mount, why) in [
        (READ_ONLY, "Read-only file system"),
        (EMPTY_AND_READ_ONLY, "Read-only file system"),
        (EMPTY_AND_FULL, "No space left on device"),
    ] {
        let before = head(&home);
        for args in [
            &["status"][..],
            &["log"],
            &["policy", "get"],
            &["checkpoint"],
        ] {
            let Some(look) = mounted(&home, mount, args) else {
                return;
            };
            let said = ok(&look);
            let unkept = args == ["status"] && mount != READ_ONLY;
            assert_eq!(said.contains("could not be remembered"), unkept, "{said}");
        }
        for args in [
            &["read", "1"][..],
            &["create", "/memories/new", "--text", "x"],
        ] {
            let Some(refused) = mounted(&home, mount, args) else {
                return;
            };
            let said = stderr(&refused);
            assert_eq!(refused.status.code(), Some(16), "{args:?}: {said}");
            assert_eq!(stdout(&refused), "");
            assert!(
                said.contains(".local/state") && said.contains(why),
                "{said}"
            );
        }
        assert_eq!(head(&home), before, "nothing was recorded");
    }
    // What can be read still counts.
    put_back(&home, &copies[1]);
    let refused = mounted(&home, READ_ONLY, &["status"]).expect("as before");
    assert_eq!(refused.status.code(), Some(13), "{}", stderr(&refused));
}

// ---- accepting ----

#[test]
fn a_rollback_is_accepted_once_with_a_reason_and_as_an_event() {
    let (home, copies) = with_copies();
    let newest = head(&home);
    let ahead = keep(&home, "ahead");
    put_back(&home, &copies[1]);
    let accept = [
        "accept-rollback",
        "--reason",
        "the disk died",
        "--actor",
        "ada",
        "--session",
        "s9",
    ];
    let said = ok(&home.run(&accept));
    assert!(
        said.contains("event 3") && said.contains("event 4 ") && said.contains(&newest),
        "{said}"
    );

    let log = json_lines(&ok(&home.run(&["log", "--json"])).into_bytes());
    let event = &log[0];
    for (field, value) in [
        ("event", json!(3)),
        ("command", json!("accept_rollback")),
        ("outcome", json!("ok")),
        ("lost", json!({"event": 4, "commit": newest})),
        ("actor", json!("ada")),
        ("session", json!("s9")),
        ("reason", json!("the disk died")),
        ("signer", json!("owner")),
    ] {
        assert_eq!(event[field], value, "{field}");
    }
    let shown = ok(&home.run(&["log", "--command", "accept-rollback"]));
    assert!(
        shown.contains(&format!("lost event 4 ({newest})")),
        "{shown}"
    );

    assert_eq!(ok(&home.run(&["read", "2"])), "2");
    refused(&home, &accept, "not_rolled_back", 6);
    // What was newest before is another history now, and so is what was accepted without that.
    for other in [&ahead, &copies[1], &copies[2]] {
        let kept = keep(&home, "kept");
        put_back(&home, other);
        rolled_back(&home, &["status"]);
        put_back(&home, &kept);
        fs::remove_dir_all(kept).expect("there");
    }
    let fsck = home.git(&["fsck", "--full", "--strict", "--no-progress"]);
    assert!(ok(&fsck).is_empty());
}

#[test]
fn accepting_answers_in_json() {
    let (home, copies) = with_copies();
    let newest = head(&home);
    put_back(&home, &copies[2]);
    let said = ok(&home.run(&["accept-rollback", "--reason", "a test", "--json"]));
    let said: Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!(said["schema"], "agekeep.accept_rollback/1");
    assert_eq!(said["lost"], json!({"event": 4, "commit": newest}));
    assert_eq!(
        (&said["meta"]["event"], &said["meta"]["commit"]),
        (&json!(4), &json!(head(&home)))
    );
}

#[test]
fn without_a_reason_a_key_or_a_rollback_nothing_is_accepted() {
    let (home, copies) = with_copies();
    let reason = ["accept-rollback", "--reason", "because"];
    refused(&home, &reason, "not_rolled_back", 6);
    assert_eq!(commits(&home).len(), 5, "nothing was recorded");
    fs::remove_file(pin(&home)).expect("there");
    refused(&home, &reason, "not_rolled_back", 6);
    ok(&home.run(&["status"]));

    put_back(&home, &copies[1]);
    let (before, pinned) = (head(&home), fs::read(pin(&home)).expect("reads"));
    refused(&home, &["accept-rollback"], "invalid", 2);
    for blank in ["", " ", "\t\n"] {
        refused(&home, &["accept-rollback", "--reason", blank], "invalid", 2);
    }
    let stranger = Home::with_store();
    let key = stranger.signing_key();
    let key = key.to_str().expect("UTF-8");
    refused(
        &home,
        &[&reason[..], &["--signing-key", key]].concat(),
        "not_a_signer",
        7,
    );
    refused(
        &home,
        &[&reason[..], &["--signing-key", "none"]].concat(),
        "no_key_file",
        12,
    );
    let identity = stranger.identity();
    let identity = identity.to_str().expect("UTF-8");
    refused(
        &home,
        &[&reason[..], &["--identity", identity]].concat(),
        "not_a_recipient",
        12,
    );
    refused(
        &home,
        &[&reason[..], &["--store", "none"]].concat(),
        "no_store",
        10,
    );
    assert_eq!(head(&home), before, "nothing was recorded");
    assert_eq!(fs::read(pin(&home)).expect("there"), pinned, "nor pinned");
    rolled_back(&home, &["status"]);
}

#[test]
fn an_acceptance_that_could_not_be_recorded_forgets_nothing() {
    let (home, copies) = with_copies();
    put_back(&home, &copies[2]);
    let accept = ["accept-rollback", "--reason", "a test"];
    for _ in 0..2 {
        // Room for the pin, and none in the journal.
        let failed = with_short_files(&home, &accept, 16);
        assert_eq!(failed.status.code(), Some(16), "{}", stderr(&failed));
        let said = rolled_back(&home, &["status"]);
        assert!(said.contains("event 4 "), "{said}");
    }
    ok(&home.run(&accept));
    ok(&home.run(&["status"]));
}

#[test]
fn an_acceptance_that_was_not_pinned_is_none() {
    let (home, copies) = with_copies();
    put_back(&home, &copies[2]);
    let before = fs::read(pin(&home)).expect("there");
    let accept = ["accept-rollback", "--reason", "a test"];
    ok(&home.run(&accept));
    // The power took what was pinned of it.
    fs::write(pin(&home), before).expect("writes");
    let said = rolled_back(&home, &["status"]);
    assert!(said.contains("event 4 "), "{said}");
    ok(&home.run(&accept));
    let log = json_lines(&ok(&home.run(&["log", "--json"])).into_bytes());
    assert_eq!(
        (&log[0]["lost"]["event"], &log[1]["lost"]["event"]),
        (&json!(4), &json!(4))
    );
    ok(&home.run(&["status"]));
}

#[test]
fn a_process_that_saw_what_is_lost_goes_on_refusing() {
    let (home, copies) = with_copies();
    let mut session = Session::start(home.command(&["tool"]));
    session.reads("4");
    put_back(&home, &copies[1]);
    session.is_refused("1");
    ok(&home.run(&["accept-rollback", "--reason", "a test"]));
    session.is_refused("1");
    session.end();
    assert_eq!(
        ok(&home.run(&["read", "1"])),
        "1",
        "one started anew goes on"
    );
}

// ---- another store in its place ----

/// What a stock program says of a file of keys.
fn public_half(program: &str, args: &[&str], key: &Path) -> String {
    let made = Command::new(program).args(args).arg(key).output();
    ok(&made.expect("runs")).trim().to_owned()
}

/// A store somebody else made, whom the victim's recipient and public key are known to, with a text
/// for the victim to read.
fn poisoned(victim: &Home) -> Home {
    let attacker = Home::with_store();
    // Both stand in the store in the clear.
    let line = |name: &str| ok(&victim.git(&["show", &format!("main:{name}")]));
    let (recipients, signers) = (line("recipients"), line("signers"));
    let recipient = recipients.trim().rsplit(' ').next().expect("a recipient");
    let at = signers.find("ssh-ed25519").expect("a key");
    let key = victim.path().join("victim.pub");
    fs::write(&key, &signers[at..]).expect("writes");
    ok(&attacker.run(&["recipients", "add", "victim", recipient]));
    let key = key.to_str().expect("UTF-8");
    ok(&attacker.run(&["signers", "add", "victim", key]));
    create(&attacker, &["1"]);
    ok(&attacker.run(&["write", "1", "--text", "poisoned"]));
    attacker
}

/// Every file below a folder, with what it holds.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("lists") {
        let path = entry.expect("lists").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push((path.clone(), fs::read(&path).expect("reads")));
        }
    }
    found.sort();
    found
}

/// The ids of what `verify` finds, in full and without a key too.
fn findings(home: &Home) -> Vec<String> {
    let found = |args: &[&str]| {
        let output = home.run(&[&["verify", "--json"], args].concat());
        let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
        let found = report["findings"].as_array().expect("a list").iter();
        let ids: Vec<String> = found
            .map(|finding| {
                assert!(!finding["what"].as_str().expect("words").contains('/'));
                finding["id"].as_str().expect("an id").to_owned()
            })
            .collect();
        assert_verify_ended(&output, &report);
        ids
    };
    let ids = found(&["--full"]);
    assert_eq!(found(&["--identity", "/nowhere"]), ids, "without a key");
    assert_eq!(found(&[]), ids, "from the last point on");
    ids
}

fn another_store(home: &Home, args: &[&str]) -> String {
    refused(home, args, "another_store", 13)
}

#[test]
fn another_store_in_its_place_is_refused_by_every_verb() {
    let (home, copies) = with_copies();
    let attacker = poisoned(&home);
    let pinned = fs::read(pin(&home)).expect("there");
    put_back(&home, &attacker.store());
    let there = files(&home.store());
    let (known, found) = (store_id_of(&copies[3]), store_id(&attacker));
    for args in VERBS {
        let said = another_store(&home, args);
        assert!(said.contains(&known) && said.contains(&found), "{said}");
        let place = home.store().display().to_string();
        assert!(said.contains(&place), "{said}");
    }
    assert_eq!(findings(&home), ["another-store"]);
    assert!(files(&home.store()) == there, "nothing was written into it");
    assert_eq!(fs::read(pin(&home)).expect("there"), pinned, "nor pinned");
    put_back(&home, &copies[3]);
    assert_eq!(ok(&home.run(&["read", "1"])), "1", "the store is good");
}

/// Puts another first commit in the place of a store's history: another text in a public file, and
/// signed by the store's owner.
fn begin_anew(home: &Home, name: &str, text: &str) {
    let fed = |args: &[&str], input: &str| {
        let mut git = Command::new("git");
        git.arg("--git-dir").arg(home.store()).args(args);
        ok(&crate::support::feed(git, input.as_bytes()))
            .trim()
            .to_owned()
    };
    let blob = fed(&["hash-object", "-w", "--stdin"], text);
    let list = ok(&home.git(&["ls-tree", "main"]));
    let others = list
        .lines()
        .filter(|line| !line.ends_with(&format!("\t{name}")));
    let lines: String = others.map(|line| format!("{line}\n")).collect();
    let tree = fed(&["mktree"], &format!("{lines}100644 blob {blob}\t{name}\n"));
    let first = ok(&home.git(&["rev-list", "--max-parents=0", "main"]));
    let commit = ok(&home.git(&["cat-file", "commit", first.trim()]));
    let (headers, message) = commit.split_once("\n\n").expect("a message");
    let rest = headers.split_once('\n').expect("more than a tree").1;
    let rest = rest.split_once("\ngpgsig").expect("a signature").0;
    let headers = format!("tree {tree}\n{rest}\n");
    let mut sign = Command::new("ssh-keygen");
    sign.args(["-Y", "sign", "-q", "-n", "git", "-f"]);
    sign.arg(home.signing_key());
    let signature = ok(&crate::support::feed(
        sign,
        format!("{headers}\n{message}").as_bytes(),
    ));
    let signature = signature.trim_end().replace('\n', "\n ");
    let signed = format!("{headers}gpgsig {signature}\n\n{message}");
    let commit = fed(&["hash-object", "-t", "commit", "-w", "--stdin"], &signed);
    ok(&home.git(&["update-ref", "refs/heads/main", &commit]));
    for file in ["journal", "catalog"] {
        drop(fs::remove_file(home.store().join(file)));
    }
}

#[test]
fn a_store_that_takes_the_id_of_another_is_refused_wherever_it_is() {
    let (home, copies) = with_copies();
    let attacker = Home::with_store();
    let policy = ok(&attacker.git(&["show", "main:agekeep.toml"]));
    let taken = policy.replace(&store_id(&attacker), &store_id(&home));
    begin_anew(&attacker, "agekeep.toml", &taken);
    assert_eq!(store_id(&attacker), store_id(&home));
    put_back(&home, &attacker.store());
    for args in VERBS {
        let said = another_store(&home, args);
        assert!(said.contains("first commit"), "{said}");
    }
    assert!(findings(&home).contains(&"another-store".into()));
    put_back(&home, &copies[3]);
    // Also where nothing was seen before, and whether or not the store is still in its own place.
    let elsewhere = keep(&home, "elsewhere");
    fs::remove_dir_all(&elsewhere).expect("there");
    copy_folder(&attacker.store(), &elsewhere);
    let there = ["--store", elsewhere.to_str().expect("UTF-8")];
    for _ in 0..2 {
        for args in VERBS {
            let said = another_store(&home, &[args, &there].concat());
            let known_at = home.store().display().to_string();
            assert!(said.contains(&known_at), "{said}");
        }
        let report = home.run(&[&["verify", "--json"][..], &there].concat());
        assert!(stdout(&report).contains("another-store"));
        drop(fs::remove_dir_all(home.store()));
    }
}

#[test]
fn a_store_begins_with_the_signature_of_its_only_signer() {
    let home = Home::with_store();
    let line = |home: &Home| ok(&home.git(&["show", "main:signers"]));
    let mine = line(&home);
    for both in [false, true] {
        let attacker = Home::with_store();
        // He cannot sign for the victim, and so names himself too, or hopes that nobody looks.
        let signers = if both {
            format!("{}{}", mine.replace("owner ", "victim "), line(&attacker))
        } else {
            mine.clone()
        };
        begin_anew(&attacker, "signers", &signers);
        let elsewhere = home.path().join(format!("elsewhere-{both}"));
        copy_folder(&attacker.store(), &elsewhere);
        let there = ["--store", elsewhere.to_str().expect("UTF-8")];
        for args in VERBS {
            let said = refused(&home, &[args, &there].concat(), "damaged", 13);
            assert!(said.contains("history begins with it"), "{said}");
        }
    }
}

// ---- links and other names ----

#[test]
fn a_link_in_the_place_of_a_store_leads_to_nothing_else() {
    use std::os::unix::fs::symlink;
    let (home, copies) = with_copies();
    let other = Home::with_store();
    let away = home.path().join("away");
    fs::rename(home.store(), &away).expect("moved");
    let point_to = |to: &Path| {
        drop(fs::remove_file(home.store()));
        symlink(to, home.store()).expect("made");
    };
    point_to(&other.store());
    for args in VERBS {
        another_store(&home, args);
    }
    assert_eq!(findings(&home), ["another-store"]);
    point_to(&copies[1]);
    for args in VERBS {
        rolled_back(&home, args);
    }
    // Where the store itself was moved and a link is left behind, it goes on.
    point_to(&away);
    create(&home, &["5"]);
    assert_eq!(
        stderr(&home.run(&["read", "5"])),
        "",
        "it is no other store"
    );
    // What is seen by one name of it is required by the other.
    let older = keep(&home, "older");
    let by_path = ["--store", away.to_str().expect("UTF-8")];
    ok(&home.run(&[&["read", "5"][..], &by_path].concat()));
    fs::remove_dir_all(&away).expect("there");
    copy_folder(&older, &away);
    rolled_back(&home, &["status"]);
    rolled_back(&home, &[&["status"][..], &by_path].concat());
    // And the link cannot be turned away again.
    point_to(&copies[1]);
    rolled_back(&home, &["status"]);
    fs::remove_file(home.store()).expect("there");
    copy_folder(&copies[1], &home.store());
    rolled_back(&home, &["status"]);
}

#[test]
fn a_link_above_the_store_counts_too() {
    use std::os::unix::fs::symlink;
    let home = Home::empty();
    let agents = home.path().join("agents");
    let store = agents.join("store");
    let there = ["--store", store.to_str().expect("UTF-8")];
    ok(&home.run(&[&["init"][..], &there].concat()));
    let other = Home::with_store();
    fs::rename(&agents, home.path().join("away")).expect("moved");
    symlink(other.path(), &agents).expect("made");
    another_store(&home, &[&["status"][..], &there].concat());
}

// ---- copies ----

fn copy_of(home: &Home, args: &[&str]) -> Value {
    let said = ok(&home.run(&[&["status", "--json"], args].concat()));
    let status: Value = serde_json::from_str(&said).expect("JSON");
    status["copy_of"].clone()
}

/// Once both would have had one pin, and commands given to both made one of them refuse.
#[test]
fn a_restore_drill_beside_the_store_leaves_both_going_on() {
    let (home, copies) = with_copies();
    let drill = ["--store", copies[1].to_str().expect("UTF-8")];
    let in_drill = |args: &[&str]| home.run(&[args, &drill].concat());
    let live = fs::read(pin(&home)).expect("there");
    let first = in_drill(&["status"]);
    let place = home.store().display().to_string();
    let expected = format!("a copy of the store at {place}, 2 events behind what was seen there");
    assert!(ok(&first).contains(&expected), "{}", stdout(&first));
    let note = stderr(&first);
    assert!(note.starts_with("note: first use of the store "), "{note}");
    assert!(note.contains(&expected), "{note}");
    assert_eq!(note.lines().count(), 1, "{note}");
    assert_eq!(stderr(&in_drill(&["status"])), "", "once");
    for turn in 0..3 {
        let name = format!("turn-{turn}");
        create(&home, &[&name]);
        ok(&in_drill(&[
            "create",
            &format!("/memories/{name}"),
            "--text",
            "x",
        ]));
        ok(&in_drill(&["read", "1"]));
        ok(&in_drill(&["verify", "--full"]));
        ok(&in_drill(&["verify"]));
        assert_eq!(ok(&home.run(&["read", "1"])), "1");
        assert_eq!(findings(&home), [""; 0]);
    }
    assert_ne!(fs::read(pin(&home)).expect("there"), live, "it went on");
    // Each place still requires what was seen in it.
    let kept = keep(&home, "kept");
    put_back(&home, &copies[3]);
    rolled_back(&home, &["status"]);
    put_back(&home, &kept);
    fs::remove_dir_all(&copies[1]).expect("there");
    copy_folder(&copies[0], &copies[1]);
    rolled_back(&home, &[&["status"][..], &drill].concat());
    ok(&home.run(&["status"]));
}

#[test]
fn a_copy_that_is_only_read_changes_nothing_for_the_store() {
    let (home, copies) = with_copies();
    let before = fs::read(pin(&home)).expect("there");
    for copy in &copies {
        let there = ["--store", copy.to_str().expect("UTF-8")];
        for args in [
            &["status"][..],
            &["log"],
            &["verify", "--full"],
            &["read", "1"],
        ] {
            ok(&home.run(&[args, &there].concat()));
        }
    }
    assert_eq!(fs::read(pin(&home)).expect("there"), before);
    assert_eq!(ok(&home.run(&["read", "4"])), "4");
}

#[test]
fn status_says_how_a_copy_stands_to_what_was_seen() {
    let (home, copies) = with_copies();
    let there = ["--store", copies[3].to_str().expect("UTF-8")];
    let place = json!(home.store());
    let is = |compared: &str, events: u64, is_there: bool| json!({"path": place, "is_there": is_there, "compared": compared, "events": events});
    assert_eq!(copy_of(&home, &[]), Value::Null, "it is none");
    assert_eq!(copy_of(&home, &there), is("even", 0, true));
    create(&home, &["5"]);
    assert_eq!(copy_of(&home, &there), is("behind", 1, true));
    // It goes its own way.
    ok(&home.run(&[&["read", "1"][..], &there].concat()));
    assert_eq!(copy_of(&home, &there), is("apart", 0, true));
    ok(&home.run(&[&["read", "1"][..], &there].concat()));
    assert_eq!(copy_of(&home, &there), is("apart", 0, true));
    assert_eq!(
        copy_of(&home, &[]),
        Value::Null,
        "nothing is said of the store"
    );
    // It has an event of its own and is not just behind, however many the store has.
    for name in ["6", "7", "8"] {
        create(&home, &[name]);
    }
    assert_eq!(copy_of(&home, &there), is("apart", 0, true));
    // The store was moved.
    let moved = home.path().join("moved");
    fs::rename(home.store(), &moved).expect("moved");
    let there = ["--store", moved.to_str().expect("UTF-8")];
    let first = home.run(&[&["status"][..], &there].concat());
    let expected = format!(
        "the store that was at {} before, and ends with what was seen there",
        home.store().display()
    );
    assert!(ok(&first).contains(&expected), "{}", stdout(&first));
    assert!(stderr(&first).contains(&expected), "{}", stderr(&first));
    ok(&home.run(&[&["read", "1"][..], &there].concat()));
    assert_eq!(copy_of(&home, &there), is("ahead", 1, false));
    // A store that was made anew in that place is no copy of anything.
    ok(&home.run(&["init"]));
    assert_eq!(copy_of(&home, &there), Value::Null);
    assert_eq!(copy_of(&home, &[]), Value::Null);
}

#[test]
fn whoever_makes_a_store_anew_is_not_refused() {
    let (home, copies) = with_copies();
    fs::remove_dir_all(home.store()).expect("there");
    let made = home.run(&["init"]);
    ok(&made);
    assert_eq!(stderr(&made), "", "whoever made it knows it");
    create(&home, &["1"]);
    assert_eq!(stderr(&home.run(&["read", "1"])), "");
    put_back(&home, &copies[3]);
    another_store(&home, &["status"]);
}

// ---- first use ----

#[test]
fn the_first_use_of_a_store_is_said_once_and_by_whom_it_was_made() {
    let (home, _) = with_copies();
    let fingerprint = |home: &Home| {
        let said = public_half("ssh-keygen", &["-l", "-f"], &home.signing_key());
        said.split(' ').nth(1).expect("a fingerprint").to_owned()
    };
    let by = |user: &str, args: &[&str]| {
        let mut command = home.command(args);
        command.env("XDG_STATE_HOME", home.path().join(user));
        crate::support::feed(command, b"")
    };
    for (user, args) in [
        ("1", &["status"][..]),
        ("2", &["read", "1"]),
        ("3", &["tool"]),
        ("4", &["status", "--json"]),
    ] {
        let said = stderr(&by(user, args));
        let place = home.store().display().to_string();
        assert!(said.starts_with("note: first use of the store "), "{said}");
        for part in [&store_id(&home), &fingerprint(&home), &place] {
            assert!(said.contains(part.as_str()), "{part}: {said}");
        }
        assert_eq!(said.lines().count(), 1, "{said}");
        assert_eq!(stderr(&by(user, args)), "", "once");
    }
    assert_eq!(stderr(&by("5", &["status", "-q"])), "");
    assert_eq!(
        stderr(&by("5", &["status"])),
        "",
        "it was seen all the same"
    );
}

#[test]
fn each_user_knows_what_he_has_seen() {
    let (home, copies) = with_copies();
    let other = Home::with_store();
    let by_second = |args: &[&str]| {
        let mut command = home.command(args);
        command.env("XDG_STATE_HOME", home.path().join("second"));
        crate::support::feed(command, b"")
    };
    put_back(&home, &copies[1]);
    ok(&by_second(&["status"]));
    rolled_back(&home, &["status"]);
    put_back(&home, &other.store());
    another_store(&home, &["status"]);
    assert_eq!(by_second(&["status"]).status.code(), Some(13));
    put_back(&home, &copies[3]);
    ok(&by_second(&["status"]));
    ok(&home.run(&["status"]));
}

/// The file as it was before places were told apart.
fn pin_before(home: &Home, event: usize) -> PathBuf {
    let commit = &commits(home)[event];
    let object = home.git(&["cat-file", "commit", commit]).stdout;
    let mut file = vec![0; 8192];
    for (at, turn) in [(0, 7_u64), (4096, 8)] {
        let mut slot = [
            b"agekeep-pin-0001",
            &unhex(&store_id(home))[..],
            &turn.to_le_bytes(),
            &(event as u64).to_le_bytes(),
            &unhex(commit),
            &Sha256::digest(&object),
            &u32::to_le_bytes(2),
        ]
        .concat();
        slot.extend_from_slice(&Sha256::digest(&slot));
        file[at..at + slot.len()].copy_from_slice(&slot);
    }
    let folder = home.state().join(store_id(home));
    fs::create_dir_all(&folder).expect("makes");
    fs::write(folder.join("pin"), file).expect("writes");
    fs::write(folder.join("verified"), "of before").expect("writes");
    folder
}

#[test]
fn what_was_seen_before_places_were_told_apart_is_taken_over_once() {
    let (home, copies) = with_copies();
    fs::remove_dir_all(home.state()).expect("there");
    let folder = pin_before(&home, 4);
    put_back(&home, &copies[1]);
    for args in VERBS {
        let said = rolled_back(&home, args);
        assert!(said.contains("event 4 "), "{said}");
    }
    assert_eq!(findings(&home), ["pin-rolled-back"]);
    let whole = fs::read(folder.join("pin")).expect("there");
    let mut torn = whole.clone();
    torn[50] ^= 1;
    torn[4096 + 50] ^= 1;
    fs::write(folder.join("pin"), torn).expect("writes");
    refused(&home, &["status"], "bad_pin", 13);
    fs::write(folder.join("pin"), whole).expect("writes");
    put_back(&home, &copies[3]);
    ok(&home.run(&["status"]));
    assert!(!folder.exists(), "the place has it now");
    put_back(&home, &copies[1]);
    rolled_back(&home, &["status"]);
}

#[test]
fn what_was_seen_before_places_can_be_given_up_as_any_other() {
    let (home, copies) = with_copies();
    fs::remove_dir_all(home.state()).expect("there");
    let folder = pin_before(&home, 4);
    put_back(&home, &copies[2]);
    let accept = ["accept-rollback", "--reason", "a test"];
    for _ in 0..2 {
        let failed = with_short_files(&home, &accept, 16);
        assert_eq!(failed.status.code(), Some(16), "{}", stderr(&failed));
        assert!(!pin(&home).exists(), "nothing was pinned");
        rolled_back(&home, &["status"]);
    }
    ok(&home.run(&accept));
    assert!(!folder.exists(), "the place knows better now");
    ok(&home.run(&["status"]));
    put_back(&home, &copies[2]);
    rolled_back(&home, &["status"]);
}

// ---- files that somebody put into the state folder ----

#[test]
fn what_is_no_file_in_the_state_folder_is_refused_at_once() {
    let (home, _) = with_copies();
    let folder = pin(&home).parent().expect("a folder").to_owned();
    let secret = home.path().join("secret");
    fs::write(&secret, "of somebody").expect("writes");
    for name in ["pin", "place"] {
        let file = folder.join(name);
        let whole = fs::read(&file).expect("there");
        for kind in [
            "a link",
            "a link to itself",
            "a pipe",
            "a folder",
            "too long",
        ] {
            drop(fs::remove_file(&file));
            match kind {
                "a link" => std::os::unix::fs::symlink(whole_at(&home, &whole), &file),
                "a link to itself" => std::os::unix::fs::symlink(&file, &file),
                "a pipe" => Command::new("mkfifo").arg(&file).status().map(drop),
                "a folder" => fs::create_dir(&file),
                _ => fs::File::create(&file).and_then(|file| file.set_len(60 << 30)),
            }
            .expect("made");
            let said = refused(&home, &["status"], "bad_pin", 13);
            assert!(said.contains(&file.display().to_string()), "{kind}: {said}");
            if kind == "a folder" {
                fs::remove_dir(&file).expect("there");
            }
        }
        drop(fs::remove_file(&file));
        fs::write(&file, whole).expect("writes");
        ok(&home.run(&["status"]));
    }
    fs::write(folder.join("place"), "{}").expect("writes");
    refused(&home, &["status"], "bad_pin", 13);
    assert_eq!(fs::read(&secret).expect("there"), b"of somebody");
}

/// A file elsewhere that holds what the one in the state folder did.
fn whole_at(home: &Home, bytes: &[u8]) -> PathBuf {
    let path = home.path().join("whole");
    fs::write(&path, bytes).expect("writes");
    path
}

#[test]
fn a_place_says_what_it_is_to_people() {
    let home = Home::with_store();
    let folder = pin(&home).parent().expect("a folder").to_owned();
    let text = fs::read_to_string(folder.join("place")).expect("there");
    let place: Value = serde_json::from_str(&text).expect("JSON");
    let owner = public_half("ssh-keygen", &["-y", "-f"], &home.signing_key());
    let owner: Vec<_> = owner.split(' ').take(2).collect();
    assert_eq!(
        place,
        json!({
            "agekeep": 1,
            "path": home.store().canonicalize().expect("there"),
            "store": store_id(&home),
            "owner": owner.join(" "),
        })
    );
}

// ---- accepting another store ----

#[test]
fn another_store_is_accepted_with_a_reason_and_as_an_event() {
    let (home, copies) = with_copies();
    let (newest, known) = (head(&home), store_id(&home));
    // The same person's: made elsewhere, and put here.
    let second = home.path().join("second");
    let there = ["--store", second.to_str().expect("UTF-8")];
    ok(&home.run(&[&["init"][..], &there].concat()));
    put_back(&home, &second);
    let pinned = fs::read(pin(&home)).expect("there");
    another_store(&home, &["status"]);
    refused(&home, &["accept-rollback"], "invalid", 2);
    let stranger = Home::with_store();
    let key = stranger.signing_key();
    let accept = ["accept-rollback", "--reason", "a new beginning"];
    let with_key = ["--signing-key", key.to_str().expect("UTF-8")];
    let args = [&accept[..], &with_key].concat();
    refused(&home, &args, "not_a_signer", 7);
    assert_eq!(commits(&home).len(), 1, "nothing was recorded");
    assert_eq!(fs::read(pin(&home)).expect("there"), pinned, "nor pinned");
    another_store(&home, &["status"]);

    let said = ok(&home.run(&accept));
    for part in [&known, &store_id(&home), &newest] {
        assert!(said.contains(part.as_str()), "{part}: {said}");
    }
    let log = json_lines(&ok(&home.run(&["log", "--json"])).into_bytes());
    assert_eq!(log[0]["command"], "accept_rollback");
    assert_eq!(log[0]["reason"], "a new beginning");
    assert_eq!(log[0]["lost"], json!({"event": 4, "commit": newest}));
    create(&home, &["new"]);
    assert_eq!(findings(&home), [""; 0]);
    refused(&home, &accept, "not_rolled_back", 6);
    // The store that was there before is another one now.
    put_back(&home, &copies[3]);
    another_store(&home, &["status"]);
    let said = ok(&home.run(&[&accept[..], &["--json"]].concat()));
    let said: Value = serde_json::from_str(&said).expect("JSON");
    assert_ne!(said["store"], json!(known));
    ok(&home.run(&["status"]));
}

#[test]
fn an_acceptance_of_another_store_that_could_not_be_recorded_forgets_nothing() {
    let (home, _) = with_copies();
    let second = home.path().join("second");
    let there = ["--store", second.to_str().expect("UTF-8")];
    ok(&home.run(&[&["init"][..], &there].concat()));
    let text = "x".repeat(9_000);
    let create = ["create", "/memories/1", "--text", &text];
    ok(&home.run(&[&create[..], &there].concat()));
    put_back(&home, &second);
    let accept = ["accept-rollback", "--reason", "a test"];
    for _ in 0..2 {
        // Room for the pin, and none in the journal.
        let failed = with_short_files(&home, &accept, 16);
        assert_eq!(failed.status.code(), Some(16), "{}", stderr(&failed));
        another_store(&home, &["status"]);
    }
    ok(&home.run(&accept));
    ok(&home.run(&["status"]));
}

#[test]
fn a_running_process_refuses_another_store_too() {
    let (home, _) = with_copies();
    let other = Home::with_store();
    let mut session = Session::start(home.command(&["tool"]));
    session.reads("4");
    let newest = keep(&home, "newest");
    put_back(&home, &other.store());
    let answer = session.ask("1");
    assert_eq!(answer["is_error"], true, "{answer}");
    put_back(&home, &newest);
    session.reads("4");
    session.end();
}
