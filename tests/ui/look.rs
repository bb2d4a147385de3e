//! What pages show, to whom, and what stands on record of it.

use std::fs;

use serde_json::{Value, json};

use crate::keys::team::Team;
use crate::support::{Home, json_lines, stderr};
use crate::ui::client::Ui;

fn call(input: &Value) -> String {
    input.to_string() + "\n"
}

fn create(path: &str, text: &str) -> String {
    call(&json!({"command": "create", "path": path, "file_text": text}))
}

fn newest(home: &Home, count: usize) -> Vec<Value> {
    let log = home.run(&["log", "--json", "-n", &count.to_string()]);
    assert!(log.status.success(), "{}", stderr(&log));
    json_lines(&log.stdout)
}

#[test]
fn what_an_agent_wrote_is_shown_and_never_obeyed() {
    let home = Home::with_store();
    let hostile = "<script>alert(1)</script><img src=x onerror=alert(2)>\u{202e}gnp.exe\u{200b}\u{1b}[2J \
                   \" onmouseover=\"alert(3) </code></li>\n";
    let path = "/memories/<script>alert(4)<b>.md\"'&amp;";
    let mut tool = home.command(&["--actor", "<i>x</i>\u{202e}", "--session", "\"><s>", "tool"]);
    tool.stdin(std::process::Stdio::null());
    let output = crate::support::feed(
        {
            let mut tool =
                home.command(&["--actor", "<i>x</i>\u{202e}", "--session", "\"><s>", "tool"]);
            tool.env("AGEKEEP_ACTOR", "");
            tool
        },
        (create(path, hostile)
            + &call(&json!({"command": "view", "path": "/memories/\u{1b}]0;x"})))
            .as_bytes(),
    );
    assert!(output.status.success(), "{}", stderr(&output));
    let ui = Ui::open(&home, &[]);
    let encoded: String = path.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let pages = [
        String::new(),
        "timeline".into(),
        "event?n=1".into(),
        format!("memory?path={encoded}"),
        format!("version?path={encoded}&version=1"),
        format!("blame?path={encoded}"),
        "search?q=alert&history=1".into(),
        "search?q=%3Cscript%3E%22".into(),
        "timeline?actor=%22%3E%3Cscript%3E".into(),
        "plan?do=revert&events=1".into(),
        "plan?do=%3Cscript%3E".into(),
        format!("memory?path={encoded}%3Cscript%3E"),
    ];
    for name in &pages {
        let body = ui.page(name).body;
        for tag in [
            "<script",
            "<img",
            "<i>",
            "<s>",
            "<b>",
            " onmouseover=\"",
            "style=",
            "\u{202e}",
            "\u{1b}",
            "\u{200b}",
        ] {
            assert!(!body.contains(tag), "{name} has {tag:?}: {body}");
        }
    }
    let memory = ui.text(&pages[3]);
    for shown in ["&lt;script&gt;alert(1)", "U+202E", "U+200B", "U+001B"] {
        assert!(memory.contains(shown), "{shown}: {memory}");
    }
}

#[test]
fn each_look_is_an_event_with_the_name_of_who_looked() {
    let home = Home::with_store();
    home.tool(&(create("/memories/a.md", "one\ntwo\n")
        + &call(&json!({"command": "str_replace", "path": "/memories/a.md", "old_str": "two", "new_str": "three"}))));
    let ui = Ui::open(&home, &["--actor", "maria"]);
    let before = newest(&home, 1)[0]["event"].as_u64().expect("a number");
    let looks = [
        ("", "view_at"),
        ("memory?path=/memories/a.md", "show"),
        ("version?path=/memories/a.md&version=1", "show"),
        ("diff?path=/memories/a.md&old=1&new=2", "diff"),
        ("blame?path=/memories/a.md", "blame"),
        ("event?n=2", "show"),
        ("search?q=one", "grep"),
    ];
    for (page, _) in looks {
        let text = ui.text(page);
        assert!(text.contains("This look is on record as"), "{page}: {text}");
    }
    let events = newest(&home, looks.len());
    assert_eq!(
        events[0]["event"],
        before + looks.len() as u64,
        "and nothing else is"
    );
    for ((page, command), event) in looks.iter().zip(events.iter().rev()) {
        let said = [
            &event["command"],
            &event["actor"],
            &event["door"],
            &event["outcome"],
        ];
        assert_eq!(said, [command, "maria", "ui", "ok"], "{page}");
        let session = event["session"].as_str().expect("a session");
        assert!(session.starts_with("ui-"), "{session}");
    }
    // They are no accesses: the memory expires as if nobody had looked.
    let status = ui.text("memory?path=/memories/a.md");
    assert!(status.contains("Last access"), "{status}");
    // Without a key to sign with, the page says that nothing is on record.
    drop(ui);
    fs::rename(home.signing_key(), home.path().join("aside")).expect("it is there");
    let ui = Ui::open(&home, &[]);
    assert!(ui.text("").contains("This look is not on record: "));
    let refused = home.run(&["ui", "--allow-undo"]);
    assert_eq!(refused.status.code(), Some(12), "{}", stderr(&refused));
}

