//! The registers of a report: single events that somebody asks about, each opened from its record.

use std::collections::{BTreeMap, VecDeque};

use chrono::{DateTime, Days, NaiveDate, Utc};
use serde::Serialize;

use crate::diff::LineKind;
use crate::error::{Error, Result};
use crate::event::{
    ACCEPT_COMMAND, ADD_MEMBER_COMMAND, Change, ERASE_COMMAND, EXPIRE_COMMAND, EXPORT_COMMAND,
    EXPORT_HISTORY_COMMAND, Event, HOLD_ADD_COMMAND, HOLD_RM_COMMAND, HoldChange, HoldOn, Moment,
    Outcome, POLICY_COMMAND, PathRef, REDACT_COMMAND, REKEY_COMMAND, REMOVE_MEMBER_COMMAND,
    REPORT_COMMAND, SIGNERS_ADD, SIGNERS_RM, SIGNERS_SET, UPGRADE_COMMAND, as_rfc3339,
};
use crate::report::period::Period;
use crate::report::tally::Tally;
use crate::report::{REGISTER_MAX, TABLE_MAX};
use crate::state::timeline::VersionChange;
use crate::store::log::Entry;
use crate::store::survey::StoreSurvey;

/// Most lines of a changed public file that a row shows, each of at most so many characters.
const LINES_MAX: usize = 60;
const LINE_CHARACTERS_MAX: usize = 400;

/// All registers of a period.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Registers {
    /// What was denied: paths that leave `/memories` or hide something.
    pub denied: Register,
    /// What failed: nothing there, nothing unique, over a limit, a secret.
    pub failed: Register,
    /// Changes of the policy, old and new.
    pub policy: Register,
    /// Members and signers in and out, and new keys.
    pub members: Register,
    /// Holds that were placed and lifted.
    pub holds: Register,
    /// Sweeps, also those that found nothing.
    pub sweeps: Register,
    /// Days without a sweep, if today's policy lets anything expire; the newest, at most 200.
    pub sweep_gaps: Vec<SweepGap>,
    /// The number of all such runs of days.
    pub sweep_gaps_total: u64,
    /// Erasures, with what their receipts say.
    pub erasures: Register,
    /// Redactions of stored memories, which erase earlier versions.
    pub redactions: Register,
    /// Undo, and rollbacks that were accepted.
    pub undo: Register,
    /// Looks at history, exports and reports.
    pub looks: Register,
}

/// Events of one kind.
#[derive(Debug, Clone, Default, Serialize)]
#[non_exhaustive]
pub struct Register {
    /// How many there were.
    pub total: u64,
    /// The newest [`REGISTER_MAX`], oldest first.
    pub rows: Vec<RegisterRow>,
}

/// An event in a register.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct RegisterRow {
    /// Its number.
    pub event: u64,
    /// Its time.
    #[serde(serialize_with = "as_rfc3339")]
    pub time: DateTime<Utc>,
    /// The command.
    pub command: String,
    /// The outcome.
    pub outcome: Outcome,
    /// The one-word name of the error, if any.
    pub error: Option<String>,
    /// The name of its signer, which is proof.
    pub signer: Option<String>,
    /// The actor, as the caller says.
    pub actor: Option<String>,
    /// The reason, as the caller says.
    pub reason: Option<String>,
    /// What it was about: a path, a member, a hold, a count.
    pub what: String,
    /// The lines of a public file that it took away and put in.
    pub before: Vec<String>,
    /// See `before`.
    pub after: Vec<String>,
    /// What was erased.
    pub erased: Option<ErasedInfo>,
}

/// What a receipt says.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ErasedInfo {
    /// The memories, or those with erased versions.
    pub memories: u64,
    /// The versions that were tried and do not open.
    pub versions: u64,
    /// The records that were tried, and show no path.
    pub records: u64,
    /// The records that still show a path, asked for when nothing was there.
    pub asked: u64,
    /// What it does not reach.
    pub not_reached: Vec<String>,
}

