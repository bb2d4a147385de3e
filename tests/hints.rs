//! A person types a command: how paths are written, what is said while a command waits, and what a
//! refusal advises.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use agekeep::error::{
    Error, ExportFault, KeyFault, MembershipFault, RemoteFault, RetentionFault, SigningFault,
};

use crate::support::terminal::answered;
use crate::support::{Home, has_peer, json_lines, stderr, stdout};

/// A store with `/memories/a.md` in two versions, and `/memories/people/ana.md`.
fn home() -> Home {
    let home = Home::with_store();
    for args in [
        &["create", "a.md", "--text", "one\ntwo\n"][..],
        &["str-replace", "a.md", "--old", "two", "--new", "three"],
        &["create", "people/ana.md", "--text", "ana likes tea\n"],
    ] {
        let made = home.run(args);
        assert!(made.status.success(), "{args:?}: {}", stderr(&made));
    }
    home
}

/// What a verb prints about a path, which has to be printed for the other spelling too.
fn same(home: &Home, short: &[&str], long: &[&str]) -> String {
    let (short_output, long_output) = (home.run(short), home.run(long));
    for output in [&short_output, &long_output] {
        assert!(output.status.success(), "{short:?}: {}", stderr(output));
    }
    assert_eq!(stdout(&short_output), stdout(&long_output), "{short:?}");
    stdout(&short_output)
}

#[test]
fn every_verb_takes_a_path_below_memories_without_the_folder() {
    let home = home();
    for (short, long) in [
        (&["view", "a.md"][..], &["view", "/memories/a.md"][..]),
        (&["view", "people"], &["view", "/memories/people"]),
        (
            &["view", "a.md", "--at", "1"],
            &["view", "/memories/a.md", "--at", "1"],
        ),
        (&["read", "a.md"], &["read", "/memories/a.md"]),
        (
            &["log", "a.md", "--command", "create"],
            &["log", "/memories/a.md", "--command", "create"],
        ),
        (&["blame", "a.md"], &["blame", "/memories/a.md"]),
        (
            &["diff", "1", "2", "a.md"],
            &["diff", "1", "2", "/memories/a.md"],
        ),
        (
            &["diff", "1", "a.md", "--stat"],
            &["diff", "1", "/memories/a.md", "--stat"],
        ),
        (&["show", "1:a.md"], &["show", "1:/memories/a.md"]),
        (
            &["show", "HEAD:people/ana.md"],
            &["show", "HEAD:/memories/people/ana.md"],
        ),
        (
            &["show", "@2100-01-01T09:00:30Z:a.md"],
            &["show", "@2100-01-01T09:00:30Z:/memories/a.md"],
        ),
        (
            &["grep", "tea", "people"],
            &["grep", "tea", "/memories/people"],
        ),
        (
            &["access", "a.md", "-n", "1"],
            &["access", "/memories/a.md", "-n", "1"],
        ),
        (
            &["restore", "a.md", "--from", "1", "-n"],
            &["restore", "/memories/a.md", "--from", "1", "-n"],
        ),
        (&["erase", "a.md", "-n"], &["erase", "/memories/a.md", "-n"]),
        (
            &["erase", "--subject", "people/**", "-n"],
            &["erase", "--subject", "/memories/people/**", "-n"],
        ),
        (
            &["policy", "explain", "a.md"],
            &["policy", "explain", "/memories/a.md"],
        ),
        (
            &["export", "--jsonl", "-", "--at", "3", "--path", "people"],
            &[
                "export",
                "--jsonl",
                "-",
                "--at",
                "3",
                "--path",
                "/memories/people",
            ],
        ),
    ] {
        // The line that counts events tells the two apart, and nothing else does.
        if short[0] == "export" {
            let text = |args: &[&str]| json_lines(&home.run(args).stdout)[1]["text"].clone();
            assert_eq!(text(short), "ana likes tea\n");
            assert_eq!(text(short), text(long));
            continue;
        }
        let printed = same(&home, short, long);
        assert!(!printed.is_empty(), "{short:?}");
    }
    for (args, there) in [
        (
            &["insert", "a.md", "0", "--text", "zero\n"][..],
            "/memories/a.md",
        ),
        (&["write", "b.md", "--text", "b\n"], "/memories/b.md"),
        (&["rename", "b.md", "people/b.md"], "/memories/people/b.md"),
        (
            &["hold", "add", "people/*.md", "--reason", "a case"],
            "/memories/people/b.md",
        ),
        (&["keys", "export", "a.md"], "/memories/a.md"),
    ] {
        let output = home.run(args);
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        assert!(home.run(&["read", there]).status.success(), "{args:?}");
    }
    // A scan is recorded, and says up to which event it went.
    let scanned = stdout(&home.run(&["scan", "people"]));
    assert!(
        scanned.contains("versions of 2 memories scanned"),
        "{scanned}"
    );
    let held = stdout(&home.run(&["hold", "list"]));
    assert!(held.contains("/memories/people/*.md"), "{held}");
    assert_eq!(
        home.run(&["delete", "people/ana.md"]).status.code(),
        Some(7),
        "the hold keeps it"
    );
    assert!(home.run(&["delete", "a.md"]).status.success());
}

