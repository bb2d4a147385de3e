//! Verification that nothing was tampered with: checks what history and keys mean, not only hashes.
//!
//! ```text
//! snapshot  the store at one moment, under its lock   layout   refs, config, hooks, foreign files
//! walk      commits from the newest back; then, oldest first and on every core:
//! commit    one commit against the previous one: form, chain, signature, record, tree, blobs
//! replay    in order: numbers, times, state           keys     keyring, every live memory opened
//! claims    the pin, checkpoints, and the last verified point
//! ```
//!
//! Verification records nothing, and repairs nothing but what an unclean stop left undone. A fault
//! never ends a run: later commits are checked against the state the store has there, so that one
//! fault gives one finding. A clean result is kept outside the store, so that the next run reads
//! only what is new.

mod claims;
mod commit;
mod findings;
mod keys;
mod layout;
mod replay;
mod snapshot;
mod tree;
mod walk;

use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};

use self::claims::VerifiedPoint;
use self::commit::Before;
use self::findings::{Fault, FindingLocation, Findings};
use self::replay::ReplayState;
use self::snapshot::StoreSnapshot;
use self::walk::{CommitRange, Start, VerifiedHistory};
use crate::crypto::digest::Digest;
use crate::crypto::seal::Identity;
use crate::disk::Folder;
use crate::error::{Error, Result};
use crate::id::{MemoryId, ObjectId, StoreId};
use crate::keyring::Keyring;
use crate::repository::Repository;
use crate::state::catalog::Catalog;
use crate::store;
use crate::store::pin::Place;
use crate::store::signed_checkpoint::SignedCheckpoint;

pub use self::findings::{FINDINGS, Finding, FindingClass};

/// Options of a verification.
#[derive(Default)]
pub struct Options {
    /// Opens the keyring. Without one, only checks that need no key are made.
    pub identity: Option<Identity>,
    /// True to begin with the first event, whatever was verified before.
    pub full: bool,
    /// The folder outside the store with the stores seen at each place, their newest moments, and
    /// the last verified points. Without it none of that is known.
    pub state: Option<PathBuf>,
    /// The keyring's folder. By default it is where the policy says, or in the store.
    pub keyring: Option<PathBuf>,
    /// Checkpoints that history must contain.
    pub checkpoints: Vec<SignedCheckpoint>,
    /// Reads history only if not more than these events are unverified; otherwise the report says
    /// how many are. By default all are read.
    pub limit: Option<Limit>,
}

/// A limit of the events that a verification reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// The events that the store has now.
    pub events: u64,
    /// The most events to read.
    pub events_max: u64,
}

/// Progress of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Commits done.
    pub done: u64,
    /// Commits to do; `None` while they are still being counted.
    pub total: Option<u64>,
}

/// Counts of memories.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Memories {
    /// Memories that are live according to history.
    pub live: u64,
    /// Memories that opened with their key, at their path and version.
    pub opened: u64,
}

/// What a run found of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckpointProof {
    /// The number of the event that it says was the newest.
    pub event: u64,
    /// The time of that event, as the checkpoint says it.
    pub time: DateTime<Utc>,
    /// The commit that it says that event has.
    pub commit: ObjectId,
    /// The signer who signed it; `None` if no signer of that time did.
    pub signer: Option<String>,
    /// True if today's history has that commit at that event.
    pub is_contained: bool,
    /// True if it is contained and nothing was tampered with: then history is unbroken from that
    /// event to today.
    pub is_proved: bool,
}

/// The results of a run.
#[derive(Debug)]
#[non_exhaustive]
pub struct Report {
    /// The store's id, if its policy can be read.
    pub store: Option<StoreId>,
    /// The newest commit of the verified history.
    pub head: Option<ObjectId>,
    /// True if history says that the store is for trials: its times may be made up. `None` where
    /// that cannot be read, which takes a key.
    pub trial: Option<bool>,
    /// The number of events.
    pub events: u64,
    /// The first event that was checked; 0 if all were.
    pub from: u64,
    /// The number of versions read and compared with their events.
    pub versions: u64,
    /// The live memories; all zero without a key.
    pub memories: Memories,
    /// Memories whose keys are destroyed.
    pub erased: Vec<MemoryId>,
    /// The first 1,000 findings.
    pub findings: Vec<Finding>,
    /// The number of all findings.
    pub findings_total: u64,
    /// What was found of each checkpoint, as far as history could be compared with them.
    pub checkpoints: Vec<CheckpointProof>,
    /// A phrase for each check that could not be made, with the reason.
    pub not_checked: Vec<String>,
    /// A sentence for each thing that is as it should be and that limits what the run proves.
    pub notes: Vec<String>,
    /// The gravest class of what was found, checks that could not be made included; `None` if
    /// everything was checked and is in order.
    pub worst: Option<FindingClass>,
}

