//! The keyring: the keys of a store, outside its history. Destroying a key here erases,
//! everywhere, what was encrypted to it.
//!
//! ```text
//! keyring/epoch.age   the epoch key, sealed to the readers
//! keyring/audit.age   the audit identities and the names key, sealed to readers and auditors
//! keyring/ring        memory id → that memory's age identity, under the epoch key
//! keyring/names       memory id → the key of its paths in event records, under the names key
//! keyring/mailbox.age the identity to which other machines encrypt keys for this one
//! ```

pub(crate) mod backup;
mod files;
#[cfg(any(fuzzing, test))]
pub(crate) mod fuzzing;
mod index;
pub(crate) mod mailbox;
mod rotation;
mod table;

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use zeroize::Zeroizing;

use self::files::{Audit, Epoch};
use self::table::{Lookup, Table};
use crate::background::Precomputed;
use crate::crypto::aead::{self, Key};
use crate::crypto::digest::{Digest, keyed};
use crate::crypto::recipients::{self, Member, Role};
use crate::crypto::seal::{
    self, Identity, OpenFault, PreparedEncryptor, Recipient, SealKey, Unlock,
};
use crate::crypto::sign::{Authority, AuthorityMark};
use crate::disk::{Folder, Name};
use crate::error::{Error, Result};
use crate::id::{MemoryId, ReplicaId, StoreId};
use crate::journal::KeyEntry;
use crate::redact::FingerprintKey;

pub(crate) use self::files::{KeyCommitment, KeysRow};
pub(crate) use self::mailbox::HeldKeys;
pub(crate) use self::rotation::{
    FILES, ReencryptedVersion, StagedKeyring, copy_files, file_left, has_staged,
    install_staged_files, remove_files, remove_staged, remove_staged_backups, staged_id_of,
};

const RING: u8 = 0;
const NAMES: u8 = 1;
/// In the journal: an entry that moves the files of a staged keyring into place.
const NEXT: u8 = KeyEntry::NEXT;

/// The keys of an open store.
pub(crate) struct Keyring {
    folder: Folder,
    store: StoreId,
    identity: Identity,
    /// `None` for an auditor.
    epoch: Option<Epoch>,
    /// True if there is no epoch because its file is damaged: the identity is a reader's.
    is_epoch_damaged: bool,
    audit: Audit,
    /// `None` for an auditor whose copy of the keyring has no such file.
    ring: Option<Table>,
    names: Table,
    /// The previous keyring's authority, which proves this one until the change of keys is on
    /// record.
    before: Option<Authority>,
    /// The commitments to its keys in records: to the epoch authority, the names key and the audit
    /// identities.
    marks: OnceLock<(Option<AuthorityMark>, Digest, Digest)>,
    cache_key: OnceLock<Key>,
    /// Memories whose keys count as destroyed though they are present: the keyring is a copy from
    /// before the erasure.
    shut: HashSet<MemoryId>,
    /// The same for keys in `ring` alone: the history of these memories was erased since, and their
    /// paths are not secret.
    shut_in_ring: HashSet<MemoryId>,
    /// Records begun ahead, sealed to the newest audit identity.
    records: Precomputed<PreparedEncryptor>,
    new_memories: Precomputed<(NewMemory, PreparedEncryptor)>,
}

/// The keys of a new memory.
pub(crate) struct NewMemory {
    pub(crate) id: MemoryId,
    pub(crate) key: SealKey,
    pub(crate) name_key: Key,
}

/// Sealed paths are padded with NULs to a multiple of this, so that their length says little.
const PATH_PADDING_BYTES: usize = 32;

