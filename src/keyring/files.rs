//! `epoch.age` and `audit.age`: the keys that people open, as JSON in an age file.

use std::io;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::crypto::aead::Key;
use crate::crypto::base64;
use crate::crypto::digest::{Digest, keyed};
use crate::crypto::seal::{Identity, OpenFault, Recipient, SealKey, Sealed, Unlock, Unopened};
use crate::crypto::sign::Authority;
use crate::disk::{Folder, Name};
use crate::error::{Error, Result};
use crate::id::{ReplicaId, StoreId};
use crate::redact::FingerprintKey;

/// Room for a file: an audit identity for each of some eight hundred changes of keys.
const FILE_BYTES_MAX: usize = 64 * 1024;

/// What to do about a file that is damaged.
const RESTORE: &str =
    "restore the keyring from its backup, the one that belongs to this repository";

/// The format of these files.
const FORMAT: u32 = 2;

/// The number of the first epoch.
const FIRST_EPOCH: u64 = 1;

/// What `epoch.age` holds.
pub(super) struct Epoch {
    pub(super) number: u64,
    pub(super) key: Key,
}

/// What `audit.age` holds.
pub(super) struct Audit {
    pub(super) number: u64,
    /// Oldest first.
    pub(super) identities: Vec<SealKey>,
    pub(super) names_key: Key,
    /// What fingerprints of findings are made with, as it was derived from the first names key, once
    /// that is gone: they stay the same, and nothing of that key is left.
    pub(super) fingerprint_key: Option<Key>,
    /// Whose keyring it is; none in format 1.
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

    /// The one that comes after it, and after every number up to `least`.
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

    /// What signs the keys that come after it: derived from the key, and of no use to open anything.
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

    /// Seals it to readers, durably.
    pub(super) fn write(
        &self,
        folder: &Folder,
        store: StoreId,
        readers: &[Recipient],
        unlock: &Arc<dyn Unlock>,
    ) -> Result<()> {
        let file = EpochFile {
            agekeep: FORMAT,
            store: store.to_string(),
            epoch: self.number,
            key: base64::encode_secret(self.key.expose()),
        };
        write_sealed(folder, &Name::EPOCH, &file, readers, unlock)
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

    /// The one that comes after it: a new identity for new records, and those before it.
    pub(super) fn next(&self, store: StoreId) -> Self {
        let mut next = self.with_new_names_key(store, 0);
        next.identities.push(SealKey::generate());
        next
    }

    /// The one that comes after it, and after every number up to `least`, for an erasure: the same
    /// identities, because records stay readable, and a new names key.
    pub(super) fn with_new_names_key(&self, store: StoreId, least: u64) -> Self {
        Self {
            number: self.number.max(least).saturating_add(1),
            names_key: Key::random(),
            fingerprint_key: Some(self.fingerprint_key(store)),
            replica: self.replica.or_else(|| Some(ReplicaId::random())),
            ..self.again()
        }
    }

    /// The key of the fingerprints of findings: kept, or derived from the names key.
    fn fingerprint_key(&self, store: StoreId) -> Key {
        if let Some(kept) = &self.fingerprint_key {
            return kept.again();
        }
        let store = store.to_string();
        let label = b"agekeep redaction fingerprint v1";
        let derived = keyed(self.names_key.expose(), &[label, store.as_bytes()]);
        Key::from_slice(&Zeroizing::new(derived)[..]).expect("32 bytes")
    }

    /// What fingerprints of findings are made with.
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

    /// What stands for the names key in records. It tells nothing of the key.
    pub(super) fn names_commitment(&self) -> Digest {
        Digest(keyed(
            self.names_key.expose(),
            &[b"agekeep/2 names commitment"],
        ))
    }

    /// What stands for the audit identities in records: a digest of their public halves.
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

    /// Seals it to readers and auditors, durably.
    pub(super) fn write(
        &self,
        folder: &Folder,
        store: StoreId,
        everyone: &[Recipient],
        unlock: &Arc<dyn Unlock>,
    ) -> Result<()> {
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
        write_sealed(folder, &Name::AUDIT, &file, everyone, unlock)
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

fn write_sealed(
    folder: &Folder,
    name: &Name,
    file: &impl Serialize,
    recipients: &[Recipient],
    unlock: &Arc<dyn Unlock>,
) -> Result<()> {
    // Room for all of it, because a buffer that grows leaves copies behind.
    let mut plain = Zeroizing::new(Vec::with_capacity(FILE_BYTES_MAX));
    serde_json::to_writer(&mut *plain, file).expect("strings and numbers");
    let sealed = Recipient::seal_to_all(recipients, &plain, unlock)?;
    folder.replace_durably(name, sealed.as_bytes(), 0o600)
}

fn read_sealed<T: for<'de> Deserialize<'de>>(
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
    // The version first: another one may have other fields.
    let format: Format =
        serde_json::from_slice(&plain).map_err(|_| damaged("it does not parse"))?;
    if !(1..=FORMAT).contains(&format.agekeep) {
        return Err(Error::UnknownFormat {
            what: path.display().to_string(),
            found: format.agekeep.to_string(),
        });
    }
    serde_json::from_slice(&plain).map_err(|_| damaged("it does not parse"))
}

/// What an error in opening a file of a keyring is.
pub(super) fn missing(path: &Path, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::NotFound => Error::NoKeyring {
            path: path.into(),
            is_whole: false,
        },
        _ => Error::io("read", path)(error),
    }
}

/// Which of the two files is at a path.
pub(super) fn named_at(path: &Path) -> Name {
    if path.ends_with(Name::EPOCH.as_str()) {
        Name::EPOCH
    } else {
        Name::AUDIT
    }
}

/// Whether a file is sealed to so many at least: one from before somebody was let in is to fewer.
pub(super) fn is_sealed_to(folder: &Folder, name: &Name, many: usize) -> bool {
    let sealed = folder.read(name).ok().and_then(|b| Sealed::parse(b).ok());
    sealed.is_some_and(|sealed| sealed.stanzas() >= many)
}

/// A file is not as it was written.
pub(super) fn damaged(folder: &Folder, name: &Name, why: &str) -> Error {
    Error::damaged_with_hint(folder.path_of(name).display().to_string(), why, RESTORE)
}

/// The one field every format version has.
#[derive(Deserialize)]
struct Format {
    agekeep: u32,
}
