//! A disk that is full, cannot be written, or takes no long file: nothing acknowledged is lost.

use std::env;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

use crate::crash::model::{checkpoint, of_another_boot};
use crate::support::{Home, json_lines, settle, stderr, stdout};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Names the small disk to a test that runs again on it.
const DISK: &str = "AGEKEEP_TEST_DISK";
const MOUNT: &str = "mount -t tmpfs -o size=2m agekeep-test \"$1\" && shift && exec \"$@\"";
const TEXT_BYTES: usize = 20_000;
const BALLAST_BYTES: usize = 400_000;

/// Runs `test` again in a mount namespace of its own, with its temporary folder on a disk of
/// 2 MiB. `true` there; `false` outside, once that run has succeeded.
fn on_a_small_disk(test: &str) -> bool {
    if env::var_os(DISK).is_some() {
        return true;
    }
    let folder = TempDir::new().expect("a temporary folder");
    let mounted = |program: &Path, args: &[&str]| {
        Command::new("unshare")
            .args(["-rm", "sh", "-c", MOUNT, "sh"])
            .arg(folder.path())
            .arg(program)
            .args(args)
            .env(DISK, folder.path())
            .env("TMPDIR", folder.path())
            .output()
    };
    let works = mounted(Path::new("true"), &[]).is_ok_and(|probe| probe.status.success());
    if !works {
        eprintln!("\n*** NOT TESTED: no small disk can be mounted here: {test} ***\n");
        return false;
    }
    let program = env::current_exe().expect("this test");
    let run = mounted(
        &program,
        &["--exact", &format!("disk::{test}"), "--nocapture"],
    )
    .expect("runs again");
    let said = stdout(&run) + &stderr(&run);
    assert!(
        run.status.success() && said.contains("1 passed"),
        "on a small disk: {said}"
    );
    false
}

/// Writes into a file until the disk is full.
fn fill(path: &Path) {
    let mut file = File::create(path).expect("makes a file");
    for size in [64 * 1024, 4 * 1024, 512, 1] {
        while file.write_all(&vec![b'x'; size]).is_ok() {}
    }
}

fn create(n: usize, bytes: usize) -> Value {
    json!({"command": "create", "path": format!("/memories/{n}"), "file_text": text(n, bytes)})
}

fn text(n: usize, bytes: usize) -> String {
    format!("{n} ").repeat(bytes / format!("{n} ").len())
}

fn memory_read(n: usize) -> Value {
    json!({"command": "memory_read", "path": n.to_string()})
}

/// A running `tool`.
struct Session {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    store: PathBuf,
}

