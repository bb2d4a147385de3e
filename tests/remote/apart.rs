//! Machines that both wrote: each has its line at the host, nothing is taken, and who made a line up is named.

use std::path::{Path, PathBuf};

use super::hosts::{found_at, shell};
use super::replicas::{card_of, joined, receipt_on, verified};
use super::{contents, copy_folder, head, home_with_host, ok, on, path, refused};
use crate::support::{Home, feed, git, has_peer, stderr, stdout};

/// A laptop and `ci`, which have keys and the same events, and their host.
fn two_machines() -> (Home, Home, PathBuf) {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let ci = joined(&laptop, &host, "ci");
    ok(&laptop.run(&["sync"]));
    (laptop, ci, host)
}

/// The lines at a host: their names and ends.
fn lines(host: &Path) -> Vec<(String, String)> {
    let refs = [
        "for-each-ref",
        "--format=%(refname) %(objectname)",
        "refs/agekeep/lines",
    ];
    let refs = stdout(&git(host, &refs));
    let split = refs.lines().filter_map(|line| line.split_once(' '));
    split
        .map(|(name, end)| (name.to_owned(), end.to_owned()))
        .collect()
}

#[test]
fn two_that_both_wrote_keep_their_lines_and_nothing_is_taken() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let ci = joined(&laptop, &host, "ci");
    ok(&laptop.run(&["sync"]));
    ok(&laptop.run(&["create", "l.md", "--text", "of the laptop"]));
    ok(&ci.run(&["create", "c.md", "--text", "of ci"]));
    ok(&laptop.run(&["sync"]));
    let before = head(&ci.store());
    for _ in 0..2 {
        let apart = ci.run(&["sync", "--json"]);
        assert_eq!(
            refused(&apart),
            (Some(15), "apart".into()),
            "{}",
            stderr(&apart)
        );
    }
    assert_eq!(head(&ci.store()), before);
    let line = card_of(&host, "ci").replace("cards", "lines");
    assert_eq!(stdout(&git(&host, &["rev-parse", &line])), before);
    assert_eq!(head(&host), head(&laptop.store()));
    let told = stderr(&ci.run(&["sync"]));
    assert!(
        told.contains("the 1 of this machine are safe there")
            && told.contains("origin has 1 by owner"),
        "{told}"
    );
    // Its keys are nowhere else, so it is told to save what it has.
    let leave = ci.run(&["replicas", "leave", "--destroy"]);
    assert_eq!(leave.status.code(), Some(6));
    let hint = stderr(&leave);
    assert!(hint.contains("agekeep export"), "{hint}");
    assert!(ok(&ci.run(&["view", "c.md"])).contains("of ci"));
    // The others go on, and see it. An erasure is not taken for done on a line that is longer.
    ok(&laptop.run(&["create", "m.md", "--text", "goes on"]));
    for _ in 0..6 {
        ok(&ci.run(&["view", "a.md"]));
    }
    drop(ci.run(&["sync"]));
    ok(&laptop.run(&["sync"]));
    ok(&laptop.run(&["erase", "a.md", "--yes", "--reason", "x"]));
    let receipt = receipt_on(&laptop);
    assert!(receipt.contains("not yet by ci: it was at"), "{receipt}");
    let listed = ok(&laptop.run(&["replicas", "list"]));
    assert!(listed.contains("has events that are not here"), "{listed}");
    let doctor = stdout(&laptop.run(&["doctor"]));
    assert!(doctor.contains("machine-apart"), "{doctor}");
    let said = ok(&laptop.run(&["sync"]));
    assert!(said.contains("ci has events that are not here"), "{said}");
    ok(&laptop.run(&["sync"]));
    for machine in [&laptop, &ci] {
        assert_eq!(verified(machine), Some(0));
    }
    // ci takes the other history: a new clone, under its own name and keys.
    let new = ci.path().join("new");
    ok(&ci.run(&["clone", path(&host), path(&new), "--name", "ci"]));
    ok(&laptop.run(&["sync"]));
    let on_new = |args: &[&str]| {
        let mut command = ci.command(args);
        command.env("AGEKEEP_STORE", &new);
        feed(command, b"")
    };
    ok(&on_new(&["sync"]));
    assert!(ok(&on_new(&["view", "m.md"])).contains("goes on"));
    ok(&on_new(&["sync"]));
    ok(&laptop.run(&["sync"]));
    assert_eq!(on_new(&["verify", "--full"]).status.code(), Some(0));
}

