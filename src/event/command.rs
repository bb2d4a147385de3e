//! The commands of the people who look after a store, and the public files.

use crate::crypto::sign::SignerRole;
use crate::error::Result;
use crate::event::{Erased, Event, Touch};

/// The command of an event that changes the policy: no door lets an agent give it.
pub(crate) const POLICY_COMMAND: &str = "policy_set";

/// The command of an event that moves a store on from format 1.
pub(crate) const UPGRADE_COMMAND: &str = "upgrade";

/// The command of an event that lets somebody write.
pub(crate) const SIGNERS_ADD: &str = "signers_add";

/// The command of an event after which somebody may not write any more.
pub(crate) const SIGNERS_RM: &str = "signers_rm";

/// The command of an event that gives a signer another role.
pub(crate) const SIGNERS_SET: &str = "signers_set";

/// The command of an event that accepts a history without the newest moment that was seen of it.
pub(crate) const ACCEPT_COMMAND: &str = "accept_rollback";

/// The commands of events that add a member, and that remove one.
pub(crate) const ADD_MEMBER_COMMAND: &str = "recipients_add";
pub(crate) const REMOVE_MEMBER_COMMAND: &str = "recipients_rm";

/// The command of an event that gives memories new keys.
pub(crate) const REKEY_COMMAND: &str = "rekey";

/// The command of an event that removes what has expired.
pub(crate) const EXPIRE_COMMAND: &str = "expire";

/// The command of an event that destroys keys of memories, or marks them for it.
pub(crate) const ERASE_COMMAND: &str = "erase";

/// The command of an event that redacts a memory, and erases what it was before.
pub(crate) const REDACT_COMMAND: &str = "redact";

/// The commands of events by which a hold begins, and by which one ends.
pub(crate) const HOLD_ADD_COMMAND: &str = "hold_add";
pub(crate) const HOLD_RM_COMMAND: &str = "hold_rm";

/// The commands of events that say who took texts out: of a moment, and of all of history.
pub(crate) const EXPORT_COMMAND: &str = "export";
pub(crate) const EXPORT_HISTORY_COMMAND: &str = "export_history";

/// The commands of the people who look after a store, as records name them: none is a memory
/// command, and no door lets an agent give one.
pub const OWNER_COMMANDS: [&str; 28] = [
    "init",
    UPGRADE_COMMAND,
    POLICY_COMMAND,
    ADD_MEMBER_COMMAND,
    REMOVE_MEMBER_COMMAND,
    REKEY_COMMAND,
    "keys_export",
    SIGNERS_ADD,
    SIGNERS_RM,
    SIGNERS_SET,
    "view_at",
    "show",
    "diff",
    "blame",
    "log",
    "grep",
    "restore",
    "revert",
    "rollback",
    ACCEPT_COMMAND,
    EXPIRE_COMMAND,
    ERASE_COMMAND,
    REDACT_COMMAND,
    HOLD_ADD_COMMAND,
    HOLD_RM_COMMAND,
    "scan",
    EXPORT_COMMAND,
    EXPORT_HISTORY_COMMAND,
];

/// A file that is public by design, and that only a command which says so may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PublicFile {
    Policy,
    Recipients,
    Signers,
}

impl PublicFile {
    pub(crate) const ALL: [Self; 3] = [Self::Policy, Self::Recipients, Self::Signers];

    /// Its name at the root of every tree.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Policy => "agekeep.toml",
            Self::Recipients => "recipients",
            Self::Signers => "signers",
        }
    }

    /// The file that a command of this name changes.
    pub(crate) fn changed_by(command: &str) -> Option<Self> {
        match command {
            POLICY_COMMAND | UPGRADE_COMMAND => Some(Self::Policy),
            ADD_MEMBER_COMMAND | REMOVE_MEMBER_COMMAND => Some(Self::Recipients),
            SIGNERS_ADD | SIGNERS_RM | SIGNERS_SET => Some(Self::Signers),
            _ => None,
        }
    }
}

// What each role of a signer may record.

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
