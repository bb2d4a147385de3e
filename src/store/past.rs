//! Reading any moment of history, and keeping a record of who looked.

pub(super) mod differ;
pub(super) mod lines;
pub(super) mod view;

use std::io;
use std::sync::Arc;

use chrono::{DateTime, SecondsFormat, Utc};
use serde::Serialize;

use crate::Text;
use crate::diff::TextDiff;
use crate::error::{Error, MembershipFault, Result, RetentionFault, SigningFault};
use crate::event::{Change, Context, Event, Moment, Place, Touch};
use crate::id::{MemoryId, ObjectId, StoreId};
use crate::memory_tool::path::MemoryPath;
use crate::state::timeline::file::Sought;
use crate::state::timeline::{Timeline, Version};
use crate::store::State;
use crate::store::Store;
use crate::store::at_one_time;
use crate::store::commit::{Sealing, commit, event, record};
use crate::store::decide::as_reader;
use crate::store::history::replay::settle_catalog;
use crate::store::history::{check_all, commits_since, refresh};
use crate::store::lock;
use crate::store::log;
use crate::store::log::News;
use crate::store::log::{Entry, Filter, entry};
use crate::store::plan::plan_path_refused;
use crate::store::quota::{check_pace, check_reserve};
use crate::store::redactor;
use crate::store::revision::{DIGITS_MIN, Revision, RevisionKind};
use crate::store::sweep::living;
use crate::store::versions::open_version;

/// Most commits that an ambiguous revision lists.
const CANDIDATES_MAX: usize = 20;

/// What a look was at, for its record.
pub(super) struct Look {
    pub(super) command: &'static str,
    pub(super) path: Option<Place>,
    pub(super) at: Vec<Moment>,
    pub(super) touches: Vec<Touch>,
}

impl Store {
    /// Reads a path that an agent names for something that is no memory command. One that no memory
    /// may have is recorded under the name of what was asked for, as a memory command would be,
    /// where the caller can write to the store.
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
            let recorded = locked(self, |store| match plan_path_refused(store, text)? {
                Some(plan) => commit(store, plan, command, context).map(drop),
                None => Ok(()),
            });
            recorded.or_else(|error| cannot_write(&error).then_some(()).ok_or(error))?;
        }
        parsed
    }

    /// The moment a revision means.
    ///
    /// # Errors
    /// [`Error::NoRevision`] if there is none, [`Error::Ambiguous`] if there are several.
    pub fn moment(&mut self, revision: &Revision) -> Result<Moment> {
        in_history(self, |store| resolve(store, revision))
    }

    /// Every event, newest first. Reading it is no access to any memory.
    pub fn log(&self) -> impl Iterator<Item = Result<Entry>> + '_ {
        log::log(self)
    }

    /// Reads a path that a memory has or had, such as for [`Filter::path`], by the rules of the
    /// memory tool.
    ///
    /// # Errors
    /// [`Error::DeniedPath`] for a path that the memory tool denies, [`Error::Invalid`] for one that
    /// is too long.
    pub fn parse_path(&self, text: &str) -> Result<MemoryPath> {
        log::parse_path(&self.state, text)
    }

    /// The store's lasting name, and the newest event that was seen of it.
    #[must_use]
    pub fn last_seen(&self) -> (StoreId, Moment) {
        log::last_seen(self)
    }

    /// How many events there are by now, also those of other processes.
    ///
    /// # Errors
    /// When history does not check out.
    pub fn count_events(&mut self) -> Result<u64> {
        log::count_events(self)
    }

    /// What has changed since there were so many events, from at most so many of the newest.
    ///
    /// # Errors
    /// When history does not check out.
    pub fn news(&mut self, since: u64, events_max: u64) -> Result<News> {
        log::news(self, since, events_max)
    }

    /// Looks for a pattern in the texts of memories; that is no access to any of them.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the pattern is not one. A version that does not open is one of
    /// [`Matches::problems`].
    pub fn grep(&mut self, search: &Search, context: &Context) -> Result<Looked<Matches>> {
        lines::grep(self, search, context)
    }

    /// An event and what it changed, as a readable difference.
    ///
    /// # Errors
    /// [`Error::NoRevision`] or [`Error::Ambiguous`]. A memory whose texts do not open is a
    /// [`Changed::problem`], not an error.
    pub fn show(&mut self, revision: &Revision, context: &Context) -> Result<Looked<Shown>> {
        differ::show(self, revision, context)
    }

    /// The newest events that meet a filter, each with what it changed, newest first. One look
    /// is recorded for all of them.
    ///
    /// # Errors
    /// As for [`Store::events`].
    #[allow(clippy::missing_panics_doc)] // never: the expectation says why
    pub fn events_with_changes(
        &mut self,
        filter: &Filter,
        limit: usize,
        context: &Context,
    ) -> Result<Looked<impl Iterator<Item = Result<Shown>> + '_>> {
        differ::events_with_changes(self, filter, limit, context)
    }

    /// What differs between two moments: between what is there now and `from`, if `to` is not
    /// given; if neither is, what the last event changed that changed anything.
    ///
    /// # Errors
    /// [`Error::NoRevision`] or [`Error::Ambiguous`].
    pub fn diff(
        &mut self,
        from: Option<&Revision>,
        to: Option<&Revision>,
        within: Option<&MemoryPath>,
        context: &Context,
    ) -> Result<Looked<Difference>> {
        differ::diff(self, from, to, within, context)
    }

    /// What the memory tool's `view` would have answered at a moment.
    ///
    /// # Errors
    /// [`Error::NotThere`] if nothing was at the path then; [`Error::NoRevision`] or
    /// [`Error::Ambiguous`]; [`Error::Invalid`] for a range that the file did not have.
    pub fn view_at(
        &mut self,
        path: &str,
        range: Option<(i64, i64)>,
        revision: &Revision,
        context: &Context,
    ) -> Result<Looked<View>> {
        view::view_at(self, path, range, revision, context)
    }

    /// A file's text as it was, byte for byte, or the listing of a directory.
    ///
    /// # Errors
    /// As for [`Store::view_at`].
    pub fn show_at(
        &mut self,
        path: &str,
        revision: &Revision,
        context: &Context,
    ) -> Result<Looked<View>> {
        view::show_at(self, path, revision, context)
    }

    /// One version of the memory that is at a path, or was the last there, byte for byte.
    ///
    /// # Errors
    /// [`Error::NotThere`] if no memory ever was at the path, or it has no such version.
    #[allow(clippy::missing_panics_doc)] // never: the expectation says why
    pub fn show_version(
        &mut self,
        path: &str,
        version: u64,
        context: &Context,
    ) -> Result<Looked<View>> {
        view::show_version(self, path, version, context)
    }

    /// Who wrote each line of the file that was at a path, when, in which event and session. It
    /// follows the memory through renames; lines that an undo brought back are still theirs who
    /// wrote them. Where what the memory was before is erased, it begins with the first version that
    /// is not, see [`Origin::or_before`].
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
    ) -> Result<Looked<Blame>> {
        lines::blame(self, path, revision, context)
    }

    /// The events that meet a filter, newest first. Reading them is no access to any memory.
    ///
    /// A path stands for every memory that was ever there or below it: its events are found
    /// through renames, before and after, and so are those that only asked for the path.
    ///
    /// # Errors
    /// When history does not check out; each entry is opened only when it is asked for.
    pub fn events(&mut self, filter: &Filter) -> Result<impl Iterator<Item = Result<Entry>> + '_> {
        log::events(self, filter)
    }

    /// Who read a memory, or looked at it without that counting as a read, newest first. A path
    /// stands for every memory that was ever there or below it.
    ///
    /// # Errors
    /// As for [`Store::events`].
    pub fn accesses(
        &mut self,
        path: &MemoryPath,
    ) -> Result<impl Iterator<Item = Result<Entry>> + '_> {
        log::accesses(self, path)
    }
}

