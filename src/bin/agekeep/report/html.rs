//! A report as one page: no script, no network, no other file.

use agekeep::report::{AuditReport, NameCount, Register, RegisterRow};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::report::chart::{
    self, BLUE, BarRow, GREEN, ORANGE, PURPLE, Picture, SHADES, SKY, Series, Shade, VERMILION,
};
use crate::report::{
    OutcomeRow, ReportTable, bytes, count, members, more, name, next_to_expire, of_commands,
    of_names, outcome_table, path_of, receipt, registers, seconds, shown, step_name, summary,
};

/// Nothing is loaded, and nothing runs. Styles stand in the page.
const CONTENT_POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
const STYLE: &str = include_str!("style.css");

/// Renders a report as a whole page: with its style in it, for a file; or with a link to its style,
/// for a server that says by itself what a browser may load.
pub(crate) fn report_page(report: &AuditReport, linked_style: Option<&str>) -> Markup {
    let title = format!("Report on a store of agekeep, {}", period_name(report));
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                @if linked_style.is_none() {
                    meta http-equiv="Content-Security-Policy" content=(CONTENT_POLICY);
                }
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="referrer" content="no-referrer";
                meta name="color-scheme" content="light dark";
                title { (title) }
                @match linked_style {
                    Some(link) => link rel="stylesheet" href=(link);,
                    None => style { (PreEscaped(style())) },
                }
            }
            body { (body(report)) }
        }
    }
}

/// The style sheet of the page.
pub(crate) fn style() -> String {
    STYLE.to_owned() + &pattern_rules()
}

fn body(report: &AuditReport) -> Markup {
    html! {
        (patterns())
        header {
            p.kind { "Report on a store of agekeep" }
            h1 { (period_name(report)) }
            (verdict(report))
        }
        main {
            section.top {
                dl { @for (term, what) in summary(report) { div { dt { (term) } dd { (what) } } } }
                (in_force(report))
                h2 { "What the maker could not see" }
                ul { @for what in &report.unseen { li { (shown(what)) } } }
            }
            h2 { "Pictures" }
            div.figures {
                (over_time(report)) (commands(report)) (actors(report)) (signers(report))
                (live_memories(report)) (redactions(report)) (reads(report)) (expiring(report))
            }
            h2 { "Registers" }
            p.note {
                "The signer's name is proof. Actor and reason are what the caller said."
            }
            @for (title, none, found) in registers(report) {
                (register(title, none, found))
                @if title == "Sweeps" { (sweep_gaps(report)) }
            }
        }
        footer {
            p {
                "A signed note beside this file proves that it was not changed: "
                code { "agekeep report verify FILE" } "."
            }
        }
    }
}

fn period_name(report: &AuditReport) -> String {
    let period = &report.period;
    let day = |time: chrono::DateTime<chrono::Utc>| time.format("%Y-%m-%d").to_string();
    let named = period.name.as_deref().map(shown);
    named.unwrap_or_else(|| format!("{} to {}", day(period.since), day(period.until)))
}

/// What the reader wants to know first.
fn verdict(report: &AuditReport) -> Markup {
    let verified = &report.verified;
    let class = if verified.ok {
        "verdict ok"
    } else {
        "verdict bad"
    };
    html! {
        @if report.trial {
            p class="verdict bad" { "A store for trials: its times may be made up." }
        }
        div class=(class) {
            p { strong { @if verified.ok { "✓ Verified" } @else { "✗ Not verified" } } " — " (super::verified(report)) }
            @if !verified.findings.is_empty() {
                ul { @for finding in &verified.findings { li { (shown(finding)) } } }
            }
        }
        ul.numbers {
            (number("events", report.events.count))
            (number("denied", report.registers.denied.total))
            (number("failed", report.registers.failed.total))
            (number("erasures", report.registers.erasures.total))
            (number("looks", report.registers.looks.total))
            (number("memories at the end", report.activity.reads.memories))
        }
    }
}

fn number(what: &str, value: u64) -> Markup {
    html! { li { strong { (count(value)) } " " (what) } }
}

/// Members and signers in force.
fn in_force(report: &AuditReport) -> Markup {
    html! {
        h2 { "Who could read and who could write at the end of the period" }
        div.pair { (table(&members(report))) (table(&super::signers(report))) }
    }
}

// Pictures, each with its table.

