//! The event: what the sealed record of a command says, and how it becomes a commit message.
//!
//! A record never holds content. The path of a memory in it is sealed once more, under that
//! memory's name key, so that erasing the key reaches it; a path that is no memory's is kept as it
//! was asked for, under the audit identity alone.

pub(crate) mod command;
mod contents;
#[cfg(any(fuzzing, test))]
pub(crate) mod fuzzing;
mod record;
mod retention;

use std::collections::HashSet;

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

pub use self::command::OWNER_COMMANDS;
pub(crate) use self::command::{
    ACCEPT_COMMAND, ADD_MEMBER_COMMAND, ERASE_COMMAND, EXPIRE_COMMAND, EXPORT_COMMAND,
    EXPORT_HISTORY_COMMAND, HOLD_ADD_COMMAND, HOLD_RM_COMMAND, POLICY_COMMAND, PublicFile,
    REDACT_COMMAND, REKEY_COMMAND, REMOVE_MEMBER_COMMAND, SIGNERS_ADD, SIGNERS_RM, SIGNERS_SET,
    UPGRADE_COMMAND,
};
pub(crate) use self::contents::{Misfit, may_alter, may_leave};
pub(crate) use self::record::PathOpener;
use self::record::{PathSealer, RecordJson};
pub use self::retention::{Because, Erased, HoldChange, HoldOn, NOT_REACHED, Receipt};
use crate::crypto::aead::Key;
use crate::crypto::digest::Digest;
use crate::crypto::seal::OpenFault;
use crate::crypto::seal::size_class;
use crate::error::{Error, Result};
use crate::id::ObjectId;
use crate::id::{MemoryId, ReplicaId};
use crate::keyring::{KeyCommitment, Keyring};
use crate::memory_tool::path::MemoryPath;
use crate::redact::{Finding, Kind, Redactor};

/// The error of a command that a limit of the policy refused, as records name it.
pub(crate) const LIMIT_EXCEEDED: &str = "limit_exceeded";
/// The format of the records that are written; those of format 1 say no replica and no keys.
const FORMAT: u32 = 2;
/// Smallest size class of a record, in bytes of JSON.
const SIZE_CLASS_MIN: usize = 512;
/// Longest armored record, in bytes: so much for a record, which may list all that an erasure reaches,
/// and so much more for each memory that it touches.
const RECORD_BYTES_MAX: usize = 16 * 1024 * 1024;
const RECORD_BYTES_MAX_EACH: usize = 16 * 1024;
/// Longest text kept of a path that was refused or is unknown, in characters.
const ASKED_CHARACTERS_MAX: usize = 256;
/// Longest text kept of each part of the context, in characters.
const CONTEXT_CHARACTERS_MAX: usize = 1_024;

/// Most redactions that one record lists.
pub const REDACTIONS_MAX: usize = 1_000;

/// Most runs of event numbers that one record lists as undone.
pub const UNDONE_RUNS_MAX: usize = 1_000;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Outcome {
    /// It was carried out.
    Ok,
    /// It failed: nothing there, nothing unique, over a limit.
    Error,
    /// It was refused: a path that leaves `/memories` or hides something.
    Denied,
}

impl Outcome {
    /// The word in records and commit messages.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Denied => "denied",
        }
    }
}

/// What a command did to one memory. (Catalog files keep these by their order here.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Change {
    /// Nothing: the command that named it failed.
    None,
    /// Its text was read.
    Read,
    /// It was made.
    Add,
    /// It has a new text.
    Edit,
    /// It has a new path.
    Move,
    /// It was deleted.
    Remove,
    /// It was deleted, and is there again.
    Restore,
    /// Its text, or an older one, was looked at by someone who looks after the store: no access.
    Look,
    /// The same text was sealed anew, to a new key: no access.
    Reseal,
    /// It had expired, and was removed.
    Expire,
    /// It is gone, and its keys are to be destroyed by the next reader.
    Mark,
    /// It is gone, and its keys are destroyed.
    Erase,
    /// Secrets in its text were replaced by markers, and what it was before is erased: no access.
    Redact,
}

