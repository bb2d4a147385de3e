//! The keyring: the keys of a store, outside its history. To destroy a key here is to erase what
//! it sealed everywhere.
//!
//! ```text
//! keyring/epoch.age   the epoch key, sealed to the readers
//! keyring/audit.age   the audit identities and the names key, sealed to readers and auditors
//! keyring/ring        memory id → that memory's age identity, under the epoch key
//! keyring/names       memory id → the key that seals its paths in event records, under the names key
//! ```

#[cfg(any(fuzzing, test))]
pub(crate) mod fuzzing;
mod table;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use self::table::{Lookup, Table};
use crate::aead::{self, Key};
use crate::base64;
use crate::digest::Digest;
use crate::disk;
use crate::error::{Error, Result};
use crate::id::{MemoryId, StoreId};
use crate::journal::KeyEntry;
use crate::policy::FORMAT;
use crate::seal::{self, Identity, OpenFault, Recipient, SealKey, Sealed};

const RING: u8 = 0;
const NAMES: u8 = 1;

/// The keys of an open store.
pub(crate) struct Keyring {
    store: StoreId,
    epoch: Key,
    audit: Vec<SealKey>,
    names_key: Key,
    ring: Table,
    names: Table,
}

/// The keys of a new memory, and the entries that keep them.
pub(crate) struct NewMemory {
    pub(crate) id: MemoryId,
    pub(crate) key: SealKey,
    pub(crate) name_key: Key,
}

/// `epoch.age`, opened.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EpochFile {
    agekeep: u32,
    store: String,
    epoch: u64,
    key: Zeroizing<String>,
}

/// `audit.age`, opened. The newest identity is the last; older ones open older records.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AuditFile {
    agekeep: u32,
    store: String,
    epoch: u64,
    identities: Vec<Zeroizing<String>>,
    names_key: Zeroizing<String>,
}

/// A sealed path is filled up with NULs to a multiple of this, so that its length says little.
const PATH_PADDING_BYTES: usize = 32;

/// The number of the first epoch.
const FIRST_EPOCH: u64 = 1;

impl Keyring {
    /// Makes the keyring of a new store, sealed to `readers`.
    pub(crate) fn create(folder: &Path, store: StoreId, readers: &[Recipient]) -> Result<()> {
        disk::make_private_folder(folder)?;
        let epoch = EpochFile {
            agekeep: FORMAT,
            store: store.to_string(),
            epoch: FIRST_EPOCH,
            key: base64::encode_secret(Key::random().expose()),
        };
        let audit = AuditFile {
            agekeep: FORMAT,
            store: store.to_string(),
            epoch: FIRST_EPOCH,
            identities: vec![SealKey::generate().to_text()],
            names_key: base64::encode_secret(Key::random().expose()),
        };
        write_sealed(&folder.join("epoch.age"), &epoch, readers)?;
        write_sealed(&folder.join("audit.age"), &audit, readers)?;
        Table::create(&folder.join("ring"), &table::RING, store, FIRST_EPOCH)?;
        Table::create(&folder.join("names"), &table::NAMES, store, FIRST_EPOCH)?;
        disk::sync_folder(folder)
    }

    /// Opens the keyring of `store` with a reader's identity.
    pub(crate) fn open(folder: &Path, store: StoreId, identity: &Identity) -> Result<Self> {
        let epoch_path = folder.join("epoch.age");
        let epoch: EpochFile = read_sealed(&epoch_path, identity)?;
        let audit_path = folder.join("audit.age");
        let audit: AuditFile = read_sealed(&audit_path, identity)?;
        for (path, name) in [(&epoch_path, &epoch.store), (&audit_path, &audit.store)] {
            if *name != store.to_string() {
                return Err(Error::damaged(
                    path.display().to_string(),
                    "it belongs to another store",
                ));
            }
        }
        let identities = audit.identities.iter().map(|text| SealKey::parse(text));
        let parsed = (
            key_of(&epoch.key),
            identities
                .collect::<Option<Vec<_>>>()
                .filter(|i| !i.is_empty()),
            key_of(&audit.names_key),
        );
        let (Some(epoch_key), Some(identities), Some(names_key)) = parsed else {
            return Err(Error::damaged(
                folder.display().to_string(),
                "a key in it is not a key",
            ));
        };
        Ok(Self {
            store,
            epoch: epoch_key,
            audit: identities,
            names_key,
            ring: Table::open(&folder.join("ring"), table::RING, store, epoch.epoch)?,
            names: Table::open(&folder.join("names"), table::NAMES, store, audit.epoch)?,
        })
    }

