//! Compares the catalog file with the plain replay of the same steps.

mod damage;

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use chrono::DateTime;
use proptest::prelude::*;

use crate::crypto::aead::Key;
use crate::crypto::digest::Digest;
use crate::disk::{Folder, Name};
use crate::error::Error;
use crate::event::{Change, HoldChange, HoldOn, MemoryChange};
use crate::id::{MemoryId, ObjectId, StoreId};
use crate::memory_tool::path::MemoryPath;
use crate::state::catalog::file::CatalogFile;
use crate::state::catalog::step::{AgentEvent, HoldStep, Step, from_snapshot, to_snapshot};
use crate::state::catalog::{Catalog, ConfigBlobs, Memory, Rebuild};

const STORE: StoreId = StoreId([7; 16]);
const DECIDED: ConfigBlobs = ConfigBlobs {
    policy: ObjectId([1; 20]),
    recipients: ObjectId([2; 20]),
    signers: ObjectId([3; 20]),
};

/// Names whose order as text differs from their order as paths.
const NAMES: [&str; 6] = ["a", "a-b", "a.md", "ab", "b", "é"];

fn id_of(number: u64) -> MemoryId {
    let digest = Digest::of(&number.to_le_bytes());
    MemoryId(*digest.0.first_chunk().expect("long enough"))
}

fn head_of(history: u8, number: u64) -> ObjectId {
    let digest = Digest::of(&[&[history][..], &number.to_le_bytes()].concat());
    ObjectId(*digest.0.first_chunk().expect("long enough"))
}

fn path_of(number: u64) -> String {
    let name = |at: u64| NAMES[usize::try_from(at % 6).expect("small")];
    match number % 3 {
        0 => format!("/memories/{}{number}", name(number / 3)),
        1 => format!(
            "/memories/{}/{}{number}",
            name(number / 3),
            name(number / 18)
        ),
        _ => format!("/memories/a/{}/x{number}", name(number / 3)),
    }
}

fn hold(change: HoldChange) -> HoldStep {
    HoldStep {
        change,
        actor: Some("counsel".into()),
        reason: None,
    }
}

fn key() -> Key {
    Key::from_slice(&[9; 32]).expect("32 bytes")
}

/// The states after each event of one or more histories, to rebuild any of them from.
#[derive(Clone, Default)]
struct Told {
    states: Arc<Mutex<HashMap<ObjectId, Vec<u8>>>>,
    asked: Arc<AtomicUsize>,
}

impl Told {
    fn note(&self, catalog: &Catalog) {
        let state = to_snapshot(catalog).expect("an event").to_vec();
        let head = catalog.head.expect("an event");
        self.states.lock().expect("one thread").insert(head, state);
    }

    fn at(&self, head: ObjectId) -> Vec<u8> {
        self.states.lock().expect("one thread")[&head].clone()
    }

    fn rebuild(&self) -> Rebuild {
        let told = self.clone();
        Arc::new(move |head| {
            told.asked.fetch_add(1, Ordering::Relaxed);
            let state = told.at(head);
            from_snapshot(&state).ok_or_else(|| Error::damaged("a state", "of these tests"))
        })
    }

    fn file(&self, folder: &Path) -> CatalogFile {
        let folder = Folder::at(folder).expect("it is there");
        CatalogFile::new(&folder, Name::CATALOG, STORE).with_rebuild(self.rebuild())
    }

    /// Reads a file and compares it with the state told for that point.
    fn check(&self, folder: &Path) -> Catalog {
        let mut catalog = Catalog::empty();
        self.file(folder).load(&mut catalog, &key());
        self.check_state(&catalog);
        catalog
    }

