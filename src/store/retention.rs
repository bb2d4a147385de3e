//! What goes away and what stays: the plan of a sweep, what to erase, holds, and receipts.

use chrono::{DateTime, Utc};

use crate::error::Result;
use crate::event::{Because, Context, Erased, Event, HoldOn, Receipt};
use crate::id::MemoryId;
use crate::id::ObjectId;
use crate::memory_tool::path::MemoryPath;
use crate::policy::expiration::Ruling;
use crate::store::Store;
use crate::store::answer::Meta;
use crate::store::erase;
use crate::store::hold;
use crate::store::receipt;
use crate::store::reseal::Progress;
use crate::store::revision::Revision;
use crate::store::sweep;

/// Most memories that one erasure lists as held, or that a plan lists as next to expire.
pub const LISTED_MAX: usize = 10;
/// Most versions that one receipt lists.
pub const RECEIPT_VERSIONS_MAX: usize = 200_000;
/// Most holds in force at once.
pub const HOLDS_MAX: usize = 1_000;

/// A memory that is due, or will be.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Due {
    /// The memory.
    pub id: MemoryId,
    /// Its path; the last one it had, if a sweep has removed it.
    pub path: MemoryPath,
    /// Its last version.
    pub version: u64,
    /// Bytes of text in that.
    pub bytes: u64,
    /// When it expired, or its grace was over; or when that will be.
    pub at: DateTime<Utc>,
    /// Why.
    pub because: Because,
}

/// What a sweep would do.
#[derive(Debug)]
#[non_exhaustive]
pub struct SweepPlan {
    /// The time it goes by.
    pub now: DateTime<Utc>,
    /// What it removes, in the order of paths.
    pub expire: Vec<Due>,
    /// What it erases, in the order of paths: removed by a sweep before, and past its grace.
    pub erase: Vec<Due>,
    /// What expires next, soonest first: at most [`LISTED_MAX`].
    pub next: Vec<Due>,
    /// How many memories would be due if they were not held.
    pub held: usize,
    /// Memories that are there and have not expired.
    pub living: usize,
    /// The most that the policy lets one sweep remove.
    pub max: usize,
    /// The most that it lets one sweep erase.
    pub max_erase: usize,
}

/// How to sweep.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct SweepOptions {
    /// Remove more than the policy lets one sweep take.
    pub beyond_limit: bool,
    /// Go by the clock though it went back, or leapt ahead.
    pub accept_clock: bool,
}

/// What a sweep did.
#[derive(Debug)]
#[non_exhaustive]
pub struct Swept {
    /// What it removed and erased.
    pub plan: SweepPlan,
    /// What was recorded.
    pub meta: Meta,
    /// The receipt of what was erased; without one, what was to be erased is only marked, for the
    /// next reader.
    pub receipt: Option<Receipt>,
}

/// What to erase.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum EraseOf {
    /// The memory at a path, or those below it; and those that were last there, and are gone.
    Path(MemoryPath),
    /// One memory.
    Memory(MemoryId),
    /// Every memory of which this session wrote a version.
    Session(String),
    /// Every memory of which this actor wrote a version.
    Actor(String),
    /// Every memory that ever had a path this glob fits.
    Subject(String),
}

/// A memory that is to be erased.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Target {
    /// The memory.
    pub id: MemoryId,
    /// Its path now, or its last.
    pub path: Option<MemoryPath>,
    /// Whether it is there.
    pub is_there: bool,
    /// How many versions of it will not open any more.
    pub versions: usize,
    /// The hold that keeps it.
    pub hold: Option<u64>,
}

/// What came of an erasure.
#[derive(Debug)]
#[non_exhaustive]
pub struct Erasure {
    /// What was erased, or marked.
    pub targets: Vec<Target>,
    /// What was recorded.
    pub meta: Meta,
    /// The receipt; without one, it is only marked, for the next reader: the caller has no key to
    /// the keyring.
    pub receipt: Option<Receipt>,
}

/// What came of redacting a memory that was kept already.
#[derive(Debug)]
#[non_exhaustive]
pub struct RedactedMemory {
    /// The memory, and how many versions of it are erased.
    pub target: Target,
    /// Kinds of what was replaced in its present text, in order.
    pub stripped: Vec<String>,
    /// What was recorded.
    pub meta: Meta,
    /// The receipt.
    pub receipt: Receipt,
}

