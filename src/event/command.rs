//! The commands of the people who look after a store, and the public files.

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
