//! The journal becomes packs by itself, and packs stay few.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::process::{Command as Process, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::compaction::scene::*;
use crate::crash::model::*;
use crate::support::{Home, has_peer, reply, stderr};

fn ask(store: &mut agekeep::store::Store, call: &Value) {
    let reply = reply(store, call);
    assert_eq!(reply.json["is_error"], false, "{}", reply.json);
}

#[test]
fn a_full_journal_becomes_a_pack_beside_the_commands() {
    let home = Home::with_store();
    let mut model = Model::new();
    let mut store = open(&home, "at first");
    let mut filled = 0;
    while packs(&home).is_empty() {
        filled += 1;
        let call = create(&format!("/memories/{filled}"), BIG_BYTES);
        ask(&mut store, &call);
        model.carry_out(&call);
        assert!(filled < 60, "a journal of 40 MB, and no pack");
    }
    // While it is made, and after, commands go on.
    for n in 0..20 {
        let call = create(&format!("/memories/more/{n}"), 100);
        ask(&mut store, &call);
        model.carry_out(&call);
    }
    drop(store);
    let journal = fs::metadata(home.store().join("journal"))
        .expect("there")
        .len();
    assert!(journal < 16 * 1024 * 1024 + 2_000_000, "{journal} bytes");
    assert!(record_ends(&home).len() < filled + 20, "a new journal");
    // Unless so much came meanwhile that there is a second pack.
    if packs(&home).len() == 1 {
        let records = record_ends(&home).len();
        assert!(records >= 20, "what came meanwhile is in it: {records}");
    }
    assert_packs_verify(&home);
    assert_nothing_aside(&home, "after the store was closed");
    assert_whole(&home, &mut model, "packed");
}

#[test]
fn a_process_of_one_command_makes_a_pack_too() {
    let home = Home::with_store();
    let mut model = Model::new();
    for n in 0..5 {
        model.answer(&home, &create(&format!("/memories/{n}"), BIG_BYTES));
    }
    assert_eq!(packs(&home).len(), 1);
    let files = loose(&home);
    assert!(files.len() < 16, "{files:?}");
    assert_whole(&home, &mut model, "packed");
}

/// Goes on with small commands until the journal is a new one.
fn wait_for_a_pack(home: &Home, store: &mut agekeep::store::Store, model: &mut Model) {
    let journal = || {
        fs::metadata(home.store().join("journal"))
            .expect("there")
            .ino()
    };
    let before = journal();
    let start = Instant::now();
    while journal() == before {
        assert!(start.elapsed() < HANG, "no new journal");
        let call = view("/memories");
        ask(store, &call);
        model.carry_out(&json!({"command": "view", "path": "/memories/0"}));
        thread::sleep(Duration::from_millis(20));
    }
}

/// A merge of large packs takes long. What is written meanwhile must not come to be so much that a
/// command has to make a pack itself.
#[test]
fn a_journal_becomes_a_pack_also_while_packs_are_merged() {
    if !has_peer("strace", "a merge that takes long") {
        return;
    }
    let home = Home::with_store();
    let journal = |n: usize| -> String {
        let part = |part| create(&format!("/memories/{n}-{part}"), BIG_BYTES);
        (0..3).map(|n| format!("{}\n", part(n))).collect()
    };
    for n in 0..7 {
        home.tool(&journal(n));
        // Whoever comes next makes the pack.
        assert!(home.run(&["view"]).status.success());
    }
    let old = packs(&home);
    assert_eq!(old.len(), 7, "one for each journal");
    // With the eighth they are merged, and reading them is slow from then on.
    let traced = home.command(&["tool"]);
    let mut slow = Process::new("strace");
    slow.args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=pread64"]);
    slow.args(["-e", "inject=pread64:delay_enter=100000"]);
    for pack in &old {
        slow.arg("-P").arg(pack);
    }
    slow.arg(traced.get_program()).args(traced.get_args());
    slow.env_clear();
    let set = traced.get_envs();
    slow.envs(set.filter_map(|(name, value)| Some((name, value?))));
    slow.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut tool = slow.spawn().expect("strace runs");
    let mut calls = tool.stdin.take().expect("piped");
    let mut answers = BufReader::new(tool.stdout.take().expect("piped")).lines();
    let begun = Instant::now();
    for n in 7.. {
        for call in journal(n).lines() {
            writeln!(calls, "{call}").expect("it reads");
            let answer = answers.next().expect("an answer").expect("reads");
            assert!(answer.contains("\"is_error\":false"), "{answer}");
        }
        if packs(&home).len() > 8 {
            break;
        }
        assert!(old.iter().all(|pack| pack.exists()), "merged, and no pack");
        let bytes = fs::metadata(home.store().join("journal")).expect("there");
        let bytes = bytes.len();
        assert!(bytes < 10_000_000, "{bytes} in the journal, and no pack");
        assert!(begun.elapsed() < Duration::from_secs(60), "no pack");
    }
    assert!(old.iter().all(|pack| pack.exists()), "the merge goes on");
    drop(calls);
    assert!(tool.wait().expect("it ends").success());
    let verified = home.run(&["verify", "--full"]);
    assert!(verified.status.success(), "{}", stderr(&verified));
    assert_nothing_aside(&home, "after the process ended");
}

