//! Folders outside the store, by open descriptors: a name in one is never followed to where a link
//! leads, whatever it is swapped for meanwhile.

use std::ffi::OsStr;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

const NEVER_FOLLOWED: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC);
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);

/// An open folder.
pub(super) struct Folder(OwnedFd);

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
    Link,
    /// Neither text nor a place for it: said in words.
    Other(&'static str),
}

/// What a folder is, however it is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Itself(u64, u64);

impl Folder {
    /// Opens a folder that somebody named: links on the way are theirs to follow.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(fs::open(
            path,
            FOLDER | OFlags::CLOEXEC,
            Mode::empty(),
        )?))
    }

    /// Opens a folder in this one.
    pub(super) fn folder(&self, name: &OsStr) -> io::Result<Self> {
        let flags = FOLDER | NEVER_FOLLOWED;
        let opened = fs::openat(&self.0, name, flags, Mode::empty());
        Ok(Self(opened.map_err(in_words)?))
    }

    /// The names in it, in the order of their bytes.
    pub(super) fn names(&self) -> io::Result<Vec<OsString>> {
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

    /// What a name in it stands for.
    pub(super) fn kind(&self, name: &OsStr) -> io::Result<Kind> {
        let stat = fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(kind(&stat))
    }

    /// Opens a file in it to read, and says how long it is; what is no file is an error, and
    /// nothing is waited for.
    pub(super) fn file(&self, name: &OsStr) -> io::Result<(File, u64)> {
        // Opening a device can do something to it, so it is asked first what it is.
        if let Kind::Other(what) = self.kind(name)? {
            return Err(io::Error::other(what));
        }
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | NEVER_FOLLOWED;
        let file = fs::openat(&self.0, name, flags, Mode::empty()).map_err(in_words)?;
        let stat = fs::fstat(&file)?;
        match kind(&stat) {
            Kind::File => Ok((file.into(), u64::try_from(stat.st_size).unwrap_or(u64::MAX))),
            Kind::Other(what) => Err(io::Error::other(what)),
            Kind::Folder | Kind::Link => Err(io::Error::other("no file")),
        }
    }

    /// Makes a folder in it for its owner alone.
    pub(super) fn make_folder(&self, name: &OsStr) -> io::Result<Self> {
        fs::mkdirat(&self.0, name, Mode::RWXU)?;
        self.folder(name)
    }

    /// Closes it to all but its owner.
    pub(super) fn make_private(&self) -> io::Result<()> {
        Ok(fs::fchmod(&self.0, Mode::RWXU)?)
    }

    /// Makes a file in it for its owner alone.
    pub(super) fn make_file(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | NEVER_FOLLOWED;
        // What `sync` makes durable at once elsewhere.
        #[cfg(not(target_os = "linux"))]
        let flags = flags | OFlags::SYNC;
        let file = fs::openat(&self.0, name, flags, Mode::RUSR | Mode::WUSR)?;
        Ok(file.into())
    }

    /// Gives what is in it another name: a folder may take the place of an empty one.
    pub(super) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(fs::renameat(&self.0, from, &self.0, to)?)
    }

    /// Gives what is in it another name, which has to be free.
    pub(super) fn rename_to_free(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.take(self, from, to)
    }

    /// Takes over what is in another folder of the same file system; the name has to be free.
    pub(super) fn take(&self, other: &Self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        match fs::renameat_with(&other.0, from, &self.0, to, fs::RenameFlags::NOREPLACE) {
            // Not every file system can.
            Err(Errno::INVAL | Errno::NOSYS) => {}
            done => return Ok(done?),
        }
        match self.kind(to) {
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => Ok(fs::renameat(&other.0, from, &self.0, to)?),
        }
    }

    /// Makes everything written to its file system so far durable.
    pub(super) fn sync(&self) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        fs::syncfs(&self.0)?;
        self.sync_names()
    }

    /// Makes the names in it durable.
    pub(super) fn sync_names(&self) -> io::Result<()> {
        Ok(fs::fsync(&self.0)?)
    }

    /// Removes what a name stands for, with everything in it.
    pub(super) fn remove(&self, name: &OsStr) -> io::Result<()> {
        if self.kind(name)? != Kind::Folder {
            return Ok(fs::unlinkat(&self.0, name, AtFlags::empty())?);
        }
        let below = self.folder(name)?;
        for name in below.names()? {
            below.remove(&name)?;
        }
        Ok(fs::unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }

    /// What it is, to be compared with others.
    pub(super) fn itself(&self) -> io::Result<Itself> {
        let stat = fs::fstat(&self.0)?;
        Ok(Itself(stat.st_dev, stat.st_ino))
    }

    /// Takes a lock on it that lasts as long as this; `false` where another process has it.
    pub(super) fn try_lock(&self) -> bool {
        try_lock(&self.0)
    }
}

/// What somebody named, open.
pub(super) enum Opened {
    Folder(Folder),
    File(File),
}

/// Opens what somebody named, be it a folder or a file; anything else is an error.
pub(super) fn open(path: &Path) -> io::Result<Opened> {
    if let Kind::Other(what) = kind(&fs::stat(path)?) {
        return Err(io::Error::other(what));
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = fs::open(path, flags, Mode::empty())?;
    match kind(&fs::fstat(&opened)?) {
        Kind::File => Ok(Opened::File(opened.into())),
        Kind::Folder => Ok(Opened::Folder(Folder(opened))),
        Kind::Other(what) => Err(io::Error::other(what)),
        Kind::Link => Err(io::Error::other("a symbolic link")),
    }
}

/// Takes a lock on an open file or folder; `false` where another process has it.
pub(super) fn try_lock(file: impl std::os::fd::AsFd) -> bool {
    let how = fs::FlockOperation::NonBlockingLockExclusive;
    fs::flock(file, how) != Err(Errno::WOULDBLOCK)
}

/// What the kernel says of a link that is not to be followed, also of one to a folder.
fn in_words(errno: Errno) -> io::Error {
    match errno {
        Errno::LOOP | Errno::NOTDIR => io::Error::other("a symbolic link since it was listed"),
        errno => errno.into(),
    }
}

fn kind(stat: &Stat) -> Kind {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Folder,
        FileType::Symlink => Kind::Link,
        FileType::Fifo => Kind::Other("a FIFO"),
        FileType::Socket => Kind::Other("a socket"),
        FileType::CharacterDevice | FileType::BlockDevice => Kind::Other("a device"),
        FileType::Unknown => Kind::Other("no file"),
    }
}
