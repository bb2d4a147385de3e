//! The one thread that has the store open. It does its jobs in the order they were asked for, so
//! that calls a client sends all at once are carried out in the order they came in. Memory commands
//! that wait at the same time become durable together.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use std::{iter, thread};

use agekeep::error::{Error, Result};
use agekeep::event::{Context, Moment};
use agekeep::id::StoreId;
use agekeep::memory_tool::command::Command;
use agekeep::redact::Redactor;
use agekeep::store::Store;
use agekeep::store::answer::Answer;
use agekeep::store::revision::Revision;
use agekeep::{Text, jsonl};
#[cfg(feature = "http")]
use chrono::{DateTime, Utc};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::args::Global;
use crate::output;
use crate::verbs::history;

/// The state of the thread, for a job to use.
pub(crate) struct WorkerState {
    global: Arc<Global>,
    open: OpenStore,
    store: Option<Store>,
    /// Set if the last job failed for a reason that may end when the store is opened anew, with the
    /// keys there are then.
    is_stale: bool,
    /// Set if there was no store at the last attempt to open it.
    is_missing: bool,
    /// The store that was open, and the newest event seen of it.
    seen: Option<(StoreId, Moment)>,
    /// The last error that was printed, so that the same one is not printed at every call.
    said: Option<String>,
    listed: Option<PathListing>,
}

/// Opens the store, whenever it is not open.
pub(crate) type OpenStore = Box<dyn Fn(&Global) -> Result<Store> + Send>;

/// The answer of a recorded listing: every path.
struct PathListing {
    /// The number of events right after it.
    events: u64,
    /// The caller it answered: actor, session and client.
    to: [Option<String>; 3],
    since: Instant,
    paths: Arc<Vec<String>>,
}

/// The time for which a listing answers again; it is short because a memory that expires is no
/// event.
const LISTED_FOR: Duration = Duration::from_secs(1);

/// A job for the thread.
enum Job {
    /// Anything but a memory command.
    Act(Box<dyn FnOnce(&mut WorkerState) + Send>),
    Command(Box<PendingCommand>),
}

/// A memory command whose caller waits for the answer.
struct PendingCommand {
    command: Command,
    context: Context,
    /// Cancelled when the client takes the command back.
    cancelled: CancellationToken,
    answer: oneshot::Sender<Done>,
}

/// The answer to a memory command, or the reason, in words for a model, why it was not recorded.
pub(crate) type Done = std::result::Result<Answer, String>;

/// A handle to the thread. All clones ask the same thread, which ends when the last one is gone.
#[derive(Clone)]
pub(crate) struct StoreWorker {
    jobs: mpsc::Sender<Job>,
    waiting: Arc<watch::Sender<usize>>,
}

/// A guard that counts one waiting caller, or one message on its way, while it lives.
pub(crate) struct PendingGuard(Arc<watch::Sender<usize>>);

impl PendingGuard {
    pub(crate) fn new(waiting: &Arc<watch::Sender<usize>>) -> Self {
        waiting.send_modify(|count| *count += 1);
        Self(waiting.clone())
    }
}

impl Drop for PendingGuard {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

impl StoreWorker {
    /// Starts the thread. The store is opened by the first job that needs it.
    ///
    /// # Errors
    /// [`Error::Io`] if the machine cannot start a thread.
    pub(crate) fn start(global: Arc<Global>, open: OpenStore) -> Result<Self> {
        let (jobs, queue) = mpsc::channel::<Job>();
        let run = move || {
            let mut state = WorkerState {
                global,
                open,
                store: None,
                is_stale: false,
                is_missing: false,
                seen: None,
                said: None,
                listed: None,
            };
            let mut next = None;
            while let Some(job) = next.take().or_else(|| queue.recv().ok()) {
                // A call that panics leaves only its own client without an answer.
                let done = catch_unwind(AssertUnwindSafe(|| match job {
                    Job::Act(act) => act(&mut state),
                    Job::Command(first) => state.execute(*first, || match queue.try_recv() {
                        Ok(Job::Command(asked)) => Some(*asked),
                        Ok(other) => {
                            next = Some(other);
                            None
                        }
                        Err(_) => None,
                    }),
                }));
                if done.is_err() {
                    state.store = None;
                }
            }
        };
        let thread = thread::Builder::new().name("worker".into()).spawn(run);
        thread.map_err(Error::io("start a thread of", Path::new("agekeep")))?;
        Ok(Self {
            jobs,
            waiting: Arc::new(watch::Sender::new(0)),
        })
    }

    /// Watches the number of callers that wait for an answer.
    pub(crate) fn waiting(&self) -> watch::Receiver<usize> {
        self.waiting.subscribe()
    }