    /// Reads what other processes have added. Called with the store's lock held.
    pub(crate) fn refresh(&mut self) -> Result<()> {
        self.ring.refresh()?;
        self.names.refresh()
    }

    /// The identities that open event records.
    pub(crate) fn audit(&self) -> &[SealKey] {
        &self.audit
    }

    /// The store it belongs to.
    pub(crate) fn store(&self) -> StoreId {
        self.store
    }

    /// The key of the catalog, which readers and auditors share.
    pub(crate) fn names_key(&self) -> &Key {
        &self.names_key
    }

    /// Makes the keys of a new memory. They are kept once their entries are written.
    pub(crate) fn new_memory() -> NewMemory {
        NewMemory {
            id: MemoryId::random(),
            key: SealKey::generate(),
            name_key: Key::random(),
        }
    }

    /// The sealed entries of new memories, for the next free slots.
    pub(crate) fn entries_for(&self, new: &[NewMemory]) -> Vec<KeyEntry> {
        let mut entries = Vec::with_capacity(2 * new.len());
        for (index, memory) in (0u32..).zip(new) {
            let identity = memory.key.to_text();
            let ring = &self.ring;
            entries.push(KeyEntry {
                table: RING,
                slot: ring.next_slot() + index,
                bytes: ring.seal(&self.epoch, memory.id, identity.as_bytes()),
            });
            let names = &self.names;
            entries.push(KeyEntry {
                table: NAMES,
                slot: names.next_slot() + index,
                bytes: names.seal(&self.names_key, memory.id, memory.name_key.expose()),
            });
        }
        entries
    }

    /// Writes entries to their places. Not yet durable.
    pub(crate) fn write(&mut self, entries: &[KeyEntry]) -> Result<()> {
        for entry in entries {
            let table = match entry.table {
                RING => &mut self.ring,
                NAMES => &mut self.names,
                _ => return Err(Error::damaged("the journal", "it names a third key table")),
            };
            table.write(entry.slot, &entry.bytes)?;
        }
        Ok(())
    }

    /// Makes everything written so far durable.
    pub(crate) fn sync(&self) -> Result<()> {
        self.ring.sync()?;
        self.names.sync()
    }

    /// The key that opens every version of a memory.
    pub(crate) fn memory_key(&self, id: MemoryId) -> Result<SealKey> {
        let plain = found(self.ring.open_entry(&self.epoch, id)?, id, "ring")?;
        std::str::from_utf8(&plain)
            .ok()
            .and_then(SealKey::parse)
            .ok_or_else(|| {
                Error::damaged(format!("the ring entry of {id}"), "it holds no identity")
            })
    }

    /// What is wrong with the files as a whole.
    pub(crate) fn problems(&self) -> impl Iterator<Item = String> {
        [&self.ring, &self.names]
            .into_iter()
            .filter_map(Table::problem)
    }

    /// How many entries `ring` and `names` have.
    pub(crate) fn counts(&self) -> (u32, u32) {
        (self.ring.next_slot(), self.names.next_slot())
    }

    /// The memories with an entry after the first so many of `ring`, and of `names`.
    pub(crate) fn ids_after(
        &self,
        (ring, names): (u32, u32),
    ) -> Result<(Vec<MemoryId>, Vec<MemoryId>)> {
        Ok((self.ring.ids_from(ring)?, self.names.ids_from(names)?))
    }

    /// Digests of the first so many entries of `ring` and `names`; `None` if there are fewer.
    pub(crate) fn digests_of_first(
        &self,
        (ring, names): (u32, u32),
    ) -> Result<Option<(Digest, Digest)>> {
        let ring = self.ring.digest_of_first(ring)?;
        Ok(ring.zip(self.names.digest_of_first(names)?))
    }

    /// Whether there is a key for the memory.
    pub(crate) fn has(&self, id: MemoryId) -> Result<bool> {
        Ok(self.in_ring(id)? && self.in_names(id)?)
    }

