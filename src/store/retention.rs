//! Public types and verbs of retention: sweeps, erasure, legal holds and receipts.

use chrono::{DateTime, Utc};

use crate::error::{Error, Result};
use crate::event::{Context, Erased, Event, HoldOn, Receipt, RemovalReason};
use crate::id::{MemoryId, ObjectId};
use crate::memory_tool::path::MemoryPath;
use crate::policy::expiration::ExpiryDecision;
use crate::store::answer::Meta;
use crate::store::rekey::ProgressFn;
use crate::store::revision::Revision;
use crate::store::{Store, erase, hold, receipt, sweep};

/// Most memories that an erasure lists as held, or that a plan lists as next to expire.
pub const LISTED_MAX: usize = 10;
/// Most versions in a receipt.
pub const RECEIPT_VERSIONS_MAX: usize = 200_000;
/// Most holds in force at once.
pub const HOLDS_MAX: usize = 1_000;

/// A memory that is due for expiry or erasure, now or later.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ExpiredMemory {
    /// The memory.
    pub id: MemoryId,
    /// Its path, or its last path if a sweep has removed it.
    pub path: MemoryPath,
    /// Its last version.
    pub version: u64,
    /// Size of that version's text in bytes.
    pub bytes: u64,
    /// The time when it expires or its grace period ends; this may be past or future.
    pub at: DateTime<Utc>,
    /// The reason.
    pub because: RemovalReason,
}

/// The plan of a sweep.
#[derive(Debug)]
#[non_exhaustive]
pub struct SweepPlan {
    /// The time the sweep goes by.
    pub now: DateTime<Utc>,
    /// Memories it removes, sorted by path.
    pub expire: Vec<ExpiredMemory>,
    /// Memories it erases, sorted by path: removed by an earlier sweep, and past their grace
    /// period.
    pub erase: Vec<ExpiredMemory>,
    /// Memories that expire next, soonest first: at most [`LISTED_MAX`].
    pub next: Vec<ExpiredMemory>,
    /// Number of memories that would be due without a hold.
    pub held: usize,
    /// Number of memories that exist and have not expired.
    pub unexpired: usize,
    /// Most memories that the policy lets a sweep remove.
    pub max: usize,
    /// Most memories that the policy lets a sweep erase.
    pub max_erase: usize,
}

/// Options of a sweep.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct SweepOptions {
    /// Remove or erase more memories than the policy lets a sweep take.
    pub beyond_limit: bool,
    /// Accept a clock that went back or leapt ahead.
    pub accept_clock: bool,
}

/// The result of a sweep.
#[derive(Debug)]
#[non_exhaustive]
pub struct Swept {
    /// The plan that was carried out.
    pub plan: SweepPlan,
    /// The facts about the recorded event.
    pub meta: Meta,
    /// The receipt of the erasure; without one, any memories to be erased are only marked, for the
    /// next reader.
    pub receipt: Option<Receipt>,
}

/// The memories to erase.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum EraseOf {
    /// The memory at a path, or those below it, and removed memories that were last there.
    Path(MemoryPath),
    /// These memories.
    Memories(Vec<MemoryId>),
    /// Every memory with a version written by this session.
    Session(String),
    /// Every memory with a version written by this actor.
    Actor(String),
    /// Every memory that ever had a path matching this glob.
    Subject(String),
}

/// A memory to be erased.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EraseTarget {
    /// The memory.
    pub id: MemoryId,
    /// Its present path, or its last.
    pub path: Option<MemoryPath>,
    /// True if it still exists.
    pub is_there: bool,
    /// Number of its versions that will no longer open.
    pub versions: usize,
    /// The hold on it, if any.
    pub hold: Option<u64>,
}

/// The result of an erasure.
#[derive(Debug)]
#[non_exhaustive]
pub struct Erasure {
    /// The erased or marked memories.
    pub targets: Vec<EraseTarget>,
    /// The facts about the recorded event.
    pub meta: Meta,
    /// The receipt. If there is none, the memories are only marked, for the next reader, because
    /// the caller has no key to the keyring.
    pub receipt: Option<Receipt>,
}

/// The result of redacting a stored memory.
#[derive(Debug)]
#[non_exhaustive]
pub struct RedactedMemory {
    /// The memory, with the number of its erased versions.
    pub target: EraseTarget,
    /// Kinds of secrets replaced in its present text, in order.
    pub stripped: Vec<String>,
    /// The facts about the recorded event.
    pub meta: Meta,
    /// The receipt.
    pub receipt: Receipt,
}

/// The plan of redacting a stored memory.
#[derive(Debug)]
#[non_exhaustive]
pub struct RedactionPlan {
    /// The memory, with the number of versions that would no longer open.
    pub target: EraseTarget,
    /// Kinds of secrets to be replaced in its present text, in order.
    pub stripped: Vec<String>,
    /// The versions that would no longer open, oldest first. The last one is the present one, whose
    /// redacted text takes its place.
    pub versions: Vec<ReachedVersion>,
}

