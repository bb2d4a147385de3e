//! Key rotation: memories are re-encrypted to fresh identities in chunks, while other processes use
//! the store, and then a single commit puts all of them in place. Also new keys for some memories,
//! and the upgrade from format 1.

use std::collections::HashSet;

use crate::background::on_every_core;
use crate::crypto::digest::Digest;
use crate::crypto::recipients::{self, Member};
use crate::crypto::seal::SealKey;
use crate::error::{Error, MembershipFault, Result};
use crate::event::{Change, Context, MemoryChange, PublicFile, REKEY_COMMAND, UPGRADE_COMMAND};
use crate::id::{MemoryId, ObjectId};
use crate::keyring::{Keyring, ReencryptedVersion, StagedKeyring};
use crate::policy::FORMAT;
use crate::redact::Glob;
use crate::repository::Repository;
use crate::repository::object::Object;
use crate::state::catalog::Memory;
use crate::store::answer::Meta;
use crate::store::commit::SealedPlan;
use crate::store::config::{
    ConfigChange, change_public_file, check_permitted, record_config_change,
};
use crate::store::journal_checkpoint::checkpoint_ledger;
use crate::store::plan::touch;
use crate::store::recovery::refresh;
use crate::store::recovery::replay::renew_catalog_file;
use crate::store::timeline::load_timeline;
use crate::store::versions::if_open;
use crate::store::{Ledger, State, Store, lock};
use crate::{journal, version};

/// Memories that are re-encrypted during one hold of the store's lock: some tens of milliseconds.
const CHUNK: usize = 256;
/// Fewest memories for each thread.
const THREAD_MIN: usize = 16;

/// A memory that does not open, and the blob of its failing version.
type UnreadableVersion = (MemoryId, ObjectId);

/// Callback for the number of memories re-encrypted, and the total.
pub type ProgressFn<'a> = dyn FnMut(u64, u64) + 'a;

/// The scope of a key rotation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RekeyScope {
    /// Audit records and paths.
    Audit,
    /// Audit records, paths and every live memory.
    All,
}

/// The result of re-encryption with new keys.
#[derive(Debug)]
#[non_exhaustive]
pub struct Rekeyed {
    /// The facts about the recorded event.
    pub meta: Meta,
    /// Live memories that do not open, and so keep their old seal.
    pub left: Vec<MemoryId>,
}

/// The members and scope of a key rotation.
pub(super) struct Rekey {
    pub(super) members: Vec<Member>,
    pub(super) scope: RekeyScope,
}

/// Decides on the rotation, from the state at that moment.
type PlanRekey<'a> = dyn Fn(&Store) -> Result<Rekey> + 'a;

/// Rotates the keys for future records, and with [`RekeyScope::All`] re-encrypts all live
/// memories. Records an event with the command of the change.
pub(super) fn rotate(
    store: &mut Store,
    decision: ConfigChange<'_>,
    decide: &PlanRekey<'_>,
    context: &Context,
    progress: &mut ProgressFn<'_>,
) -> Result<Rekeyed> {
    let mut prepared: Option<StagedKeyring> = None;
    let mut left: HashSet<UnreadableVersion> = HashSet::new();
    loop {
        let lock = lock(&mut store.ledger)?;
        refresh(store)?;
        let Rekey { members, scope } = decide(store)?;
        let mut next = match prepared.take() {
            Some(next) if next.is_still_staged_for(&store.ledger.keyring) => next,
            Some(_) => return Err(Error::Membership(MembershipFault::Overtaken)),
            None => {
                check_permitted(store, decision.command)?;
                let (ledger, all) = (&store.ledger, scope == RekeyScope::All);
                let mut next = ledger.keyring.prepare_rotation(&members, all)?;
                // Blobs of an interrupted rotation may be torn; those are made again.
                next.retain(|done| {
                    let made = ledger.repository.sealed(done.blob);
                    made.is_ok_and(|made| made.digest() == done.digest)
                });
                next
            }
        };
        let pending = match scope {
            RekeyScope::Audit => Vec::new(),
            RekeyScope::All => pending_memories(&store.state, &next, &left),
        };
        let total = store.state.catalog.len() as u64;
        progress(total - pending.len() as u64, total);
        let some = &pending[..pending.len().min(CHUNK)];
        let (done, closed) = reencrypt_all(&store.ledger, &next, some)?;
        next.save_progress(done)?;
        left.extend(closed);
        if pending.len() <= CHUNK {
            progress(total, total);
            let meta = commit_rotation(store, decision, &members, scope, &next, context)?;
            drop(lock);
            let now = |(id, blob): &UnreadableVersion| {
                let memory = store.state.catalog.memory(*id);
                memory.is_some_and(|memory| memory.blob == *blob)
            };
            let left = left.iter().filter(|left| now(left));
            let mut left: Vec<MemoryId> = left.map(|(id, _)| *id).collect();
            left.sort();
            return Ok(Rekeyed { meta, left });
        }
        prepared = Some(next);
        drop(lock);
    }
}

