//! An open folder, and what is done with the files in it: always by a [`Name`], never by a path.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::name::Name;
use crate::disk::outside;
use crate::error::refused::{Kind, Refused, What};
use crate::error::{Error, Result};

/// A folder that is open: a file in it is a file in this folder, whatever becomes of the path.
///
/// No link below it is followed, and nothing is opened but files that are no longer than the format
/// allows. What is refused is an error that [`Error::io`] makes [`Error::Damaged`].
#[derive(Clone)]
pub(crate) struct Folder {
    descriptor: Arc<OwnedFd>,
    /// Where it was opened, for messages.
    path: PathBuf,
}

/// What stands in a folder under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) kind: Kind,
    pub(crate) bytes: u64,
    /// Unlike that of any other file there is.
    pub(crate) inode: u64,
    pub(crate) changed: SystemTime,
    /// What who may do with it.
    pub(crate) mode: u32,
    pub(crate) owner: u32,
}

/// Something in a folder, whatever it is called: it can be looked at, and not opened as a file.
pub(crate) struct Found {
    pub(crate) name: OsString,
    pub(crate) look: Look,
}

/// So deep below a folder nothing of a store is.
const DEPTH_MAX: u32 = 32;
/// What is only for the owner.
const OTHERS: u32 = 0o077;

impl Look {
    /// Whether others can use it.
    pub(crate) fn is_open_to_others(&self) -> bool {
        self.mode & OTHERS != 0
    }

    fn of(found: &Stat) -> Self {
        let seconds = u64::try_from(found.st_mtime).unwrap_or(0);
        let nanoseconds = u32::try_from(found.st_mtime_nsec).unwrap_or(0);
        Self {
            kind: kind_of(FileType::from_raw_mode(found.st_mode)),
            bytes: u64::try_from(found.st_size).unwrap_or(0),
            inode: found.st_ino,
            changed: SystemTime::UNIX_EPOCH + Duration::new(seconds, nanoseconds),
            mode: Mode::from_raw_mode(found.st_mode).bits(),
            owner: found.st_uid,
        }
    }
}

