//! What an owner decides about copies elsewhere: which hosts are looked at and how, when a copy closes, and
//! what a hold keeps.

use std::fs;
use std::process::Output;

use serde_json::{Value, json};

use super::hosts::shell;
use super::replicas::{asking, joined, receipt_on};
use super::{bare, head, home_with_host, ok, path, refused};
use crate::support::{Home, git, json_lines, stderr, stdout};

fn verify_remote(home: &Home) -> (Option<i32>, Value) {
    let output = home.run(&["verify", "--remote", "origin", "--json"]);
    let said = serde_json::from_slice(&output.stdout);
    (
        output.status.code(),
        said.unwrap_or_else(|_| panic!("{}", stderr(&output))),
    )
}

/// What a host serves is verified against this copy, and none of it is taken.
#[test]
fn a_host_is_verified_without_taking_anything() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let in_step = ok(&laptop.run(&["verify", "--remote", "origin"]));
    assert_eq!(in_step.trim(), "origin serves this copy's history");
    ok(&laptop.run(&["create", "n.md", "--text", "new"]));
    let (code, said) = verify_remote(&laptop);
    assert_eq!((code, &said["missing"]), (Some(0), &json!(1)));
    assert!(said["verification"].is_null(), "{said}");
    ok(&laptop.run(&["sync"]));
    // Events of another machine, with keys that are not here.
    let ci = joined(&laptop, &host, "ci");
    ok(&laptop.run(&["sync"]));
    ok(&ci.run(&["create", "c.md", "--text", "of ci"]));
    ok(&ci.run(&["sync"]));
    let before = head(&laptop.store());
    let (code, said) = verify_remote(&laptop);
    let report = &said["verification"];
    assert_eq!(
        (code, &report["findings_total"]),
        (Some(0), &json!(0)),
        "{said}"
    );
    assert_eq!(said["head"], head(&host).trim());
    assert_eq!(head(&laptop.store()), before);
    // What somebody made of it.
    let forgeries = [
        ("git commit-tree -p main -m x main^{tree}", "unsigned"),
        ("git commit-tree -p main~1 -m x main^{tree}", "unsigned"),
        (
            "git cat-file commit main | sed 's/^gpgsig/encoding x\\ngpgsig/' | git hash-object -t commit -w --stdin",
            "commit-form",
        ),
        (
            "git cat-file commit main | sed \"s/^author/parent $(git rev-parse main~2)\\nauthor/\" | git hash-object -t commit -w --stdin",
            "merge",
        ),
    ];
    let end = head(&host);
    for (made, id) in forgeries {
        shell(&host, &format!("git update-ref refs/heads/main $({made})"));
        let (code, said) = verify_remote(&laptop);
        assert_eq!(code, Some(13), "{said}");
        let found = said["verification"]["findings"].as_array().expect("a list");
        assert!(found.iter().any(|found| found["id"] == id), "{id}: {said}");
        assert_eq!(head(&laptop.store()), before);
        shell(&host, &format!("git update-ref refs/heads/main {end}"));
    }
    // Both wrote: the host's events are in order, and go on from another event.
    ok(&laptop.run(&["create", "o.md", "--text", "of the laptop"]));
    let (code, said) = verify_remote(&laptop);
    assert_eq!((code, &said["apart"]), (Some(15), &json!(true)), "{said}");
    assert_eq!(said["verification"]["findings_total"], 0, "{said}");
    // A copy without keys asks the same; what the host lacks is here.
    ok(&laptop.run(&["clone", path(&host), "keyless"]));
    let ask = ["verify", "--remote", "origin", "--identity", "/nowhere"];
    let said = ok(&super::on(&laptop, "keyless", &ask));
    assert_eq!(said.trim(), "origin serves this copy's history");
    shell(&host, "git update-ref refs/heads/main main~1");
    let said = ok(&super::on(&laptop, "keyless", &ask));
    assert!(said.contains("lacks 1 event"), "{said}");
    shell(&host, &format!("git update-ref refs/heads/main {end}"));
    // A host that lacks what ci signed for.
    shell(&host, "git update-ref refs/heads/main main~1");
    let less = laptop.run(&["verify", "--remote", "origin", "--json"]);
    assert_eq!(refused(&less), (Some(13), "remote_withholds".into()));
    shell(&host, "git update-ref -d refs/heads/main");
    let none = laptop.run(&["verify", "--remote", "origin", "--json"]);
    assert_eq!(refused(&none), (Some(4), "remote_empty".into()));
    assert_eq!(laptop.run(&["verify", "--full"]).status.code(), Some(0));
}

