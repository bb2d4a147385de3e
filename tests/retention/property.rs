//! Random histories with a moving clock: whatever happens, what a sweep takes and what an agent
//! finds is what the list of events and the policy say.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use agekeep::error::{Error, RetentionFault};
use agekeep::event::{Change, Context, Event, Outcome};
use agekeep::id::MemoryId;
use agekeep::memory_tool::command::Command;
use agekeep::policy::Policy;
use agekeep::store::history::Search;
use agekeep::store::log::Filter;
use agekeep::store::retention::{EraseOf, ExpiredMemory, SweepOptions, Swept};
use agekeep::store::revision::Revision;
use agekeep::store::undo::Undo;
use agekeep::store::{Clock, Identity, Keys, SigningKey, Store};
use agekeep::verify;
use chrono::{DateTime, Utc};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use tempfile::TempDir;

use crate::retention::naive::{Book, For, Naive, Rule, SHAPES, When};
use crate::retention::scene::BEGIN;

const CASES: u32 = 16;
const ACTS: usize = 40;
const NAMES: [&str; 7] = ["a", "b", "keep/a", "d/a", "d/b", "e/b", "keep"];
const DAY: i64 = 24 * 60;

/// One thing that happens.
#[derive(Debug, Clone)]
enum Act {
    /// The clock moves, by minutes; it can go back.
    Wait(i64),
    /// An agent calls the memory tool.
    Call(u8, usize, usize),
    /// Somebody who looks after the store looks at it.
    Look(u8, usize),
    /// A sweep; with `forget` nothing but history is left to go by.
    Sweep {
        beyond: bool,
        accept: bool,
        forget: bool,
    },
    Hold(u8, usize),
    Lift(usize),
    Restore(usize),
    Erase(usize),
    Policy(Draft),
}

/// A policy before the memories it names are known.
#[derive(Debug, Clone)]
struct Draft {
    book: Book,
    /// For each rule: whether it is about one memory, and which.
    of_memory: Vec<Option<usize>>,
}

fn when() -> impl Strategy<Value = When> {
    let begin: DateTime<Utc> = BEGIN.parse().expect("a time");
    prop_oneof![
        1 => Just(When::Never),
        4 => (1..8 * DAY).prop_map(When::Unaccessed),
        1 => (0..60i64).prop_map(move |days| When::At(begin + chrono::TimeDelta::days(days))),
    ]
}

fn draft() -> impl Strategy<Value = Draft> {
    let grace = || 0..4 * DAY;
    let rule = (
        0..SHAPES.len(),
        when(),
        prop::option::of(grace()),
        prop::option::of(any::<bool>()),
        prop::option::weighted(0.3, 0..8usize),
    );
    let max = prop::option::weighted(0.3, 0..4usize);
    let keep = prop::option::weighted(0.3, 0..SHAPES.len() - 1);
    let rules = prop::collection::vec(rule, 0..3);
    let window = prop::option::weighted(0.9, 1..3 * DAY);
    (window, grace(), prop::bool::weighted(0.7), keep, rules, max).prop_map(
        |(window, grace, erase, keep, rules, max)| {
            let of_memory = rules.iter().map(|rule| rule.4).collect();
            let rules = rules.into_iter();
            let rules = rules.map(|(shape, when, grace, erase, _)| Rule {
                of: For::Shape(shape),
                when,
                grace,
                erase,
            });
            let book = Book {
                window: window.map_or(When::Never, When::Unaccessed),
                grace,
                erase,
                keep: keep.into_iter().collect(),
                rules: rules.collect(),
                max,
            };
            Draft { book, of_memory }
        },
    )
}