impl Keyring {
    /// Creates the keyring of a new store, sealed to its members, one of whom is `identity`.
    pub(crate) fn create(
        folder: &Folder,
        store: StoreId,
        members: &[Member],
        identity: &Identity,
    ) -> Result<Self> {
        let (epoch, audit) = (Epoch::first(), Audit::first());
        epoch.write(folder, store, members, identity.unlock())?;
        audit.write(folder, store, members, identity.unlock())?;
        let (of_ring, of_names) = ((epoch.number, &epoch.key), (audit.number, &audit.names_key));
        Table::create(folder, &table::RING, store, of_ring)?;
        Table::create(folder, &table::NAMES, store, of_names)?;
        folder.sync()?;
        // Open it again like any later open: an identity that cannot should not have created it.
        Self::open(folder, store, identity)
    }

    /// Opens the keyring of `store` with the identity of a reader or an auditor. An auditor needs
    /// only `audit.age` and `names`.
    pub(crate) fn open(folder: &Folder, store: StoreId, identity: &Identity) -> Result<Self> {
        let epoch = match Epoch::read(folder, store, identity) {
            // The identity is an auditor's, or nobody's.
            Err(Error::NotARecipient { .. } | Error::NoKeyring { .. }) => None,
            read => Some(read?),
        };
        let audit = Audit::read(folder, store, identity)?;
        let of_ring = epoch.as_ref().map(|epoch| (epoch.number, &epoch.key));
        let of_names = Some((audit.number, &audit.names_key));
        let ring = match Table::open(folder, &table::RING, store, of_ring) {
            Err(Error::NoKeyring { .. }) if epoch.is_none() => None,
            opened => Some(opened?),
        };
        let names = Table::open(folder, &table::NAMES, store, of_names)?;
        let (folder, identity) = (folder.clone(), identity.clone());
        Ok(Self::of(
            folder,
            store,
            identity,
            (epoch, audit),
            (ring, names),
        ))
    }

    fn of(
        folder: Folder,
        store: StoreId,
        identity: Identity,
        (epoch, audit): (Option<Epoch>, Audit),
        (ring, names): (Option<Table>, Table),
    ) -> Self {
        Self {
            folder,
            store,
            identity,
            epoch,
            is_epoch_damaged: false,
            audit,
            ring,
            names,
            before: None,
            marks: OnceLock::new(),
            cache_key: OnceLock::new(),
            shut: HashSet::new(),
            shut_in_ring: HashSet::new(),
            records: Precomputed::default(),
            new_memories: Precomputed::default(),
        }
    }

    /// Opens the keyring as [`Self::open`] does, given the members that history lists. A file that
    /// a listed member cannot open is reported as damaged, instead of telling them they are no
    /// recipient.
    pub(crate) fn open_of(
        folder: &Folder,
        store: StoreId,
        identity: &Identity,
        members: &[Member],
    ) -> Result<Self> {
        let closed = match Self::open(folder, store, identity) {
            Ok(mut keyring) => {
                keyring.expect_role_of(members);
                keyring.check_epoch_file(keyring.is_listed_reader(members))?;
                return Ok(keyring);
            }
            Err(Error::NotARecipient { path }) => path,
            Err(error) => return Err(error),
        };
        let name = files::named_at(&closed);
        let keys: Vec<Recipient> = identity.own_recipients().collect();
        let is_listed = recipients::role_of(members, &keys).is_some();
        // An identity that opens one file could open both when they were written.
        let is_for_them = || {
            files::is_sealed_to(folder, &name, members.len())
                || Epoch::read(folder, store, identity).is_ok()
        };
        Err(if is_listed && is_for_them() {
            let why = "your identity cannot decrypt it, although history lists your recipient";
            files::damaged(folder, &name, why)
        } else {
            Error::NotARecipient { path: closed }
        })
    }

    /// Distinguishes a reader whose epoch key is out of reach from an auditor, by the store's
    /// members.
    pub(crate) fn expect_role_of(&mut self, members: &[Member]) {
        self.is_epoch_damaged = self.epoch.is_none() && self.is_listed_reader(members) && {
            let readers = recipients::readers(members).len();
            files::is_sealed_to(&self.folder, &Name::EPOCH, readers)
        };
    }

