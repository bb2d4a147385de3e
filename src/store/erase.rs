//! Erasure: a keyring without the keys of some memories replaces the one in place, under a new
//! epoch key, and the record of the change holds the receipt. History stays as it is and no longer
//! decrypts.
//!
//! Redaction of one memory is an erasure too: of its earlier versions only. [`unreadable`] verifies
//! an erasure before it is recorded, and finishes pending ones.

pub(super) mod unreadable;

use std::collections::{BTreeSet, HashMap, HashSet};

use self::unreadable::{UnreadableProof, verify_unreadable};
use crate::crypto::seal::SealKey;
use crate::error::{Error, Result, RetentionFault};
use crate::event::{
    Change, Context, ERASE_COMMAND, Erased, Event, MemoryChange, NOT_REACHED, REDACT_COMMAND,
    Receipt,
};
use crate::id::MemoryId;
use crate::keyring::Keyring;
use crate::memory_tool::path::MemoryPath;
use crate::redact::{Glob, Redacted};
use crate::state::catalog::Memory;
use crate::state::timeline::Version;
use crate::store::answer::Meta;
use crate::store::commit::{SealedPlan, record_sealed};
use crate::store::config::{check_permitted, require_reader};
use crate::store::history::read::{erased, no_file_at, resolve, text_then};
use crate::store::hold::{check_not_held, hold_ever_on};
use crate::store::journal_checkpoint::checkpoint_ledger;
use crate::store::keyring_location::{check_one_keyring, remove_left};
use crate::store::log::{Filter, numbers};
use crate::store::plan::{VersionWrite, touch};
use crate::store::recovery::refresh;
use crate::store::rekey::{ProgressFn, reencrypt, with_new_keyring};
use crate::store::retention::{
    EraseOf, EraseTarget, Erasure, RECEIPT_VERSIONS_MAX, ReachedVersion, RedactedMemory,
    RedactionPlan, check_reason,
};
use crate::store::revision::Revision;
use crate::store::signers::may_sign_now;
use crate::store::timeline::{load_timeline, timeline, with_contents, with_timeline};
use crate::store::versions::text_of;
use crate::store::{Ledger, State, Store, lock, redactor};

pub(super) use self::unreadable::{keys_left, named_in};

/// The erasures of one event.
#[derive(Default)]
pub(super) struct ErasurePlan {
    /// Memories that are erased whole.
    pub(super) gone: HashSet<MemoryId>,
    /// The event's other changes, which come first.
    pub(super) before: SealedPlan,
    /// The entries of its record about the memories.
    pub(super) touches: Vec<MemoryChange>,
    /// Memories whose history was erased, and to which an older keyring has brought back a key.
    pub(super) with_history: HashSet<MemoryId>,
    /// Fresh identities of memories that lose only their earlier versions. Their present versions
    /// are sealed to these.
    pub(super) fresh: Vec<(MemoryId, SealKey)>,
    /// The events that marked memories, or had erased them before.
    pub(super) after: HashMap<MemoryId, u64>,
}

/// See [`Store::plan_erasure`].
pub(super) fn plan_erasure(
    store: &mut Store,
    what: &EraseOf,
    history_only: bool,
) -> Result<Vec<EraseTarget>> {
    with_timeline(store, |store| targets(&store.state, what, history_only))
}

/// See [`Store::erase`].
pub(super) fn erase(
    store: &mut Store,
    what: &EraseOf,
    history_only: bool,
    context: &Context,
    progress: &mut ProgressFn<'_>,
) -> Result<Erasure> {
    check_reason(context)?;
    let lock = lock(&mut store.ledger)?;
    refresh(store)?;
    check_one_keyring(store)?;
    may_sign_now(store, ERASE_COMMAND)?;
    if history_only {
        require_reader(&store.ledger)?;
    }
    load_timeline(store)?;
    let targets = targets(&store.state, what, history_only);
    store.state.catalog.check()?;
    let targets = targets?;
    let each = targets.iter();
    check_not_held(store, each.map(|target| (target.id, target.path.as_ref())))?;
    let (meta, receipt) = if store.ledger.keyring.is_reader() {
        let erasing = if history_only {
            fresh_versions(store, &targets)?
        } else {
            ErasurePlan {
                gone: targets.iter().map(|target| target.id).collect(),
                before: remove_targets(&store.state, &targets, Change::Erase),
                ..ErasurePlan::default()
            }
        };
        let (meta, receipt) = erase_now(store, ERASE_COMMAND, erasing, |_| {}, context, progress)?;
        (meta, Some(receipt))
    } else {
        let sealed_plan = remove_targets(&store.state, &targets, Change::Mark);
        let marked = record_sealed(store, ERASE_COMMAND, sealed_plan, |_| {}, context)?;
        (marked, None)
    };
    drop(lock);
    Ok(Erasure {
        targets,
        meta,
        receipt,
    })
}

