//! The units, as systemd reads them: its own checker, its own reading where it shows that, and its
//! documented rules where it does not.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, chown, symlink};
use std::path::Path;
use std::process::{Command, Output};

use crate::schedule::place::{NAMES, PROGRAM_NAMES, Place, has_all, put, shell, shown, signs};
use crate::support::{has_peer, stderr, stdout};

const SERVICE: &str = "agekeep-expire.service";
const TIMER: &str = "agekeep-expire.timer";

/// Everything that is set in a unit, in order.
fn settings(unit: &str) -> Vec<(&str, &str)> {
    let lines = unit
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with(['#', '[']));
    lines
        .map(|line| line.split_once('=').expect("a setting"))
        .collect()
}

fn values<'a>(unit: &'a str, key: &str) -> Vec<&'a str> {
    let settings = settings(unit).into_iter();
    settings
        .filter_map(|(name, value)| (name == key).then_some(value))
        .collect()
}

fn value<'a>(unit: &'a str, key: &str) -> &'a str {
    let found = values(unit, key);
    assert_eq!(found.len(), 1, "{key} in\n{unit}");
    found[0]
}

/// Words by the rules of systemd.syntax(7) and systemd.unit(5): quotes, backslashes, specifiers.
fn words(value: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), None::<String>, false);
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        let put = match c {
            '"' => {
                quoted = !quoted;
                word.get_or_insert_default();
                continue;
            }
            ' ' if !quoted => {
                words.extend(word.take());
                continue;
            }
            '\\' => match chars.next() {
                Some(c @ ('\\' | '"')) => c,
                other => panic!("an escape: {other:?} in {value}"),
            },
            '%' => match chars.next() {
                Some('%') => '%',
                other => panic!("a specifier: {other:?} in {value}"),
            },
            '\'' if !quoted => panic!("another quote in {value}"),
            c => c,
        };
        word.get_or_insert_default().push(put);
    }
    assert!(!quoted, "an open quote in {value}");
    words.extend(word);
    words
}

fn service(place: &Place, more: &[&str]) -> String {
    place.ok(&[&["schedule", "systemd", "service"], more].concat())
}

/// The command of a service: its first word says that no variables are put in.
fn command(unit: &str) -> Vec<String> {
    let mut words = words(value(unit, "ExecStart"));
    assert!(words[0].starts_with(':'), "{unit}");
    words[0].remove(0);
    words
}

/// The files that are checked, written as their comments say.
fn write_units(place: &Place, more: &[&str]) {
    for unit in ["service", "timer"] {
        let text = place.ok(&[&["schedule", "systemd", unit], more].concat());
        put(&place.root(), &format!("agekeep-expire.{unit}"), &text);
    }
}

fn verify(place: &Place, manager: &[&str]) -> Output {
    let runtime = place.root().join("run");
    fs::create_dir_all(&runtime).expect("makes a folder");
    Command::new("systemd-analyze")
        .args(manager)
        .args(["verify", SERVICE, TIMER].map(|unit| match unit {
            "verify" => unit.into(),
            unit => place.root().join(unit),
        }))
        .env("XDG_RUNTIME_DIR", runtime)
        .env("HOME", place.root())
        .output()
        .expect("runs")
}

