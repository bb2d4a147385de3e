//! Reads of any moment in history, each recorded as a look.

pub(super) mod blame_and_grep;
pub(super) mod diff;
pub(super) mod view;

use std::io;
use std::sync::Arc;

use chrono::{DateTime, SecondsFormat, Utc};
use serde::Serialize;

use crate::Text;
use crate::diff::TextDiff;
use crate::error::{Error, MembershipFault, Result, RetentionFault, SigningFault};
use crate::event::{Change, Context, Event, MemoryChange, Moment, PathRef};
use crate::id::{MemoryId, ObjectId, StoreId};
use crate::memory_tool::path::MemoryPath;
use crate::state::timeline::file::TimelineQuery;
use crate::state::timeline::{Timeline, Version};
use crate::store::State;
use crate::store::Store;
use crate::store::at_one_time;
use crate::store::commit::{SealedPlan, commit, event, record};
use crate::store::config::require_reader;
use crate::store::lock;
use crate::store::log;
use crate::store::log::ChangeSet;
use crate::store::log::{Entry, Filter, entry};
use crate::store::plan::plan_path_refused;
use crate::store::quota::{check_pace, check_reserve};
use crate::store::recovery::replay::settle_catalog;
use crate::store::recovery::{check_all, commits_since, refresh};
use crate::store::redactor;
use crate::store::revision::{DIGITS_MIN, Revision, RevisionKind};
use crate::store::sweep::unexpired;
use crate::store::versions::open_version;

/// Most commits that an ambiguous revision lists.
const CANDIDATES_MAX: usize = 20;

/// The subject of a look, for its record.
pub(super) struct HistoryRead {
    pub(super) command: &'static str,
    pub(super) path: Option<PathRef>,
    pub(super) at: Vec<Moment>,
    pub(super) touches: Vec<MemoryChange>,
}

impl Store {
    /// Parses a path that an agent names outside the memory commands. agekeep records a path that
    /// no memory may have, as it does for memory commands, under `command`. It does so only if the
    /// caller can write to the store.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the memory tool would refuse the path.
    pub fn parse_asked_path(
        &mut self,
        text: &str,
        command: &'static str,
        context: &Context,
    ) -> Result<MemoryPath> {
        let parsed = self.parse_path(text);
        if parsed.is_err() {
            let recorded = with_lock(self, |store| match plan_path_refused(store, text)? {
                Some(plan) => commit(store, plan, command, context).map(drop),
                None => Ok(()),
            });
            recorded.or_else(|error| cannot_write(&error).then_some(()).ok_or(error))?;
        }
        parsed
    }

    /// Resolves a revision to a moment.
    ///
    /// # Errors
    /// [`Error::NoRevision`] if nothing matches, [`Error::Ambiguous`] if several commits do.
    pub fn moment(&mut self, revision: &Revision) -> Result<Moment> {
        with_timeline(self, |store| resolve(store, revision))
    }

