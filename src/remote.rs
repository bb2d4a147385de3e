//! Copies of a store elsewhere: what this machine sends to a git host, and what it takes from one.
//!
//! ```text
//! push    the store's commits, as they are, to a host that only takes what goes on from its own
//! pull    fetch → place the packs → verify → move the end of history: nothing is believed before
//! clone   the same into a new folder
//! local   the remotes and their URLs, in a file that no copy gets
//! git     the git program, in a repository of its own for each transfer
//! ```
//!
//! A host gets ciphertext, signatures and what is in the clear anyway (docs/format.md, section 13),
//! and never a key. What it serves is believed as far as `verify` believes it.

mod git;
mod local;

use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};

use self::git::{Host, TransferRepository};
use self::local::{LocalFile, given_url};
use crate::crypto::seal::Identity;
use crate::disk::{Folder, Name, NewFolder};
use crate::error::{Error, RemoteFault, Result};
use crate::id::{ObjectId, StoreId};
use crate::journal;
use crate::keyring::backup::{self, StagedBackup};
use crate::policy::Policy;
use crate::repository::Repository;
use crate::store::signed_checkpoint::SignedCheckpoint;
use crate::store::{self, ProgressFn, VerifyingKey};
use crate::verify::{self, FindingClass, Incoming, Options, Report};

pub use self::local::{Remote, Seen, add, list, remove};

/// The name that `clone` gives to where it came from.
pub const ORIGIN: &str = "origin";
/// How often a pull begins again because the store went on meanwhile.
const TRIES: usize = 3;
/// Findings of a history that is in order, and of keys that are older or newer than it.
const OF_KEYS: [&str; 6] = [
    "erased-key",
    "keyring",
    "keyring-ahead",
    "memory-closed",
    "memory-key",
    "record-closed",
];

/// What the caller of a transfer brings along.
pub struct Transfer<'a> {
    /// The time now; the library reads no clock.
    pub now: DateTime<Utc>,
    /// True if a person is there whom git may ask for a password.
    pub attended: bool,
    /// Told how many of how many objects were transferred.
    pub progress: &'a mut ProgressFn<'a>,
}

/// The result of a push.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pushed {
    /// The remote's name.
    pub remote: String,
    /// The newest commit, here and there.
    pub head: ObjectId,
    /// How many events were sent.
    pub sent: u64,
    /// How many events there are now, here and there.
    pub events: u64,
    /// How many events the remote had at an earlier push and no longer had before this one.
    pub lost: u64,
}

/// The result of a pull or a clone.
#[derive(Debug)]
#[non_exhaustive]
pub struct Pulled {
    /// The remote's name.
    pub remote: String,
    /// The newest commit now.
    pub head: ObjectId,
    /// How many events came.
    pub received: u64,
    /// How many events there are now.
    pub events: u64,
    /// How many events of this store the remote lacks.
    pub missing: u64,
    /// The verification of what came; `None` if nothing did.
    pub report: Option<Report>,
}

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
    /// True if the policy says that the keyring is elsewhere: then the caller of each command names
    /// the folder `keyring` of the copy.
    pub is_keyring_elsewhere: bool,
}

/// A backup of the keyring, as [`Store::backup_keys`](crate::store::Store::backup_keys) makes one.
pub struct KeyBackup {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The identity of a reader, which opens it.
    pub identity: Identity,
}

/// What `pull` is told besides the remote.
#[derive(Default)]
pub struct PullOptions {
    /// The identity that opens the keyring of this copy, if it has one.
    pub identity: Option<Identity>,
    /// The folder outside the store with what was seen of it: see [`Options::state`].
    pub state: Option<PathBuf>,
    /// The keyring's folder. By default it is where the policy says, or in the store.
    pub keyring: Option<PathBuf>,
    /// The keys to put in place together with what comes.
    pub keys: Option<KeyBackup>,
}

/// What `clone` is told besides the URL.
#[derive(Default)]
pub struct CloneOptions {
    /// Checkpoints that history must contain.
    pub checkpoints: Vec<SignedCheckpoint>,
    /// The keys to put in place.
    pub keys: Option<KeyBackup>,
}

fn opened(root: &Folder) -> Result<Repository> {
    let repository = Repository::open(root, journal::find)?;
    if repository.head()?.is_none() && !root.has(&Name::JOURNAL) {
        let path = root.path().into();
        return Err(Error::NoStore { path });
    }
    Ok(repository)
}

