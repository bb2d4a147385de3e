//! The laws of the cursor: pages, put together, are the log; and what is no cursor is refused.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::{copy_of_store, log, numbers, store_with};
use crate::support::{Home, every, stderr, stdout};

#[test]
fn pages_of_any_size_put_together_are_the_whole_log() {
    let home = store_with(24);
    let whole = log(&home, &["--order", "asc"]);
    assert_eq!(numbers(&whole), (0..25).collect::<Vec<u64>>());
    let cases = if every(2) == 1 { 60 } else { 12 };
    let mut runner = TestRunner::new(Config::with_cases(cases));
    let pages = (1usize..12, any::<bool>(), 0usize..3);
    let law = runner.run(&pages, |(size, by_commit, filter)| {
        let filter: &[&str] = [&[][..], &["--command", "view"], &["--actor", "a1"]][filter];
        let limit = size.to_string();
        let wanted = log(&home, &[filter, &["--order", "asc"]].concat());
        let (mut found, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let mut args = vec!["-n", &limit, "--order", "asc"];
            if let Some(cursor) = &cursor {
                args = vec!["-n", &limit, "--after", cursor];
            }
            let page = log(&home, &[filter, &args].concat());
            let Some(last) = page.last() else { break };
            cursor = Some(if by_commit {
                last["commit"].as_str().expect("text").to_owned()
            } else {
                last["event"].to_string()
            });
            prop_assert!(page.len() <= size);
            found.extend(page);
        }
        prop_assert_eq!(found, wanted);
        Ok(())
    });
    law.expect("each event once, in order");
}

#[test]
fn both_orders_have_the_same_events_and_a_cursor_cuts_both() {
    let home = store_with(9);
    let ascending = log(&home, &["--after", "3"]);
    assert_eq!(numbers(&ascending), [4, 5, 6, 7, 8, 9]);
    let mut descending = log(&home, &["--after", "3", "--order", "desc"]);
    assert_eq!(numbers(&descending), [9, 8, 7, 6, 5, 4]);
    descending.reverse();
    assert_eq!(ascending, descending);
    let filtered = log(
        &home,
        &["--command", "view", "--after", "3", "--order", "desc"],
    );
    assert!(filtered.iter().all(|event| event["command"] == "view"));
    assert!(numbers(&filtered).iter().all(|number| *number > 3) && filtered.len() > 1);
    // Nothing new is no error: a collector that asks every minute mostly gets this.
    assert_eq!(log(&home, &["--after", "9"]).len(), 0);
    // Without an order, as before: the newest first, and the same as `--json`.
    assert_eq!(numbers(&log(&home, &["-n", "2"])), [9, 8]);
    let json = home.run(&["log", "--json"]);
    let jsonl = home.run(&["log", "--format", "jsonl"]);
    assert_eq!(stdout(&json), stdout(&jsonl));
    // As text, too.
    let text = stdout(&home.run(&["log", "--order", "asc", "-n", "1"]));
    assert!(
        text.trim_start().starts_with("0 ") && text.contains("init"),
        "{text}"
    );
    // Reading the log is no event.
    assert_eq!(log(&home, &[]).len(), 10);
}

#[test]
fn what_is_no_cursor_is_refused_and_so_are_arguments_that_do_not_fit() {
    let home = store_with(3);
    let commit = log(&home, &["-n", "1"])[0]["commit"]
        .as_str()
        .expect("text")
        .to_owned();
    let long = format!("{commit}0");
    for bad in [
        "",
        "abc",
        "1.5",
        "+1",
        " 1",
        "1 ",
        "HEAD",
        &commit[..39],
        &long,
        "99999999999999999999",
    ] {
        let refused = home.run(&["log", &format!("--after={bad}")]);
        assert_eq!(
            refused.status.code(),
            Some(2),
            "{bad:?}: {}",
            stderr(&refused)
        );
        assert_eq!(stdout(&refused), "");
    }
    for gone in ["4", "400", "0123456789012345678901234567890123456789"] {
        for more in ["--order=asc", "--order=desc", "--follow"] {
            let refused = home.run(&["log", "--after", gone, more]);
            assert_eq!(
                refused.status.code(),
                Some(13),
                "{gone}: {}",
                stderr(&refused)
            );
            let said = stderr(&refused);
            assert!(
                said.contains("may have been rolled back") && said.contains(gone),
                "{said}"
            );
            assert_eq!(stdout(&refused), "");
        }
    }
    for wrong in [
        &["--follow", "--order", "desc"][..],
        &["--order", "sideways"],
        &["--format", "xml"],
        &["--json", "--format", "csv"],
        &["-p", "--format", "cef"],
        &["-p", "--follow"],
        &["-p", "--after", "1"],
    ] {
        let refused = home.run(&[&["log"], wrong].concat());
        assert_eq!(
            refused.status.code(),
            Some(2),
            "{wrong:?}: {}",
            stderr(&refused)
        );
    }
}

#[test]
fn a_cursor_tells_that_a_store_was_turned_back_where_nobody_has_seen_it() {
    let home = Home::with_store();
    let copy = copy_of_store(&home);
    home.run(&["create", "/memories/a.md", "--text", "a"]);
    let commit = log(&home, &["-n", "1"])[0]["commit"]
        .as_str()
        .expect("text")
        .to_owned();
    // The older copy goes on with another event of the same number.
    let place = copy.to_str().expect("UTF-8");
    home.run(&["--store", place, "create", "/memories/b.md", "--text", "b"]);
    let by_number = home.run(&["--store", place, "log", "--after", "1", "--format", "jsonl"]);
    assert!(by_number.status.success(), "a number is not enough to tell");
    let by_commit = home.run(&["--store", place, "log", "--after", &commit, "--json"]);
    assert_eq!(by_commit.status.code(), Some(13), "{}", stderr(&by_commit));
    assert!(
        stderr(&by_commit).contains("\"code\":\"cursor_lost\""),
        "{}",
        stderr(&by_commit)
    );
}
