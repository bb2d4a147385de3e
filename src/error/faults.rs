//! Faults of keys, exports, remotes, membership, retention and signing.

use std::fmt;
use std::path::PathBuf;

/// The reasons why an identity, a recipient or a key file cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum KeyFault {
    /// Others than its owner can read or write a key or passphrase file.
    NotPrivate {
        /// The content of the file, in words.
        what: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// A passphrase is needed, and none is available.
    NoPassphrase {
        /// The thing it unlocks.
        wanted: String,
        /// The reason why there is none.
        why: String,
    },
    /// The passphrase does not open the identity file.
    WrongPassphrase {
        /// The identity file.
        path: PathBuf,
    },
    /// The program of an age plugin does not exist.
    MissingPlugin {
        /// The program.
        plugin: String,
    },
    /// An age plugin failed.
    PluginFailed {
        /// The program.
        plugin: String,
        /// Its message, or how it ended.
        why: String,
    },
    /// Only a plugin knows the recipient of this identity, and none was given.
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
                "run `chmod go= {}`, and replace it if somebody may have read it",
                path.display()
            ),
            Self::NoPassphrase { .. } => {
                "run the command on a terminal, or give the passphrase with --passphrase-fd N (or \
                 AGEKEEP_PASSPHRASE_FD), AGEKEEP_PASSPHRASE_FILE or AGEKEEP_PASSPHRASE_COMMAND"
                    .into()
            }
            Self::WrongPassphrase { .. } => {
                "try again; a lost passphrase cannot be recovered".into()
            }
            Self::MissingPlugin { plugin } => {
                format!("install {plugin}, and add its folder to PATH")
            }
            Self::PluginFailed { .. } => {
                "check that the hardware key is connected, and that the plugin works with age \
                 itself"
                    .into()
            }
            Self::NoRecipient { .. } => {
                "give it with --recipient; the plugin printed it when it created the \
                 identity"
                    .into()
            }
            Self::MixedRecipients => {
                "use only post-quantum recipients, or none: a file is as weak \
                                      as its weakest recipient"
                    .into()
            }
        }
    }
}

impl fmt::Display for KeyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotPrivate { what, path } => write!(
                f,
                "other accounts can access the {what} at {}, so agekeep does not use it",
                path.display()
            ),
            Self::NoPassphrase { wanted, why } => {
                write!(f, "there is no passphrase for {wanted}: {why}")
            }
            Self::WrongPassphrase { path } => {
                write!(f, "the passphrase is wrong for {}", path.display())
            }
            Self::MissingPlugin { plugin } => {
                write!(
                    f,
                    "the identity or recipient needs {plugin}, which is not in PATH"
                )
            }
            Self::PluginFailed { plugin, why } => write!(f, "{plugin} failed: {why}"),
            Self::NoRecipient { plugin } => {
                write!(f, "only {plugin} knows the recipient of this identity")
            }
            Self::MixedRecipients => write!(
                f,
                "one file cannot be encrypted to post-quantum and classic recipients"
            ),
        }
    }
}

// Faults of the destination of an export.

/// The reasons why an export does not begin.
#[derive(Debug)]
#[non_exhaustive]
pub enum ExportFault {
    /// Something is in its place already.
    InTheWay {
        /// The destination of the export.
        path: PathBuf,
        /// The kind of thing in its place.
        what: &'static str,
    },
    /// The destination is in a work tree of git, whose users may commit and push it.
    WorkTree {
        /// The destination of the export.
        path: PathBuf,
        /// The root of the work tree.
        of: PathBuf,
    },
    /// The file system takes the names of two memories for the same.
    OneName {
        /// The path of the second.
        path: String,
    },
}

impl ExportFault {
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::InTheWay { .. } => "in_the_way",
            Self::WorkTree { .. } => "work_tree",
            Self::OneName { .. } => "one_name",
        }
    }

    pub(super) fn exit_code(&self) -> u8 {
        match self {
            Self::InTheWay { .. } => 5,
            Self::WorkTree { .. } => 7,
            Self::OneName { .. } => 16,
        }
    }

    pub(super) fn hint(&self) -> &'static str {
        match self {
            Self::InTheWay { .. } => {
                "name a path that does not exist yet; for a folder, an empty one may be there"
            }
            Self::WorkTree { .. } => {
                "name a folder outside of the work tree, or use --force: one `git add` would publish \
                 the plaintext"
            }
            Self::OneName { .. } => {
                "name a folder on a case-sensitive file system, or export with --jsonl"
            }
        }
    }
}

impl fmt::Display for ExportFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InTheWay { path, what } => write!(f, "{} is {what}", path.display()),
            Self::WorkTree { path, of } => write!(
                f,
                "{} would be in a git work tree: {} has .git",
                path.display(),
                of.display()
            ),
            Self::OneName { path } => write!(
                f,
                "the file system does not distinguish {path} from another memory that was just \
                 written"
            ),
        }
    }
}

// Faults of a change of members.

