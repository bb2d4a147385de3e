//! `clone`: a copy of the store that a host has, at a new place.

use std::path::{Path, PathBuf};

use crate::crypto::recipients::{Member, Role};
use crate::crypto::seal::Recipient;
use crate::disk::{self, Folder, Name, NewFolder};
use crate::error::{Error, RemoteFault, Result};
use crate::id::{ObjectId, StoreId};
use crate::journal;
use crate::keyring::backup;
use crate::remote::git::{Host, TransferRepository};
use crate::remote::local::{self, Seen, given_url};
use crate::remote::look;
use crate::remote::{
    KeyBackup, ORIGIN, Pulled, Transfer, accept_verified, empty, made_keyring_folder, policy_at,
    refuse_live_store,
};
use crate::repository::Repository;
use crate::store::signed_checkpoint::SignedCheckpoint;
use crate::store::{self, RollbackCheck, VerifyingKey};
use crate::verify::{self, Options};

/// The result of a clone.
#[non_exhaustive]
pub struct Cloned {
    /// The store's id.
    pub store: StoreId,
    /// The key that made the store.
    pub owner: VerifyingKey,
    /// What came, and its verification.
    pub pulled: Pulled,
    /// The event that the keyring is from, if one was put in place.
    pub keys_of: Option<u64>,
}

/// What `clone` is told besides the URL.
#[derive(Default)]
pub struct CloneOptions {
    /// Checkpoints that history must contain.
    pub checkpoints: Vec<SignedCheckpoint>,
    /// The keys to put in place.
    pub keys: Option<KeyBackup>,
    /// The folder outside the store with what was seen of it: see [`Options::state`].
    pub state: Option<PathBuf>,
    /// Under which name this machine asks for keys at its next [`sync`](super::sync()).
    pub asks: Option<Asking>,
}

/// A machine that asks for keys.
pub struct Asking {
    /// The name that it will have.
    pub name: String,
    /// What it asks to be.
    pub role: Role,
    /// Its signing key.
    pub key: VerifyingKey,
    /// The recipient of its identity.
    pub reads: Recipient,
    /// The folder for its keyring, if the caller names one.
    pub keyring: Option<PathBuf>,
}

/// Makes a copy of the store that a host has, at a new place, once it is verified. With a backup of the
/// keyring the copy can be read and written; without one it can be verified and kept.
///
/// # Errors
/// As [`pull`](super::pull); [`ExportFault::InTheWay`](crate::error::ExportFault::InTheWay) if something is in its
/// place. Then nothing was made.
pub fn clone(
    url: &str,
    to: &Path,
    options: CloneOptions,
    transfer: &mut Transfer<'_>,
    verified: &mut dyn FnMut(verify::Progress),
) -> Result<Cloned> {
    let url = given_url(url)?;
    if let Some(asks) = &options.asks {
        local::check_name(&asks.name)?;
        // It could tell nobody there that it asks.
        refuse_live_store(&url)?;
    }
    let copy = NewFolder::begin(to, |above| {
        let mut folders = above.path().ancestors();
        folders.any(is_repository).then_some("in a repository")
    })?;
    let root = copy.folder();
    let repository = Repository::create(root, journal::find)?;
    let head = fetch_all(root, &repository, &url, transfer)?;
    let keys_of = match &options.keys {
        Some(keys) => {
            let (store, _) = policy_at(&repository, head)?;
            let plain = backup::open(&keys.bytes, &keys.identity)?;
            let keyring = made_keyring_folder(root)?;
            Some(backup::restore(&plain, store, None, &keyring)?.event)
        }
        None => None,
    };
    let (asks, state) = (options.asks, options.state);
    if let Some(asks) = &asks {
        check_asking(asks, &repository, head)?;
    }
    let options = Options {
        identity: options.keys.map(|keys| keys.identity),
        checkpoints: options.checkpoints,
        keyring: keys_of.map(|_| root.path_of(&Name::KEYRING)),
        full: true,
        ..Options::default()
    };
    let report = verify::verify(root.path(), &options, verified)?;
    let events = report.events;
    let report = accept_verified(report, &url, || Ok(Some(events)))?;
    let (store, _) = policy_at(&repository, head)?;
    let to = disk::absolute(to)?;
    let lost = state.map(|state| RollbackCheck::lost_at((&state, &to), store, &repository, head));
    if let Some(event) = lost.transpose()?.flatten() {
        let why = format!(
            "event {event} of this store was seen there, and {url} does not have it: clone to another one"
        );
        return Err(Error::invalid("the folder", why));
    }
    let owner = store::founding_key(&repository, head)?;
    let seen = Seen {
        commit: head,
        events,
        time: transfer.now,
    };
    if let Some(folder) = asks.as_ref().and_then(|asks| asks.keyring.as_deref()) {
        disk::make_private_folder_durably(folder)?;
    }
    let asks = asks.map(|asks| (asks.name, asks.role));
    local::begin(root, ORIGIN, url.clone(), seen, asks)?;
    repository.sync_head()?;
    root.sync_file_system()?;
    copy.put_in_place()?;
    Ok(Cloned {
        store,
        owner,
        pulled: Pulled {
            remote: ORIGIN.into(),
            head,
            received: events,
            events,
            missing: 0,
            report: Some(report),
        },
        keys_of,
    })
}

