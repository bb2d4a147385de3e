//! The event: the content of a command's sealed record, and its form as a commit message.
//!
//! A record never holds content. A memory's path in it is sealed again under that memory's name
//! key, so that erasing the key erases the path too. A path that belongs to no memory is kept as
//! requested, under the audit identity alone.

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

use self::record::{PathSealer, RecordJson};
use crate::crypto::aead::Key;
use crate::crypto::digest::Digest;
use crate::crypto::seal::{OpenFault, size_class};
use crate::error::{Error, Result};
use crate::id::{MemoryId, ObjectId, ReplicaId};
use crate::keyring::{KeyCommitment, Keyring};
use crate::memory_tool::path::MemoryPath;
use crate::redact::{Finding, Kind, Redactor};

pub use self::command::ADMINISTRATIVE_COMMANDS;
pub(crate) use self::command::{
    ACCEPT_COMMAND, ADD_MEMBER_COMMAND, ERASE_COMMAND, EXPIRE_COMMAND, EXPORT_COMMAND,
    EXPORT_HISTORY_COMMAND, HOLD_ADD_COMMAND, HOLD_RM_COMMAND, INIT_COMMAND, POLICY_COMMAND,
    PublicFile, REDACT_COMMAND, REKEY_COMMAND, REMOVE_MEMBER_COMMAND, REPORT_COMMAND, SIGNERS_ADD,
    SIGNERS_RM, SIGNERS_SET, UPGRADE_COMMAND,
};
pub(crate) use self::contents::{RecordViolation, may_alter, may_leave};
pub(crate) use self::record::PathOpener;
pub use self::retention::{Erased, HoldChange, HoldOn, NOT_REACHED, Receipt, RemovalReason};

/// The error of a command that a policy limit refused, as records name it.
pub(crate) const LIMIT_EXCEEDED: &str = "limit_exceeded";
/// The format of new records; those of format 1 have no replica and no keys.
const FORMAT: u32 = 2;
/// Smallest size class of a record, in bytes of JSON.
const SIZE_CLASS_MIN: usize = 512;
/// Longest armored record, in bytes: a part for the record itself, which may list everything that
/// an erasure reaches, and a part for each memory that it touches.
const RECORD_BYTES_MAX: usize = 16 * 1024 * 1024;
const RECORD_BYTES_MAX_EACH: usize = 16 * 1024;
/// Longest text kept of a refused or unknown path, in characters.
const ASKED_CHARACTERS_MAX: usize = 256;
/// Longest text kept of each context field, in characters.
const CONTEXT_CHARACTERS_MAX: usize = 1_024;

/// Most redactions that one record lists.
pub const REDACTIONS_MAX: usize = 1_000;

/// Most runs of event numbers that one record lists as undone.
pub const UNDONE_RUNS_MAX: usize = 1_000;

/// The outcome of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Outcome {
    /// It succeeded.
    Ok,
    /// It failed: nothing there, nothing unique, over a limit.
    Error,
    /// It was refused: a path that leaves `/memories` or hides something.
    Denied,
}

impl Outcome {
    /// Returns the word in records and commit messages.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Denied => "denied",
        }
    }
}

/// The change that a command made to one memory. (Catalog files store it by its position here.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Change {
    /// Nothing: the command that named it failed.
    None,
    /// Its text was read.
    Read,
    /// It was created.
    Add,
    /// It has a new text.
    Edit,
    /// It has a new path.
    Move,
    /// It was deleted.
    Remove,
    /// It was deleted, and exists again.
    Restore,
    /// An administrator looked at its text or an older one: no access.
    Look,
    /// The same text was re-encrypted to a new key: no access.
    Reseal,
    /// It had expired, and was removed.
    Expire,
    /// It is gone, and its keys are to be destroyed by the next reader.
    Mark,
    /// It is gone, and its keys are destroyed.
    Erase,
    /// Secrets in its text were replaced by markers, and earlier versions were erased: no access.
    Redact,
}

impl Change {
    /// Tells whether it makes a version.
    #[must_use]
    pub fn writes(self) -> bool {
        matches!(
            self,
            Self::Add | Self::Edit | Self::Move | Self::Restore | Self::Reseal | Self::Redact
        )
    }

    /// Tells whether it removes the memory.
    #[must_use]
    pub fn removes(self) -> bool {
        matches!(self, Self::Remove | Self::Expire)
    }

    /// Tells whether it makes a version or removes the memory.
    #[must_use]
    pub fn alters(self) -> bool {
        self.writes() || self.removes()
    }
}