impl Change {
    /// Whether it makes a version.
    #[must_use]
    pub fn writes(self) -> bool {
        matches!(
            self,
            Self::Add | Self::Edit | Self::Move | Self::Restore | Self::Reseal | Self::Redact
        )
    }

    /// Whether the memory is not there any more after it.
    #[must_use]
    pub fn removes(self) -> bool {
        matches!(self, Self::Remove | Self::Expire)
    }

    /// Whether it changes what there is: it makes a version, or removes the memory.
    #[must_use]
    pub fn alters(self) -> bool {
        self.writes() || self.removes()
    }
}

/// A moment in history: the state as it was right after an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moment {
    /// The event's number.
    pub event: u64,
    /// Its commit.
    pub commit: ObjectId,
}

/// Who acted and why, as the caller says: recorded, not verified.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Context {
    /// Who acted: an agent's, a person's or a program's name.
    pub actor: Option<String>,
    /// The session the command belongs to.
    pub session: Option<String>,
    /// The id of the model's tool call.
    pub tool_use_id: Option<String>,
    /// The program the command came through.
    pub client: Option<String>,
    /// The trace it belongs to: a trace id of the W3C Trace Context, say.
    pub trace: Option<String>,
    /// Why, in the caller's words.
    pub reason: Option<String>,
    /// The door it came through: `cli`, `tool`, `mcp`, `library`.
    pub door: Option<&'static str>,
    /// Whether it is an agent that looks back: what has expired is not there for it, in history
    /// either. It is not recorded.
    pub of_agent: bool,
    /// SHA-256 of the text the caller acts upon: the command is refused if the memory has moved
    /// on, and succeeds unchanged if it already is what the command asks for.
    pub base_sha256: Option<Digest>,
}

/// A path in an event.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// `/memories` itself.
    Root,
    /// A memory's path, or that of a directory the memory is in. `None` if its name key is gone.
    Of(MemoryId, Option<MemoryPath>),
    /// What was asked for, where it is no memory's path; cut short if very long.
    Asked(String),
}

/// One memory an event touched.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Touch {
    /// The memory.
    pub id: MemoryId,
    /// What was done to it.
    pub change: Change,
    /// Its path after the event; before it, for a removal. `None` if its name key is gone.
    pub path: Option<MemoryPath>,
    /// Its version after the event; the last one, for a removal.
    pub version: u64,
    /// Bytes of text in that version.
    pub bytes: u64,
    /// The blob of that version, and the SHA-256 of its ciphertext, where one was written.
    pub blob: Option<(ObjectId, Digest)>,
    /// The earlier version of the same memory that this one goes back to, in whole or, after a
    /// merge, in part.
    pub from: Option<u64>,
    /// Why a sweep took it.
    pub because: Option<Because>,
}

/// A secret that was stripped before anything was kept: what it was, never its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Redaction {
    /// The kind, as it stands in the marker.
    pub kind: String,
    /// The line it stood in, counted from 1, in the text as the command would have left it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Where it stood, if not in a text: `path`, `new_path`, or a part of the context.
    #[serde(rename = "in", default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The keyed fingerprint in its marker, where the policy asks for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
}

impl Redaction {
    /// One in a text.
    pub(crate) fn in_text(finding: &Finding) -> Self {
        Self {
            kind: finding.kind.as_str().to_owned(),
            line: Some(finding.line),
            place: None,
            fingerprint: finding.fingerprint.map(|bits| format!("{bits:08x}")),
        }
    }

    /// One anywhere else.
    pub(crate) fn elsewhere(kind: &Kind, place: &str) -> Self {
        Self {
            kind: kind.as_str().to_owned(),
            line: None,
            place: Some(place.to_owned()),
            fingerprint: None,
        }
    }
}

