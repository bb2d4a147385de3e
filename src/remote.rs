//! Copies of a store elsewhere: what this machine sends to a git host, and what it takes from one.
//!
//! ```text
//! push      the store's commits, as they are, to a host that only takes what goes on from its own
//! pull      fetch → place the packs → verify → move the end of history: nothing is believed before
//! clone     the same into a new folder
//! sync      both, and what machines tell each other: how far they are, and keys for each other
//! replicas  the machines that have a copy, letting one in, and leaving
//! card      what a machine says of itself, signed, at the host
//! look      the refs and cards that a host has, and how far they are believed
//! local     the remotes and their URLs, and cards that were seen, in a file that no copy gets
//! git       the git program, in a repository of its own for each transfer
//! ```
//!
//! A host gets ciphertext, signatures and what is in the clear anyway (docs/format.md, sections 13 and
//! 14). Keys pass through it only encrypted to a machine that destroys what decrypts them. What it
//! serves is believed as far as `verify` believes it.

mod card;
mod clone;
mod git;
mod local;
mod look;
mod replicas;
mod sync;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use zeroize::Zeroizing;

use self::git::{Host, TransferRepository};
use self::local::LocalFile;
use self::look::{Look, look_again};
use self::sync::Machine;
use crate::crypto::seal::Identity;
use crate::disk::{Folder, Name};
use crate::error::{Error, RemoteFault, Result};
use crate::id::{ObjectId, StoreId};
use crate::journal;
use crate::keyring::backup::{self, StagedBackup};
use crate::policy::Policy;
use crate::repository::{BRANCH, IncomingPacks, Repository};
use crate::store::{self, Clock, Keys, ProgressFn};
use crate::verify::{self, FindingClass, Incoming, Options, Report};

#[cfg(any(fuzzing, test))]
pub use self::card::fuzz as fuzz_card;
pub use self::clone::{Asking, CloneOptions, Cloned, clone};
pub use self::local::{Remote, Seen, add, list, remove};
pub use self::look::{Inspected, inspect};
pub use self::replicas::{Admission, Replica, ReplicaKeys, admit, leave, replicas};
pub use self::sync::{Synced, sync};

/// The name that `clone` gives to where it came from.
pub const ORIGIN: &str = "origin";
/// How often a transfer begins again because the store or the host went on meanwhile.
const TRIES: usize = 4;
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
    let mut pushed = None;
    for _ in 0..TRIES {
        let head = store::placed_head(&root, &repository)?;
        let git = TransferRepository::make(&root, Some(head))?;
        let waits = |error| look::say_what_waits(&repository, (remote.seen, head), error);
        let theirs = git.head_of(host).map_err(waits)?;
        let sent = match theirs {
            Some(theirs) if !repository.has(theirs)? => None,
            theirs => events_after(&repository, theirs, head)?,
        };
        let sent = sent.ok_or_else(|| {
            let remote = remote.name.clone();
            Error::Remote(RemoteFault::Ahead { remote })
        })?;
        if sent == 0 || git.push(host, (theirs, head), transfer.progress)? {
            pushed = Some((head, sent));
            break;
        }
    }
    let (head, sent) = pushed.ok_or(Error::Remote(RemoteFault::Overtaken))?;
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
        branches: remote.branches,
    }
}

// Taking.