/// The reasons why a change of the recipients, or of the keys, is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MembershipFault {
    /// A member has that name or that recipient already.
    Already {
        /// Their name.
        name: String,
        /// `reader` or `auditor`.
        role: &'static str,
    },
    /// No member has that name.
    Nobody {
        /// The requested name, if it is a valid one.
        name: Option<String>,
    },
    /// The last reader cannot be removed.
    LastReader {
        /// Their name.
        name: String,
    },
    /// Members cannot remove themselves: they would have made the keys that they must not know.
    Oneself {
        /// Their name.
        name: String,
    },
    /// Another command began to change the keys at the same time.
    Overtaken,
    /// The store is a copy, and uses the keyring of the store that it is a copy of.
    SharedKeyring {
        /// The folder of that store.
        original: PathBuf,
        /// The folder of its keyring.
        keyring: PathBuf,
    },
    /// There are two keyrings, and a record would reach only one of them.
    TwoKeyrings {
        /// The folder that the caller names.
        said: PathBuf,
        /// The folder that the policy names.
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
            Self::SharedKeyring { .. } => "shared_keyring",
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
            | Self::SharedKeyring { .. }
            | Self::TwoKeyrings { .. } => 6,
        }
    }

    pub(super) fn hint(&self) -> &'static str {
        match self {
            Self::Already { .. } => {
                "`agekeep members list` shows everybody; to change a role or a key, remove the \
                 member first"
            }
            Self::Nobody { .. } => "`agekeep members list` shows everybody",
            Self::LastReader { .. } => {
                "add another reader first, with `agekeep members add NAME RECIPIENT`"
            }
            Self::Oneself { .. } => "ask another reader to do it",
            Self::Overtaken => "run the command again",
            Self::SharedKeyring { .. } => {
                "make a copy of that keyring too, and name its folder with --keyring"
            }
            Self::TwoKeyrings { .. } => {
                "run the command without --keyring and AGEKEEP_KEYRING; `agekeep verify` shows for \
                 each keyring whether it has every key"
            }
        }
    }
}

impl fmt::Display for MembershipFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Already { name, role } => write!(f, "{name} is already a member, as {role}"),
            Self::Nobody { name: Some(name) } => write!(f, "there is no member {name}"),
            Self::Nobody { name: None } => f.write_str("there is no member with that name"),
            Self::LastReader { name } => {
                write!(
                    f,
                    "{name} is the last reader; without them nobody could read the store"
                )
            }
            Self::Oneself { name } => write!(
                f,
                "you cannot remove yourself ({name}): whoever removes a member knows the new keys"
            ),
            Self::Overtaken => f.write_str("another command changed the keys at the same time"),
            Self::SharedKeyring { original, keyring } => write!(
                f,
                "this is a copy of the store at {}, and it uses the same keyring, {}; \
                 changes here would change that store",
                original.display(),
                keyring.display()
            ),
            Self::TwoKeyrings { said, policy } => write!(
                f,
                "there are two keyrings: {}, which you named, and {}, which the store has; new \
                 keys would be in only one of them",
                said.display(),
                policy.display()
            ),
        }
    }
}

// Faults of retention: erased memories, holds, and sweeps that must not continue.

/// The reasons why data is gone, or has to stay.
#[derive(Debug)]
#[non_exhaustive]
pub enum RetentionFault {
    /// The memory, or this version of it, was erased.
    Erased {
        /// The memory id, 32 hexadecimal digits.
        memory: String,
        /// The event that erased it; or the event that marked it, while a reader has yet to destroy
        /// its keys.
        event: u64,
    },
    /// A hold protects memories.
    Held {
        /// The first few of the memories, by path or id.
        memories: Vec<String>,
        /// The number of held memories.
        total: usize,
        /// The hold on the first.
        hold: u64,
    },
    /// No hold has this number.
    NoHold {
        /// Its number.
        hold: u64,
    },
    /// The number of holds is at its limit.
    TooManyHolds {
        /// The limit.
        max: usize,
    },
    /// A sweep would take more than the policy allows.
    SweepLimit {
        /// The number of memories that would expire.
        expire: usize,
        /// The number of memories that would be erased.
        erase: usize,
        /// The limit for each.
        max: usize,
    },
    /// The clock cannot be trusted.
    Clock {
        /// The fault in it.
        why: String,
    },
    /// The event has no receipt.
    NoReceipt {
        /// The event, in words.
        what: String,
    },
    /// The erasure is too large for the list in one record.
    TooMuch {
        /// The number of versions that would be erased.
        versions: usize,
        /// The limit.
        max: usize,
    },
}

