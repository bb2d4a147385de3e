//! Hosts that serve something else than the store's history in order: nothing of it is taken.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{bare, contents, head, home_with_host, ok, on, path, refused, verified};
use crate::support::{Home, every, feed, git, has_peer, stderr, stdout};
use crate::zoo::scenario::Scenario;

/// Runs stock git on a host, with the shell.
pub(super) fn shell(host: &Path, script: &str) {
    let mut sh = Command::new("sh");
    sh.args(["-euc", script])
        .current_dir(host)
        .env("GIT_DIR", host)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_AUTHOR_NAME", "owner")
        .env("GIT_AUTHOR_EMAIL", "owner@agekeep")
        .env("GIT_COMMITTER_NAME", "owner")
        .env("GIT_COMMITTER_EMAIL", "owner@agekeep");
    ok(&feed(sh, b""));
}

/// What a host does, in shell, the code of the error with which a pull ends, and what `verify --remote` finds.
const HOSTS: &[(&str, &str, &str, &[&str])] = &[
    (
        "an unsigned commit",
        "git update-ref refs/heads/main $(git commit-tree -p main -m x main^{tree})",
        "unverified",
        &["commit-form", "unsigned"],
    ),
    (
        "a commit that a stranger signed",
        "ssh-keygen -q -t ed25519 -N '' -f $GIT_DIR/key
         git update-ref refs/heads/main $(git -c gpg.format=ssh -c user.signingkey=$GIT_DIR/key \
           commit-tree -S -p main -m x main^{tree})",
        "unverified",
        &["commit-form", "signer"],
    ),
    (
        "a newest commit whose message is of the one before",
        "git cat-file commit main > c
         git update-ref refs/heads/main $(sed \"s/^parent .*/parent $(git rev-parse main)/\" c |
           git hash-object -t commit -w --stdin)",
        "unverified",
        &["chain", "signature"],
    ),
    (
        "a merge",
        "git update-ref refs/heads/main $(git commit-tree -p main -p main~1 -m x main^{tree})",
        "unverified",
        &["commit-form", "unsigned"],
    ),
    (
        "another end of history",
        "git update-ref refs/heads/main $(git commit-tree -p main~1 -m x main^{tree})",
        "diverged",
        &["commit-form", "unsigned"],
    ),
    (
        "a new beginning",
        "git update-ref refs/heads/main $(git commit-tree -m x main^{tree})",
        "diverged",
        &["commit-form", "unsigned"],
    ),
    (
        "a tree in the place of the branch",
        "tree=$(git rev-parse main^{tree}); echo $tree > refs/heads/main",
        "unreachable",
        &["object-damaged"],
    ),
    (
        "no branch",
        "git update-ref -d refs/heads/main; git update-ref refs/heads/other $(git commit-tree -m x \
         $(git mktree < /dev/null))",
        "remote_empty",
        &["remote_empty"],
    ),
    (
        "a branch whose objects are not there",
        "new=$(git commit-tree -p main -m x main^{tree}); git update-ref refs/heads/main $new
         rm -f objects/$(echo $new | cut -c1-2)/$(echo $new | cut -c3-)",
        "unreachable",
        &["unreachable"],
    ),
    (
        "a damaged object",
        "new=$(git commit-tree -p main -m x main^{tree}); git update-ref refs/heads/main $new
         f=objects/$(echo $new | cut -c1-2)/$(echo $new | cut -c3-); chmod u+w $f; echo x > $f",
        "unreachable",
        &["unreachable"],
    ),
    (
        "no repository",
        "rm -r HEAD objects refs",
        "unreachable",
        &["unreachable"],
    ),
];

/// What `verify --remote` finds, without repeats, or the code of its error.
pub(super) fn found_at(home: &Home) -> Vec<String> {
    let output = home.run(&["verify", "--remote", "origin", "--json"]);
    let Ok(report) = serde_json::from_slice::<Value>(&output.stdout) else {
        return vec![refused(&output).1];
    };
    let findings = report["verification"]["findings"].as_array();
    let ids = findings.into_iter().flatten();
    let mut ids: Vec<String> = ids
        .filter_map(|finding| Some(finding["id"].as_str()?.to_owned()))
        .collect();
    if report["apart"] == true {
        ids.push("apart".into());
    }
    ids.sort();
    ids.dedup();
    ids
}