    /// Runs a job after everything that was asked before; `None` if it panics. The job is queued
    /// when the returned future is first polled.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        act: impl FnOnce(&mut WorkerState) -> T + Send + 'static,
    ) -> Option<T> {
        let (answer, answered) = oneshot::channel();
        let act = Box::new(move |state: &mut WorkerState| {
            // The caller may have gone away; what it asked for is done all the same.
            let _ = answer.send(act(state));
        });
        self.wait(Job::Act(act), answered).await
    }

    /// Does the same for a memory command, unless it is taken back before its turn.
    pub(crate) async fn execute(
        &self,
        command: Command,
        context: Context,
        cancelled: CancellationToken,
    ) -> Option<Done> {
        let (answer, answered) = oneshot::channel();
        let asked = PendingCommand {
            command,
            context,
            cancelled,
            answer,
        };
        self.wait(Job::Command(Box::new(asked)), answered).await
    }

    async fn wait<T>(&self, job: Job, answered: oneshot::Receiver<T>) -> Option<T> {
        let _waiting = PendingGuard::new(&self.waiting);
        self.jobs.send(job).ok()?;
        answered.await.ok()
    }
}

impl WorkerState {
    /// Returns the store, and opens it if it is not open yet. A failure is also printed for the
    /// operator of the server, with the paths that a model does not see.
    pub(crate) fn store(&mut self) -> Result<&mut Store> {
        if self.store.is_none() {
            let opened = (self.open)(&self.global);
            self.is_missing = matches!(opened, Err(Error::NoStore { .. }));
            let opened = opened.and_then(|store| self.same(store));
            let store = opened.inspect_err(|error| self.report_error(error))?;
            return Ok(self.store.insert(store));
        }
        Ok(self.store.as_mut().expect("it is open"))
    }

    /// Accepts a store that was opened anew if it is the one that was open before and goes on from
    /// there. What this process has seen counts, even if no record of it is kept.
    fn same(&self, mut store: Store) -> Result<Store> {
        let Some((id, seen)) = self.seen else {
            return Ok(store);
        };
        if store.last_seen().0 != id {
            return Err(Error::Damaged {
                what: "the store".into(),
                why: "another one is in the place of the one that was open".into(),
                hint: None,
            });
        }
        match store.moment(&Revision::event(seen.event)) {
            Ok(found) if found.commit == seen.commit => Ok(store),
            Ok(_) | Err(Error::NoRevision { .. }) => Err(Error::RolledBack {
                event: seen.event,
                seen: seen.commit.to_string(),
                found: store.last_seen().1.commit.to_string(),
            }),
            Err(error) => Err(error),
        }
    }

    /// Tells whether a poll of the store is cheap and asks for no key: it is open, or there was
    /// none at the last attempt to open it.
    pub(crate) fn is_cheap_to_poll(&self) -> bool {
        self.store.is_some() || self.is_missing
    }

    /// Tells whether there is a store, and makes none.
    pub(crate) fn has_store(&mut self) -> bool {
        if self.store.is_none() {
            let found = self.global.existing_store();
            self.is_missing = matches!(found, Err(Error::NoStore { .. }));
        }
        !self.is_missing
    }

    /// Does something with the store. After a failure of the store itself, or of a key to it, the
    /// next call opens it anew, which repairs what an unclean stop of another process left behind.
    pub(crate) fn with<T>(&mut self, act: impl FnOnce(&mut Store) -> Result<T>) -> Result<T> {
        self.reopened_store()?;
        let done = self.poll(act);
        if done.is_ok() {
            self.is_well();
        }
        done
    }

    /// Returns the store, opened anew after such a failure.
    fn reopened_store(&mut self) -> Result<&mut Store> {
        if self.is_stale {
            self.store = None;
        }
        self.store()
    }

    fn is_well(&mut self) {
        self.said = None;
        self.is_stale = false;
    }

    /// Does something with the store that no client asked for: its success does not mean that the
    /// trouble is over.
    pub(crate) fn poll<T>(&mut self, act: impl FnOnce(&mut Store) -> Result<T>) -> Result<T> {
        let done = act(self.store()?);
        match &done {
            Ok(_) => self.see(),
            Err(error) => self.see_failed(error),
        }
        done
    }

    /// Does the same for a monitoring system, which asks again and again: where a store was open
    /// and is gone, no new one is made.
    #[cfg(feature = "http")]
    pub(crate) fn probe<T>(&mut self, act: impl FnOnce(&mut Store) -> Result<T>) -> Result<T> {
        if self.store.is_none() && self.seen.is_some() {
            self.global.existing_store()?;
        }
        self.poll(act)
    }

    fn see(&mut self) {
        self.seen = self.store.as_ref().map(Store::last_seen).or(self.seen);
    }