/// Counts the events after a commit up to another; `None` if the first does not come before.
fn events_after(
    repository: &Repository,
    known: Option<ObjectId>,
    head: ObjectId,
) -> Result<Option<u64>> {
    let commits = store::commits_between(repository, known, head)?;
    Ok(commits.map(|commits| commits.len() as u64))
}

/// Counts all events up to a commit, from where the remote was last seen if that comes before.
fn events_at(repository: &Repository, head: ObjectId, seen: Option<Seen>) -> Result<u64> {
    if let Some(seen) = seen
        && repository.has(seen.commit)?
        && let Some(more) = events_after(repository, Some(seen.commit), head)?
    {
        return Ok(seen.events.saturating_add(more));
    }
    Ok(events_after(repository, None, head)?.unwrap_or_default())
}

// Sending.

/// Sends the events that a remote lacks. Nothing there is ever overwritten.
///
/// # Errors
/// [`RemoteFault::Unreachable`] if git cannot talk to it, [`RemoteFault::Ahead`] if it has events
/// that are not here.
pub fn push(store: &Path, remote: Option<&str>, transfer: &mut Transfer<'_>) -> Result<Pushed> {
    let root = store::store_at(store)?;
    let remote = LocalFile::read(&root)?.find(remote)?;
    let repository = opened(&root)?;
    refuse_live_store(&remote.url)?;
    let host = host_of(&remote, transfer.attended);
    let head = store::placed_head(&root, &repository)?;
    let git = TransferRepository::make(&root, Some(head))?;
    let theirs = git.head_of(host)?;
    let sent = match theirs {
        Some(theirs) if !repository.has(theirs)? => None,
        theirs => events_after(&repository, theirs, head)?,
    };
    let ahead = || {
        let remote = remote.name.clone();
        Error::Remote(RemoteFault::Ahead { remote })
    };
    let sent = sent.ok_or_else(ahead)?;
    if sent > 0 && !git.push(host, head, transfer.progress)? {
        return Err(ahead());
    }
    let events = events_at(&repository, head, remote.seen)?;
    let there = events.saturating_sub(sent);
    let lost = remote
        .seen
        .map_or(0, |seen| seen.events.saturating_sub(there));
    let seen = Seen {
        commit: head,
        events,
        time: transfer.now,
    };
    local::remember(&root, &remote.name, seen);
    Ok(Pushed {
        remote: remote.name,
        head,
        sent,
        events,
        lost,
    })
}

/// Refuses to push into a folder that is a store in use: its branch would go on without its journal
/// and its keys.
fn refuse_live_store(url: &str) -> Result<()> {
    let path = url.strip_prefix("file://").unwrap_or(url);
    let at = Path::new(path);
    let is_live = |folder: Folder| folder.has(&Name::JOURNAL) || folder.has(&Name::KEYRING);
    if at.is_absolute() && Folder::at(at).is_ok_and(is_live) {
        let why = "it is a store that somebody uses, and such a store can only pull";
        return Err(Error::invalid("the URL", why));
    }
    Ok(())
}

fn host_of(remote: &Remote, attended: bool) -> Host<'_> {
    Host {
        name: &remote.name,
        url: &remote.url,
        attended,
    }
}

// Taking.

/// Takes the events that a remote has and the store lacks, once they are verified as strictly as
/// [`verify::verify`] does: with the keys of this copy, or with those that come along, which then
/// replace them.
///
/// # Errors
/// [`RemoteFault::Empty`] if the remote has no history, [`RemoteFault::Diverged`] if both have events
/// that the other lacks, [`RemoteFault::Unverified`] if what came is not this store's history in
/// order, [`RemoteFault::NoKeys`] if this copy has a keyring and lacks keys of what came. Then
/// nothing was taken.
pub fn pull(
    store: &Path,
    remote: Option<&str>,
    options: &PullOptions,
    transfer: &mut Transfer<'_>,
    verified: &mut dyn FnMut(verify::Progress),
) -> Result<Pulled> {
    let root = store::store_at(store)?;
    let remote = LocalFile::read(&root)?.find(remote)?;
    let repository = opened(&root)?;
    let host = host_of(&remote, transfer.attended);
    for _ in 0..TRIES {
        let ours = store::placed_head(&root, &repository)?;
        let git = TransferRepository::make(&root, Some(ours))?;
        let empty = || {
            let remote = remote.name.clone();
            Error::Remote(RemoteFault::Empty { remote })
        };
        let theirs = git.head_of(host)?.ok_or_else(empty)?;
        let mut missing = None;
        if repository.has(theirs)? {
            missing = events_after(&repository, Some(theirs), ours)?;
        }
        // Keys can come later than the history that they open.
        if let Some(missing) = missing.filter(|missing| *missing > 0 || options.keys.is_none()) {
            let events = events_at(&repository, ours, remote.seen)?;
            return Ok(Pulled {
                remote: remote.name,
                head: ours,
                received: 0,
                events,
                missing,
                report: None,
            });
        }
        let diverged = || {
            let remote = remote.name.clone();
            Error::Remote(RemoteFault::Diverged { remote })
        };
        let theirs = match missing {
            Some(_) => ours,
            None => git.fetch(host, transfer.progress)?.ok_or_else(diverged)?,
        };
        let ends = (ours, theirs);
        let report = take(
            &root,
            &repository,
            &git,
            &remote.name,
            ends,
            options,
            verified,
        )?;
        let Some(report) = report else { continue };
        let received = events_after(&repository, Some(ours), theirs)?.unwrap_or_default();
        let events = events_at(&repository, theirs, remote.seen)?;
        let seen = Seen {
            commit: theirs,
            events,
            time: transfer.now,
        };
        local::remember(&root, &remote.name, seen);
        return Ok(Pulled {
            remote: remote.name,
            head: theirs,
            received,
            events,
            missing: 0,
            report: Some(report),
        });
    }
    Err(Error::Remote(RemoteFault::Overtaken))
}

