//! Several machines with a store: keys come with history, an erasure reaches all of them, and a host that
//! says otherwise is named.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::hosts::shell;
use super::{bare, copy_folder, head, home_with_host, ok, path, refused, traced};
use crate::support::forge::{self, Means};
use crate::support::{
    AFTER_ALL, Home, assert_verify_ended, every, feed, git, has_peer, json_lines, last_time,
    stderr, stdout,
};

/// A machine that has cloned and asks for keys, and its code.
pub(super) fn asking(host: &Path, name: &str, more: &[&str]) -> (Home, String) {
    let machine = Home::empty();
    let store = machine.store();
    let args = ["clone", path(host), path(&store), "--name", name, "--json"];
    let cloned = machine.run(&[&args[..], more].concat());
    let code = json_lines(&cloned.stdout)[0]["code"]
        .as_str()
        .map(str::to_owned);
    (
        machine,
        code.unwrap_or_else(|| panic!("{}", stderr(&cloned))),
    )
}

/// A machine that a reader has let in, with its keys.
pub(super) fn joined(reader: &Home, host: &Path, name: &str) -> Home {
    let (machine, code) = asking(host, name, &[]);
    ok(&reader.run(&["replicas", "add", name, "--code", &code]));
    ok(&machine.run(&["sync"]));
    machine
}

/// What a sync says of itself.
fn synced(machine: &Home) -> Value {
    let output = machine.run(&["sync", "--json"]);
    let lines = json_lines(&output.stdout);
    assert_eq!(lines.len(), 1, "{}", stderr(&output));
    lines[0].clone()
}

pub(super) fn verified(machine: &Home) -> Option<i32> {
    let output = machine.run(&["verify", "--full", "--json"]);
    let report = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_verify_ended(&output, &report);
    output.status.code()
}

fn cards(host: &Path) -> Vec<String> {
    let refs = git(
        host,
        &[
            "for-each-ref",
            "--format=%(refname) %(objectname)",
            "refs/agekeep",
        ],
    );
    stdout(&refs).lines().map(str::to_owned).collect()
}

/// The receipt of the newest erasure, with single blanks.
pub(super) fn receipt_on(machine: &Home) -> String {
    let receipt = ok(&machine.run(&["receipt", "show"]));
    receipt.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The ref of the card of a machine.
pub(super) fn card_of(host: &Path, name: &str) -> String {
    let refs = git(
        host,
        &[
            "for-each-ref",
            "--format=%(refname) %(subject)",
            "refs/agekeep/cards",
        ],
    );
    let wanted = format!(" card of {name}");
    let refs = stdout(&refs);
    let line = refs.lines().find(|line| line.ends_with(&wanted));
    line.expect("it has one")
        .split(' ')
        .next()
        .expect("a name")
        .to_owned()
}

#[test]
fn machines_take_turns_and_keys_come_with_the_history() {
    let (laptop, host) = home_with_host();
    let first = synced(&laptop);
    assert_eq!((&first["sent"], &first["mailed"]), (&json!(3), &json!(0)));
    let (ci, code) = asking(&host, "ci", &[]);
    let waiting = ci.run(&["sync", "--json"]);
    assert_eq!(refused(&waiting), (Some(12), "waiting_for_keys".into()));
    assert!(stderr(&waiting).contains(&code), "{}", stderr(&waiting));
    ok(&laptop.run(&["replicas", "add", "ci", "--code", &code]));
    let came = synced(&ci);
    assert_eq!(
        (&came["received"], &came["new_keys"]),
        (&json!(2), &json!(true))
    );
    assert!(ok(&ci.run(&["view", "a.md"])).contains("one"));
    // Back and forth: only what was added since travels.
    for turn in 0..3 {
        for (from, to) in [(&ci, &laptop), (&laptop, &ci)] {
            let name = format!(
                "{turn}-{}.md",
                from.path().file_name().expect("a name").display()
            );
            ok(&from.run(&["create", &name, "--text", &name]));
            assert_eq!(synced(from)["mailed"], 1);
            let came = synced(to);
            assert!(came["received"].as_u64() > Some(0), "{came}");
            assert_eq!(came["new_keys"], true);
            assert!(ok(&to.run(&["view", "--raw", &name])).contains(&name));
            // That look is an event, and needs no keys.
            assert_eq!(
                (&synced(to)["sent"], &synced(to)["mailed"]),
                (&json!(1), &json!(0))
            );
            assert_eq!(synced(from)["new_keys"], false);
        }
    }
    let (before, refs) = (head(&host), cards(&host));
    assert_eq!(synced(&laptop)["sent"], 0);
    assert_eq!(synced(&laptop)["received"], 0);
    assert_eq!(
        (head(&host), cards(&host)),
        (before, refs),
        "nothing new was sent"
    );
    for machine in [&laptop, &ci] {
        assert_eq!(verified(machine), Some(0));
        assert_eq!(head(&machine.store()), head(&host));
        let listed = ok(&machine.run(&["replicas", "list"]));
        assert_eq!(listed.lines().count(), 2, "{listed}");
    }
    // What a sync verified is not verified again.
    ok(&laptop.run(&["create", "last.md", "--text", "x"]));
    for machine in [&laptop, &ci] {
        ok(&machine.run(&["sync"]));
    }
    let verify = ok(&ci.run(&["verify", "--json"]));
    let report: Value = serde_json::from_str(&verify).expect("JSON");
    assert_eq!(report["from"], report["events"], "{report}");
    // A mirror of the host by stock git is what it is: a copy without keys.
    let mirror = ci.path().join("mirror.git");
    let mut clone = Command::new("git");
    clone.args(["clone", "-q", "--mirror", path(&host)]);
    ok(&clone.arg(&mirror).output().expect("git"));
    let mut verify = ci.command(&["verify", "--json"]);
    verify.env("AGEKEEP_STORE", &mirror);
    let report: Value = serde_json::from_slice(&feed(verify, b"").stdout).expect("JSON");
    let ids = report["findings"].as_array().expect("a list");
    let ids: Vec<_> = ids.iter().map(|finding| &finding["id"]).collect();
    assert_eq!(ids, ["keyring-missing"], "{report}");
    // Keys that are replaced, and edits under them.
    ok(&ci.run(&["edit", "a.md", "--old", "one", "--new", "ONE"]));
    ok(&ci.run(&["sync"]));
    ok(&laptop.run(&["sync"]));
    ok(&laptop.run(&["keys", "replace"]));
    ok(&laptop.run(&["sync"]));
    ok(&ci.run(&["sync"]));
    assert!(ok(&ci.run(&["view", "a.md"])).contains("ONE"));
    assert_eq!(verified(&ci), Some(0));
}

/// A third machine gets keys from whoever has them, though the one that let it in is away.
#[test]
fn any_reader_s_machine_sends_keys() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let ci = joined(&laptop, &host, "ci");
    let (server, code) = asking(&host, "server", &[]);
    // Only an owner lets machines in; the event alone comes by a plain push.
    let add = ci.run(&["replicas", "add", "server", "--code", &code, "--json"]);
    assert_eq!(refused(&add).0, Some(7), "{}", stderr(&add));
    ok(&laptop.run(&["signers", "role", "ci", "owner"]));
    ok(&laptop.run(&["sync"]));
    ok(&ci.run(&["sync"]));
    ok(&ci.run(&["replicas", "add", "server", "--code", &code]));
    ok(&ci.run(&["create", "c.md", "--text", "three"]));
    // History without its keys: the laptop's card is older than that.
    ok(&ci.run(&["push"]));
    let early = server.run(&["sync", "--json"]);
    assert_eq!(
        refused(&early),
        (Some(12), "no_mail".into()),
        "{}",
        stderr(&early)
    );
    ok(&ci.run(&["sync"]));
    ok(&server.run(&["sync"]));
    assert!(ok(&server.run(&["view", "c.md"])).contains("three"));
    ok(&server.run(&["create", "d.md", "--text", "four"]));
    ok(&server.run(&["sync"]));
    // A machine that was away takes all of it, from one it has never heard of.
    ok(&laptop.run(&["sync"]));
    assert!(ok(&laptop.run(&["view", "d.md"])).contains("four"));
    for machine in [&laptop, &ci, &server] {
        drop(machine.run(&["sync"]));
        assert_eq!(verified(machine), Some(0));
    }
}

#[test]
fn an_auditor_s_machine_opens_no_text_and_stays_up_to_date() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let (sue, code) = asking(&host, "sue", &["--audit"]);
    let reader = laptop.run(&["replicas", "add", "sue", "--code", &code, "--json"]);
    assert_eq!(refused(&reader), (Some(4), "no_request".into()));
    let role = [
        "replicas", "add", "sue", "--role", "auditor", "--code", &code,
    ];
    ok(&laptop.run(&role));
    ok(&sue.run(&["sync"]));
    assert!(!sue.store().join("keyring/ring").exists());
    assert!(!sue.store().join("keyring/epoch.age").exists());
    for change in [
        &["create", "c.md", "--text", "three"][..],
        &["keys", "replace"],
        &["erase", "a.md", "--yes", "--reason", "request 7"],
    ] {
        ok(&laptop.run(change));
        ok(&laptop.run(&["sync"]));
        ok(&sue.run(&["sync"]));
        let log = ok(&sue.run(&["log", "-n", "1", "--json"]));
        assert_eq!(
            json_lines(log.as_bytes())[0]["commit"],
            head(&host).trim(),
            "{log}"
        );
        assert_eq!(refused(&sue.run(&["view", "b.md", "--json"])).0, Some(12));
        assert_eq!(verified(&sue), Some(3));
    }
    let receipt = receipt_on(&sue);
    assert!(receipt.contains("destroyed by owner"), "{receipt}");
    let checked = sue.run(&["receipt", "verify"]);
    assert_eq!(checked.status.code(), Some(3), "{}", stderr(&checked));
    // Nothing that was ever sent to her has a key of a text.
    for mail in mail_at(&host) {
        assert_ne!(mail.name, "readers", "a machine of a reader asked for none");
    }
}

