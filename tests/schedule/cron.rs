//! The crontab line, taken apart as cron does and run by a shell.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::schedule::place::{NAMES, Place, has_all, put, shell, shown, signs};
use crate::support::{has_peer, stderr, stdout};

/// The one line of the crontab that is no comment.
fn line(text: &str) -> &str {
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let line = lines.next().expect("a line");
    assert_eq!(lines.next(), None, "more than one line");
    line
}

/// What cron hands to the shell: the line up to a bare `%`, with `\%` as `%`. Some crons make one
/// backslash of two.
fn as_cron_reads(line: &str, halves: bool) -> String {
    let fields = line.splitn(6, ' ').collect::<Vec<_>>();
    for field in &fields[..5] {
        assert!(field.chars().all(|c| c.is_ascii_digit() || c == '*'));
    }
    let (mut command, mut escaped) = (String::new(), false);
    for c in fields[5].chars() {
        if escaped && (c == '%' || (halves && c == '\\')) {
            command.pop();
        } else if c == '%' {
            break;
        }
        command.push(c);
        escaped = !escaped && c == '\\';
    }
    command
}

#[test]
fn the_program_gets_its_words_as_they_are() {
    for name in NAMES {
        let place = Place::new(name, name);
        let text = place.ok(&["schedule", "cron"]);
        place.put_witness();
        let bin = place.root().join("logger-bin");
        fs::create_dir(&bin).expect("makes a folder");
        let log = place.root().join("log");
        let script = format!("#!/bin/sh\n{{ echo \"$*\"; cat; }} >{}\n", log.display());
        let logger = put(&bin, "logger", &script);
        fs::set_permissions(logger, fs::Permissions::from_mode(0o755)).expect("ours");
        let path = format!("{}:/usr/bin:/bin", bin.display());
        for halves in [false, true] {
            let command = as_cron_reads(line(&text), halves);
            let ran = shell(&command, &path);
            assert_eq!(place.heard(), place.expected(), "{command}");
            // What it did goes to syslog, and what is wrong to whom cron mails it.
            let text = fs::read_to_string(&log).expect("logged");
            assert_eq!(text, "-t agekeep-expire\nswept\n");
            assert_eq!(
                (stdout(&ran).as_str(), stderr(&ran).as_str()),
                ("", "trouble\n")
            );
        }
    }
}

#[test]
fn what_is_recorded_and_named_goes_with_it() {
    let place = Place::new("plain", "plain");
    let reason = r"it's 100% \% done\";
    let actor = "--actor=night shift".to_owned();
    let args = [
        "schedule",
        "cron",
        &actor,
        "--reason",
        reason,
        "--keyring",
        "k",
    ];
    let text = place.ok(&args);
    place.put_witness();
    shell(&as_cron_reads(line(&text), false), "/usr/bin:/bin");
    let heard = place.heard();
    let keyring = place.home.join("k").to_str().expect("UTF-8").to_owned();
    let said = [
        "--keyring".into(),
        keyring,
        actor,
        format!("--reason={reason}"),
    ];
    assert_eq!(heard[8..12], said);
}

#[test]
fn no_sign_means_anything() {
    let place = Place::new("plain", "plain");
    let texts: Vec<_> = signs()
        .map(|said| {
            place.ok(&[
                &["schedule", "cron"][..],
                &said.each_ref().map(String::as_str),
            ]
            .concat())
        })
        .collect();
    place.put_witness();
    for (text, said) in texts.iter().zip(signs()) {
        for halves in [false, true] {
            shell(&as_cron_reads(line(text), halves), "/usr/bin:/bin");
            assert!(has_all(&place.heard(), &said), "{text}");
        }
        let again = shown(text, "schedule cron");
        let again = again.split_once("; ").expect("two commands").1;
        let again = again.strip_suffix(") | crontab -").expect("a pipe");
        shell(again, "/usr/bin:/bin");
        assert!(has_all(&place.heard(), &said), "{text}");
    }
}

/// With --sync the sweep goes by the newest history, and the remote has what it did. Without the remote there is
/// no sweep.
#[test]
fn a_sweep_between_two_syncs() {
    let place = Place::new("plain", "plain");
    let host = place.root().join("host.git");
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        let output = git.args(args).output().expect("git runs");
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    let path = host.to_str().expect("UTF-8");
    git(&["init", "-q", "--bare", "-b", "main", path]);
    place.ok(&["remote", "add", "origin", path]);
    let text = place.ok(&["schedule", "cron", "--sync"]);
    let command = as_cron_reads(line(&text), false);
    let (command, _) = command.rsplit_once(" | logger").expect("a pipe");
    let ran = shell(command, "/usr/bin:/bin");
    assert!(ran.status.success(), "{command}\n{}", stderr(&ran));
    let said = stdout(&ran);
    let lines: Vec<_> = said.lines().collect();
    let (first, last) = (lines.first(), lines.last());
    assert!(
        first.is_some_and(|line| line.contains("1 event sent")),
        "{said}"
    );
    assert!(said.contains("Done (event 1)"), "{said}");
    assert!(
        last.is_some_and(|line| line.contains("1 event sent; 2 events")),
        "{said}"
    );
    let newest = git(&["--git-dir", path, "log", "-1", "--format=%s", "main"]);
    assert_eq!(newest.trim(), "expire ok");
    fs::rename(&host, place.root().join("away")).expect("moves");
    let ran = shell(command, "/usr/bin:/bin");
    assert!(
        !ran.status.success() && stdout(&ran).is_empty(),
        "{}",
        stdout(&ran)
    );
}

#[test]
fn what_it_names_is_all_that_a_command_needs() {
    for name in NAMES {
        let place = Place::new(name, name);
        let text = place.ok(&["schedule", "cron"]);
        let command = as_cron_reads(line(&text), false);
        let (command, _) = command.split_once(" | logger").expect("a pipe");
        let monitor = shown(&text, "--max-age 26h");
        for (command, said) in [
            (command, "Done (event"),
            (monitor, "problems    none found"),
        ] {
            let ran = shell(command, "/usr/bin:/bin");
            assert!(ran.status.success(), "{command}\n{}", stderr(&ran));
            assert!(stdout(&ran).contains(said), "{}", stdout(&ran));
        }
        let again = shown(&text, "schedule cron");
        let again = again.split_once("; ").expect("two commands").1;
        let again = again.strip_suffix(") | crontab -").expect("a pipe");
        assert_eq!(stdout(&shell(again, "/usr/bin:/bin")), text, "{again}");
    }
}

#[test]
fn crontab_takes_the_file() {
    // Debian's and cronie's check a file without installing it; others are left alone.
    if !has_peer("crontab", "whether cron takes the line") {
        return;
    }
    let place = Place::new(NAMES[3], NAMES[2]);
    let usage = Command::new("crontab").arg("-h").output().expect("runs");
    let usage = stdout(&usage) + &stderr(&usage);
    let check = match usage {
        usage if usage.contains("dry run") => "-n",
        usage if usage.contains("-T ") => "-T",
        _ => {
            return assert!(!has_peer(
                "crontab-with-a-check",
                "whether cron takes the line"
            ));
        }
    };
    let accepts = |text: &str| {
        let file = put(&place.root(), "tab", text);
        let checked = Command::new("crontab").arg(check).arg(file).output();
        checked.expect("runs").status.success()
    };
    let text = place.ok(&["schedule", "cron"]);
    assert!(accepts(&text), "{text}");
    assert!(!accepts(&text.replace("17 3 * * *", "77 3 * * *")));
}
