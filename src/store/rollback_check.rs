//! Rollback detection: a place must have the store that this user has seen there, and its history
//! must contain the newest commit this user has seen.

use std::path::Path;

use crate::crypto::digest::Digest;
use crate::crypto::sign::{SignedBy, Signers, VerifyingKey};
use crate::disk::BackgroundSync;
use crate::error::{Error, Result};
use crate::event::{ACCEPT_COMMAND, Context, Event, Moment};
use crate::id::{ObjectId, StoreId};
use crate::journal::Journal;
use crate::repository::Repository;
use crate::repository::object::Commit;
use crate::store::answer::Meta;
use crate::store::commit::{SealedPlan, record_sealed};
use crate::store::keyring_location::check_keyring;
use crate::store::log::last_seen;
use crate::store::pin::{FirstUseRecord, KnownCopy, Origin, Pin, Place, SeenMoment};
use crate::store::recovery::{self, refresh};
use crate::store::signed_checkpoint::{Checkpoint, FileDigest};
use crate::store::signers::signer_now;
use crate::store::{Clock, Keys, Store, lock};

/// The identity of the store at a place, and the newest moment seen of it: by this process and by
/// any process of this user.
pub(crate) struct RollbackCheck {
    store: StoreId,
    /// The place outside the store, if there is a state folder.
    place: Option<Place>,
    /// The identity of the store, once known.
    origin: Option<Origin>,
    /// The newest moment this process has seen.
    known: Option<SeenMoment>,
    /// The facts to record about a store that is new at its place.
    arrival: Option<FirstUseRecord>,
    /// True if this user has never seen a store at the place, under any of its names.
    is_first_use: bool,
    /// True if the caller accepts a rollback that is not on record yet.
    accepting: bool,
    /// The error that kept the pin from being written when the store was opened.
    unkept: Option<Error>,
    /// The pin as last read, under the lock that is still held.
    read: Option<LoadedPin>,
    /// Makes the pin of the last command durable in the background.
    behind: BackgroundSync,
    /// True if that failed; then the file may show data that is not on the disk.
    doubtful: bool,
}

struct LoadedPin {
    pin: Pin,
    /// True if the pin holds the newest commit.
    settled: bool,
}

/// The reason why a history is refused, and the seen moment that it lacks.
struct RollbackRefusal {
    lost: LostMoment,
    error: Error,
}

/// The store or moment that was known at a place and is lost by accepting its present state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LostMoment {
    /// The store that was known.
    pub store: StoreId,
    /// Its newest seen moment.
    pub moment: Moment,
}

/// The end of a walk back from the newest commit.
enum WalkResult {
    /// The walk met the moment.
    Met,
    /// The walk reached the first commit without meeting the moment.
    First(Box<First>),
}

/// The first commit of a history.
struct First {
    id: ObjectId,
    commit: Commit,
    /// SHA-256 of the commit object.
    digest: Digest,
}

impl RollbackCheck {
    pub(crate) fn new(state: Option<&Path>, root: &Path, store: StoreId) -> Result<Self> {
        Ok(Self {
            store,
            place: state.map(|state| Place::of(state, root)).transpose()?,
            origin: None,
            known: None,
            arrival: None,
            is_first_use: false,
            accepting: false,
            unkept: None,
            read: None,
            behind: BackgroundSync::default(),
            doubtful: false,
        })
    }

    /// Returns the newest event of a store that this user has seen at a place and that its history up to `head`
    /// lacks; `None` if it lacks none.
    pub(crate) fn lost_at(
        (state, at): (&Path, &Path),
        store: StoreId,
        repository: &Repository,
        head: ObjectId,
    ) -> Result<Option<u64>> {
        match Self::new(Some(state), at, store)?.check(repository, head) {
            Err(Error::RolledBack { event, .. }) => Ok(Some(event)),
            _ => Ok(None),
        }
    }

    /// Refuses a store other than the one seen at this place, and a history that ends at `head`
    /// without containing the newest seen moment. Called with the lock held, before any change.
    pub(crate) fn check(&mut self, repository: &Repository, head: ObjectId) -> Result<()> {
        let refusal = self.find_refusal(repository, head)?;
        refusal.map_or(Ok(()), |refusal| Err(refusal.error))
    }