/// Days on which no sweep ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SweepGap {
    /// The first of them, as a date.
    pub since: String,
    /// The last of them.
    pub until: String,
    /// How many.
    pub days: u64,
}

/// A kind of register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RegisterKind {
    Denied,
    Failed,
    Policy,
    Members,
    Holds,
    Sweeps,
    Erasures,
    Redactions,
    Undo,
    Looks,
}

impl RegisterKind {
    /// Returns the registers that an event belongs to.
    pub(super) fn of(
        command: &str,
        outcome: Outcome,
        parts: &[VersionChange],
    ) -> impl Iterator<Item = Self> {
        let erases = || {
            parts
                .iter()
                .any(|part| matches!(part.change, Change::Erase | Change::Mark))
        };
        let own = match command {
            "init" | POLICY_COMMAND | UPGRADE_COMMAND => Some(Self::Policy),
            ADD_MEMBER_COMMAND
            | REMOVE_MEMBER_COMMAND
            | SIGNERS_ADD
            | SIGNERS_RM
            | SIGNERS_SET
            | REKEY_COMMAND => Some(Self::Members),
            HOLD_ADD_COMMAND | HOLD_RM_COMMAND => Some(Self::Holds),
            EXPIRE_COMMAND => Some(Self::Sweeps),
            ERASE_COMMAND => Some(Self::Erasures),
            REDACT_COMMAND => Some(Self::Redactions),
            "restore" | "revert" | "rollback" | ACCEPT_COMMAND => Some(Self::Undo),
            "view_at"
            | "show"
            | "diff"
            | "blame"
            | "log"
            | "grep"
            | "scan"
            | "keys_export"
            | REPORT_COMMAND
            | EXPORT_COMMAND
            | EXPORT_HISTORY_COMMAND => Some(Self::Looks),
            _ => None,
        };
        let also = (command == EXPIRE_COMMAND && erases()).then_some(Self::Erasures);
        let refused = match outcome {
            Outcome::Ok => None,
            Outcome::Error => Some(Self::Failed),
            Outcome::Denied => Some(Self::Denied),
        };
        [own, also, refused].into_iter().flatten()
    }
}

/// The newest events of each kind, and how many there were.
#[derive(Default)]
pub(super) struct Candidates(BTreeMap<RegisterKind, (u64, VecDeque<Moment>)>);

impl Candidates {
    pub(super) fn add(&mut self, kind: RegisterKind, moment: Moment) {
        let (total, newest) = self.0.entry(kind).or_default();
        *total += 1;
        if newest.len() == REGISTER_MAX {
            newest.pop_front();
        }
        newest.push_back(moment);
    }
}

/// Opens the records of what the registers list.
pub(super) fn open(
    survey: &StoreSurvey<'_>,
    tally: &Tally,
    period: &Period,
    now: DateTime<Utc>,
) -> Result<Registers> {
    let register = |kind| {
        let Some((total, newest)) = tally.candidates.0.get(&kind) else {
            return Ok::<_, Error>(Register::default());
        };
        let rows = newest.iter().map(|moment| row(survey, kind, *moment));
        Ok(Register {
            total: *total,
            rows: rows.collect::<Result<_>>()?,
        })
    };
    let mut gaps = gaps(survey, tally, period, now);
    let sweep_gaps_total = gaps.len() as u64;
    gaps.drain(..gaps.len().saturating_sub(REGISTER_MAX));
    Ok(Registers {
        denied: register(RegisterKind::Denied)?,
        failed: register(RegisterKind::Failed)?,
        policy: register(RegisterKind::Policy)?,
        members: register(RegisterKind::Members)?,
        holds: register(RegisterKind::Holds)?,
        sweeps: register(RegisterKind::Sweeps)?,
        sweep_gaps: gaps,
        sweep_gaps_total,
        erasures: register(RegisterKind::Erasures)?,
        redactions: register(RegisterKind::Redactions)?,
        undo: register(RegisterKind::Undo)?,
        looks: register(RegisterKind::Looks)?,
    })
}

