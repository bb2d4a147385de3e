//! What pages are made of: their frame, tables, times, and texts in which nothing is hidden.
//!
//! Everything that a template shows is escaped by `maud`. What a browser would obey and not show, or
//! what nobody sees, is shown by its number.

use std::fmt::Write;

use agekeep::store::history::RecordStatus;
use chrono::{DateTime, Utc};
use maud::{DOCTYPE, Markup, PreEscaped, Render, html};

use crate::output::is_obeyed;
use crate::render;
use crate::ui::PageFacts;
use crate::ui::query::to_event;

/// Most characters of a line that a page shows.
const LINE_CHARACTERS_MAX: usize = 4_000;

/// The pages that every page links to: address and name.
const NAVIGATION: &[(&str, &str)] = &[
    ("./", "Memories"),
    ("timeline", "Timeline"),
    ("search", "Search"),
    ("plan", "Undo"),
    ("report", "Report"),
];

/// A page before it has its frame.
pub(super) struct Page {
    /// Its heading.
    title: String,
    /// The entry of [`NAVIGATION`] it belongs to.
    part: &'static str,
    body: Markup,
    /// How the look was recorded.
    recorded: RecordStatus,
}

impl Page {
    pub(super) fn new(
        title: impl Into<String>,
        part: &'static str,
        body: Markup,
        recorded: RecordStatus,
    ) -> Self {
        Self {
            title: title.into(),
            part,
            body,
            recorded,
        }
    }

    /// Puts the page into its frame.
    pub(super) fn framed(&self, facts: &PageFacts) -> Markup {
        let does = if facts.allow_undo {
            "may look and undo"
        } else {
            "may look"
        };
        let actor = facts.context.actor.as_deref().unwrap_or("nobody named");
        document(
            &self.title,
            &html! {
                header {
                    p.brand { a href="./" { "agekeep" } }
                    nav aria-label="Pages" {
                        ul {
                            @for (link, name) in NAVIGATION {
                                li {
                                    a href=(link) aria-current=[(*link == self.part).then_some("page")] { (name) }
                                }
                            }
                        }
                    }
                    p.who { "You are " strong { (shown(actor)) } ", who " (does) "." }
                }
            },
            &self.body,
            &html! {
                footer {
                    p { "Store: " code { (shown(&facts.place)) } }
                    @match &self.recorded {
                        RecordStatus::Event(event) => p {
                            "This look is on record as " a href=(to_event(*event)) { "event " (event) } "."
                        },
                        RecordStatus::Not(why) => p { "This look is not on record: " (shown(why)) "." },
                        // A page of no part is a problem, whatever was looked at before.
                        _ if self.part.is_empty() => {}
                        _ => p { "This page shows no text of a memory, so the look is not recorded." },
                    }
                }
            },
        )
    }
}

/// Makes the page for a request that is not let in, which tells nothing about the store.
pub(super) fn refused(title: &str, why: &str, may_go_on: bool) -> Markup {
    let body = html! {
        p { (why) }
        @if may_go_on {
            p { "If you opened it in this browser before, " a href="./" { "go on to the first page" } "." }
        }
    };
    document(
        title,
        &html! { header { p.brand { "agekeep" } } },
        &body,
        &html! {},
    )
}

fn document(title: &str, header: &Markup, body: &Markup, footer: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (visible(title)) " – agekeep" }
                link rel="icon" href="/icon.svg" type="image/svg+xml";
                link rel="stylesheet" href="/style.css";
            }
            body {
                a.skip href="#main" { "Skip to the content" }
                (header)
                main #main tabindex="-1" {
                    h1 { (shown(title)) }
                    (body)
                }
                (footer)
            }
        }
    }
}