    fn check_state(&self, catalog: &Catalog) {
        let Some(head) = catalog.head else {
            assert_eq!((catalog.len(), catalog.events), (0, 0));
            return;
        };
        let state = self.at(head);
        let plain = from_snapshot(&state).expect("its own");
        assert_eq!(catalog.len(), plain.len());
        assert_eq!(catalog.bytes(), plain.bytes());
        assert!(catalog.retains_as(&plain), "holds or marks");
        // By their last access, before any leaf is opened and once all are.
        let by_access = |catalog: &Catalog| {
            if let Some(time) = plain.memories().next().map(|memory| memory.accessed) {
                let old = |memory: &&Memory| memory.accessed <= time;
                let mut want: Vec<_> = plain.memories().filter(old).map(|m| m.id).collect();
                let mut got: Vec<_> = catalog.accessed_by(time).iter().map(|m| m.id).collect();
                want.sort_unstable();
                got.sort_unstable();
                assert!(got == want, "accessed by {time}");
            }
        };
        by_access(catalog);
        // By id and path before anything else is opened, then in order.
        for memory in plain.memories() {
            assert!(catalog.memory(memory.id) == Some(memory), "by its id");
            assert!(catalog.at(&memory.path) == Some(memory), "by its path");
        }
        for name in NAMES {
            let directory = MemoryPath::from_canonical(format!("/memories/{name}"));
            let below = |catalog: &Catalog| -> Vec<MemoryId> {
                catalog.below(&directory).map(|memory| memory.id).collect()
            };
            assert_eq!(below(catalog), below(&plain), "below {name}");
        }
        let nobody = MemoryPath::from_canonical("/memories/nobody".into());
        assert!(catalog.at(&nobody).is_none() && catalog.memory(id_of(u64::MAX)).is_none());
        assert!(to_snapshot(catalog).expect("an event").to_vec() == state);
        by_access(catalog);
    }
}

/// Makes steps that fit a state.
#[derive(Default)]
struct Author {
    /// Tells one history from another.
    history: u8,
    next: u64,
    gone: Vec<(MemoryId, u64, String)>,
    holds: Vec<u64>,
}

impl Author {
    /// Returns an event that changes no memory.
    fn plain_step(&self, number: u64, kind: u8) -> Step {
        let millis = 1_000_000 + i64::try_from(number).expect("few") * 7 - i64::from(kind % 3) * 9;
        Step {
            head: head_of(self.history, number),
            number,
            time: DateTime::from_timestamp_millis(millis).expect("a time"),
            touches: Vec::new(),
            swept: kind == 11,
            trial: false,
            erased: (kind == 12).then_some((number, number)),
            hold: None,
            parent: None,
            keys: None,
            may_change_keys: false,
            accepts_keys: false,
            recorded: (kind < 9).then(|| AgentEvent::by(u64::from(kind), kind == 3)),
            commit_bytes: 700 + number % 90,
        }
    }

    fn step(&mut self, catalog: &Catalog, kind: u8, which: usize) -> Step {
        let number = catalog.events;
        let mut step = self.plain_step(number, kind);
        let live: Vec<_> = catalog.memories().cloned().collect();
        let some = (!live.is_empty()).then(|| live[which % live.len().max(1)].clone());
        let touch = |id, change, path: &str, version| MemoryChange {
            id,
            change,
            path: Some(MemoryPath::from_canonical(path.to_owned())),
            version,
            bytes: number % 90,
            blob: Some((
                ObjectId([number.to_le_bytes()[0]; 20]),
                Digest::of(&version.to_le_bytes()),
            )),
            from: None,
            because: None,
        };
        match (kind, some) {
            (0, _) | (_, None) => step.touches.push(self.add(&touch)),
            (1, _) => step.touches.extend((0..40).map(|_| self.add(&touch))),
            (2 | 3, Some(m)) => {
                let change = [Change::Edit, Change::Reseal][usize::from(kind - 2)];
                step.touches
                    .push(touch(m.id, change, m.path.as_str(), m.version + 1));
            }
            (4, Some(m)) => {
                self.next += 1;
                let to = path_of(self.next);
                step.touches
                    .push(touch(m.id, Change::Move, &to, m.version + 1));
            }
            (5, Some(m)) => {
                let other = &live[(which / 3) % live.len()];
                let pairs = [(&m, other), (other, &m)];
                let pairs = pairs.into_iter().take(if other.id == m.id { 0 } else { 2 });
                step.touches.extend(pairs.map(|(from, to)| {
                    touch(from.id, Change::Move, to.path.as_str(), from.version + 1)
                }));
            }
            (6 | 7, Some(m)) => {
                step.touches
                    .push(touch(m.id, Change::Remove, m.path.as_str(), m.version));
                self.gone
                    .push((m.id, m.version, m.path.as_str().to_owned()));
            }
            (8, _) if !self.gone.is_empty() => {
                let (id, version, path) = self.gone.swap_remove(which % self.gone.len());
                let free = catalog
                    .at(&MemoryPath::from_canonical(path.clone()))
                    .is_none();
                if free && !catalog.marked.contains_key(&id) {
                    step.touches
                        .push(touch(id, Change::Restore, &path, version + 1));
                } else {
                    step.touches.push(touch(id, Change::Mark, &path, version));
                }
            }
            (9, _) => {
                let glob = format!("/memories/{}/**", NAMES[which % 6]);
                self.holds.push(number);
                step.hold = Some(hold(HoldChange::Add(HoldOn::Glob(glob))));
            }
            (10, _) if !self.holds.is_empty() => {
                let begun = self.holds.swap_remove(which % self.holds.len());
                step.hold = Some(hold(HoldChange::Lift(begun)));
            }
            (_, Some(m)) => {
                step.touches
                    .push(touch(m.id, Change::Read, m.path.as_str(), m.version));
            }
        }
        step
    }

