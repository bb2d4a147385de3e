//! History as the source of truth: recovery after an unclean stop, and the catalog, which is
//! computed by replaying all events.

pub(super) mod replay;

use std::time::Instant;

use self::replay::{Replay, renew_catalog_file};
use crate::crypto::digest::Digest;
use crate::crypto::seal::Identity;
use crate::disk::{Folder, Lock, Name};
use crate::error::{Error, Result};
use crate::event::PublicFile;
use crate::id::ObjectId;
use crate::journal::{Journal, JournalRecord};
use crate::keyring::backup::StagedBackup;
use crate::keyring::{self, Keyring};
use crate::repository::Repository;
use crate::repository::object::Object;
use crate::state::catalog::file::CatalogFile;
use crate::state::catalog::{Catalog, ConfigBlobs};
use crate::store::config::{StoreConfig, reload_config};
use crate::store::erase::unreadable::finish_pending_erasures;
use crate::store::journal_checkpoint::{checkpoint, checkpoint_without_keys};
use crate::store::keyring_location::{check_keyring, follow_keyring, misfit};
use crate::store::rekey::upgrade;
use crate::store::rollback_check::remember_head;
use crate::store::{Ledger, Store};

pub(super) use self::replay::{check_all, rebuild_state};

/// The work that remains after an unclean stop, once the objects are in place. The ref comes last:
/// while it points at an earlier commit, the next open does all of this again.
pub(crate) struct PendingRecovery {
    records: Vec<JournalRecord>,
    head: ObjectId,
}

impl PendingRecovery {
    /// Tells whether keys wait to be put in their places.
    fn has_keys(&self) -> bool {
        self.records.iter().any(|record| !record.keys.is_empty())
    }

    /// Puts key entries where the journal says they belong, and then the ref.
    pub(crate) fn finish(self, repository: &Repository, keyring: &mut Keyring) -> Result<()> {
        keyring.refresh()?;
        for record in &self.records {
            keyring.replay(&record.keys)?;
        }
        repository.set_head(self.head)
    }

    /// Puts a staged keyring in place, before any is opened.
    pub(crate) fn place_keyring(&self, folder: &Folder) -> Result<()> {
        for record in &self.records {
            if let Some(id) = keyring::staged_id_of(&record.keys)? {
                keyring::install_staged_files(folder, id)?;
            }
        }
        Ok(())
    }
}

/// Writes the journal's objects to the repository unless they are known to be there: if the ref
/// lags behind, or if nothing is `trusted` because the machine has rebooted. Returns the remaining
/// work.
pub(crate) fn restore_objects(
    repository: &Repository,
    journal: &Journal,
    trusted: bool,
) -> Result<Option<PendingRecovery>> {
    let (found, head) = (repository.head()?, journal.head());
    if found == Some(head) && trusted {
        return Ok(None);
    }
    if let Some(found) = found.filter(|found| !journal.knows(*found)) {
        return Err(stray(repository, found, head));
    }
    repository.remove_temporary_objects();
    let records = journal.records()?;
    // While the machine runs, everything that the branch reaches is in place.
    let placed = found.filter(|_| trusted);
    let objects = objects_after(&records, placed);
    if journal.is_read_only() && found == Some(head) {
        // A read-only store cannot be repaired, so every object has to be whole.
        objects
            .map(|object| object.id)
            .try_for_each(|id| repository.check(id))?;
        return Ok(None);
    }
    // A killed process may have left a record that is not durable. Its objects may not be in place
    // before it is.
    journal.sync()?;
    for object in objects {
        if crate::repository::name(object.kind, &object.bytes) != object.id {
            let why = format!("what it holds as {} does not hash to that", object.id);
            return Err(Error::damaged("the journal", why));
        }
        repository.write(object)?;
    }
    Ok(Some(PendingRecovery { records, head }))
}

/// Returns the objects of the records after the commit `placed`, of all records if it is before them.
fn objects_after(
    records: &[JournalRecord],
    placed: Option<ObjectId>,
) -> impl Iterator<Item = &Object> {
    let holds = |record: &JournalRecord| record.objects.iter().any(|o| Some(o.id) == placed);
    let first = records.iter().position(holds).unwrap_or(0);
    records[first..].iter().flat_map(|record| &record.objects)
}

/// Opens the journal. A copy that git made has none, and history ends where the branch says.
pub(super) fn open_journal(root: &Folder, repository: &Repository) -> Result<Journal> {
    match repository.head()? {
        Some(head) if !root.has(&Name::JOURNAL) => Ok(Journal::absent(root, head)),
        Some(head) => Journal::open_at(root, head),
        None => Journal::open(root),
    }
}