/// The keys to take history with.
#[derive(Default)]
struct IncomingKeys {
    /// A decrypted backup or mail; without it those that are here.
    plain: Option<Zeroizing<Vec<u8>>>,
    /// The machine whose mail it is.
    sender: Option<String>,
    /// Why nothing is taken though history verifies.
    refusal: Option<RemoteFault>,
}

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
    let local = LocalFile::read(&root)?;
    let remote = local.find(remote)?;
    let repository = opened(&root)?;
    let keyring = options.keyring.as_deref();
    let head = store::placed_head(&root, &repository)?;
    if options.keys.is_none() && !has_keyring(&root, &repository, head, keyring) {
        // History without its keys would be here when they are back.
        local.check_keyring(keyring)?;
    }
    let host = host_of(&remote, transfer.attended);
    let mut backup = options.keys.as_ref().map(|keys| (keys, None));
    let mut keys = |_: ObjectId| {
        let Some((keys, plain)) = &mut backup else {
            return Ok(IncomingKeys::default());
        };
        if plain.is_none() {
            *plain = Some(backup::open(&keys.bytes, &keys.identity)?);
        }
        Ok(IncomingKeys {
            plain: plain.clone(),
            ..IncomingKeys::default()
        })
    };
    for _ in 0..TRIES {
        let ours = store::placed_head(&root, &repository)?;
        let git = TransferRepository::make(&root, Some(ours))?;
        let theirs = git.head_of(host)?.ok_or_else(|| empty(&remote.name))?;
        let from = Source {
            root: &root,
            repository: &repository,
            remote: &remote,
            git: &git,
        };
        let ends = fetch_history(&from, (ours, theirs), transfer)?;
        let pulled = receive(&from, ends, options, &mut keys, transfer.now, verified)?;
        if let Some(pulled) = pulled {
            return Ok(pulled);
        }
    }
    Err(Error::Remote(RemoteFault::Overtaken))
}

/// As [`pull`], with the keys that other machines sent to this one. It sends nothing itself.
///
/// # Errors
/// As [`pull`]; [`RemoteFault::NoKeys`] if nobody has sent keys that are missing.
pub fn pull_with_mail(
    store: &Path,
    remote: Option<&str>,
    keys: (Keys, Clock),
    transfer: &mut Transfer<'_>,
    verified: &mut dyn FnMut(verify::Progress),
) -> Result<Pulled> {
    let root = store::store_at(store)?;
    let local = LocalFile::read(&root)?;
    let remote = local.find(remote)?;
    let repository = opened(&root)?;
    let machine = Machine::begin(&root, &repository, keys, &local)?;
    let mut passed_over = BTreeSet::new();
    let mut tries_left = TRIES;
    while tries_left > 0 {
        tries_left -= 1;
        let ours = store::placed_head(&root, &repository)?;
        let git = TransferRepository::make(&root, Some(ours))?;
        let mut look = Look::at(&root, &remote, &git, transfer)?;
        look.passed_over.clone_from(&passed_over);
        let theirs = look.refs.get(BRANCH).copied();
        let theirs = theirs.ok_or_else(|| empty(&remote.name))?;
        match machine.pull(&git, &mut look, (ours, theirs), transfer, verified) {
            Ok(Some((pulled, _))) => return Ok(pulled),
            Ok(None) => {}
            Err(error) if look_again(&error, tries_left) => {}
            Err(error) => match look.unfit.take() {
                Some(machine) => tries_left += usize::from(passed_over.insert(machine)),
                None => return Err(error),
            },
        }
    }
    Err(Error::Remote(RemoteFault::Overtaken))
}

fn empty(remote: &str) -> Error {
    let remote = remote.to_owned();
    Error::Remote(RemoteFault::Empty { remote })
}

/// A store, and the remote that it takes from.
struct Source<'a> {
    root: &'a Folder,
    repository: &'a Repository,
    remote: &'a Remote,
    git: &'a TransferRepository,
}

/// Where history ends here and at a remote.
#[derive(Clone, Copy)]
struct Ends {
    ours: ObjectId,
    theirs: ObjectId,
    /// How many of our events the remote lacks; `None` if it has others, which were fetched.
    missing: Option<u64>,
}

/// Fetches what a remote has beyond our end of history.
fn fetch_history(
    from: &Source<'_>,
    (ours, theirs): (ObjectId, ObjectId),
    transfer: &mut Transfer<'_>,
) -> Result<Ends> {
    let mut ends = Ends {
        ours,
        theirs,
        missing: None,
    };
    if from.repository.has(theirs)? {
        ends.missing = events_after(from.repository, Some(theirs), ours)?;
    }
    if ends.missing.is_none() {
        let host = host_of(from.remote, transfer.attended);
        let fetched = from.git.fetch(host, transfer.progress)?;
        let remote = from.remote.name.clone();
        let diverged = || Error::Remote(RemoteFault::Diverged { remote });
        ends.theirs = fetched.ok_or_else(diverged)?;
    }
    Ok(ends)
}