/// The record of one command.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// Its number: 0 for `init`, one more each time.
    pub number: u64,
    /// SHA-256 of the parent commit object; `None` for the first.
    pub parent: Option<Digest>,
    /// The tree of its commit.
    pub tree: ObjectId,
    /// When, by the store's clock, in milliseconds.
    pub time: DateTime<Utc>,
    /// How far the clock was behind the event before, in milliseconds, if it was.
    pub clock_behind_ms: Option<u64>,
    /// The command's name on the wire, or the verb of the command line.
    pub command: String,
    /// How it ended.
    pub outcome: Outcome,
    /// The one-word name of the error, where there was one.
    pub error: Option<String>,
    /// The door it came through.
    pub door: String,
    /// Who acted, as the caller says.
    pub actor: Option<String>,
    /// The session, as the caller says.
    pub session: Option<String>,
    /// The tool call's id, as the caller says.
    pub tool_use_id: Option<String>,
    /// The client program, as the caller says.
    pub client: Option<String>,
    /// The trace it belongs to, as the caller says.
    pub trace: Option<String>,
    /// The reason, as the caller says.
    pub reason: Option<String>,
    /// The path the command named first.
    pub path: Option<Place>,
    /// The path a rename named second.
    pub new_path: Option<Place>,
    /// The memories it touched.
    pub memories: Vec<Touch>,
    /// The version of the rules that were looked for; `None` in events older than redaction.
    pub rules: Option<u32>,
    /// What was stripped before anything was kept, at most [`REDACTIONS_MAX`] of it.
    pub redactions: Vec<Redaction>,
    /// The moments in history that it read from, or went back to: at most two.
    pub at: Vec<Moment>,
    /// The events it undid, as runs of numbers with both ends, at most [`UNDONE_RUNS_MAX`].
    pub undone: Vec<(u64, u64)>,
    /// The newest moment that was known, and is no longer in history: for `accept_rollback`.
    pub lost: Option<Moment>,
    /// Who was let in or out, by the name in `recipients` or `signers`.
    pub member: Option<String>,
    /// The hold that begins or ends with it.
    pub hold: Option<HoldChange>,
    /// What was erased.
    pub receipt: Option<Receipt>,
    /// Whether the sweep was told to go by a clock that had gone back, or leapt ahead.
    pub clock_accepted: bool,
    /// Which machine's copy of the store recorded it; `None` in events of format 1.
    pub replica: Option<ReplicaId>,
    /// The keys in force from it on, where it changes them.
    pub(crate) keys: Option<KeyCommitment>,
}

/// Shows nothing of what the caller said.
impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Context(…)")
    }
}

/// Shows what a commit shows in the clear.
impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Event({} {})", self.number, self.subject())
    }
}

/// Shows which kind it is, not the path.
impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Root => f.write_str("Root"),
            Self::Of(id, _) => write!(f, "Of({id}, …)"),
            Self::Asked(_) => f.write_str("Asked(…)"),
        }
    }
}

impl Place {
    /// What was asked for, bounded.
    pub(crate) fn asked(text: &str) -> Self {
        Self::Asked(bounded(text, ASKED_CHARACTERS_MAX))
    }
}

/// Cuts a text that came from outside to at most `characters_max` characters, visibly.
pub(crate) fn bounded(text: &str, characters_max: usize) -> String {
    match text.char_indices().nth(characters_max) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}… ({} bytes)", &text[..at], text.len()),
    }
}

/// What a caller says of itself, as records keep it: redacted, then cut short.
pub(crate) struct Said {
    pub(crate) actor: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) tool_use_id: Option<String>,
    pub(crate) client: Option<String>,
    pub(crate) trace: Option<String>,
    pub(crate) reason: Option<String>,
}

impl Said {
    /// Reads a context, and adds to `redactions` what was stripped from it.
    pub(crate) fn of(
        context: &Context,
        redactor: &Redactor,
        redactions: &mut Vec<Redaction>,
    ) -> Self {
        let mut kept = |text: &Option<String>, place: &str| {
            let (text, found) = redactor.line(text.as_deref()?);
            let found = found.iter();
            redactions.extend(found.map(|found| Redaction::elsewhere(&found.kind, place)));
            Some(bounded(&text, CONTEXT_CHARACTERS_MAX))
        };
        Self {
            actor: kept(&context.actor, "actor"),
            session: kept(&context.session, "session"),
            tool_use_id: kept(&context.tool_use_id, "tool_use_id"),
            client: kept(&context.client, "client"),
            trace: kept(&context.trace, "trace"),
            reason: kept(&context.reason, "reason"),
        }
    }
}

