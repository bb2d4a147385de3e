//! Fuzzed invariants of the catalog file.
#![allow(clippy::missing_panics_doc)] // a law that is broken panics: that is what finds it

use std::fs;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use crate::crypto::aead::Key;
use crate::disk::{Folder, Name};
use crate::error::Error;
use crate::id::{MemoryId, StoreId};
use crate::memory_tool::path::MemoryPath;
use crate::state::catalog::file::{CatalogFile, HEADER_BYTES, MAGIC, ROOTS_AT};
use crate::state::catalog::step::to_snapshot;
use crate::state::catalog::tree::Names;
use crate::state::catalog::{Catalog, Memory};

const STORE: StoreId = StoreId([0x57; 16]);
const NAMES: Names = Names {
    store: STORE,
    file: [0xf1; 16],
    line: [0x11; 16],
};

/// Takes `bytes` as the blocks of a catalog file in `folder`, sealed by somebody who has the key,
/// followed by arbitrary bytes. Every question is answered from the file or from history, and a
/// consistent state survives being rewritten.
pub fn catalog(folder: &Path, bytes: &[u8]) {
    let path = &folder.join("catalog");
    fs::write(path, made_of(bytes)).expect("a place to write to");
    let mut state = read(folder);
    ask(&state);
    // A state has both a last event and its commit, or neither.
    if state.check().is_err() || state.head.is_none() || state.events == 0 {
        return;
    }
    let before = to_snapshot(&state).filter(|_| agrees(&state));
    if state.check().is_err() {
        return;
    }
    let mut file = file(folder);
    // Without the file this was read from, all of it is written.
    fs::remove_file(path).expect("just written");
    file.write_root(&mut state, &key());
    if path.exists() {
        let mut again = read(folder);
        assert!((again.events, again.head) == (state.events, state.head));
        ask(&again);
        assert!(again.check().is_ok(), "its own output does not open");
        let after = to_snapshot(&again);
        assert!(
            before.is_none_or(|before| after == Some(before)),
            "another state"
        );
    }
}

fn key() -> Key {
    Key::from_slice(&[9; 32]).expect("32 bytes")
}

fn file(folder: &Path) -> CatalogFile {
    let rebuild = |_| Err(Error::damaged("history", "there is none"));
    let folder = Folder::at(folder).expect("it is there");
    CatalogFile::new(&folder, Name::CATALOG, STORE).with_rebuild(Arc::new(rebuild))
}

fn read(folder: &Path) -> Catalog {
    let mut state = Catalog::empty();
    file(folder).load(&mut state, &key());
    state
}

/// Tells whether everything is found where the state says, once and in order: in the current state,
/// at the last root, and since.
fn agrees(state: &Catalog) -> bool {
    let all: Vec<_> = state.memories().collect();
    let is_in_order =
        |all: &[&Memory]| all.is_sorted_by(|a, b| super::key(&a.path) < super::key(&b.path));
    let agreed = state.rows.base().is_none_or(|base| {
        let all: Vec<_> = base.range(Bound::Unbounded, Bound::Unbounded).collect();
        is_in_order(&all) && all.iter().all(|m| base.get(m.id) == Some(*m))
    });
    let mut changed = state.rows.changed().filter_map(|(_, now)| now);
    agreed
        && changed.all(|memory| state.at(&memory.path) == Some(memory))
        && is_in_order(&all)
        && all.len() == state.len()
        && all.iter().map(|memory| memory.bytes).sum::<u64>() == state.bytes()
        && { all.iter() }.all(|m| state.memory(m.id) == Some(*m) && state.at(&m.path) == Some(*m))
}

/// Asks everything a command may ask.
fn ask(state: &Catalog) {
    let root = MemoryPath::root();
    let path = MemoryPath::parse("/memories/t1/a.md", 1_024).expect("a path");
    assert!(state.at(&path).is_none_or(|memory| memory.path == path));
    let id = MemoryId([1; 16]);
    assert!(state.memory(id).is_none_or(|memory| memory.id == id));
    let below = state.below(&root).count();
    assert!(below <= state.memories().count());
    let _ = (state.is_directory(&path), state.nameless(), state.bytes());
    let _ = (state.len(), state.is_whole(), state.is_torn());
}

/// Makes a file of the blocks in `bytes`. Each has one byte for its kind and two for its length;
/// leaves are named by their number. The header names the last two roots. Leftover bytes go at the
/// end.
fn made_of(mut bytes: &[u8]) -> Vec<u8> {
    let mut file = [&MAGIC[..], &STORE.0, &NAMES.file, &NAMES.line].concat();
    file.resize(HEADER_BYTES, 0);
    let (mut roots, mut steps, mut leaves) = ([0_u64; 2], 0, 0_u64);
    while let [kind, low, high, rest @ ..] = bytes {
        let length = usize::from(u16::from_le_bytes([*low, *high]));
        let Some((plain, rest)) = rest.split_at_checked(length) else {
            break;
        };
        let begin = file.len() as u64;
        let (name, context) = match kind % 3 {
            0 => {
                let id = leaves.to_le_bytes();
                leaves += 1;
                (id.to_vec(), NAMES.of_leaf(id))
            }
            1 => {
                (roots, steps) = ([begin, roots[0]], 0);
                (Vec::new(), NAMES.of_root(begin))
            }
            _ => {
                steps += 1;
                (Vec::new(), NAMES.of_step(roots[0], steps - 1))
            }
        };
        let sealed = key().seal(&context, plain);
        let length = u32::try_from(name.len() + sealed.len()).expect("two bytes and a little");
        file.extend_from_slice(&length.to_le_bytes());
        file.extend_from_slice(&name);
        file.extend_from_slice(&sealed);
        bytes = rest;
    }
    file.extend_from_slice(bytes);
    let at = usize::try_from(ROOTS_AT).expect("small");
    file[at..at + 8].copy_from_slice(&roots[0].to_le_bytes());
    file[at + 8..at + 16].copy_from_slice(&roots[1].to_le_bytes());
    file
}
