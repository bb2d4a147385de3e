//! Lists as a terminal shows them: in columns that fit its width, with times relative to now, and
//! in colour by outcome. What a pipe gets is for programs, and stays as it is.

use std::fs;
use std::path::Path;
use std::process::Command;

use unicode_width::UnicodeWidthStr;

use crate::support::{Home, feed, has_peer, stderr, stdout};

const NOW: &str = "2031-05-03T12:00:00Z";
const LONG: &str = "/memories/kunden/東京の顧客/山田太郎さんの好みと連絡先の記録.md";

/// What happened, and when.
const EVENTS: &[(&str, &[&str])] = &[
    ("2031-02-01T12:00:00Z", &["init", "--trial"]),
    (
        "2031-04-01T12:00:00Z",
        &["policy", "set", "expiration.unaccessed_for", "90d"],
    ),
    ("2031-05-01T12:00:00Z", &["create", LONG, "--text", "tea"]),
    (
        "2031-05-03T09:00:00Z",
        &["create", "/memories/🎉🎉🎉.md", "--text", "x"],
    ),
    (
        "2031-05-03T11:30:00Z",
        &["view", "/memories/../../etc/passwd"],
    ),
    ("2031-05-03T11:57:00Z", &["create", LONG, "--text", "again"]),
    (
        "2031-05-03T11:58:00Z",
        &[
            "hold",
            "add",
            LONG,
            "--reason",
            "a court asked for it, and for all letters that came with it",
        ],
    ),
    ("2031-05-03T11:59:00Z", &["view", LONG]),
    (
        "2031-05-03T11:59:30Z",
        &["view", "/memories/\u{1b}[2J\u{202e}gpj.md"],
    ),
];

/// The lists, as a person asks for them.
const LISTS: &[&[&str]] = &[
    &["log"],
    &["log", "-v"],
    &["log", "--utc"],
    &["access", LONG],
    &["view"],
    &["members", "list"],
    &["signers", "list"],
    &["hold", "list"],
    &["expire", "--dry-run"],
    &["status"],
    &["doctor"],
    &["rules", "list"],
];

fn home() -> Home {
    let home = Home::empty();
    for (time, args) in EVENTS {
        let told = [*args, &["--now", *time, "--actor", "support-agent"]].concat();
        let output = home.run(&told);
        let refused = args[0] == "view" || args.contains(&"again");
        assert!(
            output.status.success() || refused,
            "{args:?}: {}",
            stderr(&output)
        );
    }
    home
}

/// Shows a list on a pseudo-terminal of so many columns.
fn shown(home: &Home, columns: u16, term: &str, args: &[&str]) -> String {
    shown_through(home, "cat", columns, term, args)
}

/// Shows a list as [`shown`], with a pager.
fn shown_through(home: &Home, pager: &str, columns: u16, term: &str, args: &[&str]) -> String {
    let plain = home.command(&[&["-q", "--now", NOW], args].concat());
    let words = std::iter::once(plain.get_program()).chain(plain.get_args());
    let quote = |word: &std::ffi::OsStr| format!("'{}'", word.to_str().expect("UTF-8"));
    let line: Vec<String> = words.map(quote).collect();
    let line = format!("stty cols {columns}; {}", line.join(" "));
    let mut command = Command::new(crate::support::program("script"));
    let set = plain.get_envs();
    command
        .args(["-qec", &line, "/dev/null"])
        .env_clear()
        .envs(set.filter_map(|(name, value)| Some((name, value?))))
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("SHELL", "/bin/sh")
        .env("AGEKEEP_PAGER", pager)
        .env("TERM", term)
        .current_dir(home.path());
    stdout(&feed(command, b"")).replace("\r\n", "\n")
}

/// Returns a log in which each short id is the same: ids are random.
fn with_one_id(log: &str) -> String {
    let mut parts = log.split("on memory ");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        assert!(
            part.as_bytes()[..8].iter().all(u8::is_ascii_hexdigit),
            "{part}"
        );
        text.push_str("on memory 01234567");
        text.push_str(&part[8..]);
    }
    text
}

fn without_color(text: &str) -> String {
    let ours = ["\u{1b}[1m", "\u{1b}[31m", "\u{1b}[33m", "\u{1b}[m"];
    ours.iter()
        .fold(text.to_owned(), |text, code| text.replace(code, ""))
}