impl Event {
    /// The commit's first line: the command and its outcome, nothing else.
    pub(crate) fn subject(&self) -> String {
        format!("{} {}", self.command, self.outcome.as_str())
    }

    /// Whether its commit has another tree than the one before: it is the first, it writes or
    /// removes a memory, or it changes the policy.
    pub(crate) fn changes_tree(&self) -> bool {
        let alters = |touch: &Touch| touch.change.alters();
        self.number == 0 || self.decides().is_some() || self.memories.iter().any(alters)
    }

    /// Whether it refused a command because its session had recorded too many events: then what was
    /// asked for is not looked at, and no path is named.
    pub(crate) fn refuses_too_many(&self) -> bool {
        self.error.as_deref() == Some(LIMIT_EXCEEDED)
            && self.path.is_none()
            && self.memories.is_empty()
    }

    /// Whether it is one that destroys keys, or marks memories for that.
    pub(crate) fn erases(&self) -> bool {
        let such = [ERASE_COMMAND, EXPIRE_COMMAND, REDACT_COMMAND];
        self.outcome == Outcome::Ok && such.contains(&self.command.as_str())
    }

    /// Whether it is one that may put other keys in force.
    pub(crate) fn may_change_keys(&self) -> bool {
        let such = [
            "init",
            UPGRADE_COMMAND,
            ACCEPT_COMMAND,
            REMOVE_MEMBER_COMMAND,
            REKEY_COMMAND,
        ];
        self.erases() || (self.outcome == Outcome::Ok && such.contains(&self.command.as_str()))
    }

    /// Whether it does no more than destroy keys of memories that earlier events have marked or
    /// erased, as its receipt says of each; `are_begun` answers whether they have.
    pub(crate) fn completes(
        &self,
        are_begun: impl FnOnce(&[Erased]) -> Result<bool>,
    ) -> Result<bool> {
        let Some(receipt) = &self.receipt else {
            return Ok(false);
        };
        let only_erases = |touch: &Touch| touch.change == Change::Erase && touch.blob.is_none();
        let touched: HashSet<MemoryId> = self.memories.iter().map(|touch| touch.id).collect();
        let listed: HashSet<MemoryId> = receipt.memories.iter().map(|m| m.memory).collect();
        let keeps_none = receipt.memories.iter().all(|memory| memory.kept.is_none());
        let is_such = self.command == ERASE_COMMAND
            && self.outcome == Outcome::Ok
            && self.memories.iter().all(only_erases)
            && keeps_none
            && touched == listed;
        Ok(is_such && are_begun(&receipt.memories)?)
    }

    /// The public file it puts in place anew.
    pub(crate) fn decides(&self) -> Option<PublicFile> {
        PublicFile::changed_by(&self.command).filter(|_| self.outcome == Outcome::Ok)
    }

    fn trailers(&self) -> String {
        let memory = |touch: &Touch| format!("Memory: {}\n", touch.id);
        let chain = self.parent.map_or_else(
            || "Chain: none\n".to_owned(),
            |parent| format!("Chain: sha256:{parent}\n"),
        );
        let memories: String = self.memories.iter().map(memory).collect();
        memories + &chain
    }

    /// The whole commit message: subject, sealed record, trailers. `name_key` answers the keys of
    /// memories that have no entry in the keyring yet.
    pub(crate) fn to_message<'a>(
        &self,
        keyring: &'a Keyring,
        name_key: impl Fn(MemoryId) -> Option<&'a Key>,
    ) -> Result<String> {
        let sealer = PathSealer { keyring, name_key };
        let mut json = Zeroizing::new(
            serde_json::to_string(&RecordJson::new(self, &sealer)?)
                .expect("a record has a JSON form"),
        );
        let size = size_class(json.len(), SIZE_CLASS_MIN);
        let padding = size - json.len();
        json.reserve_exact(padding);
        for _ in 0..padding {
            json.push(' ');
        }
        let armored = keyring.seal_record(json.as_bytes());
        Ok(format!(
            "{}\n\n{}\n\n{}",
            self.subject(),
            armored.trim_end(),
            self.trailers(),
        ))
    }

    /// Reads a commit message: opens the record, and checks that subject and trailers say the same.
    pub(crate) fn from_message(message: &str, keyring: &Keyring) -> Result<Self, EventFault> {
        Self::open(message, &PathOpener::strict(keyring))
    }

    /// As [`Self::from_message`], for one that reads many.
    pub(crate) fn open(message: &str, opener: &PathOpener<'_>) -> Result<Self, EventFault> {
        let message = Message::split(message)?;
        let event = message.open(opener)?;
        message.check(&event).map_err(EventFault::Damaged)?;
        Ok(event)
    }
}

