//! Whether history still contains what was seen of it, and what is kept of that.

use std::path::Path;

use crate::answer::Meta;
use crate::digest::Digest;
use crate::disk::Behind;
use crate::error::{Error, Result};
use crate::event::{ACCEPT_COMMAND, Context, Moment};
use crate::id::StoreId;
use crate::journal::Journal;
use crate::note::Checkpoint;
use crate::pin::{Pin, PinPlace, Seen};
use crate::repository::Repository;
use crate::repository::object::ObjectId;

use super::commit::Sealing;
use super::{Clock, Keys, Store};

/// The newest moment that was seen of a store: by this process, and by all of this user's.
pub(crate) struct Pinning {
    /// Where it is kept outside the store, if anywhere.
    place: Option<PinPlace>,
    /// What this process has seen, once it has.
    known: Option<Seen>,
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

impl Pinning {
    pub(crate) fn new(state: Option<&Path>, store: StoreId) -> Self {
        Self {
            place: state.map(|state| PinPlace::new(state, store)),
            known: None,
            unkept: None,
            read: None,
            behind: Behind::default(),
            doubtful: false,
        }
    }

    /// Refuses a history that ends at `head` if it does not contain what was seen of it. Called
    /// with the lock held, before anything is changed.
    pub(crate) fn check(&mut self, repository: &Repository, head: ObjectId) -> Result<()> {
        self.read = None;
        if let Some(known) = self.known
            && known.moment.commit != head
            && !is_in(repository, head, known)?
        {
            return Err(rolled_back(known.moment, head));
        }
        let pin = match &self.place {
            Some(place) => place.read()?,
            None => None,
        };
        let Some(pin) = pin else { return Ok(()) };
        let (seen, is_end) = (pin.seen(), pin.seen().moment.commit == head);
        let is_known = self.known == Some(seen) && is_end;
        if !is_known && !is_in(repository, head, seen)? {
            return Err(rolled_back(seen.moment, head));
        }
        self.read = Some(Read {
            settled: is_end && !self.doubtful,
            pin,
        });
        Ok(())
    }

    /// As [`Self::check`], where it is refused and that is accepted: answers the moment that is
    /// lost, whose slot stays until the acceptance is durable; `None` if nothing is.
    fn accept(&mut self, repository: &Repository, head: ObjectId) -> Result<Option<Moment>> {
        match self.check(repository, head) {
            Ok(()) => return Ok(None),
            Err(Error::RolledBack { .. }) => {}
            Err(error) => return Err(error),
        }
        let place = self.place.as_ref().ok_or(Error::NotRolledBack)?;
        let pin = place.read()?.ok_or(Error::NotRolledBack)?;
        let lost = pin.seen().moment;
        // It says what is lost until the acceptance is durable, which then takes the other slot.
        self.read = Some(Read { pin, settled: true });
        Ok(Some(lost))
    }

    /// What is wrong with how it is kept.
    pub(super) fn problem(&self) -> Option<String> {
        let why = self.unkept.as_ref()?;
        Some(format!(
            "what was seen of the store could not be kept ({why}), so an older copy in its place may \
             not be noticed"
        ))
    }

    /// Takes note of where history ends, now that it was read and checked.
    pub(super) fn know(&mut self, seen: Seen) {
        self.known = Some(seen);
    }

    /// Brings the file to where history ends. That has to be durable itself first: a process that
    /// was killed may have left a record that is not.
    pub(super) fn settle(&mut self, journal: &Journal) -> Result<()> {
        let (Some(place), Some(known)) = (&self.place, self.known) else {
            return Ok(());
        };
        match &mut self.read {
            Some(read) if read.settled => {}
            Some(read) => {
                journal.sync()?;
                read.pin.write(known)?;
                read.pin.sync()?;
                read.settled = true;
                self.doubtful = false;
            }
            None => {
                journal.sync()?;
                self.read = Some(Read {
                    pin: place.create(known)?,
                    settled: true,
                });
                self.doubtful = false;
            }
        }
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
        if self.behind.wait().is_err() {
            self.doubt();
        } else if let Some(read) = &mut self.read {
            let unsynced = read.pin.write(next).and_then(|()| read.pin.unsynced());
            read.settled = unsynced.is_ok();
            if let Ok(unsynced) = unsynced {
                self.behind.start(unsynced);
            }
        }
    }

