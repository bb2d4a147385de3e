//! The verbs that undo, always by a new event: `restore`, `revert` and `rollback`.

use agekeep::error::{Error, Result};
use agekeep::event::{Change, Context};
use agekeep::memory_tool::path::MemoryPath;
use agekeep::store::Store;
use agekeep::store::answer::Meta;
use agekeep::store::revision::{Revision, parse_time};
use agekeep::store::undo::{Conflict, PLAN_DIGITS_MIN, Selection, Undo, UndoPlan, UndoStep};
use chrono::{DateTime, Utc};
use clap::Args;
use serde_json::json;

use crate::args::{Global, memory_path};
use crate::verbs::history::revision;
use crate::{output, render};

#[derive(Args)]
pub(crate) struct Restore {
    /// The file or directory
    #[arg(value_parser = memory_path)]
    path: String,
    /// The revision to restore [default, if it was deleted or has expired: the one before that]
    #[arg(long, value_name = "REV")]
    from: Option<String>,
    #[command(flatten)]
    how: How,
}

#[derive(Args)]
pub(crate) struct Revert {
    /// An event, or a range FIRST..LAST with both ends; --session and --actor choose events too
    #[arg(value_name = "REV[..REV]")]
    events: Option<String>,
    /// Undo events at or after this time
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    #[command(flatten)]
    how: How,
}

#[derive(Args)]
pub(crate) struct Rollback {
    /// The revision or time to restore
    #[arg(long, value_name = "REV|TIME")]
    to: String,
    #[command(flatten)]
    how: How,
}

// The options of every undo.
#[derive(Args)]
struct How {
    /// Print the plan without changing anything
    #[arg(short = 'n', long, conflicts_with = "plan")]
    dry_run: bool,
    /// Carry out only the plan with this digest, which --dry-run printed
    #[arg(long, value_name = "DIGEST")]
    plan: Option<String>,
    /// Undo what can be undone, and leave memories in conflict unchanged
    #[arg(long)]
    partial: bool,
}

/// The exit code of a plan that would be refused.
const CONFLICT: u8 = 15;

pub(crate) fn restore(global: &Global, args: &Restore) -> Result<u8> {
    let mut store = global.open_unless(args.how.dry_run)?;
    let undo = restoration(
        &mut store,
        &args.path,
        args.from.as_deref(),
        (global.clock())(),
    )?;
    run(global, store, &undo, &args.how, &global.context())
}

pub(crate) fn rollback(global: &Global, args: &Rollback) -> Result<u8> {
    let (store, to) = (
        global.open_unless(args.how.dry_run)?,
        revision(global, &args.to)?,
    );
    let undo = Undo::Rollback { to };
    run(global, store, &undo, &args.how, &global.context())
}

pub(crate) fn revert(global: &Global, args: &Revert) -> Result<u8> {
    let chosen = [&args.events, &args.since, &global.session, &global.actor];
    if chosen.iter().all(|option| option.is_none()) {
        return Err(Error::invalid(
            "the selection",
            "say what to undo: an event, a range, --session, --actor or --since",
        ));
    }
    let store = global.open_unless(args.how.dry_run)?;
    let (events, since) = (args.events.as_deref(), args.since.as_deref());
    let mut selection = selection(events, since, (global.clock())())?;
    selection.session.clone_from(&global.session);
    selection.actor.clone_from(&global.actor);
    let undo = Undo::Revert(selection);
    // The actor and session choose what is reverted, and do not say who reverts it.
    run(global, store, &undo, &args.how, &global.reader_context())
}

/// Makes the undo that restores a path: as it was at a revision, or before it went.
pub(crate) fn restoration(
    store: &mut Store,
    path: &str,
    from: Option<&str>,
    now: DateTime<Utc>,
) -> Result<Undo> {
    let path = store.parse_path(path)?;
    let from = match from {
        Some(from) => Revision::parse(from, now)?,
        None => store.last_revision_of(&path)?,
    };
    Ok(Undo::Restore { path, from })
}

