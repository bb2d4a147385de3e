//! `policy edit`: the policy in an editor, which here is a script.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Output};

use crate::policy::{events, json, ok, recorded};
use crate::support::terminal::answered;
use crate::support::{Home, has_peer, stderr, stdout};

/// A home whose editor does this to the file `$1`.
struct Desk {
    home: Home,
}

impl Desk {
    fn new() -> Self {
        let home = Home::with_store();
        fs::create_dir(home.path().join("tmp")).expect("made");
        Self { home }
    }

    /// The command, away from any terminal that the tests themselves have.
    fn command(&self, script: &str, args: &[&str]) -> Command {
        let editor = self.home.path().join("an editor.sh");
        fs::write(
            &editor,
            format!("test \"$1\" = --wait || exit 9\nshift\n{script}\n"),
        )
        .expect("written");
        let mut command = self.home.command(&[&["policy", "edit"], args].concat());
        command
            .env("EDITOR", format!("/bin/sh '{}' --wait", editor.display()))
            .env("TMPDIR", self.home.path().join("tmp"))
            .env("PATH", "/usr/bin:/bin")
            .process_group(0);
        command
    }

    fn edit(&self, script: &str) -> Output {
        self.command(script, &[]).output().expect("runs")
    }

    /// What was left in the folder for temporary files.
    fn left(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.home.path().join("tmp")).expect("a folder");
        entries
            .map(|entry| entry.expect("an entry").path())
            .collect()
    }
}

const SHORTER: &str = "sed -i 's/^grace = .*/grace = \"7d\"/' \"$1\"";

#[test]
fn what_was_edited_is_put_in_place() {
    let desk = Desk::new();
    let look = format!("cp -p \"$1\" '{}'", desk.home.path().join("seen").display());
    let edited = desk.edit(&format!("{look}\n{SHORTER}"));
    assert_eq!(
        stdout(&edited),
        "The policy is in place (event 1).\n",
        "{}",
        stderr(&edited)
    );
    assert_eq!(
        ok(&desk.home, &["policy", "get", "expiration.grace"]),
        "7d\n"
    );
    let seen = desk.home.path().join("seen");
    let mode = fs::metadata(&seen).expect("seen").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let seen = fs::read_to_string(seen).expect("seen");
    assert!(
        seen.contains("[expiration]\nunaccessed_for = \"never\"\n"),
        "{seen}"
    );
    assert!(desk.left().is_empty(), "{:?}", desk.left());
    let edited = desk
        .command("echo '[limits]' > \"$1\"", &["--json"])
        .output();
    let edited = stdout(&edited.expect("runs"));
    assert!(
        edited.starts_with("{\"schema\":\"agekeep.policy_set/1\",\"meta\":{"),
        "{edited}"
    );
    assert_eq!(
        ok(&desk.home, &["policy", "get", "expiration.grace"]),
        "30d\n"
    );
}

#[test]
fn visual_comes_before_editor() {
    let desk = Desk::new();
    let mut command = desk.command("exit 8", &[]);
    let edited = command
        .env("VISUAL", "sed -i 's/^grace = .*/grace = \"7d\"/'")
        .output();
    let edited = edited.expect("runs");
    assert!(edited.status.success(), "{}", stderr(&edited));
    assert_eq!(
        ok(&desk.home, &["policy", "get", "expiration.grace"]),
        "7d\n"
    );
}

#[test]
fn what_was_not_changed_is_not_recorded() {
    let desk = Desk::new();
    for script in ["true", "echo '# a comment' >> \"$1\"", "touch \"$1\""] {
        let edited = desk.edit(script);
        assert!(edited.status.success(), "{}", stderr(&edited));
        assert_eq!(
            stdout(&edited),
            "The policy has not changed; nothing was recorded.\n"
        );
    }
    let edited = desk.command("true", &["--json"]).output().expect("runs");
    assert_eq!(
        stdout(&edited),
        "{\"schema\":\"agekeep.policy_set/1\",\"meta\":null}\n"
    );
    assert_eq!(events(&desk.home), 1);
    assert!(desk.left().is_empty(), "{:?}", desk.left());
}

