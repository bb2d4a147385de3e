//! Reading the audit log: events newest first, one at a time, so that history of any length fits.

use chrono::{DateTime, Utc};

use crate::crypto::sign::{Entry as Signer, SignedBy};
use crate::error::{Error, Result};
use crate::event::{Event, Outcome};
use crate::id::ObjectId;
use crate::memory_tool::path::{MemoryPath, PathFault};
use crate::repository::object::Commit;
use crate::store::signers::signers_before;
use crate::store::{State, Store};

/// One event as history keeps it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Entry {
    /// Its commit.
    pub commit: ObjectId,
    /// Who signed the commit; `None` if nobody did who was a signer of the store then.
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
    /// Changed what there is: made a version, or removed a memory.
    pub altering: bool,
}

/// See [`Store::log`].
pub(super) fn log(store: &Store) -> impl Iterator<Item = Result<Entry>> + '_ {
    let mut next = Some(store.ledger.journal.head());
    std::iter::from_fn(move || {
        let id = next.take()?;
        Some(entry(store, id).map(|(entry, parent)| {
            next = parent;
            entry
        }))
    })
}

pub(crate) fn entry(store: &Store, id: ObjectId) -> Result<(Entry, Option<ObjectId>)> {
    let (commit, _) = store.ledger.repository.commit(id)?;
    let event = Event::from_message(&commit.message, &store.ledger.keyring)
        .map_err(|fault| fault.of(id))?;
    let entry = Entry {
        commit: id,
        signer: signer_of(store, &commit)?,
        event,
    };
    Ok((entry, commit.parent))
}

/// The name of the signer who signed a commit, if one did: of those there were before it.
fn signer_of(store: &Store, commit: &Commit) -> Result<Option<String>> {
    let Some(signed) = SignedBy::check(&commit.signed_bytes, &commit.signature) else {
        return Ok(None);
    };
    // Most are signers still, under the name they had.
    let author = commit.author.split(' ').next();
    let name = store
        .state
        .decisions
        .signers
        .holder(&signed)
        .map(Signer::name);
    if name.is_some() && name == author {
        return Ok(name.map(str::to_owned));
    }
    let then = signers_before(&store.ledger, commit)?;
    Ok(then.holder(&signed).map(|signer| signer.name().to_owned()))
}

/// See [`Store::parse_path`].
pub(super) fn parse_path(state: &State, text: &str) -> Result<MemoryPath> {
    MemoryPath::parse_kept(text, state.decisions.policy.limits.path_bytes).map_err(|fault| {
        match fault {
            PathFault::Outside | PathFault::Escapes => Error::DeniedPath {
                why: "it is not /memories or below it",
            },
            PathFault::Forbidden(_) => Error::DeniedPath {
                why: "it holds a character that no path may",
            },
            PathFault::TooLong(why) => Error::Invalid {
                what: "the path",
                why,
            },
        }
    })
}
