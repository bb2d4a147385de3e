//! Commands that wait together: a commit for each, one sync for all, and nothing else different.

use std::fs;
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command as Process, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{
    Home, feed, git, has_peer, is_free, journal_records, json_lines, returned_calls, settle,
    stderr, stdout, strace,
};
use agekeep::event::Context;
use agekeep::memory_tool::command::Command;
use agekeep::policy::Policy;
use agekeep::store::answer::Answer;
use agekeep::store::{Identity, Keys, Queue, SigningKey, Store};
use proptest::prelude::*;
use serde_json::{Value, json};

fn fresh(folder: &Path) -> Store {
    let keys = Keys {
        identity: Identity::generate(),
        signing_key: Some(SigningKey::generate()),
        state: None,
        keyring: None,
    };
    let (policy, context) = (Policy::default(), Context::default());
    Store::init(folder, keys, &policy, &context, Box::new(chrono::Utc::now)).expect("makes a store")
}

fn command(input: Value) -> (Command, Context) {
    (Command::from_json(input), Context::default())
}

fn create(path: &str, text: &str) -> (Command, Context) {
    command(json!({"command": "create", "path": path, "file_text": text}))
}

/// A command on one of a few paths, so that most meet what others in the same batch have made.
fn any_command() -> impl Strategy<Value = Value> {
    let path = || prop::sample::select(vec!["a", "b", "d/a", "d/b", "d"]);
    (0..9, path(), path(), 0..4u8).prop_map(|(kind, path, other, mark)| {
        let (path, other) = (format!("/memories/{path}"), format!("/memories/{other}"));
        match kind {
            0 | 1 => {
                json!({"command": "create", "path": path, "file_text": format!("{mark}\nx\n")})
            }
            2 => json!({"command": "str_replace", "path": path, "old_str": "x", "new_str": "y"}),
            3 => json!({"command": "insert", "path": path, "insert_line": 1, "insert_text": "x"}),
            4 => json!({"command": "view", "path": path}),
            5 => json!({"command": "view", "path": "/memories"}),
            6 => json!({"command": "delete", "path": path}),
            7 => json!({"command": "rename", "old_path": path, "new_path": other}),
            _ => json!({"command": "memory_write", "path": path, "content": format!("{mark}")}),
        }
    })
}

/// What an answer says that two stores share.
fn said(answer: &Answer) -> (String, Value) {
    let mut meta = serde_json::to_value(&answer.meta).expect("facts have a JSON form");
    for unique in ["commit", "time", "memory"] {
        meta.as_object_mut().expect("facts").remove(unique);
    }
    (answer.content.as_str().to_owned(), meta)
}

