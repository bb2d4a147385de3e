//! The timeline: who did what and when, newest first, by filter.

use agekeep::error::Result;
use agekeep::event::{ADMINISTRATIVE_COMMANDS, Outcome};
use agekeep::memory_tool::command::NAMES;
use agekeep::store::history::RecordStatus;
use agekeep::store::log::{Entry, Filter};
use agekeep::store::revision::parse_time;
use maud::{Markup, html};

use crate::ui::layout::{Page, table};
use crate::ui::pages::{ROWS, Visit, event};
use crate::ui::query::{Query, link};
use crate::verbs::history::{OUTCOMES, outcome};

/// What the timeline can be asked for.
pub(super) const FILTERS: &[&str] = &[
    "path", "actor", "session", "command", "outcome", "since", "until", "before",
];

pub(super) fn timeline(visit: &mut Visit<'_>) -> Result<Page> {
    let filter = filter(visit)?;
    let found = visit.store.events(&filter)?.take(ROWS + 1);
    let mut found: Vec<Entry> = found.collect::<Result<_>>()?;
    let has_more = found.len() > ROWS;
    found.truncate(ROWS);
    let rows: Vec<Vec<Markup>> = found
        .iter()
        .map(|entry| event::cells(visit, entry))
        .collect();
    let query = visit.query;
    let oldest = found.last().map(|entry| entry.event.number.to_string());
    let body = html! {
        (form(query))
        @if rows.is_empty() {
            p role="status" { "No events match." }
        } @else {
            (table("Events, newest first", event::HEADS, &rows))
        }
        @if let Some(oldest) = oldest.filter(|_| has_more) {
            nav.pages aria-label="More events" {
                a rel="next" href=(query.link_with("timeline", "before", &oldest)) { "Older events" }
            }
        }
        @if can_revert(query) {
            p {
                a.button href=(revert(query)) { "See what undoing these events would do" }
            }
        }
    };
    let recorded = RecordStatus::NotNeeded;
    Ok(Page::new("Timeline", "timeline", body, recorded))
}

fn filter(visit: &Visit<'_>) -> Result<Filter> {
    let (query, now) = (visit.query, visit.now);
    let time = |name| {
        query
            .text(name)
            .map(|text| parse_time(text, now))
            .transpose()
    };
    let mut filter = Filter::default();
    let path = query.text("path");
    filter.path = path.map(|path| visit.store.parse_path(path)).transpose()?;
    filter.actor = query.owned("actor");
    filter.session = query.owned("session");
    filter.command = query.owned("command");
    filter.outcome = query.text("outcome").map(outcome).transpose()?;
    filter.since = time("since")?;
    filter.until = time("until")?;
    filter.before = query.number("before")?;
    Ok(filter)
}

fn form(query: &Query) -> Markup {
    let mut commands: Vec<&str> = NAMES
        .iter()
        .chain(&ADMINISTRATIVE_COMMANDS)
        .copied()
        .collect();
    commands.sort_unstable();
    let outcomes = OUTCOMES.map(Outcome::as_str);
    html! {
        form.filters method="get" action="timeline" role="search" aria-label="Filter the events" {
            (field(query, "actor", "Actor", "as the caller said"))
            (field(query, "session", "Session", ""))
            (choice(query, "command", "Command", &commands))
            (choice(query, "outcome", "Outcome", &outcomes))
            (field(query, "path", "Path", "/memories/… or a directory"))
            (field(query, "since", "Since", "2026-11-01, yesterday or 12h"))
            (field(query, "until", "Until", "2026-11-02 or 30m"))
            div.actions {
                button { "Show" }
                " " a href="timeline" { "All events" }
            }
        }
    }
}

/// A field of a form with its label, and an example of what fits.
pub(super) fn field(query: &Query, name: &str, label: &str, example: &str) -> Markup {
    html! {
        div {
            label for=(name) { (label) }
            input type="text" id=(name) name=(name) value=[query.text(name)] placeholder=(example)
                autocomplete="off" autocapitalize="none" spellcheck="false";
        }
    }
}

fn choice(query: &Query, name: &str, label: &str, values: &[&str]) -> Markup {
    let chosen = query.text(name);
    html! {
        div {
            label for=(name) { (label) }
            select id=(name) name=(name) {
                option value="" { "any" }
                @for value in values {
                    option value=(value) selected[chosen == Some(value)] { (value) }
                }
            }
        }
    }
}

/// Tells whether the events that are shown are those that one undo can name.
fn can_revert(query: &Query) -> bool {
    let says = |name| query.text(name).is_some();
    (says("actor") || says("session"))
        && !["path", "command", "outcome", "until"]
            .into_iter()
            .any(says)
}

fn revert(query: &Query) -> String {
    let names = ["actor", "session", "since"];
    let said = names
        .iter()
        .filter_map(|name| Some((*name, query.text(name)?)));
    let pairs: Vec<(&str, &str)> = [("do", "revert")].into_iter().chain(said).collect();
    link("plan", &pairs)
}
