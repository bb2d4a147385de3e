//! A look at a remote: the refs of the machines, their cards, and how far these are believed.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use std::thread;
use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::crypto::recipients::{self, Member, Role};
use crate::crypto::seal::Sealed;
use crate::crypto::sign::Signers;
use crate::disk::{Folder, Lock};
use crate::error::{Error, RemoteFault, Result};
use crate::id::{ObjectId, StoreId};
use crate::remote::card::{self, CARDS, Card, LINES, PublishedCard};
use crate::remote::git::{CARDS_AS_BRANCHES, TransferRepository};
use crate::remote::local::{Cards, LocalFile, Remote, Seen};
use crate::remote::{TRIES, Transfer, empty, events_after, host_of, opened, policy_at};
use crate::repository::{BRANCH, IncomingPacks, Repository};
use crate::store::replica::signer_role_at;
use crate::store::{self, SignerRole};
use crate::verify::{self, Incoming, Options, Report};

/// Where the end of a history that is only looked at is fetched to.
const OTHER_LINE: &str = "refs/agekeep/other";

/// Most fetches of cards that fail before the others are left for another time: a host could have each wait.
const FAILURES_MAX: usize = 32;

/// How long a push at the host is waited for before its refs are looked at again.
const PAUSE: Duration = Duration::from_millis(500);

/// A look at a remote: its refs, and the cards that are there.
pub(super) struct Look<'a> {
    root: &'a Folder,
    pub(super) remote: Remote,
    pub(super) attended: bool,
    pub(super) now: DateTime<Utc>,
    pub(super) refs: BTreeMap<String, ObjectId>,
    /// Cards of this machine and of signers, by the digits of their keys.
    pub(super) cards: Cards,
    /// The machines whose refs were asked for.
    asked: BTreeSet<String>,
    is_read: bool,
    /// A machine of which the host has an older card than was seen before.
    turned_back: Option<String>,
    /// The names of machines whose cards do not count.
    pub(super) passed_over: BTreeSet<String>,
    /// The machine whose mail was tried and brings not all that is missing here.
    pub(super) unfit: Option<String>,
    /// Where cards were fetched to that were not known before.
    pub(super) fetched: Option<TransferRepository>,
    /// The last cards of machines that were removed: they say that these have no keys any more.
    pub(super) left: Cards,
    /// Events of the remote that do not go on from ours, counted by signer.
    pub(super) beside: Vec<(String, u64)>,
    /// The newest commit that ours and those have in common.
    pub(super) fork: Option<ObjectId>,
}

/// Tells whether a history has a commit.
pub(super) fn contains(repository: &Repository, end: ObjectId, commit: ObjectId) -> Result<bool> {
    Ok(repository.has(commit)? && events_after(repository, Some(commit), end)?.is_some())
}

/// Returns the signers and the members as of a commit.
pub(super) fn people_at(repository: &Repository, head: ObjectId) -> Result<(Signers, Vec<Member>)> {
    let blobs = store::config_blobs_at(repository, head)?;
    let signers = Signers::parse(&repository.public(blobs.signers)?);
    let members = recipients::parse(&repository.public(blobs.recipients)?);
    Ok((
        signers.map_err(|why| Error::damaged("signers", why))?,
        members.map_err(|why| Error::damaged("recipients", why))?,
    ))
}

/// Returns what another machine may open. Its identity and its signing key have one name: otherwise it could
/// name somebody else's identity, and its own mailbox.
pub(super) fn role_now(
    card: &Card,
    (signers, members): (&Signers, &[Member]),
    now: DateTime<Utc>,
) -> Option<Role> {
    // The clock of its machine may have been ahead: each card has to be later than the one before.
    let time = card.time.min(now);
    let signs = signer_role_at(signers, &card.key, &card.name, time)?;
    let own = |member: &&Member| member.name == card.name && member.recipient == card.reads;
    let role = members.iter().find(own)?.role;
    (role == Role::Auditor || signs != SignerRole::Auditor).then_some(role)
}

/// Returns the names of the refs of a machine, as patterns.
fn names_of(digits: &str) -> [String; 2] {
    [format!("{CARDS}{digits}"), format!("{LINES}{digits}*")]
}

