//! A keyring that is being made ready in a folder of its own, `next-<id>`, while the one in place
//! stays as it is. The record of the command it belongs to names it, and then its files take their
//! places: after a crash either all of it counts or nothing.
//!
//! ```text
//! keyring/next-<id>/for         what it is for: it is gone on with only by the same command
//! keyring/next-<id>/epoch.age audit.age ring names     those that are new
//! keyring/next-<id>/resealed    memories that were sealed to a new identity so far
//! ```

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use zeroize::Zeroizing;

use super::files::{AUDIT_FILE, Audit, EPOCH_FILE, Epoch};
use super::table::{self, Leaving, Table};
use super::{ENTRY_OVERHEAD_BYTES, Keyring, NAMES_FILE, NEXT, RING_FILE, RING_SECRET_BYTES};
use crate::aead;
use crate::ahead::Ahead;
use crate::digest::Digest;
use crate::disk;
use crate::error::{Error, Result};
use crate::id::{MemoryId, StoreId, hex};
use crate::journal::KeyEntry;
use crate::recipients::{self, Member};
use crate::repository::object::ObjectId;
use crate::seal::SealKey;

/// Begins the name of its folder.
const PREFIX: &str = "next-";
const FOR_FILE: &str = "for";
const RESEALED_FILE: &str = "resealed";
/// Every name a file of a keyring has. `epoch.age` is last: what it opens has to be there.
pub(crate) const FILES: [&str; 4] = [RING_FILE, NAMES_FILE, AUDIT_FILE, EPOCH_FILE];

/// Bytes of a line of `resealed`: a memory id and its new identity, sealed, then the blob it was made
/// of, the one that was made, and the digest of that.
const SEALED_BYTES: usize = ENTRY_OVERHEAD_BYTES + RING_SECRET_BYTES;
const LINE_BYTES: usize = SEALED_BYTES + 20 + 20 + 32;

/// A keyring that is being made ready.
pub(crate) struct Next {
    folder: PathBuf,
    store: StoreId,
    /// A new epoch, if content gets new keys.
    epoch: Option<Epoch>,
    audit: Option<Audit>,
    resealed: HashMap<MemoryId, Resealed>,
}

/// A memory's present version, sealed to a new identity.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Resealed {
    pub(crate) id: MemoryId,
    /// The blob of the version it has the text of.
    pub(crate) from: ObjectId,
    pub(crate) blob: ObjectId,
    /// SHA-256 of that blob.
    pub(crate) digest: Digest,
    /// The new identity, sealed under the new epoch key until it has a slot in `ring`.
    sealed: Vec<u8>,
}

impl Keyring {
    /// Makes ready the same keys, sealed to other members.
    pub(crate) fn prepare_wrap(&self, members: &[Member]) -> Result<Next> {
        let next = self.begin()?;
        let written = self.write_wrapped(&next, members);
        written.inspect_err(|_| next.give_up())?;
        Ok(next)
    }

    fn write_wrapped(&self, next: &Next, members: &[Member]) -> Result<()> {
        let unlock = self.identity.unlock();
        let readers = recipients::readers(members);
        self.epoch()?
            .write(&next.folder, self.store, &readers, unlock)?;
        let everyone = recipients::everyone(members);
        self.audit
            .write(&next.folder, self.store, &everyone, unlock)?;
        disk::sync_folder(&self.folder)
    }

    /// Begins to make ready new keys for audit records, and, with `content`, for memories; or goes
    /// on where the same was begun and cut off.
    pub(crate) fn prepare_rotation(&self, members: &[Member], content: bool) -> Result<Next> {
        let said = self.purpose(members, content);
        for folder in self.prepared()? {
            if fs::read_to_string(folder.join(FOR_FILE)).is_ok_and(|found| found == said)
                && let Ok(next) = self.go_on(folder, content)
            {
                return Ok(next);
            }
        }
        let mut next = self.begin()?;
        let written = self.write_rotated(&mut next, members, content, &said);
        written.inspect_err(|_| next.give_up())?;
        Ok(next)
    }

