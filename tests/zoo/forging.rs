//! Makes the scenarios from the base by real means: `AGEKEEP_FORGE_ZOO=all` or `=NAME` with
//! `cargo test --test all zoo::forg`.

mod commits;
mod draft;
mod keyring;
mod objects;
mod places;
mod records;
mod trees;

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::ops::Deref;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::OnceLock;

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::support::forge::{Means, has_means};
use crate::support::{Home, json_lines, stderr};
use crate::zoo::base;
use crate::zoo::scenario::{self, MARK, Scenario};

/// A scenario's name, and what makes it of the base.
type Forged = (&'static str, fn(&Zoo));

/// What the folders of the zoo are made by.
fn forged() -> Vec<Forged> {
    let groups: [&[Forged]; 6] = [
        commits::ALL,
        keyring::ALL,
        objects::ALL,
        places::ALL,
        records::ALL,
        trees::ALL,
    ];
    groups.concat()
}

#[test]
fn forge() {
    let names: BTreeSet<String> = Scenario::all().into_iter().map(|s| s.name).collect();
    let made: BTreeSet<String> = forged().iter().map(|(name, _)| (*name).into()).collect();
    assert_eq!(
        names, made,
        "every folder is made by code here, and the reverse"
    );
    let Ok(wanted) = env::var("AGEKEEP_FORGE_ZOO") else {
        return;
    };
    assert!(has_means("the zoo is made anew"), "programs are missing");
    if wanted == "all" {
        base::make();
    }
    for (name, make) in forged() {
        if wanted == "all" || wanted == "scenarios" || wanted == name {
            forge_one(&Scenario::read(name), make);
        }
    }
}

/// Makes the files of one scenario, and says in its `scenario.toml` what files cannot say.
fn forge_one(scenario: &Scenario, make: fn(&Zoo)) {
    let home = scenario::base_home(true);
    make(&Zoo::on_base(&home));
    let (before, after) = (
        scenario::files(&scenario::base()),
        scenario::files(&home.store()),
    );
    drop(fs::remove_dir_all(scenario.overlay()));
    let mut executable = BTreeSet::new();
    for (name, bytes) in &after {
        let mode = fs::metadata(home.store().join(name)).expect("there");
        if mode.permissions().mode() & 0o100 != 0 {
            executable.insert(name.clone());
        }
        if before.get(name) != Some(bytes) {
            scenario::put(&scenario.overlay(), name, bytes);
        }
    }
    let gone = |name: &&String| !after.contains_key(*name);
    let removed = before.keys().filter(gone).cloned().collect();
    scenario.say("removed", &removed);
    scenario.say("executable", &executable);
}

/// A store at work on: the base, its keys, and what is known of it.
pub(crate) struct Zoo<'a> {
    home: &'a Home,
    means: Means,
    /// Its events as the log shows them, oldest first.
    events: Vec<Value>,
}

impl Deref for Zoo<'_> {
    type Target = Means;

    fn deref(&self) -> &Means {
        &self.means
    }
}

/// What the newest event that wrote a memory says of it.
#[derive(Clone)]
struct Memory {
    id: String,
    path: String,
    version: u64,
    bytes: u64,
    blob: String,
}

impl<'a> Zoo<'a> {
    pub(crate) fn at(home: &'a Home) -> Self {
        Self::with(home, log_of(home))
    }

    /// The base as it was copied into a home.
    pub(crate) fn on_base(home: &'a Home) -> Self {
        static EVENTS: OnceLock<Vec<Value>> = OnceLock::new();
        Self::with(home, EVENTS.get_or_init(|| log_of(home)).clone())
    }

    fn with(home: &'a Home, events: Vec<Value>) -> Self {
        let means = Means::of(&home.store(), &home.identity(), home.path());
        Self {
            home,
            means,
            events,
        }
    }

    fn store(&self) -> PathBuf {
        self.home.store()
    }

    /// A key file by the end of its name.
    fn key(&self, name: &str) -> PathBuf {
        self.home.signing_key().with_file_name(name)
    }

    /// The id of the memory that was last at a path.
    pub(crate) fn id_of(&self, path: &str) -> String {
        self.memory(path).id
    }