    fn add(
        &mut self,
        touch: &impl Fn(MemoryId, Change, &str, u64) -> MemoryChange,
    ) -> MemoryChange {
        self.next += 1;
        touch(id_of(self.next), Change::Add, &path_of(self.next), 1)
    }
}

/// A process that has the store open.
struct Process {
    catalog: Catalog,
    file: CatalogFile,
}

impl Process {
    fn new(told: &Told, folder: &Path) -> Self {
        Self {
            catalog: Catalog::empty(),
            file: told.file(folder),
        }
    }

    /// Carries out a step like a command: reads what other processes did, then adds its own step.
    fn carry_out(&mut self, step: &Step, steps: &[Step], writes_root: bool) {
        self.file.load(&mut self.catalog, &key());
        self.catalog.decided = Some(DECIDED);
        // History supplies what the file lacks.
        for missing in &steps[usize::try_from(self.catalog.events).expect("few")..] {
            self.catalog.apply(missing).expect("it fits");
            self.file.append(&self.catalog, &key());
        }
        self.catalog.apply(step).expect("it fits");
        self.file.append(&self.catalog, &key());
        if writes_root || self.file.wants_root(&self.catalog) {
            self.file.write_root(&mut self.catalog, &key());
        }
    }
}

/// Has processes carry out steps in turn, and checks each of them and the file against the plain
/// fold.
fn play(script: &[(u8, u8, u8, u16)]) -> usize {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (told, mut author) = (Told::default(), Author::default());
    let mut plain = Catalog::empty();
    plain.decided = Some(DECIDED);
    let mut processes: Vec<_> = (0..3).map(|_| Process::new(&told, folder.path())).collect();
    let mut steps = Vec::new();
    let (mut is_damaged, mut was_damaged) = (false, false);
    for (kind, who, event, which) in script {
        let step = author.step(&plain, *kind, usize::from(*which));
        plain.apply(&step).expect("it fits");
        told.note(&plain);
        let path = folder.path().join("catalog");
        match event {
            0 => processes[usize::from(*who)] = Process::new(&told, folder.path()),
            1 => {
                drop(fs::remove_file(&path));
                is_damaged = false;
            }
            2 | 3 => {
                (is_damaged, was_damaged) = (true, true);
                // Lose a part of it: the tail, or a piece in the middle.
                if let Ok(mut bytes) = fs::read(&path) {
                    let at = usize::from(*which) * 31 % bytes.len();
                    match event {
                        2 => bytes.truncate(at),
                        _ => bytes[at] ^= 0x40,
                    }
                    fs::write(&path, bytes).expect("written");
                }
            }
            _ => {}
        }
        let process = &mut processes[usize::from(*who)];
        process.carry_out(&step, &steps, *event % 4 == 0);
        steps.push(step);
        assert!(process.catalog.head == plain.head);
        told.check_state(&process.catalog);
        let read = told.check(folder.path());
        assert!(is_damaged || read.head == plain.head, "the file has it all");
        let asked = told.asked.load(Ordering::Relaxed);
        assert!(
            was_damaged || asked == 0,
            "nobody writes over what others need"
        );
    }
    told.asked.load(Ordering::Relaxed)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn any_steps_through_the_file_are_what_their_fold_is(
        script in prop::collection::vec((0..14_u8, 0..3_u8, 0..40_u8, any::<u16>()), 1..60),
    ) {
        play(&script);
    }
}
