//! Keyrings and histories of different moments, keyrings that move, and arguments in wrong places.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::keys::members::Talk;
use crate::keys::team::Team;
use crate::support::{has_peer, stderr, stdout};

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").arg(from).arg(to).status();
    assert!(copied.expect("cp runs").success());
}

/// A backup of the repository from before new keys, and the keyring from after: what the old journal
/// says of the keyring does not go over what is there.
#[test]
fn an_older_repository_does_not_spoil_a_newer_keyring() {
    let team = Team::new();
    for name in ["a", "b", "c"] {
        team.create(&format!("{name}.md"), &format!("text of {name}\n"));
    }
    let monday = team.home.path().join("monday");
    copy(&team.home.store(), &monday);
    team.ok(&["rekey"]);
    team.create("later.md", "text of later\n");
    let keyring = team.home.path().join("keyring");
    fs::rename(team.home.store().join("keyring"), &keyring).expect("moved");
    fs::remove_dir_all(team.home.store()).expect("there");
    fs::remove_dir_all(team.home.state()).expect("there");
    copy(&monday, &team.home.store());
    fs::remove_dir_all(team.home.store().join("keyring")).expect("there");
    fs::rename(&keyring, team.home.store().join("keyring")).expect("moved");
    // The ref is behind, so that the journal is applied again.
    fs::remove_file(team.home.store().join("refs/heads/main")).expect("there");
    // History does not name these keys, which somebody else might have put there.
    let said = team.fails(13, &["read", "/memories/a.md"]);
    assert!(said.contains("not those that history names"), "{said}");
    team.ok(&["accept-rollback", "--reason", "restored from two backups"]);
    for name in ["a", "b", "c"] {
        let text = team.ok(&["read", "-q", &format!("/memories/{name}.md")]);
        assert_eq!(text, format!("text of {name}\n"));
    }
    // The keyring knows a memory that this history does not: that is all there is to say.
    let verified = team.run_as("owner", &["verify", "--full"]);
    let said = stdout(&verified);
    assert!(
        said.contains("keyring-ahead") && said.contains("1 finding"),
        "{said}"
    );
    team.ok(&["rekey"]);
    assert_eq!(team.ok(&["read", "/memories/a.md"]), "text of a\n");
}

/// The other way around what the journal has is not in the keyring, and nothing makes it so.
#[test]
fn a_newer_repository_does_not_spoil_an_older_keyring() {
    let team = Team::new();
    team.create("a.md", "text of a\n");
    let old = team.home.path().join("old");
    copy(&team.home.store().join("keyring"), &old);
    team.ok(&["rekey"]);
    team.create("b.md", "text of b\n");
    fs::remove_dir_all(team.home.store().join("keyring")).expect("there");
    copy(&old, &team.home.store().join("keyring"));
    fs::remove_file(team.home.store().join("refs/heads/main")).expect("there");
    let before = fs::read(team.home.store().join("keyring/ring")).expect("there");
    let said = team.fails(13, &["read", "/memories/a.md"]);
    assert!(
        said.contains("another keyring") || said.contains("earlier keyring"),
        "{said}"
    );
    let after = fs::read(team.home.store().join("keyring/ring")).expect("there");
    assert_eq!(before, after);
}

/// A process that runs on is the first to see that another was killed behind a move of the keyring.
#[test]
fn what_a_killed_process_left_goes_to_where_the_keyring_is_now() {
    let team = Team::new();
    team.create("a.md", "one\n");
    let mut talk = Talk::with(&team, "owner");
    assert!(talk.read().contains("one"));
    let (store, place) = (team.home.store(), team.home.path().join("elsewhere"));
    team.ok(&["keys", "move", place.to_str().expect("UTF-8")]);
    let parent = stdout(&team.home.git(&["rev-parse", "main"]));
    let tables = ["ring", "names"].map(|name| place.join(name));
    let before = tables.clone().map(|table| fs::read(table).expect("there"));
    team.create("b.md", "text of b\n");
    // As after a kill behind the journal's sync.
    for (table, bytes) in tables.iter().zip(&before) {
        let file = fs::OpenOptions::new()
            .write(true)
            .open(table)
            .expect("there");
        file.set_len(bytes.len() as u64).expect("cut");
    }
    fs::write(store.join("refs/heads/main"), parent).expect("written");
    assert!(talk.read().contains("one"));
    drop(talk);
    assert_eq!(team.ok(&["read", "/memories/b.md"]), "text of b\n");
    team.assert_verified("after the move");
}

