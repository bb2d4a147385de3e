//! `sync`: takes what a remote has, sends what it lacks, and tells the other machines of this store how
//! far this one is.
//!
//! ```text
//! look at the host's refs → fetch history and cards → take what came, with the keys in a card's mail
//! → own card, with mail for those that lack keys → push branch and card, both or neither
//! ```
//!
//! Every machine has the same keys: those that history names. A machine that applies an erasure
//! destroys the keys that were there before, and its mailbox with them, so that nothing a host kept
//! decrypts to an erased key.

mod mail;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use chrono::{DateTime, TimeDelta, Utc};

use self::mail::addressee;
use crate::crypto::digest::Digest;
use crate::crypto::recipients::{Member, Role};
use crate::crypto::seal::{Recipient, SealKey};
use crate::crypto::sign::{Signers, SigningKey};
use crate::disk::Folder;
use crate::error::{Error, RemoteFault, Result};
use crate::id::{ObjectId, StoreId};
use crate::keyring::mailbox;
use crate::remote::card::{self, CARDS, Card, Mail, PublishedCard};
use crate::remote::git::{HowUpdated, RefUpdate, TransferRepository};
use crate::remote::local::{self, LocalFile, Remote, Seen};
use crate::remote::look::{
    Look, counted_by_signer, is_of_turns, look_again, people_at, role_now, say_what_waits,
};
use crate::remote::{
    IncomingKeys, PullOptions, Pulled, Source, TRIES, Transfer, accept_verified, events_after,
    events_at, fetch_history, has_keyring, host_of, keyring_folder, opened, policy_at, receive,
    refuse_live_store,
};
use crate::repository::{BRANCH, Repository};
use crate::store::replica::{
    OwnSide, check_own_keyring, count_erased, erasures_after, folder_of_keys, own_side, signing_key,
};
use crate::store::{self, Clock, Identity, Keys, Store};
use crate::verify;

/// A card that says nothing new is published again after this time, as a sign of life.
const CARD_AGE_MAX: TimeDelta = TimeDelta::days(1);

/// The result of a sync.
#[derive(Debug)]
#[non_exhaustive]
pub struct Synced {
    /// The remote's name.
    pub remote: String,
    /// The newest commit, here and there.
    pub head: ObjectId,
    /// How many events there are now, here and there.
    pub events: u64,
    /// How many events came.
    pub received: u64,
    /// How many events were sent.
    pub sent: u64,
    /// How many events the remote had at an earlier sync and no longer had before this one.
    pub lost: u64,
    /// To how many machines keys were sent.
    pub mailed: usize,
    /// True if keys came in another machine's mail.
    pub has_new_keys: bool,
    /// Who signed the events that came, and how many each: the one with the most first.
    pub received_by: Vec<(String, u64)>,
    /// How many memories those events erased, whole or their earlier versions.
    pub erased: u64,
    /// How many versions that were: no key of this machine decrypts them any more.
    pub erased_versions: u64,
    /// The other machines that may open what they have, and how many events each lacks, as its newest card
    /// says; `None` if it has events that are not here.
    pub others: Vec<(String, Option<u64>)>,
}

/// This machine: its store once that can be opened, and the keys until then.
pub(super) struct Machine<'a> {
    root: &'a Folder,
    repository: &'a Repository,
    store: Option<Store>,
    keys: Option<(Keys, Clock)>,
    identity: Identity,
    state: Option<PathBuf>,
    keyring: Option<PathBuf>,
    /// The name under which it asks for keys, and as what.
    asks: Option<(String, Role)>,
}

