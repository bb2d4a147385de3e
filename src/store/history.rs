//! History as the truth: recovery after an unclean stop, and the catalog that events add up to.

pub(super) mod replay;

use crate::crypto::digest::Digest;
use crate::disk::{Folder, Name};
use crate::error::{Error, Result};
use crate::event::PublicFile;
use crate::id::ObjectId;
use crate::journal::{Journal, Record};
use crate::keyring::{self, Keyring};
use crate::repository::Repository;
use crate::state::catalog::{Catalog, Decided};
use crate::store::Ledger;
use crate::store::decide::follow_decisions;
use crate::store::erase::closed::complete_erasures;
use crate::store::history::replay::renew_catalog_file;
use crate::store::pinning::know_head;
use crate::store::place::check_keyring;
use crate::store::place::follow_keyring;
use crate::store::reseal::upgrade;

use self::replay::Fold;
use super::Store;
pub(super) use crate::store::history::replay::check_all;
pub(super) use crate::store::history::replay::refold;

/// What an unclean stop left to do once the objects are in their places. The ref comes last: as
/// long as it points at an earlier commit, the next open does all of this again.
pub(crate) struct Unclean {
    records: Vec<Record>,
    head: ObjectId,
}

impl Unclean {
    /// Brings key entries to where the journal says they are, and then the ref.
    pub(crate) fn finish(self, repository: &Repository, keyring: &mut Keyring) -> Result<()> {
        keyring.refresh()?;
        for record in &self.records {
            keyring.replay(&record.keys)?;
        }
        repository.set_head(self.head)
    }

    /// Brings a keyring that was made ready to its place: before any is opened.
    pub(crate) fn place_keyring(&self, folder: &Folder) -> Result<()> {
        for record in &self.records {
            if let Some(id) = keyring::next_of(&record.keys)? {
                keyring::take_next(folder, id)?;
            }
        }
        Ok(())
    }
}

/// Brings objects to where the journal says they are, if that is not known to be so: when the ref
/// lags behind, or when nothing is `trusted` because the machine was started anew. Answers what is
/// left to do then.
pub(crate) fn restore_objects(
    repository: &Repository,
    journal: &Journal,
    trusted: bool,
) -> Result<Option<Unclean>> {
    let (found, head) = (repository.head()?, journal.head());
    if found == Some(head) && trusted {
        return Ok(None);
    }
    if let Some(found) = found.filter(|found| !journal.knows(*found)) {
        return Err(stray(repository, found, head));
    }
    repository.remove_asides();
    let records = journal.records()?;
    let objects = records.iter().flat_map(|record| &record.objects);
    if journal.is_read_only() && found == Some(head) {
        // Nothing can be written anew: what is there has to be whole.
        objects
            .map(|object| object.id)
            .try_for_each(|id| repository.check(id))?;
        return Ok(None);
    }
    // A process that was killed may have left a record that is not durable: nothing may be in its
    // place before it is.
    journal.sync()?;
    for object in objects {
        if crate::repository::name(object.kind, &object.bytes) != object.id {
            let why = format!("what it holds as {} does not hash to that", object.id);
            return Err(Error::damaged("the journal", why));
        }
        repository.write(object)?;
    }
    Ok(Some(Unclean { records, head }))
}

/// Opens the journal. Where somebody has removed it, history is what the ref says.
pub(super) fn open_journal(root: &Folder, repository: &Repository) -> Result<Journal> {
    match repository.head()? {
        Some(head) if !root.has(&Name::JOURNAL) => {
            repository.sync()?;
            Journal::start(root, head)
        }
        _ => Journal::open(root),
    }
}

/// The ref points where the journal has never been. One that is ahead was set by a command that
/// was acknowledged, or by a stranger: either way nothing may be moved back.
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

/// Whether what the branch points at is the history of a store, and not of something else.
pub(super) fn is_store(repository: &Repository) -> bool {
    let head = repository.head().ok().flatten();
    head.is_some_and(|head| decided_at(repository, head).is_ok())
}

/// The blobs of `agekeep.toml`, `recipients` and `signers` in a commit.
pub(super) fn decided_at(repository: &Repository, commit: ObjectId) -> Result<Decided> {
    let (commit, _) = repository.commit(commit)?;
    decided_in(repository, commit.tree)
}

pub(super) fn decided_in(repository: &Repository, tree: ObjectId) -> Result<Decided> {
    let [policy, recipients, signers] =
        repository.files_in(tree, PublicFile::ALL.map(PublicFile::name))?;
    let there = |blob: Option<ObjectId>, file: PublicFile| {
        let why = || format!("it has no {}", file.name());
        blob.ok_or_else(|| Error::damaged(format!("tree {tree}"), why()))
    };
    Ok(Decided {
        policy: there(policy, PublicFile::Policy)?,
        recipients: there(recipients, PublicFile::Recipients)?,
        signers: there(signers, PublicFile::Signers)?,
    })
}

