//! Laws of undoing, on random histories of two sessions in a real store.

use std::collections::BTreeMap;
use std::fs;

use agekeep::event::Context;
use agekeep::memory_tool::command::Command;
use agekeep::policy::Policy;
use agekeep::store::history::RecordStatus;
use agekeep::store::revision::Revision;
use agekeep::store::undo::{Selection, Undo};
use agekeep::store::{Identity, Keys, SigningKey, Store};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::history::story::{State, at, state_at};

const NAMES: [&str; 6] = ["a", "b", "d", "d/a", "d/b", "e/a"];

/// One call of a session: `true` is A.
#[derive(Debug, Clone)]
struct Call {
    is_a: bool,
    kind: usize,
    from: usize,
    to: usize,
    mark: u8,
}

fn calls(count: usize) -> impl Strategy<Value = Vec<Call>> {
    let call = (any::<bool>(), 0..8_usize, 0..6_usize, 0..6_usize, 0..4_u8);
    let call = call.prop_map(|(is_a, kind, from, to, mark)| Call {
        is_a,
        kind,
        from,
        to,
        mark,
    });
    prop::collection::vec(call, 1..count)
}

impl Call {
    fn command(&self, folder: &str) -> Command {
        let path = |n: usize| at(&format!("{folder}{}", NAMES[n]));
        let (path, other) = (path(self.from), path(self.to));
        let line = format!("line {}", self.mark);
        match self.kind {
            0..=2 => Command::Create {
                path,
                file_text: "top\nline 0\nmiddle\nline 1\nend\n".into(),
            },
            3 | 4 => Command::StrReplace {
                path,
                old_str: line.as_str().into(),
                new_str: format!("line {}", self.mark + 1).as_str().into(),
            },
            5 => Command::Insert {
                path,
                insert_line: 1,
                insert_text: line.as_str().into(),
            },
            6 => Command::Delete { path },
            _ => Command::Rename {
                old_path: path,
                new_path: other,
            },
        }
    }
}

/// A store of its own, and every state it was in by the number of the event.
struct World {
    folder: TempDir,
    store: Store,
    states: BTreeMap<u64, State>,
}

impl World {
    fn new() -> Self {
        let folder = crate::support::folder();
        let keys = Keys {
            identity: Identity::generate(),
            signing_key: Some(SigningKey::generate()),
            state: None,
            keyring: None,
        };
        let root = folder.path().join("store");
        let store = Store::init(
            &root,
            keys,
            &Policy::default(),
            &Context::default(),
            Box::new(chrono::Utc::now),
        );
        Self {
            folder,
            store: store.expect("a store"),
            states: BTreeMap::new(),
        }
    }

    /// Carries out a call, refused or not, and keeps the state after it.
    fn call(&mut self, call: &Call, folder: &str) {
        let mut context = Context::default();
        context.session = Some(if call.is_a { "A" } else { "B" }.into());
        let answer = self.store.execute(&call.command(folder), &context);
        let event = answer.expect("an answer").meta.event;
        let state = state_at(&mut self.store, event);
        self.states.insert(event, state);
    }

    /// The state now.
    fn state(&mut self) -> State {
        let newest = self.newest();
        state_at(&mut self.store, newest)
    }

    fn newest(&mut self) -> u64 {
        crate::history::story::newest(&mut self.store)
    }

    fn undo(&mut self, undo: &Undo) -> agekeep::error::Result<Option<u64>> {
        let done = self.store.undo(undo, None, false, &Context::default());
        Ok(done?.1.map(|meta| meta.event))
    }
}

fn revert_session(name: &str) -> Undo {
    let mut selection = Selection::default();
    selection.session = Some(name.into());
    Undo::Revert(selection)
}

fn revert_event(event: u64) -> Undo {
    let mut selection = Selection::default();
    selection.range = Some((Revision::event(event), Revision::event(event)));
    Undo::Revert(selection)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sessions_apart_are_undone_exactly(calls in calls(12)) {
        let mut world = World::new();
        for call in &calls {
            world.call(call, if call.is_a { "ours/" } else { "theirs/" });
        }
        let before = world.state();
        let theirs: State = before.clone().into_iter().filter(|(path, _)| path.starts_with("/memories/theirs/")).collect();
        let done = world.undo(&revert_session("A"));
        if let Ok(Some(event)) = done {
            prop_assert_eq!(world.state(), theirs);
            world.undo(&revert_event(event)).expect("an undo of the undo");
            prop_assert_eq!(world.state(), before);
        } else {
            // Nothing of A's is left, or it never changed anything.
            prop_assert_eq!(before, theirs);
            if let Err(error) = done {
                prop_assert_eq!(error.exit_code(), 4);
            }
        }
    }

    #[test]
    fn sessions_on_the_same_paths_lose_nothing(calls in calls(12)) {
        let mut world = World::new();
        for call in &calls {
            world.call(call, "");
        }
        let before = world.state();
        let newest = world.newest();
        match world.undo(&revert_session("A")) {
            Ok(Some(event)) => {
                world.undo(&revert_event(event)).expect("an undo of the undo");
                prop_assert_eq!(&world.state(), &before);
            }
            Ok(None) => prop_assert_eq!(&world.state(), &before),
            Err(error) => {
                prop_assert!([4, 15].contains(&error.exit_code()), "{}", error);
                prop_assert_eq!(&world.state(), &before);
                let done = world.store.undo(&revert_session("A"), None, true, &Context::default());
                prop_assert!(done.is_ok() || error.exit_code() == 4);
            }
        }
        // Every moment is what it was then, and what a rollback to it gives.
        let states = world.states.clone();
        for (event, then) in states {
            prop_assert_eq!(&state_at(&mut world.store, event), &then);
            if event % 3 == 0 {
                world.undo(&Undo::Rollback { to: Revision::event(event) }).expect("a rollback");
                prop_assert_eq!(&world.state(), &then);
            }
        }
        world.undo(&Undo::Rollback { to: Revision::event(newest) }).expect("forward again");
        prop_assert_eq!(&world.state(), &before);
    }

    #[test]
    fn a_timeline_file_cut_or_changed_at_any_byte_changes_no_answer(calls in calls(8), at in any::<prop::sample::Index>(), kind in 0..4_u8, byte in 1..=255_u8) {
        let mut world = World::new();
        for call in &calls {
            world.call(call, "");
        }
        let file = world.folder.path().join("store/timeline");
        let mut bytes = fs::read(&file).expect("a timeline file");
        let at = at.index(bytes.len());
        match kind {
            0 => bytes.truncate(at),
            1 => bytes[at] ^= byte,
            2 => bytes.extend_from_slice(&[byte; 40]),
            _ => drop(bytes.drain(at..)),
        }
        if kind == 3 {
            fs::remove_file(&file).expect("there");
        } else {
            fs::write(&file, &bytes).expect("writes");
        }
        for (event, then) in world.states.clone() {
            prop_assert_eq!(&state_at(&mut world.store, event), &then);
        }
        for call in &calls {
            world.call(call, "again/");
        }
        let looked = world.store.view_at("/memories", None, &Revision::head(), &Context::default());
        prop_assert!(matches!(looked.expect("a listing").recorded, RecordStatus::Event(_)));
        // What was written beside the damage is found by somebody who reads the file anew.
        for (event, then) in world.states.clone() {
            prop_assert_eq!(&state_at(&mut world.store, event), &then);
        }
    }
}
