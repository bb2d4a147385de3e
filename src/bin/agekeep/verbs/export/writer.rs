//! The two forms of an export: a folder of plain files, as there would be without a store, and JSON
//! Lines.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;

use agekeep::Digest;
use agekeep::error::{Error, ExportFault, Result};
use agekeep::id::MemoryId;
use agekeep::memory_tool::path::MemoryPath;
use agekeep::store::export::{ExportScope, ExportedVersion, Head};
use serde::Serialize;
use serde_json::{Value, json};

use crate::platform::folder::{self, EntryKind, UserFolder};
use crate::verbs::import;
use crate::{output, render};

/// The outcome of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Added {
    Written,
    /// The version does not open.
    Unreadable,
    /// Git would take a file of its name for its own.
    OfGit,
    /// The reader is gone.
    Unread,
}

/// The place that versions are written to.
pub(super) enum ExportWriter {
    Folder {
        target: ExportTarget,
        root: UserFolder,
        /// The open folders on the way to the last file that was written, with their names.
        open: Vec<(OsString, UserFolder)>,
    },
    File {
        target: ExportTarget,
        file: BufWriter<File>,
    },
    Stdout,
}

/// A version as a line of JSON Lines.
#[derive(Serialize)]
struct ExportLine<'a> {
    memory: MemoryId,
    path: Option<&'a str>,
    version: u64,
    present: bool,
    created: String,
    time: String,
    event: u64,
    command: &'a str,
    actor: Option<&'a str>,
    session: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<Digest>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

impl ExportWriter {
    /// Begins to write to a target; without one, to standard output.
    pub(super) fn begin(
        target: Option<ExportTarget>,
        head: &Head,
        scope: &ExportScope,
    ) -> Result<Self> {
        let mut writer = match target {
            Some(mut target) if target.is_folder => {
                let (root, open) = (target.begin_folder()?, Vec::new());
                return Ok(Self::Folder { target, root, open });
            }
            Some(mut target) => {
                let file = BufWriter::new(target.begin_file()?);
                Self::File { target, file }
            }
            None => Self::Stdout,
        };
        writer.line(&header(head, scope))?;
        Ok(writer)
    }

    pub(super) fn is_stdout(&self) -> bool {
        matches!(self, Self::Stdout)
    }

    /// Adds a version.
    pub(super) fn add(&mut self, taken: &ExportedVersion) -> Result<Added> {
        if let Self::Folder { target, root, open } = self {
            return match (&taken.path, &taken.text) {
                (Some(path), Ok(_)) if is_of_git(path) => Ok(Added::OfGit),
                (Some(path), Ok(text)) => {
                    write_file(target, root, open, path, text.as_str().as_bytes())
                }
                _ => Ok(Added::Unreadable),
            };
        }
        if !self.line(&line(taken))? {
            return Ok(Added::Unread);
        }
        Ok(match taken.text {
            Ok(_) => Added::Written,
            Err(_) => Added::Unreadable,
        })
    }

    /// Writes a line; `false` if the reader is gone.
    fn line(&mut self, value: &impl Serialize) -> Result<bool> {
        match self {
            Self::Stdout => output::json(value),
            Self::File { target, file } => {
                let written = serde_json::to_writer(&mut *file, value).map_err(io::Error::from);
                let written = written.and_then(|()| file.write_all(b"\n"));
                written.map_err(|error| target.failed(error))?;
                Ok(true)
            }
            Self::Folder { .. } => unreachable!("a folder has no lines"),
        }
    }

    /// Moves what was written to its place.
    pub(super) fn finish(self) -> Result<()> {
        match self {
            Self::Stdout => Ok(()),
            Self::File { target, mut file } => {
                file.flush().map_err(|error| target.failed(error))?;
                target.finish()
            }
            Self::Folder { target, .. } => target.finish(),
        }
    }
}

/// Tells whether git would take a file of this path for its own, and perhaps run what it says.
fn is_of_git(path: &MemoryPath) -> bool {
    path.as_str()
        .split('/')
        .any(|name| name.eq_ignore_ascii_case(".git"))
}

