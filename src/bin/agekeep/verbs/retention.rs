//! `expire`: the sweep that removes what has expired, and erases what is past its grace;
//! and `hold`.

use agekeep::error::Result;
use agekeep::event::{HoldOn, RemovalReason};
use agekeep::memory_tool::path::MemoryPath;
use agekeep::policy::expiration::TimeSpan;
use agekeep::store::retention::{ActiveHold, ExpiredMemory, SweepOptions, SweepPlan, Swept};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::args::{Global, memory_glob};
use crate::output::{self, Style, plain};
use crate::render::{self, seconds};
use crate::table::{self, Column, ListRow, Screen, extra, main, number, whole};

#[derive(Args)]
pub(crate) struct Expire {
    /// Print what would be removed, when and why, without changing anything
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Remove more memories than the policy allows for one sweep (`expiration.sweep_max`)
    #[arg(short = 'y', long)]
    yes: bool,
    /// Trust the clock although it went back or leapt ahead; recorded
    #[arg(long)]
    accept_clock: bool,
}

pub(crate) fn run(global: &Global, args: &Expire) -> Result<u8> {
    let mut how = SweepOptions::default();
    how.beyond_limit = args.yes;
    how.accept_clock = args.accept_clock;
    if args.dry_run {
        let plan = global.open_for_reading()?.plan_sweep(how)?;
        return print(global, &plan, None);
    }
    let mut store = global.open()?;
    let swept = output::with_bar("records tried", |progress| {
        store.sweep(how, &global.context(), progress)
    })?;
    print(global, &swept.plan, Some(&swept))
}

fn print(global: &Global, plan: &SweepPlan, swept: Option<&Swept>) -> Result<u8> {
    if global.json {
        output::json(&to_json(plan, swept))?;
    } else if let Some(screen) = Screen::of(global) {
        let rows = due(plan).map(|(word, due)| Ok(to_row(word, due, &screen)));
        let top = screen.sentence(&heading(plan)).into_iter().map(Ok);
        let end = screen.sentence(&ending(plan, swept)).into_iter().map(Ok);
        let lines = screen.list(DUE, rows);
        output::pages(global, top.chain(lines).chain(end))?;
    } else {
        output::line(&to_text(plan, swept))?;
    }
    Ok(0)
}

const DUE: &[Column] = &[
    whole("what"),
    whole("when"),
    main("path"),
    extra("version"),
    extra("why"),
];

fn to_row(word: &str, due: &ExpiredMemory, screen: &Screen) -> ListRow {
    let cells = [
        word.to_owned(),
        screen.time(due.at),
        render::quoted(due.path.as_str()),
        format!("v{} {} bytes", due.version, due.bytes),
        why(&due.because),
    ];
    ListRow::new(Style::Plain, cells.into())
}

/// Lists what a sweep is about: what it removes and erases, and what comes next.
fn due(plan: &SweepPlan) -> impl Iterator<Item = (&'static str, &ExpiredMemory)> {
    let words = [
        ("remove", &plan.expire),
        ("erase", &plan.erase),
        ("next", &plan.next),
    ];
    let each = words.into_iter();
    each.flat_map(|(word, dues)| dues.iter().map(move |due| (word, due)))
}

/// Renders a sweep, or the plan of one, in words.
pub(crate) fn to_text(plan: &SweepPlan, swept: Option<&Swept>) -> String {
    let mut lines = vec![heading(plan)];
    lines.extend(due(plan).map(|(word, due)| line(word, due)));
    lines.push(ending(plan, swept));
    lines.join("\n")
}

fn heading(plan: &SweepPlan) -> String {
    let held = match plan.held {
        0 => String::new(),
        count => format!(", {count} due and held"),
    };
    format!(
        "sweep at {}: {} to remove, {} to erase, {} stay{held}",
        seconds(plan.now),
        plan.expire.len(),
        plan.erase.len(),
        plan.unexpired
    )
}

/// Says what was done, or why nothing was.
fn ending(plan: &SweepPlan, swept: Option<&Swept>) -> String {
    match swept {
        None if plan.expire.len() > plan.max || plan.erase.len() > plan.max_erase => format!(
            "Nothing was changed. One sweep may remove {} and erase {}: this one needs --yes.",
            plan.max, plan.max_erase
        ),
        None => "Nothing was changed.".into(),
        Some(swept) => match &swept.receipt {
            Some(_) => format!(
                "Done (event {event}; `agekeep receipt show {event}`).",
                event = swept.meta.event
            ),
            None if plan.erase.is_empty() => format!("Done (event {}).", swept.meta.event),
            None => format!(
                "Done (event {}). The memories to erase are marked. You are no reader, so the next \
                 reader who uses the store destroys their keys.",
                swept.meta.event
            ),
        },
    }
}

fn line(word: &str, due: &ExpiredMemory) -> String {
    format!(
        "  {word:<7} {}  v{} {} bytes  {} ({})",
        render::quoted(due.path.as_str()),
        due.version,
        due.bytes,
        seconds(due.at),
        why(&due.because)
    )
}

