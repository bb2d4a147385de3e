//! `epoch.age` and `audit.age`: the keys that people open, as JSON in an age file.

use std::io;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::crypto::aead::Key;
use crate::crypto::base64;
use crate::crypto::digest::{Digest, keyed};
use crate::crypto::recipients::{self, Member};
use crate::crypto::seal::{Identity, OpenFault, Recipient, SealKey, Sealed, Unlock, Unopened};
use crate::crypto::sign::{Authority, AuthorityMark, AuthorityProof};
use crate::disk::{Folder, Name};
use crate::error::{Error, Result};
use crate::id::{ReplicaId, StoreId};
use crate::keyring::Keyring;
use crate::redact::FingerprintKey;

/// Room in a buffer for all of a file but its audit identities, and for one of these, in bytes.
const FILE_BYTES: usize = 4 * 1024;
const IDENTITY_BYTES: usize = 128;

/// The hint for a damaged file.
const RESTORE: &str = "restore the keyring from the backup that belongs to this repository";

/// The format of these files.
pub(super) const FORMAT: u32 = 2;

/// The number of the first epoch.
const FIRST_EPOCH: u64 = 1;

/// The contents of `epoch.age`.
pub(super) struct Epoch {
    pub(super) number: u64,
    pub(super) key: Key,
}

