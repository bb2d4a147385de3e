//! Commits checked on their own, on every core, and handed on in order.

use std::sync::mpsc;
use std::thread;

use crate::crypto::digest::Digest;
use crate::crypto::sign::SignedBy;
use crate::disk::Folder;
use crate::error::{Error, Result};
use crate::event::{Event, PathOpener};
use crate::id::ObjectId;
use crate::journal;
use crate::keyring::Keyring;
use crate::repository::Repository;
use crate::state::catalog::Decided;

use super::decided_in;

/// Commits that a thread takes at a time.
const RUN: usize = 32;
/// Runs that a thread may be ahead of what was handed on: what bounds memory.
const RUNS_AHEAD: usize = 16;
/// Fewer commits than this are not worth a thread.
const THREADS_COMMITS_MIN: usize = 4 * RUN;

/// A commit that was checked on its own: hash, signature, record.
pub(in crate::store) struct Checked {
    pub(in crate::store) id: ObjectId,
    parent: Option<ObjectId>,
    pub(super) digest: Digest,
    /// How many there are in its object.
    pub(super) bytes: u64,
    pub(super) signed: SignedBy,
    pub(super) author: String,
    pub(in crate::store) event: Event,
    pub(super) tree: ObjectId,
    /// What its tree says the owner decided, where the event changes the tree.
    pub(super) decided: Option<Decided>,
}

impl Checked {
    /// Checks that this is the commit right before it.
    pub(in crate::store) fn comes_after(&self, before: Option<ObjectId>) -> Result<()> {
        if self.parent == before {
            return Ok(());
        }
        let what = format!("commit {}", self.id);
        Err(Error::damaged(
            what,
            "its parent is not the commit before it",
        ))
    }
}

/// Checks commits, and hands them on in order while the next are checked.
pub(in crate::store) fn check_all(
    root: &Folder,
    keyring: &Keyring,
    commits: &[ObjectId],
    mut each: impl FnMut(Checked) -> Result<()>,
) -> Result<()> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    if commits.len() < THREADS_COMMITS_MIN || cores == 1 {
        let mut checks = Checks::new(root, keyring);
        return commits.iter().try_for_each(|id| each(checks.check(*id)?));
    }
    thread::scope(|scope| {
        let start = |first| {
            let (sender, receiver) = mpsc::sync_channel(RUNS_AHEAD);
            scope.spawn(move || {
                let mut checks = Checks::new(root, keyring);
                for run in commits.chunks(RUN).skip(first).step_by(cores) {
                    let checked: Result<Vec<_>> = run.iter().map(|id| checks.check(*id)).collect();
                    // Where an error was handed on already, nobody waits for more.
                    if sender.send(checked).is_err() {
                        return;
                    }
                }
            });
            receiver
        };
        // The threads take runs in turn, so that what comes next is known to come from one of them.
        let threads: Vec<_> = (0..cores).map(start).collect();
        for thread in threads.iter().cycle().take(commits.len().div_ceil(RUN)) {
            let checked = thread.recv().expect("checking does not panic");
            checked?.into_iter().try_for_each(&mut each)?;
        }
        Ok(())
    })
}

/// What one thread checks commits with.
struct Checks<'a> {
    repository: Repository,
    opener: PathOpener<'a>,
}

impl<'a> Checks<'a> {
    fn new(root: &Folder, keyring: &'a Keyring) -> Self {
        Self {
            repository: Repository::of_whatever_is_there(root, journal::find),
            opener: PathOpener::remembering(keyring),
        }
    }

    fn check(&mut self, id: ObjectId) -> Result<Checked> {
        let fault = |why: &str| Error::damaged(format!("commit {id}"), why);
        let (commit, bytes) = self.repository.commit(id)?;
        let signed = SignedBy::check(&commit.signed_bytes, &commit.signature)
            .ok_or_else(|| fault("its signature is not one over it"))?;
        let event = Event::open(&commit.message, &self.opener).map_err(|e| e.of(id))?;
        if event.tree != commit.tree {
            return Err(fault("its record belongs to another tree"));
        }
        let decided = event
            .changes_tree()
            .then(|| decided_in(&self.repository, commit.tree))
            .transpose()?;
        Ok(Checked {
            id,
            parent: commit.parent,
            digest: Digest::of(&bytes),
            bytes: bytes.len() as u64,
            signed,
            author: commit.author,
            event,
            tree: commit.tree,
            decided,
        })
    }
}