    /// Iterates over all events, newest first. This counts as an access to no memory.
    pub fn log(&self) -> impl Iterator<Item = Result<Entry>> + '_ {
        log::log(self)
    }

    /// Parses a path that a memory has or had, such as for [`Filter::path`], by the rules of the
    /// memory tool.
    ///
    /// # Errors
    /// [`Error::DeniedPath`] for a path that the memory tool denies, [`Error::Invalid`] for one
    /// that is too long.
    pub fn parse_path(&self, text: &str) -> Result<MemoryPath> {
        log::parse_path(&self.state, text)
    }

    /// Returns the store's permanent id and its newest event known to this process.
    #[must_use]
    pub fn last_seen(&self) -> (StoreId, Moment) {
        log::last_seen(self)
    }

    /// Returns the number of events, including new ones of other processes.
    ///
    /// # Errors
    /// Any error of checking history.
    pub fn count_events(&mut self) -> Result<u64> {
        log::count_events(self)
    }

    /// Returns the changes since the event count `since`, read from at most `events_max` of the
    /// newest events.
    ///
    /// # Errors
    /// Any error of checking history.
    pub fn changes_since(&mut self, since: u64, events_max: u64) -> Result<ChangeSet> {
        log::changes_since(self, since, events_max)
    }

    /// Searches the texts of memories for a pattern. This counts as an access to no memory.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the pattern does not parse. A version that does not open is reported
    /// in [`Matches::problems`].
    pub fn grep(&mut self, search: &Search, context: &Context) -> Result<Recorded<Matches>> {
        blame_and_grep::grep(self, search, context)
    }

    /// Returns an event and its changes, as a readable diff.
    ///
    /// # Errors
    /// [`Error::NoRevision`] or [`Error::Ambiguous`]. If the texts of a memory do not open, that is
    /// a [`MemoryDiff::problem`], not an error.
    pub fn show(&mut self, revision: &Revision, context: &Context) -> Result<Recorded<EventDiff>> {
        diff::show(self, revision, context)
    }

    /// Returns the newest events that match a filter with their changes, newest first. A single
    /// look is recorded for all of them.
    ///
    /// # Errors
    /// The errors of [`Store::events`].
    #[allow(clippy::missing_panics_doc)] // never: the expectation says why
    pub fn events_with_changes(
        &mut self,
        filter: &Filter,
        limit: usize,
        context: &Context,
    ) -> Result<Recorded<impl Iterator<Item = Result<EventDiff>> + '_>> {
        diff::events_with_changes(self, filter, limit, context)
    }

    /// Compares two moments. Without `to`, compares `from` with the present; without both, returns
    /// the changes of the last event that changed anything.
    ///
    /// # Errors
    /// [`Error::NoRevision`] or [`Error::Ambiguous`].
    pub fn diff(
        &mut self,
        from: Option<&Revision>,
        to: Option<&Revision>,
        within: Option<&MemoryPath>,
        context: &Context,
    ) -> Result<Recorded<Difference>> {
        diff::diff(self, from, to, within, context)
    }

    /// Returns the answer that the memory tool's `view` would have given at a moment.
    ///
    /// # Errors
    /// [`Error::NotThere`] if nothing was at the path then; [`Error::NoRevision`] or
    /// [`Error::Ambiguous`]; [`Error::Invalid`] for a line range that the file did not have.
    pub fn view_at(
        &mut self,
        path: &str,
        range: Option<(i64, i64)>,
        revision: &Revision,
        context: &Context,
    ) -> Result<Recorded<View>> {
        view::view_at(self, path, range, revision, context)
    }

    /// Returns a file's text at a moment, byte for byte, or the listing of a directory.
    ///
    /// # Errors
    /// The errors of [`Store::view_at`].
    pub fn show_at(
        &mut self,
        path: &str,
        revision: &Revision,
        context: &Context,
    ) -> Result<Recorded<View>> {
        view::show_at(self, path, revision, context)
    }

    /// Returns a version of the memory that is at a path, or was the last there, byte for byte.
    ///
    /// # Errors
    /// [`Error::NotThere`] if no memory ever was at the path, or it has no such version.
    #[allow(clippy::missing_panics_doc)] // never: the expectation says why
    pub fn show_version(
        &mut self,
        path: &str,
        version: u64,
        context: &Context,
    ) -> Result<Recorded<View>> {
        view::show_version(self, path, version, context)
    }

    /// Blames each line of the file that was at a path: its author, time, event and session. Blame
    /// follows the memory through renames. Lines that an undo brought back keep their original
    /// author. If older versions are erased, blame starts with the first version that is not, see
    /// [`VersionOrigin::or_before`].
    ///
    /// # Errors
    /// [`crate::error::Error::NotThere`] if no file was at the path then;
    /// [`crate::error::Error::Retention`] if that version is erased;
    /// [`crate::error::Error::NoRevision`] or [`crate::error::Error::Ambiguous`].
    pub fn blame(
        &mut self,
        path: &MemoryPath,
        revision: &Revision,
        context: &Context,
    ) -> Result<Recorded<Blame>> {
        blame_and_grep::blame(self, path, revision, context)
    }

    /// Iterates over the events that match a filter, newest first. This counts as an access to no
    /// memory.
    ///
    /// A path stands for every memory that was ever at or below it. Their events from before and
    /// after a rename match, and so do events that only asked for the path.
    ///
    /// # Errors
    /// Any error of checking history. Each entry is opened only when the iterator reaches it.
    pub fn events(&mut self, filter: &Filter) -> Result<impl Iterator<Item = Result<Entry>> + '_> {
        log::events(self, filter)
    }

    /// Iterates over the events that read a memory, or looked at it without that counting as a
    /// read, newest first. A path stands for every memory that was ever at or below it.
    ///
    /// # Errors
    /// The errors of [`Store::events`].
    pub fn accesses(
        &mut self,
        path: &MemoryPath,
    ) -> Result<impl Iterator<Item = Result<Entry>> + '_> {
        log::accesses(self, path)
    }
}

