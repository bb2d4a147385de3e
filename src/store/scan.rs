//! Scans: a search for secrets in everything that is stored. A scan applies the rules in force to
//! the texts and paths of memories, now and in all of history. It reports the places of secrets,
//! never the secrets.
//!
//! ```text
//! survey   under the lock: which versions there are, and the rules
//! piece    without it: some versions at a time, those of the newest events first, on every core
//! summarize  under the lock: drops what was erased meanwhile; records the scan
//! ```
//!
//! A scan of a large store takes minutes, and agents use the store meanwhile. Nothing that it reads
//! can change: a version is a blob named by its event, and neither is ever rewritten. Versions
//! written after the survey are not part of the scan, which reports the event it went up to. Only
//! keys can be destroyed. So a version that does not open is tried again under the lock, with the
//! keys of that moment: a memory erased meanwhile is skipped, and only a version that still does
//! not open is a problem. This holds the lock for a single piece at most, and only if some version
//! did not open.

mod paths;
mod worker;

use std::collections::{BTreeMap, HashMap, HashSet};

use self::paths::Paths;
use self::worker::{ScanItem, ScanOutcome, ScanRules};
use crate::Text;
use crate::error::{Error, Result, RetentionFault};
use crate::event::{Context, Moment, PathRef};
use crate::id::MemoryId;
use crate::memory_tool::path::MemoryPath;
use crate::redact::{Kind, Redactor};
use crate::state::timeline::Version;
use crate::store::history::Recorded;
use crate::store::history::read::{
    HistoryRead, nameless, path_ref_ever, record_history_read, text_then,
};
use crate::store::rekey::ProgressFn;
use crate::store::timeline::{newest_moment, timeline, with_contents};
use crate::store::{State, Store, redactor};

/// Versions in a piece: it takes some tenths of a second, and each core holds only its current text
/// in memory.
const PIECE: usize = 512;

/// The versions to scan, with the rules.
struct Survey {
    at: Moment,
    redactor: Redactor,
    memories: u64,
    /// The versions, those of the newest events first.
    versions: Vec<ScanItem>,
    /// The first version of each memory with each of its paths.
    named: Vec<Version>,
}

/// A version and its outcome.
type ScannedVersion = (Version, ScanOutcome);

impl Store {
    /// Scans memories for secrets: the texts of all versions that are not erased, also of deleted
    /// memories, and the paths they had. The scan uses the policy in force except for its mode,
    /// which decides what happens to secrets and not what counts as one. It is recorded, and
    /// does not count as an access to any memory.
    ///
    /// # Errors
    /// [`Error::NotThere`] if no memory that still opens is or was at the path of the scope;
    /// [`Error::NotAReader`] for an auditor. A version that does not open is a [`Problem`], not an
    /// error.
    pub fn scan(
        &mut self,
        scope: &ScanScope,
        context: &Context,
        progress: &mut ProgressFn<'_>,
    ) -> Result<Recorded<Scanned>> {
        let survey = with_contents(self, |store| survey(store, scope))?;
        let named = survey.named.iter();
        let named: HashSet<MemoryPath> = named.filter_map(|version| version.path.clone()).collect();
        let paths = Paths::of(survey.redactor.clone(), named.into_iter().collect())?;
        let come = scan_pieces(self, &survey, progress)?;
        with_contents(self, |store| {
            let found = summarize(&store.state, &survey, come, &paths);
            // A scan opens everything and shows none of it. A record that named every version would
            // claim that somebody looked at each memory, which nobody did. Like a grep, the record
            // names the path. Unlike a grep, a scan without findings is recorded too, as proof that
            // the store was clean.
            let look = HistoryRead {
                command: "scan",
                path: Some(match &scope.within {
                    Some(path) => path_ref_ever(store, path, u64::MAX)?,
                    None => PathRef::Root,
                }),
                at: vec![survey.at],
                touches: Vec::new(),
            };
            let recorded = record_history_read(store, look, context)?;
            Ok(Recorded { found, recorded })
        })
    }
}