#[test]
fn the_pages_tell_the_story_of_a_memory() {
    let home = Home::with_store();
    home.tool(&(create("/memories/people/ada.md", "one\ntwo\n")
        + &call(&json!({"command": "str_replace", "path": "/memories/people/ada.md", "old_str": "two", "new_str": "three"}))
        + &call(&json!({"command": "rename", "old_path": "/memories/people/ada.md", "new_path": "/memories/ada.md"}))
        + &call(&json!({"command": "view", "path": "/memories/ada.md"}))
        + &create("/memories/gone.md", "was here\n")
        + &call(&json!({"command": "delete", "path": "/memories/gone.md"}))));
    let held = home.run(&[
        "--reason",
        "a court asks",
        "hold",
        "add",
        "/memories/ada.md",
    ]);
    assert!(held.status.success(), "{}", stderr(&held));
    let ui = Ui::open(&home, &[]);
    let tree = ui.text("");
    assert!(
        tree.contains(">ada.md</a>") && tree.contains("1 held"),
        "{tree}"
    );
    assert!(!tree.contains("gone.md"), "{tree}");
    let memory = ui.text("memory?path=/memories/ada.md");
    for part in [
        "Version 3",
        "Version 2",
        "Version 1",
        "moved",
        "edited",
        "created",
        "hold ",
        ">view",
        "<code>three</code>",
    ] {
        assert!(memory.contains(part), "{part}: {memory}");
    }
    // Any two versions can be compared, also from before the rename.
    let diff = ui.text("diff?path=/memories/ada.md&old=2&new=1");
    assert!(
        diff.contains("<ins") && diff.contains("three") && diff.contains("two"),
        "{diff}"
    );
    let moved = ui.text("diff?path=/memories/ada.md&old=1&new=3");
    assert!(moved.contains("moved from"), "{moved}");
    let same = ui.text("diff?path=/memories/ada.md&old=3&new=4");
    assert!(same.contains("The texts are the same."), "{same}");
    let gone = ui.text("memory?path=/memories/gone.md");
    assert!(
        gone.contains("no memory at this path now") && gone.contains("deleted"),
        "{gone}"
    );
    assert!(!gone.contains("was here"), "{gone}");
    let directory = ui.text("memory?path=/memories");
    assert!(directory.contains(">ada.md</a>"), "{directory}");
    let event = ui.text("event?n=2");
    assert!(
        event.contains("Who, as the signature proves") && event.contains("<del"),
        "{event}"
    );
    let search = ui.text("search?q=TWO&history=1");
    assert!(
        search.contains("1 line was found.") && search.contains("event?n=2"),
        "{search}"
    );
    assert!(ui.text("search?q=TWO").contains("Nothing was found."));
    assert!(ui.text("search?q=t.ree").contains("Nothing was found."));
    assert!(
        ui.text("search?q=t.ree&regex=1")
            .contains("1 line was found.")
    );
    let denied = ui.text("timeline?outcome=denied");
    assert!(denied.contains("No events match."), "{denied}");
    let views = ui.text("timeline?command=view&path=/memories/ada.md&since=1h&actor=tester");
    assert!(
        views.contains("No events match."),
        "an agent without a name viewed it: {views}"
    );
    assert!(
        ui.text("timeline?command=view&path=/memories/ada.md&since=1h")
            .contains("event?n=4")
    );
}