/// Writes a file, and the folders above it that are not there yet. Paths come in their order, so
/// each folder is made once, and one that exists already belongs to another path.
fn write_file(
    target: &ExportTarget,
    root: &UserFolder,
    open: &mut Vec<(OsString, UserFolder)>,
    path: &MemoryPath,
    text: &[u8],
) -> Result<Added> {
    let failed = |error: io::Error| {
        if error.kind() == io::ErrorKind::AlreadyExists {
            let path = path.as_str().to_owned();
            return Error::Export(ExportFault::OneName { path });
        }
        target.failed(error)
    };
    let mut names: Vec<&OsStr> = path.relative().split('/').map(OsStr::new).collect();
    let name = names.pop().expect("a memory has a name");
    let same = open
        .iter()
        .zip(&names)
        .take_while(|((open, _), name)| open == *name);
    let same = same.count();
    open.truncate(same);
    for name in &names[same..] {
        let above = open.last().map_or(root, |(_, folder)| folder);
        let made = above.make_folder(name).map_err(failed)?;
        open.push(((*name).to_owned(), made));
    }
    let above = open.last().map_or(root, |(_, folder)| folder);
    let mut file = above.make_file(name).map_err(failed)?;
    file.write_all(text).map_err(failed)?;
    Ok(Added::Written)
}

/// Makes the first line of JSON Lines.
fn header(head: &Head, scope: &ExportScope) -> Value {
    let within: Vec<&str> = scope.within.iter().map(MemoryPath::as_str).collect();
    json!({
        "schema": import::SCHEMA,
        "store": head.store,
        "head": head.at,
        "time": render::rfc3339(head.time),
        "event": head.event,
        "history": scope.history,
        "paths": within,
        "memories": head.memories,
        "lines": head.versions,
    })
}

fn line(taken: &ExportedVersion) -> ExportLine<'_> {
    let text = taken.text.as_ref().ok();
    ExportLine {
        memory: taken.id,
        path: taken.path.as_ref().map(MemoryPath::as_str),
        version: taken.version,
        present: taken.present,
        created: render::rfc3339(taken.created),
        time: render::rfc3339(taken.time),
        event: taken.event,
        command: &taken.command,
        actor: taken.actor.as_deref(),
        session: taken.session.as_deref(),
        bytes: text.map(agekeep::Text::len),
        sha256: taken.sha256(),
        text: text.map(agekeep::Text::as_str),
        why: taken.text.as_ref().err().map(ToString::to_string),
    }
}

// The place of an export: until the export is whole, it is written beside its place, or in the
// empty folder that is there, under another name.

/// The beginning of the name of an export that is not whole.
const ASIDE: &str = ".agekeep-export-";
/// Most names that are tried.
const NAMES_MAX: u32 = 1_000;

/// A free place for an export.
pub(crate) struct ExportTarget {
    path: PathBuf,
    parent: UserFolder,
    name: OsString,
    is_folder: bool,
    /// Set if `parent` is the place itself, an empty folder: it may be a mount, or somebody's
    /// working folder.
    is_there: bool,
    /// The name of the export until it is whole.
    aside: Option<OsString>,
}

impl ExportTarget {
    /// Writes a new file that only its owner can read, and puts it in its place once it is whole.
    pub(crate) fn write_bytes(mut self, bytes: &[u8]) -> Result<()> {
        let mut file = self.begin_file()?;
        let written = file.write_all(bytes);
        written.map_err(|error| self.failed(error))?;
        self.finish()
    }

