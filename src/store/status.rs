//! The status of a store, and verbs on it as a whole: checkpoint, auditor's kit, compaction,
//! permissions, and accepting a rollback.

use std::fmt;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};

use crate::crypto::digest::Digest;
use crate::crypto::recipients::Member;
use crate::crypto::sign::SignerEntry;
use crate::disk::Folder;
use crate::error::{Error, Result};
use crate::event::Context;
use crate::id::{ObjectId, StoreId};
use crate::journal;
use crate::keyring;
use crate::repository::Repository;
use crate::store::answer::Meta;
use crate::store::audit_kit;
use crate::store::journal_checkpoint::{self, Compacted, StorageStats};
use crate::store::pin::SeenMoment;
use crate::store::rekey::ProgressFn;
use crate::store::rollback_check::{self, LostMoment};
use crate::store::signed_checkpoint::{Checkpoint, FileDigest};
use crate::store::signers::signer_now;
use crate::store::sweep::unexpired;
use crate::store::{Clock, Keys, Signer, State, Store, keyring_location};

/// A summary of a store.
#[derive(Debug)]
#[non_exhaustive]
pub struct Status {
    /// The store's folder.
    pub path: PathBuf,
    /// Its id.
    pub id: StoreId,
    /// The newest commit.
    pub head: ObjectId,
    /// Memories that exist and have not expired.
    pub memories: usize,
    /// Expired memories: hidden from agents, until a sweep removes them.
    pub expired: usize,
    /// Memories that are marked for erasure, but still have keys.
    pub marked: usize,
    /// Holds in force.
    pub holds: usize,
    /// Time and event of the last sweep.
    pub last_sweep: Option<(DateTime<Utc>, u64)>,
    /// Versions ever written.
    pub versions: u64,
    /// Events recorded.
    pub events: u64,
    /// Bytes of text in the live memories.
    pub text_bytes: u64,
    /// Total length of the store's files in bytes.
    pub file_bytes: u64,
    /// Ciphertext in history in bytes, as counted for the limit.
    pub history_bytes: u64,
    /// That limit; 0 means none.
    pub history_bytes_max: u64,
    /// Time of the last event.
    pub last_event: Option<DateTime<Utc>>,
    /// The members who can open the store.
    pub recipients: Vec<Member>,
    /// True if the store is for trials: its times may be made up.
    pub trial: bool,
    /// The signers who may write to the store.
    pub signers: Vec<Signer>,
    /// The store of which this is a copy, or its former place, as far as this user has seen.
    pub copy_of: Option<CopyOf>,
    /// Problems, a sentence each; empty if none was found.
    pub problems: Vec<String>,
}

/// The totals of a store, for monitoring.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Totals {
    /// Events recorded.
    pub events: u64,
    /// Memories that exist, also those that expired and are not swept yet.
    pub memories: u64,
    /// Those that expired and are not swept yet.
    pub expired: u64,
    /// Time when the first of these expired.
    pub oldest_expired: Option<DateTime<Utc>>,
    /// Bytes of the text of all memories.
    pub text_bytes: u64,
    /// Holds in force.
    pub holds: u64,
    /// Memories that are marked for erasure, but still have keys.
    pub marked: u64,
    /// Ciphertext in history in bytes, as counted for the limit.
    pub history_bytes: u64,
    /// That limit; 0 means none.
    pub history_bytes_max: u64,
    /// Time of the last event.
    pub last_event: Option<DateTime<Utc>>,
    /// Time of the last sweep.
    pub last_sweep: Option<DateTime<Utc>>,
}

impl Store {
    /// Returns the totals of the store. Nothing is recorded. Where memories can expire, this reads
    /// from the catalog's file when each was last accessed.
    ///
    /// # Errors
    /// Any error of checking what others recorded meanwhile.
    pub fn totals(&mut self) -> Result<Totals> {
        if self.has_changed() {
            self.count_events()?;
        }
        let (catalog, unexpired) = (&self.state.catalog, unexpired(&self.state));
        let (mut count, mut oldest) = (0, None);
        unexpired.for_expired(|at| {
            count += 1;
            oldest = Some(oldest.map_or(at, |known: DateTime<Utc>| known.min(at)));
        });
        Ok(Totals {
            events: catalog.events,
            memories: catalog.len() as u64,
            expired: count,
            oldest_expired: oldest,
            text_bytes: catalog.bytes(),
            holds: catalog.holds.len() as u64,
            marked: catalog.marked.len() as u64,
            history_bytes: catalog.history_bytes,
            history_bytes_max: self.limits().history_bytes,
            last_event: catalog.times.last,
            last_sweep: catalog.swept.map(|(time, _)| time),
        })
    }