    /// Whether there is a key that opens the memory's versions.
    pub(crate) fn in_ring(&self, id: MemoryId) -> Result<bool> {
        self.ring.has(id)
    }

    /// Whether there is a key that opens the memory's paths.
    pub(crate) fn in_names(&self, id: MemoryId) -> Result<bool> {
        self.names.has(id)
    }

    /// The key that opens the paths of a memory in event records.
    pub(crate) fn name_key(&self, id: MemoryId) -> Result<Key> {
        let plain = found(self.names.open_entry(&self.names_key, id)?, id, "names")?;
        Key::from_slice(&plain)
            .ok_or_else(|| Error::damaged(format!("the names entry of {id}"), "it holds no key"))
    }

    /// Seals a path for an event record under the memory's name key.
    pub(crate) fn seal_path(&self, id: MemoryId, name_key: &Key, path: &str) -> Vec<u8> {
        let mut plain = Zeroizing::new(path.as_bytes().to_vec());
        plain.resize(path.len().next_multiple_of(PATH_PADDING_BYTES), 0);
        name_key.seal(&self.path_context(id), &plain)
    }

    /// Opens a path of an event record.
    pub(crate) fn open_path(&self, id: MemoryId, name_key: &Key, sealed: &[u8]) -> Option<String> {
        let plain = name_key.open(&self.path_context(id), sealed)?;
        let path = std::str::from_utf8(&plain).ok()?;
        Some(path.trim_end_matches('\0').to_owned())
    }

    fn path_context(&self, id: MemoryId) -> Vec<u8> {
        [b"agekeep/1 path ".as_slice(), &self.store.0, &id.0].concat()
    }
}

fn found(lookup: Lookup, id: MemoryId, table: &str) -> Result<Zeroizing<Vec<u8>>> {
    match lookup {
        Lookup::Found(plain) => Ok(plain),
        Lookup::Absent => Err(Error::MissingKey {
            memory: id.to_string(),
        }),
        Lookup::Damaged => Err(Error::damaged(
            format!("the {table} entry of {id}"),
            "it does not open",
        )),
    }
}

fn key_of(text: &str) -> Option<Key> {
    Key::from_slice(&Zeroizing::new(base64::decode(text)?))
}

fn write_sealed(path: &Path, file: &impl Serialize, readers: &[Recipient]) -> Result<()> {
    let plain = Zeroizing::new(serde_json::to_vec(file).expect("strings and numbers"));
    let sealed = Recipient::seal_to_all(readers, &plain);
    disk::replace_durably(path, sealed.as_bytes(), 0o600)
}

fn read_sealed<T: for<'de> Deserialize<'de>>(path: &PathBuf, identity: &Identity) -> Result<T> {
    let damaged = |why: &str| Error::damaged(path.display().to_string(), why);
    let bytes = fs::read(path).map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => Error::NoKeyring { path: path.clone() },
        _ => Error::io("read", path)(e),
    })?;
    let sealed = Sealed::parse(bytes).map_err(|_| damaged("it is not an age file"))?;
    let plain = identity.open(&sealed).map_err(|fault| match fault {
        OpenFault::WrongKey => Error::NotARecipient { path: path.clone() },
        OpenFault::Damaged => damaged("it does not open whole"),
    })?;
    // The version first: another one may have other fields.
    let format: Format =
        serde_json::from_slice(&plain).map_err(|_| damaged("it does not parse"))?;
    if format.agekeep != FORMAT {
        return Err(Error::UnknownFormat {
            what: path.display().to_string(),
            found: format.agekeep.to_string(),
        });
    }
    serde_json::from_slice(&plain).map_err(|_| damaged("it does not parse"))
}

/// The one field every format version has.
#[derive(Deserialize)]
struct Format {
    agekeep: u32,
}

/// Bytes of a ring entry's secret, and of a names entry's.
pub(crate) const RING_SECRET_BYTES: usize = seal::IDENTITY_CHARACTERS;
pub(crate) const NAMES_SECRET_BYTES: usize = 32;
pub(crate) const ENTRY_OVERHEAD_BYTES: usize = 16 + aead::OVERHEAD;
