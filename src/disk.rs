//! The file system: replacing files whole, making things durable, private modes, the kernel lock.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::id::hex;

/// How long a command waits for the other processes before it: two hundred writers that each
/// take 50 ms are done in 10 s.
pub(crate) const LOCK_WAIT_SECONDS_MAX: u64 = 120;

/// How often it is asked whether to go on waiting, where that can change.
const GIVING_UP: Duration = Duration::from_millis(5);

/// Makes a folder only its owner can enter.
pub(crate) fn make_private_folder(path: &Path) -> Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(Error::io("make", path))
}

/// As [`make_private_folder`], and the names of all folders it makes are durable.
pub(crate) fn make_private_folder_durably(path: &Path) -> Result<()> {
    let there = |path: &&Path| path.is_dir() || path.as_os_str().is_empty();
    let existing = path.ancestors().find(there);
    make_private_folder(path)?;
    let new = path
        .ancestors()
        .take_while(|folder| Some(*folder) != existing);
    for folder in new {
        let above = folder
            .parent()
            .filter(|above| !above.as_os_str().is_empty());
        sync_folder(above.unwrap_or(Path::new(".")))?;
    }
    Ok(())
}

/// Begins the name of a file that is not yet in its place. Stock git sweeps up such names in its
/// object folders.
const ASIDE: &str = "tmp_agekeep_";

/// Puts a file in place whole: a reader sees the old bytes or the new ones. Not yet durable.
pub(crate) fn replace(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    write_aside(&aside(parent(path)), path, bytes, mode, false).map_err(Error::io("write", path))
}

/// As [`replace`], by way of another folder of the same file system: one where a file that is left
/// behind by a crash means nothing.
pub(crate) fn replace_from(folder: &Path, path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    write_aside(&aside(folder), path, bytes, mode, false).map_err(Error::io("write", path))
}

/// Puts a small file in place whole by exchanging it with another, which then holds what was there.
/// Unlike a rename over a file, that makes no file system hurry to write either.
#[cfg(target_os = "linux")]
pub(crate) fn exchange(other: &Path, path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    let exchanged = (|| {
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).mode(mode).open(other)?;
        file.write_all_at(bytes, 0)?;
        file.set_len(bytes.len() as u64)?;
        renameat_with(CWD, other, CWD, path, RenameFlags::EXCHANGE)?;
        Ok::<_, io::Error>(())
    })();
    // There is nothing yet to exchange it with, or the file system does not know how to.
    exchanged.or_else(|_| {
        drop(fs::remove_file(other));
        replace_from(parent(other), path, bytes, mode)
    })
}

/// Puts a small file in place whole.
#[cfg(not(target_os = "linux"))]
pub(crate) fn exchange(other: &Path, path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    replace_from(parent(other), path, bytes, mode)
}

/// As [`replace`], and durable when it returns.
pub(crate) fn replace_durably(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    write_aside(&aside(parent(path)), path, bytes, mode, true).map_err(Error::io("write", path))?;
    sync_folder(parent(path))
}

fn write_aside(
    aside: &Path,
    path: &Path,
    bytes: &[u8],
    mode: u32,
    durable: bool,
) -> io::Result<()> {
    let written = (|| {
        let mut file = create_new(aside, mode)?;
        file.write_all(bytes)?;
        if durable { file.sync_all() } else { Ok(()) }
    })();
    written
        .and_then(|()| fs::rename(aside, path))
        .inspect_err(|_| drop(fs::remove_file(aside)))
}

/// Opens a file that must not be there yet.
pub(crate) fn create_new(path: &Path, mode: u32) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)
}

/// Opens a file that is there. What is no file, or a link to one, is refused as invalid data: somebody
/// put it there, and to open a pipe would wait for ever.
pub(crate) fn open_plain(path: &Path, write: bool) -> io::Result<File> {
    use rustix::fs::OFlags;
    let no_wait = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = OpenOptions::new()
        .read(true)
        .write(write)
        .custom_flags(no_wait.bits().cast_signed())
        .open(path);
    let invalid = |why| io::Error::new(io::ErrorKind::InvalidData, why);
    let kind = match &opened {
        Ok(file) => file.metadata()?.file_type(),
        Err(_) => fs::symlink_metadata(path)?.file_type(),
    };
    if kind.is_symlink() {
        return Err(invalid("it is a link"));
    }
    if !kind.is_file() {
        return Err(invalid("it is no regular file"));
    }
    opened
}

