//! Something in the folder of a store that is no file, is elsewhere, or is far too long.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use sha1::Digest as _;

use crate::attack::canary::{self, AUTHORIZED_KEYS, DOCUMENTS};
use crate::attack::plant;
use crate::attack::probe::{self, Ran};
use crate::attack::scene::run;
use crate::support::forge::unhex;
use crate::support::{Home, git, stderr, stdout};

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

/// Runs a command in a process that may have so much memory, in megabytes.
fn run_within(home: &Home, megabytes: u32, args: &[&str]) -> Ran {
    let command = home.command(args);
    let mut shell = Command::new("/bin/sh");
    let script = format!("ulimit -v {megabytes}000; exec \"$0\" \"$@\"");
    shell.env_clear().current_dir(home.path());
    let set = command.get_envs();
    shell.envs(set.filter_map(|(name, value)| Some((name, value?))));
    shell.args(["-c", &script]).arg(command.get_program());
    probe::run(shell.args(command.get_args()), "")
}

/// What is damaged is refused, and no room is made for what it would swell to.
fn refused_in_little_memory(home: &Home) {
    for args in [&["view"][..], &["verify", "--identity", "/nowhere"]] {
        let ran = run_within(home, 400, args);
        assert_eq!((ran.fault(), ran.code), (None, Some(13)), "{}", ran.stderr);
        assert!(!ran.stderr.contains("memory"), "{}", ran.stderr);
    }
}

#[test]
fn no_room_is_made_for_a_long_record_before_its_checksum_fits() {
    let home = home();
    let path = home.store().join("journal");
    let mut bytes = fs::read(&path).expect("there");
    bytes[128..132].copy_from_slice(&(500_u32 << 20).to_le_bytes());
    fs::write(&path, bytes).expect("written");
    let file = fs::OpenOptions::new().write(true).open(&path);
    file.expect("opens").set_len(600 << 20).expect("is sparse");
    let ran = run_within(&home, 400, &["verify", "--identity", "/nowhere"]);
    assert_eq!(ran.fault(), None);
    assert!(!ran.stderr.contains("memory"), "{}", ran.stderr);
}

/// As `gzip` bombs are made: a gigabyte of zeros in one megabyte, whose header promises three bytes.
#[test]
fn an_object_that_goes_on_behind_its_end_is_not_inflated() {
    let home = home();
    let listed = stdout(&git(&home.store(), &["rev-parse", "main"]));
    let (fan, name) = listed.trim().split_at(2);
    let mut bomb = ZlibEncoder::new(Vec::new(), Compression::fast());
    bomb.write_all(b"blob 3\0abc").expect("in memory");
    let zeros = vec![0; 1 << 20];
    for _ in 0..1024 {
        bomb.write_all(&zeros).expect("in memory");
    }
    let path = home.store().join("objects").join(fan).join(name);
    plant::clear(&path);
    fs::write(&path, bomb.finish().expect("in memory")).expect("written");
    // What the journal has of it would do.
    plant::clear(&home.store().join("journal"));
    refused_in_little_memory(&home);
}

/// `verify` names what is no file where a file belongs, with a key and without.
#[test]
fn a_folder_in_the_place_of_a_file_is_found() {
    for (name, finding, code) in [
        ("keyring/ring", "keyring", 13),
        ("keyring/audit.age", "keyring", 13),
        // These say nothing of history, and without a key not everything is checked.
        ("main.before", "stray", 3),
        ("catalog", "stray", 3),
        ("timeline", "stray", 3),
    ] {
        let home = home();
        let path = home.store().join(name);
        plant::clear(&path);
        fs::create_dir(&path).expect("made");
        let args = ["verify", "--json", "--identity", "/nowhere"];
        let ran = probe::run_in(&home, &args, "");
        assert_eq!((ran.fault(), ran.code), (None, Some(code)), "{name}");
        let said = format!("\"{finding}\"");
        assert!(ran.stdout.contains(&said), "{name}: {}", ran.stdout);
    }
}

/// What is read beside a store, at a path that the user names.
#[test]
fn a_pipe_in_the_place_of_a_key_is_refused() {
    let home = home();
    plant::fifo(&home.path().join("pipe"));
    for args in [
        ["status", "--identity", "pipe"],
        ["verify", "--identity", "pipe"],
    ] {
        let ran = probe::run_in(&home, &args, "");
        assert_eq!((ran.fault(), ran.code), (None, Some(12)), "{}", ran.stderr);
    }
}

/// What this user has seen of stores, in files that somebody else could write to.
#[test]
fn what_was_seen_is_read_no_further_than_it_may_be_long() {
    let home = home();
    run(&home, &["verify"]); // what it has seen, it seals under a key of this user's
    let mut files = plant::list(&home.state());
    files.retain(|name| home.state().join(name).is_file());
    for end in ["pin", "place", "verified", "key"] {
        let name = files.iter().find(|name| name.ends_with(end));
        let name = name.unwrap_or_else(|| panic!("{end} in {files:?}"));
        let path = home.state().join(name);
        let before = fs::read(&path).expect("there");
        for (what, deed) in [("long", plant::grow as fn(&Path)), ("a pipe", plant::fifo)] {
            deed(&path);
            all_end(&home, &format!("{end} {what}"));
            let ran = run_within(&home, 400, &["status"]);
            let why = format!("{end} {what}: {}", ran.stderr);
            assert!(!ran.stderr.contains("out of memory"), "{why}");
            plant::clear(&path);
            fs::write(&path, &before).expect("written");
            plant::set_mode(&path, 0o600);
        }
    }
}

