//! Changes of texts, as a page shows them: the signs say what the colours say.

use agekeep::diff::{DiffHunk, DiffLine, LineKind, TextDiff};
use agekeep::store::history::{ConfigDiff, MemoryDiff, VersionInfo};
use maud::{Markup, html};

use crate::render;
use crate::ui::layout::shown;
use crate::ui::pages::{counted, memory_link, numbered};

/// Most lines of changes that a page shows.
const LINES_MAX: usize = 2_000;
/// Most memories of which a page shows changes.
const MEMORIES_MAX: usize = 200;

/// Shows the changes of memories.
pub(super) fn of_memories(changes: &[MemoryDiff]) -> Markup {
    let mut left = LINES_MAX;
    let shown: Vec<Markup> = changes
        .iter()
        .take(MEMORIES_MAX)
        .map(|change| of_memory(change, &mut left))
        .collect();
    html! {
        @for change in &shown { (change) }
        @if changes.len() > MEMORIES_MAX {
            p.more { "… and " (counted(changes.len() - MEMORIES_MAX, "memory")) " more: `agekeep show` shows all." }
        }
    }
}

/// Shows the change of the policy, the recipients or the signers.
pub(super) fn of_config(config: &ConfigDiff) -> Markup {
    let mut left = LINES_MAX;
    html! {
        section {
            h3 { code { (config.file) } }
            (hunks(&config.diff, &mut left))
        }
    }
}

fn of_memory(change: &MemoryDiff, left: &mut usize) -> Markup {
    let either = change.after.as_ref().or(change.before.as_ref());
    html! {
        section {
            h3 { @if let Some(side) = either { (named(side)) } }
            p {
                (end(change.before.as_ref())) " → " (end(change.after.as_ref()))
                @if let (Some(before), Some(after)) = (&change.before, &change.after) {
                    @if before.path != after.path { ", moved from " (named(before)) }
                }
            }
            @if let Some(problem) = &change.problem { p.problem { "Its text cannot be shown: " (shown(problem)) "." } }
            @match &change.diff {
                Some(diff) => (hunks(diff, left)),
                None if change.problem.is_none() => p { "The text is the same." },
                None => "",
            }
        }
    }
}

fn named(side: &VersionInfo) -> Markup {
    memory_link(side.path.as_ref(), side.id)
}

fn end(side: Option<&VersionInfo>) -> Markup {
    html! {
        @match side {
            Some(side) => { "version " (side.version) " (event " (numbered(side.event)) ")" },
            None => span.none { "not there" },
        }
    }
}

fn hunks(diff: &TextDiff, left: &mut usize) -> Markup {
    let total: usize = diff.hunks().iter().map(|hunk| hunk.lines.len()).sum();
    let mut pieces = Vec::new();
    let mut done = 0;
    for hunk in diff.hunks() {
        if *left == 0 {
            break;
        }
        let lines = &hunk.lines[..hunk.lines.len().min(*left)];
        *left -= lines.len();
        done += lines.len();
        pieces.push(piece(hunk, lines));
    }
    html! {
        p.sum { "+" (diff.added()) " −" (diff.removed()) " lines" }
        @for piece in &pieces { (piece) }
        @if done < total { p.more { "… and " (total - done) " more lines: `agekeep diff` shows all." } }
    }
}

fn piece(hunk: &DiffHunk, lines: &[DiffLine]) -> Markup {
    html! {
        div.hunk {
            p.place { (hunk.header().trim_end()) }
            @for one in lines { (line(one)) }
        }
    }
}

fn line(line: &DiffLine) -> Markup {
    let text = html! {
        (marked(line))
        @if line.unterminated { span.more { " (no newline at the end)" } }
    };
    match line.kind {
        LineKind::Context => html! { div.line { span.sign { " " } (text) } },
        LineKind::Removed => html! { del.line { span.sign { "−" } (text) } },
        LineKind::Added => html! { ins.line { span.sign { "+" } (text) } },
    }
}

/// A line with the words that changed marked.
fn marked(line: &DiffLine) -> Markup {
    html! {
        @for (is_marked, span) in render::spans(line) {
            @if is_marked { mark { (shown(span)) } } @else { (shown(span)) }
        }
    }
}