/// Verifies what came, and moves the end of history to it; `None` if the store went on meanwhile.
fn take(
    root: &Folder,
    repository: &Repository,
    git: &TransferRepository,
    remote: &str,
    (ours, theirs): (ObjectId, ObjectId),
    options: &PullOptions,
    verified: &mut dyn FnMut(verify::Progress),
) -> Result<Option<Report>> {
    let packing = repository.pack_lock()?;
    let packs = repository.take_packs(&git.repository)?;
    let keys = options.keys.as_ref();
    let staged = keys.map(|keys| stage(root, repository, ours, options, keys));
    let mut staged = staged.transpose()?;
    let with = Options {
        identity: keys.map_or_else(
            || options.identity.clone(),
            |keys| Some(keys.identity.clone()),
        ),
        state: options.state.clone(),
        keyring: match &staged {
            Some(staged) => Some(staged.folder().path().to_owned()),
            None => options.keyring.clone(),
        },
        ..Options::default()
    };
    let incoming = Incoming {
        head: theirs,
        known: ours,
    };
    let report = verify::verify_incoming(root, &with, incoming, verified)?;
    if store::placed_head(root, repository)? != ours {
        // The caches are of a later event, and what came does not go on from that.
        return Ok(None);
    }
    if let Some(local) = report.findings.iter().find(|finding| is_local(finding)) {
        let hint = "run `agekeep verify`, which says more of it; nothing was taken";
        return Err(Error::damaged_with_hint("this copy", &local.what, hint));
    }
    let follows = || events_after(repository, Some(ours), theirs);
    let report = accept_verified(report, remote, follows)?;
    if report.trial.is_none() && has_keyring(root, repository, ours, &with) {
        // A keyring that nobody opened could lack keys of what came.
        let path = with.keyring.unwrap_or_else(|| root.path_of(&Name::KEYRING));
        return Err(Error::NotARecipient { path });
    }
    let keys = staged.as_mut().zip(with.identity.as_ref());
    // Once the record may be on the disk, the packs stay, whatever happens then.
    let keep = || packs.accept();
    let is_moved = store::fast_forward(root, repository, (ours, theirs), keys, keep)?;
    drop(packing);
    Ok(is_moved.then_some(report))
}

/// Tells whether this copy has a keyring, where its policy or the caller says.
fn has_keyring(root: &Folder, repository: &Repository, head: ObjectId, with: &Options) -> bool {
    let policy = policy_at(repository, head).map(|(_, policy)| policy);
    let policy = policy.unwrap_or_default();
    let folder = store::keyring_at(root, with.keyring.as_deref(), &policy);
    // A folder alone is left by keys that did not fit.
    folder.is_ok_and(|folder| folder.has(&Name::AUDIT))
}

fn policy_at(repository: &Repository, head: ObjectId) -> Result<(StoreId, Policy)> {
    let blobs = store::config_blobs_at(repository, head)?;
    store::parse_recorded_policy(&repository.public(blobs.policy)?)
}

