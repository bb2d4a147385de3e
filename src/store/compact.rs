//! Compaction: everything the repository holds in one pack, and what that saves.

use crate::error::{Error, Result};
use crate::id::ObjectId;
use crate::store::history::refresh;
use crate::store::{Ledger, lock};

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

/// See [`Store::kept`].
pub(super) fn kept(ledger: &Ledger) -> Result<Kept> {
    let tally = ledger.repository.tally()?;
    let bytes = ledger.root.bytes_below();
    let bytes = bytes.map_err(Error::io("read", ledger.root.path()))?;
    Ok(Kept {
        packs: tally.packs,
        loose: tally.loose,
        bytes,
    })
}

/// See [`Store::compact`].
pub(super) fn compact(store: &mut Store, progress: &mut Progress<'_>) -> Result<Compacted> {
    let taken = store.ledger.repository.wait_to_pack()?;
    let lock = lock(&mut store.ledger)?;
    refresh(store)?;
    let before = kept(&store.ledger)?;
    checkpoint(
        &store.ledger.repository,
        &store.ledger.keyring,
        &mut store.ledger.journal,
    )?;
    let (head, loose) = (
        store.ledger.journal.head(),
        store.ledger.repository.loose()?,
    );
    drop(lock);
    let torn = store.ledger.repository.gather(head, loose, progress)?;
    drop(taken);
    Ok(Compacted {
        before,
        after: kept(&store.ledger)?,
        torn,
    })
}
