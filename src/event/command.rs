//! The administrative commands, and the public files.

use crate::crypto::sign::SignerRole;
use crate::error::Result;
use crate::event::{Erased, Event, MemoryChange};

/// The command of the first event, which makes the store.
pub(crate) const INIT_COMMAND: &str = "init";

/// The command of an event that changes the policy: no interface lets an agent give it.
pub(crate) const POLICY_COMMAND: &str = "policy_set";

/// The command of an event that upgrades a store from format 1.
pub(crate) const UPGRADE_COMMAND: &str = "upgrade";

/// The command of an event that adds a signer.
pub(crate) const SIGNERS_ADD: &str = "signers_add";

/// The command of an event that removes a signer.
pub(crate) const SIGNERS_RM: &str = "signers_rm";

/// The command of an event that changes a signer's role.
pub(crate) const SIGNERS_SET: &str = "signers_set";

/// The command of an event that accepts a history without the newest moment that was seen of it.
pub(crate) const ACCEPT_COMMAND: &str = "accept_rollback";

/// The commands of events that add and remove a member.
pub(crate) const ADD_MEMBER_COMMAND: &str = "recipients_add";
pub(crate) const REMOVE_MEMBER_COMMAND: &str = "recipients_rm";

/// The command of an event that gives memories new keys.
pub(crate) const REKEY_COMMAND: &str = "rekey";

/// The command of an event that removes expired memories.
pub(crate) const EXPIRE_COMMAND: &str = "expire";

/// The command of an event that destroys keys of memories, or marks memories for that.
pub(crate) const ERASE_COMMAND: &str = "erase";

/// The command of an event that redacts a memory and erases its earlier versions.
pub(crate) const REDACT_COMMAND: &str = "redact";

/// The commands of events that add and lift a hold.
pub(crate) const HOLD_ADD_COMMAND: &str = "hold_add";
pub(crate) const HOLD_RM_COMMAND: &str = "hold_rm";

/// The commands of events that export texts: of one moment, and of all history.
pub(crate) const EXPORT_COMMAND: &str = "export";
pub(crate) const EXPORT_HISTORY_COMMAND: &str = "export_history";

/// The command of an event that reports on a period.
pub(crate) const REPORT_COMMAND: &str = "report";

/// The administrative commands, as records name them: none is a memory command. An agent can give
/// those alone that an MCP server offers it: looks at history, and what its owner turned on.
pub const ADMINISTRATIVE_COMMANDS: [&str; 29] = [
    INIT_COMMAND,
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
    REPORT_COMMAND,
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

/// A file that is public by design. Only the commands for it may change it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PublicFile {
    Policy,
    Recipients,
    Signers,
}

impl PublicFile {
    pub(crate) const ALL: [Self; 3] = [Self::Policy, Self::Recipients, Self::Signers];

    /// Returns its name at the root of every tree.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Policy => "agekeep.toml",
            Self::Recipients => "recipients",
            Self::Signers => "signers",
        }
    }

    /// Returns the file that a command changes.
    pub(crate) fn changed_by(command: &str) -> Option<Self> {
        match command {
            POLICY_COMMAND | UPGRADE_COMMAND => Some(Self::Policy),
            ADD_MEMBER_COMMAND | REMOVE_MEMBER_COMMAND => Some(Self::Recipients),
            SIGNERS_ADD | SIGNERS_RM | SIGNERS_SET => Some(Self::Signers),
            _ => None,
        }
    }
}

// The permissions of each signer role.

/// Tells whether a signer of this role may record a command. Nobody may record an unknown command.
pub(crate) fn may_record(role: SignerRole, command: &str) -> bool {
    roles_of(command).contains(&role)
}

/// Tells whether a signer of this role may destroy keys that earlier events decided to destroy.
pub(crate) fn may_complete(role: SignerRole) -> bool {
    role != SignerRole::Auditor
}

/// Names what in an event a role may not record: its command, or the removal of what a hold
/// protects.
///
/// `is_held` tells whether a touch removes held data, in the state before the event; `are_begun`,
/// whether earlier events have marked or erased all of some memories.
pub(crate) fn not_permitted(
    role: SignerRole,
    event: &Event,
    is_held: impl Fn(&MemoryChange) -> bool,
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

/// Returns the roles that may record a command.
fn roles_of(command: &str) -> &'static [SignerRole] {
    use SignerRole::{Auditor, Owner, Sweeper, Writer};
    match command {
        // Reading, and accepting a rolled-back store: these change nothing.
        "view_at" | "show" | "diff" | "blame" | "log" | "grep" | REPORT_COMMAND | "scan"
        | ACCEPT_COMMAND => &[Owner, Writer, Sweeper, Auditor],
        // The memory tool, undoing its commands, and exporting.
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
        INIT_COMMAND
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

/// Names a command in a sentence. An unknown command is foreign text and is not repeated.
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
    use crate::event::ADMINISTRATIVE_COMMANDS;
    use crate::memory_tool::command::NAMES;

    #[test]
    fn the_table_has_every_command_and_no_other() {
        let known = NAMES
            .iter()
            .chain(&ADMINISTRATIVE_COMMANDS)
            .chain(&["unknown"]);
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
