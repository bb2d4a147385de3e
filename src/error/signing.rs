//! What can go wrong with who may write, and with an ssh-agent that is to sign.

use std::fmt;

/// Why a key may not sign or does not, or why `signers` stays as it is.
#[derive(Debug)]
#[non_exhaustive]
pub enum SigningFault {
    /// The signing key is a signer's, and not at this time.
    NotValid {
        /// The signer's name.
        name: String,
        /// The key's fingerprint (`SHA256:…`).
        fingerprint: String,
        /// From when or until when it is, in words.
        when: String,
    },
    /// The signer's role does not go as far as the command.
    NotAllowed {
        /// The signer's name.
        name: String,
        /// The role, as `signers` names it.
        role: &'static str,
        /// The command, as records name it.
        command: String,
    },
    /// A name or key that is to become a signer's is one already.
    Exists {
        /// What is there already, in words.
        what: String,
    },
    /// No signer has this name.
    NoSuch {
        /// The name.
        name: String,
    },
    /// Without this owner nobody could say any more who may write.
    Last {
        /// The signer's name.
        name: String,
    },
    /// The ssh-agent that holds the signing key did not sign.
    Agent {
        /// The key's fingerprint (`SHA256:…`).
        fingerprint: String,
        /// Why not.
        why: String,
        /// What can be done about it.
        hint: String,
    },
}

impl SigningFault {
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::NotValid { .. } => "signer_not_valid",
            Self::NotAllowed { .. } => "not_allowed",
            Self::Exists { .. } => "signer_exists",
            Self::NoSuch { .. } => "no_such_signer",
            Self::Last { .. } => "last_signer",
            Self::Agent { .. } => "agent",
        }
    }

    pub(super) fn exit_code(&self) -> u8 {
        match self {
            Self::NoSuch { .. } => 4,
            Self::Exists { .. } => 5,
            Self::Last { .. } => 6,
            Self::NotValid { .. } | Self::NotAllowed { .. } => 7,
            Self::Agent { .. } => 12,
        }
    }

    pub(super) fn hint(&self) -> String {
        match self {
            Self::NotValid { name, .. } => format!(
                "name a key that is valid now with --signing-key; an owner can give this one another \
                 time, with `agekeep signers rm {name}` and then `agekeep signers add {name} KEY \
                 --role ROLE`"
            ),
            Self::NotAllowed { name, .. } => format!(
                "name the key of a signer who may with --signing-key: `agekeep signers list` shows \
                 every role; an owner can give {name} another, with `agekeep signers role {name} \
                 ROLE`"
            ),
            Self::Exists { .. } => {
                "`agekeep signers list` shows them all; `agekeep signers role` gives one another role; \
                 to change more, remove it first, which leaves its older commits as they are"
                    .into()
            }
            Self::NoSuch { .. } => "`agekeep signers list` shows them all".into(),
            Self::Last { .. } => {
                "add another owner first, one who is valid now and whose time does not end: `agekeep \
                 signers add NAME KEY --role owner`"
                    .into()
            }
            Self::Agent { hint, .. } => hint.clone(),
        }
    }
}

impl fmt::Display for SigningFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotValid {
                name,
                fingerprint,
                when,
            } => write!(f, "the signing key {fingerprint} of {name} {when}"),
            Self::NotAllowed {
                name,
                role,
                command,
            } => f.write_str(&not_allowed(name, role, command)),
            Self::Exists { what } => f.write_str(what),
            Self::NoSuch { name } => write!(f, "no signer has the name {name:?}"),
            Self::Last { name } => write!(
                f,
                "{name} is the last owner who may write now, or the last whose time does not end"
            ),
            Self::Agent {
                fingerprint, why, ..
            } => write!(
                f,
                "the ssh-agent did not sign with the key {fingerprint}: {why}"
            ),
        }
    }
}

/// Says in words that a signer of a role may not record something.
pub(crate) fn not_allowed(name: &str, role: &str, what: &str) -> String {
    format!("{name} has the role {role}, which may not record {what}")
}