/// Builds the record entries that remove memories, if present, and erase or mark them.
fn remove_targets(state: &State, targets: &[EraseTarget], change: Change) -> SealedPlan {
    let mut sealed_plan = SealedPlan::default();
    for target in targets {
        let sizes = last_sizes(state, target.id);
        if let Some(memory) = state.catalog.memory(target.id) {
            sealed_plan.blobs.push((target.id, None));
            let mut touch = touch(memory, Change::Remove);
            if change == Change::Erase {
                // No key is left to seal the path under.
                touch.path = None;
            }
            sealed_plan.touches.push(touch);
        }
        let path = target.path.as_ref();
        sealed_plan
            .touches
            .push(erased_change(target.id, path, sizes, change));
    }
    sealed_plan
}

fn last_sizes(state: &State, id: MemoryId) -> (u64, u64) {
    let last = timeline(state).versions(id, u64::MAX).next_back();
    last.map_or((0, 0), |last| (last.version, last.bytes))
}

/// Seals the present versions of memories to fresh identities, so that the earlier ones can be
/// erased.
fn fresh_versions(store: &mut Store, targets: &[EraseTarget]) -> Result<ErasurePlan> {
    let mut erasing = ErasurePlan::default();
    for target in targets {
        let memory = store.state.catalog.memory(target.id).cloned();
        let memory = memory.expect("only what is there has a present version");
        let (key, blob, digest) =
            reencrypt(&store.ledger.repository, &store.ledger.keyring, &memory)?;
        erasing.before.add_reencrypted(&memory, (blob, digest));
        erasing.fresh.push((memory.id, key));
    }
    Ok(erasing)
}

/// Erases by one event with a receipt. Requires the store's lock and a loaded timeline.
pub(super) fn erase_now(
    store: &mut Store,
    command: &'static str,
    erasing: ErasurePlan,
    adjust: impl FnOnce(&mut Event),
    context: &Context,
    progress: &mut ProgressFn<'_>,
) -> Result<(Meta, Receipt)> {
    require_reader(&store.ledger)?;
    let head = store.ledger.journal.head();
    let least = store.state.catalog.erased.unwrap_or_default();
    let gone = (&erasing.gone, &erasing.with_history);
    remove_left(&store.ledger.root)?;
    let (keyring, members) = (&store.ledger.keyring, &store.state.config.members);
    let next = keyring.prepare_erasure(members, gone, &erasing.fresh, least)?;
    let done = erase_with(store, &next, command, erasing, adjust, context, progress);
    done.inspect_err(|_| {
        // The timeline may lack paths that other commands still need.
        store.state.timeline = None;
        if store.ledger.journal.head() == head {
            next.abort();
        }
    })
}

fn erase_with(
    store: &mut Store,
    next: &crate::keyring::StagedKeyring,
    command: &'static str,
    erasing: ErasurePlan,
    adjust: impl FnOnce(&mut Event),
    context: &Context,
    progress: &mut ProgressFn<'_>,
) -> Result<(Meta, Receipt)> {
    // The re-encrypted versions are too large for the journal, so they are synced before the
    // record is. And the journal may not keep an entry for a table that is replaced.
    store.ledger.repository.sync()?;
    checkpoint_ledger(&mut store.ledger)?;
    load_timeline(store)?;
    let prepared = store.ledger.keyring.after(next)?;
    let closed = verify_unreadable(store, &prepared, &erasing, progress)?;
    let receipt = receipt_of(&store.ledger, &prepared, &erasing, &closed)?;
    let mut sealed_plan = erasing.before;
    sealed_plan.touches.extend(erasing.touches);
    sealed_plan.next = Some(next.entry());
    let meta = with_new_keyring(store, prepared, |store| {
        let adjust = |event: &mut Event| {
            event.receipt = Some(receipt.clone());
            adjust(event);
        };
        record_sealed(store, command, sealed_plan, adjust, context)
    })?;
    Ok((meta, receipt))
}