/// A copied folder has the same signing key, so the two have one card. Neither takes the other's line.
#[test]
fn a_copied_machine_has_a_line_of_its_own() {
    let (laptop, ci, host) = two_machines();
    copy_folder(&ci.store(), &ci.path().join("copied"));
    ok(&laptop.run(&["create", "l.md", "--text", "of the laptop"]));
    ok(&laptop.run(&["sync"]));
    let apart = |copy: &str, text: &str| {
        ok(&on(
            &ci,
            copy,
            &["create", &format!("{text}.md"), "--text", text],
        ));
        let sync = on(&ci, copy, &["sync", "--json"]);
        assert_eq!(refused(&sync).1, "apart", "{}", stderr(&sync));
        head(&ci.path().join(copy)).trim().to_owned()
    };
    let first = apart("store", "one");
    let second = apart("copied", "two");
    let name = card_of(&host, "ci").replace("cards", "lines");
    let beside = format!("{name}-{}", &second[..8]);
    assert_eq!(
        lines(&host),
        [(name.clone(), first), (beside.clone(), second)]
    );
    // Each goes on with its own.
    let second = apart("copied", "three");
    let first = apart("store", "four");
    assert_eq!(lines(&host), [(name, first), (beside, second)]);
    // The others know both, whichever has published the card.
    ok(&laptop.run(&["sync"]));
    apart("copied", "five");
    ok(&laptop.run(&["sync"]));
    assert_eq!(verified(&laptop), Some(0));
}

/// What a host puts in the place of the newest event of the laptop, in shell, and what is found of it.
const MADE_UP: &[(&str, &str, &[&str])] = &[
    (
        "unsigned",
        "git update-ref refs/heads/main $(git commit-tree -p main~1 -m x main^{tree})",
        &["commit-form", "unsigned"],
    ),
    (
        "without a beginning",
        "git update-ref refs/heads/main $(git commit-tree -m x main^{tree})",
        &["commit-form", "unsigned"],
    ),
    (
        "by a stranger",
        "ssh-keygen -q -t ed25519 -N '' -f $GIT_DIR/key
         git update-ref refs/heads/main $(git -c gpg.format=ssh -c user.signingkey=$GIT_DIR/key \
           commit-tree -S -p main~1 -m x main^{tree})",
        &["commit-form", "signer"],
    ),
    (
        "an event left out",
        "git cat-file commit main > c
         git update-ref refs/heads/main $(sed \"s/^parent .*/parent $(git rev-parse main~2)/\" c |
           git hash-object -t commit -w --stdin)",
        &["chain", "signature"],
    ),
];

#[test]
fn a_made_up_history_beside_ours_is_named() {
    if !has_peer(
        "ssh-keygen",
        "a host serves a commit that a stranger signed",
    ) {
        return;
    }
    for (what, script, findings) in MADE_UP {
        let (laptop, ci, host) = two_machines();
        for name in ["l.md", "m.md", "n.md"] {
            ok(&laptop.run(&["create", name, "--text", name]));
        }
        ok(&laptop.run(&["sync"]));
        ok(&ci.run(&["create", "c.md", "--text", "of ci"]));
        shell(&host, script);
        let before = (head(&ci.store()), contents(&ci.store()));
        for verb in [&["sync", "--json"][..], &["pull", "--json"]] {
            let told = ci.run(verb);
            let code = if verb[0] == "sync" {
                "unverified"
            } else {
                "diverged"
            };
            assert_eq!(refused(&told).1, code, "{what}: {}", stderr(&told));
        }
        assert_eq!(found_at(&ci), *findings, "{what}");
        let verify = ci.run(&["verify", "--remote", "origin"]);
        assert_eq!(
            verify.status.code(),
            Some(13),
            "{what}: {}",
            stdout(&verify)
        );
        assert_eq!((head(&ci.store()), contents(&ci.store())), before, "{what}");
        assert_eq!(lines(&host), [], "{what}");
        assert_eq!(verified(&ci), Some(0), "{what}");
    }
}

/// Events of its own do not hide from a machine that it was removed.
#[test]
fn a_removed_machine_that_wrote_is_told_so_and_can_leave() {
    let (laptop, ci, host) = two_machines();
    ok(&laptop.run(&["replicas", "rm", "ci", "--reason", "stolen"]));
    ok(&ci.run(&["view", "a.md"]));
    ok(&ci.run(&["create", "mine.md", "--text", "mine"]));
    let sync = ci.run(&["sync", "--json"]);
    assert_eq!(
        refused(&sync),
        (Some(7), "removed".into()),
        "{}",
        stderr(&sync)
    );
    assert_eq!(lines(&host), []);
    assert!(ok(&ci.run(&["view", "mine.md"])).contains("mine"));
    ok(&ci.run(&["replicas", "leave", "--destroy"]));
    assert!(!ci.store().join("keyring/ring").exists());
}