#[test]
fn a_path_outside_is_denied_and_the_doors_of_agents_take_whole_paths_only() {
    let home = home();
    for path in [
        "/etc/passwd",
        "../etc/passwd",
        "people/../../etc",
        "/a.md",
        "",
    ] {
        assert_eq!(home.run(&["view", path]).status.code(), Some(7), "{path:?}");
    }
    for path in ["none.md", "memories/a.md"] {
        assert_eq!(home.run(&["view", path]).status.code(), Some(4), "{path:?}");
    }
    let [answer] = &home.tool("{\"command\":\"view\",\"path\":\"a.md\"}\n")[..] else {
        panic!("one answer");
    };
    assert_eq!(answer["is_error"], true, "{answer}");
}

#[test]
fn a_refusal_advises_what_helps() {
    let home = home();
    fs::create_dir(home.path().join("folder")).expect("makes");
    for (code, args, advice) in [
        (
            16,
            &["create", "b.md", "--file", "nope"][..],
            &["nope", "no such file is there"][..],
        ),
        (
            16,
            &["create", "b.md", "--file", "folder"],
            &["folder", "name a file"],
        ),
        (
            16,
            &["tool", "nope.jsonl"],
            &["nope.jsonl", "no such file is there"],
        ),
        (
            2,
            &["log", "--since", "tomorow"],
            &["RFC 3339", "30m", "yesterday"],
        ),
        (
            2,
            &["grep", "a("],
            &["regular expression", "--fixed-strings"],
        ),
        (
            2,
            &["recipients", "add", "ben", "age1x"],
            &["age-keygen -y", "ssh-ed25519"],
        ),
        (
            2,
            &["recipients", "add", "b n", "age1x"],
            &["age-keygen -y"],
        ),
        (
            16,
            &["signers", "add", "ben", "nope.pub"],
            &["nope.pub", "no such file is there"],
        ),
        (2, &["revert"], &["nothing was changed", "agekeep log"]),
        (2, &["create", "b.md"], &["--text ''", "--file"]),
        (2, &["write", "a.md"], &["--text ''"]),
        (2, &["insert", "a.md", "0"], &["--text ''"]),
    ] {
        let output = home.run(args);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        let hint = said.lines().skip_while(|line| !line.starts_with("hint: "));
        let hint = hint.collect::<Vec<_>>().join("\n");
        for word in advice {
            assert!(said.contains(word), "{args:?}: {said}");
        }
        assert!(
            !hint.contains("check the disk") && !hint.contains("--help"),
            "{args:?}: {said}"
        );
    }
    // Nothing of it was recorded, and an empty text is written by saying so.
    assert_eq!(home.run(&["read", "b.md"]).status.code(), Some(4));
    assert_eq!(stdout(&home.run(&["read", "a.md"])), "one\nthree\n");
    assert!(home.run(&["create", "b.md", "--text", ""]).status.success());
    assert_eq!(stdout(&home.run(&["read", "b.md"])), "");
    fs::write(home.path().join("empty"), "").expect("writes");
    assert!(
        home.run(&["create", "c.md", "--file", "empty"])
            .status
            .success()
    );
}

