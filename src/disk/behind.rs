//! Files that are made durable on a thread of their own, while the answer goes out.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;

use super::make_durable;
use crate::error::{Error, Result};

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
