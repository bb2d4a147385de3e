//! A keyring staged in a folder of its own, `next-<id>`, while the one in place stays as it is. The
//! journal record of its command names the folder, and only then do its files take their places:
//! after a crash either all of them count or none.
//!
//! ```text
//! keyring/next-<id>/for         the change it is for: only the same command resumes it
//! keyring/next-<id>/epoch.age audit.age ring names     the new files
//! keyring/next-<id>/mailbox.age the new mailbox, if there is one
//! keyring/next-<id>/resealed    memories re-encrypted to new identities so far
//! ```

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::{self, BufReader, Read};

use zeroize::Zeroizing;

use crate::crypto::digest::Digest;
use crate::crypto::recipients::{self, Member};
use crate::crypto::seal::SealKey;
use crate::disk::{self, FileExt, FileKind, Folder, Name, StagedKeyringId};
use crate::error::{Error, Result};
use crate::id::{MemoryId, ObjectId, StoreId};
use crate::journal::KeyEntry;
use crate::keyring::files::{Audit, Epoch};
use crate::keyring::table::{self, RewriteFilter, Table};
use crate::keyring::{
    ENTRY_OVERHEAD_BYTES, Keyring, NAMES, NEXT, RING, RING_SECRET_BYTES, mailbox,
};

/// The names of a keyring's files. `epoch.age` is last: the tables that it opens must be in place
/// first.
pub(crate) const FILES: [Name; 4] = [Name::RING, Name::NAMES, Name::AUDIT, Name::EPOCH];
/// What takes its place with them, if it is there.
const WITH_FILES: [Name; 1] = [Name::MAILBOX];

/// The purpose of a staged keyring that takes everything away which an auditor does not have.
pub(super) const FOR_AUDITOR: &[u8] = b"auditor\n";

/// Bytes of a line of `resealed`: a memory id and its new identity, sealed; then the source blob,
/// the new blob, and the digest of the new blob.
const SEALED_BYTES: usize = ENTRY_OVERHEAD_BYTES + RING_SECRET_BYTES;
const LINE_BYTES: usize = SEALED_BYTES + 20 + 20 + 32;

/// A staged keyring: a change of keys, put in place by the journal record of its command.
pub(crate) struct StagedKeyring {
    id: StagedKeyringId,
    /// The keyring's folder. `folder` is the staging folder in it.
    above: Folder,
    folder: Folder,
    store: StoreId,
    /// A new epoch, if contents get new keys.
    epoch: Option<Epoch>,
    audit: Option<Audit>,
    resealed: HashMap<MemoryId, ReencryptedVersion>,
}

/// A memory's present version, sealed to a new identity.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct ReencryptedVersion {
    pub(crate) id: MemoryId,
    /// The blob of the version whose text it has.
    pub(crate) from: ObjectId,
    pub(crate) blob: ObjectId,
    /// SHA-256 of the new blob.
    pub(crate) digest: Digest,
    /// The new identity, sealed under the new epoch key until it has a slot in `ring`.
    sealed: Vec<u8>,
}

impl Keyring {
    /// Stages the same keys, sealed to other members.
    pub(crate) fn prepare_wrap(&self, members: &[Member]) -> Result<StagedKeyring> {
        let next = self.begin()?;
        let written = self.write_wrapped(&next, members);
        written.inspect_err(|_| next.abort())?;
        Ok(next)
    }

    fn write_wrapped(&self, next: &StagedKeyring, members: &[Member]) -> Result<()> {
        let unlock = self.identity.unlock();
        let (epoch, audit, folder) = (self.epoch()?, &self.audit, &next.folder);
        epoch.write(folder, self.store, members, unlock)?;
        audit.write(folder, self.store, members, unlock)?;
        self.folder.sync()
    }

    /// Stages new keys for audit records and, with `content`, for memories; or resumes an
    /// interrupted rotation for the same purpose.
    pub(crate) fn prepare_rotation(
        &self,
        members: &[Member],
        content: bool,
    ) -> Result<StagedKeyring> {
        let said = self.purpose(members, content);
        for id in self.prepared()? {
            let folder = self.folder.sub(&Name::next(id));
            if let Ok(folder) = folder
                && folder
                    .read(&Name::FOR)
                    .is_ok_and(|found| found == said.as_bytes())
                && let Ok(next) = self.resume(id, folder, content)
            {
                return Ok(next);
            }
        }
        let mut next = self.begin()?;
        let written = self.write_rotated(&mut next, members, content, &said);
        written.inspect_err(|_| next.abort())?;
        Ok(next)
    }