    fn write_rotated(
        &self,
        next: &mut Next,
        members: &[Member],
        content: bool,
        said: &str,
    ) -> Result<()> {
        let audit = self.audit.next(self.store);
        let unlock = self.identity.unlock();
        let everyone = recipients::everyone(members);
        audit.write(&next.folder, self.store, &everyone, unlock)?;
        next.audit = Some(audit);
        if content {
            let epoch = self.epoch()?.next(0);
            let readers = recipients::readers(members);
            epoch.write(&next.folder, self.store, &readers, unlock)?;
            next.epoch = Some(epoch);
        }
        // Last, so that only what is whole is gone on with.
        disk::replace_durably(&next.folder.join(FOR_FILE), said.as_bytes(), 0o600)?;
        disk::sync_folder(&self.folder)
    }

    /// What a keyring is made ready for, as its folder says it.
    fn purpose(&self, members: &[Member], content: bool) -> String {
        let keys = if content { "all" } else { "audit" };
        let members = Digest::of(recipients::to_file(members).as_bytes());
        let epoch = self.epoch.as_ref().map_or(0, |epoch| epoch.number);
        format!(
            "2 {keys} after {epoch} {} for {members}\n",
            self.audit.number
        )
    }

    /// A new folder; what was begun before for something else is given up.
    fn begin(&self) -> Result<Next> {
        for folder in self.prepared()? {
            fs::remove_dir_all(&folder).map_err(Error::io("remove", &folder))?;
        }
        let folder = self
            .folder
            .join(format!("{PREFIX}{}", hex(&aead::random::<16>())));
        disk::make_private_folder(&folder)?;
        Ok(Next {
            folder,
            store: self.store,
            epoch: None,
            audit: None,
            resealed: HashMap::new(),
        })
    }

    fn prepared(&self) -> Result<Vec<PathBuf>> {
        prepared(&self.folder).map_err(Error::io("read", &self.folder))
    }

    fn go_on(&self, folder: PathBuf, content: bool) -> Result<Next> {
        let epoch = content.then(|| Epoch::read(&folder, self.store, &self.identity));
        let mut next = Next {
            epoch: epoch.transpose()?,
            audit: Some(Audit::read(&folder, self.store, &self.identity)?),
            store: self.store,
            resealed: HashMap::new(),
            folder,
        };
        let lines = match fs::read(next.folder.join(RESEALED_FILE)) {
            Ok(lines) => lines,
            Err(e) if e.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(e) => return Err(Error::io("read", &next.folder)(e)),
        };
        for line in lines.chunks_exact(LINE_BYTES) {
            let done = Resealed::from_line(line);
            // What was cut short or does not open is made again.
            if next.opens(&done) {
                next.resealed.insert(done.id, done);
            }
        }
        next.rewrite_list()?;
        Ok(next)
    }

    /// Writes what is left to write, durably: `ring` with the identities of `live`, and `names`.
    pub(crate) fn complete(&self, next: &Next, live: &[MemoryId]) -> Result<()> {
        if let Some(new) = &next.epoch {
            let done = live.iter().filter_map(|id| next.resealed.get(id));
            let secrets = done.map(|done| {
                let secret = done.secret(self.store, new);
                let secret = secret.ok_or_else(|| Error::damaged(RESEALED_FILE, "it changed"));
                secret.map(|secret| (done.id, secret))
            });
            let entries = secrets.collect::<Result<Vec<_>>>()?.into_iter();
            let path = next.folder.join(RING_FILE);
            let key = &self.epoch()?.key;
            self.ring.rewrite(
                &path,
                key,
                (new.number, &new.key),
                EVERYTHING_KNOWN,
                entries,
            )?;
        }
        if let Some(new) = &next.audit {
            let path = next.folder.join(NAMES_FILE);
            let (key, none) = (&self.audit.names_key, std::iter::empty());
            let epoch = (new.number, &new.names_key);
            self.names
                .rewrite(&path, key, epoch, EVERYTHING_KNOWN, none)?;
        }
        disk::sync_folder(&next.folder)
    }

    /// Makes ready, durably, a keyring without any key of some memories, and of others without what
    /// is in `ring`, under a new epoch key and a new names key; memories with a fresh identity have
    /// no other in it.
    pub(crate) fn prepare_erasure(
        &self,
        members: &[Member],
        gone: (&HashSet<MemoryId>, &HashSet<MemoryId>),
        fresh: &[(MemoryId, SealKey)],
        least: (u64, u64),
    ) -> Result<Next> {
        let mut next = self.begin()?;
        let written = self.write_without(&mut next, members, gone, fresh, least);
        written.inspect_err(|_| next.give_up())?;
        Ok(next)
    }