/// A table whose rows become cards on a narrow screen, with the roles that keep it a table there.
pub(super) fn table(caption: &str, heads: &[&str], rows: &[Vec<Markup>]) -> Markup {
    html! {
        table role="table" {
            caption { (caption) }
            thead role="rowgroup" {
                tr role="row" {
                    @for head in heads { th scope="col" role="columnheader" { (head) } }
                }
            }
            tbody role="rowgroup" {
                @for row in rows {
                    tr role="row" {
                        @for (at, cell) in row.iter().enumerate() {
                            @let head = heads.get(at).copied().unwrap_or_default();
                            @if at == 0 {
                                th scope="row" role="rowheader" data-label=(head) { div { (cell) } }
                            } @else {
                                td role="cell" data-label=(head) { div { (cell) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A list of facts: names and values.
pub(super) fn facts(rows: &[(&str, Markup)]) -> Markup {
    html! {
        dl.facts {
            @for (name, value) in rows { div { dt { (name) } dd { (value) } } }
        }
    }
}

/// A time, as people say it and as it is.
pub(super) fn time(now: DateTime<Utc>, at: DateTime<Utc>) -> Markup {
    html! {
        time datetime=(render::rfc3339(at)) {
            (said(now, at)) " " small { (at.format("%Y-%m-%d %H:%M:%SZ")) }
        }
    }
}

/// Says how long before or after now a time is.
fn said(now: DateTime<Utc>, at: DateTime<Utc>) -> String {
    let seconds = (now - at).num_seconds();
    let (count, unit) = match seconds.unsigned_abs() {
        0..60 => {
            return if seconds >= 0 {
                "just now"
            } else {
                "in a moment"
            }
            .into();
        }
        away @ 60..3_600 => (away / 60, "minute"),
        away @ 3_600..172_800 => (away / 3_600, "hour"),
        away @ 172_800..63_072_000 => (away / 86_400, "day"),
        away => (away / 31_536_000, "year"),
    };
    let many = if count == 1 { "" } else { "s" };
    if seconds >= 0 {
        format!("{count} {unit}{many} ago")
    } else {
        format!("in {count} {unit}{many}")
    }
}

/// A size, as people say it; bytes where that says less.
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..10_240 => format!("{bytes} B"),
        10_240..10_485_760 => format!("{} KiB", bytes / 1_024),
        _ => format!("{} MiB", bytes / 1_048_576),
    }
}

/// A text of one line in which nothing is hidden.
pub(super) fn shown(text: &str) -> Markup {
    let is_hidden = |c: char| is_hidden(c) && c != '\t';
    if !text.contains(is_hidden) && text.len() <= LINE_CHARACTERS_MAX {
        return html! { (text) };
    }
    let mut out = String::with_capacity(text.len() + 64);
    let mut rest = text;
    if let Some((end, _)) = text.char_indices().nth(LINE_CHARACTERS_MAX) {
        rest = &text[..end];
    }
    while let Some(at) = rest.find(is_hidden) {
        let hidden = rest[at..].chars().next().expect("it was found");
        rest[..at].render_to(&mut out);
        // The writer is a String.
        let _ = write!(
            out,
            r#"<span class="hidden">U+{:04X}</span>"#,
            u32::from(hidden)
        );
        rest = &rest[at + hidden.len_utf8()..];
    }
    rest.render_to(&mut out);
    let more = text.chars().skip(LINE_CHARACTERS_MAX).count();
    html! {
        (PreEscaped(out))
        @if more > 0 { span.more { "… " (more) " more characters" } }
    }
}

/// The same for where no marks can stand, such as a title.
fn visible(text: &str) -> String {
    let one = |c: char| {
        if is_hidden(c) {
            format!("U+{:04X}", u32::from(c))
        } else {
            c.to_string()
        }
    };
    text.chars().map(one).collect()
}

/// Tells whether nobody would see a character: what a browser obeys, and what has no width and could
/// carry something that people do not read. What joins emoji and letters is none of them.
fn is_hidden(c: char) -> bool {
    is_obeyed(c)
        || matches!(
            c,
            '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{2064}'
            | '\u{206a}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_shown_by_its_number() {
        for (text, is) in [
            ("plain ü 👩‍👩‍👧", "plain ü 👩‍👩‍👧"),
            ("<b>&\"", "&lt;b&gt;&amp;&quot;"),
            ("a\u{202e}b", r#"a<span class="hidden">U+202E</span>b"#),
            ("\u{1b}[2J", r#"<span class="hidden">U+001B</span>[2J"#),
            ("\u{e0041}<", r#"<span class="hidden">U+E0041</span>&lt;"#),
            ("\u{200b}", r#"<span class="hidden">U+200B</span>"#),
        ] {
            assert_eq!(shown(text).into_string(), is);
        }
        let long = "é".repeat(LINE_CHARACTERS_MAX + 7);
        assert!(shown(&long).into_string().contains("… 7 more characters"));
    }

    #[test]
    fn a_time_is_said_in_words() {
        let now = DateTime::from_timestamp(1_800_000_000, 0).expect("a time");
        for (seconds, is) in [
            (0, "just now"),
            (61, "1 minute ago"),
            (7_300, "2 hours ago"),
            (-7_300, "in 2 hours"),
            (3 * 86_400, "3 days ago"),
            (-800 * 86_400, "in 2 years"),
        ] {
            assert_eq!(said(now, now - chrono::TimeDelta::seconds(seconds)), is);
        }
    }
}
