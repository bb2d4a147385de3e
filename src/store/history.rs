//! Reads of history: the log, and texts of any moment. agekeep records each read that shows a text.

pub(super) mod blame_and_grep;
pub(super) mod diff;
pub(super) mod listing;
pub(super) mod read;
pub(super) mod view;

use chrono::{DateTime, Utc};
use serde::Serialize;

use self::read::{cannot_write, resolve};
use crate::Text;
use crate::diff::TextDiff;
use crate::error::Result;
use crate::event::{Change, Context, Moment};
use crate::id::{MemoryId, StoreId};
use crate::memory_tool::path::MemoryPath;
use crate::store::commit::commit;
use crate::store::follow;
use crate::store::log::{self, ChangeSet, Entry, Filter};
use crate::store::plan::plan_path_refused;
use crate::store::revision::Revision;
use crate::store::sweep::unexpired;
use crate::store::timeline::{with_lock, with_timeline};
use crate::store::{Identity, Store};

impl Store {
    /// Parses a path that an agent names outside the memory commands. agekeep records a path that
    /// no memory may have, as it does for memory commands, under `command`. It does so only if the
    /// caller can write to the store.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::error::Error::Invalid) if the memory tool would refuse the path.
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
    /// [`Error::NoRevision`](crate::error::Error::NoRevision) if nothing matches, [`Error::Ambiguous`](crate::error::Error::Ambiguous) if several commits do.
    pub fn moment(&mut self, revision: &Revision) -> Result<Moment> {
        with_timeline(self, |store| resolve(store, revision))
    }