/// Explains in words why a memory goes.
pub(crate) fn why(because: &RemovalReason) -> String {
    let length = |seconds: i64| TimeSpan::of(seconds).to_string();
    let by = |rule: Option<usize>| match rule {
        Some(rule) => format!(" by rule {rule}"),
        None => String::new(),
    };
    match because {
        RemovalReason::Unaccessed {
            since,
            seconds: window,
            rule,
        } => format!(
            "not accessed since {}, longer than {}{}",
            seconds(*since),
            length(*window),
            by(*rule)
        ),
        RemovalReason::ExpiresAt { rule, .. } => {
            format!("the policy sets this time{}", by(Some(*rule)))
        }
        RemovalReason::GraceOver {
            removed,
            seconds: grace,
        } => format!(
            "removed by event {removed}, and its grace was {}",
            length(*grace)
        ),
        _ => "the policy says so".into(),
    }
}

/// Renders a sweep, or the plan of one, as an object.
pub(crate) fn to_json(plan: &SweepPlan, swept: Option<&Swept>) -> Value {
    let all = |dues: &[ExpiredMemory]| -> Vec<Value> { dues.iter().map(due_to_json).collect() };
    json!({
        "schema": "agekeep.sweep/1",
        "dry_run": swept.is_none(),
        "now": seconds(plan.now),
        "expire": all(&plan.expire),
        "erase": all(&plan.erase),
        "next": all(&plan.next),
        "held": plan.held,
        "living": plan.unexpired,
        "max": plan.max,
        "max_erase": plan.max_erase,
        "marked": swept.is_some_and(|swept| swept.receipt.is_none() && !plan.erase.is_empty()),
        "meta": swept.map(|swept| &swept.meta),
        "receipt": swept.and_then(|swept| swept.receipt.as_ref()),
    })
}

fn due_to_json(due: &ExpiredMemory) -> Value {
    json!({
        "memory": due.id,
        "path": due.path.as_str(),
        "version": due.version,
        "bytes": due.bytes,
        "at": seconds(due.at),
        "because": due.because,
        "why": why(&due.because),
    })
}

// `hold`: the memories that must not go away, by whose word and why.

#[derive(Subcommand)]
pub(crate) enum HoldVerb {
    /// Protect memories from expiry, erasure and deletion by agents; needs --reason
    Add {
        /// A file, a directory, a quoted glob over whole paths, or a memory id
        #[arg(value_name = "PATH|GLOB|ID", value_parser = memory_glob)]
        what: String,
    },
    /// List the holds in force
    List,
    /// End a hold
    Rm {
        /// The number of the hold, from `agekeep hold list`
        #[arg(value_name = "HOLD", value_parser = parse_hold)]
        hold: u64,
    },
}

fn parse_hold(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| "it is no number of a hold; `agekeep hold list` shows them".into())
}

pub(crate) fn hold(global: &Global, verb: &HoldVerb) -> Result<u8> {
    match verb {
        HoldVerb::Add { what } => {
            let mut store = global.open()?;
            let meta = store.hold(what, &global.context())?;
            let holds = store.holds()?;
            let held = holds.iter().find(|held| held.hold == meta.event);
            let memories = held.map_or(0, |held| held.memories);
            let object = json!({
                "schema": "agekeep.hold_add/1",
                "hold": meta.event,
                "memories": memories,
                "meta": meta,
            });
            let memories = output::counted(memories as u64, "memory");
            let said = format!("Hold {} is in force and protects {memories}.", meta.event);
            output::answer(global, &object, &said)?;
        }
        HoldVerb::List => list(global, &global.open_for_reading()?.holds()?)?,
        HoldVerb::Rm { hold } => {
            let meta = global.open()?.lift_hold(*hold, &global.context())?;
            let object = json!({"schema": "agekeep.hold_rm/1", "hold": hold, "meta": meta});
            let said = format!("Hold {hold} has ended (event {}).", meta.event);
            output::answer(global, &object, &said)?;
        }
    }
    Ok(0)
}

const HOLDS: &[Column] = &[
    number("hold"),
    whole("since"),
    main("on"),
    number("keeps"),
    extra("by (claimed)"),
    extra("reason"),
];

fn list(global: &Global, holds: &[ActiveHold]) -> Result<()> {
    let on = |held: &ActiveHold| {
        let on = match (&held.on, &held.path) {
            (HoldOn::Glob(glob), _) => glob.clone(),
            (_, Some(path)) => path.as_str().to_owned(),
            (HoldOn::Memory(id), None) => format!("(gone {id})"),
            _ => "?".into(),
        };
        render::quoted(&on)
    };
    let said = |text: &Option<String>| render::quoted(text.as_deref().unwrap_or("-"));
    let object = |held: &ActiveHold| {
        json!({
            "schema": "agekeep.hold/1",
            "hold": held.hold,
            "on": held.on,
            "path": held.path.as_ref().map(MemoryPath::as_str),
            "since": seconds(held.since),
            "actor": held.actor,
            "reason": held.reason,
            "memories": held.memories,
        })
    };
    let line = |held: &&ActiveHold| {
        if global.json {
            return plain(&object(held).to_string());
        }
        plain(&format!(
            "{:<6} {}  {}  by {}, keeps {}: {}",
            held.hold,
            seconds(held.since),
            on(held),
            said(&held.actor),
            held.memories,
            said(&held.reason)
        ))
    };
    let row = |held: &&ActiveHold, screen: &Screen| {
        let cells = [
            held.hold.to_string(),
            screen.time(held.since),
            on(held),
            held.memories.to_string(),
            said(&held.actor),
            said(&held.reason),
        ];
        ListRow::new(Style::Plain, cells.into())
    };
    let holds = holds.iter().map(Ok);
    table::print(global, HOLDS, holds, line, row).map(drop)
}