/// Returns the newest commit that two histories have in common. Nobody has checked the parents of the second.
fn common_commit(
    repository: &Repository,
    ours: ObjectId,
    theirs: ObjectId,
) -> Result<Option<ObjectId>> {
    let mut ends = [Some(ours), Some(theirs)];
    let mut seen = HashSet::new();
    while ends != [None, None] {
        for end in &mut ends {
            let Some(commit) = *end else { continue };
            if !seen.insert(commit) {
                return Ok(Some(commit));
            }
            *end = repository.peek_parent(commit)?;
        }
    }
    Ok(None)
}

/// Counts commits by who says to have signed them: the one with the most comes first.
pub(super) fn counted_by_signer(
    repository: &Repository,
    commits: &[ObjectId],
) -> Result<Vec<(String, u64)>> {
    let mut counts = BTreeMap::new();
    for commit in commits {
        let (commit, _) = repository.commit(*commit)?;
        let signer = commit.author.split(' ').next().unwrap_or_default();
        *counts.entry(signer.to_owned()).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    Ok(counts)
}

/// What a remote serves, compared with this copy.
#[derive(Debug)]
#[non_exhaustive]
pub struct Inspected {
    /// The remote's name.
    pub remote: String,
    /// The newest commit there.
    pub head: ObjectId,
    /// How many events of this copy it lacks; `None` if it has events that this copy lacks.
    pub missing: Option<u64>,
    /// True if this copy also has events that it lacks: both were written to.
    pub is_apart: bool,
    /// The verification of what this copy lacks; `None` if it lacks nothing.
    pub report: Option<Report>,
}

/// Verifies what a remote serves, against this copy and what machines signed for. Nothing of it is taken. That
/// needs no key: signatures and hashes tell whether signers of this store wrote it.
///
/// # Errors
/// As [`sync`](super::sync()), but that a history which does not verify is a report.
pub fn inspect(
    store: &Path,
    remote: Option<&str>,
    transfer: &mut Transfer<'_>,
    verified: &mut dyn FnMut(verify::Progress),
) -> Result<Inspected> {
    let root = store::store_at(store)?;
    let remote = LocalFile::read(&root)?.find(remote)?;
    let mut tries_left = TRIES;
    loop {
        tries_left -= 1;
        match inspect_once(&root, &remote, transfer, verified) {
            Err(error) if look_again(&error, tries_left) => {}
            inspected => return inspected,
        }
    }
}

fn inspect_once(
    root: &Folder,
    remote: &Remote,
    transfer: &mut Transfer<'_>,
    verified: &mut dyn FnMut(verify::Progress),
) -> Result<Inspected> {
    let repository = opened(root)?;
    let ours = store::placed_head(root, &repository)?;
    let git = TransferRepository::make(root, Some(ours))?;
    let mut look = Look::at(root, remote, &git, transfer)?;
    let theirs = look.refs.get(BRANCH).copied();
    let theirs = theirs.ok_or_else(|| empty(&remote.name))?;
    let (inspected, held) =
        look.inspect_history(&repository, &git, (ours, theirs), None, verified)?;
    drop(held);
    Ok(inspected)
}

/// What was fetched only to be looked at, as long as it is there.
pub(super) struct HeldPacks<'a> {
    _packs: Option<IncomingPacks<'a>>,
    _packing: Lock,
}
/// Tells whether a fault only means that another machine has to do something first, so that this one's card
/// goes out all the same. Where a host has old cards of all machines, each has to publish its own.
pub(super) fn is_of_turns(fault: &RemoteFault) -> bool {
    matches!(
        fault,
        RemoteFault::NoKeys { .. } | RemoteFault::Diverged { .. } | RemoteFault::TurnedBack { .. }
    )
}

/// Says of a remote that cannot be reached how many events it did not get yet.
pub(super) fn say_what_waits(
    repository: &Repository,
    (seen, head): (Option<Seen>, ObjectId),
    error: Error,
) -> Error {
    let Error::Remote(RemoteFault::Unreachable { remote, why, .. }) = error else {
        return error;
    };
    let count = events_after(repository, seen.map(|seen| seen.commit), head);
    let waiting = count.ok().flatten().unwrap_or_default();
    Error::Remote(RemoteFault::Unreachable {
        remote,
        why,
        waiting,
    })
}