/// The contents of `audit.age`.
pub(super) struct Audit {
    pub(super) number: u64,
    /// Oldest first.
    pub(super) identities: Vec<SealKey>,
    pub(super) names_key: Key,
    /// The key of the fingerprints of findings, derived from the first names key and kept once that
    /// is gone: fingerprints stay the same, and nothing of that key is left.
    pub(super) fingerprint_key: Option<Key>,
    /// The replica whose keyring it is; `None` in format 1.
    pub(super) replica: Option<ReplicaId>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EpochFile {
    agekeep: u32,
    store: String,
    epoch: u64,
    key: Zeroizing<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AuditFile {
    agekeep: u32,
    store: String,
    epoch: u64,
    identities: Vec<Zeroizing<String>>,
    names_key: Zeroizing<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fingerprint_key: Option<Zeroizing<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    replica: Option<ReplicaId>,
}

impl Epoch {
    pub(super) fn first() -> Self {
        Self {
            number: FIRST_EPOCH,
            key: Key::random(),
        }
    }

    /// Returns the next epoch, numbered above every number up to `least`.
    pub(super) fn next(&self, least: u64) -> Self {
        Self {
            number: self.number.max(least).saturating_add(1),
            key: Key::random(),
        }
    }

    pub(super) fn again(&self) -> Self {
        Self {
            number: self.number,
            key: self.key.again(),
        }
    }

    /// Returns the authority that signs the next keys. It is derived from the key, and opens
    /// nothing.
    pub(super) fn authority(&self) -> Authority {
        Authority::of_seed(&Zeroizing::new(keyed(
            self.key.expose(),
            &[b"agekeep/2 epoch authority"],
        )))
    }

    pub(super) fn read(folder: &Folder, store: StoreId, identity: &Identity) -> Result<Self> {
        let name = Name::EPOCH;
        let file: EpochFile = read_sealed(folder, &name, identity)?;
        check_store(folder, &name, &file.store, store)?;
        Ok(Self {
            number: file.epoch,
            key: key_of(&file.key).ok_or_else(|| no_key(folder, &name))?,
        })
    }

    /// Seals it to the readers among the members, durably.
    pub(super) fn write(
        &self,
        folder: &Folder,
        store: StoreId,
        members: &[Member],
        unlock: &Arc<dyn Unlock>,
    ) -> Result<()> {
        let sealed = self.seal(store, members, unlock)?;
        folder.replace_durably(&Name::EPOCH, sealed.as_bytes(), 0o600)
    }

    /// Seals it to the readers among the members.
    pub(super) fn seal(
        &self,
        store: StoreId,
        members: &[Member],
        unlock: &Arc<dyn Unlock>,
    ) -> Result<Sealed> {
        let file = EpochFile {
            agekeep: FORMAT,
            store: store.to_string(),
            epoch: self.number,
            key: base64::encode_secret(self.key.expose()),
        };
        seal(&file, FILE_BYTES, &recipients::readers(members), unlock)
    }
}

impl Audit {
    pub(super) fn first() -> Self {
        Self {
            number: FIRST_EPOCH,
            identities: vec![SealKey::generate()],
            names_key: Key::random(),
            fingerprint_key: None,
            replica: Some(ReplicaId::random()),
        }
    }

    /// Returns the next one: a new identity for new records, after the earlier identities.
    pub(super) fn next(&self, store: StoreId) -> Self {
        let mut next = self.with_new_names_key(store, 0);
        next.identities.push(SealKey::generate());
        next
    }

    /// Returns the next one for an erasure, numbered above every number up to `least`. It has the
    /// same identities, because records stay readable, and a new names key.
    pub(super) fn with_new_names_key(&self, store: StoreId, least: u64) -> Self {
        Self {
            number: self.number.max(least).saturating_add(1),
            names_key: Key::random(),
            fingerprint_key: Some(self.fingerprint_key(store)),
            replica: self.replica.or_else(|| Some(ReplicaId::random())),
            ..self.again()
        }
    }

    /// Returns the key of the fingerprints of findings: the stored one, or one derived from the
    /// names key.
    fn fingerprint_key(&self, store: StoreId) -> Key {
        if let Some(kept) = &self.fingerprint_key {
            return kept.again();
        }
        let store = store.to_string();
        let label = b"agekeep redaction fingerprint v1";
        let derived = keyed(self.names_key.expose(), &[label, store.as_bytes()]);
        Key::from_slice(&Zeroizing::new(derived)[..]).expect("32 bytes")
    }

    /// Returns the key that fingerprints of findings are made with.
    pub(super) fn fingerprints(&self, store: StoreId) -> FingerprintKey {
        FingerprintKey::new(Zeroizing::new(*self.fingerprint_key(store).expose()))
    }

    pub(super) fn again(&self) -> Self {
        Self {
            number: self.number,
            identities: self.identities.iter().map(SealKey::again).collect(),
            names_key: self.names_key.again(),
            fingerprint_key: self.fingerprint_key.as_ref().map(Key::again),
            replica: self.replica,
        }
    }

    /// Returns the commitment to the names key in records. It reveals nothing of the key.
    pub(super) fn names_commitment(&self) -> Digest {
        Digest(keyed(
            self.names_key.expose(),
            &[b"agekeep/2 names commitment"],
        ))
    }

    /// Returns the commitment to the audit identities in records: a digest of their public halves.
    pub(super) fn identities_commitment(&self) -> Digest {
        let public: Vec<String> = self.identities.iter().map(SealKey::public_text).collect();
        Digest::of_pieces(&[b"agekeep/2 audit commitment ", public.join("\n").as_bytes()])
    }

    pub(super) fn read(folder: &Folder, store: StoreId, identity: &Identity) -> Result<Self> {
        let name = Name::AUDIT;
        let file: AuditFile = read_sealed(folder, &name, identity)?;
        check_store(folder, &name, &file.store, store)?;
        let identities = file.identities.iter().map(|text| SealKey::parse(text));
        let identities: Option<Vec<_>> = identities.collect();
        let fingerprint_key = match &file.fingerprint_key {
            Some(text) => Some(key_of(text).ok_or_else(|| no_key(folder, &name))?),
            None => None,
        };
        Ok(Self {
            number: file.epoch,
            identities: identities
                .filter(|found| !found.is_empty())
                .ok_or_else(|| no_key(folder, &name))?,
            names_key: key_of(&file.names_key).ok_or_else(|| no_key(folder, &name))?,
            fingerprint_key,
            replica: file.replica,
        })
    }

    /// Seals it to all members, durably.
    pub(super) fn write(
        &self,
        folder: &Folder,
        store: StoreId,
        members: &[Member],
        unlock: &Arc<dyn Unlock>,
    ) -> Result<()> {
        let sealed = self.seal(store, members, unlock)?;
        folder.replace_durably(&Name::AUDIT, sealed.as_bytes(), 0o600)
    }

    /// Seals it to all members.
    pub(super) fn seal(
        &self,
        store: StoreId,
        members: &[Member],
        unlock: &Arc<dyn Unlock>,
    ) -> Result<Sealed> {
        let text = |key: &Key| base64::encode_secret(key.expose());
        let file = AuditFile {
            agekeep: FORMAT,
            store: store.to_string(),
            epoch: self.number,
            identities: self.identities.iter().map(SealKey::to_text).collect(),
            names_key: text(&self.names_key),
            fingerprint_key: self.fingerprint_key.as_ref().map(text),
            replica: self.replica,
        };
        let bytes = FILE_BYTES + IDENTITY_BYTES * self.identities.len();
        seal(&file, bytes, &recipients::everyone(members), unlock)
    }
}

fn check_store(folder: &Folder, name: &Name, said: &str, store: StoreId) -> Result<()> {
    if said == store.to_string() {
        return Ok(());
    }
    Err(damaged(folder, name, "it belongs to another store"))
}

fn no_key(folder: &Folder, name: &Name) -> Error {
    damaged(folder, name, "a key in it is not a key")
}

fn key_of(text: &str) -> Option<Key> {
    Key::from_slice(&Zeroizing::new(base64::decode(text)?))
}

/// Seals a file. `bytes` is at least its length.
pub(super) fn seal(
    file: &impl Serialize,
    bytes: usize,
    recipients: &[Recipient],
    unlock: &Arc<dyn Unlock>,
) -> Result<Sealed> {
    // Room for all of it, because a buffer that grows leaves copies of secrets behind.
    let mut plain = Zeroizing::new(Vec::with_capacity(bytes));
    serde_json::to_writer(&mut *plain, file).expect("strings and numbers");
    debug_assert!(plain.len() <= bytes, "{} of {bytes}", plain.len());
    Recipient::seal_to_all(recipients, &plain, unlock)
}

pub(super) fn read_sealed<T: for<'de> Deserialize<'de>>(
    folder: &Folder,
    name: &Name,
    identity: &Identity,
) -> Result<T> {
    let path = &folder.path_of(name);
    let damaged = |why: &str| damaged(folder, name, why);
    let bytes = folder.read(name).map_err(|e| missing(path, e))?;
    let sealed = Sealed::parse(bytes).map_err(|_| damaged("it is not an age file"))?;
    let plain = identity.open(&sealed).map_err(|unopened| match unopened {
        Unopened::Fault(OpenFault::WrongKey) => Error::NotARecipient { path: path.into() },
        Unopened::Fault(OpenFault::Damaged) => damaged("it does not open whole"),
        Unopened::Failed(error) => error,
    })?;
    // Check the version first: another one may have other fields.
    let format: KeyFileFormat =
        serde_json::from_slice(&plain).map_err(|_| damaged("it does not parse"))?;
    if !(1..=FORMAT).contains(&format.agekeep) {
        return Err(Error::UnknownFormat {
            what: path.display().to_string(),
            found: format.agekeep.to_string(),
        });
    }
    serde_json::from_slice(&plain).map_err(|_| damaged("it does not parse"))
}

/// Converts an error from opening a file of a keyring.
pub(super) fn missing(path: &Path, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::NotFound => Error::NoKeyring {
            path: path.into(),
            is_whole: false,
        },
        _ => Error::io("read", path)(error),
    }
}

/// Returns the name of the file at a path.
pub(super) fn named_at(path: &Path) -> Name {
    if path.ends_with(Name::EPOCH.as_str()) {
        Name::EPOCH
    } else {
        Name::AUDIT
    }
}

/// Tells whether a file is sealed to at least `many` recipients. A file from before a member was
/// added is sealed to fewer.
pub(super) fn is_sealed_to(folder: &Folder, name: &Name, many: usize) -> bool {
    let sealed = folder.read(name).ok().and_then(|b| Sealed::parse(b).ok());
    sealed.is_some_and(|sealed| sealed.stanzas() >= many)
}

/// Returns the error for a damaged file.
pub(super) fn damaged(folder: &Folder, name: &Name, why: &str) -> Error {
    Error::damaged_with_hint(folder.path_of(name).display().to_string(), why, RESTORE)
}

/// The one field every format version has.
#[derive(Deserialize)]
struct KeyFileFormat {
    agekeep: u32,
}

// Commitments in records to the keys in force: enough to recognize a keyring, and nothing of its
// keys.
//
// Whoever can write to the keyring's folder can put their own keys there, sealed to the public
// recipients. So the first event, and each that changes keys, names the keys in force from then on.
// Each but the first carries a proof by a holder of the previous epoch key. A keyring that history
// does not name is not used.

/// The keys in force from an event on (docs/format.md, 5.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyCommitment {
    /// The number of the epoch, and the public half of its key's authority.
    pub(crate) epoch: (u64, AuthorityMark),
    /// The number of the names key, and the commitment to it.
    pub(crate) names: (u64, Digest),
    /// The commitment to the audit identities.
    audit: Digest,
    /// The minimum number of entries in `ring` and `names`.
    pub(crate) entries: (u64, u64),
    /// The signature by the previous epoch's authority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    proof: Option<AuthorityProof>,
}