/// A hold in force.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Held {
    /// The number of the event it began with, by which it goes.
    pub hold: u64,
    /// What it is on.
    pub on: HoldOn,
    /// The path of the memory it is on, if it is on one, and that is there.
    pub path: Option<MemoryPath>,
    /// Since when.
    pub since: DateTime<Utc>,
    /// Who put it on.
    pub actor: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// How many memories that are there it keeps.
    pub memories: usize,
}

/// A receipt, with the event that has it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Proof {
    /// The event.
    pub event: Event,
    /// Its commit.
    pub commit: ObjectId,
    /// Who signed it.
    pub signer: String,
    /// The events that marked what it erased, and those that had erased it before.
    pub earlier: Vec<Event>,
}

impl Proof {
    /// The receipt.
    ///
    /// # Panics
    /// Never: a proof is made only of an event that has one.
    #[must_use]
    pub fn receipt(&self) -> &Receipt {
        let receipt = self.event.receipt.as_ref();
        receipt.expect("a proof is of an event with a receipt")
    }
}

/// What checking a receipt found.
#[derive(Debug)]
#[non_exhaustive]
pub struct Checked {
    /// The receipt.
    pub proof: Proof,
    /// Memories with a key in the keyring that should have none.
    pub keys: Vec<MemoryId>,
    /// Versions it lists that do open, or whose blob is another.
    pub opened: Vec<(MemoryId, ObjectId)>,
    /// Memories of which history has other versions than it lists.
    pub unlisted: Vec<MemoryId>,
    /// Versions that were tried: none by an auditor, who has no key to try.
    pub versions: u64,
    /// Records that were tried.
    pub records: u64,
    /// Memories of which a record still shows a path.
    pub named: Vec<MemoryId>,
}

impl Checked {
    /// Whether all of it holds.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.keys.is_empty()
            && self.opened.is_empty()
            && self.unlisted.is_empty()
            && self.named.is_empty()
    }
}

/// What is to become of one memory, and why.
#[derive(Debug)]
#[non_exhaustive]
pub struct Fate {
    /// The memory.
    pub id: MemoryId,
    /// When it was last read or written.
    pub accessed: DateTime<Utc>,
    /// What the policy says of it.
    pub ruling: Ruling,
    /// Whether it has expired: an agent does not find it.
    pub expired: bool,
    /// The hold that keeps it.
    pub hold: Option<u64>,
}

impl Erased {
    pub(crate) fn of(memory: MemoryId, blobs: Vec<ObjectId>) -> Self {
        Self {
            memory,
            blobs,
            kept: None,
            after: None,
        }
    }
}

impl Store {
    /// What a sweep would do now. Nothing is changed or recorded.
    ///
    /// # Errors
    /// [`RetentionFault::Clock`](crate::error::RetentionFault::Clock) if the clock cannot be believed and that is not accepted; otherwise
    /// when history does not check out.
    pub fn plan_sweep(&mut self, how: SweepOptions) -> Result<SweepPlan> {
        sweep::plan_sweep(self, how)
    }

    /// Removes what has expired, and erases what a sweep removed before and is past its grace.
    ///
    /// It is recorded also when nothing was due. An auditor with a signing key can sweep too: what
    /// is to be erased is marked then, and the next reader destroys its keys.
    ///
    /// # Errors
    /// [`RetentionFault::SweepLimit`](crate::error::RetentionFault::SweepLimit) if it is more than the policy lets one sweep take,
    /// [`RetentionFault::Clock`](crate::error::RetentionFault::Clock) if the clock cannot be believed; otherwise as for
    /// [`Store::execute`].
    pub fn sweep(
        &mut self,
        how: SweepOptions,
        context: &Context,
        progress: &mut Progress<'_>,
    ) -> Result<Swept> {
        sweep::sweep(self, how, context, progress)
    }

    /// What is to become of the memory at a path; `None` if there is none.
    ///
    /// # Errors
    /// When history does not check out.
    pub fn fate(&mut self, path: &MemoryPath) -> Result<Option<Fate>> {
        sweep::fate(self, path)
    }

