//! Whether a place still has the store that was seen there, and history what was seen of it; and what
//! is kept of that.

use std::path::Path;

use crate::crypto::digest::Digest;
use crate::crypto::sign::{SignedBy, Signers, VerifyingKey};
use crate::disk::Behind;
use crate::error::{Error, Result};
use crate::event::{ACCEPT_COMMAND, Context, Moment};
use crate::id::ObjectId;
use crate::id::StoreId;
use crate::journal::Journal;
use crate::repository::Repository;
use crate::repository::object::Commit;
use crate::store::answer::Meta;
use crate::store::commit::{event, record};
use crate::store::history::refresh;
use crate::store::lock;
use crate::store::note::Checkpoint;
use crate::store::pin::{Arrival, Origin, Other, Pin, Place, Seen};
use crate::store::place::check_keyring;
use crate::store::signers::signer_now;

use super::commit::Sealing;
use super::{Clock, Keys, Store, history};

/// Which store is at a place, and the newest moment that was seen of it: by this process, and by all
/// of this user's.
pub(crate) struct Pinning {
    store: StoreId,
    /// Where it is kept outside the store, if anywhere.
    place: Option<Place>,
    /// What history begins with, once that is known.
    origin: Option<Origin>,
    /// What this process has seen, once it has.
    known: Option<Seen>,
    /// What is to be written down of a store that is new at its place.
    arrival: Option<Arrival>,
    /// Whether this user has seen nothing at the place before, by no name of it.
    is_first_use: bool,
    /// Whether what was seen before gives way, once that is on record.
    accepting: bool,
    /// Why what was seen when the store was opened could not be kept, if it could not.
    unkept: Option<Error>,
    /// What the file said when it was last looked at, under the lock that is still held.
    read: Option<Read>,
    /// Makes what the last command left in the file durable while other things go on.
    behind: Behind,
    /// Whether that failed: then the file may say what is not on the disk.
    doubtful: bool,
}

struct Read {
    pin: Pin,
    /// Whether it holds where history ends.
    settled: bool,
}

/// Why a history is refused, and what was seen that it lacks.
struct Refusal {
    lost: Lost,
    error: Error,
}

/// What was known at a place and gave way to what is there now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lost {
    /// The store that was known.
    pub store: StoreId,
    /// Its newest moment that was seen.
    pub moment: Moment,
}

/// What is found going back from where history ends.
enum Back {
    /// The moment that was looked for.
    Met,
    /// The first commit, and not that moment.
    First(First),
}

/// The first commit of a history.
struct First {
    id: ObjectId,
    commit: Commit,
    /// SHA-256 of the commit object.
    digest: Digest,
}

