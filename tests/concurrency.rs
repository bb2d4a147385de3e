//! Many processes and threads on one store: every command whole, history one line, nothing lost.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Home, feed, has_peer, json_lines, reply, stderr, stdout};
use agekeep::crypto::keyfile;
use agekeep::event::Context;
use agekeep::policy::Policy;
use agekeep::store::{Identity, Keys, SigningKey, Store};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

const SEED: u64 = 20_260_728;
const PROCESSES: usize = 8;
const CALLS_EACH: usize = 50;
const ONE_SHOTS: usize = 200;
const INTERLEAVINGS: u32 = 20;
/// Makes eight processes fill a journal: the others follow whoever starts a new one.
const FILLER_LINES: usize = 2_000;

/// Numbers that are the same on every run (splitmix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((z ^ (z >> 31)) % below as u64).expect("below a usize")
    }
}

/// A command on one of a few paths that everybody uses.
fn call(kind: usize, first: usize, second: usize, mark: &str) -> Value {
    let path = |n: usize| {
        ["a", "b", "d/a", "d/b", "e/a", "e"].map(|p| format!("/memories/{p}"))[n % 6].clone()
    };
    let (path, other) = (path(first), path(second));
    match kind % 12 {
        0..=2 => json!({"command": "create", "path": path, "file_text": format!("{mark}\nx\n")}),
        3 | 4 => json!({"command": "str_replace", "path": path, "old_str": "x", "new_str": mark}),
        5 | 6 => json!({"command": "insert", "path": path, "insert_line": 1, "insert_text": "x"}),
        7 => json!({"command": "view", "path": "/memories"}),
        8 => json!({"command": "view", "path": path}),
        9 => json!({"command": "delete", "path": path}),
        10 => json!({"command": "rename", "old_path": path, "new_path": other}),
        _ => {
            let text = format!("{mark}\nx\n{}", "long enough\n".repeat(FILLER_LINES));
            json!({"command": "memory_write", "path": path, "content": text})
        }
    }
}

fn random_calls(dice: &mut Dice, count: usize, who: &str) -> Vec<Value> {
    (0..count)
        .map(|n| {
            call(
                dice.roll(12),
                dice.roll(6),
                dice.roll(6),
                &format!("{who}-{n}"),
            )
        })
        .collect()
}

fn lines(calls: &[Value]) -> String {
    calls.iter().map(|call| format!("{call}\n")).collect()
}

fn open(home: &Home) -> Store {
    let keys = Keys {
        identity: keyfile::read_identity(&home.identity()).expect("made by init"),
        signing_key: Some(keyfile::read_signing_key(&home.signing_key()).expect("made by init")),
        state: None,
        keyring: None,
    };
    Store::open(&home.store(), keys, Box::new(chrono::Utc::now)).expect("opens")
}

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

fn answer(store: &mut Store, call: &Value) -> Value {
    let reply = reply(store, call);
    assert!(reply.unrecorded.is_none(), "{call} → {}", reply.json);
    reply.json
}

/// Everything in a store: each path with its text.
fn contents(store: &mut Store) -> BTreeMap<String, String> {
    let list = answer(store, &json!({"command": "memory_read"}));
    let list = list["content"].as_str().expect("a list").to_owned();
    list.lines()
        .map(|path| {
            let read = answer(store, &json!({"command": "memory_read", "path": path}));
            assert_eq!(read["is_error"], false, "{read}");
            let text = read["content"].as_str().expect("a text");
            (path.to_owned(), text.to_owned())
        })
        .collect()
}

/// An answer without what no two stores share.
fn comparable(answer: &Value) -> Value {
    let mut answer = answer.clone();
    let meta = answer["meta"].as_object_mut().expect("facts");
    for unique in ["commit", "time", "memory"] {
        meta.remove(unique);
    }
    answer
}

/// Calls and their answers, from many callers.
type Exchange = (Value, Value);

