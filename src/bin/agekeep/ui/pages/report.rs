//! The report: a form that asks for a period, and the report itself as `agekeep report` writes it.

use agekeep::error::Result;
use agekeep::store::history::RecordStatus;
use maud::html;

use crate::report::report_page;
use crate::ui::layout::Page;
use crate::ui::pages::timeline::field;
use crate::ui::pages::{PageAnswer, REPORT_FILE, Visit};
use crate::ui::server::REPORT_STYLE;
use crate::verbs::report::{UNVERIFIED_MAX, parse_period, verify_and_report};

/// What a report can be asked with.
pub(super) const ASKED: &[&str] = &["period", "since", "until", "save"];

pub(super) fn form(visit: &Visit<'_>) -> Page {
    let query = visit.query;
    let body = html! {
        p {
            "A report shows what happened in a period: counts, pictures, and registers of what was \
             denied, erased, held, undone and changed. It shows no text of a memory."
        }
        form.filters method="get" action=(REPORT_FILE) aria-label="Ask for a report" {
            (field(query, "period", "Period", "2026-Q3, 2026-09 or 2026"))
            (field(query, "since", "Or since", "2026-11-01 or 90d"))
            (field(query, "until", "Until", "2026-11-02"))
            div.actions {
                button { "Show the report" }
                " " button name="save" value="1" { "Download the report" }
            }
        }
        p {
            "Without a period it covers the last 90 days. agekeep verifies history first; the first \
             time, and in a store of many events, this takes seconds. The report is recorded as an \
             event. A report with a signed note beside it is made on the command line: "
            code { "agekeep report --out FILE --sign" } "."
        }
    };
    Page::new("Report", "report", body, RecordStatus::NotNeeded)
}

pub(super) fn file(visit: &mut Visit<'_>) -> Result<PageAnswer> {
    let (query, facts) = (visit.query, visit.facts);
    let [name, since, until] = ["period", "since", "until"].map(|name| query.text(name));
    let period = parse_period(name, since, until, visit.now)?;
    let context = &facts.context;
    let report = verify_and_report(&facts.global, visit.store, &period, context, UNVERIFIED_MAX)?;
    let day = |at: chrono::DateTime<chrono::Utc>| at.format("%Y-%m-%d");
    let kept_as = query.text("save").map(|_| {
        let (since, until) = (day(report.period.since), day(report.period.until));
        format!("agekeep-report-{since}-{until}.html")
    });
    let style = kept_as.is_none().then_some(REPORT_STYLE);
    Ok(PageAnswer::File(report_page(&report, style), kept_as))
}
