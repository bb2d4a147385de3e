//! The pages: which there are, and what they have in common.

mod changes;
mod event;
mod memory;
mod report;
mod search;
mod timeline;
mod tree;
mod undo;

use agekeep::error::{Error, Result};
use agekeep::event::{Event, PathRef};
use agekeep::id::MemoryId;
use agekeep::memory_tool::path::MemoryPath;
use agekeep::store::Store;
use agekeep::store::history::RecordStatus;
use agekeep::store::log::Entry;
use chrono::{DateTime, Utc};
use hyper::StatusCode;
use maud::{Markup, html};

use crate::output;
use crate::ui::PageFacts;
use crate::ui::layout::{self, Page, shown};
use crate::ui::query::{Query, link, to_event, to_memory};
use crate::worker::WorkerState;

/// Most rows of a page; more are on the next.
const ROWS: usize = 200;

/// What became of a request.
pub(super) enum PageAnswer {
    Page(StatusCode, Markup),
    /// It is done, and this link shows what.
    Elsewhere(String),
    /// A whole page that has no frame; with the name under which a browser keeps it.
    File(Markup, Option<String>),
}

/// What a page is made from.
struct Visit<'a> {
    store: &'a mut Store,
    facts: &'a PageFacts,
    query: &'a Query,
    now: DateTime<Utc>,
    /// The token for forms that change something.
    form_token: &'a str,
}