    /// Checks like [`Self::check`], but accepts a refusal. Returns the loss, or `None` if nothing
    /// is refused. The pin still requires the lost moment until the acceptance is durable.
    fn accept(&mut self, repository: &Repository, head: ObjectId) -> Result<Option<LostMoment>> {
        let Some(refusal) = self.find_refusal(repository, head)? else {
            self.prepare_first_use(repository, head)?;
            return Ok(None);
        };
        let place = self.place.as_ref().ok_or(Error::NotRolledBack)?;
        let first = first_of(repository, head)?;
        let (owner, origin) = (founder(repository, &first)?, first.origin(self.store));
        let pin = place.read()?;
        let is_new = pin.as_ref().is_none_or(|pin| pin.origin() != origin);
        let copy_of = None;
        self.arrival = is_new.then_some(FirstUseRecord { owner, copy_of });
        self.origin = Some(origin);
        self.read = pin.map(|pin| LoadedPin { pin, settled: true });
        self.accepting = true;
        Ok(Some(refusal.lost))
    }

    fn find_refusal(
        &mut self,
        repository: &Repository,
        head: ObjectId,
    ) -> Result<Option<RollbackRefusal>> {
        self.read = None;
        if let Some(known) = self.known
            && known.moment.commit != head
            && !is_in(repository, head, known)?
        {
            return Ok(Some(self.rolled_back(known, head)));
        }
        let is_opening = self.origin.is_none();
        let Some(place) = &mut self.place else {
            return Ok(None);
        };
        let pin = place.read()?;
        let former = if is_opening {
            place.read_former()?
        } else {
            None
        };
        for before in [&pin, &former].into_iter().flatten() {
            let refusal = self.compare(repository, head, before)?;
            if refusal.is_some() {
                return Ok(refusal);
            }
        }
        match &pin {
            Some(pin) => self.origin = Some(pin.origin()),
            None if is_opening => {
                self.is_first_use = former.is_none();
                let refusal = self.compare_elsewhere(repository, head)?;
                if refusal.is_some() {
                    return Ok(refusal);
                }
            }
            None => {}
        }
        self.read = pin.map(|pin| LoadedPin {
            settled: pin.seen().moment.commit == head && !self.doubtful,
            pin,
        });
        Ok(None)
    }

    /// Compares a history with a pin. A history that contains the pinned moment also has the same
    /// first commit, because each commit holds the SHA-256 of its parent. So only a history without
    /// that moment is followed to its first commit.
    fn compare(
        &self,
        repository: &Repository,
        head: ObjectId,
        before: &Pin,
    ) -> Result<Option<RollbackRefusal>> {
        let (origin, seen) = (before.origin(), before.seen());
        if origin.store != self.store {
            return Ok(Some(self.another_store(origin, seen, None)));
        }
        // The caller has looked for what this process knows.
        if self.known == Some(seen) {
            return Ok(None);
        }
        Ok(match walk_back(repository, head, Some(seen))? {
            WalkResult::Met => None,
            WalkResult::First(first) if first.origin(self.store) == origin => {
                Some(self.rolled_back(seen, head))
            }
            WalkResult::First(_) => Some(self.another_store(origin, seen, None)),
        })
    }

    /// Refuses a store that merely claims the id of a store known at another place. Also refuses an
    /// older copy of a store seen in the previous layout, unless a place has taken that over.
    fn compare_elsewhere(
        &self,
        repository: &Repository,
        head: ObjectId,
    ) -> Result<Option<RollbackRefusal>> {
        let place = self.place.as_ref().expect("asked by the caller");
        let others = place.others(self.store);
        if others.is_empty() {
            let before = place.read_before(self.store)?;
            let Some(seen) = before else { return Ok(None) };
            let contained = is_in(repository, head, seen)?;
            return Ok((!contained).then(|| self.rolled_back(seen, head)));
        }
        let origin = first_of(repository, head)?.origin(self.store);
        let other = others.iter().find(|other| other.origin != origin);
        Ok(other.map(|other| self.another_store(other.origin, other.seen, other.path.as_deref())))
    }

