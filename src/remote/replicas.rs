//! The machines that have a copy of a store: who they are, letting one in, and leaving.

use std::path::Path;

use chrono::{DateTime, TimeDelta, Utc};

use crate::crypto::digest::Digest;
use crate::crypto::recipients::{Member, Role};
use crate::crypto::sign::SigningKey;
use crate::disk::Folder;
use crate::error::{Error, MembershipFault, RemoteFault, Result, SigningFault};
use crate::event::Context;
use crate::id::ObjectId;
use crate::remote::card::{self, CARDS, Card, Mail, PublishedCard};
use crate::remote::git::{HowUpdated, RefUpdate, TransferRepository};
use crate::remote::local::{self, Cards, LocalFile};
use crate::remote::look::{Look, contains, is_of_turns, people_at, role_now};
use crate::remote::sync::Machine;
use crate::remote::{TRIES, Transfer, events_at, host_of, opened};
use crate::repository::{BRANCH, Repository};
use crate::store::replica::{destroy_keys, head_of, id_of, now_of, people, signing_key};
use crate::store::{self, Clock, Keys, SignerRole, Store, Validity};

/// How many cards of machines that nobody let in are fetched at once.
const STRANGERS_EACH: usize = 1000;

/// A machine that has a copy of the store, as its newest card describes it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Replica {
    /// The name of its signing key in `signers`.
    pub name: String,
    /// That key's fingerprint.
    pub fingerprint: String,
    /// What it may open; `None` once its signing key or its identity was removed.
    pub role: Option<Role>,
    /// How many events its history had.
    pub events: u64,
    /// Its newest commit then.
    pub head: ObjectId,
    /// When it said so.
    pub time: DateTime<Utc>,
    /// What it said of its keys.
    pub keys: ReplicaKeys,
    /// True if its history has events that this machine's lacks.
    pub is_apart: bool,
    /// True for this machine.
    pub is_own: bool,
}

/// What a machine says of its keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplicaKeys {
    /// It has those of its end of history.
    Has,
    /// It asks for all of them, which may have come since.
    Asks,
    /// It has none, and asks for none: it has left.
    Left,
}

impl ReplicaKeys {
    /// Returns the word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Has => "has",
            Self::Asks => "asks",
            Self::Left => "left",
        }
    }
}

impl Replica {
    /// Tells whether it is another machine that can open what it has.
    #[must_use]
    pub fn may_open(&self) -> bool {
        !self.is_own && !self.has_left() && self.role.is_some()
    }

    /// Tells whether it has destroyed its keys, and asks for no others.
    #[must_use]
    pub fn has_left(&self) -> bool {
        self.keys == ReplicaKeys::Left
    }
}

/// A machine that asks for keys, and that somebody has compared the code with.
#[derive(Debug)]
#[non_exhaustive]
pub struct Admission {
    /// Its name.
    pub name: String,
    /// What it may open now.
    pub role: Role,
    /// The events that let it in: none if it was in already.
    pub events: Vec<u64>,
}

/// Lists the machines whose cards were seen at a remote, and this one. Nobody is asked.
///
/// # Errors
/// [`Error::Damaged`] if `local.toml` is not valid.
pub fn replicas(path: &Path, store: &Store) -> Result<Vec<Replica>> {
    let root = store::store_at(path)?;
    let local = LocalFile::read(&root)?;
    let repository = opened(&root)?;
    let own = signing_key(store)
        .ok()
        .map(|key| card::digits_of(&key.verifying_key()));
    let people = people(store);
    let (end, now) = (head_of(store), now_of(store));
    let cards = local.newest_cards().into_iter();
    let replica = |(digits, PublishedCard { card, .. })| {
        Ok(Replica {
            is_apart: !contains(&repository, end, card.head)?,
            role: role_now(&card, people, now),
            fingerprint: card.key.fingerprint(),
            events: card.events,
            head: card.head,
            time: card.time,
            keys: match (card.keys, card.wants_all) {
                (_, true) => ReplicaKeys::Asks,
                (Some(_), false) => ReplicaKeys::Has,
                (None, false) => ReplicaKeys::Left,
            },
            is_own: Some(&digits) == own.as_ref(),
            name: card.name,
        })
    };
    let mut found: Vec<Replica> = cards.map(replica).collect::<Result<_>>()?;
    found.sort_by(|a, b| (!a.is_own, &a.name).cmp(&(!b.is_own, &b.name)));
    Ok(found)
}

