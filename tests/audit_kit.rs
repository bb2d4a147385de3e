//! An auditor's kit: what is in it, what she can do with it alone, and what is refused.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::keys::team::Team;
use crate::support::{every, git, has_peer, stderr, stdout, strace};

const OLGA: &str = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";

fn ok(output: &Output) -> String {
    assert!(
        output.status.success(),
        "{}{}",
        stderr(output),
        stdout(output)
    );
    stdout(output)
}

/// A team's store with reads, an erasure and an auditor.
fn team() -> Team {
    let team = Team::new();
    team.create("people/zoe.md", "a canary in here\n");
    team.create("plan.md", "another canary\n");
    team.add("olga", "auditor");
    team.ok(&["read", "plan.md"]);
    team.ok(&["erase", "people/zoe.md", "--reason", "she asked", "--yes"]);
    team
}

/// Makes a kit, and returns its folder.
fn kit(team: &Team, name: &str) -> PathBuf {
    let folder = team.home.path().join(name);
    let out = folder.to_str().expect("UTF-8");
    let said = team.ok(&["audit-kit", "--for", "olga", "--out", out]);
    assert!(said.contains("no key to a text"), "{said}");
    folder
}

/// Runs a command in the kit as olga does on a machine of her own.
fn as_olga(team: &Team, kit: &Path, args: &[&str]) -> Output {
    let mut all = vec!["--store", "store"];
    all.extend(args);
    team.home
        .command(&all)
        .current_dir(kit)
        .env("AGEKEEP_IDENTITY", team.identity("olga"))
        .env("XDG_CONFIG_HOME", team.home.path().join("olga"))
        .env("XDG_STATE_HOME", team.home.path().join("olga-state"))
        .output()
        .expect("runs")
}

/// Every file below a folder, with its mode; folders too.
fn files(folder: &Path) -> BTreeMap<String, u32> {
    let mut found = BTreeMap::new();
    let mut left = vec![folder.to_owned()];
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(&next).expect("a folder").flatten() {
            let meta = entry.path().symlink_metadata().expect("there");
            let name = entry.path();
            let name = name
                .strip_prefix(folder)
                .expect("below")
                .to_str()
                .expect("UTF-8");
            found.insert(name.to_owned(), meta.permissions().mode() & 0o777);
            if meta.is_dir() {
                left.push(entry.path());
            }
        }
    }
    found
}

#[test]
fn a_kit_is_all_that_an_auditor_needs_and_no_more() {
    let team = team();
    let kit = kit(&team, "kit");
    let there = files(&kit);
    let of_kit: Vec<&str> = there
        .keys()
        .map(String::as_str)
        .filter(|name| !name.starts_with("store/objects") && !name.starts_with("store/refs"))
        .collect();
    assert_eq!(
        of_kit,
        [
            "README.md",
            "checkpoint",
            "store",
            "store/HEAD",
            "store/config",
            "store/keyring",
            "store/keyring/audit.age",
            "store/keyring/names",
        ]
    );
    for name in [
        "README.md",
        "checkpoint",
        "store/keyring/audit.age",
        "store/keyring/names",
    ] {
        assert_eq!(there[name], 0o600, "{name}");
    }
    for name in ["store", "store/keyring", "store/objects"] {
        assert_eq!(there[name], 0o700, "{name}");
    }
    assert_eq!(
        fs::metadata(&kit).expect("there").permissions().mode() & 0o777,
        0o700
    );
    let page = fs::read_to_string(kit.join("README.md")).expect("there");
    assert!(!page.contains(['{', '}']), "{page}");
    for word in [
        "for olga",
        &team.recipient("olga"),
        "epoch.age",
        "signed by owner",
    ] {
        assert!(page.contains(word), "{word}: {page}");
    }
    // Nothing was recorded, and stock git takes it for what it is: the whole history.
    let head = |store: &Path| ok(&git(store, &["rev-parse", "main"]));
    assert_eq!(head(&kit.join("store")), head(&team.home.store()));
    ok(&git(&kit.join("store"), &["fsck", "--full", "--strict"]));
    let count = |store: &Path| ok(&git(store, &["rev-list", "--objects", "--all", "--count"]));
    assert_eq!(count(&kit.join("store")), count(&team.home.store()));
    let loose = there.keys().filter(|name| {
        name.starts_with("store/objects/") && name.len() == "store/objects/00".len()
    });
    assert_eq!(loose.count(), 0, "one pack holds it: {there:?}");
}

