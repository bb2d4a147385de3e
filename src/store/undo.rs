//! Undo: agekeep first determines the wanted state of every memory, then its difference from the
//! present state, then records a single event that makes the change.

mod revert;
mod steps;

use std::collections::{BTreeMap, HashSet};

use chrono::{DateTime, Utc};
use serde::Serialize;

use self::revert::{restore_target, revert_target, rollback_target};
use self::steps::{UndoTransaction, plan_undo_steps};
use crate::Text;
use crate::crypto::digest::Digest;
use crate::error::{Error, Result};
use crate::event::{Change, Context, Moment, PathRef, UNDONE_RUNS_MAX};
use crate::id::MemoryId;
use crate::memory_tool::path::MemoryPath;
use crate::store::answer::Meta;
use crate::store::commit::commit;
use crate::store::history::read::not_there;
use crate::store::quota::check_room_for;
use crate::store::revision::Revision;
use crate::store::signers::check_role;
use crate::store::sweep::unexpired;
use crate::store::timeline::{newest_moment, timeline, with_contents, with_timeline};
use crate::store::{State, Store, plan};

/// Most later changes that a conflict lists.
const ON_TOP_MAX: usize = 5;

/// The wanted state of a memory.
pub(super) enum DesiredState {
    /// Removed.
    Gone,
    /// Present with this text.
    There {
        path: MemoryPath,
        text: Text,
        /// The earlier version with this text, or, after a merge, the version it goes back to.
        from: Option<u64>,
        merged: bool,
    },
}

/// The target of an undo.
#[derive(Default)]
pub(super) struct UndoTarget {
    pub(super) path: Option<PathRef>,
    pub(super) at: Option<Moment>,
    pub(super) undone: Vec<(u64, u64)>,
    pub(super) wanted: BTreeMap<MemoryId, DesiredState>,
    pub(super) conflicts: Vec<Conflict>,
}

impl Store {
    /// Plans an undo without carrying it out (dry run). Nothing is changed or recorded, and no text
    /// is shown.
    ///
    /// # Errors
    /// [`Error::NoRevision`], [`Error::Ambiguous`], [`Error::NotThere`] or [`Error::NothingToUndo`]
    /// if nothing matches.
    pub fn plan_undo(&mut self, undo: &Undo) -> Result<UndoPlan> {
        with_contents(self, |store| Ok(undo_transaction(store, undo)?.0.plan))
    }

    /// Undoes by a new event. `wanted` is the digest of the plan that must be carried out, if
    /// given; `partial` carries out what is possible and leaves conflicts alone.
    ///
    /// If there is nothing to do, nothing is recorded.
    ///
    /// # Errors
    /// [`Error::PlanChanged`] if the plan has changed since, [`Error::Conflict`] if others have
    /// changed the same memories since, [`Error::HistoryFull`]; otherwise the errors of
    /// [`Store::plan_undo`] and [`Store::execute`].
    pub fn undo(
        &mut self,
        undo: &Undo,
        wanted: Option<&str>,
        partial: bool,
        context: &Context,
    ) -> Result<(UndoPlan, Option<Meta>)> {
        with_contents(self, |store| {
            check_role(store, undo.command())?;
            let (UndoTransaction { plan, steps }, path) = undo_transaction(store, undo)?;
            if let Some(wanted) = wanted.filter(|wanted| !plan.is(wanted)) {
                return Err(Error::PlanChanged {
                    wanted: crate::event::bounded(wanted, 80),
                    found: plan.digest.to_string(),
                });
            }
            if !plan.conflicts.is_empty() && !partial {
                return Err(Error::Conflict {
                    conflicts: plan.conflicts.iter().map(Conflict::sentence).collect(),
                });
            }
            if steps.is_empty() {
                return Ok((plan, None));
            }
            check_room_for(&store.state, &steps)?;
            let mut undone = undone_by(&store.state, &plan);
            undone.truncate(UNDONE_RUNS_MAX);
            let draft = plan::Plan {
                at: plan.at.into_iter().collect(),
                undone,
                ..plan::Plan::of_owner(path, steps)
            };
            let answer = commit(store, draft, undo.command(), context)?;
            Ok((plan, Some(answer.meta)))
        })
    }

