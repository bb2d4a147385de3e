//! The fold of checked commits into the catalog, one after the other.

use crate::aead::Key;
use crate::catalog::file::CatalogFile;
use crate::catalog::{Catalog, Step};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::repository::Repository;
use crate::repository::object::ObjectId;
use crate::sign::Signers;

use super::check::Checked;
use crate::store::commit::author;

/// A catalog that is being brought from one commit to the next.
pub(super) struct Fold<'a> {
    repository: &'a Repository,
    catalog: &'a mut Catalog,
    file: &'a mut CatalogFile,
    names_key: &'a Key,
    /// SHA-256 and tree of the commit up to which it is.
    last: Option<(Digest, ObjectId)>,
    signers: SignersThen,
}

impl<'a> Fold<'a> {
    pub(super) fn new(
        repository: &'a Repository,
        catalog: &'a mut Catalog,
        file: &'a mut CatalogFile,
        names_key: &'a Key,
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
            names_key,
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
        let step = Step::of(&checked.event, checked.id);
        self.catalog.apply(&step).map_err(fault)?;
        self.file.append(self.catalog, self.names_key);
        self.last = Some((checked.digest, checked.tree));
        Ok(())
    }

    /// Who may write is what the commit before says, so that nobody signs himself in.
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
        if checked.author == author(signer.name(), checked.event.time) {
            return Ok(());
        }
        Err(fault(
            "its author or time is not its signer's or its record's",
        ))
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