#[test]
fn an_auditor_verifies_and_reads_records_with_her_identity_alone() {
    let team = team();
    let kit = kit(&team, "kit");
    for turn in ["first", "again"] {
        let run = |args: &[&str]| as_olga(&team, &kit, args);
        let verify = run(&["verify", "--checkpoint", "checkpoint", "--json"]);
        assert_eq!(verify.status.code(), Some(3), "{turn}: {}", stdout(&verify));
        let report: Value = serde_json::from_slice(&verify.stdout).expect("a report");
        assert_eq!(report["findings"], serde_json::json!([]), "{turn}");
        let log = ok(&run(&["log"]));
        assert!(
            log.contains("/memories/plan.md") && log.contains("read"),
            "{turn}: {log}"
        );
        assert!(
            ok(&run(&["access", "plan.md"])).contains("plan.md"),
            "{turn}"
        );
        assert!(
            ok(&run(&["receipt", "show"])).contains("she asked"),
            "{turn}"
        );
        // She opens no text, so nothing speaks against it, and that is all.
        let receipt = run(&["receipt", "verify"]);
        assert_eq!(receipt.status.code(), Some(3), "{turn}");
        let said = stdout(&receipt);
        assert!(
            said.contains("holds as far as an auditor can tell"),
            "{said}"
        );
    }
    for args in [
        &["read", "plan.md"][..],
        &["view", "plan.md", "--at", "2"],
        &["grep", "canary"],
    ] {
        let refused = as_olga(&team, &kit, args);
        assert_eq!(
            refused.status.code(),
            Some(12),
            "{args:?}: {}",
            stderr(&refused)
        );
        let said = stderr(&refused) + &stdout(&refused);
        assert!(!said.contains("canary"), "{said}");
    }
    // A report needs no key to sign with either.
    let report = ["report", "--format", "markdown", "--out", "report.md"];
    ok(&as_olga(&team, &kit, &report));
    let report = fs::read_to_string(kit.join("report.md")).expect("made");
    assert!(
        report.contains("she asked") && !report.contains("canary"),
        "{report}"
    );
    // What was changed in it is found.
    let head = kit.join("store/refs/heads/main");
    let parent = ok(&git(&kit.join("store"), &["rev-parse", "main~1"]));
    fs::write(head, parent).expect("writes");
    let verify = as_olga(&team, &kit, &["verify", "--checkpoint", "checkpoint"]);
    assert_eq!(verify.status.code(), Some(13), "{}", stdout(&verify));
}

/// The folder that was handed over stands for the store in it.
#[test]
fn the_folder_of_the_kit_can_be_named_as_the_store() {
    let team = team();
    let kit = kit(&team, "kit");
    let in_kit = |folder: &str, args: &[&str]| {
        let mut command = team.home.command(&[&["--store", folder], args].concat());
        command.env("AGEKEEP_IDENTITY", team.identity("olga"));
        command.output().expect("runs")
    };
    let path = kit.to_str().expect("UTF-8");
    assert!(ok(&in_kit(path, &["log"])).contains("/memories/plan.md"));
    assert_eq!(in_kit(path, &["verify"]).status.code(), Some(3));
    // A folder that only looks a little like one is not.
    fs::remove_file(kit.join("checkpoint")).expect("there");
    assert_eq!(in_kit(path, &["log"]).status.code(), Some(10));
}

/// Runs a program with the folder before it mounted for reading only.
const READ_ONLY: &str = "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\" && shift && \
                         exec \"$@\"";

/// On a medium that cannot be written there is no lock, no journal and no cache, and all that she
/// may do works.
#[test]
fn a_kit_on_a_read_only_medium_is_enough() {
    let team = team();
    let kit = kit(&team, "kit");
    let run = |args: &[&str]| {
        let mut all = vec!["--store", "kit/store"];
        all.extend(args);
        let program = team.home.command(&all);
        let mut command = Command::new(crate::support::program("unshare"));
        command.args(["-rm", "sh", "-c", READ_ONLY, "sh"]);
        command.arg(&kit).arg(program.get_program()).args(&all);
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin");
        let set = program.get_envs();
        command.envs(set.filter_map(|(name, value)| Some((name, value?))));
        command
            .current_dir(team.home.path())
            .env("AGEKEEP_IDENTITY", team.identity("olga"))
            .env("XDG_CONFIG_HOME", team.home.path().join("olga"))
            .env("XDG_STATE_HOME", team.home.path().join("olga-state"))
            .output()
            .expect("unshare runs")
    };
    let before = files(&kit);
    let first = run(&["log"]);
    if stderr(&first).contains("unshare") || stderr(&first).contains("mount") {
        eprintln!("\n*** NOT TESTED: nothing can be mounted for reading only here ***\n");
        return;
    }
    assert!(ok(&first).contains("/memories/plan.md"));
    for turn in ["first", "again"] {
        let verify = run(&["verify", "--checkpoint", "kit/checkpoint"]);
        assert_eq!(verify.status.code(), Some(3), "{turn}: {}", stderr(&verify));
        let receipt = run(&["receipt", "verify"]);
        assert_eq!(
            receipt.status.code(),
            Some(3),
            "{turn}: {}",
            stderr(&receipt)
        );
        ok(&run(&["access", "plan.md"]));
        ok(&run(&["status"]));
        assert!(ok(&run(&["report", "--format", "markdown"])).contains("she asked"));
    }
    // What would write is refused by the disk, and says so.
    let refused = run(&["compact"]);
    assert_eq!(refused.status.code(), Some(16), "{}", stderr(&refused));
    assert_eq!(files(&kit), before);
}

