//! What a signer may record: each role, and every command that it stands for.

use std::fmt;
use std::str::FromStr;

use crate::error::Result;
use crate::event::{
    ACCEPT_COMMAND, ADD_MEMBER_COMMAND, ERASE_COMMAND, EXPIRE_COMMAND, EXPORT_COMMAND,
    EXPORT_HISTORY_COMMAND, Erased, Event, HOLD_ADD_COMMAND, HOLD_RM_COMMAND, POLICY_COMMAND,
    REDACT_COMMAND, REKEY_COMMAND, REMOVE_MEMBER_COMMAND, SIGNERS_ADD, SIGNERS_RM, SIGNERS_SET,
    Touch, UPGRADE_COMMAND,
};

/// What somebody who signs may record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignerRole {
    /// Everything.
    Owner,
    /// What agents do, looks at it, undoing it, and exports.
    Writer,
    /// Sweeps, erasures, the beginning of holds, and looks.
    Sweeper,
    /// Looks alone.
    Auditor,
}

impl SignerRole {
    /// Every role there is.
    pub const ALL: [Self; 4] = [Self::Owner, Self::Writer, Self::Sweeper, Self::Auditor];

    /// The word in the file `signers`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Writer => "writer",
            Self::Sweeper => "sweeper",
            Self::Auditor => "auditor",
        }
    }

    /// Whether a signer of this role may record a command. One that is not known is nobody's.
    #[must_use]
    pub fn allows(self, command: &str) -> bool {
        roles_of(command).contains(&self)
    }

    /// Whether a signer of this role may destroy keys where earlier events said so already.
    pub(crate) fn completes(self) -> bool {
        self != Self::Auditor
    }

    /// What in an event is beyond this role: its command, or that it takes away what a hold keeps.
    ///
    /// `is_held` answers whether a touch does that, in the state before the event; `are_begun`,
    /// whether earlier events have marked or erased all of some memories.
    pub(crate) fn beyond(
        self,
        event: &Event,
        is_held: impl Fn(&Touch) -> bool,
        are_begun: impl FnOnce(&[Erased]) -> Result<bool>,
    ) -> Result<Option<String>> {
        let command = &event.command;
        if !(self.allows(command) || self.completes() && event.completes(are_begun)?) {
            return Ok(Some(named(command).into()));
        }
        if self != Self::Owner && command == ACCEPT_COMMAND && event.keys.is_some() {
            return Ok(Some("the acceptance of other keys".into()));
        }
        let lifts = self.allows(HOLD_RM_COMMAND);
        let takes_held = !lifts && event.memories.iter().any(is_held);
        Ok(takes_held.then(|| format!("{command} of what a hold keeps")))
    }

    /// Says in words that a signer of this role may not record something.
    pub(crate) fn refuses(self, name: &str, what: &str) -> String {
        format!("{name} has the role {self}, which may not record {what}")
    }
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

impl fmt::Display for SignerRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for SignerRole {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut all = Self::ALL.into_iter();
        all.find(|role| role.as_str() == text)
            .ok_or("a role is `owner`, `writer`, `sweeper` or `auditor`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::NAMES;
    use crate::event::OWNER_COMMANDS;

    #[test]
    fn the_table_has_every_command_and_no_other() {
        let known = NAMES.iter().chain(&OWNER_COMMANDS).chain(&["unknown"]);
        for command in known {
            assert!(SignerRole::Owner.allows(command), "{command}");
            assert_eq!(named(command), *command);
        }
        for word in ["", "policy", "erase ", "Erase", "signers_take", "\u{1b}[2J"] {
            for role in SignerRole::ALL {
                assert!(!role.allows(word), "{role} {word:?}");
            }
            assert!(named(word).starts_with("a command"), "{word:?}");
        }
    }

    #[test]
    fn a_role_is_read_back_and_nothing_else_is_one() {
        for role in SignerRole::ALL {
            assert_eq!(role.as_str().parse(), Ok(role));
        }
        for bad in ["", "Owner", "owner ", "reader", "admin"] {
            assert!(bad.parse::<SignerRole>().is_err(), "{bad:?}");
        }
    }
}
