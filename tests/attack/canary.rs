//! What a person has beside a store, and whether all of it is still as it was.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// A file that an attacker would like to overwrite.
pub(crate) const AUTHORIZED_KEYS: &str = ".ssh/authorized_keys";
/// A folder that an attacker would like to have removed, or closed.
pub(crate) const DOCUMENTS: &str = "Documents";

/// Everything below a home by its path from there: kind and mode, owner, and content.
pub(crate) type Snapshot = BTreeMap<PathBuf, String>;

/// Files and folders with modes of every kind, as they lie in a home.
pub(crate) fn put(home: &Path) {
    for (path, text, mode) in [
        (AUTHORIZED_KEYS, "ssh-ed25519 AAAA owner@laptop\n", 0o644),
        ("Documents/letter.txt", "Dear reader,\n", 0o644),
        ("Documents/ring", "the ring of a telephone\n", 0o666),
        ("Documents/names", "Ana, Bob, Cleo\n", 0o664),
        ("Documents/pictures/cat.txt", "a cat\n", 0o640),
        ("Documents/run.sh", "#!/bin/sh\n", 0o755),
    ] {
        let path = home.join(path);
        fs::create_dir_all(path.parent().expect("in a folder")).expect("made");
        fs::write(&path, text).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("set");
    }
    let documents = fs::Permissions::from_mode(0o755);
    fs::set_permissions(home.join(DOCUMENTS), documents).expect("set");
}

/// Everything in a home but its store and what is kept of stores.
pub(crate) fn beside_the_store(home: &Path) -> Snapshot {
    let mut all = Snapshot::new();
    let skipped = [home.join("store"), home.join(".local/state")];
    look(home, home, &skipped, &mut all);
    all
}

fn look(home: &Path, folder: &Path, skipped: &[PathBuf], all: &mut Snapshot) {
    for entry in fs::read_dir(folder).expect("lists") {
        let path = entry.expect("lists").path();
        if skipped.contains(&path) {
            continue;
        }
        let meta = fs::symlink_metadata(&path).expect("there");
        let content = if meta.is_file() {
            hash(&path)
        } else if meta.is_symlink() {
            let target = fs::read_link(&path).expect("a link");
            target.display().to_string()
        } else {
            String::new()
        };
        let said = format!("{:o} {} {content}", meta.mode(), meta.uid());
        let name = path.strip_prefix(home).expect("below it");
        all.insert(name.to_owned(), said);
        if meta.is_dir() {
            look(home, &path, skipped, all);
        }
    }
}

fn hash(path: &Path) -> String {
    use sha2::{Digest, Sha256};
    let digest = Sha256::digest(fs::read(path).expect("there"));
    format!("{digest:x}")[..12].to_owned()
}

/// What is new, gone, or no longer what it was; the paths and no content.
pub(crate) fn differences(before: &Snapshot, after: &Snapshot) -> Vec<String> {
    let gone = before.keys().filter(|path| !after.contains_key(*path));
    let gone = gone.map(|path| format!("{} is gone", path.display()));
    let other = after.iter().filter_map(|(path, said)| {
        let shown = path.display();
        match before.get(path) {
            None => Some(format!("{shown} is new")),
            Some(known) if known != said => Some(format!("{shown} was {known}, is {said}")),
            Some(_) => None,
        }
    });
    gone.chain(other).collect()
}
