//! The mailbox of this machine: an age identity, to which the other machines encrypt the keys that
//! this one lacks.
//!
//! The file `mailbox.age` is encrypted to the identity of whoever opens this copy. Each change of keys
//! puts a new one in its place, an erasure above all: keys that were sent to the old one, and that a
//! host keeps for ever, cannot be decrypted after that.

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::crypto::seal::{Identity, Recipient, SealKey};
use crate::disk::{Folder, Name};
use crate::error::{Error, Result};
use crate::id::StoreId;
use crate::keyring::files::{FORMAT, damaged, read_sealed, seal};

/// Room in a buffer for all of the file, in bytes.
const FILE_BYTES: usize = 1024;

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
