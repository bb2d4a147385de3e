//! Every file of a store, and everything that is done to it: all of it, or a sample that is drawn
//! anew by its seed.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::attack::case::{Case, Deed, Outcome};
use crate::attack::change;
use crate::attack::keyring;
use crate::attack::law;
use crate::attack::plant;
use crate::attack::scene::Scene;
use crate::support::{Home, tests_wanted};

/// How many cases are sampled: half a minute on one core.
const SAMPLE: usize = 40;
const SEED: u64 = 20;
/// No honest command takes longer on a machine that does nothing else.
const SLOW: Duration = Duration::from_secs(2);

/// Files that say together where history ends, or what keys there are.
const TOGETHER: [(&str, &[&str]); 3] = [
    (
        "history",
        &[
            "refs/heads/main",
            "journal",
            "catalog",
            "timeline",
            "main.before",
        ],
    ),
    (
        "history and its keys",
        &["refs/heads/main", "journal", "keyring"],
    ),
    (
        "the branch and no journal",
        &["refs/heads/main", "catalog", "timeline"],
    ),
];

/// A generator of numbers that is the same on every machine (splitmix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % end as u64).expect("below a usize")
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }
}

#[test]
fn whatever_is_done_to_a_file_is_refused_found_or_harmless() {
    let scene = Scene::shared();
    let mut all = change::cases(&scene);
    all.extend(keyring::cases(&scene));
    all.extend(cases_together(&scene));
    let count = all.len();
    let (cases, how) = chosen(all);
    eprintln!("attack: {} of {count} cases, {how}", cases.len());
    let began = Instant::now();
    let outcomes = run_all(&scene, &cases);
    eprintln!(
        "attack: {} were run, in {:?}",
        outcomes.len(),
        began.elapsed()
    );
    report_slow(&outcomes);
    let broken = table(&outcomes);
    assert!(broken.is_empty(), "{broken}");
}

/// A store that nobody touched has nothing wrong with it, or no case means anything.
#[test]
fn a_store_that_nobody_touched_is_whole() {
    let scene = Scene::shared();
    let untouched = Case {
        what: "nothing".into(),
        deed: "nothing".into(),
        place: String::new(),
        touched: Vec::new(),
        act: Box::new(|_| true),
    };
    for turn in 0..4 {
        let outcome = untouched.run(&scene, turn).expect("it can be done");
        assert_eq!(outcome.faults, Vec::<String>::new());
    }
    assert_eq!(law::whole(&scene.copy(), &scene), None);
}

/// The store's files as they were at another moment, several at once or all of them.
fn cases_together(scene: &Scene) -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, store) in scene.moments.iter().chain(&scene.others) {
        for (group, paths) in TOGETHER {
            cases.push(case_together(group, name, store, paths));
        }
        let everything = [""];
        cases.push(case_together("everything", name, store, &everything));
    }
    cases
}

fn case_together(group: &str, name: &str, store: &std::path::Path, paths: &[&str]) -> Case {
    let (from, paths) = (store.to_owned(), paths.iter().map(|p| (*p).to_owned()));
    let touched: Vec<String> = paths.collect();
    let put = touched.clone();
    let act: Deed = Box::new(move |home: &Home| {
        for path in &put {
            let (here, there) = (home.store().join(path), from.join(path));
            plant::clear(&here);
            if fs::symlink_metadata(&there).is_ok() {
                plant::copy(&there, &here);
            }
        }
        true
    });
    Case {
        what: group.into(),
        deed: format!("older or another/{name}"),
        place: "together".into(),
        touched,
        act,
    }
}

/// The cases that `AGEKEEP_TESTS` asks for, and what to say of them.
fn chosen(all: Vec<Case>) -> (Vec<Case>, String) {
    let wanted = tests_wanted();
    if wanted == "all" {
        return (all, "all".into());
    }
    let seed = wanted.parse().ok().or(wanted.is_empty().then_some(SEED));
    let Some(seed) = seed else {
        let named = all.into_iter().filter(|case| case.name().contains(&wanted));
        return (named.collect(), format!("named {wanted:?}"));
    };
    let how = format!("drawn by the seed {seed} (AGEKEEP_TESTS=all runs all of them)");
    (sample(all, seed), how)
}

/// What somebody made with keys of his own first: only that shows what keys are known by. Then one of
/// each kind of file and of deed, as far as there is room; then any others.
fn sample(mut all: Vec<Case>, seed: u64) -> Vec<Case> {
    Dice(seed).shuffle(&mut all);
    let mut seen = BTreeSet::new();
    // Stable: what a store has comes before what it may have.
    all.sort_by_cached_key(|case| {
        let again = !seen.insert(case.kind());
        let forged = case.deed.starts_with("forged");
        (!forged, again, change::is_planted(&case.what))
    });
    all.truncate(SAMPLE);
    all
}

/// Runs cases on as many threads as there are processors.
fn run_all<'a>(scene: &Scene, cases: &'a [Case]) -> Vec<(&'a Case, Outcome)> {
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(Vec::new());
    let threads = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let turn = case.name().bytes().map(usize::from).sum();
                    if let Some(outcome) = case.run(scene, turn) {
                        outcomes
                            .lock()
                            .expect("no thread panics")
                            .push((case, outcome));
                    }
                }
            });
        }
    });
    outcomes.into_inner().expect("no thread panics")
}

/// The slowest commands: a law in seconds cannot be held to on a machine that does much else.
fn report_slow(outcomes: &[(&Case, Outcome)]) {
    let slow = outcomes
        .iter()
        .filter(|(_, outcome)| outcome.slowest.0 > SLOW);
    let mut slow: Vec<_> = slow
        .map(|(case, outcome)| (&outcome.slowest, case.name()))
        .collect();
    slow.sort();
    eprintln!("attack: {} took longer than {SLOW:?}", slow.len());
    for ((time, args), name) in slow.iter().rev().take(5) {
        eprintln!("attack: `{args}` took {time:.1?} after {name}");
    }
}

/// What broke the law, by the file and what was done to it.
fn table(outcomes: &[(&Case, Outcome)]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for (case, outcome) in outcomes {
        let name = case.name();
        lines.extend(
            outcome
                .faults
                .iter()
                .map(|fault| format!("{name} | {fault}\n")),
        );
    }
    lines.sort();
    let broken = outcomes
        .iter()
        .filter(|(_, outcome)| !outcome.faults.is_empty())
        .count();
    if broken > 0 {
        lines.insert(
            0,
            format!("{broken} of {} cases break the law:\n", outcomes.len()),
        );
    }
    lines.concat()
}
