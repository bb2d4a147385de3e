//! Where secrets are found: in what is there, what it was before, what is gone, and what moved.

use crate::scan::kept::*;
use crate::support::json_lines;

/// Secrets in every state a memory can be in. The policy is event 11.
fn everywhere() -> Kept {
    let (token, password) = (token(), password());
    Kept::given(&[
        create("a.md", &format!("one\ntwo {token}\n")),
        replace("a.md", &token, "gone"),
        create("b.md", "x\n"),
        insert("b.md", 1, &format!("{password}\n")),
        create("c.md", &token),
        delete("c.md"),
        create("d/d.md", &format!("\n\n{token} {password}\n")),
        rename("d/d.md", "e/e.md"),
        create("clean.md", "nothing\n"),
        insert("clean.md", 1, "to see\n"),
    ])
    .policy("")
}

#[test]
fn present_old_deleted_and_renamed_memories_are_found_with_their_places() {
    let kept = everywhere();
    let said = kept.scan(14, &[]);
    let want = [
        row("github-pat", "a.md", 2, (1, 1), false),
        row("password", "b.md", 2, (2, 4), true),
        row("github-pat", "c.md", 1, (1, 5), false),
        row("github-pat", "e/e.md", 3, (2, 8), true),
        row("password", "e/e.md", 3, (2, 8), true),
        row("github-pat", "d/d.md", 3, (1, 7), false),
        row("password", "d/d.md", 3, (1, 7), false),
    ];
    assert_eq!(said.rows(), want);
    assert_eq!(
        (&said.summary["memories"], &said.summary["versions"]),
        (&5.into(), &9.into())
    );
    assert_eq!(said.summary["at"]["event"], 11);
    for (found, event) in said.findings.iter().zip([1, 4, 5, 8, 8, 7, 7]) {
        assert_eq!(found["memory"], kept.id_at(event), "{found}");
    }
    let remedies: Vec<&str> = said
        .findings
        .iter()
        .map(|found| found["remedy"].as_str().expect("a word"))
        .collect();
    assert_eq!(&remedies[..4], ["redact", "redact", "erase", "redact"]);
}

#[test]
fn only_what_is_there_now_where_that_is_asked() {
    let kept = everywhere();
    let said = kept.scan(14, &["--present"]);
    let want = [
        row("password", "b.md", 2, (2, 4), true),
        row("github-pat", "e/e.md", 3, (2, 8), true),
        row("password", "e/e.md", 3, (2, 8), true),
    ];
    assert_eq!(said.rows(), want);
    assert_eq!(
        (&said.summary["memories"], &said.summary["versions"]),
        (&4.into(), &4.into())
    );
    kept.scan(0, &["--present", "/memories/a.md"]);
    kept.scan(14, &["/memories/a.md"]);
}

#[test]
fn a_path_stands_for_whatever_was_ever_there_or_below() {
    let kept = everywhere();
    for path in ["/memories/d", "/memories/d/d.md", "/memories/e"] {
        let rows = kept.scan(14, &[path]).rows();
        assert_eq!(rows.len(), 4, "{path}");
        assert!(
            rows.iter()
                .all(|row| row.1.ends_with("/d.md") || row.1.ends_with("/e.md"))
        );
    }
    assert_eq!(kept.scan(14, &["/memories/c.md"]).rows().len(), 1);
    assert_eq!(kept.scan(14, &["/memories"]).rows().len(), 7);
    assert_eq!(kept.scan(14, &["--present", "/memories/e"]).rows().len(), 2);
    // What it was called before is not where it is.
    let before = kept.log("1");
    for args in [
        &["/memories/d", "--present"][..],
        &["/memories/c.md", "--present"],
        &["/memories/nowhere"],
        &["/memories/a"],
        &["/memories/a.md/x"],
    ] {
        let said = kept.fails(4, &[&["scan"], args].concat());
        assert!(said.contains("nothing was at /memories/"), "{said}");
    }
    kept.fails(7, &["scan", "/elsewhere"]);
    kept.fails(2, &["scan", "--history"]);
    assert_eq!(
        kept.log("1"),
        before,
        "what finds nothing to scan is not recorded"
    );
}

#[test]
fn a_clean_store_ends_with_zero() {
    for calls in [
        vec![],
        vec![
            create("a.md", "one\n"),
            insert("a.md", 1, "two\n"),
            delete("a.md"),
        ],
    ] {
        let kept = Kept::given(&calls).policy("");
        let said = kept.scan(0, &[]);
        assert!(said.findings.is_empty() && said.problems.is_empty());
        assert_eq!(said.summary["versions"], calls.len().saturating_sub(1));
        let text = kept.ok(&["scan"]);
        assert!(text.starts_with("No secret was found: "), "{text}");
        assert_eq!(text.lines().count(), 1);
        kept.scan(0, &["/memories", "--present"]);
    }
}

#[test]
fn what_expired_is_found_before_and_after_the_sweep() {
    let policy = "[expiration]\nunaccessed_for = \"30d\"\n";
    let kept = Kept::given(&[create("a.md", &token())]).policy(policy);
    let later = (chrono::Utc::now() + chrono::TimeDelta::days(40)).to_rfc3339();
    let scan = |code| {
        let output = kept.home.run(&["scan", "--json", "--now", &later]);
        Said::read(&output, code)
    };
    assert_eq!(scan(14).findings[0]["remedy"], "redact");
    let swept = kept.ok(&["expire", "--now", &later]);
    assert!(swept.contains("a.md"), "{swept}");
    let said = scan(14);
    assert_eq!(said.rows(), [row("github-pat", "a.md", 1, (1, 1), false)]);
    assert_eq!(said.findings[0]["remedy"], "erase");
}

#[test]
fn a_memory_that_was_brought_back_is_one_memory() {
    let kept = Kept::given(&[create("a.md", &token()), delete("a.md")]).policy("");
    let restored = kept.ok(&["restore", "/memories/a.md", "--from", "1", "--json"]);
    let event = json_lines(restored.as_bytes())[0]["meta"]["event"].as_u64();
    // What was kept is redacted when it is brought back.
    let said = kept.scan(14, &[]);
    assert_eq!(said.rows(), [row("github-pat", "a.md", 1, (1, 1), false)]);
    assert_eq!((event, &said.summary["versions"]), (Some(4), &2.into()));
    kept.scan(0, &["--present"]);
}