/// Runs `act` on the refreshed state, with the lock held.
pub(super) fn with_lock<T>(
    store: &mut Store,
    act: impl FnOnce(&mut Store) -> Result<T>,
) -> Result<T> {
    let lock = lock(&mut store.ledger)?;
    refresh(store)?;
    // Keys may have been destroyed since the store was opened.
    store.state.opened.replace(None);
    let done = at_one_time(store, act);
    settle_catalog(store)?;
    drop(lock);
    done
}

/// Runs `act` as [`with_lock`] does, with the timeline loaded.
pub(super) fn with_timeline<T>(
    store: &mut Store,
    act: impl FnOnce(&mut Store) -> Result<T>,
) -> Result<T> {
    with_lock(store, |store| {
        load_timeline(store)?;
        act(store)
    })
}

/// Runs `act` as [`with_timeline`] does, for commands that show contents. Auditors are refused.
pub(super) fn with_contents<T>(
    store: &mut Store,
    act: impl FnOnce(&mut Store) -> Result<T>,
) -> Result<T> {
    require_reader(&store.ledger)?;
    with_timeline(store, act)
}

/// Loads the timeline up to the newest event: first from its file, then the rest from history.
pub(super) fn load_timeline(store: &mut Store) -> Result<()> {
    let head = Some(store.ledger.journal.head());
    let is_known = |known: &Timeline| known.is_whole() && known.head() == head;
    if store.state.timeline.as_ref().is_some_and(is_known) {
        return Ok(());
    }
    let key = store.ledger.keyring.cache_key();
    let mut timeline = store.ledger.timeline_file.load(key);
    let missing = if let Some(missing) = commits_since(&store.ledger, timeline.head())? {
        missing
    } else {
        timeline = Timeline::default();
        commits_since(&store.ledger, None)?.unwrap_or_default()
    };
    let from = timeline.len();
    check_all(
        &store.ledger.root,
        &store.ledger.keyring,
        &missing,
        |checked| {
            checked.comes_after(timeline.head())?;
            if checked.event.number != timeline.len() {
                let what = format!("commit {}", checked.id);
                return Err(Error::damaged(what, "its event number is not the next"));
            }
            timeline.push(&checked.event, checked.id);
            Ok(())
        },
    )?;
    let key = store.ledger.keyring.cache_key();
    if store.ledger.timeline_file.wants_joining() {
        store.ledger.timeline_file.append(&timeline, 0, key);
    } else if timeline.len() > from {
        store.ledger.timeline_file.append(&timeline, from, key);
    }
    store.state.timeline = Some(timeline);
    Ok(())
}

/// Loads only the part of the timeline around a moment, and returns true if that part has the
/// memory at the path. It usually does, as most memories were written shortly before.
pub(super) fn load_piece(store: &mut Store, path: &MemoryPath, revision: &Revision) -> bool {
    let Some(newest) = store.state.catalog.events.checked_sub(1) else {
        return false;
    };
    let (Some(sought), None) = (sought(store, revision, newest), &store.state.timeline) else {
        return false;
    };
    let end = (newest, store.ledger.journal.head());
    let piece =
        store
            .ledger
            .timeline_file
            .load_around(sought, end, store.ledger.keyring.cache_key());
    store.state.timeline = piece
        .filter(|(piece, event)| piece.at(path, *event).is_some())
        .map(|(piece, _)| piece);
    store.state.timeline.is_some()
}

