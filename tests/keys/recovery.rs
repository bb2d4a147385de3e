//! `init --recovery`, `keys export` and `doctor`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::forge::private;
use crate::support::{Home, has_peer, json_lines, stderr, stdout};
use crate::team::Team;

#[test]
fn a_recovery_identity_is_shown_once_and_opens_the_store_when_all_else_is_lost() {
    let home = Home::empty();
    let made = home.run(&["init", "--recovery"]);
    assert!(made.status.success(), "{}", stderr(&made));
    let said = stdout(&made);
    let lines: Vec<&str> = said
        .lines()
        .filter(|line| line.starts_with("AGE-SECRET-KEY-1"))
        .collect();
    let [secret] = lines[..] else {
        panic!("{said}");
    };
    let code = said
        .lines()
        .filter(|line| line.contains('█') || line.contains('▀'));
    assert!(code.count() > 12, "a code to print: {said}");
    let team = Team { home };
    team.create("a.md", "text\n");
    let roles = team.members();
    assert_eq!(roles[1], ("recovery".into(), "reader".into()));
    // It is kept nowhere.
    let found = Command::new("grep")
        .args(["-rlF", secret])
        .arg(team.home.path())
        .output()
        .expect("grep runs");
    assert_eq!(stdout(&found), "");
    fs::remove_file(team.home.identity()).expect("there");
    private(&team.identity("safe"), &format!("{secret}\n"));
    assert_eq!(team.ok_as("safe", &["read", "/memories/a.md"]), "text\n");
    // Whoever was lost is let go, and another comes.
    team.ok_as(
        "safe",
        &["recipients", "add", "new", &team.recipient("new")],
    );
    let removed = team.run_as("new", &["recipients", "rm", "owner"]);
    assert!(removed.status.success(), "{}", stderr(&removed));
    assert_eq!(team.ok_as("new", &["read", "/memories/a.md"]), "text\n");
    assert_eq!(team.ok_as("safe", &["read", "/memories/a.md"]), "text\n");
}

#[test]
fn a_member_s_identity_can_be_made_here_and_is_shown_once() {
    let team = Team::new();
    team.create("a.md", "text\n");
    let said = team.ok(&["recipients", "add", "safe", "--new"]);
    let secret = said
        .lines()
        .find(|line| line.starts_with("AGE-SECRET-KEY-1"));
    private(
        &team.identity("safe"),
        &format!("{}\n", secret.expect("shown")),
    );
    assert_eq!(team.ok_as("safe", &["read", "/memories/a.md"]), "text\n");
    let both = ["recipients", "add", "x", "--new", &team.recipient("bob")];
    team.fails(2, &both);
    team.fails(2, &["recipients", "add", "x"]);
    assert_eq!(team.members().len(), 2);
}

#[test]
fn an_exported_memory_opens_with_git_and_age_and_its_export_is_on_record() {
    if !has_peer("age", "that an exported memory opens with it") {
        return;
    }
    let team = Team::new();
    team.create("a.md", "old text\n");
    team.create("other.md", "another's\n");
    team.ok(&["rekey"]);
    team.ok(&[
        "str-replace",
        "/memories/a.md",
        "--old",
        "old",
        "--new",
        "new",
    ]);
    let exported = team.ok(&["keys", "export", "/memories/a.md", "--reason", "a drill"]);
    let newest = team.newest();
    assert_eq!(
        (&newest["command"], &newest["reason"], &newest["path"]),
        (
            &"keys_export".into(),
            &"a drill".into(),
            &"/memories/a.md".into()
        )
    );
    assert_eq!(newest["memories"][0]["change"], "look");
    let file = team.home.path().join("exported.txt");
    private(&file, &exported);
    let id = exported.split(' ').nth(3).expect("named");
    let log = json_lines(team.ok(&["log", "--json"]).as_bytes());
    let opens = |blob: &str| {
        let sealed = team.home.git(&["cat-file", "blob", blob]);
        let mut age = Command::new("age");
        age.arg("-d").arg("-i").arg(&file);
        crate::support::feed(age, &sealed.stdout)
    };
    let mut texts = Vec::new();
    for event in log.iter().rev() {
        for touch in event["memories"].as_array().expect("a list") {
            let Some(blob) = touch["blob"].as_str() else {
                continue;
            };
            let opened = opens(blob);
            let own = touch["memory"] == id;
            assert_eq!(opened.status.success(), own, "{touch}");
            if own {
                let plain = stdout(&opened);
                texts.push(plain.split_once('\n').expect("a header").1.to_owned());
            }
        }
    }
    assert_eq!(texts, ["old text\n", "old text\n", "new text\n"]);
    // By id too, which names what was deleted.
    team.ok(&["rm", "/memories/a.md"]);
    team.fails(4, &["keys", "export", "/memories/a.md"]);
    let again = team.ok(&["keys", "export", id]);
    assert_eq!(
        again.lines().skip(1).collect::<Vec<_>>(),
        exported.lines().skip(1).collect::<Vec<_>>()
    );
    team.fails(12, &["keys", "export", &"0".repeat(32)]);
    team.add("eve", "auditor");
    team.fails_as("eve", 12, &["keys", "export", id]);
    team.fails_as("stranger", 12, &["keys", "export", id]);
}