fn receipt_of(
    ledger: &Ledger,
    prepared: &Keyring,
    erasing: &ErasurePlan,
    closed: &UnreadableProof,
) -> Result<Receipt> {
    let (before, after) = (ledger.keyring.numbers(), prepared.numbers());
    let epoch = |number: Option<u64>| number.ok_or(Error::NotAReader);
    let mut memories: Vec<Erased> = Vec::new();
    for (id, blobs) in &closed.blobs {
        let fresh = erasing.fresh.iter().any(|(fresh, _)| fresh == id);
        let kept = fresh.then(|| {
            let touches = erasing.before.touches.iter().chain(&erasing.touches);
            let touches = touches.filter(|touch| touch.change.writes());
            touches.filter(|t| t.id == *id).map(|t| t.version).max()
        });
        memories.push(Erased {
            kept: kept.flatten(),
            after: erasing.after.get(id).copied(),
            ..Erased::of(*id, blobs.clone())
        });
    }
    let versions = memories.iter().map(|memory| memory.blobs.len()).sum();
    if versions > RECEIPT_VERSIONS_MAX {
        let max = RECEIPT_VERSIONS_MAX;
        return Err(Error::Retention(RetentionFault::TooMuch { versions, max }));
    }
    Ok(Receipt {
        epoch: (epoch(before.0)?, epoch(after.0)?),
        names: (before.1, after.1),
        memories,
        versions: closed.versions,
        records: closed.records,
        asked: closed.asked,
        not_reached: NOT_REACHED.map(str::to_owned).to_vec(),
    })
}

/// Returns the record entry of a memory that is gone.
pub(super) fn erased_change(
    id: MemoryId,
    path: Option<&MemoryPath>,
    last: (u64, u64),
    change: Change,
) -> MemoryChange {
    let path = path.filter(|_| change != Change::Erase);
    MemoryChange::of(id, change, path.cloned(), last)
}

// Selection: the memories that an erasure covers.

fn targets(state: &State, what: &EraseOf, history_only: bool) -> Result<Vec<EraseTarget>> {
    let timeline = timeline(state);
    let written_by = |filter: Filter| timeline.written_by(&numbers(state, &filter));
    let ids = match what {
        EraseOf::Memories(ids) => ids.iter().copied().collect(),
        EraseOf::Path(path) => last_within(state, path),
        EraseOf::Session(session) => written_by(Filter {
            session: Some(session.clone()),
            ..Filter::default()
        }),
        EraseOf::Actor(actor) => written_by(Filter {
            actor: Some(actor.clone()),
            ..Filter::default()
        }),
        EraseOf::Subject(glob) => {
            let glob = Glob::parse(glob)?;
            let paths = timeline.paths().into_iter();
            paths
                .filter(|(_, paths)| paths.iter().any(|path| glob.fits(path.as_str())))
                .map(|(id, _)| id)
                .collect()
        }
    };
    let targets = ids.into_iter();
    let mut targets: Vec<EraseTarget> = targets
        .filter_map(|id| target(state, id, history_only))
        .collect();
    if targets.is_empty() {
        return Err(nothing_to_erase(state, what, history_only));
    }
    targets.sort_by_cached_key(|target| {
        let path = target.path.as_ref().map(|path| path.as_str().to_owned());
        (path, target.id)
    });
    Ok(targets)
}

/// Finds memories at a path or below it, and deleted ones that were there last.
fn last_within(state: &State, path: &MemoryPath) -> HashSet<MemoryId> {
    let ever = timeline(state).ever_within(path).into_iter();
    ever.filter(|id| {
        let last = last_path(state, *id);
        last.is_some_and(|last| last == *path || last.is_below(path))
    })
    .collect()
}