    /// Returns the last moment before a memory at a path was removed; the newest moment if it has
    /// only expired.
    ///
    /// # Errors
    /// [`Error::NotThere`] if nothing was ever at the path; [`Error::Invalid`] if something is
    /// there now.
    ///
    /// # Panics
    /// Never: history has a newest event.
    pub fn last_revision_of(&mut self, path: &MemoryPath) -> Result<Revision> {
        with_timeline(self, |store| {
            let unexpired = unexpired(&store.state);
            if unexpired.at(path).is_some() || unexpired.is_directory(path) {
                return Err(Error::invalid(
                    "a restore without a moment",
                    "a memory is there now; say which moment to restore with --from",
                ));
            }
            let newest = timeline(&store.state).len() - 1;
            if store.state.catalog.at(path).is_some() {
                return Ok(Revision::event(newest));
            }
            let ever = timeline(&store.state).ever_within(path).into_iter();
            let removed = ever
                .filter_map(|id| timeline(&store.state).removed(id))
                .max();
            removed
                .and_then(|event| event.checked_sub(1))
                .map(Revision::event)
                .ok_or_else(|| not_there(path, newest_moment(&store.state), timeline(&store.state)))
        })
    }
}

/// Returns the events of a plan that changed a memory outside its conflicts.
fn undone_by(state: &State, plan: &UndoPlan) -> Vec<(u64, u64)> {
    let left: HashSet<MemoryId> = plan.conflicts.iter().map(|found| found.id).collect();
    let is_undone = |event: &u64| {
        let mut parts = timeline(state).parts_of(*event).into_iter();
        parts.any(|part| part.change.alters() && !left.contains(&part.of.id))
    };
    let all = plan.undone.iter().flat_map(|(first, last)| *first..=*last);
    let undone: Vec<u64> = all.filter(is_undone).collect();
    revert::runs(&undone)
}

fn undo_transaction(store: &mut Store, undo: &Undo) -> Result<(UndoTransaction, Option<PathRef>)> {
    let mut aim = match undo {
        Undo::Restore { path, from } => restore_target(store, path, from)?,
        Undo::Revert(selection) => revert_target(store, selection)?,
        Undo::Rollback { to } => rollback_target(store, to)?,
    };
    let path = aim.path.take();
    Ok((plan_undo_steps(store, undo.command(), aim)?, path))
}

/// Describes later changes of a memory that are not undone, newest first.
pub(super) fn later_changes(state: &State, events: impl Iterator<Item = u64>) -> Vec<LaterChange> {
    let timeline = timeline(state);
    let known = |event: u64| {
        let (actor, session) = timeline.who(event)?;
        Some(LaterChange {
            event,
            time: timeline.time(event)?,
            actor: actor.map(str::to_owned),
            session: session.map(str::to_owned),
            command: timeline.command(event)?.0.to_owned(),
        })
    };
    events.take(ON_TOP_MAX).filter_map(known).collect()
}

/// Fewest hexadecimal digits of a plan's digest that name the plan.
pub const PLAN_DIGITS_MIN: usize = 16;

/// The kind of undo.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Undo {
    /// Restore a memory, or every memory of a directory, to its state at a moment.
    Restore {
        /// The path of the memory or directory.
        path: MemoryPath,
        /// The moment.
        from: Revision,
    },
    /// Undo the changes of some events, and keep later changes by others.
    Revert(Selection),
    /// Restore every memory to its state at a moment, and remove newer memories.
    Rollback {
        /// The moment.
        to: Revision,
    },
}

/// The events to revert: those that meet every given condition. At least one is required.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Selection {
    /// The first and the last event of a range, both included.
    pub range: Option<(Revision, Revision)>,
    /// Events of this session.
    pub session: Option<String>,
    /// Events by this actor.
    pub actor: Option<String>,
    /// Events at or after this time.
    pub since: Option<DateTime<Utc>>,
}

