//! A memory's own identities, for recovery with stock age.

use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::event::{Context, Place};
use crate::id::MemoryId;
use crate::memory_tool::path::MemoryPath;
use crate::store::log::parse_path;
use crate::store::past::{in_contents, timeline, try_record_look};
use crate::store::signers::check_role;

use super::Store;
use super::past::{Look, erased, looked_at, no_file_at};

/// What opens every version of one memory.
#[non_exhaustive]
pub struct Exported {
    /// The memory.
    pub id: MemoryId,
    /// Its newest path.
    pub path: Option<MemoryPath>,
    /// Its identities as an age identity file, the newest first.
    pub identities: Zeroizing<String>,
    /// The event that records that they were taken.
    pub event: u64,
}

/// The command of an event that says who took keys out.
const COMMAND: &str = "keys_export";

/// See [`Store::export_keys`].
pub(super) fn export_keys(store: &mut Store, memory: &str, context: &Context) -> Result<Exported> {
    let wanted = match MemoryId::from_hex(memory) {
        Some(id) => Wanted::Id(id),
        None => Wanted::Path(parse_path(&store.state, memory)?),
    };
    in_contents(store, |store| hand_out(store, &wanted, context))
}

fn hand_out(store: &mut Store, wanted: &Wanted, context: &Context) -> Result<Exported> {
    check_role(store, COMMAND)?;
    let newest = timeline(&store.state).len() - 1;
    let moment = timeline(&store.state)
        .moment(newest)
        .expect("the newest event");
    let version = match wanted {
        Wanted::Id(id) => timeline(&store.state).versions(*id, newest).next_back(),
        Wanted::Path(path) => timeline(&store.state).at(path, newest),
    };
    let version = version.ok_or_else(|| match wanted {
        Wanted::Id(id) => Error::MissingKey {
            memory: id.to_string(),
        },
        Wanted::Path(path) => no_file_at(path, moment, timeline(&store.state)),
    })?;
    if let Some(event) = timeline(&store.state).erased_by(version.id) {
        return Err(erased(version.id, event));
    }
    let keys = store.ledger.keyring.memory_keys(version.id)?;
    let look = Look {
        command: COMMAND,
        path: version
            .path
            .clone()
            .map(|path| Place::Of(version.id, Some(path))),
        at: Vec::new(),
        touches: vec![looked_at(&version)],
    };
    let event = try_record_look(store, look, context)?;
    let mut identities = Zeroizing::new(String::with_capacity(100 * keys.len()));
    for key in &keys {
        identities.push_str(&key.to_text());
        identities.push('\n');
    }
    Ok(Exported {
        id: version.id,
        path: version.path,
        identities,
        event,
    })
}

/// How a memory is named.
enum Wanted {
    Id(MemoryId),
    Path(MemoryPath),
}
