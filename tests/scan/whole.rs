//! Damage, and size: what cannot be read is said, and the rest is scanned all the same.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::scan::kept::*;

fn flip(path: &Path) {
    let mut bytes = fs::read(path).expect("there");
    let at = bytes.len() / 2;
    bytes[at] ^= 0x20;
    fs::remove_file(path).expect("removed");
    fs::write(path, bytes).expect("written");
}

fn two_with_secrets() -> Kept {
    Kept::given(&[
        create("a.md", &token()),
        create("b.md", &token()),
        replace("b.md", &token(), "gone"),
        create("clean.md", "x\n"),
    ])
    .policy("")
}

#[test]
fn a_version_that_does_not_open_is_a_problem_and_not_the_end() {
    for gone in [false, true] {
        let kept = two_with_secrets();
        let blob = kept.blob_of(2);
        // A new journal holds none of these objects, so that none comes back from it.
        fs::remove_file(kept.home.store().join("journal")).expect("there");
        if gone {
            fs::remove_file(&blob).expect("there");
        } else {
            flip(&blob);
        }
        let said = kept.scan(14, &[]);
        assert_eq!(said.rows(), [row("github-pat", "a.md", 1, (1, 1), true)]);
        let problem = &said.problems[0];
        assert_eq!(said.problems.len(), 1);
        assert_eq!(
            (&problem["path"], &problem["version"], &problem["event"]),
            (&"/memories/b.md".into(), &1.into(), &2.into())
        );
        assert_eq!(
            (&problem["problem"], &problem["remedy"]),
            (&"closed".into(), &"verify".into())
        );
        assert_eq!(said.summary["closed"], 1);
        let text = kept.ends(14, &["scan"]);
        assert!(text.contains("  v1, event 2: not scanned: "), "{text}");
        assert!(text.contains("1 finding, 1 version not opened: "), "{text}");
        // Where nothing was found, it is no clean store either.
        kept.scan(13, &["/memories/b.md"]);
        kept.scan(0, &["/memories/b.md", "--present"]);
        kept.ok(&["erase", &kept.id_at(2), "--yes", "--reason", "asked"]);
        assert!(kept.scan(14, &[]).problems.is_empty());
    }
}

#[test]
fn a_key_that_is_gone_without_a_receipt_is_a_problem() {
    let kept = two_with_secrets();
    let ring = kept.home.store().join("keyring/ring");
    let mut bytes = fs::read(&ring).expect("there");
    bytes[128 + 50] ^= 1;
    fs::write(&ring, bytes).expect("written");
    let said = kept.scan(14, &[]);
    let want = row("github-pat", "b.md", 1, (1, 2), false);
    assert_eq!(said.rows(), [want]);
    assert_eq!(said.problems[0]["path"], "/memories/a.md");
    assert_eq!(said.problems[0]["present"], true);
}

#[test]
fn what_the_journal_still_holds_is_mended_and_scanned() {
    let kept = two_with_secrets();
    let blob = kept.blob_of(2);
    flip(&blob);
    let said = kept.scan(14, &[]);
    assert_eq!(said.rows().len(), 2);
    assert!(said.problems.is_empty());
    kept.ok(&["verify", "--full"]);
}

#[test]
fn packed_history_is_scanned_as_well() {
    let kept = two_with_secrets();
    let packed = kept.home.git(&["repack", "-a", "-d", "-q"]);
    assert!(packed.status.success());
    assert!(!kept.blob_of(2).exists());
    assert_eq!(kept.scan(14, &[]).rows().len(), 2);
}

#[test]
fn a_thousand_memories_are_quick() {
    let mut calls = Vec::new();
    for number in 0..1_000 {
        let text = format!(
            "{number}\n{}\n",
            "a line of notes about the build. ".repeat(20)
        );
        calls.push(create(&format!("d{}/m{number}.md", number % 40), &text));
    }
    for number in (0..1_000).step_by(2) {
        let name = format!("d{}/m{number}.md", number % 40);
        calls.push(insert(&name, 1, &format!("{}\n", password())));
    }
    let kept = Kept::given(&calls).policy("");
    let begun = Instant::now();
    let said = kept.scan(14, &[]);
    let took = begun.elapsed();
    eprintln!("1,500 versions of 1,000 memories: {took:?}");
    assert_eq!(said.findings.len(), 500);
    assert_eq!(said.summary["versions"], 1_500);
    assert!(took < Duration::from_secs(60), "{took:?}");
}