/// A merge is read, and refused by its name: this version makes none.
#[test]
fn a_merge_is_not_taken_yet() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    shell(
        &host,
        "git update-ref refs/heads/main $(git cat-file commit main |
           sed \"s/^author/parent $(git rev-parse main~2)\\nauthor/\" |
           git hash-object -t commit -w --stdin)",
    );
    let before = head(&laptop.store());
    for verb in ["pull", "sync"] {
        let refusal = laptop.run(&[verb, "--json"]);
        let said = stderr(&refusal);
        assert!(!refusal.status.success(), "{verb}");
        assert!(
            said.contains("diverged") || said.contains("a merge of two histories"),
            "{said}"
        );
        assert_eq!(head(&laptop.store()), before);
    }
    // One that goes on from here.
    let whole = laptop.path().join("whole.git");
    bare(&whole);
    ok(&laptop.run(&["remote", "rm", "origin"]));
    ok(&laptop.run(&["remote", "add", "origin", path(&whole)]));
    ok(&laptop.run(&["push"]));
    shell(
        &whole,
        "git update-ref refs/heads/main $(git cat-file commit main |
           sed \"s/^parent.*/parent $(git rev-parse main)\\nparent $(git rev-parse main~1)/\" |
           git hash-object -t commit -w --stdin)",
    );
    for verb in ["pull", "sync"] {
        let refusal = laptop.run(&[verb, "--json"]);
        assert_eq!(refused(&refusal), (Some(13), "unverified".into()), "{verb}");
        assert!(stderr(&refusal).contains("merge"), "{}", stderr(&refusal));
        assert_eq!(head(&laptop.store()), before);
    }
}

/// Hosts that refuse refs beside branches get cards as branches, and a machine that was not told finds them
/// there.
#[test]
fn a_host_that_takes_branches_alone() {
    let (laptop, host) = home_with_host();
    ok(&git(
        &host,
        &["config", "transfer.hideRefs", "refs/agekeep"],
    ));
    let refusal = laptop.run(&["sync", "--json"]);
    assert_eq!(refused(&refusal), (Some(16), "unreachable".into()));
    assert!(
        stderr(&refusal).contains("--branches"),
        "{}",
        stderr(&refusal)
    );
    ok(&laptop.run(&["remote", "rm", "origin"]));
    ok(&laptop.run(&["remote", "add", "origin", path(&host), "--branches"]));
    ok(&laptop.run(&["sync"]));
    let (ci, code) = asking(&host, "ci", &[]);
    ok(&laptop.run(&["replicas", "add", "ci", "--code", &code]));
    ok(&laptop.run(&["sync"]));
    ok(&ci.run(&["sync"]));
    assert!(ok(&ci.run(&["view", "a.md"])).contains("one"));
    ok(&ci.run(&["sync"]));
    ok(&laptop.run(&["sync"]));
    // Both wrote: the line is a branch too.
    ok(&laptop.run(&["create", "l.md", "--text", "l"]));
    ok(&ci.run(&["create", "c.md", "--text", "c"]));
    ok(&laptop.run(&["sync"]));
    assert_eq!(
        refused(&ci.run(&["sync", "--json"])),
        (Some(15), "apart".into())
    );
    let refs = stdout(&git(&host, &["for-each-ref", "--format=%(refname)"]));
    let count = |prefix: &str| refs.lines().filter(|name| name.starts_with(prefix)).count();
    assert_eq!(count("refs/heads/agekeep/cards/"), 2, "{refs}");
    assert_eq!(count("refs/heads/agekeep/lines/"), 1, "{refs}");
    assert_eq!(count("refs/agekeep/"), 0, "{refs}");
    let mirror = ci.path().join("mirror.git");
    let mut clone = std::process::Command::new("git");
    clone.args(["clone", "-q", "--mirror", path(&host)]);
    ok(&clone.arg(&mirror).output().expect("git"));
    let report = super::on(&ci, "mirror.git", &["verify", "--json"]);
    let report: Value = serde_json::from_slice(&report.stdout).expect("JSON");
    let ids = report["findings"].as_array().expect("a list").iter();
    let ids: Vec<_> = ids.map(|finding| &finding["id"]).collect();
    assert_eq!(ids, ["keyring-missing"], "{report}");
    // A machine that leaves says so there.
    ok(&laptop.run(&["replicas", "list"]));
}

