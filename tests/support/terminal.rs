//! A person at a terminal.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use crate::support::program;

/// Runs a command line on a pseudo-terminal of util-linux's `script`, with the environment of
/// `plain`. When what is shown ends a question with `question`, types what `answer` says. Answers the
/// exit code, and all that was shown.
pub(crate) fn answered(
    plain: &Command,
    line: &str,
    question: &str,
    answer: impl FnOnce() -> String,
) -> (Option<i32>, String) {
    let set = plain.get_envs();
    let mut child = Command::new(program("script"))
        .args(["-qec", line, "/dev/null"])
        .env_clear()
        .envs(set.filter_map(|(name, value)| Some((name, value?))))
        .env("SHELL", "/bin/sh")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("script runs");
    let mut shown = Vec::new();
    let mut screen = child.stdout.take().expect("piped");
    let mut keyboard = child.stdin.take().expect("piped");
    while !String::from_utf8_lossy(&shown).contains(question) {
        let mut byte = [0];
        let read = screen.read_exact(&mut byte);
        assert!(
            read.is_ok(),
            "it does not ask: {}",
            String::from_utf8_lossy(&shown)
        );
        shown.push(byte[0]);
    }
    let typed = answer();
    keyboard.write_all(typed.as_bytes()).expect("typed");
    screen.read_to_end(&mut shown).expect("the rest");
    drop(keyboard);
    let status = child.wait().expect("it ends");
    (status.code(), String::from_utf8_lossy(&shown).into_owned())
}