    fn is_listed_reader(&self, members: &[Member]) -> bool {
        let keys: Vec<Recipient> = self.identity.own_recipients().collect();
        recipients::role_of(members, &keys) == Some(Role::Reader)
    }

    /// Checks that the file of the epoch key is there for a reader. An auditor needs none.
    ///
    /// # Errors
    /// [`Error::NoKeyring`] if it is not.
    fn check_epoch_file(&self, is_reader: bool) -> Result<()> {
        if is_reader && self.epoch.is_none() && !self.folder.has(&Name::EPOCH) {
            return Err(self.without(&Name::EPOCH));
        }
        Ok(())
    }

    /// Returns the error for a file that is not there.
    fn without(&self, name: &Name) -> Error {
        Error::NoKeyring {
            path: self.folder.path_of(name),
            is_whole: false,
        }
    }

    /// Returns the table `ring`.
    ///
    /// # Errors
    /// [`Error::NoKeyring`] if an auditor's copy of the keyring has none.
    fn ring(&self) -> Result<&Table> {
        self.ring.as_ref().ok_or_else(|| self.without(&Name::RING))
    }

    fn table_mut(&mut self, table: u8) -> Result<&mut Table> {
        match table {
            RING => {
                let error = self.without(&Name::RING);
                self.ring.as_mut().ok_or(error)
            }
            NAMES => Ok(&mut self.names),
            _ => {
                let why = "it names an unknown key table";
                Err(Error::damaged("the journal", why))
            }
        }
    }

    /// Returns the identity that opened the keyring.
    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Tells whether the file `ring` is there, which an auditor can do without.
    pub(crate) fn has_ring(&self) -> bool {
        self.ring.is_some()
    }

    /// Returns the numbers of the epoch key, for a reader, and of the names key.
    pub(crate) fn numbers(&self) -> (Option<u64>, u64) {
        let epoch = self.epoch.as_ref().map(|epoch| epoch.number);
        (epoch, self.audit.number)
    }

    /// Tells whether it is a copy from before an erasure that gave the keys these numbers.
    pub(crate) fn is_before(&self, (epoch, names): (u64, u64)) -> bool {
        self.audit.number < names || self.epoch.as_ref().is_some_and(|own| own.number < epoch)
    }

    /// Treats all keys of `memories` as destroyed, and the `ring` keys of `in_ring`.
    pub(crate) fn exclude_erased(
        &mut self,
        memories: impl IntoIterator<Item = MemoryId>,
        in_ring: impl IntoIterator<Item = MemoryId>,
    ) {
        self.shut.extend(memories);
        self.shut_in_ring.extend(in_ring);
    }

    fn is_excluded_in_ring(&self, id: MemoryId) -> bool {
        self.shut.contains(&id) || self.shut_in_ring.contains(&id)
    }

    /// Tells whether a memory has a key in it, even one that is treated as destroyed.
    pub(crate) fn still_has(&self, id: MemoryId) -> Result<bool> {
        let in_ring = self.ring.as_ref().map_or(Ok(false), |ring| ring.has(id))?;
        Ok(in_ring || self.names.has(id)?)
    }

    /// Reads entries that other processes added, or a keyring they put in place. Requires the
    /// store's lock.
    pub(crate) fn refresh(&mut self) -> Result<()> {
        // This process may have staged the tables, and it or another moved them into place since.
        self.are_now_in_place();
        if self.ring.as_ref().is_some_and(Table::is_replaced) || self.names.is_replaced() {
            *self = self.reopened_in(&self.folder)?;
            return Ok(());
        }
        self.ring.as_mut().map_or(Ok(()), Table::refresh)?;
        self.names.refresh()
    }

    /// Switches to the keyring's folder with each table that is there now.
    fn are_now_in_place(&mut self) {
        for table in self.ring.iter_mut().chain([&mut self.names]) {
            table.is_now_in(&self.folder);
        }
    }