    fn write_without(
        &self,
        next: &mut Next,
        members: &[Member],
        (gone, gone_in_ring): (&HashSet<MemoryId>, &HashSet<MemoryId>),
        fresh: &[(MemoryId, SealKey)],
        least: (u64, u64),
    ) -> Result<()> {
        let (unlock, folder) = (self.identity.unlock(), &next.folder);
        let epoch = self.epoch()?.next(least.0);
        let audit = self.audit.with_new_names_key(self.store, least.1);
        epoch.write(folder, self.store, &recipients::readers(members), unlock)?;
        audit.write(folder, self.store, &recipients::everyone(members), unlock)?;
        let replaced = fresh.iter().map(|(id, _)| *id);
        let without = gone.iter().chain(gone_in_ring).copied();
        let without: HashSet<MemoryId> = without.chain(replaced).collect();
        let entries = fresh.iter().map(|(id, key)| (*id, secret_of(key)));
        let (key, new) = (&self.epoch()?.key, (epoch.number, &epoch.key));
        let path = folder.join(RING_FILE);
        self.ring
            .rewrite(&path, key, new, leaving(&without), entries)?;
        let (key, new) = (&self.audit.names_key, (audit.number, &audit.names_key));
        let path = folder.join(NAMES_FILE);
        let none = std::iter::empty();
        self.names.rewrite(&path, key, new, leaving(gone), none)?;
        disk::sync_folder(folder)?;
        disk::sync_folder(&self.folder)?;
        (next.epoch, next.audit) = (Some(epoch), Some(audit));
        Ok(())
    }

    /// The keyring as it is once the files made ready are in their places.
    pub(crate) fn after(&self, next: &Next) -> Result<Self> {
        let ring = match &next.epoch {
            Some(new) => {
                let path = next.folder.join(RING_FILE);
                Table::open(
                    &path,
                    &table::RING,
                    self.store,
                    Some((new.number, &new.key)),
                )?
            }
            None => Table::open(&self.folder.join(RING_FILE), &table::RING, self.store, None)?,
        };
        let authority = self.epoch.as_ref().map(Epoch::authority);
        let audit = next.audit.as_ref().unwrap_or(&self.audit).again();
        let names = next.folder.join(NAMES_FILE);
        Ok(Self {
            folder: self.folder.clone(),
            store: self.store,
            identity: self.identity.clone(),
            epoch: next
                .epoch
                .as_ref()
                .or(self.epoch.as_ref())
                .map(Epoch::again),
            is_epoch_damaged: next.epoch.is_none() && self.is_epoch_damaged,
            ring,
            names: {
                let epoch = Some((audit.number, &audit.names_key));
                Table::open(&names, &table::NAMES, self.store, epoch)?
            },
            audit,
            before: authority,
            marks: OnceLock::new(),
            cache_key: OnceLock::new(),
            shut: HashSet::new(),
            shut_in_ring: HashSet::new(),
            records: Ahead::default(),
            new_memories: Ahead::default(),
        })
    }

    /// Puts the files of a keyring that was made ready in their places.
    pub(super) fn put_in_place(&mut self, id: &[u8]) -> Result<()> {
        take_next(&self.folder, id)?;
        self.ring.is_now_at(self.folder.join(RING_FILE));
        self.names.is_now_at(self.folder.join(NAMES_FILE));
        if self.ring.is_in(&self.folder) && self.names.is_in(&self.folder) {
            return Ok(());
        }
        let folder = self.folder.display().to_string();
        Err(Error::damaged(folder, "what was made ready for it is gone"))
    }
}

impl Next {
    /// What the journal says of it.
    pub(crate) fn entry(&self) -> KeyEntry {
        let name = self.folder.file_name().and_then(|name| name.to_str());
        let id = name.and_then(|name| name.strip_prefix(PREFIX));
        KeyEntry {
            table: NEXT,
            slot: 0,
            bytes: id.expect("it was named so").as_bytes().to_vec(),
        }
    }

    /// What was done for a memory whose present version is in this blob.
    pub(crate) fn resealed(&self, id: MemoryId, from: ObjectId) -> Option<&Resealed> {
        self.resealed.get(&id).filter(|done| done.from == from)
    }

    /// Forgets what was done where what was made is not whole.
    pub(crate) fn retain(&mut self, is_whole: impl Fn(&Resealed) -> bool) {
        self.resealed.retain(|_, done| is_whole(done));
    }

