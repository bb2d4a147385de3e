//! A report as Markdown: the same facts, in tables.

use agekeep::report::{AuditReport, NameCount, Register, RegisterRow};

use crate::report::{
    ReportTable, bytes, count, counted, members, more, name, next_to_expire, of_commands, of_names,
    outcome_table, receipt, redactions, registers, seconds, shown, signers, step_name, summary,
};

/// Renders a report.
pub(super) fn text(report: &AuditReport) -> String {
    let mut page = MarkdownPage::default();
    page.line("# Report on a store of agekeep");
    page.table(
        &["", ""],
        summary(report)
            .into_iter()
            .map(|(term, what)| vec![term.to_owned(), what]),
    );
    page.list(
        report
            .verified
            .findings
            .iter()
            .map(|finding| shown(finding)),
    );
    in_force(&mut page, report);
    page.line("## What the maker could not see");
    page.list(report.unseen.iter().map(|what| shown(what)));
    activity(&mut page, report);
    expiring(&mut page, report);
    page.line("## Registers");
    page.line("The signer's name is proof. Actor and reason are what the caller said.");
    for (title, none, found) in registers(report) {
        register(&mut page, title, none, found);
        if title == "Sweeps" {
            gaps(&mut page, report);
        }
    }
    page.0
}

/// A text that grows by blocks.
#[derive(Default)]
struct MarkdownPage(String);

impl MarkdownPage {
    /// Adds a line of the report's own words.
    fn line(&mut self, text: &str) {
        self.0.push_str(text);
        self.0.push_str("\n\n");
    }

    fn list(&mut self, items: impl Iterator<Item = String>) {
        let mut any = false;
        for item in items {
            self.0.extend(["- ", &escaped(&item), "\n"]);
            any = true;
        }
        self.0.push_str(if any { "\n" } else { "" });
    }

    fn add(&mut self, table: ReportTable) {
        self.table(&table.headings, table.rows.into_iter());
    }

    fn table(&mut self, headings: &[&str], rows: impl Iterator<Item = Vec<String>>) {
        let mut rows = rows.peekable();
        if rows.peek().is_none() {
            return self.line("Nothing.");
        }
        self.0.extend(["| ", &headings.join(" | "), " |\n|"]);
        self.0.extend([&"---|".repeat(headings.len()), "\n"]);
        for row in rows {
            let cells: Vec<String> = row.iter().map(|cell| escaped(cell)).collect();
            self.0.extend(["| ", &cells.join(" | "), " |\n"]);
        }
        self.0.push('\n');
    }
}

/// Escapes what Markdown or HTML would take for more than text.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '\n' | '\t' => out.push(' '),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '(' | ')' | '#' | '!' | '|' | '~'
            | '$' => {
                out.extend(['\\', c]);
            }
            // A browser makes links of bare addresses.
            ':' if characters.peek() == Some(&'/') => out.push_str("&#58;"),
            '@' => out.push_str("&#64;"),
            _ => out.push(c),
        }
    }
    out
}

fn in_force(page: &mut MarkdownPage, report: &AuditReport) {
    page.line("## Who could read and who could write at the end of the period");
    page.add(members(report));
    page.add(signers(report));
}

fn activity(page: &mut MarkdownPage, report: &AuditReport) {
    let activity = &report.activity;
    page.line(&format!("## Events in each {}", activity.step));
    let steps = activity.over_time.iter().filter_map(|step| {
        let counts = [
            step.read,
            step.write,
            step.remove,
            step.administer,
            step.failed,
            step.denied,
            step.memories,
        ];
        let is_busy = counts[..6].iter().any(|count| *count > 0);
        let label = std::iter::once(step_name(activity.step, step.since));
        let cells = label.chain(counts.into_iter().map(count));
        is_busy.then(|| cells.chain([bytes(step.bytes)]).collect())
    });
    page.table(
        &[
            "From (with events)",
            "Read",
            "Wrote",
            "Deleted or renamed",
            "Administered",
            "Failed",
            "Denied",
            "Memories",
            "Text",
        ],
        steps,
    );
    page.line("## Events by command and outcome");
    page.add(outcome_table("Command", &of_commands(report)));
    page.line("## Events by actor, as callers said");
    names(page, "Actor", &activity.actors, activity.other_actors);
    page.line("## Events by signer, which is proof");
    names(page, "Signer", &activity.signers, activity.other_signers);
    page.line("## Secrets redacted before anything was stored, by kind");
    page.add(redactions(report));
    let reads = &activity.reads;
    page.line("## Reads of each memory");
    page.line(&format!(
        "{} of {} memories were never read. The most used, and the largest that nobody read:",
        count(reads.memories - reads.read),
        count(reads.memories)
    ));
    page.add(super::reads(report));
}

