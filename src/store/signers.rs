//! Signers: the people and machines that may write to the store. Owners change them, and they are
//! checked before anything is signed.

use chrono::{DateTime, Utc};

use crate::crypto::sign::{
    SignerEntry, SignerRole, Signers, SigningKey, Untimely, Validity, VerifyingKey, check_name,
};
use crate::error::{Error, Result, SigningFault};
use crate::event::command::{may_record, not_permitted};
use crate::event::{Context, Erased, Event, PublicFile, SIGNERS_ADD, SIGNERS_RM, SIGNERS_SET};
use crate::repository::object::Commit;
use crate::store::answer::Meta;
use crate::store::commit::time_of;
use crate::store::config::{ConfigChange, change_public_file, check_clear_name, check_permitted};
use crate::store::recovery::{config_blobs_in, refresh};
use crate::store::{Ledger, State, Store, lock};

/// A signer, who may write to the store.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Signer {
    /// The signer's name, which is the author's name of their commits.
    pub name: String,
    /// Their public key as an OpenSSH line.
    pub key: String,
    /// Its fingerprint, as `ssh-keygen -l` shows it.
    pub fingerprint: String,
    /// The role, which decides what the signer may record.
    pub role: SignerRole,
    /// The time in which the signer may sign.
    pub validity: Validity,
}

/// A signer who was removed and may no longer write.
#[derive(Debug)]
#[non_exhaustive]
pub struct Removed {
    /// The former signer.
    pub signer: Signer,
    /// True if the caller removed their own key.
    pub oneself: bool,
    /// The facts about the recorded event.
    pub meta: Meta,
}

pub(super) fn signers_in(signers: &Signers) -> Vec<Signer> {
    signers.entries().map(Signer::of).collect()
}

/// See [`Store::add_signer`].
pub(super) fn add_signer(
    store: &mut Store,
    name: &str,
    key: &VerifyingKey,
    role: SignerRole,
    validity: Validity,
    context: &Context,
) -> Result<(Signer, Meta)> {
    let invalid = |what, why: String| Error::invalid(what, why);
    check_name(name).map_err(|why| invalid("the signer's name", why.into()))?;
    let entry = SignerEntry::new(name, key, role, validity);
    let lock = lock(&mut store.ledger)?;
    refresh(store)?;
    check_clear_name(store, "the signer's name", name)?;
    check_permitted(store, SIGNERS_ADD)?;
    let signers = &store.state.config.signers;
    let taken = if signers.named(name).is_some() {
        Some(format!("there is a signer with the name {name}"))
    } else {
        let holder = signers.of(key).map(SignerEntry::name);
        holder.map(|holder| format!("the key {} is {holder}'s", key.fingerprint()))
    };
    if let Some(what) = taken {
        return Err(Error::Signing(SigningFault::Exists { what }));
    }
    let now = time_of(&store.state.clock)?;
    if validity.before().is_some_and(|before| before < now) {
        let why = "it would be over already".into();
        return Err(invalid("the time of the key", why));
    }
    let (signer, text) = (Signer::of(&entry), signers.and(entry).to_file());
    let meta = change_signers_file(store, SIGNERS_ADD, name, &text, context)?;
    drop(lock);
    Ok((signer, meta))
}

/// See [`Store::set_signer_role`].
pub(super) fn set_signer_role(
    store: &mut Store,
    name: &str,
    role: SignerRole,
    context: &Context,
) -> Result<(Signer, Meta)> {
    let lock = lock(&mut store.ledger)?;
    refresh(store)?;
    check_permitted(store, SIGNERS_SET)?;
    let entry = signer_named(&store.state, name)?;
    if entry.says_role() && entry.role() == role {
        let what = format!("{name} has the role {role} already");
        return Err(Error::Signing(SigningFault::Exists { what }));
    }
    let signers = store.state.config.signers.with_role(name, role);
    check_owners(&store.state, name, &signers)?;
    let signer = signers.named(name).map(Signer::of);
    let meta = change_signers_file(store, SIGNERS_SET, name, &signers.to_file(), context)?;
    drop(lock);
    Ok((signer.expect("only the role is another"), meta))
}

/// See [`Store::remove_signer`].
pub(super) fn remove_signer(store: &mut Store, name: &str, context: &Context) -> Result<Removed> {
    let lock = lock(&mut store.ledger)?;
    refresh(store)?;
    check_permitted(store, SIGNERS_RM)?;
    let oneself = signer_now(store)?.1.name() == name;
    let signer = Signer::of(signer_named(&store.state, name)?);
    let others = store.state.config.signers.without(name);
    check_owners(&store.state, name, &others)?;
    let text = others.to_file();
    let meta = change_signers_file(store, SIGNERS_RM, name, &text, context)?;
    drop(lock);
    Ok(Removed {
        signer,
        oneself,
        meta,
    })
}