/// A picture with its title, its legend and its table.
fn figure(
    id: &str,
    title: &str,
    picture: Option<Picture>,
    legend: &[(&str, Shade)],
    below: &ReportTable,
) -> Markup {
    html! {
        figure id=(id) {
            figcaption { (title) }
            @match picture {
                Some(picture) => {
                    @if legend.len() > 1 {
                        ul.legend {
                            @for (name, shade) in legend {
                                li {
                                    svg width="14" height="14" aria-hidden="true" {
                                        rect width="14" height="14" fill=(shade.hex()) {}
                                    }
                                    " " (name)
                                }
                            }
                        }
                    }
                    svg.picture role="img" aria-labelledby={ (id) "-title" }
                        viewBox={ "0 0 " (Picture::WIDTH) " " (picture.height) } {
                        title id={ (id) "-title" } { (title) ". The table below has the numbers." }
                        (PreEscaped(&picture.content))
                    }
                    details { summary { "Table" } (table(below)) }
                }
                None => p.none { "Nothing to show in this period." },
            }
        }
    }
}

fn table(table: &ReportTable) -> Markup {
    html! {
        div.table tabindex="0" {
            table {
                thead { tr { @for (at, heading) in table.headings.iter().enumerate() {
                    th scope="col" class=[(at >= table.words).then_some("number")] { (heading) }
                } } }
                tbody { @for row in &table.rows { tr { @for (at, cell) in row.iter().enumerate() {
                    @if at == 0 { th scope="row" { (cell) } }
                    @else { td class=[(at >= table.words).then_some("number")] { (cell) } }
                } } } }
            }
        }
    }
}

/// One of the counts of a step.
type CountOf = fn(&agekeep::report::Bucket) -> u64;

fn over_time(report: &AuditReport) -> Markup {
    let activity = &report.activity;
    let steps = &activity.over_time;
    let kinds: [(&str, Shade, CountOf); 6] = [
        ("read", SKY, |step| step.read),
        ("wrote", BLUE, |step| step.write),
        ("deleted or renamed", ORANGE, |step| step.remove),
        ("administered", GREEN, |step| step.administer),
        ("failed", PURPLE, |step| step.failed),
        ("denied", VERMILION, |step| step.denied),
    ];
    let series: Vec<Series> = kinds
        .iter()
        .map(|(name, shade, of)| Series {
            name,
            shade: *shade,
            values: steps.iter().map(of).collect(),
        })
        .collect();
    let labels = labels(report);
    let busy = (0..labels.len()).filter(|at| series.iter().any(|one| one.values[*at] > 0));
    let rows = busy.map(|at| {
        let label = &labels[at];
        let values = series.iter().map(|one| count(one.values[at]));
        std::iter::once(label.clone()).chain(values).collect()
    });
    let headings = [
        "From (with events)",
        "Read",
        "Wrote",
        "Deleted or renamed",
        "Administered",
        "Failed",
        "Denied",
    ];
    let below = super::table(headings, 1, rows);
    let title = format!("Events in each {}", activity.step);
    stacked("over-time", &title, &labels, &series, &below)
}

/// A picture of bars in parts, if there is anything in them.
fn stacked(
    id: &str,
    title: &str,
    labels: &[String],
    series: &[Series],
    below: &ReportTable,
) -> Markup {
    let legend: Vec<(&str, Shade)> = series.iter().map(|one| (one.name, one.shade)).collect();
    let mut values = series.iter().flat_map(|one| &one.values);
    let has_any = values.any(|value| *value > 0);
    let picture = has_any.then(|| chart::stacked(labels, series));
    figure(id, title, picture, &legend, below)
}

/// The outcomes of events, as parts of a bar.
const OUTCOMES: [(&str, Shade); 3] = [("ok", BLUE), ("failed", PURPLE), ("denied", VERMILION)];

fn outcome_figure(id: &str, title: &str, first: &'static str, rows: &[OutcomeRow]) -> Markup {
    let bar = |(label, values): &OutcomeRow| BarRow {
        label: label.clone(),
        parts: OUTCOMES
            .iter()
            .zip(values)
            .map(|((_, shade), value)| (*shade, *value))
            .collect(),
    };
    let picture = bars(rows.iter().map(bar));
    let below = outcome_table(first, rows);
    figure(id, title, picture, &OUTCOMES, &below)
}