/// Carries out on a fresh store what was done, in the order of event numbers, and compares every
/// answer and the final state.
fn check_replay(mut exchanges: Vec<Exchange>, store: &mut Store) {
    let number = |answer: &Value| answer["meta"]["event"].as_u64();
    exchanges.sort_by_key(|(_, answer)| number(answer));
    let folder = crate::support::folder();
    let mut replay = fresh(&folder.path().join("store"));
    for (index, (call, got)) in exchanges.iter().enumerate() {
        assert_eq!(number(got), Some(index as u64 + 1), "{call} → {got}");
        let want = answer(&mut replay, call);
        assert_eq!(
            comparable(got),
            comparable(&want),
            "event {}: {call}",
            index + 1
        );
    }
    assert_eq!(contents(store), contents(&mut replay));
}

/// History is one line of as many commits as there are events, and stock git finds it whole.
fn check_history(home: &Home) {
    let events = open(home).status().expect("counts").events;
    let parents = stdout(&home.git(&["rev-list", "--parents", "main"]));
    let mut commits: Vec<usize> = parents
        .lines()
        .map(|line| line.split(' ').count())
        .collect();
    assert_eq!(commits.pop(), Some(1), "the first commit has no parent");
    assert!(commits.iter().all(|names| *names == 2), "one parent each");
    assert_eq!(
        commits.len() as u64 + 1,
        events,
        "one commit for each event"
    );
    let checked = home.git(&["fsck", "--full", "--strict", "--no-progress"]);
    let said = stdout(&checked) + &stderr(&checked);
    assert!(checked.status.success() && said.is_empty(), "fsck: {said}");
}

fn check_tool(calls: &[Value], output: &Output) -> Vec<Exchange> {
    assert!(
        output.status.success(),
        "{}{}",
        stderr(output),
        stdout(output)
    );
    let answers = json_lines(&output.stdout);
    assert_eq!(answers.len(), calls.len());
    calls.iter().cloned().zip(answers).collect()
}

/// Gives a process its calls: every second one all at once, the others each when the one before is
/// answered, so that whole batches meet single commands.
fn give(mut command: Command, calls: &[Value], process: usize) -> Output {
    if process.is_multiple_of(2) {
        return feed(command, lines(calls).as_bytes());
    }
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().expect("starts");
    let mut input = child.stdin.take().expect("piped");
    let mut answers = BufReader::new(child.stdout.take().expect("piped"));
    let mut answered = Vec::new();
    for call in calls {
        writeln!(input, "{call}").expect("the program reads");
        answers.read_until(b'\n', &mut answered).expect("an answer");
    }
    drop(input);
    let mut output = child.wait_with_output().expect("it ends");
    output.stdout = answered;
    output
}

/// Runs `tool` once for each list of calls, all at the same time.
fn run_tools(home: &Home, calls: &[Vec<Value>]) -> Vec<Exchange> {
    thread::scope(|scope| {
        let running: Vec<_> = calls
            .iter()
            .enumerate()
            .map(|(process, calls)| {
                let command = home.command(&["tool"]);
                scope.spawn(move || check_tool(calls, &give(command, calls, process)))
            })
            .collect();
        running
            .into_iter()
            .flat_map(|run| run.join().expect("the process succeeds"))
            .collect()
    })
}

#[test]
fn eight_processes_with_fifty_commands_each_are_one_order_of_commands() {
    let home = Home::with_store();
    let mut dice = Dice(SEED);
    let calls: Vec<_> = (0..PROCESSES)
        .map(|process| random_calls(&mut dice, CALLS_EACH, &format!("p{process}")))
        .collect();
    let exchanges = run_tools(&home, &calls);
    assert_eq!(exchanges.len(), PROCESSES * CALLS_EACH);
    let journal = std::fs::read(home.store().join("journal")).expect("reads");
    let first = stdout(&home.git(&["rev-list", "--max-parents=0", "main"]));
    let base: String = journal[32..52].iter().map(|b| format!("{b:02x}")).collect();
    assert_ne!(base, first.trim(), "there was no checkpoint");
    check_history(&home);
    check_replay(exchanges, &mut open(&home));
}

