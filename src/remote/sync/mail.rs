//! Mail of keys: whose is taken, and who gets some.

use chrono::{DateTime, Utc};

use crate::crypto::recipients::{self, Member, Role};
use crate::crypto::sign::Signers;
use crate::error::{RemoteFault, Result};
use crate::id::ObjectId;
use crate::keyring::backup;
use crate::remote::IncomingKeys;
use crate::remote::card::{Card, PublishedCard};
use crate::remote::look::{Look, people_at, role_now};
use crate::remote::sync::Machine;
use crate::store::replica::{Addressee, held_keys};
use crate::store::{self, Audience};

impl Machine<'_> {
    /// Finds mail with the keys of the history up to `theirs`, from the reader's machine that is furthest
    /// in it: nothing if our keys are the same. Nobody has verified that history yet.
    pub(super) fn find_mail(
        &self,
        look: &Look<'_>,
        (ours, theirs): (ObjectId, ObjectId),
    ) -> Result<IncomingKeys> {
        let refusal = |fault: RemoteFault| IncomingKeys {
            refusal: Some(fault),
            ..IncomingKeys::default()
        };
        let remote = look.remote.name.clone();
        let (signers, members) = people_at(self.repository, theirs)?;
        let own = self.identity.recipients();
        let Some(role) = recipients::role_of(&members, &own) else {
            let is_removed = self.is_member_at(ours)?;
            let removed = is_removed.then(|| refusal(RemoteFault::Removed { remote }));
            return Ok(removed.unwrap_or_default());
        };
        let held = self.store.as_ref().map(held_keys);
        let mailbox = self.mailbox(ours)?;
        let address = mailbox.public_text();
        let is_for_us = |card: &Card| card.has_mail_for(&address);
        if held.is_none() && !look.cards.values().any(|other| is_for_us(&other.card)) {
            return Ok(IncomingKeys::default());
        }
        // The commits among which the other's has to be: all of them for a machine without keys.
        let known = held.map(|_| ours);
        let new = store::commits_between(self.repository, known, theirs)?.unwrap_or_default();
        let id = self.store_id(ours)?;
        let audience = match role {
            Role::Reader => Audience::Readers,
            Role::Auditor => Audience::Auditors,
        };
        for (place, other) in self.readers_in(&new, look, (&signers, &members)) {
            if let (Some(held), Some(keys)) = (held, other.card.keys)
                && keys.fits(held, role)
                && !self.changes_keys(&new[place + 1..])?
            {
                // If keys are missing all the same, its card says what is not so.
                return Ok(IncomingKeys {
                    sender: Some(other.card.name.clone()),
                    ..IncomingKeys::default()
                });
            }
            if !is_for_us(&other.card) {
                continue;
            }
            let sealed = look.mail_of(other, role);
            let plain = sealed.and_then(|sealed| backup::open_mail(&sealed, &mailbox));
            let plain = plain.filter(|plain| backup::is_for(plain, id, audience));
            if plain.is_some() {
                return Ok(IncomingKeys {
                    plain,
                    sender: Some(other.card.name.clone()),
                    refusal: None,
                });
            }
        }
        // With keys from before an erasure this machine would erase once more, by itself.
        if held.is_some() && self.changes_keys(&new)? {
            return Ok(refusal(RemoteFault::NoKeys { remote }));
        }
        Ok(IncomingKeys::default())
    }

    /// Tells whether the identity of this machine is a member's as of a commit.
    pub(super) fn is_member_at(&self, head: ObjectId) -> Result<bool> {
        let (_, members) = people_at(self.repository, head)?;
        Ok(recipients::role_of(&members, &self.identity.recipients()).is_some())
    }

    /// Returns the cards of other readers' machines whose history ends among these commits, and where: the
    /// furthest first.
    fn readers_in<'l>(
        &self,
        commits: &[ObjectId],
        look: &'l Look<'_>,
        people: (&Signers, &[Member]),
    ) -> Vec<(usize, &'l PublishedCard)> {
        let own = self.digits();
        let others = look.cards.iter().filter(|(digits, published)| {
            let role = role_now(&published.card, people, look.now);
            role == Some(Role::Reader) && Some(*digits) != own.as_ref()
        });
        let placed = others.filter_map(|(_, published)| {
            let end = published.card.head;
            let place = commits.iter().rposition(|commit| *commit == end);
            Some((place?, published))
        });
        let mut placed: Vec<_> = placed.collect();
        placed.sort_by_key(|(place, _)| std::cmp::Reverse(*place));
        placed
    }

    /// Tells whether one of these commits changes keys.
    pub(super) fn changes_keys(&self, commits: &[ObjectId]) -> Result<bool> {
        for commit in commits {
            let (commit, _) = self.repository.commit(*commit)?;
            if store::changes_keys(&commit.message) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Returns what another machine may get; `None` if its key is no signer's, if it may open nothing, or has
/// left.
pub(super) fn addressee(
    card: &Card,
    people: (&Signers, &[Member]),
    now: DateTime<Utc>,
) -> Option<Addressee> {
    let role = role_now(card, people, now)?;
    (!card.has_left()).then(|| Addressee {
        role,
        mailbox: card.mailbox.clone(),
        keys: card.keys.filter(|_| !card.wants_all),
        events: card.events,
    })
}
