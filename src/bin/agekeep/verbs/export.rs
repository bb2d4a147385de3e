//! `export`: memories as plaintext, in a folder or as JSON Lines.

pub(super) mod writer;

use std::path::{Path, PathBuf};

use agekeep::error::{Error, Result};
use agekeep::id::MemoryId;
use agekeep::store::export::{ExportScope, ExportedVersion, Head};
use agekeep::store::{Export, Store};
use clap::Args;
use serde::Serialize;
use serde_json::json;

use self::writer::{Added, ExportTarget, ExportWriter};
use crate::args::{Global, memory_path};
use crate::verbs::history;
use crate::{environment, output, render};

#[derive(Args)]
pub(crate) struct ExportArgs {
    /// The folder to write to; it must be empty or not exist yet
    #[arg(value_name = "DIR", required_unless_present = "jsonl")]
    folder: Option<PathBuf>,
    /// Write JSON Lines to this file, which must not exist yet; `-` means standard output
    #[arg(long, value_name = "FILE", conflicts_with = "folder")]
    jsonl: Option<PathBuf>,
    /// Export the state at this revision: an event, a commit, HEAD~N or a time
    #[arg(long, value_name = "REV")]
    at: Option<String>,
    /// Export every version, also of deleted memories, with its author
    #[arg(long, conflicts_with = "folder")]
    history: bool,
    /// Export only this path and everything below it; can be repeated
    #[arg(long = "path", value_name = "PATH", value_parser = memory_path)]
    paths: Vec<String>,
    /// Allow a folder inside a git work tree
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(global: &Global, args: &ExportArgs) -> Result<u8> {
    let mut store = global.open()?;
    let scope = scope(global, args, &store)?;
    let target = target(global, args)?;
    let place = place_of(args);
    // The warning comes before anything is written or recorded, so that the export can still be
    // stopped.
    output::warn(&format!(
        "this writes plaintext: whoever can read {place} can read these memories, and no erasure \
         reaches them there"
    ));
    let mut export = store.export(&scope, &global.context())?;
    let head = export.head().clone();
    let mut report = ExportReport {
        place,
        history: args.history,
        ..ExportReport::default()
    };
    let writer = ExportWriter::begin(target, &head, &scope)?;
    let Some(writer) = write(&mut export, &head, writer, &mut report)? else {
        return Ok(0);
    };
    let to_stdout = writer.is_stdout();
    writer.finish()?;
    report.show(&head, global.json, to_stdout)?;
    Ok(report.exit_code())
}

/// Writes everything; `None` if the reader is gone.
fn write(
    export: &mut Export<'_>,
    head: &Head,
    mut writer: ExportWriter,
    report: &mut ExportReport,
) -> Result<Option<ExportWriter>> {
    let written = output::with_bar("versions", |progress| {
        for (done, taken) in (0..).zip(export) {
            progress(done, head.versions);
            let taken = taken?;
            let added = writer.add(&taken)?;
            report.add(&taken, added);
            if added == writer::Added::Unread {
                return Ok::<_, Error>(None);
            }
        }
        Ok(Some(()))
    });
    Ok(written?.map(|()| writer))
}

fn scope(global: &Global, args: &ExportArgs, store: &Store) -> Result<ExportScope> {
    let mut scope = ExportScope::default();
    let at = args.at.as_deref();
    scope.at = at.map(|at| history::revision(global, at)).transpose()?;
    let paths = args.paths.iter().map(|path| store.parse_path(path));
    scope.within = paths.collect::<Result<_>>()?;
    scope.history = args.history;
    Ok(scope)
}

/// Checks the place to write to; `None` for standard output.
fn target(global: &Global, args: &ExportArgs) -> Result<Option<ExportTarget>> {
    let (path, is_folder) = match (&args.folder, &args.jsonl) {
        (Some(folder), _) => (folder, true),
        (None, Some(file)) if file == Path::new("-") => return Ok(None),
        (None, Some(file)) => (file, false),
        (None, None) => {
            return Err(Error::invalid(
                "the target",
                "name a folder, or a file with --jsonl",
            ));
        }
    };
    let store = environment::store(global)?;
    ExportTarget::check(path, is_folder, args.force, &store).map(Some)
}

/// Names the target for people.
fn place_of(args: &ExportArgs) -> String {
    let path = args.folder.as_ref().or(args.jsonl.as_ref());
    let path = path.filter(|path| *path != Path::new("-"));
    path.map_or_else(
        || "standard output".into(),
        |path| path.display().to_string(),
    )
}

// The report of what was exported, and what was not.

/// The exit code if something was left out.
const LEFT_OUT: u8 = 1;
/// The exit code if something does not open, and was not erased.
const NOT_ALL_OPENED: u8 = 13;

/// The report of an export.
#[derive(Default)]
struct ExportReport {
    place: String,
    history: bool,
    written: u64,
    bytes: u64,
    closed: Vec<UnreadableGroup>,
    of_git: Vec<String>,
}

/// Versions of one memory that do not open for one reason.
#[derive(Serialize)]
struct UnreadableGroup {
    memory: MemoryId,
    path: Option<String>,
    versions: u64,
    erased: bool,
    why: String,
}

impl ExportReport {
    /// Adds the outcome of a version.
    fn add(&mut self, taken: &ExportedVersion, added: Added) {
        match (added, &taken.text) {
            (Added::Written, Ok(text)) => {
                self.written += 1;
                self.bytes += text.len() as u64;
            }
            (Added::OfGit, _) => self.of_git.extend(path(taken)),
            (_, Err(error)) => {
                let why = error.to_string();
                match self.closed.last_mut() {
                    Some(last) if last.memory == taken.id && last.why == why => last.versions += 1,
                    _ => self.closed.push(UnreadableGroup {
                        memory: taken.id,
                        path: path(taken),
                        versions: 1,
                        erased: taken.is_erased(),
                        why,
                    }),
                }
            }
            (_, Ok(_)) => {}
        }
    }

