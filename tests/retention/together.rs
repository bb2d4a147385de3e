//! Sweeps, erasures and agents at the same time, in processes of their own.

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::thread;

use crate::retention::scene::{Scene, day, list};
use crate::support::{json_lines, stdout};

const POLICY: &str = "[expiration]\nunaccessed_for = \"90d\"\nthen = \"erase\"\ngrace = \"0d\"\n\
                      sweep_max = \"100%\"\n";
const AGENTS: usize = 8;
const EACH: usize = 12;

fn start(mut command: Command) -> Child {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    piped.stderr(Stdio::piped()).spawn().expect("starts")
}

/// Feeds an agent's calls, and answers what came back.
fn agent(command: Command, calls: String) -> thread::JoinHandle<Vec<serde_json::Value>> {
    thread::spawn(move || {
        let mut child = start(command);
        let mut input = child.stdin.take().expect("piped");
        let writer = thread::spawn(move || drop(input.write_all(calls.as_bytes())));
        let output = child.wait_with_output().expect("ends");
        writer.join().expect("written");
        assert!(
            output.status.success(),
            "{}",
            crate::support::stderr(&output)
        );
        json_lines(&output.stdout)
    })
}

#[test]
fn two_sweeps_and_eight_agents_lose_nothing_that_was_used() {
    let scene = Scene::new(POLICY);
    for n in 0..AGENTS * 3 {
        scene.create(&day(1), &format!("/memories/{n}.md"), "text");
    }
    let now = day(100);
    // Of three memories of each agent one is read in time; the sweeps come while they work.
    for n in 0..AGENTS {
        scene.done(&day(50), &["view", &format!("/memories/{}.md", n * 3)]);
    }
    let agents: Vec<_> = (0..AGENTS)
        .map(|n| {
            let calls = (0..EACH).map(|round| match round % 3 {
                0 => format!("{{\"command\":\"view\",\"path\":\"/memories/{}.md\"}}\n", n * 3),
                1 => format!("{{\"command\":\"create\",\"path\":\"/memories/new/{n}-{round}.md\",\"file_text\":\"new\"}}\n"),
                _ => format!("{{\"command\":\"view\",\"path\":\"/memories/{}.md\"}}\n", n * 3 + 1),
            });
            agent(scene.command_as("owner", &now, &["tool"]), calls.collect())
        })
        .collect();
    let sweeps: Vec<_> = (0..2)
        .map(|_| start(scene.command_as("owner", &now, &["expire", "--json"])))
        .collect();
    let mut removed: Vec<String> = Vec::new();
    for sweep in sweeps {
        let output = sweep.wait_with_output().expect("ends");
        assert!(
            output.status.success(),
            "{}",
            crate::support::stderr(&output)
        );
        let swept = &json_lines(&output.stdout)[0];
        let gone = list(&swept["expire"]).iter();
        removed.extend(gone.map(|due| due["path"].as_str().expect("text").to_owned()));
    }
    for answers in agents {
        let answers = answers.join().expect("an agent");
        assert_eq!(answers.len(), EACH);
        for (round, answer) in answers.iter().enumerate() {
            assert_eq!(answer["is_error"], round % 3 == 2, "{answer}");
        }
    }
    removed.sort();
    let all = removed.len();
    removed.dedup();
    assert_eq!(all, removed.len(), "each is removed once");
    let due = (0..AGENTS * 3).filter(|n| n % 3 > 0);
    let mut due: Vec<String> = due.map(|n| format!("/memories/{n}.md")).collect();
    due.sort();
    assert_eq!(removed, due);
    let left = scene.done(&now, &["read"]);
    assert_eq!(left.lines().count(), AGENTS + AGENTS * EACH / 3);
    scene.assert_verified("after all");
}

#[test]
fn erasures_beside_writers_and_changes_of_keys() {
    let scene = Scene::new("");
    for n in 0..6 {
        scene.create(&day(1), &format!("/memories/old/{n}.md"), "gone soon");
    }
    let calls = |n: usize| -> String {
        (0..20)
            .map(|round| {
                format!("{{\"command\":\"create\",\"path\":\"/memories/{n}/{round}.md\",\"file_text\":\"text {n} {round}\"}}\n")
            })
            .collect()
    };
    let agents: Vec<_> = (0..3)
        .map(|n| agent(scene.command_as("owner", &day(2), &["tool"]), calls(n)))
        .collect();
    let erase = |n: usize| {
        let path = format!("/memories/old/{n}.md");
        start(scene.command_as(
            "owner",
            &day(2),
            &["erase", &path, "--yes", "--reason", "asked"],
        ))
    };
    let mut others: Vec<Child> = (0..6).map(erase).collect();
    others.push(start(scene.command_as("owner", &day(2), &["rekey"])));
    for child in others {
        let output = child.wait_with_output().expect("ends");
        let said = crate::support::stderr(&output);
        // A rekey that another change of keys overtook says so, and changes nothing.
        let overtaken = output.status.code() == Some(6) && said.contains("rekey");
        assert!(
            output.status.success()
                || overtaken
                || said.contains("overt")
                || said.contains("began"),
            "{said}"
        );
    }
    for answers in agents {
        assert!(
            answers
                .join()
                .expect("an agent")
                .iter()
                .all(|a| a["is_error"] == false)
        );
    }
    for n in 0..3 {
        for round in 0..20 {
            let text = scene.done(&day(3), &["read", &format!("{n}/{round}.md")]);
            assert_eq!(text, format!("text {n} {round}"));
        }
    }
    let erased = scene.home.run(&["verify", "--full"]);
    assert!(
        stdout(&erased).contains("6 memories erased"),
        "{}",
        stdout(&erased)
    );
    scene.assert_verified("after all");
}
