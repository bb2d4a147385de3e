//! The file system: all access to files, durability, private modes, and the lock.
//!
//! Anyone who can write to a store's folder can replace any file in it with a link, a pipe or an
//! endless file. So a file is opened relative to an open [`Folder`], by a [`Name`] of the format's
//! own grammar. No link is followed, no open blocks, and anything but a file within its size limit
//! is refused before a byte of it is read. Nothing is removed by path.
//!
//! No other module of the library opens, makes, lists or removes a file: `tests/architecture.rs`
//! enforces it.

mod folder;
mod name;
mod outside;
#[cfg(test)]
mod tests;

use std::fs::TryLockError;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};
use std::{io, thread};

use crate::error::{Error, Result};

pub(crate) use self::folder::{DirEntry, FileStat, Folder};
pub(crate) use self::name::{KEY_ENTRIES_MAX, Name, PACK_OBJECTS_MAX, PackId, StagedKeyringId};
pub(crate) use self::outside::{
    NewFolder, absolute, bytes_of, make_folder, make_private_folder, make_private_folder_durably,
    make_secret, open_chosen, open_plain, read_plain, remove_plain, replace,
    replace_chosen_durably, replace_durably, resolved, user,
};
pub(crate) use crate::error::refused::{FileKind, Refused};
pub(crate) use std::fs::File;
pub(crate) use std::os::unix::fs::FileExt;
pub(crate) use std::os::unix::net::UnixStream as LocalSocket;

/// Makes the bytes of a file durable, whose length is durable already.
pub(crate) fn sync_contents(file: &File, path: &Path) -> Result<()> {
    file.sync_data().map_err(Error::io("write", path))
}

/// Makes the bytes and the length of a file durable.
pub(crate) fn sync_file(file: &File) -> std::io::Result<()> {
    file.sync_all()
}

/// Returns `None` instead of the error for a missing file or folder.
pub(crate) fn if_there<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

/// Returns the length of an open file.
pub(crate) fn length(file: &File) -> std::io::Result<u64> {
    Ok(file.metadata()?.len())
}

/// Returns the inode number of an open file.
pub(crate) fn inode(file: &File) -> std::io::Result<u64> {
    use std::os::unix::fs::MetadataExt;
    Ok(file.metadata()?.ino())
}

/// Identifies the current boot of the machine: a file written before another boot may be torn.
/// `None` if the system does not tell; then every start counts as another boot.
pub(crate) fn boot() -> Option<[u8; 36]> {
    let text = std::fs::read("/proc/sys/kernel/random/boot_id").ok()?;
    text.get(..36)?.try_into().ok()
}

/// Limits the bytes of memory that a process takes, and of each file that it writes, where a number is given.
/// The same holds for every process that it starts from now on. Only Linux can limit another process;
/// elsewhere this does nothing.
pub(crate) fn limit_process(process: &std::process::Child, memory: u64, file: Option<u64>) {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Pid, Resource, Rlimit, prlimit};
        let limits = [(Resource::Data, Some(memory)), (Resource::Fsize, file)];
        for (resource, bytes) in limits.into_iter().filter(|(_, bytes)| bytes.is_some()) {
            let limit = Rlimit {
                current: bytes,
                maximum: bytes,
            };
            // It fails for a process that has ended, and where less is allowed already.
            let _ = prlimit(Some(Pid::from_child(process)), resource, limit);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (process, memory, file);
}

// The kernel lock on a store, and the one on its folder of packs.

/// Longest wait for the lock, in seconds: two hundred writers that each take 50 ms are done in 10
/// s.
pub(crate) const LOCK_WAIT_SECONDS_MAX: u64 = 120;

/// Interval for checking whether to stop waiting.
const GIVING_UP: Duration = Duration::from_millis(5);

/// A kernel lock, held until dropped; the kernel releases it when the process ends.
#[must_use = "the lock is free again when this is dropped"]
pub(crate) struct Lock {
    _file: File,
    /// A lock on the folder as well: if somebody deletes the lock file as stale and a process makes
    /// it again, the two files would be two locks. The folder stays the same.
    _folder: Option<File>,
    /// The locked folder, if the path led to another than the known one.
    moved: Option<Folder>,
}

impl Lock {
    /// Waits for the lock of a store, in the kernel's order. Fails with [`Error::Locked`] after
    /// [`LOCK_WAIT_SECONDS_MAX`]. It locks the folder now at the path of `root`; if that is not
    /// `root`, [`Self::moved`] returns it.
    pub(crate) fn acquire(root: &Folder) -> Result<Self> {
        Self::acquire_with(root, || ())
    }

