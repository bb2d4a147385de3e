//! What holds whatever was done to the files of a store: it is refused, found or harmless; in time;
//! nothing is touched outside; no other text is shown, and none to those who should see none.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::attack::canary::{self, Snapshot};
use crate::attack::probe::{self, Ran};
use crate::attack::scene::{self, CONTENT, ERASED, KNOWN, Scene};
use crate::support::Home;

/// What a command is run for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Probe {
    Status,
    View,
    Tool,
    Log,
    Verify,
    Export,
    Full,
    Keyless,
    AuditorLog,
    AuditorView,
}

/// What everyone who opens the store asks, in an order that is the same for every case.
const ORDER: [Probe; 9] = [
    Probe::Status,
    Probe::View,
    Probe::Tool,
    Probe::Log,
    Probe::Verify,
    Probe::Export,
    Probe::AuditorLog,
    Probe::AuditorView,
    Probe::Full,
];

/// Commands that may come before all others, by turns: what is done to files is seen by each.
const FIRST: [Option<Probe>; 4] = [
    None,
    Some(Probe::Full),
    Some(Probe::Keyless),
    Some(Probe::Log),
];

impl Probe {
    fn args(self) -> Vec<&'static str> {
        match self {
            Self::Status => vec!["status"],
            Self::View | Self::AuditorView => vec!["view", KNOWN],
            Self::Tool => vec!["tool"],
            Self::Log | Self::AuditorLog => vec!["log", "--json"],
            Self::Verify => vec!["verify", "--json"],
            Self::Export => vec!["export", "--history", "--jsonl", "-", "--reason", "a copy"],
            Self::Full => vec!["verify", "--full", "--json"],
            Self::Keyless => vec!["verify", "--identity", "/nowhere"],
        }
    }

    fn is_auditors(self) -> bool {
        matches!(self, Self::AuditorLog | Self::AuditorView)
    }

    /// Whether it opens the store to use it, and not to look for what is wrong.
    fn is_use(self) -> bool {
        use Probe::{Export, Log, Status, Tool, View};
        matches!(self, Status | View | Tool | Log | Export)
    }

    fn run(self, home: &Home, truth: &Truth) -> Ran {
        let mut args = self.args();
        let auditor = Scene::identity(home, "auditor");
        if self.is_auditors() {
            args.extend(["-i", auditor.to_str().expect("UTF-8")]);
        }
        let input = if self == Self::Tool { &truth.calls } else { "" };
        probe::run_in(home, &args, input)
    }
}

/// What each command says of the scene when nobody has touched it.
#[derive(Default)]
pub(crate) struct Truth {
    calls: String,
    view: String,
    answers: Vec<(Value, Value)>,
    /// Every event, oldest first.
    log: Vec<Value>,
    /// Every version there ever was, by memory and number.
    versions: BTreeMap<(String, u64), Value>,
}

impl Truth {
    pub(crate) fn of(scene: &Scene) -> Self {
        let home = scene.copy();
        let log = events(&scene::run(&home, &["log", "--json"]));
        let calls = calls(&scene::run(&home, &["read"]));
        let mut truth = Self {
            calls,
            log,
            ..Self::default()
        };
        let ok = |probe: Probe| {
            let ran = probe.run(&home, &truth);
            assert!(ran.is_ok(), "{}: {}", ran.args, ran.stderr);
            ran.stdout
        };
        let (view, tool, export) = (ok(Probe::View), ok(Probe::Tool), ok(Probe::Export));
        truth.view = view;
        truth.answers = answers(&tool);
        truth.versions = versions(&export);
        let last = truth.log.len() as u64;
        truth
            .versions
            .retain(|_, line| line["event"].as_u64().is_some_and(|event| event < last));
        assert!(truth.answers.iter().any(|(_, is_error)| is_error == true));
        assert!(truth.versions.values().any(|line| line["text"].is_null()));
        truth
    }

