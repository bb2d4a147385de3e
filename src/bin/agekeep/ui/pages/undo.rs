//! Undo: what it would do, as a plan, and the form that confirms exactly that plan.

use agekeep::error::{Error, Result};
use agekeep::event::Change;
use agekeep::memory_tool::path::MemoryPath;
use agekeep::store::Store;
use agekeep::store::history::RecordStatus;
use agekeep::store::revision::Revision;
use agekeep::store::undo::{Conflict, Selection, Undo, UndoPlan, UndoStep};
use chrono::{DateTime, Utc};
use maud::{Markup, html};

use crate::render;
use crate::ui::PageFacts;
use crate::ui::layout::{Page, shown, table};
use crate::ui::pages::timeline::field;
use crate::ui::pages::{ROWS, Visit, counted, numbered, pathname};
use crate::ui::query::Query;
use crate::verbs::undo;

/// What an undo is named by.
pub(super) const ASKED: &[&str] = &[
    "do", "events", "actor", "session", "since", "path", "from", "to",
];
/// The same, with what confirms it.
const CONFIRMED: &[&str] = &[
    "do", "events", "actor", "session", "since", "path", "from", "to", "csrf", "plan", "partial",
    "reason",
];

/// Parses the undo that a request names.
fn parse(store: &mut Store, query: &Query, now: DateTime<Utc>) -> Result<Undo> {
    match query.text("do") {
        Some("restore") => {
            let (path, from) = (query.needed("path")?, query.text("from"));
            undo::restoration(store, path, from, now)
        }
        Some("rollback") => Ok(Undo::Rollback {
            to: Revision::parse(query.needed("to")?, now)?,
        }),
        Some("revert") => Ok(Undo::Revert(selection(query, now)?)),
        _ => Err(Error::invalid(
            "the undo",
            "it is none of restore, revert and rollback",
        )),
    }
}

/// Carries out exactly the plan that was shown, and returns its event.
pub(super) fn carry_out(
    store: &mut Store,
    form: &Query,
    facts: &PageFacts,
    now: DateTime<Utc>,
) -> Result<Option<u64>> {
    form.check(CONFIRMED)?;
    let undo = parse(store, form, now)?;
    let mut context = facts.context.clone();
    context.reason = Some(form.needed("reason")?.to_owned());
    let is_partial = form.text("partial").is_some();
    let plan = form.needed("plan")?;
    let (_, meta) = store.undo(&undo, Some(plan), is_partial, &context)?;
    Ok(meta.map(|meta| meta.event))
}

fn selection(query: &Query, now: DateTime<Utc>) -> Result<Selection> {
    let mut selection = undo::selection(query.text("events"), query.text("since"), now)?;
    selection.actor = query.owned("actor");
    selection.session = query.owned("session");
    if selection.range.is_none()
        && selection.actor.is_none()
        && selection.session.is_none()
        && selection.since.is_none()
    {
        return Err(Error::invalid(
            "the selection",
            "say what to undo: events, an actor, a session or a time",
        ));
    }
    Ok(selection)
}

/// What an undo would do, or the forms to ask for that.
pub(super) fn plan(visit: &mut Visit<'_>) -> Result<Page> {
    if visit.query.text("do").is_none() {
        let body = questions(visit.query);
        return Ok(Page::new("Undo", "plan", body, RecordStatus::NotNeeded));
    }
    let undo = parse(visit.store, visit.query, visit.now)?;
    let plan = visit.store.plan_undo(&undo)?;
    let body = html! {
        p.lead { (heading(&plan)) }
        @if plan.is_empty() {
            p { "Nothing has to be done: everything is as it was then." }
        } @else {
            (steps(&plan.steps))
            (conflicts(&plan.conflicts))
            (confirmation(visit, &plan))
        }
        p { a href="plan" { "Undo something else" } }
    };
    let recorded = RecordStatus::NotNeeded;
    Ok(Page::new("What this would do", "plan", body, recorded))
}

fn heading(plan: &UndoPlan) -> Markup {
    html! {
        @match plan.at {
            Some(at) => { "Bring back what was after event " (numbered(at.event)) },
            None => { "Take back what events " (render::runs(&plan.undone)) " changed" },
        }
        ": " (counted(plan.steps.len(), "memory")) " to change"
        @if !plan.conflicts.is_empty() { ", " (plan.conflicts.len()) " in conflict" }
        ". Nothing is changed yet."
    }
}

