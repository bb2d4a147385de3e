//! An open store: every command goes in here, and every command is recorded before it is answered.

pub mod answer;
mod batch;
mod checkpoint;
mod commit;
mod decide;
mod erase;
pub mod export;
mod foresee;
mod history;
mod hold;
mod init;
pub mod log;
mod members;
pub mod note;
pub mod past;
pub(crate) mod pin;
mod pinning;
mod place;
mod plan;
mod quota;
mod receipt;
mod reseal;
pub mod retention;
pub mod revision;
pub mod scan;
mod signers;
mod status;
mod sweep;
pub mod undo;
mod versions;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use chrono::{DateTime, Utc};

use self::batch::Batch;
use self::decide::Decisions;
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
use crate::store::answer::Answer;
use crate::store::commit::commit;
use crate::store::decide::as_reader;
use crate::store::erase::closed::complete_erasures;
use crate::store::history::replay::settle_catalog;
use crate::store::history::{catch_up, refresh};
use crate::store::pinning::note_head;
use crate::store::place::check_keyring;
use crate::store::plan::plan;
use crate::store::quota::plan_too_many;
use crate::store::signers::check_role;
use crate::store::versions::Trees;

use self::checkpoint::Packing;
use self::commit::time_of;

pub(crate) use self::checkpoint::{after_another_boot, checkpoint};
pub use self::decide::PolicyChange;
pub use self::foresee::{Compared, Foreseen};
pub(crate) use self::history::{Unclean, restore_objects};
pub use self::pinning::Lost;
pub(crate) use self::pinning::Pinning;
pub(crate) use self::place::{keyring_at, store_at};
pub use self::reseal::{Progress, Rekeyed};
pub use self::signers::{Removed, Signer};
pub use self::status::Status;
pub use crate::crypto::seal::{Identity, Recipient};
pub use crate::crypto::sign::{SignerRole, SigningKey, Validity, VerifyingKey};
pub use crate::store::batch::Queue;
pub use crate::store::checkpoint::Compacted;
pub use crate::store::checkpoint::Kept;
pub use crate::store::export::Export;
pub use crate::store::log::News;
pub use crate::store::members::Exported;
pub(crate) use crate::store::place::was_in_force;
pub use crate::store::status::CopyOf;
pub use crate::store::status::Distance;
pub use crate::store::status::FirstUse;

/// The name of the owner in `recipients`, `signers` and every commit.
const OWNER: &str = "owner";

/// What tells the time. The store's clock decides, never a caller's.
pub type Clock = Box<dyn Fn() -> DateTime<Utc> + Send>;

/// What a caller brings to open a store.
pub struct Keys {
    /// Opens the keyring.
    pub identity: Identity,
    /// Signs commits; without one a store can be looked at, and every command is refused.
    pub signing_key: Option<SigningKey>,
    /// A folder outside the store in which it is kept which store was seen where, and its newest
    /// moment, so that another store or an older copy in its place is noticed. Without one only what
    /// this process has seen counts.
    pub state: Option<PathBuf>,
    /// The keyring's folder; without one it is where the policy says, or in the store.
    pub keyring: Option<PathBuf>,
}

/// A store, open for reading and writing: what is so, what is written, and who acts.
///
/// It only brings these parts together. A verb is a function in its module that takes the parts it
/// needs; the methods here and in the modules below hand them over.
pub struct Store {
    state: State,
    ledger: Ledger,
}

/// The state of a store as of its newest commit: all that planning a command reads.
struct State {
    id: StoreId,
    decisions: Decisions,
    catalog: Catalog,
    /// When everything happened; read when history is first asked for.
    timeline: Option<Timeline>,
    /// The event that was opened last: one undo can have written hundreds of versions.
    opened: RefCell<Option<(u64, Arc<Event>)>>,
    /// Made ready by the first command that needs it.
    redactor: OnceLock<Redactor>,
    clock: Clock,
    /// The clock's time when the command began that is being carried out: one command has one time,
    /// or a memory could expire while the command that reads it is planned.
    began: Option<DateTime<Utc>>,
}

/// Everything a store has on disk, the commits that wait to be written, and the key that signs them.
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
    pinning: Pinning,
    /// Makes packs of the journal on a thread of its own.
    packing: Packing,
    /// SHA-256 of the newest commit object, which the next one names.
    chain: Digest,
}

