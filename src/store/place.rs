//! Where the keyring is: in the store, where the policy says, or where the caller does.

use std::io;
use std::path::Path;

use crate::disk::{Folder, Name};
use crate::error::{Error, MembershipFault, Result};
use crate::keyring::Keyring;
use crate::policy::Policy;

use super::Store;
use super::decide::parse_recorded_policy;
use super::history::{Unclean, decided_at};

/// Opens the folder of a store.
pub(crate) fn store_at(root: &Path) -> Result<Folder> {
    Folder::at(root).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Error::NoStore {
            path: root.to_owned(),
        },
        _ => Error::io("open", root)(error),
    })
}

/// Opens the keyring's folder: where the caller says, where the policy says, or in the store.
pub(crate) fn keyring_at(root: &Folder, said: Option<&Path>, policy: &Policy) -> Result<Folder> {
    let elsewhere = said.or(policy.keyring.folder.as_deref().map(Path::new));
    let (path, opened) = match elsewhere {
        Some(path) => (path.to_owned(), Folder::at(path)),
        // A link there would lead others to where keys are written, or ours to theirs.
        None => (root.path_of(&Name::KEYRING), root.sub(&Name::KEYRING)),
    };
    opened.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Error::NoKeyring {
            path,
            is_whole: true,
        },
        _ => Error::io("open", &path)(error),
    })
}

/// A policy that says the keyring is elsewhere is followed once it is there.
pub(super) fn check_place(store: &Store, policy: &Policy) -> Result<()> {
    let folder = policy.keyring.folder_of(store.ledger.root.path());
    if policy.keyring == store.state.decisions.policy.keyring {
        return Ok(());
    }
    if let Ok(copy) = keyring_at(&store.ledger.root, None, policy)
        && store.ledger.keyring.is_also_in(&copy)
    {
        // Whoever follows the policy removes the other copy.
        return Keyring::sync_copy(&copy);
    }
    Err(Error::Policy {
        line: None,
        why: format!(
            "it says that the keyring is in {}, and it is not: copy it there first",
            folder.display()
        ),
    })
}

/// Goes to where the keyring is by the newest policy, and has what an unclean stop left put in
/// place there: before anything is read or written with it.
pub(super) fn follow_keyring(store: &mut Store, unclean: Option<&Unclean>) -> Result<()> {
    let mut newer = None;
    if store.state.catalog.head != Some(store.ledger.journal.head()) {
        let blobs = decided_at(&store.ledger.repository, store.ledger.journal.head())?;
        if blobs.policy != store.state.decisions.blobs.policy {
            let text = store.ledger.repository.public(blobs.policy)?;
            let (_, policy) = parse_recorded_policy(&text)?;
            newer = Some(policy);
        }
    }
    let policy = newer.as_ref().unwrap_or(&store.state.decisions.policy);
    let folder = keyring_at(
        &store.ledger.root,
        store.ledger.keyring_said.as_deref(),
        policy,
    )?;
    if let Some(unclean) = unclean {
        unclean.place_keyring(&folder)?;
    }
    let known = store.ledger.keyring.folder();
    if !folder.is(known).map_err(Error::io("open", folder.path()))? {
        store.ledger.keyring = store.ledger.keyring.reopened_in(&folder)?;
    }
    Ok(())
}

/// Refuses to record with one of two keyrings: what goes into one only is lost with it.
pub(super) fn check_one_keyring(store: &Store) -> Result<()> {
    if store.ledger.keyring_said.is_none() {
        return Ok(());
    }
    match keyring_at(&store.ledger.root, None, &store.state.decisions.policy) {
        Ok(folder) if store.ledger.keyring.is_another_in(&folder) => {
            Err(Error::Membership(MembershipFault::TwoKeyrings {
                said: store.ledger.keyring.folder().path().to_owned(),
                policy: folder.path().to_owned(),
            }))
        }
        _ => Ok(()),
    }
}
