//! This replica: whether it is in touch, what it can say of itself to others, mail with keys for those that
//! lack some, and how its own keys are destroyed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use chrono::{DateTime, Datelike, Utc};
use serde::Deserialize;

use crate::crypto::digest::Digest;
use crate::crypto::recipients::{Member, Role};
use crate::crypto::seal::{Recipient, Sealed};
use crate::crypto::sign::{Signers, SigningKey};
use crate::disk::{Folder, Lock, Name};
use crate::error::{Error, RemoteFault, Result};
use crate::event::Event;
use crate::id::{ObjectId, StoreId, hex};
use crate::keyring::backup::{self, AuditorMailbox, ReaderMailbox};
use crate::keyring::{self, HeldKeys, mailbox};
use crate::policy::expiration::Lifetime;
use crate::repository::Repository;
use crate::store::keyring_location::{changes_keys, check_one_keyring};
use crate::store::recovery::{commits_between, open_journal, refresh};
use crate::store::signers::signer_now;
use crate::store::{SignerRole, Store, VerifyingKey, lock};

/// When this copy reached its remotes, as `local.toml` says it.
#[derive(Deserialize)]
struct Reached {
    /// When a remote that is no longer there was reached.
    reached: Option<String>,
    #[serde(default)]
    remotes: BTreeMap<String, ReachedRemote>,
}

#[derive(Deserialize)]
struct ReachedRemote {
    reached: Option<String>,
    #[serde(default)]
    cards: BTreeMap<String, String>,
}

/// Refuses a command on a copy that has taken nothing from its remotes for longer than the policy allows. Without
/// that setting no file is read; a copy that never took anything stays open.
///
/// # Errors
/// [`RemoteFault::Closed`]; [`Error::Damaged`] if `local.toml` is not valid.
pub(crate) fn check_in_touch(store: &Store, now: DateTime<Utc>) -> Result<()> {
    let Lifetime::For(allowed) = store.state.config.policy.replicas.closes_after else {
        return Ok(());
    };
    let root = &store.ledger.root;
    if !root.has(&Name::LOCAL) {
        return Ok(());
    }
    let bytes = root.read(&Name::LOCAL);
    let bytes = bytes.map_err(root.fault("read", &Name::LOCAL))?;
    let text = String::from_utf8_lossy(&bytes);
    let own = signing_key(store).ok();
    let own = own.map(|key| digits_of(&key.verifying_key()));
    let last = last_reached(&text, own.as_deref()).map_err(|why| {
        let path = root.path_of(&Name::LOCAL).display().to_string();
        let hint = "correct the file, or remove it, add the remotes again and run `agekeep sync`";
        Error::damaged_with_hint(path, why, hint)
    })?;
    match last {
        // Of a clock that was far ahead nothing is known.
        Some(last) if (now - last).abs() > allowed.delta() => {
            Err(Error::Remote(RemoteFault::Closed {
                last,
                allowed: allowed.in_words(),
            }))
        }
        _ => Ok(()),
    }
}

/// Returns the digits of a machine's refs: the beginning of the SHA-256 of its public key. Nobody else
/// can sign a card that belongs there.
pub(crate) fn digits_of(key: &VerifyingKey) -> String {
    let public = key.bytes().expect("signing keys are Ed25519");
    hex(&Digest::of(&public).0[..8])
}

/// Reads when something was last taken from a remote, or nothing was new there; `None` if that never was. `own`
/// has the digits of this machine.
fn last_reached(text: &str, own: Option<&str>) -> Result<Option<DateTime<Utc>>, &'static str> {
    let fault = "it does not say when the remotes were reached";
    let reached: Reached = toml::from_str(text).map_err(|_| fault)?;
    let remotes = reached.remotes.values();
    // A remote where other machines tell of themselves has every erasure; a copy elsewhere may be old.
    let has_others = |remote: &&ReachedRemote| {
        let mut cards = remote.cards.keys();
        cards.any(|digits| Some(digits.as_str()) != own)
    };
    let has_cards = remotes.clone().any(|remote| has_others(&remote));
    let counted = remotes.filter(|remote| !has_cards || has_others(remote));
    let times = counted.filter_map(|remote| remote.reached.as_ref());
    let times = times
        .chain(&reached.reached)
        .map(|time| time.parse::<DateTime<Utc>>());
    let times: Result<Vec<_>, _> = times.collect();
    Ok(times.map_err(|_| fault)?.into_iter().max())
}