    /// Prints the report: on standard error, if the data goes to standard output.
    fn show(&self, head: &Head, as_json: bool, to_stdout: bool) -> Result<()> {
        let lines = if as_json {
            vec![self.to_json(head).to_string()]
        } else {
            self.to_lines(head)
        };
        for line in lines {
            if to_stdout {
                output::note(&line);
            } else {
                output::line(&line)?;
            }
        }
        Ok(())
    }

    fn to_lines(&self, head: &Head) -> Vec<String> {
        let of_git = self.of_git.iter().map(|path| {
            let path = render::quoted(path);
            format!("{path}  left out, because git uses that name itself; --jsonl includes it")
        });
        let closed = self.closed.iter().map(|closed| {
            let id = || format!("(memory {})", closed.memory);
            let path = closed.path.as_deref().map_or_else(id, render::quoted);
            let versions = output::counted(closed.versions, "version");
            format!("{path}  {versions} not exported: {}", closed.why)
        });
        let mut lines: Vec<String> = of_git.chain(closed).collect();
        let what = if self.history { "version" } else { "memory" };
        lines.push(format!(
            "Exported {} ({}) as of event {} to {}, in plaintext; event {} records it",
            output::counted(self.written, what),
            output::counted(self.bytes, "byte"),
            head.at.event,
            self.place,
            head.event
        ));
        lines
    }

    fn to_json(&self, head: &Head) -> serde_json::Value {
        json!({
            "schema": "agekeep.exported/1",
            "to": self.place,
            "at": head.at,
            "time": render::rfc3339(head.time),
            "event": head.event,
            "history": self.history,
            "memories": head.memories,
            "written": self.written,
            "bytes": self.bytes,
            "left_out": self.of_git,
            "closed": self.closed,
        })
    }

    fn exit_code(&self) -> u8 {
        if self.closed.iter().any(|closed| !closed.erased) {
            NOT_ALL_OPENED
        } else if self.of_git.is_empty() {
            0
        } else {
            LEFT_OUT
        }
    }
}

fn path(taken: &ExportedVersion) -> Option<String> {
    let path = taken.path.as_ref();
    path.map(|path| path.as_str().to_owned())
}