    /// Gathers a summary. Nothing is recorded, because no memory is opened.
    ///
    /// # Errors
    /// [`Error::Io`] if the store's files cannot be listed.
    pub fn status(&self) -> Result<Status> {
        let unexpired = unexpired(&self.state).len();
        Ok(Status {
            path: self.ledger.root.path().to_owned(),
            id: self.state.id,
            head: self.ledger.journal.head(),
            memories: unexpired,
            expired: self.state.catalog.len() - unexpired,
            marked: self.state.catalog.marked.len(),
            holds: self.state.catalog.holds.len(),
            last_sweep: self.state.catalog.swept,
            versions: self.state.catalog.versions,
            events: self.state.catalog.events,
            text_bytes: self.state.catalog.bytes(),
            file_bytes: self
                .ledger
                .root
                .bytes_below()
                .map_err(Error::io("read", self.ledger.root.path()))?,
            history_bytes: self.state.catalog.history_bytes,
            history_bytes_max: self.limits().history_bytes,
            last_event: self.state.catalog.times.last,
            recipients: self.state.config.members.clone(),
            trial: self.is_trial(),
            signers: self.signer_list(),
            copy_of: copy_of(self)?,
            problems: problems(self),
        })
    }

    /// Looks for every memory's key and content, as far as that goes without decrypting anything.
    /// Returns a sentence for each of the two that some lack. Takes 15 microseconds for each memory.
    /// Also reads the whole journal, of which opening the store reads only what the branch lacks.
    ///
    /// # Errors
    /// [`Error::Io`] or [`Error::Damaged`] if the journal, the keyring or the packs cannot be read.
    pub fn lost_memories(&self) -> Result<Vec<String>> {
        self.ledger.journal.records()?;
        let mut problems = Vec::new();
        // An auditor has no keys to texts.
        let is_reader = self.ledger.keyring.is_reader();
        let (mut keyless, mut missing) = (0, 0);
        for memory in self.state.catalog.memories() {
            keyless += usize::from(is_reader && !self.ledger.keyring.has(memory.id)?);
            missing += usize::from(!self.ledger.repository.has(memory.blob)?);
        }
        let all = self.state.catalog.len();
        if missing > 0 {
            problems.push(format!(
                "the content of {missing} of {all} memories is lost; restore the objects folder from a \
                 backup"
            ));
        }
        if keyless > 0 {
            problems.push(format!(
                "the keyring has no keys to {keyless} of {all} memories, so these cannot be decrypted; \
                 restore the keyring from the same backup as the repository"
            ));
        }
        Ok(problems)
    }

    /// Makes a checkpoint: the newest commit and a signed note of it, for an auditor to keep. This
    /// is not an event.
    ///
    /// # Errors
    /// [`Error::NoSigningKey`], [`Error::NotASigner`] or [`Error::Signing`] if the key is not that
    /// of a signer who may write now.
    pub fn checkpoint(&mut self) -> Result<(Checkpoint, String)> {
        rollback_check::checkpoint(self, None)
    }

    /// Makes a signed note on a file: its SHA-256 and length, and the newest commit. This is not an
    /// event.
    ///
    /// # Errors
    /// The errors of [`Store::checkpoint`].
    pub fn sign_file(&mut self, file: &FileDigest) -> Result<(Checkpoint, String)> {
        rollback_check::checkpoint(self, Some(file))
    }

    /// Makes an auditor's kit in a new or empty folder: a mirror of the repository with every
    /// acknowledged event, the two files of the keyring that an auditor's role opens, a signed
    /// checkpoint, which is returned, and a page that says what to do with them. The folder is
    /// there once all of it is. Like a checkpoint, a kit is not an event: what it hands out the
    /// auditor may open anyway.
    ///
    /// # Errors
    /// [`Error::Membership`] if nobody has that name, [`Error::Invalid`] for a reader,
    /// [`Error::Export`] if something is in the way; otherwise as for [`Store::checkpoint`].
    pub fn audit_kit(
        &mut self,
        auditor: &str,
        folder: &Path,
        progress: &mut ProgressFn<'_>,
    ) -> Result<Checkpoint> {
        audit_kit::audit_kit(self, auditor, folder, progress)
    }

