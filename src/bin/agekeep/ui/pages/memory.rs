//! One memory: its text, its versions and what differs between them, who wrote each line, and who
//! read it when.

use std::collections::HashSet;

use agekeep::Text;
use agekeep::error::{Error, Result};
use agekeep::event::MemoryChange;
use agekeep::id::MemoryId;
use agekeep::memory_tool::path::MemoryPath;
use agekeep::store::history::{BlamedLine, RecordStatus, Recorded, VersionOrigin, View};
use agekeep::store::log::{Entry, Filter};
use agekeep::store::retention::ExpiryStatus;
use agekeep::store::revision::Revision;
use maud::{Markup, html};

use crate::ui::layout::{Page, facts, shown, size, table};
use crate::ui::pages::{
    ROWS, Visit, changes, claimed, command, event, first_row, neighbours, numbered, signed, tree,
};
use crate::ui::query::{link, to_memory};
use crate::verbs::retention::why;

/// Most reads on a memory's page; the timeline has them all.
const READS_MAX: usize = 50;

pub(super) fn memory(visit: &mut Visit<'_>) -> Result<Page> {
    let path = path(visit)?;
    let there = visit.store.expiry_status(&path)?;
    let (text, recorded) = if there.is_some() {
        text_now(visit, &path)?
    } else {
        let Recorded {
            found, recorded, ..
        } = visit.store.list(&path, &visit.facts.context)?;
        if !found.is_empty() {
            return tree::page(visit, path.as_str(), &found, recorded);
        }
        (html! {}, recorded)
    };
    let versions = versions(visit, &path, there.as_ref())?;
    if there.is_none() && versions.is_empty() && visit.query.number("before")?.is_none() {
        return Err(Error::NotThere {
            path: path.as_str().into(),
            when: "ever".into(),
            hint: "the tree shows what is there, and the timeline what was asked for".into(),
        });
    }
    let mut filter = Filter::default();
    filter.path = Some(path.clone());
    let reads = visit.store.accesses(&filter)?.take(READS_MAX + 1);
    let reads: Vec<Entry> = reads.collect::<Result<_>>()?;
    let body = html! {
        (tree::breadcrumbs(path.as_str()))
        (status(visit, there.as_ref(), &versions))
        (text)
        (versions_table(visit, &path, &versions))
        (reads_table(visit, &path, &reads))
    };
    Ok(Page::new(path.as_str(), "./", body, recorded))
}

fn path(visit: &Visit<'_>) -> Result<MemoryPath> {
    visit.store.parse_path(visit.query.needed("path")?)
}

/// What becomes of the memory that is at the path.
fn status(visit: &Visit<'_>, there: Option<&ExpiryStatus>, versions: &[Written]) -> Markup {
    let Some(memory) = there else {
        return html! { p.problem { "There is no memory at this path now. Its history is below." } };
    };
    let expires = memory.ruling.expires.map(|(_, at)| at);
    let mut rows = Vec::new();
    if let Some(newest) = versions.iter().find(|one| one.touch().id == memory.id) {
        let (version, bytes) = (newest.touch().version, newest.touch().bytes);
        rows.push(("Version", html! { (version) ", " (size(bytes)) }));
        rows.push(("Written", visit.time(newest.entry.event.time)));
    }
    rows.extend([
        ("Last access", visit.time(memory.accessed)),
        (
            "Expires",
            tree::expiry(visit, expires, memory.expired, memory.hold.is_some()),
        ),
        ("Held", tree::hold(memory.hold)),
        ("Memory id", html! { code { (memory.id) } }),
    ]);
    html! {
        @if memory.expired {
            p.problem { strong { "Expired." } " Agents no longer find this memory, and the next sweep removes it." }
        }
        (facts(&rows))
    }
}

