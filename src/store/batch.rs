//! The second half of a command: its commit becomes durable in the journal, its caller gets the
//! answer, and then its keys are put in place, and its objects now or later. Commands that wait at
//! the same time have a commit each and share one sync. Also [`Queue`], a store shared by threads.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{io, iter, thread};

use crate::Text;
use crate::background::cores;
use crate::error::{Error, Result};
use crate::event::{Context, Event, PublicFile};
use crate::id::ObjectId;
use crate::journal::{JournalRecord, KeyEntry};
use crate::memory_tool::command::Command;
use crate::repository::DeferredCommit;
use crate::repository::object::{Object, ObjectKind};
use crate::state::catalog::file::CatalogUpdate;
use crate::state::catalog::{Catalog, Step};
use crate::store::answer::Answer;
use crate::store::journal_checkpoint::checkpoint_if_due;
use crate::store::pin::SeenMoment;
use crate::store::plan::{ComputedAhead, given_text, path_of_given};
use crate::store::recovery::replay::{check_catalog, renew_catalog_file};
use crate::store::timeline::follow_in_timeline;
use crate::store::{Ledger, Store, begin_commands, execute_one, redactor};

/// The most commands that share one sync, so that none waits long for those behind it.
const COMMANDS_MAX: usize = 64;
/// The bytes of waiting objects at which a sync is due. More than that is put in place at once.
const OBJECT_BYTES_MAX: usize = 1024 * 1024;
/// The bytes of texts from which on other threads help to redact them: some ten times what
/// starting a thread costs.
const SHARED_BYTES_MIN: usize = 8 * 1024;
/// The most threads that help.
const REDACTING_THREADS_MAX: usize = 3;

/// A signed commit that waits for the journal, with the state change it makes.
pub(super) struct PendingCommit {
    pub(super) event: Event,
    /// The name of the commit's signer.
    pub(super) signer: String,
    pub(super) step: Step,
    /// The public file that it changes, and its new blob.
    pub(super) decides: Option<(PublicFile, ObjectId)>,
    /// The step for the catalog file, once the catalog has applied it.
    pub(super) of_catalog: Option<CatalogUpdate>,
    pub(super) seen: SeenMoment,
    pub(super) parent: ObjectId,
    pub(super) objects: Vec<Object>,
    pub(super) keys: Vec<KeyEntry>,
}

/// Executed commands whose commits are not durable yet.
#[derive(Default)]
pub(super) struct Batch {
    is_open: bool,
    waiting: Vec<PendingCommit>,
    object_bytes: usize,
}

impl Batch {
    /// Returns the newest commit in the batch.
    fn head(&self) -> Option<ObjectId> {
        self.waiting.last().map(|made| made.seen.moment.commit)
    }

    fn is_full(&self) -> bool {
        self.waiting.len() >= COMMANDS_MAX || self.object_bytes >= OBJECT_BYTES_MAX
    }
}

/// A command and what its caller says of it.
type CommandCall = (Command, Context);

/// See [`Store::execute_all`].
pub(super) fn execute_all(
    store: &mut Store,
    calls: impl IntoIterator<Item = CommandCall>,
    mut answered: impl FnMut(Result<Answer>),
) {
    let mut calls = calls.into_iter();
    let mut waiting = VecDeque::new();
    // Once no call is left the answers go out, even if another has come since.
    loop {
        if waiting.is_empty() {
            waiting.extend(calls.next());
        }
        if waiting.is_empty() || !execute_together(store, &mut waiting, &mut calls, &mut answered) {
            break;
        }
    }
}