    /// Opens the keyring in another folder with the same identity.
    pub(crate) fn reopened_in(&self, folder: &Folder) -> Result<Self> {
        let keyring = Self::open(folder, self.store, &self.identity)?;
        keyring.check_epoch_file(self.is_reader())?;
        Ok(keyring)
    }

    /// Tells whether a folder has another keyring than this.
    pub(crate) fn is_another_in(&self, folder: &Folder) -> bool {
        let table = self.ring.as_ref().unwrap_or(&self.names);
        table.is_another_in(folder)
    }

    /// Returns its folder.
    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Returns the answers to plugins while something is sealed to their recipients.
    pub(crate) fn unlock(&self) -> &Arc<dyn Unlock> {
        self.identity.unlock()
    }

    /// Returns the key of the epoch.
    ///
    /// # Errors
    /// As [`Self::require_reader`].
    fn epoch(&self) -> Result<&Epoch> {
        self.epoch.as_ref().ok_or_else(|| self.no_epoch())
    }

    /// Checks that the identity is a reader's.
    ///
    /// # Errors
    /// [`Error::NotAReader`] for an auditor, [`Error::Damaged`] for a reader whose epoch key does
    /// not open.
    pub(crate) fn require_reader(&self) -> Result<()> {
        self.epoch().map(drop)
    }

    fn no_epoch(&self) -> Error {
        if self.is_epoch_damaged {
            let why = "your identity cannot decrypt it, although history says it is a reader's";
            files::damaged(&self.folder, &Name::EPOCH, why)
        } else {
            Error::NotAReader
        }
    }

    /// Tells whether it was opened with this recipient's identity, as far as can be known.
    pub(crate) fn is_of(&self, recipient: &Recipient) -> bool {
        self.identity.recipients().contains(recipient)
    }

    /// Tells whether it was opened by a reader, who may see the contents of memories.
    pub(crate) fn is_reader(&self) -> bool {
        self.epoch.is_some()
    }

    /// Returns the key that fingerprints of findings are made with.
    pub(crate) fn fingerprints(&self) -> FingerprintKey {
        self.audit.fingerprints(self.store)
    }

    /// Seals the record of an event to the newest audit identity.
    pub(crate) fn seal_record(&self, plain: &[u8]) -> String {
        let newest = self.audit.identities.last();
        let newest = newest.expect("checked when the keyring was opened").again();
        self.records
            .next(move || newest.begin())
            .seal_armored(plain)
    }

    /// Opens the record of an event.
    pub(crate) fn open_record(&self, armored: &str) -> Result<Zeroizing<Vec<u8>>, OpenFault> {
        seal::open_armored(armored, &self.audit.identities)
    }

    /// Returns the store it belongs to.
    pub(crate) fn store(&self) -> StoreId {
        self.store
    }

    /// Returns the replica whose keyring it is; `None` in format 1.
    pub(crate) fn replica(&self) -> Option<ReplicaId> {
        self.audit.replica
    }

    /// Returns the key of the caches. A cache that opens is trusted like history, so a reader's key
    /// is one that auditors and former readers do not have.
    pub(crate) fn cache_key(&self) -> &Key {
        self.cache_key.get_or_init(|| {
            let secret = match &self.epoch {
                Some(epoch) => &epoch.key,
                None => &self.audit.names_key,
            };
            let derived = Zeroizing::new(keyed(secret.expose(), &[b"agekeep/2 cache key"]));
            Key::from_slice(&derived[..]).expect("32 bytes")
        })
    }

    /// Returns the name of a cache's file: auditors have their own.
    pub(crate) fn cache_name(&self, of_readers: Name, of_auditors: Name) -> Name {
        if self.epoch.is_some() {
            of_readers
        } else {
            of_auditors
        }
    }

    /// Tells whether its tables are of format 1, which binds entries to less.
    pub(crate) fn is_format_1(&self) -> bool {
        self.ring.as_ref().is_some_and(Table::is_format_1) || self.names.is_format_1()
    }