#[test]
fn keys_are_not_handed_out_where_that_cannot_be_recorded() {
    let team = Team::new();
    team.create("a.md", "text\n");
    fs::remove_file(team.home.signing_key()).expect("there");
    let output = team.run_as("owner", &["keys", "export", "/memories/a.md"]);
    assert_eq!(output.status.code(), Some(12), "{}", stderr(&output));
    assert_eq!(stdout(&output), "");
}

#[test]
fn doctor_says_what_will_hurt_and_what_to_do() {
    let team = Team::new();
    team.create("a.md", "text\n");
    let ids = |team: &Team| {
        let output = team.run_as("owner", &["doctor", "--json"]);
        let found = json_lines(&output.stdout);
        for advice in &found {
            let fix = advice["fix"].as_str().expect("text");
            assert!(!fix.is_empty(), "{advice}");
        }
        let code = if found.is_empty() { 0 } else { 14 };
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        let mut ids: Vec<_> = found
            .iter()
            .map(|advice| advice["id"].as_str().expect("text").to_owned())
            .collect();
        ids.sort();
        ids
    };
    assert_eq!(ids(&team), ["one-backup", "one-reader"]);
    // What others could use is closed, and is worth knowing all the same.
    let keyring = team.home.store().join("keyring");
    fs::set_permissions(&keyring, fs::Permissions::from_mode(0o755)).expect("set");
    assert_eq!(
        ids(&team),
        ["loose-permissions", "one-backup", "one-reader"]
    );
    assert_eq!(ids(&team), ["one-backup", "one-reader"]);
    let said = stdout(&team.run_as("owner", &["doctor"]));
    assert!(
        said.contains("erased later") && said.contains("  fix: "),
        "{said}"
    );
    // An auditor is no second reader.
    team.add("eve", "auditor");
    assert_eq!(ids(&team), ["one-backup", "one-reader"]);
    team.add("bob", "reader");
    assert_eq!(ids(&team), ["one-backup"]);
    let place = team.home.path().join("elsewhere");
    fs::rename(team.home.store().join("keyring"), &place).expect("moved");
    let policy = team.home.path().join("policy.toml");
    fs::write(&policy, format!("[keyring]\nfolder = {place:?}\n")).expect("written");
    let (place, file) = (
        place.to_str().expect("UTF-8"),
        policy.to_str().expect("UTF-8"),
    );
    team.ok(&["--keyring", place, "policy", "set", "--policy", file]);
    // A copy that was left where it was is no backup of its own.
    let left = team.home.store().join("keyring");
    let copied = Command::new("cp").arg("-a").arg(place).arg(&left).status();
    assert!(copied.expect("cp runs").success());
    assert_eq!(ids(&team), ["keyring-copy"]);
    fs::remove_dir_all(&left).expect("there");
    assert_eq!(ids(&team), [""; 0]);
    assert_eq!(team.ok(&["doctor"]), "Nothing was found.\n");
    // A key that lies in the store it is for.
    let inside = team.home.store().join("identity.txt");
    fs::copy(team.home.identity(), &inside).expect("copied");
    fs::set_permissions(&inside, fs::Permissions::from_mode(0o600)).expect("set");
    let output = team
        .home
        .run(&["-i", inside.to_str().expect("UTF-8"), "doctor"]);
    assert_eq!(output.status.code(), Some(14));
    assert!(
        stdout(&output).contains("key-in-store"),
        "{}",
        stdout(&output)
    );
}
