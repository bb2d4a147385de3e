//! docs/monitoring.md: its commands run, its figures are those of the program, and its collector collects.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::{command, log, with_program};
use crate::support::{Home, has_peer, json_lines, stderr, stdout};

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/monitoring.md");
    fs::read_to_string(path).expect("the page")
}

/// The blocks of a kind.
fn blocks(kind: &str) -> Vec<String> {
    let (page, begin) = (page(), format!("```{kind}\n"));
    let parts = page.split(&begin).skip(1);
    let parts = parts.map(|part| part.split("```").next().expect("its end").to_owned());
    parts.collect()
}

#[test]
fn its_commands_run() {
    let home = with_program(Home::with_store());
    for n in 0..4 {
        home.run(&["create", &format!("/memories/{n}.md"), "--text", "x"]);
    }
    let script = blocks("sh").concat();
    assert!(script.matches("agekeep log").count() > 4, "{script}");
    let output = command(&home, "sh")
        .args(["-euc", &script])
        .output()
        .expect("sh runs");
    assert!(
        output.status.success(),
        "{}\n{}",
        stdout(&output),
        stderr(&output)
    );
}

/// A home with the script of the page.
fn home_with_script() -> Home {
    let home = with_program(Home::with_store());
    let [script] = &blocks("bash")[..] else {
        panic!("one script")
    };
    fs::write(home.path().join("bin/agekeep-follow"), script).expect("written");
    let made_executable = Command::new("chmod")
        .arg("+x")
        .arg(home.path().join("bin/agekeep-follow"))
        .status();
    assert!(made_executable.expect("chmod runs").success());
    home
}

/// The page's configuration of a collector, with the places of a home.
fn configuration(home: &Home, collector: &str) -> String {
    let place = home.path().display().to_string();
    let [configuration] = &blocks(collector)[..] else {
        panic!("one configuration")
    };
    configuration
        .replace(
            "/usr/local/bin/agekeep-follow",
            &format!("{place}/bin/agekeep-follow"),
        )
        .replace("/var/log/agekeep", &place)
}

/// Records events, and waits until the collector that `start` starts has each of them once, as the
/// log prints it; then once more, with another collector that goes on where the first one ended.
fn collects(home: &Home, start: impl Fn(fs::File) -> Child) {
    let collected = home.path().join("events.jsonl");
    for round in 1..=2 {
        let said = fs::File::create(home.path().join("said")).expect("made");
        let mut collector = start(said);
        for n in 0..5 {
            let path = format!("/memories/{round}-{n}.md");
            home.run(&["create", &path, "--text", "x", "--actor", "=a|b \"c\"\\"]);
        }
        let wanted = log(home, &["--order", "asc"]);
        let since = Instant::now();
        let found = || {
            fs::read(&collected)
                .map(|bytes| json_lines(&bytes))
                .unwrap_or_default()
        };
        while found().len() < wanted.len() {
            let said = fs::read_to_string(home.path().join("said")).unwrap_or_default();
            assert!(
                since.elapsed() < Duration::from_secs(60),
                "{} of {}: {said}",
                found().len(),
                wanted.len()
            );
            thread::sleep(Duration::from_millis(50));
        }
        let group = format!("-{}", collector.id());
        assert!(
            Command::new("kill")
                .args(["-TERM", "--", &group])
                .status()
                .expect("kill runs")
                .success()
        );
        collector.wait().expect("it ends");
        let numbers: Vec<_> = found().iter().map(|event| event["event"].clone()).collect();
        let all: Vec<_> = wanted.iter().map(|event| event["event"].clone()).collect();
        assert_eq!(numbers, all);
        assert_eq!(found(), wanted, "the fields are as they were");
    }
}

#[test]
fn syslog_ng_collects_every_event_once_also_after_a_restart() {
    if !has_peer("syslog-ng", "docs/monitoring.md has a configuration of it") {
        let ci = std::env::var("CI").is_ok_and(|ci| ci == "true" || ci == "1");
        assert!(!ci, "syslog-ng-core is not installed");
        return;
    }
    let home = home_with_script();
    let configured = configuration(&home, "syslog-ng");
    fs::write(home.path().join("syslog-ng.conf"), configured).expect("written");
    collects(&home, |said| {
        command(&home, "syslog-ng")
            .args([
                "--foreground",
                "--stderr",
                "--no-caps",
                "--cfgfile=syslog-ng.conf",
            ])
            .args([
                "--pidfile=pid",
                "--control=control",
                "--persist-file=persist",
            ])
            .stdout(Stdio::null())
            .stderr(said)
            .process_group(0)
            .spawn()
            .expect("syslog-ng starts")
    });
}

/// No package of Debian and of the registries has it, so that the gate cannot install it.
#[test]
fn fluent_bit_collects_every_event_once_also_after_a_restart() {
    if !has_peer("fluent-bit", "docs/monitoring.md has a configuration of it") {
        return;
    }
    let home = home_with_script();
    collects(&home, |said| {
        command(&home, "sh")
            .args(["-c", &configuration(&home, "fluent-bit")])
            .stdout(Stdio::null())
            .stderr(said)
            .process_group(0)
            .spawn()
            .expect("sh starts")
    });
}
