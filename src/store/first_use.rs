//! What is said of a store at a place where it was not seen before, and of a copy.

use std::fmt;
use std::path::PathBuf;

use crate::crypto::digest::Digest;
use crate::crypto::sign::VerifyingKey;
use crate::error::Result;
use crate::id::StoreId;
use crate::store::pin::Seen;

use super::Store;

/// A store at a place where this user has seen none before.
#[derive(Debug)]
#[non_exhaustive]
pub struct FirstUse {
    /// The store's id.
    pub store: StoreId,
    /// The place.
    pub path: PathBuf,
    /// The fingerprint (`SHA256:…`) of the key that made the store.
    pub owner: String,
    /// Where the same store was seen before, if it was.
    pub copy_of: Option<CopyOf>,
}

/// Another place at which the same store was seen.
#[derive(Debug)]
#[non_exhaustive]
pub struct CopyOf {
    /// The place; `None` if that is not written down any more.
    pub path: Option<PathBuf>,
    /// Whether a store is still there.
    pub is_there: bool,
    /// How this one stands to what was seen there.
    pub distance: Distance,
}

/// How a history stands to a moment that was seen of a copy of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distance {
    /// It has so many events fewer.
    Behind(u64),
    /// It ends there.
    Even,
    /// It contains that moment, and so many events after it.
    Ahead(u64),
    /// It does not contain that moment, and has as many events.
    Apart,
}

/// See [`Store::first_use`].
pub(super) fn first_use(store: &Store) -> Option<FirstUse> {
    let (path, owner) = store.ledger.pinning.first_use()?;
    Some(FirstUse {
        store: store.state.id,
        path: path.to_owned(),
        owner: VerifyingKey::fingerprint(owner),
        copy_of: copy_of(store).ok().flatten(),
    })
}

/// Of which store this is a copy, or where it was before, as far as this user has seen.
pub(super) fn copy_of(store: &Store) -> Result<Option<CopyOf>> {
    let Some(other) = store.ledger.pinning.copy_of() else {
        return Ok(None);
    };
    Ok(Some(CopyOf {
        is_there: other.is_there(),
        path: other.path,
        distance: distance_to(store, other.seen)?,
    }))
}

fn distance_to(store: &Store, seen: Seen) -> Result<Distance> {
    let newest = store.state.catalog.events.saturating_sub(1);
    let Some(ahead) = newest.checked_sub(seen.moment.event) else {
        return Ok(Distance::Behind(seen.moment.event - newest));
    };
    let mut at = store.ledger.journal.head();
    for _ in 0..ahead {
        match store.ledger.repository.commit(at)?.0.parent {
            Some(parent) => at = parent,
            None => return Ok(Distance::Apart),
        }
    }
    let is_it = at == seen.moment.commit;
    if !is_it || Digest::of(&store.ledger.repository.commit(at)?.1) != seen.digest {
        return Ok(Distance::Apart);
    }
    Ok(match ahead {
        0 => Distance::Even,
        ahead => Distance::Ahead(ahead),
    })
}

impl fmt::Display for FirstUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (store, path, owner) = (self.store, self.path.display(), &self.owner);
        write!(
            f,
            "first use of the store {store} at {path}, which {owner} made"
        )?;
        self.copy_of
            .as_ref()
            .map_or(Ok(()), |copy| write!(f, "; it is {copy}"))
    }
}

impl fmt::Display for CopyOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.path.as_ref();
        let place = place.map_or("another place".into(), |path| path.to_string_lossy());
        if self.is_there {
            write!(f, "a copy of the store at {place}, ")?;
        } else {
            write!(f, "the store that was at {place} before, ")?;
        }
        let events = |count: u64| match count {
            1 => "1 event".to_owned(),
            count => format!("{count} events"),
        };
        match self.distance {
            Distance::Behind(count) => {
                write!(f, "{} behind what was seen there", events(count))
            }
            Distance::Even => write!(f, "and ends with what was seen there"),
            Distance::Ahead(count) => {
                write!(f, "{} ahead of what was seen there", events(count))
            }
            Distance::Apart => write!(f, "and does not contain what was seen there"),
        }
    }
}