/// A year later, with her identity alone: `pull` brings what came since with the keys that were sent to her. For
/// more, the others have to hear of her first.
#[test]
fn an_auditor_comes_back_after_a_year() {
    let laptop = Home::empty().made_by(&["init", "--trial", "--now", "2026-01-01"]);
    let host = laptop.path().join("host.git");
    bare(&host);
    let on = |machine: &Home, day: &str, args: &[&str]| {
        let more = ["--now", day, "--signing-key", "none"];
        let more = if args[0] == "sync" || machine.path() == laptop.path() {
            &more[..2]
        } else {
            &more[..]
        };
        machine.run(&[args, more].concat())
    };
    ok(&on(
        &laptop,
        "2026-01-02",
        &["create", "a.md", "--text", "one"],
    ));
    ok(&on(
        &laptop,
        "2026-01-02",
        &["remote", "add", "origin", path(&host)],
    ));
    ok(&on(&laptop, "2026-01-02", &["sync"]));
    let (sue, code) = asking(&host, "sue", &["--audit", "--now", "2026-01-03"]);
    let add = [
        "replicas", "add", "sue", "--role", "auditor", "--code", &code,
    ];
    ok(&on(&laptop, "2026-01-03", &add));
    ok(&on(&sue, "2026-01-03", &["sync"]));
    for month in 2..=12 {
        let (day, name) = (format!("2026-{month:02}-10"), format!("{month}.md"));
        ok(&on(&laptop, &day, &["create", &name, "--text", &name]));
    }
    ok(&on(&laptop, "2026-12-11", &["sync"]));
    let looks = |day: &str| {
        let log = ok(&on(&sue, day, &["log", "-n", "1", "--json"]));
        assert_eq!(json_lines(log.as_bytes())[0]["commit"], head(&host).trim());
        assert_eq!(on(&sue, day, &["verify", "--full"]).status.code(), Some(3));
        let report = on(&sue, day, &["report", "--json"]);
        assert!(report.status.success(), "{}", stderr(&report));
        assert_eq!(head(&sue.store()), head(&host), "she records nothing");
    };
    let came = ok(&on(&sue, "2027-01-05", &["pull"]));
    assert!(came.contains("11 events received"), "{came}");
    looks("2027-01-05");
    ok(&on(
        &laptop,
        "2027-01-06",
        &["erase", "a.md", "--yes", "--reason", "request 9"],
    ));
    ok(&on(&laptop, "2027-01-06", &["sync"]));
    ok(&on(&sue, "2027-01-07", &["pull"]));
    looks("2027-01-07");
    let receipt = on(&sue, "2027-01-07", &["receipt", "verify"]);
    assert_eq!(receipt.status.code(), Some(3), "{}", stderr(&receipt));
}

/// A piece of mail that a host has, or had.
struct ArchivedMail {
    name: String,
    bytes: Vec<u8>,
}

/// All mail in a repository, whether a ref still leads to it or not.
fn mail_at(repository: &Path) -> Vec<ArchivedMail> {
    let all = [
        "cat-file",
        "--batch-all-objects",
        "--batch-check=%(objectname) %(objecttype)",
    ];
    let all = stdout(&git(repository, &all));
    let trees = all.lines().filter_map(|line| line.strip_suffix(" tree"));
    let mut found = Vec::new();
    for tree in trees {
        for line in stdout(&git(repository, &["ls-tree", tree])).lines() {
            let (object, name) = line.split_once('\t').expect("an entry");
            if ["readers", "auditors"].contains(&name) {
                let blob = object.rsplit(' ').next().expect("a name");
                let bytes = git(repository, &["cat-file", "blob", blob]).stdout;
                let name = name.to_owned();
                found.push(ArchivedMail { name, bytes });
            }
        }
    }
    found
}

/// Decrypts with stock age; `None` if the identity is not one of its recipients.
fn opened(identity: &Path, sealed: &[u8]) -> Option<Vec<u8>> {
    let mut age = Command::new("age");
    age.arg("-d").arg("-i").arg(identity);
    let output = feed(age, sealed);
    output.status.success().then_some(output.stdout)
}

/// The private half of a machine's mailbox, in a file of its own.
fn mailbox_of(machine: &Home, to: &Path) -> PathBuf {
    let sealed = fs::read(machine.store().join("keyring/mailbox.age")).expect("there");
    let plain = opened(&machine.identity(), &sealed).expect("it is its own");
    let file: Value = serde_json::from_slice(&plain).expect("JSON");
    let name = machine.path().file_name().expect("a name");
    let to = to.join(name);
    fs::write(&to, file["mailbox"].as_str().expect("a key")).expect("written");
    to
}

/// The promise: once every machine has applied an erasure, nothing that a host ever got, together with
/// every key of every machine, opens the memory. Before that it does.
#[test]
fn an_erasure_reaches_every_machine_and_nothing_a_host_kept_opens_it() {
    if !has_peer(
        "age",
        "an archivist with stock age opens no mail of an erased memory",
    ) {
        return;
    }
    let (laptop, host) = home_with_host();
    let archive = laptop.path().join("archive.git");
    let mut clone = Command::new("git");
    clone
        .args(["clone", "-q", "--mirror", path(&host)])
        .arg(&archive);
    ok(&laptop.run(&["sync"]));
    ok(&clone.output().expect("git"));
    let boxes = laptop.path().join("boxes");
    fs::create_dir(&boxes).expect("made");
    // The archivist keeps every object that was ever pushed.
    let archives = || {
        let name = format!(
            "refs/kept/{}/*",
            fs::read_dir(&boxes).expect("there").count()
        );
        fs::write(boxes.join(name.replace('/', "-")), "").expect("written");
        ok(&git(
            &archive,
            &["fetch", "-q", path(&host), &format!("+refs/*:{name}")],
        ));
    };
    let (ci, code) = asking(&host, "ci", &[]);
    ok(&laptop.run(&["replicas", "add", "ci", "--code", &code]));
    archives();
    // The control: its mailbox opens what was sent to it, and keys in there open the memory.
    let before = mailbox_of(&ci, &boxes);
    let opens = |identity: &Path| {
        let mail = mail_at(&archive);
        mail.iter()
            .filter(|mail| opened(identity, &mail.bytes).is_some())
            .count()
    };
    assert_eq!(opens(&before), 1);
    fs::remove_file(before).expect("there");
    ok(&ci.run(&["sync"]));
    ok(&ci.run(&["create", "c.md", "--text", "three"]));
    for machine in [&ci, &laptop, &ci] {
        ok(&machine.run(&["sync"]));
        archives();
    }
    let reads = |machine: &Home| {
        let mut view = machine.command(&["view", "a.md", "--at", "1", "--json"]);
        view.env("AGEKEEP_STORE", &archive)
            .env("AGEKEEP_KEYRING", machine.store().join("keyring"))
            .env("XDG_STATE_HOME", machine.path().join("archivist"));
        feed(view, b"")
    };
    ok(&git(
        &archive,
        &["update-ref", "refs/heads/main", head(&host).trim()],
    ));
    assert!(ok(&reads(&ci)).contains("one"));

    let erased = laptop.run(&["erase", "a.md", "--yes", "--reason", "request 7"]);
    ok(&erased);
    let told = stderr(&erased);
    assert!(
        told.contains("ci keeps the erased keys until it syncs"),
        "{told}"
    );
    ok(&laptop.run(&["sync"]));
    archives();
    // It has not reached ci, and the receipt says so.
    assert!(ok(&reads(&ci)).contains("one"));
    let receipt = receipt_on(&laptop);
    assert!(receipt.contains("not yet by ci"), "{receipt}");
    let shown: Value =
        serde_json::from_str(&ok(&laptop.run(&["receipt", "show", "--json"]))).expect("JSON");
    assert_eq!(shown["replicas"][0]["destroyed"], false);
    let came = synced(&ci);
    assert_eq!(
        (&came["received"], &came["new_keys"]),
        (&json!(1), &json!(true))
    );
    archives();
    ok(&laptop.run(&["sync"]));
    archives();
    let receipt = receipt_on(&laptop);
    assert!(receipt.contains("destroyed by ci"), "{receipt}");
    // All keys of all machines, and all that the host ever got.
    for machine in [&laptop, &ci] {
        assert_eq!(opens(&mailbox_of(machine, &boxes)), 0, "a mailbox");
        assert_eq!(opens(&machine.identity()), 0, "an identity");
        let read = reads(machine);
        assert!(!read.status.success(), "{}", stdout(&read));
        ok(&machine.run(&["receipt", "verify"]));
        assert_eq!(verified(machine), Some(0));
        assert!(ok(&machine.run(&["view", "c.md"])).contains("three"));
    }
}

