//! A memory's own identities, for recovery with stock age.

use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::event::{Context, Place};
use crate::id::MemoryId;
use crate::memory_tool::path::MemoryPath;

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

impl Store {
    /// The identities of a memory: of the one at a path now, or, with an id, of any that has a key.
    /// It is recorded, and nothing is handed out that is not.
    ///
    /// # Errors
    /// [`Error::NotThere`] if there is none, [`Error::MissingKey`] if its key is gone; otherwise as
    /// for [`Store::rekey`].
    pub fn export_keys(&mut self, memory: &str, context: &Context) -> Result<Exported> {
        let wanted = match MemoryId::from_hex(memory) {
            Some(id) => Wanted::Id(id),
            None => Wanted::Path(self.parse_path(memory)?),
        };
        self.in_contents(|store| store.hand_out(&wanted, context))
    }

    fn hand_out(&mut self, wanted: &Wanted, context: &Context) -> Result<Exported> {
        self.check_role(COMMAND)?;
        let newest = self.timeline().len() - 1;
        let moment = self.timeline().moment(newest).expect("the newest event");
        let version = match wanted {
            Wanted::Id(id) => self.timeline().versions(*id, newest).next_back(),
            Wanted::Path(path) => self.timeline().at(path, newest),
        };
        let version = version.ok_or_else(|| match wanted {
            Wanted::Id(id) => Error::MissingKey {
                memory: id.to_string(),
            },
            Wanted::Path(path) => no_file_at(path, moment, self.timeline()),
        })?;
        if let Some(event) = self.timeline().erased_by(version.id) {
            return Err(erased(version.id, event));
        }
        let keys = self.keyring.memory_keys(version.id)?;
        let look = Look {
            command: COMMAND,
            path: version
                .path
                .clone()
                .map(|path| Place::Of(version.id, Some(path))),
            at: Vec::new(),
            touches: vec![looked_at(&version)],
        };
        let event = self.try_record_look(look, context)?;
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
}

/// How a memory is named.
enum Wanted {
    Id(MemoryId),
    Path(MemoryPath),
}
