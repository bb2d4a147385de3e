//! Checkpoints: agekeep packs the journal, on a thread beside the commands if it can, and starts a
//! new one. Also compaction: everything in one pack.

use std::cell::{Cell, OnceCell};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::disk::{Folder, Lock};
use crate::error::{Error, Result};
use crate::id::ObjectId;
use crate::journal::{self, Journal};
use crate::keyring::Keyring;
use crate::repository::{JournalPack, Repository};
use crate::store::recovery::{config_blobs_at, refresh};
use crate::store::{Ledger, ProgressFn, Store, lock};

/// The bytes that the journal grows before a failed pack is tried again.
const RETRY_BYTES: u64 = 1024 * 1024;
/// How long a process that is about to end waits for the store's lock: its pack is written, and
/// only the new journal is missing.
const LOCK_WAIT_LEAVING: Duration = Duration::from_millis(250);
/// How long packing waits for whoever else writes objects or packs.
const PACK_LOCK_WAIT: Duration = Duration::from_millis(500);
/// The most bytes merged while a caller waits: that many take no longer than a checkpoint.
const MERGE_BYTES_INLINE: u64 = 4 * 1024 * 1024;

/// Makes everything in the journal durable in its place, and starts a new journal.
pub(crate) fn checkpoint(
    repository: &Repository,
    keyring: &Keyring,
    journal: &mut Journal,
) -> Result<()> {
    let packed = pack(repository, journal)?;
    keyring.sync()?;
    begin_journal(repository, journal, &packed)
}

/// Does the same in an open store.
pub(super) fn checkpoint_ledger(ledger: &mut Ledger) -> Result<()> {
    checkpoint(&ledger.repository, &ledger.keyring, &mut ledger.journal)
}

/// Does the same in a copy without a keyring.
pub(crate) fn checkpoint_without_keys(
    repository: &Repository,
    journal: &mut Journal,
) -> Result<()> {
    let packed = pack(repository, journal)?;
    begin_journal(repository, journal, &packed)
}

/// Starts a new journal once the objects of the old one are packed.
fn begin_journal(
    repository: &Repository,
    journal: &mut Journal,
    packed: &JournalPack,
) -> Result<()> {
    if repository.has_deferred(journal.head())? {
        repository.set_head(journal.head())?;
        repository.forget_deferred();
    }
    repository.forget_branch_before()?;
    repository.sync_head()?;
    journal.start_anew()?;
    repository.release(packed);
    repository.remove_loose(&packed.ids);
    if let Some(turn) = repository.try_pack_lock() {
        // The checkpoint is complete without the merge; the next one tries it again.
        drop(repository.merge_packs(|| MERGE_BYTES_INLINE));
        drop(turn);
    }
    Ok(())
}

/// Packs the journal's objects.
fn pack(repository: &Repository, journal: &Journal) -> Result<JournalPack> {
    let records = journal.records()?;
    // Newest first: those are read most, and older versions are deltas against them.
    let objects = records
        .iter()
        .rev()
        .flat_map(|record| record.objects.iter().rev());
    repository.pack(objects)
}

/// Cleans up once after a reboot if there is nothing to replay: files that were removed because a
/// pack has them may be back, and others may be torn.
pub(crate) fn clean_up_after_reboot(repository: &Repository, journal: &mut Journal) -> Result<()> {
    if !journal.is_left_from_another_boot() || journal.is_read_only() {
        return Ok(());
    }
    repository.clean_up_loose(journal.head())?;
    repository.forget_branch_before()?;
    repository.sync_head()?;
    journal.start_anew()
}

/// The thread that packs the journal, and then merges small packs into larger ones.
#[derive(Default)]
pub(super) struct Packing {
    thread: Option<JoinHandle<bool>>,
    leaving: Arc<AtomicBool>,
    /// A journal that filled up while packs are being merged, which can take long.
    next: Arc<Mutex<Option<Journal>>>,
    /// The inode of the journal that the thread got last.
    given: u64,
    /// The journal's bytes when the thread last began.
    began_at: u64,
    failed: bool,
}

