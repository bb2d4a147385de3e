//! Exports: texts that leave the store, with the facts about each.

use std::collections::{HashSet, VecDeque};
use std::vec;

use chrono::{DateTime, Utc};

use crate::Text;
use crate::crypto::digest::Digest;
use crate::error::{Error, Result};
use crate::event::{
    Context, EXPORT_COMMAND, EXPORT_HISTORY_COMMAND, MemoryChange, Moment, PathRef,
};
use crate::id::{MemoryId, StoreId};
use crate::memory_tool::path::MemoryPath;
use crate::state::timeline::Version;
use crate::store::history::read::{
    HistoryRead, look_change, path_ref_ever, resolve, text_then, try_record_history_read,
};
use crate::store::revision::Revision;
use crate::store::sweep::unexpired;
use crate::store::timeline::{newest_moment, timeline, with_contents};
use crate::store::{State, Store, redactor};

/// The selection of an export.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ExportScope {
    /// The moment to export. Without one it is now, and expired memories are left out.
    pub at: Option<Revision>,
    /// Only these paths and those below them; if empty, everything.
    pub within: Vec<MemoryPath>,
    /// Export every version up to the moment, also of memories that were gone by then.
    pub history: bool,
}

/// The summary of an export, known before its texts.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Head {
    /// The store.
    pub store: StoreId,
    /// The moment whose state is exported.
    pub at: Moment,
    /// The time of that moment's event.
    pub time: DateTime<Utc>,
    /// The event that records the export.
    pub event: u64,
    /// The number of memories.
    pub memories: u64,
    /// The number of versions that follow, including those that do not open.
    pub versions: u64,
    /// The bytes of text in all versions.
    pub bytes: u64,
}

/// An exported version, or the reason why it does not open.
#[derive(Debug)]
#[non_exhaustive]
pub struct ExportedVersion {
    /// The memory.
    pub id: MemoryId,
    /// Its path; `None` if the key of its paths is gone.
    pub path: Option<MemoryPath>,
    /// The version.
    pub version: u64,
    /// True if it was the present version at the moment, and not an earlier one.
    pub present: bool,
    /// The time when the memory was created.
    pub created: DateTime<Utc>,
    /// The time when the version was written.
    pub time: DateTime<Utc>,
    /// The event that wrote it.
    pub event: u64,
    /// The command of that event.
    pub command: String,
    /// The actor, as the caller named it.
    pub actor: Option<String>,
    /// The session, as the caller named it.
    pub session: Option<String>,
    /// The text, or the error: it was erased, its key is missing, or it is damaged.
    pub text: Result<Text, Error>,
}

impl ExportedVersion {
    /// Returns the SHA-256 of the text, if it opened.
    #[must_use]
    pub fn sha256(&self) -> Option<Digest> {
        let text = self.text.as_ref().ok()?;
        Some(Digest::of(text.as_str().as_bytes()))
    }

    /// Tells whether it does not open because it was erased, in which case nothing is wrong.
    #[must_use]
    pub fn is_erased(&self) -> bool {
        use crate::error::RetentionFault::Erased;
        matches!(self.text, Err(Error::Retention(Erased { .. })))
    }
}

/// The most versions opened while the lock is held once.
const PIECE_VERSIONS: usize = 256;
/// The bytes of text at which a piece ends. It bounds memory, apart from the last text.
const PIECE_BYTES: u64 = 4 * 1024 * 1024;

/// A version to export.
struct ExportItem {
    version: Version,
    present: bool,
}

/// An export in progress. Its texts are opened in pieces, as they are asked for.
///
/// An error ends the export. A version that does not open is no such error:
/// [`ExportedVersion::text`] tells why.
pub struct Export<'a> {
    store: &'a mut Store,
    head: Head,
    waiting: VecDeque<ExportItem>,
    ready: vec::IntoIter<ExportedVersion>,
}

impl Store {
    /// Exports texts: those of a moment, or every version there ever was. One event records the
    /// caller and names each memory that opens. It is recorded before any text is returned, and is
    /// no access to any memory.
    ///
    /// # Errors
    /// [`Error::NotThere`] if nothing is at one of the scope's paths; [`Error::NotAReader`] for an
    /// auditor; [`Error::NoSigningKey`] and the like for a caller that cannot record it.
    pub fn export(&mut self, scope: &ExportScope, context: &Context) -> Result<Export<'_>> {
        let (head, waiting) = with_contents(self, |store| {
            let (mut head, waiting) = survey_export(store, scope)?;
            head.event = record_export(store, scope, &head, &waiting, context)?;
            Ok((head, waiting))
        })?;
        Ok(Export {
            store: self,
            head,
            waiting: waiting.into(),
            ready: Vec::new().into_iter(),
        })
    }
}

/// Collects the versions to export, in the order of paths. Requires the store's lock.
fn survey_export(store: &Store, scope: &ExportScope) -> Result<(Head, Vec<ExportItem>)> {
    let timeline = timeline(&store.state);
    let at = match &scope.at {
        Some(revision) => resolve(store, revision)?,
        None => newest_moment(&store.state),
    };
    let lives = versions_by_memory(&store.state, scope, at.event);
    let is_there = |path: &&MemoryPath| {
        let mut all = lives.iter().flatten();
        path.is_root() || all.any(|wanted| wanted.version.is_within(path))
    };
    if let Some(missing) = scope.within.iter().find(|path| !is_there(path)) {
        return Err(Error::NotThere {
            path: redactor(store)?.line(missing.as_str()).0,
            when: format!("after event {}", at.event),
            hint: "`agekeep view --at REV /memories` lists what was there".into(),
        });
    }
    let wanted = || lives.iter().flatten();
    let head = Head {
        store: store.state.id,
        at,
        time: timeline.time(at.event).expect("a resolved moment"),
        event: 0,
        memories: lives.len() as u64,
        versions: wanted().count() as u64,
        bytes: wanted().map(|wanted| wanted.version.bytes).sum(),
    };
    Ok((head, lives.into_iter().flatten().collect()))
}