/// The plan of an undo, with its conflicts.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct UndoPlan {
    /// SHA-256 over the whole plan and every text it would write: equal digests mean equal plans.
    pub digest: Digest,
    /// `restore`, `revert` or `rollback`.
    pub command: &'static str,
    /// The moment it goes back to, for `restore` and `rollback`.
    pub at: Option<Moment>,
    /// The events it undoes, as inclusive ranges, for `revert`.
    pub undone: Vec<(u64, u64)>,
    /// The changes, sorted by path.
    pub steps: Vec<UndoStep>,
    /// The memories it cannot undo, or not without losing later changes by others.
    pub conflicts: Vec<Conflict>,
}

/// The change of a memory by an undo.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct UndoStep {
    /// The memory.
    #[serde(rename = "memory")]
    pub id: MemoryId,
    /// `edit`, `move` (a new path, and perhaps a new text), `remove` or `restore`.
    pub change: Change,
    /// Its present path; `None` if it does not exist.
    pub path_now: Option<MemoryPath>,
    /// Its path after the undo; `None` if it is removed.
    pub path: Option<MemoryPath>,
    /// Its newest version.
    pub version_now: u64,
    /// The earlier version it goes back to, wholly or, after a merge, in part.
    pub from: Option<u64>,
    /// Number of lines added.
    pub lines_added: usize,
    /// Number of lines removed.
    pub lines_removed: usize,
    /// True if later changes by others are kept, merged line by line.
    pub merged: bool,
    /// Kinds of secrets stripped from a text that was stored before their rule existed.
    pub stripped: Vec<String>,
    /// SHA-256 of its new text.
    pub sha256: Option<Digest>,
}

/// A memory that is left unchanged, because others changed the same since, or because its earlier
/// text does not open or may no longer be stored.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Conflict {
    /// The memory.
    #[serde(rename = "memory")]
    pub id: MemoryId,
    /// Its path; `None` if the key of its paths is destroyed.
    pub path: Option<MemoryPath>,
    /// The reason, in words.
    pub why: String,
    /// The later changes in the way, newest first.
    pub on_top: Vec<LaterChange>,
}

/// A later change in the way of an undo.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct LaterChange {
    /// Its event.
    pub event: u64,
    /// The time.
    #[serde(serialize_with = "crate::event::as_rfc3339")]
    pub time: DateTime<Utc>,
    /// The actor, as given by the caller.
    pub actor: Option<String>,
    /// The session, as given by the caller.
    pub session: Option<String>,
    /// The command.
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

impl UndoPlan {
    /// Computes the plan's digest.
    pub(crate) fn sealed(mut self) -> Self {
        let text = serde_json::to_vec(&self).expect("a plan has a JSON form");
        self.digest = Digest::of(&text);
        self
    }

    /// Tells whether this plan has the given digest, of which at least [`PLAN_DIGITS_MIN`] digits
    /// are required.
    #[must_use]
    pub fn is(&self, digest: &str) -> bool {
        let digits = digest.strip_prefix("sha256:").unwrap_or(digest);
        digits.len() >= PLAN_DIGITS_MIN && self.digest.to_string().starts_with(digits)
    }

    /// Tells whether there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.conflicts.is_empty()
    }
}

impl Conflict {
    /// Makes a conflict without later changes.
    pub(crate) fn alone(id: MemoryId, path: Option<MemoryPath>, why: impl Into<String>) -> Self {
        Self {
            id,
            path,
            why: why.into(),
            on_top: Vec::new(),
        }
    }

    /// Describes the conflict in a sentence: the memory, the reason, and the later changes.
    #[must_use]
    pub fn sentence(&self) -> String {
        let path = self.path.as_ref().map_or_else(
            || format!("the memory {}", self.id),
            |path| path.as_str().to_owned(),
        );
        let who = |top: &LaterChange| {
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

/// Returns a caller's word, quoted if it could be mistaken for more of the sentence.
fn said(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "._-:@/+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("{word:?}")
    }
}