    /// What failed once is written anew: a sync that is tried again is not to be believed.
    fn doubt(&mut self) {
        self.doubtful = true;
        if let Some(read) = &mut self.read {
            read.settled = false;
        }
    }
}

fn rolled_back(seen: Moment, head: ObjectId) -> Error {
    Error::RolledBack {
        event: seen.event,
        seen: seen.commit.to_string(),
        found: head.to_string(),
    }
}

/// Whether history that ends at `head` holds this moment. It costs as much as there is newer than
/// that.
fn is_in(repository: &Repository, head: ObjectId, seen: Seen) -> Result<bool> {
    let mut next = Some(head);
    while let Some(id) = next {
        let (commit, bytes) = repository.commit(id)?;
        if seen.moment.commit == id && seen.digest == Digest::of(&bytes) {
            return Ok(true);
        }
        next = commit.parent;
    }
    Ok(false)
}

impl Store {
    /// Takes note of where history ends: in this process, and outside the store where that can be
    /// written. Where it cannot, whoever only looks is not kept from looking; a command is.
    pub(super) fn note_head(&mut self) {
        self.know_head();
        self.pinning.unkept = self.pinning.settle(&self.journal).err();
    }

    pub(super) fn know_head(&mut self) {
        self.pinning.know(Seen {
            moment: Moment {
                event: self.catalog.events.saturating_sub(1),
                commit: self.journal.head(),
            },
            digest: self.chain,
        });
    }

    /// Where history ends now, and a signed note that says so, for an auditor to keep. Making one
    /// is not an event.
    ///
    /// # Errors
    /// [`Error::NoSigningKey`], [`Error::NotASigner`] or [`Error::Signing`] without the key
    /// of a signer who may write now.
    pub fn checkpoint(&mut self) -> Result<(Checkpoint, String)> {
        let lock = self.lock()?;
        self.refresh()?;
        // What is signed for must not be lost with the power.
        self.journal.sync()?;
        let (key, signer) = self.signer_now()?;
        let head = self.journal.head();
        let time = self
            .catalog
            .times
            .last
            .ok_or_else(|| Error::damaged("history", "it has no event"))?;
        let checkpoint = Checkpoint {
            store: self.id,
            events: self.catalog.events,
            digest: self.chain,
            commit: head,
            time,
        };
        let note = checkpoint.to_note(signer.name(), key)?;
        drop(lock);
        Ok((checkpoint, note))
    }

    /// Opens a store whose history no longer contains the newest moment that was seen of it, or whose
    /// keyring is not the one that history names, and records that somebody accepts that. From there
    /// on history and keys are what they are now. Answers the store, the moment that is lost, if one
    /// is, and what was recorded.
    ///
    /// # Errors
    /// [`Error::NotRolledBack`] if there is nothing to accept, [`Error::Invalid`] without a reason
    /// in `context`; then nothing is recorded. Otherwise as for [`Store::open`] and
    /// [`Store::execute`].
    pub fn accept_rollback(
        root: &Path,
        keys: Keys,
        clock: Clock,
        context: &Context,
    ) -> Result<(Self, Option<Moment>, Meta)> {
        if context
            .reason
            .as_deref()
            .is_none_or(|reason| reason.trim().is_empty())
        {
            return Err(Error::Invalid {
                what: "the reason",
                why: "a rollback is accepted only with one".into(),
            });
        }
        let (mut store, lock, lost) = Self::open_checked(root, keys, clock, Pinning::accept)?;
        store.know_head();
        let keys = store.check_keyring().is_err();
        if lost.is_none() && !keys {
            return Err(Error::NotRolledBack);
        }
        let mut redactions = Vec::new();
        let mut event = store.event(ACCEPT_COMMAND, context, &mut redactions)?;
        event.redactions.clone_from(&redactions);
        event.lost = lost;
        if keys {
            event.keys = Some(store.keyring.commitment()?);
        }
        let (event, commit) = store.record(event, Sealing::default())?;
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
}