/// Returns the versions of each memory, oldest first, in the order of their newest paths.
fn versions_by_memory(state: &State, scope: &ExportScope, at: u64) -> Vec<Vec<ExportItem>> {
    let timeline = timeline(state);
    let mut then = timeline.state(at);
    if scope.at.is_none() {
        let unexpired = unexpired(state);
        let has = |id| state.catalog.memory(id).is_none_or(|m| unexpired.has(m));
        then.retain(|id, _| has(*id));
    }
    let mut lives: Vec<Vec<ExportItem>> = if scope.history {
        let of = |id: MemoryId| {
            let present = then.get(&id).map(|version| version.version);
            let versions = timeline.versions(id, at);
            let wanted = versions.map(|version| ExportItem {
                present: present == Some(version.version),
                version,
            });
            wanted.collect()
        };
        timeline.memories().map(of).collect()
    } else {
        let present = then.into_values().map(|version| ExportItem {
            version,
            present: true,
        });
        present.map(|wanted| vec![wanted]).collect()
    };
    let inside = |wanted: &ExportItem| {
        let mut within = scope.within.iter();
        scope.within.is_empty() || within.any(|above| wanted.version.is_within(above))
    };
    lives.retain(|life| life.iter().any(inside));
    lives.sort_by_cached_key(|life| {
        let last = life.last().map(|wanted| &wanted.version);
        last.map(|last| (last.path.clone(), last.id))
    });
    lives
}

fn record_export(
    store: &mut Store,
    scope: &ExportScope,
    head: &Head,
    wanted: &[ExportItem],
    context: &Context,
) -> Result<u64> {
    let command = if scope.history {
        EXPORT_HISTORY_COMMAND
    } else {
        EXPORT_COMMAND
    };
    let path = match &scope.within[..] {
        [] => Some(PathRef::Root),
        [one] => Some(path_ref_ever(store, one, head.at.event)?),
        _ => None,
    };
    // Nothing of an erased memory is exported, and no record can name its path any more.
    let mut named = HashSet::new();
    let mut touches: Vec<MemoryChange> = Vec::new();
    for ExportItem { version, .. } in wanted.iter().rev() {
        let closed = timeline(&store.state).erased_at(version).is_some();
        if !closed && version.path.is_some() && named.insert(version.id) {
            touches.push(look_change(version));
        }
    }
    touches.reverse();
    let look = HistoryRead {
        command,
        path,
        at: vec![head.at],
        touches,
    };
    try_record_history_read(store, look, context)
}

/// Opens a piece of the export. Requires the store's lock.
fn open_chunk(store: &Store, piece: Vec<ExportItem>) -> Result<Vec<ExportedVersion>> {
    // A single event can have written thousands of these versions. In this order its record is
    // opened once for all of them.
    let mut order: Vec<usize> = (0..piece.len()).collect();
    order.sort_by_key(|at| piece[*at].version.event);
    let mut texts: Vec<Option<Result<Text>>> = piece.iter().map(|_| None).collect();
    for at in order {
        texts[at] = Some(match text_then(store, &piece[at].version) {
            Err(error) if !error.is_of_one_memory() => return Err(error),
            opened => opened,
        });
    }
    let texts = texts.into_iter().flatten();
    let taken = piece.into_iter().zip(texts);
    Ok(taken
        .map(|(wanted, text)| exported_version(&store.state, wanted, text))
        .collect())
}

fn exported_version(state: &State, wanted: ExportItem, text: Result<Text>) -> ExportedVersion {
    let ExportItem { version, present } = wanted;
    let timeline = timeline(state);
    let time = |event| -> DateTime<Utc> { timeline.time(event).expect("an event of history") };
    let first = timeline.versions(version.id, version.event).next();
    let (actor, session) = timeline.who(version.event).expect("an event of history");
    let (command, _) = timeline
        .command(version.event)
        .expect("an event of history");
    ExportedVersion {
        id: version.id,
        version: version.version,
        present,
        created: time(first.map_or(version.event, |first| first.event)),
        time: time(version.event),
        event: version.event,
        command: command.to_owned(),
        actor: actor.map(str::to_owned),
        session: session.map(str::to_owned),
        path: version.path,
        text,
    }
}

impl Export<'_> {
    /// Returns the summary of the export.
    #[must_use]
    pub fn head(&self) -> &Head {
        &self.head
    }

    fn next_chunk(&mut self) -> Vec<ExportItem> {
        let mut bytes = 0;
        let mut piece = Vec::new();
        while let Some(wanted) = self.waiting.pop_front() {
            bytes += wanted.version.bytes;
            piece.push(wanted);
            if piece.len() == PIECE_VERSIONS || bytes >= PIECE_BYTES {
                break;
            }
        }
        piece
    }
}

impl Iterator for Export<'_> {
    type Item = Result<ExportedVersion>;

    fn next(&mut self) -> Option<Result<ExportedVersion>> {
        if self.ready.len() == 0 {
            let piece = self.next_chunk();
            if piece.is_empty() {
                return None;
            }
            match with_contents(self.store, |store| open_chunk(store, piece)) {
                Ok(taken) => self.ready = taken.into_iter(),
                Err(error) => {
                    self.waiting.clear();
                    return Some(Err(error));
                }
            }
        }
        self.ready.next().map(Ok)
    }
}