#[test]
fn systemd_accepts_the_units() {
    if !has_peer("systemd-analyze", "whether systemd accepts the units") {
        return;
    }
    for (home, bin) in NAMES.into_iter().zip(PROGRAM_NAMES.into_iter().cycle()) {
        let place = Place::new(home, bin);
        let host = place.root().join("host.git");
        let host = host.to_str().expect("UTF-8");
        place.ok(&["remote", "add", "origin", host]);
        for (more, manager) in [
            (&[][..], &[][..]),
            (&["--user"], &["--user"]),
            (&["--sync"], &[]),
            (&["--user", "--sync"], &["--user"]),
        ] {
            write_units(&place, more);
            let checked = verify(&place, manager);
            let said = stdout(&checked) + &stderr(&checked);
            assert!(checked.status.success(), "{said}");
            assert!(!said.contains("agekeep"), "{said}");
        }
    }
    // What it says no to.
    let place = Place::new("plain", "plain");
    write_units(&place, &[]);
    for (right, wrong) in [
        (
            "SystemCallFilter=@system-service",
            "SystemCallFilter=@no-such",
        ),
        ("ProtectSystem=strict", "ProtectSystem=very"),
        ("Type=oneshot", "Type=one-shot"),
        ("bin/plain/agekeep", "bin/plain/gone"),
    ] {
        let text = service(&place, &[]);
        assert!(text.contains(right), "{right}");
        put(&place.root(), SERVICE, &text.replace(right, wrong));
        let checked = verify(&place, &[]);
        assert!(stderr(&checked).contains("agekeep-expire"), "{wrong}");
    }
}

/// Says past the test harness that something was not tested.
fn say_loudly(what: &str) {
    let loud = format!("\n*** NOT TESTED: {what} ***\n");
    std::io::stderr().write_all(loud.as_bytes()).expect("open");
}

fn is_root() -> bool {
    fs::metadata("/proc/self").expect("ours").uid() == 0
}

/// What systemd itself makes of the service, line by line; `None`, and said loudly, where it cannot
/// be asked.
fn as_systemd_reads(place: &Place) -> Option<String> {
    let programs = ["/lib/systemd/systemd", "/usr/lib/systemd/systemd"];
    let program = programs.into_iter().find(|path| Path::new(path).exists());
    // It refuses to be tested by root.
    let nobody = [
        "setpriv",
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
    ];
    let mut words: Vec<&str> = if is_root() { nobody.into() } else { Vec::new() };
    words.push(program.unwrap_or("systemd"));
    let runtime = place.root().join("run");
    fs::create_dir_all(&runtime).expect("makes a folder");
    let said = Command::new(words[0])
        .args(&words[1..])
        .args(["--test", "--system", "--unit", SERVICE])
        .env_clear()
        .env("SYSTEMD_UNIT_PATH", format!("{}:", place.root().display()))
        .env("HOME", "/nonexistent")
        .env("XDG_RUNTIME_DIR", runtime)
        .output();
    let said = said.map(|said| stdout(&said)).unwrap_or_default();
    let unit = said
        .split("-> Unit ")
        .find(|unit| unit.starts_with(SERVICE));
    if unit.is_none() {
        say_loudly("`systemd --test` shows no unit: what systemd makes of one");
    }
    unit.map(str::to_owned)
}

/// The words of a command line that systemd shows, where a shell could read it.
fn shown_words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(std::mem::take(&mut word)),
            '\\' => word.extend(chars.next()),
            c => word.push(c),
        }
    }
    words.push(word);
    words
}

#[test]
fn systemd_reads_what_is_meant() {
    for (home, bin) in NAMES.into_iter().zip(PROGRAM_NAMES.into_iter().cycle()) {
        let place = Place::new(home, bin);
        let at_home = format!("/home/no-such/{home}:{home}");
        for store in [place.store().to_str().expect("UTF-8"), &at_home] {
            write_units(&place, &["--store", store]);
            let Some(unit) = as_systemd_reads(&place) else {
                return;
            };
            let all = |key: &str| {
                let lines = unit
                    .lines()
                    .filter_map(|line| line.trim().strip_prefix(key));
                lines.map(str::to_owned).collect::<Vec<_>>()
            };
            let mut expected = place.words();
            expected[3] = store.to_owned();
            let read: Vec<_> = all("Command Line: ")
                .iter()
                .map(|l| shown_words(l))
                .collect();
            assert_eq!(read, [expected], "{unit}");
            let base = place.state_base();
            let base = base.to_str().expect("UTF-8");
            assert_eq!(all("Environment: "), [format!("XDG_STATE_HOME={base}")]);
            assert_eq!(all("ReadWritePaths: "), [format!("{store} {base}/agekeep")]);
            let bound: &[_] = if store == at_home {
                &[format!("{store}:{store}:rbind")]
            } else {
                &[]
            };
            assert_eq!(all("BindPaths: "), bound);
        }
    }
}