/// Takes what a remote has, with the keys that other machines sent along, and sends what it lacks.
/// A machine that asks for keys publishes its card, and says with [`RemoteFault::Waiting`] what a reader
/// has to do. The card of a machine with the name `passed_over` does not count: it is about to be removed.
///
/// # Errors
/// As [`pull`](super::pull) and [`push`](super::push). [`RemoteFault::Apart`] if both have events that
/// the other lacks: then this machine's are at the remote on a line of their own.
/// [`RemoteFault::NoMail`] if keys of what came are missing and nobody has sent them yet.
/// [`RemoteFault::TurnedBack`] and [`RemoteFault::Withholds`] if what the host serves contradicts what
/// machines signed: then nothing was taken. After the first, this machine's card was sent, with its events
/// if they go on from the branch.
pub fn sync(
    store: &Path,
    remote: Option<&str>,
    passed_over: Option<&str>,
    keys: (Keys, Clock),
    transfer: &mut Transfer<'_>,
    verified: &mut dyn FnMut(verify::Progress),
) -> Result<Synced> {
    let root = store::store_at(store)?;
    let local = LocalFile::read(&root)?;
    let remote = local.find(remote)?;
    let repository = opened(&root)?;
    refuse_live_store(&remote.url)?;
    let mut machine = Machine::begin(&root, &repository, keys, &local)?;
    let begun = store::placed_head(&root, &repository)?;
    let (mut received, mut has_new_keys) = (0, false);
    let mut passed_over: BTreeSet<String> = passed_over.map(str::to_owned).into_iter().collect();
    let mut wrong = None;
    let mut tries_left = TRIES;
    while tries_left > 0 {
        tries_left -= 1;
        let ours = store::placed_head(&root, &repository)?;
        let git = TransferRepository::make(&root, Some(ours))?;
        let looked = Look::at(&root, &remote, &git, transfer);
        let waits = |error| say_what_waits(&repository, (remote.seen, ours), error);
        let mut look = looked.map_err(waits)?;
        look.passed_over.clone_from(&passed_over);
        let mut missed = None;
        if let Some(theirs) = look.refs.get(BRANCH).copied() {
            match machine.pull(&git, &mut look, (ours, theirs), transfer, verified) {
                Ok(None) => continue,
                Ok(Some((pulled, new_keys))) => {
                    received += pulled.received;
                    has_new_keys |= new_keys;
                    machine.open_if_it_can()?;
                }
                Err(Error::Remote(fault)) if is_of_turns(&fault) => {
                    if let Some(machine) = look.unfit.take() {
                        // There is another try for each machine whose mail may be whole.
                        tries_left += usize::from(passed_over.insert(machine));
                        continue;
                    }
                    missed = Some(fault);
                }
                // Another machine may have sent the same keys.
                Err(Error::Remote(RemoteFault::WrongKeys {
                    machine: Some(machine),
                    what,
                })) => {
                    tries_left += usize::from(passed_over.insert(machine.clone()));
                    let machine = Some(machine);
                    wrong = Some(RemoteFault::WrongKeys { machine, what });
                    continue;
                }
                Err(error) if look_again(&error, tries_left) => continue,
                Err(error) => return Err(error),
            }
        }
        let ours = store::placed_head(&root, &repository)?;
        let (signers, _) = people_at(&repository, ours)?;
        let own = machine.digits();
        look.read_cards(machine.store_id(ours)?, &signers, own.as_ref())?;
        if missed.is_none() {
            let theirs = look.refs.get(BRANCH).copied();
            match look.check_witnesses(&repository, (ours, theirs.unwrap_or(ours))) {
                Err(Error::Remote(fault @ RemoteFault::TurnedBack { .. })) => missed = Some(fault),
                Err(error) if look_again(&error, tries_left) => continue,
                checked => checked?,
            }
        }
        let Some(sent) = machine.send(&mut look, &git, ours, missed.as_ref(), transfer)? else {
            continue;
        };
        if matches!(missed, Some(RemoteFault::NoKeys { .. }))
            && let Some(wrong) = wrong
        {
            return Err(Error::Remote(wrong));
        }
        if let Some(fault) = missed {
            return Err(machine.explain(fault, &look, &sent)?);
        }
        machine.check_not_waiting(&remote, &sent)?;
        let synced = Synced {
            received,
            has_new_keys,
            ..sent.synced
        };
        return machine.describe(synced, &look, begun);
    }
    Err(Error::Remote(wrong.unwrap_or(RemoteFault::Overtaken)))
}

/// What was sent, and this machine's card.
struct Sent {
    synced: Synced,
    card: Option<Card>,
}

impl<'a> Machine<'a> {
    /// # Errors
    /// [`Error::NoKeyring`] if this machine had its keyring outside the store, and it is not there now: whoever
    /// wants new keys in another folder names that one.
    pub(super) fn begin(
        root: &'a Folder,
        repository: &'a Repository,
        keys: (Keys, Clock),
        local: &LocalFile,
    ) -> Result<Self> {
        let asks = local.asks();
        let mut machine = Self {
            root,
            repository,
            store: None,
            identity: keys.0.identity.clone(),
            state: keys.0.state.clone(),
            keyring: keys.0.keyring.clone(),
            keys: Some(keys),
            asks,
        };
        machine.open_if_it_can()?;
        if machine.store.is_none() {
            local.check_keyring(machine.keyring.as_deref())?;
        }
        Ok(machine)
    }