/// Most machines to which one card has mail. Where more lack keys, each day has others in turn.
const ADDRESSEES_MAX: usize = 100;

/// Another machine, as its card describes it.
pub(crate) struct Addressee {
    pub(crate) role: Role,
    pub(crate) mailbox: Recipient,
    pub(crate) keys: Option<HeldKeys>,
    /// How many events its history has.
    pub(crate) events: u64,
}

/// This machine: what its card says, and the mail that goes with it.
pub(crate) struct OwnSide {
    pub(crate) name: String,
    pub(crate) reads: Recipient,
    pub(crate) role: Role,
    pub(crate) mailbox: Recipient,
    /// `None` for a machine that asks for keys.
    pub(crate) keys: Option<HeldKeys>,
    pub(crate) events: u64,
    pub(crate) head: ObjectId,
    pub(crate) digest: Digest,
    pub(crate) readers: Option<Sealed>,
    pub(crate) auditors: Option<Sealed>,
    /// The mailboxes to which the mail is, with the entries at which it begins.
    pub(crate) sent: Vec<(u32, u32, String)>,
}

/// Describes this machine as of now, and encrypts keys for the machines that lack some. `others` picks them
/// by the signers and members there are.
///
/// # Errors
/// [`Error::NotASigner`], [`Error::NoSigningKey`]; otherwise as for [`Store::backup_keys`].
pub(crate) fn own_side(
    store: &mut Store,
    others: impl FnOnce(&Signers, &[Member]) -> Vec<Addressee>,
) -> Result<OwnSide> {
    let lock = lock(&mut store.ledger)?;
    refresh(store)?;
    let (_, signer) = signer_now(store)?;
    let name = signer.name().to_owned();
    let (keyring, config) = (&store.ledger.keyring, &store.state.config);
    let own = keyring.identity().recipients();
    let member = config.members.iter();
    let member = member.filter(|member| own.contains(&member.recipient));
    // Others send keys to a machine whose identity and signing key have one name.
    let member = member.min_by_key(|member| (member.name != name, member.role != Role::Reader));
    let member = member.ok_or_else(|| Error::NotARecipient {
        path: keyring.folder().path().to_owned(),
    })?;
    let key = mailbox::open_or_make(keyring.folder(), keyring.store(), keyring.identity())?;
    let mut side = OwnSide {
        name,
        reads: member.recipient.clone(),
        role: member.role,
        mailbox: Recipient::parse(&key.public_text()).expect("it is one"),
        keys: Some(keyring.held()),
        events: store.state.catalog.events,
        head: store.ledger.journal.head(),
        digest: store.ledger.chain,
        readers: None,
        auditors: None,
        sent: Vec::new(),
    };
    let others = others(&config.signers, &config.members);
    write_mail(store, &mut side, &others)?;
    drop(lock);
    Ok(side)
}