#[test]
fn what_waits_at_a_terminal_says_so() {
    if !has_peer("script", "a command says what it waits for at a terminal") {
        return;
    }
    let home = home();
    let plain = home.command(&[]);
    let agekeep = env!("CARGO_BIN_EXE_agekeep");
    for (args, waits_for, typed) in [
        ("create typed.md", "waiting for the text", "typed\n\u{4}"),
        ("tool", "waiting for memory-tool calls", "\u{4}"),
        ("mcp", "waiting for an MCP client", "\u{4}"),
        ("redact test", "waiting for the text", "x\n\u{4}"),
    ] {
        let line = format!("{agekeep} {args}");
        let (status, shown) = answered(&plain, &line, "ends it", || typed.into());
        assert_eq!(status, Some(0), "{args}: {shown}");
        assert!(
            shown.contains(waits_for) && shown.contains("Ctrl-D"),
            "{args}: {shown}"
        );
    }
    assert_eq!(stdout(&home.run(&["read", "typed.md"])), "typed\n");
    // Nobody is told where nobody waits.
    let piped = home.run_with_input(&["create", "piped.md"], "piped\n");
    assert!(!stderr(&piped).contains("waiting"), "{}", stderr(&piped));
}

#[test]
fn a_recovery_identity_that_was_sent_to_a_file_is_an_identity() {
    let home = Home::empty();
    let file = home.path().join("safe.txt");
    let mut init = home.command(&["init", "--recovery", "--template", "software-project"]);
    let made = init.stdout(fs::File::create(&file).expect("makes"));
    assert!(made.status().expect("runs").success());
    let identity = file.to_str().expect("UTF-8");
    fs::remove_file(home.identity()).expect("there");
    let read = home.run(&["-i", identity, "read", "progress.md"]);
    assert!(read.status.success(), "{}", stderr(&read));
    if !has_peer("age", "stock age takes the file of a recovery identity") {
        return;
    }
    let opened = Command::new("age")
        .args(["-d", "-i", identity])
        .arg(home.store().join("keyring/epoch.age"))
        .stdin(Stdio::null())
        .output()
        .expect("age runs");
    assert!(opened.status.success(), "{}", stderr(&opened));
}