/// Texts that are long enough for other threads to redact them, with secrets, under every mode of
/// redaction, and paths that are written in other ways or refused.
#[test]
fn texts_redacted_ahead_are_kept_as_alone() {
    const POLICY: &str = "[limits]\nmemory_bytes = 20000\n\
        [[redaction.paths]]\nglob = \"/memories/off/**\"\nmode = \"off\"\n\
        [[redaction.paths]]\nglob = \"/memories/strict/**\"\nmode = \"reject\"\n";
    const PATHS: [&str; 8] = [
        "/memories/a.md",
        "/memories//b.md",
        "/memories/off/c.md",
        "/memories/strict/d.md",
        "/memories/../e.md",
        "/memories/sub/./f.md",
        "/elsewhere/g.md",
        "/memories/a.md/h.md",
    ];
    let folder = crate::support::folder();
    let (mut alone, mut together) = (
        fresh(&folder.path().join("alone")),
        fresh(&folder.path().join("together")),
    );
    let policy = Policy::parse(POLICY).expect("a policy");
    for store in [&mut alone, &mut together] {
        let set = store.set_policy(&policy, &Context::default());
        set.expect("the owner may");
    }
    let line = "The database password is Admin@123 and the door code 4471.\n";
    let inputs: Vec<Value> = (0..48)
        .map(|number| {
            let path = PATHS[number % PATHS.len()].replace(".md", &format!("-{}.md", number / 16));
            let text = match number % 5 {
                0 => "no secret at all\n".repeat(300),
                1 => "too long\n".repeat(4_000),
                _ => line.repeat(60 + number),
            };
            match number % 3 {
                0 => json!({"command": "memory_write", "path": path, "content": text}),
                _ => json!({"command": "create", "path": path, "file_text": text}),
            }
        })
        .collect();
    let calls = || inputs.iter().map(|input| command(input.clone()));
    let mut one_by_one = Vec::new();
    for (command, context) in calls() {
        let answer = alone.execute(&command, &context);
        one_by_one.push(said(&answer.expect("recorded")));
    }
    let mut at_once = Vec::new();
    together.execute_all(calls(), |answer| {
        at_once.push(said(&answer.expect("recorded")));
    });
    assert_eq!(one_by_one, at_once);
    let redacted = |answers: &[(String, Value)]| {
        let of = |(_, meta): &(String, Value)| meta["redactions"].as_array().map_or(0, Vec::len);
        answers.iter().map(of).sum::<usize>()
    };
    assert!(redacted(&at_once) > 1_000, "{}", redacted(&at_once));
    for path in PATHS.map(|path| path.replace(".md", "-0.md")) {
        let view = json!({"command": "view", "path": path});
        let (command, context) = command(view);
        let [text, other] = [&mut alone, &mut together]
            .map(|store| store.execute(&command, &context).expect("recorded").content);
        assert_eq!(text, other);
        assert!(path.contains("/off/") || !text.as_str().contains("Admin@123"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn together_is_the_same_as_one_after_the_other(
        inputs in prop::collection::vec(any_command(), 1..40),
        sizes in prop::collection::vec(1..9usize, 40),
    ) {
        let folder = crate::support::folder();
        let mut alone = fresh(&folder.path().join("alone"));
        let mut together = fresh(&folder.path().join("together"));
        let calls: Vec<_> = inputs.into_iter().map(command).collect();
        let (mut rest, mut sizes) = (&calls[..], sizes.into_iter());
        while !rest.is_empty() {
            let size = sizes.next().expect("enough").min(rest.len());
            let (batch, behind) = rest.split_at(size);
            let mut answers = Vec::new();
            together.execute_all(batch.iter().cloned(), |answer| answers.push(answer));
            prop_assert_eq!(answers.len(), size);
            for ((command, context), answer) in batch.iter().zip(answers) {
                let want = alone.execute(command, context).expect("recorded");
                prop_assert_eq!(said(&answer.expect("recorded")), said(&want));
            }
            rest = behind;
        }
        drop(together);
        check_git(&folder.path().join("together"), calls.len() + 1);
    }
}

/// Stock git finds so many commits in one line, and nothing wrong.
fn check_git(store: &Path, commits: usize) {
    let count = stdout(&git(store, &["rev-list", "--count", "main"]));
    assert_eq!(count.trim(), commits.to_string());
    let checked = git(store, &["fsck", "--full", "--strict", "--no-progress"]);
    let said = stdout(&checked) + &stderr(&checked);
    assert!(checked.status.success() && said.is_empty(), "fsck: {said}");
}

#[test]
fn threads_share_a_store_and_each_gets_its_own_answer() {
    let folder = crate::support::folder();
    let path = folder.path().join("store");
    let queue = Queue::new(fresh(&path));
    let events = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for who in 0..8 {
            let (queue, events) = (&queue, &events);
            scope.spawn(move || {
                for n in 0..10 {
                    let path = format!("/memories/{who}/{n}");
                    let text = format!("{who} and {n}\n");
                    let (create, context) = create(&path, &text);
                    let made = queue.execute(create, context).expect("recorded");
                    let (read, context) = command(json!({"command": "memory_read", "path": path}));
                    let read = queue.execute(read, context).expect("recorded");
                    assert_eq!(read.content.as_str(), text);
                    assert!(made.meta.event < read.meta.event);
                    let (again, context) =
                        command(json!({"command": "create", "path": path, "file_text": ""}));
                    let refused = queue.execute(again, context).expect("recorded");
                    assert!(refused.is_error(), "{}", refused.content.as_str());
                    let mine = [&made, &read, &refused].map(|answer| answer.meta.event);
                    events.lock().expect("whole").extend(mine);
                }
            });
        }
    });
    let mut events = events.into_inner().expect("whole");
    events.sort_unstable();
    assert_eq!(events, (1..=8 * 10 * 3).collect::<Vec<u64>>(), "each once");
    assert_eq!(queue.store().status().expect("counts").events, 241);
    drop(queue.into_store());
    check_git(&path, 241);
    // Two or more became durable together in most cases, or nothing was shared.
    let records = journal_records(&path);
    assert!(records < 240 / 2, "{records} records of 240 commands");
}

/// Calls that come while others are carried out do not wait for the next sync.
#[test]
fn calls_that_come_before_the_sync_are_part_of_it() {
    let home = Home::with_store();
    let before = journal_records(&home.store());
    let mut child = home.command(&["tool"]);
    let mut child = child
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut input = child.stdin.take().expect("piped");
    for n in 0..40 {
        let call = json!({"command": "create", "path": format!("/memories/{n}"), "file_text": "x"});
        // One write each: what reads ahead finds no more than the lines that are there by then.
        input
            .write_all(format!("{call}\n").as_bytes())
            .expect("the program reads");
    }
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(json_lines(&output.stdout).len(), 40);
    let records = journal_records(&home.store()) - before;
    assert!(records < 10, "{records} records of 40 commands");
}

/// One record, one sync, however many wait; then the answers, and only then the objects.
#[test]
fn calls_that_come_together_are_synced_once_and_answered_before_their_objects_are_written() {
    if !has_peer("strace", "the number of syncs") {
        return;
    }
    let home = Home::with_store();
    let calls = home.path().join("calls");
    let line = |n: usize| {
        let call = json!({"command": "create", "path": format!("/memories/{n}"), "file_text": "x"});
        format!("{call}\n")
    };
    fs::write(&calls, (0..40).map(line).collect::<String>()).expect("writes");
    let (trace, inner) = (home.path().join("trace"), home.command(&["tool"]));
    let mut traced = strace("");
    traced
        .args(["-y", "-e", "trace=fdatasync,write,/rename", "-o"])
        .arg(&trace);
    traced
        .arg(inner.get_program())
        .args(inner.get_args())
        .arg(&calls)
        .env_clear();
    traced.envs(
        inner
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    let run = traced.output().expect("strace runs");
    assert!(run.status.success(), "{}", stderr(&run));
    assert_eq!(json_lines(&run.stdout).len(), 40);
    let trace = returned_calls(&fs::read_to_string(trace).expect("traced"));
    let is_sync = |line: &&String| line.starts_with("fdatasync(") && line.contains("/journal>");
    assert_eq!(trace.iter().filter(is_sync).count(), 1, "{trace:#?}");
    let synced = trace.iter().position(|line| is_sync(&line)).expect("one");
    let answered = trace.iter().position(|line| line.contains("File creat"));
    let answered = answered.expect("an answer");
    let placed = |line: &&String| line.starts_with("rename") && line.contains("/objects>");
    let placed = trace.iter().position(|line| placed(&line));
    let placed = placed.expect("objects get their names");
    assert!(synced < answered && answered < placed, "{trace:#?}");
}

/// The store is locked while answers go out: nobody waits for a reader then.
#[test]
fn who_reads_no_answers_keeps_nobody_from_the_store() {
    let home = Home::with_store();
    home.run(&["create", "/memories/long", "--text", &"x\n".repeat(20_000)]);
    let before = journal_records(&home.store());
    let mut child = home
        .command(&["tool"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut input = child.stdin.take().expect("piped");
    let view = json!({"command": "view", "path": "/memories/long"});
    let calls = format!("{view}\n").repeat(8);
    input.write_all(calls.as_bytes()).expect("it reads");
    while journal_records(&home.store()) == before {
        thread::sleep(Duration::from_millis(5));
    }
    let other = home.run(&["create", "/memories/other", "--text", "x"]);
    assert!(other.status.success(), "{}", stderr(&other));
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(json_lines(&output.stdout).len(), 8);
}

/// The disk takes no more: every one of those that waited is told so, and none of them happened.
#[test]
fn what_cannot_be_made_durable_did_not_happen() {
    let home = Home::with_store();
    home.run(&["create", "/memories/before", "--text", "x"]);
    let line = |n: usize| {
        let call = json!({"command": "create", "path": format!("/memories/{n}"), "file_text": "x".repeat(30_000)});
        format!(
            "{call}\n{}\n",
            json!({"command": "view", "path": "/memories/before"})
        )
    };
    let calls = (0..12).map(line).collect::<String>();
    let inner = home.command(&["tool"]);
    let mut limited = Process::new("sh");
    // No file may grow past 400 blocks of 512 bytes, which the journal would have to.
    limited.args(["-c", "ulimit -f 400; trap '' XFSZ; exec \"$@\"", "sh"]);
    limited
        .arg(inner.get_program())
        .args(inner.get_args())
        .env_clear();
    limited.envs(
        inner
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    let failed = feed(limited, calls.as_bytes());
    assert_eq!(failed.status.code(), Some(16), "{}", stderr(&failed));
    let answers = json_lines(&failed.stdout);
    assert_eq!(answers.len(), 24);
    let is_error = |answer: &&Value| answer["meta"]["error"] == "io";
    let refused = answers.iter().filter(is_error).count();
    assert!(refused > 1, "{answers:#?}");
    // Exactly those that were answered are there.
    let log = home.run(&["log", "--json", "-n", "100"]);
    let events = json_lines(&log.stdout).len();
    assert_eq!(events, 2 + answers.len() - refused, "{}", stdout(&log));
    let again = feed(home.command(&["tool"]), calls.as_bytes());
    assert!(
        json_lines(&again.stdout)
            .iter()
            .all(|answer| answer["meta"]["event"].is_u64())
    );
    check_git(&home.store(), events + 24);
    let verified = home.run(&["verify", "--full"]);
    assert!(
        verified.status.success(),
        "{}{}",
        stdout(&verified),
        stderr(&verified)
    );
}

// Objects behind the answer: in a process that goes on, stock git sees them later than agekeep does.

/// `agekeep tool`, asked one call at a time.
struct Conversation {
    child: Child,
    input: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Conversation {
    fn with(home: &Home) -> Self {
        let mut command = home.command(&["tool"]);
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = piped.spawn().expect("starts");
        let input = child.stdin.take().expect("piped");
        let output = child.stdout.take().expect("piped");
        let answers = BufReader::new(output).lines();
        Self {
            child,
            input,
            answers,
        }
    }

    /// Creates a memory, and returns the number of its event.
    fn create(&mut self, path: &str) -> u64 {
        self.write(path, "x\n")
    }

    fn write(&mut self, path: &str, text: &str) -> u64 {
        let path = format!("/memories/{path}");
        let call = json!({"command": "create", "path": path, "file_text": text});
        writeln!(self.input, "{call}").expect("it reads");
        let answer = self.answers.next().expect("an answer").expect("a line");
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        answer["meta"]["event"].as_u64().expect("recorded")
    }

    fn end(mut self) {
        drop(self.input);
        assert!(self.child.wait().expect("ends").success());
    }
}

fn commits_for_git(home: &Home) -> u64 {
    let count = stdout(&git(&home.store(), &["rev-list", "--count", "main"]));
    count.trim().parse().expect("a number")
}

#[test]
fn stock_git_sees_what_was_answered_soon_and_all_of_it_when_the_process_ends() {
    let home = Home::with_store();
    let mut tool = Conversation::with(&home);
    let newest = (0..30).map(|n| tool.create(&n.to_string())).last();
    let newest = newest.expect("thirty");
    // No other command comes: the process has to do it by itself.
    let begun = Instant::now();
    while commits_for_git(&home) != newest + 1 {
        assert!(begun.elapsed() < Duration::from_secs(60), "it never does");
        thread::sleep(Duration::from_millis(10));
    }
    check_git(&home.store(), 31);
    let newest = (30..60).map(|n| tool.create(&n.to_string())).last();
    tool.end();
    assert_eq!(newest, Some(60));
    check_git(&home.store(), 61);
}

#[test]
fn other_processes_see_what_was_answered_at_once() {
    let home = Home::with_store();
    let (mut one, mut two) = (Conversation::with(&home), Conversation::with(&home));
    for n in 0..20 {
        one.create(&format!("one/{n}"));
        one.create(&format!("one/{n}/too"));
        // The next number, so that it has read all of what the other wrote.
        assert_eq!(two.create(&format!("two/{n}")), 3 * n + 3);
        settle(&home.store());
        assert_eq!(
            commits_for_git(&home),
            3 * n + 4,
            "it put the other's in place"
        );
    }
    let newest = (0..20).map(|n| one.create(&format!("last/{n}"))).last();
    let read = home.run(&["view", "/memories/last/19"]);
    assert!(read.status.success(), "{}", stderr(&read));
    assert_eq!(commits_for_git(&home), newest.expect("twenty") + 2);
    one.end();
    two.end();
    check_git(&home.store(), 82);
    let verified = home.run(&["verify", "--full"]);
    assert!(verified.status.success(), "{}", stdout(&verified));
}

#[test]
fn a_killed_process_leaves_the_rest_to_the_next_one() {
    let home = Home::with_store();
    let mut tool = Conversation::with(&home);
    let newest = (0..30).map(|n| tool.create(&n.to_string())).last();
    tool.child.kill().expect("kills");
    tool.child.wait().expect("ends");
    let seen = commits_for_git(&home);
    let log = home.run(&["log", "--json", "-n", "100"]);
    assert_eq!(json_lines(&log.stdout).len(), 31, "{}", stderr(&log));
    assert!(seen < 31, "nothing was left to do, so this shows nothing");
    assert_eq!(newest, Some(30));
    check_git(&home.store(), 31);
    let verified = home.run(&["verify", "--full"]);
    assert!(verified.status.success(), "{}", stdout(&verified));
}

/// Whether every thread of a process is stopped (proc(5), the state in `stat`).
fn is_stopped(child: &Child) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{}/task", child.id())).expect("it lives");
    threads.flatten().all(|thread| {
        let stat = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        stat.rsplit_once(") ")
            .is_none_or(|(_, rest)| rest.starts_with('T'))
    })
}

/// One is stopped with objects that wait; another puts them in place, goes on, and is killed with some
/// of its own. The first has to notice that what it has is no longer all there is.
#[test]
fn what_waits_here_is_not_taken_for_what_another_left() {
    let home = Home::with_store();
    let (mut one, mut two) = (Conversation::with(&home), Conversation::with(&home));
    let signal = |to: &Child, name: &str| {
        let mut kill = Process::new("kill");
        let sent = kill.arg(name).arg(to.id().to_string()).status();
        assert!(sent.expect("kill runs").success());
    };
    let mut made = 0;
    loop {
        for _ in 0..4 {
            made += 1;
            assert_eq!(one.create(&format!("one/{made}")), made);
        }
        signal(&one.child, "-STOP");
        while !is_stopped(&one.child) {
            thread::sleep(Duration::from_millis(1));
        }
        if ["lock", "objects/pack"]
            .iter()
            .all(|name| is_free(&home.store().join(name)))
        {
            break;
        }
        // It was putting objects in place, and would keep everybody out for as long as it is stopped.
        signal(&one.child, "-CONT");
        settle(&home.store());
    }
    // The first of a process is put in place at once, and so are those before it.
    assert_eq!(two.create("two/0"), made + 1);
    settle(&home.store());
    assert_eq!(commits_for_git(&home), made + 2);
    (1..4).for_each(|n| assert_eq!(two.create(&format!("two/{n}")), made + 1 + n));
    two.child.kill().expect("kills");
    two.child.wait().expect("ends");
    signal(&one.child, "-CONT");
    assert_eq!(one.create("one/after"), made + 5);
    settle(&home.store());
    assert_eq!(commits_for_git(&home), made + 6);
    one.end();
    check_git(&home.store(), usize::try_from(made).expect("few") + 6);
    let read = home.run(&["view", "/memories/two/3"]);
    assert!(read.status.success(), "{}", stderr(&read));
    let verified = home.run(&["verify", "--full"]);
    assert!(verified.status.success(), "{}", stdout(&verified));
}

/// A repack takes what the branch reaches when it begins, and removes every pack that is there then.
#[test]
fn stock_git_may_repack_beside_a_process_that_is_ahead_of_the_branch() {
    let home = Home::with_store();
    let (repack, done) = (["repack", "-adq"], AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                home.git(&repack);
            }
        });
        let mut tool = Conversation::with(&home);
        // Some journals full, in texts that are not deflated.
        let text = "0123456789abcdef\n".repeat(1_200);
        (0..400).for_each(|n| assert_eq!(tool.write(&n.to_string(), &text), n + 1));
        tool.end();
        done.store(true, Ordering::Relaxed);
    });
    check_git(&home.store(), 401);
    let verified = home.run(&["verify", "--full"]);
    assert!(verified.status.success(), "{}", stdout(&verified));
    let packs = fs::read_dir(home.store().join("objects/pack")).expect("lists");
    let names = packs.map(|entry| entry.expect("lists").file_name());
    let kept = names.filter(|name| name.to_string_lossy().ends_with("keep"));
    assert_eq!(kept.count(), 0, "each was released");
}