    /// Every text shown is the one that belongs there.
    fn shown(&self, trial: &Trial) -> Vec<String> {
        let mut faults = Vec::new();
        for (probe, ran) in &trial.ran {
            let all = format!("{}{}", ran.stdout, ran.stderr);
            if all.contains(ERASED) {
                faults.push(format!("erased: `{}` shows what was erased", ran.args));
            }
            if probe.is_auditors() && all.contains(CONTENT) {
                faults.push(format!("auditor: `{}` shows content", ran.args));
            }
            let other = match probe {
                Probe::View => ran.is_ok() && ran.stdout != self.view,
                Probe::Tool => self.other_answer(&ran.stdout),
                Probe::Export => self.other_version(&ran.stdout),
                _ => false,
            };
            if other {
                faults.push(format!("text: `{}` shows another text", ran.args));
            }
        }
        faults
    }

    fn other_answer(&self, stdout: &str) -> bool {
        let answers = answers(stdout);
        let shown = answers.iter().zip(&self.answers);
        shown
            .into_iter()
            .any(|(found, known)| found.1 == false && found != known)
    }

    fn other_version(&self, stdout: &str) -> bool {
        versions(stdout).into_iter().any(|(key, line)| {
            let known = self.versions.get(&key).map(|known| &known["text"]);
            line["text"].is_string() && known.is_some_and(|text| *text != line["text"])
        })
    }

    /// What differs from a store that nobody has touched, after commands that all went well.
    fn differences(&self, trial: &Trial) -> Vec<&'static str> {
        let said = |wanted| &trial.last(wanted).stdout;
        let log = events(said(Probe::Log));
        let export = versions(said(Probe::Export));
        let known = self.versions.iter();
        let full: Value = serde_json::from_str(said(Probe::Full)).unwrap_or_default();
        let checks = [
            ("answers", answers(said(Probe::Tool)) == self.answers),
            ("log", log.get(..self.log.len()) == Some(&self.log[..])),
            (
                "export",
                known
                    .into_iter()
                    .all(|(key, line)| export.get(key) == Some(line)),
            ),
            (
                "what was checked",
                full["not_checked"] == serde_json::json!([])
                    && full["notes"] == serde_json::json!([]),
            ),
        ];
        let wrong = checks.iter().filter(|(_, same)| !same);
        wrong.map(|(name, _)| *name).collect()
    }
}

/// What happened after something was done to a store.
pub(crate) struct Trial {
    before: Snapshot,
    ran: Vec<(Probe, Ran)>,
}

impl Trial {
    /// Runs everything on a store that has something wrong with it; `turn` says what comes first.
    pub(crate) fn run(home: &Home, truth: &Truth, turn: usize) -> Self {
        let before = canary::beside_the_store(home.path());
        let first = FIRST[turn % FIRST.len()];
        let probes = first.into_iter().chain(ORDER);
        let mut ran = Vec::new();
        for probe in probes {
            ran.push((probe, probe.run(home, truth)));
            if ran.last().is_some_and(|(_, ran)| ran.hung) {
                break; // the others would hang too, and it is known
            }
        }
        Self { before, ran }
    }

    /// What breaks the law.
    pub(crate) fn faults(&self, home: &Home, scene: &Scene) -> Vec<String> {
        let ends = self.ran.iter().filter_map(|(_, ran)| ran.fault());
        let mut faults: Vec<String> = ends.map(|fault| format!("end: {fault}")).collect();
        let is_whole_run = faults.is_empty();
        let after = canary::beside_the_store(home.path());
        let touched = canary::differences(&self.before, &after);
        if let Some(first) = touched.first() {
            let count = touched.len();
            faults.push(format!("outside: {first} ({count} in all)"));
        }
        faults.extend(scene.truth.shown(self));
        let opened = scene.outsiders.opened_since(&home.store(), &scene.objects);
        if let Some(first) = opened.first() {
            let count = opened.len();
            faults.push(format!("leaver: opens {first} ({count} in all)"));
        }
        if is_whole_run {
            faults.extend(self.unnoticed(&scene.truth));
        }
        faults
    }

    /// That what differs was neither refused nor found, or that `verify` finds nothing in a store
    /// which cannot be used.
    fn unnoticed(&self, truth: &Truth) -> Option<String> {
        if !self.last(Probe::Full).is_ok() {
            return None;
        }
        let export = self.last(Probe::Export);
        if !export.is_ok() {
            // What was erased is not exported either, and nothing is wrong with that.
            let expected =
                |line: &&str| line.starts_with("warning:") || line.contains("was erased");
            let why = export.stderr.lines().find(|line| !expected(line));
            return Some(format!(
                "green: `verify --full` finds nothing, and no export: {why:?}"
            ));
        }
        if self.is_refused_somewhere(truth) {
            return None;
        }
        let differs = truth.differences(self);
        (!differs.is_empty()).then(|| format!("silent: {differs:?} differ, and nobody says so"))
    }

