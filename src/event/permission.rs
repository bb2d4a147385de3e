//! What each role of a signer may record.

use super::{
    ACCEPT_COMMAND, ADD_MEMBER_COMMAND, ERASE_COMMAND, EXPIRE_COMMAND, EXPORT_COMMAND,
    EXPORT_HISTORY_COMMAND, Erased, Event, HOLD_ADD_COMMAND, HOLD_RM_COMMAND, POLICY_COMMAND,
    REDACT_COMMAND, REKEY_COMMAND, REMOVE_MEMBER_COMMAND, SIGNERS_ADD, SIGNERS_RM, SIGNERS_SET,
    Touch, UPGRADE_COMMAND,
};
use crate::crypto::sign::SignerRole;
use crate::error::Result;

/// Tells whether a signer of this role may record a command. Nobody may record one that is not known.
pub(crate) fn may_record(role: SignerRole, command: &str) -> bool {
    roles_of(command).contains(&role)
}

/// Tells whether a signer of this role may destroy keys where earlier events said so already.
pub(crate) fn may_complete(role: SignerRole) -> bool {
    role != SignerRole::Auditor
}

/// Says what in an event a role may not record: its command, or that it takes away what a hold keeps.
///
/// `is_held` answers whether a touch does that, in the state before the event; `are_begun`,
/// whether earlier events have marked or erased all of some memories.
pub(crate) fn not_permitted(
    role: SignerRole,
    event: &Event,
    is_held: impl Fn(&Touch) -> bool,
    are_begun: impl FnOnce(&[Erased]) -> Result<bool>,
) -> Result<Option<String>> {
    let command = &event.command;
    if !(may_record(role, command) || may_complete(role) && event.completes(are_begun)?) {
        return Ok(Some(named(command).into()));
    }
    if role != SignerRole::Owner && command == ACCEPT_COMMAND && event.keys.is_some() {
        return Ok(Some("the acceptance of other keys".into()));
    }
    let lifts = may_record(role, HOLD_RM_COMMAND);
    let takes_held = !lifts && event.memories.iter().any(is_held);
    Ok(takes_held.then(|| format!("{command} of what a hold keeps")))
}

/// The roles that may record a command.
fn roles_of(command: &str) -> &'static [SignerRole] {
    use SignerRole::{Auditor, Owner, Sweeper, Writer};
    match command {
        // Looks, and what one has seen of a store that was turned back: they change nothing.
        "view_at" | "show" | "diff" | "blame" | "log" | "grep" | "scan" | ACCEPT_COMMAND => {
            &[Owner, Writer, Sweeper, Auditor]
        }
        // The memory tool, undoing what came through it, and taking it out.
        "view"
        | "create"
        | "str_replace"
        | "insert"
        | "delete"
        | "rename"
        | "memory_read"
        | "memory_write"
        | "unknown"
        | "restore"
        | "revert"
        | "rollback"
        | EXPORT_COMMAND
        | EXPORT_HISTORY_COMMAND => &[Owner, Writer],
        EXPIRE_COMMAND | ERASE_COMMAND | HOLD_ADD_COMMAND => &[Owner, Sweeper],
        "init"
        | UPGRADE_COMMAND
        | "keys_export"
        | POLICY_COMMAND
        | ADD_MEMBER_COMMAND
        | REMOVE_MEMBER_COMMAND
        | REKEY_COMMAND
        | REDACT_COMMAND
        | HOLD_RM_COMMAND
        | SIGNERS_ADD
        | SIGNERS_RM
        | SIGNERS_SET => &[Owner],
        _ => &[],
    }
}

/// A command for a sentence. One that is not known is somebody else's text, and not repeated.
pub(crate) fn named(command: &str) -> &str {
    if roles_of(command).is_empty() {
        "a command that is not known here"
    } else {
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::OWNER_COMMANDS;
    use crate::memory_tool::command::NAMES;

    #[test]
    fn the_table_has_every_command_and_no_other() {
        let known = NAMES.iter().chain(&OWNER_COMMANDS).chain(&["unknown"]);
        for command in known {
            assert!(may_record(SignerRole::Owner, command), "{command}");
            assert_eq!(named(command), *command);
        }
        for word in ["", "policy", "erase ", "Erase", "signers_take", "\u{1b}[2J"] {
            for role in SignerRole::ALL {
                assert!(!may_record(role, word), "{role} {word:?}");
            }
            assert!(named(word).starts_with("a command"), "{word:?}");
        }
    }
}
