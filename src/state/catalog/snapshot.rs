//! A whole catalog in one piece, for what is kept outside the store.

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::Catalog;
use super::recent::Recent;
use super::row::{self, MemoryRow, RetentionRow, StateRow};

#[derive(Serialize, Deserialize)]
struct Snapshot<'a> {
    state: StateRow,
    retention: RetentionRow,
    recent: Recent,
    /// In the order of a listing.
    #[serde(borrow)]
    memories: Vec<MemoryRow<'a>>,
}

/// A catalog as bytes that [`from_snapshot`] reads; to be sealed. `None` before the first event.
pub(crate) fn to_snapshot(catalog: &Catalog) -> Option<Zeroizing<Vec<u8>>> {
    let snapshot = Snapshot {
        state: StateRow::of(catalog)?,
        retention: RetentionRow::of(catalog),
        recent: catalog.recent.clone(),
        memories: catalog.memories().map(MemoryRow::of).collect(),
    };
    Some(row::encode(&snapshot))
}

/// The catalog that [`to_snapshot`] wrote.
pub(crate) fn from_snapshot(plain: &[u8]) -> Option<Catalog> {
    let snapshot: Snapshot = postcard::from_bytes(plain).ok()?;
    let mut catalog = Catalog::empty();
    snapshot.state.restore(&mut catalog)?;
    snapshot.retention.restore(&mut catalog)?;
    catalog.recent = snapshot.recent;
    for row in snapshot.memories {
        catalog.rows.put(row.restore()?);
    }
    Some(catalog)
}