/// A commitment as the catalog stores it: without its proof, which was checked.
pub(crate) type KeysRow = ((u64, [u8; 32]), (u64, [u8; 32]), [u8; 32], (u64, u64));

impl KeyCommitment {
    pub(crate) fn to_row(self) -> KeysRow {
        let (epoch, names) = (self.epoch, self.names);
        let names = (names.0, names.1.0);
        ((epoch.0, epoch.1.0), names, self.audit.0, self.entries)
    }

    pub(crate) fn from_row((epoch, names, audit, entries): KeysRow) -> Self {
        Self {
            epoch: (epoch.0, AuthorityMark(epoch.1)),
            names: (names.0, Digest(names.1)),
            audit: Digest(audit),
            entries,
            proof: None,
        }
    }

    /// Returns the same keys after `added` memories were added.
    pub(crate) fn with_more_entries(mut self, added: u64) -> Self {
        self.entries.0 = self.entries.0.saturating_add(added);
        self.entries.1 = self.entries.1.saturating_add(added);
        self
    }

    /// Returns the same commitment without its proof, once that was checked.
    pub(crate) fn without_proof(mut self) -> Self {
        self.proof = None;
        self
    }

    /// Returns the bytes that a proof signs: these keys, after the commit `parent`.
    fn said(&self, parent: Option<Digest>) -> Vec<u8> {
        let parent = parent.map_or([0; 32], |digest| digest.0);
        let (epoch, names) = (self.epoch, self.names);
        [
            b"agekeep/2 keys ".as_slice(),
            &parent,
            &epoch.0.to_le_bytes(),
            &epoch.1.0,
            &names.0.to_le_bytes(),
            &names.1.0,
            &self.audit.0,
            &self.entries.0.to_le_bytes(),
            &self.entries.1.to_le_bytes(),
        ]
        .concat()
    }