impl Store {
    /// Opens the store at `root`. After an unclean stop this brings everything that was
    /// acknowledged to its place first.
    ///
    /// # Errors
    /// [`Error::NoStore`] where there is none, [`Error::NotARecipient`] if the identity does not
    /// open it, [`Error::Damaged`] if what was written since the last time does not check out,
    /// [`Error::RolledBack`] if history does not contain what was seen of it,
    /// [`Error::AnotherStore`] if another store was seen at this place.
    pub fn open(root: &Path, keys: Keys, clock: Clock) -> Result<Self> {
        let check = |pinning: &mut Pinning, repository: &Repository, head| {
            pinning.check(repository, head)?;
            pinning.meet(repository, head)
        };
        let (mut store, lock, ()) = Self::open_checked(root, keys, clock, check)?;
        check_keyring(&store)?;
        // If it cannot be done now, the keys are not used all the same.
        drop(complete_erasures(&mut store));
        note_head(&mut store);
        drop(lock);
        Ok(store)
    }

    /// Whether somebody has the store at `root` to themselves at this moment.
    #[must_use]
    pub fn is_locked(root: &Path) -> bool {
        Folder::at(root).is_ok_and(|root| Lock::is_held(&root))
    }

    /// Opens the store, and keeps its lock. `check` compares where its history ends with what was
    /// seen of it; what it finds is answered too. Whether its keyring is the one that history names is
    /// not checked yet.
    fn open_checked<T>(
        root: &Path,
        keys: Keys,
        clock: Clock,
        check: impl FnOnce(&mut Pinning, &Repository, ObjectId) -> Result<T>,
    ) -> Result<(Self, Lock, T)> {
        let root = &place::store_at(root)?;
        let repository = Repository::open(root, journal::find).map_err(|error| match error {
            Error::NoStore { .. } if root.has(&Name::KEYRING) => {
                Error::damaged("the repository", "HEAD, objects or refs is missing")
            }
            error => error,
        })?;
        let is_store = || history::is_store(&repository);
        if !root.has(&Name::JOURNAL) && !root.has(&Name::KEYRING) && !is_store() {
            let path = root.path().into();
            return Err(Error::NoStore { path });
        }
        let lock = Lock::acquire(root)?;
        root.remove_asides();
        repository.remove_pack_asides();
        let mut journal = history::open_journal(root, &repository)?;
        let is_from_another_boot = journal.is_from_another_boot();
        let unclean = restore_objects(&repository, &journal, !is_from_another_boot)?;
        let decided = history::decided_at(&repository, journal.head())?;
        let decisions = Decisions::read(&repository, decided)?;
        let id = decisions.id;
        let mut pinning = Pinning::new(keys.state.as_deref(), root.path(), id)?;
        let found = check(&mut pinning, &repository, journal.head())?;
        let keyring_said = keys.keyring;
        let folder = place::keyring_at(root, keyring_said.as_deref(), &decisions.policy)?;
        if let Some(unclean) = &unclean {
            unclean.place_keyring(&folder)?;
        }
        let members = &decisions.members;
        let mut keyring = Keyring::open_of(&folder, id, &keys.identity, members)?;
        if let Some(unclean) = unclean {
            unclean.finish(&repository, &mut keyring)?;
            if is_from_another_boot {
                repository.remove_left_over(journal.head())?;
            }
            checkpoint(&repository, &keyring, &mut journal)?;
        }
        after_another_boot(&repository, &mut journal)?;
        let cache = keyring.cache_name(Name::CATALOG, Name::AUDITORS_CATALOG);
        let times = keyring.cache_name(Name::TIMELINE, Name::AUDITORS_TIMELINE);
        let refold = history::refold(root, id, &keys.identity, keyring_said.as_deref());
        let state = State {
            id,
            decisions,
            catalog: Catalog::empty(),
            timeline: None,
            opened: RefCell::new(None),
            redactor: OnceLock::new(),
            clock,
            began: None,
        };
        let ledger = Ledger {
            signing_key: keys.signing_key,
            catalog_file: CatalogFile::new(root, cache, id).refolded_by(refold),
            timeline_file: TimelineFile::new(root, times, id),
            root: root.clone(),
            repository,
            journal,
            keyring,
            keyring_said,
            trees: Trees::default(),
            batch: Batch::default(),
            pinning,
            packing: Packing::default(),
            chain: Digest::of(b""),
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

    /// Carries out a command and records it. When this returns an answer, the command is durable.
    ///
    /// A command that the memory tool refuses is an [`Answer`] with a refusal, recorded like any
    /// other; so is one whose memory does not open.
    ///
    /// # Errors
    /// When the command could not be recorded: [`Error::Io`], [`Error::Locked`],
    /// [`Error::NotASigner`], or damage found in history. Then it did not happen.
    pub fn execute(&mut self, command: &Command, context: &Context) -> Result<Answer> {
        let lock = begin_commands(self)?;
        let answer = execute_one(self, command, context);
        // What it went by was checked before it was recorded.
        drop(settle_catalog(self));
        drop(lock);
        answer
    }

    /// The policy in force.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.state.decisions.policy
    }

    /// The limits in force.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.state.decisions.policy.limits
    }

