//! A store with a history to pack, and what is looked at afterwards.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::crash::model::*;
use crate::support::{Home, json_lines, stderr, stdout};

/// Fills a third of a journal.
pub(crate) const BIG_BYTES: usize = 700_000;

pub(crate) fn create(path: &str, bytes: usize) -> Value {
    let text = format!("{path} ").repeat(bytes / (path.len() + 1) + 1);
    json!({"command": "create", "path": path, "file_text": text})
}

pub(crate) fn view(path: &str) -> Value {
    json!({"command": "view", "path": path})
}

/// A store with a history of so many commands.
pub(crate) fn with_history(commands: usize) -> (Home, Model) {
    let home = Home::with_store();
    let mut model = Model::new();
    let (calls, wants, _) = model.next_calls(&mut Dice(SEED + 7), commands);
    answer_all(&home, &calls, &wants);
    (home, model)
}

/// The files of objects that are in no pack.
pub(crate) fn loose(home: &Home) -> Vec<PathBuf> {
    let folders = fs::read_dir(home.store().join("objects")).expect("lists");
    let folders = folders.map(|folder| folder.expect("lists").path());
    let hex = |path: &PathBuf| path.file_name().is_some_and(|name| name.len() == 2);
    let files = folders.filter(hex).flat_map(|folder| {
        let files = fs::read_dir(folder).expect("lists");
        files.map(|file| file.expect("lists").path())
    });
    let mut files: Vec<_> = files.collect();
    files.sort();
    files
}

/// The packs that have an index: without one, a pack is not there.
pub(crate) fn packs(home: &Home) -> Vec<PathBuf> {
    let entries = fs::read_dir(home.store().join("objects/pack")).expect("lists");
    let paths = entries.map(|entry| entry.expect("lists").path());
    let ends = |path: &PathBuf, wanted: &str| path.extension().is_some_and(|end| end == wanted);
    let mut packs: Vec<_> = paths.filter(|path| ends(path, "pack")).collect();
    packs.retain(|pack| pack.with_extension("idx").exists());
    packs.sort();
    packs
}

/// Nothing is left over under a passing name.
pub(crate) fn assert_nothing_aside(home: &Home, when: &str) {
    for folder in ["", "objects", "objects/pack"] {
        for entry in fs::read_dir(home.store().join(folder)).expect("lists") {
            let name = entry
                .expect("lists")
                .file_name()
                .into_string()
                .expect("UTF-8");
            assert!(!name.starts_with("tmp_"), "{when}: {folder}/{name}");
        }
    }
}

/// Stock git finds every pack to be what it says.
pub(crate) fn assert_packs_verify(home: &Home) {
    for pack in packs(home) {
        let index = pack.with_extension("idx");
        let index = index.to_str().expect("UTF-8");
        let verified = home.git(&["verify-pack", "-v", index]);
        assert!(verified.status.success(), "{}", stderr(&verified));
        let pack = pack.to_str().expect("UTF-8");
        let again = home.git(&["index-pack", "--verify", "--strict", pack]);
        assert!(again.status.success(), "{}", stderr(&again));
    }
}

/// Every object that history leads to, as stock git counts them.
pub(crate) fn reachable(home: &Home) -> Vec<String> {
    let list = home.git(&["rev-list", "--objects", "--no-object-names", "main"]);
    assert!(list.status.success(), "{}", stderr(&list));
    let mut names: Vec<_> = stdout(&list).lines().map(str::to_owned).collect();
    names.sort();
    names
}

/// All of it is as it should be, for us and for stock git.
pub(crate) fn assert_whole(home: &Home, model: &mut Model, when: &str) {
    model.check(home, when);
    check_git(home, when);
    let verified = home.run(&["verify", "--full"]);
    let said = stdout(&verified) + &stderr(&verified);
    assert!(verified.status.success(), "{when}: {said}");
}

pub(crate) fn compact(home: &Home, args: &[&str]) -> Value {
    let all = [&["compact", "--json"], args].concat();
    let done = home.run(&all);
    assert!(done.status.success(), "{}", stderr(&done));
    json_lines(&done.stdout).remove(0)
}
