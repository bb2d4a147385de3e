//! Folders outside the store, by open descriptors. A name in one is never followed through a link,
//! even if it is swapped for one meanwhile.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{self, AtFlags, Dev, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

const NEVER_FOLLOWED: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC);
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);

/// An open folder.
pub(crate) struct UserFolder(OwnedFd);

/// The kind of thing that a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    File,
    Folder,
    Link,
    /// Neither a file, a folder nor a link: its kind in words.
    Other(&'static str),
}

/// The identity of a folder, by whatever path it is reached: its device and inode numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Itself(Dev, u64);

impl UserFolder {
    /// Opens a folder that the caller named; links on the way are followed.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(fs::open(
            path,
            FOLDER | OFlags::CLOEXEC,
            Mode::empty(),
        )?))
    }

    /// Opens a folder in this one.
    pub(crate) fn folder(&self, name: &OsStr) -> io::Result<Self> {
        let flags = FOLDER | NEVER_FOLLOWED;
        let opened = fs::openat(&self.0, name, flags, Mode::empty());
        Ok(Self(opened.map_err(in_words)?))
    }

    /// Lists the names in it, in the order of their bytes.
    pub(crate) fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in fs::Dir::read_from(&self.0)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name != "." && name != ".." {
                names.push(name.to_owned());
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Returns the kind of thing that a name in it stands for.
    pub(crate) fn kind(&self, name: &OsStr) -> io::Result<EntryKind> {
        let stat = fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(kind(&stat))
    }

    /// Opens a file in it for reading, without blocking, and returns it with its length in bytes.
    /// Anything but a file is an error.
    pub(crate) fn file(&self, name: &OsStr) -> io::Result<(File, u64)> {
        // Opening a device can have effects, so its kind is checked first.
        if let EntryKind::Other(what) = self.kind(name)? {
            return Err(io::Error::other(what));
        }
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | NEVER_FOLLOWED;
        let file = fs::openat(&self.0, name, flags, Mode::empty()).map_err(in_words)?;
        let stat = fs::fstat(&file)?;
        match kind(&stat) {
            EntryKind::File => Ok((file.into(), u64::try_from(stat.st_size).unwrap_or(u64::MAX))),
            EntryKind::Other(what) => Err(io::Error::other(what)),
            EntryKind::Folder | EntryKind::Link => Err(io::Error::other("no file")),
        }
    }

    /// Makes a folder in it for its owner alone.
    pub(crate) fn make_folder(&self, name: &OsStr) -> io::Result<Self> {
        fs::mkdirat(&self.0, name, Mode::RWXU)?;
        self.folder(name)
    }

    /// Makes it private to its owner.
    pub(crate) fn make_private(&self) -> io::Result<()> {
        Ok(fs::fchmod(&self.0, Mode::RWXU)?)
    }

    /// Makes a file in it for its owner alone.
    pub(crate) fn make_file(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | NEVER_FOLLOWED;
        // On Linux `sync` makes all files durable at once; elsewhere each write is durable by
        // itself.
        #[cfg(not(target_os = "linux"))]
        let flags = flags | OFlags::SYNC;
        let file = fs::openat(&self.0, name, flags, Mode::RUSR | Mode::WUSR)?;
        Ok(file.into())
    }

    /// Renames an entry of it; a folder may replace an empty one.
    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(fs::renameat(&self.0, from, &self.0, to)?)
    }

    /// Moves an entry of this folder, or another of the same file system, into it; the new name has to
    /// be free.
    pub(crate) fn take(&self, other: &Self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        match fs::renameat_with(&other.0, from, &self.0, to, fs::RenameFlags::NOREPLACE) {
            // Not every file system supports this.
            Err(Errno::INVAL | Errno::NOSYS) => {}
            done => return Ok(done?),
        }
        match self.kind(to) {
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => Ok(fs::renameat(&other.0, from, &self.0, to)?),
        }
    }

    /// Makes everything written to its file system so far durable.
    pub(crate) fn sync(&self) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        fs::syncfs(&self.0)?;
        self.sync_names()
    }

    /// Makes the names in it durable.
    pub(crate) fn sync_names(&self) -> io::Result<()> {
        Ok(fs::fsync(&self.0)?)
    }

    /// Removes an entry of it, with everything in it.
    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        if self.kind(name)? != EntryKind::Folder {
            return Ok(fs::unlinkat(&self.0, name, AtFlags::empty())?);
        }
        let below = self.folder(name)?;
        for name in below.names()? {
            below.remove(&name)?;
        }
        Ok(fs::unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }

    /// Returns its identity, to compare it with other folders.
    pub(crate) fn itself(&self) -> io::Result<Itself> {
        let stat = fs::fstat(&self.0)?;
        Ok(Itself(stat.st_dev, stat.st_ino))
    }

    /// Takes a lock on it that lasts as long as this value; `false` if another process holds it.
    pub(crate) fn try_lock(&self) -> bool {
        try_lock(&self.0)
    }
}

/// A file or folder that the caller named, open.
pub(crate) enum OpenedPath {
    Folder(UserFolder),
    File(File),
}

/// Opens a file or folder that the caller named; anything else is an error.
pub(crate) fn open(path: &Path) -> io::Result<OpenedPath> {
    if let EntryKind::Other(what) = kind(&fs::stat(path)?) {
        return Err(io::Error::other(what));
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = fs::open(path, flags, Mode::empty())?;
    match kind(&fs::fstat(&opened)?) {
        EntryKind::File => Ok(OpenedPath::File(opened.into())),
        EntryKind::Folder => Ok(OpenedPath::Folder(UserFolder(opened))),
        EntryKind::Other(what) => Err(io::Error::other(what)),
        EntryKind::Link => Err(io::Error::other("a symbolic link")),
    }
}

/// Takes a lock on an open file or folder; `false` if another process holds it.
pub(crate) fn try_lock(file: impl std::os::fd::AsFd) -> bool {
    let how = fs::FlockOperation::NonBlockingLockExclusive;
    fs::flock(file, how) != Err(Errno::WOULDBLOCK)
}

/// Explains the kernel's error for a link that is not to be followed, also for one to a folder.
fn in_words(errno: Errno) -> io::Error {
    match errno {
        Errno::LOOP | Errno::NOTDIR => io::Error::other("a symbolic link since it was listed"),
        errno => errno.into(),
    }
}

fn kind(stat: &Stat) -> EntryKind {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Folder,
        FileType::Symlink => EntryKind::Link,
        FileType::Fifo => EntryKind::Other("a FIFO"),
        FileType::Socket => EntryKind::Other("a socket"),
        FileType::CharacterDevice | FileType::BlockDevice => EntryKind::Other("a device"),
        FileType::Unknown => EntryKind::Other("no file"),
    }
}