#[test]
fn nothing_is_taken_of_a_history_that_does_not_verify() {
    if !has_peer("ssh-keygen", "hosts serve commits that strangers signed") {
        return;
    }
    for (what, script, code, findings) in HOSTS {
        let (home, host) = home_with_host();
        ok(&home.run(&["push"]));
        ok(&home.run(&["clone", path(&host), "copy"]));
        shell(&host, script);
        assert_eq!(found_at(&home), *findings, "{what}");
        // The store has all keys, and the copy none.
        for copy in ["store", "copy"] {
            let place = home.path().join(copy);
            let (before, left) = (head(&place), contents(&place));
            let pull = on(&home, copy, &["pull", "--json"]);
            assert_eq!(refused(&pull).1, *code, "{what}, {copy}: {}", stderr(&pull));
            assert_eq!(head(&place), before, "{what}, {copy}");
            assert_eq!(contents(&place), left, "{what}, {copy}");
        }
        assert_eq!(verified(&home, "store"), Some(0), "{what}");
        assert_eq!(verified(&home, "copy"), Some(3), "{what}");
        let made = home.run(&["clone", path(&host), "new", "--json"]);
        assert!(!made.status.success(), "{what}: {}", stdout(&made));
        assert!(!home.path().join("new").exists(), "{what}");
        // Local work goes on.
        ok(&home.run(&["create", "c.md", "--text", "three\n"]));
    }
}

/// A host that lost events gets them again, and says nothing to the contrary.
#[test]
fn a_host_that_was_turned_back_is_named_and_gets_its_events_again() {
    let (home, host) = home_with_host();
    ok(&home.run(&["push"]));
    ok(&home.run(&["clone", path(&host), "copy"]));
    shell(
        &host,
        "git update-ref refs/heads/main main~2; git reflog expire --all; git gc -q --prune=now",
    );
    let pull = ok(&on(&home, "copy", &["pull"]));
    assert!(pull.contains("lacks 2 events"), "{pull}");
    let push = home.run(&["push"]);
    assert!(
        ok(&push).contains("2 events sent, 3 events there now"),
        "{}",
        stdout(&push)
    );
    assert!(
        stderr(&push).contains("had lost 2 events"),
        "{}",
        stderr(&push)
    );
    assert_eq!(head(&host), head(&home.store()));
    // A sync says so too.
    ok(&home.run(&["sync"]));
    shell(&host, "git update-ref refs/heads/main main~1");
    let sync = home.run(&["sync"]);
    assert!(
        stderr(&sync).contains("had lost 1 event"),
        "{}",
        stderr(&sync)
    );
    assert_eq!(head(&host), head(&home.store()));
    assert!(!stderr(&home.run(&["sync"])).contains("had lost"));
}

#[test]
fn another_store_is_not_taken_for_this_one() {
    let (home, host) = home_with_host();
    ok(&home.run(&["push"]));
    let (other, _) = home_with_host();
    ok(&other.run(&["remote", "add", "theirs", path(&host)]));
    let before = (head(&host), head(&other.store()));
    assert_eq!(
        refused(&other.run(&["push", "theirs", "--json"])).1,
        "remote_ahead"
    );
    assert_eq!(
        refused(&other.run(&["pull", "theirs", "--json"])).1,
        "diverged"
    );
    assert_eq!((head(&host), head(&other.store())), before);
    // Both say what it is.
    for args in [
        &["verify", "--remote", "theirs", "--json"][..],
        &["sync", "theirs", "--json"],
    ] {
        let refusal = other.run(args);
        assert_eq!(
            refused(&refusal),
            (Some(13), "unverified".into()),
            "{args:?}"
        );
        assert!(stderr(&refusal).contains("that of another store"));
    }
    // A store that is used is a repository too: it can be pulled from, and not pushed to.
    for url in [
        path(&other.store()).to_owned(),
        format!("file://{}", path(&other.store())),
    ] {
        ok(&other.run(&["remote", "add", "itself", &url]));
        let push = other.run(&["push", "itself", "--json"]);
        assert_eq!(refused(&push), (Some(2), "invalid".into()));
        ok(&other.run(&["pull", "itself"]));
        ok(&other.run(&["remote", "rm", "itself"]));
    }
    assert_eq!(verified(&other, "store"), Some(0));
}

/// A checkpoint that somebody trusted signed holds a clone to its history.
#[test]
fn a_clone_is_held_to_a_checkpoint() {
    let (home, host) = home_with_host();
    ok(&home.run(&["checkpoint", "--out", "early.note"]));
    ok(&home.run(&["push"]));
    ok(&home.run(&["create", "c.md", "--text", "three\n"]));
    ok(&home.run(&["checkpoint", "--out", "late.note"]));
    let clone =
        |note: &str| home.run(&["clone", path(&host), "copy", "--checkpoint", note, "--json"]);
    assert_eq!(
        refused(&clone("late.note")),
        (Some(13), "unverified".into())
    );
    assert!(!home.path().join("copy").exists());
    // Its hint names no remote and no copy, because there is none.
    let told = stderr(&home.run(&["clone", path(&host), "copy", "--checkpoint", "late.note"]));
    assert!(told.contains("clone from another host"), "{told}");
    ok(&clone("early.note"));
    let said: Value =
        serde_json::from_slice(&on(&home, "copy", &["verify", "--json"]).stdout).expect("JSON");
    assert_eq!(said["events"], 3);
}