/// A version that a redaction would reach.
#[derive(Debug)]
#[non_exhaustive]
pub struct ReachedVersion {
    /// Its number.
    pub version: u64,
    /// The event that wrote it.
    pub event: u64,
    /// Size of its text in bytes.
    pub bytes: u64,
    /// Kinds of secrets in it, by the rules in force; `None` if it cannot be read or scanned.
    pub kinds: Option<Vec<String>>,
}

/// A legal hold in force.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ActiveHold {
    /// The hold's number: the number of its first event, used to lift it.
    pub hold: u64,
    /// The subject of the hold.
    pub on: HoldOn,
    /// The path of the held memory, if the hold is on a single memory that still exists.
    pub path: Option<MemoryPath>,
    /// The time the hold began.
    pub since: DateTime<Utc>,
    /// The actor who placed the hold.
    pub actor: Option<String>,
    /// The reason.
    pub reason: Option<String>,
    /// Number of existing memories it keeps.
    pub memories: usize,
}

/// A receipt with its event.
#[derive(Debug)]
#[non_exhaustive]
pub struct Proof {
    /// The event.
    pub event: Event,
    /// Its commit.
    pub commit: ObjectId,
    /// The name of its signer.
    pub signer: String,
    /// The earlier events that marked these memories, or had erased them before.
    pub earlier: Vec<Event>,
}

impl Proof {
    /// Returns the receipt.
    ///
    /// # Panics
    /// Never: a proof is made only of an event with a receipt.
    #[must_use]
    pub fn receipt(&self) -> &Receipt {
        let receipt = self.event.receipt.as_ref();
        receipt.expect("a proof is of an event with a receipt")
    }
}

/// The result of checking a receipt.
#[derive(Debug)]
#[non_exhaustive]
pub struct ReceiptCheck {
    /// The receipt with its event.
    pub proof: Proof,
    /// Memories that still have a key in the keyring.
    pub keys: Vec<MemoryId>,
    /// Listed versions that still open.
    pub opened: Vec<(MemoryId, ObjectId)>,
    /// Memories whose versions in history differ from those listed.
    pub unlisted: Vec<MemoryId>,
    /// Number of versions tried: 0 for an auditor, who has no key to try.
    pub versions: u64,
    /// Number of records tried.
    pub records: u64,
    /// Memories whose path is still shown by a record.
    pub named: Vec<MemoryId>,
}

impl ReceiptCheck {
    /// Tells whether the whole receipt holds.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.keys.is_empty()
            && self.opened.is_empty()
            && self.unlisted.is_empty()
            && self.named.is_empty()
    }
}

/// The expiry status of a memory under the policy, with the reason.
#[derive(Debug)]
#[non_exhaustive]
pub struct ExpiryStatus {
    /// The memory.
    pub id: MemoryId,
    /// The time of its last read or write.
    pub accessed: DateTime<Utc>,
    /// The policy's decision on it.
    pub ruling: ExpiryDecision,
    /// True if it has expired; agents no longer find it.
    pub expired: bool,
    /// The hold on it, if any.
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

/// Refuses to destroy anything without a reason.
///
/// # Errors
/// [`Error::Invalid`] if `context` gives none.
pub fn check_reason(context: &Context) -> Result<()> {
    let reason = context.reason.as_deref().unwrap_or_default();
    if reason.trim().is_empty() {
        return Err(Error::invalid(
            "an erasure without a reason",
            "say who asked for it and why with --reason",
        ));
    }
    Ok(())
}

impl Store {
    /// Plans a sweep without carrying it out (dry run). Nothing is changed or recorded.
    ///
    /// # Errors
    /// [`RetentionFault::Clock`](crate::error::RetentionFault::Clock) if the clock is implausible
    /// and `how` does not accept it; otherwise any error of checking history.
    pub fn plan_sweep(&mut self, how: SweepOptions) -> Result<SweepPlan> {
        sweep::plan_sweep(self, how)
    }

    /// Removes expired memories, and erases memories that an earlier sweep removed and whose grace
    /// period is over.
    ///
    /// A sweep is recorded even if nothing was due. An auditor with a signing key can sweep too:
    /// then memories to be erased are only marked, and the next reader destroys their keys.
    ///
    /// # Errors
    /// [`RetentionFault::SweepLimit`](crate::error::RetentionFault::SweepLimit) if more memories
    /// are due than the policy lets a sweep take,
    /// [`RetentionFault::Clock`](crate::error::RetentionFault::Clock) if the clock is implausible;
    /// otherwise the errors of [`Store::execute`].
    pub fn sweep(
        &mut self,
        how: SweepOptions,
        context: &Context,
        progress: &mut ProgressFn<'_>,
    ) -> Result<Swept> {
        sweep::sweep(self, how, context, progress)
    }

    /// Returns the expiry status of the memory at a path; `None` if no memory is there.
    ///
    /// # Errors
    /// Any error of checking history.
    pub fn expiry_status(&mut self, path: &MemoryPath) -> Result<Option<ExpiryStatus>> {
        sweep::expiry_status(self, path)
    }

