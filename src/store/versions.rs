//! The text of a memory: opened with its key and checked against its place.

use crate::Text;
use crate::crypto::digest::Digest;
use crate::crypto::seal::Sealed;
use crate::error::{Error, Result};
use crate::id::MemoryId;
use crate::memory_tool::path::MemoryPath;
use crate::state::catalog::Memory;
use crate::store::Ledger;
use crate::version;

/// The present text of a memory, checked against its place in the tree and its header.
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

/// The version before the present one, if its text is the one the caller acts upon: then the
/// same command may have been carried out already, and its answer lost.
pub(super) fn text_before(ledger: &Ledger, memory: &Memory, base: Digest) -> Result<Option<Text>> {
    let Some(blob) = memory.before else {
        return Ok(None);
    };
    let sealed = ledger.repository.sealed(blob)?;
    // It may have been erased since.
    let before = open_version(ledger, memory.id, &memory.path, &sealed, memory.version - 1);
    let text = match before {
        Err(error) if error.is_of_one_memory() => return Ok(None),
        opened => opened?,
    };
    Ok((Digest::of(text.as_str().as_bytes()) == base).then_some(text))
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
    let place = version::Place { id, path, version };
    version::open(&keys, &place, sealed).map_err(|fault| fault.at(&place))
}