    /// Opens the store once it has a keyring.
    fn open_if_it_can(&mut self) -> Result<()> {
        if self.store.is_some() {
            return Ok(());
        }
        let head = store::placed_head(self.root, self.repository)?;
        let keyring = self.keyring.as_deref();
        let (_, policy) = policy_at(self.repository, head)?;
        if let Ok(folder) = store::keyring_at(self.root, keyring, &policy) {
            // After a stop, keys that came can be waiting for their place.
            store::place_staged(self.root, self.repository, &folder)?;
        }
        if has_keyring(self.root, self.repository, head, keyring)
            && let Some((keys, clock)) = self.keys.take()
        {
            let store = Store::open_to_sync(self.root.path(), keys, clock)?;
            check_own_keyring(&store)?;
            self.store = Some(store);
        }
        Ok(())
    }

    /// Returns the key that signs the card: a signer's, or that of a machine that asks for keys.
    pub(super) fn signing_key(&self) -> Option<&SigningKey> {
        match (&self.store, &self.keys) {
            (Some(store), _) => signing_key(store).ok(),
            (None, Some((keys, _))) => keys.signing_key.as_ref(),
            (None, None) => None,
        }
    }

    /// Tells whether it has a keyring, so that its store is open.
    pub(super) fn has_keys(&self) -> bool {
        self.store.is_some()
    }

    /// Returns the digits of its refs at a remote.
    pub(super) fn digits(&self) -> Option<String> {
        let key = self.signing_key()?;
        Some(card::digits_of(&key.verifying_key()))
    }

    /// Opens the mailbox, in the folder of the keyring that is or will be.
    fn mailbox(&self, head: ObjectId) -> Result<SealKey> {
        let folder = self.keyring_folder(head)?;
        mailbox::open_or_make(&folder, self.store_id(head)?, &self.identity)
    }

    /// Returns the folder of the keyring that is or will be.
    pub(super) fn keyring_folder(&self, head: ObjectId) -> Result<Folder> {
        keyring_folder(self.root, self.repository, head, self.keyring.as_deref())
    }

    pub(super) fn store_id(&self, head: ObjectId) -> Result<StoreId> {
        policy_at(self.repository, head).map(|(id, _)| id)
    }

    /// Takes what the remote has; the second part tells whether keys came along. `None` if the store
    /// went on meanwhile. What does not go on from here is verified all the same.
    pub(super) fn pull(
        &self,
        git: &TransferRepository,
        look: &mut Look<'_>,
        ends: (ObjectId, ObjectId),
        transfer: &mut Transfer<'_>,
        verified: &mut dyn FnMut(verify::Progress),
    ) -> Result<Option<(Pulled, bool)>> {
        match self.pull_what_follows(git, look, ends, transfer, verified) {
            Err(fault @ Error::Remote(RemoteFault::Diverged { .. })) => {
                self.check_beside(git, look, ends, verified)?;
                Err(fault)
            }
            pulled => pulled,
        }
    }

    fn pull_what_follows(
        &self,
        git: &TransferRepository,
        look: &mut Look<'_>,
        (ours, theirs): (ObjectId, ObjectId),
        transfer: &mut Transfer<'_>,
        verified: &mut dyn FnMut(verify::Progress),
    ) -> Result<Option<(Pulled, bool)>> {
        let options = PullOptions {
            identity: Some(self.identity.clone()),
            state: self.state.clone(),
            keyring: self.keyring.clone(),
            keys: None,
        };
        let from = Source {
            root: self.root,
            repository: self.repository,
            remote: &look.remote.clone(),
            git,
        };
        let ends = fetch_history(&from, (ours, theirs), transfer)?;
        if ends.theirs != theirs {
            // Cards were looked at before the branch went on.
            return Ok(None);
        }
        // Everything that a host is waited for comes before the lock for packs.
        let (mut signers, _) = people_at(self.repository, ours)?;
        if ends.missing.is_none() {
            let host = host_of(&look.remote, look.attended);
            let text = git.text_at(host, ends.theirs, "signers").ok();
            let theirs = text.and_then(|text| Signers::parse(&text).ok());
            signers = theirs.unwrap_or(signers);
        }
        look.read_cards(self.store_id(ours)?, &signers, self.digits().as_ref())?;
        if self.store.is_some() || self.asks.is_some() {
            look.fetch_mail(&self.mailbox(ours)?.public_text())?;
        }
        let at = &*look;
        let (mut came, mut sender) = (false, None);
        let mut keys = |theirs: ObjectId| {
            if people_at(self.repository, theirs).is_err() {
                // The verification names what is wrong with it.
                return Ok(IncomingKeys::default());
            }
            at.check_witnesses(self.repository, (ours, theirs))?;
            let found = self.find_mail(at, (ours, theirs))?;
            came = found.plain.is_some();
            sender.clone_from(&found.sender);
            if self.store.is_none() && self.asks.is_some() && !came && theirs != ours {
                // Mail from before an erasure may be on its way to the one there is.
                mailbox::make(
                    &self.keyring_folder(ours)?,
                    self.store_id(ours)?,
                    &self.identity,
                )?;
            }
            Ok(found)
        };
        let pulled = receive(&from, ends, &options, &mut keys, transfer.now, verified);
        if matches!(pulled, Err(Error::Remote(RemoteFault::NoKeys { .. }))) {
            look.unfit = sender;
        }
        Ok(pulled?.map(|pulled| (pulled, came)))
    }