/// Executes the waiting calls, and as many of those that arrive meanwhile as share their sync.
/// Stops after a command that could not be recorded. Returns false once no call is left.
fn execute_together(
    store: &mut Store,
    waiting: &mut VecDeque<CommandCall>,
    calls: &mut impl Iterator<Item = CommandCall>,
    answered: &mut impl FnMut(Result<Answer>),
) -> bool {
    let Some((command, context)) = waiting.front() else {
        return false;
    };
    let (lock, mut ahead) = match begin_commands(store, command, context) {
        Ok(begun) => begun,
        Err(error) => {
            waiting.pop_front();
            if let Error::Locked { .. } = error {
                // Callers that came meanwhile have waited for the lock too.
                let behind = waiting.drain(..).chain(calls);
                behind.for_each(|_| answered(Err(duplicate_error(&error))));
            }
            answered(Err(error));
            return true;
        }
    };
    let mut answers = Vec::new();
    store.ledger.batch.is_open = true;
    let is_left = loop {
        let room = COMMANDS_MAX - store.ledger.batch.waiting.len();
        let mut bytes: usize = waiting.iter().map(|call| text_bytes(&call.0)).sum();
        while waiting.len() < room && bytes < OBJECT_BYTES_MAX {
            let Some(call) = calls.next() else { break };
            bytes += text_bytes(&call.0);
            waiting.push_back(call);
        }
        if waiting.is_empty() {
            break false;
        }
        if !execute_waiting(store, waiting, ahead.take(), &mut answers) {
            break true;
        }
    };
    store.ledger.batch.is_open = false;
    let recorded = record_batch(store).unwrap_or_else(|error| {
        if let [answer] = &mut answers[..] {
            *answer = Err(error);
        } else {
            // A command that failed by itself keeps its own error.
            let held_back = answers.iter_mut().filter(|answer| answer.is_ok());
            held_back.for_each(|answer| *answer = Err(duplicate_error(&error)));
        }
        RecordedBatch::default()
    });
    // The commands are durable, and no caller waits until they are in place.
    answers.into_iter().for_each(answered);
    // What fails here, the next command goes on with. None of these destroys keys.
    drop(place_batch(store, recorded));
    store.ledger.defers = false;
    // The catalog was checked before each command was recorded.
    drop(check_catalog(store));
    drop(lock);
    is_left
}

/// Executes the calls that wait, in order, while other threads redact the texts of those behind.
/// `of_first` was computed for the first call. Returns false if no more may join them; then calls
/// may be left.
fn execute_waiting(
    store: &mut Store,
    waiting: &mut VecDeque<CommandCall>,
    of_first: Option<ComputedAhead>,
    answers: &mut Vec<Result<Answer>>,
) -> bool {
    let behind = waiting.iter().skip(1).map(|call| text_bytes(&call.0));
    let threads = match behind.sum() {
        0..SHARED_BYTES_MIN => 0,
        _ => (cores() - 1)
            .min(REDACTING_THREADS_MAX)
            .min(waiting.len() - 1),
    };
    let mut ahead: Vec<ComputedAhead> = of_first.into_iter().collect();
    let (mut shared_redactor, mut paths) = (None, Vec::new());
    if threads > 0 {
        // Without a redactor, each command gets the error.
        shared_redactor = redactor(store).ok().cloned();
        paths.extend(
            waiting
                .iter()
                .map(|call| path_of_given(&store.state, &call.0)),
        );
        ahead.resize_with(waiting.len(), ComputedAhead::default);
    }
    let mut done = 0;
    let next = AtomicUsize::new(1);
    let calls = &*waiting.make_contiguous();
    let redact = || -> Option<()> {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let (command, _) = calls.get(at)?;
            if let Some(path) = &paths[at] {
                ahead[at].redact_given(shared_redactor.as_ref()?, path, command);
            }
        }
    };
    let goes_on = thread::scope(|scope| {
        for _ in 0..threads {
            // Where no thread can be had, the commands redact their texts themselves.
            drop(thread::Builder::new().spawn_scoped(scope, redact));
        }
        calls.iter().enumerate().all(|(at, (command, context))| {
            let answer = execute_one(store, command, context, ahead.get(at));
            let goes_on = answer.is_ok() && !store.ledger.batch.is_full();
            answers.push(answer);
            done += 1;
            if !goes_on {
                next.store(calls.len(), Ordering::Relaxed);
            }
            goes_on
        })
    });
    waiting.drain(..done);
    goes_on
}

/// Returns the length of the text that a command gives.
fn text_bytes(command: &Command) -> usize {
    given_text(command).map_or(0, Text::len)
}

/// Returns the newest commit, including those that are not durable yet.
pub(super) fn pending_head(ledger: &Ledger) -> ObjectId {
    ledger.batch.head().unwrap_or_else(|| ledger.journal.head())
}

