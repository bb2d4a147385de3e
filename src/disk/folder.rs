//! An open folder, and the operations on its files: always by a [`Name`], never by a path.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, RawMode, Stat};
use rustix::io::Errno;

use crate::disk::name::Name;
use crate::disk::outside;
use crate::error::refused::{FileKind, RefusalReason, Refused};
use crate::error::{Error, Result};

/// An open folder: its files stay the same whatever happens to the path.
///
/// No link below it is followed, and only files within the format's size limits are opened.
/// Refusals are errors that [`Error::io`] turns into [`Error::Damaged`].
#[derive(Clone)]
pub(crate) struct Folder {
    descriptor: Arc<OwnedFd>,
    /// The path where it was opened, for messages.
    path: PathBuf,
}

/// The metadata of a directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileStat {
    pub(crate) kind: FileKind,
    pub(crate) bytes: u64,
    /// The inode number.
    pub(crate) inode: u64,
    pub(crate) changed: SystemTime,
    mode: Mode,
    pub(crate) owner: u32,
}

/// An entry of a folder, under any name: its metadata can be read, but it cannot be opened as a
/// file.
pub(crate) struct DirEntry {
    pub(crate) name: OsString,
    pub(crate) look: FileStat,
}

/// Most levels of folders that are counted below a folder; no store is deeper.
const DEPTH_MAX: u32 = 32;
/// The permission bits of group and others.
const OTHERS: Mode = Mode::RWXG.union(Mode::RWXO);

impl FileStat {
    /// Tells whether others have any access.
    pub(crate) fn is_open_to_others(&self) -> bool {
        self.mode.intersects(OTHERS)
    }

    /// Tells whether anybody may execute it.
    pub(crate) fn is_executable(&self) -> bool {
        self.mode.intersects(Mode::XUSR | Mode::XGRP | Mode::XOTH)
    }

    fn of(found: &Stat) -> Self {
        let seconds = u64::try_from(found.st_mtime).unwrap_or(0);
        let nanoseconds = u32::try_from(found.st_mtime_nsec).unwrap_or(0);
        Self {
            kind: kind_of(FileType::from_raw_mode(found.st_mode)),
            bytes: u64::try_from(found.st_size).unwrap_or(0),
            inode: found.st_ino,
            changed: SystemTime::UNIX_EPOCH + Duration::new(seconds, nanoseconds),
            mode: Mode::from_raw_mode(found.st_mode),
            owner: found.st_uid,
        }
    }
}

