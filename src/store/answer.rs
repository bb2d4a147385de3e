//! The answer to a command: the text for the model, and facts for programs.

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::Text;
use crate::crypto::digest::Digest;
use crate::error::Error;
use crate::event::{Event, LIMIT_EXCEEDED, Outcome, Redaction};
use crate::id::{MemoryId, ObjectId};
use crate::memory_tool::path::MemoryPath;

/// The reason a command was refused. The refusal is recorded all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The command does not exist, or a parameter is missing or of another type.
    Malformed,
    /// The command cannot be done on this text: a match is not unique, or a line is out of range.
    Failed,
    /// Nothing is at this path.
    NotFound,
    /// Something is at this path already.
    Exists,
    /// The memory's text is not the one that `base_sha256` names.
    Precondition,
    /// The path leaves `/memories` or hides something.
    Denied,
    /// The path holds a secret, or the text does and the policy rejects such texts.
    Secret,
    /// The command exceeds a limit of the policy.
    Limit,
    /// The memory is there and does not open.
    Store {
        /// [`Error::code`] of the cause.
        code: &'static str,
        /// [`Error::exit_code`] of the cause.
        exit_code: u8,
    },
}

impl Refusal {
    /// Returns a stable one-word name for programs, which the event records.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Failed => "failed",
            Self::NotFound => "not_found",
            Self::Exists => "already_exists",
            Self::Precondition => "precondition_failed",
            Self::Denied => "denied",
            Self::Secret => "secret",
            Self::Limit => LIMIT_EXCEEDED,
            Self::Store { code, .. } => code,
        }
    }

    /// Returns the process exit code, from the table in docs/troubleshooting.md.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Failed => 1,
            Self::Malformed => 2,
            Self::NotFound => 4,
            Self::Exists => 5,
            Self::Precondition => 6,
            Self::Denied | Self::Secret => 7,
            Self::Limit => 9,
            Self::Store { exit_code, .. } => exit_code,
        }
    }

    pub(crate) fn outcome(self) -> Outcome {
        match self {
            Self::Denied | Self::Secret => Outcome::Denied,
            _ => Outcome::Error,
        }
    }
}

impl From<&Error> for Refusal {
    fn from(error: &Error) -> Self {
        Self::Store {
            code: error.code(),
            exit_code: error.exit_code(),
        }
    }
}

/// The answer to a command. It exists only once the command is durably recorded.
#[derive(Debug)]
#[non_exhaustive]
pub struct Answer {
    /// The text for the model, exactly as the memory tool's contract says.
    pub content: Text,
    /// The reason the command was refused; `None` if it was not.
    pub refusal: Option<Refusal>,
    /// Facts for programs.
    pub meta: Meta,
}

impl Answer {
    /// Tells whether the model should take the content as an error.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.refusal.is_some()
    }
}

/// Facts that go with an answer.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Meta {
    /// The number of the event that records the command.
    pub event: u64,
    /// The commit of that event.
    pub commit: ObjectId,
    /// The time of the event, by the store's clock.
    #[serde(serialize_with = "crate::event::as_rfc3339")]
    pub time: DateTime<Utc>,
    /// The outcome of the command.
    pub outcome: Outcome,
    /// [`Refusal::code`], if the command was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<&'static str>,
    /// The memory, if the command was about one that is there.
    #[serde(flatten)]
    pub memory: Option<MemoryMeta>,
    /// Secrets stripped from the text, the path and the context before they were kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redactions: Vec<Redaction>,
}

impl Meta {
    /// Returns the facts about a successful event that is about no single memory.
    pub(crate) fn of(event: &Event, commit: ObjectId, redactions: Vec<Redaction>) -> Self {
        Self {
            event: event.number,
            commit,
            time: event.time,
            outcome: event.outcome,
            error: None,
            memory: None,
            redactions,
        }
    }
}

/// Facts about the memory a command was about.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct MemoryMeta {
    /// Its id, which never changes.
    #[serde(rename = "memory")]
    pub id: MemoryId,
    /// Its canonical path after the command.
    pub path: MemoryPath,
    /// Its version after the command.
    pub version: u64,
    /// Bytes of its text.
    pub bytes: u64,
    /// SHA-256 of its text, for `base_sha256`; absent if the command did not open the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Digest>,
}
