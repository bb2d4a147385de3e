//! How history is read: by revision, and on record.

use std::io;
use std::sync::Arc;

use chrono::{DateTime, SecondsFormat, Utc};

use crate::Text;
use crate::error::{Error, MembershipFault, Result, RetentionFault, SigningFault};
use crate::event::{Change, Context, Event, MemoryChange, Moment, PathRef};
use crate::id::MemoryId;
use crate::memory_tool::path::MemoryPath;
use crate::state::timeline::{Timeline, Version};
use crate::store::commit::{SealedPlan, record_sealed};
use crate::store::history::{RecordStatus, VersionInfo};
use crate::store::log::entry;
use crate::store::quota::{check_pace, check_reserve};
use crate::store::revision::{DIGITS_MIN, Revision, RevisionKind};
use crate::store::sweep::unexpired;
use crate::store::timeline::{moment_of, timeline};
use crate::store::versions::open_version;
use crate::store::{State, Store, redactor};

/// The subject of a look, for its record.
pub(in crate::store) struct HistoryRead {
    pub(in crate::store) command: &'static str,
    pub(in crate::store) path: Option<PathRef>,
    pub(in crate::store) at: Vec<Moment>,
    pub(in crate::store) touches: Vec<MemoryChange>,
}

/// Most commits that an ambiguous revision lists.
pub(super) const CANDIDATES_MAX: usize = 20;

pub(in crate::store) fn resolve(store: &Store, revision: &Revision) -> Result<Moment> {
    let (timeline, events) = (timeline(&store.state), store.state.catalog.events);
    let newest = events - 1;
    let event = match revision.kind {
        RevisionKind::Head(back) => newest
            .checked_sub(back)
            .ok_or_else(|| revision.missing(format!("there are only {events} events")))?,
        RevisionKind::Number(Some(number)) if number <= newest => number,
        RevisionKind::Number(_) => {
            return commit_named(
                &store.state,
                revision,
                format!("the newest event is {newest}"),
            );
        }
        RevisionKind::Commit => {
            let why = "no commit of this store begins like that".into();
            return commit_named(&store.state, revision, why);
        }
        RevisionKind::Time(time) => timeline.at_time(time).ok_or_else(|| {
            let begin = timeline.time(0).map(seconds).unwrap_or_default();
            revision.missing(format!("the store began at {begin}"))
        })?,
    };
    Ok(moment_of(&store.state, event))
}

/// Returns the only commit whose id starts with the revision's text.
pub(super) fn commit_named(state: &State, revision: &Revision, missing: String) -> Result<Moment> {
    let text = revision.as_str();
    let mut found = timeline(state).with_prefix(text);
    let first = found
        .next()
        .filter(|_| text.len() >= DIGITS_MIN)
        .ok_or_else(|| revision.missing(missing))?;
    let others: Vec<Moment> = found.take(CANDIDATES_MAX - 1).collect();
    if others.is_empty() {
        return Ok(first);
    }
    let shown = |moment: &Moment| {
        let command = timeline(state).command(moment.event);
        let (command, outcome) = command.expect("an event of the timeline");
        let time = timeline(state).time(moment.event).map(seconds);
        format!(
            "{} event {} {} {command} {}",
            moment.commit,
            moment.event,
            time.unwrap_or_default(),
            outcome.as_str()
        )
    };
    Err(Error::Ambiguous {
        revision: text.to_owned(),
        candidates: std::iter::once(&first).chain(&others).map(shown).collect(),
    })
}

/// Opens the record of an event.
pub(in crate::store) fn event_at(store: &Store, number: u64) -> Result<Arc<Event>> {
    if let Some((known, event)) = &*store.state.opened.borrow()
        && *known == number
    {
        return Ok(Arc::clone(event));
    }
    let moment = timeline(&store.state)
        .moment(number)
        .ok_or_else(|| Error::damaged(format!("event {number}"), "history does not have it"))?;
    let event = Arc::new(entry(store, moment.commit)?.0.event);
    let opened = Some((number, Arc::clone(&event)));
    store.state.opened.replace(opened);
    Ok(event)
}

/// Returns the text of any version, checked against its header and the event that wrote it.
pub(in crate::store) fn text_then(store: &Store, version: &Version) -> Result<Text> {
    if let Some(event) = timeline(&store.state).erased_at(version) {
        return Err(erased(version.id, event));
    }
    let event = event_at(store, version.event)?;
    let what = || format!("version {} of the memory {}", version.version, version.id);
    let written = |touch: &&MemoryChange| touch.id == version.id && touch.change.writes();
    let touch = event.memories.iter().find(written);
    let touch = touch
        .filter(|touch| touch.version == version.version)
        .ok_or_else(|| Error::damaged(what(), "its event does not name it"))?;
    let path = touch.path.as_ref();
    let path = path.ok_or_else(|| nameless(&store.state, version.id))?;
    let (blob, digest) = touch
        .blob
        .ok_or_else(|| Error::damaged(what(), "its event names no blob"))?;
    let sealed = store.ledger.repository.sealed(blob)?;
    if sealed.digest() != digest {
        return Err(Error::damaged(
            what(),
            "its blob does not have the SHA-256 that its event recorded",
        ));
    }
    open_version(&store.ledger, version.id, path, &sealed, version.version)
}

