//! The file system: the one way to touch a file, making things durable, private modes, the lock.
//!
//! Whoever can write to a store's folder can put a link, a pipe or a file without end in the place
//! of any file in it. So a file is opened below a [`Folder`] that is open itself, by a [`Name`] of
//! the format's own grammar: no link is followed, nothing waits, and what is no file, or longer than
//! the format allows, is refused before a byte of it is read. Nothing is removed by a path.
//!
//! No other module of the library opens, makes, lists or removes a file: `tests/architecture.rs`
//! looks for it.

mod behind;
mod folder;
mod lock;
mod name;
mod open;
mod outside;

use std::path::Path;

pub(crate) use std::fs::File;
pub(crate) use std::os::unix::fs::FileExt;

pub(crate) use self::behind::{Behind, Unsynced};
pub(crate) use self::folder::{Folder, Found, Look};
pub(crate) use self::lock::Lock;
pub(crate) use self::name::{KEY_ENTRIES_MAX, Name, NextId, PACK_OBJECTS_MAX, PackId};
pub(crate) use self::outside::{
    absolute, make_folder, make_private_folder, make_private_folder_durably, make_secret,
    open_chosen, open_plain, read_plain, remove_plain, replace, replace_chosen_durably,
    replace_durably, user,
};
pub(crate) use crate::error::refused::{Kind, Refused};
use crate::error::{Error, Result};

/// Makes the bytes of a file durable. Its length was so before.
pub(crate) fn make_durable(file: &File, path: &Path) -> Result<()> {
    file.sync_data().map_err(Error::io("write", path))
}

/// Makes a file durable with its length.
pub(crate) fn sync_file(file: &File) -> std::io::Result<()> {
    file.sync_all()
}

/// How many bytes an open file has now.
pub(crate) fn length(file: &File) -> std::io::Result<u64> {
    Ok(file.metadata()?.len())
}

/// The number of an open file, unlike that of any other there is.
pub(crate) fn inode(file: &File) -> std::io::Result<u64> {
    use std::os::unix::fs::MetadataExt;
    Ok(file.metadata()?.ino())
}

/// Names the running boot of the machine: what was written before another boot may be torn.
/// `None` where the system does not tell; then every start counts as another boot.
pub(crate) fn boot() -> Option<[u8; 36]> {
    let text = std::fs::read("/proc/sys/kernel/random/boot_id").ok()?;
    text.get(..36)?.try_into().ok()
}

#[cfg(test)]
mod tests;
