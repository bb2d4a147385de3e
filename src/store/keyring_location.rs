//! The location of the keyring: in the store, or a folder that this machine has it in, or that the caller
//! names. Also the check that it is the keyring that history names, and the permissions of files.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use crate::disk::{self, DirEntry, FileKind, Folder, Name};
use crate::error::{Error, MembershipFault, Result};
use crate::event::Event;
use crate::id::ObjectId;
use crate::keyring::{self, Keyring};
use crate::policy::{KeyringPlace, Policy};
use crate::repository::Repository;
use crate::store::config::parse_recorded_policy;
use crate::store::pin::KnownCopy;
use crate::store::recovery::{PendingRecovery, config_blobs_at};
use crate::store::timeline::with_lock;
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

/// Opens the keyring's folder: the one that the caller names, or `keyring` in the store, which is the
/// folder or a file with its path. A policy of an earlier version can name one too, which counts where
/// there is no such file.
pub(crate) fn keyring_at(root: &Folder, said: Option<&Path>, policy: &Policy) -> Result<Folder> {
    let opened = |path: &Path, folder: io::Result<Folder>| {
        folder.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::NoKeyring {
                path: path.to_owned(),
                is_whole: true,
            },
            _ => Error::io("open", path)(error),
        })
    };
    if let Some(path) = said {
        return opened(path, Folder::at(path));
    }
    // A link here could lead others to our keys, or us to theirs.
    let own = opened(&root.path_of(&Name::KEYRING), root.sub(&Name::KEYRING));
    let of_policy = policy.keyring.folder.as_deref().map(Path::new);
    if own
        .as_ref()
        .is_ok_and(|own| of_policy.is_none() || own.has(&Name::AUDIT))
    {
        // Nearly every store has its keyring inside, and then no file is read here.
        return own;
    }
    let place = keyring_place(root)?;
    match place.as_deref().or(of_policy) {
        Some(path) => opened(path, Folder::at(path)).or_else(|error| own.map_err(|_| error)),
        None => own,
    }
}

/// Refuses a policy that names another folder for the keyring: that is a thing of each machine.
pub(super) fn check_place(before: &KeyringPlace, policy: &Policy) -> Result<()> {
    if policy.keyring == *before {
        return Ok(());
    }
    Err(Error::Policy {
        line: None,
        why: "it names a folder for the keyring, which is each machine's own: \
              `agekeep keys move FOLDER` moves it"
            .into(),
    })
}

/// Refuses a folder for the keyring that is in a store's folder or around this store's, by whatever path.
pub(super) fn check_outside(root: &Path, folder: &Path) -> Result<()> {
    let (root, folder) = (disk::resolved(root)?, disk::resolved(folder)?);
    let store = Folder::at(&root).ok();
    let is_store = |path: &Path| {
        let is = |there: &Folder| {
            store
                .as_ref()
                .is_some_and(|it| there.is(it).unwrap_or(false))
        };
        Folder::at(path).is_ok_and(|there| is(&there) || there.has(&Name::JOURNAL))
    };
    let is_in_store = folder.starts_with(&root) || folder.ancestors().any(is_store);
    if is_in_store || root.starts_with(&folder) {
        let why = "it is in the folder of a store, or the store in it";
        return Err(Error::invalid("the keyring's folder", why));
    }
    Ok(())
}

/// Makes the folder for a keyring outside the store, which must be empty.
pub(super) fn make_vacant(path: &Path) -> Result<Folder> {
    disk::make_private_folder_durably(path)?;
    let folder = Folder::at(path).map_err(Error::io("open", path))?;
    if !folder.list().map_err(Error::io("read", path))?.is_empty() {
        return Err(Error::NotEmpty { path: path.into() });
    }
    Ok(folder)
}

/// Returns the folder that the file `keyring` of a store names, if there is such a file and no folder.
pub(crate) fn keyring_place(root: &Folder) -> Result<Option<PathBuf>> {
    if !root.has_kind(&Name::KEYRING_PLACE, FileKind::File) {
        return Ok(None);
    }
    let bytes = root.read(&Name::KEYRING_PLACE);
    let bytes = bytes.map_err(root.fault("read", &Name::KEYRING_PLACE))?;
    let path = std::str::from_utf8(&bytes).ok();
    let path = path.and_then(|text| text.strip_suffix('\n')).map(Path::new);
    let path = path.filter(|path| path.is_absolute()).ok_or_else(|| {
        let file = root.path_of(&Name::KEYRING_PLACE).display().to_string();
        let why = "it is neither a folder nor the absolute path of one";
        let hint =
            "name the keyring's folder with --keyring; `agekeep keys move FOLDER` writes the file";
        Error::damaged_with_hint(file, why, hint)
    })?;
    Ok(Some(path.to_owned()))
}

/// Writes the file `keyring` of a store under some name.
pub(super) fn write_keyring_place(root: &Folder, name: &Name, place: &Path) -> Result<()> {
    let invalid = || Error::invalid("the keyring's folder", "it is not UTF-8");
    let text = format!("{}\n", place.to_str().ok_or_else(invalid)?);
    root.replace_durably(name, text.as_bytes(), 0o600)
}

/// Removes what a killed move left in the store's folder: a copy of the keyring, whole or not. The part that
/// opens texts goes first.
pub(super) fn remove_left(root: &Folder) -> Result<()> {
    let name = Name::KEYRING_MOVING;
    if let Ok(folder) = root.sub(&name) {
        keyring::remove_files(&folder);
    }
    let removed = root.remove(&name).or_else(|_| root.remove_tree(&name));
    removed.map_err(root.fault("remove", &name))
}

