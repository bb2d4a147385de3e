//! Files outside a store, at a path that a person chose: keys, and what was seen of a store.
//!
//! Links on the way to them are whose path it is; what is there has to be a file all the same.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
#[cfg(target_os = "linux")]
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fs, io};

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};
use zeroize::Zeroizing;

use crate::disk::folder::{Folder, kind_of};
use crate::disk::name::Name;
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

// Opening a file below a folder: no link on the way, nothing but a file at the end, no waiting.

/// What every file is opened with. A named pipe that is opened so does not wait for its other end.
pub(super) const FILE: OFlags = OFlags::NONBLOCK
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NOCTTY);
pub(super) const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOFOLLOW);

/// Opens what may be a file, by names that follow one another.
pub(super) fn file(
    folder: BorrowedFd<'_>,
    path: &str,
    flags: OFlags,
    mode: Mode,
) -> rustix::io::Result<File> {
    beneath(folder, path, flags | FILE, mode).map(File::from)
}

/// Opens a folder, by names that follow one another.
pub(super) fn folder(folder: BorrowedFd<'_>, path: &str) -> rustix::io::Result<OwnedFd> {
    beneath(folder, path, FOLDER, Mode::empty())
}

fn beneath(
    folder: BorrowedFd<'_>,
    path: &str,
    flags: OFlags,
    mode: Mode,
) -> rustix::io::Result<OwnedFd> {
    // One name leads through nothing that could be a link.
    if !path.contains('/') {
        return retry_on_intr(|| rustix::fs::openat(folder, path, flags, mode));
    }
    at_once(folder, path, flags, mode)
}

/// Whether the kernel does not know `openat2`, so that it need not be asked again.
#[cfg(target_os = "linux")]
static IS_UNKNOWN: AtomicBool = AtomicBool::new(false);

#[cfg(target_os = "linux")]
fn at_once(
    folder: BorrowedFd<'_>,
    path: &str,
    flags: OFlags,
    mode: Mode,
) -> rustix::io::Result<OwnedFd> {
    use rustix::fs::ResolveFlags;
    if IS_UNKNOWN.load(Ordering::Relaxed) {
        return step_by_step(folder, path, flags, mode);
    }
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    // It refuses a mode where nothing is made, which `openat` passes over.
    let mode = if flags.contains(OFlags::CREATE) {
        mode
    } else {
        Mode::empty()
    };
    match retry_on_intr(|| rustix::fs::openat2(folder, path, flags, mode, resolve)) {
        // An older kernel, or a filter that does not know the call. (Where the file itself may not be
        // opened, the steps say so again.)
        Err(refused @ (Errno::NOSYS | Errno::PERM)) => {
            IS_UNKNOWN.store(refused == Errno::NOSYS, Ordering::Relaxed);
            step_by_step(folder, path, flags, mode)
        }
        opened => opened,
    }
}

#[cfg(not(target_os = "linux"))]
fn at_once(
    folder: BorrowedFd<'_>,
    path: &str,
    flags: OFlags,
    mode: Mode,
) -> rustix::io::Result<OwnedFd> {
    step_by_step(folder, path, flags, mode)
}

/// Opens each folder on the way.
pub(super) fn step_by_step(
    folder: BorrowedFd<'_>,
    path: &str,
    flags: OFlags,
    mode: Mode,
) -> rustix::io::Result<OwnedFd> {
    let mut above: Option<OwnedFd> = None;
    let mut rest = path;
    while let Some((name, below)) = rest.split_once('/') {
        let from = above.as_ref().map_or(folder, AsFd::as_fd);
        let opened = retry_on_intr(|| rustix::fs::openat(from, name, FOLDER, Mode::empty()))?;
        (above, rest) = (Some(opened), below);
    }
    let from = above.as_ref().map_or(folder, AsFd::as_fd);
    retry_on_intr(|| rustix::fs::openat(from, rest, flags, mode))
}

/// Whether an error can come of what stands in the place of a file or folder, rather than of the disk
/// or of the right to use it.
pub(super) fn is_of_kind(error: Errno) -> bool {
    matches!(
        error,
        Errno::LOOP | Errno::NOTDIR | Errno::ISDIR | Errno::NXIO | Errno::MLINK | Errno::ACCESS
    )
}

/// As the standard library has it.
pub(super) fn io_error(error: Errno) -> io::Error {
    error.into()
}
