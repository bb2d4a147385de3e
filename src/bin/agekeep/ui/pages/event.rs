//! One event: who did what, what its signature proves, and what it changed.

use agekeep::error::{Error, Result};
use agekeep::event::{Change, Event, MemoryChange};
use agekeep::store::history::RecordStatus;
use agekeep::store::log::{Entry, Filter};
use agekeep::store::revision::Revision;
use maud::{Markup, html};

use crate::render;
use crate::ui::layout::{Page, facts, shown, size, table};
use crate::ui::pages::{
    ROWS, Visit, changes, claimed, command, memory_link, numbered, paths, signed,
};
use crate::ui::query::{link, to_event};
use crate::verbs::retention::why;

pub(super) fn event(visit: &mut Visit<'_>) -> Result<Page> {
    let number = visit.query.number("n")?.unwrap_or_default();
    let shown = visit
        .store
        .show(&Revision::event(number), &visit.facts.context);
    let (entry, changes, recorded) = match shown {
        Ok(shown) => (shown.found.entry, Some(shown.found.changes), shown.recorded),
        // An auditor sees the record, and no text.
        Err(Error::NotAReader) => (entry(visit, number)?, None, RecordStatus::NotNeeded),
        Err(error) => return Err(error),
    };
    let body = html! {
        (neighbours(number))
        (facts(&told(visit, &entry)))
        @if can_undo(&entry.event) {
            p {
                a.button href=(link("plan", &[("do", "revert"), ("events", &number.to_string())])) {
                    "See what undoing this event would do"
                }
            }
        }
        @if !entry.event.memories.is_empty() {
            h2 { "Memories" }
            (table("What the event did to each memory", TOUCH_HEADS, &touches(&entry.event)))
            @if entry.event.memories.len() > ROWS {
                p.more { "… and " (entry.event.memories.len() - ROWS) " more: `agekeep show --json " (number) "` lists all." }
            }
        }
        @if let Some(changes) = changes {
            @if let Some(config) = &entry.config { h2 { "What changed" } (changes::of_config(config)) }
            @if !changes.is_empty() { h2 { "What changed" } (changes::of_memories(&changes)) }
        } @else {
            p { "You are an auditor: you see who did what, and no text." }
        }
    };
    let title = format!("Event {number}");
    Ok(Page::new(title, "timeline", body, recorded))
}

/// Returns one event without what it changed.
pub(super) fn entry(visit: &mut Visit<'_>, number: u64) -> Result<Entry> {
    let mut filter = Filter::default();
    filter.before = number.checked_add(1);
    let newest = visit.store.events(&filter)?.next();
    let found = newest
        .transpose()?
        .filter(|entry| entry.event.number == number);
    found.ok_or_else(|| Error::NoRevision {
        revision: number.to_string(),
        why: "history has no such event".into(),
    })
}

/// Tells whether an event changed a memory, so that it can be undone.
pub(super) fn can_undo(event: &Event) -> bool {
    event.memories.iter().any(|touch| touch.change.alters())
}

fn neighbours(number: u64) -> Markup {
    html! {
        nav.pages aria-label="Events before and after" {
            @if let Some(before) = number.checked_sub(1) {
                a rel="prev" href=(to_event(before)) { "Event " (before) }
            }
            a rel="next" href=(to_event(number + 1)) { "Event " (number + 1) }
        }
    }
}

/// What the record of an event says.
fn told(visit: &Visit<'_>, entry: &Entry) -> Vec<(&'static str, Markup)> {
    let event = &entry.event;
    let mut rows = vec![
        ("When", visit.time(event.time)),
        ("Command", command(event)),
        ("Where", paths(event)),
        ("Who, as it was said", claimed(event)),
        ("Who, as the signature proves", signed(entry)),
        ("Through", html! { (shown(&event.door)) }),
    ];
    let details = render::details(entry);
    if !details.is_empty() {
        rows.push(("What", html! { (shown(&details)) }));
    }
    for (name, value) in [
        ("Reason", &event.reason),
        ("Client", &event.client),
        ("Tool call", &event.tool_use_id),
        ("Trace", &event.trace),
        ("Member", &event.member),
    ] {
        if let Some(value) = value {
            rows.push((name, html! { (shown(value)) }));
        }
    }
    rows.push(("Commit", html! { code { (entry.commit) } }));
    rows
}

const TOUCH_HEADS: &[&str] = &["Memory", "Change", "Version", "Size", "Why"];

fn touches(event: &Event) -> Vec<Vec<Markup>> {
    let row = |touch: &MemoryChange| {
        vec![
            memory_link(touch.path.as_ref(), touch.id),
            html! { (word(touch.change)) },
            html! {
                (touch.version)
                @if let Some(from) = touch.from { " back to " (from) }
            },
            html! { (size(touch.bytes)) },
            html! { @if let Some(because) = &touch.because { (why(because)) } },
        ]
    };
    event.memories.iter().take(ROWS).map(row).collect()
}

/// The word for a change of a memory.
pub(super) fn word(change: Change) -> &'static str {
    match change {
        Change::None => "none",
        Change::Read => "read",
        Change::Add => "created",
        Change::Edit => "edited",
        Change::Move => "moved",
        Change::Remove => "deleted",
        Change::Restore => "brought back",
        Change::Look => "looked at",
        Change::Reseal => "encrypted anew",
        Change::Expire => "expired",
        Change::Mark => "marked for erasure",
        Change::Erase => "erased",
        Change::Redact => "redacted",
        _ => "changed",
    }
}

/// A row of a list of events.
pub(super) const HEADS: &[&str] = &[
    "Event",
    "When",
    "What",
    "Where",
    "Who, as it was said",
    "Signed by",
];

/// The cells of an event in a list.
pub(super) fn cells(visit: &Visit<'_>, entry: &Entry) -> Vec<Markup> {
    let event = &entry.event;
    let details = render::details(entry);
    vec![
        numbered(event.number),
        visit.time(event.time),
        html! {
            (command(event))
            @if !details.is_empty() { " " small { (shown(&details)) } }
        },
        paths(event),
        claimed(event),
        signed(entry),
    ]
}
