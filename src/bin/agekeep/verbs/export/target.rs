//! Where an export is written: beside its place, or in the empty folder that is there, under another
//! name until it is whole.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process;

use agekeep::error::{Error, ExportFault, Result};

use crate::folder::{self, Folder, Kind, Opened};
use crate::output;

/// Begins the name of an export that is not whole.
const ASIDE: &str = ".agekeep-export-";
/// Most names that are tried.
const NAMES_MAX: u32 = 1_000;

/// A free place for an export.
pub(super) struct Target {
    path: PathBuf,
    parent: Folder,
    name: OsString,
    is_folder: bool,
    /// Whether `parent` is the place itself, an empty folder: it may be a mount, or where somebody is.
    is_there: bool,
    /// The name it has until it is whole.
    aside: Option<OsString>,
}

impl Target {
    /// Checks that plaintext may be written to a place.
    pub(super) fn check(path: &Path, is_folder: bool, force: bool, store: &Path) -> Result<Self> {
        let path = whole(path).map_err(failed("find", path))?;
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(in_the_way(&path, "the root of the file system"));
        };
        let above = above.canonicalize().map_err(failed("open", above))?;
        let place = above.join(name);
        if store
            .canonicalize()
            .is_ok_and(|store| place.starts_with(store))
        {
            return Err(in_the_way(&path, "in the store, which holds no plaintext"));
        }
        let has_git = |folder: &&Path| folder.join(".git").symlink_metadata().is_ok();
        if let Some(of) = place.ancestors().find(has_git).filter(|_| !force) {
            return Err(Error::Export(ExportFault::WorkTree {
                of: of.to_owned(),
                path,
            }));
        }
        let mut parent = Folder::open(&above).map_err(failed("open", &above))?;
        say_left_over(&parent, &above);
        let is_there = is_there(&parent, name, is_folder, &path)?;
        if is_there {
            parent = parent.folder(name).map_err(failed("open", &path))?;
        }
        Ok(Self {
            name: name.to_owned(),
            path,
            parent,
            is_folder,
            is_there,
            aside: None,
        })
    }

    /// Makes the folder to write to.
    pub(super) fn begin_folder(&mut self) -> Result<Folder> {
        if self.is_there {
            let private = self.parent.make_private();
            private.map_err(|error| self.failed(error))?;
        }
        let made = self.begin(Folder::make_folder)?;
        made.try_lock();
        Ok(made)
    }

    /// Makes the file to write to.
    pub(super) fn begin_file(&mut self) -> Result<File> {
        let made = self.begin(Folder::make_file)?;
        folder::try_lock(&made);
        Ok(made)
    }

    fn begin<T>(&mut self, make: impl Fn(&Folder, &OsStr) -> io::Result<T>) -> Result<T> {
        let mut number = 0;
        loop {
            let name = OsString::from(format!("{ASIDE}{}-{number}", process::id()));
            match make(&self.parent, &name) {
                Err(error)
                    if error.kind() == io::ErrorKind::AlreadyExists && number < NAMES_MAX =>
                {
                    number += 1;
                }
                Err(error) => return Err(self.failed(error)),
                Ok(begun) => {
                    self.aside = Some(name);
                    return Ok(begun);
                }
            }
        }
    }

    /// Puts in its place what was written, durably.
    pub(super) fn finish(mut self) -> Result<()> {
        let name = self.aside.clone().expect("something was begun");
        let renamed = self.parent.sync().and_then(|()| {
            if self.is_there {
                self.move_up(&name)
            } else if self.is_folder {
                self.parent.rename(&name, &self.name)
            } else {
                self.parent.rename_to_free(&name, &self.name)
            }
        });
        renamed.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists
            | io::ErrorKind::DirectoryNotEmpty
            | io::ErrorKind::NotADirectory => in_the_way(&self.path, "there by now"),
            _ => self.failed(error),
        })?;
        self.aside = None;
        self.parent.sync_names().map_err(|error| self.failed(error))
    }

    /// Moves what was written into the folder that was there. Until the last of it is there, the other
    /// name says that it is not whole.
    fn move_up(&self, aside: &OsStr) -> io::Result<()> {
        let written = self.parent.folder(aside)?;
        for name in written.names()? {
            self.parent.take(&written, &name, &name)?;
        }
        self.parent.sync_names()?;
        self.parent.remove(aside)
    }

    /// The error for what went wrong while it was written.
    pub(super) fn failed(&self, source: io::Error) -> Error {
        failed("write", &self.path)(source)
    }
}

impl Drop for Target {
    /// Removes what did not become whole: it is plaintext that nobody asked for.
    fn drop(&mut self) {
        let Some(name) = self.aside.take() else {
            return;
        };
        if self.parent.remove(&name).is_err() {
            let path = if self.is_there {
                self.path.join(name)
            } else {
                self.path.with_file_name(name)
            };
            output::warn(&format!(
                "{} could not be removed: it is part of an export, in plaintext",
                path.display()
            ));
        }
    }
}

/// A path with a name at its end, where it has none as it was said.
fn whole(path: &Path) -> io::Result<PathBuf> {
    match path.file_name() {
        Some(_) => std::path::absolute(path),
        None => path.canonicalize(),
    }
}

/// Whether an empty folder is at a place where an export may go; an error if anything else is.
fn is_there(parent: &Folder, name: &OsStr, is_folder: bool, path: &Path) -> Result<bool> {
    let what = match parent.kind(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(failed("look at", path)(error)),
        Ok(Kind::Link) => "a symbolic link, which is not followed",
        Ok(Kind::Folder) if is_folder => {
            let found = parent.folder(name).map_err(failed("open", path))?;
            if found.names().map_err(failed("list", path))?.is_empty() {
                return Ok(true);
            }
            say_left_over(&found, path);
            "a folder that is not empty"
        }
        Ok(Kind::Folder) => "a folder, and no file",
        Ok(_) => "there already",
    };
    Err(in_the_way(path, what))
}

/// Says which exports were cut off here, and lie about in plaintext.
fn say_left_over(parent: &Folder, path: &Path) {
    for name in parent.names().unwrap_or_default() {
        if !name.as_bytes().starts_with(ASIDE.as_bytes()) {
            continue;
        }
        let opened = match parent.kind(&name) {
            Ok(Kind::Folder) => parent.folder(&name).map(Opened::Folder),
            Ok(Kind::File) => parent.file(&name).map(|(file, _)| Opened::File(file)),
            _ => continue,
        };
        // Whoever still writes to it has a lock on it.
        let is_over = match opened {
            Ok(Opened::Folder(folder)) => folder.try_lock(),
            Ok(Opened::File(file)) => folder::try_lock(&file),
            Err(_) => false,
        };
        if is_over {
            output::warn(&format!(
                "{} is left of an export that was cut off: it is no whole export, and it is \
                 plaintext; remove it",
                path.join(name).display()
            ));
        }
    }
}

fn in_the_way(path: &Path, what: &'static str) -> Error {
    let path = path.to_owned();
    Error::Export(ExportFault::InTheWay { path, what })
}

fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io {
        doing,
        path,
        source,
    }
}