    fn write_rotated(
        &self,
        next: &mut StagedKeyring,
        members: &[Member],
        content: bool,
        said: &str,
    ) -> Result<()> {
        let audit = self.audit.next(self.store);
        let unlock = self.identity.unlock();
        audit.write(&next.folder, self.store, members, unlock)?;
        next.audit = Some(audit);
        mailbox::renew(&self.folder, &next.folder, self.store, &self.identity)?;
        if content {
            let epoch = self.epoch()?.next(0);
            epoch.write(&next.folder, self.store, members, unlock)?;
            next.epoch = Some(epoch);
        }
        // Written last, so that only a complete folder is resumed.
        next.folder
            .replace_durably(&Name::FOR, said.as_bytes(), 0o600)?;
        self.folder.sync()
    }

    /// Returns the purpose of a staged keyring, as its folder states it.
    fn purpose(&self, members: &[Member], content: bool) -> String {
        let keys = if content { "all" } else { "audit" };
        let members = Digest::of(recipients::to_file(members).as_bytes());
        let epoch = self.epoch.as_ref().map_or(0, |epoch| epoch.number);
        format!(
            "2 {keys} after {epoch} {} for {members}\n",
            self.audit.number
        )
    }

    /// Makes a new staging folder, and removes all earlier ones.
    fn begin(&self) -> Result<StagedKeyring> {
        remove_staged(&self.folder)?;
        let id = StagedKeyringId::random();
        Ok(StagedKeyring {
            id,
            above: self.folder.clone(),
            folder: self.folder.make_private(&Name::next(id))?,
            store: self.store,
            epoch: None,
            audit: None,
            resealed: HashMap::new(),
        })
    }

    fn prepared(&self) -> Result<Vec<StagedKeyringId>> {
        prepared(&self.folder).map_err(Error::io("read", self.folder.path()))
    }

    fn resume(&self, id: StagedKeyringId, folder: Folder, content: bool) -> Result<StagedKeyring> {
        let epoch = content.then(|| Epoch::read(&folder, self.store, &self.identity));
        let mut next = StagedKeyring {
            id,
            above: self.folder.clone(),
            epoch: epoch.transpose()?,
            audit: Some(Audit::read(&folder, self.store, &self.identity)?),
            store: self.store,
            resealed: HashMap::new(),
            folder,
        };
        next.read_list()
            .map_err(next.folder.fault("read", &Name::RESEALED))?;
        next.rewrite_list()?;
        Ok(next)
    }

    /// Writes the rest of a staged keyring, durably: `ring` with the new identities of `live`, and
    /// `names`.
    pub(crate) fn complete(&self, next: &StagedKeyring, live: &[MemoryId]) -> Result<()> {
        if let Some(new) = &next.epoch {
            let done = live.iter().filter_map(|id| next.resealed.get(id));
            let secrets = done.map(|done| {
                let secret = done.secret(self.store, new);
                let secret = secret.ok_or_else(|| Error::damaged("resealed", "it changed"));
                secret.map(|secret| (done.id, secret))
            });
            let entries = secrets.collect::<Result<Vec<_>>>()?.into_iter();
            let key = &self.epoch()?.key;
            self.ring()?.rewrite(
                &next.folder,
                key,
                (new.number, &new.key),
                EVERYTHING_KNOWN,
                entries,
            )?;
        }
        if let Some(new) = &next.audit {
            let (key, none) = (&self.audit.names_key, std::iter::empty());
            let epoch = (new.number, &new.names_key);
            self.names
                .rewrite(&next.folder, key, epoch, EVERYTHING_KNOWN, none)?;
        }
        next.folder.sync()
    }

    /// Stages, durably, a keyring under a new epoch key and a new names key. It has no key of the
    /// memories in `gone.0`, no `ring` key of those in `gone.1`, and only the fresh identity of
    /// those in `fresh`.
    pub(crate) fn prepare_erasure(
        &self,
        members: &[Member],
        gone: (&HashSet<MemoryId>, &HashSet<MemoryId>),
        fresh: &[(MemoryId, SealKey)],
        least: (u64, u64),
    ) -> Result<StagedKeyring> {
        let mut next = self.begin()?;
        let written = self.write_without(&mut next, members, gone, fresh, least);
        written.inspect_err(|_| next.abort())?;
        Ok(next)
    }