/// Returns the path of a memory, or the last that it had.
fn last_path(state: &State, id: MemoryId) -> Option<MemoryPath> {
    match state.catalog.memory(id) {
        Some(memory) => Some(memory.path.clone()),
        None => timeline(state).life(id).pop()?.of.path,
    }
}

/// Returns a memory as a target; `None` if nothing of it is left to erase.
fn target(state: &State, id: MemoryId, history_only: bool) -> Option<EraseTarget> {
    let timeline = timeline(state);
    let is_there = state.catalog.memory(id).is_some();
    if !is_there && (history_only || timeline.erased_by(id).is_some()) {
        return None;
    }
    let versions = left_of(state, id).count();
    let least = if history_only { 2 } else { 1 };
    let path = last_path(state, id);
    (versions >= least).then(|| EraseTarget {
        id,
        hold: hold_ever_on(state, id, path.as_ref()),
        path,
        is_there,
        versions,
    })
}

fn nothing_to_erase(state: &State, what: &EraseOf, history_only: bool) -> Error {
    let path = match what {
        EraseOf::Memories(ids) => {
            let mut each = ids.iter();
            if let Some(error) =
                each.find_map(|id| Some(erased(*id, timeline(state).erased_by(*id)?)))
            {
                return error;
            }
            let ids: Vec<String> = ids.iter().map(MemoryId::to_string).collect();
            format!("the memory {}", ids.join(" or "))
        }
        EraseOf::Path(path) => path.as_str().to_owned(),
        EraseOf::Session(session) => format!("any path that the session {session} wrote to"),
        EraseOf::Actor(actor) => format!("any path that {actor} wrote to"),
        EraseOf::Subject(glob) => glob.clone(),
    };
    let (when, hint) = if history_only {
        (
            "with a version before its present one",
            "--history keeps the present version of memories that are there; without it a \
             memory is erased whole",
        )
    } else {
        (
            "that is not erased already",
            "`agekeep log` with a path, --actor or --session shows what was there; a memory that has \
             moved is named by its new path or its id",
        )
    };
    Error::NotThere {
        path,
        when: when.into(),
        hint: hint.into(),
    }
}

// Redaction of a kept memory: its present text loses its secrets, and its earlier versions are
// erased.

/// See [`Store::redact`].
pub(super) fn redact(
    store: &mut Store,
    path: &MemoryPath,
    revision: &Revision,
    context: &Context,
    progress: &mut ProgressFn<'_>,
) -> Result<RedactedMemory> {
    check_reason(context)?;
    let lock = lock(&mut store.ledger)?;
    refresh(store)?;
    check_permitted(store, REDACT_COMMAND)?;
    load_timeline(store)?;
    let (memory, redacted) = redacted_text(store, path, revision)?;
    let (id, stripped) = (memory.id, kinds_of(redacted.kinds()));
    let fresh = SealKey::generate();
    let written = VersionWrite {
        id,
        path: memory.path.clone(),
        version: memory.version + 1,
        change: Change::Redact,
        from: None,
    };
    let mut sealed_plan = SealedPlan::default();
    sealed_plan.write(written, fresh.begin(), &redacted);
    // It is synced with the re-encrypted versions, before the record is.
    for object in sealed_plan.objects.drain(..) {
        store.ledger.repository.write(&object)?;
    }
    let erasing = ErasurePlan {
        before: sealed_plan,
        fresh: vec![(id, fresh)],
        ..ErasurePlan::default()
    };
    let adjust = |event: &mut crate::event::Event| {
        let found = redacted.findings().iter();
        event
            .redactions
            .extend(found.map(crate::event::Redaction::in_text));
        event.redactions.truncate(crate::event::REDACTIONS_MAX);
    };
    let (meta, receipt) = erase_now(store, REDACT_COMMAND, erasing, adjust, context, progress)?;
    drop(lock);
    Ok(RedactedMemory {
        target: EraseTarget {
            id,
            path: Some(memory.path),
            is_there: true,
            versions: receipt.memories.iter().map(|m| m.blobs.len()).sum(),
            hold: None,
        },
        stripped,
        meta,
        receipt,
    })
}

