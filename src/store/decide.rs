//! What the store's owner decided: the three files that are public by design, each changed only by
//! a command that says so.

use std::sync::OnceLock;

use crate::answer::Meta;
use crate::catalog::Decided;
use crate::disk::Lock;
use crate::error::{Error, Result};
use crate::event::{Context, POLICY_COMMAND, PublicFile};
use crate::id::StoreId;
use crate::journal::KeyEntry;
use crate::policy::Policy;
use crate::recipients::{self, Member};
use crate::redact;
use crate::repository::Repository;
use crate::repository::object::{Object, ObjectId};
use crate::sign::Signers;

use super::Store;
use super::commit::Sealing;

/// The three files, read.
pub(super) struct Decisions {
    /// The blobs they were read from.
    pub(super) blobs: Decided,
    pub(super) id: StoreId,
    pub(super) policy: Policy,
    pub(super) members: Vec<Member>,
    pub(super) signers: Signers,
}

impl Decisions {
    pub(super) fn read(repository: &Repository, blobs: Decided) -> Result<Self> {
        let fault = |file: &'static str| move |why: String| Error::damaged(file, why);
        let (id, policy) = Policy::parse_file(&repository.public(blobs.policy)?)?;
        let members = recipients::parse(&repository.public(blobs.recipients)?);
        let signers = Signers::parse(&repository.public(blobs.signers)?);
        Ok(Self {
            blobs,
            id,
            policy,
            members: members.map_err(fault("recipients"))?,
            signers: signers.map_err(fault("signers"))?,
        })
    }
}

impl Store {
    /// Puts another policy in place, as an event of its own: for the owner, never for an agent.
    ///
    /// # Errors
    /// [`Error::Policy`] if it cannot be followed; otherwise as for [`Store::execute`].
    pub fn set_policy(&mut self, policy: &Policy, context: &Context) -> Result<Meta> {
        redact::check_policy(&policy.redaction)?;
        let lock = Lock::acquire(&self.root.join("lock"))?;
        self.refresh()?;
        let text = policy.to_file(self.id);
        let meta = self.decide(POLICY_COMMAND, PublicFile::Policy, &text, context)?;
        drop(lock);
        Ok(meta)
    }

    /// Puts a public file in place anew, by a command that says so. Called with the lock held.
    pub(super) fn decide(
        &mut self,
        command: &str,
        file: PublicFile,
        text: &str,
        context: &Context,
    ) -> Result<Meta> {
        self.decide_with(command, file, text, None, context)
    }

    /// As [`Self::decide`], with files of the keyring that take their places with it.
    pub(super) fn decide_with(
        &mut self,
        command: &str,
        file: PublicFile,
        text: &str,
        next: Option<KeyEntry>,
        context: &Context,
    ) -> Result<Meta> {
        let object = Object::public(text);
        let decision = (file, object.id);
        let root = self.trees.put_public(file.name(), object.id);
        let sealing = Sealing {
            objects: vec![object, root],
            next,
            ..Sealing::default()
        };
        self.record_decision(command, Some(decision), sealing, context)
    }

    /// Records what the owner decided; `decision` is the public file that changes, if one does.
    pub(super) fn record_decision(
        &mut self,
        command: &str,
        decision: Option<(PublicFile, ObjectId)>,
        sealing: Sealing,
        context: &Context,
    ) -> Result<Meta> {
        let mut redactions = Vec::new();
        let mut event = self.event(command, context, &mut redactions)?;
        event.redactions.clone_from(&redactions);
        let recorded = self.record(event, sealing);
        let (event, commit) = recorded.inspect_err(|_| self.trees.forget())?;
        if let (Some(decided), Some((file, blob))) = (&mut self.catalog.decided, decision) {
            decided.put(file, blob);
        }
        // The catalog's steps do not say what was decided.
        self.catalog_file
            .write_snapshot(&self.catalog, self.keyring.names_key());
        self.follow_decisions()?;
        Ok(Meta {
            event: event.number,
            commit,
            time: event.time,
            outcome: event.outcome,
            error: None,
            memory: None,
            redactions,
        })
    }

    /// Whether this process could record anything: asked before much is made ready for it.
    pub(super) fn may_record(&self) -> Result<()> {
        let key = self.signing_key.as_ref().ok_or(Error::NoSigningKey)?;
        match self.decisions.signers.name_of(key) {
            Some(_) => Ok(()),
            None => Err(Error::NotASigner {
                fingerprint: key.fingerprint(),
            }),
        }
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
