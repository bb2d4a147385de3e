//! A keyring in a place of its own, and a store without its keyring.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::keys::team::Team;
use crate::remote::traced;
use crate::support::{Home, every, has_peer, json_lines, settle, stderr, stdout};

/// A store whose keyring is in `keys` beside it.
fn apart() -> Team {
    let home = Home::empty();
    let keys = home.path().join("volume/keys");
    let made = home.run(&["init", "--keyring", keys.to_str().expect("UTF-8")]);
    assert!(made.status.success(), "{}", stderr(&made));
    assert!(stdout(&made).contains("volume/keys"), "{}", stdout(&made));
    Team { home }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("there").flatten();
    let mut names: Vec<_> = entries
        .map(|entry| entry.file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    names
}

#[test]
fn keys_and_content_are_in_different_places() {
    let team = apart();
    let keys = team.home.path().join("volume/keys");
    team.create("a.md", "text\n");
    team.add("bob", "reader");
    team.ok(&["rekey"]);
    team.ok(&["recipients", "rm", "bob"]);
    assert_eq!(team.ok(&["read", "/memories/a.md"]), "text\n");
    assert_eq!(names(&keys), ["audit.age", "epoch.age", "names", "ring"]);
    assert!(team.home.store().join("keyring").is_file());
    team.assert_verified("with the keyring elsewhere");
    // The journal can be gone as ever.
    fs::remove_file(team.home.store().join("journal")).expect("there");
    assert_eq!(team.ok(&["read", "/memories/a.md"]), "text\n");
    team.assert_verified("without a journal");
}

/// A copy that names the store's keyring would change it: a restore drill that erases
/// something would erase it in the store.
#[test]
fn a_copy_does_not_write_with_the_keyring_of_the_store() {
    let team = apart();
    team.create("a.md", "text of a\n");
    let keys = team.home.path().join("volume/keys");
    let (copy, own) = (
        team.home.path().join("copy"),
        team.home.path().join("copied"),
    );
    for (from, to) in [(&team.home.store(), &copy), (&keys, &own)] {
        settle(&team.home.store());
        let copied = Command::new("cp").arg("-a").arg(from).arg(to).status();
        assert!(copied.expect("cp runs").success());
    }
    let before: Vec<_> = ["ring", "names", "epoch.age", "audit.age"]
        .map(|name| fs::read(keys.join(name)).expect("there"))
        .into();
    let (copy, own) = (copy.to_str().expect("UTF-8"), own.to_str().expect("UTF-8"));
    let elsewhere = team.home.path().join("elsewhere");
    for args in [
        &["create", "/memories/b.md", "--text", "x"][..],
        &["erase", "/memories/a.md", "--yes", "--reason", "drill"],
        &["expire", "--yes"],
        &["keys", "replace"],
        &["members", "add", "eve", "--new"],
        &["keys", "move", elsewhere.to_str().expect("UTF-8")],
        &["view", "/memories/a.md"],
    ] {
        let said = team.fails(6, &[&["--store", copy], args].concat());
        assert!(said.contains("the same keyring"), "{args:?}: {said}");
        assert!(said.contains("--keyring"), "{args:?}: {said}");
    }
    // Neither does it if somebody names that keyring.
    let live = keys.to_str().expect("UTF-8");
    let args = ["--store", copy, "--keyring", live, "view", "/memories/a.md"];
    assert!(team.fails(6, &args).contains("the same keyring"));
    // It can be looked at, and with a keyring of its own it can be tried whole.
    team.ok(&["--store", copy, "log"]);
    let own = ["--store", copy, "--keyring", own];
    for args in [
        &["view", "/memories/a.md"][..],
        &["create", "/memories/b.md", "--text", "x"],
        &["erase", "/memories/a.md", "--yes", "--reason", "drill"],
        &["verify", "--full"],
    ] {
        team.ok(&[&own[..], args].concat());
    }
    // From then on it does not fit the keyring of the store, of which nothing is said to be damaged.
    for args in [&["view", "/memories/a.md"][..], &["log"]] {
        let said = team.fails(6, &[&own[..2], args].concat());
        assert!(said.contains("the same keyring"), "{args:?}: {said}");
    }
    let after: Vec<_> = ["ring", "names", "epoch.age", "audit.age"]
        .map(|name| fs::read(keys.join(name)).expect("there"))
        .into();
    assert_eq!(before, after, "the store's keyring is as it was");
    assert_eq!(team.ok(&["read", "/memories/a.md"]), "text of a\n");
    team.assert_verified("after the drill");
}

#[test]
fn a_store_whose_keyring_is_missing_says_so_and_what_still_works() {
    let team = apart();
    let keys = team.home.path().join("volume/keys");
    team.create("a.md", "text\n");
    let (aside, moved) = (team.home.path().join("aside"), || {
        stdout(&team.home.run(&["log"]))
    });
    fs::rename(&keys, &aside).expect("moved");
    assert_eq!(moved(), "");
    for args in [
        &["read", "/memories/a.md"][..],
        &["log"],
        &["status"],
        &["rekey"],
    ] {
        let said = team.fails(12, args);
        assert!(said.contains("volume/keys is missing"), "{said}");
        assert!(said.contains("`agekeep verify` still checks"), "{said}");
    }
    let verified = team.home.run(&["verify", "--full", "--json"]);
    assert_eq!(verified.status.code(), Some(3));
    let report = json_lines(&verified.stdout).remove(0);
    assert_eq!(
        report["findings"].as_array().map(Vec::len),
        Some(1),
        "{report}"
    );
    assert_eq!(report["findings"][0]["id"], "keyring-missing");
    assert_eq!(report["events"], 2, "history is read all the same");
    // It is said where it is now: for one command, for all of them, and for everybody.
    let place = aside.to_str().expect("UTF-8");
    let args = ["--keyring", place, "read", "/memories/a.md"];
    assert_eq!(team.ok(&args), "text\n");
    let mut by_environment = team.home.command(&["read", "/memories/a.md"]);
    let read = by_environment.env("AGEKEEP_KEYRING", place).output();
    assert_eq!(stdout(&read.expect("runs")), "text\n");
    team.ok(&["--keyring", place, "keys", "move", place]);
    assert_eq!(team.ok(&["read", "/memories/a.md"]), "text\n");
    team.assert_verified("in its new place");
}

/// Where the keyring is, is a thing of each machine: the policy, which all of them get, names no folder.
#[test]
fn a_policy_names_no_folder_for_the_keyring() {
    let team = apart();
    team.create("a.md", "text\n");
    let policy = team.home.path().join("policy.toml");
    let keys = team.home.path().join("volume/keys");
    let events = team.newest()["event"].clone();
    for text in [
        format!("[keyring]\nfolder = {keys:?}\n"),
        "[keyring]\nfolder = \"keys\"\n".to_owned(),
        "[keyring]\nfolder = 7\n".to_owned(),
        "[keyring]\nplace = \"/keys\"\n".to_owned(),
    ] {
        fs::write(&policy, &text).expect("written");
        let file = policy.to_str().expect("UTF-8");
        team.fails(2, &["policy", "set", "--policy", file]);
        let other = team.home.path().join("other");
        let args = ["--store", other.to_str().expect("UTF-8"), "init"];
        team.fails(2, &[&args[..], &["--policy", file]].concat());
    }
    assert_eq!(team.newest()["event"], events);
    let recorded = stdout(&team.home.git(&["show", "main:agekeep.toml"]));
    assert!(
        !recorded.contains("keyring") && !recorded.contains("volume"),
        "{recorded}"
    );
}

#[test]
fn a_keyring_moves_where_there_is_room_for_it_and_back() {
    let team = Team::new();
    team.create("a.md", "text\n");
    team.ok(&["write", "/memories/a.md", "--text", "text\n"]);
    let (store, volume) = (team.home.store(), team.home.path().join("volume"));
    let [first, second, full] = ["first", "second", "full"].map(|name| volume.join(name));
    fs::create_dir_all(&full).expect("made");
    fs::write(full.join("something"), "of somebody's").expect("written");
    let text = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    let own = store.join("keyring");
    for (refused, code) in [
        (full.clone(), 5),
        (store.join("objects"), 2),
        (team.home.path().to_owned(), 2),
        (full.join("something"), 16),
    ] {
        team.fails(code, &["keys", "move", &text(&refused)]);
        assert_eq!(team.ok(&["read", "/memories/a.md"]), "text\n");
    }
    assert_eq!(names(&full), ["something"]);
    // A keyring from before an erasure that somebody names does not take the place of the one there is.
    let old = team.home.path().join("old");
    let copied = Command::new("cp").arg("-a").arg(&own).arg(&old).status();
    assert!(copied.expect("cp runs").success());
    let erase = [
        "erase",
        "/memories/a.md",
        "--history",
        "--yes",
        "--reason",
        "x",
    ];
    team.ok(&erase);
    for place in [&first, &own] {
        let (old, place) = (text(&old), text(place));
        team.fails(6, &["--keyring", &old, "keys", "move", &place]);
    }
    // By whatever path, the folder is the same, and the store's is no other folder.
    let link = team.home.path().join("link");
    std::os::unix::fs::symlink(team.home.path(), &link).expect("linked");
    let by_link = link.join("store");
    let other = Team::new();
    for (at, to, code) in [
        (&by_link, by_link.join("keyring"), 0),
        (&store, by_link.join("keyring"), 0),
        (&by_link, store.join("keyring"), 0),
        (&by_link, store.join("keys"), 2),
        (&store, by_link.join("keys"), 2),
        (&store, other.home.store().join("keys"), 2),
    ] {
        let moved = team
            .home
            .run(&["--store", &text(at), "keys", "move", &text(&to)]);
        assert_eq!(
            moved.status.code(),
            Some(code),
            "{at:?} {to:?} {}",
            stderr(&moved)
        );
        assert_eq!(team.ok(&["read", "/memories/a.md"]), "text\n");
    }
    let mut events = team.newest()["event"].clone();
    for place in [&first, &first, &second, &own, &own, &first, &own] {
        let moved = team.ok(&["keys", "move", &text(place), "--json"]);
        assert!(moved.contains(&text(place)), "{moved}");
        assert_eq!(team.newest()["event"], events, "a move is no event");
        for other in [&first, &second] {
            let left = if other.exists() {
                names(other)
            } else {
                Vec::new()
            };
            assert_eq!(left.is_empty(), other != place, "{left:?}");
        }
        assert_eq!(own.is_dir(), *place == own);
        let left = names(&store);
        assert!(
            !left.iter().any(|name| name.starts_with(".agekeep")),
            "{left:?}"
        );
        team.create(&format!("{events}.md"), "more\n");
        team.ok(&[
            "erase",
            &format!("/memories/{events}.md"),
            "--yes",
            "--reason",
            "done",
        ]);
        team.assert_verified("after a move");
        events = team.newest()["event"].clone();
    }
    assert_eq!(team.ok(&["read", "/memories/a.md"]), "text\n");
}

/// The folders in a store's folder, at any depth, that have a table of keys.
fn tables_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("there").flatten();
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.path();
        if path.is_dir() {
            found.extend(tables_in(&path));
        } else if entry.file_name() == "ring" {
            found.push(folder.display().to_string());
        }
    }
    found
}