impl Pinning {
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
            behind: Behind::default(),
            doubtful: false,
        })
    }

    /// Refuses another store than was seen at this place, and a history that ends at `head` if it
    /// does not contain what was seen of it. Called with the lock held, before anything is changed.
    pub(crate) fn check(&mut self, repository: &Repository, head: ObjectId) -> Result<()> {
        let refusal = self.judge(repository, head)?;
        refusal.map_or(Ok(()), |refusal| Err(refusal.error))
    }

    /// As [`Self::check`], where it is refused and that is accepted: answers what is lost, which
    /// stays required until the acceptance is durable; `None` if nothing is.
    fn accept(&mut self, repository: &Repository, head: ObjectId) -> Result<Option<Lost>> {
        let Some(refusal) = self.judge(repository, head)? else {
            self.meet(repository, head)?;
            return Ok(None);
        };
        let place = self.place.as_ref().ok_or(Error::NotRolledBack)?;
        let first = first_of(repository, head)?;
        let (owner, origin) = (founder(repository, &first)?, first.origin(self.store));
        let pin = place.read()?;
        let is_new = pin.as_ref().is_none_or(|pin| pin.origin() != origin);
        let copy_of = None;
        self.arrival = is_new.then_some(Arrival { owner, copy_of });
        self.origin = Some(origin);
        self.read = pin.map(|pin| Read { pin, settled: true });
        self.accepting = true;
        Ok(Some(refusal.lost))
    }

    fn judge(&mut self, repository: &Repository, head: ObjectId) -> Result<Option<Refusal>> {
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
        self.read = pin.map(|pin| Read {
            settled: pin.seen().moment.commit == head && !self.doubtful,
            pin,
        });
        Ok(None)
    }

    /// Holds a history against what was seen at its place. Where it contains that moment, it also
    /// begins as that one did: each commit holds the SHA-256 of the one before it. So only a history
    /// that does not contain it is followed to its first commit.
    fn compare(
        &self,
        repository: &Repository,
        head: ObjectId,
        before: &Pin,
    ) -> Result<Option<Refusal>> {
        let (origin, seen) = (before.origin(), before.seen());
        if origin.store != self.store {
            return Ok(Some(self.another_store(origin, seen, None)));
        }
        if self.known == Some(seen) && seen.moment.commit == head {
            return Ok(None);
        }
        Ok(match go_back(repository, head, Some(seen))? {
            Back::Met => None,
            Back::First(first) if first.origin(self.store) == origin => {
                Some(self.rolled_back(seen, head))
            }
            Back::First(_) => Some(self.another_store(origin, seen, None)),
        })
    }

    /// Refuses what only says that it is a store that is known elsewhere; and an older copy of one
    /// that was seen before places were told apart, as long as no place has taken that over.
    fn compare_elsewhere(
        &self,
        repository: &Repository,
        head: ObjectId,
    ) -> Result<Option<Refusal>> {
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

    /// Takes note of a store at a place where none was seen. This reads every commit once.
    pub(super) fn meet(&mut self, repository: &Repository, head: ObjectId) -> Result<()> {
        let Some(place) = self.place.as_ref().filter(|_| self.origin.is_none()) else {
            return Ok(());
        };
        let first = first_of(repository, head)?;
        let owner = founder(repository, &first)?;
        let others = place.others(self.store);
        let rank = |other: &&Other| (!other.is_copy, other.is_there(), other.seen.moment.event);
        let copy_of = others.iter().max_by_key(rank).map(|other| other.id);
        self.origin = Some(first.origin(self.store));
        self.arrival = Some(Arrival { owner, copy_of });
        Ok(())
    }

    fn rolled_back(&self, seen: Seen, head: ObjectId) -> Refusal {
        let moment = seen.moment;
        let store = self.store;
        Refusal {
            lost: Lost { store, moment },
            error: Error::RolledBack {
                event: moment.event,
                seen: moment.commit.to_string(),
                found: head.to_string(),
            },
        }
    }

    fn another_store(&self, known: Origin, seen: Seen, at: Option<&Path>) -> Refusal {
        let path = self.place.as_ref().map_or(Path::new(""), Place::path);
        let (store, moment) = (known.store, seen.moment);
        Refusal {
            lost: Lost { store, moment },
            error: Error::AnotherStore {
                path: path.to_owned(),
                known_at: at.unwrap_or(path).to_owned(),
                known: store,
                found: self.store,
            },
        }
    }

    /// What is wrong with how it is kept.
    pub(super) fn problem(&self) -> Option<String> {
        let why = self.unkept.as_ref()?;
        Some(format!(
            "what was seen of the store could not be kept ({why}), so another store or an older copy in \
             its place may not be noticed"
        ))
    }

    /// The path of the place and the key of the store's owner, where nothing was seen before.
    pub(super) fn first_use(&self) -> Option<(&Path, &VerifyingKey)> {
        let arrival = self.arrival.as_ref().filter(|_| self.is_first_use)?;
        Some((self.place.as_ref()?.path(), &arrival.owner))
    }

    /// What is known of the same store at the place where it was when it was first seen here; nothing
    /// if that is this folder by another name, or has another store by now.
    pub(super) fn copy_of(&self) -> Option<Other> {
        let place = self.place.as_ref()?;
        let at = match &self.arrival {
            Some(arrival) => arrival.copy_of,
            None => place.copy_of().ok().flatten(),
        };
        let other = place.other(at?)?;
        let is_here = other.path.as_ref().is_some_and(|path| place.is_at(path));
        (!is_here && Some(other.origin) == self.origin).then_some(other)
    }

    /// Takes note of where history ends, now that it was read and checked.
    pub(super) fn know(&mut self, seen: Seen) {
        self.known = Some(seen);
    }

    /// Brings the file to where history ends. That has to be durable itself first: a process that
    /// was killed may have left a record that is not.
    pub(super) fn settle(&mut self, journal: &Journal) -> Result<()> {
        let (Some(known), Some(origin)) = (self.known, self.origin) else {
            return Ok(());
        };
        if self.accepting {
            // The file says what is lost until the acceptance is durable.
            return Ok(());
        }
        match &mut self.read {
            Some(read) if read.settled => {}
            Some(read) => {
                journal.sync()?;
                read.pin.write(origin, known)?;
                read.pin.sync()?;
                read.settled = true;
                self.doubtful = false;
            }
            None => {
                journal.sync()?;
                self.arrive(origin, known)?;
                self.doubtful = false;
            }
        }
        self.place.as_mut().map_or(Ok(()), Place::keep_name)
    }

    /// Keeps what is seen where nothing was.
    fn arrive(&mut self, origin: Origin, seen: Seen) -> Result<()> {
        let Some(place) = &self.place else {
            return Ok(());
        };
        if let Some(arrival) = &self.arrival {
            place.describe(self.store, arrival)?;
        }
        let pin = place.create(origin, seen)?;
        place.remove_before(self.store);
        self.read = Some(Read { pin, settled: true });
        Ok(())
    }

    /// Makes sure that the next command can be pinned. Called before that is recorded.
    pub(super) fn begin(&mut self, journal: &Journal) -> Result<()> {
        let is_settled = self.read.as_ref().is_some_and(|read| read.settled);
        // As a rule the last command's pin is on its way to the disk while this one is recorded.
        let ended = if is_settled {
            self.behind.check()
        } else {
            self.behind.wait()
        };
        ended.inspect_err(|_| self.doubt())?;
        self.settle(journal)?;
        let pin = self.read.as_ref().map(|read| &read.pin);
        pin.map_or(Ok(()), Pin::check_writable)
    }

    /// Pins what has become durable, once the last command is pinned durably: of what a process
    /// acknowledged, the power can take one command's pin at most. Where that fails, the next
    /// command tries before it is recorded.
    pub(super) fn finish(&mut self, next: Seen) {
        self.known = Some(next);
        if std::mem::take(&mut self.accepting) {
            // Where this fails, the refusal stands.
            drop(self.give_way(next));
        } else if self.behind.wait().is_err() {
            self.doubt();
        } else if let (Some(read), Some(origin)) = (&mut self.read, self.origin) {
            let written = read.pin.write(origin, next);
            let unsynced = written.and_then(|()| read.pin.unsynced());
            read.settled = unsynced.is_ok();
            if let Ok(unsynced) = unsynced {
                self.behind.start(unsynced);
            }
        }
    }

    /// Puts what was accepted in the place of what was seen before.
    fn give_way(&mut self, next: Seen) -> Result<()> {
        let origin = self.origin.expect("found when it was accepted");
        let Some(read) = &mut self.read else {
            self.arrive(origin, next)?;
            return self.place.as_mut().map_or(Ok(()), Place::keep_name);
        };
        read.settled = false;
        read.pin.write(origin, next)?;
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

    /// What failed once is written anew: a sync that is tried again is not to be believed.
    fn doubt(&mut self) {
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

/// Goes back from where history ends to a moment, or to the first commit if it is not met. It costs
/// as much as there is newer than that.
fn go_back(repository: &Repository, head: ObjectId, seen: Option<Seen>) -> Result<Back> {
    let mut id = head;
    loop {
        let (commit, bytes) = repository.commit(id)?;
        let is_it = |seen: &Seen| seen.moment.commit == id && seen.digest == Digest::of(&bytes);
        if seen.as_ref().is_some_and(is_it) {
            return Ok(Back::Met);
        }
        let Some(parent) = commit.parent else {
            let digest = Digest::of(&bytes);
            return Ok(Back::First(First { id, commit, digest }));
        };
        id = parent;
    }
}

/// Whether history that ends at `head` holds this moment.
fn is_in(repository: &Repository, head: ObjectId, seen: Seen) -> Result<bool> {
    Ok(matches!(go_back(repository, head, Some(seen))?, Back::Met))
}

/// What history that ends at `head` begins with.
fn first_of(repository: &Repository, head: ObjectId) -> Result<First> {
    match go_back(repository, head, None)? {
        Back::First(first) => Ok(first),
        Back::Met => unreachable!("no moment was looked for"),
    }
}

/// The key that a store was made with: its first commit names one signer, who signed it.
fn founder(repository: &Repository, first: &First) -> Result<VerifyingKey> {
    let fault = |why: &str| Error::damaged(format!("commit {}", first.id), why);
    let signed = SignedBy::check(&first.commit.signed_bytes, &first.commit.signature)
        .ok_or_else(|| fault("its signature is not one over it"))?;
    let blob = history::decided_in(repository, first.commit.tree)?.signers;
    let signers = Signers::parse(&repository.public(blob)?).map_err(|why| fault(&why))?;
    let founder = signers.founder(&signed).map_err(fault)?;
    Ok(founder.key())
}

/// Takes note of where history ends: in this process, and outside the store where that can be
/// written. Where it cannot, whoever only looks is not kept from looking; a command is.
pub(super) fn note_head(store: &mut Store) {
    know_head(store);
    store.ledger.pinning.unkept = store.ledger.pinning.settle(&store.ledger.journal).err();
}

pub(super) fn know_head(store: &mut Store) {
    store.ledger.pinning.know(Seen {
        moment: Moment {
            event: store.state.catalog.events.saturating_sub(1),
            commit: store.ledger.journal.head(),
        },
        digest: store.ledger.chain,
    });
}

/// See [`Store::checkpoint`].
pub(super) fn checkpoint(store: &mut Store) -> Result<(Checkpoint, String)> {
    let lock = lock(&mut store.ledger)?;
    refresh(store)?;
    // What is signed for must not be lost with the power.
    store.ledger.journal.sync()?;
    let (key, signer) = signer_now(store)?;
    let head = store.ledger.journal.head();
    let time = store
        .state
        .catalog
        .times
        .last
        .ok_or_else(|| Error::damaged("history", "it has no event"))?;
    let checkpoint = Checkpoint {
        store: store.state.id,
        events: store.state.catalog.events,
        digest: store.ledger.chain,
        commit: head,
        time,
    };
    let note = checkpoint.to_note(signer.name(), key)?;
    drop(lock);
    Ok((checkpoint, note))
}

/// See [`Store::accept_rollback`].
pub(super) fn accept_rollback(
    root: &Path,
    keys: Keys,
    clock: Clock,
    context: &Context,
) -> Result<(Store, Option<Lost>, Meta)> {
    if context
        .reason
        .as_deref()
        .is_none_or(|reason| reason.trim().is_empty())
    {
        return Err(Error::Invalid {
            what: "the reason",
            why: "a rollback or another store is accepted only with one".into(),
        });
    }
    let (mut store, lock, lost) = Store::open_checked(root, keys, clock, Pinning::accept)?;
    know_head(&mut store);
    let keys = check_keyring(&store).is_err();
    if lost.is_none() && !keys {
        return Err(Error::NotRolledBack);
    }
    let mut redactions = Vec::new();
    let mut event = event(&store, ACCEPT_COMMAND, context, &mut redactions)?;
    event.redactions.clone_from(&redactions);
    event.lost = lost.map(|lost| lost.moment);
    if keys {
        event.keys = Some(store.ledger.keyring.commitment()?);
    }
    let (event, commit) = record(&mut store, event, Sealing::default())?;
    drop(lock);
    let meta = Meta {
        event: event.number,
        commit,
        time: event.time,
        outcome: event.outcome,
        error: None,
        memory: None,
        redactions,
    };
    Ok((store, lost, meta))
}
