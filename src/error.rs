//! The errors of a store: each with a message, a hint and an exit code.

mod faults;
mod hints;
pub(crate) mod refused;
mod remote_fault;

use std::path::{Path, PathBuf};
use std::{fmt, io};

use crate::id::StoreId;

pub(crate) use self::faults::not_allowed;
pub use self::faults::{ExportFault, KeyFault, MembershipFault, RetentionFault, SigningFault};
pub(crate) use self::refused::Refused;
pub use self::remote_fault::RemoteFault;
pub use crate::redact::similar::nearest;

/// A failure of the store itself, as opposed to a command that the memory tool refuses.
///
/// A refused command (a missing path, a text that is not unique) is an answer, not an error: it is
/// recorded and the agent reads it. An `Error` means that the command could not be carried out or
/// could not be recorded. Everything acknowledged before is safe.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// No store exists at this path.
    NoStore {
        /// The folder that was looked at.
        path: PathBuf,
    },
    /// `init` found a store already there.
    StoreExists {
        /// The folder of the existing store.
        path: PathBuf,
    },
    /// `init` found something else in the way.
    NotEmpty {
        /// The folder that holds other files.
        path: PathBuf,
    },
    /// `init` was to make a store in a folder that belongs to another user.
    NotYours {
        /// The folder.
        path: PathBuf,
        /// The id of the user who owns it.
        owner: u32,
    },
    /// Another process held the store's lock for longer than the limit.
    Locked {
        /// The lock file.
        path: PathBuf,
        /// The time it waited, in seconds.
        waited_seconds: u64,
    },
    /// The operating system refused a read or write.
    Io {
        /// The operation, as a verb phrase.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A key file does not exist.
    NoKeyFile {
        /// The kind of key that the file should hold: `identity` or `signing key`.
        what: &'static str,
        /// The path where it was expected.
        path: PathBuf,
    },
    /// A key file exists but cannot be used.
    BadKeyFile {
        /// The kind of key that the file should hold.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The reason; never part of the key.
        why: String,
    },
    /// An identity, a recipient or a key file cannot be used as it is.
    Key(KeyFault),
    /// The identity opens neither the epoch key nor the audit identity.
    NotARecipient {
        /// The keyring file that did not open.
        path: PathBuf,
    },
    /// The identity is an auditor's: it opens audit records, but no content.
    NotAReader,
    /// A change of the recipients or of the keys is refused.
    Membership(MembershipFault),
    /// The signing key is not in the store's `signers` file.
    NotASigner {
        /// The key's fingerprint (`SHA256:…`).
        fingerprint: String,
    },
    /// The key may not sign now or did not sign, or a change of `signers` is refused.
    Signing(SigningFault),
    /// The store was opened without a signing key, for reading only.
    NoSigningKey,
    /// The keyring, or a file of it, does not exist.
    NoKeyring {
        /// The folder or the file that is missing.
        path: PathBuf,
        /// True if the whole keyring folder is missing.
        is_whole: bool,
    },
    /// The keyring has no entry for a memory in history.
    MissingKey {
        /// The memory id, 32 hexadecimal digits.
        memory: String,
    },
    /// A format version that this program does not know.
    UnknownFormat {
        /// The thing that has this format.
        what: String,
        /// The version found.
        found: String,
    },
    /// Something does not hash, open or parse, or does not belong where it is.
    Damaged {
        /// The thing: a commit, an object, a keyring file, a memory.
        what: String,
        /// The fault; never content.
        why: String,
        /// The way to repair it, if one is known; otherwise a backup helps.
        hint: Option<String>,
    },
    /// `refs/heads/main` points at a commit that the store's journal does not know.
    HeadMoved {
        /// The commit the ref points at.
        found: String,
        /// The last commit in the journal.
        expected: String,
        /// True if the branch continues from that commit.
        ahead: bool,
    },
    /// History lacks the newest moment that was seen of the store.
    RolledBack {
        /// The event of that moment.
        event: u64,
        /// Its commit.
        seen: String,
        /// The newest commit in history now.
        found: String,
    },
    /// A path has another store than was seen there before, or one with the same id and another
    /// history.
    AnotherStore {
        /// The path.
        path: PathBuf,
        /// The path where the known store was seen, usually the same one.
        known_at: PathBuf,
        /// The known store.
        known: StoreId,
        /// The store found now.
        found: StoreId,
    },
    /// The file that remembers a store's newest moment cannot be read.
    BadPin {
        /// The file.
        path: PathBuf,
        /// The fault in it.
        why: String,
    },
    /// History lacks the event after which a reader of the log wants to go on.
    CursorLost {
        /// The cursor as it was given: an event number, or a commit.
        cursor: String,
        /// The number of the newest event in history.
        newest: u64,
    },
    /// `accept_rollback` found no rollback to accept.
    NotRolledBack,
    /// The store has format 1 and is not upgraded yet; only an owner's command upgrades it.
    OldFormat,
    /// Data is erased for good, or is held, or a sweep must not continue.
    Retention(RetentionFault),
    /// An export cannot be written to its destination.
    Export(ExportFault),
    /// A copy elsewhere cannot be reached, or what it has is not taken.
    Remote(RemoteFault),
    /// A revision names no moment in history.
    NoRevision {
        /// The revision as it was given.
        revision: String,
        /// The reason.
        why: String,
    },
    /// The events to undo changed no memory.
    NothingToUndo {
        /// The events, in words.
        selection: String,
    },
    /// A short commit id matches several commits.
    Ambiguous {
        /// The revision as it was given.
        revision: String,
        /// The matches, one line each.
        candidates: Vec<String>,
    },
    /// No memory was at a path at that moment.
    NotThere {
        /// The path.
        path: String,
        /// The moment, in words.
        when: String,
        /// Advice on what to do.
        hint: String,
    },
    /// A path is not allowed: it leads out of `/memories`, or looks like another path.
    DeniedPath {
        /// The fault in it; never the path.
        why: &'static str,
    },
    /// An undo would overwrite later changes of others, or bring back something that cannot be.
    Conflict {
        /// A sentence for each memory: which one, why, and whose change is newest.
        conflicts: Vec<String>,
    },
    /// An undo would no longer do what its plan said.
    PlanChanged {
        /// The digest of the requested plan.
        wanted: String,
        /// The digest of the plan now.
        found: String,
    },
    /// The policy file cannot be used.
    Policy {
        /// The line, counted from 1, if known.
        line: Option<usize>,
        /// The fault in it.
        why: String,
    },
    /// Another command changed the policy while it was edited.
    PolicyChanged,
    /// An input exceeds a limit, and was not read to its end.
    TooLong {
        /// The input.
        what: &'static str,
        /// The limit, in bytes.
        bytes_max: usize,
    },
    /// History is as large as the policy allows; nothing more is written or recorded.
    HistoryFull {
        /// The size of history, in bytes.
        bytes: u64,
        /// The limit.
        bytes_max: u64,
    },
    /// A session continues after it exceeded the event limit, within the same minute.
    TooManyEvents {
        /// The limit, in events per minute.
        events_max: u64,
    },
    /// A command would record a time that the caller made up, in a store that is not for trials.
    NotATrial,
    /// A person was asked to confirm an erasure by its name, and typed something else.
    NotConfirmed {
        /// The name that was asked for.
        name: String,
    },
    /// An argument of the caller is invalid.
    Invalid {
        /// The argument.
        what: &'static str,
        /// The fault in it.
        why: String,
    },
}

