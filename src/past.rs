//! What is found when history is looked at: an older state, a change, who wrote a line, who read.

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::Text;
use crate::diff::TextDiff;
use crate::event::{Change, Moment};
use crate::id::MemoryId;
use crate::log::Entry;
use crate::path::MemoryPath;

/// Something that was looked at, and whether that is on record.
#[derive(Debug)]
#[non_exhaustive]
pub struct Looked<T> {
    /// What was found.
    pub found: T,
    /// Whether the look is on record.
    pub recorded: Recorded,
}

/// Whether a look is on record. It is, wherever the caller can write to the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Recorded {
    /// As the event with this number.
    Event(u64),
    /// It is not, and this is why.
    Not(String),
    /// Nothing of any memory's was shown.
    NotNeeded,
}

/// A file or directory as it was.
#[derive(Debug)]
#[non_exhaustive]
pub struct View {
    /// The text: numbered as the memory tool's `view` would have answered then, or as it is.
    pub content: Text,
    /// The moment.
    pub at: Moment,
    /// When that moment's event was.
    pub time: DateTime<Utc>,
    /// The file's version; `None` for a directory.
    pub version: Option<Side>,
}

/// One version of a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Side {
    /// The memory.
    pub id: MemoryId,
    /// Where it was; `None` if the key of its paths is gone.
    pub path: Option<MemoryPath>,
    /// The version.
    pub version: u64,
    /// Bytes of its text.
    pub bytes: u64,
    /// The event that wrote it.
    pub event: u64,
}

/// What differs of one memory between two moments.
#[derive(Debug)]
#[non_exhaustive]
pub struct Changed {
    /// The memory as it was before; `None` if it was not there.
    pub before: Option<Side>,
    /// The memory as it was after; `None` if it was not there.
    pub after: Option<Side>,
    /// What differs in the text; `None` if nothing does, or if a text does not open.
    pub diff: Option<TextDiff>,
    /// Why a text does not open.
    pub problem: Option<String>,
    /// Whether the memory had lived before, where it was not there before.
    pub revived: bool,
}

/// An event and what it changed.
#[derive(Debug)]
#[non_exhaustive]
pub struct Shown {
    /// The event.
    pub entry: Entry,
    /// What it changed, memory by memory.
    pub changes: Vec<Changed>,
}

/// What differs between two moments.
#[derive(Debug)]
#[non_exhaustive]
pub struct Difference {
    /// The earlier one; `None` for the state before the first event.
    pub from: Option<Moment>,
    /// The later one.
    pub to: Moment,
    /// What differs, memory by memory, in the order of paths.
    pub changes: Vec<Changed>,
}

/// A line and who wrote it.
#[derive(Debug)]
#[non_exhaustive]
pub struct BlamedLine {
    /// The line, counted from 1.
    pub number: usize,
    /// Its text, without the newline.
    pub text: Text,
    /// Where in [`Blame::origins`] the version is that wrote it.
    pub origin: usize,
}

/// Every line of a memory with its origin.
#[derive(Debug)]
#[non_exhaustive]
pub struct Blame {
    /// The memory's version whose lines these are.
    pub of: Side,
    /// The versions that wrote a line that is still there, oldest first.
    pub origins: Vec<Origin>,
    /// The lines.
    pub lines: Vec<BlamedLine>,
}

/// Who wrote a version.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Origin {
    /// The version, and the path it had.
    pub version: Side,
    /// Its event's commit.
    pub commit: crate::ObjectId,
    /// When.
    pub time: DateTime<Utc>,
    /// The command.
    pub command: String,
    /// Who acted, as the caller said.
    pub actor: Option<String>,
    /// The session, as the caller said.
    pub session: Option<String>,
    /// Whether its lines may be older, and of others: what the memory was before is erased.
    pub or_before: bool,
}

/// What to look for in texts.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Search {
    /// A regular expression (the syntax of the `regex` crate), or a text as it is.
    pub pattern: String,
    /// Whether the pattern is a text as it is.
    pub fixed: bool,
    /// Whether upper and lower case are the same.
    pub ignore_case: bool,
    /// Only this path and what is below it.
    pub within: Option<MemoryPath>,
    /// Whether to look into every version there ever was.
    pub history: bool,
}

impl Search {
    /// Looks for a regular expression in what is there now.
    #[must_use]
    pub fn new(pattern: impl Into<String>) -> Self {
        Self {
            pattern: pattern.into(),
            fixed: false,
            ignore_case: false,
            within: None,
            history: false,
        }
    }
}

/// A line in which something was found.
#[derive(Debug)]
#[non_exhaustive]
pub struct Match {
    /// The first version that has the line.
    pub version: Side,
    /// The line's number in that version, counted from 1.
    pub number: usize,
    /// The line, without the newline.
    pub text: Text,
    /// The event after which the line was no longer there; `None` if it still is.
    pub gone: Option<u64>,
}

/// What a search found.
#[derive(Debug)]
#[non_exhaustive]
pub struct Matches {
    /// The lines, in the order of paths; in history each line once.
    pub lines: Vec<Match>,
    /// Versions that do not open, one sentence each.
    pub problems: Vec<String>,
}

impl Changed {
    /// What happened, in one word.
    #[must_use]
    pub fn kind(&self) -> Change {
        match (&self.before, &self.after) {
            (None, Some(_)) if self.revived => Change::Restore,
            (None, Some(_)) => Change::Add,
            (Some(_), None) => Change::Remove,
            (Some(before), Some(after)) if before.path != after.path => Change::Move,
            (Some(_), Some(_)) => Change::Edit,
            (None, None) => Change::None,
        }
    }
}