    /// The entry of a memory's new identity, with what it was used for.
    pub(crate) fn reseal(
        &self,
        id: MemoryId,
        key: &SealKey,
        from: ObjectId,
        (blob, digest): (ObjectId, Digest),
    ) -> Resealed {
        let epoch = self.epoch.as_ref().expect("made ready for content");
        let context = line_context(self.store, epoch.number, id);
        let sealed = epoch.key.seal(&context, &secret_of(key));
        Resealed {
            id,
            from,
            blob,
            digest,
            sealed,
        }
    }

    /// Keeps what was done, so that it need not be done again. Not yet durable.
    pub(crate) fn keep(&mut self, done: Vec<Resealed>) -> Result<()> {
        let path = self.folder.join(RESEALED_FILE);
        let lines: Vec<u8> = done.iter().flat_map(Resealed::to_line).collect();
        let mut options = OpenOptions::new();
        let opened = options.append(true).create(true).mode(0o600).open(&path);
        opened
            .and_then(|mut file: File| file.write_all(&lines))
            .map_err(Error::io("write", &path))?;
        for done in done {
            self.resealed.insert(done.id, done);
        }
        Ok(())
    }

    /// Removes what was made ready: nothing names it. What stays is removed by the next change.
    pub(crate) fn give_up(&self) {
        drop(fs::remove_dir_all(&self.folder));
    }

    /// Whether it is still there, where that keyring is: another command may have begun anew, or the
    /// keyring have moved.
    pub(crate) fn is_for(&self, keyring: &Keyring) -> bool {
        self.folder.is_dir() && self.folder.parent() == Some(&keyring.folder)
    }

    fn opens(&self, done: &Resealed) -> bool {
        let epoch = self.epoch.as_ref();
        epoch.is_some_and(|epoch| done.secret(self.store, epoch).is_some())
    }

    fn rewrite_list(&self) -> Result<()> {
        let lines: Vec<u8> = self.resealed.values().flat_map(Resealed::to_line).collect();
        disk::replace(&self.folder.join(RESEALED_FILE), &lines, 0o600)
    }
}

/// Everything in a table stays, and counts as known to somebody who left.
const EVERYTHING_KNOWN: Leaving<'_> = Leaving {
    without: None,
    all_known: true,
};

/// What goes from a table; what stays is known to nobody more than before.
fn leaving(without: &HashSet<MemoryId>) -> Leaving<'_> {
    Leaving {
        without: Some(without),
        all_known: false,
    }
}

/// What an entry of `ring` keeps of an identity.
fn secret_of(key: &SealKey) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(key.to_text().as_bytes().to_vec())
}

/// What the identity in a line of `resealed` is sealed with.
fn line_context(store: StoreId, epoch: u64, id: MemoryId) -> Vec<u8> {
    let label = b"agekeep/2 resealed ".as_slice();
    [label, &store.0, &epoch.to_le_bytes(), &id.0].concat()
}

impl Resealed {
    /// The new identity, if the line was made with the key of this epoch.
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

fn prepared(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(PREFIX) {
            found.push(entry.path());
        }
    }
    Ok(found)
}

/// Whether something was begun in a keyring's folder and neither finished nor given up.
pub(crate) fn is_unfinished(folder: &Path) -> bool {
    prepared(folder).is_ok_and(|found| !found.is_empty())
}

/// Puts the files of `next-<id>` in their places, where that is not done yet. They are durable
/// already; their new names are, once this returns.
pub(crate) fn take_next(folder: &Path, id: &[u8]) -> Result<()> {
    let next = folder.join(format!("{PREFIX}{}", String::from_utf8_lossy(id)));
    if !next.is_dir() {
        return Ok(());
    }
    for name in FILES {
        let (from, to) = (next.join(name), folder.join(name));
        match fs::rename(&from, &to) {
            Ok(()) => {}
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(Error::io("put in place", &to)(e)),
        }
    }
    disk::sync_folder(folder)?;
    fs::remove_dir_all(&next).map_err(Error::io("remove", &next))
}

/// The keyring that a record of the journal puts in place.
pub(crate) fn next_of(entries: &[KeyEntry]) -> Option<&[u8]> {
    let found = entries.iter().find(|entry| entry.table == NEXT)?;
    Some(&found.bytes)
}
