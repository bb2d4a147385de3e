//! The location of the keyring: in the store, or a folder given by the policy or the caller. Also
//! the check that it is the keyring that history names, and the permissions of files.

use std::io;
use std::path::{Path, PathBuf};

use crate::disk::{DirEntry, FileKind, Folder, Name};
use crate::error::{Error, MembershipFault, Result};
use crate::event::Event;
use crate::id::ObjectId;
use crate::keyring::Keyring;
use crate::policy::Policy;
use crate::repository::Repository;
use crate::store::config::parse_recorded_policy;
use crate::store::pin::KnownCopy;
use crate::store::recovery::{PendingRecovery, config_blobs_at};
use crate::store::{Ledger, Store};

/// Opens the folder of a store.
pub(crate) fn store_at(root: &Path) -> Result<Folder> {
    Folder::at(root).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Error::NoStore {
            path: root.to_owned(),
        },
        _ => Error::io("open", root)(error),
    })
}

/// Opens the keyring's folder: the one given by the caller, the one in the policy, or the store's
/// own.
pub(crate) fn keyring_at(root: &Folder, said: Option<&Path>, policy: &Policy) -> Result<Folder> {
    let elsewhere = said.or(policy.keyring.folder.as_deref().map(Path::new));
    let (path, opened) = match elsewhere {
        Some(path) => (path.to_owned(), Folder::at(path)),
        // A link here could lead others to our keys, or us to theirs.
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

/// Accepts a policy that moves the keyring only if a copy is already there.
pub(super) fn check_place(store: &Store, policy: &Policy) -> Result<()> {
    let folder = policy.keyring.folder_of(store.ledger.root.path());
    if policy.keyring == store.state.config.policy.keyring {
        return Ok(());
    }
    if let Ok(copy) = keyring_at(&store.ledger.root, None, policy)
        && store.ledger.keyring.is_also_in(&copy)
    {
        // The first process that follows the policy removes the old copy.
        return Keyring::sync_copy(&copy);
    }
    Err(Error::Policy {
        line: None,
        why: format!(
            "it says that the keyring is in {}, but it is not there; copy it there first",
            folder.display()
        ),
    })
}

/// Reopens the keyring where the newest policy has it, after finishing a keyring update that an
/// unclean stop left there. Called before anything is read or written with the keyring.
pub(super) fn follow_keyring(store: &mut Store, unclean: Option<&PendingRecovery>) -> Result<()> {
    let mut newer = None;
    if store.state.catalog.head != Some(store.ledger.journal.head()) {
        let blobs = config_blobs_at(&store.ledger.repository, store.ledger.journal.head())?;
        if blobs.policy != store.state.config.blobs.policy {
            let text = store.ledger.repository.public(blobs.policy)?;
            let (_, policy) = parse_recorded_policy(&text)?;
            newer = Some(policy);
        }
    }
    let policy = newer.as_ref().unwrap_or(&store.state.config.policy);
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

/// Refuses to record while two different keyrings exist: new keys would go into only one of them
/// and be lost with it. A copy of a store is the reverse: it must not change the keyring of the
/// store that it is a copy of, and records with a keyring of its own.
pub(super) fn check_one_keyring(store: &Store) -> Result<()> {
    let ledger = &store.ledger;
    if let Some(original) = named_by_original(store) {
        return shared_with(store, original).map_or(Ok(()), Err);
    }
    if ledger.keyring_said.is_none() {
        return Ok(());
    }
    match keyring_at(&ledger.root, None, &store.state.config.policy) {
        Ok(folder) if ledger.keyring.is_another_in(&folder) => {
            Err(Error::Membership(MembershipFault::TwoKeyrings {
                said: ledger.keyring.folder().path().to_owned(),
                policy: folder.path().to_owned(),
            }))
        }
        _ => Ok(()),
    }
}

/// Returns the store of which this is a copy, if its policy names a folder for the keyring: then
/// both name the same.
fn named_by_original(store: &Store) -> Option<PathBuf> {
    // Nearly every store has its keyring inside, and then no file is read here.
    store.state.config.policy.keyring.folder.as_ref()?;
    let original = store.ledger.rollback_check.copy_of();
    original.filter(KnownCopy::is_there)?.path
}

/// Returns the error if the keyring in use is that of the original.
fn shared_with(store: &Store, original: PathBuf) -> Option<Error> {
    let ledger = &store.ledger;
    let named = store.state.config.policy.keyring.folder.as_ref()?;
    let in_policy = keyring_at(&ledger.root, None, &store.state.config.policy);
    let is_own = ledger.keyring_said.is_some()
        && !in_policy.is_ok_and(|folder| !ledger.keyring.is_another_in(&folder));
    (!is_own).then(|| {
        Error::Membership(MembershipFault::SharedKeyring {
            original,
            keyring: named.into(),
        })
    })
}

// Check that the keyring is the one that history names.

/// Refuses a keyring that history does not name. A complete keyring (all four files) from before an
/// erasure is accepted, because it is the store's own. Its destroyed keys are not used, and are
/// removed again.
pub(super) fn check_keyring(store: &Store) -> Result<()> {
    compare_keyring(store).map_err(|error| misfit(store, error))
}

/// Returns the error for a keyring that does not fit history. A copy that has gone its own way does
/// not fit the keyring of its original, in which nothing is damaged.
pub(super) fn misfit(store: &Store, error: Error) -> Error {
    let shared = named_by_original(store).and_then(|original| shared_with(store, original));
    shared.unwrap_or(error)
}

fn compare_keyring(store: &Store) -> Result<()> {
    let Some(known) = &store.state.catalog.keys else {
        return Ok(());
    };
    if store.ledger.keyring.has_keys_of(known) {
        return store.ledger.keyring.check_entries(known.entries);
    }
    let head = store.ledger.journal.head();
    if was_in_force(&store.ledger.repository, &store.ledger.keyring, head)? {
        return Ok(());
    }
    Err(store.ledger.keyring.foreign())
}

/// Tells whether an earlier event of this history put the keyring's keys in force, with only
/// erasures since. Any other change of keys in between makes this false: a member who joined or
/// left could have built the keyring from keys he knows.
pub(crate) fn was_in_force(
    repository: &Repository,
    keyring: &Keyring,
    head: ObjectId,
) -> Result<bool> {
    let mut next = Some(head);
    while let Some(id) = next {
        let (commit, _) = repository.commit(id)?;
        next = commit.parent;
        // Few commits change keys, and the message names the command in the clear.
        if !changes_keys(&commit.message) {
            continue;
        }
        let Ok(event) = Event::from_message(&commit.message, keyring) else {
            return Ok(false);
        };
        match event.keys {
            Some(keys) if keyring.has_keys_of(&keys) => return Ok(true),
            Some(_) if !event.erases() => return Ok(false),
            _ => {}
        }
    }
    Ok(false)
}

/// Tells whether a commit can change keys, by its message.
pub(crate) fn changes_keys(message: &str) -> bool {
    let such = [
        "erase ok",
        "expire ok",
        "redact ok",
        "rekey ok",
        "recipients_rm ok",
        "upgrade ok",
        "accept_rollback ok",
        "init ok",
    ];
    such.contains(&message.lines().next().unwrap_or_default())
}

// Protection of a store's folder and keys from other users.

/// See [`Store::restrict_permissions`].
pub(super) fn restrict_permissions(root: &Path) -> Vec<String> {
    let Ok(root) = Folder::at(root) else {
        return Vec::new();
    };
    // A folder without a store is left alone.
    let has_file = |name: Name| root.has_kind(&name, FileKind::File);
    let has_keyring = || root.has_kind(&Name::KEYRING, FileKind::Folder);
    if !has_file(Name::HEAD) || !(has_file(Name::JOURNAL) || has_keyring()) {
        return Vec::new();
    }
    let mut said = close(&root);
    // A link in place of the keyring is not followed; opening the store refuses it.
    if let Ok(keyring) = root.sub(&Name::KEYRING) {
        said.extend(restrict_folder(&keyring));
    }
    said
}

/// See [`Store::restrict_keyring_permissions`].
pub(super) fn restrict_keyring_permissions(ledger: &Ledger) -> Vec<String> {
    let folder = ledger.keyring.folder();
    match ledger.root.sub(&Name::KEYRING) {
        Ok(own) if own.is(folder).unwrap_or(false) => Vec::new(),
        _ => restrict_folder(folder),
    }
}

/// Removes other users' access to a folder and the files in it. Returns a sentence for each change
/// or failure.
fn restrict_folder(keyring: &Folder) -> Vec<String> {
    let mut said = close(keyring);
    for found in open_to_others(keyring) {
        let path = keyring.path().join(&found.name);
        said.push(told(&path, keyring.restrict_entry(&found)));
    }
    said
}

fn close(folder: &Folder) -> Vec<String> {
    let closed = is_open(folder).then(|| told(folder.path(), folder.close_to_others()));
    closed.into_iter().collect()
}

fn told(path: &Path, closed: io::Result<()>) -> String {
    let shown = path.display();
    match closed {
        Ok(()) => format!("other accounts could access {shown}; now only its owner can"),
        Err(e) => format!("other accounts can access {shown}, and agekeep cannot change that: {e}"),
    }
}

/// Returns the paths that other users can access, though they are only for the store's owner.
pub(super) fn exposed_paths(root: &Folder, keyring: &Folder) -> Vec<PathBuf> {
    let folders = [root, keyring].into_iter().filter(|folder| is_open(folder));
    let mut paths: Vec<PathBuf> = folders.map(|folder| folder.path().to_owned()).collect();
    let files = open_to_others(keyring).into_iter();
    paths.extend(files.map(|found| keyring.path().join(found.name)));
    paths.sort();
    paths
}

fn is_open(folder: &Folder) -> bool {
    folder
        .look_at_itself()
        .is_ok_and(|found| found.is_open_to_others())
}

/// Returns the entries of a folder that other users can access. Links are not followed, because
/// whoever made the link would choose which file is changed.
fn open_to_others(folder: &Folder) -> Vec<DirEntry> {
    let mut all = folder.look_at_all().unwrap_or_default();
    all.retain(|found| {
        matches!(found.look.kind, FileKind::File | FileKind::Folder)
            && found.look.is_open_to_others()
    });
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}