/// Lets in a machine that asks for keys at a remote, by the code that somebody read there: its identity
/// becomes a member, and its signing key a signer. The next [`sync`](super::sync()) sends it the keys.
///
/// # Errors
/// [`RemoteFault::NoRequest`] if no card there has that name, role and code; otherwise as for
/// [`Store::add_member`] and [`Store::add_signer`].
pub fn admit(
    path: &Path,
    remote: Option<&str>,
    store: &mut Store,
    (name, code, role): (&str, &str, Role),
    context: &Context,
    transfer: &mut Transfer<'_>,
) -> Result<Admission> {
    let root = store::store_at(path)?;
    let remote = LocalFile::read(&root)?.find(remote)?;
    let git = TransferRepository::make(&root, None)?;
    let mut look = Look::at(&root, &remote, &git, transfer)?;
    let all = git.refs_of(
        host_of(&look.remote, transfer.attended),
        &[format!("{CARDS}*")],
    )?;
    look.refs.extend(all);
    // A machine that was removed, or let in under another name, has another card now.
    let names = look.refs.iter().filter(|(name, commit)| {
        let digits = name.strip_prefix(CARDS).and_then(card::parse_digits);
        let known = |digits| look.cards.get(digits).map(|known| &known.commit);
        digits.is_some_and(|digits| known(digits) != Some(commit))
    });
    let names = names.map(|(name, _)| name.clone());
    let names: Vec<String> = names.collect();
    let (id, code) = (id_of(store), card::letters_of(code));
    let fits = |found: &PublishedCard| {
        let card = &found.card;
        let is_asking = card.store == id && card.name == name && card.role == role;
        is_asking && card::letters_of(&card.code()) == code
    };
    let mut found = look.cards.values().find(|found| fits(found)).cloned();
    for some in names.chunks(STRANGERS_EACH) {
        if found.is_some() {
            break;
        }
        found = look.fetch(some)?.into_iter().find(fits);
    }
    let card = found.map(|found| found.card).ok_or_else(|| {
        let (remote, name) = (remote.name.clone(), name.to_owned());
        Error::Remote(RemoteFault::NoRequest { remote, name })
    })?;
    let (is_member, is_signer) = let_in_before(store, &card, (name, role))?;
    let mut events = Vec::new();
    if !is_signer {
        let signs = match role {
            Role::Reader => SignerRole::Writer,
            Role::Auditor => SignerRole::Auditor,
        };
        let (_, meta) = store.add_signer(name, &card.key, signs, Validity::default(), context)?;
        events.push(meta.event);
    }
    if !is_member {
        events.push(store.add_member(name, role, &card.reads, context)?.event);
    }
    Ok(Admission {
        name: card.name,
        role,
        events,
    })
}

/// Tells whether a machine's identity is a member already, and its key a signer. Refuses a name or an identity
/// that is somebody else's.
fn let_in_before(store: &Store, card: &Card, (name, role): (&str, Role)) -> Result<(bool, bool)> {
    let (signers, members) = people(store);
    let own = |member: &Member| {
        member.name == name && member.recipient == card.reads && member.role == role
    };
    let other =
        |member: &&Member| !own(member) && (member.name == name || member.recipient == card.reads);
    if let Some(other) = members.iter().find(other) {
        let (name, role) = (other.name.clone(), other.role.as_str());
        return Err(Error::Membership(MembershipFault::Already { name, role }));
    }
    let signer = signers.of(&card.key).filter(|signer| signer.name() == name);
    let is_auditor = signer.is_some_and(|signer| signer.role() == SignerRole::Auditor);
    if is_auditor && role == Role::Reader {
        let what = format!("{name} has the role auditor already");
        return Err(Error::Signing(SigningFault::Exists { what }));
    }
    Ok((members.iter().any(own), signer.is_some()))
}