/// The result of every operation on a store.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Returns a stable one-word name for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoStore { .. } => "no_store",
            Self::StoreExists { .. } => "store_exists",
            Self::NotEmpty { .. } => "not_empty",
            Self::NotYours { .. } => "not_yours",
            Self::Locked { .. } => "locked",
            Self::Io { .. } => "io",
            Self::NoKeyFile { .. } => "no_key_file",
            Self::BadKeyFile { .. } => "bad_key_file",
            Self::Key(fault) => fault.code(),
            Self::NotARecipient { .. } => "not_a_recipient",
            Self::NotAReader => "not_a_reader",
            Self::Membership(fault) => fault.code(),
            Self::NotASigner { .. } => "not_a_signer",
            Self::Signing(fault) => fault.code(),
            Self::NoSigningKey => "no_signing_key",
            Self::NoKeyring { .. } => "no_keyring",
            Self::MissingKey { .. } => "missing_key",
            Self::UnknownFormat { .. } => "unknown_format",
            Self::Damaged { .. } => "damaged",
            Self::HeadMoved { .. } => "head_moved",
            Self::RolledBack { .. } => "rolled_back",
            Self::AnotherStore { .. } => "another_store",
            Self::BadPin { .. } => "bad_pin",
            Self::CursorLost { .. } => "cursor_lost",
            Self::NotRolledBack => "not_rolled_back",
            Self::OldFormat => "old_format",
            Self::Retention(fault) => fault.code(),
            Self::Export(fault) => fault.code(),
            Self::Remote(fault) => fault.code(),
            Self::NoRevision { .. } => "no_revision",
            Self::NothingToUndo { .. } => "nothing_to_undo",
            Self::Ambiguous { .. } => "ambiguous",
            Self::NotThere { .. } => "not_found",
            Self::DeniedPath { .. } => "denied",
            Self::Conflict { .. } => "merge_conflict",
            Self::PlanChanged { .. } => "plan_changed",
            Self::Policy { .. } => "policy",
            Self::PolicyChanged => "policy_changed",
            Self::TooLong { .. } | Self::HistoryFull { .. } | Self::TooManyEvents { .. } => {
                "limit_exceeded"
            }
            Self::NotATrial => "not_a_trial",
            Self::NotConfirmed { .. } => "not_confirmed",
            Self::Invalid { .. } => "invalid",
        }
    }

    /// Makes the error of an invalid argument: what it is, and the fault in it.
    pub fn invalid(what: &'static str, why: impl Into<String>) -> Self {
        let why = why.into();
        Self::Invalid { what, why }
    }

    /// Returns the process exit code, from the table in docs/troubleshooting.md.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::UnknownFormat { .. } => 1,
            Self::Key(fault) => fault.exit_code(),
            Self::Policy { .. } | Self::Invalid { .. } | Self::Ambiguous { .. } => 2,
            Self::NoRevision { .. } | Self::NothingToUndo { .. } | Self::NotThere { .. } => 4,
            Self::StoreExists { .. } | Self::NotEmpty { .. } | Self::NotYours { .. } => 5,
            Self::PlanChanged { .. }
            | Self::PolicyChanged
            | Self::NotRolledBack
            | Self::OldFormat => 6,
            Self::Membership(fault) => fault.exit_code(),
            Self::DeniedPath { .. }
            | Self::NotASigner { .. }
            | Self::NotATrial
            | Self::NotConfirmed { .. } => 7,
            Self::Signing(fault) => fault.exit_code(),
            Self::Retention(fault) => fault.exit_code(),
            Self::Export(fault) => fault.exit_code(),
            Self::Remote(fault) => fault.exit_code(),
            Self::TooLong { .. } | Self::HistoryFull { .. } | Self::TooManyEvents { .. } => 9,
            Self::NoStore { .. } => 10,
            Self::Locked { .. } => 11,
            Self::NoKeyFile { .. }
            | Self::BadKeyFile { .. }
            | Self::NotARecipient { .. }
            | Self::NotAReader
            | Self::NoKeyring { .. }
            | Self::NoSigningKey
            | Self::MissingKey { .. } => 12,
            Self::Damaged { .. }
            | Self::HeadMoved { .. }
            | Self::RolledBack { .. }
            | Self::AnotherStore { .. }
            | Self::BadPin { .. }
            | Self::CursorLost { .. } => 13,
            Self::Conflict { .. } => 15,
            Self::Io { .. } => 16,
        }
    }

    /// Formats the errors about history, and about what may be recorded in it or destroyed.
    fn fmt_of_history(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CursorLost { cursor, newest } => write!(
                f,
                "history ends with event {newest} and does not contain {cursor:?}, after which the log \
                 was to go on: the store may have been rolled back"
            ),
            Self::NotRolledBack => write!(f, "history was not rolled back"),
            Self::OldFormat => write!(
                f,
                "the store has format 1, and you cannot upgrade it to format 2"
            ),
            Self::NothingToUndo { selection } => write!(
                f,
                "there is nothing to undo, because no such event changed a memory: {selection}"
            ),
            Self::NoRevision { revision, why } => {
                write!(f, "{revision:?} names no moment: {why}")
            }
            Self::Ambiguous {
                revision,
                candidates,
            } => write!(
                f,
                "{revision:?} could be any of {} commits",
                candidates.len()
            ),
            Self::NotThere { path, when, .. } => write!(f, "nothing was at {path} {when}"),
            Self::Conflict { conflicts } => write!(
                f,
                "{} in the way of the undo:\n  {}",
                match conflicts.len() {
                    1 => "a memory is".into(),
                    count => format!("{count} memories are"),
                },
                conflicts.join("\n  ")
            ),
            Self::PlanChanged { wanted, found } => {
                write!(f, "the plan has changed from {wanted} to {found}")
            }
            Self::NotATrial => {
                f.write_str("only a store for trials records a time from --now, and this is none")
            }
            Self::NotConfirmed { name } => {
                write!(f, "nothing was destroyed, because you did not type {name}")
            }
            _ => unreachable!("every other error has words of its own"),
        }
    }

    /// Tells whether the error is about one memory that does not open, as opposed to a disk that
    /// cannot be read or a command that cannot be carried out.
    pub(crate) fn is_of_one_memory(&self) -> bool {
        matches!(
            self,
            Self::Damaged { .. }
                | Self::MissingKey { .. }
                | Self::UnknownFormat { .. }
                | Self::Retention(RetentionFault::Erased { .. })
        )
    }

    /// Returns advice on what to do about the error.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::NoStore { path } => format!(
                "create one with `agekeep init --store {}`, or name another folder with --store",
                path.display()
            ),
            Self::Io { source, .. } => hints::of_io(source).into(),
            Self::Invalid { what, .. } => hints::of_argument(what).into(),
            Self::NoKeyFile { what, .. } => format!(
                "restore the {what} from your backup, or name it with --{}; for a new store, \
                 `agekeep init` creates one",
                what.replace(' ', "-")
            ),
            Self::BadKeyFile { what, .. } => format!(
                "restore the {what} from your backup, or name another with --{}",
                what.replace(' ', "-")
            ),
            Self::Membership(fault) => fault.hint().into(),
            Self::Signing(fault) => fault.hint(),
            Self::Retention(fault) => fault.hint(),
            Self::Export(fault) => fault.hint().into(),
            Self::Remote(fault) => fault.hint(),
            Self::Key(fault) => fault.hint(),
            Self::HeadMoved {
                expected,
                ahead: false,
                ..
            } => format!(
                "move the branch back with `git -C STORE update-ref refs/heads/main {expected}`, \
                 where STORE is the store's folder: another program moved it"
            ),
            Self::Ambiguous { candidates, .. } => {
                format!(
                    "give more digits of one of these:\n  {}",
                    candidates.join("\n  ")
                )
            }
            Self::NotThere { hint, .. }
            | Self::Damaged {
                hint: Some(hint), ..
            } => hint.clone(),
            _ => self.fixed_hint().into(),
        }
    }

    /// Returns the hint of an error whose hint never varies.
    #[allow(clippy::too_many_lines)] // a list, as long as there are errors
    fn fixed_hint(&self) -> &'static str {
        match self {
            Self::StoreExists { .. } => "use it as it is, or name another folder with --store",
            Self::NotEmpty { .. } => "name an empty or new folder",
            Self::NotYours { .. } => {
                "name a new folder with --store, or one that you own: the owner of a folder can \
                 replace what is in it"
            }
            Self::Locked { .. } => {
                "try again later, when the other process that uses the store is done"
            }
            Self::NoSigningKey => "name a signing key with --signing-key",
            Self::NotARecipient { .. } => {
                "name an identity of a member with --identity; `git show main:recipients` in the \
                 store lists the members"
            }
            Self::NotAReader => {
                "name a reader's identity with --identity to read memories; an auditor can use log, \
                 access, report, receipt, verify and status"
            }
            Self::NotASigner { .. } => {
                "name the key of a signer with --signing-key; `git show main:signers` in the store \
                 lists the signers"
            }
            Self::NoKeyring { .. } => {
                "restore the keyring folder from its backup, or name its folder with --keyring. A copy \
                 that asks for keys gets them with `agekeep sync`; where its keyring is lost, name another \
                 folder with --keyring, an empty one. One that was cloned without keys, or \
                 has left, has none: `agekeep verify` still checks structure, chain and signatures"
            }
            Self::MissingKey { .. } => {
                "restore the keyring's ring and names from the same backup as the repository. If another \
                 machine has the keys, move the keyring's folder away and run `agekeep sync`, or take a \
                 newer backup with `agekeep pull --keys FILE`"
            }
            Self::UnknownFormat { .. } => {
                "use the version of agekeep that wrote it, or a newer one"
            }
            Self::Damaged { .. } => {
                "keep the store as it is, check it with `git fsck --full`, and restore the damaged \
                 files from a backup"
            }
            Self::HeadMoved { ahead: true, .. } => {
                "keep a copy of the store, then remove its file `journal` to continue from the branch: \
                 either another program added commits, or the journal was damaged"
            }
            Self::RolledBack { .. } => {
                "find out who replaced the store by an older copy or another history, and why; then \
                 restore the newest copy. If a remote has it, clone that to a new folder, under this \
                 machine's name if it had one. Or continue from here with `agekeep accept-rollback \
                 --reason TEXT`, which is recorded"
            }
            Self::AnotherStore { .. } => {
                "find out who put it there, and restore the store that was there; if you put it \
                 there yourself, continue with `agekeep accept-rollback --reason TEXT`, which is \
                 recorded"
            }
            Self::BadPin { .. } => {
                "find out who changed it; if the store is as you left it, move that file away: the \
                 next command then trusts the store as it is"
            }
            Self::CursorLost { .. } => {
                "run `agekeep log -n 1 --format jsonl` to see the newest event there is; if the cursor \
                 is right, somebody put an older copy of the store in its place: find out who and why"
            }
            Self::HistoryFull { .. } => {
                "raise the limit with `agekeep policy set limits.history_bytes BYTES` (0 means no \
                 limit); deleting or erasing frees no space, because history keeps all ciphertext"
            }
            Self::TooManyEvents { .. } => {
                "wait a minute; until then agekeep executes and records no command of this session"
            }
            Self::NotRolledBack => {
                "go on as before, nothing needs to be accepted: history still has every event that was \
                 seen"
            }
            Self::OldFormat => {
                "ask an owner who is a reader to run any command, such as `agekeep view \
                 /memories`: that upgrades the store"
            }
            Self::NoRevision { .. } => {
                "give a commit id, HEAD~N, an event number as `agekeep log` shows it, or a time: \
                 @2026-11-01T09:00Z, 2h ago, yesterday; a file in it is REV:PATH, such as \
                 HEAD:notes.md; `agekeep help revisions` says more"
            }
            Self::NothingToUndo { .. } => {
                "`agekeep log` lists the events, and `agekeep show` shows what one changed"
            }
            Self::Conflict { .. } => {
                "look at them with `agekeep diff`, or undo those later events too; with --partial \
                 they stay unchanged and the rest is undone"
            }
            Self::PlanChanged { .. } => {
                "run the command with --dry-run again, read the new plan, and give its digest"
            }
            Self::Policy { line: None, .. } => {
                "run `agekeep policy get` to see every key with its value; `agekeep help policy` \
                 says how values are written"
            }
            Self::Policy { .. } => "correct the line; `agekeep policy get` lists every key",
            Self::PolicyChanged => {
                "run `agekeep policy get` to see the present policy, and edit \
                                    that"
            }
            Self::DeniedPath { .. } => "name /memories or a path below it",
            Self::TooLong { .. } => "split it into several files",
            Self::NotATrial => {
                "leave out --now to use the machine's clock; dry runs and `policy explain` accept \
                 it in every store, and `agekeep init --trial` creates a store that records it"
            }
            Self::NotConfirmed { .. } => {
                "see what would be destroyed with --dry-run, then type the name exactly as it is shown, \
                 or use --yes; nothing was changed"
            }
            _ => "see `agekeep --help`",
        }
    }

    /// Maps an I/O error to an [`Error`]; a file that agekeep refuses to read becomes
    /// [`Error::Damaged`].
    pub fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| match Refused::in_error(&source) {
            Some(refused) => Self::damaged_with_hint(
                refused.path().display().to_string(),
                refused.why(),
                refused.hint(),
            ),
            None => Self::Io {
                doing,
                path,
                source,
            },
        }
    }

    pub(crate) fn damaged(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Damaged {
            what: what.into(),
            why: why.into(),
            hint: None,
        }
    }

    /// Builds a damage error with a hint that repairs it.
    pub(crate) fn damaged_with_hint(
        what: impl Into<String>,
        why: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self::Damaged {
            what: what.into(),
            why: why.into(),
            hint: Some(hint.into()),
        }
    }
}

