//! The page in a real browser, opened from disk.

use crate::report::story::eventful;
use crate::support::chromium::Chromium;
use crate::support::stderr;

/// The pictures of a report, by the ids of their figures.
const FIGURES: [&str; 9] = [
    "over-time",
    "commands",
    "actors",
    "signers",
    "memories",
    "bytes",
    "redactions",
    "reads",
    "expiring",
];

#[test]
fn a_browser_shows_all_of_it_and_asks_for_nothing() {
    let why = "only a browser shows whether a page overflows, runs or loads anything";
    let Some(mut browser) = Chromium::start("the page of a report", why) else {
        return;
    };
    let team = eventful();
    let file = team.home.path().join("report.html");
    let made = team
        .home
        .run(&["report", "--out", file.to_str().expect("UTF-8")]);
    assert!(made.status.success(), "{}", stderr(&made));
    // A column of a register that is as narrow as a letter makes a page of each row.
    let narrowest = "Math.min(...[...document.querySelectorAll('.register td, .register tbody th')]
        .map(cell => cell.getBoundingClientRect().width))";
    let widths = [(1_280, 900), (900, 800), (768, 800), (740, 800), (400, 800)];
    for (width, height) in widths {
        browser.resize(width, height);
        browser.open_file(&file);
        assert_eq!(browser.overflow(), 0, "{width} pixels");
        let narrow = browser.eval(narrowest).as_f64();
        assert!(narrow >= Some(40.0), "{width} pixels: {narrow:?}");
        for figure in FIGURES {
            let picture = format!("document.querySelector('#{figure} svg.picture')");
            let marks =
                format!("{picture}.querySelectorAll('rect, circle, polyline, polygon').length");
            assert!(
                browser.eval(&marks).as_i64() > Some(0),
                "{figure} has marks"
            );
            let wide = format!("{picture}.getBoundingClientRect().width");
            assert!(
                browser.eval(&wide).as_f64() > Some(200.0),
                "{figure} is there"
            );
            let titled =
                format!("{picture}.getAttribute('role') + {picture}.firstElementChild.tagName");
            assert_eq!(browser.eval(&titled), "imgtitle", "{figure}");
            let rows = format!("document.querySelectorAll('#{figure} tbody tr').length");
            assert!(
                browser.eval(&rows).as_i64() > Some(0),
                "{figure} has a table"
            );
        }
        // A colour is told from another by its pattern too.
        let painted = "getComputedStyle(document.querySelector('#over-time .picture rect')).fill";
        let painted = browser.eval(painted);
        assert!(
            painted.as_str().expect("text").starts_with("url("),
            "{painted}"
        );
    }
    assert_eq!(
        browser.eval("document.scripts.length + document.images.length"),
        0
    );
    assert!(
        browser
            .eval("document.body.innerText")
            .as_str()
            .expect("text")
            .contains("<script>alert(1)")
    );
    let page = format!("file://{}", file.display());
    assert!(
        browser.requests().iter().all(|url| *url == page),
        "{:?}",
        browser.requests()
    );
    let pages = browser.requests().len();
    assert_eq!(pages, widths.len(), "the page, once for each width");
    assert_eq!(browser.complaints(), [""; 0]);
    let pdf = browser.pdf();
    assert!(
        pdf.starts_with(b"%PDF-") && pdf.len() > 20_000,
        "{} bytes",
        pdf.len()
    );
    let sheet = b"/Type /Page\n";
    let sheets = pdf.windows(sheet.len()).filter(|w| w == sheet).count();
    assert!((1..=20).contains(&sheets), "{sheets} sheets");
}