/// See [`Store::move_keyring`].
pub(super) fn move_keyring(store: &mut Store, to: &Path) -> Result<()> {
    with_lock(store, |store| {
        check_one_keyring(store)?;
        let root = &store.ledger.root.clone();
        let from = store.ledger.keyring.folder().clone();
        let is = |path: &Path, folder: &Folder| {
            Folder::at(path).is_ok_and(|there| there.is(folder).unwrap_or(false))
        };
        let is_from = |name: Name| {
            let folder = root.sub(&name);
            folder.is_ok_and(|folder| folder.is(&from).unwrap_or(false))
        };
        let (is_there, was_own) = (is(to, &from), is_from(Name::KEYRING));
        if is_there && was_own {
            return Ok(());
        }
        let is_in_root = to.parent().is_some_and(|above| is(above, root));
        let is_own = is_in_root && to.file_name() == Some(OsStr::new(Name::KEYRING.as_str()));
        if is_from(Name::KEYRING_MOVING) {
            let why = "it is what a move left in the store's folder: copy it elsewhere first";
            return Err(Error::invalid("the keyring", why));
        }
        remove_left(root)?;
        // What takes the place of `keyring` is made whole beside it, and exchanged with it in one step.
        let copy = if is_own {
            Some(root.make_private(&Name::KEYRING_MOVING)?)
        } else {
            check_outside(root.path(), to)?;
            if !is_there
                && let Ok(left) = Folder::at(to)
                && keyring::file_left(&left).is_some()
            {
                let why = "it has files of a keyring, as a move that was stopped leaves them: remove them, \
                           because no erasure reaches them, and try again";
                return Err(Error::invalid("the folder", why));
            }
            (!is_there).then(|| make_vacant(to)).transpose()?
        };
        let placed = put_in_place(store, copy.as_ref(), (!is_own).then_some(to));
        if let Err(error) = placed {
            if let Some(copy) = &copy {
                keyring::remove_files(copy);
            }
            drop(remove_left(root));
            return Err(error);
        }
        root.sync()?;
        // Now what was there: the keyring itself, or the file that named its folder.
        remove_left(root)?;
        if !is_there && !was_own {
            keyring::remove_files(&from);
            if let Some(name) = keyring::file_left(&from) {
                let why = "the keyring was moved, and this copy of it could not be removed";
                return Err(from.fault("remove", &name)(io::Error::other(why)));
            }
        }
        let folder = keyring_at(root, None, &store.state.config.policy)?;
        store.ledger.keyring = store.ledger.keyring.reopened_in(&folder)?;
        store.ledger.keyring_said = None;
        Ok(())
    })
}

/// Copies the keyring, checks that the copy opens, and puts it, or the file that names its folder, into the
/// place of `keyring`. Without a copy it is in that folder already. After an error nothing is in another place.
fn put_in_place(store: &Store, copy: Option<&Folder>, elsewhere: Option<&Path>) -> Result<()> {
    let (root, known) = (&store.ledger.root, &store.ledger.keyring);
    if let Some(copy) = copy {
        keyring::copy_files(known.folder(), copy)?;
        let opened = known.reopened_in(copy)?;
        if opened.counts() != known.counts() {
            return Err(Error::damaged(
                copy.path().display().to_string(),
                "it is no whole copy",
            ));
        }
    }
    if let Some(path) = elsewhere {
        write_keyring_place(root, &Name::KEYRING_MOVING, path)?;
    }
    let placed = if root.has(&Name::KEYRING) {
        root.swap(&Name::KEYRING_MOVING, &Name::KEYRING)
    } else {
        root.rename_into(&Name::KEYRING_MOVING, root, &Name::KEYRING)
    };
    placed.map_err(root.fault("put in place", &Name::KEYRING))
}

/// Reopens the keyring where it is now, after finishing a keyring update that an
/// unclean stop left there. Called before anything is read or written with the keyring.
pub(super) fn follow_keyring(store: &mut Store, unclean: Option<&PendingRecovery>) -> Result<()> {
    let (ledger, state) = (&mut store.ledger, &store.state);
    let (mut newer, head) = (None, ledger.journal.head());
    if state.catalog.head != Some(head) {
        let blobs = config_blobs_at(&ledger.repository, head)?;
        if blobs.policy != state.config.blobs.policy {
            let text = ledger.repository.public(blobs.policy)?;
            newer = Some(parse_recorded_policy(&text)?.1);
        }
    }
    let policy = newer.as_ref().unwrap_or(&state.config.policy);
    let folder = keyring_at(&ledger.root, ledger.keyring_said.as_deref(), policy)?;
    if let Some(unclean) = unclean {
        unclean.place_keyring(&folder)?;
    }
    let known = ledger.keyring.folder();
    if !folder.is(known).map_err(Error::io("open", folder.path()))? {
        ledger.keyring = ledger.keyring.reopened_in(&folder)?;
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

/// Returns the store of which this is a copy, if its keyring is elsewhere: then both have the same.
fn named_by_original(store: &Store) -> Option<PathBuf> {
    // Nearly every store has its keyring inside, and then no file is read here.
    let ledger = &store.ledger;
    if ledger.keyring.folder().path() == ledger.root.path_of(&Name::KEYRING) {
        return None;
    }
    let original = store.ledger.rollback_check.copy_of();
    original.filter(KnownCopy::is_there)?.path
}

/// Returns the error if the keyring in use is that of the original.
fn shared_with(store: &Store, original: PathBuf) -> Option<Error> {
    let ledger = &store.ledger;
    let placed = keyring_at(&ledger.root, None, &store.state.config.policy);
    let is_own = ledger.keyring_said.is_some()
        && !placed.is_ok_and(|folder| !ledger.keyring.is_another_in(&folder));
    (!is_own).then(|| {
        Error::Membership(MembershipFault::SharedKeyring {
            original,
            keyring: ledger.keyring.folder().path().to_owned(),
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