/// Killed anywhere, or with a call that fails, a move leaves the store one keyring that opens it. After
/// the next erasure none is left in its folder beside that one.
#[test]
fn a_move_that_is_killed_or_fails_leaves_one_keyring() {
    if !has_peer(
        "strace",
        "a move of the keyring killed at every system call",
    ) {
        return;
    }
    let team = Team::new();
    let (store, volume) = (team.home.store(), team.home.path().join("volume"));
    team.create("a.md", "text of a\n");
    team.create("b.md", "text of b\n");
    settle(&store);
    let fresh = team.home.path().join("fresh");
    let text = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    let [first, second] = ["first", "second"].map(|name| volume.join(name));
    let own = store.join("keyring");
    let (mut stopped, mut done) = (0, 0);
    for (from, to) in [(&own, &first), (&first, &own), (&first, &second)] {
        for fault in [
            "renameat2:signal=KILL",
            "renameat:signal=KILL",
            "fsync:signal=KILL",
            "unlinkat:signal=KILL",
            "mkdirat:signal=KILL",
            "write:signal=KILL",
            "renameat2:error=EIO",
            "renameat:error=ENOSPC",
            "fsync:error=EIO",
            "write:error=ENOSPC",
        ] {
            let is_switch = fault.starts_with("rename");
            for number in (1..40).step_by(if is_switch { 1 } else { every(5) }) {
                let fault = format!("{fault}:when={number}");
                drop(fs::remove_dir_all(&volume));
                if !fresh.exists() {
                    fs::rename(&store, &fresh).expect("moves");
                }
                let (args, ready) = (["keys", "move", &text(to)], team.home.path().join("ready"));
                drop(fs::remove_dir_all(&ready));
                // A copy that is put back is no rollback here.
                drop(fs::remove_dir_all(team.home.path().join(".local/state")));
                drop(fs::remove_dir_all(&store));
                let copied = Command::new("cp")
                    .arg("-a")
                    .arg(&fresh)
                    .arg(&store)
                    .status();
                assert!(copied.expect("cp runs").success());
                if *from != own {
                    let moved = team.home.run(&["keys", "move", &text(from)]);
                    assert!(moved.status.success(), "{}", stderr(&moved));
                }
                fs::rename(&store, &ready).expect("moves");
                let run = traced(&team.home, &args, (&ready, &store), &fault);
                let said = format!("{from:?} {to:?} {fault}: {}", stderr(&run));
                stopped += usize::from(!run.status.success());
                done += usize::from(run.status.success());
                let read = team.home.run(&["read", "/memories/a.md"]);
                assert_eq!(stdout(&read), "text of a\n", "{said}: {}", stderr(&read));
                let erase = ["erase", "/memories/b.md", "--yes", "--reason", "asked"];
                let erase = team.home.run(&erase);
                assert!(erase.status.success(), "{said}: {}", stderr(&erase));
                let verify = team.home.run(&["verify", "--full"]);
                assert!(verify.status.success(), "{said}: {}", stdout(&verify));
                let left = tables_in(&store);
                let expected: Vec<String> = own.is_dir().then(|| text(&own)).into_iter().collect();
                assert_eq!(left, expected, "{said}");
                // Past the last call of its kind nothing fails any more.
                if run.status.success() {
                    break;
                }
            }
        }
    }
    assert!(stopped > 20 && done > 10, "{stopped} stopped, {done} done");
}

