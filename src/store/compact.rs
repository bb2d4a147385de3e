//! Compaction: everything the repository holds in one pack, and what that saves.

use crate::error::{Error, Result};
use crate::id::ObjectId;

use super::checkpoint::checkpoint;
use super::{Progress, Store};

/// What a store is kept in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Kept {
    /// Pack files.
    pub packs: u64,
    /// Objects in files of their own.
    pub loose: u64,
    /// All bytes in the store's folder.
    pub bytes: u64,
}

/// What a compaction did.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Compacted {
    /// How it was.
    pub before: Kept,
    /// How it is.
    pub after: Kept,
    /// Objects that are whole nowhere. They stay where they are.
    pub torn: Vec<ObjectId>,
}

impl Store {
    /// What the store is kept in now.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn kept(&self) -> Result<Kept> {
        let tally = self.repository.tally()?;
        let bytes = self.root.bytes_below();
        let bytes = bytes.map_err(Error::io("read", self.root.path()))?;
        Ok(Kept {
            packs: tally.packs,
            loose: tally.loose,
            bytes,
        })
    }

    /// Makes one pack of all objects, from the newest commit back. Others can use the store
    /// meanwhile. Not an event: it changes nothing that history says.
    ///
    /// # Errors
    /// [`Error::Io`], also for a disk without room for the new pack beside what is there;
    /// [`Error::Locked`] while another compaction goes on. Then nothing is lost or changed.
    pub fn compact(&mut self, progress: &mut Progress<'_>) -> Result<Compacted> {
        let taken = self.repository.wait_to_pack()?;
        let lock = self.lock()?;
        self.refresh()?;
        let before = self.kept()?;
        checkpoint(&self.repository, &self.keyring, &mut self.journal)?;
        let (head, loose) = (self.journal.head(), self.repository.loose()?);
        drop(lock);
        let torn = self.repository.gather(head, loose, progress)?;
        drop(taken);
        Ok(Compacted {
            before,
            after: self.kept()?,
            torn,
        })
    }
}