/// With `replicas.closes_after` a forgotten copy answers nothing until it has synced.
#[test]
fn a_copy_that_is_out_of_touch_answers_nothing() {
    let laptop = Home::empty().made_by(&["init", "--trial", "--now", "2026-01-01"]);
    let host = laptop.path().join("host.git");
    bare(&host);
    let at = |machine: &Home, day: &str, args: &[&str]| {
        machine.run(&[args, &["--now", day, "--json"]].concat())
    };
    ok(&at(
        &laptop,
        "2026-01-02",
        &["create", "a.md", "--text", "one"],
    ));
    ok(&at(
        &laptop,
        "2026-01-02",
        &["policy", "set", "replicas.closes_after", "30d"],
    ));
    let set = ok(&at(
        &laptop,
        "2026-01-02",
        &["policy", "get", "replicas.closes_after"],
    ));
    assert!(set.contains("30d"), "{set}");
    assert!(ok(&laptop.run(&["policy", "get"])).contains("closes_after = \"30d\""));
    // A copy without a remote, or that never reached one, has nobody to ask.
    ok(&at(&laptop, "2026-03-01", &["view", "a.md"]));
    ok(&laptop.run(&["remote", "add", "origin", path(&host)]));
    ok(&at(&laptop, "2026-03-01", &["view", "a.md"]));
    ok(&at(&laptop, "2026-03-01", &["sync"]));
    let (ci, code) = asking(&host, "ci", &["--now", "2026-03-01"]);
    ok(&at(
        &laptop,
        "2026-03-02",
        &["replicas", "add", "ci", "--code", &code],
    ));
    ok(&at(&ci, "2026-03-02", &["sync"]));
    ok(&at(&laptop, "2026-03-03", &["sync"]));
    ok(&at(
        &laptop,
        "2026-03-03",
        &["erase", "a.md", "--yes", "--reason", "x"],
    ));
    ok(&at(&laptop, "2026-03-03", &["sync"]));
    assert!(ok(&at(&ci, "2026-03-31", &["view", "a.md"])).contains("one"));
    for args in [
        &["view", "a.md"][..],
        &["create", "b.md", "--text", "x"],
        &["log"],
        &["show", "HEAD"],
        &["diff", "a.md"],
        &["search", "one"],
        &["export", "-"],
        &["policy", "set", "replicas.closes_after", "never"],
    ] {
        let refusal = at(&ci, "2026-04-02", args);
        assert_eq!(
            refused(&refusal),
            (Some(12), "out_of_touch".into()),
            "{args:?}"
        );
        assert!(!stdout(&refusal).contains("one"), "{args:?}");
    }
    let mut tool = ci.command(&["tool", "--now", "2026-04-02"]);
    tool.env("AGEKEEP_STORE", ci.store());
    let view = b"{\"command\":\"view\",\"path\":\"/memories/a.md\"}\n";
    let fed = crate::support::feed(tool, view);
    assert_eq!((fed.status.code(), stdout(&fed)), (Some(12), String::new()));
    // What it had read before it closed is an event of its own, so that the two are apart: it stays closed.
    assert_eq!(
        refused(&at(&ci, "2026-04-02", &["sync"])),
        (Some(15), "apart".into())
    );
    assert_eq!(refused(&at(&ci, "2026-04-02", &["log"])).0, Some(12));
    // One that only has less than the others syncs, and is open again.
    let new = ci.path().join("new");
    ok(&at(
        &ci,
        "2026-04-02",
        &["clone", path(&host), path(&new), "--name", "ci"],
    ));
    ok(&at(&laptop, "2026-04-02", &["sync"]));
    let on_new = |day: &str, args: &[&str]| {
        super::on(&ci, "new", &[args, &["--now", day, "--json"]].concat())
    };
    ok(&on_new("2026-04-02", &["sync"]));
    assert_eq!(refused(&on_new("2026-06-01", &["log"])).0, Some(12));
    ok(&on_new("2026-06-01", &["sync"]));
    ok(&on_new("2026-06-01", &["log"]));
    what_opens_a_closed_copy(&ci, &on_new);
}