    fn see_failed(&mut self, error: &Error) {
        if is_of_the_store(error) {
            self.report_error(error);
            self.store = None;
            self.is_stale = true;
        }
    }

    /// Carries out a memory command, and those that queue up behind it before it becomes durable.
    fn execute(&mut self, first: PendingCommand, mut more: impl FnMut() -> Option<PendingCommand>) {
        let (mut first, waiting) = (Some(first), RefCell::new(VecDeque::new()));
        let calls = iter::from_fn(|| {
            let mut asked = first.take().or_else(&mut more)?;
            while asked.cancelled.is_cancelled() {
                // Nobody waits for the answer.
                let _ = asked.answer.send(Err("the call was taken back".into()));
                asked = more()?;
            }
            waiting.borrow_mut().push_back(asked.answer);
            Some((asked.command, asked.context))
        });
        let (mut failed, mut is_done) = (Vec::new(), false);
        match self.reopened_store() {
            Ok(store) => store.execute_all(calls, |answer| {
                let to = waiting.borrow_mut().pop_front();
                let to = to.expect("each command has a caller");
                match answer {
                    Ok(answer) => {
                        is_done = true;
                        // The caller may have gone away.
                        let _ = to.send(Ok(answer));
                    }
                    Err(error) => failed.push((to, error)),
                }
            }),
            // The commands behind it are answered when their turn comes.
            Err(error) => failed.extend(first.take().map(|asked| (asked.answer, error))),
        }
        if is_done {
            self.see();
        }
        if failed.is_empty() {
            self.is_well();
        }
        for (to, error) in failed {
            self.see_failed(&error);
            let _ = to.send(Err(self.redacted(jsonl::explain(&error))));
        }
    }

    fn report_error(&mut self, error: &Error) {
        let text = error.to_string();
        if self.said.as_ref() != Some(&text) {
            output::error(error, self.global.json);
            self.said = Some(text);
        }
    }

    /// Masks the secrets in a text that may repeat what a caller wrote.
    pub(crate) fn redacted(&self, text: String) -> String {
        let policy = self
            .store
            .as_ref()
            .map(|store| store.policy().redaction.clone());
        let redactor = Redactor::of_policy(&policy.unwrap_or_default());
        match redactor.map(|redactor| redactor.redact("", &Text::from(text.as_str()))) {
            Ok(Ok(masked)) if masked.findings().is_empty() => text,
            Ok(Ok(masked)) => masked.text().as_str().to_owned(),
            _ => "what was asked for cannot be shown".into(),
        }
    }

    /// Returns the time by the clock that the store goes by.
    #[cfg(feature = "http")]
    pub(crate) fn now(&self) -> DateTime<Utc> {
        (self.global.clock())()
    }

    /// Parses a revision as people write it.
    pub(crate) fn revision(&self, text: &str) -> Result<Revision> {
        history::revision(&self.global, text)
    }

    /// Returns every path. A recorded listing answers the same caller again for a moment, as long
    /// as nothing has happened since, so that all completions while a person types are one listing.
    /// All pages of a list are one listing too.
    pub(crate) fn paths(
        &mut self,
        context: &Context,
        goes_on: bool,
        list: impl FnOnce(&mut Store) -> Result<(u64, Vec<String>)>,
    ) -> Result<Arc<Vec<String>>> {
        let to = [&context.actor, &context.session, &context.client].map(Clone::clone);
        let now = self.poll(Store::count_events)?;
        if let Some(listed) = &self.listed
            && listed.events == now
            && listed.to == to
            && (goes_on || listed.since.elapsed() < LISTED_FOR)
        {
            return Ok(listed.paths.clone());
        }
        let (events, paths) = self.with(list)?;
        let paths = Arc::new(paths);
        self.listed = Some(PathListing {
            events,
            to,
            since: Instant::now(),
            paths: paths.clone(),
        });
        Ok(paths)
    }
}

/// Tells whether an error means that the store as a whole is not as this process knows it.
fn is_of_the_store(error: &Error) -> bool {
    matches!(
        error,
        Error::NoStore { .. }
            | Error::Io { .. }
            | Error::Damaged { .. }
            | Error::HeadMoved { .. }
            | Error::NoKeyring { .. }
            | Error::NotARecipient { .. }
            | Error::UnknownFormat { .. }
            | Error::NotASigner { .. }
            | Error::NoSigningKey
            | Error::Signing(_)
    )
}

/// Makes the runtime of a server: one thread that waits.
///
/// # Errors
/// [`Error::Io`] if the machine has nothing left for it.
pub(crate) fn runtime() -> Result<Runtime> {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Error::io("start", Path::new("the server")))
}