#[test]
fn two_hundred_writers_at_once_all_succeed() {
    let home = Home::with_store();
    let path = |n: usize| format!("/memories/{}/{n}", n % 7);
    let start = |n: usize| -> Child {
        home.command(&["create", &path(n), "--text", &format!("text {n}")])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starts")
    };
    let children: Vec<_> = (0..ONE_SHOTS).map(start).collect();
    for (n, child) in children.into_iter().enumerate() {
        let output = child.wait_with_output().expect("ends");
        assert!(output.status.success(), "{n}: {}", stderr(&output));
        let want = format!("File created successfully at: {}\n", path(n));
        assert_eq!(stdout(&output), want);
    }
    let want: BTreeMap<_, _> = (0..ONE_SHOTS)
        .map(|n| {
            (
                path(n)["/memories/".len()..].to_owned(),
                format!("text {n}"),
            )
        })
        .collect();
    check_history(&home);
    assert_eq!(contents(&mut open(&home)), want);
}

/// Two open stores on one folder, each with its calls. In `turns`, `Some` orders them one by one;
/// without it they run as they like.
fn run_two(home: &Home, calls: [Vec<Value>; 2], turns: Option<Vec<bool>>) -> Vec<Exchange> {
    let stores = [open(home), open(home)];
    let mut left = [calls[0].len(), calls[1].len()];
    let (turn_senders, turn_receivers): (Vec<_>, Vec<_>) = (0..2).map(|_| mpsc::channel()).unzip();
    let (done_sender, done) = mpsc::channel();
    let waits = turns.is_some();
    thread::scope(|scope| {
        let running: Vec<_> = stores
            .into_iter()
            .zip(calls)
            .zip(turn_receivers)
            .map(|((mut store, calls), turn)| {
                let done = done_sender.clone();
                scope.spawn(move || {
                    let mut exchanges = Vec::new();
                    for call in calls {
                        if waits && turn.recv().is_err() {
                            break;
                        }
                        let answer = answer(&mut store, &call);
                        exchanges.push((call, answer));
                        if waits {
                            done.send(()).expect("waited for");
                        }
                    }
                    exchanges
                })
            })
            .collect();
        for second in turns.unwrap_or_default() {
            let whose = usize::from(second);
            if left[whose] > 0 {
                left[whose] -= 1;
                turn_senders[whose].send(()).expect("waits for its turn");
                done.recv().expect("takes its turn");
            }
        }
        drop(turn_senders);
        running
            .into_iter()
            .flat_map(|thread| thread.join().expect("every command is recorded"))
            .collect()
    })
}

#[test]
fn two_open_stores_are_some_order_of_whole_commands() {
    let some_calls = |who: &'static str| {
        prop::collection::vec((0..12usize, 0..6usize, 0..6usize), 1..8).prop_map(move |rolls| {
            let rolls = rolls.into_iter().enumerate();
            rolls
                .map(|(n, (kind, first, second))| call(kind, first, second, &format!("{who}{n}")))
                .collect::<Vec<_>>()
        })
    };
    let turns = prop::option::of(prop::collection::vec(any::<bool>(), 14));
    let config = ProptestConfig {
        cases: INTERLEAVINGS,
        failure_persistence: None,
        max_shrink_iters: 40,
        ..ProptestConfig::default()
    };
    let seed = [7; 32];
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    TestRunner::new_with_rng(config, rng)
        .run(
            &(some_calls("one"), some_calls("two"), turns),
            |(one, two, turns)| {
                let home = Home::with_store();
                let exchanges = run_two(&home, [one, two], turns);
                check_replay(exchanges, &mut open(&home));
                Ok(())
            },
        )
        .unwrap_or_else(|failure| panic!("seed {seed:?}: {failure}"));
}

/// Counts the processes and threads that wait for a lock on a file, as `/proc/locks` lists them.
fn waiting_for(file: &std::fs::File) -> usize {
    let inode = file.metadata().expect("a file").ino();
    let locks = std::fs::read_to_string("/proc/locks").expect("Linux");
    let waits = |line: &&str| line.contains("->") && line.contains(&format!(":{inode} "));
    locks.lines().filter(waits).count()
}

/// Something that is done to a store.
type Act = Box<dyn Fn(&mut Store) + Send>;

