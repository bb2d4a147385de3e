//! Texts of memories: decryption, and checks that a version belongs where it was found.

use std::collections::{BTreeSet, HashMap};

use crate::crypto::digest::Digest;
use crate::crypto::seal::Sealed;
use crate::error::{Error, Result};
use crate::id::{MemoryId, ObjectId};
use crate::memory_tool::path::MemoryPath;
use crate::repository::Repository;
use crate::repository::object::{Object, Tree, TreeEntry};
use crate::state::catalog::Memory;
use crate::store::Ledger;
use crate::{Text, version};

/// Returns the present text of a memory, checked against its place in the tree and its header.
pub(super) fn text_of(ledger: &mut Ledger, memory: &Memory) -> Result<Text> {
    let blob = ledger.trees.blob(&ledger.repository, memory.id)?;
    if blob != Some(memory.blob) {
        return Err(Error::damaged(
            format!("the memory {}", memory.id),
            "the tree holds another version than its last event wrote",
        ));
    }
    let sealed = ledger.repository.sealed(memory.blob)?;
    if sealed.digest() != memory.sealed {
        return Err(Error::damaged(
            format!("the memory {}", memory.id),
            "its blob does not have the SHA-256 that its event recorded",
        ));
    }
    open_version(ledger, memory.id, &memory.path, &sealed, memory.version)
}

/// Returns the text before the present one, if it is the caller's base: then the same command may
/// already have been carried out, and its answer lost.
pub(super) fn text_before(ledger: &Ledger, memory: &Memory, base: Digest) -> Result<Option<Text>> {
    let Some(blob) = memory.before else {
        return Ok(None);
    };
    let sealed = ledger.repository.sealed(blob)?;
    // The version may have been erased since.
    let before = open_version(ledger, memory.id, &memory.path, &sealed, memory.version - 1);
    let is_base = |text: &Text| Digest::of(text.as_str().as_bytes()) == base;
    Ok(if_open(before)?.filter(is_base))
}

/// Returns `None` for what does not open because of a single memory, such as an erased one.
pub(super) fn if_open<T>(opened: Result<T>) -> Result<Option<T>> {
    match opened {
        Ok(opened) => Ok(Some(opened)),
        Err(error) if error.is_of_one_memory() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Opens a version and checks that it belongs where it was found.
pub(super) fn open_version(
    ledger: &Ledger,
    id: MemoryId,
    path: &MemoryPath,
    sealed: &Sealed,
    version: u64,
) -> Result<Text> {
    let keys = ledger.keyring.memory_keys(id)?;
    let place = version::VersionAddress { id, path, version };
    version::open(&keys, &place, sealed).map_err(|fault| fault.at(&place))
}

// The tree of the newest commit, cached so that a command writes two small trees and reads none.

/// The root tree, and the folders that were read.
#[derive(Default)]
pub(super) struct Trees {
    loaded: Option<ObjectId>,
    root: Tree,
    folders: HashMap<String, Tree>,
}

impl Trees {
    /// Reads the tree `root`.
    pub(super) fn load(&mut self, repository: &Repository, root: ObjectId) -> Result<()> {
        self.root = repository.tree(root)?;
        self.folders.clear();
        self.loaded = Some(root);
        Ok(())
    }

    /// Forgets everything, because it does not match the newest commit.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Returns the id of the root tree.
    pub(super) fn root_id(&self) -> Option<ObjectId> {
        self.loaded
    }

    /// Returns the blob of a memory.
    pub(super) fn blob(
        &mut self,
        repository: &Repository,
        id: MemoryId,
    ) -> Result<Option<ObjectId>> {
        let name = id.to_string();
        let folder = self.folder(repository, &name[..2])?;
        Ok(folder
            .get(&name)
            .filter(|entry| !entry.folder)
            .map(|entry| entry.id))
    }

    /// Sets or removes the blobs of memories. Returns the new tree objects.
    pub(super) fn put(
        &mut self,
        repository: &Repository,
        blobs: &[(MemoryId, Option<ObjectId>)],
    ) -> Result<Vec<Object>> {
        if blobs.is_empty() {
            return Ok(Vec::new());
        }
        let mut changed = BTreeSet::new();
        for (id, blob) in blobs {
            let name = id.to_string();
            let folder = self.folder(repository, &name[..2])?;
            match blob {
                Some(id) => folder.insert(
                    name.clone(),
                    TreeEntry {
                        folder: false,
                        id: *id,
                    },
                ),
                None => folder.remove(&name),
            };
            changed.insert(name[..2].to_owned());
        }
        let mut objects = Vec::with_capacity(changed.len() + 1);
        for name in changed {
            let folder = &self.folders[&name];
            if folder.is_empty() {
                self.root.remove(&name);
                continue;
            }
            let object = Object::tree(folder);
            self.root.insert(
                name,
                TreeEntry {
                    folder: true,
                    id: object.id,
                },
            );
            objects.push(object);
        }
        let root = Object::tree(&self.root);
        self.loaded = Some(root.id);
        objects.push(root);
        Ok(objects)
    }

    /// Adds an owner's file to the root. Returns the new root tree.
    pub(super) fn put_public(&mut self, name: &str, id: ObjectId) -> Object {
        self.root
            .insert(name.to_owned(), TreeEntry { folder: false, id });
        let root = Object::tree(&self.root);
        self.loaded = Some(root.id);
        root
    }

    fn folder(&mut self, repository: &Repository, name: &str) -> Result<&mut Tree> {
        if !self.folders.contains_key(name) {
            let folder = match self.root.get(name) {
                None => Tree::new(),
                Some(entry) if entry.folder => repository.tree(entry.id)?,
                Some(entry) => {
                    return Err(Error::damaged(
                        format!("the tree's entry {name}"),
                        format!("blob {} stands where a folder belongs", entry.id),
                    ));
                }
            };
            self.folders.insert(name.to_owned(), folder);
        }
        Ok(self.folders.get_mut(name).expect("inserted above"))
    }
}