/// Returns the end of history, with every object of it in its place, for whoever copies objects and
/// needs no key.
pub(crate) fn placed_head(root: &Folder, repository: &Repository) -> Result<ObjectId> {
    let lock = Lock::acquire(root)?;
    let journal = open_journal(root, repository)?;
    restore_objects(repository, &journal, !journal.is_from_another_boot())?;
    drop(lock);
    Ok(journal.head())
}

/// Moves the end of history from one commit to a later one, whose objects are durable in their
/// places, and puts the keyring in place that comes with it. `begins` is called right before anything
/// changes. Returns `false`, and changes nothing, if history does not end at the first any more, or if
/// the keyring that was made ready is gone.
pub(crate) fn fast_forward(
    root: &Folder,
    repository: &Repository,
    (from, to): (ObjectId, ObjectId),
    keys: Option<(&mut StagedBackup, &Identity)>,
    begins: impl FnOnce(),
) -> Result<bool> {
    let lock = Lock::acquire(root)?;
    let mut journal = open_journal(root, repository)?;
    let unclean = restore_objects(repository, &journal, !journal.is_from_another_boot())?;
    let is_ready = keys.as_ref().is_none_or(|(staged, _)| staged.is_whole());
    if journal.head() != from || !is_ready {
        return Ok(false);
    }
    let mut record = JournalRecord {
        parent: from,
        head: to,
        objects: Vec::new(),
        keys: Vec::new(),
    };
    if let Some((staged, identity)) = keys {
        // No journal has entries for two rings, so that one begins here, and another after it.
        let opened = |head| keyring_as_of(repository, head, staged.keyring(), identity);
        if journal.is_absent() {
            journal.start_anew()?;
        } else if !staged.keyring().has(&Name::AUDIT) {
            // A keyring that never came, or is lost. What the journal has for its tables is lost with it.
            checkpoint_without_keys(repository, &mut journal)?;
        } else {
            let mut keyring = opened(from)?;
            if let Some(unclean) = unclean {
                unclean.finish(repository, &mut keyring)?;
            }
            checkpoint(repository, &keyring, &mut journal)?;
        }
        begins();
        record.keys.push(staged.record());
        journal.append(&record)?;
        staged.install()?;
        repository.set_head(to)?;
        let keyring = keyring_as_of(repository, to, staged.keyring(), identity)?;
        checkpoint(repository, &keyring, &mut journal)?;
        return Ok(true);
    }
    match unclean {
        // Whoever opens the keyring puts them in place first.
        Some(unclean) if unclean.has_keys() => return Ok(false),
        Some(_) => repository.set_head(from)?,
        None => {}
    }
    begins();
    if !journal.is_absent() {
        // The commit point: from here on a crash leaves only the ref behind.
        journal.append(&record)?;
    }
    repository.set_head(to)?;
    repository.sync_head()?;
    drop(lock);
    Ok(true)
}

/// Writes the catalog of a history that was verified, if the store's history ends there: nobody reads all of
/// it again, with the store's lock.
pub(crate) fn keep_catalog(
    root: &Folder,
    repository: &Repository,
    keyring: &Keyring,
    catalog: &mut Catalog,
) -> Result<()> {
    let lock = Lock::acquire(root)?;
    if catalog.head == Some(open_journal(root, repository)?.head()) {
        let name = keyring.cache_name(Name::CATALOG, Name::AUDITORS_CATALOG);
        let mut file = CatalogFile::new(root, name, keyring.store());
        file.write_root(catalog, keyring.cache_key());
    }
    drop(lock);
    Ok(())
}

/// Puts the keyring in place that a record of the journal names, after an unclean stop.
pub(crate) fn place_staged(root: &Folder, repository: &Repository, folder: &Folder) -> Result<()> {
    let lock = Lock::acquire(root)?;
    place_pending(root, repository, folder)?;
    drop(lock);
    Ok(())
}

/// As [`place_staged`]; removes what other backups and mail were restored to: its keys may be erased since.
pub(crate) fn clear_staged(root: &Folder, repository: &Repository, folder: &Folder) -> Result<()> {
    let lock = Lock::acquire(root)?;
    place_pending(root, repository, folder)?;
    keyring::remove_staged_backups(folder)?;
    drop(lock);
    Ok(())
}