#[test]
fn monitoring_names_a_machine_that_has_not_applied_an_erasure() {
    let laptop = Home::empty().made_by(&["init", "--trial", "--now", "2026-01-01"]);
    let host = laptop.path().join("host.git");
    bare(&host);
    let at = |day: &str, args: &[&str]| laptop.run(&[args, &["--now", day]].concat());
    ok(&at("2026-01-02", &["create", "a.md", "--text", "one"]));
    ok(&laptop.run(&["remote", "add", "origin", path(&host)]));
    ok(&at("2026-01-02", &["sync"]));
    let (ci, code) = asking(&host, "ci", &["--now", "2026-01-02"]);
    ok(&at(
        "2026-01-02",
        &["replicas", "add", "ci", "--code", &code],
    ));
    ok(&ci.run(&["sync", "--now", "2026-01-03"]));
    ok(&at("2026-01-04", &["sync"]));
    ok(&at(
        "2026-01-05",
        &["erase", "a.md", "--yes", "--reason", "x"],
    ));
    ok(&at("2026-01-05", &["sync"]));
    let status = |day: &str| at(day, &["status", "--max-erasure-age", "7d"]);
    assert_eq!(status("2026-01-11").status.code(), Some(0));
    let named = |day: &str| {
        let found = json_lines(&at(day, &["doctor", "--json"]).stdout);
        let found = found.into_iter().filter(|advice| {
            advice["what"]
                .as_str()
                .is_some_and(|what| what.starts_with("ci "))
        });
        found.map(|advice| advice["id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(named("2026-01-09"), [] as [Value; 0]);
    assert_eq!(named("2026-01-13"), ["machine-behind"]);
    let late = status("2026-01-13");
    assert_eq!(late.status.code(), Some(14));
    assert!(
        stdout(&late).contains("ci has not applied the erasure"),
        "{}",
        stdout(&late)
    );
    let came = ok(&ci.run(&["sync", "--now", "2026-01-14"]));
    assert!(
        came.contains("(owner ")
            && came.contains("erased elsewhere: 1 version of 1 memory, which no key here decrypts"),
        "{came}"
    );
    assert!(
        came.contains("owner has everything") || came.contains("owner lacks"),
        "{came}"
    );
    ok(&at("2026-01-14", &["sync"]));
    assert_eq!(status("2026-01-15").status.code(), Some(0));
}

/// What a host does to what machines said there, in shell, and what another machine's sync ends with.
/// `$card` is the ref of ci's card, `$before` an earlier one than the laptop has seen.
const HOSTS: &[(&str, &str, Option<&str>)] = &[
    (
        "the card before",
        "git update-ref $card $before",
        Some("remote_turned_back"),
    ),
    (
        "a branch without what ci signed for",
        "git update-ref refs/heads/main main~1",
        Some("remote_withholds"),
    ),
    ("no card at all", "git update-ref -d $card", Some("no_mail")),
    (
        "a card that is no card",
        "git update-ref $card $(git commit-tree -m x $(git mktree </dev/null))",
        Some("no_mail"),
    ),
    (
        "another machine's card in its place",
        "git update-ref $card $(git for-each-ref --format='%(refname)' refs/agekeep/cards | grep -v $card | head -n 1)",
        Some("no_mail"),
    ),
    (
        "mail that was exchanged",
        "git update-ref $card $(git cat-file commit $card |
           sed \"s/^tree .*/tree $(git mktree </dev/null)/\" | git hash-object -t commit -w --stdin)",
        Some("no_mail"),
    ),
    (
        "cards of strangers",
        "for digits in 0000000000000000 00 zzzzzzzzzzzzzzzz; do
           git update-ref refs/agekeep/cards/$digits $card; done
         git update-ref refs/agekeep/lines/x main",
        None,
    ),
    (
        "a line of ci's that nobody wrote",
        "git update-ref refs/agekeep/lines/${card##*/} $(git commit-tree -m x main^{tree})",
        None,
    ),
];

#[test]
fn a_host_that_contradicts_a_machine_is_named_and_nothing_is_taken() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let (ci, code) = asking(&host, "ci", &[]);
    let card = card_of(&host, "ci");
    let before = stdout(&git(&host, &["rev-parse", &card]));
    ok(&laptop.run(&["replicas", "add", "ci", "--code", &code]));
    ok(&ci.run(&["sync"]));
    ok(&laptop.run(&["sync"]));
    // ci writes, and its card has the keys that the laptop lacks.
    ok(&ci.run(&["create", "c.md", "--text", "three"]));
    ok(&ci.run(&["sync"]));
    let good = laptop.path().join("good");
    fs::create_dir(&good).expect("made");
    let places = [&host, &laptop.store(), &ci.store()].map(Clone::clone);
    let saved = ["host", "laptop", "ci"].map(|name| good.join(name));
    for (place, saved) in places.iter().zip(&saved) {
        fs::rename(place, saved).expect("moves");
    }
    for (what, script, error) in HOSTS {
        for (place, saved) in places.iter().zip(&saved) {
            drop(fs::remove_dir_all(place));
            let mut cp = Command::new("cp");
            ok(&cp
                .arg("-a")
                .arg(saved)
                .arg(place)
                .output()
                .expect("cp runs"));
        }
        for machine in [&laptop, &ci] {
            // A copy that is put back is no rollback here.
            drop(fs::remove_dir_all(machine.path().join(".local/state")));
        }
        let names = format!("card={card} before={}\n", before.trim());
        shell(&host, &(names + script));
        let ring = || fs::read(laptop.store().join("keyring/ring")).expect("there");
        let (ours, keys) = (head(&laptop.store()), ring());
        let sync = laptop.run(&["sync", "--json"]);
        if let Some(error) = error {
            assert_eq!(refused(&sync).1, *error, "{what}: {}", stderr(&sync));
            assert_eq!((head(&laptop.store()), ring()), (ours, keys), "{what}");
            assert_eq!(verified(&laptop), Some(0), "{what}");
            // ci puts it right, and then it all comes.
            ok(&ci.run(&["view", "b.md"]));
            let again = ci.run(&["sync"]);
            assert!(again.status.success(), "{what}: {}", stderr(&again));
            let again = laptop.run(&["sync"]);
            assert!(again.status.success(), "{what}: {}", stderr(&again));
        } else {
            assert!(sync.status.success(), "{what}: {}", stderr(&sync));
        }
        assert!(
            ok(&laptop.run(&["view", "c.md"])).contains("three"),
            "{what}"
        );
        assert_eq!(verified(&laptop), Some(0), "{what}");
    }
}

/// A host that was restored from a backup has old cards of all machines: each publishes its own again.
#[test]
fn a_host_that_was_restored_from_a_backup_is_put_right_by_the_machines() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let ci = joined(&laptop, &host, "ci");
    ok(&laptop.run(&["sync"]));
    let copy = |from: &Path, to: &Path| {
        let mut cp = Command::new("cp");
        ok(&cp.arg("-a").arg(from).arg(to).output().expect("cp runs"));
    };
    let backup = laptop.path().join("backup.git");
    copy(&host, &backup);
    for machine in [&ci, &laptop] {
        let name = format!(
            "{}.md",
            machine.path().file_name().expect("a name").display()
        );
        ok(&machine.run(&["create", &name, "--text", "new"]));
        for machine in [
            machine,
            if path(machine.path()) == path(ci.path()) {
                &laptop
            } else {
                &ci
            },
        ] {
            ok(&machine.run(&["sync"]));
        }
    }
    for machine in [&ci, &laptop] {
        ok(&machine.run(&["sync"]));
    }
    fs::remove_dir_all(&host).expect("there");
    copy(&backup, &host);
    // What the laptop wrote since goes along with its card.
    ok(&laptop.run(&["create", "since.md", "--text", "unsent"]));
    let newest = head(&laptop.store());
    let before = [newest.clone(), head(&ci.store())];
    let codes: Vec<_> = [&laptop, &ci, &laptop, &ci]
        .iter()
        .map(|machine| refused(&machine.run(&["sync", "--json"])))
        .collect();
    assert_eq!(codes[0], (Some(13), "remote_turned_back".into()));
    assert_eq!(head(&laptop.store()), before[0]);
    for code in &codes[2..] {
        assert_eq!(code.0, Some(0), "{codes:?}");
    }
    assert_eq!(head(&host), newest);
    for machine in [&laptop, &ci] {
        assert_eq!(verified(machine), Some(0));
    }
}

/// Nobody has signed what a host says of members: it neither removes a machine nor has it wait.
/// A commit that a host sends beside a shorter history is no history: what machines signed for is still missing.
#[test]
fn a_host_that_sends_what_it_withholds_as_a_mere_object_is_named() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let ci = joined(&laptop, &host, "ci");
    ok(&laptop.run(&["sync"]));
    ok(&ci.run(&["sync"]));
    let card = |of: &str| {
        let refs = format!("{}^{{commit}}", card_of(&host, of));
        stdout(&git(&host, &["cat-file", "commit", &refs]))
    };
    let old = card("owner");
    ok(&laptop.run(&["view", "b.md"]));
    ok(&laptop.run(&["sync"]));
    let shorter = head(&host);
    ok(&laptop.run(&["erase", "a.md", "--yes", "--reason", "x"]));
    ok(&laptop.run(&["sync"]));
    let (whole, new) = (head(&host), card("owner"));
    // What ci has seen of the card, and what the host could send along.
    let local = ci.store().join("local.toml");
    let text = fs::read_to_string(&local).expect("there");
    assert!(text.contains(&old), "{text}");
    fs::write(&local, text.replace(&old, &new)).expect("written");
    let send = format!(
        "git rev-list --objects {} | cut -c1-40 | git pack-objects -q --stdout |
         GIT_DIR='{}' git index-pack --stdin",
        whole.trim(),
        path(&ci.store()),
    );
    shell(&host, &send);
    ok(&git(
        &host,
        &["update-ref", "refs/heads/main", shorter.trim()],
    ));
    for args in [
        &["sync", "--json"][..],
        &["verify", "--remote", "origin", "--json"],
    ] {
        let refusal = ci.run(args);
        let said = stdout(&refusal) + &stderr(&refusal);
        assert_eq!(refusal.status.code(), Some(13), "{args:?}: {said}");
        assert!(said.contains("remote_withholds"), "{args:?}: {said}");
    }
    let listed = ok(&ci.run(&["replicas", "list", "--json"]));
    assert!(listed.contains("\"apart\":true"), "{listed}");
    ok(&git(
        &host,
        &["update-ref", "refs/heads/main", whole.trim()],
    ));
    ok(&ci.run(&["sync"]));
    assert_eq!(verified(&ci), Some(0));
}