/// Waits, and tells whether to look again: a host shows the refs of a push one after the other, so that a card
/// can be there before its history is.
pub(super) fn look_again(error: &Error, tries_left: usize) -> bool {
    let is_withheld = matches!(error, Error::Remote(RemoteFault::Withholds { .. }));
    let again = is_withheld && tries_left > 0;
    if again {
        thread::sleep(PAUSE);
    }
    again
}

impl<'a> Look<'a> {
    pub(super) fn at(
        root: &'a Folder,
        remote: &'a Remote,
        git: &TransferRepository,
        transfer: &Transfer<'_>,
    ) -> Result<Self> {
        let attended = transfer.attended;
        // Every ref is asked for by its name: a host may have many others.
        let cards = LocalFile::read(root)?.cards_at(&remote.name);
        let names = cards.keys().flat_map(|digits| names_of(digits));
        let names: Vec<String> = [BRANCH.to_owned()].into_iter().chain(names).collect();
        let mut remote = remote.clone();
        let asked = if remote.branches {
            names.clone()
        } else {
            [&names[..], &[CARDS_AS_BRANCHES.to_owned()]].concat()
        };
        let mut refs = git.refs_of(host_of(&remote, attended), &asked)?;
        let is_card = |name: &String| {
            let digits = name.strip_prefix(CARDS_AS_BRANCHES.trim_end_matches('*'));
            digits.is_some_and(|digits| card::parse_digits(digits).is_some())
        };
        if !remote.branches && refs.keys().any(is_card) {
            // Another machine was told that this host takes branches alone.
            remote.branches = true;
            refs = git.refs_of(host_of(&remote, attended), &names)?;
        }
        Ok(Self {
            root,
            remote,
            attended,
            now: transfer.now,
            refs,
            asked: cards.keys().cloned().collect(),
            cards,
            is_read: false,
            turned_back: None,
            passed_over: BTreeSet::new(),
            unfit: None,
            fetched: None,
            left: Cards::new(),
            beside: Vec::new(),
            fork: None,
        })
    }

    /// Returns the lines of a machine at the remote. Where two copies of it were written to, each has one.
    pub(super) fn lines_of(&self, digits: &str) -> impl Iterator<Item = (&String, ObjectId)> {
        let line = format!("{LINES}{digits}");
        let named = self.refs.iter().map(|(name, commit)| (name, *commit));
        named.filter(move |(name, _)| {
            let rest = name.strip_prefix(&line);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        })
    }

    /// Returns the line of this machine at the remote, and where it ends: the one that this history goes on
    /// from. If that of its name is another copy's, with the same key, this one gets a line beside it.
    pub(super) fn own_line(
        &self,
        repository: &Repository,
        digits: &str,
        head: ObjectId,
    ) -> Result<(String, Option<ObjectId>)> {
        for (name, end) in self.lines_of(digits) {
            if contains(repository, head, end)? {
                return Ok((name.clone(), Some(end)));
            }
        }
        let name = format!("{LINES}{digits}");
        if !self.refs.contains_key(&name) {
            return Ok((name, None));
        }
        let head = head.to_string();
        Ok((format!("{name}-{}", &head[..8]), None))
    }

