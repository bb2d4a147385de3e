//! Who may write: read, changed by those who may, and asked before anything is signed.

use chrono::{DateTime, Utc};

use crate::answer::Meta;
use crate::error::{Error, Result, SigningFault};
use crate::event::{Context, PublicFile, SIGNERS_ADD, SIGNERS_RM};
use crate::repository::object::Commit;
use crate::sign::{Entry, Signers, SigningKey, Untimely, Validity, VerifyingKey, check_name};

use super::Store;
use super::commit::time_of;
use super::decide::Decision;
use super::history::decided_in;

/// Somebody who may write.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Signer {
    /// Their name, which is the author's of their commits.
    pub name: String,
    /// Their public key as an OpenSSH line.
    pub key: String,
    /// Its fingerprint, as `ssh-keygen -l` shows it.
    pub fingerprint: String,
    /// From when until when it may sign.
    pub validity: Validity,
}

/// Somebody who may not write any more.
#[derive(Debug)]
#[non_exhaustive]
pub struct Removed {
    /// Who it was.
    pub signer: Signer,
    /// Whether it is the one whose key recorded this.
    pub oneself: bool,
    /// What was recorded.
    pub meta: Meta,
}

impl Store {
    /// Everybody who may write, in the order of the file `signers`.
    #[must_use]
    pub fn signer_list(&self) -> Vec<Signer> {
        self.decisions.signers.entries().map(Signer::of).collect()
    }

    /// Lets somebody write, as an event of its own: from the next event on.
    ///
    /// # Errors
    /// [`SigningFault::Exists`] if the name or the key is a signer's, [`Error::Invalid`] if the name
    /// cannot be one or the time of the key is over; otherwise as for [`Store::execute`].
    pub fn add_signer(
        &mut self,
        name: &str,
        key: &VerifyingKey,
        validity: Validity,
        context: &Context,
    ) -> Result<(Signer, Meta)> {
        let invalid = |what, why: String| Error::Invalid { what, why };
        check_name(name).map_err(|why| invalid("the signer's name", why.into()))?;
        let entry = Entry::new(name, key, validity);
        let lock = self.lock()?;
        self.refresh()?;
        self.check_clear_name("the signer's name", name)?;
        self.signer_now()?;
        let signers = &self.decisions.signers;
        let taken = if signers.named(name).is_some() {
            Some(format!("there is a signer with the name {name}"))
        } else {
            let holder = signers.of(key).map(Entry::name);
            holder.map(|holder| format!("the key {} is {holder}'s", key.fingerprint()))
        };
        if let Some(what) = taken {
            return Err(Error::Signing(SigningFault::Exists { what }));
        }
        let now = time_of(&self.clock)?;
        if validity.before().is_some_and(|before| before < now) {
            let why = "it would be over already".into();
            return Err(invalid("the time of the key", why));
        }
        let (signer, text) = (Signer::of(&entry), signers.and(entry).to_file());
        let meta = self.decide_signers(SIGNERS_ADD, name, &text, context)?;
        drop(lock);
        Ok((signer, meta))
    }

    /// Lets somebody write no more, as an event of its own. What they wrote before stays valid.
    ///
    /// # Errors
    /// [`SigningFault::NoSuch`] if nobody has the name, [`SigningFault::Last`] if nobody could write
    /// any more; otherwise as for [`Store::execute`].
    pub fn remove_signer(&mut self, name: &str, context: &Context) -> Result<Removed> {
        let lock = self.lock()?;
        self.refresh()?;
        let oneself = self.signer_now()?.1 == name;
        let signers = &self.decisions.signers;
        let Some(signer) = signers.named(name).map(Signer::of) else {
            let name = crate::event::bounded(name, crate::sign::NAME_CHARACTERS_MAX);
            return Err(Error::Signing(SigningFault::NoSuch { name }));
        };
        let others = signers.without(name);
        let (now, last) = (time_of(&self.clock)?, self.catalog.times.last);
        let writes = |other: &Entry| other.validity().check(now, last).is_ok();
        let endless = |other: &Entry| other.validity().before().is_none();
        // Only a signer can let another in: one whose time never ends is not to be the last of those.
        let was_endless = signers.named(name).is_some_and(endless);
        if !others.entries().any(writes) || (was_endless && !others.entries().any(endless)) {
            return Err(Error::Signing(SigningFault::Last { name: name.into() }));
        }
        let text = others.to_file();
        let meta = self.decide_signers(SIGNERS_RM, name, &text, context)?;
        drop(lock);
        Ok(Removed {
            signer,
            oneself,
            meta,
        })
    }

    fn decide_signers(
        &mut self,
        command: &'static str,
        name: &str,
        text: &str,
        context: &Context,
    ) -> Result<Meta> {
        let decision = Decision {
            command,
            member: Some(name),
            file: None,
        };
        self.decide(decision, PublicFile::Signers, text, None, context)
    }

    /// Those who could sign a commit: the signers of the one before it; of the first, its own.
    pub(crate) fn signers_before(&self, commit: &Commit) -> Result<Signers> {
        let tree = match commit.parent {
            Some(parent) => self.repository.commit(parent)?.0.tree,
            None => commit.tree,
        };
        let decided = decided_in(&self.repository, tree)?;
        let text = self.repository.public(decided.signers)?;
        Signers::parse(&text).map_err(|why| Error::damaged("signers", why))
    }

    /// The key that signs, and the name of its holder, if both may write now.
    pub(super) fn signer_now(&self) -> Result<(&SigningKey, &str)> {
        let (key, signers) = (self.signing_key.as_ref(), &self.decisions.signers);
        may_sign(key, signers, time_of(&self.clock)?, self.catalog.times.last)
    }
}

impl Signer {
    fn of(entry: &Entry) -> Self {
        let key = entry.key();
        Self {
            name: entry.name().to_owned(),
            key: key.public_line(),
            fingerprint: key.fingerprint(),
            validity: entry.validity(),
        }
    }
}

/// The key and the name of its holder, if it may sign an event of this time after one of `last`.
pub(super) fn may_sign<'a>(
    key: Option<&'a SigningKey>,
    signers: &'a Signers,
    time: DateTime<Utc>,
    last: Option<DateTime<Utc>>,
) -> Result<(&'a SigningKey, &'a str)> {
    let key = key.ok_or(Error::NoSigningKey)?;
    let Some(signer) = signers.of(&key.verifying_key()) else {
        let fingerprint = key.fingerprint();
        return Err(Error::NotASigner { fingerprint });
    };
    let not_valid = |when: Untimely| {
        Error::Signing(SigningFault::NotValid {
            name: signer.name().to_owned(),
            fingerprint: key.fingerprint(),
            when: when.to_string(),
        })
    };
    signer.validity().check(time, last).map_err(not_valid)?;
    Ok((key, signer.name()))
}
