//! Refused files: foreign things in the place of a store's file, which are reported and not opened.

use std::path::{Path, PathBuf};
use std::{fmt, io};

/// A thing in the place of a file or folder of the format that is not used.
#[derive(Debug)]
pub(crate) struct Refused {
    path: PathBuf,
    what: RefusalReason,
}

/// The faults of a refused file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefusalReason {
    /// It is not a file, or not a folder.
    Kind { found: FileKind, wanted: FileKind },
    /// It is longer than the format allows.
    Longer { bytes_max: u64 },
    /// It has other hard links, and would be written in place.
    Linked { names: u64 },
}

impl RefusalReason {
    pub(crate) fn not_a_file(found: FileKind) -> Self {
        Self::Kind {
            found,
            wanted: FileKind::File,
        }
    }
}

/// The kinds of thing in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    File,
    Folder,
    Link,
    Pipe,
    Socket,
    Device,
}

impl FileKind {
    fn name(self) -> &'static str {
        match self {
            Self::File => "a file",
            Self::Folder => "a folder",
            Self::Link => "a link",
            Self::Pipe => "a named pipe",
            Self::Socket => "a socket",
            Self::Device => "a device",
        }
    }
}

impl Refused {
    pub(crate) fn error(path: PathBuf, what: RefusalReason) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, Self { path, what })
    }

    /// Returns the refused file that an I/O error carries, if any.
    pub(crate) fn in_error(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the fault, in words.
    pub(crate) fn why(&self) -> String {
        match self.what {
            RefusalReason::Kind { found, wanted } => {
                format!("it is {}, not {}", found.name(), wanted.name())
            }
            RefusalReason::Longer { bytes_max } => format!("it is longer than {bytes_max} bytes"),
            RefusalReason::Linked { names } => format!("the same file has {names} names"),
        }
    }

    pub(crate) fn hint(&self) -> &'static str {
        match self.what {
            RefusalReason::Kind {
                found: FileKind::Link,
                wanted: FileKind::Folder,
            } => {
                "agekeep follows no link inside a store's folder; replace the link by the folder \
                 it points to (a keyring can be elsewhere: `agekeep keys move`, or \
                 --keyring)"
            }
            RefusalReason::Kind { .. } => {
                "find out who put it there, move it away, and restore the file from a backup"
            }
            RefusalReason::Longer { .. } => {
                "agekeep never writes such a long file; find out who did, and restore the file \
                 from a backup"
            }
            RefusalReason::Linked { .. } => {
                "a command would also change the file under its other names; replace it by a copy: \
                 `cp -p FILE FILE.new && mv FILE.new FILE`"
            }
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.why())
    }
}

impl std::error::Error for Refused {}