/// Destroys the keys of this copy, and says so on its card. The copy stays, and nobody can read it.
///
/// # Errors
/// [`RemoteFault::OnlyHere`] if the remote's history does not end where this copy's does, or no other
/// reader's machine has said that it is there with these keys, unless this one was removed;
/// [`Error::NoKeyring`] if the keys are elsewhere than is known here; [`Error::Io`] if a file cannot be
/// removed; otherwise as [`push`](super::push). [`RemoteFault::Untold`] if the keys are gone and the remote
/// could not be told: the same call tells it then.
pub fn leave(
    path: &Path,
    remote: Option<&str>,
    keys: (Keys, Clock),
    transfer: &mut Transfer<'_>,
) -> Result<()> {
    let root = store::store_at(path)?;
    let local = LocalFile::read(&root)?;
    let remote = local.find(remote)?;
    let repository = opened(&root)?;
    let mut machine = Machine::begin(&root, &repository, keys, &local)?;
    if !machine.has_keys() {
        // Whatever folder is named: the keys of this machine are not in it.
        local.check_keyring(None)?;
    }
    let head = store::placed_head(&root, &repository)?;
    let git = TransferRepository::make(&root, Some(head))?;
    let mut look = Look::at(&root, &remote, &git, transfer)?;
    let (signers, _) = people_at(&repository, head)?;
    look.read_cards(machine.store_id(head)?, &signers, machine.digits().as_ref())?;
    let theirs = look.refs.get(BRANCH).copied();
    let only_here = || {
        let (remote, is_apart) = (remote.name.clone(), false);
        Error::Remote(RemoteFault::OnlyHere { remote, is_apart })
    };
    let theirs = theirs.filter(|_| machine.has_keys());
    let is_removed = theirs.map(|theirs| {
        was_removed(
            &repository,
            &machine,
            &git,
            &mut look,
            (head, theirs),
            transfer,
        )
    });
    let is_removed = is_removed.transpose()?.unwrap_or_default();
    let digits = machine.digits().ok_or(Error::NoSigningKey)?;
    let known = look.cards.get(&digits).map(|known| known.card.clone());
    let (own, _) = machine.own_card(&look, head, None, transfer.now)?;
    let had_keys = known.as_ref().is_some_and(|known| known.keys.is_some());
    let mut card = own.or(known);
    if let (Some(card), Some(fork), true) = (&mut card, look.fork, is_removed) {
        // Nobody takes its own events any more, and the host would be blamed for not having them.
        card.head = fork;
        card.events = events_at(&repository, fork, look.remote.seen)?;
        card.digest = Digest::of(&repository.commit(fork)?.1);
    }
    let is_safe = |look: &Look<'_>, card: &Card| {
        let is_sent = look.refs.get(BRANCH) == Some(&head) && card.head == head;
        Ok::<_, Error>(is_removed || is_sent && has_another(look, &repository, card)?)
    };
    let safe_now = card.as_ref().map(|card| is_safe(&look, card)).transpose()?;
    if machine.has_keys() && !safe_now.unwrap_or(is_removed) {
        return Err(only_here());
    }
    let folder = machine.keyring_folder(head)?;
    if let (Some(card), Some(key)) = (&card, machine.signing_key()) {
        if machine.has_keys() {
            // From here on nobody counts on these keys. Of two that leave at once, one sees it of the other.
            let said = say_keyless(&root, &mut look, &git, (card, key), true, transfer);
            if !is_removed {
                // Whoever was removed may have lost the right to push, too.
                said?;
            }
            look = Look::at(&root, &remote, &git, transfer)?;
            look.read_cards(machine.store_id(head)?, &signers, machine.digits().as_ref())?;
            if !is_safe(&look, card)? {
                return Err(only_here());
            }
        } else if had_keys {
            // They are on a disk that is not there, or in a folder that was not named.
            let path = folder.path().to_owned();
            let is_whole = true;
            return Err(Error::NoKeyring { path, is_whole });
        }
    }
    // Whoever is stopped between the two has keys, and nothing is missing.
    local::forget_keys(&root)?;
    // Without its first file it is no keyring, and the others are left by a removal that was stopped.
    if !destroy_keys(&root, &repository, &folder, head)? {
        return Err(only_here());
    }
    match (card, machine.signing_key()) {
        (Some(card), Some(key)) => {
            let said = say_keyless(&root, &mut look, &git, (&card, key), false, transfer);
            said.map_err(|error| match error {
                Error::Remote(RemoteFault::Unreachable { remote, why, .. }) => {
                    Error::Remote(RemoteFault::Untold { remote, why })
                }
                other => other,
            })
        }
        // It has said nothing of itself.
        _ => Ok(()),
    }
}

