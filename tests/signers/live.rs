//! Several who write at once, and processes that live while signers come and go.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::thread;

use serde_json::{Value, json};

use crate::signers::team::Team;

/// A `tool` process that is asked line by line.
pub(crate) struct Tool {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Tool {
    pub(crate) fn start(team: &Team, key: &str, socket: Option<&str>) -> Self {
        let mut command = team.home.command(&["tool", "--signing-key", key]);
        command.envs(socket.map(|socket| ("SSH_AUTH_SOCK", socket)));
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts");
        Self {
            input: child.stdin.take().expect("piped"),
            output: BufReader::new(child.stdout.take().expect("piped")),
            child,
        }
    }

    pub(crate) fn create(&mut self, path: &str) -> Value {
        let call = json!({"command": "create", "path": path, "file_text": "x"});
        writeln!(self.input, "{call}").expect("reads");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("answers");
        serde_json::from_str(&line).expect("JSON")
    }

    pub(crate) fn end(mut self) {
        drop(self.input);
        self.child.wait().expect("ends");
    }
}

#[test]
fn a_process_whose_signer_is_removed_writes_no_more() {
    let Some(team) = Team::new() else { return };
    let key = team.let_in("ana", &[]);
    let mut tool = Tool::start(&team, &key, None);
    assert_eq!(tool.create("/memories/b.md")["is_error"], false);
    assert!(team.home.run(&["signers", "rm", "ana"]).status.success());
    let before = team.events();
    let answer = tool.create("/memories/c.md");
    assert_eq!(answer["is_error"], true, "{answer}");
    assert!(answer.to_string().contains("may not write"), "{answer}");
    assert!(answer.to_string().contains("not_a_signer"), "{answer}");
    assert_eq!(team.events(), before);
    // And once more, so that it is no matter of the first time.
    assert_eq!(tool.create("/memories/c.md")["is_error"], true);
    tool.end();
    assert_eq!(team.events(), before);
    assert!(team.findings().is_empty());
}

#[test]
fn a_process_whose_signer_is_added_writes_from_then_on() {
    let Some(team) = Team::new() else { return };
    let key = team.keygen("ana", &[]);
    let mut tool = Tool::start(&team, &key, None);
    let before = team.events();
    assert_eq!(tool.create("/memories/b.md")["is_error"], true);
    assert_eq!(team.events(), before);
    let added = team
        .home
        .run(&["signers", "add", "ana", &team.public("ana")]);
    assert!(added.status.success());
    assert_eq!(tool.create("/memories/b.md")["is_error"], false);
    tool.end();
    assert_eq!(team.log("1")[0]["signer"], "ana");
    assert!(team.findings().is_empty());
}

#[test]
fn two_signers_write_at_once() {
    const EACH: usize = 15;
    let Some(team) = Team::new() else { return };
    let keys = ["ana", "ben"].map(|name| (name, team.let_in(name, &[])));
    let before = team.events();
    thread::scope(|scope| {
        for (name, key) in &keys {
            let mut tool = Tool::start(&team, key, None);
            scope.spawn(move || {
                for number in 0..EACH {
                    let answer = tool.create(&format!("/memories/{name}/{number}.md"));
                    assert_eq!(answer["is_error"], false, "{answer}");
                }
                tool.end();
            });
        }
    });
    assert_eq!(team.events(), before + 2 * EACH);
    for (name, _) in &keys {
        let log = team.log("30");
        let own = log.iter().filter(|event| event["signer"] == *name);
        assert_eq!(own.count(), EACH, "{name}");
    }
    assert!(team.findings().is_empty());
}