/// Whoever can write the store's folder can write the file, too: it leads nowhere.
#[test]
fn a_file_in_the_place_of_the_keyring_is_a_path_or_an_error() {
    let team = apart();
    team.create("a.md", "text\n");
    let file = team.home.store().join("keyring");
    let right = fs::read(&file).expect("there");
    let empty = team.home.path().join("empty");
    fs::create_dir(&empty).expect("made");
    let other = Team::new();
    other.create("b.md", "of another store\n");
    let keys_of_other = other.home.store().join("keyring");
    for (text, code) in [
        (b"".to_vec(), 13),
        (b"volume/keys\n".to_vec(), 13),
        (b"/no/end".to_vec(), 13),
        (b"\xff\n".to_vec(), 13),
        (vec![b'/'; 9000], 13),
        (b"/no/such/folder\n".to_vec(), 12),
        (format!("{}\n", empty.display()).into_bytes(), 12),
        (format!("{}\n", keys_of_other.display()).into_bytes(), 13),
        (
            format!("{}\n", team.home.identity().display()).into_bytes(),
            16,
        ),
    ] {
        fs::write(&file, &text).expect("written");
        let said = String::from_utf8_lossy(&text[..text.len().min(80)]).into_owned();
        for args in [
            &["read", "/memories/a.md"][..],
            &["create", "/memories/c.md", "--text", "x"],
        ] {
            let output = team.home.run(args);
            assert_eq!(
                output.status.code(),
                Some(code),
                "{said}: {}",
                stderr(&output)
            );
        }
        assert!(
            team.home.run(&["verify", "--full"]).status.code() != Some(0),
            "{said}"
        );
    }
    assert_eq!(names(&empty), [""; 0]);
    other.assert_verified("whose keyring was named");
    fs::write(&file, right).expect("written");
    assert_eq!(team.ok(&["read", "/memories/a.md"]), "text\n");
    team.assert_verified("as it was");
}

