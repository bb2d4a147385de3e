//! Lost power: nothing that was not synced can be trusted.

use std::fs;
use std::path::{Path, PathBuf};

use crate::crash::model::*;

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("lists") {
        let path = entry.expect("lists").path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// The files of the store that differ from those in `base`, except for the journal.
fn changed_since(base: &Path, store: &Path) -> Vec<PathBuf> {
    files_below(store)
        .into_iter()
        .map(|path| path.strip_prefix(store).expect("below").to_owned())
        .filter(|path| path != Path::new("journal"))
        .filter(|path| fs::read(store.join(path)).ok() != fs::read(base.join(path)).ok())
        .collect()
}

/// Treats one file that was never synced as a disk without power may.
fn lose(path: &Path, base: Option<Vec<u8>>, dice: &mut Dice) {
    let bytes = fs::read(path).expect("there");
    let grows = path.ends_with("ring") || path.ends_with("names");
    let kept = if grows {
        base.as_ref().map_or(0, Vec::len)
    } else {
        0
    };
    let cut = kept + dice.roll(bytes.len() - kept + 1);
    match dice.roll(6) {
        0 => {}
        1 => overwrite(path, &bytes[..cut]),
        2 => overwrite(path, &[&bytes[..cut], &vec![0; bytes.len() - cut]].concat()),
        3 => overwrite(
            path,
            &[&bytes[..kept], &vec![0; bytes.len() - kept]].concat(),
        ),
        _ => match base {
            Some(base) => overwrite(path, &base),
            None => fs::remove_file(path).expect("there"),
        },
    }
}

#[test]
fn power_loss_takes_nothing_that_was_acknowledged() {
    let (home, mut model) = with_a_new_journal();
    let base = keep(&home, "base");
    let (calls, wants, _) = model.next_calls(&mut Dice(SEED + 1), 10);
    answer_all(&home, &calls, &wants);
    let left = keep(&home, "left");
    let changed = changed_since(&base, &left);
    for path in [
        "refs/heads/main",
        "catalog",
        "keyring/ring",
        "keyring/names",
    ] {
        assert!(changed.contains(&path.into()), "{path}: {changed:?}");
    }
    for round in 0..POWER_ROUNDS {
        let when = format!("seed {SEED}, power lost in round {round}");
        let mut dice = Dice(SEED + round as u64);
        put_back(&left, &home);
        of_another_boot(&home);
        for path in &changed {
            lose(
                &home.store().join(path),
                fs::read(base.join(path)).ok(),
                &mut dice,
            );
        }
        if round % 5 == 0 {
            // Folders that were made are gone too.
            for folder in fs::read_dir(home.store().join("objects")).expect("lists") {
                let folder = folder.expect("lists");
                if !base.join("objects").join(folder.file_name()).exists() {
                    fs::remove_dir_all(folder.path()).expect("there");
                }
            }
        }
        let mut state = model.clone();
        state.check(&home, &when);
        check_git(&home, &when);
        if round % 8 == 0 {
            state.check(&home, &format!("{when}, opened again"));
        }
    }
}

#[test]
fn a_journal_cut_anywhere_holds_exactly_its_whole_records() {
    let (home, model) = with_a_new_journal();
    let base = keep(&home, "base");
    let mut dice = Dice(SEED + 2);
    let (calls, wants, after) = model.clone().next_calls(&mut dice, 5);
    answer_all(&home, &calls, &wants);
    let journal = fs::read(home.store().join("journal")).expect("reads");
    let ends = record_ends(&home);
    assert_eq!(ends.len(), calls.len());
    let starts = || std::iter::once(JOURNAL_HEADER_BYTES).chain(ends.iter().copied());
    let mut cuts: Vec<(usize, usize)> = starts().enumerate().map(|(n, at)| (at, n)).collect();
    let (last, end) = (ends[ends.len() - 2], ends[ends.len() - 1]);
    let inside = [1, 4, 20, 36, 37, (end - last) / 2, end - last - 1].map(|at| last + at);
    let anywhere: Vec<_> = (0..4)
        .map(|_| last + 1 + dice.roll(end - last - 1))
        .collect();
    cuts.extend(
        inside
            .into_iter()
            .chain(anywhere)
            .map(|at| (at, ends.len() - 1)),
    );
    for (at, whole) in cuts {
        let zeroed = [&journal[..at], &vec![0; journal.len() - at]].concat();
        for (how, bytes) in [("zeroed", &zeroed[..]), ("cut", &journal[..at])] {
            if bytes == journal {
                continue; // a record may end in zeros
            }
            let when = format!("seed {SEED}, journal {how} from byte {at}");
            put_back(&base, &home);
            fs::write(home.store().join("journal"), bytes).expect("writes");
            after[whole].clone().check(&home, &when);
            check_git(&home, &when);
        }
    }
}

#[test]
fn a_recorded_command_survives_whatever_part_of_it_reached_its_place() {
    let (home, mut model) = with_a_new_journal();
    let mut dice = Dice(SEED + 3);
    let mut steps = vec![keep(&home, "step0")];
    let mut after = Vec::new();
    for n in 1..=8 {
        let (calls, wants, _) = model.next_calls(&mut dice, 1);
        answer_all(&home, &calls, &wants);
        after.push(model.clone());
        steps.push(keep(&home, &format!("step{n}")));
    }
    for round in 0..APPLY_ROUNDS {
        let n = round % after.len();
        let when = format!("seed {SEED}, round {round}, command {n}");
        put_back(&steps[n], &home);
        for path in changed_since(&steps[n], &steps[n + 1]) {
            let (from, to) = (steps[n + 1].join(&path), home.store().join(&path));
            let bytes = fs::read(from).expect("reads");
            // The ref comes last; of a key table, any part may have been written.
            let part = match path.file_name().and_then(|name| name.to_str()) {
                Some("main") => continue,
                Some("ring" | "names") => {
                    let old = fs::read(&to).expect("reads").len();
                    old + dice.roll(bytes.len() - old + 1)
                }
                _ if dice.roll(2) == 0 => continue,
                _ => bytes.len(),
            };
            fs::create_dir_all(to.parent().expect("in a folder")).expect("makes");
            drop(fs::remove_file(&to));
            fs::write(&to, &bytes[..part]).expect("writes");
        }
        fs::copy(steps[n + 1].join("journal"), home.store().join("journal")).expect("copies");
        after[n].clone().check(&home, &when);
        check_git(&home, &when);
    }
}