/// Takes what was fetched, with the keys that `keys` finds for its end; `None` if the store went on
/// meanwhile. No network is waited for.
fn receive(
    from: &Source<'_>,
    ends: Ends,
    options: &PullOptions,
    keys: &mut dyn FnMut(ObjectId) -> Result<IncomingKeys>,
    now: DateTime<Utc>,
    verified: &mut dyn FnMut(verify::Progress),
) -> Result<Option<Pulled>> {
    let (repository, remote) = (from.repository, from.remote);
    let (ours, theirs) = (ends.ours, ends.theirs);
    let nothing_new = |missing: u64| {
        let events = events_at(repository, ours, remote.seen)?;
        let seen = Seen {
            commit: theirs,
            events: events.saturating_sub(missing),
            time: now,
        };
        local::remember_taken(from.root, &remote.name, seen);
        Ok(Some(Pulled {
            remote: remote.name.clone(),
            head: ours,
            received: 0,
            events,
            missing,
            report: None,
        }))
    };
    // Keys can come later than the history that they open.
    let early = match ends.missing {
        Some(missing @ 1..) => return nothing_new(missing),
        Some(0) => {
            let keys = keys(theirs)?;
            if keys.plain.is_none() {
                return nothing_new(0);
            }
            Some(keys)
        }
        None => None,
    };
    let packing = repository.pack_lock()?;
    let packs = repository.take_packs(&from.git.repository)?;
    let keys = early.map_or_else(|| keys(theirs), Ok)?;
    let report = take(from, packs, (ours, theirs), options, keys, verified)?;
    drop(packing);
    let Some(report) = report else {
        return Ok(None);
    };
    let received = events_after(repository, Some(ours), theirs)?.unwrap_or_default();
    let events = events_at(repository, theirs, remote.seen)?;
    let seen = Seen {
        commit: theirs,
        events,
        time: now,
    };
    local::remember_taken(from.root, &remote.name, seen);
    Ok(Some(Pulled {
        remote: remote.name.clone(),
        head: theirs,
        received,
        events,
        missing: 0,
        report: Some(report),
    }))
}

/// Verifies what came, and moves the end of history to it; `None` if the store went on meanwhile.
fn take(
    from: &Source<'_>,
    packs: IncomingPacks<'_>,
    (ours, theirs): (ObjectId, ObjectId),
    options: &PullOptions,
    keys: IncomingKeys,
    verified: &mut dyn FnMut(verify::Progress),
) -> Result<Option<Report>> {
    let (root, repository) = (from.root, from.repository);
    let identity = options.identity_of_keys();
    let given = keys.plain.as_ref().map(|plain| &plain[..]).zip(identity);
    let staged = given.map(|given| stage(root, repository, ours, options, given));
    let mut staged = match staged.transpose() {
        // Mail that goes on from other keys than are here: all of them are asked for.
        Err(Error::Damaged { .. } | Error::UnknownFormat { .. }) if options.keys.is_none() => {
            let remote = from.remote.name.clone();
            return Err(Error::Remote(RemoteFault::NoKeys { remote }));
        }
        staged => staged?,
    };
    // Other keys than those that history was verified with could open less of it.
    let full = staged.as_ref().is_some_and(|staged| !staged.keeps_keys());
    let with = Options {
        full,
        identity: match &staged {
            Some(_) => identity.cloned(),
            None => options.identity.clone(),
        },
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
        before: staged.as_ref().and_then(StagedBackup::before),
    };
    let report = verify::verify_incoming(root, &with, incoming, verified);
    if staged.as_ref().is_some_and(|staged| !staged.is_whole()) {
        // Another command that changes keys removed them.
        return Ok(None);
    }
    let (report, point) = report?;
    if store::placed_head(root, repository)? != ours {
        // The caches are of a later event, and what came does not go on from that.
        return Ok(None);
    }
    refuse_local_faults(&report, staged.is_some(), keys.sender)?;
    let follows = || events_after(repository, Some(ours), theirs);
    let report = accept_verified(report, &from.remote.name, follows);
    let report = match (report, keys.refusal) {
        (Ok(_) | Err(Error::Remote(RemoteFault::NoKeys { .. })), Some(refusal)) => {
            return Err(Error::Remote(refusal));
        }
        (report, _) => report?,
    };
    if report.trial.is_none() && has_keyring(root, repository, ours, with.keyring.as_deref()) {
        // A keyring that nobody opened could lack keys of what came.
        let path = with.keyring.unwrap_or_else(|| root.path_of(&Name::KEYRING));
        return Err(Error::NotARecipient { path });
    }
    let keys = staged.as_mut().zip(with.identity.as_ref());
    // Once the record may be on the disk, the packs stay, whatever happens then.
    let keep = || packs.accept();
    let is_moved = store::fast_forward(root, repository, (ours, theirs), keys, keep)?;
    if let Some(point) = point.filter(|_| is_moved) {
        point.keep(root, repository);
    }
    Ok(is_moved.then_some(report))
}

