//! Why nobody is let in or out.

use std::fmt;
use std::path::PathBuf;

/// Why a change of who can open a store, or of its keys, is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MembershipFault {
    /// Somebody of that name, or with that recipient, is a member already.
    Already {
        /// Their name.
        name: String,
        /// `reader` or `auditor`.
        role: &'static str,
    },
    /// There is no member of that name.
    Nobody {
        /// The name that was asked for, if it could be one.
        name: Option<String>,
    },
    /// Without this reader nobody could read.
    LastReader {
        /// Their name.
        name: String,
    },
    /// A member would remove themselves: they would have made the keys they must not know.
    Oneself {
        /// Their name.
        name: String,
    },
    /// Another command began to change the keys meanwhile.
    Overtaken,
    /// There are two keyrings, and what is recorded would be in one of them alone.
    TwoKeyrings {
        /// The folder the caller said.
        said: PathBuf,
        /// The folder the policy says.
        policy: PathBuf,
    },
}

impl MembershipFault {
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::Already { .. } => "already_member",
            Self::Nobody { .. } => "no_member",
            Self::LastReader { .. } => "last_reader",
            Self::Oneself { .. } => "own_key",
            Self::Overtaken => "keys_changed",
            Self::TwoKeyrings { .. } => "two_keyrings",
        }
    }

    pub(super) fn exit_code(&self) -> u8 {
        match self {
            Self::Nobody { .. } => 4,
            Self::Already { .. } => 5,
            Self::LastReader { .. }
            | Self::Oneself { .. }
            | Self::Overtaken
            | Self::TwoKeyrings { .. } => 6,
        }
    }

    pub(super) fn hint(&self) -> &'static str {
        match self {
            Self::Already { .. } => {
                "`agekeep recipients list` shows everybody; to change a role or a key, remove the \
                 member first"
            }
            Self::Nobody { .. } => "`agekeep recipients list` shows everybody",
            Self::LastReader { .. } => {
                "add another reader first, with `agekeep recipients add NAME RECIPIENT`"
            }
            Self::Oneself { .. } => "another reader has to do it",
            Self::Overtaken => "run the command again",
            Self::TwoKeyrings { .. } => {
                "leave --keyring and AGEKEEP_KEYRING away; which of the two has every key, \
                 `agekeep verify` says of each"
            }
        }
    }
}

impl fmt::Display for MembershipFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Already { name, role } => write!(f, "{name} is there already, as {role}"),
            Self::Nobody { name: Some(name) } => write!(f, "there is no member {name}"),
            Self::Nobody { name: None } => f.write_str("there is no member of that name"),
            Self::LastReader { name } => {
                write!(
                    f,
                    "{name} is the last reader: without them nobody could read the store"
                )
            }
            Self::Oneself { name } => write!(
                f,
                "you are {name}: whoever removes a member makes the new keys, and you would know \
                 them"
            ),
            Self::Overtaken => f.write_str("another command began to change the keys meanwhile"),
            Self::TwoKeyrings { said, policy } => write!(
                f,
                "there are two keyrings: {}, which was said, and {}, where the policy has it; what is \
                 recorded would be in one of them alone",
                said.display(),
                policy.display()
            ),
        }
    }
}