    /// The state of a memory after the events up to `event`.
    fn memory_at(&self, path: &str, event: usize) -> Memory {
        let path = format!("/memories/{path}");
        let touches = self.events[..=event].iter().rev();
        let mut touches = touches.flat_map(|event| event["memories"].as_array().expect("touches"));
        let touch = touches
            .find(|touch| touch["path"] == path.as_str() && touch["blob"].is_string())
            .expect("a write");
        Memory {
            id: text(&touch["memory"]),
            path,
            version: touch["version"].as_u64().expect("a number"),
            bytes: touch["bytes"].as_u64().expect("a number"),
            blob: text(&touch["blob"]),
        }
    }

    /// The present state of a memory, or its last one.
    fn memory(&self, path: &str) -> Memory {
        self.memory_at(path, self.events.len() - 1)
    }

    /// The commit of an event.
    fn commit_of(&self, event: usize) -> String {
        text(&self.events[event]["commit"])
    }

    fn time_of(&self, event: usize) -> DateTime<Utc> {
        let time = text(&self.events[event]["time"]);
        time.parse().expect("a time")
    }

    /// When a memory was last read or written, in milliseconds.
    pub(crate) fn last_access(&self, path: &str) -> i64 {
        let path = format!("/memories/{path}");
        let touches = |event: &Value| event["memories"].as_array().cloned().expect("touches");
        let accessed = |event: &Value| touches(event).iter().any(|t| t["path"] == path.as_str());
        let last = self.events.iter().rposition(accessed).expect("an access");
        self.time_of(last).timestamp_millis()
    }

    /// What the proofs of scenarios call the commits, memories and blobs of the base.
    pub(crate) fn facts(&self) -> Vec<(String, String)> {
        let commits = (0..self.events.len()).map(|n| (format!("E{n}"), self.commit_of(n)));
        let mut facts: Vec<_> = commits.collect();
        for (name, path) in [
            ("PLAN", "project/plan.md"),
            ("HANDOVER", "handover.md"),
            ("SCRATCH", "scratch.md"),
            ("ANA", "team/ana.md"),
        ] {
            let memory = self.memory(path);
            facts.push((name.into(), memory.id));
            facts.push((format!("{name}_BLOB"), memory.blob));
        }
        let first = self.memory_at("project/plan.md", 1).blob;
        facts.push(("PLAN_FIRST".into(), first));
        facts
    }

    /// The path of a loose object's file.
    fn loose(&self, id: &str) -> PathBuf {
        self.store().join("objects").join(&id[..2]).join(&id[2..])
    }

    /// Changes a file of the store.
    fn edit(&self, name: &str, edit: impl FnOnce(&mut Vec<u8>)) {
        let path = self.store().join(name);
        let mut bytes = fs::read(&path).expect("there");
        edit(&mut bytes);
        scenario::put(&self.store(), name, &bytes);
    }

    /// Puts a text file into the store.
    fn plant(&self, name: &str, text: &str) {
        scenario::put(&self.store(), name, text.as_bytes());
    }

    /// Makes a sealed version with the header of `place` and a text of the zoo.
    fn version(&self, key_of: &str, place: &Memory, words: &str) -> String {
        let header = serde_json::json!({
            "agekeep": 1, "id": place.id, "path": place.path, "version": place.version, "pad": "",
        });
        self.seal_version(key_of, &format!("{header}\n{MARK}: {words}\n"))
    }
}

fn text(value: &Value) -> String {
    value.as_str().expect("text").to_owned()
}

/// The events of a store as the log shows them, oldest first.
fn log_of(home: &Home) -> Vec<Value> {
    // Whoever looks at the store makes its catalog; here nothing may be made.
    let copy = tempfile::tempdir().expect("a folder");
    for (name, bytes) in scenario::all_files(&home.store()) {
        scenario::put(&copy.path().join("store"), &name, &bytes);
    }
    let store = copy.path().join("store");
    let store = store.to_str().expect("UTF-8");
    let mut log = home.command(&["--json", "log", "-C", store]);
    log.env("XDG_STATE_HOME", copy.path().join("state"));
    let log = log.output().expect("it runs");
    assert!(log.status.success(), "{}", stderr(&log));
    let mut events = json_lines(&log.stdout);
    events.reverse();
    events
}
