//! Stores at work, recorded and then cut off.

use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::fault::cuts::is_long_run;
use crate::fault::story::{Effect, State, Story, Task, carry_out, new_store};
use crate::support::{Home, has_peer};

fn has_strace() -> bool {
    has_peer("strace", "records what is cut off")
}

fn put(path: &str, text: &str) -> Effect {
    Effect::Put(path.to_owned(), text.to_owned())
}

/// Commands of every kind that changes memories, and some that are refused.
fn some_of_each() -> Vec<Task> {
    vec![
        Task::create("/memories/a.md", "one\ntwo\n"),
        Task::create("/memories/d/x.md", "x\n"),
        Task::create("/memories/d/y.md", &"why\n".repeat(700)),
        Task::view("/memories/a.md", 0),
        Task::replace("/memories/a.md", ("two", "three"), "one\nthree\n"),
        Task::insert("/memories/a.md", (1, "between\n"), "one\nbetween\nthree\n"),
        Task::view("/memories/none.md", 4),
        Task::create("/memories/a.md", "again\n").refused(5),
        Task::rename("/memories/d", "/memories/e"),
        Task::rename("/memories/a.md", "/memories/b.md"),
        Task::delete("/memories/e/x.md"),
    ]
}

#[test]
fn init_is_whole_or_was_not() {
    if !has_strace() {
        return;
    }
    let home = Home::empty();
    let mut story = Story::new("init", &home, State::default());
    story.one_by_one(
        &home,
        &[
            Task::of(&["init"], 0, Effect::None),
            Task::create("/memories/a.md", "one\n"),
        ],
    );
    story.cut(20);
}

#[test]
fn a_process_for_each_command_keeps_what_it_answered() {
    if !has_strace() {
        return;
    }
    let home = Home::empty();
    let state = new_store(&home);
    let mut story = Story::new("one by one", &home, state);
    let restored = put("/memories/e/x.md", "x\n");
    story.one_by_one(&home, &some_of_each());
    story.one_by_one(
        &home,
        &[
            Task::of(&["restore", "/memories/e/x.md"], 0, restored),
            Task::of(&["log", "-n", "2"], 0, Effect::None).unrecorded(),
            Task::of(
                &["hold", "add", "/memories/b.md", "--reason", "legal"],
                0,
                Effect::None,
            ),
            Task::delete("/memories/b.md").refused(7),
            Task::of(&["hold", "rm", "13", "--reason", "over"], 0, Effect::None),
            Task::of(&["policy", "set", "limits.lines", "5000"], 0, Effect::None),
        ],
    );
    story.cut(22);
}

#[test]
fn an_erasure_is_whole_or_did_not_happen() {
    if !has_strace() {
        return;
    }
    let home = Home::empty();
    let state = carry_out(&home, &new_store(&home), &some_of_each());
    let mut story = Story::new("erasure", &home, state);
    let args = ["erase", "/memories/e/y.md", "--reason", "asked", "--yes"];
    let gone = Effect::Remove("/memories/e/y.md".into());
    let tasks = [
        Task::of(&args, 0, gone),
        Task::create("/memories/f.md", "after\n"),
    ];
    story.one_by_one(&home, &tasks);
    story.cut(18);
}

/// Such commands write more objects than a record holds, before it.
#[test]
fn a_change_of_keys_is_for_all_or_for_none() {
    if !has_strace() {
        return;
    }
    let home = Home::empty();
    let state = carry_out(&home, &new_store(&home), &some_of_each());
    let mut story = Story::new("change of keys", &home, state);
    let forgotten = [
        "erase",
        "/memories/b.md",
        "--history",
        "--reason",
        "asked",
        "--yes",
    ];
    let tasks = [
        Task::of(&["rekey"], 0, Effect::None),
        Task::of(&["rekey", "--memories", "/memories/b*"], 0, Effect::None),
        Task::of(&forgotten, 0, Effect::None),
        Task::create("/memories/f.md", "after\n"),
    ];
    story.one_by_one(&home, &tasks);
    story.cut(20);
}

#[test]
fn a_session_keeps_what_it_answered() {
    if !has_strace() {
        return;
    }
    let home = Home::empty();
    let state = new_store(&home);
    let mut story = Story::new("session", &home, state);
    story.in_session(&home, &some_of_each(), false, &[]);
    let more = [
        Task::create("/memories/g.md", "g\n"),
        Task::delete("/memories/g.md"),
        Task::create("/memories/g.md", "h\n"),
    ];
    story.in_session(&home, &more, true, &[]);
    story.cut(20);
}