impl fmt::Display for Error {
    #[allow(clippy::too_many_lines)] // a list, as long as there are errors
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoStore { path } => write!(f, "no store at {}", path.display()),
            Self::StoreExists { path } => write!(
                f,
                "there is already a store at \
                                                     {}",
                path.display()
            ),
            Self::NotEmpty { path } => {
                write!(f, "{} is not empty and is not a store", path.display())
            }
            Self::NotYours { path, owner } => {
                write!(f, "{} belongs to the user {owner}", path.display())
            }
            Self::Locked {
                path,
                waited_seconds,
            } => write!(f, "{} stayed locked for {waited_seconds} s", path.display()),
            Self::Io {
                doing,
                path,
                source,
            } => write!(f, "cannot {doing} {}: {source}", path.display()),
            Self::NoKeyFile { what, path } => write!(f, "no {what} at {}", path.display()),
            Self::BadKeyFile { what, path, why } => {
                write!(f, "{} is not a usable {what}: {why}", path.display())
            }
            Self::Key(fault) => fault.fmt(f),
            Self::NotARecipient { path } => {
                write!(f, "your identity cannot decrypt {}", path.display())
            }
            Self::Membership(fault) => fault.fmt(f),
            Self::NotAReader => f.write_str(
                "your identity is an auditor's: it decrypts audit records, not memories",
            ),
            Self::NotASigner { fingerprint } => {
                write!(
                    f,
                    "the signing key {fingerprint} may not write to this store"
                )
            }
            Self::Signing(fault) => fault.fmt(f),
            Self::Retention(fault) => fault.fmt(f),
            Self::Export(fault) => fault.fmt(f),
            Self::Remote(fault) => fault.fmt(f),
            Self::NoSigningKey => write!(f, "there is no signing key, so nothing can be recorded"),
            Self::NoKeyring { path, is_whole } => {
                let what = if *is_whole { "keyring" } else { "keyring file" };
                write!(f, "the {what} {} is missing", path.display())
            }
            Self::MissingKey { memory } => {
                write!(f, "the keyring has no key for the memory {memory}")
            }
            Self::UnknownFormat { what, found } => {
                write!(
                    f,
                    "{what} has the format version {found}, which this version of agekeep does not \
                     know"
                )
            }
            Self::Damaged { what, why, .. } => write!(f, "{what} is damaged: {why}"),
            Self::HeadMoved {
                found, expected, ..
            } => write!(
                f,
                "refs/heads/main points at {found}, and the journal ends at {expected}"
            ),
            Self::RolledBack { event, seen, found } => write!(
                f,
                "history was rolled back: event {event} ({seen}) was seen here before, and is \
                 missing now; history ends at {found}"
            ),
            Self::AnotherStore {
                path,
                known_at,
                known,
                found,
            } => fmt_another_store(f, path, known_at, [*known, *found]),
            Self::BadPin { path, why } => write!(
                f,
                "the file {}, which remembers the newest event of the store, cannot be read: {why}",
                path.display()
            ),
            Self::Policy {
                line: Some(line),
                why,
            } => write!(f, "the policy is not valid at line {line}: {why}"),
            Self::Policy { line: None, why } => write!(f, "the policy is not valid: {why}"),
            Self::PolicyChanged => {
                f.write_str("somebody else changed the policy while you edited it")
            }
            Self::TooLong { what, bytes_max } => {
                write!(f, "{what} is longer than {bytes_max} bytes")
            }
            Self::HistoryFull { bytes, bytes_max } => write!(
                f,
                "history takes {bytes} bytes, and limits.history_bytes is {bytes_max}"
            ),
            Self::TooManyEvents { events_max } => write!(
                f,
                "the session has recorded more than {events_max} events within a minute"
            ),
            Self::DeniedPath { why } => write!(f, "the path cannot be used: {why}"),
            Self::Invalid { what, why } => write!(f, "{what} cannot be used: {why}"),
            of_history => of_history.fmt_of_history(f),
        }
    }
}

/// Formats the error about the known store and the store found instead.
fn fmt_another_store(
    f: &mut fmt::Formatter<'_>,
    path: &Path,
    known_at: &Path,
    [known, found]: [StoreId; 2],
) -> fmt::Result {
    let (path, known_at) = (path.display(), known_at.display());
    if known != found {
        return write!(
            f,
            "another store is at {path}: {known} was seen there, and now it is {found}"
        );
    }
    write!(
        f,
        "another store is at {path}: it claims to be {found}, but its first commit is not that of \
         the store {known}, which was seen at {known_at}"
    )
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl From<crate::redact::Fault> for Error {
    fn from(fault: crate::redact::Fault) -> Self {
        Self::Policy {
            line: fault.line,
            why: fault.why,
        }
    }
}