    /// Tells whether a holder of the previous keys put these in force, after the commit `parent`.
    pub(crate) fn follows(&self, before: &AuthorityMark, parent: Option<Digest>) -> bool {
        let proof = self.proof.as_ref();
        proof.is_some_and(|proof| before.proves(&self.said(parent), proof))
    }

    /// Tells whether the keys are the same, whatever the number of entries.
    fn has_keys_of(&self, other: &Self) -> bool {
        (self.epoch, self.names, self.audit) == (other.epoch, other.names, other.audit)
    }
}

impl Keyring {
    /// Returns the commitment to the keys of this keyring.
    ///
    /// # Errors
    /// As [`Self::require_reader`]: an auditor does not have all of them.
    pub(crate) fn commitment(&self) -> Result<KeyCommitment> {
        let epoch = self.epoch()?;
        let (ring, names) = self.counts();
        Ok(KeyCommitment {
            epoch: (epoch.number, self.marks().0.expect("there is an epoch")),
            names: (self.audit.number, self.marks().1),
            audit: self.marks().2,
            entries: (u64::from(ring), u64::from(names)),
            proof: None,
        })
    }

    /// Returns the commitment for the record of a change of keys, if this keyring comes from a
    /// change that is not on record yet.
    pub(crate) fn new_commitment(&self, parent: Option<Digest>) -> Result<Option<KeyCommitment>> {
        let Some(before) = &self.before else {
            return Ok(None);
        };
        let mut commitment = self.commitment()?;
        commitment.proof = Some(before.sign(&commitment.said(parent)));
        Ok(Some(commitment))
    }

    /// Notes that its change of keys is on record.
    pub(crate) fn mark_recorded(&mut self) {
        self.before = None;
    }

    /// Tells whether these are the keys that history names, as far as this identity opens them.
    pub(crate) fn has_keys_of(&self, known: &KeyCommitment) -> bool {
        if let Ok(own) = self.commitment() {
            return own.has_keys_of(known);
        }
        let names = (self.audit.number, self.marks().1);
        (names, self.marks().2) == (known.names, known.audit)
    }

    /// Checks that no entries were cut off the tables.
    ///
    /// # Errors
    /// [`Error::Damaged`] if a table has fewer than history added.
    pub(crate) fn check_entries(&self, least: (u64, u64)) -> Result<()> {
        let (ring, names) = self.counts();
        let of_ring = self.has_ring().then_some((Name::RING, ring, least.0));
        for (name, count, least) in of_ring.into_iter().chain([(Name::NAMES, names, least.1)]) {
            if u64::from(count) < least {
                let why = format!("it has {count} entries, and history added {least}");
                return Err(super::files::damaged(&self.folder, &name, &why));
            }
        }
        Ok(())
    }

    /// Returns the error for a keyring that history does not name: its files are from different
    /// moments, or somebody else's.
    pub(crate) fn foreign(&self) -> Error {
        let why = "its keys are not those that history names: its files are from different \
                   backups, or somebody replaced them";
        let hint = "find out who could write to this folder; restore all four files of the keyring \
                    from the backup that belongs to this repository, or, if you know that it is \
                    right, continue with `agekeep accept-rollback --reason TEXT`";
        Error::damaged_with_hint(self.folder.path().display().to_string(), why, hint)
    }

    fn marks(&self) -> &(Option<AuthorityMark>, Digest, Digest) {
        self.marks.get_or_init(|| {
            let epoch = self.epoch.as_ref().map(Epoch::authority);
            (
                epoch.map(|authority| authority.mark()),
                self.audit.names_commitment(),
                self.audit.identities_commitment(),
            )
        })
    }
}