/// Makes a commit durable: now, or together with others if a batch is open.
pub(super) fn enqueue(store: &mut Store, mut made: PendingCommit) -> Result<()> {
    let (ledger, catalog) = (&mut store.ledger, &mut store.state.catalog);
    let is_alone = !ledger.batch.is_open;
    if !is_alone {
        // Later commands in the batch may need these.
        ledger.keyring.stage(&made.keys)?;
        let sizes = made.objects.iter().map(|object| object.bytes.len());
        ledger.batch.object_bytes += sizes.sum::<usize>();
    }
    ledger.repository.stage(std::mem::take(&mut made.objects));
    ledger.chain = made.seen.digest;
    let followed = catalog.apply(&made.step);
    if let (Some(decided), Some((file, blob))) = (&mut catalog.decided, made.decides) {
        decided.put(file, blob);
    }
    made.of_catalog = CatalogUpdate::by_last(catalog);
    let commit = made.seen.moment.commit;
    ledger.batch.waiting.push(made);
    if let Err(why) = followed {
        discard_batch(store);
        return Err(Error::damaged(format!("commit {commit}"), why));
    }
    if is_alone {
        let recorded = record_batch(store)?;
        place_batch(store, recorded)
    } else {
        Ok(())
    }
}

/// Commits that are durable in the journal, with their objects, which are in no place of their own
/// yet.
#[derive(Default)]
struct RecordedBatch {
    made: Vec<PendingCommit>,
    objects: Vec<Object>,
}

/// Makes the waiting commits durable.
fn record_batch(store: &mut Store) -> Result<RecordedBatch> {
    if store.ledger.batch.waiting.is_empty() {
        return Ok(RecordedBatch::default());
    }
    let recorded = record_waiting(store);
    let objects = recorded.inspect_err(|_| discard_batch(store))?;
    let made = std::mem::take(&mut store.ledger.batch).waiting;
    let last = made.last().expect("it is not empty").seen;
    store.ledger.rollback_check.after_commit(last);
    Ok(RecordedBatch { made, objects })
}

/// Puts keys, objects and the ref of durable commits in place, or leaves objects and ref for later.
/// If that fails, the ref still points at an earlier commit, and the next command or open does it
/// again. But nobody may be told that keys are destroyed while they are still there: that is an
/// error.
fn place_batch(store: &mut Store, recorded: RecordedBatch) -> Result<()> {
    let RecordedBatch { made, objects } = recorded;
    if made.is_empty() {
        return Ok(());
    }
    let placed = apply_batch(&mut store.ledger, &made, objects);
    let mut keys = made.iter().flat_map(|made| &made.keys);
    let placed = match placed {
        Err(error) if keys.any(KeyEntry::is_of_all) => Err(unfinished(&store.ledger, &error)),
        _ => Ok(()),
    };
    store.ledger.keyring.unstage();
    for made in made {
        let (file, key) = (
            &mut store.ledger.catalog_file,
            store.ledger.keyring.cache_key(),
        );
        file.add(made.of_catalog.as_ref(), key);
        let commit = made.seen.moment.commit;
        follow_in_timeline(store, &made.event, &made.signer, made.parent, commit);
    }
    renew_catalog_file(store);
    placed
}

/// Returns the error for a change of keys that is recorded, but whose files are not in place yet.
fn unfinished(ledger: &Ledger, error: &Error) -> Error {
    Error::Io {
        doing: "finish a change of keys that is recorded, and that the next command goes on with, in",
        path: ledger.keyring.folder().path().to_owned(),
        source: io::Error::other(error.to_string()),
    }
}

/// Puts commands in place one after the other, or their keys now and the rest later.
fn apply_batch(ledger: &mut Ledger, waiting: &[PendingCommit], objects: Vec<Object>) -> Result<()> {
    let bytes: usize = objects.iter().map(|object| object.bytes.len()).sum();
    let defers = ledger.defers && bytes <= OBJECT_BYTES_MAX;
    if !defers {
        ledger.repository.place_deferred()?;
    }
    let mut objects = objects.into_iter();
    let mut commits = Vec::with_capacity(waiting.len());
    for made in waiting {
        ledger.keyring.write(&made.keys)?;
        let mut commit = DeferredCommit {
            parent: made.parent,
            id: made.seen.moment.commit,
            objects: Vec::new(),
        };
        // The commit is the last object of each command.
        for object in objects.by_ref() {
            let is_last = object.kind == ObjectKind::Commit;
            commit.objects.push(object);
            if is_last {
                break;
            }
        }
        if defers {
            commits.push(commit);
        } else {
            ledger.repository.place(&commit)?;
        }
    }
    if defers {
        ledger.repository.defer(commits)?;
    }
    Ok(())
}

