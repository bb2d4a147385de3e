//! Keeping a store's folder and its keys from everybody but the owner.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::Store;

/// What is only for the owner.
const OTHERS: u32 = 0o077;

impl Store {
    /// Takes away what others may do with the store's folder, its keyring and the files in that;
    /// says so, one sentence each. What cannot be taken away is said too.
    #[must_use]
    pub fn protect(root: &Path) -> Vec<String> {
        // Nobody asked to close a folder that is no store.
        if !root.join("HEAD").is_file() || !root.join("journal").is_file() {
            return Vec::new();
        }
        close_all(&private_paths(root, &root.join("keyring")))
    }

    /// The same for a keyring in a place of its own.
    #[must_use]
    pub fn protect_keyring(&self) -> Vec<String> {
        let folder = self.keyring.folder();
        if folder == self.root.join("keyring") {
            return Vec::new();
        }
        let mut paths = private_paths(&self.root, folder);
        paths.retain(|path| *path != self.root);
        close_all(&paths)
    }
}

/// Takes away what others may do with what is there, and says so, or why not.
fn close_all(paths: &[PathBuf]) -> Vec<String> {
    paths
        .iter()
        .filter(|path| is_open(path))
        .map(|path| {
            let shown = path.display();
            match close(path) {
                Ok(()) => format!("others could use {shown}; now only its owner can"),
                Err(e) => format!("others can use {shown}, and that cannot be changed: {e}"),
            }
        })
        .collect()
}

/// The paths of a store that are only for its owner.
pub(super) fn private_paths(root: &Path, keyring: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(keyring).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = files.map(|entry| entry.path()).collect();
    paths.extend([root.to_owned(), keyring.to_owned()]);
    paths.sort();
    paths
}

/// Whether others can use what is there. Links are not followed: whoever could put one there would
/// choose what is closed.
pub(super) fn is_open(path: &Path) -> bool {
    fs::symlink_metadata(path)
        .is_ok_and(|meta| !meta.is_symlink() && meta.permissions().mode() & OTHERS != 0)
}

fn close(path: &Path) -> std::io::Result<()> {
    let mode = fs::symlink_metadata(path)?.permissions().mode();
    fs::set_permissions(path, fs::Permissions::from_mode(mode & 0o777 & !OTHERS))
}