fn row(survey: &StoreSurvey<'_>, kind: RegisterKind, moment: Moment) -> Result<RegisterRow> {
    let entry = survey.entry(moment.commit)?;
    let changes_file = matches!(kind, RegisterKind::Policy | RegisterKind::Members);
    let (before, after) = if changes_file && entry.event.outcome == Outcome::Ok {
        changed_lines(&entry)
    } else {
        Default::default()
    };
    let what = subject(&entry);
    let event = entry.event;
    Ok(RegisterRow {
        what,
        event: event.number,
        time: event.time,
        command: event.command,
        outcome: event.outcome,
        error: event.error,
        signer: entry.signer,
        actor: event.actor,
        reason: event.reason,
        before,
        after,
        erased: event.receipt.map(|receipt| ErasedInfo {
            memories: receipt.memories.len() as u64,
            versions: receipt.versions,
            records: receipt.records,
            asked: receipt.asked,
            not_reached: receipt.not_reached,
        }),
    })
}

/// Returns the lines of a public file that an event took away and put in.
fn changed_lines(entry: &Entry) -> (Vec<String>, Vec<String>) {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let hunks = entry.config.iter().flat_map(|config| config.diff.hunks());
    for line in hunks.flat_map(|hunk| hunk.lines.iter()) {
        let lines = match line.kind {
            LineKind::Context => continue,
            LineKind::Removed => &mut before,
            LineKind::Added => &mut after,
        };
        if lines.len() < LINES_MAX {
            lines.push(crate::event::bounded(
                line.text.as_str(),
                LINE_CHARACTERS_MAX,
            ));
        } else if lines.len() == LINES_MAX {
            lines.push("… and more lines".into());
        }
    }
    (before, after)
}

/// Says what an event was about.
fn subject(entry: &Entry) -> String {
    let event = &entry.event;
    let mut parts = Vec::new();
    if let Some(member) = &event.member {
        parts.push(member.clone());
    }
    match &event.hold {
        Some(HoldChange::Add(HoldOn::Memory(id))) => parts.push(format!("the memory {id}")),
        Some(HoldChange::Add(HoldOn::Glob(glob))) => parts.push(glob.clone()),
        Some(HoldChange::Lift(hold)) => parts.push(match &entry.lifted {
            Some(HoldOn::Memory(id)) => format!("lifts hold {hold} on the memory {id}"),
            Some(HoldOn::Glob(glob)) => format!("lifts hold {hold} on {glob}"),
            None => format!("lifts hold {hold}"),
        }),
        None => {}
    }
    let places = [&event.path, &event.new_path].into_iter().flatten();
    let places: Vec<String> = places.map(place).collect();
    if !places.is_empty() {
        parts.push(places.join(" → "));
    }
    let sweeps = event.command == EXPIRE_COMMAND && event.outcome == Outcome::Ok;
    if sweeps && event.memories.is_empty() {
        parts.push("found nothing".into());
    }
    parts.extend(changes(event));
    if !event.undone.is_empty() {
        let count: u64 = event
            .undone
            .iter()
            .map(|(first, last)| last - first + 1)
            .sum();
        parts.push(format!("undoes {}", counted(count, "event")));
    }
    let at: Vec<String> = event.at.iter().map(|at| at.event.to_string()).collect();
    if !at.is_empty() {
        parts.push(format!("at event {}", at.join(" and ")));
    }
    if let Some(lost) = &event.lost {
        parts.push(format!("without event {} that was seen", lost.event));
    }
    parts.join(", ")
}

