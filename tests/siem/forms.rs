//! The forms of the log: what goes in comes out of a parser, and OCSF fits its published schema.

use std::collections::BTreeMap;
use std::process::Command;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::log;
use crate::support::{Home, feed, json_lines, peers, stderr, stdout};

/// What somebody would say of himself to forge a field, a line, a formula or a column.
const HOSTILE: &[&str] = &[
    "=HYPERLINK(\"http://x\",\"y\")",
    "+1",
    "-1+1",
    "@SUM(A1)",
    "\tx",
    "'quoted'",
    "a|b\\|c\\\\",
    "x suser=owner outcome=ok",
    "x\\=y\\",
    "two\nCEF:0|evil|evil|1|1|1|1|",
    "carriage\rreturn\r\nboth",
    "say \"hi\", you",
    "\u{1b}]0;title\u{7}\u{1b}[31m",
    "\u{202e}desrever",
    "zero\u{0}byte",
    "trailing space ",
    " leading",
    "\\n is no newline",
    "雪 ☃ é",
    "<script>alert(1)</script>",
];

/// A store whose events have these texts as actor, session, client, reason and path.
fn store_of(texts: &[String]) -> Home {
    let home = Home::with_store();
    let line = |text: &String| {
        json!({
            "id": 1,
            "input": {"command": "create", "path": format!("/memories/{text}"), "file_text": "x"},
            "context": {
                "actor": text, "session": text, "client": text, "trace": text, "reason": text,
                "tool_use_id": text,
            },
        })
        .to_string()
            + "\n"
    };
    home.tool(&texts.iter().map(line).collect::<String>());
    home.run(&["rename", "/memories/+1", "/memories/=2 filePath=x|y"]);
    home.run(&["policy", "set", "expiration.grace", "20d", "--reason", "=1"]);
    home
}

/// The hostile texts, and some that chance puts together of the same characters.
fn texts() -> Vec<String> {
    let mut runner = TestRunner::default();
    let pieces = vec(
        prop::sample::select(vec![
            "=", "|", "\\", "\n", "\r", "\"", ",", " ", "n", "r", "a", "cs1", "'", "+", "\t", "é",
        ]),
        0..12,
    );
    let drawn = (0..40).map(|_| {
        pieces
            .new_tree(&mut runner)
            .expect("drawn")
            .current()
            .concat()
    });
    let hostile = HOSTILE.iter().map(|text| (*text).to_owned());
    hostile.chain(drawn).collect()
}

/// A parser of CEF, by its guide: the header's fields, and the extension's.
fn parse_cef(line: &str) -> (Vec<String>, BTreeMap<String, String>) {
    let (mut fields, mut field, mut chars) = (Vec::new(), String::new(), line.chars());
    while fields.len() < 7 {
        match chars.next().expect("seven fields of a header") {
            '\\' => field.push(chars.next().expect("an escaped character")),
            '|' => fields.push(std::mem::take(&mut field)),
            c => field.push(c),
        }
    }
    // A key is what stands between a space and a bare `=`.
    let (mut found, mut key, mut value) = (BTreeMap::new(), None::<String>, String::new());
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next().expect("an escaped character") {
                'n' => value.push('\n'),
                'r' => value.push('\r'),
                c => value.push(c),
            },
            '=' => {
                let (before, next) = value.rsplit_once(' ').unwrap_or(("", &value));
                let (before, next) = (before.to_owned(), next.to_owned());
                if let Some(key) = key.replace(next) {
                    assert!(found.insert(key, before).is_none(), "a key twice: {line}");
                }
                value.clear();
            }
            c => value.push(c),
        }
    }
    found.insert(key.expect("a key"), value);
    (fields, found)
}

fn lines(home: &Home, form: &str) -> String {
    let output = home.run(&["log", "--order", "asc", "--format", form]);
    assert!(output.status.success(), "{}", stderr(&output));
    stdout(&output)
}