fn place_pending(root: &Folder, repository: &Repository, folder: &Folder) -> Result<()> {
    let journal = open_journal(root, repository)?;
    let trusted = !journal.is_from_another_boot();
    let unclean = restore_objects(repository, &journal, trusted)?;
    unclean.map_or(Ok(()), |unclean| unclean.place_keyring(folder))
}

fn keyring_as_of(
    repository: &Repository,
    head: ObjectId,
    folder: &Folder,
    identity: &Identity,
) -> Result<Keyring> {
    let config = StoreConfig::read(repository, config_blobs_at(repository, head)?)?;
    Keyring::open_of(folder, config.id, identity, &config.members)
}

/// Reads what other processes have written to the journal. Returns `false` if it is another journal
/// now.
fn refresh_journal(ledger: &mut Ledger) -> Result<bool> {
    if ledger.journal.is_absent() {
        ledger.journal = open_journal(&ledger.root, &ledger.repository)?;
        return Ok(false);
    }
    let (head, inode) = (ledger.journal.head(), ledger.journal.inode());
    ledger.journal.refresh()?;
    if ledger.journal.head() != head {
        ledger.others_came = Some(Instant::now());
    }
    Ok(ledger.journal.inode() == inode)
}

/// Returns the error for a ref at a commit that the journal does not know. A ref that is ahead was
/// set by an acknowledged command or by a stranger; in both cases it may not be moved back.
fn stray(repository: &Repository, found: ObjectId, head: ObjectId) -> Error {
    let parent = |id| {
        repository
            .commit(id)
            .ok()
            .and_then(|(commit, _)| commit.parent)
    };
    Error::HeadMoved {
        found: found.to_string(),
        expected: head.to_string(),
        ahead: std::iter::successors(Some(found), |id| parent(*id)).any(|id| id == head),
    }
}

/// Tells whether the branch points at a store's history, and not at something else.
pub(super) fn is_store(repository: &Repository) -> bool {
    let head = repository.head().ok().flatten();
    head.is_some_and(|head| config_blobs_at(repository, head).is_ok())
}

/// Returns the blobs of `agekeep.toml`, `recipients` and `signers` in a commit.
pub(crate) fn config_blobs_at(repository: &Repository, commit: ObjectId) -> Result<ConfigBlobs> {
    let (commit, _) = repository.commit(commit)?;
    config_blobs_in(repository, commit.tree)
}

pub(super) fn config_blobs_in(repository: &Repository, tree: ObjectId) -> Result<ConfigBlobs> {
    let [policy, recipients, signers] =
        repository.files_in(tree, PublicFile::ALL.map(PublicFile::name))?;
    let there = |blob: Option<ObjectId>, file: PublicFile| {
        let why = || format!("it has no {}", file.name());
        blob.ok_or_else(|| Error::damaged(format!("tree {tree}"), why()))
    };
    Ok(ConfigBlobs {
        policy: there(policy, PublicFile::Policy)?,
        recipients: there(recipients, PublicFile::Recipients)?,
        signers: there(signers, PublicFile::Signers)?,
    })
}

/// Loads what other processes have done, and puts in place what this one has deferred. Requires the
/// store's lock.
pub(super) fn refresh(store: &mut Store) -> Result<()> {
    refresh_for_commands(store)?;
    store.ledger.repository.place_deferred()
}

/// Loads what other processes have done, before commands of agents, which need no object in its
/// place. Requires the store's lock.
pub(super) fn refresh_for_commands(store: &mut Store) -> Result<()> {
    let ledger = &mut store.ledger;
    let is_same_journal = refresh_journal(ledger)?;
    let unclean = restore_objects_of_others(ledger, is_same_journal)?;
    let head = ledger.journal.head();
    ledger.rollback_check.check(&ledger.repository, head)?;
    follow_keyring(store, unclean.as_ref())?;
    if let Some(unclean) = unclean {
        unclean.finish(&store.ledger.repository, &mut store.ledger.keyring)?;
    }
    store.ledger.keyring.refresh()?;
    if store.state.catalog.head != Some(store.ledger.journal.head()) {
        catch_up(store)?;
    }
    reload_config(store)?;
    let members = &store.state.config.members;
    store.ledger.keyring.expect_role_of(members);
    load_trees(&mut store.ledger)?;
    check_keyring(store)?;
    // If these fail, the old keys are still not used, and nothing is recorded. The trees are
    // then not loaded.
    drop(upgrade(store));
    drop(finish_pending_erasures(store));
    load_trees(&mut store.ledger)?;
    remember_head(store);
    Ok(())
}