/// Does something on the state as it is now, with the lock held.
pub(super) fn locked<T>(store: &mut Store, act: impl FnOnce(&mut Store) -> Result<T>) -> Result<T> {
    let lock = lock(&mut store.ledger)?;
    refresh(store)?;
    // Keys may have gone since it was opened.
    store.state.opened.replace(None);
    let done = at_one_time(store, act);
    settle_catalog(store)?;
    drop(lock);
    done
}

/// Does something as [`Store::locked`] does, with the timeline at hand.
pub(super) fn in_history<T>(
    store: &mut Store,
    act: impl FnOnce(&mut Store) -> Result<T>,
) -> Result<T> {
    locked(store, |store| {
        load_timeline(store)?;
        act(store)
    })
}

/// As [`Store::in_history`], for what shows contents: not for auditors.
pub(super) fn in_contents<T>(
    store: &mut Store,
    act: impl FnOnce(&mut Store) -> Result<T>,
) -> Result<T> {
    as_reader(&store.ledger)?;
    in_history(store, act)
}

/// Brings the timeline to the newest event: from its file as far as that goes, then from
/// history.
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

/// Takes the piece of the timeline around a moment, where that is enough to tell what was at a
/// path: most times it was written not long before. Answers whether it is.
pub(super) fn load_piece(store: &mut Store, path: &MemoryPath, revision: &Revision) -> bool {
    let Some(newest) = store.state.catalog.events.checked_sub(1) else {
        return false;
    };
    let (Some(sought), None) = (sought(store, revision, newest), &store.state.timeline) else {
        return false;
    };
    let end = (newest, store.ledger.journal.head());
    let piece = store
        .ledger
        .timeline_file
        .around(sought, end, store.ledger.keyring.cache_key());
    store.state.timeline = piece
        .filter(|(piece, event)| piece.at(path, *event).is_some())
        .map(|(piece, _)| piece);
    store.state.timeline.is_some()
}

