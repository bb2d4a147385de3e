//! Undoing, always by a new event: what to undo, and the plan of what that changes.

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::digest::Digest;
use crate::event::{Change, Moment};
use crate::id::MemoryId;
use crate::path::MemoryPath;
use crate::revision::Revision;

/// Hexadecimal digits of a plan's digest that are enough to name it.
pub const PLAN_DIGITS_MIN: usize = 16;

/// What to undo.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Undo {
    /// Bring a memory, or every memory of a directory, back to what it was at a moment.
    Restore {
        /// The path of the memory or directory.
        path: MemoryPath,
        /// The moment.
        from: Revision,
    },
    /// Undo what some events changed, and keep what others changed since.
    Revert(Selection),
    /// Bring every memory back to what it was at a moment, and remove what is newer.
    Rollback {
        /// The moment.
        to: Revision,
    },
}

/// The events to revert: those that meet every condition that is set; at least one must be.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Selection {
    /// The first and the last event of a range, both included.
    pub range: Option<(Revision, Revision)>,
    /// Events of this session.
    pub session: Option<String>,
    /// Events by this actor.
    pub actor: Option<String>,
    /// Events then or later.
    pub since: Option<DateTime<Utc>>,
}

/// What an undo would do.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Plan {
    /// SHA-256 over everything the plan says and every text it would write: the same digest is the
    /// same plan.
    pub digest: Digest,
    /// `restore`, `revert` or `rollback`.
    pub command: &'static str,
    /// The moment it goes back to, for `restore` and `rollback`.
    pub at: Option<Moment>,
    /// The events it undoes, as runs of numbers with both ends, for `revert`.
    pub undone: Vec<(u64, u64)>,
    /// What it changes, in the order of paths.
    pub steps: Vec<Step>,
    /// What it cannot undo, or not without losing what others did later.
    pub conflicts: Vec<Conflict>,
}

/// What an undo does to one memory.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Step {
    /// The memory.
    #[serde(rename = "memory")]
    pub id: MemoryId,
    /// `edit`, `move` (a new path, and perhaps a new text), `remove` or `restore`.
    pub change: Change,
    /// Its path now; `None` if it is not there.
    #[serde(serialize_with = "as_text")]
    pub path_now: Option<MemoryPath>,
    /// Its path then; `None` if it is removed.
    #[serde(serialize_with = "as_text")]
    pub path: Option<MemoryPath>,
    /// Its newest version now.
    pub version_now: u64,
    /// The earlier version it goes back to, in whole or, after a merge, in part.
    pub from: Option<u64>,
    /// Lines that will be there and are not now.
    pub lines_added: usize,
    /// Lines that are there now and will not be.
    pub lines_removed: usize,
    /// Whether later changes of others stay, merged line by line.
    pub merged: bool,
    /// Kinds of secrets that are stripped from a text that was kept before their rule was.
    pub stripped: Vec<String>,
    /// SHA-256 of the text it will have.
    pub sha256: Option<Digest>,
}

/// A memory that is left as it is: others changed the same since, or what it was does not open, or
/// may not be kept any more.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Conflict {
    /// The memory.
    #[serde(rename = "memory")]
    pub id: MemoryId,
    /// Its path; `None` if the key of its paths is gone.
    #[serde(serialize_with = "as_text")]
    pub path: Option<MemoryPath>,
    /// What stands in the way, in words.
    pub why: String,
    /// Who is on top, newest first.
    pub on_top: Vec<OnTop>,
}

/// A later change that stands in the way.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct OnTop {
    /// Its event.
    pub event: u64,
    /// When.
    #[serde(serialize_with = "crate::event::as_rfc3339")]
    pub time: DateTime<Utc>,
    /// Who, as the caller said.
    pub actor: Option<String>,
    /// In which session, as the caller said.
    pub session: Option<String>,
    /// By which command.
    pub command: String,
}

impl Undo {
    pub(crate) fn command(&self) -> &'static str {
        match self {
            Self::Restore { .. } => "restore",
            Self::Revert(_) => "revert",
            Self::Rollback { .. } => "rollback",
        }
    }
}

impl Plan {
    /// Gives the plan its digest.
    pub(crate) fn sealed(mut self) -> Self {
        let text = serde_json::to_vec(&self).expect("a plan has a JSON form");
        self.digest = Digest::of(&text);
        self
    }

    /// Whether this is the plan with a digest, of which at least [`PLAN_DIGITS_MIN`] digits are
    /// given.
    #[must_use]
    pub fn is(&self, digest: &str) -> bool {
        let digits = digest.strip_prefix("sha256:").unwrap_or(digest);
        digits.len() >= PLAN_DIGITS_MIN && self.digest.to_string().starts_with(digits)
    }

    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.conflicts.is_empty()
    }
}

impl Conflict {
    /// One in which nobody is on top.
    pub(crate) fn alone(id: MemoryId, path: Option<MemoryPath>, why: impl Into<String>) -> Self {
        Self {
            id,
            path,
            why: why.into(),
            on_top: Vec::new(),
        }
    }

    /// One sentence: which memory, why, and who is on top.
    #[must_use]
    pub fn sentence(&self) -> String {
        let path = self.path.as_ref().map_or_else(
            || format!("the memory {}", self.id),
            |path| path.as_str().to_owned(),
        );
        let who = |top: &OnTop| {
            let actor = top.actor.as_deref();
            let actor = actor.map_or_else(|| "nobody named".into(), said);
            let session = top.session.as_deref();
            let session =
                session.map_or_else(String::new, |id| format!(" in session {}", said(id)));
            format!("{} by {actor}{session} (event {})", top.command, top.event)
        };
        let on_top: Vec<String> = self.on_top.iter().map(who).collect();
        if on_top.is_empty() {
            return format!("{path}: {}", self.why);
        }
        format!("{path}: {}; on top: {}", self.why, on_top.join(", "))
    }
}

/// A caller's word as it is, or in quotes if it could be mistaken for more of the sentence.
fn said(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "._-:@/+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("{word:?}")
    }
}

#[allow(clippy::ref_option)] // serde passes the field as it is
fn as_text<S: serde::Serializer>(
    path: &Option<MemoryPath>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => serializer.serialize_some(path.as_str()),
        None => serializer.serialize_none(),
    }
}