/// Counts the changes of an event, and names the first paths that they are about.
fn changes(event: &Event) -> Vec<String> {
    let words = [
        (Change::Add, "added"),
        (Change::Edit, "edited"),
        (Change::Move, "moved"),
        (Change::Remove, "removed"),
        (Change::Restore, "restored"),
        (Change::Look, "looked at"),
        (Change::Reseal, "re-encrypted"),
        (Change::Expire, "expired"),
        (Change::Mark, "marked for erasure"),
        (Change::Erase, "erased"),
        (Change::Redact, "redacted"),
    ];
    let count = |change| {
        event
            .memories
            .iter()
            .filter(|touch| touch.change == change)
            .count()
    };
    let counts = words.iter().map(|(change, word)| (count(*change), word));
    let counts = counts.filter(|(count, _)| *count > 0);
    let mut said: Vec<String> = counts
        .map(|(count, word)| format!("{} {word}", counted(count as u64, "memory")))
        .collect();
    let mut paths: Vec<&str> = Vec::new();
    for path in event
        .memories
        .iter()
        .filter_map(|touch| touch.path.as_ref())
    {
        if !paths.contains(&path.as_str()) && paths.len() < TABLE_MAX {
            paths.push(path.as_str());
        }
    }
    if event.path.is_none() && !paths.is_empty() {
        said.push(paths.join(" "));
    }
    said
}

pub(super) fn counted(count: u64, what: &str) -> String {
    match (count, what) {
        (1, _) => format!("1 {what}"),
        (_, "memory") => format!("{count} memories"),
        _ => format!("{count} {what}s"),
    }
}

fn place(place: &PathRef) -> String {
    match place {
        PathRef::Root => "/memories".into(),
        PathRef::Of(_, Some(path)) => path.as_str().into(),
        PathRef::Of(id, None) => format!("(erased {id})"),
        PathRef::Asked(text) => text.clone(),
    }
}

/// Returns the runs of whole days of the period on which no sweep ran, if today's policy lets
/// anything expire. The day on which the store began and today do not count.
fn gaps(
    survey: &StoreSurvey<'_>,
    tally: &Tally,
    period: &Period,
    now: DateTime<Utc>,
) -> Vec<SweepGap> {
    let Some(began) = tally.began.filter(|_| survey.expires_anything()) else {
        return Vec::new();
    };
    let next = |day: NaiveDate| day.checked_add_days(Days::new(1));
    let first = period
        .since
        .date_naive()
        .max(next(began.date_naive()).unwrap_or_default());
    let end = period.until.min(now).date_naive();
    runs_without(first, end, |day| tally.swept.contains(&day))
}

/// Returns the runs of days from `first` to before `end` that are not `in_order`.
fn runs_without(
    first: NaiveDate,
    end: NaiveDate,
    in_order: impl Fn(NaiveDate) -> bool,
) -> Vec<SweepGap> {
    let mut gaps: Vec<SweepGap> = Vec::new();
    let mut goes_on = false;
    for day in first.iter_days().take_while(|day| *day < end) {
        let is_gap = !in_order(day);
        match gaps.last_mut().filter(|_| goes_on && is_gap) {
            Some(gap) => {
                gap.until = day.to_string();
                gap.days += 1;
            }
            None if is_gap => gaps.push(SweepGap {
                since: day.to_string(),
                until: day.to_string(),
                days: 1,
            }),
            None => {}
        }
        goes_on = is_gap;
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A new administrative command gets its register on purpose.
    #[test]
    fn every_administrative_command_has_a_register() {
        for command in crate::event::ADMINISTRATIVE_COMMANDS {
            assert!(
                RegisterKind::of(command, Outcome::Ok, &[]).next().is_some(),
                "{command}"
            );
        }
    }

    #[test]
    fn days_without_a_sweep_are_told_in_runs() {
        let day = |day| NaiveDate::from_ymd_opt(2026, 3, day).expect("a day");
        let swept = [day(3), day(6), day(7)];
        let found = runs_without(day(1), day(10), |day| swept.contains(&day));
        let found: Vec<_> = found
            .iter()
            .map(|gap| (&*gap.since, &*gap.until, gap.days))
            .collect();
        let gap = [
            ("2026-03-01", "2026-03-02", 2),
            ("2026-03-04", "2026-03-05", 2),
            ("2026-03-08", "2026-03-09", 2),
        ];
        assert_eq!(found, gap);
        assert_eq!(runs_without(day(4), day(4), |_| false), []);
        assert_eq!(runs_without(day(5), day(4), |_| false), []);
    }
}