/// Follows what other processes have done. Called with the lock held, before every command.
pub(super) fn refresh(store: &mut Store) -> Result<()> {
    store.ledger.journal.refresh()?;
    let unclean = restore_objects(&store.ledger.repository, &store.ledger.journal, true)?;
    store
        .ledger
        .pinning
        .check(&store.ledger.repository, store.ledger.journal.head())?;
    follow_keyring(store, unclean.as_ref())?;
    if let Some(unclean) = unclean {
        unclean.finish(&store.ledger.repository, &mut store.ledger.keyring)?;
    }
    store.ledger.keyring.refresh()?;
    if store.state.catalog.head != Some(store.ledger.journal.head()) {
        catch_up(store)?;
    }
    follow_decisions(store)?;
    store
        .ledger
        .keyring
        .expect_of(&store.state.decisions.members);
    load_trees(&mut store.ledger)?;
    check_keyring(store)?;
    // If these cannot be done now: the keys are not used all the same, and nothing is recorded. The
    // trees are not at hand then.
    drop(upgrade(store));
    drop(complete_erasures(store));
    load_trees(&mut store.ledger)?;
    know_head(store);
    Ok(())
}

/// Makes sure that the trees held are those of the newest commit; after a command that could
/// not be recorded they are not.
fn load_trees(ledger: &mut Ledger) -> Result<()> {
    if ledger.trees.root_id().is_some() {
        return Ok(());
    }
    let (commit, bytes) = ledger.repository.commit(ledger.journal.head())?;
    ledger.chain = Digest::of(&bytes);
    ledger.trees.load(&ledger.repository, commit.tree)
}

/// Brings the catalog to the newest commit: from its file as far as that goes, then from
/// history.
pub(super) fn catch_up(store: &mut Store) -> Result<()> {
    store
        .ledger
        .catalog_file
        .load(&mut store.state.catalog, store.ledger.keyring.cache_key());
    // What the owner decided is added behind the step of its event: after a change of policy that
    // was cut off, only history says it.
    if let Some(head) = store.state.catalog.head
        && decided_at(&store.ledger.repository, head).ok() != store.state.catalog.decided
    {
        store.state.catalog = Catalog::empty();
    }
    let missing = if let Some(missing) = commits_since(&store.ledger, store.state.catalog.head)? {
        missing
    } else {
        store.state.catalog = Catalog::empty();
        commits_since(&store.ledger, None)?.unwrap_or_default()
    };
    fold(store, &missing)?;
    if let Some(id) = store.state.catalog.nameless() {
        return Err(Error::MissingKey {
            memory: id.to_string(),
        });
    }
    store.state.catalog.check()?;
    renew_catalog_file(store);
    store.ledger.trees.forget();
    load_trees(&mut store.ledger)
}

/// The commits after `known`, oldest first; `None` if history does not contain `known`.
///
/// What each says of its parent is not checked here, unless that leads nowhere: it is once the
/// commits are, on every core, by [`Checked::comes_after`].
pub(super) fn commits_since(
    ledger: &Ledger,
    known: Option<ObjectId>,
) -> Result<Option<Vec<ObjectId>>> {
    commits_between(&ledger.repository, known, ledger.journal.head())
}

/// Folds commits into the catalog, in their order.
fn fold(store: &mut Store, commits: &[ObjectId]) -> Result<()> {
    let (catalog, file) = (&mut store.state.catalog, &mut store.ledger.catalog_file);
    let mut fold = Fold::new(
        &store.ledger.repository,
        catalog,
        file,
        &store.ledger.keyring,
    )?;
    check_all(
        &store.ledger.root,
        &store.ledger.keyring,
        commits,
        |checked| fold.add(&checked),
    )
}

/// The commits after `known` up to `newest`; `None` if what `newest` ends does not contain `known`.
fn commits_between(
    repository: &Repository,
    known: Option<ObjectId>,
    newest: ObjectId,
) -> Result<Option<Vec<ObjectId>>> {
    if let Ok(Some(commits)) = walk(known, newest, |id| repository.peek_parent(id)) {
        return Ok(Some(commits));
    }
    walk(known, newest, |id| Ok(repository.commit(id)?.0.parent))
}

/// Follows parents from a commit to `known`, and answers what is after it. An error
/// if that goes round, which only parents do that are not checked.
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