impl Packing {
    fn is_busy(&self) -> bool {
        let thread = self.thread.as_ref();
        thread.is_some_and(|thread| !thread.is_finished())
    }

    /// Waits for a thread that has ended, or is about to.
    fn join(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.failed = !thread.join().unwrap_or(false);
        }
    }

    /// Tells whether a failed pack would only fail again.
    fn is_backing_off(&self, journal: &Journal) -> bool {
        let grown = journal.bytes().checked_sub(self.began_at);
        self.failed && grown.is_some_and(|grown| grown < RETRY_BYTES)
    }

    /// Queues a journal that came after those a busy thread has.
    fn hand_over_journal(&mut self, journal: &Journal) -> Result<()> {
        if self.given != journal.inode() {
            let now = journal.as_now()?;
            self.given = journal.inode();
            *self.next.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
        }
        Ok(())
    }

    fn begin(&mut self, work: Work) {
        drop(work.take_next());
        self.given = work.journal.inode();
        self.began_at = work.journal.bytes();
        let thread = thread::Builder::new().name("packing".into());
        // If no thread starts, the next try comes when the journal has grown.
        self.thread = thread.spawn(move || work.run().unwrap_or(false)).ok();
        self.failed = self.thread.is_none();
    }
}

impl Drop for Packing {
    /// Joins the thread, as none outlives its store. The thread no longer waits long for the lock,
    /// which the caller may hold.
    fn drop(&mut self) {
        self.leaving.store(true, Ordering::Relaxed);
        self.join();
    }
}

/// The thread's input, which holds no secret.
struct Work {
    root: Folder,
    keyring: Folder,
    /// The blob of the policy that places the keyring there.
    policy: ObjectId,
    journal: Journal,
    next: Arc<Mutex<Option<Journal>>>,
    leaving: Arc<AtomicBool>,
}

impl Work {
    /// Packs the journal, starts a new one with the records since, and removes leftovers. Then
    /// merges small packs, and packs each journal that fills up meanwhile. Returns `false` if
    /// another process was in the way.
    fn run(self) -> Result<bool> {
        let repository = Repository::open_lenient(&self.root, journal::find);
        let Some(turn) = self.pack_lock(&repository) else {
            return Ok(false);
        };
        let done = Cell::new(self.pack(&repository, &self.journal)?);
        if done.get() {
            repository.merge_packs(|| {
                if self.leaving.load(Ordering::Relaxed) {
                    return MERGE_BYTES_INLINE;
                }
                if let Some(journal) = self.take_next() {
                    done.set(self.pack(&repository, &journal).unwrap_or(false));
                }
                u64::MAX
            })?;
        }
        drop(turn);
        Ok(done.get())
    }

