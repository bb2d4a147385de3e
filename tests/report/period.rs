//! Which period a report is on.

use agekeep::store::Identity;
use agekeep::verify;
use serde_json::Value;

use crate::keys::team::Team;
use crate::report::story::report;
use crate::support::{stderr, stdout};

fn bounds(report: &Value) -> (String, String) {
    let text = |key: &str| report["period"][key].as_str().expect("a time").to_owned();
    (text("since"), text("until"))
}

#[test]
fn a_period_is_a_year_a_quarter_a_month_or_two_times() {
    let team = Team::new();
    for (args, since, until) in [
        (&["2024"][..], "2024-01-01", "2025-01-01"),
        (&["2024-Q3"], "2024-07-01", "2024-10-01"),
        (&["2024-02"], "2024-02-01", "2024-03-01"),
        (
            &["--since", "2024-02-05", "--until", "2024-02-06"],
            "2024-02-05",
            "2024-02-06",
        ),
    ] {
        let found = bounds(&report(&team, "owner", args));
        let midnight = |day| format!("{day}T00:00:00.000Z");
        assert_eq!(found, (midnight(since), midnight(until)), "{args:?}");
    }
}

#[test]
fn a_period_without_events_is_said_to_be_one() {
    let team = Team::new();
    let found = report(&team, "owner", &["2019"]);
    assert_eq!(
        (&found["events"]["count"], &found["events"]["first"]),
        (&0.into(), &Value::Null)
    );
    assert_eq!(found["registers"]["looks"]["total"], 0);
    let page = team.ok(&["report", "2019"]);
    assert!(
        page.contains("none in the period") && page.contains("Nothing was denied."),
        "{page}"
    );
    assert!(!page.contains("NaN") && !page.contains("inf"), "{page}");
    let markdown = team.ok(&["report", "2019", "--format", "markdown"]);
    assert!(markdown.contains("none in the period"));
}

/// Who could read and write is told as of the end of the period, not of today.
#[test]
fn members_and_signers_are_those_of_the_period() {
    let team = Team::trial();
    let at = |now: &str, args: &[&str]| team.ok(&[&["--now", now], args].concat());
    let (ann, bob) = (team.recipient("ann"), team.recipient("bob"));
    at(
        "2031-01-10T00:00:00Z",
        &["members", "add", "ann", &ann, "--role", "auditor"],
    );
    at(
        "2031-02-10T00:00:00Z",
        &["members", "add", "bob", &bob, "--role", "auditor"],
    );
    at("2031-03-10T00:00:00Z", &["members", "rm", "ann"]);
    for (period, expected) in [
        ("2031-01", &["ann", "owner"][..]),
        ("2031-02", &["ann", "bob", "owner"]),
        ("2031-03", &["bob", "owner"]),
        ("2019", &[]),
    ] {
        let found = report(&team, "owner", &["--now", "2031-04-01T00:00:00Z", period]);
        let members = found["members"].as_array().expect("a list");
        let mut names: Vec<&str> = members
            .iter()
            .filter_map(|one| one["name"].as_str())
            .collect();
        names.sort_unstable();
        assert_eq!(names, expected, "{period}");
        assert_eq!(
            found["signers"].as_array().expect("a list").len(),
            usize::from(!expected.is_empty())
        );
    }
}

#[test]
fn a_store_without_memories_has_a_report() {
    let team = Team::new();
    let found = report(&team, "owner", &[]);
    assert_eq!(found["events"]["count"], 1, "its beginning");
    assert_eq!(found["activity"]["reads"]["memories"], 0);
    assert!(team.ok(&["report"]).ends_with("</html>"));
}

#[test]
fn a_period_that_is_none_is_refused_before_anything_is_recorded() {
    let team = Team::new();
    for (args, words) in [
        (&["2026-13"][..], "none of a year"),
        (&["Q3"], "none of a year"),
        (&["\u{1b}[2J"], "none of a year"),
        (
            &["--since", "2024-02-05", "--until", "2024-02-05"],
            "begins at",
        ),
        (
            &["--since", "2024-02-05", "--until", "2024-01-01"],
            "begins at",
        ),
        (&["--since", "someday"], "is not an RFC 3339 time"),
        (&["2999"], "in the future"),
        (
            &["--since", "2999-01-01", "--until", "2999-01-02"],
            "in the future",
        ),
        (&["2026", "--since", "2024-01-01"], "cannot be used with"),
        (&["--sign"], "--out"),
        (&["--format", "pdf"], "possible values"),
    ] {
        let output = team.home.run(&[&["report"][..], args].concat());
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(
            said.contains(words) && !said.contains('\u{1b}'),
            "{args:?}: {said}"
        );
        assert_eq!(stdout(&output), "");
    }
    assert_eq!(team.newest()["event"], 0);
}

/// A report never keeps anybody waiting for what `verify` does, except for one that is signed.
#[test]
fn more_unverified_events_than_allowed_are_said_and_not_read() {
    let team = Team::new();
    for n in 0..6 {
        team.create(&format!("{n}.md"), "text\n");
    }
    let text = std::fs::read_to_string(team.identity("owner")).expect("there");
    let options = |events_max| verify::Options {
        identity: Some(Identity::parse(&text).expect("an identity")),
        state: Some(team.home.path().join("state")),
        limit: Some(verify::Limit {
            events: 7,
            events_max,
        }),
        ..verify::Options::default()
    };
    let run = |events_max| {
        verify::verify(&team.home.store(), &options(events_max), &mut |_| {}).expect("runs")
    };
    let limited = run(6);
    assert_eq!((limited.events, limited.from, limited.versions), (7, 0, 0));
    assert!(
        limited.not_checked[0].contains("the newest 7 events"),
        "{:?}",
        limited.not_checked
    );
    assert_eq!(limited.worst, Some(verify::FindingClass::Incomplete));
    // It left no mark that anything was verified.
    let whole = run(7);
    assert_eq!((whole.from, whole.worst), (0, None));
    // From then on there is nothing left to read.
    let again = run(0);
    assert_eq!((again.from, again.worst), (7, None));
}
