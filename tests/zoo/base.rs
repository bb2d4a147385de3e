//! The base of every scenario: a short, believable history, made by the binary.

use std::fs;
use std::path::Path;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::json;

use crate::support::{Home, stderr};
use crate::zoo::forging::Zoo;
use crate::zoo::scenario::{self, MARK};

/// When the base begins; each event is a minute after the one before.
const BEGIN: &str = "2026-03-02T08:00:00.250Z";

/// The events that are refused or fail, on purpose.
const REFUSED: [i64; 2] = [9, 11];

/// Makes the base and its keys anew: everything built on it has to be made anew too.
pub(crate) fn make() {
    let home = Home::empty();
    let mut story = Story::new(&home);
    story.run(&["init", "--trial", "--reason", "notes of the bridge project"]);
    planning(&mut story);
    another_signer(&mut story);
    tidying(&mut story);
    let events = story.event;
    assert_eq!(events, 31, "the story has all its events");
    keep(&home);
}

/// The story so far, and the clock in it.
struct Story<'a> {
    home: &'a Home,
    event: i64,
    behind: TimeDelta,
}

impl<'a> Story<'a> {
    fn new(home: &'a Home) -> Self {
        Self {
            home,
            event: 0,
            behind: TimeDelta::zero(),
        }
    }

    fn now(&self) -> DateTime<Utc> {
        let begin: DateTime<Utc> = BEGIN.parse().expect("a time");
        begin + TimeDelta::minutes(self.event) - self.behind
    }

    /// One command, which makes one event.
    fn run(&mut self, args: &[&str]) {
        let now = self.now().to_rfc3339();
        let output = self.home.run(&[args, &["--now", &now]].concat());
        let refused = REFUSED.contains(&self.event);
        assert_eq!(output.status.success(), !refused, "{}", stderr(&output));
        self.event += 1;
    }

    fn agent(&mut self, session: &str, args: &[&str]) {
        self.run(&[args, &["--actor", "notes-agent", "--session", session]].concat());
    }
}

fn planning(story: &mut Story) {
    let text = |text: &str| format!("{MARK}: {text}\n");
    let plan = text("survey the east bank first");
    let decisions = text("no work in the flood season");
    let ana = text("Ana decides about the budget");
    let day = "monday";
    story.agent(
        day,
        &["create", "/memories/project/plan.md", "--text", &plan],
    );
    story.agent(
        day,
        &[
            "create",
            "/memories/project/decisions.md",
            "--text",
            &decisions,
        ],
    );
    story.agent(day, &["create", "/memories/people/ana.md", "--text", &ana]);
    story.agent(day, &["view", "/memories"]);
    story.agent(day, &["view", "/memories/project/plan.md"]);
    let replace = [
        "str-replace",
        "/memories/project/plan.md",
        "--old",
        "east",
        "--new",
        "west",
    ];
    story.agent(day, &replace);
    let line = text("two offers for every part");
    story.agent(
        day,
        &[
            "insert",
            "/memories/project/decisions.md",
            "1",
            "--text",
            &line,
        ],
    );
    story.agent(
        day,
        &[
            "create",
            "/memories/inbox.md",
            "--text",
            &text("call the harbour"),
        ],
    );
    story.agent(day, &["view", "/memories/../etc/passwd"]);
    story.agent(
        day,
        &["rename", "/memories/inbox.md", "/memories/project/inbox.md"],
    );
    let nowhere = [
        "str-replace",
        "/memories/project/plan.md",
        "--old",
        "north",
        "--new",
        "south",
    ];
    story.agent(day, &nowhere);
    let policy = story.home.path().join("policy.toml");
    fs::write(&policy, "[limits]\nlines = 5000\n").expect("written");
    let policy = policy.to_str().expect("UTF-8").to_owned();
    story.run(&[
        "policy",
        "set",
        "--policy",
        &policy,
        "--reason",
        "shorter files",
    ]);
}