    /// Keeps memories from expiring, from being erased, and from being deleted by agents: the one
    /// with an id, the one at a path, or all whose path a glob fits now or later. The number of the
    /// event is the hold's.
    ///
    /// A directory is held as all that is below it.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::error::Error::Invalid) without a reason, [`Error::Policy`](crate::error::Error::Policy) for a glob that does not parse,
    /// [`Error::NotThere`](crate::error::Error::NotThere) where nothing is and no glob is meant, [`RetentionFault::TooManyHolds`](crate::error::RetentionFault::TooManyHolds);
    /// otherwise as for [`Store::execute`].
    pub fn hold(&mut self, what: &str, context: &Context) -> Result<Meta> {
        hold::hold(self, what, context)
    }

    /// Ends a hold.
    ///
    /// # Errors
    /// [`RetentionFault::NoHold`](crate::error::RetentionFault::NoHold) if there is none of that number; otherwise as for
    /// [`Store::execute`].
    pub fn lift_hold(&mut self, hold: u64, context: &Context) -> Result<Meta> {
        hold::lift_hold(self, hold, context)
    }

    /// The holds in force, oldest first.
    ///
    /// # Errors
    /// When history does not check out.
    pub fn holds(&mut self) -> Result<Vec<Held>> {
        hold::holds(self)
    }

    /// The receipt of the event a revision names; without one, the newest there is.
    ///
    /// # Errors
    /// [`RetentionFault::NoReceipt`](crate::error::RetentionFault::NoReceipt) if it has none; [`Error::NoRevision`](crate::error::Error::NoRevision) or [`Error::Ambiguous`](crate::error::Error::Ambiguous);
    /// otherwise when history does not check out.
    pub fn receipt(&mut self, revision: Option<&Revision>) -> Result<Proof> {
        receipt::receipt(self, revision)
    }

    /// The events that erased something, oldest first.
    ///
    /// # Errors
    /// When history does not check out.
    pub fn receipts(&mut self) -> Result<Vec<u64>> {
        receipt::receipts(self)
    }

    /// Holds a receipt against what is there now: no key of what it erased is left, no version it
    /// lists opens, no record shows a path.
    ///
    /// # Errors
    /// As for [`Store::receipt`].
    pub fn check_receipt(&mut self, event: u64, progress: &mut Progress<'_>) -> Result<Checked> {
        receipt::check_receipt(self, event, progress)
    }

    /// What an erasure would reach, in the order of paths. Nothing is changed or recorded.
    ///
    /// # Errors
    /// [`Error::NotThere`](crate::error::Error::NotThere) if nothing is meant, [`Error::Policy`](crate::error::Error::Policy) for a glob that does not parse.
    pub fn plan_erasure(&mut self, what: &EraseOf, history_only: bool) -> Result<Vec<Target>> {
        erase::plan_erasure(self, what, history_only)
    }

    /// Erases memories: their keys are destroyed, so that no version and no path of theirs opens any
    /// more, here or in any copy of the repository. With `history_only` the present version stays,
    /// sealed to a fresh identity, and what was before it is erased.
    ///
    /// For an auditor, who has no key to the keyring, the memories are removed and marked, and the
    /// next reader who opens the store destroys their keys.
    ///
    /// # Errors
    /// [`RetentionFault::Held`](crate::error::RetentionFault::Held) if a hold keeps one of them; otherwise as for
    /// [`Store::plan_erasure`] and [`Store::execute`].
    pub fn erase(
        &mut self,
        what: &EraseOf,
        history_only: bool,
        context: &Context,
        progress: &mut Progress<'_>,
    ) -> Result<Erasure> {
        erase::erase(self, what, history_only, context, progress)
    }

    /// Replaces the present text of a memory by its redacted form, sealed to a fresh identity, and
    /// erases every older version, by one event with its receipt. The memory is the one that was at
    /// a path at a moment, wherever it is now.
    ///
    /// # Errors
    /// [`Error::NotThere`](crate::error::Error::NotThere) if nothing was at the path then, or it is not there any more;
    /// [`crate::error::RetentionFault::Held`] if a hold keeps it; [`Error::Invalid`](crate::error::Error::Invalid) if its text cannot be
    /// scanned; otherwise as for [`Store::erase`].
    pub fn redact(
        &mut self,
        path: &MemoryPath,
        revision: &Revision,
        context: &Context,
        progress: &mut Progress<'_>,
    ) -> Result<RedactedMemory> {
        erase::redact(self, path, revision, context, progress)
    }
}
