//! What was exported, and what was not.

use agekeep::error::Result;
use agekeep::id::MemoryId;
use agekeep::memory_tool::path::MemoryPath;
use agekeep::store::export::{Head, Taken};
use serde_json::json;

use crate::verbs::export::writer::Added;
use crate::{events, output};

/// The exit code where something was left out.
const LEFT_OUT: u8 = 1;
/// The exit code where something does not open, and was not erased.
const NOT_ALL_OPENED: u8 = 13;

/// The report of an export.
pub(super) struct Report {
    place: String,
    history: bool,
    written: u64,
    bytes: u64,
    closed: Vec<Closed>,
    of_git: Vec<String>,
}

/// Versions of one memory that do not open for one reason.
struct Closed {
    id: MemoryId,
    path: Option<String>,
    versions: u64,
    erased: bool,
    why: String,
}

impl Report {
    pub(super) fn new(place: String, history: bool) -> Self {
        Self {
            place,
            history,
            written: 0,
            bytes: 0,
            closed: Vec::new(),
            of_git: Vec::new(),
        }
    }

    /// Adds what became of a version.
    pub(super) fn add(&mut self, taken: &Taken, added: Added) {
        match (added, &taken.text) {
            (Added::Written, Ok(text)) => {
                self.written += 1;
                self.bytes += text.len() as u64;
            }
            (Added::OfGit, _) => self.of_git.extend(path(taken)),
            (_, Err(error)) => {
                let why = error.to_string();
                match self.closed.last_mut() {
                    Some(last) if last.id == taken.id && last.why == why => last.versions += 1,
                    _ => self.closed.push(Closed {
                        id: taken.id,
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

    /// Shows the report: beside the data, where standard output is that.
    pub(super) fn show(&self, head: &Head, as_json: bool, to_stdout: bool) -> Result<()> {
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
            let path = events::quoted(path);
            format!("{path}  left out: git would take it for its own; --jsonl has it")
        });
        let closed = self.closed.iter().map(|closed| {
            let id = || format!("(memory {})", closed.id);
            let path = closed.path.as_deref().map_or_else(id, events::quoted);
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
        let closed = self.closed.iter().map(|closed| {
            json!({
                "memory": closed.id,
                "path": closed.path,
                "versions": closed.versions,
                "erased": closed.erased,
                "why": closed.why,
            })
        });
        json!({
            "schema": "agekeep.exported/1",
            "to": self.place,
            "at": head.at,
            "time": events::rfc3339(head.time),
            "event": head.event,
            "history": self.history,
            "memories": head.memories,
            "written": self.written,
            "bytes": self.bytes,
            "left_out": self.of_git,
            "closed": closed.collect::<Vec<_>>(),
        })
    }

    pub(super) fn exit_code(&self) -> u8 {
        if self.closed.iter().any(|closed| !closed.erased) {
            NOT_ALL_OPENED
        } else if self.of_git.is_empty() {
            0
        } else {
            LEFT_OUT
        }
    }
}

fn path(taken: &Taken) -> Option<String> {
    taken
        .path
        .as_ref()
        .map(MemoryPath::as_str)
        .map(str::to_owned)
}