/// Encrypts what the others lack. Machines that are ahead of this one, or have all of it, get nothing.
fn write_mail(store: &Store, side: &mut OwnSide, others: &[Addressee]) -> Result<()> {
    let (keyring, members) = (&store.ledger.keyring, &store.state.config.members);
    if !keyring.is_reader() {
        return Ok(());
    }
    let Some(own) = side.keys else { return Ok(()) };
    let lacks = |other: &&Addressee| {
        other.events <= side.events && other.keys.is_none_or(|keys| !keys.fits(own, other.role))
    };
    let lacking: Vec<&Addressee> = others.iter().filter(lacks).collect();
    let lacking = in_turn(&lacking, now_of(store));
    let end = (side.events.saturating_sub(1), side.head);
    for role in [Role::Reader, Role::Auditor] {
        let of_role = lacking.iter().filter(|other| other.role == role);
        let to: Vec<Recipient> = of_role.clone().map(|other| other.mailbox.clone()).collect();
        if to.is_empty() {
            continue;
        }
        // Where all have these keys, the entries after those that the one with fewest has.
        let first = of_role
            .map(|other| other.keys.and_then(|keys| keys.entries_under(own, role)))
            .reduce(|a, b| Some((a?.0.min(b?.0), a?.1.min(b?.1))))
            .flatten();
        let (in_ring, in_names) = first.unwrap_or_default();
        let named = to.iter().map(|to| (in_ring, in_names, to.to_string()));
        side.sent.extend(named);
        match role {
            Role::Reader => {
                let to: Vec<_> = to.into_iter().map(ReaderMailbox).collect();
                let mail = backup::mail_to_readers(keyring, members, end, &to, first)?;
                side.readers = Some(mail);
            }
            Role::Auditor => {
                let to: Vec<_> = to.into_iter().map(AuditorMailbox).collect();
                let first = first.map(|_| in_names);
                let mail = backup::mail_to_auditors(keyring, members, end, &to, first)?;
                side.auditors = Some(mail);
            }
        }
    }
    side.sent.sort();
    Ok(())
}

/// Returns the key that signs this machine's commits and cards, if it is a signer's now.
///
/// # Errors
/// As [`own_side`].
pub(crate) fn signing_key(store: &Store) -> Result<&SigningKey> {
    signer_now(store).map(|(key, _)| key)
}

/// Refuses a copy that has the keyring of another store in use.
///
/// # Errors
/// As [`Store::execute`] of such a copy.
pub(crate) fn check_own_keyring(store: &Store) -> Result<()> {
    check_one_keyring(store)
}

/// Returns the folder of the keyring.
pub(crate) fn folder_of_keys(store: &Store) -> PathBuf {
    store.ledger.keyring.folder().path().to_owned()
}

/// Returns what this machine has of the keys.
pub(crate) fn held_keys(store: &Store) -> HeldKeys {
    store.ledger.keyring.held()
}

/// Counts what these commits erased and no key here decrypts any more: memories, whole or their earlier
/// versions, and all their versions.
///
/// # Errors
/// [`Error::Damaged`] if a commit cannot be read.
pub(crate) fn count_erased(store: &Store, commits: &[ObjectId]) -> Result<(u64, u64)> {
    let (repository, keyring) = (&store.ledger.repository, &store.ledger.keyring);
    let mut memories = BTreeSet::new();
    let mut versions: BTreeSet<ObjectId> = BTreeSet::new();
    for id in commits {
        let (commit, _) = repository.commit(*id)?;
        if !changes_keys(&commit.message) {
            continue;
        }
        // Whoever became an auditor meanwhile cannot read the records of before.
        let Ok(event) = Event::from_message(&commit.message, keyring) else {
            continue;
        };
        for erased in event.receipt.iter().flat_map(|receipt| &receipt.memories) {
            memories.insert(erased.memory);
            // A later receipt lists the versions of an earlier one again.
            versions.extend(&erased.blobs);
        }
    }
    Ok((memories.len() as u64, versions.len() as u64))
}

