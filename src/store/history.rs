//! History as the truth: recovery after an unclean stop, and the fold of events into the catalog.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::catalog::{Catalog, Decided, Step};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::journal::{Journal, Record};
use crate::keyring::{self, Keyring};
use crate::repository::Repository;
use crate::repository::object::ObjectId;
use crate::sign::{SignedBy, Signers};

use super::Store;
use super::commit::author;

/// Commits that are opened at a time when history is read from an earlier point on.
pub(super) const FOLD_CHUNK: usize = 2_048;
/// Fewer commits than this are not worth a second thread.
const FOLD_THREAD_MIN: usize = 64;

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
    pub(crate) fn place_keyring(&self, folder: &Path) -> Result<()> {
        let keys = self.records.iter().map(|record| &record.keys[..]);
        keys.filter_map(keyring::next_of)
            .try_for_each(|id| keyring::take_next(folder, id))
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
pub(super) fn open_journal(root: &Path, repository: &Repository) -> Result<Journal> {
    let path = root.join("journal");
    match repository.head()? {
        Some(head) if !path.exists() => {
            repository.sync()?;
            Journal::start(&path, head)
        }
        _ => Journal::open(&path),
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
    let root = repository.tree(tree)?;
    let blob = |name: &str| {
        root.get(name)
            .filter(|entry| !entry.folder)
            .map(|entry| entry.id)
            .ok_or_else(|| Error::damaged(format!("tree {tree}"), format!("it has no {name}")))
    };
    Ok(Decided {
        policy: blob("agekeep.toml")?,
        recipients: blob("recipients")?,
        signers: blob("signers")?,
    })
}

/// A commit that was checked on its own: hash, signature, record.
pub(super) struct Checked {
    pub(super) id: ObjectId,
    digest: Digest,
    signed: SignedBy,
    author: String,
    pub(super) event: Event,
    tree: ObjectId,
    /// What its tree says the owner decided, where the event changes the tree.
    decided: Option<Decided>,
}

impl Store {
    /// Follows what other processes have done. Called with the lock held, before every command.
    pub(super) fn refresh(&mut self) -> Result<()> {
        self.journal.refresh()?;
        let unclean = restore_objects(&self.repository, &self.journal, true)?;
        self.pinning.check(&self.repository, self.journal.head())?;
        self.follow_keyring(unclean.as_ref())?;
        if let Some(unclean) = unclean {
            unclean.finish(&self.repository, &mut self.keyring)?;
        }
        self.keyring.refresh()?;
        if self.catalog.head != Some(self.journal.head()) {
            self.catch_up()?;
        }
        self.follow_decisions()?;
        self.load_trees()?;
        // If it cannot be done now, the keys are not used all the same.
        drop(self.complete_erasures());
        self.know_head();
        Ok(())
    }

    /// Makes sure that the trees held are those of the newest commit; after a command that could
    /// not be recorded they are not.
    fn load_trees(&mut self) -> Result<()> {
        if self.trees.root_id().is_some() {
            return Ok(());
        }
        let (commit, bytes) = self.repository.commit(self.journal.head())?;
        self.chain = Digest::of(&bytes);
        self.trees.load(&self.repository, commit.tree)
    }

    /// Brings the catalog to the newest commit: from its file as far as that goes, then from
    /// history.
    pub(super) fn catch_up(&mut self) -> Result<()> {
        self.catalog_file
            .load(&mut self.catalog, self.keyring.names_key());
        // Its steps do not say what the owner decided: after a change of policy that was cut off,
        // only history does.
        if let Some(head) = self.catalog.head
            && decided_at(&self.repository, head).ok() != self.catalog.decided
        {
            self.catalog = Catalog::empty();
        }
        let missing = if let Some(missing) = self.commits_since(self.catalog.head)? {
            missing
        } else {
            self.catalog = Catalog::empty();
            self.commits_since(None)?.unwrap_or_default()
        };
        for chunk in missing.chunks(FOLD_CHUNK) {
            self.fold(chunk)?;
        }
        if let Some(id) = self.catalog.nameless() {
            return Err(Error::MissingKey {
                memory: id.to_string(),
            });
        }
        if self.catalog_file.wants_snapshot() {
            self.catalog_file
                .write_snapshot(&self.catalog, self.keyring.names_key());
        }
        self.trees.forget();
        self.load_trees()
    }

    /// The commits after `known`, oldest first; `None` if history does not contain `known`.
    pub(super) fn commits_since(&self, known: Option<ObjectId>) -> Result<Option<Vec<ObjectId>>> {
        let mut commits = Vec::new();
        let mut next = Some(self.journal.head());
        while next != known {
            let Some(id) = next else { return Ok(None) };
            commits.push(id);
            next = self.repository.commit(id)?.0.parent;
        }
        commits.reverse();
        Ok(Some(commits))
    }

    fn fold(&mut self, commits: &[ObjectId]) -> Result<()> {
        let mut last = match self.catalog.head {
            Some(head) => {
                let (commit, bytes) = self.repository.commit(head)?;
                Some((Digest::of(&bytes), commit.tree))
            }
            None => None,
        };
        let mut signers = SignersThen::default();
        for checked in self.check_all(&self.keyring, commits)? {
            self.fold_one(&checked, last, &mut signers)?;
            last = Some((checked.digest, checked.tree));
        }
        Ok(())
    }

    fn fold_one(
        &mut self,
        checked: &Checked,
        last: Option<(Digest, ObjectId)>,
        signers: &mut SignersThen,
    ) -> Result<()> {
        let fault = |why: &str| Error::damaged(format!("commit {}", checked.id), why);
        if checked.event.parent != last.map(|(digest, _)| digest) {
            return Err(fault("its record belongs after another commit"));
        }
        let known = match (self.catalog.decided, checked.decided) {
            (Some(known), _) => known,
            (None, Some(first)) => first,
            (None, None) => return Err(fault("history does not begin with it")),
        };
        // Who may write is what the commit before says, so that nobody signs himself in.
        let signer = signers
            .at(&self.repository, known.signers)?
            .holder(&checked.signed)
            .ok_or_else(|| fault("it is not signed by a signer of this store"))?;
        signer
            .validity()
            .check(checked.event.time, self.catalog.times.last)
            .map_err(|when| fault(&format!("the key of its signer {when}")))?;
        if checked.author != author(signer.name(), checked.event.time) {
            return Err(fault(
                "its author or time is not its signer's or its record's",
            ));
        }
        match checked.decided {
            None if last.is_some_and(|(_, tree)| tree == checked.tree) => {}
            None => return Err(fault("its record changes nothing, and its tree does")),
            Some(decided) if known.may_become(decided, checked.event.decides()) => {
                self.catalog.decided = Some(decided);
            }
            Some(_) => {
                return Err(fault(
                    "it changes agekeep.toml, recipients or signers without saying so",
                ));
            }
        }
        let step = Step::of(&checked.event, checked.id);
        self.catalog.apply(&step).map_err(fault)?;
        self.catalog_file.append(&step, self.keyring.names_key());
        Ok(())
    }

    /// Checks commits one by one, on every core: opening a record costs more than all the rest.
    pub(super) fn check_all(
        &self,
        keyring: &Keyring,
        commits: &[ObjectId],
    ) -> Result<Vec<Checked>> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let threads = cores.min(commits.len() / FOLD_THREAD_MIN).max(1);
        let root = &self.root;
        let next = AtomicUsize::new(0);
        let work = || {
            let repository = Repository::open(root)?;
            let mut done = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(id) = commits.get(index) else {
                    return Ok(done);
                };
                done.push((index, check(&repository, keyring, *id)?));
            }
        };
        let mut checked = thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut all = work()?;
            for other in others {
                all.extend(other.join().expect("checking does not panic")?);
            }
            Ok::<_, Error>(all)
        })?;
        checked.sort_by_key(|(index, _)| *index);
        Ok(checked.into_iter().map(|(_, checked)| checked).collect())
    }
}