/// Nobody pushes to a store that is in use, however its URL is written.
#[test]
fn a_store_in_use_takes_no_push() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let ci = joined(&laptop, &host, "ci");
    ok(&ci.run(&["create", "c.md", "--text", "three"]));
    let store = path(&laptop.store()).to_owned();
    let escaped = format!("file://{}%65", store.strip_suffix('e').expect("its name"));
    ok(&ci.run(&["remote", "add", "live", &escaped]));
    for verb in ["push", "sync"] {
        let refusal = ci.run(&[verb, "live", "--json"]);
        assert_eq!(refused(&refusal).0, Some(16), "{}", stderr(&refusal));
    }
    assert_eq!(ok(&laptop.run(&["view", "--raw", "b.md"])), "two\n");
    assert_eq!(verified(&laptop), Some(0));
    assert_eq!(
        stdout(&git(&laptop.store(), &["for-each-ref", "refs/agekeep"])),
        ""
    );
}

/// A machine that was removed asks again under another name, and with the same keys.
#[test]
fn a_removed_machine_is_let_in_under_another_name_or_role() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let ci = joined(&laptop, &host, "ci");
    ok(&laptop.run(&["sync"]));
    ok(&laptop.run(&["replicas", "rm", "ci"]));
    for (name, more) in [("builds", &[][..]), ("checks", &["--audit"])] {
        let copy = ci.path().join(name);
        let clone = ["clone", path(&host), path(&copy), "--name", name];
        let cloned = ok(&ci.run(&[&clone[..], more].concat()));
        let line = cloned.lines().find(|line| line.contains("replicas add"));
        let command = line
            .expect("a command")
            .split('`')
            .nth(1)
            .expect("in quotes");
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        assert_eq!(words.contains(&"auditor"), !more.is_empty(), "{command}");
        ok(&laptop.run(&words));
        ok(&super::on(&ci, name, &["sync"]));
        ok(&laptop.run(&["replicas", "rm", name]));
    }
}

/// A clone in the place of a copy that had more than the host is refused: its pin would refuse it later.
#[test]
fn no_clone_takes_the_place_of_a_copy_that_had_more() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let ci = joined(&laptop, &host, "ci");
    ok(&ci.run(&["create", "mine.md", "--text", "mine"]));
    fs::remove_dir_all(ci.store()).expect("there");
    let clone = |to: &Path| ci.run(&["clone", path(&host), path(to), "--name", "ci"]);
    let refusal = clone(&ci.store());
    assert!(!refusal.status.success());
    let said = stderr(&refusal);
    assert!(
        said.contains("was seen there") && said.contains("another"),
        "{said}"
    );
    assert!(!ci.store().exists());
    ok(&clone(&ci.path().join("new")));
}

#[test]
fn a_host_that_makes_up_members_is_named() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let ci = joined(&laptop, &host, "ci");
    let script = "
        for file in recipients signers; do
          blob=$(git show main:$file | grep -v '\\bci\\b' | git hash-object -w --stdin)
          tree=$(git ls-tree ${tree:-main} | sed \"s/[0-9a-f]*\\t$file$/$blob\\t$file/\" | git mktree)
        done
        git update-ref refs/heads/main $(git commit-tree -p main -m 'erase ok' $tree)";
    shell(&host, script);
    let listed = stdout(&git(&host, &["show", "main:recipients"]));
    assert!(!listed.contains(" ci "), "{listed}");
    for machine in [&ci, &laptop] {
        let sync = machine.run(&["sync", "--json"]);
        assert_eq!(
            refused(&sync),
            (Some(13), "unverified".into()),
            "{}",
            stderr(&sync)
        );
        assert_eq!(verified(machine), Some(0));
    }
}

/// A signer speaks for itself: a card under another's name counts for nobody.
#[test]
fn a_card_under_another_s_name_counts_for_nobody() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let ci = joined(&laptop, &host, "ci");
    // A second signer's machine, which asks under the name of the first.
    let mallory = Home::empty();
    let store = mallory.store();
    ok(&mallory.run(&["clone", path(&host), path(&store), "--name", "mallory"]));
    let key = mallory.path().join("config/agekeep/signing_key.pub");
    ok(&laptop.run(&["sync"]));
    ok(&laptop.run(&["signers", "add", "mallory", path(&key), "--role", "auditor"]));
    ok(&laptop.run(&["sync"]));
    let local = store.join("local.toml");
    let text = fs::read_to_string(&local).expect("there");
    fs::write(&local, text.replace("\"mallory\"", "\"ci\"")).expect("written");
    drop(mallory.run(&["sync"]));
    let subjects = git(
        &host,
        &["for-each-ref", "--format=%(subject)", "refs/agekeep/cards"],
    );
    assert_eq!(stdout(&subjects).matches("card of ci").count(), 2);
    ok(&laptop.run(&["sync"]));
    let listed = ok(&laptop.run(&["replicas", "list"]));
    assert_eq!(listed.matches("  ci  ").count(), 1, "{listed}");
    ok(&ci.run(&["sync"]));
    assert_eq!(verified(&ci), Some(0));
}

/// A reader hides the key of one memory under another one, so that an erasure leaves it.
#[test]
fn a_key_that_a_reader_hides_under_another_memory_reaches_no_machine_and_no_erasure_leaves_it() {
    if !forge::has_means("a hidden key") {
        return;
    }
    let (home, host) = home_with_host();
    ok(&home.run(&["sync"]));
    let insider = joined(&home, &host, "insider");
    ok(&home.run(&["signers", "role", "insider", "owner"]));
    ok(&home.run(&["sync"]));
    ok(&insider.run(&["sync"]));
    let id_of = |path: &str| {
        let listed = json_lines(
            &insider
                .run(&["log", path, "--command", "create", "--json"])
                .stdout,
        );
        listed[0]["memories"][0]["memory"]
            .as_str()
            .expect("an id")
            .to_owned()
    };
    let scratch = insider.path().join("scratch");
    fs::create_dir(&scratch).expect("made");
    let forger = Means::of(&insider.store(), &insider.identity(), &scratch);
    ok(&insider.run(&["create", "c.md", "--text", "one\n"]));
    let (erased, other) = (id_of("a.md"), id_of("b.md"));
    let ring = insider.store().join("keyring/ring");
    let mut bytes = fs::read(&ring).expect("there");
    let slot = (bytes.len() - forge::header_bytes(&bytes)) / forge::entry_bytes("ring");
    let hidden = forger.memory_identity(&erased);
    bytes.extend(forger.entry("ring", slot as u64, &other, hidden.as_bytes()));
    fs::write(&ring, bytes).expect("written");

    let erase = ["erase", &erased, "--reason", "asked", "--yes"];
    let erased_now = insider.run(&erase);
    let said = stderr(&erased_now);
    assert!(!erased_now.status.success(), "{said}");
    assert!(said.contains("the key would stay"), "{said}");
    assert!(said.contains("agekeep keys replace"), "{said}");
    assert_eq!(verified(&insider), Some(13));
    ok(&insider.run(&["sync"]));
    let before = head(&home.store());
    let sync = home.run(&["sync", "--json"]);
    assert_eq!(refused(&sync), (Some(13), "wrong_keys".into()));
    let said = stderr(&sync);
    assert!(
        said.contains("key-shared") && said.contains("the machine insider"),
        "{said}"
    );
    assert_eq!(head(&home.store()), before);
    assert_eq!(verified(&home), Some(0));
    // Once the other memory has a new key, the copy goes with the key that it is of.
    ok(&insider.run(&["keys", "replace", "--memories", "b.md"]));
    ok(&insider.run(&erase));
    assert_eq!(verified(&insider), Some(0));
    assert_eq!(ok(&insider.run(&["view", "--raw", "b.md"])), "two\n");
}