/// The same in a pack, whose index leads there.
#[test]
fn a_packed_object_that_goes_on_behind_its_end_is_not_inflated() {
    let home = home();
    run(&home, &["compact"]);
    let head = stdout(&git(&home.store(), &["rev-parse", "main"]));
    let head = unhex(head.trim());
    let folder = home.store().join("objects/pack");
    let file = |end: &str| {
        let mut files = plant::list(&folder).into_iter();
        let found = files.find(|name| name.extension().is_some_and(|found| found == end));
        folder.join(found.expect("compacted"))
    };
    let (pack, index) = (file("pack"), file("idx"));
    // How a commit of three bytes begins.
    let mut bomb = ZlibEncoder::new(vec![0x13], Compression::fast());
    let zeros = vec![0; 1 << 20];
    for _ in 0..1024 {
        bomb.write_all(&zeros).expect("in memory");
    }
    let bomb = bomb.finish().expect("in memory");
    let mut bytes = fs::read(&pack).expect("there");
    let at = bytes.len() - 20;
    bytes.splice(at..at, bomb);
    plant::clear(&pack);
    fs::write(&pack, bytes).expect("written");
    let mut bytes = fs::read(&index).expect("there");
    let names = 8 + 1024;
    let count = u32::from_be_bytes(bytes[names - 4..names].try_into().expect("four")) as usize;
    let slot = (0..count).find(|n| bytes[names + 20 * n..][..20] == head[..]);
    let offset = names + 24 * count + 4 * slot.expect("in the pack");
    let at = u32::try_from(at).expect("a small pack");
    bytes[offset..offset + 4].copy_from_slice(&at.to_be_bytes());
    let end = bytes.len() - 20;
    let sum = sha1::Sha1::digest(&bytes[..end]);
    bytes[end..].copy_from_slice(&sum);
    plant::clear(&index);
    fs::write(&index, bytes).expect("written");
    plant::clear(&home.store().join("journal"));
    refused_in_little_memory(&home);
}

/// The folder of the one place that is known.
fn place_in(places: &Path) -> PathBuf {
    let mut found = plant::list(places).into_iter();
    let name = found.find(|name| name.components().count() == 1);
    places.join(name.expect("the store's"))
}

/// Nobody ever writes to it, and a folder is opened in another way than a file.
#[test]
fn a_pipe_in_the_place_of_a_folder_outside_the_store_keeps_nobody_waiting() {
    let home = home();
    let places = home.state().join("places");
    let folder = place_in(&places);
    plant::fifo(&folder);
    for ran in all_end(&home, "the folder of a place") {
        assert!(
            !ran.is_ok() || ran.args.contains("/nowhere"),
            "{}",
            ran.args
        );
    }
    plant::clear(&folder);
    // The first use of a place.
    plant::fifo(&places.join("c".repeat(32)));
    all_end(&home, "the folder of another place");
    let keyring = home.path().join("keyring");
    plant::copy(&home.store().join("keyring"), &keyring);
    plant::clear(&keyring);
    plant::fifo(&keyring);
    let ran = probe::run_in(&home, &["status", "--keyring", "keyring"], "");
    assert!(ran.fault().is_none() && !ran.is_ok(), "{}", ran.stderr);
}

#[test]
fn nothing_is_written_or_removed_through_a_link_in_the_state_folder() {
    // A link in the place of the whole folder is the user's own: only what stands there stays.
    for (what, theirs, is_own) in [
        ("a place", "verified", false),
        ("places", "letter", false),
        ("state", "key", true),
    ] {
        let home = home();
        run(&home, &["verify"]);
        let victim = home.path().join("victim");
        fs::create_dir(&victim).expect("made");
        let text = "longer than any key of agekeep's is";
        fs::write(victim.join(theirs), text).expect("written");
        let places = home.state().join("places");
        match what {
            "a place" => plant::link(&place_in(&places), &victim),
            "places" => plant::link(&places, &victim),
            _ => plant::link(&home.state(), &victim),
        }
        for args in [&["status"][..], &["view"], &["verify"], &["log"]] {
            let ran = probe::run_in(&home, args, "");
            assert_eq!(ran.fault(), None, "{what}");
            let there = fs::read_to_string(victim.join(theirs));
            assert_eq!(there.expect("still there"), text, "{what} {args:?}");
            let count = plant::list(&victim).len();
            assert!(is_own || count == 1, "{what} {args:?}: something was made");
        }
    }
}

/// As a mounted file is: nothing takes its place.
#[test]
fn nobody_is_told_that_keys_are_gone_while_they_are_there() {
    let bind = |args: &[&str], path: &Path| {
        let done = Command::new("mount")
            .args(args)
            .arg(path)
            .arg(path)
            .output();
        done.is_ok_and(|done| done.status.success())
    };
    let home = home();
    let ring = home.store().join("keyring/ring");
    let before = fs::read(&ring).expect("there");
    if !plant::is_root() || !bind(&["--bind"], &ring) {
        eprintln!("*** NOT TESTED: a file that cannot be replaced takes root, and mounts ***");
        return;
    }
    let erase = ["erase", "/memories/a.md", "--reason", "asked", "--yes"];
    let ran = probe::run_in(&home, &erase, "");
    let same = fs::read(&ring).expect("there") == before;
    let freed = Command::new("umount").arg(&ring).status().expect("runs");
    assert!(freed.success() && same, "the control");
    assert_eq!((ran.fault(), ran.code), (None, Some(16)), "{}", ran.stdout);
    assert!(ran.stderr.contains("is recorded"), "{}", ran.stderr);
    // The next command goes on with it.
    run(&home, &["status"]);
    assert_ne!(fs::read(&ring).expect("there"), before);
    run(&home, &["verify", "--full"]);
}
