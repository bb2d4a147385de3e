//! The catalog file beside history: written as events come, and history read again where a part of
//! it does not open.

use std::path::Path;
use std::sync::Arc;

use super::fold::Fold;
use super::{check_all, commits_between, decided_at};
use crate::crypto::seal::Identity;
use crate::disk::Folder;
use crate::error::{Error, Result};
use crate::id::ObjectId;
use crate::id::StoreId;
use crate::journal;
use crate::keyring::Keyring;
use crate::repository::Repository;
use crate::state::catalog::file::CatalogFile;
use crate::state::catalog::{Catalog, Refold};
use crate::store::Store;
use crate::store::decide::Decisions;
use crate::store::place::keyring_at;

/// Makes the state of a store up to a commit again, with whatever keyring is in place by then.
pub(in crate::store) fn refold(
    root: &Folder,
    store: StoreId,
    identity: &Identity,
    keyring: Option<&Path>,
) -> Refold {
    let (root, identity) = (root.clone(), identity.clone());
    let said = keyring.map(Path::to_owned);
    Arc::new(move |head| {
        let repository = Repository::open(&root, journal::find)?;
        let folder = keyring_folder(&root, &repository, said.as_deref())?;
        let keyring = Keyring::open(&folder, store, &identity)?;
        let commits = commits_between(&repository, None, head)?;
        let mut catalog = Catalog::empty();
        // Nothing is written to it.
        let mut file = CatalogFile::nowhere(store);
        let mut fold = Fold::new(&repository, &mut catalog, &mut file, &keyring)?;
        let commits = commits.unwrap_or_default();
        check_all(&root, &keyring, &commits, |checked| fold.add(&checked))?;
        Ok(catalog)
    })
}

fn keyring_folder(root: &Folder, repository: &Repository, said: Option<&Path>) -> Result<Folder> {
    let head: Option<ObjectId> = repository.head()?;
    let head = head.ok_or_else(|| Error::damaged("refs/heads/main", "it is gone"))?;
    let decisions = Decisions::read(repository, decided_at(repository, head)?)?;
    keyring_at(root, said, &decisions.policy)
}

/// Writes the catalog file anew, or a part of it, if that is due.
pub(in crate::store) fn renew_catalog_file(store: &mut Store) {
    if store.ledger.catalog_file.wants_root(&store.state.catalog) {
        let cache_key = store.ledger.keyring.cache_key();
        store
            .ledger
            .catalog_file
            .write_root(&mut store.state.catalog, cache_key);
    }
}

/// Ends something that may have looked into the catalog file.
///
/// # Errors
/// If a part of it did not open, and history does not tell either: then what was found is not
/// to be believed.
pub(in crate::store) fn settle_catalog(store: &mut Store) -> Result<()> {
    store.state.catalog.check()?;
    if store.state.catalog.is_torn() {
        renew_catalog_file(store);
    }
    Ok(())
}