/// Returns live memories whose present version is not re-encrypted yet.
fn pending_memories(
    state: &State,
    next: &StagedKeyring,
    left: &HashSet<UnreadableVersion>,
) -> Vec<Memory> {
    let memories = state.catalog.memories();
    memories
        .filter(|memory| next.reencrypted(memory.id, memory.blob).is_none())
        .filter(|memory| !left.contains(&(memory.id, memory.blob)))
        .cloned()
        .collect()
}

/// Re-encrypts memories on every core and writes the new blobs, not yet durably. Also returns the
/// memories that do not open, which stay unchanged.
fn reencrypt_all(
    ledger: &Ledger,
    next: &StagedKeyring,
    memories: &[Memory],
) -> Result<(Vec<ReencryptedVersion>, Vec<UnreadableVersion>)> {
    let (root, keyring) = (&ledger.root, &ledger.keyring);
    let own = || Repository::open(root, journal::find);
    let each = on_every_core(memories, THREAD_MIN, own, |repository, memory| {
        let made = if_open(reencrypt(repository, keyring, memory))?;
        let made = made.map(|(key, blob, digest)| {
            next.reencrypt(memory.id, &key, memory.blob, (blob, digest))
        });
        Ok::<_, Error>(made.ok_or((memory.id, memory.blob)))
    })?;
    let (mut done, mut unreadable) = (Vec::new(), Vec::new());
    for one in each {
        match one {
            Ok(one) => done.push(one),
            Err(one) => unreadable.push(one),
        }
    }
    Ok((done, unreadable))
}

/// Records the new keys and everything sealed to them. Called with the lock held.
fn commit_rotation(
    store: &mut Store,
    decision: ConfigChange<'_>,
    members: &[Member],
    scope: RekeyScope,
    next: &StagedKeyring,
    context: &Context,
) -> Result<Meta> {
    let memories: Vec<&Memory> = match scope {
        RekeyScope::Audit => Vec::new(),
        RekeyScope::All => store.state.catalog.memories().collect(),
    };
    let mut sealed_plan = SealedPlan::default();
    for memory in &memories {
        if let Some(done) = next.reencrypted(memory.id, memory.blob) {
            sealed_plan.add_reencrypted(memory, (done.blob, done.digest));
        }
    }
    let live: Vec<_> = sealed_plan.touches.iter().map(|touch| touch.id).collect();
    store.ledger.keyring.complete(next, &live)?;
    // The re-encrypted blobs are too large for the journal, so they are synced before the record.
    // Also, the journal must not keep entries for a keyring table that is about to go.
    store.ledger.repository.sync()?;
    checkpoint_ledger(&mut store.ledger)?;
    // The timeline file is sealed under a key that is about to go.
    load_timeline(store)?;
    sealed_plan.next = Some(next.entry());
    let prepared = store.ledger.keyring.after(next)?;
    with_new_keyring(store, prepared, |store| {
        record_rotation(store, decision, members, sealed_plan, context)
    })
}

/// Switches to a staged keyring, records the event that puts it in force, and re-encrypts the
/// caches under its keys. If recording fails, the old keyring stays.
pub(super) fn with_new_keyring(
    store: &mut Store,
    prepared: Keyring,
    record: impl FnOnce(&mut Store) -> Result<Meta>,
) -> Result<Meta> {
    let before = std::mem::replace(&mut store.ledger.keyring, prepared);
    let head = store.ledger.journal.head();
    let recorded = record(store);
    if recorded.is_err() && store.ledger.journal.head() == head {
        store.ledger.keyring = before;
        store.ledger.trees.forget();
    }
    let meta = recorded?;
    store.ledger.keyring.mark_recorded();
    renew_catalog_file(store);
    if let Some(timeline) = &store.state.timeline {
        let key = store.ledger.keyring.cache_key();
        store.ledger.timeline_file.append(timeline, 0, key);
    }
    // Until the new keyring's files are in place, only the journal says that it is in force.
    let branch = store.ledger.repository.head().ok().flatten();
    if branch == Some(store.ledger.journal.head()) {
        // The event is on record. A later command retries whatever fails now.
        drop(checkpoint_ledger(&mut store.ledger));
    }
    Ok(meta)
}

fn record_rotation(
    store: &mut Store,
    decision: ConfigChange<'_>,
    members: &[Member],
    mut sealed_plan: SealedPlan,
    context: &Context,
) -> Result<Meta> {
    let file = Object::public(&recipients::to_file(members));
    if store.state.config.blobs.recipients != file.id {
        sealed_plan.decide(&mut store.ledger.trees, PublicFile::Recipients, file);
    }
    record_config_change(store, decision, sealed_plan, context)
}

