//! What the store's owner decided: the three files that are public by design, each changed only by
//! a command that says so.

use std::sync::OnceLock;

use crate::crypto::recipients::{self, Member};
use crate::crypto::sign::Signers;
use crate::error::{Error, Result};
use crate::event::{Context, Event, POLICY_COMMAND, PublicFile, Redaction};
use crate::id::ObjectId;
use crate::id::{MemoryId, StoreId};
use crate::journal::KeyEntry;
use crate::memory_tool::path::MemoryPath;
use crate::policy::expiration::Rules;
use crate::policy::{KeyringPlace, Policy};
use crate::redact::{self, Redactor};
use crate::repository::Repository;
use crate::repository::object::Object;
use crate::state::catalog::Decided;
use crate::store::answer::Meta;

use super::Store;
use super::commit::Sealing;

/// The three files, read.
pub(super) struct Decisions {
    /// The blobs they were read from.
    pub(super) blobs: Decided,
    pub(super) id: StoreId,
    /// The store's format version.
    pub(super) format: u32,
    pub(super) policy: Policy,
    /// What the policy says of expiration, ready to be tried.
    pub(super) rules: Rules,
    pub(super) members: Vec<Member>,
    pub(super) signers: Signers,
}

/// What an event decides.
#[derive(Default)]
pub(super) struct Decision<'a> {
    pub(super) command: &'a str,
    /// Who is let in or out.
    pub(super) member: Option<&'a str>,
    /// The public file that changes, if one does, and what it becomes.
    pub(super) file: Option<(PublicFile, ObjectId)>,
}

/// What became of a change of the policy.
#[derive(Debug)]
#[non_exhaustive]
pub struct PolicyChange {
    /// The policy that was in force.
    pub before: Policy,
    /// The one that is now.
    pub after: Policy,
    /// The event that records it; `None` where the two are the same.
    pub meta: Option<Meta>,
}

impl Decisions {
    pub(super) fn read(repository: &Repository, blobs: Decided) -> Result<Self> {
        let fault = |file: &'static str| move |why: String| Error::damaged(file, why);
        let text = repository.public(blobs.policy)?;
        let (id, policy) = parse_recorded_policy(&text)?;
        let members = recipients::parse(&repository.public(blobs.recipients)?);
        let signers = Signers::parse(&repository.public(blobs.signers)?);
        Ok(Self {
            blobs,
            id,
            format: Policy::format_of(&text)?,
            rules: Rules::of(&policy.expiration)?,
            policy,
            members: members.map_err(fault("recipients"))?,
            signers: signers.map_err(fault("signers"))?,
        })
    }
}

/// Parses the policy that history records. One that nobody can follow was not made by agekeep.
pub(super) fn parse_recorded_policy(text: &str) -> Result<(StoreId, Policy)> {
    Policy::parse_file(text).map_err(|error| match error {
        Error::Policy { .. } => Error::damaged("policy", error.to_string()),
        other => other,
    })
}

impl Store {
    /// Puts another policy in place, as an event of its own: for the owner, never for an agent. Where
    /// it does not say where the keyring is, that stays as it is.
    ///
    /// # Errors
    /// [`Error::Policy`] if it cannot be followed, [`Error::Invalid`] if a secret stands in it;
    /// otherwise as for [`Store::execute`].
    pub fn set_policy(&mut self, policy: &Policy, context: &Context) -> Result<Meta> {
        redact::check_policy(&policy.redaction)?;
        self.locked(|store| {
            let policy = store.with_keyring_place(policy.clone());
            store.put_policy(&policy, context)
        })
    }

    /// Makes another policy of the one in force, which nobody else changes meanwhile, as
    /// [`Store::set_policy`] does. Where it comes out the same, nothing is recorded.
    ///
    /// # Errors
    /// That of `change`; otherwise as for [`Store::set_policy`].
    pub fn change_policy(
        &mut self,
        change: impl FnOnce(&Policy) -> Result<Policy>,
        context: &Context,
    ) -> Result<PolicyChange> {
        self.locked(|store| {
            let before = store.policy().clone();
            let after = store.with_keyring_place(change(&before)?);
            if after.redaction != before.redaction {
                redact::check_policy(&after.redaction)?;
            }
            let differs = after != before;
            let meta = differs.then(|| store.put_policy(&after, context));
            Ok(PolicyChange {
                meta: meta.transpose()?,
                before,
                after,
            })
        })
    }

    /// Only a policy that says where moves the keyring.
    fn with_keyring_place(&self, mut policy: Policy) -> Policy {
        if policy.keyring == KeyringPlace::default() {
            policy.keyring = self.policy().keyring.clone();
        }
        policy
    }

    /// Called with the lock held.
    fn put_policy(&mut self, policy: &Policy, context: &Context) -> Result<Meta> {
        self.as_reader()?;
        self.check_role(POLICY_COMMAND)?;
        check_texts(policy, self.redactor()?)?;
        self.check_place(policy)?;
        let text = policy.to_file(self.id)?;
        let decision = Decision {
            command: POLICY_COMMAND,
            ..Decision::default()
        };
        self.decide(decision, PublicFile::Policy, &text, None, context)
    }