/// Appends one journal record for all waiting commits, and returns their objects.
fn record_waiting(store: &mut Store) -> Result<Vec<Object>> {
    checkpoint_if_due(store)?;
    let ledger = &mut store.ledger;
    ledger.rollback_check.before_commit(&ledger.journal)?;
    let waiting = &ledger.batch.waiting;
    let record = JournalRecord {
        parent: waiting[0].parent,
        head: waiting[waiting.len() - 1].seen.moment.commit,
        objects: ledger.repository.unstage(),
        keys: waiting.iter().flat_map(|made| made.keys.clone()).collect(),
    };
    if ledger.journal.is_absent() {
        ledger.repository.sync()?;
        ledger.journal.start_anew()?;
    }
    ledger.journal.append(&record)?;
    Ok(record.objects)
}

/// Drops the waiting commands, which did not become durable, and all state built on them.
fn discard_batch(store: &mut Store) {
    store.ledger.batch = Batch::default();
    drop(store.ledger.repository.unstage());
    store.ledger.keyring.unstage();
    store.ledger.trees.forget();
    store.state.catalog = Catalog::empty();
    store.ledger.catalog_file.forget();
    // The next command finds the end of history and loads the rest anew.
}

/// Copies an error, for another caller that waited for the same sync or lock.
fn duplicate_error(error: &Error) -> Error {
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
        Error::Locked {
            path,
            waited_seconds,
        } => Error::Locked {
            path: path.clone(),
            waited_seconds: *waited_seconds,
        },
        other => Error::damaged("the store", other.to_string()),
    }
}

// An open store shared by several callers at once.

/// A store shared by the threads of a process. Commands are executed in the order in which they
/// arrive, each with its own commit. One of the callers executes the commands of all; those that
/// arrive before its sync become durable together.
pub struct Queue {
    store: Mutex<Store>,
    line: Mutex<WaitQueue>,
}

/// The commands that wait, in order.
#[derive(Default)]
struct WaitQueue {
    /// True while a caller executes commands, or is about to.
    is_led: bool,
    waiting: VecDeque<QueuedCommand>,
}

struct QueuedCommand {
    command: Command,
    context: Context,
    turn: Sender<QueueSignal>,
}

/// A message to a waiting caller.
enum QueueSignal {
    Answered(Box<Result<Answer>>),
    /// The caller leads now: it executes the waiting commands, its own first.
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

    /// Executes a command after those that came before it. When this returns an answer, the command
    /// is durable.
    ///
    /// # Errors
    /// As for [`Store::execute_all`].
    pub fn execute(&self, command: Command, context: Context) -> Result<Answer> {
        let (turn, mine) = channel();
        let mut leads = {
            let mut line = locked(&self.line);
            line.waiting.push_back(QueuedCommand {
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
                Ok(QueueSignal::Answered(answer)) => return *answer,
                Ok(QueueSignal::Leads) => leads = true,
                Err(_) => {
                    let why = "the thread that carried this command out with others panicked";
                    return Err(Error::damaged("the store", why));
                }
            }
        }
    }

    /// Executes the waiting commands, and those that arrive before they are durable.
    fn lead(&self) {
        let lead = LeaderGuard(self);
        let mut store = locked(&self.store);
        let turns = RefCell::new(VecDeque::new());
        let calls = iter::from_fn(|| {
            let next = locked(&self.line).waiting.pop_front()?;
            turns.borrow_mut().push_back(next.turn);
            Some((next.command, next.context))
        });
        // A caller that has its answer may come again at once: it leads those who come later.
        store.execute_all(calls.take(COMMANDS_MAX), |answer| {
            let turn = turns.borrow_mut().pop_front().expect("one for each call");
            // If the caller's thread is gone, its command was executed all the same.
            let _ = turn.send(QueueSignal::Answered(Box::new(answer)));
        });
        drop(store);
        drop(lead);
    }

    /// Returns the store, for calls that are not commands.
    pub fn store(&self) -> MutexGuard<'_, Store> {
        locked(&self.store)
    }

    /// Returns the store, no longer shared.
    #[must_use]
    pub fn into_store(self) -> Store {
        let store = self.store.into_inner();
        store.unwrap_or_else(PoisonError::into_inner)
    }
}

/// The leadership of one caller. Dropping it, also in a panic, passes the lead to the first caller
/// that waits.
struct LeaderGuard<'a>(&'a Queue);

impl Drop for LeaderGuard<'_> {
    fn drop(&mut self) {
        let mut line = locked(&self.0.line);
        let next = line.waiting.front();
        let is_led = next.is_some_and(|next| next.turn.send(QueueSignal::Leads).is_ok());
        line.is_led = is_led;
    }
}

/// Locks a mutex, even a poisoned one: whatever a panicked thread left half done, the next command
/// repairs.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
