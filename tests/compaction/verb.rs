//! The verb `compact`: what it does, says and leaves.

use std::fs;
use std::time::{Duration, SystemTime};

use serde_json::json;

use crate::compaction::scene::*;
use crate::crash::model::*;
use crate::support::{Home, json_lines, stderr, stdout};

#[test]
fn everything_becomes_one_pack_and_no_event() {
    let (home, mut model) = with_history(60);
    checkpoint(&home);
    let (calls, wants, _) = model.next_calls(&mut Dice(SEED), 30);
    answer_all(&home, &calls, &wants);
    let objects = reachable(&home);
    let done = compact(&home, &[]);
    assert_eq!(done["schema"], "agekeep.compact/1");
    assert_eq!(done["before"]["packs"], 1);
    assert!(done["before"]["loose"].as_u64() > Some(30), "{done}");
    assert_eq!(
        (&done["after"]["packs"], &done["after"]["loose"]),
        (&json!(1), &json!(0))
    );
    assert!(done["after"]["bytes"].as_u64() < done["before"]["bytes"].as_u64());
    assert_eq!(done["torn"], json!([]));
    assert_eq!((packs(&home).len(), loose(&home).len()), (1, 0));
    assert_eq!(reachable(&home), objects);
    assert_packs_verify(&home);
    assert_nothing_aside(&home, "after it");
    assert_whole(&home, &mut model, "after it");
}

#[test]
fn it_says_what_it_does_and_on_request_what_it_would() {
    let (home, _) = with_history(10);
    let before = loose(&home);
    let dry = home.run(&["compact", "-n"]);
    let said = stdout(&dry);
    let expected = format!("now 0 packs, {} loose objects, ", before.len());
    assert!(said.starts_with(&expected), "{said}");
    assert!(said.ends_with(" bytes\nNothing was changed.\n"), "{said}");
    assert_eq!(loose(&home), before);
    let json = compact(&home, &["--dry-run"]);
    assert_eq!(json["before"]["loose"], before.len());
    assert_eq!(json["after"], json!(null));
    assert_eq!(loose(&home), before);
    let done = home.run(&["compact"]);
    let said = stdout(&done);
    let lines: Vec<_> = said.lines().collect();
    assert!(lines[0].starts_with("before 0 packs, "), "{said}");
    assert!(
        lines[1].starts_with("after  1 pack, 0 loose objects, "),
        "{said}"
    );
    assert_eq!((lines.len(), stderr(&done)), (2, String::new()));
    let quiet = home.run(&["compact", "--quiet"]);
    assert_eq!(
        (stdout(&quiet), stderr(&quiet)),
        (String::new(), String::new())
    );
    let both = home.run(&["compact", "--quiet", "--json"]);
    assert_eq!(both.status.code(), Some(2));
    let nowhere = home.run(&["compact", "--store", "elsewhere"]);
    assert_eq!(nowhere.status.code(), Some(10), "{}", stderr(&nowhere));
}

#[test]
fn done_again_it_changes_nothing_and_after_more_commands_it_is_one_pack_again() {
    let (home, mut model) = with_history(20);
    compact(&home, &[]);
    let first = packs(&home);
    compact(&home, &[]);
    assert_eq!(packs(&home), first);
    model.answer(&home, &create("/memories/new", 10));
    compact(&home, &[]);
    assert_eq!((packs(&home).len(), loose(&home).len()), (1, 0));
    assert_ne!(packs(&home), first);
    assert_whole(&home, &mut model, "compacted three times");
}

#[test]
fn what_history_does_not_lead_to_stays() {
    let (home, mut model) = with_history(10);
    let note = home.path().join("note");
    fs::write(&note, "nobody points here").expect("writes");
    let stored = home.git(&["hash-object", "-w", note.to_str().expect("UTF-8")]);
    let name = stdout(&stored).trim().to_owned();
    compact(&home, &[]);
    assert_eq!(loose(&home).len(), 0);
    assert_eq!(
        stdout(&home.git(&["cat-file", "blob", &name])),
        "nobody points here"
    );
    model.check(&home, "with something else in it");
}

#[test]
fn a_torn_object_is_left_and_said_and_nothing_with_it_goes() {
    let (home, mut model) = with_history(10);
    compact(&home, &[]);
    model.answer(&home, &create("/memories/new", 10));
    checkpoint(&home);
    model.answer(&home, &create("/memories/newer", 10));
    checkpoint(&home);
    assert_eq!(packs(&home).len(), 3);
    let torn = home
        .store()
        .join("objects/ab/cdefabcdefabcdefabcdefabcdefabcdefabcd");
    fs::create_dir_all(torn.parent().expect("a folder")).expect("makes");
    fs::write(&torn, b"x\x9c").expect("writes");
    let done = home.run(&["compact"]);
    assert_eq!(done.status.code(), Some(13));
    let said = stderr(&done);
    assert!(
        said.contains("object abcdefabcdefabcdefabcdefabcdefabcdefabcd is damaged"),
        "{said}"
    );
    assert!(said.contains("hint: run `agekeep verify`"), "{said}");
    assert!(
        stdout(&done).contains("after  1 pack, 1 loose object, "),
        "{}",
        stdout(&done)
    );
    assert!(torn.exists());
    fs::remove_file(&torn).expect("there");
    assert_whole(&home, &mut model, "without what was torn");
}