    /// Returns the secrets in the two tables, each with its table, memory, slot and digest.
    fn secrets(&self) -> Result<Vec<(u8, MemoryId, u32, Digest)>> {
        let names = self.names.digests(&self.audit.names_key)?;
        let ring = match (&self.epoch, &self.ring) {
            (Some(epoch), Some(ring)) => ring.digests(&epoch.key)?,
            _ => Vec::new(),
        };
        let of = |table, (id, slot, digest)| (table, id, slot, digest);
        let ring = ring.into_iter().map(|found| of(RING, found));
        Ok(ring
            .chain(names.into_iter().map(|found| of(NAMES, found)))
            .collect())
    }

    /// Returns digests of the keys that are no memory's.
    fn digests_of_others(&self) -> HashSet<Digest> {
        let audit = &self.audit;
        let keys = [Some(&audit.names_key), audit.fingerprint_key.as_ref()];
        let epoch = self.epoch.as_ref().map(|epoch| &epoch.key);
        let keys = keys.into_iter().chain([epoch]).flatten();
        let keys = keys.map(|key| table::digest_of_secret(key.expose()));
        let identities = audit.identities.iter();
        let identities = identities.map(|key| table::digest_of_secret(&secret_of(key)));
        keys.chain(identities).collect()
    }

    /// Returns the memories that have a key which stands somewhere else in the keyring, too: an erasure
    /// would leave it there.
    pub(crate) fn ids_with_shared_keys(&self) -> Result<BTreeSet<MemoryId>> {
        let (others, mut first) = (self.digests_of_others(), HashMap::new());
        let mut shared = BTreeSet::new();
        for (table, id, _, digest) in self.secrets()? {
            let owner = *first.entry(digest).or_insert((table, id));
            if owner != (table, id) || others.contains(&digest) {
                shared.extend([owner.1, id]);
            }
        }
        Ok(shared)
    }

    /// Returns the slots in `ring` and in `names` of other entries that hold a key which is to go.
    ///
    /// # Errors
    /// [`Error::Damaged`] if a memory needs such an entry, or `audit.age` or `epoch.age` holds such a key.
    fn copies_of(
        &self,
        (in_ring, in_names): (&HashSet<MemoryId>, &HashSet<MemoryId>),
    ) -> Result<[HashSet<u32>; 2]> {
        let secrets = self.secrets()?;
        let goes = |table: u8, id: &MemoryId| match table {
            RING => in_ring.contains(id),
            _ => in_names.contains(id),
        };
        let gone = secrets.iter().filter(|(table, id, ..)| goes(*table, id));
        let gone: HashSet<Digest> = gone.map(|(.., digest)| *digest).collect();
        if !self.digests_of_others().is_disjoint(&gone) {
            return Err(Error::damaged_with_hint(
                "audit.age",
                "it also holds a key of a memory that is to be erased, and the key would stay",
                "a reader wrote it: find out who, and restore the keyring from the backup that belongs to \
                 this repository",
            ));
        }
        let mut copies = [HashSet::new(), HashSet::new()];
        let mut needs = HashMap::new();
        for (table, id, slot, digest) in &secrets {
            if goes(*table, id) {
                continue;
            }
            let is_copy = gone.contains(digest);
            if is_copy {
                copies[usize::from(*table)].insert(*slot);
            }
            // Of `ring` the last entry is in use, and of `names` any will do.
            let needs = needs.entry((*table, *id)).or_insert(true);
            *needs = is_copy && (*table == RING || *needs);
        }
        match needs.into_iter().find(|(_, needs)| *needs) {
            None => Ok(copies),
            Some(((table, id), _)) => Err(Error::damaged_with_hint(
                format!(
                    "an entry of {id} in {}",
                    if table == RING { "ring" } else { "names" }
                ),
                "it also holds a key of a memory that is to be erased, and the key would stay",
                if table == RING {
                    "a reader wrote it: find out who, and give the memory with this id a new key with \
                     `agekeep keys replace`"
                } else {
                    "a reader wrote it: find out who, and erase the memory with this id too"
                },
            )),
        }
    }