/// Lists the versions to scan. Called with the lock held.
fn survey(store: &Store, scope: &ScanScope) -> Result<Survey> {
    let timeline = timeline(&store.state);
    let newest = timeline.len() - 1;
    let mut lives: Vec<Vec<Version>> = if scope.present {
        let state = timeline.state(newest).into_values();
        state.map(|version| vec![version]).collect()
    } else {
        let ids: HashSet<MemoryId> = match &scope.within {
            Some(path) => timeline.ever_within(path),
            None => timeline.memories().collect(),
        };
        let lives = ids.into_iter();
        lives
            .map(|id| timeline.versions(id, newest).collect())
            .collect()
    };
    if let Some(within) = scope.within.as_ref().filter(|_| scope.present) {
        lives.retain(|life| life.iter().all(|version| version.is_within(within)));
    }
    let mut survey = Survey {
        at: newest_moment(&store.state),
        redactor: redactor(store)?.clone(),
        memories: 0,
        versions: Vec::new(),
        named: Vec::new(),
    };
    for life in lives {
        survey_one(&store.state, life, &mut survey);
    }
    if survey.memories == 0
        && let Some(path) = scope.within.as_ref().filter(|path| !path.is_root())
    {
        return Err(Error::NotThere {
            path: survey.redactor.line(path.as_str()).0,
            when: if scope.present {
                "now"
            } else {
                "that still opens"
            }
            .into(),
            hint: "`agekeep ls /memories` lists what there is, and `agekeep log` what there was"
                .into(),
        });
    }
    let order = |wanted: &ScanItem| (wanted.version.event, wanted.version.id);
    survey.versions.sort_unstable_by_key(order);
    survey.versions.reverse();
    Ok(survey)
}

/// Adds a memory's versions that are not erased; they are given oldest first.
fn survey_one(state: &State, life: Vec<Version>, survey: &mut Survey) {
    let Some(first) = life
        .first()
        .and_then(|version| first_left(state, version.id))
    else {
        return;
    };
    survey.memories += 1;
    let mut known = HashSet::new();
    for version in life {
        // A path is in the records of all events, also of events whose versions are erased.
        if known.insert(version.path.clone()) {
            survey.named.push(version.clone());
        }
        let moment = timeline(state).moment(version.event);
        if version.version >= first
            && let Some(Moment { commit, .. }) = moment
        {
            survey.versions.push(ScanItem { version, commit });
        }
    }
}

/// Returns the first version of a memory that is not erased; `None` if all are.
fn first_left(state: &State, id: MemoryId) -> Option<u64> {
    let timeline = timeline(state);
    if timeline.erased_by(id).is_some() {
        return None;
    }
    Some(timeline.begins_with(id).map_or(0, |(first, _)| first))
}

/// Scans the versions of a survey, and returns those that are not clean.
fn scan_pieces(
    store: &mut Store,
    survey: &Survey,
    progress: &mut ProgressFn<'_>,
) -> Result<Vec<ScannedVersion>> {
    let rules = ScanRules::new(survey.redactor.clone());
    let (mut done, total) = (0, survey.versions.len() as u64);
    let (mut come, mut room) = (Vec::new(), FINDINGS_MAX);
    for wanted in survey.versions.chunks(PIECE) {
        progress(done, total);
        let mut outcomes = worker::scan(&store.ledger.root, &store.ledger.keyring, &rules, wanted)?;
        if outcomes.iter().any(Option::is_none) {
            with_contents(store, |store| {
                try_again(store, &rules, wanted, &mut outcomes)
            })?;
        }
        for (wanted, outcome) in wanted.iter().zip(outcomes) {
            let Some(mut outcome) = outcome.filter(|one| !matches!(one, ScanOutcome::Clean)) else {
                continue;
            };
            if let ScanOutcome::Found(listed, _) = &mut outcome {
                listed.truncate(usize::try_from(room).unwrap_or(usize::MAX));
                room -= listed.len() as u64;
            }
            come.push((wanted.version.clone(), outcome));
        }
        done += wanted.len() as u64;
    }
    progress(total, total);
    Ok(come)
}