/// Puts the keys that come along beside those of this copy, or where its keyring will be.
fn stage(
    root: &Folder,
    repository: &Repository,
    head: ObjectId,
    options: &PullOptions,
    keys: &KeyBackup,
) -> Result<StagedBackup> {
    let (id, policy) = policy_at(repository, head)?;
    let keyring = match store::keyring_at(root, options.keyring.as_deref(), &policy) {
        Err(Error::NoKeyring { .. }) if policy.keyring.folder.is_none() => {
            let made = root.make_folder(&Name::KEYRING, 0o700);
            let keyring = made.and_then(|()| root.sub(&Name::KEYRING));
            keyring.map_err(root.fault("make", &Name::KEYRING))?
        }
        found => found?,
    };
    StagedBackup::stage(&keys.bytes, &keys.identity, id, &keyring)
}

/// Tells whether a finding is about this copy, and about no commit and no key.
fn is_local(finding: &verify::Finding) -> bool {
    let is_of_history = finding.event.is_some() || finding.commit.is_some();
    let is_of_keys = OF_KEYS.contains(&finding.id);
    finding.class == FindingClass::Tampered && !is_of_history && !is_of_keys
}

/// Refuses a history that is tampered with, or that lacks what has to come before it.
fn accept_verified(
    report: Report,
    remote: &str,
    follows: impl FnOnce() -> Result<Option<u64>>,
) -> Result<Report> {
    let remote = remote.to_owned();
    let grave = |finding: &&verify::Finding| finding.class == FindingClass::Tampered;
    if report.worst == Some(FindingClass::Tampered) {
        let is_of_keys = |finding: &verify::Finding| OF_KEYS.contains(&finding.id);
        if report.findings.iter().filter(grave).all(is_of_keys) {
            return Err(Error::Remote(RemoteFault::NoKeys { remote }));
        }
        let first = report.findings.iter().find(grave);
        let what = first.map_or_else(String::new, |first| format!("{}: {}", first.id, first.what));
        return Err(Error::Remote(RemoteFault::Unverified { remote, what }));
    }
    if follows()?.is_none() {
        return Err(Error::Remote(RemoteFault::Diverged { remote }));
    }
    Ok(report)
}

/// Makes a copy of the store that a host has, at a new place, once it is verified. With a backup of the
/// keyring the copy can be read and written; without one it can be verified and kept.
///
/// # Errors
/// As [`pull`]; [`ExportFault::InTheWay`](crate::error::ExportFault::InTheWay) if something is in its
/// place. Then nothing was made.
pub fn clone(
    url: &str,
    to: &Path,
    options: CloneOptions,
    transfer: &mut Transfer<'_>,
    verified: &mut dyn FnMut(verify::Progress),
) -> Result<Cloned> {
    let url = given_url(url)?;
    let copy = NewFolder::begin(to, |above| {
        let is_repository = |path: &Path| {
            let at = Folder::at(path);
            at.is_ok_and(|at| at.has(&Name::HEAD) && at.has(&Name::OBJECTS) && at.has(&Name::REFS))
        };
        let mut folders = above.path().ancestors();
        folders.any(is_repository).then_some("in a repository")
    })?;
    let root = copy.folder();
    let repository = Repository::create(root, journal::find)?;
    let host = Host {
        name: &url,
        url: &url,
        attended: transfer.attended,
    };
    let git = TransferRepository::make(root, None)?;
    let empty = || {
        let remote = url.clone();
        Error::Remote(RemoteFault::Empty { remote })
    };
    git.head_of(host)?.ok_or_else(empty)?;
    let sent = git.fetch(host, transfer.progress)?;
    let head = sent.ok_or_else(|| {
        let what = "its history is not whole".into();
        let remote = url.clone();
        Error::Remote(RemoteFault::Unverified { remote, what })
    })?;
    repository.take_packs(&git.repository)?.accept();
    drop(git);
    repository.set_head(head)?;
    let keys_of = match &options.keys {
        Some(keys) => {
            let (store, _) = policy_at(&repository, head)?;
            let made = root.make_folder(&Name::KEYRING, 0o700);
            let keyring = made.and_then(|()| root.sub(&Name::KEYRING));
            let keyring = keyring.map_err(root.fault("make", &Name::KEYRING))?;
            let (event, _) = backup::restore(&keys.bytes, &keys.identity, store, &keyring)?;
            Some(event)
        }
        None => None,
    };
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
    let (store, policy) = policy_at(&repository, head)?;
    let owner = store::founding_key(&repository, head)?;
    let seen = Seen {
        commit: head,
        events,
        time: transfer.now,
    };
    local::begin(root, ORIGIN, url.clone(), seen)?;
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
        is_keyring_elsewhere: policy.keyring.folder.is_some(),
    })
}