fn act() -> impl Strategy<Value = Act> {
    let name = || 0..NAMES.len();
    let sweep = (
        prop::bool::weighted(0.7),
        prop::bool::weighted(0.8),
        any::<bool>(),
    );
    prop_oneof![
        16 => (1..4 * DAY).prop_map(Act::Wait),
        2 => (-3 * DAY..0).prop_map(Act::Wait),
        1 => (360 * DAY..380 * DAY).prop_map(Act::Wait),
        32 => (0..15u8, name(), name()).prop_map(|(kind, from, to)| Act::Call(kind, from, to)),
        4 => (0..4u8, name()).prop_map(|(kind, at)| Act::Look(kind, at)),
        14 => sweep.prop_map(|(beyond, accept, forget)| Act::Sweep { beyond, accept, forget }),
        3 => (0..4u8, 0..8usize).prop_map(|(kind, at)| Act::Hold(kind, at)),
        2 => (0..4usize).prop_map(Act::Lift),
        6 => name().prop_map(Act::Restore),
        1 => name().prop_map(Act::Erase),
        3 => draft().prop_map(Act::Policy),
    ]
}

fn path(name: usize) -> String {
    format!("/memories/{}", NAMES[name])
}

/// A store that two processes have open, and what is known of it without it.
struct World {
    root: PathBuf,
    identity: Identity,
    key: String,
    now: Arc<AtomicI64>,
    stores: Vec<Store>,
    /// Opened by somebody who only looks.
    witness: Option<Store>,
    book: Book,
    told: Vec<Event>,
    naive: Naive,
    swept: usize,
    erased: usize,
    _folder: TempDir,
}

impl World {
    fn new(draft: &Draft) -> Self {
        let folder = crate::support::folder();
        let (identity, key) = (Identity::generate(), SigningKey::generate());
        let begin: DateTime<Utc> = BEGIN.parse().expect("a time");
        let mut world = Self {
            root: folder.path().join("store"),
            identity,
            key: key.to_file().to_string(),
            now: Arc::new(AtomicI64::new(begin.timestamp())),
            stores: Vec::new(),
            witness: None,
            book: draft.book.clone(),
            told: Vec::new(),
            naive: Naive::default(),
            swept: 0,
            erased: 0,
            _folder: folder,
        };
        let policy = Policy::parse(&world.book.to_toml()).expect("a policy");
        let made = Store::init(
            &world.root,
            world.keys(),
            &policy,
            &Context::default(),
            world.clock(),
        );
        world.stores.push(made.expect("made"));
        let other = world.open();
        world.stores.push(other);
        let mut keys = world.keys();
        keys.signing_key = None;
        world.witness = Some(Store::open(&world.root, keys, world.clock()).expect("opens"));
        world.follow();
        world
    }

    fn keys(&self) -> Keys {
        Keys {
            identity: self.identity.clone(),
            signing_key: Some(SigningKey::parse(&self.key).expect("a key")),
            state: None,
            keyring: None,
        }
    }

    fn clock(&self) -> Clock {
        let now = self.now.clone();
        Box::new(move || DateTime::from_timestamp(now.load(Ordering::Relaxed), 0).expect("a time"))
    }

    fn open(&self) -> Store {
        Store::open(&self.root, self.keys(), self.clock()).expect("opens")
    }

    fn now(&self) -> DateTime<Utc> {
        DateTime::from_timestamp(self.now.load(Ordering::Relaxed), 0).expect("a time")
    }

    /// Reads what happened since, while all of it opens.
    fn follow(&mut self) -> Vec<Event> {
        let known = self.told.len() as u64;
        let mut new = Vec::new();
        let witness = self.witness.as_mut().expect("there from the first");
        for entry in witness.events(&Filter::default()).expect("history") {
            let event = entry.expect("an event").event;
            if event.number < known {
                break;
            }
            new.push(event);
        }
        new.reverse();
        for event in &new {
            self.naive.follow(event);
        }
        self.told.extend(new.iter().cloned());
        new
    }

    /// One of all the memories there ever were.
    fn some_memory(&self, at: usize) -> Option<MemoryId> {
        let all = self.naive.memories();
        (!all.is_empty()).then(|| all[at % all.len()])
    }

