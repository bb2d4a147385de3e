//! Checks commits on every core, replays them into the catalog in order; keeps the catalog file.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::background::{cores, in_runs};
use crate::crypto::digest::Digest;
use crate::crypto::seal::Identity;
use crate::crypto::sign::{SignedBy, Signers};
use crate::disk::Folder;
use crate::error::{Error, Result, not_allowed};
use crate::event::command::not_permitted;
use crate::event::{Change, Erased, Event, PathOpener};
use crate::id::{MemoryId, ObjectId, StoreId};
use crate::journal;
use crate::keyring::Keyring;
use crate::repository::Repository;
use crate::state::catalog::file::CatalogFile;
use crate::state::catalog::{Catalog, ConfigBlobs, Rebuild, Step};
use crate::store::Store;
use crate::store::commit::author;
use crate::store::config::StoreConfig;
use crate::store::keyring_location::keyring_at;
use crate::store::recovery::{commits_between, config_blobs_at, config_blobs_in};

/// A replay of commits into a catalog.
pub(super) struct Replay<'a> {
    repository: &'a Repository,
    catalog: &'a mut Catalog,
    file: &'a mut CatalogFile,
    keyring: &'a Keyring,
    /// SHA-256 and tree of the last commit folded in.
    last: Option<(Digest, ObjectId)>,
    signers: SignersThen,
}

impl<'a> Replay<'a> {
    pub(super) fn new(
        repository: &'a Repository,
        catalog: &'a mut Catalog,
        file: &'a mut CatalogFile,
        keyring: &'a Keyring,
    ) -> Result<Self> {
        let last = match catalog.head {
            Some(head) => {
                let (commit, bytes) = repository.commit(head)?;
                Some((Digest::of(&bytes), commit.tree))
            }
            None => None,
        };
        Ok(Self {
            repository,
            catalog,
            file,
            keyring,
            last,
            signers: SignersThen::default(),
        })
    }

