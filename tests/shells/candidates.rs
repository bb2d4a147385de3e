//! What fits at the end of a command line, as the scripts of the shells ask for it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use crate::identities::{QUICK, encrypted};
use crate::support::{Home, feed, stderr, stdout};

/// A store with paths that a shell would obey if it were let.
pub(super) fn hostile_home() -> Home {
    let home = Home::with_store();
    for path in PATHS {
        let made = home.run_with_input(&["create", path], "one\n");
        assert!(made.status.success(), "{path}: {}", stderr(&made));
    }
    home
}

/// The paths in it.
pub(super) const PATHS: [&str; 5] = [
    "/memories/plain.md",
    "/memories/with space.md",
    "/memories/it's \"quoted\".md",
    "/memories/$(touch x).md",
    "/memories/team/notes.md",
];

/// The candidates for words, as zsh, fish and elvish get them: each without its help.
fn candidates(home: &Home, words: &[&str]) -> Vec<String> {
    let args = [&["complete", "zsh", "--", "agekeep"], words].concat();
    let output = home.run(&args);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stderr(&output), "", "nothing is printed into the shell");
    let text = stdout(&output);
    text.lines()
        .map(|line| line.split('\t').next().expect("a value").to_owned())
        .collect()
}

fn bash(home: &Home, line: &str) -> Vec<String> {
    let output = home.run(&["complete", "bash", "--", line, " \t\n\"'><=;|&(:"]);
    assert!(output.status.success(), "{}", stderr(&output));
    stdout(&output).lines().map(str::to_owned).collect()
}

#[test]
fn paths_revisions_and_names_of_the_store_fit_where_a_verb_takes_them() {
    let home = hostile_home();
    let paths = candidates(&home, &["view", "/memories/"]);
    for path in &PATHS[..4] {
        assert!(paths.contains(&(*path).to_owned()), "{paths:?}");
    }
    assert!(paths.contains(&"/memories/team/".to_owned()), "{paths:?}");
    assert_eq!(candidates(&home, &["view", "pl"]), ["plain.md"]);
    assert_eq!(
        candidates(&home, &["view", "/memories/t"]),
        ["/memories/team/notes.md"]
    );
    assert_eq!(
        candidates(&home, &["log", "/memories/pl"]),
        ["/memories/plain.md"]
    );
    assert_eq!(
        candidates(&home, &["show", "3:/memories/pl"]),
        ["3:/memories/plain.md"]
    );
    let revisions = candidates(&home, &["rollback", "--to", ""]);
    assert!(revisions.contains(&"HEAD".to_owned()) && revisions.contains(&"2".to_owned()));
    assert_eq!(candidates(&home, &["log", "--actor", "t"]), ["tester"]);
    assert_eq!(candidates(&home, &["log", "--actor=t"]), ["--actor=tester"]);
    let keys = candidates(&home, &["policy", "get", "limits.m"]);
    assert!(keys.contains(&"limits.memory_bytes".to_owned()), "{keys:?}");
    assert!(candidates(&home, &["lo"]).contains(&"log".to_owned()));
    assert!(!candidates(&home, &["c"]).contains(&"complete".to_owned()));
    assert!(candidates(&home, &["log", "--sess"]).contains(&"--session".to_owned()));
}

#[test]
fn bash_gets_each_candidate_as_one_word_that_it_takes_for_itself() {
    let home = hostile_home();
    assert_eq!(
        bash(&home, "agekeep view /memories/$"),
        ["/memories/\\$\\(touch\\ x\\).md"]
    );
    assert_eq!(
        bash(&home, "agekeep view /memories/\\$"),
        ["/memories/\\$\\(touch\\ x\\).md"]
    );
    assert_eq!(
        bash(&home, "agekeep view /memories/i"),
        ["/memories/it\\'s\\ \\\"quoted\\\".md"]
    );
    assert_eq!(
        bash(&home, "agekeep view \"/memories/w"),
        ["/memories/with space.md"]
    );
    // In quotes, what cannot stand in them is left out.
    let double = bash(&home, "agekeep view \"/memories/");
    assert!(
        !double.iter().any(|path| path.contains(['$', '"'])),
        "{double:?}"
    );
    let single = bash(&home, "agekeep view '/memories/");
    assert!(!single.iter().any(|path| path.contains('\'')), "{single:?}");
    assert!(
        single.contains(&"/memories/$(touch x).md".to_owned()),
        "{single:?}"
    );
    // Readline replaces only what follows a colon or an equals sign.
    assert_eq!(
        bash(&home, "agekeep show 3:/memories/pl"),
        ["/memories/plain.md"]
    );
    assert_eq!(bash(&home, "agekeep log --actor=t"), ["tester"]);
}

#[test]
fn nothing_is_recorded_and_no_file_is_made() {
    let home = hostile_home();
    let log = |home: &Home| stdout(&home.run(&["log", "--json"]));
    let before = log(&home);
    fs::remove_dir_all(home.state()).expect("what was seen of stores");
    candidates(&home, &["view", "/memories/"]);
    assert!(
        !home.state().exists(),
        "the note of the first use still has to come"
    );
    assert_eq!(log(&home), before);
}

#[test]
fn a_store_that_cannot_be_read_is_silence_and_verbs_are_still_completed() {
    let home = Home::empty();
    assert!(
        candidates(&home, &["view", "/memories/"])
            .iter()
            .all(|c| c.starts_with('-'))
    );
    assert!(candidates(&home, &["vi"]).contains(&"view".to_owned()));
    let home = hostile_home();
    fs::write(home.identity(), "no identity").expect("written");
    assert!(
        candidates(&home, &["view", "/memories/"])
            .iter()
            .all(|c| c.starts_with('-'))
    );
    assert!(candidates(&home, &["view", "--no-such", "/memories/"]).is_empty());
}

/// The identity is encrypted with a passphrase: nobody is asked, and no command is run for it.
#[test]
fn a_passphrase_is_never_asked_for() {
    let home = hostile_home();
    let identity = fs::read_to_string(home.identity()).expect("an identity");
    fs::write(home.identity(), encrypted(&identity, true, QUICK)).expect("written");
    let mut command = home.command(&["complete", "zsh", "--", "agekeep", "view", "/memories/"]);
    command.env("AGEKEEP_PASSPHRASE_COMMAND", "touch asked; echo secret");
    let output = feed(command, b"secret\n");
    assert!(output.status.success());
    assert!(!stdout(&output).contains("plain.md"), "{}", stdout(&output));
    assert_eq!(stderr(&output), "");
    assert!(!home.path().join("asked").exists());
}

#[test]
fn a_pipe_in_the_place_of_a_cache_is_not_waited_for() {
    let home = hostile_home();
    let pipe = home.store().join("catalog");
    fs::remove_file(&pipe).expect("a catalog");
    let made = Command::new("mkfifo")
        .arg(&pipe)
        .stdin(Stdio::null())
        .status();
    assert!(made.expect("mkfifo runs").success());
    fs::set_permissions(&pipe, fs::Permissions::from_mode(0o600)).expect("a mode");
    let found = candidates(&home, &["view", "/memories/pl"]);
    assert!(found.len() <= 1, "{found:?}");
}