/// What to look for in the timeline, where that can be known without all of it.
fn sought(store: &Store, revision: &Revision, newest: u64) -> Option<Sought> {
    match revision.kind {
        RevisionKind::Head(back) => newest.checked_sub(back).map(Sought::Event),
        RevisionKind::Number(Some(number)) if number <= newest => Some(Sought::Event(number)),
        RevisionKind::Number(_) | RevisionKind::Commit => {
            let digits = Some(revision.as_str()).filter(|text| text.len() >= DIGITS_MIN);
            let commit = store.ledger.repository.only_one_named(digits?)?;
            let event = entry(store, commit).ok()?.0.event.number;
            Some(Sought::Commit(event, commit))
        }
        RevisionKind::Time(time) => {
            let times = &store.state.catalog.times;
            times.part_at(time).then_some(Sought::Time(time))
        }
    }
}

/// Adds an event that was just recorded to the timeline and its file, where they are up to it.
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

/// The one commit whose id begins as the revision says.
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

/// The record of an event.
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

/// The text of any version, checked against the event that wrote it and against its header.
pub(super) fn text_then(store: &Store, version: &Version) -> Result<Text> {
    if let Some(event) = timeline(&store.state).erased_at(version) {
        return Err(erased(version.id, event));
    }
    let event = event_at(store, version.event)?;
    let what = || format!("version {} of the memory {}", version.version, version.id);
    let written = |touch: &&Touch| touch.id == version.id && touch.change.writes();
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

/// Whether a memory is not there for who looks: an agent finds nothing of what has expired, swept
/// or not, however it looks.
pub(super) fn is_hidden(state: &State, id: MemoryId, context: &Context) -> bool {
    if !context.of_agent {
        return false;
    }
    if let Some(memory) = state.catalog.memory(id) {
        return !living(state).has(memory);
    }
    let life = timeline(state).life(id);
    life.last()
        .is_some_and(|part| part.change == Change::Expire)
}

/// The error for a memory of which no path opens.
pub(super) fn nameless(state: &State, id: MemoryId) -> Error {
    match timeline(state).erased_by(id) {
        Some(event) => erased(id, event),
        None => Error::MissingKey {
            memory: id.to_string(),
        },
    }
}

/// How the record of a look or an undo names a path: by a memory that is or was there, or
/// below it, or as it was asked for.
pub(super) fn place_ever(store: &Store, path: &MemoryPath, event: u64) -> Result<Place> {
    if path.is_root() {
        return Ok(Place::Root);
    }
    let timeline = timeline(&store.state);
    let there = timeline.at(path, event).map(|version| version.id);
    let ever = || timeline.ever_within(path).into_iter().min();
    match there.or_else(ever) {
        Some(id) if store.ledger.keyring.has(id)? => Ok(Place::Of(id, Some(path.clone()))),
        _ => Ok(Place::asked(&redactor(store)?.line(path.as_str()).0)),
    }
}

/// Records a look, where the caller can write to the store.
pub(super) fn record_look(store: &mut Store, look: Look, context: &Context) -> Result<Recorded> {
    let recorded = try_record_look(store, look, context);
    match recorded {
        Ok(event) => Ok(Recorded::Event(event)),
        Err(error) if cannot_write(&error) => Ok(Recorded::Not(error.to_string())),
        Err(error) => Err(error),
    }
}

pub(super) fn try_record_look(store: &mut Store, look: Look, context: &Context) -> Result<u64> {
    check_reserve(&store.state)?;
    check_pace(store, context)?;
    let mut redactions = Vec::new();
    let mut event = event(store, look.command, context, &mut redactions)?;
    event.path = look.path;
    event.at = look.at;
    event.redactions = redactions;
    let recorded = record(store, event, Sealing::touching(look.touches));
    let (event, _) = recorded.inspect_err(|_| store.ledger.trees.forget())?;
    Ok(event.number)
}

/// Whether an error says that the caller may look at the store and not write to it.
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

/// The touch that says a version was looked at.
pub(super) fn looked_at(version: &Version) -> Touch {
    Touch {
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

/// A version as callers see it.
pub(super) fn side(version: &Version) -> Side {
    Side {
        id: version.id,
        path: version.path.clone(),
        version: version.version,
        bytes: version.bytes,
        event: version.event,
    }
}

/// The error for a memory, or a version of one, that is erased.
pub(super) fn erased(id: MemoryId, event: u64) -> Error {
    Error::Retention(RetentionFault::Erased {
        memory: id.to_string(),
        event,
    })
}

/// A time for a sentence.
pub(super) fn seconds(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// The error for a path at which nothing was at a moment.
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

/// The error for a path at which no file was at a moment, which may have been a directory.
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

#[cfg(test)]
mod tests {
    use super::super::{Identity, Keys, SigningKey};
    use super::*;
    use crate::memory_tool::command::Command;
    use crate::policy::Policy;
    use crate::store::log::parse_path;
    use crate::store::past::Search;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicI64, Ordering};

    /// Every look there is, a day after the memory was written: it was last accessed when it was.
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