/// Tells whether what came since to the remote says that this machine was removed: then nobody needs its keys.
///
/// # Errors
/// [`RemoteFault::OnlyHere`] if something else came.
fn was_removed(
    repository: &Repository,
    machine: &Machine<'_>,
    git: &TransferRepository,
    look: &mut Look<'_>,
    (head, theirs): (ObjectId, ObjectId),
    transfer: &mut Transfer<'_>,
) -> Result<bool> {
    if repository.has(theirs)? {
        look.check_witnesses(repository, (head, theirs))?;
        return Ok(false);
    }
    let remote = look.remote.name.clone();
    let is_apart = match machine.pull(git, look, (head, theirs), transfer, &mut |_| ()) {
        Err(Error::Remote(RemoteFault::Removed { .. })) => return Ok(true),
        Err(Error::Remote(fault)) if is_of_turns(&fault) => {
            matches!(fault, RemoteFault::Diverged { .. })
        }
        Ok(_) => false,
        Err(error) => return Err(error),
    };
    Err(Error::Remote(RemoteFault::OnlyHere { remote, is_apart }))
}

/// Publishes a card of a machine that has no keys. If it asks for them, it can still change its mind; its last
/// card asks for none.
fn say_keyless(
    root: &Folder,
    look: &mut Look<'_>,
    git: &TransferRepository,
    (card, key): (&Card, &SigningKey),
    wants_all: bool,
    transfer: &mut Transfer<'_>,
) -> Result<()> {
    let digits = card::digits_of(&card.key);
    let known = look.cards.get(&digits).map(|known| known.card.time);
    let last = known.map_or(card.time, |known| known.max(card.time));
    let last = Card {
        keys: None,
        wants_all,
        mail: Vec::new(),
        time: transfer.now.max(last + TimeDelta::milliseconds(1)),
        ..card.clone()
    };
    let (made, objects) = last.publish(Mail::default(), key)?;
    for object in &objects {
        git.repository.write(object)?;
    }
    let name = format!("{CARDS}{digits}");
    let host = host_of(&look.remote, transfer.attended);
    for _ in 0..TRIES {
        let there = git.refs_of(host, std::slice::from_ref(&name))?;
        let how = HowUpdated::Replaces(there.get(&name).copied());
        let (name, to) = (name.clone(), made.commit);
        let update = RefUpdate { name, to, how };
        if git.push_refs(host, &[update], transfer.progress)? {
            let cards = Cards::from([(digits.clone(), made.clone())]);
            look.cards.insert(digits, made);
            return local::remember_cards(root, &look.remote.name, &cards);
        }
    }
    Err(Error::Remote(RemoteFault::Overtaken))
}

/// Tells whether another reader's machine has said that it has the keys of this one, at the same end of
/// history. An auditor's machine has none that a reader's lacks.
fn has_another(look: &Look<'_>, repository: &Repository, own: &Card) -> Result<bool> {
    let (signers, members) = people_at(repository, own.head)?;
    let role_of = |card: &Card| role_now(card, (&signers, &members), look.now);
    if role_of(own) != Some(Role::Reader) {
        return Ok(true);
    }
    let is_another = |other: &Card| {
        let has_all = other.keys == own.keys && !other.wants_all && other.head == own.head;
        role_of(other) == Some(Role::Reader) && other.key != own.key && has_all
    };
    // A card that the host has another of by now may be the word of a machine that is leaving, too.
    let is_newest = |digits: &str, other: &PublishedCard| {
        look.refs.get(&format!("{CARDS}{digits}")) == Some(&other.commit)
    };
    let mut others = look.cards.iter();
    Ok(others.any(|(digits, other)| is_newest(digits, other) && is_another(&other.card)))
}