#[test]
fn a_kit_of_a_store_for_trials_says_so() {
    let home = crate::support::Home::empty();
    let made = ok(&home.run(&["init", "--trial"]));
    assert!(made.contains("its times may be made up"), "{made}");
    ok(&home.run(&["members", "add", "olga", OLGA, "--role", "auditor"]));
    ok(&home.run(&["audit-kit", "--for", "olga", "--out", "kit"]));
    let page = fs::read_to_string(home.path().join("kit/README.md")).expect("there");
    assert!(page.contains("its times may be made up"), "{page}");
}

#[test]
fn the_next_kit_contains_the_one_before_and_stock_git_fetches_it() {
    let team = team();
    let first = kit(&team, "first");
    assert_eq!(as_olga(&team, &first, &["log"]).status.code(), Some(0));
    team.create("later.md", "later\n");
    let second = kit(&team, "second");
    let both = [
        "verify",
        "--checkpoint",
        "../first/checkpoint",
        "--checkpoint",
        "checkpoint",
    ];
    let verify = as_olga(&team, &second, &both);
    assert_eq!(verify.status.code(), Some(3), "{}", stdout(&verify));
    let said = stdout(&verify);
    assert_eq!(
        said.matches("is in today's history, unbroken").count(),
        2,
        "{said}"
    );
    // The newer one is not in the older kit's history.
    let newer = ["verify", "--checkpoint", "../second/checkpoint"];
    assert_eq!(as_olga(&team, &first, &newer).status.code(), Some(13));
    // The folder of before, brought up to date by stock git.
    let store = first.join("store");
    let from = second.join("store");
    let page = fs::read_to_string(first.join("README.md")).expect("there");
    let commands = page
        .rsplit("```sh\n")
        .next()
        .expect("a block")
        .replace("NEXT", "../second");
    let commands = commands.split("```").next().expect("its end");
    let fetched = Command::new("sh")
        .args(["-euc", commands])
        .current_dir(&first)
        .output();
    ok(&fetched.expect("sh runs"));
    assert_eq!(files(&from.join("keyring")), files(&store.join("keyring")));
    let log = ok(&as_olga(&team, &first, &["log", "later.md"]));
    assert!(log.contains("create"), "{log}");
    assert!(!store.join("journal").exists(), "only a command makes one");
    let verify = as_olga(
        &team,
        &first,
        &[
            "verify",
            "--checkpoint",
            "checkpoint",
            "--checkpoint",
            "../second/checkpoint",
        ],
    );
    assert_eq!(verify.status.code(), Some(3), "{}", stdout(&verify));
}

/// What only the journal has durably is in the kit: it was acknowledged.
#[test]
fn what_git_has_not_yet_is_in_the_kit() {
    let team = team();
    team.create("last.md", "last\n");
    let head = ok(&git(&team.home.store(), &["rev-parse", "main"]));
    let before = ok(&git(&team.home.store(), &["rev-parse", "main~1"]));
    // As after a power failure: the journal is whole, and the branch and the objects are not.
    fs::write(team.home.store().join("refs/heads/main"), before).expect("writes");
    let (fan, name) = head.trim().split_at(2);
    fs::remove_file(team.home.store().join("objects").join(fan).join(name)).expect("there");
    let kit = kit(&team, "kit");
    assert_eq!(ok(&git(&kit.join("store"), &["rev-parse", "main"])), head);
    ok(&git(&kit.join("store"), &["fsck", "--full", "--strict"]));
}