#[test]
fn the_program_gets_its_words_as_they_are() {
    for (home, bin) in NAMES.into_iter().zip(PROGRAM_NAMES.into_iter().cycle()) {
        let place = Place::new(home, bin);
        for more in [&[][..], &["--user"]] {
            let unit = service(&place, more);
            assert_eq!(command(&unit), place.words());
            let base = place.state_base().to_str().expect("UTF-8").to_owned();
            let variable = format!("XDG_STATE_HOME={base}");
            assert_eq!(words(value(&unit, "Environment")), [variable]);
            let mounts = words(value(&unit, "RequiresMountsFor"));
            let program = place.program.to_str().expect("UTF-8").to_owned();
            assert!(mounts.contains(&program) && mounts.len() == 5, "{mounts:?}");
        }
        let written = words(value(&service(&place, &[]), "ReadWritePaths"));
        let store = place.store().to_str().expect("UTF-8").to_owned();
        let state = place.state_base().join("agekeep");
        assert_eq!(written, [store, state.to_str().expect("UTF-8").to_owned()]);
    }
}

#[test]
fn no_sign_means_anything() {
    let place = Place::new("plain", "plain");
    for said in signs() {
        let words = command(&service(&place, &said.each_ref().map(String::as_str)));
        assert!(has_all(&words, &said), "{words:?}");
    }
}

#[test]
fn what_it_names_is_all_that_a_command_needs() {
    for (home, bin) in NAMES.into_iter().zip(PROGRAM_NAMES.into_iter().cycle()) {
        let place = Place::new(home, bin);
        let unit = service(&place, &[]);
        let command = command(&unit);
        let (name, base) = value(&unit, "Environment")
            .split_once('=')
            .expect("a variable");
        assert_eq!(name.trim_matches('"'), "XDG_STATE_HOME");
        let base = words(&format!("\"{}\"", base.trim_matches('"')));
        let mut look = Command::new(&command[0]);
        look.args(&command[1..]).env_clear().current_dir("/");
        let ran = look.env("XDG_STATE_HOME", &base[0]).output().expect("runs");
        assert!(stdout(&ran).contains("Done (event"), "{}", stderr(&ran));
    }
}

#[test]
fn what_the_comments_say_works() {
    for (home, bin) in NAMES.into_iter().zip(PROGRAM_NAMES.into_iter().cycle()) {
        let place = Place::new(home, bin);
        let all = place.ok(&["schedule", "systemd", "--reason", "it's 100%"]);
        let (mut printed, path) = (String::new(), "/usr/bin:/bin");
        for unit in ["service", "timer"] {
            let line = shown(&all, &format!("schedule systemd {unit}"));
            let (print, file) = line.split_once(" | sudo tee ").expect("a pipe");
            let file = file
                .strip_suffix(" >/dev/null")
                .expect("nothing is shown twice");
            let text = stdout(&shell(print, path));
            assert!(text.starts_with(&format!("# {file}\n[Unit]\n")), "{text}");
            printed = printed + &text + "\n";
        }
        assert!(all.starts_with(&printed), "{all}\n{printed}");
        let rest = &all[printed.len()..];
        assert!(rest.lines().all(|line| line.starts_with('#')), "{rest}");
        place.ok(&["expire"]);
        let ran = shell(shown(&all, "--max-age 26h"), path);
        assert!(ran.status.success(), "{}", stderr(&ran));
    }
}

