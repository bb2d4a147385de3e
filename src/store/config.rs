//! The store's configuration: the three files that are public by design, each changed only by a
//! command for it.

use std::sync::OnceLock;

use crate::crypto::recipients::{self, Member};
use crate::crypto::sign::Signers;
use crate::error::{Error, Result};
use crate::event::{Context, Event, POLICY_COMMAND, PublicFile};
use crate::id::StoreId;
use crate::journal::KeyEntry;
use crate::policy::expiration::ExpirationRules;
use crate::policy::{KeyringPlace, Policy};
use crate::redact::{self, Redactor};
use crate::repository::Repository;
use crate::repository::object::Object;
use crate::state::catalog::ConfigBlobs;
use crate::store::answer::Meta;
use crate::store::commit::{SealedPlan, record_sealed};
use crate::store::keyring_location::{check_one_keyring, check_place, follow_keyring};
use crate::store::signers::{check_role, may_sign_now};
use crate::store::timeline::with_lock;
use crate::store::{Ledger, State, Store, redactor};

/// The three public files, parsed.
pub(super) struct StoreConfig {
    /// The blobs they were read from.
    pub(super) blobs: ConfigBlobs,
    pub(super) id: StoreId,
    /// The store's format version.
    pub(super) format: u32,
    pub(super) policy: Policy,
    /// The policy's expiration rules, compiled.
    pub(super) rules: ExpirationRules,
    pub(super) members: Vec<Member>,
    pub(super) signers: Signers,
}

/// The configuration change that an event records.
#[derive(Clone, Copy)]
pub(super) struct ConfigChange<'a> {
    pub(super) command: &'a str,
    /// The name of the member or signer that the command adds, removes or changes.
    pub(super) member: Option<&'a str>,
}

impl<'a> ConfigChange<'a> {
    pub(super) fn new(command: &'a str, member: Option<&'a str>) -> Self {
        Self { command, member }
    }
}

/// The result of a change of the policy.
#[derive(Debug)]
#[non_exhaustive]
pub struct PolicyChange {
    /// The policy that was in force.
    pub before: Policy,
    /// The policy that is in force now.
    pub after: Policy,
    /// The event that records the change; `None` if the two are the same.
    pub meta: Option<Meta>,
}

impl StoreConfig {
    pub(super) fn read(repository: &Repository, blobs: ConfigBlobs) -> Result<Self> {
        let fault = |file: &'static str| move |why: String| Error::damaged(file, why);
        let text = repository.public(blobs.policy)?;
        let (id, policy) = parse_recorded_policy(&text)?;
        let members = recipients::parse(&repository.public(blobs.recipients)?);
        let signers = Signers::parse(&repository.public(blobs.signers)?);
        Ok(Self {
            blobs,
            id,
            format: Policy::format_of(&text)?,
            rules: ExpirationRules::of(&policy.expiration)?,
            policy,
            members: members.map_err(fault("recipients"))?,
            signers: signers.map_err(fault("signers"))?,
        })
    }
}

/// Parses the policy that history records. If it is not valid, agekeep did not write it.
pub(crate) fn parse_recorded_policy(text: &str) -> Result<(StoreId, Policy)> {
    Policy::parse_file(text).map_err(|error| match error {
        Error::Policy { .. } => Error::damaged("policy", error.to_string()),
        other => other,
    })
}

/// See [`Store::set_policy`].
pub(super) fn set_policy(store: &mut Store, policy: &Policy, context: &Context) -> Result<Meta> {
    redact::check_policy(&policy.redaction)?;
    with_lock(store, |store| {
        let policy = with_keyring_place(&store.state, policy.clone());
        put_policy(store, &policy, context)
    })
}

/// See [`Store::change_policy`].
pub(super) fn change_policy(
    store: &mut Store,
    change: impl FnOnce(&Policy) -> Result<Policy>,
    context: &Context,
) -> Result<PolicyChange> {
    with_lock(store, |store| {
        let before = store.state.config.policy.clone();
        let after = with_keyring_place(&store.state, change(&before)?);
        if after.redaction != before.redaction {
            redact::check_policy(&after.redaction)?;
        }
        let differs = after != before;
        let meta = differs.then(|| put_policy(store, &after, context));
        Ok(PolicyChange {
            meta: meta.transpose()?,
            before,
            after,
        })
    })
}