fn steps(steps: &[UndoStep]) -> Markup {
    let heads = &["Memory", "What happens", "Lines"];
    let rows: Vec<Vec<Markup>> = steps.iter().take(ROWS).map(step_cells).collect();
    html! {
        @if !rows.is_empty() { (table("What would be changed", heads, &rows)) }
        @if steps.len() > ROWS { p.more { "… and " (steps.len() - ROWS) " more." } }
    }
}

fn step_cells(step: &UndoStep) -> Vec<Markup> {
    let path = |path: &Option<MemoryPath>| {
        html! {
            @match path {
                Some(path) => (pathname(path.as_str())),
                None => code { (step.id) },
            }
        }
    };
    let what = match step.change {
        Change::Move => html! { "moves to " (path(&step.path)) },
        Change::Remove => html! { "is deleted" },
        Change::Restore => html! { "is there again" },
        _ => html! { "gets another text" },
    };
    vec![
        path(if step.path_now.is_some() {
            &step.path_now
        } else {
            &step.path
        }),
        html! {
            (what)
            @if let Some(from) = step.from { ", that of version " (from) }
            @if step.merged { "; what others changed since is kept" }
            @if !step.stripped.is_empty() { "; secrets are stripped: " (shown(&step.stripped.join(", "))) }
        },
        html! { "+" (step.lines_added) " −" (step.lines_removed) },
    ]
}

fn conflicts(conflicts: &[Conflict]) -> Markup {
    html! {
        @if !conflicts.is_empty() {
            section.problem {
                h2 { "In conflict" }
                p { "These memories stay as they are, because others changed the same since:" }
                ul { @for conflict in conflicts.iter().take(ROWS) { li { (shown(&conflict.sentence())) } } }
                @if conflicts.len() > ROWS { p.more { "… and " (conflicts.len() - ROWS) " more." } }
            }
        }
    }
}

/// The form that carries out the plan, where these pages may.
fn confirmation(visit: &Visit<'_>, plan: &UndoPlan) -> Markup {
    if !visit.facts.allow_undo {
        return html! {
            p.problem {
                "These pages only look. To carry out this plan here, start "
                code { "agekeep ui --allow-undo" } "."
            }
        };
    }
    if plan.steps.is_empty() {
        return html! { p { "There is nothing that could be done without losing what others changed." } };
    }
    html! {
        form.confirm method="post" action="undo" {
            @for name in ASKED {
                @if let Some(value) = visit.query.text(name) { input type="hidden" name=(name) value=(value); }
            }
            input type="hidden" name="csrf" value=(visit.form_token);
            input type="hidden" name="plan" value=(plan.digest);
            div {
                label for="reason" { "Why, for the record" }
                input type="text" id="reason" name="reason" value=[&visit.facts.context.reason]
                    required autocomplete="off";
            }
            @if !plan.conflicts.is_empty() {
                label.tick {
                    input type="checkbox" name="partial" value="1" required;
                    " Leave the memories in conflict as they are, and do the rest"
                }
            }
            div.actions { button.act { "Do exactly this" } }
            p { small { "It becomes a new event. History stays as it is, and this can be undone too." } }
        }
    }
}

fn questions(query: &Query) -> Markup {
    let form = |kind: &str, title: &str, fields: Markup| {
        html! {
            section {
                h2 { (title) }
                form.filters method="get" action="plan" aria-label=(title) {
                    input type="hidden" name="do" value=(kind);
                    (fields)
                    div.actions { button { "See what it would do" } }
                }
            }
        }
    };
    let labelled = |name: &'static str, id: &str, label: &str, example: &str| {
        html! {
            div {
                label for=(id) { (label) }
                input type="text" id=(id) name=(name) placeholder=(example) autocomplete="off" spellcheck="false";
            }
        }
    };
    html! {
        p { "An undo is a new event: history stays as it is. First you see what it would do." }
        (form("revert", "Take back what somebody did", html! {
            (field(query, "session", "Session", ""))
            (field(query, "actor", "Actor", "as the caller said"))
            (field(query, "since", "Since", "yesterday, 12h or 2026-11-01"))
            (field(query, "events", "Events", "12 or 12..20"))
        }))
        (form("restore", "Bring back a memory or a directory", html! {
            (labelled("path", "restore-path", "Path", "/memories/…"))
            (labelled("from", "restore-from", "As it was after", "an event, or @2026-11-01"))
        }))
        (form("rollback", "Bring the whole store back to a moment", html! {
            (labelled("to", "rollback-to", "As it was after", "an event, or @2026-11-01"))
        }))
    }
}