#[test]
fn a_pack_with_something_torn_in_it_stays() {
    let (home, mut model) = with_history(10);
    checkpoint(&home);
    let pack = packs(&home).remove(0);
    let bytes = fs::read(&pack).expect("reads");
    let mut bad = bytes.clone();
    let last = bad.len() - 40;
    bad[last] ^= 0xff;
    overwrite(&pack, &bad);
    model.answer(&home, &create("/memories/new", 10));
    let done = home.run(&["compact", "--json"]);
    assert_eq!(done.status.code(), Some(13), "{}", stdout(&done));
    let said = json_lines(&done.stdout).remove(0);
    assert_eq!(said["torn"].as_array().map(Vec::len), Some(1), "{said}");
    assert!(
        pack.exists() && packs(&home).len() == 2,
        "{:?}",
        packs(&home)
    );
    overwrite(&pack, &bytes);
    assert_whole(&home, &mut model, "mended");
    compact(&home, &[]);
    assert_eq!(packs(&home).len(), 1);
    assert_whole(&home, &mut model, "compacted");
}

/// What a process leaves that is killed between two renames; stock git may be between them now.
#[test]
fn a_pack_without_an_index_goes_when_it_is_old() {
    let (home, mut model) = with_history(5);
    let folder = home.store().join("objects/pack");
    let named = |digit: &str| folder.join(format!("pack-{}.pack", digit.repeat(40)));
    let (old, new) = (named("0"), named("1"));
    for path in [&old, &new] {
        fs::write(path, "half of something").expect("writes");
    }
    let days = Duration::from_secs(2 * 24 * 60 * 60);
    let file = fs::File::options().write(true).open(&old).expect("there");
    file.set_modified(SystemTime::now() - days).expect("sets");
    compact(&home, &[]);
    assert!(!old.exists() && new.exists());
    assert_whole(&home, &mut model, "cleaned up");
}

#[test]
fn a_pack_that_somebody_keeps_stays_and_is_read() {
    let (home, mut model) = with_history(10);
    checkpoint(&home);
    let kept = packs(&home).remove(0);
    fs::write(kept.with_extension("keep"), "for somebody\n").expect("writes");
    model.answer(&home, &create("/memories/new", 10));
    let done = compact(&home, &[]);
    assert_eq!(done["after"]["packs"], 2);
    assert!(kept.exists() && loose(&home).is_empty());
    assert_whole(&home, &mut model, "with a pack that is kept");
}

#[test]
fn after_an_erasure_the_ciphertext_stays_and_opens_to_nobody() {
    let (home, mut model) = with_history(10);
    model.answer(&home, &create("/memories/secret", 10));
    let erased = home.run(&["erase", "/memories/secret", "--yes", "--reason", "asked"]);
    assert!(erased.status.success(), "{}", stderr(&erased));
    let objects = reachable(&home);
    compact(&home, &[]);
    assert_eq!((packs(&home).len(), loose(&home).len()), (1, 0));
    assert_eq!(reachable(&home), objects, "history is what it was");
    check_git(&home, "compacted");
    let verified = home.run(&["verify", "--full"]);
    assert!(verified.status.success(), "{}", stdout(&verified));
    let gone = home.run(&["view", "/memories/secret"]);
    assert_eq!(gone.status.code(), Some(4), "{}", stderr(&gone));
}

/// The figure of the documentation: 1.2 times the ciphertext, that of the records too, and 1 KB for
/// each event.
#[test]
fn the_whole_store_is_hardly_more_than_its_ciphertext() {
    let home = Home::with_store();
    let (mut calls, mut events) = (Vec::new(), 1);
    for n in 0..60 {
        let path = format!("/memories/{n}");
        calls.push(create(&path, 3_500));
        let new = format!("{path} changed");
        calls
            .push(json!({"command": "insert", "path": path, "insert_line": 0, "insert_text": new}));
        calls.extend([view(&path), view(&path)]);
    }
    events += calls.len();
    for answer in home.tool(&lines(&calls)) {
        assert_eq!(answer["is_error"], false, "{answer}");
    }
    compact(&home, &[]);
    let sizes = home.git(&[
        "cat-file",
        "--batch-all-objects",
        "--batch-check=%(objecttype) %(objectsize)",
    ]);
    let said = stdout(&sizes);
    let blobs = said.lines().filter_map(|line| line.strip_prefix("blob "));
    let blobs: u64 = blobs
        .map(|size| size.parse::<u64>().expect("a number"))
        .sum();
    let messages = stdout(&home.git(&["log", "--format=%B"]));
    let records = messages.split("-----BEGIN AGE ENCRYPTED FILE-----").skip(1);
    let base64 = records
        .filter_map(|record| record.split("-----END").next())
        .map(|record| record.split_whitespace().map(str::len).sum::<usize>());
    let ciphertext = blobs + base64.sum::<usize>() as u64 * 3 / 4;
    let bytes = compact(&home, &["-n"])["before"]["bytes"]
        .as_u64()
        .expect("a number");
    // The empty journal has 256 KB: that counts only in a store as small as this.
    let most = ciphertext * 12 / 10 + 1024 * events as u64 + 262_144;
    assert!(
        bytes <= most,
        "{bytes} bytes, {ciphertext} of ciphertext, {events} events"
    );
}
