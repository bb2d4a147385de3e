//! Faults of copies elsewhere, and of machines that have one.

use std::fmt;

use chrono::{DateTime, SecondsFormat, Utc};

/// The reasons why a copy elsewhere is not used, or what it has is not taken.
#[derive(Debug)]
#[non_exhaustive]
pub enum RemoteFault {
    /// The store has no remote of that name.
    NoSuch {
        /// The name.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// A remote has that name already.
    Exists {
        /// The name.
        name: String,
    },
    /// The program `git` is not installed.
    NoGit,
    /// The host cannot be reached, refuses, or says what nobody understands.
    Unreachable {
        /// The remote.
        remote: String,
        /// The last words of git, or of the host.
        why: String,
        /// How many events of this copy it did not get yet, as far as is known.
        waiting: u64,
    },
    /// The remote has no history.
    Empty {
        /// The remote.
        remote: String,
    },
    /// The remote has events that the store lacks.
    Ahead {
        /// The remote.
        remote: String,
    },
    /// The store and the remote each have events that the other lacks.
    Diverged {
        /// The remote.
        remote: String,
    },
    /// The remote's history does not verify as the history of this store.
    Unverified {
        /// The remote.
        remote: String,
        /// The first finding.
        what: String,
    },
    /// Keys that came along are wrong: those of a machine, or of a backup.
    WrongKeys {
        /// The machine that sent them.
        machine: Option<String>,
        /// The first finding.
        what: String,
    },
    /// The keys of this copy, or those that come along, do not fit the remote's history.
    NoKeys {
        /// The remote.
        remote: String,
    },
    /// The history came, and the keys to it have not: no machine has sent them to this one yet.
    NoMail {
        /// The remote.
        remote: String,
    },
    /// This machine asks for keys, and nobody has let it in yet.
    Waiting {
        /// The name under which it asks.
        name: String,
        /// The code to compare.
        code: String,
        /// True if it asks for what an auditor may open.
        is_auditor: bool,
    },
    /// The remote's history says that this machine was removed.
    Removed {
        /// The remote.
        remote: String,
    },
    /// Events or keys of this copy are nowhere else.
    OnlyHere {
        /// The remote.
        remote: String,
        /// True if the remote has events that do not go on from this copy's.
        is_apart: bool,
    },
    /// The keys of this copy are destroyed, and the remote could not be told.
    Untold {
        /// The remote.
        remote: String,
        /// The last words of git, or of the host.
        why: String,
    },
    /// No machine asks for keys under that name, role and code.
    NoRequest {
        /// The remote.
        remote: String,
        /// The name.
        name: String,
    },
    /// The store and the remote each have events that the other lacks, and those of this machine are at
    /// the remote on a line of their own.
    Apart {
        /// The remote.
        remote: String,
        /// How many events are on that line alone.
        own: u64,
        /// How many are at the remote alone, by signer.
        theirs: Vec<(String, u64)>,
        /// True if another reader's machine has said that it has keys, or this one is an auditor's.
        has_reader: bool,
        /// The events of this machine that erased memories.
        erasures: Vec<u64>,
    },
    /// The remote serves an older card of a machine than it did before.
    TurnedBack {
        /// The remote.
        remote: String,
        /// The machine.
        machine: String,
    },
    /// The remote lacks events that a machine signed for.
    Withholds {
        /// The remote.
        remote: String,
        /// The machine.
        machine: String,
        /// How many events its history has.
        events: u64,
    },
    /// This copy has reached none of its remotes for longer than the policy allows, and what it has may have
    /// been erased elsewhere.
    Closed {
        /// When it last reached one.
        last: DateTime<Utc>,
        /// How long it may go without.
        allowed: String,
    },
    /// The store went on again and again while the remote's history was verified.
    Overtaken,
}

impl RemoteFault {
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::NoSuch { .. } => "no_remote",
            Self::Exists { .. } => "remote_exists",
            Self::NoGit => "no_git",
            Self::Unreachable { .. } => "unreachable",
            Self::Empty { .. } => "remote_empty",
            Self::Ahead { .. } => "remote_ahead",
            Self::Diverged { .. } => "diverged",
            Self::Unverified { .. } => "unverified",
            Self::WrongKeys { .. } => "wrong_keys",
            Self::NoKeys { .. } => "keys_behind",
            Self::NoMail { .. } => "no_mail",
            Self::Waiting { .. } => "waiting_for_keys",
            Self::Removed { .. } => "removed",
            Self::OnlyHere { .. } => "only_here",
            Self::Untold { .. } => "remote_untold",
            Self::NoRequest { .. } => "no_request",
            Self::Apart { .. } => "apart",
            Self::TurnedBack { .. } => "remote_turned_back",
            Self::Withholds { .. } => "remote_withholds",
            Self::Closed { .. } => "out_of_touch",
            Self::Overtaken => "overtaken",
        }
    }

    pub(super) fn exit_code(&self) -> u8 {
        match self {
            Self::NoSuch { .. } | Self::Empty { .. } | Self::NoRequest { .. } => 4,
            Self::Exists { .. } => 5,
            Self::OnlyHere { .. } => 6,
            Self::Removed { .. } => 7,
            Self::Overtaken => 11,
            Self::NoKeys { .. }
            | Self::NoMail { .. }
            | Self::Waiting { .. }
            | Self::Closed { .. } => 12,
            Self::Unverified { .. }
            | Self::WrongKeys { .. }
            | Self::TurnedBack { .. }
            | Self::Withholds { .. } => 13,
            Self::Ahead { .. } | Self::Diverged { .. } | Self::Apart { .. } => 15,
            Self::NoGit | Self::Unreachable { .. } | Self::Untold { .. } => 16,
        }
    }

    pub(super) fn hint(&self) -> String {
        match self {
            Self::NoSuch { known, .. } if known.is_empty() => {
                "add one with `agekeep remote add NAME URL`".into()
            }
            Self::NoSuch { known, .. } => format!("name one of these: {}", known.join(", ")),
            Self::Exists { name } => format!(
                "give it another name, or remove the other first with `agekeep remote rm {name}`"
            ),
            Self::NoGit => "install git, and add its folder to PATH".into(),
            Self::Unreachable { remote, .. } if is_url(remote) => {
                "check that `git ls-remote` reaches it, and that this disk has room. Nothing was made".into()
            }
            Self::Unverified { remote, .. } if is_url(remote) => {
                "find out who changed it, or clone from another host. Nothing was made".into()
            }
            Self::Unreachable { remote, .. } => format!(
                "check that `git ls-remote` reaches the URL of {remote}, which `agekeep remote \
                 list` shows, and that this disk has room. Nothing was changed here, and the next try \
                 sends or takes what is missing"
            ),
            Self::Empty { .. } => {
                "run `agekeep push` in the store that has the history, and try again".into()
            }
            Self::Ahead { remote } => format!(
                "run `agekeep sync {remote}`, which takes what another copy pushed there, if it goes \
                 on from here"
            ),
            Self::Diverged { remote } => format!(
                "go on with one of the two, and push the other to a remote of its own: agekeep cannot \
                 merge copies that were written to at the same time. If {remote} is another store's, \
                 remove it. Nothing was taken"
            ),
            Self::Unverified { remote, .. } => format!(
                "find out who changed {remote}: `agekeep verify --remote {remote}` says all of it. Nothing was \
                 taken. If this copy is right, add an empty repository as another remote and push to that"
            ),
            Self::TurnedBack { remote, .. } => format!(
                "find out whether {remote} was restored from a backup. A sync on each machine publishes its \
                 card anew; `agekeep replicas rm` removes one that is gone. Nothing was taken"
            ),
            Self::Withholds { machine, .. } => format!(
                "run `agekeep sync` on {machine}, which sends them again, or `agekeep replicas rm \
                 {machine}` if it is gone or its word is false. Nothing was taken or sent"
            ),
            Self::Overtaken => "try again when fewer commands are executed".into(),
            _ => self.hint_of_machines(),
        }
    }

    /// Says what to do where machines wait for each other.
    fn hint_of_machines(&self) -> String {
        match self {
            Self::WrongKeys {
                machine: Some(name), ..
            } => format!(
                "run `agekeep verify` on {name}, or `agekeep replicas rm {name}` if nobody can mend it; \
                 another machine that has the keys sends them with its next sync. Nothing was taken"
            ),
            Self::WrongKeys { machine: None, .. } => {
                "make another backup with `agekeep keys backup FILE`; nothing was taken".into()
            }
            Self::NoMail { .. } => {
                "run `agekeep sync` on a machine that has them, and then here again; --wait waits for it"
                    .into()
            }
            Self::Waiting {
                name,
                code,
                is_auditor,
            } => format!(
                "ask a reader to run `agekeep replicas add {name} --code {code}{}` where the store can be \
                 read, and then run `agekeep sync` here; --wait waits for it",
                if *is_auditor { " --role auditor" } else { "" }
            ),
            Self::Removed { .. } => {
                "ask an owner of the store. Nothing was taken or sent. Keep what only this copy has with \
                 `agekeep export`, run `agekeep replicas leave --destroy`, and remove its folder"
                    .into()
            }
            Self::OnlyHere { is_apart: true, .. } => {
                "keep what only this copy has, with `agekeep export` if it may read it; then remove its folder \
                 and its keyring. Nothing was destroyed"
                    .into()
            }
            Self::OnlyHere { .. } => {
                "run `agekeep sync` here, then on a reader's other machine, and try again before anybody \
                 writes. Nothing was destroyed"
                    .into()
            }
            Self::Untold { remote, .. } => format!(
                "run `agekeep replicas leave --destroy` again once {remote} answers, so that the other machines \
                 and the receipts know it"
            ),
            Self::NoRequest { .. } => {
                "check that name, role and code are those that `agekeep sync` shows on the other machine"
                    .into()
            }
            Self::Apart {
                remote,
                has_reader: false,
                ..
            } => format!(
                "go on with this copy: no other machine has said that it has keys. Add an empty repository as \
                 another remote, run `agekeep sync` with that, and `agekeep remote rm {remote}`; the other \
                 machines clone from there. If you have a newer backup of the keyring, clone {remote} with it \
                 instead"
            ),
            Self::Apart { erasures, .. } => format!(
                "go on with one of the two histories: agekeep cannot merge them. To take the remote's, \
                 clone it to a new folder under this machine's name. {}Carry over what only this copy has, \
                 and remove this copy: it still opens what is erased elsewhere",
                erase_again(erasures)
            ),
            Self::NoKeys { .. } => {
                "run `agekeep sync` where machines send each other keys. Otherwise run `agekeep push` and \
                 `agekeep keys backup FILE` where the events were written, and name that file here with \
                 --keys (an auditor's is made with --for-auditors). Nothing was taken"
                    .into()
            }
            Self::Closed { .. } => {
                "run `agekeep sync`, which applies what was erased elsewhere, and try again. If that says that \
                 both were written to, and you need what only this copy has, remove that remote and sync with an \
                 empty one. The policy says how long a copy may go without, as `replicas.closes_after`"
                    .into()
            }
            _ => String::new(),
        }
    }
}

