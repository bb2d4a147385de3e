//! Files outside a store, at a path that a person chose: keys, and the pin of a store.
//!
//! Links on the way to a chosen path are followed, but its end must be a regular file.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
#[cfg(target_os = "linux")]
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};
use zeroize::Zeroizing;

use crate::disk::Lock;
use crate::disk::folder::{Folder, kind_in};
use crate::disk::name::Name;
use crate::error::refused::{FileKind, RefusalReason, Refused};
use crate::error::{Error, ExportFault, Result};

/// Opens a chosen file for reading, through links too: a secret mounted into a container is a link.
/// Returns its length and mode too.
pub(crate) fn open_chosen(path: &Path) -> io::Result<(File, u64, u32)> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let found = file.metadata()?;
    let kind = kind_in(found.mode());
    if kind != FileKind::File {
        return Err(Refused::error(
            path.to_owned(),
            RefusalReason::not_a_file(kind),
        ));
    }
    Ok((file, found.len(), found.mode()))
}

/// Opens an agekeep file outside a store. Links and files with other hard links are refused.
pub(crate) fn open_plain(path: &Path, write: bool) -> io::Result<File> {
    let (folder, name) = place(path)?;
    if write {
        folder.open_write(&name)
    } else {
        folder.open_read(&name)
    }
}

/// Reads an agekeep file outside a store, if it has at most `bytes_max` bytes.
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

/// Writes a secret file atomically, unless one exists. Returns true if it did.
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
    let aside = Name::new_temporary();
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

/// Replaces a file atomically: a reader sees the old bytes or the new ones. Not yet durable.
pub(crate) fn replace(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    let (folder, name) = place(path).map_err(Error::io("write", path))?;
    folder.replace(&name, bytes, mode)
}

/// Like [`replace`], and durable when it returns.
pub(crate) fn replace_durably(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    let (folder, name) = place(path).map_err(Error::io("write", path))?;
    folder.replace_durably(&name, bytes, mode)
}

/// Like [`replace_durably`], at a chosen path: its folder may be reached through a link.
pub(crate) fn replace_chosen_durably(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    let (folder, name) = chosen_place(path).map_err(Error::io("write", path))?;
    folder.replace_durably(&name, bytes, mode)
}

/// Makes a folder and its parents.
pub(crate) fn make_folder(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(Error::io("make", path))
}

/// Returns the bytes of a path, as the file system has them.
pub(crate) fn bytes_of(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

/// Returns the effective user id of this process.
pub(crate) fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Makes a folder, and its parents, that only the owner can enter.
pub(crate) fn make_private_folder(path: &Path) -> Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(Error::io("make", path))
}

/// Like [`make_private_folder`], and makes the names of all new folders durable.
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

/// Opens the folder that something new is to be made in, at a path that a person chose, and returns
/// the name of the new thing too. No link is left in the folder's path.
pub(crate) fn place_of_new(path: &Path) -> Result<(Folder, OsString)> {
    let path = absolute(path)?;
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(Error::io("make", &path)(
            io::ErrorKind::AlreadyExists.into(),
        ));
    };
    let resolved = above.canonicalize().map_err(Error::io("open", above))?;
    let folder = Folder::at_itself(&resolved).map_err(Error::io("open", above))?;
    Ok((folder, name.to_owned()))
}

/// A folder that is made in another one of a passing name beside its place, and renamed there once it is
/// whole. Dropped before that, it is removed; if the process is killed, the next one that is begun beside it does
/// so.
pub(crate) struct NewFolder {
    above: Folder,
    name: OsString,
    passing_name: Name,
    folder: Folder,
    /// Held as long as the folder is made, so that others leave it alone.
    _lock: Lock,
}

impl NewFolder {
    /// Begins a folder at a path that a person chose. An empty folder of this user may be there.
    ///
    /// # Errors
    /// [`ExportFault::InTheWay`] for anything else in its place, or if `forbidden` names what the
    /// folder that it is made in belongs to.
    pub(crate) fn begin(
        path: &Path,
        forbidden: impl FnOnce(&Folder) -> Option<&'static str>,
    ) -> Result<Self> {
        let (above, name) = place_of_new(path)?;
        let in_the_way = |what| {
            let path = path.to_owned();
            Err(Error::Export(ExportFault::InTheWay { path, what }))
        };
        if let Some(what) = forbidden(&above) {
            return in_the_way(what);
        }
        match Folder::at_itself(&above.path().join(&name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(_) => return in_the_way("a link or a file, and no folder"),
            Ok(there) => {
                let fault = || Error::io("read", path);
                if !there.list().map_err(fault())?.is_empty() {
                    return in_the_way("not empty");
                }
                if there.look_at_itself().map_err(fault())?.owner != user() {
                    return in_the_way("somebody else's");
                }
            }
        }
        remove_unlocked(&above);
        loop {
            let passing_name = Name::new_building();
            let outer = above.make_private(&passing_name)?;
            let lock = Lock::of_folder(&outer)?;
            // Somebody else may have removed it before it was locked.
            if above.has(&passing_name) {
                return Ok(Self {
                    folder: outer.make_private(&passing_name)?,
                    above,
                    name,
                    passing_name,
                    _lock: lock,
                });
            }
        }
    }

    /// Returns the folder.
    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Moves it to its place, durably.
    pub(crate) fn put_in_place(self) -> Result<()> {
        let path = self.above.path().join(&self.name);
        let outer = self.above.sub(&self.passing_name);
        let moved =
            outer.and_then(|outer| outer.rename_out(&self.passing_name, &self.above, &self.name));
        moved.map_err(Error::io("make", &path))?;
        self.above.sync()
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        drop(self.above.remove_tree(&self.passing_name));
    }
}

/// Removes the folders of this user that were being made in another one when their processes were killed: a
/// copy of a store can have keys in it.
fn remove_unlocked(above: &Folder) {
    for name in above.list_of(Name::building).unwrap_or_default() {
        let left = above.sub(&name).ok();
        // A store that is being made has its files in such a folder itself, and no lock.
        let is_own = |left: &Folder| {
            let found = left.look_at_itself();
            left.has(&name) && found.is_ok_and(|found| found.owner == user())
        };
        if let Some(left) = left.filter(is_own)
            && let Some(_lock) = Lock::try_acquire(&left)
        {
            drop(above.remove_tree(&name));
        }
    }
}

/// Makes a path absolute.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(Error::io("find", path))
}