#[test]
fn it_runs_once_and_every_day() {
    let place = Place::new("plain", "plain");
    let unit = service(&place, &[]);
    for (key, wanted) in [
        ("Type", "oneshot"),
        ("Restart", "on-failure"),
        ("NoNewPrivileges", "true"),
        ("ProtectSystem", "strict"),
        ("PrivateNetwork", "true"),
        ("RestrictAddressFamilies", "none"),
        ("MemoryDenyWriteExecute", "true"),
        ("LockPersonality", "true"),
        ("CapabilityBoundingSet", ""),
        ("UMask", "0077"),
    ] {
        assert_eq!(value(&unit, key), wanted, "{key}");
    }
    // The lock (11), an I/O error (16) and anything else (1) may be over later.
    let hopeless = value(&unit, "RestartPreventExitStatus");
    assert_eq!(hopeless, "2 7 9 10 12 13 14");
    assert!(values(&unit, "LoadCredential").is_empty() && values(&unit, "ProcSubset").is_empty());
    let timer = place.ok(&["schedule", "systemd", "timer"]);
    for (key, wanted) in [
        ("OnCalendar", "daily"),
        ("Persistent", "true"),
        ("RandomizedDelaySec", "1h"),
        ("WantedBy", "timers.target"),
    ] {
        assert_eq!(value(&timer, key), wanted, "{key}");
    }
    let user = service(&place, &["--user"]);
    for key in [
        "User",
        "ProtectSystem",
        "CapabilityBoundingSet",
        "PrivateNetwork",
    ] {
        assert!(
            values(&user, key).is_empty(),
            "{key} needs the machine's manager"
        );
    }
    assert_eq!(value(&user, "NoNewPrivileges"), "true");
    assert!(user.starts_with("# ~/.config/systemd/user/agekeep-expire.service\n"));
}

/// What an account is called, if anything.
fn name_of(id: &str) -> String {
    let known = Command::new("id").args(["-un", id]).output().expect("runs");
    let name = stdout(&known).trim().to_owned();
    if known.status.success() {
        name
    } else {
        id.to_owned()
    }
}

#[test]
fn it_runs_as_the_owner_of_the_store() {
    let place = Place::new("plain", "plain");
    let id = fs::metadata(place.store())
        .expect("there")
        .uid()
        .to_string();
    assert_eq!(value(&service(&place, &[]), "User"), name_of(&id));
    // Nothing is there to tell: then it is who prints it.
    let nowhere = ["--store", "/no/such", "--identity", "/no/such"];
    assert_eq!(value(&service(&place, &nowhere), "User"), "tester");
    if !is_root() {
        say_loudly("only root can give a store to others: whom its sweep runs as");
        return;
    }
    for id in [65534, 54321] {
        chown(place.store(), Some(id), None).expect("root can");
        let name = name_of(&id.to_string());
        assert_eq!(value(&service(&place, &[]), "User"), name);
        let printed = place.command(&["schedule", "cron"]).output().expect("runs");
        assert!(stdout(&printed).starts_with(&format!("# the crontab of {name}\n")));
        // Its keys and what it saw belong to somebody else now.
        let said = stderr(&printed);
        assert_eq!(said.matches("another account").count(), 3, "{said}");
    }
}

#[test]
fn it_sees_no_more_of_the_homes_than_it_needs() {
    let place = Place::new("plain", "plain");
    let apart = |store: &str, keyring: &str| {
        let keys = [
            "--identity",
            "/etc/agekeep/id",
            "--signing-key",
            "/etc/agekeep/key",
        ];
        let places = [&["--store", store, "--keyring", keyring][..], &keys].concat();
        let mut command =
            place.command(&[&["schedule", "systemd", "service"], &places[..]].concat());
        let output = command.env("XDG_STATE_HOME", "/var/lib/x").output();
        stdout(&output.expect("runs"))
    };
    let all_apart = apart("/srv/store", "/srv/keyring");
    assert_eq!(value(&all_apart, "ProtectHome"), "true");
    assert!(values(&all_apart, "BindPaths").is_empty());
    let written = "/srv/store /srv/keyring /var/lib/x/agekeep";
    assert_eq!(value(&all_apart, "ReadWritePaths"), written);

    let keyring_at_home = apart("/srv/store", "/home/no-such/keyring");
    assert_eq!(value(&keyring_at_home, "ProtectHome"), "tmpfs");
    assert_eq!(
        value(&keyring_at_home, "BindPaths"),
        "/home/no-such/keyring"
    );
    let keys = [
        "--identity",
        "/root/no-such/id",
        "--store",
        "/home/no-such/store",
    ];
    let at_home = service(&place, &keys);
    assert_eq!(value(&at_home, "BindPaths"), "/home/no-such/store");
    let read = value(&at_home, "BindReadOnlyPaths");
    assert!(words(read).contains(&"/root/no-such/id".into()), "{read}");

    // A link leads out of what is let in.
    let link = place.root().join("link");
    symlink("/home", &link).expect("links");
    let behind = link.join("no-such/store");
    let linked = service(&place, &["--store", behind.to_str().expect("UTF-8")]);
    assert_eq!(value(&linked, "ProtectHome"), "read-only");
    assert!(values(&linked, "BindPaths").is_empty(), "{linked}");
}

