//! `init --recovery`, `keys export` and `doctor`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use crate::keys::team::Team;
use crate::support::forge::private;
use crate::support::{Home, feed, has_peer, json_lines, stderr, stdout};

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

/// Runs the binary, or what traces it, as a shell does that sends its output to the file `out`, and
/// that lets everybody read what it makes.
fn into_out(home: &Home, redirect: &str, tracer: &[&str], args: &[&str]) -> Output {
    let ours = home.command(args);
    let mut shell = Command::new(crate::support::program("sh"));
    let line = format!("umask 022; exec \"$@\" {redirect} out");
    shell.args(["-c", &line, "sh"]).args(tracer);
    shell.arg(ours.get_program()).args(args).env_clear();
    let envs = ours.get_envs();
    shell.envs(envs.filter_map(|(name, value)| Some((name, value?))));
    shell.env("PATH", "/usr/bin:/bin").current_dir(home.path());
    feed(shell, b"")
}

fn mode(path: &Path) -> u32 {
    let meta = fs::metadata(path).expect("there");
    meta.permissions().mode() & 0o7777
}

/// Everything that prints a secret key.
const PRINTING: [&[&str]; 5] = [
    &["init", "--recovery"],
    &["init", "--recovery", "--json"],
    &["recipients", "add", "safe", "--new"],
    &["keys", "export", "/memories/a.md"],
    &["keys", "export", "/memories/a.md", "--json"],
];

/// A home folder in which that can be done.
fn home_for(args: &[&str]) -> Home {
    if args[0] == "init" {
        return Home::empty();
    }
    let team = Team::new();
    team.create("a.md", "text\n");
    team.home
}

#[test]
fn a_file_that_a_secret_key_is_printed_into_is_closed_to_others_and_that_is_said() {
    for args in PRINTING {
        let home = home_for(args);
        let out = home.path().join("out");
        let made = into_out(&home, ">", &[], args);
        assert!(made.status.success(), "{}", stderr(&made));
        assert!(stderr(&made).starts_with("note: other accounts could access the output file"));
        let printed = fs::read_to_string(&out).expect("there");
        assert!(printed.contains("AGE-SECRET-KEY-1"), "{printed}");
        assert_eq!(mode(&out), 0o600, "{args:?}");
    }
    // One that was there before, and one that nobody else could use.
    let home = home_for(&["keys"]);
    let out = home.path().join("out");
    for (before, after) in [
        (0o666, 0o600),
        (0o720, 0o700),
        (0o600, 0o600),
        (0o200, 0o200),
    ] {
        fs::write(&out, "kept\n").expect("written");
        fs::set_permissions(&out, fs::Permissions::from_mode(before)).expect("set");
        let made = into_out(&home, ">>", &[], PRINTING[3]);
        assert!(made.status.success(), "{}", stderr(&made));
        assert_eq!(stderr(&made).is_empty(), before == after, "{before:o}");
        assert_eq!(mode(&out), after, "{before:o}");
        let printed = fs::read_to_string(&out).expect("there");
        assert!(printed.starts_with("kept\n# the memory"), "{printed}");
    }
    // What is no file stays as it is, and so does a file without a secret in it.
    let made = into_out(&home, "> /dev/null; true", &[], PRINTING[3]);
    assert_eq!(stderr(&made), "");
    fs::remove_file(&out).expect("there");
    into_out(&home, ">", &[], &["status"]);
    assert_eq!(mode(&out), 0o644);
}

#[test]
fn where_a_file_cannot_be_closed_no_secret_key_is_printed_and_nothing_was_done() {
    if !has_peer("strace", "a file that cannot be closed to others") {
        return;
    }
    // A file that is somebody else's, and a file system that says yes and does nothing.
    for fault in [
        "inject=fchmod:error=EPERM:when=1",
        "inject=fchmod:retval=0:when=1",
    ] {
        let tracer = ["strace", "-f", "-o", "/dev/null", "-e", fault];
        for args in PRINTING {
            let home = home_for(args);
            let before = home.run(&["status", "--json"]).stdout;
            let refused = into_out(&home, ">", &tracer, args);
            let said = stderr(&refused);
            assert_eq!(refused.status.code(), Some(16), "{args:?}: {said}");
            assert!(
                said.contains("cannot restrict the permissions of"),
                "{said}"
            );
            assert_eq!(fs::read(home.path().join("out")).expect("there"), b"");
            assert_eq!(home.run(&["status", "--json"]).stdout, before, "{args:?}");
            assert!(args[0] != "init" || !home.identity().exists());
        }
    }
}

#[test]
fn what_init_prints_with_a_recovery_identity_is_an_identity_file() {
    let home = Home::empty();
    let args = ["init", "--recovery", "--template", "software-project"];
    let made = into_out(&home, ">", &[], &args);
    assert!(made.status.success(), "{}", stderr(&made));
    let printed = fs::read_to_string(home.path().join("out")).expect("there");
    assert!(printed.contains("# store  "), "{printed}");
    assert!(
        printed.contains("# The store starts with these memories:"),
        "{printed}"
    );
    fs::remove_file(home.identity()).expect("there");
    let listed = home.run(&["read", "-i", "out"]);
    assert!(listed.status.success(), "{}", stderr(&listed));
    if has_peer("age-keygen", "that it reads what init printed") {
        let mut keygen = Command::new("age-keygen");
        keygen.arg("-y").arg(home.path().join("out"));
        let told = feed(keygen, b"");
        assert!(stdout(&told).starts_with("age1"), "{}", stderr(&told));
    }
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
fn doctor_looks_for_the_content_of_every_memory() {
    let team = Team::new();
    for name in ["a.md", "b.md", "c.md"] {
        team.create(name, "text\n");
    }
    team.ok(&["compact"]);
    // Stock git takes the pack apart, and then one memory's blob is gone.
    let (store, packs) = (team.home.store(), team.home.path().join("packs"));
    fs::rename(store.join("objects/pack"), &packs).expect("moved");
    let pack = fs::read_dir(&packs).expect("lists").filter_map(|entry| {
        let path = entry.expect("lists").path();
        (path.extension()? == "pack").then_some(path)
    });
    let pack = fs::read(pack.last().expect("one pack")).expect("reads");
    let mut unpack = Command::new("git");
    unpack.arg("-C").arg(&store).args(["unpack-objects", "-q"]);
    assert!(feed(unpack, &pack).status.success());
    let blobs = stdout(&team.home.git(&["ls-tree", "-r", "--object-only", "main"]));
    let last = blobs.lines().rfind(|id| {
        let kept = team.home.git(&["cat-file", "blob", id]).stdout;
        kept.starts_with(b"age-encryption.org")
    });
    let (folder, file) = last.expect("a memory").split_at(2);
    fs::remove_file(store.join("objects").join(folder).join(file)).expect("there");
    let said = stdout(&team.run_as("owner", &["doctor"]));
    assert!(
        said.contains("the content of 1 of 3 memories is lost"),
        "{said}"
    );
    // The state of the store is not in doubt, so `status` does not look.
    assert!(team.ok(&["status"]).contains("memories    3 "));
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
    team.ok(&["keys", "move", place.to_str().expect("UTF-8")]);
    // What a move that was stopped leaves.
    let left = team.home.store().join("keyring.moving");
    fs::create_dir(&left).expect("made");
    assert_eq!(ids(&team), ["keyring-copy"]);
    fs::remove_dir(&left).expect("there");
    assert_eq!(ids(&team), [""; 0]);
    assert_eq!(team.ok(&["doctor"]), "No problems found.\n");
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