    /// Checks that plaintext may be written to a place.
    pub(crate) fn check(path: &Path, is_folder: bool, force: bool, store: &Path) -> Result<Self> {
        let path = whole(path).map_err(Error::io("find", path))?;
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(in_the_way(&path, "the root of the file system"));
        };
        let above = above.canonicalize().map_err(Error::io("open", above))?;
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
        let mut parent = UserFolder::open(&above).map_err(Error::io("open", &above))?;
        say_left_over(&parent, &above);
        let is_there = is_there(&parent, name, is_folder, &path)?;
        if is_there {
            parent = parent.folder(name).map_err(Error::io("open", &path))?;
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
    fn begin_folder(&mut self) -> Result<UserFolder> {
        if self.is_there {
            let private = self.parent.make_private();
            private.map_err(|error| self.failed(error))?;
        }
        let made = self.begin(UserFolder::make_folder)?;
        made.try_lock();
        Ok(made)
    }

    /// Makes the file to write to.
    pub(crate) fn begin_file(&mut self) -> Result<File> {
        let made = self.begin(UserFolder::make_file)?;
        folder::try_lock(&made);
        Ok(made)
    }

    fn begin<T>(&mut self, make: impl Fn(&UserFolder, &OsStr) -> io::Result<T>) -> Result<T> {
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

    /// Moves what was written to its place, durably.
    pub(crate) fn finish(mut self) -> Result<()> {
        let name = self.aside.clone().expect("something was begun");
        let renamed = self.parent.sync().and_then(|()| {
            if self.is_there {
                self.move_up(&name)
            } else if self.is_folder {
                self.parent.rename(&name, &self.name)
            } else {
                self.parent.take(&self.parent, &name, &self.name)
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

    /// Moves what was written into the folder that was there. Until the last of it is there, the
    /// other name shows that the export is not whole.
    fn move_up(&self, aside: &OsStr) -> io::Result<()> {
        let written = self.parent.folder(aside)?;
        for name in written.names()? {
            self.parent.take(&written, &name, &name)?;
        }
        self.parent.sync_names()?;
        self.parent.remove(aside)
    }

    /// Makes the error for a failure to write.
    pub(crate) fn failed(&self, source: io::Error) -> Error {
        Error::io("write", &self.path)(source)
    }
}

impl Drop for ExportTarget {
    /// Removes an export that is not whole: it is plaintext that nobody asked for.
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

/// Makes a path absolute; one without a name at its end is resolved, so that it has one.
fn whole(path: &Path) -> io::Result<PathBuf> {
    match path.file_name() {
        Some(_) => std::path::absolute(path),
        None => path.canonicalize(),
    }
}

/// Tells whether there is an empty folder at a place where an export may go; anything else is an
/// error.
fn is_there(parent: &UserFolder, name: &OsStr, is_folder: bool, path: &Path) -> Result<bool> {
    let what = match parent.kind(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(Error::io("look at", path)(error)),
        Ok(EntryKind::Link) => "a symbolic link, which is not followed",
        Ok(EntryKind::Folder) if is_folder => {
            let found = parent.folder(name).map_err(Error::io("open", path))?;
            if found.names().map_err(Error::io("list", path))?.is_empty() {
                return Ok(true);
            }
            say_left_over(&found, path);
            "a folder that is not empty"
        }
        Ok(EntryKind::Folder) => "a folder, and no file",
        Ok(_) => "there already",
    };
    Err(in_the_way(path, what))
}

/// Warns of exports that were cut off here, and are left in plaintext.
fn say_left_over(parent: &UserFolder, path: &Path) {
    for name in parent.names().unwrap_or_default() {
        if !name.as_encoded_bytes().starts_with(ASIDE.as_bytes()) {
            continue;
        }
        // A process that still writes to it has a lock on it.
        let is_over = match parent.kind(&name) {
            Ok(EntryKind::Folder) => parent.folder(&name).is_ok_and(|folder| folder.try_lock()),
            Ok(EntryKind::File) => parent
                .file(&name)
                .is_ok_and(|(file, _)| folder::try_lock(&file)),
            _ => false,
        };
        if is_over {
            output::warn(&format!(
                "{} is left of an export that was cut off; it is incomplete and plaintext: remove \
                 it",
                path.join(name).display()
            ));
        }
    }
}

fn in_the_way(path: &Path, what: &'static str) -> Error {
    let path = path.to_owned();
    Error::Export(ExportFault::InTheWay { path, what })
}