    fn act(&mut self, act: &Act, second: bool) {
        let at = usize::from(second);
        match act {
            Act::Wait(minutes) => {
                self.now.fetch_add(minutes * 60, Ordering::Relaxed);
            }
            Act::Call(kind, from, to) => self.call(at, *kind, *from, *to),
            Act::Look(kind, name) => self.look(at, *kind, *name),
            Act::Sweep {
                beyond,
                accept,
                forget,
            } => {
                let mut how = SweepOptions::default();
                (how.beyond_limit, how.accept_clock) = (*beyond, *accept);
                self.sweep(at, how, *forget);
            }
            Act::Hold(kind, which) => self.hold(at, *kind, *which),
            Act::Lift(which) => {
                let holds = self.naive.holds_in_force();
                if let Some(hold) = holds.get(*which) {
                    let lifted = self.stores[at].lift_hold(*hold, &Context::default());
                    lifted.expect("it was in force");
                    self.follow();
                    assert!(!self.naive.has_hold(*hold));
                }
            }
            Act::Restore(name) => self.restore(at, *name),
            Act::Erase(name) => self.erase(at, *name),
            Act::Policy(draft) => self.set_policy(at, draft),
        }
        self.follow();
        self.check_listing(1 - at);
    }

    fn call(&mut self, at: usize, kind: u8, from: usize, to: usize) {
        let (path, other) = (path(from), path(to));
        let text = || "line 0\nline 1\n".into();
        let command = match kind {
            0..=5 => Command::Create {
                path,
                file_text: text(),
            },
            6 => Command::View { path, range: None },
            7 => Command::Read {
                path: Some(NAMES[from].into()),
            },
            8 => Command::Write {
                path: NAMES[from].into(),
                content: "anew\n".into(),
            },
            9 => Command::StrReplace {
                path,
                old_str: "line 0".into(),
                new_str: "line 2".into(),
            },
            10 => Command::Insert {
                path,
                insert_line: 0,
                insert_text: "more\n".into(),
            },
            11 => Command::Delete { path },
            12 => Command::Delete {
                path: "/memories/d".into(),
            },
            13 => Command::Rename {
                old_path: path,
                new_path: other,
            },
            _ => Command::Rename {
                old_path: "/memories/d".into(),
                new_path: "/memories/e".into(),
            },
        };
        let expired = self.naive.expired(&self.book, self.now());
        let found = self.naive.paths(&self.book, self.now());
        let answer = self.stores[at].execute(&command, &Context::default());
        let answer = answer.expect("it is recorded");
        if let Command::View { path, .. } = &command {
            let is_directory = found.iter().any(|p| p.starts_with(&format!("{path}/")));
            assert_eq!(!answer.is_error(), found.contains(path) || is_directory);
        }
        // Nothing an agent does is about what has expired, but to make way for something new.
        for event in self.follow() {
            for touch in event.memories {
                let makes_way = matches!(touch.change, Change::Expire | Change::None);
                let is_expired = expired.contains(&touch.id);
                assert!(!is_expired || makes_way, "{command:?}: {:?}", touch.change);
                assert!(is_expired || touch.change != Change::Expire, "{command:?}");
            }
        }
    }

    fn look(&mut self, at: usize, kind: u8, name: usize) {
        let accessed = |world: &Self| -> Vec<_> {
            let all = world.naive.memories().into_iter();
            all.map(|id| world.naive.accessed(id)).collect()
        };
        let before = accessed(self);
        let (store, context) = (&mut self.stores[at], Context::default());
        let newest = Revision::head();
        match kind {
            0 => drop(store.view_at(&path(name), None, &newest, &context)),
            1 => drop(store.grep(&Search::new("line"), &context).expect("found")),
            2 => drop(store.show(&newest, &context).expect("shown")),
            _ => {
                let parsed = store.parse_path(&path(name)).expect("a path");
                drop(store.blame(&parsed, &newest, &context));
            }
        }
        self.follow();
        assert_eq!(accessed(self), before, "a look is no access");
    }

