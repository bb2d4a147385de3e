//! Reports: what happened in a store in a period, for somebody who has to answer for it.
//!
//! ```text
//! period     which time is meant                       tally      counts, in one pass over history
//! registers  single events that somebody asks about    expiry     what expires when, by today's policy
//! ```
//!
//! History is read once, a block of the timeline at a time, and only the records that a register
//! lists are opened. So memory depends on what the store holds, not on how much happened in it.

mod expiry;
mod period;
mod registers;
mod tally;

use std::path::PathBuf;

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::crypto::digest::Digest;
use crate::error::{Error, Result};
use crate::event::{Context, Moment, as_rfc3339};
use crate::id::{ObjectId, StoreId};
use crate::report::tally::Tally;
use crate::store::Store;
use crate::store::history::RecordStatus;
use crate::store::survey::{StoreSurvey, survey};
use crate::verify;

pub use self::expiry::{Expected, Expiring};
pub use self::period::Period;
pub use self::registers::{ErasedInfo, Register, RegisterRow, Registers, SweepGap};
pub use self::tally::{Activity, Bucket, CommandCount, KindCount, NameCount, ReadCount, Reads};

/// Most events that a register lists: the newest. It counts all.
pub const REGISTER_MAX: usize = 200;
/// Most names, memories or findings that a table lists. It counts all.
pub const TABLE_MAX: usize = 20;

/// A report on a period.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct AuditReport {
    /// `agekeep.report/1`.
    pub schema: &'static str,
    /// The store's id.
    pub store: StoreId,
    /// Its folder.
    pub folder: PathBuf,
    /// True if the store is for trials, and its times may be made up.
    pub trial: bool,
    /// The period.
    pub period: Period,
    /// Who made the report, and when.
    pub made: Maker,
    /// The events of the period.
    pub events: EventRange,
    /// The end of history when the report was made.
    pub end: HistoryEnd,
    /// The result of `verify` just before.
    pub verified: Verified,
    /// The members in force at the end of the period.
    pub members: Vec<MemberInForce>,
    /// The signers in force at the end of the period.
    pub signers: Vec<SignerInForce>,
    /// What the maker could not see, a phrase each.
    pub unseen: Vec<String>,
    /// The counts.
    pub activity: Activity,
    /// What expires when, under the policy in force now.
    pub expiring: Expiring,
    /// Single events.
    pub registers: Registers,
    /// The record of this look.
    pub recorded: RecordStatus,
}

/// The maker of a report.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Maker {
    /// The time by the store's clock.
    #[serde(serialize_with = "as_rfc3339")]
    pub time: DateTime<Utc>,
    /// The actor, as the caller says.
    pub actor: Option<String>,
    /// The name of the signer whose key was at hand: that is proof, once the report is signed.
    pub signer: Option<String>,
    /// `reader` or `auditor`: what the identity opens.
    pub role: &'static str,
    /// The program's version.
    pub version: &'static str,
}

/// A range of events.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct EventRange {
    /// The first and the last event of the period; `None` if there is none.
    pub first: Option<Moment>,
    /// See `first`.
    pub last: Option<Moment>,
    /// The number of events in the period.
    pub count: u64,
    /// The number of events before it.
    pub before: u64,
}

/// The end of history: what a checkpoint says.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct HistoryEnd {
    /// The number of events.
    pub events: u64,
    /// SHA-256 of the newest commit object.
    pub sha256: Digest,
    /// The newest commit.
    pub commit: ObjectId,
    /// The time of the newest event.
    #[serde(serialize_with = "as_rfc3339")]
    pub time: DateTime<Utc>,
}

/// The result of a verification.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Verified {
    /// True if it checked everything and found nothing.
    pub ok: bool,
    /// The gravest class of what it found: `tampered`, `incomplete` or `untidy`.
    pub worst: Option<&'static str>,
    /// The number of events in the verified history.
    pub events: u64,
    /// The first event that was read; those before were verified earlier.
    pub from: u64,
    /// The versions that were read.
    pub versions: u64,
    /// The number of findings.
    pub findings_total: u64,
    /// The first [`TABLE_MAX`] of them, a sentence each.
    pub findings: Vec<String>,
    /// A phrase for each check that could not be made.
    pub not_checked: Vec<String>,
}

/// A member in force.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct MemberInForce {
    /// The name.
    pub name: String,
    /// `reader` or `auditor`.
    pub role: &'static str,
    /// The public key.
    pub recipient: String,
}

