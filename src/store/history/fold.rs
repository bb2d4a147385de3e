//! The fold of checked commits into the catalog, one after the other.

use std::collections::BTreeSet;

use crate::crypto::digest::Digest;
use crate::crypto::sign::Signers;
use crate::error::{Error, Result, not_allowed};
use crate::event::command::not_permitted;
use crate::event::{Change, Erased, Event, PathOpener};
use crate::id::MemoryId;
use crate::id::ObjectId;
use crate::keyring::Keyring;
use crate::repository::Repository;
use crate::state::catalog::file::CatalogFile;
use crate::state::catalog::{Catalog, Step};

use super::check::Checked;
use crate::store::commit::author;

/// A catalog that is being brought from one commit to the next.
pub(super) struct Fold<'a> {
    repository: &'a Repository,
    catalog: &'a mut Catalog,
    file: &'a mut CatalogFile,
    keyring: &'a Keyring,
    /// SHA-256 and tree of the commit up to which it is.
    last: Option<(Digest, ObjectId)>,
    signers: SignersThen,
}

impl<'a> Fold<'a> {
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

    /// Folds in the next commit, if it is what may come next.
    pub(super) fn add(&mut self, checked: &Checked) -> Result<()> {
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
        if let Some((_, why)) = checked.event.misfit() {
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

    /// Who may write, and what, is what the commit before says, so that nobody signs himself in, or
    /// gives himself another role.
    fn check_signer(&mut self, checked: &Checked, signers: ObjectId) -> Result<()> {
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

    /// Whether earlier events have marked all of some memories for erasure, or erased them.
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

/// Whether events have erased memories: each is given with the number of the event that is said to
/// have. Read from history, because the catalog does not keep what is long gone.
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

/// The error for a commit that is beyond its signer's role, or holds what its command never does.
fn made_by_hand(commit: ObjectId, why: impl Into<String>) -> Error {
    Error::damaged_with_hint(
        format!("commit {commit}"),
        why,
        "somebody made it by hand, around agekeep: find out who has that key; `agekeep verify` names \
         every such commit, and a backup or a clone from before it shows what was there",
    )
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
