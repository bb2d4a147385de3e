//! An open store. Every command goes through it and is recorded before it is answered.

pub mod answer;
mod audit_kit;
mod batch;
mod commit;
mod config;
mod erase;
pub mod export;
mod follow;
pub mod history;
mod hold;
mod init;
mod journal_checkpoint;
mod keyring_location;
pub mod log;
mod members;
pub(crate) mod pin;
mod plan;
mod preview;
mod quota;
mod receipt;
mod recovery;
mod rekey;
pub(crate) mod replica;
pub mod retention;
pub mod revision;
mod rollback_check;
pub mod scan;
pub mod signed_checkpoint;
mod signers;
mod status;
pub(crate) mod survey;
mod sweep;
mod timeline;
pub mod undo;
mod versions;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};

use self::answer::Answer;
use self::batch::Batch;
use self::commit::{commit, time_of};
use self::config::{StoreConfig, require_reader};
use self::erase::unreadable::finish_pending_erasures;
use self::journal_checkpoint::Packing;
use self::keyring_location::check_keyring;
use self::plan::{ComputedAhead, plan};
use self::quota::plan_too_many;
use self::recovery::replay::check_catalog;
use self::recovery::{catch_up, refresh_for_commands};
use self::replica::check_in_touch;
use self::rollback_check::pin_head;
use self::signers::check_role;
use self::versions::Trees;
use crate::Text;
use crate::crypto::digest::Digest;
use crate::disk::{Folder, Lock, Name};
use crate::error::{Error, Result};
use crate::event::{Context, Event};
use crate::id::{ObjectId, StoreId};
use crate::journal::{self, Journal};
use crate::keyring::Keyring;
use crate::memory_tool::command::Command;
use crate::policy::{Limits, Policy};
use crate::redact::Redactor;
use crate::repository::Repository;
use crate::state::catalog::Catalog;
use crate::state::catalog::file::CatalogFile;
use crate::state::timeline::Timeline;
use crate::state::timeline::file::TimelineFile;

pub use self::batch::Queue;
pub use self::config::PolicyChange;
pub(crate) use self::config::parse_recorded_policy;
pub use self::export::Export;
pub use self::journal_checkpoint::{Compacted, StorageStats};
pub(crate) use self::journal_checkpoint::{checkpoint, clean_up_after_reboot};
pub(crate) use self::keyring_location::{
    changes_keys, keyring_at, keyring_place, store_at, was_in_force,
};
pub use self::log::ChangeSet;
pub use self::members::ExportedKeys;
pub use self::preview::{Preview, TextComparison};
pub(crate) use self::recovery::{
    PendingRecovery, clear_staged, commits_between, config_blobs_at, fast_forward, keep_catalog,
    place_staged, placed_head, restore_objects,
};
pub use self::rekey::{ProgressFn, Rekeyed};
pub use self::rollback_check::LostMoment;
pub(crate) use self::rollback_check::{RollbackCheck, founding_key};
pub use self::signers::{Removed, Signer};
pub use self::status::{CopyOf, Distance, FirstUse, Status, Totals};
pub use crate::crypto::seal::{Identity, Recipient};
pub use crate::crypto::sign::{SignerRole, SigningKey, Validity, VerifyingKey};
pub use crate::keyring::backup::Audience;

/// How long this process puts objects in place at once after another process came: what one defers,
/// the other has to read from the journal and to put in place.
const TURNS_WITH_OTHERS: Duration = Duration::from_secs(10);

/// The name of the owner in `recipients`, `signers` and every commit.
const OWNER: &str = "owner";

/// The source of the time. Event times come from the store's clock, never from a caller.
pub type Clock = Box<dyn Fn() -> DateTime<Utc> + Send>;

