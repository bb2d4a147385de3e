//! Checks history against the pin and signed checkpoints, and keeps the last verified point.

use std::path::Path;

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::crypto::digest::Digest;
use crate::crypto::sign::Signers;
use crate::disk;
use crate::error::{Error, Result};
use crate::id::{MemoryId, ObjectId, StoreId};
use crate::keyring::Keyring;
use crate::repository::Repository;
use crate::state::catalog::step::{from_snapshot, to_snapshot};
use crate::store::RollbackCheck;
use crate::store::pin::Place;
use crate::store::signed_checkpoint::{self, SignedCheckpoint, Verdict};
use crate::verify::CheckpointProof;
use crate::verify::findings::{Fault, FindingLocation, Findings};
use crate::verify::replay::ReplayState;
use crate::verify::walk::VerifiedHistory;

/// Checks that the store is the one seen at this place, and that history contains what was seen of
/// it. Requires the store's lock: otherwise the pin may be ahead of the head that was read.
pub(super) fn check_pin(
    repository: &Repository,
    head: ObjectId,
    (state, root): (&Path, &Path),
    store: StoreId,
    findings: &mut Findings,
    not_checked: &mut Vec<String>,
) -> Result<()> {
    match RollbackCheck::new(Some(state), root, store)?.check(repository, head) {
        Ok(()) => {}
        Err(Error::AnotherStore { known, found, .. }) => {
            let what = if known == found {
                "it has the id of a store that was seen before, and another first commit".into()
            } else {
                format!("the store {known} was seen at this place, and this is {found}")
            };
            findings.add_outside(Fault::new("another-store", what));
        }
        Err(Error::RolledBack { event, .. }) => {
            let what = "it was seen, and today's history does not contain it";
            let spot = FindingLocation {
                event: Some(event),
                commit: None,
            };
            findings.add(Fault::new("pin-rolled-back", what), spot);
        }
        Err(Error::BadPin { .. }) => {
            let what = "what was seen of the store is kept in a file that is damaged";
            findings.add_outside(Fault::new("pin-damaged", what));
        }
        Err(Error::Damaged { .. }) => not_checked
            .push("that history contains what was seen of it: a commit cannot be read".into()),
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Checks history against checkpoints, as far as it can be read.
pub(super) fn check(
    chain: &VerifiedHistory<'_>,
    store: StoreId,
    notes: &[SignedCheckpoint],
    findings: &mut Findings,
    not_checked: &mut Vec<String>,
) -> Result<Vec<CheckpointProof>> {
    match check_notes(chain, notes, store, findings) {
        Err(Error::Damaged { .. }) => {
            not_checked.push("the checkpoints: a commit cannot be read".into());
            Ok(Vec::new())
        }
        done => done,
    }
}

/// Checks that history contains what the checkpoints state, and that they do not contradict each
/// other. Returns what was found of each.
fn check_notes(
    chain: &VerifiedHistory<'_>,
    notes: &[SignedCheckpoint],
    store: StoreId,
    findings: &mut Findings,
) -> Result<Vec<CheckpointProof>> {
    let event = |number| {
        let link = chain.at(number)?;
        Ok(link.map(|link| (link.commit, link.digest)))
    };
    let compared =
        signed_checkpoint::check_against(notes, store, event, |number| signers(chain, number))?;
    for (note, verdict) in notes.iter().zip(&compared.verdicts) {
        let (id, what) = match verdict {
            Verdict::Contained => continue,
            Verdict::RolledBack => (
                "checkpoint-rolled-back",
                "a checkpoint says there was this event, and history ends before it",
            ),
            Verdict::Fork => (
                "checkpoint-fork",
                "a checkpoint says this event had another commit than it has today",
            ),
            Verdict::Unsigned => (
                "checkpoint-unsigned",
                "a checkpoint that says so is signed by nobody who was a signer then",
            ),
            Verdict::Foreign => ("checkpoint-foreign", "a checkpoint is of another store"),
        };
        findings.add(Fault::new(id, what), spot_of(note));
    }
    for (_, later) in compared.contradictions {
        let what = "two checkpoints cannot both be true: somebody signed two histories";
        findings.add(Fault::new("checkpoint-fork", what), spot_of(&notes[later]));
    }
    let checked = notes.iter().zip(&compared.verdicts).zip(compared.signers);
    let proof = |((note, verdict), signer): ((&SignedCheckpoint, &Verdict), _)| CheckpointProof {
        event: note.checkpoint().events - 1,
        time: note.checkpoint().time,
        commit: note.checkpoint().commit,
        signer,
        is_contained: *verdict == Verdict::Contained,
        is_proved: false,
    };
    Ok(checked.map(proof).collect())
}

/// Returns the signers right after an event, or today's for an event past the end.
fn signers(chain: &VerifiedHistory<'_>, number: u64) -> Result<Signers> {
    let link = match chain.at(number)? {
        Some(link) => Some(link),
        None => chain.newest()?,
    };
    let commit = link.map(|link| link.commit);
    commit
        .map(|commit| chain.signers_after(commit))
        .transpose()?
        .flatten()
        .ok_or_else(|| Error::damaged("signers", "the file does not parse"))
}

fn spot_of(note: &SignedCheckpoint) -> FindingLocation {
    let said = note.checkpoint();
    FindingLocation {
        event: Some(said.events - 1),
        commit: Some(said.commit),
    }
}

// The verified point of history, kept outside the store. The next run begins there.
//
// ```text
// <state>/places/<id>/verified   "agekeep-verify-8" 16 | AEAD under the user's key
// ```
// Inside is another AEAD, under the key of the caches. The user's key keeps holders of the store's
// keys, who include auditors and former members, from making a point that skips their forgeries.
// The cache key hides what the point tells of memories from everybody without the store's keys, and
// from everybody at all once the memories are erased. The associated data of both is
// `"agekeep/1 verified " | store id 16 | place id 16`. The contents are this program's own. A file
// that does not open or parse is ignored.

const MAGIC: &[u8; 16] = b"agekeep-verify-8";
/// More than the largest store's point takes.
const BYTES_MAX: u64 = 1 << 30;

/// A point in history up to which everything was verified.
#[derive(Serialize, Deserialize)]
pub(super) struct VerifiedPoint {
    pub(super) commit: ObjectId,
    /// SHA-256 of that commit.
    pub(super) digest: Digest,
    /// The numbers of entries in `ring` and `names`. `keys` are their digests.
    counts: (u32, u32),
    keys: (Digest, Digest),
    /// True if the contents of memories were checked too, which an auditor cannot.
    contents: bool,
    removed: Vec<(MemoryId, u64)>,
    erased: Vec<MemoryId>,
    destroyed: Vec<(MemoryId, Vec<ObjectId>)>,
    signer_files: Vec<ObjectId>,
    snapshot: Vec<u8>,
}

impl VerifiedPoint {
    /// Reads the point of the store at a place; `None` if there is no usable one.
    pub(super) fn load(place: &Place, keyring: &Keyring) -> Option<Self> {
        let (file, context) = (place.verified(), context(place, keyring));
        let bytes = disk::read_plain(&file, BYTES_MAX).ok()?;
        let sealed = place.key()?.open(&context, bytes.strip_prefix(MAGIC)?)?;
        let plain = keyring.cache_key().open(&context, &sealed)?;
        let point: Self = postcard::from_bytes(&plain).ok()?;
        (point.contents || !keyring.is_reader()).then_some(point)
    }

    /// Returns the state at this point; `None` if it does not parse.
    pub(super) fn state(&self) -> Option<ReplayState> {
        let mut fold = ReplayState::new(from_snapshot(&self.snapshot)?, false);
        if fold.catalog.head != Some(self.commit) {
            return None;
        }
        fold.removed = self.removed.iter().copied().collect();
        fold.erased = self.erased.iter().copied().collect();
        fold.destroyed = self.destroyed.iter().cloned().collect();
        fold.signer_files.clone_from(&self.signer_files);
        Some(fold)
    }

    /// Returns the numbers of key entries that are unchanged since they were checked; `None` if any
    /// changed.
    pub(super) fn keys_known(&self, keyring: &Keyring) -> Result<Option<(u32, u32)>> {
        let now = keyring.digests_of_first(self.counts)?;
        Ok((now == Some(self.keys)).then_some(self.counts))
    }

    /// Saves the point reached. If this fails, the next run reads more.
    pub(super) fn save(
        place: &Place,
        keyring: &Keyring,
        fold: &ReplayState,
        digest: Digest,
    ) -> Result<()> {
        let counts = keyring.counts();
        let snapshot = to_snapshot(&fold.catalog);
        let keys = keyring.digests_of_first(counts)?;
        let (Some(snapshot), Some(keys), Some(commit)) = (snapshot, keys, fold.catalog.head) else {
            return Ok(());
        };
        let point = Self {
            commit,
            digest,
            counts,
            keys,
            contents: keyring.is_reader(),
            removed: fold.removed.iter().map(|(id, last)| (*id, *last)).collect(),
            erased: fold.erased.iter().copied().collect(),
            destroyed: fold.destroyed.clone().into_iter().collect(),
            signer_files: fold.signer_files.clone(),
            snapshot: snapshot.to_vec(),
        };
        let plain = postcard::to_stdvec(&point).expect("memory to encode it in");
        let plain = Zeroizing::new(plain);
        drop(Zeroizing::new(point.snapshot));
        let (file, context) = (place.verified(), context(place, keyring));
        let sealed = keyring.cache_key().seal(&context, &plain);
        let sealed = place.key_or_new()?.seal(&context, &sealed);
        disk::make_private_folder(file.parent().expect("a place's folder"))?;
        disk::replace(&file, &[&MAGIC[..], &sealed].concat(), 0o600)
    }
}

fn context(place: &Place, keyring: &Keyring) -> Vec<u8> {
    let (store, place) = (keyring.store().0, place.id().0);
    [&b"agekeep/1 verified "[..], &store, &place].concat()
}