    /// Opens a store that is refused for a rollback, and records that the caller accepts it. It is
    /// refused if its history no longer contains the newest moment seen of it, if another store was
    /// seen at this place, or if history does not name its keyring. From then on, the present state
    /// counts. Returns the store, the loss, if any, and the facts about the recorded event.
    ///
    /// # Errors
    /// [`Error::NotRolledBack`] if there is nothing to accept, [`Error::Invalid`] without a reason
    /// in `context`; then nothing is recorded. Otherwise the errors of [`Store::open`] and
    /// [`Store::execute`].
    pub fn accept_rollback(
        root: &Path,
        keys: Keys,
        clock: Clock,
        context: &Context,
    ) -> Result<(Self, Option<LostMoment>, Meta)> {
        rollback_check::accept_rollback(root, keys, clock, context)
    }

    /// Returns the storage in use: packs, objects and bytes.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn storage_stats(&self) -> Result<StorageStats> {
        journal_checkpoint::storage_stats(&self.ledger)
    }

    /// Packs all objects, from the newest commit back, into a single pack. Others can use the store
    /// meanwhile. This is not an event: it does not change history.
    ///
    /// # Errors
    /// [`Error::Io`], also if the disk has no room for the new pack beside the old files;
    /// [`Error::Locked`] if another compaction is running. Then nothing is lost or changed.
    pub fn compact(&mut self, progress: &mut ProgressFn<'_>) -> Result<Compacted> {
        journal_checkpoint::compact(self, progress)
    }

    /// Removes other users' access to the store's folder, its keyring and the keyring's files.
    /// Returns a sentence for each change and for each failure.
    #[must_use]
    pub fn restrict_permissions(root: &Path) -> Vec<String> {
        keyring_location::restrict_permissions(root)
    }

    /// Does the same as [`Store::restrict_permissions`], for a keyring outside the store.
    #[must_use]
    pub fn restrict_keyring_permissions(&self) -> Vec<String> {
        keyring_location::restrict_keyring_permissions(&self.ledger)
    }

    /// Returns a notice if this user opened a store at this place for the first time; `None` from
    /// the next time on.
    #[must_use]
    pub fn first_use(&self) -> Option<FirstUse> {
        let (path, owner) = self.ledger.rollback_check.first_use()?;
        Some(FirstUse {
            store: self.state.id,
            path: path.to_owned(),
            owner: owner.fingerprint(),
            copy_of: copy_of(self).ok().flatten(),
        })
    }
}

fn problems(store: &Store) -> Vec<String> {
    let mut problems: Vec<String> = store.ledger.keyring.problems().collect();
    problems.extend(store.ledger.rollback_check.problem());
    if keyring::has_staged(store.ledger.keyring.folder()) {
        problems.push(
            "a change of keys was not finished; repeat that command, or run `agekeep keys replace`"
                .into(),
        );
    }
    if !store.state.catalog.marked.is_empty() {
        problems.push(format!(
            "{} memories are marked for erasure but still have their keys; the next command of a \
             reader who may write destroys these",
            store.state.catalog.marked.len()
        ));
    }
    if let Some(numbers) = store.state.catalog.erased
        && store.ledger.keyring.is_before(numbers)
    {
        problems.push(
            "the keyring is a copy from before an erasure; agekeep does not use its erased keys, \
             and the next command of a reader who may write destroys them again"
                .into(),
        );
    }
    problems.extend(without_role(&store.state));
    match signer_now(store).map(drop) {
        Ok(()) => {}
        Err(Error::NotASigner { fingerprint }) => problems.push(format!(
            "your signing key {fingerprint} may not write to this store; name another with \
             --signing-key"
        )),
        Err(untimely @ Error::Signing(_)) => {
            problems.push(format!("{untimely}; name another with --signing-key"));
        }
        Err(_) => problems.push(
            "you have no signing key, so nothing can be recorded; name one with --signing-key"
                .into(),
        ),
    }
    let last = store.state.catalog.times.last;
    if let Some(ahead) = last.filter(|last| *last > (store.state.clock)()) {
        problems.push(format!(
            "the last event is in the future ({ahead}); check the clock"
        ));
    }
    for path in keyring_location::exposed_paths(&store.ledger.root, store.ledger.keyring.folder()) {
        problems.push(format!(
            "others can read {path}; run `chmod go= {path}`",
            path = path.display()
        ));
    }
    problems
}

/// Lists the signers without a role: their lines are older than roles.
fn without_role(state: &State) -> Option<String> {
    let entries = state.config.signers.entries();
    let without = entries.filter(|entry| !entry.says_role());
    let names: Vec<&str> = without.map(SignerEntry::name).collect();
    (!names.is_empty()).then(|| {
        format!(
            "the signers {} have no role, so each may do everything; set a role with `agekeep \
             signers role NAME ROLE`: owner, writer, sweeper or auditor",
            names.join(", ")
        )
    })
}

