//! Processes that are killed, at random moments and at every system call.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::crash::model::*;
use crate::support::{
    AFTER_ALL, Home, every, has_peer, json_lines, last_time, returned_calls, stderr, stdout, strace,
};

/// When a process is killed.
#[derive(Debug)]
enum Moment {
    AfterStart(Duration),
    AfterAnswers(usize, Duration),
}

impl Moment {
    fn random(dice: &mut Dice) -> Self {
        match dice.roll(8) {
            0 => Self::AfterStart(dice.micros(500)),
            1 => Self::AfterStart(dice.micros(60_000)),
            2 => Self::AfterAnswers(1, Duration::ZERO),
            _ => Self::AfterAnswers(dice.roll(6), dice.micros(9_000)),
        }
    }
}

fn wait_exactly(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// Runs `tool`, kills it, and answers what it had acknowledged.
fn run_and_kill(home: &Home, input: String, moment: &Moment) -> Vec<Value> {
    let mut child = home
        .command(&["tool"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut pipe = child.stdin.take().expect("piped");
    let feeder = thread::spawn(move || drop(pipe.write_all(input.as_bytes())));
    let mut output = BufReader::new(child.stdout.take().expect("piped"));
    let mut said = Vec::new();
    let time = match moment {
        Moment::AfterStart(time) => time,
        Moment::AfterAnswers(count, time) => {
            for _ in 0..*count {
                output.read_until(b'\n', &mut said).expect("reads");
            }
            time
        }
    };
    wait_exactly(*time);
    child.kill().expect("kills");
    output.read_to_end(&mut said).expect("reads");
    let complaint = child.wait_with_output().expect("ends");
    feeder.join().expect("ends");
    assert_eq!(stderr(&complaint), "", "a killed process says nothing");
    let whole = said
        .iter()
        .rposition(|b| *b == b'\n')
        .map_or(0, |at| at + 1);
    json_lines(&said[..whole])
}

#[test]
fn killed_at_any_moment_a_store_keeps_what_it_acknowledged() {
    let home = Home::with_store();
    let (mut model, mut dice) = (Model::new(), Dice(SEED));
    let mut in_flight = 0;
    for round in 1..=KILL_ROUNDS / every(2) {
        let moment = Moment::random(&mut dice);
        let when = format!("seed {SEED}, round {round}, killed {moment:?}");
        let (calls, wants, after) = model.clone().next_calls(&mut dice, 10);
        // Those that wait together become durable together.
        let (input, unanswered_max) = match round % 2 {
            0 => (spaced(&calls), 1),
            _ => (lines(&calls), calls.len()),
        };
        let answers = run_and_kill(&home, input, &moment);
        for ((answer, want), call) in answers.iter().zip(&wants).zip(&calls) {
            want.check(answer, call);
        }
        let mut store = open(&home, &when);
        let status = store.status().expect("counts");
        let done = usize::try_from(status.events - model.events).expect("small");
        assert!(
            (answers.len()..=answers.len() + unanswered_max).contains(&done),
            "{when}: {} acknowledged, {done} there",
            answers.len()
        );
        in_flight += done - answers.len();
        model = after[done].clone();
        model.check_numbers(&status, &when);
        if round % 8 == 0 || done > answers.len() && round % 2 == 0 {
            model.check_open(&mut store, &when);
        }
        drop(store); // which waits for its thread that packs
        if round % CHECK_EVERY == 0 {
            check_git(&home, &when);
            check_log(&home, model.events, &when);
            let packed = home.git(&["gc", "-q"]);
            assert!(packed.status.success(), "{when}: {}", stderr(&packed));
        }
    }
    assert!(
        in_flight > 0,
        "no process was killed between commit and answer: kill later"
    );
}

const CHANGING_CALLS: [&str; 12] = [
    "write",
    "pwrite64",
    "renameat",
    "renameat2",
    "unlinkat",
    "mkdir",
    "mkdirat",
    "fsync",
    "fdatasync",
    "syncfs",
    "ftruncate",
    "flock",
];

/// Runs the binary and has the kernel do `what` when it makes a system call for the `number`th
/// time.
fn run_injected(home: &Home, args: &[&str], what: &str, call: &str, number: usize) -> Output {
    let traced = home.command(args);
    strace(what)
        .arg("-o")
        .arg(home.path().join("calls"))
        .args(["-e", &format!("trace={call}")])
        .args(["-e", &format!("inject={call}:{what}:when={number}")])
        .arg(traced.get_program())
        .args(traced.get_args())
        .env_clear()
        .envs(
            traced
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .current_dir(home.path())
        .output()
        .expect("strace runs")
}

/// Kills a command at each of its changing system calls in turn and checks what is there then.
fn kill_at_each(calls: &[&str], home: &Home, args: &[&str], before: &Model, after: &Model) {
    let start = keep(home, "start");
    let mut kills = 0;
    let step = every(3);
    run_injected(home, args, "error=EIO", &calls.join(","), AFTER_ALL);
    let trace = home.path().join("calls");
    let last: Vec<usize> = calls.iter().map(|call| last_time(&trace, call)).collect();
    put_back(&start, home);
    for (nth, call) in calls.iter().enumerate() {
        for number in (1 + nth % step..=last[nth]).step_by(step) {
            let run = run_injected(home, args, "signal=KILL", call, number);
            let when = format!("{args:?} killed at {call} {number}");
            check_killed(home, &run, before, after, &when);
            put_back(&start, home);
            if run.status.success() {
                break;
            }
            kills += 1;
        }
    }
    assert!(kills > 8 / step, "{args:?}: only {kills} changing calls");
    fs::remove_dir_all(start).expect("there");
}

fn check_killed(home: &Home, run: &Output, before: &Model, after: &Model, when: &str) {
    assert!(!stderr(run).contains("panicked"), "{when}: {}", stderr(run));
    let acknowledged = stdout(run).ends_with('\n');
    let mut store = open(home, when);
    let status = store.status().expect("counts");
    let events = status.events;
    let happened = events == after.events;
    assert!(
        happened || events == before.events,
        "{when}: {events} events"
    );
    assert!(happened || !acknowledged, "{when}: acknowledged and gone");
    let mut state = if happened { after } else { before }.clone();
    state.check_numbers(&status, when);
    state.check_open(&mut store, when);
    drop(store); // which waits for its thread that packs
    check_git(home, when);
}

fn has_strace() -> bool {
    has_peer("strace", "kills at every system call")
}

#[test]
fn killed_at_every_system_call_a_command_is_whole_or_absent() {
    if !has_strace() {
        return;
    }
    let home = Home::with_store();
    let mut model = Model::new();
    for path in ["/memories/a.md", "/memories/d/a.md", "/memories/d/b.md"] {
        let call = json!({"command": "create", "path": path, "file_text": "one\ntwo\n"});
        model.answer(&home, &call);
    }
    for (args, call) in [
        (
            &["create", "/memories/b.md", "--text", "new\n"][..],
            json!({"command": "create", "path": "/memories/b.md", "file_text": "new\n"}),
        ),
        (
            &["rename", "/memories/d", "/memories/e"],
            json!({"command": "rename", "old_path": "/memories/d", "new_path": "/memories/e"}),
        ),
    ] {
        let start = keep(&home, "scenario");
        let mut after = model.clone();
        after.carry_out(&call);
        kill_at_each(&CHANGING_CALLS, &home, args, &model, &after);
        put_back(&start, &home);
        fs::remove_dir_all(start).expect("there");
    }
}

/// A change of a public file is one with its event, in the caches too: whoever verifies next finds nothing.
#[test]
fn killed_at_any_write_a_change_of_the_policy_leaves_a_store_that_verifies() {
    if !has_strace() {
        return;
    }
    let home = Home::with_store();
    assert!(
        home.run(&["create", "a.md", "--text", "x"])
            .status
            .success()
    );
    let start = keep(&home, "start");
    let mut kills = 0;
    for call in ["pwrite64", "renameat", "renameat2", "fdatasync"] {
        for number in 1.. {
            let args = ["policy", "set", "limits.history_bytes", "0"];
            let run = run_injected(&home, &args, "signal=KILL", call, number);
            let verified = home.run(&["verify", "--full", "--json"]);
            let said = stdout(&verified);
            assert_eq!(verified.status.code(), Some(0), "{call} {number}: {said}");
            put_back(&start, &home);
            if run.status.success() {
                break;
            }
            kills += 1;
        }
    }
    assert!(kills > 8, "only {kills} changing calls");
    fs::remove_dir_all(start).expect("there");
}

#[test]
fn a_command_whose_system_call_fails_happened_if_and_only_if_it_says_so() {
    if !has_strace() {
        return;
    }
    let home = Home::with_store();
    let mut before = Model::new();
    let call = |path: &str| json!({"command": "create", "path": path, "file_text": "new\n"});
    before.answer(&home, &call("/memories/a.md"));
    let mut after = before.clone();
    after.carry_out(&call("/memories/b.md"));
    let args = ["create", "/memories/b.md", "--text", "new\n"];
    let start = keep(&home, "start");
    for (name, error) in CHANGING_CALLS
        .into_iter()
        .zip(["EIO", "ENOSPC"].iter().cycle())
    {
        let count = calls_of(&home, &args, name).len();
        put_back(&start, &home);
        for number in 1..=count {
            let run = run_injected(&home, &args, &format!("error={error}"), name, number);
            let when = format!("{error} from {name} {number}");
            let (code, complaint) = (run.status.code(), stderr(&run));
            let mut store = open(&home, &when);
            let events = store.status().expect("counts").events;
            if complaint.contains("standard output") {
                assert_eq!((code, events), (Some(16), after.events), "{when}");
            } else if complaint.is_empty() {
                assert_eq!((code, events), (Some(0), after.events), "{when}");
            } else {
                assert_eq!(
                    (code, events),
                    (Some(16), before.events),
                    "{when}: {complaint}"
                );
                assert!(complaint.contains("\nhint: "), "{when}: {complaint}");
            }
            let mut state = if events == after.events {
                &after
            } else {
                &before
            }
            .clone();
            state.check_open(&mut store, &when);
            drop(store); // which waits for its thread that packs
            check_git(&home, &when);
            put_back(&start, &home);
        }
    }
}

#[test]
fn killed_at_every_system_call_a_checkpoint_loses_nothing() {
    if !has_strace() {
        return;
    }
    let home = Home::with_store();
    let mut model = Model::new();
    let big = "fill the journal.\n".repeat(55_000);
    for path in ["/memories/a.md", "/memories/b.md"] {
        let create = json!({"command": "create", "path": path, "file_text": big});
        model.answer(&home, &create);
        model.answer(&home, &json!({"command": "delete", "path": path}));
    }
    while record_ends(&home).last() <= Some(&CHECKPOINT_BYTES) {
        model.answer(&home, &json!({"command": "view", "path": "/memories/b.md"}));
    }
    let call = json!({"command": "create", "path": "/memories/a.md", "file_text": "new\n"});
    let mut after = model.clone();
    after.carry_out(&call);
    // What comes after the checkpoint is killed in the test above.
    let calls = [
        "unlinkat",
        "pwrite64",
        "fsync",
        "fdatasync",
        "syncfs",
        "renameat",
    ];
    kill_at_each(
        &calls,
        &home,
        &["create", "/memories/a.md", "--text", "new\n"],
        &model,
        &after,
    );
}

#[test]
fn killed_at_every_system_call_a_recovery_starts_over() {
    if !has_strace() {
        return;
    }
    let (home, mut model) = with_a_new_journal();
    let base = keep(&home, "base");
    let (calls, wants, _) = model.next_calls(&mut Dice(SEED), 3);
    answer_all(&home, &calls, &wants);
    let journal = fs::read(home.store().join("journal")).expect("reads");
    put_back(&base, &home);
    fs::write(home.store().join("journal"), journal).expect("writes");
    of_another_boot(&home);
    kill_at_each(&CHANGING_CALLS, &home, &["status"], &model, &model);
}

/// What a command asks of the kernel, in order: name, first argument, and the line as it is.
fn calls_of(home: &Home, args: &[&str], names: &str) -> Vec<(String, String, String)> {
    let traced = home.command(args);
    let trace = home.path().join("trace");
    let run = strace("")
        .args(["-y", "-s", "4096", "-e", &format!("trace={names}")])
        .arg("-o")
        .arg(&trace)
        .arg(traced.get_program())
        .args(args)
        .env_clear()
        .envs(
            traced
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .output()
        .expect("strace runs");
    assert!(run.status.success(), "{}", stderr(&run));
    returned_calls(&fs::read_to_string(trace).expect("traced"))
        .iter()
        .filter_map(|line| {
            let (name, rest) = line.split_once('(')?;
            let first = rest.split([',', ')']).next()?;
            Some((name.to_owned(), first.to_owned(), joined(name, line)))
        })
        .collect()
}

/// A call with the names that it gives below an open folder as whole paths.
fn joined(name: &str, line: &str) -> String {
    if name.starts_with("rename") || name.ends_with("at") {
        line.replace(">, \"", "/").replace('<', "\"")
    } else {
        line.to_owned()
    }
}

/// A killed process loses nothing the kernel has. That the disk has it too shows in the order of
/// calls.
#[test]
fn the_answer_goes_out_only_after_the_record_is_durable() {
    if !has_strace() {
        return;
    }
    let home = Home::with_store();
    for n in 0..2 {
        let path = format!("/memories/{n}");
        let args = ["create", &path, "--text", "text"];
        let calls = calls_of(
            &home,
            &args,
            "pwrite64,fdatasync,fsync,write,renameat,renameat2",
        );
        let at = |what: &str, found: &dyn Fn(&(String, String, String)) -> bool| {
            let at = calls.iter().position(found);
            at.unwrap_or_else(|| panic!("{what} is not among {calls:#?}"))
        };
        let recorded = calls
            .iter()
            .rposition(|(name, file, _)| name == "pwrite64" && file.ends_with("/journal>"));
        let durable = at("the sync", &|(name, file, _)| {
            name == "fdatasync" && file.ends_with("/journal>")
        });
        let object = at("an object", &|(_, _, line)| line.contains("/objects/"));
        let head = at("the ref", &|(name, _, line)| {
            name.starts_with("rename") && line.contains("refs/heads/main")
        });
        let answered = at("the answer", &|(_, _, line)| {
            line.contains("File created successfully")
        });
        let order = [recorded.expect("a record"), durable, object, head, answered];
        assert!(order.is_sorted(), "{order:?}: {calls:#?}");
    }
}

#[test]
fn a_new_journal_begins_only_after_all_it_replaces_is_durable() {
    if !has_strace() {
        return;
    }
    let home = Home::with_store();
    let made = home.run(&["create", "/memories/a", "--text", "text"]);
    assert!(made.status.success(), "{}", stderr(&made));
    of_another_boot(&home);
    let calls = calls_of(
        &home,
        &["status"],
        "fsync,fdatasync,renameat,renameat2,unlinkat",
    );
    let lines: Vec<_> = calls.iter().map(|(_, _, line)| line.as_str()).collect();
    let renames = |part: &str| {
        let is = |line: &&str| line.starts_with("rename") && line.contains(part);
        lines.iter().rposition(is).expect("renamed")
    };
    let sync = |file: &str| {
        let is = |line: &&str| line.starts_with("fsync(") && line.contains(file);
        lines
            .iter()
            .rposition(is)
            .unwrap_or_else(|| panic!("no sync of {file} in {lines:#?}"))
    };
    let (head, new) = (renames("refs/heads/main"), renames("journal.new"));
    let (pack, index) = (renames(".pack\""), renames(".idx\""));
    let aside = |line: &&str| line.starts_with("fsync(") && line.contains("/pack/tmp_agekeep_");
    let written = lines.iter().filter(|line| aside(line)).count();
    assert_eq!(written, 2, "pack and index: {lines:#?}");
    let last_written = lines.iter().rposition(aside).expect("two");
    let in_place = sync("/objects/pack>");
    assert!(
        [last_written, pack, index, in_place, new].is_sorted(),
        "{lines:#?}"
    );
    for file in ["/ring>", "/names>", "/refs/heads/main>", "/refs/heads>"] {
        assert!(head < sync(file) && sync(file) < new, "{file}: {lines:#?}");
    }
    assert!(sync("/journal.new>") < new, "{lines:#?}");
    assert!(sync("/store>") > new, "{lines:#?}");
    // What the new journal does not hold any more leaves its own file last.
    let removed = lines.iter().position(|line| {
        line.starts_with("unlinkat(")
            && !line.contains("/tmp_agekeep_")
            && line.contains("/objects/")
    });
    let removed = removed.unwrap_or_else(|| panic!("no loose file goes: {lines:#?}"));
    assert!(removed > sync("/store>"), "{lines:#?}");
}

#[test]
fn a_process_that_slept_through_a_checkpoint_follows_another_that_was_killed() {
    let home = Home::with_store();
    let mut sleeper = open(&home, "before everything");
    let create = |name: &str| {
        let made = home.run(&["create", &format!("/memories/{name}"), "--text", name]);
        assert!(made.status.success(), "{}", stderr(&made));
    };
    ["one", "two", "three"].into_iter().for_each(create);
    checkpoint(&home);
    let head = home.store().join("refs/heads/main");
    let before = fs::read(&head).expect("there");
    create("four");
    // As if that process was killed after its record, before the ref.
    fs::write(&head, before).expect("writes");
    let list = read(&mut sleeper, None, "after the other was killed");
    assert_eq!(list, "four\none\nthree\ntwo");
    for name in ["one", "four"] {
        assert_eq!(
            read(&mut sleeper, Some(name), "after the other was killed"),
            name
        );
    }
}