    /// Applies the next commit, if it may come next.
    pub(super) fn add(&mut self, checked: &CheckedCommit) -> Result<()> {
        let fault = |why: &str| Error::damaged(format!("commit {}", checked.id), why);
        checked.comes_after(self.catalog.head)?;
        if checked.event.parent != self.last.map(|(digest, _)| digest) {
            return Err(fault("its record belongs after another commit"));
        }
        let known = match (self.catalog.decided, checked.decided) {
            (Some(known), _) => known,
            (None, Some(first)) => first,
            (None, None) => return Err(fault("history does not begin with it")),
        };
        self.check_signer(checked, known.signers)?;
        if let Some((_, why)) = checked.event.violation() {
            return Err(made_by_hand(checked.id, why));
        }
        match checked.decided {
            None if self.last.is_some_and(|(_, tree)| tree == checked.tree) => {}
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
        let step = Step::of(&checked.event, checked.id, checked.bytes);
        self.catalog.apply(&step).map_err(fault)?;
        self.file.append(self.catalog, self.keyring.cache_key());
        self.last = Some((checked.digest, checked.tree));
        Ok(())
    }

    /// Checks a signer and their role by the commit before, so that nobody can add themselves, or
    /// give themselves another role.
    fn check_signer(&mut self, checked: &CheckedCommit, signers: ObjectId) -> Result<()> {
        let fault = |why: &str| Error::damaged(format!("commit {}", checked.id), why);
        let signers = self.signers.at(self.repository, signers)?;
        let signer = if self.last.is_none() {
            signers.founder(&checked.signed)
        } else {
            let holder = signers.holder(&checked.signed);
            holder.ok_or("it is not signed by a signer of this store")
        };
        let signer = signer.map_err(fault)?;
        signer
            .validity()
            .check(checked.event.time, self.catalog.times.last)
            .map_err(|when| fault(&format!("the key of its signer {when}")))?;
        if checked.author != author(signer.name(), checked.event.time) {
            return Err(fault(
                "its author or time is not its signer's or its record's",
            ));
        }
        let (name, role) = (signer.name().to_owned(), signer.role());
        let is_held = |touch: &_| self.catalog.takes_held(touch);
        let are_begun = |memories: &[Erased]| self.are_begun(memories);
        match not_permitted(role, &checked.event, is_held, are_begun)? {
            None => Ok(()),
            Some(what) => {
                let why = format!("its signer {}", not_allowed(&name, role.as_str(), &what));
                Err(made_by_hand(checked.id, why))
            }
        }
    }

    /// Tells whether earlier events have marked or erased all of these memories.
    fn are_begun(&self, memories: &[Erased]) -> Result<bool> {
        let is_marked = |id| self.catalog.marked.contains_key(&id);
        let others = memories.iter().filter(|erased| !is_marked(erased.memory));
        let others: Option<Vec<_>> = others.map(|m| Some((m.after?, m.memory))).collect();
        let Some(others) = others else {
            return Ok(false);
        };
        match self.catalog.head.filter(|_| !others.is_empty()) {
            None => Ok(others.is_empty()),
            Some(head) => {
                let newest = (self.catalog.events - 1, head);
                have_erased(self.repository, self.keyring, newest, &others)
            }
        }
    }
}

/// Tells whether events have erased memories, each given with the number of the event that is said
/// to have. Reads history, as the catalog does not keep memories that are long gone.
fn have_erased(
    repository: &Repository,
    keyring: &Keyring,
    (newest, head): (u64, ObjectId),
    said: &[(u64, MemoryId)],
) -> Result<bool> {
    let opener = PathOpener::remembering(keyring);
    let mut left: BTreeSet<_> = said.iter().copied().collect();
    let mut next = Some(head);
    for number in (0..=newest).rev() {
        let Some((last, _)) = left.last().copied() else {
            return Ok(true);
        };
        let Some(id) = next.filter(|_| last <= number) else {
            return Ok(false);
        };
        let (commit, _) = repository.commit(id)?;
        if last == number {
            let event = Event::open(&commit.message, &opener).map_err(|e| e.of(id))?;
            for touch in event.memories.iter().filter(|_| event.erases()) {
                if touch.change == Change::Erase {
                    left.remove(&(number, touch.id));
                }
            }
        }
        next = commit.parent;
    }
    Ok(left.is_empty())
}

/// Returns the error for a commit that exceeds its signer's role, or holds something that its
/// command never does.
fn made_by_hand(commit: ObjectId, why: impl Into<String>) -> Error {
    Error::damaged_with_hint(
        format!("commit {commit}"),
        why,
        "somebody made this commit by hand, without agekeep; find out who has that key. `agekeep \
         verify` names every such commit, and a backup or a clone from before it shows what was \
         there",
    )
}

/// The signers of the last commit that was asked for. Few commits change them.
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

// Commits are checked independently, on every core, and passed on in order.

/// The number of commits that a thread takes at a time.
const RUN: usize = 32;
/// Fewer commits than this are not worth a thread.
const THREADS_COMMITS_MIN: usize = 4 * RUN;

/// A commit whose hash, signature and record are checked, without regard to others.
pub(in crate::store) struct CheckedCommit {
    pub(in crate::store) id: ObjectId,
    parent: Option<ObjectId>,
    pub(super) digest: Digest,
    /// The size of its object.
    pub(super) bytes: u64,
    pub(super) signed: SignedBy,
    pub(super) author: String,
    pub(in crate::store) event: Event,
    pub(super) tree: ObjectId,
    /// The blobs of the public files in its tree, if the event changes the tree.
    pub(super) decided: Option<ConfigBlobs>,
}

impl CheckedCommit {
    /// Returns the name of its signer, as its author says.
    pub(in crate::store) fn signer(&self) -> &str {
        self.author.split(' ').next().unwrap_or_default()
    }

    /// Checks that `before` is the parent of this commit.
    pub(in crate::store) fn comes_after(&self, before: Option<ObjectId>) -> Result<()> {
        if self.parent == before {
            return Ok(());
        }
        let what = format!("commit {}", self.id);
        Err(Error::damaged(
            what,
            "its parent is not the commit before it",
        ))
    }
}

/// Checks commits, and passes them to `each` in order while the next are checked.
pub(in crate::store) fn check_all(
    root: &Folder,
    keyring: &Keyring,
    commits: &[ObjectId],
    mut each: impl FnMut(CheckedCommit) -> Result<()>,
) -> Result<()> {
    let own = || Checks::new(root, keyring);
    if commits.len() < THREADS_COMMITS_MIN || cores() == 1 {
        let mut checks = own();
        return commits.iter().try_for_each(|id| each(checks.check(*id)?));
    }
    let check = |checks: &mut Checks<'_>, run: Range<usize>| -> Result<Vec<_>> {
        commits[run].iter().map(|id| checks.check(*id)).collect()
    };
    in_runs(commits.len(), RUN, own, check, |checked| {
        checked.into_iter().try_for_each(&mut each)
    })
}

