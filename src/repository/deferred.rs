//! Commits that are durable in the journal, and whose objects are put in their places after the
//! answer: by a thread, once no command has come for a while. Reads find them here until then. A
//! journal that is packed before that spares their files.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::disk::{Folder, Lock};
use crate::error::Result;
use crate::id::ObjectId;
use crate::repository::Repository;
use crate::repository::object::Object;

/// The time after a command in which the next one is waited for.
const IDLE: Duration = Duration::from_millis(50);
/// The longest that a commit waits while commands keep coming.
const LATEST: Duration = Duration::from_secs(1);
/// The time until placing that failed is tried again.
const RETRY: Duration = Duration::from_secs(1);
/// The most commits that are placed before the branch points at the last of them.
const PLACED_AT_ONCE: usize = 16;
/// How long a process that is about to end waits for the store's lock: the next open puts the
/// objects in place too.
const LOCK_WAIT_LEAVING: Duration = Duration::from_millis(250);

/// A commit that is durable in the journal, with the objects that came with it.
pub(crate) struct DeferredCommit {
    pub(crate) parent: ObjectId,
    pub(crate) id: ObjectId,
    pub(crate) objects: Vec<Object>,
}

/// The commits that wait, and the thread that places them. Dropping this places the rest.
#[derive(Default)]
pub(super) struct Deferred {
    queue: Arc<DeferredQueue>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct DeferredQueue {
    waiting: Mutex<WaitingCommits>,
    changed: Condvar,
}

#[derive(Default)]
struct WaitingCommits {
    /// Each follows the one before it, and the branch points at the parent of the first, or at one
    /// of them if they were just placed.
    commits: VecDeque<(Instant, Arc<DeferredCommit>)>,
    /// Set after a failure, until somebody takes the commits out: nothing is placed before.
    not_before: Option<Instant>,
    /// Set when the process is about to end.
    left_at: Option<Instant>,
}

impl WaitingCommits {
    /// Returns the time at which the thread places commits; `None` if none waits.
    fn due(&self) -> Option<Instant> {
        let ((oldest, _), (newest, _)) = (self.commits.front()?, self.commits.back()?);
        let due = (*oldest + LATEST).min(*newest + IDLE);
        let due = self
            .not_before
            .map_or(due, |not_before| due.max(not_before));
        Some(self.left_at.map_or(due, |left_at| due.min(left_at)))
    }

    fn position(&self, id: ObjectId) -> Option<usize> {
        self.commits.iter().position(|(_, commit)| commit.id == id)
    }

    /// Forgets all commits up to this one, if it is among them.
    fn forget_through(&mut self, id: ObjectId) {
        if let Some(at) = self.position(id) {
            self.commits.drain(..=at);
        }
    }
}

impl DeferredQueue {
    fn lock(&self) -> MutexGuard<'_, WaitingCommits> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Deferred {
    /// Finds an object of a waiting commit.
    pub(super) fn find(&self, id: ObjectId) -> Option<Object> {
        let waiting = self.queue.lock();
        let mut commits = waiting.commits.iter().rev();
        commits.find_map(|(_, commit)| commit.objects.iter().find(|o| o.id == id).cloned())
    }

    /// Adds commits, each after the one before. Gives them back if no thread can be started.
    pub(super) fn add(
        &mut self,
        root: &Folder,
        commits: Vec<DeferredCommit>,
    ) -> Result<(), Vec<DeferredCommit>> {
        if self.thread.as_ref().is_none_or(JoinHandle::is_finished) {
            let (queue, root) = (Arc::clone(&self.queue), root.clone());
            let thread = thread::Builder::new().name("placing".into());
            let started = thread.spawn(move || run(&queue, &root));
            self.thread = started.ok();
        }
        if self.thread.is_none() {
            return Err(commits);
        }
        let mut waiting = self.queue.lock();
        let was_empty = waiting.commits.is_empty();
        let now = Instant::now();
        let commits = commits.into_iter().map(|commit| (now, Arc::new(commit)));
        waiting.commits.extend(commits);
        drop(waiting);
        if was_empty {
            self.queue.changed.notify_one();
        }
        Ok(())
    }

    /// Tells whether these are all commits between the branch and the end of history, and could be
    /// placed so far. Forgets those that are placed. Requires the store's lock.
    pub(super) fn reach(&self, branch: Option<ObjectId>, head: ObjectId) -> bool {
        let mut waiting = self.queue.lock();
        let (Some(branch), Some((_, last))) = (branch, waiting.commits.back()) else {
            return false;
        };
        if last.id != head || waiting.not_before.is_some() {
            return false;
        }
        let first = waiting.commits.front();
        if first.is_some_and(|(_, first)| first.parent == branch) {
            return true;
        }
        let is_one = waiting.position(branch).is_some();
        waiting.forget_through(branch);
        is_one
    }

    /// Returns the number of commits.
    pub(super) fn len(&self) -> usize {
        self.queue.lock().commits.len()
    }

    /// Takes out all commits.
    pub(super) fn take(&self) -> Vec<Arc<DeferredCommit>> {
        let waiting = std::mem::take(&mut *self.queue.lock());
        waiting
            .commits
            .into_iter()
            .map(|(_, commit)| commit)
            .collect()
    }
}

impl Drop for Deferred {
    fn drop(&mut self) {
        self.queue.lock().left_at = Some(Instant::now());
        self.queue.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // After a panic, the next open puts in place what is left.
            let _ = thread.join();
        }
    }
}