/// Verifies the store at `root`.
///
/// # Errors
/// [`Error::NoStore`] where there is none, [`Error::Io`] where the disk cannot be read. Damage is a
/// finding, not an error.
pub fn verify(
    root: &Path,
    options: &Options,
    progress: &mut dyn FnMut(Progress),
) -> Result<Report> {
    let (report, _) = verify_line(&store::store_at(root)?, options, None, progress)?;
    Ok(report)
}

/// Commits that came from elsewhere, whose objects are in the store and to which no branch leads yet.
pub(crate) struct Incoming<'a> {
    /// The newest of them.
    pub(crate) head: ObjectId,
    /// The commit at which the store's own history ends. With a key, records are read from the last
    /// verified point on; without one, commits after this one are read.
    pub(crate) known: ObjectId,
    /// The keyring with which history was verified before, if the one it is verified with now keeps its
    /// keys.
    pub(crate) before: Option<&'a Keyring>,
}

/// The point up to which history was verified, to be kept once history ends there.
pub(crate) struct UnsavedPoint {
    place: Place,
    keyring: Keyring,
    fold: ReplayState,
    digest: Digest,
}

impl UnsavedPoint {
    /// Keeps it, so that the next run begins there, and the catalog for the next command. A failure only makes
    /// these read more.
    pub(crate) fn keep(mut self, root: &Folder, repository: &Repository) {
        let catalog = &mut self.fold.catalog;
        let _ = store::keep_catalog(root, repository, &self.keyring, catalog);
        let _ = VerifiedPoint::save(&self.place, &self.keyring, &self.fold, self.digest);
    }
}

/// Verifies what came from elsewhere as if history had it. The point that this reaches is the caller's to
/// keep; `None` if nothing is kept of such a run.
pub(crate) fn verify_incoming(
    root: &Folder,
    options: &Options,
    incoming: Incoming<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<(Report, Option<UnsavedPoint>)> {
    verify_line(root, options, Some(incoming), progress)
}

fn verify_line(
    root: &Folder,
    options: &Options,
    incoming: Option<Incoming<'_>>,
    progress: &mut dyn FnMut(Progress),
) -> Result<(Report, Option<UnsavedPoint>)> {
    let mut findings = Findings::default();
    let mut not_checked = Vec::new();
    let end = incoming.as_ref().map(|incoming| incoming.head);
    let opened = snapshot::open(root, options, end, &mut findings, &mut not_checked);
    let opened = match opened {
        Err(Error::Damaged { why, .. }) if findings.has_found("alternates") => {
            not_checked.push(unread(&why));
            StoreSnapshot::nothing(root)
        }
        opened => opened?,
    };
    let mut run = Run {
        root,
        options,
        incoming,
        opened,
        findings,
        not_checked,
        reached: None,
    };
    match run.history(progress) {
        Err(Error::Damaged { why, .. }) if run.findings.has_found("alternates") => {
            run.not_checked.push(unread(&why));
            Ok((run.report(HistoryCheck::default()), None))
        }
        done => {
            let outcome = done?;
            let point = run.unsaved_point();
            Ok((run.report(outcome), point))
        }
    }
}

/// Describes what alternates leave unread: objects in another folder always, and packs as long as
/// one is named.
fn unread(why: &str) -> String {
    format!("history and contents: {why}")
}

/// A run over the store as it was when the run began.
struct Run<'a> {
    root: &'a Folder,
    options: &'a Options,
    incoming: Option<Incoming<'a>>,
    opened: StoreSnapshot,
    findings: Findings,
    not_checked: Vec<String>,
    /// Where a run without findings over what came ended.
    reached: Option<(ReplayState, Digest)>,
}

/// The results of reading history.
#[derive(Default)]
struct HistoryCheck {
    trial: Option<bool>,
    events: u64,
    from: u64,
    versions: u64,
    memories: Memories,
    erased: Vec<MemoryId>,
    checkpoints: Vec<CheckpointProof>,
}

/// A line of commits and the state before it.
struct RunStart {
    line: CommitRange,
    fold: ReplayState,
    /// The event number of the first commit, if it is known.
    first: Option<u64>,
    /// The commit before the first, up to which history is known to be in order.
    before: Option<ObjectId>,
    point: Option<VerifiedPoint>,
}

