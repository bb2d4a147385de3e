//! The two forms of an export: a folder as it would be without a store, and JSON Lines.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufWriter, Write};

use agekeep::Digest;
use agekeep::error::{Error, ExportFault, Result};
use agekeep::id::MemoryId;
use agekeep::memory_tool::path::MemoryPath;
use agekeep::store::export::{Head, Scope, Taken};
use serde::Serialize;
use serde_json::{Value, json};

use crate::folder::Folder;
use crate::verbs::export::target::Target;
use crate::verbs::import;
use crate::{events, output};

/// What became of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Added {
    Written,
    /// It does not open.
    Closed,
    /// A file of its name would be git's to read.
    OfGit,
    /// Nobody reads on.
    Unread,
}

/// Where versions are written.
pub(super) enum Writer {
    Folder {
        target: Target,
        root: Folder,
        /// The folders on the way to what was written last, with their names.
        open: Vec<(OsString, Folder)>,
    },
    File {
        target: Target,
        file: BufWriter<File>,
    },
    Stdout,
}

/// A version as a line.
#[derive(Serialize)]
struct Line<'a> {
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

impl Writer {
    pub(super) fn folder(mut target: Target) -> Result<Self> {
        let root = target.begin_folder()?;
        Ok(Self::Folder {
            target,
            root,
            open: Vec::new(),
        })
    }

    pub(super) fn file(mut target: Target, head: &Head, scope: &Scope) -> Result<Self> {
        let file = BufWriter::new(target.begin_file()?);
        let mut writer = Self::File { target, file };
        writer.line(&header(head, scope))?;
        Ok(writer)
    }

    pub(super) fn stdout(head: &Head, scope: &Scope) -> Result<Self> {
        let mut writer = Self::Stdout;
        writer.line(&header(head, scope))?;
        Ok(writer)
    }

    pub(super) fn is_stdout(&self) -> bool {
        matches!(self, Self::Stdout)
    }

    /// Adds a version.
    pub(super) fn add(&mut self, taken: &Taken) -> Result<Added> {
        if let Self::Folder { target, root, open } = self {
            return match (&taken.path, &taken.text) {
                (Some(path), Ok(_)) if is_of_git(path) => Ok(Added::OfGit),
                (Some(path), Ok(text)) => {
                    write_file(target, root, open, path, text.as_str().as_bytes())
                }
                _ => Ok(Added::Closed),
            };
        }
        if !self.line(&line(taken))? {
            return Ok(Added::Unread);
        }
        Ok(match taken.text {
            Ok(_) => Added::Written,
            Err(_) => Added::Closed,
        })
    }

    /// Writes a line; `false` when nobody reads on.
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

    /// Puts what was written in its place.
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

/// Whether git would take a file of this path for its own, and perhaps run what it says.
fn is_of_git(path: &MemoryPath) -> bool {
    path.as_str()
        .split('/')
        .any(|name| name.eq_ignore_ascii_case(".git"))
}

/// Writes a file, and the folders above it that are not there yet. Paths come in their order, so
/// each folder is made once, and one that is there is another path's.
fn write_file(
    target: &Target,
    root: &Folder,
    open: &mut Vec<(OsString, Folder)>,
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

/// The first line of JSON Lines.
fn header(head: &Head, scope: &Scope) -> Value {
    let within: Vec<&str> = scope.within.iter().map(MemoryPath::as_str).collect();
    json!({
        "schema": import::SCHEMA,
        "store": head.store,
        "head": head.at,
        "time": events::rfc3339(head.time),
        "event": head.event,
        "history": scope.history,
        "paths": within,
        "memories": head.memories,
        "lines": head.versions,
    })
}

fn line(taken: &Taken) -> Line<'_> {
    let text = taken.text.as_ref().ok();
    Line {
        memory: taken.id,
        path: taken.path.as_ref().map(MemoryPath::as_str),
        version: taken.version,
        present: taken.present,
        created: events::rfc3339(taken.created),
        time: events::rfc3339(taken.time),
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