    fn sweep(&mut self, at: usize, how: SweepOptions, forget: bool) {
        if forget {
            for cache in ["catalog", "timeline"] {
                fs::remove_file(self.root.join(cache)).ok();
            }
            self.stores[at] = self.open();
        }
        let now = self.now();
        let expired = self.naive.expired(&self.book, now);
        let past_grace = self.naive.past_grace(&self.book, now);
        let is_wrong = self.naive.is_clock_wrong(now);
        let most = self.naive.most(&self.book);
        let is_over = expired.len() > most || past_grace.len() > most;
        let planned = self.stores[at].plan_sweep(how);
        let swept = self.stores[at].sweep(how, &Context::default(), &mut |_, _| {});
        let events = self.follow();
        match swept {
            Ok(swept) => {
                assert!(!is_wrong || how.accept_clock, "the clock was believed");
                assert!(!is_over || how.beyond_limit, "a limit was passed");
                let planned = planned.expect("a plan of what was done");
                for plan in [&planned, &swept.plan] {
                    assert_eq!(ids(&plan.expire), expired, "what expires");
                    assert_eq!(ids(&plan.erase), past_grace, "what is erased");
                }
                assert_eq!(events.len(), 1, "one event");
                assert_eq!(events[0].clock_accepted, is_wrong);
                self.check_swept(&swept, &events[0]);
                (self.swept, self.erased) =
                    (self.swept + expired.len(), self.erased + past_grace.len());
            }
            Err(Error::Retention(RetentionFault::Clock { .. })) => {
                assert!(is_wrong && !how.accept_clock, "a clock that is right");
                assert!(events.is_empty());
            }
            Err(Error::Retention(RetentionFault::SweepLimit { .. })) => {
                assert!(is_over && !how.beyond_limit, "no limit was passed");
                assert_eq!(events.len(), 1);
                assert_eq!(events[0].outcome, Outcome::Denied);
                assert!(events[0].memories.is_empty());
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// The record says what was done, and what is erased does not open.
    fn check_swept(&mut self, swept: &Swept, event: &Event) {
        let with = |change| -> BTreeSet<MemoryId> {
            let touches = event.memories.iter();
            let touches = touches.filter(|touch| touch.change == change);
            touches.map(|touch| touch.id).collect()
        };
        assert_eq!(with(Change::Expire), ids(&swept.plan.expire));
        assert_eq!(with(Change::Erase), ids(&swept.plan.erase));
        assert!(event.memories.iter().all(|touch| touch.because.is_some()));
        let listed = swept.receipt.iter().flat_map(|receipt| &receipt.memories);
        let listed: BTreeSet<MemoryId> = listed.map(|erased| erased.memory).collect();
        assert_eq!(listed, ids(&swept.plan.erase));
        for due in &swept.plan.erase {
            for store in &mut self.stores {
                let keys = store.export_keys(&due.id.to_string(), &Context::default());
                assert!(keys.is_err(), "a key of {} is left", due.path.as_str());
            }
        }
    }

    fn hold(&mut self, at: usize, kind: u8, which: usize) {
        let mut context = Context::default();
        context.reason = Some("a case".into());
        let what = match kind {
            0 => SHAPES[which % (SHAPES.len() - 1)].0.to_owned(),
            1 => "/memories/d".to_owned(),
            2 => path(which % NAMES.len()),
            _ => match self.some_memory(which) {
                Some(id) => id.to_string(),
                None => return,
            },
        };
        let held = self.stores[at].hold(&what, &context);
        self.follow();
        if let Ok(meta) = held {
            assert!(self.naive.has_hold(meta.event));
        }
    }

    fn restore(&mut self, at: usize, name: usize) {
        let now = self.now();
        let closed = self.naive.past_grace(&self.book, now);
        let store = &mut self.stores[at];
        let path = store.parse_path(&path(name)).expect("a path");
        let Ok(from) = store.last_revision_of(&path) else {
            return;
        };
        let undo = Undo::Restore { path, from };
        let done = store.undo(&undo, None, false, &Context::default());
        if let Err(error) = done {
            assert!([4, 15].contains(&error.exit_code()), "{error}");
        }
        for event in self.follow() {
            let back = event.memories.iter();
            let back = back.filter(|touch| touch.change.writes());
            assert!(back.clone().all(|touch| !closed.contains(&touch.id)));
            for touch in back {
                let expired = self.naive.expired(&self.book, now);
                assert!(!expired.contains(&touch.id), "it is gone again at once");
            }
        }
    }

    fn erase(&mut self, at: usize, name: usize) {
        let store = &mut self.stores[at];
        let path = store.parse_path(&path(name)).expect("a path");
        let what = EraseOf::Path(path);
        let mut context = Context::default();
        context.reason = Some("asked".into());
        let done = store.erase(&what, false, &context, &mut |_, _| {});
        match done {
            Ok(done) => {
                let receipt = done.receipt.expect("made by a reader");
                assert_eq!(receipt.memories.len(), done.targets.len());
                self.erased += done.targets.len();
            }
            Err(Error::NotThere { .. } | Error::Retention(RetentionFault::Held { .. })) => {}
            Err(error) => panic!("{error}"),
        }
    }

    fn set_policy(&mut self, at: usize, draft: &Draft) {
        let mut book = draft.book.clone();
        for (rule, of_memory) in book.rules.iter_mut().zip(&draft.of_memory) {
            if let Some(id) = of_memory.and_then(|at| self.some_memory(at)) {
                rule.of = For::Memory(id);
            }
        }
        let policy = Policy::parse(&book.to_toml()).expect("a policy");
        let set = self.stores[at].set_policy(&policy, &Context::default());
        set.expect("it can be followed");
        self.book = book;
    }

    /// An agent finds what the events and the policy say, and nothing else.
    fn check_listing(&mut self, at: usize) {
        let wanted = self.naive.paths(&self.book, self.now());
        let view = Command::View {
            path: "/memories".into(),
            range: None,
        };
        let answer = self.stores[at].execute(&view, &Context::default());
        let text = answer.expect("an answer").content;
        let lines = text.as_str().lines().skip(1);
        let paths = lines.filter_map(|line| line.split_once('\t'));
        let found: BTreeSet<&str> = paths
            .map(|(_, path)| path)
            .filter(|path| !path.ends_with('/') && *path != "/memories")
            .collect();
        // A listing goes two levels deep.
        let shown = wanted.iter().map(String::as_str);
        let shown = shown.filter(|path| path.matches('/').count() < 4);
        assert_eq!(found, shown.collect());
        let read = Command::Read { path: None };
        let answer = self.stores[at].execute(&read, &Context::default());
        let text = answer.expect("an answer").content;
        let paths = text.as_str().lines();
        let found: BTreeSet<String> = paths.map(|path| format!("/memories/{path}")).collect();
        assert_eq!(found, wanted);
        self.follow();
    }

    /// Nothing is wrong with what came of it.
    fn check_whole(&mut self) {
        (self.stores, self.witness) = (Vec::new(), None);
        let options = verify::Options {
            identity: Some(self.identity.clone()),
            full: true,
            ..verify::Options::default()
        };
        let report = verify::verify(&self.root, &options, &mut |_| {}).expect("verified");
        let found: Vec<_> = report.findings.iter().map(|found| &found.what).collect();
        assert!(found.is_empty(), "{found:?}");
        assert_eq!(report.erased.len(), self.erased);
        let mut store = self.open();
        for event in store.receipts().expect("history") {
            let checked = store.check_receipt(event, &mut |_, _| {});
            assert!(checked.expect("checked").holds(), "receipt {event}");
        }
    }
}

fn ids(dues: &[ExpiredMemory]) -> BTreeSet<MemoryId> {
    dues.iter().map(|due| due.id).collect()
}

#[test]
fn what_goes_and_what_stays_is_what_the_events_and_the_policy_say() {
    let config = ProptestConfig {
        cases: CASES,
        failure_persistence: None,
        max_shrink_iters: 60,
        ..ProptestConfig::default()
    };
    let (swept, erased) = (AtomicI64::new(0), AtomicI64::new(0));
    let seed = [6; 32];
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let acts = prop::collection::vec((act(), any::<bool>()), ACTS / 2..ACTS);
    TestRunner::new_with_rng(config, rng)
        .run(&(draft(), acts), |(draft, acts)| {
            let mut world = World::new(&draft);
            for name in 0..NAMES.len() {
                world.call(0, 0, name, 0);
            }
            for (act, second) in &acts {
                world.act(act, *second);
            }
            world.check_whole();
            let count = |count: usize| i64::try_from(count).expect("small");
            swept.fetch_add(count(world.swept), Ordering::Relaxed);
            erased.fetch_add(count(world.erased), Ordering::Relaxed);
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("seed {seed:?}: {failure}"));
    let (swept, erased) = (swept.into_inner(), erased.into_inner());
    assert!(swept > 60 && erased > 30, "{swept} swept, {erased} erased");
}