/// Returns the search key for the timeline, if it can be determined without the whole timeline.
fn sought(store: &Store, revision: &Revision, newest: u64) -> Option<TimelineQuery> {
    match revision.kind {
        RevisionKind::Head(back) => newest.checked_sub(back).map(TimelineQuery::Event),
        RevisionKind::Number(Some(number)) if number <= newest => {
            Some(TimelineQuery::Event(number))
        }
        RevisionKind::Number(_) | RevisionKind::Commit => {
            let digits = Some(revision.as_str()).filter(|text| text.len() >= DIGITS_MIN);
            let commit = store.ledger.repository.only_one_named(digits?)?;
            let event = entry(store, commit).ok()?.0.event.number;
            Some(TimelineQuery::Commit(event, commit))
        }
        RevisionKind::Time(time) => {
            let times = &store.state.catalog.times;
            times.part_at(time).then_some(TimelineQuery::Time(time))
        }
    }
}

/// Appends an event that was just recorded to the timeline and its file, unless they lag behind.
pub(super) fn follow_in_timeline(
    store: &mut Store,
    event: &Event,
    parent: ObjectId,
    commit: ObjectId,
) {
    let known = store.state.timeline.take();
    store.state.timeline = known
        .filter(|known| known.head() == Some(parent))
        .map(|mut known| {
            known.push(event, commit);
            known
        });
    if store.ledger.timeline_file.is_next(event.number, parent) {
        let mut single = Timeline::default();
        single.push(event, commit);
        let key = store.ledger.keyring.cache_key();
        store
            .ledger
            .timeline_file
            .append_one(&single, event.number, key);
    }
}

pub(super) fn timeline(state: &State) -> &Timeline {
    state.timeline.as_ref().expect("loaded by in_history")
}

pub(super) fn resolve(store: &Store, revision: &Revision) -> Result<Moment> {
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
    Ok(timeline.moment(event).expect("not past the newest"))
}