    fn is_refused_somewhere(&self, truth: &Truth) -> bool {
        let answers = answers(&self.last(Probe::Tool).stdout);
        let mut answers = answers.iter().zip(&truth.answers);
        answers.any(|(found, known)| found.1 == true && found != known)
            || self
                .ran
                .iter()
                .any(|(probe, ran)| *probe != Probe::AuditorView && !went_well(*probe, ran))
    }

    fn last(&self, wanted: Probe) -> &Ran {
        let found = self.ran.iter().rfind(|(probe, _)| *probe == wanted);
        &found.expect("it was run").1
    }

    /// Whether no command that uses the store went well.
    pub(crate) fn is_refused(&self) -> bool {
        let mut uses = self.ran.iter().filter(|(probe, _)| probe.is_use());
        uses.all(|(_, ran)| !ran.is_ok())
    }

    /// The command that took longest.
    pub(crate) fn slowest(&self) -> (std::time::Duration, &str) {
        let times = self
            .ran
            .iter()
            .map(|(_, ran)| (ran.took, ran.args.as_str()));
        times.max().expect("something was run")
    }
}

/// Whether a command ended as on a store that nobody touched. Without a key nothing can be checked
/// that needs one.
fn went_well(probe: Probe, ran: &Ran) -> bool {
    ran.code == Some(if probe == Probe::Keyless { 3 } else { 0 })
}

/// That a store is as whole as if nobody had touched it.
pub(crate) fn whole(home: &Home, scene: &Scene) -> Option<String> {
    let trial = Trial::run(home, &scene.truth, 0);
    let ends = trial.ran.iter().find(|(probe, ran)| {
        (*probe != Probe::AuditorView) != went_well(*probe, ran) || ran.fault().is_some()
    });
    if let Some((_, ran)) = ends {
        return Some(format!("`{}`: {}{}", ran.args, ran.stdout, ran.stderr));
    }
    let differs = scene.truth.differences(&trial);
    (!differs.is_empty()).then(|| format!("{differs:?} differ"))
}

/// Calls that view every memory that is there and some that are not, and write.
fn calls(listed: &str) -> String {
    let paths = listed.lines().filter(|line| !line.is_empty());
    let gone = ["client.md", "team/salary.md", "note2.md", ""];
    let view = |name| serde_json::json!({"command": "view", "path": format!("/memories/{name}")});
    let mut calls: Vec<Value> = paths.chain(gone).map(view).collect();
    assert!(calls.len() > 12, "{listed}");
    calls.extend([
        serde_json::json!({"command": "create", "path": "/memories/written.md",
            "file_text": format!("{CONTENT} written\n")}),
        serde_json::json!({"command": "str_replace", "path": KNOWN,
            "old_str": "phase", "new_str": "turn"}),
        serde_json::json!({"command": "insert", "path": "/memories/note4.md",
            "insert_line": 0, "insert_text": "more\n"}),
    ]);
    calls.iter().map(|call| format!("{call}\n")).collect()
}

/// Whatever is JSON of what a command printed: one that fails may have printed half of it.
fn lines(stdout: &str) -> impl Iterator<Item = Value> {
    stdout
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
}

fn answers(stdout: &str) -> Vec<(Value, Value)> {
    lines(stdout)
        .map(|answer| (answer["content"].clone(), answer["is_error"].clone()))
        .collect()
}

fn events(stdout: &str) -> Vec<Value> {
    let mut events: Vec<_> = lines(stdout).collect();
    events.reverse();
    events
}

/// The versions of an export, but for those that the case itself writes.
fn versions(stdout: &str) -> BTreeMap<(String, u64), Value> {
    let versions = lines(stdout).filter_map(|line| {
        let memory = line["memory"].as_str()?.to_owned();
        let version = line["version"].as_u64()?;
        Some(((memory, version), line))
    });
    versions.collect()
}