/// Keeps the keyring's place that a policy of an earlier version names.
fn with_keyring_place(state: &State, mut policy: Policy) -> Policy {
    if policy.keyring == KeyringPlace::default() {
        policy.keyring = state.config.policy.keyring.clone();
    }
    policy
}

/// Records a policy. Requires the store's lock.
fn put_policy(store: &mut Store, policy: &Policy, context: &Context) -> Result<Meta> {
    require_reader(&store.ledger)?;
    check_role(store, POLICY_COMMAND)?;
    check_texts(policy, redactor(store)?)?;
    check_place(&store.state.config.policy.keyring, policy)?;
    let text = policy.to_file(store.state.id)?;
    let decision = ConfigChange::new(POLICY_COMMAND, None);
    change_public_file(store, decision, PublicFile::Policy, &text, None, context)
}

/// Replaces a public file, and installs a staged keyring if there is one.
/// Requires the store's lock.
pub(super) fn change_public_file(
    store: &mut Store,
    decision: ConfigChange<'_>,
    file: PublicFile,
    text: &str,
    next: Option<KeyEntry>,
    context: &Context,
) -> Result<Meta> {
    let mut sealed_plan = SealedPlan {
        next,
        ..SealedPlan::default()
    };
    sealed_plan.decide(&mut store.ledger.trees, file, Object::public(text));
    record_config_change(store, decision, sealed_plan, context)
}

/// Records a configuration change, for a reader.
pub(super) fn record_config_change(
    store: &mut Store,
    decision: ConfigChange<'_>,
    sealed_plan: SealedPlan,
    context: &Context,
) -> Result<Meta> {
    let says = |event: &mut Event| event.member = decision.member.map(str::to_owned);
    let meta = record_sealed(store, decision.command, sealed_plan, says, context)?;
    // The decision is on record. If it cannot be read back now, the next command reads it.
    drop(reload_config(store));
    drop(follow_keyring(store, None));
    Ok(meta)
}

/// Refuses a member's or signer's name that holds a secret, as names are public. Personal data,
/// such as an address, is allowed, whatever the policy says of it in texts.
pub(super) fn check_clear_name(store: &Store, what: &'static str, name: &str) -> Result<()> {
    let (said, found) = redactor(store)?.line(name);
    if found
        .iter()
        .all(|found| redact::is_personal(found.kind.as_str()))
    {
        return Ok(());
    }
    let why = format!("it contains what looks like a secret: {said}");
    Err(Error::invalid(what, why))
}

/// Refuses an auditor, for operations that only readers may do.
pub(super) fn require_reader(ledger: &Ledger) -> Result<()> {
    ledger.keyring.require_reader()
}

/// Checks that this process may record a command, before it prepares much for it.
pub(super) fn check_permitted(store: &Store, command: &str) -> Result<()> {
    require_reader(&store.ledger)?;
    check_one_keyring(store)?;
    may_sign_now(store, command)
}

/// Loads configuration changes that this process or another has made since.
pub(super) fn reload_config(store: &mut Store) -> Result<()> {
    let newest = store.state.catalog.decided;
    if let Some(blobs) = newest.filter(|blobs| *blobs != store.state.config.blobs) {
        store.state.config = StoreConfig::read(&store.ledger.repository, blobs)?;
        store.state.redactor = OnceLock::new();
    }
    Ok(())
}

/// Refuses a policy that holds a secret, which would stay unencrypted for ever. The owner's own
/// patterns for secrets are exempt.
pub(super) fn check_texts(policy: &Policy, redactor: &Redactor) -> Result<()> {
    for (key, text) in policy.texts() {
        let (said, _) = redactor.line(&text);
        if said != text {
            return Err(Error::invalid(
                "the policy",
                format!("`{key}` contains what looks like a secret: {said}"),
            ));
        }
    }
    Ok(())
}