#[test]
fn packs_stay_few_however_many_journals_there_were() {
    let home = Home::with_store();
    let mut model = Model::new();
    let (mut most, mut made) = (0, BTreeSet::new());
    let mut store = open(&home, "for all of it");
    for round in 0..24 {
        for n in 0..4 {
            let path = format!("/memories/{n}");
            let call = match round % 2 {
                0 => create(&path, BIG_BYTES),
                _ => json!({"command": "delete", "path": path}),
            };
            ask(&mut store, &call);
            model.carry_out(&call);
        }
        if round % 2 == 0 {
            wait_for_a_pack(&home, &mut store, &mut model);
        }
        let now = packs(&home);
        most = most.max(now.len());
        made.extend(now);
    }
    drop(store);
    let now = packs(&home).len();
    assert!(most <= 12 && now <= 12, "{now}, and {most} at most");
    assert!(made.len() > 12, "only {} were made", made.len());
    assert_packs_verify(&home);
    assert_whole(&home, &mut model, "with several packs");
}

#[test]
fn what_a_journal_held_is_in_packs_and_nowhere_else_after_a_checkpoint() {
    let (home, mut model) = with_history(30);
    assert!(loose(&home).len() > 30 && packs(&home).is_empty());
    let before = reachable(&home);
    checkpoint(&home);
    assert_eq!(packs(&home).len(), 1);
    // What `init` wrote was in no journal.
    assert!(loose(&home).len() < 8, "{:?}", loose(&home));
    assert_eq!(reachable(&home), before);
    assert_packs_verify(&home);
    assert_whole(&home, &mut model, "after a checkpoint");
}

/// What a host sent beside a history does not become large on the disk.
#[test]
fn objects_that_no_history_has_stay_small_in_a_compaction() {
    let home = Home::with_store();
    assert!(
        home.run(&["create", "a.md", "--text", "x"])
            .status
            .success()
    );
    let send =
        "git init -q other; head -c 20000000 /dev/zero | git -C other hash-object -w --stdin |
                git -C other pack-objects -q --stdout | GIT_DIR=\"$STORE\" git index-pack --stdin";
    let mut sh = Process::new("sh");
    sh.args(["-euc", send]).current_dir(home.path());
    let done = sh.env("STORE", home.store()).output().expect("sh runs");
    assert!(done.status.success(), "{}", stderr(&done));
    let compacted = home.run(&["compact"]);
    assert!(compacted.status.success(), "{}", stderr(&compacted));
    let packs = fs::read_dir(home.store().join("objects/pack")).expect("a folder");
    let sizes = packs.map(|pack| pack.expect("one").metadata().expect("there").len());
    assert!(sizes.sum::<u64>() < 1 << 20);
    assert!(home.run(&["verify", "--full"]).status.success());
}

#[test]
fn stock_git_packs_and_ours_are_one_history() {
    let (home, mut model) = with_history(20);
    checkpoint(&home);
    for round in 0..3 {
        let (calls, wants, _) = model.next_calls(&mut Dice(SEED + round), 10);
        answer_all(&home, &calls, &wants);
        let packed = match round {
            0 => home.git(&["repack", "-q", "-d"]),
            1 => home.git(&["gc", "-q"]),
            _ => home.git(&["repack", "-q", "-a", "-d", "--depth=200", "--write-midx"]),
        };
        assert!(packed.status.success(), "{}", stderr(&packed));
        checkpoint(&home);
        assert_whole(&home, &mut model, &format!("round {round}"));
    }
    compact(&home, &[]);
    assert_eq!((packs(&home).len(), loose(&home).len()), (1, 0));
    assert_whole(&home, &mut model, "compacted");
}