/// Selects the events of a revision or range, and those since a time.
pub(crate) fn selection(
    events: Option<&str>,
    since: Option<&str>,
    now: DateTime<Utc>,
) -> Result<Selection> {
    let range = |text: &str| {
        let (first, last) = text.split_once("..").unwrap_or((text, text));
        Ok::<_, Error>((Revision::parse(first, now)?, Revision::parse(last, now)?))
    };
    let mut selection = Selection::default();
    selection.range = events.map(range).transpose()?;
    selection.since = since.map(|text| parse_time(text, now)).transpose()?;
    Ok(selection)
}

fn run(global: &Global, mut store: Store, undo: &Undo, how: &How, context: &Context) -> Result<u8> {
    let (plan, meta) = if how.dry_run {
        (store.plan_undo(undo)?, None)
    } else {
        store.undo(undo, how.plan.as_deref(), how.partial, context)?
    };
    let object = json!({
        "schema": "agekeep.undo/1",
        "dry_run": how.dry_run,
        "plan": plan,
        "meta": meta,
    });
    output::answer(global, &object, &to_text(&plan, how.dry_run, meta.as_ref()))?;
    let refused = how.dry_run && !how.partial && !plan.conflicts.is_empty();
    Ok(if refused { CONFLICT } else { 0 })
}

/// Renders what an undo does, or did, in words.
pub(crate) fn to_text(plan: &UndoPlan, dry_run: bool, meta: Option<&Meta>) -> String {
    let mut lines = vec![heading(plan)];
    lines.extend(plan.steps.iter().map(step));
    let conflict = |conflict: &Conflict| format!("  conflict  {}", conflict.sentence());
    lines.extend(plan.conflicts.iter().map(conflict));
    lines.push(match meta {
        Some(meta) => format!("Done (event {}).", meta.event),
        None if plan.is_empty() => "There is nothing to do.".into(),
        None if !dry_run => "Nothing was changed.".into(),
        None => {
            let digest = plan.digest.to_string();
            let digest = &digest[..PLAN_DIGITS_MIN];
            format!(
                "Nothing was changed. To carry out exactly this plan, use --plan {digest} \
                     instead of --dry-run."
            )
        }
    });
    lines.join("\n")
}

fn heading(plan: &UndoPlan) -> String {
    let what = match plan.at {
        Some(at) => format!("to event {} ({})", at.event, at.commit),
        None => format!("of events {}", render::runs(&plan.undone)),
    };
    let conflicts = match plan.conflicts.len() {
        0 => String::new(),
        count => format!(", {count} in conflict"),
    };
    format!(
        "{} {what}: {} to change{conflicts}",
        plan.command,
        plan.steps.len()
    )
}

fn step(step: &UndoStep) -> String {
    let path = |path: &Option<MemoryPath>| {
        path.as_ref().map_or_else(
            || format!("({})", step.id),
            |path| render::quoted(path.as_str()),
        )
    };
    let place = match step.change {
        Change::Move => format!("{} -> {}", path(&step.path_now), path(&step.path)),
        Change::Remove => path(&step.path_now),
        _ => path(&step.path),
    };
    let word = match step.change {
        Change::Edit => "edit",
        Change::Move => "move",
        Change::Remove => "remove",
        _ => "restore",
    };
    let from = step
        .from
        .map_or_else(String::new, |from| format!(" back to v{from}"));
    let merged = if step.merged {
        ", merged with later changes"
    } else {
        ""
    };
    let stripped = if step.stripped.is_empty() {
        String::new()
    } else {
        format!(", stripped: {}", step.stripped.join(", "))
    };
    format!(
        "  {word:<8}  {place}  v{}{from}  +{} -{}{merged}{stripped}",
        step.version_now, step.lines_added, step.lines_removed
    )
}
