//! The limit on the events of a session.

use serde_json::{Value, json};
use std::fs;

use crate::limits::{at, events, mcp, ok, with_policy};
use crate::support::{Home, json_lines, stderr, stdout};

const LIMIT: &str = "[limits]\nsession_events_per_minute = 4\n";

/// A time of day, by its minute and second.
fn time(minute: u32, second: u32) -> String {
    format!("2030-01-01T12:{minute:02}:{second:02}Z")
}

/// Views by a session, each in a process of its own; what was said to each and recorded of it:
/// 'v' for a view, 'r' for a refusal, '-' for nothing.
fn views(home: &Home, session: Option<&str>, times: &[String]) -> String {
    let mut told = String::new();
    for now in times {
        let before = events(home);
        let session = session.map_or(vec![], |name| vec!["--session", name]);
        let output = at(home, now, &[&["view"][..], &session].concat());
        let said = stdout(&output) + &stderr(&output);
        let recorded = events(home) - before;
        told.push(match (output.status.code(), recorded) {
            (Some(0), 1) => 'v',
            (Some(9), 1) if said.contains("Too many calls") => 'r',
            (Some(9), 0) if said.contains("more than 4 events within a minute") => '-',
            other => panic!("{now}: {other:?}: {said}"),
        });
    }
    told
}

/// So many times, one second after the other.
fn from(minute: u32, second: u32, count: u32) -> Vec<String> {
    (second..second + count)
        .map(|second| time(minute, second))
        .collect()
}

#[test]
fn a_session_over_its_pace_is_refused_once_on_record_and_then_without() {
    let home = with_policy(LIMIT);
    assert_eq!(views(&home, Some("s-1"), &from(0, 0, 8)), "vvvvr---");
    // Others are not kept from it, and those that say no session are one.
    assert_eq!(views(&home, Some("s-2"), &from(0, 8, 6)), "vvvvr-");
    assert_eq!(views(&home, None, &from(0, 14, 6)), "vvvvr-");
    let log = json_lines(ok(&home, &["log", "--json", "--session", "s-1"]).as_bytes());
    assert_eq!(log.len(), 5);
    assert_eq!(
        (&log[0]["error"], &log[0]["path"]),
        (&json!("limit_exceeded"), &Value::Null)
    );
    // Until a minute after it was refused, and then all of it again.
    assert_eq!(views(&home, Some("s-1"), &from(1, 4, 1)), "-");
    assert_eq!(views(&home, Some("s-1"), &from(1, 5, 6)), "vvvvr-");
    // What people do to the store is none of it.
    let owner = at(
        &home,
        &time(1, 11),
        &["policy", "set", "limits.session_events_per_minute", "9"],
    );
    assert!(owner.status.success(), "{}", stderr(&owner));
    ok(&home, &["verify", "--full"]);
}

#[test]
fn within_any_minute_a_session_records_no_more_than_it_may() {
    let home = with_policy(LIMIT);
    assert_eq!(
        views(
            &home,
            None,
            &[time(0, 0), time(0, 20), time(0, 40), time(0, 59)]
        ),
        "vvvv"
    );
    // The first is a minute ago, and the others are not.
    assert_eq!(
        views(&home, None, &[time(1, 1), time(1, 2), time(1, 21)]),
        "vr-"
    );
}

#[test]
fn neither_a_new_process_nor_a_lost_catalog_nor_a_clock_that_runs_back_opens_it() {
    let home = with_policy(LIMIT);
    assert_eq!(views(&home, None, &from(10, 0, 4)), "vvvv");
    fs::remove_file(home.store().join("catalog")).expect("there");
    assert_eq!(views(&home, None, &from(10, 4, 2)), "r-");
    fs::remove_file(home.store().join("catalog")).expect("there");
    assert_eq!(
        views(&home, None, &[time(10, 6), time(0, 0), time(9, 59)]),
        "---"
    );
    // Another session's event makes the early clock the one that counts from there.
    assert_eq!(views(&home, Some("other"), &[time(0, 0)]), "v");
    assert_eq!(views(&home, None, &[time(0, 1), time(0, 59)]), "--");
    assert_eq!(views(&home, None, &[time(1, 1)]), "v");
}

#[test]
fn every_door_is_as_narrow() {
    let home = with_policy(LIMIT);
    let view = json!({"command": "view", "path": "/memories"});
    let call = json!({"id": 1, "input": view, "context": {"session": "s-1"}}).to_string() + "\n";
    let output = home.run_with_input(&["tool"], &call.repeat(7));
    assert_eq!(output.status.code(), Some(9));
    let answers = json_lines(&output.stdout);
    let told: Vec<_> = answers
        .iter()
        .map(|answer| answer["is_error"] == true)
        .collect();
    assert_eq!(told, [false, false, false, false, true, true, true]);
    assert_eq!(answers[4]["meta"]["error"], "limit_exceeded");
    assert_eq!(answers[5]["meta"], json!({"error": "limit_exceeded"}));
    let before = events(&home);
    let answers = mcp(&home, &["--session", "s-2"], "memory_view", &vec![view; 7]);
    assert_eq!(events(&home) - before, 5);
    let told: Vec<_> = answers
        .iter()
        .map(|answer| answer["isError"] == true)
        .collect();
    assert_eq!(told, [false, false, false, false, true, true, true]);
    assert!(
        answers[6].to_string().contains("wait a minute"),
        "{}",
        answers[6]
    );
    // What an agent asks of the past counts too.
    let before = events(&home);
    let ask = vec![json!({}); 7];
    let answers = mcp(&home, &["--session", "s-3"], "memory_history", &ask);
    assert_eq!(events(&home) - before, 4);
    let told: Vec<_> = answers
        .iter()
        .map(|answer| answer["isError"] == true)
        .collect();
    assert_eq!(told, [false, false, false, false, true, true, true]);
}