#[test]
fn what_is_in_a_temporary_folder_stays_in_sight() {
    let printed = |store| {
        let keys = ["--identity", "/etc/id", "--signing-key", "/etc/key"];
        let output = Command::new(env!("CARGO_BIN_EXE_agekeep"))
            .args(["schedule", "systemd", "service", "--store", store])
            .args(keys)
            .env_clear()
            .env("XDG_STATE_HOME", "/var/lib/x")
            .output();
        output.expect("runs")
    };
    for store in ["/tmp/no-such/store", "/var/tmp/no-such/store"] {
        let below = printed(store);
        assert!(values(&stdout(&below), "PrivateTmp").is_empty());
        assert!(stderr(&below).contains("below /tmp"), "{}", stderr(&below));
    }
    // Where the program itself is not built in one.
    if !env!("CARGO_BIN_EXE_agekeep").starts_with("/tmp") {
        let apart = printed("/srv/store");
        assert_eq!(value(&stdout(&apart), "PrivateTmp"), "true");
        assert!(!stderr(&apart).contains("below /tmp"), "{}", stderr(&apart));
    }
}

/// With --sync the service syncs before the sweep and after it, may use the network, and writes to a host on this
/// machine.
#[test]
fn a_sweep_between_two_syncs() {
    let place = Place::new("plain", "plain");
    let host = place.root().join("host.git");
    let host = host.to_str().expect("UTF-8");
    place.ok(&["remote", "add", "origin", host]);
    place.ok(&["remote", "add", "far", "ssh://host.example/agent.git"]);
    let without = service(&place, &[]);
    assert!(
        !without.contains("ExecStartPre") && !without.contains(host),
        "{without}"
    );
    assert_eq!(value(&without, "RestrictAddressFamilies"), "none");
    assert_eq!(value(&without, "PrivateNetwork"), "true");
    let with = service(&place, &["--sync"]);
    for key in ["ExecStartPre", "ExecStartPost"] {
        let command = words(value(&with, key));
        assert_eq!(command[1], "sync", "{with}");
        let mut sweep = words(value(&with, "ExecStart"));
        sweep.retain(|word| !word.starts_with("--actor"));
        sweep[1] = "sync".into();
        assert_eq!(command, sweep, "{with}");
    }
    let keys: Vec<_> = settings(&with).into_iter().map(|(key, _)| key).collect();
    let place_of = |wanted| {
        keys.iter()
            .position(|key| *key == wanted)
            .expect("is there")
    };
    assert!(place_of("ExecStartPre") < place_of("ExecStart"));
    assert!(place_of("ExecStart") < place_of("ExecStartPost"));
    assert_eq!(
        value(&with, "RestrictAddressFamilies"),
        "AF_UNIX AF_INET AF_INET6"
    );
    assert!(values(&with, "PrivateNetwork").is_empty(), "{with}");
    assert!(value(&with, "ReadWritePaths").contains(host), "{with}");
    assert!(!with.contains("host.example"), "{with}");
}
