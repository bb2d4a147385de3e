//! Each forged store is exactly what it says: shown with stock git, age and python3, never with
//! the program under test.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::forge::has_means;
use crate::support::{Home, feed, has_peer, stderr, stdout};
use crate::zoo::forging::Zoo;
use crate::zoo::scenario::{self, Scenario};

/// The shell functions that proofs are written with.
const PRELUDE: &str = include_str!("prelude.sh");

/// What a proof is run with besides the store: the facts of the base by name, and a folder.
struct Bench {
    facts: Vec<(String, String)>,
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Option<Self> {
        let why = "what forged stores are is shown with stock programs";
        if !(has_means(why) && has_peer("python3", why)) {
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("ring.py"), documented_program()).expect("written");
        let home = scenario::base_home(true);
        for (name, key) in [
            ("owner", "signing_key"),
            ("deputy", "deputy_key"),
            ("stranger", "stranger_key"),
        ] {
            let text = fs::read_to_string(home.signing_key().with_file_name(key)).expect("a key");
            let key = agekeep::store::SigningKey::parse(&text).expect("a key");
            let public = folder.path().join(format!("{name}.pub"));
            fs::write(public, key.public_line()).expect("written");
        }
        let facts = Zoo::at(&home).facts();
        Some(Self { facts, folder })
    }

    /// Runs a proof on the store of a home.
    fn run(&self, home: &Home, proof: &str) -> Output {
        let scratch = tempfile::tempdir().expect("a folder");
        fs::copy(
            self.folder.path().join("ring.py"),
            scratch.path().join("ring.py"),
        )
        .expect("copied");
        let mut shell = Command::new("sh");
        shell
            .args(["-eu", "-c", &format!("{PRELUDE}\n{proof}")])
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("S", home.store())
            .env("ID", home.identity())
            .env("KEYS", self.folder.path())
            .env("T", scratch.path())
            .envs(self.facts.iter().cloned())
            .current_dir(scratch.path());
        feed(shell, b"")
    }
}

/// The program for recovering keys that docs/format.md prints.
fn documented_program() -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/format.md");
    let page = fs::read_to_string(page).expect("the page");
    let blocks = page.split("```python\n").skip(1);
    let mut blocks = blocks.filter_map(|block| block.split("```").next());
    blocks
        .find(|block| block.contains("xchacha20"))
        .expect("ring.py")
        .into()
}

#[test]
fn every_scenario_is_what_it_says_and_the_base_is_not() {
    let Some(bench) = Bench::new() else { return };
    let base = scenario::base_home(true);
    let faults = scenario::each(|scenario| {
        let mut faults = Vec::new();
        let shown = bench.run(&scenario.home(), &scenario.proof);
        if !shown.status.success() {
            let said = stdout(&shown) + &stderr(&shown);
            faults.push(format!("not shown: {said}"));
        }
        if bench.run(&base, &scenario.proof).status.success() {
            faults.push("the base is that too".into());
        }
        faults
    });
    assert!(faults.is_empty(), "{faults}");
}

#[test]
fn the_base_is_whole_for_stock_git() {
    let Some(bench) = Bench::new() else { return };
    let home = scenario::base_home(true);
    let proof = "g fsck --strict --no-dangling\n\
        test \"$(g rev-list --count main)\" = 31\n\
        for event in $(seq 0 30); do eval \"commit=\\$E$event\"\n\
            says $commit \"r['event'] == $event\"\n\
            case $event in 14 | 15) signed_by deputy $commit ;; *) signed_by owner $commit ;; esac\n\
        done\n\
        opens $PLAN $PLAN_BLOB; opens $HANDOVER $HANDOVER_BLOB; opens $PLAN $PLAN_FIRST";
    let shown = bench.run(&home, proof);
    let said = stdout(&shown) + &stderr(&shown);
    assert!(shown.status.success(), "{said}");
}

/// A scenario that is the base, or another one, would show nothing.
#[test]
fn no_two_scenarios_are_the_same_store() {
    let mut seen = vec![(
        "base".to_owned(),
        scenario::files(&scenario::base_home(true).store()),
    )];
    for scenario in Scenario::all() {
        let files = scenario::files(&scenario.home().store());
        let same = seen.iter().find(|(_, known)| *known == files);
        assert!(
            same.is_none(),
            "{} is {:?}",
            scenario.name,
            same.map(|(name, _)| name)
        );
        seen.push((scenario.name, files));
    }
}

#[test]
fn fixtures_stay_small() {
    for scenario in Scenario::all() {
        if scenario.overlay().is_dir() {
            let files = scenario::files(&scenario.overlay());
            let bytes: usize = files.values().map(Vec::len).sum();
            assert!(bytes < 24 * 1024, "{}: {bytes} bytes", scenario.name);
        }
    }
}
