//! Colour and emphasis, and that no text of an agent speaks to a terminal.

use crate::history::story::*;
use crate::support::{feed, json_lines, stdout};

const HOSTILE: &str = "\u{1b}]0;title\u{7}\u{1b}[2Jred \u{202e}evil\r\u{9b}31m\n";

#[test]
fn words_are_marked_in_colour_and_never_in_a_pipe() {
    let story = Story::new();
    story.told(&[
        ("A", create("n", "the quick brown fox\n")),
        ("A", replace("n", "quick", "slow")),
    ]);
    let coloured = story.ok(&["diff", "1", "2", "--color", "always"]);
    has(
        &coloured,
        &[
            "\u{1b}[31m-\u{1b}[m",
            "\u{1b}[31;7mquick\u{1b}[m",
            "\u{1b}[32;7mslow\u{1b}[m",
            "brown fox",
        ],
    );
    for args in [
        &["diff", "1", "2"][..],
        &["diff", "1", "2", "--color", "never"],
        &["show", "2"],
        &["log", "-p"],
        &["blame", "/memories/n"],
        &["grep", "fox"],
    ] {
        let plain = story.ok(args);
        assert!(!plain.contains('\u{1b}'), "{args:?}: {plain}");
    }
    let mut command = story.home.command(&["diff", "1", "2"]);
    command.env("NO_COLOR", "1");
    assert!(!stdout(&feed(command, b"")).contains('\u{1b}'));
    // In JSON the marks are places in the line, in bytes.
    let object = story.json(&["diff", "1", "2"]);
    let line = &object["changes"][0]["hunks"][0]["lines"][0];
    assert_eq!(
        (&line["kind"], &line["emphasis"]),
        (&"removed".into(), &serde_json::json!([[4, 9]]))
    );
}

#[test]
fn what_an_agent_wrote_is_spelt_out_where_there_is_colour() {
    let story = Story::new();
    story.told(&[
        ("A", create("n", HOSTILE)),
        ("A", replace("n", "red", "blue")),
    ]);
    let actor = "\u{1b}[31mnobody\nforged";
    story.ok(&[
        "write",
        "m",
        "--text",
        HOSTILE,
        "--actor",
        actor,
        "--session",
        actor,
        "--reason",
        actor,
    ]);
    for args in [
        &["diff", "0"][..],
        &["show", "1"],
        &["show", "3"],
        &["log", "-p"],
        &["log"],
        &["access", "/memories/n"],
        &["blame", "/memories/m"],
        &["grep", "evil"],
        &["grep", "evil", "--history"],
        &["diff", "1", "2"],
    ] {
        let text = story.ok(&[args, &["--color", "always"]].concat());
        let mut rest = text.clone();
        for look in ["1", "36", "31", "31;7", "32", "32;7", ""] {
            rest = rest.replace(&format!("\u{1b}[{look}m"), "");
        }
        let obeyed = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}';
        assert!(!rest.contains(obeyed), "{args:?}: {rest:?}");
        // Not even a harmless sequence of the agent's own is passed on.
        assert!(!text.contains("\u{1b}[31mnobody"), "{args:?}");
    }
    has(
        &story.ok(&["diff", "0", "1", "--color", "always"]),
        &["\\u001b]0;title\\u0007"],
    );
    // Byte for byte is what JSON is for; what people read is spelt out, also behind a pipe.
    let shown = story.ok(&["show", "1:/memories/n"]);
    assert!(shown.starts_with("\\u001b]0;title\\u0007"), "{shown}");
    let looked = &json_lines(story.ok(&["show", "1:/memories/n", "--json"]).as_bytes())[0];
    assert_eq!(looked["content"], HOSTILE);
}