    /// The fingerprint of a value under this store's key: 16 hexadecimal digits, for `allow` in the
    /// policy's `[redaction]` table.
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

    /// Where the keyring is.
    #[must_use]
    pub fn keyring_folder(&self) -> &Path {
        self.ledger.keyring.folder().path()
    }

    /// Carries out commands in their order, until there is none at the moment. Each is a commit of
    /// its own; one sync makes those durable together that are there before it, so that a command
    /// that waits with others costs less than one alone. The answers are in the same order, and what
    /// they answer is durable.
    ///
    /// # Errors
    /// Each answer has those of [`Store::execute`]. If the sync fails, no command whose answer it
    /// held back happened.
    pub fn execute_all(
        &mut self,
        calls: impl IntoIterator<Item = (Command, Context)>,
    ) -> Vec<Result<Answer>> {
        batch::execute_all(self, calls)
    }

    /// Checks that a store can be made at `root`: nothing is there, or an empty folder.
    ///
    /// # Errors
    /// [`Error::StoreExists`] or [`Error::NotEmpty`] if `root` is taken.
    pub fn check_vacant(root: &Path) -> Result<()> {
        init::check_vacant(root)
    }

    /// Makes a store at `root` that `keys` can read and write, and opens it.
    ///
    /// # Errors
    /// [`Error::StoreExists`] or [`Error::NotEmpty`] if `root` is taken; for a policy as
    /// [`Store::set_policy`].
    pub fn init(
        root: &Path,
        keys: Keys,
        policy: &Policy,
        context: &Context,
        clock: Clock,
    ) -> Result<Self> {
        init::init(root, keys, policy, context, clock)
    }

    /// What a command that writes would come to, now. Nothing changes, and nothing is recorded.
    ///
    /// # Errors
    /// [`Error::NotAReader`] for an auditor, [`Error::Invalid`] for a command that shows what is
    /// kept, and what keeps the store from being read.
    pub fn foresee(&mut self, command: &Command, context: &Context) -> Result<Foreseen> {
        foresee::foresee(self, command, context)
    }

    /// Compares a text, as redaction would leave it, with the one that is kept at a path. That is
    /// no access, and is not recorded.
    ///
    /// # Errors
    /// [`Error::NotAReader`] for an auditor, and what keeps the store from being read.
    pub fn compare_kept(&mut self, path: &str, text: &Text) -> Result<Compared> {
        foresee::compare_kept(self, path, text)
    }

    /// A line as it may be shown: without the secrets in it, by the policy in force.
    ///
    /// # Errors
    /// [`Error::Policy`] if the policy in force cannot be followed.
    pub fn without_secrets(&self, line: &str) -> Result<String> {
        foresee::without_secrets(self, line)
    }
}

/// Takes the lock. Where another folder is at the store's path now, the store goes on in that,
/// and remembers what it has seen.
fn lock(ledger: &mut Ledger) -> Result<Lock> {
    let mut lock = Lock::acquire(&ledger.root)?;
    if let Some(root) = lock.moved() {
        ledger.repository = Repository::of_whatever_is_there(&root, journal::find);
        ledger.journal.follow(&root);
        ledger.catalog_file.follow(&root);
        ledger.timeline_file.follow(&root);
        ledger.root = root;
    }
    Ok(lock)
}

/// Takes the lock, and follows what others have done.
fn begin_commands(store: &mut Store) -> Result<Lock> {
    let lock = lock(&mut store.ledger)?;
    // What an agent does leaves no list of everything that happened in memory.
    store.state.timeline = None;
    refresh(store)?;
    as_reader(&store.ledger)?;
    Ok(lock)
}

fn execute_one(store: &mut Store, command: &Command, context: &Context) -> Result<Answer> {
    at_one_time(store, |store| {
        check_role(store, command.name())?;
        let plan = match plan_too_many(store, context)? {
            Some(refused) => refused,
            None => plan(store, command, context)?,
        };
        commit(store, plan, command.name(), context)
    })
}

/// Does something for which the clock stands still.
fn at_one_time<T>(store: &mut Store, act: impl FnOnce(&mut Store) -> Result<T>) -> Result<T> {
    store.state.began = Some(time_of(&store.state.clock)?);
    let done = act(store);
    store.state.began = None;
    done
}

/// The time that what is being done goes by.
fn now(state: &State) -> DateTime<Utc> {
    state.began.unwrap_or_else(|| (state.clock)())
}

/// The redactor that follows the policy in force.
fn redactor(store: &Store) -> Result<&Redactor> {
    if let Some(ready) = store.state.redactor.get() {
        return Ok(ready);
    }
    let key = store.ledger.keyring.fingerprints();
    let ready = Redactor::new(&store.state.decisions.policy.redaction, Some(key))?;
    Ok(store.state.redactor.get_or_init(|| ready))
}