impl SealedPlan {
    /// Adds a re-encrypted memory.
    pub(super) fn add_reencrypted(&mut self, memory: &Memory, (blob, digest): (ObjectId, Digest)) {
        self.blobs.push((memory.id, Some(blob)));
        self.touches.push(MemoryChange {
            version: memory.version + 1,
            blob: Some((blob, digest)),
            ..touch(memory, Change::Reseal)
        });
    }
}

/// See [`Store::rekey_some`].
pub(super) fn rekey_some(
    store: &mut Store,
    glob: &str,
    context: &Context,
    progress: &mut ProgressFn<'_>,
) -> Result<Rekeyed> {
    let wanted = Glob::parse(glob)?;
    let lock = lock(&mut store.ledger)?;
    refresh(store)?;
    check_permitted(store, REKEY_COMMAND)?;
    let fits = |memory: &&Memory| wanted.fits(memory.path.as_str());
    let memories = store.state.catalog.memories();
    let memories: Vec<Memory> = memories.filter(fits).cloned().collect();
    store.state.catalog.check()?;
    if memories.is_empty() {
        return Err(Error::NotThere {
            path: glob.to_owned(),
            when: "now: the glob fits no memory".into(),
            hint: "a glob is over whole paths, such as /memories/people/**".into(),
        });
    }
    let (mut sealed_plan, mut left) = (SealedPlan::default(), Vec::new());
    for memory in &memories {
        progress(sealed_plan.fresh.len() as u64, memories.len() as u64);
        let made = reencrypt(&store.ledger.repository, &store.ledger.keyring, memory);
        if let Some((key, blob, digest)) = if_open(made)? {
            sealed_plan.add_reencrypted(memory, (blob, digest));
            sealed_plan.fresh.push((memory.id, key));
        } else {
            left.push(memory.id);
        }
    }
    // The re-encrypted blobs are too large for the journal, so they are synced before the record.
    store.ledger.repository.sync()?;
    checkpoint_ledger(&mut store.ledger)?;
    let decision = ConfigChange::new(REKEY_COMMAND, None);
    let meta = record_config_change(store, decision, sealed_plan, context)?;
    drop(lock);
    Ok(Rekeyed { meta, left })
}

/// Re-encrypts the present version of a memory to a fresh identity, as its next version.
pub(super) fn reencrypt(
    repository: &Repository,
    keyring: &Keyring,
    memory: &Memory,
) -> Result<(SealKey, ObjectId, Digest)> {
    let place = |version| version::VersionAddress {
        id: memory.id,
        path: &memory.path,
        version,
    };
    let sealed = repository.sealed(memory.blob)?;
    let keys = keyring.memory_keys(memory.id)?;
    let now = place(memory.version);
    let text = version::open(&keys, &now, &sealed).map_err(|fault| fault.at(&now))?;
    let fresh = SealKey::generate();
    let resealed = version::reencrypt(&fresh, &place(memory.version + 1), &text);
    let digest = resealed.digest();
    let object = Object::sealed(resealed);
    repository.write(&object)?;
    Ok((fresh, object.id, digest))
}

// Upgrade from format 1, made by the first command of an owner who can read the store.
//
// In format 1, the associated data of keyring entries covers less, and no record names the
// keyring's keys. So the upgrade re-encrypts all of it under a new epoch key and a new names key,
// and its event names them.

/// The reason in the record.
const REASON: &str =
    "the store had format 1: its keyring was re-encrypted, and history now names its keys";

/// Upgrades a store of an earlier format, if this process may. Called with the lock held.
pub(super) fn upgrade(store: &mut Store) -> Result<()> {
    if store.state.config.format == FORMAT && !store.ledger.keyring.is_format_1() {
        return Ok(());
    }
    check_permitted(store, UPGRADE_COMMAND)?;
    let none = HashSet::new();
    let (keyring, members) = (&store.ledger.keyring, &store.state.config.members);
    let least = store.state.catalog.erased.unwrap_or_default();
    let next = keyring.prepare_erasure(members, (&none, &none), &[], least)?;
    let head = store.ledger.journal.head();
    record_upgrade(store, &next).inspect_err(|_| {
        if store.ledger.journal.head() == head {
            next.abort();
        }
    })
}

fn record_upgrade(store: &mut Store, next: &StagedKeyring) -> Result<()> {
    // The journal must not keep entries for a keyring table that is about to go.
    store.ledger.repository.sync()?;
    checkpoint_ledger(&mut store.ledger)?;
    // The timeline file is sealed under a key that is about to go.
    load_timeline(store)?;
    let prepared = store.ledger.keyring.after(next)?;
    let text = store.state.config.policy.to_file(store.state.id)?;
    let decision = ConfigChange::new(UPGRADE_COMMAND, None);
    let context = Context {
        reason: Some(REASON.into()),
        ..Context::default()
    };
    let done = with_new_keyring(store, prepared, |store| {
        let next = Some(next.entry());
        change_public_file(store, decision, PublicFile::Policy, &text, next, &context)
    });
    done.map(drop)
}