    /// Collects the facts about a store at a place where none was seen. This reads every commit
    /// once.
    pub(super) fn prepare_first_use(
        &mut self,
        repository: &Repository,
        head: ObjectId,
    ) -> Result<()> {
        let Some(place) = self.place.as_ref().filter(|_| self.origin.is_none()) else {
            return Ok(());
        };
        let first = first_of(repository, head)?;
        let owner = founder(repository, &first)?;
        let others = place.others(self.store);
        let rank = |other: &&KnownCopy| (!other.is_copy, other.is_there(), other.seen.moment.event);
        let copy_of = others.iter().max_by_key(rank).map(|other| other.id);
        self.origin = Some(first.origin(self.store));
        self.arrival = Some(FirstUseRecord { owner, copy_of });
        Ok(())
    }

    fn rolled_back(&self, seen: SeenMoment, head: ObjectId) -> RollbackRefusal {
        let moment = seen.moment;
        let store = self.store;
        RollbackRefusal {
            lost: LostMoment { store, moment },
            error: Error::RolledBack {
                event: moment.event,
                seen: moment.commit.to_string(),
                found: head.to_string(),
            },
        }
    }

    fn another_store(&self, known: Origin, seen: SeenMoment, at: Option<&Path>) -> RollbackRefusal {
        let path = self.place.as_ref().map_or(Path::new(""), Place::path);
        let (store, moment) = (known.store, seen.moment);
        RollbackRefusal {
            lost: LostMoment { store, moment },
            error: Error::AnotherStore {
                path: path.to_owned(),
                known_at: at.unwrap_or(path).to_owned(),
                known: store,
                found: self.store,
            },
        }
    }

    /// Returns the problem of keeping the pin, for the status.
    pub(super) fn problem(&self) -> Option<String> {
        let why = self.unkept.as_ref()?;
        Some(format!(
            "the newest event of the store could not be remembered ({why}), so agekeep may not \
             notice another store or an older copy in its place"
        ))
    }

    /// Returns the path of the place and the key of the store's owner, if no store was seen there
    /// before.
    pub(super) fn first_use(&self) -> Option<(&Path, &VerifyingKey)> {
        let arrival = self.arrival.as_ref().filter(|_| self.is_first_use)?;
        Some((self.place.as_ref()?.path(), &arrival.owner))
    }

    /// Returns the known facts about the place where the same store was when it was first seen
    /// here. `None` if that place is this folder under another name, or has another store by now.
    pub(super) fn copy_of(&self) -> Option<KnownCopy> {
        let place = self.place.as_ref()?;
        let at = match &self.arrival {
            Some(arrival) => arrival.copy_of,
            None => place.copy_of().ok().flatten(),
        };
        let other = place.other(at?)?;
        let is_here = other.path.as_ref().is_some_and(|path| place.is_at(path));
        (!is_here && Some(other.origin) == self.origin).then_some(other)
    }

    /// Sets the newest moment, after it was read and checked.
    pub(super) fn remember(&mut self, seen: SeenMoment) {
        self.known = Some(seen);
    }

    /// Brings the pin up to the newest commit. That commit is made durable first: a killed process
    /// may have left a record that is not.
    pub(super) fn write_pin(&mut self, journal: &Journal) -> Result<()> {
        let (Some(known), Some(origin)) = (self.known, self.origin) else {
            return Ok(());
        };
        if self.accepting {
            // The pin keeps the lost moment until the acceptance is durable.
            return Ok(());
        }
        match &mut self.read {
            Some(read) if read.settled => {}
            Some(read) => {
                journal.sync()?;
                read.pin.write(origin, known, true)?;
                read.pin.sync()?;
                read.settled = true;
                self.doubtful = false;
            }
            None => {
                journal.sync()?;
                self.create_pin(origin, known)?;
                self.doubtful = false;
            }
        }
        self.place.as_mut().map_or(Ok(()), Place::keep_name)
    }

    /// Pins a store at a place where none was seen.
    fn create_pin(&mut self, origin: Origin, seen: SeenMoment) -> Result<()> {
        let Some(place) = &self.place else {
            return Ok(());
        };
        if let Some(arrival) = &self.arrival {
            place.describe(self.store, arrival)?;
        }
        let pin = place.create(origin, seen)?;
        place.remove_before(self.store);
        self.read = Some(LoadedPin { pin, settled: true });
        Ok(())
    }

