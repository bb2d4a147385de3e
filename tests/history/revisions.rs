//! Every form of a revision, at every boundary.

use crate::history::story::*;
use crate::support::stdout;

fn at(story: &Story, revision: &str) -> u64 {
    let shown = story.json(&["show", revision]);
    shown["event"].as_u64().expect("a number")
}

#[test]
fn numbers_commits_and_heads() {
    let story = Story::new();
    story.told(&[("A", create("a", "1\n")), ("A", replace("a", "1", "2"))]);
    let commits = story.commits();
    // Each look is an event, so the head moves on by one each time.
    assert_eq!(at(&story, "HEAD"), 2);
    assert_eq!(at(&story, "HEAD~1"), 2);
    assert_eq!(at(&story, "HEAD~2"), 2);
    assert_eq!(at(&story, "HEAD~"), 4);
    assert_eq!(at(&story, "HEAD~6"), 0);
    has(
        &story.fails(4, &["show", "HEAD~8"]),
        &["there are only 8 events"],
    );
    assert_eq!(at(&story, "HEAD~7"), 0);
    assert_eq!(at(&story, "0"), 0);
    assert_eq!(at(&story, "9"), 9);
    has(
        &story.fails(4, &["show", "11"]),
        &["the newest event is 10"],
    );
    for (event, commit) in commits.iter().enumerate() {
        let shown = story.json(&["show", commit]);
        assert_eq!(shown["event"], event);
        assert_eq!(shown["commit"], commit.as_str());
        assert_eq!(at(&story, &commit[..12]), event as u64);
    }
    for bad in [
        "",
        "head",
        "HEAD~x",
        "HEAD@{1}",
        "1a",
        "abc",
        "main",
        "refs/heads/main",
        "@",
    ] {
        has(
            &story.fails(4, &["show", bad]),
            &["none of the forms", "hint: give a commit id"],
        );
    }
    let absent = if commits.iter().any(|commit| commit.starts_with("abcdef0")) {
        "abcdef1"
    } else {
        "abcdef0"
    };
    has(
        &story.fails(4, &["show", absent]),
        &["no commit of this store begins like that"],
    );
    has(
        &story.fails(4, &["show", &"1".repeat(40)]),
        &["the newest event is"],
    );
}

#[test]
fn short_commit_ids_that_several_commits_share() {
    let story = Story::new();
    story.told(&[("A", create("a", "1\n"))]);
    let shared = (0..40).find_map(|_| {
        story.told(&vec![("V", view("a")); 100]);
        let commits = story.commits();
        let mut sorted = commits.clone();
        sorted.sort_unstable();
        let letters = |pair: &[String]| {
            let same = pair[0][..4] == pair[1][..4];
            same && !pair[0][..4].bytes().all(|b| b.is_ascii_digit())
        };
        let found = sorted
            .windows(2)
            .find(|pair| letters(pair))
            .map(<[_]>::to_vec);
        found.map(|pair| (pair, commits))
    });
    let (pair, commits) = shared.expect("four digits are shared among so many");
    let said = story.fails(2, &["show", &pair[0][..4]]);
    has(
        &said,
        &[
            "could be any of",
            "hint: give more digits of one of these:",
            &pair[0],
            &pair[1],
        ],
    );
    has(&said, &["view ok"]);
    let common = pair[0]
        .bytes()
        .zip(pair[1].bytes())
        .take_while(|(a, b)| a == b)
        .count();
    for commit in &pair {
        let number = commits
            .iter()
            .position(|found| found == commit)
            .expect("listed");
        let digits = &commit[..=common];
        if !digits.bytes().all(|b| b.is_ascii_digit()) {
            assert_eq!(at(&story, digits), number as u64);
        }
        assert_eq!(at(&story, commit), number as u64);
    }
    // Digits alone are an event where there is one, and otherwise the beginning of a commit.
    let commits = story.commits();
    let digits = |commit: &&String| {
        let begin = &commit[..6];
        begin.parse::<u64>().is_ok_and(|number| number > 10_000)
            && commits
                .iter()
                .filter(|other| other.starts_with(begin))
                .count()
                == 1
    };
    if let Some(commit) = commits.iter().find(digits) {
        let number = commits
            .iter()
            .position(|found| found == commit)
            .expect("listed");
        assert_eq!(at(&story, &commit[..6]), number as u64);
    }
    assert_eq!(at(&story, "0042"), 42);
}