#[test]
fn no_keyring_is_made_where_something_is() {
    let home = Home::empty();
    let keys = home.path().join("keys");
    fs::create_dir(&keys).expect("made");
    fs::write(keys.join("something"), "of somebody's").expect("written");
    let made = home.run(&["init", "--keyring", keys.to_str().expect("UTF-8")]);
    assert_eq!(made.status.code(), Some(5), "{}", stderr(&made));
    assert!(!home.store().join("HEAD").exists());
    assert_eq!(names(&keys), ["something"]);
}

/// A process that runs on follows the keyring to its new place: no key goes to the old one.
#[test]
fn a_move_of_the_keyring_loses_no_key() {
    let team = Team::new();
    team.create("a.md", "text\n");
    let store = team.home.store();
    let place = team.home.path().join("elsewhere");
    let calls = |range: std::ops::Range<u32>| -> String {
        range
            .map(|n| format!("{{\"command\":\"create\",\"path\":\"/memories/{n}.md\",\"file_text\":\"text {n}\\n\"}}\n"))
            .collect()
    };
    let mut runs_on = team.home.command(&["tool"]);
    let mut child = runs_on
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("starts");
    let mut input = child.stdin.take().expect("piped");
    let mut output = std::io::BufReader::new(child.stdout.take().expect("piped"));
    let mut say = |text: &str, lines: usize| {
        use std::io::{BufRead, Write};
        input.write_all(text.as_bytes()).expect("written");
        for _ in 0..lines {
            let mut line = String::new();
            output.read_line(&mut line).expect("answered");
            assert!(line.contains("\"is_error\":false"), "{line}");
        }
    };
    say(&calls(0..5), 5);
    team.ok(&["keys", "move", place.to_str().expect("UTF-8")]);
    say(&calls(5..10), 5);
    team.ok(&[
        "keys",
        "move",
        store.join("keyring").to_str().expect("UTF-8"),
    ]);
    say(&calls(10..15), 5);
    for n in 0..15 {
        assert_eq!(
            team.ok(&["read", &format!("/memories/{n}.md")]),
            format!("text {n}\n")
        );
    }
    team.assert_verified("after the move");
    child.kill().expect("runs");
    child.wait().expect("ends");
}

