//! What was said of history elsewhere, held against what it is: the pin, and checkpoints.

use std::path::Path;

use super::chain::Chain;
use super::findings::{Fault, Findings, Spot};
use crate::crypto::sign::Signers;
use crate::error::{Error, Result};
use crate::id::ObjectId;
use crate::id::StoreId;
use crate::repository::Repository;
use crate::store::Pinning;
use crate::store::note::{self, Note, Verdict};

/// Checks that it is the store that was seen at this place, and that history contains what was seen
/// of it. Called under the store's lock: without it the pin may be ahead of the head that was read.
pub(super) fn check_pin(
    repository: &Repository,
    head: ObjectId,
    (state, root): (&Path, &Path),
    store: StoreId,
    findings: &mut Findings,
    not_checked: &mut Vec<String>,
) -> Result<()> {
    match Pinning::new(Some(state), root, store)?.check(repository, head) {
        Ok(()) => {}
        Err(Error::AnotherStore { known, found, .. }) => {
            let what = if known == found {
                "it has the id of a store that was seen before, and another first commit".into()
            } else {
                format!("the store {known} was seen at this place, and this is {found}")
            };
            findings.add_outside(Fault::new("another-store", what));
        }
        Err(Error::RolledBack { event, .. }) => {
            let what = "it was seen, and today's history does not contain it";
            let spot = Spot {
                event: Some(event),
                commit: None,
            };
            findings.add(Fault::new("pin-rolled-back", what), spot);
        }
        Err(Error::BadPin { .. }) => {
            let what = "what was seen of the store is kept in a file that is damaged";
            findings.add_outside(Fault::new("pin-damaged", what));
        }
        Err(Error::Damaged { .. }) => not_checked
            .push("that history contains what was seen of it: a commit cannot be read".into()),
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Holds history against checkpoints, as far as it can be read.
pub(super) fn check(
    chain: &Chain<'_>,
    store: StoreId,
    notes: &[Note],
    findings: &mut Findings,
    not_checked: &mut Vec<String>,
) -> Result<()> {
    match check_notes(chain, notes, store, findings) {
        Err(Error::Damaged { .. }) => {
            not_checked.push("the checkpoints: a commit cannot be read".into());
            Ok(())
        }
        done => done,
    }
}

/// Checks that history contains what checkpoints said of it, and that all of them can be true.
fn check_notes(
    chain: &Chain<'_>,
    notes: &[Note],
    store: StoreId,
    findings: &mut Findings,
) -> Result<()> {
    let event = |number| {
        let link = chain.at(number)?;
        Ok(link.map(|link| (link.commit, link.digest)))
    };
    let compared = note::check_against(notes, store, event, |number| signers(chain, number))?;
    for (note, verdict) in notes.iter().zip(&compared.verdicts) {
        let (id, what) = match verdict {
            Verdict::Contained => continue,
            Verdict::RolledBack => (
                "checkpoint-rolled-back",
                "a checkpoint says there was this event, and history ends before it",
            ),
            Verdict::Fork => (
                "checkpoint-fork",
                "a checkpoint says this event had another commit than it has today",
            ),
            Verdict::Unsigned => (
                "checkpoint-unsigned",
                "a checkpoint that says so is signed by nobody who was a signer then",
            ),
            Verdict::Foreign => ("checkpoint-foreign", "a checkpoint is of another store"),
        };
        findings.add(Fault::new(id, what), spot_of(note));
    }
    for (_, later) in compared.contradictions {
        let what = "two checkpoints cannot both be true: somebody signed two histories";
        findings.add(Fault::new("checkpoint-fork", what), spot_of(&notes[later]));
    }
    Ok(())
}

/// Who may sign right after an event; for one past the end, who may now.
fn signers(chain: &Chain<'_>, number: u64) -> Result<Signers> {
    let link = match chain.at(number)? {
        Some(link) => Some(link),
        None => chain.newest()?,
    };
    let commit = link.map(|link| link.commit);
    commit
        .map(|commit| chain.signers_after(commit))
        .transpose()?
        .flatten()
        .ok_or_else(|| Error::damaged("signers", "the file does not parse"))
}

fn spot_of(note: &Note) -> Spot {
    let said = note.checkpoint();
    Spot {
        event: Some(said.events - 1),
        commit: Some(said.commit),
    }
}