    /// Makes sure that the next command can be pinned. Called before that command is recorded.
    pub(super) fn before_commit(&mut self, journal: &Journal) -> Result<()> {
        let is_settled = self.read.as_ref().is_some_and(|read| read.settled);
        // Usually the last command's pin is still on its way to the disk while this command is
        // recorded.
        let ended = if is_settled {
            self.behind.check()
        } else {
            self.behind.wait()
        };
        ended.inspect_err(|_| self.mark_unsynced())?;
        self.write_pin(journal)?;
        let pin = self.read.as_ref().map(|read| &read.pin);
        pin.map_or(Ok(()), Pin::check_writable)
    }

    /// Pins a durable command. The pin itself becomes durable in the background, every 50
    /// milliseconds: a power failure can lose the pins of the last commands, and nothing else can.
    /// If this fails, the next command retries before it is recorded.
    pub(super) fn after_commit(&mut self, next: SeenMoment) {
        self.known = Some(next);
        if std::mem::take(&mut self.accepting) {
            // If this fails, the rollback stays refused.
            drop(self.replace_accepted_pin(next));
        } else if self.behind.check().is_err() {
            self.mark_unsynced();
        } else if let (Some(read), Some(origin)) = (&mut self.read, self.origin) {
            let written = read.pin.write(origin, next, self.behind.is_settled());
            let unsynced = written.and_then(|()| read.pin.unsynced());
            read.settled = unsynced.is_ok();
            if let Ok(unsynced) = unsynced {
                self.behind.start(unsynced);
            }
        }
    }

    /// Replaces the pin by the accepted store and moment.
    fn replace_accepted_pin(&mut self, next: SeenMoment) -> Result<()> {
        let origin = self.origin.expect("found when it was accepted");
        let Some(read) = &mut self.read else {
            self.create_pin(origin, next)?;
            return self.place.as_mut().map_or(Ok(()), Place::keep_name);
        };
        read.settled = false;
        read.pin.write(origin, next, true)?;
        read.pin.sync()?;
        read.settled = true;
        let Some(place) = &mut self.place else {
            return Ok(());
        };
        if let Some(arrival) = &self.arrival {
            place.describe(self.store, arrival)?;
        }
        place.keep_name()
    }

    /// Marks the pin to be rewritten after a failed fsync; a second fsync may succeed without
    /// writing.
    fn mark_unsynced(&mut self) {
        self.doubtful = true;
        if let Some(read) = &mut self.read {
            read.settled = false;
        }
    }
}

impl First {
    fn origin(&self, store: StoreId) -> Origin {
        Origin {
            store,
            commit: self.id,
            digest: self.digest,
        }
    }
}

/// Walks back from `head` to a moment, or to the first commit if the walk does not meet it. The
/// cost grows with the number of newer commits.
fn walk_back(
    repository: &Repository,
    head: ObjectId,
    seen: Option<SeenMoment>,
) -> Result<WalkResult> {
    let mut id = head;
    loop {
        let (commit, bytes) = repository.commit(id)?;
        let is_it =
            |seen: &SeenMoment| seen.moment.commit == id && seen.digest == Digest::of(&bytes);
        if seen.as_ref().is_some_and(is_it) {
            return Ok(WalkResult::Met);
        }
        let Some(parent) = commit.parent else {
            let digest = Digest::of(&bytes);
            let first = First { id, commit, digest };
            return Ok(WalkResult::First(Box::new(first)));
        };
        id = parent;
    }
}

/// Tells whether the history that ends at `head` contains this moment.
fn is_in(repository: &Repository, head: ObjectId, seen: SeenMoment) -> Result<bool> {
    Ok(matches!(
        walk_back(repository, head, Some(seen))?,
        WalkResult::Met
    ))
}

/// Returns the first commit of the history that ends at `head`.
fn first_of(repository: &Repository, head: ObjectId) -> Result<First> {
    match walk_back(repository, head, None)? {
        WalkResult::First(first) => Ok(*first),
        WalkResult::Met => unreachable!("no moment was looked for"),
    }
}