/// Writes the journal's objects to the repository if the ref lags behind, unless this process put
/// them off itself. Returns the remaining work.
fn restore_objects_of_others(
    ledger: &mut Ledger,
    is_same_journal: bool,
) -> Result<Option<PendingRecovery>> {
    let (repository, journal) = (&ledger.repository, &ledger.journal);
    let count = repository.deferred_count();
    if repository.has_deferred(journal.head())? {
        // Whoever reads the store meanwhile puts them in place. A checkpoint does so too, and
        // begins a new journal.
        if repository.deferred_count() < count && is_same_journal {
            ledger.others_came = Some(Instant::now());
        }
        return Ok(None);
    }
    let unclean = restore_objects(repository, journal, true)?;
    repository.forget_deferred();
    Ok(unclean)
}

/// Loads the trees of the newest commit, unless they are loaded. After a command that could not be
/// recorded they are not.
fn load_trees(ledger: &mut Ledger) -> Result<()> {
    if ledger.trees.root_id().is_some() {
        return Ok(());
    }
    let (commit, bytes) = ledger.repository.commit(ledger.journal.head())?;
    ledger.chain = Digest::of(&bytes);
    ledger.trees.load(&ledger.repository, commit.tree)
}

/// Brings the catalog up to the newest commit: from its file as far as that goes, then from
/// history.
pub(super) fn catch_up(store: &mut Store) -> Result<()> {
    let (ledger, catalog) = (&mut store.ledger, &mut store.state.catalog);
    let key = ledger.keyring.cache_key();
    ledger.catalog_file.load(catalog, key);
    // Whoever holds the cache key can have written other public files there.
    if let Some(head) = catalog.head
        && config_blobs_at(&ledger.repository, head).ok() != catalog.decided
    {
        *catalog = Catalog::empty();
    }
    let missing = if let Some(missing) = commits_since(ledger, catalog.head)? {
        missing
    } else {
        *catalog = Catalog::empty();
        commits_since(ledger, None)?.unwrap_or_default()
    };
    replay(store, &missing)?;
    if let Some(id) = store.state.catalog.nameless() {
        let memory = id.to_string();
        return Err(misfit(store, Error::MissingKey { memory }));
    }
    store.state.catalog.check()?;
    renew_catalog_file(store);
    store.ledger.trees.forget();
    load_trees(&mut store.ledger)
}

/// Returns the commits after `known`, oldest first; `None` if history does not contain `known`.
///
/// Their parents are not checked here, except that a cycle is refused:
/// [`comes_after`](replay::CheckedCommit::comes_after) does it, when the commits are checked on
/// every core.
pub(super) fn commits_since(
    ledger: &Ledger,
    known: Option<ObjectId>,
) -> Result<Option<Vec<ObjectId>>> {
    commits_between(&ledger.repository, known, ledger.journal.head())
}

/// Replays commits into the catalog, in order.
fn replay(store: &mut Store, commits: &[ObjectId]) -> Result<()> {
    let (ledger, catalog) = (&mut store.ledger, &mut store.state.catalog);
    let (repository, keyring) = (&ledger.repository, &ledger.keyring);
    let mut fold = Replay::new(repository, catalog, &mut ledger.catalog_file, keyring)?;
    check_all(&ledger.root, keyring, commits, |checked| fold.add(&checked))
}

/// Returns the commits after `known` up to `newest`; `None` if `known` is no ancestor of `newest`.
pub(crate) fn commits_between(
    repository: &Repository,
    known: Option<ObjectId>,
    newest: ObjectId,
) -> Result<Option<Vec<ObjectId>>> {
    if let Ok(Some(commits)) = walk(known, newest, |id| repository.peek_parent(id)) {
        return Ok(Some(commits));
    }
    walk(known, newest, |id| Ok(repository.commit(id)?.0.parent))
}

/// Follows parents from a commit to `known`, and returns the commits after it. Fails if they form a
/// cycle, as only unchecked parents can.
fn walk(
    known: Option<ObjectId>,
    newest: ObjectId,
    parent: impl Fn(ObjectId) -> Result<Option<ObjectId>>,
) -> Result<Option<Vec<ObjectId>>> {
    let mut commits = Vec::new();
    let mut next = Some(newest);
    let mut mark = None;
    while next != known {
        let Some(id) = next else { return Ok(None) };
        if mark == next {
            return Err(Error::damaged(
                format!("commit {id}"),
                "it comes before itself",
            ));
        }
        commits.push(id);
        if commits.len().is_power_of_two() {
            mark = next;
        }
        next = parent(id)?;
    }
    commits.reverse();
    Ok(Some(commits))
}