/// Tries again to scan versions that did not open, with the present keys. Called with the lock
/// held.
fn try_again(
    store: &Store,
    rules: &ScanRules,
    wanted: &[ScanItem],
    outcomes: &mut [Option<ScanOutcome>],
) -> Result<()> {
    let closed = wanted.iter().zip(outcomes).filter(|(_, o)| o.is_none());
    for (ScanItem { version, .. }, outcome) in closed {
        let path = version.path.as_ref();
        let text = match path {
            Some(path) => text_then(store, version).map(|text| (path, text)),
            None => Err(nameless(&store.state, version.id)),
        };
        *outcome = Some(match text {
            Ok((path, text)) => rules.scan_text(path, &text),
            Err(Error::Retention(RetentionFault::Erased { .. })) => ScanOutcome::Clean,
            Err(error) if error.is_of_one_memory() => ScanOutcome::Unreadable(error.to_string()),
            Err(error) => return Err(error),
        });
    }
    Ok(())
}

/// Combines the outcomes, without memories and versions erased since. Called with the lock held.
fn summarize(state: &State, survey: &Survey, come: Vec<ScannedVersion>, paths: &Paths) -> Scanned {
    let mut found: HashMap<MemoryId, BTreeMap<u64, ExposedVersion>> = HashMap::new();
    let mut first: HashMap<MemoryId, Option<u64>> = HashMap::new();
    let mut left = |id| *first.entry(id).or_insert_with(|| first_left(state, id));
    for (version, outcome) in come {
        if left(version.id).is_none_or(|first| version.version < first) {
            continue;
        }
        let versions = found.entry(version.id).or_default();
        let exposed = version_in(versions, &version, paths);
        match outcome {
            ScanOutcome::Clean => {}
            ScanOutcome::Found(listed, total) => {
                exposed.findings = listed;
                exposed.findings_total = total;
            }
            ScanOutcome::Unfinished => exposed.problem = Some(Problem::Unfinished),
            ScanOutcome::Unreadable(why) => exposed.problem = Some(Problem::Unreadable(why)),
        }
    }
    for version in &survey.named {
        let judged = version.path.as_ref().and_then(|path| paths.redacted(path));
        let Some(judged) = judged.filter(|_| left(version.id).is_some()) else {
            continue;
        };
        let versions = found.entry(version.id).or_default();
        let exposed = version_in(versions, version, paths);
        match &judged.kind {
            Some(kind) => {
                let finding = SecretFinding {
                    kind: kind.clone(),
                    line: None,
                    fingerprint: None,
                };
                exposed.findings.insert(0, finding);
                exposed.findings_total += 1;
            }
            None => exposed.problem = exposed.problem.take().or(Some(Problem::Unfinished)),
        }
    }
    let memories = found.into_iter();
    let memories = memories.map(|(id, versions)| exposed(state, id, versions, paths));
    summed(survey, memories.collect())
}

fn exposed(
    state: &State,
    id: MemoryId,
    versions: BTreeMap<u64, ExposedVersion>,
    paths: &Paths,
) -> Exposed {
    let memory = state.catalog.memory(id);
    let last = || timeline(state).versions(id, u64::MAX).next_back()?.path;
    let path = memory.map(|memory| memory.path.clone()).or_else(last);
    let mut versions: Vec<ExposedVersion> = versions.into_values().rev().collect();
    for version in &mut versions {
        version.present = memory.is_some_and(|memory| memory.version == version.version);
    }
    Exposed {
        id,
        path: path.map(|path| paths.shown(&path)),
        is_there: memory.is_some(),
        remedy: remedy(memory.is_some(), &versions),
        versions,
    }
}

/// Returns a version's entry in the result, created if necessary.
fn version_in<'a>(
    versions: &'a mut BTreeMap<u64, ExposedVersion>,
    version: &Version,
    paths: &Paths,
) -> &'a mut ExposedVersion {
    let number = version.version;
    versions.entry(number).or_insert_with(|| ExposedVersion {
        version: number,
        event: version.event,
        path: version.path.as_ref().map(|path| paths.shown(path)),
        present: false,
        findings: Vec::new(),
        findings_total: 0,
        problem: None,
    })
}

fn remedy(is_there: bool, versions: &[ExposedVersion]) -> Remedy {
    let holds = |version: &ExposedVersion| {
        version.findings_total > 0 || version.problem == Some(Problem::Unfinished)
    };
    if !versions.iter().any(holds) {
        return Remedy::Verify;
    }
    // A path stays in records as long as its memory has keys. A text that cannot be scanned or does
    // not open cannot be redacted.
    let in_path = versions.iter().flat_map(|version| &version.findings);
    let in_path = in_path.filter(|finding| finding.line.is_none()).count() > 0;
    let stuck = |version: &ExposedVersion| version.present && version.problem.is_some();
    if !is_there || in_path || versions.iter().any(stuck) {
        Remedy::Erase
    } else {
        Remedy::Redact
    }
}