/// A moment in history: the state right after an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moment {
    /// The event's number.
    pub event: u64,
    /// Its commit.
    pub commit: ObjectId,
}

/// The actor and purpose of a command as the caller states them: recorded, not verified.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Context {
    /// The actor: the name of an agent, a person or a program.
    pub actor: Option<String>,
    /// The session the command belongs to.
    pub session: Option<String>,
    /// The id of the model's tool call.
    pub tool_use_id: Option<String>,
    /// The program the command came through.
    pub client: Option<String>,
    /// The trace it belongs to, such as a trace id of W3C Trace Context.
    pub trace: Option<String>,
    /// The reason, in the caller's words.
    pub reason: Option<String>,
    /// The interface it came through: `cli`, `tool`, `mcp`, `ui`, `library`.
    pub door: Option<&'static str>,
    /// True if an agent looks at history: expired memories are hidden from it there too. It is not
    /// recorded.
    pub of_agent: bool,
    /// SHA-256 of the text that the caller acts upon. The command is refused if the memory has
    /// changed since, and succeeds unchanged if the memory already is as the command wants it.
    pub base_sha256: Option<Digest>,
}

/// A path in an event.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PathRef {
    /// `/memories` itself.
    Root,
    /// A memory's path, or that of a directory the memory is in. `None` if its name key is gone.
    Of(MemoryId, Option<MemoryPath>),
    /// A requested path that belongs to no memory; cut off if very long.
    Asked(String),
}

/// The effect of an event on one memory.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryChange {
    /// The memory.
    pub id: MemoryId,
    /// The change made to it.
    pub change: Change,
    /// Its path after the event; before it, for a removal. `None` if its name key is gone.
    pub path: Option<MemoryPath>,
    /// Its version after the event; the last one, for a removal.
    pub version: u64,
    /// Bytes of text in that version.
    pub bytes: u64,
    /// The blob of that version and the SHA-256 of its ciphertext, if one was written.
    pub blob: Option<(ObjectId, Digest)>,
    /// The earlier version of the memory that this one goes back to, in whole or, after a merge, in
    /// part.
    pub from: Option<u64>,
    /// The reason why a sweep took it.
    pub because: Option<RemovalReason>,
}

impl MemoryChange {
    /// Makes a change that writes no blob.
    pub(crate) fn of(
        id: MemoryId,
        change: Change,
        path: Option<MemoryPath>,
        (version, bytes): (u64, u64),
    ) -> Self {
        Self {
            id,
            change,
            path,
            version,
            bytes,
            blob: None,
            from: None,
            because: None,
        }
    }
}

/// A secret that was redacted before anything was stored: its kind, never its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Redaction {
    /// The kind, as in the marker.
    pub kind: String,
    /// Its line, counted from 1, in the text that the command would have left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Its place outside a text: `path`, `new_path`, or a context field.
    #[serde(rename = "in", default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The keyed fingerprint in its marker, if the policy asks for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
}

impl Redaction {
    /// Builds the redaction of a finding in a text.
    pub(crate) fn in_text(finding: &Finding) -> Self {
        Self {
            kind: finding.kind.as_str().to_owned(),
            line: Some(finding.line),
            place: None,
            fingerprint: finding.fingerprint.map(|bits| format!("{bits:08x}")),
        }
    }

    /// Builds the redaction of a finding outside a text.
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
    /// The event number: 0 for `init`, then one more each time.
    pub number: u64,
    /// SHA-256 of the parent commit object; `None` for the first.
    pub parent: Option<Digest>,
    /// The tree of its commit.
    pub tree: ObjectId,
    /// The time by the store's clock, in milliseconds.
    pub time: DateTime<Utc>,
    /// How far the clock was behind the event before, in milliseconds, if at all.
    pub clock_behind_ms: Option<u64>,
    /// The command's wire name, or its verb on the command line.
    pub command: String,
    /// The outcome.
    pub outcome: Outcome,
    /// The one-word name of the error, if any.
    pub error: Option<String>,
    /// The interface it came through.
    pub door: String,
    /// The actor, as the caller says.
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
    /// The first path of the command.
    pub path: Option<PathRef>,
    /// The second path of a rename.
    pub new_path: Option<PathRef>,
    /// The memories it touched.
    pub memories: Vec<MemoryChange>,
    /// The version of the redaction rules in use; `None` in events older than redaction.
    pub rules: Option<u32>,
    /// The secrets redacted before anything was stored, at most [`REDACTIONS_MAX`] of them.
    pub redactions: Vec<Redaction>,
    /// The moments in history that it read or went back to, at most two.
    pub at: Vec<Moment>,
    /// The events it undid, as inclusive runs of numbers, at most [`UNDONE_RUNS_MAX`].
    pub undone: Vec<(u64, u64)>,
    /// The newest known moment that history no longer contains: for `accept_rollback`.
    pub lost: Option<Moment>,
    /// The affected member, by the name in `recipients` or `signers`.
    pub member: Option<String>,
    /// The hold it adds or lifts.
    pub hold: Option<HoldChange>,
    /// The erasure it carried out.
    pub receipt: Option<Receipt>,
    /// True if a sweep was told to accept a clock that had gone back or leapt ahead.
    pub clock_accepted: bool,
    /// True for the first event of a trial store, whose times may be made up.
    pub trial: bool,
    /// The replica that recorded it; `None` in events of format 1.
    pub replica: Option<ReplicaId>,
    /// The keys in force from this event on, if it changes them.
    pub(crate) keys: Option<KeyCommitment>,
}

