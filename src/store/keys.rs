//! Whether the keyring in place is the one that history names.

use crate::error::Result;
use crate::event::Event;
use crate::id::ObjectId;
use crate::keyring::Keyring;
use crate::repository::Repository;

use super::Store;

/// Refuses a keyring that history does not name. One from before an erasure, all four files of it,
/// is no stranger's: it is used, but for the keys that are destroyed, and those go again.
pub(super) fn check_keyring(store: &Store) -> Result<()> {
    let Some(known) = &store.state.catalog.keys else {
        return Ok(());
    };
    if store.ledger.keyring.has_keys_of(known) {
        return store.ledger.keyring.check_entries(known.entries);
    }
    let head = store.ledger.journal.head();
    if was_in_force(&store.ledger.repository, &store.ledger.keyring, head)? {
        return Ok(());
    }
    Err(store.ledger.keyring.foreign())
}

/// Whether an earlier event of this history put the keys of a keyring in force, and only erasures came
/// since: whoever was let in or out in between could have put together what he knows.
pub(crate) fn was_in_force(
    repository: &Repository,
    keyring: &Keyring,
    head: ObjectId,
) -> Result<bool> {
    let mut next = Some(head);
    while let Some(id) = next {
        let (commit, _) = repository.commit(id)?;
        next = commit.parent;
        // Few commits change keys, and each says in the clear what it is.
        if !changes_keys(&commit.message) {
            continue;
        }
        let Ok(event) = Event::from_message(&commit.message, keyring) else {
            return Ok(false);
        };
        match event.keys {
            Some(keys) if keyring.has_keys_of(&keys) => return Ok(true),
            Some(_) if !event.erases() => return Ok(false),
            _ => {}
        }
    }
    Ok(false)
}

fn changes_keys(message: &str) -> bool {
    let such = [
        "erase ok",
        "expire ok",
        "redact ok",
        "rekey ok",
        "recipients_rm ok",
        "upgrade ok",
        "accept_rollback ok",
        "init ok",
    ];
    such.contains(&message.lines().next().unwrap_or_default())
}