impl Folder {
    /// Opens the folder at a path that a person or the policy chose; links on the way are followed.
    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        Self::opened(path, OFlags::empty())
    }

    /// Like [`Self::at`], but the last part of the path must not be a link.
    pub(crate) fn at_itself(path: &Path) -> io::Result<Self> {
        Self::opened(path, OFlags::NOFOLLOW)
    }

    fn opened(path: &Path, more: OFlags) -> io::Result<Self> {
        let here = path.as_os_str().is_empty();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | more;
        let opened = rustix::fs::open(
            if here { Path::new(".") } else { path },
            flags,
            Mode::empty(),
        );
        Ok(Self {
            descriptor: Arc::new(opened.map_err(outside::io_error)?),
            path: path.to_owned(),
        })
    }

    /// Opens a folder inside it.
    pub(crate) fn sub(&self, name: &Name) -> io::Result<Self> {
        let opened = outside::folder(self.fd(), name.as_str());
        Ok(Self {
            descriptor: Arc::new(opened.map_err(|e| self.explain(name, e, FileKind::Folder))?),
            path: self.path_of(name),
        })
    }

    /// Opens the same folder again: the two descriptors lock independently.
    pub(super) fn again(&self) -> io::Result<Self> {
        let opened = outside::folder(self.fd(), ".").map_err(outside::io_error)?;
        Ok(Self {
            descriptor: Arc::new(opened),
            path: self.path.clone(),
        })
    }

    /// Opens the folder now at its path. The second value is that folder again, if it is not this
    /// one.
    pub(super) fn at_its_path(&self) -> io::Result<(Self, Option<Self>)> {
        let now = Self::at(&self.path)?;
        let moved = if now.is(self)? {
            None
        } else {
            Some(now.again()?)
        };
        Ok((now, moved))
    }

    /// Tells whether its path still leads to it.
    pub(crate) fn is_at_its_path(&self) -> bool {
        Self::at(&self.path).is_ok_and(|now| now.is(self).unwrap_or(false))
    }

    /// Converts its descriptor to a standard file.
    pub(super) fn into_file(self) -> io::Result<File> {
        Ok(match Arc::try_unwrap(self.descriptor) {
            Ok(owned) => owned.into(),
            Err(shared) => shared.try_clone()?.into(),
        })
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }

    /// Returns the path where it was opened, for messages and for other processes.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of a file in it, for messages.
    pub(crate) fn path_of(&self, name: &Name) -> PathBuf {
        self.path.join(name.as_str())
    }

    /// Maps an I/O error on a file in it to an [`Error`].
    pub(crate) fn fault(
        &self,
        doing: &'static str,
        name: &Name,
    ) -> impl FnOnce(io::Error) -> Error + use<> {
        Error::io(doing, &self.path_of(name))
    }

    /// Tells whether it is the same folder as another, whatever their paths.
    pub(crate) fn is(&self, other: &Self) -> io::Result<bool> {
        let number = |folder: &Self| -> io::Result<_> {
            let found = rustix::fs::fstat(folder.fd())?;
            Ok((found.st_dev, found.st_ino))
        };
        Ok(number(self)? == number(other)?)
    }

    // ---- Opening files ----

    /// Opens a file for reading.
    pub(crate) fn open_read(&self, name: &Name) -> io::Result<File> {
        let file = self.open(name, OFlags::RDONLY, 0)?;
        self.check(name, &file)?;
        Ok(file)
    }

    /// Opens a file to write it in place. A file with other hard links is refused: writing would
    /// change a file elsewhere.
    pub(crate) fn open_write(&self, name: &Name) -> io::Result<File> {
        let file = self.open(name, OFlags::RDWR, 0)?;
        self.check_own(name, &file)?;
        Ok(file)
    }

    /// Like [`Self::open_write`], but creates a missing file.
    pub(crate) fn open_or_make(&self, name: &Name, mode: u32) -> io::Result<File> {
        let file = self.open(name, OFlags::RDWR | OFlags::CREATE, mode)?;
        self.check_own(name, &file)?;
        Ok(file)
    }

    /// Like [`Self::open_write`]; if the file cannot be written, opens it for reading and returns
    /// the operating system's error number too.
    pub(crate) fn open_write_or_read(&self, name: &Name) -> io::Result<(File, Option<i32>)> {
        match self.open_write(name) {
            Err(e) if Refused::in_error(&e).is_none() && e.raw_os_error().is_some() => {
                let refused = e.raw_os_error();
                let file = self.open_read(name).map_err(|read| {
                    if Refused::in_error(&read).is_some() {
                        read
                    } else {
                        e
                    }
                })?;
                Ok((file, refused))
            }
            opened => Ok((opened?, None)),
        }
    }

    /// Creates a file, which must not exist yet, and opens it.
    pub(crate) fn create_new(&self, name: &Name, mode: u32) -> io::Result<File> {
        self.open(name, OFlags::RDWR | OFlags::CREATE | OFlags::EXCL, mode)
    }

    /// Reads a whole file.
    pub(crate) fn read(&self, name: &Name) -> io::Result<Vec<u8>> {
        let file = self.open(name, OFlags::RDONLY, 0)?;
        let length = self.check(name, &file)?;
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0) + 1);
        file.take(name.bytes_max().saturating_add(1))
            .read_to_end(&mut bytes)?;
        if bytes.len() as u64 > name.bytes_max() {
            return Err(self.longer(name));
        }
        Ok(bytes)
    }

    fn open(&self, name: &Name, flags: OFlags, mode: u32) -> io::Result<File> {
        outside::file(self.fd(), name.as_str(), flags, permissions(mode))
            .map_err(|e| self.explain(name, e, FileKind::File))
    }

    /// Refuses anything but a file within its size limit; returns its length.
    fn check(&self, name: &Name, file: &File) -> io::Result<u64> {
        let found = file.metadata()?;
        self.check_kind(name, found.mode())?;
        if found.len() > name.bytes_max() {
            return Err(self.longer(name));
        }
        Ok(found.len())
    }

    /// Like [`Self::check`], for a file that is written in place.
    fn check_own(&self, name: &Name, file: &File) -> io::Result<()> {
        self.check(name, file)?;
        let names = file.metadata()?.nlink();
        if names > 1 {
            return Err(Refused::error(
                self.path_of(name),
                RefusalReason::Linked { names },
            ));
        }
        Ok(())
    }

    fn check_kind(&self, name: &Name, mode: u32) -> io::Result<()> {
        let found = kind_in(mode);
        if found == FileKind::File {
            return Ok(());
        }
        Err(Refused::error(
            self.path_of(name),
            RefusalReason::not_a_file(found),
        ))
    }

    fn longer(&self, name: &Name) -> io::Error {
        let bytes_max = name.bytes_max();
        Refused::error(self.path_of(name), RefusalReason::Longer { bytes_max })
    }

    /// Finds what is in the way on the path, if that caused the error.
    fn explain(&self, name: &Name, error: Errno, wanted: FileKind) -> io::Error {
        if !outside::is_of_kind(error) {
            return outside::io_error(error);
        }
        let places = name.as_str().match_indices('/').map(|(at, _)| at);
        for end in places.chain([name.as_str().len()]) {
            let piece = &name.as_str()[..end];
            let wanted = if end == name.as_str().len() {
                wanted
            } else {
                FileKind::Folder
            };
            let Ok(found) = rustix::fs::statat(self.fd(), piece, AtFlags::SYMLINK_NOFOLLOW) else {
                break;
            };
            let found = kind_of(FileType::from_raw_mode(found.st_mode));
            if found != wanted {
                return Refused::error(
                    self.path.join(piece),
                    RefusalReason::Kind { found, wanted },
                );
            }
        }
        outside::io_error(error)
    }

    // ---- Metadata and listing ----

    /// Returns the metadata of an entry, without following a link; `None` if there is none.
    pub(crate) fn look(&self, name: &Name) -> io::Result<Option<FileStat>> {
        let (above, last) = self.above(name)?;
        match rustix::fs::statat(above.fd(), last, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(Some(FileStat::of(&found))),
            Err(Errno::NOENT) => Ok(None),
            Err(e) => Err(outside::io_error(e)),
        }
    }

    /// Tells whether an entry exists, as far as can be told.
    pub(crate) fn has(&self, name: &Name) -> bool {
        matches!(self.look(name), Ok(Some(_)))
    }

    /// Tells whether an entry of this kind exists; another kind is refused.
    pub(crate) fn has_that_is(&self, name: &Name, wanted: FileKind) -> io::Result<bool> {
        match self.look(name)?.map(|found| found.kind) {
            None => Ok(false),
            Some(found) if found == wanted => Ok(true),
            Some(found) => {
                let what = RefusalReason::Kind { found, wanted };
                Err(Refused::error(self.path_of(name), what))
            }
        }
    }

    /// Tells whether an entry exists and has this kind.
    pub(crate) fn has_kind(&self, name: &Name, kind: FileKind) -> bool {
        matches!(self.look(name), Ok(Some(found)) if found.kind == kind)
    }

    /// Returns the inode number of a file; `None` if there is no such file.
    pub(crate) fn inode(&self, name: &Name) -> Option<u64> {
        let found = self.look(name).ok().flatten()?;
        (found.kind == FileKind::File).then_some(found.inode)
    }

    /// Lists the names of all entries.
    pub(crate) fn list(&self) -> io::Result<Vec<OsString>> {
        let mut found = Vec::new();
        let entries = match Dir::read_from(self.fd()) {
            // A folder that was removed meanwhile is empty.
            Err(Errno::NOENT) => return Ok(found),
            entries => entries?,
        };
        for entry in entries {
            let name = entry?.file_name().to_bytes().to_vec();
            if !matches!(&name[..], b"." | b"..") {
                found.push(OsString::from_vec(name));
            }
        }
        Ok(found)
    }

    /// Lists all entries with their metadata, skipping any that disappear meanwhile.
    pub(crate) fn look_at_all(&self) -> io::Result<Vec<DirEntry>> {
        let mut all = Vec::new();
        for name in self.list()? {
            match rustix::fs::statat(self.fd(), &name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(found) => all.push(DirEntry {
                    name,
                    look: FileStat::of(&found),
                }),
                Err(Errno::NOENT) => {}
                Err(e) => return Err(outside::io_error(e)),
            }
        }
        Ok(all)
    }

    /// Opens a folder found in it.
    pub(crate) fn enter(&self, found: &DirEntry) -> io::Result<Self> {
        let opened = rustix::fs::openat(self.fd(), &found.name, outside::FOLDER, Mode::empty());
        Ok(Self {
            descriptor: Arc::new(opened.map_err(outside::io_error)?),
            path: self.path.join(&found.name),
        })
    }

    /// Adds up the lengths of all files below it, in bytes.
    pub(crate) fn bytes_below(&self) -> io::Result<u64> {
        self.bytes_to(DEPTH_MAX)
    }

    fn bytes_to(&self, depth: u32) -> io::Result<u64> {
        let mut bytes = 0;
        for found in self.look_at_all()? {
            bytes += match found.look.kind {
                FileKind::Folder if depth > 0 => match self.enter(&found) {
                    Err(e) if e.kind() == io::ErrorKind::NotFound => 0,
                    below => below?.bytes_to(depth - 1)?,
                },
                _ => found.look.bytes,
            };
        }
        Ok(bytes)
    }

    /// Returns how many bytes its file system has free for this user; `None` if it does not say.
    pub(crate) fn bytes_free(&self) -> Option<u64> {
        let stat = rustix::fs::fstatvfs(self.fd()).ok()?;
        Some(stat.f_bavail.saturating_mul(stat.f_frsize))
    }

    /// Removes all permissions of group and others.
    pub(crate) fn close_to_others(&self) -> io::Result<()> {
        close_to_others(self.fd())
    }

    /// Removes all permissions of group and others from a file or folder found in it. A file with
    /// other hard links is refused.
    pub(crate) fn restrict_entry(&self, found: &DirEntry) -> io::Result<()> {
        let flags = outside::FILE | OFlags::RDONLY;
        let opened = rustix::fs::openat(self.fd(), &found.name, flags, Mode::empty())?;
        let meta = File::from(opened.try_clone()?).metadata()?;
        if meta.is_file() && meta.nlink() > 1 {
            let names = meta.nlink();
            let path = self.path.join(&found.name);
            return Err(Refused::error(path, RefusalReason::Linked { names }));
        }
        close_to_others(opened)
    }

    /// Returns its own metadata.
    pub(crate) fn look_at_itself(&self) -> io::Result<FileStat> {
        Ok(FileStat::of(&rustix::fs::fstat(self.fd())?))
    }

    /// Lists the names that `parse` accepts.
    pub(crate) fn list_of<T>(&self, parse: impl Fn(&str) -> Option<T>) -> io::Result<Vec<T>> {
        let names = self.list()?;
        Ok(names
            .iter()
            .filter_map(|name| parse(name.to_str()?))
            .collect())
    }

    // ---- Changing entries ----

    /// Opens the folder that holds the last part of a name; returns that part too.
    fn above<'a>(&self, name: &'a Name) -> io::Result<(Self, &'a str)> {
        let (above, last) = name.split();
        let Some(above) = above else {
            return Ok((self.clone(), last));
        };
        let opened = outside::folder(self.fd(), above);
        let folder = Self {
            descriptor: Arc::new(opened.map_err(|e| self.explain(name, e, FileKind::File))?),
            path: self.path.join(above),
        };
        Ok((folder, last))
    }

    /// Makes a folder in it, unless it exists.
    pub(crate) fn make_folder(&self, name: &Name, mode: u32) -> io::Result<()> {
        let (above, last) = self.above(name)?;
        match rustix::fs::mkdirat(above.fd(), last, permissions(mode)) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(e) => Err(outside::io_error(e)),
        }
    }

    /// Makes a folder in it that only the owner can enter, unless it exists, and opens it.
    pub(crate) fn make_private(&self, name: &Name) -> Result<Self> {
        let made = self.make_folder(name, 0o700);
        made.and_then(|()| self.sub(name))
            .map_err(self.fault("make", name))
    }

    /// Replaces a file atomically: a reader sees the old bytes or the new ones. Not yet durable.
    pub(crate) fn replace(&self, name: &Name, bytes: &[u8], mode: u32) -> Result<()> {
        self.put(name, bytes, mode, false)
            .map_err(self.fault("write", name))
    }

    /// Like [`Self::replace`], and durable when it returns.
    pub(crate) fn replace_durably(&self, name: &Name, bytes: &[u8], mode: u32) -> Result<()> {
        self.put(name, bytes, mode, true)
            .map_err(self.fault("write", name))?;
        self.sync()
    }

    fn put(&self, name: &Name, bytes: &[u8], mode: u32, durable: bool) -> io::Result<()> {
        let aside = Name::new_temporary();
        let written = (|| {
            let mut file = self.create_new(&aside, mode)?;
            file.write_all(bytes)?;
            if durable { file.sync_all() } else { Ok(()) }
        })();
        written
            .and_then(|()| self.rename(&aside, name))
            .inspect_err(|_| drop(self.remove(&aside)))
    }

    /// Exchanges two entries of this folder in one step.
    ///
    /// # Errors
    /// Where the system or the file system has no such call, as NFS: then nothing was changed.
    pub(crate) fn swap(&self, one: &Name, other: &Name) -> io::Result<()> {
        #[cfg(any(target_os = "linux", target_vendor = "apple"))]
        {
            use rustix::fs::{RenameFlags, renameat_with};
            let (one, other) = (one.as_str(), other.as_str());
            renameat_with(self.fd(), one, self.fd(), other, RenameFlags::EXCHANGE)
                .map_err(outside::io_error)
        }
        #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Replaces a small file atomically by exchanging it with another, which then holds the old
    /// bytes. Unlike a rename over a file, an exchange makes no file system write either one out
    /// early.
    pub(crate) fn exchange(&self, other: &Name, name: &Name, bytes: &[u8]) -> Result<()> {
        // There may be no file to exchange with, or the file system does not support it.
        self.try_exchange(other, name, bytes).or_else(|_| {
            drop(self.remove(other));
            self.replace(name, bytes, 0o644)
        })
    }

    #[cfg(target_os = "linux")]
    fn try_exchange(&self, other: &Name, name: &Name, bytes: &[u8]) -> io::Result<()> {
        use std::os::unix::fs::FileExt;

        use rustix::fs::{RenameFlags, renameat_with};
        // A foreign file is removed, and never written through.
        let file = self.open_or_make(other, 0o644).or_else(|_| {
            self.remove(other)?;
            self.create_new(other, 0o644)
        })?;
        file.write_all_at(bytes, 0)?;
        file.set_len(bytes.len() as u64)?;
        let (above, last) = self.above(name)?;
        renameat_with(
            self.fd(),
            other.as_str(),
            above.fd(),
            last,
            RenameFlags::EXCHANGE,
        )?;
        Ok(())
    }

    #[cfg(not(target_os = "linux"))]
    fn try_exchange(&self, _: &Name, _: &Name, _: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Renames a file or folder, replacing the target.
    pub(crate) fn rename(&self, from: &Name, to: &Name) -> io::Result<()> {
        self.rename_into(from, self, to)
    }

    /// Renames a file or folder into another folder.
    pub(crate) fn rename_into(&self, from: &Name, folder: &Self, to: &Name) -> io::Result<()> {
        let (above, last) = self.above(from)?;
        let (to_above, to_last) = folder.above(to)?;
        rustix::fs::renameat(above.fd(), last, to_above.fd(), to_last)
            .map_err(|e| folder.explain(to, e, FileKind::File))
    }

    /// Renames a folder to the name that a person chose, in another folder.
    pub(crate) fn rename_out(&self, from: &Name, above: &Self, to: &OsStr) -> io::Result<()> {
        rustix::fs::renameat(self.fd(), from.as_str(), above.fd(), to).map_err(outside::io_error)
    }

    /// Reverts [`Self::rename_out`].
    pub(crate) fn rename_back(&self, from: &OsStr, to: &Name) -> io::Result<()> {
        rustix::fs::renameat(self.fd(), from, self.fd(), to.as_str()).map_err(outside::io_error)
    }

    /// Adds a hard link to a file; the new name must be free.
    pub(super) fn link(&self, from: &Name, to: &Name) -> io::Result<()> {
        let (from, to) = (from.as_str(), to.as_str());
        rustix::fs::linkat(self.fd(), from, self.fd(), to, AtFlags::empty())
            .map_err(outside::io_error)
    }

    /// Removes a file or a link, but not a folder.
    pub(crate) fn remove(&self, name: &Name) -> io::Result<()> {
        self.unlink(name, AtFlags::empty())
    }

    /// Removes an empty folder.
    pub(crate) fn remove_folder(&self, name: &Name) -> io::Result<()> {
        self.unlink(name, AtFlags::REMOVEDIR)
    }

    /// Removes a folder in it with everything below, whatever its names are. A link is removed, and
    /// never followed. A missing folder is not an error.
    pub(crate) fn remove_tree(&self, name: &Name) -> io::Result<()> {
        match self.sub(name) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            folder => folder?.clear(DEPTH_MAX)?,
        }
        self.remove_folder(name)
    }

    fn clear(&self, depth: u32) -> io::Result<()> {
        for found in self.look_at_all()? {
            let is_folder = found.look.kind == FileKind::Folder && depth > 0;
            let flags = if is_folder {
                self.enter(&found)?.clear(depth - 1)?;
                AtFlags::REMOVEDIR
            } else {
                AtFlags::empty()
            };
            rustix::fs::unlinkat(self.fd(), &found.name, flags).map_err(outside::io_error)?;
        }
        Ok(())
    }

    fn unlink(&self, name: &Name, flags: AtFlags) -> io::Result<()> {
        let (above, last) = self.above(name)?;
        rustix::fs::unlinkat(above.fd(), last, flags).map_err(outside::io_error)
    }

    /// Removes temporary files of killed processes. The caller holds the lock, so none is in use.
    /// Failures are harmless.
    pub(crate) fn remove_temporary_files(&self) {
        for aside in self.list_of(Name::temporary).unwrap_or_default() {
            drop(self.remove(&aside));
        }
    }

    /// Makes the names in it durable (fsync).
    pub(crate) fn sync(&self) -> Result<()> {
        self.sync_names().map_err(Error::io("sync", &self.path))
    }

    /// Like [`Self::sync`], with the raw error.
    pub(crate) fn sync_names(&self) -> io::Result<()> {
        rustix::fs::fsync(self.fd()).map_err(outside::io_error)
    }

    /// Makes a file in it durable, even if another process wrote it.
    pub(crate) fn sync_file(&self, name: &Name) -> io::Result<()> {
        self.open_read(name)?.sync_all()
    }

    /// Makes every file and name below it durable, one by one.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn sync_file_system(&self) -> Result<()> {
        let fault = || Error::io("sync", &self.path);
        for found in self.look_at_all().map_err(fault())? {
            match found.look.kind {
                FileKind::Folder => self.enter(&found).map_err(fault())?.sync_file_system()?,
                FileKind::File => {
                    let flags = outside::FILE | OFlags::RDONLY;
                    let file = rustix::fs::openat(self.fd(), &found.name, flags, Mode::empty());
                    let synced = file.and_then(rustix::fs::fsync).map_err(outside::io_error);
                    synced.map_err(fault())?;
                }
                _ => {}
            }
        }
        self.sync()
    }

    /// Makes everything written to its file system so far durable (`syncfs`).
    #[cfg(target_os = "linux")]
    pub(crate) fn sync_file_system(&self) -> Result<()> {
        rustix::fs::syncfs(self.fd())
            .map_err(outside::io_error)
            .map_err(Error::io("sync", &self.path))
    }
}

fn close_to_others(opened: impl AsFd) -> io::Result<()> {
    let mode = Mode::from_raw_mode(rustix::fs::fstat(&opened)?.st_mode);
    rustix::fs::fchmod(opened, mode & Mode::RWXU).map_err(outside::io_error)
}

/// Converts permission bits, for which some systems have fewer bits than others.
fn permissions(mode: u32) -> Mode {
    Mode::from_raw_mode(mode as RawMode)
}

/// Returns the file type in a mode, as the standard library gives it.
pub(super) fn kind_in(mode: u32) -> FileKind {
    kind_of(FileType::from_raw_mode(mode as RawMode))
}

/// Converts a file type.
fn kind_of(found: FileType) -> FileKind {
    match found {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Folder,
        FileType::Symlink => FileKind::Link,
        FileType::Fifo => FileKind::Pipe,
        FileType::Socket => FileKind::Socket,
        _ => FileKind::Device,
    }
}
