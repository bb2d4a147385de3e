//! The file `timeline` only saves time: whatever is done to it, the answers are the same.

use std::fs;
use std::thread;
use std::time::Duration;

use crate::history::logs::finds_nothing;
use crate::history::story::*;
use crate::support::{feed, json_lines};

fn told() -> Story {
    let story = Story::new();
    story.told(&[
        ("A", create("n", "one\n")),
        ("A", replace("n", "one", "two")),
        ("B", rename("n", "m")),
        ("B", delete("m")),
        ("A", create("n", "new\n")),
    ]);
    // The first look makes the file, and commands go on with it.
    story.ok(&["show", "1"]);
    story
}

/// The same whatever the file is like.
fn check(story: &Story, when: &str) {
    for (event, want) in [
        (0, state(&[])),
        (1, state(&[("n", "one\n")])),
        (2, state(&[("n", "two\n")])),
        (3, state(&[("m", "two\n")])),
        (4, state(&[])),
        (5, state(&[("n", "new\n")])),
    ] {
        assert_eq!(story.state_at(event), want, "{when}, event {event}");
    }
    assert_eq!(story.ok(&["show", "2:/memories/n"]), "two\n", "{when}");
    story.fails(4, &["show", "4:/memories/n"]);
}

#[test]
fn whatever_is_in_the_file_the_answers_are_the_same() {
    damaged_in_every_way(2, &[]);
}

#[test]
fn so_they_are_when_single_events_were_joined() {
    let some = ["from an older moment", "singles from another event"];
    damaged_in_every_way(2_060, &some);
}

/// Tries all damages, or only those named, on a file with so many more events.
fn damaged_in_every_way(more: usize, only: &[&str]) {
    let story = told();
    let file = story.home.store().join("timeline");
    let old = fs::read(&file).expect("a timeline");
    story.told(&vec![("V", view("n")); more]);
    let good = fs::read(&file).expect("a timeline");
    let other = told();
    let foreign = fs::read(other.home.store().join("timeline")).expect("a timeline");
    let half = good[..good.len() / 2].to_vec();
    let flipped = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        bytes
    };
    for (when, bytes) in [
        ("as it was left", good.clone()),
        ("empty", Vec::new()),
        ("half of it", half),
        ("only its header", good[..92].to_vec()),
        ("less than its header", good[..40].to_vec()),
        ("garbage", vec![0xA5; 5_000]),
        ("garbage behind it", [&good[..], &[7; 100]].concat()),
        ("of another store", foreign),
        ("from an older moment", old),
        ("another magic", flipped(3)),
        ("another id", flipped(40)),
        ("another generation", flipped(48)),
        ("singles elsewhere", flipped(57)),
        ("singles from another event", flipped(64)),
        ("another first block", flipped(130)),
        ("another commit in the clear", flipped(110)),
        ("another last block", flipped(good.len() - 1)),
        (
            "a huge length",
            [&good[..92], &[0xFF; 4], &good[96..]].concat(),
        ),
    ] {
        if !only.is_empty() && !only.contains(&when) {
            continue;
        }
        fs::write(&file, &bytes).expect("writes");
        assert_eq!(story.state_at(3), state(&[("m", "two\n")]), "{when}");
        // A command that follows such a file does not spoil it for the next reader.
        fs::write(&file, &bytes).expect("writes");
        let event = story.told(&[("V", view("n"))]);
        check(&story, when);
        assert_eq!(
            story.json(&["show", &event.to_string()])["command"],
            "view",
            "{when}"
        );
    }
    fs::remove_file(&file).expect("there");
    check(&story, "removed");
    assert!(file.is_file(), "made again");
    // Where no file can be, history is read each time.
    fs::remove_file(&file).expect("there");
    fs::create_dir(&file).expect("a folder");
    check(&story, "a folder");
}

#[test]
fn damaged_while_others_write_the_answers_are_the_same() {
    let story = told();
    let file = story.home.store().join("timeline");
    let lines: String = (0..60).map(|_| format!("{}\n", view("n"))).collect();
    let writer = story.home.command(&["tool", "--session", "W"]);
    let writing = thread::spawn(move || feed(writer, lines.as_bytes()));
    let mut round = 0_u8;
    while !writing.is_finished() {
        match round % 4 {
            0 => fs::write(&file, [round; 3_000]).expect("writes"),
            1 => drop(fs::remove_file(&file)),
            2 => {
                let bytes = fs::read(&file).unwrap_or_default();
                fs::write(&file, &bytes[..bytes.len() / 2]).expect("writes");
            }
            _ => {}
        }
        assert_eq!(story.state_at(3), state(&[("m", "two\n")]), "round {round}");
        round = round.wrapping_add(1);
        thread::sleep(Duration::from_millis(40));
    }
    let output = writing.join().expect("ends");
    assert_eq!(json_lines(&output.stdout).len(), 60);
    check(&story, "afterwards");
    let found = story.objects(&["log", "--session", "W"]);
    assert_eq!(found.len(), 60, "every event is found");
}

#[test]
fn where_history_was_turned_back_it_tells_what_there_is_now() {
    let story = told();
    let last = story.told(&[
        ("A", replace("n", "new", "lost")),
        ("A", create("lost", "lost\n")),
        ("A", delete("lost")),
    ]);
    // Somebody takes the last three away, and that is accepted.
    let moved = story.home.git(&["update-ref", "refs/heads/main", "main~3"]);
    assert!(moved.status.success());
    fs::remove_file(story.home.store().join("journal")).expect("there");
    story.ok(&["accept-rollback", "--reason", "the disk died"]);
    // As many as were lost, and more: the file must not go on where the lost ones end.
    let calls = ["found", "more", "most", "all"].map(|text| ("B", create(text, "here\n")));
    assert!(story.told(&calls) > last);
    let paths = [("n", "new\n"), ("found", "here\n"), ("more", "here\n")];
    assert_eq!(story.state_at(last - 1), state(&paths[..2]));
    assert_eq!(story.state_at(last), state(&paths));
    assert_eq!(story.ok(&["show", &format!("{last}:/memories/n")]), "new\n");
    story.fails(4, &["show", &format!("{}:/memories/lost", last - 1)]);
    finds_nothing(&story, &["log", "/memories/lost"]);
}
