//! Something in the folder of a store that is no file, is elsewhere, or is far too long.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::thread;

use crate::attack::canary::{self, AUTHORIZED_KEYS, DOCUMENTS};
use crate::attack::plant;
use crate::attack::probe::{self, Ran};
use crate::attack::scene::run;
use crate::support::{Home, stderr, stdout};

/// Commands that open a store, the last two with no key.
const COMMANDS: [&[&str]; 8] = [
    &["view", "/memories/a.md"],
    &["status"],
    &["create", "/memories/b.md", "--text", "b\n"],
    &["log"],
    &["verify"],
    &["verify", "--full"],
    &["verify", "--identity", "/nowhere"],
    &["status", "--identity", "/nowhere"],
];

/// A home with files beside its store, which has a pack, loose objects and a journal.
fn home() -> Home {
    let home = Home::with_store();
    canary::put(home.path());
    run(&home, &["create", "/memories/a.md", "--text", "a\n"]);
    run(&home, &["compact"]);
    run(
        &home,
        &["insert", "/memories/a.md", "1", "--text", "more\n"],
    );
    home
}

/// Runs every command: all end, and nothing beside the store changes.
fn all_end(home: &Home, what: &str) -> Vec<Ran> {
    let before = canary::beside_the_store(home.path());
    let run = |args: &&[&str]| {
        let ran = probe::run_in(home, args, "");
        assert_eq!(ran.fault(), None, "{what}");
        let after = canary::beside_the_store(home.path());
        let touched = canary::differences(&before, &after);
        assert_eq!(touched, Vec::<String>::new(), "{what}: {args:?}");
        ran
    };
    COMMANDS.iter().map(run).collect()
}

fn some_are_refused(ran: &[Ran], what: &str) {
    let refused = ran[..6].iter().any(|ran| !ran.is_ok());
    assert!(refused, "{what}: nobody says so");
}

#[test]
fn the_branch_is_never_written_through_a_link() {
    for name in ["main.before", "refs/heads/main"] {
        let home = home();
        let head = fs::read(home.store().join(name)).expect("there");
        let target = home.path().join(AUTHORIZED_KEYS);
        plant::link(&home.store().join(name), &target);
        all_end(&home, name);
        let branch = home.store().join("refs/heads/main");
        let is_link = fs::symlink_metadata(&branch).expect("there").is_symlink();
        assert!(
            !is_link || name == "refs/heads/main",
            "the branch has become a link"
        );
        // The same with what the branch says in that file: it is still a link.
        plant::clear(&home.store().join(name));
        let kept = home.path().join("kept");
        fs::write(&kept, head).expect("written");
        plant::link(&home.store().join(name), &kept);
        all_end(&home, &format!("{name}, with its content"));
    }
}

#[test]
fn a_hard_link_to_a_file_elsewhere_is_not_written_through() {
    for name in [
        "main.before",
        "catalog",
        "timeline",
        "journal",
        "keyring/ring",
        "keyring/names",
        "lock",
    ] {
        let home = home();
        let path = home.store().join(name);
        plant::hard_link(&path, &home.path().join(AUTHORIZED_KEYS));
        all_end(&home, name);
    }
}

/// Nobody ever writes to it, so who opens it in the usual way waits for ever.
#[test]
fn a_pipe_in_the_place_of_any_file_keeps_nobody_waiting() {
    let template = home();
    let mut names = plant::list(&template.store());
    names.retain(|name| template.store().join(name).is_file());
    let more = [
        "packed-refs",
        "objects/info/alternates",
        "objects",
        "refs/heads",
        "keyring",
        "keyring/next-0123456789abcdef0123456789abcdef",
        "journal.new",
    ];
    names.extend(more.map(PathBuf::from));
    // Without the branch `packed-refs` is read.
    let names: Vec<_> = names
        .iter()
        .map(|name| (name, name.ends_with("packed-refs")))
        .collect();
    let waits = thread::scope(|scope| {
        let threads: Vec<_> = names
            .iter()
            .map(|(name, no_branch)| {
                let template = &template;
                scope.spawn(move || waited_for(template, name, *no_branch))
            })
            .collect();
        let ends = threads
            .into_iter()
            .map(|thread| thread.join().expect("it ends"));
        ends.flatten().collect::<Vec<_>>()
    });
    assert!(waits.is_empty(), "{}", waits.join("\n"));
}

