//! Checks the keyring against history, and opens every live memory with its key at its place.

use std::collections::{BTreeMap, HashSet};

use crate::background::on_every_core;
use crate::crypto::seal::{SealKey, Sealed};
use crate::disk::Folder;
use crate::error::{Error, Result};
use crate::id::MemoryId;
use crate::journal;
use crate::keyring::Keyring;
use crate::repository::Repository;
use crate::repository::object::ObjectKind;
use crate::state::catalog::Memory;
use crate::verify::commit::read_object;
use crate::verify::findings::{Fault, Findings};
use crate::verify::replay::ReplayState;
use crate::version::{self, VersionAddress, VersionFault};

/// Checks the keyring entries after the first `known` of `ring` and of `names`, and that every live
/// memory has one in each. Returns the memories whose keys are gone.
pub(super) fn check(
    keyring: &Keyring,
    known: (u32, u32),
    fold: &ReplayState,
    findings: &mut Findings,
) -> Result<Vec<MemoryId>> {
    let (ring, names) = keyring.ids_after(known)?;
    let mut ahead: Vec<MemoryId> = ring.iter().chain(&names).copied().collect();
    ahead.retain(|id| !fold.knows(*id));
    ahead.sort();
    ahead.dedup();
    if let Some(first) = ahead.first().filter(|_| !fold.blind) {
        let what = format!(
            "the keyring has keys of {} memories that no event ever added",
            ahead.len()
        );
        findings.add_outside(Fault::of_memory("keyring-ahead", *first, what));
    }
    if !(ring.is_empty() && names.is_empty()) {
        let shared = keyring.ids_with_shared_keys()?;
        for id in shared {
            let what =
                "a key of it also stands elsewhere in the keyring, where an erasure would leave it";
            findings.add_outside(Fault::of_memory("key-shared", id, what));
        }
    }
    let mut damaged = |id: MemoryId, table: &str, error: Error| match error {
        Error::Damaged { why, .. } => {
            let what = format!("its entry in {table} is damaged: {why}");
            findings.add_outside(Fault::of_memory("key-damaged", id, what));
            Ok(())
        }
        Error::MissingKey { .. } => Ok(()),
        error => Err(error),
    };
    // An auditor has no key to `ring`.
    let mut broken = HashSet::new();
    for id in ring.into_iter().filter(|_| keyring.is_reader()) {
        let whole = keyring.check_entries_of(id);
        if whole.is_err() {
            broken.insert(id);
        }
        whole.or_else(|error| damaged(id, "ring", error))?;
    }
    for id in names {
        keyring
            .name_key(id)
            .map_or_else(|error| damaged(id, "names", error), |_| Ok(()))?;
    }
    closed_versions(keyring, fold, &broken, findings)?;
    missing(keyring, fold, findings)
}

/// Reports earlier versions that do not open although their memories have keys: the keys they were
/// sealed to are gone. Damaged entries and present versions are reported elsewhere.
fn closed_versions(
    keyring: &Keyring,
    fold: &ReplayState,
    broken: &HashSet<MemoryId>,
    findings: &mut Findings,
) -> Result<()> {
    let mut closed: BTreeMap<MemoryId, usize> = BTreeMap::new();
    for (blob, id) in &fold.shut {
        let is_present = fold
            .catalog
            .memory(*id)
            .is_some_and(|memory| memory.blob == *blob);
        let is_said = is_present || broken.contains(id) || findings.has(*blob);
        if !is_said && !fold.erased.contains(id) && keyring.in_ring(*id)? {
            *closed.entry(*id).or_default() += 1;
        }
    }
    for (id, count) in closed {
        let what = format!("{count} earlier versions of it open with no key that it has");
        findings.add_outside(Fault::of_memory("memory-closed", id, what));
    }
    Ok(())
}

/// Checks which keys are missing. Live and removed memories need both keys; erased ones must have
/// none.
fn missing(
    keyring: &Keyring,
    fold: &ReplayState,
    findings: &mut Findings,
) -> Result<Vec<MemoryId>> {
    let mut erased: Vec<MemoryId> = fold.erased.iter().copied().collect();
    for id in &erased {
        if keyring.still_has(*id)? {
            let what = "the memory was erased, and the keyring has a key of it";
            findings.add_outside(Fault::of_memory("erased-key", *id, what));
        }
    }
    let live = fold.catalog.memories().map(|memory| (memory.id, true));
    let gone = fold.removed.keys().map(|id| (*id, false));
    let gone = gone.filter(|(id, _)| !fold.erased.contains(id));
    for (id, is_live) in live.chain(gone) {
        // A copy of the keyring without `ring` says nothing of it.
        let in_ring = keyring.in_ring(id)? || !keyring.has_ring();
        let what = match (in_ring, keyring.in_names(id)?, is_live) {
            (true, true, _) => continue,
            (false, false, false) => "the memory has no keys, and no receipt says it was erased",
            (false, false, true) => "a live memory has no key in ring, and none in names",
            (false, true, _) => "the memory has no key in ring",
            (true, false, _) => "the memory has no key in names",
        };
        findings.add_outside(Fault::of_memory("memory-key", id, what));
    }
    erased.sort();
    Ok(erased)
}

/// Opens live memories on every core and checks that each is at its place. Returns the number that
/// opened.
pub(super) fn open_memories(
    root: &Folder,
    keyring: &Keyring,
    memories: &[&Memory],
    findings: &mut Findings,
) -> Result<u64> {
    let reported = &*findings;
    let own = || Ok(Repository::open_lenient(root, journal::find));
    let each = on_every_core(memories, 1, own, |repository, memory| {
        // Faults of the blob itself have been reported.
        if reported.has(memory.blob) {
            return Ok((0, None));
        }
        // Most memories open, and their results should be small.
        Ok::<_, Error>(match open_memory(repository, keyring, memory)? {
            OpenResult::Opened => (1, None),
            OpenResult::Passed => (0, None),
            OpenResult::Failed(fault) => (0, Some(Box::new(fault))),
        })
    })?;
    let opened = each.iter().map(|(count, _)| count).sum();
    for fault in each.into_iter().filter_map(|(_, fault)| fault) {
        findings.add_outside(*fault);
    }
    Ok(opened)
}