    /// Publishes this machine's card, with mail for others, and sends the events that the remote
    /// lacks; after a fork to a line of its own. `None` if the remote has moved on meanwhile.
    fn send(
        &mut self,
        look: &mut Look<'_>,
        git: &TransferRepository,
        ours: ObjectId,
        missed: Option<&RemoteFault>,
        transfer: &mut Transfer<'_>,
    ) -> Result<Option<Sent>> {
        let (side, mail) = self.own_card(look, ours, missed, transfer.now)?;
        let head = side.as_ref().map_or(ours, |card| card.head);
        let events = match &side {
            Some(card) => card.events,
            None => events_at(self.repository, head, look.remote.seen)?,
        };
        let digits = side.as_ref().map(|card| card::digits_of(&card.key));
        let Some((mut updates, sent)) = self.history_updates(look, missed, head, digits)? else {
            return Ok(None);
        };
        let published = match &side {
            Some(card) => self.write_card(card, mail, look, git)?,
            None => None,
        };
        let sent_mail = published.as_ref().map(|(_, made)| made.card.mail.len());
        let mailed = sent_mail.unwrap_or_default();
        if let Some((digits, made)) = &published {
            let name = format!("{CARDS}{digits}");
            let how = HowUpdated::Replaces(look.refs.get(&name).copied());
            let to = made.commit;
            updates.push(RefUpdate { name, to, how });
        }
        let host = host_of(&look.remote, look.attended);
        if !updates.is_empty() && !git.push_refs(host, &updates, transfer.progress)? {
            return Ok(None);
        }
        if published.is_some() || look.fetched.is_some() {
            // Cards of signers that only a history has which was not taken are looked at again.
            let (signers, _) = people_at(self.repository, ours)?;
            let is_signer = |card: &Card| signers.of(&card.key).is_some();
            look.cards.retain(|_, found| is_signer(&found.card));
            look.cards.extend(published);
            local::remember_cards(self.root, &look.remote.name, &look.cards)?;
            local::remember_cards(self.root, &look.remote.name, &look.left)?;
        }
        if missed.is_none() {
            let seen = Seen {
                commit: head,
                events,
                time: transfer.now,
            };
            local::remember_taken(self.root, &look.remote.name, seen);
        }
        if let Some(store) = &self.store {
            local::remember_keyring(self.root, &folder_of_keys(store))?;
        }
        Ok(Some(Sent {
            synced: Synced {
                remote: look.remote.name.clone(),
                head,
                events,
                received: 0,
                sent,
                lost: look.remote.seen.map_or(0, |seen| {
                    seen.events.saturating_sub(events.saturating_sub(sent))
                }),
                mailed,
                has_new_keys: false,
                received_by: Vec::new(),
                erased: 0,
                erased_versions: 0,
                others: Vec::new(),
            },
            card: side,
        }))
    }

    /// Adds who sent what came since a commit, what that erased, and how far the others are.
    fn describe(&self, synced: Synced, look: &Look<'_>, begun: ObjectId) -> Result<Synced> {
        let repository = self.repository;
        let came = match synced.received {
            0 => None,
            _ => store::commits_between(repository, Some(begun), synced.head)?,
        };
        let came = came.unwrap_or_default();
        let erased = self.store.as_ref().map(|store| count_erased(store, &came));
        let (erased, erased_versions) = erased.transpose()?.unwrap_or_default();
        Ok(Synced {
            received_by: counted_by_signer(repository, &came)?,
            erased,
            erased_versions,
            others: look.others(repository, self.digits().as_ref(), synced.head)?,
            ..synced
        })
    }

