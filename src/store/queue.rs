//! One open store for several callers at once.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::answer::Answer;
use crate::command::Command;
use crate::error::{Error, Result};
use crate::event::Context;

use super::Store;

/// A store that the threads of a process share. Commands are carried out in the order they came in,
/// each as a commit of its own; those that wait while others are carried out become durable
/// together, with one sync.
pub struct Queue {
    store: Mutex<Store>,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    calls: Vec<(Command, Context)>,
    answers: Vec<Sender<Result<Answer>>>,
}

impl Queue {
    /// Shares a store.
    #[must_use]
    pub fn new(store: Store) -> Self {
        Self {
            store: Mutex::new(store),
            waiting: Mutex::default(),
        }
    }

    /// Carries out a command after those that came before it. When this returns an answer, the
    /// command is durable.
    ///
    /// # Errors
    /// Those of [`Store::execute_all`].
    pub fn execute(&self, command: Command, context: Context) -> Result<Answer> {
        let (sender, answer) = channel();
        {
            let mut waiting = locked(&self.waiting);
            waiting.calls.push((command, context));
            waiting.answers.push(sender);
        }
        // Whoever has the store next carries out everything that waits by then, or finds that its
        // own command was.
        let mut store = locked(&self.store);
        if let Ok(answer) = answer.try_recv() {
            return answer;
        }
        let Waiting { calls, answers } = std::mem::take(&mut *locked(&self.waiting));
        for (to, done) in answers.into_iter().zip(store.execute_all(&calls)) {
            // One whose thread is gone was carried out all the same.
            let _ = to.send(done);
        }
        drop(store);
        answer.recv().unwrap_or_else(|_| {
            let why = "the thread that carried this command out with others panicked";
            Err(Error::damaged("the store", why))
        })
    }

    /// The store, for what is no command.
    pub fn store(&self) -> MutexGuard<'_, Store> {
        locked(&self.store)
    }

    /// The store alone again.
    #[must_use]
    pub fn into_store(self) -> Store {
        let store = self.store.into_inner();
        store.unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread that panicked left nothing half done that the next command does not see to.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