/// A picture of bars, if there is any.
fn bars(rows: impl Iterator<Item = BarRow>) -> Option<Picture> {
    let rows: Vec<BarRow> = rows.collect();
    (!rows.is_empty()).then(|| chart::across(&rows))
}

fn commands(report: &AuditReport) -> Markup {
    outcome_figure(
        "commands",
        "Events by command and outcome",
        "Command",
        &of_commands(report),
    )
}

fn names(found: &[NameCount], (others, events): (u64, u64)) -> Vec<OutcomeRow> {
    let mut rows = of_names(found);
    if events > 0 {
        rows.push((format!("{} others", count(others)), [events, 0, 0]));
    }
    rows
}

fn actors(report: &AuditReport) -> Markup {
    let activity = &report.activity;
    let rows = names(&activity.actors, activity.other_actors);
    outcome_figure("actors", "Events by actor, as callers said", "Actor", &rows)
}

fn signers(report: &AuditReport) -> Markup {
    let activity = &report.activity;
    let rows = names(&activity.signers, activity.other_signers);
    outcome_figure(
        "signers",
        "Events by signer, which is proof",
        "Signer",
        &rows,
    )
}

fn live_memories(report: &AuditReport) -> Markup {
    let steps = &report.activity.over_time;
    let labels = labels(report);
    let has_any = steps.iter().any(|step| step.memories > 0);
    let over_time = |id, title, end, shade, of: CountOf, format: fn(u64) -> String| {
        let values: Vec<u64> = steps.iter().map(of).collect();
        let before = std::iter::once(0).chain(values.iter().copied());
        let rows = labels.iter().zip(&values).zip(before);
        let changed = rows.filter(|((_, value), before)| **value != *before);
        let rows = changed.map(|((label, value), _)| vec![label.clone(), format(*value)]);
        let below = super::table(["From (with changes)", end], 1, rows);
        let picture = has_any.then(|| chart::line(&labels, &values, shade, &format));
        figure(id, title, picture, &[], &below)
    };
    html! {
        (over_time("memories", "Memories over time", "Memories at the end", BLUE, |step| step.memories, count))
        (over_time("bytes", "Bytes of text over time", "Text at the end", GREEN, |step| step.bytes, bytes))
    }
}

/// Names the steps of the period.
fn labels(report: &AuditReport) -> Vec<String> {
    let activity = &report.activity;
    let steps = activity.over_time.iter();
    let labels = steps.map(|step| step_name(activity.step, step.since));
    labels.collect()
}

fn redactions(report: &AuditReport) -> Markup {
    let kinds = report.activity.redactions.iter();
    let picture = bars(kinds.map(|kind| BarRow {
        label: shown(&kind.kind),
        parts: vec![(ORANGE, kind.count)],
    }));
    figure(
        "redactions",
        "Secrets redacted before anything was stored, by kind",
        picture,
        &[],
        &super::redactions(report),
    )
}

fn reads(report: &AuditReport) -> Markup {
    let reads = &report.activity.reads;
    let picture = bars(reads.most.iter().map(|read| BarRow {
        label: path_of(read),
        parts: vec![(SKY, read.reads)],
    }));
    let below = super::reads(report);
    let title = format!(
        "Reads of each memory: the most used. {} of {} memories were never read",
        count(reads.memories - reads.read),
        count(reads.memories)
    );
    html! {
        (figure("reads", &title, picture, &[], &below))
        @if reads.most.is_empty() && !reads.never.is_empty() {
            div.wide { (table(&below)) }
        }
    }
}

fn expiring(report: &AuditReport) -> Markup {
    let calendar = &report.expiring;
    let week = |at: usize| {
        let begins = calendar.since + chrono::Duration::weeks(i64::try_from(at).unwrap_or(0));
        begins.format("%Y-%m-%d").to_string()
    };
    let mut labels = vec!["overdue".to_owned()];
    labels.extend((0..calendar.weeks.len()).map(week));
    labels.push("later".into());
    let mut values = vec![calendar.overdue];
    values.extend(&calendar.weeks);
    values.push(calendar.later);
    let last = values.len() - 1;
    let parts = [
        ("overdue", VERMILION, 0..1),
        ("in that week", SKY, 1..last),
        ("later", GREEN, last..last + 1),
    ];
    let series = parts.map(|(name, shade, range)| Series {
        name,
        shade,
        values: (0..)
            .zip(&values)
            .map(|(at, value)| if range.contains(&at) { *value } else { 0 })
            .collect(),
    });
    let mut rows: Vec<Vec<String>> = labels
        .iter()
        .zip(&values)
        .map(|(label, value)| vec![label.clone(), count(*value)])
        .collect();
    rows.push(vec!["never".into(), count(calendar.never)]);
    rows.push(vec!["kept by a hold".into(), count(calendar.held)]);
    let below = super::table(["Week from", "Memories"], 1, rows.into_iter());
    let title = format!(
        "What expires when under today's policy; {} never, {} kept by a hold",
        count(calendar.never),
        count(calendar.held)
    );
    html! {
        (stacked("expiring", &title, &labels, &series, &below))
        @if !calendar.next.is_empty() { div.wide { (table(&next_to_expire(report))) } }
    }
}