    /// Makes the keys of a new memory, and begins its first version. The keys are stored once their
    /// entries are written.
    pub(crate) fn new_memory(&self) -> (NewMemory, PreparedEncryptor) {
        self.new_memories.next(|| {
            let key = SealKey::generate();
            let begun = key.begin();
            let new = NewMemory {
                id: MemoryId::random(),
                key,
                name_key: Key::random(),
            };
            (new, begun)
        })
    }

    /// Seals entries for new memories, and for fresh identities of existing ones, for the next free
    /// slots.
    pub(crate) fn entries_for(
        &self,
        new: &[NewMemory],
        fresh: &[(MemoryId, SealKey)],
    ) -> Result<Vec<KeyEntry>> {
        if !(new.is_empty() && fresh.is_empty()) {
            self.ring()?.check_room(new.len() + fresh.len())?;
            self.names.check_room(new.len())?;
        }
        let mut entries = Vec::with_capacity(2 * new.len() + fresh.len());
        let keys = new.iter().map(|memory| (memory.id, &memory.key));
        let fresh = fresh.iter().map(|(id, key)| (*id, key));
        for (slot, (id, key)) in (self.counts().0..).zip(keys.chain(fresh)) {
            let secret = key.to_text();
            let epoch = &self.epoch()?.key;
            entries.push(KeyEntry {
                table: RING,
                slot,
                bytes: self.ring()?.seal(epoch, slot, id, secret.as_bytes()),
            });
        }
        for (slot, memory) in (self.names.next_slot()..).zip(new) {
            let (key, secret) = (&self.audit.names_key, memory.name_key.expose());
            entries.push(KeyEntry {
                table: NAMES,
                slot,
                bytes: self.names.seal(key, slot, memory.id, secret),
            });
        }
        Ok(entries)
    }

    /// Replays entries from the journal after an unclean stop. Not yet durable.
    ///
    /// A keyring newer than the journal already has them, re-encrypted: those stay as they are.
    ///
    /// # Errors
    /// [`Error::Damaged`] if they belong to another keyring than the one in place.
    pub(crate) fn replay(&mut self, entries: &[KeyEntry]) -> Result<()> {
        if self.are_own(entries) {
            return self.write(entries);
        }
        for entry in entries {
            let table = match entry.table {
                RING => self.ring()?,
                NAMES => &self.names,
                _ => continue,
            };
            if !table.has_in_slot(entry.slot, &entry.bytes)? {
                return Err(Error::damaged(
                    "the journal",
                    "its key entries belong to an earlier keyring than the present one, which \
                     lacks them; restore both from the same backup",
                ));
            }
        }
        Ok(())
    }

    /// Tells whether entries are sealed under the keys in place, as far as those are known.
    fn are_own(&self, entries: &[KeyEntry]) -> bool {
        entries.iter().all(|entry| match entry.table {
            RING => self
                .epoch
                .as_ref()
                .zip(self.ring.as_ref())
                .is_none_or(|(epoch, ring)| ring.is_own(&epoch.key, entry.slot, &entry.bytes)),
            NAMES => self
                .names
                .is_own(&self.audit.names_key, entry.slot, &entry.bytes),
            _ => true,
        })
    }

    /// Stages entries that will be written once the command that needs them is durable.
    pub(crate) fn stage(&mut self, entries: &[KeyEntry]) -> Result<()> {
        for entry in entries {
            self.table_mut(entry.table)?
                .stage(entry.slot, &entry.bytes)?;
        }
        Ok(())
    }

    /// Drops staged entries.
    pub(crate) fn unstage(&mut self) {
        let tables = self.ring.iter_mut().chain([&mut self.names]);
        tables.for_each(Table::unstage);
    }