#[test]
fn nothing_is_recorded_with_one_of_two_keyrings() {
    let team = Team::new();
    team.create("a.md", "text\n");
    let other = team.home.path().join("other");
    copy(&team.home.store().join("keyring"), &other);
    let other = other.to_str().expect("UTF-8");
    let events = team.newest()["event"].clone();
    for args in [
        &["create", "/memories/b.md", "--text", "x"][..],
        &["read", "/memories/a.md"],
        &["rekey"],
        &["recipients", "add", "x", "--new"],
    ] {
        let said = team.fails(6, &[&["--keyring", other], args].concat());
        assert!(
            said.contains("two keyrings") && said.contains("other"),
            "{said}"
        );
    }
    // A look is none the worse for it, and says that it is not on record.
    let looked = team
        .home
        .run(&["--keyring", other, "show", "1:/memories/a.md"]);
    assert_eq!(stdout(&looked), "text\n", "{}", stderr(&looked));
    assert!(
        stderr(&looked).contains("not recorded"),
        "{}",
        stderr(&looked)
    );
    assert_eq!(team.newest()["event"], events);
}

#[test]
fn an_identity_in_the_place_of_a_name_is_neither_kept_nor_shown() {
    let team = Team::new();
    let text = fs::read_to_string(team.identity("bob")).expect("there");
    let secret = text.lines().last().expect("an identity").to_owned();
    for args in [
        &["recipients", "add", &secret, &team.recipient("eve")][..],
        &["recipients", "rm", &secret],
    ] {
        let output = team.run_as("owner", args);
        let said = stdout(&output) + &stderr(&output);
        assert!(!output.status.success(), "{args:?}");
        assert!(!said.contains(&secret[..30]), "it shows the identity");
    }
    assert_eq!(team.members().len(), 1);
}

#[test]
fn who_left_as_a_reader_and_still_signs_is_named() {
    if !has_peer("ssh-keygen", "a reader who signs") {
        return;
    }
    let team = Team::new();
    let key = team.home.path().join("ben");
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-f"])
        .arg(&key)
        .status();
    assert!(made.expect("runs").success());
    let public = key.with_extension("pub");
    let public = public.to_str().expect("UTF-8");
    team.add("ben", "reader");
    let add = [
        "signers",
        "add",
        "ben",
        public,
        "--valid-before",
        "2100-01-01",
    ];
    assert!(team.run_as("owner", &add).status.success());
    // The last whose time does not end has to stay: only a signer lets another in.
    let said = team.fails(6, &["signers", "rm", "owner"]);
    assert!(said.contains("owner"), "{said}");
    let removed = team.run_as("owner", &["recipients", "rm", "ben"]);
    assert!(removed.status.success());
    assert!(
        stderr(&removed).contains("agekeep signers rm ben"),
        "{}",
        stderr(&removed)
    );
}

#[test]
fn a_failed_init_leaves_no_keys_in_the_keyring_s_place() {
    let home = crate::support::Home::empty();
    let keys = home.path().join("keys");
    let stranger = agekeep::store::Identity::generate();
    let recipient = stranger.recipient().expect("X25519").to_string();
    let place = keys.to_str().expect("UTF-8");
    let failed = home.run(&["init", "--keyring", place, "--recipient", &recipient]);
    assert_eq!(failed.status.code(), Some(2), "{}", stderr(&failed));
    let made = home.run(&["init", "--keyring", place]);
    assert!(made.status.success(), "{}", stderr(&made));
}