/// Returns the key that created the store whose history ends at `head`.
pub(crate) fn founding_key(repository: &Repository, head: ObjectId) -> Result<VerifyingKey> {
    founder(repository, &first_of(repository, head)?)
}

/// Returns the key that created the store: the first commit names a single signer, who signed it.
fn founder(repository: &Repository, first: &First) -> Result<VerifyingKey> {
    let fault = |why: &str| Error::damaged(format!("commit {}", first.id), why);
    let signed = SignedBy::check(&first.commit.signed_bytes, &first.commit.signature)
        .ok_or_else(|| fault("its signature is not one over it"))?;
    let blob = recovery::config_blobs_in(repository, first.commit.tree)?.signers;
    let signers = Signers::parse(&repository.public(blob)?).map_err(|why| fault(&why))?;
    let founder = signers.founder(&signed).map_err(fault)?;
    Ok(founder.key())
}

/// Notes the newest commit, in this process and in the pin. If the pin cannot be written, reads
/// still work, but commands are refused.
pub(super) fn pin_head(store: &mut Store) {
    remember_head(store);
    let ledger = &mut store.ledger;
    let written = ledger.rollback_check.write_pin(&ledger.journal);
    ledger.rollback_check.unkept = written.err();
}

pub(super) fn remember_head(store: &mut Store) {
    let (_, moment) = last_seen(store);
    let digest = store.ledger.chain;
    let seen = SeenMoment { moment, digest };
    store.ledger.rollback_check.remember(seen);
}

/// See [`Store::checkpoint`].
pub(super) fn checkpoint(
    store: &mut Store,
    file: Option<&FileDigest>,
) -> Result<(Checkpoint, String)> {
    let lock = lock(&mut store.ledger)?;
    refresh(store)?;
    let made = checkpoint_now(store, file)?;
    drop(lock);
    Ok(made)
}

/// Makes a checkpoint of the newest event, with a note on it or on a file. Requires the store's
/// lock.
pub(super) fn checkpoint_now(
    store: &Store,
    file: Option<&FileDigest>,
) -> Result<(Checkpoint, String)> {
    // A signed checkpoint must not be lost in a power failure.
    store.ledger.journal.sync()?;
    let (key, signer) = signer_now(store)?;
    let checkpoint = newest_checkpoint(store)?;
    let note = match file {
        None => checkpoint.to_note(signer.name(), key)?,
        Some(file) => checkpoint.to_note_on(file, signer.name(), key)?,
    };
    Ok((checkpoint, note))
}

/// Returns where history ends now.
pub(super) fn newest_checkpoint(store: &Store) -> Result<Checkpoint> {
    let time = store.state.catalog.times.last;
    Ok(Checkpoint {
        store: store.state.id,
        events: store.state.catalog.events,
        digest: store.ledger.chain,
        commit: store.ledger.journal.head(),
        time: time.ok_or_else(|| Error::damaged("history", "it has no event"))?,
    })
}

/// See [`Store::accept_rollback`].
pub(super) fn accept_rollback(
    root: &Path,
    keys: Keys,
    clock: Clock,
    context: &Context,
) -> Result<(Store, Option<LostMoment>, Meta)> {
    if context
        .reason
        .as_deref()
        .is_none_or(|reason| reason.trim().is_empty())
    {
        return Err(Error::invalid(
            "the reason",
            "a rollback or another store is accepted only with one",
        ));
    }
    let (mut store, lock, lost) = Store::open_checked(root, keys, clock, RollbackCheck::accept)?;
    remember_head(&mut store);
    let keys = check_keyring(&store).is_err();
    if lost.is_none() && !keys {
        return Err(Error::NotRolledBack);
    }
    let keys = keys.then(|| store.ledger.keyring.commitment());
    let keys = keys.transpose()?;
    let says = |event: &mut Event| {
        event.lost = lost.map(|lost| lost.moment);
        event.keys = keys;
    };
    let nothing = SealedPlan::default();
    let meta = record_sealed(&mut store, ACCEPT_COMMAND, nothing, says, context)?;
    drop(lock);
    Ok((store, lost, meta))
}
