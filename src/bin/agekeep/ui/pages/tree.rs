//! The tree of memories, with age, last access, expiry and holds.

use std::collections::BTreeMap;

use agekeep::error::Result;
use agekeep::memory_tool::path::MemoryPath;
use agekeep::store::history::{ListedMemory, RecordStatus, Recorded};
use chrono::{DateTime, Utc};
use maud::{Markup, html};

use crate::ui::layout::{Page, shown, size, table};
use crate::ui::pages::{ROWS, Visit, counted, first_row, neighbours, numbered};
use crate::ui::query::{link, to_memory};

const HEADS: &[&str] = &[
    "Memory",
    "Written",
    "Last access",
    "Expires",
    "Held",
    "Size",
];
const ROOT: &str = "/memories";
/// The deepest that a name is set in.
const DEPTH_MAX: usize = 6;

/// A row: a directory with what is in it, or a memory.
enum TreeRow<'a> {
    Directory(String, Vec<&'a ListedMemory>),
    Memory(&'a ListedMemory),
}

pub(super) fn tree(visit: &mut Visit<'_>) -> Result<Page> {
    let at = visit
        .store
        .parse_path(visit.query.text("at").unwrap_or(ROOT))?;
    let Recorded {
        found, recorded, ..
    } = visit.store.list(&at, &visit.facts.context)?;
    page(visit, at.as_str(), &found, recorded)
}

/// Makes the page of a directory.
pub(super) fn page(
    visit: &mut Visit<'_>,
    at: &str,
    found: &[ListedMemory],
    recorded: RecordStatus,
) -> Result<Page> {
    // A tree that fits on a page is shown whole; of a larger one, one directory.
    let is_whole = found.len() <= ROWS;
    let mut rows = Vec::new();
    collect(at, &found.iter().collect::<Vec<_>>(), is_whole, &mut rows);
    let from = first_row(visit.query)?;
    let cells: Vec<Vec<Markup>> = rows
        .iter()
        .skip(from - 1)
        .take(ROWS)
        .map(|row| match row {
            TreeRow::Memory(memory) => memory_cells(visit, at, memory),
            TreeRow::Directory(path, inside) => directory_cells(visit, at, path, inside),
        })
        .collect();
    let expired = found.iter().filter(|memory| memory.expired).count();
    let held = found.iter().filter(|memory| memory.hold.is_some()).count();
    let bytes: u64 = found.iter().map(|memory| memory.bytes).sum();
    let body = html! {
        @if at != ROOT { (breadcrumbs(at)) }
        p {
            (counted(found.len(), "memory")) ", " (size(bytes)) "."
            @if expired > 0 { " " strong { (expired) " expired" } ": agents no longer find them, and the next sweep removes them." }
            @if held > 0 { " " (held) " held." }
        }
        @if cells.is_empty() {
            p { "There is no memory here." }
        } @else {
            (table("Memories, in the order of their paths", HEADS, &cells))
        }
        (neighbours(visit.query, "./", from, rows.len()))
    };
    let title = if at == ROOT { "Memories" } else { at };
    Ok(Page::new(title, "./", body, recorded))
}

/// Links to a path and to every directory above it.
pub(super) fn breadcrumbs(path: &str) -> Markup {
    let ends = path.match_indices('/').map(|(at, _)| at).skip(1);
    let above: Vec<&str> = ends.map(|end| &path[..end]).collect();
    html! {
        nav.crumbs aria-label="Directories above" {
            ol {
                @for directory in &above {
                    li { a href=(link("./", &[("at", directory)])) { (shown(name(directory))) } }
                }
                li aria-current="page" { (shown(name(path))) }
            }
        }
    }
}

fn name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Collects the rows of a directory: with everything below it, or only what is directly in it.
fn collect<'a>(at: &str, found: &[&'a ListedMemory], is_whole: bool, rows: &mut Vec<TreeRow<'a>>) {
    let mut directories: BTreeMap<&str, Vec<&ListedMemory>> = BTreeMap::new();
    let mut here = Vec::new();
    for &memory in found {
        let path = memory.path.as_ref().map_or("", |path| path.as_str());
        let below = path.strip_prefix(at).unwrap_or_default();
        match below.trim_start_matches('/').split_once('/') {
            Some((first, _)) => directories.entry(first).or_default().push(memory),
            None => here.push(TreeRow::Memory(memory)),
        }
    }
    for (first, inside) in directories {
        let directory = format!("{at}/{first}");
        rows.push(TreeRow::Directory(directory.clone(), inside.clone()));
        if is_whole {
            collect(&directory, &inside, is_whole, rows);
        }
    }
    rows.extend(here);
}

fn memory_cells(visit: &Visit<'_>, at: &str, memory: &ListedMemory) -> Vec<Markup> {
    let named = if let Some(path) = memory.path.as_ref().map(MemoryPath::as_str) {
        let link = html! { a href=(to_memory(path)) { (shown(name(path))) } };
        indented(at, path, &link)
    } else {
        html! { span.none { "no key opens its path: " (memory.id) } }
    };
    vec![
        named,
        html! { (visit.time(memory.written)) " " small { "version " (memory.version) } },
        visit.time(memory.accessed),
        expiry(visit, memory.expires, memory.expired, memory.hold.is_some()),
        hold(memory.hold),
        html! { (size(memory.bytes)) },
    ]
}

fn directory_cells(
    visit: &Visit<'_>,
    at: &str,
    path: &str,
    inside: &[&ListedMemory],
) -> Vec<Markup> {
    let link = html! {
        a.directory href=(link("./", &[("at", path)])) { (shown(name(path))) "/" }
        " " small { (counted(inside.len(), "memory")) }
    };
    let times = |time: fn(&ListedMemory) -> Option<DateTime<Utc>>| {
        inside.iter().filter_map(move |memory| time(memory))
    };
    let written = times(|memory| Some(memory.written)).max();
    let accessed = times(|memory| Some(memory.accessed)).max();
    let expires = times(|memory| memory.expires.filter(|_| memory.hold.is_none())).min();
    let held = inside.iter().filter(|memory| memory.hold.is_some()).count();
    let newest = |time: Option<DateTime<Utc>>, word: &str| {
        html! { @if let Some(time) = time { small { (word) " " } (visit.time(time)) } @else { span.none { "never" } } }
    };
    vec![
        indented(at, path, &link),
        newest(written, "newest"),
        newest(accessed, "newest"),
        newest(expires, "first"),
        html! { @if held > 0 { (held) } @else { span.none { "no" } } },
        html! { (size(inside.iter().map(|memory| memory.bytes).sum())) },
    ]
}

/// Says when a memory expires.
pub(super) fn expiry(
    visit: &Visit<'_>,
    expires: Option<DateTime<Utc>>,
    is_expired: bool,
    is_held: bool,
) -> Markup {
    html! {
        @match expires {
            Some(at) if is_expired => strong.bad { "expired " (visit.time(at)) },
            Some(_) if is_held => span.none { "not while it is held" },
            Some(at) => (visit.time(at)),
            None => span.none { "never" },
        }
    }
}

/// Says which hold keeps a memory.
pub(super) fn hold(hold: Option<u64>) -> Markup {
    html! { @if let Some(hold) = hold { "hold " (numbered(hold)) } @else { span.none { "no" } } }
}

/// Sets a row's name in by how deep it stands below the page's directory.
fn indented(at: &str, path: &str, name: &Markup) -> Markup {
    let below = path.strip_prefix(at).unwrap_or_default();
    let depth = below.matches('/').count().saturating_sub(1);
    html! { span class={ "in" (depth.min(DEPTH_MAX)) } { (name) } }
}
