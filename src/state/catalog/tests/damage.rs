//! Tests catalog files that are damaged, foreign or too large.

use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;

use crate::crypto::aead::Key;
use crate::disk::{Folder, Name};
use crate::id::StoreId;
use crate::state::catalog::Catalog;
use crate::state::catalog::file::{CatalogFile, HEADER_BYTES};
use crate::state::catalog::tests::{Author, DECIDED, Process, Told, head_of, key};

/// Writes a file of several leaves, two roots and some steps.
fn file_with_all(folder: &Path) -> Told {
    let (told, mut author) = (Told::default(), Author::default());
    let mut process = Process::new(&told, folder);
    let kinds = [0, 1, 1, 4, 9, 2, 6, 1, 5, 3, 13];
    for (index, kind) in kinds.into_iter().enumerate() {
        process.catalog.decided = Some(DECIDED);
        let step = author.step(&process.catalog, kind, index * 17);
        process.catalog.apply(&step).expect("it fits");
        told.note(&process.catalog);
        process.file.append(&process.catalog, &key());
        if [2, 7].contains(&index) {
            process.file.write_root(&mut process.catalog, &key());
        }
    }
    told
}

#[test]
fn no_damaged_byte_changes_an_answer() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let told = file_with_all(folder.path());
    let path = folder.path().join("catalog");
    let whole = fs::read(&path).expect("there");
    let newest = told.check(folder.path()).events;
    assert_eq!(newest, 11, "all of it is read");
    assert_eq!(told.asked.load(Ordering::Relaxed), 0, "and nothing else");
    let (mut older, mut nothing) = (0, 0);
    // Every byte of the header, of the last root and of its steps, and some of each leaf.
    let root = u64::from_le_bytes(whole[64..72].try_into().expect("eight bytes"));
    let root = usize::try_from(root).expect("small");
    let leaves = (HEADER_BYTES..root).step_by(61);
    for at in (0..HEADER_BYTES).chain(leaves).chain(root..whole.len()) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(&path, &bytes).expect("written");
        let events = told.check(folder.path()).events;
        older += usize::from(events < newest);
        nothing += usize::from(events == 0);
    }
    assert!(older > nothing && nothing > 0, "{older} {nothing}");
    assert!(told.asked.load(Ordering::Relaxed) > 100, "leaves, too");
    for length in (0..whole.len()).step_by(101) {
        fs::write(&path, &whole[..length]).expect("written");
        told.check(folder.path());
    }
}

#[test]
fn the_root_before_and_its_steps_are_read_if_the_last_is_not_whole() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let told = file_with_all(folder.path());
    let path = folder.path().join("catalog");
    let mut bytes = fs::read(&path).expect("there");
    let root = u64::from_le_bytes(bytes[64..72].try_into().expect("eight bytes"));
    bytes.truncate(usize::try_from(root).expect("small") + 50);
    fs::write(&path, &bytes).expect("written");
    let mut before = told.check(folder.path());
    assert_eq!(before.events, 8, "as many as there were for the last root");
    assert_eq!(told.asked.load(Ordering::Relaxed), 0, "and all of it opens");
    told.file(folder.path()).write_root(&mut before, &key());
    assert_eq!(told.check(folder.path()).events, 8);
}

#[test]
fn a_file_that_misses_an_event_has_nothing_added() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let told = file_with_all(folder.path());
    let (mut catalog, mut file) = (Catalog::empty(), told.file(folder.path()));
    file.load(&mut catalog, &key());
    let before = fs::read(folder.path().join("catalog")).expect("there");
    let mut author = Author {
        next: 1_000,
        ..Author::default()
    };
    for is_missed in [true, false] {
        assert!(is_missed != file.wants_root(&catalog));
        let step = author.step(&catalog, 0, 0);
        catalog.apply(&step).expect("it fits");
        told.note(&catalog);
        if !is_missed {
            file.append(&catalog, &key());
        }
    }
    assert!(file.wants_root(&catalog), "it was not noticed");
    assert!(fs::read(folder.path().join("catalog")).expect("there") == before);
    file.write_root(&mut catalog, &key());
    assert_eq!(told.check(folder.path()).events, 13);
}