impl RetentionFault {
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::Erased { .. } => "erased",
            Self::Held { .. } => "held",
            Self::NoHold { .. } => "no_such_hold",
            Self::TooManyHolds { .. } => "too_many_holds",
            Self::SweepLimit { .. } => "sweep_limit",
            Self::Clock { .. } => "clock",
            Self::NoReceipt { .. } => "no_receipt",
            Self::TooMuch { .. } => "limit_exceeded",
        }
    }

    pub(super) fn exit_code(&self) -> u8 {
        match self {
            Self::Erased { .. } | Self::NoHold { .. } | Self::NoReceipt { .. } => 4,
            Self::Clock { .. } => 6,
            Self::Held { .. } => 7,
            Self::SweepLimit { .. } | Self::TooManyHolds { .. } | Self::TooMuch { .. } => 9,
        }
    }

    pub(super) fn hint(&self) -> String {
        match self {
            Self::Erased { event, .. } => format!(
                "`agekeep receipt show {event}` shows who erased it, when and why; it cannot be \
                 restored"
            ),
            Self::Held { hold, .. } => format!(
                "`agekeep hold list` shows who holds it and why; `agekeep hold rm {hold}` ends the \
                 hold"
            ),
            Self::NoHold { .. } => "`agekeep hold list` lists the holds".into(),
            Self::TooManyHolds { .. } => {
                "end a hold that you no longer need with `agekeep hold rm`, or hold a glob".into()
            }
            Self::SweepLimit { .. } => {
                "see what would be removed with `agekeep expire --dry-run`; if that is right, \
                 sweep with --yes; expiration.sweep_max in the policy sets the limit"
                    .into()
            }
            Self::Clock { .. } => {
                "correct the clock; if it is right, sweep with --accept-clock, which is recorded"
                    .into()
            }
            Self::NoReceipt { .. } => {
                "`agekeep log` shows the events of erase, expire and redact, which can have \
                 receipts"
                    .into()
            }
            Self::TooMuch { .. } => "erase fewer memories at once".into(),
        }
    }
}

impl fmt::Display for RetentionFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Erased { memory, event } => {
                write!(f, "the memory {memory} was erased by event {event}")
            }
            Self::Held {
                memories,
                total,
                hold,
            } => {
                let more = total - memories.len();
                let more = if more > 0 {
                    format!(" and {more} more")
                } else {
                    String::new()
                };
                write!(f, "hold {hold} keeps {}{more}", memories.join(", "))
            }
            Self::NoHold { hold } => write!(f, "there is no hold {hold}"),
            Self::TooManyHolds { max } => write!(f, "there are {max} holds, which is the limit"),
            Self::SweepLimit { expire, erase, max } => write!(
                f,
                "the sweep would remove {expire} memories and erase {erase}, but the policy allows \
                 {max} for one sweep; nothing was removed"
            ),
            Self::Clock { why } => write!(f, "the clock cannot be trusted: {why}"),
            Self::NoReceipt { what } => write!(f, "{what} has no receipt"),
            Self::TooMuch { versions, max } => write!(
                f,
                "this would erase {versions} versions at once, but a receipt can list at most {max}"
            ),
        }
    }
}

// Faults of signers, and of an ssh-agent that should sign.

/// The reasons why a key may not sign or does not, or why `signers` is not changed.
#[derive(Debug)]
#[non_exhaustive]
pub enum SigningFault {
    /// The signing key belongs to a signer, but is not valid at this time.
    NotValid {
        /// The signer's name.
        name: String,
        /// The key's fingerprint (`SHA256:…`).
        fingerprint: String,
        /// The start or end of its validity, in words.
        when: String,
    },
    /// The signer's role does not permit the command.
    NotAllowed {
        /// The signer's name.
        name: String,
        /// The role, as `signers` names it.
        role: &'static str,
        /// The command, as records name it.
        command: String,
    },
    /// A new signer has a name or key that is taken.
    Exists {
        /// The taken name or key, in words.
        what: String,
    },
    /// No signer has this name.
    NoSuch {
        /// The name.
        name: String,
    },
    /// The last owner cannot be removed: nobody else could change the signers.
    Last {
        /// The signer's name.
        name: String,
    },
    /// The ssh-agent that holds the signing key did not sign.
    Agent {
        /// The key's fingerprint (`SHA256:…`).
        fingerprint: String,
        /// The reason.
        why: String,
        /// Advice on what to do.
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
                "name a key that is valid now with --signing-key; an owner can change the validity \
                 of this one, with `agekeep signers rm {name}` and then `agekeep signers add \
                 {name} KEY --role ROLE`"
            ),
            Self::NotAllowed { name, .. } => format!(
                "name the key of a signer who may do this with --signing-key; `agekeep signers \
                 list` shows the roles, and an owner can change them with `agekeep signers role \
                 {name} ROLE`"
            ),
            Self::Exists { .. } => {
                "`agekeep signers list` lists the signers; to change a role, use `agekeep signers \
                 role`; to change more, remove the signer first, whose older commits stay valid"
                    .into()
            }
            Self::NoSuch { .. } => "`agekeep signers list` shows them all".into(),
            Self::Last { .. } => {
                "add another owner first, with a key that is valid now and does not expire: \
                 `agekeep signers add NAME KEY --role owner`"
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
                "{name} is the last owner who may write now, or the last whose key does not expire"
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

/// Formats the refusal of a record that a signer's role does not permit.
pub(crate) fn not_allowed(name: &str, role: &str, what: &str) -> String {
    format!("{name} has the role {role}, which may not record {what}")
}
