//! Writing a pack: newest objects first, blobs of ciphertext whole, trees and commits as deltas.

use std::collections::HashMap;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use sha1::{Digest, Sha1};

use crate::disk::{self, File, FileExt, Folder, Name, PackId};
use crate::id::ObjectId;
use crate::repository::loose;
use crate::repository::object::ObjectKind;
use crate::repository::pack::index::{self, Indexed};
use crate::repository::pack::{
    BY_OFFSET, HEADER_BYTES, MAGIC, Type, VERSION, delta, put_distance, put_start,
};

/// Length of a chain of tree versions, counted from the one that is stored whole.
const CHAIN_TREES: u32 = 128;
/// Every eighth tree in a chain is a delta against the eighth before it, and the others against the
/// one before: no tree is more than 7 + 15 deltas away from the whole one.
const STRIDE_TREES: u32 = 8;
/// Larger objects are stored whole: no tree of a store is that large, and few commits are.
const DELTA_BYTES_MAX: usize = 512 * 1024;
/// Shorter deltas are mostly object names, which do not compress.
const SHRINKING_BYTES_MIN: usize = 100;
/// Most bytes that are cached as bases: two trees for each of 257 folders, each of 23 KB at 100,000
/// memories, with room.
const BASES_BYTES_MAX: usize = 32 * 1024 * 1024;

/// A pack being written to a temporary file.
pub(in super::super) struct PackWriter {
    folder: Folder,
    aside: Name,
    out: BufWriter<File>,
    sha: Sha1,
    at: u64,
    /// The object count in the header.
    promised: u32,
    entries: Vec<Indexed>,
    bases: Bases,
    zlib: loose::LooseWriter,
    /// True for blobs that may not be ciphertext: then they are deflated too.
    pub(in super::super) deflates_blobs: bool,
}

impl PackWriter {
    /// Starts a pack of so many objects in the folder of packs.
    pub(in super::super) fn begin(folder: &Folder, promised: usize) -> io::Result<Self> {
        let promised = u32::try_from(promised).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let aside = Name::new_temporary();
        let file = folder.create_new(&aside, 0o444)?;
        let mut writer = Self {
            folder: folder.clone(),
            aside,
            out: BufWriter::with_capacity(256 * 1024, file),
            sha: Sha1::new(),
            at: 0,
            promised,
            entries: Vec::with_capacity(promised as usize),
            bases: Bases::default(),
            zlib: loose::LooseWriter::dense(),
            deflates_blobs: false,
        };
        writer.put(&header(promised))?;
        Ok(writer)
    }

    /// Returns the number of objects written so far.
    pub(in super::super) fn count(&self) -> usize {
        self.entries.len()
    }

    /// Adds an object.
    pub(in super::super) fn add(
        &mut self,
        kind: Type,
        id: ObjectId,
        bytes: &[u8],
    ) -> io::Result<()> {
        let mut entry = Vec::with_capacity(128);
        let base = self.bases.of(kind, bytes);
        let delta = base.and_then(|base| self.delta(&base, bytes));
        if let Some((distance, delta)) = &delta {
            put_start(&mut entry, BY_OFFSET, delta.len());
            put_distance(&mut entry, *distance);
            let shrinks = delta.len() >= SHRINKING_BYTES_MIN;
            let how = if shrinks {
                ObjectKind::Tree
            } else {
                ObjectKind::Blob
            };
            entry.extend(self.zlib.deflate(how, b"", delta)?);
        } else {
            put_start(&mut entry, kind as u8, bytes.len());
            let own = kind.kind().filter(|_| !self.deflates_blobs);
            let how = own.unwrap_or(ObjectKind::Tree);
            entry.extend(self.zlib.deflate(how, b"", bytes)?);
        }
        self.bases.keep(kind, bytes, self.at, delta.is_none());
        self.put_entry(id, &entry, crc32fast::hash(&entry))
    }

    /// Encodes an object as a delta against its base, if that is much shorter.
    fn delta(&self, base: &DeltaBase, bytes: &[u8]) -> Option<(u64, Vec<u8>)> {
        let made = delta::encode(&base.bytes, bytes);
        let pays = made.len() + made.len() / 8 < bytes.len();
        // Verifies that the delta decodes, before it goes into a pack.
        let same =
            pays && delta::apply(&base.bytes, &made, bytes.len() as u64).as_deref() == Some(bytes);
        same.then(|| (self.at - base.at, made))
    }

    /// Copies a raw entry from another pack; it must not be a delta.
    pub(super) fn copy(&mut self, id: ObjectId, entry: &[u8], crc: u32) -> io::Result<()> {
        self.put_entry(id, entry, crc)
    }

