//! Which rules a scan goes by: those in force, whatever is done with what they find.

use crate::scan::kept::*;

const SLOW: usize = 100_001;

#[test]
fn the_mode_does_not_matter_and_what_the_owner_lets_be_does() {
    let kept = Kept::given(&[create("s/a.md", &format!("{}\n{}\n", token(), password()))]);
    let both = ["github-pat", "password"];
    let mut kept = kept;
    for (policy, want) in [
        ("[redaction]\nmode = \"off\"\n", &both[..]),
        ("[redaction]\nmode = \"reject\"\n", &both),
        (
            "[[redaction.paths]]\nglob = \"/memories/s/*\"\nmode = \"off\"\n",
            &both,
        ),
        ("[redaction]\noff = [\"github-pat\"]\n", &["password"]),
        (
            "[[redaction.allow]]\nregex = \"ghp_.*\"\nreason = \"revoked\"\n",
            &["password"],
        ),
        (
            "[[redaction.allow]]\nregex = \"ghp_.*\"\nreason = \"r\"\nglob = \"/memories/s/*\"\n",
            &["password"],
        ),
        (
            "[[redaction.allow]]\nregex = \"ghp_.*\"\nreason = \"r\"\nglob = \"/memories/t/*\"\n",
            &both,
        ),
        (
            "[[redaction.allow]]\nregex = \"ghp_.*\"\nreason = \"r\"\nkind = \"token\"\n",
            &both,
        ),
    ] {
        kept = kept.policy(policy);
        let said = kept.scan(14, &[]);
        let kinds: Vec<String> = said.rows().into_iter().map(|row| row.0).collect();
        assert_eq!(kinds, want, "{policy}");
    }
}

#[test]
fn the_same_text_can_be_let_be_at_one_path_and_found_at_another() {
    let text = format!("{}\n", token());
    let calls: Vec<_> = (0..20)
        .map(|number| {
            create(
                &format!("{}/{number}.md", if number < 10 { "t" } else { "s" }),
                &text,
            )
        })
        .collect();
    let allow =
        "[[redaction.allow]]\nregex = \"ghp_.*\"\nreason = \"r\"\nglob = \"/memories/s/*\"\n";
    let kept = Kept::given(&calls).policy(allow);
    let rows = kept.scan(14, &[]).rows();
    assert_eq!(rows.len(), 10);
    assert!(rows.iter().all(|row| row.1.starts_with("/memories/t/")));
}

#[test]
fn a_rule_that_came_later_finds_what_was_kept_before_it() {
    let kept = Kept::given(&[
        create("a.md", "x\nACME-740913 and ACME-740914\nACME-99\n"),
        create("b.md", "y\nacmegit_12345678\n"),
        create("c.md", "jo.miller@company-mail.com\n"),
    ])
    .policy("");
    kept.scan(0, &[]);
    let kept = kept.policy(BADGES);
    let want = row("acme-badge", "a.md", 2, (1, 1), true);
    assert_eq!(kept.scan(14, &[]).rows(), [want.clone(), want]);
    let gitleaks = "[redaction]\npersonal = [\"email\"]\ngitleaks = '''\n[[rules]]\nid = \
                    \"acme-git\"\nregex = \"acmegit_[0-9]{8}\"\nkeywords = [\"acmegit_\"]\n'''\n";
    let kept = kept.policy(gitleaks);
    let want = [
        row("acme-git", "b.md", 2, (1, 2), true),
        row("email", "c.md", 1, (1, 3), true),
    ];
    assert_eq!(kept.scan(14, &[]).rows(), want);
}

#[test]
fn a_fingerprint_is_shown_where_the_policy_shows_it() {
    let text = format!("{0}\n{0}\n{1}\n", token(), password());
    let kept = Kept::given(&[create("a.md", &text)]).policy("");
    let plain = kept.scan(14, &[]);
    assert!(
        plain
            .findings
            .iter()
            .all(|found| found["fingerprint"].is_null())
    );
    assert!(!kept.ends(14, &["scan"]).contains('#'));
    let kept = kept.policy("[redaction]\nfingerprints = true\n");
    let found = kept.scan(14, &[]).findings;
    let print = found[0]["fingerprint"].as_str().expect("a fingerprint");
    assert!(print.len() == 8 && print.chars().all(|c| c.is_ascii_hexdigit()));
    assert_eq!(found[0]["fingerprint"], found[1]["fingerprint"]);
    assert!(found[2]["fingerprint"].is_null(), "a password has none");
    let text = kept.ends(14, &["scan"]);
    let said = format!(": github-pat#{print} in lines 1-2; password in line 3\n");
    assert!(text.contains(&said), "{text}");
}

