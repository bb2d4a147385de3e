//! Writes blocks of the catalog file, one behind the other.

use super::open::BLOCK_BYTES_MAX;
use super::tree::Place;
use crate::crypto::aead::Key;
use crate::disk::{File, FileExt};
use crate::id::{self, StoreId};

/// Bytes that are gathered before they are written.
const BUFFER_BYTES: usize = 1 << 20;
/// What stands before what is sealed in a leaf: its length and its id.
pub(super) const LEAF_PREFIX_BYTES: usize = 4 + 8;

/// Which store and files a block is bound to.
#[derive(Clone, Copy)]
pub(super) struct Names {
    pub(super) store: StoreId,
    /// Of this file: random.
    pub(super) file: [u8; 16],
    /// Of this file, and of those that leaves of it are copied to.
    pub(super) line: [u8; 16],
}

impl Names {
    /// A leaf is bound to its own id, so that it can be copied to another file.
    pub(super) fn of_leaf(&self, id: [u8; 8]) -> Vec<u8> {
        [
            &b"agekeep/1 catalog leaf "[..],
            &self.store.0,
            &self.line,
            &id,
        ]
        .concat()
    }

    /// A root is bound to its place.
    pub(super) fn of_root(&self, offset: u64) -> Vec<u8> {
        let label = &b"agekeep/1 catalog root "[..];
        let place = offset.to_le_bytes();
        [label, &self.store.0, &self.file, &self.line, &place].concat()
    }

    /// A step is bound to its root, and to the number of steps before it.
    pub(super) fn of_step(&self, root: u64, index: u64) -> Vec<u8> {
        let label = &b"agekeep/1 catalog step "[..];
        let (root, index) = (root.to_le_bytes(), index.to_le_bytes());
        [label, &self.store.0, &self.file, &root, &index].concat()
    }
}

/// A sealed block, with its length before it.
pub(super) fn block(key: &Key, context: &[u8], plain: &[u8]) -> Option<Vec<u8>> {
    with_length(&[&key.seal(context, plain)])
}

fn with_length(parts: &[&[u8]]) -> Option<Vec<u8>> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let mut bytes = u32::try_from(length).ok()?.to_le_bytes().to_vec();
    for part in parts {
        bytes.extend_from_slice(part);
    }
    Some(bytes)
}

/// Which leaves stay as they are.
#[derive(Clone, Copy)]
pub(super) enum Kept<'a> {
    /// None: all are written.
    None,
    /// Those of the same file, where they are.
    Here,
    /// Those of another file: they are copied.
    In(&'a File),
}

/// Writes to a file from some place on.
pub(super) struct Writer<'a> {
    pub(super) file: &'a File,
    pub(super) names: Names,
    pub(super) key: &'a Key,
    pub(super) kept: Kept<'a>,
    /// Where what is in the buffer goes.
    pub(super) offset: u64,
    pub(super) buffer: Vec<u8>,
    /// Bytes of all leaves that were written or kept.
    pub(super) leaf_bytes: u64,
}

impl Writer<'_> {
    /// Where the next block goes.
    pub(super) fn end(&self) -> u64 {
        self.offset + self.buffer.len() as u64
    }

    pub(super) fn put_leaf(&mut self, plain: &[u8]) -> Option<Place> {
        let id = id::random();
        let sealed = self.key.seal(&self.names.of_leaf(id), plain);
        self.place(id, &with_length(&[&id, &sealed])?)
    }

    /// Keeps a leaf as it is.
    pub(super) fn keep(&mut self, leaf: Place) -> Option<Place> {
        match self.kept {
            Kept::None => None,
            Kept::Here => {
                self.leaf_bytes += u64::from(leaf.length);
                Some(leaf)
            }
            Kept::In(_) if leaf.length > BLOCK_BYTES_MAX => None,
            Kept::In(file) => {
                let mut bytes = vec![0; leaf.length as usize];
                file.read_exact_at(&mut bytes, leaf.offset).ok()?;
                self.place(leaf.id, &bytes)
            }
        }
    }

    fn place(&mut self, id: [u8; 8], bytes: &[u8]) -> Option<Place> {
        let place = Place {
            id,
            offset: self.end(),
            length: u32::try_from(bytes.len()).ok()?,
        };
        self.leaf_bytes += bytes.len() as u64;
        self.put(bytes)?;
        Some(place)
    }

    pub(super) fn put(&mut self, bytes: &[u8]) -> Option<()> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BUFFER_BYTES {
            self.flush()?;
        }
        Some(())
    }

    pub(super) fn flush(&mut self) -> Option<()> {
        self.file.write_all_at(&self.buffer, self.offset).ok()?;
        self.offset = self.end();
        self.buffer.clear();
        Some(())
    }
}