impl Run<'_> {
    fn history(&mut self, progress: &mut dyn FnMut(Progress)) -> Result<HistoryCheck> {
        let Some(head) = self.opened.head else {
            self.not_checked.push("history: it has no end".into());
            return Ok(HistoryCheck::default());
        };
        let known = self.known();
        if let Some(skipped) = self.over_limit(known.as_ref().map(|(_, fold)| fold)) {
            return Ok(skipped);
        }
        let mut begun = self.begin(head, known, progress)?;
        self.check_history(&mut begun, progress)?;
        let mut outcome = HistoryCheck {
            events: begun.first.unwrap_or(0) + begun.line.commits.len() as u64,
            from: begun.first.unwrap_or(0),
            versions: begun.fold.versions,
            ..HistoryCheck::default()
        };
        if self.opened.keyring.is_some() {
            self.keys(&begun, &mut outcome)?;
        }
        let Some(first) = begun.first else {
            if begun.before.is_none() {
                self.not_checked
                    .push("what was before a commit that cannot be read".into());
            }
            return Ok(outcome);
        };
        let keyring = self.opened.keyring.as_ref();
        outcome.trial = keyring.map(|_| begun.fold.catalog.is_trial);
        let chain = VerifiedHistory {
            repository: &self.opened.repository,
            first,
            commits: &begun.line.commits,
            before: begun.before,
        };
        match self.opened.store {
            Some(store) => {
                outcome.checkpoints = claims::check(
                    &chain,
                    store,
                    &self.options.checkpoints,
                    &mut self.findings,
                    &mut self.not_checked,
                )?;
            }
            None => self
                .not_checked
                .push("checkpoints: the store's id cannot be read".into()),
        }
        if self.findings.total == 0
            && let Some(newest) = chain.newest()?
        {
            let mut fold = begun.fold;
            let decided = snapshot::config_blobs_at(&self.opened.repository, newest.commit)?;
            fold.catalog.decided = decided;
            if self.incoming.is_some() {
                self.reached = Some((fold, newest.digest));
            } else {
                self.keep_point(&fold, newest.digest);
            }
        }
        Ok(outcome)
    }

    /// Returns the results without reading history, if more is unverified than the caller allows.
    fn over_limit(&mut self, known: Option<&ReplayState>) -> Option<HistoryCheck> {
        let limit = self.options.limit?;
        let from = known.map_or(0, |fold| fold.catalog.events);
        let unverified = limit.events.saturating_sub(from);
        if unverified <= limit.events_max {
            return None;
        }
        self.not_checked.push(format!(
            "the newest {unverified} events, which nobody has verified here: `agekeep verify` does"
        ));
        Some(HistoryCheck {
            events: limit.events,
            from,
            ..HistoryCheck::default()
        })
    }

    /// Returns the point up to which history was verified before, and the state there.
    fn known(&self) -> Option<(VerifiedPoint, ReplayState)> {
        let keyring = self
            .opened
            .keyring
            .as_ref()
            .filter(|_| !self.options.full)?;
        let keyring = self.keyring_before().unwrap_or(keyring);
        let point = VerifiedPoint::load(&self.place()?, keyring)?;
        let fold = point.state()?;
        Some((point, fold))
    }

    /// Returns the keyring with which history was verified, if what comes is verified with another that keeps
    /// its keys.
    fn keyring_before(&self) -> Option<&Keyring> {
        self.incoming.as_ref()?.before
    }

    /// Finds the line of commits to read, after what is known of it.
    fn begin(
        &mut self,
        head: ObjectId,
        known: Option<(VerifiedPoint, ReplayState)>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<RunStart> {
        let until = match (&known, &self.incoming) {
            (Some((point, _)), _) => Some(point.commit),
            (None, Some(incoming)) if self.opened.keyring.is_none() => Some(incoming.known),
            (None, _) => None,
        };
        let line = walk::walk(
            &self.opened.repository,
            head,
            until,
            &self.opened.parents,
            &mut self.findings,
            progress,
        )?;
        match (known, line.start) {
            (Some((point, fold)), Start::After(_)) => Ok(RunStart {
                first: Some(fold.catalog.events),
                line,
                fold,
                before: Some(point.commit),
                point: Some(point),
            }),
            // Without a key records say nothing, neither these nor the ones before.
            (None, Start::After(commit)) => Ok(RunStart {
                first: None,
                line,
                fold: ReplayState::new(Catalog::empty(), true),
                before: Some(commit),
                point: None,
            }),
            (known, start) => {
                if let Some((point, fold)) = known {
                    self.moved(&point, &fold, start);
                }
                let cut = start == Start::Cut;
                Ok(RunStart {
                    first: (!cut).then_some(0),
                    line,
                    fold: ReplayState::new(Catalog::empty(), cut),
                    before: None,
                    point: None,
                })
            }
        }
    }

    /// Reports that the last verified point was not met on the way back.
    fn moved(&mut self, point: &VerifiedPoint, fold: &ReplayState, start: Start) {
        if start == Start::Cut {
            // It may lie before the unreadable commit, which is a finding of its own.
            self.not_checked
                .push("that history contains what was verified last".into());
            return;
        }
        let spot = FindingLocation {
            event: fold.catalog.events.checked_sub(1),
            commit: Some(point.commit),
        };
        let what = "it was verified, and today's history does not contain it";
        self.findings.add(Fault::new("history-moved", what), spot);
    }

    /// Checks every commit and replays it.
    fn check_history(
        &mut self,
        begun: &mut RunStart,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<()> {
        let total = begun.line.commits.len() as u64;
        let keyring = self.opened.keyring.as_ref();
        let repository = &self.opened.repository;
        let before = match begun.before {
            Some(commit) => Before {
                root: false,
                digest: match &begun.point {
                    Some(point) => Some(point.digest),
                    None => Some(Digest::of(&repository.commit(commit)?.1)),
                },
                tree: snapshot::tree_of(repository, commit)?,
                certain: true,
            },
            None => Before {
                root: begun.first.is_some(),
                ..Before::default()
            },
        };
        let cached = self.opened.cached.as_ref();
        let findings = &mut self.findings;
        let mut met = compare_at_point(begun, cached, repository, findings)?;
        let (commits, fold) = (&begun.line.commits, &mut begun.fold);
        walk::check_commits(self.root, keyring, commits, &before, |index, examined| {
            let (id, index) = (commits[index], index as u64);
            let number = begun.first.map(|first| first + index);
            fold.apply_commit(repository, id, number, examined, findings)?;
            if let Some(cached) = cached.filter(|cached| cached.head == Some(id)) {
                met = true;
                compare_cached(fold, cached, repository, findings)?;
            }
            if (index + 1).is_multiple_of(256) || index + 1 == total {
                progress(Progress {
                    done: index + 1,
                    total: Some(total),
                });
            }
            Ok(())
        })?;
        if !met && cached.is_some() && !begun.fold.blind {
            let what = "the catalog file is of a commit that is not in this history";
            findings.add_outside(Fault::new("catalog", what));
        }
        Ok(())
    }

    /// Checks the keyring, and opens live memories: all, or those written since the last point.
    fn keys(&mut self, begun: &RunStart, outcome: &mut HistoryCheck) -> Result<()> {
        let keyring = self.opened.keyring.as_ref().expect("asked by the caller");
        let known = match (&begun.point, self.keyring_before()) {
            // Its entries are all new in form, and the keys in them are those that were checked.
            (Some(_), Some(_)) => Some((0, 0)),
            (Some(point), None) => point.keys_known(keyring)?,
            (None, _) => None,
        };
        let fold = &begun.fold;
        if let Some(named) = fold.catalog.keys.filter(|_| !fold.blind) {
            let head = begun.line.commits.last().copied().or(self.opened.head);
            let repository = &self.opened.repository;
            let known = keyring.has_keys_of(&named)
                || head.is_some_and(|head| {
                    store::was_in_force(repository, keyring, head).is_ok_and(|was| was)
                });
            if !known {
                let error = keyring.foreign();
                self.findings
                    .add_outside(Fault::new("keyring", error.to_string()));
            }
            if keyring.replica().is_none() {
                let what =
                    "audit.age names no replica, and every keyring of a store of format 2 does";
                self.findings.add_outside(Fault::new("keyring", what));
            }
        }
        let first = known.unwrap_or_default();
        outcome.erased = keys::check(keyring, first, fold, &mut self.findings)?;
        let wanted = |id: &MemoryId| {
            (known.is_none() || fold.written.contains(id)) && !fold.unsure.contains(id)
        };
        let memories: Vec<_> = fold
            .catalog
            .memories()
            .filter(|memory| wanted(&memory.id))
            .collect();
        outcome.memories.live = fold.catalog.len() as u64;
        if keyring.is_reader() {
            outcome.memories.opened =
                keys::open_memories(self.root, keyring, &memories, &mut self.findings)?;
            keys::try_destroyed(self.root, keyring, first, fold, &mut self.findings)?;
            // Versions that were read before may need the entries that are new in form alone.
            if begun.point.is_none() || (known.is_some() && self.keyring_before().is_none()) {
                keys::unused(keyring, first, fold, &mut self.findings)?;
            }
        } else {
            let what = match keyring.require_reader() {
                Err(error @ Error::Damaged { .. }) => error.to_string(),
                _ if keyring.has_ring() => "your identity is an auditor's".into(),
                _ => {
                    "your identity is an auditor's, and this copy of the keyring has no ring".into()
                }
            };
            self.not_checked
                .push(format!("keys and contents of memories: {what}"));
        }
        if !fold.unsure.is_empty() {
            self.not_checked.push(format!(
                "{} memories whose state no sound event tells",
                fold.unsure.len()
            ));
        }
        Ok(())
    }

    /// Saves the end of history as the point where the next run begins.
    fn keep_point(&self, fold: &ReplayState, newest: Digest) {
        if let (Some(place), Some(keyring)) = (self.place(), &self.opened.keyring) {
            // A failure only makes the next run read more, so it does not fail this one.
            let _ = VerifiedPoint::save(&place, keyring, fold, newest);
        }
    }

    /// Returns the point that a run over what came has reached.
    fn unsaved_point(&mut self) -> Option<UnsavedPoint> {
        let (fold, digest) = self.reached.take()?;
        Some(UnsavedPoint {
            place: self.place()?,
            keyring: self.opened.keyring.take()?,
            fold,
            digest,
        })
    }

    /// Returns the store's place, if a state folder is given.
    fn place(&self) -> Option<Place> {
        let state = self.options.state.as_deref()?;
        Place::of(state, self.root.path()).ok()
    }

    fn report(self, mut outcome: HistoryCheck) -> Report {
        let gap = (!self.not_checked.is_empty()).then_some(FindingClass::Incomplete);
        let worst = self.findings.worst.max(gap);
        for checkpoint in &mut outcome.checkpoints {
            let is_sound = worst != Some(FindingClass::Tampered);
            checkpoint.is_proved = checkpoint.is_contained && is_sound;
        }
        Report {
            checkpoints: outcome.checkpoints,
            notes: self.opened.notes,
            worst,
            store: self.opened.store,
            head: self.opened.head,
            trial: outcome.trial,
            events: outcome.events,
            from: outcome.from,
            versions: outcome.versions,
            memories: outcome.memories,
            erased: outcome.erased,
            findings: self.findings.listed,
            findings_total: self.findings.total,
            not_checked: self.not_checked,
        }
    }
}

/// Compares the catalog file with the state at the last verified point, if it is of that commit.
/// Returns whether no later comparison is needed: it was made, or the file is from before that
/// point.
fn compare_at_point(
    begun: &RunStart,
    cached: Option<&Catalog>,
    repository: &crate::repository::Repository,
    findings: &mut Findings,
) -> Result<bool> {
    let (Some(point), Some(cached)) = (&begun.point, cached) else {
        return Ok(false);
    };
    if cached.head == Some(point.commit) {
        compare_cached(&begun.fold, cached, repository, findings)?;
        return Ok(true);
    }
    Ok(cached.events < begun.fold.catalog.events)
}

/// Compares the catalog file with history at the same commit.
fn compare_cached(
    fold: &ReplayState,
    cached: &Catalog,
    repository: &crate::repository::Repository,
    findings: &mut Findings,
) -> Result<()> {
    // A state with a faulty history is a finding already.
    if !fold.fits {
        return Ok(());
    }
    let Some(head) = cached.head else {
        return Ok(());
    };
    let told = &fold.catalog;
    let numbers = |state: &Catalog| {
        let history = (state.events, state.versions, state.history_bytes);
        (history, state.times, state.len())
    };
    let differs = if numbers(told) != numbers(cached) || told.recent != cached.recent {
        Some((None, "the catalog file counts other events or memories"))
    } else if !told.retains_as(cached) {
        Some((
            None,
            "the catalog file names other holds, sweeps or erasures",
        ))
    } else if snapshot::config_blobs_at(repository, head)? != cached.decided {
        Some((None, "the catalog file names other public files"))
    } else {
        told.memories()
            .filter(|memory| !memory.is_nameless())
            .find(|memory| cached.memory(memory.id) != Some(*memory))
            .map(|memory| (Some(memory.id), "the catalog file has another state of it"))
    };
    if let Some((memory, what)) = differs {
        let fault = Fault {
            memory,
            ..Fault::new("catalog", what)
        };
        findings.add_outside(fault);
    }
    Ok(())
}