    /// Fetches what a remote has beyond our end of history, verifies it, and compares it with what machines
    /// signed for. That needs no key. It can be read until what is returned is dropped.
    pub(super) fn inspect_history<'r>(
        &mut self,
        repository: &'r Repository,
        git: &TransferRepository,
        (ours, theirs): (ObjectId, ObjectId),
        own: Option<&String>,
        verified: &mut dyn FnMut(verify::Progress),
    ) -> Result<(Inspected, HeldPacks<'r>)> {
        let is_new = !repository.has(theirs)?;
        if is_new {
            let host = host_of(&self.remote, self.attended);
            git.fetch_refs(host, &[(BRANCH.into(), OTHER_LINE.into())])?;
        }
        let (store, _) = policy_at(repository, ours)?;
        let (signers, _) = people_at(repository, ours)?;
        self.read_cards(store, &signers, own)?;
        // Nobody waits for a network with this lock.
        let packing = repository.pack_lock()?;
        let packs = is_new.then(|| repository.take_packs(&git.repository));
        let packs = packs.transpose()?;
        let mut inspected = Inspected {
            remote: self.remote.name.clone(),
            head: theirs,
            missing: match packs {
                Some(_) => None,
                None => events_after(repository, Some(theirs), ours)?,
            },
            is_apart: false,
            report: None,
        };
        if inspected.missing.is_none() {
            // A history whose parents cannot be followed has findings.
            let fork = common_commit(repository, ours, theirs).unwrap_or_default();
            let incoming = Incoming {
                head: theirs,
                known: fork.unwrap_or(ours),
                before: None,
            };
            let mut report =
                verify::verify_incoming(self.root, &Options::default(), incoming, verified)?.0;
            // Not what is about this copy, and about no event.
            report
                .findings
                .retain(|found| found.event.is_some() || found.commit.is_some());
            report.findings_total = report.findings.len() as u64;
            report.not_checked.clear();
            report.worst = report.findings.iter().map(|found| found.class).max();
            if report.worst.is_none() && fork != Some(ours) {
                if policy_at(repository, theirs)?.0 != store {
                    let remote = self.remote.name.clone();
                    let what = "it is that of another store".into();
                    return Err(Error::Remote(RemoteFault::Unverified { remote, what }));
                }
                inspected.is_apart = true;
                self.fork = fork;
                // Whoever was removed there since has no word any more.
                let (signers, _) = people_at(repository, theirs)?;
                let is_signer = |card: &Card| signers.of(&card.key).is_some();
                self.cards.retain(|_, found| is_signer(&found.card));
                let commits = store::commits_between(repository, fork, theirs)?;
                self.beside = counted_by_signer(repository, &commits.unwrap_or_default())?;
            }
            inspected.report = Some(report);
        }
        let is_in_order = |report: &Report| report.worst.is_none();
        if inspected.report.as_ref().is_none_or(is_in_order) {
            self.check_witnesses(repository, (ours, theirs))?;
        }
        let held = HeldPacks {
            _packs: packs,
            _packing: packing,
        };
        Ok((inspected, held))
    }

    /// Reads the cards of this machine and of the signers of a store, of which the host has others than
    /// were seen before.
    pub(super) fn read_cards(
        &mut self,
        store: StoreId,
        signers: &Signers,
        own: Option<&String>,
    ) -> Result<()> {
        if self.is_read {
            return Ok(());
        }
        let counted = signers
            .entries()
            .filter(|signer| !self.passed_over.contains(signer.name()));
        let mut wanted: BTreeMap<String, Option<&str>> = counted
            .map(|signer| (card::digits_of(&signer.key()), Some(signer.name())))
            .collect();
        if let Some(own) = own {
            // A machine that asks for keys is no signer yet.
            wanted.entry(own.clone()).or_insert(None);
        }
        let others = wanted.keys().filter(|digits| !self.asked.contains(*digits));
        let names: Vec<String> = others.flat_map(|digits| names_of(digits)).collect();
        if !names.is_empty() {
            let git = self.repository()?;
            let found = git.refs_of(host_of(&self.remote, self.attended), &names)?;
            self.fetched = Some(git);
            self.refs.extend(found);
        }
        let mut names = Vec::new();
        let former = self
            .cards
            .keys()
            .filter(|digits| !wanted.contains_key(*digits));
        for digits in wanted.keys().chain(former) {
            let name = format!("{CARDS}{digits}");
            let known = self.cards.get(digits).map(|known| known.commit);
            let there = self.refs.get(&name).copied();
            if there.is_some() && there != known {
                names.push(name);
            }
        }
        for found in self.fetch(&names)? {
            let digits = found.digits();
            let known = self.cards.get(&digits);
            let Some(name) = wanted.get(&digits).copied() else {
                // Of whoever was removed only the last word counts.
                let says_more = |known: &PublishedCard| {
                    let (known, found) = (&known.card, &found.card);
                    (known.store, &known.name) == (found.store, &found.name)
                        && known.time < found.time
                };
                if found.card.has_left() && known.is_some_and(says_more) {
                    self.left.insert(digits, found);
                }
                continue;
            };
            // One key may sign in several stores, and a signer speaks for no other.
            let is_its_own = name.is_none_or(|name| name == found.card.name);
            if found.card.store != store || !is_its_own {
                continue;
            }
            if known.is_some_and(|known| known.card.time >= found.card.time) {
                if Some(&digits) == own {
                    // This machine publishes its card anew.
                    continue;
                }
                self.turned_back.get_or_insert(found.card.name);
                continue;
            }
            self.cards.insert(digits, found);
        }
        self.cards.retain(|digits, found| {
            let name = wanted.get(digits);
            name.is_some_and(|name| name.is_none_or(|name| name == found.card.name))
        });
        self.is_read = true;
        Ok(())
    }

    /// Returns the repository that cards are fetched to.
    fn repository(&mut self) -> Result<TransferRepository> {
        let there = self.fetched.take();
        there.map_or_else(|| TransferRepository::make(self.root, None), Ok)
    }

    /// Fetches cards by the names of their refs. What is no card of that ref's key, or does not come, is
    /// passed over: its machine publishes another.
    pub(super) fn fetch(&mut self, names: &[String]) -> Result<Vec<PublishedCard>> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let git = self.repository()?;
        let host = host_of(&self.remote, self.attended);
        let same: Vec<_> = names
            .iter()
            .map(|name| (name.clone(), name.clone()))
            .collect();
        let mut failures = 0;
        let mut waiting = vec![&same[..]];
        while let Some(some) = waiting.pop()
            && failures < FAILURES_MAX
        {
            // One of them does not come: the others do without it.
            if git.fetch_refs(host, some).is_err() {
                failures += 1;
                if some.len() > 1 {
                    waiting.extend(<[_; 2]>::from(some.split_at(some.len() / 2)));
                }
            }
        }
        let mut strange = HashSet::new();
        let found = names.iter().filter_map(|name| {
            let commit = *self.refs.get(name)?;
            // Many refs can lead to one large object.
            if strange.contains(&commit) {
                return None;
            }
            let found = PublishedCard::read(&git.repository, commit);
            let found = found.filter(|found| format!("{CARDS}{}", found.digits()) == *name);
            if found.is_none() {
                strange.insert(commit);
            }
            found
        });
        let found = found.collect();
        self.fetched = Some(git);
        Ok(found)
    }

    /// Refuses a host that serves an older card than before, or lacks what a machine signed for: its card
    /// names a commit that is neither in the history here nor in that of the host, nor on its own line.
    pub(super) fn check_witnesses(
        &self,
        repository: &Repository,
        (ours, theirs): (ObjectId, ObjectId),
    ) -> Result<()> {
        if let Some(machine) = &self.turned_back {
            return Err(Error::Remote(RemoteFault::TurnedBack {
                remote: self.remote.name.clone(),
                machine: machine.clone(),
            }));
        }
        for (digits, found) in &self.cards {
            let head = found.card.head;
            // That the commit is here says nothing: a host can send it beside a history without it.
            let is_there = self.lines_of(digits).any(|(_, end)| end == head)
                || contains(repository, theirs, head)?
                || contains(repository, ours, head)?;
            if !is_there {
                return Err(Error::Remote(RemoteFault::Withholds {
                    remote: self.remote.name.clone(),
                    machine: found.card.name.clone(),
                    events: found.card.events,
                }));
            }
        }
        Ok(())
    }

    /// Returns the other machines that may open what they have, and how many events of a history each lacks;
    /// `None` if it has others.
    pub(super) fn others(
        &self,
        repository: &Repository,
        own: Option<&String>,
        head: ObjectId,
    ) -> Result<Vec<(String, Option<u64>)>> {
        let (signers, members) = people_at(repository, head)?;
        let mut others = Vec::new();
        for (digits, PublishedCard { card, .. }) in &self.cards {
            // It has left, or asks for keys.
            let has_none = card.keys.is_none();
            let may_open = role_now(card, (&signers, &members), self.now).is_some();
            if Some(digits) == own || has_none || !may_open {
                continue;
            }
            let lacks = if repository.has(card.head)? {
                events_after(repository, Some(card.head), head)?
            } else {
                None
            };
            others.push((card.name.clone(), lacks));
        }
        others.sort();
        Ok(others)
    }

    /// Tells whether another reader's machine has said that it has keys.
    pub(super) fn has_other_reader(
        &self,
        repository: &Repository,
        own: Option<&String>,
        head: ObjectId,
    ) -> Result<bool> {
        let (signers, members) = people_at(repository, head)?;
        Ok(self
            .cards
            .iter()
            .any(|(digits, PublishedCard { card, .. })| {
                let role = role_now(card, (&signers, &members), self.now);
                let reads = role == Some(Role::Reader);
                Some(digits) != own && reads && card.keys.is_some() && !card.wants_all
            }))
    }

    /// Fetches the cards with mail for a mailbox of which only the card itself was kept.
    pub(super) fn fetch_mail(&mut self, mailbox: &str) -> Result<()> {
        let fetched = self.fetched.as_ref();
        let is_here = |found: &PublishedCard| {
            fetched.is_some_and(|git| git.repository.has(found.commit).unwrap_or(false))
        };
        let wanted = self
            .cards
            .iter()
            .filter(|(_, found)| found.card.has_mail_for(mailbox) && !is_here(found));
        let names: Vec<String> = wanted
            .map(|(digits, _)| format!("{CARDS}{digits}"))
            .collect();
        self.fetch(&names).map(drop)
    }

    /// Returns the mail of a card that was fetched.
    pub(super) fn mail_of(&self, card: &PublishedCard, role: Role) -> Option<Sealed> {
        card.mail(&self.fetched.as_ref()?.repository, role)
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;
    use crate::crypto::digest::Digest;
    use crate::crypto::seal::{Recipient, SealKey};
    use crate::crypto::sign::{SignerEntry, SigningKey, Validity};

    /// A card of `name`, with an identity and a key of its own.
    fn card(name: &str) -> (Card, SigningKey) {
        let key = SigningKey::generate();
        let recipient = || Recipient::parse(&SealKey::generate().public_text()).expect("own");
        let card = Card {
            store: StoreId([3; 16]),
            name: name.into(),
            key: key.verifying_key(),
            reads: recipient(),
            role: Role::Reader,
            mailbox: recipient(),
            keys: None,
            wants_all: true,
            mail: Vec::new(),
            events: 9,
            head: ObjectId([7; 20]),
            digest: Digest([9; 32]),
            time: DateTime::from_timestamp(1_790_000_000, 0).expect("a time"),
        };
        (card, key)
    }

    fn member(role: Role, card: &Card) -> Member {
        Member {
            role,
            name: card.name.clone(),
            recipient: card.reads.clone(),
        }
    }

    #[test]
    fn a_machine_may_open_what_a_member_of_its_name_with_its_identity_may() {
        let ((owner, owner_key), (ci, _), (sue, _)) = (card("owner"), card("ci"), card("sue"));
        let signs =
            |card: &Card, role| SignerEntry::new(&card.name, &card.key, role, Validity::default());
        let signers = Signers::parse(&Signers::file("owner", &owner_key)).expect("own output");
        let signers = signers.and(signs(&ci, SignerRole::Writer));
        let signers = signers.and(signs(&sue, SignerRole::Auditor));
        let members = [
            member(Role::Reader, &owner),
            member(Role::Reader, &ci),
            member(Role::Auditor, &sue),
        ];
        let now = ci.time;
        let role = |card: &Card| role_now(card, (&signers, &members), now);
        assert_eq!(role(&ci), Some(Role::Reader));
        assert_eq!(role(&sue), Some(Role::Auditor));
        // An auditor, or a former reader who still signs, names a reader's identity.
        let reads = owner.reads.clone();
        for other in [
            Card {
                reads: reads.clone(),
                ..sue.clone()
            },
            Card {
                reads,
                ..ci.clone()
            },
            Card {
                name: "owner".into(),
                ..ci.clone()
            },
            card("ci").0,
            card("nobody").0,
        ] {
            assert_eq!(role(&other), None, "{}", other.name);
        }
        // By a clock that is years ahead the key's time would be over.
        let end = now + TimeDelta::days(100);
        let limited = Validity::new(None, Some(end)).expect("a time");
        let limited = SignerEntry::new(&ci.name, &ci.key, SignerRole::Writer, limited);
        let signers_then = signers.without("ci").and(limited);
        let ahead = Card {
            time: now + TimeDelta::days(700),
            ..ci.clone()
        };
        let role_at = |now| role_now(&ahead, (&signers_then, &members), now);
        assert_eq!(role_at(now), Some(Role::Reader));
        assert_eq!(role_at(end + TimeDelta::days(1)), None);
        // An auditor's signing key gets no reader's keys, whatever identity is beside it.
        let both = [member(Role::Reader, &sue)];
        assert_eq!(role_now(&sue, (&signers, &both), now), None);
        assert_eq!(role_now(&ci, (&signers, &members[..1]), now), None);
        assert_eq!(role_now(&ci, (&signers.without("ci"), &members), now), None);
    }
}
