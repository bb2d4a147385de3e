//! The mailbox of this machine: an age identity, to which the other machines encrypt the keys that
//! this one lacks; and what they compare to know which these are.
//!
//! The file `mailbox.age` is encrypted to the identity of whoever opens this copy. Each change of keys
//! puts a new one in its place, an erasure above all: keys that were sent to the old one, and that a
//! host keeps for ever, cannot be decrypted after that.

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::crypto::recipients::Role;
use crate::crypto::seal::{Identity, Recipient, SealKey};
use crate::disk::{Folder, Name};
use crate::error::{Error, Result};
use crate::id::StoreId;
use crate::keyring::files::{FORMAT, damaged, read_sealed, seal};

/// Room in a buffer for all of the file, in bytes.
const FILE_BYTES: usize = 1024;

/// What a copy of the keyring has: the numbers of its keys, and of the entries under them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HeldKeys {
    /// The number of the epoch key; 0 for an auditor.
    pub(crate) epoch: u64,
    /// The number of the names key.
    pub(crate) names: u64,
    pub(crate) in_ring: u32,
    pub(crate) in_names: u32,
}

impl HeldKeys {
    /// Returns how many entries it has in each table, if they are under the same keys as those of another
    /// copy. An auditor has none in `ring`.
    pub(crate) fn entries_under(self, other: Self, role: Role) -> Option<(u32, u32)> {
        let is_same = self.names == other.names;
        match role {
            Role::Reader => {
                (is_same && self.epoch == other.epoch).then_some((self.in_ring, self.in_names))
            }
            Role::Auditor => is_same.then_some((0, self.in_names)),
        }
    }

    /// Tells whether another copy has the same, as far as this role can have them.
    pub(crate) fn fits(self, other: Self, role: Role) -> bool {
        let of_names = |held: Self| (held.names, held.in_names);
        match role {
            Role::Reader => self == other,
            Role::Auditor => of_names(self) == of_names(other),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MailboxFile {
    agekeep: u32,
    store: String,
    mailbox: Zeroizing<String>,
}

/// Opens the mailbox in a folder. One that is not there, or that this identity cannot use, is
/// replaced: what was sent to it is sent again.
///
/// # Errors
/// [`Error::Io`] if the file cannot be read or written, [`Error::Key`] if a plugin fails.
pub(crate) fn open_or_make(
    folder: &Folder,
    store: StoreId,
    identity: &Identity,
) -> Result<SealKey> {
    match read(folder, store, identity) {
        Err(
            Error::NoKeyring { .. }
            | Error::NotARecipient { .. }
            | Error::Damaged { .. }
            | Error::UnknownFormat { .. },
        ) => make(folder, store, identity),
        read => read,
    }
}

/// Puts a new mailbox into the folder of a keyring that will take the place of another which has
/// one.
pub(super) fn renew(
    before: &Folder,
    after: &Folder,
    store: StoreId,
    identity: &Identity,
) -> Result<()> {
    if before.has(&Name::MAILBOX) {
        make(after, store, identity)?;
    }
    Ok(())
}

fn read(folder: &Folder, store: StoreId, identity: &Identity) -> Result<SealKey> {
    let file: MailboxFile = read_sealed(folder, &Name::MAILBOX, identity)?;
    let key = SealKey::parse(&file.mailbox).filter(|_| file.store == store.to_string());
    key.ok_or_else(|| damaged(folder, &Name::MAILBOX, "it has no key of this store"))
}

/// Makes a new mailbox, whether there is one or not.
///
/// # Errors
/// As [`open_or_make`].
pub(crate) fn make(folder: &Folder, store: StoreId, identity: &Identity) -> Result<SealKey> {
    let key = SealKey::generate();
    let file = MailboxFile {
        agekeep: FORMAT,
        store: store.to_string(),
        mailbox: key.to_text(),
    };
    let mut own: Vec<Recipient> = identity.own_recipients().collect();
    if own.is_empty() {
        own.push(identity.recipient()?);
    }
    let sealed = seal(&file, FILE_BYTES, &own, identity.unlock())?;
    folder.replace_durably(&Name::MAILBOX, sealed.as_bytes(), 0o600)?;
    Ok(key)
}
