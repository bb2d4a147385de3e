//! A clock that goes back.

use serde_json::Value;

use crate::crash::model::check_git;

use crate::support::{Home, json_lines, stderr, stdout};

#[test]
fn a_clock_that_goes_back_is_recorded_and_stops_nothing() {
    let home = Home::with_trial_store();
    let at = |now: &str, args: &[&str]| {
        let done = home.run(&[&["--now", now][..], args].concat());
        assert!(done.status.success(), "{args:?}: {}", stderr(&done));
        stdout(&done)
    };
    at(
        "2126-05-01T12:00:00Z",
        &["create", "/memories/a", "--text", "one\n"],
    );
    at(
        "2126-05-01T11:59:58.500Z",
        &["insert", "/memories/a", "1", "--text", "two"],
    );
    at("2026-05-01T12:00:00Z", &["view", "/memories/a"]);
    at("2026-05-01T12:00:01Z", &["read", "a"]);
    let log = json_lines(at("2026-05-01T12:00:02Z", &["log", "--json"]).as_bytes());
    let behind = |event: usize| &log[log.len() - 1 - event]["clock_behind_ms"];
    let century = chrono::TimeDelta::days(36_524).num_milliseconds() - 1_500;
    assert_eq!(*behind(1), Value::Null);
    assert_eq!(*behind(2), 1_500);
    assert_eq!(*behind(3), century);
    assert_eq!(*behind(4), Value::Null);
    let status = at("2020-01-01T00:00:00Z", &["status"]);
    assert!(status.contains("in the future"), "{status}");
    check_git(&home, "after the clock went back");
}