/// The tools of one thread that checks commits.
struct Checks<'a> {
    repository: Repository,
    opener: PathOpener<'a>,
}

impl<'a> Checks<'a> {
    fn new(root: &Folder, keyring: &'a Keyring) -> Self {
        Self {
            repository: Repository::open_lenient(root, journal::find),
            opener: PathOpener::remembering(keyring),
        }
    }

    fn check(&mut self, id: ObjectId) -> Result<CheckedCommit> {
        let fault = |why: &str| Error::damaged(format!("commit {id}"), why);
        let (commit, bytes) = self.repository.commit(id)?;
        let signed = SignedBy::check(&commit.signed_bytes, &commit.signature)
            .ok_or_else(|| fault("its signature is not one over it"))?;
        let event = Event::open(&commit.message, &self.opener).map_err(|e| e.of(id))?;
        if event.tree != commit.tree {
            return Err(fault("its record belongs to another tree"));
        }
        let decided = event
            .changes_tree()
            .then(|| config_blobs_in(&self.repository, commit.tree))
            .transpose()?;
        Ok(CheckedCommit {
            id,
            parent: commit.parent,
            digest: Digest::of(&bytes),
            bytes: bytes.len() as u64,
            signed,
            author: commit.author,
            event,
            tree: commit.tree,
            decided,
        })
    }
}

// The catalog file: written as events come, and replaced from history if part of it does not open.

/// Returns a function that replays history up to a commit again, with the keyring that is in place
/// by then.
pub(in crate::store) fn rebuild_state(
    root: &Folder,
    store: StoreId,
    identity: &Identity,
    keyring: Option<&Path>,
) -> Rebuild {
    let (root, identity) = (root.clone(), identity.clone());
    let said = keyring.map(Path::to_owned);
    Arc::new(move |head| {
        let repository = Repository::open(&root, journal::find)?;
        let folder = keyring_folder(&root, &repository, said.as_deref())?;
        let keyring = Keyring::open(&folder, store, &identity)?;
        let commits = commits_between(&repository, None, head)?;
        let mut catalog = Catalog::empty();
        // This file is never written.
        let mut file = CatalogFile::nowhere(store);
        let mut fold = Replay::new(&repository, &mut catalog, &mut file, &keyring)?;
        let commits = commits.unwrap_or_default();
        check_all(&root, &keyring, &commits, |checked| fold.add(&checked))?;
        Ok(catalog)
    })
}

fn keyring_folder(root: &Folder, repository: &Repository, said: Option<&Path>) -> Result<Folder> {
    let head: Option<ObjectId> = repository.head()?;
    let head = head.ok_or_else(|| Error::damaged("refs/heads/main", "it is gone"))?;
    let config = StoreConfig::read(repository, config_blobs_at(repository, head)?)?;
    keyring_at(root, said, &config.policy)
}

/// Writes the catalog file's root anew, in the same file or a new one, if that is due.
pub(in crate::store) fn renew_catalog_file(store: &mut Store) {
    let (ledger, catalog) = (&mut store.ledger, &mut store.state.catalog);
    if ledger.catalog_file.wants_root(catalog) {
        let key = ledger.keyring.cache_key();
        ledger.catalog_file.write_root(catalog, key);
    }
}

/// Ends an operation that may have read from the catalog file.
///
/// # Errors
/// If part of the file did not open, and history could not replace it: then the result may not be
/// trusted.
pub(in crate::store) fn check_catalog(store: &mut Store) -> Result<()> {
    store.state.catalog.check()?;
    if store.state.catalog.is_torn() {
        renew_catalog_file(store);
    }
    Ok(())
}
