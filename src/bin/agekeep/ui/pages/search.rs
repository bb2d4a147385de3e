//! Search: a text in what is remembered, or ever was.

use agekeep::error::Result;
use agekeep::store::history::{Match, Matches, RecordStatus, Recorded, Search};
use maud::{Markup, html};

use crate::ui::layout::{Page, shown, table};
use crate::ui::pages::timeline::field;
use crate::ui::pages::{ROWS, Visit, first_row, memory_link, neighbours, numbered};
use crate::ui::query::Query;

/// What a search can be asked with.
pub(super) const ASKED: &[&str] = &["q", "path", "history", "case", "regex", "from"];

pub(super) fn search(visit: &mut Visit<'_>) -> Result<Page> {
    let query = visit.query;
    let Some(pattern) = query.text("q") else {
        let asked = form(query);
        return Ok(Page::new(
            "Search",
            "search",
            asked,
            RecordStatus::NotNeeded,
        ));
    };
    let mut asked = Search::new(pattern);
    asked.fixed = query.text("regex").is_none();
    asked.ignore_case = query.text("case").is_none();
    asked.history = query.text("history").is_some();
    let path = query.text("path");
    asked.within = path.map(|path| visit.store.parse_path(path)).transpose()?;
    let Recorded {
        found, recorded, ..
    } = visit.store.grep(&asked, &visit.facts.context)?;
    let Matches {
        lines, problems, ..
    } = &found;
    let from = first_row(query)?;
    let shown_lines = lines.iter().skip(from - 1).take(ROWS);
    let rows: Vec<Vec<Markup>> = shown_lines.map(|line| cells(line, asked.history)).collect();
    let heads: &[&str] = if asked.history {
        &["Memory", "Line", "Text", "Since event", "Until event"]
    } else {
        &["Memory", "Line", "Text"]
    };
    let body = html! {
        (form(query))
        p role="status" {
            @match lines.len() {
                0 => "Nothing was found.",
                1 => "1 line was found.",
                count => { (count) " lines were found." },
            }
        }
        @if !rows.is_empty() { (table("Lines that were found, by path", heads, &rows)) }
        (neighbours(query, "search", from, lines.len()))
        @if !problems.is_empty() {
            section.problem {
                h2 { "Not searched" }
                ul { @for problem in problems.iter().take(ROWS) { li { (shown(problem)) } } }
            }
        }
    };
    Ok(Page::new("Search", "search", body, recorded))
}

fn cells(line: &Match, history: bool) -> Vec<Markup> {
    let mut cells = vec![
        memory_link(line.version.path.as_ref(), line.version.id),
        html! { (line.number) },
        html! { code.found { (shown(line.text.as_str())) } },
    ];
    if history {
        cells.push(numbered(line.version.event));
        cells.push(html! {
            @match line.gone {
                Some(event) => (numbered(event)),
                None => span.none { "still there" },
            }
        });
    }
    cells
}

fn form(query: &Query) -> Markup {
    html! {
        form.filters method="get" action="search" role="search" aria-label="Search the memories" {
            (field(query, "q", "Text", ""))
            (field(query, "path", "Within", "/memories/…"))
            fieldset {
                legend { "How" }
                (tick(query, "history", "In every version there ever was"))
                (tick(query, "case", "Upper and lower case differ"))
                (tick(query, "regex", "The text is a regular expression"))
            }
            div.actions { button { "Search" } }
        }
    }
}

fn tick(query: &Query, name: &str, label: &str) -> Markup {
    html! {
        label.tick {
            input type="checkbox" name=(name) value="1" checked[query.text(name).is_some()];
            " " (label)
        }
    }
}