/// The first command that does not end well with a pipe in the place of a file.
fn waited_for(template: &Home, name: &Path, no_branch: bool) -> Option<String> {
    let home = Home::empty();
    plant::copy(template.path(), home.path());
    if no_branch {
        fs::remove_file(home.store().join("refs/heads/main")).expect("there");
    }
    plant::fifo(&home.store().join(name));
    COMMANDS.iter().find_map(|args| {
        let fault = probe::run_in(&home, args, "").fault();
        fault.map(|fault| format!("{}: {fault}", name.display()))
    })
}

#[test]
fn a_keyring_that_is_a_link_is_refused_and_nothing_there_is_closed() {
    for target in [DOCUMENTS, "kept"] {
        let home = home();
        let keyring = home.store().join("keyring");
        if target == "kept" {
            plant::copy(&keyring, &home.path().join(target));
            for name in ["ring", "names", "epoch.age", "audit.age", ""] {
                plant::set_mode(&home.path().join(target).join(name), 0o755);
            }
        }
        plant::link(&keyring, &home.path().join(target));
        let ran = all_end(&home, target);
        let refused = ran[..6].iter().all(|ran| !ran.is_ok());
        assert!(refused, "{target}: the keyring is elsewhere, and is used");
    }
}

#[test]
fn what_is_far_too_long_is_refused_before_it_is_read() {
    let names = [
        "keyring/ring",
        "keyring/names",
        "keyring/epoch.age",
        "keyring/audit.age",
        "HEAD",
        "refs/heads/main",
        "main.before",
        "catalog",
        "timeline",
        "journal",
    ];
    for name in names {
        let home = home();
        plant::grow(&home.store().join(name));
        let ran = all_end(&home, name);
        let is_cache = ["main.before", "catalog", "timeline"].contains(&name);
        assert!(
            is_cache || ran[..6].iter().any(|ran| !ran.is_ok()),
            "{name}: nobody says so"
        );
    }
}

/// A record that says it is as long as a number can be, in a file that is.
#[test]
fn a_journal_record_of_four_gibibytes_is_refused_before_it_is_read() {
    let home = home();
    let path = home.store().join("journal");
    let mut bytes = fs::read(&path).expect("there");
    let mut at = 128;
    loop {
        let length = u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four"));
        if length == 0 {
            break;
        }
        at += 36 + length as usize;
    }
    bytes[at..at + 4].fill(0xff);
    fs::write(&path, bytes).expect("written");
    plant::grow(&path);
    some_are_refused(&all_end(&home, "journal"), "journal");
}

/// The first table of an index says how many objects there are; the file is as long as that.
#[test]
fn an_index_that_claims_four_thousand_million_objects_is_refused_before_it_is_read() {
    let home = home();
    let pack = home.store().join("objects/pack");
    let mut files = plant::list(&pack).into_iter();
    let index = files.find(|name| name.extension().is_some_and(|end| end == "idx"));
    let index = pack.join(index.expect("compacted"));
    plant::set_mode(&index, 0o600);
    let mut bytes = fs::read(&index).expect("there");
    bytes[8 + 255 * 4..8 + 256 * 4].fill(0xff);
    fs::write(&index, bytes).expect("written");
    plant::grow(&index);
    some_are_refused(&all_end(&home, "index"), "index");
}

/// Whoever owns the folder could exchange everything in it at any time.
#[test]
fn no_store_is_made_in_somebody_else_s_folder() {
    if !plant::is_root() {
        eprintln!("*** NOT TESTED: only root can make a folder of somebody else's ***");
        return;
    }
    let home = Home::empty();
    let folder = home.path().join("theirs");
    fs::create_dir(&folder).expect("made");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).expect("set");
    plant::give_away(&folder);
    let made = home.run(&["init", "--store", folder.to_str().expect("UTF-8")]);
    assert!(!made.status.success(), "{}{}", stdout(&made), stderr(&made));
    assert_eq!(
        fs::read_dir(&folder).expect("lists").count(),
        0,
        "nothing is left in it"
    );
}