/// One error of each kind, with each kind of fault.
#[allow(clippy::too_many_lines)] // a list, as long as there are errors
pub(crate) fn every_error() -> Vec<Error> {
    let path = || PathBuf::from("/tmp/x");
    let text = || "x".to_owned();
    let mut errors = vec![
        Error::NoStore { path: path() },
        Error::StoreExists { path: path() },
        Error::NotEmpty { path: path() },
        Error::NotYours {
            path: path(),
            owner: 1,
        },
        Error::Locked {
            path: path(),
            waited_seconds: 1,
        },
        Error::NoKeyFile {
            what: "identity",
            path: path(),
        },
        Error::BadKeyFile {
            what: "identity",
            path: path(),
            why: text(),
        },
        Error::NotARecipient { path: path() },
        Error::NotAReader,
        Error::NotASigner {
            fingerprint: text(),
        },
        Error::NoSigningKey,
        Error::NoKeyring {
            path: path(),
            is_whole: true,
        },
        Error::MissingKey { memory: text() },
        Error::UnknownFormat {
            what: text(),
            found: text(),
        },
        Error::Damaged {
            what: text(),
            why: text(),
            hint: None,
        },
        Error::HeadMoved {
            found: text(),
            expected: text(),
            ahead: true,
        },
        Error::HeadMoved {
            found: text(),
            expected: text(),
            ahead: false,
        },
        Error::RolledBack {
            event: 1,
            seen: text(),
            found: text(),
        },
        Error::BadPin {
            path: path(),
            why: text(),
        },
        Error::CursorLost {
            cursor: text(),
            newest: 1,
        },
        Error::NotRolledBack,
        Error::OldFormat,
        Error::NoRevision {
            revision: text(),
            why: text(),
        },
        Error::NothingToUndo { selection: text() },
        Error::Ambiguous {
            revision: text(),
            candidates: vec![text()],
        },
        Error::DeniedPath { why: "x" },
        Error::Conflict {
            conflicts: vec![text()],
        },
        Error::PlanChanged {
            wanted: text(),
            found: text(),
        },
        Error::Policy {
            line: None,
            why: text(),
        },
        Error::Policy {
            line: Some(1),
            why: text(),
        },
        Error::PolicyChanged,
        Error::TooLong {
            what: "x",
            bytes_max: 1,
        },
        Error::HistoryFull {
            bytes: 1,
            bytes_max: 1,
        },
        Error::TooManyEvents { events_max: 1 },
        Error::NotATrial,
        Error::NotConfirmed { name: text() },
    ];
    let kinds = [
        ErrorKind::StorageFull,
        ErrorKind::PermissionDenied,
        ErrorKind::AddrInUse,
        ErrorKind::NotFound,
        ErrorKind::IsADirectory,
        ErrorKind::Other,
    ];
    errors.extend(kinds.map(|kind| Error::Io {
        doing: "read",
        path: path(),
        source: kind.into(),
    }));
    // The arguments with a hint of their own, and any other one.
    for what in [
        "the time",
        "the time of the key",
        "the pattern",
        "the recipient",
        "the signer's key",
        "the name",
        "the signer's name",
        "the auditor's name",
        "the text",
        "standard input",
        "the range of events",
        "the selection",
        "an erasure without a reason",
        "an erasure that nobody confirms",
        "another argument",
    ] {
        errors.push(Error::Invalid { what, why: text() });
    }
    errors.extend(
        [
            KeyFault::NotPrivate {
                what: "identity",
                path: path(),
            },
            KeyFault::NoPassphrase {
                wanted: text(),
                why: text(),
            },
            KeyFault::WrongPassphrase { path: path() },
            KeyFault::MissingPlugin { plugin: text() },
            KeyFault::PluginFailed {
                plugin: text(),
                why: text(),
            },
            KeyFault::NoRecipient { plugin: text() },
            KeyFault::MixedRecipients,
        ]
        .map(Error::Key),
    );
    errors.extend(
        [
            ExportFault::InTheWay {
                path: path(),
                what: "x",
            },
            ExportFault::WorkTree {
                path: path(),
                of: path(),
            },
            ExportFault::OneName { path: text() },
        ]
        .map(Error::Export),
    );
    errors.extend(
        [
            MembershipFault::Nobody { name: None },
            MembershipFault::LastReader { name: text() },
            MembershipFault::Oneself { name: text() },
            MembershipFault::Overtaken,
            MembershipFault::SharedKeyring {
                original: path(),
                keyring: path(),
            },
            MembershipFault::TwoKeyrings {
                said: path(),
                policy: path(),
            },
        ]
        .map(Error::Membership),
    );
    errors.extend(
        [
            RetentionFault::Erased {
                memory: text(),
                event: 1,
            },
            RetentionFault::Held {
                memories: vec![text()],
                total: 1,
                hold: 1,
            },
            RetentionFault::NoHold { hold: 1 },
            RetentionFault::TooManyHolds { max: 1 },
            RetentionFault::SweepLimit {
                expire: 1,
                erase: 1,
                max: 1,
            },
            RetentionFault::Clock { why: text() },
            RetentionFault::NoReceipt { what: text() },
            RetentionFault::TooMuch {
                versions: 1,
                max: 1,
            },
        ]
        .map(Error::Retention),
    );
    errors.extend(
        [
            RemoteFault::NoSuch {
                name: text(),
                known: vec![],
            },
            RemoteFault::NoSuch {
                name: text(),
                known: vec![text()],
            },
            RemoteFault::Exists { name: text() },
            RemoteFault::NoGit,
            RemoteFault::Unreachable {
                remote: text(),
                why: text(),
                waiting: 2,
            },
            RemoteFault::Empty { remote: text() },
            RemoteFault::Ahead { remote: text() },
            RemoteFault::Diverged { remote: text() },
            RemoteFault::Unverified {
                remote: text(),
                what: text(),
            },
            RemoteFault::WrongKeys {
                machine: Some(text()),
                what: text(),
            },
            RemoteFault::WrongKeys {
                machine: None,
                what: text(),
            },
            RemoteFault::NoKeys { remote: text() },
            RemoteFault::NoMail { remote: text() },
            RemoteFault::Waiting {
                is_auditor: true,
                name: text(),
                code: text(),
            },
            RemoteFault::Removed { remote: text() },
            RemoteFault::OnlyHere {
                remote: text(),
                is_apart: false,
            },
            RemoteFault::OnlyHere {
                remote: text(),
                is_apart: true,
            },
            RemoteFault::NoRequest {
                remote: text(),
                name: text(),
            },
            RemoteFault::Apart {
                erasures: vec![5, 7],
                remote: text(),
                own: 3,
                theirs: vec![("ci".into(), 2)],
                has_reader: true,
            },
            RemoteFault::Apart {
                erasures: Vec::new(),
                remote: text(),
                own: 3,
                theirs: vec![("sue".into(), 1)],
                has_reader: false,
            },
            RemoteFault::Untold {
                remote: text(),
                why: text(),
            },
            RemoteFault::Closed {
                last: chrono::DateTime::UNIX_EPOCH,
                allowed: text(),
            },
            RemoteFault::TurnedBack {
                remote: text(),
                machine: text(),
            },
            RemoteFault::Withholds {
                remote: text(),
                machine: text(),
                events: 9,
            },
            RemoteFault::Overtaken,
        ]
        .map(Error::Remote),
    );
    errors.extend(
        [
            SigningFault::NotValid {
                name: text(),
                fingerprint: text(),
                when: text(),
            },
            SigningFault::NotAllowed {
                name: text(),
                role: "writer",
                command: text(),
            },
            SigningFault::Exists { what: text() },
            SigningFault::NoSuch { name: text() },
            SigningFault::Last { name: text() },
        ]
        .map(Error::Signing),
    );
    errors
}