#[test]
fn a_parser_of_cef_gets_back_what_went_in() {
    let home = store_of(&texts());
    let events = log(&home, &["--order", "asc"]);
    let text = lines(&home, "cef");
    assert_eq!(text.matches('\n').count(), events.len(), "one line each");
    for (line, event) in text.split('\n').zip(&events) {
        let (header, fields) = parse_cef(line);
        let name = format!(
            "{} {}",
            event["command"].as_str().expect("a text"),
            event["outcome"].as_str().expect("a text")
        );
        assert_eq!(header[..3], ["CEF:0", "agekeep", "agekeep"]);
        assert_eq!(
            header[4..6],
            [event["command"].as_str().expect("a text"), &name]
        );
        header[6]
            .parse::<u8>()
            .map(|level| assert!(level <= 10))
            .expect("0 to 10");
        assert_eq!(fields["externalId"], event["event"].to_string());
        assert_eq!(fields["cs5"], event["commit"].as_str().expect("a text"));
        let path = if event["new_path"].is_null() {
            "path"
        } else {
            "new_path"
        };
        for (key, name) in [
            ("suser", "signer"),
            ("cs1", "actor"),
            ("cs2", "session"),
            ("cs3", "tool_use_id"),
            ("cs4", "trace"),
            ("requestClientApplication", "client"),
            ("msg", "reason"),
            ("reason", "error"),
            ("filePath", path),
        ] {
            assert_eq!(
                fields.get(key).map(String::as_str),
                event[name].as_str(),
                "{name}: {line:?}"
            );
        }
    }
}

#[test]
fn a_parser_of_csv_gets_back_what_went_in_and_no_cell_is_a_formula() {
    let home = store_of(&texts());
    let events = log(&home, &["--order", "asc"]);
    let text = lines(&home, "csv");
    assert!(text.starts_with("event,time,commit,signer,actor,") && text.ends_with("\r\n"));
    let mut reader = csv::ReaderBuilder::new().from_reader(text.as_bytes());
    let names = reader.headers().expect("a header").clone();
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("a row")).collect();
    assert_eq!(rows.len(), events.len());
    let mut defused = 0;
    for (row, event) in rows.iter().zip(&events) {
        for (name, cell) in names.iter().zip(row) {
            assert!(
                !cell.starts_with(['=', '+', '-', '@', '\t', '\r']),
                "{cell:?}"
            );
            let value = &event[name];
            let wanted = match value {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                Value::Array(all) => all.len().to_string(),
                other => other.to_string(),
            };
            if cell != wanted {
                assert_eq!(cell, format!("'{wanted}"));
                assert!(
                    wanted.starts_with(['=', '+', '-', '@', '\t', '\r']),
                    "{wanted:?}"
                );
                defused += 1;
            }
        }
    }
    assert!(defused > 10, "{defused} were formulas");
    // The header comes also where no event does.
    let none = stdout(&home.run(&[
        "log",
        "--format",
        "csv",
        "--after",
        &(events.len() - 1).to_string(),
    ]));
    assert_eq!(none.lines().count(), 1);
}

#[test]
fn json_forms_stay_one_object_a_line() {
    let home = store_of(&texts());
    let events = log(&home, &["--order", "asc"]);
    let ocsf = json_lines(lines(&home, "ocsf").as_bytes());
    assert_eq!(ocsf.len(), events.len());
    for (object, event) in ocsf.iter().zip(&events) {
        assert_eq!(object["metadata"]["sequence"], event["event"]);
        assert_eq!(object["metadata"]["uid"], event["commit"]);
        assert_eq!(
            object["actor"]["user"]["name"], event["signer"],
            "the signer is the user"
        );
        assert_eq!(
            object["actor"].get("app_name").unwrap_or(&Value::Null),
            &event["actor"]
        );
        let unmapped = object["unmapped"].as_object().expect("an object");
        assert!(!unmapped.contains_key("actor") && !unmapped.contains_key("schema"));
        let activity = object["activity_id"].as_u64().expect("a number");
        assert_eq!(object["type_uid"], 600_500 + activity);
    }
}

#[test]
fn ocsf_fits_the_published_schema() {
    let Some(python) = peers::python() else {
        let why = "collectors take only what fits the schema of OCSF";
        return peers::skipped("OCSF against its published schema", why);
    };
    let (home, every) = (
        store_of(&texts()),
        &super::schemas::home_with_every_object().0,
    );
    let mut input = lines(&home, "ocsf");
    input += &lines(every, "ocsf");
    let mut command = Command::new(python);
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/siem/ocsf.py"));
    let output = feed(command, input.as_bytes());
    assert!(
        output.status.success(),
        "{}\n{}",
        stdout(&output),
        stderr(&output)
    );
    let said = stdout(&output);
    assert_eq!(said.trim(), format!("{} events fit", input.lines().count()));
    let activities: std::collections::BTreeSet<u64> = json_lines(input.as_bytes())
        .iter()
        .filter_map(|object| object["activity_id"].as_u64())
        .collect();
    assert_eq!(activities, [1, 2, 4, 6, 7, 8, 9, 99].into());
}