    fn write_without(
        &self,
        next: &mut StagedKeyring,
        members: &[Member],
        (gone, gone_in_ring): (&HashSet<MemoryId>, &HashSet<MemoryId>),
        fresh: &[(MemoryId, SealKey)],
        least: (u64, u64),
    ) -> Result<()> {
        let (unlock, folder) = (self.identity.unlock(), &next.folder);
        let epoch = self.epoch()?.next(least.0);
        let audit = self.audit.with_new_names_key(self.store, least.1);
        epoch.write(folder, self.store, members, unlock)?;
        audit.write(folder, self.store, members, unlock)?;
        mailbox::renew(&self.folder, folder, self.store, &self.identity)?;
        let replaced = fresh.iter().map(|(id, _)| *id);
        let without = gone.iter().chain(gone_in_ring).copied();
        let without: HashSet<MemoryId> = without.chain(replaced).collect();
        let [in_ring, in_names] = self.copies_of((&without, gone))?;
        let entries = fresh.iter().map(|(id, key)| (*id, secret_of(key)));
        let (key, new) = (&self.epoch()?.key, (epoch.number, &epoch.key));
        self.ring()?
            .rewrite(folder, key, new, leaving(&without, &in_ring), entries)?;
        let (key, new) = (&self.audit.names_key, (audit.number, &audit.names_key));
        let none = std::iter::empty();
        self.names
            .rewrite(folder, key, new, leaving(gone, &in_names), none)?;
        folder.sync()?;
        self.folder.sync()?;
        (next.epoch, next.audit) = (Some(epoch), Some(audit));
        Ok(())
    }

    /// Returns the keyring as it will be once the staged files are in place.
    pub(crate) fn after(&self, next: &StagedKeyring) -> Result<Self> {
        let ring = match &next.epoch {
            Some(new) => {
                let epoch = Some((new.number, &new.key));
                Table::open(&next.folder, &table::RING, self.store, epoch)?
            }
            None => Table::open(&self.folder, &table::RING, self.store, None)?,
        };
        let audit = next.audit.as_ref().unwrap_or(&self.audit).again();
        let of_names = Some((audit.number, &audit.names_key));
        let names = Table::open(&next.folder, &table::NAMES, self.store, of_names)?;
        let epoch = next.epoch.as_ref().or(self.epoch.as_ref());
        let keys = (epoch.map(Epoch::again), audit);
        let (folder, identity) = (self.folder.clone(), self.identity.clone());
        Ok(Self {
            is_epoch_damaged: next.epoch.is_none() && self.is_epoch_damaged,
            before: self.epoch.as_ref().map(Epoch::authority),
            ..Self::of(folder, self.store, identity, keys, (Some(ring), names))
        })
    }

    /// Moves the files of a staged keyring into place.
    pub(super) fn install_staged(&mut self, id: StagedKeyringId) -> Result<()> {
        install_staged_files(&self.folder, id)?;
        self.are_now_in_place();
        let mut tables = self.ring.iter().chain([&self.names]);
        if tables.all(|table| table.is_in(&self.folder)) {
            return Ok(());
        }
        let folder = self.folder.path().display().to_string();
        Err(Error::damaged(folder, "its staged files are gone"))
    }
}

impl StagedKeyring {
    /// Returns its entry for the journal.
    pub(crate) fn entry(&self) -> KeyEntry {
        entry_of(self.id)
    }

    /// Returns the re-encrypted version of a memory whose present version is in blob `from`.
    pub(crate) fn reencrypted(&self, id: MemoryId, from: ObjectId) -> Option<&ReencryptedVersion> {
        self.resealed.get(&id).filter(|done| done.from == from)
    }

    /// Forgets re-encrypted versions that are not whole.
    pub(crate) fn retain(&mut self, is_whole: impl Fn(&ReencryptedVersion) -> bool) {
        self.resealed.retain(|_, done| is_whole(done));
    }

    /// Returns the line for a memory that was sealed to a new identity.
    pub(crate) fn reencrypt(
        &self,
        id: MemoryId,
        key: &SealKey,
        from: ObjectId,
        (blob, digest): (ObjectId, Digest),
    ) -> ReencryptedVersion {
        let epoch = self.epoch.as_ref().expect("made ready for content");
        let context = line_context(self.store, epoch.number, id);
        let sealed = epoch.key.seal(&context, &secret_of(key));
        ReencryptedVersion {
            id,
            from,
            blob,
            digest,
            sealed,
        }
    }

    /// Stores re-encrypted versions, so that they need not be made again. Not yet durable.
    pub(crate) fn save_progress(&mut self, done: Vec<ReencryptedVersion>) -> Result<()> {
        let lines: Vec<u8> = done.iter().flat_map(ReencryptedVersion::to_line).collect();
        let opened = self.folder.open_or_make(&Name::RESEALED, 0o600);
        opened
            .and_then(|file| file.write_all_at(&lines, disk::length(&file)?))
            .map_err(self.folder.fault("write", &Name::RESEALED))?;
        for done in done {
            self.resealed.insert(done.id, done);
        }
        Ok(())
    }