/// The patterns that the style sheet lays over the colours.
fn patterns() -> Markup {
    html! {
        svg.patterns width="0" height="0" aria-hidden="true" focusable="false" {
            defs { @for shade in SHADES {
                pattern id={ "of-" (shade.name) } width="6" height="6" patternUnits="userSpaceOnUse" {
                    rect width="6" height="6" fill=(shade.hex()) {}
                    path d=(shade.pattern) stroke="#fff" stroke-width="1.4" fill="none" {}
                }
            } }
        }
    }
}

fn pattern_rules() -> String {
    let rule = |shade: &Shade| {
        let (colour, name) = (shade.hex(), shade.name);
        format!("figure rect[fill=\"{colour}\"]{{fill:url(#of-{name})}}\n")
    };
    SHADES.iter().map(rule).collect::<Vec<_>>().concat()
}

// Registers.

fn register(title: &str, none: &str, found: &Register) -> Markup {
    html! {
        section.register {
            h3 { (title) " " span.total { (count(found.total)) } }
            @if found.rows.is_empty() {
                p.none { (none) }
            } @else {
                @if let Some(more) = more(found) { p.note { (more) } }
                table {
                    thead { tr {
                        th scope="col" { "Event" } th scope="col" { "Time" } th scope="col" { "Command" }
                        th scope="col" { "What" } th scope="col" { "Signer" } th scope="col" { "Actor" }
                        th scope="col" { "Reason" }
                    } }
                    tbody { @for row in &found.rows { (event_row(row)) } }
                }
            }
        }
    }
}

fn event_row(row: &RegisterRow) -> Markup {
    html! {
        tr {
            th scope="row" data-label="Event" { (row.event) }
            td data-label="Time" { (seconds(row.time)) }
            td data-label="Command" {
                (shown(&row.command)) " "
                span class={ "outcome " (row.outcome.as_str()) } { (row.outcome.as_str()) }
                @if let Some(error) = row.error.as_deref().filter(|error| *error != row.outcome.as_str()) {
                    " " span.error { (shown(error)) }
                }
            }
            td data-label="What" {
                (shown(&row.what))
                @if !row.before.is_empty() || !row.after.is_empty() {
                    pre {
                        @for line in &row.before { del { "- " (shown(line)) } "\n" }
                        @for line in &row.after { ins { "+ " (shown(line)) } "\n" }
                    }
                }
                @if let Some(erased) = &row.erased {
                    p { "Receipt: " (receipt(erased)) }
                    details { summary { "What it does not reach" }
                        ul { @for what in &erased.not_reached { li { (shown(what)) } } }
                    }
                }
            }
            td data-label="Signer" { (row.signer.as_deref().map_or_else(|| "nobody who may sign".into(), shown)) }
            td data-label="Actor" { (name(row.actor.as_deref())) }
            td data-label="Reason" { (row.reason.as_deref().map(shown).unwrap_or_default()) }
        }
    }
}

fn sweep_gaps(report: &AuditReport) -> Markup {
    let (gaps, total) = (
        &report.registers.sweep_gaps,
        report.registers.sweep_gaps_total,
    );
    html! {
        @if total > 0 {
            section.register {
                h3 { "Days without a sweep " span.total { (count(total)) } }
                p.note { "Today's policy lets memories expire. On these days no sweep removed any." }
                @if total > gaps.len() as u64 {
                    p.note { "and " (count(total - gaps.len() as u64)) " more before these" }
                }
                ul { @for gap in gaps {
                    li { (gap.since) @if gap.days > 1 { " to " (gap.until) " (" (gap.days) " days)" } }
                } }
            }
        }
    }
}