#[test]
fn a_command_that_waited_is_planned_in_the_state_that_it_finds() {
    const WORD: &str = "heron-stands-still";
    const PATIENCE: Duration = Duration::from_secs(60);
    let call = |call: Value| move |store: &mut Store| drop(answer(store, &call));
    let first: [(Act, Value, &str); 7] = [
        (
            Box::new(call(
                json!({"command": "str_replace", "path": "/memories/a",
                "old_str": "one", "new_str": "two"}),
            )),
            json!({"command": "view", "path": "/memories/a"}),
            "two",
        ),
        (
            Box::new(call(
                json!({"command": "str_replace", "path": "/memories/a",
                "old_str": "one", "new_str": "two"}),
            )),
            json!({"command": "str_replace", "path": "/memories/a", "old_str": "one",
                "new_str": "three"}),
            "No replacement was performed",
        ),
        (
            Box::new(call(json!({"command": "insert", "path": "/memories/a",
                "insert_line": 0, "insert_text": "zero\n"}))),
            json!({"command": "insert", "path": "/memories/a", "insert_line": 1,
                "insert_text": "two\n"}),
            "zero\\ntwo\\none",
        ),
        (
            Box::new(call(json!({"command": "delete", "path": "/memories/a"}))),
            json!({"command": "view", "path": "/memories/a"}),
            "does not exist",
        ),
        (
            Box::new(call(json!({"command": "create", "path": "/memories/b",
                "file_text": "first"}))),
            json!({"command": "create", "path": "/memories/b", "file_text": "second"}),
            "already exists",
        ),
        (
            Box::new(call(json!({"command": "rename", "old_path": "/memories/a",
                "new_path": "/memories/c"}))),
            json!({"command": "create", "path": "/memories/a", "file_text": "again"}),
            "File created successfully",
        ),
        (
            Box::new(|store: &mut Store| {
                let rule = "kind = \"bird\"\nwhat = \"Birds\"\nshape = \"heron-[a-z-]{5,20}\"\n\
                    literals = [\"heron-\"]\nfound = [\"heron-stands\"]\n";
                let text = format!("[[redaction.rules]]\n{rule}");
                let policy = Policy::parse(&text).expect("a policy");
                store
                    .set_policy(&policy, &Context::default())
                    .expect("the owner may");
            }),
            json!({"command": "create", "path": "/memories/d", "file_text": format!("a {WORD}")}),
            "[REDACTED:bird]",
        ),
    ];
    for (first, then, want) in first {
        let home = Home::with_store();
        let mut stores = [open(&home), open(&home)];
        let begun = json!({"command": "create", "path": "/memories/a", "file_text": "one\n"});
        answer(&mut stores[0], &begun);
        answer(
            &mut stores[1],
            &json!({"command": "view", "path": "/memories/a"}),
        );
        let lock = std::fs::File::open(home.store().join("lock")).expect("there is one");
        lock.lock().expect("it is free");
        let [mut one, mut two] = stores;
        let wait_for = |count| {
            let begun = Instant::now();
            while waiting_for(&lock) < count {
                assert!(begun.elapsed() < PATIENCE, "nobody waits");
                thread::sleep(Duration::from_millis(1));
            }
        };
        let got = thread::scope(|scope| {
            let first = scope.spawn(move || first(&mut one));
            wait_for(1);
            let second = scope.spawn(|| answer(&mut two, &then));
            wait_for(2);
            lock.unlock().expect("it is held");
            first.join().expect("it is recorded");
            second.join().expect("it is recorded")
        });
        let read = ["a", "d"].map(|path| {
            let read = json!({"command": "memory_read", "path": path});
            answer(&mut open(&home), &read)["content"].clone()
        });
        let said = format!("{}{}{}", got["content"], read[0], read[1]);
        assert!(said.contains(want), "{then} → {said}");
        assert!(!said.contains(WORD), "{said}");
        check_history(&home);
    }
}

fn succeed(output: &Output, what: &str) {
    assert!(
        output.status.success(),
        "{what}: {}{}",
        stdout(output),
        stderr(output)
    );
}

/// Lets writers write while `beside` is done again and again; everything written must be there.
fn write_beside(beside: impl Fn(&Home, usize) + Sync) {
    let (home, exchanges) = written_beside(beside);
    check_history(&home);
    check_replay(exchanges, &mut open(&home));
}