    /// Signs a card and writes its objects, with its digits; `None` if the remote has one that says the same.
    fn write_card(
        &self,
        card: &Card,
        mail: Mail,
        look: &Look<'_>,
        git: &TransferRepository,
    ) -> Result<Option<(String, PublishedCard)>> {
        let digits = card::digits_of(&card.key);
        let there = look.refs.get(&format!("{CARDS}{digits}"));
        let is_said = look.cards.get(&digits).is_some_and(|known| {
            there == Some(&known.commit)
                && known.card.says_what(card)
                && card.time - known.card.time < CARD_AGE_MAX
        });
        let Some(key) = self.signing_key().filter(|_| !is_said) else {
            return Ok(None);
        };
        let (made, objects) = card.publish(mail, key)?;
        for object in &objects {
            git.repository.write(object)?;
        }
        Ok(Some((digits, made)))
    }

    /// Returns where the events of this machine go at the remote, and how many are sent to the branch: after
    /// a fork they go to a line of its own. `None` if the remote has moved on meanwhile.
    fn history_updates(
        &self,
        look: &Look<'_>,
        missed: Option<&RemoteFault>,
        head: ObjectId,
        digits: Option<String>,
    ) -> Result<Option<(Vec<RefUpdate>, u64)>> {
        // The card names this end of history: others look for it there.
        let line = || {
            let line = digits.map(|digits| look.own_line(self.repository, &digits, head));
            let line = line.transpose()?.filter(|(_, known)| *known != Some(head));
            let update = line.map(|(name, known)| {
                let (to, how) = (head, HowUpdated::Replaces(known));
                RefUpdate { name, to, how }
            });
            Ok(Some((Vec::from_iter(update), 0)))
        };
        match missed {
            Some(RemoteFault::Diverged { .. }) => return line(),
            Some(RemoteFault::TurnedBack { .. }) | None => {}
            Some(_) => return Ok(Some((Vec::new(), 0))),
        }
        // If the branch does not go on to here, the card is sent with a line.
        let beside = || missed.map_or(Ok(None), |_| line());
        let mut updates = Vec::new();
        let theirs = look.refs.get(BRANCH).copied();
        // What the remote had beyond ours was taken before.
        if let Some(theirs) = theirs
            && !self.repository.has(theirs)?
        {
            return beside();
        }
        let Some(sent) = events_after(self.repository, theirs, head)? else {
            return beside();
        };
        if sent > 0 {
            updates.push(RefUpdate {
                name: BRANCH.into(),
                to: head,
                how: HowUpdated::GoesOn(theirs),
            });
        }
        Ok(Some((updates, sent)))
    }

    /// Makes this machine's card, and the mail that goes with it. `None` for a copy that is nobody's: it
    /// has no keys and asks for none, or its signing key is no signer's.
    pub(super) fn own_card(
        &mut self,
        look: &Look<'_>,
        head: ObjectId,
        missed: Option<&RemoteFault>,
        now: DateTime<Utc>,
    ) -> Result<(Option<Card>, Mail)> {
        let Some(key) = self.signing_key().map(SigningKey::verifying_key) else {
            return Ok((None, Mail::default()));
        };
        let digits = card::digits_of(&key);
        let side = match &mut self.store {
            Some(store) => {
                let others = |signers: &Signers, members: &[Member]| {
                    let others = look.cards.iter().filter(|(other, _)| **other != digits);
                    others
                        .filter_map(|(_, other)| addressee(&other.card, (signers, members), now))
                        .collect()
                };
                match own_side(store, others) {
                    // By what has just come its signer was removed, or a reader became an auditor: the
                    // next sync says so.
                    Err(Error::NotASigner { .. } | Error::Signing(_) | Error::NoKeyring { .. }) => {
                        None
                    }
                    side => Some(side?),
                }
            }
            None => self.asking_side(look, head)?,
        };
        let Some(side) = side else {
            return Ok((None, Mail::default()));
        };
        let last = look.cards.get(&digits).map(|known| known.card.time);
        let card = Card {
            store: self.store_id(head)?,
            name: side.name,
            key,
            reads: side.reads,
            role: side.role,
            mailbox: side.mailbox,
            // Keys that do not fit may have gone on from others than are here.
            wants_all: side.keys.is_none() || matches!(missed, Some(RemoteFault::NoKeys { .. })),
            keys: side.keys,
            mail: side.sent,
            events: side.events,
            head: side.head,
            digest: side.digest,
            // A clock that went back makes no older card.
            time: last.map_or(now, |last| now.max(last + TimeDelta::milliseconds(1))),
        };
        let (readers, auditors) = (side.readers, side.auditors);
        Ok((Some(card), Mail { readers, auditors }))
    }