    /// Iterates over all events, newest first. This does not count as an access.
    pub fn log(&self) -> impl Iterator<Item = Result<Entry>> + '_ {
        log::log(self)
    }

    /// Iterates over the paths of memories that exist and have not expired, to complete what somebody
    /// types. No memory is opened, and nothing is recorded.
    pub fn paths(&self) -> impl Iterator<Item = &MemoryPath> {
        let unexpired = unexpired(&self.state);
        let all = self.state.catalog.memories();
        all.filter(move |memory| unexpired.has(memory))
            .map(|memory| &memory.path)
    }

    /// Parses a path that a memory has or had, such as for [`Filter::path`], by the rules of the
    /// memory tool.
    ///
    /// # Errors
    /// [`Error::DeniedPath`](crate::error::Error::DeniedPath) for a path that the memory tool denies, [`Error::Invalid`](crate::error::Error::Invalid) for one
    /// that is too long.
    pub fn parse_path(&self, text: &str) -> Result<MemoryPath> {
        log::parse_path(&self.state, text)
    }

    /// Parses a place in the log, an event number or a whole commit id, and returns its event number.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::error::Error::Invalid) if it is neither, [`Error::CursorLost`](crate::error::Error::CursorLost) if history does
    /// not contain that event.
    pub fn parse_cursor(&mut self, text: &str) -> Result<u64> {
        follow::parse_cursor(self, text)
    }

    /// Iterates over the events after number `after` that match a filter, oldest first, up to the
    /// newest of any process now. None is missing, and none comes twice. This does not count as an
    /// access.
    ///
    /// # Errors
    /// Any error of checking history.
    pub fn events_after(
        &mut self,
        after: Option<u64>,
        filter: &Filter,
    ) -> Result<impl Iterator<Item = Result<Entry>> + '_> {
        follow::events_after(self, after, filter)
    }

    /// Tells whether anything may have been recorded since this process last read the store. It
    /// takes no lock, so that it can be asked many times a second.
    #[must_use]
    pub fn has_changed(&self) -> bool {
        follow::has_changed(self)
    }

    /// Returns the store's permanent id and its newest event known to this process.
    #[must_use]
    pub fn last_seen(&self) -> (StoreId, Moment) {
        log::last_seen(self)
    }

    /// Returns the identity that opened the store, for [`crate::verify::Options`].
    #[must_use]
    pub fn identity(&self) -> &Identity {
        self.ledger.keyring.identity()
    }

    /// Returns the number of events, including new ones of other processes.
    ///
    /// # Errors
    /// Any error of checking history.
    pub fn count_events(&mut self) -> Result<u64> {
        with_lock(self, |store| Ok(store.state.catalog.events))
    }

    /// Returns the changes since the event count `since`, read from at most `events_max` of the
    /// newest events.
    ///
    /// # Errors
    /// Any error of checking history.
    pub fn changes_since(&mut self, since: u64, events_max: u64) -> Result<ChangeSet> {
        log::changes_since(self, since, events_max)
    }

    /// Searches the texts of memories for a pattern. This does not count as an access.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::error::Error::Invalid) if the pattern does not parse. A version that does not open is reported
    /// in [`Matches::problems`].
    pub fn grep(&mut self, search: &Search, context: &Context) -> Result<Recorded<Matches>> {
        blame_and_grep::grep(self, search, context)
    }

    /// Returns an event and its changes, as a readable diff.
    ///
    /// # Errors
    /// [`Error::NoRevision`](crate::error::Error::NoRevision) or [`Error::Ambiguous`](crate::error::Error::Ambiguous). If the texts of a memory do not open, that is
    /// a [`MemoryDiff::problem`], not an error.
    pub fn show(&mut self, revision: &Revision, context: &Context) -> Result<Recorded<EventDiff>> {
        diff::show(self, revision, context)
    }

    /// Returns the newest events that match a filter with their changes, newest first. A single
    /// look is recorded for all of them.
    ///
    /// # Errors
    /// The errors of [`Store::events`].
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
    /// [`Error::NoRevision`](crate::error::Error::NoRevision) or [`Error::Ambiguous`](crate::error::Error::Ambiguous).
    pub fn diff(
        &mut self,
        from: Option<&Revision>,
        to: Option<&Revision>,
        within: Option<&MemoryPath>,
        context: &Context,
    ) -> Result<Recorded<Difference>> {
        diff::diff(self, from, to, within, context)
    }

    /// Lists every memory at or below a path, with what is known of it without its text: for people,
    /// so expired ones are listed too, and say so. The look is recorded as a `view_at` of the
    /// present. An auditor may list too.
    ///
    /// # Errors
    /// Any error of checking history.
    pub fn list(
        &mut self,
        within: &MemoryPath,
        context: &Context,
    ) -> Result<Recorded<Vec<ListedMemory>>> {
        listing::list(self, within, context)
    }

    /// Returns the answer that the memory tool's `view` would have given at a moment.
    ///
    /// # Errors
    /// [`Error::NotThere`](crate::error::Error::NotThere) if nothing was at the path then; [`Error::NoRevision`](crate::error::Error::NoRevision) or
    /// [`Error::Ambiguous`](crate::error::Error::Ambiguous); [`Error::Invalid`](crate::error::Error::Invalid) for a line range that the file did not have.
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
    /// [`Error::NotThere`](crate::error::Error::NotThere) if no memory ever was at the path, or it has no such version.
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

    /// Iterates over the events that match a filter, newest first. This does not count as an
    /// access.
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
    /// read, newest first. The filter's path stands for every memory that was ever at or below it.
    ///
    /// # Errors
    /// The errors of [`Store::events`].
    pub fn accesses(
        &mut self,
        filter: &Filter,
    ) -> Result<impl Iterator<Item = Result<Entry>> + '_> {
        log::accesses(self, filter)
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
    /// Not needed: nothing of any memory was shown.
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

/// A memory that exists, as a listing shows it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ListedMemory {
    /// The memory.
    pub id: MemoryId,
    /// Its path; `None` if no key opens it.
    pub path: Option<MemoryPath>,
    /// Its version number.
    pub version: u64,
    /// Size of its text in bytes.
    pub bytes: u64,
    /// The time of the event that wrote that version.
    pub written: DateTime<Utc>,
    /// The time of its last read or write.
    pub accessed: DateTime<Utc>,
    /// The time when it expires under the policy in force, unless it is held; `None` is never.
    pub expires: Option<DateTime<Utc>>,
    /// True if it has expired: agents no longer find it.
    pub expired: bool,
    /// The hold on it, if any.
    pub hold: Option<u64>,
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

/// A change of one of the three files that are public by design.
#[derive(Debug)]
#[non_exhaustive]
pub struct ConfigDiff {
    /// The file: `agekeep.toml`, `recipients` or `signers`.
    pub file: &'static str,
    /// The differences between its text before and after.
    pub diff: TextDiff,
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
