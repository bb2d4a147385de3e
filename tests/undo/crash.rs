//! An undo is whole: killed at any moment, and beside processes that write.

use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::history::story::*;
use crate::support::feed;

const MEMORIES: usize = 500;

#[test]
fn killed_while_it_undoes_much_the_state_is_before_or_after() {
    let story = Story::new();
    let create = |n: usize| {
        (
            "A",
            create(&format!("d{}/{n}", n % 7), &format!("text {n}\n")),
        )
    };
    story.told(&(0..MEMORIES).map(create).collect::<Vec<_>>());
    story.told(&[("A", delete("d3"))]);
    let (after, before) = (State::new(), story.state());
    let newest = story.newest();
    let (mut whole, mut killed) = (0, 0);
    for round in 0..4_u64 {
        let mut opened = story.store();
        let events = crate::history::story::newest(&mut opened);
        let is_back = opened.status().expect("counts").memories == 0;
        drop(opened);
        let want = if is_back { &before } else { &after };
        let to = if is_back { newest } else { 0 }.to_string();
        let mut child = story
            .home
            .command(&["rollback", "--to", &to])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("starts");
        // The last ones have all the time they need.
        if round < 2 {
            thread::sleep(Duration::from_millis(40 + 80 * round));
            let _ = child.kill();
        }
        child.wait().expect("ends");
        let now = story.newest();
        if now == events {
            let memories = story.store().status().expect("counts").memories;
            assert_eq!(
                memories == 0,
                is_back,
                "round {round}: changed without an event"
            );
            killed += 1;
        } else {
            assert_eq!(now, events + 1);
            assert!(&story.state() == want, "round {round}: half undone");
            whole += 1;
        }
    }
    assert!(
        whole > 0 && killed > 0,
        "{whole} whole, {killed} killed before"
    );
}

#[test]
fn beside_a_process_that_writes_nothing_is_lost() {
    let story = Story::new();
    let text: String = (0..60).map(|n| format!("line {n:02}\n")).collect();
    story.told(&[("B", create("n", &text)), ("B", create("m", "m\n"))]);
    story.told(&[("A", replace("n", "line 00", "ruined")), ("A", delete("m"))]);
    let lines: String = (10..60)
        .map(|n| {
            let call = replace("n", &format!("line {n:02}"), &format!("kept {n:02}"));
            format!("{call}\n")
        })
        .collect();
    let writer = story.home.command(&["tool", "--session", "C"]);
    let writing = thread::spawn(move || feed(writer, lines.as_bytes()));
    // Undone and done again and again while the other writes, and undone in the end.
    let mut last = story.json(&["revert", "--session", "A"])["meta"]["event"].clone();
    let mut is_undone = true;
    while !writing.is_finished() || !is_undone {
        last = story.json(&["revert", &last.to_string()])["meta"]["event"].clone();
        is_undone = !is_undone;
    }
    let output = writing.join().expect("ends");
    let answers = crate::support::json_lines(&output.stdout);
    assert_eq!(answers.len(), 50);
    assert!(answers.iter().all(|answer| answer["is_error"] == false));
    let want: String = (0..60)
        .map(|n| format!("{} {n:02}\n", if n < 10 { "line" } else { "kept" }))
        .collect();
    assert_eq!(story.state(), state(&[("m", "m\n"), ("n", &want)]));
}
