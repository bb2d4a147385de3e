//! The kernel's lock on a store, and on the folder of its packs.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::folder::Folder;
use super::name::Name;
use crate::error::{Error, Result};

/// How long a command waits for the other processes before it: two hundred writers that each
/// take 50 ms are done in 10 s.
pub(crate) const LOCK_WAIT_SECONDS_MAX: u64 = 120;

/// How often it is asked whether to go on waiting, where that can change.
const GIVING_UP: Duration = Duration::from_millis(5);

/// A kernel lock, held until dropped; it dies with its process.
#[must_use = "the lock is free again when this is dropped"]
pub(crate) struct Lock {
    _file: File,
    /// The folder that the file is in. Somebody removes a file that looks left behind, and whoever
    /// makes it again would lock another one; the folder stays the same.
    _folder: Option<File>,
    /// The folder, where another is at its path than the one that was known.
    moved: Option<Folder>,
}

impl Lock {
    /// Waits for the lock of a store, in the order the kernel keeps, and gives up with
    /// [`Error::Locked`] after [`LOCK_WAIT_SECONDS_MAX`]. It is of the folder that is at the path of
    /// `root` now; where that is another than `root`, [`Self::moved`] has it.
    pub(crate) fn acquire(root: &Folder) -> Result<Self> {
        let (now, moved) = root.at_its_path().map_err(Error::io("open", root.path()))?;
        // A store that cannot be written can still be read, and the kernel locks any open file.
        let file = now
            .open_or_make(&Name::LOCK, 0o600)
            .or_else(|refused| now.open_read(&Name::LOCK).map_err(|_| refused))
            .map_err(now.fault("open", &Name::LOCK))?;
        let file = Self::now_or_wait(file, &now.path_of(&Name::LOCK))?;
        Self::with_folder(file, now, moved)
    }

    fn with_folder(file: File, folder: Folder, moved: Option<Folder>) -> Result<Self> {
        let path = folder.path().to_owned();
        let opened = folder.into_file().map_err(Error::io("open", &path))?;
        Ok(Self {
            _file: file,
            _folder: Some(Self::now_or_wait(opened, &path)?),
            moved,
        })
    }

    /// The folder that is locked, where it is another than the one that was known.
    pub(crate) fn moved(&mut self) -> Option<Folder> {
        self.moved.take()
    }

    /// Whether somebody has the lock of a store.
    pub(crate) fn is_held(root: &Folder) -> bool {
        let tried = root
            .open_read(&Name::LOCK)
            .map(|file| file.try_lock_shared());
        matches!(tried, Ok(Err(TryLockError::WouldBlock)))
    }

    fn now_or_wait(file: File, path: &Path) -> Result<File> {
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Self::wait(file, path),
            Err(TryLockError::Error(source)) => Err(Error::io("lock", path)(source)),
        }
    }

    /// Waits in the same way for a lock on a folder itself.
    pub(crate) fn of_folder(folder: &Folder) -> Result<Self> {
        let file = folder.again().and_then(Folder::into_file);
        let file = file.map_err(Error::io("open", folder.path()))?;
        Ok(Self {
            _file: Self::wait(file, folder.path())?,
            _folder: None,
            moved: None,
        })
    }

    /// The lock on a folder itself, if it is free now.
    pub(crate) fn try_acquire(folder: &Folder) -> Option<Self> {
        let file = folder.again().and_then(Folder::into_file).ok()?;
        file.try_lock().ok()?;
        Some(Self {
            _file: file,
            _folder: None,
            moved: None,
        })
    }

    /// Waits for the lock of a store in turn with the others, until `gives_up` says that it is too
    /// late. That is asked every few milliseconds. `None` too where another folder is in its place.
    pub(crate) fn acquire_unless(root: &Folder, gives_up: impl Fn() -> bool) -> Option<Self> {
        let (now, moved) = root.at_its_path().ok()?;
        let file = now
            .open_read(&Name::LOCK)
            .ok()
            .filter(|_| moved.is_none())?;
        let (sender, receiver) = mpsc::sync_channel(0);
        thread::spawn(move || {
            let locked = file.lock().map(|()| file);
            drop(sender.send(locked));
        });
        loop {
            match receiver.recv_timeout(GIVING_UP) {
                Ok(locked) => return Self::with_folder(locked.ok()?, now, None).ok(),
                Err(mpsc::RecvTimeoutError::Timeout) if !gives_up() => {}
                Err(_) => return None,
            }
        }
    }

    /// The wait itself happens on a thread of its own, because the kernel's has no time limit. If
    /// it comes too late, nobody receives the file: it is dropped, and the lock with it.
    fn wait(file: File, path: &Path) -> Result<File> {
        let (sender, receiver) = mpsc::sync_channel(0);
        thread::spawn(move || {
            let locked = file.lock().map(|()| file);
            drop(sender.send(locked));
        });
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