#[test]
fn times_between_and_before_events() {
    let story = Story::new(); // 09:00
    story.told(&[("A", create("a", "1\n")), ("A", replace("a", "1", "2"))]); // 1 2 at 09:01
    story.told(&[("A", replace("a", "2", "3"))]); // 3 at 09:02
    let look = |now: &str, revision: &str| {
        let output = story.run_at(now, &["show", revision, "--json"]);
        assert!(output.status.success(), "{revision}: {output:?}");
        let object: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
        object["event"].as_u64().expect("a number")
    };
    let later = "2026-11-03T12:00:00Z";
    for (revision, event) in [
        ("@2026-11-01T09:00Z", 0),
        ("@2026-11-01T09:00:59.999Z", 0),
        ("@2026-11-01T09:01Z", 2),
        ("@2026-11-01T10:01+01:00", 2),
        ("@2026-11-01T09:01:00", 2),
        ("@2026-11-01 09:02", 3),
        ("@2026-11-02", 3),
        ("2026-11-02", 3),
        ("yesterday", 3),
        ("2d ago", 3),
        ("50h ago", 3),
        ("51 hours ago", 0),
        ("3059m ago", 2),
    ] {
        assert_eq!(look(later, revision), event, "{revision}");
    }
    for early in [
        "@2026-11-01T08:59:59.999Z",
        "@2026-11-01",
        "3 days ago",
        "1000w ago",
    ] {
        let output = story.run_at(later, &["show", early]);
        assert_eq!(output.status.code(), Some(4), "{early}");
        has(
            &crate::support::stderr(&output),
            &["the store began at 2026-11-01T09:00:00Z"],
        );
    }
}

#[test]
fn clocks_that_ran_backwards_and_ahead_hide_nothing() {
    let story = Story::new();
    let write = |now: &str, text: &str| {
        let output = story.run_at(now, &["write", "a", "--text", text]);
        assert!(output.status.success(), "{output:?}");
    };
    write("2026-11-01T12:00:00Z", "noon"); // 1
    write("2026-11-01T10:00:00Z", "set back"); // 2
    write("2026-11-01T13:00:00Z", "right again"); // 3
    write("2031-01-01T00:00:00Z", "far ahead"); // 4
    write("2026-11-01T14:00:00Z", "put right"); // 5
    let show = |revision: &str| {
        let what = format!("{revision}:/memories/a");
        story.run_at("2026-11-02T00:00:00Z", &["show", &what])
    };
    for (revision, want) in [
        ("@2026-11-01T11:00Z", "set back"),
        ("@2026-11-01T12:00Z", "set back"),
        ("@2026-11-01T12:59Z", "set back"),
        ("@2026-11-01T13:00Z", "right again"),
        ("@2026-11-01T13:59Z", "right again"),
        ("@2026-11-01T14:00Z", "put right"),
        ("2h ago", "put right"),
        ("now", "put right"),
    ] {
        let shown = crate::support::stdout(&show(revision));
        assert_eq!(shown, format!("{want}\n"), "{revision}");
    }
    assert_eq!(show("@2026-11-01T09:00Z").status.code(), Some(4));
    let log = story.objects(&[
        "log",
        "--since",
        "2026-11-01T11:00Z",
        "--command",
        "memory_write",
    ]);
    assert_eq!(log.len(), 4, "a log goes by each event's own time");
}