/// Tries the versions that receipts say are destroyed, of memories that stayed, with the keys that these
/// have: those of newer receipts, and of memories with entries after the first `known` of `ring`.
pub(super) fn try_destroyed(
    root: &Folder,
    keyring: &Keyring,
    known: (u32, u32),
    fold: &ReplayState,
    findings: &mut Findings,
) -> Result<()> {
    let (mut ids, _) = keyring.ids_after(known)?;
    ids.extend(&fold.in_receipts);
    ids.sort();
    ids.dedup();
    let tried: Vec<_> = ids
        .into_iter()
        .filter_map(|id| fold.destroyed.get(&id).map(|blobs| (id, blobs)))
        .collect();
    let own = || Ok(Repository::open_lenient(root, journal::find));
    let open = on_every_core(&tried, 1, own, |repository, (id, blobs)| {
        let keys = match keyring.memory_keys(*id) {
            Err(Error::MissingKey { .. } | Error::Damaged { .. }) => return Ok(0),
            keys => keys?,
        };
        let mut open = 0;
        for blob in *blobs {
            let bytes = read_object(repository, *blob, ObjectKind::Blob, &mut Vec::new())?;
            let sealed = bytes.and_then(|bytes| Sealed::parse(bytes).ok());
            open += usize::from(
                sealed.is_some_and(|sealed| SealKey::open_with_any(&keys, &sealed).is_ok()),
            );
        }
        Ok::<_, Error>(open)
    })?;
    // A keyring from before the erasure has such keys by itself.
    let is_older = fold
        .catalog
        .erased
        .is_some_and(|numbers| keyring.is_before(numbers));
    let finding = if is_older { "erased-key" } else { "key-left" };
    for ((id, _), open) in tried.iter().zip(open).filter(|(_, open)| *open > 0) {
        let what =
            format!("{open} versions of it were erased, and the keyring has a key that opens them");
        findings.add_outside(Fault::of_memory(finding, *id, what));
    }
    Ok(())
}

/// Reports keys that opened no version of their memory, among the entries after the first `known` of `ring`: those
/// of an erased memory could hide there. Not if there are other findings, which may be the reason.
pub(super) fn unused(
    keyring: &Keyring,
    known: (u32, u32),
    fold: &ReplayState,
    findings: &mut Findings,
) -> Result<()> {
    if fold.blind || findings.total > 0 || !keyring.is_reader() {
        return Ok(());
    }
    let (ids, _) = keyring.ids_after(known)?;
    for id in ids {
        let (new, all) = keyring.count_of(id, known.0)?;
        if all < 2 || fold.erased.contains(&id) {
            continue;
        }
        // Damaged entries are reported elsewhere.
        let Some(keys) = keyring
            .memory_keys(id)
            .ok()
            .filter(|keys| keys.len() == all)
        else {
            continue;
        };
        let used = fold.used.get(&id).into_iter().flatten();
        let used: HashSet<String> = used.map(|at| keys[*at].public_text()).collect();
        // An entry may be there twice.
        let is_unused = |key: &&SealKey| !used.contains(&key.public_text());
        let unused = keys[..new].iter().filter(is_unused).count();
        if unused > 0 {
            let what = format!(
                "{unused} keys of it decrypt no version of it, and may be another memory's"
            );
            findings.add_outside(Fault::of_memory("key-left", id, what));
        }
    }
    Ok(())
}

enum OpenResult {
    Opened,
    /// Not tried, for a reason that another finding gives.
    Passed,
    Failed(Fault),
}

fn open_memory(repository: &Repository, keyring: &Keyring, memory: &Memory) -> Result<OpenResult> {
    let id = memory.id;
    let keys = match keyring.memory_keys(id) {
        Ok(keys) => keys,
        Err(Error::MissingKey { .. } | Error::Damaged { .. }) => return Ok(OpenResult::Passed),
        Err(error) => return Err(error),
    };
    if memory.is_nameless() {
        return Ok(OpenResult::Passed);
    }
    let mut faults = Vec::new();
    let Some(bytes) = read_object(repository, memory.blob, ObjectKind::Blob, &mut faults)? else {
        let mut fault = faults.pop().expect("it was not read");
        fault.memory = Some(id);
        return Ok(OpenResult::Failed(fault));
    };
    let failed = |finding, what: &str| OpenResult::Failed(Fault::of_memory(finding, id, what));
    let Ok(sealed) = Sealed::parse(bytes) else {
        return Ok(failed("blob-form", "its blob is not an age file"));
    };
    let place = VersionAddress {
        id,
        path: &memory.path,
        version: memory.version,
    };
    Ok(match version::open(&keys, &place, &sealed) {
        Ok(text) if text.len() as u64 == memory.bytes => OpenResult::Opened,
        Ok(_) => failed(
            "memory-misplaced",
            "its text does not have the length that its event recorded",
        ),
        Err(VersionFault::Misplaced) => failed(
            "memory-misplaced",
            "its header belongs to another memory, path or version",
        ),
        Err(VersionFault::Unreadable(_)) => {
            failed("memory-closed", "it does not open with its key")
        }
        Err(VersionFault::Malformed | VersionFault::Unknown(_)) => failed(
            "memory-closed",
            "what its key opens is no version of a memory",
        ),
    })
}