/// Places commits when they are due, until the queue is left and empty.
fn run(queue: &DeferredQueue, root: &Folder) {
    let repository = Repository::open_lenient(root, |_, _| Ok(None));
    let mut waiting = queue.lock();
    loop {
        let Some(due) = waiting.due() else {
            if waiting.left_at.is_some() {
                return;
            }
            let woken = queue.changed.wait(waiting);
            waiting = woken.unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        let early = due.saturating_duration_since(Instant::now());
        if !early.is_zero() {
            let woken = queue.changed.wait_timeout(waiting, early);
            waiting = woken.unwrap_or_else(PoisonError::into_inner).0;
            continue;
        }
        let some = waiting.commits.iter().take(PLACED_AT_ONCE);
        let some: Vec<_> = some.map(|(_, commit)| Arc::clone(commit)).collect();
        drop(waiting);
        let placed = place(queue, root, &repository, &some);
        waiting = queue.lock();
        match placed {
            Ok(true) => {}
            _ if waiting.left_at.is_some() => return,
            _ => waiting.not_before = Some(Instant::now() + RETRY),
        }
    }
}

/// Writes the objects of some commits, then points the branch at the last one, unless somebody else
/// has moved it. Returns `false` if the store's lock cannot be had.
///
/// Whoever holds both locks, that of the packs and that of the store, sees nothing come or go.
fn place(
    queue: &DeferredQueue,
    root: &Folder,
    repository: &Repository,
    commits: &[Arc<DeferredCommit>],
) -> Result<bool> {
    let write = || {
        let branch = repository.head()?;
        let placed = commits.iter().position(|commit| Some(commit.id) == branch);
        let left = &commits[placed.map_or(0, |placed| placed + 1)..];
        let mut objects = left.iter().flat_map(|commit| &commit.objects);
        objects.try_for_each(|object| repository.write(object))
    };
    // The packs can be locked for long. Then callers wait while objects are written.
    let packs = repository.try_pack_lock();
    if packs.is_some() {
        write()?;
    }
    let gives_up = || {
        let left_at = queue.lock().left_at;
        left_at.is_some_and(|left_at| left_at.elapsed() > LOCK_WAIT_LEAVING)
    };
    let Some(lock) = Lock::acquire_unless(root, gives_up) else {
        return Ok(false);
    };
    if packs.is_none() {
        write()?;
    }
    let branch = repository.head()?;
    let is_before = commits.iter().any(|commit| Some(commit.parent) == branch);
    if let Some(last) = commits.last().filter(|_| is_before) {
        repository.set_head(last.id)?;
    }
    // Under the lock, so that who holds it knows that nobody else has moved the branch to one of
    // those that wait.
    if let Some(last) = commits.last() {
        queue.lock().forget_through(last.id);
    }
    drop(lock);
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repository::object::ObjectKind;

    fn id(byte: u8) -> ObjectId {
        ObjectId([byte; 20])
    }

    /// Commits 1 to 3 after commit 0, each with one object besides.
    fn waiting() -> Deferred {
        let commit = |n: u8| DeferredCommit {
            parent: id(n - 1),
            id: id(n),
            objects: vec![Object {
                id: id(100 + n),
                kind: ObjectKind::Blob,
                bytes: vec![n],
            }],
        };
        let now = Instant::now();
        let commits = (1..=3).map(|n| (now, Arc::new(commit(n)))).collect();
        let deferred = Deferred::default();
        deferred.queue.lock().commits = commits;
        deferred
    }

    #[test]
    fn they_reach_from_the_branch_to_the_end_of_history_or_are_not_all() {
        for (branch, head, reach) in [
            (Some(0), 3, true),
            (Some(1), 3, true),
            (Some(3), 3, true),
            (None, 3, false),
            (Some(9), 3, false),
            (Some(0), 2, false),
            (Some(0), 4, false),
        ] {
            let found = waiting().reach(branch.map(id), id(head));
            assert_eq!(found, reach, "from {branch:?} to {head}");
        }
        assert!(!Deferred::default().reach(Some(id(3)), id(3)));
        let failed = waiting();
        failed.queue.lock().not_before = Some(Instant::now());
        assert!(!failed.reach(Some(id(0)), id(3)), "they cannot be placed");
    }

    #[test]
    fn what_the_branch_reaches_is_forgotten_and_the_rest_is_found() {
        let deferred = waiting();
        assert!(deferred.reach(Some(id(2)), id(3)));
        assert!(deferred.find(id(102)).is_none());
        assert_eq!(deferred.find(id(103)).expect("waits").bytes, [3]);
        assert_eq!(deferred.take().len(), 1);
        assert!(deferred.find(id(103)).is_none());
    }

    #[test]
    fn they_are_due_when_it_is_quiet_or_one_is_old_and_when_the_process_ends() {
        assert_eq!(WaitingCommits::default().due(), None);
        let deferred = waiting();
        let mut waiting = deferred.queue.lock();
        let now = waiting.commits[0].0;
        assert_eq!(waiting.due(), Some(now + IDLE));
        waiting.commits[2].0 = now + LATEST;
        assert_eq!(waiting.due(), Some(now + LATEST));
        waiting.not_before = Some(now + 2 * LATEST);
        assert_eq!(waiting.due(), Some(now + 2 * LATEST));
        waiting.left_at = Some(now);
        assert_eq!(waiting.due(), Some(now));
    }
}