type PageFn = fn(&mut Visit<'_>) -> Result<Page>;

/// A page: its name, what its query may hold, and what makes it.
const PAGES: &[(&str, &[&str], PageFn)] = &[
    ("", &["at", "from"], tree::tree),
    ("memory", &["path", "from", "before"], memory::memory),
    ("version", &["path", "version", "from"], memory::version),
    ("blame", &["path", "from"], memory::blame),
    ("diff", &["path", "old", "new"], memory::diff),
    ("timeline", timeline::FILTERS, timeline::timeline),
    ("event", &["n"], event::event),
    ("search", search::ASKED, search::search),
    ("plan", undo::ASKED, undo::plan),
    ("report", report::ASKED, |visit| Ok(report::form(visit))),
];

/// The report itself, which has no frame.
pub(super) const REPORT_FILE: &str = "report.html";

/// Tells whether there is a page of this name, or what takes a form.
pub(super) fn exists(name: &str, is_get: bool) -> bool {
    if is_get {
        name == REPORT_FILE || PAGES.iter().any(|page| page.0 == name)
    } else {
        name == "undo"
    }
}

/// Makes a page.
pub(super) fn make(
    state: &mut WorkerState,
    facts: &PageFacts,
    name: &str,
    query: &Query,
    form_token: &str,
) -> PageAnswer {
    let now = state.now();
    let made = state.with(|store| {
        let mut visit = Visit {
            store,
            facts,
            query,
            now,
            form_token,
        };
        if name == REPORT_FILE {
            query.check(report::ASKED)?;
            return report::file(&mut visit);
        }
        let (_, known, page) = PAGES
            .iter()
            .find(|page| page.0 == name)
            .expect("it exists: the server asked");
        query.check(known)?;
        let page = page(&mut visit)?;
        Ok(PageAnswer::Page(StatusCode::OK, page.framed(facts)))
    });
    made.unwrap_or_else(|error| explain(state, facts, &error))
}

/// Carries out the undo that a form confirms.
pub(super) fn act(state: &mut WorkerState, facts: &PageFacts, form: &Query) -> PageAnswer {
    let now = state.now();
    match state.with(|store| undo::carry_out(store, form, facts, now)) {
        Ok(Some(event)) => PageAnswer::Elsewhere(to_event(event)),
        Ok(None) => PageAnswer::Elsewhere("timeline".into()),
        Err(error) => explain(state, facts, &error),
    }
}

/// Makes the page that says what went wrong, without the secrets that somebody may have typed.
fn explain(state: &WorkerState, facts: &PageFacts, error: &Error) -> PageAnswer {
    let status = match error.exit_code() {
        2 => StatusCode::BAD_REQUEST,
        4 => StatusCode::NOT_FOUND,
        6 | 15 => StatusCode::CONFLICT,
        7 | 12 => StatusCode::FORBIDDEN,
        9 => StatusCode::TOO_MANY_REQUESTS,
        11 => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    let hint = match error {
        Error::PlanChanged { .. } => "open the plan again, and confirm what it shows now".into(),
        Error::Conflict { .. } => {
            "open the plan again, and tick the box that leaves these as they are".into()
        }
        error => error.hint(),
    };
    let (what, hint) = (state.redacted(error.to_string()), state.redacted(hint));
    let body = html! {
        div.problem role="alert" {
            @for line in what.lines() { p { (shown(line)) } }
            p { "What to do: " (shown(&hint)) "." }
        }
    };
    let page = Page::new("This did not work", "", body, RecordStatus::NotNeeded);
    PageAnswer::Page(status, page.framed(facts))
}

impl Visit<'_> {
    fn time(&self, at: DateTime<Utc>) -> Markup {
        layout::time(self.now, at)
    }
}

// What several pages show of an event.

/// Who an event says did it, which nobody proves.
fn claimed(event: &Event) -> Markup {
    html! {
        @match &event.actor {
            Some(actor) => (filtered("actor", actor)),
            None => span.none { "nobody named" },
        }
        @if let Some(session) = &event.session {
            br;
            small { "session " (filtered("session", session)) }
        }
    }
}

/// A word that leads to the events that have it.
fn filtered(name: &str, value: &str) -> Markup {
    html! { a href=(link("timeline", &[(name, value)])) { (shown(value)) } }
}

/// Who signed it, which the signature proves.
fn signed(entry: &Entry) -> Markup {
    html! {
        @match &entry.signer {
            Some(signer) => (shown(signer)),
            None => strong.bad { "no signer of this store" },
        }
    }
}

/// A link to an event, by its number.
fn numbered(event: u64) -> Markup {
    html! { a href=(to_event(event)) { (event) } }
}

/// The command of an event, and how it ended if that was not well.
fn command(event: &Event) -> Markup {
    html! {
        (shown(&event.command))
        @if event.outcome.as_str() != "ok" {
            " " strong.bad { (event.outcome.as_str()) }
            @if let Some(error) = &event.error { " " small { (shown(error)) } }
        }
    }
}

/// The paths of an event.
fn paths(event: &Event) -> Markup {
    html! {
        @if let Some(path) = &event.path { (place(path)) }
        @if let Some(path) = &event.new_path { " → " (place(path)) }
    }
}

fn place(path: &PathRef) -> Markup {
    html! {
        @match path {
            PathRef::Root => a href="./" { code { "/memories" } },
            PathRef::Of(id, path) => (memory_link(path.as_ref(), *id)),
            PathRef::Asked(text) => code { (shown(text)) },
            _ => "?",
        }
    }
}

/// A link to a memory, by its path.
fn pathname(path: &str) -> Markup {
    html! { a href=(to_memory(path)) { code { (shown(path)) } } }
}

/// A link to a memory by its path, or its id if no path is left of it.
fn memory_link(path: Option<&MemoryPath>, id: MemoryId) -> Markup {
    html! {
        @match path {
            Some(path) => (pathname(path.as_str())),
            None => span.none { "erased " (id) },
        }
    }
}

/// Links to the rows before and after those of a page, counted from 1.
fn neighbours(query: &Query, page: &str, from: usize, total: usize) -> Markup {
    let to = (from + ROWS - 1).min(total);
    html! {
        @if total > ROWS {
            nav.pages aria-label="More rows" {
                span { "Rows " (from) " to " (to) " of " (total) }
                @if from > 1 {
                    a rel="prev" href=(query.link_with(page, "from", &from.saturating_sub(ROWS).max(1).to_string())) { "Previous" }
                }
                @if to < total {
                    a rel="next" href=(query.link_with(page, "from", &(to + 1).to_string())) { "Next" }
                }
            }
        }
    }
}

/// Returns the number of the first row that a query asks for, counted from 1.
fn first_row(query: &Query) -> Result<usize> {
    let from = query.number("from")?.unwrap_or(1).max(1);
    Ok(usize::try_from(from).unwrap_or(usize::MAX))
}

/// The number of things in words, for a sentence.
fn counted(count: usize, what: &str) -> String {
    output::counted(count as u64, what)
}