// Notices about a store that is new at its place, and about copies.

/// A store at a place where this user has never seen one.
#[derive(Debug)]
#[non_exhaustive]
pub struct FirstUse {
    /// The store's id.
    pub store: StoreId,
    /// The place.
    pub path: PathBuf,
    /// The fingerprint (`SHA256:…`) of the key that made the store.
    pub owner: String,
    /// The place where the same store was seen before, if any.
    pub copy_of: Option<CopyOf>,
}

/// Another place where the same store was seen.
#[derive(Debug)]
#[non_exhaustive]
pub struct CopyOf {
    /// Its path; `None` if no longer recorded.
    pub path: Option<PathBuf>,
    /// True if a store is still there.
    pub is_there: bool,
    /// The distance of this history from the moment seen there.
    pub distance: Distance,
}

/// The distance of a history from a moment seen of its copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distance {
    /// The history has this many fewer events.
    Behind(u64),
    /// The history ends at that moment.
    Even,
    /// The history contains that moment, and has this many events after it.
    Ahead(u64),
    /// Each of the two has events that the other lacks.
    Apart,
}

/// Returns the store of which this is a copy, or its former place, as far as this user has seen.
fn copy_of(store: &Store) -> Result<Option<CopyOf>> {
    let Some(other) = store.ledger.rollback_check.copy_of() else {
        return Ok(None);
    };
    let distance = distance_to(store, other.seen)?;
    let has_parted = || {
        let path = other.path.as_deref();
        path.is_some_and(|path| has_parted(store, path, other.seen).unwrap_or(false))
    };
    Ok(Some(CopyOf {
        is_there: other.is_there(),
        distance: match distance {
            Distance::Behind(_) if has_parted() => Distance::Apart,
            distance => distance,
        },
        path: other.path,
    }))
}

/// Tells whether a history that is behind what was seen at `path` has events of its own: the store
/// there knows the events between.
fn has_parted(store: &Store, path: &Path, seen: SeenMoment) -> Result<bool> {
    let there = Folder::at(path).map_err(Error::io("open", path))?;
    let there = Repository::open_lenient(&there, journal::find);
    let mut at = seen.moment.commit;
    for _ in store.state.catalog.events..=seen.moment.event {
        match there.peek_parent(at)? {
            Some(parent) => at = parent,
            None => return Ok(true),
        }
    }
    Ok(at != store.ledger.journal.head())
}

fn distance_to(store: &Store, seen: SeenMoment) -> Result<Distance> {
    let newest = store.state.catalog.events.saturating_sub(1);
    let Some(ahead) = newest.checked_sub(seen.moment.event) else {
        return Ok(Distance::Behind(seen.moment.event - newest));
    };
    let mut at = store.ledger.journal.head();
    for _ in 0..ahead {
        match store.ledger.repository.commit(at)?.0.parent {
            Some(parent) => at = parent,
            None => return Ok(Distance::Apart),
        }
    }
    let is_it = at == seen.moment.commit;
    if !is_it || Digest::of(&store.ledger.repository.commit(at)?.1) != seen.digest {
        return Ok(Distance::Apart);
    }
    Ok(match ahead {
        0 => Distance::Even,
        ahead => Distance::Ahead(ahead),
    })
}

impl fmt::Display for FirstUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (store, path, owner) = (self.store, self.path.display(), &self.owner);
        write!(
            f,
            "first use of the store {store} at {path}, which {owner} created"
        )?;
        self.copy_of
            .as_ref()
            .map_or(Ok(()), |copy| write!(f, "; it is {copy}"))
    }
}

impl fmt::Display for CopyOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.path.as_ref();
        let place = place.map_or("another place".into(), |path| path.to_string_lossy());
        if self.is_there {
            write!(f, "a copy of the store at {place}, ")?;
        } else {
            write!(f, "the store that was at {place} before, ")?;
        }
        let events = |count: u64| match count {
            1 => "1 event".to_owned(),
            count => format!("{count} events"),
        };
        match self.distance {
            Distance::Behind(count) => {
                write!(f, "{} behind what was seen there", events(count))
            }
            Distance::Even => write!(f, "and ends with what was seen there"),
            Distance::Ahead(count) => {
                write!(f, "{} ahead of what was seen there", events(count))
            }
            Distance::Apart => write!(f, "and does not contain what was seen there"),
        }
    }
}