/// Returns the only commit whose id starts with the revision's text.
fn commit_named(state: &State, revision: &Revision, missing: String) -> Result<Moment> {
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
pub(super) fn event_at(store: &Store, number: u64) -> Result<Arc<Event>> {
    if let Some((known, event)) = &*store.state.opened.borrow()
        && *known == number
    {
        return Ok(Arc::clone(event));
    }
    let moment = timeline(&store.state)
        .moment(number)
        .ok_or_else(|| Error::damaged(format!("event {number}"), "history does not have it"))?;
    let event = Arc::new(entry(store, moment.commit)?.0.event);
    store
        .state
        .opened
        .replace(Some((number, Arc::clone(&event))));
    Ok(event)
}

/// Returns the text of any version, checked against its header and the event that wrote it.
pub(super) fn text_then(store: &Store, version: &Version) -> Result<Text> {
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
pub(super) fn is_hidden(state: &State, id: MemoryId, context: &Context) -> bool {
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
pub(super) fn nameless(state: &State, id: MemoryId) -> Error {
    match timeline(state).erased_by(id) {
        Some(event) => erased(id, event),
        None => Error::MissingKey {
            memory: id.to_string(),
        },
    }
}

/// Returns a path as the record of a look or an undo names it: by a memory that is or was at or
/// below it, otherwise as the caller wrote it.
pub(super) fn path_ref_ever(store: &Store, path: &MemoryPath, event: u64) -> Result<PathRef> {
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
pub(super) fn record_history_read(
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

pub(super) fn try_record_history_read(
    store: &mut Store,
    look: HistoryRead,
    context: &Context,
) -> Result<u64> {
    check_reserve(&store.state)?;
    check_pace(store, context)?;
    let mut redactions = Vec::new();
    let mut event = event(store, look.command, context, &mut redactions)?;
    event.path = look.path;
    event.at = look.at;
    event.redactions = redactions;
    let recorded = record(store, event, SealedPlan::touching(look.touches));
    let (event, _) = recorded.inspect_err(|_| store.ledger.trees.forget())?;
    Ok(event.number)
}

/// Tells whether the error means that the caller may read the store but not write to it.
fn cannot_write(error: &Error) -> bool {
    match error {
        Error::NoSigningKey
        | Error::Membership(MembershipFault::TwoKeyrings { .. })
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
pub(super) fn look_change(version: &Version) -> MemoryChange {
    MemoryChange {
        id: version.id,
        change: Change::Look,
        path: version.path.clone(),
        version: version.version,
        bytes: version.bytes,
        blob: None,
        from: None,
        because: None,
    }
}

/// Converts a version to its public form.
pub(super) fn side(version: &Version) -> VersionInfo {
    VersionInfo {
        id: version.id,
        path: version.path.clone(),
        version: version.version,
        bytes: version.bytes,
        event: version.event,
    }
}

/// Returns the error for an erased memory or version.
pub(super) fn erased(id: MemoryId, event: u64) -> Error {
    Error::Retention(RetentionFault::Erased {
        memory: id.to_string(),
        event,
    })
}

/// Formats a time for messages.
pub(super) fn seconds(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Returns the error for a path with nothing at it at a moment.
pub(super) fn not_there(path: &MemoryPath, at: Moment, known: &Timeline) -> Error {
    let shown = path.as_str().to_owned();
    let time = known.time(at.event).map(seconds).unwrap_or_default();
    let hint = if known.ever_within(path).is_empty() {
        "`agekeep view --at REV /memories` lists what was there".into()
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
pub(super) fn no_file_at(path: &MemoryPath, at: Moment, known: &Timeline) -> Error {
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

/// The result of a look, and how the look was recorded.
#[derive(Debug)]
#[non_exhaustive]
pub struct Recorded<T> {
    /// The result.
    pub found: T,
    /// The record of the look.
    pub recorded: RecordStatus,
}

/// The record of a look. It exists if the caller can write to the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RecordStatus {
    /// Recorded as the event with this number.
    Event(u64),
    /// Not recorded, for this reason.
    Not(String),
    /// Not needed: no content of any memory was shown.
    NotNeeded,
}

/// A file or directory at a moment.
#[derive(Debug)]
#[non_exhaustive]
pub struct View {
    /// The text, either with line numbers as the memory tool's `view` would have answered, or
    /// unchanged.
    pub content: Text,
    /// The moment.
    pub at: Moment,
    /// The time of that moment's event.
    pub time: DateTime<Utc>,
    /// The file's version; `None` for a directory.
    pub version: Option<VersionInfo>,
}

/// A version of a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct VersionInfo {
    /// The memory.
    pub id: MemoryId,
    /// Its path at that time; `None` if the key of its paths is destroyed.
    pub path: Option<MemoryPath>,
    /// Its version number.
    pub version: u64,
    /// Size of its text in bytes.
    pub bytes: u64,
    /// The event that wrote it.
    pub event: u64,
}

/// The difference of a memory between two moments.
#[derive(Debug)]
#[non_exhaustive]
pub struct MemoryDiff {
    /// The memory before; `None` if it did not exist.
    pub before: Option<VersionInfo>,
    /// The memory after; `None` if it did not exist.
    pub after: Option<VersionInfo>,
    /// The text diff; `None` if the texts are equal, or if a text does not open.
    pub diff: Option<TextDiff>,
    /// The reason why a text does not open.
    pub problem: Option<String>,
    /// True if the memory did not exist before, but had existed earlier.
    pub revived: bool,
}

/// An event and its changes.
#[derive(Debug)]
#[non_exhaustive]
pub struct EventDiff {
    /// The event.
    pub entry: Entry,
    /// Its changes, one for each memory.
    pub changes: Vec<MemoryDiff>,
}

/// The difference between two moments.
#[derive(Debug)]
#[non_exhaustive]
pub struct Difference {
    /// The earlier one; `None` for the state before the first event.
    pub from: Option<Moment>,
    /// The later one.
    pub to: Moment,
    /// The changes, one for each memory, sorted by path.
    pub changes: Vec<MemoryDiff>,
}

/// A line and its author.
#[derive(Debug)]
#[non_exhaustive]
pub struct BlamedLine {
    /// The line number, counted from 1.
    pub number: usize,
    /// Its text, without the newline.
    pub text: Text,
    /// Index in [`Blame::origins`] of the version that wrote the line.
    pub origin: usize,
}

/// All lines of a memory with their origins.
#[derive(Debug)]
#[non_exhaustive]
pub struct Blame {
    /// The version that was blamed.
    pub of: VersionInfo,
    /// The versions that wrote a surviving line, oldest first.
    pub origins: Vec<VersionOrigin>,
    /// The lines.
    pub lines: Vec<BlamedLine>,
}

/// The origin of lines: a version and its author.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct VersionOrigin {
    /// The version, with its path at that time.
    pub version: VersionInfo,
    /// The commit of its event.
    pub commit: crate::ObjectId,
    /// The time of its event.
    pub time: DateTime<Utc>,
    /// The command.
    pub command: String,
    /// The actor, as given by the caller.
    pub actor: Option<String>,
    /// The session, as given by the caller.
    pub session: Option<String>,
    /// True if its lines may be older and by other authors, because earlier versions are erased.
    pub or_before: bool,
}

/// Parameters of a search in texts.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Search {
    /// A regular expression (in the syntax of the `regex` crate), or a fixed string.
    pub pattern: String,
    /// True if the pattern is a fixed string.
    pub fixed: bool,
    /// True if the search ignores case.
    pub ignore_case: bool,
    /// Limits the search to this path and paths below it.
    pub within: Option<MemoryPath>,
    /// True to search all versions in history.
    pub history: bool,
}

impl Search {
    /// Searches present texts for a regular expression.
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

/// A matching line.
#[derive(Debug)]
#[non_exhaustive]
pub struct Match {
    /// The first version that has the line.
    pub version: VersionInfo,
    /// The line number in that version, counted from 1.
    pub number: usize,
    /// The line, without the newline.
    pub text: Text,
    /// The event that removed the line; `None` if it is still there.
    pub gone: Option<u64>,
}

/// The result of a search.
#[derive(Debug)]
#[non_exhaustive]
pub struct Matches {
    /// The matching lines, sorted by path; with `history`, each line once.
    pub lines: Vec<Match>,
    /// Versions that do not open, one sentence each.
    pub problems: Vec<String>,
}

impl MemoryDiff {
    /// Returns the kind of change.
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

#[cfg(test)]
mod tests {
    use super::Search;
    use super::*;
    use crate::memory_tool::command::Command;
    use crate::policy::Policy;
    use crate::store::log::parse_path;
    use crate::store::{Identity, Keys, SigningKey};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicI64, Ordering};

    /// Tries every kind of look a day after the memory was written. The access time must not
    /// change.
    #[test]
    fn a_look_is_no_access() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let keys = Keys {
            identity: Identity::generate(),
            signing_key: Some(SigningKey::generate()),
            state: None,
            keyring: None,
        };
        let now = Arc::new(AtomicI64::new(1_900_000_000));
        let clock = now.clone();
        let clock = Box::new(move || {
            DateTime::from_timestamp(clock.load(Ordering::Relaxed), 0).expect("a time")
        });
        let (root, context) = (folder.path().join("store"), Context::default());
        let mut store =
            Store::init(&root, keys, &Policy::default(), &context, clock).expect("made");
        let path = parse_path(&store.state, "/memories/a").expect("a path");
        let create = Command::Create {
            path: "/memories/a".into(),
            file_text: "one\n".into(),
        };
        store.execute(&create, &context).expect("created");
        let accessed = |store: &Store| store.state.catalog.at(&path).expect("there").accessed;
        let written = accessed(&store);
        now.fetch_add(86_400, Ordering::Relaxed);
        let head = Revision::head();
        let was = Revision::event(1);
        let before = store.state.catalog.events;
        store
            .view_at("/memories/a", None, &was, &context)
            .expect("seen");
        store.show_at("/memories/a", &was, &context).expect("seen");
        store.show(&was, &context).expect("seen");
        store.diff(None, None, None, &context).expect("seen");
        store.blame(&path, &head, &context).expect("seen");
        store.grep(&Search::new("one"), &context).expect("seen");
        let looked = store.events_with_changes(&crate::store::log::Filter::default(), 9, &context);
        assert!(looked.expect("seen").found.count() > 0);
        assert_eq!(store.state.catalog.events, before + 7, "each is on record");
        assert_eq!(accessed(&store), written);
        let view = Command::View {
            path: "/memories/a".into(),
            range: None,
        };
        store.execute(&view, &context).expect("viewed");
        assert!(accessed(&store) > written, "and a view is one");
    }
}