/// The keys and folders that a caller passes to open a store.
pub struct Keys {
    /// The identity that opens the keyring.
    pub identity: Identity,
    /// The key that signs commits. Without one the store can be read, and every command is refused.
    pub signing_key: Option<SigningKey>,
    /// A folder outside the store for the pin: which store was seen at which place, and its newest
    /// moment. It reveals another store, or an older copy, in that place. Without it only what this
    /// process has seen counts.
    pub state: Option<PathBuf>,
    /// The keyring's folder. Without it, the folder that the policy names, or else the one in the
    /// store.
    pub keyring: Option<PathBuf>,
}

/// A store, open for reading and writing: its state, and the ledger that writes.
///
/// It only holds the two together. A verb is a function in its module that takes the parts it
/// needs; the methods here and in the modules below pass them on.
pub struct Store {
    state: State,
    ledger: Ledger,
}

/// The state of a store as of its newest commit: all that planning a command reads.
struct State {
    id: StoreId,
    config: StoreConfig,
    catalog: Catalog,
    /// The timeline of all events, loaded when history is first needed.
    timeline: Option<Timeline>,
    /// The event opened last, as one undo can have written hundreds of versions.
    opened: RefCell<Option<(u64, Arc<Event>)>>,
    /// The redactor, built by the first command that needs it.
    redactor: OnceLock<Redactor>,
    clock: Clock,
    /// The time when the command being executed began. A command has a single time, or a memory
    /// could expire while the command that reads it is planned.
    began: Option<DateTime<Utc>>,
}

/// The files of a store, the commits that wait for the journal, and the key that signs them.
struct Ledger {
    signing_key: Option<SigningKey>,
    root: Folder,
    repository: Repository,
    journal: Journal,
    keyring: Keyring,
    /// The keyring's folder, if the caller named one.
    keyring_said: Option<PathBuf>,
    catalog_file: CatalogFile,
    timeline_file: TimelineFile,
    trees: Trees,
    batch: Batch,
    rollback_check: RollbackCheck,
    /// True while commands of agents are executed whose objects may be put in place later.
    defers: bool,
    /// True once a command was executed: the first of a process is put in place at once, as most
    /// processes have a single one.
    has_commanded: bool,
    /// When another process was last seen to write, or to put in place what this one had deferred.
    others_came: Option<Instant>,
    /// The thread that packs the journal.
    packing: Packing,
    /// SHA-256 of the newest commit object, for the `Chain` of the next commit.
    chain: Digest,
    /// The event in which opening the store finished erasures that others began, and how many
    /// memories it was.
    finished: Option<(u64, usize)>,
}

impl Store {
    /// Opens the store at `root`. After an unclean stop it first puts everything that was
    /// acknowledged in its place.
    ///
    /// # Errors
    /// [`Error::NoStore`] if there is none, [`Error::NotARecipient`] if the identity does not open
    /// it, [`Error::Damaged`] if anything written since the last open fails its checks,
    /// [`Error::RolledBack`] if history lacks a moment that was seen before,
    /// [`Error::AnotherStore`] if another store was seen at this place,
    /// [`RemoteFault::Closed`](crate::error::RemoteFault::Closed) if this copy is out of touch.
    pub fn open(root: &Path, keys: Keys, clock: Clock) -> Result<Self> {
        let store = Self::open_to_sync(root, keys, clock)?;
        check_in_touch(&store, (store.state.clock)())?;
        Ok(store)
    }

    /// Opens the store for what also a copy that is out of touch may do: see [`Self::open`].
    pub(crate) fn open_to_sync(root: &Path, keys: Keys, clock: Clock) -> Result<Self> {
        let check = |rollback_check: &mut RollbackCheck, repository: &Repository, head| {
            rollback_check.check(repository, head)?;
            rollback_check.prepare_first_use(repository, head)
        };
        let (mut store, lock, ()) = Self::open_checked(root, keys, clock, check)?;
        check_keyring(&store)?;
        // If this fails, those keys are still not used.
        store.ledger.finished = finish_pending_erasures(&mut store).ok().flatten();
        pin_head(&mut store);
        drop(lock);
        Ok(store)
    }

