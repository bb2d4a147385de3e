//! What records say of the keys in force: enough to know a keyring again, and nothing of its keys.
//!
//! Whoever can write the keyring's folder can put keys of his own there, sealed to the public
//! recipients. So the first event and each that changes keys says which they are from then on, and
//! each but the first has a proof by who held the epoch key before. A keyring that history does not
//! name is not used.

use serde::{Deserialize, Serialize};

use super::Keyring;
use super::files::Epoch;
use crate::crypto::digest::Digest;
use crate::crypto::sign::{AuthorityMark, AuthorityProof};
use crate::disk::Name;
use crate::error::{Error, Result};

/// The keys in force from an event on (docs/format.md, 5.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyCommitment {
    /// The number of the epoch, and the public half of the authority that its key gives.
    pub(crate) epoch: (u64, AuthorityMark),
    /// The number of the names key, and what stands for it.
    pub(crate) names: (u64, Digest),
    /// What stands for the audit identities.
    audit: Digest,
    /// How many entries `ring` and `names` had, at least.
    pub(crate) entries: (u64, u64),
    /// By the authority of the epoch before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    proof: Option<AuthorityProof>,
}

/// A commitment as the catalog keeps it: without its proof, which was checked.
pub(crate) type KeysRow = ((u64, [u8; 32]), (u64, [u8; 32]), [u8; 32], (u64, u64));

impl KeyCommitment {
    pub(crate) fn to_row(self) -> KeysRow {
        let (epoch, names) = (self.epoch, self.names);
        let names = (names.0, names.1.0);
        ((epoch.0, epoch.1.0), names, self.audit.0, self.entries)
    }

    pub(crate) fn from_row((epoch, names, audit, entries): KeysRow) -> Self {
        Self {
            epoch: (epoch.0, AuthorityMark(epoch.1)),
            names: (names.0, Digest(names.1)),
            audit: Digest(audit),
            entries,
            proof: None,
        }
    }

    /// The same keys, once this many memories were added.
    pub(crate) fn with_more_entries(mut self, added: u64) -> Self {
        self.entries.0 = self.entries.0.saturating_add(added);
        self.entries.1 = self.entries.1.saturating_add(added);
        self
    }

    /// The same, once its proof was checked.
    pub(crate) fn without_proof(mut self) -> Self {
        self.proof = None;
        self
    }

    /// What a proof is over: these keys, behind that commit.
    fn said(&self, parent: Option<Digest>) -> Vec<u8> {
        let parent = parent.map_or([0; 32], |digest| digest.0);
        let (epoch, names) = (self.epoch, self.names);
        [
            b"agekeep/2 keys ".as_slice(),
            &parent,
            &epoch.0.to_le_bytes(),
            &epoch.1.0,
            &names.0.to_le_bytes(),
            &names.1.0,
            &self.audit.0,
            &self.entries.0.to_le_bytes(),
            &self.entries.1.to_le_bytes(),
        ]
        .concat()
    }

    /// Whether a holder of the keys before put these in their place, behind that commit.
    pub(crate) fn follows(&self, before: &AuthorityMark, parent: Option<Digest>) -> bool {
        let proof = self.proof.as_ref();
        proof.is_some_and(|proof| before.proves(&self.said(parent), proof))
    }

    /// Whether the keys are the same, however many entries there are.
    fn has_keys_of(&self, other: &Self) -> bool {
        (self.epoch, self.names, self.audit) == (other.epoch, other.names, other.audit)
    }
}

impl Keyring {
    /// What stands for the keys of this keyring.
    ///
    /// # Errors
    /// As [`Self::as_reader`]: an auditor does not have all of them.
    pub(crate) fn commitment(&self) -> Result<KeyCommitment> {
        let epoch = self.epoch()?;
        let (ring, names) = self.counts();
        Ok(KeyCommitment {
            epoch: (epoch.number, self.marks().0.expect("there is an epoch")),
            names: (self.audit.number, self.marks().1),
            audit: self.marks().2,
            entries: (u64::from(ring), u64::from(names)),
            proof: None,
        })
    }

    /// What the record of a change of keys says, if this keyring comes of one that is not on record
    /// yet.
    pub(crate) fn new_commitment(&self, parent: Option<Digest>) -> Result<Option<KeyCommitment>> {
        let Some(before) = &self.before else {
            return Ok(None);
        };
        let mut commitment = self.commitment()?;
        commitment.proof = Some(before.sign(&commitment.said(parent)));
        Ok(Some(commitment))
    }

    /// Takes note that the change of keys it comes of is on record.
    pub(crate) fn is_on_record(&mut self) {
        self.before = None;
    }

    /// Whether these are the keys that history names, as far as this identity opens them.
    pub(crate) fn has_keys_of(&self, known: &KeyCommitment) -> bool {
        if let Ok(own) = self.commitment() {
            return own.has_keys_of(known);
        }
        let names = (self.audit.number, self.marks().1);
        (names, self.marks().2) == (known.names, known.audit)
    }

    /// Checks that no entries were cut off from the tables.
    ///
    /// # Errors
    /// [`Error::Damaged`] if one has fewer than history added.
    pub(crate) fn check_entries(&self, least: (u64, u64)) -> Result<()> {
        let (ring, names) = self.counts();
        for (name, count, least) in [(Name::RING, ring, least.0), (Name::NAMES, names, least.1)] {
            if u64::from(count) < least {
                let why = format!("it has {count} entries, and history added {least}");
                return Err(super::files::damaged(&self.folder, &name, &why));
            }
        }
        Ok(())
    }

    /// What a keyring that history does not name is: files of several moments, or somebody else's.
    pub(crate) fn foreign(&self) -> Error {
        let why = "its keys are not those that history names: its files are of different moments, or \
                   somebody put others there";
        let hint = "find out who could write to this folder; restore all four files of the keyring \
                    from the backup that belongs to this repository, or, if it is known to be right, \
                    go on with it by `agekeep accept-rollback --reason TEXT`";
        Error::damaged_with_hint(self.folder.path().display().to_string(), why, hint)
    }

    fn marks(&self) -> &(Option<AuthorityMark>, Digest, Digest) {
        self.marks.get_or_init(|| {
            let epoch = self.epoch.as_ref().map(Epoch::authority);
            (
                epoch.map(|authority| authority.mark()),
                self.audit.names_commitment(),
                self.audit.identities_commitment(),
            )
        })
    }
}