/// One machine whose keys are wrong does not stop those that can get the same keys from another.
#[test]
fn wrong_keys_of_one_machine_are_passed_over_for_those_of_another() {
    if !forge::has_means("wrong keys of one machine") {
        return;
    }
    let (home, host) = home_with_host();
    ok(&home.run(&["sync"]));
    let [insider, ci] = ["insider", "ci"].map(|name| joined(&home, &host, name));
    ok(&home.run(&["sync"]));
    ok(&insider.run(&["sync"]));
    ok(&ci.run(&["sync"]));
    ok(&ci.run(&["create", "c.md", "--text", "three\n"]));
    ok(&ci.run(&["sync"]));
    ok(&insider.run(&["sync"]));
    // Further than ci, with a key of one memory under another.
    ok(&insider.run(&["view", "a.md"]));
    let scratch = insider.path().join("scratch");
    fs::create_dir(&scratch).expect("made");
    let forger = Means::of(&insider.store(), &insider.identity(), &scratch);
    let ids = json_lines(
        &insider
            .run(&["log", "--command", "create", "--json"])
            .stdout,
    );
    let id = |at: usize| {
        let memory = ids[at]["memories"][0]["memory"].as_str();
        memory.expect("an id").to_owned()
    };
    let ring = insider.store().join("keyring/ring");
    let mut bytes = fs::read(&ring).expect("there");
    let slot = (bytes.len() - forge::header_bytes(&bytes)) / forge::entry_bytes("ring");
    let hidden = forger.memory_identity(&id(0));
    bytes.extend(forger.entry("ring", slot as u64, &id(1), hidden.as_bytes()));
    fs::write(&ring, bytes).expect("written");
    assert_eq!(verified(&insider), Some(13));
    assert!(synced(&insider)["mailed"].as_u64() > Some(0));

    let sync = synced(&home);
    assert_eq!(
        (&sync["received"], &sync["new_keys"]),
        (&json!(2), &json!(true))
    );
    assert_eq!(verified(&home), Some(0));
    assert_eq!(ok(&home.run(&["view", "--raw", "c.md"])), "three\n");
}

/// The bytes of an identity in Bech32.
fn identity_bytes(text: &str) -> Vec<u8> {
    let letters = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L";
    let bits = text["AGE-SECRET-KEY-1".len()..][..52]
        .chars()
        .flat_map(|letter| {
            let five = letters.find(letter).expect("a letter of Bech32");
            (0..5).rev().map(move |bit| u8::from(five >> bit & 1 == 1))
        });
    let bits: Vec<u8> = bits.collect();
    let byte = |bits: &[u8]| bits.iter().fold(0, |byte, bit| byte << 1 | bit);
    bits.chunks_exact(8).map(byte).collect()
}

/// The key of a text hides among the keys of paths, as its bytes.
#[test]
fn a_key_that_hides_in_the_other_table_goes_with_the_erasure() {
    if !forge::has_means("a key hidden among keys of paths") {
        return;
    }
    let (home, _) = home_with_host();
    let scratch = home.path().join("scratch");
    fs::create_dir(&scratch).expect("made");
    let forger = Means::of(&home.store(), &home.identity(), &scratch);
    let names = home.store().join("keyring/names");
    let ids: Vec<Vec<u8>> = {
        let bytes = fs::read(&names).expect("there");
        let entries =
            bytes[forge::header_bytes(&bytes)..].chunks_exact(forge::entry_bytes("names"));
        entries.map(|entry| entry[..16].to_vec()).collect()
    };
    let hex = |id: &[u8]| {
        id.iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    };
    let (erased, other) = (hex(&ids[0]), hex(&ids[1]));
    let hidden = identity_bytes(&forger.memory_identity(&erased));
    let real = forger.secret("names", &ids[1]);
    let mut bytes = fs::read(&names).expect("there");
    for (slot, secret) in [(2, &hidden), (3, &real)] {
        bytes.extend(forger.entry("names", slot, &other, secret));
    }
    fs::write(&names, bytes).expect("written");
    assert_eq!(verified(&home), Some(13));
    ok(&home.run(&["erase", &erased, "--reason", "asked", "--yes"]));
    assert_eq!(verified(&home), Some(0));
    assert_eq!(
        fs::read(&names).expect("there").len(),
        128 + 2 * forge::entry_bytes("names")
    );
    assert_eq!(ok(&home.run(&["view", "--raw", "b.md"])), "two\n");
}

/// A reader who becomes an auditor keeps no key of a text.
#[test]
fn a_reader_s_machine_that_becomes_an_auditor_s_loses_the_keys_of_texts() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let ci = joined(&laptop, &host, "ci");
    ok(&laptop.run(&["sync"]));
    let members = ok(&laptop.run(&["members", "list", "--json"]));
    let members = json_lines(members.as_bytes());
    let own = members.iter().find(|member| member["name"] == "ci");
    let recipient = own.expect("a member")["recipient"].as_str().expect("text");
    ok(&laptop.run(&["members", "rm", "ci"]));
    ok(&laptop.run(&["members", "add", "ci", recipient, "--role", "auditor"]));
    ok(&laptop.run(&["signers", "role", "ci", "auditor"]));
    ok(&laptop.run(&["sync"]));
    ok(&ci.run(&["sync"]));
    for name in ["ring", "epoch.age"] {
        assert!(!ci.store().join("keyring").join(name).exists(), "{name}");
    }
    assert_eq!(refused(&ci.run(&["view", "a.md", "--json"])).0, Some(12));
    assert_eq!(verified(&ci), Some(3));
    ok(&ci.run(&["log", "-n", "1"]));
}

/// Each machine has its keyring where it wants: an erasure reaches it there, and no other machine hears of it.
#[test]
fn each_machine_has_its_keyring_where_it_wants() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let ci = joined(&laptop, &host, "ci");
    let elsewhere = ci.path().join("elsewhere");
    ok(&ci.run(&["keys", "move", path(&elsewhere)]));
    ok(&laptop.run(&["create", "c.md", "--text", "from the laptop\n"]));
    assert_eq!(synced(&laptop)["mailed"], 1);
    assert_eq!(synced(&ci)["new_keys"], true);
    assert!(ok(&ci.run(&["view", "c.md"])).contains("from the laptop"));
    ok(&ci.run(&["sync"]));
    ok(&laptop.run(&["sync"]));
    ok(&laptop.run(&["erase", "/memories/c.md", "--reason", "asked", "--yes"]));
    ok(&laptop.run(&["sync"]));
    let before = fs::read(elsewhere.join("ring")).expect("there");
    assert_eq!(synced(&ci)["new_keys"], true);
    assert!(fs::read(elsewhere.join("ring")).expect("there").len() < before.len());
    assert!(ci.store().join("keyring").is_file());
    assert!(laptop.store().join("keyring").is_dir());
    for machine in [&laptop, &ci] {
        assert_eq!(verified(machine), Some(0));
    }
    // On a volume that is away no other keyring is begun.
    fs::rename(&elsewhere, ci.path().join("away")).expect("moves");
    ok(&laptop.run(&["create", "d.md", "--text", "more\n"]));
    ok(&laptop.run(&["sync"]));
    let sync = ci.run(&["sync", "--json"]);
    assert!(
        !sync.status.success() && !elsewhere.exists(),
        "{}",
        stderr(&sync)
    );
    fs::rename(ci.path().join("away"), &elsewhere).expect("moves");
    ok(&ci.run(&["sync"]));
    assert_eq!(verified(&ci), Some(0));
}

#[test]
fn a_machine_that_is_removed_gets_no_more_keys() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let ci = joined(&laptop, &host, "ci");
    ok(&laptop.run(&["sync"]));
    ok(&laptop.run(&["replicas", "rm", "ci", "--reason", "stolen"]));
    ok(&laptop.run(&["edit", "a.md", "--old", "one", "--new", "secret plan"]));
    ok(&laptop.run(&["create", "new.md", "--text", "new"]));
    assert_eq!(synced(&laptop)["mailed"], 0);
    let late = ci.run(&["sync", "--json"]);
    assert_eq!(
        refused(&late),
        (Some(7), "removed".into()),
        "{}",
        stderr(&late)
    );
    // It reads what it had, and nothing else.
    assert!(ok(&ci.run(&["view", "a.md"])).contains("one"));
    assert_eq!(verified(&ci), Some(0));
    let listed = ok(&laptop.run(&["replicas", "list"]));
    assert!(listed.contains("removed  ci"), "{listed}");
    // What it writes reaches nobody.
    ok(&ci.run(&["create", "mine.md", "--text", "mine"]));
    drop(ci.run(&["sync"]));
    ok(&laptop.run(&["sync"]));
    assert_eq!(head(&host), head(&laptop.store()));
}

/// A removal that the remote did not get is sent when somebody asks for it again.
#[test]
fn a_removal_that_was_not_sent_is_sent_the_next_time() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let ci = joined(&laptop, &host, "ci");
    ok(&laptop.run(&["sync"]));
    let away = laptop.path().join("away.git");
    fs::rename(&host, &away).expect("moves");
    let rm = ["replicas", "rm", "ci"];
    assert_eq!(laptop.run(&rm).status.code(), Some(16));
    fs::rename(&away, &host).expect("moves");
    ok(&laptop.run(&rm));
    assert_eq!(head(&host), head(&laptop.store()));
    assert_eq!(refused(&ci.run(&["sync", "--json"])).1, "removed");
    // Of a machine that was never there it says so.
    let nobody = laptop.run(&["replicas", "rm", "cj", "--json"]);
    assert!(!nobody.status.success(), "{}", stdout(&nobody));
}

