//! Packs that are damaged or gone: errors that name what is missing, and nothing else lost.

use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use crate::compaction::scene::*;
use crate::crash::model::*;
use crate::support::{Home, stderr, stdout};

/// A store of which everything is in one pack and nothing in the journal.
fn packed() -> (Home, Model) {
    let (home, model) = with_history(12);
    compact(&home, &[]);
    assert!(record_ends(&home).is_empty() && loose(&home).is_empty());
    (home, model)
}

/// Runs a command that must end.
fn ends(home: &Home, args: &[&str], when: &str) -> (i32, String) {
    let mut child = home
        .command(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let start = Instant::now();
    while child.try_wait().expect("waits").is_none() {
        if start.elapsed() > HANG {
            child.kill().expect("kills");
            panic!("{when}: {args:?} hangs");
        }
        thread::sleep(Duration::from_millis(1));
    }
    let output = child.wait_with_output().expect("ends");
    let said = stderr(&output);
    assert!(!said.contains("panicked"), "{when}: {args:?}: {said}");
    (
        output.status.code().expect("no signal"),
        stdout(&output) + &said,
    )
}

#[test]
fn a_damaged_pack_is_said_and_never_a_hang() {
    let (home, model) = packed();
    let whole = keep(&home, "whole");
    let pack = packs(&home).remove(0);
    let index = pack.with_extension("idx");
    let bytes = fs::read(&pack).expect("reads");
    let index_bytes = fs::read(&index).expect("reads");
    let half = bytes.len() / 2;
    let zeroed = [&bytes[..half], &vec![0; bytes.len() - half]].concat();
    let damages: [(&str, &std::path::Path, Option<Vec<u8>>); 9] = [
        ("an empty pack", &pack, Some(Vec::new())),
        ("half a pack", &pack, Some(bytes[..half].to_vec())),
        ("a pack that ends in zeros", &pack, Some(zeroed)),
        ("no pack", &pack, None),
        ("an empty index", &index, Some(Vec::new())),
        (
            "half an index",
            &index,
            Some(index_bytes[..index_bytes.len() / 2].to_vec()),
        ),
        (
            "zeros for an index",
            &index,
            Some(vec![0; index_bytes.len()]),
        ),
        ("no index", &index, None),
        ("another file for a pack", &pack, Some(index_bytes.clone())),
    ];
    for (when, path, bytes) in damages {
        match bytes {
            Some(bytes) => overwrite(path, &bytes),
            None => fs::remove_file(path).expect("there"),
        }
        let (code, said) = ends(&home, &["verify", "--full"], when);
        assert_eq!(code, 13, "{when}: {said}");
        let mut failed = 0;
        for args in [&["log"][..], &["read", "a.md"], &["status"], &["compact"]] {
            let (code, said) = ends(&home, args, when);
            assert!(
                [0, 4, 13].contains(&code),
                "{when}: {args:?}: {code}: {said}"
            );
            failed += usize::from(code == 13);
        }
        assert!(failed > 0, "{when}: nobody noticed");
        put_back(&whole, &home);
    }
    model.clone().check(&home, "put back");
}

#[test]
fn a_flipped_bit_in_a_pack_is_found_and_the_object_named() {
    let (home, _) = packed();
    let pack = packs(&home).remove(0);
    let bytes = fs::read(&pack).expect("reads");
    let mut dice = Dice(SEED);
    for _ in 0..8 {
        let at = 12 + dice.roll(bytes.len() - 32);
        let mut bad = bytes.clone();
        bad[at] ^= 0x11;
        overwrite(&pack, &bad);
        let (code, said) = ends(&home, &["verify", "--full"], &format!("byte {at}"));
        assert_eq!(code, 13, "byte {at}: {said}");
        let names = |word: &str| word.len() == 40 && word.bytes().all(|b| b.is_ascii_hexdigit());
        assert!(
            said.split(|c: char| !c.is_alphanumeric()).any(names),
            "byte {at}: {said}"
        );
    }
    overwrite(&pack, &bytes);
    assert_eq!(ends(&home, &["verify", "--full"], "mended").0, 0);
}

#[test]
fn what_the_journal_holds_outlives_its_pack() {
    let (home, mut model) = with_history(12);
    let journal = fs::read(home.store().join("journal")).expect("reads");
    checkpoint(&home);
    // As if the machine stopped after the pack and before the new journal.
    fs::write(home.store().join("journal"), journal).expect("writes");
    let pack = packs(&home).remove(0);
    for path in [pack.with_extension("idx"), pack] {
        fs::remove_file(path).expect("there");
    }
    model.check(&home, "from the journal");
    of_another_boot(&home);
    assert_whole(&home, &mut model, "from the journal, put back in place");
}

#[test]
fn a_torn_file_of_an_object_that_is_packed_does_no_harm() {
    let (home, mut model) = with_history(12);
    let files = loose(&home);
    checkpoint(&home);
    let gone: Vec<_> = files.iter().filter(|file| !file.exists()).collect();
    assert!(gone.len() > 20);
    for (n, file) in gone.iter().enumerate() {
        fs::create_dir_all(file.parent().expect("a folder")).expect("makes");
        fs::write(file, &b"\x78\x01\x4b\xca"[..n % 5]).expect("writes");
    }
    model.check(&home, "with torn files beside the pack");
    // The machine was started anew since, and the journal is empty: they go.
    checkpoint_of_an_empty_journal(&home);
    assert!(gone.iter().all(|file| !file.exists()));
    assert_whole(&home, &mut model, "cleaned up");
}

/// An empty journal of another boot, and the store opened once.
fn checkpoint_of_an_empty_journal(home: &Home) {
    checkpoint(home);
    of_another_boot(home);
    assert!(record_ends(home).is_empty());
    let before = fs::read(home.store().join("journal")).expect("reads");
    drop(open(home, "after another boot"));
    let after = fs::read(home.store().join("journal")).expect("reads");
    assert_ne!(before[..128], after[..128], "a new journal, of this boot");
    drop(open(home, "in the same boot"));
    assert_eq!(
        fs::read(home.store().join("journal")).expect("reads"),
        after
    );
}

#[test]
fn a_file_that_no_pack_has_whole_is_never_cleaned_up() {
    let (home, mut model) = with_history(6);
    checkpoint(&home);
    model.answer(&home, &create("/memories/new", 10));
    checkpoint(&home);
    // What `init` wrote is in no pack.
    let files = loose(&home);
    assert!(!files.is_empty());
    checkpoint_of_an_empty_journal(&home);
    assert_eq!(loose(&home), files);
    assert_whole(&home, &mut model, "with what init wrote");
}

/// The pack is whole, and stock git makes its index again.
#[test]
fn an_index_that_is_gone_or_torn_is_named_and_made_again() {
    let (home, model) = packed();
    let whole = keep(&home, "whole");
    let pack = packs(&home).remove(0);
    let index = pack.with_extension("idx");
    let bytes = fs::read(&index).expect("reads");
    let command = format!("git index-pack {}", pack.display());
    for torn in [None, Some(&bytes[..bytes.len() / 2]), Some(&bytes[..100])] {
        fs::remove_file(&index).expect("there");
        if let Some(torn) = torn {
            fs::write(&index, torn).expect("writes");
        }
        for args in [&["log"][..], &["read", "a.md"], &["status"]] {
            let (code, said) = ends(&home, args, "without an index");
            assert_eq!(code, 13, "{args:?}: {said}");
            assert!(
                said.contains(index.to_str().expect("UTF-8")) && said.contains(&command),
                "{args:?}: {said}"
            );
        }
        let made = home.git(&["index-pack", pack.to_str().expect("UTF-8")]);
        assert!(made.status.success(), "{}", stderr(&made));
        assert_whole(&home, &mut model.clone(), "with an index of stock git's");
        put_back(&whole, &home);
    }
}

#[test]
fn a_torn_index_beside_whole_copies_is_named_by_compact() {
    let (home, mut model) = with_history(12);
    let read = |file| (fs::read(&file).expect("reads"), file);
    let copies: Vec<_> = loose(&home).into_iter().map(read).collect();
    compact(&home, &[]);
    let pack = packs(&home).remove(0);
    for (bytes, file) in copies {
        fs::create_dir_all(file.parent().expect("a folder")).expect("makes");
        fs::write(file, bytes).expect("writes");
    }
    let index = pack.with_extension("idx");
    let bytes = fs::read(&index).expect("reads");
    overwrite(&index, &bytes[..bytes.len() / 2]);
    model.check(&home, "from the copies");
    let (code, said) = ends(&home, &["compact"], "a torn index");
    assert_eq!(code, 13, "{said}");
    assert!(said.contains(index.to_str().expect("UTF-8")), "{said}");
    assert!(said.contains("git index-pack"), "{said}");
    let made = home.git(&["index-pack", pack.to_str().expect("UTF-8")]);
    assert!(made.status.success(), "{}", stderr(&made));
    compact(&home, &[]);
    assert_whole(&home, &mut model, "compacted");
}
