//! One open store for several callers at once.

use std::collections::VecDeque;
use std::iter;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::{Error, Result};
use crate::event::Context;
use crate::memory_tool::command::Command;
use crate::store::answer::Answer;

use super::Store;

/// A store that the threads of a process share. Commands are carried out in the order they came in,
/// each as a commit of its own. One of the callers carries out what all of them wait for: those
/// that came before its sync become durable together.
pub struct Queue {
    store: Mutex<Store>,
    line: Mutex<Line>,
}

/// Those who wait.
#[derive(Default)]
struct Line {
    /// Whether one of the callers carries out commands, or is about to.
    is_led: bool,
    waiting: VecDeque<Waiting>,
}

struct Waiting {
    command: Command,
    context: Context,
    turn: Sender<Turn>,
}

/// What a caller waits for.
enum Turn {
    Answered(Box<Result<Answer>>),
    /// It is its turn to carry out what waits, its own command first.
    Leads,
}

impl Queue {
    /// Shares a store.
    #[must_use]
    pub fn new(store: Store) -> Self {
        Self {
            store: Mutex::new(store),
            line: Mutex::default(),
        }
    }

    /// Carries out a command after those that came before it. When this returns an answer, the
    /// command is durable.
    ///
    /// # Errors
    /// Those of [`Store::execute_all`].
    pub fn execute(&self, command: Command, context: Context) -> Result<Answer> {
        let (turn, mine) = channel();
        let mut leads = {
            let mut line = locked(&self.line);
            line.waiting.push_back(Waiting {
                command,
                context,
                turn,
            });
            !std::mem::replace(&mut line.is_led, true)
        };
        loop {
            if leads {
                self.lead();
            }
            match mine.recv() {
                Ok(Turn::Answered(answer)) => return *answer,
                Ok(Turn::Leads) => leads = true,
                Err(_) => {
                    let why = "the thread that carried this command out with others panicked";
                    return Err(Error::damaged("the store", why));
                }
            }
        }
    }

    /// Carries out what waits, and what comes before it is durable.
    fn lead(&self) {
        let lead = Lead(self);
        let mut store = locked(&self.store);
        let mut turns = Vec::new();
        let calls = iter::from_fn(|| {
            let next = locked(&self.line).waiting.pop_front()?;
            turns.push(next.turn);
            Some((next.command, next.context))
        });
        let answers = store.execute_all(calls);
        drop(store);
        // Before the answers: who is answered may come again, and then waits behind the others.
        drop(lead);
        for (turn, answer) in turns.into_iter().zip(answers) {
            // One whose thread is gone was carried out all the same.
            let _ = turn.send(Turn::Answered(Box::new(answer)));
        }
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

/// That this caller carries out what waits. Also if it panics, the first of those who wait then is
/// the next.
struct Lead<'a>(&'a Queue);

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        let mut line = locked(&self.0.line);
        let next = line.waiting.front();
        let is_led = next.is_some_and(|next| next.turn.send(Turn::Leads).is_ok());
        line.is_led = is_led;
    }
}

/// A thread that panicked left nothing half done that the next command does not see to.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