#[test]
fn a_machine_that_leaves_destroys_its_keys_and_says_so() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let ci = joined(&laptop, &host, "ci");
    assert_eq!(ci.run(&["replicas", "leave"]).status.code(), Some(2));
    // The laptop has only seen that it asks, and not that it has keys by now.
    ok(&laptop.run(&["erase", "b.md", "--yes", "--reason", "x"]));
    let receipt = receipt_on(&laptop);
    assert!(receipt.contains("not yet by ci"), "{receipt}");
    ok(&laptop.run(&["sync"]));
    // What is only here stays here: an event that was not sent, and keys that no other machine has.
    let refuses = || {
        let leave = ci.run(&["replicas", "leave", "--destroy", "--json"]);
        assert_eq!(refused(&leave), (Some(6), "only_here".into()));
        assert!(ok(&ci.run(&["view", "a.md"])).contains("one"));
    };
    ok(&ci.run(&["sync"]));
    ok(&ci.run(&["create", "mine.md", "--text", "mine"]));
    refuses();
    ok(&ci.run(&["sync"]));
    refuses();
    ok(&ci.run(&["sync"]));
    ok(&laptop.run(&["sync"]));
    // Keys that a killed transfer left are gone too.
    let staged = ci
        .store()
        .join("keyring/next-00112233445566778899aabbccddeeff");
    fs::create_dir(&staged).expect("made");
    fs::write(staged.join("ring"), "keys").expect("written");
    ok(&ci.run(&["replicas", "leave", "--destroy"]));
    let left: Vec<_> = fs::read_dir(ci.store().join("keyring"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(
        refused(&ci.run(&["view", "a.md", "--json"])),
        (Some(12), "no_keyring".into())
    );
    // Once more does no harm.
    ok(&ci.run(&["replicas", "leave", "--destroy"]));
    ok(&laptop.run(&["erase", "a.md", "--yes", "--reason", "x"]));
    assert_eq!(synced(&laptop)["mailed"], 0, "it asks for none");
    let receipt = receipt_on(&laptop);
    assert!(receipt.contains("has no keys"), "{receipt}");
    // It goes on as a copy that nobody can read.
    ok(&ci.run(&["sync"]));
    assert_eq!(head(&ci.store()), head(&host));
    ok(&laptop.run(&["replicas", "rm", "ci"]));
}

#[test]
fn nobody_is_let_in_by_another_code_name_or_role() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let (_ci, code) = asking(&host, "ci", &[]);
    // A stranger asks under the same name.
    let (mallory, other) = asking(&host, "ci", &[]);
    assert_ne!(code, other);
    let before = head(&laptop.store());
    for args in [
        &["ci", "--code", "aaaa-aaaa-aaaa-aaaa"][..],
        &["ci", "--code", ""],
        &["cj", "--code", &code],
        &["ci", "--role", "auditor", "--code", &code],
        &["ci", "--code", &code[..14]],
    ] {
        let add = laptop.run(&[&["replicas", "add"], args, &["--json"]].concat());
        assert_eq!(refused(&add), (Some(4), "no_request".into()), "{args:?}");
    }
    assert_eq!(head(&laptop.store()), before);
    ok(&laptop.run(&["replicas", "add", "ci", "--code", &code]));
    let out = mallory.run(&["sync", "--json"]);
    assert_eq!(refused(&out), (Some(12), "waiting_for_keys".into()));
    let mailbox = opens_any(&mallory, &host);
    assert!(!mailbox, "mail was sent to a stranger");
}

/// Tells whether a machine's mailbox opens any mail at a host.
fn opens_any(machine: &Home, host: &Path) -> bool {
    if !has_peer("age", "a stranger's mailbox gets nothing") {
        return false;
    }
    let mailbox = mailbox_of(machine, machine.path());
    mail_at(host)
        .iter()
        .any(|mail| opened(&mailbox, &mail.bytes).is_some())
}

/// A machine that could not be let in is told before anything is made.
#[test]
fn a_machine_asks_with_keys_of_its_own() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let before = cards(&host);
    let (identity, key) = (laptop.identity(), laptop.signing_key());
    let clone = |name: &str, more: &[&str]| {
        let ci = Home::empty();
        let store = ci.store();
        let clone = ci.run(
            &[
                &["clone", path(&host), path(&store), "--name", name, "--json"],
                more,
            ]
            .concat(),
        );
        assert!(!store.exists(), "{}", stderr(&clone));
        refused(&clone).0
    };
    assert_eq!(clone("ci", &["--identity", path(&identity)]), Some(2));
    assert_eq!(clone("ci", &["--signing-key", path(&key)]), Some(2));
    assert_eq!(clone("no/name", &[]), Some(2));
    assert_eq!(cards(&host).len(), before.len());
}

/// An old mailbox, an old keyring and an old card: yesterday's files open nothing that was erased.
#[test]
fn yesterday_s_files_bring_nothing_back() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let ci = joined(&laptop, &host, "ci");
    ok(&laptop.run(&["sync"]));
    let keyring = ci.store().join("keyring");
    let old = ci.path().join("old");
    let mut cp = Command::new("cp");
    ok(&cp
        .arg("-a")
        .arg(&keyring)
        .arg(&old)
        .output()
        .expect("cp runs"));
    ok(&laptop.run(&["erase", "a.md", "--yes", "--reason", "x"]));
    ok(&laptop.run(&["create", "n.md", "--text", "new"]));
    ok(&laptop.run(&["sync"]));
    ok(&ci.run(&["sync"]));
    // All of yesterday's keyring, with today's history.
    fs::rename(&keyring, ci.path().join("today")).expect("moves");
    fs::rename(&old, &keyring).expect("moves");
    let gone = ci.run(&["view", "a.md", "--at", "1", "--json"]);
    assert!(!gone.status.success(), "{}", stdout(&gone));
    drop(ci.run(&["sync"]));
    let gone = ci.run(&["view", "a.md", "--at", "1", "--json"]);
    assert!(!gone.status.success(), "{}", stdout(&gone));
    ok(&laptop.run(&["sync"]));
    drop(ci.run(&["sync"]));
    let gone = ci.run(&["view", "a.md", "--at", "1", "--json"]);
    assert!(!gone.status.success(), "{}", stdout(&gone));
    // Only yesterday's mailbox, or none, or something else: it is made anew, and keys come again.
    for bytes in [Some(&b"age-encryption.org/v1\n"[..]), Some(b""), None] {
        fs::remove_dir_all(&keyring).expect("there");
        ok(&Command::new("cp")
            .arg("-a")
            .arg(ci.path().join("today"))
            .arg(&keyring)
            .output()
            .expect("cp"));
        match bytes {
            Some(bytes) => fs::write(keyring.join("mailbox.age"), bytes).expect("written"),
            None => fs::remove_file(keyring.join("mailbox.age")).expect("there"),
        }
        let sync = ci.run(&["sync"]);
        assert!(sync.status.success(), "{}", stderr(&sync));
        assert_eq!(verified(&ci), Some(0));
    }
}

/// Killed at any system call, or with a call that fails: a sync that brings an erasure, or the first keys, is
/// whole or did not happen, and the next one does the rest.
#[test]
fn a_sync_that_is_killed_or_fails_is_whole_or_did_not_happen() {
    if !has_peer(
        "strace",
        "a sync is whole after a kill at every system call",
    ) {
        return;
    }
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let ci = joined(&laptop, &host, "ci");
    let (new, code) = asking(&host, "new", &[]);
    ok(&laptop.run(&["replicas", "add", "new", "--code", &code]));
    let machines = [&ci, &new].map(|machine| {
        let fresh = machine.path().join("fresh");
        fs::rename(machine.store(), &fresh).expect("moves");
        (machine, fresh)
    });
    ok(&laptop.run(&["create", "c.md", "--text", "three"]));
    ok(&laptop.run(&["erase", "a.md", "--yes", "--reason", "x"]));
    ok(&laptop.run(&["sync"]));
    let (mut stopped, mut whole) = (0, 0);
    let step = every(16);
    for (turn, (machine, fresh)) in machines.iter().enumerate() {
        let all = "renameat,unlinkat,mkdirat,fsync,fdatasync,pwrite64";
        let never = format!("{all}:error=EIO:when={AFTER_ALL}");
        traced(machine, &["sync"], (fresh, &machine.store()), &never);
        let trace = machine.path().join("all");
        fs::rename(machine.path().join("calls"), &trace).expect("traced");
        for fault in [
            "renameat:signal=KILL",
            "unlinkat:signal=KILL",
            "mkdirat:signal=KILL",
            "fsync:signal=KILL",
            "fdatasync:signal=KILL",
            "pwrite64:signal=KILL",
            "fsync:error=EIO",
            "renameat:error=ENOSPC",
            "pwrite64:error=ENOSPC",
        ] {
            let last = last_time(&trace, fault.split(':').next().expect("a call"));
            // Of a sample, each of the two machines tries other times.
            let first = (turn * step / 2 + 1).min(last / 2 + 1);
            for number in (first..=last).step_by(step) {
                let fault = format!("{fault}:when={number}");
                let run = traced(machine, &["sync"], (fresh, &machine.store()), &fault);
                stopped += usize::from(!run.status.success());
                // The new one has no keys before it has all.
                let code = verified(machine);
                assert!(
                    [Some(0), Some(3)].contains(&code),
                    "{fault}: {}",
                    stderr(&run)
                );
                let again = machine.run(&["sync"]);
                assert!(again.status.success(), "{fault}: {}", stderr(&again));
                assert_eq!(head(&machine.store()), head(&host), "{fault}");
                assert_eq!(verified(machine), Some(0), "{fault}");
                whole += 1;
                let gone = machine.run(&["view", "a.md", "--at", "1", "--json"]);
                assert_eq!(refused(&gone).1, "not_found", "{fault}");
                let seen = machine.run(&["view", "c.md"]);
                assert!(ok(&seen).contains("three"), "{fault}");
                let staged = fs::read_dir(machine.store().join("keyring")).expect("a folder");
                let names = staged.map(|entry| entry.expect("an entry").file_name());
                let left: Vec<_> = names.filter(|name| name.len() > 20).collect();
                assert!(left.is_empty(), "{fault}: {left:?}");
                // Past the last call of its kind nothing fails any more.
                if run.status.success() && number > 8 {
                    break;
                }
            }
        }
    }
    assert!(
        stopped > 14 && whole > 24,
        "{stopped} stopped, {whole} whole"
    );
}