impl Folder {
    /// Opens the folder at a path that a person or the policy named. Links on the way to it are
    /// whose path it is.
    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        Self::opened(path, OFlags::empty())
    }

    /// The same, where no link leads from the last folder on the way to it.
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

    /// Opens a folder in it.
    pub(crate) fn sub(&self, name: &Name) -> io::Result<Self> {
        let opened = outside::folder(self.fd(), name.as_str());
        Ok(Self {
            descriptor: Arc::new(opened.map_err(|e| self.explain(name, e, Kind::Folder))?),
            path: self.path_of(name),
        })
    }

    /// The same folder, opened once more: a lock on the one is none on the other.
    pub(super) fn again(&self) -> io::Result<Self> {
        let opened = outside::folder(self.fd(), ".").map_err(outside::io_error)?;
        Ok(Self {
            descriptor: Arc::new(opened),
            path: self.path.clone(),
        })
    }

    /// The folder that is at its path now, opened once more; and once again, where it is another.
    pub(super) fn at_its_path(&self) -> io::Result<(Self, Option<Self>)> {
        let now = Self::at(&self.path)?;
        let moved = if now.is(self)? {
            None
        } else {
            Some(now.again()?)
        };
        Ok((now, moved))
    }

    /// Its descriptor, as the standard library has it.
    pub(super) fn into_file(self) -> io::Result<File> {
        Ok(match Arc::try_unwrap(self.descriptor) {
            Ok(owned) => owned.into(),
            Err(shared) => shared.try_clone()?.into(),
        })
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }

    /// Where it was opened. For messages, and for other processes.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What a file in it is called in messages.
    pub(crate) fn path_of(&self, name: &Name) -> PathBuf {
        self.path.join(name.as_str())
    }

    /// What an error in doing something with a file in it is.
    pub(crate) fn fault(
        &self,
        doing: &'static str,
        name: &Name,
    ) -> impl FnOnce(io::Error) -> Error + use<> {
        Error::io(doing, &self.path_of(name))
    }

    /// Whether it is the same folder as another, by whatever path.
    pub(crate) fn is(&self, other: &Self) -> io::Result<bool> {
        let number = |folder: &Self| -> io::Result<_> {
            let found = rustix::fs::fstat(folder.fd())?;
            Ok((found.st_dev, found.st_ino))
        };
        Ok(number(self)? == number(other)?)
    }

    // ---- Opening files ----

    /// Opens a file to be read.
    pub(crate) fn open_read(&self, name: &Name) -> io::Result<File> {
        let file = self.open(name, OFlags::RDONLY, 0)?;
        self.check(name, &file)?;
        Ok(file)
    }

    /// Opens a file that is written in place. One that has other names too is refused: it would
    /// change a file elsewhere.
    pub(crate) fn open_write(&self, name: &Name) -> io::Result<File> {
        let file = self.open(name, OFlags::RDWR, 0)?;
        self.check_own(name, &file)?;
        Ok(file)
    }

    /// As [`Self::open_write`], and makes the file if there is none.
    pub(crate) fn open_or_make(&self, name: &Name, mode: u32) -> io::Result<File> {
        let file = self.open(name, OFlags::RDWR | OFlags::CREATE, mode)?;
        self.check_own(name, &file)?;
        Ok(file)
    }

    /// As [`Self::open_write`]; where it cannot be written, opens it to be read, and answers why, as
    /// the operating system's error number.
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

    /// Makes a file that must not be there yet, and opens it.
    pub(crate) fn create_new(&self, name: &Name, mode: u32) -> io::Result<File> {
        self.open(name, OFlags::RDWR | OFlags::CREATE | OFlags::EXCL, mode)
    }

    /// Everything in a file.
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
        let mode = Mode::from_raw_mode(mode);
        outside::file(self.fd(), name.as_str(), flags, mode)
            .map_err(|e| self.explain(name, e, Kind::File))
    }

    /// Refuses what is no file, or too long; answers its length.
    fn check(&self, name: &Name, file: &File) -> io::Result<u64> {
        let found = file.metadata()?;
        self.check_kind(name, found.mode())?;
        if found.len() > name.bytes_max() {
            return Err(self.longer(name));
        }
        Ok(found.len())
    }

    /// As [`Self::check`], for a file that is written in place.
    fn check_own(&self, name: &Name, file: &File) -> io::Result<()> {
        self.check(name, file)?;
        let names = file.metadata()?.nlink();
        if names > 1 {
            return Err(Refused::error(self.path_of(name), What::Linked { names }));
        }
        Ok(())
    }

    fn check_kind(&self, name: &Name, mode: u32) -> io::Result<()> {
        let found = kind_of(FileType::from_raw_mode(mode));
        if found == Kind::File {
            return Ok(());
        }
        Err(Refused::error(self.path_of(name), What::not_a_file(found)))
    }

    fn longer(&self, name: &Name) -> io::Error {
        let bytes_max = name.bytes_max();
        Refused::error(self.path_of(name), What::Longer { bytes_max })
    }

    /// Says what stands in the way, where that is what an error came of.
    fn explain(&self, name: &Name, error: Errno, wanted: Kind) -> io::Error {
        if !outside::is_of_kind(error) {
            return outside::io_error(error);
        }
        let places = name.as_str().match_indices('/').map(|(at, _)| at);
        for end in places.chain([name.as_str().len()]) {
            let piece = &name.as_str()[..end];
            let wanted = if end == name.as_str().len() {
                wanted
            } else {
                Kind::Folder
            };
            let Ok(found) = rustix::fs::statat(self.fd(), piece, AtFlags::SYMLINK_NOFOLLOW) else {
                break;
            };
            let found = kind_of(FileType::from_raw_mode(found.st_mode));
            if found != wanted {
                return Refused::error(self.path.join(piece), What::Kind { found, wanted });
            }
        }
        outside::io_error(error)
    }

    // ---- Looking ----

    /// What stands under a name; a link counts as itself. `None` if there is nothing.
    pub(crate) fn look(&self, name: &Name) -> io::Result<Option<Look>> {
        let (above, last) = self.above(name)?;
        match rustix::fs::statat(above.fd(), last, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(Some(Look::of(&found))),
            Err(Errno::NOENT) => Ok(None),
            Err(e) => Err(outside::io_error(e)),
        }
    }

    /// Whether anything at all stands under a name, as far as that can be told.
    pub(crate) fn has(&self, name: &Name) -> bool {
        matches!(self.look(name), Ok(Some(_)))
    }

    /// Whether something stands under a name; what is no such thing is refused.
    pub(crate) fn has_that_is(&self, name: &Name, wanted: Kind) -> io::Result<bool> {
        match self.look(name)?.map(|found| found.kind) {
            None => Ok(false),
            Some(found) if found == wanted => Ok(true),
            Some(found) => {
                let what = What::Kind { found, wanted };
                Err(Refused::error(self.path_of(name), what))
            }
        }
    }

    /// Whether a file stands under a name, or a folder.
    pub(crate) fn has_kind(&self, name: &Name, kind: Kind) -> bool {
        matches!(self.look(name), Ok(Some(found)) if found.kind == kind)
    }

    /// The number of the file under a name, unlike that of any other; `None` if there is none.
    pub(crate) fn inode(&self, name: &Name) -> Option<u64> {
        let found = self.look(name).ok().flatten()?;
        (found.kind == Kind::File).then_some(found.inode)
    }

    /// Everything that stands in it, whatever it is called.
    pub(crate) fn list(&self) -> io::Result<Vec<OsString>> {
        let mut found = Vec::new();
        let entries = match Dir::read_from(self.fd()) {
            // In one that was removed meanwhile there is nothing.
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

    /// Everything that stands in it, with what it is. What is gone meanwhile is passed over.
    pub(crate) fn look_at_all(&self) -> io::Result<Vec<Found>> {
        let mut all = Vec::new();
        for name in self.list()? {
            match rustix::fs::statat(self.fd(), &name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(found) => all.push(Found {
                    name,
                    look: Look::of(&found),
                }),
                Err(Errno::NOENT) => {}
                Err(e) => return Err(outside::io_error(e)),
            }
        }
        Ok(all)
    }

    /// Opens a folder that was found in it.
    pub(crate) fn enter(&self, found: &Found) -> io::Result<Self> {
        let opened = rustix::fs::openat(self.fd(), &found.name, outside::FOLDER, Mode::empty());
        Ok(Self {
            descriptor: Arc::new(opened.map_err(outside::io_error)?),
            path: self.path.join(&found.name),
        })
    }

    /// What all files below it have in bytes, as their lengths say.
    pub(crate) fn bytes_below(&self) -> io::Result<u64> {
        self.bytes_to(DEPTH_MAX)
    }

    fn bytes_to(&self, depth: u32) -> io::Result<u64> {
        let mut bytes = 0;
        for found in self.look_at_all()? {
            bytes += match found.look.kind {
                Kind::Folder if depth > 0 => match self.enter(&found) {
                    Err(e) if e.kind() == io::ErrorKind::NotFound => 0,
                    below => below?.bytes_to(depth - 1)?,
                },
                _ => found.look.bytes,
            };
        }
        Ok(bytes)
    }

    /// Takes away what others may do with it.
    pub(crate) fn close_to_others(&self) -> io::Result<()> {
        close_to_others(self.fd())
    }

    /// Takes away what others may do with a file or folder that was found in it. What is neither is
    /// left as it is, and so is a file that is one elsewhere too.
    pub(crate) fn close_found(&self, found: &Found) -> io::Result<()> {
        let flags = outside::FILE | OFlags::RDONLY;
        let opened = rustix::fs::openat(self.fd(), &found.name, flags, Mode::empty())?;
        let meta = File::from(opened.try_clone()?).metadata()?;
        if meta.is_file() && meta.nlink() > 1 {
            let names = meta.nlink();
            let path = self.path.join(&found.name);
            return Err(Refused::error(path, What::Linked { names }));
        }
        close_to_others(opened)
    }

    /// What it is itself.
    pub(crate) fn look_at_itself(&self) -> io::Result<Look> {
        Ok(Look::of(&rustix::fs::fstat(self.fd())?))
    }

    /// The names in it that `parse` knows.
    pub(crate) fn list_of<T>(&self, parse: impl Fn(&str) -> Option<T>) -> io::Result<Vec<T>> {
        let names = self.list()?;
        Ok(names
            .iter()
            .filter_map(|name| parse(name.to_str()?))
            .collect())
    }

    // ---- Changing what is in it ----

    /// The folder that a name's last part is in, and that part.
    fn above<'a>(&self, name: &'a Name) -> io::Result<(Self, &'a str)> {
        let (above, last) = name.split();
        let Some(above) = above else {
            return Ok((self.clone(), last));
        };
        let opened = outside::folder(self.fd(), above);
        let folder = Self {
            descriptor: Arc::new(opened.map_err(|e| self.explain(name, e, Kind::File))?),
            path: self.path.join(above),
        };
        Ok((folder, last))
    }

    /// Makes a folder in it, if there is none.
    pub(crate) fn make_folder(&self, name: &Name, mode: u32) -> io::Result<()> {
        let (above, last) = self.above(name)?;
        match rustix::fs::mkdirat(above.fd(), last, Mode::from_raw_mode(mode)) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(e) => Err(outside::io_error(e)),
        }
    }

    /// Puts a file in place whole: a reader sees the old bytes or the new ones. Not yet durable.
    pub(crate) fn replace(&self, name: &Name, bytes: &[u8], mode: u32) -> Result<()> {
        self.put(name, bytes, mode, false)
            .map_err(self.fault("write", name))
    }

    /// As [`Self::replace`], and durable when it returns.
    pub(crate) fn replace_durably(&self, name: &Name, bytes: &[u8], mode: u32) -> Result<()> {
        self.put(name, bytes, mode, true)
            .map_err(self.fault("write", name))?;
        self.sync()
    }

    fn put(&self, name: &Name, bytes: &[u8], mode: u32, durable: bool) -> io::Result<()> {
        let aside = Name::new_aside();
        let written = (|| {
            let mut file = self.create_new(&aside, mode)?;
            file.write_all(bytes)?;
            if durable { file.sync_all() } else { Ok(()) }
        })();
        written
            .and_then(|()| self.rename(&aside, name))
            .inspect_err(|_| drop(self.remove(&aside)))
    }

    /// Puts a small file in place whole by exchanging it with another, which then holds what was
    /// there. Unlike a rename over a file, that makes no file system hurry to write either.
    pub(crate) fn exchange(&self, other: &Name, name: &Name, bytes: &[u8]) -> Result<()> {
        // There is nothing yet to exchange it with, or the file system does not know how to.
        self.try_exchange(other, name, bytes).or_else(|_| {
            drop(self.remove(other));
            self.replace(name, bytes, 0o644)
        })
    }

    #[cfg(target_os = "linux")]
    fn try_exchange(&self, other: &Name, name: &Name, bytes: &[u8]) -> io::Result<()> {
        use rustix::fs::{RenameFlags, renameat_with};
        // What is none of ours is thrown away, and never written through.
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

    /// Gives a file or folder another name, in place of what has that.
    pub(crate) fn rename(&self, from: &Name, to: &Name) -> io::Result<()> {
        self.rename_into(from, self, to)
    }

    /// Gives a file or folder a name in another folder.
    pub(crate) fn rename_into(&self, from: &Name, folder: &Self, to: &Name) -> io::Result<()> {
        let (above, last) = self.above(from)?;
        let (to_above, to_last) = folder.above(to)?;
        rustix::fs::renameat(above.fd(), last, to_above.fd(), to_last)
            .map_err(|e| folder.explain(to, e, Kind::File))
    }

    /// Gives a folder the name that a person chose for it.
    pub(crate) fn rename_out(&self, from: &Name, to: &OsStr) -> io::Result<()> {
        rustix::fs::renameat(self.fd(), from.as_str(), self.fd(), to).map_err(outside::io_error)
    }

    /// Takes that back.
    pub(crate) fn rename_back(&self, from: &OsStr, to: &Name) -> io::Result<()> {
        rustix::fs::renameat(self.fd(), from, self.fd(), to.as_str()).map_err(outside::io_error)
    }

    /// Gives a file one more name, which nothing may have.
    pub(super) fn link(&self, from: &Name, to: &Name) -> io::Result<()> {
        let (from, to) = (from.as_str(), to.as_str());
        rustix::fs::linkat(self.fd(), from, self.fd(), to, AtFlags::empty())
            .map_err(outside::io_error)
    }

    /// Removes a file, or a link, but not a folder.
    pub(crate) fn remove(&self, name: &Name) -> io::Result<()> {
        self.unlink(name, AtFlags::empty())
    }

    /// Removes a folder that is empty.
    pub(crate) fn remove_folder(&self, name: &Name) -> io::Result<()> {
        self.unlink(name, AtFlags::REMOVEDIR)
    }

    fn unlink(&self, name: &Name, flags: AtFlags) -> io::Result<()> {
        let (above, last) = self.above(name)?;
        rustix::fs::unlinkat(above.fd(), last, flags).map_err(outside::io_error)
    }

    /// Removes what a process that was killed left aside. Called with the lock held, so that nobody
    /// is about to use it; what cannot be removed does no harm.
    pub(crate) fn remove_asides(&self) {
        for aside in self.list_of(Name::aside).unwrap_or_default() {
            drop(self.remove(&aside));
        }
    }

    /// Makes the names in it durable.
    pub(crate) fn sync(&self) -> Result<()> {
        self.sync_names().map_err(Error::io("sync", &self.path))
    }

    /// As [`Self::sync`], where the error is told otherwise.
    pub(crate) fn sync_names(&self) -> io::Result<()> {
        rustix::fs::fsync(self.fd()).map_err(outside::io_error)
    }

    /// Makes a file in it durable, whoever wrote it.
    pub(crate) fn sync_file(&self, name: &Name) -> io::Result<()> {
        self.open_read(name)?.sync_all()
    }

    /// Makes every file and name below it durable, one by one.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn sync_file_system(&self) -> Result<()> {
        let fault = || Error::io("sync", &self.path);
        for found in self.look_at_all().map_err(fault())? {
            match found.look.kind {
                Kind::Folder => self.enter(&found).map_err(fault())?.sync_file_system()?,
                Kind::File => {
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

    /// Makes everything written to its file system so far durable.
    #[cfg(target_os = "linux")]
    pub(crate) fn sync_file_system(&self) -> Result<()> {
        rustix::fs::syncfs(self.fd())
            .map_err(outside::io_error)
            .map_err(Error::io("sync", &self.path))
    }
}

fn close_to_others(opened: impl AsFd) -> io::Result<()> {
    let mode = Look::of(&rustix::fs::fstat(&opened)?).mode;
    let private = Mode::from_raw_mode(mode & 0o777 & !OTHERS);
    rustix::fs::fchmod(opened, private).map_err(outside::io_error)
}

/// The kind of thing that the system says is there.
pub(super) fn kind_of(found: FileType) -> Kind {
    match found {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Folder,
        FileType::Symlink => Kind::Link,
        FileType::Fifo => Kind::Pipe,
        FileType::Socket => Kind::Socket,
        _ => Kind::Device,
    }
}
