//! The file system: the one way to touch a file, making things durable, private modes, the lock.
//!
//! Whoever can write to a store's folder can put a link, a pipe or a file without end in the place
//! of any file in it. So a file is opened below a [`Folder`] that is open itself, by a [`Name`] of
//! the format's own grammar: no link is followed, nothing waits, and what is no file, or longer than
//! the format allows, is refused before a byte of it is read. Nothing is removed by a path.
//!
//! No other module of the library opens, makes, lists or removes a file: `tests/architecture.rs`
//! looks for it.

mod folder;
mod name;
mod outside;
#[cfg(test)]
mod tests;

pub(crate) use std::fs::File;
use std::fs::TryLockError;
pub(crate) use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;
use std::{io, thread};

pub(crate) use self::folder::{Folder, Found, Look};
pub(crate) use self::name::{KEY_ENTRIES_MAX, Name, NextId, PACK_OBJECTS_MAX, PackId};
pub(crate) use self::outside::{
    absolute, make_folder, make_private_folder, make_private_folder_durably, make_secret,
    open_chosen, open_plain, read_plain, remove_plain, replace, replace_chosen_durably,
    replace_durably, user,
};
pub(crate) use crate::error::refused::{Kind, Refused};
use crate::error::{Error, Result};

/// Makes the bytes of a file durable. Its length was so before.
pub(crate) fn make_durable(file: &File, path: &Path) -> Result<()> {
    file.sync_data().map_err(Error::io("write", path))
}

/// Makes a file durable with its length.
pub(crate) fn sync_file(file: &File) -> std::io::Result<()> {
    file.sync_all()
}

/// How many bytes an open file has now.
pub(crate) fn length(file: &File) -> std::io::Result<u64> {
    Ok(file.metadata()?.len())
}

/// The number of an open file, unlike that of any other there is.
pub(crate) fn inode(file: &File) -> std::io::Result<u64> {
    use std::os::unix::fs::MetadataExt;
    Ok(file.metadata()?.ino())
}

/// Names the running boot of the machine: what was written before another boot may be torn.
/// `None` where the system does not tell; then every start counts as another boot.
pub(crate) fn boot() -> Option<[u8; 36]> {
    let text = std::fs::read("/proc/sys/kernel/random/boot_id").ok()?;
    text.get(..36)?.try_into().ok()
}

// The kernel's lock on a store, and on the folder of its packs.

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

// Files that are made durable on a thread of their own, while the answer goes out.

/// A file with bytes that are not yet durable.
pub(crate) struct Unsynced {
    pub(crate) file: File,
    pub(crate) path: PathBuf,
}

impl Unsynced {
    /// Makes the bytes durable. The file's length was so before.
    pub(crate) fn sync(&self) -> Result<()> {
        make_durable(&self.file, &self.path)
    }
}

/// Makes files durable one after the other on a thread of its own, which ends with this.
#[derive(Default)]
pub(crate) struct Behind {
    /// Begins with the first file.
    worker: Option<Worker>,
    /// Whether a file was handed over whose end nobody waited for.
    begun: bool,
    /// Of a file for which there was no thread.
    failed: Option<Error>,
}

struct Worker {
    /// Gone when the thread is to end.
    files: Option<mpsc::Sender<Unsynced>>,
    done: mpsc::Receiver<Result<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Behind {
    /// Begins to make a file durable, once the one before is.
    pub(crate) fn start(&mut self, unsynced: Unsynced) {
        self.failed = self.wait().err();
        if self.worker.is_none() {
            self.worker = Worker::start().ok();
        }
        let files = self
            .worker
            .as_ref()
            .and_then(|worker| worker.files.as_ref());
        let handed = match files {
            Some(files) => files.send(unsynced).map_err(|refused| refused.0),
            None => Err(unsynced),
        };
        match handed {
            Ok(()) => self.begun = true,
            Err(unsynced) => self.failed = self.failed.take().or(unsynced.sync().err()),
        }
    }

    /// Whether what was begun failed, so far as that is known without waiting.
    ///
    /// # Errors
    /// Those of [`Self::wait`].
    pub(crate) fn check(&mut self) -> Result<()> {
        let worker = self.worker.as_ref().filter(|_| self.begun);
        if let Some(ended) = worker.and_then(|worker| worker.done.try_recv().ok()) {
            self.begun = false;
            self.failed = self.failed.take().or(ended.err());
        }
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Waits until what was begun is durable.
    ///
    /// # Errors
    /// [`Error::Io`] if it, or one before it that nobody waited for, did not become so.
    pub(crate) fn wait(&mut self) -> Result<()> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        match &self.worker {
            Some(worker) if std::mem::take(&mut self.begun) => {
                worker.done.recv().expect("it answers for each file")
            }
            _ => Ok(()),
        }
    }
}

impl Worker {
    fn start() -> io::Result<Self> {
        let (files, received) = mpsc::channel::<Unsynced>();
        let (answer, done) = mpsc::channel();
        let thread = thread::Builder::new().spawn(move || {
            for unsynced in received {
                // Where nobody waits any more, nobody asks.
                let _ = answer.send(unsynced.sync());
            }
        })?;
        Ok(Self {
            files: Some(files),
            done,
            thread: Some(thread),
        })
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.files.take());
        if let Some(thread) = self.thread.take() {
            // A sync does not panic; if it did, there would be nothing left to do.
            let _ = thread.join();
        }
    }
}
