//! A compaction beside writers, readers, stock git and another compaction.

use std::fs;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::json;

use crate::compaction::scene::*;
use crate::crash::model::*;
use crate::support::{Home, feed, json_lines, stderr, stdout};

const WRITERS: usize = 8;
const CALLS_EACH: usize = 25;
/// Twice fills the journal of eight writers.
const TEXT_BYTES: usize = 30_000;

/// Each writer has a folder of its own, so that what must be there in the end is known.
fn writer(home: &Home, who: usize) {
    let calls: Vec<_> = (0..CALLS_EACH)
        .map(|n| match n % 5 {
            4 => view(&format!("/memories/{who}/{}", n - 1)),
            3 => json!({"command": "insert", "path": format!("/memories/{who}/{}", n - 1),
                "insert_line": 0, "insert_text": "top\n"}),
            _ => create(&format!("/memories/{who}/{n}"), TEXT_BYTES),
        })
        .map(|call| match call["command"].as_str() {
            Some("view") => json!({"command": "view", "path": format!("/memories/{who}")}),
            _ => call,
        })
        .collect();
    let output = feed(home.command(&["tool"]), lines(&calls).as_bytes());
    assert!(output.status.success(), "{}", stderr(&output));
    for answer in json_lines(&output.stdout) {
        assert_eq!(answer["is_error"], false, "{answer}");
    }
}

fn spawn(home: &Home, args: &[&str]) -> Child {
    let mut command = home.command(args);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn().expect("starts")
}

/// What goes on until this is dropped, also where a test ends by a failure.
struct Until<'a>(&'a AtomicBool);

impl Drop for Until<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

#[test]
fn everybody_goes_on_while_a_store_is_compacted() {
    let home = Home::with_store();
    let writing = AtomicBool::new(true);
    thread::scope(|scope| {
        let (home, writing) = (&home, &writing);
        let writers: Vec<_> = (0..WRITERS)
            .map(|who| scope.spawn(move || writer(home, who)))
            .collect();
        scope.spawn(|| {
            while writing.load(Ordering::Relaxed) {
                let both = [spawn(home, &["compact"]), spawn(home, &["compact"])];
                for one in both {
                    let done = one.wait_with_output().expect("ends");
                    assert!(done.status.success(), "{}", stderr(&done));
                }
            }
        });
        scope.spawn(|| {
            while writing.load(Ordering::Relaxed) {
                for args in [
                    &["gc", "-q"][..],
                    &["repack", "-a", "-d", "-q"],
                    &["prune-packed"],
                ] {
                    // Stock git gives up where what it reads goes away beneath it; it never removes
                    // what it did not put elsewhere.
                    drop(home.git(args));
                }
            }
        });
        scope.spawn(|| {
            while writing.load(Ordering::Relaxed) {
                for args in [&["log", "--json", "-n", "3"][..], &["verify"], &["status"]] {
                    let read = home.run(args);
                    assert!(
                        read.status.success(),
                        "{args:?}: {}{}",
                        stdout(&read),
                        stderr(&read)
                    );
                }
            }
        });
        let until = Until(writing);
        for writer in writers {
            writer.join().expect("writes");
        }
        drop(until);
    });
    let events = 1 + WRITERS * CALLS_EACH;
    check_log(&home, events as u64, "after all of them");
    check_git(&home, "after all of them");
    for who in 0..WRITERS {
        for n in [0, 1, 2, 5, 22] {
            let path = format!("{who}/{n}");
            let text = home.run(&["read", &path]);
            assert!(
                stdout(&text).contains(&format!("/memories/{path} ")),
                "{}",
                stderr(&text)
            );
        }
    }
    let verified = home.run(&["verify", "--full"]);
    assert!(verified.status.success(), "{}", stdout(&verified));
    compact(&home, &[]);
    assert_eq!((packs(&home).len(), loose(&home).len()), (1, 0));
    assert_nothing_aside(&home, "in the end");
}

/// Stock git removes the packs that were there when it began, by their names. A compaction may come
/// between that and the pack that git made of them.
#[test]
fn a_compaction_while_git_repacks_loses_nothing() {
    let (home, mut model) = with_history(20);
    compact(&home, &[]);
    let first = packs(&home).remove(0);
    let files = ["pack", "idx"].map(|end| first.with_extension(end));
    let kept = files.clone().map(|file| fs::read(file).expect("reads"));
    let repacked = home.git(&["repack", "-a", "-d", "-q", "-f"]);
    assert!(repacked.status.success(), "{}", stderr(&repacked));
    // As git has it before it removes the first one.
    for (file, bytes) in files.iter().zip(kept) {
        fs::write(file, bytes).expect("writes");
    }
    assert_eq!(packs(&home).len(), 2, "git's pack is another");
    compact(&home, &[]);
    for file in &files {
        drop(fs::remove_file(file));
    }
    assert_eq!(packs(&home).len(), 1);
    assert_whole(&home, &mut model, "after git's removal");
}

#[test]
fn a_long_lived_reader_finds_what_another_has_packed_meanwhile() {
    let (home, model) = with_history(20);
    let mut sleeper = open(&home, "before");
    compact(&home, &[]);
    let list = read(&mut sleeper, None, "after the other has compacted");
    assert_eq!(list.lines().count(), model.texts.len());
    for (path, text) in &model.texts {
        assert!(
            read(&mut sleeper, Some(path), "compacted") == *text,
            "{path}"
        );
    }
    assert!(
        home.git(&["repack", "-a", "-d", "-q", "-f"])
            .status
            .success()
    );
    for (path, text) in &model.texts {
        assert!(
            read(&mut sleeper, Some(path), "packed by git") == *text,
            "{path}"
        );
    }
}
