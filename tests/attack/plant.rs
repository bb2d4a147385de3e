//! Things that are no regular files, or none that anybody should read, put where a file belongs.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, mknodat};

/// As long as no file of a store is; almost nothing of it is on the disk.
pub(crate) const GIANT_BYTES: u64 = 60 << 30;

/// The user that owns nothing.
const NOBODY: u32 = 65534;

/// Whether this process may make devices and give files away.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Removes whatever is at a path, and follows nothing.
pub(crate) fn clear(path: &Path) {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path).expect("removed"),
        Ok(_) => fs::remove_file(path).expect("removed"),
        Err(_) => fs::create_dir_all(path.parent().expect("in a folder")).expect("made"),
    }
}

/// A named pipe, which nobody writes to.
pub(crate) fn fifo(path: &Path) {
    node(path, FileType::Fifo, 0);
}

pub(crate) fn socket(path: &Path) {
    node(path, FileType::Socket, 0);
}

/// `/dev/zero` under another name: it never ends. Only root can make one, and not everywhere.
pub(crate) fn device(path: &Path) -> bool {
    clear(path);
    let dev = rustix::fs::makedev(1, 5);
    mknodat(CWD, path, FileType::CharacterDevice, owner_only(), dev).is_ok()
}

fn node(path: &Path, kind: FileType, dev: u64) {
    clear(path);
    mknodat(CWD, path, kind, owner_only(), dev).expect("made");
}

fn owner_only() -> Mode {
    Mode::from_raw_mode(0o600)
}

/// A symbolic link to whatever is, or is not, at `target`.
pub(crate) fn link(path: &Path, target: &Path) {
    clear(path);
    symlink(target, path).expect("made");
}

/// A second name of an existing file.
pub(crate) fn hard_link(path: &Path, target: &Path) {
    clear(path);
    fs::hard_link(target, path).expect("made");
}

/// Makes a file as long as no disk is, by a hole at its end.
pub(crate) fn grow(path: &Path) {
    let file = fs::OpenOptions::new().append(true).create(true).open(path);
    file.and_then(|file| file.set_len(GIANT_BYTES))
        .expect("grown");
}

/// Gives a file or folder to somebody else; only root can.
pub(crate) fn give_away(path: &Path) {
    std::os::unix::fs::lchown(path, Some(NOBODY), Some(NOBODY)).expect("given away");
}

pub(crate) fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set");
}

/// Copies a file, or a folder with all that is in it, with its modes.
pub(crate) fn copy(from: &Path, to: &Path) {
    if !from.is_dir() {
        fs::copy(from, to).expect("copied");
        return;
    }
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("lists") {
        let path = entry.expect("lists").path();
        copy(&path, &to.join(path.file_name().expect("has a name")));
    }
    fs::set_permissions(to, fs::metadata(from).expect("there").permissions()).expect("set");
}

/// Every file and folder below a folder, by its path from there, sorted.
pub(crate) fn list(folder: &Path) -> Vec<PathBuf> {
    fn below(root: &Path, folder: &Path, all: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("lists") {
            let path = entry.expect("lists").path();
            all.push(path.strip_prefix(root).expect("below it").to_owned());
            if path.is_dir() {
                below(root, &path, all);
            }
        }
    }
    let mut all = Vec::new();
    below(folder, folder, &mut all);
    all.sort();
    all
}
