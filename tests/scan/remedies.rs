//! What is done about findings: a memory redacted or erased is clean for the next scan.

use crate::scan::kept::*;
use crate::support::stdout;

#[test]
fn a_memory_that_was_redacted_is_clean_and_what_it_was_is_erased() {
    let token = token();
    let kept = Kept::given(&[
        create("a.md", &format!("{token}\n")),
        insert("a.md", 1, &format!("{}\n", password())),
        create("b.md", &token),
    ])
    .policy("");
    assert_eq!(kept.scan(14, &[]).rows().len(), 4);
    kept.ok(&[
        "redact",
        "HEAD:/memories/a.md",
        "--yes",
        "--reason",
        "asked",
    ]);
    let want = row("github-pat", "b.md", 1, (1, 3), true);
    let said = kept.scan(14, &[]);
    assert_eq!(said.rows(), [want]);
    assert!(said.problems.is_empty(), "what is erased is passed over");
    assert_eq!(said.summary["versions"], 2);
    kept.scan(0, &["/memories/a.md"]);
    for old in ["1:/memories/a.md", "2:/memories/a.md"] {
        let refused = kept.fails(4, &["show", old]);
        assert!(refused.contains("was erased by event"), "{refused}");
    }
    let now = kept.ok(&["read", "/memories/a.md"]);
    assert!(
        !now.contains(&token) && now.contains("[REDACTED:github-pat]"),
        "{now}"
    );
    kept.ok(&["verify", "--full"]);
}

#[test]
fn redaction_of_a_memory_that_never_held_a_secret_changes_nothing() {
    let kept = Kept::given(&[
        create("clean.md", "one\n"),
        insert("clean.md", 1, "two\n"),
        create("was.md", &token()),
        replace("was.md", &token(), "gone"),
    ])
    .policy("");
    let before = kept.ok(&["log", "--json"]).lines().count();
    let refused = kept.fails(
        4,
        &[
            "redact",
            "HEAD:/memories/clean.md",
            "--yes",
            "--reason",
            "asked",
        ],
    );
    assert!(refused.contains("nothing was changed"), "{refused}");
    assert!(refused.contains("--history"), "{refused}");
    assert_eq!(kept.ok(&["log", "--json"]).lines().count(), before);
    assert!(kept.ok(&["show", "1:/memories/clean.md"]).contains("one"));
    // The present text is clean, and an earlier one is not.
    kept.ok(&[
        "redact",
        "HEAD:/memories/was.md",
        "--yes",
        "--reason",
        "asked",
    ]);
    assert!(
        kept.fails(4, &["show", "3:/memories/was.md"])
            .contains("was erased")
    );
    assert_eq!(kept.ok(&["read", "/memories/was.md"]).trim_end(), "gone");
    kept.scan(0, &[]);
}

#[test]
fn every_remedy_a_scan_names_leaves_nothing_to_find() {
    let token = token();
    let kept = Kept::given(&[
        create("now.md", &token),
        create("was.md", &token),
        replace("was.md", &token, "gone"),
        create("gone.md", &token),
        delete("gone.md"),
        create("from.md", &token),
        rename("from.md", "to $HOME.md"),
        create("ACME-740913.md", &token),
    ])
    .policy(BADGES);
    let text = kept.ends(14, &["scan"]);
    let hints = text
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("hint: "));
    let mut carried_out = 0;
    for hint in hints {
        let command = hint.split(" (").next().expect("a command");
        let binary = env!("CARGO_BIN_EXE_agekeep");
        let mut shell = std::process::Command::new(crate::support::program("sh"));
        let command = command.replacen("agekeep", binary, 1);
        shell.args(["-c", &format!("{command} --yes")]).env_clear();
        shell.env("HOME", kept.home.path());
        shell.env("XDG_CONFIG_HOME", kept.home.path().join("config"));
        shell.env("AGEKEEP_STORE", kept.home.store());
        let output = shell.output().expect("runs");
        assert!(output.status.success(), "{command}: {}", stdout(&output));
        carried_out += 1;
    }
    assert_eq!(carried_out, 5, "{text}");
    let said = kept.scan(0, &[]);
    assert_eq!(said.summary["memories"], 3);
    kept.ok(&["verify", "--full"]);
}

#[test]
fn what_was_erased_is_not_reported() {
    let kept = Kept::given(&[
        create("a.md", &token()),
        create("b.md", &token()),
        replace("b.md", &token(), "gone"),
        create("c.md", &token()),
        delete("c.md"),
    ])
    .policy("");
    assert_eq!(kept.scan(14, &[]).rows().len(), 3);
    kept.ok(&["erase", "/memories/a.md", "--yes", "--reason", "asked"]);
    kept.ok(&[
        "erase",
        "--history",
        "/memories/b.md",
        "--yes",
        "--reason",
        "asked",
    ]);
    kept.ok(&["erase", &kept.id_at(4), "--yes", "--reason", "asked"]);
    let said = kept.scan(0, &[]);
    assert!(said.problems.is_empty());
    assert_eq!(
        (&said.summary["memories"], &said.summary["versions"]),
        (&1.into(), &1.into())
    );
    let gone = kept.fails(4, &["scan", "/memories/a.md"]);
    assert!(gone.contains("that still opens"), "{gone}");
}

#[test]
fn new_keys_change_nothing_but_that_there_is_one_version_more() {
    let kept = Kept::given(&[create("a.md", &token()), create("b.md", "x\n")]).policy("");
    kept.ok(&["rekey"]);
    let want = [
        row("github-pat", "a.md", 1, (2, 4), true),
        row("github-pat", "a.md", 1, (1, 1), false),
    ];
    let said = kept.scan(14, &[]);
    assert_eq!(said.rows(), want);
    assert_eq!(said.summary["versions"], 4);
}
