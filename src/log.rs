//! Reading the audit log: events newest first, one at a time, so that history of any length fits.

use chrono::{DateTime, Utc};

use crate::error::{Error, Result};
use crate::event::{Event, Outcome};
use crate::path::MemoryPath;
use crate::repository::object::ObjectId;
use crate::store::Store;

/// One event as history keeps it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Entry {
    /// Its commit.
    pub commit: ObjectId,
    /// Who signed the commit; `None` if no signer of the store did.
    pub signer: Option<String>,
    /// Its record.
    pub event: Event,
}

/// Which events to show: those that meet every condition that is set.
#[derive(Debug, Default, Clone)]
#[non_exhaustive]
pub struct Filter {
    /// Is about a memory that was ever at this path or below it, or asks for such a path.
    pub path: Option<MemoryPath>,
    /// Was done by this actor.
    pub actor: Option<String>,
    /// Belongs to this session.
    pub session: Option<String>,
    /// Is this command.
    pub command: Option<String>,
    /// Ended like this.
    pub outcome: Option<Outcome>,
    /// Happened then or later.
    pub since: Option<DateTime<Utc>>,
    /// Happened before then.
    pub until: Option<DateTime<Utc>>,
}

impl Store {
    /// Every event, newest first. Reading it is no access to any memory.
    pub fn log(&self) -> impl Iterator<Item = Result<Entry>> + '_ {
        let mut next = Some(self.head());
        std::iter::from_fn(move || {
            let id = next.take()?;
            Some(self.entry(id).map(|(entry, parent)| {
                next = parent;
                entry
            }))
        })
    }

    pub(crate) fn entry(&self, id: ObjectId) -> Result<(Entry, Option<ObjectId>)> {
        let (commit, _) = self.repository().commit(id)?;
        let event =
            Event::from_message(&commit.message, self.keyring()).map_err(|fault| fault.of(id))?;
        let entry = Entry {
            commit: id,
            signer: self
                .signers()
                .verify(&commit.signed_bytes, &commit.signature)
                .map(str::to_owned),
            event,
        };
        Ok((entry, commit.parent))
    }

    /// Reads a path for [`Filter::path`] by the rules of the memory tool.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the memory tool would refuse the path.
    pub fn parse_path(&self, text: &str) -> Result<MemoryPath> {
        MemoryPath::parse(text, self.limits().path_bytes).map_err(|_| Error::Invalid {
            what: "the path",
            why: "it is not /memories or below it".into(),
        })
    }
}