/// Stopped at any file, the removal of keys goes on when somebody asks for it again, and says that it is done
/// once nothing is left.
#[test]
fn keys_whose_removal_was_stopped_are_removed_the_next_time() {
    if !has_peer("strace", "a removal of keys that was stopped goes on") {
        return;
    }
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let ci = joined(&laptop, &host, "ci");
    ok(&laptop.run(&["sync"]));
    ok(&ci.run(&["sync"]));
    let fresh = ci.path().join("fresh");
    fs::rename(ci.store(), &fresh).expect("moves");
    let mut stopped = 0;
    for (turn, fault) in ["signal=KILL", "error=EIO"].into_iter().enumerate() {
        // Of a sample, each file is left by one of the two.
        for number in (1 + turn % every(2)..12).step_by(every(2)) {
            let fault = format!("unlinkat:{fault}:when={number}");
            let leave = ["replicas", "leave", "--destroy"];
            let run = traced(&ci, &leave, (&fresh, &ci.store()), &fault);
            stopped += usize::from(!run.status.success());
            let said = stderr(&run);
            assert!(!said.contains("ermission denied"), "{fault}: {said}");
            ok(&ci.run(&leave));
            let left = fs::read_dir(ci.store().join("keyring")).expect("a folder");
            assert_eq!(left.count(), 0, "{fault}");
        }
    }
    assert!(stopped > 4, "{stopped}");
}

/// Whoever was removed, and knows it only by a history that they do not get, can still destroy their keys.
#[test]
fn a_removed_machine_destroys_its_keys() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let ci = joined(&laptop, &host, "ci");
    ok(&laptop.run(&["sync"]));
    // One that is behind takes what it lacks first.
    ok(&laptop.run(&["create", "n.md", "--text", "new"]));
    ok(&laptop.run(&["sync"]));
    let leave = ["replicas", "leave", "--destroy"];
    let behind = ci.run(&[&leave[..], &["--json"]].concat());
    assert_eq!(refused(&behind).1, "only_here", "{}", stderr(&behind));
    assert!(ci.store().join("keyring/ring").exists());
    ok(&ci.run(&["sync"]));
    ok(&laptop.run(&["replicas", "rm", "ci"]));
    ok(&laptop.run(&["sync"]));
    assert_eq!(refused(&ci.run(&["sync", "--json"])).1, "removed");
    // What it says after that counts for the receipts, and nothing else that it says does.
    ok(&laptop.run(&["erase", "b.md", "--yes", "--reason", "x"]));
    ok(&laptop.run(&["sync"]));
    let receipt = receipt_on(&laptop);
    assert!(
        receipt.contains("was removed and has the keys of then"),
        "{receipt}"
    );
    ok(&ci.run(&leave));
    let left = fs::read_dir(ci.store().join("keyring")).expect("a folder");
    assert_eq!(left.count(), 0);
    for _ in 0..2 {
        ok(&laptop.run(&["sync"]));
        let receipt = receipt_on(&laptop);
        assert!(receipt.contains("destroyed by ci"), "{receipt}");
    }
    let listed = ok(&laptop.run(&["replicas", "list"]));
    assert!(listed.contains("removed  ci"), "{listed}");
}

/// The first keys of a machine come with a journal of their own, which is there before they are.
#[test]
fn first_keys_that_were_stopped_come_with_the_next_sync() {
    if !has_peer("strace", "first keys come after a sync that was stopped") {
        return;
    }
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let (new, code) = asking(&host, "new", &[]);
    ok(&laptop.run(&["replicas", "add", "new", "--code", &code]));
    ok(&laptop.run(&["sync"]));
    let fresh = new.path().join("fresh");
    fs::rename(new.store(), &fresh).expect("moves");
    let mut stopped = 0;
    let faults = [
        "pwrite64:signal=KILL",
        "pwrite64:error=ENOSPC",
        "fdatasync:error=EIO",
    ];
    for (turn, fault) in faults.into_iter().enumerate() {
        // Of a sample, each write is the last of a kill or the one that fails.
        for number in (1 + turn % every(2)..7).step_by(every(2)) {
            let fault = format!("{fault}:when={number}");
            let run = traced(&new, &["sync"], (&fresh, &new.store()), &fault);
            stopped += usize::from(!run.status.success());
            ok(&new.run(&["sync"]));
            assert_eq!(ok(&new.run(&["read", "b.md"])), "two\n", "{fault}");
            assert_eq!(verified(&new), Some(0), "{fault}");
        }
    }
    assert!(stopped > 2, "{stopped}");
    // A keyring that is lost later comes from a backup.
    ok(&laptop.run(&["keys", "backup", "keys.age"]));
    fs::remove_dir_all(new.store().join("keyring")).expect("there");
    let backup = laptop.path().join("keys.age");
    ok(&new.run(&[
        "pull",
        "--keys",
        path(&backup),
        "-i",
        path(&laptop.identity()),
    ]));
}

/// A lock that somebody left at the host is said as git says it, and not as somebody who was faster.
#[test]
fn a_lock_that_was_left_at_the_host_is_named() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    ok(&laptop.run(&["create", "n.md", "--text", "new"]));
    let lock = host.join("refs/heads/main.lock");
    fs::write(&lock, "").expect("written");
    for args in [["sync", "--json"], ["push", "--json"]] {
        let refusal = laptop.run(&args);
        let said = stdout(&refusal) + &stderr(&refusal);
        assert!(
            !refusal.status.success() && said.contains("main.lock"),
            "{said}"
        );
        assert!(
            !["overtaken", "diverged"].contains(&refused(&refusal).1.as_str()),
            "{said}"
        );
    }
    fs::remove_file(&lock).expect("there");
    ok(&laptop.run(&["sync"]));
}

/// Several syncs at once, beside commands: each is done or says why not, and nothing is lost.
#[test]
fn several_syncs_and_commands_at_once_do_no_harm() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let ci = joined(&laptop, &host, "ci");
    ok(&laptop.run(&["sync"]));
    std::thread::scope(|scope| {
        for worker in 0..3 {
            let laptop = &laptop;
            scope.spawn(move || {
                for number in 0..4 {
                    let name = format!("{worker}-{number}.md");
                    ok(&laptop.run(&["create", &name, "--text", &name]));
                    let sync = laptop.run(&["sync", "--json"]);
                    let push = laptop.run(&["push", "--json"]);
                    for done in [sync, push] {
                        let fine = done.status.success() || refused(&done).1 == "overtaken";
                        assert!(fine, "{}", stderr(&done));
                    }
                }
            });
        }
        let ci = &ci;
        scope.spawn(move || {
            for _ in 0..6 {
                let sync = ci.run(&["sync", "--json"]);
                let fine = ["overtaken", "no_mail"].contains(&refused(&sync).1.as_str());
                assert!(sync.status.success() || fine, "{}", stderr(&sync));
            }
        });
    });
    // ci may have a mailbox by now that the laptop has not heard of.
    for machine in [&laptop, &ci, &laptop, &ci] {
        drop(machine.run(&["sync"]));
    }
    for machine in [&laptop, &ci] {
        assert_eq!(head(&machine.store()), head(&host));
        assert_eq!(verified(machine), Some(0));
        assert_eq!(ok(&machine.run(&["ls"])).matches(".md").count(), 14);
    }
}