/// Finds the memory to redact and redacts its present text. Requires the store's lock and a loaded
/// timeline.
fn redacted_text(
    store: &mut Store,
    path: &MemoryPath,
    revision: &Revision,
) -> Result<(Memory, Redacted)> {
    let id = to_redact(store, path, revision)?;
    let memory = store.state.catalog.memory(id).cloned();
    store.state.catalog.check()?;
    let memory = memory.ok_or_else(|| Error::NotThere {
        path: path.as_str().to_owned(),
        when: "now: it was deleted".into(),
        hint: format!("erase it whole: `agekeep erase {id}`"),
    })?;
    check_not_held(store, std::iter::once((id, Some(&memory.path))))?;
    let text = text_of(&mut store.ledger, &memory)?;
    let redacted = redactor(store)?.replace_all(memory.path.as_str(), &text);
    let redacted = redacted.map_err(|_| {
        Error::invalid(
            "so large a text",
            "scanning it for secrets would take too long; erase it whole instead",
        )
    })?;
    if redacted.kinds().is_empty() && !ever_held_a_secret(store, &memory)? {
        return Err(Error::NotThere {
            path: memory.path.as_str().to_owned(),
            when: "that looks like a secret, in any version: nothing was changed".into(),
            hint: format!(
                "`agekeep erase {id} --history` destroys its earlier versions all the same; \
                 `agekeep rules test` shows what the rules find in a text"
            ),
        });
    }
    Ok((memory, redacted))
}

fn kinds_of(kinds: Vec<&str>) -> Vec<String> {
    kinds.into_iter().map(str::to_owned).collect()
}

/// See [`Store::plan_redaction`].
pub(super) fn plan_redaction(
    store: &mut Store,
    path: &MemoryPath,
    revision: &Revision,
) -> Result<RedactionPlan> {
    with_contents(store, |store| {
        let (memory, redacted) = redacted_text(store, path, revision)?;
        let versions: Vec<ReachedVersion> = left_of(&store.state, memory.id)
            .map(|version| {
                Ok(ReachedVersion {
                    version: version.version,
                    event: version.event,
                    bytes: version.bytes,
                    kinds: secrets_in(store, &memory.path, &version)?,
                })
            })
            .collect::<Result<_>>()?;
        Ok(RedactionPlan {
            target: EraseTarget {
                id: memory.id,
                path: Some(memory.path),
                is_there: true,
                versions: versions.len(),
                hold: None,
            },
            stripped: kinds_of(redacted.kinds()),
            versions,
        })
    })
}

/// Returns the versions of a memory that are not erased, oldest first.
fn left_of(state: &State, id: MemoryId) -> impl Iterator<Item = Version> + '_ {
    let timeline = timeline(state);
    let first = timeline.begins_with(id).map_or(0, |(first, _)| first);
    let versions = timeline.versions(id, u64::MAX);
    versions.filter(move |version| version.version >= first)
}

/// Returns the kinds of secrets in a version, by the rules in force; `None` if it cannot be read or
/// scanned.
fn secrets_in(store: &Store, path: &MemoryPath, version: &Version) -> Result<Option<Vec<String>>> {
    let redactor = redactor(store)?;
    let found = text_then(store, version)
        .ok()
        .and_then(|text| redactor.find(path.as_str(), &text).ok());
    Ok(found.map(|found| {
        let kinds: BTreeSet<&str> = found.iter().map(|found| found.kind.as_str()).collect();
        kinds_of(kinds.into_iter().collect())
    }))
}

/// Tells whether any version of a memory may hold a secret, by the rules in force. A version that
/// cannot be read or scanned may.
fn ever_held_a_secret(store: &Store, memory: &Memory) -> Result<bool> {
    for version in left_of(&store.state, memory.id) {
        let kinds = secrets_in(store, &memory.path, &version)?;
        if kinds.is_none_or(|kinds| !kinds.is_empty()) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn to_redact(store: &Store, path: &MemoryPath, revision: &Revision) -> Result<MemoryId> {
    let at = resolve(store, revision)?;
    let found = timeline(&store.state).at(path, at.event);
    let found = found.ok_or_else(|| no_file_at(path, at, timeline(&store.state)))?;
    Ok(found.id)
}