    /// Writes entries to their slots, and puts staged keyrings in place. Not yet durable.
    pub(crate) fn write(&mut self, entries: &[KeyEntry]) -> Result<()> {
        for entry in entries {
            if entry.table == NEXT {
                self.install_staged(rotation::named(entry)?)?;
                continue;
            }
            self.table_mut(entry.table)?
                .write(entry.slot, &entry.bytes)?;
        }
        Ok(())
    }

    /// Makes everything written so far durable.
    pub(crate) fn sync(&self) -> Result<()> {
        self.ring.as_ref().map_or(Ok(()), Table::sync)?;
        self.names.sync()
    }

    /// Makes the entries of the keyring in a folder durable, whoever wrote them.
    pub(crate) fn sync_tables(folder: &Folder) -> Result<()> {
        let there = [Name::RING, Name::NAMES];
        // An auditor's copy of the keyring has no `ring`.
        let mut there = there.iter().filter(|name| folder.has(name));
        there.try_for_each(|name| {
            let synced = folder.sync_file(name);
            synced.map_err(folder.fault("sync", name))
        })
    }

    /// Returns the newest key of a memory: the present version is sealed to it, and the next will
    /// be.
    pub(crate) fn memory_key(&self, id: MemoryId) -> Result<SealKey> {
        if self.is_excluded_in_ring(id) {
            return Err(missing(id));
        }
        let key = &self.epoch()?.key;
        let found = self.ring()?.open_entry(key, id)?;
        identity_in(&found_in(found, id, &Name::RING)?, id)
    }

    /// Returns every key of a memory, newest first. Each opens the versions sealed while it was the
    /// newest.
    pub(crate) fn memory_keys(&self, id: MemoryId) -> Result<Vec<SealKey>> {
        if self.is_excluded_in_ring(id) {
            return Err(missing(id));
        }
        let key = &self.epoch()?.key;
        let entries = self.ring()?.open_entries(key, id)?;
        let mut keys = Vec::with_capacity(entries.len());
        let mut fault = missing(id);
        for entry in entries {
            // A damaged entry does not keep the other keys from opening their versions.
            match found_in(entry, id, &Name::RING).and_then(|plain| identity_in(&plain, id)) {
                Ok(key) => keys.push(key),
                Err(error) => fault = error,
            }
        }
        if keys.is_empty() {
            Err(fault)
        } else {
            Ok(keys)
        }
    }

    /// Checks that every entry of a memory in `ring` opens, those of older versions included.
    ///
    /// # Errors
    /// [`Error::Damaged`] if one does not, [`Error::MissingKey`] if there is none.
    pub(crate) fn check_entries_of(&self, id: MemoryId) -> Result<()> {
        let key = &self.epoch()?.key;
        let entries = self.ring()?.open_entries(key, id)?;
        if entries.is_empty() {
            return Err(missing(id));
        }
        entries
            .into_iter()
            .try_for_each(|entry| identity_in(&found_in(entry, id, &Name::RING)?, id).map(drop))
    }

    /// Tells whether a former reader may know the newest key of a memory, so that nothing new may
    /// be sealed to it.
    pub(crate) fn is_stale(&self, id: MemoryId) -> Result<bool> {
        self.ring()?.is_stale(id)
    }

    /// Returns the problems of the files as a whole.
    pub(crate) fn problems(&self) -> impl Iterator<Item = String> {
        let epoch = self.is_epoch_damaged.then(|| {
            let error = self.no_epoch();
            format!("{error}; {}", error.hint())
        });
        let tables = self.ring.iter().chain([&self.names]);
        epoch.into_iter().chain(tables.filter_map(Table::problem))
    }

    /// Returns what it has of the keys.
    pub(crate) fn held(&self) -> HeldKeys {
        let (ring, names) = self.counts();
        HeldKeys {
            epoch: self.epoch.as_ref().map_or(0, |epoch| epoch.number),
            names: self.audit.number,
            in_ring: ring,
            in_names: names,
        }
    }

