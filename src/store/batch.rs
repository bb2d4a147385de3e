//! The second half of a command: its commit made durable and brought to its place. Several
//! commands that wait at once have a commit each, and one sync together.

use std::io;

use crate::answer::Answer;
use crate::catalog::file::CatalogFile;
use crate::catalog::{Catalog, Step};
use crate::command::Command;
use crate::error::{Error, Result};
use crate::event::{Context, Event};
use crate::journal::{KeyEntry, Record};
use crate::pin::Seen;
use crate::repository::object::{Object, ObjectId};

use super::Store;

/// Most commands that are made durable together: none waits long for those behind it.
const COMMANDS_MAX: usize = 64;
/// Bytes of objects from which on what waits is made durable.
const OBJECT_BYTES_MAX: usize = 1024 * 1024;

/// A commit that is made, and what follows from it.
pub(super) struct Made {
    pub(super) event: Event,
    pub(super) step: Step,
    pub(super) seen: Seen,
    pub(super) parent: ObjectId,
    pub(super) objects: Vec<Object>,
    pub(super) keys: Vec<KeyEntry>,
}

/// Commands that are carried out and not yet durable.
#[derive(Default)]
pub(super) struct Batch {
    is_open: bool,
    waiting: Vec<Made>,
    object_bytes: usize,
}

impl Batch {
    /// The newest commit in it.
    fn head(&self) -> Option<ObjectId> {
        self.waiting.last().map(|made| made.seen.moment.commit)
    }

    fn is_full(&self) -> bool {
        self.waiting.len() >= COMMANDS_MAX || self.object_bytes >= OBJECT_BYTES_MAX
    }
}

impl Store {
    /// Carries out several commands in their order. Each is a commit of its own; one sync makes
    /// them durable together, so that a command that waits with others costs less than one alone.
    /// The answers are in the same order, and what they answer is durable.
    ///
    /// # Errors
    /// Each answer has those of [`Store::execute`]. If the sync fails, no command whose answer it
    /// held back happened.
    pub fn execute_all(&mut self, calls: &[(Command, Context)]) -> Vec<Result<Answer>> {
        let mut answers = Vec::with_capacity(calls.len());
        while answers.len() < calls.len() {
            let rest = &calls[answers.len()..];
            match self.execute_some(rest) {
                Ok(some) => answers.extend(some),
                // Whatever is wrong, each caller is told of its own command.
                Err(error) => answers.push(Err(error)),
            }
        }
        answers
    }

    /// Carries out as many of these as are made durable together, and at least one. It stops
    /// behind one that could not be recorded.
    fn execute_some(&mut self, calls: &[(Command, Context)]) -> Result<Vec<Result<Answer>>> {
        let lock = self.begin_commands()?;
        self.batch.is_open = calls.len() > 1;
        let mut answers = Vec::new();
        for (command, context) in calls {
            let answer = self.execute_one(command, context);
            let failed = answer.is_err();
            answers.push(answer);
            if failed || self.batch.is_full() {
                break;
            }
        }
        self.batch.is_open = false;
        if let Err(error) = self.make_durable() {
            // One that failed by itself goes on saying why.
            for answer in answers.iter_mut().filter(|answer| answer.is_ok()) {
                *answer = Err(again(&error));
            }
        }
        drop(lock);
        Ok(answers)
    }

    /// Where history ends, or will once what waits is durable.
    pub(super) fn newest(&self) -> ObjectId {
        self.batch.head().unwrap_or_else(|| self.journal.head())
    }

    /// Makes a commit durable, now or together with others.
    pub(super) fn keep(&mut self, mut made: Made) -> Result<()> {
        let is_alone = !self.batch.is_open;
        if !is_alone {
            // The commands behind it may need these.
            self.keyring.hold(&made.keys)?;
            let sizes = made.objects.iter().map(|object| object.bytes.len());
            self.batch.object_bytes += sizes.sum::<usize>();
        }
        self.repository.hold(std::mem::take(&mut made.objects));
        self.chain = made.seen.digest;
        let followed = self.catalog.apply(&made.step);
        let commit = made.seen.moment.commit;
        self.batch.waiting.push(made);
        if let Err(why) = followed {
            self.take_back();
            return Err(Error::damaged(format!("commit {commit}"), why));
        }
        if is_alone {
            self.make_durable()
        } else {
            Ok(())
        }
    }

    /// Makes what waits durable, and brings it to its place.
    fn make_durable(&mut self) -> Result<()> {
        if self.batch.waiting.is_empty() {
            return Ok(());
        }
        let recorded = self.record_waiting();
        let mut placed = recorded.inspect_err(|_| self.take_back())?;
        let waiting = std::mem::take(&mut self.batch).waiting;
        let newest = waiting.last().expect("it is not empty").seen;
        self.pinning.finish(newest);
        // From here on the commands are durable. If bringing them to their places fails, the ref
        // still points at the commit before, and the next command or open does it again.
        for made in &waiting {
            placed = placed.and_then(|()| self.keyring.write(&made.keys));
        }
        self.keyring.let_go();
        let _ = placed.and_then(|()| self.repository.set_head(newest.moment.commit));
        for made in waiting {
            self.catalog_file
                .append(&made.step, self.keyring.names_key());
            self.follow_in_timeline(&made.event, made.parent, made.seen.moment.commit);
        }
        if self.catalog_file.wants_snapshot() {
            self.catalog_file
                .write_snapshot(&self.catalog, self.keyring.names_key());
        }
        Ok(())
    }

    /// One record of all that waits. Answers whether their objects are in their places.
    fn record_waiting(&mut self) -> Result<Result<()>> {
        self.make_room()?;
        self.pinning.begin(&self.journal)?;
        let waiting = &self.batch.waiting;
        let record = Record {
            parent: waiting[0].parent,
            head: waiting[waiting.len() - 1].seen.moment.commit,
            objects: self.repository.let_go(),
            keys: waiting.iter().flat_map(|made| made.keys.clone()).collect(),
        };
        let repository = &self.repository;
        self.journal.append(&record)?;
        let mut objects = record.objects.iter();
        Ok(objects.try_for_each(|object| repository.write(object)))
    }

    /// Forgets what was carried out and did not become durable.
    fn take_back(&mut self) {
        self.batch = Batch::default();
        drop(self.repository.let_go());
        self.keyring.let_go();
        self.trees.forget();
        self.catalog = Catalog::empty();
        self.catalog_file = CatalogFile::new(self.root.join("catalog"), self.id);
        // The next command finds where history ends, and reads the rest anew.
    }
}

/// What an error says, for another who waited for the same.
fn again(error: &Error) -> Error {
    match error {
        Error::Io {
            doing,
            path,
            source,
        } => Error::Io {
            doing,
            path: path.clone(),
            source: source
                .raw_os_error()
                .map_or_else(|| source.kind().into(), io::Error::from_raw_os_error),
        },
        other => Error::damaged("the store", other.to_string()),
    }
}
