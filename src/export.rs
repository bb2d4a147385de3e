//! Texts taken out of a store: which ones, and what is said of each.

use chrono::{DateTime, Utc};

use crate::Text;
use crate::digest::Digest;
use crate::error::Error;
use crate::event::Moment;
use crate::id::{MemoryId, StoreId};
use crate::path::MemoryPath;
use crate::revision::Revision;

/// Which texts are taken out.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Scope {
    /// The moment; without one it is now, and what has expired is not there.
    pub at: Option<Revision>,
    /// Only these paths and what is below them; if there are none, everything.
    pub within: Vec<MemoryPath>,
    /// Every version there was up to the moment, also of memories that were gone by then.
    pub history: bool,
}

/// What is about to be taken out.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Head {
    /// The store.
    pub store: StoreId,
    /// The moment whose state it is.
    pub at: Moment,
    /// When that moment's event was.
    pub time: DateTime<Utc>,
    /// The event that records that it was taken out.
    pub event: u64,
    /// How many memories.
    pub memories: u64,
    /// How many versions: so many follow, with those that do not open.
    pub versions: u64,
    /// Bytes of text in all of them.
    pub bytes: u64,
}

/// A version that was taken out, or the reason why it was not.
#[derive(Debug)]
#[non_exhaustive]
pub struct Taken {
    /// The memory.
    pub id: MemoryId,
    /// Where it was; `None` if the key of its paths is gone.
    pub path: Option<MemoryPath>,
    /// The version.
    pub version: u64,
    /// Whether it is what was there at the moment, and not what was there before.
    pub present: bool,
    /// When the memory was made.
    pub created: DateTime<Utc>,
    /// When the version was written.
    pub time: DateTime<Utc>,
    /// The event that wrote it.
    pub event: u64,
    /// The command of that event.
    pub command: String,
    /// Who acted, as the caller said.
    pub actor: Option<String>,
    /// The session, as the caller said.
    pub session: Option<String>,
    /// The text, or why it does not open: it was erased, its key is missing, or it is damaged.
    pub text: Result<Text, Error>,
}

impl Taken {
    /// SHA-256 of the text, where it opened.
    #[must_use]
    pub fn sha256(&self) -> Option<Digest> {
        let text = self.text.as_ref().ok()?;
        Some(Digest::of(text.as_str().as_bytes()))
    }

    /// Whether it does not open because it was erased: then nothing is wrong.
    #[must_use]
    pub fn is_erased(&self) -> bool {
        use crate::error::RetentionFault::Erased;
        matches!(self.text, Err(Error::Retention(Erased { .. })))
    }
}