/// A server syncs by itself while its client works.
#[test]
fn a_server_keeps_in_sync() {
    use std::io::{BufRead, BufReader, Write};
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let ci = joined(&laptop, &host, "ci");
    ok(&laptop.run(&["create", "c.md", "--text", "three"]));
    ok(&laptop.run(&["sync"]));
    let mut server = ci.command(&["mcp", "--sync", "1s"]);
    let mut server = server
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("starts");
    let mut input = server.stdin.take().expect("it is piped");
    let mut output = BufReader::new(server.stdout.take().expect("it is piped"));
    let mut call = |message: Value| {
        writeln!(input, "{message}").expect("written");
        let mut line = String::new();
        if message.get("id").is_some() {
            output.read_line(&mut line).expect("an answer");
        }
        line
    };
    call(
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}),
    );
    call(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let view = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "memory_view", "arguments": {"path": "/memories/c.md"}}});
    let begun = std::time::Instant::now();
    // A look is an event, so it waits until the other's events are in.
    while head(&ci.store()) != head(&host) {
        assert!(begun.elapsed().as_secs() < 60, "nothing came");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let seen = call(view);
    assert!(seen.contains("three"), "{seen}");
    while head(&host) == head(&laptop.store()) {
        assert!(begun.elapsed().as_secs() < 60, "nothing was sent");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    drop(input);
    assert!(server.wait().expect("ends").success());
    ok(&laptop.run(&["sync"]));
    assert_eq!(verified(&laptop), Some(0));
    assert_eq!(verified(&ci), Some(0));
}

/// Every way in which keys are destroyed, for several memories at once, and a machine that was away for a year.
/// An archivist has every object that the host ever got, and in the end every key of every machine.
#[test]
fn whatever_destroys_keys_the_archivist_opens_nothing_of_it() {
    let laptop = Home::empty().made_by(&["init", "--trial", "--now", "2026-01-01"]);
    let host = laptop.path().join("host.git");
    bare(&host);
    let on =
        |machine: &Home, day: &str, args: &[&str]| machine.run(&[args, &["--now", day]].concat());
    let first = |args: &[&str]| ok(&on(&laptop, "2026-01-02", args));
    for (key, value) in [
        ("unaccessed_for", "60d"),
        ("grace", "10d"),
        ("then", "erase"),
    ] {
        first(&["policy", "set", &format!("expiration.{key}"), value]);
    }
    for (name, text) in [
        ("erased", "of weber"),
        ("whole", "first draft"),
        ("swept", "old news"),
    ] {
        first(&["create", &format!("{name}.md"), "--text", text]);
    }
    first(&["edit", "whole.md", "--old", "first", "--new", "second"]);
    first(&["remote", "add", "origin", path(&host)]);
    first(&["sync"]);
    let archive = laptop.path().join("archive.git");
    bare(&archive);
    let fetches = std::cell::Cell::new(0);
    let archives = || {
        fetches.set(fetches.get() + 1);
        let specs = format!("+refs/*:refs/kept/{}/*", fetches.get());
        ok(&git(&archive, &["fetch", "-q", path(&host), &specs]));
    };
    let join = |name: &str| {
        let (machine, code) = asking(&host, name, &["--now", "2026-01-03"]);
        ok(&on(
            &laptop,
            "2026-01-03",
            &["replicas", "add", name, "--code", &code],
        ));
        archives();
        ok(&on(&machine, "2026-01-03", &["sync"]));
        ok(&on(&laptop, "2026-01-03", &["sync"]));
        archives();
        machine
    };
    let (ci, away) = (join("ci"), join("away"));
    // What each of the three was.
    let texts = [
        ("erased.md", "of weber"),
        ("whole.md", "first draft"),
        ("swept.md", "old news"),
    ];
    let begun = head(&host);
    // They look at history as it was then, and as it is now.
    let opened_by = |machine: &Home| {
        let reads = |(name, text): &&(&str, &str)| {
            [&begun, &head(&host)].iter().any(|end| {
                ok(&git(
                    &archive,
                    &["update-ref", "refs/heads/main", end.trim()],
                ));
                let mut view = machine.command(&["view", name, "--at", "6"]);
                view.env("AGEKEEP_STORE", &archive)
                    .env("AGEKEEP_KEYRING", machine.store().join("keyring"));
                drop(fs::remove_dir_all(machine.path().join("archivist")));
                view.env("XDG_STATE_HOME", machine.path().join("archivist"));
                stdout(&feed(view, b"")).contains(text)
            })
        };
        texts.iter().filter(reads).count()
    };
    for machine in [&laptop, &ci, &away] {
        assert_eq!(opened_by(machine), 3, "the control");
    }
    let then = |day: &str, args: &[&str]| {
        ok(&on(&laptop, day, args));
        ok(&on(&laptop, day, &["sync"]));
        archives();
        ok(&on(&ci, day, &["sync"]));
        archives();
    };
    then(
        "2026-01-04",
        &["erase", "erased.md", "--yes", "--reason", "request 1"],
    );
    then(
        "2026-01-05",
        &[
            "erase",
            "whole.md",
            "--history",
            "--yes",
            "--reason",
            "request 2",
        ],
    );
    for day in ["2026-02-20", "2026-03-20", "2026-04-10"] {
        ok(&on(&laptop, day, &["view", "whole.md"]));
        then(day, &["expire"]);
    }
    let kept = ok(&on(&laptop, "2026-04-21", &["view", "whole.md"]));
    assert!(kept.contains("second draft"), "{kept}");
    ok(&on(&laptop, "2026-04-21", &["sync"]));
    archives();
    for machine in [&laptop, &ci] {
        assert_eq!(opened_by(machine), 0);
    }
    // Until it has synced, the machine that is away opens all of them, and the receipts name it.
    assert_eq!(opened_by(&away), 3);
    let receipts = |day: &str| {
        let log = json_lines(&on(&laptop, day, &["log", "--json"]).stdout);
        let mut shown = Vec::new();
        for event in log {
            let receipt = laptop.run(&["receipt", "show", &event["event"].to_string()]);
            if receipt.status.success() {
                shown.push(stdout(&receipt));
            }
        }
        assert!(shown.len() >= 3, "{shown:?}");
        shown.join("\n")
    };
    let before = receipts("2026-04-22");
    assert_eq!(
        before.matches("not yet by").count(),
        before.matches("destroyed by").count(),
        "{before}"
    );
    ok(&on(&away, "2027-01-10", &["sync", "--json"]));
    archives();
    ok(&on(&laptop, "2027-01-11", &["sync"]));
    archives();
    let after = receipts("2027-01-12");
    assert!(!after.contains("not yet by"), "{after}");
    let boxes = laptop.path().join("boxes");
    fs::create_dir(&boxes).expect("made");
    let mail = mail_at(&archive);
    assert!(mail.len() > 5, "{} pieces of mail", mail.len());
    for machine in [&laptop, &ci, &away] {
        assert_eq!(opened_by(machine), 0);
        assert_eq!(verified(machine), Some(0));
        for identity in [mailbox_of(machine, &boxes), machine.identity()] {
            let opens = mail
                .iter()
                .filter(|mail| opened(&identity, &mail.bytes).is_some());
            assert_eq!(opens.count(), 0);
        }
    }
}

/// A machine that was restored from its backup gets all keys from whoever sends all, though others, who sleep, sent
/// it the ends of the tables before.
#[test]
fn mail_that_does_not_fit_is_passed_over_for_another_machine_s() {
    let (home, host) = home_with_host();
    ok(&home.run(&["sync"]));
    let all = ["a", "b", "c"].map(|name| joined(&home, &host, name));
    let [sleeps, dozes, restored] = &all;
    let everybody = || {
        for machine in [&home, sleeps, dozes, restored, &home, sleeps, dozes] {
            ok(&machine.run(&["sync"]));
        }
    };
    everybody();
    let backup = home.path().join("backup");
    copy_folder(&restored.store(), &backup);
    ok(&home.run(&["create", "one.md", "--text", "1"]));
    everybody();
    ok(&home.run(&["create", "two.md", "--text", "2"]));
    for machine in [&home, sleeps, dozes] {
        ok(&machine.run(&["sync"]));
    }
    copy_folder(&backup, &restored.store());
    drop(fs::remove_dir_all(restored.state()));
    let asks = restored.run(&["sync", "--json"]);
    assert_eq!(refused(&asks), (Some(12), "no_mail".into()));
    ok(&home.run(&["sync"]));
    ok(&restored.run(&["sync"]));
    assert_eq!(ok(&restored.run(&["view", "--raw", "two.md"])), "2");
    assert_eq!(verified(restored), Some(0));
}

/// Refs that nobody asked for, however many there are, keep no machine from being let in.
#[test]
fn a_machine_is_let_in_beside_a_thousand_strange_refs() {
    let (home, host) = home_with_host();
    ok(&home.run(&["sync"]));
    let (machine, code) = asking(&host, "ci", &[]);
    let mut bad = Command::new("git");
    bad.args([
        "hash-object",
        "-t",
        "commit",
        "-w",
        "--stdin",
        "--literally",
    ])
    .current_dir(&host);
    let tree = stdout(&git(&host, &["rev-parse", "main^{tree}"]));
    let commit = format!("tree {tree}author nobody\ncommitter nobody\n\nwithout a date\n");
    let bad = ok(&feed(bad, commit.as_bytes()));
    let own = git(&host, &["rev-parse", &card_of(&host, "owner")]);
    let own = stdout(&own);
    let mut refs = String::from("# pack-refs with: peeled fully-peeled sorted \n");
    for number in 0..1_010 {
        // Some of them no git takes, and the others are another machine's.
        let to = if number % 200 == 3 { &bad } else { &own };
        let _ = writeln!(refs, "{} refs/agekeep/cards/{number:016x}", to.trim());
    }
    let packed = host.join("packed-refs");
    assert!(!packed.exists());
    fs::write(&packed, refs).expect("written");
    ok(&home.run(&["replicas", "add", "ci", "--code", &code]));
    ok(&home.run(&["sync"]));
    ok(&machine.run(&["sync"]));
}
