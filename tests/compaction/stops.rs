//! A compaction and a checkpoint that are killed, or refused, at any system call.

use std::process::Output;

use crate::compaction::scene::*;
use crate::crash::model::*;
use crate::support::{Home, every, has_peer, stderr, stdout, strace};

/// The calls that change something on disk. Each is made less than so often in these tests, except
/// for the many files that are removed in the end.
const CHANGING_CALLS: [&str; 8] = [
    "write",
    "pwrite64",
    "renameat",
    "fsync",
    "fdatasync",
    "openat",
    "unlinkat",
    "flock",
];
/// Of more calls than this some are tried.
const CALLS_TRIED: usize = 12;

fn run_injected(home: &Home, args: &[&str], what: &str, call: &str, number: usize) -> Output {
    let inject = format!("inject={call}:{what}:when={number}");
    run_traced(home, args, &["-e", &format!("trace={call}"), "-e", &inject])
}

fn run_traced(home: &Home, args: &[&str], options: &[&str]) -> Output {
    let traced = home.command(args);
    strace(&options.concat())
        .args(["-o", "/dev/null"])
        .args(options)
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

fn has_strace() -> bool {
    has_peer("strace", "kills and refuses at every system call")
}

/// A store with a pack, another of stock git's, loose objects and a journal.
fn with_everything() -> (Home, Model) {
    let (home, mut model) = with_history(12);
    checkpoint(&home);
    for n in 0..2 {
        let (calls, wants, _) = model.next_calls(&mut Dice(SEED + n), 6);
        answer_all(&home, &calls, &wants);
        if n == 0 {
            assert!(home.git(&["repack", "-q", "-d"]).status.success());
        }
    }
    (home, model)
}

/// Every how many of the calls are tried.
fn step() -> usize {
    every(3)
}

/// Which times of a call are tried: the first and some of the later ones; in a sample, of each call
/// others.
fn times(call: &str, nth: usize) -> impl Iterator<Item = usize> {
    let many = matches!(call, "openat" | "write");
    let next = move |n: usize| if many && n > 4 { n + n / 3 } else { n + 1 };
    let all = std::iter::successors(Some(1), move |n| Some(next(*n))).take(4 * CALLS_TRIED);
    all.skip(nth % step()).step_by(step())
}

#[test]
fn a_compaction_killed_anywhere_loses_nothing() {
    if !has_strace() {
        return;
    }
    let (home, model) = with_everything();
    let start = keep(&home, "start");
    let mut kills = 0;
    for (nth, call) in CHANGING_CALLS.into_iter().enumerate() {
        let mut is_completed = false;
        for number in times(call, nth) {
            let run = run_injected(&home, &["compact"], "signal=KILL", call, number);
            let when = format!("compact killed at {call} {number}");
            assert!(
                !stderr(&run).contains("panicked"),
                "{when}: {}",
                stderr(&run)
            );
            model.clone().check(&home, &when);
            check_git(&home, &when);
            assert_nothing_aside(&home, &when);
            if number >= 2 && !is_completed {
                is_completed = true;
                compact(&home, &[]);
                assert_eq!((packs(&home).len(), loose(&home).len()), (1, 0), "{when}");
                assert_whole(
                    &home,
                    &mut Model {
                        events: model.events + 1 + model.texts.len() as u64,
                        ..model.clone()
                    },
                    &when,
                );
            }
            put_back(&start, &home);
            if run.status.success() {
                break;
            }
            kills += 1;
        }
    }
    assert!(kills > 20 / step(), "only {kills} calls");
}

#[test]
fn a_compaction_that_is_refused_anything_says_so_and_loses_nothing() {
    if !has_strace() {
        return;
    }
    let (home, model) = with_everything();
    let start = keep(&home, "start");
    let mut refused = 0;
    for (nth, (call, error)) in CHANGING_CALLS
        .into_iter()
        .zip(["EIO", "ENOSPC"].iter().cycle())
        .enumerate()
    {
        if call == "openat" {
            // The loader's and the library's own files are among what is opened.
            continue;
        }
        for number in times(call, nth) {
            let what = format!("error={error}");
            let run = run_injected(&home, &["compact"], &what, call, number);
            let when = format!("{error} from {call} {number}");
            let said = stderr(&run);
            assert!(!said.contains("panicked"), "{when}: {said}");
            if !run.status.success() {
                assert_eq!(run.status.code(), Some(16), "{when}: {said}");
                assert!(said.contains("\nhint: "), "{when}: {said}");
                refused += 1;
            }
            model.clone().check(&home, &when);
            check_git(&home, &when);
            put_back(&start, &home);
            if number > CALLS_TRIED {
                break;
            }
        }
    }
    assert!(refused > 12 / step(), "only {refused} refusals");
}

#[test]
fn a_process_killed_while_it_packs_its_journal_loses_nothing() {
    if !has_strace() {
        return;
    }
    let home = Home::with_store();
    let mut model = Model::new();
    for n in 0..2 {
        model.answer(&home, &create(&format!("/memories/{n}"), BIG_BYTES));
        model.answer(&home, &create(&format!("/memories/{n}.x"), BIG_BYTES / 2));
    }
    assert!(packs(&home).is_empty());
    let start = keep(&home, "start");
    let mut kills = 0;
    let calls = [
        "write", "pwrite64", "fsync", "renameat", "unlinkat", "flock",
    ];
    for (nth, call) in calls.into_iter().enumerate() {
        for number in times(call, nth) {
            let args = ["create", "/memories/last", "--text", "x"];
            let run = run_injected(&home, &args, "signal=KILL", call, number);
            let when = format!("create killed at {call} {number}");
            assert!(
                !stderr(&run).contains("panicked"),
                "{when}: {}",
                stderr(&run)
            );
            let happened = open(&home, &when).status().expect("counts").events > model.events;
            let mut state = model.clone();
            if happened {
                let call = serde_json::json!({"command": "create", "path": "/memories/last", "file_text": "x"});
                state.carry_out(&call);
            }
            assert!(
                happened || stdout(&run).is_empty(),
                "{when}: said and not done"
            );
            state.check(&home, &when);
            check_git(&home, &when);
            assert_nothing_aside(&home, &when);
            put_back(&start, &home);
            if run.status.success() {
                break;
            }
            kills += 1;
        }
    }
    assert!(kills > 20 / step(), "only {kills} calls");
}

/// Stock git takes no lock of ours: it removes a pack once what it held is in another. Listing a
/// folder that is gone ends for readdir(3) as that of an empty one; a pack has to be let go.
#[test]
fn a_pack_that_is_gone_by_the_time_it_is_opened_stops_no_compaction() {
    if !has_strace() {
        return;
    }
    let (home, model) = with_everything();
    let index = packs(&home)[0].with_extension("idx");
    let start = keep(&home, "start");
    // It is opened by its name in its folder.
    let at = index.file_name().and_then(|name| name.to_str());
    let at = at.expect("UTF-8");
    for number in 1..=3 {
        let inject = format!("inject=openat:error=ENOENT:when={number}");
        let options = ["-P", at, "-e", "trace=openat", "-e", &inject];
        let done = run_traced(&home, &["compact"], &options);
        let when = format!("opened {number} times");
        assert!(done.status.success(), "{when}: {}", stderr(&done));
        model.clone().check(&home, &when);
        check_git(&home, &when);
        put_back(&start, &home);
    }
}
