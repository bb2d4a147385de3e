//! Files outside a store, at a path that a person chose: keys, and what was seen of a store.
//!
//! Links on the way to them are whose path it is; what is there has to be a file all the same.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags};
use zeroize::Zeroizing;

use super::folder::{Folder, kind_of};
use super::name::Name;
use crate::error::refused::{Kind, Refused, What};
use crate::error::{Error, Result};

/// Opens a file at a path to be read, also where a link leads there: a secret that is mounted into a
/// container is one. Answers its length and mode too.
pub(crate) fn open_chosen(path: &Path) -> io::Result<(File, u64, u32)> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let found = file.metadata()?;
    let kind = kind_of(FileType::from_raw_mode(found.mode()));
    if kind != Kind::File {
        return Err(Refused::error(path.to_owned(), What::not_a_file(kind)));
    }
    Ok((file, found.len(), found.mode()))
}

/// Opens a file of agekeep's own outside a store: a link to one is none, and it has no other name.
pub(crate) fn open_plain(path: &Path, write: bool) -> io::Result<File> {
    let (folder, name) = place(path)?;
    if write {
        folder.open_write(&name)
    } else {
        folder.open_read(&name)
    }
}

/// Reads such a file whole, if it has no more than so many bytes.
pub(crate) fn read_plain(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = open_plain(path, false)?;
    file.take(bytes_max.saturating_add(1))
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        let why = format!("it is longer than {bytes_max} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    Ok(bytes)
}

/// Writes a secret file whole or not at all, and never over another; says whether it did.
pub(crate) fn make_secret(
    path: &Path,
    content: impl FnOnce() -> Zeroizing<String>,
) -> Result<bool> {
    if path.symlink_metadata().is_ok() {
        return Ok(false);
    }
    let fault = || Error::io("write", path);
    let above = above(path);
    if !above.is_dir() {
        make_private_folder(&above)?;
    }
    let (folder, name) = chosen_place(path).map_err(fault())?;
    let aside = Name::new_aside();
    let written = (|| {
        let mut file = folder.create_new(&aside, 0o600)?;
        file.write_all(content().as_bytes())?;
        file.sync_all()?;
        // A link, unlike a rename, fails if another process was first.
        folder.link(&aside, &name)
    })();
    drop(folder.remove(&aside));
    match written {
        Ok(()) => folder.sync().map(|()| true),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(e) => Err(fault()(e)),
    }
}

/// Puts a file in place whole: a reader sees the old bytes or the new ones. Not yet durable.
pub(crate) fn replace(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    let (folder, name) = place(path).map_err(Error::io("write", path))?;
    folder.replace(&name, bytes, mode)
}

/// As [`replace`], and durable when it returns.
pub(crate) fn replace_durably(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    let (folder, name) = place(path).map_err(Error::io("write", path))?;
    folder.replace_durably(&name, bytes, mode)
}

/// As [`replace_durably`], at a path that a person chose: a link may lead to its folder.
pub(crate) fn replace_chosen_durably(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    let (folder, name) = chosen_place(path).map_err(Error::io("write", path))?;
    folder.replace_durably(&name, bytes, mode)
}

/// Makes a folder, and those above it.
pub(crate) fn make_folder(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(Error::io("make", path))
}

/// The user that this process acts as, as a number.
pub(crate) fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Makes a folder only its owner can enter.
pub(crate) fn make_private_folder(path: &Path) -> Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(Error::io("make", path))
}

/// As [`make_private_folder`], and the names of all folders it makes are durable.
pub(crate) fn make_private_folder_durably(path: &Path) -> Result<()> {
    let there = |path: &&Path| path.is_dir() || path.as_os_str().is_empty();
    let existing = path.ancestors().find(there);
    make_private_folder(path)?;
    let new = path
        .ancestors()
        .take_while(|folder| Some(*folder) != existing);
    for folder in new {
        let above = above(folder);
        Folder::at(&above)
            .map_err(Error::io("sync", &above))?
            .sync()?;
    }
    Ok(())
}

/// A path from the root of the file system on.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(Error::io("find", path))
}

/// Removes a file of agekeep's own outside a store. One that is not there is removed already.
pub(crate) fn remove_plain(path: &Path) -> Result<()> {
    let removed = place(path).and_then(|(folder, name)| folder.remove(&name));
    match removed {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", path)(e)),
        _ => Ok(()),
    }
}

/// The folder that a file is in, open, and what it is called there.
fn chosen_place(path: &Path) -> io::Result<(Folder, Name)> {
    let name = Name::chosen(path).ok_or(io::ErrorKind::InvalidFilename)?;
    Ok((Folder::at(&above(path))?, name))
}

/// The same of a file of agekeep's own, whose folder is no link to another.
fn place(path: &Path) -> io::Result<(Folder, Name)> {
    let name = Name::chosen(path).ok_or(io::ErrorKind::InvalidFilename)?;
    let above = above(path);
    let folder = Folder::at_itself(&above).map_err(|error| match above.symlink_metadata() {
        Ok(found) if !found.is_dir() => {
            let found = kind_of(FileType::from_raw_mode(found.mode()));
            let wanted = Kind::Folder;
            Refused::error(above, What::Kind { found, wanted })
        }
        _ => error,
    })?;
    Ok((folder, name))
}

fn above(path: &Path) -> PathBuf {
    match path.parent() {
        Some(above) if !above.as_os_str().is_empty() => above.to_owned(),
        _ => PathBuf::from("."),
    }
}