fn written_beside(beside: impl Fn(&Home, usize) + Sync) -> (Home, Vec<Exchange>) {
    let home = Home::with_store();
    let mut dice = Dice(SEED);
    let calls: Vec<_> = (0..3)
        .map(|process| random_calls(&mut dice, 100, &format!("p{process}")))
        .collect();
    let over = AtomicBool::new(false);
    let exchanges = thread::scope(|scope| {
        let other = scope.spawn(|| {
            let mut round = 0;
            while !over.load(Ordering::Relaxed) {
                beside(&home, round);
                round += 1;
            }
            round
        });
        let running = scope.spawn(|| run_tools(&home, &calls));
        let exchanges = running.join();
        over.store(true, Ordering::Relaxed);
        let rounds = other.join().expect("what runs beside the writers succeeds");
        assert!(rounds > 2, "only {rounds} rounds beside the writers");
        exchanges.expect("every writer succeeds")
    });
    (home, exchanges)
}

#[test]
fn readers_never_meet_a_command_half_done() {
    write_beside(|home, _| {
        let status = home.run(&["status", "--json"]);
        succeed(&status, "status");
        let log = home.run(&["log", "--json", "-n", "5"]);
        succeed(&log, "log");
        let events = json_lines(&log.stdout);
        let number = |event: &Value| event["event"].as_u64().expect("a number");
        let status = json_lines(&status.stdout);
        let counted = status[0]["events"].as_u64().expect("a number");
        assert!(
            number(&events[0]) + 1 >= counted,
            "the log is not older than the status"
        );
        assert!(
            events
                .windows(2)
                .all(|two| number(&two[0]) == number(&two[1]) + 1)
        );
        succeed(
            &home.git(&["rev-list", "--objects", "main"]),
            "git rev-list",
        );
    });
}

#[test]
fn stock_git_may_repack_and_pack_refs_beside_writers() {
    write_beside(|home, round| {
        let args = [
            &["repack", "-adq"][..],
            &["pack-refs", "--all"],
            &["gc", "-q"],
        ][round % 3];
        succeed(&home.git(args), &args.join(" "));
    });
}

#[test]
fn empty_object_folders_may_be_swept_away_beside_writers() {
    write_beside(|home, round| {
        if round % 50 == 0 {
            succeed(&home.git(&["repack", "-adq"]), "git repack");
        }
        // What git does after packing, more often.
        for first in 0..=255u8 {
            let folder = home.store().join("objects").join(format!("{first:02x}"));
            drop(std::fs::remove_dir(folder));
        }
    });
}

#[test]
fn the_lock_s_file_may_be_removed_beside_writers() {
    write_beside(|home, _| {
        drop(std::fs::remove_file(home.store().join("lock")));
        thread::sleep(Duration::from_millis(3));
    });
}

/// A journal that lost its records takes no more of them: nobody could read what was added.
#[test]
fn a_journal_that_was_changed_by_somebody_else_takes_no_command() {
    for change in ["an older one", "a part", "nothing"] {
        let home = Home::with_store();
        let mut store = open(&home);
        let journal = home.store().join("journal");
        let create = |n: usize| {
            let path = format!("/memories/{n}");
            json!({"command": "create", "path": path, "file_text": "x\n"})
        };
        let before = std::fs::read(&journal).expect("reads");
        for n in 0..3 {
            assert_eq!(answer(&mut store, &create(n))["is_error"], false);
        }
        let now = std::fs::read(&journal).expect("reads");
        // In place: a file that is exchanged is another one, and is read anew.
        let instead = match change {
            "an older one" => &before,
            "a part" => &now[..now.len() / 200],
            _ => &[],
        };
        std::fs::write(&journal, instead).expect("writes");
        let refused = reply(&mut store, &create(3));
        let why = refused.json.to_string();
        assert!(refused.unrecorded.is_some(), "{change}: {why}");
        assert!(why.contains("somebody else changed it"), "{change}: {why}");
        std::fs::write(&journal, &now).expect("writes");
        assert_eq!(answer(&mut store, &create(4))["is_error"], false);
        drop(store);
        check_history(&home);
    }
}