/// The law: `clone` makes a copy of exactly what a mirror by stock git would verify as.
#[test]
fn every_forged_history_of_the_zoo_is_refused_as_its_mirror_is() {
    let mut scenarios = Scenario::all();
    let step = every(3);
    let mut index = 0;
    scenarios.retain(|_| {
        index += 1;
        index % step == 0
    });
    let (mut refusals, mut copies, mut faults) = (0, 0, Vec::new());
    for scenario in scenarios {
        let home = scenario.home();
        let mirror = home.path().join("mirror.git");
        let mut clone = Command::new("git");
        clone
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null");
        clone
            .args(["clone", "-q", "--no-local", "--mirror"])
            .arg(home.store())
            .arg(&mirror);
        let cloned = clone.output().expect("git runs").status.success();
        let has_branch = || {
            git(&mirror, &["rev-parse", "-q", "--verify", "main"])
                .status
                .success()
        };
        let expected = cloned && has_branch() && {
            let verify = on(
                &home,
                "mirror.git",
                &["verify", "--identity", "/nowhere", "--json"],
            );
            let report: Value = serde_json::from_slice(&verify.stdout).expect("JSON");
            let findings = report["findings"].as_array().expect("a list").iter();
            // Git's own files in the mirror are not what a clone takes.
            let mut ids = findings.filter_map(|finding| finding["id"].as_str());
            !ids.any(|id| !["refs", "head", "keyring-missing", "replace-refs"].contains(&id))
        };
        let made = home.run(&["clone", path(&home.store()), "copy", "--json"]);
        let is_there = home.path().join("copy").exists();
        if made.status.success() != is_there || is_there != expected {
            let name = &scenario.name;
            faults.push(format!("{name}: expected {expected}, {}", stderr(&made)));
        }
        if is_there {
            copies += 1;
            assert_eq!(verified(&home, "copy"), Some(3), "{}", scenario.name);
        } else {
            refusals += 1;
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(
        refusals > 5 && copies > 5,
        "{refusals} refusals, {copies} copies"
    );
}

/// Git runs hooks with the user's rights, and a folder may be anybody's.
#[test]
fn no_hook_of_a_folder_runs() {
    let (home, host) = home_with_host();
    let proof = home.path().join("proof");
    for hook in [
        "pre-receive",
        "update",
        "post-receive",
        "post-update",
        "reference-transaction",
    ] {
        let file = host.join("hooks").join(hook);
        fs::create_dir_all(host.join("hooks")).expect("made");
        fs::write(
            &file,
            format!("#!/bin/sh\necho {hook} >> {}\n", path(&proof)),
        )
        .expect("written");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        fs::set_permissions(&file, mode).expect("set");
    }
    // Programs that its settings name do not, either.
    let borrowed = home.path().join("borrowed.git");
    bare(&borrowed);
    let alternates = format!("{}/objects\n", path(&borrowed));
    fs::write(host.join("objects/info/alternates"), alternates).expect("written");
    let command = format!("echo refs >> {}; true", path(&proof));
    ok(&git(
        &host,
        &["config", "core.alternateRefsCommand", &command],
    ));
    ok(&home.run(&["push"]));
    let url = format!("file://{}", path(&host));
    ok(&home.run(&["remote", "add", "by-url", &url]));
    ok(&home.run(&["create", "c.md", "--text", "three\n"]));
    ok(&home.run(&["push", "by-url"]));
    ok(&home.run(&["clone", &url, "copy"]));
    assert!(!proof.exists(), "{:?}", fs::read_to_string(&proof));
    folders_that_run_programs(&home, &proof);
    assert!(!proof.exists(), "{:?}", fs::read_to_string(&proof));
    // The control: stock git runs them.
    let mut push = Command::new("git");
    push.env("GIT_CONFIG_GLOBAL", "/dev/null")
        .arg("--git-dir")
        .arg(home.store());
    ok(&push
        .args(["push", "-q", path(&host), "main:other"])
        .output()
        .expect("git runs"));
    let ran = fs::read_to_string(&proof).expect("they ran");
    assert!(ran.contains("refs") && ran.contains("pre-receive"), "{ran}");
}

/// Pushes to a folder that is checked out at each push, and to one that fetches what it lacks.
fn folders_that_run_programs(home: &Home, proof: &Path) {
    let command = |said: &str| format!("echo {said} >> {}; false", path(proof));
    let configure = |host: &Path, settings: &[(&str, &str)]| {
        for (key, value) in settings {
            ok(&git(host, &["config", key, value]));
        }
    };
    let host = home.path().join("tree");
    let mut init = Command::new("git");
    init.args(["init", "-q", "--initial-branch=main"])
        .arg(&host);
    ok(&init.output().expect("git runs"));
    fs::write(host.join(".git/info/attributes"), "* filter=x\n").expect("written");
    let settings = [
        ("receive.denyCurrentBranch", "updateInstead"),
        ("core.fsmonitor", &command("monitor")),
        ("filter.x.smudge", &command("filter")),
    ];
    configure(&host.join(".git"), &settings);
    ok(&home.run(&["remote", "add", "tree", path(&host)]));
    assert_eq!(refused(&home.run(&["push", "tree", "--json"])).0, Some(16));
    let partial = home.path().join("partial.git");
    bare(&partial);
    ok(&home.run(&["remote", "add", "partial", path(&partial)]));
    ok(&home.run(&["push", "partial"]));
    let settings = [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "evil"),
        ("remote.evil.promisor", "true"),
        ("remote.evil.url", path(&partial)),
        ("remote.evil.uploadpack", &command("upload-pack")),
    ];
    configure(&partial, &settings);
    let lost = stdout(&git(&partial, &["rev-parse", "main^{tree}"]));
    let (folder, file) = lost.trim().split_at(2);
    for entry in fs::read_dir(partial.join("objects/pack"))
        .expect("there")
        .flatten()
    {
        fs::remove_file(entry.path()).expect("removed");
    }
    drop(fs::remove_file(
        partial.join("objects").join(folder).join(file),
    ));
    ok(&home.run(&["create", "partial.md", "--text", "x"]));
    assert_eq!(
        refused(&home.run(&["push", "partial", "--json"])).0,
        Some(16)
    );
}

/// A host that lists more refs than are read is named, rather than taken for one that lacks the rest.
#[test]
fn a_host_that_hides_its_branch_behind_other_refs_is_named() {
    let (home, host) = home_with_host();
    ok(&home.run(&["sync"]));
    let card = stdout(&git(
        &host,
        &["for-each-ref", "--format=%(refname)", "refs/agekeep/cards"],
    ));
    let line = card.trim().replace("cards", "lines");
    let end = head(&host);
    // A line of 130 characters for each.
    let long = "x".repeat(60);
    let mut packed = String::from("# pack-refs with: peeled fully-peeled sorted\n");
    for number in 0..10_000 {
        packed += &format!("{} {line}-{long}{number:05}\n", end.trim());
    }
    fs::write(host.join("packed-refs"), packed).expect("written");
    for verb in ["sync", "push"] {
        let told = home.run(&[verb, "--json"]);
        if verb == "sync" {
            assert_eq!(refused(&told), (Some(16), "unreachable".into()));
            assert!(stderr(&told).contains("bytes of refs"), "{}", stderr(&told));
        }
    }
    assert_eq!(verified(&home, "store"), Some(0));
}

/// Git's words are shown; what a terminal would obey in them is not.
#[test]
fn a_host_that_floods_or_writes_to_the_terminal_is_shown_in_a_line() {
    let home = Home::with_store();
    let tools = home.path().join("tools");
    fs::create_dir(&tools).expect("made");
    let host = home.path().join("host.git");
    bare(&host);
    ok(&home.run(&["remote", "add", "origin", path(&host)]));
    let run = |script: &str| {
        let fake = tools.join("git");
        fs::write(&fake, format!("#!/bin/sh\n{script}\n")).expect("written");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        fs::set_permissions(&fake, mode).expect("set");
        let mut push = home.command(&["push"]);
        push.env("PATH", format!("{}:/usr/bin:/bin", path(&tools)));
        feed(push, b"")
    };
    for script in [
        "yes 'remote: \u{1b}]0;title\u{7}\u{1b}[31mred' | head -c 3000000 >&2; exit 128",
        "yes x | tr -d '\\n' | head -c 3000000 >&2; exit 1",
        "yes x | head -c 9000000; exit 1",
        "printf '%040d\\trefs/heads/main\\n' 7; exit 0",
        "printf 'zz\\trefs/heads/main\\n'; exit 0",
        "head -c 100000 /dev/zero; exit 1",
        "exit 3",
    ] {
        let output = run(script);
        let said = stderr(&output);
        let code = output.status.code();
        assert!(
            matches!(code, Some(15 | 16)),
            "{script}: {code:?} {said:.200}"
        );
        assert!(
            said.len() < 2_000 && !said.contains('\u{1b}'),
            "{script}: {said:.300}"
        );
        assert!(said.contains("hint: "), "{script}: {said:.300}");
    }
    let mut push = home.command(&["push", "--json"]);
    push.env("PATH", "/nowhere");
    assert_eq!(refused(&feed(push, b"")), (Some(16), "no_git".into()));
    assert_eq!(verified(&home, "store"), Some(0));
}