impl Session {
    fn start(home: &Home) -> Self {
        let mut child = home
            .command(&["tool"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starts");
        Self {
            input: child.stdin.take().expect("piped"),
            output: BufReader::new(child.stdout.take().expect("piped")),
            child,
            store: home.store(),
        }
    }

    fn ask(&mut self, call: &Value) -> Value {
        let sent = writeln!(self.input, "{call}");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("reads");
        if sent.is_err() || line.is_empty() {
            let mut complaint = String::new();
            let errors = self.child.stderr.take().expect("piped");
            std::io::Read::read_to_string(&mut BufReader::new(errors), &mut complaint).ok();
            panic!("the session is dead: {complaint}");
        }
        settle(&self.store);
        serde_json::from_str(&line).expect("JSON")
    }

    fn succeeds(&mut self, call: &Value) -> String {
        let answer = self.ask(call);
        assert_eq!(answer["is_error"], false, "{answer}");
        answer["content"].as_str().expect("a text").to_owned()
    }

    /// Whether the command failed for want of space, in clear words.
    fn lacks_space(&mut self, call: &Value) -> bool {
        let answer = self.ask(call);
        if answer["is_error"] == false {
            return false;
        }
        assert_eq!(answer["meta"], json!({"error": "io"}), "{answer}");
        let content = answer["content"].as_str().expect("a text");
        assert!(content.starts_with("Error: the store cannot "), "{content}");
        assert!(content.contains("No space left on device"), "{content}");
        assert!(
            content.contains("free some space and try again"),
            "{content}"
        );
        true
    }
}

/// Exactly these memories are there, for stock git too.
fn check(home: &Home, count: usize, bytes: impl Fn(usize) -> usize) {
    let calls: String = (0..count)
        .map(|n| format!("{}\n", memory_read(n)))
        .collect();
    for (n, answer) in home.tool(&calls).iter().enumerate() {
        assert_eq!(answer["is_error"], false, "{n}: {answer}");
        assert!(answer["content"] == text(n, bytes(n)), "{n}: another text");
    }
    let status = home.run(&["status", "--json"]);
    assert_eq!(
        json_lines(&status.stdout)[0]["memories"],
        count,
        "{}",
        stdout(&status)
    );
    check_git(home);
}

fn check_git(home: &Home) {
    let checked = home.git(&["fsck", "--full", "--strict", "--no-progress"]);
    let said = stdout(&checked) + &stderr(&checked);
    assert!(checked.status.success() && said.is_empty(), "fsck: {said}");
    for folder in [
        home.store(),
        home.store().join("refs/heads"),
        home.store().join("objects"),
    ] {
        let left: Vec<_> = fs::read_dir(folder)
            .expect("lists")
            .map(|entry| {
                entry
                    .expect("lists")
                    .file_name()
                    .into_string()
                    .expect("UTF-8")
            })
            .filter(|name| name.contains("tmp") || name == "journal.new")
            .collect();
        assert!(left.is_empty(), "left over: {left:?}");
    }
}

/// A one-shot command fails with exit code 16, says why and what to do, and shows nothing.
fn fails_for_io(output: &Output, why: &str, hint: &str) {
    let complaint = stderr(output);
    assert_eq!(
        output.status.code(),
        Some(16),
        "{complaint}{}",
        stdout(output)
    );
    assert_eq!(stdout(output), "");
    assert!(complaint.starts_with("error: cannot "), "{complaint}");
    assert!(complaint.contains(why), "{complaint}");
    assert!(
        complaint.contains(&format!("\nhint: {hint}")),
        "{complaint}"
    );
}

#[test]
fn a_disk_that_fills_up_refuses_commands_and_keeps_what_was_acknowledged() {
    if !on_a_small_disk("a_disk_that_fills_up_refuses_commands_and_keeps_what_was_acknowledged") {
        return;
    }
    let home = Home::with_store();
    let ballast = home.path().join("ballast");
    fs::write(&ballast, vec![b'x'; BALLAST_BYTES]).expect("fits");
    let mut session = Session::start(&home);
    let mut count = 0;
    while !session.lacks_space(&create(count, TEXT_BYTES)) {
        count += 1;
    }
    assert!(count > 5, "only {count} memories fit");
    // The same process goes on being refused, and nothing it is told is untrue.
    for n in 0..3 {
        session.lacks_space(&create(count, TEXT_BYTES));
        session.lacks_space(&memory_read(n));
    }
    let big = "x".repeat(300_000);
    let refused = home.run(&["create", "/memories/big", "--text", &big[..100_000]]);
    fails_for_io(
        &refused,
        "No space left on device",
        "free some space and try again",
    );

    fs::remove_file(&ballast).expect("there");
    for n in 0..count {
        assert!(
            session.succeeds(&memory_read(n)) == text(n, TEXT_BYTES),
            "{n}"
        );
    }
    let is_new = session.ask(&memory_read(count))["is_error"] == true;
    assert!(is_new, "a command that failed happened all the same");
    session.succeeds(&create(count, TEXT_BYTES));
    check(&home, count + 1, |_| TEXT_BYTES);
}

#[test]
fn a_command_acknowledged_on_a_full_disk_is_there_when_there_is_space() {
    if !on_a_small_disk("a_command_acknowledged_on_a_full_disk_is_there_when_there_is_space") {
        return;
    }
    for killed in [false, true] {
        let home = Home::with_store();
        let mut session = Session::start(&home);
        session.succeeds(&create(0, 100));
        let filler = home.path().join("filler");
        fill(&filler);
        assert!(
            session.lacks_space(&create(1, 300_000)),
            "the journal cannot grow"
        );
        // The journal has some room of its own.
        session.succeeds(&create(1, 100));
        let refused = session.lacks_space(&create(2, 100));
        assert!(refused, "there is no room for objects");
        if killed {
            session.child.kill().expect("kills");
            session.child.wait().expect("ends");
            let status = home.run(&["view", "/memories/1"]);
            fails_for_io(
                &status,
                "No space left on device",
                "free some space and try again",
            );
        }
        fs::remove_file(&filler).expect("there");
        if !killed {
            assert!(session.succeeds(&memory_read(1)) == text(1, 100));
            session.succeeds(&create(2, 100));
        }
        check(&home, if killed { 2 } else { 3 }, |_| 100);
    }
}

#[test]
fn init_on_a_full_disk_leaves_nothing_behind() {
    if !on_a_small_disk("init_on_a_full_disk_leaves_nothing_behind") {
        return;
    }
    let home = Home::with_store();
    fill(&home.path().join("filler"));
    let names = || {
        let names = fs::read_dir(home.path()).expect("lists");
        let mut names: Vec<_> = names.map(|name| name.expect("lists").file_name()).collect();
        names.sort();
        names
    };
    let before = names();
    let other = home.path().join("other");
    let made = home.run(&["init", "--store", other.to_str().expect("UTF-8")]);
    fails_for_io(
        &made,
        "No space left on device",
        "free some space and try again",
    );
    assert_eq!(names(), before);
}

fn remount(how: &str) {
    let folder = PathBuf::from(env::var_os(DISK).expect("on a small disk"));
    let done = Command::new("mount")
        .args(["-o", &format!("remount,{how}")])
        .arg(folder)
        .output()
        .expect("mount runs");
    assert!(done.status.success(), "{}", stderr(&done));
}

#[test]
fn a_store_that_cannot_be_written_tells_its_log_and_no_content() {
    if !on_a_small_disk("a_store_that_cannot_be_written_tells_its_log_and_no_content") {
        return;
    }
    let home = Home::with_store();
    home.tool(&format!("{}\n{}\n", create(0, 100), create(1, 100)));
    for catalog in [true, false] {
        if !catalog {
            fs::remove_file(home.store().join("catalog")).expect("there");
        }
        remount("ro");
        let status = home.run(&["status"]);
        assert!(status.status.success(), "{}", stderr(&status));
        assert!(
            stdout(&status).contains("memories    2 "),
            "{}",
            stdout(&status)
        );
        let log = home.run(&["log", "--json", "-n", "3"]);
        assert!(log.status.success(), "{}", stderr(&log));
        assert_eq!(json_lines(&log.stdout).len(), 3);
        for args in [
            &["view", "/memories/0"][..],
            &["view", "/memories"],
            &["read", "0"],
            &["read"],
            &["create", "/memories/2", "--text", "x"],
            &["delete", "/memories/0"],
        ] {
            let (why, hint) = (
                "Read-only file system",
                "make both writable: every command is recorded",
            );
            fails_for_io(&home.run(args), why, hint);
        }
        let tool = home.run_with_input(&["tool"], &format!("{}\n", memory_read(0)));
        assert!(!tool.status.success());
        assert!(!stdout(&tool).contains("0 0 0"), "{}", stdout(&tool));
        remount("rw");
        check(&home, 2, |_| 100);
    }
}

#[test]
fn a_store_that_cannot_be_written_is_read_after_a_restart_too() {
    if !on_a_small_disk("a_store_that_cannot_be_written_is_read_after_a_restart_too") {
        return;
    }
    let home = Home::with_store();
    home.tool(&format!("{}\n{}\n", create(0, 100), create(1, 100)));
    let is_read = |when: &str| {
        of_another_boot(&home);
        remount("ro");
        let log = home.run(&["log", "--json", "-n", "3"]);
        assert!(log.status.success(), "{when}: {}", stderr(&log));
        assert_eq!(json_lines(&log.stdout).len(), 3, "{when}");
        remount("rw");
    };
    is_read("with records in the journal");
    checkpoint(&home);
    is_read("with an empty journal");
    check(&home, 2, |_| 100);
}

/// Runs a command that may write no file past 200 KB; `signal` is what a write past it does.
fn with_short_files(home: &Home, args: &[&str], signal: &str) -> Output {
    let inner = home.command(args);
    let limited = format!("{signal} ulimit -f 400 && exec \"$@\"");
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
        .output()
        .expect("sh runs")
}

#[test]
fn a_limit_on_file_sizes_is_an_error_and_loses_nothing() {
    let home = Home::with_store();
    home.tool(&format!("{}\n", create(0, 100)));
    let big = home.path().join("big");
    fs::write(&big, text(7, 300_000)).expect("writes");
    let args = ["create", "/memories/7", "--file", "big"];
    let refused = with_short_files(&home, &args, "cd \"$HOME\" && trap '' XFSZ &&");
    fails_for_io(&refused, "File too large", "check the disk and try again");
    check(&home, 1, |_| 100);
    let killed = with_short_files(&home, &args, "cd \"$HOME\" &&");
    assert!(!killed.status.success());
    check(&home, 1, |_| 100);
    let small = ["create", "/memories/1", "--text", &text(1, 100)];
    let made = with_short_files(&home, &small, "");
    assert!(made.status.success(), "{}", stderr(&made));
    check(&home, 2, |_| 100);
}

/// Runs a command with the keyring on a disk that cannot be written.
fn with_a_read_only_keyring(home: &Home, args: &[&str]) -> Output {
    let inner = home.command(args);
    let bound =
        "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\" && shift && exec \"$@\"";
    Command::new(crate::support::program("unshare"))
        .args(["-rm", "sh", "-c", bound, "sh"])
        .arg(home.store().join("keyring"))
        .arg(inner.get_program())
        .args(args)
        .env_clear()
        .envs(
            inner
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .output()
        .expect("unshare runs")
}

#[test]
fn a_keyring_that_cannot_be_written_takes_no_new_memory_and_keeps_nothing_else_from_being_done() {
    if !on_a_small_disk(
        "a_keyring_that_cannot_be_written_takes_no_new_memory_and_keeps_nothing_else_from_being_done",
    ) {
        return;
    }
    let home = Home::with_store();
    home.tool(&format!("{}\n", create(0, 100)));
    for _ in 0..2 {
        let args = ["create", "/memories/1", "--text", "x"];
        let refused = with_a_read_only_keyring(&home, &args);
        let (why, hint) = (
            "Read-only file system",
            "make both writable: every command is recorded",
        );
        fails_for_io(&refused, why, hint);
    }
    for args in [
        &["status"][..],
        &["log"],
        &["view", "/memories/0"],
        &["verify", "--full"],
    ] {
        let output = with_a_read_only_keyring(&home, args);
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    }
    check(&home, 1, |_| 100);
}

/// As after a command that was cut off between its record and its keys.
#[test]
fn keys_that_cannot_be_brought_to_their_place_are_said_to_be_on_a_read_only_disk() {
    if !on_a_small_disk(
        "keys_that_cannot_be_brought_to_their_place_are_said_to_be_on_a_read_only_disk",
    ) {
        return;
    }
    let home = Home::with_store();
    let parent = stdout(&home.git(&["rev-parse", "main"]));
    home.tool(&format!("{}\n", create(0, 100)));
    fs::write(home.store().join("refs/heads/main"), parent).expect("written");
    let refused = with_a_read_only_keyring(&home, &["log"]);
    fails_for_io(
        &refused,
        "Read-only file system",
        "make both writable: every command is recorded",
    );
    check(&home, 1, |_| 100);
}

#[test]
fn a_limit_on_open_files_is_said_as_what_it_is() {
    let home = Home::with_store();
    let inner = home.command(&["view", "/memories"]);
    let limited = |files: u32| {
        Command::new(crate::support::program("sh"))
            .args(["-c", &format!("ulimit -n {files}; exec \"$@\""), "sh"])
            .arg(inner.get_program())
            .args(inner.get_args())
            .env_clear()
            .envs(
                inner
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .output()
            .expect("sh runs")
    };
    let said = (3..20)
        .map(|files| stderr(&limited(files)))
        .find(|said| said.starts_with("error: cannot ") && said.contains("Too many open files"));
    let said = said.expect("some file is one too many");
    assert!(
        said.contains("\nhint: raise the limit of open files"),
        "{said}"
    );
}

/// A host that sends on and on is stopped before the disk is full, and commands go on.
#[test]
fn a_host_that_floods_leaves_room_for_commands() {
    if !on_a_small_disk("a_host_that_floods_leaves_room_for_commands") {
        return;
    }
    let home = Home::with_store();
    let host = home.path().join("host.git");
    let mut git = Command::new("git");
    git.args(["init", "-q", "--bare", "-b", "main"]).arg(&host);
    assert!(git.status().expect("git runs").success());
    let url = host.to_str().expect("UTF-8");
    assert!(home.run(&["remote", "add", "origin", url]).status.success());
    // A git that gets bytes as long as it lives, and says nothing; and one whose child does, also without it.
    let slowly = "while :; do
        head -c 65536 /dev/zero >> objects/pack/tmp_pack_x 2>/dev/null; sleep 0.05
    done";
    let by_a_child = "(cat /dev/zero; sleep 3) > objects/pack/tmp_pack_x 2>/dev/null & wait $!";
    let verbs = [&["pull"][..], &["sync"], &["verify", "--remote", "origin"]];
    // What a child holds stays taken for a while, so that is tried once.
    for (number, how, verbs) in [(0, slowly, &verbs[..]), (1, by_a_child, &verbs[..1])] {
        let bin = home.path().join(format!("bin{number}"));
        fs::create_dir(&bin).expect("makes a folder");
        let git = bin.join("git");
        let program = format!(
            "#!/bin/sh
             case \" $* \" in
               *' ls-remote '*) printf '%040d\\trefs/heads/main\\n' 7; exit;;
               *' fetch '*) ;;
               *) exit 1;;
             esac
             {how}\n"
        );
        fs::write(&git, program).expect("fits");
        fs::set_permissions(&git, fs::Permissions::from_mode(0o755)).expect("is ours");
        let path = format!("{}:{}", bin.display(), env::var("PATH").expect("set"));
        for verb in verbs {
            let mut command = home.command(verb);
            let refused = command.env("PATH", &path).output().expect("runs");
            let said = stderr(&refused);
            assert_eq!(refused.status.code(), Some(16), "{verb:?} {how} {said}");
            assert!(
                said.contains("three quarters of what was free"),
                "{how} {said}"
            );
            let name = format!("{}-{number}.md", verb[0]);
            let went_on = home.run(&["create", &name, "--text", "x"]);
            assert!(went_on.status.success(), "{how} {}", stderr(&went_on));
        }
    }
    let names = fs::read_dir(home.store()).expect("a folder").flatten();
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    assert!(!names.into_iter().any(|name| name.contains("-init-")));
    assert!(home.run(&["verify", "--full"]).status.success());
}
