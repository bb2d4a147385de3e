//! The report as a page: asked for by a form, shown or kept, and on record.

use serde_json::{Value, json};

use crate::support::{Home, json_lines, stderr};
use crate::ui::client::Ui;

/// A text that a browser would obey if it were not escaped.
const HOSTILE: &str = "<script>alert(1)</script>\u{202e}\u{1b}[2J";

fn with_events() -> Home {
    let home = Home::with_store();
    for (actor, text) in [("agent-one", "one"), (HOSTILE, "CANARY-TEXT")] {
        let path = format!("/memories/{}.md", text.to_lowercase());
        let create = json!({"command": "create", "path": path, "file_text": text}).to_string();
        let mut tool = home.command(&["--actor", actor, "tool"]);
        tool.env("AGEKEEP_ACTOR", "");
        let made = crate::support::feed(tool, create.as_bytes());
        assert!(made.status.success(), "{}", stderr(&made));
    }
    home
}

fn newest(home: &Home) -> Value {
    let log = home.run(&["log", "--json", "-n", "1"]);
    assert!(log.status.success(), "{}", stderr(&log));
    json_lines(&log.stdout)[0].clone()
}

#[test]
fn it_is_shown_with_a_linked_style_and_kept_with_its_own() {
    let home = with_events();
    let ui = Ui::open(&home, &["--actor", "maria"]);
    let form = ui.text("report");
    assert!(form.contains("Show the report") && form.contains("Download the report"));
    assert_eq!(
        newest(&home)["command"],
        "create",
        "a form is not a look at the store"
    );

    let shown = ui.page("report.html?period=&since=&until=");
    assert_eq!(shown.status, 200, "{shown:?}");
    assert_eq!(shown.header("content-disposition"), None);
    let policy = shown.header("content-security-policy").expect("a policy");
    assert!(!policy.contains("unsafe-inline"), "{policy}");
    assert!(!shown.body.contains("<style"), "{}", shown.body);
    assert!(!shown.body.contains("http-equiv"), "{}", shown.body);
    let link = r#"rel="stylesheet" href="/report.css""#;
    assert!(shown.body.contains(link), "{}", shown.body);
    assert!(shown.body.contains("agent-one"), "{}", shown.body);
    let style = ui.ask("GET", "/report.css", &[], "");
    assert_eq!(
        style.header("content-type"),
        Some("text/css; charset=utf-8")
    );
    let record = newest(&home);
    assert_eq!(
        [&record["command"], &record["actor"], &record["door"]],
        ["report", "maria", "ui"]
    );

    let kept = ui.page("report.html?since=7d&save=1");
    assert_eq!(kept.status, 200, "{kept:?}");
    let name = kept.header("content-disposition").expect("a name");
    assert!(
        name.starts_with("attachment; filename=\"agekeep-report-20") && name.ends_with(".html\""),
        "{name}"
    );
    assert!(kept.body.contains(&format!("<style>{}", style.body)));
    assert!(!kept.body.contains("/report.css"), "a file stands alone");
    assert_eq!(
        newest(&home)["event"],
        json!(record["event"].as_u64().expect("a number") + 1)
    );
}

#[test]
fn it_obeys_nothing_that_an_agent_wrote_and_shows_no_text_of_a_memory() {
    let home = with_events();
    let ui = Ui::open(&home, &[]);
    for name in ["report.html", "report.html?save=1"] {
        let page = ui.text(name);
        for found in ["<script", "\u{202e}", "\u{1b}", "CANARY-TEXT"] {
            assert!(!page.contains(found), "{name} has {found:?}");
        }
        assert!(page.contains("&lt;script&gt;alert(1)"), "{name} names who");
    }
}

#[test]
fn what_it_cannot_be_asked_is_refused_and_not_recorded() {
    let home = with_events();
    let ui = Ui::open(&home, &["--allow-undo"]);
    let before = newest(&home)["event"].clone();
    for asked in [
        "period=2026-Q5",
        "period=soon",
        "period=2026-Q3&since=7d",
        "period=2026-Q3&until=2026-10-01",
        "since=tomorrow-or-so",
        "since=2026-10-02&until=2026-10-01",
        "format=json",
        "period=2026&period=2025",
        "save=1&out=/etc/passwd",
    ] {
        let page = ui.page(&format!("report.html?{asked}"));
        assert_eq!(page.status, 400, "{asked}: {}", page.body);
        assert!(page.body.contains("What to do: "), "{asked}: {}", page.body);
        assert_eq!(page.header("content-disposition"), None, "{asked}");
    }
    assert_eq!(ui.send("report.html", &[], "period=2026").status, 405);
    assert_eq!(ui.send("report", &[], "period=2026").status, 405);
    assert_eq!(ui.page("report?period=2026-Q3&x=1").status, 400);
    let stranger = [("Cookie", "agekeep=0")];
    let page = ui.ask("GET", &format!("{}report.html", ui.room), &stranger, "");
    assert!((400..500).contains(&page.status), "{page:?}");
    assert!(!page.body.contains("agent-one"), "{}", page.body);
    assert_eq!(newest(&home)["event"], before);
}