/// Memories that fill a journal.
fn big(number: usize) -> Vec<Task> {
    let path = format!("/memories/big{number}.md");
    vec![
        Task::create(
            &path,
            &format!("{number} fills the journal.\n").repeat(16_000),
        ),
        Task::delete(&path),
    ]
}

/// Which file the journal is.
fn journal(home: &Home) -> u64 {
    fs::metadata(home.store().join("journal"))
        .expect("there")
        .ino()
}

#[test]
fn a_checkpoint_loses_nothing() {
    if !has_strace() {
        return;
    }
    let home = Home::empty();
    let mut state = carry_out(&home, &new_store(&home), &some_of_each());
    let (first, mut count) = (journal(&home), 0);
    while journal(&home) == first {
        state = carry_out(&home, &state, &big(count));
        count += 1;
    }
    // Once more, until it is about to happen.
    let home = Home::empty();
    let mut state = carry_out(&home, &new_store(&home), &some_of_each());
    for number in 0..count - 1 {
        state = carry_out(&home, &state, &big(number));
    }
    let mut story = Story::new("checkpoint", &home, state);
    let before = journal(&home);
    let mut tasks = big(count - 1);
    tasks.push(Task::create("/memories/c.md", "c\n"));
    story.in_session(&home, &tasks, false, &[]);
    assert_ne!(journal(&home), before, "there was a checkpoint");
    story.cut(18);
}

#[test]
fn a_recovery_that_is_cut_off_starts_over() {
    if !has_strace() {
        return;
    }
    let home = Home::empty();
    let state = new_store(&home);
    let mut story = Story::new("before", &home, state);
    story.in_session(&home, &some_of_each(), false, &[]);
    let state = story.last();
    let home = story.left_without_power();
    let mut story = Story::new("recovery", &home, state);
    story.one_by_one(
        &home,
        &[
            Task::of(&["status"], 0, Effect::None).unrecorded(),
            Task::create("/memories/c.md", "c\n"),
        ],
    );
    story.cut(20);
}

/// A sync that failed leaves pages that count as clean: syncing them again makes nothing sure.
#[test]
fn a_sync_that_failed_is_not_believed_when_it_is_tried_again() {
    if !has_strace() {
        return;
    }
    let mut failed = 0;
    let last = if is_long_run() { 9 } else { 3 };
    for number in 1..=last {
        let home = Home::empty();
        let state = carry_out(&home, &new_store(&home), &some_of_each());
        let mut story = Story::new(&format!("failed sync {number}"), &home, state);
        let tasks = [
            Task::create("/memories/g.md", &"g\n".repeat(3_000)),
            Task::create("/memories/h.md", "h\n"),
            Task::view("/memories/e/y.md", 0),
            Task::create("/memories/i.md", &"i\n".repeat(30_000)),
            Task::create("/memories/j.md", "j\n"),
        ];
        let inject = format!("inject=fdatasync:error=EIO:when={number}");
        story.in_session(&home, &tasks, false, &["-e".into(), inject]);
        failed += story.failed();
        let more = [
            Task::create("/memories/k.md", "k\n"),
            Task::view("/memories/b.md", 0),
        ];
        story.in_session(&home, &more, false, &[]);
        story.cut(9);
    }
    assert!(failed > 2, "only {failed} commands failed");
}

/// Kills a process at the first such calls in turn, and has another go on; with `fails`, the first
/// was told that its syncs failed.
fn killed_and_gone_on_with(call: &str, last: usize, fails: bool) {
    if !has_strace() {
        return;
    }
    for number in 1..=last {
        let home = Home::empty();
        let state = carry_out(&home, &new_store(&home), &some_of_each());
        let mut story = Story::new(&format!("killed at {call} {number}"), &home, state);
        let kill = format!("inject={call}:signal=KILL:when={number}");
        let mut more = vec!["-e".to_owned(), kill];
        if fails {
            let error = "inject=fdatasync:error=EIO:when=1+";
            more.extend(["-e".to_owned(), error.to_owned()]);
        }
        let task = Task::create("/memories/g.md", &"g\n".repeat(3_000));
        story.give(&home, &task, &more);
        story.one_by_one(&home, &[Task::create("/memories/h.md", "h\n")]);
        story.cut(18 / last);
    }
}

#[test]
fn what_a_killed_process_left_is_durable_before_it_is_in_its_place() {
    killed_and_gone_on_with("fdatasync", 1, false);
}

#[test]
fn what_a_killed_process_could_not_sync_is_written_again() {
    killed_and_gone_on_with("pwrite64", 4, true);
}
