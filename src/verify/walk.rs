//! Walks the line of commits from the newest back, and checks it in chunks on every core.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::background::in_runs;
use crate::crypto::digest::Digest;
use crate::crypto::sign::Signers;
use crate::disk::Folder;
use crate::error::{Error, Result};
use crate::id::ObjectId;
use crate::journal;
use crate::keyring::Keyring;
use crate::repository::object::{self, ObjectKind, Outline};
use crate::repository::{Repository, StrictRead};
use crate::verify::Progress;
use crate::verify::commit::{
    Before, CheckedCommitFacts, CommitChecker, read_outline, read_signers,
};
use crate::verify::findings::{Fault, FindingLocation, Findings};
use crate::verify::snapshot::config_blobs_at;

/// Commits that one thread takes at a time. Each run reads the commit before it once more.
const RUN: usize = 256;
/// Commits between progress reports while the line is collected.
const WALK_PROGRESS: u64 = 4_096;

/// The start of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// A commit that has no parent.
    Root,
    /// The commit right after the one asked for.
    After(ObjectId),
    /// An unreadable commit: the history before it is not known.
    Cut,
}

/// Commits, oldest first.
pub(super) struct CommitRange {
    pub(super) commits: Vec<ObjectId>,
    pub(super) start: Start,
}

/// Follows parents from `head` to `until`, or to the end. `parents` bridges unreadable commits.
pub(super) fn walk(
    repository: &Repository,
    head: ObjectId,
    until: Option<ObjectId>,
    parents: &HashMap<ObjectId, ObjectId>,
    findings: &mut Findings,
    progress: &mut dyn FnMut(Progress),
) -> Result<CommitRange> {
    let mut commits = Vec::new();
    let mut unreadable = HashSet::new();
    let mut next = head;
    let start = loop {
        if until == Some(next) {
            break Start::After(next);
        }
        let parent = match repository.peek(next)? {
            // Its hash is checked later, on every core.
            StrictRead::Whole(ObjectKind::Commit, bytes) => match object::outline(&bytes) {
                Some(outline) => parent_of(&outline),
                None => Parent::Unknown,
            },
            other => {
                if !unreadable.insert(next) {
                    let spot = FindingLocation {
                        commit: Some(next),
                        event: None,
                    };
                    let what = "history comes back to a commit that is damaged";
                    findings.add(Fault::new("history-broken", what), spot);
                    break Start::Cut;
                }
                match parents.get(&next) {
                    Some(parent) => Parent::Is(*parent),
                    None => recovered_parent(repository, &other)?,
                }
            }
        };
        commits.push(next);
        if commits.len() == RUN {
            repository.list_loose();
        }
        if (commits.len() as u64).is_multiple_of(WALK_PROGRESS) {
            progress(Progress {
                done: commits.len() as u64,
                total: None,
            });
        }
        match parent {
            Parent::Is(parent) => next = parent,
            Parent::None => break Start::Root,
            Parent::Unknown => break Start::Cut,
        }
    };
    commits.reverse();
    Ok(CommitRange { commits, start })
}

enum Parent {
    Is(ObjectId),
    None,
    Unknown,
}

fn parent_of(outline: &Outline) -> Parent {
    outline.parent.map_or(Parent::None, Parent::Is)
}

/// Returns the parent that a damaged commit still names, if that commit exists.
fn recovered_parent(repository: &Repository, found: &StrictRead) -> Result<Parent> {
    let StrictRead::Damaged(_, rest) = found else {
        return Ok(Parent::Unknown);
    };
    let Some(outline) = object::outline(rest) else {
        return Ok(Parent::Unknown);
    };
    Ok(match outline.parent {
        Some(parent) => match repository.read_whole(parent, ObjectKind::Commit)? {
            Some(_) => Parent::Is(parent),
            None => Parent::Unknown,
        },
        None if outline.begins_history => Parent::None,
        None => Parent::Unknown,
    })
}

/// Tells whether `ancestor` is `head` or comes before it.
pub(super) fn descends(
    repository: &Repository,
    head: ObjectId,
    ancestor: ObjectId,
) -> Result<bool> {
    let mut next = Some(head);
    while let Some(id) = next {
        if id == ancestor {
            return Ok(true);
        }
        next = read_outline(repository, id)?.and_then(|outline| outline.parent);
    }
    Ok(false)
}