/// Returns the numbers of the events after a commit that erased something: memories, or versions of them.
///
/// # Errors
/// As [`count_erased`].
pub(crate) fn erasures_after(store: &Store, known: Option<ObjectId>) -> Result<Vec<u64>> {
    let repository = &store.ledger.repository;
    let commits = commits_between(repository, known, head_of(store))?.unwrap_or_default();
    let first = store
        .state
        .catalog
        .events
        .saturating_sub(commits.len() as u64);
    let mut erasures = Vec::new();
    for (number, id) in (first..).zip(&commits) {
        let (commit, _) = repository.commit(*id)?;
        let erases = match commit.message.lines().next() {
            Some("erase ok" | "redact ok") => true,
            Some("expire ok") => count_erased(store, std::slice::from_ref(id))?.0 > 0,
            _ => false,
        };
        if erases {
            erasures.push(number);
        }
    }
    Ok(erasures)
}

/// Returns the store's id.
pub(crate) fn id_of(store: &Store) -> StoreId {
    store.state.id
}

/// Returns the time by the store's clock.
pub(crate) fn now_of(store: &Store) -> DateTime<Utc> {
    (store.state.clock)()
}

/// Returns the newest commit that is known here.
pub(crate) fn head_of(store: &Store) -> ObjectId {
    store.ledger.journal.head()
}

/// Returns the signers and the members as of the newest commit that is known here.
pub(crate) fn people(store: &Store) -> (&Signers, &[Member]) {
    let config = &store.state.config;
    (&config.signers, &config.members)
}

/// Destroys the files of a keyring and the mailbox, if history still ends at a commit; `false` if it does
/// not.
///
/// # Errors
/// [`Error::Io`] if one is still there.
pub(crate) fn destroy_keys(
    root: &Folder,
    repository: &Repository,
    folder: &Folder,
    end: ObjectId,
) -> Result<bool> {
    let lock = Lock::acquire(root)?;
    if open_journal(root, repository)?.head() != end {
        return Ok(false);
    }
    keyring::remove_staged(folder)?;
    // Without it there is no keyring, so that whoever is stopped here goes on with the removal.
    if folder.has(&Name::AUDIT) {
        let removed = folder.remove(&Name::AUDIT);
        removed.map_err(folder.fault("remove", &Name::AUDIT))?;
    }
    folder.sync()?;
    keyring::remove_files(folder);
    while let Some(name) = keyring::file_left(folder) {
        folder
            .remove(&name)
            .map_err(folder.fault("remove", &name))?;
    }
    folder.sync()?;
    drop(lock);
    Ok(true)
}

/// Returns those who have their turn on this day: all of them, or a hundred, and each day the next.
fn in_turn<T: Copy>(all: &[T], now: DateTime<Utc>) -> Vec<T> {
    let day = usize::try_from(now.num_days_from_ce()).unwrap_or_default();
    let begin = (day * ADDRESSEES_MAX).checked_rem(all.len()).unwrap_or(0);
    let from = all.iter().cycle().skip(begin);
    from.take(ADDRESSEES_MAX.min(all.len())).copied().collect()
}

/// Returns the role of a signer's key that was in force at a time.
pub(crate) fn signer_role_at(
    signers: &Signers,
    key: &VerifyingKey,
    name: &str,
    time: DateTime<Utc>,
) -> Option<SignerRole> {
    let signer = signers.of(key).filter(|signer| signer.name() == name)?;
    let is_in_force = signer.validity().check(time, None).is_ok();
    is_in_force.then(|| signer.role())
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    #[test]
    fn each_has_a_turn_within_as_many_days_as_there_are_hundreds() {
        let begin = DateTime::from_timestamp(1_790_000_000, 0).expect("a time");
        for count in [0, 1, 99, 100, 101, 120, 250] {
            let all: Vec<usize> = (0..count).collect();
            let mut had: Vec<usize> = Vec::new();
            for day in 0..count.div_ceil(ADDRESSEES_MAX) {
                let now = begin + TimeDelta::days(i64::try_from(day).expect("few"));
                let turn = in_turn(&all, now);
                assert_eq!(turn.len(), ADDRESSEES_MAX.min(count));
                had.extend(turn);
            }
            had.sort_unstable();
            had.dedup();
            assert_eq!(had, all);
        }
    }
}