    /// Returns the event in which opening the store destroyed keys of memories that others had
    /// marked for erasure, and the number of those memories; `None` if there were none.
    #[must_use]
    pub fn finished_erasures(&self) -> Option<(u64, usize)> {
        self.ledger.finished
    }

    /// Tells whether a process holds the lock on the store at `root` now.
    #[must_use]
    pub fn is_locked(root: &Path) -> bool {
        Folder::at(root).is_ok_and(|root| Lock::is_held(&root))
    }

    /// Opens the store and keeps its lock. `check` compares the end of history with what was seen
    /// before, and its result is returned too. This does not yet check that the keyring is the one
    /// history names.
    fn open_checked<T>(
        root: &Path,
        keys: Keys,
        clock: Clock,
        check: impl FnOnce(&mut RollbackCheck, &Repository, ObjectId) -> Result<T>,
    ) -> Result<(Self, Lock, T)> {
        let root = &keyring_location::store_at(root)?;
        let repository = Repository::open(root, journal::find).map_err(|error| match error {
            Error::NoStore { .. } if root.has(&Name::KEYRING) => {
                Error::damaged("the repository", "HEAD, objects or refs is missing")
            }
            error => error,
        })?;
        let is_store = || recovery::is_store(&repository);
        if !root.has(&Name::JOURNAL) && !root.has(&Name::KEYRING) && !is_store() {
            let path = root.path().into();
            return Err(Error::NoStore { path });
        }
        let lock = Lock::acquire(root)?;
        root.remove_temporary_files();
        repository.remove_temporary_packs();
        let mut journal = recovery::open_journal(root, &repository)?;
        let is_from_another_boot = journal.is_from_another_boot();
        let unclean = restore_objects(&repository, &journal, !is_from_another_boot)?;
        let decided = recovery::config_blobs_at(&repository, journal.head())?;
        let config = StoreConfig::read(&repository, decided)?;
        let id = config.id;
        let mut rollback_check = RollbackCheck::new(keys.state.as_deref(), root.path(), id)?;
        let found = check(&mut rollback_check, &repository, journal.head())?;
        let keyring_said = keys.keyring;
        let folder = keyring_location::keyring_at(root, keyring_said.as_deref(), &config.policy)?;
        if let Some(unclean) = &unclean {
            unclean.place_keyring(&folder)?;
        }
        let members = &config.members;
        let mut keyring = Keyring::open_of(&folder, id, &keys.identity, members)?;
        if let Some(unclean) = unclean {
            unclean.finish(&repository, &mut keyring)?;
            if is_from_another_boot {
                repository.clean_up_loose(journal.head())?;
                checkpoint(&repository, &keyring, &mut journal)?;
            }
        }
        clean_up_after_reboot(&repository, &mut journal)?;
        let cache = keyring.cache_name(Name::CATALOG, Name::AUDITORS_CATALOG);
        let times = keyring.cache_name(Name::TIMELINE, Name::AUDITORS_TIMELINE);
        let rebuild = recovery::rebuild_state(root, id, &keys.identity, keyring_said.as_deref());
        let state = State {
            id,
            config,
            catalog: Catalog::empty(),
            timeline: None,
            opened: RefCell::new(None),
            redactor: OnceLock::new(),
            clock,
            began: None,
        };
        let ledger = Ledger {
            signing_key: keys.signing_key,
            catalog_file: CatalogFile::new(root, cache, id).with_rebuild(rebuild),
            timeline_file: TimelineFile::new(root, times, id),
            root: root.clone(),
            repository,
            journal,
            keyring,
            keyring_said,
            trees: Trees::default(),
            batch: Batch::default(),
            rollback_check,
            defers: false,
            has_commanded: false,
            others_came: None,
            packing: Packing::default(),
            chain: Digest::of(b""),
            finished: None,
        };
        let mut store = Self { state, ledger };
        catch_up(&mut store)?;
        if store.state.catalog.decided != Some(decided) {
            return Err(Error::damaged(
                format!("commit {}", store.ledger.journal.head()),
                "it changes agekeep.toml, recipients or signers without saying so",
            ));
        }
        Ok((store, lock, found))
    }