/// A signer in force.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct SignerInForce {
    /// The name.
    pub name: String,
    /// `owner`, `writer`, `sweeper` or `auditor`.
    pub role: &'static str,
    /// The fingerprint of the public key.
    pub fingerprint: String,
}

/// Makes a report on a period, and records that somebody did.
///
/// `verified` is the result of a verification of this store that was made just before.
///
/// # Errors
/// [`Error::Invalid`] for a period that begins in the future; any error of checking history.
pub fn make(
    store: &mut Store,
    period: &Period,
    verified: &verify::Report,
    context: &Context,
) -> Result<AuditReport> {
    survey(store, |survey| {
        build_report(survey, period, verified, context)
    })
}

fn build_report(
    survey: &mut StoreSurvey<'_>,
    period: &Period,
    verified: &verify::Report,
    context: &Context,
) -> Result<AuditReport> {
    let now = survey.now()?;
    if period.since > now {
        return Err(Error::invalid(
            "the period",
            format!("it begins in the future: now it is {}", period::shown(now)),
        ));
    }
    let end = survey.end()?;
    let tally = survey.fold(|| Tally::of(period), Tally::add)?;
    let registers = registers::open(survey, &tally, period, now)?;
    let events = tally.range();
    let (members, signers) = in_force(survey, tally.newest)?;
    let recorded = survey.record(
        events.first.into_iter().chain(events.last).collect(),
        context,
    )?;
    Ok(AuditReport {
        schema: "agekeep.report/1",
        store: end.store,
        folder: survey.folder().to_owned(),
        trial: survey.is_trial(),
        period: period.clone(),
        made: Maker {
            time: now,
            actor: context
                .actor
                .as_deref()
                .map(|actor| survey.without_secrets(actor))
                .transpose()?,
            signer: survey.signer().map(str::to_owned),
            role: if survey.is_reader() {
                "reader"
            } else {
                "auditor"
            },
            version: env!("CARGO_PKG_VERSION"),
        },
        events,
        unseen: unseen(survey, verified, &tally),
        end: HistoryEnd {
            events: end.events,
            sha256: end.digest,
            commit: end.commit,
            time: end.time,
        },
        verified: Verified::of(verified),
        members,
        signers,
        expiring: expiry::expiring(survey, now),
        activity: tally.into_activity(),
        registers,
        recorded,
    })
}

/// Lists what the maker could not see.
fn unseen(survey: &StoreSurvey<'_>, verified: &verify::Report, tally: &Tally) -> Vec<String> {
    let mut unseen = Vec::new();
    if !survey.is_reader() {
        unseen.push(
            "the texts of memories: an auditor's identity opens records and paths only".into(),
        );
    }
    if tally.nameless() > 0 {
        let memories = registers::counted(tally.nameless() as u64, "memory");
        unseen.push(format!("the paths of {memories}: their keys are destroyed"));
    }
    unseen.push("what was read or copied without agekeep: it leaves no record".into());
    unseen.extend(verified.not_checked.iter().cloned());
    unseen
}

/// Lists the members and signers in force after an event.
fn in_force(
    survey: &StoreSurvey<'_>,
    event: Option<Moment>,
) -> Result<(Vec<MemberInForce>, Vec<SignerInForce>)> {
    let Some(event) = event else {
        return Ok(Default::default());
    };
    let (members, signers) = survey.members_at(event.commit)?;
    let members = members.into_iter().map(|member| MemberInForce {
        name: member.name,
        role: member.role.as_str(),
        recipient: member.recipient.to_string(),
    });
    let signers = signers.into_iter().map(|signer| SignerInForce {
        name: signer.name,
        role: signer.role.as_str(),
        fingerprint: signer.fingerprint,
    });
    Ok((members.collect(), signers.collect()))
}

impl Verified {
    fn of(report: &verify::Report) -> Self {
        let sentence = |finding: &verify::Finding| match finding.event {
            Some(event) => format!("{} in event {event}: {}", finding.id, finding.what),
            None => format!("{}: {}", finding.id, finding.what),
        };
        Self {
            ok: report.worst.is_none(),
            worst: report.worst.map(verify::FindingClass::as_str),
            events: report.events,
            from: report.from,
            versions: report.versions,
            findings_total: report.findings_total,
            findings: report
                .findings
                .iter()
                .take(TABLE_MAX)
                .map(sentence)
                .collect(),
            not_checked: report.not_checked.clone(),
        }
    }
}