#[test]
fn the_log_looks_as_it_was_designed() {
    if !has_peer("script", "how lists look on a terminal") {
        return;
    }
    let home = home();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/terminal");
    for columns in [120, 80, 40] {
        let expected = fixtures.join(format!("log-{columns}.txt"));
        let expected = fs::read_to_string(expected).expect("how it looks");
        let dumb = with_one_id(&shown(&home, columns, "dumb", &["log"]));
        assert_eq!(dumb, expected, "{columns} columns");
        let colored = with_one_id(&shown(&home, columns, "xterm", &["log"]));
        assert_eq!(without_color(&colored), expected, "{columns} columns");
        // The colour is of the whole row, and the word stays.
        let rows = |start: &str| {
            let rows = colored.lines().filter(|line| line.starts_with(start));
            rows.map(str::to_owned).collect::<Vec<_>>()
        };
        assert!(rows("\u{1b}[31m")[0].contains("denied"), "{colored:?}");
        assert!(rows("\u{1b}[33m")[0].contains("error"), "{colored:?}");
        let never = shown(&home, columns, "xterm", &["log", "--color", "never"]);
        assert_eq!(with_one_id(&never), expected);
        let always = shown(&home, columns, "dumb", &["log", "--color", "always"]);
        assert_eq!(with_one_id(&always), colored);
    }
}

#[test]
fn every_list_fits_the_terminal() {
    if !has_peer("script", "how wide lists are on a terminal") {
        return;
    }
    let home = home();
    for list in LISTS {
        for columns in [120, 80, 40] {
            let text = shown(&home, columns, "xterm", list);
            assert!(!text.is_empty(), "{list:?}");
            for line in without_color(&text).lines() {
                let obeyed = |c: char| c.is_control() || c == '\u{202e}';
                assert!(!line.contains(obeyed), "{list:?}: {line:?}");
                let width = line.width();
                assert!(
                    width <= usize::from(columns),
                    "{list:?} {columns}: {width} {line:?}"
                );
            }
        }
    }
    let details = shown(&home, 40, "xterm", &["log", "-v", "--command", "hold_add"]);
    for word in ["signed by", "commit", "reason", "letters"] {
        assert!(details.contains(word), "{word}: {details}");
    }
    let utc = shown(&home, 120, "dumb", &["log", "--utc"]);
    assert!(
        utc.contains("2031-05-03T11:57:00Z") && !utc.contains(" ago"),
        "{utc}"
    );
}

/// Each row is one line, whatever is in it.
#[test]
fn characters_without_width_or_with_two_columns_move_no_row() {
    if !has_peer("script", "where rows of a list begin on a terminal") {
        return;
    }
    let home = Home::empty();
    assert!(
        home.run(&["init", "--trial", "--now", NOW])
            .status
            .success()
    );
    let (hearts, wide, combining) = ("❤".repeat(60), "東".repeat(60), "x\u{301}".repeat(60));
    for (n, name) in [hearts, wide, combining].into_iter().enumerate() {
        let path = format!("/memories/{n}{name}.md");
        let made = home.run(&["create", &path, "--text", "x", "--now", NOW]);
        assert!(made.status.success(), "{}", stderr(&made));
    }
    for columns in [60, 40, 20] {
        for list in [&["view"][..], &["log"]] {
            let text = shown(&home, columns, "dumb", list);
            let ends = text.lines().filter(|line| line.contains(".md")).count();
            assert_eq!(ends, 3, "{list:?} {columns}: {text}");
        }
    }
}

#[test]
fn what_does_not_fit_is_below_its_row_with_verbose() {
    if !has_peer("script", "what lists show below a row") {
        return;
    }
    let home = home();
    let holds = shown(&home, 40, "dumb", &["hold", "list", "-v"]);
    for word in ["reason", "for all letters", LONG, "support-agent"] {
        let found = holds
            .replace(['\n', ' '], "")
            .contains(&word.replace(' ', ""));
        assert!(found, "{word}: {holds}");
    }
    assert!(!shown(&home, 40, "dumb", &["hold", "list"]).contains("letters"));
}

/// `doctor` has several findings, and one pager.
#[test]
fn a_list_goes_through_one_pager() {
    if !has_peer("script", "how often a pager starts") {
        return;
    }
    let home = Home::with_store();
    let starts = home.path().join("starts");
    let pager = home.path().join("pager");
    let script = format!("#!/bin/sh\necho started >> '{}'\ncat\n", starts.display());
    fs::write(&pager, script).expect("written");
    let pager = format!("sh {}", pager.display());
    let text = shown_through(&home, &pager, 80, "xterm", &["doctor"]);
    assert!(text.matches("  fix").count() > 1, "{text}");
    assert_eq!(fs::read_to_string(&starts).expect("started"), "started\n");
}

#[test]
fn a_pipe_gets_whole_lines() {
    let home = home();
    let log = stdout(&home.run(&["log", "--now", NOW]));
    let line = format!(
        "     2  2031-05-01T12:00:00Z  create       ok      {LONG}  v1 3 bytes  \
         by=support-agent (claimed)  signed-by=owner\n"
    );
    let made = log.lines().find(|line| line.contains("T12:00:00Z  create"));
    let signer = made
        .and_then(|line| line.rsplit_once("signed-by="))
        .expect("signed")
        .1;
    let line = line.replace("signed-by=owner", &format!("signed-by={signer}"));
    assert!(log.contains(&line), "{log}");
    for option in ["--utc", "-v", "--no-pager"] {
        assert_eq!(
            stdout(&home.run(&["log", "--now", NOW, option])),
            log,
            "{option}"
        );
    }
}
