//! A store in which much happened, and what its report says.

use serde_json::Value;

use crate::keys::team::Team;
use crate::support::{json_lines, stderr, stdout};

/// Things that a browser or a terminal would obey. The path has no control characters, as no path
/// may.
pub(super) const HOSTILE_PATH: &str = "/memories/<script>alert(1)<";
pub(super) const HOSTILE_ACTOR: &str =
    "</style><script>alert(2)</script><img src=x onerror=alert(3)>";
pub(super) const HOSTILE_REASON: &str =
    "\u{1b}]0;owned\u{7}\u{202e}![x](javascript:alert(4)) | a | `b` <b>c</b>";

/// A store with something for every picture and every register.
pub(super) fn eventful() -> Team {
    let team = Team::new();
    let policy = ["policy", "set", "expiration.unaccessed_for", "90d"];
    team.ok(&[&policy[..], &["--reason", "audit 7"]].concat());
    let long = format!("/memories/{}", "n".repeat(200));
    for path in [
        "/memories/a.md",
        "/memories/b.md",
        "/memories/gone.md",
        HOSTILE_PATH,
        &long,
    ] {
        team.ok(&["create", path, "--text", "some text\n"]);
    }
    for _ in 0..3 {
        team.ok(&["view", "/memories/a.md"]);
    }
    team.ok(&[
        "view",
        HOSTILE_PATH,
        "--actor",
        HOSTILE_ACTOR,
        "--reason",
        HOSTILE_REASON,
    ]);
    team.home.run(&["view", "/memories/../etc/passwd"]);
    team.home.run(&["view", "/memories/nothing.md"]);
    let secret = format!("key AKIA{}\n", "Q3EGRZ7MNXT5WPLB");
    team.home
        .run(&["create", "/memories/secret.md", "--text", &secret]);
    team.add("eve", "auditor");
    team.ok(&["hold", "add", "/memories/b.md", "--reason", "a claim"]);
    team.ok(&["expire"]);
    team.home.run(&[
        "erase",
        "/memories/gone.md",
        "--yes",
        "--reason",
        "request 12",
    ]);
    team.ok(&[
        "str-replace",
        "/memories/a.md",
        "--old",
        "some",
        "--new",
        "other",
    ]);
    team.ok(&["revert", "HEAD"]);
    team.ok(&["diff"]);
    team
}

pub(super) fn report(team: &Team, who: &str, args: &[&str]) -> Value {
    let args = [&["report", "--json"][..], args].concat();
    let output = team.run_as(who, &args);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    serde_json::from_str(&stdout(&output)).expect("one object")
}

fn total(report: &Value, register: &str) -> u64 {
    report["registers"][register]["total"]
        .as_u64()
        .expect("a count")
}

/// The rows of the log, oldest first.
fn logged(team: &Team) -> Vec<Value> {
    let mut events = json_lines(team.ok(&["log", "--json"]).as_bytes());
    events.reverse();
    events
}

#[test]
fn every_count_is_that_of_the_log() {
    let team = eventful();
    let events = logged(&team);
    let found = report(&team, "owner", &[]);
    assert_eq!(found["schema"], "agekeep.report/1");
    assert_eq!(found["events"]["count"], events.len());
    assert_eq!(found["end"]["events"], events.len());
    assert_eq!(found["events"]["first"]["event"], 0);
    assert_eq!(
        found["end"]["commit"],
        events.last().expect("one")["commit"]
    );
    assert_eq!(found["verified"]["ok"], true, "{}", found["verified"]);
    let of = |key: &str, value: &str| events.iter().filter(|event| event[key] == value).count();
    for one in found["activity"]["commands"].as_array().expect("a list") {
        let sum = ["ok", "error", "denied"].map(|outcome| one[outcome].as_u64().expect("a count"));
        let command = one["command"].as_str().expect("a word");
        assert_eq!(
            sum.iter().sum::<u64>(),
            of("command", command) as u64,
            "{command}"
        );
    }
    let over_time = found["activity"]["over_time"].as_array().expect("a list");
    let sum: u64 = over_time
        .iter()
        .flat_map(|step| {
            ["read", "write", "remove", "administer", "failed", "denied"].map(|key| &step[key])
        })
        .map(|count| count.as_u64().expect("a count"))
        .sum();
    assert_eq!(sum, events.len() as u64);
    assert_eq!(found["activity"]["signers"][0]["name"], "owner");
    assert_eq!(total(&found, "denied"), of("outcome", "denied") as u64);
    assert_eq!(total(&found, "failed"), of("outcome", "error") as u64);
    assert!(total(&found, "denied") > 0 && total(&found, "failed") > 0);
    let live = over_time.last().expect("one");
    let status: Value = serde_json::from_str(&team.ok(&["status", "--json"])).expect("an object");
    assert_eq!(live["memories"], status["memories"]);
    assert_eq!(live["bytes"], status["text_bytes"]);
}