    /// The memory at a path now, or the one with an id, and where it is. Nothing is recorded: it is
    /// no look at what the memory holds.
    ///
    /// # Errors
    /// [`Error::NotThere`] if there is none; otherwise as for [`Store::moment`].
    pub fn find_memory(&mut self, memory: &str) -> Result<(MemoryId, MemoryPath)> {
        let id = MemoryId::from_hex(memory);
        let path = id.is_none().then(|| self.parse_path(memory)).transpose()?;
        self.locked(|store| {
            let found = match (id, &path) {
                (Some(id), _) => store.catalog.memory(id),
                (None, Some(path)) => store.catalog.at(path),
                (None, None) => None,
            };
            let found = found.map(|memory| (memory.id, memory.path.clone()));
            found.ok_or_else(|| Error::NotThere {
                path: memory.to_owned(),
                when: "now".into(),
                hint: "`agekeep read` lists what is there, and `agekeep log` with a path what was"
                    .into(),
            })
        })
    }

    /// Puts a public file in place anew, by a command that says so, and files of the keyring with it.
    /// Called with the lock held.
    pub(super) fn decide(
        &mut self,
        mut decision: Decision<'_>,
        file: PublicFile,
        text: &str,
        next: Option<KeyEntry>,
        context: &Context,
    ) -> Result<Meta> {
        let object = Object::public(text);
        decision.file = Some((file, object.id));
        let root = self.trees.put_public(file.name(), object.id);
        let sealing = Sealing {
            objects: vec![object, root],
            next,
            ..Sealing::default()
        };
        self.record_decision(&decision, sealing, context)
    }

    /// Records what the owner decided.
    pub(super) fn record_decision(
        &mut self,
        decision: &Decision<'_>,
        sealing: Sealing,
        context: &Context,
    ) -> Result<Meta> {
        let recorded = self.try_record_decision(decision, sealing, context);
        let (event, commit, redactions) = recorded.inspect_err(|_| self.trees.forget())?;
        if let (Some(decided), Some((file, blob))) = (&mut self.catalog.decided, decision.file) {
            decided.put(file, blob);
        }
        // The step of the event does not say what was decided with it.
        let cache_key = self.keyring.cache_key();
        self.catalog_file.append_decision(&self.catalog, cache_key);
        self.renew_catalog_file();
        // It is on record. What cannot be read back now is read by the next command.
        drop(self.follow_decisions());
        drop(self.follow_keyring(None));
        Ok(Meta::of(&event, commit, redactions))
    }

    fn try_record_decision(
        &mut self,
        decision: &Decision<'_>,
        sealing: Sealing,
        context: &Context,
    ) -> Result<(Event, ObjectId, Vec<Redaction>)> {
        self.as_reader()?;
        let mut redactions = Vec::new();
        let mut event = self.event(decision.command, context, &mut redactions)?;
        event.member = decision.member.map(str::to_owned);
        event.redactions.clone_from(&redactions);
        let (event, commit) = self.record(event, sealing)?;
        Ok((event, commit, redactions))
    }

    /// Refuses the name of a member or a signer that has a secret in it: names stand in the clear. An
    /// address may be one, whatever the policy says of those in texts.
    pub(super) fn check_clear_name(&self, what: &'static str, name: &str) -> Result<()> {
        let (said, found) = self.redactor()?.line(name);
        if found
            .iter()
            .all(|found| redact::is_personal(found.kind.as_str()))
        {
            return Ok(());
        }
        let why = format!("it holds what looks like a secret: {said}");
        Err(Error::Invalid { what, why })
    }

    /// Refuses an auditor what is for readers.
    pub(super) fn as_reader(&self) -> Result<()> {
        self.keyring.as_reader()
    }

    /// Whether this process could record a decision: asked before much is made ready for it.
    pub(super) fn may_record(&self, command: &str) -> Result<()> {
        self.as_reader()?;
        self.check_one_keyring()?;
        self.may_sign_now(command)
    }

    /// Goes by what this process or another has decided since.
    pub(super) fn follow_decisions(&mut self) -> Result<()> {
        let newest = self.catalog.decided;
        if let Some(blobs) = newest.filter(|blobs| *blobs != self.decisions.blobs) {
            self.decisions = Decisions::read(&self.repository, blobs)?;
            self.redactor = OnceLock::new();
        }
        Ok(())
    }
}

/// Refuses a policy with a secret in it, which would stand in the clear for ever. What says how
/// secrets look is the owner's own business.
pub(super) fn check_texts(policy: &Policy, redactor: &Redactor) -> Result<()> {
    for (key, text) in policy.texts() {
        let (said, _) = redactor.line(&text);
        if said != text {
            return Err(Error::Invalid {
                what: "the policy",
                why: format!("`{key}` holds what looks like a secret: {said}"),
            });
        }
    }
    Ok(())
}