#[test]
fn what_is_no_place_for_a_kit_is_left_as_it_is() {
    let team = team();
    let home = team.home.path();
    fs::create_dir(home.join("empty")).expect("makes");
    fs::create_dir(home.join("full")).expect("makes");
    fs::write(home.join("full/notes"), "mine").expect("writes");
    fs::write(home.join("file"), "mine").expect("writes");
    symlink(home.join("empty"), home.join("link")).expect("links");
    symlink(home.join("store"), home.join("way-in")).expect("links");
    let before = files(home);
    team.add("ben", "reader");
    let made = |auditor: &str, out: &str| {
        team.run_as("owner", &["audit-kit", "--for", auditor, "--out", out])
    };
    for (code, auditor, out, why) in [
        (5, "olga", "full", "is not empty"),
        (5, "olga", "file", "no folder"),
        (5, "olga", "link", "a link"),
        (5, "olga", "store", "is not empty"),
        (5, "olga", "store/kit", "is in the store"),
        (5, "olga", "way-in/keyring/kit", "is in the store"),
        (16, "olga", "nowhere/kit", "nowhere"),
        (4, "nobody", "kit", "nobody"),
        (2, "ben", "kit", "ben is a reader"),
        (2, "owner", "kit", "owner is a reader"),
    ] {
        let refused = made(auditor, out);
        let said = stderr(&refused);
        assert_eq!(refused.status.code(), Some(code), "{auditor} {out}: {said}");
        assert!(said.contains(why), "{auditor} {out}: {said}");
        assert!(
            said.contains("hint: ") && !said.contains("--help"),
            "{said}"
        );
    }
    let of_home = |files: BTreeMap<String, u32>| -> Vec<String> {
        files
            .into_keys()
            .filter(|name| {
                !name.starts_with("store/") && name != "ben.txt" && !name.starts_with(".local")
            })
            .collect()
    };
    assert_eq!(of_home(files(home)), of_home(before), "nothing was made");
    // Without a key to sign with there is no checkpoint, and so no kit.
    let nobody = [
        "--signing-key",
        "/nowhere",
        "audit-kit",
        "--for",
        "olga",
        "--out",
        "kit",
    ];
    assert_eq!(team.run_as("owner", &nobody).status.code(), Some(12));
    assert!(!home.join("kit").exists());
    ok(&made("olga", "empty"));
    assert!(home.join("empty/checkpoint").exists());
}

#[test]
fn a_store_with_a_hole_makes_no_kit() {
    let team = team();
    team.ok(&["compact"]);
    let pack = fs::read_dir(team.home.store().join("objects/pack")).expect("there");
    let pack = pack.flatten().map(|file| file.path());
    let pack = pack.filter(|path| path.extension().is_some_and(|end| end == "pack"));
    for file in pack {
        let mut bytes = fs::read(&file).expect("reads");
        let middle = bytes.len() / 2;
        bytes[middle..middle + 64].fill(0x5a);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("sets");
        fs::write(&file, bytes).expect("writes");
    }
    let refused = team.run_as("owner", &["audit-kit", "--for", "olga", "--out", "kit"]);
    assert_eq!(refused.status.code(), Some(13), "{}", stderr(&refused));
    assert!(!team.home.path().join("kit").exists());
    let left = files(team.home.path());
    let half_made = left.keys().find(|name| name.starts_with(".agekeep-init"));
    assert_eq!(half_made, None);
}

/// The system calls by which a kit comes to be.
const CALLS: [&str; 6] = [
    "mkdirat",
    "write",
    "syncfs",
    "renameat",
    "renameat2",
    "fsync",
];

#[test]
fn killed_at_any_system_call_there_is_a_whole_kit_or_none() {
    if !has_peer("strace", "a kit is whole after a kill at every system call") {
        return;
    }
    let team = team();
    let place = team.home.path().join("kit");
    let (mut killed, mut whole) = (0, 0);
    for call in CALLS {
        let step = every(4);
        for number in (1..).step_by(step) {
            let traced = team
                .home
                .command(&["audit-kit", "--for", "olga", "--out", "kit"]);
            let set = traced.get_envs();
            let kill = format!("inject={call}:signal=KILL:when={number}");
            let run = strace(&kill)
                .args(["-o", "/dev/null", "-e", &format!("trace={call}")])
                .args(["-e", &kill])
                .arg(traced.get_program())
                .args(traced.get_args())
                .env_clear()
                .envs(set.filter_map(|(name, value)| Some((name, value?))))
                .current_dir(team.home.path())
                .output()
                .expect("strace runs");
            killed += usize::from(!run.status.success());
            if place.exists() {
                whole += 1;
                ok(&git(&place.join("store"), &["fsck", "--full", "--strict"]));
                let verify = as_olga(&team, &place, &["verify", "--checkpoint", "checkpoint"]);
                assert_eq!(
                    verify.status.code(),
                    Some(3),
                    "{call} {number}: {}",
                    stdout(&verify)
                );
                fs::remove_dir_all(&place).expect("removes");
            }
            if run.status.success() {
                break;
            }
        }
    }
    assert!(
        killed > 4 && whole >= CALLS.len(),
        "{killed} kills, {whole} kits"
    );
}