#[test]
fn what_neither_the_file_nor_history_tells_is_an_error() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let told = file_with_all(folder.path());
    let path = folder.path().join("catalog");
    let mut bytes = fs::read(&path).expect("there");
    // All leaves in use.
    let mut catalog = told.check(folder.path());
    let base = catalog.rows.base().expect("a root");
    for leaf in base.by_path.leaves() {
        bytes[usize::try_from(leaf.place.offset).expect("small") + 30] ^= 1;
    }
    fs::write(&path, &bytes).expect("written");
    told.states
        .lock()
        .expect("one thread")
        .values_mut()
        .for_each(Vec::clear);
    catalog = Catalog::empty();
    told.file(folder.path()).load(&mut catalog, &key());
    assert!(catalog.check().is_ok(), "nothing was asked yet");
    // Only the steps are left.
    assert!(catalog.memories().count() < 100);
    assert!(catalog.check().is_err());
    assert_eq!(
        (catalog.head, catalog.len()),
        (None, 0),
        "nothing of it is kept"
    );
}

#[test]
fn a_leaf_that_cannot_be_copied_to_a_new_file_comes_from_history() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let told = file_with_all(folder.path());
    let path = folder.path().join("catalog");
    for is_known in [true, false] {
        let mut process = Process::new(&told, folder.path());
        process.file.load(&mut process.catalog, &key());
        let before = process.catalog.head;
        // Only the header of the open file is left, and the file is out of place.
        let whole = fs::read(&path).expect("there");
        fs::write(&path, &whole[..HEADER_BYTES]).expect("written");
        fs::rename(&path, folder.path().join("moved")).expect("there");
        if !is_known {
            let mut states = told.states.lock().expect("one thread");
            states.values_mut().for_each(Vec::clear);
        }
        process.file.load(&mut process.catalog, &key());
        assert!(process.file.wants_root(&process.catalog));
        process.file.write_root(&mut process.catalog, &key());
        if is_known {
            assert!(told.check(folder.path()).head == before);
            assert!(process.catalog.is_whole());
        } else {
            assert!(!path.exists(), "a file of what nobody knows");
        }
    }
}

#[test]
fn the_file_is_of_one_store_and_one_key() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let told = file_with_all(folder.path());
    let other = Key::from_slice(&[8; 32]).expect("32 bytes");
    let mut catalog = Catalog::empty();
    told.file(folder.path()).load(&mut catalog, &other);
    assert_eq!(catalog.events, 0, "another key");
    let opened = Folder::at(folder.path()).expect("it is there");
    CatalogFile::new(&opened, Name::CATALOG, StoreId([8; 16])).load(&mut catalog, &key());
    assert_eq!(catalog.events, 0, "another store");
    told.file(folder.path()).load(&mut catalog, &key());
    assert_eq!(catalog.events, 11);
}

#[test]
fn under_another_key_nothing_stays_that_the_old_one_opens() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let told = file_with_all(folder.path());
    let (mut catalog, mut file) = (Catalog::empty(), told.file(folder.path()));
    file.load(&mut catalog, &key());
    let other = Key::from_slice(&[8; 32]).expect("32 bytes");
    let step = Author {
        next: 1_000,
        ..Author::default()
    }
    .step(&catalog, 0, 0);
    catalog.apply(&step).expect("it fits");
    told.note(&catalog);
    file.append(&catalog, &other);
    assert!(file.wants_root(&catalog));
    file.write_root(&mut catalog, &other);
    told.check_state(&catalog);
    let mut again = Catalog::empty();
    told.file(folder.path()).load(&mut again, &key());
    assert_eq!(again.events, 0, "the old key opens no root");
    told.file(folder.path()).load(&mut again, &other);
    told.check_state(&again);
    let base = again.rows.base().expect("a root");
    assert!(again.is_whole() && base.by_path.leaves().len() > 1);
    let bytes = fs::read(folder.path().join("catalog")).expect("there");
    for leaf in base.by_path.leaves() {
        let from = usize::try_from(leaf.place.offset).expect("small");
        let sealed = &bytes[from + 12..from + leaf.place.length as usize];
        let context = base.names.of_leaf(leaf.place.id);
        assert!(key().open(&context, sealed).is_none() && other.open(&context, sealed).is_some());
    }
}