/// Hides everything that the caller said.
impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Context(…)")
    }
}

/// Shows only what a commit shows in the clear.
impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Event({} {})", self.number, self.subject())
    }
}

/// Shows the kind, not the path.
impl std::fmt::Debug for PathRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Root => f.write_str("Root"),
            Self::Of(id, _) => write!(f, "Of({id}, …)"),
            Self::Asked(_) => f.write_str("Asked(…)"),
        }
    }
}

impl PathRef {
    /// Builds the place of a requested path, cut to the limit.
    pub(crate) fn asked(text: &str) -> Self {
        Self::Asked(bounded(text, ASKED_CHARACTERS_MAX))
    }
}

/// Cuts an untrusted text to at most `characters_max` characters, visibly.
pub(crate) fn bounded(text: &str, characters_max: usize) -> String {
    match text.char_indices().nth(characters_max) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}… ({} bytes)", &text[..at], text.len()),
    }
}

/// The caller's context as records store it: redacted, then cut to the limit.
pub(crate) struct CallerClaims {
    pub(crate) actor: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) tool_use_id: Option<String>,
    pub(crate) client: Option<String>,
    pub(crate) trace: Option<String>,
    pub(crate) reason: Option<String>,
}

/// Parses a trailer of a commit that names a memory, as [`Event::to_message`] writes it.
pub(crate) fn named_memory(line: &str) -> Option<MemoryId> {
    MemoryId::from_hex(line.strip_prefix("Memory: ")?)
}

impl Event {
    /// Makes the record of a command that has done nothing yet.
    pub(crate) fn new(
        command: &str,
        context: &Context,
        said: CallerClaims,
        (number, parent, tree): (u64, Option<Digest>, ObjectId),
        time: DateTime<Utc>,
    ) -> Self {
        Self {
            number,
            parent,
            tree,
            time,
            clock_behind_ms: None,
            command: command.to_owned(),
            outcome: Outcome::Ok,
            error: None,
            door: context.door.unwrap_or("library").to_owned(),
            actor: said.actor,
            session: said.session,
            tool_use_id: said.tool_use_id,
            client: said.client,
            trace: said.trace,
            reason: said.reason,
            path: None,
            new_path: None,
            memories: Vec::new(),
            rules: Some(crate::redact::VERSION),
            redactions: Vec::new(),
            at: Vec::new(),
            undone: Vec::new(),
            lost: None,
            member: None,
            hold: None,
            receipt: None,
            clock_accepted: false,
            trial: false,
            replica: None,
            keys: None,
        }
    }
}

impl CallerClaims {
    /// Converts a context, adding what was stripped from it to `redactions`.
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
    /// Returns the commit's first line: the command and its outcome.
    pub(crate) fn subject(&self) -> String {
        format!("{} {}", self.command, self.outcome.as_str())
    }

    /// Tells whether its commit's tree differs from the parent's: it is the first, it writes or
    /// removes a memory, or it changes a public file.
    pub(crate) fn changes_tree(&self) -> bool {
        let alters = |touch: &MemoryChange| touch.change.alters();
        self.number == 0 || self.decides().is_some() || self.memories.iter().any(alters)
    }

    /// Tells whether it refused a command because its session had recorded too many events. Such an
    /// event names no path, because the request was not examined.
    pub(crate) fn refuses_too_many(&self) -> bool {
        self.error.as_deref() == Some(LIMIT_EXCEEDED)
            && self.path.is_none()
            && self.memories.is_empty()
    }

    /// Tells whether its command may destroy keys of memories, or mark memories for that.
    pub(crate) fn erases(&self) -> bool {
        let such = [ERASE_COMMAND, EXPIRE_COMMAND, REDACT_COMMAND];
        self.outcome == Outcome::Ok && such.contains(&self.command.as_str())
    }