/// The present text, and the record of the look.
fn text_now(visit: &mut Visit<'_>, path: &MemoryPath) -> Result<(Markup, RecordStatus)> {
    let looked = visit
        .store
        .show_at(path.as_str(), &Revision::head(), &visit.facts.context);
    let (body, recorded) = match looked {
        Ok(Recorded {
            found, recorded, ..
        }) => {
            let body = html! {
                (text_lines(visit, "memory", &found.content)?)
                p { a href=(link("blame", &[("path", path.as_str())])) { "Who wrote each line" } }
            };
            (body, recorded)
        }
        Err(Error::NotAReader) => {
            let body = html! { p { "You are an auditor: you see what happened to this memory, and no text." } };
            (body, RecordStatus::NotNeeded)
        }
        Err(error) if [12, 13].contains(&error.exit_code()) => {
            let why = error.to_string();
            let body = html! { p.problem { "The text does not open: " (shown(&why)) "." } };
            (body, RecordStatus::NotNeeded)
        }
        Err(error) => return Err(error),
    };
    Ok((html! { section { h2 #text { "Text" } (body) } }, recorded))
}

/// The lines of a text, by their numbers.
fn text_lines(visit: &Visit<'_>, name: &str, text: &Text) -> Result<Markup> {
    let lines: Vec<&str> = text.as_str().lines().collect();
    let from = first_row(visit.query)?;
    let shown_lines = lines.iter().skip(from - 1).take(ROWS);
    Ok(html! {
        @if lines.is_empty() { p { "The text is empty." } }
        ol.text start=(from) {
            @for line in shown_lines { li { code { (shown(line)) } } }
        }
        (neighbours(visit.query, name, from, lines.len()))
    })
}

/// A version: the event that wrote it, or removed the memory, and its part in that.
struct Written {
    entry: Entry,
    at: usize,
}

impl Written {
    fn touch(&self) -> &MemoryChange {
        &self.entry.event.memories[self.at]
    }
}

/// Returns the versions of what was ever at a path, newest first: one more than fit on a page.
fn versions(
    visit: &mut Visit<'_>,
    path: &MemoryPath,
    there: Option<&ExpiryStatus>,
) -> Result<Vec<Written>> {
    let mut filter = Filter::default();
    filter.path = Some(path.clone());
    filter.altering = true;
    filter.before = visit.query.number("before")?;
    let entries = visit.store.events(&filter)?.take(ROWS + 1);
    let entries: Vec<Entry> = entries.collect::<Result<_>>()?;
    let mut ids: HashSet<MemoryId> = there.iter().map(|memory| memory.id).collect();
    let touches = entries.iter().flat_map(|entry| &entry.event.memories);
    let own = touches.filter(|touch| touch.path.as_ref() == Some(path));
    ids.extend(own.map(|touch| touch.id));
    let mut versions = Vec::new();
    for entry in entries {
        let mut touches = entry.event.memories.iter();
        let at = touches.position(|touch| touch.change.alters() && ids.contains(&touch.id));
        versions.extend(at.map(|at| Written { entry, at }));
    }
    Ok(versions)
}

const VERSION_HEADS: &[&str] = &[
    "Version",
    "When",
    "Change",
    "Who, as it was said",
    "Signed by",
    "Compare",
    "Take back",
];

fn versions_table(visit: &Visit<'_>, path: &MemoryPath, versions: &[Written]) -> Markup {
    let rows: Vec<Vec<Markup>> = versions
        .iter()
        .take(ROWS)
        .enumerate()
        .map(|(row, written)| version_cells(visit, path, row, written))
        .collect();
    let oldest = versions.get(ROWS - 1).map(|one| one.entry.event.number);
    html! {
        section {
            h2 #versions { "Versions" }
            form method="get" action="diff" {
                input type="hidden" name="path" value=(path.as_str());
                (table("Versions, newest first", VERSION_HEADS, &rows))
                @if rows.len() > 1 { button { "Compare the chosen two" } }
            }
            @if let (Some(oldest), true) = (oldest, versions.len() > ROWS) {
                nav.pages aria-label="More versions" {
                    a rel="next" href=(visit.query.link_with("memory", "before", &oldest.to_string())) { "Older versions" }
                }
            }
        }
    }
}

fn version_cells(visit: &Visit<'_>, path: &MemoryPath, row: usize, one: &Written) -> Vec<Markup> {
    let (event, touch) = (&one.entry.event, one.touch());
    let number = event.number.to_string();
    let at = touch.path.as_ref().unwrap_or(path).as_str();
    let version = touch.version.to_string();
    let radio = |name: &str, word: &str, chosen: usize| {
        html! {
            label.tick {
                input type="radio" name=(name) value=(number) checked[row == chosen];
                " " (word) span.unseen { " event " (number) }
            }
        }
    };
    vec![
        html! {
            @if touch.change.writes() {
                a href=(link("version", &[("path", at), ("version", &version)])) { "Version " (version) }
            } @else { span.none { "after " (version) } }
            br;
            small { "event " (numbered(event.number)) }
        },
        visit.time(event.time),
        html! {
            (event::word(touch.change))
            @if let Some(from) = touch.from { " as version " (from) }
            @if let Some(because) = &touch.because { ": " (why(because)) }
            " " small { "by " (shown(&event.command)) ", " (size(touch.bytes)) }
            @if at != path.as_str() { " " small { "at " code { (shown(at)) } } }
        },
        claimed(event),
        signed(&one.entry),
        html! { (radio("old", "from", 1)) " " (radio("new", "to", 0)) },
        html! {
            a href=(link("plan", &[("do", "revert"), ("events", &number)])) {
                "Undo this" span.unseen { " change, event " (number) }
            }
            @if row > 0 && touch.change.writes() {
                br;
                a href=(link("plan", &[("do", "restore"), ("path", path.as_str()), ("from", &number)])) {
                    "Go back to this" span.unseen { " version, event " (number) }
                }
            }
        },
    ]
}

fn reads_table(visit: &Visit<'_>, path: &MemoryPath, reads: &[Entry]) -> Markup {
    let heads = &["Event", "When", "How", "Who, as it was said", "Signed by"];
    let rows: Vec<Vec<Markup>> = reads
        .iter()
        .take(READS_MAX)
        .map(|entry| {
            vec![
                numbered(entry.event.number),
                visit.time(entry.event.time),
                command(&entry.event),
                claimed(&entry.event),
                signed(entry),
            ]
        })
        .collect();
    html! {
        section {
            h2 #reads { "Who read it" }
            @if rows.is_empty() { p { "Nobody has read it." } } @else {
                (table("Reads and looks, newest first", heads, &rows))
            }
            p {
                a href=(link("timeline", &[("path", path.as_str())])) { "All events about this path" }
                @if reads.len() > READS_MAX { ", older reads too" }
            }
        }
    }
}

/// The text of one version.
pub(super) fn version(visit: &mut Visit<'_>) -> Result<Page> {
    let path = path(visit)?;
    let number = visit.query.number("version")?.unwrap_or_default();
    let looked = visit
        .store
        .show_version(path.as_str(), number, &visit.facts.context)?;
    let View {
        content, at, time, ..
    } = &looked.found;
    let body = html! {
        (tree::breadcrumbs(path.as_str()))
        (facts(&[
            ("Written", visit.time(*time)),
            ("Event", numbered(at.event)),
        ]))
        (text_lines(visit, "version", content)?)
        (back(&path))
    };
    let title = format!("{}, version {number}", path.as_str());
    Ok(Page::new(title, "./", body, looked.recorded))
}

fn back(path: &MemoryPath) -> Markup {
    html! { p { a href=(to_memory(path.as_str())) { "Back to the memory" } } }
}

/// What differs between two versions.
pub(super) fn diff(visit: &mut Visit<'_>) -> Result<Page> {
    let path = path(visit)?;
    let (mut old, mut new) = (moment(visit, "old")?, moment(visit, "new")?);
    if old > new {
        std::mem::swap(&mut old, &mut new);
    }
    // The memory may have had another path then.
    let entry = event::entry(visit, new)?;
    let touches = &entry.event.memories;
    let is_own = |touch: &&MemoryChange| touch.path.as_ref() == Some(&path);
    let touch = touches.iter().find(is_own).or(touches.first());
    let then = touch.and_then(|touch| touch.path.clone());
    let within = then.as_ref().unwrap_or(&path);
    let looked = visit.store.diff(
        Some(&Revision::event(old)),
        Some(&Revision::event(new)),
        Some(within),
        &visit.facts.context,
    )?;
    let found = &looked.found;
    let body = html! {
        (tree::breadcrumbs(path.as_str()))
        p { "From event " (numbered(old)) " to event " (numbered(new)) "." }
        @if found.changes.is_empty() { p { "The texts are the same." } }
        h2 { "What differs" }
        (changes::of_memories(&found.changes))
        (back(&path))
    };
    let title = format!("Changes of {}", path.as_str());
    Ok(Page::new(title, "./", body, looked.recorded))
}

fn moment(visit: &Visit<'_>, name: &'static str) -> Result<u64> {
    let number = visit.query.number(name)?;
    number.ok_or_else(|| Error::invalid("the comparison", "choose two versions"))
}

/// Who wrote each line.
pub(super) fn blame(visit: &mut Visit<'_>) -> Result<Page> {
    let path = path(visit)?;
    let looked = visit
        .store
        .blame(&path, &Revision::head(), &visit.facts.context)?;
    let found = &looked.found;
    let from = first_row(visit.query)?;
    let lines = found.lines.iter().skip(from - 1).take(ROWS);
    let rows: Vec<Vec<Markup>> = lines
        .map(|line| blame_cells(visit, line, &found.origins[line.origin]))
        .collect();
    let heads = &["Line", "Text", "Who, as it was said", "When", "Event"];
    let body = html! {
        (tree::breadcrumbs(path.as_str()))
        @if rows.is_empty() { p { "The text is empty." } } @else {
            (table("Lines of the present version, with who wrote each", heads, &rows))
        }
        (neighbours(visit.query, "blame", from, found.lines.len()))
        (back(&path))
    };
    let title = format!("Who wrote {}", path.as_str());
    Ok(Page::new(title, "./", body, looked.recorded))
}

fn blame_cells(visit: &Visit<'_>, line: &BlamedLine, origin: &VersionOrigin) -> Vec<Markup> {
    // Nobody can tell who wrote a line that may be older.
    let actor = origin.actor.as_deref().filter(|_| !origin.or_before);
    vec![
        html! { (line.number) },
        html! { code.found { (shown(line.text.as_str())) } },
        html! {
            @match actor {
                Some(actor) => (shown(actor)),
                None => span.none { "not known" },
            }
        },
        visit.time(origin.time),
        html! { (numbered(origin.version.event)) @if origin.or_before { " or before" } },
    ]
}