#[test]
fn a_secret_in_a_path_is_found_and_not_shown() {
    let kept = Kept::given(&[
        create("ACME-740913/x.md", "x\n"),
        insert("ACME-740913/x.md", 1, "y\n"),
        create("was-ACME-295186.md", "z\n"),
        rename("was-ACME-295186.md", "is.md"),
        create("gone-ACME-551907.md", "z\n"),
        delete("gone-ACME-551907.md"),
    ])
    .policy(BADGES);
    let said = kept.scan(14, &[]);
    let marked = "[REDACTED:acme-badge]";
    let want = [
        row("acme-badge", &format!("{marked}/x.md"), 0, (1, 1), false),
        row("acme-badge", &format!("gone-{marked}.md"), 0, (1, 5), false),
        row("acme-badge", &format!("was-{marked}.md"), 0, (1, 3), false),
    ];
    assert_eq!(said.rows(), want);
    assert!(said.findings.iter().all(|found| found["remedy"] == "erase"));
    assert_eq!(kept.scan(14, &["--present"]).rows().len(), 1);
    let text = kept.ends(14, &["scan"]);
    let log = kept.ok(&["log", "-n", "1", "--json"]);
    for digits in ["740913", "295186", "551907"] {
        let all = format!("{text}{log}{:?}{:?}", said.findings, said.summary);
        assert!(!all.contains(digits), "{digits}: {all}");
    }
    assert!(text.contains("acme-badge in its path\n"), "{text}");
    // Only erasure reaches a path: afterwards it is nowhere.
    for found in &said.findings {
        kept.ok(&[
            "erase",
            found["memory"].as_str().expect("an id"),
            "--yes",
            "--reason",
            "asked",
        ]);
    }
    kept.scan(0, &[]);
}

#[test]
fn a_path_of_which_only_one_name_gives_it_away_is_not_shown_at_all() {
    // What may stay is the whole name; its stem may not.
    let policy = BADGES.to_owned()
        + "tail = \"dotted\"\n[[redaction.allow]]\nreason = \"r\"\nregex = 'ACME-[0-9]{6}\\.md'\n";
    let kept = Kept::given(&[create("a/ACME-740913.md", "x\n")]).policy(&policy);
    let said = kept.scan(14, &[]);
    let want = row("acme-badge", "[REDACTED:acme-badge]", 0, (1, 1), true);
    assert_eq!(said.rows(), [want]);
    assert!(!kept.ends(14, &["scan"]).contains("740913"));
}

#[test]
fn a_text_that_cannot_be_scanned_in_time_is_no_clean_text() {
    let slow = "- ACME-740913.\n".repeat(SLOW);
    let kept = Kept::given(&[
        create("a.md", "x\n"),
        create("slow.md", &slow),
        create("was.md", &slow),
        delete("was.md"),
    ])
    .policy(BADGES);
    let said = kept.scan(14, &[]);
    assert!(said.findings.is_empty());
    let problems: Vec<_> = said
        .problems
        .iter()
        .map(|p| (&p["path"], &p["event"], &p["problem"], &p["remedy"]))
        .map(|(path, event, problem, remedy)| format!("{path} {event} {problem} {remedy}"))
        .collect();
    let want = [
        "\"/memories/slow.md\" 2 \"unfinished\" \"erase\"",
        "\"/memories/was.md\" 3 \"unfinished\" \"erase\"",
    ];
    assert_eq!(problems, want);
    assert_eq!(
        (&said.summary["unfinished"], &said.summary["closed"]),
        (&2.into(), &0.into())
    );
    let text = kept.ends(14, &["scan"]);
    assert!(text.contains("it may hold secrets"), "{text}");
    assert!(text.contains("No secret was found, 2 versions not scanned to the end: "));
}

#[test]
fn of_a_text_with_very_many_findings_the_first_are_listed_and_all_are_counted() {
    let many = "badge ACME-740913 lost.\n".repeat(1_500);
    let kept = Kept::given(&[create("a.md", &many)]).policy(BADGES);
    let output = kept.home.run(&["scan", "--json"]);
    assert_eq!(output.status.code(), Some(14));
    let objects = crate::support::json_lines(&output.stdout);
    assert_eq!(objects.len(), 1_001);
    assert_eq!(objects[1_000]["findings"], 1_500);
    assert_eq!(objects[999]["line"], 1_000);
    let text = kept.ends(14, &["scan"]);
    assert!(
        text.contains(": acme-badge in lines 1-1000; 500 more\n"),
        "{text}"
    );
    assert!(text.contains("1500 findings: "), "{text}");
}