    /// Removes the staged keyring, which nothing names. Leftovers are removed by the next change of
    /// keys.
    pub(crate) fn abort(&self) {
        drop(remove(&self.above, self.id));
    }

    /// Tells whether it is still staged in that keyring's folder: another command may have begun
    /// anew, or the keyring may have moved.
    pub(crate) fn is_still_staged_for(&self, keyring: &Keyring) -> bool {
        let there = keyring.folder.sub(&Name::next(self.id));
        there.is_ok_and(|there| there.is(&self.folder).unwrap_or(false))
    }

    /// Reads the list of re-encrypted versions. Lines that are cut short or do not open are redone.
    fn read_list(&mut self) -> io::Result<()> {
        let file = match self.folder.open_read(&Name::RESEALED) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            file => file?,
        };
        let (lines, mut file) = (
            disk::length(&file)? / LINE_BYTES as u64,
            BufReader::new(file),
        );
        let mut line = [0; LINE_BYTES];
        for _ in 0..lines {
            file.read_exact(&mut line)?;
            let done = ReencryptedVersion::from_line(&line);
            if self.opens(&done) {
                self.resealed.insert(done.id, done);
            }
        }
        Ok(())
    }

    fn opens(&self, done: &ReencryptedVersion) -> bool {
        let epoch = self.epoch.as_ref();
        epoch.is_some_and(|epoch| done.secret(self.store, epoch).is_some())
    }

    fn rewrite_list(&self) -> Result<()> {
        let lines: Vec<u8> = self
            .resealed
            .values()
            .flat_map(ReencryptedVersion::to_line)
            .collect();
        self.folder.replace(&Name::RESEALED, &lines, 0o600)
    }
}

/// Returns the entry for the journal that puts a staged keyring in place.
pub(super) fn entry_of(id: StagedKeyringId) -> KeyEntry {
    KeyEntry {
        table: NEXT,
        slot: 0,
        bytes: id.to_string().into_bytes(),
    }
}

/// Keeps every entry, and counts all as known to somebody who left.
const EVERYTHING_KNOWN: RewriteFilter<'_> = RewriteFilter {
    without: None,
    slots: None,
    all_known: true,
};

/// Omits the entries of some memories, and some of others; the rest are known to nobody more than before.
fn leaving<'a>(without: &'a HashSet<MemoryId>, slots: &'a HashSet<u32>) -> RewriteFilter<'a> {
    RewriteFilter {
        without: Some(without),
        slots: Some(slots),
        all_known: false,
    }
}

/// Returns the secret that an entry of `ring` holds of an identity.
fn secret_of(key: &SealKey) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(key.to_text().as_bytes().to_vec())
}

/// Returns the associated data of the identity in a line of `resealed`.
fn line_context(store: StoreId, epoch: u64, id: MemoryId) -> Vec<u8> {
    let label = b"agekeep/2 resealed ".as_slice();
    [label, &store.0, &epoch.to_le_bytes(), &id.0].concat()
}

impl ReencryptedVersion {
    /// Returns the new identity, if the line was made with the key of this epoch.
    fn secret(&self, store: StoreId, epoch: &Epoch) -> Option<Zeroizing<Vec<u8>>> {
        let context = line_context(store, epoch.number, self.id);
        epoch.key.open(&context, &self.sealed)
    }

    fn to_line(&self) -> Vec<u8> {
        let (id, from, blob) = (&self.id.0[..], &self.from.0[..], &self.blob.0[..]);
        [id, &self.sealed, from, blob, &self.digest.0].concat()
    }

    fn from_line(line: &[u8]) -> Self {
        let (entry, rest) = line.split_at(SEALED_BYTES);
        let twenty = |at: usize| ObjectId(rest[at..at + 20].try_into().expect("twenty bytes"));
        Self {
            id: MemoryId(entry[..16].try_into().expect("sixteen bytes")),
            from: twenty(0),
            blob: twenty(20),
            digest: Digest(rest[40..].try_into().expect("thirty-two bytes")),
            sealed: entry[16..].to_vec(),
        }
    }
}

fn prepared(folder: &Folder) -> io::Result<Vec<StagedKeyringId>> {
    folder.list_of(StagedKeyringId::of_folder)
}

/// Tells whether a change of keys was begun in a keyring's folder and neither finished nor
/// aborted.
pub(crate) fn has_staged(folder: &Folder) -> bool {
    prepared(folder).is_ok_and(|found| !found.is_empty())
}