    /// Places a legal hold: held memories do not expire, cannot be erased, and cannot be deleted by
    /// agents. The hold is on the memory with an id, on the memory at a path, or on all memories
    /// whose path matches a glob now or later. The event's number is the hold's number.
    ///
    /// A hold on a directory covers everything below it.
    ///
    /// # Errors
    /// [`Error::Invalid`] without a reason,
    /// [`Error::Policy`] for a glob that does not parse,
    /// [`Error::NotThere`] if nothing is there and it is no glob,
    /// [`RetentionFault::TooManyHolds`](crate::error::RetentionFault::TooManyHolds); otherwise the
    /// errors of [`Store::execute`].
    pub fn hold(&mut self, what: &str, context: &Context) -> Result<Meta> {
        hold::hold(self, what, context)
    }

    /// Lifts a hold.
    ///
    /// # Errors
    /// [`RetentionFault::NoHold`](crate::error::RetentionFault::NoHold) if no hold has that number;
    /// otherwise the errors of [`Store::execute`].
    pub fn lift_hold(&mut self, hold: u64, context: &Context) -> Result<Meta> {
        hold::lift_hold(self, hold, context)
    }

    /// Returns the holds in force, oldest first.
    ///
    /// # Errors
    /// Any error of checking history.
    pub fn holds(&mut self) -> Result<Vec<ActiveHold>> {
        hold::holds(self)
    }

    /// Returns the receipt of the event at a revision, or the newest receipt without one.
    ///
    /// # Errors
    /// [`RetentionFault::NoReceipt`](crate::error::RetentionFault::NoReceipt) if there is none;
    /// [`Error::NoRevision`] or
    /// [`Error::Ambiguous`]; otherwise any error of checking
    /// history.
    pub fn receipt(&mut self, revision: Option<&Revision>) -> Result<Proof> {
        receipt::receipt(self, revision)
    }

    /// Returns the numbers of the events that erased something, oldest first.
    ///
    /// # Errors
    /// Any error of checking history.
    pub fn receipts(&mut self) -> Result<Vec<u64>> {
        receipt::receipts(self)
    }

    /// Checks a receipt against the present store: no key of an erased memory is left, no listed
    /// version opens, and no record shows a path.
    ///
    /// # Errors
    /// The errors of [`Store::receipt`].
    pub fn check_receipt(
        &mut self,
        event: u64,
        progress: &mut ProgressFn<'_>,
    ) -> Result<ReceiptCheck> {
        receipt::check_receipt(self, event, progress)
    }

    /// Plans an erasure without carrying it out (dry run): returns its targets, sorted by path.
    /// Nothing is changed or recorded.
    ///
    /// # Errors
    /// [`Error::NotThere`] if no memory matches,
    /// [`Error::Policy`] for a glob that does not parse.
    pub fn plan_erasure(&mut self, what: &EraseOf, history_only: bool) -> Result<Vec<EraseTarget>> {
        erase::plan_erasure(self, what, history_only)
    }

    /// Erases memories: destroys their keys, so that none of their versions and paths can be opened
    /// any more, here or in any copy of the repository. With `history_only` the present version
    /// stays, re-encrypted to a fresh identity, and all earlier versions are erased.
    ///
    /// An auditor has no key to the keyring: then the memories are removed and marked, and the next
    /// reader who opens the store destroys their keys.
    ///
    /// # Errors
    /// [`Error::Invalid`] without a reason in `context`;
    /// [`RetentionFault::Held`](crate::error::RetentionFault::Held) if a hold keeps one of them;
    /// otherwise the errors of [`Store::plan_erasure`] and [`Store::execute`].
    pub fn erase(
        &mut self,
        what: &EraseOf,
        history_only: bool,
        context: &Context,
        progress: &mut ProgressFn<'_>,
    ) -> Result<Erasure> {
        erase::erase(self, what, history_only, context, progress)
    }

    /// Plans the redaction of a stored memory without carrying it out (dry run). Nothing is changed
    /// or recorded.
    ///
    /// # Errors
    /// The errors of [`Store::redact`], but for a missing reason or signing key.
    pub fn plan_redaction(
        &mut self,
        path: &MemoryPath,
        revision: &Revision,
    ) -> Result<RedactionPlan> {
        erase::plan_redaction(self, path, revision)
    }

    /// Replaces the present text of a memory by its redacted form, re-encrypted to a fresh
    /// identity, and erases every older version, by a single event with its receipt. The memory is
    /// the one that was at a path at a moment, wherever it is now.
    ///
    /// # Errors
    /// [`Error::NotThere`] if nothing was at the path then, the memory no longer exists, or no
    /// version of it holds what looks like a secret; [`crate::error::RetentionFault::Held`] if a hold
    /// keeps it; [`Error::Invalid`] without a reason in `context`, or if its text cannot be scanned;
    /// otherwise the errors of [`Store::erase`].
    pub fn redact(
        &mut self,
        path: &MemoryPath,
        revision: &Revision,
        context: &Context,
        progress: &mut ProgressFn<'_>,
    ) -> Result<RedactedMemory> {
        erase::redact(self, path, revision, context, progress)
    }
}