/// Checks every commit of a line on every core, and hands the results on in order while the next
/// commits are checked.
pub(super) fn check_commits(
    root: &Folder,
    keyring: Option<&Keyring>,
    commits: &[ObjectId],
    first: &Before,
    mut each: impl FnMut(usize, CheckedCommitFacts) -> Result<()>,
) -> Result<()> {
    let own = || {
        let repository = Repository::open_lenient(root, journal::find);
        if commits.len() > RUN {
            repository.list_loose();
        }
        CommitChecker::new(repository, keyring)
    };
    let examine =
        |examiner: &mut CommitChecker<'_>, run| examine_run(examiner, commits, run, first);
    let mut index = 0;
    in_runs(commits.len(), RUN, own, examine, |done| {
        for one in done {
            each(index, one)?;
            index += 1;
        }
        Ok(())
    })
}

fn examine_run(
    examiner: &mut CommitChecker<'_>,
    commits: &[ObjectId],
    range: Range<usize>,
    first: &Before,
) -> Result<Vec<CheckedCommitFacts>> {
    let mut before = before(examiner, &commits[..range.start], first)?;
    let mut done = Vec::with_capacity(range.len());
    for id in &commits[range] {
        let (one, after) = examiner.check_commit(*id, &before)?;
        done.push(one);
        before = after;
    }
    Ok(done)
}

/// Returns the state of history after `commits`, from the last of them that can be read.
fn before(examiner: &CommitChecker<'_>, commits: &[ObjectId], first: &Before) -> Result<Before> {
    for (distance, id) in commits.iter().rev().enumerate() {
        if let Some(after) = examiner.after(*id)? {
            return Ok(match distance {
                0 => after,
                _ => Before {
                    digest: None,
                    certain: false,
                    ..after
                },
            });
        }
    }
    Ok(if commits.is_empty() {
        first.clone()
    } else {
        Before {
            tree: first.tree,
            ..Before::default()
        }
    })
}

// The verified line of commits, to check claims against.

/// The verified history. It holds only commit names; the rest is read on demand.
pub(super) struct VerifiedHistory<'a> {
    pub(super) repository: &'a Repository,
    /// The event number of the first of `commits`.
    pub(super) first: u64,
    /// Oldest first.
    pub(super) commits: &'a [ObjectId],
    /// The commit right before them, up to which an earlier run verified history.
    pub(super) before: Option<ObjectId>,
}

/// A commit of the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Link {
    /// The event it records, by its place in history.
    pub(super) event: u64,
    /// Its name.
    pub(super) commit: ObjectId,
    /// SHA-256 of the commit object.
    pub(super) digest: Digest,
}

impl VerifiedHistory<'_> {
    /// Returns the number of events.
    pub(super) fn events(&self) -> u64 {
        self.first + self.commits.len() as u64
    }

    /// Returns the newest commit.
    ///
    /// # Errors
    /// As for [`VerifiedHistory::at`].
    pub(super) fn newest(&self) -> Result<Option<Link>> {
        match self.events().checked_sub(1) {
            Some(event) => self.at(event),
            None => Ok(None),
        }
    }

    /// Returns the commit of an event; `None` if history is not that long. Events before the last
    /// verified point are searched commit by commit.
    ///
    /// # Errors
    /// [`Error::Damaged`] if a commit on the way cannot be read.
    pub(super) fn at(&self, event: u64) -> Result<Option<Link>> {
        if event >= self.events() {
            return Ok(None);
        }
        if let Some(index) = event.checked_sub(self.first) {
            let index = usize::try_from(index).ok();
            let commit = index.and_then(|index| self.commits.get(index));
            return commit.map(|commit| self.link(event, *commit)).transpose();
        }
        let Some(mut commit) = self.before else {
            return Ok(None);
        };
        for _ in event + 1..self.first {
            let (_, parent) = self.read(commit)?;
            let Some(parent) = parent else {
                return Ok(None);
            };
            commit = parent;
        }
        self.link(event, commit).map(Some)
    }

    fn link(&self, event: u64, commit: ObjectId) -> Result<Link> {
        let (digest, _) = self.read(commit)?;
        Ok(Link {
            event,
            commit,
            digest,
        })
    }

    /// Returns the signers after a commit; `None` if they cannot be read.
    pub(super) fn signers_after(&self, commit: ObjectId) -> Result<Option<Signers>> {
        match config_blobs_at(self.repository, commit)? {
            Some(decided) => read_signers(self.repository, decided.signers),
            None => Ok(None),
        }
    }

    /// Returns the digest of a commit, and its parent.
    fn read(&self, commit: ObjectId) -> Result<(Digest, Option<ObjectId>)> {
        if let Some(bytes) = self.repository.read_whole(commit, ObjectKind::Commit)?
            && let Some(outline) = object::outline(&bytes)
        {
            return Ok((Digest::of(&bytes), outline.parent));
        }
        Err(Error::damaged(
            format!("commit {commit}"),
            "it cannot be read",
        ))
    }
}
