//! A piece of a scan: versions that are opened and scanned on every core, without the store's lock.
//! It only reads: torn objects are repaired, if possible, under the lock.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use crate::background::on_every_core;
use crate::crypto::digest::Digest;
use crate::crypto::seal::Sealed;
use crate::disk::Folder;
use crate::error::Result;
use crate::event::{Event, MemoryChange};
use crate::id::{MemoryId, ObjectId};
use crate::keyring::Keyring;
use crate::memory_tool::path::MemoryPath;
use crate::redact::Redactor;
use crate::repository::Repository;
use crate::repository::object::{self, ObjectKind};
use crate::state::timeline::Version;
use crate::store::scan::{SecretFinding, VERSION_FINDINGS_MAX};
use crate::store::versions::if_open;
use crate::{Text, journal, version};

/// Fewest items for each thread.
pub(super) const THREAD_MIN: usize = 4;

/// A version, and the commit of the event that wrote it.
pub(super) struct ScanItem {
    pub(super) version: Version,
    pub(super) commit: ObjectId,
}

/// The outcome of scanning a version.
pub(super) enum ScanOutcome {
    /// No finding.
    Clean,
    /// The listed findings, and the number of all.
    Found(Vec<SecretFinding>, u64),
    /// The text cannot be scanned in time.
    Unfinished,
    /// The version does not open, for this reason.
    Unreadable(String),
}

/// The rules, and digests of texts known to be clean, so that repeated texts are scanned only once.
/// Most texts that occur twice in history are clean.
pub(super) struct ScanRules {
    redactor: Redactor,
    clean: Mutex<HashSet<Digest>>,
}

impl ScanRules {
    pub(super) fn new(redactor: Redactor) -> Self {
        Self {
            redactor,
            clean: Mutex::default(),
        }
    }

    /// Scans a text. The rules may depend on its path.
    pub(super) fn scan_text(&self, path: &MemoryPath, text: &Text) -> ScanOutcome {
        let path = path.as_str();
        let digest = Digest::of_pieces(&[path.as_bytes(), b"\0", text.as_str().as_bytes()]);
        let clean = || self.clean.lock().unwrap_or_else(PoisonError::into_inner);
        if clean().contains(&digest) {
            return ScanOutcome::Clean;
        }
        let Ok(found) = self.redactor.find(path, text) else {
            return ScanOutcome::Unfinished;
        };
        if found.is_empty() {
            clean().insert(digest);
            return ScanOutcome::Clean;
        }
        let total = found.len() as u64;
        let listed = found.into_iter().take(VERSION_FINDINGS_MAX);
        let listed = listed.map(|found| SecretFinding {
            kind: found.kind,
            line: Some(found.line),
            fingerprint: found.fingerprint,
        });
        ScanOutcome::Found(listed.collect(), total)
    }
}

/// Scans versions, which must be in the order of their events; `None` for a version that does not
/// open with the keys at hand.
pub(super) fn scan(
    root: &Folder,
    keyring: &Keyring,
    rules: &ScanRules,
    piece: &[ScanItem],
) -> Result<Vec<Option<ScanOutcome>>> {
    // A single event can have written thousands of versions. So each record is opened only once,
    // and then the versions are spread over all cores.
    let events: Vec<&[ScanItem]> = piece.chunk_by(|a, b| a.commit == b.commit).collect();
    let written = on_every_core(
        &events,
        THREAD_MIN,
        || Repository::open(root, journal::find),
        |repository, event| written_by(repository, keyring, event),
    )?;
    let written: Vec<Option<WrittenVersion>> = written.into_iter().flatten().collect();
    on_every_core(
        &written,
        THREAD_MIN,
        || Repository::open(root, journal::find),
        |repository, written| {
            let Some(written) = written else {
                return Ok(None);
            };
            let text = text_of(repository, keyring, written)?;
            Ok(text.map(|text| rules.scan_text(&written.path, &text)))
        },
    )
}

/// A version as written by its event, according to the record.
struct WrittenVersion {
    id: MemoryId,
    path: MemoryPath,
    version: u64,
    blob: ObjectId,
    digest: Digest,
}

/// Finds versions in the record of the event that wrote them.
fn written_by(
    repository: &Repository,
    keyring: &Keyring,
    wanted: &[ScanItem],
) -> Result<Vec<Option<WrittenVersion>>> {
    let none = || wanted.iter().map(|_| None).collect();
    let commit = wanted.first().map(|wanted| wanted.commit);
    let bytes = match commit {
        Some(commit) => read(repository, commit, ObjectKind::Commit)?,
        None => None,
    };
    let commit = bytes.and_then(|bytes| object::parse_commit(&bytes));
    let event = commit.and_then(|commit| Event::from_message(&commit.message, keyring).ok());
    let Some(event) = event else {
        return Ok(none());
    };
    let writes = event.memories.iter().filter(|touch| touch.change.writes());
    let touches: HashMap<MemoryId, &MemoryChange> = writes.map(|touch| (touch.id, touch)).collect();
    let written = |ScanItem { version, .. }: &ScanItem| {
        let touch = touches.get(&version.id)?;
        let (blob, digest) = touch.blob?;
        (touch.version == version.version).then_some(())?;
        Some(WrittenVersion {
            id: version.id,
            path: touch.path.clone()?,
            version: version.version,
            blob,
            digest,
        })
    };
    Ok(wanted.iter().map(written).collect())
}

/// Returns the text of a version, checked against its event and its header; `None` if it does not
/// open.
fn text_of(
    repository: &Repository,
    keyring: &Keyring,
    written: &WrittenVersion,
) -> Result<Option<Text>> {
    let Some(bytes) = read(repository, written.blob, ObjectKind::Blob)? else {
        return Ok(None);
    };
    let Ok(sealed) = Sealed::parse(bytes) else {
        return Ok(None);
    };
    if sealed.digest() != written.digest {
        return Ok(None);
    }
    let Some(keys) = if_open(keyring.memory_keys(written.id))? else {
        return Ok(None);
    };
    let place = version::VersionAddress {
        id: written.id,
        path: &written.path,
        version: written.version,
    };
    Ok(version::open(&keys, &place, &sealed).ok())
}

/// Reads an object without writing anything; `None` if it is not intact.
fn read(repository: &Repository, id: ObjectId, kind: ObjectKind) -> Result<Option<Vec<u8>>> {
    if_open(repository.read_whole(id, kind)).map(Option::flatten)
}