    /// Tells whether its command may change the keys in force.
    pub(crate) fn may_change_keys(&self) -> bool {
        let such = [
            INIT_COMMAND,
            UPGRADE_COMMAND,
            ACCEPT_COMMAND,
            REMOVE_MEMBER_COMMAND,
            REKEY_COMMAND,
        ];
        self.erases() || (self.outcome == Outcome::Ok && such.contains(&self.command.as_str()))
    }

    /// Tells whether it only destroys keys of memories that earlier events have marked or erased,
    /// as its receipt says of each; `are_begun` verifies that they have.
    pub(crate) fn completes(
        &self,
        are_begun: impl FnOnce(&[Erased]) -> Result<bool>,
    ) -> Result<bool> {
        let Some(receipt) = &self.receipt else {
            return Ok(false);
        };
        let only_erases =
            |touch: &MemoryChange| touch.change == Change::Erase && touch.blob.is_none();
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

    /// Returns the public file that it replaces.
    pub(crate) fn decides(&self) -> Option<PublicFile> {
        PublicFile::changed_by(&self.command).filter(|_| self.outcome == Outcome::Ok)
    }

    fn trailers(&self) -> String {
        let memory = |touch: &MemoryChange| format!("Memory: {}\n", touch.id);
        let chain = self.parent.map_or_else(
            || "Chain: none\n".to_owned(),
            |parent| format!("Chain: sha256:{parent}\n"),
        );
        let memories: String = self.memories.iter().map(memory).collect();
        memories + &chain
    }

    /// Builds the commit message: subject, sealed record, trailers. `name_key` returns the keys of
    /// memories that have no keyring entry yet.
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

    /// Parses a commit message: opens the record, and verifies that subject and trailers match it.
    pub(crate) fn from_message(message: &str, keyring: &Keyring) -> Result<Self, EventFault> {
        Self::open(message, &PathOpener::strict(keyring))
    }

    /// Like [`Self::from_message`], with an opener for many messages.
    pub(crate) fn open(message: &str, opener: &PathOpener<'_>) -> Result<Self, EventFault> {
        let message = Message::split(message)?;
        let event = message.open(opener)?;
        message.check(&event).map_err(EventFault::Damaged)?;
        Ok(event)
    }
}

/// The parts of a commit message, not yet opened or verified.
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
            EventFault::Unreadable(match fault {
                OpenFault::WrongKey => "its record is encrypted to another audit identity",
                OpenFault::Damaged => "its record is damaged and cannot be decrypted",
            })
        })?;
        match serde_json::from_slice::<RecordJson>(&plain) {
            Ok(json) if json.has_known_format() => Ok(json.open(opener)?),
            _ => Err(unread(&plain)),
        }
    }

    /// Verifies that subject and trailers match the record, byte for byte.
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

/// The reasons why a commit message is not a valid event.
#[derive(Debug)]
pub(crate) enum EventFault {
    /// The record does not open.
    Unreadable(&'static str),
    Damaged(&'static str),
    /// The record has an unknown format version.
    Unknown(u32),
}

impl From<&'static str> for EventFault {
    fn from(why: &'static str) -> Self {
        Self::Damaged(why)
    }
}

impl EventFault {
    /// Builds the error about the commit with this message.
    pub(crate) fn of(self, commit: ObjectId) -> Error {
        let what = format!("commit {commit}");
        match self {
            Self::Unreadable(why) | Self::Damaged(why) => Error::damaged(what, why),
            Self::Unknown(found) => Error::UnknownFormat {
                what,
                found: found.to_string(),
            },
        }
    }
}

/// Finds out why a record does not parse. The version comes first: another version may have other
/// fields.
fn unread(plain: &[u8]) -> EventFault {
    match serde_json::from_slice::<RecordFormat>(plain) {
        Ok(format) if !(1..=FORMAT).contains(&format.agekeep) => {
            EventFault::Unknown(format.agekeep)
        }
        _ => EventFault::Damaged("its record does not parse"),
    }
}

/// The only field that every format version has.
#[derive(Deserialize)]
struct RecordFormat {
    agekeep: u32,
}

/// Formats a time for records and answers: UTC, milliseconds, `Z` (RFC 3339).
pub(crate) fn rfc3339(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Serializes a time like [`rfc3339`], for JSON output.
pub(crate) fn as_rfc3339<S: serde::Serializer>(
    time: &DateTime<Utc>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&rfc3339(*time))
}