/// Reads such a file whole, if it has no more than so many bytes.
pub(crate) fn read_plain(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let file = open_plain(path, false)?;
    let mut bytes = Vec::new();
    file.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        let why = format!("it is longer than {bytes_max} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    Ok(bytes)
}

/// A free name in a folder, for a file that is not yet in its place.
pub(crate) fn aside(folder: &Path) -> PathBuf {
    let unique: [u8; 8] = crate::aead::random();
    folder.join(format!("{ASIDE}{}", hex(&unique)))
}

/// Removes what a process that was killed left aside in a folder. Called with the lock held, so
/// that nobody is about to use it; what cannot be removed does no harm.
pub(crate) fn remove_asides(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(ASIDE) {
            drop(fs::remove_file(entry.path()));
        }
    }
}

fn parent(path: &Path) -> &Path {
    path.parent().expect("a file inside a folder")
}

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(path: &Path) -> Result<()> {
    File::open(path)
        .and_then(|folder| folder.sync_all())
        .map_err(Error::io("sync", path))
}

/// Makes a file durable, or the names in a folder.
pub(crate) fn sync_file(file: &File) -> io::Result<()> {
    file.sync_all()
}

/// Makes everything written to the file system of `folder` so far durable.
#[cfg(target_os = "linux")]
pub(crate) fn sync_file_system(folder: &Path) -> Result<()> {
    File::open(folder)
        .and_then(|folder| Ok(rustix::fs::syncfs(folder)?))
        .map_err(Error::io("sync", folder))
}

/// Makes every file and name below `folder` durable, one by one.
#[cfg(not(target_os = "linux"))]
pub(crate) fn sync_file_system(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(Error::io("read", folder))? {
        let path = entry.map_err(Error::io("read", folder))?.path();
        if path.is_dir() {
            sync_file_system(&path)?;
        } else {
            let synced = File::open(&path).and_then(|file| file.sync_all());
            synced.map_err(Error::io("sync", &path))?;
        }
    }
    sync_folder(folder)
}

/// Makes the bytes of a file durable. Its length was so before.
pub(crate) fn make_durable(file: &File, path: &Path) -> Result<()> {
    file.sync_data().map_err(Error::io("write", path))
}

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

/// Names the running boot of the machine: what was written before another boot may be torn.
/// `None` where the system does not tell; then every start counts as another boot.
pub(crate) fn boot() -> Option<[u8; 36]> {
    let text = fs::read("/proc/sys/kernel/random/boot_id").ok()?;
    text.get(..36)?.try_into().ok()
}

/// A kernel lock, held until dropped; it dies with its process.
#[must_use = "the lock is free again when this is dropped"]
pub(crate) struct Lock {
    _file: File,
    /// The folder that the file is in. Somebody removes a file that looks left behind, and whoever
    /// makes it again would lock another one; the folder stays the same.
    _folder: Option<File>,
}

impl Lock {
    /// Waits for the lock on a file and its folder, in the order the kernel keeps, and gives up with
    /// [`Error::Locked`] after [`LOCK_WAIT_SECONDS_MAX`].
    pub(crate) fn acquire(path: &Path) -> Result<Self> {
        // A store that cannot be written can still be read, and the kernel locks any open file.
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path)
            .or_else(|refused| File::open(path).map_err(|_| refused))
            .map_err(Error::io("open", path))?;
        let file = Self::now_or_wait(file, path)?;
        Self::with_folder(file, path)
    }

    fn with_folder(file: File, path: &Path) -> Result<Self> {
        let folder = path.parent().expect("the file is in a folder");
        let opened = File::open(folder).map_err(Error::io("open", folder))?;
        Ok(Self {
            _file: file,
            _folder: Some(Self::now_or_wait(opened, folder)?),
        })
    }

    fn now_or_wait(file: File, path: &Path) -> Result<File> {
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(fs::TryLockError::WouldBlock) => Self::wait(file, path),
            Err(fs::TryLockError::Error(source)) => Err(Error::io("lock", path)(source)),
        }
    }

    /// Waits in the same way for a lock on a folder itself.
    pub(crate) fn of_folder(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(Error::io("open", path))?;
        Ok(Self {
            _file: Self::wait(file, path)?,
            _folder: None,
        })
    }

    /// The lock on a folder itself, if it is free now.
    pub(crate) fn try_acquire(path: &Path) -> Option<Self> {
        let file = File::open(path).ok()?;
        file.try_lock().ok()?;
        Some(Self {
            _file: file,
            _folder: None,
        })
    }

    /// Waits for the lock on a file and its folder in turn with the others, until `gives_up` says
    /// that it is too late. That is asked every few milliseconds.
    pub(crate) fn acquire_unless(path: &Path, gives_up: impl Fn() -> bool) -> Option<Self> {
        let file = File::open(path).ok()?;
        let (sender, receiver) = mpsc::sync_channel(0);
        thread::spawn(move || {
            let locked = file.lock().map(|()| file);
            drop(sender.send(locked));
        });
        loop {
            match receiver.recv_timeout(GIVING_UP) {
                Ok(locked) => return Self::with_folder(locked.ok()?, path).ok(),
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