/// Moves the files of a staged keyring into place, unless that is done already. The files are
/// durable already; their new names are once this returns.
pub(crate) fn install_staged_files(folder: &Folder, id: StagedKeyringId) -> Result<()> {
    let next = match folder.sub(&Name::next(id)) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        next => next.map_err(folder.fault("open", &Name::next(id)))?,
    };
    if next
        .read(&Name::FOR)
        .is_ok_and(|purpose| purpose == FOR_AUDITOR)
    {
        for name in [Name::RING, Name::EPOCH] {
            let removed = disk::if_there(folder.remove(&name));
            removed.map_err(folder.fault("remove", &name))?;
        }
    }
    let mut there = Vec::new();
    for name in WITH_FILES.into_iter().chain(FILES) {
        let is_there = next.has_that_is(&name, FileKind::File);
        if is_there.map_err(next.fault("open", &name))? {
            there.push(name);
        }
    }
    for name in there {
        let placed = next.rename_into(&name, folder, &name);
        placed.map_err(folder.fault("put in place", &name))?;
    }
    folder.sync()?;
    match remove(folder, id) {
        // Files that somebody else put there do no harm.
        Err(e) if e.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        removed => removed.map_err(folder.fault("remove", &Name::next(id))),
    }
}

/// Removes the files a staged keyring can have, and then its folder, if nothing else is in it.
fn remove(folder: &Folder, id: StagedKeyringId) -> io::Result<()> {
    let next = match folder.sub(&Name::next(id)) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        next => next?,
    };
    let others = [Name::FOR, Name::RESEALED];
    for name in FILES.iter().chain(&WITH_FILES).chain(&others) {
        disk::if_there(next.remove(name))?;
    }
    next.remove_temporary_files();
    folder.remove_folder(&Name::next(id))
}

/// Copies the files of a keyring into an empty folder, durably.
pub(crate) fn copy_files(from: &Folder, to: &Folder) -> Result<()> {
    for name in FILES.iter().chain(&WITH_FILES) {
        // An auditor's copy lacks two, and only `sync` makes a mailbox.
        if from.has(name) {
            let bytes = from.read(name).map_err(from.fault("read", name))?;
            to.replace_durably(name, &bytes, 0o600)?;
        }
    }
    Ok(())
}

/// Removes the files of a keyring that was being created.
pub(crate) fn remove_files(folder: &Folder) {
    for name in FILES.iter().chain(&WITH_FILES) {
        drop(folder.remove(name));
    }
    folder.remove_temporary_files();
}

/// Removes what backups and mail were restored to in a keyring's folder, and no record names any more. A change
/// of keys that was begun stays: the same command goes on with it.
pub(crate) fn remove_staged_backups(folder: &Folder) -> Result<()> {
    for id in prepared(folder).map_err(Error::io("read", folder.path()))? {
        let purpose = folder
            .sub(&Name::next(id))
            .and_then(|next| next.read(&Name::FOR));
        if !purpose.is_ok_and(|purpose| purpose != FOR_AUDITOR) {
            remove(folder, id).map_err(folder.fault("remove", &Name::next(id)))?;
        }
    }
    Ok(())
}

/// Removes every keyring that is staged in a folder, which no record of the journal may name any more.
pub(crate) fn remove_staged(folder: &Folder) -> Result<()> {
    for id in prepared(folder).map_err(Error::io("read", folder.path()))? {
        remove(folder, id).map_err(folder.fault("remove", &Name::next(id)))?;
    }
    Ok(())
}

/// Returns a file of a keyring that is still in its folder.
pub(crate) fn file_left(folder: &Folder) -> Option<Name> {
    let mut names = FILES.into_iter().chain(WITH_FILES);
    names.find(|name| folder.has(name))
}

/// Returns the staged keyring that a record of the journal puts in place.
pub(crate) fn staged_id_of(entries: &[KeyEntry]) -> Result<Option<StagedKeyringId>> {
    let found = entries.iter().find(|entry| entry.table == NEXT);
    found.map(named).transpose()
}

/// Returns the staged keyring that a key entry puts in place.
pub(super) fn named(entry: &KeyEntry) -> Result<StagedKeyringId> {
    StagedKeyringId::parse(&entry.bytes).ok_or_else(|| {
        Error::damaged(
            "the journal",
            "it names a staged keyring that does not \
                                                      exist",
        )
    })
}
