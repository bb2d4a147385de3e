//! What can be wrong with the keys a person brings: locked, for others too, or out of reach.

use std::fmt;
use std::path::PathBuf;

/// Why an identity, a recipient or a key file is of no use.
#[derive(Debug)]
#[non_exhaustive]
pub enum KeyFault {
    /// A key or passphrase file can be read or written by others than its owner.
    NotPrivate {
        /// What the file holds.
        what: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// A passphrase is needed, and there is none to be had.
    NoPassphrase {
        /// What it is needed for.
        wanted: String,
        /// Why there is none.
        why: String,
    },
    /// The passphrase does not open the identity file.
    WrongPassphrase {
        /// The identity file.
        path: PathBuf,
    },
    /// A plugin of age is needed, and its program is not there.
    MissingPlugin {
        /// The program.
        plugin: String,
    },
    /// A plugin of age did not do its part.
    PluginFailed {
        /// The program.
        plugin: String,
        /// What it said, or how it ended.
        why: String,
    },
    /// Only a plugin knows the recipient of this identity, and nobody has said it.
    NoRecipient {
        /// The plugin's program.
        plugin: String,
    },
    /// Post-quantum and classic recipients cannot be sealed to in one file.
    MixedRecipients,
}

impl KeyFault {
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::NotPrivate { .. } => "not_private",
            Self::NoPassphrase { .. } => "no_passphrase",
            Self::WrongPassphrase { .. } => "wrong_passphrase",
            Self::MissingPlugin { .. } => "missing_plugin",
            Self::PluginFailed { .. } => "plugin_failed",
            Self::NoRecipient { .. } => "no_recipient",
            Self::MixedRecipients => "mixed_recipients",
        }
    }

    pub(super) fn exit_code(&self) -> u8 {
        match self {
            Self::NoRecipient { .. } | Self::MixedRecipients => 2,
            Self::NotPrivate { .. }
            | Self::NoPassphrase { .. }
            | Self::WrongPassphrase { .. }
            | Self::MissingPlugin { .. }
            | Self::PluginFailed { .. } => 12,
        }
    }

    pub(super) fn hint(&self) -> String {
        match self {
            Self::NotPrivate { path, .. } => format!(
                "run `chmod go= {}`, and make a new one if somebody may have seen it",
                path.display()
            ),
            Self::NoPassphrase { .. } => {
                "run it on a terminal, or give the passphrase with --passphrase-fd N (or \
                 AGEKEEP_PASSPHRASE_FD), AGEKEEP_PASSPHRASE_FILE or AGEKEEP_PASSPHRASE_COMMAND"
                    .into()
            }
            Self::WrongPassphrase { .. } => {
                "try again; nothing can bring back a passphrase that is lost".into()
            }
            Self::MissingPlugin { plugin } => {
                format!("install {plugin}, and put its folder into PATH")
            }
            Self::PluginFailed { .. } => {
                "check that the hardware key is there, and that the plugin works with age itself"
                    .into()
            }
            Self::NoRecipient { .. } => {
                "give it with --recipient; the plugin printed it when the identity was made".into()
            }
            Self::MixedRecipients => "make all recipients post-quantum, or none: one file is as \
                 weak as the weakest of them"
                .into(),
        }
    }
}

impl fmt::Display for KeyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotPrivate { what, path } => write!(
                f,
                "others can use the {what} at {}, so it is not used",
                path.display()
            ),
            Self::NoPassphrase { wanted, why } => {
                write!(f, "there is no passphrase for {wanted}: {why}")
            }
            Self::WrongPassphrase { path } => {
                write!(f, "the passphrase does not open {}", path.display())
            }
            Self::MissingPlugin { plugin } => {
                write!(
                    f,
                    "the identity or recipient needs {plugin}, which is not in PATH"
                )
            }
            Self::PluginFailed { plugin, why } => write!(f, "{plugin} did not do its part: {why}"),
            Self::NoRecipient { plugin } => {
                write!(f, "only {plugin} knows the recipient of this identity")
            }
            Self::MixedRecipients => write!(
                f,
                "post-quantum and classic recipients cannot be sealed to in one file"
            ),
        }
    }
}
