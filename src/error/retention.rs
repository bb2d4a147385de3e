//! What can go wrong with what goes away: erased memories, holds, and sweeps that must not go on.

use std::fmt;

/// Why something is gone, or stays.
#[derive(Debug)]
#[non_exhaustive]
pub enum RetentionFault {
    /// The memory, or this version of it, was erased.
    Erased {
        /// The memory id, 32 hexadecimal digits.
        memory: String,
        /// The event that erased it, or, while a reader has yet to destroy its keys, that says so.
        event: u64,
    },
    /// A hold keeps memories from going away.
    Held {
        /// The memories, by path or id, the first few of them.
        memories: Vec<String>,
        /// How many there are.
        total: usize,
        /// The hold on the first.
        hold: u64,
    },
    /// There is no such hold.
    NoHold {
        /// Its number.
        hold: u64,
    },
    /// There are as many holds as there may be.
    TooManyHolds {
        /// The limit.
        max: usize,
    },
    /// One sweep would take more than the policy lets it.
    SweepLimit {
        /// What would expire.
        expire: usize,
        /// What would be erased.
        erase: usize,
        /// The limit for each.
        max: usize,
    },
    /// The clock cannot be believed.
    Clock {
        /// What is wrong with it.
        why: String,
    },
    /// The event has no receipt.
    NoReceipt {
        /// The event, in words.
        what: String,
    },
    /// More would be erased at once than one record can list.
    TooMuch {
        /// Versions that would be erased.
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
                "it cannot be brought back; `agekeep receipt show {event}` says who had it erased, \
                 when and why"
            ),
            Self::Held { hold, .. } => format!(
                "`agekeep hold list` shows who holds it and why; `agekeep hold rm {hold}` ends it"
            ),
            Self::NoHold { .. } => "`agekeep hold list` shows them all".into(),
            Self::TooManyHolds { .. } => {
                "end one that is not needed with `agekeep hold rm`, or hold a glob".into()
            }
            Self::SweepLimit { .. } => {
                "look at what would go with `agekeep expire --dry-run`; if that is right, sweep \
                 with --yes; expiration.sweep_max in the policy is the limit"
                    .into()
            }
            Self::Clock { .. } => {
                "set the clock right; if it is right, sweep with --accept-clock, which is recorded"
                    .into()
            }
            Self::NoReceipt { .. } => {
                "`agekeep log` shows which events erased something: those of erase, expire and \
                 redact"
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
                "the sweep would remove {expire} memories and erase {erase}, and the policy lets \
                 one sweep take {max}; nothing was removed"
            ),
            Self::Clock { why } => write!(f, "the clock cannot be believed: {why}"),
            Self::NoReceipt { what } => write!(f, "{what} has no receipt"),
            Self::TooMuch { versions, max } => write!(
                f,
                "{versions} versions would be erased at once, and one record lists at most {max}"
            ),
        }
    }
}
