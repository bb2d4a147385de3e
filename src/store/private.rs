//! Keeping a store's folder and its keys from everybody but the owner.

use std::io;
use std::path::{Path, PathBuf};

use crate::disk::{Folder, Found, Kind, Name};
use crate::store::Ledger;

/// See [`Store::protect`].
pub(super) fn protect(root: &Path) -> Vec<String> {
    let Ok(root) = Folder::at(root) else {
        return Vec::new();
    };
    // Nobody asked to close a folder that is no store.
    let has_file = |name: Name| root.has_kind(&name, Kind::File);
    if !has_file(Name::HEAD) || !has_file(Name::JOURNAL) {
        return Vec::new();
    }
    let mut said = close(&root);
    // Where a link is in its place, nothing is followed, and opening refuses it.
    if let Ok(keyring) = root.sub(&Name::KEYRING) {
        said.extend(close_all(&keyring));
    }
    said
}

/// See [`Store::protect_keyring`].
pub(super) fn protect_keyring(ledger: &Ledger) -> Vec<String> {
    let folder = ledger.keyring.folder();
    match ledger.root.sub(&Name::KEYRING) {
        Ok(own) if own.is(folder).unwrap_or(false) => Vec::new(),
        _ => close_all(folder),
    }
}

/// Takes away what others may do with a folder and the files in it, and says so, or why not.
fn close_all(keyring: &Folder) -> Vec<String> {
    let mut said = close(keyring);
    for found in open_to_others(keyring) {
        let path = keyring.path().join(&found.name);
        said.push(told(&path, keyring.close_found(&found)));
    }
    said
}

fn close(folder: &Folder) -> Vec<String> {
    let closed = is_open(folder).then(|| told(folder.path(), folder.close_to_others()));
    closed.into_iter().collect()
}

fn told(path: &Path, closed: io::Result<()>) -> String {
    let shown = path.display();
    match closed {
        Ok(()) => format!("others could use {shown}; now only its owner can"),
        Err(e) => format!("others can use {shown}, and that cannot be changed: {e}"),
    }
}

/// What others can use of what is only for a store's owner.
pub(super) fn open_paths(root: &Folder, keyring: &Folder) -> Vec<PathBuf> {
    let folders = [root, keyring].into_iter().filter(|folder| is_open(folder));
    let mut paths: Vec<PathBuf> = folders.map(|folder| folder.path().to_owned()).collect();
    let files = open_to_others(keyring).into_iter();
    paths.extend(files.map(|found| keyring.path().join(found.name)));
    paths.sort();
    paths
}

fn is_open(folder: &Folder) -> bool {
    folder
        .look_at_itself()
        .is_ok_and(|found| found.is_open_to_others())
}

/// What others can use in a folder. Links are not followed: whoever could put one there would choose
/// what is closed.
fn open_to_others(folder: &Folder) -> Vec<Found> {
    let mut all = folder.look_at_all().unwrap_or_default();
    all.retain(|found| {
        matches!(found.look.kind, Kind::File | Kind::Folder) && found.look.is_open_to_others()
    });
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}