/// Makes a path absolute and follows its links, as far as it exists.
pub(crate) fn resolved(path: &Path) -> Result<PathBuf> {
    let path = absolute(path)?;
    for above in path.ancestors() {
        if let Ok(real) = above.canonicalize() {
            let rest = path.strip_prefix(above).expect("it is above");
            return Ok(real.components().chain(rest.components()).collect());
        }
    }
    Ok(path)
}

/// Removes an agekeep file outside a store. A missing file is not an error.
pub(crate) fn remove_plain(path: &Path) -> Result<()> {
    let removed = place(path).and_then(|(folder, name)| folder.remove(&name));
    let removed = super::if_there(removed).map_err(Error::io("remove", path));
    removed.map(drop)
}

/// Opens the folder of a file; returns the file's name too.
fn chosen_place(path: &Path) -> io::Result<(Folder, Name)> {
    let name = Name::chosen(path).ok_or(io::ErrorKind::InvalidFilename)?;
    Ok((Folder::at(&above(path))?, name))
}

/// Like [`chosen_place`], for an agekeep file, whose folder must not be a link.
fn place(path: &Path) -> io::Result<(Folder, Name)> {
    let name = Name::chosen(path).ok_or(io::ErrorKind::InvalidFilename)?;
    let above = above(path);
    let folder = Folder::at_itself(&above).map_err(|error| match above.symlink_metadata() {
        Ok(found) if !found.is_dir() => {
            let found = kind_in(found.mode());
            let wanted = FileKind::Folder;
            Refused::error(above, RefusalReason::Kind { found, wanted })
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

// Opening a file below a folder: no link on the way, only a regular file at the end, no blocking.

/// The flags for every file. With them, opening a named pipe does not wait for its other end.
pub(super) const FILE: OFlags = OFlags::NONBLOCK
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NOCTTY);
pub(super) const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOFOLLOW);

/// Opens a path that may be a file, relative to a folder.
pub(super) fn file(
    folder: BorrowedFd<'_>,
    path: &str,
    flags: OFlags,
    mode: Mode,
) -> rustix::io::Result<File> {
    beneath(folder, path, flags | FILE, mode).map(File::from)
}

/// Opens a folder by a path relative to another.
pub(super) fn folder(folder: BorrowedFd<'_>, path: &str) -> rustix::io::Result<OwnedFd> {
    beneath(folder, path, FOLDER, Mode::empty())
}

fn beneath(
    folder: BorrowedFd<'_>,
    path: &str,
    flags: OFlags,
    mode: Mode,
) -> rustix::io::Result<OwnedFd> {
    // A single name leads through no link.
    if !path.contains('/') {
        return retry_on_intr(|| rustix::fs::openat(folder, path, flags, mode));
    }
    at_once(folder, path, flags, mode)
}

/// True once the kernel turned out not to know `openat2`.
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
    // Unlike `openat`, it refuses a mode if no file is created.
    let mode = if flags.contains(OFlags::CREATE) {
        mode
    } else {
        Mode::empty()
    };
    match retry_on_intr(|| rustix::fs::openat2(folder, path, flags, mode, resolve)) {
        // An older kernel, or a filter that blocks the call. (If the file itself may not be opened,
        // the fallback fails the same way.)
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

/// Opens each folder on the way in turn.
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

/// Tells whether an error can be due to the kind of thing in the place of a file or folder, rather
/// than to the disk or to permissions.
pub(super) fn is_of_kind(error: Errno) -> bool {
    matches!(
        error,
        Errno::LOOP | Errno::NOTDIR | Errno::ISDIR | Errno::NXIO | Errno::MLINK | Errno::ACCESS
    )
}

/// Converts to the standard library's error.
pub(super) fn io_error(error: Errno) -> io::Error {
    error.into()
}