/// Refuses what is wrong with this copy, and with the keys that came if some did.
fn refuse_local_faults(report: &Report, has_come: bool, sender: Option<String>) -> Result<()> {
    let came = |finding: &&verify::Finding| has_come && finding.id.starts_with("key-");
    let mut local = report.findings.iter().filter(|finding| is_local(finding));
    if let Some(local) = local.find(|finding| !came(finding)) {
        let hint = "run `agekeep verify`, which says more of it; nothing was taken";
        let what = match local.event {
            Some(event) => format!("event {event}: {}", local.what),
            None => local.what.clone(),
        };
        return Err(Error::damaged_with_hint("this copy", what, hint));
    }
    let Some(fault) = report.findings.iter().find(came) else {
        return Ok(());
    };
    Err(Error::Remote(RemoteFault::WrongKeys {
        machine: sender,
        what: format!("{}: {}", fault.id, fault.what),
    }))
}

impl PullOptions {
    /// Returns the identity that opens the keys which come along.
    fn identity_of_keys(&self) -> Option<&Identity> {
        let keys = self.keys.as_ref().map(|keys| &keys.identity);
        keys.or(self.identity.as_ref())
    }
}

/// Tells whether this copy has a keyring, where its policy or the caller says.
fn has_keyring(
    root: &Folder,
    repository: &Repository,
    head: ObjectId,
    said: Option<&Path>,
) -> bool {
    let policy = policy_at(repository, head).map(|(_, policy)| policy);
    let policy = policy.unwrap_or_default();
    let folder = store::keyring_at(root, said, &policy);
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
    (keys, identity): (&[u8], &Identity),
) -> Result<StagedBackup> {
    let (id, _) = policy_at(repository, head)?;
    let keyring = keyring_folder(root, repository, head, options.keyring.as_deref())?;
    store::clear_staged(root, repository, &keyring)?;
    StagedBackup::stage(keys, identity, id, &keyring)
}

/// Returns the folder of the keyring that is or will be.
fn keyring_folder(
    root: &Folder,
    repository: &Repository,
    head: ObjectId,
    said: Option<&Path>,
) -> Result<Folder> {
    let (_, policy) = policy_at(repository, head)?;
    match store::keyring_at(root, said, &policy) {
        Err(Error::NoKeyring { .. }) if said.is_none() && store::keyring_place(root)?.is_none() => {
            made_keyring_folder(root)
        }
        found => found,
    }
}

/// Makes the folder of a keyring in a store.
fn made_keyring_folder(root: &Folder) -> Result<Folder> {
    let made = root.make_folder(&Name::KEYRING, 0o700);
    let folder = made.and_then(|()| root.sub(&Name::KEYRING));
    folder.map_err(root.fault("make", &Name::KEYRING))
}

/// Tells whether a finding is about this copy, and about no commit and no key.
fn is_local(finding: &verify::Finding) -> bool {
    let is_of_pin = finding.id.starts_with("pin-");
    let is_of_history = !is_of_pin && (finding.event.is_some() || finding.commit.is_some());
    finding.class == FindingClass::Tampered && !is_of_history && !OF_KEYS.contains(&finding.id)
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