    /// Executes a command and records it. When this returns an answer, the command is durable.
    ///
    /// A command that the memory tool refuses gets an [`Answer`] with a refusal and is recorded
    /// like any other, and so is a command whose memory does not open.
    ///
    /// # Errors
    /// If the command cannot be recorded: [`Error::Io`], [`Error::Locked`], [`Error::NotASigner`],
    /// or damage found in history. Then it did not happen.
    pub fn execute(&mut self, command: &Command, context: &Context) -> Result<Answer> {
        let (lock, ahead) = begin_commands(self, command, context)?;
        let answer = execute_one(self, command, context, ahead.as_ref());
        self.ledger.defers = false;
        // The catalog was checked before the command was recorded.
        drop(check_catalog(self));
        drop(lock);
        answer
    }

    /// Returns the policy in force.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.state.config.policy
    }

    /// Returns the limits in force.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.state.config.policy.limits
    }

    /// Returns the fingerprint of a value under this store's key: 16 hexadecimal digits, for
    /// `allow` in the policy's `[redaction]` table.
    ///
    /// # Errors
    /// [`Error::Policy`] if the policy in force cannot be followed.
    ///
    /// # Panics
    /// Never: a store's redactor has its key.
    pub fn fingerprint(&self, value: &str) -> Result<String> {
        let fingerprint = redactor(self)?.fingerprint(value);
        Ok(fingerprint.expect("a store's redactor has its key"))
    }

    /// Returns the keyring's folder.
    #[must_use]
    pub fn keyring_folder(&self) -> &Path {
        self.ledger.keyring.folder().path()
    }

    /// Executes commands in order until `calls` has no more. Each gets its own commit, and those
    /// already waiting share one sync, so that each costs less than a command alone.
    ///
    /// `answered` gets the answers in the same order, each as soon as its command is durable. The
    /// store is locked meanwhile, so `answered` must not wait for anybody. Stock git sees the
    /// commands about a second after their answers at the latest, or once the store is dropped.
    ///
    /// # Errors
    /// Each answer has the errors of [`Store::execute`]. If the sync fails, no command whose answer
    /// was waiting for it happened.
    pub fn execute_all(
        &mut self,
        calls: impl IntoIterator<Item = (Command, Context)>,
        answered: impl FnMut(Result<Answer>),
    ) {
        batch::execute_all(self, calls, answered);
    }

    /// Checks that a store can be created at `root`: nothing is there, or an empty folder.
    ///
    /// # Errors
    /// [`Error::StoreExists`] or [`Error::NotEmpty`] if `root` is taken.
    pub fn check_vacant(root: &Path) -> Result<()> {
        init::check_vacant(root)
    }

    /// Creates a store at `root` that `keys` can read and write, and opens it.
    ///
    /// # Errors
    /// [`Error::StoreExists`] or [`Error::NotEmpty`] if `root` is taken; for the policy, as for
    /// [`Store::set_policy`].
    pub fn init(
        root: &Path,
        keys: Keys,
        policy: &Policy,
        context: &Context,
        clock: Clock,
    ) -> Result<Self> {
        init::init(root, keys, policy, false, context, clock)
    }

    /// Creates a store for trials: as [`Store::init`] does, and the first event says for good that
    /// the times in its history may be made up.
    ///
    /// # Errors
    /// The errors of [`Store::init`].
    pub fn init_trial(
        root: &Path,
        keys: Keys,
        policy: &Policy,
        context: &Context,
        clock: Clock,
    ) -> Result<Self> {
        init::init(root, keys, policy, true, context, clock)
    }

    /// Tells whether the store was created for trials, so that the times in its history may be made
    /// up. The signed first event says so.
    #[must_use]
    pub fn is_trial(&self) -> bool {
        self.state.catalog.is_trial
    }

    /// Dry-runs a command that writes. Nothing changes, and nothing is recorded.
    ///
    /// # Errors
    /// [`Error::NotAReader`] for an auditor, [`Error::Invalid`] for a command that shows kept text,
    /// and any error that keeps the store from being read.
    pub fn preview(&mut self, command: &Command, context: &Context) -> Result<Preview> {
        preview::preview(self, command, context)
    }

    /// Compares a text, as redaction would leave it, with the one kept at a path. This is no access
    /// and is not recorded.
    ///
    /// # Errors
    /// [`Error::NotAReader`] for an auditor, and any error that keeps the store from being read.
    pub fn compare_with_stored(&mut self, path: &str, text: &Text) -> Result<TextComparison> {
        preview::compare_with_stored(self, path, text)
    }

    /// Strips secrets from a line, by the policy in force, so that it may be shown.
    ///
    /// # Errors
    /// [`Error::Policy`] if the policy in force cannot be followed.
    pub fn without_secrets(&self, line: &str) -> Result<String> {
        Ok(redactor(self)?.line(line).0)
    }
}