#[test]
fn an_auditor_sees_who_did_what_and_no_text() {
    let team = Team::new();
    team.create("people/zoe.md", "a canary in here\n");
    team.add("eve", "auditor");
    let identity = team.identity("eve");
    let identity = identity.to_str().expect("UTF-8");
    let ui = Ui::open(&team.home, &["-i", identity, "--actor", "eve"]);
    for (page, has) in [
        ("", "zoe.md"),
        ("timeline", "/memories/people/zoe.md"),
        ("event?n=1", "/memories/people/zoe.md"),
        ("memory?path=/memories/people/zoe.md", "Version 1"),
    ] {
        let text = ui.text(page);
        assert!(text.contains(has), "{page}: {text}");
        assert!(!text.contains("canary"), "{page}: {text}");
    }
    assert_eq!(
        newest(&team.home, 1)[0]["actor"],
        "eve",
        "the listing is on record"
    );
    for page in [
        "version?path=/memories/people/zoe.md&version=1",
        "diff?path=/memories/people/zoe.md&old=0&new=1",
        "blame?path=/memories/people/zoe.md",
        "search?q=canary",
        "plan?do=revert&events=1",
    ] {
        let page_got = ui.page(page);
        assert_eq!(page_got.status, 403, "{page}: {page_got:?}");
        assert!(
            !page_got.body.contains("a canary"),
            "{page}: {}",
            page_got.body
        );
    }
}

#[test]
fn what_has_expired_is_not_shown_as_living() {
    let home = Home::with_store();
    home.tool(&(create("/memories/tmp/a.md", "old\n") + &create("/memories/b.md", "new\n")));
    let policy = "[expiration]\nrules = [{ path = \"/memories/tmp/**\", expires_at = \"2026-01-01T00:00:00Z\" }]\n";
    let file = home.path().join("policy.toml");
    fs::write(&file, policy).expect("a file");
    let set = home.run(&["policy", "set", "--policy", file.to_str().expect("UTF-8")]);
    assert!(set.status.success(), "{}", stderr(&set));
    let ui = Ui::open(&home, &[]);
    let tree = ui.text("");
    assert!(
        tree.contains("1 expired") && tree.contains(">expired "),
        "{tree}"
    );
    let memory = ui.text("memory?path=/memories/tmp/a.md");
    assert!(
        memory.contains("Agents no longer find this memory"),
        "{memory}"
    );
    let other = ui.text("memory?path=/memories/b.md");
    assert!(
        !other.contains("Agents no longer find") && other.contains(">never<"),
        "{other}"
    );
    let swept = home.run(&["expire"]);
    assert!(swept.status.success(), "{}", stderr(&swept));
    assert!(!ui.text("").contains("a.md"));
    let after = ui.text("memory?path=/memories/tmp/a.md");
    assert!(
        after.contains("no memory at this path now") && after.contains("expired"),
        "{after}"
    );
}

#[test]
fn pages_are_bounded_and_lead_to_the_next() {
    let home = Home::with_store();
    let mut lines = String::new();
    for n in 0..205 {
        lines += &create(&format!("/memories/many/{n:03}.md"), "x\n");
    }
    let long: String = (0..450).map(|n| format!("line {n}\n")).collect();
    lines += &create("/memories/long.md", &long);
    home.tool(&lines);
    let ui = Ui::open(&home, &[]);
    // A tree that is larger than a page shows one directory.
    let tree = ui.text("");
    assert!(
        tree.contains("206 memories") && tree.contains("many/") && tree.contains("long.md"),
        "{tree}"
    );
    assert!(!tree.contains("000.md"), "{tree}");
    let many = ui.text("?at=/memories/many");
    assert!(many.contains("199.md") && !many.contains("200.md"));
    assert!(many.contains("Rows 1 to 200 of 205"), "{many}");
    let rest = ui.text("?at=/memories/many&from=201");
    assert!(rest.contains("204.md") && !rest.contains("199.md") && rest.contains("Previous"));
    let text = ui.text("memory?path=/memories/long.md&from=401");
    assert!(
        text.contains("line 449") && !text.contains("line 399") && text.contains("start=\"401\"")
    );
    let newest = ui.text("timeline?command=create");
    assert!(
        newest.contains("event?n=206")
            && newest.contains("event?n=7\"")
            && !newest.contains("event?n=6\"")
    );
    assert!(newest.contains("before=7"), "{newest}");
    let older = ui.text("timeline?command=create&before=7");
    assert!(
        older.contains("event?n=1\"")
            && !older.contains("event?n=7\"")
            && !older.contains("Older events")
    );
    let found = ui.text("search?q=line&from=401");
    assert!(
        found.contains("450 lines were found.")
            && found.contains("line 449")
            && !found.contains("line 399")
    );
    for page in [
        "?from=9999",
        "timeline?before=0",
        "search?q=line&from=9999",
        "blame?path=/memories/long.md&from=9999",
    ] {
        assert_eq!(ui.page(page).status, 200, "{page}");
    }
}
