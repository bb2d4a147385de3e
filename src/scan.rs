//! What is found when everything that is kept is looked through for secrets: where they stand,
//! never what they are.

use crate::Text;
use crate::event::Moment;
use crate::id::MemoryId;
use crate::path::MemoryPath;
use crate::redact::Kind;

/// Most findings of one version that are listed.
pub const VERSION_FINDINGS_MAX: usize = 1_000;
/// Most findings of one scan that are listed: those of the newest events. All are counted.
pub const FINDINGS_MAX: u64 = 100_000;

/// What to look through.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Scope {
    /// Only memories that were ever at this path or below it, wherever they are now; with
    /// `present`, only those that are there now.
    pub within: Option<MemoryPath>,
    /// Only what is there now: not what it was before, and not what is gone.
    pub present: bool,
}

/// What a scan found. Its paths are shown without the secrets in them.
#[derive(Debug)]
#[non_exhaustive]
pub struct Scanned {
    /// The moment up to which history was looked through.
    pub at: Moment,
    /// The memories of which there is something to say, in the order of paths.
    pub memories: Vec<Exposed>,
    /// How many findings there are, listed or not.
    pub findings: u64,
    /// Versions whose text takes too long to be scanned, and may hold anything.
    pub unfinished: u64,
    /// Versions that do not open, though nothing says that they were erased.
    pub closed: u64,
    /// How many memories were looked through.
    pub memories_total: u64,
    /// How many versions of them.
    pub versions_total: u64,
}

/// A memory in which secrets were found, or that could not be looked through whole.
#[derive(Debug)]
#[non_exhaustive]
pub struct Exposed {
    /// The memory.
    pub id: MemoryId,
    /// Its path now, or its last; `None` if the key of its paths is gone.
    pub path: Option<Text>,
    /// Whether it is there.
    pub is_there: bool,
    /// What is to be done about it.
    pub remedy: Remedy,
    /// The versions of which there is something to say, newest first.
    pub versions: Vec<ExposedVersion>,
}

/// What is to be done about a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// To redact what it is, and erase what it was.
    Redact,
    /// To erase it: it is not there, or no redaction reaches what was found.
    Erase,
    /// To find out why it does not open: no secret was found in it.
    Verify,
}

/// A version of a memory in which secrets were found, or that could not be looked through.
#[derive(Debug)]
#[non_exhaustive]
pub struct ExposedVersion {
    /// The version.
    pub version: u64,
    /// The event that wrote it.
    pub event: u64,
    /// The path it had; `None` if the key of the memory's paths is gone.
    pub path: Option<Text>,
    /// Whether it is the present version of a memory that is there.
    pub present: bool,
    /// What was found, in order: at most [`VERSION_FINDINGS_MAX`] in its text.
    pub findings: Vec<Finding>,
    /// How many findings there are, listed or not.
    pub findings_total: u64,
    /// Why its text was not looked through.
    pub problem: Option<Problem>,
}

/// A secret, or what the rules in force take for one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// What it is.
    pub kind: Kind,
    /// The line of the text it begins in, counted from 1; `None` if it stands in the path.
    pub line: Option<usize>,
    /// Its keyed fingerprint, where the policy asks for those.
    pub fingerprint: Option<u32>,
}

/// Why a version was not looked through.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// It takes longer than a text of its length may.
    Unfinished,
    /// It does not open; a sentence that says why.
    Closed(String),
}