/// A legal change of signers, an event of the new one, and the end of the right to write.
fn another_signer(story: &mut Story) {
    let deputy = agekeep::store::SigningKey::generate();
    let line = format!("deputy namespaces=\"git\" {}\n", deputy.public_line());
    let key = story.home.signing_key().with_file_name("deputy_key");
    crate::support::forge::private(&key, &deputy.to_file());
    let zoo = Zoo::at(story.home);
    let owner = zoo.git(&["show", "main:signers"]) + "\n";
    decide(story, "signers_add", &(owner.clone() + &line));
    let key = key.to_str().expect("UTF-8");
    let text = format!("{MARK}: Ben has the keys to the boat\n");
    story.agent(
        "deputy-1",
        &[
            "create",
            "/memories/people/ben.md",
            "--text",
            &text,
            "--signing-key",
            key,
        ],
    );
    story.agent(
        "deputy-1",
        &["view", "/memories/people/ben.md", "--signing-key", key],
    );
    decide(story, "signers_rm", &owner);
}

/// An event of the owner's that puts another `signers` in place.
fn decide(story: &mut Story, command: &str, signers: &str) {
    let zoo = Zoo::at(story.home);
    let mut draft = zoo.draft(command, json!([]));
    draft.tree = zoo.tree_with_file("main", "signers", signers);
    draft.at(story.now());
    zoo.adopt_draft(&draft);
    story.event += 1;
}

fn tidying(story: &mut Story) {
    let day = "tuesday";
    let replace = [
        "str-replace",
        "/memories/project/plan.md",
        "--old",
        "first",
        "--new",
        "in May",
    ];
    story.agent(day, &replace);
    let scratch = format!("{MARK}: 17 + 25 = 42\n");
    story.agent(day, &["create", "/memories/scratch.md", "--text", &scratch]);
    story.agent(day, &["view", "/memories/scratch.md"]);
    story.agent(day, &["delete", "/memories/scratch.md"]);
    story.agent(day, &["rename", "/memories/people", "/memories/team"]);
    // The machine's clock is set right: it was three minutes fast. The event says so.
    story.behind = TimeDelta::minutes(3);
    story.agent(day, &["view", "/memories/project/plan.md"]);
    story.agent(day, &["read", "project/decisions.md"]);
    let handover = format!("{MARK}: the survey is done, the offers are not\n");
    story.agent(day, &["write", "handover.md", "--text", &handover]);
    story.agent(day, &["view", "/memories/handover.md"]);
    let line = format!("{MARK}: boats from June on\n");
    story.agent(
        day,
        &["insert", "/memories/project/plan.md", "1", "--text", &line],
    );
    let replace = [
        "str-replace",
        "/memories/project/decisions.md",
        "--old",
        "two",
        "--new",
        "three",
    ];
    story.agent(day, &replace);
    story.agent(day, &["read"]);
    story.agent(day, &["view", "/memories/project/plan.md"]);
    story.agent(day, &["view", "/memories/project/decisions.md"]);
}

/// Puts the store and its keys among the fixtures.
fn keep(home: &Home) {
    let zoo = Zoo::at(home);
    zoo.adopt(&zoo.git(&["rev-parse", "main"]));
    let to = scenario::base();
    drop(fs::remove_dir_all(&to));
    for (name, bytes) in scenario::files(&home.store()) {
        scenario::put(&to, &name, &bytes);
    }
    let keys = scenario::keys();
    drop(fs::remove_dir_all(&keys));
    let stranger = agekeep::store::SigningKey::generate();
    let kept = [
        ("identity.txt", read(&home.identity())),
        ("signing_key", read(&home.signing_key())),
        (
            "deputy_key",
            read(&home.signing_key().with_file_name("deputy_key")),
        ),
        ("stranger_key", stranger.to_file().as_bytes().to_vec()),
    ];
    for (name, bytes) in kept {
        scenario::put(&keys, &format!("TEST-ONLY-{name}"), &bytes);
    }
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).expect("there")
}