/// The file is that of a copy of the store whose history has diverged.
#[test]
fn two_histories_are_not_mixed_in_one_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let told = file_with_all(folder.path());
    let path = folder.path().join("catalog");
    let both = fs::read(&path).expect("there");
    let go_on = |history, kinds: &[u8]| {
        let mut process = Process::new(&told, folder.path());
        process.file.load(&mut process.catalog, &key());
        let mut author = Author {
            history,
            next: 1_000 * u64::from(history),
            ..Author::default()
        };
        for kind in kinds {
            let step = author.step(&process.catalog, *kind, 7);
            process.catalog.apply(&step).expect("it fits");
            told.note(&process.catalog);
            process.file.append(&process.catalog, &key());
        }
        (process, author)
    };
    // Steps of the same length, so that the next one fits after those of the other.
    go_on(1, &[13, 13]);
    let other = fs::read(&path).expect("there");
    for is_new_file in [false, true] {
        fs::write(&path, &both).expect("written");
        let (mut process, mut author) = go_on(2, &[13, 13]);
        let head = process.catalog.head;
        if is_new_file {
            fs::rename(&path, folder.path().join("moved")).expect("there");
        }
        fs::write(&path, &other).expect("written");
        process.file.load(&mut process.catalog, &key());
        assert!(process.catalog.head == head, "as many events, and others");
        told.check_state(&process.catalog);
        let step = author.step(&process.catalog, 0, 0);
        process.catalog.apply(&step).expect("it fits");
        told.note(&process.catalog);
        process.file.append(&process.catalog, &key());
        assert_eq!(told.check(folder.path()).head, Some(head_of(1, 12)));
        process.file.write_root(&mut process.catalog, &key());
        assert_eq!(told.check(folder.path()).head, process.catalog.head);
    }
}

#[test]
fn what_changes_is_written_and_little_else() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (told, mut author) = (Told::default(), Author::default());
    let mut process = Process::new(&told, folder.path());
    process.catalog.decided = Some(DECIDED);
    let mut keep = |process: &mut Process, kind, root: bool| {
        let step = author.step(&process.catalog, kind, 3);
        process.catalog.apply(&step).expect("it fits");
        process.file.append(&process.catalog, &key());
        if root {
            process.file.write_root(&mut process.catalog, &key());
        }
        fs::metadata(folder.path().join("catalog")).map_or(0, |meta| meta.len())
    };
    for index in 0..50 {
        keep(&mut process, 1, index == 49);
    }
    assert!(process.catalog.len() > 1_900);
    let all = keep(&mut process, 13, false);
    let one = keep(&mut process, 13, true) - all;
    assert!(
        one < all / 10,
        "a root after one change: {one} bytes of {all}"
    );
    // Bytes that no root needs do not pile up.
    let most = (0..300).map(|_| keep(&mut process, 2, true)).max();
    assert!(
        most.expect("some") < 3 * all + (1 << 20) + 2 * one,
        "{most:?}"
    );
    assert!(process.catalog.is_whole());
}

/// Writes roots until the file is replaced, and returns whether a thread made the new one. If
/// `removes`, somebody removes that before it is put in place.
fn write_until_replaced(process: &mut Process, folder: &Path, removes: bool) -> bool {
    let folder = Folder::at(folder).expect("it is there");
    let before = folder.inode(&Name::CATALOG);
    let mut is_copied = false;
    for _ in 0..10_000 {
        process.file.write_root(&mut process.catalog, &key());
        if folder.inode(&Name::CATALOG) != before {
            return is_copied;
        }
        is_copied = process.file.copy.is_some();
        while process
            .file
            .copy
            .as_ref()
            .is_some_and(|copy| !copy.is_done())
        {
            std::thread::yield_now();
        }
        assert!(process.file.wants_root(&process.catalog) == is_copied);
        if removes && is_copied {
            folder.remove_temporary_files();
        }
    }
    panic!("it grows for ever");
}

#[test]
fn a_thread_makes_the_next_file_if_the_process_goes_on() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let told = file_with_all(folder.path());
    let mut process = Process::new(&told, folder.path());
    process.file.load(&mut process.catalog, &key());
    for removes in [false, true] {
        assert!(write_until_replaced(&mut process, folder.path(), removes));
        let head = told.check(folder.path()).head;
        assert!(head == process.catalog.head && process.catalog.is_whole());
    }
    let left = fs::read_dir(folder.path()).expect("lists").count();
    assert_eq!(left, 1, "nothing is left aside");
}