/// A commit message taken apart; not opened, and nothing in it believed.
pub(crate) struct Message<'a> {
    pub(crate) subject: &'a str,
    armored: &'a str,
    pub(crate) trailers: &'a str,
}

impl<'a> Message<'a> {
    pub(crate) fn split(message: &'a str) -> Result<Self, EventFault> {
        let (subject, rest) = message.split_once("\n\n").ok_or("it has no record")?;
        let (armored, trailers) = rest.split_once("\n\n").ok_or("it has no trailers")?;
        Ok(Self {
            subject,
            armored,
            trailers,
        })
    }

    /// Opens the record.
    pub(crate) fn open(&self, opener: &PathOpener<'_>) -> Result<Event, EventFault> {
        let memories = self.trailers.lines().count();
        if self.armored.len() > RECORD_BYTES_MAX + memories * RECORD_BYTES_MAX_EACH {
            return Err("its record is longer than any".into());
        }
        let plain = opener.keyring.open_record(self.armored).map_err(|fault| {
            EventFault::Closed(match fault {
                OpenFault::WrongKey => "its record is sealed to another audit identity",
                OpenFault::Damaged => "its record does not open whole",
            })
        })?;
        match serde_json::from_slice::<RecordJson>(&plain) {
            Ok(json) if json.has_known_format() => Ok(json.open(opener)?),
            _ => Err(unread(&plain)),
        }
    }

    /// Checks that subject and trailers say what the record says, byte for byte.
    pub(crate) fn check(&self, event: &Event) -> Result<(), &'static str> {
        if self.trailers != event.trailers() {
            return Err("its trailers do not match its record");
        }
        if self.subject != event.subject() {
            return Err("its subject does not match its record");
        }
        Ok(())
    }
}

/// Why a commit message is no event.
#[derive(Debug)]
pub(crate) enum EventFault {
    /// Its record does not open.
    Closed(&'static str),
    Damaged(&'static str),
    /// Written by a format version not known here.
    Unknown(u32),
}

impl From<&'static str> for EventFault {
    fn from(why: &'static str) -> Self {
        Self::Damaged(why)
    }
}

impl EventFault {
    /// The error about the commit that has the message.
    pub(crate) fn of(self, commit: ObjectId) -> Error {
        let what = format!("commit {commit}");
        match self {
            Self::Closed(why) | Self::Damaged(why) => Error::damaged(what, why),
            Self::Unknown(found) => Error::UnknownFormat {
                what,
                found: found.to_string(),
            },
        }
    }
}

/// Why a record does not parse. The version first: another one may have other fields.
fn unread(plain: &[u8]) -> EventFault {
    match serde_json::from_slice::<Format>(plain) {
        Ok(format) if !(1..=FORMAT).contains(&format.agekeep) => {
            EventFault::Unknown(format.agekeep)
        }
        _ => EventFault::Damaged("its record does not parse"),
    }
}

/// The one field every format version has.
#[derive(Deserialize)]
struct Format {
    agekeep: u32,
}

/// The one spelling of a time in records and answers: UTC, milliseconds, `Z` (RFC 3339).
pub(crate) fn rfc3339(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// [`rfc3339`] for what is printed as JSON.
pub(crate) fn as_rfc3339<S: serde::Serializer>(
    time: &DateTime<Utc>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&rfc3339(*time))
}