/// Tells whether the memory is hidden from this caller. Agents never see expired memories, swept or
/// not, in history either.
pub(in crate::store) fn is_hidden(state: &State, id: MemoryId, context: &Context) -> bool {
    if !context.of_agent {
        return false;
    }
    if let Some(memory) = state.catalog.memory(id) {
        return !unexpired(state).has(memory);
    }
    let life = timeline(state).life(id);
    life.last()
        .is_some_and(|part| part.change == Change::Expire)
}

/// Returns the error for a memory with no path that opens.
pub(in crate::store) fn nameless(state: &State, id: MemoryId) -> Error {
    match timeline(state).erased_by(id) {
        Some(event) => erased(id, event),
        None => Error::MissingKey {
            memory: id.to_string(),
        },
    }
}

/// Returns a path as the record of a look or an undo names it: by a memory that is or was at or
/// below it, otherwise as the caller wrote it.
pub(in crate::store) fn path_ref_ever(
    store: &Store,
    path: &MemoryPath,
    event: u64,
) -> Result<PathRef> {
    if path.is_root() {
        return Ok(PathRef::Root);
    }
    let timeline = timeline(&store.state);
    let there = timeline.at(path, event).map(|version| version.id);
    let ever = || timeline.ever_within(path).into_iter().min();
    match there.or_else(ever) {
        Some(id) if store.ledger.keyring.has(id)? => Ok(PathRef::Of(id, Some(path.clone()))),
        _ => Ok(PathRef::asked(&redactor(store)?.line(path.as_str()).0)),
    }
}

/// Records a look, if the caller can write to the store.
pub(in crate::store) fn record_history_read(
    store: &mut Store,
    look: HistoryRead,
    context: &Context,
) -> Result<RecordStatus> {
    let recorded = try_record_history_read(store, look, context);
    match recorded {
        Ok(event) => Ok(RecordStatus::Event(event)),
        Err(error) if cannot_write(&error) => Ok(RecordStatus::Not(error.to_string())),
        Err(error) => Err(error),
    }
}

pub(in crate::store) fn try_record_history_read(
    store: &mut Store,
    look: HistoryRead,
    context: &Context,
) -> Result<u64> {
    check_reserve(&store.state)?;
    check_pace(store, context)?;
    let says = |event: &mut Event| {
        event.path = look.path;
        event.at = look.at;
    };
    let touches = SealedPlan::touching(look.touches);
    Ok(record_sealed(store, look.command, touches, says, context)?.event)
}

/// Tells whether the error means that the caller may read the store but not write to it.
pub(super) fn cannot_write(error: &Error) -> bool {
    match error {
        Error::NoSigningKey
        | Error::Membership(
            MembershipFault::TwoKeyrings { .. } | MembershipFault::SharedKeyring { .. },
        )
        | Error::NotASigner { .. }
        | Error::Signing(SigningFault::NotValid { .. } | SigningFault::NotAllowed { .. }) => true,
        Error::Io { source, .. } => matches!(
            source.kind(),
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
        ),
        _ => false,
    }
}

/// Returns the touch for a version that was looked at.
pub(in crate::store) fn look_change(version: &Version) -> MemoryChange {
    let last = (version.version, version.bytes);
    MemoryChange::of(version.id, Change::Look, version.path.clone(), last)
}

/// Converts a version to its public form.
pub(in crate::store) fn side(version: &Version) -> VersionInfo {
    VersionInfo {
        id: version.id,
        path: version.path.clone(),
        version: version.version,
        bytes: version.bytes,
        event: version.event,
    }
}

/// Returns the error for an erased memory or version.
pub(in crate::store) fn erased(id: MemoryId, event: u64) -> Error {
    Error::Retention(RetentionFault::Erased {
        memory: id.to_string(),
        event,
    })
}

/// Formats a time for messages.
pub(in crate::store) fn seconds(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Returns the error for a path with nothing at it at a moment.
pub(in crate::store) fn not_there(path: &MemoryPath, at: Moment, known: &Timeline) -> Error {
    let shown = path.as_str().to_owned();
    let time = known.time(at.event).map(seconds).unwrap_or_default();
    let hint = if known.ever_within(path).is_empty() {
        format!(
            "`agekeep view --at {} /memories` lists what was there; an erased memory leaves no \
             path, and `agekeep log --command erase` lists the erasures",
            at.event
        )
    } else {
        "something was there at another time: `agekeep log` with this path shows when".to_owned()
    };
    Error::NotThere {
        path: shown,
        when: format!("after event {} ({time})", at.event),
        hint,
    }
}

/// Returns the error for a path with no file at it at a moment; it may have been a directory.
pub(in crate::store) fn no_file_at(path: &MemoryPath, at: Moment, known: &Timeline) -> Error {
    let state = known.state(at.event);
    let mut paths = state.values().filter_map(|version| version.path.as_ref());
    let is_directory = path.is_root() || paths.any(|found| found.is_below(path));
    if !is_directory {
        return not_there(path, at, known);
    }
    let (path, event) = (path.as_str().to_owned(), at.event);
    Error::NotThere {
        when: format!("but a directory after event {event}"),
        hint: format!("name a file in it: `agekeep view --at {event} {path}` lists them"),
        path,
    }
}
