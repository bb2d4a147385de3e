//! Changes of keys that are cut off: all of it counts or nothing, and the same command goes on.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use crate::keys::team::Team;
use crate::support::{AFTER_ALL, Home, every, has_peer, last_time, stderr, stdout, strace};

const CALLS: [&str; 10] = [
    "write",
    "pwrite64",
    "renameat",
    "renameat2",
    "unlinkat",
    "mkdirat",
    "fsync",
    "fdatasync",
    "syncfs",
    "flock",
];

fn copy(from: &Path, to: &Path) {
    fs::remove_dir_all(to).ok();
    let copied = Command::new("cp").arg("-a").arg(from).arg(to).status();
    assert!(copied.expect("cp runs").success());
}

/// Keeps the store, and what was seen of it.
fn keep(team: &Team, aside: &Path) {
    fs::create_dir_all(aside).expect("made");
    copy(&team.home.store(), &aside.join("store"));
    copy(&team.home.state(), &aside.join("state"));
}

fn put_back(team: &Team, aside: &Path) {
    copy(&aside.join("store"), &team.home.store());
    copy(&aside.join("state"), &team.home.state());
}

/// Runs a command that the kernel kills, or fails, at a system call.
fn injected(team: &Team, args: &[&str], call: &str, what: &str) -> Output {
    let traced = team.home.command(args);
    strace(what)
        .arg("-o")
        .arg(team.home.path().join("calls"))
        .args(["-e", &format!("trace={call}")])
        .args(["-e", &format!("inject={call}:{what}")])
        .arg(traced.get_program())
        .args(traced.get_args())
        .env_clear()
        .envs(
            traced
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .current_dir(team.home.path())
        .output()
        .expect("strace runs")
}

/// A team of whom `bob` comes or goes, with a few memories.
fn team() -> (Team, PathBuf) {
    let team = Team::new();
    team.create("a.md", "text of a\n");
    team.create("b.md", "text of b\n");
    team.create("gone.md", "text of gone\n");
    team.ok(&["rm", "/memories/gone.md"]);
    team.add("carol", "reader");
    let aside = team.home.path().join("aside");
    (team, aside)
}

fn is_member(team: &Team, name: &str) -> bool {
    team.members().iter().any(|(member, _)| member == name)
}

/// Everything is before or after, nobody is let in or out in silence, and the command can be given
/// again.
fn check(team: &Team, args: &[&str], run: &Output, when: &str) {
    assert!(!stderr(run).contains("panicked"), "{when}: {}", stderr(run));
    let acknowledged = run.status.success();
    let there = is_member(team, "bob");
    let opens = team.run_as("bob", &["read", "/memories/a.md"]);
    assert_eq!(opens.status.success(), there, "{when}: {}", stderr(&opens));
    let adds = args.contains(&"add");
    assert!(
        !acknowledged || there == adds || args[0] == "rekey",
        "{when}"
    );
    assert_eq!(
        team.ok(&["read", "/memories/a.md"]),
        "text of a\n",
        "{when}"
    );
    team.assert_verified(when);
    let done = there == adds || args[0] == "rekey";
    if !done {
        team.ok(args);
        assert_eq!(is_member(team, "bob"), adds, "{when}: given again");
    }
    assert_eq!(
        team.ok_as("carol", &["read", "/memories/b.md"]),
        "text of b\n",
        "{when}"
    );
    // What was begun and cut off is no problem once another change of keys is done.
    team.ok(&["rekey"]);
    let status = team.ok(&["status"]);
    assert!(!status.contains("not finished"), "{when}: {status}");
    let left = fs::read_dir(team.home.store().join("keyring")).expect("there");
    assert_eq!(left.count(), 4, "{when}: something is left in the keyring");
    team.assert_verified(when);
}

fn killed_at_each_call(team: &Team, aside: &Path, args: &[&str]) {
    keep(team, aside);
    let (what, step) = ("signal=KILL", every(8));
    let mut cuts = 0;
    let never = format!("error=EIO:when={AFTER_ALL}");
    injected(team, args, &CALLS.join(","), &never);
    let trace = team.home.path().join("calls");
    let last = CALLS.map(|call| last_time(&trace, call));
    put_back(team, aside);
    for (nth, call) in CALLS.into_iter().enumerate() {
        // Of each call an early one, however few there are.
        for number in (1 + nth % step.min(2)..=last[nth]).step_by(step) {
            let run = injected(team, args, call, &format!("{what}:when={number}"));
            let when = format!("{args:?} with {what} at {call} {number}");
            let ended = run.status.success();
            check(team, args, &run, &when);
            put_back(team, aside);
            if ended || number > 60 {
                break;
            }
            cuts += 1;
        }
    }
    assert!(cuts > 20 / step, "{args:?}: only {cuts} cuts");
}

#[test]
fn killed_at_every_system_call_while_somebody_is_let_in() {
    if !has_peer("strace", "kills while a member is added") {
        return;
    }
    let (team, aside) = team();
    let bob = team.recipient("bob");
    killed_at_each_call(&team, &aside, &["recipients", "add", "bob", &bob]);
}

#[test]
fn killed_at_every_system_call_while_somebody_leaves() {
    if !has_peer("strace", "kills while a member is removed") {
        return;
    }
    let (team, aside) = team();
    team.add("bob", "reader");
    killed_at_each_call(&team, &aside, &["recipients", "rm", "bob"]);
}

#[test]
fn killed_at_every_system_call_while_everything_gets_new_keys() {
    if !has_peer("strace", "kills during a rekey") {
        return;
    }
    let (team, aside) = team();
    killed_at_each_call(&team, &aside, &["rekey"]);
}

/// The bytes of a line of `resealed` (docs/format.md).
const LINE: usize = 202;

/// Returns the list of what a change of keys has re-encrypted so far, if one is going on.
fn resealed(team: &Team) -> Option<PathBuf> {
    let folder = fs::read_dir(team.home.store().join("keyring")).expect("there");
    let mut entries = folder.flatten();
    let next = entries.find(|entry| entry.file_name().to_string_lossy().starts_with("next-"))?;
    Some(next.path().join("resealed"))
}

#[test]
fn a_removal_that_was_cut_off_goes_on_where_it_was() {
    let team = Team {
        home: Home::with_store_on_disk(),
    };
    team.add("bob", "reader");
    let calls: String = (0..900)
        .map(|n| format!("{{\"command\":\"create\",\"path\":\"/memories/{n}.md\",\"file_text\":\"text {n}\\n\"}}\n"))
        .collect();
    assert_eq!(team.home.tool(&calls).len(), 900);
    // A count of system calls would not do: each thread has its own, and work goes to any of them.
    let mut run = team.home.command(&["members", "rm", "bob"]);
    let mut run = run.stdout(Stdio::null()).spawn().expect("starts");
    let piece = 256 * LINE as u64;
    while !resealed(&team).is_some_and(|list| fs::metadata(list).is_ok_and(|is| is.len() >= piece))
    {
        assert!(
            run.try_wait().expect("a child").is_none(),
            "it is slow enough"
        );
        thread::sleep(Duration::from_millis(1));
    }
    run.kill().expect("it runs");
    assert!(!run.wait().expect("a child").success(), "it was cut off");
    let status = team.home.run(&["status"]);
    assert!(
        stdout(&status).contains("not finished"),
        "{}",
        stdout(&status)
    );
    assert!(is_member(&team, "bob"), "nothing counts yet");
    assert_eq!(team.ok_as("bob", &["read", "/memories/1.md"]), "text 1\n");
    let list = fs::read(resealed(&team).expect("begun")).expect("some were done");
    let entry = 130;
    let done: Vec<String> = list
        .chunks_exact(LINE)
        .map(|line| {
            line[entry + 20..entry + 40]
                .iter()
                .map(|b| format!("{b:02x}"))
                .collect()
        })
        .collect();
    // One of them changes meanwhile, and one is deleted: their work was for nothing.
    team.ok(&["insert", "/memories/0.md", "0", "--text", "more"]);
    team.ok(&["recipients", "rm", "bob"]);
    let listed = stdout(&team.home.git(&["ls-tree", "-r", "main"]));
    let used = done.iter().filter(|blob| listed.contains(*blob)).count();
    assert!(used + 2 >= done.len(), "{used} of {} were used", done.len());
    assert!(!is_member(&team, "bob"));
    team.fails_as("bob", 12, &["read", "/memories/1.md"]);
    assert_eq!(team.ok(&["read", "/memories/899.md"]), "text 899\n");
    team.assert_verified("after it went on");
}

#[test]
fn work_for_one_removal_is_not_used_for_another() {
    if !has_peer("strace", "that another removal begins anew") {
        return;
    }
    let (team, _) = team();
    team.add("bob", "reader");
    let run = injected(
        &team,
        &["recipients", "rm", "bob"],
        "syncfs",
        "signal=KILL:when=1",
    );
    assert!(!run.status.success(), "it was cut off");
    let keyring = team.home.store().join("keyring");
    let next = |keyring: &Path| {
        let entries = fs::read_dir(keyring).expect("there").flatten();
        let names = entries.map(|entry| entry.file_name().into_string().expect("UTF-8"));
        names
            .filter(|name| name.starts_with("next-"))
            .collect::<Vec<_>>()
    };
    assert_eq!(next(&keyring).len(), 1);
    // Carol could open what was made ready for everybody but bob.
    team.ok(&["recipients", "rm", "carol"]);
    assert_eq!(next(&keyring), [""; 0]);
    assert!(is_member(&team, "bob") && !is_member(&team, "carol"));
    team.fails_as("carol", 12, &["log"]);
    team.ok_as("bob", &["read", "/memories/a.md"]);
    team.assert_verified("after another removal");
}

#[test]
fn a_call_that_fails_while_somebody_leaves_is_an_error_and_changes_nothing() {
    if !has_peer("strace", "failing calls while a member is removed") {
        return;
    }
    let (team, aside) = team();
    team.add("bob", "reader");
    keep(&team, &aside);
    let calls = [
        ("renameat", 24),
        ("fsync", 14),
        ("syncfs", 3),
        ("pwrite64", 4),
        ("mkdirat", 2),
        ("unlinkat", 1),
    ];
    let numbered = |(call, count)| (1..=count).map(move |number| (call, number));
    let mut failed = BTreeSet::new();
    for (call, number) in calls.into_iter().flat_map(numbered).step_by(every(3)) {
        let error = ["ENOSPC", "EIO"][number % 2];
        let what = format!("error={error}:when={number}");
        let run = injected(&team, &["recipients", "rm", "bob"], call, &what);
        let when = format!("{error} at {call} {number}");
        if !run.status.success() {
            failed.insert(call);
        }
        check(&team, &["recipients", "rm", "bob"], &run, &when);
        put_back(&team, &aside);
    }
    assert!(failed.len() >= 4, "only these did anything: {failed:?}");
}

#[test]
fn a_memory_that_does_not_open_keeps_nobody_from_leaving() {
    let (team, _) = team();
    team.add("bob", "reader");
    let newest = team.ok(&["log", "/memories/a.md", "--command", "create", "--json"]);
    let event = crate::support::json_lines(newest.as_bytes()).remove(0);
    let blob = event["memories"][0]["blob"].as_str().expect("it wrote one");
    let file = team
        .home
        .store()
        .join("objects")
        .join(&blob[..2])
        .join(&blob[2..]);
    fs::remove_file(&file).expect("a loose object");
    fs::write(&file, "spoiled").expect("written");
    fs::remove_file(team.home.store().join("journal")).expect("there");
    let output = team.run_as("owner", &["recipients", "rm", "bob", "--json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("1 memories cannot be decrypted"),
        "{}",
        stderr(&output)
    );
    let left = crate::support::json_lines(&output.stdout).remove(0)["left"].clone();
    assert_eq!(left.as_array().map(Vec::len), Some(1), "{left}");
    team.fails_as("bob", 12, &["read", "/memories/b.md"]);
    assert_eq!(team.ok(&["read", "/memories/b.md"]), "text of b\n");
    // What is written there next has a key of its own.
    team.ok(&["write", "/memories/a.md", "--text", "anew\n"]);
    assert_eq!(team.ok(&["read", "/memories/a.md"]), "anew\n");
}