/// What else is wrong at a host is said of that, and not of a history that is in order.
#[test]
fn a_lost_line_is_no_forged_history() {
    let (laptop, ci, host) = two_machines();
    let srv = joined(&laptop, &host, "srv");
    for machine in [&laptop, &ci, &srv, &laptop] {
        ok(&machine.run(&["sync"]));
    }
    ok(&laptop.run(&["create", "l.md", "--text", "l"]));
    ok(&laptop.run(&["sync"]));
    for (machine, name) in [(&ci, "c.md"), (&srv, "s.md")] {
        ok(&machine.run(&["create", name, "--text", name]));
    }
    assert_eq!(refused(&ci.run(&["sync", "--json"])).1, "apart");
    let line = card_of(&host, "ci").replace("cards", "lines");
    shell(&host, &format!("git update-ref -d {line}"));
    for machine in [&laptop, &srv, &srv] {
        let code = refused(&machine.run(&["sync", "--json"])).1;
        assert_eq!(code, "remote_withholds");
    }
    // Its machine puts the line there again, and the others go on.
    assert_eq!(refused(&ci.run(&["sync", "--json"])).1, "apart");
    ok(&laptop.run(&["sync"]));
    assert_eq!(refused(&srv.run(&["sync", "--json"])).1, "apart");
    assert_eq!(lines(&host).len(), 2);
}

/// A host that was restored from a backup, and machines that then both wrote: nobody is stuck.
#[test]
fn machines_at_a_restored_host_that_both_wrote_get_on() {
    let (laptop, ci, host) = two_machines();
    let srv = joined(&laptop, &host, "srv");
    for machine in [&laptop, &ci, &srv, &laptop] {
        ok(&machine.run(&["sync"]));
    }
    let backup = laptop.path().join("backup.git");
    copy_folder(&host, &backup);
    ok(&laptop.run(&["create", "l.md", "--text", "l"]));
    ok(&laptop.run(&["sync"]));
    ok(&ci.run(&["sync"]));
    copy_folder(&backup, &host);
    // srv knows nothing of l.md, and writes first.
    ok(&srv.run(&["create", "s.md", "--text", "s"]));
    ok(&srv.run(&["sync"]));
    ok(&ci.run(&["create", "c.md", "--text", "c"]));
    let mut codes = Vec::new();
    for machine in [&ci, &laptop, &srv, &ci, &laptop, &srv, &ci, &laptop, &srv] {
        codes.push(refused(&machine.run(&["sync", "--json"])).1);
    }
    assert_eq!(codes[6..8], ["apart", "apart"], "{codes:?}");
    assert!(!codes.contains(&"unverified".into()), "{codes:?}");
    ok(&srv.run(&["sync"]));
    assert_eq!(lines(&host).len(), 2, "of the laptop and of ci");
}

/// An owner whose copy is apart decides nothing that would reach nobody.
#[test]
fn nobody_is_let_in_or_out_by_a_copy_that_is_apart() {
    let (laptop, ci, host) = two_machines();
    ok(&ci.run(&["create", "c.md", "--text", "of ci"]));
    ok(&ci.run(&["sync"]));
    ok(&laptop.run(&["create", "l.md", "--text", "of the laptop"]));
    let before = head(&laptop.store());
    let rm = laptop.run(&["replicas", "rm", "ci", "--reason", "stolen", "--json"]);
    assert_eq!(refused(&rm), (Some(15), "apart".into()));
    let (_srv, code) = super::replicas::asking(&host, "srv", &[]);
    let add = laptop.run(&["replicas", "add", "srv", "--code", &code, "--json"]);
    assert_eq!(refused(&add), (Some(15), "apart".into()));
    assert_eq!(head(&laptop.store()), before);
    // It sees by itself that it is apart.
    let listed = ok(&laptop.run(&["replicas", "list"]));
    assert!(listed.contains("has events that are not here"), "{listed}");
    assert!(stdout(&laptop.run(&["doctor"])).contains("machine-apart"));
}

/// The only machine with keys is apart, since an auditor's report came first: it is told to go on, and can.
#[test]
fn the_only_reader_goes_on_with_its_own_history() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let (olga, code) = super::replicas::asking(&host, "olga", &["--audit"]);
    let add = [
        "replicas", "add", "olga", "--role", "auditor", "--code", &code,
    ];
    ok(&laptop.run(&add));
    ok(&olga.run(&["sync"]));
    ok(&laptop.run(&["sync"]));
    ok(&laptop.run(&["create", "l.md", "--text", "of the laptop"]));
    ok(&olga.run(&["report"]));
    ok(&olga.run(&["sync"]));
    let apart = laptop.run(&["sync"]);
    assert_eq!(apart.status.code(), Some(15));
    let told = stderr(&apart);
    assert!(
        told.contains("1 by olga")
            && told.contains("go on with this copy")
            && !told.contains("remove this"),
        "{told}"
    );
    let other = laptop.path().join("other.git");
    super::bare(&other);
    ok(&laptop.run(&["remote", "add", "next", path(&other)]));
    ok(&laptop.run(&["sync", "next"]));
    ok(&laptop.run(&["remote", "rm", "origin"]));
    let new = olga.path().join("new");
    ok(&olga.run(&[
        "clone",
        path(&other),
        path(&new),
        "--name",
        "olga",
        "--audit",
    ]));
    ok(&laptop.run(&["sync"]));
    ok(&on(&olga, "new", &["sync"]));
    assert!(ok(&on(&olga, "new", &["log", "-n", "1"])).contains("create"));
}