/// A push, a pull from a copy that no machine syncs with, and a sync with a remote where no other machine is do
/// not tell what was erased.
fn what_opens_a_closed_copy(ci: &Home, on_new: &dyn Fn(&str, &[&str]) -> Output) {
    let other = ci.path().join("other.git");
    bare(&other);
    ok(&super::on(
        ci,
        "new",
        &["remote", "add", "other", path(&other)],
    ));
    ok(&on_new("2026-06-02", &["push", "other"]));
    ok(&on_new("2026-08-01", &["push", "other"]));
    ok(&on_new("2026-08-01", &["pull", "other"]));
    ok(&on_new("2026-08-01", &["push", "origin"]));
    let lonely = ci.path().join("lonely.git");
    bare(&lonely);
    ok(&super::on(
        ci,
        "new",
        &["remote", "add", "lonely", path(&lonely)],
    ));
    ok(&on_new("2026-08-01", &["sync", "lonely"]));
    assert_eq!(refused(&on_new("2026-08-01", &["log"])).0, Some(12));
    // Nor does it help to remove the remote where the others are, and to add it again.
    let local = ci.path().join("new/local.toml");
    let kept = fs::read(&local).expect("read");
    let url = super::on(ci, "new", &["remote", "list", "--json"]);
    let url = json_lines(&url.stdout)[0]["url"]
        .as_str()
        .map(str::to_owned);
    ok(&super::on(ci, "new", &["remote", "rm", "origin"]));
    assert_eq!(refused(&on_new("2026-08-01", &["log"])).0, Some(12));
    let add = ["remote", "add", "origin", &url.expect("a URL")];
    ok(&super::on(ci, "new", &add));
    assert_eq!(refused(&on_new("2026-08-01", &["log"])).0, Some(12));
    // Where that host is gone for good, another one counts once it was reached.
    ok(&super::on(ci, "new", &["remote", "rm", "origin"]));
    ok(&on_new("2026-08-01", &["sync", "lonely"]));
    ok(&on_new("2026-08-01", &["log"]));
    fs::write(&local, kept).expect("written");
    // A pull that finds nothing new has reached the remote.
    ok(&on_new("2026-08-01", &["pull", "origin"]));
    ok(&on_new("2026-08-01", &["log"]));
    // Of a time that is still to come nobody knows when it was.
    assert_eq!(refused(&on_new("2026-05-01", &["log"])).0, Some(12));
    assert!(!on_new("2026-06-01", &["view", "a.md"]).status.success());
}

/// A hold that was begun before an erasure came: nothing of what it holds is destroyed there, and the receipt
/// says so.
#[test]
fn a_hold_that_met_an_erasure_keeps_its_keys() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let ci = joined(&laptop, &host, "ci");
    ok(&laptop.run(&["sync"]));
    ok(&laptop.run(&["signers", "role", "ci", "owner"]));
    ok(&laptop.run(&["sync"]));
    ok(&ci.run(&["sync"]));
    ok(&ci.run(&["hold", "add", "a.md", "--reason", "a case"]));
    ok(&laptop.run(&["erase", "a.md", "--yes", "--reason", "asked for"]));
    ok(&laptop.run(&["sync"]));
    for _ in 0..2 {
        let apart = ci.run(&["sync", "--json"]);
        assert_eq!(refused(&apart), (Some(15), "apart".into()));
        assert!(ok(&ci.run(&["view", "a.md"])).contains("one"));
        let erasure = ci.run(&["erase", "a.md", "--yes", "--reason", "y", "--json"]);
        assert!(!erasure.status.success(), "{}", stdout(&erasure));
    }
    ok(&laptop.run(&["sync"]));
    let receipt = receipt_on(&laptop);
    assert!(receipt.contains("not yet by ci"), "{receipt}");
    let held = ok(&ci.run(&["hold", "list"]));
    assert!(held.contains("a.md"), "{held}");
    for machine in [&laptop, &ci] {
        assert_eq!(machine.run(&["verify", "--full"]).status.code(), Some(0));
    }
}