/// The signers as one commit has them; few commits have others than the one before.
#[derive(Default)]
struct SignersThen(Option<(ObjectId, Signers)>);

impl SignersThen {
    fn at(&mut self, repository: &Repository, blob: ObjectId) -> Result<&Signers> {
        if self.0.as_ref().is_none_or(|(known, _)| *known != blob) {
            let signers = Signers::parse(&repository.public(blob)?)
                .map_err(|why| Error::damaged("signers", why))?;
            self.0 = Some((blob, signers));
        }
        Ok(&self.0.as_ref().expect("read above").1)
    }
}

fn check(repository: &Repository, keyring: &Keyring, id: ObjectId) -> Result<Checked> {
    let fault = |why: &str| Error::damaged(format!("commit {id}"), why);
    let (commit, bytes) = repository.commit(id)?;
    let signed = SignedBy::check(&commit.signed_bytes, &commit.signature)
        .ok_or_else(|| fault("its signature is not one over it"))?;
    let event = Event::from_message(&commit.message, keyring).map_err(|e| e.of(id))?;
    if event.tree != commit.tree {
        return Err(fault("its record belongs to another tree"));
    }
    let decided = event
        .changes_tree()
        .then(|| decided_in(repository, commit.tree))
        .transpose()?;
    Ok(Checked {
        id,
        digest: Digest::of(&bytes),
        signed,
        author: commit.author,
        event,
        tree: commit.tree,
        decided,
    })
}