#[test]
fn what_is_no_policy_is_kept_and_changes_nothing() {
    for (script, code, word, kept) in [
        (
            "printf '[limits]\\n\\nlines = 0\\n' > \"$1\"",
            2,
            "line 3: limits.lines = 0",
            true,
        ),
        ("printf '\\377' > \"$1\"", 2, "line 1: ", true),
        (": > \"$1\"", 2, "the edited policy is empty", true),
        ("echo nonsense >> \"$1\"; exit 3", 2, "exit status: 3", true),
        ("rm \"$1\"", 16, "cannot read", false),
        (
            "printf '[keyring]\\nfolder = \"/no/such/folder\"\\n' > \"$1\"",
            2,
            "`agekeep keys move FOLDER` moves it",
            true,
        ),
    ] {
        let desk = Desk::new();
        let before = recorded(&desk.home);
        let edited = desk.edit(script);
        let said = stderr(&edited);
        assert_eq!(edited.status.code(), Some(code), "{script}: {said}");
        assert!(
            said.contains(word) && said.contains("\nhint: "),
            "{script}: {said}"
        );
        assert!(recorded(&desk.home) == before, "{script}");
        let left = desk.left();
        assert_eq!(left.len(), usize::from(kept), "{script}: {left:?}");
        assert_eq!(said.contains("is kept in"), kept, "{said}");
        for path in left {
            assert!(
                said.contains(&format!("kept in {}.", path.display())),
                "{said}"
            );
        }
    }
}

#[test]
fn what_somebody_else_changed_meanwhile_is_not_undone() {
    let desk = Desk::new();
    let program = desk.home.command(&[]).get_program().to_owned();
    let other = format!(
        "'{}' policy set limits.lines 7 > /dev/null",
        program.display()
    );
    let edited = desk.edit(&format!("{other}\n{SHORTER}"));
    let said = stderr(&edited);
    assert_eq!(edited.status.code(), Some(6), "{said}");
    assert!(said.contains("somebody else changed the policy"), "{said}");
    assert!(
        said.contains("hint: run `agekeep policy get` to see the present policy"),
        "{said}"
    );
    assert_eq!(ok(&desk.home, &["policy", "get", "limits.lines"]), "7\n");
    assert_eq!(
        ok(&desk.home, &["policy", "get", "expiration.grace"]),
        "30d\n"
    );
    let kept = fs::read_to_string(&desk.left()[0]).expect("kept");
    assert!(kept.contains("grace = \"7d\""), "{kept}");
    // It is an error of its own for programs.
    let other = other.replace("lines 7", "lines 8");
    let edited = desk
        .command(&format!("{other}\n{SHORTER}"), &["--json"])
        .output();
    let said = stderr(&edited.expect("runs"));
    assert!(
        said.contains("\"code\":\"policy_changed\",\"exit\":6"),
        "{said}"
    );
}

#[test]
fn without_an_editor_or_a_terminal_it_says_so() {
    let desk = Desk::new();
    let mut command = desk.command("true", &[]);
    let refused = command.env_remove("EDITOR").output().expect("runs");
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        stderr(&refused).contains("set VISUAL or EDITOR"),
        "{}",
        stderr(&refused)
    );
    assert!(desk.left().is_empty() && events(&desk.home) == 1);
}

/// `script` gives the binary a terminal, and types.
#[test]
fn at_a_terminal_it_asks_whether_to_go_on() {
    if !has_peer("script", "what `policy edit` asks at a terminal") {
        return;
    }
    for (typed, code, grace, left) in [
        ("y\n", 0, "7d\n", 0),
        ("n\n", 2, "30d\n", 1),
        ("\n", 2, "30d\n", 1),
    ] {
        let desk = Desk::new();
        // Wrong the first time, right the second.
        let once = format!(
            "if grep -q nonsense \"$1\"; then sed -i /nonsense/d \"$1\"; {SHORTER}; else echo nonsense >> \"$1\"; fi"
        );
        let plain = desk.command(&once, &[]);
        let line = format!("{} policy edit", plain.get_program().display());
        let (status, shown) = answered(&plain, &line, "[y/N] ", || typed.into());
        assert_eq!(status, Some(code), "{typed:?}: {shown}");
        assert_eq!(
            shown
                .matches("error: the policy is not valid at line")
                .count(),
            1,
            "{shown}"
        );
        assert_eq!(
            ok(&desk.home, &["policy", "get", "expiration.grace"]),
            grace,
            "{shown}"
        );
        assert_eq!(desk.left().len(), left, "{shown}");
        assert_eq!(shown.contains("is kept in"), left == 1, "{shown}");
        assert_eq!(
            shown.contains("Nothing was changed: the policy in force is as it was"),
            left == 1,
            "{shown}"
        );
        assert_eq!(
            json(&desk.home, &["status"])["events"],
            if left == 0 { 2 } else { 1 }
        );
    }
}