#[test]
fn stock_git_may_prune_beside_writers() {
    // Git may fail on what it just pruned itself (git-gc(1), NOTES); a writer may not.
    let (home, exchanges) = written_beside(|home, _| drop(home.git(&["gc", "-q", "--prune=now"])));
    check_replay(exchanges, &mut open(&home));
    // A checkpoint puts back what was pruned, before the journal lets go of it.
    for n in 0..4 {
        let path = format!("/memories/large-{n}");
        let made = home.run_with_input(&["create", &path], &"a line of text\n".repeat(70_000));
        succeed(&made, "create");
    }
    succeed(&home.git(&["fsck", "--full", "--strict"]), "git fsck");
}

#[test]
fn after_stock_git_packed_everything_it_all_opens_and_goes_on() {
    let home = Home::with_store();
    let calls = random_calls(&mut Dice(SEED), 40, "p");
    run_tools(&home, &[calls]);
    let before = contents(&mut open(&home));
    assert!(!before.is_empty());
    for args in [
        &["gc", "-q", "--prune=now"][..],
        &["pack-refs", "--all"],
        &["repack", "-adfq"],
        &["gc", "-q", "--aggressive", "--prune=now"],
    ] {
        succeed(&home.git(args), &args.join(" "));
        if args[0] != "pack-refs" {
            let loose = stdout(&home.git(&["count-objects"]));
            assert!(loose.starts_with("0 objects"), "{loose}");
        }
        assert_eq!(contents(&mut open(&home)), before, "{args:?}");
        std::fs::remove_file(home.store().join("catalog")).expect("there");
        assert_eq!(
            contents(&mut open(&home)),
            before,
            "{args:?}, from history alone"
        );
        let log = home.run(&["log", "--json", "-n", "3"]);
        succeed(&log, "log");
        assert_eq!(json_lines(&log.stdout).len(), 3);
    }
    succeed(
        &home.run(&["create", "/memories/after", "--text", "x"]),
        "create",
    );
    succeed(&home.run(&["read", "after"]), "read");
    check_history(&home);
}

/// As the README has it: a copy of a store in use, made with its locks held, is whole.
#[test]
fn a_copy_that_is_made_with_the_locks_held_is_of_one_moment() {
    if !has_peer("flock", "that a store in use can be copied") {
        return;
    }
    let home = Home::with_store();
    let mut writer = home
        .command(&["tool"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut input = writer.stdin.take().expect("piped");
    let answers = BufReader::new(writer.stdout.take().expect("piped"));
    let is_over = AtomicBool::new(false);
    let is_over = &is_over;
    thread::scope(|scope| {
        let drain = scope.spawn(move || answers.lines().count());
        scope.spawn(move || {
            let mut dice = Dice(SEED);
            while !is_over.load(Ordering::Relaxed) {
                for call in random_calls(&mut dice, 20, "w") {
                    writeln!(input, "{call}").expect("takes it");
                }
            }
        });
        let copy = |n: usize| {
            thread::sleep(std::time::Duration::from_millis(300));
            let store = home.store();
            let mut copy = Command::new("flock");
            copy.arg(store.join("objects/pack")).arg("flock");
            copy.arg(store.join("lock")).args(["cp", "-a"]);
            let place = home.path().join(format!("copy-{n}"));
            let done = copy.arg(&store).arg(&place).output().expect("flock runs");
            // What was seen of the store itself is newer than the copy.
            let mut verify = home.command(&["verify", "--full"]);
            verify.env("XDG_STATE_HOME", home.path().join(format!("state-{n}")));
            let verified = verify.arg("--store").arg(&place).output().expect("runs");
            (done, verified)
        };
        let copies: Vec<_> = (0..3).map(copy).collect();
        // Before anything can fail: the writer waits for it.
        is_over.store(true, Ordering::Relaxed);
        for (n, (done, verified)) in copies.iter().enumerate() {
            assert!(done.status.success(), "{}", stderr(done));
            let said = stdout(verified) + &stderr(verified);
            assert!(verified.status.success(), "copy {n}: {said}");
        }
        assert!(drain.join().expect("reads") > 20, "it was written to");
    });
    assert!(writer.wait().expect("ends").success());
}