/// However its folder is spelled, it is the same keyring.
#[test]
fn another_spelling_of_its_folder_is_no_second_keyring() {
    let team = apart();
    team.create("a.md", "text\n");
    let keys = team.home.path().join("volume/keys");
    let link = team.home.path().join("link");
    std::os::unix::fs::symlink(&keys, &link).expect("linked");
    for spelling in ["volume/keys/", "volume/../volume/keys", "link"] {
        team.ok(&["--keyring", spelling, "rekey"]);
        team.add(
            spelling
                .split('/')
                .next_back()
                .filter(|s| !s.is_empty())
                .unwrap_or("slash"),
            "reader",
        );
        assert_eq!(
            team.ok(&["--keyring", spelling, "read", "/memories/a.md"]),
            "text\n"
        );
    }
    team.assert_verified("after all spellings");
    assert_eq!(names(&keys), ["audit.age", "epoch.age", "names", "ring"]);
    // The store keeps the folder as it is, whatever way led there.
    let home = Home::empty();
    fs::create_dir(home.path().join("on-the-way")).expect("made");
    let way = home.path().join("on-the-way/../keys");
    let made = home.run(&["init", "--keyring", way.to_str().expect("UTF-8")]);
    assert!(made.status.success(), "{}", stderr(&made));
    fs::remove_dir(home.path().join("on-the-way")).expect("there");
    assert!(home.run(&["log"]).status.success());
    // And none in a store, nor around it, also by a link.
    let other = Home::with_store();
    let home = Home::empty();
    fs::create_dir(home.path().join("store")).expect("made");
    let links = [
        ("to-store", home.path().join("store")),
        ("around", home.path().to_owned()),
        ("to-other", other.store().join("objects")),
    ];
    for (link, to) in links {
        symlink(to, home.path().join(link)).expect("made");
    }
    let places = [
        "store/objects",
        "store",
        ".",
        "to-store",
        "to-store/keys",
        "around",
        "to-other/keys",
    ];
    for place in places {
        let place = home.path().join(place);
        let refused = home.run(&["init", "--keyring", place.to_str().expect("UTF-8")]);
        assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    }
    assert!(home.run(&["init"]).status.success());
}

#[test]
fn a_file_of_several_recipients_lets_nobody_in() {
    let team = Team::new();
    let file = team.home.path().join("two.pub");
    let two = format!(
        "# two\n{}\n{}\n",
        team.recipient("bob"),
        team.recipient("eve")
    );
    fs::write(&file, two).expect("written");
    let said = team.fails(
        2,
        &["recipients", "add", "two", file.to_str().expect("UTF-8")],
    );
    assert!(said.contains("more than one line"), "{said}");
    let said = team.fails(2, &["recipients", "add", "two", "nowhere.pub"]);
    assert!(said.contains("no such file"), "{said}");
    assert_eq!(team.members().len(), 1);
}

/// What was meant to be a file's name and is the secret itself is not shown.
#[test]
fn a_secret_in_the_place_of_a_file_is_not_shown() {
    let team = Team::new();
    let text = fs::read_to_string(team.identity("bob")).expect("there");
    let secret = text.lines().last().expect("an identity");
    for args in [
        &["-i", secret, "status"][..],
        &["--signing-key", secret, "status"],
        &["--store", secret, "status"],
        &["--passphrase-fd", secret, "-i", "locked", "status"],
    ] {
        let output = team.home.run(args);
        let said = stdout(&output) + &stderr(&output);
        assert!(!output.status.success(), "{said}");
        assert!(!said.contains(&secret[..30]), "{said}");
    }
}