fn names(page: &mut MarkdownPage, first: &'static str, found: &[NameCount], others: (u64, u64)) {
    let mut table = outcome_table(first, &of_names(found));
    let (others, events) = others;
    if events > 0 {
        let label = format!("{} others", count(others));
        let nothing = String::new();
        let row = vec![label, count(events), nothing.clone(), nothing];
        table.rows.push(row);
    }
    page.add(table);
}

fn expiring(page: &mut MarkdownPage, report: &AuditReport) {
    let calendar = &report.expiring;
    page.line("## What expires when under today's policy");
    let weeks = (0..).zip(&calendar.weeks).filter(|(_, found)| **found > 0);
    let weeks = weeks.map(|(at, found)| {
        let begins = calendar.since + chrono::Duration::weeks(at);
        vec![
            format!("week from {}", begins.format("%Y-%m-%d")),
            count(*found),
        ]
    });
    let others = [
        ("overdue", calendar.overdue),
        ("later", calendar.later),
        ("never", calendar.never),
        ("kept by a hold", calendar.held),
    ];
    let others = others.map(|(what, found)| vec![what.to_owned(), count(found)]);
    page.table(&["When", "Memories"], weeks.chain(others));
    page.add(next_to_expire(report));
}

fn register(page: &mut MarkdownPage, title: &str, none: &str, found: &Register) {
    page.line(&format!("### {title} ({})", count(found.total)));
    if found.rows.is_empty() {
        return page.line(none);
    }
    if let Some(more) = more(found) {
        page.line(&more);
    }
    page.table(
        &[
            "Event", "Time", "Command", "What", "Signer", "Actor", "Reason",
        ],
        found.rows.iter().map(event_row),
    );
    for row in &found.rows {
        details(page, row);
    }
}

fn event_row(row: &RegisterRow) -> Vec<String> {
    let error = row
        .error
        .as_deref()
        .filter(|error| *error != row.outcome.as_str())
        .map(|error| format!(" {}", shown(error)));
    vec![
        row.event.to_string(),
        seconds(row.time),
        format!(
            "{} {}{}",
            shown(&row.command),
            row.outcome.as_str(),
            error.unwrap_or_default()
        ),
        shown(&row.what),
        row.signer
            .as_deref()
            .map_or_else(|| "nobody who may sign".into(), shown),
        name(row.actor.as_deref()),
        row.reason.as_deref().map(shown).unwrap_or_default(),
    ]
}

/// Adds what a row of a table has no room for.
fn details(page: &mut MarkdownPage, row: &RegisterRow) {
    if !row.before.is_empty() || !row.after.is_empty() {
        page.line(&format!("Event {}, old and new:", row.event));
        let before = row
            .before
            .iter()
            .map(|line| format!("old: {}", shown(line)));
        page.list(before.chain(row.after.iter().map(|line| format!("new: {}", shown(line)))));
    }
    if let Some(erased) = &row.erased {
        page.line(&format!(
            "Event {}, receipt: {} It does not reach:",
            row.event,
            receipt(erased)
        ));
        page.list(erased.not_reached.iter().map(|what| shown(what)));
    }
}

fn gaps(page: &mut MarkdownPage, report: &AuditReport) {
    let (gaps, total) = (
        &report.registers.sweep_gaps,
        report.registers.sweep_gaps_total,
    );
    if total == 0 {
        return;
    }
    page.line(&format!("### Days without a sweep ({})", count(total)));
    page.list(gaps.iter().map(|gap| {
        format!(
            "{} to {} ({})",
            gap.since,
            gap.until,
            counted(gap.days, "day")
        )
    }));
}
