//! The verified line of commits, for claims about it that were made elsewhere.

use crate::crypto::digest::Digest;
use crate::crypto::sign::Signers;
use crate::error::{Error, Result};
use crate::id::ObjectId;
use crate::repository::object::{self, Kind};
use crate::repository::{Repository, Strict};

use super::examine::read_signers;
use super::opening::decided_at;

/// History as it was verified. Nothing but the names of its commits is held; the rest is read when
/// it is asked for.
pub(super) struct Chain<'a> {
    pub(super) repository: &'a Repository,
    /// The number of the first of `commits`.
    pub(super) first: u64,
    /// Oldest first.
    pub(super) commits: &'a [ObjectId],
    /// The commit right before them, up to which an earlier run has verified history.
    pub(super) before: Option<ObjectId>,
}

/// One commit of the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Link {
    /// The event it records, by its place in history.
    pub(super) event: u64,
    /// Its name.
    pub(super) commit: ObjectId,
    /// SHA-256 of the commit object.
    pub(super) digest: Digest,
}

impl Chain<'_> {
    /// How many events there are.
    pub(super) fn events(&self) -> u64 {
        self.first + self.commits.len() as u64
    }

    /// The newest commit.
    ///
    /// # Errors
    /// As for [`Chain::at`].
    pub(super) fn newest(&self) -> Result<Option<Link>> {
        match self.events().checked_sub(1) {
            Some(event) => self.at(event),
            None => Ok(None),
        }
    }

    /// The commit of an event; `None` if history is not that long. What is older than the last
    /// verified point is looked for commit by commit.
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

    /// Who may write after a commit; `None` if that cannot be read.
    pub(super) fn signers_after(&self, commit: ObjectId) -> Result<Option<Signers>> {
        match decided_at(self.repository, commit)? {
            Some(decided) => read_signers(self.repository, decided.signers),
            None => Ok(None),
        }
    }

    /// The digest of a commit, and its parent.
    fn read(&self, commit: ObjectId) -> Result<(Digest, Option<ObjectId>)> {
        if let Strict::Whole(Kind::Commit, bytes) = self.repository.read_strictly(commit)?
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