/// Tells whether a folder is a git repository, or the `.git` of one.
fn is_repository(path: &Path) -> bool {
    let at = Folder::at(path);
    at.is_ok_and(|at| at.has(&Name::HEAD) && at.has(&Name::OBJECTS) && at.has(&Name::REFS))
}

/// Fetches the whole history of a host into a new repository, and returns where it ends.
fn fetch_all(
    root: &Folder,
    repository: &Repository,
    url: &str,
    transfer: &mut Transfer<'_>,
) -> Result<ObjectId> {
    let host = Host {
        name: url,
        url,
        attended: transfer.attended,
        branches: false,
    };
    let git = TransferRepository::make(root, None)?;
    git.head_of(host)?.ok_or_else(|| empty(url))?;
    let sent = git.fetch(host, transfer.progress)?;
    let head = sent.ok_or_else(|| {
        let (remote, what) = (url.to_owned(), "its history is not whole".to_owned());
        Error::Remote(RemoteFault::Unverified { remote, what })
    })?;
    repository.take_packs(&git.repository)?.accept();
    repository.set_head(head)?;
    Ok(head)
}

/// Refuses a machine that could not be let in under its name, or whose keyring has no place.
fn check_asking(asks: &Asking, repository: &Repository, head: ObjectId) -> Result<()> {
    let (signers, members) = look::people_at(repository, head)?;
    let own = |what: &str, name: &str| {
        let why = format!(
            "{what} here is {name}'s: give each machine keys of its own, with --identity and \
             --signing-key"
        );
        Err(Error::invalid("the name", why))
    };
    if let Some(signer) = signers.of(&asks.key).filter(|of| of.name() != asks.name) {
        return own("the signing key", signer.name());
    }
    let mut signers = signers.entries();
    let is_others = |member: &Member| member.name == asks.name && member.recipient != asks.reads;
    if signers.any(|signer| signer.name() == asks.name && signer.key() != asks.key)
        || members.iter().any(is_others)
    {
        let why = "a machine or a person with other keys has it: choose another one";
        return Err(Error::invalid("the name", why));
    }
    let place = asks.keyring.as_deref().map(Folder::at);
    if place.is_some_and(|folder| folder.is_ok_and(|folder| folder.has(&Name::AUDIT))) {
        let why = "it has the keys of another copy: name an empty folder for those of this one";
        return Err(Error::invalid("the keyring", why));
    }
    let member = members.iter().find(|member| member.recipient == asks.reads);
    if let Some(member) = member.filter(|member| member.name != asks.name) {
        return own("the identity", &member.name);
    }
    Ok(())
}