/// The first words of an act.
const ACTS: &str = "add ask check convert correct create end erase find free give go install keep \
                    leave look make move name raise restore run see split try undo use wait";

#[test]
fn the_hint_of_every_error_begins_with_what_to_do() {
    for error in every_error() {
        let hint = error.hint();
        let first = hint.split([' ', ',']).next().expect("a word");
        assert!(
            hint.starts_with("`agekeep ") || ACTS.split_whitespace().any(|act| act == first),
            "{error:?}: {hint}"
        );
        // It says what is wrong before.
        assert!(!error.to_string().is_empty() && !error.to_string().contains(&hint));
    }
}

/// The others carry the hint with them, or need what only a store has.
#[test]
fn no_kind_of_error_is_left_out() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut variants = BTreeSet::new();
    for (file, names) in [
        ("src/error.rs", &["Error"][..]),
        ("src/error/remote_fault.rs", &["RemoteFault"]),
        (
            "src/error/faults.rs",
            &[
                "KeyFault",
                "ExportFault",
                "MembershipFault",
                "RetentionFault",
                "SigningFault",
            ],
        ),
    ] {
        let source = fs::read_to_string(root.join(file)).expect("there");
        for name in names {
            let body = source
                .split_once(&format!("pub enum {name} {{\n"))
                .expect("an enum")
                .1;
            let body = body.split_once("\n}\n").expect("an end").0;
            let lines = body.lines().filter_map(|line| line.strip_prefix("    "));
            variants.extend(
                lines
                    .filter(|line| line.starts_with(|c: char| c.is_ascii_uppercase()))
                    .map(|line| {
                        line.split([' ', ',', '('])
                            .next()
                            .unwrap_or(line)
                            .to_owned()
                    }),
            );
        }
    }
    let made: BTreeSet<String> = every_error()
        .iter()
        .flat_map(|error| {
            let shown = format!("{error:?}");
            let words = shown.split([' ', '(', ')', '{', ',']);
            words.take(2).map(str::to_owned).collect::<Vec<_>>()
        })
        .collect();
    let left: Vec<_> = variants.difference(&made).map(String::as_str).collect();
    assert_eq!(left, ["Agent", "Already", "AnotherStore", "NotThere"]);
}
