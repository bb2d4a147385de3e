//! What a store says about itself.

use std::path::PathBuf;

use chrono::{DateTime, Utc};

use crate::crypto::recipients::Member;
use crate::crypto::sign::Entry;
use crate::error::{Error, Result};
use crate::id::ObjectId;
use crate::id::StoreId;
use crate::keyring;

use super::{CopyOf, Signer, Store, private};

/// A summary of a store.
#[derive(Debug)]
#[non_exhaustive]
pub struct Status {
    /// The store's folder.
    pub path: PathBuf,
    /// Its id.
    pub id: StoreId,
    /// The newest commit.
    pub head: ObjectId,
    /// Memories that are there and have not expired.
    pub memories: usize,
    /// Those that have expired: absent for agents, until a sweep removes them.
    pub expired: usize,
    /// Memories that are marked for erasure, and whose keys are still there.
    pub marked: usize,
    /// Holds in force.
    pub holds: usize,
    /// When a sweep was last carried out, and its event.
    pub last_sweep: Option<(DateTime<Utc>, u64)>,
    /// Versions ever written.
    pub versions: u64,
    /// Events recorded.
    pub events: u64,
    /// Bytes of text in the live memories.
    pub text_bytes: u64,
    /// Bytes of all files of the store, as their lengths say.
    pub file_bytes: u64,
    /// Bytes of ciphertext in history, as the limit on it counts them.
    pub history_bytes: u64,
    /// That limit; 0 means none.
    pub history_bytes_max: u64,
    /// When the last event was.
    pub last_event: Option<DateTime<Utc>>,
    /// Who can open it.
    pub recipients: Vec<Member>,
    /// Who may write to it.
    pub signers: Vec<Signer>,
    /// Of which store it is a copy, or where it was before, as far as this user has seen.
    pub copy_of: Option<CopyOf>,
    /// What is wrong with it, one sentence each; empty if nothing was found.
    pub problems: Vec<String>,
}

impl Store {
    /// Gathers a summary. Nothing is recorded: no memory is opened.
    ///
    /// # Errors
    /// [`Error::Io`] if the store's files cannot be listed.
    pub fn status(&self) -> Result<Status> {
        let living = self.living().len();
        Ok(Status {
            path: self.root.path().to_owned(),
            id: self.id,
            head: self.journal.head(),
            memories: living,
            expired: self.catalog.len() - living,
            marked: self.catalog.marked.len(),
            holds: self.catalog.holds.len(),
            last_sweep: self.catalog.swept,
            versions: self.catalog.versions,
            events: self.catalog.events,
            text_bytes: self.catalog.bytes(),
            file_bytes: self
                .root
                .bytes_below()
                .map_err(Error::io("read", self.root.path()))?,
            history_bytes: self.catalog.history_bytes,
            history_bytes_max: self.limits().history_bytes,
            last_event: self.catalog.times.last,
            recipients: self.decisions.members.clone(),
            signers: self.signer_list(),
            copy_of: self.copy_of()?,
            problems: self.problems()?,
        })
    }

    fn problems(&self) -> Result<Vec<String>> {
        let mut problems: Vec<String> = self.keyring.problems().collect();
        problems.extend(self.pinning.problem());
        if keyring::is_unfinished(self.keyring.folder()) {
            problems.push(
                "a change of keys was begun and not finished; give the same command again, or \
                 `agekeep rekey`"
                    .into(),
            );
        }
        if !self.catalog.marked.is_empty() {
            problems.push(format!(
                "{} memories are marked for erasure and their keys are still there; any command of a \
                 reader who may write destroys them",
                self.catalog.marked.len()
            ));
        }
        if let Some(numbers) = self.catalog.erased
            && self.keyring.is_before(numbers)
        {
            problems.push(
                "the keyring is a copy from before an erasure; what was erased since is not opened \
                 with it, and any command of a reader who may write destroys those keys again"
                    .into(),
            );
        }
        let (mut keyless, mut missing) = (0, 0);
        for memory in self.catalog.memories() {
            keyless += usize::from(!self.keyring.has(memory.id)?);
            missing += usize::from(!self.repository.has(memory.blob)?);
        }
        if missing > 0 {
            problems.push(format!(
                "{missing} memories have lost their blob; restore the objects folder from a backup"
            ));
        }
        if keyless > 0 {
            problems.push(format!(
                "{keyless} memories have no key in the keyring and cannot be opened; restore it \
                 from the same backup as the repository"
            ));
        }
        problems.extend(self.without_role());
        match self.signer_now().map(drop) {
            Ok(()) => {}
            Err(Error::NotASigner { fingerprint }) => problems.push(format!(
                "your signing key {fingerprint} may not write to this store; name another with \
                 --signing-key"
            )),
            Err(untimely @ Error::Signing(_)) => {
                problems.push(format!("{untimely}; name another with --signing-key"));
            }
            Err(_) => problems.push(
                "you have no signing key, so nothing can be recorded; name one with --signing-key"
                    .into(),
            ),
        }
        if let Some(ahead) = self
            .catalog
            .times
            .last
            .filter(|last| *last > (self.clock)())
        {
            problems.push(format!(
                "the last event is in the future ({ahead}); check the clock"
            ));
        }
        for path in private::open_paths(&self.root, self.keyring.folder()) {
            problems.push(format!(
                "others can read {path}; run `chmod go= {path}`",
                path = path.display()
            ));
        }
        Ok(problems)
    }

    /// Says which signers have no role: their lines are from before there were any.
    fn without_role(&self) -> Option<String> {
        let entries = self.decisions.signers.entries();
        let without = entries.filter(|entry| !entry.says_role());
        let names: Vec<&str> = without.map(Entry::name).collect();
        (!names.is_empty()).then(|| {
            format!(
                "no role is given to {}, so each of these signers may do everything; give each one \
                 with `agekeep signers role NAME ROLE`: owner, writer, sweeper or auditor",
                names.join(", ")
            )
        })
    }
}