    /// Does the same. If it has to wait, it first calls `before_waiting`.
    pub(crate) fn acquire_with(root: &Folder, before_waiting: impl FnOnce()) -> Result<Self> {
        let (now, moved) = root.at_its_path().map_err(Error::io("open", root.path()))?;
        // A read-only store can still be read, and the kernel locks any open file.
        let opened = now.open_or_make(&Name::LOCK, 0o600).or_else(|refused| {
            now.open_read(&Name::LOCK).map_err(|unread| {
                let is_missing = unread.kind() == io::ErrorKind::NotFound;
                (refused, is_missing)
            })
        });
        let file = match opened {
            Ok(file) => Self::now_or_wait(file, &now.path_of(&Name::LOCK), before_waiting)?,
            // In a copy that nobody can write, the lock on the folder is enough: whoever makes the
            // lock file locks the folder too.
            Err((refused, true)) if is_for_reading_only(&refused) => {
                return Ok(Self {
                    moved,
                    ..Self::of_folder(&now)?
                });
            }
            Err((refused, _)) => return Err(now.fault("open", &Name::LOCK)(refused)),
        };
        Self::with_folder(file, now, moved)
    }

    fn with_folder(file: File, folder: Folder, moved: Option<Folder>) -> Result<Self> {
        let path = folder.path().to_owned();
        let opened = folder.into_file().map_err(Error::io("open", &path))?;
        Ok(Self {
            _file: file,
            _folder: Some(Self::now_or_wait(opened, &path, || ())?),
            moved,
        })
    }

    /// Takes the locked folder, if it is not the known one.
    pub(crate) fn moved(&mut self) -> Option<Folder> {
        self.moved.take()
    }

    /// Tells whether a process holds the lock of a store.
    pub(crate) fn is_held(root: &Folder) -> bool {
        let tried = root
            .open_read(&Name::LOCK)
            .map(|file| file.try_lock_shared());
        matches!(tried, Ok(Err(TryLockError::WouldBlock)))
    }

    fn now_or_wait(file: File, path: &Path, before_waiting: impl FnOnce()) -> Result<File> {
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => {
                before_waiting();
                Self::wait(file, path)
            }
            Err(TryLockError::Error(source)) => Err(Error::io("lock", path)(source)),
        }
    }

    /// Waits for a lock on a folder itself, with the same time limit.
    pub(crate) fn of_folder(folder: &Folder) -> Result<Self> {
        let file = folder.again().and_then(Folder::into_file);
        let file = file.map_err(Error::io("open", folder.path()))?;
        Ok(Self {
            _file: Self::wait(file, folder.path())?,
            _folder: None,
            moved: None,
        })
    }

    /// Takes the lock on a folder itself, if it is free now.
    pub(crate) fn try_acquire(folder: &Folder) -> Option<Self> {
        let file = folder.again().and_then(Folder::into_file).ok()?;
        file.try_lock().ok()?;
        Some(Self {
            _file: file,
            _folder: None,
            moved: None,
        })
    }

    /// Waits for the lock of a store in turn with others, and checks `gives_up` every few
    /// milliseconds. `None` if it gives up, or if another folder is at the path.
    pub(crate) fn acquire_unless(root: &Folder, gives_up: impl Fn() -> bool) -> Option<Self> {
        let (now, moved) = root.at_its_path().ok()?;
        let file = now
            .open_read(&Name::LOCK)
            .ok()
            .filter(|_| moved.is_none())?;
        if file.try_lock().is_ok() {
            return Self::with_folder(file, now, None).ok();
        }
        let receiver = Self::lock_on_a_thread(file).ok()?;
        loop {
            match receiver.recv_timeout(GIVING_UP) {
                Ok(locked) => return Self::with_folder(locked.ok()?, now, None).ok(),
                Err(mpsc::RecvTimeoutError::Timeout) if !gives_up() => {}
                Err(_) => return None,
            }
        }
    }

    /// Waits for the lock of a file on a separate thread, because the kernel's wait has no time
    /// limit. A lock that comes too late has no receiver, so the file is dropped and the lock with
    /// it.
    fn lock_on_a_thread(file: File) -> io::Result<mpsc::Receiver<io::Result<File>>> {
        let (sender, receiver) = mpsc::sync_channel(0);
        thread::Builder::new().spawn(move || {
            let locked = file.lock().map(|()| file);
            drop(sender.send(locked));
        })?;
        Ok(receiver)
    }

    fn wait(file: File, path: &Path) -> Result<File> {
        let waiting = Self::lock_on_a_thread(file);
        let receiver = waiting.map_err(Error::io("lock", path))?;
        match receiver.recv_timeout(Duration::from_secs(LOCK_WAIT_SECONDS_MAX)) {
            Ok(Ok(file)) => Ok(file),
            Ok(Err(source)) => Err(Error::io("lock", path)(source)),
            Err(_) => Err(Error::Locked {
                path: path.to_owned(),
                waited_seconds: LOCK_WAIT_SECONDS_MAX,
            }),
        }
    }
}