fn summed(survey: &Survey, mut memories: Vec<Exposed>) -> Scanned {
    memories.sort_by(|a, b| {
        let [(a, one), (b, other)] = [a, b].map(|m| (m.path.as_ref().map(Text::as_str), m.id));
        (a, one).cmp(&(b, other))
    });
    let versions = || memories.iter().flat_map(|memory| &memory.versions);
    let with = |fits: fn(&Problem) -> bool| {
        let problems = versions().filter_map(|version| version.problem.as_ref());
        problems.filter(|problem| fits(problem)).count() as u64
    };
    Scanned {
        at: survey.at,
        findings: versions().map(|version| version.findings_total).sum(),
        unfinished: with(|problem| matches!(problem, Problem::Unfinished)),
        closed: with(|problem| matches!(problem, Problem::Unreadable(_))),
        memories_total: survey.memories,
        versions_total: survey.versions.len() as u64,
        memories,
    }
}

/// Most findings listed for a version.
pub const VERSION_FINDINGS_MAX: usize = 1_000;
/// Most findings listed for a scan: those of the newest events. All are counted.
pub const FINDINGS_MAX: u64 = 100_000;

/// The scope of a scan.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ScanScope {
    /// Limits the scan to memories that were ever at or below this path, wherever they are now;
    /// with `present`, to those that are there now.
    pub within: Option<MemoryPath>,
    /// Scans only present versions: no earlier versions, and no deleted memories.
    pub present: bool,
}

/// The result of a scan. Secrets in its paths are redacted.
#[derive(Debug)]
#[non_exhaustive]
pub struct Scanned {
    /// The moment up to which history was scanned.
    pub at: Moment,
    /// The memories with findings or problems, sorted by path.
    pub memories: Vec<Exposed>,
    /// Number of findings, listed or not.
    pub findings: u64,
    /// Number of versions whose text takes too long to scan. They may hold anything.
    pub unfinished: u64,
    /// Number of versions that do not open, though no record says that they were erased.
    pub closed: u64,
    /// Number of memories scanned.
    pub memories_total: u64,
    /// Number of their versions scanned.
    pub versions_total: u64,
}

/// A memory with secrets, or one that could not be scanned completely.
#[derive(Debug)]
#[non_exhaustive]
pub struct Exposed {
    /// The memory.
    pub id: MemoryId,
    /// Its present path, or its last; `None` if the key of its paths is destroyed.
    pub path: Option<Text>,
    /// True if it still exists.
    pub is_there: bool,
    /// The remedy.
    pub remedy: Remedy,
    /// The versions with findings or problems, newest first.
    pub versions: Vec<ExposedVersion>,
}

/// The remedy for a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Redact its present text, and erase its earlier versions.
    Redact,
    /// Erase it: it no longer exists, or no redaction reaches the finding.
    Erase,
    /// Find out why it does not open: no secret was found in it.
    Verify,
}

/// A version of a memory with secrets, or one that could not be scanned.
#[derive(Debug)]
#[non_exhaustive]
pub struct ExposedVersion {
    /// The version.
    pub version: u64,
    /// The event that wrote it.
    pub event: u64,
    /// Its path at that time; `None` if the key of the memory's paths is destroyed.
    pub path: Option<Text>,
    /// True if it is the present version of an existing memory.
    pub present: bool,
    /// The findings in order, at most [`VERSION_FINDINGS_MAX`] in its text.
    pub findings: Vec<SecretFinding>,
    /// Number of findings, listed or not.
    pub findings_total: u64,
    /// The reason why its text was not scanned.
    pub problem: Option<Problem>,
}

/// A secret, or a value that the rules in force take for one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SecretFinding {
    /// The kind of secret.
    pub kind: Kind,
    /// The line of the text in which it begins, counted from 1; `None` if it is in the path.
    pub line: Option<usize>,
    /// Its keyed fingerprint, if the policy asks for fingerprints.
    pub fingerprint: Option<u32>,
}

/// The reason why a version was not scanned.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The scan takes longer than a text of this length may.
    Unfinished,
    /// The version does not open; a sentence with the reason.
    Unreadable(String),
}