    /// Returns the number of entries in `ring` and `names`, staged ones included.
    pub(crate) fn counts(&self) -> (u32, u32) {
        let ring = self.ring.as_ref().map_or(0, Table::next_slot);
        (ring, self.names.next_slot())
    }

    /// Returns the memories with an entry after the first `ring` entries of `ring`, and after the
    /// first `names` of `names`.
    pub(crate) fn ids_after(
        &self,
        (ring, names): (u32, u32),
    ) -> Result<(Vec<MemoryId>, Vec<MemoryId>)> {
        let in_ring = self.ring.as_ref();
        let in_ring = in_ring.map_or(Ok(Vec::new()), |table| table.ids_from(ring))?;
        Ok((in_ring, self.names.ids_from(names)?))
    }

    /// Counts the entries of a memory in `ring` after its first `known` of all memories, and all that it has.
    pub(crate) fn count_of(&self, id: MemoryId, known: u32) -> Result<(usize, usize)> {
        let slots = match &self.ring {
            Some(table) => table.slots(id, false)?,
            None => Vec::new(),
        };
        let new = slots.iter().filter(|slot| **slot >= known).count();
        Ok((new, slots.len()))
    }

    /// Returns digests of the first entries of `ring` and `names`; `None` if there are fewer.
    pub(crate) fn digests_of_first(
        &self,
        (ring, names): (u32, u32),
    ) -> Result<Option<(Digest, Digest)>> {
        let ring = match &self.ring {
            Some(table) => table.digest_of_first(ring)?,
            None => (ring == 0).then(|| Digest::of(b"")),
        };
        Ok(ring.zip(self.names.digest_of_first(names)?))
    }

    /// Tells whether the memory has a key in both tables.
    pub(crate) fn has(&self, id: MemoryId) -> Result<bool> {
        Ok(self.in_ring(id)? && self.in_names(id)?)
    }

    /// Tells whether there is a key that opens the memory's versions.
    pub(crate) fn in_ring(&self, id: MemoryId) -> Result<bool> {
        let is_there = || self.ring.as_ref().map_or(Ok(false), |ring| ring.has(id));
        Ok(!self.is_excluded_in_ring(id) && is_there()?)
    }

    /// Tells whether there is a key that opens the memory's paths.
    pub(crate) fn in_names(&self, id: MemoryId) -> Result<bool> {
        Ok(!self.shut.contains(&id) && self.names.has(id)?)
    }

    /// Returns the key that opens the paths of a memory in event records.
    pub(crate) fn name_key(&self, id: MemoryId) -> Result<Key> {
        if self.shut.contains(&id) {
            return Err(missing(id));
        }
        let found = self.names.open_entry(&self.audit.names_key, id)?;
        let plain = found_in(found, id, &Name::NAMES)?;
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

fn identity_in(plain: &[u8], id: MemoryId) -> Result<SealKey> {
    std::str::from_utf8(plain)
        .ok()
        .and_then(SealKey::parse)
        .ok_or_else(|| Error::damaged(format!("the ring entry of {id}"), "it holds no identity"))
}

fn missing(id: MemoryId) -> Error {
    Error::MissingKey {
        memory: id.to_string(),
    }
}

fn found_in(lookup: Lookup, id: MemoryId, table: &Name) -> Result<Zeroizing<Vec<u8>>> {
    match lookup {
        Lookup::Found(plain) => Ok(plain),
        Lookup::Absent => Err(missing(id)),
        Lookup::Damaged => Err(Error::damaged(
            format!("the {} entry of {id}", table.as_str()),
            "it does not open",
        )),
    }
}

/// Bytes of the secret in a `ring` entry, and in a `names` entry.
pub(crate) const RING_SECRET_BYTES: usize = seal::IDENTITY_CHARACTERS;
pub(crate) const NAMES_SECRET_BYTES: usize = 32;
pub(crate) const ENTRY_OVERHEAD_BYTES: usize = 16 + aead::OVERHEAD;

#[cfg(test)]
mod tests;