fn signer_named<'a>(state: &'a State, name: &str) -> Result<&'a SignerEntry> {
    state.config.signers.named(name).ok_or_else(|| {
        let name = crate::event::bounded(name, crate::crypto::sign::NAME_CHARACTERS_MAX);
        Error::Signing(SigningFault::NoSuch { name })
    })
}

/// Checks that enough owners remain after the named signer is removed or changes role. Only an
/// owner can add another, so the last owner who may write must stay, and so must the last one whose
/// key never expires.
fn check_owners(state: &State, name: &str, next: &Signers) -> Result<()> {
    let (now, last) = (time_of(&state.clock)?, state.catalog.times.last);
    let writes = |entry: &SignerEntry| entry.validity().check(now, last).is_ok();
    let endless = |entry: &SignerEntry| entry.validity().before().is_none();
    let any = |signers: &Signers, is_such: &dyn Fn(&SignerEntry) -> bool| {
        let mut owners = signers.entries().filter(|e| e.role() == SignerRole::Owner);
        owners.any(is_such)
    };
    let had_endless = any(&state.config.signers, &endless);
    if any(next, &writes) && (!had_endless || any(next, &endless)) {
        return Ok(());
    }
    Err(Error::Signing(SigningFault::Last { name: name.into() }))
}

fn change_signers_file(
    store: &mut Store,
    command: &'static str,
    name: &str,
    text: &str,
    context: &Context,
) -> Result<Meta> {
    let decision = ConfigChange::new(command, Some(name));
    change_public_file(store, decision, PublicFile::Signers, text, None, context)
}

/// Returns the signers who could sign a commit: those of its parent; for the first commit, its own.
pub(crate) fn signers_before(ledger: &Ledger, commit: &Commit) -> Result<Signers> {
    let tree = match commit.parent {
        Some(parent) => ledger.repository.commit(parent)?.0.tree,
        None => commit.tree,
    };
    let decided = config_blobs_in(&ledger.repository, tree)?;
    let text = ledger.repository.public(decided.signers)?;
    Signers::parse(&text).map_err(|why| Error::damaged("signers", why))
}

/// Returns the signing key and its signer, if the signer may write now.
pub(super) fn signer_now(store: &Store) -> Result<(&SigningKey, &SignerEntry)> {
    let (key, signers) = (
        store.ledger.signing_key.as_ref(),
        &store.state.config.signers,
    );
    may_sign(
        key,
        signers,
        time_of(&store.state.clock)?,
        store.state.catalog.times.last,
    )
}

/// Checks that the signing key may write now, and may record a command.
pub(super) fn may_sign_now(store: &Store, command: &str) -> Result<()> {
    let (_, signer) = signer_now(store)?;
    check_role_of(signer, command)
}

/// Checks only the role, before a command is planned. The key itself is checked later, when there
/// is something to record.
pub(super) fn check_role(store: &Store, command: &str) -> Result<()> {
    let signer = signer_now(store).ok();
    signer.map_or(Ok(()), |(_, signer)| check_role_of(signer, command))
}

/// Checks that a signer may record an event, as every later reader of the store will.
pub(super) fn check_allowed(state: &State, signer: &SignerEntry, event: &Event) -> Result<()> {
    let is_held = |touch: &_| state.catalog.takes_held(touch);
    let is_begun = |memory: &Erased| {
        let timeline = state.timeline.as_ref();
        state.catalog.marked.contains_key(&memory.memory)
            || timeline.is_some_and(|known| known.erased_by(memory.memory).is_some())
    };
    let are_begun = |memories: &[Erased]| Ok(memories.iter().all(is_begun));
    match not_permitted(signer.role(), event, is_held, are_begun)? {
        None => Ok(()),
        Some(what) => Err(not_allowed(signer, what)),
    }
}

impl Signer {
    fn of(entry: &SignerEntry) -> Self {
        let key = entry.key();
        Self {
            name: entry.name().to_owned(),
            key: key.public_line(),
            fingerprint: key.fingerprint(),
            role: entry.role(),
            validity: entry.validity(),
        }
    }
}

fn check_role_of(signer: &SignerEntry, command: &str) -> Result<()> {
    if may_record(signer.role(), command) {
        return Ok(());
    }
    Err(not_allowed(signer, command.to_owned()))
}

fn not_allowed(signer: &SignerEntry, command: String) -> Error {
    Error::Signing(SigningFault::NotAllowed {
        name: signer.name().to_owned(),
        role: signer.role().as_str(),
        command,
    })
}

/// Returns the key and its signer, if it may sign an event at `time` after an event at `last`.
pub(super) fn may_sign<'a>(
    key: Option<&'a SigningKey>,
    signers: &'a Signers,
    time: DateTime<Utc>,
    last: Option<DateTime<Utc>>,
) -> Result<(&'a SigningKey, &'a SignerEntry)> {
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
    Ok((key, signer))
}