    /// Takes the lock for writing packs. Who puts objects in place has it for moments; who merges
    /// packs has it for long, and is not waited for.
    fn pack_lock(&self, repository: &Repository) -> Option<Lock> {
        let begun = Instant::now();
        loop {
            let turn = repository.try_pack_lock();
            let is_leaving = self.leaving.load(Ordering::Relaxed);
            if turn.is_some() || is_leaving || begun.elapsed() > PACK_LOCK_WAIT {
                return turn;
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn take_next(&self) -> Option<Journal> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        next.take()
    }

    fn pack(&self, repository: &Repository, journal: &Journal) -> Result<bool> {
        let packed = pack(repository, journal)?;
        // Most is synced before the lock is taken, so that little is left to do under it.
        self.sync_rest(repository)?;
        let is_new = self.start_anew(repository, journal);
        repository.release(&packed);
        let is_new = is_new?;
        if is_new {
            repository.remove_loose(&packed.ids);
        }
        Ok(is_new)
    }

    fn sync_rest(&self, repository: &Repository) -> Result<()> {
        Keyring::sync_tables(&self.keyring)?;
        repository.sync_head()
    }

    /// Starts a new journal after the packed records. Returns `false` if another process did so, or
    /// moved the branch elsewhere.
    fn start_anew(&self, repository: &Repository, packed: &Journal) -> Result<bool> {
        let base = packed.head();
        // Most records since are checked before the lock is taken. One that is being written may fail.
        let early = Journal::open_at(&self.root, base);
        let Some(lock) = self.lock() else {
            return Ok(false);
        };
        let mut now = match early {
            Ok(early) => early,
            Err(_) => Journal::open_at(&self.root, base)?,
        };
        now.refresh()?;
        let knows = |branch: &ObjectId| now.knows(*branch) || packed.knows(*branch);
        let branch = repository.head()?.filter(knows);
        let Some(branch) = branch.filter(|_| now.inode() == packed.inode()) else {
            return Ok(false);
        };
        // Under another policy the keyring may be elsewhere. Who decides on a policy moves the branch
        // at once, so the branch tells.
        if config_blobs_at(repository, branch)?.policy != self.policy {
            return Ok(false);
        }
        // Whoever had the journal packed has put the keys of these records in place.
        if packed.knows(branch) && branch != base {
            repository.set_head(base)?;
        }
        repository.forget_branch_before()?;
        self.sync_rest(repository)?;
        now.start_after(base)?;
        drop(lock);
        Ok(true)
    }

    fn lock(&self) -> Option<Lock> {
        let left_at = OnceCell::new();
        Lock::acquire_unless(&self.root, || {
            self.leaving.load(Ordering::Relaxed)
                && left_at.get_or_init(Instant::now).elapsed() > LOCK_WAIT_LEAVING
        })
    }
}

/// Makes room in the journal. A full journal is packed by a thread; the command itself does it only
/// if the thread does not keep up. Requires the store's lock.
pub(super) fn checkpoint_if_due(store: &mut Store) -> Result<()> {
    let ledger = &mut store.ledger;
    if ledger.journal.is_overfull() {
        return checkpoint_ledger(ledger);
    }
    if !ledger.journal.is_full() {
        return Ok(());
    }
    let (packing, journal) = (&mut ledger.packing, &ledger.journal);
    if packing.is_busy() {
        return packing.hand_over_journal(journal);
    }
    packing.join();
    if !packing.is_backing_off(journal) {
        let work = Work {
            root: ledger.root.clone(),
            keyring: ledger.keyring.folder().clone(),
            policy: store.state.config.blobs.policy,
            journal: journal.as_now()?,
            next: Arc::clone(&packing.next),
            leaving: Arc::clone(&packing.leaving),
        };
        packing.begin(work);
    }
    Ok(())
}

// Compaction: everything in the repository in one pack, and the space it saves.

/// The size of a store on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StorageStats {
    /// Pack files.
    pub packs: u64,
    /// Loose objects.
    pub loose: u64,
    /// All bytes in the store's folder.
    pub bytes: u64,
}

/// The result of a compaction.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Compacted {
    /// The size before.
    pub before: StorageStats,
    /// The size after.
    pub after: StorageStats,
    /// Objects of which no copy is whole. They stay where they are.
    pub torn: Vec<ObjectId>,
}

/// See [`Store::storage_stats`].
pub(super) fn storage_stats(ledger: &Ledger) -> Result<StorageStats> {
    let tally = ledger.repository.count_objects()?;
    let bytes = ledger.root.bytes_below();
    let bytes = bytes.map_err(Error::io("read", ledger.root.path()))?;
    Ok(StorageStats {
        packs: tally.packs,
        loose: tally.loose,
        bytes,
    })
}

/// See [`Store::compact`].
pub(super) fn compact(store: &mut Store, progress: &mut ProgressFn<'_>) -> Result<Compacted> {
    let taken = store.ledger.repository.pack_lock()?;
    let lock = lock(&mut store.ledger)?;
    refresh(store)?;
    let before = storage_stats(&store.ledger)?;
    checkpoint_ledger(&mut store.ledger)?;
    let (head, loose) = (
        store.ledger.journal.head(),
        store.ledger.repository.loose()?,
    );
    drop(lock);
    let torn = store.ledger.repository.repack_all(head, loose, progress)?;
    drop(taken);
    Ok(Compacted {
        before,
        after: storage_stats(&store.ledger)?,
        torn,
    })
}