/// Tells whether an error means that nothing can be written in a folder.
fn is_for_reading_only(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied
    )
}

// Background syncing, so that files become durable while the answer goes out.

/// A file with bytes that are not yet durable.
pub(crate) struct Unsynced {
    pub(crate) file: File,
    pub(crate) path: PathBuf,
}

impl Unsynced {
    /// Makes the bytes durable. The file's length is durable already.
    pub(crate) fn sync(&self) -> Result<()> {
        sync_contents(&self.file, &self.path)
    }
}

/// The time from the beginning of one background sync to the next.
const SYNC_PAUSE: Duration = Duration::from_millis(50);

/// Makes a file durable on a background thread: at once after the first write, then every 50
/// milliseconds while writes go on. Dropping this makes the last one durable.
#[derive(Default)]
pub(crate) struct BackgroundSync {
    shared: Arc<SharedSync>,
    /// The thread, started for the first write.
    thread: Option<thread::JoinHandle<()>>,
}

#[derive(Default)]
struct SharedSync {
    state: Mutex<SyncState>,
    changed: Condvar,
}

#[derive(Default)]
struct SyncState {
    /// The file, if it was written to since its last sync began.
    waiting: Option<Unsynced>,
    is_syncing: bool,
    /// When the last sync began.
    began: Option<Instant>,
    /// True if somebody waits, or the process is about to end.
    is_urgent: bool,
    is_left: bool,
    /// The error of an earlier sync that was not reported yet.
    failed: Option<Error>,
}

impl SharedSync {
    fn lock(&self) -> MutexGuard<'_, SyncState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a change, for so long at most.
    fn wait<'a>(
        &self,
        state: MutexGuard<'a, SyncState>,
        at_most: Option<Duration>,
    ) -> MutexGuard<'a, SyncState> {
        let forever = Duration::from_secs(3600);
        let woken = self.changed.wait_timeout(state, at_most.unwrap_or(forever));
        woken.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Syncs what is written, until this is left.
    fn run(&self) {
        let mut state = self.lock();
        loop {
            let pause = state.began.filter(|_| !state.is_urgent);
            let pause = pause.map_or(Duration::ZERO, |began| {
                SYNC_PAUSE.saturating_sub(began.elapsed())
            });
            if state.waiting.is_none() {
                if state.is_left {
                    return;
                }
                state = self.wait(state, None);
            } else if !pause.is_zero() {
                state = self.wait(state, Some(pause));
            } else if let Some(file) = state.waiting.take() {
                (state.began, state.is_syncing) = (Some(Instant::now()), true);
                drop(state);
                let done = file.sync();
                state = self.lock();
                state.is_syncing = false;
                state.failed = state.failed.take().or(done.err());
                self.changed.notify_all();
            }
        }
    }
}

impl BackgroundSync {
    /// Makes a file durable that was just written to.
    pub(crate) fn start(&mut self, unsynced: Unsynced) {
        if self.thread.is_none() {
            let shared = Arc::clone(&self.shared);
            self.thread = thread::Builder::new().spawn(move || shared.run()).ok();
        }
        let mut state = self.shared.lock();
        if self.thread.is_none() {
            state.failed = state.failed.take().or(unsynced.sync().err());
            return;
        }
        let sleeps = state.waiting.replace(unsynced).is_none();
        drop(state);
        if sleeps {
            self.shared.changed.notify_all();
        }
    }

    /// Tells whether everything written is durable, as far as no sync failed.
    pub(crate) fn is_settled(&self) -> bool {
        let state = self.shared.lock();
        state.waiting.is_none() && !state.is_syncing
    }

    /// Reports a failure, if known without waiting.
    ///
    /// # Errors
    /// The errors of [`Self::wait`].
    pub(crate) fn check(&mut self) -> Result<()> {
        self.shared.lock().failed.take().map_or(Ok(()), Err)
    }

    /// Waits until everything written is durable.
    ///
    /// # Errors
    /// [`Error::Io`] if a sync failed that was not reported yet.
    pub(crate) fn wait(&mut self) -> Result<()> {
        let mut state = self.shared.lock();
        state.is_urgent = true;
        self.shared.changed.notify_all();
        while state.waiting.is_some() || state.is_syncing {
            state = self.shared.wait(state, None);
        }
        state.is_urgent = false;
        state.failed.take().map_or(Ok(()), Err)
    }
}

impl Drop for BackgroundSync {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        (state.is_urgent, state.is_left) = (true, true);
        drop(state);
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // A sync does not panic; if it did, nothing would be left to do.
            let _ = thread.join();
        }
    }
}