/// Takes the lock. If another folder is at the store's path now, the store continues in that one
/// and keeps what it has seen.
fn lock(ledger: &mut Ledger) -> Result<Lock> {
    let lock = Lock::acquire(&ledger.root)?;
    Ok(follow_root(ledger, lock))
}

fn follow_root(ledger: &mut Ledger, mut lock: Lock) -> Lock {
    if let Some(root) = lock.moved() {
        ledger.repository = Repository::open_lenient(&root, journal::find);
        ledger.journal.reopen_in(&root);
        ledger.catalog_file.reopen_in(&root);
        ledger.timeline_file.reopen_in(&root);
        ledger.root = root;
    }
    lock
}

/// Takes the lock and loads what other processes have done. While others hold the lock, the first
/// command is planned in the state as it is known.
fn begin_commands(
    store: &mut Store,
    command: &Command,
    context: &Context,
) -> Result<(Lock, Option<ComputedAhead>)> {
    let mut ahead = None;
    let root = store.ledger.root.clone();
    let lock = Lock::acquire_with(&root, || {
        ahead = Some(ComputedAhead::of_plan(store, command, context));
    })?;
    let lock = follow_root(&mut store.ledger, lock);
    // An agent's commands do not need the timeline in memory.
    store.state.timeline = None;
    refresh_for_commands(store)?;
    require_reader(&store.ledger)?;
    let ledger = &mut store.ledger;
    let is_alone = ledger
        .others_came
        .is_none_or(|then| then.elapsed() > TURNS_WITH_OTHERS);
    ledger.defers = std::mem::replace(&mut ledger.has_commanded, true) && is_alone;
    Ok((lock, ahead))
}

fn execute_one(
    store: &mut Store,
    command: &Command,
    context: &Context,
    ahead: Option<&ComputedAhead>,
) -> Result<Answer> {
    at_one_time(store, |store| {
        check_role(store, command.name())?;
        let plan = match plan_too_many(store, context)? {
            Some(refused) => refused,
            None => plan(store, command, context, ahead)?,
        };
        commit(store, plan, command.name(), context)
    })
}

/// Runs `act` at a single time: the clock stands still for it.
fn at_one_time<T>(store: &mut Store, act: impl FnOnce(&mut Store) -> Result<T>) -> Result<T> {
    store.state.began = Some(time_of(&store.state.clock)?);
    let done = act(store);
    store.state.began = None;
    done
}

/// Returns the time of the running command, or the clock's if none runs.
fn now(state: &State) -> DateTime<Utc> {
    state.began.unwrap_or_else(|| (state.clock)())
}

/// Returns the redactor for the policy in force.
fn redactor(store: &Store) -> Result<&Redactor> {
    if let Some(ready) = store.state.redactor.get() {
        return Ok(ready);
    }
    let key = store.ledger.keyring.fingerprints();
    let ready = Redactor::new(&store.state.config.policy.redaction, Some(key))?;
    Ok(store.state.redactor.get_or_init(|| ready))
}