#[test]
fn every_register_has_what_happened() {
    let team = eventful();
    let found = report(&team, "owner", &[]);
    for register in [
        "policy", "members", "holds", "sweeps", "erasures", "undo", "looks",
    ] {
        assert!(total(&found, register) > 0, "{register}");
    }
    let registers = &found["registers"];
    let policy = registers["policy"]["rows"]
        .as_array()
        .expect("rows")
        .last()
        .expect("one");
    let after = policy["after"].to_string();
    assert!(
        after.contains("90d") && policy["reason"] == "audit 7",
        "{policy}"
    );
    assert!(
        registers["members"]["rows"][0]["what"]
            .as_str()
            .expect("text")
            .contains("eve")
    );
    assert!(
        registers["sweeps"]["rows"][0]["what"] == "found nothing",
        "{registers}"
    );
    let erased = &registers["erasures"]["rows"][0]["erased"];
    assert_eq!(erased["memories"], 1);
    assert_eq!(erased["not_reached"].as_array().map(Vec::len), Some(6));
    let kinds = found["activity"]["redactions"].as_array().expect("a list");
    assert_eq!(kinds.len(), 1, "{kinds:?}");
    let reads = &found["activity"]["reads"];
    assert_eq!(
        (&reads["most"][0]["path"], &reads["most"][0]["reads"]),
        (&"/memories/a.md".into(), &3.into())
    );
    assert!(!reads["never"].as_array().expect("a list").is_empty());
    assert!(found["expiring"]["held"] == 1, "{}", found["expiring"]);
}

/// A look is an event like any other, and it is not in the report that it made.
#[test]
fn a_report_is_a_look_on_record() {
    let team = eventful();
    let before = logged(&team).len();
    let found = report(&team, "owner", &["--reason", "for the board"]);
    let newest = team.newest();
    assert_eq!(
        (&newest["command"], &newest["reason"]),
        (&"report".into(), &"for the board".into())
    );
    assert_eq!(found["recorded"]["event"], newest["event"]);
    assert_eq!(found["events"]["count"], before);
    assert_eq!(newest["at"][0]["event"], 0);
    team.assert_verified("after a report");
}

#[test]
fn an_auditor_reports_without_content_and_says_so() {
    let team = eventful();
    let found = report(&team, "eve", &[]);
    assert_eq!(found["made"]["role"], "auditor");
    assert!(
        found["unseen"].to_string().contains("texts of memories"),
        "{}",
        found["unseen"]
    );
    let own = report(&team, "owner", &[]);
    assert!(!own["unseen"].to_string().contains("texts of memories"));
    let same = |key: &str| assert_eq!(found["activity"][key], own["activity"][key], "{key}");
    // The auditor's look is in the owner's report.
    same("redactions");
    same("reads");
    let stranger = team.run_as("mallory", &["report"]);
    assert_eq!(stranger.status.code(), Some(12), "{}", stderr(&stranger));
    assert_eq!(stdout(&stranger), "");
}

#[test]
fn what_somebody_wrote_does_nothing_in_a_report() {
    let team = eventful();
    for format in ["html", "markdown"] {
        let text = team.ok(&["report", "--format", format]);
        for obeyed in [
            "<script",
            "<img",
            "</style><script",
            "<b>c",
            "\u{1b}",
            "\u{202e}",
            "\u{7}",
        ] {
            assert!(!text.contains(obeyed), "{format} has {obeyed:?}");
        }
        assert!(text.contains("&lt;script&gt;"), "{format} shows it");
        assert!(
            !text.contains(&"n".repeat(400)),
            "{format} shows long names cut"
        );
    }
    let markdown = team.ok(&["report", "--format", "markdown"]);
    assert!(
        !markdown.contains("![x](") && !markdown.contains("| a | `b`"),
        "{markdown}"
    );
}

#[test]
fn a_register_lists_the_newest_and_counts_all() {
    let team = Team::new();
    let call = "{\"command\":\"view\",\"path\":\"/memories/../x\"}\n";
    team.home.tool(&call.repeat(230));
    let found = report(&team, "owner", &[]);
    let denied = &found["registers"]["denied"];
    let rows = denied["rows"].as_array().expect("rows");
    assert_eq!((denied["total"].as_u64(), rows.len()), (Some(230), 200));
    assert_eq!(rows[199]["event"], 230, "the newest, and oldest first");
    assert_eq!(rows[0]["event"], 31);
    let page = team.ok(&["report"]);
    assert!(page.contains("and 30 more before these"));
}

/// The file of the timeline only makes it quicker.
#[test]
fn a_report_is_the_same_without_the_timeline_s_file() {
    let team = eventful();
    let before = report(&team, "owner", &[]);
    std::fs::remove_file(team.home.store().join("timeline")).expect("there");
    let after = report(&team, "owner", &[]);
    for key in ["redactions", "reads", "over_time"] {
        let (before, mut after) = (
            before["activity"][key].clone(),
            after["activity"][key].clone(),
        );
        if key == "over_time" {
            // The first report is a look of the second.
            let last = after
                .as_array_mut()
                .expect("a list")
                .last_mut()
                .expect("one");
            last["administer"] = (last["administer"].as_u64().expect("a count") - 1).into();
        }
        assert_eq!(before, after, "{key}");
    }
}