/// Says which erasures the other history lacks: the first ten, and how many more.
fn erase_again(events: &[u64]) -> String {
    let mut first: Vec<_> = events.iter().take(10).map(u64::to_string).collect();
    match events.len() {
        0 => return String::new(),
        1 => return format!("Erase there again what event {} erased here. ", first[0]),
        more @ 11.. => first.push(format!("{} more", more - 10)),
        _ => {}
    }
    let events = first.join(", ");
    format!("Erase there again what the events {events} erased here. ")
}

/// Tells whether a remote has no name yet, because it is being cloned.
fn is_url(remote: &str) -> bool {
    remote.contains(['/', ':'])
}

/// Says how many events wait here.
fn waits(events: u64) -> String {
    match events {
        0 => String::new(),
        1 => "; 1 event waits here for it".into(),
        events => format!("; {events} events wait here for it"),
    }
}

impl fmt::Display for RemoteFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuch { name, .. } => write!(f, "the store has no remote named {name}"),
            Self::Exists { name } => write!(f, "there is already a remote named {name}"),
            Self::NoGit => f.write_str("the program git is not in PATH"),
            Self::Unreachable {
                remote,
                why,
                waiting,
            } => write!(
                f,
                "the transfer with {remote} failed: {why}{}",
                waits(*waiting)
            ),
            Self::Empty { remote } => write!(f, "{remote} has no history"),
            Self::Ahead { remote } => write!(f, "{remote} has events that this store lacks"),
            Self::Diverged { remote } => write!(
                f,
                "this store and {remote} each have events that the other lacks"
            ),
            Self::Unverified { remote, what } => write!(
                f,
                "the history of {remote} does not verify as the history of this store ({what})"
            ),
            Self::WrongKeys {
                machine: Some(name),
                what,
            } => write!(
                f,
                "the keys that the machine {name} sent are wrong ({what})"
            ),
            Self::WrongKeys {
                machine: None,
                what,
            } => write!(f, "the keys that came along are wrong ({what})"),
            Self::NoKeys { remote } => write!(
                f,
                "the history of {remote} verifies, and the keys of this copy are older or newer than it"
            ),
            Self::NoMail { remote } => write!(
                f,
                "{remote} has new history, and no machine has sent the keys to it yet"
            ),
            Self::Waiting { name, .. } => {
                write!(f, "{name} asks for keys, and nobody has let it in yet")
            }
            Self::Removed { remote } => write!(
                f,
                "the history of {remote} says that this machine was removed"
            ),
            Self::OnlyHere { remote, .. } => write!(
                f,
                "{remote} does not end where this copy does, or no other machine has said that it has all \
                 keys up to there"
            ),
            Self::Untold { remote, why } => write!(
                f,
                "the keys of this copy are destroyed, and {remote} could not be told: {why}"
            ),
            Self::NoRequest { remote, name } => {
                write!(
                    f,
                    "no machine named {name} asks for keys at {remote} with that code"
                )
            }
            Self::Apart {
                remote,
                own,
                theirs,
                ..
            } => {
                let theirs = theirs.iter();
                let theirs: Vec<_> = theirs
                    .map(|(name, count)| format!("{count} by {name}"))
                    .collect();
                write!(
                    f,
                    "this store and {remote} each have events that the other lacks: the {own} of this \
                     machine are safe there on a line of their own, and {remote} has {}",
                    theirs.join(", ")
                )
            }
            Self::TurnedBack { remote, machine } => write!(
                f,
                "{remote} serves an older card of {machine} than it did before"
            ),
            Self::Withholds {
                remote,
                machine,
                events,
            } => write!(
                f,
                "{machine} signed for a history of {events} events, and {remote} does not have it"
            ),
            Self::Closed { last, allowed } => write!(
                f,
                "this copy last reached a remote at {}, and the policy closes it after {allowed}",
                last.to_rfc3339_opts(SecondsFormat::Secs, true)
            ),
            Self::Overtaken => f.write_str("the store was changed again and again meanwhile"),
        }
    }
}