    fn put_entry(&mut self, id: ObjectId, entry: &[u8], crc: u32) -> io::Result<()> {
        let offset = self.at;
        self.entries.push(Indexed { id, crc, offset });
        self.put(entry)
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sha.update(bytes);
        self.at += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    /// Makes the pack and its index durable and renames them into place: the pack first, because
    /// git expects the pack of every index. Returns the name of the pack. If it is `kept`, a file
    /// beside it says so, from before it is there.
    pub(in super::super) fn finish(mut self, kept: bool) -> io::Result<PackId> {
        self.out.flush()?;
        if self.promised as usize != self.entries.len() {
            self.count_anew()?;
        }
        let trailer: [u8; 20] = self.sha.finalize_reset().into();
        self.out.write_all(&trailer)?;
        self.out.flush()?;
        disk::sync_file(self.out.get_ref())?;
        let (folder, index_aside) = (self.folder.clone(), Name::new_temporary());
        let index_file = folder.create_new(&index_aside, 0o444)?;
        let id = PackId::random();
        if kept {
            keep(&folder, id)?;
        }
        let placed = index::write(&index_file, &mut self.entries, &trailer)
            .and_then(|()| disk::sync_file(&index_file))
            .and_then(|()| folder.rename(&self.aside, &id.pack()))
            .and_then(|()| folder.rename(&index_aside, &id.index()))
            .and_then(|()| folder.sync_names());
        placed.inspect_err(|_| {
            drop(folder.remove(&index_aside));
            release(&folder, id);
        })?;
        Ok(id)
    }

    /// Corrects the object count when fewer objects were added than expected. The count is in the
    /// header, so the checksum over the file is computed anew.
    fn count_anew(&mut self) -> io::Result<()> {
        let count = u32::try_from(self.entries.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let written = self.out.get_ref();
        written.write_all_at(&header(count), 0)?;
        self.sha = Sha1::new();
        let mut piece = vec![0; 256 * 1024];
        let mut at = 0;
        while at < self.at {
            let read = written.read_at(&mut piece, at)?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.sha.update(&piece[..read]);
            at += read as u64;
        }
        Ok(())
    }
}

/// The text of the file that protects a pack of ours until the branch reaches it.
const KEPT: &[u8] = b"agekeep: until the branch reaches it\n";

/// Has stock git keep a pack, until it is [released](release).
pub(in super::super) fn keep(folder: &Folder, id: PackId) -> io::Result<()> {
    folder.create_new(&id.keep(), 0o644)?.write_all(KEPT)
}

/// Ends the protection of a pack of ours.
pub(in super::super) fn release(folder: &Folder, id: PackId) {
    if folder.read(&id.keep()).is_ok_and(|text| text == KEPT) {
        drop(folder.remove(&id.keep()));
    }
}

impl Drop for PackWriter {
    /// Removes the temporary file. Once it is renamed, nothing has this name.
    fn drop(&mut self) {
        drop(self.folder.remove(&self.aside));
    }
}

fn header(count: u32) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..4].copy_from_slice(MAGIC);
    header[4..8].copy_from_slice(&VERSION.to_be_bytes());
    header[8..].copy_from_slice(&count.to_be_bytes());
    header
}

/// A written object that can be the base of a delta.
struct DeltaBase {
    at: u64,
    bytes: Vec<u8>,
}

/// The groups of objects that have much in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum DeltaGroup {
    /// Commits share headers, and the start of the signature and of the sealed record.
    Commit,
    Root,
    /// The folder of the memories whose ids begin with these two digits.
    Folder([u8; 2]),
}

impl DeltaGroup {
    fn of(kind: Type, bytes: &[u8]) -> Option<Self> {
        match kind {
            Type::Commit => Some(Self::Commit),
            Type::Tree => {
                // The first entry of a folder is a file with a memory id as its name.
                let name = bytes.strip_prefix(b"100644 ");
                let id = name.filter(|name| name.get(32) == Some(&0));
                Some(id.map_or(Self::Root, |id| Self::Folder([id[0], id[1]])))
            }
            Type::Blob | Type::Tag => None,
        }
    }
}

/// The bases for the next objects.
#[derive(Default)]
struct Bases {
    chains: HashMap<DeltaGroup, DeltaChain>,
    bytes: usize,
}

/// The versions of one tree, starting with the whole one; or commits.
struct DeltaChain {
    length: u32,
    last: Arc<DeltaBase>,
    /// The last version on the stride.
    stride: Arc<DeltaBase>,
}

impl Bases {
    /// Finds the base for an object.
    fn of(&self, kind: Type, bytes: &[u8]) -> Option<Arc<DeltaBase>> {
        let key = DeltaGroup::of(kind, bytes).filter(|_| bytes.len() <= DELTA_BYTES_MAX)?;
        let chain = self.chains.get(&key)?;
        let base = match key {
            // All commits have equally much in common; a chain of one delta is fastest to read.
            DeltaGroup::Commit => &chain.last,
            _ if chain.length >= CHAIN_TREES => return None,
            _ if chain.length.is_multiple_of(STRIDE_TREES) => &chain.stride,
            _ => &chain.last,
        };
        Some(Arc::clone(base))
    }

    /// Keeps an object written at `at`, whole or as a delta, as a base for the next of its group.
    fn keep(&mut self, kind: Type, bytes: &[u8], at: u64, whole: bool) {
        let Some(key) = DeltaGroup::of(kind, bytes) else {
            return;
        };
        if bytes.len() > DELTA_BYTES_MAX || (key == DeltaGroup::Commit && !whole) {
            return;
        }
        if self.bytes + bytes.len() > BASES_BYTES_MAX {
            // Every chain starts again with a whole tree.
            self.chains.clear();
            self.bytes = 0;
        }
        let bytes = bytes.to_vec();
        let base = Arc::new(DeltaBase { at, bytes });
        let before = self.chains.remove(&key);
        self.bytes -= before.as_ref().map_or(0, DeltaChain::bytes);
        let chain = match before.filter(|_| !whole) {
            Some(chain) => chain.followed_by(base),
            None => DeltaChain {
                length: 1,
                last: Arc::clone(&base),
                stride: base,
            },
        };
        self.bytes += chain.bytes();
        self.chains.insert(key, chain);
    }
}

impl DeltaChain {
    fn followed_by(self, base: Arc<DeltaBase>) -> Self {
        let strides = self.length.is_multiple_of(STRIDE_TREES);
        Self {
            length: self.length + 1,
            stride: if strides {
                Arc::clone(&base)
            } else {
                self.stride
            },
            last: base,
        }
    }

    /// Returns the bytes it keeps in memory.
    fn bytes(&self) -> usize {
        self.last.bytes.len() + self.stride.bytes.len()
    }
}