    /// Describes a machine that asks for keys; `None` for a copy that asks for none.
    fn asking_side(&self, look: &Look<'_>, head: ObjectId) -> Result<Option<OwnSide>> {
        let Some((name, role)) = self.asks.clone() else {
            return Ok(None);
        };
        let mailbox = self.mailbox(head)?;
        let (_, bytes) = self.repository.commit(head)?;
        Ok(Some(OwnSide {
            name,
            reads: self.identity.recipient()?,
            role,
            mailbox: Recipient::parse(&mailbox.public_text()).expect("it is one"),
            keys: None,
            events: events_at(self.repository, head, look.remote.seen)?,
            head,
            digest: Digest::of(&bytes),
            readers: None,
            auditors: None,
            sent: Vec::new(),
        }))
    }

    /// Refuses a machine that asks for keys and has none yet, with what a reader's machine has to do.
    fn check_not_waiting(&self, remote: &Remote, sent: &Sent) -> Result<()> {
        let is_waiting = self.store.is_none() && self.asks.is_some();
        let Some(card) = sent.card.as_ref().filter(|_| is_waiting) else {
            return Ok(());
        };
        let (signers, members) = people_at(self.repository, sent.synced.head)?;
        Err(Error::Remote(
            if role_now(card, (&signers, &members), card.time).is_some() {
                let remote = remote.name.clone();
                RemoteFault::NoMail { remote }
            } else {
                RemoteFault::Waiting {
                    name: card.name.clone(),
                    code: card.code(),
                    is_auditor: card.role == Role::Auditor,
                }
            },
        ))
    }

    /// Says what another machine has to do first.
    fn explain(&self, fault: RemoteFault, look: &Look<'_>, sent: &Sent) -> Result<Error> {
        let name = look.remote.name.clone();
        let is_keyless = matches!(fault, RemoteFault::NoKeys { .. });
        let fault = match (fault, &sent.card) {
            (RemoteFault::NoKeys { .. }, Some(_)) => RemoteFault::NoMail { remote: name },
            (RemoteFault::Diverged { .. }, Some(card)) => {
                let (repository, head) = (self.repository, sent.synced.head);
                let own = events_after(repository, look.fork, head)?;
                let digits = self.digits();
                RemoteFault::Apart {
                    remote: name,
                    own: own.unwrap_or_default(),
                    erasures: match &self.store {
                        Some(store) => erasures_after(store, look.fork)?,
                        None => Vec::new(),
                    },
                    theirs: look.beside.clone(),
                    has_reader: card.role != Role::Reader
                        || look.has_other_reader(repository, digits.as_ref(), head)?,
                }
            }
            (fault, _) => fault,
        };
        Ok(match &self.store {
            // Nobody sends keys to a machine that is no signer.
            Some(store) if is_keyless => signing_key(store).err().unwrap_or(Error::Remote(fault)),
            _ => Error::Remote(fault),
        })
    }

    /// Refuses a history that does not go on from here and does not verify, where no line of this one belongs,
    /// and one that says that this machine was removed. Nothing of it is kept.
    fn check_beside(
        &self,
        git: &TransferRepository,
        look: &mut Look<'_>,
        (ours, theirs): (ObjectId, ObjectId),
        verified: &mut dyn FnMut(verify::Progress),
    ) -> Result<()> {
        let own = self.digits();
        let (inspected, held) =
            look.inspect_history(self.repository, git, (ours, theirs), own.as_ref(), verified)?;
        let remote = look.remote.name.clone();
        if let Some(report) = inspected.report {
            accept_verified(report, &remote, || Ok(Some(0)))?;
        }
        if self.is_member_at(ours)? && !self.is_member_at(theirs)? {
            return Err(Error::Remote(RemoteFault::Removed { remote }));
        }
        drop(held);
        Ok(())
    }
}
